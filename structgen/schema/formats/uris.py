"""Regexes of URIs (RFC 3986), IRIs (RFC 3987), URI templates (RFC 6570) and the URLs that Pydantic reads."""

from __future__ import annotations

from structgen.engine.regex.tree import (
    ANY_CHAR,
    NOTHING,
    Chars,
    Literal,
    Regex,
    Repeat,
    choice,
    optional,
    plus,
    sequence,
    star,
)
from structgen.schema.formats.network import IPV4, IPV6, PUBLIC_DOMAIN
from structgen.schema.formats.parts import ALNUM, COLON, DIGIT, HEX, LETTER, digit, words
from structgen.schema.json_text.strings import byte_set

__all__ = ["IPRIVATE", "LOOSE_TEMPLATE", "UCSCHAR", "WITH_SCHEME", "multi_host_url", "uri", "uri_template", "web_url"]

_UNRESERVED = ALNUM + "-._~"
_SUB_DELIMS = "!$&'()*+,;="
_PERCENT = sequence(Literal(b"%"), HEX, HEX)
UCSCHAR = Chars(  # `ucschar` of RFC 3987, section 2.2
    (
        (0xA0, 0xD7FF),
        (0xF900, 0xFDCF),
        (0xFDF0, 0xFFEF),
        *((plane << 16, (plane << 16) + 0xFFFD) for plane in range(1, 14)),
        (0xE1000, 0xEFFFD),
    )
)
IPRIVATE = Chars(((0xE000, 0xF8FF), (0xF0000, 0xFFFFD), (0x100000, 0x10FFFD)))
"""`iprivate` of RFC 3987, section 2.2."""


def _signs(extra: str, beyond: Regex = NOTHING) -> Regex:
    """Return one character of a part of a URI, or a percent-encoded octet.

    Args:
        extra: ASCII characters accepted besides the unreserved ones and sub-delimiters.
        beyond: characters accepted beyond ASCII.
    """
    return choice(byte_set(_UNRESERVED + _SUB_DELIMS + extra), _PERCENT, beyond)


def _authority(beyond: Regex, capital: bool) -> Regex:
    """Return authorities: `[user@]host[:port]` (RFC 3986, section 3.2)."""
    user = sequence(star(_signs(":", beyond)), Literal(b"@"))
    future = sequence(
        byte_set("vV" if capital else "v"), plus(HEX), Literal(b"."), plus(byte_set(_UNRESERVED + _SUB_DELIMS + ":"))
    )
    host = choice(star(_signs("", beyond)), sequence(Literal(b"["), choice(IPV6, future), Literal(b"]")))
    return sequence(optional(user), host, optional(sequence(COLON, star(DIGIT))))


def uri(*, relative: bool, beyond: Regex = NOTHING, private: Regex = NOTHING, capital: bool = False) -> Regex:
    """Return URIs or URI references of RFC 3986, or IRIs of RFC 3987.

    Args:
        relative: accept relative references too (RFC 3986, section 4.1).
        beyond: characters accepted beyond ASCII; none for URIs.
        private: private characters accepted in the query.
        capital: accept `[V1.x]` as a host, not only `[v1.x]`. It is legal (letters of a rule stand for both cases,
            RFC 5234, section 2.3), but the checkers of `jsonschema` refuse it.
    """
    segments = star(sequence(Literal(b"/"), star(_signs(":@", beyond))))
    rooted = sequence(Literal(b"/"), optional(sequence(plus(_signs(":@", beyond)), segments)))
    with_authority = sequence(Literal(b"//"), _authority(beyond, capital), segments)
    ending = sequence(
        optional(sequence(Literal(b"?"), star(_signs(":@/?", choice(beyond, private))))),
        optional(sequence(Literal(b"#"), star(_signs(":@/?", beyond)))),
    )
    scheme = sequence(LETTER, star(byte_set(ALNUM + "+-.")), COLON)
    rootless = sequence(plus(_signs(":@", beyond)), segments)
    forms: list[Regex] = [sequence(scheme, choice(with_authority, rooted, rootless, Literal(b"")))]
    if relative:
        no_colon = sequence(plus(_signs("@", beyond)), segments)
        forms.append(choice(with_authority, rooted, no_colon, Literal(b"")))
    return sequence(choice(*forms), ending)


def uri_template() -> Regex:
    """Return URI templates of RFC 6570, section 2, with the erratum that accepts an apostrophe."""
    printable = {chr(code) for code in range(0x21, 0x7F)} - set('"%<>\\^`{|}')
    literal = choice(byte_set("".join(printable)), UCSCHAR, IPRIVATE, _PERCENT)
    sign = choice(byte_set(ALNUM + "_"), _PERCENT)
    name = sequence(plus(sign), star(sequence(Literal(b"."), plus(sign))))
    prefix = sequence(COLON, digit(1, 9), Repeat(DIGIT, 0, 3))
    variable = sequence(name, optional(choice(prefix, Literal(b"*"))))
    variables = sequence(variable, star(sequence(Literal(b","), variable)))
    expression = sequence(Literal(b"{"), optional(byte_set("+#./;?&")), variables, Literal(b"}"))
    return star(choice(literal, expression))


_NO_BRACE = Chars(((0, 0x7A), (0x7C, 0x7C), (0x7E, 0xD7FF), (0xE000, 0x10FFFF)))
LOOSE_TEMPLATE = star(choice(_NO_BRACE, sequence(Literal(b"{"), star(choice(_NO_BRACE, Literal(b"{"))), Literal(b"}"))))
"""Texts whose braces close. The checker of `jsonschema` reads any character between expressions, and `{a=}` in them."""

WITH_SCHEME = sequence(star(ANY_CHAR), COLON, star(ANY_CHAR))
"""Texts with a colon, which might be a URL."""

# --- what Pydantic reads ---------------------------------------------------------------------------------------------

_PORT = sequence(COLON, digit(1, 9), Repeat(DIGIT, 0, 3))
_PATH = star(sequence(Literal(b"/"), star(_signs(":@"))))
_QUERY = sequence(Literal(b"?"), star(_signs(":@/?")))
_FRAGMENT = sequence(Literal(b"#"), star(_signs(":@/?")))


def web_url(*schemes: str) -> Regex:
    """Return URLs that Rust's `url` crate and RFC 3986 both read.

    The host is a name with an alphabetic top label, or an IPv4 address.
    """
    host = choice(PUBLIC_DOMAIN, Literal(b"localhost"), IPV4)
    return sequence(
        words(*schemes), Literal(b"://"), host, optional(_PORT), _PATH, optional(_QUERY), optional(_FRAGMENT)
    )


def multi_host_url(*schemes: str) -> Regex:
    """Return URLs with one or more hosts, as databases use them.

    Without schemes, any scheme is accepted that is not one of the web.
    """
    host = choice(PUBLIC_DOMAIN, Literal(b"localhost"), IPV4)
    sign = choice(byte_set(_UNRESERVED + "!$&'()*+;="), _PERCENT)  # a comma separates the hosts
    user = sequence(plus(sign), optional(sequence(COLON, star(sign))), Literal(b"@"))
    address = sequence(host, optional(_PORT))
    addresses = sequence(optional(user), address, star(sequence(Literal(b","), optional(user), address)))
    known = words(*schemes) if schemes else sequence(words("db", "x"), star(byte_set(ALNUM + "+-.")))
    path = optional(sequence(Literal(b"/"), star(_signs(":@/"))))
    return sequence(known, Literal(b"://"), addresses, path, optional(_QUERY), optional(_FRAGMENT))
