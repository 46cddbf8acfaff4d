"""The body of a request, read and checked: what to run, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from structgen.generation.settings import Reasoning, Settings
from structgen.integrations.serving.settings import check_option
from structgen.models.base import Prompt
from structgen.serving.constraints import FIELDS, Asked, asked_of
from structgen.serving.problems import RequestError

__all__ = [
    "Defaults",
    "Task",
    "chat_task",
    "check_fields",
    "completion_tasks",
    "field_of",
    "is_streamed",
    "messages_of",
    "options_of",
]

MAX_CHOICES = 16
MAX_TOP_LOGPROBS = 20
MAX_STOPS = 16
MAX_PROMPTS = 2048  # of one request; each is a task of its own
_RUN_OPTIONS = ("on_budget", "max_repeats")  # of the field `structgen`, beside those of schemas
# One such request would be many answers, of which a stream could show nothing until the last one.
_OF_WHOLE_ANSWERS = ("sampling", "particles", "num_beams")

# Fields that change nothing here: they name users, or choose what a hosted service does with a request.
_WITHOUT_EFFECT = (
    "user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key", "prompt_cache_retention",
    "verbosity", "model", "stream", "stream_options", "timeout",
)  # fmt: skip
# Fields that would change the answer and are not supported, with the values that change nothing.
_REFUSED: dict[str, tuple[Any, ...]] = {
    "modalities": (None, ["text"]),
    "prediction": (None,),
    "audio": (None,),
    "functions": (None,),
    "function_call": (None,),
    "web_search_options": (None,),
}
_SAMPLING = (
    "temperature", "top_p", "top_k", "seed", "stop", "max_tokens", "max_completion_tokens", "max_output_tokens", "n",
    "min_p", "frequency_penalty", "presence_penalty", "repetition_penalty", "logit_bias",
    "logprobs", "top_logprobs", "chat_template_kwargs", "reasoning", "reasoning_effort", "on_budget", "max_repeats",
    "structgen",
)  # fmt: skip
_FIELDS_OF_OPTIONS = {"max_new_tokens": "max_tokens", "template": "chat_template_kwargs"}
_CHAT = ("messages", "tools", "tool_choice", "parallel_tool_calls", *FIELDS)
_MESSAGE_KEYS = ("role", "content", "tool_calls", "tool_call_id", "name", "reasoning_content")


@dataclass(frozen=True, slots=True)
class Defaults:
    """The values that a server uses for fields that a request leaves out.

    Attributes:
        max_tokens: the budget of an answer.
        reasons: whether the model has marks of reasoning.
    """

    max_tokens: int = 1024
    reasons: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """One answer to write.

    Attributes:
        prompt: messages or a text.
        asked: the constraint; None for free text. With tools, the model calls tools, or answers under the constraint.
        options: the options of the run; see `structgen.settings.GenerationOptions`.
        reading: the options of the constraint; see `structgen.settings.ConstraintOptions`.
        tools: tools in OpenAI's form; None without them.
        tool_choice: see `structgen.call`.
        parallel: whether there may be several calls.
        top_logprobs: the number of likely tokens to report for each position; None to report none.
    """

    prompt: Prompt
    asked: Asked | None
    options: dict[str, Any] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    tools: Sequence[Any] | None = None
    tool_choice: str = "auto"
    parallel: bool = True
    top_logprobs: int | None = None


def chat_task(body: Mapping[str, Any], defaults: Defaults) -> tuple[Task, int]:
    """Read a request of /v1/chat/completions.

    Args:
        body: the request.
        defaults: the values for fields that the request leaves out.

    Returns:
        The task, and the number of answers.

    Raises:
        RequestError: a field is wrong, unknown or not supported.
    """
    check_fields(body, (*_CHAT, *_SAMPLING))
    options, count = options_of(body, defaults)
    asked = asked_of(body)
    tools = body.get("tools") or None
    if tools is not None and not isinstance(tools, list):
        raise RequestError("tools is a list", param="tools")
    choice = _tool_choice(body.get("tool_choice"), tools)
    if tools and asked is not None and choice == "none":
        tools = None
    top = _top_logprobs(body)
    if tools and top is not None:
        raise RequestError("logprobs are not supported together with tools", param="logprobs")
    parallel = _typed(body, "parallel_tool_calls", bool, True)
    task = Task(
        messages_of(body.get("messages")), asked, options, _own_options(body, options), tools, choice, parallel, top
    )
    return task, count


def completion_tasks(body: Mapping[str, Any], defaults: Defaults) -> tuple[list[Task], int]:
    """Read a request of /v1/completions; see `chat_task`. There is one task for each prompt."""
    check_fields(body, ("prompt", *_SAMPLING, *FIELDS))
    prompts = body.get("prompt")
    prompts = [prompts] if isinstance(prompts, str) else prompts
    if not isinstance(prompts, list) or not all(isinstance(one, str) and one for one in prompts):
        raise RequestError("a prompt is a text, or a list of texts, none of them empty", param="prompt")
    if not 1 <= len(prompts) <= MAX_PROMPTS:
        raise RequestError(f"a request has 1 to {MAX_PROMPTS} prompts, not {len(prompts)}", param="prompt")
    wanted = body.get("logprobs")
    if wanted is not None and wanted is not False:  # 0 asks for those of the text's tokens
        raise RequestError("logprobs are not supported here; /v1/chat/completions has them", param="logprobs")
    options, count = options_of(body, defaults)
    options.pop("reasoning", None)
    asked, reading = asked_of(body), _own_options(body, options)
    return [Task(prompt, asked, {**options, "raw": True}, reading) for prompt in prompts], count


def options_of(body: Mapping[str, Any], defaults: Defaults) -> tuple[dict[str, Any], int]:
    """Return the options of a run, and the number of answers.

    Args:
        body: the request.
        defaults: the values for fields that the request leaves out.

    Raises:
        RequestError: a value is of another type, or out of its range.
    """
    options: dict[str, Any] = {"max_new_tokens": _max_tokens(body, defaults)}
    temperature = _typed(body, "temperature", float, None)
    top_p, top_k = _typed(body, "top_p", float, None), _typed(body, "top_k", int, None)
    options["temperature"] = temperature if temperature is not None else 1.0 if top_p not in (None, 1) else 0.0
    if options["temperature"] > 0:  # at 0 the filters change nothing
        min_p = _typed(body, "min_p", float, None)
        options |= {"top_p": top_p, "top_k": None if top_k in (0, -1) else top_k, "min_p": min_p or None}
    for name, none in (("frequency_penalty", 0.0), ("presence_penalty", 0.0), ("repetition_penalty", 1.0)):
        options[name] = _typed(body, name, float, none)
    options["logit_bias"] = _biases(body)
    options["seed"] = _typed(body, "seed", int, None)
    options["stop"] = _stops(body.get("stop"))
    options["template"] = _typed(body, "chat_template_kwargs", dict, {})
    if body.get("on_budget") is not None:
        options["on_budget"] = body["on_budget"]
    if "max_repeats" in body:
        options["max_repeats"] = body["max_repeats"]
    reasoning = _reasoning(body, defaults)
    if reasoning is not None:
        options["reasoning"] = reasoning
    _check_options(options)
    count = _typed(body, "n", int, 1)
    if not 1 <= count <= MAX_CHOICES:
        raise RequestError(f"n is a number from 1 to {MAX_CHOICES}", param="n")
    return options, count


def _check_options(options: dict[str, Any]) -> None:
    """Check the values of options; the error names the field of the request."""
    try:
        Settings(**options)
    except (ValueError, TypeError) as error:
        raise RequestError(str(error), param=field_of(error, options)) from error


def is_streamed(body: Mapping[str, Any]) -> bool:
    """Return whether a request asks for a stream.

    Raises:
        RequestError: its field is no boolean.
    """
    return bool(_typed(body, "stream", bool, False))


def field_of(error: Exception, options: Mapping[str, Any]) -> str | None:
    """Return the field of the option that an error of options begins with; None for other errors."""
    option = str(error).partition(" ")[0]
    return _FIELDS_OF_OPTIONS.get(option, option) if option in options else None


def _own_options(body: Mapping[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of the constraint in the field `structgen`; add those of the run to `options`."""
    reading: dict[str, Any] = {}
    _refuse_whole_answers(_typed(body, "structgen", dict, {}), "structgen.")
    for name, value in _typed(body, "structgen", dict, {}).items():
        try:
            if name in _RUN_OPTIONS:
                options[name] = value
                Settings(**{name: value})
            else:
                check_option(name, value)
                reading[name] = value
        except (ValueError, TypeError) as error:
            raise RequestError(str(error), param=f"structgen.{name}") from error
    return reading


