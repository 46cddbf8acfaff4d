"""Texts that may come next in a grammar, and the ways in which a pre-token can continue to its end there.

If only few texts are possible up to the next cut (or the next border that no merge crosses), as in a named key or a
literal, all of them are enumerated and tokenized. After `{"` with the keys `"isle"` and `"islands"`, these are `isle`
and `islands`, each up to the `"` that cuts it off.

Within a terminal, its automaton gives the texts: once for all Earley sets that are in the same state of it.
"""

from __future__ import annotations

from typing import Any

from structgen.engine.constants import NO_TEXT
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.vocabulary.marks import MARK_BYTE, mark_of
from structgen.tokenization.matching.endings import Endings
from structgen.tokenization.matching.inner_ways import CAPTURED, EAGER, FREE, InnerWays
from structgen.tokenization.matching.proper_tokenization import ProperTokenization

__all__ = ["IN_CAPTURE", "IN_SET", "IN_TERMINAL", "Continuations"]

IN_SET = 0
IN_TERMINAL = 1
IN_CAPTURE = 2
# Declared as C integers in the .pxd, so not importable from here.
MAX_KEPT = 65_536  # answers of each kind
MAX_ENDINGS_KEPT = 16_384
MAX_ENDINGS = 64  # texts that are looked at, beginnings included
MAX_ENDING_BYTES = 64  # of one of them
MAX_BYTES = 16  # bytes that may come next; if there are more, they are not followed
ASCII = 2**128 - 1
NO_MARK = 2**MARK_BYTE - 1  # all bytes but the one that begins the mark of a token terminal
_BYTES = [bytes([byte]) for byte in range(256)]


