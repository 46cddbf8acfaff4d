"""A grammar made ready for one vocabulary, and the tables that grammars of one vocabulary share."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Protocol

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.earley.item_sets import ItemSetStore
from structgen.engine.grammar.rules import Rules
from structgen.engine.grammar.tables import GrammarTables, Origins
from structgen.engine.masks.set_masks import SetMasks
from structgen.engine.masks.terminal_masks import TerminalMasks
from structgen.engine.regex.tree import Regex
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import LimitExceededError
from structgen.limits import Limits

__all__ = ["CompiledGrammar", "EpochCache", "SharedTables"]


SHARED_STATES = 262_144  # for so many there is room at first, which takes memory as it is used


class SharedTables:
    """Automata and terminal masks that all grammars compiled for one vocabulary share.

    They only grow. When they have grown past half of a limit, grammars compiled from then on share new ones, and the
    old ones go when the last grammar that uses them goes.

    Attributes:
        lock: held by whoever reads or extends the tables, or the sets of a grammar that uses them.
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits, lock: threading.RLock) -> None:
        self.automata = AutomatonStore(limits, min(SHARED_STATES, limits.automaton_states))
        self.terminals = TerminalMasks(vocabulary, self.automata)
        self.lock = lock
        self.limits = limits
        self.mask_bytes = limits.mask_bytes
        self._others: dict[Vocabulary, TerminalMasks] = {}

    def terminals_of(self, vocabulary: Vocabulary) -> TerminalMasks:
        """Terminal masks of another vocabulary, over the same automata."""
        found = self._others.get(vocabulary)
        if found is None:
            found = self._others[vocabulary] = TerminalMasks(vocabulary, self.automata)
        return found

    @property
    def bytes_used(self) -> int:
        """About how much memory masks and the texts of substrings take."""
        return self._masks_bytes() + self.automata.suffix_bytes()

    @property
    def is_worn(self) -> bool:
        """Whether a new grammar had better begin afresh."""
        automata = self.automata
        return (
            automata.count + automata.pairs > self.limits.automaton_states // 2
            or self.bytes_used > self.mask_bytes // 2
        )

    def is_full(self) -> bool:
        """Whether the masks have grown past their limit."""
        if self._others:
            return self._masks_bytes() > self.mask_bytes
        return self.terminals.bytes_used > self.mask_bytes

    def _masks_bytes(self) -> int:
        return self.terminals.bytes_used + sum([other.bytes_used for other in self._others.values()])


class SharedState:
    """What hangs on a vocabulary for the grammars compiled for it; it goes when the vocabulary goes.

    (Kept on the vocabulary, not in a weak dictionary beside it: the tables refer to the vocabulary, and would keep it
    alive there for ever.)

    Attributes:
        lock: one for all tables of the vocabulary: a mask costs microseconds.
    """

    _making = threading.Lock()

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._tables: dict[Limits, SharedTables] = {}

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> SharedState:
        """The state of a vocabulary, made when first asked for."""
        with cls._making:
            if not isinstance(vocabulary.shared, SharedState):
                vocabulary.shared = SharedState()
            return vocabulary.shared

    def tables(self, vocabulary: Vocabulary, limits: Limits) -> SharedTables:
        """The tables that a grammar compiled now should use."""
        with self.lock:
            tables = self._tables.get(limits)
            if tables is None or tables.is_worn:
                if len(self._tables) >= KEPT_LIMITS:
                    self._tables.clear()
                tables = self._tables[limits] = SharedTables(vocabulary, limits, self.lock)
            return tables

    def is_empty(self, vocabulary: Vocabulary, limits: Limits) -> Callable[[Regex], bool]:
        """Whether a regex matches nothing, found out in the automata that the grammar will use."""

        def found(regex: Regex) -> bool:
            with self.lock:
                try:
                    return self.tables(vocabulary, limits).automata.is_empty(regex)
                except LimitExceededError:
                    return AutomatonStore(limits).is_empty(regex)  # it may fit where nothing else is

        return found


KEPT_LIMITS = 4  # so many different `Limits` have shared tables at a time


class EpochCache(Protocol):
    """Something that another package keeps with the sets of one epoch of a grammar."""

    epoch: int


class CompiledGrammar:
    """A grammar made ready for one vocabulary. Shared by any number of matchers and threads.

    Attributes:
        tables: the grammar in normal form.
        vocabulary: the vocabulary.
        eager: the text ends at the first token after which it can (what KBNF means), rather than where the model
            chooses an end token.
        limits: the bounds it works under.
        epoch: counts how often the sets were dropped and begun anew; a matcher of an older epoch finds its place anew.
        previous: the sets of the epoch before, from which places can still be adopted; None where the automata were
            dropped too.
        proper: what `structgen.tokenization` found out about the sets of this epoch.
        origin: tells the rules that terminals come from, where the tables' names say less; for messages.
    """

    def __init__(
        self,
        tables: GrammarTables,
        vocabulary: Vocabulary,
        *,
        eager: bool = False,
        limits: Limits = Limits(),  # noqa: B008  (immutable)
    ) -> None:
        self.tables = tables
        self.vocabulary = vocabulary
        self.spellings = vocabulary.spellings  # here, too: each token is looked up
        self.eager = eager
        self.limits = limits
        self.epoch = -1
        self.lock = SharedState.of(vocabulary).lock
        self.previous: ItemSetStore | None = None
        self.proper: EpochCache | None = None
        self.origin: Origins | None = None
        self._begin()

    def _begin(self) -> None:
        shared = SharedState.of(self.vocabulary).tables(self.vocabulary, self.limits)
        with self.lock:
            try:
                sets = self._new_sets(Rules(self.tables, shared.automata, self.limits))
            except LimitExceededError as error:
                if error.limit != "automaton_states":
                    raise
                shared = SharedTables(self.vocabulary, self.limits, self.lock)  # it may fit where nothing else is
                sets = self._new_sets(Rules(self.tables, shared.automata, self.limits))
            self._take(shared, sets, None)

    def _take(self, shared: SharedTables, sets: ItemSetStore, previous: ItemSetStore | None) -> None:
        """Goes on with other tables in a new epoch, which matchers look at before they read without the lock: so it is
        first, and nothing that makes an object comes between (the garbage collector may let other threads run).
        """
        masks = SetMasks(sets, shared.terminals)
        self.epoch += 1
        self.shared = shared
        self.sets = sets
        self.masks = masks
        self.previous = previous

    def _new_sets(self, rules: Rules) -> ItemSetStore:
        return ItemSetStore(rules, self.limits, accepts_empty=self.tables.accepts_empty)

    def renew(self) -> None:
        """Drops automata, lazy rules, sets and masks; matchers find their place again by themselves."""
        self._begin()

    def renew_sets(self) -> None:
        """Drops the sets and their masks only. Those of one epoch are kept, for matchers to take their place along."""
        with self.lock:
            self._take(self.shared, self._new_sets(self.sets.rules), self.sets)

    def prepare(self) -> None:
        """Makes the mask before the first token, within the bounds of a mask: whoever compiles while a model reads its
        prompt need not wait for it then.
        """
        with self.lock, contextlib.suppress(LimitExceededError):  # whoever asks for the mask is told
            self.masks.get(self.sets.start_set)
