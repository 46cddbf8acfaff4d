"""Tests of formats: the whole calendar for dates, IDNA's rules for names, `jsonschema`'s checker for every format."""

import base64
import datetime as dt
import ipaddress
import json
import random
import re
import unicodedata
import uuid

import jsonschema
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from support.vocabularies import BYTES

import structgen
from structgen.engine.automata.store import AutomatonStore
from structgen.schema import formats, sources
from structgen.schema.algebra import Language, StringSet
from structgen.schema.formats import by_name
from structgen.schema.formats.dates import date_range
from structgen.schema.options import SchemaOptions
from structgen.schema.validation import validator_for

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
    matches = _matcher(date_range(low and low.timetuple()[:3], high and high.timetuple()[:3]))
    days = {1, 2, 15, 28, 29, 30, 31}
    for year in (1, 2, 1998, 1999, 2000, 2001, 2003, 2004, 2019, 2020, 2021, 9998, 9999):
        for month in range(1, 13):
            for day in days:
                inside = _is_date(year, month, day) and (low or dt.date.min) <= dt.date(year, month, day) <= (
                    high or dt.date.max
                )
                assert matches(f"{year:04}-{month:02}-{day:02}") == inside, (year, month, day)


VALID = {
    "date-time": [
        "2024-02-29T23:59:59Z",
        "1985-04-12T23:20:50.52Z",
        "1990-12-31T15:59:50-08:00",
        "0001-01-01t00:00:00z",
    ],
    "time": ["08:30:06Z", "23:59:59.123456789012+05:30", "00:00:00-00:00"],
    "duration": ["P4DT12H30M5S", "P4Y", "PT0S", "P2W", "PT1M", "P1Y2M3DT4H5M6S", "P" + "9" * 70 + "D"],
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
        "1::3:4:5:6:7:8",
        "::2:3:4:5:6:7:8",
    ],
    "hostname": ["www.example.com", "a", "a-b.c1", "1host", "a--b.com", "a" * 63, ".".join(["a" * 49] * 5)],
    "idn-hostname": [
        "실례.테스트",
        "bücher.example",
        "ß",
        "l·l",
        "α͵β",
        "א׳ב",
        "ab・カ",
        "ب٠ب",
        "۰0",
        "क\u094d\u200dष",
        "بي\u200cبي",
        "a。b",
        "EXAMPLE.com",
        "שלום.example",
        "ไทย",
        "がく",
        "क़",
        "việt",
    ],
    "email": [
        "joe.bloggs@example.com",
        "te~st@example.com",
        "x+y@a.b",
        '"joe bloggs"@example.com',
        '"a\\"b"@c',
        "a@[127.0.0.1]",
        "a@[IPv6:::1]",
        "a" * 64 + "@b",
    ],
    "idn-email": ["실례@실례.테스트", "a@b.c", "user@cafe\u0301.com", '"é"@b', "é" * 32 + "@b"],
    "uri": [
        "http://foo.bar/?baz=qux#quux",
        "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
        "mailto:a@b.c",
        "ldap://[2001:db8::7]/c=GB?objectClass?one",
        "http://a:b@c:80/%20",
        "http://[v1.a:b]",
        "file:///etc/hosts",
        "a:",
    ],
    "uri-reference": ["/abc", "//foo.bar/?baz", "#frag", "", "abc", "?q", "http://x", "./a:b", "//"],
    "iri": ["http://\u0192\u00f8\u00f8.\u00df\u00e5r/?q=\u2202", "http://x", "http://x/?\ue000"],
    "iri-reference": ["/\u00e2\u03c0\u03c0", "\u00e2", "#\u0192"],
    "uri-template": ["", "http://x/{term:1}/{term}", "{+a,b*}", "{?x.y}", "a%41b", "{v:999}", "a'b", "é"],
    "json-pointer": ["", "/foo/0", "/a~1b/~0", "/é"],
    "relative-json-pointer": ["0", "1/foo", "2#", "0/"],
    "regex": [
        r"^(?:(\d+Y(\d+M(\d+D(\d+H(\d+m)?)?)?)?)|(P))$",
        "",
        "a|b",
        "^(?:[a-z]+)*$",
        "([abc])+\\s+$",
        r"\d{2,}?\.",
        r"[^\]\-x-]",
        "(?=a)b(?!c)",
        "(?<=ab)c",
        r"\x41\u00e9",
        "((((a))))",
        "a{3,12}",
        "é",
    ],
}
INVALID = {
    "date-time": [
        "2023-02-29T00:00:00Z",
        "2024-01-01T24:00:00Z",
        "2024-01-01 00:00:00Z",
        "2024-01-01T00:00:00",
        "2024-01-01T00:00:60Z",
        "2024-01-01T00:00:00+24:00",
    ],
    "time": ["24:00:00Z", "12:00:00", "12:00Z", "12:00:00.Z"],
    "duration": ["P", "PT", "P1", "1D", "P1YT", "P1D2H", "P1H", "PT1D", "P1Y2W", "P2D1Y", "P1Y2D", "PT0.5S", "-P1D"],
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
        "fe80::1%eth0",
        "1:2:3:4::5:6:7:8",
    ],
    "hostname": ["-a", "a-", "a..b", "", ".a", "a.", "a_b", "xn--X", "ab--c", "a" * 64, ".".join(["a" * 50] * 5)],
    "idn-hostname": [
        "",
        "a.",
        "a..b",
        "-é",
        "é-",
        "ab--é",
        "\u0300é",
        "l·",
        "a·l",
        "α͵s",
        "A׳ב",
        "・ab",
        "ب٠ب۰",
        "क\u200dष",
        "x\u200cy",
        "0a.א",
        "aא",
        "א0٠",
        "e\u0301",
        "É",
        "xn--7a",
        "ü" * 60,
        "ー\u302e",
    ],
    "email": ["2962", "a@", "@b", ".a@b", "a..b@c", "a.@b", "a b@c", '"a"b@c', "a@[127.0.0.300]", "a" * 65 + "@b"],
    "idn-email": ["2962", "é@", "a\uff20b", "é" * 33 + "@b"],
    "uri": [
        "//foo.bar",
        "/abc",
        "a b:c",
        "http://foo.bar/<>",
        "://x",
        "bar,baz:foo",
        "http://[::1",
        "a:%g0",
        "http://x:a/",
        "http:/[::1]",
        "http://[::ffff:01.2.3.4]",
    ],
    "uri-reference": ["\\\\WINDOWS\\x", "abc\\def", "#frag\\ment", "a:b:c d", "1:x"],
    "iri": ["/abc", "\u00e2\u03c0\u03c0", "http://2001:0db8:85a3::7334", "http://x/\\", "http://x/\ue000"],
    "iri-reference": ["\\\\WINDOWS\\\u00eb", "#\u0192\\m"],
    "uri-template": ["{", "}", "{}", "{a,}", "{a..b}", "{v:0}", "{v:10000}", "a b", "{,a}", "{a=b}", "%4"],
    "json-pointer": ["foo", "/~", "/~2", "#/a"],
    "relative-json-pointer": ["", "/a", "01/a", "-1", "1foo", "1#/a"],
    "regex": [
        "^(abc]",
        "a**",
        "*",
        r"\a",
        "(?i)a",
        "(?P<n>a)",
        "(?#c)",
        "[b-a]",
        "{1}",
        "a{2,1}",
        "(",
        ")",
        "[",
        "]",
        "\\",
    ],
}


