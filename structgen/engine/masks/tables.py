"""What is kept about the tokens of one automaton state: plain data, made by `engine/terminal_masks.py`."""

from __future__ import annotations

from array import array

import numpy as np

from structgen.engine.arrays import grown, zeros
from structgen.engine.constants import MAX_ROUNDS
from structgen.engine.masks.character_kinds import Contents
from structgen.engine.vocabulary.token_trie import TokenTrie
from structgen.errors import VocabularyError

__all__ = [
    "ByCount",
    "ByteSet",
    "CountedTerminal",
    "DenseMask",
    "MaskScratch",
    "Marks",
    "RemainderNodes",
    "TerminalMask",
    "Trie",
]

# Declared as C integers in the .pxd, so not importable from here.
MAX_NODES = 2**23  # of a trie; their numbers share 32 bits with a byte
ALL_64_BITS = 2**64 - 1
NO_CONTENTS = array("Q", [0])


class Marks:
    """Which numbers were met in a round. A new round begins with none, at no cost.

    Attributes:
        round_of: int32, by number: the round in which it was last met.
        round: the number of the last round; the first is 1.
    """

    def __init__(self) -> None:
        self.round_of = zeros(1024)
        self.round = 0

    def begin(self) -> int:
        """Begins a round; returns its number."""
        if self.round == MAX_ROUNDS:
            self.round_of = zeros(len(self.round_of))
            self.round = 0
        self.round += 1
        return self.round

    def meet(self, number: int, of_round: int) -> bool:
        """Whether a number is met for the first time in a round. Nested rounds may forget what they have met."""
        while number >= len(self.round_of):
            self.round_of = grown(self.round_of, len(self.round_of))
        if self.round_of[number] == of_round:
            return False
        self.round_of[number] = of_round
        return True

    def has(self, number: int) -> bool:
        """Whether a number was met in the last round."""
        return number < len(self.round_of) and self.round_of[number] == self.round


class MaskScratch:
    """Scratch space for the mask of a set that is being made.

    Attributes:
        seen_states: states of the set whose tables were added.
        states_after: states of a later set whose tables were added.
        refused_tokens: tokens found that complete a refused text.
        suspects: tokens that must be checked one by one.
        removed: tokens of the mask's dense parts that do not belong to it.
    """

    def __init__(self) -> None:
        self.seen_states = Marks()
        self.states_after = Marks()
        self.refused_tokens = Marks()
        self.suspects: set[int] = set()
        self.removed: list[int] = []


class ByteSet:
    """A set of bytes, as four words of 64 bits."""

    def __init__(self, bits: int) -> None:
        self.first = bits & ALL_64_BITS
        self.second = bits >> 64 & ALL_64_BITS
        self.third = bits >> 128 & ALL_64_BITS
        self.fourth = bits >> 192 & ALL_64_BITS

    def meets(self, other: ByteSet) -> bool:
        """Whether some byte is in both."""
        common = self.first & other.first | self.second & other.second
        return (common | self.third & other.third | self.fourth & other.fourth) != 0

    def add(self, other: ByteSet) -> None:
        """Puts the bytes of another set into this one."""
        self.first |= other.first
        self.second |= other.second
        self.third |= other.third
        self.fourth |= other.fourth


