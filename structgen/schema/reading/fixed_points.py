"""Shapes of subschemas that refer to themselves without a step into a value: the least fixed point.

In `{"anyOf": [{"type": "string"}, {"$ref": "#"}]}`, whether a value satisfies `#` depends on itself. The schema accepts
a value only if that can be derived in finitely many steps: here, strings. So the shape of such a node is computed in
rounds. In the first one, a node that is reached again while its shape is under way counts as empty. In each further
round, it counts as the shape that the round before made of it. The rounds end when nothing changes:

    round   `#` counts as   its shape
    1       nothing         strings
    2       strings         strings

A node and its complement are two nodes, and each grows in its own rounds. So the values that satisfy a schema are
derived, and so are those that do not. A value of neither is undecided: for `{"not": {"$ref": "#"}}`, all of them are.
This is the three-valued fixed point of "A Kripke-Kleene Semantics for Logic Programs" (Fitting, 1985).
"""

from __future__ import annotations

from collections.abc import Callable

from structgen.schema.algebra import NOTHING, Node, Shape

__all__ = ["FixedPoint", "Reentered"]

_MAX_ROUNDS = 100


class Reentered(Exception):
    """Raised inside `Space` when the shape of a node is needed while it is under way. Never leaves it."""


class FixedPoint:
    """The rounds in which the shape of one node is computed.

    Attributes:
        made: the shapes made in this round, complete but perhaps too small.
    """

    def __init__(self) -> None:
        self.made: dict[Node, Shape] = {}
        self._assumed: dict[Node, Shape] = {}
        self._reached: set[Node] = set()

    def again(self, node: Node) -> Shape:
        """Return the shape that a node under way counts as, when it is reached again."""
        self._reached.add(node)
        return self._assumed.get(node, NOTHING)

    def is_settled(self, make: Callable[[], Shape]) -> bool:
        """Run rounds until nothing changes; return False if the shapes do not stop growing.

        Args:
            make: computes the node's shape, with `made` and `again`.
        """
        for _ in range(_MAX_ROUNDS):
            self.made.clear()
            self._reached.clear()
            make()
            # The same sets may come with their conditions in another order, and are then other parts.
            grown = {node: self._assumed.get(node, NOTHING).unite(self.made[node]) for node in self._reached}
            if all(node in self._assumed and grown[node] == self._assumed[node] for node in grown):
                return True
            self._assumed |= grown
        return False
