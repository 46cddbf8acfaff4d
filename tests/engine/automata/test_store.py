"""Byte automata against what the regex trees say they denote, and against `interegular`."""

from __future__ import annotations

import os
import random

import interegular
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.regex_trees import LONGEST, TEXT, TEXTS, byte_set, meaning, trees

from structgen.engine.automata import store as automata
from structgen.engine.automata.finite_languages import count_texts, is_finite
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex.tree import (
    ANY_BYTES,
    ANY_CHAR,
    EMPTY,
    Chars,
    Choice,
    Complement,
    Early,
    Intersection,
    Literal,
    LiteralSet,
    Multiple,
    Regex,
    Repeat,
    Sequence,
    Substrings,
    difference,
    intersection,
    literal_set,
    optional,
    plus,
    repeat,
    sequence,
    star,
)
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.errors import LimitExceededError
from structgen.limits import Limits


def check(regex: Regex) -> None:
    """Walks all short texts: acceptance, and death exactly where nothing can follow."""
    store = AutomatonStore()
    start = store.add(regex)
    expected = meaning(regex)
    for text in sorted(TEXTS):
        state = start
        for byte in text:
            state = store.step(state, byte)
        assert store.is_accepting(state) == (text in expected), text
        assert store.matches(start, text) == (text in expected), text
        if state == 0:
            assert not any(t.startswith(text) for t in expected), text
        else:
            assert store.shortest_text(state) is not None  # only state 0 is dead
            assert store.has_next(state) or store.is_accepting(state)
    if expected:
        assert len(store.shortest_text(start)) <= min(map(len, expected))


@settings(max_examples=250)
@given(trees)
def test_automaton_matches_what_the_tree_denotes(regex: Regex) -> None:
    check(regex)


@settings(max_examples=60)
@given(trees, trees)
def test_laws_of_sets(left: Regex, right: Regex) -> None:
    store = AutomatonStore()

    def same(one: Regex, other: Regex) -> bool:
        return store.is_empty(difference(one, other)) and store.is_empty(difference(other, one))

    assert same(Complement(Complement(left)), left)
    assert same(Complement(Choice((left, right))), Intersection((Complement(left), Complement(right))))
    assert store.is_empty(Intersection((left, Complement(left))))
    assert same(Choice((left, Complement(left))), ANY_BYTES)
    assert same(star(Choice((left, right))), star(Sequence((star(left), star(right)))))


@settings(max_examples=250)
@given(trees, trees)
def test_terms_without_common_characters_match_nothing_together(left: Regex, right: Regex) -> None:
    store = AutomatonStore()
    if store.alphabets.leave_nothing((store.add(left), store.add(right))):
        assert not meaning(left) & meaning(right)
        assert store.is_empty(Intersection((left, right)))


@settings(max_examples=250)
@given(trees)
def test_no_text_is_longer_than_the_longest(regex: Regex) -> None:
    store = AutomatonStore()
    longest = store.alphabets.longest(store.add(regex))
    assert all(len(text) <= longest for text in meaning(regex))


def test_a_text_needs_a_character_that_others_do_not_have() -> None:
    store = AutomatonStore()
    with_at = store.add(Sequence((Repeat(byte_set(b"ab"), 1, 9), Literal(b"@"), star(byte_set(b"ab")))))
    without = store.add(star(byte_set(b"abc.")))
    assert store.alphabets.leave_nothing((with_at, without))
    assert not store.alphabets.leave_nothing((with_at, store.add(star(byte_set(b"abc@")))))
    assert not store.alphabets.leave_nothing((with_at, store.add(Complement(Literal(b"@")))))


@settings(max_examples=60)
@given(trees)
def test_finite_languages_are_counted(regex: Regex) -> None:
    store = AutomatonStore()
    inside = store.add(Intersection((regex, Repeat(byte_set(b"abc"), 0, LONGEST))))
    assert is_finite(store, inside)
    assert count_texts(store, inside, 10_000) == len(meaning(regex))
    assert count_texts(store, inside, 3) == min(3, len(meaning(regex)))


patterns = st.recursive(
    st.sampled_from(["a", "b", "c", "[ab]", "[^a]", "."]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda p: f"({p[0]}|{p[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{2,}"])).map(lambda p: f"({p[0]}){p[1]}"),
    ),
    max_leaves=6,
)


