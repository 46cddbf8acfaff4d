"""From shapes to KBNF rules: scalars are terminals, arrays and objects are rules.

Objects have the schema's order. A run of optional properties is a chain of two rules for each, so that a grammar's
size is linear in the schema's: after a pair, `then_i` closes the object or writes a comma and goes on to `pair_i`,
which writes property i or passes to `pair_{i+1}`. Required properties stand in sequence, so that their keys and the
punctuation around them are forced text. Keys that the schema does not name come last.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from structgen.engine.regex import literal_set
from structgen.errors import LimitExceededError, UnsatisfiableSchemaError
from structgen.kbnf import ast
from structgen.limits import Deadline, Limits
from structgen.schema.algebra import ANY, ArraySet, Inexpressible, Node, NumberSet, ObjectSet, Shape, StringSet
from structgen.schema.algebra.numbers import DIGITS
from structgen.schema.dialects import UNDECLARED, dialect_of
from structgen.schema.keywords import unsupported
from structgen.schema.layout import LAYOUTS
from structgen.schema.number_terminals import numbers_regex
from structgen.schema.objects import object_body
from structgen.schema.options import SchemaOptions, Whitespace
from structgen.schema.refs import ROOT, Document, Place, pointer
from structgen.schema.space import Space, array_holds, object_holds
from structgen.schema.strings import canonical
from structgen.schema.terminals import string_regex

__all__ = ["json_schema_to_kbnf"]

_START = "start"
_ANY_VALUE = "json"


def json_schema_to_kbnf(
    json_schema: Any,
    options: SchemaOptions | None = None,
    *,
    start: str = _START,
    limits: Limits | None = None,
    deadline: Deadline | None = None,
) -> ast.Grammar:
    """The grammar of the JSON texts whose values satisfy a schema.

    Args:
        json_schema: a JSON Schema: a dict, or a boolean.
        options: how it is read and written.
        start: the name of the first rule. No other rule is called so, nor `start`.
        limits: bounds on what the translation may cost.
        deadline: a clock that runs already; by default one of `limits.compile_seconds` starts now.

    Raises:
        SchemaError: not a schema.
        UnsupportedSchemaError: it cannot be expressed exactly.
        UnsatisfiableSchemaError: no value satisfies it.
        LimitExceededError: it costs more than `limits` allow.
        ValueError: a `start` that cannot be a name.
    """
    options = options or SchemaOptions()
    if not (start.isascii() and start.isidentifier()) or start.startswith(_ANY_VALUE):
        raise ValueError(f"start must be an identifier that does not begin with {_ANY_VALUE!r}, not {start!r}")
    limits = limits or Limits()
    space = Space(Document(json_schema, dialect_of(json_schema)), options, limits, deadline or limits.deadline())
    try:
        root = space.node(json_schema, ROOT)
        shapes, productive = space.explore(root)
        if root not in productive:
            place, keyword = _culprit(space, root, productive)
            raise UnsatisfiableSchemaError("no value satisfies the schema", pointer=pointer(place), keyword=keyword)
        return _Writer(space, shapes, productive, options).write(root, start)
    except RecursionError as error:
        raise LimitExceededError("schema_depth", limits.schema_depth) from error


def _culprit(space: Space, node: Node, productive: set[Node]) -> tuple[Place, str]:
    """The place of the innermost required part without a value, and a keyword that asks for it."""
    seen: set[Node] = set()
    place, keyword = space.place(node), ""
    while node not in seen:
        seen.add(node)
        place = space.place(node) or place
        shape = space.shape(node)
        if len(shape.objects) != 1 or shape.size != 1:
            break
        part = shape.objects[0]
        missing = [part.at(key) for key in part.required if part.at(key) not in productive]
        if not missing:
            break
        node, keyword = missing[0], "required"
    return place, keyword


class _Writer:
    """Writes the rules of the nodes that a root reaches."""

    def __init__(self, space: Space, shapes: dict[Node, Shape], productive: set[Node], options: SchemaOptions) -> None:
        self.options = options
        self.layout = LAYOUTS[options.whitespace]
        self.productive = productive
        self._space = space
        self._shapes = shapes
        self._names: set[str] = {_START}
        self._numbers: dict[str, int] = {}  # how far the numbers after a base name have got
        self._values: dict[Node, ast.Expression] = {}
        self._scalars: dict[tuple[Any, ...], list[ast.Expression]] = {}
        self._parts: dict[int, ast.Expression] = {}
        self._work: list[tuple[ArraySet | ObjectSet, str, Node]] = []
        self._uses_any = False
        self._root_name = "value"
        self.rules: list[ast.Rule] = []

    def write(self, root: Node, start: str = _START) -> ast.Grammar:
        """The grammar of a node."""
        self._names.add(start)
        self._root_name = "value" if start == _START else start
        shape = self._shapes[root]
        only = _only_compound(shape)
        if only is not None:
            self._parts[id(only)] = ast.Reference(start)
            self._work.append((only, start, root))
        else:
            self._values[root] = ast.Reference(start)
            self.rules.append(ast.Rule(start, _alternatives(self._body(shape, root))))
        while self._work:
            part, name, node = self._work.pop()
            position = len(self.rules)
            body = self._array(part, name) if isinstance(part, ArraySet) else self._object(part, name, node)
            self.rules.insert(position, ast.Rule(name, body))  # before the rules that it uses, for the reader
            if not len(self.rules) & 255:
                self._space.deadline.check()
        rules = tuple(self.rules)
        if self._uses_any:
            rules += _any_rules(self.options.whitespace)
        return ast.Grammar(rules, start)

    def value(self, node: Node) -> ast.Expression:
        """What derives the values of a node: a terminal, a choice of terminals, or a nonterminal."""
        found = self._values.get(node)
        if found is not None:
            return found
        if node == ANY:
            self._uses_any = True
            found = ast.Reference(_ANY_VALUE)
        else:
            shape = self._shapes[node]
            only = _only_compound(shape)
            if only is not None:
                found = self._part(only, node)
            elif shape.arrays or shape.objects:
                name = self.fresh(self._base_name(node))
                found = self._values[node] = ast.Reference(name)
                self.rules.append(ast.Rule(name, _alternatives(self._body(shape, node))))
            else:
                found = _alternatives(self._scalar(shape, node))
        self._values[node] = found
        return found

    def fresh(self, base: str) -> str:
        """A nonterminal's name that is not used yet."""
        name, number = base, self._numbers.get(base, 1)
        while name in self._names:
            number += 1
            name = f"{base}_{number}"
        self._numbers[base] = number
        self._names.add(name)
        return name

    def _base_name(self, node: Node) -> str:
        place = self._space.place(node)
        if place is None:
            return self._root_name
        name = place[1]
        if not (name.isascii() and name.isidentifier()) or name.startswith(_ANY_VALUE):
            name = f"value_{name}" if name.isascii() and f"v{name}".isidentifier() else "value"
        return name

    def _part(self, part: ArraySet | ObjectSet, node: Node) -> ast.Expression:
        """The nonterminal of one part; a part that several unions hold has one."""
        found = self._parts.get(id(part))
        if found is None:
            name = self.fresh(self._base_name(node))
            found = self._parts[id(part)] = ast.Reference(name)
            self._work.append((part, name, node))
        return found

    def _body(self, shape: Shape, node: Node) -> list[ast.Expression]:
        """The alternatives of a shape: one for each part that has a value."""
        parts = self._scalar(shape, node)
        for array in shape.arrays:
            if array_holds(array, self.productive):
                parts.append(self._part(array, node))
        for part in shape.objects:
            if object_holds(part, self.productive):
                parts.append(self._part(part, node))
        return parts

    def _object(self, part: ObjectSet, name: str, node: Node) -> ast.Expression:
        try:
            return object_body(self, part, name)
        except (Inexpressible, UnicodeEncodeError) as error:
            keyword = error.keyword if isinstance(error, Inexpressible) else "properties"
            raise unsupported(
                f"this {keyword} cannot be expressed exactly", self._space.place(node), keyword
            ) from error

    # --- scalars -----------------------------------------------------------------------------------------------------

    def _scalar(self, shape: Shape, node: Node) -> list[ast.Expression]:
        """The alternatives of a shape that are single terminals; all known texts are one table."""
        key = (shape.null, shape.booleans, shape.numbers, shape.strings)
        found = self._scalars.get(key)
        if found is None:
            try:
                found = self._scalars[key] = _terminals(shape)
            except Inexpressible as error:
                place = self._space.place(node)
                raise unsupported(f"this {error.keyword} cannot be expressed exactly", place, error.keyword) from error
        return list(found)

    # --- arrays ------------------------------------------------------------------------------------------------------

    def _array(self, part: ArraySet, name: str) -> ast.Expression:
        """An array of a part that has one."""
        layout = self.layout
        items: list[ast.Expression] = []
        high = part.high
        for node in part.prefix:
            if node not in self.productive:
                high = len(items) if high is None else min(high, len(items))
                break
            items.append(self.value(node))
        else:
            if (high is None or high > len(items)) and part.rest not in self.productive:
                high = len(items) if high is None else min(high, len(items))
        if high is not None:
            items = items[:high]
            if high == 0:
                return ast.Sequence((layout.open_array, layout.end_array))
        rest = self.value(part.rest) if high is None or high > len(items) else None
        first, after = self._items(items, rest, part.low, high, name)
        if part.low:
            return ast.Sequence((layout.open_array, *first, *after))
        return ast.Sequence((layout.open_array, ast.Choice((layout.end_array, ast.Sequence((*first, *after))))))

    def _items(
        self, items: list[ast.Expression], rest: ast.Expression | None, low: int, high: int | None, name: str
    ) -> tuple[list[ast.Expression], list[ast.Expression]]:
        """The first item, and what may follow it up to the closing bracket."""
        layout = self.layout
        size = len(items)
        if rest is None:
            after: list[ast.Expression] = [layout.close_array]
        else:
            given = max(size, 1)
            after = self._more(rest, max(low - given, 0), None if high is None else high - given, name)
        for index in range(size - 1, 0, -1):
            step = [layout.comma, items[index], *after]
            if index < low:
                after = step
            else:
                rule = self.fresh(f"{name}_from_{index}")
                self.rules.append(ast.Rule(rule, ast.Choice((layout.close_array, ast.Sequence(tuple(step))))))
                after = [ast.Reference(rule)]
        first = items[0] if items else rest
        return ([first] if first is not None else []), after

    def _more(self, item: ast.Expression, low: int, high: int | None, name: str) -> list[ast.Expression]:
        """`low` to `high` further items, each after a comma, and the closing bracket."""
        layout = self.layout
        step = ast.Sequence((layout.comma, item))
        if high is None and low == 0:
            rule = self.fresh(f"{name}_more")
            again = ast.Sequence((layout.comma, item, ast.Reference(rule)))
            self.rules.append(ast.Rule(rule, ast.Choice((layout.close_array, again))))
            return [ast.Reference(rule)]
        if high == 0:
            return [layout.close_array]
        return [ast.Bounded(step, low, high), layout.close_array]


