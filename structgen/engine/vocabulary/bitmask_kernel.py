"""Loops over masks that are only worth it compiled.

A `TokenSubset` narrows masks to some tokens. `MaskedLogits` has the loop of `apply_token_bitmask` over logits in memory
(see `bitmask.py`). There, no step depends on how many bits of a word are set: eight tokens at a time are blended with
minus infinity, by a table that has eight lanes for each byte of a mask. Only words of all ones and of all zeros, the
most frequent, are special cases.

    byte of the mask      0b00000101
    lanes of the table    ffff 0000 ffff 0000 0000 0000 0000 0000      (for logits of 16 bits)
    logits                kept -inf kept -inf -inf -inf -inf -inf
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structgen.engine.worker_threads import RowQueue

__all__ = ["LogitsQueue", "MaskRows", "MaskedLogits", "TokenSubset", "lanes"]

FULL = 0xFFFFFFFF
MAX_FEW = 64  # tokens that a mask is known to have, one by one


def lanes(dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the table that `MaskedLogits` takes, for bit patterns of an unsigned integer type.

    Args:
        dtype: uint16, uint32 or uint64.

    Returns:
        dtype[256 * 8]: entry 8 * byte + bit is all ones where the byte has the bit, else 0.
    """
    bits = np.unpackbits(np.arange(256, dtype=np.uint8), bitorder="little").astype(dtype)
    return -bits  # modulo the type's range: all ones for 1


class MaskedLogits:
    """Logits in memory, and the masks of their rows.

    Args:
        logits: uint16, uint32 or uint64 [batch, V], the bit patterns of floats; a row is contiguous.
        words: uint32[batch, any number]; a row is contiguous.
        keep: the table of `lanes`, of the type of the logits.
        infinity: the bit pattern of minus infinity.

    Attributes:
        rows: the number of rows.
    """

    def __init__(self, logits: NDArray[Any], words: NDArray[np.uint32], keep: NDArray[Any], infinity: int) -> None:
        self.rows = len(logits)
        self._words = words
        self._infinity = infinity
        self._width = logits.itemsize
        if self._width == 2:
            self._logits_16, self._keep_16 = logits, keep
        elif self._width == 4:
            self._logits_32, self._keep_32 = logits, keep
        else:
            self._logits_64, self._keep_64 = logits, keep

    def mask(self, first: int, last: int) -> None:
        """Write `infinity` to the logits of rows `first` to `last - 1` whose token has no bit, or has the bit 0.

        It needs no interpreter lock.
        """
        if self._width == 2:
            _fill_refused(self._logits_16, self._words, self._keep_16, self._infinity, first, last)
        elif self._width == 4:
            _fill_refused(self._logits_32, self._words, self._keep_32, self._infinity, first, last)
        else:
            _fill_refused(self._logits_64, self._words, self._keep_64, self._infinity, first, last)

    def mask_in_threads(self, threads: int) -> None:
        """Do what `mask` does, for all rows, in several threads and without the interpreter lock."""
        queue = LogitsQueue(self)
        try:
            queue.begin(threads, self.rows)
            queue.add(self.rows)
        finally:
            queue.finish()


class LogitsQueue(RowQueue):
    """Rows of logits to be masked.

    Args:
        logits: the logits and their masks; a row is added when its mask is filled.
    """

    def __init__(self, logits: MaskedLogits) -> None:
        super().__init__()
        self._logits = logits

    def do(self, row: int) -> None:
        """Mask a row."""
        self._logits.mask(row, row + 1)


