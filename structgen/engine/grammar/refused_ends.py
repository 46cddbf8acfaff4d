"""Texts that are refused to a terminal, such as keys that an object has already: where that can be done at their ends.

Items of an array that must differ are strings, all of one terminal: the text of an earlier item is refused at its
closing quote. Before the quote, the mask allows what the terminal allows. So whatever has been read, there must be
another text. That is sure for two kinds of terminals:

- Every prefix is a prefix of infinitely many texts, as in strings of any length.
- The terminal has a bound, and all refused texts have fewer characters. So after each of them, another character may
  come. Take the longest refused text that begins with what has been read: with that character, the text is longer than
  all of them.

Where some refused texts are as long as the bound allows, the terminal is made without these, and the others are refused
at their ends:

    [a-z]{0,5}    not "apple", at the end not "fig"
"""

from __future__ import annotations

from collections.abc import Sequence

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import DEAD, NEVER, NO_BYTE
from structgen.engine.grammar.tables import Capture, Lazy, Refusals, RuleSource, Spelling
from structgen.engine.regex.tree import Regex

__all__ = ["RefusedEnds"]

# Declared as C integers in the .pxd, so not importable from here.
ROOM_FOR_UNKNOWN = 2  # characters: a text may be longer than all refused texts, and longer than an unknown one, too
MAX_KNOWN = 10_000  # answers of the source, and facts about characters and groups of texts, that are kept


class RefusedEnds:
    """The texts that one grammar's captures refuse, and which of them are refused where they end.

    Args:
        automata: the automata of the terminals.
        source: the source of the grammar's bodies.
    """

    def __init__(self, automata: AutomatonStore, source: RuleSource | None) -> None:
        self._automata = automata
        self._source = source
        self._refusals: dict[tuple[int, bytes], Refusals] = {}
        self._without_room: set[int] = set()  # positions of terminals
        self._are_one: dict[tuple[int, tuple[bytes, ...]], bool] = {}  # by C and forms; what `_is_one` found
        # By the key of `_longest_of` and a group of spellings: the longest, and the group.
        self._longest: dict[tuple[tuple[bytes, int, int], int], tuple[int, Sequence[Spelling]]] = {}

    def refusing(self, capture: Capture) -> tuple[Regex | Lazy, int]:
        """Return the symbol to capture: a terminal without the refused texts that cannot be refused where they end.

        Returns:
            (the symbol, the room that the others leave). NEVER for room without bound, and 0 if no text is refused
            where it ends; else see `_room_left`.
        """
        if isinstance(capture.of, Lazy) or self._source is None:
            return capture.of, 0
        state = self._automata.add(capture.of)
        if self._automata.is_ever_endless(state):
            return capture.of, NEVER
        refusals = self._source.refusals(capture.then, b"")
        room = self._room_left(state, refusals, NEVER)
        if room > 0:
            return capture.of, room
        # To differ from the long ones, a text may need a character more than otherwise: that makes the room smaller.
        least = self._room_within(state) - ROOM_FOR_UNKNOWN
        if least > 0:
            others = self._source.remaining(capture.then, least)
            room = self._room_left(self._automata.add(others), refusals, least)
            if room > 0:
                return others, room
        return self._source.remaining(capture.then, 0), 0

    def refusals(self, number: int, capture: Capture, begun: bytes) -> Refusals:
        """Return the rests of texts that a capture with a number refuses; see `RuleSource.refusals`."""
        if self._source is None:
            return (), ()
        key = (number, begun)
        found = self._refusals.get(key)
        if found is None:
            found = self._source.refusals(capture.then, begun)
            if len(self._refusals) >= MAX_KNOWN:
                self._refusals.clear()
            self._refusals[key] = found
        return found

    def keep_room(self, position: int, room: int) -> None:
        """Remember whether refused texts leave the terminal at a position room for an unknown one; see `refusing`."""
        if room < ROOM_FOR_UNKNOWN:
            self._without_room.add(position)

    def has_room(self, position: int, state: int, most: int) -> bool:
        """Return whether a terminal with a bound can end in another way whatever was written; see `Rules.has_room`."""
        return position not in self._without_room and self._room_within(state) >= most + ROOM_FOR_UNKNOWN

    def _room_left(self, state: int, refusals: Refusals, below: int) -> int:
        """Return how many more characters than refused texts a terminal has room for; see `AmpleBounds.room`.

        Args:
            state: the start state of the terminal.
            refusals: all texts that are refused.
            below: those of so many characters, or more, are none of the terminal's.

        Returns:
            The number; 0 if it is not known that texts can be refused where they end. If it is 2 or more, an unknown
            text may be refused, too.
        """
        groups, others = refusals
        ample_bounds = self._automata.ample_bounds
        opened = self._opened(state)
        room = ample_bounds.room(opened)
        if opened == state or not room:
            return 0
        key = (bytes([self._automata.only_byte.values[state]]), ample_bounds.counted(opened), below)
        longest = self._longest_of(key, others)
        for group in groups:
            longest = max(longest, self._longest_of_group(key, group))
        return max(0, room - longest)

    def _room_within(self, state: int) -> int:
        """Return the room of a state within a terminal, or before its quote; see `AmpleBounds.room`."""
        return self._automata.ample_bounds.room(self._opened(state))

    def _opened(self, state: int) -> int:
        """Return the state after the byte that all texts begin with, such as a quote; the state itself if none."""
        automata = self._automata
        automata.expand(state)
        return automata.only_target.values[state] if 0 <= automata.only_byte.values[state] < NO_BYTE else state

    def _longest_of_group(self, key: tuple[bytes, int, int], group: Sequence[Spelling]) -> int:
        """Return what `_longest_of` returns, remembered."""
        known = self._longest.get((key, id(group)))
        if known is None:
            if len(self._longest) >= MAX_KNOWN:
                self._longest.clear()
            known = self._longest[key, id(group)] = (self._longest_of(key, group), group)  # kept alive for its id
        return known[0]

    def _longest_of(self, key: tuple[bytes, int, int], spellings: Sequence[Spelling]) -> int:
        """Return the number of characters of the longest of some texts; NEVER if the terminal does not count them.

        Args:
            key: the quote, C*R, and `below` of `_room_left`.
            spellings: the texts.
        """
        table = self._automata.table
        quote, counted, below = key
        body, rest = table.payload[counted][0], table.tail[counted]
        longest = 0
        for spelling in spellings:
            last = len(spelling) - 1
            if last > below:
                continue
            if last < 1 or spelling[0] != (quote,) or spelling[last] != (table.payload[rest],):
                return NEVER
            for at in range(1, last):
                if not self._is_one(body, spelling[at]):
                    return NEVER
            longest = max(longest, last - 1)
        return longest

    def _is_one(self, body: int, forms: tuple[bytes, ...]) -> bool:
        """Return whether each way to write a character is one C, or begins no C."""
        found = self._are_one.get((body, forms))
        if found is None:
            if len(self._are_one) >= MAX_KNOWN:
                self._are_one.clear()
            found = True
            for form in forms:
                found = found and self._is_one_form(body, form)
            self._are_one[body, forms] = found
        return found

    def _is_one_form(self, body: int, form: bytes) -> bool:
        """Return whether a text is one C, or begins no C."""
        automata, state = self._automata, body
        last = len(form) - 1
        for at in range(last + 1):  # by index: iterating bytes gives a signed char when compiled
            state = automata.next(state, form[at])
            if state == DEAD:
                return True
            if automata.table.accepting[state]:
                return at == last
        return False
