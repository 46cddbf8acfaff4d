"""Walks over the vocabulary's trie that count how many of what is repeated each token begins.

One walk serves all bounds of a repetition: `[a-z]{3,8}"` and `[a-z]{0,5}"` differ only in which counts they allow.
`engine/masks/counted_masks.py` makes tables of the results.
"""

from __future__ import annotations

from array import array

from structgen.engine.arrays import zeros
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import (
    DEAD,
    DESCEND,
    EMPTY,
    FIRST_LEAD,
    K_COUNTING,
    NO_BYTE,
    NO_MAP,
    NOT_EXPANDED,
    SKIP,
    STOP,
)
from structgen.engine.deadlines import spend
from structgen.engine.masks.character_kinds import ALL_KINDS, kind_of, kinds_outside
from structgen.engine.masks.leaving_nodes import MIN_ALONG, MIN_ALONG_TOKENS, LeavingNodes
from structgen.engine.masks.skippable_states import SkippableStates
from structgen.engine.masks.tables import LOW_20_BITS, LOW_32_BITS, Trie
from structgen.engine.masks.token_lists import FoundTokens
from structgen.engine.masks.trie_walk import AutomatonPath, EnteredStates, TrieWalk

__all__ = ["BoundedWalk", "CountedWalk"]

# Declared as C integers in the .pxd, so not importable from here.
NO_STATE = -1
BROKEN_KIND = kind_of(0xFF)
ASK = 3  # beside DESCEND and SKIP: `visit` tells what to do at a node


