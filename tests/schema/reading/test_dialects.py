"""Each draft has its own keywords; others are annotations in it, and forms of other drafts are refused."""

from __future__ import annotations

import json
import warnings
from typing import Any

import jsonschema
import pytest
from referencing import Registry, Resource

from structgen.errors import SchemaError, UnsupportedSchemaError
from structgen.schema import SchemaOptions, SchemaWarning, resolve, schema_to_kbnf

D4, D6, D7 = (f"http://json-schema.org/draft-0{n}/schema#" for n in (4, 6, 7))
D2019, D2020 = "https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema"
ALL = (D4, D6, D7, D2019, D2020)
META = "https://meta.test/schema"
VOCABULARY = "https://json-schema.org/draft/2020-12/vocab"

KEYWORDS: list[tuple[dict[str, Any], Any, tuple[str, ...]]] = [
    ({"const": 1}, 2, (D6, D7, D2019, D2020)),
    ({"contains": {"type": "null"}}, [1], (D6, D7, D2019, D2020)),
    ({"propertyNames": {"maxLength": 1}}, {"ab": 1}, (D6, D7, D2019, D2020)),
    ({"if": {"type": "number"}, "then": False}, 1, (D7, D2019, D2020)),
    ({"dependencies": {"a": ["b"]}}, {"a": 1}, (D4, D6, D7)),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, (D2019, D2020)),
    ({"dependentSchemas": {"a": False}}, {"a": 1}, (D2019, D2020)),
    ({"contains": {"type": "null"}, "minContains": 2}, [None], (D2019, D2020)),
    ({"unevaluatedProperties": False}, {"a": 1}, (D2019, D2020)),
    ({"items": [{"type": "null"}], "additionalItems": False}, [None, 1], (D4, D6, D7, D2019)),
    ({"prefixItems": [{"type": "null"}]}, [1], (D2020,)),
    ({"minimum": 1, "exclusiveMinimum": True}, 1, (D4,)),
    ({"exclusiveMinimum": 1}, 1, (D6, D7, D2019, D2020)),
    ({"type": "integer"}, 1.0, (D4,)),
    ({"$ref": "#/definitions/a", "type": "null", "definitions": {"a": {}}}, 1, (D2019, D2020)),
    ({"$ref": "#/definitions/a", "definitions": {"a": {"type": "null"}}}, 1, ALL),
]
FORMS = [
    ({"items": [True]}, "items", (D2020,)),
    ({"minimum": 1, "exclusiveMinimum": True}, "exclusiveMinimum", (D6, D7, D2019, D2020)),
    ({"exclusiveMinimum": 3}, "exclusiveMinimum", (D4,)),
]


def judge(accepts: Any, schema: Any, value: Any, **options: Any) -> bool:
    """Return whether a value is allowed; check that the grammar and the validator agree."""
    text = json.dumps(value)
    allowed = accepts(schema, **options)(text)
    try:
        resolve(schema, options=SchemaOptions(**options)).parse(text)
    except jsonschema.ValidationError:
        assert not allowed, "the grammar allows it, the validator does not"
        return False
    assert allowed, "the validator allows it, the grammar does not"
    return True


@pytest.mark.filterwarnings("ignore:.* is no keyword of")
@pytest.mark.parametrize("index", range(len(KEYWORDS)))
@pytest.mark.parametrize("draft", ALL)
def test_a_keyword_asserts_in_the_drafts_that_know_it(accepts: Any, draft: str, index: int) -> None:
    schema, value, drafts = KEYWORDS[index]
    if any(draft in refusing and schema.keys() & {keyword} for _, keyword, refusing in FORMS) and draft not in drafts:
        pytest.skip("its form is an error in this draft")
    assert judge(accepts, {"$schema": draft, **schema}, value) == (draft not in drafts)


@pytest.mark.parametrize(("schema", "keyword", "drafts"), FORMS)
def test_forms_of_other_drafts_are_errors(schema: Any, keyword: str, drafts: tuple[str, ...]) -> None:
    for draft in drafts:
        with pytest.raises(SchemaError) as caught:
            schema_to_kbnf({"$schema": draft, "properties": {"a": schema}})
        assert (caught.value.pointer, caught.value.keyword) == ("/properties/a", keyword)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"items": [{"type": "null"}], "additionalItems": False}, [None, 1]),
        ({"dependencies": {"a": ["b"]}, "unevaluatedProperties": False, "properties": {"a": True}}, {"a": 1}),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, 1),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, 2.0),
        ({"prefixItems": [{"type": "null"}]}, [1]),
        ({"$ref": "#/$defs/a", "minimum": 3, "$defs": {"a": {"type": "integer"}}}, 1),
    ],
)
def test_without_a_draft_older_forms_mean_what_they_meant(accepts: Any, schema: Any, value: Any) -> None:
    assert not judge(accepts, schema, value)


def test_an_embedded_resource_may_be_of_another_draft(accepts: Any) -> None:
    old = {"$id": "https://old.test/a", "$schema": D7, "$ref": "#/definitions/b", "type": "null"}
    old["definitions"] = {"b": {"items": [{"type": "null"}], "prefixItems": [False]}}
    with pytest.raises(UnsupportedSchemaError, match="overrides"):
        schema_to_kbnf({"$schema": D2020, "$ref": "#/$defs/a", "$defs": {"a": old}})
    old = {"$id": "https://old.test/a", "$schema": D7, "allOf": [{"$ref": "#/definitions/b", "type": "null"}]} | {
        "definitions": old["definitions"]
    }
    schema = {"$schema": D2020, "properties": {"a": {"$ref": "https://old.test/a"}}, "$defs": {"a": old}}
    assert judge(accepts, schema, {"a": [None, 1]})
    assert not judge(accepts, schema, {"a": [1]})


