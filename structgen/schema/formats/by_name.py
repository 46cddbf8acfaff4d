"""A table from the name of each known format to its regex.

Most names stand for one regex: `date`, `uuid4`, `x-url`. A family (`_FAMILIES`) takes parameters after spaces:
`x-integer 1 99` stands for the integers 1 to 99 in digits, `x-url-of http,https` for URLs of these two schemes.
Regexes are built when a schema first asks for them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from fractions import Fraction
from functools import cache

from structgen.engine.regex.tree import NOTHING, Regex, choice
from structgen.schema.algebra import NumberSet
from structgen.schema.formats import dates, encodings, idn, mail, network, pointers, regexes, time_ranges, uris
from structgen.schema.json_text.numbers import MAX_FRACTION_DIGITS, integer_range, number_range

__all__ = ["outer_regex", "regex", "wider_regex"]

_URIS = ("uri", "uri-reference", "iri", "iri-reference")


def _uris(name: str, capital: bool) -> Regex:
    """Return the texts of one of `_URIS`; see `uris.uri` for `capital`."""
    relative = name.endswith("-reference")
    if name.startswith("uri"):
        return uris.uri(relative=relative, capital=capital)
    return uris.uri(relative=relative, beyond=uris.UCSCHAR, private=uris.IPRIVATE, capital=capital)


_FORMATS: dict[str, Callable[[], Regex]] = {
    "date": lambda: dates.DATE,
    "time": lambda: dates.TIME,
    "date-time": lambda: dates.DATE_TIME,
    "duration": dates.duration,
    "uuid": lambda: encodings.UUID,
    "ipv4": lambda: network.IPV4,
    "ipv6": lambda: network.IPV6,
    "hostname": lambda: network.HOSTNAME,
    "idn-hostname": idn.idn_hostname,
    "email": lambda: mail.EMAIL,
    "idn-email": mail.idn_email,
    **{name: lambda name=name: _uris(name, False) for name in _URIS},  # type: ignore[misc]
    "uri-template": uris.uri_template,
    "json-pointer": lambda: pointers.JSON_POINTER,
    "relative-json-pointer": lambda: pointers.RELATIVE_JSON_POINTER,
    "regex": regexes.ecma_regex,
    # Written by Pydantic.
    "base64": lambda: encodings.base64(url=False),
    "base64url": lambda: encodings.base64(url=True),
    "ipv4interface": lambda: network.interface(network.IPV4, 32),
    "ipv6interface": lambda: network.interface(network.IPV6, 128),
    "ipv4network": network.network_v4,
    "ipv6network": network.network_v6,
    "ipvanyaddress": lambda: choice(network.IPV4, network.IPV6),
    "ipvanyinterface": lambda: choice(network.interface(network.IPV4, 32), network.interface(network.IPV6, 128)),
    "ipvanynetwork": lambda: choice(network.network_v4(), network.network_v6()),
    "json-string": encodings.json_text,
    "multi-host-uri": uris.multi_host_url,
    "name-email": mail.name_email,
    **{f"uuid{version}": lambda version=version: encodings.uuid_of(version) for version in range(1, 9)},  # type: ignore[misc]
    # Our own.
    "x-base64-ascii": lambda: encodings.base64_of_ascii(url=False),
    "x-base64url-ascii": lambda: encodings.base64_of_ascii(url=True),
    "x-datetime": lambda: dates.AWARE_DATE_TIME,
    "x-datetime-naive": lambda: dates.NAIVE_DATE_TIME,
    "x-time": lambda: dates.AWARE_TIME,
    "x-time-naive": lambda: dates.NAIVE_TIME,
    "x-timedelta": dates.timedelta,
    "x-fraction": encodings.fraction,
    "x-complex": encodings.complex_number,
    "x-email": mail.strict_email,
    "x-stripped": lambda: encodings.STRIPPED,
    "x-ascii": lambda: encodings.ASCII,
    "x-ip": lambda: choice(network.IPV4, network.IPV6),
    "x-url": lambda: uris.web_url("http", "https", "ftp", "ws", "wss"),
    "x-http-url": lambda: uris.web_url("http", "https"),
    "x-ws-url": lambda: uris.web_url("ws", "wss"),
    "x-ftp-url": lambda: uris.web_url("ftp"),
}

_OUTER: dict[str, Callable[[], Regex]] = {
    "date": lambda: choice(dates.DATE, dates.DATE_OF_YEAR_0),
    "time": lambda: choice(dates.TIME, dates.leap_time()),
    "date-time": lambda: choice(dates.DATE_TIME, dates.DATE_TIME_OF_YEAR_0, dates.leap_date_time()),
    "hostname": lambda: network.LOOSE_HOSTNAME,
    "idn-hostname": lambda: idn.LOOSE_NAME,
    "email": lambda: mail.WITH_AT,
    "idn-email": lambda: mail.WITH_AT,
    "name-email": lambda: mail.WITH_AT,
    "uri-template": lambda: uris.LOOSE_TEMPLATE,
    "multi-host-uri": lambda: uris.WITH_SCHEME,
    **{name: lambda name=name: _uris(name, True) for name in _URIS},  # type: ignore[misc]
    "relative-json-pointer": lambda: choice(pointers.RELATIVE_JSON_POINTER, pointers.MOVED_JSON_POINTER),
    "regex": lambda: regexes.LOOSE_REGEX,
    "json-string": lambda: encodings.LOOSE_JSON,
    **dict.fromkeys(("ipv4network", "ipv6network", "ipvanynetwork"), lambda: network.LOOSE_NETWORK),
}
"""Regexes of the texts that any reader of a format might accept, where these are more than the format's own texts."""

