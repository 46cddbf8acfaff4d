"""From shapes to KBNF rules: scalars are terminals; `arrays` and `objects` write the rules of the others."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, TypeVar

from structgen.engine import regex as rx
from structgen.engine.grammar import Capture, GrammarTables, Lazy, Symbol
from structgen.errors import LimitExceededError, UnsatisfiableSchemaError
from structgen.kbnf import ast
from structgen.kbnf.normal_form import normalize
from structgen.limits import Deadline, Limits
from structgen.schema.algebra import ANY, ArraySet, Inexpressible, Node, ObjectSet, Shape
from structgen.schema.arrays import ArrayPlaces, array_body
from structgen.schema.keywords import unsupported
from structgen.schema.lazy import LazyRules, Places
from structgen.schema.objects import ObjectPlaces, object_body
from structgen.schema.options import SchemaOptions, Whitespace
from structgen.schema.refs import ROOT, Document, DynamicScopeNeeded, Place, pointer
from structgen.schema.space import Space
from structgen.schema.terminals import scalar_terminals

__all__ = ["json_schema_to_kbnf"]

_START = "start"
_ANY_VALUE = "json"
_MOST_PRINTED = 20_000
"""Lazy rules that are written down for a grammar that has to stand by itself."""

_T = TypeVar("_T")


def json_schema_to_kbnf(
    json_schema: Any,
    options: SchemaOptions | None = None,
    *,
    start: str = _START,
    is_printed: bool = False,
    limits: Limits | None = None,
    deadline: Deadline | None = None,
) -> ast.Grammar:
    """The grammar of the JSON texts whose values satisfy a schema.

    Args:
        json_schema: a JSON Schema: a dict, or a boolean.
        options: how it is read and written.
        start: the name of the first rule. No other rule is called so, nor `start`.
        is_printed: whether the grammar has to stand by itself, without rules that are made in use. Then keys that the
            schema does not name may come twice, and items that must differ are refused.
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
    document, deadline = Document(json_schema, options.registry), deadline or limits.deadline()
    try:
        try:
            return _written(Space(document, options, limits, deadline), start, is_printed=is_printed)
        except DynamicScopeNeeded:
            document.follow_dynamic_scopes()
            return _written(Space(document, options, limits, deadline), start, is_printed=is_printed)
    except RecursionError as error:
        raise LimitExceededError("schema_depth", limits.schema_depth) from error


class _Widened(Exception):
    """A node's shape is wider now, and all that was written before is void."""


