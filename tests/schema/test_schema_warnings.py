"""Warnings about schemas name the line that gave the schema, compiled and uncompiled alike."""

import warnings

import pytest
from support.membership import space_of
from support.vocabularies import BYTES

import structgen
from structgen import Grammar
from structgen.schema import SchemaWarning
from structgen.schema.reading.scopes import ROOT

VOCABULARY = structgen.Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)})


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "string", "format": "warned-of"}, "unknown format 'warned-of'"),
        ({"not": {"type": "string", "pattern": r"(warned-of+)\1"}}, "pattern is dropped"),
        (
            {"type": "object", "properties": {"a": {"type": "string", "minlength": 2}}},
            "minlength is no keyword of JSON Schema .at #/properties/a.: it is not enforced; did you mean minLength?",
        ),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "additional_properties": False},
            "additional_properties is no keyword of draft7 .at #.: .*; did you mean additionalProperties?",
        ),
        ({"type": "string", "nullable": True}, "nullable is no keyword of JSON Schema .at #.: it is not enforced$"),
        (
            {"type": "object", "properties": {"a": {"type": "string", "required": True}}},
            "`required` is a list of strings .at #/properties/a.: a boolean, as in draft 3, is not enforced",
        ),
        ({"name": "string"}, "no key of the schema {'name': 'string'} is a keyword of JSON Schema, such as"),
        (
            {"name": "x", "schema": {"type": "string"}, "strict": True},
            "no key of the schema .*: any JSON value fits it",
        ),
    ],
)
def test_a_warning_names_the_callers_line(schema, message):
    with pytest.warns(SchemaWarning, match=message) as found:
        structgen.compile(schema, VOCABULARY, lenient=True)
    assert {warning.filename for warning in found} == {__file__}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"title": "Anything", "x-order": 1},
        {"properties": {"minlength": {"x-order": 1}, "nullable": {}}},
        {"enum": [{"minlength": 1}]},
    ],
)
def test_annotations_and_names_of_properties_are_no_misspelled_keywords(schema):
    structgen.compile(schema, VOCABULARY)


def test_each_schema_is_warned_of():
    """The shapes of such subschemas are not kept: a second schema would give no warning."""
    for name in ("a", "b"):
        with pytest.warns(SchemaWarning, match=f"`required` is a list of strings .at #/properties/{name}."):
            structgen.compile({"properties": {name: {"type": "null", "required": False}}}, VOCABULARY)


OBJECT = {"type": "object", "properties": {"a": {"type": "string", "format": "warned-of"}}, "required": ["a"]}


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (OBJECT, '{"a":"b"}'),
        (structgen.template("<{x}{y}>", x=OBJECT, y={"type": "string", "format": "warned-of"}), '<{"a":"b"}c>'),
        (Grammar.kbnf('start ::= "<" x ">";', bind={"x": OBJECT}), '<{"a":"b"}>'),
        (Grammar.lark('start: "<" x ">"\nx[capture]: @y', bind={"y": OBJECT}), '<{"a":"b"}>'),
    ],
)
def test_after_the_compile_nothing_is_said(given, text):
    """Where warnings are errors, an answer would end with one. Parts are compiled again to read a text."""
    with pytest.warns(SchemaWarning, match="unknown format 'warned-of'"):
        constraint = structgen.compile(given, BYTES, cache=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matcher = constraint.matcher()
        matcher.accept_bytes(text.encode())
        assert matcher.is_accepting
        constraint.parse(text)
        assert constraint.captures(text) == ({"x": '{"a":"b"}'} if "lark" in repr(given) else {})


def test_a_subschema_that_is_first_read_in_a_mask_warns_of_nothing():
    """Masks compute shapes of nodes outside of `read_schema`."""
    space, _ = space_of(OBJECT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert space.shape(space.node({"type": "string", "format": "warned-of"}, ROOT)).strings
