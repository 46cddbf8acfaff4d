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
from typing import Any, TypeVar, get_args, overload

from structgen.constraint import Constraint, parse_text
from structgen.engine.compiled import CompiledGrammar
from structgen.engine.vocabulary import Vocabulary
from structgen.grammars import Grammar, Whitespace
from structgen.kbnf import ast, normalize
from structgen.limits import Limits
from structgen.schema import schema_to_kbnf
from structgen.schema.sources import resolve

__all__ = ["CompileCache", "clear_cache", "compile"]

T = TypeVar("T")


class CompileCache:
    """Compiled grammars by key, bounded in bytes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, CompiledGrammar] = OrderedDict()
        self._under_way: dict[Hashable, Future[CompiledGrammar]] = {}

    def get(self, key: Hashable, make: Callable[[], CompiledGrammar], *, max_bytes: int) -> CompiledGrammar:
        """The compiled grammar of a key; made by the first that asks, waited for by the others.

        Args:
            key: says everything that `make` depends on.
            make: compiles. Its error goes to every waiting caller, and nothing is kept.
            max_bytes: entries are dropped, the least recently used first, until all have at most so many bytes.
        """
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return self._entries[key]
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
            self._entries[key] = compiled
            self._drop(max_bytes)
        future.set_result(compiled)

    def _drop(self, max_bytes: int) -> None:
        # Asked anew each time: a compiled grammar grows with the masks and sets found while it is used.
        sizes = {key: compiled.size_bytes for key, compiled in self._entries.items()}
        total = sum(sizes.values())
        while total > max_bytes and len(self._entries) > 1:
            key, _ = self._entries.popitem(last=False)
            total -= sizes[key]


_cache = CompileCache()


def clear_cache() -> None:
    """Forgets every compiled grammar; those in use stay usable."""
    _cache.clear()


@overload
def compile(
    schema: type[T], vocabulary: Vocabulary, *, whitespace: Whitespace = ..., limits: Limits | None = ...
) -> Constraint[T]: ...
@overload
def compile(
    schema: Any, vocabulary: Vocabulary, *, whitespace: Whitespace = ..., limits: Limits | None = ...
) -> Constraint[Any]: ...
def compile(
    schema: Any, vocabulary: Vocabulary, *, whitespace: Whitespace = "any", limits: Limits | None = None
) -> Constraint[Any]:
    """Compiles a schema, a type or a grammar for a vocabulary; the same content is compiled once.

    Args:
        schema: a Pydantic model or any type that Pydantic knows, a JSON Schema as a dict, or a `Grammar`.
        vocabulary: the tokens of the model.
        whitespace: white space in JSON: "any" (at most 64 characters a gap), "compact" (none), or "single" (as
            `json.dumps` writes it). Grammars are not touched by it.
        limits: bounds on size and time.

    Raises:
        SchemaError: the schema cannot be used; with its JSON pointer.
        GrammarError: the grammar makes no sense.
        LimitExceededError: it is larger, or takes longer, than `limits` allow.

    Example:
        >>> vocabulary = structgen.Vocabulary.from_bytes({0: b"1", 1: b"2", 2: b""}, eos_token_ids=[2])
        >>> structgen.compile({"enum": [1, 12]}, vocabulary).matcher().allowed_token_ids()
        [0]
    """
    if not isinstance(vocabulary, Vocabulary):
        raise TypeError(f"vocabulary must be a structgen.Vocabulary, not {type(vocabulary).__name__}")
    if whitespace not in get_args(Whitespace):
        raise ValueError(f"whitespace must be one of {', '.join(get_args(Whitespace))}, not {whitespace!r}")
    limits = limits or Limits()
    if isinstance(schema, Grammar):
        grammar = schema
        key: Hashable = (grammar.kind, grammar.source, grammar.eager, vocabulary.fingerprint, limits)
        compiled = _cache.get(
            key, lambda: _compile(grammar.tree, vocabulary, grammar.eager, limits), max_bytes=limits.cache_bytes
        )
        return Constraint(compiled, parse_text, is_json=False)
    source = resolve(schema)
    # The keys' order is part of the content: it is the order in which they are generated.
    content = json.dumps(source.json_schema, ensure_ascii=True, separators=(",", ":"))
    key = ("schema", content, whitespace, vocabulary.fingerprint, limits)
    compiled = _cache.get(
        key,
        lambda: _compile(schema_to_kbnf(schema, whitespace=whitespace, limits=limits), vocabulary, False, limits),
        max_bytes=limits.cache_bytes,
    )
    return Constraint(compiled, source.parse, is_json=True)


def _compile(tree: ast.Grammar, vocabulary: Vocabulary, eager: bool, limits: Limits) -> CompiledGrammar:
    # Rules that never end are part of KBNF's meaning; nothing else wants a text that cannot be finished.
    tables = normalize(tree, keep_endless=eager, limits=limits, deadline=limits.deadline())
    return CompiledGrammar(tables, vocabulary, eager=eager, limits=limits)
