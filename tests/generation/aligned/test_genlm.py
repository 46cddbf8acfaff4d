"""Samples beside genlm-control, the library of the papers' authors: the same target, by its samplers and ours."""

import asyncio
import math

import numpy as np
import pytest
from support.toy_models import END, TOKENS, ToyModel, posterior

import structgen
from structgen import Grammar

control = pytest.importorskip("genlm.control", reason="genlm-control 0.4.1 is not installed: it needs many packages")
PROMPT = "ab"
GRAMMAR = Grammar.regex("(a|b|aa){1,2}1?")


class Language(control.Potential):
    """The toy model as genlm's potential: log-probabilities of beginnings and of whole answers."""

    def __init__(self, model):
        super().__init__(list(TOKENS))
        self.model = model

    def _row(self, context):
        ids = [*self.model.encode_text(PROMPT), *map(TOKENS.index, context)]
        logits = self.model.logits_after(ids).astype(np.float64)
        logprobs = logits - np.logaddexp.reduce(logits)
        return np.append(logprobs[:END], np.logaddexp.reduce(logprobs[END:]))

    async def logw_next(self, context):
        return self.make_lazy_weights(self._row(context))

    async def prefix(self, context):
        return float(sum(self._row(context[:at])[TOKENS.index(token)] for at, token in enumerate(context)))

    async def complete(self, context):
        return await self.prefix(context) + float(self._row(context)[-1])


class Fits(control.Potential):
    """Whether a text fits the grammar, by structgen's matcher."""

    def __init__(self, model):
        super().__init__(list(TOKENS))
        self.constraint = structgen.compile(GRAMMAR, model.vocabulary)

    def _matcher(self, context):
        matcher = self.constraint.matcher()
        for token in context:
            matcher.accept_token(TOKENS.index(token))
        return matcher

    async def prefix(self, context):
        try:
            self._matcher(context)
        except structgen.TokenRejectedError:
            return -math.inf
        return 0.0

    async def complete(self, context):
        try:
            return 0.0 if self._matcher(context).is_accepting else -math.inf
        except structgen.TokenRejectedError:
            return -math.inf


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["smc", "awrs"])
def test_both_estimate_the_same_normalizing_constant(kind):
    model = ToyModel(3, scale=0.5)
    truth = sum(posterior(model, PROMPT, GRAMMAR).values())
    language, fits = Language(model), Fits(model)

    async def theirs(seed):
        np.random.seed(seed)
        if kind == "awrs":
            sampler = control.AWRS(language, fits, seed=seed)
        else:
            sampler = control.direct_token_sampler(language * fits)
        return math.exp((await sampler.smc(n_particles=12, ess_threshold=0.5, max_tokens=9)).log_ml)

    def ours(seed):
        samples = structgen.sample(model, PROMPT, GRAMMAR, raw=True, sampling=kind, particles=12, seed=seed)
        return math.exp(samples.log_normalizer)

    for estimates in ([asyncio.run(theirs(seed)) for seed in range(120)], [ours(seed) for seed in range(120)]):
        error = np.std(estimates) / math.sqrt(len(estimates))
        assert abs(np.mean(estimates) - truth) < 4 * error < 0.3 * truth
