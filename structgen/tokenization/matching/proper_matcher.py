"""The matcher of one sequence of tokens that must be proper: as the tokenizer would split its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from structgen.engine.matching.compiled import CompiledGrammar, Turn
from structgen.engine.matching.matcher import Matcher
from structgen.engine.matching.readings import written
from structgen.engine.whole_numbers import whole_number
from structgen.errors import LimitExceededError, TokenRejectedError
from structgen.tokenization.matching.proper_masks import ProperMasks
from structgen.tokenization.matching.proper_tokenization import ProperTokenization
from structgen.tokenization.matching.token_sets import UndecidedTokens
from structgen.tokenization.matching.tokenizer_state import TokenizerState

if TYPE_CHECKING:
    from structgen.engine.matching.explaining import Explanation

__all__ = ["ProperMatcher", "healed", "prepare"]

# Declared as C integers in the .pxd.
ALL_BITS = 0xFFFFFFFF  # of a word
NOWHERE = -1  # no mask was made since tokens were rolled back
TEXTS_SHOWN = 64  # tokens before an explained one that the tokenizer is asked about
MAX_HEALED = 32  # tokens of a prompt that are rewritten at most; otherwise none are


def _has_bit(words: Any, size: int, token: int) -> bool:
    """Return whether a mask has a token."""
    return 0 <= token < size and bool(words[token >> 5] >> (token & 31) & 1)


def prepare(compiled: CompiledGrammar, tokenization: ProperTokenization) -> None:
    """Make what the masks of a grammar need, such as the tries of a new vocabulary, so that no mask waits for it.

    Args:
        compiled: the grammar.
        tokenization: the tokenizer.

    Raises:
        LimitExceededError: a bound of `Limits` was passed.
    """
    with Turn(compiled):
        ProperMasks.of(compiled, tokenization)


class ProperMatcher(Matcher):
    """A `Matcher` that allows only proper tokenizations.

    Args:
        compiled: the grammar.
        tokenization: the tokenizer.
        prompt_ids: the tokens before the text: the last ones decide, too, which may follow.
        prefix: bytes with which the text must begin, see `Matcher`.
    """

    def __init__(
        self,
        compiled: CompiledGrammar,
        tokenization: ProperTokenization,
        prompt_ids: Sequence[int] = (),
        prefix: bytes = b"",
    ) -> None:
        super().__init__(compiled, prefix)
        self._tokenization = tokenization
        with Turn(compiled):
            self._tokenizer_state = tokenization.after_prompt(prompt_ids)
        self._earlier_states: list[TokenizerState] = []
        # The last mask, and the number of tokens before it: a token that it allows need not be checked again.
        self._mask = np.zeros(tokenization.word_count, dtype=np.uint32)
        self._mask_at = NOWHERE

    def _fill(self, words: Any) -> None:
        compiled, decided, is_filled = self._compiled, -1, False
        checked: dict[Any, UndecidedTokens] = {}
        with Turn(compiled):
            while not is_filled:
                try:
                    self._fill_proper(words, checked)
                    is_filled = True
                except LimitExceededError as error:
                    # The tables begin anew as long as each time more tokens are decided.
                    before, decided = decided, sum([tokens.count_decided() for tokens in checked.values()])
                    if decided <= before:
                        raise
                    self._renew_after(error)

    def _fill_proper(self, words: Any, checked: dict[Any, UndecidedTokens]) -> None:
        Matcher._fill(self, words)
        compiled, state, one = self._compiled, self._tokenizer_state, 1
        ends = compiled.vocabulary.eos_token_ids if self._may_end() else ()
        for token in compiled.vocabulary.eos_token_ids:
            if self._has_ended() or not compiled.allows_mark(self._set, token):
                words[token >> 5] &= ALL_BITS ^ (one << (token & 31))
        if not self._has_ended():
            masks = ProperMasks.of(compiled, self._tokenization)
            masks.narrow(words, self._set, state, checked)
        if ends and self._tokenization.may_end(state):
            for token in ends:
                words[token >> 5] |= one << (token & 31)
        self._mask[:] = words
        self._mask_at = len(self._earlier_states)

    def explain(self, token_id: int) -> Explanation:
        """Explain a token, see `Matcher.explain`; the reason "tokenizer" means that only the tokenizer refuses it."""
        found = Matcher.explain(self, token_id)
        if not found.allowed:
            return found
        if self._mask_at != len(self._earlier_states):
            self.fill_next_token_bitmask(np.zeros((1, self._tokenization.word_count), dtype=np.uint32))
        if _has_bit(self._mask, self._compiled.vocabulary.size, token_id):
            return found
        ends = token_id in self._compiled.vocabulary.eos_token_ids
        texts = [] if ends or self._compiled.has_marks else [*self._texts[-TEXTS_SHOWN:], found.text or b""]
        instead = self._tokenization.written(texts) if texts else ()
        behind = written(self._compiled, self._texts)
        return replace(found, allowed=False, reason="tokenizer", position=None, behind=behind, instead=instead)

    def accept_token(self, token_id: int) -> None:
        """Accept a token, see `Matcher.accept_token`; one that is not proper is rejected, too."""
        token_id = whole_number(token_id, "a token id")
        state = self._tokenizer_state
        size = self._compiled.vocabulary.size
        is_known = self._mask_at == len(self._earlier_states) and _has_bit(self._mask, size, token_id)
        with Turn(self._compiled):
            self._refresh()
            ends = token_id in self._compiled.vocabulary.eos_token_ids and (
                self._has_ended() or not self._compiled.allows_mark(self._set, token_id)
            )
            after = state if ends else self._tokenization.advance(state, token_id)
            Matcher.accept_token(self, token_id)
            leads_on: Any = False
            try:
                leads_on = is_known or (self._tokenization.may_end(state) if ends else after and self._leads_on(after))
            finally:
                if after is None or not leads_on:  # or a limit was passed
                    Matcher.rollback(self, 1)
            if after is None or not leads_on:
                raise self._rejected(token_id, "the tokenizer would not split the text there")
        self._earlier_states.append(state)
        self._tokenizer_state = after

    def _leads_on(self, state: TokenizerState) -> bool:
        """Return whether a proper way leads to an end after a token that was accepted. The lock is held."""
        if self._has_ended():
            return bool(self._tokenization.may_end(state))
        self._refresh()
        return bool(ProperMasks.of(self._compiled, self._tokenization).leads_on(self._set, state))

    def accept_bytes(self, data: bytes) -> None:
        """Raise an error: bytes do not say which tokens they are.

        Raises:
            TokenRejectedError: always.
        """
        raise TokenRejectedError(
            "a matcher of proper tokenizations accepts tokens, not bytes", token_id=None, position=len(self._texts)
        )

    def rollback(self, count: int) -> None:
        """Roll back tokens, see `Matcher.rollback`."""
        count = whole_number(count, "a count of tokens")
        Matcher.rollback(self, count)
        if count:
            kept = len(self._earlier_states) - count
            self._tokenizer_state = self._earlier_states[kept]
            del self._earlier_states[kept:]
            self._mask_at = NOWHERE

    def fork(self) -> Matcher:
        """Return an independent copy, see `Matcher.fork`."""
        twin = ProperMatcher(self._compiled, self._tokenization)
        self._copy_to(twin)
        twin._tokenizer_state = self._tokenizer_state
        twin._earlier_states = self._earlier_states.copy()
        return twin

    def reset(self) -> None:
        """Roll back all tokens; the prompt stays the same."""
        Matcher.reset(self)
        if self._earlier_states:
            self._tokenizer_state = self._earlier_states[0]
            self._earlier_states.clear()
            self._mask_at = NOWHERE

    @property
    def is_accepting(self) -> bool:
        """True if the text so far is a whole text of the language, and its tokens may end here."""
        with Turn(self._compiled):
            return super().is_accepting and self._tokenization.may_end(self._tokenizer_state)


def healed(
    compiled: CompiledGrammar, tokenization: ProperTokenization, prompt_ids: Sequence[int]
) -> tuple[list[int], bytes]:
    """Remove the last tokens of a prompt, as far as the tokenizer might join them with a text of the grammar.

    After the prompt `real`, the text `ly` would make `really`, which may be one token. So `real` is removed, and the
    text that is generated has to begin with its bytes.

    Args:
        compiled: the grammar.
        tokenization: the tokenizer.
        prompt_ids: the prompt.

    Returns:
        The tokens that stay; and the bytes that the text after them must begin with: those of the removed tokens, or
        those that the tokenizer inserts after the prompt.
    """
    kept, prefix = list(prompt_ids), b""
    words = np.zeros(tokenization.word_count, dtype=np.uint32)
    for _ in range(MAX_HEALED):
        prefix = prefix or tokenization.inserted_after(kept)
        Matcher(compiled, prefix).fill_next_token_bitmask(words[None])
        with Turn(compiled):
            is_cut_off = tokenization.is_cut_off(tokenization.after_prompt(kept), words)
        if is_cut_off:
            return kept, prefix
        text = compiled.vocabulary.token_bytes(kept.pop()) if kept else None
        if text is None:
            break
        prefix = text + prefix
    return list(prompt_ids), b""
