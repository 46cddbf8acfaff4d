"""Items that must differ, where some have few values: whether there is an array is told exactly."""

import json
import random
from functools import cache

import pytest
from support.vocabularies import BYTES

import structgen
from structgen.schema.algebra import ArraySet, Contains
from structgen.schema.reading.distinct_items import can_differ, needed_values


def values_of(schema):
    return schema["enum"] if schema else []


def has_array(schema):
    """Return whether there is an array, by trying all."""
    prefix, rest = [values_of(part) for part in schema["prefixItems"]], values_of(schema["items"])
    low, high = schema["minItems"], schema.get("maxItems", 20)
    counted = set(values_of(schema.get("contains")))
    least, most = schema.get("minContains", 1 if counted else 0), schema.get("maxContains", 20)

    @cache
    def goes_on(index, used, count):
        if count > most or index > high:
            return False
        if index >= low and count >= least:
            return True
        values = prefix[index] if index < len(prefix) else rest
        return any(
            goes_on(index + 1, used | {value}, count + (value in counted)) for value in values if value not in used
        )

    return goes_on(0, frozenset(), 0)


def random_schema(rng):
    many = rng.choice([4, 6, 9])
    node = lambda: {"enum": sorted(rng.sample(range(many), rng.randint(1, many)))}  # noqa: E731
    size = rng.randint(1, many)
    schema = {
        "type": "array",
        "prefixItems": [node() for _ in range(size)],
        "items": rng.choice([False, node()]),
        "uniqueItems": True,
        "minItems": rng.randint(max(0, size - 2), size + 2),
    }
    if rng.random() < 0.5:
        schema |= {"contains": node(), "minContains": rng.randint(0, 4)}
    if rng.random() < 0.3:
        schema["maxItems"] = schema["minItems"] + rng.randint(0, 2)
        if "contains" in schema:
            schema["maxContains"] = schema["minContains"] + rng.randint(0, 2)
    return schema


def compiled_or_none(schema):
    try:
        return structgen.compile(schema, BYTES, whitespace="compact", numbers="plain")
    except structgen.UnsatisfiableSchemaError:
        return None


@pytest.mark.parametrize("seed", range(150))
def test_a_schema_compiles_if_it_has_an_array_and_all_masks_lead_to_one(seed):
    rng = random.Random(seed)
    schema = random_schema(rng)
    constraint = compiled_or_none(schema)
    assert (constraint is not None) == has_array(schema)
    if constraint is None:
        return
    matcher, text = constraint.matcher(), b""
    while not matcher.is_accepting:
        text += bytes([rng.choice(matcher.allowed_token_ids())])
        matcher.accept_bytes(text[-1:])
    items = json.loads(text)
    assert len(set(items)) == len(items)


@pytest.mark.parametrize("size", [7, 8, 12])
def test_more_items_than_values_have_no_array(size):
    schema = {"type": "array", "prefixItems": [{"enum": list(range(size - 1))}] * size, "minItems": size}
    assert compiled_or_none(schema) is not None
    assert compiled_or_none(schema | {"uniqueItems": True}) is None


@pytest.mark.parametrize(
    ("items", "count"),
    [
        ({"type": "string", "pattern": "^[0-9]{2}$"}, 100),
        (
            {"anyOf": [{"type": "string", "pattern": "^[a-z][ab]$"}, {"type": "integer", "minimum": 0, "maximum": 20}]},
            73,
        ),
        ({"anyOf": [{"enum": [[i, j] for i in range(9)]} for j in (0, 0, 1)]}, 18),
    ],
)
def test_no_more_items_than_values(items, count):
    schema = {"type": "array", "items": items, "uniqueItems": True}
    assert compiled_or_none(schema | {"minItems": count}) is not None
    assert compiled_or_none(schema | {"minItems": count + 1}) is None


