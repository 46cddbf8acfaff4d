"""Plain data that masks are made of: tries as arrays, tables of automaton states, remainders, and scratch space."""

from __future__ import annotations

from array import array

import numpy as np

from structgen.engine.arrays import grown, zeros
from structgen.engine.constants import MAX_ROUNDS
from structgen.engine.masks.character_kinds import TrieCharacters, kind_of
from structgen.engine.masks.token_lists import TokenList
from structgen.engine.pair_table import PairTable
from structgen.engine.vocabulary.token_trie import TokenTrie
from structgen.errors import VocabularyError

__all__ = [
    "LOW_20_BITS",
    "LOW_32_BITS",
    "ByCount",
    "ByteSet",
    "CountedTerminal",
    "DenseMask",
    "Marks",
    "MaskScratch",
    "RemainderNodes",
    "TerminalMask",
    "Trie",
]

# Declared as C integers in the .pxd, so not importable from here.
MAX_SEARCHED = 8  # children of a node that are looked at one after the other
MAX_NODES = 2**23  # of a trie; a node's number shares 32 bits with a byte
MAX_TOKEN_BYTES = 2**20 - 1  # so that the length has room in a record of a node
ALL_64_BITS = 2**64 - 1
LOW_32_BITS, LOW_20_BITS = 0xFFFFFFFF, 0xFFFFF  # parts of the words of `Trie.child_records`
NO_KINDS = array("Q", [0])


class Marks:
    """The set of numbers met in a round. A new round begins with none, at no cost.

    Attributes:
        round_of: int32 by number, the round in which it was last met.
        round: the number of the last round; the first is 1.
    """

    def __init__(self) -> None:
        self.round_of = zeros(1024)
        self.round = 0

    def begin(self) -> int:
        """Begin a round; return its number."""
        if self.round == MAX_ROUNDS:
            self.round_of = zeros(len(self.round_of))
            self.round = 0
        self.round += 1
        return self.round

    def meet(self, number: int, of_round: int) -> bool:
        """Return whether a number is met for the first time in a round; a nested round may forget what was met."""
        while number >= len(self.round_of):
            self.round_of = grown(self.round_of, len(self.round_of))
        if self.round_of[number] == of_round:
            return False
        self.round_of[number] = of_round
        return True

    def has(self, number: int) -> bool:
        """Return whether a number was met in the last round."""
        return number < len(self.round_of) and self.round_of[number] == self.round


class MaskScratch:
    """Scratch space for the mask of a set that is being made.

    Args:
        depth: the number of nodes of the longest path in the vocabulary's trie, the root included.

    Attributes:
        found: tokens of the mask.
        ranges: pairs (first, last): more tokens, as ranges of the pool of the tables.
        sets_on_path: int32 by depth; the set that a walk over a trie reached.
        seen_states: states of the set whose tables were added.
        states_after: states of a later set whose tables were added.
        refused_tokens: tokens found that complete a refused text.
        suspects: tokens that must be checked one by one.
        removed: tokens of the mask's dense parts that do not belong to it.
    """

    def __init__(self, depth: int) -> None:
        self.found = TokenList(256)
        self.ranges = TokenList(64)
        self.sets_on_path = zeros(depth)
        self.seen_states = Marks()
        self.states_after = Marks()
        self.refused_tokens = Marks()
        self.suspects: set[int] = set()
        self.removed: list[int] = []


class ByteSet:
    """A set of bytes, as four words of 64 bits.

    Args:
        bits: a bit for each byte of the set.
    """

    def __init__(self, bits: int) -> None:
        self.first = bits & ALL_64_BITS
        self.second = bits >> 64 & ALL_64_BITS
        self.third = bits >> 128 & ALL_64_BITS
        self.fourth = bits >> 192 & ALL_64_BITS

    def meets(self, other: ByteSet) -> bool:
        """Return whether some byte is in both sets."""
        common = self.first & other.first | self.second & other.second
        return (common | self.third & other.third | self.fourth & other.fourth) != 0

    def add(self, other: ByteSet) -> None:
        """Add the bytes of another set."""
        self.first |= other.first
        self.second |= other.second
        self.third |= other.third
        self.fourth |= other.fourth


