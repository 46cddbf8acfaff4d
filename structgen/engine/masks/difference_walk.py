"""The walk over the vocabulary's trie along two states at once, which finds the tokens that only one of them has."""

from __future__ import annotations

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import DESCEND, SKIP, STOP
from structgen.engine.masks.skippable_states import SkippableStates
from structgen.engine.masks.tables import Trie
from structgen.engine.masks.token_lists import FoundTokens
from structgen.engine.masks.trie_walk import AutomatonPath, TrieWalk

__all__ = ["DifferenceWalk"]

# Declared as C integers in the .pxd, so not importable from here.
# Visited in search of the difference, before the walk gives up. States that differ in little take some hundred; a walk
# for one state alone takes some ten thousand.
MAX_DIFFERENT_NODES = 2_000
NOT_ASKED = 2**64 - 1  # in place of kinds of characters
MIN_ALIKE = 24  # bytes below a node from which on it is asked whether the states differ there


class DifferenceWalk(TrieWalk):
    """The walk for two states, which skips subtrees where the two automata have come together.

    Args:
        automata: the automata of the states.
        trie: the vocabulary's trie.
        skippable_states: tells where both states stay open, so that they do not differ.
        found: gets the results; see `FoundTokens`.
    """

    def __init__(
        self, automata: AutomatonStore, trie: Trie, skippable_states: SkippableStates, found: FoundTokens
    ) -> None:
        super().__init__(trie)
        self._automata = automata
        self._skippable_states = skippable_states
        self._found = found
        self._absent = 0  # kinds of characters that no text of the two states has
        depth = trie.max_depth + 2
        self._path = AutomatonPath(automata, depth)
        self._other_path = AutomatonPath(automata, depth)

    def compare(self, state: int, other: int) -> bool:
        """Find the tokens and exits of only one state; False if the states differ nearly everywhere.

        `inside` and `exits` get those that only `state` has; `rest` the tokens inside, and `lost` the tokens after an
        exit, that only `other` has.
        """
        self._found.clear()
        self._automata.derivatives.derive(state)
        self._automata.derivatives.derive(other)
        self._path.enter(0, state)
        self._other_path.enter(0, other)
        self._absent = NOT_ASKED
        return self.walk(0, self.trie.size)

    def visit(self, node: int, depth: int, byte: int) -> int:
        """Read one more byte with both automata; see `TrieWalk.visit`."""
        automata, found, trie = self._automata, self._found, self.trie
        state = self._path.target(depth - 1, byte)
        other = self._other_path.target(depth - 1, byte)
        if state == other:
            return SKIP
        if self.visited > MAX_DIFFERENT_NODES:
            return STOP
        first, last, end = trie.token_start[node], trie.token_start[node + 1], trie.end[node]
        if state == 0:
            found.rest.extend(trie.tokens, first, last)
        elif other == 0:
            found.inside.extend(trie.tokens, first, last)
        if end == node + 1:
            return SKIP
        if automata.table.accepting[state] and not automata.table.accepting[other]:
            found.exits.add(node)
        elif automata.table.accepting[other] and not automata.table.accepting[state]:
            found.lost.extend(trie.tokens, last, trie.token_start[end])
        if state and other and trie.height[node] >= MIN_ALIKE and self._are_alike(node, state, other):
            return SKIP
        automata.derivatives.derive(state)
        automata.derivatives.derive(other)
        self._path.enter(depth, state)
        self._other_path.enter(depth, other)
        return DESCEND

    def _are_alike(self, node: int, state: int, other: int) -> bool:
        """Return whether it is certain that two states have the same tokens and exits below a node."""
        found = self._skippable_states
        if self._absent == NOT_ASKED:
            self._absent = found.absent(self._path.state_at[0]) & found.absent(self._other_path.state_at[0])
        return found.are_alike(state, other, self.trie.kinds_below[node], self._absent)
