"""Tests of lazily made rules: items and keys differ, counts hold, properties come in any order, without dead ends."""

from __future__ import annotations

import json
import random
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from support.texts import is_read
from support.vocabularies import BYTES

import structgen
from structgen.engine.grammar.tables import Lazy
from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import LimitExceededError, TokenRejectedError, UnsatisfiableSchemaError
from structgen.limits import Limits
from structgen.schema import schema_to_rules
from structgen.schema.algebra.arrays import ArraySet
from structgen.schema.json_text.layout import LAYOUTS
from structgen.schema.options import SchemaOptions
from structgen.schema.rules import to_rules
from structgen.schema.rules.lazy_rules import LazyRules
from structgen.schema.rules.notation import JsonNotation

# Tokens that end a value or a key and begin the next: whether one is allowed depends on its own text.
_PIECES = """{" ":" ", " "," ":{" },{ {"a":1 "a":1,"b" },{"a": [1 1,1 ,1, ,2] 1], 2,1 true, ,true] "a","a "a"] "x","y"
]],[[ null, }} }]} {"b":true,"a":1} "b":2,"c":3} false,false ["a","b"] "},{" 1},{"a":1} [[],[]] [1],[1] , {} []"""
PIECES = _PIECES.split()
END = 400
VOCABULARY = Vocabulary.from_bytes(
    {byte: bytes([byte]) for byte in range(128)}
    | {200 + number: piece.encode() for number, piece in enumerate(dict.fromkeys(PIECES))}
    | {END: b""},
    eos_token_ids=[END],
)

SCALARS: list[Any] = [
    {"type": "integer", "minimum": 0, "maximum": 3},
    {"type": "boolean"},
    {"enum": ["a", "b", 1, None]},
    {"type": "string", "maxLength": 2},
    {"type": "string", "pattern": "^(a|b+)$"},
    {"const": "x"},
    {"type": ["null", "boolean"]},
    {"type": "number"},
    True,
]


def random_schema(rng: random.Random, depth: int = 2) -> Any:
    """Return a schema whose arrays and objects have counts, must differ, and contain values."""
    kind = rng.random()
    if depth == 0 or kind < 0.15:
        return rng.choice(SCALARS)
    if kind < 0.6:
        schema: dict[str, Any] = {"type": "array", "items": random_schema(rng, depth - 1), "maxItems": 4}
        if rng.random() < 0.6:
            schema["uniqueItems"] = True
        if rng.random() < 0.3:
            schema["prefixItems"] = [random_schema(rng, depth - 1) for _ in range(rng.randint(1, 2))]
        if rng.random() < 0.5:
            schema["contains"] = random_schema(rng, 0)
            schema["minContains"] = rng.randint(0, 2)
            if rng.random() < 0.5:
                schema["maxContains"] = rng.randint(1, 2)
        if rng.random() < 0.3:
            schema["minItems"] = rng.randint(1, 3)
        return schema
    names = rng.sample("abcd", rng.randint(0, 3))
    schema = {"type": "object", "properties": {name: random_schema(rng, depth - 1) for name in names}}
    schema["required"] = [name for name in names if rng.random() < 0.4]
    for keyword, most in (("minProperties", 3), ("maxProperties", 4)):
        if rng.random() < 0.4:
            schema[keyword] = rng.randint(1, most)
    if rng.random() < 0.6:
        schema["additionalProperties"] = rng.choice([False, random_schema(rng, 0)])
    if rng.random() < 0.3:
        schema["patternProperties"] = {rng.choice(["^[ab]$", "^[a-d]*$", "e|x"]): random_schema(rng, 0)}
    if rng.random() < 0.4:
        known = {name: random_schema(rng, 0) for name in rng.sample("abex", rng.randint(0, 2))}
        refused = {"properties": known, "additionalProperties": rng.choice([False, random_schema(rng, 0)])}
        schema["not"] = rng.choice([refused, {"anyOf": [refused, {"minProperties": 3}]}, {"patternProperties": known}])
    return schema


def random_value(rng: random.Random, depth: int = 3) -> Any:
    kind = rng.random()
    if depth == 0 or kind < 0.4:
        return rng.choice([None, True, False, 0, 1, 2, 3, 1.5, "a", "b", "bb", "x", "abc"])
    if kind < 0.7:
        return [random_value(rng, depth - 1) for _ in range(rng.randint(0, 4))]
    return {name: random_value(rng, depth - 1) for name in rng.sample("abcdexyz", rng.randint(0, 4))}


