"""Multiples of a number, as an automaton over decimal digits."""

import pytest

from structgen.engine.automata import AutomatonStore
from structgen.engine.regex import ByteSet, Intersection, Literal, Multiple, plus, sequence

DIGITS = plus(ByteSet(sum(1 << b for b in b"0123456789")))


@pytest.mark.parametrize("divisor", [1, 2, 7, 12, 77, 1000])
def test_digits_are_taken_when_their_number_is_a_multiple(divisor):
    store = AutomatonStore()
    state = store.add(Intersection((Multiple(divisor), DIGITS)))
    for number in [*range(1500), 10**30 * divisor, 10**30 * divisor + 1]:
        assert store.matches(state, str(number).encode()) == (number % divisor == 0)


def test_a_point_is_skipped_and_a_remainder_is_read_on_from():
    store = AutomatonStore()
    assert store.matches(store.add(Multiple(25)), b"12.25")
    assert not store.matches(store.add(Multiple(25)), b"12.20")
    assert store.matches(store.add(Multiple(7, 1)), b"4")
    assert not store.matches(store.add(Multiple(7, 1)), b"")
    assert store.matches(store.add(sequence(Multiple(7), Literal(b"x"))), b"14x")
