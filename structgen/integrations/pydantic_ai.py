"""pydantic-ai: a structgen model as the model of an agent.

    model = StructgenModel(structgen.load("smollm2"))
    agent = Agent(model, output_type=Person)
    person = agent.run_sync("Alice Smith is a 34 year old nurse.").output

The answers of an agent without tools are native output: JSON under the mask of its schema. With tools, every call fits
the schema of its tool. `NativeOutput`, `ToolOutput`, `PromptedOutput` and streams work as with other models.

    ModelMessage ──▶ messages in OpenAI's form ──▶ Chat ──▶ ModelResponse, or events
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Unpack

from structgen.errors import GenerationError
from structgen.generation.pieces import CallTexts, Outcome, Piece
from structgen.generation.reasoning_marks import marks_of
from structgen.generation.settings import CallOptions
from structgen.integrations.chat import (
    AsyncPieces,
    Chat,
    ChatRequest,
    missing_package,
    name_of_model,
    refusal,
    with_one_system,
)
from structgen.limits import Limits

if TYPE_CHECKING:
    from structgen.models.base import AnyModel

try:
    from pydantic_ai import messages as parts
    from pydantic_ai.exceptions import ModelAPIError, UserError
    from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse, check_allow_model_requests
    from pydantic_ai.profiles import ModelProfile
    from pydantic_ai.settings import ModelSettings, ToolOrOutput
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.usage import RequestUsage
except ImportError as error:
    raise missing_package("pydantic-ai-slim>=2.68,<3", error) from error

__all__ = ["StructgenModel"]

_FRAMEWORK = "pydantic-ai"
_SYSTEM = "structgen"
_FINISH_REASONS: Mapping[str, parts.FinishReason] = {"stop": "stop", "length": "length", "tool_calls": "tool_call"}
# The names of settings that are other names here.
_OPTIONS = {
    "max_tokens": "max_new_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "seed": "seed",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "stop_sequences": "stop",
}


class StructgenModel(Model):
    """A model of pydantic-ai that runs in this process, under exact masks.

    Args:
        model: from `structgen.load(…)`, `structgen.from_transformers(…)` or the like.
        name: the name in records; by default that of the model's class.
        settings: the settings of requests that have none.
        profile: changes to the model's profile.
        limits: bounds on what a schema may cost.
        options: structgen's own options, such as `reasoning` or `whitespace`; see `structgen.call`. The settings of a
            request come first.

    Raises:
        TypeError: it is not a model, or an option is unknown.
        ValueError: an option is out of its range, or is one that pydantic-ai does itself, such as `max_retries`.

    Example:
        >>> from pydantic_ai import Agent                                                     # doctest: +SKIP
        >>> agent = Agent(StructgenModel(structgen.load("smollm2")), output_type=Person)      # doctest: +SKIP
        >>> agent.run_sync("Alice Smith is a 34 year old nurse.").output                      # doctest: +SKIP
        Person(name='Alice Smith', age=34)
    """

    unsupported_settings = frozenset(
        {"citations", "extra_body", "extra_headers", "max_retries", "service_tier", "timeout"}
    )
    _unsupported_file_inputs = frozenset({"audio", "document", "image", "video"})

    def __init__(
        self,
        model: AnyModel,
        *,
        name: str | None = None,
        settings: ModelSettings | None = None,
        profile: ModelProfile | None = None,
        limits: Limits | None = None,
        **options: Unpack[CallOptions],
    ) -> None:
        self._chat = Chat(model, limits=limits, options=options)
        self._name = name or name_of_model(model)
        own = ModelProfile(
            supports_json_schema_output=True,
            default_structured_output_mode="native",
            supports_thinking=marks_of(getattr(model, "chat_template", None)) is not None,
        )
        super().__init__(settings=settings, profile={**own, **(profile or {})})

    @property
    def model_name(self) -> str:
        """The name of the model."""
        return self._name

    @property
    def system(self) -> str:
        """The provider in records."""
        return _SYSTEM

    def prepare_request(
        self, model_settings: ModelSettings | None, model_request_parameters: ModelRequestParameters
    ) -> tuple[ModelSettings | None, ModelRequestParameters]:
        """Choose the output mode where the agent does not: calls of output tools beside function tools."""
        if model_request_parameters.function_tools:
            model_request_parameters = model_request_parameters.with_default_output_mode("tool")
        prepared: tuple[ModelSettings | None, ModelRequestParameters]
        prepared = super().prepare_request(model_settings, model_request_parameters)
        return prepared

    async def request(
        self,
        messages: list[parts.ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> parts.ModelResponse:
        """Return the whole answer."""
        request, _ = self._read(messages, model_settings, model_request_parameters)
        try:
            outcome = await self._chat.aask(request)
        except GenerationError as error:
            raise ModelAPIError(self._name, str(error)) from error
        return parts.ModelResponse(
            parts=list(_response_parts(outcome)),
            usage=_usage(outcome),
            model_name=self._name,
            provider_name=_SYSTEM,
            finish_reason=_FINISH_REASONS[outcome.finish_reason],
        )

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[parts.ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: Any = None,
    ) -> AsyncIterator[StreamedResponse]:
        """Open an answer that is shown while it is written."""
        request, prepared = self._read(messages, model_settings, model_request_parameters)
        async with self._chat.astream(request) as pieces:
            yield _Streamed(prepared, self._name, pieces)

    def _read(
        self,
        messages: Sequence[parts.ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> tuple[ChatRequest, ModelRequestParameters]:
        check_allow_model_requests()
        prepared_settings, prepared = self.prepare_request(model_settings, model_request_parameters)
        settings: Mapping[str, Any] = prepared_settings or {}
        tools, choice = _chosen(settings.get("tool_choice"), prepared)
        schema = prepared.output_object.json_schema if prepared.output_object is not None else None
        request = ChatRequest(
            messages=_messages(messages, prepared),
            tools=[_tool(tool) for tool in tools],
            tool_choice=choice,
            parallel=settings.get("parallel_tool_calls", True),
            schema=schema,
            options=_options(settings, prepared),
        )
        return request, prepared


@dataclass
class _Streamed(StreamedResponse):
    """An answer as pydantic-ai's events."""

    _name: str
    _pieces: AsyncPieces
    _timestamp: datetime = field(default_factory=lambda: datetime.now(UTC))
    _calls: CallTexts = field(default_factory=CallTexts)

    async def _get_event_iterator(self) -> AsyncIterator[parts.ModelResponseStreamEvent]:
        try:
            async for item in self._pieces:
                if isinstance(item, Outcome):
                    self._usage = _usage(item)
                    self.finish_reason = _FINISH_REASONS[item.finish_reason]
                    continue
                for event in self._events(item):
                    yield event
        except GenerationError as error:
            raise ModelAPIError(self._name, str(error)) from error

    def _events(self, piece: Piece) -> Iterator[parts.ModelResponseStreamEvent]:
        manager = self._parts_manager
        if piece.reasoning:
            yield from manager.handle_thinking_delta(vendor_part_id="reasoning", content=piece.reasoning)
        if piece.text:
            yield from manager.handle_text_delta(vendor_part_id="text", content=piece.text)
        if piece.call is not None:
            more = self._calls.more(piece.call)
            yield from manager.handle_tool_call_delta_events(
                vendor_part_id=more.index,
                tool_name=more.call.name if more.is_first else None,
                args=more.text,
                tool_call_id=more.call.id if more.is_first else None,
            )

    async def close_stream(self) -> None:
        """End the run, after the pass under way."""
        self._pieces.close()

    @property
    def model_name(self) -> str:
        """The name of the model."""
        return self._name

    @property
    def provider_name(self) -> str:
        """The provider in records."""
        return _SYSTEM

    @property
    def provider_url(self) -> None:
        """Nothing: the model runs in this process."""
        return

    @property
    def timestamp(self) -> datetime:
        """When the answer began."""
        return self._timestamp


