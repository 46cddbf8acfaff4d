"""Properties captured in groups: the masks are those of single properties, and many cost little."""

import random

import pytest
from support.vocabularies import BYTES

import structgen
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.schema.rules import key_groups

TOKENS = [
    '{"',
    '":',
    '":1',
    '":1,"',
    '":1}',
    ',"',
    '"a":1',
    'a":1,"b":1',
    'b":1,"c":2}',
    '{"a":1,"',
    "}",
    '{"a":1}',
    'é":',
]
TEXTS = [*(bytes([byte]) for byte in range(128)), *map(str.encode, TOKENS), "é".encode()]
WORDS = Vocabulary.from_bytes(dict(enumerate(TEXTS)) | {len(TEXTS): b"</s>"}, eos_token_ids=[len(TEXTS)])
NUMBER, TEXT = {"enum": [1, 2, 12]}, {"enum": ["x", "é"]}
PROPERTIES = {"a": NUMBER, "b": NUMBER, "c": NUMBER, "ab": NUMBER, "é": TEXT, 'a"': TEXT, "abc": TEXT}


def _schemas() -> dict[str, dict]:
    plain = {"type": "object", "properties": PROPERTIES, "additionalProperties": False}
    others = {**plain, "additionalProperties": {"const": 1}, "propertyNames": {"pattern": '^[a-dé"]*$'}}
    return {
        "optional": plain,
        "required": {**plain, "required": list(PROPERTIES)},
        "some required": {**plain, "required": ["a", "c", "abc"]},
        "counts": {**plain, "required": ["b"], "minProperties": 3, "maxProperties": 4},
        "few": {**plain, "required": ["a", "b"], "maxProperties": 2},
        "one more": {**plain, "required": ["a", "b"], "maxProperties": 3},
        "other keys": {**others, "required": ["ab"], "maxProperties": 5},
        "an excluded object": {**plain, "not": {"enum": [{"a": 1, "b": 1}]}},
        "conditions": {**plain, "dependentRequired": {"a": ["b"]}},
        "a run in the middle": {**plain, "required": ["a", "abc"]},
        "open": {**plain, "additionalProperties": NUMBER},
        "in an array": {
            "items": {**plain, "required": ["a", "b"]},
            "maxItems": 2,
            "uniqueItems": True,
            "type": "array",
        },
    }


def _compiled(schema: dict, order: str, smallest: int, monkeypatch: pytest.MonkeyPatch) -> structgen.Constraint:
    structgen.clear_cache()
    monkeypatch.setattr(key_groups, "MIN_GROUPED", smallest)
    monkeypatch.setattr(key_groups, "MIN_MIXED", smallest)
    monkeypatch.setattr(key_groups, "MIN_RUN", smallest)
    return structgen.compile(schema, WORDS, property_order=order, whitespace="compact")


# With groups of 1, each group has one schema in any order; with groups of 3 and 5, some are mixed.
@pytest.mark.parametrize(("order", "least"), [("any", 1), ("any", 3), ("any", 5), ("schema", 1)])
@pytest.mark.parametrize("name", _schemas())
def test_masks_are_those_of_single_properties(name, order, least, monkeypatch):
    schema = _schemas()[name]
    plain, grouped = (_compiled(schema, order, smallest, monkeypatch) for smallest in (1000, least))
    rng = random.Random(7)
    ended = 0
    for _ in range(12):
        left, right = plain.matcher(), grouped.matcher()
        for _ in range(60):
            allowed = left.allowed_token_ids()
            assert right.allowed_token_ids() == allowed
            assert right.is_accepting == left.is_accepting
            assert left.forced_bytes().startswith(right.forced_bytes())
            if left.is_terminated:
                ended += 1
                break
            token = rng.choice([token for token in allowed if token < len(TEXTS)] or allowed)
            left.accept_token(token)
            right.accept_token(token)
            if rng.random() < 0.1:
                left.rollback(1)
                right.rollback(1)
    assert ended


def test_many_optional_properties_are_one_item_of_a_set():
    schema = {"type": "object", "properties": {f"key {number}": {"type": "string"} for number in range(30_000)}}
    schema["additionalProperties"] = False
    limits = structgen.Limits(set_items=1_000)
    matcher = structgen.compile(schema, BYTES, property_order="schema", limits=limits).matcher()
    matcher.accept_bytes(b'{"key 17": "x", "key 29998": "", "key ')
    assert bytes(matcher.allowed_token_ids()) == b"2"
    matcher.accept_bytes(b'29999": ""')
    assert bytes(matcher.allowed_token_ids()).strip() == b"}"


@pytest.mark.parametrize("order", ["any", "schema"])
def test_many_properties_of_different_schemas_are_one_item_of_a_set(order):
    schema = {"type": "object", "properties": {f"key {number}": {"const": f"v{number}"} for number in range(5_000)}}
    schema["additionalProperties"] = False
    limits = structgen.Limits(set_items=1_000)
    matcher = structgen.compile(schema, BYTES, property_order=order, limits=limits).matcher()
    matcher.accept_bytes(b'{"key 17": "v17", "key 4998": "v4998", "key 4')
    assert bytes(matcher.allowed_token_ids()) == (b'"0123456789' if order == "any" else b"9")
    matcher.accept_bytes(b'999": "')
    assert matcher.forced_bytes() == b'v4999"'


def test_many_properties_in_any_order_take_linear_time_and_memory():
    names = [f"key {number}" for number in range(30_000)]
    properties = {name: {"type": "string"} for name in names}
    schema = {"type": "object", "properties": properties, "required": names[:20_000], "additionalProperties": False}
    # A state has 4 KB. One after each of the keys would have 110 MB.
    limits = structgen.Limits(memory_bytes=64 * 2**20)
    matcher = structgen.compile(schema, BYTES, property_order="any", limits=limits).matcher()
    matcher.accept_bytes(b'{"key 17": "x", "key 29999": "", "key 1')
    assert bytes(matcher.allowed_token_ids()) == b'"0123456789'
    matcher.accept_bytes(b"7")
    assert bytes(matcher.allowed_token_ids()) == b"0123456789"
    assert not matcher.is_accepting