class Trie:
    """The arrays of a `TokenTrie` for compiled loops.

    Attributes:
        byte, end, depth: int32 by node, in depth-first order; a node's subtree is `node .. end[node]`.
        token_start: int32[nodes + 1]; the tokens that end at a node are `tokens[token_start[n]:token_start[n + 1]]`.
        token_count: int32 by token, parallel to `tokens`: in a trie of remainders, how many characters of a counted
            class came before the remainder; in a vocabulary's, how many characters the token begins.
        first_node: int32[256], the top node of each byte, or -1.
        node_mark: int32 by node, the walk in which it was last found as an exit.
        kinds_below, characters, height: see `Contents`; of no use where it is a trie of remainders.
        children, first_child: int32 by node, the children of node n as `node << 8 | byte`, in the order of their bytes,
            at `children[first_child[n]:first_child[n + 1]]`; of no use where it is a trie of remainders, in which few
            are looked for.
        size: how many nodes.
        has_counts: whether it is a trie of remainders, with `token_count`.
        has_duplicates: whether a token stands in a trie of remainders twice, leaving the terminal at two places.
    """

    def __init__(self, trie: TokenTrie, token_count: array[int] | None = None) -> None:
        self.byte = trie.node_byte
        self.end = trie.node_end
        self.depth = trie.node_depth
        self.token_start = trie.token_start
        self.tokens = trie.tokens if len(trie.tokens) else zeros(1)
        self.first_node = trie.first_node
        self.size = len(trie.node_byte)
        self.max_depth = trie.max_depth
        self.node_mark = zeros(self.size + 1)
        self.has_counts = token_count is not None
        self.has_duplicates = self.has_counts and len(set(trie.tokens)) < len(trie.tokens)
        self.token_count = zeros(len(self.tokens)) if token_count is None else token_count
        self.kinds_below = NO_CONTENTS
        self.characters = self.height = zeros(1)
        if token_count is None:
            contents = Contents(trie)
            self.kinds_below, self.characters, self.height = contents.kinds_below, contents.characters, contents.height
        self.first_child = self.children = zeros(1)
        if token_count is None:
            self._count_characters()
            self._index_children()

    def _count_characters(self) -> None:
        for node in range(self.size):
            for index in range(self.token_start[node], self.token_start[node + 1]):
                self.token_count[index] = self.characters[node]

    def _index_children(self) -> None:
        if self.size > MAX_NODES:
            raise VocabularyError(f"{self.size} trie nodes are more than {MAX_NODES}")
        path = zeros(self.max_depth + 1)
        first_child = self.first_child = zeros(self.size + 2)
        children = self.children = zeros(self.size + 1)
        for node in range(self.size):
            depth = self.depth[node]
            path[depth] = node
            if depth > 1:
                first_child[path[depth - 1] + 2] += 1
        for node in range(self.size):
            first_child[node + 2] += first_child[node + 1]
        for node in range(self.size):
            depth = self.depth[node]
            path[depth] = node
            if depth > 1:
                parent = path[depth - 1]
                children[first_child[parent + 1]] = node << 8 | self.byte[node]
                first_child[parent + 1] += 1

    def child(self, node: int, byte: int) -> int:
        """The node of one more byte, or -1; `node` -1 is the root."""
        if node < 0:
            return self.first_node[byte]
        if not self.has_counts:
            for index in range(self.first_child[node], self.first_child[node + 1]):
                entry = self.children[index]
                if entry & 255 >= byte:
                    return entry >> 8 if entry & 255 == byte else -1
            return -1
        child = node + 1
        while child < self.end[node]:
            if self.byte[child] == byte:
                return child
            child = self.end[child]
        return -1


class RemainderNodes:
    """Where a terminal may end within a token: places in a trie, behind which what is left of the tokens stands.

    Attributes:
        trie: the vocabulary's, or one of remainders.
        first, last: where the places stand in `TerminalMasks.pool`, nodes of the trie; -1 is the root.
        min_count, max_count: in a trie of remainders, which tokens are meant, by their `token_count`.
        removed: tokens that are not meant, or None.
        after_byte: where the nodes that one more byte leads to stand in `TerminalMasks.pool`, by byte, as asked for.
        number: a number for `TerminalMasks.behind`; 0 until that is asked for.
        bytes: the bytes that some of what is left begins with; None until that is asked for.
        ended: None; or the tables of tokens of which nothing is left, which stand here to see whether anything may
            follow them.
    """

    def __init__(
        self, trie: Trie, first: int, last: int, min_count: int, max_count: int, removed: frozenset[int] | None
    ) -> None:
        self.trie = trie
        self.first = first
        self.last = last
        self.min_count = min_count
        self.max_count = max_count
        self.removed = removed
        self.after_byte: dict[int, tuple[int, int]] = {}
        self.number = 0
        self.bytes: ByteSet | None = None
        self.ended: TerminalMask | None = None

    def means(self, index: int) -> bool:
        """Return whether the token at an index of `trie.tokens`, a trie of remainders, is meant."""
        if not self.min_count <= self.trie.token_count[index] <= self.max_count:
            return False
        return self.removed is None or self.trie.tokens[index] not in self.removed


