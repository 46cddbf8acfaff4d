"""States with a bound that no token comes near: which of them are seen to be that, and that masks stay right."""

from __future__ import annotations

import itertools
import os
import random

import pytest
from support.vocabularies import accepted_tokens, nodes_along

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import NOTHING
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize

UNCOMPILED = os.environ.get("STRUCTGEN_UNCOMPILED") == "1"
LETTERS = [letter.encode() for letter in ("a", "b", "n", '"', "\\", "é")]
TOKENS = [b"".join(letters) for length in (1, 2, 3) for letters in itertools.product(LETTERS, repeat=length)]
TOKENS += [b"abnabn", b"nnnnnn", b"aaaaaa", b"aaaab", b"bbbna"]  # as many characters as the longest one has bytes
VOCABULARY = Vocabulary.from_bytes(dict(enumerate(TOKENS)), eos_token_ids=[len(TOKENS)])
LONGEST = max(map(len, TOKENS))
QUOTE = rx.Literal(b'"')
CHARACTER = parse_regex(r'[^"\\]|\\["\\n]')
ANY = rx.star(CHARACTER)


def text(regex: str) -> rx.Regex:
    return rx.sequence(parse_regex(regex), QUOTE)


def search(regex: str) -> rx.Regex:
    return rx.sequence(ANY, parse_regex(regex), ANY, QUOTE)


PLAIN = [
    text("[ab]+(n[ab]+)*"),
    text("([abn]{3})*(a|bn)?"),
    text(r'(a|\\["n]){2,5}b*'),
    text("a{1,9}(bn){0,9}é"),
    text("(é|ab)*"),
    search("an"),
    search("a+b|éé"),
    rx.literal_set([b'ab"', b'abnab"', b'n"', b'aaaaaa"']),
]
REFUSED = [
    search("an"),
    search("a+b|éé"),
    rx.choice(search("n"), search(r'\\["]a')),
    rx.sequence(parse_regex("b"), ANY, QUOTE),
    rx.sequence(ANY, parse_regex("an|b"), QUOTE),
    text("a*b"),
    text("(ab|é)*n{1,9}"),
]


def bounded(least: int, most: int, *conditions: rx.Regex, body: rx.Regex = CHARACTER) -> rx.Regex:
    return rx.intersection(rx.sequence(rx.repeat(body, least, most), QUOTE), *conditions)


@pytest.mark.parametrize(
    "conditions, needed",
    [
        ((text("[ab]+(n[ab]+)*"),), 2),  # a letter and the quote
        ((text("([abn]{3})*(a|bn)?"),), 5),  # a bound that is not the least one: three letters, and one of the others
        ((search("an"),), 3),
        ((rx.Complement(search("an")),), 0),
        ((rx.Complement(search("an")), rx.Complement(search("éé"))), 0),
        ((rx.Complement(text("a*b")),), 1),  # an `a`, with which no such text ends
        ((rx.Complement(rx.choice(text("a*b"), search("an"), rx.sequence(ANY, parse_regex("én"), QUOTE))),), 1),
        ((rx.Complement(text("(a|b|[^ab])*b?")),), None),  # nothing is left
        ((search("an"), search("b")), None),
        ((search("an"), rx.Complement(search("b"))), None),
        ((parse_regex("a*"),), None),  # no quote, so there are no such strings
    ],
)
@pytest.mark.parametrize("least", [0, 1])
def test_states_without_their_bound(conditions: tuple[rx.Regex, ...], needed: int | None, least: int) -> None:
    automata = AutomatonStore()
    ample = automata.ample_bounds
    free = automata.add(rx.intersection(rx.sequence(rx.repeat(CHARACTER, least, None), QUOTE), *conditions))
    found = [ample.without(automata.add(bounded(least, most, *conditions)), 10) for most in range(9, 60)]
    assert found[0] == NOTHING
    if needed is None:
        assert set(found) == {NOTHING}
    else:
        assert found[50] == free
        assert found[: needed + 1] == [NOTHING] * (needed + 1)


@pytest.mark.parametrize(("refused", "needed"), [(search("an"), 4), (text("a*b"), 4), (search('[^"]'), None)])
def test_a_least_count_is_needed_after_each_character(refused: rx.Regex, needed: int | None) -> None:
    automata = AutomatonStore()
    ample = automata.ample_bounds
    found = [
        ample.without(automata.add(bounded(4, most, rx.Complement(refused))), 10) != NOTHING for most in range(9, 60)
    ]
    assert found == [needed is not None and most >= 10 + needed for most in range(9, 60)]


@pytest.mark.parametrize("seed", range(6 if UNCOMPILED else 80))
def test_masks_near_a_bound_and_far_away(seed: int) -> None:
    rng = random.Random(seed)
    conditions = (
        [rng.choice(PLAIN)]
        if rng.random() < 0.5
        else [rx.Complement(one) for one in rng.sample(REFUSED, rng.randint(1, 3))]
    )
    most = LONGEST + rng.choice((0, 1, 2, 3, 4, 5, 20))
    body = rng.choice((CHARACTER, parse_regex("[abn]"), parse_regex(r'[bné]|\\["n]')))
    regex = bounded(rng.randrange(5), most, *conditions, body=body)
    start = ast.Sequence((ast.RegexTerminal(regex), ast.Literal(b"a")))
    compiled = CompiledGrammar(normalize(ast.Grammar((ast.Rule("start", start),))), VOCABULARY)
    for _ in range(3):
        matcher = Matcher(compiled)
        while True:
            allowed = matcher.allowed_token_ids()
            assert allowed == accepted_tokens(matcher, VOCABULARY.size)
            longer = [token for token in allowed if token < len(TOKENS) and b'"' not in TOKENS[token]]
            if not longer:
                break
            matcher.accept_token(rng.choice(longer))


@pytest.mark.parametrize("condition", [search("an"), rx.Complement(search("an|éé")), text("[abn]+(é[abn]+)*")])
def test_no_tables_are_made_for_each_bound(condition: rx.Regex) -> None:
    assert nodes_along(bounded(0, 200, condition), VOCABULARY, b"n", 40) == 0


def test_a_bound_on_letters_beside_a_search_in_all_characters() -> None:
    refused = rx.Complement(rx.choice(search("an"), rx.sequence(ANY, parse_regex("éb"), QUOTE)))
    assert nodes_along(bounded(0, 200, refused, body=parse_regex("[abcné]")), VOCABULARY, b"n", 40) == 0
