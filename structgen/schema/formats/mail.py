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
from structgen.schema.formats.idn import mail_domain
from structgen.schema.formats.network import HOSTNAME, IPV4, PUBLIC_DOMAIN, ipv6_of
from structgen.schema.formats.parts import ALNUM, DOT, any_case
from structgen.schema.json_text.strings import byte_set

__all__ = ["EMAIL", "WITH_AT", "idn_email", "name_email", "strict_email"]

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
    word = plus(byte_set(ALNUM))
    name = sequence(word, star(sequence(Literal(b" "), word)))
    return choice(strict_email(), sequence(name, Literal(b" <"), strict_email(), Literal(b">")))
