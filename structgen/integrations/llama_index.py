"""LlamaIndex: a structgen model as a language model that calls functions.

    llm = StructgenLLM(structgen.load("smollm2"))
    person = llm.structured_predict(Person, PromptTemplate("{text}"), text="Alice Smith is 34.")

Chats, completions, tools, structured predictions and their streams work as with other models. Their values come from
the masks, so they fit the schema.

    ChatMessage ──▶ messages in OpenAI's form ──▶ Chat ──▶ ChatResponse, ChatResponse, …
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, PrivateAttr

from structgen.generation.pieces import Outcome, Piece
from structgen.generation.tools.results import ToolCall
from structgen.integrations.chat import Chat, ChatRequest, missing_package, name_of_model, refusal, with_one_system
from structgen.limits import Limits
from structgen.models.base import AnyModel
from structgen.schema.sources import resolve

try:
    from llama_index.core.base.llms.generic_utils import (
        achat_to_completion_decorator,
        astream_chat_to_completion_decorator,
        chat_to_completion_decorator,
        stream_chat_to_completion_decorator,
    )
    from llama_index.core.base.llms.types import (
        CachePoint,
        ChatMessage,
        ChatResponse,
        CompletionResponse,
        LLMMetadata,
        MessageRole,
        TextBlock,
        ThinkingBlock,
        ToolCallBlock,
    )
    from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
    from llama_index.core.llms.function_calling import FunctionCallingLLM
    from llama_index.core.llms.llm import ToolSelection
    from llama_index.core.program.utils import process_streaming_objects
except ImportError as error:
    raise missing_package("llama-index-core>=0.14,<0.15", error) from error

__all__ = ["StructgenLLM"]

T = TypeVar("T", bound=BaseModel)

_FRAMEWORK = "LlamaIndex"
_DEFAULT_CONTEXT_TOKENS = 4096  # of models that do not say
_ROLES = {MessageRole.DEVELOPER: "system", MessageRole.CHATBOT: "assistant", MessageRole.FUNCTION: "tool"}


class StructgenLLM(FunctionCallingLLM):
    """A language model of LlamaIndex that runs in this process, under exact masks.

    Args:
        model: from `structgen.load(…)`, `structgen.from_transformers(…)` or the like.
        limits: bounds on what a schema may cost.
        options: the fields of LlamaIndex's models, such as `callback_manager` or `system_prompt`; and structgen's
            options, such as `temperature`, `max_tokens` or `reasoning`; see `structgen.call`. Arguments of a call
            replace the latter.

    Raises:
        TypeError: it is not a model, or an option is unknown.
        ValueError: an option is out of its range, or is one that LlamaIndex does itself, such as `max_retries`.

    Example:
        >>> llm = StructgenLLM(structgen.load("smollm2"), max_tokens=100)                     # doctest: +SKIP
        >>> llm.complete("What is the capital of France?").text                               # doctest: +SKIP
        'The capital of France is Paris.'
    """

    model_name: str = ""
    _chat: Chat = PrivateAttr()
    _budget: int = PrivateAttr()

    def __init__(self, model: AnyModel, *, limits: Limits | None = None, **options: Any) -> None:
        fields = {name: options.pop(name) for name in list(options) if name in type(self).model_fields}
        super().__init__(**{"model_name": name_of_model(model), **fields})
        self._chat = Chat(model, limits=limits, options=options)  # type: ignore[arg-type]
        self._budget = options.get("max_tokens") or options.get("max_new_tokens") or 512

    @classmethod
    def class_name(cls) -> str:
        """Return the name of this class in LlamaIndex."""
        return "StructgenLLM"

    @property
    def metadata(self) -> LLMMetadata:
        """The sizes of the model."""
        context_tokens = getattr(self._chat.model, "context_tokens", None)
        return LLMMetadata(
            context_window=context_tokens or _DEFAULT_CONTEXT_TOKENS,
            num_output=self._budget,
            is_chat_model=True,
            is_function_calling_model=True,
            model_name=self.model_name,
        )

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Return the whole answer to a conversation."""
        return _Responses().whole(self._chat.ask(_request(messages, kwargs)))

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Answer as `chat` does, for asyncio; answers at the same time share the passes of the model."""
        return _Responses().whole(await self._chat.aask(_request(messages, kwargs)))

    @llm_chat_callback()
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Iterator[ChatResponse]:
        """Yield the answer so far, as it grows."""
        request = _request(messages, kwargs)

        def responses() -> Iterator[ChatResponse]:
            growing = _Responses()
            for item in self._chat.stream(request):
                yield growing.after(item)

        return responses()

    @llm_chat_callback()
    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> AsyncIterator[ChatResponse]:
        """Yield the answer so far, for asyncio."""
        request = _request(messages, kwargs)

        async def responses() -> AsyncIterator[ChatResponse]:
            growing = _Responses()
            async with self._chat.astream(request) as pieces:
                async for item in pieces:
                    yield growing.after(item)

        return responses()

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Return the whole answer to a text, which is one message of the user."""
        return chat_to_completion_decorator(self.chat)(prompt, **kwargs)

    @llm_completion_callback()
    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Answer as `complete` does, for asyncio."""
        return await achat_to_completion_decorator(self.achat)(prompt, **kwargs)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Iterator[CompletionResponse]:
        """Yield the answer to a text so far, as it grows."""
        found: Iterator[CompletionResponse] = stream_chat_to_completion_decorator(self.stream_chat)(prompt, **kwargs)
        return found

    @llm_completion_callback()
    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> AsyncIterator[CompletionResponse]:
        """Yield the answer to a text so far, for asyncio."""
        found: AsyncIterator[CompletionResponse]
        found = await astream_chat_to_completion_decorator(self.astream_chat)(prompt, **kwargs)
        return found

    def structured_predict(
        self, output_cls: type[T], prompt: Any, llm_kwargs: dict[str, Any] | None = None, **prompt_args: Any
    ) -> T:
        """Return an instance of a Pydantic model; the answer is its JSON.

        Args:
            output_cls: the Pydantic model.
            prompt: a prompt template.
            llm_kwargs: options of this answer.
            prompt_args: the values of the template.

        Raises:
            pydantic.ValidationError: a validator written in Python refused the value.
        """
        messages, asked = self._asked(output_cls, prompt, prompt_args, llm_kwargs)
        return _value(output_cls, self.chat(messages, **asked))

    async def astructured_predict(
        self, output_cls: type[T], prompt: Any, llm_kwargs: dict[str, Any] | None = None, **prompt_args: Any
    ) -> T:
        """Predict as `structured_predict` does, for asyncio."""
        messages, asked = self._asked(output_cls, prompt, prompt_args, llm_kwargs)
        return _value(output_cls, await self.achat(messages, **asked))

    def stream_structured_predict(
        self, output_cls: type[T], prompt: Any, llm_kwargs: dict[str, Any] | None = None, **prompt_args: Any
    ) -> Iterator[Any]:
        """Yield the value so far, as it grows, and the validated instance at last; see `structured_predict`.

        What is not complete has the type that LlamaIndex makes for it, with None where nothing is written yet.
        """
        messages, asked = self._asked(output_cls, prompt, prompt_args, llm_kwargs)
        growing = _Growing(output_cls)
        for response in self.stream_chat(messages, **asked):
            yield from growing.after(response)

    async def astream_structured_predict(
        self, output_cls: type[T], prompt: Any, llm_kwargs: dict[str, Any] | None = None, **prompt_args: Any
    ) -> AsyncIterator[Any]:
        """Yield the value so far, for asyncio; see `stream_structured_predict`."""
        messages, asked = self._asked(output_cls, prompt, prompt_args, llm_kwargs)

        async def values() -> AsyncIterator[Any]:
            growing = _Growing(output_cls)
            async for response in await self.astream_chat(messages, **asked):
                for value in growing.after(response):
                    yield value

        return values()

    def _asked(
        self,
        output_cls: type[BaseModel],
        prompt: Any,
        prompt_args: Mapping[str, Any],
        options: Mapping[str, Any] | None,
    ) -> tuple[list[ChatMessage], dict[str, Any]]:
        """Return the messages of a prediction, and the arguments of its chat."""
        messages: list[ChatMessage] = self._get_messages(prompt, **prompt_args)
        return messages, {**(options or {}), "schema": resolve(output_cls).json_schema}

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        """Return the calls of an answer.

        Args:
            response: the answer.
            error_on_no_tool_call: whether an answer without calls is an error.
            kwargs: not used.

        Raises:
            ValueError: there is no call.
        """
        blocks = [block for block in response.message.blocks if isinstance(block, ToolCallBlock)]
        if not blocks and error_on_no_tool_call:
            raise ValueError("the model made no call: ask for one with tool_required=True")
        return [
            ToolSelection(tool_id=block.tool_call_id or "", tool_name=block.tool_name, tool_kwargs=block.tool_kwargs)
            for block in blocks
        ]

    def _prepare_chat_with_tools(
        self,
        tools: Sequence[Any],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        messages = list(chat_history or ())
        if user_msg is not None:
            messages.append(ChatMessage(user_msg) if isinstance(user_msg, str) else user_msg)
        asked = kwargs.pop("tool_choice", None)
        return {
            "messages": messages,
            "tools": [tool.metadata.to_openai_tool(skip_length_check=True) for tool in tools],
            "tool_choice": asked or ("required" if tool_required else "auto"),
            "parallel": allow_parallel_tool_calls,
            **kwargs,
        }


def _request(messages: Sequence[ChatMessage], kwargs: Mapping[str, Any]) -> ChatRequest:
    """Return the request of a call.

    Args:
        messages: the conversation.
        kwargs: tools in OpenAI's form, `tool_choice`, `parallel`, `schema`, and options.
    """
    options = dict(kwargs)
    tools = options.pop("tools", None) or ()
    return ChatRequest(
        messages=with_one_system([_openai_message(message) for message in messages]),
        tools=tools,
        tool_choice=options.pop("tool_choice", "auto"),
        parallel=options.pop("parallel", True),
        schema=options.pop("schema", None),
        options=options,
    )


def _openai_message(message: ChatMessage) -> dict[str, Any]:
    """Return a message in OpenAI's form."""
    texts, reasoning, calls = [], [], []
    for block in message.blocks:
        if isinstance(block, TextBlock):
            texts.append(block.text)
        elif isinstance(block, ThinkingBlock):
            reasoning.append(block.content or "")
        elif isinstance(block, ToolCallBlock):
            function = {"name": block.tool_name, "arguments": block.tool_kwargs}
            calls.append({"id": block.tool_call_id, "type": "function", "function": function})
        elif not isinstance(block, CachePoint):
            raise refusal(f"{type(block).__name__} in a message", _FRAMEWORK, "the model reads text only")
    role = _ROLES.get(message.role, message.role.value)
    found: dict[str, Any] = {"role": role, "content": "\n".join(texts)}
    if any(reasoning):
        found["reasoning_content"] = "\n".join(reasoning)
    if calls:
        found["tool_calls"] = calls
    if role == "tool":
        found |= {
            key: message.additional_kwargs[key] for key in ("tool_call_id", "name") if key in message.additional_kwargs
        }
    return found


