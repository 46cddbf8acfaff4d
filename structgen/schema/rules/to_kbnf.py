"""From a JSON Schema to KBNF: the rules that the engine would make lazily, written down.

A schema with a required `name`, an optional `age` and no other keys becomes (in the compact layout)

    start ::= '{"name":' string value_after_name;
    value_after_name ::= '}' | ',' '"age":' integer '}';

with rules of their own for `string` and `integer`. Rules have names that say what they hold (`rule_names`); what stands
in one place only is written there (`inlining`). Two conditions of the engine's rules have no printed grammar of
reasonable size: that additional keys differ (here they may come twice; they are then one key, with the last value), and
that items do (`uniqueItems` is refused).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from itertools import islice
from typing import Any

from structgen.engine.deadlines import Deadline
from structgen.engine.grammar.tables import Capture, Lazy, Symbol
from structgen.engine.regex import tree as rx
from structgen.errors import LimitExceededError
from structgen.kbnf import ast
from structgen.kbnf.inlining import inlined
from structgen.kbnf.rewriting import sequence
from structgen.limits import Limits
from structgen.schema.algebra import Node, NumberSet, StringSet
from structgen.schema.algebra.numbers import DIGITS
from structgen.schema.formats.by_name import wider_regex
from structgen.schema.json_text.plain_numbers import with_any_length
from structgen.schema.json_text.strings import escaped, quoted
from structgen.schema.options import SchemaOptions
from structgen.schema.rules.arrays import ArrayRules
from structgen.schema.rules.lazy_rules import LazyRules
from structgen.schema.rules.objects import ObjectRules
from structgen.schema.rules.repetitions import repetition
from structgen.schema.rules.rule_names import ANY_VALUE, RuleNames, comment_of, identifier, kind_name, origin_of
from structgen.schema.rules.text_rules import TextRules
from structgen.schema.rules.to_rules import expressed, read_schema
from structgen.schema.rules.written_terminals import NAMES, WrittenTerminals
from structgen.schema.schema_warnings import warn

__all__ = ["json_schema_to_kbnf"]

_START = "start"
_MAX_RULES = 50_000


def json_schema_to_kbnf(
    json_schema: Any,
    options: SchemaOptions | None = None,
    *,
    start: str = _START,
    limits: Limits | None = None,
    deadline: Deadline | None = None,
    exact_formats: Collection[str] | None = None,
) -> ast.Grammar:
    """Return the grammar of the JSON texts whose values satisfy a schema.

    Args:
        json_schema: a JSON Schema: a dict, or a boolean.
        options: how it is read and written.
        start: the name of the first rule. No other rule has this name, nor `start`.
        limits: bounds on the cost of the translation.
        deadline: a running clock; by default one of `limits.compile_seconds` starts now.
        exact_formats: formats that are written exactly however large they are; None: all. Of the others, those that
            have a wider regex (`formats.by_name.wider_regex`) get it, with a `SchemaWarning`. Unless it is None,
            multiples of a step such as 7 may have any number of digits.

    Raises:
        SchemaError: not a schema.
        UnsupportedSchemaError: it cannot be expressed exactly.
        UnsatisfiableSchemaError: no value satisfies it.
        LimitExceededError: it costs more than `limits` allow.
        ValueError: a `start` that cannot be a name.
    """
    if not (start.isascii() and start.isidentifier()) or start.startswith(ANY_VALUE):
        raise ValueError(f"start must be an identifier that does not begin with {ANY_VALUE!r}, not {start!r}")
    limits = limits or Limits()
    deadline = deadline or Deadline(limits.compile_seconds)

    def write(lazy: LazyRules, root: Node) -> ast.Grammar:
        root_name = "value" if start == _START else start
        return _Writer(lazy, deadline, root_name, start, exact_formats).write(root)

    return read_schema(json_schema, write, options, captures=False, limits=limits, deadline=deadline)


_LEFT_OUT = {"regex": "syntax"}  # by format: the conditions that a wider regex leaves out, if not lengths


class _Writer:
    """A writer of all rules that a root node reaches."""

    def __init__(
        self,
        lazy: LazyRules,
        deadline: Deadline,
        root_name: str,
        start: str,
        exact_formats: Collection[str] | None,
    ) -> None:
        self.lazy = lazy
        self.layout = lazy.layout
        self.rules: list[ast.Rule] = []
        self._deadline = deadline
        self._start = start
        self._exact_formats = exact_formats
        self._wider: dict[int, rx.Regex] = {}  # by `id` of a terminal
        self._names = RuleNames(lazy.space, root_name, {_START, start, *NAMES})
        self._terminals = WrittenTerminals(lazy.layout, self._names.fresh)
        self._wishes: dict[int, tuple[str, str]] = {}  # by `id` of a terminal: a name for it, and where it comes from
        self._seen_symbols = 0
        self._values: dict[Node, ast.Expression] = {}
        self._rule_of: dict[Hashable, str] = {}
        self._node_of: dict[Hashable, Node] = {}  # the node that each lazy nonterminal comes from
        self._continuations: set[str] = set()  # rules of the rest of an object or array
        self._work: list[Hashable] = []

    def write(self, root: Node) -> ast.Grammar:
        """Return the grammar of a node."""
        name = self._names.titled(root) or self._start
        key = self._only_part(root) or ("value", root)
        self._values[root] = ast.Reference(name)
        self._rule_of[key] = name
        self._node_of[key] = root
        self._work.append(key)
        while self._work:
            key = self._work.pop()
            position = len(self.rules)
            body = expressed(lambda key=key: self._body(key), self.lazy.space, self._node_of[key])  # type: ignore[misc]
            self.rules.insert(position, self._rule(key, body))  # before the rules that it uses
            if len(self.rules) > _MAX_RULES:
                message = f"the grammar needs more than {_MAX_RULES} rules"
                raise LimitExceededError("grammar_symbols", _MAX_RULES, message=message, is_fixed=True)
            if not len(self.rules) & 255:
                self._deadline.check()
        first = [ast.Rule(self._start, ast.Reference(name))] if name != self._start else []
        rules = (*first, *self.rules, *self._terminals.rules.values())
        return inlined(ast.Grammar(rules, self._start), self._continuations)

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
        return self._names.fresh(base)

    def terminal(self, regex: rx.Regex) -> tuple[ast.Expression, ...]:
        """Return a sign of the layout as symbols."""
        return self._terminals.symbols(regex, "")

    def _rule(self, key: Any, body: ast.Expression) -> ast.Rule:
        space, node, name = self.lazy.space, self._node_of[key], self._rule_of[key]
        is_whole = name not in self._continuations
        return ast.Rule(name, body, comment_of(space, node) if is_whole else "", origin_of(space, node))

    def _only_part(self, node: Node) -> Hashable | None:
        """Return the key of the one set of arrays or objects that makes up a node; None for all other nodes."""
        alternatives = self._alternatives(node)
        only = alternatives[0] if len(alternatives) == 1 else None
        return only.key if isinstance(only, Lazy) else None

    def _alternatives(self, node: Node, values: frozenset[Any] = frozenset()) -> tuple[Symbol, ...]:
        """Return the symbols of a node's values, and keep names for its terminals."""
        found = self.lazy.alternatives(node, values)
        self._wish(node, [symbol for symbol in found if isinstance(symbol, rx.Regex)])
        return found

    def _wish(self, node: Node, terminals: list[rx.Regex]) -> None:
        """Keep a name for each terminal of a node: what it holds, or the name of the field."""
        shape = self.lazy.shapes[node]
        strings = [part for part in shape.strings if part.texts is None and not part.grammars]
        has_numbers = any(part.values is None or part.written != DIGITS for part in shape.numbers)
        of_strings = terminals[: len(terminals) - has_numbers][::-1]
        parts: dict[int, StringSet | NumberSet] = dict(zip(map(id, of_strings), strings[::-1]))
        if has_numbers and len(shape.numbers) == 1:
            parts[id(terminals[len(terminals) - 1])] = shape.numbers[0]
        for terminal in terminals:
            if id(terminal) not in self._wishes:
                part = parts.get(id(terminal))
                name = (kind_name(part) if part is not None else "") or self._names.of_node(node)
                origin = origin_of(self.lazy.space, node)
                self._wishes[id(terminal)] = name, origin
                if isinstance(part, NumberSet):
                    self._widen_numbers(terminal, part)
                wider = self._wider_string(part) if isinstance(part, StringSet) else None
                if wider is not None:
                    self._wider[id(terminal)] = wider[0]
                    self._wishes[id(terminal)] = identifier(wider[1].removeprefix("x-")), origin
                    missing = _LEFT_OUT.get(wider[1], "lengths")
                    message = (
                        f"#{origin}: the format {wider[1]!r} is written wider than it is: without all its {missing}"
                    )
                    warn(message)

    def _widen_numbers(self, terminal: rx.Regex, part: NumberSet) -> None:
        """Leave out the bound on the digits of multiples, where it makes the rules many times longer."""
        if self._exact_formats is not None and self.lazy.space.options.numbers == "plain":
            wider = with_any_length(part)
            if wider is not None:
                self._wider[id(terminal)] = wider

    def _wider_string(self, part: StringSet) -> tuple[rx.Regex, str] | None:
        """Return a wider regex of a set of strings, and its format; None where the exact one can be written."""
        if self._exact_formats is None:
            return None
        for language in part.within:
            kind, _, name = language.name.partition(" ")
            wider = wider_regex(name) if kind == "format" and name not in self._exact_formats else None
            if wider is not None:
                return quoted(escaped(wider)), name
        return None

    def _bodies(self, key: Any) -> list[tuple[Symbol, ...]]:
        """Return the bodies of a key; arrays and objects keep their own nonterminals, which have good names."""
        if key[0] == "value" or key[0] == "without":
            return [(symbol,) for symbol in self._alternatives(*key[1:])]
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
        self._wish_for_new_symbols()
        parts: list[ast.Expression] = []
        for body in bodies:
            found = sequence(part for symbol in body for part in self._symbols(symbol, node))
            parts.extend(found.parts if isinstance(found, ast.Choice) else (found,))
        return parts[0] if len(parts) == 1 else ast.Choice(tuple(parts))

    def _wish_for_new_symbols(self) -> None:
        """Keep names for the terminals that are all of a node's values: bodies have them in place of the node."""
        symbols = self.lazy.symbols
        new = list(islice(reversed(symbols.items()), len(symbols) - self._seen_symbols))
        for node, symbol in reversed(new):
            if isinstance(symbol, rx.Regex):
                self._wish(node, [symbol])
        self._seen_symbols = len(symbols)

    def _symbols(self, symbol: Symbol, node: Node) -> tuple[ast.Expression, ...]:
        if isinstance(symbol, Lazy):
            of = self.lazy.node_of(symbol)
            return (self.value(of) if of is not None else self._reference(symbol.key, node),)
        if isinstance(symbol, Capture):
            raise TypeError("a printed grammar cannot have captures")
        base = self._names.of_node(node)
        name, origin = self._wishes.get(id(symbol), (f"{base}_key", origin_of(self.lazy.space, node)))
        return self._terminals.symbols(self._wider.get(id(symbol), symbol), name, origin)

    def _reference(self, key: Hashable, node: Node) -> ast.Expression:
        """Return the nonterminal of a key."""
        name = self._rule_of.get(key)
        if name is None:
            name = self._rule_of[key] = self.fresh(self._name(key, node))
            self._node_of[key] = node
            self._work.append(key)
            if self._is_rest(key):
                self._continuations.add(name)
        return ast.Reference(name)

    def _is_rest(self, key: Any) -> bool:
        """Return whether a key stands for the rest of an object or array, not for a whole one."""
        return isinstance(key[0], int) and key[1] != "first"

    def _name(self, key: Any, node: Node) -> str:
        base = self._names.of_node(node)
        rules = self.lazy.numbered(key[0]) if isinstance(key[0], int) else None
        if isinstance(rules, ObjectRules) and len(self.lazy.shapes[node].objects) > 1:
            base = self._tag(rules) or base
        if not self._is_rest(key):
            return base
        if isinstance(rules, TextRules):
            return rules.name_of(key[2]) or base
        if isinstance(rules, ObjectRules):
            return self._names.of_object(base, key[1], rules.states, key[2])
        return self._names.of_array(base, key[1], key[2])

    def _tag(self, rules: ObjectRules) -> str:
        """Return the value of a required property that has only one, such as the tag of a union's member."""
        for entry in rules.states.properties:
            shape = self.lazy.shapes[entry.node]
            if entry.is_required and shape.size == 1 and len(shape.strings) == 1:
                texts = shape.strings[0].texts
                if texts is not None and len(texts) == 1:
                    return identifier(texts[0])
        return ""
