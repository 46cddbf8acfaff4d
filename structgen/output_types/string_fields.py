"""Annotations of `str` fields of Pydantic models: their validators, and their keywords in the JSON Schema."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from structgen.errors import SchemaError
from structgen.schema.own_keywords import JSON_CONTENT

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema

__all__ = ["core_schema_of", "json_schema_of"]


def core_schema_of(
    source: Any, handler: GetCoreSchemaHandler, check: Callable[[Any], object], *, name: str, keyword: str
) -> CoreSchema:
    """Return the Pydantic core schema of an annotated string.

    Args:
        source: the annotated type.
        handler: makes its schema.
        check: the validator of a text; raises ValueError.
        name: the annotation, for messages.
        keyword: the keyword that stands for it.

    Raises:
        SchemaError: the type is not `str`.
    """
    from pydantic_core import core_schema

    inner = handler(source)
    kind: Any = inner
    while kind["type"] == "definition-ref" or (kind["type"].startswith("function-") and "schema" in kind):
        kind = kind["schema"] if "schema" in kind else handler.resolve_ref_schema(kind)
    if kind["type"] == "chain":  # Pydantic would leave the pattern between two annotations out of the JSON Schema
        hint = "write the pattern after both"
        raise SchemaError(f"a pattern between {name} and another annotation", pointer="", keyword=keyword, hint=hint)
    if kind["type"] != "str":
        raise SchemaError(
            f"{name} annotates str only",
            pointer="",
            keyword=keyword,
            hint=f"if the text may be missing, write Annotated[str, {name}(…)] | None",
        )

    def checked(value: Any) -> Any:
        check(_text_of(value))
        return value

    # First of all validators: others may change the string, and the annotation is about the text as it was written.
    return core_schema.no_info_before_validator_function(checked, inner)


def _text_of(value: Any) -> Any:
    """Return the text that Pydantic may make of bytes or of a number; any other value as it is."""
    if isinstance(value, (bytes, bytearray)):
        return value.decode(errors="replace")  # what is not UTF-8 is refused by Pydantic
    is_number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
    return str(value) if is_number else value


def json_schema_of(core: CoreSchema, handler: GetJsonSchemaHandler, own: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of an annotated string: that of the string, and the annotation's own keywords."""
    # Pydantic makes a chain of a pattern that follows an annotation. Each step of the chain reads the string.
    steps: list[Any] = core["steps"] if core["type"] == "chain" else []
    found = [handler(step) for step in (core, *steps)]
    for keyword in (JSON_CONTENT, "contentSchema"):
        if keyword in found[0]:  # of `Json[Annotated[str, …]]`: the annotation is about the inner string
            return {**found[0], keyword: _with(found[0][keyword], own)}
    return _with(found[0], own) if len(found) == 1 else {"allOf": [*found, own]}


def _with(schema: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    return {**schema, **own} if own.keys().isdisjoint(schema) else {"allOf": [schema, own]}
