"""The run of one prompt: reasoning, an answer under the schema, validation, and retries.

    Run.step:  request -> the model reads -> take      repeated until the answer has ended
    _finish:   parse and validate -> Result, or another attempt with the errors

A `Run` knows neither threads nor batches: its caller lets the model read. `LocalRun` has a model with logits;
`structgen.generation.server_run` has one behind a server.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar, cast

import jsonschema
import pydantic

from structgen.compilation.constraint import Constraint
from structgen.errors import GenerationError, IncompleteOutputError, ValidationFailedError
from structgen.generation.aligned.answer import AlignedAnswer
from structgen.generation.aligned.reader import Cancelled
from structgen.generation.decoder import Answer, Decoder, FinishReason, Observer
from structgen.generation.logprobs import LogprobRecorder, TokenLogprob, confidence
from structgen.generation.partial_json import partial_value
from structgen.generation.partial_yaml import partial_yaml_value
from structgen.generation.prompts import encode, with_errors
from structgen.generation.reasoner import Reasoner, is_begun
from structgen.generation.reasoning_marks import marks_of
from structgen.generation.settings import Reasoning, Settings
from structgen.generation.usage import Usage
from structgen.models.base import Request
from structgen.reporting.cards import as_json, card
from structgen.reporting.telemetry import Span, logger
from structgen.schema.sentences import reasons

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from structgen.compilation.captures import Captures
    from structgen.models.asked import Masks
    from structgen.models.base import Model, Prompt, Session

__all__ = ["EncodePrompt", "LocalRun", "Result", "Run", "in_thread"]

T = TypeVar("T")

EncodePrompt: TypeAlias = "Callable[[Prompt, Settings], tuple[Prompt, list[int]]]"
"""Returns the messages and the tokens of a prompt."""

_MAX_SHOWN = 120  # characters of an incomplete answer, in its error


@dataclass(frozen=True, slots=True)
class Result(Generic[T]):
    """Result of a run.

    Attributes:
        value: the validated value.
        text: the text of the value.
        usage: the cost of the run.
        finish_reason: "stop" where the model ended the text; "length" where it would have written more, and the budget
            or `max_repeats` decided how the text ends. The text is complete in both cases.
        token_ids: the answer's tokens, without the end token.
        reasoning: the text that the model wrote before the answer, without its marks; "" without `reasoning`.
        attempts: the earlier texts that a validator refused, each with its error.
        captures: for a Lark grammar with captures, the captured texts by name; see `Constraint.captures`.
        logprobs: with `logprobs=True`, the log-probabilities of the answer's tokens.
        is_json: whether the text is JSON.
        masks: who masked the text. "local": structgen. "server": the server, which was sent the whole constraint.
            "wider": the server, which was sent a wider one. "none": nobody, as far as structgen knows. What a server
            answers is validated in all cases.
    """

    value: T
    text: str
    usage: Usage
    finish_reason: FinishReason
    token_ids: tuple[int, ...]
    reasoning: str = ""
    attempts: tuple[tuple[str, Exception], ...] = ()
    captures: Captures = field(default_factory=dict)
    logprobs: tuple[TokenLogprob, ...] = ()
    is_json: bool = False
    masks: Masks = "local"

    def confidence(self, pointer: str = "") -> float:
        """Return the probability with which the model wrote a value, among what the schema allows.

        It is the product over the tokens of the value, each among the allowed tokens, at temperature 1. Text that the
        schema leaves no choice about counts as certain.

        Args:
            pointer: the JSON pointer of a value in the answer, such as "/address/city"; "" for the whole answer.

        Raises:
            ValueError: there is no such value, or the call was made without `logprobs=True`.

        Example:
            >>> result = generator.run("Ann is 34.", logprobs=True)                           # doctest: +SKIP
            >>> result.confidence("/age")                                                     # doctest: +SKIP
            0.97
        """
        return confidence(self.logprobs, self.text, pointer, is_json=self.is_json)

    def _repr_html_(self) -> str:
        used = self.usage
        cost = (
            f"{used.completion_tokens} tokens ({used.forced_tokens} forced), {used.model_calls} passes of the model, "
            f"{used.prompt_tokens} tokens of the prompt, {used.seconds:.2f} s"
        )
        refused = [(f"refused {number}", f"{text}\n{error}") for number, (text, error) in enumerate(self.attempts, 1)]
        text = "" if self.value == self.text else self.text
        rows = [("value", as_json(self.value)), ("text", text), ("reasoning", self.reasoning), *refused]
        return card(f"Result: {type(self.value).__name__}", [*rows, ("ended by", self.finish_reason), ("cost", cost)])


class RunSession(Protocol):
    """The reader of a run: a `Session` of a local model, or the answer of a server."""

    def forward(self, token_ids: Sequence[int], *, keep: int = 1) -> Any:
        """Read tokens, and return the result that `Run.take` accepts."""


class Run(ABC, Generic[T]):
    """A run of one prompt: attempts, each with a text, until a validator accepts one.

    The caller asks for a `request`, lets the model read it in `session`, and passes the result to `take`; or leaves all
    of this to `step`. So runs can be driven in batches or one at a time. Subclasses implement an attempt.

    Attributes:
        constraint: the constraint of the text.
        settings: the settings.
        session: the model's session in this attempt.
        decoder: the answer of this attempt; None while the model reasons.
        result: the result; None until the run has ended.
        attempts: the texts that were refused so far, with their errors.

    Raises (all methods):
        IncompleteOutputError: the token budget ended before the text did; with the values that were complete.
        ValidationFailedError: a validator refused every attempt.
        GenerationError: the prompt does not fit the model.
        LimitExceededError: a bound of `limits` was passed on the way.
    """

    session: RunSession
    decoder: Answer | None
    reads_messages = True

    def __init__(self, constraint: Constraint[T], prompt: Prompt, settings: Settings) -> None:
        self.constraint = constraint
        self.settings = settings
        self.result: Result[T] | None = None
        self.attempts: list[tuple[str, Exception]] = []
        self._cancelled = threading.Event()  # that of `to_end`
        self._span = Span("structgen.run")
        self._spent = Usage(0, 0, 0, 0, 0, 0.0)
        self._counted: Answer | None = None  # the last answer whose cost is in it
        self._prompt = self._begin(prompt, settings)

    @property
    @abstractmethod
    def reasoning(self) -> str:
        """The model's reasoning so far, in this attempt."""

    @property
    def masks(self) -> Masks:
        """The program that masks the answer; see `Result.masks`."""
        return "local"

    @property
    def may_retry(self) -> bool:
        """True if a refused answer will be written again."""
        return len(self.attempts) < self.settings.max_retries

    def step(self) -> bool:
        """Run one pass of the model, for this run alone; return False when there is a result."""
        request = self.request()
        if request is None:
            return False
        self.take(self.session.forward(request.token_ids, keep=request.keep))
        return True

    def to_end(self, cancelled: threading.Event) -> Result[T]:
        """Run to the result.

        Args:
            cancelled: when set, the run stops after the step under way.
        """
        self._cancelled = cancelled
        with contextlib.suppress(Cancelled):
            while not cancelled.is_set() and self.step():
                pass
        return cast(Result[T], self.result)

    def close(self) -> None:
        """End work that is still under way elsewhere, such as a server's answer."""
        return

    def cost(self) -> Usage:
        """Return the cost so far, all attempts together."""
        is_counted = self.decoder is not None and self._counted is self.decoder
        spent = self._spent if is_counted else self._spent.plus(self._cost())
        return replace(spent, seconds=self._span.seconds)

    def request(self) -> Request | None:
        """Return the tokens that the model has to read next; None when there is a result."""
        while self.result is None:
            request = self._request()
            if request is not None:
                return request
            self._finish()
        return None

    @abstractmethod
    def take(self, given: Any) -> None:
        """Accept the session's result for the last request.

        Args:
            given: what `session.forward` returned: for a local model the logits, float32[keep, V]; for a server a piece
                of its answer.
        """

    @abstractmethod
    def _begin(self, prompt: Prompt, settings: Settings) -> Prompt:
        """Begin an attempt, and return its whole prompt."""

    @abstractmethod
    def _request(self) -> Request | None:
        """Return the tokens that the model has to read next in this attempt; None when its text has ended."""

    @abstractmethod
    def _cost(self) -> Usage:
        """Return the cost of this attempt, apart from `seconds`."""

    def _finish(self) -> None:
        """Validate the answer; set the result, or begin another attempt."""
        try:
            self._conclude()
        except Exception as error:
            self._end_span(error)
            raise
        if self.result is not None:
            self._end_span()

    def _end_span(self, error: Exception | None = None) -> None:
        """End the span of the run for telemetry, with its cost."""
        used = self._spent
        attributes = {
            "gen_ai.usage.input_tokens": used.prompt_tokens,
            "gen_ai.usage.output_tokens": used.completion_tokens,
            "gen_ai.response.finish_reasons": None if self.result is None else (self.result.finish_reason,),
            "structgen.forced_tokens": used.forced_tokens,
            "structgen.reasoning_tokens": used.reasoning_tokens,
            "structgen.model_calls": used.model_calls,
            "structgen.refused_attempts": len(self.attempts),
            "structgen.masks": self.masks,
        }
        self._span.end(attributes, error=error)

    def _conclude(self) -> None:
        decoder = cast(Answer, self.decoder)
        self._spent, self._counted = self._spent.plus(self._cost()), decoder
        text = self._whole_text()
        try:
            value = self._validated(text)
        except StopIteration as error:  # no future can hold it, so the caller would wait for ever
            raise RuntimeError("a validator raised StopIteration") from error
        except (pydantic.ValidationError, jsonschema.ValidationError, ValueError, AssertionError) as error:
            is_last = not self.may_retry
            self.attempts.append((text, error))
            if is_last:
                raise self._refusal(error) from error
            logger.info("answer %d was refused (%s); trying again", len(self.attempts), type(error).__name__)
            logger.debug("the refused answer: %s\n%s", text, error)
            again = with_errors(self._prompt, text, error, as_text=not self.reads_messages)
            self._prompt = self._begin(again, self.settings.for_retry())
            return
        usage = replace(self._spent, seconds=self._span.seconds)
        reason: FinishReason = decoder.finish_reason or "stop"
        if reason == "length":
            logger.info("the budget of %d tokens decided how the answer ends", self.settings.max_new_tokens)
        ids = tuple(decoder.token_ids)
        self.result = Result(
            value,
            text,
            usage,
            reason,
            ids,
            self.reasoning,
            tuple(self.attempts),
            self.constraint.captures(text),
            self._logprobs(),
            self.constraint.is_json,
            self.masks,
        )

    def _logprobs(self) -> tuple[TokenLogprob, ...]:
        """Return the log-probabilities of the answer; nothing where they are not asked for."""
        return ()

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
            what = "the answer fits the schema, but its validation failed"
        else:
            what = f"{len(self.attempts)} answers fit the schema, but the last one's validation failed"
        hint = "" if self.settings.max_retries else "max_retries=… sends the errors back to the model"
        return ValidationFailedError(f"{what}: {error}", attempts=self.attempts, hint=hint, reasons=reasons(error))

    def _whole_text(self) -> str:
        decoder = cast(Answer, self.decoder)
        if decoder.finish_reason == "stop" or decoder.is_complete:
            return decoder.text_bytes.decode(errors="replace")
        text = decoder.text_bytes.decode(errors="ignore")
        count = len(decoder.token_ids) or self._cost().completion_tokens
        raise IncompleteOutputError(
            f"the answer was not finished after {count} tokens: {_shorten(text)}",
            text=text,
            partial=self._partial(text),
            hint=self._hint(),
        )

    def _hint(self) -> str:
        """Return a hint for an incomplete answer."""
        return "raise max_new_tokens, or bound the schema (max_length, max_items)"

    def _partial(self, text: str) -> Any:
        """Return the complete values of an incomplete text; None for a grammar."""
        if self.constraint.line is not None:
            return partial_value("[" + text.replace("\n", ","))
        if self.constraint.is_yaml:
            return partial_yaml_value(text)
        return partial_value(text) if self.constraint.is_json else None


