"""The decoding loop: mask, sample, accept; tokens that the grammar forces cost no pass of the model.

Where the grammar leaves only one continuation (`{"name": "` at the start of an object), its bytes are tokenized as the
tokenizer would, and the model reads these tokens in the same pass as the token before them. But the model might have
split the bytes differently. It might have written `{` and `"` where the tokenizer has `{"`, or merged the last byte
with the next character, as `"` and `$` to `"$`; and its later choices depend on the split.

So the forced tokens are *held*. The pass returns the logits before each of them too, and the model's choice there is
sampled like any other. Where it differs from the held token, this token and those after it are rolled back in the
matcher and in the key-value cache:

    held        {"   name   ":   "        four tokens, read in one pass
    sampled     {"   name   ":   "$       the last one differs: it is rolled back, and "$ is accepted

This is speculative decoding with the grammar as the draft model. It is exact: the answer is the one of decoding token
by token. And the check costs no pass of its own.

The loop is inverted: `request` returns the tokens that the model has to read next, and `take` accepts the logits. So
one caller can drive a single sequence, and another a batch of sequences, each at its own position.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from structgen.compilation.budget import Budget, Choice, open_budget
from structgen.compilation.constraint import Constraint
from structgen.compilation.repetition import RepetitionGuard
from structgen.engine.vocabulary.bitmask import allocate_token_bitmask
from structgen.engine.vocabulary.bitmask_kernel import MaskRows
from structgen.engine.vocabulary.token_trie import child_of
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import GenerationError
from structgen.generation.adjusting import Adjuster
from structgen.generation.sampling import Sampler, checked_logits
from structgen.models.base import Request

if TYPE_CHECKING:
    from structgen.models.base import Model, Session

__all__ = ["Answer", "Decoder", "FinishReason", "Observer"]

FinishReason = Literal["stop", "length"]

NO_TOKEN = -1  # the answer ends without a token
MAX_REFUSED = 8  # tokens that are sampled for one position, where the rest of the answer does not fit after them
MAX_HELD = 32  # tokens of forced text that are held; in a longer text only the last ones, the others are accepted


class Observer(Protocol):
    """A receiver of the steps of a run, in the order of the text, for traces.

    The arrays are reused by later steps: copy what you keep.
    """

    def accepted(
        self,
        token_id: int,
        logits: NDArray[np.float32] | None,
        mask: NDArray[np.uint32] | None,
        *,
        forced: bool,
    ) -> None:
        """Receive a token that was accepted for good.

        Args:
            token_id: the token; an end token too.
            logits: float32[V] before it; None where the model was not asked.
            mask: uint32[ceil(V/32)] before it; None where it was not needed.
            forced: whether the grammar left no choice about its text.
        """

    def rolled_back(self, token_ids: Sequence[int]) -> None:
        """Receive held tokens that were rolled back; the model's choice replaces the first of them next."""


class TextFollower(Protocol):
    """The state of an answer's text, such as a `Matcher`."""

    def allows_bytes(self, data: bytes) -> bool:
        """Return whether these bytes may follow."""


class Answer(Protocol):
    """The answer of a run so far; a `Decoder` of a local model, or the text of a server."""

    @property
    def finish_reason(self) -> FinishReason | None:
        """The reason why the answer ended; None while it continues."""

    @property
    def token_ids(self) -> Sequence[int]:
        """The tokens so far; empty where they are unknown."""

    @property
    def text_bytes(self) -> bytes:
        """The text so far, in UTF-8."""

    @property
    def is_complete(self) -> bool:
        """True if the text so far is a whole text of the constraint."""

    @property
    def matcher(self) -> TextFollower:
        """The state of the text."""


