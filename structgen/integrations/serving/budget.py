"""Closes a text before the budget of its tokens ends, by narrowing masks.

    budget 40     {"name": "Ada", "tags": ["a", "b         the rest `"]}` takes 2 tokens, and 8 are left: a free choice
                  {"name": "Ada", "tags": ["a", "b", "c    7 are left, 2 and the reserve: only the rest is allowed now

An engine samples from the mask itself, so single tokens cannot be tried as `structgen.compilation.budget` tries them. A
free choice is left only while the budget has a reserve. A token after which the rest is longer by more than the reserve
may still cut the text off: one that begins an object with many required properties.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structgen.engine.matching.matcher import Matcher
from structgen.engine.matching.shortest_completions import shortest_completion
from structgen.engine.vocabulary.token_trie import TokenTrie
from structgen.errors import LimitExceededError

__all__ = ["ServedBudget"]

MIN_RESERVE = 8  # tokens
MAX_RESERVE = 32
RESERVE_PART = 8  # the reserve of a budget is this part of it, between these bounds
WATCHED_TOKENS = 512  # the last tokens of a budget, in which the rest is searched at each step


class ServedBudget:
    """The budget of one answer.

    Args:
        tokens: the number of tokens that the engine will make, the end token included.
    """

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self._reserve = min(MAX_RESERVE, max(MIN_RESERVE, tokens // RESERVE_PART))
        self._is_unknown = False  # whether a search has passed a limit

    def narrow(self, matcher: Matcher, words: np.ndarray[Any, Any], spent: int) -> None:
        """Allow only the next token of the rest, where there is no room for a free choice.

        Args:
            matcher: the state of the text; it stays as it is.
            words: uint32[ceil(V / 32)], the mask of the next token.
            spent: the number of tokens so far.
        """
        left = self.tokens - spent - 1  # one for the end token
        if self._is_unknown or left > WATCHED_TOKENS or matcher.is_terminated:
            return
        try:
            text = shortest_completion(matcher)
        except LimitExceededError:
            self._is_unknown = True
            return
        if not text or len(text) + self._reserve < left:  # a token has one byte at least
            if text == b"" and left <= self._reserve:
                _keep_ends(matcher, words)
            return
        rest = _trie_of(matcher).fewest_tokens(text)
        if rest and len(rest) + self._reserve >= left and words[rest[0] >> 5] >> (rest[0] & 31) & 1:
            words[:] = 0
            words[rest[0] >> 5] = 1 << (rest[0] & 31)


def _keep_ends(matcher: Matcher, words: np.ndarray[Any, Any]) -> None:
    ends = matcher.ask(lambda compiled, set_id: compiled.vocabulary.eos_token_ids)
    kept = [token_id for token_id in ends if words[token_id >> 5] >> (token_id & 31) & 1]
    if kept:
        words[:] = 0
        for token_id in kept:
            words[token_id >> 5] |= 1 << (token_id & 31)


def _trie_of(matcher: Matcher) -> TokenTrie:
    """Return the trie of a grammar's tokens."""
    return matcher.ask(lambda compiled, set_id: compiled.marked.trie)
