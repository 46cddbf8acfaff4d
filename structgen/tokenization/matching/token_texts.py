"""The bytes of all tokens in one array: walks over many tokens read them in place of one object each."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate

__all__ = ["TokenTexts"]


class TokenTexts:
    """The bytes of the tokens of a vocabulary.

    Args:
        spellings: by token, its bytes.

    Attributes:
        joined: the bytes of all tokens, one token after another.
        starts: int32[tokens + 1], where the bytes of each token begin.
        longest: the greatest number of bytes of a token.
    """

    def __init__(self, spellings: Sequence[bytes]) -> None:
        lengths = [len(text) for text in spellings]
        self.joined = b"".join(spellings)
        self.starts = array("i", accumulate(lengths, initial=0))
        self.longest = max(lengths, default=0)
