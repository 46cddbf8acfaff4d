"""The terminal of numbers that differ from those written so far. One more number changes a small part of it.

The regex of all numbers without n values has a part for each gap between them. Made anew for each item, it costs more
with each item. So here most values are removed by their texts, which are kept as a tree:

    [12, 15, 7        12 is removed as the regexes of `numbers_regex` do it: integers to 11, or from 13
                      & not     1  5 (.0*)?                the tree of texts: 15, 15.0, 1.5e1, 7, 7.0, 7e0
                                .  5 0*e1
                             7  (.0*)? | (.0*)?e0

    …, 16             adds a text below 1 and one below 1.; what is below 7 is the same object, so the engine has the
                      automata of it and the masks of their states

The result accepts the same texts as the regexes without all values: that is what decides which values are *base*, of
those that `numbers_regex` is made without. Its forms depend on the values:

- The first value is base: numbers without bounds have forms that others have not, such as 12e5.
- Integers in scientific form have more zeros, as in 1.50e1, where no gap begins or ends in their decade. So the first
  values that touch a decade are base.
- Numbers without exponents, or near 0, may have more digits after the point where a bound has many. Such values, and
  others that doubles do not tell apart, are *odd*: they and their neighbours are base.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from structgen.engine.regex.tree import Intersection, Literal, Regex, choice, difference, sequence
from structgen.schema.algebra import Number, NumberSet
from structgen.schema.algebra.numbers import ANY_FORM, DIGITS
from structgen.schema.json_text.number_terminals import numbers_regex
from structgen.schema.json_text.number_texts import Text, texts_of_number
from structgen.schema.json_text.plain_numbers import plain_numbers_regex
from structgen.schema.json_text.values import numbers_of
from structgen.schema.rules.written_sets import Written, WrittenSet

__all__ = ["WrittenNumbers", "number_pieces", "surely_many"]

_MAX_LISTED = 8  # texts of a node of the tree; of more, those that begin with the same byte have a node
_LARGE = 10**15  # from here on, numbers are odd: doubles have few digits left after the point, or none
_SMALL = Fraction(1, 1000)  # below it, the doubles beside a number have more than 20 digits after the point
_SMALL_PLAIN = 1  # below it, they have more than 16, to which the plain forms add one
_MIN_KEPT = 8  # values; a terminal without fewer is made anew
_MAX_RECENT = 4  # results that are kept
_MANY = 10**9  # decimals between two integers


class _Texts:
    """A set of texts as a tree by their bytes. Immutable; another one with more texts shares nodes with it.

    Attributes:
        listed: texts.
        children: the texts that begin with a byte, without that byte.
    """

    def __init__(self, listed: tuple[Text, ...], children: dict[int, _Texts]) -> None:
        self.listed = listed
        self.children = children
        self._regex: Regex | None = None

    def having(self, text: Text) -> _Texts:
        """Return the set with one text more."""
        begun, rest = text
        if begun and self.children:
            child = self.children.get(begun[0], _NO_TEXTS)
            return _Texts(self.listed, {**self.children, begun[0]: child.having((begun[1:], rest))})
        listed = (*self.listed, text)
        if self.children or sum([len(one[0]) > 0 for one in listed]) <= _MAX_LISTED:
            return _Texts(listed, self.children)
        children: dict[int, _Texts] = {}
        for begun, rest in listed:
            if begun:
                children[begun[0]] = children.get(begun[0], _NO_TEXTS).having((begun[1:], rest))
        return _Texts(tuple([one for one in listed if not one[0]]), children)

    def regex(self) -> Regex:
        """Return the regex of the texts: an operator, whose term the engine keeps for the same object."""
        if self._regex is None:
            parts = [sequence(Literal(begun), rest) for begun, rest in self.listed]
            parts += [sequence(Literal(bytes([byte])), child.regex()) for byte, child in self.children.items()]
            self._regex = Intersection((choice(*parts),))
        return self._regex


_NO_TEXTS = _Texts((), {})


class _Kind:
    """A set of numbers in some forms, from which written values are removed.

    Args:
        part: the set; see `_kind_of` for the sets that have a kind.
        is_plain: numbers are written without an exponent.
    """

    def __init__(self, part: NumberSet, is_plain: bool) -> None:
        self.part = part
        self.is_whole = part.multiple is not None
        self.is_plain = is_plain or part.written == DIGITS
        self._regex_of = plain_numbers_regex if is_plain else numbers_regex

    def regex_without(self, base: tuple[Number, ...]) -> Regex:
        """Return the numbers without some values, which are sorted."""
        return self._regex_of(tuple(number_pieces(self.part, base)))

    def texts_of(self, value: Number) -> list[Text]:
        """Return the texts of a value."""
        return texts_of_number(value, is_whole=self.is_whole, is_plain=self.is_plain)

    def is_odd(self, value: Number) -> bool:
        """Return whether a value, and its neighbours, must be base."""
        size = max(value, -value)
        if self.is_whole or not size:
            return size >= _LARGE
        return size >= _LARGE or size < (_SMALL_PLAIN if self.is_plain else _SMALL)

    def decades(self, value: Number) -> set[int]:
        """Return the decades in which a gap ends or begins if a value is written; negative numbers have their own.

        A gap that begins at a power of ten has the whole decade, if it is long enough.
        """
        if self.is_plain or not self.is_whole or not value:
            return set()
        size, sign = abs(int(value)), 1 if value > 0 else -1
        found = {sign * len(str(size - 1))} if size > 1 else set()
        after = str(size + 1)
        return found | {sign * len(after)} if after.strip("0") != "1" else found | {sign * _FIRST}


_FIRST = 1_000  # in place of a decade: some number of this sign is written


class _Seen:
    """Values that are removed from the numbers of a kind. Immutable; another one with more values shares its parts.

    Attributes:
        base: the values that the regex of `base_regex` is made without, sorted.
        decades: those that base values touch.
        texts: the texts of the other values.
    """

    def __init__(self, kind: _Kind, base: tuple[Number, ...], decades: frozenset[int], texts: _Texts) -> None:
        self.kind = kind
        self.base = base
        self.decades = decades
        self.texts = texts
        self._base_regex: Regex | None = None
        self._regex: Regex | None = None

    def having(self, value: Number, before: Callable[[], Iterable[Number]]) -> _Seen:
        """Return the values with one more.

        Args:
            value: the new value.
            before: returns the values so far.
        """
        if not self.kind.part.contains(value):
            return self
        decades = self.kind.decades(value)
        new: set[Number] = set()
        if self.kind.is_odd(value):
            new = {value, *_neighbours(value, filter(self.kind.part.contains, before()))}
        elif not self.base or not decades <= self.decades or any(map(self.kind.is_odd, _neighbours(value, self.base))):
            new = {value}
        if new:
            return _Seen(self.kind, tuple(sorted({*self.base, *new})), self.decades | decades, self.texts)
        texts = self.texts
        for text in self.kind.texts_of(value):
            texts = texts.having(text)
        found = _Seen(self.kind, self.base, self.decades, texts)
        found._base_regex = self._base_regex
        return found

    def base_regex(self) -> Regex:
        """Return the numbers without the base values: the same object as long as these are the same."""
        if self._base_regex is None:
            self._base_regex = self.kind.regex_without(self.base)
        return self._base_regex

    def regex(self) -> Regex:
        """Return the numbers without the values."""
        if self._regex is None:
            base = self.base_regex()
            self._regex = base if self.texts is _NO_TEXTS else difference(base, self.texts.regex())
        return self._regex


def _neighbours(value: Number, others: Iterable[Number]) -> list[Number]:
    """Return the largest of some numbers below a value, and the smallest above it."""
    known = sorted(others)
    at = bisect_left(known, value)
    return [*known[max(at - 1, 0) : at], *known[at : at + 1]]


class WrittenNumbers:
    """The terminals of numbers except some, each made of one that was made before.

    Values that were written one after another share a line (`WrittenSet`), which holds what was made of its beginnings.
    Other sets of values, such as the first items of arrays that are excluded, grow by a few values, too. For them, the
    last results are kept.
    """

    def __init__(self) -> None:
        self._recent: dict[tuple[NumberSet, bool], list[tuple[frozenset[Number], _Seen]]] = {}

    def terminal(self, parts: tuple[NumberSet, ...], values: Written, *, is_plain: bool) -> Regex | None:
        """Return the terminal of the numbers of a set except some values.

        None if it has to be made anew: of `number_pieces`.
        """
        if len(parts) != 1 or surely_many(parts[0]) <= len(values):
            return None
        if isinstance(values, WrittenSet):
            return _seen_on_line(parts[0], values, is_plain).regex()
        if len(values) < _MIN_KEPT:
            return None
        return self._seen_recently(parts[0], frozenset(numbers_of(values)), is_plain).regex()

    def _seen_recently(self, part: NumberSet, values: frozenset[Number], is_plain: bool) -> _Seen:
        recent = self._recent.setdefault((part, is_plain), [])
        known, seen = frozenset[Number](), _Seen(_Kind(part, is_plain), (), frozenset(), _NO_TEXTS)
        for at, (others, found) in enumerate(recent):
            if others <= values:
                known, seen = others, found
                del recent[at]
                break
        for value in sorted(values - known):
            seen = seen.having(value, lambda known=known: known)  # type: ignore[misc]
            known |= {value}
        recent.insert(0, (values, seen))
        del recent[_MAX_RECENT:]
        return seen

    def forget(self) -> None:
        """Drop the results."""
        self._recent.clear()


def _seen_on_line(part: NumberSet, values: WrittenSet, is_plain: bool) -> _Seen:
    """Return what was seen of a set that was written."""
    line, at = values.line, values.size - 1
    history: list[_Seen] | None = line.seen_numbers.get((part, is_plain))
    if history is None:
        history = line.seen_numbers[part, is_plain] = [_Seen(_Kind(part, is_plain), (), frozenset(), _NO_TEXTS)]
    while len(history) <= at:
        size = len(history) - 1
        history.append(_with(history[size], line.values, size, line.values[size]))
    return _with(history[at], line.values, at, values.last)


def _with(seen: _Seen, line: list[Any], size: int, value: Any) -> _Seen:
    """Return what was seen of the first values of a line, and another one."""
    return seen.having(value[1], lambda: numbers_of(line[:size])) if value[0] == "number" else seen


def surely_many(part: NumberSet) -> float:
    """Return a lower bound of the number of values of a set; 0 for sets from which texts are not removed here."""
    if part.values is not None or part.outside or part.multiple not in (None, 1):
        return 0
    for bound in (part.low, part.high):
        if bound is not None and not (isinstance(bound, int) and abs(bound) < _LARGE):
            return 0
    low, high = part.low, part.high
    if part.written != ANY_FORM and (part.multiple is None or part.written != DIGITS):
        return 0
    if low is None or high is None:
        return math.inf
    if part.multiple is None:
        return _MANY if high - low > 1 else 0
    return max(int(high - low) + 1 - part.low_open - part.high_open, 0)


def number_pieces(part: NumberSet, numbers: Iterable[Number]) -> list[NumberSet]:
    """Return the parts of a set between some numbers, which are sorted."""
    pieces: list[NumberSet] = []
    last: NumberSet | None = part  # the piece above the numbers so far
    for number in numbers:
        if last is not None and last.contains(number):
            below, above = NumberSet(values=(number,)).complement()
            piece = last.intersect(below)
            if piece is not None:
                pieces.append(piece)
            last = last.intersect(above)
    return pieces if last is None else [*pieces, last]
