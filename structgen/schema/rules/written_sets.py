"""The keys of an object, or the items of an array, that were written so far: sets that grow by one value at a time.

States hold such a set where keys or items must differ, and rules are named by states. With a copy for each state, 1,000
keys would take half a million entries. So the sets along one text share a line of values:

    {"a":1               line -         last a
    {"a":1,"b":2         line a         last b
    {"a":1,"b":2,"c":3   line a  b      last c
    {"a":1,"b":2,"d":3   line a  b      last d     of many keys that a mask tries, only the one that is written goes on
    {"a":1,"d":2,"e":3   line a  d      last e     another line: in the first one, b comes after a

They are values, as frozen sets are: equal sets have equal hashes, whatever their lines.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, TypeAlias

from structgen.engine.grammar.tables import Refusals, Spelling
from structgen.schema.rules.notation import Notation

__all__ = ["Written", "WrittenSet", "rests_of", "with_written"]

# Declared as C integers in the .pxd, so not importable from here.
# Rests are kept for so many texts together: of 5,000 texts for the first 4,096, for three times 256, for 8 times 16.
LARGEST = 4096
SMALLEST = 16
STEP = 16
MAX_BEGUN = 2  # bytes of a text, such as its quote, after which many of the texts may go on


def text_of(value: Any) -> str | None:
    """Return a key, or the string that an item is; None for other items."""
    if isinstance(value, str):
        return value
    return str(value[1]) if value[0] == "string" else None


def texts_of(values: Iterable[Any]) -> list[str]:
    """Return the keys, or the strings, among some values."""
    return [text for text in map(text_of, values) if text is not None]


class Line:
    """The values that were written in some text, in their order. Sets share it.

    Args:
        values: the values, all different.

    Attributes:
        values: keys, or values as `read_value` returns them.
        places: the index of each in `values`.
        groups: by the bytes that were written of a text, the index of a value, and a number of values: their rests.
        seen_numbers: what `written_numbers` made of the first values, for each number of them; by kind.
    """

    def __init__(self, values: list[Any]) -> None:
        self.values = values
        self.places = {value: place for place, value in enumerate(values)}
        self.groups: dict[tuple[bytes, int, int], tuple[Spelling, ...]] = {}
        self.seen_numbers: dict[Any, list[Any]] = {}
        self._sorted: list[tuple[str, int]] | None = None  # texts and places, once they were asked for

    def add(self, value: Any) -> None:
        """Append a value that is not there."""
        place, text = len(self.values), text_of(value)
        self.places[value] = place
        self.values.append(value)
        if self._sorted is not None and text is not None:
            insort(self._sorted, (text, place))

    def branched(self, size: int, value: Any) -> Line:
        """Return a line of the first `size` values and another one."""
        found = Line([*islice(self.values, size), value])
        found.seen_numbers.update({kind: seen[: size + 1] for kind, seen in self.seen_numbers.items()})
        return found

    def beginning_with(self, start: str, size: int) -> list[str]:
        """Return those texts of the first `size` values that begin with some characters."""
        if self._sorted is None:
            texts = enumerate(map(text_of, self.values))
            self._sorted = sorted([(text, place) for place, text in texts if text is not None])
        found: list[str] = []
        for at in range(bisect_left(self._sorted, (start, -1)), len(self._sorted)):
            text, place = self._sorted[at]
            if not text.startswith(start):
                break
            if place < size:
                found.append(text)
        return found


class WrittenSet:
    """The first values of a line and one more, as a set that does not change.

    Args:
        line: the line. It may be replaced by another one that begins with the same values.
        size: the number of values.
        last: the last one, which the line may not have.
        mixed: the hashes of them all, combined in any order.

    Attributes:
        line, size, last, mixed: the same.
    """

    def __init__(self, line: Line, size: int, last: Any, mixed: int) -> None:
        self.line = line
        self.size = size
        self.last = last
        self.mixed = mixed

    def __len__(self) -> int:
        return self.size

    def __contains__(self, value: object) -> bool:
        return self.line.places.get(value, self.size) < self.size - 1 or value == self.last

    def __iter__(self) -> Iterator[Any]:
        return chain(islice(self.line.values, self.size - 1), (self.last,))

    def __hash__(self) -> int:
        return self.mixed

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WrittenSet):
            return NotImplemented
        if self.size != other.size or self.mixed != other.mixed:
            return False
        return (self.line is other.line and self.last == other.last) or all(map(other.__contains__, self))

    def __or__(self, values: Collection[Any]) -> WrittenSet:
        found = self
        for value in values:
            found = found.having(value)
        return found

    def union(self, *others: Iterable[Any]) -> frozenset[Any]:
        """Return the values of this set and of others."""
        return frozenset(self).union(*others)

    def difference(self, *others: Iterable[Any]) -> frozenset[Any]:
        """Return the values that are in none of the others."""
        return frozenset(self).difference(*others)

    def having(self, value: Any) -> WrittenSet:
        """Return the set that has one value more."""
        if value in self:
            return self
        values, place = self.line.values, self.size - 1
        if place == len(values):
            self.line.add(self.last)
        elif values[place] != self.last:
            self.line = self.line.branched(place, self.last)
        return WrittenSet(self.line, self.size + 1, value, self.mixed ^ hash(value))


Written: TypeAlias = frozenset[Any] | WrittenSet
"""What was written: mostly a `WrittenSet`. Searches over states, and the first state, have frozen sets."""


def with_written(values: Written, value: Any) -> WrittenSet:
    """Return the set of some values and one that was written after them."""
    if isinstance(values, WrittenSet):
        return values.having(value)
    if not values:
        return WrittenSet(Line([]), 1, value, hash(value))
    before = list(values)
    first = WrittenSet(Line([]), 1, before[0], hash(before[0]))
    return (first | before).having(value)


def rests_of(notation: Notation, values: Written, begun: bytes) -> Refusals:
    """Return the rests of texts that were written before, after some bytes of another text; see `RuleSource.refusals`.

    Args:
        notation: spells the texts.
        values: the keys, or the items, of which the strings count.
        begun: the bytes.
    """
    if not isinstance(values, WrittenSet):
        return (), notation.completions(tuple(sorted(texts_of(values))), begun)
    line, size = values.line, values.size
    if len(begun) > MAX_BEGUN:
        start = notation.surely_begun(begun)
        if not start:
            return (), notation.completions(texts_of(values), begun)
        texts = line.beginning_with(start, size - 1) + texts_of((values.last,))
        return (), notation.completions(texts, begun)
    groups: list[Sequence[Spelling]] = []
    at, many = 0, LARGEST
    while many >= SMALLEST:
        if at + many < size:
            rests = _group(notation, line, begun, at, many)
            if rests:
                groups.append(rests)
            at += many
        else:
            many //= STEP
    texts = texts_of([*line.values[at : size - 1], values.last])
    return tuple(groups), notation.completions(texts, begun)


def _group(notation: Notation, line: Line, begun: bytes, first: int, many: int) -> tuple[Spelling, ...]:
    """Return the rests of some values of a line, the same object each time."""
    key = (begun, first, many)
    rests = line.groups.get(key)
    if rests is None:
        texts = texts_of(line.values[first : first + many])
        rests = line.groups[key] = notation.completions(texts, begun)
    return rests
