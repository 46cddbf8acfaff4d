"""Strings and keys without very many texts: no regex of all their forms, but a table."""

from __future__ import annotations

import json

import pytest
from support.vocabularies import BYTES

import structgen

WORDS = [f"word {number}" for number in range(0, 20_000, 2)]
SIGNS = [chr(0x4E00 + number % 20_000) + chr(0x4E00 + number // 97) + "é" for number in range(5_000)]


def accepts(schema, text):
    matcher = structgen.compile(schema, BYTES, property_order="any").matcher()
    try:
        matcher.accept_bytes(text.encode())
    except structgen.TokenRejectedError:
        return False
    return bool(matcher.allowed_token_ids()) and matcher.is_accepting


@pytest.mark.parametrize(
    ("texts", "free"), [(WORDS, "word 7"), (WORDS, 'a "\n\\\t\x01\x7fé'), (SIGNS, SIGNS[7][:2]), (SIGNS, "\U0001f600")]
)
def test_only_the_excluded_strings_are_refused(texts, free):
    schema = {"type": "string", "not": {"enum": texts}}
    assert accepts(schema, json.dumps(free, ensure_ascii=False))
    assert not accepts(schema, json.dumps(texts[7], ensure_ascii=False))
    assert not accepts(schema, '"' + "".join(f"\\u{ord(sign):04x}" for sign in texts[7]) + '"')
    assert structgen.check(schema, json.dumps(free))
    assert not structgen.check(schema, json.dumps(texts[7]))


def test_the_conditions_beside_them_hold():
    schema = {"type": "string", "minLength": 3, "maxLength": 6, "pattern": "^w", "not": {"enum": WORDS}}
    assert accepts(schema, '"word 7"')
    assert not any(accepts(schema, text) for text in ('"word 8"', '"word 71"', '"wo"', '"vord 7"'))


def test_keys_are_told_from_the_named_ones():
    schema = {"properties": {key: {"type": "integer"} for key in SIGNS}, "additionalProperties": {"type": "string"}}
    assert accepts({"type": "object"} | schema, f'{{"{SIGNS[3]}": 1, "é": "a"}}')
    assert not accepts({"type": "object"} | schema, f'{{"{SIGNS[3]}": "a"}}')
