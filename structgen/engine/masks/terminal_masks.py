"""Which tokens stay inside a terminal, and what is left of those that run past its end.

For a state of a terminal's automaton and a vocabulary this module computes, once for all grammars that share the
automata (the state is the terminal's residual language, so equal residues share their tables):

- `inside`: the tokens that the terminal's automaton reads to their last byte;
- `exits`: the nodes of the vocabulary's trie at which the terminal may end within a token. Where there are many and
  little stands behind them, as at the end of a JSON string, what is left of the tokens is merged into a trie of its
  own. What stands behind exits when another terminal's state comes next has tables of the same kind
  (`behind`), shared by all grammars in which the two terminals meet. Which states come next, the grammar
  decides: see `engine/masks.py`.

States that differ in a count alone share their tables: see `engine/counted_masks.py`.

The tables of a union are those of its parts together: one that began to match a pattern somewhere in a string has the
tables of the search, which all such states share, and a few tokens more.

A state with several conditions (a key that is none of the named ones, say) is kept as its difference from the tables
of a state like it, found by walking both automata side by side and turning back wherever they come together.
"""

from __future__ import annotations

import numpy as np

from structgen.engine.arrays import grown, zeros
from structgen.engine.automata.count_bounds import least_count, lessened, most_counted
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import EMPTY, K_BYTES, K_LITERAL
from structgen.engine.masks.counted_masks import CountedMasks
from structgen.engine.masks.tables import CountedTerminal, Marks, RemainderNodes, TerminalMask
from structgen.engine.pair_table import PairTable
from structgen.engine.vocabulary.vocabulary import Vocabulary

__all__ = ["TerminalMasks"]

ONE = 1  # an object: sets of bytes have 256 bits

# Declared as C integers in the .pxd, so not importable from here.
UNKNOWN = -1
ROOT_NODE = -1  # as in `engine/masks.py`
MAX_ROUNDS = 2**31 - 1
MERGED_EXITS = 48
MERGED_TOKENS = 8192  # what is left after narrower terminals, such as numbers, is not looked at often enough
MODELS = 8  # wide states that were walked last, from which others may be told apart
WIDE = 4  # a wide state may begin with that part of the vocabulary's trie at least
MAX_BYTES = 8  # of white space, say: what is repeated before many things
LISTED = 64  # more tokens of it are a mask that all share
# So much is left of a bound on words, or other things that are counted: few tokens begin more.
ROOM = 4
MAX_ROOM = 16
PLACES_BEHIND = 1 << 19  # for what the exits and states of some thousand schemas need; memory comes as it is used
NOTHING_BEHIND = 0  # which of the tables are empty
RECORD_BYTES = 500  # about what the tables of a state take besides their lists
PAIR_BYTES = 30  # about what a pair of exits and a state takes, of which the tables are remembered


