"""One prompt on its way to a value: reasoning, an answer under the schema, validation, and another try if need be."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import jsonschema
import pydantic
import pydantic_core

from structgen.compilation.constraint import Constraint
from structgen.errors import GenerationError, IncompleteOutputError, ValidationFailedError
from structgen.generation.decoder import Decoder, FinishReason, Observer
from structgen.generation.prompts import encode, with_errors
from structgen.generation.reasoner import Reasoner
from structgen.generation.settings import Settings
from structgen.models.base import Request

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from structgen.models.base import Model, Prompt, Session

__all__ = ["LocalRun", "Result", "Run", "Usage", "in_thread", "partial_json"]

T = TypeVar("T")

_MAX_SHOWN = 120  # characters of an answer that breaks off, in its error


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run cost, all attempts together.

    Attributes:
        prompt_tokens: tokens of the prompts, chat template included.
        completion_tokens: tokens of the answers, forced ones included, without the end token.
        forced_tokens: those of them that the grammar left no choice about, and that cost no step of the model.
        reasoning_tokens: tokens of the reasoning, without its marks.
        model_calls: passes of the model, those over the prompts included.
        seconds: wall-clock time, validation included.
    """

    prompt_tokens: int
    completion_tokens: int
    forced_tokens: int
    reasoning_tokens: int
    model_calls: int
    seconds: float

    def plus(self, other: Usage) -> Usage:
        """Both together."""
        return Usage(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


@dataclass(frozen=True, slots=True)
class Result(Generic[T]):
    """What a run gave.

    Attributes:
        value: the validated value.
        text: the text that it was read from.
        usage: what it cost.
        finish_reason: "stop" where the text ended; "length" where the budget did, at a place where the text happened
            to be whole (with `stop` at any other, `IncompleteOutputError` is raised).
        token_ids: the answer's tokens, without the end token.
        reasoning: what the model wrote before the answer, without its marks; "" without `reasoning`.
        attempts: the texts that a validator refused before this one, each with its error.
    """

    value: T
    text: str
    usage: Usage
    finish_reason: FinishReason
    token_ids: tuple[int, ...]
    reasoning: str = ""
    attempts: tuple[tuple[str, Exception], ...] = ()


class Run(ABC, Generic[T]):
    """One prompt under way: attempts, of which each gives a text, until a validator takes one.

    What drives it asks for a `request`, lets the model read it in `session`, and has `take` take what that gives, or
    leaves all of this to `step`. So runs are driven in batches or one at a time; subclasses say what an attempt is.

    Attributes:
        constraint: what the text has to be.
        settings: how it runs.
        session: what the model has read of this attempt.
        decoder: the answer of this attempt; None while the model reasons.
        result: what came out; None until then.
        attempts: texts that were refused so far, with their errors.

    Raises (all methods):
        IncompleteOutputError: the budget ended before the text did; with what was complete.
        ValidationFailedError: a validator refused every attempt.
        GenerationError: the prompt does not fit the model.
        LimitExceededError: a bound of `limits` was passed on the way.
    """

    session: Any
    decoder: Any
    reads_messages = True

    def __init__(self, constraint: Constraint[T], prompt: Prompt, settings: Settings) -> None:
        self.constraint = constraint
        self.settings = settings
        self.result: Result[T] | None = None
        self.attempts: list[tuple[str, Exception]] = []
        self._began = time.perf_counter()
        self._spent = Usage(0, 0, 0, 0, 0, 0.0)
        self._prompt = self._begin(prompt, settings)

    @property
    @abstractmethod
    def reasoning(self) -> str:
        """What the model has thought so far, in this attempt."""

    @property
    def may_retry(self) -> bool:
        """Whether the answer may be refused, and written again."""
        return len(self.attempts) < self.settings.max_retries

    def step(self) -> bool:
        """One pass of the model, alone; False when there is a result."""
        request = self.request()
        if request is None:
            return False
        self.take(self.session.forward(request.token_ids, keep=request.keep))
        return True

    def to_end(self, cancelled: threading.Event) -> Result[T]:
        """Steps to the result; where that is not wanted any more, the step under way is the last."""
        while not cancelled.is_set() and self.step():
            pass
        return cast(Result[T], self.result)

    def close(self) -> None:
        """Ends what is under way elsewhere, such as a server's answer."""
        return

    def request(self) -> Request | None:
        """What the model has to read next; None when there is a result."""
        while self.result is None:
            request = self._request()
            if request is not None:
                return request
            self._finish()
        return None

    @abstractmethod
    def take(self, given: Any) -> None:
        """Takes what the session gave for the last request: of a local model float32[keep, V]."""

    @abstractmethod
    def _begin(self, prompt: Prompt, settings: Settings) -> Prompt:
        """Begins an attempt. Returns the whole prompt, for one that is to follow it."""

    @abstractmethod
    def _request(self) -> Request | None:
        """What the model has to read next in this attempt; None when its text has ended."""

    @abstractmethod
    def _cost(self) -> Usage:
        """What this attempt cost; `seconds` do not count."""

    def _finish(self) -> None:
        """Validates the answer: the end, or another attempt."""
        decoder = self.decoder
        self._spent = self._spent.plus(self._cost())
        text = self._whole_text()
        try:
            value = self._validated(text)
        except (pydantic.ValidationError, jsonschema.ValidationError, ValueError, AssertionError) as error:
            is_last = not self.may_retry
            self.attempts.append((text, error))
            if is_last:
                raise self._refusal(error) from error
            again = with_errors(self._prompt, text, error, as_text=not self.reads_messages)
            self._prompt = self._begin(again, self.settings.again())
            return
        usage = replace(self._spent, seconds=time.perf_counter() - self._began)
        reason: FinishReason = decoder.finish_reason or "stop"
        ids = tuple(decoder.token_ids)
        self.result = Result(value, text, usage, reason, ids, self.reasoning, tuple(self.attempts))

    def _validated(self, text: str) -> T:
        value = self.constraint.parse(text, context=self.settings.context)
        if self.settings.validate is None:
            return value
        changed = self.settings.validate(value)
        if isinstance(changed, bool) and not isinstance(value, bool):
            raise TypeError(
                f"validate returned {changed}: it returns the value, or None, and raises ValueError to refuse it"
            )
        return value if changed is None else changed

    def _refusal(self, error: Exception) -> ValidationFailedError:
        if len(self.attempts) == 1:
            what = "the answer fits the schema, and its validation failed"
        else:
            what = f"{len(self.attempts)} answers fit the schema, and the last one's validation failed"
        hint = "" if self.settings.max_retries else "max_retries=… sends the errors back to the model"
        return ValidationFailedError(f"{what}: {error}", attempts=self.attempts, hint=hint)

    def _whole_text(self) -> str:
        decoder = self.decoder
        if decoder.finish_reason == "stop" or decoder.is_complete:
            return str(decoder.text_bytes.decode(errors="replace"))
        text = decoder.text_bytes.decode(errors="ignore")
        count = len(decoder.token_ids)
        raise IncompleteOutputError(
            f"the answer was not finished after {count} tokens: {_shorten(text)}",
            text=text,
            partial=self._partial(text),
            hint=self._hint(),
        )

    def _hint(self) -> str:
        """What helps where an answer breaks off."""
        return "raise max_new_tokens, or bound the schema (max_length, max_items)"

    def _partial(self, text: str) -> Any:
        """What is complete in a text that breaks off; None of a grammar."""
        if self.constraint.line is not None:
            return partial_json("[" + text.replace("\n", ","))
        return partial_json(text) if self.constraint.is_json else None


class LocalRun(Run[T]):
    """A run of a local model, which is masked.

    Args:
        model, constraint, prompt, settings: what is asked of whom.
        new_session: where the model reads; each attempt has its own. By default `model.session`.
        observe: gives who is told of an attempt's tokens, of the tokens before them.
    """

    def __init__(
        self,
        model: Model,
        constraint: Constraint[T],
        prompt: Prompt,
        settings: Settings,
        *,
        new_session: Callable[[], Session] | None = None,
        observe: Callable[[list[int]], Observer] | None = None,
    ) -> None:
        self.session: Session
        self.decoder: Decoder | None
        self.reads_messages = not settings.raw and model.chat_template is not None
        self._model = model
        self._new_session = new_session or model.session
        self._observe = observe
        self._sampler = settings.sampler()
        super().__init__(constraint, prompt, settings)

    @property
    def reasoning(self) -> str:
        """See `Run.reasoning`."""
        return "" if self._reasoner is None else self._reasoner.text

    def take(self, given: NDArray[float32]) -> None:
        """See `Run.take`."""
        phase = self._reasoner if self.decoder is None else self.decoder
        if phase is not None:
            phase.take(given)

    def _begin(self, prompt: Prompt, settings: Settings) -> Prompt:
        messages, self._prompt_ids = encode(self._model, prompt, self.constraint, settings)
        self.session = self._new_session()
        self.decoder = None
        marks = settings.reasoning_marks()
        self._reasoner = Reasoner(self._model, self._prompt_ids, marks, self._sampler) if marks else None
        if self._reasoner is None:
            self._answer(self._prompt_ids, 0)
        else:
            self._reasoner.leave_room(_check_room(self._model, self._reasoner.prompt_ids))
        return messages

    def _request(self) -> Request | None:
        if self.decoder is None and self._reasoner is not None:
            request = self._reasoner.request()
            if request is not None:
                return request
            self._answer(self._reasoner.prompt_ids, self._reasoner.seen_tokens)
        return None if self.decoder is None else self.decoder.request()

    def _hint(self) -> str:
        most = self._model.context_tokens
        if (
            most is not None
            and len(self._prompt_ids) + self._cost().reasoning_tokens + self.settings.max_new_tokens > most
        ):
            return f"the model's context of {most} tokens is full: shorten the prompt, or the reasoning"
        return super()._hint()

    def _answer(self, prompt_ids: list[int], seen_tokens: int) -> None:
        """Begins the answer, behind the prompt or the reasoning."""
        self.decoder = Decoder(
            self._model,
            self.constraint,
            prompt_ids,
            session=self.session,
            seen_tokens=seen_tokens,
            sampler=self._sampler,
            max_new_tokens=min(self.settings.max_new_tokens, _check_room(self._model, prompt_ids)),
            stop=self.settings.stop_texts(),
            observer=self._observe(prompt_ids) if self._observe else None,
        )

    def _cost(self) -> Usage:
        decoder, reasoner = self.decoder, self._reasoner
        if decoder is None:
            return Usage(len(self._prompt_ids), 0, 0, 0, 0, 0.0)
        return Usage(
            prompt_tokens=len(self._prompt_ids),
            completion_tokens=len(decoder.token_ids),
            forced_tokens=decoder.forced_tokens,
            reasoning_tokens=0 if reasoner is None else reasoner.token_count,
            model_calls=decoder.model_calls + (0 if reasoner is None else reasoner.model_calls),
            seconds=0.0,
        )


def partial_json(text: str) -> Any:
    """The JSON value of a text that breaks off, with what was complete in it; None when nothing was.

    A string, literal or number that breaks off is left out, with its key; so is a number at the very end, which
    might have gone on.

    Example:
        >>> partial_json('{"name": "Alice", "tags": ["a", "b')
        {'name': 'Alice', 'tags': ['a']}
        >>> partial_json('{"name": "Alice", "age": 3')
        {'name': 'Alice'}
    """
    try:
        return pydantic_core.from_json(_NUMBER_AT_END.sub("", text), allow_partial=True)
    except ValueError:
        return None


_NUMBER_AT_END = re.compile(r"(?<![-+.0-9eE])-?[0-9][-+.0-9eE]*\Z")


def _check_room(model: Model, prompt_ids: list[int]) -> int:
    """How many tokens the model's context has left behind the prompt."""
    if model.context_tokens is None:
        return 1 << 62
    left = model.context_tokens - len(prompt_ids)
    if left < 1:
        raise GenerationError(
            f"the prompt has {len(prompt_ids)} tokens, and the model's context {model.context_tokens}",
            hint="shorten the prompt",
        )
    return left


def _shorten(text: str) -> str:
    return repr(text if len(text) <= _MAX_SHOWN else "…" + text[-_MAX_SHOWN:])


async def in_thread(work: Callable[[threading.Event], T]) -> T:
    """Awaits what is done in a thread. It gets an event that tells that nobody waits for it any more."""
    cancelled = threading.Event()
    try:
        return await asyncio.to_thread(work, cancelled)
    except asyncio.CancelledError:
        cancelled.set()
        raise
