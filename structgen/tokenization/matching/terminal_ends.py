r"""Ways that lead on through the end of a terminal: found once for all tokens that stay within the terminal.

White space before a key may have up to 64 characters. So each token of white space leads to another Earley set: one for
each number of characters that are left. But the set after the white space has ended is the same for all of them:

    token     before the end    a way leads on if
    `\n\n`    nothing           a cut comes before a byte that the set after the terminal allows, such as `"`
    two ` `   ` `               the same for ` "`: the tokenizer leaves the last space of a run to what comes next
    `\n `     `\n`              no merge joins the token and `\n`, and a cut comes before `"`

Such a text also leads on from the token's own set, so that set need not be made.
"""

from __future__ import annotations

from typing import Any

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.tokenization.matching.blank_tokens import BLANK_BYTES, BLANKS, BlankClass
from structgen.tokenization.matching.continuations import Continuations
from structgen.tokenization.matching.last_texts import ANY_TOKEN, LastText
from structgen.tokenization.matching.proper_tokenization import ProperTokenization
from structgen.tokenization.matching.sure_cuts import SureCuts
from structgen.tokenization.matching.token_steps import TokenSteps
from structgen.tokenization.matching.whole_words import OTHER

__all__ = ["TerminalEnds"]

# Declared as C integers in the .pxd, so not importable from here.
ALL_BITS = 0xFFFFFFFF  # of a word
MAX_BLANKS = 256  # no token has more
MAX_KEPT = 65_536  # answers


