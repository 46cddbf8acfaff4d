"""The application: routes, the API key, and bounds of bodies.

Every response of a run is made of pieces. Before the first one is there, an error has a status of its own; after that,
it is the last event of the stream.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from structgen.generation.pieces import Outcome, Piece
from structgen.generation.reasoning_marks import marks_of
from structgen.generation.scheduler import Scheduler
from structgen.generation.settings import BATCH_SIZE
from structgen.limits import Limits
from structgen.serving.answers import Answers
from structgen.serving.chat import chunks, completion
from structgen.serving.completions import text_chunks, text_completion
from structgen.serving.metrics import Metrics
from structgen.serving.playground import traced
from structgen.serving.problems import RequestError, problem_of
from structgen.serving.requests import Defaults, Task, chat_task, completion_tasks, is_streamed
from structgen.serving.responses import response, response_events, response_task

__all__ = ["ServerOptions", "make_app"]

T = TypeVar("T")

Items = AsyncGenerator[tuple[int, Piece | Outcome]]

# For each path, the fields that have another name than in a chat request. Errors name them so.
_NAMES = {
    "/v1/completions": {"messages": "prompt", "raw": "chat_template_kwargs"},
    "/v1/responses": {"messages": "input", "response_format": "text.format"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Options of a server.

    Attributes:
        name: the name of the model in responses.
        api_key: the key that requests have to carry; None for none.
        max_rows: the number of answers that the model writes at a time.
        max_waiting: the number of requests that wait at most; more get the status 429.
        max_body_bytes: the size of a request at most.
        max_tokens: the budget of an answer, where the request names none.
        seconds: the time limit of a request.
        compile_seconds, mask_seconds: time limits of one compile, and of one mask; see `structgen.Limits`.
        drain_seconds: how long requests may go on after the server was asked to stop.
        warm: make the masks of each request's schema ahead of time, in the background; see `structgen.compile`.
    """

    name: str = "structgen"
    api_key: str | None = None
    max_rows: int = BATCH_SIZE
    max_waiting: int = 1024
    max_body_bytes: int = 1 << 22
    max_tokens: int = 1024
    seconds: float = 600.0
    compile_seconds: float = 10.0
    mask_seconds: float = 1.0
    drain_seconds: float = 30.0
    warm: bool = False


def make_app(model: Any, options: ServerOptions | None = None) -> Starlette:
    """Return the application of `structgen serve`, for any ASGI server.

    Args:
        model: a local model.
        options: the options of the server.

    Example:
        >>> app = make_app(structgen.load("smollm2"))                                         # doctest: +SKIP
        >>> uvicorn.run(app)                                                                  # doctest: +SKIP
    """
    service = _Service(model, options or ServerOptions())

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(service.close)

    paths = [
        ("/v1/chat/completions", service.chat, "POST"),
        ("/v1/completions", service.completions, "POST"),
        ("/v1/responses", service.responses, "POST"),
        ("/v1/models", service.models, "GET"),
        ("/metrics", service.metrics_page, "GET"),
        ("/trace", service.trace, "POST"),
    ]
    routes = [Route(path, service.guarded(path, answer), methods=[method]) for path, answer, method in paths]
    routes += [Route("/health", service.health), Route("/", service.page)]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _no_such_path})
    app.state.service = service
    return app


