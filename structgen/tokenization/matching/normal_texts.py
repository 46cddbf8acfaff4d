"""Characters that a normalizer would compose with those of the token before, or put in another order.

NFC makes one character of `e` and U+0301, so a token that begins with U+0301 must not follow one that ends with `e`. To
decide that, the last characters of a text are kept, its *tail*: from the last one that no normalizer joins to those
before it.
"""

from __future__ import annotations

from collections.abc import Callable

from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.tokenization.pre_tokens.character_classes import composes

__all__ = ["NormalTexts"]

MAX_KEPT = 4096  # tails whose clashes are remembered


class NormalTexts:
    """The texts that a normalizer leaves as they are.

    Args:
        is_normal: whether it leaves a text; None if it looks at single characters only, or there is none.
        vocabulary: the tokens.

    Attributes:
        are_all: whether no text is changed across tokens.
    """

    def __init__(self, is_normal: Callable[[str], bool] | None, vocabulary: Vocabulary) -> None:
        self.are_all = is_normal is None
        self._is_normal = is_normal
        self._spellings = vocabulary.spellings
        self._composing = [] if self.are_all else [t for t, text in enumerate(self._spellings) if _may_compose(text)]
        self._clashes: dict[str, list[int]] = {}

    def holds(self, text: bytes) -> bool:
        """Return whether a token's text stays as it is; incomplete characters are ignored."""
        return self._is_normal is None or text.isascii() or self._is_normal(text.decode(errors="ignore"))

    def fits(self, tail: str, text: bytes) -> bool:
        """Return whether a token's text that begins with a whole character stays as it is after a tail."""
        return self._is_normal is None or text[:1].isascii() or self._is_normal(tail + text.decode(errors="ignore"))

    def fits_completed(self, tail: str, text: bytes) -> bool:
        """Return the same for a text that begins with the completed last character of the token before."""
        whole = text.decode(errors="ignore")
        return self._is_normal is None or not whole or self._is_normal(tail + whole)

    def clashing(self, tail: str) -> list[int]:
        """Return the tokens that cannot follow a tail."""
        known = self._clashes.get(tail)
        if known is None:
            if len(self._clashes) >= MAX_KEPT:
                self._clashes.clear()
            found = [token for token in self._composing if not self.fits(tail, self._spellings[token])]
            known = self._clashes[tail] = found
        return known

    def tail(self, tail: str, text: bytes) -> str:
        """Return the tail after some more bytes; empty if it does not matter."""
        if self._is_normal is None:
            return ""
        whole = tail + text.decode(errors="ignore")
        first = len(whole) - 1
        while first > 0 and composes(whole[first]):
            first -= 1
        return whole[max(first, 0) :]


def _may_compose(text: bytes) -> bool:
    """Return whether the first character of a token's text may be composed with one before it."""
    return not text[:1].isascii() and composes(text.decode(errors="ignore")[:1])
