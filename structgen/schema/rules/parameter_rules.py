r"""Rules of a call's arguments as elements: `<parameter=city>Lyon</parameter>` in place of `{"city": "Lyon"}`.

`LazyRules` makes the rules of a schema's values, in the terms of its notation. Here its punctuation is only marks, as
for YAML, and `ParameterRules` replaces it:

    the rules of `LazyRules`                                  as elements (`qwen_xml`)
    (0, "first", 0)  ->  {  "city":  string  (0, "then", 1)   "<parameter=city>"  string and "</parameter>"
    (0, "then", 1)   ->  }                                    nothing: `string` is the last value
    (0, "then", 1)   ->  ,  (0, "pair", 1)                    (0, "pair", 1)

A closing bracket is nothing, and a nonterminal must derive some text. So the body before it is made twice: with and
without what follows. Values that are no strings are JSON: a second `LazyRules` of the same nodes makes their rules. A
nonterminal is one of these:

    ("set", key)           the rest of an object or list of elements; the key is one of the first `LazyRules`
    ("value", key, name)   the value of a property and the mark after it
    ("item", key)          an item of a list, with the marks around it
    ("json", key)          JSON; the key is one of the second `LazyRules`
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from structgen.engine.deadlines import Deadline
from structgen.engine.grammar.tables import Capture, Lazy, Lookahead, Refusals, Symbol
from structgen.engine.regex import tree as rx
from structgen.errors import UnsatisfiableSchemaError
from structgen.limits import Limits
from structgen.schema.algebra import ArraySet, Inexpressible, Node, ObjectSet
from structgen.schema.options import SchemaOptions
from structgen.schema.rules.json_elements import JsonInElements
from structgen.schema.rules.lazy_rules import LazyRules
from structgen.schema.rules.parameter_notation import ParameterNotation
from structgen.schema.rules.parameter_styles import Kind
from structgen.schema.rules.to_rules import MakeOfRules, check_members, expressed, json_rules_beside, read_schema

__all__ = ["ParameterRules", "read_parameters"]

T = TypeVar("T")

_COLLECTIONS: tuple[Kind, ...] = ("array", "object")

Bodies = list[Sequence[Symbol | Lookahead]]


class ParameterRules:
    """The `RuleSource` of the arguments of a call, as elements.

    Args:
        outer: the rules of the schema, in the notation.
        inner: the rules of the same nodes, in JSON.
        root: the node of the arguments.
        notation: spells the elements.
        change: changes the terminals of JSON.
    """

    def __init__(
        self,
        outer: LazyRules,
        inner: LazyRules,
        root: Node,
        notation: ParameterNotation,
        change: Callable[[rx.Regex], rx.Regex] | None = None,
    ) -> None:
        self._outer = outer
        self._inner = inner
        self._root = root
        self._change = change
        self._layout = outer.layout
        self._notation = notation

    # --- the whole text ----------------------------------------------------------------------------------------------

    @property
    def may_be_empty(self) -> bool:
        """Whether the arguments may be no text at all: an object without properties."""
        return any(self._has_empty(key) for key in self._firsts("object", self._root))

    def bodies(self, key: Any) -> Sequence[Sequence[Symbol | Lookahead]]:
        """Return the bodies of a nonterminal. See `RuleSource.bodies`."""
        if key[0] == "json":
            return [[self._json(symbol) for symbol in body] for body in self._inner.bodies(key[1])]
        return [way for body in self._elements_of(key) for way in self._notation.tokens.ways(body)]

    def _elements_of(self, key: Any) -> Bodies:
        """Return the bodies of a nonterminal that is not JSON, with tokens as texts."""
        if key[0] == "set":
            return self._set(key[1])
        if key[0] == "value":
            return self._values(key[1], self._notation.after_key, key[2])
        if key[0] == "item":
            return self._values(key[1], self._notation.before_item, self._notation.style.item_name, is_item=True)
        return self._whole()

    def _whole(self) -> Bodies:
        """Return the bodies of all arguments, perhaps with white space before them."""
        some = self._notation.some_gap
        found: Bodies = [[some]] if some is not None and self.may_be_empty else []
        for key in self._firsts("object", self._root):
            if self._goes_on(key):
                found.append([Lazy(("set", key))])
                if some is not None:
                    found.append([some, Lazy(("set", key))])
        return found

    def _firsts(self, kind: Kind, node: Node, values: frozenset[Any] = frozenset()) -> Iterator[Any]:
        """Yield the keys of the sets of objects or lists of a node."""
        sort = ObjectSet if kind == "object" else ArraySet
        for symbol in self._outer.alternatives(node, values):
            key: Any = symbol.key if isinstance(symbol, Lazy) else None
            if key[0] != "scalars" and isinstance(self._outer.numbered(key[0]).part, sort):
                yield key

    # --- objects and lists of elements -------------------------------------------------------------------------------

    def _set(self, inner: Any) -> Bodies:
        """Return the bodies of the rest of an object or list."""
        found: Bodies = []
        for body in self._outer.bodies(inner):
            if not self._closes(body):
                found += self._made(body)
        return found

    def _closes(self, body: Sequence[Symbol]) -> bool:
        """Return whether a body is only the end of an object or list; then it has no text."""
        layout = self._layout
        if body[0] is layout.close_array or body[0] is layout.close_object:
            return True
        return len(body) > 1 and (body[1] is layout.end_array or body[1] is layout.end_object)

    def _has_empty(self, key: Any) -> bool:
        return any(map(self._closes, self._outer.bodies(key)))

    def _goes_on(self, key: Any) -> bool:
        """Return whether a set has a text that is not empty."""
        return not all(map(self._closes, self._outer.bodies(key)))

    def _made(self, body: Sequence[Symbol]) -> Bodies:
        """Return the bodies that a body of `LazyRules` becomes."""
        last = body[len(body) - 1]
        if isinstance(last, Capture):
            captured = Capture(last.of, ("set", last.then), last.endless, last.refuses)
            return [[*self._notation.before_capture, captured]]
        then: Any = last.key if isinstance(last, Lazy) else None
        if then is None or then[1] != "then":
            return [self._symbols(body)]
        found: Bodies = []
        if self._has_empty(then):
            found.append(self._symbols(body[:-1]))
        if self._goes_on(then):
            found.append([*self._symbols(body[:-1]), Lazy(("set", then))])
        return found

    def _symbols(self, body: Sequence[Symbol]) -> list[Symbol]:
        """Return symbols without punctuation."""
        layout, name = self._layout, None
        marks = (layout.open_object, layout.open_array, layout.comma, layout.colon)
        found: list[Symbol] = []
        for symbol in body:
            if any(symbol is mark for mark in marks):
                if symbol is layout.colon:
                    name = ""
            elif isinstance(symbol, rx.Literal):
                name = self._notation.name_of(symbol.data)
                found.append(symbol)
            elif isinstance(symbol, Lazy):
                found.append(Lazy(self._key(symbol.key, name)))
                name = None
            else:
                found.append(symbol)
        return found

    def _key(self, key: Any, name: str | None) -> Hashable:
        """Return the key of a nonterminal of `LazyRules`; a value after a key has a name."""
        if key[0] not in ("value", "without"):
            return ("set", key)
        return ("item", key) if name is None else ("value", key, name)

    # --- values ------------------------------------------------------------------------------------------------------

    def _values(self, key: Any, opening: Callable[[Kind], rx.Regex], name: str, *, is_item: bool = False) -> Bodies:
        """Return the values of a node, each with the marks around it."""
        node, values = key[1], key[2] if key[0] == "without" else frozenset()
        notation = self._notation
        closing = notation.closing(name, is_item=is_item)
        found: Bodies = []
        for symbol in self._outer.alternatives(node, values):
            of: Any = symbol.key if isinstance(symbol, Lazy) else None
            if of[0] == "scalars":
                found += [[terminal] for terminal in notation.terminals(of[1], opening, closing)]
        if notation.style.item is None:
            return found + self._json_values(node, values, opening, closing)
        for kind in _COLLECTIONS:
            for first in self._firsts(kind, node, values):
                found += self._elements(kind, first, opening, closing)
        return found

    def _elements(self, kind: Kind, first: Any, opening: Callable[[Kind], rx.Regex], closing: rx.Regex) -> Bodies:
        """Return the objects or lists of a set, as elements within an element."""
        notation = self._notation
        end = notation.before_close(closing) if kind == "array" else closing
        found: Bodies = [[notation.empty(opening(kind), end)]] if self._has_empty(first) else []
        if self._goes_on(first):
            for begin in notation.ways_to_begin(opening(kind)):
                found.append([*begin, Lazy(("set", first)), end])
        return found

    def _json_values(
        self, node: Node, values: frozenset[Any], opening: Callable[[Kind], rx.Regex], closing: rx.Regex
    ) -> Bodies:
        """Return the objects and lists of a node, in JSON."""
        found: Bodies = []
        for symbol in self._inner.alternatives(node, values):
            if not isinstance(symbol, Lazy):
                continue  # a scalar
            key: Any = symbol.key
            kind: Kind = "array" if isinstance(self._inner.numbered(key[0]).part, ArraySet) else "object"
            end = self._notation.before_close(closing)
            for begin in self._notation.ways_to_begin(opening(kind)):
                found.append([*begin, Lazy(("json", key)), end])
        return found

    def _json(self, symbol: Symbol) -> Symbol:
        """Return a symbol of a JSON value."""
        if isinstance(symbol, Lazy):
            return Lazy(("json", symbol.key))
        if isinstance(symbol, Capture):
            of: Any = Lazy(("json", symbol.of.key)) if isinstance(symbol.of, Lazy) else self._changed(symbol.of)
            return Capture(of, ("json", symbol.then), symbol.endless, symbol.refuses)
        return self._changed(symbol)

    def _changed(self, regex: rx.Regex) -> rx.Regex:
        return regex if self._change is None else self._change(regex)

    # --- captured keys and items -------------------------------------------------------------------------------------

    def after(self, then: Any, text: bytes | None) -> Hashable | None:
        """Return the key of the nonterminal after a captured key or item. See `RuleSource.after`."""
        after = self._rules(then).after(then[1], text)
        return None if after is None else (then[0], after)

    def refusals(self, then: Any, begun: bytes) -> Refusals:
        """Return the completions of keys that must not be written. See `RuleSource.refusals`."""
        return self._rules(then).refusals(then[1], begun)

    def least_bytes(self, key: Any) -> int:
        """Return a lower bound of the bytes of a nonterminal's texts. See `RuleSource.least_bytes`."""
        return 1

    def remaining(self, then: Any, least: int) -> rx.Regex:
        """Return the keys that may be written. See `RuleSource.remaining`."""
        remaining = self._rules(then).remaining(then[1], least)
        return self._changed(remaining) if then[0] == "json" else remaining

    def forget(self) -> None:
        """Drop what was computed for written texts. See `RuleSource.forget`."""
        self._outer.forget()
        self._inner.forget()

    def _rules(self, then: Any) -> LazyRules:
        return self._inner if then[0] == "json" else self._outer


