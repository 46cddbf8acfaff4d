"""The bytes of all tokens in one array: walks over many tokens read them in place of one object each."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

__all__ = ["TokenTexts"]


class TokenTexts:
    """The bytes of the tokens of a vocabulary.

    Args:
        spellings: by token, its bytes.
        usual: uint32[words], the tokens whose text is in the middle of no added token, and that begin no whole word.

    Attributes:
        joined: the bytes of all tokens, one token after another.
        starts: int32[tokens + 1], where the bytes of each token begin.
        longest: the greatest number of bytes of a token.
        usual: the same.
    """

    def __init__(self, spellings: Sequence[bytes], usual: NDArray[np.uint32]) -> None:
        lengths = [len(text) for text in spellings]
        self.joined = b"".join(spellings)
        self.starts = array("i", accumulate(lengths, initial=0))
        self.usual = usual
        self.longest = max(lengths, default=0)
