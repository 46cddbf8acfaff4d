"""The tokens of texts that come again and again."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

__all__ = ["keeping_tokens"]

KEPT_TEXTS = 1024
KEPT_CHARACTERS = 256  # of each at most


def keeping_tokens(tokenize: Callable[[str], Sequence[int]]) -> Callable[[str], list[int]]:
    """A tokenizer's function that keeps what it found for short texts.

    What a grammar forces is the same text run after run, and tokenizing it costs ten times a mask.
    """
    kept = functools.lru_cache(maxsize=KEPT_TEXTS)(tokenize)
    return lambda text: list(kept(text) if len(text) <= KEPT_CHARACTERS else tokenize(text))
