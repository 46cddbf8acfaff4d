"""Derivatives of terms by all bytes at once.

The derivative of a term by a byte is the term of what may follow that byte. Most bytes lead to few different terms, so
the derivatives by all 256 bytes are a *partition* (`engine/partitions.py`). Partitions of compound terms are products
of those of their parts. They are the transitions of the states too (`engine/automata.py`).
"""

from __future__ import annotations

from bisect import bisect_left

from structgen.engine.partitions import PartitionTable
from structgen.engine.term_kinds import (
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
from structgen.engine.term_table import FULL_MASK
from structgen.engine.utf8 import ByteRanges
from structgen.limits import Limits

__all__ = ["DerivativeTable"]

# Declared as C integers in the .pxd, so not importable from here.
NO_MAP = 0  # as in `engine/partitions.py`
ONE_CLASS = 1  # the same


class DerivativeTable(PartitionTable):
    """Terms with their derivatives."""

    def __init__(self, limits: Limits | None = None, capacity: int = 64) -> None:
        super().__init__(limits, capacity)
        self._class_partitions: dict[int, tuple[int, list[int]]] = {}  # by class: the class map, the targets
        self._suffix_automata: list[list[list[tuple[bytes, int]]]] = []
        self._suffix_automaton_of: dict[tuple[bytes, ...], int] = {}
        for constant in (NOTHING, EMPTY):
            self._push(NOTHING)
            self._keep(constant, ONE_CLASS)

    def targets(self, term: int) -> list[int]:
        """What the bytes lead to from a term, each different target once."""
        self._derive_within(term)
        first = self.targets_at[term]
        last = first + self._width_of[self.map_at[term]]
        return [self.forced(at) for at in range(first, last)]

    def reaches(self, term: int, other: int) -> bool:
        """Whether some byte leads from a term to another."""
        self._derive_within(term)
        first = self.targets_at[term]
        last = first + self._width_of[self.map_at[term]]
        for at in range(first, last):  # noqa: SIM110  (a generator would not be compiled to a loop)
            if self.target_pool[at] == other:
                return True
        return False

    def _derive_within(self, term: int) -> None:
        """Makes the derivatives of a term, if they are not made yet."""
        if self.map_at[term] == NO_MAP:
            self._derive(term)

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
            kind = self.kind[head]
            if kind == K_REPEAT:
                inner = self.payload[head][:1]
            elif kind == K_INTERSECTION:
                inner = self.payload[head]
            elif kind in (K_COMPLEMENT, K_EARLY):
                inner = (self.payload[head],)
            elif kind == K_BOUNDED:
                inner = self.payload[head][:1]
            elif kind == K_COUNTING:
                inner = self._counted_parts(head)
            else:
                continue
            missing.extend([t for t in inner if self.map_at[t] == NO_MAP])
        return missing

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
        """The union of some targets, some of which may not be made yet."""
        if not targets:
            return NOTHING
        if len(targets) == 1:
            return targets[0]
        if len(targets) == 2:
            return self.unite(self._made(targets[0]), self._made(targets[1]))
        return self.union([self._made(target) for target in targets])

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
            return self._of_repeat(payload, tail)
        if kind == K_INTERSECTION:
            return self._of_intersection(payload, tail)
        if kind == K_COMPLEMENT:
            for target in self.targets(payload):
                self._push(self.complement(target, tail))
            return self.map_at[int(payload)]
        if kind == K_EARLY:
            for target in self.targets(payload):
                self._push(self.early(target, tail))
            return self.map_at[int(payload)]
        if kind == K_TABLE:
            return self._of_table(payload, tail)
        if kind == K_BOUNDED:
            return self._of_bounded(payload[0], payload[1], tail)
        if kind == K_COUNTING:
            return self._of_counting(term)
        if kind == K_MULTIPLE:
            return self._of_multiple(payload, tail)
        return self._of_substrings(payload, tail)

    def _of_repeat(self, payload: tuple[int, int, int], tail: int) -> int:
        """The derivatives of a repetition: those of its body, before one repetition less."""
        body, low, high = payload
        rest = self.repeat(body, low - 1 if low > 0 else 0, high - 1 if high > 0 else -1, tail)
        first = self.targets_at[body]
        for at in range(first, first + self._width_of[self.map_at[body]]):
            target = self.forced(at)
            self._push(self._later(target, rest) if low > 0 or high > 0 else self.append(target, rest))
        return self.map_at[body]

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

    def _of_intersection(self, parts: tuple[int, ...], tail: int) -> int:
        """The derivatives of an intersection: the intersections of its parts' derivatives."""
        number = ONE_CLASS
        for part in parts:
            number = self._product(number, self.map_at[part])
        for place in range(self._width_of[number]):
            byte = self._byte_of[number * 256 + place]
            if len(parts) == 2 and tail == EMPTY:
                target = self.intersect(self._target(parts[0], byte), self._target(parts[1], byte))
            else:
                target = self.intersection([self._target(part, byte) for part in parts], tail)
            self._push(target)
        return number

    def _counted_parts(self, term: int) -> tuple[int, ...]:
        """The terms whose derivatives make those of a counting term: what it counts, what follows, and the term."""
        star, phase, inner = self.payload[term]
        return (self.payload[star][0], self.tail[star], inner) if phase == EMPTY else (phase, inner)

    def _of_counting(self, term: int) -> int:
        """The derivatives of a counting term: within one of what it counts, or into what follows them."""
        star = self.payload[term][0]
        parts = self._counted_parts(term)
        number = ONE_CLASS
        for part in parts:
            number = self._product(number, self.map_at[part])
        for place in range(self._width_of[number]):
            byte = self._byte_of[number * 256 + place]
            phase = self._target(parts[0], byte)
            inner = self._target(parts[len(parts) - 1], byte)
            if phase:
                self._push(self.counting(star, phase, inner))
            elif len(parts) == 3:
                self._push(self.intersect(self._target(parts[1], byte), inner))
            else:
                self._push(NOTHING)
        return number

    def _of_bounded(self, counting: int, most: int, tail: int) -> int:
        """The derivatives of a bounded term: those without the bound, with what is left of the bound."""
        first = self.targets_at[counting]
        for at in range(first, first + self._width_of[self.map_at[counting]]):
            target = self.forced(at)
            if self.kind[target] == K_COUNTING:
                self._push(self.bounded(target, most - self.begun(counting, target), tail))
            else:
                self._push(self.append(target, tail))
        return self.map_at[counting]

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
        units = [
            self.literal(unit, self.substrings(number, target, tail))
            for unit, target in self._suffix_automata[number][state]
        ]
        if units:
            return self._combine(units)
        self._push(NOTHING)
        return ONE_CLASS

    def add_suffix_automaton(self, units: tuple[bytes, ...]) -> int:
        """The number of the suffix automaton of a text of units.

        Source: Blumer et al., "The Smallest Automaton Recognizing the Subwords of a Text" (1985); linear in the text.
        """
        units = tuple(unit for unit in units if unit)
        number = self._suffix_automaton_of.get(units)
        if number is not None:
            return number
        after: list[dict[bytes, int]] = [{}]
        link = [-1]
        length = [0]
        last = 0
        for unit in units:
            state = len(after)
            after.append({})
            length.append(length[last] + 1)
            link.append(0)
            at = last
            while at >= 0 and unit not in after[at]:
                after[at][unit] = state
                at = link[at]
            if at >= 0:
                target = after[at][unit]
                if length[target] != length[at] + 1:
                    clone = len(after)
                    after.append(dict(after[target]))
                    length.append(length[at] + 1)
                    link.append(link[target])
                    link[target] = clone
                    while at >= 0 and after[at].get(unit) == target:
                        after[at][unit] = clone
                        at = link[at]
                    target = clone
                link[state] = target
            last = state
        number = self._suffix_automaton_of[units] = len(self._suffix_automata)
        self._suffix_automata.append([list(edges.items()) for edges in after])
        return number
