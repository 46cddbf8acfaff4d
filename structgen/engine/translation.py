"""Regex trees to terms. Iterative: a tree may be as deep as its limits allow, whatever Python's stack."""

from __future__ import annotations

from typing import Any

from structgen.engine import regex as tree
from structgen.engine.derivatives import DerivativeTable
from structgen.engine.term_kinds import EMPTY, NOTHING
from structgen.engine.unicode_classes import union_of
from structgen.errors import LimitExceededError
from structgen.limits import Limits

__all__ = ["term_of"]

TABLE_FROM = 12  # so many literal alternatives become a table

# Instructions of the translation; each but VISIT and LOAD combines values that are on the stack.
_VISIT, _LOAD, _UNION, _REPEAT, _INTERSECTION, _COMPLEMENT, _EARLY, _REMEMBER = range(8)

BODIES_KEPT = 10_000
Bodies = dict[int, tuple[tree.Regex, int]]  # id of a repeated tree -> (the tree, its term)


def term_of(table: DerivativeTable, regex: tree.Regex, limits: Limits, bodies: Bodies) -> int:
    """The term of a regex tree.

    Every tree is translated with the term that follows it on top of the value stack, and leaves there the term of
    both: so sequences are read from their end, and no term is made that is only a part of another.

    What was repeated in trees translated before is in `bodies`: a string's characters are one object in every schema.

    Raises:
        LimitExceededError: regex_nodes, regex_depth or automaton_states.
    """
    values: list[int] = [EMPTY]
    work: list[tuple[int, Any, int]] = [(_VISIT, regex, 1)]
    nodes = 0
    while work:
        action, operand, depth = work.pop()
        if action == _VISIT:
            nodes += 1
            if nodes > limits.regex_nodes:
                raise LimitExceededError("regex_nodes", limits.regex_nodes)
            if depth > limits.regex_depth:
                raise LimitExceededError("regex_depth", limits.regex_depth)
            if type(operand) is tree.Repeat and _repeat_known(table, operand, values, bodies):
                continue
            _visit(table, operand, depth, values, work)
        elif action == _REMEMBER:
            if len(bodies) >= BODIES_KEPT:
                bodies.clear()
            bodies[id(operand)] = (operand, values[len(values) - 1])
        elif action == _LOAD:
            values.append(operand)
        elif action == _UNION:
            parts = values[len(values) - operand :]
            del values[len(values) - operand :]
            values.append(table.union(parts))
        else:
            _combine(table, action, operand, values)
    return values[0]


def _repeat_known(table: DerivativeTable, regex: tree.Repeat, values: list[int], bodies: Bodies) -> bool:
    """Translates a repetition whose body is known; whether it is."""
    known = bodies.get(id(regex.body))
    if known is None or (regex.max is not None and regex.max < regex.min):
        return False
    values.append(table.repeat(known[1], regex.min, -1 if regex.max is None else regex.max, values.pop()))
    return True


def _combine(table: DerivativeTable, action: int, operand: Any, values: list[int]) -> None:
    """Replaces the values of the parts of an operator by the operator's."""
    if action == _REPEAT:
        low, high, tail = operand
        values.append(table.repeat(values.pop(), low, high, tail))
    elif action == _INTERSECTION:
        count, tail = operand
        parts = values[len(values) - count :]
        del values[len(values) - count :]
        values.append(table.intersection(parts, tail))
    elif action == _COMPLEMENT:
        values.append(table.complement(values.pop(), operand))
    else:
        values.append(table.early(values.pop(), operand))


def _visit(
    table: DerivativeTable, regex: tree.Regex, depth: int, values: list[int], work: list[tuple[int, Any, int]]
) -> None:
    """Translates a leaf at once, and plans the translation of anything else."""
    if isinstance(regex, tree.Sequence):
        work.extend([(_VISIT, part, depth + 1) for part in regex.parts])
        return
    tail = values.pop()
    if isinstance(regex, tree.Literal):
        values.append(table.literal(regex.data, tail))
    elif isinstance(regex, tree.Chars):
        values.append(table.chars(regex.ranges, tail))
    elif isinstance(regex, tree.ByteSet):
        values.append(table.byte_set(regex.mask, tail))
    elif isinstance(regex, tree.LiteralSet):
        number = table.add_table(regex.texts)
        values.append(table.table(number, 0, table.table_size(number), 0, tail))
    elif isinstance(regex, tree.Multiple):
        values.append(table.multiple(regex.divisor, regex.remainder, tail))
    elif isinstance(regex, tree.Substrings):
        values.append(table.substrings(table.add_suffix_automaton(regex.units), 0, tail))
    elif isinstance(regex, tree.Choice):
        parts = _merged(regex.parts)
        work.append((_UNION, len(parts), depth))
        for part in parts:
            work.append((_VISIT, part, depth + 1))
            work.append((_LOAD, tail, depth))
    elif isinstance(regex, tree.Repeat):
        high = -1 if regex.max is None else regex.max
        if 0 <= high < regex.min:
            values.append(NOTHING)
            return
        work.append((_REPEAT, (regex.min, high, tail), depth))
        work.extend([(_REMEMBER, regex.body, depth), (_VISIT, regex.body, depth + 1)])
        values.append(EMPTY)
    elif isinstance(regex, tree.Intersection):
        work.append((_INTERSECTION, (len(regex.parts), tail), depth))
        for part in regex.parts:
            work.append((_VISIT, part, depth + 1))
            work.append((_LOAD, EMPTY, depth))
    else:
        action = _COMPLEMENT if isinstance(regex, tree.Complement) else _EARLY
        work.extend([(action, tail, depth), (_VISIT, regex.body, depth + 1)])
        values.append(EMPTY)


def _merged(parts: tuple[tree.Regex, ...]) -> list[tree.Regex]:
    """The alternatives with all single characters joined into one class, and many literals into one table."""
    ranges: list[tuple[int, int]] = []
    literals: list[bytes] = []
    rest: list[tree.Regex] = []
    for part in parts:
        if isinstance(part, tree.Chars):
            ranges.extend(part.ranges)
        elif isinstance(part, tree.Literal):
            literals.append(part.data)
        else:
            rest.append(part)
    if ranges:
        singles = [data for data in literals if len(data) == 1 and data.isascii()]
        ranges.extend((data[0], data[0]) for data in singles)
        literals = [data for data in literals if not (len(data) == 1 and data.isascii())]
        rest.append(tree.Chars(union_of(ranges)))
    if len(literals) >= TABLE_FROM:
        rest.append(tree.literal_set(literals))
    else:
        rest.extend(tree.Literal(data) for data in literals)
    return rest
