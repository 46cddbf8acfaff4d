"""`trace`: run a model and record each step: chosen, allowed and refused tokens, as data or as an HTML page."""

from __future__ import annotations

import json
import reprlib
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pydantic_core
from numpy.typing import NDArray

from structgen.compilation.constraint import Constraint
from structgen.engine.matching.expectations import printable
from structgen.engine.vocabulary.bitmask import allocate_token_bitmask
from structgen.errors import GenerationError, ModelError
from structgen.generation.generator import Generator
from structgen.generation.settings import OPTION_DEFAULTS, GeneratorOptions
from structgen.limits import Limits
from structgen.models.base import RemoteModel
from structgen.output_types.grammar import Grammar
from structgen.reporting.cards import Html, as_json, card, chip, shown
from structgen.schema.json_text.lexemes import pointer_at
from structgen.schema.signatures import shows_options

if TYPE_CHECKING:
    from structgen.models.base import AnyModel, Prompt

__all__ = ["AllowedToken", "OnStep", "RefusedToken", "Step", "Trace", "page_of", "trace"]

MIN_PROBABILITY = 1e-4  # tokens below it, which were not chosen, are not recorded
MAX_EXPECTED = 20  # kinds of expected text recorded for one step
MAX_BOXES = 400  # tokens in one card
MIN_REFUSED_MASS = 0.5  # of the probability, from which a token is underlined in a card
TEMPLATE = "trace.html"
DATA = '{"steps": []}'  # the template holds this where the data goes


