"""`compile`: from a schema, a type or a grammar to a `Constraint`; compiled grammars are kept and shared.

The cache is keyed by content, so that the same schema sent with every request is compiled once; bounded in bytes, the
least recently used going first; safe for threads, one of them compiling what several ask for. It lives in memory
only and is never pickled: nothing that a request brings is read back from a disk.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

from structgen.engine.grammar.composition import ComposedRules
from structgen.engine.grammar.tables import GrammarTables
from structgen.engine.matching.compiled import CompiledGrammar, SharedTables
from structgen.schema.rules.lazy_rules import LazyRules

if TYPE_CHECKING:
    pass

__all__ = ["CompileCache"]

T = TypeVar("T")

# A compiled grammar's memory, by what it holds: its tables, what its rules are made from, and its Earley sets, each
# with its items, its steps and the part of its mask that no other grammar shares. 998 real schemas took 176 MB all
# together when each was used for its tests; by this they take 177.
GRAMMAR_BYTES = 16_384
SCHEMA_BYTES = 20_000  # for any schema, and more for each of its nodes:
SHAPE_BYTES = 1_600
UNIT_BYTES = 24  # of a source text: in the key, the schema, the set of strings, and twice in regexes
SYMBOL_BYTES = 60
SET_BYTES = 300
STEP_BYTES = 36  # of those that are not the first from a set
TERM_BYTES = 300  # a state of the shared automata, with its place in the tables of equal ones; for pairs, half of it


class _Entry:
    """A compiled grammar, what it weighed last, and the tables that it shares with others."""

    __slots__ = ("compiled", "key", "size", "tables")

    def __init__(self, key: Hashable, compiled: CompiledGrammar) -> None:
        self.key = key
        self.compiled = compiled
        self.size = 0
        self.tables = compiled.shared


class _Users:
    """Who keeps shared tables in memory, and what the tables weighed last; 0 where they would be kept anyway."""

    __slots__ = ("keys", "size")

    def __init__(self) -> None:
        self.keys: dict[Hashable, None] = {}
        self.size = 0


class CompileCache:
    """Compiled grammars by key, bounded in bytes.

    Worn tables, which no new grammar shares, live for the grammars that are kept here: they are weighed too, once,
    and their users go first.

    Args:
        size_bytes: weighs a compiled grammar. They grow in use, so one is weighed anew whenever it is asked for, when
            the next one is, and when it is the least recently used.
        tables_bytes: weighs what grammars share.
    """

    def __init__(
        self, size_bytes: Callable[[CompiledGrammar], int], tables_bytes: Callable[[SharedTables], int]
    ) -> None:
        self._size_bytes = size_bytes
        self._tables_bytes = tables_bytes
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._users: dict[SharedTables, _Users] = {}
        self._used_before: _Entry | None = None
        self._total = 0
        self._under_way: dict[Hashable, Future[CompiledGrammar]] = {}

    def get(self, key: Hashable, make: Callable[[], CompiledGrammar], *, max_bytes: int) -> CompiledGrammar:
        """The compiled grammar of a key; made by the first that asks, waited for by the others.

        Args:
            key: says everything that `make` depends on.
            make: compiles. Its error goes to every waiting caller, and nothing is kept.
            max_bytes: entries are dropped until all have at most so many bytes: those that keep worn tables first,
                then the least recently used.
        """
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
                self._weigh(entry, max_bytes)
                return entry.compiled
            future = self._under_way.get(key)
            is_maker = future is None
            if future is None:
                future = self._under_way[key] = Future()
        if is_maker:
            self._make(key, make, future, max_bytes)
        return future.result()

    def clear(self) -> None:
        """Forgets everything; what is in use stays usable."""
        with self._lock:
            self._entries.clear()
            self._users.clear()
            self._used_before = None
            self._total = 0

    def __len__(self) -> int:
        return len(self._entries)

    def _make(
        self,
        key: Hashable,
        make: Callable[[], CompiledGrammar],
        future: Future[CompiledGrammar],
        max_bytes: int,
    ) -> None:
        try:
            compiled = make()
        except BaseException as error:
            with self._lock:
                del self._under_way[key]
            future.set_exception(error)
            return
        with self._lock:
            del self._under_way[key]
            entry = self._entries[key] = _Entry(key, compiled)
            self._join(entry)
            self._weigh(entry, max_bytes)
        future.set_result(compiled)

    def _weigh(self, used: _Entry, max_bytes: int) -> None:
        """Weighs the entry used now, the one used before, which has grown since, and the one used longest ago; drops
        some where it is too much.
        """
        before, self._used_before = self._used_before, used
        if before is None or self._entries.get(before.key) is not before:
            before = used
        for entry in (used, before, next(iter(self._entries.values()))):
            size = self._size_bytes(entry.compiled)
            self._total += size - entry.size
            entry.size = size
            tables = entry.compiled.shared
            if tables is not entry.tables:  # it was renewed
                self._leave(entry)
                entry.tables = tables
                self._join(entry)
            users = self._users[tables]
            size = self._tables_bytes(tables) if tables.is_worn else 0
            self._total += size - users.size
            users.size = size
        while self._total > max_bytes and len(self._entries) > 1:
            self._drop(self._first_to_go(used))

    def _first_to_go(self, used: _Entry) -> Hashable:
        for tables, users in self._users.items():
            if users.size and tables is not used.tables:
                return next(iter(users.keys))
        return next(iter(self._entries))

    def _drop(self, key: Hashable) -> None:
        entry = self._entries.pop(key)
        self._total -= entry.size
        self._leave(entry)

    def _join(self, entry: _Entry) -> None:
        """Counts an entry among the users of its tables."""
        self._users.setdefault(entry.tables, _Users()).keys[entry.key] = None

    def _leave(self, entry: _Entry) -> None:
        users = self._users[entry.tables]
        del users.keys[entry.key]
        if not users.keys:
            self._total -= users.size
            del self._users[entry.tables]


def estimated_bytes(compiled: CompiledGrammar) -> int:
    """About how much memory a compiled grammar takes now, without what all grammars of a vocabulary share."""
    sets = compiled.sets
    in_use = SYMBOL_BYTES * sets.rules.size + SET_BYTES * sets.set_count + STEP_BYTES * len(sets.step_targets)
    texts = UNIT_BYTES * compiled.tables.text_units
    return GRAMMAR_BYTES + _schema_bytes(compiled.tables) + texts + in_use


def _schema_bytes(tables: GrammarTables) -> int:
    source = tables.source
    if isinstance(source, ComposedRules):
        return sum([_schema_bytes(part) for part in source.grammars])
    return SCHEMA_BYTES + SHAPE_BYTES * len(source.shapes) if isinstance(source, LazyRules) else 0


def estimated_tables_bytes(shared: SharedTables) -> int:
    """About how much memory the tables that grammars of a vocabulary share take now."""
    automata = shared.automata
    return TERM_BYTES * (automata.count + automata.pairs) + shared.terminals.store.bytes_used
