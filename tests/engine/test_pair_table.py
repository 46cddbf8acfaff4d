"""`PairTable` against a dict."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from structgen.engine.pair_table import PairTable

FEW = st.integers(0, 9)
MANY = st.integers(0, 2**31 - 1)
PAIRS = st.one_of(st.tuples(FEW, FEW), st.tuples(MANY, FEW), st.tuples(MANY, MANY))
NUMBERS = st.integers(0, 2**31 - 2)


@given(st.lists(st.tuples(PAIRS, NUMBERS), max_size=300), st.lists(PAIRS, max_size=20), st.sampled_from([2, 16, 64]))
def test_pairs_keep_the_numbers_that_they_were_given_last(given_to, others, places):
    table = PairTable(places)
    expected = {}
    for (first, second), number in given_to:
        table.put(first, second, number)
        expected[first, second] = number
        assert len(table) == len(expected)
    for first, second in [*expected, *others]:
        assert table.get(first, second) == expected.get((first, second), -1)


def test_many_pairs_in_a_row():
    table = PairTable()
    for first in range(40):
        for second in range(50):
            table.put(first, second, first * second)
    assert len(table) == 2000
    assert all(table.get(first, second) == first * second for first in range(40) for second in range(50))
    assert table.get(40, 0) == table.get(0, 50) == -1


def test_all_pairs_are_found_at_each_moment_of_a_growth():
    table = PairTable(16)
    expected = {}
    for number in range(700):
        pair = number * 7919 % 1009, number % 3
        table.put(*pair, number)
        expected[pair] = number
        table.put(0, 1, number)  # a pair that may wait to be moved gets a newer number
        expected[0, 1] = number
        assert all(table.get(*pair) == number for pair, number in expected.items())


def test_empty_tables_share_nothing_that_is_written_to():
    first, second = PairTable(), PairTable(2)
    second.put(0, 0, 7)
    assert first.get(0, 0) == -1
    first.put(0, 0, 5)
    assert (first.get(0, 0), second.get(0, 0), PairTable().get(0, 0)) == (5, 7, -1)
