"""Rules made when the engine predicts them: the bodies of a schema's lazy nonterminals.

The rules follow the schema's nodes (sets of values). Keys of nonterminals:

("value", node)              the values of a node
("without", node, values)    the values of a node except some, which were seen before
(number, kind, state)        the rest of an array or object of one set, from a state on; `number` is the set's

For an object with a required `name`, an optional `age` and no other keys, whose set has the number 0:

    ("value", person)   ->   {"name":  string   (0, "then", 1)
    (0, "then", 1)      ->   }    or   ,  (0, "pair", 1)
    (0, "pair", 1)      ->   "age":  integer   (0, "then", 2)
    (0, "then", 2)      ->   }

`{"name":` is one terminal, so a model's mask forces all of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Sequence
from itertools import islice
from typing import Any, Protocol

from structgen.engine.deadlines import Deadline
from structgen.engine.grammar.tables import Ladder, Lazy, Refusals, Symbol
from structgen.engine.regex.tree import Regex
from structgen.schema.algebra import (
    ALL_NUMBERS,
    ALL_STRINGS,
    ANY,
    INTEGERS,
    NONE,
    OPEN,
    Inexpressible,
    Node,
    NumberSet,
    StringSet,
    meet,
)
from structgen.schema.algebra.array_unions import apart
from structgen.schema.algebra.arrays import ArraySet
from structgen.schema.algebra.objects import ObjectSet
from structgen.schema.algebra.shape import Shape
from structgen.schema.algebra.text_grammars import JsonContent, TextGrammar
from structgen.schema.json_text.terminals import is_long, is_surely_expressible
from structgen.schema.json_text.values import Value, numbers_of, strings_of, thaw, too_deep
from structgen.schema.reading.emptiness import children
from structgen.schema.reading.exploration import explore, split_items
from structgen.schema.reading.space import Space
from structgen.schema.rules.clause_search import Splits
from structgen.schema.rules.notation import JsonNotation, Notation
from structgen.schema.rules.states import MAX_COUNTED_KEYS
from structgen.schema.rules.written_numbers import WrittenNumbers, number_pieces, surely_many
from structgen.schema.rules.written_sets import Written

__all__ = ["PAIR", "LazyRules", "SetRules", "reaches_grammar"]

Bodies = Sequence[Sequence[Symbol]]

PAIR = "pair"  # the kind of nonterminals that ladders are made of
_MAX_DEPTH = 4
_MAX_NESTED = 8  # calls of `LazyRules.alternatives` within each other
_NO_DEADLINE = Deadline(math.inf)
_NO_VALUES: frozenset[Value] = frozenset()


class _Deeper(Exception):
    """Raised where alternatives depend on others that have to be found first: the values nest deep.

    Attributes:
        question: the arguments of `LazyRules.alternatives`.
    """

    def __init__(self, question: tuple[Node, Written]) -> None:
        self.question = question


class SetRules(Protocol):
    """The rules of one set of arrays or of objects, for states: descriptions of what was written so far."""

    @property
    def part(self) -> ArraySet | ObjectSet | TextGrammar | JsonContent:
        """The set."""

    def start(self, avoid: frozenset[Value]) -> Any:
        """Return the state before the first item or pair. Values in `avoid` are excluded from the set."""

    def is_alive(self, state: Any) -> bool:
        """Return whether a value of the set can still be completed from a state."""

    def bodies(self, kind: Any, state: Any) -> Bodies:
        """Return the bodies of a kind of nonterminal in a state."""

    def ladder(self, state: Any) -> Ladder | None:
        """Return the bodies of a PAIR in a state and of those after it, where they share them. See `Ladder`."""

    def after(self, then: Any, text: bytes | None) -> tuple[str | int, Any] | None:
        """Return the kind and the state after a capture; None where the text is refused. See `RuleSource.after`."""

    def refusals(self, then: Any, begun: bytes) -> Refusals:
        """Return the completions that are refused after some bytes of a capture. See `RuleSource.refusals`."""

    def remaining(self, then: Any, least: int) -> Regex:
        """Return the terminal of a capture without long refused texts. See `RuleSource.remaining`."""

    def least_bytes(self, kind: Any, state: Any) -> int:
        """Return a lower bound of the bytes of a kind of nonterminal in a state. See `RuleSource.least_bytes`."""

    def forget(self) -> None:
        """Drop what was computed for written texts. See `RuleSource.forget`."""


class LazyRules:
    """The `RuleSource` of a schema: makes the bodies of lazy nonterminals when they are first needed.

    Args:
        space: gives the shapes of nodes; it is used as long as the grammar.
        shapes, productive: results of exploring the root node: the shape of each node, and the nodes with a value. Both
            grow.
        make_rules: makes the rules of a set of arrays or objects; gets this object, the set and the set's number.
        notation: spells scalars, keys and punctuation.
        captures: whether written text may decide what follows. Printed grammars cannot do that.

    Attributes:
        symbols: the symbol of each node that was asked for.
        lookaheads: the look-aheads of the grammars of strings, for the tables.
        splits: see `Clauses`.
    """

    def __init__(
        self,
        space: Space,
        shapes: dict[Node, Shape],
        productive: set[Node],
        make_rules: Callable[[LazyRules, ArraySet | ObjectSet | TextGrammar | JsonContent, int], SetRules],
        notation: Notation,
        *,
        captures: bool = True,
    ) -> None:
        self.space = space
        self.shapes = shapes
        self.productive = productive
        self.options = space.options
        self.notation = notation
        self.layout = notation.layout
        self.captures = captures
        self._make_rules = make_rules
        self._set_rules: list[SetRules] = []
        self._numbers: dict[int, int] = {}  # by `id` of a set, which its rules keep alive
        self.symbols: dict[Node, Symbol] = {}
        self._enums: dict[frozenset[Value], Node] = {}
        self._alternatives: dict[Hashable, tuple[Symbol, ...]] = {}
        self._apart: dict[int, tuple[ArraySet, list[ArraySet]]] = {}  # by identity: sets with clauses as sets without
        self._numbers_except = WrittenNumbers()
        self._nested = 0  # calls of `alternatives` under way
        self.lookaheads: list[Regex] = []
        self.splits: Splits = {}
        self._has_grammars = False  # whether one of the first `_searched` shapes has strings of a grammar
        self._searched = 0
        self._without_captures: LazyRules | None = self if not captures else None

    # --- the engine's side: RuleSource -------------------------------------------------------------------------------

    def bodies(self, key: Any) -> Bodies:
        """Return the bodies of a lazy nonterminal. See `RuleSource.bodies`."""
        space = self.space
        space.begin_again(_NO_DEADLINE)  # the compile's has passed; the mask's is the running one
        try:
            return self._bodies(key)
        except RecursionError as error:  # keys hold written values, which are compared
            raise too_deep() from error

    def bodies_or_ladder(self, key: Any) -> Bodies | Ladder:
        """Return the bodies of a lazy nonterminal, or those of several. See `Ladder`."""
        first = key[0]
        space = self.space
        space.begin_again(_NO_DEADLINE)  # see `bodies`
        try:
            if isinstance(first, int) and key[1] == PAIR:
                rules: SetRules = self._set_rules[first]
                found = rules.ladder(key[2])
                if found is not None:
                    return found
            return self._bodies(key)
        except RecursionError as error:
            raise too_deep() from error

    def _bodies(self, key: Any) -> Bodies:
        first = key[0]
        if isinstance(first, int):
            rules: SetRules = self._set_rules[first]
            return rules.bodies(key[1], key[2])
        found: list[Sequence[Symbol]] = []
        for symbol in self.alternatives(key[1]) if first == "value" else self.alternatives(key[1], key[2]):
            # The bodies of an array or object replace its nonterminal: one prediction less.
            found += self._bodies(symbol.key) if isinstance(symbol, Lazy) else [(symbol,)]
        return found

    def after(self, then: Any, text: bytes | None) -> Hashable | None:
        """Return the key of the nonterminal after a capture. See `RuleSource.after`."""
        number, inner = then
        rules: SetRules = self._set_rules[number]
        after = rules.after(inner, text)
        return None if after is None else (number, after[0], after[1])

    def refusals(self, then: Any, begun: bytes) -> Refusals:
        """Return the completions that are refused after some bytes of a capture. See `RuleSource.refusals`."""
        rules: SetRules = self._set_rules[then[0]]
        return rules.refusals(then[1], begun)

    def remaining(self, then: Any, least: int) -> Regex:
        """Return the terminal of a capture without long refused texts. See `RuleSource.remaining`."""
        rules: SetRules = self._set_rules[then[0]]
        return rules.remaining(then[1], least)

    def least_bytes(self, key: Any) -> int:
        """Return a lower bound of the bytes of a nonterminal's texts. See `RuleSource.least_bytes`."""
        first = key[0]
        if first == "value" or first == "without":
            return 1
        rules: SetRules = self._set_rules[first]
        return rules.least_bytes(key[1], key[2])

    def forget(self) -> None:
        """Drop what was computed for written texts. See `RuleSource.forget`."""
        self._alternatives.clear()
        self.splits.clear()
        self._numbers_except.forget()
        for rules in self._set_rules:
            rules.forget()

    # --- nodes -------------------------------------------------------------------------------------------------------

    def holds(self, node: Node) -> bool:
        """Return whether a node has a value."""
        if node in self.productive:
            return True
        if node not in self.shapes:
            shapes, productive = explore(self.space, node)
            self.shapes.update(shapes)
            self.productive |= productive
        return node in self.productive

    def not_surely_writable(self, nodes: set[Node]) -> list[Node]:
        """Return those of some nodes whose rules may raise an error; see `_is_surely_writable`."""
        shapes = self.shapes
        return [node for node in nodes if not _is_surely_writable(shapes[node])]

    def symbol(self, node: Node) -> Symbol:
        """Return the symbol that derives the values of a node, which must have some."""
        found = self.symbols.get(node)
        if found is None:
            found = self.symbols[node] = self._symbol(node)
        return found

    def _symbol(self, node: Node) -> Symbol:
        shape = self.shapes[node]
        if not shape.arrays and not shape.objects:
            terminals = self.scalars(shape)
            if len(terminals) == 1 and not isinstance(terminals[0], Lazy):
                return terminals[0]
        return Lazy(("value", node))

    def late_symbol(self, node: Node) -> Symbol:
        """Return the symbol of a node whose values may never be written: an optional property, one of many.

        Known texts, patterns and ranges get a nonterminal, so that the terminal is made where a value begins, not with
        the keys. Other scalars have terminals that all schemas share.
        """
        found = self.symbols.get(node)
        if found is not None:
            return found
        if self.captures and _has_own_terminals(self.shapes[node]):
            return Lazy(("value", node))
        return self.symbol(node)

    def node_of(self, symbol: Lazy) -> Node | None:
        """Return the node whose values a lazy nonterminal derives; None for nonterminals of another kind."""
        key: Any = symbol.key
        return key[1] if key[0] == "value" else None

    def among(self, values: Collection[Value], node: Node = ANY) -> Node:
        """Return the node of those of some values that are in `node`."""
        key = frozenset(values)
        found = self._enums.get(key)
        if found is None:
            enum = {"enum": list(map(thaw, values))}
            found = self._enums[key] = self.space.node(enum, self.space.location(node)) if values else NONE
        return meet(node, found)

    # --- values except some ------------------------------------------------------------------------------------------

    def symbol_without(self, node: Node, values: Written) -> Symbol:
        """Return the symbol that derives the values of a node except some."""
        return Lazy(("without", node, values)) if values else self.symbol(node)

    def holds_without(self, node: Node, values: frozenset[Value]) -> bool:
        """Return whether a node has values other than some."""
        if not values or not self.holds(node):
            return self.holds(node)
        return _has_endless_scalars(self.shapes[node]) or bool(self.alternatives(node, values))

    def alternatives(self, node: Node, values: Written = _NO_VALUES) -> tuple[Symbol, ...]:
        """Return the symbols that derive the values of a node except some: terminals, and nonterminals of sets."""
        found = self._alternatives.get((node, values) if values else node)
        return self._find_alternatives(node, values) if found is None else found

    def _find_alternatives(self, node: Node, values: Written) -> tuple[Symbol, ...]:
        """Find and keep alternatives. Those without arrays depend on the items' without the arrays' items, and so on.

        Values may nest deeper than functions may call each other. So past a few levels the outermost call begins again,
        after it has found what the innermost one was asked for.
        """
        if self._nested == _MAX_NESTED:
            raise _Deeper((node, values))
        waiting = [(node, values)]
        found: tuple[Symbol, ...] = ()
        while waiting:
            at, without = waiting[len(waiting) - 1]
            self._nested += 1
            try:
                found = self._made_alternatives(at, without)
            except _Deeper as error:
                if self._nested > 1:
                    raise
                waiting.append(error.question)
                continue
            finally:
                self._nested -= 1
            self._alternatives[(at, without) if without else at] = found
            waiting.pop()
        return found

    def _made_alternatives(self, node: Node, values: Written) -> tuple[Symbol, ...]:
        self.holds(node)
        return self.symbols_of(self.shapes[node], values)

    def symbols_of(self, shape: Shape, values: Written) -> tuple[Symbol, ...]:
        """Return the symbols that derive the values of a shape except some."""
        found: list[Symbol] = []
        if shape.null or shape.booleans or shape.numbers or shape.strings:
            found += self._scalars_without(shape, values) if values else self.scalars(shape)
        for array in shape.arrays:
            avoid = _of_type("array", values) if values else _NO_VALUES
            for part in self._without_clauses(array, avoid) if array.clauses else (array,):
                self._add_first(part, avoid, bool(values or array.clauses), found)
        for members in shape.objects:
            self._add_first(members, _of_type("object", values) if values else _NO_VALUES, bool(values), found)
        return tuple(found)

    def _without_clauses(self, part: ArraySet, avoid: frozenset[Value]) -> list[ArraySet]:
        """Return sets of arrays without clauses instead of a set with some, if its rules cannot capture its items."""
        can_capture = self.captures and isinstance(self.notation, JsonNotation) and not avoid
        if can_capture and not reaches_grammar(self, Shape(arrays=(part,))):
            return [part]
        known = self._apart.get(id(part))
        if known is None:  # the set is kept, so that no other one gets its identity
            known = self._apart[id(part)] = part, apart(part)
            for array in known[1]:
                split_items(self.space, array)
        return known[1]

    def others_without(self, node: Node, values: Written) -> tuple[Symbol, ...]:
        """Return the symbols that derive the values of a node except strings and some values."""
        shape = self.shapes[node]
        others = Shape(shape.null, shape.booleans, shape.numbers, (), shape.arrays, shape.objects)
        return self.symbols_of(others, values)

    def strings_without(self, node: Node, values: Written) -> Sequence[Symbol]:
        """Return the symbols that derive the strings of a node except some."""
        return self.scalars(Shape(strings=_strings_without(self.shapes[node].strings, values)))

    def _add_first(
        self, part: ArraySet | ObjectSet, avoid: frozenset[Value], may_be_dead: bool, found: list[Symbol]
    ) -> None:
        """Add the symbol of a set of arrays or objects without some values, if any are left."""
        rules, number = self.rules_of(part)
        state = rules.start(avoid)
        if not may_be_dead or rules.is_alive(state):
            found.append(Lazy((number, "first", state)))

    # --- scalars -----------------------------------------------------------------------------------------------------

    def scalars(self, shape: Shape) -> Sequence[Symbol]:
        """Return the symbols of a shape's scalars: those of the notation, and a nonterminal for each grammar.

        Raises:
            Inexpressible: no rules can express a part.
        """
        for part in shape.strings:
            if part.grammars:
                return self._with_grammars(shape)
        return self.notation.scalars(shape)

    def _scalars_without(self, shape: Shape, values: Written) -> Sequence[Symbol]:
        """Return the symbols of a shape's scalars except some values."""
        numbers: Regex | None = None
        if shape.numbers and self.captures and isinstance(self.notation, JsonNotation):
            numbers = self._numbers_except.terminal(shape.numbers, values, is_plain=self.notation.is_plain)
        if numbers is not None:
            return [*self.scalars(_shape_without(shape, values, ())), numbers]
        try:
            return self.scalars(_shape_without(shape, values, _numbers_without(shape.numbers, values)))
        except Inexpressible:  # no number that is left can be written
            return self.scalars(_shape_without(shape, values, ()))

    def check(self, shape: Shape) -> None:
        """Make the symbols of a shape's scalars, to find out whether they can be made.

        Raises:
            Inexpressible: no rules can express a part.
        """
        if any(part.grammars for part in shape.strings):
            self._with_grammars(shape)
        else:
            self.notation.check(shape)

    def _with_grammars(self, shape: Shape) -> Sequence[Symbol]:
        plain = tuple([part for part in shape.strings if not part.grammars])
        found = list(self.notation.scalars(Shape(shape.null, shape.booleans, shape.numbers, plain)))
        for part in shape.strings:
            if part.grammars:
                keyword = part.grammars[0].name.partition(" ")[0]
                if not isinstance(self.notation, JsonNotation):
                    raise Inexpressible(keyword, "the values are not written as JSON")
                is_more = part.high is not None or part.within or part.outside or part.excluded
                if len(part.grammars) > 1 or part.low > 1 or is_more:
                    raise Inexpressible(keyword, "the string has other conditions beside it")
                _, number = self.rules_of(part.grammars[0])
                found.append(Lazy((number, "first", part.low == 0)))
        return found

    def has_grammars(self) -> bool:
        """Return whether any shape made so far has strings of a grammar. Mostly none has, and nothing is searched."""
        if not self._has_grammars and self._searched < len(self.shapes):
            new = islice(self.shapes.values(), self._searched, None)
            self._has_grammars = any(part.grammars for shape in new for part in shape.strings)
            self._searched = len(self.shapes)
        return self._has_grammars

    def without_captures(self) -> LazyRules:
        """Return rules of the same nodes in which written text does not decide what follows."""
        if self._without_captures is None:
            self._without_captures = LazyRules(
                self.space, self.shapes, self.productive, self._make_rules, self.notation, captures=False
            )
        return self._without_captures

    # --- sets of arrays and objects ----------------------------------------------------------------------------------

    def rules_of(self, part: ArraySet | ObjectSet | TextGrammar | JsonContent) -> tuple[SetRules, int]:
        """Return the rules of a set of arrays or of objects, and the set's number."""
        number = self._numbers.get(id(part))
        if number is None:
            number = len(self._set_rules)
            self._set_rules.append(self._make_rules(self, part, number))  # after an error, nothing half made is left
            self._numbers[id(part)] = number
        return self.numbered(number), number

    def numbered(self, number: int) -> SetRules:
        """Return the rules of the set with a number."""
        return self._set_rules[number]

    def is_endless(self, node: Node, depth: int = _MAX_DEPTH) -> bool:
        """Return whether a node surely has infinitely many values, looking `depth` levels deep."""
        if depth == 0 or not self.holds(node):
            return False
        shape = self.shapes[node]
        return (
            _has_endless_scalars(shape)
            or any(self._is_endless_array(part, depth - 1) for part in shape.arrays)
            or any(self._is_endless_object(part, depth - 1) for part in shape.objects)
        )

    def least_values(self, node: Node) -> float:
        """Return a lower bound of the number of a node's values; infinity where they are surely infinitely many."""
        if self.is_endless(node):
            return math.inf
        if not self.holds(node):
            return 0
        shape = self.shapes[node]
        found: float = 0
        for numbers in shape.numbers:
            found = max(found, surely_many(numbers))
        for strings in shape.strings:
            found = max(found, strings.surely_many())
        return found

    def _is_endless_array(self, part: ArraySet, depth: int) -> bool:
        if part.high == 0 or part.contains or part.clauses or part.repeats:  # these may leave the first item no choice
            return False
        return self.is_endless(part.at(0), depth)

    def _is_endless_object(self, part: ObjectSet, depth: int) -> bool:
        if part.clauses or part.somewhere:  # they may need all the keys that the object may have
            return False
        is_full = part.high is not None and part.high <= len(part.required)
        keys = part.required if is_full else part.properties
        if any(self.is_endless(part.at(key), depth) for key in keys):
            return True
        if is_full or part.overlapping:
            return False
        unnamed = StringSet(excluded=tuple(part.properties))
        return any(self.is_endless(node, depth) and keys.intersect(unnamed) is not None for keys, node in part.classes)


