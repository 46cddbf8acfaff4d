"""The tokens that may come next after an item set.

For every automaton state among a set's scannable items, the tokens that stay inside that terminal come ready made
(`engine/masks/terminal_masks.py`). Tokens that run past its end leave remainders, which are looked up with the states
of the set after the terminal, and so on until nothing is left of any token:

    mask(S) = union over the states q of S:  inside(q)  and  after(remainders(q), set after S and q)

In grammars whose rules serve many texts, and capture none, what follows a terminal is remembered by dotted rule instead
of by set (`engine/masks/dotted_rule_masks.py`). Tokens that end a capture and then enter another one (their sets are
NEEDS_CHECK, see `engine/earley/item_sets.py`) are checked one by one: whether they are allowed depends on the text just
captured.

Where very many items come after a terminal, remainders are walked byte by byte instead, with all items at once
(`SetWalk`). A mask is kept as a dense mask that it shares with other sets, and a list of the other tokens.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structgen.engine.arrays import grown_pool, zeros
from structgen.engine.constants import (
    AFTER,
    ALL_BITS,
    DESCEND,
    EMPTY_TEXT,
    FRESH,
    NEEDS_CHECK,
    REFUSING,
    ROOT_NODE,
    SKIP,
)
from structgen.engine.deadlines import spend
from structgen.engine.earley.item_sets import ItemSetStore
from structgen.engine.grammar.tables import END
from structgen.engine.masks.dotted_rule_masks import DottedRuleMasks
from structgen.engine.masks.followed_nodes import Followed, FollowedNodes
from structgen.engine.masks.refused_texts import RefusedTexts
from structgen.engine.masks.tables import RemainderNodes, TerminalMask
from structgen.engine.masks.terminal_masks import TerminalMasks
from structgen.engine.masks.trie_walk import TrieWalk
from structgen.engine.vocabulary.bitmask import tokens_of
from structgen.engine.vocabulary.marks import MARK_BYTE, mark_of

__all__ = ["SetMask", "SetMasks", "SetWalk"]

# Declared as C integers in the .pxd, so not importable from here.
MAX_COPIED = 4  # tokens of a table that are copied; of more it is remembered where they are
MAX_LOOKED_UP = 128  # items of a set that are looked up one by one; a set with more is walked
# Remainders that are followed for one mask. Ambiguous grammars have exponentially many ways through a long token, which
# a walk over sets takes together.
MAX_FOLLOWED = 4000


class SetMask:
    """The tokens that may follow one set.

    Attributes:
        dense: the index in `TableStore.dense` of a mask that belongs to it; -1 for none.
        first_cut, last_cut: tokens of `dense` that do not belong to it, as a range of `TableStore.pool`.
        first_removed, last_removed: further such tokens, as a range of `SetMasks.pool`.
        first_token, last_token: the other tokens, as a range of `SetMasks.pool`. A token may be there twice, and in
            `dense`, too.
        first_range, last_range: a range of `SetMasks.pool` with pairs (first, last), each of which is a range of
            `TableStore.pool` with more tokens.
        is_for_text: whether it depends on the text of the set, besides its items.
    """

    def __init__(self) -> None:
        self.dense = -1
        self.first_cut = self.last_cut = 0
        self.first_removed = self.last_removed = 0
        self.first_token = self.last_token = 0
        self.first_range = self.last_range = 0
        self.is_for_text = False


class SetWalk(TrieWalk):
    """The walk over a trie that takes all items of a set along at once.

    Args:
        sets: the grammar's item sets.
        terminals: the tables of the terminals' states. Its scratch space gets the tokens; those that depend on the text
            just captured become suspects.
    """

    def __init__(self, sets: ItemSetStore, terminals: TerminalMasks) -> None:
        super().__init__(terminals.trie)
        self._sets = sets
        self._store = terminals.store
        self._suspects = terminals.scratch.suspects
        self._found = terminals.scratch.found
        self._remainders = terminals.store.whole
        self._set_at = terminals.scratch.sets_on_path

    def find(self, remainders: RemainderNodes, set_id: int) -> None:
        """Add the tokens that the grammar allows in what is left of tokens, from a set on."""
        self._remainders = remainders
        self.trie = trie = remainders.trie
        for at in range(remainders.first, remainders.last):
            node = self._store.pool[at]
            if node == ROOT_NODE:
                self._set_at[0] = set_id
                self.walk(0, trie.size)
            else:
                self._set_at[trie.depth[node]] = set_id
                self.walk(node + 1, trie.end[node])

    def visit(self, node: int, depth: int, byte: int) -> int:
        """Step from set to set by one more byte; see `TrieWalk.visit`."""
        target = self._sets.goto(self._set_at[depth - 1], byte)
        if not target:
            return SKIP
        trie = self.trie
        is_suspect = self._sets.table.text[target] == NEEDS_CHECK
        for index in range(trie.token_start[node], trie.token_start[node + 1]):
            if trie.has_counts and not self._remainders.has_token(index):
                continue
            if is_suspect:
                self._suspects.add(trie.tokens[index])
            else:
                self._found.add(trie.tokens[index])
        self._set_at[depth] = target
        return DESCEND


class SetMasks:
    """The masks of one grammar's sets, made when first asked for and kept.

    Args:
        sets: the grammar's item sets.
        terminals: the tables of the terminals' states.

    Attributes:
        empty: uint32[words], the mask that allows nothing.
        pool: int32, the tokens of the masks, one list after another.
        dotted_rules: what may follow a terminal, by dotted rule; None for rules that do not stand for positions of the
            grammar (`Rules.serve_many_texts`).
    """

    def __init__(self, sets: ItemSetStore, terminals: TerminalMasks) -> None:
        self._sets = sets
        self._terminals = terminals
        self._store = self._terminals.store
        self._scratch = self._terminals.scratch
        self.empty = self._store.empty
        self.pool = zeros(256)
        self._pool_size = 0
        self.dotted_rules: Any = DottedRuleMasks(sets, terminals) if self._sets.rules.serve_many_texts else None
        self._masks: list[SetMask | None] = []
        # Of the mask in the making:
        self._parts: list[TerminalMask] = []  # tables with dense masks
        self._found = self._scratch.found
        self._ranges = self._scratch.ranges
        self._followed = 0
        self._met: set[int] = set()
        self._followed_from: dict[int, Followed] = {}
        self._followed_nodes = FollowedNodes(self._store, terminals.next_bytes)
        self._agenda: list[Any] = []
        self._round = 0
        self._walk: SetWalk | None = None  # made when a set is first walked: in most grammars none is
        self._refused_texts = RefusedTexts(sets, terminals, self._found, self._ranges)

    @property
    def nodes_visited(self) -> int:
        """The number of trie nodes that walks over sets have visited (a work counter for benchmarks)."""
        return 0 if self._walk is None else self._walk.nodes_visited

    def get(self, set_id: int) -> SetMask:
        """Return the mask of a set."""
        if set_id >= len(self._masks):
            self._masks.extend([None] * (max(set_id + 1, 2 * len(self._masks)) - len(self._masks)))
        mask = self._masks[set_id]
        if mask is None:
            mask = self._shared(set_id)
            if mask is None:
                mask = self._make(set_id)
            self._masks[set_id] = mask
        return mask

    def knows(self, set_id: int) -> bool:
        """Return whether the mask of a set is made."""
        return set_id < len(self._masks) and self._masks[set_id] is not None

    def fill(self, set_id: int, words: np.ndarray) -> None:
        """Write the mask of a set into `words`, uint32[words], over whatever is there."""
        mask = self.get(set_id)
        pool = self.pool
        one = 1
        if mask.dense < 0:
            words[:] = self.empty
        else:
            self._copy(mask.dense, mask.first_cut, mask.last_cut, words)
            for index in range(mask.first_removed, mask.last_removed):
                token = pool[index]
                words[token >> 5] &= ALL_BITS ^ (one << (token & 31))
        for index in range(mask.first_token, mask.last_token):
            token = pool[index]
            words[token >> 5] |= one << (token & 31)
        tokens = self._store.pool
        for index in range(mask.first_range, mask.last_range, 2):
            for at in range(pool[index], pool[index + 1]):
                token = tokens[at]
                words[token >> 5] |= one << (token & 31)

    def _copy(self, number: int, first_cut: int, last_cut: int, words: np.ndarray) -> None:
        """Write a dense mask without some tokens."""
        dense = self._store.dense[number]
        words[:] = dense.words
        pool = self._store.pool
        one = 1
        for index in range(first_cut, last_cut):
            token = pool[index]
            words[token >> 5] &= ALL_BITS ^ (one << (token & 31))

    # -- a mask in the making ---------------------------------------------------------------------------------------

    def _shared(self, set_id: int) -> SetMask | None:
        """Return the mask of the same items whatever their text, where this text makes no difference."""
        sets = self._sets
        if sets.table.text[set_id] < EMPTY_TEXT:
            return None
        sets.close(set_id)
        for scan in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
            group = sets.scans.group[scan]
            if not sets.groups.captures[group] & REFUSING or sets.begins_here(set_id, group):
                continue
            groups, others = sets.refusals(set_id, group)
            if groups or others:
                return None
        mask = self.get(sets.unknown(set_id))
        return None if mask.is_for_text else mask

    def _make(self, set_id: int) -> SetMask:
        """Return a new mask: the tables of all items, then the tokens that must be checked one by one."""
        rules = self._sets.rules
        self._sets.close(set_id)
        self._begin()
        by_dotted_rule = rules.serve_many_texts and not rules.has_captures
        self._add_items(set_id, by_dotted_rule)
        if by_dotted_rule and rules.has_captures:  # bodies with captures were made meanwhile
            self._begin()
            self._add_items(set_id, False)
        mask = SetMask()
        if self._scratch.suspects:
            mask.is_for_text = True
            self._check_suspects(set_id)
        self._keep(mask)
        return mask

    def _begin(self) -> None:
        """Forget the mask that was made last, or that an error kept from being made."""
        self._found.size = self._ranges.size = 0
        self._followed = 0
        self._round = self._store.new_round()
        scratch = self._scratch
        if self._met:  # a call of `clear` takes longer than the question
            self._met.clear()
        if self._followed_from:
            self._followed_from.clear()
        if self._agenda:
            self._agenda.clear()
        if scratch.suspects:
            scratch.suspects.clear()
        if scratch.removed:
            scratch.removed.clear()
        if self._parts:
            self._parts = []  # compiled, a list's `clear` is looked up by its name

    def _add_items(self, set_id: int, by_dotted_rule: bool) -> None:
        """Add the tokens of all scannable items of a set.

        Args:
            set_id: the set.
            by_dotted_rule: whether remainders are looked up by dotted rule. Not where texts are captured: what follows
                a capture, and which texts are refused, depends on the set.
        """
        sets, store = self._sets, self._store
        has_lookaheads = sets.rules.lookaheads.shift > 0
        marks = self._scratch.seen_states
        of_round = marks.begin()
        last = sets.table.last_scan[set_id]
        first_refusing = self._refused_texts.first_refusing(set_id)
        for scan in range(sets.table.first_scan[set_id], last):
            state = sets.scans.state[scan]
            if not marks.meet(state, of_round):
                continue
            if has_lookaheads and sets.is_stuck(set_id, state):
                continue  # nothing may follow the terminal, nor may the text end
            first_found = self._found.size
            first_range = self._ranges.size
            terminal = self._terminals.get(state)
            self._add_all(terminal)
            if by_dotted_rule:
                for index in range(terminal.first_remainders, terminal.last_remainders):
                    self._follow_dotted_rules(store.remainders[index], set_id, state)
                continue
            parts = len(self._parts)
            if terminal.first_remainders < terminal.last_remainders:
                self._follow_all(terminal, sets.after(set_id, state))
            if first_refusing < last:
                is_dense = len(self._parts) > parts
                self._refused_texts.remove(
                    store.whole, set_id, state, first_refusing, first_found, first_range, is_dense
                )

    def _check_suspects(self, set_id: int) -> None:
        """Add the suspects that the grammar allows by their text or by their mark: it reads each byte by byte."""
        sets, trie = self._sets, self._store.trie
        spellings = self._terminals.spellings
        spend(len(self._scratch.suspects))
        for token in self._scratch.suspects:
            text = spellings[token]
            allowed = len(text) > 0 and sets.goto_all(set_id, text) > 0
            if not allowed and trie.first_node[MARK_BYTE] >= 0:
                mark = mark_of(token)
                allowed = trie.has_token(mark, token) and sets.goto_all(set_id, mark) > 0
            if allowed:
                self._found.add(token)
        self._scratch.suspects.clear()

    def _keep(self, mask: SetMask) -> None:
        """Give a mask what was found."""
        if self._parts:
            part = self._parts[0] if len(self._parts) == 1 else self._store.united(self._parts)
            mask.dense = part.dense
            mask.first_cut = part.first_removed
            mask.last_cut = part.last_removed
        found, ranges, removed = self._found, self._ranges, self._scratch.removed
        size = self._pool_size
        while size + len(removed) + found.size + ranges.size > len(self.pool):
            before = self.pool  # goes when all is in place: see `Matcher._fill`
            self.pool = grown_pool(before, size)
        pool = self.pool
        mask.first_removed = size
        for token in removed:
            pool[size] = token
            size += 1
        mask.last_removed = mask.first_token = size
        for index in range(found.size):
            pool[size + index] = found.values[index]
        size += found.size
        mask.last_token = mask.first_range = size
        for index in range(ranges.size):
            pool[size + index] = ranges.values[index]
        mask.last_range = self._pool_size = size + ranges.size

    # -- tables -----------------------------------------------------------------------------------------------------

    def _add_all(self, table: TerminalMask) -> None:
        """Add the tokens inside a terminal."""
        if table.dense >= 0:
            self._add_part(table)
        first, last = table.first_token, table.last_token
        if last - first <= MAX_COPIED:
            self._found.extend(self._store.pool, first, last)
            return
        self._ranges.add(first)
        self._ranges.add(last)

    def _add_part(self, table: TerminalMask) -> None:
        """Add a dense mask once: the white space before each of many keys is the same."""
        for known in self._parts:
            if table.shares_dense(known):
                return
        self._parts.append(table)

    def _add_once(self, table: TerminalMask) -> None:
        """Add the tokens of a table that were not yet added to the mask in the making."""
        if table.round != self._round:
            table.round = self._round
            self._add_all(table)

    def _suspect_all(self, table: TerminalMask) -> None:
        """Make all tokens of a table suspects."""
        store, suspects = self._store, self._scratch.suspects
        for index in range(table.first_token, table.last_token):
            suspects.add(store.pool[index])
        if table.dense >= 0:
            words = np.zeros(len(self.empty), dtype=np.uint32)
            self._copy(table.dense, table.first_removed, table.last_removed, words)
            suspects.update(tokens_of(words).tolist())

    # -- remainders, by dotted rule ---------------------------------------------------------------------------------

    def _follow_dotted_rules(self, remainders: RemainderNodes, set_id: int, state: int) -> None:
        """Add the tokens of remainders that may follow the terminals in `state`; see `dotted_rule_masks.py`."""
        sets = self._sets
        agenda = self._agenda
        for scan in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
            if sets.scans.state[scan] == state:
                self._add_rest(sets.scans.position[scan] + 1, 0, remainders, sets.scans.group[scan])
        while agenda:
            group = agenda.pop()
            ahead = agenda.pop()
            remainders = agenda.pop()
            self._go_on_after_group(group, ahead, remainders)

    def _go_on_after_group(self, group: int, ahead: int, remainders: RemainderNodes) -> None:
        """Add the tokens that go on in the items that wait in a group, and in those that end with these."""
        climb = self.dotted_rules.climb(group)
        if remainders.ended is not None:
            if climb.is_whole:
                self._add_once(remainders.ended)  # the text may end
            for index in range(len(climb.positions)):
                if remainders.ended.round == self._round:
                    break
                self._add_rest(climb.positions[index], ahead, remainders, climb.groups[index])
            return
        left = self.dotted_rules.first_bytes(remainders)
        if not climb.first.meets(left):
            return
        for index in range(len(climb.positions)):
            first = climb.firsts[index]
            if first.meets(left):
                self._add_rest(climb.positions[index], ahead, remainders, climb.groups[index])

    def _add_rest(self, position: int, ahead: int, remainders: RemainderNodes, group: int) -> None:
        """Add the tokens within the rest of a body; what escapes goes on in the items that wait in the group."""
        rules = self._sets.rules
        if rules.symbols[position] == END:
            if rules.before[position]:
                ahead = rules.lookaheads.united(ahead, rules.before[position])
            self._escape(remainders, ahead, group)
        elif remainders.ended is not None:
            if self.dotted_rules.corners.is_alive(position, ahead):
                self._add_once(remainders.ended)
        elif self.dotted_rules.begins_with_any(position, remainders):
            rest = self.dotted_rules.rest(position, ahead, remainders)
            for table in rest.tables:
                self._add_once(table)
            for index in range(0, len(rest.escapes), 2):
                self._escape(rest.escapes[index], rest.escapes[index + 1], group)

    def _escape(self, remainders: RemainderNodes, ahead: int, group: int) -> None:
        """Go on in the items that wait in a group with what is left, once for a mask."""
        if remainders.ended is not None and remainders.ended.round == self._round:
            return
        if not remainders.number:
            self._store.give_number(remainders)
        spend(1)
        key = remainders.number
        key = (key << 6 | ahead) << 30 | group
        if key not in self._met:
            self._met.add(key)
            place = group
            new = self._followed_nodes.new(self._followed_from, place << 6 | ahead, remainders)
            if new is None:
                return
            self._agenda.append(new)
            self._agenda.append(ahead)
            self._agenda.append(group)

    # -- remainders, by set -----------------------------------------------------------------------------------------

    def _follow_all(self, table: TerminalMask, set_id: int) -> None:
        """Add the tokens that run past the end of a table's terminal, and that the grammar allows from `set_id` on."""
        if set_id:
            for index in range(table.first_remainders, table.last_remainders):
                self._follow(self._store.remainders[index], set_id)

    def _follow(self, remainders: RemainderNodes, set_id: int) -> None:
        """Add the tokens of remainders that the grammar allows from `set_id` on."""
        sets, store = self._sets, self._store
        if not sets.rules.has_captures:
            if not remainders.number:
                store.give_number(remainders)
            pair = remainders.number
            pair = pair << 32 | set_id  # not in one: a C integer has 32 bits
            if pair in self._met:
                return
            self._met.add(pair)
        sets.close(set_id)
        first = sets.table.first_scan[set_id]
        last = sets.table.last_scan[set_id]
        has_lookaheads = sets.rules.lookaheads.shift > 0
        self._followed += 1
        spend(1 + ((last - first) >> 2))
        marks = self._scratch.states_after
        of_round = marks.begin()
        if last - first > MAX_LOOKED_UP or self._followed > MAX_FOLLOWED:
            if self._walk is None:
                self._walk = SetWalk(self._sets, self._terminals)
            self._walk.find(remainders, set_id)
            return
        first_refusing = self._refused_texts.first_refusing(set_id)
        nothing = self._terminals.nothing
        for scan in range(first, last):
            state = sets.scans.state[scan]
            if not marks.meet(state, of_round):
                continue
            if has_lookaheads and sets.is_stuck(set_id, state):
                continue
            first_found = self._found.size
            first_range = self._ranges.size
            table = self._terminals.after(remainders, state)
            if table is nothing:
                continue
            if self._is_suspect(remainders, set_id, scan):
                self._suspect_all(table)
            else:
                self._add_all(table)
            parts = len(self._parts)
            if table.first_remainders < table.last_remainders:
                self._follow_all(table, sets.after(set_id, state))
            if first_refusing < last:
                is_dense = len(self._parts) > parts
                self._refused_texts.remove(
                    remainders, set_id, state, first_refusing, first_found, first_range, is_dense
                )

    def _is_suspect(self, remainders: RemainderNodes, set_id: int, scan: int) -> bool:
        """Return whether the tokens that go on with a scannable item may depend on what was captured just before."""
        sets = self._sets
        text = sets.table.text[set_id]
        if text != AFTER or not sets.groups.captures[sets.scans.group[scan]] & FRESH:
            return text == NEEDS_CHECK
        position = sets.scans.position[scan]
        if sets.rules.goes_on_endless(position):
            return False
        return not sets.rules.has_room(position, sets.scans.state[scan], self._store.most_left(remainders))
