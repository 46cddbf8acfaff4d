"""Look-aheads: allowed tokens against a naive recognizer; no mask leads into a dead end."""

from __future__ import annotations

import itertools
import random

import pytest
from support.grammars import random_grammar
from support.naive import NaiveRecognizer

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.grammar.lookaheads import Lookaheads
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.normal_form.dead_ends import possible_dead_ends, without_refused
from structgen.kbnf.normal_form.flattening import flatten
from structgen.kbnf.normal_form.nullables import eliminate_nullables
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.normal_form.productions import TerminalTable
from structgen.kbnf.normal_form.simplification import remove_unproductive
from structgen.kbnf.reading.kbnf import parse
from structgen.kbnf.rewriting import rewrite

TOKENS = [b"a", b"b", b"c", b"ab", b"ba", b"aa", b"abc", b"bc", b"cab", b"aab"]
VOCABULARY = Vocabulary.from_bytes(dict(enumerate([*TOKENS, b"<eos>"])), eos_token_ids=[len(TOKENS)])
LONGEST = 5
MAX_SETS = 500
LETTERS = b"abc"
REFUSED = ["a", "b", "c", "[ab]", "[bc]"]


def compiled_from(grammar: ast.Grammar) -> CompiledGrammar:
    return CompiledGrammar(normalize(grammar), VOCABULARY)


def dead_ends(grammar: ast.Grammar) -> list[str]:
    """Return the rules that may lead into a dead end."""
    terminals = TerminalTable(lambda regex: AutomatonStore().is_empty(regex))
    productions, _ = eliminate_nullables(flatten(grammar, terminals))
    return possible_dead_ends(remove_unproductive(without_refused(productions, terminals.is_empty)), terminals.is_empty)


TERMINALS = (ast.Literal, ast.RegexTerminal)
PARTS = (*TERMINALS, ast.Reference, ast.ZeroOrMore, ast.Choice)


def with_lookaheads(
    grammar: ast.Grammar, rng: random.Random, kinds: tuple[type[ast.Expression], ...] = TERMINALS
) -> ast.Grammar:
    """Add look-aheads after some of the terminals, or of other parts, and before a few."""

    def change(node: ast.Expression) -> ast.Expression:
        if not isinstance(node, kinds) or rng.random() < 0.4:
            return node
        source = rng.choice(REFUSED)
        ahead = ast.NotFollowedBy(ast.RegexTerminal(parse_regex(source, "rust"), source))
        return ast.Sequence((ahead, node) if rng.random() < 0.2 else (node, ahead))

    return ast.Grammar(tuple(ast.Rule(rule.name, rewrite(rule.body, change)) for rule in grammar.rules))


def texts(longest: int) -> list[bytes]:
    return [bytes(text) for size in range(longest + 1) for text in itertools.product(LETTERS, repeat=size)]


def case(seed: int) -> tuple[ast.Grammar, CompiledGrammar]:
    """Return the first random grammar of a seed that is accepted. It is made by the test: other tests do not wait."""
    rng = random.Random(seed)
    while True:
        grammar = with_lookaheads(random_grammar(rng), rng)
        try:
            return grammar, compiled_from(grammar)
        except GrammarError:  # a look-ahead stands alone
            continue


@pytest.mark.one_in(4, uncompiled=12)
@pytest.mark.parametrize("seed", range(1040))
def test_the_texts_are_those_of_the_naive_recognizer(seed: int) -> None:
    grammar, compiled = case(seed)
    naive = NaiveRecognizer(grammar)
    sets = compiled.sets
    place = {b"": sets.start_set}
    for text in texts(LONGEST):
        if text:
            place[text] = sets.goto(place[text[:-1]], text[-1]) if place[text[:-1]] else 0
        accepted = bool(place[text] and sets.table.accepting[place[text]])
        assert accepted == naive.run(text)[1], (text, grammar)


@pytest.mark.one_in(2, uncompiled=6)
@pytest.mark.parametrize(
    "seed",
    # Where sets grow with every byte, the search for dead ends takes 80 s uncompiled.
    [pytest.param(seed, marks=[pytest.mark.slow] * (seed == 628)) for seed in range(1040)],
)
def test_masks_allow_what_leads_on_and_nothing_leads_into_a_dead_end(seed: int) -> None:
    grammar, compiled = case(seed)
    sets = compiled.sets
    rng = random.Random(seed)
    has_dead_ends = bool(dead_ends(grammar))
    for _ in range(3):
        matcher = Matcher(compiled)
        place = sets.start_set
        for _ in range(4):
            allowed = [token for token in matcher.allowed_token_ids() if token < len(TOKENS)]
            leading = {token: follow(compiled, place, data) for token, data in enumerate(TOKENS)}
            if has_dead_ends:
                assert all(leading[token] for token in allowed), grammar
            else:
                assert allowed == [token for token, target in leading.items() if target], grammar
            for target in leading.values():
                assert not target or has_dead_ends or not is_dead_end(compiled, target), grammar
            if not allowed:
                break
            token = rng.choice(allowed)
            matcher.accept_token(token)
            place = leading[token]