class LocalRun(Run[T]):
    """A run of a local model, whose answer is masked.

    Args:
        model, constraint, prompt, settings: the model, and what to ask it.
        new_session: makes a session for each attempt; by default `model.session`.
        observe: called with the prompt's token ids at each attempt; returns the `Observer` to notify.
        encode_prompt: returns the messages and tokens of a prompt, in place of `structgen.generation.prompts.encode`.
        writes_answer_mark: whether to write the mark that begins the answer, in families of models that have one.
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
        encode_prompt: EncodePrompt | None = None,
        writes_answer_mark: bool = True,
    ) -> None:
        if settings.is_aligned and (observe is not None or encode_prompt is not None):
            raise ValueError("sampling and num_beams compare whole answers: they do not go with traces and tool calls")
        self.session: Session
        self.decoder: Decoder | AlignedAnswer | None
        self.reads_messages = not settings.raw and model.chat_template is not None
        self._model = model
        self._new_session = new_session or model.session
        self._observe = observe
        self._encode_prompt = encode_prompt
        self._writes_answer_mark = writes_answer_mark
        self._answer_prompt_ids: list[int] = []
        self._recorder: LogprobRecorder | None = None
        self._sampler = settings.sampler()
        settings.adjuster().check(model.vocabulary.size)
        super().__init__(constraint, prompt, settings)

    @property
    def reasoning(self) -> str:
        """The model's reasoning so far, in this attempt."""
        return "" if self._reasoner is None else self._reasoner.text

    def answer_prompt_ids(self) -> list[int]:
        """Return the tokens before the answer, for a run that does not reason."""
        self.request()  # closes the reasoning that a chat template has opened
        return self._answer_prompt_ids

    def take(self, given: NDArray[float32]) -> None:
        """Accept the logits of the last request."""
        phase = self._reasoner if self.decoder is None else self.decoder
        if phase is not None:
            phase.take(given)

    def _begin(self, prompt: Prompt, settings: Settings) -> Prompt:
        if self._encode_prompt is None:
            messages, self._prompt_ids = encode(self._model, prompt, self.constraint, settings)
        else:
            messages, self._prompt_ids = self._encode_prompt(prompt, settings)
        if not self._prompt_ids:
            raise ValueError("the prompt has no tokens: a model reads at least one before its answer")
        self.session = self._new_session()
        self.decoder = None
        self._reasoner = self._begin_reasoning(settings)
        if self._reasoner is None:
            self._answer(self._prompt_ids, 0)
        else:
            self._reasoner.leave_room(_check_room(self._model, self._reasoner.prompt_ids))
        return messages

    def _begin_reasoning(self, settings: Settings) -> Reasoner | None:
        """Return the reasoner of an attempt; None where the answer begins at once.

        Without `reasoning`, an open start mark at the end of the prompt is closed, and the mark before the answer is
        written: some chat templates always open the reasoning.
        """
        asked = settings.asked_reasoning()
        if asked is not None:
            return Reasoner(
                self._model, self._prompt_ids, asked, self._sampler, writes_answer_mark=self._writes_answer_mark
            )
        known = marks_of(self._model.chat_template) if self.reads_messages else None
        if known is None:
            return None
        if is_begun(self._model, self._prompt_ids, known.start):
            none = Reasoning(max_tokens=0)
            return Reasoner(
                self._model, self._prompt_ids, none, self._sampler, writes_answer_mark=self._writes_answer_mark
            )
        if known.answer and self._writes_answer_mark and not is_begun(self._model, self._prompt_ids, (known.answer,)):
            self._prompt_ids = [*self._prompt_ids, *self._model.encode_text(known.answer)]
        return None

    def _request(self) -> Request | None:
        if self.decoder is None and self._reasoner is not None:
            request = self._reasoner.request()
            if request is not None:
                return request
            self._answer(self._reasoner.prompt_ids, self._reasoner.seen_tokens)
        return None if self.decoder is None else self.decoder.request()

    def _hint(self) -> str:
        context_tokens = self._model.context_tokens
        if (
            context_tokens is not None
            and len(self._prompt_ids) + self._cost().reasoning_tokens + self.settings.max_new_tokens > context_tokens
        ):
            return f"the model's context of {context_tokens} tokens is full: shorten the prompt or the reasoning"
        return super()._hint()

    def _answer(self, prompt_ids: list[int], seen_tokens: int) -> None:
        """Begin the answer after the prompt or the reasoning."""
        self._answer_prompt_ids = prompt_ids
        max_new_tokens = min(self.settings.max_new_tokens, _check_room(self._model, prompt_ids))
        if self.settings.is_aligned:
            self.decoder = AlignedAnswer(
                self._model,
                self.constraint,
                prompt_ids,
                settings=self.settings,
                max_new_tokens=max_new_tokens,
                validated=self._validated,
                is_cancelled=lambda: self._cancelled.is_set(),
            )
            return
        observer = self._observe(prompt_ids) if self._observe else None
        if self.settings.logprobs:
            observer = self._recorder = LogprobRecorder(self.constraint, prompt_ids, observer)
        self.decoder = Decoder(
            self._model,
            self.constraint,
            prompt_ids,
            session=self.session,
            seen_tokens=seen_tokens,
            sampler=self._sampler,
            adjuster=self.settings.adjuster(),
            max_new_tokens=max_new_tokens,
            stop=self.settings.stop_texts(),
            finish=self.settings.on_budget == "finish",
            max_repeats=self.settings.max_repeats,
            observer=observer,
        )

    def _logprobs(self) -> tuple[TokenLogprob, ...]:
        if self._recorder is None or self.decoder is None or not self._recorder.tokens:
            return ()
        *before, last = self._recorder.tokens
        size = len(self.decoder.text_bytes)
        return (*before, replace(last, start=min(last.start, size), end=min(last.end, size)))

    def _cost(self) -> Usage:
        decoder, reasoner = self.decoder, self._reasoner
        if decoder is None:
            return Usage(len(self._prompt_ids), 0, 0, 0, 0, 0.0)
        return Usage(
            prompt_tokens=len(self._prompt_ids),
            completion_tokens=decoder.token_count,
            forced_tokens=decoder.forced_tokens,
            reasoning_tokens=0 if reasoner is None else reasoner.token_count,
            model_calls=decoder.model_calls + (0 if reasoner is None else reasoner.model_calls),
            seconds=0.0,
        )


def _check_room(model: Model, prompt_ids: list[int]) -> int:
    """Return the number of tokens left in the model's context after the prompt."""
    if model.context_tokens is None:
        return 1 << 62
    left = model.context_tokens - len(prompt_ids)
    if left < 1:
        raise GenerationError(
            f"the prompt has {len(prompt_ids)} tokens, but the model's context only {model.context_tokens}",
            hint="shorten the prompt",
        )
    return left


def _shorten(text: str) -> str:
    return repr(text if len(text) <= _MAX_SHOWN else "…" + text[-_MAX_SHOWN:])


async def in_thread(work: Callable[[threading.Event], T]) -> T:
    """Run a function in a thread, and await it.

    Args:
        work: the function. Its argument is an event that is set when the awaiting task is cancelled.
    """
    cancelled = threading.Event()
    try:
        return await asyncio.to_thread(work, cancelled)
    except asyncio.CancelledError:
        cancelled.set()
        raise