@dataclass(frozen=True, slots=True)
class RefusedToken:
    """A token that the model preferred and the mask refused.

    Attributes:
        token_id, text: the token; its text is printable, with control characters and partial characters escaped.
        probability: the model's probability, before the mask.
        why: the text of `Matcher.explain` for the token.
        rules: the grammar rules, or the schema locations, that refused it.
    """

    token_id: int
    text: str
    probability: float
    why: str
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AllowedToken:
    """A token that was allowed.

    Attributes:
        token_id, text: the token; its text is printable, and empty for an end token.
        share: its probability among the allowed tokens.
    """

    token_id: int
    text: str
    share: float


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a trace: one token of an answer.

    Probabilities are the model's own, at temperature 1. They are None for steps without a choice.

    Attributes:
        token_id, text: the token; its text is printable.
        is_end: the token is an end token.
        forced: the grammar left no choice about the text.
        probability: the token's probability before the mask.
        masked_probability: the token's probability among the allowed tokens.
        refused_mass: the sum of the probabilities of all refused tokens.
        allowed_tokens: the number of allowed tokens.
        alternatives: the likeliest allowed tokens with their shares, the chosen one among them if it is likely.
        wanted: the likeliest refused tokens.
        expected: what may come next, in words.
        open_rules: the open grammar rules or schema locations, the outermost first.
        pointer: the JSON pointer of the open value; None for grammars.
        rolled_back: the texts of forced tokens that were removed because the model chose differently.
        seconds: time since the step before. The time of a pass counts for its first token.
    """

    token_id: int
    text: str
    is_end: bool
    forced: bool
    probability: float | None
    masked_probability: float | None
    refused_mass: float | None
    allowed_tokens: int
    alternatives: tuple[AllowedToken, ...]
    wanted: tuple[RefusedToken, ...]
    expected: tuple[str, ...]
    open_rules: tuple[str, ...]
    pointer: str | None
    rolled_back: tuple[str, ...]
    seconds: float


OnStep = Callable[[int, Step], None]
"""Called with the number of a step and the step; 0 begins an attempt."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A run of a model, step by step.

    Attributes:
        prompt: the prompt as text; chat messages as JSON.
        schema: the schema as text.
        model: the name of the model.
        options: the options of the run.
        steps: the tokens of the answer, in order.
        text: the answer, even if it is unfinished.
        value: the value of the answer, as JSON data.
        error: the reason if there is no value, else an empty string.
        prompt_tokens, model_calls: see `structgen.Usage`; -1 if the run gave no value.
        vocabulary_size: the number of tokens in the vocabulary.
        seconds: wall-clock time, without the time that tracing took.
    """

    prompt: str
    schema: str
    model: str
    options: dict[str, Any]
    steps: tuple[Step, ...]
    text: str
    value: Any
    error: str
    prompt_tokens: int
    model_calls: int
    vocabulary_size: int
    seconds: float

    @property
    def summary(self) -> str:
        """A one-line summary: the steps, the share of forced ones, and the probability mass that was refused."""
        asked = [step.refused_mass for step in self.steps if step.refused_mass is not None]
        forced = sum(step.forced for step in self.steps)
        share = f" ({forced / len(self.steps):.0%})" if self.steps else ""
        return (
            f"{len(self.steps)} steps, {forced} forced{share}, probability refused: {sum(asked):.2f} "
            f"over {len(asked)} steps, {self.seconds:.1f} s"
        )

    def _repr_html_(self) -> str:
        return _card(self)

    def to_json(self) -> str:
        """Return the trace as JSON: an object whose members are the attributes."""
        data = {**asdict(self), "summary": self.summary}
        return json.dumps(data, ensure_ascii=False, allow_nan=False)

    def to_html(self) -> str:
        """Return the trace as a self-contained HTML page."""
        return page_of(self.to_json())


def page_of(data: str) -> str:
    """Return the page that shows a trace.

    Args:
        data: the trace as JSON; see `Trace.to_json`.
    """
    page = files("structgen.diagnostics").joinpath(TEMPLATE).read_text(encoding="utf-8")
    # Only "<" could end the script element. The other two keep the data safe when someone copies it.
    data = data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    before, after = page.split(DATA)
    return before + data + after


def _card(trace: Trace) -> str:
    """Return the trace as a card: its tokens as boxes, and what the model would rather have written."""
    boxes = "".join([_box(step) for step in trace.steps[:MAX_BOXES]])
    style = "line-height:1.9;font-family:ui-monospace,monospace"
    left = len(trace.steps) - MAX_BOXES
    more = f"… and {left:,} more tokens" if left > 0 else ""
    legend = (
        '<div style="opacity:.7;font-size:smaller">faint: forced. Underlined: most of the probability was refused; '
        "point at a token for what was. to_html() is the whole page.</div>"
    )
    return card(
        f"Trace: {trace.summary}",
        [
            ("prompt", trace.prompt),
            (
                "tokens",
                Html(f'<div style="{style}">{boxes}{more}</div>{legend}'),
            ),
            ("value", shown(as_json(trace.value)) if not trace.error else ""),
            ("error", trace.error),
            ("model", trace.model),
        ],
    )


def _box(step: Step) -> Html:
    is_underlined = (step.refused_mass or 0.0) >= MIN_REFUSED_MASS
    style = "opacity:.55" if step.forced else "border-bottom:2px solid #d9622b" if is_underlined else ""
    lines = ["forced by the schema" if step.forced else f"{step.allowed_tokens:,} allowed tokens"]
    if step.probability is not None:
        lines.append(f"probability {step.probability:.3f}, refused {step.refused_mass or 0.0:.3f}")
    lines += [f"refused {token.text!r} ({token.probability:.3f}): {token.why}" for token in step.wanted[:3]]
    lines += [f"in {step.pointer}"] if step.pointer else []
    return chip("end" if step.is_end else step.text, title="\n".join(lines), style=style)


class _Tracer:
    """An `Observer` that records steps.

    It has a matcher of its own, because the matcher of the run may be ahead.

    Attributes:
        steps: the recorded steps.
        seconds: the time spent between them.
    """

    def __init__(
        self, constraint: Constraint[Any], prompt_ids: Sequence[int], wanted: int, on_step: OnStep | None
    ) -> None:
        self._on_step = on_step
        self.steps: list[Step] = []
        self.seconds = 0.0
        self._is_json = constraint.is_json
        self._most_wanted = wanted
        self._grammar = constraint.grammar
        self._vocabulary = constraint.vocabulary
        _, prefix, self._matcher = constraint.healed(prompt_ids, keeps=1)
        self._prefix_bytes = len(prefix)  # bytes of the prompt that are written again
        self._mask = allocate_token_bitmask(1, self._vocabulary.size)
        self._rolled_back: tuple[str, ...] = ()
        self._written = bytearray()
        self._resumed = time.perf_counter()

    @property
    def text(self) -> bytes:
        """The answer so far, in bytes."""
        return bytes(self._written[self._prefix_bytes :])

    def rolled_back(self, token_ids: Sequence[int]) -> None:
        """Record a step; see `Observer`."""
        self._rolled_back = tuple(map(self._text_of, token_ids))

    def accepted(
        self, token_id: int, logits: NDArray[np.float32] | None, mask: NDArray[np.uint32] | None, *, forced: bool
    ) -> None:
        """Record a step; see `Observer`."""
        seconds = time.perf_counter() - self._resumed
        self.seconds += seconds
        if mask is None:
            self._matcher.fill_next_token_bitmask(self._mask)
            mask = self._mask[0]
        is_allowed = np.unpackbits(mask.view(np.uint8), bitorder="little", count=self._vocabulary.size).astype(bool)
        probability = masked = refused = None
        wanted: tuple[RefusedToken, ...] = ()
        alternatives: tuple[AllowedToken, ...] = ()
        if logits is not None:
            odds = _probabilities(logits)
            mass = float(odds[is_allowed].sum())
            probability, refused = float(odds[token_id]), max(0.0, 1.0 - mass)
            masked = probability / mass if mass > 0 else None
            wanted = self._wanted(np.where(is_allowed, 0.0, odds))
            if mass > 0:
                alternatives = self._alternatives(np.where(is_allowed, odds, 0.0) / mass)
        text = self.text
        ends = self._ends_with(token_id)
        self.steps.append(
            Step(
                token_id,
                "" if ends else self._text_of(token_id),
                ends,
                forced,
                probability,
                masked,
                refused,
                int(is_allowed.sum()),
                alternatives,
                wanted,
                tuple(map(str, self._matcher.expected()[:MAX_EXPECTED])),
                self._matcher.open_rules(),
                pointer_at(text, len(text)) if self._is_json else None,
                self._rolled_back,
                seconds,
            )
        )
        self._rolled_back = ()
        self._matcher.accept_token(token_id)
        self._written += b"" if ends else self._grammar.written(token_id)
        if self._on_step is not None:
            self._on_step(len(self.steps) - 1, self.steps[-1])
        self._resumed = time.perf_counter()

    def _ends_with(self, token_id: int) -> bool:
        """Return whether a token would end the answer now."""
        return token_id in self._vocabulary.eos_token_ids and self._matcher.is_accepting

    def _alternatives(self, shares: NDArray[np.float64]) -> tuple[AllowedToken, ...]:
        """Return the allowed tokens with the largest shares."""
        best = np.argsort(-shares, kind="stable")[: self._most_wanted]
        found = [int(token) for token in best if shares[token] >= MIN_PROBABILITY]
        texts = ["" if self._ends_with(token) else self._text_of(token) for token in found]
        return tuple(AllowedToken(token, text, float(shares[token])) for token, text in zip(found, texts, strict=True))

    def _wanted(self, odds: NDArray[np.float64]) -> tuple[RefusedToken, ...]:
        """Return the likeliest tokens whose probability is not zero."""
        best = np.argsort(-odds, kind="stable")[: self._most_wanted]
        found = []
        for token_id in (int(token) for token in best if odds[token] >= MIN_PROBABILITY):
            explanation = self._matcher.explain(token_id)
            text = self._text_of(token_id)
            found.append(RefusedToken(token_id, text, float(odds[token_id]), str(explanation), explanation.rules))
        return tuple(found)

    def _text_of(self, token_id: int) -> str:
        return printable(self._grammar.written(token_id))


@shows_options(GeneratorOptions, OPTION_DEFAULTS)
def trace(
    model: AnyModel,
    prompt: Prompt,
    schema: Any,
    *,
    wanted: int = 5,
    limits: Limits | None = None,
    on_step: OnStep | None = None,
    **options: Unpack[GeneratorOptions],
) -> Trace:
    """Run a model as `generate` does, and record why each token was chosen.

    Tracing takes longer than the run alone: each step computes the probabilities of all tokens. If an answer was
    refused and tried again, the trace shows the last attempt.

    Args:
        model: see `structgen.generate`.
        prompt: see `structgen.generate`.
        schema: see `structgen.generate`.
        wanted: the number of likeliest tokens to record for each step, refused ones and allowed ones each.
        limits: see `structgen.generate`.
        on_step: called with the number of each step and the step, when it is recorded. Number 0 begins an attempt: the
            steps before it belong to an answer that was refused.
        options: see `structgen.generate`.

    Returns:
        The trace, also if the run gave no value; then `error` says why.

    Raises:
        SchemaError, GrammarError, LimitExceededError: see `structgen.generate`.
        ModelError: the model is behind a server, and servers do not return probabilities.
        ValueError: `wanted` is negative, or an option is out of range.

    Example:
        >>> found = structgen.trace(model, "Alice is 34.", Person)                            # doctest: +SKIP
        >>> pathlib.Path("trace.html").write_text(found.to_html())                            # doctest: +SKIP
    """
    if wanted < 0:
        raise ValueError(f"wanted must be 0 or more, not {wanted}")
    generator: Generator[Any] = Generator(model, schema, limits=limits, **options)
    if isinstance(model, RemoteModel):
        raise ModelError("tracing needs token probabilities, which servers do not return", hint="trace a local model")
    tracers: list[_Tracer] = []

    def observe(prompt_ids: list[int]) -> _Tracer:
        tracers.append(_Tracer(generator.constraint, prompt_ids, wanted, on_step))
        return tracers[-1]

    value, error, model_calls, prompt_tokens = None, "", -1, -1
    text = ""
    try:
        result = generator.run(prompt, observe=observe)
        value = _as_json_data(result.value)
        text, model_calls, prompt_tokens = result.text, result.usage.model_calls, result.usage.prompt_tokens
    except GenerationError as failure:
        error = f"{type(failure).__name__}: {failure}"
        text = tracers[-1].text.decode(errors="backslashreplace") if tracers else ""
    return Trace(
        prompt=_prompt_text(prompt),
        schema=_schema_text(schema, generator.constraint),
        model=repr(model),
        options=_as_json_data(dict(options)),
        steps=tuple(tracers[-1].steps) if tracers else (),
        text=text,
        value=value,
        error=error,
        prompt_tokens=prompt_tokens,
        model_calls=model_calls,
        vocabulary_size=model.vocabulary.size,
        seconds=tracers[-1].seconds if tracers else 0.0,
    )


def _prompt_text(prompt: Prompt) -> str:
    """Return a prompt as text; chat messages as JSON."""
    return prompt if isinstance(prompt, str) else json.dumps(prompt, ensure_ascii=False, default=repr, indent=2)


def _as_json_data(value: Any) -> Any:
    """Return a value as JSON data, with NaN as a string; the short form of a value that is nested too deeply."""
    try:
        return json.loads(pydantic_core.to_json(value, fallback=repr, inf_nan_mode="strings", bytes_mode="base64"))
    except pydantic_core.PydanticSerializationError:
        return reprlib.repr(value)


def _probabilities(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the softmax of logits. If the largest are infinite, they share the probability."""
    values = np.where(np.isnan(logits), -np.inf, logits).astype(np.float64)
    top = values.max()
    weights = np.exp(values - top) if np.isfinite(top) else (values == top).astype(np.float64)
    return np.asarray(weights / weights.sum())


def _schema_text(schema: Any, constraint: Constraint[Any]) -> str:
    """Return a schema as text for the page."""
    if isinstance(schema, Grammar):
        return schema.source
    if constraint.source is None:
        return repr(schema)
    return json.dumps(constraint.source.plain_schema, ensure_ascii=False, indent=2, default=str)
