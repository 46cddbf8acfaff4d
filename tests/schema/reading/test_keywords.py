"""Each keyword: values that satisfy it, and values that do not."""

import json

import pytest
from support.texts import constraint_of

import structgen
from structgen.errors import SchemaError, UnsatisfiableSchemaError, UnsupportedSchemaError
from structgen.schema import SchemaWarning, schema_to_rules
from structgen.schema.reading.keywords import value_shape
from structgen.schema.validation import validator_for

CASES = [
    ({"type": "null"}, [None], [0, "", False, [], {}]),
    ({"type": "boolean"}, [True, False], [0, 1, "true", None]),
    ({"type": "integer"}, [0, -1, 10**20], [1.5, "1", True, None]),
    ({"type": "number"}, [0, -1.5, 1e100, 1e-7, 123456.789], ["1", True, None]),
    ({"type": "string"}, ["", 'a"\\\n\u00e9\U0001f600'], [1, None]),
    ({"type": ["string", "null"]}, ["x", None], [1, []]),
    (True, [None, 1, "x", [1, [2]], {"a": {"b": []}}], []),
    ({}, [None, 1.5, "x", [1, [2]], {"a": {"b": []}}], []),
    ({"const": 1}, [1], [2, True, "1"]),
    ({"const": 1.0}, [1, 1.0], [2, True]),
    ({"const": True}, [True], [1, False]),
    ({"const": None}, [None], [0]),
    ({"const": {"a": [1, "x"]}}, [{"a": [1, "x"]}], [{"a": [1]}, {}, {"a": [1, "x"], "b": 1}]),
    ({"enum": ["a", "b", 1, None]}, ["a", "b", 1, None], ["c", 2, True, False]),
    ({"enum": [1, 2, "a"], "type": "integer"}, [1, 2], ["a", 3]),
    ({"enum": ["a", "bbb"], "minLength": 2}, ["bbb"], ["a"]),
    ({"enum": [[1], ["x"], []], "minItems": 1, "items": {"type": "integer"}}, [[1]], [["x"], []]),
    ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "\U0001f600\U0001f600"], ["", "a", "abcd"]),
    ({"type": "string", "pattern": "^a+$"}, ["a", "aaa"], ["", "b", "ab"]),
    ({"type": "string", "pattern": "b"}, ["b", "abc", "b\n"], ["", "a"]),
    ({"type": "string", "pattern": "^a", "maxLength": 2}, ["a", "ab"], ["abc", "b"]),
    ({"pattern": '"'}, ['a"b', 1], ["ab"]),
    ({"pattern": "^(['\"])a\\1$"}, ["'a'", '"a"'], ["'a\"", "'a"]),
    ({"pattern": "^(a)?b\\1$"}, ["aba"], ["ab", "ba", "b"]),  # "b" is for ECMA-262, and not for Python
    ({"not": {"pattern": "^(a)?b\\1$"}, "type": "string"}, ["ab", "ba"], ["aba", "b"]),
    ({"pattern": "(?i)^ab"}, ["ab", "AB", "aBc"], ["xab"]),
    ({"pattern": "\\\\"}, ["a\\b"], ["ab", 'a"b']),
    ({"type": "array"}, [[], [1, "x"]], [{}, 1]),
    ({"type": "array", "items": {"type": "integer"}}, [[], [1], [1, 2]], [["x"], [1, "x"]]),
    (
        {"type": "array", "minItems": 2, "maxItems": 3, "items": {"type": "null"}},
        [[None] * 2, [None] * 3],
        [[], [None], [None] * 4],
    ),
    (
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
        [[], [1], [1, "x"], [1, "x", None]],
        [["x"], [1, 1]],
    ),
    (
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False, "minItems": 1},
        [[1], [1, "x"]],
        [[], [1, "x", None]],
    ),
    (
        {
            "type": "array",
            "prefixItems": [{"type": "integer"}],
            "items": {"type": "null"},
            "minItems": 2,
            "maxItems": 3,
        },
        [[1, None], [1, None, None]],
        [[], [1], [1, None, None, None], [1, 1]],
    ),
    (
        {"items": [{"type": "integer"}], "additionalItems": {"type": "null"}},
        [[], [1], [1, None], "x"],
        [[None], [1, 1]],
    ),
    ({"items": False}, [[], 1], [[1]]),
    ({"uniqueItems": False}, [[1, 1]], []),
    ({"uniqueItems": True, "maxItems": 1}, [[], [1]], [[1, 1]]),
    ({"uniqueItems": True, "minItems": 1, "items": {"enum": [1, "a"]}}, [[1], ["a", 1]], [[], [1, 1], [2]]),
    (
        {"not": {"uniqueItems": True}},
        [[1, 1], [1, 1.0], [1, 2, 1, 3], [{"a": [1]}, 2, {"a": [1]}], [1, 1, 1], [None, None, 2]],
        [[], [1], [1, 2], [1, True], 1, "aa", {"a": 1}, [[1, 1]]],
    ),
    (
        {"oneOf": [{"items": {"type": "integer"}, "type": "array"}, {"type": "array", "uniqueItems": True}]},
        [[1, 1], ["a", 1], ["a"], ["a", "b"]],
        [[], [1], [1, 2], ["a", "a"], ["a", 1, 1], 1],
    ),
    (
        {"oneOf": [{"type": "array", "uniqueItems": True, "items": {"type": t}} for t in ("string", "object", "null")]},
        [["a"], ["a", "b"], [{}], [{}, {"a": 1}], [None]],
        [[], ["a", "a"], [{}, {}], [None, None], ["a", {}]],
    ),
    ({"contains": True}, [[1], [1, 2], "x"], [[]]),
    (
        {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}},
        [{}, {"a": 1}, {"b": "x"}, {"a": 1, "b": "x"}, {"a": 1, "c": []}, {"c": 1, "d": 2}],
        [{"a": "x"}, {"b": 1}, []],
    ),
    (
        {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "required": ["b"], "additionalProperties": False},
        [{"b": 1}, {"a": 1, "b": 1}, {"b": 1, "c": 1}, {"a": 1, "b": 1, "c": 1}],
        [{}, {"a": 1}, {"a": 1, "c": 1}, {"b": 1, "d": 1}],
    ),
    (
        {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]},
        [{"a": 1, "b": 2}, {"a": 1, "b": 2, "c": 3}],
        [{}, {"a": 1}, {"b": 1}],
    ),
    ({"type": "object", "properties": {"a": {}}, "required": ["z"]}, [{"z": 1}, {"a": 1, "z": 1}], [{}, {"a": 1}]),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, [{}, {"a": 1, "b": 2}], [{"a": "x"}]),
    ({"type": "object", "properties": {"a": False}}, [{}, {"b": 1}], [{"a": 1}]),
    ({"type": "object", "properties": {'\u00e9"': {"type": "null"}}}, [{'\u00e9"': None}, {"x": 1}], [{'\u00e9"': 1}]),
    (
        {"patternProperties": {"^n_": {"type": "integer"}}, "additionalProperties": False},
        [{}, {"n_a": 1}],
        [{"n_a": "x"}, {"b": 1}],
    ),
    ({"patternProperties": {"^n_": {"type": "integer"}}}, [{"n_a": 1}, {"b": "x"}], [{"n_a": "x"}]),
    (
        {"patternProperties": {"^a": {"type": "integer"}, "b$": {"minimum": 5}}},
        [{"ab": 5}, {"a": 1}, {"b": 5}, {"c": "x"}],
        [{"ab": 1}, {"ab": "x"}, {"b": 1}],
    ),
    (
        {"properties": {"ab": {"maximum": 7}}, "patternProperties": {"^a": {"type": "integer"}}},
        [{"ab": 7}],
        [{"ab": 8}, {"ab": "x"}],
    ),
    ({"propertyNames": {"pattern": "^a"}}, [{}, {"a": 1}, {"ab": None}], [{"b": 1}]),
    (
        {"propertyNames": {"enum": ["a", "b"]}, "minProperties": 2},
        [{"a": 1, "b": 2}, 5],
        [{}, {"a": 1}, {"c": 1, "a": 1}],
    ),
    ({"propertyNames": False}, [{}, 1], [{"a": 1}]),
    ({"type": "object", "minProperties": 1}, [{"a": 1}, {"a": 1, "b": 2}], [{}]),
    ({"type": "object", "maxProperties": 1}, [{}, {"a": 1}], [{"a": 1, "b": 2}]),
    ({"type": "object", "maxProperties": 0}, [{}], [{"a": 1}]),
    (
        {
            "properties": {"a": {}, "b": {}, "c": {}},
            "minProperties": 2,
            "maxProperties": 2,
            "additionalProperties": False,
        },
        [{"a": 1, "b": 1}, {"a": 1, "c": 1}, {"b": 1, "c": 1}],
        [{}, {"a": 1}, {"a": 1, "b": 1, "c": 1}],
    ),
    (
        {"properties": {"a": {}, "b": {}}, "required": ["b"], "minProperties": 2},
        [{"a": 1, "b": 1}, {"b": 1, "x": 1}],
        [{"b": 1}, {"a": 1}],
    ),
    ({"allOf": [{"minimum": 1}, {"maximum": 3}], "type": "integer"}, [1, 3], [0, 4]),
    (
        {
            "allOf": [
                {"properties": {"a": {"type": "integer"}}},
                {"properties": {"a": {"minimum": 3}, "b": {"const": 1}}},
            ]
        },
        [{"a": 3, "b": 1}, {"a": 4}, 1],
        [{"a": 2}, {"b": 2}],
    ),
    ({"anyOf": [{"type": "integer"}, {"type": "string"}], "minLength": 2}, [1, "ab"], ["a", None]),
    ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, [1, 2.5, "x"], [3, 1.5]),
    ({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}, ["x", ["x"]], [1, [1]]),
    (
        {
            "oneOf": [
                {"properties": {"k": {"const": "a"}, "x": {"type": "integer"}}, "required": ["k", "x"]},
                {"properties": {"k": {"const": "b"}}, "required": ["k"]},
            ],
            "type": "object",
        },
        [{"k": "a", "x": 1}, {"k": "b"}],
        [{"k": "a"}, {"k": "c"}, {}],
    ),
    (
        {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object"},
        [{"a": 1}, {"b": 1}, {"a": 1, "c": 1}],
        [{}, {"a": 1, "b": 1}],
    ),
    ({"not": {"type": "string"}}, [1, None, []], ["x"]),
    ({"not": {"enum": ["a", 5]}}, ["b", 4, 5.5, None], ["a", 5]),
    ({"type": "object", "not": {"required": ["a"]}}, [{}, {"b": 1}], [{"a": 1}]),
    ({"not": {"properties": {"a": {"type": "string"}}, "required": ["a"]}}, [{"a": 1}, {}], [{"a": "x"}, 3]),
    (
        {
            "oneOf": [
                {"properties": {"a": {}, "b": {}}, "additionalProperties": False},
                {"properties": {"a": {}, "c": {}}, "additionalProperties": False},
            ],
            "type": "object",
        },
        [{"b": 1}, {"c": 1}, {"a": 1, "b": 1}, {"a": 1, "c": 1}],
        [{}, {"a": 1}, {"b": 1, "c": 1}, {"d": 1}],
    ),
    (
        {"type": "object", "not": {"additionalProperties": {"type": "integer"}}},
        [{"a": "x"}, {"b": 1, "a": "x"}],
        [{}, {"a": 1}, {"a": 1, "b": 2}],
    ),
    (
        {
            "type": "object",
            "properties": {"a": {"type": ["integer", "string"]}, "b": {"type": "integer"}},
            "required": ["a"],
            "not": {"additionalProperties": {"type": "integer"}},
        },
        [{"a": "x"}, {"a": 1, "z": None}, {"a": 1, "b": 1, "z": None}, {"a": "x", "b": 1}],
        [{"a": 1}, {"a": 1, "b": 1}, {"a": 1, "z": 1}],
    ),
    (
        {"type": "object", "minProperties": 1, "not": {"patternProperties": {"^a": {"type": "integer"}}}},
        [{"a": "x"}, {"b": 1, "ab": "x"}],
        [{}, {"a": 1}, {"b": "x"}],
    ),
    ({"type": "string", "not": {"pattern": "^a"}}, ["b", ""], ["a", "ab"]),
    (
        {
            "if": {"properties": {"k": {"const": 1}}, "required": ["k"]},
            "then": {"required": ["x"]},
            "else": {"required": ["y"]},
            "type": "object",
        },
        [{"k": 1, "x": 1}, {"k": 2, "y": 1}, {"y": 1}],
        [{"k": 1, "y": 1}, {}, {"k": 2}],
    ),
    ({"dependentRequired": {"a": ["b"]}, "type": "object"}, [{}, {"b": 1}, {"a": 1, "b": 1}], [{"a": 1}]),
    (
        {"dependentSchemas": {"a": {"properties": {"b": {"type": "integer"}}}}, "type": "object"},
        [{"b": "x"}, {"a": 1, "b": 1}],
        [{"a": 1, "b": "x"}],
    ),
    (
        {"dependencies": {"a": ["b"], "c": {"required": ["d"]}}, "type": "object"},
        [{}, {"a": 1, "b": 1}, {"c": 1, "d": 1}],
        [{"a": 1}, {"c": 1}],
    ),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}, [1], ["x"]),
    ({"$ref": "#/$defs/a", "minimum": 3, "$defs": {"a": {"type": "integer"}}}, [3], [2, 3.5]),
    ({"$ref": "#/$defs/a~1b~0c%25", "$defs": {"a/b~c%": {"type": "integer"}}}, [1], ["x"]),
    ({"$ref": "#here", "$defs": {"x": {"$anchor": "here", "type": "null"}}}, [None], [1]),
    (
        {
            "$id": "https://x.test/a",
            "$ref": "b#/$defs/c",
            "$defs": {"y": {"$id": "b", "$defs": {"c": {"$ref": "#/$defs/d"}, "d": {"type": "null"}}}},
        },
        [None],
        [1],
    ),
    (
        {
            "$defs": {
                "t": {
                    "type": "object",
                    "properties": {"l": {"$ref": "#/$defs/t"}, "v": {"type": "integer"}},
                    "required": ["v"],
                    "additionalProperties": False,
                }
            },
            "$ref": "#/$defs/t",
        },
        [{"v": 1}, {"l": {"l": {"v": 1}, "v": 2}, "v": 3}],
        [{"l": {}, "v": 1}, {}],
    ),
    ({"type": "array", "items": {"$ref": "#"}}, [[], [[], [[]]]], [[1]]),
    (
        {
            "title": "x",
            "description": "y",
            "default": 1,
            "examples": [1],
            "x-foo": {"$ref": "nowhere"},
            "type": "integer",
        },
        [1],
        ["x"],
    ),
    (
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "minimum": 1,
            "exclusiveMinimum": True,
            "type": "integer",
        },
        [2],
        [1],
    ),
    ({"minimum": 1, "exclusiveMinimum": True, "type": "integer"}, [2], [1]),
    (
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$ref": "#/definitions/a",
            "maximum": 3,
            "definitions": {"a": {"type": "integer"}},
        },
        [5],
        ["x"],
    ),
    ({"$schema": "http://json-schema.org/draft-04/schema#", "const": 3}, [3, 4], []),
    ({"$schema": "https://json-schema.org/draft/2020-12/schema", "dependencies": {"a": ["b"]}}, [{"a": 1}], []),
]


