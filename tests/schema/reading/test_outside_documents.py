"""References that lead out of the schema: unreadable registries, and what `lenient` drops."""

import pytest
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7, DRAFT202012
from support.vocabularies import BYTES

import structgen
from structgen.schema import SchemaWarning

URI = "http://elsewhere.test/a"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize("specification", [DRAFT7, DRAFT202012])
@pytest.mark.parametrize("contents", [{"items": [[1]]}, {"properties": [1]}, {"$id": 5}, [1], 3])
def test_a_document_that_is_no_schema_is_a_schema_error(specification, contents):
    registry = Registry().with_resource(URI, Resource(contents=contents, specification=specification))
    with pytest.raises(structgen.SchemaError, match=URI):
        structgen.compile({"$schema": DRAFT_7, "properties": {"p": {"$ref": URI}}}, BYTES, registry=registry)


def test_lenient_widens_only_the_place_of_an_unknown_reference():
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": URI}, "b": {"type": "integer", "$ref": URI}},
        "required": ["a", "b"],
        "additionalProperties": False,
    }
    with pytest.raises(structgen.UnsupportedSchemaError):
        structgen.compile(schema, BYTES)
    with pytest.warns(SchemaWarning, match="#/properties/[ab]"):
        constraint = structgen.compile(schema, BYTES, lenient=True)
    assert constraint.parse('{"a":[1],"b":2}') == {"a": [1], "b": 2}
    matcher = constraint.matcher()
    matcher.accept_bytes(b'{"a":[1],"b":')
    assert matcher.allows_bytes(b"2")
    assert not matcher.allows_bytes(b'"')


@pytest.mark.parametrize(
    ("draft", "keyword", "value"),
    [
        ("draft-04", "const", 1),
        ("draft-04", "propertyNames", {"maxLength": 1}),
        ("draft-06", "if", {"type": "string"}),
        ("draft-07", "unevaluatedProperties", False),
    ],
)
def test_keywords_of_later_drafts_are_ignored_with_a_warning(draft, keyword, value):
    schema = {"$schema": f"http://json-schema.org/{draft}/schema#", "properties": {"a": {keyword: value}}}
    with pytest.warns(SchemaWarning, match=f"{keyword} is no keyword of {draft.replace('-0', '')}.*#/properties/a"):
        structgen.compile(schema, BYTES)