def _written(space: Space, start: str, *, is_printed: bool) -> ast.Grammar:
    """The grammar of a space's document."""
    root = space.node(space.document.root, ROOT)
    while True:
        writer = _writer(space, root, is_printed=is_printed)
        if root not in writer.productive:
            place, keyword = _culprit(space, root, writer.productive)
            raise UnsatisfiableSchemaError("no value satisfies the schema", pointer=pointer(place), keyword=keyword)
        try:
            grammar = writer.write(root, start)
            writer.check()
        except _Widened:
            continue
        return grammar


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
    """Writes the rules of the nodes that a root reaches.

    Args:
        lazy: makes the rules that are not written down.
        is_printed: whether the grammar has to stand by itself: then lazy rules are written down too.
    """

    def __init__(self, lazy: LazyRules, *, is_printed: bool) -> None:
        self.lazy = lazy
        self.layout = lazy.layout
        self.productive = lazy.productive
        self._is_printed = is_printed
        self._space = lazy.space
        self._shapes = lazy.shapes
        self._names: set[str] = {_START}
        self._numbers: dict[str, int] = {}  # how far the numbers after a base name have got
        self._values: dict[Node, ast.Expression] = {}
        self._scalars: dict[tuple[Any, ...], list[ast.Expression]] = {}
        self._parts: dict[int, ast.Expression] = {}
        self._work: list[tuple[ArraySet | ObjectSet, str, Node]] = []
        self._printed: dict[Hashable, str] = {}
        self._to_print: list[Hashable] = []
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
        while self._work or self._to_print:
            if not self._work:
                self._print(self._to_print.pop())
                continue
            part, name, node = self._work.pop()
            position = len(self.rules)
            body = self._compound(part, name, node)
            self.rules.insert(position, ast.Rule(name, body))  # before the rules that it uses, for the reader
            if not len(self.rules) & 255:
                self._space.deadline.check()
        rules = tuple(self.rules)
        if self._uses_any:
            rules += _any_rules(self.lazy.options.whitespace, self._is_printed)
        return ast.Grammar(rules, start, None if self._is_printed else self.lazy)

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

    def check(self) -> None:
        """Makes sure that nothing is refused later: not while masks are made.

        Raises:
            UnsupportedSchemaError: a node that is in no rule yet cannot be expressed.
        """
        for node in list(self.productive):
            shape = self._shapes[node]
            if shape.arrays or shape.objects:
                self._checked(lambda shape=shape: self._check_parts(shape), node)  # type: ignore[misc]
            if shape.numbers or shape.strings:
                self._scalar(shape, node)

    def _check_parts(self, shape: Shape) -> None:
        for array in shape.arrays:
            if array.contains or array.unique:
                self.lazy.places(array)
        for part in shape.objects:
            self.lazy.places(part)

    def _checked(self, made: Callable[[], _T], node: Node) -> _T:
        """What cannot be expressed becomes an error with its place."""
        try:
            return made()
        except (Inexpressible, UnicodeEncodeError) as error:
            keyword = error.keyword if isinstance(error, Inexpressible) else "properties"
            place = self._space.place(node)
            refused = unsupported(f"this {keyword} cannot be expressed exactly", place, keyword)
            refused.__cause__ = error
            self._space.widen(node, refused)
            raise _Widened from error

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
        """The alternatives of a shape."""
        parts = self._scalar(shape, node)
        parts += [self._part(array, node) for array in shape.arrays]
        parts += [self._part(part, node) for part in shape.objects]
        return parts

    def _compound(self, part: ArraySet | ObjectSet, name: str, node: Node) -> ast.Expression:
        if isinstance(part, ArraySet):
            return self._checked(lambda: array_body(self, part, name), node)
        return self._checked(lambda: object_body(self, part, name), node)

    def _scalar(self, shape: Shape, node: Node) -> list[ast.Expression]:
        """The alternatives of a shape that are single terminals; all known texts are one table."""
        key = (shape.null, shape.booleans, shape.numbers, shape.strings)
        found = self._scalars.get(key)
        if found is None:
            regexes = self._checked(lambda: scalar_terminals(shape), node)
            found = self._scalars[key] = list(map(_terminal, regexes))
        return list(found)

    # --- lazy rules --------------------------------------------------------------------------------------------------

    def place(self, number: int, kind: str, state: Hashable) -> ast.Expression:
        """What a place of lazy rules derives."""
        return self._lazily((number, kind, state))

    def _lazily(self, key: Hashable) -> ast.Expression:
        if not self._is_printed:
            return ast.LazyReference(key)
        name = self._printed.get(key)
        if name is None:
            if len(self._printed) >= _MOST_PRINTED:
                limit = self._space.limits.grammar_symbols
                raise LimitExceededError("grammar_symbols", limit, message="too many rules to be written down")
            name = self._printed[key] = self.fresh(self._root_name + "_part")
            self._to_print.append(key)
        return ast.Reference(name)

    def _print(self, key: Hashable) -> None:
        """Writes the rule of a lazy nonterminal."""
        bodies = self.lazy.bodies(key)
        if isinstance(bodies, GrammarTables):
            raise TypeError("the values of a node are written by `value`")
        parts = [ast.Sequence(tuple(map(self._written, body))) for body in bodies]
        self.rules.append(ast.Rule(self._printed[key], _alternatives(list(parts))))

    def _written(self, symbol: Symbol) -> ast.Expression:
        if isinstance(symbol, Lazy):
            node = self.lazy.node_of(symbol)
            return self.value(node) if node is not None else self._lazily(symbol.key)
        if isinstance(symbol, Capture):
            raise TypeError("nothing can be captured in a grammar that is printed")
        return _terminal(symbol)


def _terminal(regex: rx.Regex) -> ast.Expression:
    return ast.Literal(regex.data) if isinstance(regex, rx.Literal) else ast.RegexTerminal(regex)


def _alternatives(parts: list[ast.Expression]) -> ast.Expression:
    return parts[0] if len(parts) == 1 else ast.Choice(tuple(parts))


def _only_compound(shape: Shape) -> ArraySet | ObjectSet | None:
    """The part of a shape that is one set of arrays or of objects and nothing else."""
    if shape.size != 1 or shape.null or shape.booleans or shape.numbers or shape.strings:
        return None
    return shape.objects[0] if shape.objects else shape.arrays[0]


@cache
def _any_rules(whitespace: Whitespace, is_printed: bool) -> tuple[ast.Rule, ...]:
    """The rules of any JSON value, made once for each layout."""
    limits = Limits()
    options = SchemaOptions(whitespace=whitespace)
    space = Space(Document(True), options, limits, limits.deadline())
    return _writer(space, ANY, is_printed=is_printed).write(ANY, _ANY_VALUE).rules


def _writer(space: Space, root: Node, *, is_printed: bool) -> _Writer:
    """A writer for all that a root reaches."""
    shapes, productive = space.explore(root)

    def places_of(lazy: LazyRules, part: ArraySet | ObjectSet, number: int) -> Places:
        return ArrayPlaces(lazy, part, number) if isinstance(part, ArraySet) else ObjectPlaces(lazy, part, number)

    def tables_of(node: Node) -> GrammarTables:
        if node == ANY:
            return _any_tables(space.options.whitespace)
        return normalize(_Writer(lazy, is_printed=False).write(node), limits=space.limits)

    lazy = LazyRules(space, shapes, productive, places_of=places_of, tables_of=tables_of, captures=not is_printed)
    return _Writer(lazy, is_printed=is_printed)


@cache
def _any_tables(whitespace: Whitespace) -> GrammarTables:
    """Any JSON value, for use inside of other grammars."""
    return normalize(ast.Grammar(_any_rules(whitespace, False), _ANY_VALUE))
