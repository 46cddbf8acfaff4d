"""Which tokens surely stay as they are, by the first byte of what follows them, where no pre-tokenizer cuts.

A token is left alone by any text whose tokens cannot begin with one that conflicts with it. Of the text only the first
byte is looked at: if no token that begins with it conflicts, there is a border between the two, whatever follows.
(Letters join with nearly all tokens of letters; quotes, spaces and digits with few or none.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from structgen.tokenization.merges.merge_table import MergeTable

__all__ = ["Borders"]

BYTES = 32  # of 256 bits
ALL = (1 << 256) - 1


class Borders:
    """For each token the bytes behind a sure border.

    Args:
        merges: of a tokenizer.
        spellings: by token, its bytes.
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
        self._bits = left.astype("<u4").tobytes()

    def of(self, token: int) -> int:
        """The bytes of which each, if it comes next, surely leaves a token alone, as bits of a number.

        All of them behind no token; none behind one that is not put together by merges.
        """
        return int.from_bytes(self._bits[BYTES * token : BYTES * token + BYTES], "little") if token >= 0 else ALL

    def leaves(self, token: int, byte: int) -> bool:
        """Whether a byte that comes next surely leaves a token alone."""
        at = BYTES * token + (byte >> 3)
        return at < len(self._bits) and self._bits[at] >> (byte & 7) & 1 > 0
