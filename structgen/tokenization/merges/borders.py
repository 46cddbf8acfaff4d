"""Sure borders: for each token, the first bytes of texts that leave it as it is, if no pre-tokenizer cuts.

A token stays as it is before any text whose first token does not conflict with it. Only the first byte of the text is
looked at: if no token that begins with it conflicts, there is a border between the two, whatever follows. Letters join
with nearly all tokens of letters; quotes, spaces and digits with few or none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from structgen.tokenization.merges.merge_table import MergeTable

__all__ = ["Borders"]

BYTES = 32  # of 256 bits
ALL_BYTES = (1 << 256) - 1


class Borders:
    """The bytes that have a sure border with each token.

    Args:
        merges: the merges of a tokenizer.
        spellings: by token, its bytes.

    Attributes:
        words: uint32[8 * size], for byte b after token t the bit b % 32 of word 8 * t + b // 32: whether it has one.
    """

    def __init__(self, merges: MergeTable, spellings: Sequence[bytes]) -> None:
        is_proper = np.asarray(merges.is_proper) > 0
        size = len(is_proper)
        first_bytes = np.full(size, -1, dtype=np.intc)
        known = spellings[:size]
        first_bytes[: len(known)] = [text[0] if text else -1 for text in known]
        joining = np.zeros(8 * size, dtype=np.uint32)
        merges.mark_joining(first_bytes, joining)
        left = ~joining.reshape(size, 8)
        left[~is_proper] = 0
        self.words = left.reshape(-1)
        self._bits = left.astype("<u4").tobytes()

    def of(self, token: int) -> int:
        """Return the bytes that have a sure border with a token, as bits of a number.

        All of them for a negative token (there is none); none for a token that the merges do not make.
        """
        return int.from_bytes(self._bits[BYTES * token : BYTES * token + BYTES], "little") if token >= 0 else ALL_BYTES

    def is_border(self, token: int, byte: int) -> bool:
        """Return whether a byte has a sure border with the token before it."""
        at = BYTES * token + (byte >> 3)
        return at < len(self._bits) and self._bits[at] >> (byte & 7) & 1 > 0