def test_a_subschema_of_draft_4_has_no_uri_by_the_keyword_of_later_drafts(accepts: Any) -> None:
    inner = {"$id": "https://old.test/a", "$schema": D4, "minimum": 3, "exclusiveMinimum": True}
    schema = {"$schema": D2020, "properties": {"a": inner}}
    assert judge(accepts, schema, {"a": 4})
    assert not judge(accepts, schema, {"a": 3})


def _meta(vocabularies: dict[str, bool]) -> Registry[Any]:
    contents = {"$schema": D2020, "$id": META, "$vocabulary": vocabularies}
    empty: Registry[Any] = Registry()
    return empty.with_resource(META, Resource.from_contents(contents))


def test_a_metaschema_without_a_vocabulary_makes_its_keywords_annotations(accepts: Any) -> None:
    registry = _meta({f"{VOCABULARY}/{name}": True for name in ("core", "applicator")} | {"urn:unknown": False})
    schema = {"$schema": META, "properties": {"a": {"minimum": 10}, "b": False}}
    assert judge(accepts, schema, {"a": 1}, registry=registry)
    assert not judge(accepts, schema, {"b": 1}, registry=registry)


def test_the_vocabulary_of_asserted_formats_asserts_whatever_is_asked(accepts: Any) -> None:
    registry = _meta({f"{VOCABULARY}/format-assertion": True})
    schema = {"$schema": META, "format": "ipv4"}
    assert not judge(accepts, schema, "1.2.3", registry=registry, formats="annotate")
    assert judge(accepts, schema, "1.2.3.4", registry=registry, formats="annotate")


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(SchemaError, match=r"unknown \$schema"):
        schema_to_kbnf({"$schema": META})
    with pytest.raises(UnsupportedSchemaError, match="urn:needed"):
        schema_to_kbnf({"$schema": META}, registry=_meta({"urn:needed": True}))


def test_lenient_reads_a_schema_of_an_unknown_draft_as_the_newest(accepts: Any) -> None:
    schema = {"$schema": "https://example.org/of-our-own", "prefixItems": [{"type": "integer"}]}
    options = SchemaOptions(lenient=True)
    with pytest.warns(SchemaWarning, match=r"of-our-own' is unknown: the schema is read as the newest draft"):
        reads = accepts(schema, lenient=True)
    assert reads('[1, "x"]') and not reads('["x"]')
    with pytest.raises(jsonschema.ValidationError):
        resolve(schema, options=options).parse('["x"]')


@pytest.mark.parametrize("options", [{"lenient": True}, {"draft": "draft7"}])
def test_references_within_a_schema_of_an_unknown_draft(accepts: Any, options: dict[str, Any]) -> None:
    """The validator reads the dialect of a resource again where a reference leads into it."""
    other = {"$id": "other", "$schema": "https://example.org/another", "type": "integer"}
    schema = {
        "$id": "https://example.org/schema",
        "$schema": "https://example.org/of-our-own",
        "definitions": {"number": {"type": "integer"}, "other": other},
        "properties": {"a": {"$ref": "#/definitions/number"}, "b": {"$ref": "other"}},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        reads = accepts(schema, **options)
    assert reads('{"a": 1, "b": 2}') and not reads('{"a": "x"}') and not reads('{"b": "x"}')
    source = resolve(schema, options=SchemaOptions(**options))
    assert source.parse('{"a": 1, "b": 2}') == {"a": 1, "b": 2}
    for text in ('{"a": "x"}', '{"b": "x"}'):
        with pytest.raises(jsonschema.ValidationError):
            source.parse(text)


@pytest.mark.parametrize("uri", ["http://json-schema.org/schema#", "https://json-schema.org/schema"])
def test_the_uri_without_a_draft_is_the_newest_one(accepts: Any, uri: str) -> None:
    schema = {"$schema": uri, "prefixItems": [{"type": "integer"}]}
    reads = accepts(schema)
    assert reads('[1, "x"]') and not reads('["x"]')
    with pytest.raises(jsonschema.ValidationError):
        resolve(schema).parse('["x"]')


def test_a_schema_of_nobody_knows_what_is_of_the_draft_that_is_named(accepts: Any) -> None:
    schema = {"$schema": "https://example.org/of-our-own", "items": [{"type": "integer"}]}
    with pytest.raises(SchemaError, match=r"unknown \$schema .*\n.*draft='draft7'"):
        accepts(schema)
    reads, source = accepts(schema, draft="draft7"), resolve(schema, options=SchemaOptions(draft="draft7"))
    assert reads('[1, "x"]') and source.parse('[1, "x"]') == [1, "x"]
    assert not reads('["x"]')
    with pytest.raises(jsonschema.ValidationError):
        source.parse('["x"]')
    with pytest.raises(SchemaError):  # it says itself what it is
        accepts(schema | {"$schema": D2020}, draft="draft7")


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({"items": False}, "[]", "[1]"),
        ({"items": True, "maxItems": 1}, "[1]", "[1, 2]"),
        ({"definitions": {"no": False}, "properties": {"a": {"$ref": "#/definitions/no"}}}, "{}", '{"a": 1}'),
    ],
)
def test_booleans_are_schemas_in_draft_4_too(schema, valid, invalid):
    source = resolve({"$schema": D4, **schema})
    assert source.parse(valid) == json.loads(valid)
    with pytest.raises(jsonschema.ValidationError):
        source.parse(invalid)
    assert resolve(True, options=SchemaOptions(draft="draft4")).parse("1") == 1
