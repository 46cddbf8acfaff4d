"""Exact regexes, over decoded text, for the formats of JSON Schema and for what Pydantic reads.

What a format here lets through passes both `jsonschema`'s checker and Pydantic; where the two, or the RFC, differ,
the common part is taken:

- dates are real (leap years too), years 0001–9999; times have no leap second, and a zone where RFC 3339 asks for one;
- at most `SECOND_DIGITS` digits of a second's fraction; zones up to 23:59;
- durations as ISO 8601 writes them, in parts of at most `DURATION_DIGITS` digits;
- mail addresses and host names are those of ASCII (RFC 5321's dot-atom form, RFC 1123).

Names that begin with `x-` are our own, given by `sources` for types whose texts differ from the standard's format.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from fractions import Fraction
from functools import lru_cache

from structgen.engine.regex import (
    ANY_CHAR,
    NOTHING,
    ByteSet,
    Chars,
    Complement,
    Literal,
    Regex,
    Repeat,
    choice,
    difference,
    intersection,
    optional,
    plus,
    repeat,
    sequence,
    star,
)
from structgen.schema.algebra import Language, NumberSet
from structgen.schema.numbers import FRACTION_DIGITS, integer_range, number_range
from structgen.schema.strings import byte_set

__all__ = ["ANNOTATIONS", "REFUSED", "UNSUPPORTED", "date_range", "language"]

SECOND_DIGITS = 6
DURATION_DIGITS = 4

ANNOTATIONS = frozenset({"binary", "byte", "double", "float", "int32", "int64", "password", "path"})
"""Formats of OpenAPI and Pydantic that narrow nothing here; no warning is given for them."""

REFUSED = frozenset(
    {
        "base64url", "directory-path", "file-path", "idn-email", "idn-hostname", "ipv4interface", "ipv4network",
        "ipv6interface", "ipv6network", "ipvanyinterface", "ipvanynetwork", "json-string", "multi-host-uri",
        "name-email", "regex", "uri-template",
    }
)  # fmt: skip
"""Formats that a validator enforces and that are not expressed here."""

UNSUPPORTED = "x-unsupported"
"""A format that begins with this names, after a space, what `sources` found that cannot be expressed."""

_LOWER = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"
_ALNUM = _LOWER + _LOWER.upper() + _DIGITS

_DIGIT = byte_set(_DIGITS)
_HEX = byte_set(_DIGITS + "abcdefABCDEF")
_MINUS = Literal(b"-")
_COLON = Literal(b":")
_DOT = Literal(b".")


def _digit(low: int, high: int) -> ByteSet:
    return byte_set(_DIGITS[low : high + 1])


def _words(*words: str) -> Regex:
    return choice(*(Literal(word.encode()) for word in words))


def _digits(count: int) -> Regex:
    return repeat(_DIGIT, count, count)


# --- dates and times -------------------------------------------------------------------------------------------------

_LEAP_PAIR = choice(  # 04, 08, … 96
    sequence(Literal(b"0"), byte_set("48")),
    sequence(byte_set("2468"), byte_set("048")),
    sequence(byte_set("13579"), byte_set("26")),
)
_YEAR = difference(_digits(4), Literal(b"0000"))
_LEAP_YEAR = choice(sequence(_digits(2), _LEAP_PAIR), sequence(_LEAP_PAIR, Literal(b"00")))


def _two(low: int, high: int) -> Regex:
    """Two-digit numbers between two bounds."""
    parts: list[Regex] = []
    for tens in range(low // 10, high // 10 + 1):
        first, last = max(low, tens * 10) % 10, min(high, tens * 10 + 9) % 10
        parts.append(sequence(Literal(str(tens).encode()), _digit(first, last)))
    return choice(*parts)


_MONTH_DAY = choice(
    sequence(_words("01", "03", "05", "07", "08", "10", "12"), _MINUS, _two(1, 31)),
    sequence(_words("04", "06", "09", "11"), _MINUS, _two(1, 30)),
    sequence(Literal(b"02-"), _two(1, 28)),
)


def _year_range(low: int, high: int) -> Regex:
    """Four-digit years between two bounds."""
    if low > high:
        return ByteSet(0)
    return _padded(f"{low:04}", f"{high:04}")


def _padded(low: str, high: str) -> Regex:
    """Digit strings of one length between two."""
    if not low:
        return Literal(b"")
    if low[0] == high[0]:
        return sequence(Literal(low[0].encode()), _padded(low[1:], high[1:]))
    rest = len(low) - 1
    parts: list[Regex] = [
        sequence(Literal(low[0].encode()), _padded(low[1:], "9" * rest)),
        sequence(Literal(high[0].encode()), _padded("0" * rest, high[1:])),
    ]
    if int(high[0]) - int(low[0]) > 1:
        parts.append(sequence(_digit(int(low[0]) + 1, int(high[0]) - 1), _digits(rest)))
    return choice(*parts)


_DATE = choice(sequence(_YEAR, _MINUS, _MONTH_DAY), sequence(_LEAP_YEAR, Literal(b"-02-29")))


def date_range(low: tuple[int, int, int] | None, high: tuple[int, int, int] | None) -> Regex:
    """Real dates between two (year, month, day), both included."""
    parts: list[Regex] = [_DATE]
    first, last = low or (1, 1, 1), high or (9999, 12, 31)
    years = choice(
        sequence(_year_range(first[0] + 1, last[0] - 1), _MINUS, star(byte_set(_DIGITS + "-"))),
        *(
            sequence(Literal(f"{year:04}-".encode()), _month_days(from_day, to_day))
            for year, from_day, to_day in _edge_years(first, last)
        ),
    )
    parts.append(years)
    return intersection(*parts)


def _edge_years(
    first: tuple[int, int, int], last: tuple[int, int, int]
) -> list[tuple[int, tuple[int, int], tuple[int, int]]]:
    if first[0] == last[0]:
        return [(first[0], first[1:], last[1:])]
    return [(first[0], first[1:], (12, 31)), (last[0], (1, 1), last[1:])]


def _month_days(low: tuple[int, int], high: tuple[int, int]) -> Regex:
    """`MM-DD` between two, not looking at how long months are."""
    parts: list[Regex] = []
    for month in range(low[0], high[0] + 1):
        days = _two(low[1] if month == low[0] else 1, high[1] if month == high[0] else 31)
        parts.append(sequence(Literal(f"{month:02}-".encode()), days))
    return choice(*parts)


_FRACTION = optional(sequence(_DOT, Repeat(_DIGIT, 1, SECOND_DIGITS)))
_CLOCK = sequence(_two(0, 23), _COLON, _two(0, 59), _COLON, _two(0, 59), _FRACTION)
_ZONE = choice(Literal(b"Z"), sequence(byte_set("+-"), _two(0, 23), _COLON, _two(0, 59)))
_NAIVE = sequence(_DATE, Literal(b"T"), _CLOCK)
# In the first and the last day of the calendar a zone can lead out of it, and the checkers that convert then fail.
_INNER_DATE = difference(_DATE, _words("0001-01-01", "9999-12-31"))
_DATE_TIME = sequence(_INNER_DATE, Literal(b"T"), _CLOCK, _ZONE)


def _duration() -> Regex:
    """ISO 8601 durations: in weeks, or in years to seconds without a gap between the units (RFC 3339, appendix A)."""

    def unit(letter: str) -> Regex:
        return sequence(Repeat(_DIGIT, 1, DURATION_DIGITS), Literal(letter.encode()))

    second = unit("S")
    minute = sequence(unit("M"), optional(second))
    hour = sequence(unit("H"), optional(minute))
    time = sequence(Literal(b"T"), choice(hour, minute, second))
    day = unit("D")
    month = sequence(unit("M"), optional(day))
    year = sequence(unit("Y"), optional(month))
    date = sequence(choice(day, month, year), optional(time))
    return sequence(Literal(b"P"), choice(unit("W"), date, time))


def _timedelta() -> Regex:
    """What Pydantic reads as a timedelta, in years (of 365 days) to seconds: no more days than one can hold."""
    number = Repeat(_DIGIT, 1, DURATION_DIGITS)
    second = sequence(number, _FRACTION, Literal(b"S"))
    minute = sequence(number, Literal(b"M"), optional(second))
    hour = sequence(number, Literal(b"H"), optional(choice(minute, second)))
    time = sequence(Literal(b"T"), choice(hour, minute, second))
    day = sequence(Repeat(_DIGIT, 1, 8), Literal(b"D"), optional(time))
    week = sequence(Repeat(_DIGIT, 1, 6), Literal(b"W"), optional(choice(day, time)))
    month = sequence(Repeat(_DIGIT, 1, 6), Literal(b"M"), optional(choice(week, day, time)))
    year = sequence(Repeat(_DIGIT, 1, 6), Literal(b"Y"), optional(choice(month, week, day, time)))
    return sequence(optional(_MINUS), Literal(b"P"), choice(year, month, week, day, time))


# --- identifiers and the net -----------------------------------------------------------------------------------------

_UUID = sequence(
    repeat(_HEX, 8, 8), _MINUS, repeat(_HEX, 4, 4), _MINUS, repeat(_HEX, 4, 4), _MINUS, repeat(_HEX, 4, 4), _MINUS,
    repeat(_HEX, 12, 12),
)  # fmt: skip


def _uuid_of(version: int) -> Regex:
    return sequence(
        repeat(_HEX, 8, 8), _MINUS, repeat(_HEX, 4, 4), _MINUS, Literal(str(version).encode()), repeat(_HEX, 3, 3),
        _MINUS, byte_set("89abAB"), repeat(_HEX, 3, 3), _MINUS, repeat(_HEX, 12, 12),
    )  # fmt: skip


_OCTET = choice(
    sequence(Literal(b"25"), _digit(0, 5)),
    sequence(Literal(b"2"), _digit(0, 4), _DIGIT),
    sequence(Literal(b"1"), _digits(2)),
    sequence(_digit(1, 9), _DIGIT),
    _DIGIT,
)
_IPV4 = sequence(_OCTET, _DOT, _OCTET, _DOT, _OCTET, _DOT, _OCTET)


def _ipv6() -> Regex:
    """RFC 4291, section 2.2: eight groups, one run of zeros as `::`, the last two groups perhaps as IPv4."""
    group = Repeat(_HEX, 1, 4)
    tail = sequence(group, _COLON)
    last = choice(sequence(group, _COLON, group), _IPV4)
    forms: list[Regex] = [sequence(repeat(tail, 6, 6), last)]
    for before in range(8):  # groups before `::`
        head = optional(sequence(Repeat(tail, 0, before - 1), group)) if before else Literal(b"")
        after = 7 - before
        if after >= 2:
            forms.append(sequence(head, Literal(b"::"), repeat(tail, after - 2, after - 2), last))
        elif after == 1:
            forms.append(sequence(head, Literal(b"::"), group))
        else:
            forms.append(sequence(head, Literal(b"::")))
    return choice(*forms)


_LABEL = sequence(byte_set(_ALNUM), optional(sequence(Repeat(byte_set(_ALNUM + "-"), 0, 61), byte_set(_ALNUM))))
# `--` in the third and fourth place marks encoded names (xn--), which only some checkers decode.
_CODED = sequence(
    optional(sequence(star(byte_set(_ALNUM + "-.")), _DOT)),
    repeat(byte_set(_ALNUM + "-"), 2, 2),
    Literal(b"--"),
    star(byte_set(_ALNUM + "-.")),
)
_DOMAIN = sequence(_LABEL, star(sequence(_DOT, _LABEL)))
_HOSTNAME = intersection(_DOMAIN, Repeat(ANY_CHAR, 1, 253), Complement(_CODED))
_TOP_LABEL = sequence(byte_set(_LOWER + _LOWER.upper()), Repeat(byte_set(_LOWER + _LOWER.upper()), 1, 62))
_MAIL_DOMAIN = intersection(
    sequence(plus(sequence(_LABEL, _DOT)), _TOP_LABEL), Repeat(ANY_CHAR, 1, 253), Complement(_CODED)
)
_ATOM = plus(byte_set(_ALNUM + "!#$%&'*+-/=?^_`{|}~"))
_MAIL_USER = intersection(sequence(_ATOM, star(sequence(_DOT, _ATOM))), Repeat(ANY_CHAR, 1, 64))
_EMAIL = sequence(_MAIL_USER, Literal(b"@"), _HOSTNAME)

_UNRESERVED = _ALNUM + "-._~"
_PERCENT = sequence(Literal(b"%"), _HEX, _HEX)


def _uri_chars(extra: str, beyond: Regex = NOTHING) -> Regex:
    return choice(byte_set(_UNRESERVED + "!$&'()*+,;=" + extra), _PERCENT, beyond)


_UCSCHAR = Chars(  # RFC 3987, section 2.2
    (
        (0xA0, 0xD7FF),
        (0xF900, 0xFDCF),
        (0xFDF0, 0xFFEF),
        *((plane << 16, (plane << 16) + 0xFFFD) for plane in range(1, 14)),
        (0xE1000, 0xEFFFD),
    )
)


def _authority(beyond: Regex) -> Regex:
    """RFC 3986, section 3.2, with an IPv6 address in brackets."""
    user = sequence(star(_uri_chars(":", beyond)), Literal(b"@"))
    host = choice(star(_uri_chars("", beyond)), sequence(Literal(b"["), _ipv6(), Literal(b"]")))
    return sequence(optional(user), host, optional(sequence(_COLON, Repeat(_DIGIT, 0, 5))))


def _uri(absolute: bool, reference: bool, beyond: Regex = NOTHING) -> Regex:
    """RFC 3986: `URI` and `URI-reference`; RFC 3987 with characters beyond ASCII."""
    segments = star(sequence(Literal(b"/"), star(_uri_chars(":@", beyond))))
    rooted = sequence(Literal(b"/"), optional(sequence(plus(_uri_chars(":@", beyond)), segments)))
    with_authority = sequence(Literal(b"//"), _authority(beyond), segments)
    ending = sequence(
        optional(sequence(Literal(b"?"), star(_uri_chars(":@/?", beyond)))),
        optional(sequence(Literal(b"#"), star(_uri_chars(":@/?", beyond)))),
    )
    scheme = sequence(byte_set(_LOWER + _LOWER.upper()), star(byte_set(_ALNUM + "+-.")), _COLON)
    rootless = sequence(plus(_uri_chars(":@", beyond)), segments)
    forms: list[Regex] = []
    if absolute:
        forms.append(sequence(scheme, choice(with_authority, rooted, rootless, Literal(b""))))
    if reference:
        no_colon = sequence(plus(_uri_chars("@", beyond)), segments)
        forms.append(choice(with_authority, rooted, no_colon, Literal(b"")))
    return sequence(choice(*forms), ending)


def _web_url(*schemes: str) -> Regex:
    """URLs that Rust's `url` crate and RFC 3986 both read: a host name with an alphabetic top label, or IPv4."""
    host = choice(_MAIL_DOMAIN, Literal(b"localhost"), _IPV4)
    port = sequence(_COLON, _digit(1, 9), Repeat(_DIGIT, 0, 3))
    path = star(sequence(Literal(b"/"), star(_uri_chars(":@"))))
    query = sequence(Literal(b"?"), star(_uri_chars(":@/?")))
    fragment = sequence(Literal(b"#"), star(_uri_chars(":@/?")))
    return sequence(_words(*schemes), Literal(b"://"), host, optional(port), path, optional(query), optional(fragment))


