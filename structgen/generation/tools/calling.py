"""`call`: a model replies with text and tool calls, in the format that it was trained on.

detection     the format: named, or found in the chat template
Grammar       text and calls in this format, each with arguments of its tool's schema
LocalRun      the prompt with the tools, and the masked reply
reading       the reply's text -> text and calls -> validated arguments
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack, cast

from structgen.compilation.compiler import compile
from structgen.errors import LimitExceededError
from structgen.generation.prompts import check_prompt, conversation, render, template_variables, texts_for
from structgen.generation.runs import LocalRun, Result, Run, in_thread
from structgen.generation.scheduler import run_shared
from structgen.generation.server_run import ServerRun
from structgen.generation.settings import CALL_DEFAULTS, LOCAL_READING, CallOptions, Settings, split_options
from structgen.generation.tools.conversation import (
    TEXT_FORM,
    adapted,
    call_id_of,
    call_ids_of,
    form_for,
    has_calls,
    tools_variable,
    tools_variables,
)
from structgen.generation.tools.detection import FALLBACK, format_of_model
from structgen.generation.tools.messages import ParsedCall, ParsedReply
from structgen.generation.tools.reading import are_alike, check_format, read_reply, write_reply
from structgen.generation.tools.results import ToolReply
from structgen.generation.tools.server_replies import SERVER_FORM, read_object, reply_schema
from structgen.generation.tools.toolbox import REFUSALS, Toolbox
from structgen.limits import Limits
from structgen.models.base import AsyncServer, Model, RemoteModel, as_messages, check_model
from structgen.output_types.grammar import Grammar
from structgen.schema.options import SchemaOptions
from structgen.schema.signatures import shows_options
from structgen.schema.validation import TOO_DEEP

if TYPE_CHECKING:
    from structgen.compilation.constraint import Constraint
    from structgen.generation.batches import NewSession
    from structgen.models.base import AnyModel, Prompt

__all__ = ["Caller", "acall", "call"]

# Formats that write the mark of the answer themselves.
_OWN_ANSWERS = ("harmony", "muse_glimmer", "solar")
# Marks that end the turn of the model, although other messages may follow them in a conversation.
_ENDS = {"harmony": ("<|call|>", "<|return|>"), "muse_glimmer": ("<|eot|>",), "solar": ("<|calls|>",)}

_MAY = (
    "You may call these functions:\n{tools}\nTo call one, write only the call, like this: {example}\nOtherwise answer."
)
_MUST = "Answer by calling one of these functions:\n{tools}\nWrite the call like this: {example}"


@shows_options(CallOptions, CALL_DEFAULTS)
def call(
    model: AnyModel,
    messages: Prompt,
    tools: Iterable[Any],
    *,
    tool_choice: str = "auto",
    parallel: bool = True,
    format: str | None = None,
    limits: Limits | None = None,
    **options: Unpack[CallOptions],
) -> ToolReply:
    """Let a model reply with text and tool calls, in the format that it was trained on.

    Calls fit the schemas of their tools. The functions are not called: `ToolCall.run` does that, and
    `structgen.run_tools` runs the whole loop.

    Args:
        model: see `structgen.generate`.
        messages: the conversation, or a text. Calls and results stand in it in OpenAI's form, as `ToolReply.messages`
            returns them; they are adapted to the chat template.
        tools: functions with annotated parameters, where `Annotated[int, Field(ge=1, description="…")]` restricts and
            describes one; Pydantic models; tools as OpenAI's interface has them; or the list of an MCP server.
        tool_choice: "auto": text, and any number of calls. "required": at least one call. "none": text. Or the name of
            a tool: a call of it.
        parallel: whether there may be several calls.
        format: the name of the format; docs/tools.md lists them. By default it is found in the chat template. A model
            whose template knows no tools gets them in the system message, and writes JSON.
        limits: bounds on what the schemas may cost.
        options: see `structgen.generate`. `on_budget` is "error" and `max_repeats` None by default: a function must
            not run with arguments that were ended for the model.

    Returns:
        The text, the reasoning, and the calls with validated arguments.

    Raises:
        FunctionDefinitionError: a tool cannot be used, or two have one name.
        UnsupportedSchemaError: a parameter's type has no schema.
        GrammarError, ValueError: the format or the tool choice is unknown.
        ValidationFailedError: a validator written in Python refused arguments in every attempt; `attempts` has the
            texts.
        IncompleteOutputError: the token budget ended within a call; see `structgen.generate`.

    Example:
        >>> def weather(city: str, unit: Literal["C", "F"] = "C") -> str:
        ...     "The weather in a city."
        >>> reply = structgen.call(model, "Is it warm in Lyon?", [weather])                   # doctest: +SKIP
        >>> [(one.name, one.arguments) for one in reply.tool_calls]                           # doctest: +SKIP
        [('weather', {'city': 'Lyon', 'unit': 'C'})]
        >>> asked = {"role": "user", "content": "Is it warm in Lyon?"}
        >>> messages = [asked, *reply.messages()]                                             # doctest: +SKIP
    """
    caller = Caller(model, tools, parallel=parallel, format=format, limits=limits, options=options)
    return caller.reply(messages, tool_choice)


@shows_options(CallOptions, CALL_DEFAULTS)
async def acall(
    model: AnyModel,
    messages: Prompt,
    tools: Iterable[Any],
    *,
    tool_choice: str = "auto",
    parallel: bool = True,
    format: str | None = None,
    limits: Limits | None = None,
    **options: Unpack[CallOptions],
) -> ToolReply:
    """Run `call` in a thread, and await it. Calls that run at once share the passes of the model.

    A server with an asynchronous client is awaited without threads.

    The arguments and errors are those of `structgen.call`.

    Example:
        >>> reply = await structgen.acall(model, "Is it warm in Lyon?", [weather])            # doctest: +SKIP
    """
    if isinstance(model, AsyncServer):
        caller = Caller(model, tools, parallel=parallel, format=format, limits=limits, options=options)
        return await caller.areply(messages, tool_choice)

    def work(new_session: NewSession, cancelled: threading.Event) -> ToolReply:
        caller = Caller(model, tools, parallel=parallel, format=format, limits=limits, options=options)
        return caller.reply(messages, tool_choice, cancelled, new_session=new_session)

    return await run_shared(model, work)


class Caller:
    """A model and some tools, ready for the replies of a conversation.

    Args:
        model, tools, parallel, format, limits: see `call`.
        options: the options of runs and of constraints.
        keeps_refused: whether calls whose arguments a validator refuses are returned, with their error.

    Attributes:
        format: the name of the format.
        toolbox: the tools.
    """

    def __init__(
        self,
        model: AnyModel,
        tools: Iterable[Any],
        *,
        parallel: bool,
        format: str | None,
        limits: Limits | None,
        options: CallOptions,
        keeps_refused: bool = False,
    ) -> None:
        check_model(model)
        running, reading = split_options(cast(dict[str, Any], options))
        # A function must not run with arguments that were ended for the model: a reply that breaks off is an error.
        self._settings = Settings(**{"on_budget": "error", "max_repeats": None, **running})
        defaults = model.reading if isinstance(model, RemoteModel) else LOCAL_READING
        self._reading: dict[str, Any] = {**defaults, **reading}
        schema_options = {key: value for key, value in self._reading.items() if key != "tokenization"}
        self.toolbox = Toolbox(tools, SchemaOptions(**schema_options))
        self._model = model
        self._parallel = parallel
        self._limits = limits
        self._keeps_refused = keeps_refused
        self._constraints: dict[str, Constraint[Any]] = {}
        self._template = None if self._settings.raw or isinstance(model, RemoteModel) else tool_template(model)
        if format is not None:
            check_format(format)
        own = format_of_model(model, self._template)
        self.format = format or own or FALLBACK
        self._is_native = own is not None and are_alike(own, self.format)

    def reply(
        self,
        messages: Prompt,
        tool_choice: str,
        cancelled: threading.Event | None = None,
        *,
        new_session: NewSession = None,
    ) -> ToolReply:
        """Return the model's reply.

        Args:
            messages: the conversation.
            tool_choice: see `call`.
            cancelled: when set, the run stops after the pass under way.
            new_session: see `begin`.
        """
        run = self.begin(messages, tool_choice, new_session=new_session)
        return self.finished(run.to_end(cancelled or threading.Event()))

    async def areply(self, messages: Prompt, tool_choice: str) -> ToolReply:
        """Await the reply: of an `AsyncServer` without threads, of other models in a thread; see `reply`."""
        if isinstance(self._model, AsyncServer):
            run = cast(ServerRun[Any], self.begin(messages, tool_choice))
            return self.finished(await run.ato_end())
        return await in_thread(lambda cancelled: self.reply(messages, tool_choice, cancelled))

    def begin(
        self, messages: Prompt, tool_choice: str, *, streams: bool = False, new_session: NewSession = None
    ) -> Run[Any]:
        """Begin a run, whose value is the reply.

        Args:
            messages: the conversation.
            tool_choice: see `call`.
            streams: whether a server sends its reply in pieces.
            new_session: makes the sessions in which a local model reads; None for `model.session`.
        """
        check_prompt(messages)
        if not isinstance(tool_choice, str):
            raise TypeError(f"tool_choice is 'auto', 'required', 'none' or the name of a tool, not {tool_choice!r}")
        read = partial(self._read, call_ids_of(messages), tool_choice, self._settings.validate)
        settings = replace(self._settings, validate=read)
        if isinstance(self._model, RemoteModel):
            return self._begin_on_server(self._model, messages, tool_choice, settings, streams=streams)
        constraint = self.constraint(tool_choice)
        settings = replace(settings, stop=(*settings.stop_texts(), *_ENDS.get(self.format, ())))
        encode_prompt = partial(self._encode_prompt, constraint, tool_choice)
        writes_answer_mark = self.format not in _OWN_ANSWERS
        return LocalRun(
            self._model,
            constraint,
            messages,
            settings,
            new_session=new_session,
            encode_prompt=encode_prompt,
            writes_answer_mark=writes_answer_mark,
        )

    def _begin_on_server(
        self, model: RemoteModel, messages: Prompt, tool_choice: str, settings: Settings, *, streams: bool
    ) -> Run[Any]:
        schema = reply_schema(self.toolbox, tool_choice, parallel=self._parallel)
        if tool_choice != "none" and self.toolbox.tools:
            system = SERVER_FORM.format(tools=self._rendered())
            settings = replace(settings, system=f"{settings.system}\n\n{system}" if settings.system else system)
        constraint = compile(schema, model.vocabulary, limits=self._limits, **self._reading)
        return ServerRun(model, constraint, self.adapted(messages), settings, streams=streams)

    def adapted(self, messages: Prompt) -> Prompt:
        """Return messages in which calls and results have the form that the chat template accepts.

        Args:
            messages: the conversation. Without calls and results, it is returned as it is.
        """
        if not has_calls(messages):
            return messages
        if isinstance(self._model, RemoteModel):
            return adapted(messages, TEXT_FORM, FALLBACK)
        if not self._is_native:
            return adapted(messages, TEXT_FORM, self.format)
        return adapted(messages, form_for(self._model, cast(str, self._template), self.format), self.format)

    def finished(self, result: Result[Any]) -> ToolReply:
        """Return the reply of a run that has ended."""
        reply: ToolReply = result.value
        reasoning = result.reasoning or reply.reasoning
        return replace(reply, reasoning=reasoning, finish_reason=result.finish_reason, usage=result.usage)

    def partial(self, text: str, messages: Prompt, tool_choice: str) -> ToolReply:
        """Return the reply of a text that goes on.

        Args:
            text: the text so far.
            messages: the conversation.
            tool_choice: see `call`.
        """
        parsed = self._parsed(text, tool_choice, partial=True)
        return self._reply(text, parsed, call_ids_of(messages), self._so_far)

    def constraint(self, tool_choice: str) -> Constraint[Any]:
        """Return the constraint of a reply of a local model.

        Args:
            tool_choice: see `call`.
        """
        if tool_choice not in self._constraints:
            vocabulary = cast(Model, self._model).vocabulary
            # The schemas as data: equal ones share what is compiled.
            tools = [replace(tool, parameters=self.toolbox.schemas[tool.name]) for tool in self.toolbox.tools]
            grammar = Grammar.tool_calls(
                tools,
                self.format,
                tool_choice=tool_choice,
                parallel=self._parallel,
                reasoning="outside",
                vocabulary=vocabulary,
            )
            self._constraints[tool_choice] = compile(grammar, vocabulary, limits=self._limits, **self._reading)
        return self._constraints[tool_choice]

    def _parsed(self, text: str, tool_choice: str, *, partial: bool = False) -> ParsedReply:
        if isinstance(self._model, RemoteModel):
            return read_object(text, partial=partial)
        schemas = {} if tool_choice == "none" else self.toolbox.schemas
        try:
            return read_reply(self.format, text, schemas, partial=partial)
        except RecursionError as error:
            if partial:  # raised at the end of the reply
                return ParsedReply("", [])
            raise LimitExceededError("schema_depth", Limits().schema_depth, message=TOO_DEEP) from error

    def _read(
        self, used_ids: Sequence[Any], tool_choice: str, validate: Callable[[Any], Any] | None, value: Any
    ) -> ToolReply:
        """Return the reply of a whole text, validated; `Settings.validate` of the run."""
        text = value if isinstance(value, str) else render(value)
        parsed = self._parsed(text, tool_choice)
        reply = self._reply(text, parsed, used_ids, self._validated)
        changed = validate(reply) if validate is not None else None
        if changed is not None and not isinstance(changed, ToolReply | bool):  # of a boolean, the run tells more
            raise TypeError(f"validate returned {changed!r}: it returns a ToolReply, or None")
        return reply if changed is None else cast(ToolReply, changed)

    def _reply(
        self, text: str, parsed: ParsedReply, used_ids: Sequence[Any], made: Callable[[ParsedCall, str], Any]
    ) -> ToolReply:
        """Return a reply, each call with an id that the conversation does not have; `made` makes a call with its id."""
        calls: dict[str, Any] = {}
        for index, one in enumerate(parsed.calls, len(used_ids)):
            # The id that the model wrote, unless the conversation has it already.
            ids = itertools.chain(
                [one.id], (call_id_of(self.format, one.name, number) for number in itertools.count(index))
            )
            own = next(found for found in ids if found and found not in calls and found not in used_ids)
            calls[own] = made(one, own)
        return ToolReply(parsed.text, tuple(calls.values()), parsed.reasoning, text, self.format)

    def _validated(self, parsed: ParsedCall, call_id: str) -> Any:
        try:
            return self.toolbox.call(parsed, call_id, self._settings.context)
        except REFUSALS as error:
            if self._keeps_refused:
                return self.toolbox.refused(parsed, call_id, error)
            raise

    def _so_far(self, parsed: ParsedCall, call_id: str) -> Any:
        try:
            return self.toolbox.call(parsed, call_id, self._settings.context)
        except REFUSALS as error:  # raised again at the end of the reply
            return self.toolbox.refused(parsed, call_id, error)

    def _encode_prompt(
        self, constraint: Constraint[Any], tool_choice: str, prompt: Prompt, settings: Settings
    ) -> tuple[Prompt, list[int]]:
        """Return the messages and the tokens of a prompt: with the tools, and in the template's form."""
        model, template = cast(Model, self._model), self._template
        variables = template_variables(template, settings)
        shows_tools = tool_choice != "none" and bool(self.toolbox.tools)
        shown_by = None if template is None else tools_variable(model, template)
        if shown_by is not None:
            if shows_tools or shown_by == "functions":  # that template fails without them
                tools = self.toolbox.definitions if shows_tools else []
                variables = {**tools_variables(shown_by, tools), **variables}
        elif shows_tools and not settings.raw:
            system = self._described(must=tool_choice != "auto")
            if not _has_system(prompt, system):  # a retry has it
                settings = replace(settings, system=f"{settings.system}\n\n{system}" if settings.system else system)
        whole = conversation(prompt, constraint, settings, describe=False)
        whole = self.adapted(whole)
        texts = texts_for(whole, template)
        if template is None:
            text = texts if isinstance(texts, str) else "\n\n".join(message["content"] for message in texts)
            return texts, model.encode_prompt(text, raw=True)
        # The messages of a retry are adapted again; those that were adapted before stay as they are.
        return as_messages(whole), model.encode_prompt(texts, **variables)

    def _described(self, *, must: bool) -> str:
        """Return the text for the system message that describes the tools and the format of calls."""
        example = write_reply(self.format, "", [ParsedCall("NAME", {"PARAMETER": "VALUE"})])
        return (_MUST if must else _MAY).format(tools=self._rendered(), example=example)

    def _rendered(self) -> str:
        return "\n".join(render(tool["function"]) for tool in self.toolbox.definitions)


def _has_system(prompt: Prompt, text: str) -> bool:
    """Return whether the system message of a prompt has a text."""
    if isinstance(prompt, str):
        return False
    return any(message["role"] == "system" and text in str(message.get("content")) for message in prompt[:1])


def tool_template(model: Any) -> str | None:
    """Return the chat template that a model uses for prompts with tools; None without one."""
    template: str | None = getattr(model, "tool_template", None) or model.chat_template
    return template
