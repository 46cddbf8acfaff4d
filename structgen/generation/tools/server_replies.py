"""Replies of servers, which accept JSON Schemas and no grammars: an object with the text and the calls.

{"text": "Let me see.", "tool_calls": [{"name": "weather", "arguments": {"city": "Lyon"}}]}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from structgen.errors import GrammarError
from structgen.generation.partial_json import partial_value
from structgen.generation.tools.messages import ParsedCall, ParsedReply
from structgen.generation.tools.toolbox import Toolbox
from structgen.output_types.tool_formats.tools import object_schema
from structgen.schema.moved_references import with_moved_references

__all__ = ["SERVER_FORM", "read_object", "reply_schema"]

SERVER_FORM = """\
You may call these functions:
{tools}
Answer with a JSON object: "text" is your answer, "tool_calls" are calls with the function's name and its arguments."""


def reply_schema(toolbox: Toolbox, tool_choice: str, *, parallel: bool) -> dict[str, Any]:
    """Return the JSON Schema of a reply.

    Args:
        toolbox: the tools.
        tool_choice: see `structgen.call`.
        parallel: whether there may be several calls.

    Raises:
        GrammarError: the tool choice is unknown, or a call is required and there are no tools.
    """
    names = [tool.name for tool in toolbox.tools]
    chosen = names if tool_choice in ("auto", "required") else [name for name in names if name == tool_choice]
    if not chosen and tool_choice not in ("auto", "none"):
        raise GrammarError(
            f"tool_choice is {tool_choice!r}, and the tools are {', '.join(names) or 'none'}",
            hint="'auto', 'required', 'none' or the name of a tool",
        )
    plain = {tool["function"]["name"]: tool["function"]["parameters"] for tool in toolbox.definitions}
    text: dict[str, Any] = {"type": "string"}
    if not chosen or tool_choice == "none":
        return {"type": "object", "properties": {"text": text}, "required": ["text"], "additionalProperties": False}
    calls: dict[str, Any] = {"type": "array", "items": {"anyOf": [_call(name) for name in chosen]}}
    if not parallel or tool_choice not in ("auto", "required"):
        calls["maxItems"] = 1
    if tool_choice != "auto":
        calls["minItems"] = 1
    return {
        "type": "object",
        "properties": {"text": text, "tool_calls": calls},
        "required": ["text", "tool_calls"],
        "additionalProperties": False,
        "$defs": {name: _moved(object_schema(plain[name]), _pointer(name)) for name in chosen},
    }


def _call(name: str) -> dict[str, Any]:
    properties = {"name": {"const": name, "type": "string"}, "arguments": {"$ref": _pointer(name)}}
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _pointer(name: str) -> str:
    """Return the reference to the schema of a tool's arguments."""
    return f"#/$defs/{name.replace('/', '~1')}"


def _moved(schema: Any, pointer: str) -> Any:
    """Return a schema whose references to itself are to its new location."""
    if not isinstance(schema, Mapping):
        return schema
    own = {key: value for key, value in schema.items() if key != "$id"}  # references are within the whole reply
    return with_moved_references(
        own, lambda reference: pointer + reference[1:] if reference == "#" or reference.startswith("#/") else reference
    )


def read_object(text: str, *, partial: bool) -> ParsedReply:
    """Read a reply.

    Args:
        text: the JSON text.
        partial: whether it may end anywhere; then the last call is not complete.
    """
    try:
        data, is_whole = json.loads(text), True
    except ValueError:
        if not partial:
            raise
        data, is_whole = partial_value(text), False
    if not isinstance(data, Mapping):
        return ParsedReply("", [])
    calls = _calls(data.get("tool_calls"))
    if calls and not is_whole:
        last = calls[-1].arguments
        source = json.dumps(last, ensure_ascii=False).rstrip("]}") if last else ""  # what is open may go on
        calls[-1] = ParsedCall(calls[-1].name, last, is_complete=False, source=source)
    said = data.get("text")
    return ParsedReply(said if isinstance(said, str) else "", calls)


def _calls(items: Any) -> list[ParsedCall]:
    """Return the calls of a list; a text that goes on may be refused at its end, and be anything."""
    found = [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []
    given = [(item.get("name"), item.get("arguments") or {}) for item in found]
    return [
        ParsedCall(name, arguments)
        for name, arguments in given
        if isinstance(name, str) and isinstance(arguments, dict)
    ]
