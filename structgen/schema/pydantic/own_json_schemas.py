"""JSON Schemas that users write for their types (`WithJsonSchema`, `__get_pydantic_json_schema__`).

They replace Pydantic's, and masks follow them: Pydantic may well read more than the schemas of this room say, such as a
`timedelta` from a number. One thing is known better here: of some types Pydantic reads no JSON at all, such as
instances of a class. A JSON Schema of their own does not help, so no value is written for them:

    a: Annotated[Connection, WithJsonSchema({"type": "string"})] = None     `a` is left out
    a: Annotated[Connection, WithJsonSchema({"type": "string"})]            the model is refused: nothing satisfies it
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from pydantic import WithJsonSchema

from structgen.schema.pydantic.core_schemas import FUNCTIONS, INNER, is_own, is_read_literal

__all__ = ["HOOKS", "is_known_hook", "without_values"]

HOOKS = ("pydantic_js_functions", "pydantic_js_annotation_functions")
"""Keys of a core schema's metadata for functions that make its JSON Schema."""
_NEVER = frozenset({"callable", "is-instance", "is-subclass"})


def is_known_hook(hook: Any) -> bool:
    """Return whether a function that makes JSON Schemas comes with Pydantic or structgen."""
    function = hook.__func__ if isinstance(hook, types.MethodType) else hook
    return str(getattr(function, "__module__", "")).split(".")[0] in ("pydantic", "structgen")


def without_values(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """Return a core schema; one whose JSON Schema allows nothing if the user wrote it, and Pydantic reads no JSON.

    Args:
        schema: the core schema.
        definitions: the core schemas that references in it may name, by their names.
    """
    metadata = schema.get("metadata") or {}
    hooks = [hook for name in HOOKS for hook in metadata.get(name) or ()]
    if all(map(_keeps_schema, hooks)) or not _reads_no_json(schema, definitions):
        return schema
    return {**schema, "metadata": {HOOKS[0]: [_allow_nothing]}}


def _allow_nothing(schema: Any, handler: Any) -> dict[str, Any]:
    return {"not": {}}


def _keeps_schema(hook: Any) -> bool:
    return is_known_hook(hook) and not isinstance(getattr(hook, "__self__", None), WithJsonSchema)


def _reads_no_json(schema: Any, definitions: Mapping[str, Any]) -> bool:
    """Return whether Pydantic surely reads no JSON as a type."""
    kind = schema["type"]
    if kind in FUNCTIONS and kind != "function-after" and not is_own(schema["function"]["function"]):
        return False  # the user's function may make a value of anything
    if kind == "chain":
        return _reads_no_json(schema["steps"][0], definitions)
    if kind == "union":
        choices = [choice[0] if isinstance(choice, tuple) else choice for choice in schema["choices"]]
        return all(_reads_no_json(choice, definitions) for choice in choices)
    if kind == "definition-ref":
        name = schema["schema_ref"]
        others = {other: definition for other, definition in definitions.items() if other != name}  # it ends
        return name in definitions and _reads_no_json(definitions[name], others)
    if kind == "literal":
        return not any(map(is_read_literal, schema["expected"]))
    if kind in _NEVER:
        return True
    inner = schema.get(INNER.get(kind, "schema"))
    reads_inner = kind in FUNCTIONS or kind in INNER or kind in ("custom-error", "default", "model-field")
    return reads_inner and inner is not None and _reads_no_json(inner, definitions)
