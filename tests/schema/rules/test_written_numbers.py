"""Numbers that must differ: the terminal made of texts has the language of the one made anew; masks are exact."""

import itertools
import json
import random

import jsonschema
import pytest
from support.judging_schemas import assert_walks_are_valid, compiled_or_none
from support.texts import is_read
from support.vocabularies import BYTES
from support.walks import Sampler

import structgen
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex.tree import difference
from structgen.schema.algebra.numbers import DIGITS, NumberSet
from structgen.schema.json_text.number_terminals import numbers_regex
from structgen.schema.json_text.plain_numbers import plain_numbers_regex
from structgen.schema.json_text.values import freeze, numbers_of
from structgen.schema.rules import written_numbers
from structgen.schema.rules.written_numbers import WrittenNumbers, number_pieces
from structgen.schema.rules.written_sets import with_written

PARTS = [
    NumberSet(), NumberSet(multiple=1), NumberSet(multiple=1, written=DIGITS), NumberSet(low=0),
    NumberSet(low=0, low_open=True), NumberSet(low=0, high=1000, multiple=1), NumberSet(low=-5, multiple=1),
    NumberSet(low=0, high=100), NumberSet(high=0, high_open=True), NumberSet(high=99, multiple=1),
    NumberSet(low=1, high=20, multiple=1), NumberSet(low=10, low_open=True, high=15, high_open=True),
]  # fmt: skip
ODD = [
    0.001, 0.5, 1e-5, -0.25, 1e23, 2.0**60, 0.1, 0.9999999999999999, 1.0000000000000002, 99.99999999999999, 1e-30,
    1e300, 123456789012345.6,
]  # fmt: skip
LARGE = [10**15 - 1, 10**15, 2**53, 2**53 + 1, 10**17 - 1, 10**17, 10**20, -(2**60)]
NUMBERS = [
    {"type": "integer"}, {"type": "number"}, {"type": "integer", "minimum": 0, "maximum": 3},
    {"type": "number", "minimum": 0}, {"type": "number", "exclusiveMinimum": 0, "maximum": 2},
    {"type": "integer", "minimum": -1}, {"type": "integer", "multipleOf": 5}, {"enum": [0, 1, 2.5, 10]},
    {"type": "integer", "minimum": 8, "maximum": 12}, {"type": "number", "multipleOf": 0.5},
]  # fmt: skip
OTHERS = [{"type": "string"}, {"type": "null"}, {"enum": ["a", "b"]}, {"type": "string", "pattern": "^[ab]$"}]
TEXTS = [
    "1", "1.0", "1e0", "10e-1", "0", "-0", "0.0", "0e3", "10", "1e1", "12", "2", "3", "2.5", "2.50", "25e-1", "0.5",
    "-1", "5", "15", "1.5e1", '"a"', '"b"', "null", "1.01", "100", "1E2", "8", "11", "[1]", "[1.0]", '{"a":1}',
    '{"a":1e0}',
]  # fmt: skip
SAMPLER = Sampler(BYTES, longest=200, repeats=0.5)


def random_number(rng, part):
    draws = [
        lambda: rng.randint(-20, 20),
        lambda: rng.choice([1, -1]) * (10 ** rng.randint(0, 6) + rng.randint(-2, 2)),
        lambda: rng.randint(-2000, 2000),
        lambda: rng.choice(LARGE) if rng.random() < 0.2 else rng.randint(0, 9),
    ]
    if part.multiple is None:
        draws += [
            lambda: round(rng.uniform(-100, 100), 2),
            lambda: round(rng.uniform(1, 10), rng.randint(1, 15)),
            lambda: rng.choice([1, -1]) * 10.0 ** rng.randint(-2, 6),
            lambda: rng.choice(ODD) if rng.random() < 0.5 else rng.randint(0, 9) / 4,
        ]
    return freeze(rng.choice(draws)())


