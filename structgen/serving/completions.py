"""/v1/completions: outcomes and pieces as bodies and chunks in OpenAI's older form."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from structgen.generation.pieces import Outcome, Piece
from structgen.serving.chat import id_of, usage_of

__all__ = ["text_chunks", "text_completion"]


def text_completion(model: str, outcomes: Sequence[Outcome], per_prompt: int) -> dict[str, Any]:
    """Return the body of a whole completion.

    Args:
        model: the name of the model.
        outcomes: those of the first prompt, then those of the next.
        per_prompt: the number of outcomes of each prompt.
    """
    choices = [_choice(index, one.text, one.finish_reason) for index, one in enumerate(outcomes)]
    return {**_common(model), "choices": choices, "usage": usage_of(outcomes, per_prompt=per_prompt)}


async def text_chunks(
    model: str,
    pieces: AsyncGenerator[tuple[int, Piece | Outcome]],
    count: int,
    per_prompt: int,
    options: Mapping[str, Any],
) -> AsyncGenerator[dict[str, Any]]:
    """Yield the chunks of a streamed completion; see `structgen.serving.chat.chunks`."""
    common = _common(model)
    outcomes: dict[int, Outcome] = {}
    async for index, item in pieces:
        if isinstance(item, Outcome):
            outcomes[index] = item
            yield {**common, "choices": [_choice(index, "", item.finish_reason)]}
        elif item.text:
            yield {**common, "choices": [_choice(index, item.text, None)]}
    if options.get("include_usage"):
        usage = usage_of([outcomes[index] for index in range(count)], per_prompt=per_prompt)
        yield {**common, "choices": [], "usage": usage}


def _common(model: str) -> dict[str, Any]:
    return {"id": id_of("cmpl-"), "object": "text_completion", "created": int(time.time()), "model": model}


def _choice(index: int, text: str, finish_reason: str | None) -> dict[str, Any]:
    return {"index": index, "text": text, "finish_reason": finish_reason, "logprobs": None}
