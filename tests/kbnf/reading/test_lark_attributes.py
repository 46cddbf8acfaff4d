"""Lazy rules, suffixes and stops: their texts against definitions that try all texts."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.texts import is_read
from support.vocabularies import BYTES

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.regex import tree as rx
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.lark import parse_lark
from structgen.kbnf.reading.lark_attributes import before_stop
from structgen.kbnf.reading.lark_words import words_of

ALL = ["".join(word) for size in range(6) for word in itertools.product("ab", repeat=size)]
REGEXES = ["/[ab]*/", "/a*b?/", "/(ab)*/", "/b|ab|aab/", "/a+/", "/a?b?/"]


def belongs(grammar: ast.Grammar, text: str) -> bool:
    return is_read(CompiledGrammar(normalize(grammar), BYTES, eager=False), text)


def texts_of(grammar: str) -> set[str]:
    compiled = CompiledGrammar(normalize(parse_lark(grammar)), BYTES, eager=False)
    return {text for text in ALL if is_read(compiled, text)}


def shortest(texts: set[str]) -> set[str]:
    return {text for text in texts if not any(text != other and text.startswith(other) for other in texts)}


@pytest.mark.parametrize("regex", REGEXES)
def test_lazy_rules_have_the_shortest_texts(regex):
    texts = texts_of(f"start: {regex}")
    assert texts_of(f"start: x\nx[lazy]: {regex}") == shortest(texts)
    for suffix in ('"a"', '"ab"', "/b?a/"):
        assert texts_of(f"start: x\nx[suffix={suffix}]: {regex}") == shortest(texts_of(f"start: {regex} {suffix}"))


@given(st.sampled_from(REGEXES), st.sets(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=3))
def test_a_stop_ends_a_text_before_it(regex, stops):
    """A text is followed by some stop text, and no stop text ends earlier."""
    body = parse_lark(f"start: {regex}").rules[0].body.regex
    store = AutomatonStore()
    found = before_stop(body, rx.literal_set([stop.encode() for stop in stops]))
    if found is None:
        assert any(one in other[1:-1] for one in stops for other in stops)
        return
    before, state = store.add(body), store.add(found)
    whole = ["".join(word) for size in range(9) for word in itertools.product("ab", repeat=size)]
    with_stop = {text for text in whole for stop in stops if text.endswith(stop) and matches(store, before, text, stop)}
    for text in ALL:
        expected = store.matches(before, text.encode()) and any(
            not any((text + stop)[:size] in with_stop for size in range(len(text + stop))) for stop in stops
        )
        assert store.matches(state, text.encode()) == expected, text


def matches(store: AutomatonStore, body: int, text: str, stop: str) -> bool:
    return store.matches(body, text.removesuffix(stop).encode())


def test_a_stop_may_be_a_set_of_characters():
    grammar = parse_lark("start: x /[;,]/\nx[stop=/[;,é]/]: /.*/")
    assert belongs(grammar, "ab;")
    assert not belongs(grammar, "ab;,")
    assert not belongs(grammar, "aéb;")


@pytest.mark.parametrize(
    ("text", "valid", "invalid"),
    [
        ('start: x "b"\nx[stop=""]: /[ab]*/', ["aab", "b"], ["aa"]),
        ('start: x X\nx[stop=X]: /[a-z]*/\nX: "end"', ["abend"], ["abendend", "ab"]),
        ('start: x "b"\nx[suffix=X, lazy, capture]: /[a-z]*/\nX: "end"', ["abendb"], ["abendendb"]),
        ('start: x "!"\n%ignore / +/\nx[lazy]: /[a-z ]*;/', ["a b;  !", ";!"], ["a;b;!"]),
        ('start: x "!"\nx[lazy]: /[a-z]*/', ["!"], ["a!"]),
        ('%llguidance {"skip_repetition": "once"}\n%ignore / {1,2}/\nstart: "a" "b"', ["a  b", "ab"], ["a   b"]),
        ('%llguidance {"skip_repetition": "unbounded"}\n%ignore / {1,2}/\nstart: "a" "b"', ["a   b"], []),
        ('%llguidance {"allow_initial_skip": true}\n%ignore / +/\nstart: "a" "b"', ["  a b"], ["a"]),
        ('start: %regex { "substring_words": "foo bar. baz" }', ["foo bar", ". baz", ""], ["ba", "foo "[:2]]),
        ('start: %regex { "substring_words": "" }', [""], ["a"]),
        # A lazy rule ends the others that may begin with it; what is at other places stays.
        ('start: (x "1" | Y "2")+ "!" Y\nx[lazy]: Y ";"\nY: /[a-z;]+/', ["a;1ab2!a;b"], ["a;b2!a", "a;2!a"]),
        ('start: Y x\nx[suffix=";"]: /a*/\nY: /[a-z;]/', [";aa;"], ["aa"]),
        ("start: x | y\nx[lazy]: /[a-z]*/\ny: /[a-z]+;/", ["", "ab;"], ["ab"]),
        ('start: "(" x ")" | "(" Y "]"\nx[lazy]: /[a-z]*;/\nY: /[a-z;]*/', ["(a;)", "(ab]"], ["(a;]"]),
        ('start: "(" Y+ x ")"\nx[lazy]: /[a-z]*;/\nY: /[a-z;]*,/', ["(a,b,c;)"], ["(a,c;b,;)"]),
        ('start: ("(" | "[") (x ")" | Y "]")\nx[lazy]: /[a-z]*;/\nY: /[a-z;]*/', ["[a;)", "(ab]"], ["(a;]"]),
        ('start: a "!" | Y "?"\na: b? x\nb: "b" c\nc: x?\nx[lazy]: /[a-z]*;/\nY: /[a-z;]*/', ["b;!", "b?"], ["b;?"]),
    ],
)
def test_what_is_read(text, valid, invalid):
    grammar = parse_lark(text)
    for word in valid:
        assert belongs(grammar, word), word
    for word in invalid:
        assert not belongs(grammar, word), word


def test_attributes_of_imported_rules_are_kept(tmp_path):
    (tmp_path / "parts.lark").write_text('x[capture, suffix=MARK]: WORD\nMARK: "end"\nWORD: /[a-z]*/\n')
    grammar = parse_lark('%import parts.x\nMARK: "!"\nstart: x MARK', import_paths=[tmp_path])
    assert belongs(grammar, "abend!")
    assert next(rule for rule in grammar.rules if rule.name == "x").capturing.name == "x"


@given(st.text())
def test_words_are_the_text(text):
    words = words_of(text)
    assert "".join(words) == text
    assert all(words)
