"""The regexes of `#ex'…'`, `any!` and `except!(…)`: text in which something does not occur."""

from __future__ import annotations

from collections.abc import Sequence

from structgen.engine.regex import tree as rx

__all__ = ["any_text", "text_except", "text_without"]

_ALL_BYTES = (1 << 256) - 1
_ANY_BYTE = rx.ByteSet(_ALL_BYTES)


def any_text() -> rx.Regex:
    """`any!`: any bytes, none included (the older package worked on bytes; *read*, not tried)."""
    return rx.ANY_BYTES


def text_without(regex: rx.Regex) -> rx.Regex:
    r"""`#ex'…'`: a non-empty run of bytes in which the regex matches nowhere.

    Tried on the published package (0.4.2): the text is of bytes, not of characters (`#ex'a'` takes `\xff`); it is
    not empty; a regex that matches the empty text matches everywhere, so that nothing is left.

    Args:
        regex: what must not occur, anchored at both ends.
    """
    byte_set = _single_bytes(regex)
    if byte_set is not None:
        return rx.plus(rx.ByteSet(_ALL_BYTES & ~byte_set))
    return rx.intersection(rx.plus(_ANY_BYTE), rx.Complement(rx.sequence(rx.ANY_BYTES, regex, rx.ANY_BYTES)))


def text_except(excluded: Sequence[bytes], limit: int | None) -> rx.Regex:
    r"""`except!(…)`: bytes, none included, in which no excluded string occurs.

    As the older package's documentation tells it: `except!('\n\n') '\n\n'` does allow `\n\n\n`, the first `\n` being
    the text; the limit counts bytes; a byte that is not UTF-8 is allowed.

    Args:
        excluded: the strings, none empty.
        limit: how many bytes at most, or None.
    """
    found = rx.literal_set(excluded)
    byte_set = _single_bytes(found)
    if byte_set is not None:
        return rx.Repeat(rx.ByteSet(_ALL_BYTES & ~byte_set), 0, limit)
    text = rx.Repeat(_ANY_BYTE, 0, limit)
    return rx.intersection(text, rx.Complement(rx.sequence(rx.ANY_BYTES, found, rx.ANY_BYTES)))


def _single_bytes(regex: rx.Regex) -> int | None:
    """The set of bytes (as in `ByteSet.mask`) that the regex is, or None when it is not simply that."""
    if isinstance(regex, rx.ByteSet):
        return regex.mask
    if isinstance(regex, rx.Literal) and len(regex.data) == 1:
        return 1 << regex.data[0]
    if isinstance(regex, rx.LiteralSet) and all(len(text) == 1 for text in regex.texts):
        return sum(1 << text[0] for text in regex.texts)
    if isinstance(regex, rx.Chars) and all(last < 0x80 for _, last in regex.ranges):
        return sum((1 << (last + 1)) - (1 << first) for first, last in regex.ranges)
    return None
