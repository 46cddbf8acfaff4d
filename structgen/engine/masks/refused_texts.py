"""Tokens that complete a refused text, such as a key that an object has already: they are removed from a set's mask.

A text is refused to the items of a *capture*: what they read from its beginning to its end. An item in a capture knows
the spellings of the texts it refuses, as far as they are still to be read. For the key `"id"`, of which `"i` is read,
that is `d"`; tokens that begin so (`d"`, `d":`) are found below the node of `d"` in the trie, and removed.
"""

from __future__ import annotations

from collections.abc import Sequence

from structgen.engine.constants import AFTER, FRESH, NEEDS_CHECK, NO_BYTE, REFUSING, ROOT_NODE
from structgen.engine.deadlines import spend
from structgen.engine.earley.item_sets import ItemSetStore
from structgen.engine.grammar.tables import Spelling
from structgen.engine.masks.tables import RemainderNodes, Trie
from structgen.engine.masks.terminal_masks import TerminalMasks
from structgen.engine.masks.token_lists import TokenList

__all__ = ["RefusedTexts"]

_NO_NODES: set[int] = set()


class RefusedTexts:
    """The texts that one grammar's captures refuse, as nodes of tries.

    Args:
        sets: the grammar's item sets.
        terminals: the tables of the terminals' states.
        found: the tokens of the mask in the making.
        ranges: pairs (first, last): more tokens of that mask, by where they stand in the pool of the tables.
    """

    def __init__(self, sets: ItemSetStore, terminals: TerminalMasks, found: TokenList, ranges: TokenList) -> None:
        self._sets = sets
        self._terminals = terminals
        self._found = found
        self._ranges = ranges
        self._nodes: dict[tuple[int, int], tuple[int, ...]] = {}  # by remainders and spellings
        self._spellings: dict[int, Sequence[Spelling]] = {}  # kept alive, as remainders are by the tables
        self._next_nodes = TokenList(64)  # one byte after remainders
        self._some = self._every = _NO_NODES  # of the last call of `_find_refused`

    def first_refusing(self, set_id: int) -> int:
        """Return the first scannable item of a set to which a text may be refused; the end of its items if none is."""
        sets = self._sets
        scan, last = sets.table.first_scan[set_id], sets.table.last_scan[set_id]
        if not sets.table.captures[set_id]:
            return last
        while scan < last and not sets.groups.captures[sets.scans.group[scan]] & (FRESH | REFUSING):
            scan += 1
        return scan

    def remove(
        self,
        remainders: RemainderNodes,
        set_id: int,
        state: int,
        first_refusing: int,
        first_found: int,
        first_range: int,
        is_dense: bool,
    ) -> None:
        """Remove the tokens that complete a text which is refused to the items in `state`.

        Args:
            remainders: what is left of the tokens where the items go on.
            set_id: the set of the items.
            state: the state of their terminal.
            first_refusing: the result of the method of this name.
            first_found: the index in `found` of the first token that was found by way of these items.
            first_range: the same in `ranges`.
            is_dense: whether some of the tokens that run past the end of the terminal are in dense masks, and not in
                these lists.
        """
        if not self._may_refuse(set_id, state, first_refusing):
            return
        found, ranges = self._found, self._ranges
        if not self._find_refused(remainders, set_id, state):
            return
        nodes, common = self._some, self._every
        trie = remainders.trie
        text = self._sets.table.text[set_id]
        refused = self._terminals.scratch.refused_tokens
        refused.begin()
        for node in nodes:
            # Sure if all items in `state` refuse it, the captured text is known, and its tokens are in the lists.
            # In a trie of remainders, a token may stand below another node as well.
            sure = node in common and not trie.has_counts and text not in (AFTER, NEEDS_CHECK) and not is_dense
            self._remove_between(trie, trie.token_start[node], trie.token_start[node + 1], False)
            self._remove_between(trie, trie.token_start[node + 1], trie.token_start[trie.end[node]], sure)
        for index in range(first_range, ranges.size, 2):
            found.extend(self._terminals.store.pool, ranges.values[index], ranges.values[index + 1])
        ranges.size = first_range
        kept = first_found
        for index in range(first_found, found.size):
            token = found.values[index]
            if not refused.has(token):
                found.values[kept] = token
                kept += 1
        found.size = kept

    def _may_refuse(self, set_id: int, state: int, first_refusing: int) -> bool:
        """Return whether a text may be refused to some item in `state`, before any spelling is looked at."""
        sets = self._sets
        for scan in range(first_refusing, sets.table.last_scan[set_id]):
            if sets.scans.state[scan] == state and sets.groups.captures[sets.scans.group[scan]] & (FRESH | REFUSING):
                return True
        return False

    def _find_refused(self, remainders: RemainderNodes, set_id: int, state: int) -> bool:
        """Find the nodes at which items in `state` complete a refused text; return whether there are any.

        `_some` gets those of some item, and `_every` those of all items. Mostly there are none: no sets are made then.
        """
        sets = self._sets
        some = every = _NO_NODES
        is_first = True
        for scan in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
            if sets.scans.state[scan] != state:
                continue
            group = sets.scans.group[scan]
            nodes = _NO_NODES
            if self._may_end_too_soon(set_id, scan, state):
                nodes = set()
                self._find_ends(remainders, state, nodes)
            elif sets.groups.captures[group] & REFUSING:
                groups, others = sets.refusals(set_id, group)
                if groups or others:
                    nodes = set()
                    for rests in groups:
                        nodes.update(self._nodes_of(remainders, rests))
                    self._find_spellings(remainders, others, nodes)
            if is_first:
                some = every = nodes
                is_first = False
            elif nodes or some:
                some, every = some | nodes, every & nodes
        self._some, self._every = some, every
        return bool(some)

    def _may_end_too_soon(self, set_id: int, scan: int, state: int) -> bool:
        """Return whether tokens that end the terminal of a scannable item may depend on what was captured before."""
        sets = self._sets
        captures = sets.groups.captures[sets.scans.group[scan]]
        if sets.table.text[set_id] == NEEDS_CHECK:
            return captures & REFUSING != 0
        if sets.table.text[set_id] != AFTER or not captures & (FRESH | REFUSING):
            return False
        if captures & REFUSING:
            return True
        for other in range(sets.table.first_scan[set_id], sets.table.last_scan[set_id]):
            if sets.scans.state[other] == state and sets.rules.goes_on_endless(sets.scans.position[other] + 1):
                return False  # whatever this item may not become, the other one may
        return True

    def _remove_between(self, trie: Trie, first: int, last: int, is_sure: bool) -> None:
        """Mark `trie.tokens[first:last]` as refused.

        They are checked one by one unless it is sure that no other way allows them.
        """
        scratch = self._terminals.scratch
        refused = scratch.refused_tokens
        for index in range(first, last):
            token = trie.tokens[index]
            refused.meet(token, refused.round)
            if not is_sure:
                scratch.suspects.add(token)
                scratch.removed.append(token)

    # -- nodes of tries ---------------------------------------------------------------------------------------------

    def _nodes_of(self, remainders: RemainderNodes, spellings: Sequence[Spelling]) -> tuple[int, ...]:
        """Return the nodes that spellings lead to from remainders, remembered."""
        key = (id(remainders), id(spellings))
        known = self._nodes.get(key)
        if known is None:
            found: set[int] = set()
            self._find_spellings(remainders, spellings, found)
            self._nodes[key] = known = tuple(found)
            self._spellings[id(spellings)] = spellings
        return known

    def _find_spellings(self, remainders: RemainderNodes, spellings: Sequence[Spelling], found: set[int]) -> None:
        """Add the nodes that spellings lead to from remainders.

        Keys begin with the same quote, and remainders often have many nodes. So the nodes after the first byte are
        found once, not for each spelling.
        """
        nodes = self._next_nodes
        last_byte = NO_BYTE
        for spelling in spellings:
            for form in spelling[0]:
                if form[0] != last_byte:
                    last_byte = form[0]
                    self._terminals.next_bytes.find(remainders, last_byte, nodes)
                    spend(1 + remainders.last - remainders.first)
                spend(nodes.size)
                for index in range(nodes.size):
                    self._find_rest(remainders.trie, nodes.values[index], spelling, 0, form, 1, found)

    def _find_rest(
        self, trie: Trie, node: int, spelling: Spelling, at: int, form: bytes, read: int, found: set[int]
    ) -> None:
        """Add the nodes that the rest of a spelling leads to from a node.

        Args:
            trie: the trie of the node.
            node: the node.
            spelling: the spelling.
            at: the index of the unit that is being read.
            form: the form of that unit.
            read: how many bytes of the form lead to the node.
            found: gets the nodes.
        """
        while node >= 0 and read < len(form):
            node = trie.child(node, form[read])
            read += 1
        if node >= 0 and at + 1 == len(spelling):
            found.add(node)
        elif node >= 0:
            for following in spelling[at + 1]:
                child = trie.child(node, following[0])
                if child >= 0:
                    self._find_rest(trie, child, spelling, at + 1, following, 1, found)

    def _find_ends(self, remainders: RemainderNodes, start: int, found: set[int]) -> None:
        """Add the nodes at which a terminal in `start` may end in what is left of tokens."""
        automata = self._terminals.automata
        trie = remainders.trie
        for at in range(remainders.first, remainders.last):
            stack = [(self._terminals.store.pool[at], start)]
            while stack:
                node, state = stack.pop()
                child = node + 1
                stop = trie.size if node == ROOT_NODE else trie.end[node]
                while child < stop:
                    after = automata.next(state, trie.byte[child])
                    if automata.table.accepting[after]:
                        found.add(child)
                    elif after:
                        stack.append((child, after))
                    child = trie.end[child]
