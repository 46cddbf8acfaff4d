"""Bridges: short texts between a token and a cut, found once for all tokens that lead to the same position.

In `{"a" : 1}`, a run of spaces before the colon is proper if ` :` may follow: the tokenizer leaves the last space of a
run to what comes next. So ` :` is a bridge from all tokens of spaces there. Whether a bridge leads on depends on the
Earley set and the scanner's state alone if there is a cut before it; otherwise no merge may join it to the token.
"""

from __future__ import annotations

from structgen.tokenization.merges.merge_table import MergeTable

__all__ = ["Bridges"]


class Bridges:
    """The bridges from one Earley set and one state of the scanner.

    Args:
        tokens: tokens that may be bridges. The list is shared, and may grow.

    Attributes:
        tokens: the same.
        tried: how many of them were tried.
        is_sure: whether one leads on after a cut, and so after every token.
        is_barred: whether nothing may follow.
        joining: those that lead on in the same pre-token.
    """

    def __init__(self, tokens: list[int]) -> None:
        self.tokens = tokens
        self.tried = 0
        self.is_sure = self.is_barred = False
        self.joining: list[int] = []

    def add(self, token: int, is_cut: bool) -> None:
        """Add a bridge that leads on: after a cut, or in the same pre-token."""
        if is_cut:
            self.is_sure = True
        else:
            self.joining.append(token)

    def leads_on_after(self, token: int, merges: MergeTable) -> bool:
        """Return whether one of the bridges found so far leads on after a token."""
        if self.is_sure:
            return True
        index = 0
        while index < len(self.joining) and merges.crosses(token, self.joining[index]):
            index += 1
        return index < len(self.joining)