def _value(output_cls: type[T], response: ChatResponse) -> T:
    return output_cls.model_validate_json(response.message.content or "")


class _Growing:
    """A predicted value while its JSON is written.

    Args:
        output_cls: its Pydantic model.
    """

    def __init__(self, output_cls: type[BaseModel]) -> None:
        self._output_cls = output_cls
        self._shown: Any = None

    def after(self, response: ChatResponse) -> Iterator[Any]:
        """Yield the value so far, if there is more of it."""
        if response.raw is not None:  # the whole answer
            yield _value(self._output_cls, response)
            return
        before = None if self._shown is None else [self._shown]
        value = process_streaming_objects(response, self._output_cls, cur_objects=before)
        if value != self._shown:
            self._shown = value
            yield value


class _Responses:
    """The answer so far, as LlamaIndex shows it."""

    def __init__(self) -> None:
        self._text = ""
        self._reasoning = ""
        self._calls: list[ToolCall] = []

    def after(self, item: Piece | Outcome) -> ChatResponse:
        """Return the answer after a piece."""
        if isinstance(item, Outcome):
            return self.whole(item)
        self._text += item.text
        self._reasoning += item.reasoning
        if item.call is not None:
            if self._calls and not self._calls[-1].is_complete:
                self._calls.pop()
            self._calls.append(item.call)
        return ChatResponse(message=_message(self._text, self._reasoning, self._calls), delta=item.text)

    def whole(self, outcome: Outcome) -> ChatResponse:
        """Return the whole answer."""
        usage = {
            "prompt_tokens": outcome.prompt_tokens,
            "completion_tokens": outcome.completion_tokens,
            "total_tokens": outcome.prompt_tokens + outcome.completion_tokens,
        }
        return ChatResponse(
            message=_message(outcome.text, outcome.reasoning, outcome.calls),
            delta="",
            raw={"finish_reason": outcome.finish_reason, "usage": usage},
            additional_kwargs=usage,
        )


def _message(text: str, reasoning: str, calls: Sequence[ToolCall]) -> ChatMessage:
    blocks: list[Any] = [ThinkingBlock(content=reasoning)] if reasoning else []
    blocks.append(TextBlock(text=text))
    for call in calls:
        arguments = json.loads(call.source) if call.is_complete else dict(call.arguments)
        blocks.append(ToolCallBlock(tool_call_id=call.id, tool_name=call.name, tool_kwargs=arguments))
    return ChatMessage(role=MessageRole.ASSISTANT, blocks=blocks)
