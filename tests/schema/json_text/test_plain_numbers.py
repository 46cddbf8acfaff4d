"""Plain numbers: a part of the texts that validators take, and of every set some text."""

import json
import random
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Annotated

import jsonschema
import pytest
from pydantic import Field

import structgen
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex.tree import Repeat, difference, intersection
from structgen.limits import Limits
from structgen.schema.algebra.numbers import ANY_FORM, DIGITS, OTHER_FORMS, NumberSet
from structgen.schema.json_text.number_terminals import number_regex
from structgen.schema.json_text.numbers import decimal_text
from structgen.schema.json_text.plain_numbers import plain_number_regex, with_any_length
from structgen.schema.json_text.strings import byte_set

BYTES = structgen.Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)} | {256: b""}, eos_token_ids=[256])
BOUNDS = (
    None,
    0,
    1,
    -3,
    120,
    Fraction(1, 10),
    Fraction(-5, 2),
    2**53,
    2**53 + 1,
    10**20,
    -(10**30),
    Fraction(1, 10**40),
)
STEPS = (None, 1, 2, 20, 64, Fraction(1, 100), Fraction(1, 2), Fraction(1, 20), Fraction(3, 4))


def is_empty(regex) -> bool:
    return AutomatonStore(Limits()).is_empty(regex)


