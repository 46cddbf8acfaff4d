"""Compiled grammars: the item sets and masks of a grammar for one vocabulary, and the tables that grammars share.

    CompiledGrammar                     one grammar
      sets, masks                         its Earley sets, and the masks made of them
      shared -> SharedTables              one for a vocabulary and its limits
                  automata                  of terminals: equal terminals of all grammars have equal states
                  terminals                 which tokens a terminal allows, by automaton state

The tables grow with use and are bounded by `Limits`. Past a bound they are dropped and begun anew: a new *epoch* of the
grammar. A matcher that was on its way then finds its set again, by copying it or by reading its text again.

All grammars of a vocabulary share one lock. A grammar whose masks keep the others waiting moves to tables of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Protocol

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.deadlines import UNBOUNDED_SECONDS, Deadline
from structgen.engine.earley.item_sets import ItemSetStore
from structgen.engine.fork_safety import forkable_lock
from structgen.engine.grammar.composition import ComposedRules, counts_tokens, has_temperatures
from structgen.engine.grammar.rules import Rules
from structgen.engine.grammar.tables import GrammarTables, Origins
from structgen.engine.masks.set_masks import SetMasks
from structgen.engine.masks.terminal_masks import TerminalMasks
from structgen.engine.matching.table_lock import TableLock
from structgen.engine.memory import release_free_memory, release_later
from structgen.engine.regex.tree import Regex
from structgen.engine.vocabulary.marks import MARK_BYTE, Ranges, mark_of
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import LimitExceededError, StructgenError
from structgen.limits import Limits

__all__ = ["CompiledGrammar", "EpochCache", "Held", "SharedTables", "Turn"]


SHARED_STATES = 262_144  # room for automaton states at first; memory is taken as it is used
IS_AWAITED = "is_awaited"  # in place of a limit: work under the lock ends, as other threads wait
MOVABLE_LIMITS = {"mask_seconds", "item_sets", "automaton_states", "grammar_symbols"}  # that do not bound new tables
MAX_KEPT_LIMITS = 4  # number of different `Limits` that a vocabulary has shared tables for at a time


class SharedTables:
    """Automata and terminal masks that all grammars compiled for one vocabulary share.

    They only grow. Once they have grown past half of a limit, grammars compiled from then on get new ones. The old ones
    are freed with the last grammar that uses them.

    Args:
        vocabulary: the tokens.
        limits: bounds of the tables.
        lock: the lock below.

    Attributes:
        automata: the automata of all terminals.
        terminals: the masks of all terminals.
        lock: held while the tables, or the sets of a grammar that uses them, are read or extended.
        limits: bounds of the tables.
        mask_bytes: bound of the masks' memory, in bytes.
        is_dropped: a memory budget was passed. All grammars that use the tables begin anew with others, so that their
            memory is freed.
        proper: what `structgen.tokenization` keeps by automaton state; None until it is needed.
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits, lock: TableLock) -> None:
        self.automata = AutomatonStore(limits, min(SHARED_STATES, limits.automaton_states))
        self.terminals = TerminalMasks(vocabulary, self.automata)
        self.lock = lock
        self.limits = limits
        self.mask_bytes = limits.mask_bytes
        self._worn_states = limits.automaton_states // 2
        self._worn_bytes = limits.memory_bytes // 4
        self.is_dropped = False
        self.proper: object | None = None
        self._others: dict[Vocabulary, TerminalMasks] = {}

    def terminals_of(self, vocabulary: Vocabulary) -> TerminalMasks:
        """Return the terminal masks of another vocabulary, over the same automata."""
        found = self._others.get(vocabulary)
        if found is None:
            found = self._others[vocabulary] = TerminalMasks(vocabulary, self.automata)
        return found

    @property
    def bytes_used(self) -> int:
        """Estimated memory of the masks and the automata, in bytes."""
        return self._masks_bytes() + self.automata.bytes_used

    @property
    def is_worn(self) -> bool:
        """True if the tables have grown so large that a new grammar should begin with new ones."""
        terms = self.automata.table
        return (
            self.is_dropped
            or terms.count + terms.pairs > self._worn_states
            or self._masks_bytes() > self.mask_bytes // 2
            or self.automata.bytes_used > self._worn_bytes
        )

    def is_full(self) -> bool:
        """Return whether the masks have grown past their limit, or the tables are dropped."""
        if self.is_dropped:
            return True
        if self._others:
            return self._masks_bytes() > self.mask_bytes
        return self.terminals.store.bytes_used > self.mask_bytes

    def _masks_bytes(self) -> int:
        size = self.terminals.store.bytes_used
        if self._others:
            size += sum([other.store.bytes_used for other in self._others.values()])
        return size


