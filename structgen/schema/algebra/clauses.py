"""Clauses: conditions on single keys of an object, of which at least one must hold.

`{"if": {"required": ["a"]}, "then": {"required": ["b"]}}` is one clause: `a` is absent, or `b` is present. Ten such
conditions are ten clauses of one set of objects. As a union of sets without clauses, they would be 2¹⁰ sets.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from structgen.schema.algebra.nodes import ANY, Node, any_of

__all__ = ["Clause", "Literal", "clause_of"]


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
    found: dict[str, Literal] = {}
    for literal in literals:
        known = found.get(literal.key)
        if known is not None:
            literal = Literal(literal.key, any_of((known.node, literal.node)), known.or_absent or literal.or_absent)
        found[literal.key] = literal
    if any(literal.or_absent and literal.node == ANY for literal in found.values()):
        return None
    return tuple(found[key] for key in sorted(found))