@pytest.mark.parametrize("name", VALID)
def test_known_texts(name):
    matches = _matcher(name)
    assert [text for text in VALID[name] if not matches(text)] == []
    assert [text for text in INVALID[name] if matches(text)] == []


@pytest.mark.parametrize("name", sorted(VALID))
def test_what_a_format_holds_is_never_offered_as_something_else(name):
    language = formats.language(name)
    assert [text for text in VALID[name] if not language.may_match(text)] == []


LEFT_OPEN = {
    "date": ["0000-02-29"],
    "time": ["23:59:60Z", "01:29:60.5+01:30", "15:59:60-08:00", "00:29:60-23:30", "23:29:60+23:30", "00:59:60+01:00"],
    "date-time": ["1998-12-31T23:59:60Z", "1998-12-31t15:59:60.123-08:00", "0000-01-01T00:00:00Z"],
    "hostname": ["xn--9n2bp8q.xn--9t4b11yi5a"],
    "idn-hostname": ["xn--ihqwcrb4cv8a8dqg056pqjye", "π" * 40],
    "email": ["not quite@an address"],
    "regex": ["(?<name>x)", r"(a)\1", "[]", r"\cA", "((((((((((a))))))))))"],
    "uri-template": ["{=a}", 'a "b"<c>', "^{a=b|c}", "{a[]}", "{a:0{}", "%4"],
    "relative-json-pointer": ["0+1/a"],
}
DECIDED = {
    "time": ["22:59:60Z", "23:58:60Z", "23:59:60+01:00", "23:59:60+00:30", "23:59:60-01:00", "12:00:60+00:01"],
    "date-time": ["1998-12-31T22:59:60Z", "2023-02-29T23:59:60Z", "0000-02-30T00:00:00Z"],
    "hostname": ["a_b", "é"],
    "email": ["nobody"],
    "uri-template": ["{", "}", "a}{b", "{a}}"],
}