class CountedWalk(TrieWalk):
    """The walk for `C* R`, a counted class C and what follows it, which counts the `C` that each token begins.

    Args:
        automata: the automata of C and R.
        trie: the vocabulary's trie.
        skippable_states: tells which subtrees a walk may skip within R.
        found: gets the results: `inside` the tokens that stay among the `C`, `rest` those that go on into R, `exits`
            the nodes at which R may end, each with its count.
    """

    def __init__(
        self, automata: AutomatonStore, trie: Trie, skippable_states: SkippableStates, found: FoundTokens
    ) -> None:
        super().__init__(trie)
        self._automata = automata
        self._kinds = skippable_states.character_kinds
        self._skippable_states = skippable_states
        self._found = found
        depth = trie.max_depth + 2
        self._path = AutomatonPath(automata, depth)  # the state of C, or of R once it has begun
        self._rest_path = AutomatonPath(automata, depth)  # the state of R, should it have begun
        self._has_rest_begun = zeros(depth)
        self._count_at = zeros(depth)
        self._char_state = self._rest_state = DEAD
        self._absorbs = False
        self._characters = 0
        self._child_at, self._last_child_at, self._last_token_at = zeros(depth), zeros(depth), zeros(depth)
        self._step_of = zeros(256)  # by byte: what to do at a node before which there are only C

    def count(self, char_state: int, rest_state: int, absorbs: bool) -> bool:
        """Walk the trie; False as soon as a byte could belong to both C and R.

        Args:
            char_state: the state of C.
            rest_state: the state of R.
            absorbs: whether R may begin with any number of C. Then a byte may belong to both: however the text is
                read, the same may follow.
        """
        automata = self._automata
        self._found.clear()
        self._char_state, self._rest_state, self._absorbs = char_state, rest_state, absorbs
        automata.expand(char_state)
        automata.expand(rest_state)
        automata.expand(DEAD)
        self._characters = self._only_counted(char_state, rest_state, absorbs)
        self._enter(0, 0)
        self._set_steps()
        return self._walk_characters()

    def _enter(self, depth: int, count: int) -> None:
        """Set what is known at a depth where so many C and nothing else were read."""
        self._path.enter(depth, self._char_state)
        self._rest_path.enter(depth, self._rest_state)
        self._has_rest_begun[depth] = 0
        self._count_at[depth] = count

    def _set_steps(self) -> None:
        """Find for each byte what to do at a node before which there are only C."""
        for byte in range(256):
            if byte < FIRST_LEAD and kind_of(byte) & self._characters:
                self._step_of[byte] = DESCEND
            elif self._path.target(0, byte) == 0 and self._rest_path.target(0, byte) == 0:
                self._step_of[byte] = SKIP
            else:
                self._step_of[byte] = ASK

    def _walk_characters(self) -> bool:
        """Walk the trie as far as there are characters that are each one C; `visit` takes over at other nodes.

        Here the states of C and R stay as they are, so a look-up of the byte is enough. It goes along the children of
        each node, as `TokenWalks._walk_below` does.
        """
        found, trie, characters, step_of = self._found, self.trie, self._characters, self._step_of
        records, kinds_of_byte, first_child = trie.child_records, trie.kinds_of_byte, trie.first_child
        token_at = trie.tokens
        at_depth, stop_at_depth, last_at_depth = self._child_at, self._last_child_at, self._last_token_at
        visited = depth = 0
        at, stop, last = first_child[trie.size], first_child[trie.size + 1], len(token_at)
        while True:
            if at == stop:  # go back to the siblings of the parent
                if depth == 0:
                    break
                depth -= 1
                at, stop, last = at_depth[depth], stop_at_depth[depth], last_at_depth[depth]
                continue
            visited += 1
            record = 3 * at
            at += 1
            entry, more = records[record], records[record + 1]
            byte = entry >> 32 & 255
            step = step_of[byte]
            if step == SKIP:
                continue
            first = entry & LOW_32_BITS
            after = last if at == stop else records[record + 3] & LOW_32_BITS
            if (records[record + 2] | kinds_of_byte[byte]) & ~characters == 0:
                found.skip(first, after, 0, 0)
                most = more & LOW_20_BITS
                if most > found.largest_count:
                    found.largest_count = most
                continue
            node = entry >> 40
            if step == ASK:
                self._enter(depth, depth)
                if not self.walk(node, trie.end[node]):
                    return False
                continue
            at_depth[depth], stop_at_depth[depth], last_at_depth[depth] = at, stop, last
            depth += 1
            at, stop, last = more >> 40, first_child[node + 1], after
            if at < stop:
                after = records[3 * at] & LOW_32_BITS
            if first < after:
                found.largest_count = max(found.largest_count, depth)
            for index in range(first, after):
                found.inside.add_counted(token_at[index], depth)
        self.nodes_visited += visited
        spend(visited)
        return True

    def _only_counted(self, char_state: int, rest_state: int, absorbs: bool) -> int:
        """Return the kinds of characters each of which is one C and nothing else, and after which nothing may end."""
        if self._automata.table.accepting[rest_state]:
            return 0
        found = self._kinds.between(char_state, EMPTY)
        return found & (self._kinds.loops(rest_state) if absorbs else self._kinds.refused(rest_state))

    def visit(self, node: int, depth: int, byte: int) -> int:
        """Read one more byte of C, or of R; see `TrieWalk.visit`."""
        automata = self._automata
        above = depth - 1
        has_rest_begun = self._has_rest_begun[above]
        count = self._count_at[above]
        if (
            byte >= FIRST_LEAD
            and not has_rest_begun
            and self._path.state_at[above] == self._char_state
            and self.trie.kinds_with[node] & ~self._characters == 0
        ):
            add_with_counted(self.trie, node, self._found, count, 0)
            return SKIP
        state = self._path.target(above, byte)
        rest = DEAD
        if not has_rest_begun:
            rest = self._rest_path.target(above, byte)
            if self._path.state_at[above] == self._char_state:
                if state and rest and not self._absorbs:
                    return STOP
                count += 1
            if state == 0:  # the last C has ended before: the one that seemed to begin since belongs to the rest
                count -= 1
                state = rest
                has_rest_begun = 1
        if state == 0:
            return SKIP
        if automata.only_byte.values[state] == NOT_EXPANDED or automata.only_byte.values[rest] == NOT_EXPANDED:
            automata.expand(state)
            automata.expand(rest)
        if not has_rest_begun and automata.table.accepting[state]:
            if automata.only_byte.values[state] != NO_BYTE:
                return STOP
            state = self._char_state
            rest = self._rest_state
        elif not has_rest_begun and state == self._char_state:
            return STOP
        if self._add(node, state, rest, has_rest_begun, count):
            return SKIP
        if has_rest_begun and automata.only_byte.values[state] == NO_BYTE:
            return SKIP
        self._path.enter(depth, state)
        self._rest_path.enter(depth, rest)
        self._has_rest_begun[depth] = has_rest_begun
        self._count_at[depth] = count
        return DESCEND

    def _add(self, node: int, state: int, rest: int, has_rest_begun: int, count: int) -> bool:
        """Add the tokens of a node, and the exit there; True if all tokens below it are added, too."""
        found, trie = self._found, self.trie
        first, last, end = trie.token_start[node], trie.token_start[node + 1], trie.end[node]
        if count > found.largest_count:
            found.largest_count = count
        tokens = found.rest if has_rest_begun else found.inside
        for index in range(first, last):
            tokens.add_counted(trie.tokens[index], count)
        if end == node + 1:
            return False
        if has_rest_begun:
            number = self._skippable_states.find(state)
            if self._skippable_states.stays_inside(number, trie.kinds_below[node], trie.height[node]):
                found.rest.extend_counted(trie.tokens, last, trie.token_start[end], count)
                return True
            if self._automata.table.accepting[state]:
                found.exits.add_counted(node, count)
        elif state == self._char_state:
            if trie.kinds_below[node] & ~self._characters == 0:
                add_below_counted(trie, node, found, count, 0)
                return True
            if self._automata.table.accepting[self._rest_state]:
                found.exits.add_counted(node, count)
        elif self._automata.table.accepting[rest]:
            found.exits.add_counted(node, count - 1)
        return False