def _options(settings: Mapping[str, Any], prepared: ModelRequestParameters) -> dict[str, Any]:
    """Return the options of a request."""
    options = {own: settings[name] for name, own in _OPTIONS.items() if settings.get(name) is not None}
    if settings.get("logit_bias"):
        options["logit_bias"] = {int(token): float(bias) for token, bias in settings["logit_bias"].items()}
    if prepared.thinking is not None:
        options["reasoning"] = prepared.thinking is not False
    return options


def _chosen(asked: Any, prepared: ModelRequestParameters) -> tuple[list[ToolDefinition], str]:
    """Return the tools that may be called, and the tool choice; see `pydantic_ai.settings.ToolChoice`."""
    declared = prepared.declared_tool_defs
    output = {tool.name for tool in prepared.output_tools}
    names, choice = set(declared), "auto" if prepared.allow_text_output else "required"
    if asked == "required":
        names, choice = names - output, "required"
    elif isinstance(asked, ToolOrOutput):
        names = set(asked.function_tools) | output
    elif isinstance(asked, list) and asked:
        names, choice = set(asked), "required"
    elif asked in ("none", []):
        names = output
    unknown = names - set(declared)
    if unknown or (choice == "required" and not names):
        known = ", ".join(declared) or "none"
        missing = ", ".join(sorted(unknown)) or "a tool"
        raise UserError(f"tool_choice asks for {missing}; the tools are {known}")
    return [tool for name, tool in declared.items() if name in names], choice if names else "none"


