"""/v1/chat/completions: outcomes and pieces as bodies and chunks in OpenAI's form."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import Any

from structgen.generation.pieces import CallText, CallTexts, Outcome, Piece
from structgen.generation.tools.results import ToolCall

__all__ = ["chunks", "completion", "id_of", "usage_of"]


def id_of(prefix: str) -> str:
    """Return a new id, such as `chatcmpl-…`."""
    return f"{prefix}{uuid.uuid4().hex[:24]}"


def usage_of(outcomes: Sequence[Outcome], *, per_prompt: int = 1) -> dict[str, Any]:
    """Return the usage of some outcomes together.

    Args:
        outcomes: the outcomes.
        per_prompt: the number of outcomes of each prompt, which is counted once.
    """
    prompt = sum(outcome.prompt_tokens for outcome in outcomes[::per_prompt])
    completion = sum(outcome.completion_tokens for outcome in outcomes)
    reasoning = sum(outcome.reasoning_tokens for outcome in outcomes)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


def completion(model: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the body of a whole chat completion.

    Args:
        model: the name of the model.
        outcomes: one for each choice.
    """
    return {
        "id": id_of("chatcmpl-"),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [_choice(index, outcome) for index, outcome in enumerate(outcomes)],
        "usage": usage_of(outcomes, per_prompt=len(outcomes)),
    }


def _choice(index: int, outcome: Outcome) -> dict[str, Any]:
    content = outcome.text if outcome.text or not outcome.calls else None
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None}
    if outcome.reasoning:
        message["reasoning_content"] = outcome.reasoning
    if outcome.calls:
        message["tool_calls"] = [_call(call) for call in outcome.calls]
    logprobs = None if outcome.logprobs is None else {"content": outcome.logprobs, "refusal": None}
    return {"index": index, "message": message, "finish_reason": outcome.finish_reason, "logprobs": logprobs}


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.source}}


async def chunks(
    model: str, pieces: AsyncGenerator[tuple[int, Piece | Outcome]], count: int, options: Mapping[str, Any]
) -> AsyncGenerator[dict[str, Any]]:
    """Yield the chunks of a streamed chat completion.

    Args:
        model: the name of the model.
        pieces: what the choices write.
        count: the number of choices.
        options: `stream_options` of the request.
    """
    common = {
        "id": id_of("chatcmpl-"),
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": model,
    }
    has_usage = bool(options.get("include_usage"))
    if has_usage:
        common["usage"] = None
    outcomes: dict[int, Outcome] = {}
    calls = [CallTexts() for _ in range(count)]
    begun: set[int] = set()
    async for index, item in pieces:
        if index not in begun:
            begun.add(index)
            yield {**common, "choices": [_delta(index, {"role": "assistant", "content": ""})]}
        if isinstance(item, Outcome):
            outcomes[index] = item
            last = _delta(index, {}, item.finish_reason)
            if item.logprobs is not None:
                last["logprobs"] = {"content": item.logprobs, "refusal": None}
            yield {**common, "choices": [last]}
        elif item.call is not None:
            for delta in _call_deltas(calls[index].more(item.call)):
                yield {**common, "choices": [_delta(index, delta)]}
        else:
            delta = {"content": item.text} if item.text else {"reasoning_content": item.reasoning}
            yield {**common, "choices": [_delta(index, delta)]}
    if has_usage:
        usage = usage_of([outcomes[index] for index in range(count)], per_prompt=count)
        yield {**common, "choices": [], "usage": usage}


def _call_deltas(more: CallText) -> Iterator[dict[str, Any]]:
    """Yield the deltas of a call: first its id and name, then its arguments as they are written."""
    if more.is_first:
        function = {"name": more.call.name, "arguments": ""}
        yield {"tool_calls": [{"index": more.index, "id": more.call.id, "type": "function", "function": function}]}
    if more.text:
        yield {"tool_calls": [{"index": more.index, "function": {"arguments": more.text}}]}


def _delta(index: int, delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {"index": index, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