_POINTER_CHAR = choice(
    Chars(((0, 0x2E), (0x30, 0x7D), (0x7F, 0xD7FF), (0xE000, 0x10FFFF))), sequence(Literal(b"~"), byte_set("01"))
)
_JSON_POINTER = star(sequence(Literal(b"/"), star(_POINTER_CHAR)))
_BASE64_CHAR = byte_set(_ALNUM + "+/")
_BASE64 = sequence(
    star(repeat(_BASE64_CHAR, 4, 4)),
    optional(
        choice(
            sequence(_BASE64_CHAR, byte_set("AQgw"), Literal(b"==")),
            sequence(repeat(_BASE64_CHAR, 2, 2), byte_set("AEIMQUYcgkosw048"), Literal(b"=")),
        )
    ),
)
# Three ASCII characters in four: the highest bit of each byte, in the first to the third sign, is 0.
_BASE64_SIGNS = _LOWER.upper() + _LOWER + _DIGITS + "+/"
_BASE64_1ST = byte_set(_BASE64_SIGNS[:32])
_BASE64_2ND = byte_set("".join(sign for i, sign in enumerate(_BASE64_SIGNS) if not i & 8))
_BASE64_3RD = byte_set("".join(sign for i, sign in enumerate(_BASE64_SIGNS) if not i & 2))
_BASE64_ASCII = sequence(
    star(sequence(_BASE64_1ST, _BASE64_2ND, _BASE64_3RD, _BASE64_CHAR)),
    optional(
        choice(
            sequence(_BASE64_1ST, byte_set("AQgw"), Literal(b"==")),
            sequence(_BASE64_1ST, _BASE64_2ND, byte_set("AEIMQUYcgkosw048"), Literal(b"=")),
        )
    ),
)

