"""The writer of a regex tree as text in Rust's syntax, as the published `kbnf` accepts it."""

from __future__ import annotations

from structgen.engine.deadlines import spend
from structgen.engine.regex import tree as rx
from structgen.engine.regex.unicode_classes import difference_of
from structgen.kbnf.regex_facts import post_order

__all__ = ["byte_ranges", "chars_to_rust", "regex_texts", "regex_to_rust"]

# Levels of binding: an alternation, a sequence, an operand of a repetition.
_CHOICE, _SEQUENCE, _ATOM = 0, 1, 2

_META = frozenset("\\.+*?()|[]{}^$")
_META_IN_CLASS = frozenset("\\[]^-")  # `&&` and `~~` do not occur: a class names each character once
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_NOTHING = "[^\\s\\S]"
_ANY = "(?s:.)"

Written = tuple[str, int]


def regex_to_rust(regex: rx.Regex) -> str | None:
    r"""Return the regex in Rust's syntax, for a match of the whole text.

    Returns:
        The pattern. None if the tree has nodes that the syntax lacks (intersection, complement, early end, substrings)
        or that its UTF-8 mode refuses (single bytes beyond ASCII: `(?-u:\xff)` is an error in the published package).
    """
    return regex_texts(regex)[id(regex)]


def regex_texts(regex: rx.Regex) -> dict[int, str | None]:
    """Return `regex_to_rust` of the regex and of all its parts, by their `id`."""
    known: dict[int, Written | None] = {}
    for node in post_order(regex):
        known[id(node)] = _write(node, known)
    return {key: written[0] if written else None for key, written in known.items()}


def chars_to_rust(ranges: tuple[tuple[int, int], ...]) -> str:
    """Return the class of some inclusive code point ranges."""
    if not ranges:
        return _NOTHING
    if ranges == rx.ANY_CHAR.ranges:  # type: ignore[union-attr]
        return _ANY
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _escaped(chr(ranges[0][0]))
    positive = f"[{_ranges_text(ranges)}]"
    if ranges[len(ranges) - 1][1] < 0x10FFFF:
        return positive
    others = difference_of(rx.ANY_CHAR.ranges, ranges)  # type: ignore[union-attr]
    return min(positive, f"[^{_ranges_text(others)}]", key=len)


def _ranges_text(ranges: tuple[tuple[int, int], ...]) -> str:
    """Return the inner part of a class; two neighbours need no dash."""
    pieces = []
    for first, last in ranges:
        low, high = _escaped(chr(first), _META_IN_CLASS), _escaped(chr(last), _META_IN_CLASS)
        pieces.append(low if first == last else f"{low}{high}" if last == first + 1 else f"{low}-{high}")
    return "".join(pieces)


def _write(node: rx.Regex, known: dict[int, Written | None]) -> Written | None:
    """Return the text of one node, given those of its children."""
    if isinstance(node, rx.Literal):
        return _literal(node.data)
    if isinstance(node, rx.LiteralSet):
        return _joined([_literal(text) for text in node.texts], "|", _CHOICE)
    if isinstance(node, rx.Chars):
        return chars_to_rust(node.ranges), _ATOM
    if isinstance(node, rx.ByteSet):
        return None if node.mask >> 0x80 else (chars_to_rust(byte_ranges(node.mask)), _ATOM)
    if isinstance(node, rx.Sequence):
        return _joined([known[id(part)] for part in node.parts], "", _SEQUENCE)
    if isinstance(node, rx.Choice):
        return _joined([known[id(part)] for part in node.parts], "|", _CHOICE)
    if isinstance(node, rx.Repeat):
        body = known[id(node.body)]
        return None if body is None else (_grouped(body, _ATOM) + _operator(node.min, node.max), _SEQUENCE)
    return None


def _literal(data: bytes) -> Written | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    spend(len(text))
    return "".join(map(_escaped, text)), _ATOM if len(text) == 1 else _SEQUENCE


def _joined(parts: list[Written | None], separator: str, level: int) -> Written | None:
    texts = []
    for part in parts:
        if part is None:
            return None
        texts.append(_grouped(part, level + 1 if level == _CHOICE else level))
    return separator.join(texts), level


def _grouped(written: Written, level: int) -> str:
    text, own = written
    return text if own >= level else f"(?:{text})"


def _operator(minimum: int, maximum: int | None) -> str:
    simple = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((minimum, maximum))
    if simple:
        return simple
    if maximum is None:
        return f"{{{minimum},}}"
    return f"{{{minimum}}}" if minimum == maximum else f"{{{minimum},{maximum}}}"


def _escaped(character: str, special: frozenset[str] = _META) -> str:
    if character in special:
        return "\\" + character
    if character in _NAMED:
        return _NAMED[character]
    point = ord(character)
    if character.isprintable() and (point < 0x80 or special is _META):
        return character
    return f"\\x{point:02x}" if point <= 0xFF else f"\\x{{{point:x}}}"


def byte_ranges(mask: int) -> tuple[tuple[int, int], ...]:
    """Return the runs of set bits in a mask, as inclusive ranges."""
    ranges: list[tuple[int, int]] = []
    for byte in range(mask.bit_length()):
        if mask >> byte & 1:
            if ranges and ranges[-1][1] == byte - 1:
                ranges[-1] = (ranges[-1][0], byte)
            else:
                ranges.append((byte, byte))
    return tuple(ranges)
