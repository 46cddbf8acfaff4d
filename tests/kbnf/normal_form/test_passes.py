"""Each pass of the normal form by itself: it keeps the language and has its effect."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from structgen.engine.regex import tree as rx
from structgen.errors import GrammarError, LimitExceededError
from structgen.kbnf import ast
from structgen.kbnf.normal_form.flattening import flatten
from structgen.kbnf.normal_form.literals import merge_adjacent_literals, unite_literal_alternatives
from structgen.kbnf.normal_form.nullables import eliminate_nullables, nullable_nonterminals, split_long_bodies
from structgen.kbnf.normal_form.passes import pack, simplify
from structgen.kbnf.normal_form.productions import Productions
from structgen.kbnf.normal_form.simplification import (
    deduplicate_alternatives,
    inline_single_uses,
    merge_equal_nonterminals,
    remove_unit_rules,
    remove_unproductive,
    remove_unreachable,
)
from structgen.kbnf.reading.kbnf import parse
from structgen.kbnf.rewriting import group_rules
from structgen.limits import Limits

SETTINGS = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)


@pytest.fixture
def flat(terminal_table):
    """The productions of a grammar's text, flattened only."""
    return lambda text: flatten(parse(text), terminal_table)


def without_empty(productions):
    return eliminate_nullables(productions)[0]


def named(productions):
    """Bodies by rule name, terminals as their bytes or regexes; nonterminals that a pass made keep their numbers."""
    terminals = productions.terminals
    seen = set()
    out = {}
    for head, alternatives in enumerate(productions.bodies):
        key = productions.names[head] if productions.names[head] not in seen else head
        seen.add(key)
        if alternatives:
            out[key] = {
                tuple(
                    (productions.names[s] if productions.names.index(productions.names[s]) == s else s)
                    if s >= 0
                    else terminals.data[-2 - s] or terminals.regexes[-2 - s]
                    for s in body
                )
                for body in alternatives
            }
    return out


PASSES = [
    deduplicate_alternatives,
    remove_unproductive,
    remove_unreachable,
    merge_adjacent_literals,
    unite_literal_alternatives,
    merge_equal_nonterminals,
    inline_single_uses,
    remove_unit_rules,
    simplify,
]


@pytest.mark.slow
@pytest.mark.parametrize("one", PASSES, ids=lambda one: one.__name__)
@settings(SETTINGS, max_examples=40)
@given(data=st.data())
def test_every_pass_keeps_the_language_and_its_input(one, data, language, strategies, terminal_table):
    grammar = data.draw(strategies["grammars"](strategies["regexes"]().map(ast.RegexTerminal)))
    before = without_empty(flatten(grammar, terminal_table))
    if one in (remove_unit_rules, inline_single_uses):
        before = remove_unreachable(remove_unproductive(before))
    copy = [list(alternatives) for alternatives in before.bodies]
    after = one(before)
    assert before.bodies == copy
    assert language(after) == language(before) == language(grammar) - {b""}


@pytest.mark.slow
@settings(SETTINGS, max_examples=200)
@given(data=st.data())
def test_flattening_and_taking_out_the_empty_text(data, language, strategies, terminal_table):
    grammar = data.draw(strategies["grammars"](strategies["regexes"]().map(ast.RegexTerminal)))
    productions = flatten(grammar, terminal_table)
    texts = language(grammar)
    assert language(productions) == texts
    after, accepts_empty = eliminate_nullables(productions)
    assert accepts_empty == (b"" in texts)
    assert language(after) == texts - {b""}
    assert not any(() in alternatives for alternatives in after.bodies)


@SETTINGS
@given(data=st.data())
def test_splitting_keeps_the_language(data, language, strategies, terminal_table):
    grammar = data.draw(strategies["grammars"]())
    productions = flatten(grammar, terminal_table)
    split = split_long_bodies(productions, nullable_nonterminals(productions))
    assert language(split) == language(productions)
    nullable = nullable_nonterminals(split)
    assert all(sum(s in nullable for s in body) <= 2 for alternatives in split.bodies for body in alternatives)


def test_groups_rules_of_the_same_name():
    grammar = parse("a ::= 'x'; start ::= a; a ::= 'y';")
    assert group_rules(grammar) == {"a": [ast.Literal(b"x"), ast.Literal(b"y")], "start": [ast.Reference("a")]}


def test_flattens_groups_and_operators(flat):
    assert named(flat("start ::= 'a' ('b' | 'c' 'd')? | ('e' | ('f'));")) == {
        "start": {(b"a", 1), (b"e",), (b"f",)},
        1: {(b"b",), (b"c", b"d"), ()},
    }


def test_expands_repetitions_left_recursively(flat):
    assert named(flat("start ::= {'a' 'b'} 'c'+;")) == {
        "start": {(1, 2)},
        1: {(1, b"a", b"b"), ()},
        2: {(2, b"c"), (b"c",)},
    }


