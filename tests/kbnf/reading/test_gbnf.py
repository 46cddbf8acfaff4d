"""GBNF: what is read, what is refused and where, and that what is written is read back as the same language."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.foreign_grammars import GBNF
from support.texts import is_read
from support.vocabularies import BYTES

import structgen
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.regex import tree as rx
from structgen.errors import GrammarError, LimitExceededError
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.gbnf import parse_gbnf
from structgen.kbnf.reading.kbnf import parse
from structgen.kbnf.writing.gbnf import print_gbnf, print_xgrammar

SETTINGS = settings(suppress_health_check=list(HealthCheck))
ASCII = rx.Chars(((0, 0x7F),))


def belongs(grammar: ast.Grammar, text: str) -> bool:
    return is_read(CompiledGrammar(normalize(grammar), BYTES, eager=False), text)


@pytest.mark.parametrize("name", GBNF)
def test_texts_of_grammars(name):
    grammar = structgen.Grammar.gbnf(GBNF[name].text)
    assert (grammar.kind, grammar.eager) == ("gbnf", False)
    for text in GBNF[name].valid:
        assert belongs(grammar.tree, text), text
    for text in GBNF[name].invalid:
        assert not belongs(grammar.tree, text), text


def test_a_rule_may_have_the_name_of_a_macro():
    assert belongs(structgen.Grammar.gbnf('root ::= Token("a")\nToken ::= "b"').tree, "ba")


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ('root ::= "a', 1, 10, "this string has no end"),
        ("root ::= [a", 1, 10, "this class has no end"),
        ('root ::= ("a"\n', 1, 10, "this group has no end"),
        ("root ::= <think", 1, 10, "expected a token"),
        ("root ::= <[a]>", 1, 12, "'a' is no token id"),
        ('root ::= !"a"', 1, 10, "expected a token"),
        ('root ::= "a" b', 1, 14, "the rule 'b' is not defined"),
        ("root ::= [z-a]", 1, 11, "wrong order"),
        ("root ::= []", 1, 10, "this class is empty"),
        ('root ::= "a"\n  | "b"', 2, 3, "end the line with '|'"),
        ('root ::= "a"\nroot ::= "b"', 2, 1, "defined twice"),
        ('x ::= "a"', 1, 1, "no rule 'root'"),
        ("root ::= *", 1, 10, "nothing to repeat"),
        ('root ::= "a"{3,2}', 1, 13, "wrong order"),
        ('root ::= "a"{x}', 1, 13, "expected a repetition"),
        ('root ::= "a"{1234567890}', 1, 13, "more than 9 digits"),
        (r'root ::= "\q"', 1, 11, r"unknown escape \\q"),
        (r'root ::= "\u00g0"', 1, 11, "expected 4 hexadecimal digits"),
        (r'root ::= "\ud800"', 1, 11, r"U\+D800 is not a Unicode character"),
        ('root = "a"', 1, 6, "expected '::=' after the rule's name"),
        ('root ::= "a" Token(4, 5)', 1, 14, r"Token\(…\) is a macro of xgrammar[^\0]*write <\[4\]>"),
        ('root ::= TagDispatch(("a", b))', 1, 10, r"TagDispatch\(…\) is a macro[^\0]*reads triggered_tags"),
        ("root ::= 'a'", 1, 10, "strings are written between double quotes"),
        ('root ::= "a" (="b")', 1, 15, r"look-aheads of xgrammar, \(=…\), are not read"),
        ('root[lazy] ::= "a"', 1, 5, "Grammar.lark reads such attributes"),
        ("root ::= 'a'", 1, 10, "expected a name, a string, a class"),
        ('root ::= "a" )', 1, 14, "expected a name"),
    ],
)
def test_what_is_refused_is_pointed_at(text, line, column, says):
    with pytest.raises(GrammarError, match=says) as caught:
        parse_gbnf(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert "^" in str(caught.value)


def test_limits_and_depth():
    depth = 20_000
    assert belongs(parse_gbnf("root ::= " + "(" * depth + '"a"' + ")" * depth), "a")
    with pytest.raises(LimitExceededError):
        parse_gbnf('root ::= "a" "b" "c"', limits=structgen.Limits(grammar_symbols=2))


@SETTINGS
@given(data=st.data())
def test_what_is_written_is_read_back_as_the_same_language(data, language, strategies):
    regexes = strategies["regexes"]().map(lambda r: ast.RegexTerminal(rx.intersection(rx.star(ASCII), r)))
    grammar = data.draw(strategies["grammars"](regexes))
    wanted = language(grammar)
    for write in (print_gbnf, print_xgrammar):
        try:
            text = write(grammar)
        except GrammarError as error:
            if "derives no text" in str(error):
                assert not wanted
            else:
                assert write is print_gbnf
                assert "left recursion" in str(error) or "may be empty" in str(error)
            continue
        assert language(normalize(parse_gbnf(text))) == wanted


@pytest.mark.parametrize(
    ("kbnf", "says"),
    [
        ('start ::= start "a" | "b";', "start begins with itself|root → root"),
        ('start ::= x; x ::= ["c"] y; y ::= x "a" | "b";', "x → y → x|y → x → y"),
        ("start ::= {['a']} 'b';", "cannot repeat an expression that may be empty"),
        ("start ::= #ex'a';", "not UTF-8"),
        ("start ::= !#'[a-z]' 'a';", "GBNF cannot express the look-ahead"),
        ("start ::= 'a' start;", "derives no text"),
    ],
)
def test_what_llama_cpp_cannot_read_is_refused_by_name(kbnf, says):
    with pytest.raises(GrammarError, match=says):
        print_gbnf(parse(kbnf))


def test_of_options_of_nothing_nothing_is_left():
    # Their repetition would be refused: the empty text without end.
    assert print_gbnf(parse("start ::= {['b' x]} 'a'; x ::= x;")) == 'root ::= "a"\n'
    assert print_gbnf(parse("start ::= {['b' x]} | 'c'; x ::= x;")) == 'root ::= "" | "c"\n'


@pytest.mark.slow
def test_large_counts_are_blocks():
    for least, most in ((0, 5000), (2500, 7001), (3001, None), (0, 2_500_000), (1000, 1000)):
        grammar = ast.Grammar((ast.Rule("start", ast.Bounded(ast.Literal(b"ab"), least, most)),))
        text = print_gbnf(grammar)
        assert len(text) < 2000
        numbers = [int(n) for part in text.split("{")[1:] for n in part.split("}")[0].split(",") if n]
        assert max(numbers) <= 1000
        again = parse_gbnf(text)
        for count in {0, 1, 999, 1000, 1001, 2500, 3000, 3001, 5000, 5001, 7001, 7002}:
            inside = least <= count <= (most or count)
            assert belongs(again, "ab" * count) is inside, (least, most, count)


def test_names_that_a_dialect_does_not_take():
    rules = [
        ("start", ast.Sequence((ast.Reference("a_b"), ast.Reference("a-b"), ast.Reference("true")))),
        ("a_b", ast.Literal(b"1")),
        ("a-b", ast.Literal(b"2")),
        ("true", ast.Reference("root")),
        ("root", ast.Literal(b"3")),
    ]
    grammar = ast.Grammar(tuple(ast.Rule(*rule) for rule in rules))
    assert (
        print_gbnf(grammar) == 'root ::= a-b-2 a-b true\na-b-2 ::= "1"\na-b ::= "2"\ntrue ::= root-2\nroot-2 ::= "3"\n'
    )
    assert "true ::=" not in print_xgrammar(grammar)
    assert belongs(parse_gbnf(print_xgrammar(grammar)), "123")


def test_tokens():
    body = parse_gbnf("root ::= <think> !<think>* !<[1000]> <[7]>").rules[0].body
    think = ast.Token(("<think>",))
    assert body == ast.Sequence(
        (
            think,
            ast.ZeroOrMore(ast.Token(("<think>",), is_negated=True)),
            ast.Token(ids=((1000, 1000),), is_negated=True),
            ast.Token(ids=((7, 7),)),
        )
    )
