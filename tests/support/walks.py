"""Texts sampled under the mask of a compiled grammar, over any vocabulary, with odds that bring them to an end."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from structgen.engine.bitmask import allocate_token_bitmask
from structgen.engine.compiled import CompiledGrammar
from structgen.engine.vocabulary import Vocabulary

__all__ = ["DeadEnd", "Sampler", "Walk", "byte_vocabulary"]

_CLOSING = b'"}]>'
_OPENING = b"[{,"


class DeadEnd(AssertionError):
    """No token is allowed, nor the end."""


def byte_vocabulary() -> Vocabulary:
    """One token for each byte, and an end token."""
    return Vocabulary.from_bytes({**{byte: bytes([byte]) for byte in range(256)}, 256: b""}, eos_token_ids=(256,))


@dataclass(frozen=True)
class Walk:
    """A text, or the beginning of one: `finished` tells."""

    text: bytes
    finished: bool


class Sampler:
    """Samples texts under the masks of grammars over one vocabulary.

    Args:
        vocabulary: with at least one end token.
        longest: bytes after which a walk is given up.
        late: bytes after which a text is brought to its end: quotes and closing brackets become likely.
    """

    def __init__(self, vocabulary: Vocabulary, *, longest: int = 1500, late: int = 120) -> None:
        self.vocabulary = vocabulary
        self.longest = longest
        self.late = late
        spellings = [vocabulary.token_bytes(token) or b"" for token in range(vocabulary.size)]
        self._spellings = spellings
        self._is_end = np.zeros(vocabulary.size, dtype=bool)
        self._is_end[list(vocabulary.eos_token_ids)] = True
        self._flat = np.ones(vocabulary.size)
        self._early = np.array([_odds(text, 6.0, 1.0) for text in spellings])
        self._late = np.array([_odds(text, 2000.0, 0.002) for text in spellings])
        self._mask = allocate_token_bitmask(1, vocabulary.size)

    def walk(self, compiled: CompiledGrammar, rng: random.Random) -> Walk:
        """One text.

        Raises:
            DeadEnd: the mask is empty before the end.
        """
        matcher = compiled.matcher()
        written = bytearray()
        first = self._flat if rng.random() < 0.25 else self._early
        while len(written) < self.longest:
            matcher.fill_next_token_bitmask(self._mask, 0)
            allowed = np.unpackbits(self._mask.view(np.uint8)[0], bitorder="little")[: self.vocabulary.size]
            allowed = allowed.astype(bool)
            may_end = bool((allowed & self._is_end).any())
            tokens = np.flatnonzero(allowed & ~self._is_end)
            is_late = len(written) >= self.late
            if may_end and (not len(tokens) or is_late or rng.random() < 0.4):
                return Walk(bytes(written), True)
            if not len(tokens):
                raise DeadEnd(f"a dead end after {bytes(written)!r}")
            token = self._choose(tokens, self._late if is_late else first, rng)
            matcher.accept_token(token)
            written += self._spellings[token]
        return Walk(bytes(written), False)

    @staticmethod
    def _choose(tokens: np.ndarray, odds: np.ndarray, rng: random.Random) -> int:
        summed = np.cumsum(odds[tokens])
        return int(tokens[min(np.searchsorted(summed, rng.random() * summed[-1]), len(tokens) - 1)])


def _odds(text: bytes, closing: float, opening: float) -> float:
    """How likely a token is: rare for control characters and beyond ASCII, so that ASCII is met often enough."""
    if not text:
        return 1.0
    odds = 1.0
    if any(byte < 32 or byte > 126 for byte in text):
        odds = 0.02 if len(text) == 1 else 0.2
    elif text.isspace():
        odds = 0.05
    if text[-1] in _CLOSING:
        odds *= closing
    if text[-1] in _OPENING or (closing > 10 and text[-1] == 0x5C):
        odds *= opening
    return odds
