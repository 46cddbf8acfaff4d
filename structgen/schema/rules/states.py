"""States of objects and arrays: the part of what was written that decides what may follow. Rules are named by states.

An object of two properties, in the schema's order, has the states 0, 1 and 2, the index of the next property:

    {                              0
    {"name":"Ada"                  1
    {"name":"Ada","age":36         2

This module has the states and the descriptions of an object's members. `object_states` computes the transitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from structgen.schema.algebra import Case, Node, StringSet
from structgen.schema.json_text.values import Value
from structgen.schema.rules.written_sets import Written

__all__ = ["MAX_COUNTED_KEYS", "ArrayState", "ObjectState", "OtherKeys", "Pair", "Property"]

MAX_COUNTED_KEYS = 10_000
"""Keys without a property are counted up to this number; more are taken to be endless."""

_NONE: frozenset[Any] = frozenset()  # one object shared by all states, as there are many


class Property:
    """A property that may be written.

    Attributes:
        key: its decoded name.
        node: the schema node of its value.
        cases: its values, split by the parts of `ObjectSet.somewhere` that they satisfy; empty if there are no parts.
        is_required: whether every object must have it.
    """

    def __init__(self, key: str, node: Node, cases: tuple[Case, ...], is_required: bool) -> None:
        self.key = key
        self.node = node
        self.cases = cases
        self.is_required = is_required


class OtherKeys:
    """A class of keys without a property: `size` of them, counted up to `MAX_COUNTED_KEYS`.

    Attributes:
        keys: the set of strings that contains the keys.
        cases: their values, split by the parts of `ObjectSet.somewhere` that they satisfy.
        mark: the prefix of placeholders for its keys. A search over states puts a placeholder into `seen` for any key.
            It begins with a lone surrogate, as no key does.
        is_endless: whether there is always another key.
        is_mixed: whether the values depend on the key: `cases` has the values of all keys together.
    """

    def __init__(
        self, number: int, keys: StringSet, cases: tuple[Case, ...], size: int, is_mixed: bool = False
    ) -> None:
        self.is_mixed = is_mixed
        self.keys = keys
        self.cases = cases
        self.size = size
        self.mark = f"\ud800{number}:"
        self.is_endless = size >= MAX_COUNTED_KEYS

    def left(self, seen: Written) -> int:
        """Return the number of its keys that were not seen."""
        left = self.size
        for key in seen:
            if key.startswith(self.mark) or self.keys.contains(key):
                left -= 1
        return left


@dataclass(unsafe_hash=True)
class ObjectState:
    """The part of an object written so far that decides what may follow.

    Attributes:
        progress: in the schema's order, the index of the next property. In any order, a bit set: bit i is set once
            property i was written.
        written: the number of pairs, where it matters; without an upper bound, it stops at the lower bound.
        given: the parts of `ObjectSet.somewhere` that some value satisfies already.
        seen: the keys written so far that the schema does not name.
        avoid: objects that are excluded from the set and agree with this one so far.
    """

    progress: int
    written: int = 0
    given: frozenset[int] = _NONE
    seen: Written = _NONE
    avoid: frozenset[Value] = _NONE


class Pair:
    """A pair that may come next.

    Attributes:
        key: its key; None for any unseen key of the class.
        node: the node of its value.
        values: values of the node that are excluded.
        state: the state after it.
        deferred: if the value decides the state once it is written (`ObjectStates.state_after`): i + 1 for the property
            i, and -1 - i for a key of the class i. Then `state` is the one after a value that decides nothing. 0
            otherwise.
    """

    def __init__(
        self, key: str | None, node: Node, values: frozenset[Value], state: ObjectState, deferred: int = 0
    ) -> None:
        self.key = key
        self.node = node
        self.values = values
        self.state = state
        self.deferred = deferred


@dataclass(unsafe_hash=True)
class ArrayState:
    """The part of an array written so far that decides what may follow.

    Attributes:
        written: the number of items; it stops where a larger number changes nothing.
        counts: the number of matching items for each of `ArraySet.contains`; without an upper bound, it stops at the
            lower bound.
        seen: the items so far, where items must differ, or where two must be equal and none are yet.
        avoid: arrays that are excluded from the set and agree with this one so far.
        repeats: whether two items are equal, where two must be.
    """

    written: int
    counts: tuple[int, ...]
    seen: Written = _NONE
    avoid: frozenset[Value] = _NONE
    repeats: bool = False