# Not white space, in Unicode's sense nor in Python's: neither Rust's `trim` nor Python's `strip` takes it away.
_SOLID = Chars(
    (
        (0x00, 0x08), (0x0E, 0x1B), (0x21, 0x84), (0x86, 0x9F), (0xA1, 0x167F), (0x1681, 0x1FFF), (0x200B, 0x2027),
        (0x202A, 0x202E), (0x2030, 0x205E), (0x2060, 0x2FFF), (0x3001, 0xD7FF), (0xE000, 0x10FFFF),
    )
)  # fmt: skip
_STRIPPED = optional(sequence(_SOLID, optional(sequence(star(ANY_CHAR), _SOLID))))


def _strict_email() -> Regex:
    """Mail addresses that the package email-validator takes: a domain of the public net, not one for special use."""
    special = sequence(
        star(ANY_CHAR),
        _DOT,
        choice(*map(_any_case, ("arpa", "example", "invalid", "local", "localhost", "onion", "test"))),
    )
    return sequence(_MAIL_USER, Literal(b"@"), intersection(_MAIL_DOMAIN, Complement(special)))


def _any_case(word: str) -> Regex:
    return sequence(*(byte_set(letter + letter.upper()) for letter in word))


_FORMATS: dict[str, Callable[[], Regex]] = {
    "date": lambda: _DATE,
    "time": lambda: sequence(_CLOCK, _ZONE),
    "date-time": lambda: _DATE_TIME,
    "duration": _duration,
    "uuid": lambda: _UUID,
    "ipv4": lambda: _IPV4,
    "ipv6": _ipv6,
    "hostname": lambda: _HOSTNAME,
    "email": lambda: _EMAIL,
    "uri": lambda: _uri(absolute=True, reference=False),
    "uri-reference": lambda: _uri(absolute=True, reference=True),
    "iri": lambda: _uri(absolute=True, reference=False, beyond=_UCSCHAR),
    "iri-reference": lambda: _uri(absolute=True, reference=True, beyond=_UCSCHAR),
    "json-pointer": lambda: _JSON_POINTER,
    "base64": lambda: _BASE64,
    "x-base64-ascii": lambda: _BASE64_ASCII,
    "x-datetime": lambda: choice(_NAIVE, _DATE_TIME),
    "x-datetime-naive": lambda: _NAIVE,
    "x-time": lambda: sequence(_CLOCK, optional(_ZONE)),
    "x-time-naive": lambda: _CLOCK,
    "x-timedelta": _timedelta,
    "x-email": _strict_email,
    "x-stripped": lambda: _STRIPPED,
    "x-ascii": lambda: star(Chars(((0, 0x7F),))),
    "relative-json-pointer": lambda: sequence(integer_range(0, None), choice(Literal(b"#"), _JSON_POINTER)),
    "x-ip": lambda: choice(_IPV4, _ipv6()),
    "x-url": lambda: _web_url("http", "https", "ftp", "ws", "wss"),
    "x-http-url": lambda: _web_url("http", "https"),
    "x-ws-url": lambda: _web_url("ws", "wss"),
    "x-ftp-url": lambda: _web_url("ftp"),
    **{f"uuid{version}": lambda version=version: _uuid_of(version) for version in range(1, 9)},  # type: ignore[misc]
}


