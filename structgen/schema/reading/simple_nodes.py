"""Shorter names for nodes of simple subschemas: those with only `type`, `enum`, `const`, bounds and the like.

A set of objects often restricts the same key many times, as with a tag that tells kinds of objects apart. The node of
the key's value is then a long conjunction, although few of its atoms matter:

    {"const": "dog"} and not {"const": "cat"} and not {"const": "cow"}      the same as {"const": "dog"}
    {"const": "dog"} and {"const": "cat"}                                  NONE

Sets of objects with equal nodes are equal, or one covers the other. Without shorter names, the complements of n tagged
kinds would have 2ⁿ different intersections.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from structgen.engine.deadlines import spend
from structgen.schema.algebra import ALL_STRINGS, EVERYTHING, NONE, NOTHING, ArraySet, Node, is_subschema
from structgen.schema.algebra.objects import ObjectSet
from structgen.schema.algebra.shape import Shape

__all__ = ["SimpleNodes", "has_long_node"]

_MAX_LEVELS = 3  # levels of required keys that are searched for a key without a value
_MIN_ATOMS = 3  # atoms of a large difference
_MAX_TAG_SETS = 2  # sets of objects in the complement of a tag: the tag is absent, or has another value
_MIN_LONG_ATOMS = 3  # atoms of a long node
_MAX_LEFT = 8  # sets of objects; if there are no more, nodes keep their names, as comparing the sets costs less


class SimpleNodes:
    """Drops the atoms of nodes that the other atoms imply, and finds nodes without a value.

    Args:
        is_simple: returns whether the shape of an atom depends on no other subschema, and is exact; see `Widening`.
        shape: returns the shape of a node of one atom.
        known_shape: returns the shape of a node; None if it is under way.
    """

    def __init__(
        self,
        is_simple: Callable[[int], bool],
        shape: Callable[[Node], Shape],
        known_shape: Callable[[Node], Shape | None],
    ) -> None:
        self._known_shape = known_shape
        self._is_simple_atom = is_simple
        self._shape = shape
        self._simple: dict[int, bool] = {}  # by atom
        self._known: dict[Node, tuple[Node, Shape]] = {}
        self._values: dict[Node, tuple[bool, frozenset[str]] | None] = {}
        self._values_of: dict[int, tuple[bool, frozenset[str]] | None] = {}  # by atom

    def covers(self, node: Node) -> bool:
        """Return whether all atoms of a node are simple."""
        for atom in node:
            if not isinstance(atom, int):
                return False
            simple = self._simple.get(atom)
            if simple is None:
                simple = self._simple[atom] = self._is_simple_atom(atom)
            if not simple:
                return False
        return True

    def reduced(self, node: Node) -> Node:
        """Return the same set of values, without atoms that earlier ones imply. All atoms must be simple.

        The first atom stays, so a node keeps its location; a set without a value is NONE.
        """
        found = self._known.get(node)
        if found is None:
            size = len(node) - 1
            while size > 1 and node[:size] not in self._known:
                size -= 1
            found = self._known.get(node[:size]) or (node[:1], self._shape(node[:1]))
            for end in range(max(size, 1), len(node)):
                name, shape = found
                found = self._known[node[: end + 1]] = self._narrowed(name, shape, node[end : end + 1])
        return found[0]

    def _narrowed(self, node: Node, shape: Shape, atom: Node) -> tuple[Node, Shape]:
        if node == NONE:
            return node, shape
        both = shape.intersect(self._shape(atom))
        if both.is_nothing():
            return NONE, NOTHING
        return (node, shape) if both == shape else ((*node, *atom), both)

    def values(self, node: Node) -> tuple[bool, frozenset[str]] | None:
        """Return texts among which the values of a node are, or texts that are none of its values.

        Returns:
            Whether the values are all but these texts, and the texts. None if neither is known. If all atoms of a node
            are simple, these are exactly the values.
        """
        if node not in self._values:
            self._values[node] = self._found_values(node)
        return self._values[node]

    def _found_values(self, node: Node) -> tuple[bool, frozenset[str]] | None:
        """See `values`."""
        texts: frozenset[str] | None = None
        excluded: frozenset[str] = frozenset()
        others: list[Shape] = []
        for atom in node:
            known: tuple[bool, frozenset[str]] | None = None
            if not isinstance(atom, int):
                known = _united([self.values(alternative) for alternative in atom.nodes])
            elif self.covers((atom,)):
                if atom not in self._values_of:
                    self._values_of[atom] = _values_of(self._shape((atom,)))
                known = self._values_of[atom]
                if known is None:
                    others.append(self._shape((atom,)))
            if known is None:
                continue
            if known[0]:
                excluded |= known[1]
            else:
                texts = known[1] if texts is None else texts & known[1]
        if texts is None:
            return None if others or not self.covers(node) or not node else (True, excluded)
        left = texts - excluded
        return False, frozenset([text for text in left if all(_may_hold(shape, text) for shape in others)])

    def without_dead(self, shape: Shape, *, every_key: bool, settled: Collection[int] = ()) -> Shape:
        """Return a shape without sets of objects with a required key that surely has no value.

        The nodes of simple values of required keys get their shortest names; with `every_key`, those of every key,
        where there are many sets. So more sets are equal, or one covers the other.

        Args:
            shape: the shape.
            every_key: whether to name the values of keys that are not required.
            settled: the identities of sets of objects that stay as they are.
        """
        are_many = len(shape.objects) > _MAX_LEFT
        shortens = are_many or not every_key
        others = [part for part in shape.objects if id(part) not in settled] if settled else shape.objects
        names = self._names(others, shortens=shortens, every_key=every_key)
        if not names:
            return shape
        dead = {node for node, name in names.items() if name == NONE}
        alive: list[ObjectSet] = []
        for part in shape.objects:
            if id(part) in settled:
                alive.append(part)
                continue
            if not dead.isdisjoint(map(part.at, part.required)):
                continue
            shorter = {
                key: names[node]
                for key, node in part.properties.items()
                if node in names and (key in part.required or (every_key and shortens))
            }
            if shorter:
                properties = part.properties | shorter
                part = replace(part, properties=properties)
            alive.append(part)
        if are_many:  # sets that differed may be equal now
            alive = list(dict.fromkeys(alive))
        return replace(shape, objects=tuple(alive))

    def with_short_names(self, part: ObjectSet) -> ObjectSet | None:
        """Return a set of objects with the shortest names of the simple values of its required keys.

        Returns None if one of them has no value, so that the set has no member.
        """
        shorter: dict[str, Node] = {}
        for key in part.required:
            node = part.at(key)
            name = self.reduced(node) if len(node) > 1 and self.covers(node) else node
            if name == NONE:
                return None
            if name != node:
                shorter[key] = name
        return replace(part, properties=part.properties | shorter) if shorter else part

    def with_fewer_arrays(self, shape: Shape) -> Shape:
        """Return a shape without sets of arrays that surely have no member, or that others cover.

        The nodes of simple values of items that all arrays of a set have get their shortest names first. So of an array
        that does not begin with "a", nor with "b", and so on, the sets do not multiply:

            ["a", not 1]  or  ["b", not 2]  or  [neither]    and not    ["a", not 1] with "b" at the first index, …
        """
        kept: list[ArraySet] = []
        for part in shape.arrays:
            spend(1 + len(kept))
            short = self._with_short_items(part)
            if short is not None and not _are_covered(kept, short):
                kept = [other for other in kept if not short.covers(other)]
                kept.append(short)
        arrays = tuple(kept)
        return shape if arrays == shape.arrays else replace(shape, arrays=arrays)

    def _with_short_items(self, part: ArraySet) -> ArraySet | None:
        """Return a set of arrays with short names of the items that all have; None if one of them has no value."""
        prefix = list(part.prefix)
        for index in range(min(part.low, len(prefix))):
            node = prefix[index]
            if len(node) > 1 and self.covers(node):
                prefix[index] = self.reduced(node)
                if prefix[index] == NONE:
                    return None
        return part if tuple(prefix) == part.prefix else replace(part, prefix=tuple(prefix))

    def _names(self, parts: Sequence[ObjectSet], *, shortens: bool, every_key: bool) -> dict[Node, Node]:
        """Return the nodes in sets of objects that have shorter names, with these names."""
        names: dict[Node, Node] = {}
        required = {part.at(key) for part in parts for key in part.required}
        for node in required:
            if not is_subschema(node):  # one subschema alone mostly has values
                names[node] = self._least(node, shortens)
        if every_key and shortens:
            for node in set().union(*[part.properties.values() for part in parts]) - required:
                if len(node) > 1 and self.covers(node):
                    names[node] = self.reduced(node)
        return {node: name for node, name in names.items() if node != name}

    def _least(self, node: Node, shortens: bool) -> Node:
        """Return the shortest node that is known to have the same values; NONE if there surely are none."""
        if shortens and len(node) > 1 and self.covers(node):
            return self.reduced(node)
        if self._is_large_difference(node):
            return node
        return NONE if self._is_dead(node, _MAX_LEVELS) else node

    def _is_large_difference(self, node: Node) -> bool:
        """Return whether a node is one subschema without several others, not all of which have a tag.

            A and not B and not C,      A and not B and not C and not D,      …

        Such a node nearly always has a value, and it takes long to find that out: the complement of an object without a
        tag has a set for each of its keys, and an intersection multiplies these sets. So `_least` does not search for
        its emptiness. If it is empty, that is found later, when all nodes are explored.
        """
        if len(node) < _MIN_ATOMS:
            return False
        for atom in node[1:]:
            if not isinstance(atom, int) or atom > 0:
                return False
        for atom in node[1:]:
            shape = self._known_shape((atom,))
            if shape is None or len(shape.objects) > _MAX_TAG_SETS:
                return True
        return False

    def _is_dead(self, node: Node, levels: int) -> bool:
        """Return whether a node surely has no value, by its required keys down to a number of levels.

        A tag may be a few levels deep: `{"software": {"version": {"const": "7.0"}}}`.
        """
        shape = self._known_shape(node)
        if shape is None or shape.arrays or not shape.objects:
            return shape is not None and shape.is_nothing()
        if levels == 1 or len(node) == 1 or shape.size > len(shape.objects) or shape.null or shape.booleans:
            return False
        return all(any(self._is_dead(part.at(key), levels - 1) for key in part.required) for part in shape.objects)


def has_long_node(part: ObjectSet) -> bool:
    """Return whether a required key has many conditions on its value, as after a chain of conditions on a tag."""
    properties = part.properties
    for key in part.required:
        node = properties.get(key)
        if node is not None and len(node) >= _MIN_LONG_ATOMS:
            return True
    return False


def _are_covered(parts: list[ArraySet], part: ArraySet) -> bool:
    """Return whether one of some sets of arrays covers another one."""
    for other in parts:  # noqa: SIM110  (compiled, a generator takes longer)
        if other.covers(part):
            return True
    return False


def _values_of(shape: Shape) -> tuple[bool, frozenset[str]] | None:
    """See `SimpleNodes.values`."""
    if shape.is_nothing():
        return False, frozenset()
    if len(shape.strings) != 1:
        return None
    strings = shape.strings[0]
    if strings.texts is not None:
        is_text = shape.size == 1 and not (shape.null or shape.booleans)
        return (False, frozenset(strings.texts)) if is_text else None
    is_all = shape.null and shape.booleans == EVERYTHING.booleans and shape.numbers == EVERYTHING.numbers
    if not is_all or shape.arrays != EVERYTHING.arrays or shape.objects != EVERYTHING.objects:
        return None
    return (True, frozenset(strings.excluded)) if replace(strings, excluded=()) == ALL_STRINGS[0] else None


def _united(values: list[tuple[bool, frozenset[str]] | None]) -> tuple[bool, frozenset[str]] | None:
    """Return the values of a union; None unless each alternative has a list of texts."""
    texts = [known[1] for known in values if known is not None and not known[0]]
    return (False, frozenset().union(*texts)) if len(texts) == len(values) else None


def _may_hold(shape: Shape, text: str) -> bool:
    """Return whether a text may be in a shape."""
    return any(strings.contains(text) for strings in shape.strings)
