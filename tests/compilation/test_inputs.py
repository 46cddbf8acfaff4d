"""The text of a schema, by which compiled grammars are found."""

import json
import random
from decimal import Decimal
from typing import Any

import jsonschema
import pytest
from support.vocabularies import BYTES

import structgen
from structgen.compilation import inputs
from structgen.compilation.inputs import _ENCODER, _content, _encode
from structgen.errors import SchemaError
from structgen.limits import Limits
from structgen.schema import resolve
from structgen.schema.reading.shared_parts import SmallKey, small_key, text_length


def value(chance: random.Random, depth: int) -> Any:
    kind = chance.randrange(7 if depth else 5)
    if kind < 5:
        return [None, True, chance.random(), chance.randrange(99), 'aé"\\\n'][kind]
    count = chance.randrange(9)
    if kind == 5:
        return [value(chance, depth - 1) for _ in range(count)]
    return {chance.choice([f"k{number}", number, f'é"{number}']): value(chance, depth - 1) for number in range(count)}


def test_a_large_schema_is_encoded_in_pieces_to_the_same_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "_MAX_ENCODED_AT_ONCE", 3)
    monkeypatch.setattr(inputs, "_MAX_SMALL_MEMBER", 2)
    chance = random.Random(1)
    for _ in range(2_000):
        content = [value(chance, 4), value(chance, 4)]
        pieces: list[str] = []
        _encode(content, pieces)
        assert "".join(pieces) == _ENCODER.encode(content)


def test_members_of_few_values_are_written_together() -> None:
    """A piece for each object would take six times as long."""
    content = [{f"k{number}": {"type": "string", "enum": ["a", {}]} for number in range(9_000)}, {}]
    pieces: list[str] = []
    _encode(content, pieces)
    assert "".join(pieces) == _ENCODER.encode(content)
    assert len(pieces) < 20


def key_of(schema: dict[str, Any]) -> str | SmallKey | tuple[str, ...]:
    return _content(resolve(schema), Limits())


def test_a_small_schema_is_found_by_its_values_and_their_order() -> None:
    shared = {"type": "string"}
    schema = {"properties": {"a": shared, "b": shared}, "const": [1, True, 1.0, None, "é\ud800"]}
    assert key_of(schema) == key_of(json.loads(json.dumps(schema)))
    others = [
        {"const": schema["const"], "properties": schema["properties"]},
        {"properties": {"b": shared, "a": shared}, "const": schema["const"]},
        {"properties": schema["properties"], "const": [1.0, True, 1.0, None, "é\ud800"]},
        {"properties": schema["properties"], "const": [1, 1, 1.0, None, "é\ud800"]},
        {"properties": schema["properties"], "const": [1, True, 1.0, None, "é\udfff"]},
        {"properties": schema["properties"], "const": [1, True, 1.0, None, "é\ud800", []]},
        {"properties": schema["properties"], "const": [1, True, 1.0, None, "é\ud800", {}]},
        {"properties": schema["properties"], "const": [0.0]},
        {"properties": schema["properties"], "const": [-0.0]},
    ]
    keys = {key_of(other) for other in [schema, *others]}
    assert len(keys) == 10
    assert {type(key) for key in keys} == {SmallKey}
    assert all(isinstance(key, SmallKey) and text_length((key,)) < 60 for key in keys)


def test_a_small_key_tells_where_each_list_ends_and_which_member_holds_it() -> None:
    forms: list[Any] = [["a"], [["a"]], [[], "a"], ["a", []], [{}, ["a"]], [{"a": []}], [["a", {}]], [{"a": {}}]]
    forms += [[{"a": 1}, {}], [{}, {"a": 1}], [[1, 2], [3]], [[1], [2, 3]], [0], [False], [None], ["0"], [[]]]
    forms += [[{"a": [1], "b": [2]}], [{"a": [2], "b": [1]}], ["int", 0], [0.0, 0], [0, 0.0]]
    keys = [small_key(form) for form in forms]
    assert None not in keys
    assert len(set(keys)) == len(forms)
    assert keys == [small_key(json.loads(json.dumps(form))) for form in forms]


def test_a_small_key_does_not_change_with_its_schema() -> None:
    schema: dict[str, Any] = {"required": ["a"]}
    before = key_of(schema)
    schema["required"].append("b")
    assert before != key_of(schema)
    assert before == key_of({"required": ["a"]})


def test_a_number_with_more_digits_than_python_writes_is_no_json_data() -> None:
    with pytest.raises(SchemaError, match="not JSON data"):
        key_of({"const": 10**5000})


def test_other_schemas_are_found_by_their_text() -> None:
    class Text(str):
        pass

    deep: dict[str, Any] = {}
    for _ in range(200):
        deep = {"not": deep}
    many = {"enum": list(range(20_001))}
    forms = [deep, many, {"enum": [Text("a")]}, {Text("title"): "a"}, {"required": ("a",)}, {"maximum": Decimal(1)}]
    assert [type(key_of(form)) for form in forms] == [str, tuple, str, str, str, str]
    assert "".join(key_of(many)) == _ENCODER.encode([many, {}])
    shared: list[Any] = []
    for _ in range(64):
        shared = [shared, shared]
    assert small_key(shared) is None


def test_a_long_schema_is_told_from_one_that_differs_at_its_end() -> None:
    texts = [f"text number {number}" for number in range(60_000)]
    for last in ("a", "b"):
        constraint = structgen.compile({"enum": [*texts, last]}, BYTES)
        assert constraint.matcher().allows_bytes(f'"{last}"'.encode())
        assert not constraint.matcher().allows_bytes(b'"ab"')
        assert structgen.compile({"enum": [*texts, last]}, BYTES).grammar is constraint.grammar


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (lambda schema: schema, '{"a": 2}'),
        (structgen.json_lines, '{"a": 2}\n{"a": 3}'),
        (structgen.Grammar.yaml, "a: 2"),
        (lambda schema: structgen.template("<{hole}>", hole=schema), '<{"a": 2}>'),
    ],
)
@pytest.mark.parametrize("values", [3, 30_000])
def test_a_schema_that_is_changed_after_the_compile_is_read_as_it_was(form, text, values):
    """Its validator is made when the first text is read."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": [*range(values)]}}}
    constraint = structgen.compile(form(schema), BYTES)
    schema["properties"]["a"]["type"] = "string"
    schema["required"] = ["c"]
    assert constraint.parse(text)
    with pytest.raises((ValueError, jsonschema.ValidationError)):
        constraint.parse(text.replace("2", '"2"'))
