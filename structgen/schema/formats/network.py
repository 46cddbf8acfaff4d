"""Regexes of IP addresses, IP networks and host names of ASCII.

An A-label (`xn--…`) must be decoded before it can be judged, which no automaton of reasonable size does. So labels with
`--` as third and fourth character are neither in `hostname` nor outside of it (`by_name._OUTER`).
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
    "HOSTNAME", "IPV4", "IPV6", "LOOSE_HOSTNAME", "LOOSE_NETWORK", "NAME", "PLAIN_LABEL", "PUBLIC_DOMAIN",
    "PUBLIC_NAME", "interface", "ipv6_of", "network_v4", "network_v6",
]  # fmt: skip

_OCTET = choice(
    sequence(Literal(b"25"), digit(0, 5)),
    sequence(Literal(b"2"), digit(0, 4), DIGIT),
    sequence(Literal(b"1"), digits(2)),
    sequence(digit(1, 9), DIGIT),
    DIGIT,
)
IPV4 = sequence(_OCTET, DOT, _OCTET, DOT, _OCTET, DOT, _OCTET)
"""RFC 2673, section 3.2: four numbers from 0 to 255."""
_GROUP = Repeat(HEX, 1, 4)
_GROUPS = 8


def ipv6_of(least_zeros: int) -> Regex:
    """Return addresses of RFC 4291, section 2.2: eight groups, the last two perhaps as IPv4, one run of zeros as `::`.

    Args:
        least_zeros: the minimum number of groups that `::` stands for.
    """
    tail = sequence(_GROUP, COLON)
    last = choice(sequence(_GROUP, COLON, _GROUP), IPV4)
    forms: list[Regex] = [sequence(repeat(tail, 6, 6), last)]
    for before in range(_GROUPS + 1 - least_zeros):  # the maximum number of groups before `::`
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
    """Return addresses, perhaps with the length of the network's prefix: `10.0.0.1/8`.

    Args:
        address: the regex of the addresses.
        bits: the length of an address, the longest prefix.
    """
    lengths = choice(DIGIT, two(10, min(bits, 99)), *([] if bits < 100 else [_hundreds(bits)]))
    return sequence(address, optional(sequence(Literal(b"/"), lengths)))


def _hundreds(bits: int) -> Regex:
    """Return the numbers 100 to `bits`."""
    return sequence(Literal(b"1"), two(0, bits - 100))


def network_v4() -> Regex:
    """Return networks as Python's `ipaddress` reads them: no bit is set after the prefix."""
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
    """Return networks without a bit set after the prefix; the zeros there are written one by one, or all as `::`."""
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
    """Return up to `most` groups with colons between them."""
    more = Repeat(sequence(COLON, _GROUP), 0, most - 1)
    return optional(sequence(_GROUP, more)) if most else Literal(b"")


LOOSE_NETWORK = choice(plus(choice(HEX, byte_set(":./"))), sequence(star(ANY_CHAR), Literal(b"%"), star(ANY_CHAR)))
"""Texts that might be a network: with a net mask instead of a length, zeros omitted elsewhere, or a zone."""


def _joined(groups: list[Regex]) -> Regex:
    return sequence(*(sequence(COLON, group) if i else group for i, group in enumerate(groups)))


def _hex_multiple(bits: int) -> Regex:
    """Return one to four hexadecimal digits of a number whose lowest `bits` bits are 0."""
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
"""Labels without `--` as third and fourth character, which marks encoded labels."""
_SHORT = Repeat(ANY_CHAR, 1, 253)
LOOSE_HOSTNAME = intersection(sequence(_LABEL, star(sequence(DOT, _LABEL))), _SHORT)
"""Host names of RFC 1123, section 2.1, with A-labels and labels that only look like them."""
NAME = sequence(PLAIN_LABEL, star(sequence(DOT, PLAIN_LABEL)))
"""Host names without a bound on their length."""
HOSTNAME = intersection(NAME, _SHORT)
"""Host names of RFC 1123, section 2.1, without A-labels."""
_TOP_LABEL = sequence(LETTER, Repeat(LETTER, 1, 62))
PUBLIC_NAME = sequence(plus(sequence(PLAIN_LABEL, DOT)), _TOP_LABEL)
"""Names of at least two labels, the last one of letters, without a bound on their length."""
PUBLIC_DOMAIN = intersection(PUBLIC_NAME, _SHORT)
"""Names of at least two labels, the last one of letters."""
