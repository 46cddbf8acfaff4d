"""Sets of numbers and their written forms, by brute force, and against the standard's validator."""

import random
from decimal import Decimal
from fractions import Fraction

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.vocabularies import BYTES

import structgen
from structgen.engine.automata.store import AutomatonStore
from structgen.errors import SchemaError, UnsupportedSchemaError
from structgen.schema import resolve
from structgen.schema.algebra import NumberSet
from structgen.schema.algebra.numbers import ANY_FORM, DIGITS, OTHER_FORMS
from structgen.schema.json_text.number_terminals import number_regex

STEPS = [
    None,
    None,
    None,
    *(1, 1, 2, 3, 4, 5, 6, 7, 10, 12, 25, 50, 100, 1000),
    *(Fraction(*p) for p in ((1, 10), (1, 2), (1, 4), (3, 10), (5, 2), (7, 100), (1, 100), (1, 10**8), (6, 5))),
]


def _whole(value):
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


def _random_set(rng):
    low, high = (
        rng.choice([None, _whole(Fraction(rng.randint(-1300, 1300), rng.choice([1, 1, 10, 100])))]) for _ in "ab"
    )
    low_open, high_open = low is not None and rng.random() < 0.4, high is not None and rng.random() < 0.4
    outside = tuple({step for step in rng.choices(STEPS, k=rng.choice([0, 0, 1, 1, 2])) if step})
    written = rng.choice([DIGITS, OTHER_FORMS, ANY_FORM, ANY_FORM, ANY_FORM])
    return NumberSet(low, low_open, high, high_open, rng.choice(STEPS), outside, None, written).reduced()


def _random_text(rng):
    if rng.random() < 0.05:
        return rng.choice(["0", "-0", "0.0", "-0.00", "0e0", "0E+5", "-0.0e-3"])
    sign = rng.choice(["", "", "-"])
    whole = str(rng.choice([rng.randint(0, 9), rng.randint(0, 2000), rng.randint(0, 20) * 100]))
    digits = "".join(rng.choice("0000123456789") for _ in range(rng.randint(1, 5)))
    kind = rng.random()
    if kind < 0.3:
        return sign + whole
    if kind < 0.6:
        return f"{sign}{whole}.{digits}"
    exponent = rng.randint(-9, 9)
    mantissa = rng.choice("123456789") + rng.choice(["", f".{digits}"])
    mark = "-" if exponent < 0 else rng.choice(["", "+"])
    return f"{sign}{mantissa}{rng.choice('eE')}{mark}{rng.choice(['', '0'])}{abs(exponent)}"


@pytest.mark.parametrize("seed", range(8))
def test_a_text_is_matched_just_when_its_value_is_a_member(seed):
    rng = random.Random(seed)
    for _ in range(40):
        numbers = _random_set(rng)
        if numbers is None:
            continue
        store = AutomatonStore()
        state = store.add(number_regex(numbers))
        for _ in range(120):
            text = _random_text(rng)
            form = DIGITS if text.lstrip("-").isdigit() else OTHER_FORMS
            expected = numbers.contains(_whole(Fraction(Decimal(text)))) and bool(numbers.written & form)
            if text == "-0":
                expected = expected and numbers.written == ANY_FORM
            assert store.matches(state, text.encode()) == expected, (numbers, text)


def _random_schema(rng, depth=2):
    if depth and rng.random() < 0.5:
        keyword = rng.choice(["allOf", "anyOf", "oneOf", "not"])
        inner = [_random_schema(rng, depth - 1) for _ in range(2)]
        return {"type": rng.choice(["number", "integer"]), keyword: inner[0] if keyword == "not" else inner}
    if rng.random() < 0.2:
        values = [1, 2.0, 1.5, -3, 0, 0.07, 1e3, 15, 0.1, 1e16, 2**53 + 1]
        return {"enum": rng.sample(values, rng.randint(1, 4))}
    schema = {"type": rng.choice(["number", "integer"])} if rng.random() < 0.7 else {}
    for keyword in rng.sample(["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"], rng.randint(0, 2)):
        schema[keyword] = rng.choice([rng.randint(-20, 20), rng.randint(-200, 200) / 10, 0, 0.3, -0.1])
    if rng.random() < 0.5:
        schema["multipleOf"] = rng.choice([1, 2, 3, 5, 10, 0.5, 0.01, 0.1, 0.3, 2.5, 1e-8])
    return schema


