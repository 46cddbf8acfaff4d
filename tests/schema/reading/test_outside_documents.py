"""References that lead out of the schema: unreadable registries, and what `lenient` drops."""

import jsonschema
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


BASE = "http://elsewhere.test/schemas/main.json"
SEVEN, NEWEST = "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"
FOUR = "http://json-schema.org/draft-04/schema#"


def _registry(*paths):
    """Return schemas under the base's host: each allows only the text of its own path."""
    resources = [(f"http://elsewhere.test/{path}", DRAFT7.create_resource({"enum": [path]})) for path in paths]
    return Registry().with_resources(resources)


@pytest.mark.parametrize(
    ("schema", "value", "target"),
    [
        ({"$schema": NEWEST, "$ref": "a.json"}, "{}", "schemas/a.json"),
        ({"$schema": NEWEST, "$ref": "/a.json"}, "{}", "a.json"),
        ({"$schema": NEWEST, "$id": "sub/b.json", "$ref": "a.json"}, "{}", "schemas/sub/a.json"),
        ({"$schema": NEWEST, "$id": "http://elsewhere.test/x/", "$ref": "a.json"}, "{}", "x/a.json"),
        ({"$schema": SEVEN, "$ref": "a.json"}, "{}", "schemas/a.json"),
        ({"$schema": SEVEN, "$id": "sub/", "$ref": "a.json"}, "{}", "schemas/a.json"),  # $ref makes $id void
        ({"$schema": FOUR, "id": "sub/", "$ref": "a.json"}, "{}", "schemas/a.json"),
        ({"$schema": SEVEN, "$id": "sub/", "properties": {"p": {"$ref": "a.json"}}}, '{"p":{}}', "schemas/sub/a.json"),
        (
            {"$schema": SEVEN, "$id": "sub/", "properties": {"p": {"$id": "deep/", "$ref": "a.json"}}},
            '{"p":{}}',
            "schemas/sub/a.json",
        ),
        (
            {"$schema": FOUR, "properties": {"p": {"id": "deep/", "items": {"id": "x/", "$ref": "a.json"}}}},
            '{"p":[{}]}',
            "schemas/deep/a.json",
        ),
        ({"$schema": NEWEST, "$defs": {"b": {"$ref": "a.json"}}, "$ref": "main.json#/$defs/b"}, "{}", "schemas/a.json"),
    ],
)
def test_relative_references_are_resolved_against_the_base_uri(schema, value, target):
    folders = ("", "x/", "schemas/", "schemas/sub/", "schemas/deep/", "schemas/sub/deep/")
    others = {f"{folder}a.json" for folder in folders}
    options = {"registry": _registry(*others | {target}), "base_uri": BASE}
    constraint = structgen.compile(schema, BYTES, **options)
    for path in others:
        text = value.replace("{}", f'"{path}"')
        matcher = constraint.matcher()
        assert matcher.allows_bytes(text.encode()) == (path == target), path
        if path == target:
            constraint.parse(text)
        else:
            with pytest.raises(jsonschema.ValidationError):
                constraint.parse(text)


def test_relative_references_without_a_base_are_those_of_the_registry():
    registry = Registry().with_resource("a.json", DRAFT202012.create_resource({"const": 1}))
    assert structgen.compile({"$ref": "a.json"}, BYTES, registry=registry).parse("1") == 1
    with pytest.raises(structgen.UnsupportedSchemaError, match="outside"):
        structgen.compile({"$ref": "a.json"}, BYTES, base_uri=BASE, registry=registry)


@pytest.mark.parametrize(
    ("base", "error"), [("a.json", ValueError), ("http://a/#b", ValueError), ("http://[", ValueError), (3, TypeError)]
)
def test_a_base_that_is_no_absolute_uri_is_refused(base, error):
    with pytest.raises(error, match="base_uri"):
        structgen.compile({}, BYTES, base_uri=base)
