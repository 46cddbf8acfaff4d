"""LangChain: a structgen model as a chat model.

    chat = ChatStructgen(structgen.load("smollm2"))
    person = chat.with_structured_output(Person).invoke("Alice Smith is a 34 year old nurse.")

`bind_tools`, `with_structured_output`, streams, batches and the `async` methods work as with other chat models, and
their values come from the masks: they fit the schema.

    BaseMessage ──▶ messages in OpenAI's form ──▶ Chat ──▶ AIMessage, or chunks
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

import typing_extensions
from pydantic import BaseModel, PrivateAttr
from pydantic.errors import PydanticUserError

from structgen.generation.pieces import CallTexts, Outcome, Piece
from structgen.integrations.chat import Chat, ChatRequest, missing_package, name_of_model, refusal, with_one_system
from structgen.limits import Limits
from structgen.models.base import AnyModel, RemoteModel
from structgen.output_types.grammar import Grammar
from structgen.schema.sources import resolve

try:
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import (
        AIMessage,
        AIMessageChunk,
        BaseMessage,
        ChatMessage,
        HumanMessage,
        SystemMessage,
        ToolMessage,
    )
    from langchain_core.messages.ai import UsageMetadata
    from langchain_core.messages.tool import tool_call, tool_call_chunk
    from langchain_core.output_parsers import BaseOutputParser, JsonOutputParser, PydanticOutputParser, StrOutputParser
    from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
    from langchain_core.runnables import Runnable, RunnableMap, RunnablePassthrough
    from langchain_core.utils.function_calling import convert_to_json_schema, convert_to_openai_tool
except ImportError as error:
    raise missing_package("langchain-core>=1.7,<2", error) from error

__all__ = ["ChatStructgen"]

_FRAMEWORK = "LangChain"
_CHOICES = {"auto": "auto", "none": "none", "required": "required", "any": "required"}

_Parser: TypeAlias = "BaseOutputParser[Any]"


class ChatStructgen(BaseChatModel):
    """A chat model of LangChain that runs in this process, under exact masks.

    Args:
        model: from `structgen.load(…)`, `structgen.from_transformers(…)` or the like.
        limits: bounds on what a schema may cost.
        options: the fields of LangChain's chat models, such as `cache` or `callbacks`; and structgen's options, such as
            `temperature`, `max_tokens` or `reasoning`; see `structgen.call`. `bind` and calls replace the latter.

    Raises:
        TypeError: it is not a model, or an option is unknown.
        ValueError: an option is out of its range, or is one that LangChain does itself, such as `max_retries`.

    Example:
        >>> chat = ChatStructgen(structgen.load("smollm2"), max_tokens=100)                   # doctest: +SKIP
        >>> chat.invoke("What is the capital of France?").content                             # doctest: +SKIP
        'The capital of France is Paris.'
        >>> chat.with_structured_output(Person).invoke("Alice is 34.")                        # doctest: +SKIP
        Person(name='Alice', age=34)
    """

    model_name: str = ""
    _chat: Chat = PrivateAttr()
    _options: dict[str, Any] = PrivateAttr()

    def __init__(self, model: AnyModel, *, limits: Limits | None = None, **options: Any) -> None:
        fields = {name: options.pop(name) for name in list(options) if name in type(self).model_fields}
        super().__init__(**{"model_name": name_of_model(model), **fields})
        self._chat = Chat(model, limits=limits, options=options)  # type: ignore[arg-type]
        self._options = options

    @property
    def _llm_type(self) -> str:
        return "structgen"

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        """The values that identify the model in LangChain's caches."""
        model = self._chat.model
        return {"model_name": self.model_name, "model": f"{type(model).__name__} {id(model)}", **self._options}

    def bind_tools(
        self,
        tools: Sequence[Any],
        *,
        tool_choice: str | bool | Mapping[str, Any] | None = None,
        parallel_tool_calls: bool = True,
        response_format: Any = None,
        strict: bool | None = None,
        **kwargs: Any,
    ) -> Runnable[Any, AIMessage]:
        """Return this model with tools.

        Args:
            tools: functions, Pydantic models, LangChain's tools, or tools as OpenAI's interface has them.
            tool_choice: "auto", "none", "required" or "any", the name of a tool, or True for the only tool. By default
                "auto".
            parallel_tool_calls: whether there may be several calls.
            response_format: the schema of an answer without a call.
            strict: has no effect: calls always fit their schemas.
            kwargs: options of the calls.

        Raises:
            ValueError: there is no such tool.
        """
        made = [convert_to_openai_tool(tool) for tool in tools]
        choice = _choice_of(tool_choice, [tool["function"]["name"] for tool in made])
        bound: dict[str, Any] = {"tools": made, "tool_choice": choice, "parallel_tool_calls": parallel_tool_calls}
        if response_format is not None:
            bound["schema"] = _schema_and_parser(response_format)[0]
        return self.bind(**bound, **kwargs)

    def with_structured_output(
        self, schema: Any, *, include_raw: bool = False, method: str = "json_schema", **kwargs: Any
    ) -> Runnable[Any, Any]:
        """Return this model with answers that fit a schema.

        Args:
            schema: a Pydantic model, a TypedDict or any type that Pydantic supports; a JSON Schema, alone or in one of
                OpenAI's forms; or a `structgen.Grammar`.
            include_raw: return a dict with `raw`, the message, `parsed`, the value, and `parsing_error`.
            method: "json_schema", for an answer that is the value; or "function_calling", for the call of a tool.
            kwargs: options of the calls. `strict` has no effect.

        Raises:
            ValueError: the method is unknown.
            SchemaError: the schema cannot be used.
        """
        if method not in ("json_schema", "json_mode", "function_calling"):
            raise ValueError(f"method is 'json_schema' or 'function_calling', not {method!r}")
        if method == "function_calling":
            kwargs.pop("strict", None)
            return super().with_structured_output(schema, include_raw=include_raw, **kwargs)
        kwargs.pop("strict", None)
        given, parser = _schema_and_parser(schema)
        shown = {"kwargs": {"method": method}, "schema": _traced(schema, given)}
        model = self.bind(schema=given, ls_structured_output_format=shown, **kwargs)
        if not include_raw:
            return model | parser
        parsed = RunnablePassthrough.assign(parsed=itemgetter("raw") | parser, parsing_error=lambda _: None)
        unparsed = RunnablePassthrough.assign(parsed=lambda _: None)
        return RunnableMap(raw=model) | parsed.with_fallbacks([unparsed], exception_key="parsing_error")

    def get_token_ids(self, text: str) -> list[int]:
        """Return the tokens of a text.

        Args:
            text: the text.

        Raises:
            UnsupportedRequestError: the model is behind a server, which has the tokenizer.
        """
        if self.custom_get_token_ids is not None:
            found: list[int] = self.custom_get_token_ids(text)
            return found
        if isinstance(self._chat.model, RemoteModel):
            raise refusal("counts of tokens with a server", _FRAMEWORK, "pass custom_get_token_ids=…")
        return self._chat.model.encode_text(text)

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return _result(self._chat.ask(_request(messages, stop, kwargs)), self.model_name)

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return _result(await self._chat.aask(_request(messages, stop, kwargs)), self.model_name)

    def _stream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        chunks = _Chunks(self.model_name)
        for item in self._chat.stream(_request(messages, stop, kwargs)):
            for chunk in chunks.of(item):
                if run_manager:
                    run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                yield chunk

    async def _astream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        chunks = _Chunks(self.model_name)
        async with self._chat.astream(_request(messages, stop, kwargs)) as pieces:
            async for item in pieces:
                for chunk in chunks.of(item):
                    if run_manager:
                        await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                    yield chunk


