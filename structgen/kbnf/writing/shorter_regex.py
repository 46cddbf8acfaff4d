r"""A regex as an equal one with a shorter text, for people to read.

Regexes that a program builds have many alternatives that differ in one character. They become one alternative with a
class; alternatives that begin or end alike share that part:

    0(?:1|9|[2-8])|9(?:0|9|[1-8])     ->  0[1-9]|9[0-9]
    0[0-9]|1[0-9]|2[0-9]              ->  [0-2][0-9]
    hour|hours                        ->  hours?

The order of alternatives changes, which changes nothing: a terminal matches a whole text.
"""

from __future__ import annotations

from collections.abc import Sequence

from structgen.engine.regex import tree as rx
from structgen.engine.regex.unicode_classes import union_of
from structgen.kbnf.regex_facts import post_order

__all__ = ["shortened"]

Alternative = tuple[rx.Regex, ...]
"""The parts of one alternative, one after the other; literals are taken apart into characters."""

_MAX_ALTERNATIVES = 256  # more are left as they are: comparing them takes quadratic time
_MAX_PIECES = 1_000  # of all alternatives together: they are compared at each of their pieces
_MAX_LENGTH = 100  # pieces of one alternative; what two have in common is found piece by piece, by recursion
_MAX_BLOCK = 4  # parts of a repeated block
_MAX_COPIES = 8  # a part that is repeated exactly so often is taken apart


def shortened(regex: rx.Regex) -> rx.Regex:
    """Return an equal regex; parts that are the same object stay one."""
    known: dict[int, rx.Regex] = {}
    for node in post_order(regex):
        known[id(node)] = _node(node, known)
    return known[id(regex)]


def _node(node: rx.Regex, known: dict[int, rx.Regex]) -> rx.Regex:
    if isinstance(node, rx.Choice):
        parts = _together([known[id(part)] for part in node.parts])
        found = _choice(parts)
        return rx.choice(*parts) if found is None else found
    if isinstance(node, rx.LiteralSet):
        if len(node.texts) > _MAX_ALTERNATIVES or any(len(text) > 1 for text in node.texts):
            return node  # words are easier to read than their common parts
        found = _choice([rx.Literal(text) for text in node.texts])
        return node if found is None else found
    if isinstance(node, rx.Sequence):
        return _sequence([known[id(part)] for part in node.parts])
    if isinstance(node, rx.Repeat):
        return rx.repeat(known[id(node.body)], node.min, node.max)
    if isinstance(node, rx.Intersection):
        return rx.Intersection(tuple([known[id(part)] for part in node.parts]))
    if isinstance(node, rx.Complement):
        return rx.Complement(known[id(node.body)])
    return rx.Early(known[id(node.body)]) if isinstance(node, rx.Early) else node


def _together(parts: list[rx.Regex]) -> list[rx.Regex]:
    """Join the alternatives that end with `Remainders` (digits of numbers that a remainder decides) to one alternative.

    They have many states in common, so they are written as one automaton. The joined alternative is an intersection, as
    this module does not look inside of these.
    """
    counted = [part for part in parts if isinstance(part, rx.Sequence) and isinstance(part.parts[-1], rx.Remainders)]
    if len(counted) < 2:
        return parts
    return [part for part in parts if part not in counted] + [rx.Intersection((rx.Choice(tuple(counted)),))]


# -- alternatives -----------------------------------------------------------------------------------------------------


def _choice(parts: Sequence[rx.Regex]) -> rx.Regex | None:
    """Return the choice of some regexes; None where they are too many or too long, or bytes that are no characters."""
    alternatives: list[Alternative] = []
    count = 0
    waiting = list(reversed(parts))
    while waiting:
        part = waiting.pop()
        if isinstance(part, rx.Choice):
            waiting.extend(reversed(part.parts))
            continue
        pieces = _pieces(part)
        if pieces is None or len(pieces) > _MAX_LENGTH or len(alternatives) > _MAX_ALTERNATIVES:
            return None
        count += len(pieces)
        if count > _MAX_PIECES:
            return None
        alternatives.append(pieces)
    return _factored(alternatives)


def _pieces(regex: rx.Regex) -> Alternative | None:
    """Return a regex in pieces: characters as classes, and whatever else it has; None for bytes that are no text."""
    if isinstance(regex, rx.Literal):
        try:
            return tuple([rx.Chars(((ord(c), ord(c)),)) for c in regex.data.decode()])
        except UnicodeDecodeError:
            return None
    if isinstance(regex, rx.ByteSet):
        return None if regex.mask >> 0x80 or not regex.mask else (_class_of_bytes(regex.mask),)
    if isinstance(regex, rx.Sequence):
        pieces: list[rx.Regex] = []
        for part in regex.parts:
            found = _pieces(part)
            if found is None:
                return None
            pieces += found
        return tuple(pieces)
    if isinstance(regex, rx.Repeat) and regex.min == regex.max and 0 < regex.min <= _MAX_COPIES:
        found = _pieces(regex.body)
        return None if found is None else found * regex.min if len(found) == 1 else (regex,)
    if isinstance(regex, rx.LiteralSet):
        return None
    return (regex,)


