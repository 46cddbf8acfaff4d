"""An answer in pieces: text, reasoning and calls as they are written, and at last the whole.

    TextPieces(run)         Piece(text="Hel"), Piece(text="lo"), Outcome("Hello", "stop", …)
    CallPieces(stream)      Piece(text="Let me see."), Piece(call=…), Piece(call=…), Outcome(…, "tool_calls", …)
    CallTexts().more(call)  the text that a piece adds to the arguments of its call

Servers and adapters of frameworks send these on in their own form.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from structgen.errors import GenerationError, IncompleteOutputError
from structgen.generation.passes import Passes
from structgen.generation.tools.results import ToolCall
from structgen.generation.tools.streaming import CallStream

if TYPE_CHECKING:
    from structgen.generation.runs import Run
    from structgen.generation.usage import Usage

__all__ = ["CallPieces", "CallText", "CallTexts", "Outcome", "Piece", "TextPieces"]


@dataclass(frozen=True, slots=True)
class Piece:
    """More of an answer: one of its fields is set.

    Attributes:
        text: more text.
        reasoning: more of the reasoning.
        call: a call of a tool, with its arguments so far. Each call comes with `is_complete` at last.
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


class TextPieces:
    """The text of a run in pieces; iterating runs the model.

    Args:
        run: the run.
        stops: texts that end the answer, and do not belong to it.
    """

    def __init__(self, run: Run[Any], stops: Sequence[str] = ()) -> None:
        self._run = run
        self._passes = Passes(run, "the next piece")
        self._stops = stops

    def __iter__(self) -> Iterator[Piece | Outcome]:
        run, shown = self._run, _Shown(self._stops)
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        read_bytes = 0
        try:
            while self._passes.step():
                yield from shown.reasoning(run.reasoning)
                data = b"" if run.decoder is None else run.decoder.text_bytes
                if len(data) > read_bytes:
                    yield from shown.more(decode(data[read_bytes:]))
                    read_bytes = len(data)
        except IncompleteOutputError as error:
            if not error.text and run.decoder is not None and not run.decoder.token_ids:
                raise
            yield from shown.rest(error.text)
            yield Outcome(shown.text, "length", *_costs(run.cost()), run.reasoning)
            return
        result = run.result
        assert result is not None  # the run has ended
        yield from shown.reasoning(result.reasoning)
        yield from shown.rest(result.text)
        yield Outcome(shown.text, result.finish_reason, *_costs(result.usage), result.reasoning)

    def close(self) -> None:
        """End the run where it is, after the pass under way."""
        self._passes.close()


class CallPieces:
    """A reply with calls of tools in pieces; iterating runs the model.

    Args:
        stream: the reply while it is written.
        stops: texts that end the answer, and do not belong to it.
    """

    def __init__(self, stream: CallStream, stops: Sequence[str] = ()) -> None:
        self._stream = stream
        self._stops = stops

    def __iter__(self) -> Iterator[Piece | Outcome]:
        stream, shown = self._stream, _Shown(self._stops)
        calls: list[ToolCall] = []
        try:
            for part in stream:
                yield from shown.reasoning(stream.reasoning)
                if isinstance(part, str):
                    yield from shown.more(part)
                    continue
                yield from shown.held()  # no text that ends the answer goes on after a call
                if part.is_complete:
                    calls.append(part)
                yield Piece(call=part)
            reply = stream.reply()
        except IncompleteOutputError as error:
            if not error.text:
                raise
            yield from shown.rest(shown.text)
            yield Outcome(shown.text, "length", *_costs(stream.cost()), stream.reasoning, tuple(calls))
            return
        yield from shown.reasoning(reply.reasoning)
        yield from shown.rest(reply.text)
        reason = "tool_calls" if reply.tool_calls else reply.finish_reason
        yield Outcome(shown.text, reason, *_costs(reply.usage), reply.reasoning, reply.tool_calls)

    def close(self) -> None:
        """End the run where it is, after the pass under way."""
        self._stream.close()


@dataclass(frozen=True, slots=True)
class CallText:
    """More of the arguments of a call.

    Attributes:
        index: the number of the call in its reply.
        call: the call so far. Its id is that of the first piece, also where the model writes another one at its end.
        text: the text that is new.
        is_first: whether this is the first text of the call.
    """

    index: int
    call: ToolCall
    text: str
    is_first: bool


class CallTexts:
    """The calls of one reply as texts that grow, for streams in which each piece adds to those before."""

    def __init__(self) -> None:
        self._index = -1
        self._id = ""
        self._written = ""
        self._is_open = False

    def more(self, call: ToolCall) -> CallText:
        """Return what a call adds to the text of its arguments.

        Args:
            call: the call of the next piece.

        Raises:
            GenerationError: the text of the arguments does not begin with what was written before.
        """
        is_first = not self._is_open
        if is_first:
            self._index += 1
            self._id, self._written = call.id, ""
        if not call.source.startswith(self._written):
            raise GenerationError(f"the model changed arguments of {call.name} that were sent already")
        text = call.source[len(self._written) :]
        self._written, self._is_open = call.source, not call.is_complete
        return CallText(self._index, replace(call, id=self._id), text, is_first)


class _Shown:
    """The part of an answer that was yielded as pieces so far.

    A text of `stops` ends the answer and does not belong to it. So characters that may begin one are held back.

    Args:
        stops: texts that end the answer.

    Attributes:
        text: the text so far.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self.text = ""
        self._stops = stops
        self._text_length = 0  # characters of the text that were shown
        self._reasoning = ""

    def reasoning(self, reasoning: str) -> Iterator[Piece]:
        """Yield what is new of the reasoning so far."""
        if len(reasoning) > len(self._reasoning) and reasoning.startswith(self._reasoning):
            yield Piece(reasoning=reasoning[len(self._reasoning) :])
            self._reasoning = reasoning

    def more(self, text: str) -> Iterator[Piece]:
        """Add text, and yield what cannot belong to a text that ends the answer."""
        self.text += text
        yield from self._up_to(len(self.text) - self._held())

    def held(self) -> Iterator[Piece]:
        """Yield what was held back of the text so far."""
        yield from self._up_to(len(self.text))

    def rest(self, text: str) -> Iterator[Piece]:
        """Yield the rest of the whole text, without a text that ended it."""
        cuts = [len(text) - len(stop) for stop in self._stops if text.endswith(stop)]
        self.text = text[: min(cuts, default=len(text))]
        yield from self._up_to(len(self.text))

    def _up_to(self, end: int) -> Iterator[Piece]:
        if end > self._text_length:
            yield Piece(text=self.text[self._text_length : end])
            self._text_length = end

    def _held(self) -> int:
        """Return the number of characters at the end that may begin a stop text, or that are one."""
        lengths = [
            size
            for stop in self._stops
            for size in range(1, min(len(stop), len(self.text)) + 1)
            if self.text.endswith(stop[:size])
        ]
        return max(lengths, default=0)


def _costs(usage: Usage | None) -> tuple[int, int, int]:
    if usage is None:
        return 0, 0, 0
    return usage.prompt_tokens, usage.completion_tokens + usage.reasoning_tokens, usage.reasoning_tokens
