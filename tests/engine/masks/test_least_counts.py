"""States with a least count beside other conditions: which of them one index serves, and what it costs."""

from __future__ import annotations

import itertools

import pytest
from support.vocabularies import accepted_tokens, nodes_along

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.masks.least_counts import LeastCounts
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize

LETTERS = [letter.encode() for letter in ("a", "b", "n", '"', "\\", "é")]
TOKENS = [b"".join(letters) for length in (1, 2, 3) for letters in itertools.product(LETTERS, repeat=length)]
VOCABULARY = Vocabulary.from_bytes(dict(enumerate(TOKENS)), eos_token_ids=[len(TOKENS)])
QUOTE = rx.Literal(b'"')
CHARACTER = parse_regex(r'[^"\\]|\\["\\n]')
ANY = rx.star(rx.ANY_CHAR)
HAS_A = rx.sequence(ANY, rx.Literal(b"a"), ANY)


def string(least: int, most: int | None, characters: rx.Regex = CHARACTER) -> rx.Regex:
    return rx.sequence(rx.repeat(characters, least, most), QUOTE)


def ends_with(text: bytes) -> rx.Regex:
    return rx.sequence(ANY, rx.Literal(text), QUOTE)


@pytest.mark.parametrize(
    "condition, is_possible",
    [
        (HAS_A, True),
        (rx.Complement(HAS_A), True),
        (ends_with(b"a"), True),
        (ends_with(b"ab"), False),  # after "ab": nothing, or "ab", but no single character
        (rx.Complement(ends_with(b"aba")), True),
        (rx.sequence(rx.star(rx.Literal(b"ab")), QUOTE), False),
        (string(0, 5), False),
        (rx.Complement(string(2, 5, parse_regex("[ab]"))), True),
        (rx.difference(string(0, None, parse_regex("[ab]")), string(2, 5, parse_regex("[ab]"))), False),
    ],
)
def test_each_count_from_the_least_one_on_is_possible(condition: rx.Regex, is_possible: bool) -> None:
    automata = AutomatonStore()
    least_counts = LeastCounts(automata)
    star = automata.add(string(0, None))
    free = automata.emptiness.pruned(automata.terms.counting(star, 1, automata.add(condition)))
    reached = [free]
    for state in reached:
        reached += [target for target in automata.successors(state) if target not in reached]
    assert least_counts.have_all(reached) == is_possible
    assert least_counts.have_all(reached) == is_possible  # remembered


@pytest.mark.parametrize("most", [None, 20])
def test_parts_of_a_state_with_a_least_count(most: int | None) -> None:
    automata = AutomatonStore()
    state = automata.meet([string(12, most), HAS_A])
    parts = LeastCounts(automata).of(state)
    assert parts is not None
    assert parts[1:] == (12, most or -1)
    assert automata.matches(parts[0], b'nan"')
    assert not automata.matches(parts[0], b'nnn"')
    assert LeastCounts(automata).of(automata.add(string(12, most))) is None  # no other condition
    assert LeastCounts(automata).of(automata.meet([string(0, most), HAS_A])) is None


@pytest.mark.one_in(1, uncompiled=2)
@pytest.mark.parametrize("most", [None, 200, 230])
@pytest.mark.parametrize("condition", [HAS_A, rx.Complement(ends_with(b"aba")), ends_with(b"aba")])
def test_a_least_count_makes_no_tables_for_each_count(most: int | None, condition: rx.Regex) -> None:
    visited = nodes_along(rx.intersection(string(200, most), condition), VOCABULARY, b"n", 40)
    assert condition == ends_with(b"aba") or visited <= 40 * 20


def test_texts_that_end_without_a_quote() -> None:
    """More than 200 of `[ab]`, of which the last one is `b`: after it nothing may come, so no token ends with it."""
    refused = [parse_regex("[ab]{0,200}"), parse_regex("a{205}b")]
    regex = rx.intersection(parse_regex("a*b"), *map(rx.Complement, refused))
    compiled = CompiledGrammar(normalize(ast.Grammar((ast.Rule("start", ast.RegexTerminal(regex)),))), VOCABULARY)
    matcher = Matcher(compiled)
    for _ in range(198):
        assert matcher.allowed_token_ids() == accepted_tokens(matcher, VOCABULARY.size)
        matcher.accept_bytes(b"a")
    matcher.accept_bytes(b"aab")
    assert matcher.is_accepting


EVEN = rx.sequence(rx.star(rx.repeat(CHARACTER, 2, 2)), QUOTE)


@pytest.mark.parametrize("bounds", [((0, 30), (3, 30), (12, 30), (3, 5)), ((12, 30), (3, 30), (0, 30))])
@pytest.mark.parametrize("condition", [ends_with(b"aba"), EVEN, rx.literal_set([b'ab"', b'n"', b'nab"', b'na"'])])
def test_an_index_for_bounds_alone_is_none_for_least_counts(
    bounds: tuple[tuple[int, int], ...], condition: rx.Regex
) -> None:
    vocabulary = Vocabulary.from_bytes(dict(enumerate(TOKENS)), eos_token_ids=[len(TOKENS)])
    for least, most in bounds:
        body = ast.RegexTerminal(rx.intersection(string(least, most), condition))
        compiled = CompiledGrammar(normalize(ast.Grammar((ast.Rule("start", body),))), vocabulary)
        for text in (b"", b"n", b"a", b"ab", b"nna", b"n" * (most - 3)):
            matcher = Matcher(compiled)
            for byte in text:
                allowed = matcher.allowed_token_ids()
                assert allowed == accepted_tokens(matcher, vocabulary.size)
                if TOKENS.index(bytes([byte])) not in allowed:
                    break
                matcher.accept_bytes(bytes([byte]))
            assert matcher.allowed_token_ids() == accepted_tokens(matcher, vocabulary.size)
