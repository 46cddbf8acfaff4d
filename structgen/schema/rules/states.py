"""What the members of an object may be, and how much of an object or array was written: what rules are named by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from structgen.schema.algebra import Case, Node, StringSet
from structgen.schema.json_text.values import Value

__all__ = ["MANY_KEYS", "ArrayState", "ObjectState", "OtherKeys", "Property"]

MANY_KEYS = 10_000
"""Other keys are counted up to so many; more are taken to be without end."""

_NONE: frozenset[Any] = frozenset()  # one for all states: there are many


class Property:
    """A property that may be written.

    Attributes:
        cases: of its values, by which of `ObjectSet.somewhere` they give; none where nothing is asked.
    """

    def __init__(self, key: str, node: Node, cases: tuple[Case, ...], is_required: bool) -> None:
        self.key = key
        self.node = node
        self.cases = cases
        self.is_required = is_required


class OtherKeys:
    """Keys without a property: `size` of them, up to `MANY_KEYS`.

    Attributes:
        mark: begins what stands for any of its keys among those that a state has seen, where states are searched.
        is_endless: whether there are always more.
    """

    def __init__(self, number: int, keys: StringSet, cases: tuple[Case, ...], size: int) -> None:
        self.keys = keys
        self.cases = cases
        self.size = size
        self.mark = f"\0{number}:"
        self.is_endless = size >= MANY_KEYS

    def left(self, seen: frozenset[str]) -> int:
        """How many of its keys were not seen."""
        left = self.size
        for key in seen:
            if key.startswith(self.mark) or self.keys.contains(key):
                left -= 1
        return left


@dataclass(unsafe_hash=True)
class ObjectState:
    """What was written of an object, as far as it matters for what follows.

    Attributes:
        place: in the schema's order, the index of the next property; in any order, bit i: property i was written.
        written: how many pairs, where that matters; without an upper bound up to the lower one.
        given: which of `ObjectSet.somewhere` were given.
        seen: the keys that the schema does not name.
        avoid: objects that are left out of the set and begin as this one does.
    """

    place: int
    written: int = 0
    given: frozenset[int] = _NONE
    seen: frozenset[str] = _NONE
    avoid: frozenset[Value] = _NONE


@dataclass(unsafe_hash=True)
class ArrayState:
    """What was written of an array, as far as it matters for what follows.

    Attributes:
        written: how many items; where nothing more depends on it, it stays.
        counts: for each of `ArraySet.contains` how many items added to it; without an upper bound up to the lower one.
        seen: the items, where they must differ, or two must be equal and none are yet.
        avoid: arrays that are left out of the set and begin as this one does.
        repeats: whether two items are equal, where they must be.
    """

    written: int
    counts: tuple[int, ...]
    seen: frozenset[Value] = _NONE
    avoid: frozenset[Value] = _NONE
    repeats: bool = False
