"""Tables of the tokens that stay inside a terminal, and of the remainders of those that run past its end.

For a state of a terminal's automaton and a vocabulary this module makes a table, once for all grammars that share the
automata. (The state is the terminal's residual language, so equal residues share their tables.) For a state that reads
the rest of `[a-z]+"`:

    token   table
    he      inside: the automaton reads the token to its last byte
    he"     inside: it reads the token, and may end there
    he",    remainder `,`: it may end within the token, and `,` is left for what comes next
    he!     in no list: the automaton refuses the token

Remainders are nodes of the vocabulary's trie. Where they are many and little comes below them, as at the end of a JSON
string, what is left is merged into a trie of its own. A remainder and the state of the terminal that comes next have a
table of the same kind (`after`), shared by all grammars in which the two meet. The grammar decides which states come
next: see `engine/masks/set_masks.py`.

A walk over the trie makes a table. Many states need none of their own, as the tables of other states serve for them, or
one index serves for all states that differ in a count. `_make` asks for these first. The questions, in their order and
each with an example, stand in the docstring of the package.
"""

from __future__ import annotations

from structgen.engine.arrays import grown, zeros
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import (
    DEAD,
    EMPTY,
    K_BOUNDED,
    K_BYTES,
    K_COUNTING,
    K_INTERSECTION,
    K_LITERAL,
    K_REPEAT,
    NO_REST,
    NOTHING,
    RECORD_BYTES,
)
from structgen.engine.masks.bound_room import BoundRoom
from structgen.engine.masks.character_kinds import CharacterKinds
from structgen.engine.masks.counted_masks import CountedMasks
from structgen.engine.masks.counted_walks import BoundedWalk, CountedWalk
from structgen.engine.masks.difference_walk import DifferenceWalk
from structgen.engine.masks.first_bytes import FirstBytes
from structgen.engine.masks.least_counts import LeastCounts
from structgen.engine.masks.next_bytes import NextBytes
from structgen.engine.masks.refused_bounds import RefusedBounds
from structgen.engine.masks.remainder_tries import RemainderTries
from structgen.engine.masks.skippable_states import SkippableStates
from structgen.engine.masks.table_store import TableStore
from structgen.engine.masks.tables import CountedTerminal, MaskScratch, RemainderNodes, TerminalMask, Trie
from structgen.engine.masks.token_lists import FoundTokens
from structgen.engine.masks.token_walks import TokenWalks
from structgen.engine.masks.trie_walk import EnteredStates
from structgen.engine.pair_table import PairTable
from structgen.engine.vocabulary.vocabulary import Vocabulary

__all__ = ["TerminalMasks"]

# Declared as C integers in the .pxd, so not importable from here.
MIN_MERGED_EXITS = 48
MIN_MERGED_TOKENS = 8192  # inside; what is left after narrower terminals, such as numbers, is looked at too seldom
MAX_COUNT = 1 << 30  # larger counts act like this one: no token has as many characters
MAX_BASES = 8  # states that a new one is compared with
MAX_NEAR = 2  # of what is counted, beyond what must still come: few tokens fit into so much
MAX_WALKED = 4  # walks with one bound may visit the nodes of the vocabulary's trie, divided by this
MAX_WALKED_COUNT = 8  # with a larger least count a walk comes to a state for each
MAX_BYTES = 8  # of a repetition of few bytes, such as white space
MAX_LISTED_AFTER = 64  # tokens of such a repetition; more of them are a mask that all share
NOTHING_LEFT = 0  # the index of the empty table
MIN_PAIRS = 16  # states for which remainders have room at first, times two
PAIRS_BYTES = 300  # about the size of that room
PAIR_BYTES = 30  # about the size of one state more


