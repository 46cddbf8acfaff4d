"""Formats: dates over the whole calendar, and every format against `jsonschema`'s checker."""

import datetime as dt
import ipaddress
import uuid

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from structgen.engine.automata import AutomatonStore
from structgen.schema import formats
from structgen.schema.algebra import Language

CHECKER = jsonschema.Draft202012Validator.FORMAT_CHECKER


def _matcher(name_or_regex):
    store = AutomatonStore()
    regex = formats.language(name_or_regex).regex if isinstance(name_or_regex, str) else name_or_regex
    state = store.add(regex)
    return lambda text: store.matches(state, text.encode())


def _is_date(year, month, day):
    try:
        dt.date(year, month, day)
    except ValueError:
        return False
    return True


def test_dates_are_those_of_the_calendar():
    matches = _matcher("date")
    for year in [*range(30), 1600, 1700, 1800, 1900, *range(1996, 2005), 2023, 2024, 2096, 2100, 2400, 9996, 9999]:
        for month in range(14):
            for day in range(33):
                assert matches(f"{year:04}-{month:02}-{day:02}") == _is_date(year, month, day), (year, month, day)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (dt.date(2020, 2, 28), dt.date(2020, 3, 1)),
        (dt.date(2019, 12, 30), dt.date(2020, 1, 2)),
        (dt.date(1999, 5, 17), dt.date(2003, 2, 3)),
        (None, dt.date(1, 3, 1)),
        (dt.date(9999, 11, 30), None),
    ],
)
def test_date_ranges(low, high):
    matches = _matcher(formats.date_range(low and low.timetuple()[:3], high and high.timetuple()[:3]))
    days = {1, 2, 15, 28, 29, 30, 31}
    for year in (1, 2, 1998, 1999, 2000, 2001, 2003, 2004, 2019, 2020, 2021, 9998, 9999):
        for month in range(1, 13):
            for day in days:
                inside = _is_date(year, month, day) and (low or dt.date.min) <= dt.date(year, month, day) <= (
                    high or dt.date.max
                )
                assert matches(f"{year:04}-{month:02}-{day:02}") == inside, (year, month, day)


VALID = {
    "date-time": ["2024-02-29T23:59:59Z", "1985-04-12T23:20:50.52Z", "1990-12-31T15:59:50-08:00"],
    "time": ["08:30:06Z", "23:59:59.123456+05:30"],
    "duration": ["P4DT12H30M5S", "P4Y", "PT0S", "P2W", "PT1M", "P1Y2M3DT4H5M6S"],
    "uuid": ["2EB8AA08-AA98-11EA-B4AA-73B441D16380"],
    "ipv4": ["192.168.0.1", "0.0.0.0", "255.255.255.255"],
    "ipv6": [
        "::",
        "::1",
        "1::",
        "1:2:3:4:5:6:7:8",
        "::ffff:1.2.3.4",
        "1:2::7:8",
        "1::8",
        "1:2:3:4:5:6:1.2.3.4",
        "1:2:3:4:5:6:7::",
    ],
    "hostname": ["www.example.com", "a", "a-b.c1", "1host"],
    "email": ["joe.bloggs@example.com", "te~st@example.com", "x+y@a.b"],
    "uri": [
        "http://foo.bar/?baz=qux#quux",
        "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
        "mailto:a@b.c",
        "ldap://[2001:db8::7]/c=GB?objectClass?one",
        "http://a:b@c:80/%20",
    ],
    "uri-reference": ["/abc", "//foo.bar/?baz", "#frag", "", "abc", "?q", "http://x"],
    "iri": ["http://\u0192\u00f8\u00f8.\u00df\u00e5r/?q=\u2202", "http://x"],
    "iri-reference": ["/\u00e2\u03c0\u03c0", "\u00e2", "#\u0192"],
    "json-pointer": ["", "/foo/0", "/a~1b/~0", "/é"],
    "relative-json-pointer": ["0", "1/foo", "2#", "0/"],
}
INVALID = {
    "date-time": [
        "2023-02-29T00:00:00Z",
        "2024-01-01T24:00:00Z",
        "2024-01-01 00:00:00Z",
        "2024-01-01T00:00:00",
        "2024-01-01T00:00:60Z",
    ],
    "time": ["24:00:00Z", "12:00:00", "12:00Z"],
    "duration": ["P", "PT", "P1", "1D", "P1YT", "P1D2H", "P1H", "PT1D", "P1Y2W", "P2D1Y"],
    "uuid": [
        "2eb8aa08aa9811eab4aa73b441d16380",
        "2eb8aa08-aa98-11ea-b4aa-73b441d1638",
        "2eb8aa08-aa98-11ea-b4aa-73b441d1638g",
    ],
    "ipv4": ["256.1.1.1", "1.1.1", "01.1.1.1", "1.1.1.1.", "1.1.1.1.1"],
    "ipv6": [
        "12345::",
        ":1",
        "1:",
        "1::2::3",
        "1:2:3:4:5:6:7",
        ":::",
        "1:2:3:4:5:6:7:8:9",
        "::1.2.3.256",
        "1:2:3:4:5:6:7:1.2.3.4",
    ],
    "hostname": ["-a", "a-", "a..b", "", ".a", "a_b", "xn--X", "a" * 64],
    "email": ["2962", "a@", "@b", ".a@b", "a..b@c", "a.@b", "a b@c"],
    "uri": ["//foo.bar", "/abc", "a b:c", "http://foo.bar/<>", "://x", "bar,baz:foo", "http://[::1", "a:%g0"],
    "uri-reference": ["\\\\WINDOWS\\x", "abc\\def", "#frag\\ment", "a:b:c d", "1:x"],
    "iri": ["/abc", "\u00e2\u03c0\u03c0", "http://2001:0db8:85a3::7334", "http://x/\\"],
    "iri-reference": ["\\\\WINDOWS\\\u00eb", "#\u0192\\m"],
    "json-pointer": ["foo", "/~", "/~2", "#/a"],
    "relative-json-pointer": ["", "/a", "01/a", "-1", "1foo"],
}