def compiled(schema: Any, **options: Any) -> structgen.Constraint[Any] | None:
    try:
        return structgen.compile({"$schema": DRAFT, "allOf": [schema]}, VOCABULARY, whitespace="compact", **options)
    except UnsatisfiableSchemaError:
        return None


DRAFT = "https://json-schema.org/draft/2020-12/schema"


def test_any_order_of_more_properties_than_a_machine_word_has_bits() -> None:
    names = [f"p{number}" for number in range(80)]
    required = names[::2]
    properties = {name: {"type": "boolean"} for name in names}
    schema = {"type": "object", "properties": properties, "required": required}
    constraint = compiled(schema, property_order="any")
    assert constraint is not None
    for seed in range(20):
        rng = random.Random(seed)
        given = [name for name in names if name in required or rng.random() < 0.5]
        rng.shuffle(given)
        missing = rng.choice(required)
        value = dict.fromkeys(given, True)
        assert is_read(constraint, json.dumps(value, separators=(",", ":")))
        del value[missing]
        assert not is_read(constraint, json.dumps(value, separators=(",", ":")))


@pytest.mark.one_in(1, uncompiled=3)
@pytest.mark.parametrize("seed", range(150))
def test_texts_are_accepted_exactly_when_their_values_are_valid(seed: int) -> None:
    rng = random.Random(seed)
    schema = random_schema(rng)
    constraint = compiled(schema, property_order="any")
    validator = jsonschema.Draft202012Validator(schema)
    for _ in range(60):
        value = random_value(rng)
        accepted = constraint is not None and is_read(constraint, json.dumps(value, separators=(",", ":")))
        assert accepted == validator.is_valid(value), (schema, value)


def token_is_accepted(matcher: Matcher, token: int) -> bool:
    try:
        matcher.accept_token(token)
    except TokenRejectedError:
        return False
    matcher.rollback(1)
    return True


@pytest.mark.one_in(1, uncompiled=8)
@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("seed", range(80))
def test_masks_are_what_accept_takes_and_lead_to_valid_ends(seed: int, order: str) -> None:
    rng = random.Random(seed)
    schema = random_schema(rng)
    constraint = compiled(schema, property_order=order)
    if constraint is None:
        pytest.skip("no value satisfies it")
    validator = jsonschema.Draft202012Validator(schema)
    tokens = [token for token in range(END) if VOCABULARY.token_bytes(token)]
    for _ in range(4):
        matcher, text = constraint.matcher(), b""
        while len(text) < 60:
            allowed = matcher.allowed_token_ids()
            assert allowed, (schema, text)
            assert [t for t in allowed if t != END] == [t for t in tokens if token_is_accepted(matcher, t)], text
            if END in allowed and (rng.random() < 0.5 or allowed == [END]):
                break
            token = rng.choice([t for t in allowed if t != END and (t >= 200 or chr(t) not in "\\e.")] or allowed)
            if token == END:
                break
            matcher.accept_token(token)
            text += VOCABULARY.token_bytes(token) or b""
        if matcher.is_accepting:
            assert validator.is_valid(json.loads(text, object_pairs_hook=different)), (schema, text)


