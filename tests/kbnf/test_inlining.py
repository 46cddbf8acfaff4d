"""Rules that are written in place of their names."""

from __future__ import annotations

from structgen.kbnf.inlining import inlined
from structgen.kbnf.reading.kbnf import parse
from structgen.kbnf.writing.kbnf import print_grammar


def _written(text, *candidates):
    return print_grammar(inlined(parse(text), candidates))


def test_a_rule_that_is_used_once_goes():
    assert _written("start ::= 'a' b; b ::= 'b' 'c' 'd';", "b") == "start ::= 'a' 'b' 'c' 'd';\n"


def test_a_short_rule_goes_wherever_it_is_used():
    assert _written("start ::= b b; b ::= 'b' c; c ::= 'c';", "b") == "start ::= 'b' c 'b' c;\nc ::= 'c';\n"


def test_what_is_long_and_used_twice_stays():
    text = "start ::= b b;\nb ::= 'b' 'c' 'd';\n"
    assert _written(text, "b") == text


def test_alternatives_stay_a_rule():
    text = "start ::= 'a' b;\nb ::= 'b' | 'c';\n"
    assert _written(text, "b") == text


def test_only_candidates_go():
    text = "start ::= 'a' b;\nb ::= 'b';\n"
    assert _written(text) == text


def test_a_chain_of_any_length():
    count = 3000
    rules = "".join(f"r{at} ::= 'x' r{at + 1};" for at in range(count))
    names = [f"r{at}" for at in range(count + 1)]
    found = inlined(parse(f"start ::= r0; {rules} r{count} ::= 'y';"), names)
    assert len(found.rules) == 1
    assert len(found.rules[0].body.parts) == count + 1


def test_comments_stay_with_their_rules():
    grammar = parse("start ::= 'a' b; b ::= 'b';")
    grammar.rules[0].comment = "the start"
    assert print_grammar(inlined(grammar, ["b"])) == "\n(* the start *)\nstart ::= 'a' 'b';\n"