def _biases(body: Mapping[str, Any]) -> dict[int, float]:
    given = _typed(body, "logit_bias", dict, {})
    try:
        return {int(token): float(bias) for token, bias in given.items()}
    except (TypeError, ValueError, OverflowError):
        raise RequestError("logit_bias maps token ids to numbers", param="logit_bias") from None


def check_fields(body: Mapping[str, Any], known: Sequence[str]) -> None:
    """Refuse unknown and unsupported fields by name.

    Args:
        body: the request.
        known: the fields that are read.
    """
    _refuse_whole_answers(body, "")
    for name, value in body.items():
        if name in _REFUSED:
            if value not in _REFUSED[name]:
                raise RequestError(f"{name} is not supported by this server", param=name, code="unsupported")
        elif name not in known and name not in _WITHOUT_EFFECT and value is not None:
            raise RequestError(f"unknown field {name!r}", param=name, code="unknown_field")


def _refuse_whole_answers(fields: Mapping[str, Any], prefix: str) -> None:
    """Refuse the options that compare whole answers."""
    for name in _OF_WHOLE_ANSWERS:
        if fields.get(name) not in (None, 1):
            raise RequestError(
                f"{name} is not supported by this server: it compares whole answers. structgen.generate and "
                "structgen.sample have it in Python; n=… gives several answers here",
                param=f"{prefix}{name}",
                code="unsupported",
            )


