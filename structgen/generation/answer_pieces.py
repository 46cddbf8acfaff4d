"""An answer under a schema in a reply that may call tools: the answer is the call of one more tool.

    tools, a schema ──▶ tools and `answer` ──▶ a reply of calls ──▶ calls of `answer` become text

So a model writes only calls, in the format of its family, and what it wrote is never both a call and an answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from structgen.errors import UnsupportedSchemaError
from structgen.generation.pieces import CallPieces, CallTexts, Outcome, Piece

__all__ = ["AnswerPieces", "answer_tool"]

_DESCRIPTION = "Give the final answer, when no other function is needed."


def answer_tool(schema: Any, taken: Collection[str]) -> dict[str, Any]:
    """Return the tool whose call is the answer, in OpenAI's form.

    Args:
        schema: the JSON Schema of the answer.
        taken: the names of the other tools.

    Raises:
        UnsupportedSchemaError: the answer need not be an object.
    """
    if not _is_object(schema):
        raise UnsupportedSchemaError(
            "beside tools, an answer is written as the arguments of a call, so it has to be an object",
            pointer="",
            keyword="type",
            hint="put the value into an object with one property",
        )
    name = "answer"
    while name in taken:
        name += "_"
    return {"type": "function", "function": {"name": name, "description": _DESCRIPTION, "parameters": schema}}


def _is_object(schema: Any) -> bool:
    """Return whether a schema, or the definition that it refers to, says `"type": "object"`."""
    if not isinstance(schema, Mapping):
        return False
    if "type" in schema or "$ref" not in schema:
        return bool(schema.get("type") == "object")
    keyword, _, name = str(schema["$ref"]).removeprefix("#/").partition("/")
    definitions = schema.get(keyword)
    target = definitions.get(name) if isinstance(definitions, Mapping) else None
    return isinstance(target, Mapping) and target.get("type") == "object"


class AnswerPieces:
    """The pieces of a reply, in which the call of one tool is the answer: it becomes text.

    Args:
        pieces: the pieces of the reply.
        name: the name of that tool.
    """

    def __init__(self, pieces: CallPieces, name: str) -> None:
        self._pieces = pieces
        self._name = name

    def __iter__(self) -> Iterator[Piece | Outcome]:
        texts, is_answered, written = CallTexts(), False, ""
        for item in self._pieces:
            if isinstance(item, Outcome):
                yield self._whole(item, written)
            elif item.call is None or item.call.name != self._name:
                yield item
            elif not is_answered:
                text = texts.more(item.call).text
                is_answered, written = item.call.is_complete, written + text
                if text:
                    yield Piece(text=text)

    def close(self) -> None:
        """End the run where it is, after the pass under way."""
        self._pieces.close()

    def _whole(self, outcome: Outcome, written: str) -> Outcome:
        calls = tuple(call for call in outcome.calls if call.name != self._name)
        reason = outcome.finish_reason if calls or outcome.finish_reason == "length" else "stop"
        return replace(outcome, text=outcome.text + written, calls=calls, finish_reason=reason)
