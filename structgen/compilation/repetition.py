"""A guard against answers that repeat themselves without end.

    in a string      {"note": "and so on, and so on, and so on, …         only tokens that close the string stay
    in a list        ["Milk", "Eggs", "Milk", "Eggs", …                   no further item: only `]`
    in a tree        {"left": {"left": {"left": …                         nothing more is opened: only what closes it

A text repeats itself where its end is the same unit several times, one after the other. A unit has MIN_UNIT_BYTES at
least: of a shorter text that repeats, several make a unit. Then the rest of the text, the shortest that completes it,
decides what is removed from the mask:

- in a string, all tokens after which the rest is not shorter;
- elsewhere, all tokens after which the rest is longer; and where the next byte of the repetition makes the rest longer
  or shorter, all after which it is not shorter. So an item that has begun is written to its end.

So what the schema requires is never removed, such as a third item of three. Where no token would be left, the mask
stays as it is. The guard looks at JSON only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from structgen.engine.matching.rests import shortest_rest, tokens_by_rest
from structgen.errors import LimitExceededError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from structgen.engine.matching.matcher import Matcher
    from structgen.engine.vocabulary.vocabulary import Vocabulary

__all__ = ["MAX_REPEATS", "RepetitionGuard", "check_max_repeats", "spelled"]

MAX_REPEATS = 8
"""How often a unit may follow itself, by default."""
MIN_UNIT_BYTES = 20
MAX_UNIT_BYTES = 400
_OPEN_STRING = re.compile(rb'(?:[^"]|"(?:[^"\\]|\\.)*+")*+"((?:[^"\\]|\\.)*+)', re.DOTALL)  # text that ends in one


def check_max_repeats(max_repeats: object) -> None:
    """Check the option `max_repeats`.

    Raises:
        ValueError: it is neither None nor a whole number >= 1.
    """
    is_number = isinstance(max_repeats, int) and not isinstance(max_repeats, bool) and max_repeats >= 1
    if max_repeats is not None and not is_number:
        raise ValueError(f"max_repeats must be a whole number >= 1, or None, not {max_repeats!r}")


def spelled(vocabulary: Vocabulary, token_ids: Iterable[int]) -> bytes:
    """Return the text of some tokens; special tokens are no text."""
    return b"".join([vocabulary.token_bytes(token_id) or b"" for token_id in token_ids])


class RepetitionGuard:
    """The guard of one answer in JSON.

    Args:
        max_repeats: how often a unit may follow itself.

    Raises:
        ValueError: it is less than 1.

    Example:
        >>> RepetitionGuard(2).repeats(b'["' + b"and so on, and so on, " * 3)
        True
        >>> RepetitionGuard(3).repeats(b'["' + b"and so on, and so on, " * 3)
        False
    """

    def __init__(self, max_repeats: int) -> None:
        check_max_repeats(max_repeats)
        self._max_repeats = max_repeats

    def repeats(self, text: bytes) -> bool:
        """Return whether a text ends with more repetitions than are allowed."""
        return self._repeated(text) > 0

    def _repeated(self, text: bytes | bytearray) -> int:
        """Return the number of bytes of the unit that a text repeats at its end; 0 if it repeats none too often."""
        units = self._max_repeats + 1
        tail = bytes(text[-units * MAX_UNIT_BYTES :])
        at = tail.rfind(tail[-MIN_UNIT_BYTES:], 0, -1)
        if at < 0 or len(tail) < units * MIN_UNIT_BYTES:
            return 0
        period = len(tail) - MIN_UNIT_BYTES - at
        whole = units * period * -(-MIN_UNIT_BYTES // period)
        is_repeated = whole <= len(tail) and tail[-whole:-period] == tail[len(tail) - whole + period :]
        return period if is_repeated else 0

    def narrow(self, matcher: Matcher, words: NDArray[np.uint32], text: bytes | bytearray) -> bool:
        """Remove the tokens from a mask with which the text would go on repeating itself.

        Args:
            matcher: the state of the text; it stays as it is.
            words: uint32[ceil(V / 32)], the mask of the next token.
            text: the text so far.

        Returns:
            Whether tokens were removed.
        """
        period = self._repeated(text)
        if not period or matcher.is_terminated:
            return False
        try:
            return self._narrow(matcher, words, text, period)
        except LimitExceededError:
            return False

    def _narrow(self, matcher: Matcher, words: NDArray[np.uint32], text: bytes | bytearray, period: int) -> bool:
        rest, classes = shortest_rest(matcher), tokens_by_rest(matcher)
        if rest is None or classes is None:
            return False
        again = shortest_rest(matcher, bytes(text[-period:][:1]))  # after the next byte of the repetition
        closes = self._is_in_string(text) or (again is not None and len(again.text) != len(rest.text))
        kept = words.copy()
        is_empty = classes.within(max_bytes=len(rest.text) - closes).keep(kept) == []
        if is_empty or (kept == words).all():
            return False
        words[:] = kept
        return True

    def _is_in_string(self, text: bytes | bytearray) -> bool:
        """Return whether the repetitions are within one string, which the text has not closed."""
        string = _OPEN_STRING.fullmatch(text)
        return string is not None and self.repeats(string[1])
