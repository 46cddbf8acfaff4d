"""Values in nodes, decided without the algebra: the answers are those of `jsonschema`."""

import jsonschema
import pytest
from support.membership import space_of

from structgen.schema.algebra import complement
from structgen.schema.json_text.values import freeze
from structgen.schema.reading.membership import surely_in

VALUES = [
    None, True, 1, 2.5, "a", "bb", [], ["a"], ["a", "a"], ["a", 1], {},
    {"x": 1}, {"x": "s"}, {"y": 1}, {"x": 1, "y": 2},
]  # fmt: skip
SCHEMAS = [
    {"type": ["null", "boolean", "integer"]},
    {"type": ["number", "string"], "minimum": 2, "pattern": "^b"},
    {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    {"type": "array", "contains": {"const": "a"}, "maxContains": 1},
    {"type": "array", "prefixItems": [{"const": "a"}], "minItems": 1, "maxItems": 1},
    {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"], "maxProperties": 1},
    {"type": "object", "not": {"additionalProperties": {"type": "string"}}},
    {"type": "object", "patternProperties": {"^x": {"type": "string"}}, "additionalProperties": False},
    {"anyOf": [{"required": ["x"]}, {"required": ["y"]}], "dependentRequired": {"y": ["x"]}},
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_value_is_in_a_node_or_in_its_complement(schema):
    space, root = space_of(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for value in VALUES:
        is_valid = validator.is_valid(value)
        assert surely_in(space.shape, root, freeze(value)) is is_valid, value
        assert surely_in(space.shape, complement(root), freeze(value)) is not is_valid, value
