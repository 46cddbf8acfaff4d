"""Which tokens stay inside a terminal, and what is left of those that run past its end.

For a state of a terminal's automaton and a vocabulary this module computes, once for all grammars that share the
automata (the state is the terminal's residual language, so equal residues share their tables):

- `inside`: the tokens that the terminal's automaton reads to their last byte;
- `exits`: the nodes of the vocabulary's trie at which the terminal may end within a token. Where there are many and
  little stands behind them, as at the end of a JSON string, what is left of the tokens is merged into a trie of its
  own. What stands behind exits when another terminal's state comes next has tables of the same kind
  (`behind`), shared by all grammars in which the two terminals meet. Which states come next, the grammar
  decides: see `engine/masks.py`.

A state `C{m,n} R` (a counted class and what follows it, such as a string's characters and its closing quote) has no
tables of its own for each count: tokens are indexed by how many `C` they begin, and a table for a count is read off.

The tables of a union are those of its parts together: one that began to match a pattern somewhere in a string has the
tables of the search, which all such states share, and a few tokens more.

Likewise a state with a bound on a count and further conditions: tokens are indexed by the bound they need, counting
what they begin and what is begun at least after them, and the states that differ in the bound alone share this.

A state `C* T`, such as a search for a pattern in a string, has the tables of `C*`, and a walk over the few tokens that
leave `C*`.

A state with several conditions (a key that is none of the named ones, say) is kept as its difference from the tables
of a state like it, found by walking both automata side by side and turning back wherever they come together.
"""

from __future__ import annotations

from array import array

import numpy as np

from structgen.engine.arrays import array_of, grown, head, zeros
from structgen.engine.automata import AutomatonStore
from structgen.engine.counts import least_count, lessened, most_counted
from structgen.engine.mask_tables import ByCount, CountedTerminal, DenseMask, Exits, Leaving, Marks, TerminalMask, Trie
from structgen.engine.term_kinds import DEAD, EMPTY
from structgen.engine.token_trie import TokenTrie
from structgen.engine.token_walks import TokenWalks
from structgen.engine.vocabulary import Vocabulary

__all__ = ["TerminalMasks"]

# Declared as C integers in the .pxd, so not importable from here.
UNKNOWN = -1
# A list of token ids this long costs as much to write into a mask as copying a finished one.
SPARSE_TOKENS = 512
# Past this many nodes behind the exits, merging what is left of the tokens costs more than it saves.
MERGED_NODES = 6000
MERGED_EXITS = 48
MERGED_TOKENS = 8192  # what is left after narrower terminals, such as numbers, is not looked at often enough
ALL_BITS = 0xFFFFFFFF  # of a word; `~` would give a negative number where this runs uncompiled
MODELS = 8  # wide states that were walked last, from which others may be told apart
# A mask is a copy of a like one, from which so many tokens are removed; with more it is made by itself.
REMOVED_TOKENS = 2048
LEAVING_TOKENS = 32_768
LEAVINGS_FROM = 5  # a trie for the tokens that leave C* is made when it is asked for so many times
# So much is left of a bound on words, or other things that are counted: few tokens begin more.
ROOM = 4
MOST_ROOM = 16
NO_UTF8 = b"\xff"
PAIRS = 64  # of states, in looking whether what follows a class goes on with it
RECORD_BYTES = 500  # about what the tables of a state take besides their lists


