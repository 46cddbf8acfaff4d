"""The end of an answer, kept within the budget of its tokens.

After each token the rest of the answer must fit into what is left of the budget: the fewest tokens that complete it.

    budget 12     {"name": "Ada Lov            9 tokens so far; the rest `"}` takes 1
                  {"name": "Ada Lovelace       10 tokens; the rest still fits
                  {"name": "Ada Lovelace, the  11 tokens, and 1 for the rest: nothing else fits after it

A token after which the rest does not fit is refused, and the model chooses another one. So the answer is complete
whenever the budget is large enough for the shortest one.

A token that the model has chosen is tried first, which is quick. If it is refused, the mask is narrowed to all tokens
that fit, by the classes of `structgen.engine.matching.rests`. Where there are no classes, as in a key of a map, tokens
are tried one by one. If the rest has to become shorter, these are only tokens that end with its first token.

Other generation loops sample from the mask themselves, so tokens cannot be tried. There the masks of the last
WATCHED_TOKENS are narrowed, each before it is used (`limit`). Where there are no classes, a free choice is left only
while the budget has a reserve beyond the rest; a token after which the rest is longer by more than the reserve may then
still cut the text off.

In the last part of the budget, the model may not begin what needs more tokens to be closed: another item, another
optional property. And where it begins a new word in a string, the end of the string is taken instead if the model
thinks it nearly as good; what "nearly" is grows until the string has to end (`early_end`). So texts are closed in the
model's own words, and rarely cut.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from structgen.engine.matching.matcher import Matcher
from structgen.engine.matching.rests import Around, Rest, rests_around, shortest_rest, tokens_by_rest, tokens_towards
from structgen.engine.matching.token_search import fewest_tokens
from structgen.engine.vocabulary.token_trie import TokenTrie, child_of
from structgen.errors import IncompleteOutputError, LimitExceededError, TokenRejectedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from structgen.engine.matching.token_classes import TokenClasses
    from structgen.engine.vocabulary.bitmask_kernel import MaskRows

__all__ = ["Budget", "Choice", "open_budget"]

LAST_PART = 5  # the last fifth of the budget is for closing what is open
MAX_MARGIN = 6.0  # by which the logit of a new word may be higher than that of the end of its string
SPARE_TOKENS = 3  # with fewer to spare, the string ends before any new word
WATCHED_TOKENS = 512  # the last tokens of a budget, whose masks `limit` narrows
MIN_RESERVE = 8  # tokens
MAX_RESERVE = 32
RESERVE_PART = 8  # the reserve of a budget is this part of it, between these bounds
MAX_STEPS = 500  # tokens that are tried for a rest whose split the tokenizer decides


class Choice(NamedTuple):
    """A token that the model chose, and the rest of the answer.

    Attributes:
        room: the number of tokens that the rest may have after the token.
        fits: whether the rest after the token has at most so many.
        before: the shortest rest before the token; None if it is not known.
        after: the shortest rest after it; None too if the token is not just text.
        closing: tokens that bring the end of a string nearer, where the token would begin a new word; see `early_end`.
    """

    room: int
    fits: bool
    before: Rest | None = None
    after: Rest | None = None
    closing: NDArray[np.intp] | None = None

    @property
    def must_close(self) -> bool:
        """True if the next token must make the rest shorter: the rest before it has more tokens than `room`."""
        return self.before is not None and self.before.tokens is not None and len(self.before.tokens) > self.room


class Budget:
    """The budget of one answer.

    Args:
        tokens: the budget.
        is_proper: whether the tokenizer decides how a text is split.
        plan: all tokens of the answer, where hardly another one fits; see `open_budget`.
    """

    def __init__(self, tokens: int, *, is_proper: bool, plan: Sequence[int] = ()) -> None:
        self.plan = plan
        self._tokens = tokens
        self._is_proper = is_proper
        self._is_unknown = False  # whether a search for a rest has passed a limit: then all tokens are taken to fit

    def rest(self, matcher: Matcher) -> list[int] | None:
        """Return few tokens that complete the text; None if none are known.

        Without `is_proper` they are the fewest for the completion's bytes.
        """
        rest = self._rest(matcher)
        return None if rest is None else self._tokens_of(matcher, rest)

    def _rest(self, matcher: Matcher) -> Rest | None:
        if self._is_unknown:
            return None
        try:
            return shortest_rest(matcher)
        except LimitExceededError:
            self._is_unknown = True
            return None

    def _tokens_of(self, matcher: Matcher, rest: Rest) -> list[int] | None:
        return self._proper_tokens(matcher, rest.text) if self._is_proper else rest.tokens

    def room(self, matcher: Matcher, spent: int) -> int:
        """Return how many tokens the rest of the answer may have after the next token.

        In the last part of the budget, that is no more than it has before this token.

        Args:
            matcher: the state of the text; it stays as it is.
            spent: the number of tokens of the text.
        """
        left = self._tokens - spent
        return left - 1 if left * LAST_PART > self._tokens else self._room(left, self._length(matcher, left))

    def _room(self, left: int, before: int | None) -> int:
        """Return how many tokens the rest may have after the next token, given the length of the rest before it."""
        return left - 1 if before is None or left * LAST_PART > self._tokens else min(left - 1, before)

    def choice(self, matcher: Matcher, token_id: int, spent: int, *, ends_early: bool = False) -> Choice:
        """Return what a token that the model chose means for the rest of the answer.

        Args:
            matcher: the state of the text; it stays as it is.
            token_id: the token; the matcher allows it.
            spent: the number of tokens before it.
            ends_early: whether to find the tokens that `early_end` needs.
        """
        left = self._tokens - spent
        around = self._around(matcher, token_id, ends_early and left * LAST_PART <= self._tokens)
        if self._is_unknown:
            return Choice(left - 1, fits=True)
        if around is None or self._is_proper:
            room = self.room(matcher, spent)
            length = self._length_after(matcher, [token_id], left - 1)
            fits = self._is_unknown or (length is not None and length <= room)
            return Choice(room, fits, *(around or (self._rest(matcher), None)))
        before, after, closing = around
        room = self._room(left, self._length_of(matcher, before, left))
        length = self._length_of(matcher, after, left - 1)
        return Choice(room, length is not None and length <= room, before, after, closing)

    def _around(self, matcher: Matcher, token_id: int, with_closing: bool) -> Around | None:
        """Return the rests before and after a token; None where they are not known."""
        if self._is_unknown:
            return None
        try:
            return rests_around(matcher, token_id, with_closing=with_closing)
        except LimitExceededError:
            if with_closing:
                return self._around(matcher, token_id, False)
            self._is_unknown = True
            return None

    def narrow(self, matcher: Matcher, rows: MaskRows, row: int, room: int) -> tuple[bool, list[int] | None]:
        """Remove the tokens from a mask after which the rest of the answer does not fit into the budget.

        Args:
            matcher: the state of the text, not ended; it stays as it is.
            rows: the mask.
            row: the row of the next token in the mask.
            room: the number of tokens that the rest may have; see `room`.

        Returns:
            A pair. First, whether the mask was narrowed; if not, it is unchanged, and the caller must try single
            tokens. Second, the tokens that are left, in ascending order, where they are few; None for many.
        """
        classes = self._classes(matcher)
        if classes is None:
            return False, None
        return True, rows.keep(row, classes.within(max_tokens=room))

    def _classes(self, matcher: Matcher) -> TokenClasses | None:
        """Return the tokens that may come next, by the rest after them; None where single tokens must be tried."""
        if self._is_proper or self._is_unknown:
            return None
        try:
            return tokens_by_rest(matcher)
        except LimitExceededError:
            return None

    def narrow_towards(self, matcher: Matcher, rows: MaskRows, row: int, rest: Rest) -> list[int] | None:
        """Remove the tokens from a mask that do not end with the first token of a rest.

        Args:
            matcher: the state of the text; it stays as it is.
            rows: the mask.
            row: the row of the next token in the mask.
            rest: the shortest rest of the text.

        Returns:
            The tokens that are left, in ascending order, where they are few; None for many.
        """
        return rows.keep(row, tokens_towards(matcher, rest))

    def early_end(self, choice: Choice, spent: int) -> tuple[NDArray[np.intp], float] | None:
        """Return the tokens that bring a string nearer to its end, where the model wants to begin a new word instead.

        Args:
            choice: the model's token.
            spent: the number of tokens before it.

        Returns:
            The tokens, some of which the mask may forbid, and a margin: one of them is taken if the logit of the
            model's token is higher than that of the best of them by at most the margin. None before the last part of
            the budget, and where the text is not in a string.
        """
        before, closing = choice.before, choice.closing
        if closing is None or before is None or before.tokens is None:
            return None
        spare = self._tokens - spent - 1 - len(before.tokens)
        margin = MAX_MARGIN * (1 - spare * LAST_PART / self._tokens) if spare > SPARE_TOKENS else math.inf
        return closing, margin

    def limit(self, matcher: Matcher, words: NDArray[np.uint32], spent: int) -> None:
        """Narrow a mask from which another loop samples, so that the text is whole within the budget.

        Args:
            matcher: the state of the text; it stays as it is.
            words: uint32[ceil(V / 32)], the mask of the next token.
            spent: the number of tokens before it.
        """
        left = self._tokens - spent
        if self.plan:
            _keep_only(words, self.plan[spent : spent + 1] or _ends_of(matcher))
        if self.plan or self._is_unknown or left > WATCHED_TOKENS or matcher.is_terminated:
            return
        classes = self._classes(matcher)
        if classes is not None:
            room = self._room(left, classes.rest_tokens)
            if classes.all_within(room):
                return
            if classes.within(max_tokens=room).keep(words) != []:
                return
        self._keep_only_rest(matcher, words, left)

    def _keep_only_rest(self, matcher: Matcher, words: NDArray[np.uint32], left: int) -> None:
        """Keep only the next token of the rest in a mask, if the budget has no reserve left for a free choice."""
        rest = self.rest(matcher)
        reserve = min(MAX_RESERVE, max(MIN_RESERVE, self._tokens // RESERVE_PART))
        if rest is None or len(rest) + reserve < left:
            return
        _keep_only(words, rest[:1] or _ends_of(matcher))

    def fits_after(self, matcher: Matcher, token_ids: Sequence[int], spent: int) -> bool:
        """Return whether the rest of the answer fits into the budget after some tokens that must come next.

        Args:
            matcher: the state of the text; it stays as it is.
            token_ids: the tokens; the matcher allows them.
            spent: the number of tokens before them.
        """
        left = self._tokens - spent - len(token_ids)
        after = self._length_after(matcher, token_ids, left)
        return self._is_unknown or (after is not None and after <= left)

    def _length_after(self, matcher: Matcher, token_ids: Sequence[int], left: int) -> int | None:
        """Return the number of tokens of the rest after some more; see `_length`."""
        count = 0
        try:
            for token_id in token_ids:
                matcher.accept_token(token_id)
                count += 1
            return self._length(matcher, left)
        finally:
            matcher.rollback(count)

    def _length(self, matcher: Matcher, left: int) -> int | None:
        """Return the number of tokens of the rest; None if none is known.

        Far from the end of the budget, it returns the number of bytes, which is not smaller.
        """
        return self._length_of(matcher, self._rest(matcher), left)

    def _length_of(self, matcher: Matcher, rest: Rest | None, left: int) -> int | None:
        """Return the number of tokens of a rest; see `_length`."""
        if rest is None:
            return None
        # With a proper tokenization, these bytes may have no tokens. Then the rest is another one, which is longer.
        spare = MAX_RESERVE if self._is_proper else 0
        if len(rest.text) + spare <= left and left * LAST_PART > self._tokens:
            return len(rest.text)
        tokens = self._tokens_of(matcher, rest)
        return None if tokens is None else len(tokens)

    def _proper_tokens(self, matcher: Matcher, text: bytes) -> list[int] | None:
        """Return the tokens that the tokenizer has for the rest of a text; None if they were not found."""
        trie = _trie_of(matcher)
        matcher = matcher.fork()
        found: list[int] = []
        begins = [0]
        choices = [_tokens_at(trie, text, 0)]  # of each token, those not tried yet, each with where it ends
        for _ in range(MAX_STEPS):
            if begins[-1] == len(text) and matcher.is_accepting:
                return found
            token_id, end = next(choices[-1], (-1, 0))
            if token_id < 0:
                choices.pop()
                begins.pop()
                if not found:
                    return None
                found.pop()
                matcher.rollback(1)
                continue
            try:
                matcher.accept_token(token_id)
            except TokenRejectedError:
                continue
            found.append(token_id)
            begins.append(end)
            choices.append(_tokens_at(trie, text, end))
        return None


def open_budget(
    matcher: Matcher,
    tokens: int,
    *,
    is_proper: bool,
    rewritten: int = 0,
    option: str = "max_new_tokens",
) -> Budget | None:
    """Return the budget of an answer; None where no end of the answer is known.

    The text of the fewest bytes may not fit the budget, while another text has fewer tokens and fits. Then the budget
    has the tokens of that text as its plan.

    Args:
        matcher: the state before the answer.
        tokens: the budget, with the prompt tokens that are written again.
        is_proper: see `Budget`.
        rewritten: the number of these prompt tokens.
        option: what the caller's budget is called, for the error.

    Raises:
        IncompleteOutputError: the budget is smaller than the shortest answer.
    """
    budget = Budget(tokens, is_proper=is_proper)
    rest = budget.rest(matcher)
    if rest is None:
        return None
    if len(rest) <= tokens:
        return budget
    fewest = None if is_proper else _fewest_tokens(matcher, len(rest))
    if fewest is not None and len(fewest) <= tokens:
        return Budget(tokens, is_proper=is_proper, plan=fewest)
    needed = len(rest if fewest is None else fewest) - rewritten
    given = tokens - rewritten
    raise IncompleteOutputError(
        f"{given} {'token is' if given == 1 else 'tokens are'} too few: the shortest answer needs {needed}",
        text="",
        partial=None,
        hint=f"{option}={needed} or more; the model's context must have room for them",
    )


def _fewest_tokens(matcher: Matcher, below: int) -> list[int] | None:
    """Return the fewest tokens of a whole text, if they are fewer than a number; None if they are not known."""
    try:
        return fewest_tokens(matcher, below)
    except LimitExceededError:
        return None


def _ends_of(matcher: Matcher) -> Sequence[int]:
    """Return the end tokens."""
    ends: Sequence[int] = matcher.ask(lambda compiled, set_id: compiled.vocabulary.eos_token_ids)
    return ends


def _keep_only(words: NDArray[np.uint32], tokens: Sequence[int]) -> None:
    """Remove all other tokens from a mask. A mask that has none of these tokens stays as it is."""
    kept = [token for token in tokens if words[token >> 5] >> (token & 31) & 1]
    if kept:
        words[:] = 0
        for token in kept:
            words[token >> 5] |= 1 << (token & 31)


def _trie_of(matcher: Matcher) -> TokenTrie:
    """Return the trie of a grammar's tokens."""
    return matcher.ask(lambda compiled, set_id: compiled.marked.trie)


def _tokens_at(trie: TokenTrie, text: bytes, begin: int) -> Iterator[tuple[int, int]]:
    """Yield the tokens that spell some bytes of a text from a position on, each with its end, the longest first.

    Tokens of the same bytes come one after the other: Gemma has one for the character `0`, and one for its byte.
    """
    starts, tokens = trie.token_start, trie.tokens
    nodes: list[int] = []
    node = -1
    for byte in text[begin : begin + trie.max_depth]:
        node = child_of(trie, node, byte)
        if node < 0:
            break
        nodes.append(node)
    for length in range(len(nodes), 0, -1):
        node = nodes[length - 1]
        for index in range(starts[node], starts[node + 1]):
            yield tokens[index], begin + length
