"""Sets of objects, by their keys. The values of members are nodes, so a set describes one level of an object.

    {"properties": {"id": INTEGER}, "required": ["id"],
     "patternProperties": {"^x": STRING}, "additionalProperties": false}

With 1 and 2 as the nodes of the two schemas, this is the set

    ObjectSet(properties={"id": 1}, required=("id",), classes=((keys that begin with x, 2),))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from structgen.engine.deadlines import spend
from structgen.errors import LimitExceededError
from structgen.schema.algebra.clauses import Clause, Literal
from structgen.schema.algebra.nodes import ANY, NONE, Case, Node, cases, complement, meet
from structgen.schema.algebra.strings import ALL_STRINGS, StringSet

__all__ = ["ALL_OBJECTS", "OPEN", "KeyClass", "ObjectSet"]

KeyClass = tuple[StringSet, Node]
"""A set of keys without properties of their own, and the node of their values."""

KeyCases = list[tuple[StringSet, list[Case]]]
"""Disjoint sets of keys without properties, each with the cases of their values."""

OPEN: tuple[KeyClass, ...] = ((ALL_STRINGS[0], ANY),)
"""The classes of an object that allows every other key with any value."""

_MAX_PRODUCT = 256  # classes of an intersection; where there would be more, they become `overlapping` conditions
_MAX_CLASSES = 256  # disjoint classes of one set
_MAX_FEW_CLASSES = 64  # disjoint classes that `few_classes` makes


@dataclass
class ObjectSet:
    """Objects that satisfy conditions on their keys.

    Attributes:
        properties: the node of each key that the schema names, in order. NONE forbids the key.
        classes: disjoint sets of other keys, each with the node of their values. A key of no class is forbidden.
        required: keys that must be present, in order.
        low: the minimum number of keys.
        high: the maximum number of keys; None without a bound.
        somewhere: for each of these classes, some key of it is present with a value in its node. Such a key may have a
            property.
        overlapping: sets of keys, each with a node. A key without a property that is in such a set has its value in the
            node, besides that of its class. They may share keys: n patterns would split the keys into 2ⁿ classes.
        clauses: conditions on single keys; of each clause, one holds.
        known_cases: what `cases` returns, by key, and what `key_cases` returns; None if they compute it. Not part of
            the set.
        is_unsplit: `known_cases` has one case for each key: what values satisfy of `somewhere` is found out once they
            are written. Not part of the set.
    """

    properties: dict[str, Node]  # a default of its own would import `dataclasses` each time
    classes: tuple[KeyClass, ...] = OPEN
    required: tuple[str, ...] = ()
    low: int = 0
    high: int | None = None
    somewhere: tuple[KeyClass, ...] = ()
    overlapping: tuple[KeyClass, ...] = ()
    clauses: tuple[Clause, ...] = ()
    known_cases: tuple[dict[str, list[Case]], KeyCases] | None = field(
        default=None, init=False, compare=False, repr=False
    )
    is_unsplit: bool = field(default=False, init=False, compare=False, repr=False)

    def __hash__(self) -> int:
        properties = frozenset(self.properties.items())
        others = self.low, self.high, self.somewhere, self.overlapping, self.clauses
        return hash((properties, self.classes, self.required, *others))

    @property
    def is_open(self) -> bool:
        """Every key without a property may have any value."""
        return _is_open(self)

    def at(self, key: str) -> Node:
        """Return the node of the values that a key may have."""
        node = self.properties.get(key)
        if node is not None:
            return node
        found = ANY if self.classes is OPEN else NONE
        if found == NONE:
            for keys, node in self.classes:
                if keys.contains(key):
                    found = node
                    break
        for keys, node in self.overlapping:
            if found != NONE and keys.contains(key):
                found = meet(found, node)
        return found

    def intersect(self, other: ObjectSet) -> ObjectSet | None:
        """Return the objects that are in both; None if the required keys and the counts alone exclude every object."""
        properties = _meet_properties(self, other)
        high = self.high
        if other.high is not None and (high is None or other.high < high):
            high = other.high
        required = self.required
        if other.required:
            required = tuple(dict.fromkeys((*required, *other.required)))
        somewhere = self.somewhere
        if other.somewhere:
            somewhere = tuple(dict.fromkeys((*somewhere, *other.somewhere)))
        overlapping = self.overlapping
        if other.overlapping:
            overlapping = tuple(dict.fromkeys((*overlapping, *other.overlapping)))
        classes = self.classes
        if len(classes) * len(other.classes) > _MAX_PRODUCT and other._is_exact():
            overlapping = tuple(dict.fromkeys((*overlapping, *other._conditions())))
        else:
            classes = _meet_classes(classes, other.classes)
        clauses = self.clauses
        if other.clauses:
            clauses = tuple(dict.fromkeys((*clauses, *other.clauses)))
        low = max(self.low, other.low)
        return ObjectSet(properties, classes, required, low, high, somewhere, overlapping, clauses).reduced()

    def _is_exact(self) -> bool:
        """Return whether validators agree on which keys each class has; see `Language.outer`."""
        return all(part.outer is None for keys, _ in self.classes for part in (*keys.within, *keys.outside))

    def _conditions(self) -> list[KeyClass]:
        """Return conditions on all keys that the classes express together, as in `overlapping`."""
        found = [(keys, node) for keys, node in self.classes if node != ANY]
        return found + [(keys, NONE) for keys in self._outside_classes([ALL_STRINGS[0]])]

    def class_nodes(self) -> list[Node]:
        """Return nodes that together hold all values of keys without properties. They may be wider than necessary."""
        few = self.few_classes() if self.low > len(self.required) else None
        if few is not None or not self.overlapping:
            return [node for _, node in few or self.classes]
        found: dict[Node, None] = {}
        for keys, node in self.classes:
            unmatched = [keys]
            for mine, other in self.overlapping:
                if keys.intersect(mine) is not None:
                    found[meet(node, other)] = None
                unmatched = [rest for left in unmatched for rest in left.split(mine)[1]]
            if unmatched:
                found[node] = None
        return list(found)

    def partition(self) -> tuple[KeyClass, ...]:
        """Return disjoint sets of the keys without properties, each with the node of all conditions on its values.

        Raises:
            LimitExceededError: there are too many.
        """
        found = self._split_classes(_MAX_CLASSES)
        if found is None:
            message = f"patternProperties overlap in more than {_MAX_CLASSES} ways"
            raise LimitExceededError("schema_nodes", _MAX_CLASSES, message=message, is_fixed=True)
        return found

    def few_classes(self) -> tuple[KeyClass, ...] | None:
        """Return the result of `partition` if it has few classes, else None."""
        return self._split_classes(_MAX_FEW_CLASSES)

    def _split_classes(self, at_most: int) -> tuple[KeyClass, ...] | None:
        """Split the classes by `overlapping`; return None if that makes more than `at_most`."""
        if not self.overlapping:
            return self.classes
        found = list(self.classes)
        for keys, node in self.overlapping:
            split: list[KeyClass] = []
            for mine, old in found:
                inside, outside = mine.split(keys)
                both = meet(old, node) if inside is not None else NONE
                if inside is not None and both != NONE:
                    split.append((inside, both))
                split.extend((rest, old) for rest in outside)
            found = split
            if len(found) > at_most:
                return None
        return tuple(found)

    def reduced(self) -> ObjectSet | None:
        """Return the same set with the keys of finite classes as properties.

        Returns None if the keys and counts alone exclude every object.
        """
        if self.classes is not OPEN and _has_finite(self.classes):
            properties = dict(self.properties)
            for keys, _ in self.classes:
                for key in keys.texts or ():
                    properties[key] = self.at(key)
            classes = tuple([pair for pair in self.classes if pair[0].texts is None])
            return replace(self, properties=properties, classes=classes).reduced()
        spend(1 + len(self.required))
        for key in self.required:
            if (self.properties[key] if key in self.properties else self.at(key)) == NONE:
                return None
        if self.high is not None and self.high < max(self.low, len(self.required)):
            return None
        if self.clauses:
            found = self._with_units()
            if found is not self:
                return None if found is None else found.reduced()
        return self._settled() if self.somewhere else self

    def _with_units(self) -> ObjectSet | None:
        """Simplify the clauses by the other conditions, as unit propagation does.

        A literal that cannot hold is dropped, and a clause that always holds. A clause with one literal left becomes
        a property.

        Returns None if the other conditions exclude a whole clause.
        """
        properties, required = dict(self.properties), dict.fromkeys(self.required)
        here = ObjectSet(properties, self.classes, overlapping=self.overlapping)
        kept: list[Clause] = []
        for clause in self.clauses:
            spend(len(clause))
            left: list[Literal] = []
            for key, node, or_absent in clause:
                mine = here.at(key)
                both = meet(mine, node)
                or_absent = or_absent and key not in required
                if both == mine and (or_absent or key in required):
                    break  # every object satisfies it
                if both != NONE or or_absent:
                    left.append(Literal(key, node, or_absent))
            else:
                if not left:
                    return None
                if len(left) == 1:
                    ((key, node, or_absent),) = left
                    properties[key] = meet(here.at(key), node)
                    if not or_absent:
                        required[key] = None
                else:
                    kept.append(tuple(left))
        if len(kept) == len(self.clauses) and tuple(kept) == self.clauses:
            return self
        return replace(self, properties=properties, required=tuple(required), clauses=tuple(kept))

    def witnesses(self, keys: StringSet, node: Node) -> tuple[dict[str, Node], list[KeyClass]]:
        """Find the keys that may have a value in a node. Does not look at `overlapping`, which may forbid some of them.

        Returns:
            The keys with properties, and the classes of other keys, each with the node of such values.
        """
        named: dict[str, Node] = {}
        for key, mine in self.properties.items():
            spend(1)
            both = meet(mine, node)
            if both != NONE and keys.contains(key):
                named[key] = both
        others: list[KeyClass] = []
        unnamed = StringSet(excluded=tuple(self.properties))
        for mine_keys, mine in self.classes:
            both = meet(mine, node)
            inside = mine_keys.intersect(keys) if both != NONE else None
            inside = inside.intersect(unnamed) if inside is not None else None
            if inside is not None:
                others.append((inside, both))
        return named, others

    def _settled(self) -> ObjectSet | None:
        """Drop parts of `somewhere` that required keys satisfy, and require a key that alone can satisfy one.

        Returns None if no key can satisfy one of them.
        """
        properties = dict(self.properties)
        for key in self.required:
            properties.setdefault(key, self.at(key))
        open_questions: list[KeyClass] = []
        result = replace(self, properties=properties, somewhere=())
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
        """Return whether each condition of this set is one of `other` too, so that it includes `other`.

        False does not mean that it does not include `other`: this compares conditions one by one.
        """
        if not set(self.required) <= set(other.required) or self.low > max(other.low, len(other.required)):
            return False
        if self.high is not None and (other.high is None or other.high > self.high):
            return False
        if self.classes is not OPEN and self.classes != other.classes:
            return False
        if not set(self.somewhere) <= set(other.somewhere) or not set(self.overlapping) <= set(other.overlapping):
            return False
        if not set(self.clauses) <= set(other.clauses):
            return False
        properties = self.properties
        spend(len(properties) + len(other.properties))
        for key, node in properties.items():
            theirs = other.at(key)
            if theirs is not node and meet(theirs, node) != theirs:
                return False
        if not _is_open(self):
            others = other.properties
            for key, node in others.items():
                if key not in properties and meet(node, self.at(key)) != node:
                    return False
        return True

    def complement(self, tags: Iterable[str] = ()) -> list[ObjectSet]:
        """Return sets whose union is every other object.

        Args:
            tags: required keys with few values, which tell kinds of objects apart. The sets of objects that break
                another condition then require the right tags. So the intersection of many complements has about as
                many parts as their sum.
        """
        tagged = ObjectSet({key: self.at(key) for key in tags}, required=tuple(tags))
        parts = [part for key in tagged.required for part in (_without(key), _with(key, complement(self.at(key))))]
        parts.extend(both for part in self._violations(tagged) if (both := part.intersect(tagged)) is not None)
        return parts

    def _violations(self, but: ObjectSet) -> list[ObjectSet]:
        """Return sets of objects that break one condition each, except conditions on the properties of `but`."""
        parts = [_without(key) for key in self.required if key not in but.properties]
        if self.low:
            parts.append(ObjectSet({}, high=self.low - 1))
        if self.high is not None:
            parts.append(ObjectSet({}, low=self.high + 1))
        for key, node in self.properties.items():
            if node != ANY and key not in but.properties:
                parts.append(_with(key, complement(node)))
        for keys, node in self.somewhere:
            classes = ((keys, complement(node)), *((rest, ANY) for rest in keys.others()))
            parts.append(ObjectSet({}, classes=tuple(pair for pair in classes if pair[1] != NONE)))
        for clause in self.clauses:
            refused = {literal.key: complement(literal.node) for literal in clause}
            parts.append(ObjectSet(refused, required=tuple(literal.key for literal in clause if literal.or_absent)))
        if not self.is_open:
            unnamed = StringSet(excluded=tuple(self.properties))
            for keys, node in (*self.classes, *self.overlapping):
                inside = keys.intersect(unnamed) if node != ANY else None
                if inside is not None:
                    parts.append(ObjectSet({}, somewhere=((inside, complement(node)),)))
            parts.extend(ObjectSet({}, somewhere=((keys, ANY),)) for keys in self._outside_classes([unnamed]))
        return [part for part in (part.reduced() for part in parts) if part is not None]

    def _outside_classes(self, keys: list[StringSet]) -> list[StringSet]:
        """Return the given keys that are in no class, as disjoint sets."""
        for held, _ in self.classes:
            keys = [rest for mine in keys for rest in mine.split(held)[1]]
        return keys

    def cases(self, key: str) -> list[Case]:
        """Split the values of a key by the parts of `somewhere` that they satisfy.

        The union of the cases is `at(key)`.
        """
        if self.known_cases is not None and key in self.known_cases[0]:
            return self.known_cases[0][key]
        return cases(self.at(key), self.asked_of(key))

    def asked_of(self, key: str) -> list[tuple[int, Node]]:
        """Return the parts of `somewhere` that the value of a key may satisfy: their indices and nodes."""
        return [(number, node) for number, (keys, node) in enumerate(self.somewhere) if keys.contains(key)]

    def asked_in(self, keys: StringSet) -> list[tuple[int, Node]]:
        """Return the parts of `somewhere` that all keys of one of the sets of `key_cases` may satisfy."""
        return [(number, node) for number, (asked, node) in enumerate(self.somewhere) if not keys.split(asked)[1]]

    def key_cases(self, split_by: Callable[[Node, list[tuple[int, Node]]], list[Case]] | None = None) -> KeyCases:
        """Split the keys without properties into disjoint sets, and their values by the parts of `somewhere`.

        The sets may hold keys that have properties; the caller leaves those out.

        Args:
            split_by: splits the values of a node; by default as `cases` of `nodes.py`.
        """
        if self.known_cases is not None:
            return self.known_cases[1]
        split_by = split_by or cases
        if not self.somewhere:
            return [(keys, split_by(node, [])) for keys, node in self.partition()]
        found: list[tuple[StringSet, Node, tuple[int, ...]]] = [(keys, node, ()) for keys, node in self.partition()]
        for number, (asked, _) in enumerate(self.somewhere):
            split: list[tuple[StringSet, Node, tuple[int, ...]]] = []
            for keys, node, numbers in found:
                inside, outside = keys.split(asked)
                if inside is not None:
                    split.append((inside, node, (*numbers, number)))
                split.extend((rest, node, numbers) for rest in outside)
            found = split
        return [
            (keys, split_by(node, [(number, self.somewhere[number][1]) for number in numbers]))
            for keys, node, numbers in found
        ]


def _is_open(part: ObjectSet) -> bool:
    """Return whether every key without a property may have any value."""
    return part.classes is OPEN and not part.overlapping


def _has_finite(classes: tuple[KeyClass, ...]) -> bool:
    """Return whether one of some sets of keys is finite."""
    for keys, _ in classes:  # noqa: SIM110  (compiled, a generator takes longer)
        if keys.texts is not None:
            return True
    return False


def _meet_properties(part: ObjectSet, other: ObjectSet) -> dict[str, Node]:
    """Return the properties of the objects that are in both of two sets: the keys of the first one come first."""
    mine, theirs = part.properties, other.properties
    spend(1 + len(mine) + len(theirs))
    properties = dict(mine)
    if not _is_open(other):
        for key, node in mine.items():
            properties[key] = meet(node, other.at(key))
    is_open = _is_open(part)
    for key, node in theirs.items():
        old = mine.get(key)
        if old is None:
            properties[key] = node if is_open else meet(part.at(key), node)
        elif old is not node:
            properties[key] = meet(old, node)
    return properties


def _without(key: str) -> ObjectSet:
    """Return the objects without a key."""
    return ObjectSet(properties={key: NONE})


def _with(key: str, node: Node) -> ObjectSet:
    """Return the objects that have a key, with a value in a node."""
    return ObjectSet(properties={key: node}, required=(key,))


def _meet_classes(left: tuple[KeyClass, ...], right: tuple[KeyClass, ...]) -> tuple[KeyClass, ...]:
    """Return the common refinement of two lists of classes: each key's value must be in both of its nodes."""
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


ALL_OBJECTS = (ObjectSet({}),)
