"""Bounds on counts within intersections: taken out of the terms, so that states and tables do not depend on them."""

from __future__ import annotations

import itertools
import random

import pytest
from support.vocabularies import BYTES

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import TokenRejectedError
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize

QUOTE = rx.Literal(b'"')
LETTERS = b'ab\\n"'
TEXTS = [bytes(text) for length in range(6) for text in itertools.product(LETTERS, repeat=length)]
CHARACTERS = (
    parse_regex("[ab]"),
    parse_regex(r'[abn]|\\["n]'),
    rx.choice(rx.Literal(b"ab"), rx.Literal(b"n")),
    rx.choice(rx.Literal(b"a"), rx.Literal(b"ab")),  # one is the beginning of the other
    parse_regex(r"a|\\n"),
    parse_regex("b"),
)
CONDITIONS = tuple(
    map(parse_regex, (r"(a+b){0,2}a*", "[^b]*", ".*ab.*", r"(a|b\\n)*", "a{2}b*|n+", r"([ab]{2}){1,2}\\\"?n*"))
)

AGAIN = rx.star(rx.sequence(QUOTE, parse_regex("[ab]{2}")))  # counts that come again and again


def parts_of(rng: random.Random) -> list[rx.Regex]:
    """One or two strings with bounds, and one or two conditions, quoted or not, some of them complements."""
    rest = rng.choice((QUOTE, QUOTE, rx.EMPTY, rx.Literal(b"b"), rx.Literal(b'"a'), AGAIN))
    parts: list[rx.Regex] = []
    for _ in range(rng.choice((1, 1, 2))):
        least = rng.choice((0, 0, 1, 2))
        parts.append(rx.sequence(rx.repeat(rng.choice(CHARACTERS), least, least + rng.randrange(4)), rest))
    for _ in range(rng.choice((1, 1, 2))):
        condition = rx.sequence(rng.choice(CONDITIONS), rest)
        parts.append(rng.choice((condition, condition, rx.Complement(condition))))
    if rng.random() < 0.4:
        inner = rx.Intersection(tuple(parts))
        other = rx.sequence(rx.repeat(rng.choice(CHARACTERS), 0, rng.randrange(5)), rest, rx.star(QUOTE))
        return [rx.sequence(inner, rng.choice((QUOTE, other, rx.Repeat(inner, 0, 1)))), other, rx.star(rx.ANY_CHAR)]
    return parts


def has_text(store: AutomatonStore, states: tuple[int, ...]) -> bool:
    """Whether states match a text in common: a search through their product."""
    seen = {states}
    stack = [states]
    while stack:
        top = stack.pop()
        if all(store.is_accepting(state) for state in top):
            return True
        for byte in LETTERS:
            after = tuple(store.step(state, byte) for state in top)
            if all(after) and after not in seen:
                seen.add(after)
                stack.append(after)
    return False


@pytest.mark.one_in(1, uncompiled=8)
@pytest.mark.parametrize("seed", range(200))
def test_states_match_what_all_parts_match_and_die_when_nothing_is_left(seed: int) -> None:
    parts = parts_of(random.Random(seed))
    store = AutomatonStore()
    apart = AutomatonStore()
    alive: dict[tuple[int, ...], bool] = {}
    start = store.add(rx.Intersection(tuple(parts)))
    starts = tuple(apart.add(part) for part in parts)
    for text in TEXTS:
        state = start
        states = starts
        for byte in text:
            state = store.step(state, byte)
            states = tuple(apart.step(part, byte) for part in states)
        assert store.is_accepting(state) == all(apart.is_accepting(part) for part in states), text
        if states not in alive:
            alive[states] = has_text(apart, states)
        assert (state != 0) == alive[states], text


def words(most: int) -> rx.Regex:
    """At most so many characters, in words of letters with hyphens between them."""
    return rx.intersection(
        rx.sequence(rx.Repeat(parse_regex('[^"]'), 0, most), QUOTE), rx.sequence(parse_regex("[a-z]+(-[a-z]+)*"), QUOTE)
    )