@pytest.mark.filterwarnings("ignore:.* is no keyword of")
@pytest.mark.parametrize("index", range(len(CASES)))
def test_values_are_allowed_exactly_when_they_satisfy_the_schema(accepts, index):
    schema, valid, invalid = CASES[index]
    accepted = accepts(schema)
    wrong = [("refused", v) for v in valid if not accepted(json.dumps(v, ensure_ascii=False))]
    wrong += [("allowed", v) for v in invalid if accepted(json.dumps(v, ensure_ascii=False))]
    assert wrong == []


@pytest.mark.parametrize(
    ("schema", "pointer", "keyword"),
    [
        ({"$ref": "http://elsewhere.test/x"}, "", "$ref"),
        ({"a/b": 1, "properties": {"a/b": {"format": "file-path"}}}, "/properties/a~1b", "format"),
    ],
)
def test_what_cannot_be_expressed_is_refused_by_name(schema, pointer, keyword):
    with pytest.raises(UnsupportedSchemaError) as caught:
        schema_to_rules(schema)
    assert (caught.value.pointer, caught.value.keyword) == (pointer, keyword)


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        (False, ""),
        ({"enum": []}, ""),
        ({"type": "integer", "minimum": 3, "maximum": 2}, ""),
        ({"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 4}, ""),
        ({"type": "string", "minLength": 3, "maxLength": 2}, ""),
        ({"type": "string", "pattern": "^a$", "minLength": 2}, ""),
        ({"const": 1, "type": "string"}, ""),
        ({"type": "array", "items": False, "minItems": 1}, ""),
        ({"type": "array", "contains": False}, ""),
        ({"type": "array", "items": {"enum": [1, 2]}, "contains": {"const": 3}}, ""),
        (
            {"type": "array", "items": {"type": "null"}, "contains": {"type": "null"}, "maxContains": 1, "minItems": 2},
            "",
        ),
        (
            {
                "type": "array",
                "contains": {"type": "integer"},
                "maxContains": 2,
                "not": {"contains": {"minimum": 0}},
                "minContains": 3,
            },
            "",
        ),
        (
            {
                "type": "array",
                "prefixItems": [{"type": "null"}],
                "items": {"type": "string"},
                "maxItems": 3,
                "contains": {"type": "string"},
                "minContains": 3,
            },
            "",
        ),
        ({"type": "array", "items": {"enum": ["a", "b", 1]}, "uniqueItems": True, "minItems": 4}, ""),
        (
            {
                "type": "array",
                "items": {"type": "integer", "minimum": 1, "maximum": 99},
                "uniqueItems": True,
                "minItems": 100,
            },
            "",
        ),
        (
            {
                "type": "array",
                "prefixItems": [{"const": 1}, {"enum": [1, 2]}, {"enum": [2, 1.0]}],
                "uniqueItems": True,
                "minItems": 3,
            },
            "",
        ),
        ({"type": "array", "uniqueItems": True, "contains": {"type": "boolean"}, "minContains": 3}, ""),
        ({"type": "array", "items": {"const": [{"a": [1]}]}, "uniqueItems": True, "minItems": 2}, ""),
        ({"type": "array", "items": {"enum": []}, "uniqueItems": True, "minItems": 1}, ""),
        (
            {"type": "array", "prefixItems": [{"const": 1}], "items": {"const": 1}, "uniqueItems": True, "minItems": 2},
            "",
        ),
        ({"type": "object", "required": ["a"], "properties": {"a": False}}, ""),
        ({"type": "object", "required": ["a"], "additionalProperties": False}, ""),
        ({"type": "object", "required": ["a", "b"], "maxProperties": 1}, ""),
        ({"type": "object", "required": ["a"], "properties": {"a": {"enum": []}}}, "/properties/a"),
        ({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}, ""),
        ({"allOf": [{"type": "string"}, {"type": "null"}]}, ""),
        ({"type": "object", "properties": {"a": {}}, "additionalProperties": False, "minProperties": 2}, ""),
    ],
)
def test_a_schema_without_values_is_told(schema, pointer):
    with pytest.raises(UnsatisfiableSchemaError) as caught:
        schema_to_rules(schema)
    assert caught.value.pointer == pointer


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        ({"type": "any"}, "type"),
        ({"minimum": "1"}, "minimum"),
        ({"minLength": -1}, "minLength"),
        ({"minLength": 1.5}, "minLength"),
        ({"required": True}, "required"),
        ({"required": [1]}, "required"),
        ({"properties": []}, "properties"),
        ({"allOf": []}, "allOf"),
        ({"anyOf": {}}, "anyOf"),
        ({"enum": 1}, "enum"),
        ({"multipleOf": 0}, "multipleOf"),
        ({"$ref": 1}, "$ref"),
        ({"$ref": "#/nowhere"}, "$ref"),
        ({"$ref": "#nowhere"}, "$ref"),
        ({"$ref": "#"}, "$ref"),
        ({"allOf": [{"$ref": "#"}]}, "$ref"),
        ({"pattern": 1}, "pattern"),
        ({"format": 1}, "format"),
        ({"uniqueItems": 1}, "uniqueItems"),
        ({"$schema": "http://nowhere.test/"}, "$schema"),
        ({"propertyNames": 3}, ""),
        ({"$id": 3}, "$id"),
        ({"properties": {"a": {"$id": ["a"]}}}, "$id"),
        ({"properties": {1: {}}}, "properties"),
        ({"properties": {None: {}}}, "properties"),
        ({"dependentRequired": {1: ["a"]}}, "dependentRequired"),
        ({"dependentSchemas": {1: {}}}, "dependentSchemas"),
        ({"const": {"a": [{None: 1}]}}, "enum"),
        ({"enum": [{1: 2}]}, "enum"),
    ],
)
def test_what_is_no_schema_is_told(schema, keyword):
    from structgen.errors import LimitExceededError

    with pytest.raises((SchemaError, LimitExceededError)) as caught:
        schema_to_rules(schema)
    if isinstance(caught.value, SchemaError):
        assert caught.value.keyword == keyword