def _fill_refused(
    logits: NDArray[Any], words: NDArray[np.uint32], keep: NDArray[Any], infinity_bits: int, first: int, last: int
) -> None:
    """Do what `MaskedLogits.mask` does, for one type of logits."""
    infinity = infinity_bits
    width = logits.shape[1]
    word_count = words.shape[1]
    full_words = width // 32 if width // 32 < word_count else word_count
    for row in range(first, last):
        token = 0
        for at in range(full_words):
            word = words[row, at]
            if word == FULL:
                token += 32
            elif word == 0:
                for bit in range(32):
                    logits[row, token + bit] = infinity
                token += 32
            else:
                for _ in range(4):
                    lane = (word & 255) * 8
                    word >>= 8
                    # All eight are read before one is written: the compiler cannot know that `logits` and `keep` do
                    # not overlap, and makes vector instructions of this order only.
                    x0 = (logits[row, token] ^ infinity) & keep[lane] ^ infinity
                    x1 = (logits[row, token + 1] ^ infinity) & keep[lane + 1] ^ infinity
                    x2 = (logits[row, token + 2] ^ infinity) & keep[lane + 2] ^ infinity
                    x3 = (logits[row, token + 3] ^ infinity) & keep[lane + 3] ^ infinity
                    x4 = (logits[row, token + 4] ^ infinity) & keep[lane + 4] ^ infinity
                    x5 = (logits[row, token + 5] ^ infinity) & keep[lane + 5] ^ infinity
                    x6 = (logits[row, token + 6] ^ infinity) & keep[lane + 6] ^ infinity
                    x7 = (logits[row, token + 7] ^ infinity) & keep[lane + 7] ^ infinity
                    logits[row, token] = x0
                    logits[row, token + 1] = x1
                    logits[row, token + 2] = x2
                    logits[row, token + 3] = x3
                    logits[row, token + 4] = x4
                    logits[row, token + 5] = x5
                    logits[row, token + 6] = x6
                    logits[row, token + 7] = x7
                    token += 8
        for rest in range(token, width):
            at = rest // 32
            if at >= word_count or not words[row, at] >> (rest % 32) & 1:
                logits[row, rest] = infinity


class TokenSubset:
    """Some tokens, to which masks are narrowed.

    Args:
        mask: uint32[words], their mask.
        listed: int32[n], the same tokens in ascending order; if they are many, an empty list is faster.
    """

    def __init__(self, mask: NDArray[np.uint32], listed: NDArray[np.int32]) -> None:
        self._mask = mask
        self._listed = listed

    def keep(self, words: NDArray[np.uint32]) -> list[int] | None:
        """Remove all tokens from a mask but these, unless it has none of these.

        Args:
            words: uint32[words], contiguous, the mask.

        Returns:
            The tokens that are left, in ascending order, where these are listed, and MAX_FEW or fewer are left: [] if
            the mask stays as it is. None for more: see the mask.
        """
        mask, listed = self._mask, self._listed
        some = 0
        kept: list[int] = []
        if not listed.shape[0]:
            for at in range(mask.shape[0]):
                some |= words[at] & mask[at]
            if not some:
                return kept
            for at in range(mask.shape[0]):
                words[at] &= mask[at]
            return None
        one = 1
        for index in range(listed.shape[0]):
            token = listed[index]
            if words[token >> 5] >> (token & 31) & 1:
                some += 1
                if some <= MAX_FEW:
                    kept.append(int(token))
        if some > MAX_FEW:
            for at in range(mask.shape[0]):
                words[at] &= mask[at]
            return None
        if some:
            for at in range(mask.shape[0]):
                words[at] = 0
            for token in kept:
                words[token >> 5] |= one << (token & 31)
        return kept


class MaskRows:
    """The rows of a mask that are narrowed again and again: their memory is looked up only once.

    Args:
        mask: uint32[rows, any number]; a row is contiguous.

    Attributes:
        mask: the same.
    """

    def __init__(self, mask: NDArray[np.uint32]) -> None:
        self.mask = mask
        self._words = mask

    def keep(self, row: int, tokens: TokenSubset) -> list[int] | None:
        """Remove all tokens from a row but some; see `TokenSubset.keep`."""
        return tokens.keep(self._words[row])

    def remove(self, row: int, token: int) -> None:
        """Remove a token from a row."""
        one = 1
        self._words[row, token >> 5] &= FULL ^ (one << (token & 31))
