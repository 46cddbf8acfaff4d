"""The log-probabilities of an answer's tokens, and how sure the model was of each value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from structgen.engine.vocabulary.bitmask import tokens_of
from structgen.generation.sampling import without_nan
from structgen.schema.json_text.lexemes import members_of, offset_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from structgen.compilation.constraint import Constraint
    from structgen.generation.decoder import Observer

__all__ = ["LogprobRecorder", "TokenLogprob", "confidence", "log_sum", "member_of", "span_of"]

_INDEX = re.compile("0|[1-9][0-9]*")  # of a JSON pointer


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A token of an answer, with its natural log-probabilities at temperature 1.

    Attributes:
        token_id: the token; the last one may be an end token.
        start, end: the bytes of the answer's text that it wrote: `text.encode()[start:end]`. Both are the length of the
            text for an end token.
        logprob: of the token before the mask, among all tokens; None where the model was not asked.
        allowed_logprob: of the token among the allowed tokens. 0 where the grammar left no choice about the text.
    """

    token_id: int
    start: int
    end: int
    logprob: float | None
    allowed_logprob: float


class LogprobRecorder:
    """An `Observer` that records the log-probabilities of an answer's tokens.

    Args:
        constraint: the constraint of the answer.
        prompt_ids: the tokens before it.
        next_observer: is notified of the same tokens; None for no other observer.

    Attributes:
        tokens: the tokens so far. The last one may end after the text: its bytes are there, also where it is an end
            token that the grammar names, or a text of `stop` ends within it.
    """

    def __init__(
        self, constraint: Constraint[Any], prompt_ids: Sequence[int], next_observer: Observer | None = None
    ) -> None:
        self.tokens: list[TokenLogprob] = []
        self._vocabulary = constraint.vocabulary
        self._grammar = constraint.grammar
        _, prefix, _ = constraint.healed(prompt_ids, keeps=1)
        self._written = -len(prefix)  # bytes of the prompt that are written again
        self._next = next_observer

    def accepted(
        self, token_id: int, logits: NDArray[np.float32] | None, mask: NDArray[np.uint32] | None, *, forced: bool
    ) -> None:
        """Record a token; see `Observer`."""
        start = max(0, self._written)
        self._written += len(self._grammar.written(token_id))
        logprob, allowed = None, 0.0
        if logits is not None:
            row = without_nan(logits)
            logprob = float(row[token_id] - log_sum(row))
            if mask is not None and not forced:
                allowed = min(0.0, float(row[token_id] - log_sum(row[tokens_of(mask, self._vocabulary.size)])))
        self.tokens.append(TokenLogprob(token_id, start, max(0, self._written), logprob, allowed))
        if self._next is not None:
            self._next.accepted(token_id, logits, mask, forced=forced)

    def rolled_back(self, token_ids: Sequence[int]) -> None:
        """Notify the next observer; held tokens are recorded when they are accepted for good."""
        if self._next is not None:
            self._next.rolled_back(token_ids)


def log_sum(values: NDArray[np.float64]) -> float:
    """Return the logarithm of the sum of the exponentials of some log-weights; minus infinity for none."""
    top = float(values.max()) if len(values) else -math.inf
    return top + math.log(float(np.exp(values - top).sum())) if math.isfinite(top) else top


def confidence(tokens: Sequence[TokenLogprob], text: str, pointer: str, *, is_json: bool) -> float:
    """Return the probability with which the model wrote a value, among the texts that the schema allows.

    Args:
        tokens: the log-probabilities of the answer.
        text: the answer.
        pointer: the JSON pointer of the value; "" for the whole answer, with the decision to end it.
        is_json: whether the answer is JSON.

    Raises:
        ValueError: the answer has no such value, or no log-probabilities.
    """
    if not tokens:
        raise ValueError("this result has no log-probabilities: pass logprobs=True to the call")
    if pointer == "":
        return math.exp(sum(token.allowed_logprob for token in tokens))
    if not is_json:
        raise ValueError(f"the answer is not JSON, so it has no value at {pointer!r}")
    start, end = span_of(text, pointer)
    inside = [token.allowed_logprob for token in tokens if token.start < end and token.end > start]
    return math.exp(sum(inside))


def span_of(text: str, pointer: str) -> tuple[int, int]:
    """Return the bytes of a JSON text that are the value at a JSON pointer: where they begin and end.

    Raises:
        ValueError: there is no such value.
    """
    members, _ = _followed(json.loads(text), pointer)
    data = text.encode()
    start = offset_of(data, members)
    rest = data[start:].decode()
    _, length = json.JSONDecoder().raw_decode(rest)
    return start, start + len(rest[:length].encode())


def member_of(value: Any, pointer: str) -> Any:
    """Return the part of JSON data at a JSON pointer.

    Raises:
        ValueError: there is no such part.
    """
    return _followed(value, pointer)[1]


def _followed(value: Any, pointer: str) -> tuple[list[str | int], Any]:
    """Return the keys and indices of a JSON pointer into a value, and the part that it leads to."""
    members: list[str | int] = []
    for name in members_of(pointer):
        is_index = isinstance(value, list) and _INDEX.fullmatch(name) is not None
        try:
            member: str | int = int(name) if is_index else name
            value = value[member]
        except (LookupError, TypeError, ValueError):  # a ValueError of an index of thousands of digits
            raise ValueError(f"the answer has no value at {pointer!r}") from None
        members.append(member)
    return members, value
