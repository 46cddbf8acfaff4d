"""From an Earley set to the tokens that may come next.

For every automaton state among a set's scannable items, the tokens that stay inside that terminal come ready made
(`engine/terminal_masks.py`). Those that run past its end are looked up behind its exits, by the states of the set after
it, and so on until no token is left:

    mask(S) = union over the states q of S:  inside(q)  and  behind(exits(q), S after q)

Tokens that end a capture and then enter another one (`engine/earley.py` calls their sets SUSPECT) are looked at one by
one: what they may be depends on what has just been captured.

A set in which very many states come next is walked byte by byte instead, all of them at once. A mask is kept as
the dense parts it shares with other sets and a list of the other tokens.
"""

from __future__ import annotations

from array import array

import numpy as np

from structgen.engine.arrays import grown, head, zeros
from structgen.engine.earley import ItemSetStore
from structgen.engine.mask_tables import Exits, TerminalMask
from structgen.engine.terminal_masks import TerminalMasks
from structgen.engine.text_kinds import AFTER, SUSPECT

__all__ = ["SetMask", "SetMasks"]

# Declared as C integers in the .pxd, so not importable from here.
FRESH = 2  # as in `engine/earley.py`
ROOT_NODE = -1  # stands for the root of a trie among its nodes
LOOKED_UP = 8  # items of a set that are looked up one by one; with more the set is walked
# So many exits are followed for one mask; ambiguous grammars have exponentially many ways through a long token, which
# a walk over sets takes together.
FOLLOWED = 32
ALL_BITS = 0xFFFFFFFF  # of a word; `~` would give a negative number where this runs uncompiled


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
        self._suspects: set[int] = set()
        self._seen = zeros(1024)  # by automaton state: the mask in whose making it was last looked at
        self._serial = 0
        self._followed = 0

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
            words[token >> 5] &= ALL_BITS ^ (one << (token & 31))

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
        self._followed = 0
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
            self._add_all(terminal.tokens)
            for exits in terminal.exits:
                self._follow(mask, exits, sets.after(set_id, state))
        if self._suspects:
            self._add_suspects(set_id)
        mask.tokens = head(self._found, self._found_size)
        return mask

    def _add(self, token: int) -> None:
        if self._found_size >= len(self._found):
            self._found = grown(self._found, self._found_size)
        self._found[self._found_size] = token
        self._found_size += 1

    def _add_all(self, tokens: array[int]) -> None:
        for index in range(len(tokens)):
            self._add(tokens[index])

    def _add_suspects(self, set_id: int) -> None:
        """Adds those of the suspects that the grammar allows."""
        sets = self.sets
        token_bytes = self.terminals.vocabulary.token_bytes
        for token in self._suspects:
            target = set_id
            for byte in token_bytes(token) or b"":
                target = sets.goto(target, byte)
                if not target:
                    break
            if target:
                self._add(token)
        self._suspects.clear()

    def _suspect_all(self, terminal: TerminalMask) -> None:
        self._suspects.update(terminal.tokens)
        if terminal.has_dense:
            words = np.zeros(len(self.empty), dtype=np.uint32)
            self._copy(terminal, words)
            self._suspects.update(np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).tolist())

    def _follow(self, mask: SetMask, exits: Exits, set_id: int) -> None:
        """Adds the tokens behind some exits that the grammar allows from `set_id` on."""
        sets = self.sets
        if not set_id:
            return
        sets.close(set_id)
        first = sets.first_scan[set_id]
        last = sets.last_scan[set_id]
        self._followed += 1
        if last - first > LOOKED_UP or self._followed > FOLLOWED:
            self._walk(exits, set_id)
            return
        for scan in range(first, last):
            state = sets.scan_state[scan]
            is_new = True
            for before in range(first, scan):
                if sets.scan_state[before] == state:
                    is_new = False
            if not is_new:
                continue
            terminal = self.terminals.behind(exits, state)
            if self._is_suspect(set_id, scan):
                self._suspect_all(terminal)
            else:
                if terminal.has_dense:
                    mask.parts.append(terminal)
                self._add_all(terminal.tokens)
            for further in terminal.exits:
                self._follow(mask, further, sets.after(set_id, state))

    def _is_suspect(self, set_id: int, scan: int) -> bool:
        """Whether the tokens that go on with a scannable item may depend on what was captured just before."""
        text = self.sets.text[set_id]
        return text == SUSPECT or (text == AFTER and self.sets.group_captures[self.sets.scan_group[scan]] & FRESH != 0)

    def _walk(self, exits: Exits, set_id: int) -> None:
        """The same for a set with many items: byte by byte, all items at once."""
        sets = self.sets
        trie = exits.trie
        places = self._set_at
        for at in range(len(exits.nodes)):
            node = exits.nodes[at]
            depth = 0
            stop = trie.size
            if node != ROOT_NODE:
                depth = trie.depth[node]
                stop = trie.end[node]
            places[depth] = set_id
            node += 1
            while node < stop:
                depth = trie.depth[node]
                target = sets.goto(places[depth - 1], trie.byte[node])
                self.nodes_visited += 1
                if not target:
                    node = trie.end[node]
                    continue
                for index in range(trie.token_start[node], trie.token_start[node + 1]):
                    self._add_meant(exits, index, sets.text[target] == SUSPECT)
                places[depth] = target
                node += 1

    def _add_meant(self, exits: Exits, index: int, is_suspect: bool) -> None:
        """Adds a token of the trie, if the exits mean it."""
        trie = exits.trie
        if trie.has_counts:
            if not exits.min_count <= trie.token_count[index] <= exits.max_count:
                return
            if exits.removed is not None and trie.tokens[index] in exits.removed:
                return
        if is_suspect:
            self._suspects.add(trie.tokens[index])
        else:
            self._add(trie.tokens[index])