class Decoder:
    """A sequence under a constraint.

    Args:
        model: tokenizes forced text.
        constraint: the constraint.
        prompt_ids: the tokens before the text.
        session: has read the first `seen_tokens` of them; tokens may be removed from it.
        seen_tokens: the number of prompt tokens that it has read.
        sampler: picks among the allowed tokens.
        adjuster: changes the logits that the sampler gets; None for nothing.
        max_new_tokens: the budget in tokens, forced ones included.
        stop: texts that end the answer, where the grammar allows an end there.
        finish: keep the end of the answer within the budget; see `structgen.compilation.budget`. Otherwise the answer
            breaks off where the budget ends.
        max_repeats: how often a text in JSON may repeat itself; see `structgen.compilation.repetition`. None for any
            number.
        observer: receives every token that is accepted.

    Attributes:
        token_ids: the answer so far, without an end token.
        forced_tokens: how many of them were forced, and cost no pass of their own.
        matcher: the state of the text. Between `request` and `take` it has accepted the held tokens, too.
        model_calls: the number of passes of the model so far.
        finish_reason: "stop" where the text ended; "length" where the budget did, or where the budget or `max_repeats`
            decided how the text ends; None while the text continues.
    """

    def __init__(
        self,
        model: Model,
        constraint: Constraint[Any],
        prompt_ids: Sequence[int],
        *,
        session: Session,
        seen_tokens: int = 0,
        sampler: Sampler,
        adjuster: Adjuster | None = None,
        max_new_tokens: int,
        stop: Sequence[str] = (),
        finish: bool = False,
        max_repeats: int | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.token_ids: list[int] = []
        self.forced_tokens = 0
        self.model_calls = 0
        self.finish_reason: FinishReason | None = None
        self._model = model
        self._grammar = constraint.grammar
        self._vocabulary = constraint.vocabulary
        self._ends = frozenset(self._vocabulary.eos_token_ids)
        kept_ids, prefix, self.matcher = constraint.healed(prompt_ids, keeps=1)
        if len(kept_ids) <= seen_tokens:
            if session.can_crop:  # remove the last token that stays too, to read it again: its logits are needed
                session.crop(seen_tokens - len(kept_ids) + 1)
                seen_tokens = len(kept_ids) - 1
            else:
                kept_ids, prefix, self.matcher = list(prompt_ids), b"", constraint.matcher(prompt_ids)
        self._prefix_bytes = len(prefix)  # bytes of removed prompt tokens, written again
        self._is_proper = constraint.tokenization == "proper"
        self._is_json = constraint.is_json
        self._session = session
        self._sampler = sampler
        self._adjuster = adjuster
        self._prompt_ids = prompt_ids
        self._max_new_tokens = max_new_tokens + len(prompt_ids) - len(kept_ids)
        self._stop = [text.encode() for text in stop]
        self._unseen = kept_ids[seen_tokens:]  # tokens that the model has not read yet
        self._held: list[int] = []
        self._observer = observer
        # Row i: the tokens allowed in the position of held token i; the next row: those allowed after all held tokens.
        self._mask = allocate_token_bitmask(MAX_HELD + 1, self._vocabulary.size)
        self._rows = MaskRows(self._mask)
        self._temperatures: list[float | None] = [None] * (MAX_HELD + 1)  # that the grammar asks for, by row
        self._text = bytearray()
        rewritten = len(prompt_ids) - len(kept_ids)
        self._budget = (
            open_budget(self.matcher, self._max_new_tokens, is_proper=self._is_proper, rewritten=rewritten)
            if finish
            else None
        )
        self._guard = RepetitionGuard(max_repeats) if max_repeats is not None and constraint.is_json else None
        self._is_cut = False  # whether the budget or `max_repeats` has refused a token that the grammar allows

    @property
    def text_bytes(self) -> bytes:
        """The answer so far, in UTF-8; a character may be incomplete at the end. Special tokens are their names."""
        return bytes(self._text[self._prefix_bytes :])

    @property
    def token_count(self) -> int:
        """The number of tokens of the answer so far, for the cost."""
        return len(self.token_ids)

    @property
    def is_complete(self) -> bool:
        """True if the text so far is a whole text of the grammar."""
        return self.matcher.is_accepting

    def request(self) -> Request | None:
        """Accept forced tokens, and return the tokens to read before the next choice.

        Returns:
            The request, or None when the text has ended; `finish_reason` says why.

        Raises:
            GenerationError: no token of the vocabulary can continue the text.
        """
        if self._budget is not None and self._budget.plan and self.finish_reason is None:
            self._write_plan(self._budget.plan)
        while self.finish_reason is None:
            self._held = self._append_forced()
            if self.matcher.is_terminated or self._ends_with_stop():
                self._end("stop")
            elif len(self.token_ids) >= self._max_new_tokens:
                self._end("length")
            else:
                row = self._mask[len(self._held)]
                only = _only_token(row) if not self._held else None
                if only is not None and self._must_end(only):
                    self._end("length")
                elif only is not None:
                    self.forced_tokens += not self._is_end(only)
                    self._notify(only, None, row, forced=True)
                    self._accept(only)
                elif row.any():
                    return Request(self._unseen, len(self._held) + 1)
                elif self.matcher.is_accepting:
                    self._end("stop")  # the text is complete, and the vocabulary has no end token
                else:
                    raise GenerationError(f"no token of the vocabulary can continue the text {self._shown()}")
        return None

    def _must_end(self, only: int) -> bool:
        """Return whether a complete text must end here.

        It must if the vocabulary has no end token, and the answer would pass its budget after the only token that may
        come next.

        Args:
            only: that token.
        """
        if self._budget is None or self._ends or not self.matcher.is_accepting:
            return False
        return not self._budget.fits_after(self.matcher, [only], len(self.token_ids))

    def _write_plan(self, tokens: Sequence[int]) -> None:
        """Write the whole answer, where the budget leaves no other."""
        for token_id in tokens:
            self._notify(token_id, None, None, forced=True)
            self.matcher.accept_token(token_id)
            self._append(token_id)
        self.forced_tokens += len(tokens)
        self.finish_reason = "length"

    def take(self, logits: NDArray[np.float32]) -> None:
        """Check the held tokens against the model's choices, and sample the next token.

        Args:
            logits: float32[keep, V], as requested.

        Raises:
            ModelError: the logits have another shape.
        """
        logits = checked_logits(logits, len(self._held) + 1, self._vocabulary.size)
        self.model_calls += 1
        self._unseen = []
        held, self._held = self._held, []
        for index, expected in enumerate(held):
            token_id = self._sample(logits[index], index, len(self.token_ids) - len(held) + index)
            if token_id != expected:
                self._roll_back(held[index:])
                self._choose(token_id, logits[index], index)
                return
            self.forced_tokens += 1
            self._notify(token_id, logits[index], self._mask[index], forced=True)
        row = len(held)
        self._choose(self._sample(logits[row], row, len(self.token_ids)), logits[row], row)

    def _sample(self, logits: NDArray[np.float32], row: int, count: int, few: list[int] | None = None) -> int:
        """Return a token that a row of the mask allows.

        Args:
            logits: float32[V] at that position.
            row: the row of the mask.
            count: the number of tokens of the answer before that position; penalties depend on them.
            few: all tokens of the row in ascending order, if the caller knows them; else None.
        """
        if few is not None and len(few) == 1:
            return few[0]
        allowed = None if few is None else np.array(few, np.intp)
        if self._adjuster is not None:
            logits = self._adjuster.adjusted(logits, self._prompt_ids, self.token_ids[:count])
        return self._sampler.sample(logits, self._mask[row], self._temperatures[row], allowed)

    def _choose(self, token_id: int, logits: NDArray[np.float32], row: int) -> None:
        """Accept a token sampled at a row, or another one after which the rest of the answer fits the budget."""
        if self._budget is not None and not self._is_end(token_id):
            token_id = self._within_budget(self._budget, token_id, logits, row)
            if token_id == NO_TOKEN:
                self._end("length")
                return
        self._notify(token_id, logits, self._mask[row], forced=False)
        self._accept(token_id)

    def _within_budget(self, budget: Budget, token_id: int, logits: NDArray[np.float32], row: int) -> int:
        """Return a sampled token if the rest of the answer fits into the budget after it; else sample another one.

        All tokens after which the rest does not fit are removed from the mask. Where these are not known, tokens are
        sampled one by one, up to MAX_REFUSED of them. If none fits, the result is the first token of a rest that fits,
        or `NO_TOKEN` if the text is complete and the vocabulary has no end token.
        """
        spent = len(self.token_ids)
        if self._is_end(token_id):
            return token_id
        choice = budget.choice(self.matcher, token_id, spent, ends_early=self._is_json)
        if choice.fits:
            return token_id if choice.closing is None else self._ended_early(budget, choice, token_id, logits, row)
        self._is_cut = True
        is_exact, few = budget.narrow(self.matcher, self._rows, row, choice.room)
        if not is_exact:
            return self._first_that_fits(budget, choice, token_id, logits, row)
        return self._first_of_rest(budget, token_id, row) if few == [] else self._sample(logits, row, spent, few)

    def _first_that_fits(
        self, budget: Budget, refused: Choice, token_id: int, logits: NDArray[np.float32], row: int
    ) -> int:
        """Sample tokens until one fits the budget, without those that were refused.

        Where the rest has to become shorter, only tokens that lead towards its end are sampled.
        """
        spent = len(self.token_ids)
        few: list[int] | None = None
        if refused.must_close and refused.before is not None:
            few = budget.narrow_towards(self.matcher, self._rows, row, refused.before)
        for _ in range(MAX_REFUSED - 1):
            self._rows.remove(row, token_id)
            few = None if few is None else [each for each in few if each != token_id]
            if not (self._mask[row].any() if few is None else few):
                break
            token_id = self._sample(logits, row, spent, few)
            if self._is_end(token_id) or budget.choice(self.matcher, token_id, spent).fits:
                return token_id
        return self._first_of_rest(budget, token_id, row)

    def _first_of_rest(self, budget: Budget, token_id: int, row: int) -> int:
        """Return the first token of a short rest of the answer. If the rest is empty, return the end or `NO_TOKEN`.

        Args:
            budget: the budget, which finds the rest.
            token_id: the token to return if no rest is known.
            row: the row of the mask, which gets the token back if it was removed. The observer reads it.
        """
        rest = budget.rest(self.matcher)
        if rest is not None:
            token_id = rest[0] if rest else min(self._ends, default=NO_TOKEN)
        if token_id != NO_TOKEN:
            self._mask[row, token_id >> 5] |= np.uint32(1 << (token_id & 31))
        return token_id

    def _ended_early(self, budget: Budget, choice: Choice, token_id: int, logits: NDArray[np.float32], row: int) -> int:
        """Return a sampled token, or one that ends the string before a new word, near the end of the budget."""
        found = budget.early_end(choice, len(self.token_ids))
        if found is None:
            return token_id
        ends, margin = found
        if self._is_proper:  # the tokenizer would not write most of them
            words = self._mask[row]
            ends = ends[(words[ends >> 5] >> (ends & 31).astype(np.uint32) & np.uint32(1)).astype(bool)]
        if not len(ends):
            return token_id
        best = int(ends[logits.take(ends).argmax()])
        if not logits[token_id] - logits[best] <= margin or not int(self._mask[row, best >> 5]) >> (best & 31) & 1:
            return token_id
        self._is_cut = True
        return best

    def _end(self, reason: FinishReason) -> None:
        self._notify_held(self._held)
        self.finish_reason = "length" if self._is_cut else reason

    def _notify_held(self, held: list[int]) -> None:
        """Notify the observer of held tokens that stay, because the model is not asked any more."""
        for index, token_id in enumerate(held):
            self._notify(token_id, None, self._mask[index], forced=True)

    def _notify(self, token_id: int, logits: Any, mask: Any, *, forced: bool) -> None:
        if self._observer is not None:
            self._observer.accepted(token_id, logits, mask, forced=forced)

    def _append_forced(self) -> list[int]:
        """Append the tokens that the grammar forces, and fill the rows of the mask.

        Returns:
            The held tokens, which will be checked against the model's choices. They are appended as well. Row i of the
            mask is for the position of held token i, the next row for the position after all of them.
        """
        matcher, mask = self.matcher, self._mask
        if self._is_proper:  # a forced token is the only one in the mask: no other split of its bytes is proper
            if not matcher.is_terminated:
                self._fill_last_row(0)
            return []
        tokens = self._forced_tokens()
        held: list[int] = []
        for index, token_id in enumerate(tokens):
            if index >= len(tokens) - MAX_HELD:
                self._fill_row(len(held))
                if self._session.can_crop:
                    held.append(token_id)
                elif _may_merge(self._vocabulary, tokens[index:], mask[0]):
                    return []  # the model chooses here, as for any other token; row 0 is filled
            matcher.accept_token(token_id)
            self._append(token_id)
            self.forced_tokens += not held
            if not held:
                self._notify(token_id, None, None, forced=True)
        if matcher.is_terminated:
            self.forced_tokens += len(held)
            self._notify_held(held)
            return []  # no later choice could depend on the split
        self._fill_last_row(len(held))
        return held

    def _fill_row(self, row: int) -> None:
        """Fill a row of the mask, and note the temperature there."""
        self.matcher.fill_next_token_bitmask(self._mask, row)
        if self._grammar.has_temperatures:
            self._temperatures[row] = self.matcher.temperature

    def _fill_last_row(self, row: int) -> None:
        """Fill the row of the mask after the text so far, without tokens by which it would repeat itself again."""
        self._fill_row(row)
        if self._guard is not None and self._guard.narrow(self.matcher, self._mask[row], self._text):
            self._is_cut = True

    def _forced_tokens(self) -> list[int]:
        """Return the tokens of the text that must come next, as far as the budget goes."""
        tokens = self._tokenize(self.matcher.forced_pieces())
        spent = len(self.token_ids)
        if self._budget is None:
            return tokens[: self._max_new_tokens - spent]
        # The tokenizer may split a text into more tokens than are left: then the model chooses, one by one.
        return tokens if self._budget.fits_after(self.matcher, tokens, spent) else []

    def _accept(self, token_id: int) -> None:
        if self._is_end(token_id):
            self.finish_reason = "length" if self._is_cut else "stop"
            return
        before = len(self._text)
        self.matcher.accept_token(token_id)
        self._append(token_id)
        cut = self._stop_within(before)
        if cut is not None:
            del self._text[cut:]
            self.finish_reason = "stop"

    def _is_end(self, token_id: int) -> bool:
        """Return whether a token that is allowed next ends the text. An end token may also stand between two turns."""
        return token_id in self._ends and self.matcher.is_accepting

    def _append(self, token_id: int) -> None:
        self.token_ids.append(token_id)
        self._unseen.append(token_id)
        self._text += self._grammar.written(token_id)

    def _roll_back(self, token_ids: list[int]) -> None:
        if self._observer is not None:
            self._observer.rolled_back(token_ids)
        count = len(token_ids)
        self._session.crop(count)
        self.matcher.rollback(count)
        del self.token_ids[-count:]
        del self._text[len(self._text) - sum(len(self._grammar.written(token)) for token in token_ids) :]

    def _stop_within(self, before: int) -> int | None:
        """Return where the text ends if a stop text ends within its last token, and the grammar allows an end there.

        Args:
            before: the length of the text before its last token, in bytes.
        """
        if self._is_proper:
            return None  # a cut within a token would make the tokens improper: only a whole token ends the text
        cuts = set()
        if before < len(self._text) and self._vocabulary.token_bytes(self.token_ids[-1]) is None:
            return None  # a special token is no text
        for stop in self._stop:
            at = self._text.find(stop, max(0, before - len(stop) + 1))
            while at >= 0:
                cuts.add(at + len(stop))
                at = self._text.find(stop, at + 1)
        for cut in sorted(cuts):
            matcher = self.matcher.fork()
            if cut < len(self._text):
                matcher.rollback(1)
                if not matcher.allows_bytes(bytes(self._text[before:cut])):
                    continue  # within the name of a token terminal
                matcher.accept_bytes(bytes(self._text[before:cut]))
            if matcher.is_accepting:
                return cut
        return None

    def _ends_with_stop(self) -> bool:
        return any(self.text_bytes.endswith(stop) for stop in self._stop) and self.matcher.is_accepting

    def _tokenize(self, forced: list[bytes | int]) -> list[int]:
        """Return the tokens of forced texts and token terminals.

        It stops at a text that the tokenizer does not spell exactly: then the model chooses the split.
        """
        found: list[int] = []
        for piece in forced:
            if isinstance(piece, int):
                found.append(piece)
                continue
            text = _whole_characters(piece)
            tokens = self._model.encode_text(text) if text else []
            # Some tokenizers normalize, or put a space before a text: then their tokens spell something else.
            spelled = b"".join(self._vocabulary.token_bytes(token) or b"\xff" for token in tokens)
            if spelled == text.encode():
                found += tokens
            if spelled != piece:
                break
        return found

    def _shown(self) -> str:
        return repr(bytes(self._text[-80:]).decode(errors="replace"))


def _whole_characters(data: bytes) -> str:
    """Return the text of the bytes up to the last whole character."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        # The tokenizer reads whole characters only: leave out one that is cut off.
        return data[: error.start].decode()


def _only_token(row: NDArray[np.uint32]) -> int | None:
    """Return the token if the mask allows exactly one."""
    words = np.flatnonzero(row)
    if words.shape[0] != 1:
        return None
    word = int(row[words[0]])
    return None if word & (word - 1) else int(words[0]) * 32 + word.bit_length() - 1


def _may_merge(vocabulary: Vocabulary, tokens: list[int], row: NDArray[np.uint32]) -> bool:
    """Return whether an allowed token begins with the bytes of all these tokens, and is longer.

    Then the model might have written that token instead. Cost: a walk of the trie down the bytes, and a look at the
    tokens below.
    """
    trie = vocabulary.trie
    node = -1
    texts = list(map(vocabulary.token_bytes, tokens))
    if None in texts:
        return False  # one of them is a token terminal
    for byte in b"".join(text or b"" for text in texts):
        node = child_of(trie, node, byte)
        if node < 0:
            return False
    if node < 0:
        return False
    longer = np.asarray(trie.tokens[trie.token_start[node + 1] : trie.token_start[trie.node_end[node]]])
    return bool((row[longer >> 5] >> (longer & 31).astype(np.uint32) & np.uint32(1)).any())
