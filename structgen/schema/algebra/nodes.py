"""Nodes: sets of JSON values, named by the subschemas that their values satisfy and those that they do not.

A node is a conjunction of atoms. An atom is the number of a subschema, or the negative number for the subschema's
complement, or an `AnyOf`: a union of nodes. So the complement of a node is a node too.

    (2, 3)                      values that satisfy subschemas 2 and 3
    (2, -3)                     values that satisfy subschema 2 and do not satisfy 3
    (AnyOf(((2,), (3,))),)      values that satisfy 2, or 3, or both

Finitely many subschemas have finitely many conjunctions, so recursive schemas stay finite data. The intersection of two
nodes is a merge of two short tuples, however large their subschemas are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any

from structgen.engine.deadlines import spend
from structgen.errors import LimitExceededError

__all__ = [
    "ANY",
    "MAY_LEAVE_UNDECIDED",
    "NONE",
    "AnyOf",
    "Case",
    "Node",
    "any_of",
    "cases",
    "complement",
    "complements",
    "is_decided",
    "is_subschema",
    "meet",
]


class AnyOf:
    """The union of two or more nodes, in a fixed order; none of them is known to include another.

    Its hash and its sort key are kept: with unions inside of unions, making them anew took most of a union's time.

    Attributes:
        nodes: the nodes.
        size: the number of atoms in them, those of unions inside included. Comparing unions takes so many steps.
        depth: how deep unions nest in it; 1 if it holds none.
        rank: its sort key among atoms; see `_rank`.
    """

    def __init__(self, nodes: tuple[Node, ...], size: int, depth: int) -> None:
        self.nodes = nodes
        self.size = size
        self.depth = depth
        self.rank: tuple[Any, ...] = (1, *map(_ranks, nodes))
        self._hash = hash(nodes)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnyOf) and self.nodes == other.nodes

    def __repr__(self) -> str:
        return f"AnyOf({self.nodes})"


Node = tuple[int | AnyOf, ...]

ANY: Node = ()
"""Every JSON value."""

NONE: Node = (-1,)
"""No value: the complement of atom 1, which is the schema `true`."""

MAY_LEAVE_UNDECIDED = 1 << 30
"""A bit in the number of a subschema: some values may be neither in it nor in its complement.

