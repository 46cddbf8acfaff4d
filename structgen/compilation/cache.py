"""A cache of compiled grammars, shared between requests and threads.

Grammars are found by their content, so that the same schema sent with every request is compiled once. Memory is
bounded: each grammar's bytes are estimated, and the least recently used grammars are dropped past a total. When several
threads ask for one grammar, one of them compiles it and the others wait.

An interrupt (Ctrl-C) may come between any two steps, also in the hash of a key while a dict is changed. So the cache
has no state that must be put right by the thread that was interrupted: grammars are in a plain dict, which stays whole;
a compile that was interrupted is marked as over, and the next caller replaces it; and the total of bytes is counted
again before anything is dropped.

The cache lives in memory only and is never pickled: nothing that comes with a request is read back from a disk.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable

from structgen.engine.fork_safety import forkable_lock
from structgen.engine.grammar.composition import ComposedRules
from structgen.engine.grammar.tables import GrammarTables
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.reporting.telemetry import logger
from structgen.schema.reading.shared_parts import text_length
from structgen.schema.rules.lazy_rules import LazyRules

__all__ = ["CompileCache", "estimated_bytes"]

# Bytes of a compiled grammar, by what it holds: its tables, the schema that its rules are made from, and its Earley
# sets, each with its items, its steps and the part of its mask that no other grammar shares. Measured: 998 real schemas
# took 176 MB all together when each had been used for its tests, and this estimate says 177 MB. Random schemas of
# benchmarks/leaks.py took 8.1 MB where it says 9.0, and 30 enums of 2,000 texts took 6.6 MB where it says 8.8.
GRAMMAR_BYTES = 16_384
SCHEMA_BYTES = 20_000  # any schema
SHAPE_BYTES = 1_600  # each node of a schema
UNIT_BYTES = 24  # each unit of a source text: in the key, the schema, the set of strings, and twice in regexes
SYMBOL_BYTES = 60
SET_BYTES = 300
STEP_BYTES = 36  # each step from a set but its first
KEY_BYTES = 4  # each character of the schema's text: in the key, and in the schema as Python objects
SMALL_KEY = 4_096  # characters that the other numbers cover


class _Entry:
    """A compiled grammar of the cache, by its key; at first one that is still to be compiled.

    Its hash is computed once, as the key holds all options, and each step of the cache needs the hash.

    Attributes:
        key: everything that the grammar depends on.
        lock: held while the grammar is compiled; None before and after.
        is_over: the compile has ended: with a grammar, with an error, or with neither if it was interrupted.
        compiled: the grammar; None before it is there.
        error: the error of the compile; None if there was none.
        key_bytes: the estimated bytes of a long key; 0 for a short one.
        size_bytes: the grammar's estimated bytes when they were last computed.
    """

    __slots__ = ("_hash", "compiled", "error", "is_over", "key", "key_bytes", "lock", "size_bytes")

    def __init__(self, key: Hashable) -> None:
        self.key = key
        self._hash = hash(key)
        self.key_bytes = 0
        self.lock: threading.Lock | None = None
        self.is_over = False
        self.compiled: CompiledGrammar | None = None
        self.error: BaseException | None = None
        self.size_bytes = 0

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, _Entry) and self._hash == other._hash and self.key == other.key)

    def result(self) -> CompiledGrammar:
        """Return the grammar, or raise the error."""
        if self.error is not None:
            raise self.error
        assert self.compiled is not None
        return self.compiled


class CompileCache:
    """Compiled grammars by key, least recently used first, bounded in bytes.

    Grammars grow in use. So a grammar's bytes are estimated again when it is asked for, and when the next one is asked
    for; once the cache is half full, also when it is the least recently used.

    Args:
        size_bytes: estimates the bytes of a compiled grammar.
    """

    def __init__(self, size_bytes: Callable[[CompiledGrammar], int]) -> None:
        self._size_bytes = size_bytes
        self._lock = forkable_lock()
        self._entries: dict[_Entry, _Entry] = {}
        self._used_before: _Entry | None = None
        self._total_bytes = 0
        self._dropped = 0  # since the last line of the log
        self._under_way: dict[_Entry, _Entry] = {}

    def get(self, key: Hashable, make: Callable[[], CompiledGrammar], *, max_bytes: int) -> CompiledGrammar:
        """Return the compiled grammar of a key. The first caller makes it, others wait for it.

        Args:
            key: everything that `make` depends on.
            make: compiles the grammar. Its error is raised for every waiting caller, and nothing is kept.
            max_bytes: the least recently used grammars are dropped until all together have at most so many bytes; the
                grammar that is asked for stays.
        """
        asked = _Entry(key)
        entry = self._found(asked, make, max_bytes)
        if entry is not asked:
            logger.debug("the grammar was in the cache")
        if self._dropped:
            logger.info("the cache is full: %d grammars were dropped (cache_bytes=%d)", self._dropped, max_bytes)
            self._dropped = 0
        return entry.result()

    def _found(self, asked: _Entry, make: Callable[[], CompiledGrammar], max_bytes: int) -> _Entry:
        """Return the entry of a key, with a grammar or an error; see `get`."""
        while True:
            with self._lock:
                entry = self._entries.get(asked)
                if entry is not None:
                    del self._entries[entry]
                    self._entries[entry] = entry  # now the last in order
                    self._shrink(entry, max_bytes)
                    return entry
                entry = self._under_way.get(asked)
                lock = None if entry is None or entry.is_over else entry.lock
            if entry is None or lock is None:
                if self._make(asked, entry, make, max_bytes):
                    return asked
                continue
            with lock:
                pass
            if entry.compiled is not None or isinstance(entry.error, Exception):
                return entry
            # The thread that made it was interrupted, with an error of its own: this one begins anew.

    def clear(self) -> None:
        """Drop all grammars; those in use stay usable."""
        with self._lock:
            self._entries.clear()
            self._used_before = None
            self._total_bytes = 0

    def forget_threads(self) -> None:
        """Forget the compiles under way: in a forked process, the threads that they were in do not exist."""
        self._under_way.clear()

    def __len__(self) -> int:
        return len(self._entries)

    def _make(self, entry: _Entry, before: _Entry | None, make: Callable[[], CompiledGrammar], max_bytes: int) -> bool:
        """Compile the grammar of an entry, unless another thread has begun to.

        Args:
            entry: the entry, which gets the grammar or the error.
            before: the entry that was under way before: one whose compile is over, or None.
            make: see `get`.
            max_bytes: see `get`.

        Returns:
            Whether it was compiled here.
        """
        lock = entry.lock = threading.Lock()
        entry.is_over = False
        try:
            with lock:
                with self._lock:
                    if self._under_way.get(entry) is not before or entry in self._entries:
                        return False
                    self._under_way[entry] = entry
                try:
                    entry.compiled = make()
                except BaseException as error:
                    entry.error = error
                with self._lock:
                    if entry.compiled is not None:
                        entry.key_bytes = KEY_BYTES * max(0, text_length(entry.key) - SMALL_KEY)
                        self._entries.pop(entry, None)  # made twice, after an interrupt
                        self._entries[entry] = entry
                        self._shrink(entry, max_bytes)
        finally:
            entry.is_over = True
            entry.lock = None
            with self._lock:
                if self._under_way.get(entry) is entry:
                    del self._under_way[entry]
        return True

    def _shrink(self, used: _Entry, max_bytes: int) -> None:
        """Estimate the grammars that may have grown, and drop old ones past the bound.

        Args:
            used: the entry asked for now, the last in order.
            max_bytes: the bound.
        """
        self._weigh(used)
        before, self._used_before = self._used_before, used
        if before is not None and before is not used and self._entries.get(before) is before:
            self._weigh(before)
        if self._total_bytes > max_bytes // 2:
            self._weigh(next(iter(self._entries)))
        if self._total_bytes > max_bytes:
            self._total_bytes = sum([entry.size_bytes for entry in self._entries])
        while self._total_bytes > max_bytes and len(self._entries) > 1:
            dropped = next(iter(self._entries))
            del self._entries[dropped]
            self._total_bytes -= dropped.size_bytes
            self._dropped += 1

    def _weigh(self, entry: _Entry) -> None:
        size_bytes = self._size_bytes(entry.result()) + entry.key_bytes
        self._total_bytes += size_bytes - entry.size_bytes
        entry.size_bytes = size_bytes


def estimated_bytes(compiled: CompiledGrammar) -> int:
    """Estimate the memory of a compiled grammar as it is now.

    The tables that all grammars of a vocabulary share do not count: they are kept anyway. Worn tables, which no new
    grammar shares, are kept only by the grammars that use them: they count, for each of these. So do the tables of a
    grammar that has moved.
    """
    sets, shared = compiled.sets, compiled.shared
    in_use = SYMBOL_BYTES * sets.rules.size + SET_BYTES * sets.set_count + STEP_BYTES * len(sets.step_targets)
    texts = UNIT_BYTES * compiled.tables.text_units
    worn = shared.bytes_used if compiled.has_moved or shared.is_worn else 0
    return GRAMMAR_BYTES + _schema_bytes(compiled.tables) + texts + in_use + worn


def _schema_bytes(tables: GrammarTables) -> int:
    source = tables.source
    if isinstance(source, LazyRules):
        return SCHEMA_BYTES + SHAPE_BYTES * len(source.shapes)
    if isinstance(source, ComposedRules):
        return sum([_schema_bytes(part) for part in source.grammars])
    source = getattr(source, "lazy", None)  # the rules of YAML texts hold those of the schema
    return SCHEMA_BYTES + SHAPE_BYTES * len(source.shapes) if isinstance(source, LazyRules) else 0