def test_an_item_leaves_the_values_that_later_items_need():
    rest = {"type": "integer", "minimum": 0, "maximum": 99}
    schema = {"prefixItems": [{"type": "integer", "minimum": 0, "maximum": 100}], "items": rest, "minItems": 101}
    matcher = compiled_or_none(schema | {"type": "array", "uniqueItems": True}).matcher()
    matcher.accept_bytes(b"[10")
    assert bytes(matcher.allowed_token_ids()) == b"0"


def test_values_that_may_run_out_and_are_too_many_to_be_listed_are_refused():
    first, rest = ({"type": "integer", "minimum": 0, "maximum": most} for most in (6_000, 4_999))
    schema = {"type": "array", "prefixItems": [first], "items": rest, "uniqueItems": True}
    with pytest.raises(structgen.LimitExceededError, match="too many ways to count the items"):
        compiled_or_none(schema | {"minItems": 5_001})
    assert compiled_or_none(schema | {"minItems": 50}) is not None


def unique(items, **more):
    return compiled_or_none({"type": "array", "uniqueItems": True, "items": items, **more})


def test_a_pattern_whose_only_keys_are_properties_has_no_further_objects():
    one = {"const": 1}
    items = {
        "type": "object",
        "properties": {"a": one, "b": one},
        "patternProperties": {"^[ab]$": {"type": "integer"}},
        "additionalProperties": False,
    }
    assert unique(items, minItems=5) is None
    matcher = unique(items).matcher()
    matcher.accept_bytes(b'[{},{"a":1},{"b":1},{"a":1,"b":1}')
    assert bytes(matcher.allowed_token_ids()) == b"]"


def nested(value, levels):
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("levels", [15, 16, 17, 40, 100])
def test_values_that_nest_deep_are_counted(levels):
    deep = {"const": nested(1, levels)}
    assert unique(deep, minItems=1) is not None
    assert unique(deep, minItems=2) is None
    assert unique(True, prefixItems=[deep, deep], minItems=2) is None
    matcher = unique(True, prefixItems=[{"enum": [nested(1, levels), 2]}, deep], minItems=2).matcher()
    matcher.accept_bytes(b"[")
    assert bytes(matcher.allowed_token_ids()) == b"2"


def test_items_that_nest_without_end_are_not_counted():
    schema = {"type": "array", "maxItems": 1, "items": {"$ref": "#/$defs/list"}}
    assert unique({"$ref": "#/$defs/list"}, minItems=50, **{"$defs": {"list": schema}}) is not None


def test_counts_leave_the_values_that_other_counts_need():
    counts = [
        {"contains": {"maximum": 139}, "minContains": 100},
        {"contains": {"minimum": 70}, "minContains": 0, "maxContains": 50},
    ]
    matcher = unique({"type": "integer", "minimum": 0, "maximum": 209}, allOf=counts).matcher()
    written = [*range(70), *range(140, 160)]  # 30 of 70 to 139 must follow, and no more than 30
    matcher.accept_bytes(f"[{','.join(map(str, written))},".encode())
    assert bytes(matcher.allowed_token_ids()) == b"1789"
    matcher.accept_bytes(b"1")
    assert not set(matcher.allowed_token_ids()) & set(b"456789")


def test_the_last_number_that_can_be_written_ends_an_array():
    matcher = unique({"type": "number", "exclusiveMinimum": 0, "maximum": 5e-324}).matcher()
    matcher.accept_bytes(b"[5e-324")
    assert ord("]") in matcher.allowed_token_ids()
    assert ord(",") not in matcher.allowed_token_ids()


def texts(first, last):
    return {"enum": [f"x{number}" for number in range(first, last)]}


def not_multiples(*steps):
    return {"type": "integer", "minimum": 1, "maximum": 300, "not": {"anyOf": [{"multipleOf": n} for n in steps]}}


PAIRS = {"type": "array", "minItems": 1, "maxItems": 2}
MANY_KEYS = "abcdef"


