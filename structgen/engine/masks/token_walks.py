"""Walks over the vocabulary's trie, pruned by terminals' automata: along one state, or where two states differ.

What a walk finds lies in the arrays of the object until the next walk: tokens that a terminal reads to their last byte,
and nodes at which it may end within a token. `engine/terminal_masks.py` makes tables of it.
`engine/counted_walks.py` has the walks that count.
"""

from __future__ import annotations

from array import array

from structgen.engine.arrays import grown, room, zeros
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import K_LITERAL, NO_BYTE
from structgen.engine.masks.character_kinds import CharacterKinds
from structgen.engine.masks.skippable_states import SkippableStates
from structgen.engine.masks.tables import Marks, RemainderNodes, Trie
from structgen.engine.vocabulary.vocabulary import Vocabulary

__all__ = ["TokenWalks"]

# Declared as C integers in the .pxd, so not importable from here.
POOL = 16_000_000  # room for the numbers that the tables of some ten thousand schemas refer to
NO_MAP = 0  # as in `engine/partitions.py`
NOT_ENTERED = -1  # stands for a state in which a walk begins
ROOT_NODE = -1  # stands for the root of a trie among its nodes
LARGE_SUBTREE = 32  # nodes that a walk would rather skip, if it is worth finding out whether it may
MANY_PLACES = 16  # from so many, where a byte leads to is remembered
# So many nodes are visited in search of the difference from another state's tables, before giving that up.
DIFFERENCE_NODES = 30_000