class TerminalMasks(CountedMasks):
    """The tables of all automaton states of one store, for one vocabulary.

    Attributes, besides those of `CountedMasks`:
        seen_states, states_behind, refused_tokens, suspects, removed: for `engine/masks.py`, which makes one mask at a
            time of all grammars that share the tables.
    """

    def __init__(self, vocabulary: Vocabulary, automata: AutomatonStore) -> None:
        super().__init__(vocabulary, automata)
        self.seen_states = Marks()
        self.states_behind = Marks()
        self.refused_tokens = Marks()
        self.suspects: set[int] = set()  # tokens that have to be looked at one by one for the mask in the making
        self.removed: list[int] = []  # tokens of its parts that do not belong to it
        self._record_of = zeros(1024)
        self._records = [TerminalMask()]  # the first is empty: most keys do not go on with what is left of a token
        self._behind = PairTable(PLACES_BEHIND)
        self._exits_numbered = 0
        self._rounds = 0
        self._counted: dict[tuple[int, int], CountedTerminal | None] = {}
        # By the identities of parts, which are kept alive here: another part must not get the identity of one of them.
        self._united: dict[tuple[int, ...], tuple[tuple[TerminalMask, ...], TerminalMask]] = {}
        self._models: list[int] = []
        self._repeated: dict[int, TerminalMask] = {}  # by C{m,n}: the tokens inside
        self._roomy: set[int] = set()  # states in which no token uses up what is left of some bounds
        self._rooms: dict[int, int] = {}  # by what is counted: how much must be left of a bound; 0 it cannot be told

    def get(self, state: int) -> TerminalMask:
        """The tables of a state, made when first asked for."""
        if state < len(self._record_of):
            record = self._record_of[state]
            if record:
                return self._records[record - 1]
        else:
            while state >= len(self._record_of):
                self._record_of = grown(self._record_of, len(self._record_of))
        made = self._make(state)
        self._records.append(made)
        self._record_of[state] = len(self._records)
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
            if self._is_narrow(char_state) and self.automata.table.kind[rest_state] in (K_LITERAL, K_BYTES):
                return self._behind_repeated(self.automata.terms.repeat(char_state, least, most, EMPTY), rest_state)
            counted = self._counted_of(char_state, rest_state, most)
            if counted is not None:
                return self._of_count(counted, least, -1 if counted.absorbs else most)
        joined = self.automata.as_union(state)
        if joined and self._is_wide(state) and self.get(joined[0]).dense >= 0:
            return self._joined([self.get(part) for part in joined])
        parts = self.automata.as_variation(state)
        bounded = self.automata.as_bounded(state)
        if bounded is not None:
            free = self._with_room(bounded[0], bounded[1])
            counted = self._counted.get((free, UNKNOWN))
            if counted is not None:
                return self._of_count(counted, 0, bounded[1])
        if parts:
            for like in parts if bounded is not None else [*parts, *self._models]:
                made = self._difference(state, like) if self._resembles(state, like) else None
                if made is not None:
                    return made
        if bounded is not None and not self.automata.asks_for_more(bounded[0]):
            self._walk_bounded(bounded[0])
            counted = self._counted[bounded[0], UNKNOWN] = self._new_counted(bounded[0], UNKNOWN, bounded[1])
            return self._of_count(counted, 0, bounded[1])
        made = self._made(state)
        if parts and bounded is None and made.dense >= 0:  # not before it is made: a limit may be passed on the way
            del self._models[: len(self._models) - MODELS + 1]
            self._models.append(state)
        return made

    def _counted_of(self, char_state: int, rest_state: int, most: int) -> CountedTerminal | None:
        """The index for `C{m,n} R`; None where there is none, or where most of it would be tokens inside R, which were
        listed again for each count.
        """
        key = (char_state, rest_state)
        if key not in self._counted:
            is_literal = self.automata.table.kind[rest_state] in (K_LITERAL, K_BYTES)
            is_rest_large = not is_literal and self._is_wide(rest_state) and not self._is_wide(char_state)
            self._counted[key] = None if is_rest_large else self._make_counted(char_state, rest_state, most)
        return self._counted[key]

    def _made(self, state: int) -> TerminalMask:
        """The tables of a state by a walk of its own."""
        self._walk(self.whole, state)
        remainders = None
        if self._exit_size >= MERGED_EXITS and self._token_size >= MERGED_TOKENS:
            remainders = self._merge(self.trie, self._exits[: self._exit_size], None)
        made = self._record()
        if remainders is not None:
            self._add_exits(made, RemainderNodes(remainders, 0, 1, 0, 0, None))
        elif self._exit_size:
            self._add_exits(made, self._exits_found(self.trie, 0, 0, None))
        return made

    def _is_narrow(self, char_state: int) -> bool:
        """Whether a state matches single bytes, and few of them: white space, say."""
        return (
            self.automata.table.kind[char_state] == K_BYTES
            and self.automata.table.payload[char_state].bit_count() <= MAX_BYTES
        )

    def _behind_repeated(self, repeated: int, rest_state: int) -> TerminalMask:
        """The tables of C{m,n} R, by way of those of C{m,n}, which many R share. R begins with certain bytes: it is no
        repetition itself, nor has it an empty text.
        """
        if repeated not in self._repeated:
            self._repeated[repeated] = self._inside_alone(self.get(repeated))
        table = self.get(repeated)
        parts = [self._repeated[repeated]]
        if self.automata.table.accepting[repeated]:
            parts.append(self.get(rest_state))
        for index in range(table.first_exit, table.last_exit):
            parts.append(self.behind(self.exits[index], rest_state))
        return self._joined(parts)

    def _inside_alone(self, table: TerminalMask) -> TerminalMask:
        """The tokens inside a table, without its exits; a mask, unless they are few."""
        made = TerminalMask()
        made.dense, made.first_removed, made.last_removed = table.dense, table.first_removed, table.last_removed
        made.first_token, made.last_token = table.first_token, table.last_token
        count = table.last_token - table.first_token
        if table.dense < 0 and count > LISTED:
            made.dense = self._made_dense(self.pool, table.first_token, table.last_token)
            made.last_token = made.first_token
        return made

    def _short_of_bounds(self, state: int) -> tuple[int, int] | None:
        """A state whose tables are very likely those of `state`, in which less is left of the bounds on some count.

        They are the same if no token uses up what is left there; that is seen when they are made.

        Returns:
            (the state, what is counted), or None.
        """
        if not self.automata.table.counted[state] or not self._is_wide(state):
            return None
        body = most_counted(self.automata.terms, state)
        room = self._rooms.get(body, ROOM) if body else 0
        if room == 0:
            return None
        more = least_count(self.automata.terms, state, body) - room
        if more < 0:
            return None
        return (lessened(self.automata.terms, state, body, more) if more else state), body

    def _is_wide(self, state: int) -> bool:
        """Whether a good part of the vocabulary begins as texts of a state do."""
        trie = self.trie
        nodes = 0
        for byte in range(256):
            node = trie.first_node[byte]
            if node >= 0 and self.automata.leads_on(state, byte):
                nodes += trie.end[node] - node
        return WIDE * nodes > trie.size

    def _of_short(self, state: int, like: int, body: int) -> TerminalMask | None:
        """The tables of a state by way of one in which less is left of bounds on `body`; None if they may differ."""
        if like != state:
            made = self.get(like)
            return made if like in self._roomy else None
        self._keep_entered(True)
        try:
            made = self._made(state)
        finally:
            self._keep_entered(False)
        self._judge_room(state, body)
        return made

    def _with_room(self, free: int, most: int) -> int:
        """The same for a state without its bound, which is `most`: itself, or one that serves as well."""
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
            self._counted[like, UNKNOWN] = self._new_counted(like, UNKNOWN, most)
            self._judge_room(like, body)
        return like if like in self._roomy else free

    def _judge_room(self, state: int, body: int) -> None:
        """Remembers whether the last walk, from `state`, kept clear of the bounds on `body`."""
        if all(least_count(self.automata.terms, entered, body) >= 2 for entered in self._entered):
            self._roomy.add(state)
        else:
            room = self._rooms.get(body, ROOM)
            self._rooms[body] = 4 * room if room < MAX_ROOM else 0

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
        found: list[RemainderNodes] = []
        for part in parts:
            for exits in self.exits[part.first_exit : part.last_exit]:
                if exits not in found:
                    found.append(exits)
        for exits in found:
            self._add_exits(made, exits)
        self.bytes_used += RECORD_BYTES
        return made

    def bytes_of(self, exits: RemainderNodes) -> int:
        """A bit for each byte that some of what is left behind exits begins with."""
        trie = exits.trie
        found = 0
        for at in range(exits.first, exits.last):
            node = self.pool[at]
            stop = trie.size if node == ROOT_NODE else trie.end[node]
            node += 1
            while node < stop:
                found |= ONE << trie.byte[node]
                node = trie.end[node]
        return found

    def new_round(self) -> int:
        """The number of a mask in the making."""
        self._rounds = 1 if self._rounds == MAX_ROUNDS else self._rounds + 1
        return self._rounds

    def give_number(self, exits: RemainderNodes) -> None:
        """Gives exits a number of their own."""
        self._exits_numbered += 1
        exits.number = self._exits_numbered

    def behind(self, exits: RemainderNodes, state: int) -> TerminalMask:
        """The tables of what stands behind some exits when a terminal in `state` comes next."""
        if not exits.number:
            self.give_number(exits)
        record = self._behind.get(exits.number, state)
        if record >= 0:
            return self._records[record]
        self._walk(exits, state)
        self.bytes_used += PAIR_BYTES
        if not self._token_size and not self._exit_size:
            self._behind.put(exits.number, state, NOTHING_BEHIND)
            return self._records[NOTHING_BEHIND]
        made = self._record()
        if self._exit_size:
            found = self._exits_found(exits.trie, exits.min_count, exits.max_count, exits.removed)
            self._add_exits(made, found)
        self._behind.put(exits.number, state, len(self._records))
        self._records.append(made)
        return made

    def united(self, parts: list[TerminalMask]) -> TerminalMask:
        """A table with the dense masks of several, what is removed from them left out."""
        key = tuple([id(part) for part in parts])
        kept = self._united.get(key)
        made = kept[1] if kept is not None else None
        if made is None:
            mask = np.zeros(self.words, dtype=np.uint32)
            for part in parts:
                mask |= self._meant(part)
            for part in parts:
                if made is None and np.array_equal(mask, self._meant(part)):
                    made = part
            if made is None:
                made = TerminalMask()
                made.dense = self.keep_dense(mask)
                self.bytes_used += RECORD_BYTES
            self._united[key] = (tuple(parts), made)
        return made

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
        old: RemainderNodes | None = None
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
            self._add_exits(made, RemainderNodes(old.trie, old.first, old.last, old.min_count, old.max_count, gone))
        elif old is not None:
            self._add_exits(made, old)
        if self._exit_size:
            self._add_exits(made, self._exits_found(self.trie, 0, 0, None))
        self.bytes_used += RECORD_BYTES + 32 * self._gone_size
        return made
