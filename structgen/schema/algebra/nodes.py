"""Nodes: sets of JSON values named by the subschemas that they satisfy, and by those that they do not.

A node is a conjunction of signed atoms. An atom is the number of a subschema; a negative one stands for its
complement. Conjunctions of finitely many subschemas are finitely many, so recursive schemas stay finite data, and the
intersection of two nodes costs a merge, however large the schemas behind them are.
"""

from __future__ import annotations

__all__ = ["ANY", "NONE", "Node", "complements", "meet"]

Node = tuple[int, ...]

ANY: Node = ()
"""Every JSON value."""

NONE: Node = (-1,)
"""No value: the complement of atom 1, which is the schema `true`."""


def meet(left: Node, right: Node) -> Node:
    """The values that are in both nodes."""
    if not left or left == right:
        return right
    if not right:
        return left
    if left == NONE or right == NONE:
        return NONE
    atoms = set(left)
    for atom in right:
        if -atom in atoms:
            return NONE
        atoms.add(atom)
    return tuple(sorted(atoms, key=_order))


def complements(node: Node) -> list[Node]:
    """Nodes whose union is the complement of `node`."""
    return [NONE] if not node else [(-atom,) for atom in node] if node != NONE else [ANY]


def _order(atom: int) -> int:
    """Subschemas in the order in which they were met, complements last: properties keep the schema's order."""
    return atom if atom > 0 else (1 << 60) - atom