@pytest.mark.parametrize(
    ("name", "meant"), [("float", "number"), ("str", "string"), ("dict", "object"), ("STRING", "string"), ("x", "")]
)
def test_names_of_other_languages_tell_the_type_that_is_meant(name, meant):
    with pytest.raises(SchemaError, match=rf"'{name}' is not a JSON type \(at #/items\)") as caught:
        schema_to_rules({"items": {"type": ["null", name]}})
    assert caught.value.hint == (f"write '{meant}'" if meant else "")


@pytest.mark.parametrize("name", ["json_schema", "structural_tag", "function"])
def test_a_part_of_a_request_in_place_of_a_schema(name):
    with pytest.raises(SchemaError, match=rf"'{name}' is not a JSON type \(at #\)") as caught:
        schema_to_rules({"type": name, name: {"name": "x", "schema": {"type": "object"}}})
    assert caught.value.hint == "this is a part of a request: give only the JSON Schema inside it"


def test_an_unknown_format_is_a_comment_with_a_warning(accepts):
    with pytest.warns(SchemaWarning, match="mongoId"):
        accepted = accepts({"type": "string", "format": "mongoId"})
    assert accepted('"x"')


def test_no_key_comes_twice(accepts):
    accepted = accepts({"type": "object", "not": {"additionalProperties": {"type": "integer"}}})
    assert accepted('{"z": 1, "y": "x"}')
    assert not accepted('{"z": 1, "z": "x"}')
    assert not accepted('{"z": "x", "z": 1}')


