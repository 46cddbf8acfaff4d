"""Messages with tool calls and results, in the form that a model's chat template accepts.

Callers write OpenAI's form. Templates differ: some read the arguments as data and some as text, some take one call a
message, some write no calls at all. The form is found by trying: a conversation with two calls is rendered in each
form, and the first that shows names, arguments and results is used.

    assistant  tool_calls: [f, g]          assistant  tool_calls: [f]
    tool       result of f           ->    tool       result of f         (one call a message)
    tool       result of g                 assistant  tool_calls: [g]
                                           tool       result of g
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from structgen.errors import ModelError
from structgen.generation.prompts import texts_for
from structgen.generation.tools.messages import ParsedCall
from structgen.generation.tools.reading import write_reply
from structgen.models.base import as_messages

if TYPE_CHECKING:
    from structgen.models.base import Model

__all__ = ["Form", "adapted", "call_id_of", "call_ids_of", "form_for", "shown", "tools_variable", "tools_variables"]


_REASONING = "reasoning_content"  # the key of OpenAI-like servers, and of most templates


@dataclass(frozen=True, slots=True)
class Form:
    """A form of messages with calls and results.

    Attributes:
        as_data: whether the arguments are data, not JSON text.
        together: whether a message may have several calls.
        no_content: whether a message with calls has the content None, where it has no text.
        in_text: whether the calls stand in the content, as the model wrote them.
        by_user: whether results are messages of the user.
        reasoning: the key of the reasoning in a message.
    """

    as_data: bool = True
    together: bool = True
    no_content: bool = False
    in_text: bool = False
    by_user: bool = False
    reasoning: str = _REASONING


_FORMS = (
    Form(),
    Form(as_data=False),
    Form(no_content=True),
    Form(together=False),
    Form(together=False, as_data=False),
    Form(in_text=True),
    Form(in_text=True, by_user=True),
)
TEXT_FORM = _FORMS[-1]
"""The form for templates that know no tools."""

_RETURNED = "The result of {name} is: {result}."
_NEXT = " Now answer in plain text, or call another function."
_NAMES = ("probe_alpha", "probe_beta")
_TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"Describes {name}.",
            "parameters": {
                "type": "object",
                "properties": {"key": {"type": "string", "description": "A key."}},
                "required": ["key"],
            },
        },
    }
    for name in _NAMES
]
_found: dict[tuple[str, str], Form] = {}
_variables: dict[str, str | None] = {}
_VARIABLES = ("tools", "xml_tools", "functions")  # of chat templates; SmolLM 3 has the second, FireFunction the third
MAX_KNOWN = 256  # templates


def shown(model: Model, token_ids: Sequence[int]) -> str:
    """Return the text of tokens, without those that stand for no text."""
    vocabulary = model.vocabulary
    return b"".join(vocabulary.token_bytes(token_id) or b"" for token_id in token_ids).decode(errors="replace")


def tools_variable(model: Model, template: str) -> str | None:
    """Return the variable of a chat template that shows tools; None where there is none.

    Args:
        model: renders the template.
        template: the template's text.
    """
    if template not in _variables:
        found = next((name for name in _VARIABLES if name in template and _shows_tools(model, name)), None)
        _keep(_variables, template, found)
    return _variables[template]


def tools_variables(variable: str, definitions: Sequence[Any]) -> dict[str, Any]:
    """Return variables of a chat template that show tools.

    Args:
        variable: what `tools_variable` found. `functions` is a text, beside the day in `datetime`.
        definitions: the tools in OpenAI's form.
    """
    if variable != "functions":
        return {variable: definitions}
    functions = json.dumps([definition["function"] for definition in definitions], indent=4, ensure_ascii=False)
    return {"functions": functions, "datetime": datetime.date.today().isoformat()}


def _shows_tools(model: Model, variable: str) -> bool:
    """Return whether a model's chat template writes the tools that a variable has."""
    variables = tools_variables(variable, _TOOLS)
    try:
        text = shown(model, model.encode_prompt([{"role": "user", "content": "x"}], **variables))
    except Exception:  # a template may raise anything
        return False
    return all(name in text for name in _NAMES)


def form_for(model: Model, template: str, format: str) -> Form:
    """Return the form of messages that a chat template accepts.

    Args:
        model: renders the template.
        template: the template's text.
        format: the format of calls, for calls that stand in the content.

    Raises:
        ModelError: the template accepts none.
    """
    key = (template, format)
    known = _found.get(key)
    if known is not None:
        return known
    variable = tools_variable(model, template)
    tools = {} if variable is None else tools_variables(variable, _TOOLS)
    error: Exception | None = None
    for form in _FORMS:
        try:
            text = shown(model, model.encode_prompt(adapted(_probe(format), form, format), **tools))
        except Exception as caught:  # a template may raise anything
            error = caught
            continue
        if _is_whole(text):
            found = replace(form, reasoning=_reasoning_key(template))
            _keep(_found, key, found)
            return found
    raise ModelError(
        f"the chat template accepts no messages with tool calls and results: {error}",
        hint="pass another chat template, or messages with texts only",
    ) from error


def _reasoning_key(template: str) -> str:
    """Return the key of a message's reasoning that a chat template reads."""
    others = () if _REASONING in template else ("reasoning", "thinking")
    return next((key for key in others if f"message.{key}" in template), _REASONING)


def _is_whole(text: str) -> bool:
    """Return whether the text has the parts of the probe; templates may put quotes and escapes around them."""
    parts = ["value one", "value two", "result one", "result two", *_NAMES]
    return all(part in text for part in parts)


