"""The drafts of JSON Schema, as the sets of keywords that each knows. All other keywords are annotations in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from structgen.errors import SchemaError, UnsupportedSchemaError
from structgen.schema.reading.scopes import Dialect

__all__ = [
    "ANNOTATIONS",
    "MEANT",
    "UNDECLARED",
    "Lookup",
    "dialect_of",
    "dialect_within",
    "is_guessed",
    "is_of_draft4",
    "says",
]

Lookup = Callable[[str], Any]
"""Returns the schema that a URI without fragment names, or None."""

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


_ALL = _of_vocabularies("2019-09") | _of_vocabularies("2020-12") | _DRAFT7
MEANT = {
    spelling: key
    for key in _ALL
    if not key.islower()
    for spelling in (key.lower(), re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", key))
}
"""The keyword that is meant by another spelling of it, such as `minlength` or `min_length`."""

ANNOTATIONS = frozenset(
    {
        "$anchor", "$comment", "$defs", "$dynamicAnchor", "$id", "$schema", "default", "definitions", "deprecated",
        "description", "example", "examples", "id", "readOnly", "title", "writeOnly",
    }
)  # fmt: skip
"""Keys that assert nothing, and stand in schemas that allow every value on purpose."""

_IGNORED = frozenset(MEANT) | {"nullable"}  # a keyword of OpenAPI 3.0
_LATER = _IGNORED | _DRAFT7 | {"dependentRequired", "dependentSchemas", "unevaluatedItems", "unevaluatedProperties"}
_OF_DRAFT4 = Dialect("draft4", _DRAFT4, "id", True, ignores=_LATER - _DRAFT4)
_2020 = Dialect("2020-12", _of_vocabularies("2020-12"), has_item_lists=False, ignores=_IGNORED)
_2019 = Dialect("2019-09", _of_vocabularies("2019-09"), ignores=_IGNORED)
UNDECLARED = Dialect("", _ALL, ignores=_IGNORED)
"""The dialect of schemas without `$schema`: the newest draft, and forms of older drafts where they are unambiguous."""

_DIALECTS = {
    "http://json-schema.org/draft-04/schema": _OF_DRAFT4,
    "http://json-schema.org/draft-06/schema": Dialect("draft6", _DRAFT6, ref_overrides=True, ignores=_LATER - _DRAFT6),
    "http://json-schema.org/draft-07/schema": Dialect("draft7", _DRAFT7, ref_overrides=True, ignores=_LATER - _DRAFT7),
    "https://json-schema.org/draft/2019-09/schema": _2019,
    "https://json-schema.org/draft/2020-12/schema": _2020,
    "http://json-schema.org/schema": UNDECLARED,  # older drafts define it as the newest draft
}
_MAX_METASCHEMAS = 8  # followed from one `$schema` to the next


def dialect_of(schema: Any, lookup: Lookup | None = None, *, pointer: str = "", draft: str | None = None) -> Dialect:
    """Return the dialect that a schema's `$schema` names: a draft, or a metaschema based on one.

    Args:
        schema: the schema.
        lookup: returns metaschemas by URI.
        pointer: the schema's location, for errors.
        draft: the name of its draft, used if it has no `$schema`, or an unknown one; "" for the newest draft, with
            forms of older ones.

    Raises:
        SchemaError: the `$schema` is unknown, and there is no `draft`.
        UnsupportedSchemaError: the metaschema requires an unknown vocabulary.
    """
    named_draft = None
    if draft is not None:
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
    while known is None and lookup is not None and len(metaschemas) < _MAX_METASCHEMAS:
        metaschema = lookup(named.partition("#")[0])
        if not isinstance(metaschema, dict) or not isinstance(metaschema.get("$schema"), str):
            break
        metaschemas.append(metaschema)
        named = metaschema["$schema"]
        # A metaschema that is its own `$schema` tells its draft by its vocabularies.
        known = UNDECLARED if named == uri and "$vocabulary" in metaschema else _known(named)
    if known is None and named_draft is not None:
        return named_draft
    if known is None:
        names = f"{', '.join(_DIALECTS)}, and those in a registry"
        hint = f"pass a draft, such as draft='draft7', or lenient=True; known are {names}"
        raise SchemaError(f"unknown $schema {uri!r}", pointer=pointer, keyword="$schema", hint=hint)
    vocabularies = metaschemas[0].get("$vocabulary")
    return known if vocabularies is None else _narrowed(known, vocabularies, pointer)


def dialect_within(
    schema: dict[str, Any], outer: Dialect, lookup: Lookup | None, *, pointer: str = "", draft: str | None = None
) -> Dialect:
    """Return the dialect of a subschema, given that of the schema around it.

    A subschema's `$schema` counts if the subschema has a URI of its own, or if the draft is known. (The standard
    forbids the second case; `jsonschema` follows it.)

    Args:
        schema: the subschema.
        outer: the dialect around it.
        lookup: returns metaschemas by URI.
        pointer: the subschema's location, for errors.
        draft: as for `dialect_of`.
    """
    uri = schema.get("$schema")
    if not isinstance(uri, str) or (outer.ref_overrides and "$ref" in schema):
        return outer
    known = _known(uri)
    if known is None and isinstance(schema.get("$id", schema.get("id")), str):
        return dialect_of(schema, lookup, pointer=pointer, draft=draft)
    if known is None or known.ref_overrides == outer.ref_overrides or "$ref" not in schema:
        return known or outer
    message = "the draft changes here, and it decides whether $ref overrides the keywords beside it"
    raise UnsupportedSchemaError(message, pointer=pointer, keyword="$ref")


def is_guessed(schema: Any, dialect: Dialect) -> bool:
    """Return whether a schema has an unknown `$schema`, and was read as the newest draft for want of a better one."""
    return dialect is UNDECLARED and isinstance(schema, dict) and "$schema" in schema and not _known(schema["$schema"])


def says(uri: Any, dialect: Dialect) -> bool:
    """Return whether a `$schema` names a dialect by one of its usual spellings; False may be wrong."""
    return isinstance(uri, str) and _DIALECTS.get(uri.rstrip("#")) is dialect


def is_of_draft4(schema: dict[str, Any], dialect: Dialect) -> bool:
    """Return whether a subschema is read by draft 4: it names draft 4, or it names no draft and uses its forms."""
    if dialect.name:
        return dialect is _OF_DRAFT4
    return isinstance(schema.get("exclusiveMinimum"), bool) or isinstance(schema.get("exclusiveMaximum"), bool)


def _known(uri: str) -> Dialect | None:
    trimmed = uri.rstrip("#")
    known = _DIALECTS.get(trimmed)
    if known is not None:
        return known
    swapped = "https" + trimmed[4:] if trimmed.startswith("http:") else "http" + trimmed[5:]
    return _DIALECTS.get(swapped)


def _narrowed(dialect: Dialect, vocabularies: Any, pointer: str) -> Dialect:
    """Return a dialect with only the keywords of some vocabularies."""
    if not isinstance(vocabularies, dict):
        raise SchemaError("the metaschema's $vocabulary must be an object", pointer=pointer, keyword="$schema")
    keywords: set[str] = set()
    for uri, is_required in vocabularies.items():
        if uri not in _VOCABULARIES and is_required is not False:
            raise UnsupportedSchemaError(f"unknown vocabulary {uri!r}", pointer=pointer, keyword="$schema")
        keywords |= _VOCABULARIES.get(uri, frozenset())
    if dialect is UNDECLARED:
        dialect = _2019 if any("/2019-09/" in uri for uri in vocabularies) else _2020
    return replace(dialect, keywords=frozenset(keywords), asserts_formats=_FORMAT_ASSERTION in vocabularies)