def _dates(low: str, high: str) -> Regex:
    """Dates between two ordinals; 0 is no bound."""
    bounds = [date.fromordinal(int(day)).timetuple()[:3] if int(day) else None for day in (low, high)]
    return date_range(bounds[0], bounds[1])


def _integers(low: str, high: str) -> Regex:
    """Integers in digits between two bounds; `-` is none."""
    return integer_range(None if low == "-" else int(low), None if high == "-" else int(high))


def _decimals(digits: str, places: str, least: str, above: str, most: str, below: str) -> Regex:
    """Plain decimals of so many digits in all, and after the point, between closed and open bounds; `-` is none."""
    used = FRACTION_DIGITS if places == "-" else int(places)
    found: NumberSet | None = NumberSet(_number(least), False, _number(most), False)
    others = [NumberSet(_number(above), above != "-", _number(below), below != "-")]
    if digits != "-":
        largest = Fraction(10 ** int(digits) - 1, 10 ** (0 if places == "-" else used))
        others.append(NumberSet(-largest, False, largest, False))
    for other in others:
        found = found.intersect(other) if found is not None else None
    return NOTHING if found is None else number_range(found.low, found.low_open, found.high, found.high_open, used)


def _number(text: str) -> Fraction | None:
    return None if text == "-" else Fraction(text)


_FAMILIES: dict[str, tuple[int, Callable[..., Regex]]] = {
    "x-date": (2, _dates),
    "x-integer": (2, _integers),
    "x-decimal": (6, _decimals),
}
"""How many parameters a family takes, and the regex of one of its formats."""


@lru_cache(maxsize=1024)
def language(name: str) -> Language | None:
    """The texts of a format, or None when it is not known."""
    make = _FORMATS.get(name)
    if make is not None:
        return Language(f"format {name}", make())
    family, *parameters = name.split(" ")
    count, family_regex = _FAMILIES.get(family, (0, None))
    if family_regex is not None and len(parameters) == count:
        return Language(f"format {name}", family_regex(*parameters))
    return None
