"""Cheap facts of a regex: the lengths of its texts, and the characters that they begin and end with.

    edges("ab|c")      first {a, c}, last {b, c}, shortest 1, longest 2

The facts save intersections that would have no effect, and alternatives that match nothing. They err on the safe side:
a set may have more characters than occur, and the bounds of lengths may be too wide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex.tree import (
    ANY_CHAR,
    NOTHING,
    ByteSet,
    Chars,
    Choice,
    Complement,
    Early,
    Intersection,
    Literal,
    Regex,
    Repeat,
    Sequence,
    intersection,
    plus,
    repeat,
    sequence,
    star,
)
from structgen.engine.regex.unicode_classes import ANY, Ranges, union_of
from structgen.engine.regex.unicode_classes import intersection_of as _intersection_of

__all__ = ["ANY_TEXT", "Edges", "beginning_with", "edges", "ending_with", "has_more_nodes", "is_nullable", "not_empty"]

ANY_TEXT = star(ANY_CHAR)

# Unicode's classes have hundreds of ranges, and a pattern has few classes.
intersection_of = lru_cache(maxsize=256)(_intersection_of)

MAX_NODES = 300  # of a regex that are visited; past these nothing is known
MAX_DEPTH = 50


@dataclass(frozen=True, slots=True)
class Edges:
    """Bounds on the texts of a regex.

    Attributes:
        first, last: the characters that its non-empty texts may begin and end with.
        shortest, longest: the least and the largest number of characters; `longest` is None without bound.
    """

    first: Ranges = ANY
    last: Ranges = ANY
    shortest: int = 0
    longest: int | None = None


_UNKNOWN = Edges()
_EMPTY = Edges((), (), 0, 0)


def edges(regex: Regex) -> Edges:
    """Return the bounds of a regex of whole characters."""
    return _edges(regex, [MAX_NODES], 0)


def _edges(regex: Regex, left: list[int], depth: int) -> Edges:
    left[0] -= 1
    if left[0] < 0 or depth > MAX_DEPTH:
        return _UNKNOWN
    match regex:
        case Literal(data):
            return _edges_of_text(data)
        case Chars(ranges):
            return Edges(ranges, ranges, 1, 1)
        case ByteSet(0):
            return _EMPTY
        case Sequence(parts):
            found = _EMPTY
            for part in parts:
                found = _after(found, _edges(part, left, depth + 1))
            return found
        case Choice(parts):
            return _any_of([_edges(part, left, depth + 1) for part in parts])
        case Repeat(body, low, high):
            inner = _edges(body, left, depth + 1)
            longest = 0 if inner.longest == 0 else None
            if inner.longest is not None and high is not None:
                longest = inner.longest * high
            return Edges(inner.first, inner.last, inner.shortest * low, longest)
        case Intersection(parts):
            return _all_of([_edges(part, left, depth + 1) for part in parts])
    return _UNKNOWN


def _edges_of_text(data: bytes) -> Edges:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return _UNKNOWN
    if not text:
        return _EMPTY
    first, last = ord(text[0]), ord(text[-1])
    return Edges(((first, first),), ((last, last),), len(text), len(text))


def _after(left: Edges, right: Edges) -> Edges:
    """Return the bounds of one regex after the other."""
    return Edges(
        left.first if left.shortest else union_of([*left.first, *right.first]),
        right.last if right.shortest else union_of([*left.last, *right.last]),
        left.shortest + right.shortest,
        None if left.longest is None or right.longest is None else left.longest + right.longest,
    )


def _any_of(parts: list[Edges]) -> Edges:
    """Return the bounds of a choice."""
    bounds = [part.longest for part in parts if part.longest is not None]
    return Edges(
        union_of(r for part in parts for r in part.first),
        union_of(r for part in parts for r in part.last),
        min(part.shortest for part in parts),
        max(bounds) if len(bounds) == len(parts) else None,
    )


def _all_of(parts: list[Edges]) -> Edges:
    """Return the bounds of an intersection."""
    first, last = ANY, ANY
    for part in parts:
        first, last = intersection_of(first, part.first), intersection_of(last, part.last)
    longest = min((part.longest for part in parts if part.longest is not None), default=None)
    return Edges(first, last, max(part.shortest for part in parts), longest)


def not_empty(regex: Regex) -> Regex:
    """Return a regex without the empty text."""
    if not is_nullable(regex):
        return regex
    if regex == Literal(b""):
        return NOTHING
    if isinstance(regex, Repeat) and regex.min == 0 and not is_nullable(regex.body):
        return repeat(regex.body, 1, regex.max)
    return intersection(regex, plus(ANY_CHAR))


def ending_with(regex: Regex, ranges: Ranges) -> Regex:
    """Return the texts of a regex that end with a character of a set."""
    if regex == ANY_TEXT:
        return sequence(ANY_TEXT, Chars(ranges)) if ranges else NOTHING
    seen = edges(regex)
    return _restricted(regex, seen, seen.last, ranges, sequence(ANY_TEXT, Chars(ranges)))


def beginning_with(regex: Regex, ranges: Ranges) -> Regex:
    """Return the texts of a regex that begin with a character of a set."""
    if regex == ANY_TEXT:
        return sequence(Chars(ranges), ANY_TEXT) if ranges else NOTHING
    seen = edges(regex)
    return _restricted(regex, seen, seen.first, ranges, sequence(Chars(ranges), ANY_TEXT))


def _restricted(regex: Regex, seen: Edges, edge: Ranges, ranges: Ranges, within: Regex) -> Regex:
    """Return the texts of a regex whose first or last character (`edge`) is in the ranges."""
    if seen.longest == 0 or not intersection_of(edge, ranges):
        return NOTHING
    if intersection_of(edge, ranges) == edge:
        return regex if seen.shortest else not_empty(regex)
    return intersection(regex, within)


def has_more_nodes(regex: Regex, most: int) -> bool:
    """Return whether a tree has more than `most` nodes; a shared part counts at each of its uses."""
    stack = [regex]
    while stack and most >= 0:
        most -= 1
        match stack.pop():
            case Sequence(parts) | Choice(parts) | Intersection(parts):
                stack.extend(parts)
            case Repeat(body, _, _) | Complement(body) | Early(body):
                stack.append(body)
    return most < 0


def is_nullable(regex: Regex) -> bool:
    """Return whether a regex matches the empty text; it visits no more nodes than needed for the answer."""
    # Open nodes: their remaining parts, the value of a part that decides the node, whether to negate the outcome.
    stack: list[tuple[Iterator[Regex], bool, bool]] = []
    value = False
    node: Regex | None = regex
    while node is not None:
        match node:
            case Sequence(parts) | Intersection(parts):
                stack.append((iter(parts), False, False))
                value = True
            case Choice(parts):
                stack.append((iter(parts), True, False))
                value = False
            case Complement(body) | Early(body):
                stack.append((iter((body,)), False, isinstance(node, Complement)))
                value = True
            case Repeat(body, low, _):
                stack.append((iter((body,) if low else ()), False, False))
                value = True
            case _:
                value = _leaf_is_nullable(node)
        node = None
        while stack and node is None:
            parts_left, decisive, negated = stack[-1]
            node = next(parts_left, None) if value != decisive else None
            if node is None:
                stack.pop()
                value = value != negated
    return value


def _leaf_is_nullable(leaf: Regex) -> bool:
    """Return whether a regex without parts matches the empty text."""
    match leaf:
        case Literal(data):
            return not data
        case Chars() | ByteSet():
            return False
    store = AutomatonStore()
    return store.is_accepting(store.add(leaf))
