"""Number ranges and multiples, by brute force over written numbers."""

import json
import math
import random
import struct
import sys
from decimal import Decimal
from fractions import Fraction

import jsonschema
import pytest
from support.vocabularies import BYTES

import structgen
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.deadlines import Deadline
from structgen.errors import UnsupportedSchemaError
from structgen.limits import Limits
from structgen.schema import resolve
from structgen.schema.algebra import NumberSet
from structgen.schema.json_text.multiples import digits_of_multiples
from structgen.schema.json_text.numbers import decimal_text, exact, integer_range, number_range
from structgen.schema.json_text.terminals import NUMBER, number_regex
from structgen.schema.options import SchemaOptions
from structgen.schema.reading.keywords import base_shape
from structgen.schema.reading.scopes import ROOT

INTEGERS = [str(i) for i in range(-130, 131)]
DECIMALS = [
    f"{sign}{whole}.{digits}"
    for sign in ("", "-")
    for whole in (0, 1, 2, 9, 10, 11, 99, 100, 101)
    for digits in ("0", "00", "1", "01", "5", "25", "50", "75", "99", "999", "001")
]
SCIENTIFIC = [f"{s}{m}e{e}" for s in ("", "-") for m in ("1", "1.5", "9.99", "5") for e in (-3, -2, -1, 0, 1, 2, 3)]
TEXTS = INTEGERS + DECIMALS + SCIENTIFIC
STEPS = [
    None,
    None,
    1,
    2,
    3,
    7,
    12,
    50,
    100,
    *(Fraction(*p) for p in ((1, 10), (1, 2), (1, 4), (3, 10), (5, 2), (7, 100))),
]


def _whole(value):
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


def _sets(seed, count):
    rng = random.Random(seed)
    while count:
        low, high = (rng.choice([None, Fraction(rng.randint(-1300, 1300), rng.choice([1, 10, 100]))]) for _ in "ab")
        low_open, high_open = rng.random() < 0.4 and low is not None, rng.random() < 0.4 and high is not None
        found = NumberSet(low, low_open, high, high_open, rng.choice(STEPS)).reduced()
        if found is not None:
            count -= 1
            yield NumberSet(_whole(found.low), found.low_open, _whole(found.high), found.high_open, found.multiple)


@pytest.mark.parametrize("seed", range(6))
def test_a_text_is_matched_only_in_range_and_every_number_has_a_text(seed):
    for numbers in _sets(seed, 40):
        store = AutomatonStore()
        state = store.add(number_regex(numbers))
        for text in TEXTS:
            value = _whole(Fraction(Decimal(text)))
            if numbers.contains(value):
                assert store.matches(state, decimal_text(value).encode()), (numbers, text)
            else:
                assert not store.matches(state, text.encode()), (numbers, text)


@pytest.mark.parametrize(
    ("low", "high"), [(0, 0), (0, 9), (-3, 3), (17, 17), (19, 123), (-1005, -98), (99, 1000), (None, -1), (1, None)]
)
def test_integer_ranges(low, high):
    store = AutomatonStore()
    state = store.add(integer_range(low, high))
    for number in range(-1200, 1200):
        inside = (low is None or low <= number) and (high is None or number <= high)
        assert store.matches(state, str(number).encode()) == inside
    for text in ("", "-", "-0", "00", "01", "+1", "1.0", "1e1"):
        assert not store.matches(state, text.encode())


def test_free_numbers_are_finite_doubles_in_json_syntax():
    store = AutomatonStore()
    state = store.add(NUMBER)
    for text in (
        "0",
        "-0",
        "-0.0",
        "1e5",
        "1E+05",
        "123.456e-7",
        "9.9e307",
        "5e-307",
        "1e308",
        "1.7976931348623157e+308",
        "5e-324",
        "4.94e-324",
        "0e400",
        "-0.0E-400",
        "1e007",
        "1.05e+001",
        "12.5e-099",
        "0e0",
        "-0.0e5",
        "1" * 64,
        repr(math.pi),
        "1e-07",
    ):
        assert store.matches(state, text.encode()), text
    for text in (
        "",
        "-",
        "01",
        ".5",
        "1.",
        "1e",
        "1e999",
        "+1",
        "NaN",
        "1" * 65,
        "0x1",
        "1.8e308",
        "99e307",
        "2e-324",
        "1e0007",
    ):
        assert not store.matches(state, text.encode()), text


def test_every_double_can_be_written_as_programs_write_it():
    store = AutomatonStore()
    free, positive = store.add(NUMBER), store.add(number_range(0, True, None, False))
    rng = random.Random(7)
    patterns = [1, 2**52, 2**63 - 2**52 - 1, *(rng.randrange(1, 2**63 - 2**52) for _ in range(300))]
    for pattern in patterns:
        (value,) = struct.unpack("<d", pattern.to_bytes(8, "little"))
        for text in (repr(value), f"{value:.15e}".replace("e-", "e-0"), repr(value).upper()):
            if text[0] != "0" and (0 < float(text) <= 1.7e308 or text.lower() == repr(sys.float_info.max)):
                assert store.matches(free, text.encode()), text
                assert store.matches(positive, text.encode()), text
                assert store.matches(free, f"-{text}".encode()), text


