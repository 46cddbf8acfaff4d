"""Regexes of mail addresses: RFC 5321, RFC 6531, and those that the package email-validator accepts.

`jsonschema` accepts every text with an `@` as a mail address, so a text with an `@` is never offered for
`{"not": {"format": "email"}}`.
"""

from __future__ import annotations

from structgen.engine.regex.tree import (
    ANY_CHAR,
    Chars,
    Complement,
    Literal,
    Regex,
    Repeat,
    choice,
    intersection,
    plus,
    sequence,
    star,
)
from structgen.engine.regex.unicode_classes import ANY, intersection_of
from structgen.schema.formats.idn import LOOSE_NAME, mail_domain
from structgen.schema.formats.network import HOSTNAME, IPV4, NAME, PUBLIC_DOMAIN, PUBLIC_NAME, ipv6_of
from structgen.schema.formats.parts import ALNUM, DOT, any_case
from structgen.schema.json_text.strings import byte_set

__all__ = [
    "EMAIL", "WITH_AT", "idn_email", "long_email", "long_idn_email", "long_name_email", "long_strict_email",
    "name_email", "strict_email",
]  # fmt: skip

_AT = Literal(b"@")
_MAX_LOCAL_OCTETS, _MAX_OCTETS = 64, 254  # RFC 5321, section 4.5.3.1; its 256 octets of a path include two brackets
_ATOM_SIGNS = ALNUM + "!#$%&'*+-/=?^_`{|}~"
_QUOTABLE = "".join(map(chr, range(0x20, 0x7F)))
_LITERAL = sequence(
    Literal(b"["),
    # RFC 5321, section 4.1.3: `::` stands for at least two groups.
    choice(IPV4, sequence(any_case("ipv6"), Literal(b":"), ipv6_of(2))),
    Literal(b"]"),
)
_BEYOND_ASCII = Chars(((0x80, 0xD7FF), (0xE000, 0x10FFFF)))
WITH_AT = sequence(star(ANY_CHAR), _AT, star(ANY_CHAR))


def _local(beyond: tuple[Regex, ...] = ()) -> Regex:
    """Return local parts of RFC 5321, section 4.1.2 (`Dot-string`, `Quoted-string`), with characters `beyond` ASCII."""
    atom = plus(choice(byte_set(_ATOM_SIGNS), *beyond))
    plain = byte_set("".join(sign for sign in _QUOTABLE if sign not in '"\\'))
    quoted = choice(plain, sequence(Literal(b"\\"), byte_set(_QUOTABLE)), *beyond)
    return choice(sequence(atom, star(sequence(DOT, atom))), sequence(Literal(b'"'), star(quoted), Literal(b'"')))


_DOT_ATOM = sequence(plus(byte_set(_ATOM_SIGNS)), star(sequence(DOT, plus(byte_set(_ATOM_SIGNS)))))
_LOCAL = intersection(_local(), Repeat(ANY_CHAR, 1, _MAX_LOCAL_OCTETS))
EMAIL = intersection(sequence(_LOCAL, _AT, choice(HOSTNAME, _LITERAL)), Repeat(ANY_CHAR, 1, _MAX_OCTETS))
"""Addresses of RFC 5321, section 4.1.2, `Mailbox`."""


def idn_email() -> Regex:
    """Return addresses of RFC 6531: characters beyond ASCII on both sides of the `@`."""
    local = intersection(_local((_BEYOND_ASCII,)), _octets(_MAX_LOCAL_OCTETS))
    return intersection(sequence(local, _AT, choice(HOSTNAME, _LITERAL, mail_domain())), _octets(_MAX_OCTETS))


def _octets(most: int) -> Regex:
    """Return texts of at most so many octets: the more octets each character may take, the fewer characters."""
    ends = (0x7F, 0x7FF, 0xFFFF, 0x10FFFF)
    return choice(
        *(Repeat(Chars(intersection_of(((0, end),), ANY)), 1, most // width) for width, end in enumerate(ends, 1))
    )


def strict_email() -> Regex:
    """Return the addresses that the package email-validator accepts: the domain is public, none for special use."""
    special = sequence(
        star(ANY_CHAR),
        DOT,
        choice(*map(any_case, ("arpa", "example", "invalid", "local", "localhost", "onion", "test"))),
    )
    user = intersection(_DOT_ATOM, Repeat(ANY_CHAR, 1, _MAX_LOCAL_OCTETS))
    address = sequence(user, _AT, intersection(PUBLIC_DOMAIN, Complement(special)))
    return intersection(address, Repeat(ANY_CHAR, 1, _MAX_OCTETS))


def name_email() -> Regex:
    """Return addresses, and names followed by an address in angle brackets: `Ada Lovelace <ada@host.org>`."""
    return _named(strict_email())


def _named(address: Regex) -> Regex:
    word = plus(byte_set(ALNUM))
    name = sequence(word, star(sequence(Literal(b" "), word)))
    return choice(address, sequence(name, Literal(b" <"), address, Literal(b">")))


# --- addresses without bounds on their lengths -----------------------------------------------------------------------


def long_email() -> Regex:
    """Return `EMAIL` without bounds on the lengths of the local part, the name and the address."""
    return sequence(_local(), _AT, choice(NAME, _LITERAL))


def long_idn_email() -> Regex:
    """Return addresses that contain those of `idn_email`; what follows the `@` is any text of letters and dots."""
    return sequence(_local((_BEYOND_ASCII,)), _AT, choice(LOOSE_NAME, _LITERAL))


def long_strict_email() -> Regex:
    """Return `strict_email` without bounds on lengths, and with the domains for special use."""
    return sequence(_DOT_ATOM, _AT, PUBLIC_NAME)


def long_name_email() -> Regex:
    """Return `name_email` without bounds on lengths, and with the domains for special use."""
    return _named(long_strict_email())