class TerminalEnds:
    """The ways through the ends of one grammar's terminals, for the Earley sets of one epoch.

    Args:
        compiled: the grammar.
        tokenization: the tokenizer.
        ahead: the texts that may come next in the grammar.
        cuts: the sure cuts in its texts.
    """

    def __init__(
        self, compiled: CompiledGrammar, tokenization: ProperTokenization, ahead: Continuations, cuts: SureCuts
    ) -> None:
        self._ahead = ahead
        self._cuts = cuts
        self._automata = compiled.sets.automata
        self._borders = tokenization.borders
        self._merges = tokenization.merges
        self._blanks = tokenization.blanks
        self._sets = compiled.sets
        self._last_texts = tokenization.blanks.last_texts
        self._compiled = compiled
        self._next_tokens = tokenization.next_tokens
        self._takes_blanks = ahead.texts.blanks
        self._items_of = 0  # see `_blank_items`; no set has number 0
        self._items: list[tuple[int, int, int, int]] = []
        self._good_blanks: dict[tuple[int, int, int], list[tuple[BlankClass, int]]] = {}

    def lead_on(self, steps: TokenSteps, item: int, word: int, token: int) -> bool:
        """Return whether a proper way surely leads on from a terminal that a token stays within, or through its end.

        Args:
            steps: the steps of the token, which ends with a character.
            item: the number of the scannable item.
            word: the node of the current pre-token in `WholeWords` after it.
            token: the token.
        """
        if word != OTHER:
            return False
        at, after = steps.state_within(item), steps.set_after(item)
        if self._leads_on_from(at, after, steps.scanner_state, token):
            return True
        for last in self._last_texts.of(steps.scanner_state):
            end = self._ahead.follow_within(at, last.text)
            is_free = last.joined == ANY_TOKEN or not self._merges.crosses(token, last.joined)
            if end and is_free and self._leads_on_after(end, after, last):
                return True
        return False

    def _leads_on_from(self, at: int, after: int, scanner_state: int, token: int) -> bool:
        """Return whether a character that surely cuts may come next, or the text may end.

        Args:
            at: a state within a terminal.
            after: the set after the terminal.
            scanner_state: the state of the scanner.
            token: the last token.
        """
        if self._cuts.may_come_within(at, scanner_state, token):
            return True
        return self._automata.table.accepting[at] > 0 and self._cuts.leads_on(after, scanner_state, OTHER, token)

    def _leads_on_after(self, at: int, after: int, last: LastText) -> bool:
        """Return the same as `_leads_on_from`, after a text that may be the last one of the terminal."""
        if not last.cutting:
            return self._leads_on_from(at, after, last.scanner_state, last.token)
        following = self._ahead.leading_from(at)
        if self._automata.table.accepting[at]:
            following = following | self._ahead.next_bytes(after)
        return bool(following & last.cutting)

    def bar(self, steps: TokenSteps, some: int) -> bool:
        """Return whether the terminals of a set show that none of some bytes may follow a token, nor the end of a text.

        That is so if no terminal goes on with them, and nothing after one that ends with the token. If one ends before,
        another one must not take the rest of the token.

        Args:
            steps: the steps of the token.
            some: the bytes, as bits of a number.
        """
        text = steps.text
        for item in range(steps.count):
            at = 0
            for length in range(1, len(text) + 1):
                at = steps.state_at(item, length)
                if not at:
                    break
                if self._automata.table.accepting[at]:
                    after = steps.set_after(item)
                    if length == len(text):
                        if self._ahead.may_stop(after) or self._ahead.next_bytes(after) & some:
                            return False
                    elif self._ahead.next_bytes(after) >> text[length] & 1:
                        return False
            if at and self._ahead.leading_from(at) & some:
                return False
        return True

    # -- white space ------------------------------------------------------------------------------------------------

    def remove_blanks(self, row: Any, set_id: int, scanner_state: int, dead: list[int]) -> None:
        """Remove tokens of white space from a mask that are surely good or bad, all those of a kind at once.

        Args:
            row: uint32[words], tokens that may follow.
            set_id: the Earley set before them.
            scanner_state: the state of the scanner before them, with a cut if there is one. The tokens must be free to
                stand there: no pre-token of one token, and no added token, begins in the text before.
            dead: gets those of the tokens after which no proper way leads on.
        """
        for scan, most, rest, after in self._blank_items(set_id):
            left = min(most, MAX_BLANKS) if most >= 0 else MAX_BLANKS
            for blanks, most_after in self._surely_good(scanner_state, rest, after):
                blanks.remove(row, left - most_after)
            if 1 < most <= MAX_BLANKS and not self._compiled.has_marks:
                self._move_longest(row, set_id, scanner_state, scan, most, rest, dead)

    def room_for_blanks(self, set_id: int) -> int:
        """Return the number of characters that the longest white space may have that a set allows; up to MAX_BLANKS."""
        room = 0
        for _, most, _, _ in self._blank_items(set_id):
            room = max(room, most if 0 <= most < MAX_BLANKS else MAX_BLANKS)
        return room

    def _blank_items(self, set_id: int) -> list[tuple[int, int, int, int]]:
        """Return the scannable items of a set that read white space, and whose ends no text before decides.

        Returns:
            For each of them its number, the most characters of the white space (-1 for no bound), the state after it
            within the terminal, and the set after the terminal if it may end there, else 0. Kept for the last set.
        """
        if self._items_of == set_id:
            return self._items
        sets = self._sets
        found: list[tuple[int, int, int, int]] = []
        states: list[int] = []
        sets.close(set_id)
        for scan in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
            state = sets.scans.state[scan]
            parts = self._automata.as_counted(state)
            if parts is not None and not parts[1] and self._holds_blanks(parts[0]) and state not in states:
                states.append(state)
                if self._ahead.is_item_free(set_id, scan):
                    after = sets.after(set_id, state) if self._automata.table.accepting[parts[3]] else 0
                    found.append((scan, parts[2], parts[3], after))
        self._items_of, self._items = set_id, found
        return found

    def _move_longest(
        self, row: Any, set_id: int, scanner_state: int, scan: int, most: int, rest: int, dead: list[int]
    ) -> None:
        """Move tokens from a mask to `dead` that are the longest possible white space, if nothing may follow them.

        Args:
            row: uint32[words], tokens that may follow.
            set_id: the Earley set before them.
            scanner_state: the state of the scanner before them.
            scan: the scannable item of the set that reads white space.
            most: the greatest length of it.
            rest: the state after it within the terminal.
            dead: gets the tokens.
        """
        sets, one = self._sets, 1
        following, may_stop = self._ahead.leading_from(rest), False
        if self._automata.table.accepting[rest]:
            after = sets.after(set_id, sets.scans.state[scan])
            following, may_stop = following | self._ahead.next_bytes(after), self._ahead.may_stop(after)
        taken = following
        for other in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
            if other != scan:
                taken = taken | self._ahead.leading_from(sets.scans.state[other])
        if may_stop or taken & BLANK_BYTES:  # another reading takes white space, too
            return
        for blanks in self._blanks.classes(scanner_state):
            longest = blanks.of_length(row, most)
            if longest and not self._next_tokens.first_bytes_after(blanks.scanner_state, OTHER, longest[0]) & following:
                dead += longest
                for token in longest:
                    row[token >> 5] &= ALL_BITS ^ (one << (token & 31))

    def _surely_good(self, scanner_state: int, rest: int, after: int) -> list[tuple[BlankClass, int]]:
        """Return tokens of white space that surely lead on, each with the characters that must be left after them.

        Args:
            scanner_state: the state of the scanner before them.
            rest: the state after the white space within its terminal.
            after: the set after the terminal, if it may end there.
        """
        key = (scanner_state, rest, after)
        known = self._good_blanks.get(key)
        if known is None:
            if len(self._good_blanks) >= MAX_KEPT:
                self._good_blanks.clear()
            known = self._good_blanks[key] = []
            for blanks in self._blanks.classes(scanner_state):
                if self._borders is None and self._leads_on_from(rest, after, blanks.scanner_state, ANY_TOKEN):
                    known.append((blanks, 0))
                else:
                    for last in self._last_texts.of(blanks.scanner_state):
                        if self._leads_on_after(rest, after, last):
                            fitting = blanks if last.joined == ANY_TOKEN else blanks.before(last.joined)
                            known.append((fitting, len(last.text)))
        return known

    def _holds_blanks(self, state: int) -> bool:
        """Return whether each character of white space is a text of an automaton's state."""
        known = self._takes_blanks.get(state)
        if known is None:
            automata = self._automata
            known = all(automata.table.accepting[automata.next(state, byte)] for byte in BLANKS)
            if len(self._takes_blanks) >= MAX_KEPT:
                self._takes_blanks.clear()
            self._takes_blanks[state] = known
        return known