class TerminalMasks:
    """The tables of all automaton states of one store, for one vocabulary.

    Args:
        vocabulary: the vocabulary.
        automata: the automata of the states.

    Attributes:
        automata: the automata of the states.
        spellings: the bytes of each token.
        trie: the vocabulary's trie.
        store: what the tables refer to.
        next_bytes: what remainders begin with.
        nothing: the empty table.
        scratch: for the mask of a set that is being made, one at a time of all grammars that share the tables.
    """

    def __init__(self, vocabulary: Vocabulary, automata: AutomatonStore) -> None:
        self.automata = automata
        self.spellings = vocabulary.spellings
        self.trie = trie = Trie(vocabulary.trie)
        self.store = store = TableStore(trie, vocabulary.size)
        self.scratch = MaskScratch(trie.max_depth + 2)
        kinds = CharacterKinds(automata)
        self._skippable_states = skippable_states = SkippableStates(automata, kinds)
        self._found = found = FoundTokens()
        self._entered = entered = EnteredStates()
        self.next_bytes = NextBytes(store)
        self._walks = TokenWalks(
            automata, store, self.next_bytes, skippable_states, entered, found, vocabulary.spellings
        )
        self._difference_walk = DifferenceWalk(automata, trie, skippable_states, found)
        self._least_counts = LeastCounts(automata)
        self._refused_bounds = RefusedBounds(automata, self._least_counts, trie.max_depth)
        self._counted_walk = CountedWalk(automata, trie, skippable_states, found)
        self._bounded_walk = BoundedWalk(automata, trie, skippable_states, entered, found)
        self._remainder_tries = tries = RemainderTries(store)
        self._counted_masks = CountedMasks(
            automata, store, tries, self._counted_walk, self._bounded_walk, found, vocabulary.size
        )
        self._room = BoundRoom(automata)
        self._table_of = zeros(1024)  # by state: one more than its index in _tables, or 0
        self.nothing = TerminalMask()  # most keys do not go on with what is left of a token
        self._tables = [self.nothing]
        self._counted: dict[tuple[int, int], CountedTerminal | None] = {}  # by states of the class and what follows
        # By state without its bounds: the index for all least counts; None if there is none.
        self._with_least: dict[int, CountedTerminal | None] = {}
        self._visited: dict[tuple[int, int], int] = {}  # by key of `_counted`: nodes visited by walks with one count
        self._bases: list[int] = []  # states with many tokens that were walked, those that served last at the end
        self._base_of: dict[int, int] = {}  # by state: the state whose tables its own are the difference from
        self._repeated: dict[int, TerminalMask] = {}  # by C{m,n}: the tokens inside
        self._first_bytes = FirstBytes(automata, trie)

    @property
    def nodes_visited(self) -> int:
        """The number of trie nodes that walks have visited so far (a work counter for benchmarks)."""
        counts = self._counted_walk.nodes_visited + self._bounded_walk.nodes_visited
        return self._walks.nodes_visited + counts + self._difference_walk.nodes_visited

    def get(self, state: int) -> TerminalMask:
        """Return the tables of a state, made when first asked for."""
        if state < len(self._table_of):
            known = self._table_of[state]
            if known:
                return self._tables[known - 1]
        else:
            while state >= len(self._table_of):
                self._table_of = grown(self._table_of, len(self._table_of))
        made = self._make(state)
        self._tables.append(made)
        self._table_of[state] = len(self._tables)
        return made

    def after(self, remainders: RemainderNodes, state: int) -> TerminalMask:
        """Return the tables of what is left of tokens where a terminal in `state` comes next."""
        store = self.store
        tables = remainders.tables
        if tables is None:
            tables = remainders.tables = PairTable(MIN_PAIRS)
            store.bytes_used += PAIRS_BYTES
        known = tables.get(0, state)
        if known >= 0:
            return self._tables[known]
        found = self._found
        self._walks.walk(remainders, state)
        store.bytes_used += PAIR_BYTES
        if not found.inside_count() and not found.exits.size:
            tables.put(0, state, NOTHING_LEFT)
            return self._tables[NOTHING_LEFT]
        made = store.table_of(found)
        if found.exits.size:
            left = store.remainders_at(
                remainders.trie, found.exits, remainders.min_count, remainders.max_count, remainders.removed
            )
            store.add_remainders(made, left)
        tables.put(0, state, len(self._tables))
        self._tables.append(made)
        return made

    # -- how the tables of a state are made -------------------------------------------------------------------------

    def _make(self, state: int) -> TerminalMask:
        free = self.automata.ample_bounds.without(state, self.trie.max_depth)
        if free != NOTHING:
            return self.get(free)
        repetition = self.automata.as_counted(state)
        joined = self.automata.as_union(state)
        short = self._with_smaller_bound(state)
        if short is not None and not self._counts_only(joined[0] if joined else state, short[1]):
            made = self._by_smaller_bound(state, short[0], short[1])
            if made is not None:
                return made
        if repetition is not None:
            made = self._of_repetition(state, repetition)
            if made is not None:
                return made
        if joined and self._first_bytes.is_wide(state) and self.get(joined[0]).dense >= 0:
            return self._joined([self.get(part) for part in joined])
        return self._of_conditions(state)

    def _counts_only(self, state: int, body: int) -> bool:
        """Return whether a state, or the first part of a union, is a repetition of what is counted, and a rest."""
        return self.automata.table.kind[state] == K_REPEAT and self.automata.table.payload[state][0] == body

    def _of_repetition(self, state: int, repetition: tuple[int, int, int, int]) -> TerminalMask | None:
        """Return the tables of C{min,max} R, given as the states of C, the bounds and R; None if no index serves."""
        char_state, min_count, max_count, rest_state = repetition
        if self._is_narrow(char_state) and self.automata.table.kind[rest_state] in (K_LITERAL, K_BYTES):
            return self._after_repeated(self.automata.terms.repeat(char_state, min_count, max_count, EMPTY), rest_state)
        if min_count <= 1 and max_count < 0 and self.automata.table.accepting[rest_state]:
            return None  # it may end after each C: nothing is counted, and a walk skips nearly all tokens
        is_literal = self.automata.table.kind[rest_state] in (K_LITERAL, K_BYTES)
        if max_count < 0 and min_count <= MAX_WALKED_COUNT and not is_literal:
            made = self._walked_alone((char_state, rest_state), state)
            if made is not None:
                return made
        min_count, max_count = min(min_count, MAX_COUNT), min(max_count, MAX_COUNT)
        counted = self._counted_of(char_state, rest_state, max_count)
        if counted is None:
            return None
        return self._counted_masks.with_counts(counted, min_count, -1 if counted.absorbs else max_count)

    def _of_conditions(self, state: int) -> TerminalMask:
        """Return the tables of a state that is no plain repetition, such as one with several conditions."""
        parts = self.automata.as_variation(state)
        bounded = self.automata.as_bounded(state)
        if bounded is not None:
            counted = self._counted.get((self._with_room(bounded[0], bounded[1]), NO_REST))
            if counted is not None:
                return self._counted_masks.with_counts(counted, 0, bounded[1])
        refused = self._refused_bounds.of(state) if self._first_bytes.is_wide(state) else None
        made = self._joined_counted(refused[0], refused[1]) if refused is not None else None
        if made is not None:
            return made
        if parts:
            for base in parts if bounded is not None else [*parts, *reversed(self._bases)]:
                made = self._difference(state, base) if self._first_bytes.resembles(state, base) else None
                if made is not None:
                    self._base_of[state] = base
                    if base in self._bases:  # the next states are likely of the same schema: they are like it, too
                        self._bases.remove(base)
                        self._bases.append(base)
                    return made
        made = self._of_least_count(state, False)
        if made is not None:
            return made
        made = self._like_later(state) if self.automata.table.kind[state] == K_INTERSECTION else None
        if made is not None:
            return made
        if bounded is not None and not (self.automata.has_least_count(bounded[0]) or self._has_inner_bound(bounded[0])):
            alone = self._of_one_bound(bounded[0], state)
            if alone is not None:
                return alone
            counted = self._counted_masks.of_bounded(bounded[0], bounded[1])
            self._counted[bounded[0], NO_REST] = counted
            return self._counted_masks.with_counts(counted, 0, bounded[1])
        made = self._walked(state)
        if parts and bounded is None and made.dense >= 0:  # only now, as an error may end the walk
            del self._bases[: len(self._bases) - MAX_BASES + 1]
            self._bases.append(state)
        return made

    def _like_later(self, state: int) -> TerminalMask | None:
        """Return the tables of a state as their difference from those of the state after most tokens' first bytes.

        In a search for a pattern, that is the state in which no match has begun. None if that state has no tables yet:
        to make them for this purpose would be a walk that may never be needed.
        """
        later = self._first_bytes.after_most(state) if self._first_bytes.is_wide(state) else DEAD
        is_known = later < len(self._table_of) and self._table_of[later] > 0
        if later == state or not is_known or not self._first_bytes.resembles(state, later):
            return None
        base = self._base_of.get(later, later)
        made = self._difference(state, base)
        if made is not None:
            self._base_of[state] = base
        return made

    def _walked(self, state: int) -> TerminalMask:
        """Return the tables of a state by a walk of its own."""
        store, found = self.store, self._found
        self._walks.walk(store.whole, state)
        exits = found.exits
        merged = None
        if exits.size >= MIN_MERGED_EXITS and found.inside_count() >= MIN_MERGED_TOKENS:
            merged = self._remainder_tries.merge(self.trie, exits.values[: exits.size], None)
        made = store.table_of(found)
        if merged is not None:
            store.add_remainders(made, store.remainders_of(merged, 0, 0))
        elif exits.size:
            store.add_remainders(made, store.remainders_at(self.trie, exits, 0, 0, None))
        return made

    # -- counts -----------------------------------------------------------------------------------------------------

    def _counted_of(self, char_state: int, rest_state: int, max_count: int) -> CountedTerminal | None:
        """Return the index for `C* R`; None if there is none.

        There is none where C is narrow and R wide: most tokens would be inside R, and be listed again for each count.
        """
        key = (char_state, rest_state)
        if key not in self._counted:
            is_literal = self.automata.table.kind[rest_state] in (K_LITERAL, K_BYTES)
            is_rest_large = (
                not is_literal and self._first_bytes.is_wide(rest_state) and not self._first_bytes.is_wide(char_state)
            )
            self._counted[key] = (
                None if is_rest_large else self._counted_masks.of_class(char_state, rest_state, max_count)
            )
        return self._counted[key]

    def _of_least_count(self, state: int, at_once: bool) -> TerminalMask | None:
        """Return the tables of a state with a least count beside other conditions; None if no index serves it.

        With a bound, an index takes as long as some walks, as all tokens are sorted by their counts. So there is none
        before a walk has visited a good part of the vocabulary.

        Args:
            state: the state.
            at_once: whether walks are known to take long.
        """
        parts = self._least_counts.of(state)
        if parts is None:
            return None
        free, min_count, max_count = parts
        if free not in self._with_least:
            key = (free, NO_REST)
            is_cheap = self._visited.get(key, 0) * MAX_WALKED < self.trie.size
            if not at_once and is_cheap and (max_count >= 0 or min_count <= MAX_WALKED_COUNT):
                before = self._walks.nodes_visited
                made = self._walked(state)
                self._visited[key] = int(self._walks.nodes_visited - before)
                return made
            self._entered.begin(True)
            try:
                counted = self._counted_masks.of_bounded(free, min(max_count, MAX_COUNT))
            finally:
                self._entered.end()
            self._with_least[free] = counted if self._least_counts.have_all(self._entered.states) else None
        known = self._with_least[free]
        if known is None:
            return None
        return self._counted_masks.with_counts(known, min(min_count, MAX_COUNT), min(max_count, MAX_COUNT))

    def _joined_counted(self, states: list[int], pair: tuple[int, int] | None) -> TerminalMask | None:
        """Return the tables of what `RefusedBounds.of` returned; None if one has a least count that no index serves."""
        parts = []
        if pair is not None:
            parts.append(self.store.inside_both(self.get(pair[0]), self.get(pair[1])))
        for state in states:
            inner = self._refused_bounds.of(state)  # of another bound that is refused
            made = self._joined_counted(inner[0], inner[1]) if inner is not None else self._of_least_count(state, True)
            if made is None and (inner is not None or self._least_counts.of(state) is not None):
                return None
            parts.append(made or self.get(state))
        return self._joined(parts)

    def _with_smaller_bound(self, state: int) -> tuple[int, int] | None:
        """Return `BoundRoom.with_smaller_bound` of a state; None if it is not wide, or has no such bound."""
        if not self.automata.table.counted[state] or not self._first_bytes.is_wide(state):
            return None
        return self._room.with_smaller_bound(state)

    def _by_smaller_bound(self, state: int, like: int, body: int) -> TerminalMask | None:
        """Return the tables of `like`, in which less is left of bounds on `body`; None if those of `state` may differ.

        If `like` is the state itself, it is walked, and judged.
        """
        if like != state:
            made = self.get(like)
            return made if self._room.is_roomy(like) else None
        self._entered.begin(False)
        try:
            made = self._walked(state)
        finally:
            self._entered.end()
        self._room.judge(state, body, self._entered.states)
        return made

    def _has_inner_bound(self, free: int) -> bool:
        """Return whether a state without its bound has another one inside, so that it changes with each character.

        An index of it would serve one position of one text. A walk takes less, as it may skip subtrees.
        """
        table = self.automata.table
        return bool(table.kind[free] == K_COUNTING and table.kind[table.payload[free][2]] == K_BOUNDED)

    def _of_one_bound(self, free: int, state: int) -> TerminalMask | None:
        """Return the tables of a state with a bound by a walk of its own; None where an index for all bounds serves.

        Such a walk takes little if it may skip most of the vocabulary, or if the bound is so near that few tokens fit.
        An index pays once walks have visited about as many nodes, because many bounds of the same state are asked for.
        """
        skippable = self._skippable_states
        number = skippable.find(state)  # may replace `moves`
        if not skippable.moves[number]:
            left = self.automata.table.payload[state][1] - self.automata.emptiness.least_begun(free)
            if left > MAX_NEAR:
                return None
        return self._walked_alone((free, NO_REST), state)

    def _walked_alone(self, index: tuple[int, int], state: int) -> TerminalMask | None:
        """Return the tables of a state by a walk of its own; None where an index has been made, or pays from now on.

        Args:
            index: the index that serves all counts: a key of `_counted`.
            state: the state.
        """
        visited = self._visited.get(index, 0)
        if index in self._counted or visited * MAX_WALKED >= self.trie.size:
            return None
        before = self._walks.nodes_visited
        made = self._walked(state)
        self._visited[index] = visited + int(self._walks.nodes_visited - before)
        return made

    def _with_room(self, free: int, max_count: int) -> int:
        """Return the state whose index serves `free`, a state without its bound `max_count`: a roomy one, or `free`."""
        short = self._with_smaller_bound(free)
        if short is None:
            return free
        like, body = short
        if not self._room.is_roomy(like):
            self._entered.begin(False)
            try:
                self._counted[like, NO_REST] = self._counted_masks.of_bounded(like, max_count)
            finally:
                self._entered.end()
            self._room.judge(like, body, self._entered.states)
        return like if self._room.is_roomy(like) else free

    # -- repetitions of few bytes -----------------------------------------------------------------------------------

    def _is_narrow(self, char_state: int) -> bool:
        """Return whether a state matches single bytes, and few of them: white space, say."""
        return (
            self.automata.table.kind[char_state] == K_BYTES
            and self.automata.table.payload[char_state].bit_count() <= MAX_BYTES
        )

    def _after_repeated(self, repeated: int, rest_state: int) -> TerminalMask:
        """Return the tables of C{m,n} R by way of those of C{m,n}, which many R share.

        R begins with certain bytes: it is no repetition itself, nor does it match the empty text.
        """
        if repeated not in self._repeated:
            self._repeated[repeated] = self._inside_alone(self.get(repeated))
        table = self.get(repeated)
        parts = [self._repeated[repeated]]
        if self.automata.table.accepting[repeated]:
            parts.append(self.get(rest_state))
        for index in range(table.first_remainders, table.last_remainders):
            parts.append(self.after(self.store.remainders[index], rest_state))
        return self._joined(parts)

    def _inside_alone(self, table: TerminalMask) -> TerminalMask:
        """Return the tokens inside a table, without its remainders; as a mask, unless they are few."""
        made = TerminalMask()
        made.dense, made.first_removed, made.last_removed = table.dense, table.first_removed, table.last_removed
        made.first_token, made.last_token = table.first_token, table.last_token
        count = table.last_token - table.first_token
        if table.dense < 0 and count > MAX_LISTED_AFTER:
            made.dense = self.store.dense_of(self.store.pool, table.first_token, table.last_token)
            made.last_token = made.first_token
        return made

    def _joined(self, parts: list[TerminalMask]) -> TerminalMask:
        """Return the tables of a union."""
        store, tokens = self.store, self._found.inside
        made = TerminalMask()
        dense = [part for part in parts if part.dense >= 0]
        whole = dense[0] if len(dense) == 1 else store.united(dense)
        made.dense = whole.dense
        made.first_removed, made.last_removed = whole.first_removed, whole.last_removed
        tokens.size = 0
        for part in parts:
            tokens.extend(store.pool, part.first_token, part.last_token)
        store.keep_tokens(made, tokens)
        found: list[RemainderNodes] = []
        for part in parts:
            for remainders in store.remainders[part.first_remainders : part.last_remainders]:
                if remainders not in found:
                    found.append(remainders)
        for remainders in found:
            store.add_remainders(made, remainders)
        store.bytes_used += RECORD_BYTES
        return made

    # -- a state like another ---------------------------------------------------------------------------------------

    def _difference(self, state: int, like: int) -> TerminalMask | None:
        """Return the tables of `state` as their difference from those of `like`; None where that does not pay."""
        store, found = self.store, self._found
        base = self.get(like)
        if base.dense < 0 or base.last_removed > base.first_removed or base.last_token > base.first_token:
            return None
        if base.last_remainders - base.first_remainders > 1:
            return None
        old: RemainderNodes | None = None
        if base.last_remainders > base.first_remainders:
            old = store.remainders[base.first_remainders]
            if not old.trie.has_counts or old.trie.has_duplicates():
                return None
        if not self._difference_walk.compare(state, like):
            return None
        made = TerminalMask()
        made.dense = base.dense
        made.first_removed = store.keep(found.rest.values, found.rest.size)
        made.last_removed = made.first_removed + found.rest.size
        store.keep_tokens(made, found.inside)
        lost = found.lost
        if old is not None and lost.size:
            removed = frozenset(lost.values[: lost.size]) | (old.removed or frozenset())
            left = RemainderNodes(old.trie, old.first, old.last, old.min_count, old.max_count, removed)
            store.add_remainders(made, left)
        elif old is not None:
            store.add_remainders(made, old)
        if found.exits.size:
            store.add_remainders(made, store.remainders_at(self.trie, found.exits, 0, 0, None))
        store.bytes_used += RECORD_BYTES + 32 * lost.size
        return made
