"""Tests of sets of strings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structgen.engine.automata.finite_languages import count_texts, is_finite
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.schema.algebra import Language, StringSet


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


def _language(pattern):
    return Language(f"ecma {pattern}", parse_regex(pattern, "ecma", anchored=False))


_LANGUAGES = st.lists(
    st.sampled_from(
        [
            "^a",
            "b$",
            "^[a-z]*$",
            "^[^a-z]*$",
            "ab|c",
            "^.{1,3}$",
            "^.*$",
            "^(a|bc)$",
            "^[^]{2,}$",
            r"^\W*$",
            "[^]",
            "^(?!ab$)[a-z]*$",
            "^(?!a)[^b]*$",
            "^(?!.*a)[ab]*$",
            "^(?![a-z]*$)[a-z]+$",
        ]
    ).map(_language),
    max_size=3,
    unique=True,
).map(tuple)
_SETS = st.builds(
    StringSet,
    st.integers(0, 2),
    st.none() | st.integers(0, 3),
    _LANGUAGES,
    _LANGUAGES,
    st.sampled_from([(), ("",), ("a", "bc")]),
)


@given(_SETS, st.sampled_from([1, 2, 10, 10_000]))
def test_the_number_of_members_is_that_of_the_automaton(strings, at_most):
    store = AutomatonStore()
    state = store.add(strings.regex())
    expected = count_texts(store, state, at_most) if is_finite(store, state) else at_most
    assert strings.count(at_most) == expected
    assert not (strings.is_surely_endless() and is_finite(store, state))
    assert strings.is_empty() == (store.shortest_text(state) is None)