@pytest.mark.parametrize("bound", [0.3, 0.1 + 0.2, 1.0, 123456.789, 1e-5, 1e15])
def test_nothing_near_an_open_bound_rounds_to_it(bound):
    store = AutomatonStore()
    number = exact(bound)
    above = store.add(number_range(number, True, None, False))
    below = store.add(number_range(None, False, number, True))
    edge = Decimal(repr(bound))
    for digits in range(14, 24):
        for state, sign in ((above, 1), (below, -1)):
            near = edge + sign * abs(edge) * Decimal(10) ** -digits
            text = format(near, "f")
            if store.matches(state, text.encode()):
                assert (float(text) - bound) * sign > 0, text


def test_floats_stand_for_their_shortest_form():
    assert exact(0.1) == Fraction(1, 10)
    assert exact(1e3) == 1000
    with pytest.raises(ValueError, match="finite"):
        exact(float("inf"))


def test_a_number_that_is_no_integer_does_not_round_to_one():
    store = AutomatonStore()
    state = store.add(number_regex(NumberSet(outside=(1,))))
    assert store.matches(state, b"-1.5")
    assert store.matches(state, b"0.25")
    for text in ("1", "1.0", "9519978278640359948175.7", "0.99999999999999999999"):
        assert not store.matches(state, text.encode()), text


