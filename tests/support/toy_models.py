"""A model of few tokens, and all answers of a small language with the model's probability of each."""

from __future__ import annotations

import numpy as np

import structgen
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.models.logits import LogitsSession

TOKENS = [b"a", b"b", b"c", b"ab", b"bc", b"aa", b"cab", b"1", b"2", b'"', b"{", b"}", b":", b",", b" "]
END = len(TOKENS)


class ToyModel:
    """A model over `TOKENS` and two end tokens. Its logits depend on the last three tokens and their number.

    Args:
        seed: changes its probabilities.
        scale: how peaked they are.
    """

    context_tokens = None
    chat_template = None

    def __init__(self, seed=0, scale=1.5, ends=(END, END + 1)):
        self.vocabulary = Vocabulary.from_bytes(dict(enumerate(TOKENS)), eos_token_ids=ends, size=END + 2)
        self.calls = 0
        self._seed = seed
        self._scale = scale
        self._known = {}  # (number of tokens, the last three) -> logits: making a generator takes the most time

    def logits_after(self, ids):
        self.calls += 1
        key = (len(ids), *ids[-3:])
        if key not in self._known:
            rng = np.random.default_rng([self._seed, *key])
            self._known[key] = rng.normal(scale=self._scale, size=END + 2).astype(np.float32)
        return self._known[key].copy()

    def encode_prompt(self, prompt, *, raw=False, **template):
        return self.encode_text(prompt)

    def encode_text(self, text):
        """Return the longest tokens from the left."""
        data, found = text.encode(), []
        while data:
            token = max(
                (token for token, text in enumerate(TOKENS) if data.startswith(text)), key=lambda t: len(TOKENS[t])
            )
            found.append(token)
            data = data[len(TOKENS[token]) :]
        return found

    def session(self):
        return LogitsSession(self.logits_after, END + 2)


def posterior(model, prompt, grammar, *, max_tokens=99, temperature=1.0):
    """Return each answer's probability by the model, by its tokens: not normalized. The language must be finite."""
    constraint = structgen.compile(grammar, model.vocabulary)
    prompt_ids = model.encode_text(prompt)
    found = {}

    def walk(path, matcher, probability):
        logits = model.logits_after([*prompt_ids, *path]).astype(np.float64) / temperature
        share = np.exp(logits - logits.max())
        share /= share.sum()
        if matcher.is_accepting:
            found[path] = probability * share[END:].sum()
        if len(path) < max_tokens:
            for token in matcher.allowed_token_ids():
                if token < END:
                    longer = matcher.fork()
                    longer.accept_token(token)
                    walk((*path, token), longer, probability * share[token])

    walk((), constraint.matcher(), 1.0)
    return found