def test_what_is_repeated_and_has_alternatives_is_not_written_twice(flat):
    assert named(flat("start ::= ('a' | 'b')+;")) == {"start": {(1,)}, 1: {(1, 2), (2,)}, 2: {(b"a",), (b"b",)}}


def test_a_node_that_is_used_twice_is_one_nonterminal(terminal_table):
    shared = ast.Option(ast.Sequence((ast.Literal(b"a"), ast.Reference("start"))))
    for _ in range(30):
        shared = ast.OneOrMore(ast.Choice((ast.Sequence((shared, shared)), ast.Literal(b"b"))))
    productions = flatten(ast.Grammar((ast.Rule("start", shared),)), terminal_table, limits=Limits(grammar_symbols=400))
    assert len(productions.bodies) < 100


def test_a_nested_sequence_that_doubles_is_an_error_and_no_hang(terminal_table):
    shared = ast.Sequence((ast.Literal(b"a"), ast.Literal(b"b")))
    for _ in range(60):
        shared = ast.Sequence((shared, shared))
    with pytest.raises(LimitExceededError):
        flatten(ast.Grammar((ast.Rule("start", shared),)), terminal_table, limits=Limits(grammar_symbols=10_000))


def test_undefined_names_are_errors(flat):
    with pytest.raises(GrammarError, match="used in the rule 'start', is not defined\nHint: did you mean 'value'"):
        flat("start ::= 'a' valeu; value ::= 'b';")


def test_merges_literals_with_literals_only(flat):
    after = merge_adjacent_literals(flat("start ::= 'a' 'b' x 'c' 'd' 'e' #'f+' 'g' | 'h'; x ::= 'i' #'j*';"))
    assert {body[:-2] for body in named(after)["start"] if len(body) > 1} == {(b"ab", "x", b"cde")}
    assert (b"h",) in named(after)["start"]


def test_unites_literals_to_a_table(flat):
    after = unite_literal_alternatives(flat("start ::= 'a' | 'b' | x | 'c' x | 'b'; x ::= 'd' | 'd';"))
    assert named(after) == {"start": {(rx.LiteralSet((b"a", b"b")),), ("x",), (b"c", "x")}, "x": {(b"d",)}}


def test_finds_nullables_through_each_other(flat):
    productions = flat("start ::= x y z; x ::= ['a']; y ::= x x | y 'b'; z ::= y 'c' | z;")
    assert {productions.names[n] for n in nullable_nonterminals(productions)} == {"start", "x", "y"} - {"start"}


def test_optional_symbols_in_a_row_stay_linear(flat):
    for count in (10, 1000):
        text = "start ::= 'x' " + " ".join(f"['k{n}' v]" for n in range(count)) + " 'y'; v ::= 'a' v 'b' | 'c';"
        after = without_empty(flat(text))
        assert sum(len(body) + 1 for alternatives in after.bodies for body in alternatives) < 20 * count


def test_takes_the_empty_text_out_of_recursion(flat):
    assert named(without_empty(flat("start ::= 'a' start 'b' | '';"))) == {
        "start": {(b"a", "start", b"b"), (b"a", b"b")}
    }
    assert named(without_empty(flat("start ::= start start | 'a' | '';"))) == {"start": {("start", "start"), (b"a",)}}


def test_removes_doubles_and_loops(flat):
    assert named(deduplicate_alternatives(flat("start ::= 'a' | 'a' | start | 'b';"))) == {"start": {(b"a",), (b"b",)}}


def test_removes_what_is_not_reached(flat):
    assert set(named(remove_unreachable(flat("start ::= x; x ::= 'a' x | 'b'; y ::= x z; z ::= y;")))) == {"start", "x"}


ENDLESS = (
    "start ::= 'c' | 'x' a | b | 'y' l | m; a ::= 'a' a; b ::= d 'z'; d ::= 'e' d; l ::= l 'q'; m ::= m n; n ::= m 'p';"
)


def test_removes_what_derives_no_text(flat):
    assert named(remove_unproductive(flat(ENDLESS))) == {"start": {(b"c",)}}


def test_keeps_what_spells_for_ever_if_asked_to(flat):
    assert named(remove_unproductive(flat(ENDLESS), keep_endless=True)) == {
        "start": {(b"c",), (b"x", "a"), ("b",)},
        "a": {(b"a", "a")},
        "b": {("d",)},
        "d": {(b"e", "d")},
    }


def test_what_spells_for_ever_through_others(flat):
    after = remove_unproductive(flat("start ::= 'a' x; x ::= y; y ::= 'b' start | 'c' y x;"), keep_endless=True)
    assert named(after) == {"start": {(b"a", "x")}, "x": {("y",)}, "y": {(b"b", "start"), (b"c", "y")}}


