"""What may come next in a grammar, and how a pre-token can go on to its end there.

Where few texts are possible up to the next cut, or the next border that no merge crosses, as in a named key or a
literal, all of them are found and tokenized.
Within a terminal its automaton tells them, once for all Earley sets that are in the same state of it.
"""

from __future__ import annotations

from typing import Any

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.tokenization.matching.proper_tokenization import ProperTokenization

__all__ = ["IN_CAPTURE", "IN_SET", "IN_TERMINAL", "Continuations", "Endings"]

IN_SET = 0
IN_TERMINAL = 1
IN_CAPTURE = 2
# Declared as C integers in the .pxd, so not importable from here.
KEPT = 65_536  # answers of each kind
MAX_ENDINGS = 64  # of a pre-token, in characters of all of them
LONGEST_ENDING = 64
MAX_BYTES = 16  # of more that may come next they are not followed
ASCII = 2**128 - 1
_BYTES = [bytes([byte]) for byte in range(256)]


class Endings:
    """How a pre-token can go on to its end or to a sure border, from somewhere in the grammar and a scanner's state.

    Attributes:
        spelled: what the tokenizer makes of each ending, when it stands alone; of an empty one nothing.
        are_all: whether there are no others.
    """

    def __init__(self) -> None:
        self.spelled: list[tuple[int, ...]] = []
        self.are_all = True

    def add(self, tokens: tuple[int, ...] | None) -> None:
        """Notes one; None if it cannot be told what the tokenizer makes of it."""
        if tokens is None:
            self.are_all = False
        else:
            self.spelled.append(tokens)


class Continuations:
    """How texts go on in one grammar, for the sets of one epoch.

    Args:
        compiled: the grammar.
        tokenization: the tokenizer.
    """

    def __init__(self, compiled: CompiledGrammar, tokenization: ProperTokenization) -> None:
        self._compiled = compiled
        self._sets = compiled.sets
        self._tokenization = tokenization
        self._scanner = tokenization.scanner
        self._borders = tokenization.borders
        self._endings: dict[tuple[int, int, int], Endings] = {}
        self._within: dict[int, int] = {}
        self._leading: dict[int, int] = {}

    def follow(self, set_id: int, text: bytes) -> int:
        """The set behind a text; 0 if the grammar does not allow it."""
        sets = self._sets
        for index in range(len(text)):
            set_id = sets.goto(set_id, text[index])
        return set_id

    def follow_within(self, at: int, text: bytes) -> int:
        """The state of a terminal's automaton behind a text that does not end it; 0 for none."""
        automata = self._sets.automata
        for index in range(len(text)):
            at = automata.next(at, text[index])
            if not at or (self._compiled.eager and automata.table.accepting[at]):
                return 0
        return at

    def next_bytes(self, set_id: int) -> int:
        """The bytes that may come next, as bits of a number; but for those that a capture refuses."""
        sets = self._sets
        sets.close(set_id)
        found = 0
        for scan in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
            found |= self._leading_from(sets.scans.state[scan])
        return found

    def bytes_within(self, at: int) -> int:
        """The bytes that lead on from a state of an automaton to where more must follow, as bits of a number: nothing
        that may be refused, and nothing that ends the text.
        """
        if self._compiled.eager and self._sets.automata.table.accepting[at]:
            return 0
        known = self._within.get(at)
        if known is None:
            if len(self._within) >= KEPT:
                self._within.clear()
            known = self._within[at] = self._sets.automata.inner_bytes(at) & ASCII
        return known

    def may_follow(self, set_id: int, byte: int) -> bool:
        """Whether one of the next bytes is not refused."""
        sets = self._sets
        return not sets.table.captures[set_id] or sets.goto(set_id, byte) > 0

    def endings(self, at: int, state: int, kind: int) -> Endings:
        """How a pre-token can go on to its end; see `Endings`.

        Args:
            at: an Earley set; or a state of a terminal's automaton, to look no further than its end,
            state: the scanner's state,
            kind: which: IN_SET, IN_TERMINAL, or IN_CAPTURE, where the end of the terminal may be refused.
        """
        key = (at, state, kind)
        endings = self._endings.get(key)
        if endings is None:
            if len(self._endings) >= KEPT:
                self._endings.clear()
            endings = self._endings[key] = self._find_endings(at, state, kind)
        return endings

    def _find_endings(self, at: int, state: int, kind: int) -> Endings:
        scanner, tokenization, automata = self._scanner, self._tokenization, self._sets.automata
        endings = Endings()
        waiting = [(at, state, 0, b"")]
        count = 0
        one = 1
        while waiting:
            at, state, partial, text = waiting.pop()
            count += 1
            if count > MAX_ENDINGS or len(text) > LONGEST_ENDING:
                endings.are_all = False
                break
            if kind != IN_SET and automata.table.accepting[at]:
                endings.are_all = False  # other terminals may follow
            elif kind == IN_SET and self._sets.table.accepting[at] and not partial and scanner.may_end(state):
                endings.add(tokenization.spell(text))
            if self._compiled.eager and (
                self._sets.table.accepting[at] if kind == IN_SET else automata.table.accepting[at]
            ):
                continue
            following = self.next_bytes(at) if kind == IN_SET else self._leading_from(at)
            cutting = 0 if partial else following & self._cutting_bytes(state, text)
            if self.are_taken(at, cutting, kind):
                endings.add(tokenization.spell(text))
            elif cutting:
                endings.are_all = False
            following &= ~cutting
            if following.bit_count() > MAX_BYTES:
                endings.are_all = False  # they are not looked at
                continue
            while following:
                byte = following.bit_length() - 1
                following ^= one << byte
                behind, still = scanner.follow(state, partial, _BYTES[byte])
                unsettled = (not partial or scanner.cuts_characters) and (
                    scanner.follow(scanner.cut(state), partial, _BYTES[byte])[0] > 0
                )
                if not behind and not unsettled:
                    continue
                after = self._sets.goto(at, byte) if kind == IN_SET else automata.next(at, byte)
                if not after:
                    continue
                if unsettled or (kind != IN_SET and not automata.has_next(after)):
                    endings.are_all = False  # there may be a cut: that depends on what follows; or the terminal ends
                if behind and (kind == IN_SET or automata.has_next(after)):
                    waiting.append((after, behind, still, text + _BYTES[byte]))
        return endings

    def _cutting_bytes(self, state: int, text: bytes) -> Any:
        """The bytes that surely cut a text off, taken by itself, as bits of a number."""
        cutting = self._scanner.cutting_bytes(state)
        if self._borders is not None:
            spelled = self._tokenization.spell(text) if text else None  # without, it is the token before that counts
            cutting = cutting & self._borders.of(spelled[len(spelled) - 1]) if spelled else 0
        return cutting

    def are_taken(self, at: int, some: int, kind: int) -> bool:
        """Whether one of some bytes, of those that lead on, is not refused; for the kinds see `endings`."""
        if kind == IN_TERMINAL:
            return some != 0
        if kind == IN_CAPTURE:
            return bool(some & self.bytes_within(at))
        if not self._sets.table.captures[at]:
            return some != 0
        one = 1
        while some:
            byte = some.bit_length() - 1
            some ^= one << byte
            if self.may_follow(at, byte):
                return True
        return False

    def _leading_from(self, at: int) -> int:
        """The bytes that lead on from a state of an automaton, as bits of a number."""
        known = self._leading.get(at)
        if known is None:
            if len(self._leading) >= KEPT:
                self._leading.clear()
            known = self._leading[at] = self._sets.automata.first_bytes(at)
        return known
