"""One sequence on its way through a grammar."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.vocabulary.bitmask import as_rows, as_words, tokens_of
from structgen.errors import LimitExceededError, TokenRejectedError, VocabularyError

if TYPE_CHECKING:
    from structgen.engine.matching.expectations import ExpectationFinder, Expected
    from structgen.engine.matching.explaining import Explanation

__all__ = ["Matcher", "fill_next_token_bitmask"]

T = TypeVar("T")

STALE = -1  # a set before an earlier token that was dropped
NOT_ENDED = -1
NO_MASK = object()
FORCED_BYTES = 65_536  # at most so many at once: a grammar may force bytes without end
FULL = 0xFFFFFFFF
# Compiled, what was found before is read without the lock, which takes longer than that: no other thread can run from
# where the epoch is looked at until the last read, as no object is made there. An epoch's tables only grow. Whoever
# replaces an array that is read here keeps the old one until the new one is in place: freeing it may let others run.
IS_COMPILED = not __file__.endswith(".py")


class Matcher:
    """Follows one sequence of tokens: which may come next, and whether the text may stop.

    A matcher belongs to one thread at a time; any number of matchers may share a compiled grammar.

    Args:
        compiled: the grammar.
        prefix: bytes that come before its text, and have to be written, too.

    Example:
        >>> vocabulary = Vocabulary.from_bytes({0: b"yes", 1: b"no", 2: b"</s>"}, eos_token_ids=[2])
        >>> matcher = structgen.compile(structgen.Grammar.regex("yes|no"), vocabulary).matcher()
        >>> matcher.allowed_token_ids()
        [0, 1]
        >>> matcher.accept_token(0)
        >>> matcher.allowed_token_ids()
        [2]
    """

    def __init__(self, compiled: CompiledGrammar, prefix: bytes = b"") -> None:
        self._compiled = compiled
        self._prefix = prefix
        # By accepted token (or call of accept_bytes): the set before it, and its bytes. Two lists, as a tuple for each
        # token would set Python's garbage collector going more often than all else does.
        self._sets_before: list[int] = []
        self._texts: list[bytes] = []
        self._ended_by = NOT_ENDED  # the number of the token after which only end tokens may come
        self._mask_object: Any = NO_MASK
        self._mask_words: Any = None
        self._mask_rows = 0
        self._reached = 0
        self._begin()

    def _begin(self) -> None:
        """Goes to before the first token."""
        compiled = self._compiled
        if self._prefix:
            self._epoch = STALE
            with compiled.lock:
                self._refresh()
        else:
            self._epoch = compiled.epoch
            self._set = compiled.sets.start_set

    # -- what may come next -----------------------------------------------------------------------------------------

    def fill_next_token_bitmask(self, mask: Any, row: int = 0) -> None:
        """Writes which tokens may come next into one row of a mask.

        Args:
            mask: uint32 or int32 [rows, ceil(V / 32)], numpy or torch on the CPU; token t is bit t % 32 of word
                t // 32. See `structgen.allocate_token_bitmask`.
            row: which row; the others are left alone.

        Raises:
            VocabularyError: the mask has another shape or type.
            ValueError: it has no such row.
            LimitExceededError: a bound of `Limits` was passed.
        """
        if mask is not self._mask_object:
            self._mask_words = as_words(mask, self._compiled.vocabulary.size)
            self._mask_rows = len(self._mask_words)
            self._mask_object = mask
        if not 0 <= row < self._mask_rows:
            raise ValueError(f"row {row} of a mask of {self._mask_rows} rows")
        self._fill(self._mask_words[row])

    def _fill(self, words: Any) -> None:
        """Writes which tokens may come next into uint32[words]."""
        compiled = self._compiled
        is_of_epoch = IS_COMPILED and self._epoch == compiled.epoch and not compiled.shared.is_full()
        if is_of_epoch and (self._has_ended() or compiled.masks.knows(self._set)):
            self._write(words)
        else:
            with compiled.lock:
                self._refresh()
                try:
                    self._write(words)
                except LimitExceededError as error:
                    self._renew_after(error)
                    self._write(words)

    def _write(self, words: Any) -> None:
        """The same, where the place is of this epoch."""
        compiled = self._compiled
        if self._has_ended():
            words[:] = compiled.masks.empty
        else:
            compiled.masks.fill(self._set, words)
        if self._may_end():
            one = 1
            for token in compiled.vocabulary.eos_token_ids:
                words[token >> 5] |= one << (token & 31)

    def allowed_token_ids(self) -> list[int]:
        """The tokens that may come next, in ascending order."""
        vocabulary = self._compiled.vocabulary
        mask = np.zeros((1, (vocabulary.size + 31) // 32), dtype=np.uint32)
        self.fill_next_token_bitmask(mask)
        tokens: list[int] = tokens_of(mask[0]).tolist()
        return tokens

    def allows_bytes(self, data: bytes) -> bool:
        """Whether the text may go on with some bytes; the state stays as it is.

        Raises:
            LimitExceededError: a bound of `Limits` was passed.
        """
        if self._has_ended():
            return not data
        return self._ask(lambda: self._follow(data) == len(data))

    def forced_bytes(self) -> bytes:
        """The bytes that must come next, whatever the model thinks: up to where there is a choice, or an end."""
        compiled = self._compiled
        if self._has_ended():
            return b""
        with compiled.lock:
            self._refresh()
            out = bytearray()
            try:
                self._follow_forced(out)
            except LimitExceededError as error:
                self._renew_after(error)
                out.clear()
                with contextlib.suppress(LimitExceededError):  # those that fit, then
                    self._follow_forced(out)
            return bytes(out)

    def _follow_forced(self, out: bytearray) -> None:
        """Appends what must come next."""
        sets = self._compiled.sets
        place = self._set
        while len(out) < FORCED_BYTES and not sets.table.accepting[place]:
            sets.close(place)
            byte = sets.table.only_byte[place]
            if byte < 0 or byte > 255:
                break
            place = sets.goto(place, byte)
            out.append(byte)

    @property
    def is_accepting(self) -> bool:
        """Whether the text so far is a whole text of the language."""
        with self._compiled.lock:
            self._refresh()
            return bool(self._compiled.sets.table.accepting[self._set])

    @property
    def is_terminated(self) -> bool:
        """Whether nothing but an end token can follow."""
        if self._has_ended():
            return True
        compiled = self._compiled
        with compiled.lock:
            self._refresh()
            if not compiled.sets.table.accepting[self._set]:
                return False
            compiled.sets.close(self._set)
            return bool(compiled.sets.table.only_byte[self._set] == 256)

    def _may_end(self) -> bool:
        # Where the end is eager, the first token ends an accepted text; only the empty text is not ended by one.
        return self._has_ended() or bool(self._compiled.sets.table.accepting[self._set])

    def _has_ended(self) -> bool:
        return self._ended_by >= 0

    # -- why --------------------------------------------------------------------------------------------------------

    def explain(self, token_id: int) -> Explanation:
        r"""Whether a token may come next, and if not, why not: at which byte it leaves the grammar, what could have
        stood there instead, and which rules ask for that.

        It is for people: it takes some tenths of a millisecond, and nothing is kept for it.

        Example:
            >>> vocabulary = Vocabulary.from_bytes({0: b"tea", 1: b"toffee", 2: b"</s>"}, eos_token_ids=[2])
            >>> grammar = structgen.Grammar.kbnf('start ::= "one " drink; drink ::= "tea" | "coffee";')
            >>> matcher = structgen.compile(grammar, vocabulary).matcher()
            >>> matcher.accept_bytes(b"one ")
            >>> print(matcher.explain(1))
            token 1 ("toffee") is refused at its byte 1, "o", after "one t". Expected there: "ea" (drink).

        Raises:
            LimitExceededError: a bound of `Limits` was passed.
        """
        from structgen.engine.matching.explaining import explain  # for messages only

        text, has_ended = b"".join(self._texts), self._has_ended()
        vocabulary = self._compiled.vocabulary
        return self._ask(lambda: explain(self._finder(), vocabulary, self._set, text, token_id, has_ended=has_ended))

    def expected(self) -> tuple[Expected, ...]:
        """What may come next, in words; see `structgen.engine.matching.expectations.Expected`.

        Example:
            >>> schema = {"properties": {"age": {"type": "integer", "minimum": 0}}, "required": ["age"]}
            >>> vocabulary = Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)})
            >>> matcher = structgen.compile({"type": "object"} | schema, vocabulary).matcher()
            >>> matcher.accept_bytes(b'{"age":')
            >>> print(*matcher.expected())
            an integer from 0 up (#/properties/age)
        """
        from structgen.engine.matching.expectations import THE_END

        if self._has_ended():
            return (THE_END,)
        return self._ask(lambda: self._finder().expected(self._set))

    def open_rules(self) -> tuple[str, ...]:
        """The rules of the grammar, or the places in the schema, that are under way, the outermost first."""
        if self._has_ended():
            return ()
        return self._ask(lambda: self._finder().open_rules(self._set))

    def _finder(self) -> ExpectationFinder:
        from structgen.engine.matching.expectations import ExpectationFinder  # for messages only

        compiled = self._compiled
        return ExpectationFinder(compiled.sets, compiled.tables, compiled.origin)

    # -- moving -----------------------------------------------------------------------------------------------------

    def accept_token(self, token_id: int) -> None:
        """Moves on by one token.

        Raises:
            TokenRejectedError: the grammar does not allow it here; the state is unchanged.
            LimitExceededError: a bound of `Limits` was passed; the state is unchanged.
        """
        spellings = self._compiled.spellings
        text = spellings[token_id] if 0 <= token_id < len(spellings) else b""
        if not text:
            self._accept_end(token_id)
            return
        if self._has_ended():
            raise self._rejected(token_id, "the text has ended")
        if self._move(text) < len(text):
            raise self._rejected(token_id, "the grammar does not allow it here")

    def _accept_end(self, token_id: int) -> None:
        """Moves on by a token that stands for no text."""
        compiled = self._compiled
        if token_id not in compiled.vocabulary.eos_token_ids:
            raise self._rejected(token_id, "it stands for no text")
        with compiled.lock:
            self._refresh()
            allowed = self._may_end()
        if not allowed:
            raise self._rejected(token_id, "the text may not end here")
        if not self._has_ended():
            self._ended_by = len(self._texts)
        self._sets_before.append(self._set)
        self._texts.append(b"")

    def accept_bytes(self, data: bytes) -> None:
        """Moves on by some bytes; one step for `rollback`.

        Raises:
            TokenRejectedError: the grammar does not allow them here; the state is unchanged.
            LimitExceededError: a bound of `Limits` was passed; the state is unchanged.
        """
        accepted = 0 if self._has_ended() and data else self._move(data)
        if accepted < len(data):
            raise TokenRejectedError(
                f"byte {data[accepted]:#04x} at position {accepted} of {data[:80]!r} is not allowed",
                token_id=None,
                position=accepted,
            )

    def _move(self, text: bytes) -> int:
        """Follows the bytes; moves only if all are allowed. Returns how many are."""
        compiled = self._compiled
        if IS_COMPILED and self._epoch == compiled.epoch and self._follow_known(text):
            self._advance(text)
            return len(text)
        with compiled.lock:
            if self._epoch != compiled.epoch:
                self._refresh()
            try:
                accepted = self._follow(text)
            except LimitExceededError as error:
                self._renew_after(error)
                accepted = self._follow(text)
            if accepted == len(text):
                self._advance(text)
        return accepted

    def _advance(self, text: bytes) -> None:
        """Moves to the set that was reached by some bytes."""
        ends = self._compiled.eager and text and self._compiled.sets.table.accepting[self._reached]
        if ends and not self._has_ended() and (not self._prefix or self._has_begun(text)):
            self._ended_by = len(self._texts)
        self._sets_before.append(self._set)
        self._texts.append(text)
        self._set = self._reached

    def _has_begun(self, text: bytes) -> bool:
        """Whether the text goes beyond the prefix with some more bytes."""
        return sum(map(len, self._texts)) + len(text) > len(self._prefix)

    def _follow_known(self, text: bytes) -> bool:
        """Whether all of the bytes are allowed by steps that were taken before; leaves the last set in `_reached`."""
        sets = self._compiled.sets
        place = self._set
        for index in range(len(text)):
            place = sets.known_step(place, text[index])
            if place <= 0:
                return False
        self._reached = place
        return True

    def _follow(self, text: bytes) -> int:
        """How many of the bytes are allowed; leaves the set after them in `_reached`."""
        sets = self._compiled.sets
        place = self._set
        for index in range(len(text)):
            place = sets.goto(place, text[index])
            if not place:
                return index
        self._reached = place
        return len(text)

    def _rejected(self, token_id: int, why: str) -> TokenRejectedError:
        vocabulary = self._compiled.vocabulary
        text = vocabulary.token_bytes(token_id) if 0 <= token_id < vocabulary.size else None
        return TokenRejectedError(
            f"token {token_id} ({text!r}) was rejected after {len(self._texts)} tokens: {why}",
            token_id=token_id,
            position=len(self._texts),
        )

    # -- going back, and copies -------------------------------------------------------------------------------------

    def rollback(self, count: int) -> None:
        """Takes back the last `count` tokens (and calls of `accept_bytes`).

        Raises:
            ValueError: fewer were accepted.
        """
        if not 0 <= count <= len(self._texts):
            raise ValueError(f"cannot take back {count} of {len(self._texts)} accepted tokens")
        if count:
            kept = len(self._texts) - count
            self._set = self._sets_before[kept]
            del self._sets_before[kept:], self._texts[kept:]
            if self._ended_by >= kept:
                self._ended_by = NOT_ENDED
            if self._set == STALE:
                self._epoch = STALE  # `_refresh` reads the text again

    def fork(self) -> Matcher:
        """An independent copy at the same place."""
        twin = Matcher(self._compiled)
        self._copy_to(twin)
        return twin

    def _copy_to(self, twin: Matcher) -> None:
        """Puts another matcher to the same place."""
        with self._compiled.lock:
            self._refresh()
            twin._prefix = self._prefix
            twin._epoch = self._epoch
            twin._set = self._set
            twin._ended_by = self._ended_by
            twin._sets_before = self._sets_before.copy()
            twin._texts = self._texts.copy()

    def reset(self) -> None:
        """Goes back to before the first token."""
        self._sets_before.clear()
        self._texts.clear()
        self._ended_by = NOT_ENDED
        self._begin()

    # -- finding the place again ------------------------------------------------------------------------------------

    def _ask(self, question: Callable[[], T]) -> T:
        """The answer to a question about the place, under the lock. It is asked again where a limit was passed on what
        is kept. What is asked for each token does the same by itself: a call of a function takes as long as the rest.
        """
        with self._compiled.lock:
            self._refresh()
            try:
                return question()
            except LimitExceededError as error:
                self._renew_after(error)
                return question()

    def _renew_after(self, error: LimitExceededError) -> None:
        """Begins the grammar's tables anew where the limit that was passed is on what is kept."""
        compiled = self._compiled
        if error.limit == "item_sets":
            dropped = compiled.sets
            compiled.renew_sets()
            self._take_place(compiled.sets.adopt(dropped, self._set))
        elif error.limit in ("automaton_states", "grammar_symbols"):
            compiled.renew()
            self._read_again()
        else:
            raise error

    def _refresh(self) -> None:
        """Finds the place again where the sets were begun anew since the last call, or have to be now."""
        compiled = self._compiled
        if compiled.shared.is_full():
            compiled.renew()
        if self._epoch == compiled.epoch:
            return
        if self._epoch == compiled.epoch - 1 and compiled.previous is not None:
            self._take_place(compiled.sets.adopt(compiled.previous, self._set))
            return
        try:
            self._read_again()
        except LimitExceededError as error:
            if error.limit not in ("automaton_states", "grammar_symbols"):
                raise
            compiled.renew()  # other texts may have taken the room
            self._read_again()

    def _take_place(self, place: int) -> None:
        """Goes on at a set of the sets begun anew; the sets before earlier tokens are gone."""
        self._set = place
        self._sets_before = [STALE] * len(self._texts)
        self._epoch = self._compiled.epoch

    def _read_again(self) -> None:
        """Reads the text from its beginning."""
        compiled = self._compiled
        place = compiled.sets.start_with_prefix(self._prefix)
        sets_before: list[int] = []
        for text in self._texts:
            sets_before.append(place)
            for index in range(len(text)):
                try:
                    place = compiled.sets.goto(place, text[index])
                except LimitExceededError as error:
                    if error.limit != "item_sets":
                        raise
                    dropped = compiled.sets
                    compiled.renew_sets()
                    place = compiled.sets.goto(compiled.sets.adopt(dropped, place), text[index])
                    sets_before = [STALE] * len(sets_before)
        self._set = place
        self._sets_before = sets_before
        self._epoch = compiled.epoch


def fill_next_token_bitmask(matchers: Sequence[Matcher | None], mask: Any) -> None:
    """Writes which tokens may come next in every sequence of a batch.

    Args:
        matchers: one for each row, each of its own grammar, all of one vocabulary. None is a sequence without a
            grammar: its row allows everything. A text that has ended allows nothing but its end tokens.
        mask: uint32 or int32 [rows, ceil(V / 32)], numpy or torch on the CPU. See `structgen.allocate_token_bitmask`.

    Raises:
        VocabularyError: the mask has another shape or type.
        LimitExceededError: a bound of `Limits` was passed; the rows above are written.

    Example:
        >>> vocabulary = Vocabulary.from_bytes({0: b"a", 1: b"b", 2: b"</s>"}, eos_token_ids=[2])
        >>> grammars = [structgen.Grammar.regex(pattern) for pattern in ("a|b", "b?")]
        >>> matchers = [structgen.compile(grammar, vocabulary).matcher() for grammar in grammars]
        >>> mask = structgen.allocate_token_bitmask(len(matchers), vocabulary.size)
        >>> structgen.fill_next_token_bitmask(matchers, mask)
        >>> [f"{word:03b}" for word in mask[:, 0]]
        ['011', '110']
    """
    words = as_rows(mask)
    if len(matchers) != words.shape[0]:
        raise VocabularyError(f"{len(matchers)} matchers and {words.shape[0]} rows of masks")
    for row in range(len(matchers)):
        matcher = matchers[row]
        if matcher is None:
            words[row, :] = FULL
            continue
        if matcher._compiled.masks.empty.shape[0] != words.shape[1]:
            as_words(mask, matcher._compiled.vocabulary.size)  # says what does not fit
        matcher._fill(words[row])