class TerminalMasks(TokenWalks):
    """The tables of all automaton states of one store, for one vocabulary.

    Attributes, besides those of `TokenWalks`:
        vocabulary: the vocabulary.
        words: uint32 words of a mask.
        dense, exits: the masks and the exits that the tables refer to.
        seen_states, states_behind, refused_tokens: for `engine/masks.py`, which makes one mask at a time of all
            grammars that share the tables.
    """

    def __init__(self, vocabulary: Vocabulary, automata: AutomatonStore) -> None:
        super().__init__(vocabulary, automata)
        self.vocabulary = vocabulary
        self.words = (vocabulary.size + 31) // 32
        self.dense: list[DenseMask] = []
        self.exits: list[Exits] = []
        self.seen_states = Marks()
        self.states_behind = Marks()
        self.refused_tokens = Marks()
        self._record_of = zeros(1024, UNKNOWN)
        self._records: list[TerminalMask] = []
        self._counted: dict[tuple[int, int], CountedTerminal | None] = {}
        self._united: dict[tuple[int, ...], TerminalMask] = {}
        self._models: list[int] = []
        self._sorted = zeros(4096)
        self._by_counts: list[ByCount] = []  # large ones that were made last
        self._merged: dict[tuple[int, bytes, bytes], Trie | None] = {}  # by trie, which lives as long, exits and counts
        self._leavings: dict[int, Leaving | None] = {}  # by C
        self._leavings_asked: dict[int, int] = {}
        self._roomy: set[int] = set()  # states in which no token uses up what is left of some bounds
        self._rooms: dict[int, int] = {}  # by what is counted: how much must be left of a bound; 0 it cannot be told

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
        repetition = self.automata.as_counted(state)
        short = self._short_of_bounds(state)
        if short is not None and (repetition is None or repetition[0] != short[1]):
            made = self._of_short(state, short[0], short[1])
            if made is not None:
                return made
        if repetition is not None:
            char_state, least, most, rest_state = repetition
            if least == 0 and most < 0 and not self.automata.is_literal(rest_state):
                leaving = self._leaving(char_state)
                if leaving is not None and self.automata.ends_apart(state, leaving.star):
                    return self._made(state, leaving)
            key = (char_state, rest_state)
            if key not in self._counted:
                self._counted[key] = self._make_counted(char_state, rest_state)
            counted = self._counted[key]
            if counted is not None:
                return self._of_count(counted, least, -1 if counted.absorbs else most)
        joined = self.automata.as_union(state)
        if joined and self._is_wide(state) and self.get(joined[0]).dense >= 0:
            return self._joined([self.get(part) for part in joined])
        parts = self.automata.as_variation(state)
        bounded = self.automata.as_bounded(state)
        if bounded is not None:
            free = self._with_room(bounded[0])
            counted = self._counted.get((free, UNKNOWN))
            if counted is not None:
                return self._of_count(counted, 0, bounded[1])
        if parts:
            for like in parts if bounded is not None else [*parts, *self._models]:
                made = self._difference(state, like) if self._resembles(state, like) else None
                if made is not None:
                    return made
        if bounded is not None:
            self._walk_bounded(bounded[0])
            counted = self._counted[bounded[0], UNKNOWN] = self._new_counted()
            return self._of_count(counted, 0, bounded[1])
        made = self._made(state, None)
        if parts and made.dense >= 0:  # not before it is made: a limit may be passed on the way
            del self._models[: len(self._models) - MODELS + 1]
            self._models.append(state)
        return made

    def _made(self, state: int, leaving: Leaving | None) -> TerminalMask:
        """The tables of a state by a walk of its own; only over the tokens that leave C*, if it is C* and more."""
        whole = self.whole if leaving is None else leaving.whole
        self._walk(whole, state)
        remainders = None
        if self._exit_size >= MERGED_EXITS and (leaving is not None or self._token_size >= MERGED_TOKENS):
            remainders = self._merge(whole.trie, head(self._exits, self._exit_size), None)
        made = self._record()
        if leaving is not None:
            made = self._joined([leaving.table, made])
        if remainders is not None:
            self._add_exits(made, Exits(remainders, 0, 1, 0, 0, None))
        elif self._exit_size:
            self._add_exits(made, self._exits_found(whole.trie, 0, 0, None))
        return made

    def _leaving(self, char_state: int) -> Leaving | None:
        """The tokens that leave C*; None where these are not few."""
        if char_state not in self._leavings:
            asked = self._leavings_asked.get(char_state, 0) + 1
            self._leavings_asked[char_state] = asked
            if asked < LEAVINGS_FROM:
                return None
            self._leavings[char_state] = None
            # Behind C* an end that no text has: where nothing ends, the walk skips what is all C.
            table = self.get(self.automata.repeat(char_state, 0, -1, self.automata.literal(NO_UTF8, EMPTY)))
            if table.dense >= 0:
                inside = TerminalMask()
                inside.dense = table.dense
                within = np.unpackbits(self._meant(inside).view(np.uint8), bitorder="little")
                if self.vocabulary.size - np.count_nonzero(within) <= LEAVING_TOKENS:
                    star = self.automata.repeat(char_state, 0, -1, EMPTY)
                    self._leavings[char_state] = Leaving(star, inside, self._tokens_outside(within))
        return self._leavings[char_state]

    def _tokens_outside(self, within: np.ndarray) -> Trie:
        """A trie of the tokens that are not set in `within`, uint8 by token."""
        trie = self.vocabulary.trie.part(within == 0)
        self.bytes_used += 16 * trie.node_count
        return Trie(trie)

    def _short_of_bounds(self, state: int) -> tuple[int, int] | None:
        """A state whose tables are very likely those of `state`, in which less is left of the bounds on some count.

        They are the same if no token uses up what is left there; that is seen when they are made.

        Returns:
            (the state, what is counted), or None.
        """
        if not self.automata.counted[state] or not self._is_wide(state):
            return None
        body = most_counted(self.automata, state)
        room = self._rooms.get(body, ROOM) if body else 0
        if room == 0:
            return None
        more = least_count(self.automata, state, body) - room
        if more < 0:
            return None
        return (lessened(self.automata, state, body, more) if more else state), body

    def _is_wide(self, state: int) -> bool:
        """Whether a good part of the vocabulary begins as texts of a state do."""
        trie = self.trie
        nodes = 0
        for byte in range(256):
            node = trie.first_node[byte]
            if node >= 0 and self.automata.next(state, byte):
                nodes += trie.end[node] - node
        return 4 * nodes > trie.size

    def _of_short(self, state: int, like: int, body: int) -> TerminalMask | None:
        """The tables of a state by way of one in which less is left of the bounds on `body`; None if they may differ."""
        if like != state:
            made = self.get(like)
            return made if like in self._roomy else None
        self._keep_entered(True)
        try:
            made = self._made(state, None)
        finally:
            self._keep_entered(False)
        self._judge_room(state, body)
        return made

    def _with_room(self, free: int) -> int:
        """The same for a state without its bound: itself, or one that serves as well."""
        short = self._short_of_bounds(free)
        if short is None:
            return free
        like, body = short
        if like not in self._roomy:
            self._keep_entered(True)
            try:
                self._walk_bounded(like)
            finally:
                self._keep_entered(False)
            self._counted[like, UNKNOWN] = self._new_counted()
            self._judge_room(like, body)
        return like if like in self._roomy else free

    def _judge_room(self, state: int, body: int) -> None:
        """Remembers whether the last walk, from `state`, kept clear of the bounds on `body`."""
        if all(least_count(self.automata, entered, body) >= 2 for entered in self._entered):
            self._roomy.add(state)
        else:
            room = self._rooms.get(body, ROOM)
            self._rooms[body] = 4 * room if room < MOST_ROOM else 0

    def _joined(self, parts: list[TerminalMask]) -> TerminalMask:
        """The tables of a union."""
        made = TerminalMask()
        dense = [part for part in parts if part.dense >= 0]
        whole = dense[0] if len(dense) == 1 else self.united(dense)
        made.dense = whole.dense
        made.first_removed, made.last_removed = whole.first_removed, whole.last_removed
        self._token_size = 0
        for part in parts:
            self._append(self.pool, part.first_token, part.last_token)
        made.first_token = self._keep(self._tokens, self._token_size)
        made.last_token = made.first_token + self._token_size
        found: list[Exits] = []
        for part in parts:
            for exits in self.exits[part.first_exit : part.last_exit]:
                if exits not in found:
                    found.append(exits)
        for exits in found:
            self._add_exits(made, exits)
        self.bytes_used += RECORD_BYTES
        return made

    def behind(self, exits: Exits, state: int) -> TerminalMask:
        """The tables of what stands behind some exits when a terminal in `state` comes next."""
        made = exits.behind.get(state)
        if made is None:
            self._walk(exits, state)
            made = self._record()
            if self._exit_size:
                found = self._exits_found(exits.trie, exits.min_count, exits.max_count, exits.removed)
                self._add_exits(made, found)
            exits.behind[state] = made
        return made

    def united(self, parts: list[TerminalMask]) -> TerminalMask:
        """A table with the dense masks of several, what is removed from them left out."""
        key = tuple([id(part) for part in parts])  # they live as long as this object
        made = self._united.get(key)
        if made is None:
            whole = np.zeros(self.words, dtype=np.uint32)
            for part in parts:
                whole |= self._meant(part)
            for part in parts:
                if made is None and np.array_equal(whole, self._meant(part)):
                    made = part
            if made is None:
                made = TerminalMask()
                made.dense = self._keep_dense(whole)
                self.bytes_used += RECORD_BYTES
            self._united[key] = made
        return made

    def _keep_dense(self, mask: np.ndarray) -> int:
        self.dense.append(DenseMask(mask))
        self.bytes_used += 4 * self.words
        return len(self.dense) - 1

    def _add_exits(self, table: TerminalMask, exits: Exits) -> None:
        """Gives a table exits, which must be the last that were given to any, or its first."""
        if table.first_exit == table.last_exit:
            table.first_exit = len(self.exits)
        self.exits.append(exits)
        table.last_exit = len(self.exits)

    def _meant(self, part: TerminalMask) -> np.ndarray:
        """The dense mask of a table, what is removed from it left out."""
        mask = np.array(self.dense[part.dense].words, dtype=np.uint32)
        words = mask
        one = 1
        for index in range(part.first_removed, part.last_removed):
            token = self.pool[index]
            words[token >> 5] &= ALL_BITS ^ (one << (token & 31))
        return mask

    def _exits_found(self, trie: Trie, least: int, most: int, removed: frozenset[int] | None) -> Exits:
        """The exits that the last walk has found."""
        first = self._keep(self._exits, self._exit_size)
        return Exits(trie, first, first + self._exit_size, least, most, removed)

    def _record(self) -> TerminalMask:
        """Tables with the tokens inside that the last walk has found."""
        made = TerminalMask()
        if self._token_size > SPARSE_TOKENS:
            made.dense = self._made_dense(self._tokens, self._token_size)
        else:
            made.first_token = self._keep(self._tokens, self._token_size)
            made.last_token = made.first_token + self._token_size
        self.bytes_used += RECORD_BYTES
        return made

    def _made_dense(self, tokens: array[int], count: int) -> int:
        mask = np.zeros(self.words, dtype=np.uint32)
        words = mask
        one = 1
        for index in range(count):
            token = tokens[index]
            words[token >> 5] |= one << (token & 31)
        return self._keep_dense(mask)

    # -- a plain state ----------------------------------------------------------------------------------------------

    # -- a state like another ---------------------------------------------------------------------------------------

    def _resembles(self, state: int, like: int) -> bool:
        """Whether the two states become one after the first byte of a good part of the vocabulary's tokens."""
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
        return 4 * same > different

    def _difference(self, state: int, like: int) -> TerminalMask | None:
        """The tables of `state` as their difference from those of `like`; None where that does not pay."""
        base = self.get(like)
        if base.dense < 0 or base.last_removed > base.first_removed or base.last_token > base.first_token:
            return None
        if base.last_exit - base.first_exit > 1:
            return None
        old: Exits | None = None
        if base.last_exit > base.first_exit:
            old = self.exits[base.first_exit]
            if not old.trie.has_counts or old.trie.has_duplicates:
                return None
        if not self._walk_both(state, like):
            return None
        made = TerminalMask()
        made.dense = base.dense
        made.first_removed = self._keep(self._rest, self._rest_size)
        made.last_removed = made.first_removed + self._rest_size
        made.first_token = self._keep(self._tokens, self._token_size)
        made.last_token = made.first_token + self._token_size
        if old is not None and self._gone_size:
            gone = frozenset(self._gone[: self._gone_size]) | (old.removed or frozenset())
            self._add_exits(made, Exits(old.trie, old.first, old.last, old.min_count, old.max_count, gone))
        elif old is not None:
            self._add_exits(made, old)
        if self._exit_size:
            self._add_exits(made, self._exits_found(self.trie, 0, 0, None))
        self.bytes_used += RECORD_BYTES + 32 * self._gone_size
        return made

    # -- a counted class and its rest -------------------------------------------------------------------------------

    def _make_counted(self, char_state: int, rest_state: int) -> CountedTerminal | None:
        """Indexes the vocabulary for `C* R`; None where a text could be read in more than one way."""
        absorbs = self._absorbs(rest_state, char_state)
        if not self._walk_counted(char_state, rest_state, absorbs):
            return None
        made = self._new_counted()
        made.absorbs = absorbs
        return made

    def _absorbs(self, rest_state: int, char_state: int) -> bool:
        """Whether one more C before it changes nothing in `rest_state`."""
        automata = self.automata
        seen = {(char_state, rest_state)}
        stack = [(char_state, rest_state)]
        while stack:
            char, rest = stack.pop()
            last_after = last_rest = DEAD
            for byte in range(256):
                after = automata.next(char, byte)
                after_rest = automata.next(rest, byte)
                if not after or (after == last_after and after_rest == last_rest):
                    continue
                last_after, last_rest = after, after_rest
                pair = (after, after_rest)
                if automata.accepting[after]:
                    if after_rest != rest_state or automata.has_next(after):
                        return False
                elif pair not in seen:
                    if not after_rest or len(seen) >= PAIRS:
                        return False
                    seen.add(pair)
                    stack.append(pair)
        return True

    def _new_counted(self) -> CountedTerminal:
        """The index of what the last walk found."""
        made = CountedTerminal(
            self._largest,
            self._by_count(self._tokens, self._token_counts, self._token_size),
            self._by_count(self._rest, self._rest_counts, self._rest_size),
        )
        made.exit_nodes = head(self._exits, self._exit_size)
        made.exit_counts = head(self._exit_counts, self._exit_size)
        made.largest_exit = int(max(made.exit_counts, default=0))
        made.remainders = self._merge(self.trie, made.exit_nodes, made.exit_counts)
        self.bytes_used += 8 * self._exit_size
        return made

    def _by_count(self, tokens: array[int], counts: array[int], size: int) -> ByCount:
        """The first tokens, sorted by count; those of another state if they are the same."""
        largest = self._largest
        starts = zeros(largest + 2)
        for index in range(size):
            starts[counts[index] + 1] += 1
        for count in range(largest + 1):
            starts[count + 1] += starts[count]
        while size > len(self._sorted):
            self._sorted = zeros(2 * len(self._sorted))
        places = zeros(largest + 2)
        for count in range(largest + 2):
            places[count] = starts[count]
        in_order = self._sorted
        for index in range(size):
            at = places[counts[index]]
            places[counts[index]] = at + 1
            in_order[at] = tokens[index]
        for known in self._by_counts:
            if _equal(known.starts, starts, largest + 2) and _equal(known.tokens, in_order, size):
                return known
        made = ByCount(head(in_order, size), starts)
        if size > SPARSE_TOKENS:
            made.dense = self._made_dense(made.tokens, size)
            del self._by_counts[: len(self._by_counts) - MODELS + 1]
            self._by_counts.append(made)
        self.bytes_used += 4 * (size + largest)
        return made

    def _of_count(self, counted: CountedTerminal, least: int, most: int) -> TerminalMask:
        """The tables for `C{least,most} R`; `most` -1 is without bound."""
        largest = counted.largest
        least = min(least, largest + 1)
        most = largest if most < 0 else min(most, largest)
        made: TerminalMask | None = counted.masks.get((least, most))
        if made is None:
            made = counted.masks[least, most] = self._made_of_count(counted, least, most)
        return made

    def _made_of_count(self, counted: CountedTerminal, least: int, most: int) -> TerminalMask:
        inside = counted.inside
        rest = counted.rest
        made = TerminalMask()
        made.first_exit, made.last_exit = self._exits_of_count(counted, least, most)
        self.bytes_used += RECORD_BYTES
        stop = inside.starts[most + 1]
        more = len(inside.tokens) - stop
        self._token_size = 0
        if inside.dense < 0 or stop <= SPARSE_TOKENS:
            self._append(inside.tokens, 0, stop)
        else:
            made.dense = inside.dense
            if more > REMOVED_TOKENS:
                made.dense = self._made_dense(inside.tokens, stop)
            elif more:
                made.first_removed = self._keep(inside.tokens[stop:], more)
                made.last_removed = made.first_removed + more
        if least <= most:
            self._append(rest.tokens, rest.starts[least], rest.starts[most + 1])
        made.first_token = self._keep(self._tokens, self._token_size)
        made.last_token = made.first_token + self._token_size
        return made

    def _exits_of_count(self, counted: CountedTerminal, least: int, most: int) -> tuple[int, int]:
        """Where the exits for a state with these counts are; no exit comes after more than `largest_exit`."""
        key = (min(least, counted.largest_exit + 1), min(most, counted.largest_exit))
        found: tuple[int, int] | None = counted.exits.get(key)
        if found is None:
            least, most = key
            counts = np.asarray(counted.exit_counts)
            allowed = np.flatnonzero((counts >= least) & (counts <= most))
            begin = len(self.exits)
            if len(allowed) and counted.remainders is not None:
                self.exits.append(Exits(counted.remainders, 0, 1, least, most, None))
            elif len(allowed):
                first = self._keep(array_of(np.asarray(counted.exit_nodes)[allowed]), len(allowed))
                self.exits.append(Exits(self.trie, first, first + len(allowed), 0, 0, None))
            found = counted.exits[key] = (begin, len(self.exits))
        return found

    # -- what is left of the tokens ---------------------------------------------------------------------------------

    def _merge(self, trie: Trie, exits: array[int], counts: array[int] | None) -> Trie | None:
        """What is left of the tokens after the exits, as one trie; None where a list of exits serves better.

        With counts it is always better, unless it grows too large. The same exits come again and again: at the end of
        a string whatever its characters.
        """
        if not len(exits):
            return None
        key = (id(trie), bytes(exits), b"" if counts is None else bytes(counts))
        if key not in self._merged:
            self._merged[key] = self._new_merged(trie, exits, counts)
            self.bytes_used += 2 * len(key[1])
        return self._merged[key]

    def _new_merged(self, trie: Trie, exits: array[int], counts: array[int] | None) -> Trie | None:
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


def _equal(left: array[int], right: array[int], size: int) -> bool:
    """Whether `left` is the first `size` of `right`."""
    if len(left) != size:
        return False
    for index in range(size):
        if left[index] != right[index]:
            return False
    return True
