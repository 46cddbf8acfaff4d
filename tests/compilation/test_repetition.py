"""The guard against answers that repeat themselves: when it fires, what it removes, and where it steps aside."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.walks import byte_vocabulary

import structgen
from structgen.compilation.repetition import MIN_UNIT_BYTES, RepetitionGuard, check_max_repeats
from structgen.engine.vocabulary.bitmask import tokens_of

LIST = {"type": "array", "items": {"type": "string"}}
TREE: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "child": {"anyOf": [{"type": "null"}, {"$ref": "#"}]}},
    "required": ["name", "child"],
    "additionalProperties": False,
}


def allowed_after(schema: Any, text: str, max_repeats: int = 2) -> str | None:
    """Return the bytes that the guard leaves after a text; None where it removes nothing."""
    vocabulary = byte_vocabulary()
    matcher = structgen.compile(schema, vocabulary, whitespace="single", numbers="plain").matcher()
    matcher.accept_bytes(text.encode())
    mask = structgen.allocate_token_bitmask(1, vocabulary.size)
    matcher.fill_next_token_bitmask(mask)
    if not RepetitionGuard(max_repeats).narrow(matcher, mask[0], text.encode()):
        return None
    return b"".join(vocabulary.token_bytes(int(token)) or b"" for token in tokens_of(mask[0])).decode(errors="replace")


def is_periodic(text: bytes, copies: int) -> bool:
    """Return whether a text ends with some copies of the same unit; by trying all units."""
    return any(
        text[len(text) - copies * size :] == text[-size:] * copies
        for size in range(MIN_UNIT_BYTES, len(text) // copies + 1)
    )


@given(st.binary(max_size=9), st.text("ab", min_size=1, max_size=50), st.integers(1, 30), st.integers(1, 4))
def test_repetitions_are_those_of_the_definition(before, unit, copies, max_repeats):
    text = before + unit.encode() * copies
    if RepetitionGuard(max_repeats).repeats(text):
        assert is_periodic(text, max_repeats + 1)


@given(st.text("abcde", min_size=1, max_size=60), st.integers(1, 4))
def test_every_unit_is_found_while_it_is_repeated(unit, max_repeats):
    whole = -(-MIN_UNIT_BYTES // len(unit)) * len(unit)
    text = unit.encode() * ((max_repeats + 2) * whole // len(unit))
    guard = RepetitionGuard(max_repeats)
    assert any(guard.repeats(text[:end]) for end in range(len(text) - whole, len(text) + 1))


def test_a_string_is_closed():
    assert allowed_after(LIST, '["' + "and so on, and so on, " * 3) == '"'
    assert allowed_after(LIST, '["' + "x" * 60) == '"'
    assert allowed_after(LIST, '["' + "x" * 59) is None
    assert allowed_after(LIST, '["' + "x" * 60, max_repeats=3) is None


def test_a_list_gets_no_further_item():
    assert allowed_after(LIST, "[" + '"Milk", ' * 8 + '"Milk", "Milk"') == "]"
    assert allowed_after({"type": "array", "items": {"type": "integer"}}, "[" + "1, " * 21 + "1") == "]"
    assert allowed_after({"type": "array"}, "[" * 60) == "]"


def test_an_item_that_has_begun_is_written_to_its_end():
    for part in ('"', '"M', '"Mil'):
        left = allowed_after(LIST, "[" + '"Milk", ' * 12 + part)
        assert left is None or set("Milk") <= set(left)


def test_a_tree_is_closed():
    text = '{"name": "x", "child": ' * 4
    left = allowed_after(TREE, text)
    assert left == "n"
    assert allowed_after(TREE, text + '{"name') is None or '"' in str(allowed_after(TREE, text + '{"name'))


def test_what_the_schema_requires_is_written():
    assert allowed_after(LIST | {"minItems": 40}, "[" + '"Milk", ' * 12 + '"Milk"') is None
    assert "x" in str(allowed_after({"type": "string", "minLength": 100}, '"' + "x" * 70))
    assert allowed_after({"type": "string", "minLength": 100}, '"' + "x" * 100) == '"'


def test_masks_are_never_emptied():
    text = '"' + "x" * 200
    vocabulary = byte_vocabulary()
    matcher = structgen.compile({"type": "string"}, vocabulary).matcher()
    matcher.accept_bytes(text.encode())
    mask = structgen.allocate_token_bitmask(1, vocabulary.size)
    mask[:] = 0
    mask[0, ord("x") >> 5] = 1 << (ord("x") & 31)
    before = mask.copy()
    assert not RepetitionGuard(2).narrow(matcher, mask[0], text.encode())
    assert (mask == before).all()


@pytest.mark.parametrize("value", [0, -1, True, 2.5, "many"])
def test_other_numbers_are_refused(value):
    with pytest.raises(ValueError, match="max_repeats must be a whole number >= 1, or None"):
        check_max_repeats(value)
