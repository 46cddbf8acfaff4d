r"""The last white space of a terminal: texts to try between a token and what follows the terminal.

    after               the last text    then there is a cut
    two spaces          ` `              before ` "`: the tokenizer leaves the last space of a run to what comes next
    `\n` and a space   `\n`             before `"`, if no merge joins the token and `\n`

They depend on the tokenizer alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from structgen.tokenization.matching.whole_words import OTHER, WholeWords
from structgen.tokenization.pre_tokens.scanner import Scanner

__all__ = ["ANY_TOKEN", "LastText", "LastTexts"]

ANY_TOKEN = -1
LAST = (b" ", b"\n", b"\r", b"\t")
MAX_KEPT = 4096  # states of the scanner


class LastText:
    """A text that may be the last one of a terminal.

    Attributes:
        text: the text.
        joined: the token that it is in the same pre-token; ANY_TOKEN if it need not be one, or begins another one.
        scanner_state: the state of the scanner after it.
        token: the token that it is.
        cutting: bytes that make a cut before the text if they come next, as bits of a number; 0 if it is a token.
    """

    def __init__(self, text: bytes, joined: int, scanner_state: int, token: int, cutting: int) -> None:
        self.text = text
        self.joined = joined
        self.scanner_state = scanner_state
        self.token = token
        self.cutting = cutting


class LastTexts:
    """The last texts of a tokenizer, found when first asked for.

    Args:
        scanner: its pre-tokenizer.
        words: its pre-tokens that are one token against the merges.
        blanks: its tokens of white space that may stand anywhere in a pre-token.
        spellings: by token, its bytes.
        cuts_of: returns the numbers of the scanner's cuts that surely make a cut after a state.
    """

    def __init__(
        self,
        scanner: Scanner,
        words: WholeWords,
        blanks: Sequence[int],
        spellings: Sequence[bytes],
        cuts_of: Callable[[int], list[int]],
    ) -> None:
        self._scanner = scanner
        self._words = words
        self._tokens = [(token, spellings[token]) for token in blanks if spellings[token] in LAST]
        self._cuts_of = cuts_of
        self._known: dict[int, list[LastText]] = {}

    def of(self, scanner_state: int) -> list[LastText]:
        """Return the texts to try after a state of the scanner."""
        known = self._known.get(scanner_state)
        if known is None:
            if len(self._known) >= MAX_KEPT:
                self._known.clear()
            known = self._known[scanner_state] = self._find(scanner_state)
        return known

    def _find(self, scanner_state: int) -> list[LastText]:
        cutting: dict[bytes, int] = {}
        for cut in self._cuts_of(scanner_state):
            text = self._scanner.cuts[cut]
            if len(text) > 1 and text[:1] in LAST:
                cutting[text[:1]] = cutting.get(text[:1], 0) | 1 << text[1]
        found = [LastText(text, ANY_TOKEN, 0, ANY_TOKEN, some) for text, some in cutting.items()]
        for token, text in self._tokens:
            for begun, joined in ((self._scanner.cut(scanner_state), ANY_TOKEN), (scanner_state, token)):
                state, partial = self._scanner.follow(begun, 0, text)
                word = self._words.begun_by(token) if joined == ANY_TOKEN else OTHER
                if state and not partial and word == OTHER:
                    found.append(LastText(text, joined, state, token, 0))
        return found