@pytest.mark.parametrize("name", LEFT_OPEN)
def test_what_readers_take_differently_is_neither_in_a_format_nor_outside(name, allows):
    language = formats.language(name)
    for text in LEFT_OPEN[name]:
        assert not language.matches(text), text
        assert language.may_match(text), text
    for text in DECIDED.get(name, []):
        assert not language.may_match(text), text
    assert not allows({"type": "string", "not": {"format": name}}, LEFT_OPEN[name][0])
    assert allows({"type": "string", "not": {"format": name}}, "*! }")
    assert not allows({"type": "string", "format": name}, LEFT_OPEN[name][0])


def test_leap_seconds_come_at_the_last_second_of_a_day_in_utc():
    may_match = formats.language("time").may_match
    rng = random.Random(0)
    for _ in range(500):
        sign, offset = rng.choice((1, -1)), rng.randrange(24 * 60)
        local = (23 * 60 + 59 + sign * offset) % (24 * 60)
        zone = f"{'+' if sign > 0 else '-'}{offset // 60:02}:{offset % 60:02}"
        assert may_match(f"{local // 60:02}:{local % 60:02}:60{zone}")
        other = (local + rng.randrange(1, 24 * 60)) % (24 * 60)
        assert not may_match(f"{other // 60:02}:{other % 60:02}:60{zone}")


def _samples(name, count=300):
    """Yield texts of a format, from random walks through its automaton."""
    rng = random.Random(name)
    store = AutomatonStore()
    start = store.add(formats.language(name).regex)
    while count:
        state, data = start, bytearray()
        ends, beyond, longest = rng.choice((0.02, 0.1, 0.3)), rng.random() < 0.3, rng.choice((10, 40, 80))
        while len(data) < 600:
            onward = [b for b in range(256) if store.step(state, b)]
            if store.is_accepting(state) and (not onward or len(data) > longest or rng.random() < ends):
                yield bytes(data).decode()
                count -= 1
                break
            plain = [b for b in onward if b < 128]
            letters = [b for b in plain if chr(b).isalnum()]
            pool = onward if beyond and rng.random() < 0.6 else plain if rng.random() < 0.8 else letters
            byte = rng.choice(pool or plain or onward)
            state = store.step(state, byte)
            data.append(byte)