So their union is not every value. Only subschemas of documents that refer to themselves at the same value have the bit;
see `fixed_points.py`.
"""

Case = tuple[frozenset[int], Node]
"""A set of numbers of nodes, and the values that are in exactly those of the numbered nodes."""

_IN_NONE: frozenset[int] = frozenset()
_INDEX = MAY_LEAVE_UNDECIDED - 1
_MAX_ABSORBED = 64
_MAX_LEVELS = 8  # levels of unions in a union; each time there are so many more, they are resolved
_MAX_RESOLVED = 64  # nodes of a union whose unions are resolved
_MAX_SIZE = 1_000_000  # atoms of a union
"""Unions of at most so many alternatives are searched for alternatives that others include."""


def meet(left: Node, right: Node) -> Node:
    """Return the node of the values that are in both nodes."""
    if not left or left == right:
        return right
    if not right:
        return left
    if left == NONE or right == NONE:
        return NONE
    spend(len(left) + len(right))
    atoms: set[int] = set()
    unions: list[AnyOf] = []
    for atom in (*left, *right):
        if not isinstance(atom, int):
            unions.append(atom)
        elif -atom in atoms:
            return NONE
        else:
            atoms.add(atom)
    plain = _ordered(atoms)
    return _narrowed(plain, unions) if unions else plain


def _ordered(atoms: set[int]) -> Node:
    """Return atoms in the order of the schema, so that properties keep it; complements last."""
    numbers = sorted(atoms)
    if numbers and (numbers[0] <= -MAY_LEAVE_UNDECIDED or numbers[len(numbers) - 1] >= MAY_LEAVE_UNDECIDED):
        return tuple(sorted(atoms, key=_order))
    complements = bisect_left(numbers, 0)
    return (*numbers[complements:], *reversed(numbers[:complements]))


def _narrowed(plain: Node, unions: list[AnyOf]) -> Node:
    """Return the conjunction of plain atoms and unions, without what the atoms imply or rule out."""
    given = set(plain)
    kept: dict[AnyOf, None] = {}
    for union in unions:
        spend(union.size)
        rests = [_rest(node, given) for node in union.nodes]
        if ANY in rests:
            continue
        if rests == [*union.nodes]:  # equal to itself at once, where `_rest` returns what it was given
            kept[union] = None
            continue
        node = any_of([rest for rest in rests if rest is not None])
        only = node[0] if len(node) == 1 else None
        if isinstance(only, AnyOf):
            kept[only] = None
        else:  # a single alternative is left, or none: it may narrow the other unions further
            return meet(meet(plain, node), tuple([other for other in unions if other is not union]))
    return (*plain, *sorted(kept, key=_rank))


def _rest(node: Node, given: set[int | AnyOf]) -> Node | None:
    """Return the atoms of a node that are not given yet; None if the given ones exclude it."""
    for atom in node:
        if isinstance(atom, int) and -atom in given:
            return None
    return node if given.isdisjoint(node) else tuple([atom for atom in node if atom not in given])


def any_of(nodes: Iterable[Node]) -> Node:
    """Return the union of some nodes as one node."""
    found: dict[Node, None] = {}
    for node in nodes:
        spend(1)
        if not node:
            return ANY
        only = node[0]
        if len(node) == 1 and not isinstance(only, int) and len(only.nodes) <= _MAX_ABSORBED:
            for other in only.nodes:
                found[other] = None
        elif node != NONE:
            found[node] = None
    if len(found) < 2:
        return next(iter(found), NONE)
    if any((-atom,) in found for (atom, *more) in found if not more and isinstance(atom, int) and _is_decided(atom)):
        return ANY
    size = sum(map(_size, found))
    spend(size)
    if size > _MAX_SIZE:
        raise LimitExceededError(
            "schema_nodes", _MAX_SIZE, message=f"a union of more than {_MAX_SIZE} subschemas", is_fixed=True
        )
    least = list(found)
    if len(found) <= _MAX_ABSORBED:
        spend(len(found) * len(found) >> 3)
        sets = [set(node) for node in found]
        least = [node for node, mine in zip(found, sets, strict=True) if not any(other < mine for other in sets)]
        if _is_everything(least):
            return ANY
    if len(least) == 1:
        return least[0]
    depth = 1 + max([atom.depth for node in least for atom in node if not isinstance(atom, int)], default=0)
    if depth % _MAX_LEVELS == 0:
        plain = _resolved(least)
        if plain is not None:
            return any_of(plain)
    return (AnyOf(tuple(sorted(least, key=_ranks)), size, depth),)


def _is_everything(nodes: list[Node]) -> bool:
    """Return whether every value is in one of some nodes, as their plain atoms show.

    Two nodes that differ in one atom and its complement are one: the values in 2 and 3, and those in 2 and not in 3,
    are those in 2. If others are left in the end, they could be joined in several ways, so a union keeps its name.
    """
    while len(nodes) > 1:
        joined = _with_two_joined(nodes)
        if joined is nodes:
            return False
        nodes = _least(joined)
    return not nodes[0]


def _with_two_joined(nodes: list[Node]) -> list[Node]:
    """Return nodes with two of them as one; the same object if no two differ in one atom and its complement only."""
    known = {frozenset(node) for node in nodes}
    for node in nodes:
        for atom in node:
            if isinstance(atom, int) and atom > 0 and _is_decided(atom):
                rest = tuple([other for other in node if other != atom])
                opposite = frozenset((*rest, -atom))
                if opposite in known:
                    return [rest, *[other for other in nodes if other is not node and frozenset(other) != opposite]]
    return nodes


def _resolved(nodes: Iterable[Node]) -> list[Node] | None:
    """Return nodes without unions that have the same union as some nodes; None if they are too many.

    Nested unions can have the same values in endlessly many forms. Those of plain atoms cannot: so the nodes of a
    recursive schema come to an end.
    """
    found: list[Node] = []
    for node in nodes:
        alternatives: list[Node] = [tuple([atom for atom in node if isinstance(atom, int)])]
        for atom in node:
            if isinstance(atom, int):
                continue
            inside = _resolved(atom.nodes)
            if inside is None or len(inside) * len(alternatives) > _MAX_RESOLVED:
                return None
            alternatives = _least([meet(one, other) for one in alternatives for other in inside])
        found = _least([*found, *alternatives])
        if len(found) > _MAX_RESOLVED:
            return None
    return found


def _least(nodes: Iterable[Node]) -> list[Node]:
    """Return nodes that are not known to be in another one, nor empty."""
    kept: list[tuple[set[int | AnyOf], Node]] = []
    for node in sorted(dict.fromkeys(nodes), key=len):
        mine = set(node)
        spend(1 + (len(kept) >> 3))
        if node != NONE and not any(other <= mine for other, _ in kept):
            kept.append((mine, node))
    return [node for _, node in kept]


def _size(node: Node) -> int:
    """Return the number of atoms in a node, those of unions inside included."""
    return sum([1 if isinstance(atom, int) else atom.size for atom in node])


def complement(node: Node) -> Node:
    """Return the complement of a node as one node."""
    return any_of(complements(node))


def complements(node: Node) -> list[Node]:
    """Return nodes whose union is the complement of a node."""
    if node == NONE:
        return [ANY]
    return [_opposite(atom) for atom in node] if node else [NONE]


def cases(node: Node, asked: Iterable[tuple[int, Node]]) -> list[Case]:
    """Split a node by which of some numbered nodes its values are in.

    The cases are disjoint; those that are known to be empty are left out.
    """
    found: list[Case] = [(_IN_NONE, node)] if node != NONE else []
    for number, other in asked:
        split: list[Case] = []
        opposite: Node | None = None  # made when it is first needed
        for given, mine in found:
            spend(1)
            inside = meet(mine, other)
            if inside != NONE:
                split.append((given | {number}, inside))
            if inside == mine:
                continue
            if opposite is None:
                opposite = complement(other)
            outside = meet(mine, opposite)
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
    """Return a sort key; see `_ordered`."""
    return atom & _INDEX if atom > 0 else (1 << 60) + (-atom & _INDEX)


def is_subschema(node: Node) -> bool:
    """Return whether a node is one subschema, neither a complement nor a union."""
    return len(node) == 1 and isinstance(node[0], int) and node[0] > 0


def is_decided(node: Node) -> bool:
    """Return whether every value is surely in a node or in its complement."""
    return all(_is_decided(atom) if isinstance(atom, int) else all(map(is_decided, atom.nodes)) for atom in node)


def _is_decided(atom: int) -> bool:
    return not abs(atom) & MAY_LEAVE_UNDECIDED


def _ranks(node: Node) -> tuple[Any, ...]:
    return tuple(map(_rank, node))


def _rank(atom: int | AnyOf) -> tuple[Any, ...]:
    """Return a sort key for atoms: plain ones first."""
    spend(1)
    return (0, _order(atom)) if isinstance(atom, int) else atom.rank
