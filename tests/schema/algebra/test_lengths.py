"""Lengths and numbers of texts from a regex's tree, compared with those from its automaton."""

from hypothesis import given
from hypothesis import strategies as st

from structgen.engine.automata.finite_languages import count_texts, is_finite
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import DEAD
from structgen.engine.regex.tree import ANY_CHAR, Complement, Early, Intersection, Repeat
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.schema.algebra.lengths import bounds, fewest, lengths

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
