r"""Marks: the spellings of token terminals, by which the engine reads tokens as bytes.

A token terminal of a grammar is one token, whatever its text. The engine reads bytes. So such a token gets a second
spelling, its *mark*: the byte 0xFF, which never occurs in UTF-8, and its id in three bytes.

    token 1000    \xff \x00 \x03 \xe8

A grammar with token terminals is compiled for a vocabulary that also has the marks of the tokens that it names
(`Vocabulary.marked`). In such a grammar no text has the byte 0xFF: `without_marks` removes it from the other terminals,
and tokens whose text has it are not in that vocabulary. So a mark is read as a whole or not at all, and never as text.

A token that stands for text, too, has two readings. After it the item set is the union of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from structgen.engine.regex import tree as rx

__all__ = [
    "MARK_BYTE",
    "MARK_LENGTH",
    "Ranges",
    "is_mark",
    "mark_of",
    "marks_regex",
    "pieces_of",
    "token_of",
    "without_marks",
]

MARK_BYTE = 0xFF
MARK_LENGTH = 4
ALL_BUT_MARK = (1 << 256) - 1 ^ 1 << MARK_BYTE
NO_MARK = rx.Repeat(rx.ByteSet(ALL_BUT_MARK), 0, None)

Ranges = tuple[tuple[int, int], ...]
"""Token ids as inclusive ranges: sorted, disjoint, not adjacent."""


def mark_of(token_id: int) -> bytes:
    """Return the mark of a token."""
    return bytes((MARK_BYTE, token_id >> 16, token_id >> 8 & 0xFF, token_id & 0xFF))


def token_of(mark: bytes) -> int:
    """Return the token of a mark."""
    return int.from_bytes(mark[1:], "big")


def marks_regex(ranges: Ranges) -> rx.Regex:
    r"""Return the regex of the marks of some tokens.

    >>> marks_regex(((1000, 1000),))
    Literal(data=b'\xff\x00\x03\xe8')
    """
    parts: list[rx.Regex] = []
    for low, high in ranges:
        for first, last in _split(low, high):
            pairs = zip(mark_of(first), mark_of(last), strict=True)
            parts.append(rx.sequence(*(_bytes_between(start, end) for start, end in pairs)))
    return rx.choice(*parts)


def _bytes_between(first: int, last: int) -> rx.Regex:
    return rx.Literal(bytes([first])) if first == last else rx.ByteSet((1 << last + 1) - (1 << first))


def _split(low: int, high: int) -> Iterator[tuple[int, int]]:
    """Cut a range of ids into ranges whose marks are the product of the ranges of their bytes."""
    while low <= high:
        size = 1
        for bits in (8, 16, 24):
            if low & (1 << bits) - 1 or low + (1 << bits) - 1 > high:
                break
            size = 1 << bits
        count = (high - low + 1) // size
        room = 256 - (low // size & 0xFF)  # up to the next carry
        last = low + size * min(count, room) - 1
        yield low, last
        low = last + 1


def is_mark(regex: rx.Regex) -> bool:
    """Return whether a terminal is one of `marks_regex`."""
    while isinstance(regex, (rx.Choice, rx.Sequence)):
        regex = regex.parts[0]
    return isinstance(regex, rx.Literal) and regex.data[:1] == bytes([MARK_BYTE])


def pieces_of(data: bytes) -> Iterator[bytes | int]:
    r"""Yield the texts and the tokens of a text with marks, in order. A mark that is cut off at the end is left out.

    >>> list(pieces_of(b"a" + mark_of(7) + mark_of(8) + b"bc\xff\x00"))
    [b'a', 7, 8, b'bc']
    """
    at = 0
    while at < len(data):
        mark = data.find(MARK_BYTE, at)
        if mark != at:
            yield data[at:mark] if mark >= 0 else data[at:]
        if mark < 0 or mark + MARK_LENGTH > len(data):
            return
        at = mark + MARK_LENGTH
        yield token_of(data[mark:at])


def without_marks(regex: rx.Regex) -> rx.Regex:
    """Return a regex of the same texts except those with the byte 0xFF; the regex itself if its tree has none."""
    changed: dict[int, rx.Regex] = {}
    stack: list[tuple[rx.Regex, bool]] = [(regex, False)]
    while stack:
        node, parts_done = stack.pop()
        if id(node) in changed:
            continue
        parts = _parts_of(node)
        if parts and not parts_done:
            stack.append((node, True))
            stack.extend((part, False) for part in parts)
        elif isinstance(node, rx.Intersection):
            changed[id(node)] = _intersection(node, changed)
        else:
            changed[id(node)] = _changed(node, [changed[id(part)] for part in parts])
    return changed[id(regex)]


def _intersection(node: rx.Intersection, changed: dict[int, rx.Regex]) -> rx.Regex:
    """Return an intersection without marks: one part without them is enough, so that complements stay as they are."""
    parts = [part if isinstance(part, rx.Complement) else changed[id(part)] for part in node.parts]
    if all(isinstance(part, rx.Complement) for part in parts):
        return rx.intersection(*parts, NO_MARK)
    return node if all(new is old for new, old in zip(parts, node.parts, strict=True)) else rx.intersection(*parts)


def _parts_of(node: rx.Regex) -> Sequence[rx.Regex]:
    """Return the parts that are rewritten: not that of a complement, which is left as it is."""
    if isinstance(node, (rx.Sequence, rx.Choice, rx.Intersection)):
        return node.parts
    return (node.body,) if isinstance(node, (rx.Repeat, rx.Early)) else ()


def _changed(node: rx.Regex, parts: list[rx.Regex]) -> rx.Regex:
    """Return a node without marks, given its parts without marks."""
    if all(new is old for new, old in zip(parts, _parts_of(node), strict=True)) and parts:
        return node
    if isinstance(node, rx.Sequence):
        return rx.sequence(*parts)
    if isinstance(node, rx.Choice):
        return rx.choice(*parts)
    if isinstance(node, rx.Repeat):
        if parts[0] == rx.NOTHING:
            return rx.EMPTY if node.min == 0 else rx.NOTHING
        return rx.Repeat(parts[0], node.min, node.max)
    if isinstance(node, rx.Early):
        return rx.Early(parts[0])
    if isinstance(node, rx.ByteSet):
        return rx.ByteSet(node.mask & ALL_BUT_MARK) if node.mask >> MARK_BYTE else node
    if isinstance(node, rx.Literal):
        return rx.NOTHING if MARK_BYTE in node.data else node
    if isinstance(node, rx.LiteralSet):
        kept = [text for text in node.texts if MARK_BYTE not in text]
        return node if len(kept) == len(node.texts) else rx.literal_set(kept)
    if isinstance(node, (rx.Substrings, rx.Runs)):
        return rx.intersection(node, NO_MARK) if any(MARK_BYTE in unit for unit in node.units) else node
    return rx.intersection(node, NO_MARK) if isinstance(node, rx.Complement) else node
