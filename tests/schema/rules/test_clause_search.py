"""Tests of the search for the properties that satisfy clauses."""

from support.membership import space_of

from structgen.schema.algebra import ANY, Literal, ObjectSet
from structgen.schema.rules.clause_search import Clauses
from structgen.schema.rules.states import Property


def test_sets_of_objects_share_what_is_known_of_their_values():
    """The second set asks for the same values of `list`. A case that a clause does not narrow keeps its name."""
    contains = [{"contains": {"const": value}} for value in "abcd"]
    space, root = space_of({"prefixItems": [{"type": "array", "items": {"enum": ["a", "b", "c"]}}, *contains]})
    listed, *nodes = space.shape(root).arrays[0].prefix
    clauses = [
        (Literal("list", node, False), Literal(key, ANY, False)) for key, node in zip("wxyz", nodes, strict=True)
    ]
    part = ObjectSet({"list": listed}, clauses=tuple(clauses))
    properties = tuple(Property(key, part.at(key), (), False) for key in ("list", *"wxyz"))
    shapes, splits = {}, {}

    def holds(node):
        shapes[node] = space.shape(node)
        return space.may_hold(node)

    sizes = []
    for _ in range(2):
        found = Clauses(part, properties, holds, lambda node: False, shapes, splits)
        assert len(found.cases(0, 0, frozenset())) == 8  # by which of "a", "b", "c" are in the list; "d" never is
        sizes.append(len(splits))
    assert sizes[0] == sizes[1]
    never = {node: halves for (node, other), halves in splits.items() if other == nodes[3]}
    assert len(never) == 8
    assert all(halves == (None, node) for node, halves in never.items())