def _probe(format: str) -> list[dict[str, Any]]:
    arguments = [{"key": "value one"}, {"key": "value two"}]
    ids = [call_id_of(format, name, index) for index, name in enumerate(_NAMES)]
    calls = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": values}}
        for call_id, name, values in zip(ids, _NAMES, arguments)
    ]
    results = [
        {"role": "tool", "tool_call_id": call_id, "name": name, "content": f"result {number}"}
        for call_id, name, number in zip(ids, _NAMES, ("one", "two"))
    ]
    return [{"role": "user", "content": "x"}, {"role": "assistant", "content": "", "tool_calls": calls}, *results]


def call_id_of(format: str, name: str, index: int) -> str:
    """Return the id of a call: nine letters and digits, as Mistral's templates want them; Kimi has names in it.

    Args:
        format: the format of calls.
        name: the tool's name.
        index: the number of calls before it in the conversation.
    """
    return f"functions.{name}:{index}" if format == "kimi" else f"call{index:05}"


def call_ids_of(messages: Any) -> list[Any]:
    """Return the ids of the calls in a conversation; None for a call without an id."""
    calls = (
        [] if isinstance(messages, str) else [one for message in messages for one in message.get("tool_calls") or ()]
    )
    return [call.get("id") if isinstance(call, Mapping) else None for call in calls]


def has_calls(messages: Any) -> bool:
    """Return whether a prompt has tool calls or results of tools."""
    return not isinstance(messages, str) and any(
        message.get("tool_calls") or message.get("role") == "tool" for message in messages
    )


def adapted(messages: Any, form: Form, format: str) -> list[dict[str, Any]]:
    """Return messages in another form.

    Args:
        messages: a text, or messages in OpenAI's form.
        form: the form.
        format: the format of calls, for calls that stand in the content.
    """
    given = as_messages(messages)
    found: list[dict[str, Any]] = []
    taken: set[int] = set()
    for index, message in enumerate(given):
        if index in taken:
            continue
        if message.get("role") == "tool":
            made = _result(message, form, given)
            if form.by_user and index and given[index - 1].get("role") == "tool":
                # One message of the user: some templates want the roles to alternate.
                made["content"] = f"{found.pop()['content'].removesuffix(_NEXT)}\n{made['content']}"
            found.append(made)
        elif not message.get("tool_calls"):
            found.append(message)
        elif form.in_text:
            calls = [ParsedCall(*_name_and_arguments(call)) for call in message["tool_calls"]]
            kept = {key: value for key, value in message.items() if key != "tool_calls"}
            found.append({**kept, "content": write_reply(format, _text_of(message), calls)})
        elif form.together:
            found.append(_with_calls(message, message["tool_calls"], form, is_first=True))
        else:
            for number, call in enumerate(message["tool_calls"]):
                found.append(_with_calls(message, [call], form, is_first=not number))
                answer = _answer_to(call, given, index, taken)
                if answer is not None:
                    taken.add(answer)
                    found.append(_result(given[answer], form, given))
    return found


def _with_calls(message: dict[str, Any], calls: Sequence[Any], form: Form, *, is_first: bool) -> dict[str, Any]:
    content = (message.get("content") or "") if is_first else ""
    reasoning = message.get(_REASONING) if is_first else None
    made = []
    for call in calls:
        name, arguments = _name_and_arguments(call)
        written = arguments if form.as_data else json.dumps(arguments, ensure_ascii=False)
        made.append({**call, "type": "function", "function": {"name": name, "arguments": written}})
    whole = {key: value for key, value in message.items() if key != _REASONING}
    if reasoning and (form.reasoning == _REASONING or not content):  # gpt-oss takes one of the two
        whole[form.reasoning] = reasoning
    return {**whole, "content": None if form.no_content and not content else content, "tool_calls": made}


def _name_and_arguments(call: Any) -> tuple[str, dict[str, Any]]:
    """Return the name and the arguments of a call in OpenAI's form.

    Raises:
        ValueError: it has another form.
    """
    function = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise ValueError(f"a message's tool call has no function with a name: {repr(call)[:80]}")
    arguments = function.get("arguments") or {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"the arguments of a message's call of {function['name']} are not JSON: {error}"
            ) from error
    if not isinstance(arguments, Mapping):
        raise ValueError(f"the arguments of a message's call of {function['name']} are not an object")
    return function["name"], dict(arguments)


def _answer_to(
    call: Mapping[str, Any], messages: Sequence[Mapping[str, Any]], start: int, taken: Collection[int]
) -> int | None:
    """Return the index of the result of a call, apart from those of other calls; None where there is none."""
    for index in range(start + 1, len(messages)):
        if index in taken:
            continue
        if messages[index].get("role") == "tool" and messages[index].get("tool_call_id") == call.get("id"):
            return index
    return None


def _result(message: Mapping[str, Any], form: Form, messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the message of a result; with the tool's name, which OpenAI's form leaves out."""
    name = message.get("name") or _called(message.get("tool_call_id"), messages)
    if form.by_user:
        content = _RETURNED.format(name=name or "the call", result=_text_of(message))
        return {"role": "user", "content": content + _NEXT}
    return {**message, "name": name} if name else dict(message)


def _text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message, whose content may be a list of parts."""
    return str(cast(list[Any], texts_for([message], None))[0].get("content") or "")


def _called(call_id: Any, messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the name of the tool of a call; "" where there is no such call."""
    if call_id is None:
        return ""
    for message in messages:
        for call in message.get("tool_calls") or ():
            if isinstance(call, Mapping) and call.get("id") == call_id:
                return _name_and_arguments(call)[0]
    return ""


def _keep(known: dict[Any, Any], key: Any, value: Any) -> None:
    while len(known) >= MAX_KNOWN:
        known.pop(next(iter(known)), None)
    known[key] = value
