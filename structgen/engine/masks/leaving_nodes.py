"""The nodes of a trie below which a text may leave an automaton's state, as sets of bits that walks go along.

A state in which a word is searched, or which refuses texts with a word in them, is left by few bytes: for `foo` in a
JSON string these are `f`, `"`, the backslash and control characters. Most nodes of a vocabulary's trie have an `f`
somewhere below them, so a walk that goes from children to children can skip little. But the trie knows all nodes of
each byte. At most of them all tokens stay inside, as no `o` comes after the `f`. The others are a set, with one bit for
each node in depth-first order, and a walk goes from one of them to the next.
"""

from __future__ import annotations

from array import array

from structgen.engine.arrays import enlarged
from structgen.engine.constants import EMPTY, FIRST_LEAD, K_BOUNDED, NOTHING
from structgen.engine.masks.character_kinds import kind_of
from structgen.engine.masks.skippable_states import SkippableStates
from structgen.engine.masks.tables import Trie

__all__ = ["MIN_ALONG", "MIN_ALONG_TOKENS", "LeavingNodes"]

# For walks: they go along a set of nodes below a node that has enough below it.
MIN_ALONG = 2  # bytes, where the set is the one that was used last
MIN_ALONG_TOKENS = 64  # where the set is not known yet

# Declared as C integers in the .pxd, so not importable from here.
MIN_NODES = 4  # nodes of the trie for each node that is looked at to make a set
MIN_UNSET = 16  # nodes of the trie for each node in a set. If more are set, a walk along the children is faster
MAX_SETS = 8  # sets that are kept
NO_SET = 0
ALL_STAYS, NOTHING_STAYS = -1, -2  # in place of the number of a skippable state
LOWEST = array("B", [0] + [(byte & -byte).bit_length() - 1 for byte in range(1, 256)])  # by byte: its lowest bit


class LeavingNodes:
    """Sets of nodes of a vocabulary's trie, by state.

    Args:
        skippable_states: tells which subtrees a walk may skip.
        trie: the vocabulary's trie.
    """

    def __init__(self, skippable_states: SkippableStates, trie: Trie) -> None:
        self._skippable_states = skippable_states
        self._trie = trie
        self._width = trie.size // 8 + 1  # bytes of a set
        self._bits = array("B", [0])
        self._count = 1  # no set has the number 0
        self._set_of: dict[int, int] = {}  # by state: where its set begins, or 0

    def begin(self) -> None:
        """Begin a walk: forget all sets if there are too many. The numbers that `find` returns hold until then."""
        if self._count > MAX_SETS:
            self._count = 1
            self._set_of.clear()

    def find(self, state: int) -> int:
        """Return where the set of a state begins, made when first asked for; 0 if it had too many nodes.

        Raises:
            LimitExceededError: automaton_states.
        """
        found = self._set_of.get(state)
        if found is None:
            found = NO_SET
            # Each character makes another state of a bounded one.
            if self._skippable_states.automata.table.kind[state] != K_BOUNDED:
                found = self._made(state, self._skippable_states.character_kinds.loops(state), NOTHING)
            self._set_of[state] = found
        return found

    def find_counted(self, state: int, kinds: int, body: int) -> int:
        """Return where the set of a state begins in which each character that does not leave it is one C.

        Its nodes are all those at which a text may leave the state, whatever comes after them.

        Args:
            state: the state.
            kinds: kinds of characters that each are one C and lead back to the state.
            body: the state of C.

        Raises:
            LimitExceededError: automaton_states.
        """
        found = self._set_of.get(state)
        if found is None:
            found = self._set_of[state] = self._made(state, kinds, body)
        return found

    def next(self, nodes: int, node: int, stop: int) -> int:
        """Return the first node of a set from `node` to `stop - 1`; `stop` if there is none.

        Args:
            nodes: where the set begins.
            node: the first node that is looked at.
            stop: the one after the last.
        """
        place, last = nodes + (node >> 3), nodes + (stop >> 3)
        byte = self._bits[place] >> (node & 7) << (node & 7)
        while not byte and place < last:
            place += 1
            byte = self._bits[place]
        if not byte:
            return stop
        found = 8 * (place - nodes) + LOWEST[byte]
        return found if found < stop else stop

    def _made(self, state: int, kinds: int, body: int) -> int:
        """Return where the new set of a state begins; 0 if it has none. `body` is NOTHING, or see `find_counted`."""
        automata, trie, first_of_byte = self._skippable_states.automata, self._trie, self._trie.first_of_byte
        if not kinds or self._count > MAX_SETS or self._looked_at(kinds) * MIN_NODES > trie.size:
            return NO_SET
        begin = self._begin_set()
        count = 0
        for byte in range(256):
            if not kind_of(byte) & ~kinds or first_of_byte[byte] == first_of_byte[byte + 1]:
                continue
            target = automata.next(state, byte)
            if byte >= FIRST_LEAD:
                count += self._add(begin, byte, kinds, ALL_STAYS)
            elif target != state or (body != NOTHING and automata.next(body, byte) != EMPTY):
                count += self._add_leaving(begin, byte, target if body == NOTHING else NOTHING)
        if count * MIN_UNSET > trie.size:
            return NO_SET
        self._count += 1
        return begin

    def _add_leaving(self, begin: int, byte: int, target: int) -> int:
        """Add the nodes of an ASCII character, but those below which a walk may skip all; return how many."""
        skippable_states = self._skippable_states
        free = 0  # at a node without others below it all stays inside
        number = NOTHING_STAYS
        if target:
            number = skippable_states.find(target)
            if skippable_states.reach[number] > self._trie.max_depth:
                free = skippable_states.kinds[number]
        return self._add(begin, byte, free, number)

    def _looked_at(self, kinds: int) -> int:
        """Return the number of nodes with bytes that begin characters of other kinds."""
        first_of_byte = self._trie.first_of_byte
        count = 0
        for byte in range(256):
            if kind_of(byte) & ~kinds:
                count += first_of_byte[byte + 1] - first_of_byte[byte]
        return count

    def _begin_set(self) -> int:
        """Return where the next set begins, which has no nodes yet."""
        begin = self._count * self._width
        while begin + self._width > len(self._bits):
            self._bits = enlarged(self._bits, "B", 2 * (begin + self._width))
        for place in range(begin, begin + self._width):
            self._bits[place] = 0
        return begin

    def _add(self, begin: int, byte: int, free: int, number: int) -> int:
        """Add the nodes of a byte at which not only characters come after which a walk may skip; return how many.

        Args:
            begin: where the set begins.
            byte: the byte.
            free: kinds of characters after which a walk may skip,
            number: if this skippable state has none that are refused. ALL_STAYS: always; NOTHING_STAYS: never.
        """
        bits, trie, skippable_states = self._bits, self._trie, self._skippable_states
        by_byte, kinds_at = trie.by_byte, trie.kinds_by_byte
        count = 0
        for index in range(trie.first_of_byte[byte], trie.first_of_byte[byte + 1]):
            kinds = kinds_at[index]
            if kinds & ~free or (number != ALL_STAYS and not (number >= 0 and skippable_states.lacks(number, kinds))):
                node = by_byte[index]
                bits[begin + (node >> 3)] |= 1 << (node & 7)
                count += 1
        return count
