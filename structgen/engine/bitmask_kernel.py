"""The loop of `apply_token_bitmask` over numbers in memory. Worth it compiled only: see `engine.bitmask`."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["fill_refused"]

FULL = 0xFFFFFFFF


def _bit_places() -> array[int]:
    """The place of a word's lowest bit, by that bit modulo 37: the powers of two below 2**32 all differ there."""
    places = array("i", [0]) * 37
    for bit in range(32):
        places[(1 << bit) % 37] = bit
    return places


_PLACE = _bit_places()


def fill_refused(logits: NDArray[Any], words: NDArray[np.uint32], infinity: int) -> None:
    """Writes `infinity` to each token whose bit is 0, or that has none. Most words are all ones or all zeros.

    Args:
        logits: uint16, uint32 or uint64 [batch, V], the bit patterns of floats; contiguous.
        words: uint32[batch, any number], contiguous.
        infinity: the bit pattern of minus infinity.
    """
    width = logits.shape[1]
    word_count = words.shape[1]
    full_words = width // 32 if width // 32 < word_count else word_count
    place = _PLACE
    for row in range(logits.shape[0]):
        token = 0
        for at in range(full_words):
            refused = FULL ^ words[row, at]
            if refused == FULL:
                for bit in range(32):
                    logits[row, token + bit] = infinity
            else:
                while refused:
                    rest = refused & (refused - 1)
                    logits[row, token + place[(refused ^ rest) % 37]] = infinity
                    refused = rest
            token += 32
        for last in range(token, width):
            at = last // 32
            if at >= word_count or not words[row, at] >> (last % 32) & 1:
                logits[row, last] = infinity
