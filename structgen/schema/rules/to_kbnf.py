"""From a JSON Schema to KBNF: the rules that the engine would make lazily, written down.

A schema with a required `name`, an optional `age` and no other keys becomes (in the compact layout)

    start ::= '{"name":' string value_then_1;
    value_then_1 ::= '}' | ',' value_pair_1;
    value_pair_1 ::= '"age":' integer value_then_2;
    value_then_2 ::= '}';

where `string` and `integer` stand for regexes. Two conditions of the engine's rules have no printed grammar of
reasonable size: that additional keys differ (here they may come twice; they are then one key, with the last value), and
that items do (`uniqueItems` is refused).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from structgen.engine.grammar.tables import Capture, Lazy, Symbol
from structgen.engine.regex import tree as rx
from structgen.errors import LimitExceededError
from structgen.kbnf import ast
from structgen.limits import Deadline, Limits
from structgen.schema.algebra import ANY, Node
from structgen.schema.options import SchemaOptions
from structgen.schema.rules.arrays import ArrayRules
from structgen.schema.rules.lazy_rules import LazyRules
from structgen.schema.rules.repetitions import repetition, terminal
from structgen.schema.rules.states import ArrayState, ObjectState
from structgen.schema.rules.to_rules import expressed, read_schema

__all__ = ["json_schema_to_kbnf"]

_START = "start"
_ANY_VALUE = "json"
_MAX_RULES = 50_000


def json_schema_to_kbnf(
    json_schema: Any,
    options: SchemaOptions | None = None,
    *,
    start: str = _START,
    limits: Limits | None = None,
    deadline: Deadline | None = None,
) -> ast.Grammar:
    """Return the grammar of the JSON texts whose values satisfy a schema.

    Args:
        json_schema: a JSON Schema: a dict, or a boolean.
        options: how it is read and written.
        start: the name of the first rule. No other rule has this name, nor `start`.
        limits: bounds on the cost of the translation.
        deadline: a running clock; by default one of `limits.compile_seconds` starts now.

    Raises:
        SchemaError: not a schema.
        UnsupportedSchemaError: it cannot be expressed exactly.
        UnsatisfiableSchemaError: no value satisfies it.
        LimitExceededError: it costs more than `limits` allow.
        ValueError: a `start` that cannot be a name.
    """
    if not (start.isascii() and start.isidentifier()) or start.startswith(_ANY_VALUE):
        raise ValueError(f"start must be an identifier that does not begin with {_ANY_VALUE!r}, not {start!r}")
    limits = limits or Limits()
    deadline = deadline or limits.deadline()

    def write(lazy: LazyRules, root: Node) -> ast.Grammar:
        return _Writer(lazy, deadline, "value" if start == _START else start).write(root, start)

    return read_schema(json_schema, write, options, captures=False, limits=limits, deadline=deadline)


class _Writer:
    """A writer of all rules that a root node reaches."""

    def __init__(self, lazy: LazyRules, deadline: Deadline, root_name: str) -> None:
        self.lazy = lazy
        self.layout = lazy.layout
        self.rules: list[ast.Rule] = []
        self._deadline = deadline
        self._root_name = root_name
        self._names: set[str] = {_START}
        self._numbers: dict[str, int] = {}  # the last number after each base name
        self._values: dict[Node, ast.Expression] = {}
        self._rule_of: dict[Hashable, str] = {}
        self._node_of: dict[Hashable, Node] = {}  # the node that each lazy nonterminal comes from
        self._work: list[Hashable] = []

    def write(self, root: Node, start: str) -> ast.Grammar:
        """Return the grammar of a node."""
        self._names.add(start)
        key = self._only_part(root) or ("value", root)
        self._values[root] = ast.Reference(start)
        self._rule_of[key] = start
        self._node_of[key] = root
        self._work.append(key)
        while self._work:
            key = self._work.pop()
            position = len(self.rules)
            body = expressed(lambda key=key: self._body(key), self.lazy.space, self._node_of[key])  # type: ignore[misc]
            self.rules.insert(position, ast.Rule(self._rule_of[key], body))  # before the rules that it uses
            if len(self.rules) > _MAX_RULES:
                limit = self.lazy.space.limits.grammar_symbols
                raise LimitExceededError(
                    "grammar_symbols", limit, message=f"the grammar needs more than {_MAX_RULES} rules"
                )
            if not len(self.rules) & 255:
                self._deadline.check()
        return ast.Grammar(tuple(self.rules), start)

    def value(self, node: Node) -> ast.Expression:
        """Return an expression of the values of a node: a terminal, a choice of terminals, or a nonterminal."""
        found = self._values.get(node)
        if found is None:
            bodies = self._bodies(("value", node))
            if all(isinstance(symbol, rx.Regex) for body in bodies for symbol in body):
                found = self._written(bodies, node)
            else:
                found = self._reference(self._only_part(node) or ("value", node), node)
            self._values[node] = found
        return found

    def fresh(self, base: str) -> str:
        """Return a nonterminal's name that is not used yet."""
        name, number = base, self._numbers.get(base, 1)
        while name in self._names:
            number += 1
            name = f"{base}_{number}"
        self._numbers[base] = number
        self._names.add(name)
        return name

    def _only_part(self, node: Node) -> Hashable | None:
        """Return the key of the one set of arrays or objects that makes up a node; None for all other nodes."""
        alternatives = self.lazy.alternatives(node)
        only = alternatives[0] if len(alternatives) == 1 else None
        return only.key if isinstance(only, Lazy) else None

    def _bodies(self, key: Any) -> list[tuple[Symbol, ...]]:
        """Return the bodies of a key; arrays and objects keep their own nonterminals, which have good names."""
        if key[0] == "value" or key[0] == "without":
            return [(symbol,) for symbol in self.lazy.alternatives(*key[1:])]
        return [tuple(body) for body in self.lazy.bodies(key)]

    def _body(self, key: Any) -> ast.Expression:
        """Return the expression of a lazy nonterminal."""
        number, *inner = key
        if inner[0] == "first" and isinstance(number, int):
            rules = self.lazy.numbered(number)
            if isinstance(rules, ArrayRules) and rules.is_repetition(inner[1]):
                return repetition(self, rules.part, rules.max_items, self._rule_of[key])
        return self._written(self._bodies(key), self._node_of[key])

    def _written(self, bodies: list[tuple[Symbol, ...]], node: Node) -> ast.Expression:
        parts = [_sequence([self._symbol(symbol, node) for symbol in body]) for body in bodies]
        return parts[0] if len(parts) == 1 else ast.Choice(tuple(parts))

    def _symbol(self, symbol: Symbol, node: Node) -> ast.Expression:
        if isinstance(symbol, Lazy):
            of = self.lazy.node_of(symbol)
            return self.value(of) if of is not None else self._reference(symbol.key, node)
        if isinstance(symbol, Capture):
            raise TypeError("a printed grammar cannot have captures")
        return terminal(symbol)

    def _reference(self, key: Hashable, node: Node) -> ast.Expression:
        """Return the nonterminal of a key."""
        name = self._rule_of.get(key)
        if name is None:
            name = self._rule_of[key] = self.fresh(self._name(key, node))
            self._node_of[key] = node
            self._work.append(key)
        return ast.Reference(name)

    def _name(self, key: Any, node: Node) -> str:
        base = _ANY_VALUE if node == ANY else self._base_name(node)
        number, kind, *states = key
        if not isinstance(number, int) or kind == "first":
            return base
        state = states[0]
        if isinstance(state, ObjectState):
            state = state.progress
        elif isinstance(state, ArrayState):
            state = state.written
        return f"{base}_{kind}_{state}"

    def _base_name(self, node: Node) -> str:
        location = self.lazy.space.location(node)
        if location is None:
            return self._root_name
        name = location[1]
        if not (name.isascii() and name.isidentifier()) or name.startswith(_ANY_VALUE):
            name = f"value_{name}" if name.isascii() and f"v{name}".isidentifier() else "value"
        return name


def _sequence(parts: list[ast.Expression]) -> ast.Expression:
    return parts[0] if len(parts) == 1 else ast.Sequence(tuple(parts))
