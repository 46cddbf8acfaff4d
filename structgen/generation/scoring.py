"""`score` and `classify`: the probabilities of given answers, without generating.

The model reads the prompt once. Then it reads the tokens of each answer; answers that begin with the same tokens share
their passes:

    prompt | not good <end>
           |     bad <end>         reads " bad" after "not", where the session was cut back
           | good <end>
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, Unpack, cast, get_origin

import numpy as np

from structgen.compilation.constraint import Constraint
from structgen.engine.vocabulary.bitmask import allocate_token_bitmask, tokens_of
from structgen.errors import ModelError
from structgen.generation.generator import Generator
from structgen.generation.logprobs import log_sum
from structgen.generation.prompts import text_for
from structgen.generation.runs import LocalRun, in_thread
from structgen.generation.sampling import checked_logits, without_nan
from structgen.generation.settings import OPTION_DEFAULTS, ConstraintOptions, GeneratorOptions, check_names
from structgen.limits import Limits
from structgen.models.base import Model, Prompt, Session
from structgen.output_types.grammar import Grammar
from structgen.schema.signatures import shows_options

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Score", "ScoreOptions", "aclassify", "ascore", "classify", "score"]

T = TypeVar("T")


class ScoreOptions(ConstraintOptions, total=False):
    """Keyword arguments of `score` and `classify`: those of a prompt and of a constraint.

    Attributes:
        raw, system, examples, describe_schema, template: see `structgen.settings.GenerationOptions`.
    """

    raw: bool
    system: str | None
    examples: Sequence[tuple[Any, Any]]
    describe_schema: bool
    template: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Score(Generic[T]):
    """The log-probabilities of an answer: natural logarithms, at temperature 1.

    Attributes:
        value: the answer, as it was given.
        text: its text.
        token_ids: the tokens of the text, as the tokenizer splits it, without an end token.
        logprob: of these tokens and the end of the answer, as the model has them, without a mask.
        allowed_logprob: of the same under the mask: how likely `generate` writes these tokens at temperature 1.
        token_logprobs: of each token without a mask, and of the end.
    """

    value: T
    text: str
    token_ids: tuple[int, ...]
    logprob: float
    allowed_logprob: float
    token_logprobs: tuple[float, ...]


@shows_options(ScoreOptions, OPTION_DEFAULTS)
def score(
    model: Model,
    prompt: Prompt,
    values: Sequence[T],
    schema: Any = None,
    *,
    limits: Limits | None = None,
    **options: Unpack[ScoreOptions],
) -> list[Score[T]]:
    """Return the log-probabilities of given answers to a prompt.

    Args:
        model: a local model.
        prompt: see `structgen.generate`.
        values: the answers: values of the schema, as instances or data; texts for a grammar. Without a schema they are
            texts, and only these texts are allowed.
        schema: see `structgen.generate`.
        limits: bounds on what the schema may cost.
        options: see `ScoreOptions`.

    Returns:
        A score for each answer, in their order.

    Raises:
        ValueError: there is no answer, or one does not fit the schema.
        ModelError: the model is behind a server, which gives no log-probabilities.
        GenerationError: the prompt does not fit the model.

    Example:
        >>> scores = structgen.score(model, "The capital of France is", ["Paris", "Lyon"])    # doctest: +SKIP
        >>> scores[0].logprob > scores[1].logprob                                             # doctest: +SKIP
        True
    """
    return _scores(model, prompt, values, schema, limits, options, threading.Event())


@shows_options(ScoreOptions, OPTION_DEFAULTS)
async def ascore(
    model: Model,
    prompt: Prompt,
    values: Sequence[T],
    schema: Any = None,
    *,
    limits: Limits | None = None,
    **options: Unpack[ScoreOptions],
) -> list[Score[T]]:
    """Run `score` in a thread, and await it. If it is cancelled, the model stops after the answer under way.

    The arguments and errors are those of `structgen.score`.

    Example:
        >>> scores = await structgen.ascore(model, "The capital of France is", ["Paris", "Lyon"])  # doctest: +SKIP
    """
    return await in_thread(lambda cancelled: _scores(model, prompt, values, schema, limits, options, cancelled))


def _scores(
    model: Model,
    prompt: Prompt,
    values: Sequence[T],
    schema: Any,
    limits: Limits | None,
    options: ScoreOptions,
    cancelled: threading.Event,
) -> list[Score[T]]:
    """Return the scores of all answers; of none after a cancellation."""
    check_names(cast(dict[str, Any], options), tuple(ScoreOptions.__annotations__))
    values = _listed(values)
    allowed = Grammar.choice(cast(list[str], values)) if schema is None else schema
    generator: Generator[Any] = Generator(model, allowed, limits=limits, **cast(GeneratorOptions, options))
    run = generator.begin(prompt, on_budget="error", max_repeats=None)
    if not isinstance(run, LocalRun):
        raise ModelError("the model is behind a server, which gives no log-probabilities", hint="load a local model")
    reader = _Reader(model, generator.constraint, run.answer_prompt_ids())
    texts = [text_for(value, generator.constraint, f"answer {index}") for index, value in enumerate(values)]
    tokens = [reader.tokens_of(text) for text in texts]
    scores: dict[int, Score[T]] = {}
    for index in sorted(range(len(tokens)), key=tokens.__getitem__):  # neighbours share the most tokens
        if cancelled.is_set():
            return []
        scores[index] = replace(reader.score(texts[index], tokens[index]), value=values[index])
    return [scores[index] for index in range(len(values))]


@shows_options(ScoreOptions, OPTION_DEFAULTS)
def classify(
    model: Model,
    prompt: Prompt,
    choices: Sequence[str],
    *,
    limits: Limits | None = None,
    **options: Unpack[ScoreOptions],
) -> dict[str, float]:
    """Return the probability of each choice, given that the answer is one of them.

    These are the probabilities of the model itself, of whole answers: the mask of `generate` decides token by token,
    and may prefer a choice that begins well.

    Args:
        model: a local model.
        prompt: see `structgen.generate`.
        choices: the texts of the answers.
        limits: bounds on what the choices may cost.
        options: see `ScoreOptions`.

    Returns:
        The probabilities by choice, the likeliest first. Their sum is 1.

    Raises:
        ValueError, ModelError, GenerationError: see `score`.

    Example:
        >>> structgen.classify(model, "Is 'I love it' praise or blame?", ["praise", "blame"])  # doctest: +SKIP
        {'praise': 0.93, 'blame': 0.07}
    """
    return _odds(score(model, prompt, choices, limits=limits, **options))


@shows_options(ScoreOptions, OPTION_DEFAULTS)
async def aclassify(
    model: Model,
    prompt: Prompt,
    choices: Sequence[str],
    *,
    limits: Limits | None = None,
    **options: Unpack[ScoreOptions],
) -> dict[str, float]:
    """Run `classify` in a thread, and await it. If it is cancelled, the model stops after the choice under way.

    The arguments and errors are those of `structgen.classify`.

    Example:
        >>> await structgen.aclassify(model, "Is 'I love it' praise or blame?", ["praise", "blame"])  # doctest: +SKIP
        {'praise': 0.93, 'blame': 0.07}
    """
    return _odds(await ascore(model, prompt, choices, limits=limits, **options))


def _odds(scores: Sequence[Score[str]]) -> dict[str, float]:
    """Return the probabilities of some answers, given that the answer is one of them; the likeliest first."""
    logprobs = {found.text: found.logprob for found in scores}  # a choice that was given twice counts once
    total = log_sum(np.array(list(logprobs.values())))
    if not math.isfinite(total):
        raise ModelError("the model gives none of the choices a probability")
    odds = {text: math.exp(logprob - total) for text, logprob in logprobs.items()}
    return dict(sorted(odds.items(), key=lambda pair: -pair[1]))


def _listed(values: Sequence[T]) -> Sequence[T]:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise TypeError(f"the answers, or choices, must be a list, not {values!r}")
    if get_origin(values) is Literal:
        raise TypeError(f"the answers, or choices, must be a list: typing.get_args({values!r}) gives it")
    found = list(values)
    if not found:
        raise ValueError("there is no answer to score")
    return found


class _Reader:
    """A model that has read a prompt, and reads answers after it.

    Args:
        model: the model.
        constraint: the constraint of the answers.
        prompt_ids: the tokens before them.
    """

    def __init__(self, model: Model, constraint: Constraint[Any], prompt_ids: Sequence[int]) -> None:
        self._model = model
        self._constraint = constraint
        self._all_prompt_ids = list(prompt_ids)
        self._prompt_ids, self._prefix, _ = constraint.healed(prompt_ids, keeps=1)
        self._vocabulary = constraint.vocabulary
        self._ends = list(self._vocabulary.eos_token_ids)
        self._mask = allocate_token_bitmask(1, self._vocabulary.size)
        self._session: Session | None = None
        self._read: list[int] = []  # after the prompt
        self._rows: list[NDArray[np.float64]] = []  # logits after the prompt, and after each token read

    def tokens_of(self, text: str) -> list[int]:
        """Return the tokens of an answer.

        Raises:
            ValueError: the tokenizer cannot spell it.
        """
        data = self._prefix + text.encode()
        ids = self._model.encode_text(data.decode(errors="replace"))
        if b"".join([self._vocabulary.token_bytes(token) or b"" for token in ids]) != data:
            raise ValueError(f"the tokenizer cannot spell the answer {text!r}")
        return ids

    def score(self, text: str, ids: list[int]) -> Score[Any]:
        """Return the score of an answer; its `value` is its text.

        Raises:
            ValueError: the constraint does not allow it.
        """
        rows = self._rows_of(ids)
        matcher = self._constraint.healed(self._all_prompt_ids, keeps=1)[2]
        logprobs: list[float] = []
        allowed_logprob = 0.0
        for index, token in enumerate(ids):
            logprob, allowed = self._logprobs(rows[index], matcher, [token])
            if allowed == -math.inf and logprob > -math.inf:
                raise ValueError(f"the answer {text!r} is not allowed: {matcher.explain(token)}")
            logprobs.append(logprob)
            allowed_logprob += allowed
            matcher.accept_token(token)
        if not matcher.is_accepting:
            raise ValueError(f"the answer {text!r} is not complete")
        if self._ends:
            logprob, allowed = self._logprobs(rows[len(ids)], matcher, self._ends)
            logprobs.append(logprob)
            allowed_logprob += allowed
        return Score(text, text, tuple(ids), sum(logprobs), allowed_logprob, tuple(logprobs))

    def _logprobs(self, row: NDArray[np.float64], matcher: Any, tokens: list[int]) -> tuple[float, float]:
        """Return the log-probability of one of some tokens, without the mask and under it."""
        matcher.fill_next_token_bitmask(self._mask)
        allowed = tokens_of(self._mask[0], self._vocabulary.size)
        wanted = log_sum(row[tokens])
        among = log_sum(row[np.intersect1d(allowed, tokens)])
        return min(0.0, wanted - log_sum(row)), min(0.0, among - log_sum(row[allowed])) if among > -math.inf else among

    def _rows_of(self, ids: list[int]) -> list[NDArray[np.float64]]:
        """Return the logits before each token of an answer, and after the last one."""
        shared = 0
        while shared < min(len(ids), len(self._read)) and ids[shared] == self._read[shared]:
            shared += 1
        if self._session is None or (shared < len(self._read) and not self._session.can_crop):
            self._session, self._read, shared = self._model.session(), [], 0
            self._rows = self._forward(self._session, self._prompt_ids, 1)
        elif shared < len(self._read):
            self._session.crop(len(self._read) - shared)
        del self._rows[shared + 1 :]
        more = ids[shared:]
        if more:
            self._rows += self._forward(self._session, more, len(more))
        self._read = list(ids)
        return self._rows

    def _forward(self, session: Session, ids: list[int], keep: int) -> list[NDArray[np.float64]]:
        rows = checked_logits(session.forward(ids, keep=keep), keep, self._vocabulary.size)
        return [without_nan(row) for row in rows]
