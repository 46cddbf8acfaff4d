"""Keys of maps, which JSON writes as strings: `dict[int, V]` has keys such as "12"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import JsonSchemaValue
from pydantic_core import SchemaValidator, core_schema

from structgen.schema.pydantic.core_schemas import is_read, keeps_values_distinct
from structgen.schema.pydantic.scalar_json_schemas import of_format, refused

__all__ = ["keeps_keys_distinct", "key_names", "member_names"]

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


def member_names(keys: Any, definitions: Mapping[str, Any]) -> JsonSchemaValue | None:
    """Return the schema of keys that are members of an enumeration with integers; None for other keys.

    Pydantic reads the key "1" as the member whose value is 1, and does not read it as `Literal[1]`.

    Args:
        keys: the core schema of the keys; None for any.
        definitions: the core schemas that references may name, by their names.
    """
    while keys is not None and keys["type"] == "definition-ref":
        keys = definitions.get(keys["schema_ref"])
    if keys is None or keys["type"] != "enum":
        return None
    values = [member.value for member in keys["members"]]
    if not any(type(value) is int for value in values):
        return None
    read = SchemaValidator(core_schema.dict_schema({**keys, "missing": None}))
    names = [value if isinstance(value, str) else str(value) for value in values if isinstance(value, str | int)]
    found = [name for name in names if is_read(read, {name: None})]
    return {"enum": found} if found else {"not": {}}


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
