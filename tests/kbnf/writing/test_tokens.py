"""Token terminals in each notation: written, read again, and refused by name where a notation has none."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from support.grammars import random_grammar

import structgen
from structgen import Grammar, GrammarError
from structgen.kbnf import ast
from structgen.kbnf.reading.gbnf import parse_gbnf
from structgen.kbnf.reading.kbnf import parse
from structgen.kbnf.reading.lark import parse_lark
from structgen.kbnf.rewriting import nodes_of, rewrite
from structgen.kbnf.writing.gbnf import print_gbnf, print_xgrammar
from structgen.kbnf.writing.kbnf import print_grammar
from structgen.kbnf.writing.lark import print_lark

NODES = (
    ast.Token(("<|im_end|>",)),
    ast.Token(('it\'s "]"',)),
    ast.Token(("<a>", "<b>"), ((3, 3), (7, 9))),
    ast.Token((), ((5, 5),)),
    ast.Token(("<a>",), ((7, 9),), True),
    ast.Token(is_negated=True),
)


def tokens_of(tree: ast.Grammar) -> list[ast.Token]:
    return [node for rule in tree.rules for node in nodes_of(rule.body) if isinstance(node, ast.Token)]


@pytest.mark.parametrize("node", NODES, ids=repr)
def test_kbnf_is_read_back(node: ast.Token) -> None:
    tree = ast.Grammar((ast.Rule("start", ast.Sequence((ast.Literal(b"a"), ast.OneOrMore(node)))),))
    text = print_grammar(tree, has_tokens=True)
    assert parse(text) == tree, text


@pytest.mark.parametrize("seed", range(30))
def test_random_grammars_in_kbnf_are_read_back(seed: int) -> None:
    rng = random.Random(seed)

    def change(node: ast.Expression) -> ast.Expression:
        return rng.choice(NODES) if isinstance(node, ast.RegexTerminal) or rng.random() < 0.1 else node

    grammar = random_grammar(rng)
    rules = [replace(rule, body=rewrite(rule.body, change)) for rule in grammar.rules]
    tree = ast.Grammar((ast.Rule("start", ast.Reference(rules[0].name)), *rules))
    once = print_grammar(tree, has_tokens=True)
    assert print_grammar(parse(once), has_tokens=True) == once


TEXT = "start ::= 'a' #token'<think>' #token[7-8]+ #token[^5]? b; b ::= 'b' b | #token'</think>';"


def test_gbnf() -> None:
    text = print_gbnf(parse(TEXT))
    assert text == ('root ::= "a" <think> (<[7]> | <[8]>)+ !<[5]>? b\nb ::= "b" b | </think>\n')
    assert tokens_of(parse_gbnf(text))[-1] in (ast.Token(("</think>",)), ast.Token(("<think>",)))


def test_lark() -> None:
    text = print_lark(parse(TEXT))
    assert text == "start: /a/ <think> <[7-8]>+ <[^5]>? b\nb: /b/ b | </think>\n"
    assert set(tokens_of(parse_lark(text))) == set(tokens_of(parse(TEXT)))


def test_xgrammar() -> None:
    assert print_xgrammar(parse("start ::= 'a' #token[7-8] #token[^5]*;")) == (
        'root ::= "a" Token(7, 8) ExcludeToken(5)*\n'
    )


@pytest.mark.parametrize(
    ("to", "grammar", "says"),
    [
        ("kbnf", "start ::= #token[7];", "the published KBNF cannot express the token terminal in the rule 'start'"),
        ("kbnf-older", "start ::= #token[7];", "cannot express the token terminal"),
        ("gbnf", "start ::= #token[^7,8];", "GBNF cannot express the token terminal #token"),
        ("gbnf", "start ::= #token'think';", "GBNF cannot express the token terminal #token'think'"),
        ("gbnf", "start ::= #token[0-5000];", "GBNF cannot express the token terminal"),
        ("xgrammar", "start ::= #token'<think>';", "xgrammar's EBNF cannot express the token terminal"),
        ("xgrammar", "start ::= #token[*];", "xgrammar's EBNF cannot express the token terminal"),
        ("lark", "start ::= #token[^'<think>'];", "llguidance's Lark cannot express the token terminal"),
    ],
)
def test_what_a_notation_lacks_is_refused_by_name(to: str, grammar: str, says: str) -> None:
    with pytest.raises(GrammarError) as caught:
        structgen.export(Grammar.kbnf(grammar), to)
    assert says in str(caught.value)
