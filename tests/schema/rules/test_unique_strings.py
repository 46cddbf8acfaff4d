"""Strings that must differ are refused where they end, as keys are: a mask costs little however many were written."""

import json
import random

import jsonschema
import pytest
from support.judging_schemas import assert_walks_are_valid, compiled_or_none
from support.texts import is_read
from support.vocabularies import BYTES, accepted_tokens, check_along
from support.walks import Sampler

import structgen
from structgen.engine.vocabulary.vocabulary import Vocabulary

STRINGS = [
    {"type": "string"}, {"type": "string", "pattern": "^[ab]+$"}, {"type": "string", "maxLength": 1},
    {"type": "string", "pattern": "^(a|bé|\"c)$"}, {"type": "string", "minLength": 2}, {"not": {"type": "number"}},
    {"type": ["string", "null"]}, {"type": "string", "pattern": "a*"}, {"enum": ["a", "b", "ab"]},
]  # fmt: skip
VALUES = ["a", "b", "ab", "aa", "", "bé", '"c', "/", None]
SAMPLER = Sampler(BYTES, longest=300, repeats=0.6)


def random_schema(rng):
    others = {
        "prefixItems": lambda: rng.sample(STRINGS, 2),
        "contains": lambda: rng.choice([{"const": "a"}, {"minLength": 2}]),
        "minItems": lambda: rng.randint(1, 3),
        "maxItems": lambda: rng.randint(2, 4),
        "not": lambda: {"enum": [["a"], ["a", "b"]]},
    }
    chosen = rng.sample(list(others), rng.randint(0, 2))
    schema = {"type": "array", "items": rng.choice(STRINGS), "uniqueItems": True}
    return schema | {keyword: others[keyword]() for keyword in chosen}


@pytest.mark.one_in(3, uncompiled=10)
@pytest.mark.parametrize("seed", range(120))
def test_unique_strings_have_the_language_of_jsonschema(seed):
    rng = random.Random(seed)
    schema = random_schema(rng)
    validator = jsonschema.Draft202012Validator(schema)
    constraint = compiled_or_none(schema)
    assert_walks_are_valid(constraint, SAMPLER, validator, rng, 3)
    for _ in range(60):
        value = [rng.choice(VALUES) for _ in range(rng.randint(0, 4))]
        accepted = constraint is not None and is_read(constraint, json.dumps(value, ensure_ascii=False))
        assert accepted == validator.is_valid(value), value


def test_a_string_is_refused_in_every_spelling():
    constraint = structgen.compile({"items": {"type": "string"}, "type": "array", "uniqueItems": True}, BYTES)
    assert is_read(constraint, '["a/", "a"]')
    assert not is_read(constraint, '["a/", "\\u0061\\/"]')
    assert not is_read(constraint, '["\\u0061\\/", "a/"]')


@pytest.mark.parametrize("items", [{"type": "string"}, {"type": "string", "pattern": "^[a-z]+$"}])
def test_more_items_make_no_more_automaton_states(items):
    schema = {"type": "array", "items": items, "uniqueItems": True}
    constraint = structgen.compile(schema, BYTES, cache=False)
    matcher = constraint.matcher()
    counts = []
    rng = random.Random(1)
    for number in range(60):
        text = ("," if number else "[") + json.dumps("".join(rng.choices("abcdef", k=8)))
        for byte in text.encode():
            matcher.allowed_token_ids()
            matcher.accept_token(byte)
        counts.append(constraint.grammar.sets.automata.count)
    assert counts[-1] == counts[10]


@pytest.mark.parametrize("seed", range(20))
def test_distinct_items_without_end_have_the_masks_of_the_general_rules(seed):
    rng = random.Random(seed)
    schema = {"type": "array", "items": rng.choice(STRINGS[:3]), "uniqueItems": True}
    if rng.random() < 0.5:
        schema["maxItems"] = rng.randint(2, 3)
    if rng.random() < 0.5:
        schema["prefixItems"] = [{"type": rng.choice(["string", "integer"])}]
    low = rng.randint(1, 2)
    plain = structgen.compile({**schema, "minItems": low}, BYTES, cache=False).matcher()
    counted = structgen.compile({**schema, "contains": True, "minContains": low}, BYTES, cache=False).matcher()
    one, other = structgen.allocate_token_bitmask(2, BYTES.size)
    for _ in range(40):
        plain.fill_next_token_bitmask(one)
        counted.fill_next_token_bitmask(other)
        assert (one == other).all()
        allowed = [byte for byte in b'[]", ab1' if one[byte >> 5] >> (byte & 31) & 1]
        if not allowed:
            break
        byte = rng.choice(allowed)
        plain.accept_token(byte)
        counted.accept_token(byte)


