"""One sequence of tokens that the tokenizer itself would make of its text, on its way through a grammar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.errors import LimitExceededError, TokenRejectedError
from structgen.tokenization.matching.proper_masks import ProperMasks
from structgen.tokenization.matching.proper_tokenization import ProperTokenization, TokenizerState

if TYPE_CHECKING:
    from structgen.engine.matching.explaining import Explanation

__all__ = ["ProperMatcher", "healed"]

# Declared as C integers in the .pxd.
ALL_BITS = 0xFFFFFFFF  # of a word
NOWHERE = -1
TEXTS_SHOWN = 64  # tokens before one that is explained, which the tokenizer is asked about
MAX_HEALED = 32  # tokens of a prompt's last pre-token; in a longer one nothing is healed


class ProperMatcher(Matcher):
    """A `Matcher` that allows only proper tokenizations.

    Args:
        compiled: the grammar.
        tokenization: the tokenizer.
        prompt_ids: the tokens before the text: what may follow depends on the last ones, too.
        prefix: as of `Matcher`.
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
        with compiled.lock:
            self._place = tokenization.behind_prompt(prompt_ids)
        self._places_before: list[TokenizerState] = []
        # The last mask, and behind how many tokens it was made: what it allows need not be looked at again.
        self._mask = np.zeros(tokenization.word_count, dtype=np.uint32)
        self._mask_at = NOWHERE

    def _fill(self, words: Any) -> None:
        compiled = self._compiled
        with compiled.lock:
            try:
                self._fill_proper(words)
            except LimitExceededError as error:
                self._renew_after(error)
                self._fill_proper(words)

    def _fill_proper(self, words: Any) -> None:
        Matcher._fill(self, words)
        place, one = self._place, 1
        ends = []
        for token in self._compiled.vocabulary.eos_token_ids:
            if words[token >> 5] >> (token & 31) & 1:
                ends.append(token)
            words[token >> 5] &= ALL_BITS ^ (one << (token & 31))
        if not self._has_ended():
            ProperMasks.of(self._compiled, self._tokenization).narrow(words, self._set, place)
        if ends and self._tokenization.may_end(place):
            for token in ends:
                words[token >> 5] |= one << (token & 31)
        self._mask[:] = words
        self._mask_at = len(self._places_before)

    def explain(self, token_id: int) -> Explanation:
        """See `Matcher.explain`; a token that the grammar allows, and the tokenizer would not write, says so."""
        found = Matcher.explain(self, token_id)
        if not found.allowed:
            return found
        if self._mask_at != len(self._places_before):
            self.fill_next_token_bitmask(np.zeros((1, self._tokenization.word_count), dtype=np.uint32))
        if self._is_in_mask(token_id):
            return found
        ends = token_id in self._compiled.vocabulary.eos_token_ids
        instead = () if ends else self._tokenization.written([*self._texts[-TEXTS_SHOWN:], found.text or b""])
        behind = b"".join(self._texts)
        return replace(found, allowed=False, reason="tokenizer", position=None, behind=behind, instead=instead)

    def accept_token(self, token_id: int) -> None:
        """See `Matcher.accept_token`; a token that is not proper is rejected, too."""
        ends = token_id in self._compiled.vocabulary.eos_token_ids
        place = self._place
        is_known = self._mask_at == len(self._places_before) and self._is_in_mask(token_id)
        with self._compiled.lock:
            after = place if ends else self._tokenization.advance(place, token_id)
            Matcher.accept_token(self, token_id)
            leads_on = is_known or (self._tokenization.may_end(place) if ends else after and self._leads_on(after))
            if after is None or not leads_on:
                Matcher.rollback(self, 1)
                raise self._rejected(token_id, "the tokenizer would not split the text there")
        self._places_before.append(place)
        self._place = after

    def _is_in_mask(self, token: int) -> bool:
        return 0 <= token < self._compiled.vocabulary.size and bool(self._mask[token >> 5] >> (token & 31) & 1)

    def _leads_on(self, place: TokenizerState) -> bool:
        """Whether a proper way leads to an end from behind a token that was accepted. The lock is held."""
        if self._has_ended():
            return bool(self._tokenization.may_end(place))
        self._refresh()
        return bool(ProperMasks.of(self._compiled, self._tokenization).leads_on(self._set, place))

    def accept_bytes(self, data: bytes) -> None:
        """Not for proper tokenizations: bytes do not say which tokens they are.

        Raises:
            TokenRejectedError: always.
        """
        raise TokenRejectedError(
            "a matcher of proper tokenizations takes tokens, no bytes", token_id=None, position=len(self._texts)
        )

    def rollback(self, count: int) -> None:
        """See `Matcher.rollback`."""
        Matcher.rollback(self, count)
        if count:
            kept = len(self._places_before) - count
            self._place = self._places_before[kept]
            del self._places_before[kept:]
            self._mask_at = NOWHERE

    def fork(self) -> Matcher:
        """See `Matcher.fork`."""
        twin = ProperMatcher(self._compiled, self._tokenization)
        self._copy_to(twin)
        twin._place = self._place
        twin._places_before = self._places_before.copy()
        return twin

    def reset(self) -> None:
        """Goes back to before the first token, behind the same prompt."""
        Matcher.reset(self)
        if self._places_before:
            self._place = self._places_before[0]
            self._places_before.clear()
            self._mask_at = NOWHERE

    @property
    def is_accepting(self) -> bool:
        """Whether the text so far is a whole text of the language, and its tokens are all of it."""
        with self._compiled.lock:
            return super().is_accepting and self._tokenization.may_end(self._place)


def healed(
    compiled: CompiledGrammar, tokenization: ProperTokenization, prompt_ids: Sequence[int]
) -> tuple[list[int], bytes]:
    """A prompt without its last tokens, as far as the tokenizer might join these with a text of the grammar.

    Returns:
        the tokens that stay; and the bytes of the others, or what the tokenizer puts behind the prompt: what is written
        behind the first has to begin with them.
    """
    kept, prefix = list(prompt_ids), b""
    words = np.zeros(tokenization.word_count, dtype=np.uint32)
    for _ in range(MAX_HEALED):
        prefix = prefix or tokenization.put_behind(kept)
        Matcher(compiled, prefix).fill_next_token_bitmask(words[None])
        with compiled.lock:
            is_cut_off = tokenization.is_cut_off(tokenization.behind_prompt(kept), words)
        if is_cut_off:
            return kept, prefix
        text = compiled.vocabulary.token_bytes(kept.pop()) if kept else None
        if text is None:
            break
        prefix = text + prefix
    return list(prompt_ids), b""
