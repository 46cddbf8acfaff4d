"""Walks over the vocabulary's trie that count: how many of what is repeated each token begins.

So one walk serves all bounds of a repetition. What it finds lies in the same arrays as that of other walks
(`engine/token_walks.py`), each token and node with its count; `engine/counted_masks.py` makes tables of it.
"""

from __future__ import annotations

from structgen.engine.arrays import zeros
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import DEAD, EMPTY, K_COUNTING, NO_BYTE, NOT_EXPANDED
from structgen.engine.masks.token_walks import TokenWalks
from structgen.engine.vocabulary.vocabulary import Vocabulary

__all__ = ["CountedWalks"]

# Declared as C integers in the .pxd, so not importable from here.
NO_MAP = 0  # as in `engine/partitions.py`


class CountedWalks(TokenWalks):
    """Walks over one vocabulary, also those that count."""

    def __init__(self, vocabulary: Vocabulary, automata: AutomatonStore) -> None:
        super().__init__(vocabulary, automata)
        depth = self.trie.max_depth + 2
        self._phase_at = zeros(depth)
        self._count_at = zeros(depth)

    def _walk_counted(self, char_state: int, rest_state: int, absorbs: bool) -> bool:
        """Walks the trie for `C* R`, counting the `C` begun; False as soon as a byte could belong to both.

        If R absorbs C, it may: however the text is read, the same follows.
        """
        self._forget()
        automata = self.automata
        trie = self.trie
        rest_may_be_empty = automata.table.accepting[rest_state]
        automata.expand(char_state)
        automata.expand(rest_state)
        automata.expand(DEAD)
        class_of, targets, pools = (
            automata.partitions.class_of,
            automata.partitions.target_pool,
            automata.partitions.pools,
        )
        map_at, targets_at = self._map_at, self._targets_at
        state_at, in_rest, counts = self._state_at, self._phase_at, self._count_at
        byte_of, end_of, depth_of, token_start, size = trie.byte, trie.end, trie.depth, trie.token_start, trie.size
        behind = trie.behind
        characters = self._characters_of(char_state, rest_state, absorbs)
        self._enter(0, char_state)
        self._enter_other(0, rest_state)
        in_rest[0] = 0
        counts[0] = 0
        visited = 0
        node = 0
        while node < size:
            depth = depth_of[node]
            byte = byte_of[node]
            visited += 1
            phase = in_rest[depth - 1]
            count = counts[depth - 1]
            at = targets_at[depth - 1] + class_of[map_at[depth - 1] + byte]
            state = targets[at]
            if state < 0:
                state = automata.live_target(at)
                targets = automata.partitions.target_pool
            rest = DEAD
            if phase == 0:
                at = self._other_targets_at[depth - 1] + class_of[self._other_map_at[depth - 1] + byte]
                rest = targets[at]
                if rest < 0:
                    rest = automata.live_target(at)
                    targets = automata.partitions.target_pool
                if state_at[depth - 1] == char_state:
                    if state and rest and not absorbs:
                        self.nodes_visited += visited
                        return False
                    count += 1
                if state == 0:  # the last C was read before: the one that seemed to begin since belongs to the rest
                    count -= 1
                    state = rest
                    phase = 1
            if state == 0:
                node = end_of[node]
                continue
            if automata.only_byte.values[state] == NOT_EXPANDED or automata.only_byte.values[rest] == NOT_EXPANDED:
                automata.expand(state)
                automata.expand(rest)
            if phase == 0 and automata.table.accepting[state]:
                if automata.only_byte.values[state] != NO_BYTE:
                    self.nodes_visited += visited
                    return False
                state = char_state
                rest = rest_state
            elif phase == 0 and state == char_state:
                self.nodes_visited += visited
                return False
            if count > self._largest:
                self._largest = count
            if token_start[node + 1] > token_start[node]:
                if phase:
                    self._add_rest(token_start[node], token_start[node + 1], count)
                else:
                    self._add_tokens(node, count)
            if end_of[node] > node + 1:
                if phase == 0 and state == char_state and behind[node] & ~characters == 0:
                    self._add_behind_counted(node, count, 0)
                    node = end_of[node]
                    continue
                if phase:
                    number = self.skippable_states.find(state)
                    if automata.partitions.pools != pools:
                        class_of, targets, pools = (
                            automata.partitions.class_of,
                            automata.partitions.target_pool,
                            automata.partitions.pools,
                        )
                    if self.skippable_states.holds(number, behind[node], trie.height[node]):
                        self._add_rest(token_start[node + 1], token_start[end_of[node]], count)
                        node = end_of[node]
                        continue
                    if automata.table.accepting[state]:
                        self._add_exit(node, count)
                elif state == char_state:
                    if rest_may_be_empty:
                        self._add_exit(node, count)
                elif automata.table.accepting[rest]:
                    self._add_exit(node, count - 1)
            if phase and automata.only_byte.values[state] == NO_BYTE:
                node = end_of[node]
                continue
            if automata.partitions.pools != pools:
                class_of, targets, pools = (
                    automata.partitions.class_of,
                    automata.partitions.target_pool,
                    automata.partitions.pools,
                )
            self._enter(depth, state)
            self._enter_other(depth, rest)
            in_rest[depth] = phase
            counts[depth] = count
            node += 1
        self.nodes_visited += visited
        return True

    def _characters_of(self, char_state: int, rest_state: int, absorbs: bool) -> int:
        """The kinds of characters each of which is one C and nothing else, and after which nothing may end."""
        if self.automata.table.accepting[rest_state]:
            return 0
        found = self.kinds.between(char_state, EMPTY)
        return found & (self.kinds.loops(rest_state) if absorbs else self.kinds.refused(rest_state))

    def _walk_bounded(self, free: int) -> None:
        """Walks the trie for a state without its bound, with the bound that each token needs."""
        self._forget()
        automata = self.automata
        trie = self.trie
        automata.derivatives.derive(free)
        star = automata.table.payload[free][0]
        characters = self.kinds.between(
            automata.table.payload[star][0], EMPTY
        )  # each of which is one of what is counted
        map_at, targets_at = self._map_at, self._targets_at
        state_at = self._state_at
        counts, begins = self._count_at, self._phase_at  # by depth; whether the next byte may begin one more
        class_of, targets, pools = (
            automata.partitions.class_of,
            automata.partitions.target_pool,
            automata.partitions.pools,
        )
        byte_of, end_of, depth_of, token_start, size = trie.byte, trie.end, trie.depth, trie.token_start, trie.size
        token_at, tokens, needs = trie.tokens, self._tokens, self._token_counts
        self._enter(0, free)
        behind = trie.behind
        counts[0] = 0
        begins[0] = automata.derivatives.is_between(free)
        visited = 0
        node = 0
        while node < size:
            depth = depth_of[node]
            at = targets_at[depth - 1] + class_of[map_at[depth - 1] + byte_of[node]]
            state = targets[at]
            visited += 1
            if state < 0:
                state = automata.live_target(at)
                targets = automata.partitions.target_pool
            if state == 0:
                node = end_of[node]
                continue
            count = counts[depth - 1]
            if begins[depth - 1] and automata.table.kind[state] == K_COUNTING:
                count += 1
            end = end_of[node]
            first = token_start[node]
            last = token_start[node + 1]
            if first < last:
                needed = count + automata.emptiness.least_begun(state)
                if needed > self._largest:
                    self._largest = needed
                if self._token_size + last - first > len(tokens):
                    self._grow_tokens(last - first)
                    tokens, needs = self._tokens, self._token_counts
                for index in range(first, last):
                    tokens[self._token_size] = token_at[index]
                    needs[self._token_size] = needed
                    self._token_size += 1
            if end == node + 1:
                node = end
                continue
            is_between = begins[depth - 1] if state == state_at[depth - 1] else automata.derivatives.is_between(state)
            skips = is_between and behind[node] & ~characters == 0
            if skips and automata.asks_for_count(state):
                self._add_behind_counted(node, count, count + automata.emptiness.least_begun(state))
            elif skips and behind[node] & ~self.kinds.loops(state) == 0:
                self._add_behind_counted(node, count + automata.emptiness.least_begun(state), 0)
            else:
                skips = False
            if skips:
                tokens, needs = self._tokens, self._token_counts
                if self._keeps_entered:
                    self._keep_state(state)
                node = end
                continue
            if automata.table.accepting[state]:
                self._largest = max(self._largest, count)
                self._add_exit(node, count)
            if automata.partitions.map_at.values[state] == NO_MAP:
                automata.derivatives.derive(state)
            if automata.only_byte.values[state] == NO_BYTE:
                node = end
                continue
            if self._keeps_entered:
                self._keep_state(state)
            if automata.partitions.pools != pools:
                class_of, targets, pools = (
                    automata.partitions.class_of,
                    automata.partitions.target_pool,
                    automata.partitions.pools,
                )
            self._enter(depth, state)
            counts[depth] = count
            begins[depth] = is_between
            node += 1
        self.nodes_visited += visited

    def _add_behind_counted(self, node: int, count: int, least: int) -> None:
        """Adds all tokens that go on behind a node, each with `count` and how many characters it begins behind that, or
        with `least` if that is more.
        """
        trie = self.trie
        first = trie.token_start[node + 1]
        last = trie.token_start[trie.end[node]]
        if self._token_size + last - first > len(self._tokens):
            self._grow_tokens(last - first)
        tokens, counts, size = self._tokens, self._token_counts, self._token_size
        token_at, token_count = trie.tokens, trie.token_count
        count -= trie.characters[node]
        largest = self._largest
        for at in range(first, last):
            needed = count + token_count[at]
            if needed < least:
                needed = least
            tokens[size + at - first] = token_at[at]
            counts[size + at - first] = needed
            if needed > largest:
                largest = needed
        self._largest = largest
        self._token_size = size + last - first
