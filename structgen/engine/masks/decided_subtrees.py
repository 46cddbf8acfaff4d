"""Subtrees of a vocabulary's trie in which characters alone decide about each token; see `skippable_states.py`."""

from __future__ import annotations

from structgen.engine.masks.character_kinds import kind_of
from structgen.engine.masks.skippable_states import SkippableStates
from structgen.engine.masks.tables import Trie
from structgen.engine.masks.token_lists import FoundTokens

__all__ = ["DecidedSubtrees"]

# Declared as a C integer in the .pxd, so not importable from here.
MAX_UNDECIDED = 2  # subtrees that a walk may visit in vain; each has a token of which characters do not tell


class DecidedSubtrees:
    """Adds the tokens of subtrees to those that a walk has found inside.

    Args:
        trie: the vocabulary's trie.
        skippable_states: tells which characters decide.
        found: gets the tokens.

    Attributes:
        nodes_visited: the number of nodes visited in this walk.
    """

    def __init__(self, trie: Trie, skippable_states: SkippableStates, found: FoundTokens) -> None:
        self._trie = trie
        self._skippable_states = skippable_states
        self._found = found
        self._undecided = 0
        self.nodes_visited = 0

    def begin(self) -> None:
        """Begin a walk."""
        self._undecided = self.nodes_visited = 0

    def add(self, top: int, number: int, state: int) -> bool:
        """Add the tokens at and below a node that stay inside a state by their characters alone.

        No state of the automaton is needed: long tokens, such as lines of dashes, would lead to a new one with each
        byte where characters are counted.

        Args:
            top: the node; `SkippableStates.decides` the tokens below it.
            number: the number of the state at the node.
            state: the state.

        Returns:
            Whether it is done; False, and nothing is added, if a token has so many characters that the state does not
            tell.
        """
        found, trie, skippable_states = self._found, self._trie, self._skippable_states
        kinds, reach = skippable_states.kinds[number], skippable_states.reach[number]
        begun = trie.characters[top]
        most = reach
        if trie.most_below[top] - begun > reach:
            most = skippable_states.most(number, state)
            if most > reach and self._undecided == MAX_UNDECIDED:
                return False
        size = found.below.size
        last = found.below.values[size - 3] if size else 0
        found.skip(trie.token_start[top], trie.token_start[top + 1], 0, 0)
        stop = trie.end[top]
        node = top + 1
        while node < stop:
            self.nodes_visited += 1
            end = trie.end[node]
            count = trie.characters[node] - begun
            own = kind_of(trie.byte[node])  # of the kinds that a byte beyond ASCII begins, all are absent or none
            if (own and not own & kinds) or count > most:
                node = end
                continue
            first, after = trie.token_start[node], trie.token_start[node + 1]
            if count <= reach and trie.kinds_below[node] & ~kinds == 0 and trie.most_below[node] - begun <= reach:
                found.skip(first, trie.token_start[end], 0, 0)
                node = end
                continue
            if first < after:
                if count > reach:
                    self._undecided += 1
                    found.below.size = size
                    if size:
                        found.below.values[size - 3] = last
                    return False
                found.skip(first, after, 0, 0)
            node += 1
        return True
