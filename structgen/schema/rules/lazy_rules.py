"""Rules that are made when the engine predicts them: the source of a schema's lazy nonterminals.

Keys of nonterminals:

("value", node)              the values of a node
("without", node, values)    the values of a node but for some, which were seen before
(number, kind, state)        a place in the sets of objects (`objects`) or of arrays (`arrays`) of that number
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any, Protocol

from structgen.engine.grammar.tables import Lazy, Spelling, Symbol
from structgen.engine.regex.tree import Regex
from structgen.schema.algebra import ANY, NONE, ArraySet, Node, NumberSet, ObjectSet, StringSet, meet
from structgen.schema.algebra.shape import Shape
from structgen.schema.json_text.layout import LAYOUTS
from structgen.schema.json_text.terminals import scalar_terminals
from structgen.schema.json_text.values import Value, not_too_deep, numbers_of, strings_of, thaw
from structgen.schema.reading.exploration import explore
from structgen.schema.reading.space import Space

__all__ = ["LazyRules", "Places"]

Bodies = Sequence[Sequence[Symbol]]

_DEPTH = 4
_NO_VALUES: frozenset[Value] = frozenset()


class Places(Protocol):
    """The rules of one set of arrays or of objects, by place: a state says what was written before."""

    @property
    def part(self) -> ArraySet | ObjectSet:
        """The set."""

    def start(self, avoid: frozenset[Value]) -> Any:
        """The state before the first member; values in `avoid` are left out of the set."""

    def is_alive(self, state: Any) -> bool:
        """Whether a member of the set can still be written."""

    def bodies(self, kind: Any, state: Any) -> Bodies:
        """What a place derives."""

    def after(self, then: Any, text: bytes | None) -> tuple[str | int, Any] | None:
        """Kind and state after a capture; None where the text is refused."""

    def refusals(self, then: Any, begun: bytes) -> tuple[Sequence[Spelling], Sequence[Spelling]]:
        """As of a `RuleSource`."""

    def remaining(self, then: Any) -> Regex:
        """As of a `RuleSource`."""


class LazyRules:
    """Makes the bodies of lazy nonterminals over one space.

    Args:
        space: where shapes come from; it stays in use as long as the grammar.
        shapes, productive: what `Space.explore` said of the root. They grow.
        places_of: makes the rules of a set of arrays or objects; gets this object, the set and its number.
        captures: whether what was written may decide what follows. Grammars that are printed cannot.
    """

    def __init__(
        self,
        space: Space,
        shapes: dict[Node, Shape],
        productive: set[Node],
        places_of: Callable[[LazyRules, ArraySet | ObjectSet, int], Places],
        *,
        captures: bool = True,
    ) -> None:
        self.space = space
        self.shapes = shapes
        self.productive = productive
        self.options = space.options
        self.layout = LAYOUTS[space.options.whitespace]
        self.captures = captures
        self._deadline = space.limits.deadline()
        self._places_of = places_of
        self._places: list[Places] = []
        self._numbers: dict[int, int] = {}  # by the identity of a part, which its places keep alive
        self._symbols: dict[Node, Symbol] = {}
        self._enums: dict[frozenset[Value], Node] = {}
        self._alternatives: dict[Hashable, tuple[Symbol, ...]] = {}

    # --- what the engine asks ----------------------------------------------------------------------------------------

    def bodies(self, key: Any) -> Bodies:
        """See `RuleSource`."""
        self.space.deadline = self._deadline
        self._deadline.restart()  # a mask is made, long after the compile
        first = key[0]
        if first != "value" and first != "without":
            places: Places = self._places[first]
            return places.bodies(key[1], key[2])
        found: list[Sequence[Symbol]] = []
        for symbol in self.alternatives(key[1]) if first == "value" else self.alternatives(key[1], key[2]):
            # The place before an array or object is no nonterminal of its own: one less to predict.
            found += self.bodies(symbol.key) if isinstance(symbol, Lazy) else [(symbol,)]
        return found

    def after(self, then: Any, text: bytes | None) -> Hashable | None:
        """See `RuleSource`."""
        number, place = then
        places: Places = self._places[number]
        after = places.after(place, text)
        return None if after is None else (number, after[0], after[1])

    def refusals(self, then: Any, begun: bytes) -> tuple[Sequence[Spelling], Sequence[Spelling]]:
        """See `RuleSource`."""
        places: Places = self._places[then[0]]
        return places.refusals(then[1], begun)

    def remaining(self, then: Any) -> Regex:
        """See `RuleSource`."""
        places: Places = self._places[then[0]]
        return places.remaining(then[1])

    # --- nodes -------------------------------------------------------------------------------------------------------

    def holds(self, node: Node) -> bool:
        """Whether a node has a value."""
        if node in self.productive:
            return True
        if node not in self.shapes:
            shapes, productive = explore(self.space, node)
            self.shapes.update(shapes)
            self.productive |= productive
        return node in self.productive

    def symbol(self, node: Node) -> Symbol:
        """What derives the values of a node that has some."""
        found = self._symbols.get(node)
        if found is None:
            found = self._symbols[node] = self._symbol(node)
        return found

    def _symbol(self, node: Node) -> Symbol:
        shape = self.shapes[node]
        if not shape.arrays and not shape.objects:
            terminals = scalar_terminals(shape)
            if len(terminals) == 1:
                return terminals[0]
        return Lazy(("value", node))

    def node_of(self, symbol: Lazy) -> Node | None:
        """The node whose values a lazy nonterminal derives, where that is all it is."""
        key: Any = symbol.key
        return key[1] if key[0] == "value" else None

    def among(self, values: Collection[Value], node: Node = ANY) -> Node:
        """The node of some values, as far as they are in `node`."""
        key = frozenset(values)
        found = self._enums.get(key)
        if found is None:
            with not_too_deep():
                enum = {"enum": list(map(thaw, values))}
            found = self._enums[key] = self.space.node(enum, self.space.location(node)) if values else NONE
        return meet(node, found)

    # --- values but for some -----------------------------------------------------------------------------------------

    def symbol_without(self, node: Node, values: frozenset[Value]) -> Symbol:
        """What derives the values of a node but for some."""
        return Lazy(("without", node, values)) if values else self.symbol(node)

    def holds_without(self, node: Node, values: frozenset[Value]) -> bool:
        """Whether a node has other values than some."""
        return self.holds(node) and (not values or bool(self.alternatives(node, values)))

    def alternatives(self, node: Node, values: frozenset[Value] = _NO_VALUES) -> tuple[Symbol, ...]:
        """What derives the values of a node but for some: terminals, and the places before arrays and objects."""
        key = (node, values) if values else node
        found = self._alternatives.get(key)
        if found is None:
            found = self._alternatives[key] = self._made_alternatives(node, values)
        return found

    def _made_alternatives(self, node: Node, values: frozenset[Value]) -> tuple[Symbol, ...]:
        self.holds(node)
        shape = self.shapes[node]
        found: list[Symbol] = []
        found += scalar_terminals(_scalars_without(shape, values) if values else shape)
        for kind, parts in (("array", shape.arrays), ("object", shape.objects)):
            for part in parts:
                places, number = self.places(part)
                state = places.start(frozenset(value for value in values if value[0] == kind) if values else _NO_VALUES)
                if not values or places.is_alive(state):
                    found.append(Lazy((number, "first", state)))
        return tuple(found)

    # --- sets of arrays and objects ----------------------------------------------------------------------------------

    def places(self, part: ArraySet | ObjectSet) -> tuple[Places, int]:
        """The rules of a set of arrays or of objects, and their number."""
        number = self._numbers.get(id(part))
        if number is None:
            number = len(self._places)
            self._places.append(self._places_of(self, part, number))  # an error leaves nothing half made
            self._numbers[id(part)] = number
        return self.numbered(number), number

    def numbered(self, number: int) -> Places:
        """The rules of a set by their number."""
        return self._places[number]

    def is_endless(self, node: Node, depth: int = _DEPTH) -> bool:
        """Whether a node surely has values without end."""
        if depth == 0 or not self.holds(node):
            return False
        shape = self.shapes[node]
        return (
            any(not (part.texts or part.high is not None or part.within or part.outside) for part in shape.strings)
            or any(part.values is None and (part.low is None or part.high is None) for part in shape.numbers)
            or any(part.high != 0 and self.is_endless(part.at(0), depth - 1) for part in shape.arrays)
            or any(self._is_endless_object(part, depth - 1) for part in shape.objects)
        )

    def _is_endless_object(self, part: ObjectSet, depth: int) -> bool:
        needed = part.required if part.high is not None and part.high <= len(part.required) else None
        if any(self.is_endless(part.at(key), depth) for key in needed or part.properties):
            return True
        return needed is None and any(self.is_endless(node, depth) for _, node in part.classes)


def _scalars_without(shape: Shape, values: frozenset[Value]) -> Shape:
    booleans = shape.booleans
    for value in values:
        if value[0] == "boolean":
            booleans &= ~(2 if value[1] else 1)
    return Shape(
        shape.null and ("null",) not in values,
        booleans,
        _numbers_without(shape.numbers, values),
        _strings_without(shape.strings, values),
    )


def _numbers_without(parts: tuple[NumberSet, ...], values: frozenset[Value]) -> tuple[NumberSet, ...]:
    for number in sorted(numbers_of(values)):
        gaps = NumberSet(values=(number,)).complement()
        parts = tuple(
            both
            for part in parts
            for both in ((part.intersect(gap) for gap in gaps) if part.contains(number) else (part,))
            if both is not None
        )
    return parts


def _strings_without(parts: tuple[StringSet, ...], values: frozenset[Value]) -> tuple[StringSet, ...]:
    texts = strings_of(values)
    if not texts:
        return parts
    others = StringSet(excluded=texts)
    return tuple(both for part in parts if (both := part.intersect(others)) is not None)
