"""The types of the arguments of Python functions, from their annotations."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any

import pydantic
import typing_extensions

from structgen.errors import FunctionDefinitionError

__all__ = ["arguments_of", "closed_typed_dict", "description_of", "name_of"]


def name_of(function: Callable[..., Any]) -> str:
    """Return the name of a function, or that of the type of a callable object."""
    return getattr(function, "__name__", type(function).__name__)


def description_of(function: Callable[..., Any]) -> str:
    """Return the docstring of a function; of a class, its own one only."""
    doc = function.__doc__ if isinstance(function, type) else inspect.getdoc(function)
    return inspect.cleandoc(doc or "")


def arguments_of(function: Callable[..., Any]) -> Any:
    """Return a TypedDict of a function's parameters; those with defaults are optional.

    Raises:
        FunctionDefinitionError: a parameter has no annotation that can be read, or is `*args` or `**kwargs`.
    """
    name = name_of(function)
    holder: Any = function
    if isinstance(function, type):
        holder = function.__init__  # type: ignore[misc]
    elif not inspect.isroutine(function):
        holder = getattr(function, "__wrapped__", type(function).__call__)
    try:
        hints = typing.get_type_hints(holder, include_extras=True)
        signature = inspect.signature(function, eval_str=True)
    except NameError as error:
        raise FunctionDefinitionError(f"the annotations of {name} cannot be read: {error}") from error
    except ValueError as error:
        raise FunctionDefinitionError(f"the parameters of {name} cannot be read: {error}") from error
    fields: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise FunctionDefinitionError(f"{name} takes {parameter}, which a model cannot fill in")
        hint = hints.get(parameter.name, parameter.annotation)  # for a class, the signature has the annotation
        if hint is inspect.Parameter.empty or isinstance(hint, str):
            raise FunctionDefinitionError(
                f"the parameter {parameter.name} of {name} has no annotation", hint="annotate its type"
            )
        fields[parameter.name] = (
            hint if parameter.default is inspect.Parameter.empty else typing_extensions.NotRequired[hint]
        )
    return closed_typed_dict(f"{name}_arguments", fields)


def closed_typed_dict(name: str, fields: dict[str, Any]) -> Any:
    """Return a TypedDict that forbids other keys.

    Args:
        name: its name.
        fields: the type of each key.
    """
    make: Any = typing_extensions.TypedDict  # type checkers need the fields as a literal
    made = make(name, fields)
    made.__pydantic_config__ = pydantic.ConfigDict(extra="forbid")
    return made
