"""The distribution to sample from: the model's own over whole answers, given that the answer fits the constraint.

    target(answer) = p(answer, end) / Z        Z = the sum of p(answer, end) over all answers of the constraint

p is the product of the model's probabilities at one temperature, token by token, without a mask, with the decision to
end. Z is the normalizing constant: the probability that the model, unmasked, writes an answer of the constraint.
Answers are sequences of tokens: where several sequences spell one text, each of them counts.

With a budget, only the answers that are complete within it count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from structgen.compilation.budget import open_budget
from structgen.engine.vocabulary.bitmask import allocate_token_bitmask, tokens_of
from structgen.errors import TokenRejectedError
from structgen.generation.sampling import without_nan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from structgen.compilation.constraint import Constraint
    from structgen.engine.matching.matcher import Matcher
    from structgen.generation.adjusting import Adjuster

__all__ = ["NO_TOKEN", "Prefix", "Target", "log_of"]

NO_TOKEN = -1
"""Returned where no token can be drawn: every continuation has probability 0, or does not fit the budget."""


class Prefix:
    """The beginning of an answer, or a whole one. It never changes, so particles may share it.

    Attributes:
        token_ids: its tokens.
        matcher: the state of its text; it must stay as it is.
        logprob: the logarithm of its probability by the model, with the end where it is complete.
        is_complete: whether the model has ended it.
    """

    __slots__ = ("_fitting", "is_complete", "logprob", "matcher", "token_ids")

    def __init__(self, token_ids: tuple[int, ...], matcher: Matcher, logprob: float, *, is_complete: bool) -> None:
        self.token_ids = token_ids
        self.matcher = matcher
        self.logprob = logprob
        self.is_complete = is_complete
        self._fitting: dict[int, bool] = {}  # whether the rest fits the budget after a token, for those tried


class Target:
    """The distribution over answers to one prompt.

    Args:
        constraint: the constraint of the answers.
        prompt_ids: the tokens before them.
        max_new_tokens: the budget in tokens, without the end.
        temperature: divides the logits.
        adjuster: changes the logits before that.
        finish: refuse tokens after which the rest does not fit the budget; see `structgen.compilation.budget`.

    Attributes:
        prompt_ids: the prompt that the model reads; proper tokenization may write its last tokens again.

    Raises:
        IncompleteOutputError: the budget is smaller than the shortest answer.
    """

    def __init__(
        self,
        constraint: Constraint[Any],
        prompt_ids: Sequence[int],
        *,
        max_new_tokens: int,
        temperature: float,
        adjuster: Adjuster,
        finish: bool,
    ) -> None:
        self._grammar = constraint.grammar
        self._ends = sorted(constraint.vocabulary.eos_token_ids)
        self._size = constraint.vocabulary.size
        self._given_prompt_ids = prompt_ids
        self.prompt_ids, prefix, self._matcher = constraint.healed(prompt_ids, keeps=1)
        self._prefix_bytes = len(prefix)
        rewritten = len(prompt_ids) - len(self.prompt_ids)
        self._max_tokens = max_new_tokens + rewritten
        self._temperature = temperature
        self._adjuster = adjuster
        self._mask = allocate_token_bitmask(1, self._size)
        is_proper = constraint.tokenization == "proper"
        self._budget = (
            open_budget(self._matcher, self._max_tokens, is_proper=is_proper, rewritten=rewritten) if finish else None
        )
        # The only answer that fits, if it is known:
        self._plan = [] if self._budget is None else list(self._budget.plan)

    def root(self) -> Prefix:
        """Return the empty beginning."""
        return Prefix((), self._matcher.fork(), 0.0, is_complete=False)

    def probabilities(self, prefix: Prefix, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the model's probabilities of the next token, without a mask.

        Where the answer may end, the first end token has the probability of them all.

        Args:
            prefix: the tokens before.
            logits: float32[V] after them.

        Returns:
            float64[V], of sum 1.

        Raises:
            ModelError: the logits are NaN.
        """
        row = without_nan(self._adjuster.adjusted(logits, self._given_prompt_ids, prefix.token_ids))
        top = row.max()
        if not math.isfinite(top):  # some are +inf, or all are -inf: these are equally likely
            found: NDArray[np.float64] = (row == top).astype(np.float64)
        else:
            found = np.exp((row - top) / self._temperature)
        found /= found.sum()
        if self._ends and prefix.matcher.is_accepting:
            found[self._ends[0]] = found[self._ends].sum()
            found[self._ends[1:]] = 0.0
        return found

    def allowed(self, prefix: Prefix) -> NDArray[np.intp]:
        """Return the tokens that the mask allows next, whatever the budget."""
        prefix.matcher.fill_next_token_bitmask(self._mask)
        found: NDArray[np.intp] = tokens_of(self._mask[0], self._size)
        return found

    def allows(self, prefix: Prefix, token_id: int) -> bool:
        """Return whether the constraint allows one token next, whatever the budget. No mask is computed."""
        if self.ends(prefix, token_id):
            return True
        try:
            prefix.matcher.fork().accept_token(token_id)
        except TokenRejectedError:
            return False
        return True

    def ends(self, prefix: Prefix, token_id: int) -> bool:
        """Return whether a token ends the answer. An end token may also stand between two turns."""
        return token_id in self._ends and prefix.matcher.is_accepting

    def is_full(self, prefix: Prefix) -> bool:
        """Return whether the budget is used up: nothing but the end may follow."""
        return len(prefix.token_ids) >= self._max_tokens

    def end_of(self, prefix: Prefix) -> int:
        """Return the token that ends an answer here; `NO_TOKEN` where it cannot end."""
        return self._ends[0] if self._ends and prefix.matcher.is_accepting else NO_TOKEN

    @property
    def has_budget(self) -> bool:
        """True if tokens must be checked with `fits`."""
        return self._budget is not None

    def fits(self, prefix: Prefix, token_id: int) -> bool:
        """Return whether the answer can be completed within the budget after one more token.

        Args:
            prefix: the tokens before.
            token_id: the token; the constraint allows it.
        """
        if self._budget is None or self.ends(prefix, token_id):
            return True
        if self._plan:
            return self._plan[len(prefix.token_ids) :][:1] == [token_id]
        known = prefix._fitting.get(token_id)
        if known is None:
            matcher = prefix.matcher.fork()
            known = self._budget.fits_after(matcher, [token_id], len(prefix.token_ids))
            prefix._fitting[token_id] = known
        return known

    def shortest(self, prefix: Prefix) -> int:
        """Return the first token of a short rest of the answer, or its end; `NO_TOKEN` where none is known."""
        rest = self._plan[len(prefix.token_ids) :]
        if self._budget is not None and not self._plan:
            rest = self._budget.rest(prefix.matcher) or []
        return rest[0] if rest else self.end_of(prefix)

    def after(self, prefix: Prefix, token_id: int, logprob: float) -> Prefix:
        """Return the beginning with one more token, or with its end.

        Args:
            prefix: the tokens before.
            token_id: the token.
            logprob: the logarithm of its probability.
        """
        logprob += prefix.logprob
        if self.ends(prefix, token_id):
            return Prefix(prefix.token_ids, prefix.matcher, logprob, is_complete=True)
        matcher = prefix.matcher.fork()
        matcher.accept_token(token_id)
        # Without an end token in the vocabulary, a text is complete where nothing can follow.
        is_complete = not self._ends and matcher.is_terminated
        return Prefix((*prefix.token_ids, token_id), matcher, logprob, is_complete=is_complete)

    def text_of(self, prefix: Prefix) -> bytes:
        """Return the text of an answer, in UTF-8."""
        return b"".join(map(self._grammar.written, prefix.token_ids))[self._prefix_bytes :]


def log_of(value: float) -> float:
    """Return the logarithm; minus infinity for 0."""
    return math.log(value) if value > 0 else -math.inf
