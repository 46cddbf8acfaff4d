"""The whole normal form, against a naive enumeration of the tree."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from structgen.kbnf import ast
from structgen.kbnf.normal_form import normalize

SETTINGS = settings(
    max_examples=200,
    deadline=None,
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
