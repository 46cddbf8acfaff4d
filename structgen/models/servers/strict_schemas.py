"""JSON Schemas in the subsets that hosted servers hold answers to: OpenAI's strict mode, Anthropic's JSON outputs.

Both close all objects. A schema has a strict form if that form keeps all its values, or is wider where structgen's
validator checks the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from structgen.schema.moved_references import with_moved_references
from structgen.schema.sources import Source

__all__ = ["ANTHROPIC", "OPENAI", "VALUE", "StrictSchema", "Subset", "strict_schema"]

VALUE = "value"
"""The key of a value that is not an object: servers want a schema of an object, so the value is wrapped."""


@dataclass(frozen=True, slots=True)
class Subset:
    """The keywords that a server holds answers to.

    Attributes:
        kept: keywords that are sent as they are.
        formats: values of `format` that are sent.
        requires_all: whether every property has to be required.
        max_min_items: the largest `minItems` that is sent; None for any.
        has_bare_references: whether what stands beside a `$ref` is left out; else, the `$ref` moves into an `anyOf`.
    """

    kept: frozenset[str]
    formats: frozenset[str]
    requires_all: bool
    max_min_items: int | None = None
    has_bare_references: bool = False


OPENAI = Subset(
    kept=frozenset(
        {
            "$ref", "const", "description", "enum", "exclusiveMaximum", "exclusiveMinimum", "maxItems", "maximum",
            "minItems", "minimum", "multipleOf", "pattern", "title", "type",
        }
    ),
    formats=frozenset({"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"}),
    requires_all=True,
)  # fmt: skip
"""By OpenAI's documentation of structured outputs."""

ANTHROPIC = Subset(
    kept=frozenset({"$ref", "const", "description", "enum", "minItems", "title", "type"}),
    formats=frozenset(
        {"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"}
    ),
    requires_all=False,
    max_min_items=1,
    has_bare_references=True,
)  # fmt: skip
"""By `transform_schema` of the client anthropic 2.13."""

