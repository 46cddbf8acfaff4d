"""Errors of official clients as errors of structgen: with the server's words, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from structgen.errors import ModelError, ServerError

if TYPE_CHECKING:
    from structgen.models.base import ServerRequest

__all__ = ["answer_without_choices", "refuse_options", "server_errors"]

_HINTS = {
    400: "the server's words say what it refuses: change the schema, the prompt or the parameters",
    401: "give the client its api_key",
    403: "this key may not use the model",
    404: "check the model's name and the client's base_url",
    408: "raise the client's timeout, or lower max_new_tokens",
    413: "shorten the prompt, or use a smaller schema",
    422: "the server's words say what it refuses: change the schema, the prompt or the parameters",
    429: "ask less at once (batch_size=…), or raise the client's max_retries, which wait as the server asks",
}
_HINT_OF_SERVER = "the server failed: look at its log, or try again later; the client's max_retries do that"
_MAX_WORDS = 1000  # characters of a server's words that an error shows


@contextmanager
def server_errors(client_error: type[Exception], address: Any) -> Iterator[None]:
    """Raise a client's errors as `ServerError`.

    Args:
        client_error: the base class of the client's errors.
        address: the address of the server, for messages.
    """
    try:
        yield
    except client_error as error:
        raise _as_server_error(error, address) from error


def _as_server_error(error: Any, address: Any) -> ServerError:
    status = getattr(error, "status_code", None)
    words = _words_of(error)
    if status is None:
        body = getattr(error, "body", None)  # an event of a stream that says what went wrong
        if body is not None:
            return ServerError(f"the server ended its answer with an error: {words}", status=None, hint=_HINT_OF_SERVER)
        if "Timeout" in type(error).__name__:
            return ServerError(f"{address} did not answer in time: {words}", status=None, hint=_HINTS[408])
        hint = "check that the server runs, and the client's base_url"
        return ServerError(f"there is no answer from {address}: {words}", status=None, hint=hint)
    hint = _HINT_OF_SERVER if status >= 500 else _HINTS.get(status, "")
    return ServerError(f"the server answers {status}: {words}", status=status, hint=hint)


def answer_without_choices(error: Any) -> ServerError:
    """Return the error for an answer of status 200 that has no choices.

    Args:
        error: the field `error` of the answer, usually an object with a message; None without it.
    """
    words = error.get("message") if isinstance(error, dict) else error
    quoted = f": {words}"[:_MAX_WORDS] if words else ""
    return ServerError(f"the server's answer has no choices{quoted}", status=None, hint=_HINT_OF_SERVER)


def _words_of(error: Any) -> str:
    """Return what the server says, without the envelope of JSON around it."""
    body = getattr(error, "body", None)
    if isinstance(body, dict):
        inner = body.get("error", body)
        words = inner.get("message") if isinstance(inner, dict) else inner
        if isinstance(words, str) and words:
            return words[:_MAX_WORDS]
    cause = error.__cause__
    return (f"{error} ({cause})" if cause is not None and str(cause) else str(error))[:_MAX_WORDS]


def refuse_options(request: ServerRequest, known: frozenset[str], server: str) -> None:
    """Refuse the options that a server does not have.

    Args:
        request: how the server should sample.
        known: the options that it has.
        server: its name, for the message.

    Raises:
        ModelError: an option is set that the server does not have.
    """
    neutral = type(request)(request.max_new_tokens, 0.0)
    for option in fields(request):
        value = getattr(request, option.name)
        if option.name not in known and value and value != getattr(neutral, option.name):
            raise ModelError(
                f"{server} has no option {option.name}",
                hint="leave it out; parameters of the server's own go into extra_body={…}, beside the model's name",
            )