@settings(max_examples=60)
@given(patterns, patterns)
def test_relations_agree_with_interegular(left: str, right: str) -> None:
    one, other = interegular.parse_pattern(left).to_fsm(), interegular.parse_pattern(right).to_fsm()
    store = AutomatonStore()
    ours, theirs = parse_regex(left, "python"), parse_regex(right, "python")
    assert store.is_empty(intersection(ours, theirs)) == (one & other).empty()
    assert store.is_empty(difference(ours, theirs)) == (one - other).empty()
    assert store.is_empty(difference(theirs, ours)) == (other - one).empty()


def test_both_speeds_are_what_they_claim() -> None:
    uncompiled = automata.__file__.endswith(".py")
    assert uncompiled or os.environ.get("STRUCTGEN_UNCOMPILED") != "1"


# --- sharing ---------------------------------------------------------------------------------------------------------


def test_equal_rests_are_one_state() -> None:
    store = AutomatonStore()
    one = store.add(Literal(b'"name":"x"'))
    other = store.add(Literal(b'"game":"x"'))
    assert store.matches(one, b'"name":"x"') and not store.matches(one, b'"game":"x"')
    for byte in b'"n':
        one = store.step(one, byte)
    for byte in b'"g':
        other = store.step(other, byte)
    assert one == other
    assert store.add(sequence(Literal(b"ab"), Literal(b"c"))) == store.add(Literal(b"abc"))


def test_long_literals_share_their_ends() -> None:
    store = AutomatonStore()
    data = bytes(random.Random(1).randrange(256) for _ in range(5000))
    start = store.add(Literal(data))
    other = store.add(Literal(b"?" + data[777:]))
    for byte in data[:777]:
        start = store.step(start, byte)
    assert start == store.step(other, ord("?"))
    assert store.matches(start, data[777:])


def test_the_transitions_that_walks_read_are_those_of_next() -> None:
    store = AutomatonStore()
    state = store.add(Literal(b"null"))
    store.expand(state)
    assert store.only_byte.values[state] == ord("n")
    assert store.only_target.values[state] == store.step(state, ord("n"))
    many = store.add(parse_regex("[ab]c"))
    store.expand(many)
    assert store.only_byte.values[many] == -1
    for start in (state, many):
        for byte in range(256):
            target = store.partitions.target_pool[
                store.partitions.targets_at.values[start]
                + store.partitions.class_of[store.partitions.map_at.values[start] * 256 + byte]
            ]
            assert target == store.step(start, byte)
    assert store.step(many, ord("a")) == store.step(many, ord("b")) == store.add(Literal(b"c"))
    end = store.add(EMPTY)
    store.expand(end)
    assert store.only_byte.values[end] == 256 and store.is_accepting(end) and not store.has_next(end)


@settings(max_examples=100)
@given(trees)
def test_no_class_of_bytes_is_without_bytes(regex: Regex) -> None:
    store = AutomatonStore()
    waiting = [store.add(regex)]
    seen: set[int] = set()
    while waiting and len(seen) < 30:
        state = waiting.pop()
        seen.add(state)
        reached = {store.next(state, byte) for byte in range(256)}
        assert set(store.derivatives.targets(state)) == reached
        waiting.extend(reached - seen)


@settings(max_examples=200)
@given(trees)
def test_which_bytes_lead_on_is_told_before_it_is_known_where_to(regex: Regex) -> None:
    store = AutomatonStore()
    waiting = [store.add(regex)]
    seen: set[int] = {0}
    while waiting and len(seen) < 20:
        state = waiting.pop()
        if state in seen:
            continue
        seen.add(state)
        told = [store.leads_on(state, byte) for byte in range(256)]
        store.expand(state)
        reached = [store.next(state, byte) for byte in range(256)]
        assert told == [target != 0 for target in reached]
        leading = [byte for byte in range(256) if told[byte]]
        only = leading[0] if len(leading) == 1 else 256 if not leading else -1
        assert store.only_byte.values[state] == only
        waiting.extend(reached)


def test_arrays_survive_growing() -> None:
    store = AutomatonStore()
    starts = {text: store.add(Literal(text)) for text in (b"text-%d" % n for n in range(3000))}
    store.add(parse_regex("[ab]{3}"))
    assert all(store.matches(state, text) for text, state in starts.items())
    assert all(not store.matches(state, text + b"!") for text, state in starts.items())


# --- counts ----------------------------------------------------------------------------------------------------------


def test_counted_repetitions_are_not_expanded() -> None:
    store = AutomatonStore()
    not_quote = Chars(((0, 33), (35, 0xD7FF), (0xE000, 0x10FFFF)))
    state = store.add(sequence(Literal(b'"'), Repeat(not_quote, 0, 1_000_000), Literal(b'"')))
    assert store.count < 10
    state = store.step(state, ord('"'))
    assert store.as_counted(state) == (store.add(not_quote), 0, 1_000_000, store.add(Literal(b'"')))
    for byte in "aé€𝄞".encode():
        state = store.step(state, byte)
    assert store.as_counted(state) == (store.add(not_quote), 0, 999_996, store.add(Literal(b'"')))
    assert store.count < 60