class SharedState:
    """The shared tables of one vocabulary, by limits. It is stored on the vocabulary and freed with it.

    (A weak dictionary of vocabularies would not do: the tables refer to the vocabulary, and would keep it alive.)

    Attributes:
        lock: one lock for all tables of the vocabulary.
    """

    _making = forkable_lock()

    def __init__(self) -> None:
        self.lock = TableLock()
        self._tables: dict[Limits, SharedTables] = {}
        self._has_common = False

    def begin_common(self) -> bool:
        """Return True to the first caller. It makes the tables that most texts need; see `structgen.compilation`."""
        if self._has_common:
            return False  # without waiting for the lock
        with self.lock:
            is_first, self._has_common = not self._has_common, True
            return is_first

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> SharedState:
        """Return the state of a vocabulary; make it at the first call."""
        if isinstance(vocabulary.shared, SharedState):
            return vocabulary.shared
        with cls._making:
            if not isinstance(vocabulary.shared, SharedState):
                vocabulary.shared = SharedState()
            return vocabulary.shared

    def tables(self, vocabulary: Vocabulary, limits: Limits) -> SharedTables:
        """Return the tables that a grammar compiled now should use."""
        lock = self.lock
        lock.take()
        try:
            tables = self._tables.get(limits)
            if tables is None or tables.is_worn:
                if len(self._tables) >= MAX_KEPT_LIMITS:
                    self._tables.clear()
                tables = self._tables[limits] = SharedTables(vocabulary, limits, lock)
            return tables
        finally:
            lock.release()

    def drop(self, limits: Limits) -> None:
        """Drop the tables of some limits. Grammars that use them begin anew when they are next used."""
        with self.lock:
            tables = self._tables.pop(limits, None)
            if tables is not None:
                tables.is_dropped = True

    @classmethod
    def drop_all(cls, vocabulary: Vocabulary, limits: Limits) -> None:
        """Drop the tables of a vocabulary and of those with marks that were made of it; see `drop`."""
        for one in (vocabulary, *vocabulary.with_marks()):
            cls.of(one).drop(limits)

    def is_empty(self, vocabulary: Vocabulary, limits: Limits) -> Callable[[Regex], bool]:
        """Return a function that decides whether a regex matches nothing, in the automata that the grammar will use."""
        own: AutomatonStore | None = None  # once a search has kept other threads waiting

        def found(regex: Regex) -> bool:
            nonlocal own
            if own is None:
                try:
                    with self.lock, Deadline(UNBOUNDED_SECONDS, IS_AWAITED) as search:
                        self.lock.guest = search
                        return self.tables(vocabulary, limits).automata.is_empty(regex)
                except LimitExceededError as error:
                    if error.limit == "automaton_states":
                        return AutomatonStore(limits).is_empty(regex)  # it may fit into empty tables
                    if error.limit != IS_AWAITED:
                        raise
                own = AutomatonStore(limits)
            return own.is_empty(regex)

        return found


class EpochCache(Protocol):
    """A cache of another part for the sets of one epoch of a grammar: dropped when the epoch ends."""

    epoch: int