def test_states_without_their_bounds_are_few() -> None:
    store = AutomatonStore()
    state = store.add(words(300))
    found = []
    for byte in b"ab-c-" * 20:
        state = store.step(state, byte)
        found.append(store.as_bounded(state))
    assert [most for _, most in found] == list(range(299, 199, -1))
    assert len({free for free, _ in found}) == 2
    assert store.count < 1000


def test_the_least_count_that_is_needed() -> None:
    store = AutomatonStore()
    pattern = parse_regex("[a-z]{3}(-[a-z]{2}){2}")
    state = store.add(rx.intersection(rx.Repeat(rx.ANY_CHAR, 0, 50), pattern))
    needed = []
    for byte in b"abc-de-":
        free, _ = store.as_bounded(state)
        needed.append(store.emptiness.least_begun(free))
        after = store.step(state, byte)
        assert store.derivatives.begun(free, store.step(free, byte)) == 1
        state = after
    assert needed == [9, 8, 7, 6, 5, 4, 3]
    assert not store.is_empty(rx.intersection(rx.Repeat(rx.ANY_CHAR, 0, 9), pattern))
    assert store.is_empty(rx.intersection(rx.Repeat(rx.ANY_CHAR, 0, 8), pattern))


def test_a_bound_can_be_kept_just_where_the_least_count_is_no_larger() -> None:
    checked = 0
    for seed in range(150):
        condition = rx.Intersection(tuple(parts_of(random.Random(seed))))
        exact = AutomatonStore()
        bounded = exact.as_bounded(exact.add(condition))
        if bounded is None:
            continue  # one of the parts decides alone
        least = exact.emptiness.least_begun(bounded[0])
        for most in (0, 1, 2, 3, 5, least, 1):
            store = AutomatonStore()
            free, _ = store.as_bounded(store.add(condition))
            for again in (most, least, most):
                assert store.emptiness.keeps_within(free, again) == (least <= again), (seed, again)
            assert store.emptiness.least_begun(free) == least, seed
        checked += 1
    assert checked >= 20


def test_a_pattern_anywhere_in_a_bounded_string_is_found_by_a_short_search() -> None:
    store = AutomatonStore()
    anywhere = parse_regex(r"([^\"\\]|\\u[0-9a-f]{4})*[a-f0-9]{8}(-[a-f0-9]{4}){3}-[a-f0-9]{12}.*")
    character = parse_regex(r"[^\"\\]|\\u[0-9a-f]{4}")
    assert store.add(rx.intersection(rx.Repeat(character, 0, 500), anywhere))
    assert store.emptiness.terms_searched < 60


def test_a_least_count_leads_a_search_within_a_character() -> None:
    """Without it, the search would visit all that 49 characters may be, for each number of them."""
    store = AutomatonStore()
    character = parse_regex(r"[^\"\\]|\\u[0-9a-f]{4}")
    string = rx.sequence(rx.Repeat(character, 50, 50), QUOTE)
    refused = (rx.Complement(parse_regex(pattern)) for pattern in (".*a.*b.*", ".*b.*c.*", ".*c.*d.*"))
    state = store.next(store.add(rx.intersection(string, *refused)), 0xEC)
    free, most = store.as_bounded(state)
    assert store.emptiness.least_begun(free) == most == 49
    assert store.emptiness.terms_searched < 400


def test_bounds_that_say_no_more_than_another_part_are_one_count() -> None:
    store = AutomatonStore()
    letter = parse_regex("[a-zé]")
    three_to_nine = rx.sequence(rx.repeat(letter, 3, 9), QUOTE)
    up_to_five = rx.sequence(rx.repeat(letter, 0, 5), QUOTE)
    assert store.add(rx.Intersection((three_to_nine, up_to_five))) == store.add(
        rx.sequence(rx.repeat(letter, 3, 5), QUOTE)
    )
    assert store.is_empty(rx.Intersection((three_to_nine, rx.sequence(rx.repeat(letter, 0, 2), QUOTE))))


