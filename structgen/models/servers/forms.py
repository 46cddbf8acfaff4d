"""The form in which each server takes a constraint, so that it masks the answer.

| server | schema | regex | choice | structural tag | other grammars |
|---|---|---|---|---|---|
| vLLM | `structured_outputs.json` | `.regex` | `.choice` | `.structural_tag` | `.grammar`: xgrammar's EBNF |
| structgen | `structured_outputs.json` | `.regex` | `.choice` | `.structural_tag` | `.grammar`: GBNF |
| SGLang | `response_format` | `regex` | `ebnf` | `response_format` | `ebnf` |
| llama.cpp | `grammar`: GBNF | `grammar` | `grammar` | `grammar` | `grammar` |
| OpenAI | `response_format` | custom tool | `response_format` | custom tool | custom tool: Lark |
| unknown | `response_format` | – | – | – | – |

The fields are those of vLLM 0.32 (`StructuredOutputsParams`), SGLang 0.5.23 (`ChatCompletionRequest`), llama.cpp's
server (`oaicompat_chat_params_parse`) and the client openai 3.54 (`ChatCompletionCustomToolParam`).

A server may refuse a constraint that it cannot express. Then the next form is sent: the whole grammar, or the schema
that is not strict.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from structgen.errors import GrammarError, LimitExceededError, ModelError, SchemaError
from structgen.models.asked import AnswerForm, Asked, Form, Masks
from structgen.models.servers.strict_schemas import OPENAI, VALUE, strict_schema

__all__ = ["NAME", "ServerKind", "ServerName", "answer_form", "choice_schema", "form_for"]

ServerName: TypeAlias = Literal["auto", "vllm", "sglang", "llama.cpp", "openai", "structgen"]
"""The servers that `from_openai` knows; "auto" finds out which one it is."""

ServerKind: TypeAlias = Literal["vllm", "sglang", "llama.cpp", "openai", "structgen", "unknown"]
"""A server that was found; "unknown" is one with OpenAI's interface and nothing else known."""

NAME = "answer"
"""The name of schemas and tools in requests."""


def form_for(server: ServerKind, asked: Asked) -> Form:
    """Return the form in which a server takes a constraint.

    Args:
        server: the server.
        asked: the constraint.

    Raises:
        ModelError: the server takes no grammars.
        GrammarError: the notation of the server lacks a construct of the grammar.
        LimitExceededError: the written grammar is too large.
    """
    return _FORMS[server](asked)


def _structured_outputs(asked: Asked) -> Form:
    """Return the form of vLLM and of structgen's server."""
    if asked.kind == "grammar":
        return _vllm("grammar", asked.write("xgrammar"))
    if asked.kind == "schema":
        return _vllm("json", asked.schema, otherwise=lambda: _vllm("grammar", asked.write("xgrammar")))
    content = json.dumps(asked.content) if asked.kind == "structural_tag" else asked.content
    return _vllm(asked.kind, content, otherwise=lambda: _vllm("grammar", asked.write("xgrammar")))


def _vllm(field: str, value: Any, *, otherwise: Callable[[], Form] | None = None) -> Form:
    return Form(extra={"structured_outputs": {field: value}}, otherwise=otherwise)


def _structgen(asked: Asked) -> Form:
    if asked.kind == "grammar":
        return _vllm("grammar", asked.write("gbnf"))
    form = _structured_outputs(asked)
    return replace(form, extra={**form.extra, "structgen": dict(asked.options)}) if asked.options else form


def _sglang(asked: Asked) -> Form:
    def grammar() -> Form:
        return Form(extra={"ebnf": asked.write("xgrammar")})

    if asked.kind == "schema":
        # Without `strict`, SGLang may leave the answer unmasked.
        return Form(_json_schema(asked.schema, strict=True), otherwise=grammar)
    if asked.kind == "structural_tag":
        return Form({"response_format": asked.content}, otherwise=grammar)
    if asked.kind == "regex":
        return Form(extra={"regex": asked.content}, otherwise=grammar)
    return grammar()


def _llama_cpp(asked: Asked) -> Form:
    """Return the form of llama.cpp's server: GBNF, which keeps every schema exactly.

    Its own converter of schemas drops keywords that it does not know. So `json_schema` is sent only where there is no
    grammar.
    """

    def schema() -> Form:
        return Form(extra={"json_schema": asked.schema}, masks="wider")

    try:
        return Form(extra={"grammar": asked.write("gbnf")}, otherwise=schema if asked.kind == "schema" else None)
    except (GrammarError, LimitExceededError, SchemaError):
        if asked.kind != "schema":
            raise
        return schema()


def _openai(asked: Asked) -> Form:
    """Return the form of OpenAI's own servers, where only newer models have custom tools."""
    if asked.source is not None:
        return _response_format(asked)
    if asked.kind == "choice":
        fields = _json_schema(choice_schema(asked), strict=True)
        return Form(fields, answer="text_value", otherwise=lambda: _custom_tool("lark", asked.write("lark")))
    if asked.kind == "regex":
        return _custom_tool("regex", asked.content, otherwise=lambda: _custom_tool("lark", asked.write("lark")))
    return _custom_tool("lark", asked.write("lark"))


def _custom_tool(syntax: str, definition: str, *, otherwise: Callable[[], Form] | None = None) -> Form:
    grammar = {"type": "grammar", "grammar": {"syntax": syntax, "definition": definition}}
    tool = {"name": NAME, "description": "Writes the answer. Its input is the whole answer.", "format": grammar}
    fields = {
        "tools": [{"type": "custom", "custom": tool}],
        "tool_choice": {"type": "custom", "custom": {"name": NAME}},
        "parallel_tool_calls": False,
    }
    return Form(fields, otherwise=otherwise)


def _response_format(asked: Asked) -> Form:
    assert asked.source is not None
    found = strict_schema(asked.source, OPENAI)
    answer = answer_form(found.is_wrapped)
    unchanged = Form(_json_schema(found.unchanged, strict=False), masks="none", answer=answer)
    if not found.is_strict:
        return unchanged
    # OpenAI bounds strict schemas: their depth, their properties, and the values of their enums.
    masks: Masks = "server" if found.is_exact else "wider"
    return Form(_json_schema(found.schema, strict=True), masks=masks, answer=answer, otherwise=lambda: unchanged)


def _json_schema(schema: dict[str, Any], *, strict: bool) -> dict[str, Any]:
    inner = {"name": NAME, "schema": schema, "strict": strict}
    return {"response_format": {"type": "json_schema", "json_schema": inner}}


def choice_schema(asked: Asked) -> dict[str, Any]:
    """Return the schema of an object whose value is one of the texts of a choice."""
    texts = {"type": "string", "enum": asked.content}
    return {"type": "object", "properties": {VALUE: texts}, "required": [VALUE], "additionalProperties": False}


def answer_form(is_wrapped: bool) -> AnswerForm:
    """Return the form of an answer whose schema was sent."""
    return "value" if is_wrapped else "text"


def _unknown(asked: Asked) -> Form:
    if asked.source is None:
        raise ModelError(
            "the server takes no grammars, as far as its list of models says",
            hint="from_openai(…, server='vllm') or another name says which server it is",
        )
    return replace(_response_format(asked), masks="none")


_FORMS: dict[ServerKind, Callable[[Asked], Form]] = {
    "vllm": _structured_outputs,
    "structgen": _structgen,
    "sglang": _sglang,
    "llama.cpp": _llama_cpp,
    "openai": _openai,
    "unknown": _unknown,
}
