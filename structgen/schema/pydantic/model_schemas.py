"""A cache of the JSON Schemas that Pydantic makes of models.

Pydantic makes the JSON Schema of a model anew in each call, in about a millisecond. If the compiled grammar is in the
cache, all other work of a compile takes 30 µs. So the schema is stored on the class of the model. It is stored as text,
so that no caller can change it, and it is freed with the class. It is made anew if the class was rebuilt
(`model_rebuild`). It is not stored at all if it may change between two calls: if the user's code makes a part of it, or
if it depends on the clock (`PastDate`).
"""

from __future__ import annotations

import json
from typing import Any

import pydantic
from pydantic.json_schema import JsonSchemaValue

from structgen.schema.pydantic.core_schemas import parts_of
from structgen.schema.pydantic.exact_json_schema import ExactJsonSchema
from structgen.schema.pydantic.own_json_schemas import HOOKS, is_known_hook

__all__ = ["adapter_and_schema"]

_NAME = "__structgen_schema__"


class _Kept:
    """The stored schema of one class. A pickle or a copy of the class gets an empty one.

    Args:
        core_schema: Pydantic's schema of the class, which a rebuild replaces.
        adapter: Pydantic's adapter of the class.
        text: the JSON Schema, as text.
    """

    __slots__ = ("adapter", "core_schema", "text")

    def __init__(
        self, core_schema: Any = None, adapter: pydantic.TypeAdapter[Any] | None = None, text: str = ""
    ) -> None:
        self.core_schema = core_schema
        self.adapter = adapter
        self.text = text

    def __reduce__(self) -> tuple[Any, ...]:
        return _Kept, ()


def adapter_and_schema(given: Any) -> tuple[pydantic.TypeAdapter[Any], JsonSchemaValue]:
    """Return Pydantic's adapter of a type, and the JSON Schema of the texts that it accepts.

    Args:
        given: a type, an annotation or an adapter.

    Raises:
        pydantic.errors.PydanticUserError, PydanticInvalidForJsonSchema, NameError, AttributeError, TypeError,
            ValueError: Pydantic makes no schema of it.
    """
    is_model = isinstance(given, type) and issubclass(given, pydantic.BaseModel)
    if is_model:
        kept = given.__dict__.get(_NAME)
        if kept is not None and kept.adapter is not None and kept.core_schema is given.__pydantic_core_schema__:
            return kept.adapter, json.loads(kept.text)
    adapter: pydantic.TypeAdapter[Any] = (
        given if isinstance(given, pydantic.TypeAdapter) else pydantic.TypeAdapter(given)
    )
    json_schema = adapter.json_schema(schema_generator=_generator_of(adapter), mode="validation")
    if is_model and given.__dict__.get("__pydantic_complete__"):
        _keep(given, adapter, json_schema)
    return adapter, json_schema


def _generator_of(adapter: pydantic.TypeAdapter[Any]) -> type[ExactJsonSchema]:
    """Return the generator for an adapter. Pydantic 2.11 does not tell it the adapter's own options."""
    options = getattr(adapter, "_config", None)
    return (
        type("ExactJsonSchemaOfAdapter", (ExactJsonSchema,), {"outer_options": options}) if options else ExactJsonSchema
    )


def _keep(model: type[pydantic.BaseModel], adapter: pydantic.TypeAdapter[Any], json_schema: JsonSchemaValue) -> None:
    """Keep the schema of a model, unless it may be another one at the next call."""
    core_schema = model.__pydantic_core_schema__
    if _may_change(core_schema):
        return
    try:
        text = json.dumps(json_schema)
    except (TypeError, ValueError, RecursionError):
        return  # not JSON data: the caller gets an error that says so
    if json.loads(text) == json_schema:
        setattr(model, _NAME, _Kept(core_schema, adapter, text))


def _may_change(core_schema: Any) -> bool:
    """Return whether the clock, or a function or class of the user, has a part in the JSON Schema of a core schema."""
    for part in parts_of(core_schema, ("metadata", "cls", "default"), {}):
        if part.get("now_op") is not None:
            return True
        metadata = part.get("metadata")
        if isinstance(metadata, dict) and _is_dynamic(metadata):
            return True
        model = part.get("cls")
        extra = getattr(model, "model_config", None) or getattr(model, "__pydantic_config__", None) or {}
        if callable(extra.get("json_schema_extra")):
            return True
    return False


def _is_dynamic(metadata: dict[Any, Any]) -> bool:
    """Return whether the metadata of a core schema holds functions of the user for its JSON Schema."""
    hooks = [hook for name in HOOKS for hook in metadata.get(name) or ()]
    return callable(metadata.get("pydantic_js_extra")) or not all(map(is_known_hook, hooks))