_WIDER: dict[str, Callable[[], Regex]] = {
    "hostname": lambda: network.NAME,
    "idn-hostname": lambda: idn.LOOSE_NAME,
    "email": mail.long_email,
    "idn-email": mail.long_idn_email,
    "name-email": mail.long_name_email,
    "x-email": mail.long_strict_email,
    "regex": lambda: regexes.LOOSE_REGEX,
}
"""Wider regexes of formats whose automata have too many states to be written down as rules: bounds on the length of a
part, of a name and of the whole multiply, and so do levels of groups."""


def _dates(low: str, high: str) -> Regex:
    """Return dates between two ordinals of `datetime.date`; 0 stands for no bound."""
    bounds = [date.fromordinal(int(day)).timetuple()[:3] if int(day) else None for day in (low, high)]
    return dates.date_range(bounds[0], bounds[1])


def _moments(low: str, high: str, zone: str) -> Regex:
    """Return points in time between two bounds in seconds; see `time_ranges.datetime_range`."""
    return time_ranges.datetime_range(_whole(low), _whole(high), _ZONES[zone])


def _times(low: str, high: str, zone: str) -> Regex:
    """Return times of day between two bounds in seconds."""
    return time_ranges.time_range(_whole(low) or 0, time_ranges.DAY - 1 if high == "-" else int(high), _ZONES[zone])


def _durations(low: str, high: str) -> Regex:
    """Return durations between two bounds in seconds."""
    return time_ranges.timedelta_range(_whole(low), _whole(high))


_ZONES = {"utc": b"Z", "naive": b""}


def _whole(text: str) -> int | None:
    """Return an integer; None for `-`."""
    return None if text == "-" else int(text)


def _integers(low: str, high: str) -> Regex:
    """Return integers in digits between two bounds; `-` stands for no bound."""
    return integer_range(_whole(low), _whole(high))


def _decimals(digits: str, places: str, least: str, above: str, most: str, below: str) -> Regex:
    """Return plain decimals with bounds; `-` stands for no bound.

    Args:
        digits: the maximum number of digits, before and after the point together.
        places: the maximum number of digits after the point.
        least: the closed lower bound.
        above: the open lower bound.
        most: the closed upper bound.
        below: the open upper bound.
    """
    used = MAX_FRACTION_DIGITS if places == "-" else int(places)
    found: NumberSet | None = NumberSet(_number(least), False, _number(most), False)
    others = [NumberSet(_number(above), above != "-", _number(below), below != "-")]
    if digits != "-":
        largest = Fraction(10 ** int(digits) - 1, 10 ** (0 if places == "-" else used))
        others.append(NumberSet(-largest, False, largest, False))
    for other in others:
        found = found.intersect(other) if found is not None else None
    return NOTHING if found is None else number_range(found.low, found.low_open, found.high, found.high_open, used)


def _number(text: str) -> Fraction | None:
    """Return an exact bound; None for `-`."""
    return None if text == "-" else Fraction(text)


def _hosts_of(schemes: str) -> Regex:
    """Return URLs with one or more hosts, of a comma-separated list of schemes."""
    return uris.multi_host_url(*schemes.split(","))


def _urls_of(schemes: str) -> Regex:
    """Return URLs with one host, of a comma-separated list of schemes."""
    return uris.web_url(*schemes.split(","))


_FAMILIES: dict[str, tuple[int, Callable[..., Regex]]] = {
    "x-date": (2, _dates),
    "x-datetime-between": (3, _moments),
    "x-time-between": (3, _times),
    "x-timedelta-between": (2, _durations),
    "x-integer": (2, _integers),
    "x-decimal": (6, _decimals),
    "x-multi-host-url": (1, _hosts_of),
    "x-url-of": (1, _urls_of),
}
"""The number of parameters of each family, and the function from the parameters to the regex."""


def regex(name: str) -> Regex | None:
    """Return the regex of a format's texts, or None for an unknown format."""
    make = _FORMATS.get(name)
    if make is not None:
        return make()
    family, *parameters = name.split(" ")
    count, family_regex = _FAMILIES.get(family, (0, None))
    if family_regex is not None and len(parameters) == count:
        return family_regex(*parameters)
    return None


def outer_regex(name: str) -> Callable[[], Regex] | None:
    """Return a function that makes the regex of all texts that any reader might accept as a format.

    None if that is the format's own regex.
    """
    make = _OUTER.get(name)
    return cache(make) if make is not None else None


def wider_regex(name: str) -> Regex | None:
    """Return a wider regex for printed grammars, or None where the exact one can be written down."""
    make = _WIDER.get(name)
    return make() if make is not None else None
