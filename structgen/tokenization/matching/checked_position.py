"""The position where tokens are checked one by one for dead ends, and what holds for all of them there."""

from __future__ import annotations

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.tokenization.matching.proper_tokenization import ProperTokenization
from structgen.tokenization.matching.token_sets import UndecidedTokens, has
from structgen.tokenization.matching.token_steps import TokenSteps
from structgen.tokenization.matching.tokenizer_state import Branch, TokenizerState
from structgen.tokenization.matching.whole_words import OTHER

__all__ = ["CheckedPosition", "Place"]


class Place:
    """Where tokens may follow: a place in a grammar's text and in the tokenizer's.

    Args:
        set_id: the Earley set.
        state: the tokenizer's state.
        branch: the branch of the state.
        joined: whether the tokens stand in the same pre-token as the last one.

    Attributes:
        set_id, state, branch, joined: the same.
    """

    def __init__(self, set_id: int, state: TokenizerState, branch: Branch, joined: bool) -> None:
        self.set_id = set_id
        self.state = state
        self.branch = branch
        self.joined = joined


class CheckedPosition:
    """A position in a grammar and a state of the tokenizer, and the steps of tokens from there.

    Args:
        compiled: the grammar.
        tokenization: the tokenizer.

    Attributes:
        steps: the steps of the token that is checked.
        is_kept: whether a way within a terminal is kept for other sets and grammars.
        checked: the tokens that were checked for the mask that is made, by place; see `recall`.
    """

    def __init__(self, compiled: CompiledGrammar, tokenization: ProperTokenization) -> None:
        self.steps = TokenSteps(compiled, tokenization.scanner)
        self.is_kept = False
        self.checked: dict[tuple[int, int, int, frozenset[int], bool], UndecidedTokens] = {}
        self._scanner = tokenization.scanner
        self._words = tokenization.words
        self._next_tokens = tokenization.next_tokens
        self._usual = tokenization.texts.usual
        self._begins_word = False
        self._word_before = OTHER
        self._place: Place | None = None

    def begin(self, place: Place) -> None:
        """Begin to check the tokens of another place."""
        branch, state, joined = place.branch, place.state, place.joined
        before = branch.scanner_state if joined else self._scanner.cut(branch.scanner_state)
        self._begins_word = not joined or (self._scanner.is_start(before) and not state.partial)
        self._word_before = branch.word
        self.is_kept = not state.added and (self._begins_word or branch.word == OTHER)
        self.steps.begin(place.set_id, before, state.partial)
        self._place = place

    def recall(self, undecided: UndecidedTokens, place: Place) -> None:
        """Take over what is known of the tokens of a place, and keep them for another call.

        In a grammar in which strings must differ, each token may need sets of its own. If there are too many for one
        mask, the sets begin anew in the middle of it, and what was decided before is not checked again.
        """
        branch, state = place.branch, place.state
        key = (branch.scanner_state, branch.word, state.partial, state.added, place.joined)
        known = self.checked.get(key)
        if known is not None and known is not undecided:
            undecided.take_over(known)
        self.checked[key] = undecided

    def word_after(self, token: int) -> int:
        """Return the node of the current pre-token in `WholeWords` after a token."""
        if not self._begins_word:
            return self._words.after(self._word_before, token)
        return OTHER if has(self._usual, token) else self._words.begun_by(token)

    def drop(self, token: int) -> None:
        """Drop a token from those that fit the scanner: whatever the grammar, nothing completes its last character."""
        place = self._place
        if place is not None:
            self._next_tokens.drop(place.branch.scanner_state, place.state.partial, place.joined, token)