def unlike(values):
    return {"not": {"properties": {key: {"const": value} for key, value in values.items()}, "required": list(values)}}


def pairs_of_keys(last):
    """Objects of 729 or fewer, of which conditions that no single key decides leave few: each key is followed by 2."""
    keys = zip(MANY_KEYS, MANY_KEYS[1:] + MANY_KEYS[0])
    found = [unlike({one: low, other: value}) for one, other in keys for low in (0, 1) for value in range(3)]
    return {
        "type": "object",
        "properties": {key: {"enum": [0, 1, 2]} for key in MANY_KEYS},
        "required": list(MANY_KEYS),
        "additionalProperties": False,
        "allOf": found[:last],
    }


@pytest.mark.parametrize(
    ("items", "count"),
    [
        ({"anyOf": [{"type": "integer", "minimum": low, "maximum": 69} for low in range(10)]}, 70),
        ({"anyOf": [texts(low, 70) for low in range(10)]}, 70),
        (not_multiples(2, 3, 5, 7, 11), 63),
        ({**PAIRS, "items": {"type": "boolean"}, "not": {"uniqueItems": True}}, 2),
        (
            {
                **PAIRS,
                "items": {"enum": [0, 1, 2, 3]},
                "allOf": [{"if": {"contains": {"const": n}}, "then": {"contains": {"const": n ^ 1}}} for n in range(4)]
                + [
                    {"anyOf": [{"contains": {"const": n}}, {"not": {"contains": {"const": m}}}]}
                    for n in (0, 1)
                    for m in (0, 1)
                ],
            },
            4,
        ),
        (pairs_of_keys(36), 1),
        (pairs_of_keys(33), 2),
    ],
    ids=["numbers", "texts", "no multiples", "equal items", "items with conditions", "one object", "two objects"],
)
def test_values_are_not_counted_twice_nor_those_that_conditions_refuse(items, count):
    assert unique(items, minItems=count) is not None
    assert unique(items, minItems=count + 1) is None
    assert unique(False, prefixItems=[items] * (count + 1), minItems=count + 1) is None


@pytest.mark.parametrize(
    ("numbers", "count"),
    [
        ({"minimum": 1, "maximum": 1.0000000000000002}, 2),
        ({"minimum": 1, "exclusiveMaximum": 1.0000000000000002}, 1),
        ({"exclusiveMinimum": 0, "maximum": 5e-324}, 1),
        ({"minimum": 2**53, "maximum": 2**53 + 2}, 3),  # whole numbers in digits stay apart
        ({"minimum": -1e-323, "maximum": 1e-323}, 5),
        ({"minimum": 0.1, "maximum": 0.1000000000000002, "multipleOf": 1e-20}, 1),  # multiples have at most 15 digits
        ({"minimum": 1, "maximum": 1.00000000000001, "multipleOf": 1e-17}, 2),
        ({"minimum": 0.1, "maximum": 0.100000000000002, "not": {"multipleOf": 0.1}}, 2),
        ({"minimum": 10**15, "maximum": 10**15 + 3, "multipleOf": 0.25}, 4),
        ({"minimum": 0, "maximum": 1e-306, "multipleOf": 1e-307}, 1),  # of which only 0 is written without an exponent
    ],
)
def test_numbers_that_are_read_as_one_double_are_one(numbers, count):
    items = {"type": "number", **numbers}
    assert unique(items, minItems=count) is not None
    assert unique(items, minItems=count + 1) is None
    assert unique(False, prefixItems=[items] * (count + 1), minItems=count + 1) is None


@pytest.mark.parametrize(("last", "count"), [(2**53 - 1, 3), (2**53, 3), (2**53 + 1, 3)])
def test_no_item_follows_the_last_number(last, count):
    items = {"type": "number", "minimum": last - count + 1, "maximum": last}
    matcher = unique(items, minItems=1).matcher()
    matcher.accept_bytes(f"[{','.join(str(last - number) for number in range(count))}".encode())
    assert ord("]") in matcher.allowed_token_ids()
    assert ord(",") not in matcher.allowed_token_ids()


