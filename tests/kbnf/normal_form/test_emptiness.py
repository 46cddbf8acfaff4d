"""Grammars without a text: refused, with the rule that is the cause; by brute force."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from structgen.engine.grammar.composition import has_text
from structgen.errors import GrammarError
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.gbnf import parse_gbnf
from structgen.kbnf.reading.kbnf import parse
from structgen.kbnf.reading.lark import parse_lark

SETTINGS = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("start ::= 'x' start;", "the rule 'start' has no alternative that ends"),
        ("start ::= a 'y'; a ::= 'x' a | a 'z';", "the rule 'a' has no alternative that ends"),
        ("start ::= 'a' x; x ::= 'b' y; y ::= ['c'] x;", "the rule 'x' has no alternative that ends"),
        ("start ::= {x} x; x ::= ('a' x)+;", "the rule 'x' has no alternative that ends"),
        ("start ::= start;", "the rule 'start' has no alternative that ends"),
        ("start ::= 'a' x | start; x ::= 'b' #'[a-c&&d]';", r"in the rule 'x', the terminal #'\[a-c&&d\]' matches"),
        ("start ::= #e'' 'a';", "in the rule 'start', the terminal #e'' matches nothing"),
        ("start ::= #ex'a*' 'a';", r"in the rule 'start', the terminal #ex'a\*' matches nothing"),
        ("start ::= 'a' - #'[a-z]';", "in the rule 'start', a terminal matches nothing"),
        ("start ::= x; x ::= 'a' !'b' 'b';", "in the rule '(start|x)', a '!' refuses all that can follow"),
    ],
)
def test_the_rule_is_named(text, message):
    with pytest.raises(GrammarError, match=message):
        normalize(parse(text), must_have_text=True)
    normalize(parse(text))


def test_other_notations():
    for tree, message in [
        (parse_gbnf('root ::= "a" root'), "the rule 'root' has"),
        (parse_lark('start: "a" b\nb: b "c" | "d" b'), "the rule 'b' has"),
        (parse_lark('start: "a" B\nB: /[^\\s\\S]/'), "in the rule 'start', a terminal matches nothing"),
        (parse_lark("%ignore / /\nstart: start", dialect="lark"), "the rule 'start' has"),
    ]:
        with pytest.raises(GrammarError, match=message):
            normalize(tree, must_have_text=True)


def test_grammars_of_the_empty_text_only():
    """They have a text, unless the empty one does not count."""
    for text in ["start ::= '';", "start ::= x?; x ::= 'a' x;", "start ::= ['a' !'b' 'b'];"]:
        assert normalize(parse(text), must_have_text=True).accepts_empty
        with pytest.raises(GrammarError, match="the empty text is the only text"):
            normalize(parse(text), must_have_text=True, never_empty=True)


@SETTINGS
@given(data=st.data())
def test_by_brute_force(data, language, strategies):
    grammar = data.draw(strategies["grammars"]())
    tables = normalize(grammar)
    try:
        normalize(grammar, must_have_text=True)
    except GrammarError as error:
        assert not language(grammar)
        assert any(f"the rule {rule.name!r}" in str(error) for rule in grammar.rules)
    else:
        assert tables.accepts_empty or has_text(tables)


@SETTINGS
@given(data=st.data())
def test_never_empty_leaves_out_the_empty_text(data, language, strategies):
    grammar = data.draw(strategies["grammars"]())
    assert language(normalize(grammar, never_empty=True)) == language(grammar) - {b""}
