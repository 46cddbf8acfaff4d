"""Bounds on the lengths and the number of a regex's texts, computed from its tree.

They answer questions about most patterns without building an automaton: does the pattern match a text of this length at
all, does it match more texts than are ever counted, and do all its texts keep within some bounds? And does it surely
not match texts of some length, such as `!!!`?
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, reduce
from math import inf, prod
from operator import and_, or_
from typing import TypeVar

from structgen.engine.regex.tree import (
    ByteSet,
    Chars,
    Choice,
    Complement,
    Early,
    Intersection,
    Literal,
    LiteralSet,
    Regex,
    Repeat,
    Sequence,
)

__all__ = ["bounds", "fewest", "has_other_than", "lengths", "repeated"]

_T = TypeVar("_T")

_UNKNOWN = (None, False)
_ANY_LENGTH = (0, inf)
_WITH_PARTS = (Sequence, Choice, Repeat, Intersection, Early)
_SURROGATES = 0x800
_SAMPLES = "\n !-./09AZ_az~\u00e9"  # a pattern that refuses some character most likely refuses one of these
_ALL_SAMPLES = (1 << len(_SAMPLES)) - 1
_MAX_BITS = 64
"""Counts of texts with more binary digits are treated as infinite."""


def lengths(regex: Regex) -> tuple[int | None, bool]:
    """Return the length of the shortest text in characters, and whether every greater length occurs.

    The length is None where the tree does not tell; then every length from some number on may occur. False only means
    that longer texts are not known to occur.
    """
    return _folded(regex, _lengths)


def fewest(regex: Regex) -> float:
    """Return a lower bound on the number of texts; 0 where the tree does not tell."""
    return _folded(regex, _fewest)[0]


def bounds(regex: Regex) -> tuple[float, float]:
    """Return bounds on the lengths of all texts, in characters; `(0, inf)` where the tree tells none.

    Texts of these lengths need not exist.
    """
    return _folded(regex, _bounds, _parts)


def repeated(regex: Regex) -> int:
    """Return for which sample characters c some text `c`, `cc`, `ccc`, … may match: bit n for the nth sample.

    A bit that is not set is certain: no such text matches. Then the complement has a text of each length from 1 on. For
    `[a-z]+` the bits of `a` and `z` are set.
    """
    return _folded(regex, _repeated, _parts)[1]


def has_other_than(repeated_by: list[int]) -> bool:
    """Return whether some sample character has its bit set in none of some results of `repeated`."""
    return reduce(or_, repeated_by, 0) != _ALL_SAMPLES


def _folded(
    regex: Regex, of: Callable[[Regex, list[_T]], _T], parts_of: Callable[[Regex], tuple[Regex, ...]] | None = None
) -> _T:
    """Compute `of` for all nodes of a tree, bottom up. It gets a node, and the results for the parts of the node."""
    parts_of = parts_of or _children
    done: dict[int, _T] = {}
    stack = [regex]
    while stack:
        node = stack[len(stack) - 1]
        if id(node) in done:
            stack.pop()
            continue
        children = parts_of(node)
        missing: list[Regex] = []
        for child in children:
            if id(child) not in done:
                if isinstance(child, _WITH_PARTS):
                    missing.append(child)
                else:
                    done[id(child)] = of(child, [])
        if missing:
            stack.extend(missing)
            continue
        done[id(node)] = of(node, [done[id(child)] for child in children])
        stack.pop()
    return done[id(regex)]


def _children(regex: Regex) -> tuple[Regex, ...]:
    if isinstance(regex, (Sequence, Choice)):
        return regex.parts
    return (regex.body,) if isinstance(regex, Repeat) else ()


def _parts(regex: Regex) -> tuple[Regex, ...]:
    """Return the parts of a node: those of `_children`, and also those of an intersection and of a shortest match."""
    if isinstance(regex, Intersection):
        return regex.parts
    return (regex.body,) if isinstance(regex, Early) else _children(regex)


def _bounds(regex: Regex, parts: list[tuple[float, float]]) -> tuple[float, float]:
    if isinstance(regex, (Chars, ByteSet)):
        return (1, 1) if isinstance(regex, Chars) or regex.mask < 1 << 128 else _ANY_LENGTH
    if isinstance(regex, Literal):
        return (_characters(regex.data), _characters(regex.data))
    if isinstance(regex, LiteralSet):
        found = [_characters(text) for text in regex.texts]
        return min(found), max(found)
    if isinstance(regex, Sequence):
        return sum(low for low, _ in parts), sum(high for _, high in parts)
    if isinstance(regex, Choice):
        return min(low for low, _ in parts), max(high for _, high in parts)
    if isinstance(regex, Intersection):
        return max(low for low, _ in parts), min(high for _, high in parts)
    if isinstance(regex, Repeat):
        low, high = parts[0]
        most = inf if regex.max is None else regex.max
        return low * regex.min, high * most if high and most else 0
    return parts[0] if isinstance(regex, Early) else _ANY_LENGTH


def _lengths(regex: Regex, parts: list[tuple[int | None, bool]]) -> tuple[int | None, bool]:
    if isinstance(regex, Chars):
        return (1, False) if regex.ranges else _UNKNOWN
    if isinstance(regex, Literal):
        return _characters(regex.data), False
    if isinstance(regex, LiteralSet):
        return min([_characters(text) for text in regex.texts]), False
    known = [shortest for shortest, _ in parts if shortest is not None]
    if isinstance(regex, Sequence) and len(known) == len(parts):
        return sum(known), any(endless for _, endless in parts)
    if isinstance(regex, Choice) and known:
        least = min(known)
        return least, any(endless and shortest == least for shortest, endless in parts)
    if isinstance(regex, Repeat) and (regex.min == 0 or known):
        shortest = known[0] if known else None
        endless = regex.max is None and shortest == 1
        return regex.min * (shortest or 0), endless or (regex.min == 1 and parts[0][1])
    return (None, True) if isinstance(regex, Intersection) and _leaves_most(regex) else _UNKNOWN


def _leaves_most(regex: Intersection) -> bool:
    """Return whether an intersection surely has texts that repeat one character.

    It has if it is a repeated class without some texts, and no excluded text repeats a certain character of the class:
    `[a-z]*` without `all` and `yes` has `aaaa`.
    """
    samples = _ALL_SAMPLES
    count = 0
    waiting: list[Regex] = [regex]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Intersection):
            waiting.extend(part.parts)
        elif isinstance(part, Complement):
            samples &= ~repeated(part.body)
        elif isinstance(part, Repeat) and isinstance(part.body, Chars) and part.max is None:
            samples &= _samples_of(part.body.ranges)
            count += 1
        else:
            return False
    return count == 1 and samples != 0


def _fewest(regex: Regex, parts: list[tuple[float, int | None]]) -> tuple[float, int | None]:
    """Return a lower bound on the number of texts, and their length if all have the same."""
    if isinstance(regex, Chars):
        return max(sum(high - low + 1 for low, high in regex.ranges) - _beyond(regex), 0), 1
    if isinstance(regex, (Literal, LiteralSet)):
        texts = (regex.data,) if isinstance(regex, Literal) else regex.texts
        found = {_characters(text) for text in texts}
        return len(set(texts)), found.pop() if len(found) == 1 else None
    if not parts or any(not count for count, _ in parts):
        return 0, None
    if isinstance(regex, Choice):
        return max(count for count, _ in parts), parts[0][1] if len({length for _, length in parts}) == 1 else None
    if isinstance(regex, Sequence):
        # With one text fixed for each part before and after, texts differ where those of this part do.
        fixed = prod(count for count, length in parts if length is not None)
        free = [count for count, length in parts if length is None]
        return fixed * max(free, default=1), None if free else sum(length or 0 for _, length in parts)
    if isinstance(regex, Repeat):
        return _fewest_repeated(regex, *parts[0])
    return 0, None


def _fewest_repeated(regex: Repeat, count: float, length: int | None) -> tuple[float, int | None]:
    least, most = regex.min, regex.max
    if most is not None and most < least:
        return 0, None
    if length == 0:
        return 1, 0
    if most is None:
        return inf, None
    if length is None:
        return (count if most else 1), None
    found = inf if count > 1 and most >= _MAX_BITS else count**most
    return found, length * least if least == most else None


def _repeated(regex: Regex, parts: list[tuple[bool, int]]) -> tuple[bool, int]:
    """Return whether the empty text may match, and the samples that a text which matches may repeat."""
    if isinstance(regex, Literal):
        return not regex.data, _sample_repeated_in(regex.data)
    if isinstance(regex, Chars):
        return False, _samples_of(regex.ranges)
    if isinstance(regex, LiteralSet):
        parts = [_repeated(Literal(text), []) for text in regex.texts]
    if isinstance(regex, (Choice, LiteralSet)):
        return any(empty for empty, _ in parts), reduce(or_, [samples for _, samples in parts], 0)
    if isinstance(regex, Sequence):
        within = [_ALL_SAMPLES if empty else samples for empty, samples in parts]
        samples = reduce(or_, [samples for _, samples in parts], 0)
        return all(empty for empty, _ in parts), reduce(and_, within) & samples
    if isinstance(regex, Intersection):
        return all(empty for empty, _ in parts), reduce(and_, [samples for _, samples in parts])
    if isinstance(regex, Repeat):
        empty, samples = parts[0]
        return empty or not regex.min, samples if regex.max != 0 else 0
    return parts[0] if isinstance(regex, Early) else (True, _ALL_SAMPLES)


def _sample_repeated_in(data: bytes) -> int:
    """Return the bit of the sample that a text repeats; 0 if it is another text."""
    text = data.decode(errors="replace")
    number = _SAMPLES.find(text[:1]) if text else -1
    return 1 << number if number >= 0 and text == text[0] * len(text) else 0


@lru_cache(maxsize=1024)
def _samples_of(ranges: tuple[tuple[int, int], ...]) -> int:
    """Return the samples in a character class."""
    points = list(map(ord, _SAMPLES))
    return sum(1 << n for n, point in enumerate(points) if any(low <= point <= high for low, high in ranges))


def _characters(data: bytes) -> int:
    """Return the number of characters of a text in UTF-8."""
    if data.isascii():
        return len(data)
    found = 0
    for byte in data:
        found += byte & 0xC0 != 0x80
    return found


def _beyond(regex: Chars) -> int:
    """Return the number of surrogate code points that a class may hold; they are no characters."""
    for low, high in regex.ranges:
        if low < 0xE000 and high > 0xD7FF:
            return _SURROGATES
    return 0