def _alternatives(parts: list[ast.Expression]) -> ast.Expression:
    return parts[0] if len(parts) == 1 else ast.Choice(tuple(parts))


def _only_compound(shape: Shape) -> ArraySet | ObjectSet | None:
    """The part of a shape that is one set of arrays or of objects and nothing else."""
    if shape.size != 1 or shape.null or shape.booleans or shape.numbers or shape.strings:
        return None
    return shape.objects[0] if shape.objects else shape.arrays[0]


def _terminals(shape: Shape) -> list[ast.Expression]:
    known: list[bytes] = [b"null"] if shape.null else []
    if shape.booleans & 2:
        known.append(b"true")
    if shape.booleans & 1:
        known.append(b"false")
    strings: list[StringSet] = []
    for part in shape.strings:
        if part.texts is None:
            strings.append(part)
            continue
        try:
            known.extend(map(canonical, part.texts))
        except UnicodeEncodeError as error:
            raise Inexpressible("enum") from error
    numbers: list[NumberSet] = []
    for number in shape.numbers:
        if number.values is None or number.written != DIGITS:
            numbers.append(number)
        else:
            known.extend(b"%d" % value for value in number.values)
    parts: list[ast.Expression] = []
    if len(known) == 1:
        parts.append(ast.Literal(known[0]))
    elif known:
        parts.append(ast.RegexTerminal(literal_set(known)))
    parts.extend(ast.RegexTerminal(string_regex(part)) for part in strings)
    if numbers:
        parts.append(ast.RegexTerminal(numbers_regex(tuple(numbers))))
    return parts


@cache
def _any_rules(whitespace: Whitespace) -> tuple[ast.Rule, ...]:
    """The rules of any JSON value, made once for each layout."""
    limits = Limits()
    options = SchemaOptions(whitespace=whitespace)
    space = Space(Document(True, UNDECLARED), options, limits, limits.deadline())
    shapes, productive = space.explore(ANY)
    return _Writer(space, shapes, productive, options).write(ANY, _ANY_VALUE).rules