def in_all_forms(items, **keywords):
    schema = {"type": "array", "items": {"type": "number", **items}, "uniqueItems": True, **keywords}
    return structgen.compile(schema, BYTES, whitespace="compact", numbers="any")


def test_small_multiples_are_written_with_an_exponent():
    items = {"minimum": 0, "maximum": 1e-306, "multipleOf": 1e-307}
    assert in_all_forms(items, minItems=11)
    with pytest.raises(structgen.UnsatisfiableSchemaError):
        in_all_forms(items, minItems=12)


def test_large_numbers_among_multiples_of_a_fraction_are_left_out_soon():
    matcher = in_all_forms({"multipleOf": 0.125}).matcher()
    matcher.accept_bytes(b"[8867,3E77,8e69,")
    assert ord("7") in matcher.allowed_token_ids()


@pytest.mark.parametrize(
    "wrapped", [lambda items: items, lambda items: {"type": "array", "items": items, "minItems": 1}]
)
def test_objects_that_are_found_to_have_no_member_are_not_counted(wrapped):
    conditions = [{"not": {"additionalProperties": {"not": {"const": number}}}} for number in range(9)]
    dead = wrapped({"type": "object", "allOf": conditions, "maxProperties": 8})
    items = {"anyOf": [{"const": 1}, dead]}
    assert unique(items, minItems=1) is not None
    assert unique(items, minItems=2) is None
    assert unique(False, prefixItems=[items, {"const": 1}], minItems=2) is None


class ListedSizes:
    """The sizes of nodes that are one atom each, and how often values were asked for."""

    def __init__(self, listed):
        self.listed, self.asked = listed, 0

    def need(self, items):
        """All values are listed."""

    def count(self, node):
        return len(self.values(node))

    def values(self, node):
        self.asked += 1
        inside = frozenset.union(*self.listed.values())
        for atom in node:
            inside &= self.listed[abs(atom)] if atom > 0 else inside - self.listed[abs(atom)]
        return inside


def items_of(choices, **more):
    """Return the arrays with items of some choices, and the sizes of their nodes."""
    listed = {at + 1: frozenset([("number", value) for value in values]) for at, values in enumerate(choices)}
    return ArraySet(tuple((at,) for at in listed), (1,), **more), ListedSizes(listed)


@pytest.mark.parametrize("seed", range(100))
def test_values_are_needed_without_which_no_array_is_left(seed):
    rng = random.Random(seed)
    many = rng.randint(2, 6)
    choices = [rng.sample(range(many), rng.randint(1, min(3, many))) for _ in range(rng.randint(1, many))]
    contains = (Contains(0, (len(choices),), rng.randint(0, 2), rng.choice([None, 2])),) if rng.random() < 0.5 else ()
    part, sizes = items_of(choices, low=rng.randint(1, len(choices)), contains=contains)
    used = frozenset([("number", value) for value in range(many) if rng.random() < 0.1])
    listed = frozenset.union(*sizes.listed.values()) - used
    usable = lambda node: bool(sizes.values(node))  # noqa: E731
    refused = {value for value in listed if not can_differ(part, usable, sizes, used | {value})}
    assert needed_values(part, usable, sizes, used) == refused


def test_many_items_are_looked_at_a_few_times():
    part, sizes = items_of([(at, at + 1) for at in range(200)], low=200)
    assert not needed_values(part, lambda node: True, sizes, frozenset())
    assert sizes.asked <= 5 * 200
    one = Contains(0, (4,), 1, None)  # the third item may have its value, and so may the fourth and fifth
    part, sizes = items_of([(at, at + 1) for at in range(200)], contains=(one,))
    assert not needed_values(part, lambda node: bool(sizes.values(node)), sizes, frozenset())
    assert sizes.asked <= 50 * 200
