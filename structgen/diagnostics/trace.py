"""`trace`: a run of a model with all that was wanted, allowed and refused on the way, as data and as a page."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
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
from structgen.generation.settings import GeneratorOptions
from structgen.limits import Limits
from structgen.models.base import Server
from structgen.output_types.grammar import Grammar
from structgen.schema.json_text.lexemes import pointer_at

if TYPE_CHECKING:
    from structgen.models.base import AnyModel, Prompt

__all__ = ["RefusedToken", "Step", "Trace", "trace"]

MIN_REFUSED_PROBABILITY = 1e-4  # of a token's probability, to be told of
MAX_EXPECTED = 20  # kinds of text that could have stood at a place
TEMPLATE = "trace.html"
DATA = '{"steps": []}'  # what the template holds in its place


@dataclass(frozen=True, slots=True)
class RefusedToken:
    """A token that the model wanted, and that was refused.

    Attributes:
        token_id, text: the token; its text is printable, control characters and halves of characters escaped.
        probability: by the model, before the mask.
        why: what `Matcher.explain` says of it.
        rules: the rules of the grammar, or the places in the schema, that refused it.
    """

    token_id: int
    text: str
    probability: float
    why: str
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A token of an answer. Probabilities are the model's own, at a temperature of 1; None where it was not asked.

    Attributes:
        token_id, text: the token; its text is printable.
        is_end: whether it is an end token.
        forced: whether the grammar left no choice about its text.
        probability: before the mask.
        masked_probability: after it, among the tokens that are allowed.
        refused_mass: the probability of all tokens that are not allowed.
        allowed_tokens: how many are.
        wanted: the likeliest of those that are not.
        expected: what may stand there, in words.
        open_rules: the rules, or places in the schema, that are under way, the outermost first.
        pointer: of JSON, the JSON pointer of the value that is under way; None for grammars.
        rolled_back: the texts of tokens that had been expected there, before the model chose otherwise.
        seconds: since the token before; the pass of the model counts for its first token.
    """

    token_id: int
    text: str
    is_end: bool
    forced: bool
    probability: float | None
    masked_probability: float | None
    refused_mass: float | None
    allowed_tokens: int
    wanted: tuple[RefusedToken, ...]
    expected: tuple[str, ...]
    open_rules: tuple[str, ...]
    pointer: str | None
    rolled_back: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Trace:
    """A run of a model, step by step.

    Attributes:
        prompt: as text; chat messages as JSON.
        schema: as text.
        model: its name.
        options: those of the run.
        steps: the tokens of the answer, in order.
        text: the answer; where it was not finished, as far as it came.
        value: what was read from it, as JSON data.
        error: why there is no value, or an empty string.
        prompt_tokens, model_calls: see `structgen.Usage`; -1 where the run gave no value.
        vocabulary_size: how many tokens there are.
        seconds: wall-clock time, without that which the trace itself took.
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
        """One line: steps, how many were forced, how much of what the model wanted was refused."""
        asked = [step.refused_mass for step in self.steps if step.refused_mass is not None]
        forced = sum(step.forced for step in self.steps)
        share = f" ({forced / len(self.steps):.0%})" if self.steps else ""
        return (
            f"{len(self.steps)} steps, {forced} forced{share}, probability refused: {sum(asked):.2f} "
            f"over {len(asked)} places where the model was asked, {self.seconds:.1f} s"
        )

    def to_json(self) -> str:
        """The trace as JSON: an object with the attributes, and so on inwards."""
        data = {**asdict(self), "summary": self.summary}
        return json.dumps(data, ensure_ascii=False, allow_nan=False)

    def to_html(self) -> str:
        """The trace as a page of its own: nothing is loaded from elsewhere."""
        page = files("structgen.diagnostics").joinpath(TEMPLATE).read_text(encoding="utf-8")
        # Within a script element nothing but "<" could end it; the other two are for whoever copies the data.
        data = self.to_json().replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
        before, after = page.split(DATA)
        return before + data + after


class _Tracer:
    """An `Observer` that keeps steps. It has a matcher of its own: the run's may be ahead of what it is told.

    Attributes:
        steps: so far.
        seconds: the time between them.
    """

    def __init__(self, constraint: Constraint[Any], prompt_ids: Sequence[int], wanted: int) -> None:
        self.steps: list[Step] = []
        self.seconds = 0.0
        self._is_json = constraint.is_json
        self._most_wanted = wanted
        self._vocabulary = constraint.vocabulary
        _, prefix, self._matcher = constraint.healed(prompt_ids)
        self._prefix_bytes = len(prefix)  # of the prompt, written again
        self._mask = allocate_token_bitmask(1, self._vocabulary.size)
        self._taken_back: tuple[str, ...] = ()
        self._written = bytearray()
        self._resumed = time.perf_counter()

    @property
    def text(self) -> bytes:
        """The answer so far."""
        return bytes(self._written[self._prefix_bytes :])

    def rolled_back(self, token_ids: Sequence[int]) -> None:
        """See `Observer`."""
        self._taken_back = tuple(map(self._text_of, token_ids))

    def accepted(
        self, token_id: int, logits: NDArray[np.float32] | None, mask: NDArray[np.uint32] | None, *, forced: bool
    ) -> None:
        """See `Observer`."""
        seconds = time.perf_counter() - self._resumed
        self.seconds += seconds
        if mask is None:
            self._matcher.fill_next_token_bitmask(self._mask)
            mask = self._mask[0]
        is_allowed = np.unpackbits(mask.view(np.uint8), bitorder="little", count=self._vocabulary.size).astype(bool)
        probability = masked = refused = None
        wanted: tuple[RefusedToken, ...] = ()
        if logits is not None:
            odds = _probabilities(logits)
            mass = float(odds[is_allowed].sum())
            probability, refused = float(odds[token_id]), max(0.0, 1.0 - mass)
            masked = probability / mass if mass > 0 else None
            wanted = self._wanted(np.where(is_allowed, 0.0, odds))
        text = self.text
        self.steps.append(
            Step(
                token_id,
                self._text_of(token_id),
                token_id in self._vocabulary.eos_token_ids,
                forced,
                probability,
                masked,
                refused,
                int(is_allowed.sum()),
                wanted,
                tuple(map(str, self._matcher.expected()[:MAX_EXPECTED])),
                self._matcher.open_rules(),
                pointer_at(text, len(text)) if self._is_json else None,
                self._taken_back,
                seconds,
            )
        )
        self._taken_back = ()
        self._matcher.accept_token(token_id)
        self._written += self._vocabulary.token_bytes(token_id) or b""
        self._resumed = time.perf_counter()

    def _wanted(self, odds: NDArray[np.float64]) -> tuple[RefusedToken, ...]:
        """The likeliest tokens, of those that have odds."""
        best = np.argsort(-odds, kind="stable")[: self._most_wanted]
        found = []
        for token_id in (int(token) for token in best if odds[token] >= MIN_REFUSED_PROBABILITY):
            explanation = self._matcher.explain(token_id)
            text = self._text_of(token_id)
            found.append(RefusedToken(token_id, text, float(odds[token_id]), str(explanation), explanation.rules))
        return tuple(found)

    def _text_of(self, token_id: int) -> str:
        return printable(self._vocabulary.token_bytes(token_id) or b"")


def trace(
    model: AnyModel,
    prompt: Prompt,
    schema: Any,
    *,
    wanted: int = 5,
    limits: Limits | None = None,
    **options: Unpack[GeneratorOptions],
) -> Trace:
    """Runs a model as `generate` does, and keeps why each token was taken.

    It takes longer than the run alone: a probability of every token is computed for every step. Where an answer was
    refused and tried again, the last one is traced.

    Args:
        model: as of `structgen.generate`.
        prompt: the same.
        schema: the same.
        wanted: keep so many of the likeliest tokens that were refused, for each step.
        limits: as of `structgen.generate`.
        options: the same.

    Returns:
        The trace; also where the run gave no value, with its `error`.

    Raises:
        SchemaError, GrammarError, LimitExceededError: as `structgen.generate`.
        ModelError: the model is behind a server, which tells no probabilities.
        ValueError: `wanted` is negative, or an option out of its range.

    Example:
        >>> found = structgen.trace(model, "Alice is 34.", Person)                            # doctest: +SKIP
        >>> pathlib.Path("trace.html").write_text(found.to_html())                            # doctest: +SKIP
    """
    if wanted < 0:
        raise ValueError(f"wanted must be 0 or more, not {wanted}")
    generator: Generator[Any] = Generator(model, schema, limits=limits, **options)
    if isinstance(model, Server):
        raise ModelError("a server tells no probabilities", hint="trace a local model")
    tracers: list[_Tracer] = []

    def observe(prompt_ids: list[int]) -> _Tracer:
        tracers.append(_Tracer(generator.constraint, prompt_ids, wanted))
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
        prompt=prompt if isinstance(prompt, str) else json.dumps(prompt, ensure_ascii=False, default=repr, indent=2),
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


def _as_json_data(value: Any) -> Any:
    """A value as it can be written in JSON; NaN as a text."""
    return json.loads(pydantic_core.to_json(value, fallback=repr, inf_nan_mode="strings", bytes_mode="base64"))


def _probabilities(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """The distribution of some logits; of infinite ones, those that are largest share it."""
    values = np.where(np.isnan(logits), -np.inf, logits).astype(np.float64)
    top = values.max()
    weights = np.exp(values - top) if np.isfinite(top) else (values == top).astype(np.float64)
    return np.asarray(weights / weights.sum())


def _schema_text(schema: Any, constraint: Constraint[Any]) -> str:
    """A schema for the reader of a trace."""
    if isinstance(schema, Grammar):
        return schema.source
    if constraint.source is None:
        return repr(schema)
    return json.dumps(constraint.source.plain_schema, ensure_ascii=False, indent=2, default=str)
