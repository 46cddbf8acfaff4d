"""Steps of many tokens from one position, each token from where it differs from the token before.

Tokens that are checked one by one are in the order of their texts. So most of them share their first bytes with the
token before, and take a step or two:

    token        steps that are new
    `is`         `i`, `s`
    `isl`        `l`
    `island`     `a`, `n`, `d`

Three things are followed, each only as far as it is asked for: the scanner, the automata of the terminals that an
Earley set is in, and the set itself.
"""

from __future__ import annotations

from structgen.engine.arrays import grown, zeros
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.tokenization.pre_tokens.scanner import Scanner

__all__ = ["TokenSteps"]

MAX_COMPARED = 32  # items with which others are compared; declared as a C integer in the .pxd


class TokenSteps:
    """The steps of tokens from one Earley set and one state of the scanner.

    Args:
        compiled: the grammar.
        scanner: the pre-tokenizer.

    Attributes:
        text: the bytes of the last token.
        set_id: the set.
        begun_state, begun_partial: the state of the scanner before the token, and the unfinished character there.
        count: the number of scannable items of the set; of those in the same state, one counts.
        scanner_state: the state of the scanner after the last token; 0 if it does not fit.
        partial: the scanner's number of the character that the token leaves unfinished.
    """

    def __init__(self, compiled: CompiledGrammar, scanner: Scanner) -> None:
        self._sets = compiled.sets
        self._automata = compiled.sets.automata
        self._is_eager = compiled.eager
        self._scanner = scanner
        self.text = b""
        self.set_id = self.begun_state = self.begun_partial = self.count = 0
        # By number of bytes: what is reached after so many. The items' states are rows of `count` numbers.
        self._scanner_states = zeros(64)
        self._partials = zeros(64)
        self._set_ids = zeros(64)
        self._item_states = zeros(64)
        self._scans = zeros(64)  # by item: its number in the store of sets
        self._sets_known = self._items_known = 0
        self._sets_after: dict[int, int] = {}
        self.scanner_state = self.partial = 0

    def begin(self, set_id: int, scanner_state: int, partial: int) -> None:
        """Begin at another position: an Earley set, a state of the scanner, and the beginning of a character."""
        sets = self._sets
        sets.close(set_id)
        self.text = b""
        self.set_id, self.begun_state, self.begun_partial = set_id, scanner_state, partial
        self._scanner_states[0], self._partials[0], self._set_ids[0] = scanner_state, partial, set_id
        self._sets_known = self._items_known = 0
        first, last = sets.table.first_scan[set_id], sets.table.last_scan[set_id]
        if last - first > len(self._scans):
            self._item_states, self._scans = zeros(2 * (last - first)), zeros(2 * (last - first))
        self.count = 0
        for scan in range(first, last):
            if self.count > MAX_COMPARED or not self._has_item(sets.scans.state[scan]):
                self._item_states[self.count] = sets.scans.state[scan]
                self._scans[self.count] = scan
                self.count += 1
        self._sets_after.clear()

    def _has_item(self, state: int) -> bool:
        """Return whether one of the items so far is in a state."""
        item = 0
        while item < self.count and self._item_states[item] != state:
            item += 1
        return item < self.count

    def scan_of(self, item: int) -> int:
        """Return a scannable item's number in the store of sets."""
        return self._scans[item]

    def begun_within(self, item: int) -> int:
        """Return the state of a scannable item's automaton before the token."""
        return self._item_states[item]

    def follow(self, text: bytes) -> None:
        """Follow the scanner along the bytes of a token; the rest is followed when it is asked for."""
        before, length = self.text, len(text)
        shared, most = 0, min(length, len(before))
        while shared < most and text[shared] == before[shared]:
            shared += 1
        if length >= len(self._scanner_states):
            self._lengthen(length)
        self._sets_known = min(self._sets_known, shared)
        self._items_known = min(self._items_known, shared)
        self.text = text
        for depth in range(shared + 1, length + 1):
            self._scanner.descend(self._scanner_states, self._partials, depth, text[depth - 1])
        self.scanner_state, self.partial = self._scanner_states[length], self._partials[length]

    def _lengthen(self, length: int) -> None:
        """Make room for a token of so many bytes."""
        while length >= len(self._scanner_states):
            used = len(self._scanner_states)
            self._scanner_states = grown(self._scanner_states, used)
            self._partials = grown(self._partials, used)
            self._set_ids = grown(self._set_ids, used)

    def next_set(self) -> int:
        """Return the set after the token; 0 if the grammar does not allow it."""
        return self.set_at(len(self.text))

    def set_at(self, length: int) -> int:
        """Return the set after so many bytes of the token; 0 if the grammar does not allow them."""
        while self._sets_known < length:
            known = self._sets_known
            self._set_ids[known + 1] = self._sets.goto(self._set_ids[known], self.text[known])
            self._sets_known = known + 1
        return self._set_ids[length]

    def state_within(self, item: int) -> int:
        """Return the state of a scannable item's automaton after the token; 0 if the token ended it, or may not come.

        If the first text of the grammar is the whole text ("eager"), a state that ends it counts as such an end.
        """
        while self._items_known < len(self.text):
            self._follow_items()
        return self._item_states[self._items_known * self.count + item]

    def state_at(self, item: int, length: int) -> int:
        """Return the state of a scannable item's automaton after so many bytes, as `state_within` does for all."""
        return self._item_states[length * self.count + item]

    def may_end(self) -> bool:
        """Return whether a terminal of the set may end within the token or with it."""
        length = len(self.text)
        while self._items_known < length:
            self._follow_items()
        accepting = self._automata.table.accepting
        at, end = self.count, (length + 1) * self.count
        while at < end and not accepting[self._item_states[at]]:
            at += 1
        return at < end

    def left_after(self) -> int:
        """Return the number of bytes after which the token has left all terminals of the set; 0 if it stays in one."""
        length = len(self.text)
        while self._items_known < length:
            self._follow_items()
        within = length
        while within > 0 and self._is_left_at(within):
            within -= 1
        return 0 if within == length else within + 1

    def _is_left_at(self, length: int) -> bool:
        """Return whether the token has left all terminals of the set after so many bytes."""
        at, end = length * self.count, (length + 1) * self.count
        while at < end and not self._item_states[at]:
            at += 1
        return at == end

    def continue_after(self, steps: TokenSteps, length: int) -> None:
        """Begin where other steps are after so many bytes of their token, and follow its other bytes."""
        set_id, scanner_state, partial = steps.set_at(length), steps._scanner_states[length], steps._partials[length]
        if (self.set_id, self.begun_state, self.begun_partial) != (set_id, scanner_state, partial):
            self.begin(set_id, scanner_state, partial)
        self.follow(steps.text[length:])

    def set_after(self, item: int) -> int:
        """Return the set after the terminal of a scannable item has ended."""
        state = self._item_states[item]
        known = self._sets_after.get(state)
        if known is None:
            known = self._sets_after[state] = self._sets.after(self._set_ids[0], state)
        return known

    def _follow_items(self) -> None:
        """Follow the items along one more byte of the token."""
        automata, count, byte = self._automata, self.count, self.text[self._items_known]
        row = self._items_known * count
        while row + 2 * count > len(self._item_states):
            self._item_states = grown(self._item_states, len(self._item_states))
        for at in range(row, row + count):
            state = self._item_states[at]
            if state:
                state = automata.next(state, byte)
                if state and self._is_eager and automata.table.accepting[state]:
                    state = 0
            self._item_states[at + count] = state
        self._items_known += 1
