"""Sets of objects that others cover are dropped, where they need a complement, and the order of keys stays."""

import jsonschema
from support.membership import is_member, space_of

from structgen.schema.algebra import ObjectSet, Shape
from structgen.schema.reading.exploration import explore

WIDE = ObjectSet({"kind": (2,), "a": (3,)}, required=("kind",))
NARROW = ObjectSet({"kind": (2,), "a": (3, -4)}, required=("kind",))


def test_a_set_that_needs_a_complement_is_dropped_where_another_covers_it():
    assert Shape(objects=(NARROW, WIDE)).with_fewer_complements().objects == (WIDE,)
    assert Shape(objects=(WIDE, NARROW)).with_fewer_complements().objects == (WIDE,)


def test_a_set_whose_keys_come_in_another_order_stays():
    other = ObjectSet({"a": (3, -4), "kind": (2,)}, required=("kind",))
    asked = ObjectSet({"kind": (2,), "a": (3, -4)}, required=("kind", "b"))
    for part in (other, asked):
        shape = Shape(objects=(part, WIDE))
        assert shape.with_fewer_complements() is shape


def test_a_set_that_no_other_covers_stays():
    more = ObjectSet({"kind": (5,), "a": (3, -4)}, required=("kind",))
    plain = ObjectSet({"kind": (2,), "a": (3, 4)}, required=("kind",))  # no complement, although WIDE covers it
    for part in (more, plain):
        shape = Shape(objects=(part, WIDE))
        assert shape.with_fewer_complements() is shape


def test_a_tag_that_an_outer_schema_requires_spares_the_complements_of_branches():
    """As in Apify's schema of inputs: alone, a branch without the tag refuses the values that the other one has."""
    branches = [
        {"properties": {"kind": {"enum": ["a"]}, "value": {"type": "object", "required": ["x"]}}},
        {"properties": {"kind": {"enum": ["b", "c"]}, "value": {"type": "object", "minProperties": 1}}},
    ]
    schema = {"type": "object", "required": ["kind"], "then": True, "allOf": [{"oneOf": branches}]}
    space, root = space_of(schema)
    shapes, _ = explore(space, root)
    objects = [node for node, shape in shapes.items() if shape.objects and node != root]
    assert objects
    assert all(isinstance(atom, int) and atom > 0 for node in objects for atom in node)
    validator = jsonschema.Draft202012Validator(schema)
    for kind in ("a", "b", "d"):
        for value in ({}, {"x": 1}, {"y": 1}, 3):
            found = {"kind": kind, "value": value}
            assert is_member(space, root, found) == validator.is_valid(found), found
