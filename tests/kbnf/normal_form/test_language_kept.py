"""The whole normal form, against a naive enumeration of the tree."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from structgen.engine.deadlines import Deadline
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.edges import is_nullable
from structgen.errors import LimitExceededError
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.kbnf import parse
from structgen.limits import Limits

SETTINGS = settings(
    max_examples=200,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)


def bodies_of(tables):
    """For each nonterminal its bodies, as tuples of symbols."""
    out = []
    for head in range(len(tables.names)):
        out.append([])
        for rule in range(tables.first_rule[head], tables.first_rule[head + 1]):
            start = end = tables.rule_starts[rule]
            while tables.symbols[end] != -1:
                end += 1
            out[-1].append(tuple(tables.symbols[start:end]))
    return out


def check_invariants(tables, *, endless=False):
    bodies = bodies_of(tables)
    assert tables.symbols.count(-1) == len(tables.rule_starts) == sum(map(len, bodies))
    assert tables.start == 0
    if len(bodies) == 1 and not bodies[0]:
        return
    assert all(bodies), "a nonterminal without bodies"
    assert all(all(alternatives) for alternatives in bodies), "an empty body"
    assert all(len(set(alternatives)) == len(alternatives) for alternatives in bodies)
    used = {symbol for alternatives in bodies for body in alternatives for symbol in body}
    assert used | {0} >= set(range(len(bodies))), "a nonterminal that nothing uses"
    assert {symbol for symbol in used if symbol < 0} == {-2 - n for n in range(len(tables.terminals))}
    productive = set()
    for _ in bodies:
        productive |= {
            head
            for head, alternatives in enumerate(bodies)
            if any(all(s < 0 or s in productive for s in body) for body in alternatives)
        }
    assert endless or productive == set(range(len(bodies)))


@SETTINGS
@given(data=st.data())
def test_keeps_the_language(data, language, strategies):
    grammar = data.draw(strategies["grammars"](strategies["regexes"]().map(ast.RegexTerminal)))
    tables = normalize(grammar)
    check_invariants(tables)
    assert language(tables) == language(grammar)


@SETTINGS
@given(data=st.data())
def test_keeping_what_is_endless_keeps_the_language_too(data, language, strategies):
    grammar = data.draw(strategies["grammars"]())
    tables = normalize(grammar, keep_endless=True)
    check_invariants(tables, endless=True)
    assert language(tables) == language(grammar)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("start ::= " + "(" * 100_000 + "'a'" + ")" * 100_000 + ";", 2),
        ("start ::= " + "[" * 100_000 + "'a'" + "]" * 100_000 + ";", 2),
        ("start ::= " + "['a' " * 20_000 + "]" * 20_000 + ";", 160_000),
        ("start ::= " + "{'a' " * 20_000 + "}" * 20_000 + ";", 300_000),
        ("start ::= " + "['a' start]" * 20_000 + "'b';", 200_000),
        ("start ::= 'a'" + "|'b' 'c'" * 20_000 + ";", 2),
        ("start ::= r0;" + "".join(f"r{n} ::= r{n + 1} | 'a';" for n in range(20_000)) + "r20000 ::= 'b';", 90_000),
    ],
)
def test_grammars_made_to_hurt(text, most):
    tables = normalize(parse(text), deadline=Deadline(60))
    assert 0 < len(tables.symbols) <= most


def test_the_empty_language_and_the_empty_text():
    nothing = normalize(parse("start ::= start 'a';"))
    assert (list(nothing.symbols), list(nothing.first_rule), nothing.accepts_empty) == ([], [0, 0], False)
    empty = normalize(parse("start ::= ''*;"))
    assert (list(empty.symbols), len(empty.names), empty.accepts_empty) == ([], 1, True)
    # A regex that matches nothing is no terminal, also where only its automaton tells.
    for pattern in ("#'[^\\\\s\\\\S]'", "#ex'a*'", "#'[a&&b]'"):
        assert normalize(parse(f"start ::= {pattern} | 'b' {pattern};")).terminals == ()
    nowhere = rx.intersection(rx.Literal(b"a"), rx.Literal(b"b"))
    for regex in (nowhere, rx.Sequence((rx.Literal(b"x"), nowhere)), rx.optional(nowhere)):
        assert normalize(ast.Grammar((ast.Rule("start", ast.RegexTerminal(regex)),))).terminals == ()


def test_terminals_never_match_the_empty_text():
    tables = normalize(parse("start ::= #'a{0,9}' #substrs'bc' except!('d') 'e';"))
    assert len(tables.terminals) == 4
    assert [t for t in tables.terminals if is_nullable(t)] == []
    assert next((t.min, t.max) for t in tables.terminals if isinstance(t, rx.Repeat)) == (1, 9)


def test_the_size_is_bounded():
    for text in ("start ::= 'a' start 'b' start | 'c';", "start ::= " + "['a' start 'b']" * 9 + "'c';"):
        with pytest.raises(LimitExceededError) as caught:
            normalize(parse(text), limits=Limits(grammar_symbols=5))
        assert caught.value.limit == "grammar_symbols"
        assert normalize(parse(text))


def test_the_time_is_bounded():
    with pytest.raises(LimitExceededError) as caught:
        normalize(parse("start ::= 'a';"), deadline=Deadline(-1))
    assert caught.value.limit == "compile_seconds"


def test_names_tell_the_rule():
    tables = normalize(parse("start ::= '(' list ')'; list ::= {'a' list | 'b'} 'c';"))
    assert set(tables.names) <= {"start", "list"}


def test_shared_regexes_are_shared_terminals():
    regex = rx.plus(rx.Chars(((97, 122),)))
    again = rx.plus(rx.Chars(((97, 122),)))
    body = ast.Sequence((ast.RegexTerminal(regex), ast.Literal(b"-"), ast.RegexTerminal(again)))
    tables = normalize(ast.Grammar((ast.Rule("start", body),)))
    assert len(tables.terminals) == 2
    assert regex in tables.terminals
