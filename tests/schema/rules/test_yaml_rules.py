"""Tests of the rules of YAML texts: masks let through what satisfies the schema, and all of its values."""

import itertools
import json
import random
import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from support.schemas import SCHEMAS, document
from support.walks import Sampler

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import TokenRejectedError, UnsatisfiableSchemaError, UnsupportedSchemaError
from structgen.schema.options import SchemaOptions
from structgen.schema.rules.to_rules import json_schema_to_rules
from structgen.schema.rules.yaml_rules import json_schema_to_yaml_rules
from structgen.schema.validation import validator_for
from structgen.schema.yaml_text.reader import begun_yaml_to_json, yaml_to_json
from structgen.schema.yaml_text.writer import json_to_yaml

SIGNS = [
    b"\n  ",
    b"\n    ",
    b": ",
    b"\n- ",
    b"- ",
    b" |\n",
    b"|-\n  ",
    b"|2+\n   ",
    b"\n\n",
    b" #",
    b"no",
    b"null",
    b"---",
    b"ab",
]
VOCABULARY = Vocabulary.from_bytes(
    {**{byte: bytes([byte]) for byte in range(256)}, 256: b"", **{257 + at: sign for at, sign in enumerate(SIGNS)}},
    eos_token_ids=(256,),
)
SAMPLER = Sampler(VOCABULARY, longest=600, late=50)


def compiled(schema, **options):
    tables = json_schema_to_yaml_rules(schema, SchemaOptions(**options))
    return CompiledGrammar(tables, VOCABULARY)


def accepts(grammar, text):
    matcher = Matcher(grammar)
    try:
        matcher.accept_bytes(text.encode())
    except TokenRejectedError:
        return False
    return matcher.is_accepting