@pytest.mark.one_in(5, uncompiled=40)
@pytest.mark.parametrize("seed", range(200))
def test_the_language_is_that_of_the_terminal_made_anew(seed, monkeypatch):
    monkeypatch.setattr(written_numbers, "_MIN_KEPT", 0)
    rng = random.Random(seed)
    part, is_plain, is_line = rng.choice(PARTS), rng.random() < 0.5, rng.random() < 0.7
    store, kept = AutomatonStore(), WrittenNumbers()
    written = frozenset()
    for _ in range(rng.randint(2, 16)):
        written = with_written(written, random_number(rng, part))
        if rng.random() < 0.3:
            with_written(written, freeze(rng.randint(0, 9)))  # a value that is tried, and not written
        found = kept.terminal((part,), written if is_line else frozenset(written), is_plain=is_plain)
        if found is None or rng.random() < 0.4:
            continue
        pieces = tuple(number_pieces(part, sorted(numbers_of(written))))
        anew = (plain_numbers_regex if is_plain else numbers_regex)(pieces)
        assert store.is_empty(difference(found, anew)) and store.is_empty(difference(anew, found))


def test_values_of_several_texts_do_not_mix():
    kept = WrittenNumbers()
    rng, store = random.Random(1), AutomatonStore()
    sets = [with_written(frozenset(), freeze(1))]
    for number in range(40):
        sets.append(with_written(rng.choice(sets), freeze(rng.choice([number, number + 0.5, 7]))))
    for written in rng.sample(sets, 20):
        found = kept.terminal((NumberSet(),), written, is_plain=False)
        anew = numbers_regex(tuple(number_pieces(NumberSet(), sorted(numbers_of(written)))))
        assert store.is_empty(difference(found, anew)) and store.is_empty(difference(anew, found))


def random_schema(rng):
    item = rng.choice(NUMBERS)
    if rng.random() < 0.4:
        item = {"anyOf": [item, rng.choice(OTHERS)]}
    if rng.random() < 0.15:
        item = {"type": "array", "items": item, "maxItems": 2}
    elif rng.random() < 0.15:
        item = {"type": "object", "properties": {"a": item}, "required": ["a"], "additionalProperties": False}
    schema = {"type": "array", "items": item, "uniqueItems": True}
    others = {"prefixItems": [rng.choice(NUMBERS)], "minItems": rng.randint(1, 3), "maxItems": rng.randint(2, 5)}
    return schema | {keyword: others[keyword] for keyword in rng.sample(list(others), rng.randint(0, 2))}


@pytest.mark.one_in(3, uncompiled=15)
@pytest.mark.parametrize("seed", range(150))
def test_unique_numbers_have_the_language_of_jsonschema(seed):
    rng = random.Random(seed)
    schema = random_schema(rng)
    validator = jsonschema.Draft202012Validator(schema)
    constraint = compiled_or_none(schema)
    assert_walks_are_valid(constraint, SAMPLER, validator, rng, 3)
    for _ in range(80):
        texts = [rng.choice(TEXTS) for _ in range(rng.randint(0, 5))]
        has_one_form = all(text != "10e-1" and text != "25e-1" for text in texts)  # the others may be refused
        text = f"[{', '.join(texts)}]"
        accepted = constraint is not None and is_read(constraint, text)
        valid = validator.is_valid(json.loads(text))
        assert accepted == valid or (valid and not has_one_form), text


def values_of(schema):
    """All values of a schema, and their texts."""
    if "enum" in schema:
        return [(json.dumps(value), freeze(value)) for value in schema["enum"]]
    return [(str(value), freeze(value)) for value in range(schema["minimum"], schema["maximum"] + 1)]


PIECES = [b"0", b"1", b"2", b",", b"]", b"null", b'"a"']
TOKENS = {bytes([byte]) for byte in b'0123456789-[],"ab{}:nul'}
TOKENS |= {b"".join(text) for size in (2, 3) for text in itertools.product(PIECES, repeat=size)}
SMALL = structgen.Vocabulary.from_bytes(dict(enumerate(sorted(TOKENS))))


