"""The texts that are read as one number: those between the doubles beside it, in each form."""

import math
import random
import re
from decimal import Decimal
from fractions import Fraction

import pytest

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex.tree import Literal, choice, sequence
from structgen.schema.json_text.number_texts import texts_of_number
from structgen.schema.json_text.numbers import exact

VALUES = [
    1, 5, 10, 100, 1000, 123, -7, 0.5, 0.3, 0.1, 0.001, 0.25, 2.5, 12.34, 99.99999999999999, 0.9999999999999999,
    1.0000000000000002, -12.125, 1023.75, 64, 128.5, 0.30000000000000004, 999999.25, 123456789.125, -100,
]  # fmt: skip


def is_matched(store, state, text):
    for byte in text.encode():
        state = store.next(state, byte)
    return bool(store.table.accepting[state])


def near(rng, value):
    """A decimal with few or many digits, equal to a number or near it."""
    digits = Decimal(value if isinstance(value, int) else repr(value))
    distance = Decimal(rng.choice([0, 0, 1, 2, 4, 5, 9])) * rng.choice([1, -1])
    return digits + distance.scaleb(rng.randint(-20, 0))


def spelled(rng, number):
    """A text of a decimal: with more zeros, or an exponent."""
    text = format(number, "f")
    if rng.random() < 0.5 or not number:
        return text + ("0" * rng.randint(0, 3) if "." in text else rng.choice(["", ".0", ".00"]))
    sign, digits, exponent = number.as_tuple()
    exponent += len(digits) - 1
    mantissa = str(digits[0]) + ("." + "".join(map(str, digits[1:])) if digits[1:] else rng.choice(["", ".0"]))
    return "-" * sign + mantissa + rng.choice("eE") + rng.choice(["", "+"] if exponent >= 0 else [""]) + str(exponent)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("is_plain", [False, True])
def test_texts_of_a_number_are_those_between_the_doubles_beside_it(value, is_plain):
    rng = random.Random(f"{value} {is_plain}")
    store = AutomatonStore()
    found = texts_of_number(exact(value), is_whole=False, is_plain=is_plain)
    state = store.add(choice(*[sequence(Literal(begun), rest) for begun, rest in found]))
    low, high = (exact(math.nextafter(value, towards)) for towards in (-math.inf, math.inf))
    refused = 0
    for _ in range(400):
        text = spelled(rng, near(rng, value))
        expected = low < Fraction(text) < high and not (is_plain and re.search("[eE]", text))
        assert is_matched(store, state, text) == expected, text
        refused += expected
    assert refused > 10


@pytest.mark.parametrize("value", [1, 7, 10, 1200, -35])
def test_texts_of_an_integer_among_integers(value):
    store = AutomatonStore()
    found = texts_of_number(value, is_whole=True, is_plain=False)
    state = store.add(choice(*[sequence(Literal(begun), rest) for begun, rest in found]))
    rng = random.Random(value)
    for _ in range(300):
        other = value * rng.choice([1, 1, 10]) + rng.choice([0, 0, 1, -1])
        assert is_matched(store, state, spelled(rng, Decimal(other))) == (other == value)


def test_texts_of_zero():
    store = AutomatonStore()
    found = texts_of_number(0, is_whole=False, is_plain=False)
    state = store.add(choice(*[sequence(Literal(begun), rest) for begun, rest in found]))
    assert all(is_matched(store, state, text) for text in ("0", "-0", "0.0", "-0.000", "0e5", "0.0E-12"))
    assert not any(is_matched(store, state, text) for text in ("0.01", "1", "-1", "0.001e3", "10"))
