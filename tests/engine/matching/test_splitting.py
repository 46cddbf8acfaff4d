"""Grammars in a row: their texts, and the pieces of a text against all ways to cut it."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.texts import is_read, language
from support.vocabularies import BYTES, compiled_from

import structgen
from structgen.engine.grammar.composition import concatenation, repetition
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.splitting import split
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.kbnf import parse

RULES = [
    "start ::= #'a*';",
    "start ::= #'a|ab';",
    "start ::= 'a' start 'b' | 'c';",
    "start ::= #'[ab]+';",
    "start ::= 'b' | 'bb' | '';",
    "start ::= 'c'?;",
]
ALPHABET = "abc"
LONGEST = 5


def texts_of(rules):
    """Return all short texts of rules, the empty one too, which a whole grammar of KBNF never has."""
    as_gbnf = structgen.export(structgen.Grammar("gbnf", "", False, parse(rules)), "gbnf")
    return language(structgen.Grammar.gbnf(as_gbnf), ALPHABET, LONGEST)


TEXTS = {rules: texts_of(rules) for rules in RULES}
COMPILED = {rules: compiled_from(rules, BYTES) for rules in RULES}


def longest_first(text, parts):
    """Return the pieces found by trying every cut: the first part as long as possible, then the second."""
    if not parts:
        return [] if not text else None
    for end in range(len(text), -1, -1):
        piece = text[:end]
        if piece in TEXTS.get(parts[0], {parts[0]}):
            rest = longest_first(text[end:], parts[1:])
            if rest is not None:
                return [piece, *rest]
    return None


parts_of_texts = st.lists(st.sampled_from([*RULES, "a", "b", "ca"]), min_size=1, max_size=4)


@given(parts_of_texts, st.text(ALPHABET, max_size=LONGEST))
def test_pieces_are_the_longest_from_the_left(parts, text):
    """Where the text does not fit, there are no pieces."""
    engines = [COMPILED.get(part, part.encode()) for part in parts]
    pieces = split(text.encode(), engines)
    expected = longest_first(text, parts)
    assert pieces == (None if expected is None else [piece.encode() for piece in expected])


@given(parts_of_texts)
def test_concatenations_have_the_texts_of_their_parts(parts):
    """Any of the parts may be empty."""
    tables = [normalize(parse(part)) if part in RULES else part.encode() for part in parts]
    compiled = CompiledGrammar(concatenation(tables), BYTES)
    for size in range(4):
        for text in map("".join, itertools.product(ALPHABET, repeat=size)):
            assert is_read(compiled, text) == (longest_first(text, parts) is not None), text


def test_look_aheads_see_what_follows_their_part():
    """Two parts, each with look-aheads of its own."""
    parts = [normalize(parse(f"start ::= #'[ab]+' !'{sign}';")) for sign in "ab"]
    compiled = CompiledGrammar(concatenation([*parts, b"c"]), BYTES)
    assert is_read(compiled, "abbc")
    assert not is_read(compiled, "aac")


@pytest.mark.parametrize("least", [0, 1, 3])
@pytest.mark.parametrize("most", [None, 1, 3])
def test_repetitions_against_a_regex(least, most):
    """Bounds, separators, and one more at the end."""
    if most is not None and most < least:
        return
    item = normalize(parse("start ::= 'a' start 'b' | 'c';"))
    compiled = CompiledGrammar(repetition(item, b",", least, most), BYTES)
    bound = "" if most is None else str(most - 1)
    some = f"I(,I){{{max(least - 1, 0)},{bound}}},?"
    pattern = (some if least else f"({some})?").replace("I", "(c|acb|aacbb|aaacbbb)")
    for size in range(7):
        for text in map("".join, itertools.product("abc,", repeat=size)):
            assert is_read(compiled, text) == (re.fullmatch(pattern, text) is not None), text


def test_long_texts_of_ambiguous_parts_are_read_in_linear_time():
    """Every position of the text is a possible border; trying them one by one would take an hour."""
    part = compiled_from("start ::= #'[ab]*';", BYTES)
    text = b"ab" * 20_000
    assert split(text, [part, part, part]) == [text, b"", b""]
    assert split(text + b"c", [part, part, part]) is None


def test_sets_do_not_pile_up():
    """A grammar with nested texts has sets without end; reading many texts stays within the limit."""
    limits = structgen.Limits(item_sets=200)
    part = compiled_from("start ::= 'a' start 'b' | 'c';", BYTES, limits=limits)
    for depth in range(1, 90):
        text = b"a" * depth + b"c" + b"b" * depth
        assert split(text, [part]) == [text]


def test_one_text_may_need_more_sets_than_there_is_room_for():
    limits = structgen.Limits(item_sets=200)
    part = compiled_from("start ::= 'a' start 'b' | 'c';", BYTES, limits=limits)
    text = b"a" * 1000 + b"c" + b"b" * 1000
    assert split(text + b"ca", [part, part, b"a"]) == [text, b"c", b"a"]
