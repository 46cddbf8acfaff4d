"""Checks of a grammar besides its syntax."""

import re

import pytest

from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.kbnf import parse
from structgen.kbnf.rewriting import group_rules
from structgen.kbnf.validation import excluded_strings, find_start, validate


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the start nonterminal 'start' is not defined"),
        ("stat ::= 'a';", "'start' is not defined\nHint: did you mean 'stat'?"),
        (
            "start ::= 'a' [nunber]; number ::= 'b';",
            "'nunber', used in the rule 'start', is not defined\nHint: did you mean 'number'?",
        ),
        ("start ::= except!(x);", "in the rule 'start': the nonterminal 'x' in an except! is not defined"),
        ("start ::= except!('');", "in the rule 'start': an except! excludes the empty string"),
        ("start ::= except!(x); x ::= 'a' 'b'?;", "excludes something other than plain strings"),
        ("start ::= except!(x); x ::= ('' | 'a') '';", "in the rule 'start': an except! excludes the empty string"),
        ("start ::= except!(x); x ::= " + "('a' | 'b') " * 14 + ";", "excludes more than 10000 strings"),
        ("start ::= except!(x); x ::= 'a' | y; y ::= 'b';", "excludes something other than plain strings"),
        ("start ::= except!(x); x ::= #'a';", "excludes something other than plain strings"),
    ],
)
def test_errors(text, message):
    for check in (validate, normalize):
        with pytest.raises(GrammarError) as caught:
            check(parse(text))
        assert message.split("\n")[-1] in str(caught.value)
    with pytest.raises(GrammarError) as caught:
        validate(parse(text))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "start ::= 'a';",
        "start ::= except!('a') except!(x,3); x ::= 'a' | ('b' | 'c'); x ::= 'd';",
        "start ::= except!(x); x ::= ('a' | 'b') ('c' | 'd', ('e' | '')) | 'f';",
        "start ::= start;",
    ],
)
def test_valid(text):
    validate(parse(text))


def test_except_is_text_in_which_no_string_occurs(language):
    assert language(normalize(parse("start ::= except!('ab') 'b';"))) == language(
        normalize(parse("start ::= 'b'* 'a'* 'b';"))
    )
    tables = normalize(parse("start ::= except!(x,2) 'ba'; x ::= 'a' | 'bb';"))
    assert language(tables) == {b"ba", b"bba"}


def test_except_of_concatenations_and_groups():
    """Groups multiply out, as by hand."""
    tree = parse("start ::= except!(x) 'a'; x ::= ('a' | 'b' '') (('a' | '') 'b' | 'c') | 'aa';")
    rules = group_rules(tree)
    assert excluded_strings(tree.rules[0].body.parts[0], rules) == [b"aab", b"ab", b"ac", b"bab", b"bb", b"bc", b"aa"]


def test_except_of_a_concatenation_is_except_of_its_string(language):
    for written, text in [
        ("'a' 'b'", "'ab'"),
        ("('a' | 'b') 'a'", "'aa' | 'ba'"),
        ("'b', ('b' | 'a' 'b')", "'bb' | 'bab'"),
    ]:
        tables = normalize(parse(f"start ::= except!(x); x ::= {written};"))
        assert language(tables) == language(normalize(parse(f"start ::= except!(x); x ::= {text};")))


def test_rules_that_nothing_uses_are_checked_too():
    grammar = ast.Grammar((ast.Rule("start", ast.Literal(b"a")), ast.Rule("x", ast.Reference("y"))))
    for check in (validate, normalize):
        with pytest.raises(GrammarError, match="'y', used in the rule 'x'"):
            check(grammar)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x ::= start; start ::= 'a';", "start"),
        ("root ::= x; x ::= 'a' | x 'b';", "root"),
        ("root ::= 'a' | '(' root ')';", "root"),
        ("x ::= 'a'; root ::= except!(x) 'b'; y ::= 'c'; root ::= y;", "root"),
    ],
)
def test_the_start_is_found(text, found):
    assert find_start(parse(text)) == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x ::= 'a'; y ::= 'b'; z ::= 'c';", "several rules are used by no other: 'x', 'y', 'z'$"),
        ("a ::= 'a'; b ::= 'a'; c ::= 'a'; d ::= 'a'; e ::= 'a'; f ::= 'a';", "'a', 'b', 'c', 'd', 'e', …$"),
        ("x ::= 'a' y; y ::= x | 'b';", "every rule is used by another$"),
    ],
)
def test_a_start_that_cannot_be_found(text, message):
    with pytest.raises(GrammarError) as caught:
        find_start(parse(text))
    assert re.search(message, str(caught.value).split("\nHint: ")[0])
    assert "start=" in caught.value.hint
