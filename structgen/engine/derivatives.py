"""Derivatives of terms by all bytes at once.

The derivative of a term by a byte is the term of what may follow that byte. Most bytes lead to few different terms, so
the derivatives by all 256 bytes are a *partition*: a class number for each byte (`bytes` of length 256) and a target
for each class. No class is without bytes: a target that no byte leads to would deceive the search for living states.
Partitions of compound terms are products of those of their parts; products of class maps are remembered, since few
different ones occur.

Partitions are kept flat, as the number of a class map and a run of one array of targets: few different class maps
occur, so this is small, and as objects of their own the garbage collector would go through them again and again. They
are the transitions of the states too (`engine/automata.py`).

A string of at most 1000 characters has a term of its own for each count, and leads to a dozen more, one for each way
that a character may have begun; a text takes one. So what a counted repetition leads to is made when it is asked for.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left

from structgen.engine.arrays import grown, room, zeros
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
from structgen.engine.terms import Terms
from structgen.engine.utf8 import ByteRanges
from structgen.limits import Limits

__all__ = ["DerivativeTable", "Partition"]

Partition = tuple[bytes, list[int]]  # class of each byte, target of each class

MAPS_KEPT = 20_000
NO_MAP = 0  # no class map has this number
NO_BYTES = bytes(256)
DEAD: Partition = (NO_BYTES, [NOTHING])

# Class maps do not depend on the terms of one table, so what is known of them is shared by all tables.
_map_of_mask: dict[int, bytes] = {}
_products: dict[tuple[bytes, bytes], tuple[bytes, bytes, bytes]] = {}
_SPREAD = [bytes([byte >> bit & 1 for bit in range(8)]) for byte in range(256)]  # the bits of a byte as bytes


class DerivativeTable(Terms):
    """Terms with their derivatives.

    Attributes (arrays may be longer than what is used, and are replaced when they grow):
        map_at: int32, by term: the number of the class map of its derivatives; 0 they are not made yet.
        targets_at: int32, by term: where its derivatives begin in `target_pool`, one for each class.
        target_pool: int32; a negative number stands for a term that is not made yet, see `forced`.
        pools: how often `target_pool` or `class_of` was replaced; whoever holds one must look for it.
        class_of: int32[maps * 256]; the class of byte b in map m is at m * 256 + b.
    """

    def __init__(self, limits: Limits | None = None, capacity: int = 64) -> None:
        super().__init__(limits, capacity)
        self._maps: list[bytes] = [NO_BYTES]
        self._widths: list[int] = [0]
        self._number_of_map: dict[bytes, int] = {}
        self.map_at = zeros(self._capacity, NO_MAP)
        self.targets_at = zeros(self._capacity)
        self.target_pool = room(16 * capacity)
        self.class_of = zeros(16 * 256)
        self.pools = 0
        self._later_term = zeros(1024)  # by what is not made yet: a term,
        self._later_tail = zeros(1024)  # and what follows it
        self._later_count = 0
        self._map_of_byte = zeros(256, NO_MAP)  # by byte: the class map in which only this one leads on
        self._target_count = 0
        self._class_partitions: dict[int, Partition] = {}
        self._suffix_automata: list[list[list[tuple[bytes, int]]]] = []
        self._suffix_automaton_of: dict[tuple[bytes, ...], int] = {}
        self._keep(NOTHING, NO_BYTES, [NOTHING])
        self._keep(EMPTY, NO_BYTES, [NOTHING])

    def _grow(self) -> None:
        """Doubles the arrays."""
        super()._grow()
        self.map_at = grown(self.map_at, len(self.map_at), NO_MAP)
        self.targets_at = grown(self.targets_at, len(self.targets_at))

    def _keep(self, term: int, classes: bytes, targets: list[int]) -> None:
        """Remembers the partition of a term."""
        found = self._number_of_map.get(classes)
        number = self._add_map(classes, len(targets)) if found is None else found
        count = self._target_count
        while count + len(targets) > len(self.target_pool):
            self.target_pool = grown(self.target_pool, count)
            self.pools += 1
        for target in targets:
            self.target_pool[count] = target
            count += 1
        self.targets_at[term] = self._target_count
        self._target_count = count
        self.map_at[term] = number

    def _keep_only(self, term: int, byte: int, target: int) -> None:
        """Remembers the partition of a term with one byte that leads on."""
        number = self._map_of_byte[byte]
        if number == NO_MAP:
            classes = bytes(byte) + b"\1" + bytes(255 - byte)
            number = self._number_of_map.get(classes, NO_MAP)
            if number == NO_MAP:
                number = self._add_map(classes, 2)
            self._map_of_byte[byte] = number
        count = self._target_count
        if count + 2 > len(self.target_pool):
            self.target_pool = grown(self.target_pool, count)
            self.pools += 1
        self.target_pool[count] = NOTHING
        self.target_pool[count + 1] = target
        self.targets_at[term] = count
        self._target_count = count + 2
        self.map_at[term] = number

    def _add_map(self, classes: bytes, width: int) -> int:
        """The number of a class map that was not seen before."""
        number = self._number_of_map[classes] = len(self._maps)
        self._maps.append(classes)
        self._widths.append(width)
        first = number * 256
        if first == len(self.class_of):
            self.class_of = grown(self.class_of, first)
            self.pools += 1
        for byte in range(256):
            self.class_of[first + byte] = classes[byte]
        return number

    def _kept(self, term: int) -> Partition:
        """The partition of a term that was remembered."""
        number = self.map_at[term]
        start = self.targets_at[term]
        width = self._widths[number]
        return self._maps[number], [self.forced(at) for at in range(start, start + width)]

    def forced(self, at: int) -> int:
        """The target at a place of the pool, made if it is not yet.

        Raises:
            LimitExceededError: automaton_states.
        """
        target = self.target_pool[at]
        if target >= 0:
            return target
        target = self._made(target)
        self.target_pool[at] = target
        return target

    def _later(self, term: int, tail: int) -> int:
        """A term before another, or a negative number that stands for that."""
        if term == NOTHING:
            return NOTHING
        if term == EMPTY:
            return tail
        number = self._later_count
        if number == len(self._later_term):
            self._later_term = grown(self._later_term, number)
            self._later_tail = grown(self._later_tail, number)
        self._later_term[number] = term
        self._later_tail[number] = tail
        self._later_count = number + 1
        return -1 - number

    def _made(self, later: int) -> int:
        """What a negative number stands for."""
        return self.append(self._later_term[-1 - later], self._later_tail[-1 - later])

    def targets(self, term: int) -> list[int]:
        """What the bytes lead to from a term, each different target once."""
        self._derive_within(term)
        return self._kept(term)[1]

    def reaches(self, term: int, other: int) -> bool:
        """Whether some byte leads from a term to another."""
        self._derive_within(term)
        first = self.targets_at[term]
        last = first + self._widths[self.map_at[term]]
        for at in range(first, last):  # noqa: SIM110  (a generator would not be compiled to a loop)
            if self.target_pool[at] == other:
                return True
        return False

    def _derive_within(self, term: int) -> None:
        """Remembers the derivatives of a term. Iterative: terms may be nested as deep as their regex."""
        if self.map_at[term] != NO_MAP:
            return
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
            classes, targets = self._combine(heads)
            self._keep(top, classes, targets)
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

    def _combine(self, heads: list[int]) -> Partition:
        """The partition of a union of sequences, from the partitions of their heads."""
        if len(heads) == 1:
            classes, targets = self._of_head(heads[0])
            return self._reduced(classes, targets)
        first_bytes: dict[int, list[int]] = {}
        classes = NO_BYTES
        members: list[list[int]] = [[]]
        for head in heads:
            if self.kind[head] == K_LITERAL:
                data = self.payload[head]
                target = self.literal(data[1:], self.tail[head])
                first_bytes.setdefault(data[0], []).append(target)
                continue
            other, targets = self._of_head(head)
            classes, members = self._joined(classes, members, other, [[t] if t else [] for t in targets])
        if first_bytes:
            table = bytearray(256)
            for number, byte in enumerate(first_bytes):
                table[byte] = number + 1 if len(first_bytes) < 256 else number
            lists = list(first_bytes.values())
            if len(first_bytes) < 256:
                lists.insert(0, [])
            classes, members = self._joined(classes, members, bytes(table), lists)
        return self._reduced(classes, [self._united(m) for m in members])

    def _united(self, targets: list[int]) -> int:
        """The union of some targets, some of which may not be made yet."""
        if len(targets) == 1:
            return targets[0]
        if len(targets) == 2:
            left, right = targets
            return self.unite(self._made(left) if left < 0 else left, self._made(right) if right < 0 else right)
        return self.union([self._made(target) if target < 0 else target for target in targets])

    def _joined(
        self, classes: bytes, members: list[list[int]], other: bytes, more: list[list[int]]
    ) -> tuple[bytes, list[list[int]]]:
        """The product of two partitions whose targets are lists of terms."""
        if classes == NO_BYTES and not members[0]:
            return other, more
        product, left, right = self._product(classes, other)
        return product, [members[left[i]] + more[right[i]] for i in range(len(left))]

    def _product(self, first: bytes, second: bytes) -> tuple[bytes, bytes, bytes]:
        """The common refinement of two class maps, with each class's number in the one and in the other."""
        key = (first, second)
        found = _products.get(key)
        if found is not None:
            return found
        width = max(second) + 1
        numbers = array("i", [-1]) * (256 * width)
        product = bytearray(256)
        left = bytearray()
        right = bytearray()
        for byte in range(256):
            a = first[byte]
            b = second[byte]
            number = numbers[a * width + b]
            if number < 0:
                number = numbers[a * width + b] = len(left)
                left.append(a)
                right.append(b)
            product[byte] = number
        if len(_products) >= MAPS_KEPT:
            _products.clear()
        found = _products[key] = (bytes(product), bytes(left), bytes(right))
        return found

    def _reduced(self, classes: bytes, targets: list[int]) -> Partition:
        """The same partition with one class for each target."""
        if len(set(targets)) == len(targets):
            return classes, targets
        numbers: dict[int, int] = {}
        table = bytearray(256)
        for number, target in enumerate(targets):
            table[number] = numbers.setdefault(target, len(numbers))
        return classes.translate(table), list(numbers)

    def _of_head(self, term: int) -> Partition:
        """The derivatives that enter the head of a sequence; the terms inside of it have theirs already."""
        kind = self.kind[term]
        payload = self.payload[term]
        tail = self.tail[term]
        if kind == K_LITERAL:
            return self._map_of(1 << payload[0]), [NOTHING, self.literal(payload[1:], tail)]
        if kind == K_BYTES:
            if payload == FULL_MASK:
                return NO_BYTES, [tail]
            return self._map_of(payload), [NOTHING, tail]
        if kind == K_CHARS:
            classes, targets = self._of_class(payload)
            return classes, [self.append(t, tail) for t in targets]
        if kind == K_REPEAT:
            body, low, high = payload
            rest = self.repeat(body, low - 1 if low > 0 else 0, high - 1 if high > 0 else -1, tail)
            classes, targets = self._kept(body)
            if low > 0 or high > 0:
                return classes, [self._later(t, rest) for t in targets]
            return classes, [self.append(t, rest) for t in targets]
        if kind == K_INTERSECTION:
            return self._of_intersection(payload, tail)
        if kind == K_COMPLEMENT:
            classes, targets = self._kept(payload)
            return classes, [self.complement(t, tail) for t in targets]
        if kind == K_EARLY:
            classes, targets = self._kept(payload)
            return classes, [self.early(t, tail) for t in targets]
        if kind == K_TABLE:
            return self._of_table(payload, tail)
        if kind == K_BOUNDED:
            return self._of_bounded(payload[0], payload[1], tail)
        if kind == K_COUNTING:
            return self._of_counting(term)
        if kind == K_MULTIPLE:
            return self._of_multiple(payload, tail)
        return self._of_substrings(payload, tail)

    def _map_of(self, mask: int) -> bytes:
        """A class map with the bytes of a set in class 1, all others in class 0."""
        found = _map_of_mask.get(mask)
        if found is None:
            if len(_map_of_mask) >= MAPS_KEPT:
                _map_of_mask.clear()
            found = _map_of_mask[mask] = b"".join([_SPREAD[byte] for byte in mask.to_bytes(32, "little")])
        return found

    def _of_class(self, number: int) -> Partition:
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
            found = self._class_partitions[number] = (classes, targets)
        return found

    def _of_intersection(self, parts: tuple[int, ...], tail: int) -> Partition:
        """The derivatives of an intersection: the intersections of its parts' derivatives."""
        classes, targets = self._kept(parts[0])
        if len(parts) == 2 and tail == EMPTY:
            other, more = self._kept(parts[1])
            classes, left, right = self._product(classes, other)
            return classes, [self.intersect(targets[left[i]], more[right[i]]) for i in range(len(left))]
        members = [[t] for t in targets]
        for part in parts[1:]:
            other, more = self._kept(part)
            classes, left, right = self._product(classes, other)
            members = [[*members[left[i]], more[right[i]]] for i in range(len(left))]
        return classes, [self.intersection(m, tail) for m in members]

    def _counted_parts(self, term: int) -> tuple[int, ...]:
        """The terms whose derivatives make those of a counting term: what it counts, what follows, and the term."""
        star, phase, inner = self.payload[term]
        return (self.payload[star][0], self.tail[star], inner) if phase == EMPTY else (phase, inner)

    def _of_counting(self, term: int) -> Partition:
        """The derivatives of a counting term: within one of what it counts, or into what follows them."""
        star = self.payload[term][0]
        parts = self._counted_parts(term)
        classes, phases = self._kept(parts[0])
        rests = [NOTHING] * len(phases)
        if len(parts) == 3:
            other, more = self._kept(parts[1])
            classes, left, right = self._product(classes, other)
            phases = [phases[i] for i in left]
            rests = [more[i] for i in right]
        other, inner = self._kept(parts[len(parts) - 1])
        classes, left, right = self._product(classes, other)
        targets: list[int] = []
        for i in range(len(left)):
            phase = phases[left[i]]
            if phase:
                targets.append(self.counting(star, phase, inner[right[i]]))
            else:
                targets.append(self.intersect(rests[left[i]], inner[right[i]]))
        return classes, targets

    def _of_bounded(self, counting: int, most: int, tail: int) -> Partition:
        """The derivatives of a bounded term: those without the bound, with what is left of the bound."""
        classes, inner = self._kept(counting)
        targets: list[int] = []
        for target in inner:
            if self.kind[target] == K_COUNTING:
                targets.append(self.bounded(target, most - self.begun(counting, target), tail))
            else:
                targets.append(self.append(target, tail))
        return classes, targets

    def begun(self, before: int, after: int) -> int:
        """How many (0 or 1) of what a counting term counts the byte begins that leads from it to another term."""
        return 1 if self.is_between(before) and self.kind[after] == K_COUNTING else 0

    def is_between(self, term: int) -> bool:
        """Whether a term counts, and is not within one of what it counts."""
        return bool(self.kind[term] == K_COUNTING and self.payload[term][1] == EMPTY)

    def _of_table(self, payload: tuple[int, int, int, int], tail: int) -> Partition:
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
            return bytes(range(256)), [found[byte] for byte in range(256)]
        classes = bytearray(256)
        for place, byte in enumerate(found):
            classes[byte] = place + 1
        return bytes(classes), [NOTHING, *found.values()]

    def _of_multiple(self, payload: tuple[int, int], tail: int) -> Partition:
        """The derivatives of the multiples of a divisor: by each digit, and by a point, which changes nothing."""
        divisor, remainder = payload
        classes = bytearray(256)
        classes[ord(".")] = 1
        targets = [NOTHING, self.multiple(divisor, remainder, tail)]
        for digit in range(10):
            classes[ord("0") + digit] = digit + 2
            targets.append(self.multiple(divisor, (remainder * 10 + digit) % divisor, tail))
        return self._reduced(bytes(classes), targets)

    def _of_substrings(self, payload: tuple[int, int], tail: int) -> Partition:
        """The derivatives of a suffix automaton: into the first byte of each unit that may come next."""
        number, state = payload
        units = [
            self.literal(unit, self.substrings(number, target, tail))
            for unit, target in self._suffix_automata[number][state]
        ]
        return self._combine(units) if units else DEAD

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
