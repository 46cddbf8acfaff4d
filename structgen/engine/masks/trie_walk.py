"""The walk over a trie that all searches for tokens share, and the path of an automaton along it.

A trie's nodes stand in depth-first order (`engine/vocabulary/token_trie.py`), so one loop visits all of them:

    node   0 1 2 3 4      visit(1) == DESCEND: node 2 is next, the first child of 1
    byte   a b c d x      visit(1) == SKIP:    node 4 is next, past the whole subtree of 1
    depth  1 2 3 3 1      visit(1) == STOP:    the walk ends

What happens at a node is the `visit` method of a subclass: `CountedWalk`, `BoundedWalk`, `DifferenceWalk`, `SetWalk`.
`TokenWalks` has loops of its own, its docstring says why; and `CountedWalk` has one for the characters that it counts.
"""

from __future__ import annotations

from structgen.engine.arrays import zeros
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import DESCEND, SKIP
from structgen.engine.deadlines import spend
from structgen.engine.masks.tables import Marks, Trie

__all__ = ["AutomatonPath", "EnteredStates", "TrieWalk"]


class TrieWalk:
    """A depth-first walk over a trie.

    Attributes:
        trie: the trie that is walked.
        visited: the number of nodes visited in this walk.
        nodes_visited: the number of nodes visited in all finished walks (a work counter for benchmarks).
    """

    def __init__(self, trie: Trie) -> None:
        self.trie = trie
        self.visited = 0
        self.nodes_visited = 0

    def walk(self, node: int, stop: int) -> bool:
        """Visit the nodes from `node` to `stop - 1`, subtrees that a visit skips left out; False if a visit stops."""
        byte_of, end_of, depth_of = self.trie.byte, self.trie.end, self.trie.depth
        self.visited = 0
        while node < stop:
            self.visited += 1
            step = self.visit(node, depth_of[node], byte_of[node])
            if step == DESCEND:
                node += 1
            elif step == SKIP:
                node = end_of[node]
            else:
                break
        self.nodes_visited += self.visited
        spend(self.visited)  # not in the loop: a walk ends with the trie
        return node >= stop

    def visit(self, node: int, depth: int, byte: int) -> int:
        """Look at a node, which its parent leads to by a byte.

        Returns:
            DESCEND to go on with the node's children, SKIP to leave them out, STOP to end the walk.
        """
        raise NotImplementedError


class AutomatonPath:
    """The states of an automaton along the path from the root of a trie to the node that a walk is at.

    Args:
        automata: the automata.
        depth: the number of nodes of the longest path, the root included.

    Attributes:
        state_at: int32 by depth, the state.
        map_at: int32 by depth, where the state's byte classes begin in `automata.partitions.class_of`.
        targets_at: int32 by depth, where the state's targets begin in `automata.partitions.target_pool`.
    """

    def __init__(self, automata: AutomatonStore, depth: int) -> None:
        self.automata = automata
        self.state_at = zeros(depth)
        self.map_at = zeros(depth)
        self.targets_at = zeros(depth)

    def enter(self, depth: int, state: int) -> None:
        """Set the state at a depth; its transitions must be made."""
        automata = self.automata
        self.state_at[depth] = state
        self.map_at[depth] = automata.partitions.map_at.values[state] * 256
        self.targets_at[depth] = automata.partitions.targets_at.values[state]

    def target(self, depth: int, byte: int) -> int:
        """Return the state that a byte leads to from the one at a depth; 0 if nothing can match after it."""
        automata = self.automata
        at = self.targets_at[depth] + automata.partitions.class_of[self.map_at[depth] + byte]
        state = automata.partitions.target_pool[at]
        return state if state >= 0 else automata.live_target(at)


class EnteredStates:
    """The states that a walk enters, recorded between `begin` and `end`.

    Attributes:
        is_recording: whether walks record the states they enter.
        has_ends: whether they record those in which tokens end, too.
        states: the states, each once.
    """

    def __init__(self) -> None:
        self.is_recording = self.has_ends = False
        self.states: list[int] = []
        self._marks = Marks()

    def begin(self, has_ends: bool) -> None:
        """Forget the states of before, and record from now on."""
        self.is_recording = True
        self.has_ends = has_ends
        self.states.clear()
        self._marks.begin()

    def end(self) -> None:
        """Record no more."""
        self.is_recording = self.has_ends = False

    def add(self, state: int) -> None:
        """Record a state, if states are recorded."""
        if self.is_recording and self._marks.meet(state, self._marks.round):
            self.states.append(state)