# --- strings with a bound: many, but not infinitely many --------------------------------------------------------------

TOKENS = rb"""[ ] " a b \ n 1 , "," ", a"," ab","b "a" a"] "]""".split()
VOCABULARY = Vocabulary.from_bytes(dict(enumerate(TOKENS)), eos_token_ids=[len(TOKENS)])


def short_strings(rng):
    high = rng.randint(0, 3)
    items = {"type": rng.choice(["string", ["string", "integer"]]), "maxLength": high}
    if rng.random() < 0.4:
        items["minLength"] = rng.randint(0, high)
    if rng.random() < 0.3:
        items["not"] = {"enum": rng.sample(["", "a", "b", "ab"], 2)}
    return items


def array_of_short_strings(rng):
    array = {"type": "array", "uniqueItems": True, "items": short_strings(rng)}
    if rng.random() < 0.5:
        array["maxItems"] = rng.randint(1, 5)
    if rng.random() < 0.3:
        array["prefixItems"] = [short_strings(rng), {"const": "a"}][: rng.randint(1, 2)]
    return array


@pytest.mark.one_in(1, uncompiled=10)
@pytest.mark.parametrize("seed", range(60))
def test_masks_of_strings_with_a_bound_are_what_is_accepted(seed):
    rng = random.Random(seed)
    schema = array_of_short_strings(rng)
    constraint = structgen.compile(schema, VOCABULARY, whitespace="compact")
    for _ in range(4):
        check_along(constraint.matcher(), len(TOKENS), VOCABULARY.size, rng, 14)


@pytest.mark.one_in(1, uncompiled=10)
@pytest.mark.parametrize("seed", range(40))
def test_texts_of_strings_with_a_bound_end_with_items_that_differ(seed):
    rng = random.Random(seed)
    schema = array_of_short_strings(rng) | {"minItems": rng.randint(0, 3), "maxItems": rng.randint(3, 5)}
    constraint = compiled_or_none(schema)
    assert_walks_are_valid(
        constraint, Sampler(BYTES, longest=120, late=40), jsonschema.Draft202012Validator(schema), rng, 3
    )


# --- texts that are refused at their ends, or earlier -----------------------------------------------------------------

PIECES = (
    b""""," ", a"," ab","b "a" a"] "]" aa ba aab bab "a","b" a","b"," b","ab abab ":1 ":1," a":1,"b bb","a""".split(
        b" "
    )
)
ALL_BYTES = [bytes([byte]) for byte in range(256)]
BYTES_AND_PIECES = Vocabulary.from_bytes(dict(enumerate(ALL_BYTES + PIECES)), eos_token_ids=[256 + len(PIECES)])
PATTERNS = [
    "^[ab]*$", "^(a|bb)*$", "^[ab]+(b[ab]+)*$", "^[ab]{2}$", "^[ab]{1,4}$", "^a", "ab", "^(ab|a)*b?$",
    "^([ab]{2}){0,3}$",
]  # fmt: skip


def bounded(rng):
    found = {"maxLength": rng.choice([1, 2, 3, 4, 5, 6, 8, 10])}
    if rng.random() < 0.7:
        found["pattern"] = rng.choice(PATTERNS)
    if rng.random() < 0.3:
        found["minLength"] = rng.randint(0, min(3, found["maxLength"]))
    if rng.random() < 0.25:
        found["not"] = rng.choice([{"enum": ["a", "ab"]}, {"pattern": "ba"}, {"pattern": "^aa"}])
    return found


def with_bounded_items_or_keys(rng):
    counts = {"minItems": rng.randint(0, 4), "maxItems": rng.randint(5, 7)}
    if rng.random() < 0.6:
        items = bounded(rng) | {"type": rng.choice(["string", ["string", "null"]])}
        return {"type": "array", "uniqueItems": True, "items": items} | counts
    found = {"type": "object", "additionalProperties": {"const": 1}, "propertyNames": bounded(rng)}
    if rng.random() < 0.5:
        found["properties"] = {name: {"const": 1} for name in rng.sample(["a", "ab", "abab", "bb"], 2)}
    return found | {"minProperties": counts["minItems"], "maxProperties": counts["maxItems"]}


