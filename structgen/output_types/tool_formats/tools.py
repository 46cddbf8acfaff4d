"""Tools that a model may call, read from functions, Pydantic models and JSON data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from structgen.errors import FunctionDefinitionError, StructgenError
from structgen.output_types.bound_schemas import BoundSchema
from structgen.schema import resolve
from structgen.schema.function_arguments import arguments_of, description_of, name_of

__all__ = ["Tool", "may_be_empty", "object_schema", "read_tools"]

_ANY_OBJECT = {"type": "object"}
_NAME = re.compile(r"[\w.:/-]+")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]")
_OF_PROPERTIES = {"type", "properties", "required", "additionalProperties", "patternProperties", "maxProperties"}
_NOTES = {"title", "description", "default", "examples", "$comment", "$schema", "$defs", "definitions"}


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool.

    Attributes:
        name: its name, as the model writes it.
        parameters: the schema of its arguments: a type, or a JSON Schema.
        description: for the model; "" for none.
        function: what it calls: a function, or a Pydantic model whose instance holds the arguments; None for a tool
            that was given as JSON data.
    """

    name: str
    parameters: Any
    description: str = ""
    function: Callable[..., Any] | None = None

    @property
    def bound(self) -> BoundSchema:
        """The schema of the arguments as data, for a grammar.

        Raises:
            SchemaError: the type of a parameter has no schema.
        """
        name, place = _NOT_IN_NAMES.sub("_", self.name), f"the parameters of the tool {self.name!r}"
        schema = self.parameters
        if not isinstance(schema, (Mapping, bool)):
            try:
                schema = resolve(schema).json_schema
            except StructgenError as error:
                error.add_location(place)
                raise
        return BoundSchema(f"_{name}" if name[:1].isdigit() else name, object_schema(schema), {}, place)


def object_schema(schema: Any) -> Any:
    """Return the schema of a tool's arguments without values that are no objects.

    Args:
        schema: the JSON Schema. Many leave out the type, and mean objects. One of other types stays as it is.
    """
    if not isinstance(schema, Mapping):
        return _ANY_OBJECT if schema is True else schema
    types = schema.get("type", "object")
    allows = "object" in types if isinstance(types, list) else types == "object"
    return {**schema, "type": "object"} if allows else schema


def read_tools(tools: Iterable[Any]) -> list[Tool]:
    """Return tools in one form.

    Args:
        tools: functions with annotated parameters; Pydantic models, whose fields are the arguments; JSON data as OpenAI
            has it, `{"type": "function", "function": {"name": …, "parameters": …}}` or without the outer object; or as
            a server of MCP lists it, with `inputSchema`.

    Raises:
        FunctionDefinitionError: a tool has none of these forms, two have the same name, a name has white space or
            quotes, or a parameter of a function has no annotation.
    """
    found: dict[str, Tool] = {}
    for number, tool in enumerate(tools, 1):
        read = _read(tool, number)
        if not _NAME.fullmatch(read.name):
            raise FunctionDefinitionError(
                f"a tool cannot be called {read.name!r}", hint="use letters, digits, and any of _ - . : /"
            )
        if read.name in found:
            raise FunctionDefinitionError(f"two tools are called {read.name!r}", hint="rename one of them")
        found[read.name] = read
    return list(found.values())


def _read(tool: Any, number: int) -> Tool:
    from pydantic import BaseModel

    if isinstance(tool, Tool):
        return tool
    if isinstance(tool, type) and issubclass(tool, BaseModel):
        return Tool(tool.__name__, tool, description_of(tool), tool)
    if callable(tool):
        return Tool(name_of(tool), arguments_of(tool), description_of(tool), tool)
    if isinstance(tool, Mapping):
        return _of_data(tool, number)
    raise FunctionDefinitionError(
        f"tool {number} is a {type(tool).__name__}",
        hint="a tool is a function, a Pydantic model, or a dict as OpenAI or MCP has it",
    )


def _of_data(tool: Mapping[str, Any], number: int) -> Tool:
    inner = tool.get("function", tool)
    if tool.get("type", "function") != "function" or not isinstance(inner, Mapping):
        raise FunctionDefinitionError(f"tool {number} is not of the type 'function': {tool.get('type')!r}")
    name = inner.get("name")
    if not isinstance(name, str) or not name:
        raise FunctionDefinitionError(f"tool {number} has no name", hint='write {"name": …, "parameters": …}')
    parameters = inner.get("parameters", inner.get("inputSchema"))
    if parameters is not None and not isinstance(parameters, (Mapping, bool)):
        raise FunctionDefinitionError(f"the parameters of the tool {name!r} are no JSON Schema")
    description = inner.get("description") or ""
    return Tool(name, _ANY_OBJECT if parameters is None or parameters is True else parameters, description)


def may_be_empty(schema: Any) -> bool:
    """Return whether a call may have no arguments; False where keywords beside those of usual schemas may forbid it."""
    return (
        isinstance(schema, Mapping)
        and schema.get("type", "object") == "object"
        and not schema.get("required")
        and schema.keys() <= _OF_PROPERTIES | _NOTES
    )
