"""The walk over a trie for one automaton state: which tokens it reads to their last byte, and where it may end.

It begins at the root of the vocabulary's trie, or at the nodes of remainders, and skips a subtree as soon as no text of
the state goes through it. Its results are the lists of a `FoundTokens`.
"""

from __future__ import annotations

from collections.abc import Sequence

from structgen.engine.arrays import grown_pool, zeros
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import FIRST_LEAD, K_LITERAL, MANY_NODES, NO_BYTE, NO_MAP, ROOT_NODE
from structgen.engine.deadlines import spend
from structgen.engine.masks.character_kinds import kind_of
from structgen.engine.masks.decided_subtrees import DecidedSubtrees
from structgen.engine.masks.leaving_nodes import MIN_ALONG, MIN_ALONG_TOKENS, LeavingNodes
from structgen.engine.masks.next_bytes import NextBytes
from structgen.engine.masks.skippable_states import SkippableStates
from structgen.engine.masks.table_store import TableStore
from structgen.engine.masks.tables import LOW_20_BITS, LOW_32_BITS, RemainderNodes
from structgen.engine.masks.token_lists import FoundTokens
from structgen.engine.masks.trie_walk import AutomatonPath, EnteredStates

__all__ = ["TokenWalks"]

# Declared as C integers in the .pxd, so not importable from here.
NOT_ENTERED = -1  # stands for the state in which a walk begins
MIN_SKIPPED_TOKENS = 16  # in a subtree for which it is worth finding out whether the walk may skip it
# A walk looks for closed states only after so many nodes, in subtrees of so many tokens.
MIN_WALKED = 10_000
MIN_CLOSED_TOKENS = 64
NODES_PER_STATE = 128  # for each state that the search may come to, a walk has visited so many nodes before
MIN_DECIDED = 16  # bytes below a node from which on it is asked whether characters alone decide its tokens
MIN_HIGH = 24  # bytes below a node for which it is worth that, as MIN_SKIPPED_TOKENS
UNKNOWN_KINDS = 2**64 - 1
NOT_ASKED = -2  # in place of a number of a skippable state
MIN_ONCE = 8  # nodes in all for each that may be walked twice; of fewer, a walk compares what it finds
BROKEN_KIND = kind_of(0xFF)
MIN_LARGE = 64  # nodes at and below one of which a walk may skip some


