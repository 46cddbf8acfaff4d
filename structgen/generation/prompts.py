"""What a model is asked: messages of a prompt, a system text, examples, a description of the schema, and errors."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pydantic_core

from structgen.compilation.constraint import Constraint
from structgen.errors import ModelError
from structgen.models.base import Prompt, as_messages

if TYPE_CHECKING:
    from structgen.generation.settings import Settings
    from structgen.models.base import Model

__all__ = ["conversation", "encode", "render", "with_errors"]

_DESCRIPTION = "Answer with one JSON value that fits this JSON Schema:\n{schema}"
_READS_PARTS = re.compile(r"""\[['"]text['"]\]|\.text\b""")  # of a content's parts; templates write both
_ERRORS = "This answer is not accepted:\n{errors}\nAnswer again, with all of it corrected."


def conversation(prompt: Prompt, constraint: Constraint[Any], settings: Settings, *, describe: bool) -> Prompt:
    """The prompt with what the settings put before it: as it is where they put nothing.

    Args:
        prompt: a text or messages.
        constraint: of the answer; examples are written as it wants them.
        settings: `system` and `examples`.
        describe: whether to tell the schema in the system message.

    Raises:
        TypeError: the prompt is something else; messages with `raw`.
        ValueError: a message has no role or nothing to say, or half of a surrogate pair in it; an example's answer does
            not fit the schema.
    """
    _check(prompt)
    if settings.raw and not isinstance(prompt, str):
        raise TypeError("with raw=True the prompt is a text, not a list of messages")
    asked = _conversation(prompt, constraint, settings, describe=describe)
    _check_characters(asked)
    return asked


def _conversation(prompt: Prompt, constraint: Constraint[Any], settings: Settings, *, describe: bool) -> Prompt:
    system = [settings.system] if settings.system else []
    if describe and constraint.source is not None:
        system.append(_DESCRIPTION.format(schema=render(constraint.source.plain_schema)))
    if not system and not settings.examples:
        return prompt
    messages = as_messages(prompt)
    before = [{"role": "system", "content": "\n\n".join(system)}] if system else []
    if messages and messages[0]["role"] == "system":
        own = messages.pop(0)["content"]
        before = [{"role": "system", "content": _joined(system, own)}]
    for index, (question, answer) in enumerate(settings.examples):
        before += [*_question(question), {"role": "assistant", "content": _example(answer, constraint, index)}]
    return [*before, *messages]


def _check(prompt: Any) -> None:
    if isinstance(prompt, str):
        return
    if not isinstance(prompt, Sequence) or not all(isinstance(message, Mapping) for message in prompt):
        shown = type(prompt).__name__ if not isinstance(prompt, Sequence) else repr(prompt)[:80]
        raise TypeError(f"a prompt is a text, or a list of messages with role and content, not {shown}")
    if not prompt:
        raise ValueError("a prompt of no messages")
    for index, message in enumerate(prompt):
        if not isinstance(message.get("role"), str):
            raise ValueError(f"message {index} has no role: {repr(message)[:80]}")
        if message.get("content") is None and not message.get("tool_calls"):
            raise ValueError(f"message {index} has no content: {repr(message)[:80]}")


def _check_characters(asked: Prompt) -> None:
    for message in as_messages(asked):
        for _, text in _parts(message.get("content")):
            try:
                (text or "").encode()
            except UnicodeEncodeError as error:
                found = f"{error.object[error.start]!r} at character {error.start}"
                raise ValueError(f"a prompt with half of a surrogate pair, which is no text: {found}") from error


def _parts(content: Any) -> list[tuple[str, str | None]]:
    """The parts of a message's content: their types, and their texts if they are texts."""
    if not isinstance(content, list | tuple):
        return [("text", content)] if isinstance(content, str) else []
    found: list[tuple[str, str | None]] = []
    for part in content:
        text = part.get("text") if isinstance(part, Mapping) else None
        kind = part.get("type") if isinstance(part, Mapping) else type(part).__name__
        found.append((str(kind), text if isinstance(text, str) else None))
    return found


def _as_texts(messages: Prompt, template: str | None) -> Prompt:
    """Messages for a local model, which reads text alone; parts are joined for a template that knows of none.

    Raises:
        ModelError: a part is something else.
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
                f"a message has a part of type {kind!r}, and the model reads text only",
                hint="a server may read it: structgen.from_openai",
            )
        texts.append(text)
    return {**message, "content": "\n".join(texts)} if is_joined and texts else message


def _joined(system: list[str], own: Any) -> Any:
    """A system message behind the texts of the settings; its content may be parts."""
    if isinstance(own, str):
        return "\n\n".join([*system, own])
    return [*({"type": "text", "text": text} for text in system), *own]


def with_errors(prompt: Prompt, answer: str, error: Exception, *, as_text: bool) -> Prompt:
    """The prompt, the answer that was refused, and why: what a retry is asked.

    Args:
        prompt: what was asked, as `encode` gave it.
        answer: the answer's text.
        error: what is wrong with it.
        as_text: for a model that reads no messages.
    """
    errors = _ERRORS.format(errors=_described(error))
    if as_text and isinstance(prompt, str):
        return f"{prompt}{answer}\n\n{errors}\n\n"
    return [*as_messages(prompt), {"role": "assistant", "content": answer}, {"role": "user", "content": errors}]


def render(value: Any) -> str:
    """A value as JSON: aliases as keys, characters as they are."""
    return json.dumps(pydantic_core.to_jsonable_python(value, by_alias=True), ensure_ascii=False)


def encode(model: Model, prompt: Prompt, constraint: Constraint[Any], settings: Settings) -> tuple[Prompt, list[int]]:
    """The messages of a run, and their tokens.

    A text for a model without a chat template goes as it is, and what comes before it in lines of its own.
    """
    template = None if settings.raw else model.chat_template
    if template is None and isinstance(prompt, str):
        asked = conversation(prompt, constraint, settings, describe=settings.describe_schema)
        asked = _as_texts(asked, None)
        text = asked if isinstance(asked, str) else "\n\n".join(message["content"] for message in asked)
        return text, model.encode_prompt(text, raw=True)
    if settings.describe_schema and template and "json_schema" in template and constraint.source is not None:
        messages = _as_texts(conversation(prompt, constraint, settings, describe=False), template)
        return messages, model.encode_prompt(messages, json_schema=constraint.source.plain_schema)
    messages = _as_texts(conversation(prompt, constraint, settings, describe=settings.describe_schema), template)
    return messages, model.encode_prompt(messages, raw=settings.raw)


def _question(question: Any) -> list[dict[str, Any]]:
    """An example's input as messages; data as JSON."""
    is_messages = isinstance(question, Sequence) and all(isinstance(message, Mapping) for message in question)
    return as_messages(question if isinstance(question, str) or is_messages else render(question))


def _example(answer: Any, constraint: Constraint[Any], index: int) -> str:
    """An example's answer as a text of the constraint."""
    from structgen.generation.example_texts import text_of  # with Pydantic; a prompt alone does without

    try:
        return text_of(constraint.prepared.pieces(answer), constraint.grammar)
    except ValueError as error:
        raise ValueError(f"the answer of example {index} does not fit the schema: {error}") from error


def _described(error: Exception) -> str:
    """What was wrong, for the model: places and messages, without links and inputs."""
    errors = getattr(error, "errors", None)
    if not callable(errors):
        return str(getattr(error, "message", error)) or type(error).__name__
    lines = []
    for one in errors(include_url=False, include_context=False, include_input=False):
        place = ".".join(map(str, one["loc"]))
        lines.append(f"- {place}: {one['msg']}" if place else f"- {one['msg']}")
    return "\n".join(lines)
