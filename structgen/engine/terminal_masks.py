"""Which tokens stay inside a terminal, and what is left of those that run past its end.

For a state of a terminal's automaton and a vocabulary this module computes, once for all grammars that share the
automata (the state is the terminal's residual language, so equal residues share their tables):

- `inside`: the tokens that the terminal's automaton reads to their last byte;
- `exits`: the nodes of the vocabulary's trie at which the terminal may end within a token. What follows is decided
  by the grammar: see `engine/masks.py`. Where there are many exits and little behind them, as at the end of a JSON
  string, what is left of the tokens is merged into a trie of its own (`suffixes`).

A state `C{m,n} R` (a counted class and what follows it, such as a string's characters and its closing quote) has no
tables of its own for each count: tokens are indexed by how many `C` they begin, and a table for a count is read off.

A state with several conditions (a key that is none of the named ones, say) is kept as its difference from the tables of a state like
it, found by walking both automata side by side and turning back wherever they come together.
"""

from __future__ import annotations

from array import array

import numpy as np

from structgen.engine.arrays import grown, head, zeros
from structgen.engine.automata import AutomatonStore
from structgen.engine.term_kinds import NO_BYTE
from structgen.engine.token_trie import TokenTrie
from structgen.engine.vocabulary import Vocabulary

__all__ = ["CountedTerminal", "TerminalMask", "TerminalMasks", "Trie"]

# Declared as C integers in the .pxd, so not importable from here.
UNKNOWN = -1
# A list of token ids this long costs as much to write into a mask as copying a finished one.
SPARSE_TOKENS = 512
# Past this many nodes behind the exits, merging what is left of the tokens costs more than it saves.
MERGED_NODES = 6000
MERGED_EXITS = 48
# So many nodes are visited in search of the difference from another state's tables, before giving that up.
DIFFERENCE_NODES = 80_000
FAMILY_SIZE = 4


