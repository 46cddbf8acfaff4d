"""Derivatives of terms by all bytes at once.

The derivative of a term by a byte is the term of all texts that may follow that byte. For the term of `(ab)*`:

    byte          derivative
    a             the term of `b(ab)*`
    any other     NOTHING: no text of the term begins with that byte

Most bytes lead to few different terms. So the derivatives by all 256 bytes are kept as a *partition*: classes of bytes,
and one target for each class (`byte_partitions.py`). The partition of a compound term is computed from the partitions
of its parts: the common refinement of their classes, with the targets combined as the term's kind says. Partitions are
also the transitions of automaton states (`store.py`).

Derivatives of compound terms are evaluated lazily. A state leads to about a dozen others, one for each way that a
character may go on, and a text takes one or two of them. So at first only the classes are computed: which bytes have
the same derivative, and which bytes surely lead to NOTHING. The target of any other class is a negative number, an
*unevaluated* derivative, until it is needed.
"""

from __future__ import annotations

from structgen.engine.arrays import grown_pool, zeros
from structgen.engine.automata.byte_partitions import DIGITS, DIGITS_AND_POINT, BytePartitions
from structgen.engine.automata.remainder_sets import RemainderSet
from structgen.engine.automata.suffix_automaton import SuffixAutomaton
from structgen.engine.automata.term_table import FULL_MASK
from structgen.engine.automata.terms import Terms, is_multiple
from structgen.engine.constants import (
    EMPTY,
    K_BOUNDED,
    K_BYTES,
    K_CHARS,
    K_COMPLEMENT,
    K_COUNTING,
    K_DIGITS,
    K_EARLY,
    K_INTERSECTION,
    K_LITERAL,
    K_MULTIPLE,
    K_REPEAT,
    K_TABLE,
    K_UNION,
    NO_MAP,
    NOTHING,
    ONE_CLASS,
)
from structgen.engine.deadlines import spend
from structgen.engine.regex.utf8 import ByteRanges

__all__ = ["Derivatives"]

NOT_MADE = -1
NESTED = 20  # the maximal nesting depth of unevaluated derivatives; evaluating one recurses into those inside it