def reaches_grammar(lazy: LazyRules, shape: Shape) -> bool:
    """Return whether a string of a grammar is anywhere in the values of a shape. Such values are not captured."""
    if not lazy.has_grammars():
        return any(part.grammars for part in shape.strings)
    waiting, seen = [shape], set[Node]()
    while waiting:
        at = waiting.pop()
        if any(part.grammars for part in at.strings):
            return True
        new = [node for node in children(at) if node in lazy.shapes and node not in seen]
        seen.update(new)
        waiting += [lazy.shapes[node] for node in new]
    return False


def _is_surely_writable(shape: Shape) -> bool:
    """Return whether the rules of a shape surely raise nothing, so that they need not be tried in the compile."""
    if (shape.numbers or shape.strings) and (not is_surely_expressible(shape) or is_long(shape)):
        return False
    for items in shape.arrays:
        if items.contains or items.clauses or items.repeats is not None:
            return False
    for members in shape.objects:
        if (members.classes and members.classes is not OPEN) or members.overlapping or members.clauses:
            return False
        if members.somewhere or members.low > MAX_COUNTED_KEYS:
            return False
        for key in members.properties:
            if not key.isascii():
                return False
        for key in members.required:
            if not key.isascii():
                return False
    return True


def _of_type(kind: str, values: Written) -> frozenset[Value]:
    """Return the values of one JSON type."""
    return frozenset([value for value in values if value[0] == kind])