class Continuations:
    """The continuations of texts in one grammar, for the Earley sets of one epoch.

    Args:
        compiled: the grammar.
        tokenization: the tokenizer.

    Attributes:
        texts: what is known of the texts within terminals, for all grammars with the same automata.
    """

    def __init__(self, compiled: CompiledGrammar, tokenization: ProperTokenization) -> None:
        self._compiled = compiled
        self._sets = compiled.sets
        self._tokenization = tokenization
        self._scanner = tokenization.scanner
        self._borders = tokenization.borders
        self.texts = InnerWays.of(compiled, tokenization).texts[compiled.eager]
        self._endings: dict[tuple[int, int, int], Endings] = {}
        self._next_bytes: dict[int, int] = {}

    def follow(self, set_id: int, text: bytes) -> int:
        """Return the set after a text; 0 if the grammar does not allow it."""
        sets = self._sets
        for index in range(len(text)):
            set_id = sets.goto(set_id, text[index])
        return set_id

    def follow_within(self, at: int, text: bytes) -> int:
        """Return the state of a terminal's automaton after a text that does not end it; 0 for none."""
        automata = self._sets.automata
        for index in range(len(text)):
            at = automata.next(at, text[index])
            if not at or (self._compiled.eager and automata.table.accepting[at]):
                return 0
        return at

    def next_bytes(self, set_id: int) -> int:
        """Return the bytes that may come next, as bits of a number; those that a capture refuses are among them."""
        known = self._next_bytes.get(set_id)
        if known is None:
            if len(self._next_bytes) >= MAX_KEPT:
                self._next_bytes.clear()
            known = self._next_bytes[set_id] = self._find_next_bytes(set_id)
        return known

    def _find_next_bytes(self, set_id: int) -> int:
        sets = self._sets
        sets.close(set_id)
        found = 0
        for scan in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
            found |= self.leading_from(sets.scans.state[scan])
        return found & NO_MARK if self._compiled.has_marks else found

    def after_token(self, set_id: int, token: int) -> int:
        """Return the set after a token in all its readings; 0 if the grammar does not allow it."""
        compiled = self._compiled
        if not (compiled.has_marks and compiled.names(token)):
            return self.follow(set_id, compiled.vocabulary.spellings[token])
        text = compiled.vocabulary.token_bytes(token) or b""
        return self._sets.goto_either(set_id, token, text, mark_of(token))

    def may_stop(self, set_id: int) -> bool:
        """Return whether the text may end after a set, or a token terminal may come, which ends a text as well."""
        if self._sets.table.accepting[set_id]:
            return True
        return self._compiled.has_marks and self._sets.goto(set_id, MARK_BYTE) > 0

    def bytes_within(self, at: int) -> int:
        """Return the bytes that lead from a state of an automaton to where more must follow, as bits of a number.

        None of them may be refused, or end the text.
        """
        if self._compiled.eager and self._sets.automata.table.accepting[at]:
            return 0
        within = self.texts.within
        known = within.get(at)
        if known is None:
            if len(within) >= MAX_KEPT:
                within.clear()
            known = within[at] = self._sets.automata.inner_bytes(at) & ASCII
        return known

    def is_free(self, set_id: int) -> bool:
        """Return whether no text before decides how the terminals of a set may go on and end.

        So any byte may come that leads on within a terminal, and if a terminal may end, its set after it is the same
        for all texts.
        """
        sets = self._sets
        return not (self._compiled.eager or sets.table.captures[set_id] or sets.rules.lookaheads.shift)

    def is_item_free(self, set_id: int, scan: int) -> bool:
        """Return whether no text before decides how the terminal of a scannable item may go on and end.

        Captures refuse only texts of captured items: white space before a key is free, even if the key must differ from
        others. The set after the terminal is that of all items in the same state, so none of these may be captured.
        """
        if self.is_free(set_id):
            return True
        sets = self._sets
        if self._compiled.eager or sets.rules.lookaheads.shift or sets.table.text[set_id] != NO_TEXT:
            return False
        state = sets.scans.state[scan]
        for other in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
            if sets.scans.state[other] == state and sets.groups.captures[sets.scans.group[other]]:
                return False
        return True

    def kind_of(self, set_id: int, scan: int) -> int:
        """Return FREE, CAPTURED or EAGER: the kind of the position of a scannable item, see `InnerWays`."""
        return EAGER if self._compiled.eager else FREE if self.is_item_free(set_id, scan) else CAPTURED

    def may_follow(self, set_id: int, byte: int) -> bool:
        """Return whether one of the next bytes is not refused by a capture."""
        sets = self._sets
        return not sets.table.captures[set_id] or sets.goto(set_id, byte) > 0

    def endings(self, at: int, scanner_state: int, kind: int) -> Endings:
        """Return the endings of a pre-token, as far as they were found: `find_more` finds the others.

        Args:
            at: an Earley set; or a state of a terminal's automaton, to look no further than the terminal's end.
            scanner_state: the state of the scanner.
            kind: IN_SET; IN_TERMINAL; or IN_CAPTURE, if the end of the terminal may be refused.
        """
        key, found = (at, scanner_state, kind), self._endings if kind == IN_SET else self.texts.endings
        endings = found.get(key)
        if endings is None:
            if len(found) >= MAX_ENDINGS_KEPT:
                found.clear()
            endings = found[key] = Endings(at, scanner_state, kind)
        return endings

    def find_more(self, endings: Endings) -> bool:
        """Add the next endings of a pre-token; return False if there are no more."""
        try:
            return self._find_more(endings)
        except BaseException:  # such as a limit: the beginning that was looked at is lost, and others may ask again
            endings.are_all = False
            raise

    def _find_more(self, endings: Endings) -> bool:
        """Do the same; if that fails, some endings are left out. This is a hot loop."""
        scanner, tokenization, automata = self._scanner, self._tokenization, self._sets.automata
        waiting, kind, known = endings.waiting, endings.kind, len(endings.spelled)
        one = 1
        while waiting and len(endings.spelled) == known:
            at, scanner_state, partial, text = waiting.pop()
            endings.count += 1
            if endings.count > MAX_ENDINGS or len(text) > MAX_ENDING_BYTES:
                endings.are_all = False
                waiting.clear()
                break
            if kind != IN_SET and automata.table.accepting[at]:
                endings.are_all = False  # other terminals may follow
            elif kind == IN_SET and not partial and scanner.may_end(scanner_state) and self.may_stop(at):
                endings.add(tokenization.spell(text))
            if self._compiled.eager and (
                self._sets.table.accepting[at] if kind == IN_SET else automata.table.accepting[at]
            ):
                continue
            following = self.next_bytes(at) if kind == IN_SET else self.leading_from(at)
            if following & tokenization.added.ending_bytes and not partial and scanner.may_end(scanner_state):
                endings.are_all = False  # an added token may come, before which the pre-token ends
            cutting = 0 if partial else following & self._cutting_bytes(scanner_state, text)
            if self.are_accepted(at, cutting, kind):
                endings.add(tokenization.spell(text))
            elif cutting:
                endings.are_all = False
            following &= ~cutting
            if following.bit_count() > MAX_BYTES:
                endings.are_all = False  # they are not followed
                continue
            while following:
                byte = following.bit_length() - 1
                following ^= one << byte
                next_state, still = scanner.follow(scanner_state, partial, _BYTES[byte])
                unsettled = (not partial or scanner.cuts_characters) and (
                    scanner.follow(scanner.cut(scanner_state), partial, _BYTES[byte])[0] > 0
                )
                if not next_state and not unsettled:
                    continue
                next_at = self._sets.goto(at, byte) if kind == IN_SET else automata.next(at, byte)
                if not next_at:
                    continue
                if unsettled or (kind != IN_SET and not automata.has_next(next_at)):
                    endings.are_all = False  # there may be a cut, depending on what follows; or the terminal ends
                if next_state and (kind == IN_SET or automata.has_next(next_at)):
                    waiting.append((next_at, next_state, still, text + _BYTES[byte]))
        return len(endings.spelled) > known

    def _cutting_bytes(self, scanner_state: int, text: bytes) -> Any:
        """Return the bytes that surely cut off a text by itself, as bits of a number."""
        cutting = self._scanner.cutting_bytes(scanner_state)
        if self._borders is not None:
            spelled = self._tokenization.spell(text) if text else None  # of an empty text, the token before it counts
            cutting = cutting & self._borders.of(spelled[len(spelled) - 1]) if spelled else 0
        return cutting

    def are_accepted(self, at: int, some: int, kind: int) -> bool:
        """Return whether one of some bytes that lead on is not refused; for the kinds see `endings`."""
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

    def leading_from(self, at: int) -> int:
        """Return the bytes that lead on from a state of an automaton, as bits of a number."""
        leading = self.texts.leading
        known = leading.get(at)
        if known is None:
            if len(leading) >= MAX_KEPT:
                leading.clear()
            known = leading[at] = self._sets.automata.first_bytes(at)
        return known