class Trie:
    """The arrays of a `TokenTrie` for compiled loops.

    Attributes:
        byte, end, depth: int32 by node, in depth-first order; a node's subtree is `node .. end[node]`.
        token_start: int32[nodes + 1]; the tokens that end at a node are `tokens[token_start[n]:token_start[n + 1]]`.
        token_count: int32 by token, parallel to `tokens`: how many characters of a counted class came before the
            remainder that the trie holds (0 in a vocabulary's trie).
        first_node: int32[256], the top node of each byte, or -1.
        size: how many nodes.
        has_duplicates: whether a token stands in a trie of remainders twice, as it may leave the terminal at two places.
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
        self.has_counts = token_count is not None
        self.has_duplicates = self.has_counts and len(set(trie.tokens)) < len(trie.tokens)
        self.token_count = zeros(1) if token_count is None else token_count


class TerminalMask:
    """The tables of one automaton state. Immutable once made.

    Attributes:
        dense: uint32[words], a mask of tokens inside, shared with other tables; or None.
        removed: int32, tokens of `dense` that are not meant.
        tokens: int32, tokens inside that `dense` does not have.
        exits: int32, nodes of the vocabulary's trie at which the terminal may end with something left of a token.
        suffixes: what is left after further exits, as one trie; or None.
        min_count, max_count: which tokens of `suffixes` are meant, by their `token_count`.
        removed_exits: int32, tokens of `suffixes` that are not meant.
    """

    def __init__(self) -> None:
        self.dense = None
        self.has_dense = False
        self.removed = zeros(0)
        self.tokens = zeros(0)
        self.exits = zeros(0)
        self.suffixes = None
        self.removed_exits = zeros(0)
        self.min_count = 0
        self.max_count = 0


class CountedTerminal:
    """The tokens of a state `C{m,n} R` by how many `C` they begin, for all m and n.

    Attributes:
        largest: the largest count that occurs.
        class_tokens, class_counts: int32, tokens that stay among the `C`, sorted by count.
        rest_tokens, rest_counts: int32, tokens that go on into `R`, sorted by count.
        exit_nodes, exit_counts: int32, where the terminal may end within a token.
        suffixes: what is left after the exits as one trie, or None.
        masks: the tables made so far, by (m, n) capped at `largest`.
    """

    def __init__(self) -> None:
        self.masks: dict[tuple[int, int], TerminalMask] = {}
        self.suffixes = None


class TerminalMasks:
    """The tables of all automaton states of one store, for one vocabulary.

    Attributes:
        automata: the store.
        trie: the vocabulary's trie.
        words: uint32 words of a mask.
        bytes_used: memory in masks and lists, about.
        nodes_visited: trie nodes visited so far (a work counter for benchmarks).
    """

    def __init__(self, vocabulary: Vocabulary, automata: AutomatonStore) -> None:
        self.vocabulary = vocabulary
        self.automata = automata
        self.trie = Trie(vocabulary.trie)
        self.words = (vocabulary.size + 31) // 32
        self.bytes_used = 0
        self.nodes_visited = 0
        self._record_of = zeros(1024, UNKNOWN)
        self._records: list[TerminalMask] = []
        self._counted: dict[tuple[int, int], CountedTerminal | None] = {}
        depth = self.trie.max_depth + 2
        self._state_at = zeros(depth)
        self._phase_at = zeros(depth)
        self._count_at = zeros(depth)
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
        self._gone = zeros(4096)
        self._gone_size = 0
        self._families: dict[int, list[int]] = {}

    def get(self, state: int) -> TerminalMask:
        """The tables of a state, made when first asked for."""
        if state < len(self._record_of):
            record = self._record_of[state]
            if record >= 0:
                return self._records[record]
        else:
            while state >= len(self._record_of):
                self._record_of = grown(self._record_of, len(self._record_of), UNKNOWN)
        made = self._make(state)
        self._record_of[state] = len(self._records)
        self._records.append(made)
        return made

    def _make(self, state: int) -> TerminalMask:
        parts = self.automata.as_counted(state)
        if parts is not None:
            char_state, least, most, rest_state = parts
            key = (char_state, rest_state)
            if key not in self._counted:
                self._counted[key] = self._make_counted(char_state, rest_state)
            counted = self._counted[key]
            if counted is not None:
                return self._of_count(counted, least, most)
        varied = self.automata.as_variation(state)
        if varied:
            family = self._families.setdefault(varied, [])
            for like in [varied, *family]:
                made = self._difference(state, like) if self._resembles(state, like) else None
                if made is not None:
                    return made
            if len(family) < FAMILY_SIZE:
                family.append(state)
        self._walk(state)
        exits = head(self._exits, self._exit_size)
        return self._record(head(self._tokens, self._token_size), exits, self._merge(exits, None), 0, 0)

    def _record(
        self, tokens: array[int], exits: array[int], suffixes: Trie | None, least: int, most: int
    ) -> TerminalMask:
        made = TerminalMask()
        if len(tokens) > SPARSE_TOKENS:
            made.dense = self._dense(tokens)
            made.has_dense = True
            self.bytes_used += 4 * self.words
        else:
            made.tokens = tokens
            self.bytes_used += 4 * len(tokens)
        if suffixes is None:
            made.exits = exits
            self.bytes_used += 4 * len(exits)
        made.suffixes = suffixes
        made.min_count = least
        made.max_count = most
        self.bytes_used += 200
        return made

    def _dense(self, tokens: array[int]) -> np.ndarray:
        mask = np.zeros(self.words, dtype=np.uint32)
        words = mask
        one = 1
        for index in range(len(tokens)):
            token = tokens[index]
            words[token >> 5] |= one << (token & 31)
        return mask

    # -- a plain state ----------------------------------------------------------------------------------------------

    def _walk(self, start: int) -> None:
        """Walks the vocabulary's trie, pruned by the automaton; fills `_tokens` and `_exits`."""
        self._token_size = 0
        self._exit_size = 0
        automata = self.automata
        trie = self.trie
        automata.expand(start)
        only = automata.only_byte[start]
        if only == NO_BYTE:
            return
        node = 0
        stop = trie.size
        if only >= 0:
            node = trie.first_node[only]
            if node < 0:
                return
            stop = trie.end[node]
        states = self._state_at
        states[0] = start
        while node < stop:
            depth = trie.depth[node]
            state = automata.next(states[depth - 1], trie.byte[node])
            self.nodes_visited += 1
            if state == 0:
                node = trie.end[node]
                continue
            if trie.token_start[node + 1] > trie.token_start[node]:
                self._add_tokens(node, 0)
            if trie.end[node] == node + 1:
                node += 1
                continue
            if automata.accepting[state]:
                self._add_exit(node, 0)
            automata.expand(state)
            if automata.only_byte[state] == NO_BYTE:
                node = trie.end[node]
                continue
            states[depth] = state
            node += 1

    def _add_tokens(self, node: int, count: int) -> None:
        trie = self.trie
        for index in range(trie.token_start[node], trie.token_start[node + 1]):
            if self._token_size >= len(self._tokens):
                self._tokens = grown(self._tokens, self._token_size)
                self._token_counts = grown(self._token_counts, self._token_size)
            self._tokens[self._token_size] = trie.tokens[index]
            self._token_counts[self._token_size] = count
            self._token_size += 1

    def _add_rest(self, node: int, count: int) -> None:
        trie = self.trie
        for index in range(trie.token_start[node], trie.token_start[node + 1]):
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

    # -- a state like another ---------------------------------------------------------------------------------------

    def _resembles(self, state: int, like: int) -> bool:
        """Whether the two states become one after the first byte of most of the vocabulary's tokens."""
        automata = self.automata
        trie = self.trie
        same = 0
        different = 0
        for byte in range(256):
            node = trie.first_node[byte]
            if node >= 0:
                mine = automata.next(state, byte)
                if mine != automata.next(like, byte):
                    different += trie.end[node] - node
                elif mine:
                    same += trie.end[node] - node
        return same > different

    def _difference(self, state: int, like: int) -> TerminalMask | None:
        """The tables of `state` as their difference from those of `like`; None where that does not pay."""
        base = self.get(like)
        if not base.has_dense or len(base.removed) or len(base.tokens) or len(base.exits):
            return None
        if base.suffixes is not None and base.suffixes.has_duplicates:
            return None
        if not self._walk_both(state, like):
            return None
        made = TerminalMask()
        made.dense = base.dense
        made.has_dense = True
        made.removed = head(self._rest, self._rest_size)
        made.tokens = head(self._tokens, self._token_size)
        made.exits = head(self._exits, self._exit_size)
        made.suffixes = base.suffixes
        made.min_count = base.min_count
        made.max_count = base.max_count
        made.removed_exits = head(self._gone, self._gone_size)
        self.bytes_used += 4 * (self._rest_size + self._token_size + self._exit_size + self._gone_size) + 400
        return made

    def _walk_both(self, state: int, like: int) -> bool:
        """Walks the vocabulary's trie where the two states differ; False when that is nearly everywhere.

        Fills `_tokens` and `_exits` with what only `state` has, `_rest` and `_gone` with the tokens inside, and those
        that run past an exit, that only `like` has.
        """
        self._token_size = 0
        self._rest_size = 0
        self._exit_size = 0
        self._gone_size = 0
        automata = self.automata
        trie = self.trie
        states = self._state_at
        others = self._phase_at
        states[0] = state
        others[0] = like
        visited = 0
        node = 0
        while node < trie.size:
            depth = trie.depth[node]
            byte = trie.byte[node]
            visited += 1
            mine = automata.next(states[depth - 1], byte)
            other = automata.next(others[depth - 1], byte)
            if mine == other:
                node = trie.end[node]
                continue
            if visited > DIFFERENCE_NODES:
                self.nodes_visited += visited
                return False
            if mine == 0:
                self._add_rest(node, 0)
            elif other == 0:
                self._add_tokens(node, 0)
            if trie.end[node] > node + 1:
                if automata.accepting[mine] and not automata.accepting[other]:
                    self._add_exit(node, 0)
                elif automata.accepting[other] and not automata.accepting[mine]:
                    self._add_gone(node)
            states[depth] = mine
            others[depth] = other
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

    # -- a counted class and its rest -------------------------------------------------------------------------------

    def _make_counted(self, char_state: int, rest_state: int) -> CountedTerminal | None:
        """Indexes the vocabulary for `C* R`; None where a text could be read in more than one way."""
        if not self._walk_counted(char_state, rest_state):
            return None
        made = CountedTerminal()
        made.largest = self._largest
        order = np.argsort(np.asarray(self._token_counts[: self._token_size]), kind="stable")
        made.class_tokens = _taken(self._tokens, self._token_size, order)
        made.class_counts = _taken(self._token_counts, self._token_size, order)
        order = np.argsort(np.asarray(self._rest_counts[: self._rest_size]), kind="stable")
        made.rest_tokens = _taken(self._rest, self._rest_size, order)
        made.rest_counts = _taken(self._rest_counts, self._rest_size, order)
        made.exit_nodes = head(self._exits, self._exit_size)
        made.exit_counts = head(self._exit_counts, self._exit_size)
        made.suffixes = self._merge(made.exit_nodes, made.exit_counts)
        self.bytes_used += 8 * (self._token_size + self._rest_size + self._exit_size)
        return made

    def _walk_counted(self, char_state: int, rest_state: int) -> bool:
        """Walks the trie for `C* R`, counting the `C` begun; False as soon as a byte could belong to both."""
        self._token_size = 0
        self._rest_size = 0
        self._exit_size = 0
        self._largest = 0
        automata = self.automata
        trie = self.trie
        rest_may_be_empty = automata.accepting[rest_state]
        states = self._state_at
        in_rest = self._phase_at
        counts = self._count_at
        states[0] = char_state
        in_rest[0] = 0
        counts[0] = 0
        node = 0
        while node < trie.size:
            depth = trie.depth[node]
            byte = trie.byte[node]
            self.nodes_visited += 1
            before = states[depth - 1]
            phase = in_rest[depth - 1]
            count = counts[depth - 1]
            state = automata.next(before, byte)
            if phase == 0 and before == char_state:
                into_rest = automata.next(rest_state, byte)
                if state and into_rest:
                    return False
                if state:
                    count += 1
                elif into_rest:
                    state = into_rest
                    phase = 1
            if state == 0:
                node = trie.end[node]
                continue
            automata.expand(state)
            if phase == 0 and automata.accepting[state]:
                if automata.only_byte[state] != NO_BYTE:
                    return False
                state = char_state
            elif phase == 0 and state == char_state:
                return False
            if count > self._largest:
                self._largest = count
            if trie.token_start[node + 1] > trie.token_start[node]:
                if phase:
                    self._add_rest(node, count)
                else:
                    self._add_tokens(node, count)
            if trie.end[node] > node + 1:
                if phase:
                    if automata.accepting[state]:
                        self._add_exit(node, count)
                elif rest_may_be_empty and state == char_state:
                    self._add_exit(node, count)
            if phase and automata.only_byte[state] == NO_BYTE:
                node = trie.end[node]
                continue
            states[depth] = state
            in_rest[depth] = phase
            counts[depth] = count
            node += 1
        return True

    def _of_count(self, counted: CountedTerminal, least: int, most: int) -> TerminalMask:
        """The tables for `C{least,most} R`; `most` -1 is without bound."""
        largest = counted.largest
        least = min(least, largest + 1)
        most = largest if most < 0 else min(most, largest)
        key = (least, most)
        if key not in counted.masks:
            class_counts = np.asarray(counted.class_counts)
            rest_counts = np.asarray(counted.rest_counts)
            stop = int(np.searchsorted(class_counts, most, side="right"))
            first = int(np.searchsorted(rest_counts, least, side="left"))
            last = int(np.searchsorted(rest_counts, most, side="right"))
            tokens = array("i")
            tokens.frombytes(bytes(counted.class_tokens[:stop]))
            tokens.frombytes(bytes(counted.rest_tokens[first:last]))
            exit_counts = np.asarray(counted.exit_counts)
            allowed = np.flatnonzero((exit_counts >= least) & (exit_counts <= most))
            exits = _taken(counted.exit_nodes, len(counted.exit_nodes), allowed)
            suffixes = counted.suffixes if len(exits) else None
            counted.masks[key] = self._record(tokens, exits, suffixes, least, most)
        return counted.masks[key]

    # -- what is left of the tokens ---------------------------------------------------------------------------------

    def _merge(self, exits: array[int], counts: array[int] | None) -> Trie | None:
        """What is left of the tokens after the exits, as one trie; None where a list of exits serves better.

        With counts it is always better, unless it grows too large.
        """
        trie = self.trie
        if len(exits) < MERGED_EXITS and (counts is None or not len(exits)):
            return None
        nodes = 0
        for index in range(len(exits)):
            nodes += trie.end[exits[index]] - exits[index] - 1
            if nodes > MERGED_NODES:
                return None
        token_bytes = self.vocabulary.token_bytes
        entries: list[tuple[bytes, int, int]] = []
        for index in range(len(exits)):
            exit_node = exits[index]
            skipped = trie.depth[exit_node]
            count = counts[index] if counts is not None else 0
            for at in range(trie.token_start[exit_node + 1], trie.token_start[trie.end[exit_node]]):
                token = trie.tokens[at]
                text = token_bytes(token)
                if text is not None:
                    entries.append((text[skipped:], token, count))
        entries.sort()
        merged = TokenTrie.from_sorted([(text, token) for text, token, _ in entries])
        self.bytes_used += 16 * len(merged.node_byte) + 8 * len(entries)
        return Trie(merged, array("i", [count for _, _, count in entries]))


def _taken(values: array[int], used: int, order: np.ndarray) -> array[int]:
    """`values[:used]` in the given order."""
    taken = array("i")
    taken.frombytes(np.asarray(values[:used], dtype=np.int32)[order].tobytes())
    return taken