class Trie:
    """The arrays of a `TokenTrie` for compiled loops.

    It is a vocabulary's trie, or a trie of remainders, in which a token is spelled by what is left of it.

    Args:
        trie: the trie.
        token_count: in a trie of remainders, `token_count` below; None for a vocabulary's trie.

    Attributes:
        byte, end, depth: int32 by node, in depth-first order; a node's subtree is `node .. end[node] - 1`.
        token_start: int32[nodes + 1]; the tokens that end at node n are `tokens[token_start[n]:token_start[n + 1]]`.
        tokens: int32, the tokens in the order of the nodes.
        token_count: int32, parallel to `tokens`: in a trie of remainders, the number of characters of a counted class
            before the remainder; in a vocabulary's, the number of characters that the token begins.
        first_node: int32[256], the top node of each byte, or -1.
        node_mark: int32 by node, the walk in which it was last found as an exit.
        kinds_below, kinds_with, characters, height, most_below, inner, first_inner: see `TrieCharacters`; unused in a
            trie of remainders.
        children, first_child: int32, the children of node n as `node << 8 | byte`, in the order of their bytes, are
            `children[first_child[n]:first_child[n + 1]]`; those of node `size` are the top nodes. Unused in a trie of
            remainders, where few are looked for.
        child_records: uint64[3 * (nodes + 1)], parallel to `children`: all that a walk asks about a child, side by side
            in memory. The subtrees of children lie one after another, so the tokens of one end where those of the next
            begin. In the three words are

            - the child's entry in `children`, and in the lower 32 bits its `token_start`;
            - its `first_child` (24 bits), its `height` (20 bits), and the largest number of characters of a token at or
              below it (20 bits);
            - kinds of characters: `kinds_below`, or `kinds_with` if it begins a character of several bytes.
        kinds_of_byte: uint64[256], with the third word they are `kinds_with` of a child. A continuation byte begins no
            character, so it has all kinds.
        kinds_within: uint64[256], with the third word they are `kinds_below`, or too many kinds.
        by_byte, parent_of: int32, parallel: all nodes but the top ones, sorted by their bytes and then by number, and
            the parent of each; unused in a trie of remainders.
        kinds_by_byte: uint64, parallel to `by_byte`: `kinds_below` of each node, or `kinds_with` if it begins a
            character of several bytes.
        first_of_byte: int32[257], the nodes of byte b are `by_byte[first_of_byte[b]:first_of_byte[b + 1]]`.
        records: int32[4 * (nodes + 1)], for each node `depth << 8 | byte`, `end`, `token_start` and `height`. A walk
            finds all of them in one line of the processor's cache.
        size: the number of nodes.
        max_depth: the number of bytes of the longest text.
        has_counts: whether it is a trie of remainders.
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
        self._has_duplicates: bool | None = None
        self.token_count = zeros(len(self.tokens)) if token_count is None else token_count
        self.kinds_below = self.kinds_with = NO_KINDS
        self.characters = self.height = self.most_below = self.inner = self.first_inner = zeros(1)
        if token_count is None:
            below = TrieCharacters(trie)
            self.kinds_below, self.characters, self.height = below.kinds_below, below.characters, below.height
            self.kinds_with, self.most_below = below.kinds_with, below.most_below
            self.inner, self.first_inner = below.inner, below.first_inner
        self.records = zeros(4 * self.size + 4)
        self._write_records()
        self.first_child = self.children = self.by_byte = self.parent_of = self.first_of_byte = zeros(1)
        self.child_records = self.kinds_of_byte = self.kinds_within = self.kinds_by_byte = NO_KINDS
        if token_count is None:
            self._count_characters()
            self._index_children()
            self._write_child_records()
            self._sort_by_byte()

    def _write_records(self) -> None:
        records = self.records
        for node in range(self.size):
            records[4 * node] = self.depth[node] << 8 | self.byte[node]
            records[4 * node + 1] = self.end[node]
            records[4 * node + 2] = self.token_start[node]
            records[4 * node + 3] = 0 if self.has_counts else self.height[node]
        records[4 * self.size + 2] = self.token_start[self.size]

    def _count_characters(self) -> None:
        for node in range(self.size):
            for index in range(self.token_start[node], self.token_start[node + 1]):
                self.token_count[index] = self.characters[node]

    def _index_children(self) -> None:
        if self.size > MAX_NODES:
            raise VocabularyError(f"the vocabulary's trie has {self.size} nodes; at most {MAX_NODES} are supported")
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
        at = first_child[self.size]
        for byte in range(256):
            if self.first_node[byte] >= 0:
                children[at] = self.first_node[byte] << 8 | byte
                at += 1
        first_child[self.size + 1] = at

    def _write_child_records(self) -> None:
        if self.max_depth > MAX_TOKEN_BYTES:
            raise VocabularyError(f"a token has {self.max_depth} bytes; at most {MAX_TOKEN_BYTES} are supported")
        own = [kind_of(byte) if byte < 0x80 else ALL_64_BITS if byte < 0xC0 else 0 for byte in range(256)]
        self.kinds_of_byte = array("Q", own)
        broken = kind_of(0xFF)
        self.kinds_within = array("Q", [0 if byte < 0xC0 else broken for byte in range(256)])
        records = self.child_records = array("Q", bytes(24 * (self.size + 1)))
        for at in range(self.size):
            entry = self.children[at]
            node = entry >> 8
            records[3 * at] = entry << 32 | self.token_start[node]
            entry = self.first_child[node]
            most = max(self.characters[node], self.most_below[node])
            records[3 * at + 1] = entry << 40 | self.height[node] << 20 | most
            is_lead = self.byte[node] >= 0xC0
            records[3 * at + 2] = self.kinds_with[node] if is_lead else self.kinds_below[node]

    def _sort_by_byte(self) -> None:
        first_of_byte = self.first_of_byte = zeros(258)
        by_byte, parent_of = zeros(self.size + 1), zeros(self.size + 1)
        self.by_byte, self.parent_of = by_byte, parent_of
        kinds_by_byte = self.kinds_by_byte = array("Q", bytes(8 * (self.size + 1)))
        for node in range(self.size):
            if self.depth[node] > 1:
                first_of_byte[self.byte[node] + 2] += 1
        for byte in range(256):
            first_of_byte[byte + 2] += first_of_byte[byte + 1]
        path = zeros(self.max_depth + 1)
        for node in range(self.size):
            depth = self.depth[node]
            path[depth] = node
            if depth > 1:
                at = first_of_byte[self.byte[node] + 1]
                by_byte[at] = node
                parent_of[at] = path[depth - 1]
                is_lead = self.byte[node] >= 0xC0
                kinds_by_byte[at] = self.kinds_with[node] if is_lead else self.kinds_below[node]
                first_of_byte[self.byte[node] + 1] = at + 1

    def has_duplicates(self) -> bool:
        """Return whether some token is in a trie of remainders twice, as it may leave the terminal at two exits."""
        if self._has_duplicates is None:
            self._has_duplicates = len(set(self.tokens)) < len(self.tokens)
        return self._has_duplicates

    def has_token(self, data: bytes, token: int) -> bool:
        """Return whether some bytes are those of a token."""
        node = -1  # the root
        for index in range(len(data)):
            node = self.child(node, data[index])
            if node < 0:
                return False
        for index in range(self.token_start[node], self.token_start[node + 1]):  # noqa: SIM110  (no generator here)
            if self.tokens[index] == token:
                return True
        return False

    def child(self, node: int, byte: int) -> int:
        """Return the child of a node by a byte, or -1; `node` -1 is the root."""
        if node < 0:
            return self.first_node[byte]
        if not self.has_counts:
            low, high = self.first_child[node], self.first_child[node + 1]
            while high - low > MAX_SEARCHED:
                middle = (low + high) >> 1
                if self.children[middle] & 255 <= byte:
                    low = middle
                else:
                    high = middle
            for index in range(low, high):
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
    """The remainders of tokens within which a terminal ended: all texts below some nodes of a trie.

    With the tokens `"`, `",` and `"}` a JSON string may end at the node of `"`; what is left below it is `,` and `}`.

    Attributes:
        trie: the vocabulary's trie, or one of remainders.
        first, last: the nodes, as a range of `TableStore.pool`, the smallest first; node -1 is the root.
        min_count, max_count: in a trie of remainders, the smallest and the largest `token_count` of its tokens.
        removed: in a trie of remainders, further tokens that do not belong to it, or None.
        first_entry, last_entry: a range of `TableStore.pool` with pairs (byte, first): what is left begins with these
            bytes, and `pool[first]` is the first node that the byte leads to. The last one is before the first of the
            next pair, and a pair after the range ends the last list. (0, 0) until it is needed; see `next_bytes.py`.
        is_node: None; or, where the nodes are very many, uint64 with one bit for each node of the trie: is it one of
            them? The entries have bytes only then.
        number: a number of its own; 0 until it is needed.
        tables: by the state that comes next, the index of the table that `TerminalMasks.after` returns; None until it
            is needed. One array for all remainders would spread over more memory than caches hold.
        bytes: the bytes that some of what is left begins with; None until they are needed.
        ended: None; or a table. Then these are no nodes, but the tokens of the table, of which nothing is left. They
            are followed where a look-ahead holds, as it may be that nothing can come next.
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
        self.first_entry = self.last_entry = 0
        self.is_node: array[int] | None = None
        self.number = 0
        self.tables: PairTable | None = None
        self.bytes: ByteSet | None = None
        self.ended: TerminalMask | None = None

    def has_token(self, index: int) -> bool:
        """Return whether the token at an index of `trie.tokens`, a trie of remainders, belongs to these remainders."""
        if not self.min_count <= self.trie.token_count[index] <= self.max_count:
            return False
        return self.removed is None or self.trie.tokens[index] not in self.removed


