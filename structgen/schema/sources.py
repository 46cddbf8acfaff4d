"""The inputs that count as schemas, each turned into one JSON Schema and a parser of its texts.

They are Pydantic models, other Python types, and JSON Schemas as a dict, a boolean or text.
"""

from __future__ import annotations

import inspect
import json
import reprlib
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass, replace
from typing import TYPE_CHECKING, Any, get_origin

from structgen.errors import LimitExceededError, SchemaError, UnsupportedSchemaError
from structgen.limits import Limits
from structgen.schema.options import SchemaOptions
from structgen.schema.reading.resources import closed

if TYPE_CHECKING:
    import jsonschema
    import pydantic

__all__ = ["Source", "json_parser", "resolve"]


@dataclass(frozen=True, slots=True)
class Source:
    """A schema, with the parser and validator of its JSON texts.

    Attributes:
        json_schema: the JSON Schema whose texts are generated.
        options: the caller's options, with two changes: formats of types are never "annotate", because their
            validators enforce them; and the registry holds only the schemas that this one may reach.
        parse: turns JSON text into a value: an instance of a model or type, or JSON data for a JSON Schema. Its second
            argument becomes Pydantic's `info.context`. Raises the validator's own error (`pydantic.ValidationError`,
            `jsonschema.ValidationError`, `json.JSONDecodeError`).
        adapter: Pydantic's adapter of the type; None for a JSON Schema.
    """

    json_schema: dict[str, Any] | bool
    options: SchemaOptions
    parse: Callable[..., Any]
    adapter: pydantic.TypeAdapter[Any] | None = None

    @property
    def plain_schema(self) -> dict[str, Any] | bool:
        """JSON Schema for a model to read: for a type, the one that Pydantic makes."""
        return self.json_schema if self.adapter is None else self.adapter.json_schema()


def resolve(schema_or_type: Any, *, limits: Limits | None = None, options: SchemaOptions | None = None) -> Source:
    """Return the JSON Schema and the parser of a caller's input.

    Args:
        schema_or_type: a Pydantic model, a dataclass, a `TypedDict`, a `NamedTuple`, a `TypeAdapter`, any annotation
            that Pydantic understands; or a JSON Schema as a dict, a boolean, or JSON text.
        limits: bounds, for errors.
        options: the options for reading it.

    Returns:
        The schema with its parser.

    Raises:
        SchemaError: the text is not valid JSON, or the input is not a schema.
        UnsupportedSchemaError: Pydantic makes no schema of the type.
        LimitExceededError: the JSON text nests too deep.
    """
    options = options or SchemaOptions()
    if isinstance(schema_or_type, (str, bytes)):
        schema_or_type = _read(schema_or_type, limits or Limits())
    if isinstance(schema_or_type, (bool, dict)):
        if options.registry is not None:
            options = replace(options, registry=closed(schema_or_type, options.registry, options.base_uri or ""))
        return Source(schema_or_type, options, json_parser(lambda: schema_or_type, options))
    return _from_type(schema_or_type, options)


_INSTEAD_OF_OUTLINES = {
    "Regex": "structgen.Grammar.regex(pattern); in a field of a model, Regex works",
    "CFG": "structgen.Grammar.lark(definition)",
    "JsonSchema": "pass the JSON Schema itself, a dict or text",
    "Choice": "structgen.Grammar.choice(items)",
}


_INSTEAD_OF_VALUES = 'for one of several values: {"enum": […]}, or Literal[…]; for one of several texts, a list of str'

_INSTEAD_OF_TEXT = "a text is read as JSON Schema; structgen.generate takes the model, the prompt, then the schema"


def _read(text: str | bytes, limits: Limits) -> Any:
    try:
        value = json.loads(text)
    except ValueError as error:
        message = f"the schema is a text that is not valid JSON: {error}"
        raise SchemaError(message, pointer="", hint=_INSTEAD_OF_TEXT) from error
    except RecursionError as error:
        raise LimitExceededError("schema_depth", limits.schema_depth, message="the schema nests too deep") from error
    if not isinstance(value, (dict, bool)):
        raise SchemaError("a schema must be an object or a boolean", pointer="")
    return value