def test_as_counted() -> None:
    store = AutomatonStore()
    letter = parse_regex("[a-z]")
    empty = store.add(EMPTY)
    assert store.as_counted(store.add(star(letter))) == (store.add(letter), 0, -1, empty)
    assert store.as_counted(store.add(repeat(letter, 3, 7))) == (store.add(letter), 3, 7, empty)
    assert store.as_counted(store.add(sequence(plus(letter), Literal(b"!")))) == (
        store.add(letter),
        1,
        -1,
        store.add(Literal(b"!")),
    )
    assert store.as_counted(store.add(Literal(b"abc"))) is None
    assert store.as_counted(0) is None


def test_as_counted_tells_no_dead_state() -> None:
    store = AutomatonStore()
    nothing = Intersection((parse_regex("a+"), parse_regex("b+")))
    state = store.add(sequence(Repeat(nothing, 0, 5), Literal(b"c")))
    assert store.as_counted(state) is None
    assert store.matches(state, b"c") and not store.matches(state, b"ac")
    wrapped = store.add(Repeat(Choice((nothing, Literal(b"d"))), 2, 3))
    assert store.as_counted(wrapped) == (store.add(Literal(b"d")), 2, 3, store.add(EMPTY))


def test_counts_of_one_body_merge() -> None:
    store = AutomatonStore()
    letter = parse_regex("[a-z]")
    assert store.add(sequence(letter, repeat(letter, 2, 3))) == store.add(repeat(letter, 3, 4))
    assert store.add(Choice((repeat(letter, 1, 3), repeat(letter, 4, 9), EMPTY))) == store.add(repeat(letter, 0, 9))
    assert store.add(star(star(letter))) == store.add(star(letter))
    assert store.add(Repeat(Repeat(letter, 0, 100), 0, 100)) == store.add(repeat(letter, 0, 10_000))
    assert store.add(Intersection((repeat(letter, 2, 9), repeat(letter, 5, None)))) == store.add(repeat(letter, 5, 9))
    assert store.is_empty(Intersection((Repeat(ANY_CHAR, 10_000, None), Repeat(ANY_CHAR, 0, 9_999))))


def test_counts_with_gaps_do_not_merge() -> None:
    store = AutomatonStore()
    for regex in (Repeat(Repeat(Literal(b"a"), 2, 2), 0, 2), Choice((repeat(Literal(b"a"), 1, 1), Literal(b"aaa")))):
        check(regex)
    state = store.add(Repeat(Repeat(Literal(b"a"), 3, 4), 1, 2))
    assert [n for n in range(12) if store.matches(state, b"a" * n)] == [3, 4, 6, 7, 8]


def test_nested_counts_stay_affordable() -> None:
    store = AutomatonStore()
    inner = sequence(Repeat(Literal(b"a"), 0, 100), optional(Literal(b"b")))
    state = store.add(Repeat(inner, 0, 100))
    assert store.matches(state, b"a" * 10_000 + b"b")
    assert not store.matches(state, b"a" * 10_001)
    assert store.matches(state, b"ab" * 100) and not store.matches(state, b"ab" * 101)
    assert store.count < 40_000


def test_the_usual_blow_ups_stay_near_the_minimal_automaton() -> None:
    store = AutomatonStore()
    state = store.add(parse_regex("(a|b)*a(a|b){10}"))
    rng = random.Random(3)
    text = bytes(rng.choice(b"ab") for _ in range(20_000))
    assert store.matches(state, text) == (text[-11:-10] == b"a")
    assert store.count < 4 * 2**11
    store = AutomatonStore()
    state = store.add(sequence(TEXT, Literal(b"foobar"), TEXT))
    assert store.matches(state, "xfoofoobärfoobar€".encode())
    assert store.count < 60
    state = store.add(parse_regex("(a?){50}(b?){50}a{50}"))
    assert store.matches(state, b"a" * 100)


def test_many_optional_parts() -> None:
    store = AutomatonStore()
    parts = [optional(Literal(b"%d," % n)) for n in range(500)]
    state = store.add(sequence(*parts))
    assert store.matches(state, b"".join(b"%d," % n for n in range(0, 500, 7)))
    assert not store.matches(state, b"7,3,")


# --- the other kinds of trees ----------------------------------------------------------------------------------------


