"""Schemas whose branches would multiply: the language is that of `jsonschema`, within the default limits.

A small schema of each kind is compared with `jsonschema` on random values; a large one of the same kind is compiled.
"""

import itertools
import random

import jsonschema
import pytest
from support.judging_schemas import accepts
from support.membership import is_member, space_of
from support.vocabularies import BYTES

import structgen
from structgen.errors import UnsupportedSchemaError
from structgen.schema import SchemaWarning, schema_to_rules
from structgen.schema.schema_warnings import while_read

KEYS = ["type", *(f"p{i}" for i in range(4)), *(f"k{i}" for i in range(4))]


def tagged_one_of(count):
    """Branches that do not require their tag; the schema beside them does."""
    branches = [{"properties": {"type": {"enum": [f"t{i}"]}, f"p{i}": {"type": "string"}}} for i in range(count)]
    return {"required": ["type"], "oneOf": branches}


def conditions_on_one_key(count):
    return {
        "allOf": [
            {"if": {"properties": {"type": {"const": f"t{i}"}}}, "then": {"properties": {f"p{i}": {"type": "string"}}}}
            for i in range(count)
        ]
    }


def conditions_on_a_required_key(count):
    conditions = [
        {
            "if": {"properties": {"type": {"const": f"t{i}"}}, "required": ["type"]},
            "then": {"required": [f"p{i}"]},
            "else": {"not": {"required": [f"k{i}"]}},
        }
        for i in range(count)
    ]
    return {"properties": {"type": {"enum": [f"t{i}" for i in range(count)]}}, "allOf": conditions}


def dependencies_that_narrow_one_key(count):
    return {
        "properties": {"type": {"enum": [*(f"t{i}" for i in range(count)), "x"]}},
        "dependentSchemas": {f"k{i}": {"properties": {"type": {"enum": [f"t{i}"]}}} for i in range(count)},
    }


def chain_of_conditions(count):
    definitions = {"0": {"type": ["string", "object"], "properties": {"p0": {"type": "string"}}}}
    for i in range(count):
        inner = {"$ref": f"#/$defs/{i}"}
        other = {"type": "object", "required": [f"p{i % 4}"], "properties": {f"p{i % 4}": inner}}
        definitions[str(i + 1)] = {"if": inner, "then": inner, "else": other}
    return {"$defs": definitions, "$ref": f"#/$defs/{count}"}


def nested_complements(count):
    """Each definition is what neither the one before it nor an object with such a value allows."""
    definitions = {"0": {"type": "string"}}
    for i in range(count):
        inner = {"$ref": f"#/$defs/{i}"}
        definitions[str(i + 1)] = {"not": {"anyOf": [inner, {"properties": {"k0": inner}}]}}
    return {"$defs": definitions, "$ref": f"#/$defs/{count}"}


def complement_of_an_endless_meet(count):
    """Below the key `k0`, a value meets the definition of the key and the definition that it is in, again and again."""
    names = [f"p{i}" for i in range(count)]
    plain = {"properties": {"k1": {"$ref": "#/$defs/d1"}, "k0": {"$ref": "#/$defs/d0"}}}
    keys = {"k0": {"$ref": "#/$defs/d1"}, "type": {"$ref": "#"}, **dict.fromkeys(names, True)}
    both = {"properties": keys, "unevaluatedProperties": {"type": "string"}, "allOf": [{"$ref": "#/$defs/d0"}]}
    return {"oneOf": [{"$ref": "#/$defs/d1"}, {}], "$defs": {"d0": plain, "d1": {"oneOf": [both]}}}


def unions_inside_one_of(count):
    """A message without a required tag, a union of tagged objects and another message, a tag that may be null."""
    text, tag = {"type": "string"}, {"enum": ["x"]}
    message = {"type": "object", "properties": {"type": tag, "k0": {"enum": ["t0", "x"]}}, "required": ["k0", "k1"]}
    tagged = [
        {
            "type": "object",
            "properties": {"type": {"enum": [f"t{i}"]}, f"p{i}": text, "k0": text, f"k{i}": {"enum": ["t0", "t1"]}},
            "required": ["type", f"p{i}", "k0", f"p{i + 1}", f"k{i}"],
        }
        for i in range(count)
    ]
    inner = {"type": "object", "properties": {"type": tag, "k0": {"enum": ["x", "t1"]}, "k1": text}, "required": ["k0"]}
    reference = {
        "type": "object",
        "properties": {"type": {"anyOf": [{"enum": ["t1"]}, {"type": "null"}]}},
        "required": ["k3"],
    }
    return {"oneOf": [message, {"oneOf": [inner, *tagged]}, reference]}