@pytest.mark.parametrize("name", VALID)
def test_known_texts(name):
    matches = _matcher(name)
    assert [text for text in VALID[name] if not matches(text)] == []
    assert [text for text in INVALID[name] if matches(text)] == []


def _samples(name, count=400):
    """Texts of a format, walked at random through its automaton."""
    import random

    rng = random.Random(name)
    store = AutomatonStore()
    start = store.add(formats.language(name).regex)
    for _ in range(count):
        state, data = start, bytearray()
        while True:
            onward = [b for b in range(256) if store.step(state, b)]
            if store.is_accepting(state) and (not onward or len(data) > 60 or rng.random() < 0.1):
                yield bytes(data).decode()
                break
            plain = [b for b in onward if b < 128]
            byte = rng.choice(plain or onward)
            state = store.step(state, byte)
            data.append(byte)


@pytest.mark.parametrize("name", sorted(VALID))
def test_whatever_a_format_lets_through_passes_the_checker(name):
    for text in _samples(name):
        assert CHECKER.conforms(text, name), text


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("date", dt.date),
        ("x-datetime", dt.datetime),
        ("x-datetime-naive", dt.datetime),
        ("date-time", dt.datetime),
        ("x-time", dt.time),
        ("x-timedelta", dt.timedelta),
        ("uuid", uuid.UUID),
        ("ipv4", ipaddress.IPv4Address),
        ("ipv6", ipaddress.IPv6Address),
    ],
)
def test_whatever_a_format_lets_through_is_read_by_pydantic(name, kind):
    adapter = TypeAdapter(kind)
    for text in _samples(name):
        adapter.validate_python(text)


@pytest.mark.parametrize("name", ["x-url", "x-http-url", "x-ws-url"])
def test_urls_are_read_by_pydantic(name):
    import pydantic

    adapter = TypeAdapter(
        {"x-url": pydantic.AnyUrl, "x-http-url": pydantic.AnyHttpUrl}.get(name, pydantic.AnyWebsocketUrl)
    )
    for text in _samples(name):
        adapter.validate_python(text)


@given(st.datetimes(timezones=st.just(dt.UTC) | st.none()))
def test_datetimes_as_python_writes_them_are_let_through(moment):
    language = formats.language("x-datetime")
    assert isinstance(language, Language)
    at_the_edge = moment.tzinfo is not None and moment.date() in (dt.date.min, dt.date.max)
    assert language.matches(moment.isoformat()) != at_the_edge