def _tool(tool: ToolDefinition) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description or "", "parameters": tool.parameters_json_schema}
    return {"type": "function", "function": function}


def _usage(outcome: Outcome) -> RequestUsage:
    return RequestUsage(
        input_tokens=outcome.prompt_tokens,
        output_tokens=outcome.completion_tokens,
        details={"reasoning_tokens": outcome.reasoning_tokens} if outcome.reasoning_tokens else {},
    )


def _response_parts(outcome: Outcome) -> Iterator[parts.ModelResponsePart]:
    if outcome.reasoning:
        yield parts.ThinkingPart(outcome.reasoning)
    if outcome.text:
        yield parts.TextPart(outcome.text)
    for call in outcome.calls:
        yield parts.ToolCallPart(call.name, call.source, tool_call_id=call.id)


def _messages(messages: Sequence[parts.ModelMessage], prepared: ModelRequestParameters) -> list[dict[str, Any]]:
    """Return a conversation in OpenAI's form."""
    found: list[dict[str, Any]] = []
    instructions = prepared.instruction_parts
    texts = None if instructions is None else [part.content for part in instructions]
    for message in messages:
        if isinstance(message, parts.ModelResponse):
            found.append(_assistant(message))
            continue
        for part in message.parts:
            _add(found, _asked(part))
    if texts is None:
        requests = [message for message in messages if isinstance(message, parts.ModelRequest)]
        texts = [requests[-1].instructions or ""] if requests else []
    count = next((index for index, one in enumerate(found) if one["role"] != "system"), len(found))
    found[count:count] = [{"role": "system", "content": text} for text in texts if text]
    return with_one_system(found)


def _add(found: list[dict[str, Any]], message: dict[str, Any]) -> None:
    """Add a message; texts of the user that follow each other are one message."""
    if found and message["role"] == "user" and found[-1]["role"] == "user":
        found[-1] = {"role": "user", "content": f"{found[-1]['content']}\n\n{message['content']}"}
    else:
        found.append(message)


def _asked(part: parts.ModelRequestPart) -> dict[str, Any]:
    """Return the message of a part of a request."""
    if isinstance(part, parts.SystemPromptPart):
        return {"role": "system", "content": part.content}
    if isinstance(part, parts.UserPromptPart):
        return {"role": "user", "content": _text_of(part)}
    if isinstance(part, parts.ToolReturnPart):
        text = part.model_response_str()
        return {"role": "tool", "tool_call_id": part.tool_call_id, "name": part.tool_name, "content": text}
    if isinstance(part, parts.RetryPromptPart):
        if part.tool_name is None:
            return {"role": "user", "content": part.model_response()}
        text = part.model_response()
        return {"role": "tool", "tool_call_id": part.tool_call_id, "name": part.tool_name, "content": text}
    raise refusal(f"a {type(part).__name__} in a request", _FRAMEWORK, "run the model in an Agent, which prepares it")


def _text_of(part: parts.UserPromptPart) -> str:
    if isinstance(part.content, str):
        return part.content
    texts = []
    for item in part.content:
        if isinstance(item, parts.CachePoint):
            continue
        text = item if isinstance(item, str) else getattr(item, "content", None)
        if not isinstance(item, str | parts.TextContent) or text is None:
            raise refusal(f"{type(item).__name__} in a prompt", _FRAMEWORK, "the model reads text only")
        texts.append(text)
    return "\n\n".join(texts)


def _assistant(message: parts.ModelResponse) -> dict[str, Any]:
    """Return the message of an answer."""
    texts, reasoning, calls = [], [], []
    for part in message.parts:
        if isinstance(part, parts.TextPart):
            texts.append(part.content)
        elif isinstance(part, parts.ThinkingPart):
            reasoning.append(part.content)
        elif isinstance(part, parts.ToolCallPart):
            function = {"name": part.tool_name, "arguments": part.args_as_dict()}
            calls.append({"id": part.tool_call_id, "type": "function", "function": function})
        else:
            raise refusal(f"a {type(part).__name__} in an answer of the conversation", _FRAMEWORK)
    found: dict[str, Any] = {"role": "assistant", "content": "\n\n".join(texts)}
    if reasoning:
        found["reasoning_content"] = "\n\n".join(reasoning)
    return {**found, "tool_calls": calls} if calls else found
