"""Answers of a model: runs in the scheduler's threads, and what they have written so far, for asyncio.

    Task ──▶ thread: compile, tokenize, step …  ──▶ Piece, Piece, …, Outcome     each with the number of its task

A run stops when nobody waits for it any more, or when its time is over.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from structgen.compilation.compiler import compile
from structgen.engine.matching.warming import warm_in_background
from structgen.generation.answer_pieces import AnswerPieces, answer_tool
from structgen.generation.generator import Generator
from structgen.generation.pieces import CallPieces, Outcome, Piece, TextPieces
from structgen.generation.scheduler import Scheduler, Seat
from structgen.generation.tools.calling import Caller
from structgen.generation.tools.streaming import CallStream
from structgen.integrations.serving.requests import Requested
from structgen.limits import Limits
from structgen.output_types.grammar import Grammar
from structgen.output_types.tool_formats.tools import read_tools
from structgen.serving.logprobs import LogProbs
from structgen.serving.problems import RequestError, problem_of
from structgen.serving.requests import field_of

if TYPE_CHECKING:
    from structgen.serving.constraints import Asked
    from structgen.serving.metrics import Metrics
    from structgen.serving.requests import Task

__all__ = ["Answers"]

_FREE_TEXT = {"type": "structural_tag", "format": {"type": "any_text"}}


Emit = Callable[[Piece], None]


@dataclass(slots=True)
class Answers:
    """A model that answers tasks.

    Attributes:
        model: the model.
        scheduler: its scheduler.
        limits: bounds on what a constraint may cost.
        seconds: the time limit of a request.
        metrics: counts tokens and times.
        warms: whether the masks of a request's schema are made ahead of time, in the background.
        running: the seats of the runs under way.
    """

    model: Any
    scheduler: Scheduler
    limits: Limits
    seconds: float
    metrics: Metrics
    warms: bool = False
    running: set[Seat] = field(default_factory=set)

    async def pieces(
        self, tasks: Sequence[Task], *, seconds: float | None = None
    ) -> AsyncGenerator[tuple[int, Piece | Outcome]]:
        """Yield pieces and outcomes as they come, each with the number of its task.

        Args:
            tasks: what to answer, side by side.
            seconds: the time limit of this request; at most that of the server.

        Raises:
            RequestError: the first task that fails. The others are cancelled.
        """
        loop, queue = asyncio.get_running_loop(), asyncio.Queue[tuple[int, Any]]()
        began = time.monotonic()
        end = began + min(seconds or self.seconds, self.seconds)
        seats = [Seat(self.scheduler) for _ in tasks]
        self.running.update(seats)

        def put(index: int, item: Any) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(queue.put_nowait, (index, item))

        try:
            for index, (task, seat) in enumerate(zip(tasks, seats)):
                self.scheduler.submit(partial(self._work, task, partial(put, index)), seat=seat)
            left, is_begun = len(tasks), False
            while left:
                index, item = await asyncio.wait_for(queue.get(), end - time.monotonic())
                if isinstance(item, RequestError):
                    raise item
                if isinstance(item, Outcome):
                    left -= 1
                    self.metrics.count_answer(item.prompt_tokens, item.completion_tokens, time.monotonic() - began)
                elif not is_begun:
                    is_begun = True
                    self.metrics.count_first_piece(time.monotonic() - began)
                yield index, item
        except Exception as error:
            raise problem_of(error) from error
        finally:
            for seat in seats:
                seat.cancel()
            self.running.difference_update(seats)

    def _work(self, task: Task, put: Callable[[Any], None], seat: Seat) -> None:
        """Answer a task in this thread."""
        try:
            outcome = self._called(task, put, seat) if task.tools else self._written(task, put, seat)
        except Exception as error:
            put(problem_of(error, param=task.asked.param if task.asked else None, is_begun=True))
        else:
            put(outcome)

    def _written(self, task: Task, emit: Emit, seat: Seat) -> Outcome:
        """Write a text under the constraint of a task, or free text."""
        param = task.asked.param if task.asked else None
        options = dict(task.options)
        try:
            if task.asked is None:
                requested = Requested(Grammar.structural_tag(_FREE_TEXT))
                options["on_budget"] = "error"
            else:
                requested = task.asked.make(self.model.vocabulary, self.limits)
            reading: Any = {**task.reading, **requested.options}
            generator: Generator[Any] = Generator(self.model, requested.schema, limits=self.limits, **reading)
            if self.warms and task.asked is not None:
                warm_in_background(generator.constraint.grammar)
            probs = None if task.top_logprobs is None else LogProbs(self.model.vocabulary, task.top_logprobs)
        except Exception as error:
            raise problem_of(error, param=field_of(error, options) or param) from error
        try:
            run = generator.begin(
                task.prompt, new_session=seat.session, observe=None if probs is None else probs.begin, **options
            )
        except Exception as error:
            raise _of_begin(error, options, param) from error
        outcome = _emitted(TextPieces(run, task.options.get("stop", ()) if task.asked is None else ()), emit)
        if task.asked is not None and run.result is not None:
            # The text is complete, even if the budget decided how it ends. OpenAI's client parses no "length".
            outcome = replace(outcome, finish_reason="stop")
        return outcome if probs is None else replace(outcome, logprobs=probs.entries)

    def _called(self, task: Task, emit: Emit, seat: Seat) -> Outcome:
        """Write a text with calls of tools."""
        messages: Any = task.prompt
        tools, choice, answer = [*(task.tools or ())], task.tool_choice, None
        options = {**task.options, **task.reading}
        try:
            if task.asked is not None and choice == "auto":
                tool, own = self._answer_tool(task.asked, task.reading, tools)
                answer, choice = tool["function"]["name"], "required"
                tools, options = [*tools, tool], {**options, **own}
            caller = Caller(
                self.model,
                tools,
                parallel=task.parallel,
                format=None,
                limits=self.limits,
                options=options,  # type: ignore[arg-type]
            )
        except Exception as error:
            raise problem_of(error, param=field_of(error, options) or "tools") from error
        try:
            stream = CallStream(caller, messages, choice, new_session=seat.session)
            if self.warms:
                warm_in_background(caller.constraint(choice).grammar)
        except Exception as error:
            raise _of_begin(error, options, "tools") from error
        pieces = CallPieces(stream, task.options.get("stop", ()) if answer is None else ())
        return _emitted(pieces if answer is None else AnswerPieces(pieces, answer), emit)

    def _answer_tool(
        self, asked: Asked, reading: Mapping[str, Any], tools: Sequence[Any]
    ) -> tuple[dict[str, Any], Mapping[str, Any]]:
        """Return the tool whose call is an answer under a constraint, and the constraint's own options."""
        try:
            requested = asked.make(self.model.vocabulary, self.limits)
            if isinstance(requested.schema, Grammar):
                message = f"{asked.param} together with tools: only an answer that is a JSON object may be a constraint"
                raise RequestError(message, param=asked.param, code="unsupported")
            tool = answer_tool(requested.schema, {one.name for one in read_tools(tools)})
            options: Any = {**reading, **requested.options}
            # Its errors name the field of the request.
            compile(requested.schema, self.model.vocabulary, limits=self.limits, **options)
        except Exception as error:
            raise problem_of(error, param=asked.param) from error
        return tool, requested.options


def _of_begin(error: Exception, options: Mapping[str, Any], param: str | None) -> RequestError:
    """Return the error of a run that could not begin.

    If no option is to blame, a ValueError, TypeError or RecursionError names the field `messages`, and other errors
    name `param`.
    """
    of_messages = isinstance(error, ValueError | TypeError | RecursionError)
    return problem_of(error, param=field_of(error, options) or ("messages" if of_messages else param))


def _emitted(pieces: Iterable[Piece | Outcome], emit: Emit) -> Outcome:
    """Emit the pieces of an answer, and return the whole."""
    for item in pieces:
        if isinstance(item, Outcome):
            return item
        emit(item)
    raise AssertionError("the pieces of an answer end with the whole")
