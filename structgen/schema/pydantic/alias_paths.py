"""Fields that Pydantic reads from inside other values (`AliasPath`), put where their values are written.

With `a: int = Field(validation_alias=AliasPath("x", 0))` and `b: int = Field(validation_alias=AliasPath("x", 1))`, the
object that is read is `{"x": [1, 2]}`:

    Pydantic's schema    {"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
    here                 {"properties": {"x": {"prefixItems": [{"type": "integer"}, {"type": "integer"}], …}}}
"""

from __future__ import annotations

from typing import Any

from structgen.schema.formats import UNSUPPORTED

__all__ = ["may_lead", "nest"]

_SCALARS = ("boolean", "integer", "null", "number", "string")
_REFUSED = {"type": "string", "format": f"{UNSUPPORTED} validation_alias"}


def nest(schema: dict[str, Any], paths: dict[str, list[str | int]], *, must_lead: bool) -> None:
    """Move the fields of an object's schema to the locations that their paths name.

    A path that counts from an array's end, or that meets another field, is refused when the schema is read.

    The others stay, and the order of the fields is kept.

    Args:
        schema: the schema of a model; changed in place.
        paths: the path of each field that is read from inside another value.
        must_lead: an array or object on a path is only allowed if a field is read from it. A model that forbids extra
            keys takes it for an extra key otherwise.
    """
    fields, required = schema["properties"], schema.pop("required", [])
    schema["properties"] = {}
    for name, field in fields.items():
        if not _put(schema, paths.get(name, [name]), field, name in required):
            schema["properties"][name] = _REFUSED
            schema["required"] = [*schema.get("required", []), name]
    if must_lead:
        for child in schema["properties"].values():
            _forbid_empty(child)


def may_lead(node: Any, path: list[Any]) -> bool:
    """Return whether a path may lead to a value in what a schema allows.

    Args:
        node: the schema of a model, after `nest`, or a part of it.
        path: a path at which a field is looked for, although it is written elsewhere.
    """
    step, *others = path
    if isinstance(step, str):
        child = node.get("properties", {}).get(step)
    else:
        items = node.get("prefixItems", [])
        if step < 0 and items:
            return True
        child = items[step] if 0 <= step < len(items) else None
    if child is None:
        return False
    if not others:
        return True
    if isinstance(child, dict) and _MADE in child:
        return may_lead(child, others)
    return not isinstance(child, dict) or child.get("type") not in _SCALARS


def _put(node: dict[str, Any], path: list[str | int], field: Any, is_required: bool) -> bool:
    """Put a field into a schema at a path; return whether there was room."""
    step, *others = path
    if isinstance(step, str):
        if node.get("type", "object") != "object":
            return False
        node.update(type="object", additionalProperties=node.get("additionalProperties", False))
        children: Any = node.setdefault("properties", {})
        if is_required and step not in node.setdefault("required", []):
            node["required"].append(step)
        child = children.get(step)
    else:
        if step < 0 or node.get("type", "array") != "array":
            return False
        children = node.setdefault("prefixItems", [])
        children.extend({} for _ in range(len(children), step + 1))
        node.update(type="array", items=False, minItems=max(node.get("minItems", 0), step + 1 if is_required else 0))
        child = children[step] or None
    if not others:
        if child is None:
            children[step] = field
        return child is None
    if child is None:
        child = children[step] = {_MADE: True}
    return _MADE in child and _put(child, others, field, is_required)


def _forbid_empty(node: Any) -> None:
    """Require that an array or object on a path holds the value of a field."""
    if not isinstance(node, dict) or _MADE not in node or "type" not in node:  # without: its path is refused
        return
    if node["type"] == "object":
        node["minProperties"] = 1
        children = node["properties"].values()
    else:
        children = node["prefixItems"]
        node["minItems"] = max(node["minItems"], 1 + next(index for index, child in enumerate(children) if child))
    for child in children:
        _forbid_empty(child)


_MADE = "x-structgen-path"
"""Marks the schemas that stand for steps of paths, among those of fields."""