@pytest.mark.one_in(2, uncompiled=20)
@pytest.mark.parametrize("seed", range(120))
def test_bounded_items_and_keys_never_get_stuck(seed):
    rng = random.Random(seed)
    schema = with_bounded_items_or_keys(rng)
    if compiled_or_none(schema) is None:
        return
    constraint = structgen.compile(schema, BYTES_AND_PIECES, whitespace="compact")
    validator = jsonschema.Draft202012Validator(schema)
    matcher = constraint.matcher()
    text = b""
    for step in range(120):
        allowed = matcher.allowed_token_ids()
        assert allowed == accepted_tokens(matcher, BYTES_AND_PIECES.size)
        assert allowed, (schema, text)
        if allowed[-1] == BYTES_AND_PIECES.size - 1 and (step > 20 or len(allowed) == 1):
            assert validator.is_valid(json.loads(text))
            break
        left = [token for token in allowed if set(BYTES_AND_PIECES.token_bytes(token)) <= set(b'ab",[]{}:1')]
        ends = [token for token in left if BYTES_AND_PIECES.token_bytes(token) in (b'"', b"]", b"}")]
        token = rng.choice(ends if ends and rng.random() < 0.4 else left or allowed[:1])
        matcher.accept_token(token)
        text += BYTES_AND_PIECES.token_bytes(token)


def test_a_token_that_ends_an_item_and_begins_a_full_one():
    """The item `"ab"` that has ended leaves the next one no text that begins with `"ab`."""
    schema = {"type": "array", "uniqueItems": True, "items": {"type": "string", "maxLength": 2}}
    matcher = structgen.compile(schema, BYTES_AND_PIECES, whitespace="compact").matcher()
    matcher.accept_bytes(b'["a","b","a')
    assert 256 + PIECES.index(b'b","ab') not in matcher.allowed_token_ids()


@pytest.mark.parametrize("length", [50, 100, 300])
def test_items_with_a_bound_take_about_the_states_of_items_without(length):
    counts = []
    for high in (None, length):
        items = {"type": "string"} if high is None else {"type": "string", "maxLength": high}
        constraint = structgen.compile({"type": "array", "items": items, "uniqueItems": True}, BYTES, cache=False)
        matcher = constraint.matcher()
        for number in range(20):
            for byte in (("," if number else "[") + f'"item number {number}"').encode():
                matcher.allowed_token_ids()
                matcher.accept_token(byte)
        counts.append(constraint.grammar.sets.automata.count)
    assert counts[1] < counts[0] + 60  # one for each character that is left


def many_ends(*ends):
    """Return a vocabulary in which 101 tokens end a string and begin what follows, for each of some ends."""
    tokens = [
        b'["',
        b'{"',
        b"ab",
        b'"',
        b",",
        b"]",
        b":",
        b"}",
        b"1",
        *(f"{end}{n}".encode() for end in ends for n in ("", *range(100))),
    ]
    return Vocabulary.from_bytes(dict(enumerate(tokens)), eos_token_ids=[len(tokens)])


MANY_ENDS = many_ends('", "', '","', '",\n"', '":', '": ')


@pytest.mark.parametrize(
    "items",
    [
        {"type": "string"},
        {"type": "string", "maxLength": 200},
        {"type": "string", "pattern": "^(?!all$).*$"},
        {"type": "string", "pattern": "^(?!.*foo)[^/]*$"},
        {"type": "string", "not": {"pattern": "^foo"}},
        {"type": "string", "not": {"const": "all"}},
    ],
)
def test_many_tokens_that_enter_the_next_item(items):
    """Many tokens after an end are a mask of bits. They are not read one by one: there are always more strings."""
    constraint = structgen.compile({"type": "array", "items": items, "uniqueItems": True}, MANY_ENDS)
    matcher = constraint.matcher()
    sets = constraint.grammar.sets
    for text in (b'["', b"ab", b'", "', b"ab", b"ab", b'","'):
        matcher.accept_bytes(text)
        before = sets.table.count
        allowed = matcher.allowed_token_ids()
        made = sets.table.count - before
        assert allowed == accepted_tokens(matcher, MANY_ENDS.size)
        assert made < 50 or text == b"ab"  # `"ab"` may be refused


def test_many_tokens_after_a_key_that_is_refused():
    schema = {"type": "object", "additionalProperties": {"type": "integer"}, "properties": {"ab": False}}
    matcher = structgen.compile(schema, MANY_ENDS).matcher()
    for text in (b'{"', b"ab", b"ab", b'":1', b", ", b'"', b"ab", b"ab"):
        matcher.accept_bytes(text)
        assert matcher.allowed_token_ids() == accepted_tokens(matcher, MANY_ENDS.size)
