"""The masks of proper tokenizations under a grammar, made from the grammar's masks: without dead ends.

A token stays in the mask if it is proper after the tokens so far (`ProperTokenization`), and a proper way leads from it
to an end of the grammar. The second is a question about texts. Each text has one proper tokenization, so the tokens so
far must be the beginning of that of some text that the grammar allows. With Llama 3's tokens, and a grammar of the
texts `{"isle"` and `{"islands"`:

    proper tokenizations              `{"` `isle` `"`    and    `{"` `is` `lands` `"`
    after `{"`, the grammar allows    `i`, `is`, `isl`, `isle`
    the proper mask                   `is`, `isle`; the others may begin a pre-token, but not that of these texts

The tokens before a cut do not depend on the text after it. So a token leads on if a character can follow that surely
makes a cut after the token, or if the text can end there. Three steps decide that, each for the tokens that the one
before leaves open:

1. For all tokens at once: each token is extended by such a character, its *cutting text* (`isle"`). The grammar's
   mask over the extended tokens tells which tokens this text can follow.
2. One by one (`UndecidedTokens`): the texts up to the next cut are enumerated and tokenized, if they are few;
   unfinished characters are completed; short tokens are tried that often stand before a cut.
3. A search over pairs of an Earley set and a `TokenizerState`, for what is still open: one token in some masks.

Verdicts depend on the Earley set and the scanner's state, not on the last token: its conflicts are removed afterwards.
So verdicts are kept, and most masks take a few microseconds more than the grammar's own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structgen.engine.arrays import zeros
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.pair_table import PairTable
from structgen.tokenization.matching.checked_position import CheckedPosition, Place
from structgen.tokenization.matching.continuations import Continuations
from structgen.tokenization.matching.inner_walk import InnerWalk
from structgen.tokenization.matching.proper_tokenization import ProperTokenization
from structgen.tokenization.matching.token_sets import (
    UndecidedTokens,
    drop,
    has,
    intersect,
    intersect_either,
    intersection,
    ints,
    tokens_first,
    undecided_tokens,
    unite,
    without,
)
from structgen.tokenization.matching.token_steps import TokenSteps
from structgen.tokenization.matching.tokenizer_state import Branch, TokenizerState
from structgen.tokenization.matching.undecided_finder import UndecidedFinder
from structgen.tokenization.matching.verdicts import Verdicts
from structgen.tokenization.matching.whole_words import OTHER
from structgen.tokenization.pre_tokens.scanner import TokenRows

__all__ = ["ProperMasks"]

UNKNOWN = 0
GOOD = 1
BAD = 2
ALL_BITS = 0xFFFFFFFF  # of a word
MAX_KEPT = 65_536  # answers of each kind
MAX_VERDICTS = 1 << 20  # on tokens that keep the pre-token open
NOWHERE = -1
MIN_WALKED = 32  # undecided tokens, which are in the order of their texts
MAX_ROWS = 256  # masks of `_surely_first`, 32 kB each

NO_ADDED: frozenset[int] = frozenset()


class ProperMasks:
    """The proper tokens of one grammar, for the Earley sets of one epoch.

    Args:
        compiled: the grammar.
        tokenization: the tokenizer.

    Attributes:
        epoch: the epoch of the sets.
        tokenization: the tokenizer.
    """

    def __init__(self, compiled: CompiledGrammar, tokenization: ProperTokenization) -> None:
        self.epoch = compiled.epoch
        self.tokenization = tokenization
        self._scanner = tokenization.scanner
        self._conflicts = tokenization.conflicts
        self._words = tokenization.words
        self._next_tokens = tokenization.next_tokens
        self._compiled = compiled
        self._sets = compiled.sets
        self._spellings = compiled.vocabulary.spellings
        self._undecided: dict[tuple[int, int, int, int], tuple[UndecidedTokens, UndecidedTokens]] = {}
        self._continuing: dict[tuple[int, int, int, int, frozenset[int], bool], UndecidedTokens] = {}
        self._begun = tokenization.begun
        self._usual = tokenization.texts.usual
        self._ahead = Continuations(compiled, tokenization)
        self._position = CheckedPosition(compiled, tokenization)
        self._verdicts = Verdicts(compiled, tokenization, self._ahead)
        self._walk = InnerWalk(compiled, tokenization, self._ahead)
        self._finder = UndecidedFinder(compiled, tokenization, self._ahead, self._verdicts.ends)
        self._surely_first: dict[tuple[int, int], NDArray[np.uint32]] = {}
        self._good_added: dict[tuple[int, frozenset[int]], list[int]] = {}
        self._positions = PairTable()
        self._verdict_at = PairTable()
        self._depends_on_tail = False
        self._last_way: tuple[bytes, TokenizerState] | None = (
            None  # that a search found: its text, and the state after it
        )
        self._found: dict[tuple[int, TokenizerState], bool] = {}
        words = tokenization.word_count
        self._allowed = np.zeros(words, dtype=np.uint32)
        self._way = np.zeros(words, dtype=np.uint32)
        self._rest = np.zeros(words, dtype=np.uint32)
        self._none = np.zeros(words, dtype=np.uint32)

    @classmethod
    def of(cls, compiled: CompiledGrammar, tokenization: ProperTokenization) -> ProperMasks:
        """Return the masks of a grammar, made when first asked for."""
        known = compiled.proper
        if isinstance(known, cls) and known.epoch == compiled.epoch and known.tokenization is tokenization:
            return known
        made = cls(compiled, tokenization)
        compiled.proper = made
        return made

    def narrow(
        self,
        words: Any,
        set_id: int,
        state: TokenizerState,
        checked: dict[tuple[int, int, int, frozenset[int], bool], UndecidedTokens],
    ) -> None:
        """Remove the tokens that are not proper, or lead to no end.

        Args:
            words: uint32[words], the tokens that may follow an Earley set, without end tokens; changed in place.
            set_id: the set.
            state: the tokenizer's state after the tokens so far.
            checked: the tokens that were checked for this mask, in earlier sets; others are added. See
                `CheckedPosition.recall`.
        """
        tokenization, branches = self.tokenization, state.branches
        self._position.checked = checked
        adds = bool(tokenization.added.spelled or self._compiled.has_marks) and tokenization.may_end(state)
        if len(branches) == 1:
            self._narrow_to_branch(words, set_id, branches[0], state, adds)
        else:
            self._allowed[:] = 0
            self._allow(set_id, state, words, self._allowed, self._way, True)
            if adds:
                self._allow_added(words, set_id, state)
            intersect(words, self._allowed)
        if state.added or state.partial or state.tail:  # else nothing clashes
            one = 1
            for token in tokenization.clashes(state, words):
                words[token >> 5] &= ALL_BITS ^ (one << (token & 31))

    def _narrow_to_branch(self, words: Any, set_id: int, branch: Branch, state: TokenizerState, adds: bool) -> None:
        """Do the same as `narrow` for the only branch of a state: nearly all states have one. This is a hot path.

        Each pass over a mask takes as long as the verdicts on several tokens, so there are few.

        Args:
            words: uint32[words], the tokens that may follow an Earley set; changed in place.
            set_id: the set.
            branch: the branch.
            state: the tokenizer's state after the tokens so far.
            adds: whether added tokens may come.
        """
        scanner, allowed, word = self._scanner, self._allowed, branch.word
        rows = self._next_tokens.rows(branch.scanner_state, state.partial)
        joins, begins = self._undecided_of(set_id, branch, state, words)
        is_first = scanner.is_start(branch.scanner_state) and not state.partial
        if is_first or not self._words.is_alone(word):
            self._join(allowed, words, rows, state.token)
            self._remove_dead_ends(allowed, self._none, joins, Place(set_id, state, branch, True))
        else:
            allowed[:] = 0
        if adds:
            self._allow_added(words, set_id, state)
        if is_first or (state.partial and not scanner.cuts_characters) or self._words.is_whole(word):
            intersect(words, allowed)
        else:
            self._remove_dead_ends(words, allowed, begins, Place(set_id, state, branch, False))
            intersect_either(words, allowed, rows.begins)

    def _allow_added(self, words: Any, set_id: int, state: TokenizerState) -> None:
        """Add the added tokens of a mask from which a proper way leads to an end.

        After most of them a pre-token begins, whatever follows; after others, a longer added token must not come about.
        """
        one, tokenization = 1, self.tokenization
        sure, others = tokenization.added_after(state.added)
        unite(self._allowed, sure)
        key = (set_id, state.added)
        good = self._good_added.get(key)
        if good is None:
            if len(self._good_added) >= MAX_KEPT:
                self._good_added.clear()
            known = [token for token in others if words[token >> 5] >> (token & 31) & 1]
            blanks = tokenization.added_blanks(state.added) if known else {}
            room = self._verdicts.ends.room_for_blanks(set_id) if blanks else 0
            good = self._good_added[key] = [
                token for token in known if blanks.get(token, room) < room or self._leads_on_after(set_id, state, token)
            ]
        for token in good:
            self._allowed[token >> 5] |= one << (token & 31)

    def _allow(self, set_id: int, state: TokenizerState, words: Any, out: Any, way: Any, is_final: bool) -> None:
        """Add the proper tokens after a state, without added tokens.

        Args:
            set_id: the Earley set.
            state: the tokenizer's state after the tokens so far.
            words: uint32[words], the tokens that may follow the set.
            out: uint32[words], gets the tokens, in addition to those that it has.
            way: uint32[words], a buffer.
            is_final: whether dead ends are left out.
        """
        tokenization, scanner = self.tokenization, self._scanner
        for branch in state.branches:
            rows = self._next_tokens.rows(branch.scanner_state, state.partial)
            is_first = scanner.is_start(branch.scanner_state) and not state.partial
            if is_first or not self._words.is_alone(branch.word):
                self._join(way, words, rows, state.token)
                if is_final:
                    undecided, _ = self._undecided_of(set_id, branch, state, words)
                    self._remove_dead_ends(way, self._none, undecided, Place(set_id, state, branch, True))
                unite(out, way)
            if not is_first and tokenization.may_cut(state.partial) and not self._words.is_whole(branch.word):
                intersection(way, words, rows.begins)
                if is_final:
                    _, undecided = self._undecided_of(set_id, branch, state, words)
                    self._remove_dead_ends(way, self._none, undecided, Place(set_id, state, branch, False))
                unite(out, way)

    def _join(self, way: Any, words: Any, rows: TokenRows, last: int) -> None:
        """Write the tokens to `way` that may follow the last one in the same pre-token."""
        intersection(way, words, rows.joins)
        self._conflicts.remove(last, way)

    # -- dead ends --------------------------------------------------------------------------------------------------

    def _remove_dead_ends(self, row: Any, kept: Any, undecided: UndecidedTokens, place: Place) -> None:
        """Remove the tokens from which no proper way leads to an end.

        Args:
            row: uint32[words], the tokens; changed in place.
            kept: uint32[words], tokens that stay.
            undecided: the tokens that must be checked.
            place: where the tokens may follow.
        """
        if not place.state.added:
            self._remove_plain(row, kept, undecided, place)
            return
        # Tokens that only continue an added token are checked as they are. For all others, it is as if none had begun.
        continuing = self._continuing_of(place)
        some, one = [token for token in continuing.tokens if has(row, token)], 1
        plain = Place(place.set_id, replace(place.state, added=NO_ADDED), place.branch, place.joined)
        self._remove_plain(row, kept, undecided, plain)
        for token in some:
            row[token >> 5] |= one << (token & 31)
        self._check(row, kept, continuing, place)

    def _continuing_of(self, place: Place) -> UndecidedTokens:
        """Return the tokens that only continue added tokens that the text is in the middle of."""
        branch, state = place.branch, place.state
        key = (place.set_id, branch.scanner_state, branch.word, state.partial, state.added, place.joined)
        known = self._continuing.get(key)
        if known is None:
            if len(self._continuing) >= MAX_KEPT:
                self._continuing.clear()
            tokens = ints(self.tokenization.continuing_added(state.added))
            known = self._continuing[key] = undecided_tokens(tokens, [])
        return known

    def _remove_plain(self, row: Any, kept: Any, undecided: UndecidedTokens, place: Place) -> None:
        """Remove the same where a text is in the middle of no added token; see `_remove_dead_ends`."""
        one = 1
        for token in undecided.dead:
            if not has(kept, token):
                row[token >> 5] &= ALL_BITS ^ (one << (token & 31))
        self._check(row, kept, undecided, place)

    def _check(self, row: Any, kept: Any, undecided: UndecidedTokens, place: Place) -> None:
        """Remove those of the undecided tokens from which no proper way leads to an end; see `_remove_dead_ends`."""
        one, is_begun = 1, False
        for index in range(len(undecided.tokens)):
            token = undecided.tokens[index]
            if row[token >> 5] & ~kept[token >> 5] & (one << (token & 31)):
                verdict = undecided.verdicts[index]
                if verdict == UNKNOWN and not is_begun:
                    self._begin(undecided, place)
                    is_begun = True
                    verdict = undecided.verdicts[index]
                if verdict == UNKNOWN:
                    verdict = GOOD if self._leads_on(place, token) else BAD
                    if not self._depends_on_tail:
                        undecided.verdicts[index] = verdict
                if verdict == BAD:
                    row[token >> 5] &= ALL_BITS ^ (one << (token & 31))

    def _begin(self, undecided: UndecidedTokens, place: Place) -> None:
        """Begin to check undecided tokens; many of them are decided in one walk first."""
        position = self._position
        position.begin(place)
        position.recall(undecided, place)
        if position.is_kept and not undecided.is_walked and len(undecided.tokens) >= MIN_WALKED:
            undecided.is_walked = True
            self._walk.decide(undecided, position)

    def _undecided_of(
        self, set_id: int, branch: Branch, state: TokenizerState, words: Any
    ) -> tuple[UndecidedTokens, UndecidedTokens]:
        """Return the undecided tokens of a set and a branch: in the same pre-token, and as the first of another one.

        Those that continue an added token are decided by themselves, see `_remove_dead_ends`.
        """
        key = (set_id, branch.scanner_state, branch.word, state.partial)
        undecided = self._undecided.get(key)
        if undecided is None:
            if len(self._undecided) >= MAX_KEPT:
                self._undecided.clear()
            undecided = self._undecided[key] = self._finder.find(set_id, branch, state.partial, words)
        return undecided

    def _leads_on(self, place: Place, token: int) -> bool:
        """Return whether a proper way leads from a token to an end.

        Sets `_depends_on_tail`: whether that holds only after the same last characters.

        Args:
            place: the place before the token, at which `_begin` was called last.
            token: the token.
        """
        self._depends_on_tail = False
        tokenization, state, text = self.tokenization, place.state, self._spellings[token]
        position = self._position
        steps, is_kept, word = position.steps, position.is_kept, position.word_after(token)
        steps.follow(text)
        next_state, partial = steps.scanner_state, steps.partial
        if partial and not tokenization.can_be_completed(next_state, partial, token):
            position.drop(token)
            return False
        added = tokenization.added.after(state.added, text) if state.added else self._begun_by(token)
        if added is None:
            return False
        if self._verdicts.is_good_within(steps, word, token, added, is_kept):
            return True
        is_whole = not partial and not added
        verdict = self._verdicts.in_terminals(steps, word, token) if is_whole else UNKNOWN
        if is_whole and verdict == UNKNOWN:
            verdict = self._verdicts.within(steps, word, token, is_kept)
        if verdict != UNKNOWN:
            return verdict == GOOD
        next_set = steps.next_set()
        number = self._number_of(next_set, next_state) if is_whole and word == OTHER else NOWHERE
        if number >= 0:
            verdict = self._verdict_at.get(number, token)
            if verdict > 0:
                return verdict == GOOD
        verdict = self._verdicts.on(place.set_id, next_set, next_state, partial, word, token, added)
        if verdict != UNKNOWN:
            if number >= 0:
                self._verdict_at.put(number, token, verdict)
            return verdict == GOOD
        if is_whole and tokenization.borders is not None and self._has_sure_way(next_set, next_state, word, token):
            return True
        tail = tokenization.tail(state, text)
        self._depends_on_tail = state.tail != "" and tail != tokenization.tail(replace(state, tail=""), text)
        after = TokenizerState((Branch(next_state, word),), partial, token, added, tail)
        is_kept = is_kept and not self._depends_on_tail
        if is_kept and self._leads_on_within(steps, after):
            return True
        self._last_way = None
        is_good = self._is_good(next_set, after)
        if is_kept and self._last_way is not None:
            way, end = self._last_way
            self._verdicts.ends_within(steps, token, way, end)
        return is_good

    def _begun_by(self, token: int) -> frozenset[int] | None:
        """Return the added tokens that a token's text is in the middle of; None if one occurs in it."""
        return NO_ADDED if has(self._usual, token) else self._begun[token]

    def _leads_on_within(self, steps: TokenSteps, state: TokenizerState) -> bool:
        """Return whether the next token of an earlier search leads on within a terminal, after a state's last one.

        So it leads on from all sets that are in the same state of the terminal.
        """
        other = self.tokenization.known_ways.token_after(state)
        after = self.tokenization.advance(state, other) if other is not None else None
        if other is None or after is None:
            return False
        return self._verdicts.ends_within(steps, state.token, self._spellings[other], after)

    def _number_of(self, set_id: int, scanner_state: int) -> int:
        """Return the number of a set and a state of the scanner in the table of verdicts."""
        number = self._positions.get(set_id, scanner_state)
        if number < 0:
            if len(self._verdict_at) >= MAX_VERDICTS:
                self._positions, self._verdict_at = PairTable(), PairTable()
            number = len(self._positions)
            self._positions.put(set_id, scanner_state, number)
        return number

    def _has_sure_way(self, set_id: int, scanner_state: int, word: int, token: int) -> bool:
        """Return whether a token may follow in the same pre-token that surely leads on."""
        if word != OTHER:
            return False
        key = (set_id, scanner_state)
        row = self._surely_first.get(key)
        if row is None:
            if len(self._surely_first) >= MAX_ROWS:
                self._surely_first.clear()
            row = self._surely_first[key] = self._find_surely_first(set_id, scanner_state)
        conflicts = self._conflicts.of(token)
        if conflicts.row is not None:
            return bool((row & ~np.asarray(conflicts.row)).any())
        without(self._rest, row, conflicts.listed)
        return bool(np.asarray(self._rest).any())

    def _find_surely_first(self, set_id: int, scanner_state: int) -> NDArray[np.uint32]:
        """Return tokens that may follow in the same pre-token, up to conflicts, and surely lead on: uint32[words]."""
        branch = Branch(scanner_state, OTHER)
        row = np.zeros(self.tokenization.word_count, dtype=np.uint32)
        if self._compiled.eager and self._sets.table.accepting[set_id]:
            return row
        self._compiled.masks.fill(set_id, row)
        undecided, _ = self._undecided_of(set_id, branch, TokenizerState((branch,)), row)
        row &= np.asarray(self._next_tokens.rows(scanner_state, 0).joins)
        without(row, row, undecided.tokens)
        drop(row, ints(undecided.dead))
        return row

    def leads_on(self, set_id: int, state: TokenizerState) -> bool:
        """Return whether a proper way leads to an end from an Earley set and a tokenizer's state."""
        return self._is_good(set_id, state)

    def _leads_on_after(self, set_id: int, state: TokenizerState, token: int) -> bool:
        """Return whether a proper way leads to an end after an added token."""
        next_state = self.tokenization.after_added(state, token)
        if next_state is None:
            return False
        next_set = self._ahead.after_token(set_id, token)
        return self._verdicts.ends_soon(next_set, next_state) or self._is_good(next_set, next_state)

    def _is_good(self, set_id: int, state: TokenizerState) -> bool:
        """Return whether a proper way leads to an end, by a search over pairs of a set and a state.

        All pairs on the way to an end are good; if there is no end, all pairs that were met are bad. Both are kept. The
        search continues in turns from the newest pair and from the oldest one: the first reaches far ends, the second
        is not caught in repetitions that make a new set each time.
        """
        if len(self._found) >= MAX_KEPT:
            self._found.clear()
        found = self._found
        first = (set_id, state)
        if first in found:
            return found[first]
        if self._verdicts.ends_soon(set_id, state) or self._leads_on_as_before(set_id, state):
            found[first] = True
            return True
        came_from: dict[Any, Any] = {first: None}
        waiting = deque([(first, self._ways(set_id, state))])
        turn = 0
        while waiting:
            turn = -1 - turn  # the newest one, or the oldest
            here, ways = waiting[turn]
            step = next(ways, None)
            if step is None:
                del waiting[turn]
            elif step not in came_from:
                came_from[step] = here
                next_set, next_state = step
                if found.get(step) or (step not in found and self._verdicts.ends_soon(next_set, next_state)):
                    self._keep_way(first, step, came_from)
                    return True
                if step not in found:
                    waiting.append((step, self._ways(next_set, next_state)))
        found.update(dict.fromkeys(came_from, False))
        return False

    def _keep_way(self, first: Any, last: Any, came_from: dict[Any, Any]) -> None:
        """Keep that all steps of a way lead on, its first token for other searches, and its text."""
        step, texts = last, []
        while step is not None:
            self._found[step] = True
            before = came_from[step]
            if before is not None and step[1].token >= 0:
                texts.append(self._spellings[step[1].token])
            if before == first:
                self.tokenization.known_ways.keep(first[1], step[1].token)
            step = before
        self._last_way = b"".join(reversed(texts)), last[1]

    def _leads_on_as_before(self, set_id: int, state: TokenizerState) -> bool:
        """Return whether the next token of an earlier search from a similar state leads on here, too."""
        token = self.tokenization.known_ways.token_after(state)
        after = self.tokenization.advance(state, token) if token is not None else None
        return after is not None and self._verdicts.ends_soon(self._ahead.after_token(set_id, after.token), after)

    def _ways(self, set_id: int, state: TokenizerState) -> Iterator[tuple[int, TokenizerState]]:
        """Yield the set and the state after each token that may follow."""
        if self._compiled.eager and self._sets.table.accepting[set_id]:
            return
        base = np.zeros(self.tokenization.word_count, dtype=np.uint32)
        self._compiled.masks.fill(set_id, base)
        row = np.zeros_like(base)
        self._allow(set_id, state, base, row, np.zeros_like(base), False)
        row &= base
        row |= base & self.tokenization.added_row()
        for token in tokens_first(row, _NOTHING if state.partial else self.tokenization.known_ways.closing):
            next_state = self.tokenization.advance(state, token)
            if next_state is not None:
                yield self._ahead.after_token(set_id, token), next_state


_NOTHING = zeros(0)