def different(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, after checking that its keys differ."""
    assert len({key for key, _ in pairs}) == len(pairs), pairs
    return dict(pairs)


def test_values_seen_leave_no_dead_end_inside_of_an_item() -> None:
    item = {"properties": {"n": {"enum": ["x", "y"]}, "e": {"type": "boolean"}}, "required": ["n", "e"]}
    schema = {"type": "array", "uniqueItems": True, "items": item | {"additionalProperties": False, "type": "object"}}
    constraint = compiled(schema)
    assert constraint is not None
    matcher = constraint.matcher()
    matcher.accept_bytes(b'[{"n":"x","e":true},{"n":"x","e":false},{"n":')
    assert matcher.forced_bytes() == b'"y","e":'
    matcher.accept_bytes(b'"y","e":true},')
    assert matcher.forced_bytes() == b'{"n":"y","e":false}]'


ENDLESS = {"type": "array", "items": {"$ref": "#/$defs/endless"}, "minItems": 1}  # no value: each holds another


@pytest.mark.parametrize(
    ("items", "sizes"),
    [
        ({"prefixItems": [{"type": "null"}, {"$ref": "#/$defs/endless"}]}, {0, 1}),
        ({"prefixItems": [{"type": "null"}, {"$ref": "#/$defs/endless"}], "minItems": 1}, {1}),
        ({"prefixItems": [{"type": "null"}], "items": {"$ref": "#/$defs/endless"}}, {0, 1}),
        ({"items": {"$ref": "#/$defs/endless"}, "maxItems": 2}, {0}),
        ({"prefixItems": [{"type": "null"}], "items": {"type": "null"}, "minItems": 2, "maxItems": 3}, {2, 3}),
        ({"prefixItems": [{"type": "null"}] * 2, "items": {"type": "null"}, "minItems": 1}, {1, 2, 3, 4}),
    ],
)
def test_arrays_end_before_items_that_have_no_value(items: Any, sizes: set[int]) -> None:
    schema = {"$schema": DRAFT, "$defs": {"endless": ENDLESS}, "type": "array", **items}
    printed = structgen.Grammar.kbnf(structgen.export(schema, "kbnf", whitespace="compact"), eager=False)
    made = structgen.compile(schema, VOCABULARY, whitespace="compact")
    for constraint in (made, structgen.compile(printed, VOCABULARY)):
        found = {size for size in range(5) if is_read(constraint, json.dumps([None] * size, separators=(",", ":")))}
        assert found == sizes


@pytest.mark.parametrize("seed", range(20))
def test_no_nonterminal_derives_only_the_place_before_an_array_or_object(seed: int) -> None:
    try:
        tables = schema_to_rules(random_schema(random.Random(seed)))
    except UnsatisfiableSchemaError:
        pytest.skip("no value satisfies it")
    assert tables.source is not None
    for body in tables.source.bodies(tables.lazy[0]):
        assert not isinstance(body[0], Lazy)


def test_a_prefix_whose_values_run_out_is_seen_before_it_is_entered() -> None:
    pair = {"prefixItems": [{"const": "x"}, {"const": "x"}], "contains": {"type": "number"}, "uniqueItems": True}
    assert compiled({"type": "array", "items": {"type": "string"}, **pair}) is None
    nested = {"prefixItems": [{"const": "x"}], "items": {"type": "boolean"}, "uniqueItems": True, "minItems": 2}
    constraint = compiled({"type": "array", "items": {"type": "array", **nested}, "uniqueItems": True})
    assert constraint is not None
    assert is_read(constraint, '[["x",true],["x",true,false],["x",false]]')
    matcher = constraint.matcher()
    matcher.accept_bytes(b'[["x",true],["x",true,false],["x",')
    assert matcher.forced_bytes() == b"false"


@pytest.mark.parametrize("order", ["schema", "any"])
def test_a_known_key_that_is_no_witness_is_a_key_of_its_own(order: str) -> None:
    closed = {"type": "object", "additionalProperties": False}
    schema = closed | {"patternProperties": {"^[a-z]*$": {}}, "not": closed | {"properties": {"k": {}}}}
    constraint = compiled(schema, property_order=order)
    assert constraint is not None
    for text in ('{"a":1}', '{"k":1,"b":2}', '{"b":2,"k":1}'):
        assert is_read(constraint, text), text
    for text in ('{"A":1,"a":1}', '{"a":1,"A":1}', '{"a":1,"a":2}', '{"k":1}', '{"k":1,"b":2,"k":3}', "{}"):
        assert not is_read(constraint, text), text


@pytest.mark.parametrize("order", ["schema", "any"])
def test_a_value_is_the_same_in_every_spelling(order: str) -> None:
    constraint = compiled({"type": "array", "uniqueItems": True}, property_order=order)
    assert constraint is not None
    for text in ("[1,1.0]", "[1,10e-1]", '["a","\\u0061"]', '[{"a":1,"b":2},{"b":2,"a":1}]', "[0,-0.0]", "[[1],[1.0]]"):
        assert not is_read(constraint, text), text
    for text in ("[1,true]", "[0,false]", '["1",1]', "[{},[]]", '[{"a":1,"b":2},{"b":1,"a":2}]'):
        assert is_read(constraint, text), text


@pytest.mark.parametrize("draft", ["draft-04", "draft-07"])
def test_arrays_and_objects_are_compared_in_every_draft(draft: str) -> None:
    constraint = compiled({"$schema": f"http://json-schema.org/{draft}/schema#", "type": "array", "uniqueItems": True})
    assert constraint is not None
    for item in ("[1,2]", '{"a":1,"b":2}'):
        assert is_read(constraint, f"[{item},[3,4],[1,3]]")
        assert not is_read(constraint, f"[{item},[3,4],{item}]")


def test_the_rules_of_many_properties_in_any_order_are_made_as_they_are_met() -> None:
    names = [f"p{number}" for number in range(300)]
    schema = {"properties": {name: {"type": "boolean"} for name in names}, "required": names, "type": "object"}
    constraint = compiled(schema | {"additionalProperties": False}, property_order="any")
    assert constraint is not None
    value = dict.fromkeys(random.Random(0).sample(names, 300), True)
    assert is_read(constraint, json.dumps(value, separators=(",", ":")))
    del value["p7"]
    assert not is_read(constraint, json.dumps(value, separators=(",", ":")))


def test_required_keys_share_the_states_of_the_gap_before_them() -> None:
    """Check that keys share the states of white space and commas before them."""
    made = []
    for names in ("abcd", "ef", "ghij"):
        schema = {"type": "object", "properties": {key: {"type": "null"} for key in names}, "required": list(names)}
        constraint = structgen.compile(schema, VOCABULARY)
        automata = constraint.grammar.shared.automata
        before = automata.count
        matcher = constraint.matcher()
        matcher.accept_bytes(b"{ " + b" , ".join(b'"%s" : null' % name.encode() for name in names) + b" }")
        assert matcher.is_accepting
        made.append(automata.count - before)
    _, two_keys, four_keys = made
    assert four_keys - two_keys <= 2 * len('"g"')


def test_masks_complete_no_spelling_of_a_key_already_written() -> None:
    """Check that a mask allows exactly the accepted tokens after each beginning of a key, for all ways to end a key."""
    names = ["a", "a\U0010ffff", 'é"', "/"]
    texts = ["a", '"', 'a"', '"a"', '"a":', "\U0010ffff", '\U0010ffff"', '\\udbff\\uDFFF"', "\\u0061", '\\u0061"']
    texts += [
        "é",
        '\\u00e9\\"',
        '\\u00E9\\u0022"',
        '\\""',
        '\\""',
        '/"',
        '\\/"',
        '\\/":1',
        '"b":1,"b"',
        "b",
        'b"',
        '{"',
    ]
    tokens = {number: text.encode() for number, text in enumerate(dict.fromkeys([*texts, ":", "1", ",", "{", "}"]))}
    vocabulary = Vocabulary.from_bytes(tokens | {99: b""}, eos_token_ids=[99])
    schema = {"type": "object", "properties": {name: {"const": 1} for name in names}}
    compiled = structgen.compile(schema, vocabulary, whitespace="compact")
    for begun in ("", "{", '{"', '{"a', '{"\\u0061', '{"é', '{"\\u00e9\\', '{"a":1,"', '{"b":1,"', '{"b":1,"b', '{"\\'):
        matcher = compiled.matcher()
        matcher.accept_bytes(begun.encode())
        allowed = set(matcher.allowed_token_ids()) - {99}
        assert allowed == {token for token in tokens if _takes(matcher.fork(), token)}, begun


def _takes(matcher: Matcher, token: int) -> bool:
    try:
        matcher.accept_token(token)
    except TokenRejectedError:
        return False
    return True


def test_an_error_while_rules_of_a_set_are_made_leaves_nothing_half_made() -> None:
    refused = [True, True, False]  # by attempt at the second part

    def make_rules(_: LazyRules, part: ArraySet, number: int) -> Any:
        if part is parts[1] and refused.pop(0):
            raise LimitExceededError("schema_nodes", 1)
        return SimpleNamespace(part=part, number=number)

    parts = [ArraySet(low=low) for low in range(3)]
    space: Any = SimpleNamespace(options=SchemaOptions(), limits=Limits())
    lazy = LazyRules(space, {}, set(), make_rules, JsonNotation(LAYOUTS["any"]))  # type: ignore[arg-type]
    numbers: dict[int, int] = {}
    for low in (0, 1, 1, 2, 1, 0, 1, 2):
        try:
            rules, number = lazy.rules_of(parts[low])
        except LimitExceededError:
            continue
        made: Any = rules
        assert made.part is parts[low] and made.number == number
        assert lazy.numbered(number) is rules
        assert numbers.setdefault(low, number) == number
    assert not refused and sorted(numbers.values()) == [0, 1, 2]


@pytest.mark.one_in(1, uncompiled=3)
@pytest.mark.parametrize("symbols", range(260, 420, 7))
def test_rules_that_pass_a_limit_in_the_making_are_not_left_half_made(symbols: int) -> None:
    different = {"type": "array", "uniqueItems": True, "items": {"enum": list(range(200))}}
    schema = {"properties": {f"p{index}": different for index in range(20)}, "additionalProperties": False}
    compiled = structgen.compile(schema, VOCABULARY, limits=Limits(grammar_symbols=symbols), whitespace="compact")
    matcher = compiled.matcher()
    for _ in range(3):
        with pytest.raises(LimitExceededError, match="grammar_symbols"):
            matcher.accept_bytes(b'{"p0":[' + b",".join(b"%d" % number for number in range(150)))
    matcher.accept_bytes(b'{"p0":[1,2]}')
    assert matcher.is_accepting


def test_the_automaton_of_a_pattern_is_made_where_an_optional_value_begins() -> None:
    vocabulary = Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)})

    def begun(values: list[Any]) -> Matcher:
        properties = {f"key{number:02}": value for number, value in enumerate(values)}
        matcher = structgen.compile({"type": "object", "properties": properties}, vocabulary).matcher()
        matcher.accept_bytes(b'{"key')
        assert matcher.allowed_token_ids()
        return matcher

    def states(matcher: Matcher) -> int:
        return matcher.ask(lambda compiled, at: compiled.shared.automata.count)

    plain = states(begun([{"type": "string"}] * 20))
    matcher = begun([{"type": "string", "pattern": f"^[a-f]{{2}}{number:02}[0-9]+$"} for number in range(20)])
    assert states(matcher) - plain < 20
    matcher.accept_bytes(b'07": "ab07')
    assert set(bytes(matcher.allowed_token_ids())) == set(b"0123456789\\")


UNUSUAL: list[Any] = [
    {"type": "string", "pattern": "a" * 20_000},
    {"type": "string", "pattern": "^a+$", "minLength": 20_000},
    {"type": "string", "format": "date"},
    {"enum": ["é", "a"]},
    {"type": "number", "minimum": 0.1, "maximum": 0.3},
    {"type": "object", "properties": {"é": True}},
    {"type": "object", "required": ["é"]},
]


def test_the_nodes_that_are_checked_are_those_that_a_check_looks_into(monkeypatch: pytest.MonkeyPatch) -> None:
    def looked(*_: Any) -> None:
        raise InterruptedError

    def compare(lazy: LazyRules, root: Any) -> int:
        unsure = lazy.not_surely_writable(lazy.productive)
        with monkeypatch.context() as patch:
            patch.setattr(to_rules, "expressed", looked)
            patch.setattr(to_rules, "_check_size", looked)
            for node in lazy.productive.difference(unsure):
                to_rules._check(lazy, node, lazy.shapes[node])
            for node in unsure:
                with pytest.raises(InterruptedError):
                    to_rules._check(lazy, node, lazy.shapes[node])
        return len(unsure)

    rng = random.Random(5)
    counts: list[int] = []
    for schema in [*UNUSUAL, *[{"$schema": DRAFT, "allOf": [random_schema(rng)]} for _ in range(200)]]:
        try:
            counts.append(to_rules.read_schema(schema, compare))
        except UnsatisfiableSchemaError:
            continue
    assert all(counts[: len(UNUSUAL)])
    assert 0 in counts


def test_keys_that_begin_with_a_control_character_use_up_no_others():
    patterns = {"^[ab]$": {"type": "integer"}, "^\u0000": {"type": "integer"}}
    schema = {"type": "object", "patternProperties": patterns, "additionalProperties": False}
    value = {"\u00000:1": 1, "\u00000:2": 2, "\u00001:1": 3, "a": 4, "b": 5}
    matcher = structgen.compile(schema, BYTES, whitespace="compact").matcher()
    matcher.accept_bytes(json.dumps(value, separators=(",", ":")).encode())
    assert matcher.is_accepting
