"""From an Earley set to the tokens that may come next.

For every automaton state among a set's scannable items, the tokens that stay inside that terminal come ready made
(`engine/terminal_masks.py`). Those that run past its end are looked up behind its exits, by the states of the set after
it, and so on until no token is left:

    mask(S) = union over the states q of S:  inside(q)  and  behind(exits(q), S after q)

Tokens that end a capture and then enter another one (`engine/earley.py` calls their sets NEEDS_CHECK) are looked at one
by one: what they may be depends on what has just been captured.

A set in which very many states come next is walked byte by byte instead, all of them at once. A mask is kept as
the dense parts it shares with other sets and a list of the other tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from structgen.engine.arrays import grown_pool, zeros
from structgen.engine.constants import AFTER, EMPTY_TEXT, FRESH, NEEDS_CHECK, REFUSING
from structgen.engine.earley.item_sets import ItemSetStore
from structgen.engine.grammar.tables import END, Spelling
from structgen.engine.masks.dotted_rule_masks import DottedRuleMasks
from structgen.engine.masks.tables import RemainderNodes, TerminalMask, Trie
from structgen.engine.masks.terminal_masks import TerminalMasks
from structgen.engine.vocabulary.bitmask import tokens_of

__all__ = ["SetMask", "SetMasks"]

# Declared as C integers in the .pxd, so not importable from here.
ROOT_NODE = -1  # stands for the root of a trie among its nodes
COPIED = 4  # so few tokens of a table are copied; of more it is remembered where they are
LOOKED_UP = 128  # items of a set that are looked up one by one; with more the set is walked
# So many exits are followed for one mask; ambiguous grammars have exponentially many ways through a long token, which
# a walk over sets takes together.
FOLLOWED = 4000
ALL_BITS = 0xFFFFFFFF  # of a word; `~` would give a negative number where this runs uncompiled


class SetMask:
    """The tokens that may follow one set.

    Attributes:
        dense: number in `TerminalMasks.dense` of a mask that belongs to it; -1 for none.
        first_cut, last_cut: where tokens of that which do not belong to it stand in `TerminalMasks.pool`,
        first_removed, last_removed: and further ones in `SetMasks.pool`.
        first_token, last_token: where the other tokens stand there; a token may be there twice, or in the mask too.
        first_range, last_range: where pairs stand there that tell where more of them are in `TerminalMasks.pool`.
        is_for_text: whether it depends on the text of the set, besides its items.
    """

    def __init__(self) -> None:
        self.dense = -1
        self.first_cut = self.last_cut = 0
        self.first_removed = self.last_removed = 0
        self.first_token = self.last_token = 0
        self.first_range = self.last_range = 0
        self.is_for_text = False


_NO_ENDS: set[int] = set()


class SetMasks:
    """The masks of one grammar's sets, made when first asked for and kept.

    Attributes:
        sets: the grammar's Earley sets.
        terminals: the tables of the terminals' states.
        empty: uint32[words], the mask of nothing.
        pool: int32, the tokens of the masks, one list after another.
        nodes_visited: trie nodes visited by walks over sets (a work counter for benchmarks).
    """

    def __init__(self, sets: ItemSetStore, terminals: TerminalMasks) -> None:
        self.sets = sets
        self.terminals = terminals
        self.nodes_visited = 0
        self._masks: list[SetMask | None] = []
        self.empty = terminals.empty
        self.pool = zeros(256)
        self._pool_size = 0
        self._parts: list[TerminalMask] = []
        self._set_at = zeros(terminals.trie.max_depth + 2)
        self._found = zeros(256)
        self._found_size = 0
        self._ranges = zeros(64)
        self._range_size = 0
        self._suspects = terminals.suspects
        self._removed = terminals.removed
        self._ends: dict[tuple[int, int], tuple[int, ...]] = {}  # by exits and spellings
        self._spellings: dict[int, Sequence[Spelling]] = {}  # kept alive, as exits are by the tables
        self._followed = 0
        self._met: set[int] = set()
        self._agenda: list[Any] = []
        self._round = 0
        self.places = DottedRuleMasks(sets, terminals)

    def get(self, set_id: int) -> SetMask:
        """The mask of a set."""
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
        """Whether the mask of a set is made."""
        return set_id < len(self._masks) and self._masks[set_id] is not None

    def _shared(self, set_id: int) -> SetMask | None:
        """The mask of the same items whatever their text, where this text makes no difference."""
        sets = self.sets
        if sets.table.text[set_id] < EMPTY_TEXT:
            return None
        sets.close(set_id)
        for scan in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
            group = sets.scans.group[scan]
            if not sets.groups.captures[group] & REFUSING or sets.begins_here(set_id, group):
                continue
            always, others = sets.refusals(set_id, group)
            if always or others:
                return None
        mask = self.get(sets.unknown(set_id))
        return None if mask.is_for_text else mask

    def fill(self, set_id: int, words: np.ndarray) -> None:
        """Writes the mask of a set into `words`, uint32[words]; whatever stood there is overwritten."""
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
        tokens = self.terminals.pool
        for index in range(mask.first_range, mask.last_range, 2):
            for at in range(pool[index], pool[index + 1]):
                token = tokens[at]
                words[token >> 5] |= one << (token & 31)

    def _copy(self, number: int, first_cut: int, last_cut: int, words: np.ndarray) -> None:
        """Writes a dense mask without some tokens."""
        dense = self.terminals.dense[number]
        words[:] = dense.words
        pool = self.terminals.pool
        one = 1
        for index in range(first_cut, last_cut):
            token = pool[index]
            words[token >> 5] &= ALL_BITS ^ (one << (token & 31))

    def _make(self, set_id: int) -> SetMask:
        sets = self.sets
        sets.close(set_id)
        mask = SetMask()
        self._found_size = self._range_size = 0
        self._followed = 0
        self._met.clear()
        self._agenda.clear()
        self._round = self.terminals.new_round()
        self._suspects.clear()  # of a mask that an error kept from being made
        self._removed.clear()
        self._parts.clear()
        has_lookaheads = sets.rules.lookaheads.shift > 0
        by_place = sets.rules.are_by_place
        marks = self.terminals.seen_states
        of_round = marks.begin()
        for scan in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
            state = sets.scans.state[scan]
            if not marks.meet(state, of_round):
                continue
            if has_lookaheads and sets.is_stuck(set_id, state):
                continue  # nothing may follow it, nor the text end
            before = self._found_size
            before_ranges = self._range_size
            terminal = self.terminals.get(state)
            self._add_all(terminal)
            if by_place:
                for index in range(terminal.first_exit, terminal.last_exit):
                    self._follow_from(self.terminals.exits[index], set_id, state)
                continue
            for index in range(terminal.first_exit, terminal.last_exit):
                self._follow(self.terminals.exits[index], sets.after(set_id, state))
            if sets.table.captures[set_id]:
                self._refuse(self.terminals.whole, set_id, state, before, before_ranges)
        if self._suspects:
            mask.is_for_text = True
            self._add_suspects(set_id)
        if self._parts:
            part = self._parts[0] if len(self._parts) == 1 else self.terminals.united(self._parts)
            mask.dense = part.dense
            mask.first_cut = part.first_removed
            mask.last_cut = part.last_removed
        mask.first_removed = self._pool_size
        for token in self._removed:
            self._keep(token)
        mask.last_removed = mask.first_token = self._pool_size
        for index in range(self._found_size):
            self._keep(self._found[index])
        mask.last_token = mask.first_range = self._pool_size
        for index in range(self._range_size):
            self._keep(self._ranges[index])
        mask.last_range = self._pool_size
        return mask

    def _keep(self, token: int) -> None:
        """Appends a token to the pool."""
        if self._pool_size >= len(self.pool):
            before = self.pool  # goes when all is in place: see `Matcher._fill`
            self.pool = grown_pool(before, self._pool_size)
        self.pool[self._pool_size] = token
        self._pool_size += 1

    # -- texts that are refused -------------------------------------------------------------------------------------

    def _refuse(self, exits: RemainderNodes, set_id: int, state: int, before: int, before_ranges: int) -> None:
        """Takes back the tokens that complete a text which is refused to the items in `state`.

        Args:
            exits: behind which the items go on.
            set_id: the items' set.
            state: their terminal's state.
            before: where the tokens begin in `_found` that were found by way of these items,
            before_ranges: and where the others do in `_ranges`.
        """
        sets = self.sets
        concerned = False
        for scan in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
            if sets.scans.state[scan] == state and sets.groups.captures[sets.scans.group[scan]] & (FRESH | REFUSING):
                concerned = True
                break
        if not concerned:
            return
        ends = common = _NO_ENDS  # nodes at which some item completes a refused text; and at which all of them do
        is_first = True
        for scan in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
            if sets.scans.state[scan] != state:
                continue
            group = sets.scans.group[scan]
            found = _NO_ENDS
            if self._may_end_too_soon(set_id, scan, state):
                found = set()
                self._find_ends(exits, state, found)
            elif sets.groups.captures[group] & REFUSING:
                always, others = sets.refusals(set_id, group)
                if always or others:
                    found = set(self._ends_of(exits, always)) if always else set()
                    self._find_spellings(exits, others, found)
            ends = found if is_first else ends | found
            common = found if is_first else common & found
            is_first = False
        if not ends:
            return
        trie = exits.trie
        refused = self.terminals.refused_tokens
        refused.begin()
        for node in ends:
            sure = node in common and not trie.has_counts and sets.table.text[set_id] not in (AFTER, NEEDS_CHECK)
            self._take_back(trie, trie.token_start[node], trie.token_start[node + 1], False)
            self._take_back(trie, trie.token_start[node + 1], trie.token_start[trie.end[node]], sure)
        for index in range(before_ranges, self._range_size, 2):
            self._add_between(self._ranges[index], self._ranges[index + 1])
        self._range_size = before_ranges
        kept = before
        for index in range(before, self._found_size):
            token = self._found[index]
            if not refused.has(token):
                self._found[kept] = token
                kept += 1
        self._found_size = kept

    def _ends_of(self, exits: RemainderNodes, spellings: Sequence[Spelling]) -> tuple[int, ...]:
        """The nodes that spellings lead to from behind some exits, remembered."""
        key = (id(exits), id(spellings))
        known = self._ends.get(key)
        if known is None:
            found: set[int] = set()
            self._find_spellings(exits, spellings, found)
            self._ends[key] = known = tuple(found)
            self._spellings[id(spellings)] = spellings
        return known

    def _find_spellings(self, exits: RemainderNodes, spellings: Sequence[Spelling], found: set[int]) -> None:
        for spelling in spellings:
            for index in range(exits.first, exits.last):
                self._find_spelling(exits.trie, self.terminals.pool[index], spelling, 0, found)

    def _take_back(self, trie: Trie, first: int, last: int, is_sure: bool) -> None:
        """Marks tokens as refused; they are looked at one by one unless it is sure that no other way allows them."""
        refused = self.terminals.refused_tokens
        for index in range(first, last):
            token = trie.tokens[index]
            refused.meet(token, refused.round)
            if not is_sure:
                self._suspects.add(token)
                self._removed.append(token)

    def _find_spelling(self, trie: Trie, node: int, spelling: Spelling, at: int, found: set[int]) -> None:
        """Finds the nodes that the rest of a spelling leads to from a node."""
        forms = spelling[at]
        is_last = at + 1 == len(spelling)
        for form in forms:
            child = node
            for index in range(len(form)):
                child = trie.child(child, form[index])
                if child < 0:
                    break
            if child < 0:
                continue
            if is_last:
                found.add(child)
            else:
                self._find_spelling(trie, child, spelling, at + 1, found)

    def _find_ends(self, exits: RemainderNodes, start: int, found: set[int]) -> None:
        """Finds the nodes at which a terminal may end behind some exits."""
        automata = self.terminals.automata
        trie = exits.trie
        for at in range(exits.first, exits.last):
            stack = [(self.terminals.pool[at], start)]
            while stack:
                node, state = stack.pop()
                child = node + 1
                stop = trie.size if node == ROOT_NODE else trie.end[node]
                while child < stop:
                    after = automata.next(state, trie.byte[child])
                    if automata.accepting[after]:
                        found.add(child)
                    elif after:
                        stack.append((child, after))
                    child = trie.end[child]

    def _add(self, token: int) -> None:
        if self._found_size >= len(self._found):
            self._found = grown_pool(self._found, self._found_size)
        self._found[self._found_size] = token
        self._found_size += 1

    def _add_all(self, terminal: TerminalMask) -> None:
        """Adds the tokens inside a terminal."""
        if terminal.dense >= 0:
            self._add_part(terminal)
        first, last = terminal.first_token, terminal.last_token
        if last - first <= COPIED:
            self._add_between(first, last)
            return
        if self._range_size + 2 > len(self._ranges):
            self._ranges = grown_pool(self._ranges, self._range_size)
        self._ranges[self._range_size] = first
        self._ranges[self._range_size + 1] = last
        self._range_size += 2

    def _add_part(self, terminal: TerminalMask) -> None:
        """Adds a dense mask; the white space before each of many keys is the same."""
        for known in self._parts:
            if terminal.shares_dense(known):
                return
        self._parts.append(terminal)

    def _add_between(self, first: int, last: int) -> None:
        """Adds tokens that stand in the pool of the tables."""
        pool = self.terminals.pool
        for index in range(first, last):
            self._add(pool[index])

    def _add_suspects(self, set_id: int) -> None:
        """Adds those of the suspects that the grammar allows."""
        sets = self.sets
        spellings = self.terminals.vocabulary.spellings
        for token in self._suspects:
            target = set_id
            text = spellings[token]
            for index in range(len(text)):
                target = sets.goto(target, text[index])
                if not target:
                    break
            if target:
                self._add(token)
        self._suspects.clear()

    def _suspect_all(self, terminal: TerminalMask) -> None:
        for index in range(terminal.first_token, terminal.last_token):
            self._suspects.add(self.terminals.pool[index])
        if terminal.dense >= 0:
            words = np.zeros(len(self.empty), dtype=np.uint32)
            self._copy(terminal.dense, terminal.first_removed, terminal.last_removed, words)
            self._suspects.update(tokens_of(words).tolist())

    def _follow_from(self, exits: RemainderNodes, set_id: int, state: int) -> None:
        """Adds the tokens behind some exits that may follow the terminals in `state`; see `dotted_rule_masks.py`."""
        sets = self.sets
        agenda = self._agenda
        for scan in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
            if sets.scans.state[scan] == state:
                self._add_rest(sets.scans.position[scan] + 1, 0, exits, sets.scans.group[scan])
        while agenda:
            group = agenda.pop()
            ahead = agenda.pop()
            exits = agenda.pop()
            self._go_on_behind(group, ahead, exits)

    def _go_on_behind(self, group: int, ahead: int, exits: RemainderNodes) -> None:
        """Adds the tokens that go on behind what waits in a group, and in those that end with it."""
        climb = self.places.climb(group)
        if exits.ended is not None:
            if climb.is_whole:
                self._add_once(exits.ended)  # the text may end
            for index in range(len(climb.positions)):
                if exits.ended.round == self._round:
                    break
                self._add_rest(climb.positions[index], ahead, exits, climb.groups[index])
            return
        left = self.places.bytes_of(exits)
        if not climb.first.meets(left):
            return
        for index in range(len(climb.positions)):
            first = climb.firsts[index]
            if first.meets(left):
                self._add_rest(climb.positions[index], ahead, exits, climb.groups[index])

    def _add_rest(self, position: int, ahead: int, exits: RemainderNodes, group: int) -> None:
        """Adds the tokens within the rest of a body; what escapes goes on behind what waits in the group."""
        rules = self.sets.rules
        if rules.symbols[position] == END:
            if rules.before[position]:
                ahead = rules.lookaheads.united(ahead, rules.before[position])
            self._escape(exits, ahead, group)
        elif exits.ended is not None:
            if self.places.corners.is_alive(position, ahead):
                self._add_once(exits.ended)
        elif self.places.begins_with_any(position, exits):
            rest = self.places.rest(position, ahead, exits)
            for table in rest.tables:
                self._add_once(table)
            for index in range(0, len(rest.escapes), 2):
                self._escape(rest.escapes[index], rest.escapes[index + 1], group)

    def _escape(self, exits: RemainderNodes, ahead: int, group: int) -> None:
        """Goes on behind what waits in a group with what is left, once for a mask."""
        if exits.ended is not None and exits.ended.round == self._round:
            return
        if not exits.number:
            self.terminals.give_number(exits)
        key = exits.number
        key = (key << 6 | ahead) << 30 | group
        if key not in self._met:
            self._met.add(key)
            self._agenda.append(exits)
            self._agenda.append(ahead)
            self._agenda.append(group)

    def _add_once(self, table: TerminalMask) -> None:
        """Adds the tokens of tables that were not yet added to the mask in the making."""
        if table.round != self._round:
            table.round = self._round
            self._add_all(table)

    def _follow(self, exits: RemainderNodes, set_id: int) -> None:
        """Adds the tokens behind some exits that the grammar allows from `set_id` on."""
        sets = self.sets
        if not set_id:
            return
        if not sets.rules.has_captures:
            if not exits.number:
                self.terminals.give_number(exits)
            pair = exits.number
            pair = pair << 32 | set_id  # not in one: a C integer has 32 bits
            if pair in self._met:
                return
            self._met.add(pair)
        sets.close(set_id)
        first = sets.table.first_scan[set_id]
        last = sets.table.last_scan[set_id]
        has_lookaheads = sets.rules.lookaheads.shift > 0
        self._followed += 1
        marks = self.terminals.states_behind
        of_round = marks.begin()
        if last - first > LOOKED_UP or self._followed > FOLLOWED:
            self._walk(exits, set_id)
            return
        for scan in range(first, last):
            state = sets.scans.state[scan]
            if not marks.meet(state, of_round):
                continue
            if has_lookaheads and sets.is_stuck(set_id, state):
                continue
            before = self._found_size
            before_ranges = self._range_size
            terminal = self.terminals.behind(exits, state)
            if self._is_suspect(set_id, scan):
                self._suspect_all(terminal)
            else:
                self._add_all(terminal)
            for index in range(terminal.first_exit, terminal.last_exit):
                self._follow(self.terminals.exits[index], sets.after(set_id, state))
            if sets.table.captures[set_id]:
                self._refuse(exits, set_id, state, before, before_ranges)

    def _is_suspect(self, set_id: int, scan: int) -> bool:
        """Whether the tokens that go on with a scannable item may depend on what was captured just before."""
        sets = self.sets
        text = sets.table.text[set_id]
        if text != AFTER or not sets.groups.captures[sets.scans.group[scan]] & FRESH:
            return text == NEEDS_CHECK
        return not sets.rules.goes_on_endless(sets.scans.position[scan])

    def _may_end_too_soon(self, set_id: int, scan: int, state: int) -> bool:
        """Whether tokens that end the terminal of a scannable item may depend on what was captured just before."""
        sets = self.sets
        captures = sets.groups.captures[sets.scans.group[scan]]
        if sets.table.text[set_id] == NEEDS_CHECK:
            return captures & REFUSING != 0
        if sets.table.text[set_id] != AFTER or not captures & (FRESH | REFUSING):
            return False
        if captures & REFUSING:
            return True
        for other in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
            if sets.scans.state[other] == state and sets.rules.goes_on_endless(sets.scans.position[other] + 1):
                return False  # whatever this item may not become, that one may
        return True

    def _walk(self, exits: RemainderNodes, set_id: int) -> None:
        """The same for a set with many items: byte by byte, all items at once."""
        sets = self.sets
        trie = exits.trie
        places = self._set_at
        for at in range(exits.first, exits.last):
            node = self.terminals.pool[at]
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
                    self._add_meant(exits, index, sets.table.text[target] == NEEDS_CHECK)
                places[depth] = target
                node += 1

    def _add_meant(self, exits: RemainderNodes, index: int, is_suspect: bool) -> None:
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