BOUNDS = [
    0.1, 0.3, 0.1 + 0.2, 1.0, 1.0000000000000002, 123456.789, 1e-5, 2.5e-8, 1e15, 1e17, 1.5e22, 1e23, 1e300, 5e-324,
    2**53, 2**53 + 1, 2**63, 10**23, 10**40 + 1, -0.1, -1e23, -(2**53) - 1, 0, -0.0,
]  # fmt: skip


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("keyword", ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"])
def test_texts_near_a_bound_are_valid_as_readers_round_them(walks, keyword, bound):
    schema = {"type": "number", keyword: bound}
    validator = jsonschema.Draft202012Validator(schema)
    store, bounds = AutomatonStore(), (SchemaOptions(), Limits(), Deadline(9))
    for text in (*walks(schema, 15, seed=3, whitespace="compact"), *_near(bound)):
        state = store.add(number_regex(base_shape(schema, ROOT, lambda *_: (), *bounds).numbers[0]))
        if store.matches(state, text.encode()):
            assert validator.is_valid(json.loads(text)), text
            assert validator.is_valid(float(text)) or abs(bound) >= 2**53, text


def _near(bound):
    """Yield numbers around a bound, with more digits than a double holds, and in scientific form."""
    edge = Decimal(bound)
    shortest = Decimal(repr(bound))
    for digits in (0, 8, 15, 16, 17, 18, 19, 20, 25):
        for sign in (-1, 0, 1):
            for near in (edge, shortest):
                value = near + sign * (abs(near) or 1) * Decimal(10) ** -digits
                yield format(value, "f")
                yield f"{value:e}"
                yield str(int(value))


@pytest.mark.parametrize(
    ("schema", "yes", "no"),
    [
        (
            {"multipleOf": 0.01, "minimum": 0, "maximum": 1},
            ["0", "0.5", "0.50", "0.500", "1.0", "1.00", "-0", "5e-1"],
            ["1.01", "0.505", "-0.01", "5e-3"],
        ),
        (
            {"multipleOf": 0.01, "minimum": 1e17, "maximum": 1e17 + 64},
            ["100000000000000000", "100000000000000001", "1e17"],
            ["100000000000000065", "99999999999999999", "1e18"],
        ),
        ({"multipleOf": 1e-16, "exclusiveMaximum": 10, "minimum": 9}, ["9", "9.00000000000001"], ["10", "8.9"]),
        ({"exclusiveMinimum": 0.1, "exclusiveMaximum": math.nextafter(0.1, 1)}, None, None),
        ({"minimum": 2.5e-300, "maximum": 2.5e-300}, ["2.5e-300"], ["2.4e-300"]),
        ({"minimum": 1.5e308}, ["1.5e308", "1.7976931348623157e308", "1.79e308"], ["1e308", "1.4e308", "1.8e308"]),
        ({"minimum": 1e-7, "exclusiveMaximum": 2e-5}, ["1.5e-07", "1.9e-05", "0.00001"], ["2e-05", "9e-08"]),
    ],
)
def test_bounded_multiples_and_small_numbers(accepts, schema, yes, no):
    schema = {"type": "number", **schema}
    if yes is None:  # doubles do not tell them apart
        with pytest.raises(UnsupportedSchemaError):
            accepts(schema)
        return
    accepted = accepts(schema)
    assert all(map(accepted, yes))
    assert not any(map(accepted, no))


def test_multiples_that_doubles_tell_apart_can_be_written(accepts):
    rng = random.Random(11)
    for step in (7, 64, 100, 0.01, 0.5, 0.125):
        accepted = accepts({"type": "number", "multipleOf": step, "minimum": -(2**53)})
        for _ in range(40):
            whole = rng.randrange(10 ** rng.randrange(1, 17)) % 2**53
            value = whole // step * step if isinstance(step, int) else Fraction(whole // 100) * Fraction(str(step))
            value = _whole(Fraction(value))
            texts = [decimal_text(value)]
            texts += [f"{value}.0", f"{value}.000", f"{Decimal(value):.15e}"] if isinstance(value, int) else []
            for text in texts:
                if Fraction(text) == value and len(text.replace(".", "").strip("0")) <= 15:
                    assert accepted(text), (step, text)


@pytest.mark.parametrize(
    ("schema", "yes", "no"),
    [
        ({"multipleOf": 7}, ["564880100410241.0", "9007199254740988.00"], ["564880100410242.0", "9007199254740989.0"]),
        ({"multipleOf": 7, "minimum": 10**15}, ["5648801004102410.0", "5.64880100410241e+15"], ["564880100410241.0"]),
        ({"multipleOf": 0.01}, ["12345678901234567890.0", "1.2345678901234567e+300"], ["0.001", "1e-3"]),
        ({"multipleOf": 0.125, "maximum": 13}, ["12.875", "-1e300", "13.0"], ["1e300", "12.8", "20000000000000000.0"]),
        ({"multipleOf": 64, "minimum": 2**60}, [str(2**60)], [str(2**60 + 1), "64.0"]),
    ],
)
def test_large_multiples(accepts, schema, yes, no):
    """A text that is accepted is read as a multiple, with Python's doubles."""
    accepted = accepts({"type": "number", **schema})
    parse = resolve({"type": "number", **schema}).parse
    for text in yes:
        parse(text)
        assert accepted(text), text
    for text in no:
        assert not accepted(text), text


@pytest.mark.parametrize("bound", [-1887063726809906, -(10**17), 8538543521558442, 2**60])
def test_multiples_beyond_a_far_bound_compile_soon(accepts, bound):
    """Whether there are any with an exponent was searched for among all mantissas: it took seconds."""
    keyword = "maximum" if bound < 0 else "minimum"
    assert not accepts({"type": "number", "multipleOf": 64, keyword: bound})("0")


def test_integers_beside_many_excluded_steps():
    steps = (2, 1.5, 25, 7, 11, 10)
    store = AutomatonStore()
    state = store.add(digits_of_multiples(-50, None, 1, steps))
    for number in range(-60, 300):
        expected = number >= -50 and all(Fraction(number) % Fraction(step) for step in steps)
        assert store.matches(state, str(number).encode()) == expected, number


@pytest.mark.parametrize("numbers", ["any", "plain"])
@pytest.mark.parametrize(
    ("schema", "yes", "no"),
    [
        ({"minimum": 0, "maximum": 409600, "multipleOf": 4096}, ["0", "4096", "409600"], ["4097", "413696"]),
        ({"minimum": -384884, "multipleOf": 4096, "not": {"multipleOf": 3}}, ["-376832", "8192"], ["-385024", "12288"]),
        ({"minimum": 0, "maximum": 1e12, "multipleOf": 3125}, ["3125", "999999996875"], ["31"]),
        ({"minimum": 0, "maximum": 1000, "multipleOf": 1 / 64}, ["0.015625", "999.75", "1000"], ["0.0156", "1000.25"]),
        ({"minimum": -1, "maximum": 1, "multipleOf": 1 / 1024}, ["-0.9990234375", "0.5"], ["0.0009", "1.5"]),
        ({"multipleOf": 1 / 128}, ["-1000000.0078125", "145"], ["0.0078"]),
        ({"multipleOf": 1 / 4096}, ["0.000244140625", "-721383"], ["0.0002"]),
        ({"minimum": -999999999999.75, "multipleOf": 1 / 4096}, ["0.109375", "-0.0625", "0"], ["0.0002"]),
        ({"type": "integer", "minimum": -(10**15), "multipleOf": 10007}, ["0", "10007", "-20014"], ["1"]),
        ({"minimum": 0, "maximum": 1000, "multipleOf": 1.0625}, ["1.0625", "999.8125"], ["1000"]),
    ],
)
def test_masks_of_multiples_take_few_states(numbers, schema, yes, no):
    """Many states were visited to see that a few digits cannot become a multiple."""
    limits = structgen.Limits(automaton_states=60_000)
    constraint = structgen.compile({"type": "number", **schema}, BYTES, numbers=numbers, limits=limits)
    mask = structgen.allocate_token_bitmask(1, BYTES.size)
    for text in (*yes, *no):
        matcher = constraint.matcher()
        for byte in text.encode():
            matcher.fill_next_token_bitmask(mask)
            if not mask[0][byte // 32] >> (byte % 32) & 1:
                break
            matcher.accept_token(byte)
        else:
            assert matcher.is_accepting == (text in yes), text
            continue
        assert text in no