@pytest.mark.parametrize("seed", range(8))
def test_combined_schemas_agree_with_the_validator(accepts, seed):
    rng = random.Random(seed)
    for _ in range(25):
        schema = _random_schema(rng)
        schema = schema if "type" in schema else {"type": "number", **schema}
        parse = resolve(schema).parse
        try:
            accepted = accepts(schema)
        except SchemaError as error:
            assert "no value" in str(error), schema
            accepted = None
        for _ in range(60):
            text = _random_text(rng)
            try:
                parse(text)
                valid = True
            except jsonschema.ValidationError:
                valid = False
            assert valid == (accepted is not None and accepted(text)), (schema, text)


@pytest.mark.parametrize("seed", range(4))
def test_random_texts_under_the_mask_are_valid(walks, seed):
    rng = random.Random(100 + seed)
    for _ in range(12):
        schema = {"type": "number", **_random_schema(rng)}
        parse = resolve(schema).parse
        try:
            texts = walks(schema, 8, seed=seed, whitespace="compact")
        except SchemaError as error:
            assert "no value" in str(error), schema
            continue
        for text in texts:
            parse(text)


@pytest.mark.parametrize(
    ("schema", "yes", "no"),
    [
        (
            {"type": "integer"},
            ["0", "-0", "-0.0", "1.0", "1.00", "1e3", "12E+2", "1.5e1", "-2.50e2", "0e5", "1e+308", "9" * 64],
            ["1.5", "1e-1", "1.55e1", "0.1", "01", "1.", "+1", "1e309", "1.8e308"],
        ),
        ({"type": "integer", "minimum": 1}, ["1", "1.0", "12E+2", "1e300"], ["0", "-0", "0.0", "-1", "1.5"]),
        (
            {"type": "integer", "minimum": -3, "maximum": 100},
            ["-3", "-3.0", "-0", "100", "1e2", "1.00e2", "9.9e1"],
            ["-4", "1.01e2", "101", "101.0", "1e3"],
        ),
        ({"type": "integer", "minimum": 2**53 + 1}, [str(2**53 + 1), "9007199254740994.0"], ["9007199254740993.0"]),
        ({"type": "number", "exclusiveMinimum": 2**53}, [str(2**53 + 1)], [f"{2**53 + 1}.0", str(2**53)]),
        ({"const": 1}, ["1", "1.0", "1e0"], ["1.01", "10", "true"]),
        ({"const": 1.0}, ["1", "1.0", "1e0"], ["1.01", "10"]),
        ({"const": 0}, ["0", "-0", "0.0", "-0e-3"], ["0.1", "false"]),
        ({"const": 1e23}, ["1e23", "1e+23", "99999999999999991611392"], ["1" + "0" * 23, "2e23"]),
        ({"const": 5e-324}, ["5e-324"], ["0", "1e-323"]),
        ({"const": 12345678910111213141516}, ["12345678910111213141516"], ["1.2345678910111213e22"]),
        ({"enum": [1.5, 0.07, -20]}, ["1.5", "1.50", "7e-2", "7.0E-02", "-20.0", "-2e1"], ["15", "0.7", "20"]),
        ({"type": "number", "not": {"multipleOf": 3}}, ["1", "1.5", "4e0", "0.3"], ["3", "0", "-0.0", "3e1", "6.0"]),
        ({"type": "number", "not": {"type": "integer"}}, ["1.5", "1e-1"], ["1", "1.0", "1e3", "1.5e1", "0e5"]),
        (
            {"type": "number", "oneOf": [{"multipleOf": 3}, {"multipleOf": 5}]},
            ["3", "9.0", "2.5e1", "5"],
            ["15", "0", "1.5e1", "1"],
        ),
        ({"multipleOf": 1e-8, "type": "number"}, ["1e-8", "1e-08", "1.5e3", "0.12345678"], ["1e-9", "0.123456789"]),
        ({"multipleOf": 10**20, "type": "number"}, ["0", "3" + "0" * 20], ["1", "3" + "0" * 19]),
        ({"type": "integer", "multipleOf": 0.123456789}, ["123456789", "1.23456789e8"], ["1", "1e308"]),
        ({"type": "integer", "multipleOf": 65536}, ["65536", "1.31072e5", "0"], ["65537", "6.5537e4"]),
        ({"allOf": [{"multipleOf": 0.4}, {"multipleOf": 0.6}], "type": "number"}, ["1.2", "12"], ["0.4", "0.6"]),
        ({"type": "number", "minimum": 1e300}, ["1e300", "1.0e+300", str(int(1e300))], ["1" + "0" * 300, "9.9e299"]),
        ({"type": "number", "maximum": 1e23}, ["1e+23", "99999999999999991611392"], ["1" + "0" * 23, "1.1e23"]),
        ({"type": "integer", "maximum": 1e23}, ["1e+23", "99999999999999991611392"], ["1" + "0" * 23, "1.1e23"]),
        ({"type": "number", "maximum": 2**64 - 1}, ["18446744073709551600"], ["18446744073709551616"]),
        ({"type": "integer", "minimum": 3, "exclusiveMinimum": True}, ["4"], ["3", "4.0"]),  # of draft 4
    ],
)
def test_forms_of_numbers(accepts, schema, yes, no):
    accepted = accepts(schema)
    parse = resolve(schema).parse
    for text in yes:
        parse(text)
        assert accepted(text), text
    for text in no:
        assert not accepted(text), text