class DenseMask:
    """A mask of very many tokens, shared by tables.

    Attributes:
        words: uint32[words].
    """

    def __init__(self, words: np.ndarray) -> None:
        self.words = words


class TerminalMask:
    """The tokens of one automaton state. Immutable once made. Numbers only, for there are many: Python's garbage
    collector does not go through such objects.

    Attributes:
        dense: number in `TerminalMasks.dense` of a mask of tokens inside; -1 for none.
        first_removed, last_removed: where the tokens of `dense` that are not meant stand in `TerminalMasks.pool`.
        first_token, last_token: where the tokens inside that `dense` does not have stand there.
        first_remainders, last_remainders: where the terminal may end within a token, in `TerminalMasks.exits`.
        round: the last mask that its tokens were added to, by number.
    """

    def __init__(self) -> None:
        self.round = 0
        self.dense = -1
        self.first_removed = self.last_removed = 0
        self.first_token = self.last_token = 0
        self.first_remainders = self.last_remainders = 0

    def shares_dense(self, other: TerminalMask) -> bool:
        """Whether both mean the same tokens of the same mask."""
        removed = self.last_removed - self.first_removed
        if self.dense != other.dense or removed != other.last_removed - other.first_removed:
            return False
        return removed == 0 or self.first_removed == other.first_removed


class ByCount:
    """Tokens by a count, the same for many states: those that differ in what follows a string, say.

    Attributes:
        first, size: where the tokens stand in `TerminalMasks.pool`, sorted by count, and how many they are.
        starts, width: where it stands there, by count from 0 to one more than the largest, how many tokens have a
            smaller count; and how many counts these are.
    """

    def __init__(self) -> None:
        self.first = self.size = 0
        self.starts = self.width = 0


class CountedTerminal:
    """The tokens of a state `C{m,n} R` by how many `C` they begin, for all m and n.

    Attributes:
        state, rest_state: the states of C and R; -1 for the second where the first is one without its bound.
        largest: the largest count that occurs.
        absorbs: whether R goes on with any number of C, so that a greatest count n says nothing.
        inside_mask: number in `TerminalMasks.dense` of a mask of the tokens that stay among the `C`; -1 where they are
            few.
        inside: these by count, or None until a count matters. Where there is a mask, there may be others among them.
        rest: tokens that go on into `R`.
        exit_nodes, exit_counts: where it stands in `TerminalMasks.pool` at which nodes of the vocabulary's trie the
            terminal may end within a token, and after how many characters.
        exit_count: how many these are.
        remainders: what is left after the exits as one trie, or None.
        largest_exit: the largest count at an exit.
        masks: the tables made so far, by (m, n) capped at `largest`.
        exits: those made so far, as `TerminalMask` has them, by (m, n) capped at `largest_exit`.
    """

    def __init__(self, state: int, rest_state: int, largest: int, rest: ByCount) -> None:
        self.state = state
        self.rest_state = rest_state
        self.largest = largest
        self.inside_mask = -1
        self.inside: ByCount | None = None
        self.rest = rest
        self.absorbs = False
        self.largest_exit = 0
        self.remainders: dict[tuple[int, int], tuple[int, int]] = {}
        self.exit_nodes = self.exit_counts = self.exit_count = 0
        self.remainder_trie: Trie | None = None
        self.masks: dict[tuple[int, int], TerminalMask] = {}