@pytest.mark.parametrize("narrow", ["[0-9]", r"[0-9]|\\\\", r"é|\\n", "[éü]", "a"])
def test_a_count_of_some_characters_and_one_of_all_are_one_count(narrow: str) -> None:
    store = AutomatonStore()
    character = parse_regex(r'[^"\\]|\\["\\n]')
    some = rx.sequence(rx.repeat(parse_regex(narrow), 2, 50), QUOTE)
    met = store.add(rx.Intersection((some, rx.sequence(rx.repeat(character, 5, 40), QUOTE))))
    assert met == store.add(rx.sequence(rx.repeat(parse_regex(narrow), 5, 40), QUOTE))


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_three_counts_are_one_in_any_order(order: tuple[int, ...]) -> None:
    store = AutomatonStore()
    letters = [parse_regex(text) for text in ("[0-9]", "[0-9a-z]", "[0-9a-zA-Z]")]
    for number in order:  # terms are numbered as they are made, and parts are gone through by number
        store.add(rx.repeat(letters[number], 2, 9))
    for bounds in (((2, None), (3, None), (4, None)), ((2, 50), (3, 40), (4, 30)), ((4, 8), (3, 7), (2, 9))):
        parts = [rx.sequence(rx.repeat(letters[number], *bounds[number]), QUOTE) for number in order]
        low = max(least for least, _ in bounds)
        high = None if bounds[0][1] is None else min(most for _, most in bounds if most is not None)
        met = store.add(rx.Intersection(tuple(parts)))
        assert met == store.add(rx.sequence(rx.repeat(letters[0], low, high), QUOTE))


def accepts(matcher: Matcher, token: int) -> bool:
    """Whether a token may come next, found by going on with it."""
    try:
        matcher.fork().accept_token(token)
    except TokenRejectedError:
        return False
    return True


def test_bounds_count_characters_of_one_byte_each() -> None:
    any_byte = rx.ByteSet((1 << 256) - 1)
    regex = rx.intersection(
        rx.repeat(any_byte, 0, 6), rx.sequence(rx.star(any_byte), rx.Literal(b"a"), rx.star(any_byte))
    )
    texts = ["a", "y", *("x" + "é" * count + end for count in range(8) for end in ("", "z"))]
    vocabulary = Vocabulary.from_bytes({k: text.encode() for k, text in enumerate(texts)}, eos_token_ids=[99])
    body = ast.Sequence((ast.RegexTerminal(regex), ast.Literal(b";")))
    matcher = Matcher(CompiledGrammar(normalize(ast.Grammar((ast.Rule("start", body),))), vocabulary))
    accepted = [token for token in range(len(texts)) if accepts(matcher, token)]
    assert matcher.allowed_token_ids() == accepted


def test_a_text_of_two_characters_counts_as_two() -> None:
    store = AutomatonStore()
    pairs = rx.sequence(rx.repeat(rx.choice(rx.Literal(b"ab"), rx.Literal(b"c")), 2, 5), QUOTE)
    met = store.add(rx.Intersection((pairs, rx.sequence(rx.repeat(parse_regex("[a-z]"), 0, 4), QUOTE))))
    assert store.matches(met, b'abab"')
    assert not store.matches(met, b'ababab"')
    two_bytes = rx.repeat(parse_regex("[é-ü]"), 1, 5)
    met = store.add(rx.Intersection((two_bytes, rx.repeat(rx.ByteSet((1 << 256) - 1), 0, 5))))
    assert store.matches(met, "éé".encode())
    assert not store.matches(met, "ééé".encode())


def test_one_walk_serves_all_bounds() -> None:
    body = ast.Sequence((ast.Literal(b'"'), ast.RegexTerminal(words(40))))
    compiled = CompiledGrammar(normalize(ast.Grammar((ast.Rule("start", body),))), BYTES)
    matcher = Matcher(compiled)
    visited = []
    for byte in b'"' + b"ab-c" * 9 + b"abcd":
        matcher.accept_token(byte)
        allowed = matcher.allowed_token_ids()
        visited.append(compiled.shared.terminals.nodes_visited)
    assert allowed == list(b'"')
    assert visited[len(visited) - 2] - visited[4] <= 2 * 256  # two more walks where tokens come near the bound
