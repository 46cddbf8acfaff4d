"""Errors of requests, in the form of OpenAI's interface: a status, a message, and the field that is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from structgen.errors import (
    FunctionDefinitionError,
    GenerationError,
    GrammarError,
    IncompleteOutputError,
    LimitExceededError,
    ModelError,
    QueueFullError,
    SchemaError,
    StructgenError,
    VocabularyError,
)
from structgen.generation.scheduler import SchedulerClosedError

__all__ = ["RequestError", "problem_of"]


class RequestError(Exception):
    """A request that is refused.

    Attributes:
        status: the status of the response.
        param: the field that is wrong; for a schema with the JSON pointer in it; None without one.
        code: a short name for programs; None without one.
    """

    def __init__(self, message: str, *, param: str | None = None, status: int = 400, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.param = param
        self.code = code

    def renamed(self, names: Mapping[str, str]) -> RequestError:
        """Return the error of a request that has other names of fields.

        Args:
            names: a name of `param`, without what is inside of that field → the request's own name.
        """
        param = self.param or ""
        for name, own in names.items():
            rest = param.removeprefix(name)
            if rest != param and rest[:1] in ("", ".", "#", "["):
                return RequestError(str(self), param=own + rest, status=self.status, code=self.code)
        return self

    def body(self) -> dict[str, Any]:
        """Return the body of the response."""
        kind = {401: "authentication_error", 429: "rate_limit_error"}.get(
            self.status, "invalid_request_error" if self.status < 500 else "server_error"
        )
        return {"error": {"message": str(self), "type": kind, "param": self.param, "code": self.code}}


def problem_of(error: BaseException, *, param: str | None = None, is_begun: bool = False) -> RequestError:
    """Return the error of a request for an error of its run.

    Args:
        error: the error.
        param: the field that the constraint came from.
        is_begun: whether the model has read the prompt: then errors of values are not those of the request.
    """
    if isinstance(error, RequestError):
        return error
    if isinstance(error, SchemaError):
        place = f"{param or 'schema'}#{error.pointer}"
        return RequestError(str(error), param=place, code="invalid_schema")
    if isinstance(error, GrammarError):
        return RequestError(str(error), param=param, code="invalid_grammar")
    if isinstance(error, FunctionDefinitionError):
        return RequestError(str(error), param="tools", code="invalid_tools")
    if isinstance(error, LimitExceededError):
        return RequestError(str(error), param=param, code="limit_exceeded")
    if isinstance(error, QueueFullError):
        return RequestError(str(error), status=429, code="queue_full")
    if isinstance(error, SchedulerClosedError):
        return RequestError("the server is shutting down", status=503, code="shutting_down")
    if isinstance(error, TimeoutError):
        return RequestError("the request took longer than its time limit", status=408, code="timeout")
    if isinstance(error, IncompleteOutputError):
        return RequestError(str(error), param="max_tokens", code="max_tokens_too_small")
    if not is_begun and isinstance(error, GenerationError):
        return RequestError(str(error), param="messages", code="context_length_exceeded")
    if not is_begun and isinstance(error, ModelError):  # such as messages that the chat template refuses
        return RequestError(str(error), param="tools" if param == "tools" else "messages")
    if not is_begun and isinstance(error, RecursionError):  # of a chat template, for instance
        return RequestError(f"a value is nested too deeply: {error}", param=param)
    if not is_begun and isinstance(error, ValueError | TypeError | VocabularyError):
        return RequestError(str(error), param=param)
    if isinstance(error, ModelError | StructgenError):
        return RequestError(str(error), status=500, code="model_error")
    return RequestError(f"the model failed: {type(error).__name__}: {error}", status=500, code="model_error")
