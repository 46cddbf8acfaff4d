"""Byte automata, built lazily: a state is a term, its transitions are the term's derivatives.

States are shared by all that is added to one store, so equal residual languages (as far as the terms' normal form shows
them) are one state, whatever they came from. State 0 is dead: no text is matched from there. No other state that the
store gives out is dead; see `engine/liveness.py`.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterable

from structgen.engine.arrays import grown, zeros
from structgen.engine.automata.emptiness import LivingTerms
from structgen.engine.automata.from_regex import term_of
from structgen.engine.automata.inclusion import is_spelled
from structgen.engine.automata.term_table import ASCII_MASK
from structgen.engine.constants import (
    DEAD,
    EMPTY,
    FAR,
    K_BOUNDED,
    K_BYTES,
    K_CHARS,
    K_COMPLEMENT,
    K_COUNTING,
    K_EMPTY,
    K_INTERSECTION,
    K_LITERAL,
    K_REPEAT,
    K_TABLE,
    K_UNION,
    MANY_BYTES,
    NO_BYTE,
    NOT_EXPANDED,
    NOTHING,
)
from structgen.engine.regex.tree import Literal, Regex, Sequence
from structgen.limits import Limits

__all__ = ["AutomatonStore"]

ADDED_KEPT = 10_000  # regex trees remembered by identity
SMALL_COUNT = 16
TERMS_SEEN = 100  # while looking at how texts end
STATES_SEEN = 200  # while looking whether a language is endless from all of its states, or for a text of several


class AutomatonStore(LivingTerms):
    """All automata of one compiled grammar, or of several.

    Attributes, all by state (arrays may be longer than `count`, the number of states, and are replaced when they grow):
        accepting: uint8, 1 if the text may end here.
        only_byte: int32, -2 the transitions are not made yet; -1 several bytes lead on, and `DerivativeTable` says
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
        super().__init__(limits, capacity)
        self.only_byte = array("i", [NOT_EXPANDED]) * capacity
        self.only_target = zeros(capacity)
        self._added: dict[int, tuple[Regex, int]] = {}
        self._ever_endless: dict[int, bool] = {}
        self._few: dict[int, bool] = {}
        self._behind: dict[tuple[int, int], dict[int, bool]] = {}
        self._bodies: dict[int, tuple[Regex, int]] = {}
        self.expand(EMPTY)

    def _grow(self) -> None:
        """Doubles the arrays."""
        super()._grow()
        self.only_byte = grown(self.only_byte, len(self.only_byte), NOT_EXPANDED)
        self.only_target = grown(self.only_target, len(self.only_target))

    def add(self, regex: Regex) -> int:
        """The start state of a regex; 0 if it matches nothing. A tree that was added before costs a look-up.

        Raises:
            LimitExceededError: regex_nodes, regex_depth or automaton_states.
        """
        if isinstance(regex, Literal):
            return self.literal(regex.data, EMPTY)
        if isinstance(regex, Sequence) and len(regex.parts) == 2 and isinstance(regex.parts[0], Literal):
            # The keys of objects, and the white space and colon that follow all of them.
            rest = self._state_of(regex.parts[1])
            return self.literal(regex.parts[0].data, rest) if rest else DEAD
        return self._state_of(regex)

    def _state_of(self, regex: Regex) -> int:
        """The state of a tree, remembered by its identity."""
        known = self._added.get(id(regex))
        if known is None:
            known = (regex, self._pruned(term_of(self, regex, self.limits, self._bodies)))
            if len(self._added) >= ADDED_KEPT:
                self._added.clear()
            self._added[id(regex)] = known
        return known[1]

    def is_empty(self, regex: Regex) -> bool:
        """Whether a regex matches nothing at all."""
        return self.add(regex) == DEAD

    def meet(self, within: Iterable[Regex], outside: Iterable[Regex] = ()) -> int:
        """The state of what all of some regexes match, and none of some others; 0 if that is nothing. Each of them is
        translated once, whatever it is met with.

        Raises:
            LimitExceededError: as `add`.
        """
        parts = [self.add(regex) for regex in within]
        parts.extend([self.complement(self.add(regex), EMPTY) for regex in outside])
        return self._pruned(self.intersection(parts, EMPTY))

    def narrowed(self, state: int, by: int) -> int:
        """The state of the texts that two states match both; 0 if there are none.

        Raises:
            LimitExceededError: automaton_states.
        """
        return self._pruned(self.intersect(state, by))

    def expand(self, state: int) -> None:
        """Makes the transitions of a state, if they are not made yet.

        Raises:
            LimitExceededError: automaton_states.
        """
        if self.only_byte[state] == NOT_EXPANDED:
            if self.kind[state] == K_LITERAL:
                self._expand_literal(state)
            else:
                self._expand_others(state)

    def _expand_literal(self, state: int) -> None:
        self.derive(state)
        data = self.payload[state]
        target = self.live_target(self._place_of(state, data[0]))
        self.only_target[state] = target
        self.only_byte[state] = data[0] if target else NO_BYTE

    def _expand_others(self, state: int) -> None:
        self.derive(state)
        class_map = self.map_at[state]
        start = self.targets_at[state]
        live = 0
        alive = 0
        for number in range(self._width_of[class_map]):
            target = self.target_pool[start + number]
            if (
                target < 0 and self.may_be_empty[state] and live < 2
            ):  # that more than one leads on is all that must be known
                target = self.live_target(start + number)
            if target != DEAD:
                live += 1
                alive = number
        if live == 0:
            self.only_byte[state] = NO_BYTE
        elif live == 1 and self._has_one_byte(class_map, alive):
            self.only_target[state] = self.live_target(start + alive)
            self.only_byte[state] = self._byte_of[class_map * 256 + alive]
        else:
            self.only_byte[state] = MANY_BYTES

    def live_target(self, at: int) -> int:
        """The state at a place of the pool, 0 if nothing is matched from it.

        Raises:
            LimitExceededError: automaton_states.
        """
        target = self.target_pool[at]
        if target < 0:
            # The language stays the same, so the term may keep this for its derivatives too.
            target = self._pruned(self.materialize(at))
            self.target_pool[at] = target
        return target

    def next(self, state: int, byte: int) -> int:
        """The state after one byte, 0 if nothing can be matched any more.

        Raises:
            LimitExceededError: automaton_states.
        """
        if self.only_byte[state] == NOT_EXPANDED and self.kind[state] == K_LITERAL:
            self._expand_literal(state)
        only = self.only_byte[state]
        if only >= 0:
            return self.only_target[state] if only == byte else DEAD
        self.derive(state)
        return self.live_target(self._place_of(state, byte))

    def leads_on(self, state: int, byte: int) -> bool:
        """Whether a byte leads on from a state; costs less than to find out where.

        Raises:
            LimitExceededError: automaton_states.
        """
        self.derive(state)
        at = self._place_of(state, byte)
        return (self.live_target(at) if self.may_be_empty[state] else self.target_pool[at]) != DEAD

    def first_bytes(self, state: int) -> int:
        """The bytes that lead on from a state, as bits of a number.

        Raises:
            LimitExceededError: automaton_states.
        """
        self.derive(state)
        classes = self._class_bytes(self.map_at[state])
        start = self.targets_at[state]
        found = 0
        for number in range(len(classes)):
            if (
                self.live_target(start + number) if self.may_be_empty[state] else self.target_pool[start + number]
            ) != DEAD:
                found |= classes[number]
        return found

    def inner_bytes(self, state: int) -> int:
        """Those of them that lead to where others lead on.

        Raises:
            LimitExceededError: automaton_states.
        """
        found = 0
        for target, step in self.successors(state).items():
            if self.has_next(target):
                found |= step
        return found

    def successors(self, state: int) -> dict[int, int]:
        """The states after one more byte, each with these bytes as bits of a number.

        Raises:
            LimitExceededError: automaton_states.
        """
        self.derive(state)
        classes = self._class_bytes(self.map_at[state])
        found: dict[int, int] = {}
        for number in range(len(classes)):
            target = self.live_target(self.targets_at[state] + number)
            if target != DEAD:
                found[target] = found.get(target, 0) | classes[number]
        return found

    def step(self, state: int, byte: int) -> int:
        """The same as `next`."""
        return self.next(state, byte)

    def is_accepting(self, state: int) -> bool:
        """Whether a match may end here."""
        return bool(self.accepting[state])

    def has_next(self, state: int) -> bool:
        """Whether some byte leads on."""
        self.expand(state)
        return self.only_byte[state] != NO_BYTE

    def matches(self, state: int, data: bytes) -> bool:
        """Whether the whole of `data` is matched from a state."""
        for at in range(len(data)):  # by index: iterating bytes gives a signed char when compiled
            state = self.next(state, data[at])
            if state == DEAD:
                return False
        return bool(self.accepting[state])

    def as_counted(self, state: int) -> tuple[int, int, int, int] | None:
        """A state that is a repetition followed by something, taken apart.

        Returns:
            (state of what is repeated, least count, greatest count or -1, state of what follows), or None. The
            language is the concatenation of these; what follows may begin with what is repeated. What follows the
            empty text alone is a state that accepts and has no next. None of the states is dead.
        """
        if self.kind[state] != K_REPEAT:
            return None
        body, low, high = self.payload[state]
        if self.may_be_empty[body]:
            body = self._pruned(body)
        return (body, low, high, self.tail[state]) if body != DEAD else None

    def as_bounded(self, state: int) -> tuple[int, int] | None:
        """A state with a bound on how many of something its texts hold, taken apart; None for any other.

        Returns:
            (the state without the bound, the bound). A text is matched from `state` if it is matched from the state
            without the bound and begins at most so many: `begun` adds up along the text what its bytes begin, and
            `least_begun` tells what is needed at least after it. States that differ in the bound alone share this.
        """
        if self.kind[state] != K_BOUNDED or self.tail[state] != EMPTY:
            return None
        counting, most = self.payload[state]
        return counting, most

    def asks_for_count(self, state: int) -> bool:
        """Whether all that is asked of a text from a state that counts is how many it has of what is counted, before
        something follows.
        """
        if self.kind[state] != K_COUNTING:
            return False
        star, _, inner = self.payload[state]
        if self.accepting[self.tail[star]]:
            return False
        if self.kind[inner] != K_REPEAT or self.tail[inner] != self.tail[star]:
            return False
        body, _, most = self.payload[inner]
        return bool(most < 0 and body == self.payload[star][0])

    def asks_for_more(self, state: int) -> bool:
        """Whether a state that counts asks for some of what is counted, beside other conditions: as they come, it is
        another state after each.
        """
        if self.kind[state] != K_COUNTING:
            return False
        star, _, inner = self.payload[state]
        for part in self.conjuncts(inner):
            if self.kind[part] == K_REPEAT and self.tail[part] == self.tail[star]:
                body, least, _ = self.payload[part]
                if least > 0 and body == self.payload[star][0]:
                    return True
        return False

    def as_variation(self, state: int) -> list[int]:
        """For a state made of repetitions and more, the states of these; none for any other.

        That is an intersection, such as a string with further conditions (`C{m,n} R & B & ~D`). Tables for such states
        are cheap next to those of a state like it: most texts soon make them one.
        """
        bounded = self.as_bounded(state)
        if bounded is not None:
            star, phase, _ = self.payload[bounded[0]]
            return [] if phase != EMPTY else [self.repeat(self.payload[star][0], 0, bounded[1], self.tail[star])]
        if self.kind[state] != K_INTERSECTION or self.tail[state] != EMPTY:
            return []
        return [part for part in self.payload[state] if self.kind[part] == K_REPEAT]

    def as_union(self, state: int) -> list[int]:
        """For a union one part of which is a repetition, that and the union of the others; none for any other state."""
        if self.kind[state] != K_UNION:
            return []
        parts: list[int] = list(self.payload[state])
        repeats = [part for part in parts if self.kind[part] == K_REPEAT]
        if not repeats:
            return []
        # The one that matches most, as far as its form shows this: a search rather than what it found so far.
        widest = min(repeats, key=lambda part: self.payload[part][1])
        parts.remove(widest)
        return [widest, self.union(parts)]

    def ends_behind(self, state: int, body: int, last: int) -> bool:
        """Whether all texts of a state are C*·R, for C and R given, and R begins as no C does; by their form."""
        if self.kind[last] == K_LITERAL and self.tail[last] == EMPTY:  # what stands before its last byte may be C
            data = self.payload[last]
            last = self.literal(data[len(data) - 1 :], EMPTY)
        if self.kind[last] != K_LITERAL or not self._is_countable_with(body, last):
            return False
        known = self._behind.setdefault((body, last), {last: True})
        before = len(known)
        found = is_spelled(self, state, body, last, self._cover(body), known, by_bytes=True)
        self._count_pairs(len(known) - before)
        return found

    def last_of(self, state: int) -> int:
        """What the texts of a state end with, one of the ways if there are several."""
        while True:
            if self.kind[state] == K_UNION:
                parts: tuple[int, ...] = self.payload[state]
                literals = [part for part in parts if self.kind[part] == K_LITERAL]
                state = (literals or parts)[0]
            elif self.kind[state] >= K_LITERAL and self.tail[state] != EMPTY:
                state = self.tail[state]
            else:
                return state

    def common_text(self, states: Iterable[int]) -> bytes | None:
        """A shortest text that is matched from all of some states; None if there is none, or it takes many states.

        Raises:
            LimitExceededError: automaton_states.
        """
        return self.shortest_text(self._pruned(self.intersection(states, EMPTY)), STATES_SEEN)

    def shortest_text(self, state: int, most: int = FAR) -> bytes | None:
        """A shortest text matched from a state; None from the dead state, and where more than `most` states are seen.

        Raises:
            LimitExceededError: automaton_states.
        """
        if state == DEAD:
            return None
        came_from: dict[int, tuple[int, int]] = {state: (DEAD, 0)}
        length = {state: 0}
        queue = [(self.min_len[state], 0, 0, state)]
        order = 0
        while queue and len(length) <= most:
            _, _, _, top = heapq.heappop(queue)
            if self.accepting[top]:
                return self._spelled(came_from, top)
            self.derive(top)
            class_map = self.map_at[top]
            for number in range(self._width_of[class_map]):
                target = self.live_target(self.targets_at[top] + number)
                if target == DEAD or length.get(target, FAR) <= length[top] + 1:
                    continue
                length[target] = length[top] + 1
                came_from[target] = (top, self._byte_of[class_map * 256 + number])
                order += 1
                heapq.heappush(queue, (length[target] + self.min_len[target], -length[target], order, target))
        return None

    @staticmethod
    def _spelled(came_from: dict[int, tuple[int, int]], state: int) -> bytes:
        """The bytes along a path back to where it began."""
        out = bytearray()
        state, byte = came_from[state]
        while state != DEAD:
            out.append(byte)
            state, byte = came_from[state]
        return bytes(reversed(out))

    def is_ever_endless(self, state: int) -> bool:
        """Whether every beginning of a text that is matched from a state, and can go on, does so to infinitely many.

        Told only where it takes few states to see; else False.

        Raises:
            LimitExceededError: automaton_states.
        """
        found = self._ever_endless.get(state)
        if found is None:
            found = self._ever_endless[state] = self._sees_endless(state)
        return found

    def _sees_endless(self, state: int) -> bool:
        if self._ends_repeating(state):
            return True
        after: dict[int, set[int]] = {}
        waiting = [state]
        while waiting:
            top = waiting.pop()
            if top in after:
                continue
            if len(after) >= STATES_SEEN or self._is_counted_out(top):
                return False
            after[top] = {top} if self._is_endless_by_form(top) else set(self.successors(top))
            waiting.extend(after[top])
        ended: set[int] = {here for here, targets in after.items() if not targets}
        if state in ended:
            return False
        return not any(targets <= ended for here, targets in after.items() if here not in ended)

    def _ends_repeating(self, state: int, repeated: int = NOTHING) -> bool:
        """Whether all texts of a state end with something any number of times and one byte: before that byte comes, it
        may be put off for ever. What comes any number of times is `repeated`, if that is given.
        """
        seen = {state}
        waiting = [state]
        while waiting:
            top = waiting.pop()
            kind = self.kind[top]
            if kind < K_UNION or len(seen) > TERMS_SEEN:
                return False
            if kind == K_REPEAT and self.payload[top][2] < 0 and self._is_byte(self.tail[top]):
                if repeated in (NOTHING, self.payload[top][0]):
                    continue
                return False
            following: tuple[int, ...] = self.payload[top] if kind == K_UNION else (self.tail[top],)
            waiting.extend([part for part in following if part not in seen])
            seen.update(following)
        return True

    def _is_byte(self, term: int) -> bool:
        """Whether a term is a literal of one byte."""
        return self.kind[term] == K_LITERAL and self.tail[term] == EMPTY and len(self.payload[term]) == 1

    def _is_endless_by_form(self, state: int) -> bool:
        """Whether a state is ever endless because it is a string C*·R without others, and the others do not matter.

        They do not where C*·R ends with C* and a byte, and one character can be added for ever before that byte: it is
        a C, but comes nowhere in the others, except where these leave any number of C alone. So a text with it there is
        one of the others only if the text without it is. Single texts do not matter either, whatever is in them: they
        are short.
        """
        if self.kind[state] != K_INTERSECTION or self.tail[state] != EMPTY:
            return False
        kept = [part for part in self.payload[state] if self.kind[part] != K_COMPLEMENT or self.tail[part] != EMPTY]
        if len(kept) != 1 or self.may_be_empty[kept[0]] or not self.is_ever_endless(kept[0]):
            return False
        others = [self.payload[part] for part in self.payload[state] if part != kept[0]]
        if all(map(self._holds_few, others)):
            return True
        star = self._star_within(kept[0])
        if star == EMPTY:
            return False
        body = self.payload[star][0]
        if not self._is_code(body):  # else C might swallow what is added together with what is before it
            return False
        last = self.last_of(star)
        is_plain = self._is_byte(self.tail[star])
        if not is_plain and not (self._ends_repeating(star, body) and self.ends_behind(star, body, last)):
            return False
        needed = self.alphabet(last)
        for other in others:
            if not self._holds_few(other):
                needed |= self._alphabet_between(other, body)
        return self._cover(body) & ASCII_MASK & ~needed != 0

    def _star_within(self, term: int) -> int:
        """The part C*·R of a sequence that begins with literals, such as an opening quote; EMPTY for any other."""
        while self.kind[term] == K_LITERAL:
            term = self.tail[term]
        if self.kind[term] != K_REPEAT:
            return EMPTY
        _, low, high = self.payload[term]
        return term if low == 0 and high < 0 else EMPTY

    def _alphabet_between(self, term: int, body: int) -> int:
        """The characters in texts of sequences besides those of any number of `body`; all where it is not seen."""
        found = 0
        seen = {term}
        waiting = [term]
        while waiting:
            top = waiting.pop()
            kind = self.kind[top]
            if kind == K_UNION:
                following = self.payload[top]
            elif K_LITERAL <= kind <= K_REPEAT:
                following = (self.tail[top],)
                if kind != K_REPEAT:
                    found |= self.head_alphabet(top)
                elif self.payload[top] != (body, 0, -1):
                    found |= self.alphabet(self.payload[top][0])
            elif kind == K_EMPTY:
                continue
            else:
                return ASCII_MASK
            waiting.extend([part for part in following if part not in seen])
            seen.update(following)
        return found

    def _holds_few(self, term: int) -> bool:
        """Whether only finitely many texts are matched from a term, as far as its form shows this."""
        done = self._few
        stack = [term]
        while stack:
            top = stack[len(stack) - 1]
            kind = self.kind[top]
            needed: tuple[int, ...] = ()
            may = True
            if kind == K_UNION:
                needed = self.payload[top]
            elif kind == K_REPEAT:
                needed = (self.payload[top][0], self.tail[top])
                may = self.payload[top][2] >= 0
            elif kind in (K_LITERAL, K_BYTES, K_CHARS, K_TABLE):
                needed = (self.tail[top],)
            else:
                may = kind <= K_EMPTY
            missing = [part for part in needed if part not in done] if may else []
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            done[top] = may and all(map(done.__getitem__, needed))
        return done[term]

    def _is_counted_out(self, state: int) -> bool:
        """Whether a state begins with a large bound on a count: most often it is finite, and has many states."""
        if self.kind[state] == K_BOUNDED:
            return True
        return bool(self.kind[state] == K_REPEAT and self.payload[state][2] > SMALL_COUNT)