def _refuse_constant(word: str) -> Any:
    """Refuse NaN and Infinity, which Python reads and JSON does not have."""
    raise ValueError(f"{word} is not JSON")


def json_parser(schema: Callable[[], dict[str, Any] | bool], options: SchemaOptions) -> Callable[..., Any]:
    """Return a parser that validates JSON data. It makes the validator at its first call.

    Args:
        schema: returns the schema; called once, then.
        options: how it is read.
    """
    validators: list[jsonschema.protocols.Validator] = []

    def parse(text: str, context: Any = None) -> Any:
        from structgen.schema import validation  # imports jsonschema, which masks do not need

        if not validators:
            validators.append(validation.validator_for(schema(), options))
        try:
            value = json.loads(text, parse_constant=_refuse_constant)
            validators[0].validate(value)
        except RecursionError as error:
            raise LimitExceededError("schema_depth", Limits().schema_depth, message=validation.TOO_DEEP) from error
        return value

    return parse


def _from_type(given: Any, options: SchemaOptions) -> Source:
    import pydantic  # imported late: only types need it

    from structgen.schema.pydantic.model_schemas import adapter_and_schema

    if isinstance(given, pydantic.BaseModel) or (is_dataclass(given) and not isinstance(given, type)):
        name = type(given).__name__
        raise UnsupportedSchemaError(
            f"an instance of {name} is not a schema", pointer="", keyword="type", hint=f"pass the class {name} itself"
        )
    name = getattr(given, "__name__", None) or reprlib.repr(given)
    if inspect.isroutine(given):  # Pydantic would call it with the model's output
        raise UnsupportedSchemaError(
            f"{name} is a function, not a schema",
            pointer="",
            keyword="type",
            hint="structgen.call lets a model pick a function and its arguments",
        )
    if type(given).__module__ == "outlines.types.dsl":
        kind = type(given).__name__
        raise UnsupportedSchemaError(
            f"{kind} of outlines is not a schema",
            pointer="",
            keyword="type",
            hint=_INSTEAD_OF_OUTLINES.get(kind, "structgen.Grammar.regex(outlines.types.dsl.to_regex(…))"),
        )
    try:
        adapter, json_schema = adapter_and_schema(given)
    except _no_schema() as error:
        raise _not_a_schema(given, name, error) from error
    formats = "assert" if options.formats == "annotate" else options.formats

    def parse(text: str, context: Any = None) -> Any:
        return adapter.validate_json(text, context=context)

    return Source(json_schema, replace(options, formats=formats, draft=None), parse, adapter)


def _no_schema() -> tuple[type[Exception], ...]:
    """Return the exceptions of Pydantic for a type that it makes no schema of."""
    from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError
    from pydantic_core import SchemaError as NoValidator

    own = NoValidator, PydanticInvalidForJsonSchema, PydanticUserError
    return *own, NameError, AttributeError, TypeError, ValueError


def _not_a_schema(given: Any, name: str, error: Exception) -> UnsupportedSchemaError:
    """Return the error for an input of which Pydantic makes no schema."""
    code, reason, hint = getattr(error, "code", None), str(error), ""
    if code == "schema-for-unknown-type":
        reason = reason.partition(". Set `arbitrary_types_allowed")[0]  # which makes no JSON Schema either
    if code == "typed-dict-version":  # Pydantic cannot read those of `typing` then
        hint = "from typing_extensions import TypedDict"
    message = f"cannot make a schema of {name}: {reason}"
    is_type = isinstance(given, type) or get_origin(given) or type(given).__module__ in ("typing", "typing_extensions")
    if code == "schema-for-unknown-type" and not is_type:
        message = (
            f"{name} is not a schema: pass a type, a Pydantic model, a JSON Schema as a dict, a Grammar, a compiled "
            "regex or a list of texts"
        )
        hint = _INSTEAD_OF_VALUES if isinstance(given, list | tuple | set | frozenset) else ""
        if isinstance(given, list) and len(given) == 1 and isinstance(given[0], type):
            hint = f"for a list of them: list[{given[0].__name__}]"
    return UnsupportedSchemaError(message, pointer="", keyword="type", hint=hint)
