"""Nodes: sets of JSON values named by the subschemas that they satisfy, and by those that they do not.

A node is a conjunction of atoms. An atom is the number of a subschema; a negative one stands for its complement; and
an `AnyOf` is a union of nodes, so that the complement of each node is one node. Conjunctions of finitely many
subschemas are finitely many, so recursive schemas stay finite data, and the intersection of two nodes costs a merge,
however large the schemas behind them are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

__all__ = ["ANY", "NONE", "AnyOf", "Case", "Node", "any_of", "cases", "complement", "complements", "meet"]


class AnyOf(NamedTuple):
    """The values that are in any of two or more nodes, none of which is seen to hold another. In a fixed order."""

    nodes: tuple[Node, ...]


Node = tuple[int | AnyOf, ...]

ANY: Node = ()
"""Every JSON value."""

NONE: Node = (-1,)
"""No value: the complement of atom 1, which is the schema `true`."""

Case = tuple[frozenset[int], Node]
"""Which of some numbered nodes a value is in, and the values that are in exactly those."""

_IN_NONE: frozenset[int] = frozenset()
_ABSORBED = 64
"""Alternatives of a union that are compared with each other."""


def meet(left: Node, right: Node) -> Node:
    """The values that are in both nodes."""
    if not left or left == right:
        return right
    if not right:
        return left
    if left == NONE or right == NONE:
        return NONE
    atoms: set[int] = set()
    unions: list[AnyOf] = []
    for atom in (*left, *right):
        if not isinstance(atom, int):
            unions.append(atom)
        elif -atom in atoms:
            return NONE
        else:
            atoms.add(atom)
    numbers = sorted(atoms, key=_order)
    plain: Node = tuple(numbers)
    return _narrowed(plain, unions) if unions else plain


def _narrowed(plain: Node, unions: list[AnyOf]) -> Node:
    """A conjunction with unions: without those that the atoms imply, nor alternatives that they rule out."""
    given = set(plain)
    kept: dict[AnyOf, None] = {}
    for union in unions:
        if any(given.issuperset(node) for node in union.nodes):
            continue
        node = any_of(rest for rest in (_rest(node, given) for node in union.nodes) if rest is not None)
        only = node[0] if len(node) == 1 else None
        if isinstance(only, AnyOf):
            kept[only] = None
        else:  # a single alternative is left, or none: it may narrow the other unions further
            return meet(meet(plain, node), tuple(other for other in unions if other is not union))
    return (*plain, *sorted(kept, key=_rank))


def _rest(node: Node, given: set[int | AnyOf]) -> Node | None:
    """What a node asks beside what is given; None where that rules it out."""
    for atom in node:
        if isinstance(atom, int) and -atom in given:
            return None
    return tuple(atom for atom in node if atom not in given)


def any_of(nodes: Iterable[Node]) -> Node:
    """The values that are in any of some nodes, as one node."""
    found: dict[Node, None] = {}
    for node in nodes:
        if not node:
            return ANY
        if node != NONE:
            found[node] = None
    if len(found) < 2:
        return next(iter(found), NONE)
    if any((-atom,) in found for (atom, *more) in found if not more and isinstance(atom, int)):
        return ANY
    least = list(found)
    if len(found) <= _ABSORBED:
        sets = [set(node) for node in found]
        least = [node for node, mine in zip(found, sets, strict=True) if not any(other < mine for other in sets)]
    return least[0] if len(least) == 1 else (AnyOf(tuple(sorted(least, key=_ranks))),)


def complement(node: Node) -> Node:
    """The values that are not in a node, as one node."""
    return any_of(complements(node))


def complements(node: Node) -> list[Node]:
    """Nodes whose union is the complement of `node`."""
    if node == NONE:
        return [ANY]
    return [_opposite(atom) for atom in node] if node else [NONE]


def cases(node: Node, asked: Iterable[tuple[int, Node]]) -> list[Case]:
    """A node by which of some numbered nodes its values are in: disjoint cases, without those seen to be empty."""
    found: list[Case] = [(_IN_NONE, node)] if node != NONE else []
    for number, other in asked:
        split: list[Case] = []
        for given, mine in found:
            inside = meet(mine, other)
            if inside != NONE:
                split.append((given | {number}, inside))
            outside = meet(mine, complement(other)) if inside != mine else NONE
            if outside != NONE:
                split.append((given, outside))
        found = split
    return found


def _opposite(atom: int | AnyOf) -> Node:
    if isinstance(atom, int):
        return (-atom,)
    result = ANY
    for node in atom.nodes:
        result = meet(result, complement(node))
    return result


def _order(atom: int) -> int:
    """Subschemas in the order in which they were met, complements last: properties keep the schema's order."""
    return atom if atom > 0 else (1 << 60) - atom


def _ranks(node: Node) -> tuple[Any, ...]:
    return tuple(map(_rank, node))


def _rank(atom: int | AnyOf) -> tuple[Any, ...]:
    """A key that sorts atoms: plain ones first."""
    if isinstance(atom, int):
        return (0, _order(atom))
    return (1, *map(_ranks, atom.nodes))
