"""A grammar made ready for one vocabulary, and the tables that grammars of one vocabulary share."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING

from structgen.engine.automata import AutomatonStore
from structgen.engine.earley import ItemSetStore
from structgen.engine.grammar import GrammarTables
from structgen.engine.masks import SetMasks
from structgen.engine.terminal_masks import TerminalMasks
from structgen.engine.vocabulary import Vocabulary
from structgen.errors import LimitExceededError
from structgen.limits import Limits

if TYPE_CHECKING:
    from structgen.engine.matcher import Matcher

__all__ = ["CompiledGrammar", "SharedTables"]


class SharedTables:
    """Automata and terminal masks that all grammars compiled for one vocabulary share.

    They only grow. When they have grown past half of a limit, grammars compiled from then on share new ones, and the
    old ones go when the last grammar that uses them goes.

    Attributes:
        lock: held by whoever reads or extends the tables, or the sets of a grammar that uses them.
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits, lock: threading.RLock) -> None:
        self.automata = AutomatonStore(limits)
        self.terminals = TerminalMasks(vocabulary, self.automata)
        self.lock = lock
        self.limits = limits

    @property
    def is_worn(self) -> bool:
        """Whether a new grammar had better begin afresh."""
        return (
            self.automata.count > self.limits.automaton_states // 2
            or self.terminals.bytes_used > self.limits.mask_bytes // 2
        )

    @property
    def is_full(self) -> bool:
        """Whether the masks have grown past their limit."""
        return self.terminals.bytes_used > self.limits.mask_bytes


class _Registry:
    """For each vocabulary its lock, and the tables that a grammar compiled now should use, by limits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: weakref.WeakKeyDictionary[Vocabulary, tuple[threading.RLock, dict[Limits, SharedTables]]]
        self._entries = weakref.WeakKeyDictionary()

    def lock(self, vocabulary: Vocabulary) -> threading.RLock:
        """One lock for all tables of a vocabulary: a mask costs microseconds."""
        with self._lock:
            return self._entries.setdefault(vocabulary, (threading.RLock(), {}))[0]

    def tables(self, vocabulary: Vocabulary, limits: Limits) -> SharedTables:
        lock = self.lock(vocabulary)
        with self._lock:
            by_limits = self._entries[vocabulary][1]
            tables = by_limits.get(limits)
            if tables is None or tables.is_worn:
                if len(by_limits) >= KEPT_LIMITS:
                    by_limits.clear()
                tables = by_limits[limits] = SharedTables(vocabulary, limits, lock)
            return tables


KEPT_LIMITS = 4  # so many different `Limits` have shared tables at a time
_registry = _Registry()


class CompiledGrammar:
    """A grammar made ready for one vocabulary. Shared by any number of matchers and threads.

    Attributes:
        tables: the grammar in normal form.
        vocabulary: the vocabulary.
        eager: the text ends at the first token after which it can (what KBNF means), rather than where the model
            chooses an end token.
        limits: the bounds it works under.
        epoch: counts how often the sets were dropped and begun anew; a matcher of an older epoch reads its text again.
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
        self.eager = eager
        self.limits = limits
        self.epoch = 0
        self.lock = _registry.lock(vocabulary)
        self._begin()

    def _begin(self) -> None:
        shared = _registry.tables(self.vocabulary, self.limits)
        with self.lock:
            try:
                sets = ItemSetStore(self.tables, shared.automata, self.limits)
            except LimitExceededError as error:
                if error.limit != "automaton_states":
                    raise
                shared = SharedTables(self.vocabulary, self.limits, self.lock)  # it may fit where nothing else is
                sets = ItemSetStore(self.tables, shared.automata, self.limits)
            self.shared = shared
            self.sets = sets
            self.masks = SetMasks(sets, shared.terminals)

    def renew(self) -> None:
        """Drops all sets and masks, and begins anew; matchers find their place again by themselves."""
        self._begin()
        self.epoch += 1

    def matcher(self) -> Matcher:
        """A new matcher, before the first token."""
        from structgen.engine.matcher import Matcher

        return Matcher(self)
