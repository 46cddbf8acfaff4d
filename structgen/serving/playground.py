"""The page at /: an answer under a schema, and its trace token by token."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from structgen.diagnostics.trace import trace
from structgen.generation.scheduler import Seat
from structgen.limits import Limits
from structgen.serving.problems import RequestError
from structgen.serving.requests import Defaults

__all__ = ["traced"]

MAX_TOKENS = 512


def traced(model: Any, body: Mapping[str, Any], limits: Limits, defaults: Defaults) -> Callable[[Seat], str]:
    """Return a function that answers a prompt, and returns the page of its trace.

    Args:
        model: the model.
        body: `prompt`, `schema` (an object, or its text), and optionally `max_tokens`.
        limits: bounds on what the schema may cost.
        defaults: what the server does where the body does not say.

    Raises:
        RequestError: a field is wrong.
    """
    prompt, schema = body.get("prompt"), body.get("schema")
    if not isinstance(prompt, str) or not prompt:
        raise RequestError("prompt is a text", param="prompt")
    if isinstance(schema, str):
        try:
            schema = json.loads(schema)
        except (ValueError, RecursionError) as error:
            raise RequestError(f"the schema is not JSON: {error}", param="schema") from error
    if not isinstance(schema, dict | bool):
        raise RequestError("a JSON Schema is an object", param="schema")
    most = body.get("max_tokens") or min(defaults.max_tokens, MAX_TOKENS)
    if not isinstance(most, int) or not 1 <= most <= MAX_TOKENS:
        raise RequestError(f"max_tokens is a number from 1 to {MAX_TOKENS}", param="max_tokens")

    def page(_: Seat) -> str:
        try:
            return trace(model, prompt, schema, limits=limits, max_new_tokens=most).to_html()
        except ValueError as error:  # such as half of a surrogate pair
            raise RequestError(str(error), param="prompt") from error

    return page
