"""Repetitions that become one terminal: the language is that of `re`."""

import re
from itertools import product

import pytest
from support.texts import is_read
from support.vocabularies import BYTES

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.normal_form.repeated_terminals import repeated_terminal, repeated_text
from structgen.kbnf.reading.gbnf import parse_gbnf
from structgen.kbnf.rewriting import group_rules

TEXTS = ["".join(text) for size in range(7) for text in product("abc", repeat=size)]

# The body in GBNF, and as a Python regex.
BODIES = [
    ('[^b]* "b"?', "[^b]*b?"),
    ("[^c]*", "[^c]*"),
    ("[^c]+", "[^c]+"),
    ('"a"?', "a?"),
    ('("a"* "b"){0,2}', "(?:a*b){0,2}"),
    ('(([^c]*){0,3}){0,2} "c"?', "(?:(?:[^c]*){0,3}){0,2}c?"),
    ('[ab]+ "c"', "[ab]+c"),
    ('"a" ("b" | "c"*)', "a(?:b|c*)"),
    ('("a" | deep)?', "(?:a|bc|bac|baac|baaac|baaaac)?"),
]
DEEP = 'deep ::= "b" tail\ntail ::= "a" tail | "c"\n'


def accepted(tables):
    """The given texts that a grammar derives."""
    compiled = CompiledGrammar(tables, BYTES)
    return {text for text in TEXTS if is_read(compiled, text)}


@pytest.mark.parametrize("count", ["{0,3}", "{2}", "{2,3}", "{2,}", "{0,1}"])
@pytest.mark.parametrize(("body", "regex"), BODIES)
def test_the_language_is_that_of_re(body, regex, count):
    grammar = parse_gbnf(f"root ::= x{count}\nx ::= {body}\n{DEEP}")
    expected = {text for text in TEXTS if re.fullmatch(f"(?:{regex}){count}", text)}
    assert accepted(normalize(grammar)) == expected


@pytest.mark.parametrize(
    "root",
    [
        'line{0,99}\nline ::= [^\\n]* "\\n"?',
        "(([^x]*){0,99}){0,99}",
        "((((([^x]*){0,99}){0,99}){0,99}){0,99}){0,99}",
        "([^x]+){99}",
    ],
)
def test_copies_that_run_into_each_other_are_one_terminal(root):
    tables = normalize(parse_gbnf(f"root ::= {root}\n"))
    assert len(tables.terminals) == 1
    assert len(tables.symbols) == 2  # the terminal, and the end of the only rule


def test_other_repetitions_stay_rules():
    grammar = parse_gbnf('root ::= x{0,99}\nx ::= [^x]+ "x" | "y"\n')
    repeated = grammar.rules[0].body
    assert isinstance(repeated, ast.Bounded)
    assert repeated_terminal(repeated, group_rules(grammar)) is None


def test_copies_of_a_recursive_rule_that_may_be_empty_have_one_derivation():
    """Without the empty text, the rules of up to 99 copies have no bodies in which a copy is left out."""
    recursive = 'x ::= ("a" | "b" root "c")?\n'
    tables = normalize(parse_gbnf(f"root ::= x{{50,99}}\n{recursive}"))
    plain = normalize(parse_gbnf('root ::= x{0,99}\nx ::= "a" | "b" root "c" | "bc"\n'))
    assert tables.accepts_empty
    assert len(tables.symbols) <= len(plain.symbols)


def test_bounds_are_checked_inside_a_repetition():
    inner = ast.Bounded(ast.Option(ast.Literal(b"a")), 3, 1)
    grammar = ast.Grammar((ast.Rule("start", ast.Bounded(inner, 0, 2)),), "start")
    with pytest.raises(GrammarError):
        normalize(grammar)


# A text, in GBNF and as a Python regex: a character other than `b`, or an escape.
TEXT = ('([^b] | "b" [ab])', "(?:[^b]|b[ab])")


@pytest.mark.parametrize("operator", ["*", "+"])
@pytest.mark.parametrize(
    ("after", "regex", "is_one"), [('"b"', "b", True), ('"bc"', "bc", True), ("", "", True), ("end", "b?", False)]
)
def test_a_repeated_text_and_the_literal_after_it_are_one_terminal(operator, after, regex, is_one):
    grammar = parse_gbnf(f'root ::= {TEXT[0]}{operator} {after}\nend ::= "b"?\n')
    tables = normalize(grammar)
    assert (len(tables.terminals) == 1) == is_one
    assert accepted(tables) == {text for text in TEXTS if re.fullmatch(f"{TEXT[1]}{operator}{regex}", text)}


@pytest.mark.parametrize("count", ["{2,}", "{17,}", "{0,2}", "{1,2}", "{2}", "{0}", "{2,4}"])
@pytest.mark.parametrize(("after", "regex"), [("", ""), ('"a"', "a"), ('"b"', "b"), ('"bc"', "bc")])
def test_a_counted_text_and_the_literal_after_it_are_one_terminal(count, after, regex):
    """Rules of such a repetition follow a token character by character: the first mask of a string took 30 ms."""
    tables = normalize(parse_gbnf(f"root ::= {TEXT[0]}{count} {after}\n"))
    assert len(tables.terminals) == (1 if after or count != "{0}" else 0)
    assert accepted(tables) == {text for text in TEXTS if re.fullmatch(f"{TEXT[1]}{count}{regex}", text)}


@pytest.mark.parametrize("end", ['"a"', '"b"', "", "end"])
@pytest.mark.parametrize("first", ["*", "+", "{0,2}"])
@pytest.mark.parametrize("last", ["*", "{1,3}"])
def test_repeated_texts_in_a_row_are_one_terminal(first, last, end):
    """A token may be divided between them in many ways: such a mask took half a second."""
    grammar = parse_gbnf(f'root ::= [^b]{first} text {end}\ntext ::= [^a]{last}\nend ::= "a"? "b"?\n')
    tables = normalize(grammar)
    assert (len(tables.terminals) == 1) == (end != "end")
    regex = f"[^b]{first}[^a]{last}" + (end.strip('"') if end != "end" else "a?b?")
    assert accepted(tables) == {text for text in TEXTS if re.fullmatch(regex, text)}


@pytest.mark.parametrize(
    "body", ['[abc] | "d"', "deep", '[^b] "c"', '[^b] | !"c" "b"'], ids=["few", "recursive", "pairs", "look-ahead"]
)
def test_repetitions_of_other_things_stay_rules(body):
    grammar = parse_gbnf('root ::= x*\nx ::= [^b]\ndeep ::= "b" deep | [^a]\n')
    if "!" in body:
        refused = ast.Sequence((ast.NotFollowedBy(ast.Literal(b"c")), ast.Literal(b"b")))
        inner = ast.Choice((ast.Reference("x"), refused))
    else:
        inner = parse_gbnf(f"root ::= {body}\ndeep ::= [^a]\n").rules[0].body
    grouped = group_rules(grammar)
    assert repeated_text(ast.ZeroOrMore(ast.Reference("x")), grouped) is not None
    assert repeated_text(ast.ZeroOrMore(inner), grouped) is None