def read_parameters(
    json_schema: Any,
    style: str,
    make: MakeOfRules[T],
    options: SchemaOptions,
    *,
    excludes: Sequence[str] = (),
    tokens: Mapping[str, int] | None = None,
    captures: bool = True,
    limits: Limits | None = None,
    deadline: Deadline | None = None,
    narrowed: Callable[[rx.Regex], rx.Regex] | None = None,
) -> T:
    """Read a schema of arguments in a notation, and return what `make` makes of their rules.

    Args:
        json_schema: a JSON Schema: a dict, or a boolean. Of its values, only objects count.
        style: the notation, a key of `STYLES`.
        make: gets the rules.
        options: how the schema is read and written.
        excludes: texts that no string may hold.
        tokens: ids of special tokens by name, which stand in the marks in place of their names.
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
    notation = ParameterNotation(style, excludes, options, tokens)
    inner = JsonInElements(notation.style.close, limits or Limits(), narrowed)

    def made(lazy: LazyRules, root: Node) -> T:
        if not lazy.shapes[root].objects:
            raise UnsatisfiableSchemaError("arguments are an object, and no object satisfies the schema", pointer="")
        is_deep = notation.style.item is not None
        for node in list(lazy.productive) if is_deep else [root]:
            expressed(lambda node=node: _check(lazy, node, notation, is_deep), lazy.space, node)  # type: ignore[misc]
        if not is_deep:
            inner.check(lazy, root)
        rules = ParameterRules(lazy, json_rules_beside(lazy), root, notation, inner.change)
        return make(rules, ("whole",), lazy.space, rules.may_be_empty)

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


def _check(lazy: LazyRules, node: Node, notation: ParameterNotation, is_deep: bool) -> None:
    """Check that the keys, items and strings of a node's values can be written.

    Raises:
        Inexpressible: they cannot.
    """
    shape = lazy.shapes[node]
    for part in shape.objects:
        for key in (*part.properties, *part.required):
            notation.layout.key(key)
            if lazy.holds(part.at(key)):
                notation.check_strings(lazy.shapes[part.at(key)])
        for _, other in part.classes:
            if lazy.holds(other):
                notation.check_strings(lazy.shapes[other])
        if part.low > len(part.properties):
            raise Inexpressible("minProperties")  # keys that are not declared are not all writable
        check_members(lazy, part)
    if is_deep:
        notation.check_strings(shape)
        if any(part.repeats is not None for part in shape.arrays):
            raise Inexpressible("uniqueItems")