# The checker of relative pointers takes no number of several digits with a 0 in it; that of templates no `{v:1000}`.
FAULTY_CHECKERS = {"relative-json-pointer", "uri-template"}


@pytest.mark.parametrize("name", sorted(VALID.keys() - FAULTY_CHECKERS))
def test_whatever_a_format_lets_through_passes_the_checker(name):
    for text in _samples(name):
        assert CHECKER.conforms(text, name), text


@pytest.mark.parametrize("name", sorted(VALID))
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "minItems": 3, "uniqueItems": True, "items": {"type": "string", "format": None}},
        {"type": "object", "minProperties": 2, "propertyNames": {"format": None}},
    ],
    ids=["items", "keys"],
)
def test_texts_of_a_format_that_must_differ(schema, name):
    # There are finitely many e-mail addresses, but nobody must count them: that took 500,000 states.
    schema = json.loads(json.dumps(schema).replace("null", json.dumps(name)))
    compiled = structgen.compile(schema, BYTES, limits=structgen.Limits(automaton_states=50_000))
    assert compiled.matcher().allowed_token_ids()


@pytest.mark.parametrize("name", ["email", "idn-email"])
def test_only_short_texts_of_a_format(name):
    # The shortest address has three characters. Before, every state of the longer ones was looked at.
    schema = {"type": "string", "format": name, "not": {"pattern": "^[^]{3}"}}
    with pytest.raises(structgen.UnsatisfiableSchemaError):
        structgen.compile(schema, BYTES, limits=structgen.Limits(automaton_states=20_000))


@pytest.mark.parametrize("name", ["email", "idn-email", "hostname", "idn-hostname", "iri", "uri", "uuid"])
def test_a_pattern_needs_a_character_that_a_format_does_not_have(name):
    # Every state of the format was looked at: 20 seconds for `idn-email`.
    schema = {"type": "string", "format": name, "minLength": 2, "pattern": "[\\x00-\\x1f]"}
    with pytest.raises(structgen.UnsatisfiableSchemaError):
        structgen.compile(schema, BYTES, limits=structgen.Limits(automaton_states=20_000))


@pytest.mark.parametrize("name", ["email", "idn-email"])
@pytest.mark.parametrize("length", [150, 200, 250, 255])
def test_long_texts_of_a_format(name, length):
    # From 150 characters on, the search for an e-mail address passed 500,000 states.
    schema = {"type": "string", "format": name, "minLength": length}
    limits = structgen.Limits(automaton_states=20_000)
    if length > 254:
        with pytest.raises(structgen.UnsatisfiableSchemaError):
            structgen.compile(schema, BYTES, limits=limits)
    else:
        assert structgen.compile(schema, BYTES, limits=limits).matcher().allowed_token_ids()


def test_patterns_that_exclude_each_other_beside_a_format():
    pattern = {"pattern": "^(?:(?!ab).)*$", "allOf": [{"pattern": "(ab){2}"}]}
    schema = {"type": "string", "format": "idn-hostname", **pattern}
    with pytest.raises(structgen.UnsatisfiableSchemaError):
        structgen.compile(schema, BYTES, limits=structgen.Limits(automaton_states=500))


@pytest.mark.parametrize("name", by_name._FORMATS)
def test_each_format_surely_has_a_text(name):
    language = formats.language(name)
    store = AutomatonStore()
    assert language.surely_holds
    assert store.shortest_text(store.add(language.regex)) is not None


def test_formats_with_bounds_may_have_no_text():
    never = formats.language("x-integer 5 3")
    assert not never.surely_holds
    assert StringSet(within=(never,)).is_empty()


def test_regexes_are_compiled_without_a_warning():
    for text in _samples("regex"):
        re.compile(text)


def test_json_in_a_string_is_json():
    for text in _samples("json-string"):
        json.loads(text)


