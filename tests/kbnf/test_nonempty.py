"""The texts of a grammar but the empty one."""

from dataclasses import replace
from itertools import product

import pytest
from support.texts import constraint_of, is_read

import structgen
from structgen.errors import GrammarError
from structgen.kbnf.nonempty import without_empty_text
from structgen.kbnf.reading.kbnf import parse

TEXTS = [bytes(text) for size in range(5) for text in product(b"ab", repeat=size)]
GRAMMARS = [
    "start ::= 'a'*;",
    "start ::= 'a'? 'b'? ['ab'];",
    "start ::= ''; start ::= 'b' start;",
    "start ::= item*; item ::= 'a'? #'b{0,2}';",
    "start ::= x x+ (x | #'a*'); x ::= 'a' x 'b' | '';",
    "start ::= except!('ab') | #substrs'ba';",
    "start ::= (#'[ab]*' - 'a') y; y ::= y start | '' | y;",
    "start ::= except!(x); x ::= 'aa' | 'bb';",
    "start ::= any!? empty; empty ::= '' | #'a{0}' empty;",
    "start ::= 'a' 'b'*;",
]


def texts_of(grammar: structgen.Grammar) -> list[bytes]:
    constraint = constraint_of(grammar)
    return [text for text in TEXTS if is_read(constraint, text)]


@pytest.mark.parametrize("dialect", ["gbnf", "lark"])
@pytest.mark.parametrize("text", GRAMMARS)
def test_an_export_to_a_notation_with_empty_texts_has_none(text: str, dialect: str) -> None:
    """Structgen reads KBNF so, too: its own masks have no empty text."""
    grammar = structgen.Grammar.kbnf(text, eager=False)
    expected = [one for one in texts_of(grammar) if one]
    try:
        written = structgen.export(grammar, dialect)
    except GrammarError as error:
        assert "left recursion" in str(error) or "may be empty" in str(error) or "UTF-8" in str(error)
        return
    read = {"gbnf": structgen.Grammar.gbnf, "lark": structgen.Grammar.lark}[dialect](written)
    assert texts_of(read) == expected


def test_counts() -> None:
    """GBNF has counts, and KBNF has none."""
    for text in ['root ::= "a"{0,2} b{2,3}\nb ::= "b"?', 'root ::= ("a"? "b"?){0,2} "a"{0}', 'root ::= ("a"?){3,}']:
        grammar = structgen.Grammar.gbnf(text)
        tree = without_empty_text(grammar.tree)
        assert b"" in texts_of(grammar)
        written = structgen.export(replace(grammar, tree=tree), "xgrammar")
        assert texts_of(structgen.Grammar.gbnf(written)) == [one for one in texts_of(grammar) if one], text


def test_a_grammar_without_the_empty_text_stays() -> None:
    tree = parse("start ::= 'a' 'b'*;")
    assert without_empty_text(tree) is tree


def test_the_only_text() -> None:
    with pytest.raises(GrammarError, match="the empty text is the only text"):
        without_empty_text(parse("start ::= '' | ''? #'a{0}'*;"))


def test_a_part_of_a_template_and_a_text_before_an_end() -> None:
    letters = structgen.Grammar.kbnf("start ::= 'a'*;", eager=False)
    assert structgen.export(letters, "gbnf", end="b") == 'root ::= start "b"\nstart ::= "a"+\n'
    read = structgen.Grammar.kbnf(structgen.export(letters, "kbnf", end="b"), eager=False)
    assert texts_of(read) == [b"ab", b"aab", b"aaab"]
    template = structgen.template("({x})", x=letters)
    assert is_read(constraint_of(template), "(a)")
    for one in (template, structgen.Grammar.gbnf(structgen.export(template, "gbnf"))):
        assert not is_read(constraint_of(one), "()")
