"""Earley sets: the allowed tokens against a naive recognizer, and bounds on the number of sets."""

from __future__ import annotations

import random

import pytest
from support.grammars import random_grammar
from support.naive import NaiveRecognizer

import structgen
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.kbnf import parse

TOKENS = ["a", "b", "c", "ab", "ba", "aa", "abc", "bab", "cc", "é", "aé", "aaaa", "abab"]
BYTES = [text.encode() for text in TOKENS] + ["é".encode()[:1], "é".encode()[1:]]
EOS = len(BYTES)
VOCABULARY = Vocabulary.from_bytes(dict(enumerate([*BYTES, b"<eos>"])), eos_token_ids=[EOS])
BYTE_VOCABULARY = Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)})


def compiled_from(text: str, vocabulary: Vocabulary = BYTE_VOCABULARY, *, eager: bool = False) -> CompiledGrammar:
    return CompiledGrammar(normalize(parse(text), keep_endless=eager), vocabulary, eager=eager)


@pytest.mark.one_in(4, uncompiled=12)
@pytest.mark.parametrize("seed", range(300))
def test_allowed_tokens_are_those_of_the_naive_recognizer(seed: int) -> None:
    rng = random.Random(seed)
    grammar = random_grammar(rng)
    naive = NaiveRecognizer(grammar)
    compiled = CompiledGrammar(normalize(grammar, keep_endless=True), VOCABULARY)
    for _ in range(3):
        matcher = Matcher(compiled)
        text = b""
        for _ in range(6):
            allowed = matcher.allowed_token_ids()
            expected = [token for token, data in enumerate(BYTES) if naive.run(text + data)[0]]
            whole = naive.run(text)[1]
            assert allowed == expected + [EOS] * whole, (seed, text, grammar)
            assert matcher.is_accepting == whole
            if not expected:
                break
            token = rng.choice(expected)
            matcher.accept_token(token)
            text += BYTES[token]


@pytest.mark.parametrize(
    ("grammar", "unit"),
    [
        ("start ::= A; A ::= 'a' A | 'a';", b"a"),
        ("start ::= A; A ::= A 'a' | 'a';", b"a"),
        ("start ::= A; A ::= 'a' B | 'a'; B ::= 'b' C; C ::= 'c' D; D ::= 'd' A | 'd';", b"abcd"),
        ("start ::= '[' [ I { ',' I } ] ']'; I ::= #'[0-9]+';", b"12,"),
    ],
)
def test_repetition_needs_a_bounded_number_of_sets(grammar: str, unit: bytes) -> None:
    compiled = compiled_from(grammar)
    matcher = Matcher(compiled)
    if grammar.startswith("start ::= '['"):
        matcher.accept_bytes(b"[")
    matcher.accept_bytes(unit * 50)
    before = compiled.sets.set_count
    matcher.accept_bytes(unit * 5000)
    assert compiled.sets.set_count == before


@pytest.mark.parametrize(
    "grammar",
    [
        "start ::= '[' object more; more ::= ']' | ',' object more; object ::= '{' pair '}'; pair ::= 'a' pair | 'b';",
        "start ::= '[' list ']'; list ::= list ',' object | object; object ::= '{' pair '}'; pair ::= pair 'b' | 'a';",
        "start ::= '[' list ']'; list ::= rest object | object; rest ::= list ','; object ::= '{' #'[ab]+' '}';",
    ],
)
def test_the_sets_inside_of_equal_groups_are_found_once(grammar: str) -> None:
    compiled = compiled_from(grammar)
    matcher = Matcher(compiled)
    matcher.accept_bytes(b"[{ab},{ab},")
    before = compiled.sets.set_count
    matcher.accept_bytes(b"{ab},{ab}")
    assert compiled.sets.set_count == before


def test_the_first_object_of_an_array_and_later_ones_share_their_sets() -> None:
    schema = {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}}, "minItems": 1}
    compiled = structgen.compile(schema, BYTE_VOCABULARY).grammar
    matcher = Matcher(compiled)
    matcher.accept_bytes(b'[{"a": 1}, ')
    before = compiled.sets.set_count
    matcher.accept_bytes(b'{"a": 1')
    assert compiled.sets.set_count == before


def test_nesting_makes_one_set_a_level() -> None:
    compiled = compiled_from("start ::= N; N ::= 'a' N 'b' | 'a' 'b';")
    matcher = Matcher(compiled)
    matcher.accept_bytes(b"a" * 1000)
    made = compiled.sets.set_count
    matcher.accept_bytes(b"b" * 1000)
    assert made < 1100
    assert matcher.is_accepting
    assert compiled.sets.set_count <= 2 * made


def test_a_grammar_without_texts_allows_nothing() -> None:
    compiled = compiled_from("start ::= 'a' start;")
    assert Matcher(compiled).allowed_token_ids() == []


def test_a_cyclic_grammar_ends() -> None:
    matcher = Matcher(compiled_from("start ::= A; A ::= B | 'x'; B ::= A | A A;"))
    matcher.accept_bytes(b"xxxx")
    assert matcher.is_accepting


def test_many_ways_through_a_long_token_are_not_taken_one_by_one() -> None:
    letters = bytes(range(ord("a"), ord("z") + 1))
    vocabulary = Vocabulary.from_bytes({0: b"x", 1: letters * 2, 2: letters * 2 + b"!"})
    compiled = compiled_from("start ::= #'[a-z]+' start | 'x';", vocabulary)
    assert Matcher(compiled).allowed_token_ids() == [0, 1]
    assert compiled.shared.terminals.nodes_visited + compiled.masks.nodes_visited < 1_000_000  # of 2**52 ways