def test_labels_are_composed_and_short():
    for name in _samples("idn-hostname"):
        labels = re.split("[.\u3002\uff0e\uff61]", name)
        encoded = [b"xn--" + label.encode("punycode") if not label.isascii() else label.encode() for label in labels]
        assert max(map(len, encoded)) <= 63
        assert sum(map(len, encoded)) + len(encoded) - 1 <= 253
        assert unicodedata.is_normalized("NFC", "".join(label + "." for label in labels))


@pytest.mark.parametrize("low", [0x80, 0x370, 0x5D0, 0x905, 0xE01, 0xF40, 0x3041, 0xAC00, 0x10000])
def test_labels_whose_characters_lie_far_apart_are_short_when_encoded(low):
    """Try labels of Punycode's worst case: distant code points in turn, with repeated characters between them."""
    matches = _matcher("idn-hostname")
    rng = random.Random(low)
    letters = [
        chr(code)
        for code in range(low, low + 0x400)
        if unicodedata.category(chr(code)) == "Lo" or unicodedata.category(chr(code)) == "Ll"
    ]
    for _ in range(300):
        few = rng.sample(letters, min(len(letters), rng.randrange(1, 20)))
        label = "".join(rng.choice(few) for _ in range(rng.randrange(1, 40)))
        label += "a" * rng.choice((0, 1, 5, 30))
        if matches(label):
            assert len(b"xn--" + label.encode("punycode")) <= 63, label


READERS = {
    "base64": pydantic.Base64Bytes,
    "base64url": pydantic.Base64UrlBytes,
    "date": dt.date,
    "date-time": dt.datetime,
    "ipv4": ipaddress.IPv4Address,
    "ipv4interface": ipaddress.IPv4Interface,
    "ipv4network": ipaddress.IPv4Network,
    "ipv6": ipaddress.IPv6Address,
    "ipv6interface": ipaddress.IPv6Interface,
    "ipv6network": ipaddress.IPv6Network,
    "ipvanyaddress": pydantic.IPvAnyAddress,
    "ipvanyinterface": pydantic.IPvAnyInterface,
    "ipvanynetwork": pydantic.IPvAnyNetwork,
    "json-string": pydantic.Json,
    "x-multi-host-url postgres,postgresql": pydantic.PostgresDsn,
    "time": dt.time,
    "uuid": uuid.UUID,
    "uuid4": pydantic.UUID4,
    "x-base64-ascii": pydantic.Base64Str,
    "x-base64url-ascii": pydantic.Base64UrlStr,
    "x-datetime": dt.datetime,
    "x-datetime-naive": pydantic.NaiveDatetime,
    "x-ftp-url": pydantic.FtpUrl,
    "x-http-url": pydantic.HttpUrl,
    "x-time": dt.time,
    "x-timedelta": dt.timedelta,
    "x-url": pydantic.AnyUrl,
    "x-ws-url": pydantic.WebsocketUrl,
}


@pytest.mark.parametrize("name", sorted(READERS))
def test_whatever_a_format_lets_through_is_read_by_pydantic(name):
    adapter = TypeAdapter(READERS[name])
    for text in _samples(name):
        adapter.validate_python(text)


@pytest.mark.parametrize(
    "kind",
    [pydantic.PostgresDsn, pydantic.MongoDsn, pydantic.NatsDsn, pydantic.RedisDsn, pydantic.MySQLDsn, pydantic.AmqpDsn],
)
def test_urls_of_services_are_read_by_pydantic(kind):
    adapter = TypeAdapter(kind)
    schema = sources.resolve(adapter).json_schema
    for text in _samples(schema["format"]):
        adapter.validate_python(text)


@pytest.mark.parametrize("name", ["x-email", "name-email"])
def test_mail_addresses_are_read_by_pydantic(name):
    pytest.importorskip("email_validator")
    adapter = TypeAdapter({"x-email": pydantic.EmailStr, "name-email": pydantic.NameEmail}[name])
    for text in _samples(name):
        adapter.validate_python(text)


