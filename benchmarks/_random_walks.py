"""Random texts of a grammar: tokens drawn from its masks."""

from __future__ import annotations

import random

import numpy as np

import structgen
from structgen.engine.vocabulary.vocabulary import Vocabulary

__all__ = ["Drawing"]

HURRY = 60  # number of tokens after which tokens that close something are preferred


class Drawing:
    """Draws random tokens of masks, which lead to an end sooner or later.

    Args:
        vocabulary: the tokens.
        seed: of the random numbers.

    Attributes:
        rng: the random numbers.
        row: the mask that is drawn from.
    """

    def __init__(self, vocabulary: Vocabulary, seed: int) -> None:
        self.rng = random.Random(seed)
        self.row = structgen.allocate_token_bitmask(1, vocabulary.size)
        self._ends = np.array(vocabulary.eos_token_ids)
        self.spelled = [vocabulary.token_bytes(token) or b"" for token in range(vocabulary.size)]
        self._closing = np.array([any(byte in text for byte in b'"]}') for text in self.spelled])

    def draw(self, step: int) -> int | None:
        """Return a token of the mask; None for an end.

        Args:
            step: the number of tokens before; after HURRY, tokens that close something are preferred.

        Raises:
            IndexError: the mask allows nothing.
        """
        allowed = np.flatnonzero(np.unpackbits(self.row[0].view(np.uint8), bitorder="little"))
        if not len(allowed):
            raise IndexError("the mask allows nothing")
        choice = allowed[~np.isin(allowed, self._ends)]
        if len(choice) < len(allowed) and (not len(choice) or self.rng.random() < 0.3):
            return None
        if step > HURRY and self.rng.random() < 0.7 and self._closing[choice].any():
            choice = choice[self._closing[choice]]
        return int(self.rng.choice(choice))
