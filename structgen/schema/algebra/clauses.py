"""Clauses: conditions on single keys of an object, of which at least one must hold.

`{"if": {"required": ["a"]}, "then": {"required": ["b"]}}` is one clause: `a` is absent, or `b` is present. Ten such
conditions are ten clauses of one set of objects. As a union of sets without clauses, they would be 2¹⁰ sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from structgen.engine.deadlines import spend
from structgen.schema.algebra.nodes import ANY, Node, any_of

__all__ = ["Clause", "Literal", "clause_of", "either", "one_of_each"]

AnyClause = TypeVar("AnyClause")


class Literal(NamedTuple):
    """A condition on one key: it is present with a value in a node, or absent where that is allowed.

    Attributes:
        key: the key.
        node: the values that satisfy the condition.
        or_absent: an object without the key satisfies it, too.
    """

    key: str
    node: Node
    or_absent: bool


Clause = tuple[Literal, ...]
"""Conditions on different keys, sorted by key, of which an object must satisfy one."""


def clause_of(literals: Iterable[Literal]) -> Clause | None:
    """Return a clause of some conditions; None if every object satisfies it."""
    found: Clause = ()
    for literal in literals:
        more = either(found, (literal,))
        if more is None:
            return None
        found = more
    return found


def either(left: Clause, right: Clause) -> Clause | None:
    """Return the clause that holds where either of two does; None if every object satisfies it."""
    for literal in right:
        at, key = 0, literal.key
        while at < len(left) and left[at].key < key:
            at += 1
        if at == len(left) or left[at].key != key:
            if literal.or_absent and literal.node == ANY:
                return None
            left = (*left[:at], literal, *left[at:])
        elif left[at] != literal:
            known = left[at]
            both = Literal(key, any_of((known.node, literal.node)), known.or_absent or literal.or_absent)
            if both.or_absent and both.node == ANY:
                return None
            left = (*left[:at], both, *left[at + 1 :])
    return left


def one_of_each(
    clauses: Iterable[AnyClause],
    others: Sequence[AnyClause],
    join: Callable[[AnyClause, AnyClause], AnyClause | None],
    most: int,
) -> dict[AnyClause, None] | None:
    """Return clauses that hold together where all of some clauses do, or all of some others.

    Args:
        clauses: the first ones.
        others: the others.
        join: returns the clause that holds where either of two does; None if it always holds.
        most: about so many clauses are returned at most.

    Returns:
        The clauses, in an order that depends only on that of the arguments; None if they are too many.
    """
    found: dict[AnyClause, None] = {}
    for clause in clauses:
        spend(len(others))
        for other in others:
            both = join(clause, other)
            if both is not None:
                found[both] = None
        if len(found) > most:
            return None
    return found