@pytest.mark.parametrize(
    "items",
    [
        [{"type": "integer", "minimum": 0, "maximum": 3}],
        [{"type": "integer", "minimum": 9, "maximum": 12}],
        [{"type": "integer", "minimum": -1, "maximum": 1}, {"enum": ["a", None]}],
        [{"type": "integer", "minimum": 1, "maximum": 2}, {"enum": ["a", "b"]}],
        [{"enum": [0, 1, 10, 12]}],
    ],
)
@pytest.mark.parametrize("bounds", [{}, {"minItems": 2}, {"maxItems": 2}, {"minItems": 3, "maxItems": 3}])
def test_masks_allow_the_beginnings_of_all_valid_texts_and_no_others(items, bounds):
    schema = {"type": "array", "items": {"anyOf": items}, "uniqueItems": True} | bounds
    values = [value for item in items for value in values_of(item)]
    sizes = range(bounds.get("minItems", 0), bounds.get("maxItems", len(values)) + 1)
    texts = {
        "[" + ",".join(text for text, _ in chosen) + "]" for n in sizes for chosen in itertools.permutations(values, n)
    }
    begun = {text[:size].encode() for text in texts for size in range(len(text) + 1)}
    constraint = structgen.compile(schema, SMALL, cache=False, whitespace="compact", numbers="plain")
    matcher = constraint.matcher()
    tokens = {token: SMALL.token_bytes(token) for token in range(SMALL.size)}
    for start in sorted(begun, key=len)[:: 1 if len(begun) < 400 else 3]:
        matcher.reset()
        matcher.accept_bytes(start)
        allowed = set(matcher.allowed_token_ids())
        assert allowed == {token for token, text in tokens.items() if start + text in begun}, start
        assert matcher.is_accepting == (start.decode() in texts)


@pytest.mark.parametrize("numbers", ["any", "plain"])
@pytest.mark.parametrize("kind", ["integer", "number"])
def test_a_prefix_of_a_seen_number_may_go_on(kind, numbers):
    schema = {"type": "array", "items": {"type": kind}, "uniqueItems": True}
    constraint = structgen.compile(schema, BYTES, numbers=numbers)
    assert is_read(constraint, "[1, 12]") and not is_read(constraint, "[1, 1]") and is_read(constraint, "[1, -1]")
    if kind == "number":
        assert is_read(constraint, "[1, 1.01]") and not is_read(constraint, "[1, 1.0]")
        assert not is_read(constraint, "[1, 2, 1.00]") and not is_read(constraint, "[7, 0.25, 3, 0.250]")
        assert not is_read(constraint, "[3, 0.1, 4, 0.10000000000000001]")  # read as the same double
    if numbers == "any":
        assert not is_read(constraint, "[1, 1e0]") and not is_read(constraint, "[5, 10, 1e1]")
        assert not is_read(constraint, "[3, 0, -0]") and not is_read(constraint, "[3, -0, 0e7]")


@pytest.mark.parametrize("numbers", ["any", "plain"])
@pytest.mark.parametrize("items", [{"type": "integer"}, {"type": "number"}, {"type": ["number", "string", "null"]}])
def test_more_items_make_no_more_automaton_states_each(items, numbers):
    schema = {"type": "array", "items": items, "uniqueItems": True}
    constraint = structgen.compile(schema, BYTES, cache=False, numbers=numbers)
    matcher = constraint.matcher()
    rng, counts = random.Random(1), []
    for number in range(90):
        text = ("," if number else "[") + str(rng.randint(1000, 99_999))
        for byte in text.encode():
            matcher.allowed_token_ids()
            matcher.accept_token(byte)
        counts.append(constraint.grammar.sets.automata.count)
    assert counts[89] - counts[59] < 1.5 * (counts[59] - counts[29])


@pytest.mark.parametrize("seed", range(20))
def test_bounded_items_have_the_masks_of_the_general_rules(seed):
    rng = random.Random(seed)
    low = rng.randint(0, 3)
    schema = {
        "type": "array",
        "items": {"type": "integer", "minimum": 0, "maximum": rng.randint(2, 12)},
        "uniqueItems": True,
    }
    if rng.random() < 0.4:
        schema["maxItems"] = rng.randint(3, 5)
    if rng.random() < 0.4:
        schema["prefixItems"] = [{"type": "integer", "minimum": 1, "maximum": 3}]
    plain = structgen.compile({**schema, "minItems": low}, BYTES, cache=False).matcher()
    counted = structgen.compile({**schema, "contains": True, "minContains": low}, BYTES, cache=False).matcher()
    one, other = structgen.allocate_token_bitmask(2, BYTES.size)
    for _ in range(60):
        plain.fill_next_token_bitmask(one)
        counted.fill_next_token_bitmask(other)
        assert (one == other).all()
        allowed = [byte for byte in b"[],0123" if one[byte >> 5] >> (byte & 31) & 1]
        if not allowed:
            break
        byte = rng.choice(allowed)
        plain.accept_token(byte)
        counted.accept_token(byte)