def messages_of(messages: Any) -> list[dict[str, Any]]:
    """Return the messages of a chat, with the fields that templates know.

    Args:
        messages: messages in OpenAI's form.

    Raises:
        RequestError: they have another form, or parts that are no text.
    """
    if not isinstance(messages, list) or not messages:
        raise RequestError("messages is a list with at least one message", param="messages")
    found = []
    for index, message in enumerate(messages):
        param = f"messages[{index}]"
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise RequestError("a message is an object with a role", param=param)
        one = {key: message[key] for key in _MESSAGE_KEYS if message.get(key) is not None}
        if one["role"] == "developer":
            one["role"] = "system"  # the newer name
        one["content"] = _content(message.get("content"), f"{param}.content")
        found.append(one)
    return found


def _content(content: Any, param: str) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise RequestError("a content is a text, or a list of parts", param=param)
    texts = []
    for index, part in enumerate(content):
        text = part.get("text") if isinstance(part, Mapping) else None
        if not isinstance(text, str):
            kind = part.get("type") if isinstance(part, Mapping) else part
            raise RequestError(f"only parts of text are read, not {kind!r}", param=f"{param}[{index}]")
        texts.append(text)
    return "\n".join(texts)


def _tool_choice(choice: Any, tools: Sequence[Any] | None) -> str:
    if choice is None:
        return "auto" if tools else "none"
    if choice in ("auto", "none"):
        return str(choice)
    name = "required" if choice == "required" else _chosen_name(choice)
    if not tools:
        raise RequestError("this tool_choice needs tools", param="tool_choice")
    return name


def _chosen_name(choice: Any) -> str:
    """Return the name of the tool that has to be called."""
    if isinstance(choice, Mapping) and choice.get("type") == "function":
        function = choice.get("function") or choice
        name = function.get("name") if isinstance(function, Mapping) else None
        if name in ("auto", "none", "required"):
            raise RequestError(f"a tool that is called {name!r} cannot be chosen by its name", param="tool_choice")
        if isinstance(name, str):
            return name
    known = "'auto', 'none', 'required' or {'type': 'function', 'function': {'name': …}}"
    raise RequestError(f"tool_choice is {known}", param="tool_choice")


def _top_logprobs(body: Mapping[str, Any]) -> int | None:
    count: int = _typed(body, "top_logprobs", int, 0)
    if not _typed(body, "logprobs", bool, False):
        if count:
            raise RequestError("top_logprobs needs logprobs: true", param="top_logprobs")
        return None
    if not 0 <= count <= MAX_TOP_LOGPROBS:
        raise RequestError(f"top_logprobs is a number from 0 to {MAX_TOP_LOGPROBS}", param="top_logprobs")
    return count


def _max_tokens(body: Mapping[str, Any], defaults: Defaults) -> int:
    for name in ("max_completion_tokens", "max_output_tokens", "max_tokens"):
        count: int | None = _typed(body, name, int, None)
        if count is not None:
            if count < 1:
                raise RequestError(f"{name} is at least 1", param=name)
            return count
    return defaults.max_tokens


def _reasoning(body: Mapping[str, Any], defaults: Defaults) -> Any:
    """Return the reasoning that is asked for. An effort asks for it only of models that have marks of it."""
    asked = body.get("reasoning")
    if isinstance(asked, Mapping):
        most: int | None = _typed(asked, "max_tokens", int, None, "reasoning.")
        if most is not None:
            if most < 0:
                raise RequestError("max_tokens is at least 0", param="reasoning.max_tokens")
            return Reasoning(max_tokens=most)
        asked = _typed(asked, "effort", str, "none", "reasoning.") != "none" and defaults.reasons
    elif asked is None:
        asked = _typed(body, "reasoning_effort", str, "none") != "none" and defaults.reasons
    if not isinstance(asked, bool):
        raise RequestError("reasoning is true, false or {'max_tokens': N}", param="reasoning")
    return asked or None


def _stops(stop: Any) -> tuple[str, ...]:
    stops = (stop,) if isinstance(stop, str) else tuple(stop or ()) if isinstance(stop, list | None) else None
    if stops is None or len(stops) > MAX_STOPS or not all(isinstance(one, str) and one for one in stops):
        raise RequestError(f"stop is a text, or a list of at most {MAX_STOPS} texts", param="stop")
    return stops


def _typed(body: Mapping[str, Any], name: str, kind: type, default: Any, inside: str = "") -> Any:
    value = body.get(name)
    if value is None:
        return default
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number if kind is float else isinstance(value, kind) and (kind is bool or not isinstance(value, bool))):
        wanted = f"{name} is of the type {kind.__name__}, not {type(value).__name__}"
        raise RequestError(wanted, param=f"{inside}{name}")
    try:
        return float(value) if kind is float else value
    except OverflowError:
        raise RequestError(f"{name} is too large", param=f"{inside}{name}") from None
