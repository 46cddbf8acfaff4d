"""A JSON Schema whose references to its own parts are rewritten, for a schema that is moved into another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["with_moved_references"]

_DATA = ("const", "default", "enum", "examples")  # keywords whose values are no schemas
_MAPS = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")  # from names to schemas


def with_moved_references(schema: Any, moved: Callable[[str], str]) -> Any:
    """Return a schema with other references. A part with an `$id` is a resource of its own, whose references stay.

    Args:
        schema: the schema.
        moved: returns the new reference.
    """
    if isinstance(schema, list):
        return [_part(part, moved) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    found: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in _DATA:
            found[keyword] = value
        elif keyword in _MAPS and isinstance(value, Mapping):
            found[keyword] = {name: _part(part, moved) for name, part in value.items()}
        elif keyword == "$ref" and isinstance(value, str):
            found[keyword] = moved(value)
        else:
            found[keyword] = _part(value, moved)
    return found


def _part(schema: Any, moved: Callable[[str], str]) -> Any:
    """Return a part of a schema with other references."""
    own = schema.get("$id") if isinstance(schema, Mapping) else None
    is_resource = isinstance(own, str) and not own.startswith("#")
    return schema if is_resource else with_moved_references(schema, moved)