def constants_and_tags(count):
    """Constants of which one comes twice, and objects told apart by one tag; of few, others by another tag."""
    tags = ["type", "k0"] if count < 10 else ["type"]
    tagged = [
        {"type": "object", "properties": {tag: {"const": f"t{i}"}}, "required": [tag]}
        for i in range(count)
        for tag in tags
    ]
    return {"oneOf": [*({"const": f"t{i}"} for i in range(count)), {"enum": ["t1", 1, None]}, *tagged]}


def tag_required_beside_one_of(count):
    """What `allOf` refuses: one part requires a tag, and the branches of the other tell its values apart."""
    text = {"type": "string"}
    tagged = {"type": "object", "required": ["type"], "properties": {"type": {"enum": [f"t{i}" for i in range(count)]}}}
    shared = {"p0": text, "p1": {"enum": ["t0", 1]}, "p2": {"enum": ["x", None]}}
    branches = [
        {"properties": {**shared, "type": {"const": f"t{i}"}, f"k{i}": text}, "additionalProperties": False}
        for i in range(count)
    ]
    return {"not": {"allOf": [tagged, {"oneOf": branches}]}}


def tags_of_two_kinds_beside_one_of(count):
    """The same where two branches share a tag, beside an untagged message, as in the schema of Drone CI."""
    pipelines = tag_required_beside_one_of(count)["not"]
    pipelines["allOf"][1]["oneOf"][0]["properties"]["type"] = {"enum": ["t0", "t1"]}
    return {"oneOf": [{"type": "object", "required": ["p0"], "properties": {"p1": {"enum": ["t0"]}}}, pipelines]}


def one_of_inside_one_of(count):
    """Tags that only `allOf` requires, after the `oneOf`, as in Azure's function.json; strings are in no branch."""

    def tagged(i, way, key):
        return {"properties": {"type": {"const": f"t{i}"}, "k0": {"enum": [way]}, key: {"type": "string"}}}

    bindings = [
        {"properties": {f"p{i}": {"type": "string"}}, "oneOf": [tagged(i, "t0", "k1"), tagged(i, "t1", "k2")]}
        for i in range(count)
    ]
    others = {"properties": {"type": {"not": {"enum": [f"t{i}" for i in range(count)]}}, "k0": {"enum": ["t0", "t1"]}}}
    required = {"properties": {"type": {"type": "string"}, "k3": {"enum": ["t0"]}}, "required": ["type", "k0"]}
    return {"type": ["object", "string"], "oneOf": [others, {"oneOf": bindings}], "allOf": [required]}


def one_of_beside_a_tag(count):
    """A `oneOf` that its tag in the outer one tells apart, and not its own; as in .NET's template.json."""
    inner = [{"required": ["k0"], "properties": {"k0": {"const": f"t{i}"}, "p0": {"enum": [i]}}} for i in range(count)]
    outer = [{"properties": {"type": {"const": f"t{i}"}, f"p{i % 4}": {"type": "string"}}} for i in range(1, 4)]
    nested = {"required": ["k1"], "properties": {"type": {"const": "t0"}, "k1": {"enum": ["x", 1]}}, "oneOf": inner}
    return {"required": ["type"], "properties": {"type": {"type": "string"}}, "oneOf": [nested, *outer]}


def branches_without_types(count):
    """All branches accept every value that is no object, so the `oneOf` accepts none of them."""
    return {"oneOf": [tagged_one_of(count)["oneOf"][i] | {"required": ["type"]} for i in range(count)]}


def tags_told_apart_beside(count):
    """The tag's type is beside the branches, and two branches share a tag."""
    schema = tagged_one_of(count) | {"type": "object", "properties": {"k0": {"type": "string"}}}
    schema["oneOf"][0]["properties"]["type"] = {"enum": ["t0", "t1"]}
    return schema


def tags_without_type_beside_one_of(count):
    return {"not": tagged_one_of(count)}