class CompiledGrammar:
    """A grammar compiled for one vocabulary. Shared by any number of matchers and threads.

    Args:
        tables: the grammar in normal form.
        vocabulary: the tokens.
        eager: the text ends at the first token after which it can (as KBNF defines it). Otherwise it ends where the
            model chooses an end token.
        limits: bounds of its tables, and of those that it shares.
        may_move: whether it may move to tables of its own, with a lock of its own. Not with a proper tokenization: the
            lock of the vocabulary guards the tokenizer's tables as well.

    Attributes:
        tables: the grammar in normal form.
        vocabulary: the tokens.
        marked: the tokens as the masks read them: the vocabulary, with marks where the grammar has token terminals.
        spellings: the bytes of each token of `marked`; empty for tokens with several readings.
        has_marks: whether the grammar has token terminals.
        has_temperatures: whether a part of the grammar has a temperature of sampling.
        counts_tokens: whether a part of the grammar has a bound on its tokens.
        eager: see above.
        limits: the bounds.
        lock: held while sets, masks or shared tables are read or extended; see `Held`.
        may_move: see above.
        has_moved: whether the grammar has tables of its own.
        shared: the automata and terminal masks.
        sets: the Earley sets of this epoch.
        masks: the masks of these sets.
        epoch: number of times that the sets were begun anew. A matcher of an older epoch has to find its set again.
        previous: the sets of the epoch before, from which matchers can copy theirs; None where the automata were
            dropped, too.
        proper: the cache of `structgen.tokenization` for the sets of this epoch.
        completions: the shortest completions of the sets of one epoch; None until one is asked for.
        warming: the walk that makes masks ahead of time, in one epoch; None until it begins.
        origin: returns the rules that terminals come from, where the tables' names say less. For messages.
    """

    def __init__(
        self,
        tables: GrammarTables,
        vocabulary: Vocabulary,
        *,
        eager: bool = False,
        limits: Limits = Limits(),  # noqa: B008  (immutable)
        may_move: bool = True,
    ) -> None:
        self.tables = tables
        self.vocabulary = vocabulary
        self.has_marks = bool(tables.marks)
        is_composed = isinstance(tables.source, ComposedRules)
        self.has_temperatures = is_composed and has_temperatures(tables)
        self.counts_tokens = is_composed and counts_tokens(tables)
        self.marked = vocabulary.marked(tables.marks) if tables.marks else vocabulary
        self.spellings = _with_one_reading(self.marked, vocabulary, tables.marks)  # a copy, as each token is looked up
        self.eager = eager
        self.limits = limits
        self._deadline = Deadline(limits.mask_seconds, "mask_seconds", limits.memory_bytes)
        self.epoch = -1
        self.may_move = may_move
        self.has_moved = False
        self._is_awaited = self._can_move = False
        self._use(SharedState.of(self.marked))
        self.previous: ItemSetStore | None = None
        self.proper: EpochCache | None = None
        self.completions: EpochCache | None = None
        self.warming: EpochCache | None = None
        self.origin: Origins | None = None
        self._begin()

    def __copy__(self) -> CompiledGrammar:
        """Return the grammar itself: its matchers may be copied, its tables are shared."""
        return self

    def __deepcopy__(self, memo: object) -> CompiledGrammar:
        """Return the grammar itself; see `__copy__`."""
        return self

    def __reduce__(self) -> str | tuple[object, ...]:
        """Raise a TypeError: tables are not pickled.

        Raises:
            TypeError: always.
        """
        raise TypeError("a CompiledGrammar cannot be pickled; pickle the Constraint, which is compiled again on load")

    def _use(self, state: SharedState) -> None:
        """Use the tables of a shared state from now on, and its lock."""
        self._state = state
        self.lock = state.lock

    def _begin(self) -> None:
        """Begin an epoch with new sets, in the tables that its state has now."""
        if self._ends_early(self._begin_here):
            self._move()

    def _begin_here(self) -> None:
        shared = self._state.tables(self.marked, self.limits)
        if self.tables.source is not None and self.epoch >= 0:
            self.tables.source.forget()
        try:
            sets = self._new_sets(Rules(self.tables, shared.automata, self.limits))
        except LimitExceededError as error:
            if error.limit != "automaton_states":
                raise
            shared = SharedTables(self.marked, self.limits, self.lock)  # it may fit into empty tables
            sets = self._new_sets(Rules(self.tables, shared.automata, self.limits))
        self._begin_epoch(shared, sets, None)

    def _ends_early(self, work: Callable[[], None]) -> bool:
        """Do some work under the lock. Return True if it was ended because other threads wait for the lock."""
        try:
            with Held(self), Deadline(UNBOUNDED_SECONDS, IS_AWAITED) as deadline:
                self.lock.guest = deadline if self.may_move and not self.has_moved else None
                work()
        except LimitExceededError as error:
            if error.limit != IS_AWAITED:
                raise
            return True
        return False

    def _begin_epoch(self, shared: SharedTables, sets: ItemSetStore, previous: ItemSetStore | None) -> None:
        """Begin a new epoch with other tables.

        Matchers compare the epoch before they read without the lock. So it is set first, and nothing after that makes
        an object: the garbage collector may let other threads run.
        """
        masks = SetMasks(sets, shared.terminals)
        self.epoch += 1
        self.shared = shared
        self.sets = sets
        self.masks = masks
        self.previous = previous
        self.completions = self.warming = None

    def _new_sets(self, rules: Rules) -> ItemSetStore:
        return ItemSetStore(rules, self.limits, accepts_empty=self.tables.accepts_empty)

    def names(self, token_id: int) -> bool:
        """Return whether a token is a token terminal of the grammar."""
        return any(first <= token_id <= last for first, last in self.tables.marks)

    def allows_mark(self, set_id: int, token_id: int) -> bool:
        """Return whether a token may come after a set as a token terminal. The lock is held."""
        return self.has_marks and self.names(token_id) and self.sets.goto_all(set_id, mark_of(token_id)) > 0

    def written(self, token_id: int) -> bytes:
        """Return the text that an accepted token adds: its bytes; for a token terminal without any, its name."""
        text = self.vocabulary.token_bytes(token_id)
        if text is None and self.has_marks and self.names(token_id):
            return self.vocabulary.shown(token_id)
        return text or b""

    def readings(self, token_id: int) -> tuple[bytes, bytes] | None:
        """Return the readings of a token that is a token terminal and something else, too: text, or an end token.

        Returns:
            Its text, which may be empty, and its mark; None for any other token.
        """
        if not self.names(token_id):
            return None
        text, mark = self.marked.spellings[token_id], mark_of(token_id)
        if text == mark:
            return (b"", mark) if token_id in self.vocabulary.eos_token_ids else None
        return text, mark

    def take(self) -> None:
        """Take the lock of the grammar. Each call needs one of `lock.release`.

        While this thread waits, the grammar may move to tables with another lock. Then it takes that one.
        """
        lock = self.lock
        lock.take()
        while lock is not self.lock:
            lock.release()
            lock = self.lock
            lock.take()

    def begin_turn(self) -> None:
        """Take the lock, and begin the time of one mask or of one accepted token. Each call needs one of `end_turn`.

        A turn within a turn belongs to it. Waiting for the lock takes none of the time. The clock is read at the first
        look (`structgen.engine.deadlines`), as most turns are over before.
        """
        self.take()
        self._deadline.begin_anew()

    def end_turn(self) -> None:
        """End the time, and release the lock."""
        self._deadline.end()
        if self._can_move:
            self._can_move = False
            self.lock.guest = None  # so that it does not keep the grammar
        self.lock.release()

    def let_move(self) -> None:
        """Allow other threads that wait for the lock to end this turn early.

        Then the work of the turn raises a `LimitExceededError`, which the caller passes to `move_after`.
        """
        if self.may_move and not self.has_moved:
            self._can_move, self._is_awaited = True, False
            self.lock.guest = self

    def expire(self) -> None:
        """End the turn under way, as other threads wait; a `structgen.engine.matching.table_lock.Guest`."""
        if self._can_move:
            self._is_awaited = True
            self._deadline.expire()

    def move_after(self, error: LimitExceededError) -> bool:
        """Move to tables of its own if the turn was ended because other threads wait. Return whether it was.

        What was computed in this turn is lost. Matchers find their sets again, as in any new epoch. From now on, the
        turn does not end early.

        Args:
            error: the error that has ended the work, of any limit.
        """
        self._can_move = False
        self.lock.guest = None
        if not self._is_awaited or error.limit not in MOVABLE_LIMITS:
            return False
        self._move()
        return True

    def _move(self) -> None:
        """Begin anew in tables of its own."""
        self._is_awaited = False
        before, turns = self.lock, self._deadline._depth
        self._use(SharedState())
        self.has_moved = True
        for _ in range(turns):
            self.lock.take()
        try:
            self._deadline.restart()
            self._begin()
        except BaseException:
            self.abandon()
            raise
        finally:
            for _ in range(turns):
                before.release()

    def renew(self) -> None:
        """Drop automata, lazy rules, sets and masks. Matchers find their sets again by themselves."""
        self._begin()

    def drop_tables(self) -> None:
        """Free all that was computed, for all grammars that share the tables, after a memory budget was passed."""
        self.shared.is_dropped = True
        self.renew()
        release_free_memory()
        release_later()  # the frames that the error comes through still hold some of it

    def abandon_after(self, error: BaseException) -> None:
        """Abandon what was computed after an error that is not one of ours; see `abandon`.

        Raises:
            LimitExceededError: the error is that functions called each other too deeply.
        """
        if not isinstance(error, StructgenError):
            self.abandon()
        if isinstance(error, RecursionError):
            message = "the text nests too deep for Python's recursion"
            hint = "sys.setrecursionlimit raises the limit"
            raise LimitExceededError("schema_depth", sys.getrecursionlimit(), message=message, hint=hint) from error

    def abandon(self) -> None:
        """Never use what was computed again, after an error that may have left a table half written.

        Such errors are `KeyboardInterrupt`, `MemoryError` and `RecursionError`. Nothing is made anew here, as that
        could fail again: the next call of any matcher does it.
        """
        self.shared.is_dropped = True
        self.previous = None
        self.completions = self.warming = None
        self.epoch += 1

    def renew_sets(self) -> None:
        """Drop the sets and their masks only. The sets stay for one more epoch, so that matchers can copy theirs."""
        with Held(self):
            self._begin_epoch(self.shared, self._new_sets(self.sets.rules), self.sets)

    def prepare_start(self) -> None:
        """Make the rules of the set before the first token ahead of time. They may hold very long lists of texts.

        Raises:
            LimitExceededError: a limit was passed.
        """
        if self._ends_early(lambda: self.sets.close(self.sets.start_set)):
            self._move()
            with Held(self):
                self.sets.close(self.sets.start_set)

    def prepare(self) -> None:
        """Make the mask before the first token ahead of time, for example while a model reads its prompt.

        Nothing happens where a limit is passed: the call that asks for the mask raises the error.
        """
        with Turn(self):
            try:
                self.let_move()  # it just ends
                self.masks.get(self.sets.start_set)
            except LimitExceededError:
                pass


def _with_one_reading(marked: Vocabulary, vocabulary: Vocabulary, marks: Ranges) -> tuple[bytes, ...]:
    """Return the bytes of each token; empty for those with several readings (`CompiledGrammar.readings`)."""
    if not marks:
        return vocabulary.spellings
    spellings = list(marked.spellings)
    for first, last in marks:
        for token_id in range(first, last + 1):
            if spellings[token_id][0] != MARK_BYTE or token_id in vocabulary.eos_token_ids:
                spellings[token_id] = b""
    return tuple(spellings)


class Held:
    """The lock of a grammar, as a context manager.

    Args:
        compiled: the grammar.
    """

    def __init__(self, compiled: CompiledGrammar) -> None:
        self._compiled = compiled

    def __enter__(self) -> None:
        self._compiled.take()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._compiled.lock.release()


class Turn:
    """One call's turn at the tables of a grammar, as a context manager; see `CompiledGrammar.begin_turn`.

    Args:
        compiled: the grammar.
    """

    def __init__(self, compiled: CompiledGrammar) -> None:
        self._compiled = compiled

    def __enter__(self) -> None:
        self._compiled.begin_turn()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if error is not None:
                self._compiled.abandon_after(error)
        finally:
            self._compiled.end_turn()