class BoundedWalk(TrieWalk):
    """The walk for a state with a bound on a count and further conditions, which finds the bound each token needs.

    Args:
        automata: the automata of the states.
        trie: the vocabulary's trie.
        skippable_states: tells which characters are each one of what is counted.
        entered: records the states that the walk enters, if it is asked to.
        found: gets the results: `inside` the tokens with the bounds they need, `rest` those that go on past all that is
            counted, `exits` the nodes at which the terminal may end, both with their counts.
    """

    def __init__(
        self,
        automata: AutomatonStore,
        trie: Trie,
        skippable_states: SkippableStates,
        entered: EnteredStates,
        found: FoundTokens,
    ) -> None:
        super().__init__(trie)
        self._automata = automata
        self._kinds = skippable_states.character_kinds
        self._leaving_nodes = LeavingNodes(skippable_states, trie)
        self._entered = entered
        self._found = found
        depth = trie.max_depth + 2
        self._path = AutomatonPath(automata, depth)
        self._count_at = zeros(depth)
        self._may_begin = zeros(depth)  # by depth: whether the next byte may begin one more of what is counted
        self._child_at, self._last_child_at, self._last_token_at = zeros(depth), zeros(depth), zeros(depth)
        self._characters_at, self._base_at, self._least_at = zeros(depth), zeros(depth), zeros(depth)
        self._free_at = array("Q", bytes(8 * depth))
        self._leaving_at, self._first_count_at = zeros(depth), zeros(depth)
        self._body = DEAD  # the state of what is counted
        self._characters = 0  # kinds of characters each of which is one of what is counted
        self._absent = 0  # kinds of characters that no text has
        # What `_learn` has found about the state that was asked for last:
        self._known = NO_STATE
        self._has_only_least_count = False
        self._staying = 0  # kinds of characters after which the same tokens may follow
        # The same about the state after one character, see `_find_after_one`:
        self._known_before = self._after_one = NO_STATE
        self._staying_after_one = 0

    def count(self, free: int) -> None:
        """Walk the trie for a state without its bound."""
        automata = self._automata
        self._found.clear()
        automata.derivatives.derive(free)
        star = automata.table.payload[free][0]
        self._body = automata.table.payload[star][0]
        self._characters = self._kinds.between(self._body, EMPTY)
        # Where the terminal may end between two of what is counted, what comes next decides about such characters.
        ends = automata.table.accepting[automata.table.tail[star]]
        self._absent = 0 if ends else kinds_outside(automata.alphabets.alphabet(free))
        self._path.enter(0, free)
        self._count_at[0] = 0
        self._may_begin[0] = automata.derivatives.is_between(free)
        self._entered.add(free)
        self._walk_children()

    def _walk_children(self) -> None:
        """Walk the trie along the children of each node, as `TokenWalks._walk_below` does.

        Where characters only count from the state at a node on, `visit` is not asked about them.
        """
        found, trie, path = self._found, self.trie, self._path
        records, kinds_of_byte, first_child = trie.child_records, trie.kinds_of_byte, trie.first_child
        at_depth, stop_at_depth, last_at_depth = self._child_at, self._last_child_at, self._last_token_at
        visited = depth = characters = 0
        largest = 0
        # For the state at this depth: the kinds of characters that only count, the count that a token gets besides its
        # number of characters, and its least count.
        free = count = least = self.visited = 0
        # Where the walk goes along a set of nodes, as in `TokenWalks._walk_below`.
        leaving = begun = 0
        leaving_nodes, leaving_at = self._leaving_nodes, self._leaving_at
        leaving_nodes.begin()
        along_state = NO_STATE
        at, stop, last = first_child[trie.size], first_child[trie.size + 1], trie.token_start[trie.size]
        while True:
            if at == stop:  # go back to the siblings of the parent
                if depth == 0:
                    break
                depth -= 1
                at, stop, last = at_depth[depth], stop_at_depth[depth], last_at_depth[depth]
                characters = self._characters_at[depth]
                free, count, least = self._free_at[depth], self._base_at[depth], self._least_at[depth]
                leaving = leaving_at[depth]
                begun = trie.token_start[at] if leaving else 0
                continue
            visited += 1
            if leaving:
                node = leaving_nodes.next(leaving, at, stop)
                if begun < trie.token_start[node]:
                    found.skip(begun, trie.token_start[node], count, least)
                if node == stop:
                    at = stop
                    leaving = 0
                    continue
                at = trie.end[node]
                begun = trie.token_start[at]
                self._count_at[depth] = self._first_count_at[depth] + trie.characters[node] - 1 - characters
                if self.visit(node, depth + 1, trie.byte[node]) == SKIP:
                    continue
                after = begun
            else:
                record = 3 * at
                at += 1
                entry, more = records[record], records[record + 1]
                byte = entry >> 32 & 255
                after = last if at == stop else records[record + 3] & LOW_32_BITS
                if (records[record + 2] | kinds_of_byte[byte]) & ~free == 0:
                    most = more & LOW_20_BITS
                    largest = max(largest, count + most, least)
                    found.skip(entry & LOW_32_BITS, after, count, least)
                    continue
                node = entry >> 40
                step = self.visit(node, depth + 1, byte)
                if free == 0 and self._may_begin[depth] and path.state_at[depth] == self._known:  # `visit` learned it
                    free = self._learned_kinds(depth, characters)
                    count, least = self._base_at[depth], self._least_at[depth]
                if step == SKIP:
                    continue
            at_depth[depth], stop_at_depth[depth], last_at_depth[depth] = at, stop, last
            self._characters_at[depth] = characters
            self._free_at[depth], self._base_at[depth], self._least_at[depth] = free, count, least
            leaving_at[depth] = leaving
            depth += 1
            at, stop, last = first_child[node], first_child[node + 1], after
            characters = trie.characters[node]
            free = 0
            leaving = 0
            is_large = last - trie.token_start[node + 1] >= MIN_ALONG_TOKENS and self._may_begin[depth] != 0
            if is_large or path.state_at[depth] == along_state:
                leaving = self._leaving_from(node, path.state_at[depth], depth)
            if leaving:
                along_state = path.state_at[depth]
                at, stop, begun = node + 1, trie.end[node], trie.token_start[node + 1]
                self._first_count_at[depth] = self._count_at[depth]
            if self._may_begin[depth] and path.state_at[depth] == self._known:
                free = self._learned_kinds(depth, characters)
                count, least = self._base_at[depth], self._least_at[depth]
        found.largest_count = max(found.largest_count, largest)
        self.nodes_visited += visited + self.visited
        spend(visited)

    def _leaving_from(self, node: int, state: int, depth: int) -> int:
        """Return where the set of nodes begins that the walk goes along below a node; 0 if it goes along the children.

        Args:
            node: the node.
            state: the state there, between two of what is counted.
            depth: the number of nodes on the way there.
        """
        trie = self.trie
        if trie.height[node] < MIN_ALONG or trie.kinds_below[node] & BROKEN_KIND:
            return 0
        if state != self._known:
            self._learn(state)
        if self._has_only_least_count:
            return 0
        leaving = self._leaving_nodes.find_counted(state, self._characters & self._staying, self._body)
        if leaving:
            most = self._count_at[depth] + trie.most_below[node] - trie.characters[node]
            most += self._automata.emptiness.least_begun(state)
            self._found.largest_count = max(self._found.largest_count, most)
        return leaving

    def _learned_kinds(self, depth: int, characters: int) -> int:
        """Return the kinds of characters that only count after the known state at a depth; set the counts there."""
        count = self._count_at[depth]
        begun = self._automata.emptiness.least_begun(self._path.state_at[depth])
        self._least_at[depth] = count + begun if self._has_only_least_count else 0
        self._base_at[depth] = (count if self._has_only_least_count else count + begun) - characters
        return self._characters & self._staying

    def visit(self, node: int, depth: int, byte: int) -> int:
        """Read one more byte; see `TrieWalk.visit`."""
        automata, found, trie, path = self._automata, self._found, self.trie, self._path
        above = depth - 1
        if (
            byte >= FIRST_LEAD
            and self._may_begin[above]
            and self._add_with_character(node, path.state_at[above], self._count_at[above])
        ):
            return SKIP
        state = path.target(above, byte)
        if state == 0:
            return SKIP
        count = self._count_at[above]
        if self._may_begin[above] and automata.table.kind[state] == K_COUNTING:
            count += 1
        first, last = trie.token_start[node], trie.token_start[node + 1]
        if first < last:
            needed = count + automata.emptiness.least_begun(state)
            if needed > found.largest_count:
                found.largest_count = needed
            tokens = found.inside if automata.table.kind[state] == K_COUNTING else found.rest
            tokens.extend_counted(trie.tokens, first, last, needed)
            if self._entered.has_ends:
                self._entered.add(state)
        if trie.end[node] == node + 1:
            return SKIP
        is_between = self._may_begin[above] if state == path.state_at[above] else automata.derivatives.is_between(state)
        if is_between and (
            self._add_all(node, trie.kinds_below[node], state, count, False) or self._add_decided(node, state, count)
        ):
            if self._entered.is_recording:
                self._entered.add(state)
            return SKIP
        if automata.table.accepting[state]:
            found.largest_count = max(found.largest_count, count)
            found.exits.add_counted(node, count)
        if automata.partitions.map_at.values[state] == NO_MAP:
            automata.derivatives.derive(state)
        if automata.only_byte.values[state] == NO_BYTE:
            return SKIP
        if self._entered.is_recording:
            self._entered.add(state)
        path.enter(depth, state)
        self._count_at[depth] = count
        self._may_begin[depth] = is_between
        return DESCEND

    def _add_all(self, node: int, kinds: int, state: int, count: int, is_with: bool) -> bool:
        """Add all tokens below a node if the characters there only count; False if one may do anything else.

        Args:
            node: the node.
            kinds: the kinds of these characters.
            state: the state before them.
            count: the number of characters before them.
            is_with: add the tokens at the node, too, with its own character.
        """
        if kinds & ~self._characters != 0:
            return False
        if state != self._known:
            self._learn(state)
        if kinds & ~self._staying != 0:
            return False
        least = 0
        begun = self._automata.emptiness.least_begun(state)
        if self._has_only_least_count:
            least = count + begun
        else:
            count += begun
        if is_with:
            add_with_counted(self.trie, node, self._found, count, least)
        else:
            add_below_counted(self.trie, node, self._found, count, least)
        return True

    def _learn(self, state: int) -> None:
        """Set what `_add_all` needs to know of a state. It is kept: the next call is mostly for the same state."""
        self._has_only_least_count = self._automata.has_only_least_count(state)
        self._staying = ALL_KINDS if self._has_only_least_count else self._kinds.loops(state)
        self._known = state

    def _add_with_character(self, node: int, state: int, count: int) -> bool:
        """Add all tokens at and below a node at which a character begins; False if one may do more than count.

        Args:
            node: the node; a character of several bytes begins there.
            state: the state before the character.
            count: the number of characters before it.
        """
        kinds = self.trie.kinds_with[node]
        if self._add_all(node, kinds, state, count, True):
            self._entered.add(state)
            return True
        if kinds & ~self._characters != 0:
            return False
        if state != self._known_before:
            self._find_after_one(state)
        if kinds & ~self._staying_after_one != 0:
            return False
        count += self._automata.emptiness.least_begun(self._after_one)
        add_with_counted(self.trie, node, self._found, count, 0)
        self._entered.add(self._after_one)
        return True

    def _find_after_one(self, state: int) -> None:
        """Find the characters that all lead from a state to one that they never leave, as the first one of a word."""
        target = self._kinds.after_sample(state)
        self._known_before, self._after_one = state, target
        self._staying_after_one = 0
        if target and self._automata.derivatives.is_between(target):
            self._staying_after_one = self._kinds.loops(target) & self._kinds.between_beyond_ascii(state, target)

    def _add_decided(self, top: int, state: int, count: int) -> bool:
        """Add the tokens below a node without characters that no text has; False if others do more than count.

        Long tokens, such as lines of dashes, end with a line feed, say. No state is made for each of their dashes.

        Args:
            top: the node.
            state: the state there, between two of what is counted.
            count: the number of characters up to there.
        """
        found, trie, absent = self._found, self.trie, self._absent
        kinds = trie.kinds_below[top]
        if kinds & absent == 0 or kinds & ~(self._characters | absent) != 0:
            return False
        if state != self._known:
            self._learn(state)
        if kinds & ~(self._staying | absent) != 0:
            return False
        begun = count + self._automata.emptiness.least_begun(state)
        least = begun if self._has_only_least_count else 0
        before = (count if self._has_only_least_count else begun) - trie.characters[top]
        stop = trie.end[top]
        node = top + 1
        while node < stop:
            self.visited += 1
            end = trie.end[node]
            if kind_of(trie.byte[node]) & absent:
                node = end
                continue
            first, after = trie.token_start[node], trie.token_start[node + 1]
            most = trie.characters[node] if first < after else 0
            if trie.kinds_below[node] & absent == 0:
                after = trie.token_start[end]
                most = max(most, trie.most_below[node])
            else:
                end = node + 1
            if first < after:
                found.skip(first, after, before, least)
                found.largest_count = max(found.largest_count, before + most, least)
            node = end
        return True


def add_below_counted(trie: Trie, node: int, found: FoundTokens, count: int, least: int) -> None:
    """Add all tokens below a node of a vocabulary's trie to those inside.

    The count of each is `count` and the characters that it begins after the node, or `least` if that is more.
    """
    first = trie.token_start[node + 1]
    last = trie.token_start[trie.end[node]]
    count -= trie.characters[node]
    if first < last:
        found.skip(first, last, count, least)
        found.largest_count = max(found.largest_count, count + trie.most_below[node], least)


def add_with_counted(trie: Trie, node: int, found: FoundTokens, count: int, least: int) -> None:
    """Do what `add_below_counted` does for the tokens at and below a node; the node's character counts, too."""
    first = trie.token_start[node]
    last = trie.token_start[trie.end[node]]
    count += 1 - trie.characters[node]
    found.skip(first, last, count, least)
    found.largest_count = max(found.largest_count, count + max(trie.characters[node], trie.most_below[node]), least)
