"""Translation of regex trees to terms.

It works with stacks of its own and does not recurse: a tree may be as deep as its limits allow, deeper than Python's
stack. For the tree Sequence(Literal "a", Repeat(Literal "b", 0 or more)), from the end to the beginning:

    value stack
    EMPTY                the term that follows the tree
    REPEAT b             after Repeat: its term includes what follows
    "a" -> REPEAT b      after Literal "a": the whole
"""

from __future__ import annotations

from typing import Any

from structgen.engine.automata.terms import Terms
from structgen.engine.constants import EMPTY, FAR, NOTHING
from structgen.engine.regex.tree import (
    ByteSet,
    Chars,
    Choice,
    Complement,
    Early,
    Intersection,
    Literal,
    LiteralSet,
    Multiple,
    Regex,
    Remainders,
    Repeat,
    Runs,
    Sequence,
    Substrings,
    literal_set,
)
from structgen.engine.regex.unicode_classes import union_of
from structgen.errors import LimitExceededError
from structgen.limits import Limits

__all__ = ["term_of"]

TABLE_FROM = 12  # literal alternatives; from this number on they become a table of texts

# Instructions of the translation. VISIT translates a tree, LOAD pushes a term, REMEMBER keeps the top value in `known`;
# the others combine values at the top of the stack.
VISIT, LOAD, UNION, REPEAT, INTERSECTION, COMPLEMENT, EARLY, REMEMBER, ONCE = range(9)

KNOWN_KEPT = 10_000  # trees in `known`; at this number the half is dropped that was used longest ago
Known = dict[int, tuple[Regex, int]]  # id of a tree -> (the tree, its term)
Work = list[tuple[int, Any, int]]


