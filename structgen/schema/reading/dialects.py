"""The drafts of JSON Schema: which keywords each knows. What a draft does not know is an annotation in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from structgen.errors import SchemaError, UnsupportedSchemaError

__all__ = ["UNDECLARED", "Dialect", "Lookup", "dialect_of", "dialect_within", "is_of_draft4", "says"]

Lookup = Callable[[str], Any]
"""From a URI without fragment to the schema that it names; None where there is none."""

_DRAFT4 = frozenset(
    {
        "$ref", "additionalItems", "additionalProperties", "allOf", "anyOf", "dependencies", "enum",
        "exclusiveMaximum", "exclusiveMinimum", "format", "items", "maxItems", "maxLength", "maxProperties", "maximum",
        "minItems", "minLength", "minProperties", "minimum", "multipleOf", "not", "oneOf", "pattern",
        "patternProperties", "properties", "required", "type", "uniqueItems",
    }
)  # fmt: skip
_DRAFT6 = _DRAFT4 | {"const", "contains", "propertyNames"}
_DRAFT7 = _DRAFT6 | {"if", "then", "else"}

_CORE = frozenset({"$ref"})
_APPLICATOR = frozenset(
    {
        "additionalProperties", "allOf", "anyOf", "contains", "dependentSchemas", "else", "if", "items", "not",
        "oneOf", "patternProperties", "properties", "propertyNames", "then",
    }
)  # fmt: skip
_UNEVALUATED = frozenset({"unevaluatedItems", "unevaluatedProperties"})
_VALIDATION = frozenset(
    {
        "const", "dependentRequired", "enum", "exclusiveMaximum", "exclusiveMinimum", "maxContains", "maxItems",
        "maxLength", "maxProperties", "maximum", "minContains", "minItems", "minLength", "minProperties", "minimum",
        "multipleOf", "pattern", "required", "type", "uniqueItems",
    }
)  # fmt: skip
_FORMAT = frozenset({"format"})
_FORMAT_ASSERTION = "https://json-schema.org/draft/2020-12/vocab/format-assertion"

_VOCABULARIES: Mapping[str, frozenset[str]] = {
    "https://json-schema.org/draft/2019-09/vocab/core": _CORE | {"$recursiveRef"},
    "https://json-schema.org/draft/2019-09/vocab/applicator": _APPLICATOR | _UNEVALUATED | {"additionalItems"},
    "https://json-schema.org/draft/2019-09/vocab/validation": _VALIDATION,
    "https://json-schema.org/draft/2019-09/vocab/format": _FORMAT,
    "https://json-schema.org/draft/2019-09/vocab/meta-data": frozenset(),
    "https://json-schema.org/draft/2019-09/vocab/content": frozenset(),
    "https://json-schema.org/draft/2020-12/vocab/core": _CORE | {"$dynamicRef"},
    "https://json-schema.org/draft/2020-12/vocab/applicator": _APPLICATOR | {"prefixItems"},
    "https://json-schema.org/draft/2020-12/vocab/unevaluated": _UNEVALUATED,
    "https://json-schema.org/draft/2020-12/vocab/validation": _VALIDATION,
    "https://json-schema.org/draft/2020-12/vocab/format-annotation": _FORMAT,
    _FORMAT_ASSERTION: _FORMAT,
    "https://json-schema.org/draft/2020-12/vocab/meta-data": frozenset(),
    "https://json-schema.org/draft/2020-12/vocab/content": frozenset(),
}


def _of_vocabularies(draft: str) -> frozenset[str]:
    return frozenset().union(*(keywords for uri, keywords in _VOCABULARIES.items() if f"/{draft}/" in uri))


@dataclass(frozen=True, slots=True)
class Dialect:
    """One draft, or what a metaschema makes of it.

    Attributes:
        name: "draft4", "draft6", "draft7", "2019-09", "2020-12"; "" when the schema does not say.
        keywords: those that assert something.
        id_keyword: what names a schema.
        ref_overrides: a `$ref` makes its siblings void.
        has_item_lists: `items` may be a list.
        asserts_formats: `format` asserts even where the caller wants it to annotate.
    """

    name: str
    keywords: frozenset[str]
    id_keyword: str = "$id"
    ref_overrides: bool = False
    has_item_lists: bool = True
    asserts_formats: bool = False


_OF_DRAFT4 = Dialect("draft4", _DRAFT4, "id", True)
_2020 = Dialect("2020-12", _of_vocabularies("2020-12"), has_item_lists=False)
_2019 = Dialect("2019-09", _of_vocabularies("2019-09"))
UNDECLARED = Dialect("", _2019.keywords | _2020.keywords | _DRAFT7)
"""A schema without `$schema`: the newest draft, and the forms of older ones where they can mean one thing only."""

_DIALECTS = {
    "http://json-schema.org/draft-04/schema": _OF_DRAFT4,
    "http://json-schema.org/draft-06/schema": Dialect("draft6", _DRAFT6, ref_overrides=True),
    "http://json-schema.org/draft-07/schema": Dialect("draft7", _DRAFT7, ref_overrides=True),
    "https://json-schema.org/draft/2019-09/schema": _2019,
    "https://json-schema.org/draft/2020-12/schema": _2020,
}
_CHAIN = 8


def dialect_of(schema: Any, lookup: Lookup | None = None, *, pointer: str = "", draft: str | None = None) -> Dialect:
    """The draft that a schema says it is written in, or what the metaschema that it names makes of one.

    Args:
        schema: the schema.
        lookup: finds metaschemas.
        pointer: where the schema is.
        draft: the name of its draft, if it does not say, or says one that is not known.

    Raises:
        SchemaError: a draft that is not known.
        UnsupportedSchemaError: its metaschema asks for a vocabulary that is not known.
    """
    named_draft = next((known for known in _DIALECTS.values() if known.name == draft), None)
    if not isinstance(schema, dict) or "$schema" not in schema:
        return named_draft or UNDECLARED
    uri = schema["$schema"]
    if not isinstance(uri, str):
        raise SchemaError("$schema must be a string", pointer=pointer, keyword="$schema")
    known = _known(uri)
    if known is not None:
        return known
    metaschemas: list[dict[str, Any]] = []
    named = uri
    while known is None and lookup is not None and len(metaschemas) < _CHAIN:
        metaschema = lookup(named.partition("#")[0])
        if not isinstance(metaschema, dict) or not isinstance(metaschema.get("$schema"), str):
            break
        metaschemas.append(metaschema)
        named = metaschema["$schema"]
        # One that describes itself says by its vocabularies what it is.
        known = UNDECLARED if named == uri and "$vocabulary" in metaschema else _known(named)
    if known is None and named_draft is not None:
        return named_draft
    if known is None:
        hint = f"draft='draft7' or the like reads it as one; known are {', '.join(_DIALECTS)}, and those in a registry"
        raise SchemaError(f"unknown $schema {uri!r}", pointer=pointer, keyword="$schema", hint=hint)
    vocabularies = metaschemas[0].get("$vocabulary")
    return known if vocabularies is None else _narrowed(known, vocabularies, pointer)


def dialect_within(schema: dict[str, Any], outer: Dialect, lookup: Lookup | None, *, pointer: str = "") -> Dialect:
    """The dialect of a subschema, given that of the schema around it.

    A `$schema` in a subschema counts where the subschema has a URI of its own, or names a draft that is known (the
    standard forbids it there, and `jsonschema` heeds it).
    """
    uri = schema.get("$schema")
    if not isinstance(uri, str) or (outer.ref_overrides and "$ref" in schema):
        return outer
    known = _known(uri)
    if known is None and isinstance(schema.get("$id", schema.get("id")), str):
        return dialect_of(schema, lookup, pointer=pointer)
    if known is None or known.ref_overrides == outer.ref_overrides or "$ref" not in schema:
        return known or outer
    message = "whether $ref overrides what is beside it depends on the draft, which changes here"
    raise UnsupportedSchemaError(message, pointer=pointer, keyword="$ref")


def says(uri: Any, dialect: Dialect) -> bool:
    """Whether a `$schema` surely names a draft: at first sight, as it is mostly that of the schema around it."""
    return isinstance(uri, str) and _DIALECTS.get(uri.rstrip("#")) is dialect


def is_of_draft4(schema: dict[str, Any], dialect: Dialect) -> bool:
    """Whether a subschema has to be read as draft 4 has it: it is of draft 4, or it says nothing and uses its forms."""
    if dialect.name:
        return dialect is _OF_DRAFT4
    return isinstance(schema.get("exclusiveMinimum"), bool) or isinstance(schema.get("exclusiveMaximum"), bool)


def _known(uri: str) -> Dialect | None:
    trimmed = uri.rstrip("#")
    swapped = "https" + trimmed[4:] if trimmed.startswith("http:") else "http" + trimmed[5:]
    return _DIALECTS.get(trimmed) or _DIALECTS.get(swapped)


def _narrowed(dialect: Dialect, vocabularies: Any, pointer: str) -> Dialect:
    """A dialect with the keywords of these vocabularies only."""
    if not isinstance(vocabularies, dict):
        raise SchemaError("the metaschema's $vocabulary must be an object", pointer=pointer, keyword="$schema")
    keywords: set[str] = set()
    for uri, is_required in vocabularies.items():
        if uri not in _VOCABULARIES and is_required is not False:
            raise UnsupportedSchemaError(f"the vocabulary {uri!r} is not known", pointer=pointer, keyword="$schema")
        keywords |= _VOCABULARIES.get(uri, frozenset())
    if dialect is UNDECLARED:
        dialect = _2019 if any("/2019-09/" in uri for uri in vocabularies) else _2020
    return replace(dialect, keywords=frozenset(keywords), asserts_formats=_FORMAT_ASSERTION in vocabularies)