def _has_own_terminals(shape: Shape) -> bool:
    """Return whether the scalars of a shape are known texts, or bounded by patterns or ranges."""
    strings, numbers = shape.strings, shape.numbers
    if numbers and numbers is not ALL_NUMBERS and numbers is not INTEGERS:
        return True
    if strings is ALL_STRINGS:
        return False
    for part in strings:  # noqa: SIM110  (a generator is more code, and each compile comes here)
        if part.texts is not None or part.has_pattern:
            return True
    return False


def _has_endless_scalars(shape: Shape) -> bool:
    """Return whether a shape surely has infinitely many scalars."""
    for numbers in shape.numbers:
        if numbers.values is None and (numbers.low is None or numbers.high is None):
            return True
    for strings in shape.strings:  # noqa: SIM110  (no generator: this is asked after each item)
        if strings.is_surely_endless():
            return True
    return False


def _shape_without(shape: Shape, values: Written, numbers: tuple[NumberSet, ...]) -> Shape:
    """Return the scalars of a shape except some values, with the numbers that are given."""
    booleans = shape.booleans
    for value in values:
        if value[0] == "boolean":
            booleans &= ~(2 if value[1] else 1)
    return Shape(
        shape.null and ("null",) not in values,
        booleans,
        numbers,
        _strings_without(shape.strings, values),
    )


def _numbers_without(parts: tuple[NumberSet, ...], values: Written) -> tuple[NumberSet, ...]:
    numbers = sorted(numbers_of(values))
    return tuple([rest for part in parts for rest in number_pieces(part, numbers)]) if numbers else parts


def _strings_without(parts: tuple[StringSet, ...], values: Written) -> tuple[StringSet, ...]:
    texts = strings_of(values)
    if not texts:
        return parts
    others = StringSet(excluded=texts)
    return tuple(both for part in parts if (both := part.intersect(others)) is not None)