def test_to_draft_4_a_number_with_a_point_is_no_integer(accepts):
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}
    accepted = accepts(schema)
    assert accepted("1")
    assert accepted("-5")
    assert not accepted("1.0")
    others = accepts({"$schema": schema["$schema"], "not": {"type": "integer"}})
    assert others("1.0")
    assert others("1e3")
    assert not others("1")
    assert not others("-0")
    assert accepts({"$schema": schema["$schema"], "enum": [1]})("1.0")


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), "1", None, [1]])
@pytest.mark.parametrize("keyword", ["minimum", "exclusiveMaximum", "multipleOf"])
def test_what_is_no_finite_number_is_no_bound(accepts, keyword, value):
    with pytest.raises(SchemaError):
        accepts({keyword: value})


@pytest.mark.parametrize("numbers", ["any", "plain"])
@pytest.mark.parametrize("step", [{"multipleOf": 1e-18}, {"not": {"multipleOf": 1e-3}}])
def test_fractions_of_more_than_15_digits_are_refused(accepts, step, numbers):
    with pytest.raises(UnsupportedSchemaError):
        accepts({"type": "number", "exclusiveMinimum": 1, "maximum": 1.0000000000000002, **step}, numbers=numbers)


def test_numbers_that_doubles_do_not_tell_apart_are_refused(accepts):
    with pytest.raises(UnsupportedSchemaError):
        accepts({"type": "number", "exclusiveMinimum": 0.1, "exclusiveMaximum": 0.10000000000000002})
    accepted = accepts({"not": {"enum": [0.1, 0.10000000000000002]}})  # but that gap leaves others
    assert accepted("0.2")
    assert not accepted("0.1")


@pytest.mark.parametrize("divisors", [(2, 3), (2, 3, 5, 7), (1,)])
def test_a_range_all_of_whose_numbers_are_forbidden_is_empty(divisors):
    assert NumberSet(low=2, high=4, multiple=1, outside=divisors).reduced() is None
    assert (NumberSet(low=2, high=12, multiple=1, outside=divisors).reduced() is None) == (1 in divisors)


def test_complements_are_exact():
    rng = random.Random(5)
    for _ in range(200):
        numbers = _random_set(rng)
        if numbers is None:
            continue
        others = numbers.complement()
        for _ in range(20):
            text = _random_text(rng)
            value, form = _whole(Fraction(Decimal(text))), DIGITS if text.lstrip("-").isdigit() else OTHER_FORMS
            inside = numbers.contains(value) and bool(numbers.written & form)
            assert inside != any(other.contains(value) and other.written & form for other in others), (numbers, text)


