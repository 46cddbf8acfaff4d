"""Sure cuts: whether a character may come next that surely separates the tokens before it from what follows.

The tokens before a cut do not depend on the text after it. So if a character that always makes a cut may come after a
token, or if the text may end there, then a proper way leads on. That is decided by the Earley set and the state of the
scanner alone; for tokenizers without cuts, also by the token, which must have a sure border.
"""

from __future__ import annotations

from typing import Any

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.pair_table import PairTable
from structgen.tokenization.matching.continuations import IN_SET, Continuations
from structgen.tokenization.matching.proper_tokenization import ProperTokenization
from structgen.tokenization.matching.whole_words import OTHER

__all__ = ["SureCuts"]

MAX_KEPT = 65_536  # answers; declared as a C integer in the .pxd, so not importable from here


class SureCuts:
    """The sure cuts in the texts of one grammar, for the Earley sets of one epoch.

    Args:
        compiled: the grammar.
        tokenization: the tokenizer.
        ahead: the texts that may come next in the grammar.
    """

    def __init__(self, compiled: CompiledGrammar, tokenization: ProperTokenization, ahead: Continuations) -> None:
        self._compiled = compiled
        self._tokenization = tokenization
        self._ahead = ahead
        self._sets = compiled.sets
        self._scanner = tokenization.scanner
        self._words = tokenization.words
        self._borders = tokenization.borders
        self._known = PairTable()
        self._texts = ahead.texts

    def leads_on(self, set_id: int, scanner_state: int, word: int, token: int) -> bool:
        """Return whether the text may end, or a character may come next that surely cuts."""
        if scanner_state == self._scanner.start:
            return True  # a pre-token begins here anyway
        if self._words.is_whole(word):
            return False
        if self._borders is not None:
            return self.may_stop(set_id, scanner_state) or self.may_come(
                set_id, self.cutting(scanner_state, word, token)
            )
        known = self._known.get(set_id, scanner_state)
        if known < 0:
            if len(self._known) >= MAX_KEPT:
                self._known = PairTable()
            known = self.may_stop(set_id, scanner_state) or self._may_cut(set_id, scanner_state)
            self._known.put(set_id, scanner_state, known)
        return known > 0

    def may_come_within(self, at: int, scanner_state: int, token: int) -> bool:
        """Return whether a byte that surely cuts may come next in a terminal, or end it.

        Args:
            at: a state of the terminal's automaton; see `Continuations.is_free`.
            scanner_state: the state of the scanner.
            token: the last token.
        """
        if self._borders is not None:
            return bool(self._ahead.leading_from(at) & self.cutting(scanner_state, OTHER, token))
        known = self._texts.cuts.get(at, scanner_state)
        if known < 0:
            if len(self._texts.cuts) >= MAX_KEPT:
                self._texts.cuts = PairTable()
            known = bool(self._ahead.leading_from(at) & self._scanner.cutting_bytes(scanner_state))
            self._texts.cuts.put(at, scanner_state, known)
        return known > 0

    def cutting(self, scanner_state: int, word: int, token: int) -> Any:
        """Return the bytes that, if they come next, surely separate the tokens before them; as bits of a number.

        Args:
            scanner_state: the state of the scanner after the tokens.
            word: the node of the current pre-token in `WholeWords`.
            token: the last token.
        """
        if self._borders is not None:  # a pre-token may continue after a border
            return self._scanner.cutting_bytes(scanner_state) & self._borders.of(token) if word == OTHER else 0
        return 0 if self._words.is_whole(word) else self._scanner.cutting_bytes(scanner_state)

    def may_stop(self, set_id: int, scanner_state: int) -> bool:
        """Return whether the text may end, in the grammar and for the scanner."""
        return self._scanner.may_end(scanner_state) and self._ahead.may_stop(set_id)

    def may_come(self, set_id: int, cutting: int) -> bool:
        """Return whether one of some bytes, as bits of a number, may come next."""
        if self._compiled.eager and self._sets.table.accepting[set_id]:
            return False  # nothing follows
        return self._ahead.are_accepted(set_id, self._ahead.next_bytes(set_id) & cutting, IN_SET)

    def _may_cut(self, set_id: int, scanner_state: int) -> bool:
        if self.may_come(set_id, self._scanner.cutting_bytes(scanner_state)):
            return True
        if self._compiled.eager and self._sets.table.accepting[set_id]:
            return False
        following = self._ahead.next_bytes(set_id)
        for first, texts in self._longer_cuts(scanner_state):
            if following & first:
                for text in texts:
                    if self._ahead.follow(set_id, text):
                        return True
        return False

    def _longer_cuts(self, scanner_state: int) -> list[tuple[int, list[bytes]]]:
        """Return the texts of several bytes that surely make a cut, by their first bytes as bits of a number."""
        known = self._texts.longer.get(scanner_state)
        if known is None:
            by_first: dict[int, list[bytes]] = {}
            for cut in self._tokenization.cuts_of(scanner_state):
                text = self._scanner.cuts[cut]
                if len(text) > 1:
                    by_first.setdefault(1 << text[0], []).append(text)
            known = self._texts.longer[scanner_state] = list(by_first.items())
        return known
