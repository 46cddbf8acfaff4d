"""Facts of regexes: whether they match the empty text, another text, or nothing."""

from hypothesis import given
from hypothesis import strategies as st

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.edges import is_nullable
from structgen.kbnf.regex_facts import is_surely_text, survey, without_empty


@given(data=st.data())
def test_against_the_automaton(data, strategies):
    regex = data.draw(strategies["regexes"]())
    store = AutomatonStore()
    assert is_nullable(regex) == survey(regex)[0][id(regex)] == store.matches(store.add(regex), b"")
    rest = without_empty(regex)
    assert not is_nullable(rest)
    assert store.is_empty(rx.difference(rest, regex))
    assert store.is_empty(rx.difference(rx.difference(regex, rx.EMPTY), rest))
    answer = survey(regex)[1]
    assert answer is None or answer != store.is_empty(regex)


@given(data=st.data())
def test_what_the_tree_calls_text_is_text(data, strategies):
    regex = data.draw(strategies["regexes"]())
    if is_surely_text(regex):
        assert AutomatonStore().is_empty(rx.difference(regex, rx.star(rx.ANY_CHAR)))


def test_text_in_the_tree():
    letters, byte = rx.star(rx.Chars(((97, 0xE9),))), rx.ByteSet(1 << 0xFF)
    assert is_surely_text(rx.sequence(letters, rx.Literal("é".encode()), rx.literal_set([b"a", "日".encode()])))
    assert is_surely_text(rx.difference(letters, rx.sequence(byte, letters)))
    assert not is_surely_text(rx.choice(letters, rx.Literal(b"\xff")))
    assert not is_surely_text(rx.Complement(letters))


def test_the_shape_stays():
    letters = rx.Chars(((97, 122),))
    assert without_empty(rx.Repeat(letters, 0, 9)) == rx.Repeat(letters, 1, 9)
    assert without_empty(rx.Repeat(rx.optional(letters), 3, 9)) == rx.Repeat(letters, 1, 9)
    assert without_empty(rx.optional(letters)) == letters
    assert without_empty(rx.Repeat(letters, 0, 0)) == rx.NOTHING
    regex = rx.intersection(rx.Complement(rx.Literal(b"x")), rx.star(letters))
    assert without_empty(regex) == rx.intersection(rx.Complement(rx.Literal(b"x")), rx.plus(letters))
    assert without_empty(rx.plus(letters)) == rx.plus(letters)


def test_multiples():
    assert is_nullable(rx.Multiple(7))
    assert not is_nullable(rx.Multiple(7, 3))
    assert survey(rx.Multiple(7, 3))[1]
    store = AutomatonStore()
    state = store.add(without_empty(rx.Multiple(7)))
    assert [store.matches(state, data) for data in (b"", b"0", b"14", b"15")] == [False, True, True, False]


def test_deep_trees():
    regex = rx.Chars(((97, 98),))
    for _ in range(50_000):
        regex = rx.Repeat(regex, 0, 1)
    assert is_nullable(regex)
    assert survey(regex)[1]
    assert without_empty(regex) == rx.Chars(((97, 98),))
