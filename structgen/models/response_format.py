"""JSON Schemas in the form that servers with OpenAI's interface accept: `response_format`.

Strict mode is requested where it keeps all values of the schema; see `response_format`.
"""

from __future__ import annotations

from typing import Any

from structgen.schema.sources import Source

__all__ = ["VALUE", "response_format"]

VALUE = "value"
"""The key of a value that is not an object: a `response_format` has to describe an object, so the value is wrapped."""

# Keywords of strict schemas, by OpenAI's documentation of structured outputs.
_KEPT = frozenset(
    {
        "$ref", "const", "description", "enum", "exclusiveMaximum", "exclusiveMinimum", "maxItems", "maximum",
        "minItems", "minimum", "multipleOf", "pattern", "title", "type",
    }
)  # fmt: skip
_FORMATS = frozenset({"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"})
# Keywords that are omitted from strict schemas: they constrain nothing, or the validator checks them here.
_DROPPED = frozenset(
    {
        "$comment", "$id", "$schema", "default", "deprecated", "discriminator", "examples", "format", "maxLength",
        "minLength", "readOnly", "uniqueItems", "writeOnly",
    }
)  # fmt: skip


class _NotStrictError(Exception):
    """A schema that has no strict form."""


def response_format(source: Source, *, name: str) -> tuple[dict[str, Any], bool]:
    """Return the `response_format` of a schema.

    A strict schema allows few keywords, closes all objects, and requires all properties. Where that would exclude
    values of the schema, as where a property of a JSON Schema is optional, strict mode is not requested. A field of a
    type that has a default may become required. Constraints on single values that strict schemas lack, such as the
    length of a text, are left to the validator.

    Args:
        source: the schema.
        name: the schema's name in the request.

    Returns:
        The `response_format`, and whether the value is wrapped under the key "value".
    """
    schema = source.plain_schema
    if isinstance(schema, bool):
        schema = {}
    is_wrapped = schema.get("type") != "object"
    if is_wrapped:
        inner = {key: value for key, value in schema.items() if key not in ("$defs", "definitions", "$schema")}
        outer = {key: value for key, value in schema.items() if key in ("$defs", "definitions", "$schema")}
        wrapped = {"type": "object", "properties": {VALUE: inner}, "required": [VALUE], "additionalProperties": False}
        schema = wrapped | outer
    try:
        sent, is_strict = _strict(schema, is_type=source.adapter is not None), True
    except _NotStrictError:
        sent, is_strict = schema, False
    return {"type": "json_schema", "json_schema": {"name": name, "schema": sent, "strict": is_strict}}, is_wrapped


def _strict(schema: Any, *, is_type: bool) -> dict[str, Any]:
    """Return a schema in the strict subset; wider than the schema where the validator checks the rest.

    Raises:
        _NotStrictError: the schema has no strict form.
    """
    if not isinstance(schema, dict) or not schema:
        raise _NotStrictError
    found: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in _KEPT:
            found[keyword] = value
        elif keyword in ("$defs", "definitions", "properties"):
            found[keyword] = {key: _strict(part, is_type=is_type) for key, part in value.items()}
        elif keyword == "items":
            found[keyword] = _strict(value, is_type=is_type)
        elif keyword in ("anyOf", "oneOf"):
            found["anyOf"] = [_strict(part, is_type=is_type) for part in value]
        elif keyword == "format" and value in _FORMATS:
            found[keyword] = value
        elif keyword not in _DROPPED and keyword not in ("required", "additionalProperties"):
            raise _NotStrictError
    if schema.get("type") == "object" or "properties" in schema:
        _close(schema, found, is_type=is_type)
    elif schema.get("type") == "array" and "items" not in schema:
        raise _NotStrictError
    return found


def _close(schema: dict[str, Any], found: dict[str, Any], *, is_type: bool) -> None:
    """Close an object: all its properties are required, and no others are allowed."""
    properties = list(found.setdefault("properties", {}))
    is_open = schema.get("additionalProperties", is_type is False) is not False
    if is_open or (not is_type and set(schema.get("required", ())) != set(properties)):
        raise _NotStrictError
    found["required"] = properties
    found["additionalProperties"] = False
