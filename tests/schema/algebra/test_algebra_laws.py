"""The algebra's laws, on generated schemas and values: membership agrees with `jsonschema`. No grammar is made."""

from dataclasses import replace
from itertools import combinations, product

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from support.membership import in_arrays, in_objects, in_shape, space_of
from support.schemas import DRAFT, SCHEMAS, VALUES, document

from structgen.engine.regex.tree import literal_set
from structgen.errors import LimitExceededError, UnsupportedSchemaError
from structgen.schema.algebra import (
    ANY,
    EVERYTHING,
    NONE,
    OPEN,
    ArraySet,
    Contains,
    Language,
    ObjectSet,
    StringSet,
    any_of,
    complement,
    meet,
)
from structgen.schema.algebra.counting import can_be_met
from structgen.schema.algebra.object_unions import joined
from structgen.schema.reading.emptiness import can_repeat, object_holds
from structgen.schema.reading.exploration import explore
from structgen.schema.validation import validator_for

pytestmark = pytest.mark.filterwarnings("ignore::structgen.schema.schema_warnings.SchemaWarning")

MANY_VALUES = st.lists(VALUES, min_size=1, max_size=8)
SETTINGS = settings(max_examples=250, suppress_health_check=list(HealthCheck))


class Pair:
    """Two subschemas of one document: their nodes, and the validators' answers."""

    def __init__(self, left, right=True):
        schema = document(left=left, right=right)
        self.space, _ = space_of(schema)
        self.left = self.space.node(left, ((None, "$defs"), "left"))
        self.right = self.space.node(right, ((None, "$defs"), "right"))
        self._validators = [
            validator_for({"$schema": DRAFT, "$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})
            for name in ("left", "right")
        ]

    def valid(self, value):
        return [validator.is_valid(value) for validator in self._validators]

    def has(self, node, value):
        return self.holds(self.space.shape, node, value)

    def holds(self, shape_of, arg, value):
        """Return whether a value is in a shape; skips shapes that cannot be expressed."""
        try:
            return in_shape(self.space, shape_of(arg), value)
        except (UnsupportedSchemaError, LimitExceededError):
            assume(False)


@SETTINGS
@given(SCHEMAS, MANY_VALUES)
def test_membership_is_validity(schema, values):
    pair = Pair(schema)
    for value in values:
        assert pair.has(pair.left, value) == pair.valid(value)[0], value


@SETTINGS
@given(SCHEMAS, MANY_VALUES)
def test_the_complement_holds_what_is_invalid(schema, values):
    pair = Pair(schema)
    other = complement(pair.left)
    for value in values:
        valid, _ = pair.valid(value)
        assert pair.has(other, value) == (not valid), value
        assert pair.has(complement(other), value) == valid, value
    assert meet(pair.left, other) == NONE
    assert any_of([pair.left, other]) == ANY


@SETTINGS
@given(SCHEMAS, SCHEMAS, MANY_VALUES)
def test_intersection_union_and_de_morgan(left, right, values):
    pair = Pair(left, right)
    both, either = meet(pair.left, pair.right), any_of([pair.left, pair.right])
    for value in values:
        in_left, in_right = pair.valid(value)
        assert pair.has(both, value) == (in_left and in_right), value
        assert pair.has(either, value) == (in_left or in_right), value
        assert pair.has(complement(both), value) == (not (in_left and in_right)), value
        assert pair.has(complement(either), value) == (not in_left and not in_right), value
        assert pair.has(meet(both, either), value) == (in_left and in_right), value
        assert pair.has(meet(either, complement(pair.left)), value) == (in_right and not in_left), value


@SETTINGS
@given(SCHEMAS, SCHEMAS, MANY_VALUES)
def test_shapes_obey_the_laws_without_nodes(left, right, values):
    pair = Pair(left, right)
    try:
        one, two = pair.space.shape(pair.left), pair.space.shape(pair.right)
        assume(max(one.size, two.size) <= 4)  # nothing prunes here, as the space does
        other = one.complement()
        assume(len(other.objects) <= 6 and len(other.arrays) <= 6)
        twice = other.complement()
    except (UnsupportedSchemaError, LimitExceededError):
        assume(False)
    for value in values:
        in_left, in_right = pair.valid(value)
        assert pair.holds(one.intersect, two, value) == (in_left and in_right), value
        assert pair.holds(one.unite, two, value) == (in_left or in_right), value
        assert pair.holds(other.intersect, EVERYTHING, value) == (not in_left), value
        assert pair.holds(twice.intersect, EVERYTHING, value) == in_left, value


@SETTINGS
@given(SCHEMAS, SCHEMAS, MANY_VALUES)
def test_what_is_said_to_be_empty_is(left, right, values):
    pair = Pair(left, right)
    for node in (pair.left, complement(pair.left), meet(pair.left, pair.right)):
        try:
            _, productive = explore(pair.space, node)
        except (UnsupportedSchemaError, LimitExceededError):
            continue
        if node not in productive:
            assert not any(pair.has(node, value) for value in values)


@SETTINGS
@given(SCHEMAS, MANY_VALUES)
def test_cases_are_a_partition(schema, values):
    pair = Pair(schema)
    try:
        shape = pair.space.shape(pair.left)
    except (UnsupportedSchemaError, LimitExceededError):
        assume(False)
    for value in values:
        if isinstance(value, list):
            for part in shape.arrays:
                _check_items(pair, part, value)
        elif isinstance(value, dict):
            for part in shape.objects:
                _check_properties(pair, part, value)


def _check_items(pair, part, value):
    counts = [0] * len(part.contains)
    for index, item in enumerate(value):
        here = [given for given, node in part.cases(index) if pair.has(node, item)]
        assert len(here) == pair.has(part.at(index), item)
        for number in here[0] if here else ():
            counts[number] += 1
    if in_arrays(pair.space, part, value):
        for count, asked in zip(counts, part.contains):
            assert asked.low <= count and (asked.high is None or count <= asked.high)


def _check_properties(pair, part, value):
    given = set()
    for key, item in value.items():
        here = [numbers for numbers, node in part.cases(key) if pair.has(node, item)]
        assert len(here) == pair.has(part.at(key), item)
        if here:
            given |= here[0]
        of_classes = [found for keys, found in part.key_cases() if keys.contains(key)]
        if key not in part.properties:
            assert len(of_classes) == any(keys.contains(key) for keys, _ in part.classes)
            for found in of_classes:
                assert here == [numbers for numbers, node in found if pair.has(node, item)]
    if in_objects(pair.space, part, value):
        assert given == set(range(len(part.somewhere)))


def _sets():
    """Generate sets of arrays of every kind, over two atoms and their complements."""
    nodes = st.sampled_from([ANY, NONE, (2,), (-2,), (2, 3), (3,), complement((2, 3))])
    counts = st.integers(0, 3)
    most = st.one_of(st.none(), counts)
    contains = st.lists(st.builds(Contains, counts, nodes, counts, most), max_size=2)
    repeats = st.sampled_from([None, False, True])
    return st.builds(
        ArraySet, st.lists(nodes, max_size=2).map(tuple), nodes, counts, most, contains.map(tuple), repeats
    )


def _in_node(node, item):
    """Return whether a value of four is in a node; bit 0: it is in atom 2, bit 1: it is in atom 3."""
    for atom in node:
        if not isinstance(atom, int):
            if not any(_in_node(other, item) for other in atom.nodes):
                return False
        elif abs(atom) == 1:
            if atom < 0:
                return False
        elif bool(item >> (abs(atom) - 2) & 1) != (atom > 0):
            return False
    return True


def _in_set(part, value):
    if len(value) < part.low or (part.high is not None and len(value) > part.high):
        return False
    for count in part.contains:
        found = sum(_in_node(count.node, item) for item in value[count.start :])
        if found < count.low or (count.high is not None and found > count.high):
            return False
    if part.repeats is not None and part.repeats != (len(set(value)) < len(value)):
        return False
    return all(_in_node(part.at(i), item) for i, item in enumerate(value))


@SETTINGS
@given(_sets(), _sets(), st.lists(st.lists(st.integers(0, 3), max_size=5), min_size=1, max_size=10))
def test_sets_of_arrays_by_counting(left, right, values):
    for value in values:
        reduced, both = left.reduced(), left.intersect(right)
        assert (reduced is not None and _in_set(reduced, value)) == _in_set(left, value)
        assert (both is not None and _in_set(both, value)) == (_in_set(left, value) and _in_set(right, value))
        assert any(_in_set(part, value) for part in left.complement()) == (not _in_set(left, value))


@SETTINGS
@given(_sets(), st.integers(0, 3))
def test_counts_can_be_met_exactly_when_there_is_an_array(part, longest):
    part = replace(part, high=longest, repeats=None)
    assert can_be_met(part, _is_held) == any(_in_set(part, value) for value in _arrays(longest))


@SETTINGS
@given(_sets(), st.integers(0, 4))
def test_items_can_be_equal_exactly_when_there_is_an_array(part, longest):
    part = replace(part, high=longest, repeats=True)
    assert can_repeat(part, _is_held) == any(_in_set(part, value) for value in _arrays(longest))


def _is_held(node):
    """Return whether a node has one of the four values."""
    return any(_in_node(node, item) for item in range(4))


def _arrays(longest):
    return (value for length in range(longest + 1) for value in product(range(4), repeat=length))


_KEYS = ["a", "b", "c", "d", "e", "f", "dd", "ee", "ff"]  # of each length as many as a set may ask for
_OBJECTS = [
    dict(zip(keys, values))
    for size in range(4)
    for keys in combinations(_KEYS, size)
    for values in product(range(4), repeat=size)
]


def _sets_of_objects():
    """Generate sets of objects of every kind, over the same nodes."""
    nodes = st.sampled_from([ANY, NONE, (2,), (-2,), (2, 3), (3,), complement((2, 3))])
    short, long = StringSet(high=1), StringSet(low=2)
    closed = st.builds(lambda node: ((short, node),), nodes)
    split = st.builds(lambda node, other: ((short, node), (long, other)), nodes, nodes)
    keys = st.sampled_from([StringSet(), StringSet(texts=("a",)), StringSet(texts=("a", "b")), short, long])
    return st.builds(
        ObjectSet,
        st.dictionaries(st.sampled_from("abc"), nodes, max_size=3),
        st.one_of(st.just(OPEN), st.just(()), closed, split),
        st.lists(st.sampled_from("abc"), unique=True, max_size=2).map(tuple),
        st.integers(0, 3),
        st.one_of(st.none(), st.integers(0, 3)),
        st.lists(st.tuples(keys, nodes), max_size=2).map(tuple),
    )


def _with_somewhere(node):
    return ObjectSet({}, somewhere=((StringSet(texts=("a",)), node),))


def _in_object_set(part, value):
    if len(value) < part.low or (part.high is not None and len(value) > part.high):
        return False
    for keys, node in part.somewhere:
        if not any(keys.contains(key) and _in_node(node, item) for key, item in value.items()):
            return False
    return value.keys() >= set(part.required) and all(_in_node(part.at(key), item) for key, item in value.items())


class _Held:
    """Return the nodes that have one of the four values."""

    def __contains__(self, node):
        return _is_held(node)


@SETTINGS
@given(_sets_of_objects(), _sets_of_objects(), st.lists(st.sampled_from(_OBJECTS), min_size=1, max_size=20))
@example(_with_somewhere((2,)), _with_somewhere((-2,)), [{}])  # one key cannot have both
def test_sets_of_objects_by_counting(left, right, values):
    reduced, both, others = left.reduced(), left.intersect(right), left.complement()
    for value in values:
        in_left = _in_object_set(left, value)
        assert (reduced is not None and _in_object_set(reduced, value)) == in_left
        assert (both is not None and _in_object_set(both, value)) == (in_left and _in_object_set(right, value))
        assert any(_in_object_set(part, value) for part in others) == (not in_left)
    for part in (reduced, both):
        if part is not None and len(part.required) + len(part.somewhere) <= 3:
            assert object_holds(part, _Held()) == any(_in_object_set(part, value) for value in _OBJECTS)


@SETTINGS
@given(
    st.lists(_sets_of_objects(), min_size=1, max_size=4),
    st.sampled_from("abc"),
    st.lists(st.sampled_from(_OBJECTS), min_size=1),
)
def test_sets_that_differ_in_one_key_are_joined(parts, key, values):
    others = [replace(part, properties={**part.properties, key: (2,)}) for part in parts]
    found = joined((*parts, *others))
    assert len(found) < 2 * len(parts)
    for value in values:
        assert any(_in_object_set(part, value) for part in found) == any(
            _in_object_set(part, value) for part in (*parts, *others)
        )


def test_what_is_surely_all_is_no_complement():
    assert ObjectSet({}).complement() == []
    assert ArraySet().complement() == []


def test_texts_that_some_readers_take_for_members_are_on_neither_side():
    language = Language("of readers", literal_set([b"a"]), lambda: literal_set([b"a", b"b"]))
    inside, outside = StringSet(texts=("a", "b", "c")).split(StringSet(within=(language,)))
    assert inside == StringSet(texts=("a",))
    assert outside == [StringSet(texts=("c",))]
    assert StringSet(texts=("b",)).split(StringSet(within=(language,))) == (None, [])


def test_what_a_set_remembers_does_not_change_its_hash():
    strings, arrays = StringSet(excluded=("a",)), ArraySet()
    before = hash(strings), hash(arrays)
    assert strings.contains("b")  # keeps its texts
    arrays.known_cases = {}
    assert (hash(strings), hash(arrays)) == before == (hash(StringSet(excluded=("a",))), hash(ArraySet()))
