"""Tests of sets of strings."""

import pytest

from structgen.schema.algebra import StringSet


@pytest.mark.parametrize(
    "strings",
    [
        StringSet(high=0),
        StringSet(high=0, excluded=("",)),
        StringSet(high=1, excluded=("a", "b")),
        StringSet(low=2, high=3),
        StringSet(texts=("a", "b")),
        StringSet(low=1, high=1, texts=("a",)),
    ],
)
def test_no_more_strings_are_promised_than_there_are(strings):
    assert strings.surely_many() <= strings.count(10**8) or strings.count(10**8) == 10**8


def test_strings_with_a_bound_are_many():
    assert StringSet(low=3, high=128).surely_many() > 10**20