def tags_beside_one_of(count):
    """The same as `tag_required_beside_one_of`, without the `allOf`."""
    tagged, branches = tag_required_beside_one_of(count)["not"]["allOf"]
    return {"not": tagged | branches}


def tags_beside_any_of(count):
    schema = tags_told_apart_beside(count)
    return {"not": {"anyOf": schema.pop("oneOf"), **schema}}


def closed_objects_with_an_optional_tag(count):
    """Without the tag, a value is in one branch by its other keys alone."""
    branches = [
        {
            "type": "object",
            "properties": {
                "type": {"const": f"t{i}"},
                "p0": {"enum": ["x", 1, f"t{i}"]},
                "p1": {"not": {"const": f"t{i}"}},
                f"k{i % 4}": True,
            },
            "additionalProperties": False,
        }
        for i in range(count)
    ]
    return {"oneOf": branches}


def closed_tags(count):
    """The complement of branches that require their tag, and allow no other keys."""
    tagged = tagged_one_of(count)["oneOf"]
    return {
        "not": {
            "oneOf": [
                branch | {"type": "object", "required": ["type"], "additionalProperties": False} for branch in tagged
            ]
        }
    }


def conditions_beside_required_keys(count):
    """A `oneOf` whose only branch for objects is a union, beside conditions on a tag; as in SAST's metaschemas."""
    conditions = [
        {
            "if": {"properties": {"type": {"const": f"t{i}"}}, "required": ["type"]},
            "then": {"properties": {"p0": {"enum": [f"t{i}", "x"]}}},
        }
        for i in range(count)
    ]
    needed = {"type": "object", "anyOf": [{"required": [f"k{i}"]} for i in range(count)]}
    return {"dependentSchemas": {"p0": {"allOf": conditions}}, "oneOf": [{"const": None}, needed]}


KINDS = [
    (conditions_beside_required_keys, 30),
    (closed_tags, 300),
    (closed_objects_with_an_optional_tag, 30),
    (one_of_inside_one_of, 30),
    (one_of_beside_a_tag, 30),
    (branches_without_types, 300),
    (tags_told_apart_beside, 300),
    (tags_without_type_beside_one_of, 100),
    (tags_beside_one_of, 100),
    (tags_beside_any_of, 100),
    (tag_required_beside_one_of, 100),
    (tags_of_two_kinds_beside_one_of, 20),
    (constants_and_tags, 1_500),
    (chain_of_conditions, 30),
    (nested_complements, 25),
    (complement_of_an_endless_meet, 2),
    (unions_inside_one_of, 20),
    (dependencies_that_narrow_one_key, 40),
    (tagged_one_of, 300),
    (conditions_on_one_key, 160),
    (conditions_on_a_required_key, 128),
]


def random_objects(count, seed):
    """Return random objects with the keys and tags that the schemas ask for, and some values that are no objects."""
    rng = random.Random(seed)
    values = [None, 1, "t0", [], ["t0"]]
    for _ in range(count):
        keys = rng.sample(KEYS, rng.randint(0, 6))
        values.append({key: rng.choice(["t0", "t1", "t2", "t3", "x", 1, None]) for key in keys})
    return values


@pytest.mark.parametrize("make", [make for make, _ in KINDS])
@pytest.mark.parametrize("negated", [False, True])
def test_members_are_the_valid_values(make, negated):
    schema = make(4)
    if negated:
        schema = {"$defs": schema.pop("$defs", {}), "not": schema}
    space, root = space_of(schema)
    validator = jsonschema.Draft202012Validator(schema)
    found = set()
    for value in random_objects(300, seed=1):
        valid = validator.is_valid(value)
        assert is_member(space, root, value) == valid, value
        found.add(valid)
    assert found == {False, True}


def test_unions_beside_each_other_do_not_multiply():
    """Both keywords make a union of 20 sets. One of them becomes a single set with clauses."""
    space, root = space_of(conditions_beside_required_keys(20))
    assert len(space.shape(root).objects) < 40