class _TypeParser(BaseOutputParser[Any]):
    """The parser of answers whose schema is a type other than a Pydantic model."""

    read: Callable[[str], Any]

    def parse(self, text: str) -> Any:
        """Return the value of a text."""
        return self.read(text)


def _schema_and_parser(schema: Any) -> tuple[Any, _Parser]:
    """Return what the text has to be, and the parser of the text."""
    if isinstance(schema, Grammar):
        return schema, StrOutputParser()
    if isinstance(schema, Mapping):
        return _json_schema(schema), JsonOutputParser()
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return resolve(schema).json_schema, PydanticOutputParser(pydantic_object=schema)
    source = resolve(schema)
    if isinstance(source.json_schema, Mapping) and source.json_schema.get("type") == "object":
        return source.json_schema, JsonOutputParser()  # as other chat models: a TypedDict is data, also in streams
    return source.json_schema, _TypeParser(read=source.parse)


def _traced(schema: Any, given: Any) -> Any:
    """Return the schema that traces show: of a class as LangChain writes it, else that of the masks."""
    is_model = isinstance(schema, type) and issubclass(schema, BaseModel)
    if is_model or typing_extensions.is_typeddict(schema):
        try:
            return convert_to_json_schema(schema)
        except (PydanticUserError, TypeError, ValueError, KeyError):  # a type that LangChain has no schema of
            pass
    return given if isinstance(given, Mapping) else {"title": "grammar"}


def _json_schema(schema: Mapping[str, Any]) -> Any:
    """Return a JSON Schema, which may stand in one of OpenAI's forms."""
    inner = schema.get("json_schema") if schema.get("type") == "json_schema" else schema.get("function")
    inner = inner if isinstance(inner, Mapping) else schema
    for name in ("schema", "parameters"):
        if "name" in inner and isinstance(inner.get(name), Mapping):
            return dict(inner[name])
    return dict(inner)


def _choice_of(choice: str | bool | Mapping[str, Any] | None, names: Sequence[str]) -> str:
    if choice is None or choice is False:
        return "auto"
    if choice is True:
        return names[0] if len(names) == 1 else "required"
    if isinstance(choice, Mapping):
        choice = (choice.get("function") or choice).get("name") or ""
    if choice in names:
        return choice
    if choice not in _CHOICES:
        raise ValueError(f"tool_choice is {choice!r}, and the tools are {', '.join(names) or 'none'}")
    return _CHOICES[choice]


