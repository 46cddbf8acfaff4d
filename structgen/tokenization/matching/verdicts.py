"""Verdicts on tokens: whether a proper way leads on after one, as far as that is known without a search.

A way leads on if the text may end after the token, or if a text may follow that is surely cut off from it:

    after               may follow      verdict
    `is` in a string    `"`             GOOD: a cut comes before each `"` after a letter
    ` ` before a colon  ` :`            GOOD: not `:` alone, as a run of spaces leaves its last one to what comes next
    `isl` of `isle"`    `e"`            BAD: that is all that may follow, and the tokenizer makes `isle` of both
"""

from __future__ import annotations

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.pair_table import PairTable
from structgen.tokenization.matching.bridges import Bridges
from structgen.tokenization.matching.continuations import IN_CAPTURE, IN_SET, IN_TERMINAL, Continuations
from structgen.tokenization.matching.endings import Endings
from structgen.tokenization.matching.inner_ways import CAPTURED, FREE, InnerWays
from structgen.tokenization.matching.next_tokens import ALL_BYTES
from structgen.tokenization.matching.proper_tokenization import ProperTokenization
from structgen.tokenization.matching.sure_cuts import SureCuts
from structgen.tokenization.matching.terminal_ends import TerminalEnds
from structgen.tokenization.matching.token_steps import TokenSteps
from structgen.tokenization.matching.tokenizer_state import TokenizerState
from structgen.tokenization.matching.whole_words import OTHER

__all__ = ["Verdicts"]

# Declared as C integers in the .pxd, so not importable from here.
UNKNOWN = 0
GOOD = 1
BAD = 2
MAX_KEPT = 65_536  # answers of each kind,
MAX_COMPLETED = 16_384  # and of `_completed_within`
MAX_FOLLOWED = 2  # bytes that lead on from a state whose texts are enumerated before others are tried

NO_ADDED: frozenset[int] = frozenset()
_WHERE = {FREE: IN_TERMINAL, CAPTURED: IN_CAPTURE}  # where the texts are that may follow, by kind of a position


