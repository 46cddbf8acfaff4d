"""Counted repetitions as rules: exactly the required counts, in a logarithmic number of rules."""

import pytest

from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.repetition import CountedRules


def counts(minimum, maximum):
    """All counts that the rules derive, each as often as there are derivations."""
    rules = []

    def rule(bodies):
        rules.append(bodies)
        return len(rules) - 1

    body = CountedRules(rule, lambda symbol: "many").between("x", minimum, maximum)

    def of(symbol):
        if symbol == "x":
            return [1]
        return [count for body in rules[symbol] for count in of_body(body)]

    def of_body(body):
        totals = [0]
        for symbol in body:
            totals = [total + count for total in totals for count in of(symbol)]
        return totals

    return sorted(of_body(body)), rules


@pytest.mark.parametrize("minimum", [0, 1, 2, 3, 4, 5, 7, 8, 13])
@pytest.mark.parametrize("more", [*range(18), 31, 32, 33, 100])
def test_derives_each_count_once_and_no_other(minimum, more):
    assert counts(minimum, minimum + more)[0] == list(range(minimum, minimum + more + 1))


def test_the_rules_are_few():
    rules = []
    counted = CountedRules(lambda bodies: rules.append(bodies) or len(rules), lambda symbol: "many")
    counted.between("x", 999_983, 10**9 + 7)
    assert len(rules) < 100
    assert sum(len(body) for bodies in rules for body in bodies) < 350
    before = len(rules)
    counted.between("x", 5, 10**9)
    assert len(rules) - before < 40


def test_a_count_of_any_size():
    assert len(counts_of_rules(10**400)) < 6000


def counts_of_rules(maximum):
    rules = []
    CountedRules(lambda bodies: rules.append(bodies) or len(rules), lambda symbol: "many").between("x", 0, maximum)
    return rules


@pytest.mark.parametrize("body", [ast.Literal(b"a"), ast.Option(ast.Literal(b"a")), ast.Literal(b"")])
@pytest.mark.parametrize(("minimum", "maximum"), [(0, 0), (0, 3), (2, 2), (1, 4), (4, 4), (2, None), (0, None)])
def test_in_a_grammar(body, minimum, maximum, language):
    grammar = ast.Grammar((ast.Rule("start", ast.Sequence((ast.Bounded(body, minimum, maximum), ast.Literal(b"b")))),))
    low = 0 if body != ast.Literal(b"a") else minimum
    high = 0 if body == ast.Literal(b"") else 4 if maximum is None else min(maximum, 4)
    assert language(normalize(grammar)) == {b"a" * count + b"b" for count in range(low, high + 1)}


def test_a_large_count_is_a_small_table():
    item = ast.Choice((ast.Literal(b"a"), ast.Sequence((ast.Literal(b"("), ast.Reference("start"), ast.Literal(b")")))))
    tables = normalize(ast.Grammar((ast.Rule("start", ast.Bounded(item, 17, 10**6)),)))
    assert len(tables.symbols) < 400


@pytest.mark.parametrize(("minimum", "maximum"), [(-1, 3), (3, 2)])
def test_bounds_that_make_no_sense(minimum, maximum):
    with pytest.raises(GrammarError, match="a repetition of at least"):
        normalize(ast.Grammar((ast.Rule("start", ast.Bounded(ast.Literal(b"a"), minimum, maximum)),)))