def test_a_known_integer_of_a_type_is_forced_text(accepts):
    accepted = accepts({"const": 5, "x-structgen-numbers": "digits"})
    assert accepted("5")
    assert not accepted("5.0")


def test_what_may_follow_the_digits_of_a_long_number_may_be_written():
    """A search for the end of a number takes the terms that it passes for dead, but for those that lead to the end."""
    branch = {"if": {"oneOf": [{}, {"minimum": -3}]}, "else": {"multipleOf": 2.5}}
    constraint = structgen.compile({"oneOf": [{"type": "integer"}, {}], **branch}, BYTES, cache=False)
    matcher = constraint.matcher()
    for byte in b"28141767963182.5":
        assert byte in matcher.allowed_token_ids()
        matcher.accept_token(byte)
    assert matcher.is_accepting


@given(st.sampled_from([None, 1, 4, 30, 429]), st.lists(st.integers(1, 60), min_size=1, max_size=4))
def test_divisors_that_refuse_nothing_more_are_left_out(multiple, outside):
    numbers = NumberSet(multiple=multiple, outside=tuple(outside))
    found = numbers.reduced()
    for value in range(0, 5000, multiple or 1):
        assert (found is not None and found.contains(value)) == numbers.contains(value)


def test_the_least_divisors_are_kept():
    assert NumberSet(multiple=429, outside=(6, 7, 8)).reduced().outside == (2, 7)
    assert NumberSet(multiple=4004, outside=(33, 12, 8)).reduced().outside == (3, 8)
    assert NumberSet(outside=(6, 4, 12)).reduced().outside == (6, 4)
    assert NumberSet(multiple=Fraction(1, 2), outside=(3, 6)).reduced().outside == (3,)


def test_integers_that_are_no_multiple_of_many_numbers_are_written_in_digits(accepts):
    primes = [n for n in range(2, 114) if all(n % d for d in range(2, n))]
    schema = {"type": "integer", "allOf": [{"not": {"multipleOf": prime}} for prime in primes]}
    accepted = accepts(schema)
    assert all(accepted(text) for text in ("1", "-1", "127", "16129", str(127**9)))
    assert not any(accepted(text) for text in ("0", "113", str(113 * 127), "127.0", "-0"))
    limits = structgen.Limits(automaton_states=20_000)  # with other forms of numbers, there were 130,000
    assert structgen.compile(schema, BYTES, limits=limits).matcher().allowed_token_ids()
    some = {"type": "integer", "allOf": [{"not": {"multipleOf": prime}} for prime in primes[:4]]}
    assert accepts(some)("127.0")
    assert accepts({**some, "type": "number"})("0.5")


@pytest.mark.parametrize("seed", [1, 2])
def test_multiples_whose_automata_share_their_tables_keep_all_their_texts(seed):
    """What a search has found of one schema's multiples is remembered for the next schemas."""
    rng = random.Random(seed)
    vocabulary = BYTES.detached()
    for _ in range(40):
        step = rng.choice(["2.5", "0.5", "0.25", "3", "12", "0.3", "100"])
        outside = [divisor for divisor in rng.sample([2, 3, 5, 7, 10], rng.randint(0, 2)) if Fraction(step) % divisor]
        schema = {"type": "number", "multipleOf": float(step), "maximum": rng.choice([10, 50, 99, 1000])}
        schema["allOf"] = [{}, *({"not": {"multipleOf": divisor}} for divisor in outside)]
        constraint = structgen.compile(schema, vocabulary, cache=False)
        for text in ["7.5", "2.5", "10", "5.0", "-7.5", "0.3", "12", *(str(rng.randrange(300)) for _ in range(6))]:
            value = Fraction(text)
            is_valid = value % Fraction(step) == 0 and value <= schema["maximum"]
            is_valid &= all(value % divisor for divisor in outside)
            matcher = constraint.matcher()
            reads = matcher.allows_bytes(text.encode())
            if reads:
                matcher.accept_bytes(text.encode())
            assert (reads and matcher.is_accepting) == is_valid, (schema, text)