class DenseMask:
    """A mask of very many tokens, shared by tables.

    Attributes:
        words: uint32[words], token t is bit t % 32 of word t // 32.
    """

    def __init__(self, words: np.ndarray) -> None:
        self.words = words


class TerminalMask:
    """The tokens of one automaton state. Immutable once made.

    It has numbers only: there are many tables, and Python's garbage collector does not go through such objects.

    Attributes:
        dense: the index in `TableStore.dense` of a mask of tokens inside; -1 for none.
        first_removed, last_removed: tokens of `dense` that do not belong to it, as a range of `TableStore.pool`.
        first_token, last_token: tokens inside that `dense` does not have, as a range of `TableStore.pool`. A token may
            be there twice.
        first_remainders, last_remainders: what is left of other tokens, as a range of `TableStore.remainders`.
        round: the number (`TableStore.new_round`) of the last mask to which its tokens were added.
    """

    def __init__(self) -> None:
        self.round = 0
        self.dense = -1
        self.first_removed = self.last_removed = 0
        self.first_token = self.last_token = 0
        self.first_remainders = self.last_remainders = 0

    def shares_dense(self, other: TerminalMask) -> bool:
        """Return whether both tables have the same dense mask, with the same tokens removed."""
        removed = self.last_removed - self.first_removed
        if self.dense != other.dense or removed != other.last_removed - other.first_removed:
            return False
        return removed == 0 or self.first_removed == other.first_removed