def test_what_never_ends_before_a_dead_end_is_no_way_on(flat):
    # Once cut off to `h ::= h`, an alias of itself, which the next pass followed for ever.
    text = "start ::= e | f; e ::= e g | g; g ::= start | 'a'; f ::= f h | h; h ::= h start x | start x | x; x ::= x x;"
    after = remove_unproductive(flat(text), keep_endless=True)
    assert named(after) == {"start": {("e",)}, "e": {("e", "g"), ("g",)}, "g": {("start",), (b"a",)}}
    assert simplify(flat(text), keep_endless=True)


def test_replaces_aliases(flat):
    after = remove_unit_rules(flat("start ::= a b 'x'; a ::= c; c ::= 'y'; b ::= d; d ::= b 'z' | 'w';"))
    assert named(after) == {"start": {(b"y", "d", b"x")}, "d": {("d", b"z"), (b"w",)}}


def test_joins_unit_cycles(flat):
    after = named(remove_unit_rules(flat("start ::= a 'x'; a ::= b | 'p'; b ::= c | 'q'; c ::= a | 'r' c;")))
    (head,) = set(after) - {"start"}
    assert after["start"] == {(head, b"x")}
    assert after[head] == {(b"p",), (b"q",), (b"r", head)}


def test_keeps_unit_rules_that_are_no_aliases(flat):
    text = "start ::= a | 'x' 'y'; a ::= 'z' a | 'w' a a;"
    assert remove_unit_rules(flat(text)).bodies == flat(text).bodies


def test_a_start_that_is_an_alias(flat):
    after = remove_unit_rules(flat("start ::= a; a ::= b; b ::= 'x';"))
    assert named(after)["start"] == {(b"x",)}
    after = remove_unit_rules(flat("start ::= a; a ::= 'x' a | 'y';"))
    assert after.names[after.start] == "a"


def test_merges_equal_nonterminals(flat):
    after = merge_equal_nonterminals(
        flat("start ::= a 'x' | b 'x' | c; a ::= l 'p'; b ::= m 'p'; c ::= 'q'; l ::= l 'r' | 'r'; m ::= m 'r' | 'r';")
    )
    assert len(named(after)) == 4
    assert len(named(after)["start"]) == 2


def test_equal_chains_are_merged_in_time(flat):
    chain = "".join(f"{c}{n} ::= 'x' {c}{n + 1} 'y' | 'z'; " for n in range(3000) for c in "ab")
    productions = flat(f"start ::= a0 'l' | b0 'r'; {chain} a3000 ::= 'e'; b3000 ::= 'e';")
    assert sum(map(bool, merge_equal_nonterminals(productions).bodies)) == 3002


def test_inlines_what_is_used_once(flat):
    after = inline_single_uses(flat("start ::= a 'x' b b; a ::= 'y' c; c ::= 'z' start | 'w'; b ::= 'v';"))
    assert named(after) == {"start": {(b"y", "c", b"x", "b", "b")}, "c": {(b"z", "start"), (b"w",)}, "b": {(b"v",)}}


def test_alternatives_that_become_equal_are_one(flat):
    after = inline_single_uses(flat("start ::= x | 'a' start | 'b'; x ::= 'a' start;"))
    assert len(after.bodies[0]) == 2
    after = merge_adjacent_literals(flat("start ::= 'a' 'bc' | 'ab' 'c';"))
    assert named(after) == {"start": {(b"abc",)}}
    assert len(after.bodies[0]) == 1


def test_packs_what_is_reached(terminal_table):
    x, y = terminal_table.literal(b"x"), terminal_table.literal(b"y")
    productions = Productions([[(x,)], [(y, 3), (y,)], [], [(1, y)]], ["a", "start", "c", "d"], 1, terminal_table)
    tables = pack(productions, accepts_empty=True)
    assert list(tables.symbols) == [-2, 1, -1, -2, -1, 0, -2, -1]
    assert list(tables.first_rule) == [0, 2, 3]
    assert list(tables.rule_starts) == [0, 3, 5]
    assert (tables.terminals, tables.names) == ((rx.Literal(b"y"),), ("start", "d"))
    assert (tables.start, tables.accepts_empty) == (0, True)


def test_terminals_are_one_when_equal(terminal_table):
    regex = rx.Repeat(rx.Chars(((97, 122),)), 0, 5)
    symbol, nullable = terminal_table.regex(regex)
    assert nullable
    assert terminal_table.regexes[-2 - symbol] == rx.Repeat(rx.Chars(((97, 122),)), 1, 5)
    assert terminal_table.regex(rx.Repeat(rx.Chars(((97, 122),)), 1, 5)) == (symbol, False)
    assert terminal_table.regex(rx.Literal(b"a"))[0] == terminal_table.literal(b"a")
    key = rx.Sequence((rx.Literal(b"{"), regex, rx.Literal(b"}")))
    again = rx.Sequence((rx.Literal(b"{"), rx.Repeat(rx.Chars(((97, 122),)), 0, 5), rx.Literal(b"}")))
    assert terminal_table.regex(key) == terminal_table.regex(again)
    assert terminal_table.regex(rx.EMPTY) == (None, True)
    assert terminal_table.regex(rx.NOTHING) == (None, False)
