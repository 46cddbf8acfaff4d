"""Tests that Python's garbage collector does not traverse the values that schemas and rules are made of."""

import gc
import os

import pytest
from support.vocabularies import BYTES

import structgen
from structgen.engine.grammar.tables import Capture, Lazy
from structgen.engine.regex.tree import ANY_CHAR, Literal, Repeat, Sequence
from structgen.schema.algebra import ANY, EVERYTHING, ArraySet, Language, ObjectSet, StringSet
from structgen.schema.reading.dialects import dialect_of
from structgen.schema.reading.scopes import ROOT, Resource, Scope, Subschema, pointer
from structgen.schema.rules.states import ArrayState, ObjectState, OtherKeys, Property

RESOURCE = Resource("", {}, ROOT, dialect_of({}, lambda _: None))
VALUES = [
    Literal(b"a"),
    Repeat(ANY_CHAR, 0, None),
    Sequence((ANY_CHAR, Literal(b"a"))),
    Lazy(("value", ANY)),
    Capture(ANY_CHAR, ("then", ()), True),
    EVERYTHING,
    ObjectSet({"a": ANY}),
    ArraySet((ANY,)),
    StringSet(within=(Language("any", Repeat(ANY_CHAR, 0, None)),)),
    Property("a", ANY, (), True),
    OtherKeys(0, StringSet(), (), 1),
    ObjectState(0, seen=frozenset("a")),
    ArrayState(0, (0,)),
    RESOURCE,
    Scope(RESOURCE, RESOURCE.dialect),
    Subschema({}, (ROOT, "a"), Scope(RESOURCE, RESOURCE.dialect)),
]


@pytest.mark.skipif(os.environ.get("STRUCTGEN_UNCOMPILED") == "1", reason="plain Python tracks every object")
@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_are_not_tracked(value):
    assert not gc.is_tracked(value)


@pytest.mark.parametrize("make", [ObjectState, lambda count: ArrayState(count, ())], ids=["object", "array"])
def test_equal_states_name_one_rule(make):
    assert make(1) == make(1) and hash(make(1)) == hash(make(1))
    assert make(1) != make(2)
    assert make(1) != 1


def test_languages_of_one_name_are_equal_and_hash_so():
    one, other = (Language("a", Literal(text)) for text in (b"x", b"y"))
    assert one == other and hash(one) == hash(other)
    assert len({StringSet(within=(one,)), StringSet(within=(other,))}) == 1


def test_pointers_of_places():
    assert pointer(ROOT) == ""
    assert pointer(((ROOT, "$defs"), "a/b~")) == "/$defs/a~1b~0"
    assert pointer((((), "https://a.test/s"), "items")) == "https://a.test/s#/items"


@pytest.mark.parametrize("depth", [300, 2_000])
def test_items_that_nest_too_deep_to_be_compared_are_named(depth):
    matcher = structgen.compile({"type": "array", "uniqueItems": True}, BYTES).matcher()
    try:
        matcher.accept_bytes(b"[" + b"[" * depth + b"]" * depth + b"," + b"[" * 400)
        matcher.allowed_token_ids()
    except structgen.LimitExceededError as error:
        assert "nests too deep" in str(error)
    else:
        assert depth < 2_000
