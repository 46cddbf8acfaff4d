"""Clauses: conditions on single keys of an object, of which at least one must hold.

`{"if": {"required": ["a"]}, "then": {"required": ["b"]}}` is one clause: `a` is absent, or `b` is present. Ten such
conditions are ten clauses of one set of objects. As a union of sets without clauses, they would be 2¹⁰ sets.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from structgen.schema.algebra.nodes import ANY, Node, any_of

__all__ = ["Clause", "Literal", "clause_of", "either"]


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