class ByCount:
    """Tokens sorted by a count. Many states share them, such as strings that differ in what follows them.

    Attributes:
        first, size: the tokens are `TableStore.pool[first:first + size]`.
        starts, width: `pool[starts + n]` tokens have a smaller count than n, for n from 0 to `width - 1`, which is one
            more than the largest count.
    """

    def __init__(self) -> None:
        self.first = self.size = 0
        self.starts = self.width = 0


class CountedTerminal:
    """The tokens of a state `C{m,n} R` by how many `C` they begin, for all m and n.

    Attributes:
        state, rest_state: the states of C and R; or a state without its bound, and NO_REST.
        largest: the largest count that occurs.
        absorbs: whether R may begin with any number of C, so that an upper bound n has no effect.
        inside_mask: the index in `TableStore.dense` of a mask of the tokens that stay among the `C`; -1 if they are
            few.
        inside: these tokens by count; None until a count matters. With `others`, it is the order of all tokens of the
            vocabulary by their numbers of characters, which many indices share.
        others: None; or the tokens inside whose count is not their number of characters, by their count. An escaped
            character is one C of several characters, say, or a token must be followed by one more C.
        mask_in_order: the index in `TableStore.dense` of `inside_mask` without the others; -1 until it is needed.
        rest: tokens that go on into `R`, by count.
        exit_nodes: the nodes of the vocabulary's trie at which the terminal may end within a token are
            `TableStore.pool[exit_nodes:exit_nodes + exit_count]`.
        exit_counts: their counts, in the same way.
        exit_count: the number of these nodes.
        remainder_trie: what is left after these nodes as one trie, or None.
        largest_exit: the largest count of these nodes.
        masks: the tables made so far, by (m, n) capped at `largest`.
        remainders: those made so far, as ranges of `TableStore.remainders`, by (m, n) capped at `largest_exit`.
    """

    def __init__(self, state: int, rest_state: int, largest: int, rest: ByCount) -> None:
        self.state = state
        self.rest_state = rest_state
        self.largest = largest
        self.inside_mask = -1
        self.inside: ByCount | None = None
        self.others: ByCount | None = None
        self.mask_in_order = -1
        self.rest = rest
        self.absorbs = False
        self.largest_exit = 0
        self.remainders: dict[tuple[int, int], tuple[int, int]] = {}
        self.exit_nodes = self.exit_counts = self.exit_count = 0
        self.remainder_trie: Trie | None = None
        self.masks: dict[tuple[int, int], TerminalMask] = {}
