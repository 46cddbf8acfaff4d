"""The space of nodes as the readers of single keywords see it.

`Space` (in `space.py`) reads a document with the functions of `applicators.py` and `evaluation.py`; those in turn ask
the space for the nodes and shapes of subschemas. This protocol is all that they know of it. `space.py` says what a
node and a shape are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

from structgen.engine.deadlines import Deadline
from structgen.limits import Limits
from structgen.schema.algebra import Node, ObjectSet, ObjectUnions, Shape
from structgen.schema.options import SchemaOptions
from structgen.schema.reading.scopes import Dialect, Location
from structgen.schema.reading.tags import Tag

__all__ = ["NodeSpace"]


class NodeSpace(Protocol):
    """Numbers the subschemas of a document and computes the shapes of nodes over them.

    Attributes:
        options: how schemas are read.
        limits: bounds on the work.
        deadline: a clock that long loops check.
        under_way: the atoms whose `oneOf` is being told apart; see `told_apart`.
        unions: the unions of sets of objects as one set each.
    """

    options: SchemaOptions
    limits: Limits
    deadline: Deadline
    under_way: set[int]
    unions: ObjectUnions

    @property
    def dialect(self) -> Dialect:
        """The dialect of the subschema that is being read."""

    def node(self, schema: Any, location: Location) -> Node:
        """Return the node of a subschema."""

    def target(self, keyword: str, schema: dict[str, Any], location: Location) -> Node:
        """Return the node that a reference leads to; `location` is that of the schema that holds the reference."""

    def inside(self, atom: int) -> AbstractContextManager[tuple[dict[str, Any], Location]]:
        """Enter the subschema of an atom: new nodes are made in its scope. Gives its keywords and location."""

    def shape(self, node: Node) -> Shape:
        """Return the values of a node, one level deep."""

    def base(self, known: dict[str, Any], location: Location) -> Shape:
        """Return the values that satisfy the keywords about single types."""

    def keyword(self, key: str, known: dict[str, Any], location: Location) -> Shape:
        """Return the values that satisfy one of a subschema's keywords, one of `APPLICATORS`."""

    def union(self, nodes: Iterable[Node]) -> Shape:
        """Return the values that are in any of some nodes."""

    def both(self, left: Shape, right: Shape, *, absorb: bool = False) -> Shape:
        """Return the values that are in both of two shapes; `absorb` drops sets of objects that others include."""

    def complement(self, shape: Shape) -> Shape:
        """Return the values that are not in a shape."""

    def all_but(self, make: Callable[[], Shape]) -> Shape:
        """Return the values that are not in the shape that `make` returns; every value if that shape was widened."""

    def spend(self, shape: Shape) -> Shape:
        """Count the parts of a new shape against the limits, and return it."""

    def overlaps(self, nodes: Sequence[Node]) -> Iterator[tuple[int, int]]:
        """Yield the pairs of nodes, by index and the lower one first, that may have a value in common."""

    def beside(self, known: dict[str, Any], location: Location, combining: Collection[str] = ...) -> Node:
        """Return the node of a subschema's keywords about single types, which stand beside those that combine others.

        Args:
            known: all keywords of the subschema.
            location: its location.
            combining: the keywords to leave out; by default, those that combine subschemas or list values.
        """

    def tag(self, node: Node, *, only: Literal["arrays", "objects"] | None = None) -> Tag | None:
        """Return the tag of a node; None if it has none, or if its shape is under way.

        Args:
            node: the node.
            only: the type whose values are looked at; by default all.
        """

    def is_tagged(self, node: Node) -> bool:
        """Return whether a node has one set of objects and nothing else, with a required key that has few values."""

    def known_scalar(self, node: Node) -> Shape | None:
        """Return the shape of a node of scalars; None for other nodes, and if its shape is under way."""

    def object_may_hold(self, part: ObjectSet) -> bool:
        """Return whether a set of objects may have a member; False is certain."""

    def may_hold(self, node: Node) -> bool:
        """Return whether a node may have a value; False is certain."""
