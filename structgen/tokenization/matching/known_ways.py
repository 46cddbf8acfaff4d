"""The next token that a search for an end has found, for later searches from the same Earley set.

After `"is` and after `"isl`, a free string is in the same set, and the searches differ in the last token alone: it
decides which tokens may follow in the same pre-token. Nearly always the token that led on from one leads on from the
other, too. So it is tried before a search, which costs a fifth of one.
"""

from __future__ import annotations

from structgen.tokenization.matching.proper_tokenization import ProperTokenization
from structgen.tokenization.matching.tokenizer_state import TokenizerState

__all__ = ["KnownWays"]

MAX_KEPT = 65_536  # tokens


class KnownWays:
    """Next tokens by Earley set and tokenizer's state, the last token left out, for the sets of one epoch.

    Args:
        tokenization: the tokenizer.
    """

    def __init__(self, tokenization: ProperTokenization) -> None:
        self._tokenization = tokenization
        self._token_of: dict[tuple[object, ...], int] = {}

    def advance(self, set_id: int, state: TokenizerState) -> TokenizerState | None:
        """Return the state after the kept token; None if none is kept, or it is not proper after the last token."""
        token = self._token_of.get((set_id, *_without_token(state)))
        return self._tokenization.advance(state, token) if token is not None else None

    def keep(self, set_id: int, state: TokenizerState, next_state: TokenizerState) -> None:
        """Keep the token that leads from one state to the next one, unless it is an added token."""
        if next_state.token >= 0:
            if len(self._token_of) >= MAX_KEPT:
                self._token_of.clear()
            self._token_of[(set_id, *_without_token(state))] = next_state.token


def _without_token(state: TokenizerState) -> tuple[object, ...]:
    """Return what a state is but for its last token."""
    return state.branches, state.partial, state.added, state.tail