class TokenWalks:
    """Walks over tries with single states.

    They have loops of their own, with the visit written out and its values in local variables: with a `visit` method a
    node takes more than twice as long. One loop walks the whole vocabulary, or all that comes below one node, and skips
    subtrees. The other one walks what is left of many tokens, of which most are short.

    Args:
        automata: the automata of the states.
        store: keeps the nodes at which walks begin.
        next_bytes: makes tables of the nodes that bytes lead to.
        skippable_states: tells which subtrees a walk may skip.
        entered: records the states that a walk enters, if it is asked to.
        found: gets the results of each walk.
        spellings: the bytes of each token.

    Attributes:
        nodes_visited: the number of trie nodes visited so far (a work counter for benchmarks).
    """

    def __init__(
        self,
        automata: AutomatonStore,
        store: TableStore,
        next_bytes: NextBytes,
        skippable_states: SkippableStates,
        entered: EnteredStates,
        found: FoundTokens,
        spellings: Sequence[bytes],
    ) -> None:
        self._automata = automata
        self._store = store
        self._next_bytes = next_bytes
        self._skippable_states = skippable_states
        self._entered = entered
        self._found = found
        self.nodes_visited = 0
        depth = store.trie.max_depth + 2
        self._path = AutomatonPath(automata, depth)
        self._skippable_at = zeros(depth)
        self._child_at, self._last_child_at, self._last_token_at = zeros(depth), zeros(depth), zeros(depth)
        self._serial = 0
        self._walk_of_token = zeros(len(spellings))
        self._walk_of_node = self._state_of_node = zeros(1)
        self._nodes = zeros(1024)
        self._node_count = 0
        self._decided = DecidedSubtrees(automata, store.trie, spellings, skippable_states, found)
        self._leaving_nodes = LeavingNodes(skippable_states, store.trie)
        self._leaving_at = zeros(depth)

    def walk(self, remainders: RemainderNodes, start: int) -> None:
        """Find the tokens and exits of a state in what is left of tokens.

        Args:
            remainders: the nodes at which the walk begins.
            start: the state there.
        """
        automata, trie = self._automata, remainders.trie
        self._found.clear()
        self._serial += 1
        # A node below another one is found from both; kept twice, nodes would multiply from step to step.
        may_repeat = remainders.last - remainders.first > 1 or trie.has_counts
        is_many = remainders.last - remainders.first >= MANY_NODES
        is_before_next = may_repeat and not is_many and not trie.has_counts
        if not is_many:
            self._begin_at(remainders.first, remainders.last)
        elif not remainders.last_entry:
            self._next_bytes.make_table(remainders)
        if automata.table.kind[start] == K_LITERAL and len(automata.table.payload[start]) > 1:
            start = self._read_literal(remainders, start, is_many)
            if not self._node_count:
                return
            is_many = is_before_next = False
        automata.expand(start)
        are_next = is_many
        if is_many:
            self._begin_after_next_byte(remainders, start)
        elif is_before_next:
            self._begin_at_children(remainders, start)
            are_next = True
        if are_next:
            may_repeat = may_repeat and self._may_meet(remainders)
            if not may_repeat and trie is self._store.trie:
                self._walk_large(start)  # as after a blank: half of all tokens begin so
        if may_repeat or are_next:
            self._walk_from_nodes(remainders, start, may_repeat, are_next)
        else:
            self._walk_below(self._nodes[0], start)

    def _walk_from_nodes(self, remainders: RemainderNodes, start: int, may_repeat: bool, are_next: bool) -> None:
        """Walk the trie below the nodes, or with them if they are one byte further (`are_next`).

        A hot loop: what each step needs lies in local variables. Little comes below most of the nodes, so no subtrees
        are skipped, except those that were walked from the same state: a node may lie below another one of the walk. So
        `( [a-z]+ )*`, where each character may end a part, visits a node once.
        """
        found, automata, trie, path = self._found, self._automata, remainders.trie, self._path
        if may_repeat and len(self._walk_of_node) <= trie.size:
            self._walk_of_node, self._state_of_node = zeros(trie.size + 1), zeros(trie.size + 1)
        walk_of, state_of, serial = self._walk_of_node, self._state_of_node, self._serial
        class_of, targets, pools = (
            automata.partitions.class_of,
            automata.partitions.target_pool,
            automata.partitions.pools,
        )
        records, token_at = trie.records, trie.tokens
        map_at, targets_at = path.map_at, path.targets_at
        visited = 0
        entered_depth = -1
        spend(self._node_count)
        for index in range(self._node_count):
            node = self._nodes[index]
            depth = 0
            stop = trie.size
            if are_next:
                depth = trie.depth[node] - 1
                stop = trie.end[node]
                node -= 1
            elif node != ROOT_NODE:
                depth = trie.depth[node]
                stop = trie.end[node]
            node += 1
            if depth != entered_depth:
                path.enter(depth, start)
                entered_depth = depth
            while node < stop:
                record = 4 * node  # depth and byte, end, first token, height; in the next one the token after the last
                depth = records[record] >> 8
                end = records[record + 1]
                at = targets_at[depth - 1] + class_of[map_at[depth - 1] + (records[record] & 255)]
                state = targets[at]
                visited += 1
                if state < 0:
                    state = automata.live_target(at)
                    targets = automata.partitions.target_pool
                if state == 0:
                    node = end
                    continue
                first, last = records[record + 2], records[record + 6]
                if may_repeat:
                    if walk_of[node] == serial and state_of[node] == state:
                        node = end
                        continue
                    walk_of[node], state_of[node] = serial, state
                    if first < last:
                        self._add_tokens_at(remainders, node)
                else:
                    found.inside.extend(token_at, first, last)
                if end == node + 1:
                    node = end
                    continue
                if automata.table.accepting[state] and trie.node_mark[node] != self._serial:
                    if may_repeat:
                        trie.node_mark[node] = self._serial
                    found.exits.add_counted(node, 0)
                if automata.partitions.map_at.values[state] == NO_MAP:
                    automata.derivatives.derive(state)
                if automata.only_byte.values[state] == NO_BYTE:
                    node = end
                    continue
                if automata.partitions.pools != pools:
                    class_of, targets, pools = (
                        automata.partitions.class_of,
                        automata.partitions.target_pool,
                        automata.partitions.pools,
                    )
                map_at[depth] = automata.partitions.map_at.values[state] * 256
                targets_at[depth] = automata.partitions.targets_at.values[state]
                node += 1
        self.nodes_visited += visited

    def _walk_large(self, start: int) -> None:
        """Walk from the nodes that have much below them, where subtrees may be skipped, and drop these nodes."""
        automata, trie, path, found = self._automata, self._store.trie, self._path, self._found
        kept = 0
        for index in range(self._node_count):
            node = self._nodes[index]
            if trie.end[node] - node < MIN_LARGE:
                self._nodes[kept] = node
                kept += 1
                continue
            path.enter(0, start)
            state = path.target(0, trie.byte[node])
            self.nodes_visited += 1
            found.is_ordered = False
            found.inside.extend(trie.tokens, trie.token_start[node], trie.token_start[node + 1])
            automata.expand(state)
            if automata.table.accepting[state]:
                found.exits.add_counted(node, 0)
            if automata.only_byte.values[state] != NO_BYTE:
                self._walk_below(node, state)
        self._node_count = kept

    def _walk_below(self, top: int, start: int) -> None:
        """Walk the vocabulary's trie below a node, from a state there.

        A hot loop: what each step needs lies in local variables. It goes along the children of each node, which stand
        side by side in memory: those that are refused or skipped cost no access to their own nodes, which lie apart.
        """
        found, automata, trie = self._found, self._automata, self._store.trie
        skippable_states, entered, path = self._skippable_states, self._entered, self._path
        decided = self._decided
        class_of, targets, pools = (
            automata.partitions.class_of,
            automata.partitions.target_pool,
            automata.partitions.pools,
        )
        records, kinds_of_byte, kinds_within = trie.child_records, trie.kinds_of_byte, trie.kinds_within
        first_child, token_at = trie.first_child, trie.tokens
        map_at, targets_at, state_at, skippable_at = path.map_at, path.targets_at, path.state_at, self._skippable_at
        at_depth, stop_at_depth, last_at_depth = self._child_at, self._last_child_at, self._last_token_at
        inside = found.inside
        tokens, size = inside.values, inside.size
        at, stop, last = first_child[trie.size], first_child[trie.size + 1], trie.token_start[trie.size]
        if top != ROOT_NODE:
            at, stop, last = first_child[top], first_child[top + 1], trie.token_start[trie.end[top]]
        visited = depth = 0
        patience = MIN_WALKED
        # Where the walk goes along a set of nodes: where it begins, and the next token that is not added yet.
        leaving = begun = 0
        leaving_nodes, leaving_at, node_records = self._leaving_nodes, self._leaving_at, trie.records
        leaving_nodes.begin()
        along, along_state = 0, NOT_ENTERED  # the set found last, and its state
        leaving_at[0] = 0
        absent = UNKNOWN_KINDS
        after_one = NOT_ASKED
        decided.begin()
        path.enter(0, start)
        state_at[0] = NOT_ENTERED  # the state in which a walk begins has no number yet
        skippable_at[0] = NOT_ASKED
        # What `SkippableStates` has about the state at this depth: after characters of these kinds a walk may skip.
        free = reach = 0
        refusing = NOT_ASKED  # the number of this state, if a walk may not skip texts that have all of some kinds
        is_recording = entered.is_recording
        while True:
            if at == stop:  # go back to the siblings of the parent
                if depth == 0:
                    break
                depth -= 1
                at, stop, last = at_depth[depth], stop_at_depth[depth], last_at_depth[depth]
                number = skippable_at[depth]
                free = 0
                if number >= 0 and not is_recording:
                    free, refusing = skippable_states.kinds[number], skippable_states.refusing(number)
                    reach = skippable_states.reach[number]
                leaving = leaving_at[depth]
                if leaving:
                    begun = trie.token_start[at]
                continue
            if leaving:
                at = leaving_nodes.next(leaving, at, stop)
                node = at
                record = 4 * node
                first = node_records[record + 2]
                if begun < first:
                    found.skip(begun, first, 0, 0)
                if at == stop:
                    leaving = 0
                    continue
                visited += 1
                byte = node_records[record] & 255
                at = node_records[record + 1]
                height = node_records[record + 3]
                begun = after = node_records[4 * at + 2]
                entry = node
                entry <<= 40
                more = first_child[node]
                more <<= 40
            else:
                child = at
                at += 1
                visited += 1
                record = 3 * child
                entry, more = records[record], records[record + 1]
                first = entry & LOW_32_BITS  # of the tokens at and below the child,
                after = last if at == stop else records[record + 3] & LOW_32_BITS  # and the one after the last
                height = more >> 20 & LOW_20_BITS
                byte = entry >> 32 & 255
                kinds = records[record + 2] | kinds_of_byte[byte]
                if kinds & ~free == 0 and height < reach and (refusing < 0 or skippable_states.lacks(refusing, kinds)):
                    found.skip(first, after, 0, 0)  # nearly always, and before the automaton is asked
                    continue
                if byte >= FIRST_LEAD and after - first >= MIN_SKIPPED_TOKENS and not is_recording:
                    # All characters that begin with this byte, before the walk steps into their bytes.
                    number = skippable_at[depth]
                    if number == NOT_ASKED:
                        number = skippable_at[depth] = skippable_states.find(start)
                        if number >= 0:
                            free, refusing = skippable_states.kinds[number], skippable_states.refusing(number)
                            reach = skippable_states.reach[number]
                    if number >= 0 and skippable_states.stays_inside(number, kinds, height + 1):
                        found.skip(first, after, 0, 0)
                        continue
                    if number >= 0 and skippable_states.stays_at_end(number, kinds):
                        self._skip_with_exits(entry >> 40, first, after)
                        continue
                    if state_at[depth] == NOT_ENTERED:
                        if after_one == NOT_ASKED:
                            after_one = skippable_states.find_after_one(start)
                        if after_one >= 0 and skippable_states.stays_inside(after_one, kinds, height + 1):
                            found.skip(first, after, 0, 0)
                            continue
            if automata.partitions.pools != pools:  # states were made since the last look-up
                class_of, targets, pools = (
                    automata.partitions.class_of,
                    automata.partitions.target_pool,
                    automata.partitions.pools,
                )
            place = targets_at[depth] + class_of[map_at[depth] + byte]
            state = targets[place]
            if state < 0:
                state = automata.live_target(place)
                targets = automata.partitions.target_pool
            if state == 0:
                continue
            node = entry >> 40
            if leaving:
                if not height:
                    found.skip(first, after, 0, 0)
                    continue
                kinds = trie.kinds_below[node]
            else:
                kinds = records[record + 2] | kinds_within[byte]  # below the node
            if height:
                number = skippable_at[depth] if state == state_at[depth] else skippable_states.known(state)
                if number < 0 and (after - first >= MIN_SKIPPED_TOKENS or height >= MIN_HIGH):
                    number = skippable_states.find(state)
                if (
                    number >= 0
                    and skippable_states.stays_inside(number, kinds, height)
                    and not (is_recording and skippable_states.moves[number])
                ):
                    found.skip(first, after, 0, 0)
                    if is_recording:
                        entered.add(state)
                    continue
                if visited > patience and number >= 0 and after - first >= MIN_CLOSED_TOKENS and not is_recording:
                    patience = 2 * visited
                    is_closed = skippable_states.find_closed(state, visited // NODES_PER_STATE)
                    if is_closed and skippable_states.stays_inside(number, kinds, height):
                        found.skip(first, after, 0, 0)
                        continue
                if (
                    number >= 0
                    and height >= MIN_DECIDED
                    and state != start
                    and state != state_at[depth]
                    and kinds & skippable_states.kinds[number]
                    and not is_recording
                ):
                    if absent == UNKNOWN_KINDS:
                        absent = skippable_states.absent(start)
                    if skippable_states.decides(number, kinds, absent) and decided.add(node, number, state):
                        continue
                if number >= 0 and skippable_states.stays_at_end(number, kinds):
                    self._skip_with_exits(node, first, after)
                    if is_recording:
                        entered.add(state)
                    continue
                last_at_depth[depth], last = last, after
                after = records[3 * (more >> 40)] & LOW_32_BITS  # the tokens of the children come after the node's own
            # Nearly always one token or none. One is written in any case, which spares a branch that no processor can
            # tell beforehand.
            if size + after - first >= len(tokens):
                inside.size = size
                inside.reserve(after - first + 1)
                tokens = inside.values
            tokens[size] = token_at[first]
            for index in range(first + 1, after):
                tokens[size + index - first] = token_at[index]
            size += after - first
            if not height:
                continue
            if automata.table.accepting[state]:
                found.exits.add_counted(node, 0)
            if automata.partitions.map_at.values[state] == NO_MAP:
                automata.derivatives.derive(state)
            if automata.only_byte.values[state] == NO_BYTE:
                last = last_at_depth[depth]
                continue
            if is_recording:
                entered.add(state)
            if at < stop:  # else there is nothing to come back to
                at_depth[depth], stop_at_depth[depth] = at, stop
                leaving_at[depth] = leaving
                depth += 1
            at, stop = more >> 40, first_child[node + 1]
            leaving = 0
            if last - after >= MIN_ALONG_TOKENS and not is_recording and not kinds & BROKEN_KIND:
                leaving = leaving_nodes.find(state)
                if leaving:
                    along, along_state = leaving, state
            elif state == along_state and height >= MIN_ALONG and not kinds & BROKEN_KIND:
                leaving = along
            if leaving:
                at, stop, begun = node + 1, trie.end[node], after
            skippable_at[depth] = number
            free = 0
            if number >= 0 and not is_recording:
                free, refusing = skippable_states.kinds[number], skippable_states.refusing(number)
                reach = skippable_states.reach[number]
            state_at[depth] = state
            map_at[depth] = automata.partitions.map_at.values[state] * 256
            targets_at[depth] = automata.partitions.targets_at.values[state]
        inside.size = size
        self.nodes_visited += visited + decided.nodes_visited
        spend(visited)

    def _skip_with_exits(self, node: int, first: int, after: int) -> None:
        """Add the tokens at and below a node to those inside, and the ends of all characters there to the exits."""
        trie = self._store.trie
        self._found.skip(first, after, 0, 0)
        self._found.exits.extend(trie.inner, trie.first_inner[node], trie.first_inner[trie.end[node]])

    def _begin_at(self, first: int, last: int) -> None:
        """Set the nodes at which a walk begins to `pool[first:last]`."""
        self._node_count = 0
        self._add_nodes(first, last)

    def _add_nodes(self, first: int, last: int) -> None:
        """Add `pool[first:last]` to the nodes at which a walk begins."""
        count = self._node_count
        while count + last - first > len(self._nodes):
            self._nodes = grown_pool(self._nodes, count)
        nodes, pool = self._nodes, self._store.pool
        for index in range(first, last):
            nodes[count + index - first] = pool[index]
        self._node_count = count + last - first

    def _read_literal(self, remainders: RemainderNodes, literal: int, is_many: bool) -> int:
        """Go from the nodes along a literal to its last byte, whatever else the trie has; return the state there.

        The states between are not made, for no text has come to them yet.
        """
        data = self._automata.table.payload[literal]
        trie = remainders.trie
        stop = len(data) - 1
        for at in range(stop):
            byte = data[at]
            if at == 0 and is_many:
                self._begin_after_byte(remainders, byte)
            else:
                self.nodes_visited += self._node_count
                kept = 0
                for index in range(self._node_count):
                    node = trie.child(self._nodes[index], byte)
                    if node >= 0:
                        self._nodes[kept] = node
                        kept += 1
                self._node_count = kept
            if not self._node_count:
                return literal
            for index in range(self._node_count):
                self._add_tokens_at(remainders, self._nodes[index])
        return self._automata.terms.literal(data[stop:], self._automata.table.tail[literal]) if stop else literal

    def _begin_after_byte(self, remainders: RemainderNodes, byte: int) -> None:
        """Set the nodes to those that a byte leads to."""
        pool = self._store.pool
        self._node_count = 0
        if remainders.is_node is not None:
            self._add_nodes_of_byte(remainders, byte)
            return
        for entry in range(remainders.first_entry, remainders.last_entry, 2):
            if pool[entry] == byte:
                self._begin_at(pool[entry + 1], pool[entry + 3])

    def _begin_after_next_byte(self, remainders: RemainderNodes, start: int) -> None:
        """Set the nodes to those that some byte of a state leads to."""
        path = self._path
        path.enter(0, start)
        self._node_count = 0
        for entry in range(remainders.first_entry, remainders.last_entry, 2):
            pool = self._store.pool
            if not path.target(0, pool[entry]):
                continue
            if remainders.is_node is not None:
                self._add_nodes_of_byte(remainders, self._store.pool[entry])
            else:
                self._add_nodes(pool[entry + 1], pool[entry + 3])

    def _begin_at_children(self, remainders: RemainderNodes, start: int) -> None:
        """Set the nodes to those that some byte of a state leads to, of remainders without a table."""
        path, trie = self._path, remainders.trie
        path.enter(0, start)
        self._node_count = 0
        for at in range(remainders.first, remainders.last):
            node = self._store.pool[at]
            for index in range(trie.first_child[node], trie.first_child[node + 1]):
                entry = trie.children[index]
                if path.target(0, entry & 255):
                    if self._node_count >= len(self._nodes):
                        self._nodes = grown_pool(self._nodes, self._node_count)
                    self._nodes[self._node_count] = entry >> 8
                    self._node_count += 1

    def _add_nodes_of_byte(self, remainders: RemainderNodes, byte: int) -> None:
        """Add the nodes that a byte leads to where the remainders have bits."""
        trie, bits = remainders.trie, remainders.is_node
        if bits is None:
            return
        first, last = trie.first_of_byte[byte], trie.first_of_byte[byte + 1]
        count = self._node_count
        while count + last - first > len(self._nodes):
            self._nodes = grown_pool(self._nodes, count)
        nodes, by_byte, parent_of = self._nodes, trie.by_byte, trie.parent_of
        for at in range(first, last):
            parent = parent_of[at]
            nodes[count] = by_byte[at]  # is overwritten if the parent is none of the nodes
            count += bits[parent >> 6] >> (parent & 63) & 1
        self._node_count = count

    def _may_meet(self, remainders: RemainderNodes) -> bool:
        """Return whether a good part of the nodes at which the walk begins may lie below others of them.

        A node that lies below another one is a child of a node of the remainders, which then lies below the other one,
        too, or is it. So a node matters here if a node of the remainders is at or below it. After a blank, a letter is
        no such node, and the byte 0xC2 is, as a no-break space begins with it. Where it is a small part, what is found
        below these nodes may be found twice.
        """
        if remainders.trie.has_counts:
            return True
        end = remainders.trie.end
        below = below_others = 0
        for index in range(self._node_count):
            node = self._nodes[index]
            below += end[node] - node
        for index in range(self._node_count):
            node = self._nodes[index]
            if end[node] - node > 1 and self._store.has_node_in(remainders, node, end[node]):
                below_others += end[node] - node
                if below_others * MIN_ONCE > below:
                    return True
        return False

    def _add_tokens_at(self, remainders: RemainderNodes, node: int) -> None:
        """Add the tokens at a node that belong to the remainders, each once in a walk."""
        trie = remainders.trie
        inside = self._found.inside
        for index in range(trie.token_start[node], trie.token_start[node + 1]):
            if trie.has_counts and not remainders.has_token(index):
                continue
            token = trie.tokens[index]
            if self._walk_of_token[token] == self._serial:
                continue
            self._walk_of_token[token] = self._serial
            inside.add(token)
