"""The rules of a call's arguments in the notations of `call_notations`.

Values are those of `LazyRules` in one notation, and the arguments as a whole those of another `LazyRules` of the same
nodes, as Python writes `days=3` for an argument and `'days': 3` within one. A nonterminal is one of these:

    ("call",)             the arguments
    ("arguments", key)    the rest of the arguments; the key is one of the outer `LazyRules`
    ("scalars", shape)    the scalars of a shape, where the notation has bodies of them
    any other key         a value, or the rest of one; the key is one of the inner `LazyRules`
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeVar

from structgen.engine.deadlines import Deadline
from structgen.engine.grammar.tables import Capture, Lazy, Refusals, Symbol
from structgen.engine.regex import tree as rx
from structgen.errors import UnsatisfiableSchemaError
from structgen.limits import Limits
from structgen.schema.algebra import Inexpressible, Node, ObjectSet
from structgen.schema.options import SchemaOptions
from structgen.schema.reading.writable import Narrowed
from structgen.schema.rules.call_notations import GemmaNotation, KeywordNotation, PythonNotation
from structgen.schema.rules.lazy_rules import LazyRules
from structgen.schema.rules.parameter_styles import MARKS
from structgen.schema.rules.to_rules import MakeOfRules, check_members, expressed, read_schema, rules_beside

__all__ = ["STYLES", "CallRules", "read_call"]

T = TypeVar("T")

STYLES = ("python", *MARKS)
"""The names of the notations."""

Bodies = list[Sequence[Symbol]]


class CallRules:
    """The `RuleSource` of the arguments of a call.

    Args:
        outer: the rules of the schema, in the notation of arguments.
        inner: the rules of the same nodes, in the notation of values.
        root: the node of the arguments.
    """

    def __init__(self, outer: LazyRules, inner: LazyRules, root: Node) -> None:
        self._outer = outer
        self._inner = inner
        self._root = root

    def bodies(self, key: Any) -> Bodies:
        """Return the bodies of a nonterminal. See `RuleSource.bodies`."""
        if key[0] == "call":
            return [body for first in self._firsts() for body in self._arguments(first)]
        if key[0] == "arguments":
            return self._arguments(key[1])
        if key[0] == "scalars":
            return list(self._scalars(key[1]))
        if key[0] in ("value", "without"):
            found: Bodies = []
            for symbol in self._inner.alternatives(*key[1:]):
                found += self.bodies(symbol.key) if isinstance(symbol, Lazy) else [[symbol]]
            return found
        return list(self._inner.bodies(key))

    def _firsts(self) -> list[Any]:
        """Return the keys of the sets of objects that the arguments may be."""
        keys: list[Any] = [symbol.key for symbol in self._outer.alternatives(self._root) if isinstance(symbol, Lazy)]
        numbered = [key for key in keys if isinstance(key[0], int)]
        return [key for key in numbered if isinstance(self._outer.numbered(key[0]).part, ObjectSet)]

    def _scalars(self, shape: Any) -> Sequence[Sequence[Symbol]]:
        notation: Any = self._inner.notation
        bodies: Sequence[Sequence[Symbol]] = notation.bodies(shape)
        return bodies

    def _arguments(self, key: Any) -> Bodies:
        """Return the bodies of the rest of the arguments."""
        return [[self._argument(symbol) for symbol in body] for body in self._outer.bodies(key)]

    def _argument(self, symbol: Symbol) -> Symbol:
        if isinstance(symbol, Capture):
            return Capture(symbol.of, ("arguments", symbol.then), symbol.endless, symbol.refuses)
        if isinstance(symbol, Lazy):
            key: Any = symbol.key
            return symbol if key[0] in ("value", "without") else Lazy(("arguments", key))
        return symbol

    # --- captured keys -----------------------------------------------------------------------------------------------

    def after(self, then: Any, text: bytes | None) -> Hashable | None:
        """Return the key of the nonterminal after a captured key. See `RuleSource.after`."""
        if then[0] != "arguments":
            return self._inner.after(then, text)
        after = self._outer.after(then[1], text)
        return None if after is None else ("arguments", after)

    def refusals(self, then: Any, begun: bytes) -> Refusals:
        """Return the completions of keys that must not be written. See `RuleSource.refusals`."""
        if then[0] == "arguments":
            return self._outer.refusals(then[1], begun)
        return self._inner.refusals(then, begun)

    def least_bytes(self, key: Any) -> int:
        """Return a lower bound of the bytes of a nonterminal's texts. See `RuleSource.least_bytes`."""
        return 1

    def remaining(self, then: Any, least: int) -> rx.Regex:
        """Return the keys that may be written. See `RuleSource.remaining`."""
        is_outer = then[0] == "arguments"
        return self._outer.remaining(then[1], least) if is_outer else self._inner.remaining(then, least)

    def forget(self) -> None:
        """Drop what was computed for written texts. See `RuleSource.forget`."""
        self._outer.forget()
        self._inner.forget()


def read_call(
    json_schema: Any,
    style: str,
    make: MakeOfRules[T],
    options: SchemaOptions,
    *,
    token_id: int | None = None,
    captures: bool = True,
    limits: Limits | None = None,
    deadline: Deadline | None = None,
    narrowed: Narrowed | None = None,
) -> T:
    """Read a schema of arguments in a notation, and return what `make` makes of their rules.

    Args:
        json_schema: a JSON Schema: a dict, or a boolean. Of its values, only objects count.
        style: the notation, one of `STYLES`.
        make: gets the rules.
        options: how the schema is read and written.
        token_id: the special token that the mark of strings is; None where it is a text.
        captures: see `LazyRules`.
        limits: bounds on the cost of the translation.
        deadline: a running clock; by default one of `limits.compile_seconds` starts now.
        narrowed: the texts of a regex that can be written; by default all of them.

    Raises:
        SchemaError: not a schema.
        UnsupportedSchemaError: it cannot be expressed exactly.
        UnsatisfiableSchemaError: no object satisfies it.
        LimitExceededError: it costs more than `limits` allow.
    """
    notation: Any
    if style == "python":
        notation = PythonNotation(options)
    else:
        notation = GemmaNotation(MARKS[style], options, token_id, narrowed)

    def made(inner: LazyRules, root: Node) -> T:
        if not inner.shapes[root].objects:
            raise UnsatisfiableSchemaError("arguments are an object, and no object satisfies the schema", pointer="")
        outer = rules_beside(inner, KeywordNotation(options, narrowed)) if style == "python" else inner
        for node in list(inner.productive):
            expressed(lambda node=node: _check(inner, node), inner.space, node)  # type: ignore[misc]
        expressed(lambda: _check(outer, root), inner.space, root)
        return make(CallRules(outer, inner, root), ("call",), inner.space, False)

    return read_schema(
        json_schema,
        made,
        options,
        notation=notation,
        captures=captures,
        limits=limits,
        deadline=deadline,
        narrowed=narrowed,
    )


def _check(lazy: LazyRules, node: Node) -> None:
    """Check that the keys and scalars of a node's values can be written, and that no items must differ.

    Raises:
        Inexpressible: they cannot.
    """
    shape = lazy.shapes[node]
    notation: Any = lazy.notation
    notation.check(shape)
    for part in shape.objects:
        for key in (*part.properties, *part.required):
            lazy.layout.key(key)
        for keys, _ in part.classes:
            notation.check_keys(keys)
        check_members(lazy, part)
    if any(part.repeats is not None for part in shape.arrays):
        raise Inexpressible("uniqueItems", "in this notation items cannot be made to differ")
