"""From a grammar's masks to those of proper tokenizations under it.

A token stays in the mask where it is proper behind the tokens so far, and where a proper way to the end exists from
there. The second is a question about texts: a text that the grammar allows is tokenized in one way, and the tokens so
far have to be the first of it. If what follows can begin with a character that surely makes a cut there, or the text
can end there, that is so: what stands before a cut does not depend on what follows. Nearly always this answers it, for
all tokens at once: each is extended by such a character, its *cutting text*, and the grammar's mask over these longer
tokens tells which of them may be followed by it. The others are looked at one by one, and where nothing else helps
their ways on are searched.

What is found out depends on the Earley set and on the scanner's state, but not on the last token: its conflicts are
taken away afterwards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structgen.engine.arrays import zeros
from structgen.engine.masks.set_masks import SetMasks
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.errors import LimitExceededError
from structgen.tokenization.matching.completions import unfinished
from structgen.tokenization.matching.continuations import IN_CAPTURE, IN_SET, IN_TERMINAL, Continuations, Endings
from structgen.tokenization.matching.proper_tokenization import Branch, ProperTokenization, TokenizerState
from structgen.tokenization.matching.token_sets import count, ids, intersect, ints, remove, unite, without
from structgen.tokenization.matching.whole_words import OTHER

__all__ = ["ProperMasks"]

UNKNOWN = 0
GOOD = 1
BAD = 2
ALL_BITS = 0xFFFFFFFF  # of a word
KEPT_TOKENS = 1 << 21  # of masks over longer tokens, which list many
KEPT = 65_536  # answers of each kind
KEPT_ROWS = 256  # of 32 kB each


class UndecidedTokens:
    """Tokens that fit a set and a state, and of which is looked at one by one whether they lead to an end.

    Attributes:
        tokens: int32[tokens], ascending.
        verdicts: int32[tokens]: UNKNOWN, GOOD or BAD.
        proven: tokens that lead to an end from all sets that differ from this one in their text alone.
    """

    def __init__(self, tokens: list[int], proven: set[int]) -> None:
        self.tokens = ints([token for token in tokens if token not in proven])
        self.verdicts = zeros(len(self.tokens))
        self.proven = proven


class ProperMasks:
    """The proper tokens of one grammar, for the sets of one epoch.

    Attributes:
        epoch: which.
        tokenization: the tokenizer.
    """

    def __init__(self, compiled: CompiledGrammar, tokenization: ProperTokenization) -> None:
        self.epoch = compiled.epoch
        self.tokenization = tokenization
        self._scanner = tokenization.scanner
        self._merges = tokenization.merges
        self._words = tokenization.words
        self._borders = tokenization.borders
        self._compiled = compiled
        self._sets = compiled.sets
        self._cut_masks = [self._new_cut_masks(cutters) for cutters in (0, 1)]
        self._spellings = compiled.vocabulary.spellings
        self._undecided: dict[tuple[int, int, int, int, frozenset[int]], tuple[UndecidedTokens, UndecidedTokens]] = {}
        self._best_cutters: dict[int, int] = {}  # by the scanner's state
        self._proven: dict[tuple[int, int, int, int, frozenset[int]], tuple[set[int], set[int]]] = {}
        self._ahead = Continuations(compiled, tokenization)
        self._surely_first: dict[tuple[int, int], NDArray[np.uint32]] = {}
        self._good_added: dict[tuple[int, frozenset[int]], list[int]] = {}
        self._depends_on_tail = False
        self._quick: dict[tuple[int, int], bool] = {}
        self._found: dict[tuple[int, TokenizerState], bool] = {}
        words = tokenization.word_count
        self._allowed = np.zeros(words, dtype=np.uint32)
        self._way = np.zeros(words, dtype=np.uint32)
        self._rest = np.zeros(words, dtype=np.uint32)

    @classmethod
    def of(cls, compiled: CompiledGrammar, tokenization: ProperTokenization) -> ProperMasks:
        """Those of a grammar, made when first asked for."""
        known = compiled.proper
        if isinstance(known, cls) and known.epoch == compiled.epoch and known.tokenization is tokenization:
            return known
        made = cls(compiled, tokenization)
        compiled.proper = made
        return made

    def narrow(self, words: Any, set_id: int, place: TokenizerState) -> None:
        """Takes away the tokens that are not proper, or lead nowhere.

        Args:
            words: uint32[words], the tokens that may follow a set, without end tokens.
            set_id: the set.
            place: what the tokens before mean.
        """
        tokenization = self.tokenization
        self._allowed[:] = 0
        self._allow(set_id, place, self._allowed, self._way, True)
        if tokenization.added.spelled and tokenization.may_end(place):
            self._allow_added(words, set_id, place)
        intersect(words, self._allowed)
        for token in tokenization.clashes(place, words):
            words[token >> 5] &= ALL_BITS ^ (1 << (token & 31))

    def _allow_added(self, words: Any, set_id: int, place: TokenizerState) -> None:
        """Adds those of the added tokens in a mask from which a proper way leads to an end.

        Behind most of them a pre-token begins, whatever follows; behind others a longer one must not be completed.
        """
        one = 1
        sure, others = self.tokenization.added_behind(place.added)
        unite(self._allowed, sure)
        key = (set_id, place.added)
        good = self._good_added.get(key)
        if good is None:
            if len(self._good_added) >= KEPT:
                self._good_added.clear()
            known = [token for token in others if words[token >> 5] >> (token & 31) & 1]
            good = self._good_added[key] = [token for token in known if self._is_good_behind(set_id, place, token)]
        for token in good:
            self._allowed[token >> 5] |= one << (token & 31)

    def _allow(self, set_id: int, place: TokenizerState, out: Any, way: Any, is_final: bool) -> None:
        """Adds the proper tokens behind a place, those that are not added ones; if final, without dead ends.

        Args:
            set_id: the set,
            place: and what the tokens before mean.
            out: uint32[words], gets the tokens, in addition to those that it has.
            way: uint32[words], for use in between.
            is_final: whether dead ends are left out.
        """
        tokenization, scanner = self.tokenization, self._scanner
        conflicts = tokenization.conflicts(place.token)
        for branch in place.branches:
            rows = tokenization.rows(branch.state, place.partial)
            is_first = scanner.is_start(branch.state) and not place.partial
            if is_first or not self._words.is_alone(branch.word):
                without(way, rows.joins, conflicts.listed)
                if conflicts.row is not None:
                    remove(way, conflicts.row)
                if is_final:
                    self._remove_dead_ends(way, set_id, branch, place, True)
                unite(out, way)
            if not is_first and tokenization.may_cut(place.partial) and not self._words.is_whole(branch.word):
                without(way, rows.begins, _NOTHING)
                if is_final:
                    self._remove_dead_ends(way, set_id, branch, place, False)
                unite(out, way)

    # -- dead ends --------------------------------------------------------------------------------------------------

    def _remove_dead_ends(self, way: Any, set_id: int, branch: Branch, place: TokenizerState, joined: bool) -> None:
        """Takes away the tokens from which no proper way leads to an end."""
        joins, begins = self._undecided_of(set_id, branch, place)
        undecided = joins if joined else begins
        one = 1
        for index in range(len(undecided.tokens)):
            token = undecided.tokens[index]
            if way[token >> 5] >> (token & 31) & 1:
                verdict = undecided.verdicts[index]
                if verdict == UNKNOWN:
                    verdict = GOOD if self._leads_on(set_id, branch, place, joined, token, undecided) else BAD
                    if not self._depends_on_tail:
                        undecided.verdicts[index] = verdict
                if verdict == BAD:
                    way[token >> 5] &= ALL_BITS ^ (one << (token & 31))

    def _undecided_of(
        self, set_id: int, branch: Branch, place: TokenizerState
    ) -> tuple[UndecidedTokens, UndecidedTokens]:
        """The tokens of a set and a state that are looked at one by one: in the same pre-token, and as its first."""
        key = (set_id, branch.state, branch.word, place.partial, place.added)
        undecided = self._undecided.get(key)
        if undecided is None:
            if len(self._undecided) >= KEPT:
                self._undecided.clear()
            undecided = self._undecided[key] = self._find_undecided(set_id, branch, place)
        return undecided

    def _find_undecided(
        self, set_id: int, branch: Branch, place: TokenizerState
    ) -> tuple[UndecidedTokens, UndecidedTokens]:
        tokenization = self.tokenization
        rows = tokenization.rows(branch.state, place.partial)
        base = np.zeros(tokenization.word_count, dtype=np.uint32)
        self._compiled.masks.fill(set_id, base)
        joins, begins = base & np.asarray(rows.joins), base & np.asarray(rows.begins)
        following = [t for t in self._words.following(branch.word) if joins[t >> 5] >> np.uint32(t & 31) & 1]
        # Of the cutting texts first those that told most of the tokens last time: of others than keys, say.
        first = self._best_cutters.get(branch.state, 0)
        most = 0
        for cutters in (first, 1 - first):
            left = count(joins) + count(begins)
            if left > self.tokenization.few:
                cut = self._cuttable(cutters, set_id)
                joins &= ~(rows.sure_joins[cutters] & cut)
                begins &= ~(rows.sure_begins[cutters] & cut)
                told = left - count(joins) - count(begins)
                if told > most:
                    most = told
                    self._best_cutters[branch.state] = cutters
        # The cutting texts go on with no added token that the token itself begins, but may with one begun before it.
        going_on = tokenization.going_on(place.added)
        key = (self._sets.unknown(set_id), branch.state, branch.word, place.partial, place.added)
        proven = self._proven.get(key)
        if proven is None:
            if len(self._proven) >= KEPT:
                self._proven.clear()
            proven = self._proven[key] = (set(), set())
        return (
            UndecidedTokens(sorted({*ids(joins | (base & np.asarray(rows.joins) & going_on)), *following}), proven[0]),
            UndecidedTokens(ids(begins | (base & np.asarray(rows.begins) & going_on)), proven[1]),
        )

    def _new_cut_masks(self, cutters: int) -> SetMasks:
        vocabulary = self.tokenization.cut_vocabularies[cutters]
        return SetMasks(self._compiled.sets, self._compiled.shared.terminals_of(vocabulary))

    def _cuttable(self, cutters: int, set_id: int) -> Any:
        """uint32[words]: the tokens that may come, and their cutting text behind them."""
        if len(self._cut_masks[cutters].pool) > KEPT_TOKENS:  # a mask is asked for once or twice
            self._cut_masks[cutters] = self._new_cut_masks(cutters)
        row = np.zeros(self.tokenization.word_count, dtype=np.uint32)
        try:
            self._cut_masks[cutters].fill(set_id, row)
        except LimitExceededError:  # each token is looked at by itself, then
            row[:] = 0
        return row

    def _leads_on(
        self, set_id: int, branch: Branch, place: TokenizerState, joined: bool, token: int, undecided: UndecidedTokens
    ) -> bool:
        """Whether a proper way leads to an end behind a token; `_depends_on_tail` tells if that is so only behind the
        same last characters.
        """
        self._depends_on_tail = False
        tokenization, scanner, text = self.tokenization, self._scanner, self._spellings[token]
        state = branch.state if joined else scanner.cut(branch.state)
        behind, partial = scanner.follow(state, place.partial, text)
        if partial and not self._can_be_completed(token):
            return False
        is_first = not joined or (scanner.is_start(branch.state) and not place.partial)
        word = self._words.begun_by(token) if is_first else self._words.behind(branch.word, token)
        added = tokenization.added.behind(place.added, text) if place.added else tokenization.begun[token]
        if added is None:
            return False
        if self._is_good_within(set_id, behind, partial, word, token, added):
            undecided.proven.add(token)
            return True
        after = self._ahead.follow(set_id, text)
        if partial:
            if not added and word == OTHER and self._is_completed(after, behind, partial, token):
                return True
            if not tokenization.can_go_on(behind, partial, token):
                return False
        elif added:
            if self._may_be_left(after, self._cutting(behind, word, token) & tokenization.added.leaving(added)):
                return True
        else:
            if self._is_quickly_good(after, behind, word, token):
                return True
            if word == OTHER and self._is_good_behind_bridge(after, behind, token):
                return True
            verdict = self._judge_within(set_id, behind, word, token)
            if verdict == UNKNOWN:
                verdict = self._judge(self._ahead.endings(after, behind, IN_SET), word, token)
            if verdict != UNKNOWN:
                return verdict == GOOD
            if self._borders is not None and self._has_sure_way(after, behind, word, token):
                return True
        tail = tokenization.tail(place, text)
        self._depends_on_tail = place.tail != "" and tail != tokenization.tail(replace(place, tail=""), text)
        return self._is_good(after, TokenizerState((Branch(behind, word),), partial, token, added, tail))

    def _can_be_completed(self, token: int) -> bool:
        """Whether some token can go on with a character that a token begins and does not end, as far as that is known
        of the token alone.
        """
        if self._scanner.cuts_characters or not unfinished(self._spellings[token]):
            return True
        return bool(self.tokenization.completions.of(token).exists)

    def _is_good_within(
        self, set_id: int, state: int, partial: int, word: int, token: int, added: frozenset[int]
    ) -> bool:
        """Whether it is seen at once that a proper way leads on within one of the terminals that the set is in."""
        sets, automata = self._sets, self._sets.automata
        sets.close(set_id)
        cutting = 0 if partial else self._cutting(state, word, token)
        if added:
            cutting = cutting & self.tokenization.added.leaving(added)
        for scan in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
            at = self._ahead.follow_within(sets.scans.state[scan], self._spellings[token])
            if not at or not automata.has_next(at):
                continue
            if partial:
                if not added and word == OTHER and self._is_completed_within(at, state, partial, token):
                    return True
            elif self._ahead.bytes_within(at) & cutting:
                return True
        return False

    def _judge_within(self, set_id: int, state: int, word: int, token: int) -> int:
        """Whether a proper way leads on within the terminals that the set is in, as far as their automata tell it."""
        sets, automata, text = self._sets, self._sets.automata, self._spellings[token]
        kind = IN_CAPTURE if sets.table.captures[set_id] else IN_TERMINAL
        verdict = BAD
        for scan in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
            at = sets.scans.state[scan]
            for index in range(len(text)):
                at = automata.next(at, text[index])
                if not at:
                    break
                if automata.table.accepting[at]:
                    verdict = UNKNOWN  # other terminals may follow
                    if self._compiled.eager:
                        at = 0
                        break
            if at and automata.has_next(at):
                judged = self._judge(self._ahead.endings(at, state, kind), word, token)
                if judged == GOOD:
                    return GOOD
                if judged == UNKNOWN:
                    verdict = UNKNOWN
        return verdict

    def _is_completed_within(self, at: int, state: int, partial: int, token: int) -> bool:
        """The same as `_is_completed`, within a terminal."""
        completions = self.tokenization.completions.of(token)
        for completion, last in zip(completions.texts, completions.last_tokens, strict=True):
            after = self._ahead.follow_within(at, completion)
            if after:
                behind, still = self._scanner.follow(state, partial, completion)
                if behind and not still and self._ahead.bytes_within(after) & self._cutting(behind, OTHER, last):
                    return True
        return False

    def _is_completed(self, set_id: int, state: int, partial: int, token: int) -> bool:
        """Whether one of the usual ways to complete a token's last character leads to where the pre-token may end."""
        completions = self.tokenization.completions.of(token)
        for completion, last in zip(completions.texts, completions.last_tokens, strict=True):
            after = self._ahead.follow(set_id, completion)
            if after:
                behind, still = self._scanner.follow(state, partial, completion)
                if behind and not still and self._is_quickly_good(after, behind, OTHER, last):
                    return True
        return False

    def _cutting(self, state: int, word: int, token: int) -> Any:
        """The bytes of which each, if it comes next, makes sure of the tokens before it, as bits of a number.

        Args:
            state: the scanner's state behind them,
            word: where the last pre-token is,
            token: and the last one.
        """
        if self._borders is not None:  # a pre-token may go on behind a border
            return self._scanner.cutting_bytes(state) & self._borders.of(token) if word == OTHER else 0
        return 0 if self._words.is_whole(word) else self._scanner.cutting_bytes(state)

    def _judge(self, endings: Endings, word: int, token: int) -> int:
        """Whether one of the endings of a pre-token can stand behind a token.

        It can if its first token can: what follows a token in a pre-token is what the tokenizer makes of it alone.
        """
        words = self._words
        if words.is_alone(word) or not self._merges.is_proper[token]:
            return UNKNOWN
        is_told = endings.are_all
        for tokens in endings.spelled:
            if not tokens or not self._merges.crosses(token, tokens[0]):
                behind = word
                for each in tokens:
                    behind = words.behind(behind, each)
                if behind == OTHER or not (words.is_whole(behind) or self._borders is not None):
                    return GOOD
                is_told = is_told and self._borders is None  # there, a word may go on
        return BAD if is_told else UNKNOWN

    def _is_quickly_good(self, set_id: int, state: int, word: int, token: int) -> bool:
        """Whether the text may end, or a character may come next that surely cuts."""
        if state == self._scanner.start:
            return True  # a pre-token begins here anyway
        if self._words.is_whole(word):
            return False
        if self._borders is not None:
            return self._may_stop(set_id, state) or self._may_be_left(set_id, self._cutting(state, word, token))
        key = (set_id, state)
        known = self._quick.get(key)
        if known is None:
            if len(self._quick) >= KEPT:
                self._quick.clear()
            known = self._quick[key] = self._may_stop(set_id, state) or self._may_cut(set_id, state)
        return known

    def _is_good_behind_bridge(self, set_id: int, state: int, token: int) -> bool:
        """Whether one of some short tokens may follow, in the same pre-token or another, behind which that is so."""
        if self._compiled.eager and self._sets.table.accepting[set_id]:
            return False
        scanner = self._scanner
        following = self._ahead.next_bytes(set_id)
        for other in self.tokenization.bridges:
            text = self._spellings[other]
            if not following >> text[0] & 1:
                continue
            after = self._ahead.follow(set_id, text)
            if not after:
                continue
            for begun in (state, scanner.cut(state)):
                if begun == state and self._merges.crosses(token, other):
                    continue
                behind, partial = scanner.follow(begun, 0, text)
                if behind and not partial and self._is_quickly_good(after, behind, OTHER, other):
                    return True
        return False

    def _has_sure_way(self, set_id: int, state: int, word: int, token: int) -> bool:
        """Whether a token may follow in the same pre-token of which a mask tells that it leads on."""
        if word != OTHER:
            return False
        key = (set_id, state)
        row = self._surely_first.get(key)
        if row is None:
            if len(self._surely_first) >= KEPT_ROWS:
                self._surely_first.clear()
            row = self._surely_first[key] = self._find_surely_first(set_id, state)
        conflicts = self.tokenization.conflicts(token)
        if conflicts.row is not None:
            return bool((row & ~conflicts.row).any())
        without(self._rest, row, conflicts.listed)
        return bool(np.asarray(self._rest).any())

    def _find_surely_first(self, set_id: int, state: int) -> NDArray[np.uint32]:
        """uint32[words]: tokens that may follow in the same pre-token, up to conflicts, and lead on."""
        branch = Branch(state, OTHER)
        undecided, _ = self._undecided_of(set_id, branch, TokenizerState((branch,)))
        row = np.zeros(self.tokenization.word_count, dtype=np.uint32)
        if self._compiled.eager and self._sets.table.accepting[set_id]:
            return row
        self._compiled.masks.fill(set_id, row)
        row &= np.asarray(self.tokenization.rows(state, 0).joins)
        without(row, row, undecided.tokens)
        return row

    def _may_stop(self, set_id: int, state: int) -> bool:
        return bool(self._sets.table.accepting[set_id]) and self._scanner.may_end(state)

    def _may_be_left(self, set_id: int, cutting: int) -> bool:
        """Whether one of some bytes, as bits of a number, may come next."""
        if self._compiled.eager and self._sets.table.accepting[set_id]:
            return False  # nothing follows
        return self._ahead.are_taken(set_id, self._ahead.next_bytes(set_id) & cutting, IN_SET)

    def _may_cut(self, set_id: int, state: int) -> bool:
        if self._may_be_left(set_id, self._scanner.cutting_bytes(state)):
            return True
        if self._compiled.eager and self._sets.table.accepting[set_id]:
            return False
        following = self._ahead.next_bytes(set_id)
        cuts = self._scanner.cuts
        for cut in self.tokenization.cuts_of(state):
            if len(cuts[cut]) > 1 and following >> cuts[cut][0] & 1 and self._ahead.follow(set_id, cuts[cut]):
                return True
        return False

    def leads_on(self, set_id: int, place: TokenizerState) -> bool:
        """Whether a proper way leads to an end from a set and a place."""
        return self._is_good(set_id, place)

    def _is_good_behind(self, set_id: int, place: TokenizerState, token: int) -> bool:
        after = self.tokenization.advance(place, token)
        return after is not None and self._is_good(self._ahead.follow(set_id, self._spellings[token]), after)

    def _is_good(self, set_id: int, place: TokenizerState) -> bool:
        """Whether a proper way leads to an end from here: a search over sets and places, remembered.

        Whatever was met on the way to an end is good; if no end is found, all that was met is bad. It goes on in turns
        from where it came last and from where it came first: the one finds what is far, the other is not caught in
        repetitions, of which each makes another set.
        """
        if len(self._found) >= KEPT:
            self._found.clear()
        found = self._found
        first = (set_id, place)
        if first in found:
            return found[first]
        if self._ends_soon(set_id, place):
            found[first] = True
            return True
        came_from: dict[Any, Any] = {first: None}
        waiting = deque([(first, self._ways(set_id, place))])
        turn = 0
        while waiting:
            turn = -1 - turn  # the last one, or the first
            here, ways = waiting[turn]
            step = next(ways, None)
            if step is None:
                del waiting[turn]
            elif step not in came_from:
                came_from[step] = here
                after, behind = step
                if found.get(step) or (step not in found and self._ends_soon(after, behind)):
                    while step is not None:
                        found[step] = True
                        step = came_from[step]
                    return True
                if step not in found:
                    waiting.append((step, self._ways(after, behind)))
        found.update(dict.fromkeys(came_from, False))
        return False

    def _ends_soon(self, set_id: int, place: TokenizerState) -> bool:
        """Whether a proper way leads to an end from here, as far as that is seen at once."""
        if place.partial:
            return False
        if place.added and self._sets.table.accepting[set_id] and self.tokenization.may_end(place):
            return True
        for branch in place.branches:
            if place.added:
                cutting = self.tokenization.added.leaving(place.added)
                if branch.state != self._scanner.start:
                    cutting = cutting & self._cutting(branch.state, branch.word, place.token)
                is_good = self._may_be_left(set_id, cutting)
            else:
                is_good = self._is_quickly_good(set_id, branch.state, branch.word, place.token)
            if is_good:
                return True
        return False

    def _ways(self, set_id: int, place: TokenizerState) -> Iterator[tuple[int, TokenizerState]]:
        """Where the tokens that may follow lead."""
        if self._compiled.eager and self._sets.table.accepting[set_id]:
            return
        base = np.zeros(self.tokenization.word_count, dtype=np.uint32)
        self._compiled.masks.fill(set_id, base)
        row = np.zeros_like(base)
        self._allow(set_id, place, row, np.zeros_like(base), False)
        row &= base
        row |= base & self.tokenization.added_row()
        for token in _each(row, self.tokenization.closing[: 0 if place.partial else None]):
            after = self.tokenization.advance(place, token)
            if after is not None:
                yield self._ahead.follow(set_id, self._spellings[token]), after


def _each(row: NDArray[np.uint32], first: NDArray[np.intp]) -> Iterator[int]:
    """The tokens of a mask, some of them before the others."""
    yield from first[row[first >> 5] >> (first & 31).astype(np.uint32) & np.uint32(1) > 0].tolist()
    for index in np.flatnonzero(row).tolist():
        word = int(row[index])
        while word:
            yield 32 * index + (word & -word).bit_length() - 1
            word &= word - 1


_NOTHING = zeros(0)
_BYTES = [bytes([byte]) for byte in range(256)]
