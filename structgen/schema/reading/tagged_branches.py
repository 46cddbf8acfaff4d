"""The values in none of some branches, or in two of them, where a tag tells the branches apart.

The complement of a union is an intersection of complements. Of n branches that do not require their tag, these are n
unions, and their product is large. What stands beside the branches may require the tag:

    {"required": ["kind"], "oneOf": [{"properties": {"kind": {"const": "a"}, "x": {"type": "string"}}}, …]}

Then only the branches of one tag matter to the objects with that tag. So the complement is a sum:

    "kind" is of no branch;     "kind" is "a", and "x" is no string;     …
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from structgen.schema.algebra import ANY, NONE, NOTHING, Node, ObjectSet, Shape, any_of, complement, is_decided, meet
from structgen.schema.reading.nodes import NodeSpace
from structgen.schema.reading.tags import groups_that_may_meet

__all__ = ["not_tagged"]


def not_tagged(space: NodeSpace, beside: Node, branches: Sequence[Node], *, is_exclusive: bool) -> Shape | None:
    """Return the values of a node that are in none of some branches, or in two.

    Returns None unless each branch, with what the node requires, is one set of objects with a tag, and all tags differ
    if the node requires nothing.

    Args:
        space: makes the shapes of nodes.
        beside: the node.
        branches: the nodes of the branches.
        is_exclusive: include the values that are in two of the branches.
    """
    inside = [meet(beside, branch) for branch in branches]
    if not all(is_decided(node) and space.is_tagged(node) for node in inside):
        return None
    tags = [space.tag(node) for node in inside]
    groups = groups_that_may_meet(tags)
    if beside == ANY and len(groups) < len(inside):
        return None
    whole = space.shape(beside)
    found = [replace(whole, objects=())]
    key = None if tags[0] is None or len(groups) == 1 else tags[0][0]
    values: list[Node] = []
    for group in groups:
        rest = whole
        if key is not None:  # otherwise there is one group
            values.append(any_of(space.shape(inside[i]).objects[0].at(key) for i in group))
            rest = space.both(whole, Shape(objects=(ObjectSet({key: values[-1]}, required=(key,)),)))
        for i in group:
            rest = space.both(rest, space.all_but(partial(space.shape, inside[i])), absorb=True)
        found.append(rest)
    if key is not None:
        other = ObjectSet({key: complement(any_of(values))}, required=(key,))
        found.append(space.both(whole, Shape(objects=(ObjectSet({key: NONE}), other))))
    if is_exclusive:
        found.append(space.union(meet(inside[i], inside[j]) for i, j in space.overlaps(inside)))
    return space.spend(NOTHING.unite(*found))