class Derivatives:
    """The derivatives of the terms of one table.

    Args:
        terms: constructors of terms; they build the derivatives.
        partitions: stores the derivatives of each term.
    """

    def __init__(self, terms: Terms, partitions: BytePartitions) -> None:
        self.table = terms.table
        self.payloads = terms.payloads
        self.terms = terms
        self.partitions = partitions
        self._class_partitions: dict[int, tuple[int, list[int]]] = {}  # by class: class map, targets
        self._later_term = zeros(1024)
        self._later_at = zeros(1024)
        self._later_made = zeros(1024)
        self._later_count = 0
        self._later_depth = self.table.add_column()
        self._members_of_later = zeros(1024)
        self._member_count = 0
        for constant in (NOTHING, EMPTY):
            self.partitions.push(NOTHING)
            self.partitions.keep(constant, ONE_CLASS)

    def targets(self, term: int) -> list[int]:
        """Return the derivatives of a term by all bytes, each different one once: `[NOTHING, b(ab)*]` for `(ab)*`."""
        self.derive(term)
        first = self.partitions.targets_at.values[term]
        last = first + self.partitions.width_of[self.partitions.map_at.values[term]]
        return [self.materialize(at) for at in range(first, last)]

    def derive(self, term: int) -> None:
        """Compute the partition of a term, unless it is known already."""
        if self.partitions.map_at.values[term] == NO_MAP:
            if self.table.kind[term] == K_LITERAL:
                self._derive_literal(term)
            else:
                self._derive(term)

    def _derive_literal(self, term: int) -> None:
        data = self.table.payload[term]
        self.partitions.push(NOTHING)
        self.partitions.push(self.terms.literal(data[1:], self.table.tail[term]))
        self.partitions.keep(term, self.partitions.map_of_byte(data[0]))
        if self.table.may_be_empty[term]:
            self._put_off(term)

    def _derive(self, term: int) -> None:
        """Compute the partition of a term, after the partitions of all terms inside of it.

        Uses a stack of its own instead of recursion: a term may be nested as deep as its regex.
        """
        stack = [term]
        while stack:
            spend(1)
            top = stack[len(stack) - 1]
            if self.partitions.map_at.values[top] != NO_MAP:
                stack.pop()
                continue
            heads = self._active(top)
            missing = self._missing(heads)
            if missing:
                stack.extend(missing)
                continue
            self.partitions.stack_size = 0  # an error during an earlier call may have left values there
            self.partitions.keep(top, self._combine(heads))
            if self.table.may_be_empty[top]:
                self._put_off(top)
            self._later_depth.values[top] = self._depth_of(heads)
            if self._later_depth.values[top] > NESTED:
                self.targets(top)
                self._later_depth.values[top] = 0
            stack.pop()

    def _active(self, term: int) -> list[int]:
        """Return the sequences whose heads may read the next byte.

        These are the sequences of `term` itself, and the tail of each whose head matches the empty text. For `a*b` they
        are `a*b` and `b`: the next byte may be an `a` of the repetition, or the `b` after it.
        """
        kind = self.table.kind[term]
        if kind != K_UNION and (kind < K_REPEAT or not self._head_accepts(term)):
            return [term]
        seen = {term}
        stack = [term]
        heads: list[int] = []
        while stack:
            top = stack.pop()
            spend(1)
            if self.table.kind[top] == K_UNION:
                after = self.table.payload[top]
            else:
                if self.table.kind[top] > K_UNION:
                    heads.append(top)
                if not self._head_accepts(top):
                    continue
                after = (self.table.tail[top],)
            for inner in after:
                if inner not in seen:
                    seen.add(inner)
                    stack.append(inner)
        return heads

    def _head_accepts(self, term: int) -> bool:
        """Return whether the head of a sequence matches the empty text."""
        kind = self.table.kind[term]
        if kind < K_REPEAT:
            return False
        payload = self.table.payload[term]
        if kind == K_REPEAT:
            return bool(payload[1] == 0)
        if kind == K_INTERSECTION:
            return self.table.all_accepting(payload)
        if kind == K_COMPLEMENT:
            return bool(self.table.accepting[payload] == 0)
        if kind == K_EARLY:
            return False
        if kind == K_TABLE:
            number, low, _, depth = payload
            return bool(len(self.payloads.texts[number][low]) == depth)
        if kind == K_BOUNDED:
            return bool(self.table.accepting[payload[0]])
        if kind == K_COUNTING:
            return bool(self.table.accepting[term])
        if kind == K_MULTIPLE:
            return is_multiple(payload)
        if kind == K_DIGITS:
            return bool(payload[2] == 0 and self.payloads.remainder_sets[payload[0]].holds(payload[1]))
        return True

    def _missing(self, heads: list[int]) -> list[int]:
        """Return the terms inside of some heads whose partitions are still to be computed."""
        missing: list[int] = []
        for head in heads:
            missing.extend([term for term in self._inside(head) if self.partitions.map_at.values[term] == NO_MAP])
        return missing

    def _depth_of(self, heads: list[int]) -> int:
        """Return the nesting depth of unevaluated derivatives in a union of sequences."""
        deepest = 0
        for head in heads:
            for term in self._inside(head):
                deepest = max(deepest, self._later_depth.values[term] + 1)
        return deepest

    def _inside(self, head: int) -> tuple[int, ...]:
        """Return the terms inside of the head of a sequence that its derivatives are built from."""
        kind = self.table.kind[head]
        if kind in (K_REPEAT, K_BOUNDED):
            return (self.table.payload[head][0],)
        if kind == K_INTERSECTION:
            parts: tuple[int, ...] = self.table.payload[head]
            return parts
        if kind in (K_COMPLEMENT, K_EARLY):
            return (self.table.payload[head],)
        return self._counted_parts(head) if kind == K_COUNTING else ()

    # -- lazy evaluation --------------------------------------------------------------------------------------------

    def _later(self, term: int, byte: int) -> int:
        """Return a negative number for the unevaluated derivative of a sequence by a byte that its head reads."""
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
        """Return a negative number for the unevaluated union of some targets, which may be unevaluated themselves."""
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
        """Return the target at a position of the target pool; evaluates it if necessary.

        The pool then holds the term itself. Except for a term that may match nothing: that one stays a negative number
        in the pool until `Emptiness.live_target` has checked it.

        Raises:
            LimitExceededError: automaton_states.
        """
        target = self.partitions.target_pool[at]
        if target >= 0:
            return target
        made = self._made(target)
        if not self.table.may_be_empty[made]:
            self.partitions.target_pool[at] = made
        return made

    def _put_off(self, term: int) -> None:
        """Replace the targets of a term that may match nothing by negative numbers.

        The check for emptiness takes a search. It is put off until the target is needed (`Emptiness.live_target`).
        """
        first = self.partitions.targets_at.values[term]
        for at in range(first, first + self.partitions.width_of[self.partitions.map_at.values[term]]):
            target = self.partitions.target_pool[at]
            if target >= 0 and self.table.may_be_empty[target]:
                number = self._later(NOTHING, NOT_MADE)
                self._later_made[-1 - number] = target
                self.partitions.target_pool[at] = number

    def _made(self, target: int) -> int:
        """Return the term of a target; evaluates a negative number, and remembers the result."""
        if target >= 0:
            return target
        number = -1 - target
        made = self._later_made[number]
        if made == NOT_MADE:
            spend(1)
            term = self._later_term[number]
            at = self._later_at[number]
            if term != NOTHING:
                made = self._derivative(term, at)
            else:  # a union
                members = self._members_of_later
                if members[at] == 2:
                    made = self.terms.unite(self._made(members[at + 1]), self._made(members[at + 2]))
                else:
                    made = self.terms.union([self._made(members[at + 1 + index]) for index in range(members[at])])
            self._later_made[number] = made
        return made

    def target(self, term: int, byte: int) -> int:
        """Return the derivative of a term by a byte. The partition of the term must be known."""
        return self.materialize(self.partitions.place_of(term, byte))

    def _leads_nowhere(self, term: int, byte: int) -> bool:
        """Return whether the derivative by a byte is known to be NOTHING. The partition of the term must be known."""
        return self.partitions.target_pool[self.partitions.place_of(term, byte)] == NOTHING

    def _derivative(self, term: int, byte: int) -> int:
        """Return the derivative of a sequence by a byte that its head reads. `_inside` terms must have partitions."""
        kind = self.table.kind[term]
        payload = self.table.payload[term]
        tail = self.table.tail[term]
        if kind == K_REPEAT:
            return self.terms.append(self.target(payload[0], byte), self._after_one(term))
        if kind == K_INTERSECTION:
            if len(payload) == 2 and tail == EMPTY:
                return self.terms.intersect(self.target(payload[0], byte), self.target(payload[1], byte))
            spend(len(payload))
            return self.terms.intersection([self.target(part, byte) for part in payload], tail)
        if kind == K_COMPLEMENT:
            return self.terms.complement(self.target(payload, byte), tail)
        if kind == K_EARLY:
            return self.terms.early(self.target(payload, byte), tail)
        if kind == K_BOUNDED:
            return self._derivative_of_bounded(payload[0], payload[1], tail, byte)
        return self._derivative_of_counting(term, byte)

    def _derivative_of_bounded(self, counting: int, most: int, tail: int, byte: int) -> int:
        """Derive the term without the bound, then apply the remaining bound again."""
        target = self.target(counting, byte)
        if self.table.kind[target] == K_COUNTING:
            return self.terms.bounded(target, most - self.begun(counting, target), tail)
        return self.terms.append(target, tail)

    def _derivative_of_counting(self, term: int, byte: int) -> int:
        """Derive a counting term: the byte belongs to one of the counted texts, or to the text after them."""
        star, _, inner = self.table.payload[term]
        parts = self._counted_parts(term)
        phase = self.target(parts[0], byte)
        after = self.target(inner, byte)
        if phase:
            return self.terms.counting(star, phase, after)
        return self.terms.intersect(self.target(parts[1], byte), after) if len(parts) == 3 else NOTHING

    # -- partitions -------------------------------------------------------------------------------------------------

    def _combine(self, heads: list[int]) -> int:
        """Return the partition of a union of sequences, from the partitions of their heads.

        Like every method that computes a partition, this leaves the targets on the stack and returns the class map.

        The stack holds first, for each sequence that is not a literal, its class map and its targets; then, for each
        literal, its first byte and its target. The targets of the union are then pushed above these, and moved down.
        """
        base = self.partitions.stack_size
        if len(heads) == 1:
            return self.partitions.reduced(self._of_head(heads[0]), base)
        number = ONE_CLASS
        first_bytes = bytearray(256)
        literals = 0
        for head in heads:  # push the class map, then the targets
            if self.table.kind[head] == K_LITERAL:
                literals += 1
                continue
            place = self.partitions.stack_size
            self.partitions.push(NO_MAP)
            part = self._of_head(head)
            self.partitions.stack[place] = part
            number = self.partitions.product(number, part)
        literals_base = self.partitions.stack_size
        if literals:  # push the first byte of each, then its target
            classes = 0
            for head in heads:
                if self.table.kind[head] == K_LITERAL:
                    data = self.table.payload[head]
                    if not first_bytes[data[0]] and classes < 255:
                        classes += 1
                        first_bytes[data[0]] = classes
                    self.partitions.push(data[0])
                    self.partitions.push(self.terms.literal(data[1:], self.table.tail[head]))
            number = self.partitions.product(number, self.partitions.map_number(bytes(first_bytes)))
        end = self.partitions.stack_size
        for place in range(self.partitions.width_of[number]):
            spend(1 + (len(heads) >> 3))
            byte = self.partitions.byte_of[number * 256 + place]
            self.partitions.push(self._united(self._members(base, literals_base, end, byte)))
        return self.partitions.reduced(number, self.partitions.moved_down(base, end))

    def _members(self, base: int, literals_base: int, end: int, byte: int) -> list[int]:
        """Return the derivatives of the members of a union by one byte, without NOTHING; reads them from the stack."""
        work = self.partitions.stack
        members: list[int] = []
        at = base
        while at < literals_base:
            number = work[at]
            target = work[at + 1 + self.partitions.class_of[number * 256 + byte]]
            if target != NOTHING:
                members.append(target)
            at += 1 + self.partitions.width_of[number]
        for at in range(literals_base, end, 2):
            if work[at] == byte:
                members.append(work[at + 1])
        return members

    def _united(self, targets: list[int]) -> int:
        """Return the union of some targets; unevaluated if there are several."""
        if len(targets) > 1:
            return self._later_union(targets)
        return targets[0] if targets else NOTHING

    def _of_head(self, term: int) -> int:
        """Compute the partition of a sequence from its head alone, as if the head did not match the empty text.

        The partitions of the terms inside of the head must be known. Leaves the targets on the stack and returns the
        class map.
        """
        kind = self.table.kind[term]
        payload = self.table.payload[term]
        tail = self.table.tail[term]
        if kind == K_LITERAL:
            self.partitions.push(NOTHING)
            self.partitions.push(self.terms.literal(payload[1:], tail))
            return self.partitions.map_of_byte(payload[0])
        if kind == K_BYTES:
            if payload == FULL_MASK:
                self.partitions.push(tail)
                return ONE_CLASS
            self.partitions.push(NOTHING)
            self.partitions.push(tail)
            return self.partitions.map_of_set(payload)
        if kind == K_CHARS:
            number, targets = self._of_class(payload)
            for target in targets:
                self.partitions.push(self.terms.append(target, tail))
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
        if kind == K_DIGITS:
            return self._of_digits(payload, tail)
        return self._of_substrings(payload, tail)

    def _of_repeat(self, term: int, body: int) -> int:
        """Compute the partition of a repetition: for `(ab){3}`, byte `a` leads to `b(ab){2}`."""
        number = self.partitions.map_at.values[body]
        first = self.partitions.targets_at.values[body]
        for place in range(self.partitions.width_of[number]):
            target = self.partitions.target_pool[first + place]
            if target == EMPTY:
                target = self._after_one(term)
            elif target != NOTHING:
                target = self._later(term, self.partitions.byte_of[number * 256 + place])
            self.partitions.push(target)
        return number

    def _after_one(self, term: int) -> int:
        """Return the term that follows the first occurrence of a repetition's body: `(ab){2}c` for `(ab){3}c`."""
        body, low, high = self.table.payload[term]
        if low == 0 and high < 0:
            return term
        return self.terms.repeat(body, low - 1 if low > 0 else 0, high - 1 if high > 0 else -1, self.table.tail[term])

    def _of_part(self, term: int, part: int, is_refused: bool) -> int:
        """Compute the partition of a term with the classes of one term inside of it; all targets are unevaluated.

        A byte that leads to NOTHING in the part leads to NOTHING here, except in a complement (`is_refused`).
        """
        number = self.partitions.map_at.values[part]
        first = self.partitions.targets_at.values[part]
        for place in range(self.partitions.width_of[number]):
            leads = is_refused or self.partitions.target_pool[first + place] != NOTHING
            self.partitions.push(self._later(term, self.partitions.byte_of[number * 256 + place]) if leads else NOTHING)
        return number

    def _of_intersection(self, term: int, parts: tuple[int, ...]) -> int:
        """Compute the partition of an intersection: a byte leads on if it leads on in all parts."""
        number = self._common_map(parts)
        for place in range(self.partitions.width_of[number]):
            spend(1 + (len(parts) >> 3))
            byte = self.partitions.byte_of[number * 256 + place]
            leads = True
            for part in parts:
                leads = leads and not self._leads_nowhere(part, byte)
            self.partitions.push(self._later(term, byte) if leads else NOTHING)
        return number

    def _of_counting(self, term: int) -> int:
        """Compute the partition of a counting term.

        A byte leads on if the condition allows it, and so does the counted text or the text after the counted ones.
        """
        parts = self._counted_parts(term)
        number = self._common_map(parts)
        inner = parts[len(parts) - 1]
        for place in range(self.partitions.width_of[number]):
            byte = self.partitions.byte_of[number * 256 + place]
            leads = not self._leads_nowhere(parts[0], byte)
            if len(parts) == 3:
                leads = leads or not self._leads_nowhere(parts[1], byte)
            self.partitions.push(self._later(term, byte) if leads and not self._leads_nowhere(inner, byte) else NOTHING)
        return number

    def _common_map(self, parts: tuple[int, ...]) -> int:
        """Return the common refinement of the class maps of some terms."""
        number = ONE_CLASS
        for part in parts:
            spend(1)
            number = self.partitions.product(number, self.partitions.map_at.values[part])
        return number

    def _of_class(self, number: int) -> tuple[int, list[int]]:
        """Return the class map and the targets of a class of byte sequences, such as a class of characters in UTF-8.

        Each target is the term of the remaining bytes of the character: for the class of `é` (bytes c3 a9), byte c3
        leads to the term of byte a9.
        """
        found = self._class_partitions.get(number)
        if found is None:
            numbers: dict[tuple[ByteRanges, ...], int] = {(): 0}
            rests = self.payloads.rests_by_byte(number)
            classes = bytes([numbers.setdefault(rest, len(numbers)) for rest in rests])
            targets = [self.terms.byte_sequence_set(rest) if rest else NOTHING for rest in numbers]
            found = self._class_partitions[number] = (self.partitions.map_number(classes), targets)
        return found

    def _counted_parts(self, term: int) -> tuple[int, ...]:
        """Return the terms that the derivatives of a counting term are built from.

        Between two counted texts: the body, the text after the repetition, the condition. Within one: the rest of it,
        the condition.
        """
        star, phase, inner = self.table.payload[term]
        return (self.table.payload[star][0], self.table.tail[star], inner) if phase == EMPTY else (phase, inner)

    def begun(self, before: int, after: int) -> int:
        """Return 1 if the byte between two counting terms begins one more of the counted texts, else 0."""
        return 1 if self.is_between(before) and self.table.kind[after] == K_COUNTING else 0

    def is_between(self, term: int) -> bool:
        """Return whether a term is a counting term at a position between two of the counted texts."""
        if self.table.kind[term] != K_COUNTING:
            return False
        parts = self.table.payload[term]
        phase = parts[1]
        return bool(phase == EMPTY)

    def _of_table(self, payload: tuple[int, int, int, int], tail: int) -> int:
        """Compute the partition of a table of texts: a bisection of its sorted rows for each possible next byte."""
        number, low, high, depth = payload
        found: dict[int, int] = {}
        for byte, first, after in self.payloads.rows_by_byte(number, low, high, depth):
            found[byte] = self.terms.text_table(number, first, after, depth + 1, tail)
        if len(found) == 256:  # all bytes lead on; a class for NOTHING would be the 257th
            for byte in range(256):
                self.partitions.push(found[byte])
            return self.partitions.map_number(bytes(range(256)))
        classes = bytearray(256)
        self.partitions.push(NOTHING)
        for place, byte in enumerate(found):
            classes[byte] = place + 1
            self.partitions.push(found[byte])
        return self.partitions.map_number(bytes(classes))

    def _of_multiple(self, payload: tuple[int, int, tuple[int, ...]], tail: int) -> int:
        """Compute the partition of the multiples of a divisor: one class for each digit, one for the decimal point.

        For divisor 7 after remainder 3, digit 5 leads to remainder 0, because 35 is a multiple of 7.
        """
        divisor, remainder, factors = payload
        self.partitions.push(NOTHING)
        for digit in range(10):
            self.partitions.push(self.terms.multiple(divisor, (remainder * 10 + digit) % divisor, factors, tail))
        self.partitions.push(self.terms.multiple(divisor, remainder, factors, tail))
        return self.partitions.map_number(DIGITS_AND_POINT)

    def _of_digits(self, payload: tuple[int, int, int, int], tail: int) -> int:
        """Compute the partition of digits that continue a number: one class for each digit."""
        number, remainder, least, most = payload
        members: RemainderSet = self.payloads.remainder_sets[number]
        least, most = least - 1 if least > 0 else 0, most - 1 if most > 0 else -1
        self.partitions.push(NOTHING)
        for digit in range(10):
            after = (remainder * 10 + digit) % members.modulus
            self.partitions.push(self.terms.digits(number, after, least, most, tail))
        return self.partitions.map_number(DIGITS)

    def _of_substrings(self, payload: tuple[int, int], tail: int) -> int:
        """Compute the partition of a state of a suffix automaton: a union with one literal for each possible unit."""
        number, state = payload
        automaton: SuffixAutomaton = self.payloads.suffix_automata[number]
        units = [
            self.terms.literal(unit, self.terms.substrings(number, target, tail))
            for unit, target in automaton.edges(state)
        ]
        if not units:
            self.partitions.push(NOTHING)
        return self._combine(units) if units else ONE_CLASS
