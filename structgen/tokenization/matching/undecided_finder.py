"""The tokens of a set that must be checked one by one for dead ends: those that nothing decides together.

Of the tokens that the grammar and the tokenizer allow next, these are left out, in this order:

    tokens that lead on within a terminal    known from other sets and grammars (`InnerWays`); also where its end may be
                                             refused, such as that of a key that must differ from others
    tokens of white space                    all those of a kind at once (`TerminalEnds.remove_blanks`)
    tokens that their cutting texts follow   by one more mask, if many are left

In a free JSON string, after a letter, 100,000 tokens fit; ten are left, such as `"` and the first byte of a character.
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from structgen.engine.arrays import zeros
from structgen.engine.masks.set_masks import SetMasks
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.errors import LimitExceededError
from structgen.tokenization.matching.continuations import Continuations
from structgen.tokenization.matching.inner_ways import CAPTURED, FREE, InnerWays, LeadingTokens
from structgen.tokenization.matching.proper_tokenization import ProperTokenization
from structgen.tokenization.matching.terminal_ends import TerminalEnds
from structgen.tokenization.matching.token_sets import (
    UndecidedTokens,
    are_many,
    count_to,
    drop_both,
    has,
    intersection,
    list_tokens,
    remove,
    remove_both,
    select,
    tokens_in,
    undecided_tokens,
)
from structgen.tokenization.matching.tokenizer_state import Branch
from structgen.tokenization.matching.whole_words import OTHER
from structgen.tokenization.pre_tokens.scanner import TokenRows

__all__ = ["UndecidedFinder"]

# Declared as C integers in the .pxd, so not importable from here.
ALL_BITS = 0xFFFFFFFF  # of a word
MAX_CUT_MASK_TOKENS = 1 << 21  # tokens in the pool of masks over extended tokens, before new ones are made
MAX_ITEMS = 8  # of a set whose terminals are looked at one by one
MIN_FOUND = 1024  # tokens for which masks are made that take long
MAX_LISTED = 1024  # tokens that are decided in a list, at most MIN_FOUND; more are decided in passes over a mask
MIN_SORTED = 32  # tokens
QUOTE = 0x22

ONLY_QUOTE = 1 << 0x22  # bytes, as bits of a number; no C integer has so many


class UndecidedFinder:
    """Finds the undecided tokens of one grammar, for the Earley sets of one epoch.

    Args:
        compiled: the grammar.
        tokenization: the tokenizer.
        ahead: the texts that may come next in the grammar.
        ends: the ways through the ends of terminals.
    """

    def __init__(
        self, compiled: CompiledGrammar, tokenization: ProperTokenization, ahead: Continuations, ends: TerminalEnds
    ) -> None:
        self._compiled = compiled
        self._tokenization = tokenization
        self._ahead = ahead
        self._ends = ends
        self._sets = compiled.sets
        self._scanner = tokenization.scanner
        self._words = tokenization.words
        self._next_tokens = tokenization.next_tokens
        self._inner = InnerWays.of(compiled, tokenization)
        self._cut_masks = [self._new_cut_masks(cutters) for cutters in (0, 1)]
        self._best_cutters: dict[int, int] = {}  # by state of the scanner
        self._dead_joins: list[int] = []  # of the tokens that are looked at
        self._dead_begins: list[int] = []
        self._quotes: dict[int, bool] = {}
        self._joined, self._begun = zeros(MAX_LISTED), zeros(MAX_LISTED)
        words = tokenization.word_count
        self._none, self._joins, self._begins, self._cut = (np.zeros(words, dtype=np.uint32) for _ in range(4))
        self._known: list[LeadingTokens] = []
        self._known_row: Any = self._none

    def find(self, set_id: int, branch: Branch, partial: int, base: Any) -> tuple[UndecidedTokens, UndecidedTokens]:
        """Return the undecided tokens of a set and a branch: in the same pre-token, and as the first of another one.

        Args:
            set_id: the Earley set.
            branch: the branch of a state of the tokenizer. The text is in the middle of no added token.
            partial: the scanner's number of the unfinished character before the tokens.
            base: uint32[words], the mask of the set; end tokens make no difference.
        """
        joins, begins, one = self._joins, self._begins, 1
        rows = self._next_tokens.rows(branch.scanner_state, partial)
        following = [
            token for token in self._words.following(branch.word) if has(base, token) and has(rows.joins, token)
        ]
        self._dead_joins, self._dead_begins = [], []
        self._select(base, set_id, branch, partial, rows)
        if not following:
            joined = list_tokens(joins, self._joined, MAX_LISTED)
            begun = list_tokens(begins, self._begun, MAX_LISTED) if joined <= MAX_LISTED else 0
            if joined + begun <= MAX_LISTED:
                return self._few(joined, begun, set_id, branch.scanner_state, rows)
        self._drop_cut_off(joins, begins, set_id, branch.scanner_state, rows)
        for token in following:
            joins[token >> 5] |= one << (token & 31)
        return (
            undecided_tokens(self._all_of(joins, self._joined), self._dead_joins),
            undecided_tokens(self._all_of(begins, self._begun), self._dead_begins),
        )

    def _few(
        self, joined: int, begun: int, set_id: int, scanner_state: int, rows: TokenRows
    ) -> tuple[UndecidedTokens, UndecidedTokens]:
        """Return the result of `find` for tokens in lists. Up to some hundred cost less than a pass over a mask.

        Args:
            joined: the number of tokens in `_joined`.
            begun: the number of tokens in `_begun`.
            set_id: the Earley set.
            scanner_state: the state of the scanner.
            rows: the tokens that may follow it.
        """
        bound = self._tokenization.max_single_checks
        first = self._first_cutters(set_id, scanner_state) if joined + begun > bound else 0
        for cutters in (first, 1 - first):
            if joined + begun > bound and not (cutters == 0 and self._is_bounded(set_id)):
                cut = self._cuttable(cutters, set_id)
                joined = drop_both(self._joined, joined, rows.sure_joins[cutters], cut)
                begun = drop_both(self._begun, begun, rows.sure_begins[cutters], cut)
                self._best_cutters[scanner_state] = cutters
        return (
            undecided_tokens(self._in_order(self._joined, joined), self._dead_joins),
            undecided_tokens(self._in_order(self._begun, begun), self._dead_begins),
        )

    def _all_of(self, row: Any, listed: Any) -> array[int]:
        """Return the tokens of a mask.

        Args:
            row: uint32[words].
            listed: int32[MAX_LISTED], a buffer: mostly they are few.
        """
        count = list_tokens(row, listed, MAX_LISTED)
        if count <= MAX_LISTED:
            return self._in_order(listed, count)
        tokens = tokens_in(row)
        return self._in_order(tokens, len(tokens))

    def _in_order(self, tokens: Any, count: int) -> array[int]:
        """Return the first tokens of a list; many of them in the order of their texts: `TokenSteps` shares steps."""
        if count >= MIN_SORTED:
            return self._tokenization.vocabulary.trie.in_order(np.asarray(tokens[:count]))
        some = zeros(count)
        for index in range(count):
            some[index] = tokens[index]
        return some

    def _select(self, base: Any, set_id: int, branch: Branch, partial: int, rows: TokenRows) -> None:
        """Write the tokens that may follow to `_joins` and `_begins`, without those that are decided together.

        These are the tokens that surely lead on within the terminals of the set, and those of white space.
        """
        before, joins, begins, none = branch.scanner_state, self._joins, self._begins, self._none
        if self._scanner.is_start(before) or branch.word == OTHER:
            self._known_at(set_id, before, partial)
            is_large = select(joins, base, rows.joins, self._known_row)
            self._drop(joins, set_id, before, partial, rows.sure_joins, self._dead_joins, is_large)
        else:
            select(joins, base, rows.joins, none)
        if self._scanner.is_start(before):
            select(begins, base, rows.begins, none)
        else:
            before = self._scanner.cut(before)
            self._known_at(set_id, before, partial)
            is_large = select(begins, base, rows.begins, self._known_row)
            self._drop(begins, set_id, before, partial, rows.sure_begins, self._dead_begins, is_large)

    def _known_at(self, set_id: int, before: int, partial: int) -> None:
        """Find what is known to lead on within the terminals of a set: `_known`, and a mask of it, `_known_row`.

        Args:
            set_id: the Earley set.
            before: the state of the scanner before the tokens, with a cut if there is one.
            partial: the scanner's number of the unfinished character.
        """
        sets = self._sets
        sets.close(set_id)
        has_row = False
        self._known.clear()
        self._known_row = self._none
        first, last = sets.table.first_scan[set_id], sets.table.last_scan[set_id]
        if last - first <= MAX_ITEMS:
            for scan in range(first, last):
                kind = self._ahead.kind_of(set_id, scan)
                known = self._inner.after(sets.scans.state[scan], before, partial, kind)
                self._known.append(known)
                if known.row is not None and not has_row:
                    self._known_row, has_row = known.row, True

    def _drop(
        self, row: Any, set_id: int, before: int, partial: int, sure: list[Any], dead: list[int], is_large: bool
    ) -> None:
        """Remove the tokens that `_known` has, and those of white space; see `_select`.

        Args:
            row: uint32[words], changed in place; without the tokens of `_known_row`.
            set_id: the Earley set.
            before: the state of the scanner before the tokens, with a cut if there is one.
            partial: the scanner's number of the unfinished character.
            sure: for each of the cutters uint32[words], the tokens that they surely cut off.
            dead: gets tokens of the mask from which no proper way leads to an end.
            is_large: whether many words of the mask have tokens.
        """
        one, has_one = 1, False
        for known in self._known:
            if known.row is not None:
                if has_one:
                    remove(row, known.row)
                has_one = True
            if known.proven is not None:
                for token in known.proven:
                    row[token >> 5] &= ALL_BITS ^ (one << (token & 31))
        if not partial:
            self._ends.remove_blanks(row, set_id, before, dead)
            if is_large and self._known and not self._compiled.eager and are_many(row):
                self._find_inner(row, set_id, before, sure)

    def _find_inner(self, row: Any, set_id: int, before: int, sure: list[Any]) -> None:
        """Find the tokens that surely lead on within the terminals of a set, and remove them; see `_drop`."""
        sets, best = self._sets, self._first_cutters(set_id, before)
        for cutters in (best, 1 - best):
            if are_many(row):
                vocabulary = self._tokenization.cut_vocabularies[cutters]
                for scan in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
                    at, kind, certain = sets.scans.state[scan], self._ahead.kind_of(set_id, scan), sure[cutters]
                    if kind == CAPTURED:  # a cutting text with a quote may end the terminal, and be refused
                        certain = self._cut
                        intersection(certain, sure[cutters], self._tokenization.unquoting[cutters])
                    if kind == FREE or self._ends_with_quote(at):
                        known = self._inner.after(at, before, 0, kind)
                        self._inner.find(known, at, cutters, vocabulary, certain)
                        if known.row is not None:
                            remove(row, known.row)

    def _ends_with_quote(self, state: int) -> bool:
        """Return whether a terminal is a repetition and a quote after it: nothing but a quote can end it."""
        parts = self._sets.automata.as_counted(state)
        return parts is not None and self._is_quote(parts[3])

    def _is_quote(self, state: int) -> bool:
        """Return whether the only text of an automaton's state is a quote."""
        known = self._quotes.get(state)
        if known is None:
            automata = self._sets.automata
            end = automata.next(state, QUOTE)
            is_only = automata.first_bytes(state) == ONLY_QUOTE and not automata.table.accepting[state]
            known = self._quotes[state] = bool(is_only and end and not automata.has_next(end))
        return known

    def _first_cutters(self, set_id: int, scanner_state: int) -> int:
        """Return the cutters to try first: those that were of use last time after a state of the scanner."""
        return 1 if self._is_bounded(set_id) else self._best_cutters.get(scanner_state, 0)

    def _is_bounded(self, set_id: int) -> bool:
        """Return whether a terminal of a set has a bound beside other conditions, such as a pattern with words.

        There the first cutters take long, whose texts begin with spaces: with each space the state is another one.
        """
        sets = self._sets
        for scan in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
            if sets.automata.as_bounded(sets.scans.state[scan]) is not None:
                return True
        return False

    def _drop_cut_off(self, joins: Any, begins: Any, set_id: int, scanner_state: int, rows: TokenRows) -> None:
        """Remove the tokens that their cutting texts may follow, as long as many tokens are left.

        The cutting texts that were of use last time come first: inside strings, others than after keys.
        """
        bound = self._tokenization.max_single_checks
        first = self._first_cutters(set_id, scanner_state)
        for cutters in (first, 1 - first):
            most = MIN_FOUND if cutters == 0 and self._is_bounded(set_id) else bound
            if count_to(joins, most) + count_to(begins, most) > most:
                cut = self._cuttable(cutters, set_id)
                remove_both(joins, rows.sure_joins[cutters], cut)
                remove_both(begins, rows.sure_begins[cutters], cut)
                self._best_cutters[scanner_state] = cutters

    def _new_cut_masks(self, cutters: int) -> SetMasks:
        vocabulary = self._tokenization.cut_vocabularies[cutters]
        return SetMasks(self._compiled.sets, self._compiled.shared.terminals_of(vocabulary))

    def _cuttable(self, cutters: int, set_id: int) -> Any:
        """Return the tokens that may come with their cutting text after them: uint32[words]."""
        masks, row = self._cut_masks[cutters], self._cut
        if len(masks.pool) > MAX_CUT_MASK_TOKENS:  # each mask is used once or twice only
            masks = self._cut_masks[cutters] = self._new_cut_masks(cutters)
        try:
            masks.fill(set_id, row)
        except LimitExceededError:  # then each token is checked by itself
            row[:] = 0
        return row