def term_of(terms: Terms, regex: Regex, limits: Limits, known: Known) -> int:
    """Return the term of a regex tree.

    Before a tree is translated, the term that follows it is on top of the value stack; afterwards the term of both is
    there. So sequences are read from their end, and no term is made that is then only copied into a longer one.

    Args:
        terms: the constructors of terms.
        regex: the tree.
        limits: its `regex_nodes` and `regex_depth` are checked here.
        known: the terms of trees that were operands of an operator before, with nothing after them; new ones are added.
            The same tree objects come again: a string's characters are one object in all schemas, and so is a pattern
            that is intersected with others.

    Raises:
        LimitExceededError: regex_nodes, regex_depth or automaton_states.
    """
    max_nodes, max_depth = limits.regex_nodes, limits.regex_depth
    values: list[int] = [EMPTY]
    work: Work = [(VISIT, regex, 1)]
    nodes = 0
    while work:
        action, operand, depth = work.pop()
        if action == VISIT:
            nodes += 1
            if nodes > max_nodes:
                raise LimitExceededError("regex_nodes", limits.regex_nodes)
            if depth > max_depth:
                raise LimitExceededError("regex_depth", limits.regex_depth)
            if not _leaf(terms, operand, values):
                _visit(operand, depth, values, work, known)
        elif action == LOAD:
            values.append(operand)
        elif action == REMEMBER:
            if len(known) >= KNOWN_KEPT:
                for key in list(known)[: KNOWN_KEPT // 2]:
                    del known[key]
            known[id(operand)] = (operand, values[len(values) - 1])
        else:
            _combine(terms, action, operand, values)
    return values[0]


def _combine(terms: Terms, action: int, operand: Any, values: list[int]) -> None:
    """Replace the values of an operator's operands on the stack by the value of the operator."""
    if action == REPEAT:
        low, high, tail = operand
        values.append(terms.repeat(values.pop(), low, high, tail))
    elif action == COMPLEMENT:
        values.append(terms.complement(values.pop(), operand))
    elif action == EARLY:
        values.append(terms.early(values.pop(), operand))
    elif action == ONCE:
        values.append(_once(terms, values.pop(), operand))
    else:
        count, tail = operand
        parts = values[len(values) - count :]
        del values[len(values) - count :]
        values.append(terms.union(parts) if action == UNION else terms.intersection(parts, tail))


def _once(terms: Terms, term: int, tail: int) -> int:
    """Return the texts of a term, then `tail`. If they all have one length, they are not distributed over `tail`.

    So each derivative of them is one term. Of `(01|10|…)T` distributed, the derivative by `0` has one term for each
    alternative, and others for each further T. No text is a prefix of another of the same length, so the texts are the
    shortest matches.
    """
    least = terms.table.min_len[term]
    if 1 < least < FAR and terms.alphabets.longest(term) == least:
        return terms.early(term, tail)
    return terms.append(term, tail)


def _leaf(terms: Terms, regex: Regex, values: list[int]) -> bool:
    """Translate a tree without parts; return False, and do nothing, if it has parts."""
    if isinstance(regex, Literal):
        literal = regex  # with a type in the .pxd, so that its attributes are read without a look-up
        term = terms.literal(literal.data, values.pop())
    elif isinstance(regex, Chars):
        chars = regex
        term = terms.chars(chars.ranges, values.pop())
    elif isinstance(regex, ByteSet):
        byte_set = regex
        term = terms.byte_set(byte_set.mask, values.pop())
    elif isinstance(regex, LiteralSet):
        number = terms.payloads.add_table(regex.texts)
        term = terms.text_table(number, 0, terms.payloads.table_size(number), 0, values.pop())
    elif isinstance(regex, Multiple):
        term = terms.multiple(regex.divisor, regex.remainder, regex.factors, values.pop())
    elif isinstance(regex, Remainders):
        number = terms.payloads.add_remainder_set(regex.choices)
        most = -1 if regex.max is None else regex.max
        term = terms.digits(number, regex.remainder, regex.min, most, values.pop())
    elif isinstance(regex, Substrings):
        term = terms.substrings(terms.payloads.add_suffix_automaton(regex.units), 0, values.pop())
    elif isinstance(regex, Runs):
        term = terms.runs(regex.units, regex.skipped, values.pop())
    else:
        return False
    values.append(term)
    return True


def _visit(regex: Regex, depth: int, values: list[int], work: Work, known: Known) -> None:
    """Push the instructions that translate a tree with parts."""
    if isinstance(regex, Sequence):
        sequence = regex
        for part in sequence.parts:
            work.append((VISIT, part, depth + 1))
        return
    tail = values.pop()
    if isinstance(regex, Choice):
        choice = regex
        parts = _merged(choice.parts)
        work.append((UNION, (len(parts), tail), depth))
        for part in parts:
            if tail == EMPTY and isinstance(part, Sequence):  # it may come again, such as one of some excluded texts
                _plan(part, depth + 1, work, known)
                continue
            work.append((VISIT, part, depth + 1))
            work.append((LOAD, tail, depth))
    elif isinstance(regex, Repeat):
        repeat = regex
        high = -1 if repeat.max is None else repeat.max
        if 0 <= high < repeat.min:
            values.append(NOTHING)
            return
        if repeat.min == high == 1:
            work.append((ONCE, tail, depth))
        else:
            work.append((REPEAT, (repeat.min, high, tail), depth))
        _plan(repeat.body, depth + 1, work, known)
    elif isinstance(regex, Intersection):
        work.append((INTERSECTION, (len(regex.parts), tail), depth))
        for part in regex.parts:
            _plan(part, depth + 1, work, known)
    elif isinstance(regex, (Complement, Early)):
        work.append((COMPLEMENT if isinstance(regex, Complement) else EARLY, tail, depth))
        _plan(regex.body, depth + 1, work, known)


def _plan(regex: Regex, depth: int, work: Work, known: Known) -> None:
    """Push the instructions that translate a tree with nothing after it, or its term if that is known."""
    found = known.get(id(regex))
    if found is not None:
        if len(known) > KNOWN_KEPT // 2:  # move it to the end, so that it is not dropped
            known[id(regex)] = known.pop(id(regex))
        work.append((LOAD, found[1], depth))
    else:
        work += ((REMEMBER, regex, depth), (VISIT, regex, depth), (LOAD, EMPTY, depth))


def _merged(parts: tuple[Regex, ...]) -> list[Regex]:
    """Return the alternatives, with single characters joined into one class and many literals into one table."""
    ranges: list[tuple[int, int]] = []
    literals: list[bytes] = []
    rest: list[Regex] = []
    for part in parts:
        if isinstance(part, Chars):
            chars = part
            ranges.extend(chars.ranges)
        elif isinstance(part, Literal):
            literal = part
            literals.append(literal.data)
        else:
            rest.append(part)
    if ranges:
        singles = [data for data in literals if len(data) == 1 and data.isascii()]
        ranges.extend((data[0], data[0]) for data in singles)
        literals = [data for data in literals if not (len(data) == 1 and data.isascii())]
        rest.append(Chars(union_of(ranges)))
    if len(literals) >= TABLE_FROM:
        rest.append(literal_set(literals))
    else:
        rest.extend(Literal(data) for data in literals)
    return rest
