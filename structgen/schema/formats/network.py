"""IP addresses, networks and host names of ASCII.

An A-label (`xn--…`) is a name that is decoded and then judged, which no automaton of reasonable size does. So labels
with `--` in the third and fourth place are neither in `hostname` nor outside of it.
"""

from __future__ import annotations

from structgen.engine.regex.tree import (
    ANY_CHAR,
    Literal,
    Regex,
    Repeat,
    choice,
    intersection,
    optional,
    plus,
    repeat,
    sequence,
    star,
)
from structgen.schema.formats.parts import ALNUM, COLON, DIGIT, DOT, HEX, LETTER, MINUS, digit, digits, two, words
from structgen.schema.json_text.strings import byte_set

__all__ = [
    "HOSTNAME", "IPV4", "IPV6", "LOOSE_HOSTNAME", "LOOSE_NETWORK", "PLAIN_LABEL", "PUBLIC_DOMAIN", "interface",
    "ipv6_of", "network_v4", "network_v6",
]  # fmt: skip

_OCTET = choice(
    sequence(Literal(b"25"), digit(0, 5)),
    sequence(Literal(b"2"), digit(0, 4), DIGIT),
    sequence(Literal(b"1"), digits(2)),
    sequence(digit(1, 9), DIGIT),
    DIGIT,
)
IPV4 = sequence(_OCTET, DOT, _OCTET, DOT, _OCTET, DOT, _OCTET)
_GROUP = Repeat(HEX, 1, 4)
_GROUPS = 8


def ipv6_of(least_zeros: int) -> Regex:
    """RFC 4291, section 2.2: eight groups, one run of at least so many as `::`, the last two perhaps as IPv4."""
    tail = sequence(_GROUP, COLON)
    last = choice(sequence(_GROUP, COLON, _GROUP), IPV4)
    forms: list[Regex] = [sequence(repeat(tail, 6, 6), last)]
    for before in range(_GROUPS + 1 - least_zeros):  # at most so many groups before `::`
        head = optional(sequence(Repeat(tail, 0, before - 1), _GROUP)) if before else Literal(b"")
        after = _GROUPS - least_zeros - before
        end: Regex = _GROUP if after == 1 else Literal(b"")
        if after >= 2:
            end = sequence(repeat(tail, after - 2, after - 2), last)
        forms.append(sequence(head, Literal(b"::"), end))
    return choice(*forms)


IPV6 = ipv6_of(1)


# --- networks --------------------------------------------------------------------------------------------------------


def interface(address: Regex, bits: int) -> Regex:
    """An address, perhaps with the length of its network's prefix."""
    lengths = choice(DIGIT, two(10, min(bits, 99)), *([] if bits < 100 else [_hundreds(bits)]))
    return sequence(address, optional(sequence(Literal(b"/"), lengths)))


def _hundreds(bits: int) -> Regex:
    return sequence(Literal(b"1"), two(0, bits - 100))


def network_v4() -> Regex:
    """Networks as Python's `ipaddress` reads them: no bit is set past the prefix."""
    forms: list[Regex] = [IPV4]
    for length in range(33):
        whole, part = divmod(length, 8)
        octets: list[Regex] = [_OCTET] * whole
        if part:
            octets.append(words(*(str(n) for n in range(0, 256, 1 << (8 - part)))))
        octets += [Literal(b"0")] * (4 - len(octets))
        dotted = sequence(octets[0], *(sequence(DOT, octet) for octet in octets[1:]))
        forms.append(sequence(dotted, Literal(f"/{length}".encode())))
    return choice(*forms)


def network_v6() -> Regex:
    """Networks, with no bit set past the prefix; the zeros there are written one by one, or all as `::`."""
    forms: list[Regex] = [IPV6, sequence(IPV6, Literal(b"/128"))]
    zero = Repeat(Literal(b"0"), 1, 4)
    for length in range(128):
        whole, part = divmod(length, 16)
        head: list[Regex] = [_GROUP] * whole
        if part:
            head.append(_hex_multiple(16 - part))
        rest = _GROUPS - len(head)
        forms.append(sequence(_joined([*head, *[zero] * rest]), Literal(f"/{length}".encode())))
        heads: list[Regex] = [_groups_up_to(whole)]
        if rest and part:
            heads.append(_joined(head))
        forms.append(sequence(choice(*heads), Literal(f"::/{length}".encode())))
    return choice(*forms)


def _groups_up_to(most: int) -> Regex:
    more = Repeat(sequence(COLON, _GROUP), 0, most - 1)
    return optional(sequence(_GROUP, more)) if most else Literal(b"")


LOOSE_NETWORK = choice(plus(choice(HEX, byte_set(":./"))), sequence(star(ANY_CHAR), Literal(b"%"), star(ANY_CHAR)))
"""What may be a network: with a net mask in place of a length, zeros left out elsewhere, or a zone."""


def _joined(groups: list[Regex]) -> Regex:
    return sequence(*(sequence(COLON, group) if i else group for i, group in enumerate(groups)))


def _hex_multiple(bits: int) -> Regex:
    """One to four hexadecimal digits whose number has so many zero bits at its end."""
    zeros, bit = divmod(bits, 4)
    pivot = byte_set("".join(sign for sign in "0123456789abcdefABCDEF" if int(sign, 16) % (1 << bit) == 0))
    end: Regex = Literal(b"0" * zeros)
    some = sequence(Repeat(HEX, 0, 3 - zeros), pivot, end) if zeros < 4 else end
    return choice(some, *(Literal(b"0" * count) for count in range(1, zeros + 1)))


# --- host names ------------------------------------------------------------------------------------------------------

_LD = byte_set(ALNUM)
_LDH = byte_set(ALNUM + "-")
_LABEL = sequence(_LD, optional(sequence(Repeat(_LDH, 0, 61), _LD)))
PLAIN_LABEL = choice(
    sequence(_LD, optional(sequence(Repeat(_LDH, 0, 2), _LD))),
    sequence(_LD, _LDH, choice(sequence(_LD, _LDH), sequence(MINUS, _LD)), Repeat(_LDH, 0, 58), _LD),
)
"""A label without `--` in the third and fourth place, which marks those that do not stand for themselves."""
_SHORT = Repeat(ANY_CHAR, 1, 253)
LOOSE_HOSTNAME = intersection(sequence(_LABEL, star(sequence(DOT, _LABEL))), _SHORT)
"""RFC 1123, with A-labels and those that are only alike."""
HOSTNAME = intersection(sequence(PLAIN_LABEL, star(sequence(DOT, PLAIN_LABEL))), _SHORT)
"""RFC 1123, without A-labels."""
_TOP_LABEL = sequence(LETTER, Repeat(LETTER, 1, 62))
PUBLIC_DOMAIN = intersection(sequence(plus(sequence(PLAIN_LABEL, DOT)), _TOP_LABEL), _SHORT)
"""Names of at least two labels, the last one of letters."""