def test_names_under_unknown_keywords_come_after_those_of_real_schemas(accepts):
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "unknown": {"$id": "https://example.org/mine", "type": "null"},
        "$defs": {"real": {"$id": "https://example.org/mine", "type": "string"}},
        "$ref": "https://example.org/mine",
    }
    assert accepts(schema)('"a"')
    assert not accepts(schema)("null")


def test_the_validator_reads_patterns_of_keys_as_the_grammar_does(accepts):
    schema = {"type": "object", "patternProperties": {"^.*$": {"type": "object"}, r"^\d+$": True}}
    for extra, text, valid in [
        ({}, '{"a\\r": 4}', True),  # no dot matches a line's end
        ({}, '{"a": 4}', False),
        ({"additionalProperties": False}, '{"a\\r": 4}', False),
        ({"additionalProperties": {"type": "integer"}}, '{"a\\r": 4}', True),
        ({"additionalProperties": {"type": "string"}}, '{"a\\r": 4}', False),
    ]:
        assert accepts(schema | extra)(text) == valid
        assert validator_for(schema | extra).is_valid(json.loads(text)) == valid
    only_digits = {"type": "object", "patternProperties": {r"^\d+$": True}, "additionalProperties": False}
    for text, valid in [('{"12": 1}', True), ('{"\u0661": 1}', False)]:
        assert accepts(only_digits)(text) == valid
        assert validator_for(only_digits).is_valid(json.loads(text)) == valid


