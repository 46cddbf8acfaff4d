"""Targets of references by URI, anchor, JSON pointer and dynamic scope, in the schema and in a registry."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

import structgen
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import SchemaError, UnsupportedSchemaError
from structgen.schema import SchemaOptions, resolve, schema_to_kbnf
from structgen.schema.validation import validator_for

LATEST = "https://json-schema.org/draft/2020-12/schema"
DRAFTS = [
    "http://json-schema.org/draft-04/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2019-09/schema",
    LATEST,
]
TREE = {
    "$id": "https://tree.test/tree",
    "$dynamicAnchor": "node",
    "type": "object",
    "properties": {"data": True, "children": {"type": "array", "items": {"$dynamicRef": "#node"}}},
}


def registry(**contents: Any) -> Registry[Any]:
    """Return a registry of schemas under `https://remote.test/`, of the newest draft by default."""
    pairs = ((f"https://remote.test/{name}", schema) for name, schema in contents.items())
    empty: Registry[Any] = Registry()
    return empty.with_resources((uri, Resource.from_contents(s, default_specification=DRAFT202012)) for uri, s in pairs)


def agree(accepts: Any, schema: Any, valid: list[Any], invalid: list[Any], **options: Any) -> None:
    """Check that the grammar and the final validator accept the valid values and refuse the invalid ones."""
    accepted = accepts(schema, **options)
    parse = resolve(schema, options=SchemaOptions(**options)).parse
    for value in valid:
        text = json.dumps(value)
        assert accepted(text), text
        assert parse(text) == value
    for value in invalid:
        text = json.dumps(value)
        assert not accepted(text), text
        with pytest.raises(jsonschema.ValidationError):
            parse(text)


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({"$ref": "#/a%25b~0c~1d/0", "a%b~c/d": [{"type": "null"}]}, [None], [1]),
        ({"$ref": "urn:x:y#z", "$defs": {"z": {"$id": "urn:x:y", "$anchor": "z", "type": "null"}}}, [None], [1]),
        (
            {
                "$id": "https://base.test/dir/root",
                "$ref": "../leaf",
                "$defs": {"leaf": {"$id": "/leaf", "type": "null"}},
            },
            [None],
            [1],
        ),
        (  # an `$id` in an enum names nothing
            {
                "$defs": {"a": {"enum": [{"$id": "b"}]}, "z": {"$id": "b", "type": "null"}},
                "$ref": "b",
            },
            [None],
            [{"$id": "b"}],
        ),
        ({"$schema": DRAFTS[2], "$ref": "#a", "definitions": {"x": {"$id": "#a", "type": "null"}}}, [None], [1]),
        ({"$schema": DRAFTS[0], "$ref": "x.json", "definitions": {"x": {"id": "x.json", "type": "null"}}}, [None], [1]),
        ({"properties": {"$ref": {"type": "null"}}}, [{"$ref": None}], [{"$ref": 1}]),
    ],
)
def test_names_in_one_document(accepts: Any, schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    agree(accepts, schema, valid, invalid)


@pytest.mark.parametrize(
    ("schema", "error", "pointer", "keyword"),
    [
        ({"items": {"$ref": "https://elsewhere.test/x"}}, UnsupportedSchemaError, "/items", "$ref"),
        ({"items": {"$ref": "#/$defs/x"}}, SchemaError, "/items", "$ref"),
        ({"items": {"$ref": "#x"}}, SchemaError, "/items", "$ref"),
        ({"items": {"$dynamicRef": "#x"}}, SchemaError, "/items", "$dynamicRef"),
        ({"items": {"$ref": 1}}, SchemaError, "/items", "$ref"),
        (
            {"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x", "type": "null"}}, "$ref": "#x"},
            SchemaError,
            "",
            "$ref",
        ),
    ],
)
def test_what_leads_nowhere_is_named(schema: Any, error: type[SchemaError], pointer: str, keyword: str) -> None:
    with pytest.raises(error) as caught:
        schema_to_kbnf(schema)
    assert (caught.value.pointer, caught.value.keyword) == (pointer, keyword)


def test_a_registry_gives_what_lies_outside(accepts: Any) -> None:
    known = registry(
        person={"properties": {"name": {"$ref": "name#/$defs/short"}}, "required": ["name"]},
        name={"$defs": {"short": {"type": "string", "maxLength": 3}}},
    )
    agree(accepts, {"$ref": "https://remote.test/person"}, [{"name": "Ann"}], [{"name": "Anna"}, {}], registry=known)


def test_places_in_the_registry_are_named_by_uri() -> None:
    known = registry(a={"properties": {"b": {"$ref": "missing"}}})
    with pytest.raises(UnsupportedSchemaError) as caught:
        schema_to_kbnf({"$ref": "https://remote.test/a"}, registry=known)
    assert caught.value.pointer == "https://remote.test/a#/properties/b"
    assert "(at https://remote.test/a#/properties/b)" in str(caught.value)


def test_what_the_callers_function_retrieves_counts_once_it_is_asked_for(accepts: Any) -> None:
    asked: list[str] = []

    def retrieve(uri: str) -> Resource[Any]:
        asked.append(uri)
        return DRAFT202012.create_resource({"type": "null"})

    known: Registry[Any] = Registry(retrieve=retrieve)  # type: ignore[call-arg]
    agree(accepts, {"$ref": "https://remote.test/x"}, [None], [1], registry=known)
    assert set(asked) == {"https://remote.test/x"}


def test_the_registry_is_part_of_the_cache_key_by_content(byte_vocabulary: Vocabulary) -> None:
    schema = {"$ref": "https://remote.test/a"}
    first, same, other = (
        structgen.compile(schema, byte_vocabulary, registry=registry(a={"type": kind}, unused={"title": title})).grammar
        for kind, title in (("null", "x"), ("null", "y"), ("string", "x"))
    )
    assert first is same
    assert first is not other


@pytest.mark.parametrize("uri", DRAFTS)
def test_each_metaschema_is_known_and_judges_schemas(accepts: Any, uri: str) -> None:
    valid = [{"type": "string", "minLength": 1}, {"properties": {"a": {"items": {"maximum": 3}}}}]
    invalid = [{"type": "text"}, {"properties": {"a": {"minLength": -1}}}, 3]
    agree(accepts, {"$ref": uri}, valid, invalid, property_order="any")


def test_dynamic_references_follow_the_outermost_anchor(accepts: Any) -> None:
    strict = {
        "$schema": LATEST,
        "$id": "https://tree.test/strict",
        "$dynamicAnchor": "node",
        "$ref": "tree",
        "unevaluatedProperties": False,
        "$defs": {"tree": TREE},
    }
    valid = {"data": 1, "children": [{"data": 2}]}
    invalid = {"data": 1, "children": [{"daat": 2}]}
    agree(accepts, strict, [valid], [invalid, {"daat": 1}])
    agree(accepts, {"$schema": LATEST, **TREE}, [valid, invalid], [{"children": [1]}])


def test_one_schema_means_different_things_in_different_dynamic_scopes(accepts: Any) -> None:
    def of(kind: str) -> dict[str, Any]:
        item = {"$dynamicAnchor": "item", "type": kind}
        return {"$id": f"https://list.test/{kind}", "$ref": "list", "$defs": {"item": item}}

    schema = {
        "$schema": LATEST,
        "$id": "https://list.test/both",
        "properties": {"n": {"$ref": "number"}, "s": {"$ref": "string"}, "any": {"$ref": "list"}},
        "$defs": {
            "n": of("number"),
            "s": of("string"),
            "list": {
                "$id": "list",
                "items": {"$dynamicRef": "#item"},
                "$defs": {"any": {"$dynamicAnchor": "item"}},
            },
        },
    }
    agree(
        accepts,
        schema,
        [{"n": [1], "s": ["a"], "any": [1, "a"]}, {"n": []}],
        [{"n": ["a"]}, {"s": [1]}, {"s": ["a", 1]}],
    )


def test_recursive_references_of_2019_09(accepts: Any) -> None:
    def tree(*, is_open: bool) -> dict[str, Any]:
        return {
            "$schema": "https://json-schema.org/draft/2019-09/schema",
            "$id": "https://tree.test/strict",
            "$recursiveAnchor": True,
            "$ref": "tree",
            "properties": {"data": {"type": "integer"}},
            "$defs": {
                "tree": {
                    "$id": "tree",
                    "$recursiveAnchor": is_open,
                    "properties": {"children": {"type": "array", "items": {"$recursiveRef": "#"}}},
                }
            },
        }

    nested = {"children": [{"data": "x"}]}
    agree(accepts, tree(is_open=True), [{"children": [{"data": 1}]}], [nested], property_order="any")
    agree(accepts, tree(is_open=False), [nested], [{"data": "x"}], property_order="any")


def test_where_the_validator_reads_a_dynamic_scope_otherwise_it_is_refused() -> None:
    schema = {  # `jsonschema` forgets the root, since no reference led out of it
        "$schema": LATEST,
        "$id": "https://scope.test/root",
        "$dynamicAnchor": "x",
        "properties": {"a": {"$id": "inner", "$ref": "https://remote.test/target"}},
    }
    known = registry(target={"items": {"$dynamicRef": "#x"}, "$defs": {"x": {"$dynamicAnchor": "x", "type": "null"}}})
    with pytest.raises(UnsupportedSchemaError, match="another for jsonschema"):
        schema_to_kbnf(schema, registry=known)


def test_recursion_over_any_scope_is_data(allows: Callable[[Any, Any], bool]) -> None:
    value: Any = {}
    for _ in range(50):
        value = {"children": [value]}
    assert allows({"$schema": LATEST, **TREE}, value)


@pytest.mark.parametrize("draft", ["draft-04", "draft-06", "draft-07"])
@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_dependencies_with_keys_and_schemas(draft, order):
    # `referencing` takes all of them for schemas, or none: an AttributeError, or a reference that leads nowhere.
    named = {"$id" if draft != "draft-04" else "id": "urn:named", "required": ["c"]}
    dependencies = {"a": ["c"], "b": named}
    schema = {
        "$schema": f"http://json-schema.org/{draft}/schema#",
        "dependencies": {key: dependencies[key] for key in order},
        "properties": {"d": {"$ref": "urn:named"}},
    }
    validator = validator_for(schema)
    assert validator.is_valid({"a": 1, "b": 1, "c": 1, "d": {"c": 1}})
    assert not validator.is_valid({"a": 1})
    assert not validator.is_valid({"b": 1})
    assert not validator.is_valid({"d": {}})


@pytest.mark.parametrize("draft", ["draft/2019-09/schema", "draft/2020-12/schema", None])
@pytest.mark.parametrize("uri", [None, "http://example.com/a", "schemas/", "schemas/a.json", "urn:a"])
@pytest.mark.parametrize("own", ["#name", "part.json", "http://example.com/b", "#"])
def test_the_validator_resolves_references_as_the_grammar_does(allows, draft, uri, own):
    """A relative URI of the root is joined with nothing, and a fragment is no URI of a subschema."""
    is_resource = not own.startswith("#")
    schema = {
        **({"$schema": f"https://json-schema.org/{draft}"} if draft else {}),
        **({"$id": uri} if uri else {}),
        "properties": {
            "a": {"$id": own, "properties": {"b": {"$ref": "#/$defs/c"}}, "$defs": {"c": {"const": 1}}},
            "d": {"$ref": f"{own}#/$defs/c"} if is_resource else {"const": 1},
            "e": {"$ref": "#/$defs/c"},
        },
        "additionalProperties": False,
        "$defs": {"c": {"const": 2}},
    }
    validator = validator_for(schema)
    for number in (1, 2, 3):
        for value, wanted in [
            ({"a": {"b": number}}, 1 if is_resource else 2),
            ({"d": number}, 1),
            ({"e": number}, 2),
        ]:
            assert allows(schema, value) == validator.is_valid(value) == (number == wanted), value


def test_a_plain_reference_to_a_dynamic_anchor_that_jsonschema_follows_dynamically():
    named = {"$id": "http://x/b", "$defs": {"t": {"$dynamicAnchor": "t", "const": 2}}}
    schema = {
        "$schema": LATEST,
        "$id": "http://x/a",
        "properties": {"c": {"$ref": "http://x/b#t"}},
        "$defs": {"t": {"$dynamicAnchor": "t", "const": 1}, "b": named},
    }
    with pytest.raises(UnsupportedSchemaError, match="another for jsonschema"):
        schema_to_kbnf(schema)


def test_a_dynamic_reference_leads_to_the_root_and_on_from_there(allows):
    schema = {
        "$schema": LATEST,
        "$id": "http://x/a",
        "$dynamicAnchor": "t",
        "properties": {"b": {"$dynamicRef": "http://x/b#t"}, "c": {"$ref": "#/$defs/d"}},
        "additionalProperties": False,
        "$defs": {"b": {"$id": "http://x/b", "$defs": {"t": {"$dynamicAnchor": "t"}}}, "d": {"const": 1}},
    }
    validator = validator_for(schema)
    for value, expected in [({"b": {"b": {"c": 1}}}, True), ({"b": {"c": 2}}, False), ({"b": 1}, True)]:
        assert allows(schema, value) == validator.is_valid(value) == expected, value


@pytest.mark.parametrize("keyword", ["$id", "$ref"])
@pytest.mark.parametrize("uri", ["http://[", "//[::1/x", "http://\u2100.test/"])
def test_what_is_no_uri_is_refused_by_name(keyword: str, uri: str) -> None:
    """The compile or, after an answer, the validator raised a `ValueError` of `urllib`."""
    for schema in (
        {keyword: uri},
        {"type": "array", "items": {keyword: uri}},
        {"$id": "http://a.test/", "anyOf": [{keyword: uri}]},
    ):
        with pytest.raises(SchemaError, match=rf"\{keyword} .* is no URI"):
            schema_to_kbnf(schema)
    with pytest.raises(SchemaError, match="is no URI"):
        schema_to_kbnf({keyword: uri}, registry=Registry())


def test_an_index_of_thousands_of_digits_leads_nowhere() -> None:
    with pytest.raises(SchemaError, match="leads nowhere"):
        schema_to_kbnf({"$ref": f"#/allOf/{'9' * 5000}", "allOf": [{}]})
