"""Byte automata, built lazily: a state is a term, its transitions are the term's derivatives.

States are shared by all that is added to one store, so equal residual languages (as far as the terms' normal form shows
them) are one state, whatever they came from. State 0 is dead: no text is matched from there. No other state that the
store gives out is dead; see `emptiness.py`.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from structgen.engine.automata.alphabets import Alphabets
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
from structgen.engine.regex.tree import Literal, Regex, Sequence
from structgen.limits import Limits

__all__ = ["AutomatonStore"]

ADDED_KEPT = 10_000  # regex trees remembered by identity
MAX_STATES = 200  # looked at for a text of several states


class AutomatonStore:
    """All automata of one compiled grammar, or of several.

    Attributes, all by state (arrays may be longer than `count`, the number of states, and are replaced when they grow):
        accepting: uint8, 1 if the text may end here.
        only_byte: int32, -2 the transitions are not made yet; -1 several bytes lead on, and `BytePartitions` says
            where; 0 to 255 the one byte that leads on; 256 none does.
        only_target: int32, where that one byte leads.

    Args:
        limits: `automaton_states` bounds the number of terms; past it everything made before goes on working.
        capacity: for so many states there is room at first.

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
        self.only_byte = self.table.add_column(NOT_EXPANDED)
        self.only_target = self.table.add_column()
        self._added: dict[int, tuple[Regex, int]] = {}
        self._bodies: dict[int, tuple[Regex, int]] = {}
        self.expand(EMPTY)

    def add(self, regex: Regex) -> int:
        """Return the start state of a regex; 0 if it matches nothing. A tree that was added before costs a look-up.

        Raises:
            LimitExceededError: regex_nodes, regex_depth or automaton_states.
        """
        if isinstance(regex, Literal):
            return self.terms.literal(regex.data, EMPTY)
        if isinstance(regex, Sequence) and len(regex.parts) == 2 and isinstance(regex.parts[0], Literal):
            # The keys of objects, and the white space and colon that follow all of them.
            rest = self._state_of(regex.parts[1])
            return self.terms.literal(regex.parts[0].data, rest) if rest else DEAD
        return self._state_of(regex)

    def _state_of(self, regex: Regex) -> int:
        """Return the state of a tree, remembered by its identity."""
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
        """Return the state of the texts that all regexes of `within` match, none of `outside`; DEAD if there are none.

        Each regex is translated once, whatever it is met with.

        Raises:
            LimitExceededError: as `add`.
        """
        parts = [self.add(regex) for regex in within]
        parts.extend([self.terms.complement(self.add(regex), EMPTY) for regex in outside])
        return self.emptiness.pruned(self.terms.intersection(parts, EMPTY))

    def narrowed(self, state: int, by: int) -> int:
        """Return the state of the texts that two states match both; 0 if there are none.

        Raises:
            LimitExceededError: automaton_states.
        """
        return self.emptiness.pruned(self.terms.intersect(state, by))

    def expand(self, state: int) -> None:
        """Make the transitions of a state, if they are not made yet.

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
            if (
                target < 0 and self.table.may_be_empty[state] and live < 2
            ):  # that more than one leads on is all that must be known
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
        """Return the state after one byte, 0 if nothing can be matched any more.

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

    def leads_on(self, state: int, byte: int) -> bool:
        """Return whether a byte leads on from a state; costs less than to find out where.

        Raises:
            LimitExceededError: automaton_states.
        """
        self.derivatives.derive(state)
        at = self.partitions.place_of(state, byte)
        return (
            self.emptiness.live_target(at) if self.table.may_be_empty[state] else self.partitions.target_pool[at]
        ) != DEAD

    def first_bytes(self, state: int) -> int:
        """Return the bytes that lead on from a state, as bits of a number.

        Raises:
            LimitExceededError: automaton_states.
        """
        self.derivatives.derive(state)
        classes = self.partitions.class_bytes(self.partitions.map_at.values[state])
        start = self.partitions.targets_at.values[state]
        found = 0
        for number in range(len(classes)):
            if (
                self.emptiness.live_target(start + number)
                if self.table.may_be_empty[state]
                else self.partitions.target_pool[start + number]
            ) != DEAD:
                found |= classes[number]
        return found

    def inner_bytes(self, state: int) -> int:
        """Return the bytes that lead on from a state to where others lead on.

        Raises:
            LimitExceededError: automaton_states.
        """
        found = 0
        for target, step in self.successors(state).items():
            if self.has_next(target):
                found |= step
        return found

    def live_target(self, at: int) -> int:
        """Return the state at a position of the target pool, DEAD if nothing is matched from it.

        Raises:
            LimitExceededError: automaton_states.
        """
        return self.emptiness.live_target(at)

    def successors(self, state: int) -> dict[int, int]:
        """Return the states after one more byte, each with these bytes as bits of a number.

        Raises:
            LimitExceededError: automaton_states.
        """
        return self.emptiness.successors(state)

    def is_ever_endless(self, state: int) -> bool:
        """Return whether every text that can go on does so to infinitely many; see `Endings.is_ever_endless`.

        Raises:
            LimitExceededError: automaton_states.
        """
        return self.endings.is_ever_endless(state)

    @property
    def count(self) -> int:
        """Number of terms made, which are the states."""
        return self.table.count

    @property
    def pairs(self) -> int:
        """Number of pairs of terms of which something is remembered."""
        return self.table.pairs

    def step(self, state: int, byte: int) -> int:
        """Return the same as `next`."""
        return self.next(state, byte)

    def is_accepting(self, state: int) -> bool:
        """Return whether a match may end here."""
        return bool(self.table.accepting[state])

    def has_next(self, state: int) -> bool:
        """Return whether some byte leads on."""
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
        """Return a state that is a repetition followed by something, taken apart.

        Returns:
            (state of what is repeated, least count, greatest count or -1, state of what follows), or None. The
            language is the concatenation of these; what follows may begin with what is repeated. What follows the
            empty text alone is a state that accepts and has no next. None of the states is dead.
        """
        if self.table.kind[state] != K_REPEAT:
            return None
        body, low, high = self.table.payload[state]
        if self.table.may_be_empty[body]:
            body = self.emptiness.pruned(body)
        return (body, low, high, self.table.tail[state]) if body != DEAD else None

    def as_bounded(self, state: int) -> tuple[int, int] | None:
        """Return a state with a bound on how many of something its texts hold, taken apart; None for any other.

        Returns:
            (the state without the bound, the bound). A text is matched from `state` if it is matched from the state
            without the bound and begins at most so many: `begun` adds up along the text what its bytes begin, and
            `least_begun` tells what is needed at least after it. States that differ in the bound alone share this.
        """
        if self.table.kind[state] != K_BOUNDED or self.table.tail[state] != EMPTY:
            return None
        counting, most = self.table.payload[state]
        return counting, most

    def asks_for_count(self, state: int) -> bool:
        """Return whether a counting state has no condition but a least count, before something follows."""
        if self.table.kind[state] != K_COUNTING:
            return False
        star, _, inner = self.table.payload[state]
        if self.table.accepting[self.table.tail[star]]:
            return False
        if self.table.kind[inner] != K_REPEAT or self.table.tail[inner] != self.table.tail[star]:
            return False
        body, _, most = self.table.payload[inner]
        return bool(most < 0 and body == self.table.payload[star][0])

    def asks_for_more(self, state: int) -> bool:
        """Return whether a counting state asks for a least count, beside other conditions.

        Such a state is another one after each of what is counted.
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
        """Return the repetitions in an intersection or bound; none for any other state.

        That is an intersection, such as a string with further conditions (`C{m,n} R & B & ~D`). Tables for such states
        are cheap next to those of a state like it: most texts soon make them one.
        """
        bounded = self.as_bounded(state)
        if bounded is not None:
            star, phase, _ = self.table.payload[bounded[0]]
            return (
                []
                if phase != EMPTY
                else [self.terms.repeat(self.table.payload[star][0], 0, bounded[1], self.table.tail[star])]
            )
        if self.table.kind[state] != K_INTERSECTION or self.table.tail[state] != EMPTY:
            return []
        return [part for part in self.table.payload[state] if self.table.kind[part] == K_REPEAT]

    def as_union(self, state: int) -> list[int]:
        """Return, for a union with a repetition, that and the union of the others; nothing for any other state."""
        if self.table.kind[state] != K_UNION:
            return []
        parts: list[int] = list(self.table.payload[state])
        repeats = [part for part in parts if self.table.kind[part] == K_REPEAT]
        if not repeats:
            return []
        # The one that matches most, as far as its form shows this: a search rather than what it found so far.
        widest = min(repeats, key=lambda part: self.table.payload[part][1])
        parts.remove(widest)
        return [widest, self.terms.union(parts)]

    def common_text(self, states: Iterable[int]) -> bytes | None:
        """Return a shortest text that all of some states match; None if there is none, or it takes many states.

        Raises:
            LimitExceededError: automaton_states.
        """
        return self.shortest_text(self.emptiness.pruned(self.terms.intersection(states, EMPTY)), MAX_STATES)

    def shortest_text(self, state: int, most: int = FAR) -> bytes | None:
        """Return a shortest text matched from a state; None if there is none, or more than `most` states are seen.

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
        """Return the bytes along a path back to where it began."""
        out = bytearray()
        state, byte = came_from[state]
        while state != DEAD:
            out.append(byte)
            state, byte = came_from[state]
        return bytes(reversed(out))
