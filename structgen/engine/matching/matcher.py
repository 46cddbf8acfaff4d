"""Matchers: follow one sequence through a compiled grammar, and give the mask of the next token.

A matcher holds the number of an Earley set, and for each accepted token the set before it. So a mask is a look-up,
accepting a token is one look-up for each byte, rolling back and forking copy numbers.

    text read   set   next token   mask
    ""          1     "a"          masks.fill(1)
    "a"         2     "bb"         masks.fill(2)
    "abb"       3

Sets, masks and steps belong to the compiled grammar, and all its matchers share them under its lock. What was found
before is read without the lock; see IS_COMPILED.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from structgen.engine.constants import NO_BYTE
from structgen.engine.matching.compiled import CompiledGrammar, Turn
from structgen.engine.matching.readings import after_token, follow, is_marked, may_have_ended, read, written
from structgen.engine.vocabulary.bitmask import as_words, tokens_of
from structgen.engine.vocabulary.marks import MARK_BYTE, pieces_of
from structgen.engine.whole_numbers import check_bytes, whole_number
from structgen.errors import LimitExceededError, TokenRejectedError

if TYPE_CHECKING:
    from structgen.engine.matching.expectations import ExpectationFinder, Expected
    from structgen.engine.matching.explaining import Explanation
    from structgen.engine.vocabulary.bitmask import Bitmask

__all__ = ["Matcher"]

T = TypeVar("T")

STALE = -1  # in place of a set before an earlier token, which was dropped
NOT_ENDED = -1
NO_MASK = object()
MAX_SHOWN_BYTES = 40  # of the text, in a repr
MAX_FORCED_BYTES = 65_536  # returned by one call; a grammar may force bytes without end
# Compiled, what was found before is read without the lock, as taking the lock costs more than the read. This is safe:
# no object is made between the comparison of the epoch and the last read, so no other thread can run; the tables of one
# epoch only grow; and code that replaces an array that is read here keeps the old one until the new one is stored, as
# freeing it may let other threads run.
IS_COMPILED = not __file__.endswith(".py")


class Matcher:
    """The state of one sequence of tokens: which tokens may come next, and whether the text may stop.

    A matcher belongs to one thread at a time; any number of matchers may share a compiled grammar.

    Args:
        compiled: the grammar.
        prefix: bytes that have to be written before a text of the grammar.

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
        # For each accepted token (or call of accept_bytes): the set before it, and its bytes. Two lists, as one tuple
        # for each token would run Python's garbage collector more often than everything else does.
        self._sets_before: list[int] = []
        self._texts: list[bytes] = []
        self._ended_by = NOT_ENDED  # index of the token after which only end tokens may come
        self._mask_object: object = NO_MASK
        self._mask_words: NDArray[np.uint32]  # of that mask
        self._mask_rows = 0
        self._reached = 0
        self.reasons_of: Callable[[bytes], tuple[str, ...]] | None = None  # see `Explanation.reasons`; given a text
        self._begin()

    def _begin(self) -> None:
        """Move to the set before the first token."""
        compiled = self._compiled
        if self._prefix:
            self._epoch = STALE
            with Turn(compiled):
                self._refresh()
        else:
            self._epoch = compiled.epoch
            self._set = compiled.sets.start_set

    def __repr__(self) -> str:
        text = b"".join(self._texts)
        last = text if len(text) <= MAX_SHOWN_BYTES else text[len(text) - MAX_SHOWN_BYTES :]
        return f"Matcher({'' if last is text else '…'}{last!r}, {len(self._texts)} tokens)"

    # -- what may come next -----------------------------------------------------------------------------------------

    def fill_next_token_bitmask(self, mask: Bitmask, row: int = 0) -> None:
        """Write which tokens may come next into one row of a mask.

        Args:
            mask: uint32 or int32 [rows, ceil(V / 32)], numpy or torch on the CPU; token t is bit t % 32 of word
                t // 32. See `structgen.allocate_token_bitmask`.
            row: the row to write; the others stay as they are.

        Raises:
            VocabularyError: the mask has another shape or type.
            ValueError: the mask has no such row.
            TypeError: the row is no integer.
            LimitExceededError: a bound of `Limits` was passed.
        """
        if type(row) is not int:
            row = whole_number(row, "a row of a mask")
        if mask is not self._mask_object:
            self._mask_words = as_words(mask, self._compiled.vocabulary.size)
            self._mask_rows = len(self._mask_words)
            self._mask_object = mask
        try:
            at = row
        except OverflowError:  # compiled, it is a C integer
            at = -1
        if not 0 <= at < self._mask_rows:
            raise ValueError(f"row {row} of a mask of {self._mask_rows} rows")
        self._fill(self._mask_words[at])

    def _fill(self, words: NDArray[np.uint32]) -> None:
        """Write which tokens may come next into uint32[words]."""
        compiled = self._compiled
        is_of_epoch = IS_COMPILED and self._epoch == compiled.epoch and not compiled.shared.is_full()
        if is_of_epoch and (self._has_ended() or compiled.masks.knows(self._set)):
            self._write(words)
        else:
            compiled.begin_turn()
            try:
                self._refresh()
                try:
                    compiled.let_move()
                    self._write(words)
                except LimitExceededError as error:
                    self._renew_after(error)
                    self._write(words)
            except BaseException as error:
                compiled.abandon_after(error)
                raise
            finally:
                compiled.end_turn()

    def _write(self, words: NDArray[np.uint32]) -> None:
        """Write the mask, where the set is one of this epoch."""
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
        """Return the tokens that may come next, in ascending order."""
        vocabulary = self._compiled.vocabulary
        mask = np.zeros((1, (vocabulary.size + 31) // 32), dtype=np.uint32)
        self.fill_next_token_bitmask(mask)
        tokens: list[int] = tokens_of(mask[0]).tolist()
        return tokens

    def allows_bytes(self, data: bytes) -> bool:
        """Return whether the text may go on with some bytes. The state stays as it is.

        Raises:
            LimitExceededError: a bound of `Limits` was passed.
        """
        check_bytes(data)
        if self._has_ended() or (self._compiled.has_marks and MARK_BYTE in data):
            return not data
        return self.ask(lambda compiled, set_id: self._follow(data) == len(data))

    def forced_bytes(self) -> bytes:
        """Return the bytes that must come next: up to a choice, token terminal, end, 65,536 bytes or `mask_seconds`."""
        first = next(iter(self.forced_pieces()), b"")
        return first if isinstance(first, bytes) else b""

    def forced_pieces(self) -> list[bytes | int]:
        """Return the texts and token terminals that must come next, a terminal as its token id; see `forced_bytes`."""
        compiled = self._compiled
        if self._has_ended() or (compiled.has_marks and may_have_ended(self._texts)):
            return []
        if compiled.counts_tokens:
            return []  # where a bound on tokens ends a text depends on the split into tokens
        with Turn(compiled):
            self._refresh()
            out = bytearray()
            try:
                compiled.let_move()
                compiled.sets.append_forced(self._set, out, MAX_FORCED_BYTES)
            except LimitExceededError as error:
                if error.limit != "mask_seconds":  # else the bytes that are known by now
                    self._renew_after(error)
                    out.clear()
                    with contextlib.suppress(LimitExceededError):  # then those that fit
                        compiled.sets.append_forced(self._set, out, MAX_FORCED_BYTES)
        if compiled.has_marks:
            return list(pieces_of(bytes(out)))
        return [bytes(out)] if out else []

    @property
    def is_accepting(self) -> bool:
        """True if the text so far is a whole text of the language."""
        with Turn(self._compiled):
            self._refresh()
            return self._may_end()

    @property
    def is_terminated(self) -> bool:
        """True if only an end token can follow."""
        if self._has_ended():
            return True
        compiled = self._compiled
        with Turn(compiled):
            self._refresh()
            if not compiled.sets.table.accepting[self._set]:
                return False
            compiled.sets.close(self._set)
            return bool(compiled.sets.table.only_byte[self._set] == NO_BYTE)

    def _may_end(self) -> bool:
        # With an eager end a token ends the text as soon as it is accepted; only the empty text has no such token.
        if self._has_ended() or bool(self._compiled.sets.table.accepting[self._set]):
            return True
        return self._compiled.has_marks and may_have_ended(self._texts)

    def _has_ended(self) -> bool:
        return self._ended_by >= 0

    @property
    def temperature(self) -> float | None:
        """The temperature that the grammar asks for at the next token; None where it asks for none.

        Rules of a Lark grammar may have one, as in `name[temperature=0.7]: /.*/`. It counts while a text of the rule is
        under way, and where one may begin; of several, the highest one counts.
        """
        if not self._compiled.has_temperatures or self._has_ended():
            return None
        from structgen.engine.matching.temperatures import temperature_of  # few grammars have any

        return self.ask(temperature_of)

    # -- why --------------------------------------------------------------------------------------------------------

    def explain(self, token_id: int) -> Explanation:
        r"""Explain why a token may come next, or why not: the byte that is refused, and what was expected there.

        It is meant for people: it takes some tenths of a millisecond, and nothing is kept for it.

        Example:
            >>> vocabulary = Vocabulary.from_bytes({0: b"tea", 1: b"toffee", 2: b"</s>"}, eos_token_ids=[2])
            >>> grammar = structgen.Grammar.kbnf('start ::= "one " drink; drink ::= "tea" | "coffee";')
            >>> matcher = structgen.compile(grammar, vocabulary).matcher()
            >>> matcher.accept_bytes(b"one ")
            >>> print(matcher.explain(1))
            token 1 ("toffee") is refused at its byte 1, "o", after "one t". Expected there: "ea" (drink).

        Raises:
            TypeError: the token id is no integer.
            LimitExceededError: a bound of `Limits` was passed.
        """
        from structgen.engine.matching.explaining import State, explain, with_reasons  # for messages only

        token_id = whole_number(token_id, "a token id")

        def found(compiled: CompiledGrammar, set_id: int) -> Explanation:
            state = State(set_id, written(compiled, self._texts), has_ended=self._has_ended(), may_end=self._may_end())
            return explain(self._finder(), compiled, state, token_id)

        return with_reasons(self.ask(found), self.reasons_of)

    def expected(self) -> tuple[Expected, ...]:
        """Describe in words what may come next; see `structgen.engine.matching.expectations.Expected`.

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
        return self.ask(lambda compiled, set_id: self._finder().expected(set_id))

    def open_rules(self) -> tuple[str, ...]:
        """Return the rules of the grammar, or the locations in the schema, that are open, the outermost first."""
        if self._has_ended():
            return ()
        return self.ask(lambda compiled, set_id: self._finder().open_rules(set_id))

    def _finder(self) -> ExpectationFinder:
        """Return a finder of expectations in the sets of this epoch."""
        from structgen.engine.matching.expectations import ExpectationFinder  # for messages only

        compiled = self._compiled
        return ExpectationFinder(compiled.sets, compiled.tables, compiled.origin, compiled.vocabulary.shown)

    # -- moving -----------------------------------------------------------------------------------------------------

    def accept_token(self, token_id: int) -> None:
        """Accept one token: move past it.

        Raises:
            TokenRejectedError: the grammar does not allow it here, or there is no such token; the state is unchanged.
            TypeError: it is no integer.
            LimitExceededError: a bound of `Limits` was passed; the state is unchanged.
        """
        if type(token_id) is not int:
            token_id = whole_number(token_id, "a token id")
        try:
            at = token_id
        except OverflowError:  # compiled, it is a C integer
            at = -1
        spellings = self._compiled.spellings
        text = spellings[at] if 0 <= at < len(spellings) else b""
        if not text:
            self._accept_other(token_id)
            return
        if self._has_ended():
            raise self._rejected(token_id, "the text has ended")
        if self._move(text) < len(text):
            raise self._rejected(token_id, "the grammar does not allow it here")

    def _accept_other(self, token_id: int) -> None:
        """Accept an end token where the text may end, or a token with several readings (`readings.py`)."""
        compiled, vocabulary = self._compiled, self._compiled.vocabulary
        readings = compiled.readings(token_id) if compiled.has_marks else None
        ends = token_id in vocabulary.eos_token_ids
        if readings is not None and not self._has_ended():
            kept, self._reached = self.ask(lambda compiled, at: read(compiled, at, token_id, readings, self._may_end()))
            if kept:
                self._advance(kept)
                return
        if not ends and not 0 <= token_id < vocabulary.size:
            raise self._rejected(token_id, f"the vocabulary has the ids 0 to {vocabulary.size - 1}")
        if not ends:
            refused = "the text has ended" if self._has_ended() else "the grammar does not allow it here"
            raise self._rejected(token_id, "it stands for no text" if readings is None else refused)
        with Turn(compiled):
            self._refresh()
            allowed = self._may_end()
        if not allowed:
            raise self._rejected(token_id, "the text may not end here")
        if not self._has_ended():
            self._ended_by = len(self._texts)
        self._sets_before.append(self._set)
        self._texts.append(b"")

    def accept_bytes(self, data: bytes) -> None:
        """Accept some bytes: move past them. They count as one token for `rollback`.

        A token terminal is no text: `accept_token` accepts it, and this method does not.

        Raises:
            TokenRejectedError: the grammar does not allow them here; the state is unchanged.
            LimitExceededError: a bound of `Limits` was passed; the state is unchanged.
            TypeError: they are no `bytes`.
        """
        check_bytes(data)
        if self._has_ended() and data:
            accepted = 0
        elif self._compiled.has_marks and MARK_BYTE in data:
            accepted = min(data.index(MARK_BYTE), self.ask(lambda compiled, set_id: self._follow(data)))
        else:
            accepted = self._move(data)
        if accepted < len(data):
            raise TokenRejectedError(
                f"byte {data[accepted]:#04x} at position {accepted} of {data[:80]!r} is not allowed",
                token_id=None,
                position=accepted,
            )

    def _move(self, text: bytes) -> int:
        """Follow the bytes, and move if all are allowed; return how many are."""
        compiled = self._compiled
        is_of_epoch = IS_COMPILED and self._epoch == compiled.epoch and not compiled.counts_tokens
        if is_of_epoch and self._follow_known(text):
            self._advance(text)
            return len(text)
        compiled.begin_turn()
        try:
            if self._epoch != compiled.epoch or compiled.shared.is_dropped:
                self._refresh()
            try:
                compiled.let_move()
                accepted = self._follow(text)
            except LimitExceededError as error:
                self._renew_after(error)
                accepted = self._follow(text)
            if accepted == len(text):
                self._advance(text)
        except BaseException as error:
            compiled.abandon_after(error)
            raise
        finally:
            compiled.end_turn()
        return accepted

    def _advance(self, text: bytes) -> None:
        """Move to the set that the bytes have reached."""
        ends = self._compiled.eager and text and self._compiled.sets.table.accepting[self._reached]
        if ends and not self._has_ended():
            read = sum(map(len, self._texts)) + len(text) if self._prefix else 1
            if read > len(self._prefix):  # more than the prefix
                self._ended_by = len(self._texts)
        self._sets_before.append(self._set)
        self._texts.append(text)
        self._set = self._reached

    def _follow_known(self, text: bytes) -> bool:
        """Return whether steps computed before allow all of the bytes; leave the last set in `_reached`."""
        reached = self._compiled.sets.known_after(self._set, text)
        if reached:
            self._reached = reached
        return reached > 0

    def _follow(self, text: bytes) -> int:
        """Return how many of the bytes are allowed; leave the set after them, as one token, in `_reached`."""
        sets = self._compiled.sets
        reached = sets.follow(self._set, text)
        if not reached:
            return sets.followed
        self._reached = sets.after_token(reached) if self._compiled.counts_tokens else reached
        return len(text)

    def _rejected(self, token_id: int, why: str) -> TokenRejectedError:
        vocabulary, text = self._compiled.vocabulary, None
        if 0 <= token_id < vocabulary.size:
            text = vocabulary.shown(token_id) if self._compiled.has_marks else vocabulary.token_bytes(token_id)
        position = len(self._texts)
        message = f"token {token_id} ({text!r}) was rejected after {position} tokens: {why}"
        return TokenRejectedError(message, token_id=token_id, position=position)

    # -- going back, and copies -------------------------------------------------------------------------------------

    def rollback(self, count: int) -> None:
        """Roll back the last `count` tokens (and calls of `accept_bytes`).

        Raises:
            ValueError: fewer tokens were accepted.
            TypeError: the count is no integer.
        """
        if type(count) is not int:
            count = whole_number(count, "a count of tokens")
        if not 0 <= count <= len(self._texts):
            raise ValueError(f"cannot roll back {count} of {len(self._texts)} accepted tokens")
        if count:
            kept = len(self._texts) - count
            self._set = self._sets_before[kept]
            del self._sets_before[kept:], self._texts[kept:]
            if self._ended_by >= kept:
                self._ended_by = NOT_ENDED
            if self._set == STALE:
                self._epoch = STALE  # so that `_refresh` reads the text again

    def fork(self) -> Matcher:
        """Return an independent copy in the same state."""
        twin = Matcher(self._compiled)
        self._copy_to(twin)
        return twin

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Raise a TypeError: a matcher is neither pickled nor copied by half.

        Raises:
            TypeError: always.
        """
        raise TypeError(
            "a Matcher cannot be pickled or copied by module copy. fork() copies it; for another process, pickle the "
            "Constraint and the accepted tokens, and accept these again there"
        )

    def _copy_to(self, twin: Matcher) -> None:
        """Give another matcher the same state."""
        with Turn(self._compiled):
            self._refresh()
            twin._prefix = self._prefix
            twin.reasons_of = self.reasons_of
            twin._epoch = self._epoch
            twin._set = self._set
            twin._ended_by = self._ended_by
            twin._sets_before = self._sets_before.copy()
            twin._texts = self._texts.copy()

    def reset(self) -> None:
        """Go back to the beginning of the text."""
        self._sets_before.clear()
        self._texts.clear()
        self._ended_by = NOT_ENDED
        self._begin()

    # -- finding the set again --------------------------------------------------------------------------------------

    def ask(self, question: Callable[[CompiledGrammar, int], T]) -> T:
        """Return the answer to a question about the current set, under the lock. For parts of the engine.

        Where a limit of the tables was passed, they are begun anew, and the question is asked once more. The methods
        that are called for each token do the same without this function, as a call takes as long as their work.
        """
        with Turn(self._compiled):
            self._refresh()
            try:
                self._compiled.let_move()
                return question(self._compiled, self._set)
            except LimitExceededError as error:
                self._renew_after(error)
                return question(self._compiled, self._set)

    def _renew_after(self, error: LimitExceededError) -> None:
        """Begin the grammar's tables anew if the limit that was passed bounds them; else raise the error again."""
        compiled = self._compiled
        if compiled.move_after(error):
            self._read_again()
        elif error.limit == "item_sets":
            dropped = compiled.sets
            compiled.renew_sets()
            self._continue_at(compiled.sets.adopt(dropped, self._set))
        elif error.limit in ("automaton_states", "grammar_symbols"):
            compiled.renew()
            self._read_again()
        else:
            if error.limit == "memory_bytes":
                error.with_traceback(None).__context__ = None  # its frames hold what was computed
                compiled.drop_tables()
            raise error

    def _refresh(self) -> None:
        """Find the set again if the sets were begun anew; begin the tables anew if they are full."""
        compiled = self._compiled
        if compiled.shared.is_full():
            compiled.renew()
        if self._epoch == compiled.epoch:
            return
        if self._epoch == compiled.epoch - 1 and compiled.previous is not None:
            self._continue_at(compiled.sets.adopt(compiled.previous, self._set))
            return
        try:
            self._read_again()
        except LimitExceededError as error:
            if error.limit not in ("automaton_states", "grammar_symbols"):
                raise
            compiled.renew()  # other texts may have filled the tables
            self._read_again()

    def _continue_at(self, set_id: int) -> None:
        """Go on from a set of the new epoch. The sets before earlier tokens are gone."""
        self._set = set_id
        self._sets_before = [STALE] * len(self._texts)
        self._epoch = self._compiled.epoch

    def _read_again(self) -> None:
        """Read the text again from its beginning, in the sets of this epoch."""
        compiled = self._compiled
        set_id = compiled.sets.start_with_prefix(self._prefix)
        sets_before: list[int] = []
        for text in self._texts:
            sets_before.append(set_id)
            has_mark = compiled.has_marks and is_marked(text)
            for index in range(1 if has_mark else len(text)):
                try:
                    set_id = follow(compiled, set_id, text) if has_mark else compiled.sets.goto(set_id, text[index])
                except LimitExceededError as error:
                    if error.limit != "item_sets":
                        raise
                    dropped = compiled.sets
                    compiled.renew_sets()
                    set_id = compiled.sets.adopt(dropped, set_id)
                    set_id = follow(compiled, set_id, text) if has_mark else compiled.sets.goto(set_id, text[index])
                    sets_before = [STALE] * len(sets_before)
            if compiled.counts_tokens:
                epoch = compiled.epoch
                set_id = after_token(compiled, set_id)
                if compiled.epoch != epoch:
                    sets_before = [STALE] * len(sets_before)
        self._set = set_id
        self._sets_before = sets_before
        self._epoch = compiled.epoch