def _class_of_bytes(mask: int) -> rx.Chars:
    return rx.Chars(union_of((byte, byte) for byte in range(0x80) if mask >> byte & 1))


def _factored(alternatives: list[Alternative]) -> rx.Regex:
    """Return the choice of some alternatives, with what they have in common written once."""
    alternatives = _merged(list(dict.fromkeys(alternatives)))
    if len(alternatives) == 1:
        return _sequence(alternatives[0])
    if () in alternatives:
        rest = [one for one in alternatives if one]
        return rx.optional(_factored(rest)) if not any(map(_is_optional, rest)) else _plain(alternatives)
    for at in (0, -1):
        groups: dict[rx.Regex, list[Alternative]] = {}
        for one in alternatives:
            groups.setdefault(one[at], []).append(one)
        if len(groups) < len(alternatives):
            parts = [_with_common(shared, group, at) for shared, group in groups.items()]
            return parts[0] if len(parts) == 1 else rx.choice(*parts)
    return _plain(alternatives)


def _with_common(shared: rx.Regex, group: list[Alternative], at: int) -> rx.Regex:
    """Return alternatives that all have the same first part (`at` 0) or last part (`at` -1)."""
    if len(group) == 1:
        return _sequence(group[0])
    rest = _factored([one[1:] if at == 0 else one[:-1] for one in group])
    return _sequence((shared, rest) if at == 0 else (rest, shared))


def _is_optional(alternative: Alternative) -> bool:
    return len(alternative) == 1 and isinstance(alternative[0], rx.Repeat) and alternative[0].min == 0


def _plain(alternatives: list[Alternative]) -> rx.Regex:
    return rx.choice(*map(_sequence, alternatives))


def _merged(alternatives: list[Alternative]) -> list[Alternative]:
    """Return alternatives in which two that differ in one character only are one, with a class."""
    is_changing = True
    while is_changing:
        is_changing = False
        for at in range(max(map(len, alternatives), default=0)):
            groups: dict[tuple[Alternative, Alternative], list[Alternative]] = {}
            for one in alternatives:
                if at < len(one) and isinstance(one[at], rx.Chars):
                    groups.setdefault((one[:at], one[at + 1 :]), []).append(one)
            for (before, after), group in groups.items():
                if len(group) > 1:
                    is_changing = True
                    ranges = union_of([r for one in group for r in one[at].ranges])  # type: ignore[union-attr]
                    first = alternatives.index(group[0])
                    alternatives = [one for one in alternatives if one not in group]
                    alternatives.insert(first, (*before, rx.Chars(ranges), *after))
    return alternatives


# -- sequences --------------------------------------------------------------------------------------------------------


def _sequence(parts: Sequence[rx.Regex]) -> rx.Regex:
    """Return a sequence; equal neighbours become one with a count, single characters one literal."""
    flat: list[rx.Regex] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, rx.Sequence) else (part,))
    out: list[rx.Regex] = []
    at = 0
    while at < len(flat):
        size, count = _block(flat, at)
        block = [_character(part) for part in flat[at : at + size]]
        if count > 1 and not isinstance(block[0], rx.Literal):
            out.append(_repeated(rx.sequence(*block), count))
        else:
            size, count = 1, 1
            out.append(block[0])
        at += size * count
    return rx.sequence(*out)


def _block(parts: list[rx.Regex], at: int) -> tuple[int, int]:
    """Return the length of the block of parts at a position that comes again right after itself, and how often."""
    for size in range(1, min(_MAX_BLOCK, (len(parts) - at) // 2) + 1):
        count = 1
        while parts[at + size * count : at + size * (count + 1)] == parts[at : at + size]:
            count += 1
        if count > 1:
            return size, count
    return 1, 1


def _repeated(part: rx.Regex, count: int) -> rx.Regex:
    """Return `count` copies: `[0-9]?[0-9]?` becomes `[0-9]{0,2}`."""
    if isinstance(part, rx.Repeat) and part.min in (0, part.max):
        return rx.Repeat(part.body, part.min * count, None if part.max is None else part.max * count)
    return rx.repeat(part, count, count)


def _character(part: rx.Regex) -> rx.Regex:
    """Return a class of one character as a literal."""
    if isinstance(part, rx.Chars) and len(part.ranges) == 1 and part.ranges[0][0] == part.ranges[0][1]:
        return rx.Literal(chr(part.ranges[0][0]).encode())
    return part
