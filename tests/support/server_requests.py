"""Requests to servers, checked by the servers' own definitions, and the constraint that they ask for.

OpenAI's and Anthropic's are those of the installed clients. The others are copied from the sources that are named.
"""

from __future__ import annotations

import functools
import json
from typing import Any, Literal

import pydantic

import structgen

__all__ = ["OWNERS", "asked_by", "check_request"]

OWNERS = {"vllm": "vllm", "sglang": "sglang", "llama.cpp": "llamacpp"}
"""The `owned_by` of each server's list of models."""


class Strict(pydantic.BaseModel, extra="forbid"):
    pass


class StructuredOutputsParams(Strict):
    """vllm/sampling_params.py, release 0.32.0."""

    json_: str | dict | None = pydantic.Field(None, alias="json")
    regex: str | None = None
    choice: list[str] | None = None
    grammar: str | None = None
    json_object: bool | None = None
    disable_any_whitespace: bool = False
    disable_additional_properties: bool = False
    whitespace_pattern: str | None = None
    structural_tag: str | None = None

    @pydantic.model_validator(mode="after")
    def one_kind(self):
        kinds = (self.json_, self.regex, self.choice, self.grammar, self.json_object, self.structural_tag)
        if sum(kind is not None for kind in kinds) != 1:
            raise ValueError("You can only use one kind of structured outputs constraint")
        return self


class VllmFields(Strict):
    """vllm/entrypoints/openai/chat_completion/protocol.py, release 0.32.0."""

    structured_outputs: StructuredOutputsParams
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    chat_template_kwargs: dict[str, Any] | None = None


class JsonSchemaResponseFormat(Strict):
    """sglang/srt/entrypoints/openai/protocol.py, release 0.5.23."""

    name: str
    description: str | None = None
    schema_: dict[str, object] | None = pydantic.Field(None, alias="schema")
    strict: pydantic.StrictBool | None = None


class ResponseFormat(Strict):
    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchemaResponseFormat | None = None


class StructuralTag(pydantic.BaseModel, extra="allow"):
    type: Literal["structural_tag"]


class SglangFields(Strict):
    response_format: ResponseFormat | StructuralTag | None = None
    regex: str | None = None
    ebnf: str | None = None
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    chat_template_kwargs: dict[str, Any] | None = None

    @pydantic.model_validator(mode="after")
    def one_kind(self):
        if sum(kind is not None for kind in (self.response_format, self.regex, self.ebnf)) != 1:
            raise ValueError("Only one of json_schema, regex, ebnf, or structural_tag can be set.")
        return self


class LlamaCppFields(Strict):
    """tools/server/server-common.cpp, `oaicompat_chat_params_parse`."""

    grammar: str | None = None
    json_schema: dict[str, Any] | None = None
    top_k: int | None = None
    min_p: float | None = None
    repeat_penalty: float | None = None
    chat_template_kwargs: dict[str, Any] | None = None

    @pydantic.model_validator(mode="after")
    def one_kind(self):
        if (self.grammar is None) == (self.json_schema is None):
            raise ValueError("Cannot use both json_schema and grammar")
        return self


_FIELDS = {"vllm": VllmFields, "sglang": SglangFields, "llama.cpp": LlamaCppFields}


@functools.cache
def _openai_request() -> pydantic.TypeAdapter[Any]:
    from openai.types.chat import completion_create_params as params

    class Plain(params.CompletionCreateParamsNonStreaming):
        __pydantic_config__ = pydantic.ConfigDict(extra="forbid")

    class Streaming(params.CompletionCreateParamsStreaming):
        __pydantic_config__ = pydantic.ConfigDict(extra="forbid")

    return pydantic.TypeAdapter(Plain | Streaming)


def check_request(server: str, request: dict[str, Any]) -> None:
    """Check a request by the definitions of a server and of the official client."""
    own = _FIELDS.get(server)
    known = {field.alias or name for name, field in own.model_fields.items()} if own is not None else set()
    if own is not None:
        own.model_validate({name: value for name, value in request.items() if name in known})
    if server == "sglang":
        known -= {"response_format"} if request.get("response_format", {}).get("type") == "json_schema" else set()
    _openai_request().validate_python({name: value for name, value in request.items() if name not in known})


def asked_by(server: str, request: dict[str, Any]) -> Any:
    """Return the schema or grammar that a request asks for, read as the server reads it."""
    if server == "vllm":
        return _of_vllm(request["structured_outputs"])
    if request.get("ebnf") or request.get("grammar"):
        return structgen.Grammar.gbnf(request.get("ebnf") or request["grammar"])
    if "regex" in request:
        return structgen.Grammar.regex(request["regex"])
    if "json_schema" in request:
        return request["json_schema"]
    if "tools" in request:
        grammar = request["tools"][0]["custom"]["format"]["grammar"]
        read = {"regex": structgen.Grammar.regex, "lark": structgen.Grammar.lark}[grammar["syntax"]]
        return read(grammar["definition"])
    form = request["response_format"]
    if form["type"] == "structural_tag":
        return structgen.Grammar.structural_tag(form)
    return form["json_schema"]["schema"]


def _of_vllm(given: dict[str, Any]) -> Any:
    ((kind, value),) = given.items()
    if kind == "json":
        return json.loads(value) if isinstance(value, str) else value
    if kind == "grammar":
        return structgen.Grammar.gbnf(value)
    read = {
        "regex": structgen.Grammar.regex,
        "choice": structgen.Grammar.choice,
        "structural_tag": structgen.Grammar.structural_tag,
    }
    return read[kind](value)
