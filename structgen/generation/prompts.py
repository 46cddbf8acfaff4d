"""The prompt of a run: messages, a system text, examples, a description of the schema, and errors of earlier attempts.

The messages in order:

    system             `system`, the schema with `describe_schema`, the prompt's own system message
    user, assistant    each pair of `examples`
    user …             the prompt
    assistant, user    in a retry: the refused answer, and its errors

Raw prompts and models without a chat template get text instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import pydantic_core

from structgen.compilation.constraint import Constraint
from structgen.errors import ModelError
from structgen.models.base import Prompt, as_messages

if TYPE_CHECKING:
    from structgen.generation.settings import Settings
    from structgen.models.base import Model

__all__ = [
    "check_prompt",
    "conversation",
    "encode",
    "render",
    "template_variables",
    "text_for",
    "texts_for",
    "with_errors",
]

_DESCRIPTION = "Answer with one {form} that fits this JSON Schema:\n{schema}"
_READS_PARTS = re.compile(r"""\[['"]text['"]\]|\.text\b""")  # the two ways in which templates read parts of a content
_ERRORS = "This answer is not accepted:\n{errors}\nAnswer again, with all of it corrected."


def conversation(prompt: Prompt, constraint: Constraint[Any], settings: Settings, *, describe: bool) -> Prompt:
    """Return the prompt with the messages that the settings add; unchanged where they add none.

    Args:
        prompt: a text or messages.
        constraint: the constraint of the answer; the answers of examples are written in its form.
        settings: `system` and `examples`.
        describe: whether to describe the schema in the system message.

    Raises:
        TypeError: the prompt is neither a text nor messages, or messages with `raw`.
        ValueError: a message has no role or no content, or contains half of a surrogate pair; or an example's answer
            does not fit the schema.
    """
    check_prompt(prompt)
    if settings.raw and not isinstance(prompt, str):
        raise TypeError("with raw=True the prompt is a text, not a list of messages")
    whole = _conversation(prompt, constraint, settings, describe=describe)
    _check_characters(whole)
    return whole


def _conversation(prompt: Prompt, constraint: Constraint[Any], settings: Settings, *, describe: bool) -> Prompt:
    system = [settings.system] if settings.system else []
    if describe and constraint.source is not None:
        form = "value in block-style YAML" if constraint.is_yaml else "JSON value"
        system.append(_DESCRIPTION.format(form=form, schema=render(constraint.source.plain_schema)))
    if not system and not settings.examples:
        return prompt
    messages = as_messages(prompt)
    before = [{"role": "system", "content": "\n\n".join(system)}] if system else []
    if messages and messages[0]["role"] == "system":
        own = messages.pop(0)["content"]
        before = [{"role": "system", "content": _joined(system, own)}]
    for index, (question, answer) in enumerate(settings.examples):
        what = f"the answer of example {index}"
        before += [*_question(question), {"role": "assistant", "content": text_for(answer, constraint, what)}]
    return [*before, *messages]


_ROLES = ("user", "system", "assistant", "tool", "developer")


def check_prompt(prompt: Any) -> None:
    """Check that a prompt is a text, or messages with a role and a content.

    Args:
        prompt: the prompt.

    Raises:
        TypeError: it is neither.
        ValueError: a message has no role or no content, or one of another kind.
    """
    if isinstance(prompt, str):
        return
    if not isinstance(prompt, Sequence) or not all(isinstance(message, Mapping) for message in prompt):
        shown = type(prompt).__name__ if not isinstance(prompt, Sequence) else repr(prompt)[:80]
        several = isinstance(prompt, Sequence) and all(isinstance(each, str) for each in prompt)
        hint = "; structgen.batch answers several prompts" if several and not isinstance(prompt, bytes) else ""
        raise TypeError(f"a prompt is a text, or a list of messages with role and content, not {shown}{hint}")
    if not prompt:
        raise ValueError("the prompt has no messages")
    for index, message in enumerate(prompt):
        if not isinstance(message.get("role"), str):
            raise ValueError(f"message {index} has no role: {repr(message)[:80]}")
        close = get_close_matches(message["role"], _ROLES, n=1)
        if close and close[0] != message["role"]:  # templates may have roles of their own, far from these
            raise ValueError(f"message {index} has the role {message['role']!r}: did you mean {close[0]!r}?")
        if message.get("content") is None and not message.get("tool_calls"):
            raise ValueError(f"message {index} has no content: {repr(message)[:80]}")
        if not isinstance(message.get("tool_calls") or [], list | tuple):
            raise ValueError(f"message {index} has tool_calls that are no list: {repr(message['tool_calls'])[:80]}")
        if isinstance(message.get("content"), bool | int | float | bytes | Mapping):
            shown = repr(message["content"])[:80]
            raise ValueError(f"message {index} has the content {shown}: a text, or a list of parts, is needed")


def _check_characters(whole: Prompt) -> None:
    for message in as_messages(whole):
        for _, text in _parts(message.get("content")):
            try:
                (text or "").encode()
            except UnicodeEncodeError as error:
                found = f"{error.object[error.start]!r} at character {error.start}"
                raise ValueError(f"the prompt contains half of a surrogate pair: {found}") from error


def _parts(content: Any) -> list[tuple[str, str | None]]:
    """Return the parts of a message's content: their types, and their texts or None."""
    if not isinstance(content, list | tuple):
        return [("text", content)] if isinstance(content, str) else []
    found: list[tuple[str, str | None]] = []
    for part in content:
        text = part.get("text") if isinstance(part, Mapping) else None
        kind = part.get("type") if isinstance(part, Mapping) else type(part).__name__
        found.append((str(kind), text if isinstance(text, str) else None))
    return found


def texts_for(messages: Prompt, template: str | None) -> Prompt:
    """Return messages for a local model, which reads only text; join the parts where the template does not read parts.

    Args:
        messages: a text or messages.
        template: the chat template; None without one.

    Raises:
        ModelError: a part is not text.
    """
    if isinstance(messages, str):
        return messages
    is_joined = template is None or not _READS_PARTS.search(template)
    return [_as_text(message, is_joined=is_joined) for message in messages]


def _as_text(message: Mapping[str, Any], *, is_joined: bool) -> Mapping[str, Any]:
    texts: list[str] = []
    for kind, text in _parts(message.get("content")):
        if text is None:
            raise ModelError(
                f"a message has a part of type {kind!r}, but the model reads only text",
                hint="a server may read it: structgen.from_openai",
            )
        texts.append(text)
    return {**message, "content": "\n".join(texts)} if is_joined and texts else message


def _joined(system: list[str], own: Any) -> Any:
    """Return a system message's content after the texts of the settings; the content may be parts."""
    if isinstance(own, str):
        return "\n\n".join([*system, own])
    return [*({"type": "text", "text": text} for text in system), *own]


def with_errors(prompt: Prompt, answer: str, error: Exception, *, as_text: bool) -> Prompt:
    """Return the prompt of a retry: the prompt, the refused answer, and the errors.

    Args:
        prompt: the prompt of the attempt, as `encode` returned it.
        answer: the answer's text.
        error: the error of its validation.
        as_text: whether the model reads no messages.
    """
    errors = _ERRORS.format(errors=_described(error))
    if as_text and isinstance(prompt, str):
        return f"{prompt}{answer}\n\n{errors}\n\n"
    return [*as_messages(prompt), {"role": "assistant", "content": answer}, {"role": "user", "content": errors}]


def render(value: Any) -> str:
    """Return a value as JSON: aliases as keys, no characters escaped."""
    return json.dumps(pydantic_core.to_jsonable_python(value, by_alias=True), ensure_ascii=False)


def encode(model: Model, prompt: Prompt, constraint: Constraint[Any], settings: Settings) -> tuple[Prompt, list[int]]:
    """Return the messages of a run, and their tokens.

    For a model without a chat template a text stays as it is; the texts before it are paragraphs of their own.

    Args:
        model: the model.
        prompt: a text or messages.
        constraint: the constraint of the answer.
        settings: the settings of the run.

    Raises:
        ValueError: the chat template has no variable of a name in `template`.
    """
    template = None if settings.raw else model.chat_template
    variables = template_variables(template, settings)
    if template is None and isinstance(prompt, str):
        whole = conversation(prompt, constraint, settings, describe=settings.describe_schema)
        whole = texts_for(whole, None)
        text = whole if isinstance(whole, str) else "\n\n".join(message["content"] for message in whole)
        return text, model.encode_prompt(text, raw=True)
    describe = settings.describe_schema
    if describe and template and "json_schema" in template and constraint.source and constraint.is_json:
        describe, variables = False, {"json_schema": constraint.source.plain_schema, **variables}
    messages = texts_for(conversation(prompt, constraint, settings, describe=describe), template)
    return messages, model.encode_prompt(messages, raw=settings.raw, **variables)


# Variables of chat templates that let the model reason: a value, and a word that such templates have.
_REASONING_VARIABLES: dict[str, tuple[Any, str]] = {
    "enable_thinking": (True, "enable_thinking"),
    "thinking": (True, "thinking"),
    "reasoning": (True, "GCML"),  # GigaChat 3.5
    "reasoning_effort": ("high", "no_think"),  # the default of Hunyuan's template; other templates reason by default
}


def template_variables(template: str | None, settings: Settings) -> dict[str, Any]:
    """Return the variables for the chat template: the caller's, and with `reasoning` those that let models reason.

    Args:
        template: the chat template; None without one.
        settings: `template` and `reasoning`.

    Raises:
        ValueError: the template has no variable of a name in `template`.
    """
    names = set(re.findall(r"\w+", template or ""))
    for name in settings.template:
        if name not in names:
            where = "the model has no chat template" if template is None else "the chat template has no such variable"
            close = get_close_matches(name, names, n=1, cutoff=0.8)
            also = f": did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"template sets {name!r}, but {where}{also}")
    found = {}
    if settings.asked_reasoning() is not None:
        found = {name: value for name, (value, told_by) in _REASONING_VARIABLES.items() if {name, told_by} <= names}
    return {**found, **settings.template}


def _question(question: Any) -> list[dict[str, Any]]:
    """Return an example's input as messages; data is written as JSON."""
    is_messages = isinstance(question, Sequence) and all(isinstance(message, Mapping) for message in question)
    return as_messages(question if isinstance(question, str) or is_messages else render(question))


def text_for(value: Any, constraint: Constraint[Any], what: str) -> str:
    """Return the text of a value under a constraint, as a model would have to write it.

    Args:
        value: an instance or data of a schema, or a text.
        constraint: the constraint.
        what: what the value is, for the error.

    Raises:
        ValueError: the value does not fit.
    """
    # Both import Pydantic, which only given values need.
    from structgen.generation.example_texts import text_of
    from structgen.generation.yaml_examples import yaml_text_of

    try:
        if constraint.is_yaml:
            return yaml_text_of(value, constraint)
        return text_of(constraint.prepared.pieces(value), constraint.grammar, constraint.matcher().reasons_of)
    except ValueError as error:
        raise ValueError(f"{what} does not fit the schema: {error}") from error


def _described(error: Exception) -> str:
    """Return an error's description for the model: locations and messages, without links and inputs."""
    errors = getattr(error, "errors", None)
    if not callable(errors):
        return str(getattr(error, "message", error)) or type(error).__name__
    lines = []
    for one in errors(include_url=False, include_context=False, include_input=False):
        location = ".".join(map(str, one["loc"]))
        lines.append(f"- {location}: {one['msg']}" if location else f"- {one['msg']}")
    return "\n".join(lines)
