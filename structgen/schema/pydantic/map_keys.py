"""Keys of maps, which JSON writes as strings: `dict[int, V]` has keys such as "12"."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import JsonSchemaValue

from structgen.schema.pydantic.core_schemas import keeps_values_distinct
from structgen.schema.pydantic.scalar_json_schemas import of_format, refused

__all__ = ["keeps_keys_distinct", "key_names"]

_KEY_KEYWORDS = frozenset({"type", "title", "description", "examples", "default"})


def keeps_keys_distinct(keys: Any, is_rewritten: bool) -> bool:
    """Return whether different names are surely read as different keys of a map.

    Args:
        keys: the core schema of the keys; None for any.
        is_rewritten: whether the options of the model change strings.
    """
    if keys is None or keys["type"] == "any":
        return True
    return keys["type"] in ("str", "int", "literal", "enum") and keeps_values_distinct(keys) and not is_rewritten


def key_names(keys: JsonSchemaValue) -> JsonSchemaValue | None:
    """Return the schema of a map's keys, or None if it accepts every string."""
    kind = keys.get("type")
    if "anyOf" in keys:
        options = [key_names(option) for option in keys["anyOf"]]
        known = [option for option in options if option is not None]
        return {"anyOf": known} if len(known) == len(options) else None
    if not keys or (kind == "string" and keys.keys() <= _KEY_KEYWORDS):
        return None
    if any(part.get("type") != "string" for part in keys.get("allOf", ()) if "type" in part):
        return refused("propertyNames")
    if kind == "string" or "enum" in keys or "const" in keys or "allOf" in keys:
        return keys
    if "$ref" in keys:
        return {"allOf": [keys, {"type": "string"}]}
    if kind == "integer" and not {"multipleOf"} & keys.keys():
        low = max((int(keys[k]) + (k != "minimum") for k in ("minimum", "exclusiveMinimum") if k in keys), default="-")
        high = min((int(keys[k]) - (k != "maximum") for k in ("maximum", "exclusiveMaximum") if k in keys), default="-")
        return of_format(f"x-integer {low} {high}")
    return refused("propertyNames")