@pytest.mark.one_in(8, uncompiled=40)
@pytest.mark.parametrize("seed", range(80))
def test_plain_texts_are_texts_of_the_set_and_no_set_loses_all(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(4):
        numbers = NumberSet(
            rng.choice(BOUNDS),
            rng.random() < 0.3,
            rng.choice(BOUNDS),
            rng.random() < 0.3,
            rng.choice(STEPS),
            rng.choice(((), (), (1,), (2,))),
            rng.choice((None, None, None, (1, Fraction(5, 2), -7), (0, 10**30))),
            rng.choice((ANY_FORM, ANY_FORM, DIGITS, OTHER_FORMS)),
        ).reduced()
        if numbers is not None:
            everything, plain = number_regex(numbers), plain_number_regex(numbers)
            assert is_empty(difference(plain, everything)), numbers
            assert is_empty(plain) == is_empty(everything), numbers


@pytest.mark.parametrize(
    ("schema", "written", "not_written"),
    [
        ({"type": "integer"}, "0 7 -12 99999999999999999", "12.0 1e3 1E+00 -0 100000000000000000"),
        ({"type": "integer", "minimum": 10**20}, "100000000000000000000 123456789012345678901", "1e20 5"),
        ({"type": "integer", "multipleOf": 5}, "0 -15 20", "10.0 2e1 7"),
        ({"type": "number"}, "0 -0 0.25 -12.5 3 0.00000000000000001", "1e5 2.5E-1 00.1 0.000000000000000001"),
        ({"type": "number", "minimum": 0, "maximum": 1}, "0 1 1.0 0.5", "1e0 5e-1 1.1"),
        ({"type": "number", "exclusiveMinimum": 0}, "0.01 12", "0 0.0 1e-3"),
        ({"type": "number", "multipleOf": 0.01}, "0.25 -3.1 7", "0.255 25e-2"),
        ({"type": "number", "minimum": 1e300}, "1e300 2.5E+300", f"7 {int(1e300)}"),
        ({"type": "number", "maximum": -1e300}, "-1e300 -2.5E+300", "-7 1e300"),
        ({"type": "number", "minimum": 0, "maximum": 1e300}, "0 0.25 99999999999999999.5", "-1 1e300 2e5"),
        ({"type": "number", "multipleOf": 0.5}, "0 0.5 -0.5 -2 7.0 12345678901234.5", "-0 -0.0 0.25 0.50 5e-1"),
        ({"type": "number", "multipleOf": 0.25, "exclusiveMinimum": 1}, "1.25 1.5 1.50 2", "1 1.0 1.1 -1.5"),
        ({"type": "number", "multipleOf": 0.05, "minimum": -0.1, "maximum": 0.1}, "-0.1 -0.05 0 0.05 0.10", "0.15 -0"),
        (
            {"type": "number", "multipleOf": 0.01, "minimum": 10**15, "maximum": 10**15 + 1},
            "1000000000000000 1000000000000001.0",
            "1000000000000000.01",  # read as 10**15
        ),
        ({"type": "integer", "multipleOf": 20}, "0 20 -40 100 123456780", "-0 00 10 020 4e1"),
        ({"type": "integer", "multipleOf": 20, "minimum": 30, "maximum": 130}, "40 60 80 100 120", "20 0 140 50"),
        ({"enum": [1, 2.5, 1e300]}, "1 2.5", "1.0 2.50 25e-1"),
        ({"type": "number", "not": {"type": "integer"}}, "0.5 -2.25", "1 5e-1"),
    ],
)
def test_what_is_written(schema: dict, written: str, not_written: str) -> None:
    constraint = structgen.compile(schema, BYTES, numbers="plain")
    for text in written.split() + not_written.split():
        matcher = constraint.matcher()
        try:
            matcher.accept_bytes(text.encode())
            is_written = matcher.is_accepting
        except structgen.TokenRejectedError:
            is_written = False
        assert is_written == (text in written.split()), text


def test_walks_are_valid_and_integers_come_back_as_int() -> None:
    rng = random.Random(5)
    schemas = [
        {"type": "integer", "minimum": -5, "maximum": 5000},
        {"type": "number", "exclusiveMinimum": 0.1, "maximum": 0.3},
        {"type": "number", "minimum": -1.5, "exclusiveMaximum": 1e10},
        {"type": "number", "multipleOf": 0.25},
    ]
    for schema in schemas:
        constraint = structgen.compile(schema, BYTES, numbers="plain")
        for _ in range(20):
            matcher, text = constraint.matcher(), b""
            while (allowed := matcher.allowed_token_ids()) != [256] and not (256 in allowed and rng.random() < 0.2):
                token = rng.choice([token for token in allowed if token != 256])
                matcher.accept_token(token)
                text += bytes([token])
            value = json.loads(text)
            jsonschema.validate(value, schema)
            assert isinstance(value, int) or schema["type"] == "number"


def test_functions_that_run_a_model_and_exports_write_plain_numbers_and_check_reads_all() -> None:
    assert "e" not in structgen.export({"type": "integer"}, "kbnf").split("::=", 2)[2].lower()
    assert structgen.export({"type": "integer"}, "kbnf", numbers="any") != structgen.export({"type": "integer"}, "kbnf")
    for text in ("12", "12.0", "1.2e1"):
        assert structgen.check({"type": "integer"}, text)


@pytest.mark.one_in(4, uncompiled=20)
@pytest.mark.parametrize("step", [Fraction(1, 2), Fraction(1, 4), Fraction(1, 20), Fraction(1, 5), 2, 5, 20, 25, 1000])
@pytest.mark.parametrize("seed", range(8))
def test_multiples_by_their_endings_are_all_multiples(step: Fraction | int, seed: int) -> None:
    rng = random.Random(f"{seed} {step}")
    bounds = [None, *(rng.randint(-60, 60) * step + rng.choice((0, 0, Fraction(1, 8))) for _ in range(2))]
    low, high = rng.choice(bounds), rng.choice(bounds)
    numbers = NumberSet(low, rng.random() < 0.3, high, rng.random() < 0.3, step).reduced()
    if numbers is None:
        return
    store = AutomatonStore()
    state = store.add(plain_number_regex(numbers))
    for count in range(-130, 130):
        for value in (count * step, count * step + Fraction(1, 8)):
            assert store.matches(state, decimal_text(value).encode()) == numbers.contains(value), value


def test_exports_of_numbers_are_short() -> None:
    sizes = {"minimum": 1e300, "maximum": -1e300, "multipleOf": 0.5}
    for keyword, value in sizes.items():
        assert len(structgen.export({"type": "number", keyword: value}, "kbnf")) < 200
    contains = {"type": "array", "items": {"type": "integer"}, "contains": {"const": 7}, "maxItems": 4}
    assert len(structgen.export(contains, "kbnf")) < 1_500
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(structgen.export(Annotated[Decimal, Field(decimal_places=2)], "kbnf")) < 400


@pytest.mark.parametrize("step", [3, 7, 12, 60, 64, Fraction(21, 2)])
@pytest.mark.parametrize(("low", "high"), [(None, None), (0, None), (None, -1), (101, None), (None, 77), (-5, None)])
@pytest.mark.parametrize("outside", [(), (9,)])
def test_multiples_of_any_length(step, low, high, outside):
    """Up to the bound on digits they are the same numbers; beyond it, the same condition holds."""
    numbers = NumberSet(low, False, high, False, step, outside, None, DIGITS).reduced()
    found = with_any_length(numbers)
    digit = byte_set("-0123456789")
    short = Repeat(digit, 0, 18)
    bounded = plain_number_regex(numbers)
    assert is_empty(difference(bounded, found))
    assert is_empty(difference(intersection(found, short), bounded))
    store = AutomatonStore(Limits())
    state = store.add(found)
    rng = random.Random(0)
    for _ in range(50):
        value = rng.choice((-1, 1)) * rng.randrange(10**24, 10**25)
        value -= rng.choice((0, value % Fraction(step).numerator))
        assert store.matches(state, str(value).encode()) == numbers.contains(value), value


@pytest.mark.parametrize("numbers", [{"multiple": 20}, {"multiple": 7, "low": 0, "high": 10**9}, {"values": (1, 2)}])
def test_other_sets_keep_their_bound_on_digits(numbers):
    assert with_any_length(NumberSet(written=DIGITS, **numbers)) is None


@pytest.mark.parametrize("numbers", ["any", "plain"])
@pytest.mark.parametrize("step", [1e-14, 1e-15, 1e-16, 1e-20, 1e-300])
def test_numbers_that_need_more_digits_than_plain_ones_have(numbers, step):
    constraint = structgen.compile({"type": "number", "not": {"multipleOf": step}}, BYTES, numbers=numbers)
    mask = structgen.allocate_token_bitmask(1, BYTES.size)
    constraint.matcher().fill_next_token_bitmask(mask)
    assert mask.any()
