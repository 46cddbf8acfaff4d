"""Sets of arrays and of objects: their children are nodes, so that one level is looked at, at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

from structgen.schema.algebra.nodes import ANY, NONE, Node, complements, meet
from structgen.schema.algebra.strings import ALL_STRINGS, StringSet

__all__ = ["ALL_ARRAYS", "ALL_OBJECTS", "OPEN", "ArraySet", "Inexpressible", "KeyClass", "ObjectSet"]

KeyClass = tuple[StringSet, Node]
"""Keys, none of which has a property of its own, and the values that they may have."""

OPEN: tuple[KeyClass, ...] = ((ALL_STRINGS[0], ANY),)
"""Any other key may have any value."""


class Inexpressible(Exception):
    """A set that is not a finite union of these normal forms.

    Attributes:
        keyword: the JSON Schema keyword that asked for it.
    """

    def __init__(self, keyword: str) -> None:
        super().__init__(keyword)
        self.keyword = keyword


@dataclass(slots=True, unsafe_hash=True)
class ArraySet:
    """Arrays of `low` to `high` items (None: no bound): item i is in `prefix[i]`, and after that in `rest`."""

    prefix: tuple[Node, ...] = ()
    rest: Node = ANY
    low: int = 0
    high: int | None = None

    def at(self, index: int) -> Node:
        """What the item at `index` is in."""
        return self.prefix[index] if index < len(self.prefix) else self.rest

    def intersect(self, other: ArraySet) -> ArraySet | None:
        """The arrays in both, or None when the counts alone leave none."""
        size = max(len(self.prefix), len(other.prefix))
        prefix = tuple(meet(self.at(i), other.at(i)) for i in range(size))
        high = self.high
        if other.high is not None and (high is None or other.high < high):
            high = other.high
        return ArraySet(prefix, meet(self.rest, other.rest), max(self.low, other.low), high).reduced()

    def reduced(self) -> ArraySet | None:
        """The same set with a bound where no further item can be, or None when the counts leave no array."""
        high = self.high
        size = len(self.prefix) if self.rest == NONE else None
        for index, node in enumerate(self.prefix):
            if node == NONE:
                size = index
                break
        if size is not None and (high is None or size < high):
            high = size
        if high is not None and high < self.low:
            return None
        prefix = self.prefix if high is None or high >= len(self.prefix) else self.prefix[:high]
        return self if high == self.high and prefix is self.prefix else ArraySet(prefix, self.rest, self.low, high)

    def complement(self) -> list[ArraySet]:
        """Sets whose union is every other array.

        Raises:
            Inexpressible: it takes "some item after the prefix is not …".
        """
        parts: list[ArraySet] = []
        if self.low:
            parts.append(ArraySet(high=self.low - 1))
        if self.high is not None:
            parts.append(ArraySet(low=self.high + 1))
        for index, node in enumerate(self.prefix):
            before = (ANY,) * index
            parts.extend(ArraySet((*before, other), low=index + 1) for other in complements(node) if other != NONE)
        if self.rest == NONE:
            parts.append(ArraySet(low=len(self.prefix) + 1))
        elif self.rest != ANY and not (self.high is not None and self.high <= len(self.prefix)):
            raise Inexpressible("items")
        return parts


@dataclass(slots=True)
class ObjectSet:
    """Objects by their keys.

    Attributes:
        properties: the keys that have a value set of their own, in order; with NONE the key must not be there.
        classes: disjoint sets of other keys. A key in no class must not be there.
        required: keys that must be there, in order.
        low, high: bounds on how many keys there are.
        somewhere: for each of these, a key of the class is there with such a value; the key may have a property.
    """

    properties: dict[str, Node] = field(default_factory=dict)
    classes: tuple[KeyClass, ...] = OPEN
    required: tuple[str, ...] = ()
    low: int = 0
    high: int | None = None
    somewhere: tuple[KeyClass, ...] = ()

    def __hash__(self) -> int:
        properties = frozenset(self.properties.items())
        return hash((properties, self.classes, self.required, self.low, self.high, self.somewhere))

    def at(self, key: str) -> Node:
        """What the value at `key` is in."""
        node = self.properties.get(key)
        if node is not None:
            return node
        if self.classes is OPEN:
            return ANY
        for keys, node in self.classes:
            if keys.contains(key):
                return node
        return NONE

    def intersect(self, other: ObjectSet) -> ObjectSet | None:
        """The objects in both, or None when the required keys and the counts alone leave none."""
        properties = {key: meet(node, other.at(key)) for key, node in self.properties.items()}
        for key, node in other.properties.items():
            if key not in properties:
                properties[key] = meet(self.at(key), node)
        high = self.high
        if other.high is not None and (high is None or other.high < high):
            high = other.high
        required = self.required
        if other.required:
            required = tuple(dict.fromkeys((*required, *other.required)))
        somewhere = self.somewhere
        if other.somewhere:
            somewhere = tuple(dict.fromkeys((*somewhere, *other.somewhere)))
        classes = _meet_classes(self.classes, other.classes)
        return ObjectSet(properties, classes, required, max(self.low, other.low), high, somewhere).reduced()

    def reduced(self) -> ObjectSet | None:
        """The same set with keys of finite classes as properties, or None where keys and counts leave nothing."""
        if any(keys.texts is not None for keys, _ in self.classes):
            properties = dict(self.properties)
            for keys, node in self.classes:
                for key in keys.texts or ():
                    properties.setdefault(key, node)
            classes = tuple(pair for pair in self.classes if pair[0].texts is None)
            return ObjectSet(properties, classes, self.required, self.low, self.high, self.somewhere).reduced()
        if self.required and any(self.at(key) == NONE for key in self.required):
            return None
        if self.high is not None and self.high < max(self.low, len(self.required)):
            return None
        return self._settled() if self.somewhere else self

    def witnesses(self, keys: StringSet, node: Node) -> tuple[dict[str, Node], list[KeyClass]]:
        """The keys with properties, and those without, at which a value of `node` may be; with what it is in there."""
        named: dict[str, Node] = {}
        for key, mine in self.properties.items():
            both = meet(mine, node)
            if both != NONE and keys.contains(key):
                named[key] = both
        others: list[KeyClass] = []
        for mine_keys, mine in self.classes:
            both = meet(mine, node)
            inside = mine_keys.intersect(keys) if both != NONE else None
            if inside is not None:
                others.append((inside, both))
        return named, others

    def _settled(self) -> ObjectSet | None:
        """Drops what `somewhere` asks and required keys give; None where no key can give it."""
        properties = dict(self.properties)
        for key in self.required:
            properties.setdefault(key, self.at(key))
        open_questions: list[KeyClass] = []
        result = ObjectSet(properties, self.classes, self.required, self.low, self.high)
        for keys, node in self.somewhere:
            named, others = result.witnesses(keys, node)
            if not named and not others:
                return None
            if any(named.get(key) == properties[key] for key in self.required):
                continue
            if not others and len(named) == 1:
                properties.update(named)
                result.required = tuple(dict.fromkeys((*result.required, *named)))
                continue
            open_questions.append((keys, node))
        result.somewhere = tuple(open_questions)
        return result if self.high is None or len(result.required) <= self.high else None

    def covers(self, other: ObjectSet) -> bool:
        """Whether all members of `other` are surely members: each thing asked here is asked there too."""
        if not set(self.required) <= set(other.required) or self.low > max(other.low, len(other.required)):
            return False
        if self.high is not None and (other.high is None or other.high > self.high):
            return False
        if self.classes is not OPEN and self.classes != other.classes:
            return False
        if not set(self.somewhere) <= set(other.somewhere):
            return False
        for key, node in self.properties.items():
            theirs = other.at(key)
            if meet(theirs, node) != theirs:
                return False
        return self.classes is OPEN or all(
            key in self.properties or meet(node, self.at(key)) == node for key, node in other.properties.items()
        )

    def complement(self) -> list[ObjectSet]:
        """Sets whose union is every other object.

        Raises:
            Inexpressible: it takes "no key of this kind has such a value".
        """
        parts = [ObjectSet(properties={key: NONE}) for key in self.required]
        if self.low:
            parts.append(ObjectSet(high=self.low - 1))
        if self.high is not None:
            parts.append(ObjectSet(low=self.high + 1))
        for key, node in self.properties.items():
            for other in complements(node):
                if other != NONE:
                    parts.append(ObjectSet(properties={key: other}, required=(key,)))
        if self.somewhere:
            raise Inexpressible("additionalProperties")
        rest = [StringSet(excluded=tuple(self.properties))]
        for keys, node in self.classes if self.classes is not OPEN else ():
            for other in complements(node):
                if other != NONE:
                    parts.extend(ObjectSet(somewhere=((left, other),)) for left in _common(rest[:1], [keys]))
        if self.classes is not OPEN:
            for keys, _ in self.classes:
                rest = _common(rest, keys.complement())
            parts.extend(ObjectSet(somewhere=((keys, ANY),)) for keys in rest)
        return parts


def _common(left: list[StringSet], right: list[StringSet]) -> list[StringSet]:
    """The intersections of two unions' parts."""
    return [both for mine in left for other in right if (both := mine.intersect(other)) is not None]


def _meet_classes(left: tuple[KeyClass, ...], right: tuple[KeyClass, ...]) -> tuple[KeyClass, ...]:
    """The common refinement of two partitions of keys."""
    if right is OPEN or left is right or not left:
        return left
    if left is OPEN or not right:
        return right
    out: list[KeyClass] = []
    for left_keys, left_node in left:
        for right_keys, right_node in right:
            node = meet(left_node, right_node)
            keys = left_keys.intersect(right_keys) if node != NONE else None
            if keys is not None:
                out.append((keys, node))
    return tuple(out)


ALL_ARRAYS = (ArraySet(),)
ALL_OBJECTS = (ObjectSet(),)