def test_many_texts_are_listed_once_each_and_in_their_order() -> None:
    texts = [f"{number * 7919 % 30_011}" for number in range(30_000)]
    shape = value_shape([*texts, *texts[:100], 1], None, "enum", int)
    assert shape.strings[0].texts == tuple(texts)


@pytest.mark.parametrize(("text", "is_multiple"), [("1e400", False), ("-1e400", False), ("1" + "0" * 400, True)])
def test_multiples_of_numbers_that_are_no_doubles(text, is_multiple):
    assert validator_for({"multipleOf": 2}).is_valid(json.loads(text)) == is_multiple


@pytest.mark.parametrize(
    ("keyword", "value", "instance"),
    [
        ("required", True, {"a": 1}),
        ("properties", None, {"a": 1}),
        ("patternProperties", None, {"a": 1}),
        ("additionalProperties", "no", {"a": 1}),
        ("maxProperties", "1", {"a": 1}),
        ("items", 0, [1]),
        ("contains", "a", [1]),
        ("maxItems", "1", [1]),
        ("minimum", "1", 1),
        ("multipleOf", None, 1),
    ],
)
@pytest.mark.filterwarnings("ignore:`required` is a list of strings")
def test_a_malformed_keyword_about_other_types_asserts_nothing(keyword, value, instance):
    """Such as `required: true` of draft 3. The grammar does not read it either."""
    strings = {"type": "string", keyword: value}
    assert structgen.check(strings, '"a"').fits
    assert not structgen.check(strings, json.dumps(instance)).fits
    assert validator_for({"anyOf": [strings, {}]}).is_valid(instance)
    assert constraint_of({"anyOf": [strings, {}]}).parse(json.dumps(instance)) == instance
