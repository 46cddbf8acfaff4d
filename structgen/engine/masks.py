"""From an Earley set to the tokens that may come next.

For every automaton state among a set's scannable items, the tokens that stay inside that terminal come ready made
(`engine/terminal_masks.py`); those that run past its end are walked, what is left of them, from the set after it:

    mask(S) = union over the states q of S:  inside(q)  and  walk(exits(q), S after q)

A mask is kept as the dense parts it shares with other sets and a list of the other tokens.
"""

from __future__ import annotations

from array import array

import numpy as np

from structgen.engine.arrays import grown, zeros
from structgen.engine.earley import ItemSetStore
from structgen.engine.terminal_masks import TerminalMask, TerminalMasks, Trie

__all__ = ["SetMask", "SetMasks"]


class SetMask:
    """The tokens that may follow one set.

    Attributes:
        parts: tables whose dense masks (without what is removed from them) belong to it.
        tokens: int32, the other tokens; a token may be there twice, or in a part too.
    """

    def __init__(self) -> None:
        self.parts: list[TerminalMask] = []
        self.tokens = zeros(0)


class SetMasks:
    """The masks of one grammar's sets, made when first asked for and kept.

    Attributes:
        sets: the grammar's Earley sets.
        terminals: the tables of the terminals' states.
        empty: uint32[words], the mask of nothing.
        nodes_visited: trie nodes visited by walks over sets (a work counter for benchmarks).
    """

    def __init__(self, sets: ItemSetStore, terminals: TerminalMasks) -> None:
        self.sets = sets
        self.terminals = terminals
        self.nodes_visited = 0
        self._masks: list[SetMask | None] = []
        self.empty = np.zeros(terminals.words, dtype=np.uint32)
        self._set_at = zeros(terminals.trie.max_depth + 2)
        self._found = zeros(1024)
        self._found_size = 0
        self._seen = zeros(1024)  # by automaton state: the mask in whose making it was last looked at
        self._serial = 0

    def get(self, set_id: int) -> SetMask:
        """The mask of a set."""
        if set_id >= len(self._masks):
            self._masks.extend([None] * (max(set_id + 1, 2 * len(self._masks)) - len(self._masks)))
        mask = self._masks[set_id]
        if mask is None:
            mask = self._make(set_id)
            self._masks[set_id] = mask
        return mask

    def fill(self, set_id: int, words: np.ndarray) -> None:
        """Writes the mask of a set into `words`, uint32[words]; whatever stood there is overwritten."""
        mask = self.get(set_id)
        tokens = mask.tokens
        parts = len(mask.parts)
        if parts == 0:
            words[:] = self.empty
        else:
            self._copy(mask.parts[0], words)
            if parts > 1:
                self._unite(mask, words)
        one = 1
        for index in range(len(tokens)):
            token = tokens[index]
            words[token >> 5] |= one << (token & 31)

    def _copy(self, part: TerminalMask, words: np.ndarray) -> None:
        words[:] = part.dense
        removed = part.removed
        one = 1
        for index in range(len(removed)):
            token = removed[index]
            words[token >> 5] &= ~(one << (token & 31))

    def _unite(self, mask: SetMask, words: np.ndarray) -> None:
        """Adds the dense masks of all parts but the first."""
        whole = np.asarray(words)
        for part in mask.parts[1:]:
            other = np.zeros_like(whole)
            self._copy(part, other)
            whole |= other

    def _make(self, set_id: int) -> SetMask:
        sets = self.sets
        sets.close(set_id)
        mask = SetMask()
        self._found_size = 0
        self._serial += 1
        for scan in range(sets.first_scan[set_id], sets.last_scan[set_id]):
            state = sets.scan_state[scan]
            while state >= len(self._seen):
                self._seen = grown(self._seen, len(self._seen))
            if self._seen[state] == self._serial:
                continue
            self._seen[state] = self._serial
            terminal = self.terminals.get(state)
            if terminal.has_dense:
                mask.parts.append(terminal)
            for index in range(len(terminal.tokens)):
                self._add(terminal.tokens[index])
            if terminal.suffixes is not None:
                self._walk_suffixes(terminal, sets.after(set_id, state))
            if len(terminal.exits):
                self._walk_exits(terminal, sets.after(set_id, state))
        mask.tokens = array("i", self._found[: self._found_size])
        return mask

    def _add(self, token: int) -> None:
        if self._found_size >= len(self._found):
            self._found = grown(self._found, self._found_size)
        self._found[self._found_size] = token
        self._found_size += 1

    def _walk_exits(self, terminal: TerminalMask, set_id: int) -> None:
        """Walks what lies behind each exit in the vocabulary's trie, pruned by the grammar."""
        trie = self.terminals.trie
        for index in range(len(terminal.exits)):
            node = terminal.exits[index]
            self._walk(trie, set_id, node + 1, trie.end[node], trie.depth[node], 0, 0)

    def _walk_suffixes(self, terminal: TerminalMask, set_id: int) -> None:
        """Walks what is left of the tokens behind all exits, merged into one trie."""
        trie = terminal.suffixes
        first = self._found_size
        self._walk(trie, set_id, 0, trie.size, 0, terminal.min_count, terminal.max_count)
        if len(terminal.removed_exits) and self._found_size > first:
            removed = set(terminal.removed_exits)
            kept = [token for token in self._found[first : self._found_size] if token not in removed]
            self._found_size = first
            for token in kept:
                self._add(token)

    def _walk(
        self, trie: Trie, set_id: int, node: int, stop: int, base_depth: int, min_count: int, max_count: int
    ) -> None:
        """Adds the tokens of the nodes `node .. stop` whose bytes the grammar allows from `set_id` on.

        Args:
            base_depth: depth of the nodes' parent.
            min_count, max_count: only tokens of the trie with such a count.
        """
        sets = self.sets
        places = self._set_at
        places[base_depth] = set_id
        while node < stop:
            depth = trie.depth[node]
            target = sets.goto(places[depth - 1], trie.byte[node])
            self.nodes_visited += 1
            if not target:
                node = trie.end[node]
                continue
            for index in range(trie.token_start[node], trie.token_start[node + 1]):
                if not trie.has_counts or min_count <= trie.token_count[index] <= max_count:
                    self._add(trie.tokens[index])
            places[depth] = target
            node += 1
