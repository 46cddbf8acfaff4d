"""Tokens that led to an end in earlier searches, to be tried first in later searches from similar states.

After `"is` and after `"isl`, the searches of a free string differ in the last token alone, which decides which tokens
may follow in the same pre-token. In another string, the Earley set differs. Nearly always the token that led on from
one leads on from the other, too. So that token is tried first, at a fifth of the cost of a search.
"""

from __future__ import annotations

from array import array

from structgen.tokenization.matching.tokenizer_state import TokenizerState

__all__ = ["KnownWays"]

MAX_KEPT = 65_536  # tokens
MAX_BRIDGES = 32  # tokens to try after one state of the scanner


class KnownWays:
    """Next tokens that led on, for all grammars of a vocabulary.

    Args:
        short: short tokens that often stand between a token and a cut.
        usual: tokens that may be bridges: of ASCII, at home anywhere in a pre-token, no beginning of an added token.
        closing: tokens that a search tries first: those that end a value of JSON, the shorter the sooner.

    Attributes:
        closing: the same.
        last_bridges: by state of the scanner, the last bridge that led on after a cut.
    """

    def __init__(self, short: list[int], usual: frozenset[int], closing: array[int]) -> None:
        self.closing = closing
        self._short = short
        self._usual = usual
        self.last_bridges: dict[int, int] = {}
        self._bridges: dict[int, list[int]] = {}
        self._token_of: dict[tuple[object, ...], int] = {}

    def bridges(self, scanner_state: int) -> list[int]:
        """Return the tokens to try after a state of the scanner, whatever the last token; the list may grow."""
        known = self._bridges.get(scanner_state)
        if known is None:
            known = self._bridges[scanner_state] = self._short.copy()
        return known

    def token_after(self, state: TokenizerState) -> int | None:
        """Return the token that led on from a state like this one; None if none is kept."""
        return self._token_of.get(_without_text(state))

    def keep(self, state: TokenizerState, token: int) -> None:
        """Keep the token that led on from a state, unless it is an added token."""
        if token < 0:
            return
        if len(self._token_of) >= MAX_KEPT:
            self._token_of.clear()
        self._token_of[_without_text(state)] = token
        if len(state.branches) > 1 or state.partial or state.added or state.tail:
            return  # a bridge depends on the state of the scanner alone
        self.add_bridge(state.branches[0].scanner_state, token)

    def add_bridge(self, scanner_state: int, token: int) -> None:
        """Add a token to those to try after a state of the scanner, if it may be one of them."""
        tokens = self.bridges(scanner_state)
        if token in self._usual and token not in tokens and len(tokens) < MAX_BRIDGES:
            tokens.append(token)


def _without_text(state: TokenizerState) -> tuple[object, ...]:
    """Return a key of a state that does not depend on its last token and its last characters."""
    return state.branches, state.partial, state.added