def test_many_dependencies_are_read_like_few():
    """Twelve of them, past the number that is split into disjoint sets."""
    schema = dependencies_that_narrow_one_key(12)
    space, root = space_of(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for value in random_objects(500, seed=2):
        assert is_member(space, root, value) == validator.is_valid(value), value


@pytest.mark.parametrize(("make", "count"), KINDS)
def test_many_branches_stay_within_the_limits(make, count):
    schema_to_rules(make(count))


def test_a_lenient_reading_stays_within_the_limits():
    schema_to_rules(conditions_on_one_key(160), lenient=True)


def with_patterns(schema):
    """A copy whose lists of values stand beside a pattern that every value of `random_objects` satisfies but `x`."""
    if isinstance(schema, list):
        return [with_patterns(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    beside = {"pattern": "^(?!(x+)\\1?$)"} if "enum" in schema or "const" in schema else {}
    return {key: with_patterns(value) for key, value in schema.items()} | beside


@pytest.mark.parametrize("make", [tagged_one_of, unions_inside_one_of, tags_of_two_kinds_beside_one_of])
@pytest.mark.parametrize("negated", [False, True])
def test_a_dropped_keyword_never_narrows_many_branches(make, negated):
    schema = with_patterns(make(9))
    schema = {"not": schema} if negated else schema
    with pytest.raises(UnsupportedSchemaError):
        schema_to_rules(schema)
    with pytest.warns(SchemaWarning, match="pattern is dropped"), while_read():
        space, root = space_of(schema, lenient=True)
        space.shape(root)
        validator = jsonschema.Draft202012Validator(schema)
        for value in random_objects(300, seed=3):
            assert is_member(space, root, value) or not validator.is_valid(value), value


def test_closed_objects_in_maps_within_the_limits():
    """Like targets of Angular's workspace schema: options, and a map of more of them, and a tag that may be missing."""
    branches = []
    for i in range(20):
        options = {"type": "object", "properties": {f"o{i}": {"type": "string"}}, "additionalProperties": False}
        more = {"type": "object", "additionalProperties": options}
        properties = {"tag": {"const": f"t{i}"}, "options": options, "more": more}
        branches.append({"type": "object", "properties": properties, "additionalProperties": False})
    schema = {"oneOf": branches}
    constraint = structgen.compile(schema, BYTES)
    validator = jsonschema.Draft202012Validator(schema)
    found = []
    for options, more in itertools.product(
        [{}, {"o1": "x"}, {"o2": "x"}], [{}, {"a": {}}, {"a": {}, "b": {"o1": "x"}}]
    ):
        for tag in ({}, {"tag": "t1"}):
            value = {**tag, "options": options, "more": more}
            found.append(validator.is_valid(value))
            assert accepts(constraint, value) == found[-1], value
    assert set(found) == {False, True}


def models_with_default_tags(count):
    """A union of models as Pydantic writes it: a tag with a default is not required, and objects are open."""
    definitions = {}
    for i in range(count):
        optional = {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}
        properties = {f"p{i}": {"type": "string"}, "x": {"type": "integer"}, f"k{i}": optional}
        definitions[f"P{i}"] = {"type": "object", "properties": properties, "required": [f"p{i}"]}
        tag = {"const": f"t{i}", "default": f"t{i}", "type": "string"}
        properties = {"type": tag, "params": {"$ref": f"#/$defs/P{i}"}}
        definitions[f"C{i}"] = {"type": "object", "properties": properties, "required": ["params"]}
    return {"$defs": definitions, "oneOf": [{"$ref": f"#/$defs/C{i}"} for i in range(count)]}


@pytest.mark.parametrize("negated", [False, True])
def test_models_with_default_tags_have_the_valid_values(negated):
    schema = models_with_default_tags(4)
    if negated:
        schema = {"$defs": schema.pop("$defs"), "not": schema}
    space, root = space_of(schema)
    validator = jsonschema.Draft202012Validator(schema)
    found = set()
    for params in random_objects(400, seed=3):
        kind = random.Random(str(params)).choice(["t0", "t1", "x", None])
        value = {"params": params} | ({} if kind is None else {"type": kind})
        valid = validator.is_valid(value)
        assert is_member(space, root, value) == valid, value
        found.add(valid)
    assert found == {False, True}


def test_forty_models_with_default_tags_stay_within_the_limits():
    """Whether "one model and none of 2, 3, 4, … others" has a value is not asked for each number of others."""
    schema_to_rules(models_with_default_tags(40))
