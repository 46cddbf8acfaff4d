"""Upper bounds on the number of values of nodes, and the values themselves where they are few.

They decide whether items that must differ, or keys, run out: an array of three different booleans is impossible. A node
has at most as many values as counted, and no others than those listed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias, cast

from structgen.engine.deadlines import spend
from structgen.schema.algebra import Clause, Node, NumberSet, StringSet, complement, meet
from structgen.schema.algebra.arrays import ArraySet
from structgen.schema.algebra.counting import TooManyCounts, can_be_met
from structgen.schema.algebra.objects import ObjectSet
from structgen.schema.algebra.shape import NOTHING, Shape
from structgen.schema.json_text.different_numbers import different_numbers
from structgen.schema.json_text.values import Value
from structgen.schema.reading.emptiness import object_holds, string_holds

__all__ = ["Sizes"]

_MAX_LISTED = 64  # values of a node, or items of an array, that are counted or listed one by one
_LISTED_TIMES = 4  # if n items must differ, up to _LISTED_TIMES * n values are listed,
_MAX_LISTED_LONG = 4_096  # but at most so many
_MAX_DEPTH = 16  # levels of values that are counted by calls within each other
_MAX_COUNT = 1 << 64  # values. More than that never run out, and each level of nesting may square the number
_MAX_PARTS = 4_000  # of a listed value. Each level may double them, and each question hashes all of them
_MAX_STEPS = 5_000  # arrays or objects that are begun while those of a set are listed

_Part = NumberSet | StringSet | ArraySet | ObjectSet

_Begun: TypeAlias = tuple[ArraySet, tuple[int, ...]]
"""Ways to begin an array: the arrays that may follow, and if items must differ, the numbers of the cases of items."""


def _no_bound(node: Node) -> None:
    return None


class _Deeper(Exception):
    """Raised to find the count of an inner node first, where values nest too deep for Python's recursion.

    Attributes:
        node: the inner node.
    """

    def __init__(self, node: Node) -> None:
        self.node = node


class Sizes:
    """Upper bounds on the number of values of nodes, and the values themselves where they are few.

    `node in sizes` is whether a node may have a value.

    Args:
        shape_of: returns the shape of a node; None if it is not known yet.
        plain: numbers are written without exponents where they can be.
    """

    def __init__(self, shape_of: Callable[[Node], Shape | None], *, plain: bool) -> None:
        self._shape_of = shape_of
        self._plain = plain
        self._empty: set[Node] = set()
        self._counts: dict[Node, int | None] = {}
        self._values: dict[Node, frozenset[Value] | None] = {}
        self._levels = _MAX_DEPTH  # of calls within each other that may still count
        self._most = _MAX_LISTED  # values that are counted or listed one by one

    def learn(self, empty: Collection[Node]) -> bool:
        """Remember nodes that have no value; return whether one of them is new."""
        if self._empty.issuperset(empty):
            return False
        self._empty.update(empty)
        self.forget()
        return True

    def need(self, items: int) -> None:
        """Count and list more values, if so many items must differ: then it matters more often how many there are."""
        most = min(_LISTED_TIMES * items, _MAX_LISTED_LONG)
        if most > self._most:
            self._most = most
            self.forget()

    def forget(self) -> None:
        """Forget all counts, as something that they depend on has changed."""
        self._counts.clear()
        self._values.clear()

    def __contains__(self, node: object) -> bool:
        return self.count(cast("Node", node)) != 0

    def count(self, node: Node) -> int | None:
        """Return an upper bound on the number of values of a node; None where none is known.

        Values may nest deeper than functions may call each other. So past some levels the outermost call begins again,
        after it has counted what the innermost one was asked for.
        """
        if node in self._empty:
            return 0
        if node in self._counts:
            return self._counts[node]
        if not self._levels:
            raise _Deeper(node)
        if self._levels < _MAX_DEPTH:
            return self._counted(node)
        waiting = [node]
        found: int | None = None
        while waiting:
            at = waiting[len(waiting) - 1]
            try:
                found = self._counted(at)
                if len(waiting) > 1:
                    self._counts.setdefault(at, found)
                waiting.pop()
            except _Deeper as error:
                self._counts[at] = None  # as for recursive values
                waiting.append(error.node)
        return found

    def _counted(self, node: Node) -> int | None:
        """Count the values of a node, and keep their number."""
        shape = self._shape_of(node)
        if shape is None:
            return None
        self._counts[node] = None  # for recursive values, which hold values of this node
        self._levels -= 1
        try:
            found = self._counts[node] = self._total(shape)
        except _Deeper:
            del self._counts[node]
            raise
        finally:
            self._levels += 1
        return found

    def _total(self, shape: Shape) -> int | None:
        total = shape.null + shape.booleans.bit_count()
        parts: tuple[_Part, ...] = (*shape.numbers, *shape.strings, *shape.arrays, *shape.objects)
        for part in parts:
            found = self._size(part)
            if found is None:
                return None
            total += found
        if total > self._most and len(parts) > 1:  # the parts may have values in common
            listed = self._listed(shape)
            total = total if listed is None else len(listed)
        return total if total < _MAX_COUNT else None

    def _size(self, part: _Part) -> int | None:
        if isinstance(part, NumberSet):
            different = different_numbers(part, self._most, plain=self._plain)
            return part.size() if different is None else len(different)
        if isinstance(part, StringSet):
            if part.grammars and not string_holds(part, self):
                return 0
            if part.texts is not None:
                return len(part.texts)
            found = part.count(self._most + 1)
            return found if found <= self._most else None
        return self._arrays(part) if isinstance(part, ArraySet) else self._objects(part)

    # --- objects -----------------------------------------------------------------------------------------------------

    def _objects(self, part: ObjectSet) -> int | None:
        """Return an upper bound on the number of objects of a set; None where none is known."""
        if not object_holds(part, self):
            return 0
        members = self._members(part)
        if members is None:
            return None
        ways = [1]  # by the number of keys: objects of the keys so far
        for key, node in members.items():
            spend(1)
            found = self.count(node)
            if found is None:
                return None
            longer = [0, *(count * found for count in ways)]
            ways = longer if key in part.required else [x + y for x, y in zip(longer, [*ways, 0], strict=True)]
        total = sum(ways[part.low : None if part.high is None else part.high + 1])
        if part.somewhere or part.clauses:  # these conditions leave fewer
            listed = self._listed_objects(part)
            return total if listed is None else len(listed)
        return total

    def _members(self, part: ObjectSet) -> dict[str, Node] | None:
        """Return the keys that objects of a set may have, with the nodes of their values; None where they are many."""
        found = {key: part.at(key) for key in part.required}
        if part.high is not None and part.high <= len(found):
            return found
        found.update(part.properties)
        unnamed = StringSet(excluded=tuple(part.properties))
        classes = part.few_classes()
        if classes is None:
            return None
        for keys, node in classes:
            inside = keys.intersect(unnamed) if node in self else None
            listed = inside.listed(self._most) if inside is not None else ()
            if listed is None:
                return None
            found.update(dict.fromkeys(listed, node))
        return found

    # --- arrays ------------------------------------------------------------------------------------------------------

    def _arrays(self, part: ArraySet) -> int | None:
        """Return an upper bound on the number of arrays of a set; None where none is known.

        Arrays grow item by item. Those that leave the same set of arrays to follow are counted together.
        """
        if part.clauses or part.repeats:  # these conditions leave fewer
            total = self._arrays(part.without_clauses(None))
            listed = None if total is None or total > self._most else self._listed_arrays(part)
            return total if listed is None else len(listed)
        ways: dict[_Begun, int] = {(part, ()): 1}
        total = 0
        for _ in range(_MAX_LISTED + 1):
            total += sum([count for (left, _), count in ways.items() if left.has_empty])
            try:
                found = self._longer(ways)
            except TooManyCounts:
                return None
            if not found:
                return None if found is None else total
            ways = found
        return None

    def _longer(self, ways: dict[_Begun, int]) -> dict[_Begun, int] | None:
        """Return the ways to begin arrays with one more item, with their numbers; None where one is unknown."""
        found: dict[_Begun, int] = {}
        if len(ways) > _MAX_LISTED:
            return None
        for (left, chosen), count in ways.items():
            for number, node, after in self._next(left):
                size = self.count(node)
                if size is None:
                    return None
                if left.repeats is False and not left.settled:  # cases are the same from here on
                    size = max(size - chosen.count(number), 0)
                    begun = after, tuple(sorted((*chosen, number)))
                else:
                    begun = after, chosen
                if size:
                    found[begun] = found.get(begun, 0) + count * size
        return found

    def _next(self, left: ArraySet) -> Iterator[tuple[int, Node, ArraySet]]:
        """Yield the cases of a first item, by number and node, each with the set of arrays that may follow it.

        Left out are those of which no array is known to come.
        """
        size = self.count if left.repeats is False else _no_bound
        for number, (given, node) in enumerate(left.cases(0)):
            spend(1)
            after = left.following(given) if node in self else None
            if after is not None and can_be_met(after, self.__contains__, size):
                yield number, node, after

    def _listed_arrays(self, part: ArraySet) -> list[tuple[Value, ...]] | None:
        """Return the items of the arrays of a set, and perhaps of more arrays; None where they are unknown or many."""
        found: list[tuple[Value, ...]] = []
        waiting: list[tuple[ArraySet, tuple[Value, ...]]] = [(part.without_clauses(part.repeats), ())]
        for _ in range(_MAX_STEPS):
            if not waiting:
                return found
            left, items = waiting.pop()
            if left.has_empty and (not part.repeats or len(set(items)) < len(items)) and self._may_meet(part, items):
                found.append(items)
            for _, node, after in self._next(left):
                values = self.values(node)
                if values is None:
                    return None
                spend(len(values))
                waiting += [
                    (after, (*items, value)) for value in values if part.repeats is not False or value not in items
                ]
        return None

    def _may_meet(self, part: ArraySet, items: tuple[Value, ...]) -> bool:
        """Return whether the clauses of a set may hold for some items; False is certain."""
        for clause in part.clauses:
            for count in clause:
                node = count.node if count.high is None else complement(count.node)
                able = sum(
                    [self._may_be(meet(part.at(index), node), items[index]) for index in range(count.start, len(items))]
                )
                if able >= (count.low if count.high is None else len(items) - count.start - count.high):
                    break
            else:
                return False
        return True

    # --- values ------------------------------------------------------------------------------------------------------

    def values(self, node: Node) -> frozenset[Value] | None:
        """Return the values of a node, and perhaps more; None where they are unknown or many."""
        if node not in self._values:
            size = self.count(node)
            if size is None:
                return None
            self._values[node] = None  # for questions about the node while it is listed
            if size <= self._most:
                shape = self._shape_of(node) if size else NOTHING
                try:
                    found = None if shape is None else self._listed(shape)
                except _Deeper:
                    del self._values[node]
                    raise
                if found is not None and all(map(_is_short, found)):
                    self._values[node] = found
        return self._values[node]

    def _listed(self, shape: Shape) -> frozenset[Value] | None:
        found: set[Value] = {("boolean", bool(bit)) for bit in range(2) if shape.booleans >> bit & 1}
        if shape.null:
            found.add(("null",))
        for numbers in shape.numbers:
            different = different_numbers(numbers, self._most, plain=self._plain)
            if different is None:
                return None
            found.update([("number", value) for value in different])
        for strings in shape.strings:
            size = self._size(strings)
            texts = strings.listed(self._most) if size else ()
            if texts is None:
                return None
            found.update([("string", text) for text in texts])
        for array in shape.arrays:
            arrays = self._listed_arrays(array)
            if arrays is None:
                return None
            found.update(("array", chosen) for chosen in arrays)
        for part in shape.objects:
            objects = self._listed_objects(part)
            if objects is None:
                return None
            found.update(("object", chosen) for chosen in objects)
            if len(found) > self._most:
                return None
        return frozenset(found) if len(found) <= self._most else None

    def _listed_objects(self, part: ObjectSet) -> list[frozenset[tuple[str, Value]]] | None:
        """Return the members of the objects of a set, and perhaps of more; None where they are unknown or many."""
        if not object_holds(part, self):
            return []
        named = self._members(part)
        if named is None:
            return None
        choices: list[tuple[str, frozenset[Value]]] = []
        for key, node in sorted(named.items()):
            values = self.values(node)
            if values is None:
                return None
            if values:
                choices.append((key, values))
            elif key in part.required:
                return []
        return self._chosen(part, choices)

    def _chosen(
        self, part: ObjectSet, choices: list[tuple[str, frozenset[Value]]]
    ) -> list[frozenset[tuple[str, Value]]] | None:
        """Return the objects with some of the keys, each with one of its values; None where they are many.

        An object that is begun is dropped as soon as it has too many keys, can only have too few, or breaks a clause.
        """
        size = len(choices)
        high = size if part.high is None else part.high
        places = {key: place for place, (key, _) in enumerate(choices, 1)}
        decided: list[list[Clause]] = [[] for _ in range(size + 1)]  # by the number of keys that decide them
        for clause in part.clauses:
            decided[max([places.get(literal.key, 0) for literal in clause])].append(clause)
        needed = [0]  # required keys from each place on, the last place first
        for key, _ in reversed(choices):
            needed.append(needed[len(needed) - 1] + (key in part.required))
        found: list[frozenset[tuple[str, Value]]] = []
        begun: list[tuple[int, dict[str, Value]]] = [(0, {})]
        for _ in range(_MAX_STEPS):
            if not begun:
                return found
            place, chosen = begun.pop()
            spend(1)
            left = size - place
            if len(chosen) + left < part.low or len(chosen) + needed[left] > high:
                continue
            if not all(self._may_satisfy(part, clause, chosen) for clause in decided[place]):
                continue
            if left:
                key, values = choices[place]
                begun += [(place + 1, chosen)] if key not in part.required else []
                begun += [(place + 1, {**chosen, key: value}) for value in values]
            elif self._has_witnesses(part, chosen):
                found.append(frozenset(chosen.items()))
                if len(found) > self._most:
                    return None
        return None

    def _has_witnesses(self, part: ObjectSet, chosen: dict[str, Value]) -> bool:
        """Return whether `somewhere` may hold for an object; False is certain."""
        for keys, node in part.somewhere:
            for key, value in chosen.items():
                if keys.contains(key) and self._may_be(meet(part.at(key), node), value):
                    break
            else:
                return False
        return True

    def _may_satisfy(self, part: ObjectSet, clause: Clause, chosen: dict[str, Value]) -> bool:
        """Return whether an object may satisfy a clause; False is certain."""
        for key, node, or_absent in clause:
            if self._may_be(meet(part.at(key), node), chosen[key]) if key in chosen else or_absent:
                return True
        return False

    def _may_be(self, node: Node, value: Value) -> bool:
        """Return whether a value may be one of a node; False is certain."""
        values = self.values(node)
        return values is None or value in values


def _is_short(value: Value) -> bool:
    """Return whether a value has few parts."""
    waiting = [value]
    for _ in range(_MAX_PARTS):
        if not waiting:
            return True
        part = waiting.pop()
        if part[0] == "array":
            waiting += part[1]
        elif part[0] == "object":
            waiting += [held for _, held in part[1]]
    return False
