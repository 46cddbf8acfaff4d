"""Byte automata, built lazily: a state is a term, its transitions are the term's derivatives.

The states of `(ab)*`:

    state        accepts    by a        by b       by any other byte
    (ab)*        yes        b(ab)*      0          0
    b(ab)*       no         0           (ab)*      0

All regexes added to one store share its states. Two residual languages are one state if their terms have the same
normal form, whichever regexes they came from. State 0 (DEAD) matches nothing. Every other state that the store returns
matches at least one text (`emptiness.py`).

From many states only one byte leads on, such as those within a literal. `only_byte` and `only_target` hold that
transition, so that reading it needs no look-up in a partition.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterable

from structgen.engine.automata.alphabets import Alphabets
from structgen.engine.automata.ample_bounds import AmpleBounds
from structgen.engine.automata.byte_partitions import BytePartitions
from structgen.engine.automata.derivatives import Derivatives
from structgen.engine.automata.emptiness import Emptiness
from structgen.engine.automata.endings import Endings
from structgen.engine.automata.from_regex import term_of
from structgen.engine.automata.payload_tables import PayloadTables
from structgen.engine.automata.term_table import TermTable
from structgen.engine.automata.terms import Terms
from structgen.engine.constants import (
    DEAD,
    EMPTY,
    FAR,
    K_BOUNDED,
    K_COUNTING,
    K_INTERSECTION,
    K_LITERAL,
    K_REPEAT,
    K_UNION,
    MANY_BYTES,
    NO_BYTE,
    NOT_EXPANDED,
)
from structgen.engine.deadlines import spend
from structgen.engine.regex.tree import Literal, Regex, Sequence
from structgen.limits import Limits

__all__ = ["AutomatonStore"]

ADDED_KEPT = 10_000  # the maximal number of regex trees remembered by identity
STATE_BYTES = 400  # a state with its entries in hash tables; measured on 200,000 states of random schemas
MAX_STATES = 200  # states visited in the search for a common text of several states


class AutomatonStore:
    """All automata of one compiled grammar, or of several.

    Attributes, all by state (arrays may be longer than `count`, the number of states, and are replaced when they grow):
        accepting: uint8, 1 if the text may end here.
        only_byte: int32. NOT_EXPANDED (-2): the transitions are not computed yet. MANY_BYTES (-1): several bytes lead
            on, see `BytePartitions`. 0 to 255: the only byte that leads on. NO_BYTE (256): none does.
        only_target: int32, the target of that only byte.

    Args:
        limits: `automaton_states` bounds the number of terms. Past it, adding fails, but existing states still work.
        capacity: number of states to reserve room for.

    >>> from structgen.engine.regex.tree import Literal, star
    >>> store = AutomatonStore()
    >>> start = store.add(star(Literal(b"ab")))
    >>> store.matches(start, b"abab"), store.matches(start, b"aba")
    (True, False)
    """

    def __init__(self, limits: Limits | None = None, capacity: int = 64) -> None:
        self.table = TermTable(limits, capacity)
        self.payloads = PayloadTables()
        self.alphabets = Alphabets(self.table, self.payloads)
        self.terms = Terms(self.table, self.payloads, self.alphabets)
        self.partitions = BytePartitions(self.table)
        self.derivatives = Derivatives(self.terms, self.partitions)
        self.emptiness = Emptiness(self.derivatives)
        self.endings = Endings(self.emptiness)
        self.ample_bounds = AmpleBounds(self.endings)
        self.only_byte = self.table.add_column(NOT_EXPANDED)
        self.only_target = self.table.add_column()
        self._added: dict[int, tuple[Regex, int]] = {}
        self._bodies: dict[int, tuple[Regex, int]] = {}
        self.expand(EMPTY)

    def add(self, regex: Regex) -> int:
        """Return the start state of a regex; DEAD if it matches nothing.

        A tree object that was added before costs only a dictionary look-up.

        Raises:
            LimitExceededError: regex_nodes, regex_depth or automaton_states.
        """
        if isinstance(regex, Literal):
            literal = regex  # with a type in the .pxd, so that its attributes are read without a look-up
            return self.terms.literal(literal.data, EMPTY)
        if isinstance(regex, Sequence):
            sequence = regex
            parts = sequence.parts
            if len(parts) == 2 and isinstance(parts[0], Literal):
                # The keys of an object: only the literal differs; the white space and colon after it are one tree.
                literal, rest = parts[0], self._state_of(parts[1])
                return self.terms.literal(literal.data, rest) if rest else DEAD
        return self._state_of(regex)

    def _state_of(self, regex: Regex) -> int:
        """Return the start state of a tree, cached by the tree's identity."""
        known = self._added.get(id(regex))
        if known is None:
            known = (regex, self.emptiness.pruned(term_of(self.terms, regex, self.table.limits, self._bodies)))
            if len(self._added) >= ADDED_KEPT:
                self._added.clear()
            self._added[id(regex)] = known
        return known[1]

    def is_empty(self, regex: Regex) -> bool:
        """Return whether a regex matches nothing at all."""
        return self.add(regex) == DEAD

    def meet(self, within: Iterable[Regex], outside: Iterable[Regex] = ()) -> int:
        """Return the state of the texts that all regexes of `within` match and none of `outside`; DEAD if none do.

        Each regex is translated once, also if it is used in several calls.

        Raises:
            LimitExceededError: regex_nodes, regex_depth or automaton_states.
        """
        parts = [self.add(regex) for regex in within]
        parts.extend([self.terms.complement(self.add(regex), EMPTY) for regex in outside])
        return self.emptiness.pruned(self.terms.intersection(parts, EMPTY))

    def narrowed(self, state: int, by: int) -> int:
        """Return the state of the texts that both of two states match; DEAD if there are none.

        Raises:
            LimitExceededError: automaton_states.
        """
        return self.emptiness.pruned(self.terms.intersect(state, by))

    def expand(self, state: int) -> None:
        """Compute the transitions of a state, unless they are known already.

        Raises:
            LimitExceededError: automaton_states.
        """
        if self.only_byte.values[state] == NOT_EXPANDED:
            if self.table.kind[state] == K_LITERAL:
                self._expand_literal(state)
            else:
                self._expand_others(state)

    def _expand_literal(self, state: int) -> None:
        self.derivatives.derive(state)
        data = self.table.payload[state]
        target = self.emptiness.live_target(self.partitions.place_of(state, data[0]))
        self.only_target.values[state] = target
        self.only_byte.values[state] = data[0] if target else NO_BYTE

    def _expand_others(self, state: int) -> None:
        self.derivatives.derive(state)
        class_map = self.partitions.map_at.values[state]
        start = self.partitions.targets_at.values[state]
        live = 0
        alive = 0
        for number in range(self.partitions.width_of[class_map]):
            target = self.partitions.target_pool[start + number]
            if target < 0 and self.table.may_be_empty[state] and live < 2:  # after two, MANY_BYTES is certain
                target = self.emptiness.live_target(start + number)
            if target != DEAD:
                live += 1
                alive = number
        if live == 0:
            self.only_byte.values[state] = NO_BYTE
        elif live == 1 and self.partitions.has_one_byte(class_map, alive):
            self.only_target.values[state] = self.emptiness.live_target(start + alive)
            self.only_byte.values[state] = self.partitions.byte_of[class_map * 256 + alive]
        else:
            self.only_byte.values[state] = MANY_BYTES

    def next(self, state: int, byte: int) -> int:
        """Return the state after one byte; DEAD if no text goes on with it.

        Raises:
            LimitExceededError: automaton_states.
        """
        if self.only_byte.values[state] == NOT_EXPANDED and self.table.kind[state] == K_LITERAL:
            self._expand_literal(state)
        only = self.only_byte.values[state]
        if only >= 0:
            return self.only_target.values[state] if only == byte else DEAD
        self.derivatives.derive(state)
        return self.emptiness.live_target(self.partitions.place_of(state, byte))

    def after_bytes(self, state: int, count: int) -> int:
        """Return the state after some bytes of a literal, fewer than it has; its transitions are computed.

        Raises:
            LimitExceededError: automaton_states.
        """
        after = self.terms.literal(self.table.payload[state][count:], self.table.tail[state])
        self.expand(after)
        return after

    def loops(self, state: int, byte: int) -> bool:
        """Return whether a byte is known to lead from a state, whose transitions are computed, to itself."""
        return self.partitions.target_pool[self.partitions.place_of(state, byte)] == state

    def leads_on(self, state: int, byte: int) -> bool:
        """Return whether a byte leads on from a state. Costs less than `next`, which evaluates the target.

        Raises:
            LimitExceededError: automaton_states.
        """
        self.derivatives.derive(state)
        return self.is_live(state, self.partitions.place_of(state, byte))

    def is_live(self, state: int, at: int) -> bool:
        """Return whether the target of a state at a position of the target pool is not DEAD.

        The target is evaluated only where it may match nothing.

        Raises:
            LimitExceededError: automaton_states.
        """
        if self.table.may_be_empty[state]:
            return self.emptiness.live_target(at) != DEAD
        return self.partitions.target_pool[at] != DEAD

    def add_leading_bytes(self, state: int, bits: array[int], at: int) -> None:
        """Add the bytes that may lead on from a state to a set of bytes: bit b % 16 of `bits[at + b // 16]` is byte b.

        Targets that may match nothing are not evaluated, so there may be a byte too many.

        Raises:
            LimitExceededError: automaton_states.
        """
        self.expand(state)
        only = self.only_byte.values[state]
        if only == NO_BYTE:
            return
        if only >= 0:
            bits[at + (only >> 4)] |= 1 << (only & 15)
            return
        targets = self.partitions.target_pool
        for byte in range(256):
            if targets[self.partitions.place_of(state, byte)] != DEAD:
                bits[at + (byte >> 4)] |= 1 << (byte & 15)

    def first_bytes(self, state: int) -> int:
        """Return the bytes that lead on from a state; bit b of the number is byte b.

        Raises:
            LimitExceededError: automaton_states.
        """
        self.derivatives.derive(state)
        classes = self.partitions.class_bytes(self.partitions.map_at.values[state])
        start = self.partitions.targets_at.values[state]
        found = 0
        for number in range(len(classes)):
            if self.is_live(state, start + number):
                found |= classes[number]
        return found

    def inner_bytes(self, state: int) -> int:
        """Return the bytes that lead from a state to a state from which further bytes lead on.

        For `ab|c` this is only `a`: after `c` the text has ended.

        Raises:
            LimitExceededError: automaton_states.
        """
        found = 0
        for target, step in self.successors(state).items():
            if self.has_next(target):
                found |= step
        return found

    def live_target(self, at: int) -> int:
        """Return the state at a position of the target pool; DEAD if it matches nothing.

        Raises:
            LimitExceededError: automaton_states.
        """
        return self.emptiness.live_target(at)

    def successors(self, state: int) -> dict[int, int]:
        """Return the states after one more byte, each with the bytes that lead to it; bit b of the number is byte b.

        Raises:
            LimitExceededError: automaton_states.
        """
        return self.emptiness.successors(state)

    def is_endless_by_form(self, state: int) -> bool:
        """Return whether the form of a state shows that it is ever endless; False where the form does not show it."""
        return self.endings.is_endless_by_form(state)

    def is_ever_endless(self, state: int) -> bool:
        """Return whether every prefix that can go on has infinitely many continuations (`Endings.is_ever_endless`).

        Raises:
            LimitExceededError: automaton_states.
        """
        return self.endings.is_ever_endless(state)

    @property
    def count(self) -> int:
        """Number of terms so far; each term is a state."""
        return self.table.count

    @property
    def bytes_used(self) -> int:
        """Estimated memory, in bytes."""
        return STATE_BYTES * (self.table.count + self.table.pairs) + self.payloads.bytes_used

    @property
    def pairs(self) -> int:
        """Number of pairs of terms with a remembered result."""
        return self.table.pairs

    def step(self, state: int, byte: int) -> int:
        """Return the state after one byte, like `next`."""
        return self.next(state, byte)

    def is_accepting(self, state: int) -> bool:
        """Return whether a match may end here."""
        return bool(self.table.accepting[state])

    def has_next(self, state: int) -> bool:
        """Return whether some byte leads on from a state."""
        self.expand(state)
        return self.only_byte.values[state] != NO_BYTE

    def matches(self, state: int, data: bytes) -> bool:
        """Return whether the whole of `data` is matched from a state."""
        for at in range(len(data)):  # by index: iterating bytes gives a signed char when compiled
            state = self.next(state, data[at])
            if state == DEAD:
                return False
        return bool(self.table.accepting[state])

    def as_counted(self, state: int) -> tuple[int, int, int, int] | None:
        """Return the parts of a state that is a repetition followed by a rest; None for any other state.

        Returns:
            (state of the body, least count, greatest count or -1 for no bound, state of the rest). The language of
            `state` is the concatenation of the repeated body and the rest: `a{2,5}b` gives (`a`, 2, 5, `b`). The rest
            may begin with texts of the body. An empty rest is a state that accepts and has no next byte. None of the
            states is dead.
        """
        if self.table.kind[state] != K_REPEAT:
            return None
        body, low, high = self.table.payload[state]
        if self.table.may_be_empty[body]:
            body = self.emptiness.pruned(body)
        return (body, low, high, self.table.tail[state]) if body != DEAD else None

    def as_bounded(self, state: int) -> tuple[int, int] | None:
        """Return the parts of a state with an upper bound on a count; None for any other state.

        Returns:
            (the state without the bound, the bound). `state` matches a text if the state without the bound matches it
            and the text begins at most that many of the counted texts. `Derivatives.begun` counts those begun by each
            byte of a text; `Emptiness.least_begun` is the least number that the remaining text needs. States that
            differ only in the bound have the same state without the bound.
        """
        if self.table.kind[state] != K_BOUNDED or self.table.tail[state] != EMPTY:
            return None
        counting, most = self.table.payload[state]
        return counting, most

    def has_only_least_count(self, state: int) -> bool:
        """Return whether the only condition of a counting state is a least count, with a rest that must follow."""
        if self.table.kind[state] != K_COUNTING:
            return False
        star, _, inner = self.table.payload[state]
        if self.table.accepting[self.table.tail[star]]:
            return False
        if self.table.kind[inner] != K_REPEAT or self.table.tail[inner] != self.table.tail[star]:
            return False
        body, _, most = self.table.payload[inner]
        return bool(most < 0 and body == self.table.payload[star][0])

    def has_least_count(self, state: int) -> bool:
        """Return whether a least count is among the conditions of a counting state.

        The least count becomes smaller with each counted text, so such a state changes with each of them.
        """
        if self.table.kind[state] != K_COUNTING:
            return False
        star, _, inner = self.table.payload[state]
        for part in self.terms.conjuncts(inner):
            if self.table.kind[part] == K_REPEAT and self.table.tail[part] == self.table.tail[star]:
                body, least, _ = self.table.payload[part]
                if least > 0 and body == self.table.payload[star][0]:
                    return True
        return False

    def as_variation(self, state: int) -> list[int]:
        """Return the repetitions within an intersection or a bounded state; an empty list for any other state.

        An example is a string with further conditions, `C{m,n}R & B & ~D`, which gives `C{m,n}R`. The caller builds the
        mask of such a state from that of the repetition. The two differ in little: after most texts the further
        conditions are settled, and both states have become the same one.
        """
        bounded = self.as_bounded(state)
        if bounded is not None:
            star, phase, _ = self.table.payload[bounded[0]]
            if phase != EMPTY:
                return []
            return [self.terms.repeat(self.table.payload[star][0], 0, bounded[1], self.table.tail[star])]
        if self.table.kind[state] != K_INTERSECTION or self.table.tail[state] != EMPTY:
            return []
        return [part for part in self.table.payload[state] if self.table.kind[part] == K_REPEAT]

    def as_union(self, state: int) -> list[int]:
        """Return a repetition in a union, and the union of the other members; an empty list for any other state."""
        if self.table.kind[state] != K_UNION:
            return []
        parts: list[int] = list(self.table.payload[state])
        repeats = [part for part in parts if self.table.kind[part] == K_REPEAT]
        if not repeats:
            return []
        # Take the widest by its form: a search (least count 0) rather than the part of a match that it has read so far.
        widest = min(repeats, key=lambda part: self.table.payload[part][1])
        parts.remove(widest)
        return [widest, self.terms.union(parts)]

    def common_text(self, states: Iterable[int]) -> bytes | None:
        """Return a shortest text that all of the states match; None if there is none, or MAX_STATES did not suffice.

        Raises:
            LimitExceededError: automaton_states.
        """
        return self.shortest_text(self.emptiness.pruned(self.terms.intersection(states, EMPTY)), MAX_STATES)

    def shortest_text(self, state: int, most: int = FAR) -> bytes | None:
        """Return a shortest text of a state; None if there is none, or if the search reaches more than `most` states.

        Raises:
            LimitExceededError: automaton_states.
        """
        if state == DEAD:
            return None
        came_from: dict[int, tuple[int, int]] = {state: (DEAD, 0)}
        length = {state: 0}
        queue = [(self.table.min_len[state], 0, 0, state)]
        order = 0
        while queue and len(length) <= most:
            spend(1)
            _, _, _, top = heapq.heappop(queue)
            if self.table.accepting[top]:
                return self._spelled(came_from, top)
            self.derivatives.derive(top)
            class_map = self.partitions.map_at.values[top]
            for number in range(self.partitions.width_of[class_map]):
                target = self.emptiness.live_target(self.partitions.targets_at.values[top] + number)
                if target == DEAD or length.get(target, FAR) <= length[top] + 1:
                    continue
                length[target] = length[top] + 1
                came_from[target] = (top, self.partitions.byte_of[class_map * 256 + number])
                order += 1
                heapq.heappush(queue, (length[target] + self.table.min_len[target], -length[target], order, target))
        return None

    @staticmethod
    def _spelled(came_from: dict[int, tuple[int, int]], state: int) -> bytes:
        """Return the bytes of the path that a search took to a state.

        Args:
            came_from: for each state, the state before it on the path (DEAD for the start) and the byte between them.
            state: the end of the path.
        """
        out = bytearray()
        state, byte = came_from[state]
        while state != DEAD:
            out.append(byte)
            state, byte = came_from[state]
        return bytes(reversed(out))