def test_early_ends_at_the_first_chance() -> None:
    store = AutomatonStore()
    state = store.add(Early(parse_regex(r"(?s).*\*/")))
    assert store.matches(state, b"a * / */") and not store.matches(state, b"a */ */")
    for byte in b"**/":
        state = store.step(state, byte)
    assert store.is_accepting(state) and not store.has_next(state)
    assert store.add(Early(star(ANY_CHAR))) == store.add(EMPTY)


def test_large_literal_sets() -> None:
    store = AutomatonStore()
    texts = [b"entry-%d-%d" % (n * 7919 % 100_003, n) for n in range(100_000)]
    regex = literal_set(texts)
    state = store.add(sequence(Literal(b'"'), regex, Literal(b'"')))
    assert store.count < 10
    for text in texts[::9_973]:
        assert store.matches(state, b'"' + text + b'"')
        assert not store.matches(state, b'"' + text[:-1] + b'"') or text[:-1] in texts
    assert store.count < 2_000


def test_all_bytes_in_a_literal_set() -> None:
    store = AutomatonStore()
    state = store.add(LiteralSet(tuple(bytes((n,)) + b"!" for n in range(256))))
    assert all(store.matches(state, bytes((n,)) + b"!") for n in range(256))
    choice_state = store.add(Choice(tuple(Literal(bytes((n, n))) for n in range(256))))
    assert all(store.matches(choice_state, bytes((n, n))) for n in range(256))
    assert not store.matches(choice_state, b"\xff\xfe")


def test_unsorted_literal_sets_are_sorted() -> None:
    store = AutomatonStore()
    state = store.add(LiteralSet((b"b", b"a", b"b", b"")))
    assert [store.matches(state, t) for t in (b"a", b"b", b"", b"c")] == [True, True, True, False]


@settings(max_examples=100)
@given(
    st.lists(st.sampled_from(["a", "b", "é", "€", "ê"]), max_size=12), st.lists(st.sampled_from("abéê€"), max_size=5)
)
def test_substrings_are_runs_of_whole_units(units: list[str], text: list[str]) -> None:
    store = AutomatonStore()
    state = store.add(Substrings(tuple(u.encode() for u in units)))
    assert store.matches(state, "".join(text).encode()) == ("".join(text) in "".join(units))
    assert not store.matches(state, b"\xc3")


def test_substrings_of_a_long_text() -> None:
    store = AutomatonStore()
    rng = random.Random(5)
    text = "".join(rng.choice("abcdé") for _ in range(20_000))
    state = store.add(Substrings(tuple(c.encode() for c in text)))
    assert store.matches(state, text[5_000:5_400].encode())
    assert not store.matches(state, (text[5_000:5_400] + "!").encode())
    assert store.count < 1_000


def test_multiples_inside_of_other_trees() -> None:
    store = AutomatonStore()
    digits = plus(byte_set(b"0123456789"))
    sevens = Intersection((Multiple(7), digits))
    state = store.add(plus(Sequence((Choice((sevens, Literal(b"x"))), Literal(b";")))))
    assert store.matches(state, b"14;x;21;") and not store.matches(state, b"14;15;")
    state = store.add(sequence(Repeat(Multiple(7), 2, 2), Literal(b"!")))
    assert store.matches(state, b"714!") and store.matches(state, b"!") and not store.matches(state, b"72!")


# --- emptiness -------------------------------------------------------------------------------------------------------


def test_dead_states_are_found() -> None:
    store = AutomatonStore()
    assert store.is_empty(Intersection((parse_regex("a+"), parse_regex("b+"))))
    assert store.is_empty(difference(parse_regex("[ab]{2,5}"), parse_regex("[a-c]*")))
    assert not store.is_empty(difference(parse_regex("[ab]{2,5}"), parse_regex("[a-c]{0,4}")))
    state = store.add(Intersection((parse_regex("(ab|cd)x*"), parse_regex("(ad|cd|a)[xy]+z?"))))
    assert store.step(state, ord("a")) == 0  # abx* against ad and a: nothing is left
    assert store.shortest_text(state) == b"cdx"


def test_a_complement_of_everything_in_disguise_is_empty() -> None:
    store = AutomatonStore()
    nothing = Early(Intersection((Literal(b"a"), Literal(b"aa"))))
    assert store.is_empty(Complement(star(Sequence((star(nothing), ANY_BYTES)))))