def test_a_large_set_goes_on_with_the_first_bytes_of_its_items() -> None:
    words = [f"{chr(97 + number % 20)}{number}" for number in range(30)]
    others = ['#"[x-z]+"', '#"é[0-9]"', '#"(1|22){2}"']
    bodies = [f"{item} start?" for item in [*(f'"{word}"' for word in words), *others]]  # no two are one terminal
    sets = compiled_from("start ::= " + " | ".join(bodies) + ";").sets
    expected = {ord(word[0]) for word in words} | set(b"xyz12") | {"é".encode()[0]}
    for _ in range(2):  # the second time, the leading bytes are known
        assert {byte for byte in range(256) if sets.goto(sets.start_set, byte)} == expected
    assert sets.table.last_scan[sets.start_set] - sets.table.first_scan[sets.start_set] >= len(bodies)
    after = sets.goto(sets.start_set, ord("a"))
    assert {byte for byte in range(256) if sets.goto(after, byte)} == set(b"02")


@pytest.mark.one_in(1, uncompiled=3)
@pytest.mark.parametrize("seed", range(60))
def test_bytes_of_a_literal_read_at_once_lead_where_steps_lead(seed: int) -> None:
    rng = random.Random(seed)
    words = ["".join(rng.choices("ab", k=rng.randint(1, 40))) for _ in range(rng.randint(1, 4))]
    text = "start ::= (" + " | ".join(f"'{word}'" for word in words) + ") #'[cd]*' start? | 'aé' 'ba' #'b+';"
    compiled, by_steps = compiled_from(text), compiled_from(text)
    for _ in range(20):
        start, stepped = compiled.sets.start_set, by_steps.sets.start_set
        data = rng.choice(words).encode() + rng.choice([b"", b"c", b"d" * 3]) + rng.choice(words).encode()
        if rng.random() < 0.3:
            data = data[: rng.randint(0, len(data))] + rng.choice([b"a", b"b", b"x"])
        matcher, at = Matcher(compiled), 0
        while at < len(data):
            part = data[at : at + rng.randint(1, 9)]
            known = [compiled.sets.goto_all(start, data[: at + read]) > 0 for read in range(len(part) + 1)]
            if not all(known):
                with pytest.raises(structgen.TokenRejectedError):
                    matcher.accept_bytes(part)
                break
            matcher.accept_bytes(part)
            at += len(part)
            stepped = by_steps.sets.goto_all(stepped, part)
            assert matcher.is_accepting == bool(by_steps.sets.table.accepting[stepped])
            assert matcher.allowed_token_ids() == [byte for byte in range(256) if by_steps.sets.goto(stepped, byte)]


def test_the_bytes_of_a_literal_make_no_sets_between() -> None:
    compiled = compiled_from("start ::= 'abcdefghijklmnop' #'[x-z]*';")
    matcher = Matcher(compiled)
    matcher.accept_bytes(b"abcdefghij")
    assert compiled.sets.set_count == 3  # the dead one, the first, and the one after ten bytes
    matcher.accept_bytes(b"klmnopx")
    assert matcher.allows_bytes(b"y") and matcher.is_accepting


@pytest.mark.one_in(1, uncompiled=3)
@pytest.mark.parametrize("seed", range(60))
def test_equal_bytes_read_at_once_lead_where_steps_lead(seed: int) -> None:
    rng = random.Random(seed)
    gaps = ["#' {0,9}'", "#' {3,12}'", "#'[ \\n]{0,20}'", "#' *'", "#'( |  b){2,9}'", "#'(   )*'"]
    values = ["'x'", "' y'", "'y' start?", "#' {4}[xy]'", "'[' start ']'", "#'[a-z ]{2,8}'"]
    gap = rng.choice(gaps)
    text = f"start ::= lead {gap} value | 'b' #'[ab]{{0,12}}' {gap} 'c'; lead ::= 'a' | 'a(' start ')'; value ::= "
    text += " | ".join([*rng.sample(values, 3), "'<' start '>'"]) + ";"  # so that the gap is a terminal of its own
    compiled, by_steps = compiled_from(text), compiled_from(text)
    for _ in range(40):
        lengths = [rng.choice([0, 1, 3, 4, 5, 8, 11, 25]) for _ in range(3)]
        data = rng.choice([b"a", b"ba"]) + b" " * lengths[0] + rng.choice([b"\n", b"b", b"y", b"x", b"[", b"c"])
        data += b" " * lengths[1] + rng.choice([b"a", b"aaaaaa", b"x"]) + b" " * lengths[2]
        step, at, stepped = rng.choice([4, 7, 40]), 0, by_steps.sets.start_set
        matcher = Matcher(compiled)
        while at < len(data):
            part = data[at : at + step]
            after = by_steps.sets.goto_all(stepped, part)
            if not after:
                with pytest.raises(structgen.TokenRejectedError):
                    matcher.accept_bytes(part)
                break
            matcher.accept_bytes(part)
            at, stepped = at + step, after
            assert matcher.is_accepting == bool(by_steps.sets.table.accepting[stepped])
            assert matcher.allowed_token_ids() == [byte for byte in range(256) if by_steps.sets.goto(stepped, byte)]


def test_white_space_up_to_a_bound_makes_no_sets_between() -> None:
    compiled = compiled_from("start ::= 'a' #'[ \\n]{0,64}' ('1' | '2');")
    matcher = Matcher(compiled)
    matcher.accept_bytes(b"a" + b" " * 50)
    assert (
        compiled.sets.set_count == 5
    )  # the dead one, the first, those after the letter and one blank, and the last one
    assert matcher.allowed_token_ids() == sorted(b" \n12")
    matcher.accept_bytes(b" " * 14)
    assert matcher.allowed_token_ids() == sorted(b"12")
