"""The answer of a run whose whole answers are compared: drawn with weights, or found by beam search.

It stands in a run where a `structgen.generation.decoder.Decoder` stands otherwise. All answers are drawn at the first
request, with sessions of their own, and one of them becomes the answer of the run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import pydantic

from structgen.errors import ModelError, ValidationFailedError
from structgen.generation.aligned.asap import adaptive_sampling
from structgen.generation.aligned.awrs import MaskedTokens, RejectedTokens
from structgen.generation.aligned.beams import beam_search
from structgen.generation.aligned.reader import PrefixReader
from structgen.generation.aligned.samples import Sample, best_of
from structgen.generation.aligned.smc import Population, particle_filter
from structgen.generation.aligned.target import Prefix, Target
from structgen.generation.logprobs import log_sum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from structgen.compilation.constraint import Constraint
    from structgen.engine.matching.matcher import Matcher
    from structgen.generation.decoder import FinishReason
    from structgen.generation.settings import Settings
    from structgen.models.base import Model

__all__ = ["PARTICLES", "AlignedAnswer"]

PARTICLES = 16
"""The default number of samples."""

_REFUSALS = (pydantic.ValidationError, jsonschema.ValidationError, ValueError, AssertionError)


class AlignedAnswer:
    """A `structgen.generation.decoder.Answer` with `sampling` or `num_beams`.

    Args:
        model: the model.
        constraint: the constraint of the answer.
        prompt_ids: the tokens before it.
        settings: how answers are drawn.
        max_new_tokens: the budget in tokens.
        validated: returns the value of a text, or raises.
        is_cancelled: see `PrefixReader`.

    Attributes:
        token_ids: the tokens of the answer that was chosen.
        finish_reason: "stop"; "length" where no answer was complete within the budget. None before the first request.
        is_complete: whether the answer is a whole text of the constraint.
        items: the samples; empty for beams.
        log_normalizer: an estimate of the logarithm of the normalizing constant.
        forced_tokens: 0: the model is asked for each token, since its probability counts.

    Raises:
        ValueError: the constraint has temperatures of its own.
        IncompleteOutputError: the budget is smaller than the shortest answer.
    """

    def __init__(
        self,
        model: Model,
        constraint: Constraint[Any],
        prompt_ids: Sequence[int],
        *,
        settings: Settings,
        max_new_tokens: int,
        validated: Callable[[str], Any],
        is_cancelled: Callable[[], bool],
    ) -> None:
        if constraint.grammar.has_temperatures:
            raise ValueError("sampling and num_beams do not go together with temperatures in the grammar")
        self.token_ids: tuple[int, ...] = ()
        self.finish_reason: FinishReason | None = None
        self.is_complete = False
        self.items: tuple[Sample[Any], ...] = ()
        self.log_normalizer = -math.inf
        self.forced_tokens = 0
        self._text = b""
        self._settings = settings
        self._validated = validated
        self._is_json = constraint.is_json
        self._target = Target(
            constraint,
            prompt_ids,
            max_new_tokens=max_new_tokens,
            temperature=settings.temperature or 1.0,
            adjuster=settings.adjuster(),
            finish=settings.on_budget == "finish",
        )
        self.matcher: Matcher = self._target.root().matcher
        self._reader = PrefixReader(model, self._target.prompt_ids, is_cancelled=is_cancelled)

    @property
    def text_bytes(self) -> bytes:
        """The text of the answer that was chosen."""
        return self._text

    @property
    def model_calls(self) -> int:
        """The number of passes of the model so far."""
        return self._reader.passes

    @property
    def token_count(self) -> int:
        """The number of tokens of all answers; beginnings that answers share count once."""
        return self._reader.token_count

    def request(self) -> None:
        """Draw the answers, and choose one.

        Raises:
            ModelError: the model gives all answers the probability 0.
            ValidationFailedError: validators refuse all answers.
            Cancelled: the call is cancelled.
        """
        if self.finish_reason is not None:
            return
        if self._settings.sampling is None:
            self._choose_beam(beam_search(self._target, self._reader, self._settings.num_beams))
        else:
            self._choose_sample(self._drawn())

    def take(self, logits: NDArray[np.float32]) -> None:
        """Refuse logits: none are requested."""
        raise ModelError("the model was not asked for logits")

    def _drawn(self) -> Population:
        """Return weighted answers."""
        count = self._settings.particles or PARTICLES
        rng = np.random.default_rng(self._settings.seed)
        if self._settings.sampling == "asap":
            return adaptive_sampling(self._target, self._reader, count, rng)
        tokens = RejectedTokens if self._settings.sampling == "awrs" else MaskedTokens
        return particle_filter(self._target, self._reader, count, rng, tokens)

    def _choose_sample(self, population: Population) -> None:
        """Keep the samples whose answers are complete, and that validators accept; choose the best value."""
        weighted = [
            (prefix, log_weight)
            for prefix, log_weight in zip(population.prefixes, population.log_weights.tolist())
            if prefix.is_complete and log_weight > -math.inf
        ]
        read = self._read([prefix for prefix, _ in weighted])
        kept = [(prefix, log_weight) for prefix, log_weight in weighted if prefix in read]
        if not weighted:
            self._end_without(population.prefixes)
            return
        total = log_sum(np.array([log_weight for _, log_weight in kept]))
        self.items = tuple(
            Sample(read[prefix][1], read[prefix][0], prefix.token_ids, math.exp(log_weight - total), prefix.logprob)
            for prefix, log_weight in kept
        )
        self.log_normalizer = total - math.log(len(population.prefixes))
        best = best_of(self.items, is_json=self._is_json)
        self._choose(best.token_ids, best.text.encode(), is_complete=True)

    def _choose_beam(self, found: list[Prefix]) -> None:
        """Choose the likeliest answer that validators accept."""
        if not found[0].is_complete:
            self._end_without(found)
            return
        prefix, (text, _) = next(iter(self._read(found).items()))
        self._choose(prefix.token_ids, text.encode(), is_complete=True)

    def _choose(self, token_ids: tuple[int, ...], text: bytes, *, is_complete: bool) -> None:
        self.token_ids, self._text, self.is_complete = token_ids, text, is_complete
        self.finish_reason = "stop" if is_complete else "length"

    def _read(self, prefixes: Sequence[Prefix]) -> dict[Prefix, tuple[str, Any]]:
        """Return the texts and values of whole answers, without those that validators refuse.

        Raises:
            ValidationFailedError: validators refuse all of them.
        """
        found: dict[Prefix, tuple[str, Any]] = {}
        refused: dict[Prefix, tuple[str, Exception]] = {}
        for prefix in prefixes:
            if prefix in found or prefix in refused:
                continue
            text = self._target.text_of(prefix).decode(errors="replace")
            try:
                found[prefix] = text, self._validated(text)
            except _REFUSALS as error:
                refused[prefix] = text, error
        if refused and not found:
            attempts = list(refused.values())
            raise ValidationFailedError(
                f"the answers fit the schema, but the validation of all {len(attempts)} failed: {attempts[0][1]}",
                attempts=attempts,
            )
        return found

    def _end_without(self, prefixes: list[Prefix]) -> None:
        """End without a whole answer: the longest text is the answer.

        Raises:
            ModelError: it is no matter of the budget.
        """
        longest = max(prefixes, key=lambda prefix: (len(prefix.token_ids), prefix.logprob))
        if not self._target.is_full(longest):
            raise ModelError("the model gives every answer that fits the schema the probability 0")
        self._choose(longest.token_ids, self._target.text_of(longest), is_complete=False)