@given(st.binary(max_size=40))
def test_base64_as_python_writes_it_is_let_through(data):
    assert formats.language("base64").matches(base64.b64encode(data).decode())
    assert formats.language("base64url").matches(base64.urlsafe_b64encode(data).decode())


@given(st.ip_addresses(), st.integers(0, 128))
def test_networks_as_python_writes_them_are_let_through(address, length):
    network = ipaddress.ip_network(f"{address}/{min(length, address.max_prefixlen)}", strict=False)
    if network.version == 4 or "::/" in str(network):  # zeros are left out at the end
        assert formats.language("ipvanynetwork").matches(str(network))
    assert formats.language("ipvanynetwork").matches(network.exploded)
    assert formats.language("ipvanyinterface").matches(f"{address}/{network.prefixlen}")


@given(st.datetimes(timezones=st.just(dt.UTC) | st.none()))
def test_datetimes_as_python_writes_them_are_let_through(moment):
    language = formats.language("x-datetime-naive" if moment.tzinfo is None else "x-datetime")
    assert isinstance(language, Language)
    assert language.matches(moment.isoformat())


def test_texts_that_are_no_strings_are_not_asked_for(allows):
    for name in (*VALID, "file-path"):
        schema = {"format": name}
        for value in (None, 1, 1.5, True, [], {}):
            assert allows(schema, value) if name not in formats.REFUSED else True


@pytest.mark.parametrize(
    ("name", "text", "valid"),
    [
        ("uri", "http://a", True),
        ("uri", "not a uri", False),  # no checker of it need be installed
        ("relative-json-pointer", "100", True),  # a checker takes no such number
        ("email", "a b@c", True),  # left to the checker
        ("time", "23:59:60Z", False),
        ("regex", "(?P<name>a)", True),
        ("regex", "a{4294967296}", False),  # Python has no such number of repetitions
        ("unheard-of", "", True),
    ],
)
def test_the_validator_reads_formats_as_the_grammar_does(name, text, valid):
    for draft in ("http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"):
        schema = {"$schema": draft, "format": name}
        assert validator_for(schema).is_valid(text) == valid
        assert validator_for(schema, SchemaOptions(formats="annotate")).is_valid(text)


def test_names_that_only_some_readers_take_are_on_neither_side(accepts):
    either = {"propertyNames": {"anyOf": [{"format": "time"}, {"format": "ipv4"}]}}
    assert accepts(either)('{"23:59:59Z": 1, "1.2.3.4": 2}')
    refused = accepts({"type": "object", "not": either})
    assert refused('{"a": 1}')
    assert not refused('{"23:59:59Z": 1}')
    assert not refused('{"23:59:60Z": 1}')


@pytest.mark.parametrize("name", ["uri", "uri-reference", "iri", "iri-reference"])
def test_hosts_in_brackets_are_those_that_checkers_read(name):
    """RFC 3986, section 3.2.2: `]` stands only at the end of an IP literal.

    rfc3987 and rfc3986-validator read a future version with a small v only, so only that is written. rfc3987-syntax
    refuses `[::1]` and all characters above U+FFFF. There it is wrong: section 3.2.2 of RFC 3986 has `::` with up to
    seven groups after it, and `ucschar` of RFC 3987 has the planes 1 to 14.
    """
    language = formats.language(name)
    for text in ("x://[v1.a:b]/", "x://u@[::1]:8/", "x://[1:2::3]"):
        assert language.matches(text), text
    assert not language.matches("x://[V1.a]/")
    assert language.may_match("x://[V1.a]/")  # left to the checker, and not written under `not`
    for text in ("x://a]", "x://[a]", "x://h/]", "x://h/?[", "x:#]", "x://h/a b", "x://h/a\u2028]"):
        assert not language.may_match(text), text
    assert language.matches("x://h/a\u00a0\U00032aff") == name.startswith("iri")