def equal(left, right):
    """Whether two values are equal, `true` and `1` apart."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def grows_to(json_text, text):
    """Whether the JSON of the first lines is the beginning of the JSON of more lines, and of all."""
    lines = re.findall(r"[^\n]*\n", text)
    begun = [begun_yaml_to_json("".join(lines[:count])) for count in range(min(len(lines), 6) + 1)]
    return all(longer.startswith(shorter) for shorter, longer in itertools.pairwise([*begun, json_text]))


def check_walks(schema, grammar, rng, walks, options):
    """Texts under the masks are YAML, mean the same in both versions, and their values satisfy the schema."""
    validator = validator_for(schema, options)
    for _ in range(walks):
        walk = SAMPLER.walk(grammar, rng)
        if walk.finished:
            text = walk.text.decode()
            json_text = yaml_to_json(text)
            assert grows_to(json_text, text), text
            value = json.loads(json_text)
            assert validator.is_valid(value), text
            assert equal(yaml.safe_load(text), value), text


def check_values(schema, grammar, rng, walks, options):
    """The values of the schema, as JSON grammars write them, have a text under the masks."""
    of_json = SchemaOptions(whitespace="compact", property_order=options.property_order)
    json_grammar = CompiledGrammar(json_schema_to_rules(schema, of_json), VOCABULARY)
    for _ in range(walks):
        walk = SAMPLER.walk(json_grammar, rng)
        if walk.finished:
            list_step = 0 if options.whitespace == "compact" else 2
            text = json_to_yaml(walk.text.decode(), list_step=list_step, blocks=False)
            assert accepts(grammar, text), text


@given(
    SCHEMAS,
    st.integers(0, 1 << 30),
    st.sampled_from(["any", "single", "compact"]),
    st.sampled_from(["schema", "any"]),
)
def test_random_schemas(subschema, seed, whitespace, order):
    schema = {**document(), **(subschema if isinstance(subschema, dict) else {"allOf": [subschema]})}
    options = SchemaOptions(whitespace=whitespace, property_order=order)
    try:
        grammar = CompiledGrammar(json_schema_to_yaml_rules(schema, options), VOCABULARY)
    except (UnsatisfiableSchemaError, UnsupportedSchemaError):
        return
    rng = random.Random(seed)
    check_walks(schema, grammar, rng, 2, options)
    check_values(schema, grammar, rng, 2, options)


UNIQUE = {"type": "array", "uniqueItems": True}
STRINGS = [
    {"type": "string"},
    {"type": "string", "maxLength": 9},
    {"type": "string", "minLength": 3},
    {"type": "string", "pattern": "^a.*b$"},
    {"type": "string", "pattern": "\\n"},
    {"type": "string", "not": {"enum": ["no", "a b", "a\nb"]}},
    {"type": "string", "not": {"pattern": "a"}},
    {"enum": ["no", "a: b", "x\ny", "\x7f", "é", " x", "#", "", None, True, 1, 1.5, 1e300, 1e-300]},
    {"type": "number", "minimum": 1e20},
    {"type": "number", "exclusiveMinimum": 0, "maximum": 1e-10},
    {"type": "object", "additionalProperties": {"type": "string"}, "properties": {"no": True, "x:y": {"type": "null"}}},
    {"type": "object", "propertyNames": {"pattern": "^[a:# ]*$"}, "additionalProperties": {"type": "integer"}},
    {**UNIQUE, "items": {"enum": ["a", "b", "c"]}, "minItems": 2},
    {**UNIQUE, "items": {**UNIQUE, "items": {"enum": [1, 2]}, "minItems": 1}},
    {**UNIQUE, "items": {"type": "object", "properties": {"a": {"enum": [1, 2]}}, "additionalProperties": False}},
    {**UNIQUE, "items": {"type": ["string", "null"], "maxLength": 3}, "minItems": 2, "maxItems": 4},
    {"type": "array", "items": {"enum": [1, 2, 3]}, "not": UNIQUE},
]


@pytest.mark.parametrize("schema", STRINGS, ids=json.dumps)
@pytest.mark.parametrize("place", ["text", "map", "list"])
def test_schemas_of_each_kind_in_each_place(schema, place):
    whole = {
        "text": schema,
        "map": {"type": "object", "properties": {"k": schema, "z": schema}, "required": ["k"]},
        "list": {"type": "array", "items": {"type": "array", "items": schema, "minItems": 1}, "minItems": 1},
    }[place]
    rng = random.Random(place)
    for whitespace in ("any", "single"):
        options = SchemaOptions(whitespace=whitespace)
        grammar = CompiledGrammar(json_schema_to_yaml_rules(whole, options), VOCABULARY)
        check_walks(whole, grammar, rng, 3, options)
        check_values(whole, grammar, rng, 3, options)


PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "home": {"type": "object", "properties": {"zip": {"type": "string"}}, "additionalProperties": False},
    },
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("text", "modes"),
    [
        ("name: Ada", {"any", "single", "compact"}),
        ("name: Ada\n", set()),
        ("name: Ada\ntags: []\nhome: {}", {"any", "single", "compact"}),
        ("name: Ada\ntags:\n- a\n- b", {"any", "compact"}),
        ("name: Ada\ntags:\n  - a\n  - b\nhome:\n  zip: x", {"any", "single"}),
        ("name: Ada\ntags:\n   - a\n   - b\nhome:\n        zip: x", {"any"}),
        ("name: Ada\ntags:\n  - a\n - b", set()),
        ("name: Ada\ntags:\n  - a\nhome:\nzip: x", set()),
        ("name: |-\n  a\n\n  b\ntags: []", {"any", "single", "compact"}),
        ("name: |\n  a\n", {"any", "single", "compact"}),
        ("name: |\n  a", set()),
        ("name: |+\n  a\n\ntags: []", {"any", "single", "compact"}),
        ("name: |-\n    a\n    b", {"any"}),
        ('name: "no"', {"any", "single", "compact"}),
        ("name: no", set()),
        ("name: 'Ada'", set()),
        ("{name: Ada}", set()),
        ("name:  Ada", set()),
        ("tags: []\nname: Ada", set()),
    ],
)
def test_the_white_space_modes(text, modes):
    found = {mode for mode in ("any", "single", "compact") if accepts(compiled(PERSON, whitespace=mode), text)}
    assert found == modes


def test_lists_in_lists_and_maps_in_lists():
    schema = {"type": "array", "items": {"type": ["array", "object"]}}
    grammar = compiled(schema, whitespace="single")
    assert accepts(grammar, "- - 1\n  - - 2\n    - 3\n- a: 1\n  b:\n    - 4\n    - c: 5\n      d: 6\n- []")
    assert not accepts(grammar, "- - 1\n - 2")


def test_depth_is_not_bounded():
    tree = {"properties": {"a": {"$ref": "#"}}, "type": "object", "additionalProperties": False}
    text = "\n".join("  " * depth + "a:" for depth in range(200)) + " {}"
    assert accepts(compiled(tree, whitespace="single"), text)


def test_a_key_is_written_once_in_any_spelling():
    grammar = compiled({"type": "object", "additionalProperties": {"type": "integer"}})
    assert accepts(grammar, 'ab: 1\nac: 2\n"no": 3')
    assert not accepts(grammar, "ab: 1\nab: 2")
    assert not accepts(grammar, 'ab: 1\n"ab": 2')
    assert not accepts(grammar, 'ab: 1\n"a\\u0062": 2')


@pytest.mark.parametrize("most", [2, 3])
def test_lists_with_two_equal_items(most):
    """Where one item is left, it must equal an earlier one; the list was a dead end."""
    grammar = compiled(
        {"items": {"enum": ["1", "2", "a"]}, "type": "array", "not": {"uniqueItems": True}, "maxItems": most}
    )
    for length in range(1, most + 2):
        for items in itertools.product(('"1"', '"2"', "a"), repeat=length):
            text = "\n".join(f"- {item}" for item in items)
            assert accepts(grammar, text) == (len(set(items)) < length <= most), text


def test_items_that_must_differ_are_compared_by_value():
    grammar = compiled({"type": "array", "uniqueItems": True})
    assert accepts(grammar, '- 1\n- 2\n- a\n- "1"')
    assert not accepts(grammar, "- 1\n- 1.0")
    assert not accepts(grammar, '- a\n- "a"')
    assert not accepts(grammar, "- a: 1\n  b: 2\n- b: 2\n  a: 1")
    assert not accepts(grammar, '- |-\n  a\n  b\n- "a\\nb"')


def test_a_key_that_yaml_cannot_have_is_refused_with_its_place():
    schema = {"properties": {"a": {"type": "object", "properties": {"k" * 1025: {}}}}}
    with pytest.raises(UnsupportedSchemaError) as caught:
        json_schema_to_yaml_rules(schema)
    assert caught.value.pointer == "/properties/a"


@pytest.mark.parametrize("pattern", ["^a{1100}$", "^(b|a{1100})$", "^.{1030,}$"])
def test_patterns_of_keys_too_long_for_yaml_are_refused_with_their_place(pattern):
    inner = {"type": "object", "patternProperties": {pattern: {}}, "additionalProperties": False, "minProperties": 1}
    with pytest.raises(UnsupportedSchemaError) as caught:
        json_schema_to_yaml_rules({"properties": {"a": inner}})
    assert (caught.value.pointer, caught.value.keyword) == ("/properties/a", "patternProperties")


@pytest.mark.parametrize("pattern", ["^a{1000}$", "^[a-z]{1,300}$", "^é{200}$"])
def test_patterns_of_long_keys_are_written(pattern):
    schema = {"type": "object", "patternProperties": {pattern: {"const": 1}}, "additionalProperties": False}
    key = re.sub(r"[^aé]", "", pattern)[0] * (1000 if "1000" in pattern else 200)
    assert accepts(compiled(schema), f"{key}: 1")


def test_messages_name_keys_values_and_locations():
    matcher = Matcher(compiled(PERSON, whitespace="single"))
    matcher.accept_bytes(b"name: Ada\n")
    assert [str(one) for one in matcher.expected()] == ['a key: "tags" or "home" (#)']


def test_many_excluded_strings_are_one_table():
    excluded = [f"value {number} of many é" for number in range(15_000)]
    grammar = compiled({"type": "string", "not": {"enum": [*excluded, 'say "no"', "\x7f"]}})
    for refused in (excluded[7], f'"{excluded[-1]}"', r'"value 7 of m\u0061ny é"', '"say \\"no\\""', r'"\u007f"'):
        assert not accepts(grammar, refused)
    for accepted in ("value 7 of few", '"value 15000 of many é"', r'"say \"yes\""'):
        assert accepts(grammar, accepted)
