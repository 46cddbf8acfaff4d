"""The state of a tokenizer after some tokens, as far as it decides which tokens may follow.

With Llama 3's tokenizer, after the token `is` (285):

    TokenizerState(branches=(Branch(scanner_state=10, word=0),), partial=0, token=285, added=frozenset(), tail="")

The next token either joins the pre-token (`land` may, `le` may not: a merge would join it with `is`), or it begins
another one (` land`). The cuts between pre-tokens are not always known yet: after `is` and two spaces, whether the
second space belongs to the next pre-token depends on what follows. So a state of the scanner is a set of guesses about
the cuts. They can differ in where the current pre-token begins, and so in its tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["NO_TOKEN", "Branch", "TokenizerState"]

NO_TOKEN = -1


@dataclass(frozen=True, slots=True)
class Branch:
    """The guesses about the cuts that have the same `word`.

    Attributes:
        scanner_state: the state of the `Scanner`: the guesses.
        word: the node of `WholeWords` for the tokens of the current pre-token.
    """

    scanner_state: int
    word: int


@dataclass(frozen=True, slots=True)
class TokenizerState:
    """The tokens so far, as far as they matter for those to come.

    Attributes:
        branches: the guesses about the cuts that fit the tokens, grouped by word; at least one branch.
        partial: the scanner's number of the character that the last token leaves unfinished; 0 for none.
        token: the last token; NO_TOKEN at the beginning of a text, and after an added token.
        added: the added tokens that the text is in the middle of, as nodes of `AddedTokens`.
        tail: the last characters that a normalizer might still compose with the next ones; "" if there are none.
    """

    branches: tuple[Branch, ...]
    partial: int = 0
    token: int = NO_TOKEN
    added: frozenset[int] = frozenset()
    tail: str = ""