async def _no_such_path(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = f"{request.method} {request.url.path}: {error.detail}"
    return _problem(RequestError(message, status=error.status_code, code="not_found"))


class _Service:
    """The handlers of an application."""

    def __init__(self, model: Any, options: ServerOptions) -> None:
        self._options = options
        self._model = model
        self._metrics = Metrics()
        scheduler = Scheduler(model, max_rows=options.max_rows, max_waiting=options.max_waiting)
        limits = Limits(compile_seconds=options.compile_seconds, mask_seconds=options.mask_seconds)
        self.answers = Answers(model, scheduler, limits, options.seconds, self._metrics, options.warm)
        self._defaults = Defaults(options.max_tokens, marks_of(model.chat_template) is not None)
        self._created = int(time.time())

    def close(self) -> None:
        """Wait for the requests under way."""
        self.answers.scheduler.close(seconds=self._options.drain_seconds)

    def guarded(
        self, path: str, answer: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return a handler that checks the key, and turns errors into responses."""

        async def handler(request: Request) -> Response:
            try:
                self._check_key(request)
                made = await answer(request)
            except ClientDisconnect:
                made = Response(status_code=499)
            except RequestError as error:
                made = _problem(error.renamed(_names(path, request)))
            except Exception as error:  # a fault of this server: say so, and go on
                made = _problem(problem_of(error, is_begun=True))
            self._metrics.count_request(path, made.status_code)
            return made

        return handler

    async def chat(self, request: Request) -> Response:
        """Answer /v1/chat/completions."""
        body = await self._body(request)
        task, count = chat_task(body, self._defaults)
        tasks = _choices(task, count)
        name = self._options.name
        items = self.answers.pieces(tasks, seconds=_seconds(body))
        if is_streamed(body):
            return await _stream(request, _events(chunks(name, items, count, _stream_options(body))))
        return _Json(completion(name, await _whole(request, items, count)))

    async def completions(self, request: Request) -> Response:
        """Answer /v1/completions."""
        body = await self._body(request)
        found, count = completion_tasks(body, self._defaults)
        tasks = [choice for task in found for choice in _choices(task, count)]
        name = self._options.name
        items = self.answers.pieces(tasks, seconds=_seconds(body))
        if is_streamed(body):
            return await _stream(request, _events(text_chunks(name, items, len(tasks), count, _stream_options(body))))
        return _Json(text_completion(name, await _whole(request, items, len(tasks)), count))

    async def responses(self, request: Request) -> Response:
        """Answer /v1/responses."""
        body = await self._body(request)
        task = response_task(body, self._defaults)
        items = self.answers.pieces([task], seconds=_seconds(body))
        if is_streamed(body):
            return await _stream(request, _named_events(response_events(self._options.name, body, items)))
        (outcome,) = await _whole(request, items, 1)
        return _Json(response(self._options.name, body, outcome))

    async def models(self, request: Request) -> Response:
        """Answer /v1/models."""
        one = {
            "id": self._options.name,
            "object": "model",
            "created": self._created,
            "owned_by": "structgen",
            "max_model_len": self._model.context_tokens,
        }
        return _Json({"object": "list", "data": [one]})

    async def metrics_page(self, request: Request) -> Response:
        """Answer /metrics."""
        text = self._metrics.text(self.answers.scheduler)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def trace(self, request: Request) -> Response:
        """Answer /trace, which the page at / asks: an answer, token by token."""
        body = await self._body(request)
        work = traced(self._model, body, self.answers.limits, self._defaults)
        future = asyncio.wrap_future(self.answers.scheduler.submit(work))
        return HTMLResponse(await asyncio.wait_for(future, self._options.seconds))

    async def health(self, request: Request) -> Response:
        """Answer /health."""
        return _Json({"status": "ok"})

    async def page(self, request: Request) -> Response:
        """Answer /."""
        return HTMLResponse(files("structgen.serving").joinpath("page.html").read_text(encoding="utf-8"))

    def _check_key(self, request: Request) -> None:
        key = self._options.api_key
        if key is None:
            return
        given = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
        if not hmac.compare_digest(given.encode(), key.encode()):
            message = "the API key is missing or wrong: send it as Authorization: Bearer KEY"
            raise RequestError(message, status=401, code="invalid_api_key")

    async def _body(self, request: Request) -> dict[str, Any]:
        """Return the body of a request.

        Raises:
            RequestError: it is too large, or no JSON object.
        """
        limit = self._options.max_body_bytes
        data = bytearray()
        async for part in request.stream():
            data += part
            if len(data) > limit:
                raise RequestError(f"the body has more than {limit} bytes", status=413, code="too_large")
        try:
            body = json.loads(data, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise RequestError(f"the body is not JSON: {error}") from error
        if not isinstance(body, dict):
            raise RequestError("the body is a JSON object")
        request.state.body = body
        return body


async def _stream(request: Request, events: AsyncGenerator[str]) -> Response:
    """Return a stream of events, once the first is there: before it, an error has its own status."""
    first = await _unless_gone(request, anext(events))

    async def parts() -> AsyncIterator[str]:
        async with contextlib.aclosing(events):
            yield first
            async for event in events:
                yield event

    headers = {"cache-control": "no-cache", "x-accel-buffering": "no"}
    return StreamingResponse(parts(), media_type="text/event-stream", headers=headers)


def _names(path: str, request: Request) -> dict[str, str]:
    """Return the names that a request has for fields of a chat."""
    names = dict(_NAMES.get(path, {}))
    for name in ("max_output_tokens", "max_completion_tokens"):
        if getattr(request.state, "body", {}).get(name) is not None:
            names["max_tokens"] = name
    return names


def _choices(task: Task, count: int) -> list[Task]:
    """Return a task for each choice; choice i samples with seed + i."""
    seed = task.options.get("seed")
    if seed is None or count == 1:
        return [task] * count
    return [replace(task, options={**task.options, "seed": seed + index}) for index in range(count)]


def _seconds(body: Mapping[str, Any]) -> float | None:
    seconds = body.get("timeout")
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if seconds is not None and not (is_number and seconds > 0):  # NaN is none, either
        raise RequestError("timeout is a number of seconds", param="timeout")
    return seconds


def _stream_options(body: Mapping[str, Any]) -> Mapping[str, Any]:
    options = body.get("stream_options") or {}
    if not isinstance(options, Mapping):
        raise RequestError("stream_options is an object", param="stream_options")
    return options


async def _whole(request: Request, items: Items, count: int) -> list[Outcome]:
    """Return all outcomes of a request; end its runs if the client goes."""

    async def collected() -> list[Outcome]:
        found: dict[int, Outcome] = {}
        async with contextlib.aclosing(items):
            async for index, item in items:
                if isinstance(item, Outcome):
                    found[index] = item
        return [found[index] for index in range(count)]

    return await _unless_gone(request, collected())


async def _unless_gone(request: Request, work: Awaitable[T]) -> T:
    """Await something; cancel it when the client goes."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    task, watch = asyncio.ensure_future(work), asyncio.ensure_future(gone())
    try:
        await asyncio.wait([task, watch], return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        watch.cancel()
        if not task.done():
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def _events(bodies: AsyncGenerator[dict[str, Any]]) -> AsyncGenerator[str]:
    """Yield server-sent events of a chat: data, and [DONE] at the end."""
    is_begun = False
    try:
        async for body in bodies:
            yield f"data: {_dumps(body)}\n\n"
            is_begun = True
    except RequestError as error:
        if not is_begun:
            raise
        yield f"data: {_dumps(error.body())}\n\n"
    finally:
        await bodies.aclose()
    yield "data: [DONE]\n\n"


async def _named_events(bodies: AsyncGenerator[dict[str, Any]]) -> AsyncGenerator[str]:
    """Yield server-sent events of a response, which have a name."""
    async with contextlib.aclosing(bodies):
        async for body in bodies:
            yield f"event: {body['type']}\ndata: {_dumps(body)}\n\n"


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _dumps(body: Any) -> str:
    try:
        text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:  # 1e999, in a field of the request that comes back: JSON has no infinity
        return _dumps(json.loads(json.dumps(body), parse_constant=lambda _: None))
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, in a field of the request that comes back
        return json.dumps(body, separators=(",", ":"))
    return text


class _Json(JSONResponse):
    """A response in JSON; halves of surrogate pairs are written as escapes."""

    def render(self, content: Any) -> bytes:
        return _dumps(content).encode()


def _problem(error: RequestError) -> Response:
    headers = {"retry-after": "1"} if error.status == 429 else None
    return _Json(error.body(), status_code=error.status, headers=headers)
