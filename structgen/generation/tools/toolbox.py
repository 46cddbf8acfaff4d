"""The tools of a run: their schemas for the model and for readers, and the validation of their arguments."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import jsonschema
import pydantic

from structgen.errors import FunctionDefinitionError
from structgen.generation.tools.messages import ParsedCall
from structgen.generation.tools.results import ToolCall, arguments_of
from structgen.output_types.tool_formats.tools import Tool, read_tools
from structgen.schema.function_arguments import name_of
from structgen.schema.options import SchemaOptions
from structgen.schema.sources import Source, resolve

__all__ = ["Toolbox"]


_OTHER_TYPES = ("array", "boolean", "integer", "null", "number", "string")


@dataclass(frozen=True, slots=True)
class _Entry:
    """A tool, with the parser of its arguments."""

    tool: Tool
    source: Source


class Toolbox:
    """Some tools by name.

    Args:
        tools: see `structgen.call`.
        options: how schemas are read.

    Attributes:
        tools: the tools, in one form.
        definitions: the tools for a chat template, in OpenAI's form.
        schemas: the JSON Schemas of the arguments, by name.

    Raises:
        FunctionDefinitionError: a tool cannot be used, two have one name, a name has other characters than models write
            in calls, or arguments are no object.
    """

    def __init__(self, tools: Iterable[Any], options: SchemaOptions) -> None:
        given = list(_listed(tools))
        _check_names(name_of(tool) for tool in given if callable(tool))
        self.tools = read_tools(given)
        self._entries = {
            tool.name: _Entry(tool, resolve(_plain(tool.parameters), options=options)) for tool in self.tools
        }
        self.schemas = {name: entry.source.json_schema for name, entry in self._entries.items()}
        for name, schema in self.schemas.items():
            kind = schema.get("type", "object") if isinstance(schema, Mapping) else "object"
            if kind in _OTHER_TYPES:
                raise FunctionDefinitionError(
                    f"the parameters of the tool {name!r} are no object, but of type {kind!r}"
                )
        self.definitions = [_definition(entry) for entry in self._entries.values()]

    def call(self, parsed: ParsedCall, call_id: str, context: Any = None) -> ToolCall:
        """Return a call with validated arguments.

        Args:
            parsed: the call as the model wrote it.
            call_id: its id.
            context: passed to Pydantic's validators.

        Raises:
            ValueError, jsonschema.ValidationError: the arguments are refused, or there is no such tool.
        """
        entry = self._entries.get(parsed.name)
        if entry is None:
            known = ", ".join(self._entries) or "none"
            raise ValueError(f"the model called {parsed.name!r}, which is no tool; the tools are {known}")
        if not parsed.is_complete:
            function, source = entry.tool.function, parsed.source
            return ToolCall(parsed.name, parsed.arguments, function, call_id, source, is_complete=False)
        source = parsed.source or json.dumps(parsed.arguments, ensure_ascii=False)
        value = entry.source.parse(source, context)
        instance = value if isinstance(value, pydantic.BaseModel) else None
        return ToolCall(parsed.name, arguments_of(value), entry.tool.function, call_id, source, instance)

    def refused(self, parsed: ParsedCall, call_id: str, error: Exception) -> ToolCall:
        """Return a call whose arguments a validator refused."""
        entry = self._entries.get(parsed.name)
        function = None if entry is None else entry.tool.function
        source = parsed.source or json.dumps(parsed.arguments, ensure_ascii=False)
        return ToolCall(parsed.name, parsed.arguments, function, call_id, source, error=error)


REFUSALS = (ValueError, AssertionError, jsonschema.ValidationError)
"""The errors by which validators refuse a value."""


def _listed(tools: Any) -> Iterable[Any]:
    """Return a list of tools; that of an MCP server stands in an object."""
    if isinstance(tools, Mapping) and "tools" in tools:
        tools = tools["tools"]
    elif not isinstance(tools, Iterable | Mapping) and hasattr(tools, "tools"):
        tools = tools.tools
    elif hasattr(tools, "tools") and hasattr(tools, "model_dump"):
        tools = tools.tools  # a ListToolsResult of the MCP package
    if isinstance(tools, (str, bytes, Mapping)) or callable(tools) or not isinstance(tools, Iterable):
        raise TypeError(f"tools is a list of tools, not {type(tools).__name__}")
    return [_of_mcp(tool) for tool in tools]


def _check_names(names: Iterable[str]) -> None:
    """Check that functions have names of their own, before their parameters are read."""
    for name, count in Counter(names).items():
        if count > 1:
            raise FunctionDefinitionError(f"two tools are called {name!r}", hint="rename one of them")


def _of_mcp(tool: Any) -> Any:
    """Return a tool of the MCP package, or of Anthropic's interface, as JSON data; any other as it is."""
    if hasattr(tool, "inputSchema") and hasattr(tool, "name"):
        return {"name": tool.name, "description": tool.description, "inputSchema": tool.inputSchema}
    if isinstance(tool, Mapping) and "input_schema" in tool:
        return {"name": tool.get("name"), "description": tool.get("description"), "parameters": tool["input_schema"]}
    return tool


def _plain(parameters: Any) -> Any:
    return dict(parameters) if isinstance(parameters, Mapping) else parameters


def _definition(entry: _Entry) -> dict[str, Any]:
    function = {
        "name": entry.tool.name,
        "description": entry.tool.description,
        "parameters": entry.source.plain_schema,
    }
    return {"type": "function", "function": function}
