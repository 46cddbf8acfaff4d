"""Tests of JSON as people write it: its canonical spelling, and the location of an offset."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structgen.schema.json_text.lexemes import canonical_pieces, offset_of, pointer_at, pointer_of

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
layouts = st.sampled_from([{}, {"indent": 9}, {"separators": (",", ":")}, {"indent": "\t", "ensure_ascii": False}])


def canonical(text):
    return b"".join(piece.data for piece in canonical_pieces(text))


@given(values, layouts, st.sampled_from(["", " ", "\r\n\t  "]))
def test_the_canonical_spelling_is_of_the_same_value(value, layout, around):
    text = (around + json.dumps(value, **layout) + around).encode()
    assert json.loads(canonical(text)) == value
    assert canonical(canonical(text)) == canonical(text)


@given(values)
def test_it_is_that_of_json_dumps(value):
    """Apart from white space: `json.dumps` writes at most one character of it in a row."""
    assert canonical(json.dumps(value).encode()) == json.dumps(value, ensure_ascii=False).encode()


@given(st.binary(max_size=40))
def test_pieces_cover_the_text(data):
    pieces = list(canonical_pieces(data))
    starts = [piece.start for piece in pieces]
    assert starts == sorted(set(starts))
    for piece in pieces:
        if piece.is_verbatim:
            assert data.startswith(piece.data, piece.start)


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        (rb'"\u00e9\/\u002f\n\u000a"', '"é//\\n\\n"'),
        (rb'"\ud83d\ude00"', '"😀"'),
        (rb'"\ud83d"', '"\\ud83d"'),
        (rb'"\x"', '"\\x"'),
        (rb'"abc\u00', '"abc\\u00'),
        (rb'"\u03\u00613"', r'"\u03\u00613"'),  # not the escape that "a" would make of it
        (b'"a\nb"', '"a\nb"'),
        (b"1 2", "1 2"),
    ],
)
def test_escapes(text, spelled):
    assert canonical(text) == spelled.encode()


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ("", ""),
        ("12", ""),
        ("{", ""),
        ('{"a', ""),
        ('{"a"', ""),
        ('{"a":', "/a"),
        ('{"a": 1', "/a"),
        ('{"a": 1 ', ""),
        ('{"a": 1,', ""),
        ('{"a": "x', "/a"),
        ('{"a": "x"', ""),
        ('{"a": {"b": [1, {', "/a/b/1"),
        ('{"a": {"b": [1, {}', "/a/b"),
        ('{"a": {"b": [1, {}]', "/a"),
        ("[", "/0"),
        ("[]", ""),
        ("[[], ", "/1"),
        ('{"a/b~": ', "/a~1b~0"),
        ('{"\\u00e9": ', "/é"),
        ("]]}", ""),
    ],
)
def test_the_place_under_way(text, pointer):
    assert pointer_at(text.encode(), len(text.encode())) == pointer


def places(value, members=()):
    yield members, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for member, one in inner:
        yield from places(one, (*members, member))


@given(values, layouts)
def test_values_are_found_by_the_way_to_them(value, layout):
    text = json.dumps(value, **layout)
    data = text.encode()
    for members, one in places(value):
        at = len(data[: offset_of(data, members)].decode())
        found, _ = json.JSONDecoder().raw_decode(text, at)
        assert found == one
        assert pointer_at(data, len(text[:at].encode())) == pointer_of(members)