def _request(messages: Sequence[BaseMessage], stop: Sequence[str] | None, kwargs: Mapping[str, Any]) -> ChatRequest:
    """Return the request of a call.

    Args:
        messages: the conversation.
        stop: texts that end the answer.
        kwargs: what `bind` and the call gave: tools, a schema and options.
    """
    options = dict(kwargs)
    options.pop("ls_structured_output_format", None)
    schema = options.pop("schema", None)
    response_format = options.pop("response_format", None)
    if response_format is not None:
        schema = _schema_and_parser(response_format)[0]
    tools = [convert_to_openai_tool(tool) for tool in options.pop("tools", None) or ()]
    choice = options.pop("tool_choice", None)
    if stop:
        options["stop"] = tuple(stop)
    return ChatRequest(
        messages=with_one_system([_openai_message(message) for message in messages]),
        tools=tools,
        tool_choice=_choice_of(choice, [tool["function"]["name"] for tool in tools]),
        parallel=options.pop("parallel_tool_calls", True),
        schema=schema,
        options=options,
    )


def _openai_message(message: BaseMessage) -> dict[str, Any]:
    """Return a message in OpenAI's form."""
    text = _text_of(message)
    if isinstance(message, SystemMessage):
        return {"role": "system", "content": text}
    if isinstance(message, HumanMessage):
        return {"role": "user", "content": text}
    if isinstance(message, ToolMessage):
        found = {"role": "tool", "tool_call_id": message.tool_call_id, "content": text}
        return {**found, "name": message.name} if message.name else found
    if isinstance(message, AIMessage):
        return _assistant(message, text)
    if isinstance(message, ChatMessage):
        return {"role": message.role, "content": text}
    raise refusal(f"a {type(message).__name__}", _FRAMEWORK)


def _assistant(message: AIMessage, text: str) -> dict[str, Any]:
    found: dict[str, Any] = {"role": "assistant", "content": text}
    if message.additional_kwargs.get("reasoning_content"):
        found["reasoning_content"] = message.additional_kwargs["reasoning_content"]
    if message.tool_calls:
        found["tool_calls"] = [
            {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["args"]}}
            for call in message.tool_calls
        ]
    return found


# Parts of an answer that the message has in other fields too.
_ELSEWHERE = ("reasoning", "thinking", "tool_call", "tool_use", "function_call")


def _text_of(message: BaseMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    texts = []
    for part in message.content:
        kind = "text" if isinstance(part, str) else part.get("type")
        if kind == "text":
            texts.append(part if isinstance(part, str) else part["text"])
        elif not (isinstance(message, AIMessage) and kind in _ELSEWHERE):
            raise refusal(f"a part of the type {kind!r} in a message", _FRAMEWORK, "the model reads text only")
    return "\n".join(texts)


def _usage(outcome: Outcome) -> UsageMetadata:
    usage: UsageMetadata = {
        "input_tokens": outcome.prompt_tokens,
        "output_tokens": outcome.completion_tokens,
        "total_tokens": outcome.prompt_tokens + outcome.completion_tokens,
    }
    if outcome.reasoning_tokens:
        usage["output_token_details"] = {"reasoning": outcome.reasoning_tokens}
    return usage


def _metadata(outcome: Outcome, model_name: str) -> dict[str, Any]:
    return {"finish_reason": outcome.finish_reason, "model_name": model_name, "model_provider": "structgen"}


def _result(outcome: Outcome, model_name: str) -> ChatResult:
    message = AIMessage(
        content=outcome.text,
        additional_kwargs={"reasoning_content": outcome.reasoning} if outcome.reasoning else {},
        tool_calls=[tool_call(name=call.name, args=json.loads(call.source), id=call.id) for call in outcome.calls],
        usage_metadata=_usage(outcome),
        response_metadata=_metadata(outcome, model_name),
    )
    return ChatResult(generations=[ChatGeneration(message=message)])


class _Chunks:
    """The pieces of an answer as LangChain's chunks.

    Args:
        model_name: the name in records.
    """

    def __init__(self, model_name: str) -> None:
        self._model_name = model_name
        self._calls = CallTexts()

    def of(self, item: Piece | Outcome) -> Iterator[ChatGenerationChunk]:
        """Yield the chunks of a piece."""
        if isinstance(item, Outcome):
            yield _chunk(
                content="",
                usage_metadata=_usage(item),
                response_metadata=_metadata(item, self._model_name),
                chunk_position="last",
            )
        elif item.call is None:
            reasoning = {"reasoning_content": item.reasoning} if item.reasoning else {}
            yield _chunk(content=item.text, additional_kwargs=reasoning)
        else:
            more = self._calls.more(item.call)
            name, call_id = (more.call.name, more.call.id) if more.is_first else (None, None)
            part = tool_call_chunk(name=name, args=more.text, id=call_id, index=more.index)
            yield _chunk(content="", tool_call_chunks=[part])


def _chunk(**fields: Any) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=AIMessageChunk(**fields))
