"""Lengths and numbers of texts from a regex's tree, compared with those from its automaton."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structgen.engine.automata.finite_languages import count_texts, is_finite, repeats_a_byte
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import DEAD
from structgen.engine.regex.tree import ANY_CHAR, Complement, Early, Intersection, LiteralSet, Repeat
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.schema.algebra.lengths import _SAMPLES, bounds, fewest, has_other_than, lengths, repeated

_COUNTS = st.sampled_from(["?", "*", "+", "{2}", "{0}", "{1,3}", "{0,2}", "{1,}"])
_PATTERNS = st.recursive(
    st.sampled_from(["", "a", "b", "ab", "[ab]", "[a-c]"]),
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("({}|{})".format, inner, inner),
        st.builds("({}){}".format, inner, _COUNTS),
    ),
    max_leaves=6,
)


@given(_PATTERNS)
def test_there_are_at_least_so_many_texts(pattern):
    store, regex = AutomatonStore(), parse_regex(pattern, "python")
    state = store.add(regex)
    assert fewest(regex) > 0
    if is_finite(store, state):
        assert fewest(regex) <= count_texts(store, state, 10_000)


@given(_PATTERNS)
def test_the_shortest_text(pattern):
    store, regex = AutomatonStore(), parse_regex(pattern, "python")
    shortest, is_endless = lengths(regex)
    assert shortest == len(store.shortest_text(store.add(regex)).decode())
    if is_endless:
        assert not is_finite(store, store.add(regex))


@pytest.mark.parametrize(
    ("pattern", "is_endless"),
    [
        ("^(?!all$).*$", True),
        ("^(?!.*foo).*$", True),
        ("^(?!foo)(?!ba+)[a-z0-9]+$", True),
        ("^(?!.*[a-y])[a-z]*$", True),
        ("^(?!.*[a-z])[a-z]*$", False),  # the empty text only
        ("^(?!a*$)a*$", False),  # none
    ],
)
def test_classes_without_some_texts(pattern, is_endless):
    store, regex = AutomatonStore(), parse_regex(pattern, "ecma", anchored=False)
    assert lengths(regex) == (None, is_endless)
    assert bool(is_finite(store, store.add(regex))) is not is_endless


@given(_PATTERNS)
def test_all_texts_keep_within_the_bounds(pattern):
    store, regex = AutomatonStore(), parse_regex(pattern, "python")
    low, high = bounds(regex)
    state = store.add(regex)
    assert low <= len(store.shortest_text(state).decode())
    if high == float("inf"):
        return
    longer = store.meet([regex, Repeat(ANY_CHAR, int(high) + 1, None)])
    assert longer == DEAD


def test_bounds_of_conditions_together():
    digits = parse_regex("[0-9]{2,9}", "python")
    few = parse_regex("[^]{0,5}", "ecma")
    assert bounds(Intersection((digits, few))) == (2, 5)
    assert bounds(Early(digits)) == (2, 9)
    assert bounds(Complement(digits)) == (0, float("inf"))


_OF_SAMPLES = st.recursive(
    st.sampled_from(["", "a", "é", "aa", "_-", "[a-z]", "[^a]", ".", r"\w", r"\W", "[^]"]),
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("({}|{})".format, inner, inner),
        st.builds("({}){}".format, inner, _COUNTS),
    ),
    max_leaves=6,
)


@given(_OF_SAMPLES, st.booleans())
def test_texts_that_repeat_a_character(pattern, anchored):
    store, regex = AutomatonStore(), parse_regex(pattern, "ecma", anchored=anchored)
    found, state = repeated(regex), store.add(regex)
    for number, sample in enumerate(_SAMPLES):
        if not found >> number & 1:
            assert not any(store.matches(state, (sample * count).encode()) for count in range(1, 9))


def test_texts_that_repeat_a_character_of_other_trees():
    digits = parse_regex("[0-9]{2,9}", "python")
    zeros, nines = 1 << _SAMPLES.index("0"), 1 << _SAMPLES.index("9")
    assert repeated(digits) == repeated(Early(digits)) == zeros | nines
    assert repeated(Intersection((digits, parse_regex("[0-4]*", "python")))) == zeros
    assert repeated(LiteralSet((b"", b"00", b"0a"))) == zeros
    assert repeated(parse_regex("a?0b?", "python")) == zeros
    assert repeated(parse_regex("a*-*", "python")) == 1 << _SAMPLES.index("a") | 1 << _SAMPLES.index("-")
    assert repeated(parse_regex("(ab){0}", "python")) == 0


def test_the_texts_outside_of_some_languages():
    assert has_other_than([])
    assert has_other_than([repeated(parse_regex(pattern, "ecma")) for pattern in ("^[a-z]*$", "^[0-9]*$")])
    assert not has_other_than([repeated(parse_regex(pattern, "ecma")) for pattern in ("^/*$", "^[^/]*$")])
    assert not has_other_than([repeated(Complement(parse_regex("a", "ecma")))])  # it is not known


@given(_PATTERNS)
def test_a_byte_is_repeated_only_by_endless_languages(pattern):
    store = AutomatonStore()
    state = store.add(parse_regex(pattern, "python"))
    assert not (repeats_a_byte(store, state) and is_finite(store, state))
