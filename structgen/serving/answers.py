"""Answers of a model: runs in the scheduler's threads, and what they have written so far, for asyncio.

    Task ──▶ thread: compile, tokenize, step …  ──▶ Piece, Piece, …, Outcome     each with the number of its task

A run stops when nobody waits for it any more, or when its time is over.
"""

from __future__ import annotations

import asyncio
import codecs
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from structgen.errors import IncompleteOutputError
from structgen.generation.generator import Generator
from structgen.generation.scheduler import Scheduler, Seat
from structgen.generation.tools.calling import Caller
from structgen.generation.tools.results import ToolCall
from structgen.generation.tools.streaming import CallStream
from structgen.limits import Limits
from structgen.output_types.grammar import Grammar
from structgen.serving.logprobs import LogProbs
from structgen.serving.problems import RequestError, problem_of

if TYPE_CHECKING:
    from structgen.generation.runs import Result, Run, Usage
    from structgen.serving.metrics import Metrics
    from structgen.serving.requests import Task

__all__ = ["Answers", "Outcome", "Piece"]

_FREE_TEXT = {"type": "structural_tag", "format": {"type": "any_text"}}


@dataclass(frozen=True, slots=True)
class Piece:
    """More of an answer: one of its fields is set.

    Attributes:
        text: more text.
        reasoning: more of the reasoning.
        call: a whole call of a tool.
    """

    text: str = ""
    reasoning: str = ""
    call: ToolCall | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A whole answer.

    Attributes:
        text: the text.
        finish_reason: "stop", "length" or "tool_calls".
        prompt_tokens, completion_tokens, reasoning_tokens: the cost; reasoning is part of the completion.
        reasoning: the reasoning, without its marks.
        calls: the calls of tools.
        logprobs: one entry for each token, in OpenAI's form; None where none were asked for.
    """

    text: str
    finish_reason: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    logprobs: list[dict[str, Any]] | None = None


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
        running: the seats of the runs under way.
    """

    model: Any
    scheduler: Scheduler
    limits: Limits
    seconds: float
    metrics: Metrics
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
                schema: Any = Grammar.structural_tag(_FREE_TEXT)
                options["on_budget"] = "error"
            else:
                schema = task.asked.make(self.model.vocabulary, self.limits)
            generator: Generator[Any] = Generator(self.model, schema, limits=self.limits)
            probs = None if task.top_logprobs is None else LogProbs(self.model.vocabulary, task.top_logprobs)
            run = generator.begin(
                task.prompt, new_session=seat.session, observe=None if probs is None else probs.begin, **options
            )
        except Exception as error:
            raise problem_of(error, param=param) from error
        writer = _Writer(emit, task.options.get("stop", ()) if task.asked is None else ())
        outcome = _outcome(run, writer)
        if task.asked is not None and run.result is not None:
            # The text is complete, even if the budget decided how it ends. OpenAI's client parses no "length".
            outcome = replace(outcome, finish_reason="stop")
        return outcome if probs is None else replace(outcome, logprobs=probs.entries)

    def _called(self, task: Task, emit: Emit, seat: Seat) -> Outcome:
        """Write a text with calls of tools."""
        messages: Any = task.prompt
        try:
            caller = Caller(
                self.model,
                task.tools or (),
                parallel=task.parallel,
                format=None,
                limits=self.limits,
                options=task.options,  # type: ignore[arg-type]
            )
            stream = CallStream(caller, messages, task.tool_choice, new_session=seat.session)
        except Exception as error:
            raise problem_of(error, param="tools") from error
        shown = _Reasoning(emit)
        try:
            for part in stream:
                shown.show(stream.reasoning)
                if isinstance(part, str):
                    emit(Piece(text=part))
                elif part.is_complete:
                    emit(Piece(call=part))
            reply = stream.reply()
        except IncompleteOutputError as error:
            if not error.text:
                raise
            return Outcome("", "length", completion_tokens=0, reasoning=stream.reasoning)
        usage = _usage(reply.usage)
        reason = "tool_calls" if reply.tool_calls else reply.finish_reason
        return Outcome(reply.text, reason, *usage, reply.reasoning, reply.tool_calls)


class _Reasoning:
    """Shows the reasoning as it grows."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._shown = ""

    def show(self, reasoning: str) -> None:
        """Emit what is new."""
        if len(reasoning) > len(self._shown) and reasoning.startswith(self._shown):
            self._emit(Piece(reasoning=reasoning[len(self._shown) :]))
            self._shown = reasoning


class _Writer:
    """Emits the text of a run as it grows: whole characters only, and nothing of a text that ends the answer.

    Args:
        emit: receives the pieces.
        stops: texts that end the answer, and do not belong to it.
    """

    def __init__(self, emit: Emit, stops: Sequence[str]) -> None:
        self._emit = emit
        self._stops = stops
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._read_bytes = 0
        self._shown = 0
        self.text = ""
        self.reasoning = _Reasoning(emit)

    def show(self, run: Run[Any]) -> None:
        """Emit what is new."""
        self.reasoning.show(run.reasoning)
        if run.decoder is None:
            return
        data = run.decoder.text_bytes
        if len(data) > self._read_bytes:
            self.text += self._decode(data[self._read_bytes :])
            self._read_bytes = len(data)
        self._show_up_to(len(self.text) - self._held())

    def finish(self, text: str) -> str:
        """Emit the rest of the whole text, and return it without a text that ended it."""
        cuts = [len(text) - len(stop) for stop in self._stops if text.endswith(stop)]
        self.text = text[: min(cuts, default=len(text))]
        self._show_up_to(len(self.text))
        return self.text

    def _show_up_to(self, end: int) -> None:
        if end > self._shown:
            self._emit(Piece(text=self.text[self._shown : end]))
            self._shown = end

    def _held(self) -> int:
        """Return the number of characters at the end that may be the beginning of a stop text, or one."""
        lengths = [
            size
            for stop in self._stops
            for size in range(1, min(len(stop), len(self.text)) + 1)
            if self.text.endswith(stop[:size])
        ]
        return max(lengths, default=0)


def _outcome(run: Run[Any], writer: _Writer) -> Outcome:
    """Step a run to its end."""
    try:
        while run.step():
            writer.show(run)
        result: Result[Any] | None = run.result
    except IncompleteOutputError as error:
        if not error.text and run.decoder is not None and not run.decoder.token_ids:
            raise
        cost = run.cost()
        text = writer.finish(error.text)
        return Outcome(text, "length", *_usage(cost), run.reasoning)
    assert result is not None  # the run has ended
    writer.reasoning.show(result.reasoning)
    text = writer.finish(result.text)
    return Outcome(text, result.finish_reason, *_usage(result.usage), result.reasoning)


def _usage(usage: Usage | None) -> tuple[int, int, int]:
    if usage is None:
        return 0, 0, 0
    return usage.prompt_tokens, usage.completion_tokens + usage.reasoning_tokens, usage.reasoning_tokens
