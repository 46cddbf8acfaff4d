"""Lengths and numbers of texts from a regex's tree, compared with those from its automaton."""

from hypothesis import given
from hypothesis import strategies as st

from structgen.engine.automata.finite_languages import count_texts, is_finite
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.schema.algebra.lengths import fewest, lengths

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
