"""Derivatives of terms by all bytes at once.

The derivative of a term by a byte is the term of what may follow that byte. Most bytes lead to few different terms, so
the derivatives by all 256 bytes are a *partition* (`engine/partitions.py`). Partitions of compound terms are products
of those of their parts. They are the transitions of the states too (`engine/automata.py`).

A state leads to a dozen others, one for each way that a character may go on, and texts take one or two of these. So the
derivatives of compound terms are made when they are asked for; until then it is known which bytes lead to the same, and
which lead nowhere for sure.
"""

from __future__ import annotations

from bisect import bisect_left

from structgen.engine.arrays import grown, grown_pool, zeros
from structgen.engine.automata.byte_partitions import PartitionTable
from structgen.engine.automata.suffix_automaton import SuffixAutomaton
from structgen.engine.automata.term_table import FULL_MASK
from structgen.engine.constants import (
    EMPTY,
    K_BOUNDED,
    K_BYTES,
    K_CHARS,
    K_COMPLEMENT,
    K_COUNTING,
    K_EARLY,
    K_INTERSECTION,
    K_LITERAL,
    K_MULTIPLE,
    K_REPEAT,
    K_TABLE,
    K_UNION,
    NOTHING,
)
from structgen.engine.regex.utf8 import ByteRanges
from structgen.limits import Limits

__all__ = ["DerivativeTable"]

# Declared as C integers in the .pxd, so not importable from here.
NO_MAP = 0  # as in `engine/partitions.py`
ONE_CLASS = 1  # the same
NOT_MADE = -1
NESTED = 20  # so deep do derivatives that are made later lie in one another; making one recurses