@pytest.mark.one_in(4, uncompiled=12)
@pytest.mark.parametrize("seed", range(600))
def test_masks_allow_only_what_leads_on_after_rules_with_lookaheads(seed: int) -> None:
    rng = random.Random(seed)
    try:
        compiled = compiled_from(with_lookaheads(random_grammar(rng), rng, PARTS))
    except GrammarError:  # a look-ahead stands alone
        return
    matcher = Matcher(compiled)
    place = compiled.sets.start_set
    for _ in range(4):
        allowed = [token for token in matcher.allowed_token_ids() if token < len(TOKENS)]
        leading = [follow(compiled, place, data) for data in TOKENS]
        assert all(leading[token] for token in allowed)
        if not allowed:
            break
        token = rng.choice(allowed)
        matcher.accept_token(token)
        place = leading[token]


@pytest.mark.parametrize("inner", ["C ::= 'ab' | 'c' C;", "C ::= F; F ::= 'ab' | 'c' F;"])
def test_lookaheads_after_rules_hold_where_their_last_terminals_end(inner: str) -> None:
    text = "start ::= 'b' B #'[bc]' | 'c' B 'a'; B ::= 'b' | D !'b'; D ::= C !'c' | 'aa';" + inner
    matcher = Matcher(compiled_from(parse(text)))
    matcher.accept_bytes(b"b")
    allowed = [TOKENS[token] for token in matcher.allowed_token_ids()]
    assert allowed == [b"a", b"b", b"c", b"aa", b"bc"]  # neither "ab" nor "cab": b and c are refused after them


def follow(compiled: CompiledGrammar, place: int, data: bytes) -> int:
    for byte in data:
        place = compiled.sets.goto(place, byte) if place else 0
    return place


def is_dead_end(compiled: CompiledGrammar, place: int) -> bool:
    """Return whether a search of all ways from a set has found no whole text."""
    found, border = {place}, {place}
    while border and len(found) < MAX_SETS:
        if any(compiled.sets.table.accepting[source] for source in border):
            return False
        border = {
            target
            for source in border
            for byte in {*LETTERS, *"é".encode()}
            if (target := compiled.sets.goto(source, byte)) and target not in found
        }
        found |= border
    return not border


@pytest.mark.parametrize(
    "text",
    [
        "start ::= A 'b'; A ::= 'a' !'b' | 'c';",
        "start ::= 'x' (A | 'c') 'b' | 'b'; A ::= #'a+' !#'[ab]';",
    ],
)
def test_rules_that_lead_into_a_dead_end_are_told(text: str) -> None:
    assert dead_ends(parse(text))


def test_alternatives_without_a_text_are_dropped() -> None:
    compiled = compiled_from(parse("start ::= 'c' | 'x' 'a' !'b' 'b' | 'a' B; B ::= !'a' 'a' | 'b';"))
    assert Matcher(compiled).allowed_token_ids() == [0, 2, 3]
    assert not dead_ends(parse("start ::= 'c' | 'x' 'a' !'b' 'b' | 'a' B; B ::= !'a' 'a' | 'b';"))


def test_what_holds_is_gone_after_one_character() -> None:
    compiled = compiled_from(parse("start ::= A A; A ::= #'a+' !'a' 'b'?;"))
    assert [
        t for t in texts(6) if (p := follow(compiled, compiled.sets.start_set, t)) and compiled.sets.table.accepting[p]
    ]
    assert follow(compiled, compiled.sets.start_set, b"abab")
    assert not follow(compiled, compiled.sets.start_set, b"abb")


def test_characters_of_several_bytes_are_refused_as_a_whole() -> None:
    compiled = compiled_from(parse("start ::= 'a' !'é' #'.';"))
    sets = compiled.sets
    start = sets.goto(sets.start_set, ord("a"))
    assert not follow(compiled, start, "é".encode())
    assert sets.table.accepting[follow(compiled, start, "è".encode())]


def test_more_lookaheads_than_there_are_bits_are_refused() -> None:
    rules = " | ".join(f"'{chr(code)}' !'{chr(code)}'" for code in range(0x100, 0x100 + 62))
    with pytest.raises(GrammarError, match="more than 61 different look-aheads"):
        CompiledGrammar(normalize(parse(f"start ::= {rules};")), VOCABULARY)


def test_only_terminals_that_begin_with_some_refused_characters_get_another_state() -> None:
    automata = AutomatonStore()
    lookaheads = Lookaheads([parse_regex("[a-z]")], automata)
    digits, word, either = (automata.add(parse_regex(pattern)) for pattern in ("[0-9]+", "[a-z]+", "[a-z0-9]+"))
    assert lookaheads.started(digits, 1) == digits
    assert lookaheads.started(word, 1) == 0
    narrowed = lookaheads.started(either, 1)
    assert narrowed not in (0, either)
    assert automata.step(narrowed, ord("a")) == 0
    assert automata.step(narrowed, ord("7")) == automata.step(either, ord("7"))