class TokenWalks:
    """Walks over one vocabulary with the automata of one store.

    Attributes:
        automata: the store.
        trie: the vocabulary's trie.
        kinds: which characters change nothing in a state.
        skippable_states: which tokens a walk need not look at.
        whole: stands before every token.
        pool: int32, tokens and nodes that tables refer to, one list after another.
        bytes_used: memory in masks and lists, about.
        nodes_visited: trie nodes visited so far (a work counter for benchmarks).
    """

    def __init__(self, vocabulary: Vocabulary, automata: AutomatonStore) -> None:
        self.automata = automata
        self.trie = Trie(vocabulary.trie)
        self.bytes_used = 0
        self.nodes_visited = 0
        self.kinds = CharacterKinds(automata)
        self.skippable_states = SkippableStates(automata, self.kinds)
        self.pool = room(POOL)
        self._pool_size = 1
        self.pool[0] = ROOT_NODE
        self.whole = RemainderNodes(self.trie, 0, 1, 0, 0, None)
        depth = self.trie.max_depth + 2
        self._state_at = zeros(depth)
        self._open_at = zeros(depth)
        self._map_at = zeros(depth)
        self._targets_at = zeros(depth)
        self._other_map_at = zeros(depth)
        self._other_targets_at = zeros(depth)
        self._tokens = zeros(4096)
        self._token_counts = zeros(4096)
        self._token_size = 0
        self._rest = zeros(4096)
        self._rest_counts = zeros(4096)
        self._rest_size = 0
        self._exits = zeros(4096)
        self._exit_counts = zeros(4096)
        self._exit_size = 0
        self._largest = 0
        self._walk_serial = 0
        self._token_mark = zeros(vocabulary.size)
        self._places = zeros(1024)
        self._place_count = 0
        self._keeps_entered = False  # whether a walk keeps the states that it goes into
        self._entered: list[int] = []
        self._states_entered = Marks()
        self._gone = zeros(4096)
        self._gone_size = 0

    def _keep(self, values: array[int], count: int) -> int:
        """Copies the first values into the pool; returns where they begin there."""
        first = self._pool_size
        before = self.pool  # goes when all is in place: see `Matcher._fill`
        if first + count > len(before):
            wider = grown(before, first)
            while first + count > len(wider):
                wider = grown(wider, first)
            self.pool = wider
        for index in range(count):
            self.pool[first + index] = values[index]
        self._pool_size = first + count
        self.bytes_used += 4 * count
        return first

    def _keep_entered(self, keeps: bool) -> None:
        """Whether walks from now on keep the states that they go into, in `_entered`."""
        self._keeps_entered = keeps
        if keeps:
            self._entered.clear()
            self._states_entered.begin()

    def _keep_state(self, state: int) -> None:
        """Keeps a state that a walk goes into."""
        if self._states_entered.meet(state, self._states_entered.round):
            self._entered.append(state)

    def _forget(self) -> None:
        """Forgets what the last walk found."""
        self._token_size = self._rest_size = self._exit_size = self._gone_size = self._largest = 0

    def _enter(self, depth: int, state: int) -> None:
        """Goes into a state at a depth of the trie; its transitions must be made."""
        automata = self.automata
        self._state_at[depth] = state
        self._map_at[depth] = automata.partitions.map_at.values[state] * 256
        self._targets_at[depth] = automata.partitions.targets_at.values[state]

    def _enter_other(self, depth: int, state: int) -> None:
        """The same for a second automaton that is walked beside the first."""
        automata = self.automata
        self._other_map_at[depth] = automata.partitions.map_at.values[state] * 256
        self._other_targets_at[depth] = automata.partitions.targets_at.values[state]

    def _walk(self, exits: RemainderNodes, start: int) -> None:
        """Walks what stands behind some exits, pruned by the automaton; fills `_tokens` and `_exits`.

        A hot loop, as those below: what is read at each node lies in local variables.
        """
        self._forget()
        self._walk_serial += 1
        # An exit behind another is found from both; kept twice, exits would grow exponentially from step to step.
        may_repeat = exits.last - exits.first > 1 or exits.trie.has_counts
        automata = self.automata
        trie = exits.trie
        self._begin_at(exits.first, exits.last)
        if automata.table.kind[start] == K_LITERAL:
            start = self._along(exits, start)
            if not self._place_count:
                return
        automata.expand(start)
        only = automata.only_byte.values[start]
        class_of, targets, pools = (
            automata.partitions.class_of,
            automata.partitions.target_pool,
            automata.partitions.pools,
        )
        map_at, targets_at = self._map_at, self._targets_at
        byte_of, end_of, depth_of, token_start, token_at = (
            trie.byte,
            trie.end,
            trie.depth,
            trie.token_start,
            trie.tokens,
        )
        state_at, open_at, behind, height = self._state_at, self._open_at, trie.behind, trie.height
        skippable_states = self.skippable_states
        tokens, size = self._tokens, self._token_size
        visited = 0
        for index in range(self._place_count):
            node = self._places[index]
            depth = 0
            stop = trie.size
            if node != ROOT_NODE:
                depth = depth_of[node]
                stop = end_of[node]
            elif only >= 0 and only != NO_BYTE:
                node = trie.first_node[only]
                stop = node
                if node >= 0:
                    stop = trie.end[node]
                    node -= 1
            node += 1
            self._enter(depth, start)
            state_at[depth] = NOT_ENTERED  # a start has no number yet
            while node < stop:
                depth = depth_of[node]
                at = targets_at[depth - 1] + class_of[map_at[depth - 1] + byte_of[node]]
                state = targets[at]
                visited += 1
                if state < 0:
                    state = automata.live_target(at)
                    targets = automata.partitions.target_pool
                end = end_of[node]
                if state == 0:
                    node = end
                    continue
                first = token_start[node]
                last = token_start[node + 1]
                if may_repeat:
                    if first < last:
                        self._add_meant(exits, node)
                else:
                    # Nearly always one or none. One is written in any case, which spares a branch that no processor
                    # can tell beforehand.
                    if size + last - first >= len(tokens):
                        self._token_size = size
                        self._grow_tokens(last - first + 1)
                        tokens = self._tokens
                    tokens[size] = token_at[first]
                    for at in range(first + 1, last):
                        tokens[size + at - first] = token_at[at]
                    size += last - first
                    if end == node + 1:
                        node = end
                        continue
                    number = open_at[depth - 1] if state == state_at[depth - 1] else skippable_states.known(state)
                    if number < 0 and end - node >= LARGE_SUBTREE:
                        number = skippable_states.find(state)
                        if automata.partitions.pools != pools:
                            class_of, targets, pools = (
                                automata.partitions.class_of,
                                automata.partitions.target_pool,
                                automata.partitions.pools,
                            )
                    open_at[depth] = number
                    if (
                        number >= 0
                        and skippable_states.holds(number, behind[node], height[node])
                        and not (self._keeps_entered and skippable_states.moves[number])
                    ):
                        first = last
                        last = token_start[end]
                        if size + last - first >= len(tokens):
                            self._token_size = size
                            self._grow_tokens(last - first + 1)
                            tokens = self._tokens
                        for at in range(first, last):
                            tokens[size + at - first] = token_at[at]
                        size += last - first
                        if self._keeps_entered:
                            self._keep_state(state)
                        node = end
                        continue
                if end == node + 1:
                    node = end
                    continue
                if automata.table.accepting[state] and trie.node_mark[node] != self._walk_serial:
                    if may_repeat:
                        trie.node_mark[node] = self._walk_serial
                    self._add_exit(node, 0)
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
                node += 1
        if not may_repeat:
            self._token_size = size
        self.nodes_visited += visited

    def _begin_at(self, first: int, last: int) -> None:
        """Begins a walk at nodes that stand in the pool."""
        while last - first > len(self._places):
            self._places = zeros(2 * len(self._places))
        for index in range(first, last):
            self._places[index - first] = self.pool[index]
        self._place_count = last - first

    def _along(self, exits: RemainderNodes, literal: int) -> int:
        """Goes from the places along a literal to its last byte, whatever else stands there; returns the state there.

        The states between are not made, for no text has gone there yet.
        """
        data = self.automata.table.payload[literal]
        trie = exits.trie
        stop = len(data) - 1
        for at in range(stop):
            byte = data[at]
            if at == 0 and self._place_count >= MANY_PLACES:
                self._step_from_all(exits, byte)
            else:
                self.nodes_visited += self._place_count
                kept = 0
                for index in range(self._place_count):
                    node = trie.child(self._places[index], byte)
                    if node >= 0:
                        self._places[kept] = node
                        kept += 1
                self._place_count = kept
            if not self._place_count:
                return literal
            for index in range(self._place_count):
                self._add_meant(exits, self._places[index])
        return self.automata.terms.literal(data[stop:], self.automata.table.tail[literal]) if stop else literal

    def _step_from_all(self, exits: RemainderNodes, byte: int) -> None:
        """Goes one byte on from the places of exits. Where they are many it is remembered: all keys begin alike."""
        found = exits.after_byte.get(byte)
        if found is None:
            self.nodes_visited += self._place_count
            nodes = [exits.trie.child(self._places[index], byte) for index in range(self._place_count)]
            reached = array("i", [node for node in nodes if node >= 0])
            first = self._keep(reached, len(reached))
            found = exits.after_byte[byte] = (first, first + len(reached))
        self._begin_at(found[0], found[1])

    def _grow_tokens(self, more: int) -> None:
        """Makes room for more tokens and their counts."""
        while self._token_size + more > len(self._tokens):
            self._tokens = grown(self._tokens, self._token_size)
            self._token_counts = grown(self._token_counts, self._token_size)

    def _add_meant(self, exits: RemainderNodes, node: int) -> None:
        """Adds the tokens at a node, those that the exits mean, each once."""
        trie = exits.trie
        for index in range(trie.token_start[node], trie.token_start[node + 1]):
            token = trie.tokens[index]
            if trie.has_counts:
                if not exits.min_count <= trie.token_count[index] <= exits.max_count:
                    continue
                if exits.removed is not None and token in exits.removed:
                    continue
            if self._token_mark[token] == self._walk_serial:
                continue
            self._token_mark[token] = self._walk_serial
            if self._token_size >= len(self._tokens):
                self._grow_tokens(1)
            self._tokens[self._token_size] = token
            self._token_size += 1

    def _add_tokens(self, node: int, count: int) -> None:
        trie = self.trie
        for index in range(trie.token_start[node], trie.token_start[node + 1]):
            if self._token_size >= len(self._tokens):
                self._grow_tokens(1)
            self._tokens[self._token_size] = trie.tokens[index]
            self._token_counts[self._token_size] = count
            self._token_size += 1

    def _add_rest(self, first: int, last: int, count: int) -> None:
        trie = self.trie
        for index in range(first, last):
            if self._rest_size >= len(self._rest):
                self._rest = grown(self._rest, self._rest_size)
                self._rest_counts = grown(self._rest_counts, self._rest_size)
            self._rest[self._rest_size] = trie.tokens[index]
            self._rest_counts[self._rest_size] = count
            self._rest_size += 1

    def _add_exit(self, node: int, count: int) -> None:
        if self._exit_size >= len(self._exits):
            self._exits = grown(self._exits, self._exit_size)
            self._exit_counts = grown(self._exit_counts, self._exit_size)
        self._exits[self._exit_size] = node
        self._exit_counts[self._exit_size] = count
        self._exit_size += 1

    def _append(self, tokens: array[int], first: int, last: int) -> None:
        for index in range(first, last):
            if self._token_size >= len(self._tokens):
                self._grow_tokens(1)
            self._tokens[self._token_size] = tokens[index]
            self._token_size += 1

    def _walk_both(self, state: int, like: int) -> bool:
        """Walks the vocabulary's trie where the two states differ; False when that is nearly everywhere.

        Fills `_tokens` and `_exits` with what only `state` has, `_rest` and `_gone` with the tokens inside, and those
        that run past an exit, that only `like` has.
        """
        self._forget()
        automata = self.automata
        trie = self.trie
        automata.derivatives.derive(state)
        automata.derivatives.derive(like)
        class_of, targets, pools = (
            automata.partitions.class_of,
            automata.partitions.target_pool,
            automata.partitions.pools,
        )
        map_at, targets_at = self._map_at, self._targets_at
        other_map_at, other_targets_at = self._other_map_at, self._other_targets_at
        byte_of, end_of, depth_of, size = trie.byte, trie.end, trie.depth, trie.size
        self._enter(0, state)
        self._enter_other(0, like)
        visited = 0
        node = 0
        while node < size:
            depth = depth_of[node]
            byte = byte_of[node]
            visited += 1
            at = targets_at[depth - 1] + class_of[map_at[depth - 1] + byte]
            other_at = other_targets_at[depth - 1] + class_of[other_map_at[depth - 1] + byte]
            mine, other = targets[at], targets[other_at]
            if mine < 0 or other < 0:
                mine, other = automata.live_target(at), automata.live_target(other_at)
                targets = automata.partitions.target_pool
            if mine == other:
                node = end_of[node]
                continue
            if visited > DIFFERENCE_NODES:
                self.nodes_visited += visited
                return False
            if mine == 0:
                self._add_rest(trie.token_start[node], trie.token_start[node + 1], 0)
            elif other == 0:
                self._add_tokens(node, 0)
            if end_of[node] > node + 1:
                if automata.table.accepting[mine] and not automata.table.accepting[other]:
                    self._add_exit(node, 0)
                elif automata.table.accepting[other] and not automata.table.accepting[mine]:
                    self._add_gone(node)
                automata.derivatives.derive(mine)
                automata.derivatives.derive(other)
                if automata.partitions.pools != pools:
                    class_of, targets, pools = (
                        automata.partitions.class_of,
                        automata.partitions.target_pool,
                        automata.partitions.pools,
                    )
                self._enter(depth, mine)
                self._enter_other(depth, other)
            node += 1
        self.nodes_visited += visited
        return True

    def _add_gone(self, node: int) -> None:
        """Adds all tokens that go on behind a node."""
        trie = self.trie
        for index in range(trie.token_start[node + 1], trie.token_start[trie.end[node]]):
            if self._gone_size >= len(self._gone):
                self._gone = grown(self._gone, self._gone_size)
            self._gone[self._gone_size] = trie.tokens[index]
            self._gone_size += 1