class Verdicts:
    """The verdicts on the tokens of one grammar, for the Earley sets of one epoch.

    Args:
        compiled: the grammar.
        tokenization: the tokenizer.
        ahead: the texts that may come next in the grammar.

    Attributes:
        ends: the ways through the ends of terminals.
    """

    def __init__(self, compiled: CompiledGrammar, tokenization: ProperTokenization, ahead: Continuations) -> None:
        self._compiled = compiled
        self._tokenization = tokenization
        self._ahead = ahead
        self._sets = compiled.sets
        self._scanner = tokenization.scanner
        self._merges = tokenization.merges
        self._words = tokenization.words
        self._borders = tokenization.borders
        self._next_tokens = tokenization.next_tokens
        self._spellings = compiled.vocabulary.spellings
        self._inner = InnerWays.of(compiled, tokenization)
        self._cuts = SureCuts(compiled, tokenization, ahead)
        self.ends = TerminalEnds(compiled, tokenization, ahead, self._cuts)
        self._steps = TokenSteps(compiled, tokenization.scanner)
        self._texts = ahead.texts
        self._after_all = PairTable()
        self._bridges: dict[tuple[int, int], Bridges] = {}
        self._last_bridges = tokenization.known_ways.last_bridges

    def on(
        self, set_id: int, next_set: int, next_state: int, partial: int, word: int, token: int, added: frozenset[int]
    ) -> int:
        """Return GOOD, BAD or UNKNOWN: whether a proper way leads on, as far as that is known without a search.

        Args:
            set_id: the Earley set before the token.
            next_set: the Earley set after it.
            next_state: the state of the scanner after it.
            partial: the scanner's number of the character that it leaves unfinished.
            word: the node of the current pre-token in `WholeWords`.
            token: the token.
            added: the added tokens that the text is in the middle of after it.
        """
        if partial:
            if not added and word == OTHER and self._is_completed(next_set, next_state, partial, token):
                return GOOD
            return UNKNOWN if self._next_tokens.can_continue(next_state, partial, token) else BAD
        if added:
            cutting = self._cuts.cutting(next_state, word, token) & self._tokenization.added.leaving(added)
            return GOOD if self._cuts.may_come(next_set, cutting) else UNKNOWN
        if word == OTHER and self._after_all.get(next_set, next_state) > 0:
            return GOOD
        if self._cuts.leads_on(next_set, next_state, word, token):
            return GOOD
        if not self._compiled.has_marks:
            first_bytes = self._next_tokens.first_bytes_after(next_state, word, token)
            if not self._ahead.next_bytes(next_set) & first_bytes:
                return BAD
        if word == OTHER and self._is_good_after_bridge(next_set, next_state, token):
            return GOOD
        verdict = self._judge_within(set_id, next_state, word, token)
        if verdict == UNKNOWN:
            verdict = self._judge(self._ahead.endings(next_set, next_state, IN_SET), word, token)
        return verdict

    def is_good_within(self, steps: TokenSteps, word: int, token: int, added: frozenset[int], is_kept: bool) -> bool:
        """Return whether a proper way surely leads on within one of the terminals that the set is in, or from its end.

        Args:
            steps: the steps of the token.
            word: the node of the current pre-token in `WholeWords` after it.
            token: the token.
            added: the added tokens that the text is in the middle of after it.
            is_kept: whether a way within a terminal is kept for other sets and grammars.
        """
        for item in range(steps.count):
            at = steps.state_within(item)
            if not at:
                continue
            kind = self._ahead.kind_of(steps.set_id, steps.scan_of(item))
            if self._leads_on_within(at, kind == FREE, steps, word, token, added):
                if is_kept:
                    self._inner.at_item(steps, item, kind).add(token)
                return True
            if kind == FREE and not steps.partial and not added and self.ends.lead_on(steps, item, word, token):
                return True
        return False

    def in_terminals(self, steps: TokenSteps, word: int, token: int) -> int:
        r"""Return GOOD, BAD or UNKNOWN: what the terminals show that a token is in at its end.

        These are the terminals of the set, if the token stays in one, or else those of the set where it has left them:

            `   ` after `{`     in the white space there: BAD if it is as long as it may be, and no key may follow
            `":` and `\n\n`     in the white space after the colon: GOOD, for that of any length

        So no set is made for each length of white space.

        Args:
            steps: the steps of the token, which ends with a character, and within no added token.
            word: the node of the current pre-token in `WholeWords` after it.
            token: the token.
        """
        if self._compiled.has_marks or not self._ahead.is_free(steps.set_id):
            return UNKNOWN
        left = steps.left_after()
        if left == len(steps.text) or (left and not steps.set_at(left)):
            return UNKNOWN
        if left:
            self._steps.continue_after(steps, left)
            if self.is_good_within(self._steps, word, token, NO_ADDED, False):
                return GOOD
            steps = self._steps
        first_bytes = self._next_tokens.first_bytes_after(steps.scanner_state, word, token)
        if first_bytes != ALL_BYTES and self._ahead.is_free(steps.set_id) and self.ends.bar(steps, first_bytes):
            return BAD
        return UNKNOWN

    def within(self, steps: TokenSteps, word: int, token: int, is_kept: bool) -> int:
        """Return GOOD, BAD or UNKNOWN: what the texts show that may follow a token in the terminals that it stays in.

        It is UNKNOWN if a terminal may end within the token or with it: then others may follow. No set is made.

        Args:
            steps: the steps of the token, which ends with a character, and within no added token.
            word: the node of the current pre-token in `WholeWords` after it.
            token: the token.
            is_kept: whether a way within a terminal is kept for other sets and grammars.
        """
        if self._compiled.eager or steps.may_end():
            return UNKNOWN
        verdict = BAD
        for item in range(steps.count):
            at = steps.state_within(item)
            if at:
                kind = self._ahead.kind_of(steps.set_id, steps.scan_of(item))
                judged = self._judge_in(at, kind, steps, word, token)
                if judged == GOOD:
                    if is_kept:
                        self._inner.at_item(steps, item, kind).add(token)
                    return GOOD
                if judged == UNKNOWN:
                    verdict = UNKNOWN
        return verdict

    def _judge_in(self, at: int, kind: int, steps: TokenSteps, word: int, token: int) -> int:
        """Return the same for one terminal, in a state that is not its end. It is UNKNOWN if many bytes may follow."""
        following = self._ahead.leading_from(at)
        if following.bit_count() <= MAX_FOLLOWED:
            return self._judge(self._ahead.endings(at, steps.scanner_state, _WHERE[kind]), word, token)
        if word == OTHER and self._merges.is_proper[token]:
            last = self._last_bridges.get(steps.scanner_state, token)
            if last != token and self._is_bridged_in(at, following, kind, steps.scanner_state, token, last):
                return GOOD
            for other in self._tokenization.known_ways.bridges(steps.scanner_state):
                if self._is_bridged_in(at, following, kind, steps.scanner_state, token, other):
                    self._last_bridges[steps.scanner_state] = other
                    return GOOD
        return UNKNOWN

    def _is_bridged_in(self, at: int, following: int, kind: int, scanner_state: int, token: int, other: int) -> bool:
        """Return whether another token may follow a token within a terminal, and after it a byte that surely cuts.

        Args:
            at: the state of the terminal's automaton after the token.
            following: the bytes that lead on from there, as bits of a number.
            kind: the kind of the position, see `InnerWays`.
            scanner_state: the state of the scanner after the token.
            token: the token. No pre-token of one token begins with it.
            other: the other one, one of `KnownWays.bridges`.
        """
        scanner, text = self._scanner, self._spellings[other]
        end = self._ahead.follow_within(at, text) if following >> text[0] & 1 else 0
        if not end:
            return False
        for is_cut in (True, False):
            begun = scanner.cut(scanner_state) if is_cut else scanner_state
            word = self._words.begun_by(other) if is_cut else OTHER
            next_state, partial = scanner.follow(begun, 0, text)
            if next_state and not partial and (is_cut or not self._merges.crosses(token, other)):
                after = self._ahead.leading_from(end) if kind == FREE else self._ahead.bytes_within(end)
                if after & self._cuts.cutting(next_state, word, other):
                    return True
        return False

    def _leads_on_within(
        self, at: int, is_free: bool, steps: TokenSteps, word: int, token: int, added: frozenset[int]
    ) -> bool:
        """Return whether a proper way surely leads on within a terminal, from a state `at` of its automaton."""
        if steps.partial:
            return not added and word == OTHER and self._completed_within(at, steps.scanner_state, steps.partial, token)
        if is_free and not added:
            return word == OTHER and self._cuts.may_come_within(at, steps.scanner_state, token)
        return self._is_cut_within(at, steps.scanner_state, word, token, added)

    def _is_cut_within(self, at: int, scanner_state: int, word: int, token: int, added: frozenset[int]) -> bool:
        """Return whether a byte that surely cuts leads on within a terminal, from a state of its automaton."""
        if added:
            cutting = self._cuts.cutting(scanner_state, word, token) & self._tokenization.added.leaving(added)
            return bool(self._ahead.bytes_within(at) & cutting)
        if self._borders is not None or self._words.is_whole(word):
            return bool(self._ahead.bytes_within(at) & self._cuts.cutting(scanner_state, word, token))
        known = self._texts.inner_cuts.get(at, scanner_state)
        if known < 0:
            if len(self._texts.inner_cuts) >= MAX_KEPT:
                self._texts.inner_cuts = PairTable()
            known = bool(self._ahead.bytes_within(at) & self._scanner.cutting_bytes(scanner_state))
            self._texts.inner_cuts.put(at, scanner_state, known)
        return known > 0

    def _judge_within(self, set_id: int, scanner_state: int, word: int, token: int) -> int:
        """Return GOOD, BAD or UNKNOWN: whether a proper way leads on within the terminals that the set is in."""
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
                judged = self._judge(self._ahead.endings(at, scanner_state, kind), word, token)
                if judged == GOOD:
                    return GOOD
                if judged == UNKNOWN:
                    verdict = UNKNOWN
        return verdict

    def _completed_within(self, at: int, scanner_state: int, partial: int, token: int) -> bool:
        """Return the same as `_is_completed_within`, which it keeps: most sets are in the same state of a string."""
        key, completed = (at, scanner_state, partial, token), self._texts.completed
        known = completed.get(key)
        if known is None:
            if len(completed) >= MAX_COMPLETED:
                completed.clear()
            known = completed[key] = self._is_completed_within(at, scanner_state, partial, token)
        return known

    def _is_completed_within(self, at: int, scanner_state: int, partial: int, token: int) -> bool:
        """Return the same as `_is_completed`, within a terminal."""
        completions = self._tokenization.completions
        for completion, last in completions.in_turn(token, self._scanner.text_of(partial)):
            if self._completes_within(at, scanner_state, partial, completion, last):
                return True
        return False

    def _completes_within(self, at: int, scanner_state: int, partial: int, completion: bytes, last: int) -> bool:
        """Return whether one completion leads to where the pre-token may end, within a terminal."""
        next_at = self._ahead.follow_within(at, completion)
        if not next_at:
            return False
        next_state, still = self._scanner.follow(scanner_state, partial, completion)
        if not next_state or still:
            return False
        return bool(self._ahead.bytes_within(next_at) & self._cuts.cutting(next_state, OTHER, last))

    def _is_completed(self, set_id: int, scanner_state: int, partial: int, token: int) -> bool:
        """Return whether a usual completion of a token's last character leads to where the pre-token may end."""
        completions = self._tokenization.completions
        for completion, last in completions.in_turn(token, self._scanner.text_of(partial)):
            if self._completes(set_id, scanner_state, partial, completion, last):
                return True
        return False

    def _completes(self, set_id: int, scanner_state: int, partial: int, completion: bytes, last: int) -> bool:
        """Return whether one completion leads to where the pre-token may end."""
        next_set = self._ahead.follow(set_id, completion)
        if not next_set:
            return False
        next_state, still = self._scanner.follow(scanner_state, partial, completion)
        if not next_state or still:
            return False
        if self._cuts.leads_on(next_set, next_state, OTHER, last):
            return True
        return self._is_good_after_bridge(next_set, next_state, last)

    def _judge(self, endings: Endings, word: int, token: int) -> int:
        """Return GOOD, BAD or UNKNOWN: whether one of the endings of a pre-token can follow a token.

        It can if its first token can: after a token of a pre-token, the rest is tokenized as if it stood alone.
        """
        words = self._words
        if words.is_alone(word) or not self._merges.is_proper[token]:
            return UNKNOWN
        is_decided, index = True, 0
        while index < len(endings.spelled) or self._ahead.find_more(endings):
            tokens = endings.spelled[index]
            index += 1
            if not tokens or not self._merges.crosses(token, tokens[0]):
                following = word
                for each in tokens:
                    following = words.after(following, each)
                if following == OTHER or not (words.is_whole(following) or self._borders is not None):
                    if len(tokens) == 1:
                        self._tokenization.known_ways.add_bridge(endings.scanner_state, tokens[0])
                    return GOOD
                is_decided = is_decided and self._borders is None  # with borders, a word may continue
        return BAD if is_decided and endings.are_all else UNKNOWN

    def _is_good_after_bridge(self, set_id: int, scanner_state: int, token: int) -> bool:
        """Return whether one of some tokens may follow, and after it the text may end or be cut.

        That is found once for all tokens that lead to the same set and state: only a merge with the bridge differs.
        """
        key = (set_id, scanner_state)
        bridges = self._bridges.get(key)
        if bridges is None:
            if len(self._bridges) >= MAX_KEPT:
                self._bridges.clear()
            bridges = self._bridges[key] = Bridges(self._tokenization.known_ways.bridges(scanner_state))
            bridges.is_barred = bool(self._compiled.eager and self._sets.table.accepting[set_id])
            if scanner_state in self._last_bridges and not bridges.is_barred:
                self._try_bridge(bridges, set_id, scanner_state, self._last_bridges[scanner_state])
                if bridges.is_sure:
                    self._keep_after_all(set_id, scanner_state)
        if bridges.leads_on_after(token, self._merges):
            return True
        while not bridges.is_barred and bridges.tried < len(bridges.tokens):
            other = bridges.tokens[bridges.tried]
            bridges.tried += 1
            self._try_bridge(bridges, set_id, scanner_state, other)
            if bridges.is_sure:
                self._last_bridges[scanner_state] = other
                self._keep_after_all(set_id, scanner_state)
                return True
            if bridges.joining and bridges.leads_on_after(token, self._merges):
                return True
        return False

    def _keep_after_all(self, set_id: int, scanner_state: int) -> None:
        """Keep that a way leads on from a set and a state, whatever the token before them."""
        if len(self._after_all) >= MAX_KEPT:
            self._after_all = PairTable()
        self._after_all.put(set_id, scanner_state, 1)

    def _try_bridge(self, bridges: Bridges, set_id: int, scanner_state: int, other: int) -> None:
        """Note whether a text may end or be cut after a token: in another pre-token, or else in the same one."""
        scanner, text = self._scanner, self._spellings[other]
        if not self._ahead.next_bytes(set_id) >> text[0] & 1:
            return
        next_set = self._ahead.follow(set_id, text)
        if next_set:
            for is_cut in (True, False):
                begun = scanner.cut(scanner_state) if is_cut else scanner_state
                word = self._words.begun_by(other) if is_cut else OTHER
                next_state, partial = scanner.follow(begun, 0, text)
                if next_state and not partial and self._cuts.leads_on(next_set, next_state, word, other):
                    bridges.add(other, is_cut)
                    return

    def ends_within(self, steps: TokenSteps, token: int, text: bytes, state: TokenizerState) -> bool:
        """Return whether a way leads on within one of the terminals of a set, by a token after another one.

        Args:
            steps: the steps of the first token.
            token: this token. It is kept for other sets and grammars if a way leads on.
            text: the bytes of the token after it.
            state: the tokenizer's state after both.
        """
        if state.partial or state.added:
            return False
        for item in range(steps.count):
            at = steps.state_within(item)
            at = self._ahead.follow_within(at, text) if at else 0
            if at:
                following = self._ahead.bytes_within(at)
                for branch in state.branches:
                    if following & self._cuts.cutting(branch.scanner_state, branch.word, state.token):
                        kind = self._ahead.kind_of(steps.set_id, steps.scan_of(item))
                        self._inner.at_item(steps, item, kind).add(token)
                        return True
        return False

    def ends_soon(self, set_id: int, state: TokenizerState) -> bool:
        """Return whether it is known without a search that a proper way leads to an end."""
        if state.partial:
            return False
        if state.added and self._sets.table.accepting[set_id] and self._tokenization.may_end(state):
            return True
        for branch in state.branches:
            if state.added:
                cutting = self._tokenization.added.leaving(state.added)
                if branch.scanner_state != self._scanner.start:
                    cutting = cutting & self._cuts.cutting(branch.scanner_state, branch.word, state.token)
                is_good = self._cuts.may_come(set_id, cutting)
            else:
                is_good = self._cuts.leads_on(set_id, branch.scanner_state, branch.word, state.token)
            if is_good:
                return True
        return False