def test_lengths_and_patterns_together() -> None:
    store = AutomatonStore()
    state = store.add(intersection(Repeat(ANY_CHAR, 1000, 2000), sequence(TEXT, Literal(b"foo"), TEXT)))
    assert len(store.shortest_text(state)) == 1000
    exact = store.add(intersection(Repeat(ANY_CHAR, 6, 6), sequence(TEXT, Literal(b"foo"), TEXT)))
    for byte in "é€𝄞".encode():
        exact = store.step(exact, byte)
    assert store.shortest_text(exact) == b"foo"  # nothing else is still long enough
    assert count_texts(store, exact, 100) == 1


def test_no_byte_leads_out_of_utf8() -> None:
    store = AutomatonStore()
    state = store.add(star(ANY_CHAR))
    for bad in (
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xe0\x80\x80",
        b"\xf0\x80\x80\x80",
        b"\x80",
        b"\xff",
    ):
        assert not store.matches(state, bad)
        with pytest.raises(UnicodeDecodeError):
            bad.decode()
    single = store.add(ANY_CHAR)
    assert count_texts(store, single, 2_000_000) == 0x110000 - 0x800
    for code_point in (*range(0x300), *range(0x7F0, 0x900, 7), 0xD7FF, 0xE000, 0xFFFF, *range(0x10000, 0x110000, 4099)):
        assert store.matches(single, chr(code_point).encode())


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 0x10FFFF), st.integers(0, 3000)), min_size=1, max_size=4), st.data())
def test_character_classes(pairs: list[tuple[int, int]], data: st.DataObject) -> None:
    ranges: list[tuple[int, int]] = []
    for low, size in sorted(pairs):
        high = min(low + size, 0x10FFFF)
        if not ranges or low > ranges[-1][1] + 1:
            ranges.append((low, high))
    store = AutomatonStore()
    state = store.add(Chars(tuple(ranges)))
    edges = sorted({c for low, high in ranges for c in (low - 1, low, high, high + 1) if 0 <= c <= 0x10FFFF})
    for code_point in [*edges, data.draw(st.integers(0, 0x10FFFF))]:
        if not 0xD800 <= code_point <= 0xDFFF:
            expected = any(low <= code_point <= high for low, high in ranges)
            assert store.matches(state, chr(code_point).encode()) == expected
    total = sum(1 for low, high in ranges for c in range(low, high + 1) if not 0xD800 <= c <= 0xDFFF)
    assert count_texts(store, state, 1_000_000) == total


def test_infinite_languages() -> None:
    store = AutomatonStore()
    assert not is_finite(store, store.add(parse_regex("a*b")))
    assert is_finite(store, store.add(parse_regex("a{0,50}b")))
    assert is_finite(store, 0) and count_texts(store, 0, 5) == 0
    assert count_texts(store, store.add(parse_regex("[ab]*")), 1000) == 1000
    assert store.shortest_text(0) is None


# --- limits ----------------------------------------------------------------------------------------------------------


def test_too_many_states_leave_the_store_usable() -> None:
    store = AutomatonStore(Limits(automaton_states=300))
    small = store.add(parse_regex("(ab|cd)*"))
    assert store.matches(small, b"abcd")
    state = store.add(parse_regex("(a|b)*a(a|b){20}"))
    rng = random.Random(1)
    with pytest.raises(LimitExceededError) as caught:
        store.matches(state, bytes(rng.choice(b"ab") for _ in range(10_000)))
    assert caught.value.limit == "automaton_states" and caught.value.value == 300
    assert store.matches(small, b"cdab") and not store.matches(small, b"ba")


def test_endless_searches_are_bounded() -> None:
    store = AutomatonStore(Limits(automaton_states=2_000))
    may_be_empty = [sequence(star(byte_set(b"ab")), Literal(b"a"), Repeat(byte_set(b"ab"), n, n)) for n in range(14)]
    with pytest.raises(LimitExceededError):
        store.add(Intersection((*may_be_empty, Repeat(byte_set(b"ab"), 0, 13), Complement(Literal(b"a" * 14)))))


def test_deep_trees_are_limits_or_work() -> None:
    tree: Regex = Literal(b"a")
    for _ in range(100_000):
        tree = Repeat(Choice((tree, Literal(b"b"))), 0, 3)
    with pytest.raises(LimitExceededError) as caught:
        AutomatonStore().add(tree)
    assert caught.value.limit == "regex_depth"
    generous = AutomatonStore(Limits(regex_depth=100_000))
    tree = Literal(b"a")
    for n in range(3_000):
        tree = Complement(Sequence((tree, Literal(b"b")))) if n % 2 else Early(Choice((tree, Literal(b"b" * (n % 5)))))
    state = generous.add(tree)
    assert generous.step(state, ord("b")) >= 0