class DerivativeTable(PartitionTable):
    """Terms with their derivatives."""

    def __init__(self, limits: Limits | None = None, capacity: int = 64) -> None:
        super().__init__(limits, capacity)
        self._class_partitions: dict[int, tuple[int, list[int]]] = {}  # by class: the class map, the targets
        self._suffix_automata: list[SuffixAutomaton] = []
        self._suffix_automaton_of: dict[tuple[bytes, ...], int] = {}
        self._later_term = zeros(1024)
        self._later_at = zeros(1024)
        self._later_made = zeros(1024)
        self._later_count = 0
        self._later_depth = zeros(self._capacity)
        self._members_of_later = zeros(1024)
        self._member_count = 0
        for constant in (NOTHING, EMPTY):
            self._push(NOTHING)
            self._keep(constant, ONE_CLASS)

    def _grow(self) -> None:
        """Doubles the arrays."""
        super()._grow()
        self._later_depth = grown(self._later_depth, len(self._later_depth))

    def targets(self, term: int) -> list[int]:
        """What the bytes lead to from a term, each different target once."""
        self.derive(term)
        first = self.targets_at[term]
        last = first + self._width_of[self.map_at[term]]
        return [self.materialize(at) for at in range(first, last)]

    def derive(self, term: int) -> None:
        """Makes the derivatives of a term, if they are not made yet."""
        if self.map_at[term] == NO_MAP:
            if self.kind[term] == K_LITERAL:
                self._derive_literal(term)
            else:
                self._derive(term)

    def _derive_literal(self, term: int) -> None:
        data = self.payload[term]
        self._push(NOTHING)
        self._push(self.literal(data[1:], self.tail[term]))
        self._keep(term, self._map_of(data[0]))
        if self.may_be_empty[term]:
            self._put_off(term)

    def _derive(self, term: int) -> None:
        """Makes the derivatives of a term. Iterative: terms may be nested as deep as their regex."""
        stack = [term]
        while stack:
            top = stack[len(stack) - 1]
            if self.map_at[top] != NO_MAP:
                stack.pop()
                continue
            heads = self._active(top)
            missing = self._missing(heads)
            if missing:
                stack.extend(missing)
                continue
            self._work_size = 0  # an error may have left something there
            self._keep(top, self._combine(heads))
            if self.may_be_empty[top]:
                self._put_off(top)
            self._later_depth[top] = self._depth_of(heads)
            if self._later_depth[top] > NESTED:
                self.targets(top)
                self._later_depth[top] = 0
            stack.pop()

    def _active(self, term: int) -> list[int]:
        """The sequences whose heads a byte may enter: `term`'s, and the tails behind heads that may be empty."""
        kind = self.kind[term]
        if kind != K_UNION and (kind < K_REPEAT or not self._head_accepts(term)):
            return [term]
        seen = {term}
        stack = [term]
        heads: list[int] = []
        while stack:
            top = stack.pop()
            if self.kind[top] == K_UNION:
                after = self.payload[top]
            else:
                if self.kind[top] > K_UNION:
                    heads.append(top)
                if not self._head_accepts(top):
                    continue
                after = (self.tail[top],)
            for inner in after:
                if inner not in seen:
                    seen.add(inner)
                    stack.append(inner)
        return heads

    def _head_accepts(self, term: int) -> bool:
        """Whether the head of a sequence matches the empty text."""
        kind = self.kind[term]
        if kind < K_REPEAT:
            return False
        payload = self.payload[term]
        if kind == K_REPEAT:
            return bool(payload[1] == 0)
        if kind == K_INTERSECTION:
            return self._all_accepting(payload)
        if kind == K_COMPLEMENT:
            return bool(self.accepting[payload] == 0)
        if kind == K_EARLY:
            return False
        if kind == K_TABLE:
            number, low, _, depth = payload
            return bool(len(self._tables[number][low]) == depth)
        if kind == K_BOUNDED:
            return bool(self.accepting[payload[0]])
        if kind == K_COUNTING:
            return bool(self.accepting[term])
        if kind == K_MULTIPLE:
            return bool(payload[1] == 0)
        return True

    def _missing(self, heads: list[int]) -> list[int]:
        """The terms inside of heads whose partitions are needed first."""
        missing: list[int] = []
        for head in heads:
            missing.extend([term for term in self._inside(head) if self.map_at[term] == NO_MAP])
        return missing

    def _depth_of(self, heads: list[int]) -> int:
        """How deep what is made later lies in what is made later, in a union of sequences."""
        deepest = 0
        for head in heads:
            for term in self._inside(head):
                deepest = max(deepest, self._later_depth[term] + 1)
        return deepest

    def _inside(self, head: int) -> tuple[int, ...]:
        """The terms inside of the head of a sequence, whose derivatives make its own."""
        kind = self.kind[head]
        if kind in (K_REPEAT, K_BOUNDED):
            return (self.payload[head][0],)
        if kind == K_INTERSECTION:
            parts: tuple[int, ...] = self.payload[head]
            return parts
        if kind in (K_COMPLEMENT, K_EARLY):
            return (self.payload[head],)
        return self._counted_parts(head) if kind == K_COUNTING else ()

    # -- derivatives that are made when they are asked for ----------------------------------------------------------

    def _later(self, term: int, byte: int) -> int:
        """A negative number that stands for the derivative of a sequence by a byte that enters its head."""
        number = self._later_count
        if number == len(self._later_term):
            self._later_term = grown_pool(self._later_term, number)
            self._later_at = grown_pool(self._later_at, number)
            self._later_made = grown_pool(self._later_made, number)
        self._later_term[number] = term
        self._later_at[number] = byte
        self._later_made[number] = NOT_MADE
        self._later_count = number + 1
        return -1 - number

    def _later_union(self, members: list[int]) -> int:
        """A negative number that stands for a union, some members of which may not be made yet."""
        count = len(members)
        first = self._member_count
        while first + count >= len(self._members_of_later):
            self._members_of_later = grown_pool(self._members_of_later, first)
        self._members_of_later[first] = count
        for index in range(count):
            self._members_of_later[first + 1 + index] = members[index]
        self._member_count = first + 1 + count
        return self._later(NOTHING, first)

    def materialize(self, at: int) -> int:
        """The target at a place of the pool, made if it is not yet.

        One that may match nothing stays a negative number in the pool: see `AutomatonStore.living`.

        Raises:
            LimitExceededError: automaton_states.
        """
        target = self.target_pool[at]
        if target >= 0:
            return target
        made = self._made(target)
        if not self.may_be_empty[made]:
            self.target_pool[at] = made
        return made

    def _put_off(self, term: int) -> None:
        """Puts negative numbers for targets that are made, and may match nothing: whether they do is to be found out
        when one of them is asked for.
        """
        first = self.targets_at[term]
        for at in range(first, first + self._width_of[self.map_at[term]]):
            target = self.target_pool[at]
            if target >= 0 and self.may_be_empty[target]:
                number = self._later(NOTHING, NOT_MADE)
                self._later_made[-1 - number] = target
                self.target_pool[at] = number

    def _made(self, target: int) -> int:
        """A target; what a negative number stands for."""
        if target >= 0:
            return target
        number = -1 - target
        made = self._later_made[number]
        if made == NOT_MADE:
            term = self._later_term[number]
            at = self._later_at[number]
            if term != NOTHING:
                made = self._derivative(term, at)
            else:  # a union
                members = self._members_of_later
                if members[at] == 2:
                    made = self.unite(self._made(members[at + 1]), self._made(members[at + 2]))
                else:
                    made = self.union([self._made(members[at + 1 + index]) for index in range(members[at])])
            self._later_made[number] = made
        return made

    def _target(self, term: int, byte: int) -> int:
        """What a byte leads to from a term with a partition."""
        return self.materialize(self._place_of(term, byte))

    def _leads_nowhere(self, term: int, byte: int) -> bool:
        """Whether a byte leads to nothing from a term with a partition, as is known without making what it leads to."""
        return self.target_pool[self._place_of(term, byte)] == NOTHING

    def _place_of(self, term: int, byte: int) -> int:
        """Where in the pool the target of a byte is."""
        return self.targets_at[term] + self.class_of[self.map_at[term] * 256 + byte]

    def _derivative(self, term: int, byte: int) -> int:
        """The derivative of a sequence by a byte that enters its head. The terms inside of that have partitions."""
        kind = self.kind[term]
        payload = self.payload[term]
        tail = self.tail[term]
        if kind == K_REPEAT:
            return self.append(self._target(payload[0], byte), self._after_one(term))
        if kind == K_INTERSECTION:
            if len(payload) == 2 and tail == EMPTY:
                return self.intersect(self._target(payload[0], byte), self._target(payload[1], byte))
            return self.intersection([self._target(part, byte) for part in payload], tail)
        if kind == K_COMPLEMENT:
            return self.complement(self._target(payload, byte), tail)
        if kind == K_EARLY:
            return self.early(self._target(payload, byte), tail)
        if kind == K_BOUNDED:
            return self._derivative_of_bounded(payload[0], payload[1], tail, byte)
        return self._derivative_of_counting(term, byte)

    def _derivative_of_bounded(self, counting: int, most: int, tail: int, byte: int) -> int:
        """That without the bound, with what is left of the bound."""
        target = self._target(counting, byte)
        if self.kind[target] == K_COUNTING:
            return self.bounded(target, most - self.begun(counting, target), tail)
        return self.append(target, tail)

    def _derivative_of_counting(self, term: int, byte: int) -> int:
        """That within one of what is counted, or that into what follows them."""
        star, _, inner = self.payload[term]
        parts = self._counted_parts(term)
        phase = self._target(parts[0], byte)
        after = self._target(inner, byte)
        if phase:
            return self.counting(star, phase, after)
        return self.intersect(self._target(parts[1], byte), after) if len(parts) == 3 else NOTHING

    # -- all derivatives of a term ----------------------------------------------------------------------------------

    def _combine(self, heads: list[int]) -> int:
        """The partition of a union of sequences, from the partitions of their heads.

        Like all that make partitions, it leaves the targets on the stack and returns the class map.
        """
        base = self._work_size
        if len(heads) == 1:
            return self._reduced(self._of_head(heads[0]), base)
        number = ONE_CLASS
        first_bytes = bytearray(256)
        literals = 0
        for head in heads:  # of each: the class map, then the targets
            if self.kind[head] == K_LITERAL:
                literals += 1
                continue
            place = self._work_size
            self._push(NO_MAP)
            part = self._of_head(head)
            self._work[place] = part
            number = self._product(number, part)
        literals_base = self._work_size
        if literals:  # of each: the first byte, and its target
            classes = 0
            for head in heads:
                if self.kind[head] == K_LITERAL:
                    data = self.payload[head]
                    if not first_bytes[data[0]] and classes < 255:
                        classes += 1
                        first_bytes[data[0]] = classes
                    self._push(data[0])
                    self._push(self.literal(data[1:], self.tail[head]))
            number = self._product(number, self._map_number(bytes(first_bytes)))
        end = self._work_size
        for place in range(self._width_of[number]):
            byte = self._byte_of[number * 256 + place]
            self._push(self._united(self._members(base, literals_base, end, byte)))
        return self._reduced(number, self._moved_down(base, end))

    def _members(self, base: int, literals_base: int, end: int, byte: int) -> list[int]:
        """What one byte leads to from the parts of a union, which stand on the stack."""
        work = self._work
        members: list[int] = []
        at = base
        while at < literals_base:
            number = work[at]
            target = work[at + 1 + self.class_of[number * 256 + byte]]
            if target != NOTHING:
                members.append(target)
            at += 1 + self._width_of[number]
        for at in range(literals_base, end, 2):
            if work[at] == byte:
                members.append(work[at + 1])
        return members

    def _moved_down(self, base: int, top: int) -> int:
        """Moves what stands on the stack from `top` on down to `base`, which it returns."""
        size = self._work_size - top
        for place in range(size):
            self._work[base + place] = self._work[top + place]
        self._work_size = base + size
        return base

    def _united(self, targets: list[int]) -> int:
        """The union of the targets of a byte, which is made later where there are several."""
        if len(targets) > 1:
            return self._later_union(targets)
        return targets[0] if targets else NOTHING

    def _of_head(self, term: int) -> int:
        """The derivatives that enter the head of a sequence; the terms inside of it have theirs already."""
        kind = self.kind[term]
        payload = self.payload[term]
        tail = self.tail[term]
        if kind == K_LITERAL:
            self._push(NOTHING)
            self._push(self.literal(payload[1:], tail))
            return self._map_of(payload[0])
        if kind == K_BYTES:
            if payload == FULL_MASK:
                self._push(tail)
                return ONE_CLASS
            self._push(NOTHING)
            self._push(tail)
            return self._map_of_set(payload)
        if kind == K_CHARS:
            number, targets = self._of_class(payload)
            for target in targets:
                self._push(self.append(target, tail))
            return number
        if kind == K_REPEAT:
            return self._of_repeat(term, payload[0])
        if kind in (K_COMPLEMENT, K_EARLY):
            return self._of_part(term, payload, kind == K_COMPLEMENT)
        if kind == K_BOUNDED:
            return self._of_part(term, payload[0], False)
        if kind == K_INTERSECTION:
            return self._of_intersection(term, payload)
        if kind == K_COUNTING:
            return self._of_counting(term)
        if kind == K_TABLE:
            return self._of_table(payload, tail)
        if kind == K_MULTIPLE:
            return self._of_multiple(payload, tail)
        return self._of_substrings(payload, tail)

    def _of_repeat(self, term: int, body: int) -> int:
        """The derivatives of a repetition: those of its body, before one repetition less."""
        number = self.map_at[body]
        first = self.targets_at[body]
        for place in range(self._width_of[number]):
            target = self.target_pool[first + place]
            if target == EMPTY:
                target = self._after_one(term)
            elif target != NOTHING:
                target = self._later(term, self._byte_of[number * 256 + place])
            self._push(target)
        return number

    def _after_one(self, term: int) -> int:
        """What follows in a repetition after its body has come once."""
        body, low, high = self.payload[term]
        if low == 0 and high < 0:
            return term
        return self.repeat(body, low - 1 if low > 0 else 0, high - 1 if high > 0 else -1, self.tail[term])

    def _of_part(self, term: int, part: int, is_refused: bool) -> int:
        """The derivatives of a term that go as those of a term inside of it."""
        number = self.map_at[part]
        first = self.targets_at[part]
        for place in range(self._width_of[number]):
            leads = is_refused or self.target_pool[first + place] != NOTHING
            self._push(self._later(term, self._byte_of[number * 256 + place]) if leads else NOTHING)
        return number

    def _of_intersection(self, term: int, parts: tuple[int, ...]) -> int:
        """The derivatives of an intersection: where a byte leads on in all parts."""
        number = self._common_map(parts)
        for place in range(self._width_of[number]):
            byte = self._byte_of[number * 256 + place]
            leads = True
            for part in parts:
                leads = leads and not self._leads_nowhere(part, byte)
            self._push(self._later(term, byte) if leads else NOTHING)
        return number

    def _of_counting(self, term: int) -> int:
        """The derivatives of a counting term: where a byte leads on in what it counts, or follows, and in the rest."""
        parts = self._counted_parts(term)
        number = self._common_map(parts)
        inner = parts[len(parts) - 1]
        for place in range(self._width_of[number]):
            byte = self._byte_of[number * 256 + place]
            leads = not self._leads_nowhere(parts[0], byte)
            if len(parts) == 3:
                leads = leads or not self._leads_nowhere(parts[1], byte)
            self._push(self._later(term, byte) if leads and not self._leads_nowhere(inner, byte) else NOTHING)
        return number

    def _common_map(self, parts: tuple[int, ...]) -> int:
        """The common refinement of the class maps of some terms."""
        number = ONE_CLASS
        for part in parts:
            number = self._product(number, self.map_at[part])
        return number

    def _of_class(self, number: int) -> tuple[int, list[int]]:
        """The derivatives of a class of byte sequences: a term for what is left of the character."""
        found = self._class_partitions.get(number)
        if found is None:
            rests: list[list[ByteRanges]] = [[] for _ in range(256)]
            for sequence in self._classes[number]:
                low, high = sequence[0]
                for byte in range(low, high + 1):
                    rests[byte].append(sequence[1:])
            numbers: dict[tuple[ByteRanges, ...], int] = {(): 0}
            classes = bytes([numbers.setdefault(tuple(rest), len(numbers)) for rest in rests])
            targets = [self.byte_sequence_set(rest) if rest else NOTHING for rest in numbers]
            found = self._class_partitions[number] = (self._map_number(classes), targets)
        return found

    def _counted_parts(self, term: int) -> tuple[int, ...]:
        """The terms whose derivatives make those of a counting term: what it counts, what follows, and the term."""
        star, phase, inner = self.payload[term]
        return (self.payload[star][0], self.tail[star], inner) if phase == EMPTY else (phase, inner)

    def begun(self, before: int, after: int) -> int:
        """How many (0 or 1) of what a counting term counts the byte begins that leads from it to another term."""
        return 1 if self.is_between(before) and self.kind[after] == K_COUNTING else 0

    def is_between(self, term: int) -> bool:
        """Whether a term counts, and is not within one of what it counts."""
        if self.kind[term] != K_COUNTING:
            return False
        parts = self.payload[term]
        phase = parts[1]
        return bool(phase == EMPTY)

    def _of_table(self, payload: tuple[int, int, int, int], tail: int) -> int:
        """The derivatives of a table of texts: its rows with each next byte are found by bisection."""
        number, low, high, depth = payload
        texts = self._tables[number]
        if len(texts[low]) == depth:
            low += 1
        found: dict[int, int] = {}
        prefix = texts[low][:depth]
        while low < high:
            byte = texts[low][depth]
            after = bisect_left(texts, prefix + bytes((byte + 1,)), low, high) if byte < 255 else high
            found[byte] = self.table(number, low, after, depth + 1, tail)
            low = after
        if len(found) == 256:  # no class is left for bytes that lead nowhere, nor needed
            for byte in range(256):
                self._push(found[byte])
            return self._map_number(bytes(range(256)))
        classes = bytearray(256)
        self._push(NOTHING)
        for place, byte in enumerate(found):
            classes[byte] = place + 1
            self._push(found[byte])
        return self._map_number(bytes(classes))

    def _of_multiple(self, payload: tuple[int, int], tail: int) -> int:
        """The derivatives of the multiples of a divisor: by each digit, and by a point, which changes nothing."""
        divisor, remainder = payload
        classes = bytearray(256)
        classes[ord(".")] = 1
        self._push(NOTHING)
        self._push(self.multiple(divisor, remainder, tail))
        for digit in range(10):
            classes[ord("0") + digit] = digit + 2
            self._push(self.multiple(divisor, (remainder * 10 + digit) % divisor, tail))
        return self._map_number(bytes(classes))

    def _of_substrings(self, payload: tuple[int, int], tail: int) -> int:
        """The derivatives of a suffix automaton: into the first byte of each unit that may come next."""
        number, state = payload
        automaton: SuffixAutomaton = self._suffix_automata[number]
        units = [self.literal(unit, self.substrings(number, target, tail)) for unit, target in automaton.edges(state)]
        if units:
            return self._combine(units)
        self._push(NOTHING)
        return ONE_CLASS

    def add_suffix_automaton(self, units: tuple[bytes, ...]) -> int:
        """The number of the suffix automaton of a text of units."""
        units = tuple(unit for unit in units if unit)
        number = self._suffix_automaton_of.get(units)
        if number is None:
            number = self._suffix_automaton_of[units] = len(self._suffix_automata)
            self._suffix_automata.append(SuffixAutomaton(units))
        return number

    def runs(self, units: tuple[bytes, ...], skipped: tuple[int, ...], tail: int) -> int:
        """Runs of one or more units of a text, then `tail`; of the first unit some bytes are left out."""
        number = self.add_suffix_automaton(units)
        automaton: SuffixAutomaton = self._suffix_automata[number]
        left_out = dict(zip(units, skipped))
        begun = [
            self.literal(unit[left_out[unit] :], self.substrings(number, target, tail))
            for unit, target in automaton.edges(0)
        ]
        return self.union(begun)

    def suffix_bytes(self) -> int:
        """About how much memory suffix automata take."""
        return sum([automaton.bytes_used for automaton in self._suffix_automata])
