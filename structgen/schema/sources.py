"""What a caller may give as a schema: Pydantic models, Python types, JSON Schema as a dict, as text, or a boolean."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from structgen.errors import LimitExceededError, SchemaError, UnsupportedSchemaError
from structgen.limits import Limits
from structgen.schema.options import SchemaOptions
from structgen.schema.reading.resources import closed

if TYPE_CHECKING:
    import jsonschema
    import pydantic

__all__ = ["Source", "resolve"]


@dataclass(frozen=True, slots=True)
class Source:
    """A schema and what reads its values.

    Attributes:
        json_schema: the JSON Schema whose texts are generated.
        options: how it is read: what the caller chose, but that a type's own validator enforces formats whatever the
            caller says, and that the registry holds only what the schema may reach.
        parse: from JSON text, and what validators find as `info.context`, to the value: an instance for models and
            types, JSON data for a JSON Schema. Raises the validator's own error (`pydantic.ValidationError`,
            `jsonschema.ValidationError`, `json.JSONDecodeError`).
        adapter: Pydantic's reader of the type; None for a JSON Schema.
    """

    json_schema: dict[str, Any] | bool
    options: SchemaOptions
    parse: Callable[..., Any]
    adapter: pydantic.TypeAdapter[Any] | None = None

    @property
    def plain_schema(self) -> dict[str, Any] | bool:
        """The JSON Schema as its author would write it: for a type that of Pydantic, for a model to read."""
        return self.json_schema if self.adapter is None else self.adapter.json_schema()


def resolve(schema_or_type: Any, *, limits: Limits | None = None, options: SchemaOptions | None = None) -> Source:
    """The JSON Schema of whatever a caller gives, and the final validator.

    Args:
        schema_or_type: a Pydantic model, a dataclass, a `TypedDict`, a `NamedTuple`, a `TypeAdapter`, any annotation
            that Pydantic understands; or a JSON Schema as a dict, a boolean, or JSON text.
        limits: bounds; named in errors.
        options: how it shall be read.

    Raises:
        SchemaError: JSON text that does not parse, or something that is no schema.
        UnsupportedSchemaError: a type of which Pydantic makes no schema.
        LimitExceededError: JSON text that nests too deep.
    """
    options = options or SchemaOptions()
    if isinstance(schema_or_type, (str, bytes)):
        schema_or_type = _read(schema_or_type, limits or Limits())
    if isinstance(schema_or_type, (bool, dict)):
        if options.registry is not None:
            options = replace(options, registry=closed(schema_or_type, options.registry))
        return Source(schema_or_type, options, _json_parser(schema_or_type, options))
    return _from_type(schema_or_type, options)


def _read(text: str | bytes, limits: Limits) -> Any:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise SchemaError(f"the schema is no JSON text: {error}", pointer="") from error
    except RecursionError as error:
        raise LimitExceededError("schema_depth", limits.schema_depth, message="the schema nests too deep") from error
    if not isinstance(value, (dict, bool)):
        raise SchemaError("a schema must be an object or a boolean", pointer="")
    return value


def _json_parser(schema: dict[str, Any] | bool, options: SchemaOptions) -> Callable[..., Any]:
    """Reads and validates JSON data; the validator is made at the first call, once."""
    validators: list[jsonschema.protocols.Validator] = []

    def parse(text: str, context: Any = None) -> Any:
        if not validators:
            from structgen.schema.validation import validator_for  # with jsonschema; masks need neither

            validators.append(validator_for(schema, options))
        value = json.loads(text)
        validators[0].validate(value)
        return value

    return parse


def _from_type(given: Any, options: SchemaOptions) -> Source:
    import pydantic  # only types need it
    from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError

    from structgen.schema.pydantic.exact_json_schema import ExactJsonSchema

    adapter: pydantic.TypeAdapter[Any]
    name = getattr(given, "__name__", None) or repr(given)
    if inspect.isroutine(given):  # Pydantic would call it with what the model writes
        raise UnsupportedSchemaError(
            f"{name} is a function, and no schema",
            pointer="",
            keyword="type",
            hint="structgen.call has models pick functions",
        )
    try:
        adapter = given if isinstance(given, pydantic.TypeAdapter) else pydantic.TypeAdapter(given)
        json_schema = adapter.json_schema(schema_generator=ExactJsonSchema, mode="validation")
    except (PydanticInvalidForJsonSchema, PydanticUserError, NameError, AttributeError) as error:
        raise UnsupportedSchemaError(f"no schema can be made of {name}: {error}", pointer="", keyword="type") from error
    formats = "assert" if options.formats == "annotate" else options.formats

    def parse(text: str, context: Any = None) -> Any:
        return adapter.validate_json(text, context=context)

    return Source(json_schema, replace(options, formats=formats, draft=None), parse, adapter)
