"""Subtrees of a vocabulary's trie in which characters alone decide about each token; see `skippable_states.py`."""

from __future__ import annotations

from structgen.engine.arrays import zeros
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.masks.character_kinds import kind_of
from structgen.engine.masks.skippable_states import SkippableStates
from structgen.engine.masks.tables import Trie
from structgen.engine.masks.token_lists import FoundTokens
from structgen.engine.masks.trie_walk import AutomatonPath

__all__ = ["DecidedSubtrees"]


class DecidedSubtrees:
    """Adds the tokens of subtrees to those that a walk has found inside.

    Args:
        automata: the automata of the states.
        trie: the vocabulary's trie.
        skippable_states: tells which characters decide.
        found: gets the tokens.

    Attributes:
        nodes_visited: the number of nodes visited in this walk.
    """

    def __init__(
        self, automata: AutomatonStore, trie: Trie, skippable_states: SkippableStates, found: FoundTokens
    ) -> None:
        self._automata = automata
        self._trie = trie
        self._skippable_states = skippable_states
        self._found = found
        self._path = AutomatonPath(automata, trie.max_depth + 2)
        self._bytes = zeros(trie.max_depth + 2)
        self._known = 0
        self.nodes_visited = 0

    def begin(self) -> None:
        """Begin a walk."""
        self.nodes_visited = 0

    def add(self, top: int, number: int, state: int) -> None:
        """Add the tokens at and below a node that stay inside a state by their characters alone.

        The automaton is not asked: long tokens, such as lines of dashes, would lead to a new state with each byte where
        characters are counted. It is only for a token with so many characters that the state does not tell, as in a
        text of 12 characters with a digit: a token of 11 may come in any case, and one of 12 if it has a digit.

        Args:
            top: the node; `SkippableStates.decides` the tokens below it.
            number: the number of the state at the node.
            state: the state.
        """
        found, trie, skippable_states = self._found, self._trie, self._skippable_states
        kinds, reach = skippable_states.kinds[number], skippable_states.reach[number]
        begun = trie.characters[top]
        depth = 0
        most = reach
        has_long = trie.most_below[top] - begun > reach
        if has_long:
            most = skippable_states.most(number, state)
            self._begin_path(state)
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
            if has_long:
                depth = trie.depth[node] - trie.depth[top]
                self._bytes[depth] = trie.byte[node]
                self._known = min(self._known, depth - 1)
            if first < after:
                if count > reach and not self._leads_on(depth):
                    node = end
                    continue
                found.skip(first, after, 0, 0)
            node += 1

    def _begin_path(self, state: int) -> None:
        """Set the state at the top of a subtree."""
        self._automata.expand(state)
        self._path.enter(0, state)
        self._known = 0

    def _leads_on(self, depth: int) -> bool:
        """Return whether something may follow the bytes from the top to a node, so many nodes below it.

        The states on the way there are made if no node before had them.
        """
        while self._known < depth:
            state = self._path.target(self._known, self._bytes[self._known + 1])
            if state == 0:
                return False
            self._automata.expand(state)
            self._known += 1
            self._path.enter(self._known, state)
        return True