_AT_ROOT = ("$defs", "definitions", "$schema")
_DEFINITIONS = ("#/$defs/", "#/definitions/")
# Keywords that constrain nothing.
_NOTES = frozenset(
    {"$comment", "$id", "$schema", "default", "deprecated", "discriminator", "examples", "readOnly", "writeOnly"}
)
_NAMES = frozenset({"description", "title"})  # notes that are sent
# Keywords that constrain single values. Where a subset lacks them, the validator checks them here.
_CHECKED = frozenset(
    {
        "exclusiveMaximum", "exclusiveMinimum", "format", "maxItems", "maxLength", "maximum", "minItems", "minLength",
        "minimum", "multipleOf", "pattern", "uniqueItems",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StrictSchema:
    """A schema for a server.

    Attributes:
        schema: the schema of an object.
        is_wrapped: whether the value stands under the key "value".
        is_strict: whether the schema is in the subset; else it is unchanged.
        is_exact: whether it allows the same values as the schema that was asked for.
        unchanged: the schema that was asked for, wrapped if it is not that of an object.
    """

    schema: dict[str, Any]
    is_wrapped: bool
    is_strict: bool
    is_exact: bool
    unchanged: dict[str, Any]


class _NotStrictError(Exception):
    """A schema that has no strict form."""


def strict_schema(source: Source, subset: Subset) -> StrictSchema:
    """Return a schema in a subset, or unchanged if the subset would exclude values.

    Where a property of a JSON Schema is optional and the subset requires all, the schema is unchanged. A field of a
    type that has a default may become required.

    Args:
        source: the schema.
        subset: what the server takes.
    """
    schema = source.plain_schema
    if isinstance(schema, bool):
        schema = {}
    is_wrapped = schema.get("type") != "object"
    unchanged = schema
    if is_wrapped:
        moved = with_moved_references(schema, _moved)
        # With `$id` it is a resource of its own, whose references stay right; strict forms have no `$id`.
        unchanged = _wrapped(schema if "$id" in schema else moved)
        schema = _wrapped(moved)
    reader = _Reader(subset, is_type=source.adapter is not None)
    try:
        found = reader.read(schema)
    except _NotStrictError:
        return StrictSchema(unchanged, is_wrapped, is_strict=False, is_exact=True, unchanged=unchanged)
    return StrictSchema(found, is_wrapped, is_strict=True, is_exact=reader.is_exact, unchanged=unchanged)


def _wrapped(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with a value of a schema; definitions stay at the root."""
    inner = {key: value for key, value in schema.items() if key not in _AT_ROOT}
    outer = {key: value for key, value in schema.items() if key in _AT_ROOT}
    wrapped = {"type": "object", "properties": {VALUE: inner}, "required": [VALUE], "additionalProperties": False}
    return wrapped | outer


def _moved(reference: str) -> str:
    """Return a reference to the root, or to a part of it other than definitions, as that of the value."""
    is_of_root = reference == "#" or (reference.startswith("#/") and not reference.startswith(_DEFINITIONS))
    return f"#/properties/{VALUE}{reference[1:]}" if is_of_root else reference


class _Reader:
    """Rewrites a schema into a subset.

    Args:
        subset: the subset.
        is_type: whether the schema is that of a type, whose optional properties have defaults.

    Attributes:
        is_exact: whether no keyword was left to the validator so far.
    """

    def __init__(self, subset: Subset, *, is_type: bool) -> None:
        self.is_exact = True
        self._subset = subset
        self._is_type = is_type

    def read(self, schema: Any) -> dict[str, Any]:
        """Return a schema in the subset; wider than the schema where the validator checks the rest.

        Raises:
            _NotStrictError: the schema has no strict form.
        """
        if not isinstance(schema, dict) or not schema:
            raise _NotStrictError
        found: dict[str, Any] = {}
        for keyword, value in schema.items():
            self._keyword(keyword, value, found)
        if found.keys() <= _NAMES:  # any value
            raise _NotStrictError
        if "$ref" in found and self._subset.has_bare_references:
            bare = {key: value for key, value in found.items() if key in ("$ref", "$defs")}
            self.is_exact &= found.keys() <= bare.keys() | _NAMES
            return bare
        if "$ref" in found and len(found) > 1:  # neither server takes keywords beside a `$ref`
            if "anyOf" in found:
                raise _NotStrictError
            found["anyOf"] = [{"$ref": found.pop("$ref")}]
        kind = schema.get("type", ())
        kinds = (kind,) if isinstance(kind, str) else kind
        if "object" in kinds or "properties" in schema:
            self._close(schema, found)
        if "array" in kinds and "items" not in schema:
            raise _NotStrictError
        return found

    def _keyword(self, keyword: str, value: Any, found: dict[str, Any]) -> None:
        most = self._subset.max_min_items
        if keyword == "$ref" and "/oneOf/" in value:  # which becomes `anyOf`
            raise _NotStrictError
        if (keyword == "format" and value in self._subset.formats) or (
            keyword in self._subset.kept and not (keyword == "minItems" and most is not None and value > most)
        ):
            found[keyword] = value
        elif keyword in ("$defs", "definitions", "properties"):
            found[keyword] = {key: self.read(part) for key, part in value.items()}
        elif keyword == "items":
            found[keyword] = self.read(value)
        elif keyword in ("anyOf", "oneOf"):
            found["anyOf"] = [self.read(part) for part in value]
            self.is_exact &= keyword == "anyOf"
        elif keyword in _CHECKED:
            self.is_exact = False
        elif keyword not in _NOTES and keyword not in ("required", "additionalProperties"):
            raise _NotStrictError

    def _close(self, schema: dict[str, Any], found: dict[str, Any]) -> None:
        """Close an object: no other properties are allowed, and where the subset wants it, all are required."""
        properties = list(found.setdefault("properties", {}))
        if schema.get("additionalProperties", self._is_type is False) is not False:
            raise _NotStrictError
        required = list(schema.get("required", ()))
        if self._subset.requires_all:
            if not self._is_type and set(required) != set(properties):
                raise _NotStrictError
            required = properties
        found["required"] = required
        found["additionalProperties"] = False
