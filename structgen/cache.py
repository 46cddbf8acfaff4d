"""`compile`: from a schema, a type or a grammar to a `Constraint`; compiled grammars are kept and shared.

The cache is keyed by content, so that the same schema sent with every request is compiled once; bounded in bytes, the
least recently used going first; safe for threads, one of them compiling what several ask for. It lives in memory
only and is never pickled: nothing that a request brings is read back from a disk.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from structgen.constraint import Constraint, Tokenization, parse_text
from structgen.engine.compiled import CompiledGrammar, SharedState, SharedTables
from structgen.engine.vocabulary import Vocabulary
from structgen.errors import LimitExceededError, SchemaError
from structgen.grammars import Grammar
from structgen.limits import Deadline, Limits
from structgen.schema import Source, begins_with_bracket, json_schema_to_rules, resolve
from structgen.schema.lazy import LazyRules
from structgen.schema.options import SchemaArguments, SchemaOptions

if TYPE_CHECKING:
    from structgen.kbnf import ast
    from structgen.tokenization.tokenization import ProperTokenization

__all__ = ["CompileCache", "clear_cache", "compile"]

T = TypeVar("T")

# A compiled grammar's memory, by what it holds: its tables, what its rules are made from, and its Earley sets, each
# with its items, its steps and the part of its mask that no other grammar shares. 998 real schemas took 176 MB all
# together when each was used for its tests; by this they take 177.
GRAMMAR_BYTES = 16_384
SCHEMA_BYTES = 20_000  # for any schema, and more for each of its nodes:
SHAPE_BYTES = 1_600
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
    source = compiled.tables.source
    schema = SCHEMA_BYTES + SHAPE_BYTES * len(source.shapes) if isinstance(source, LazyRules) else 0
    sets = compiled.sets
    in_use = SYMBOL_BYTES * sets.rules.size + SET_BYTES * sets.set_count + STEP_BYTES * len(sets.step_targets)
    return GRAMMAR_BYTES + schema + in_use


def estimated_tables_bytes(shared: SharedTables) -> int:
    """About how much memory the tables that grammars of a vocabulary share take now."""
    automata = shared.automata
    return TERM_BYTES * (automata.count + automata.pairs) + shared.terminals.bytes_used


_cache = CompileCache(estimated_bytes, estimated_tables_bytes)
_DEFAULT_OPTIONS = SchemaOptions()
_DEFAULT_LIMITS = Limits()


def clear_cache() -> None:
    """Forgets every compiled grammar; those in use stay usable."""
    _cache.clear()


@overload
def compile(
    schema: type[T],
    vocabulary: Vocabulary,
    *,
    tokenization: Tokenization = ...,
    limits: Limits | None = ...,
    **options: Unpack[SchemaArguments],
) -> Constraint[T]: ...
@overload
def compile(
    schema: Any,
    vocabulary: Vocabulary,
    *,
    tokenization: Tokenization = ...,
    limits: Limits | None = ...,
    **options: Unpack[SchemaArguments],
) -> Constraint[Any]: ...
def compile(
    schema: Any,
    vocabulary: Vocabulary,
    *,
    tokenization: Tokenization = "any",
    limits: Limits | None = None,
    **options: Unpack[SchemaArguments],
) -> Constraint[Any]:
    """Compiles a schema, a type or a grammar for a vocabulary; the same content is compiled once.

    Args:
        schema: a Pydantic model or any type that Pydantic knows, a JSON Schema as a dict, or a `Grammar`.
        vocabulary: the tokens of the model.
        tokenization: "proper" allows only the tokens that the tokenizer would make of the text itself, as the model has
            learned to read them; see docs/proper-tokenization.md. The vocabulary must be made by
            `Vocabulary.from_huggingface`.
        limits: bounds on size and time.
        options: see `structgen.schema.options.SchemaArguments`: `whitespace`, `property_order`, `formats`, `draft`,
            `lenient`, `registry`. Grammars are not touched by them.

    Raises:
        SchemaError: the schema cannot be used; with its JSON pointer.
        GrammarError: the grammar makes no sense.
        LimitExceededError: it is larger, or takes longer, than `limits` allow.
        VocabularyError: proper tokenization is not supported for the tokenizer; with what it is that is not.
        ValueError, TypeError: an option has a value that it cannot have.

    Example:
        >>> vocabulary = structgen.Vocabulary.from_bytes({0: b"1", 1: b"2", 2: b""}, eos_token_ids=[2])
        >>> structgen.compile({"enum": [1, 12]}, vocabulary).matcher().allowed_token_ids()
        [0]
    """
    if not isinstance(vocabulary, Vocabulary):
        raise TypeError(f"vocabulary must be a structgen.Vocabulary, not {type(vocabulary).__name__}")
    checked = SchemaOptions(**options) if options else _DEFAULT_OPTIONS
    limits = limits or _DEFAULT_LIMITS
    proper = _proper(tokenization, vocabulary)
    if isinstance(schema, Grammar):
        return _compile_grammar(schema, vocabulary, limits, proper)
    return _compile_schema(schema, vocabulary, checked, limits, proper)


def _proper(tokenization: Tokenization, vocabulary: Vocabulary) -> ProperTokenization | None:
    if tokenization not in ("any", "proper"):
        raise ValueError(f'tokenization must be "any" or "proper", not {tokenization!r}')
    if tokenization == "any":
        return None
    from structgen.tokenization.tokenization import ProperTokenization  # others do without

    return ProperTokenization.of(vocabulary)


def _compile_grammar(
    grammar: Grammar, vocabulary: Vocabulary, limits: Limits, proper: ProperTokenization | None
) -> Constraint[str]:
    def make() -> CompiledGrammar:
        return _build(grammar.tree, vocabulary, limits, limits.deadline(), eager=grammar.eager)

    key = (grammar.kind, grammar.source, grammar.eager, vocabulary.fingerprint, limits)
    return Constraint(_cache.get(key, make, max_bytes=limits.cache_bytes), parse_text, is_json=False, proper=proper)


def _compile_schema(
    schema: Any, vocabulary: Vocabulary, options: SchemaOptions, limits: Limits, proper: ProperTokenization | None
) -> Constraint[Any]:
    source = resolve(schema, limits=limits, options=options)

    def make() -> CompiledGrammar:
        deadline = limits.deadline()
        tables = json_schema_to_rules(source.json_schema, source.options, limits=limits, deadline=deadline)
        compiled = CompiledGrammar(tables, vocabulary, limits=limits)
        if begins_with_bracket(tables):
            compiled.prepare()
        return compiled

    key = ("schema", _content(source, limits), source.options.without_registry(), vocabulary.fingerprint, limits)
    return Constraint(_cache.get(key, make, max_bytes=limits.cache_bytes), source.parse, is_json=True, proper=proper)


def _content(source: Source, limits: Limits) -> str:
    """The schema, and what it may reach in the registry, as text. The order of keys is part of it: the order in which
    they are generated.
    """
    registry = source.options.registry
    content = [source.json_schema, {} if registry is None else {uri: registry.contents(uri) for uri in registry}]
    try:
        return _ENCODER.encode(content)
    except RecursionError as error:
        raise LimitExceededError("schema_depth", limits.schema_depth) from error
    except (TypeError, ValueError) as error:
        raise SchemaError(f"the schema is not JSON data: {error}", pointer="") from error


def _exact_number(value: Any) -> list[str]:
    """Pydantic's bounds of decimals stay decimals in its schema."""
    if isinstance(value, Decimal):
        return ["\0decimal", str(value)]
    raise TypeError(f"a {type(value).__name__} is in it")


_ENCODER = json.JSONEncoder(separators=(",", ":"), default=_exact_number)


def _build(
    tree: ast.Grammar, vocabulary: Vocabulary, limits: Limits, deadline: Deadline, *, eager: bool
) -> CompiledGrammar:
    from structgen.kbnf.normal_form import normalize  # schemas do without

    # Rules that never end are part of KBNF's meaning; nothing else wants a text that cannot be finished.
    is_empty = SharedState.of(vocabulary).is_empty(vocabulary, limits)
    tables = normalize(tree, keep_endless=eager, limits=limits, deadline=deadline, is_empty=is_empty)
    return CompiledGrammar(tables, vocabulary, eager=eager, limits=limits)
