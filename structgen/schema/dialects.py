"""The drafts of JSON Schema: which keywords each knows. What a draft does not know is an annotation in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from structgen.errors import SchemaError

__all__ = ["ANNOTATIONS", "LATEST", "UNDECLARED", "Dialect", "dialect_of", "has_older_forms"]

ANNOTATIONS = frozenset(
    {
        "$anchor", "$comment", "$defs", "$dynamicAnchor", "$id", "$recursiveAnchor", "$schema", "$vocabulary",
        "contentEncoding", "contentMediaType", "contentSchema", "default", "definitions", "deprecated", "description",
        "discriminator", "example", "examples", "id", "readOnly", "title", "writeOnly",
    }
)  # fmt: skip
"""Keywords that assert nothing."""

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
_2019 = (_DRAFT7 - {"dependencies"}) | {
    "$recursiveRef", "dependentRequired", "dependentSchemas", "maxContains", "minContains", "unevaluatedItems",
    "unevaluatedProperties",
}  # fmt: skip
_2020 = (_2019 - {"$recursiveRef", "additionalItems"}) | {"$dynamicRef", "prefixItems"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """One draft.

    Attributes:
        name: "draft4", "draft6", "draft7", "2019-09", "2020-12"; "" when the schema does not say.
        keywords: those that assert something.
        id_keyword: what names a schema.
        ref_overrides: a `$ref` makes its siblings void.
    """

    name: str
    keywords: frozenset[str]
    id_keyword: str = "$id"
    ref_overrides: bool = False


_DIALECTS = {
    "http://json-schema.org/draft-04/schema": Dialect("draft4", _DRAFT4, "id", True),
    "http://json-schema.org/draft-06/schema": Dialect("draft6", _DRAFT6, ref_overrides=True),
    "http://json-schema.org/draft-07/schema": Dialect("draft7", _DRAFT7, ref_overrides=True),
    "https://json-schema.org/draft/2019-09/schema": Dialect("2019-09", _2019),
    "https://json-schema.org/draft/2020-12/schema": Dialect("2020-12", _2020),
}
LATEST = _DIALECTS["https://json-schema.org/draft/2020-12/schema"]
UNDECLARED = Dialect("", _2019 | _2020 | _DRAFT7)
"""A schema without `$schema`: the newest draft, and the forms of older ones where they can mean one thing only."""


def dialect_of(schema: Any) -> Dialect:
    """The draft that a schema says it is written in.

    Raises:
        SchemaError: a draft that is not known.
    """
    if not isinstance(schema, dict) or "$schema" not in schema:
        return UNDECLARED
    uri = schema["$schema"]
    if not isinstance(uri, str):
        raise SchemaError("$schema must be a string", pointer="", keyword="$schema")
    trimmed = uri.rstrip("#")
    found = _DIALECTS.get(trimmed)
    if found is None:
        swapped = "https" + trimmed[4:] if trimmed.startswith("http:") else "http" + trimmed[5:]
        found = _DIALECTS.get(swapped)
    if found is None:
        known = ", ".join(_DIALECTS)
        raise SchemaError(f"unknown $schema {uri!r}", pointer="", keyword="$schema", hint=f"known are {known}")
    return found


def has_older_forms(schema: Any) -> str:
    """The oldest draft whose forms a schema without `$schema` uses: "draft4", "draft7", or "" for none."""
    found = ""
    stack = [schema]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if isinstance(value.get("exclusiveMinimum"), bool) or isinstance(value.get("exclusiveMaximum"), bool):
                return "draft4"
            if isinstance(value.get("items"), list) or isinstance(value.get("dependencies"), dict):
                found = "draft7"
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    return found
