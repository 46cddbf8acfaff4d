"""Grammars whose terminals match whole characters: the same texts as far as they are text, or a refusal by name."""

import itertools

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex import tree as rx
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.characters import character_regex, of_characters
from structgen.kbnf.reading.kbnf import parse
from structgen.kbnf.regular import regular
from structgen.kbnf.rewriting import group_rules

TEXTS = ["".join(text) for length in range(4) for text in itertools.product('ab"é😀', repeat=length)]


def is_whole(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@settings(max_examples=30)
@given(data=st.data())
def test_a_regex_keeps_its_texts_and_has_no_others(data, strategies):
    regex = data.draw(strategies["regexes"]())
    try:
        changed = character_regex(regex)
    except GrammarError:
        assume(False)
    store = AutomatonStore()
    old, new = store.add(regex), store.add(changed)
    for text in TEXTS[:31]:
        assert store.matches(old, text.encode()) == store.matches(new, text.encode())
    assert store.is_empty(rx.difference(changed, rx.star(rx.ANY_CHAR)))


@pytest.mark.parametrize(
    "terminal", ["any!", "#ex'a'", "#ex'ab'", "#ex'é|b'", "except!('a')", "except!('é')", "#substrs'aéb'", "#e'.*é'"]
)
def test_terminals_of_bytes(terminal):
    tree = parse(f"start ::= {terminal};")
    before, after = (regular(ast.Reference("start"), group_rules(one)) for one in (tree, of_characters(tree)))
    store = AutomatonStore()
    old, new = store.add(before), store.add(after)
    for text in TEXTS:
        assert store.matches(old, text.encode()) == store.matches(new, text.encode()), text
    assert store.is_empty(rx.difference(after, rx.star(rx.ANY_CHAR)))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (ast.Literal(b"\xc3"), r"the rule 'start': the bytes b'\\xc3' are no text"),
        (ast.RegexTerminal(rx.ByteSet(1 << 200)), "bytes that are no characters"),
        (ast.RegexTerminal(rx.Repeat(rx.ByteSet((1 << 256) - 1), 2, 5)), "counts bytes, not characters"),
        (ast.Except(ast.Literal(b"a"), 3), "the limit of 'except!' counts bytes"),
        (ast.Token(("</s>",)), "a token terminal has no characters"),
        (ast.Hole("answer", object()), r"a schema stands in the grammar \(answer\)"),
    ],
)
def test_what_has_no_such_form_is_refused_by_name(body, message):
    with pytest.raises(GrammarError, match=message):
        of_characters(ast.Grammar((ast.Rule("start", body),)))
