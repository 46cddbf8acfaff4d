"""Defaults that Pydantic refuses: a text that leaves such a field out is not valid, so the field is required.

Pydantic checks a default where the field or its model says so (`validate_default=True`):

    a: int = Field("x", validate_default=True)    without `a`, Pydantic refuses "x": `a` is required
    a: int = Field("1", validate_default=True)    without `a`, Pydantic reads "1" as 1: `a` is optional
    a: Annotated[int, AfterValidator(f)] = "x"    Pydantic refuses "x" before it calls `f`: `a` is required
    a: Annotated[int, BeforeValidator(f)] = "x"   what the user's function makes of it is not known: `a` is optional

The check is Pydantic's own, of a text without the field. No code of the user runs: a default that a function of the
user makes, or that only such a function can refuse, counts as valid.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

from structgen.schema.pydantic.core_schemas import FUNCTIONS, is_own, parts_of

__all__ = ["is_refused_default", "without_refused_defaults"]


def is_refused_default(schema: Any, config: Any, definitions: Mapping[str, Any]) -> bool:
    """Return whether Pydantic surely refuses a text that leaves a field out, because of the field's default.

    Args:
        schema: the core schema of the field's type, with its default.
        config: Pydantic's settings of the model around it.
        definitions: the core schemas that references in it may name, by their names.
    """
    if schema["type"] != "default" or not schema.get("validate_default", getattr(config, "validate_default", False)):
        return False
    factory = schema.get("default_factory")
    if factory is not None and getattr(factory, "__module__", "") != "builtins":
        return False
    schema = {**schema, "schema": _before_user_functions(schema["schema"])}
    if _has_user_function(schema, definitions):
        return False
    field = core_schema.typed_dict_field(schema, required=False)
    probe: Any = core_schema.typed_dict_schema({"field": field}, config=config.core_config(None))
    if definitions:
        probe = core_schema.definitions_schema(probe, list(definitions.values()))
    try:
        SchemaValidator(probe).validate_json("{}")
    except ValidationError:
        return True
    except (AttributeError, SchemaError, TypeError, ValueError):
        return False  # Pydantic cannot check it alone
    return False


def without_refused_defaults(arguments: list[Any], config: Any, definitions: Mapping[str, Any]) -> list[Any]:
    """Return positional arguments without the defaults that Pydantic refuses, nor those before them."""
    needed = max(
        (
            number
            for number, argument in enumerate(arguments, start=1)
            if is_refused_default(argument["schema"], config, definitions)
        ),
        default=0,
    )
    return [{**argument, "schema": _bare(argument["schema"])} for argument in arguments[:needed]] + arguments[needed:]


def _bare(schema: Any) -> Any:
    return schema["schema"] if schema["type"] == "default" else schema


def _is_known(function: Any) -> bool:
    """Return whether a function comes with Pydantic or Python, such as the class of an IP address."""
    module = str(getattr(getattr(function, "func", function), "__module__", ""))
    return is_own(function) or module.partition(".")[0] in sys.stdlib_module_names


def _before_user_functions(schema: Any) -> Any:
    """Return the core schema of the values that the user's functions get, where these are called after it."""
    while schema["type"] == "function-after" and not _is_known(schema["function"]["function"]):
        schema = schema["schema"]
    return schema


def _has_user_function(schema: Any, definitions: Mapping[str, Any]) -> bool:
    """Return whether a function or a class of the user has a part in reading a value."""
    for part in parts_of(schema, ("metadata", "default", "serialization"), definitions):
        if part.get("type") in FUNCTIONS and not _is_known(part["function"]["function"]):
            return True
        if part.get("custom_init") or part.get("post_init"):
            return True
    return False
