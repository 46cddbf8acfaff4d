"""Limits: every one of them, huge texts and grammars, tables that are dropped and begun anew, invalid input."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable

import pytest
from support.vocabularies import BYTES, SMALL, compiled_from

import structgen
from structgen import Grammar, Limits
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.regex.tree import Literal, Regex, choice, sequence, star
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import LimitExceededError, StructgenError, TokenRejectedError
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize

JSON = (
    "start ::= V; V ::= '[' [V {',' V}] ']' | '{' [M {',' M}] '}' | N | S; M ::= S ':' V; "
    "N ::= #'-?(0|[1-9][0-9]*)'; S ::= '\"' #'[^\"\\\\\\\\]*' '\"';"
)
WORD = "start ::= #'[ab]{1,40}' '.';"
EOS = 256


# -- each limit has its own error, and breaks nothing ----------------------------------------------------------------


def deep_all_of(depth: int) -> dict[str, object]:
    schema: dict[str, object] = {"type": "string"}
    for _ in range(depth):
        schema = {"allOf": [schema, {"type": "string"}]}
    return schema


def kbnf(text: str) -> Callable[[Limits], Grammar]:
    return lambda limits: Grammar.kbnf(text, eager=False, limits=limits)


def regex(pattern: str) -> Callable[[Limits], Grammar]:
    return lambda limits: Grammar.regex(pattern, limits=limits)


def schema(value: dict[str, object]) -> Callable[[Limits], object]:
    return lambda limits: value


MANY_WAYS = (
    "start ::= 'a' 'x' B | 'a' C 'y' | 'a' D | 'a' E; B ::= 'b' | 'c' B; C ::= 'x' C | 'y'; D ::= 'x' D 'd' | 'y'; "
    "E ::= 'x' E 'e' E | 'z';"
)
PASSED = {
    "schema_nodes": (5, schema({"properties": {f"k{n}": {"maximum": n} for n in range(20)}})),
    "schema_depth": (10, schema(deep_all_of(30))),
    "grammar_symbols": (50, kbnf("start ::= " + "'a' B " * 100 + "; B ::= 'b' | B 'c';")),
    "regex_nodes": (20, regex("(a|bc)" * 40)),
    "regex_depth": (20, regex("(a" * 40 + ")?" * 40)),
    "automaton_states": (30, regex("(a|b)*a(a|b){12}")),
    "set_items": (2, kbnf(MANY_WAYS)),
    "item_sets": (20, kbnf("start ::= N; N ::= 'a' N 'b' | 'ab';")),
    "compile_seconds": (1e-9, schema({"type": "array", "items": {"enum": [f"{n}" for n in range(20_000)]}})),
    "mask_seconds": (1e-9, regex("(a|b)*a(a|b){300}c")),
}


@pytest.mark.parametrize("limit", PASSED)
def test_a_limit_that_is_passed_is_named_and_nothing_else_breaks(limit: str) -> None:
    value, make = PASSED[limit]
    limits = Limits(**{limit: value})
    kept = Matcher(compiled_from(WORD, BYTES, limits=limits))
    kept.accept_bytes(b"ab")
    with pytest.raises(LimitExceededError) as caught:
        matcher = structgen.compile(make(limits), BYTES, limits=limits).matcher()
        matcher.allowed_token_ids()
        matcher.accept_bytes(b"a" * 60)
        matcher.accept_bytes(b"ab" * 3000)
    assert (caught.value.limit, caught.value.value) == (limit, value)
    assert limit in str(caught.value)
    kept.accept_bytes(b"ba")
    assert ord(".") in kept.allowed_token_ids()
    assert structgen.compile(make(Limits()), BYTES).matcher().allowed_token_ids()


def test_every_limit_is_tested() -> None:
    # Past the first two, tables are dropped and made anew; nothing is refused. tests/compilation/test_memory.py has the
    # last one, in processes of its own.
    others = {"mask_bytes", "cache_bytes", "memory_bytes"}
    assert {field.name for field in dataclasses.fields(Limits)} == {*PASSED, *others}


def test_a_matcher_that_passes_a_limit_stays_where_it_was() -> None:
    grammar = "start ::= N; N ::= 'a' N 'b' | 'ab';"
    matcher = Matcher(compiled_from(grammar, BYTES, limits=Limits(item_sets=30)))
    matcher.accept_bytes(b"aaaa")
    for data in (b"a" * 60, b"b" * 5):
        with pytest.raises(StructgenError):
            matcher.accept_bytes(data)
        assert not matcher.is_accepting
    matcher.accept_bytes(b"a")
    matcher.rollback(1)
    matcher.accept_bytes(b"bbbb")
    assert matcher.is_accepting


@pytest.mark.parametrize("depth", [10, 100, 1000])
def test_texts_that_do_not_fit_beside_each_other_go_on_in_turn(depth: int) -> None:
    compiled = compiled_from("start ::= N; N ::= L N 'c' | 'd'; L ::= 'a' | 'b';", BYTES, limits=Limits(item_sets=50))
    first, second = Matcher(compiled), Matcher(compiled)
    for step in range(depth):
        first.accept_bytes(b"a")
        second.accept_bytes(b"ab"[step % 2 :][:1])
    first.rollback(depth - 2)
    first.accept_bytes(b"b" * 10)
    second.rollback(1)
    second.accept_bytes(b"b")
    first.rollback(1)
    assert first.allowed_token_ids() == second.allowed_token_ids() == [*b"abd"]
    first.accept_bytes(b"dcc")
    second.accept_bytes(b"d")
    for _ in range(depth):
        forced = second.forced_bytes()
        assert forced and set(forced) == {ord("c")}
        second.accept_bytes(b"c")
    assert first.is_terminated and second.is_terminated


# -- tables that are dropped and made anew ----------------------------------------------------------------------------


def random_json(rng: random.Random, depth: int) -> str:
    kind = rng.random()
    if depth == 0 or kind < 0.3:
        return str(rng.randint(-1000, 1000))
    if kind < 0.5:
        return '"' + "".join(rng.choice("abcé 1") for _ in range(rng.randint(0, 9))) + '"'
    if kind < 0.75:
        return "[" + ",".join(random_json(rng, depth - 1) for _ in range(rng.randint(0, 4))) + "]"
    return "{" + ",".join(f'"{n}":{random_json(rng, depth - 1)}' for n in range(rng.randint(0, 4))) + "}"


@pytest.mark.one_in(1, uncompiled=6)
@pytest.mark.parametrize(
    "limits",
    [Limits(item_sets=30), Limits(item_sets=50), Limits(mask_bytes=1), Limits(item_sets=50, mask_bytes=1)],
)
@pytest.mark.parametrize("seed", range(3))
def test_masks_stay_the_same_however_often_tables_are_made_anew(limits: Limits, seed: int) -> None:
    rng = random.Random(seed)
    text = ("[" + ",".join(random_json(rng, 3) for _ in range(12)) + "]").encode()
    grammar = JSON + "N ::= 'x' #'(a|b)*a(a|b){4}';"
    small = compiled_from(grammar, BYTES, limits=limits)
    matcher, plain = Matcher(small), Matcher(compiled_from(grammar, BYTES))
    for at in range(len(text)):
        assert matcher.allowed_token_ids() == plain.allowed_token_ids()
        assert matcher.is_accepting == plain.is_accepting
        if at % 50 == 30:
            matcher.rollback(20)
            plain.rollback(20)
            assert matcher.allowed_token_ids() == plain.allowed_token_ids()
            matcher.accept_bytes(text[at - 20 : at])
            plain.accept_bytes(text[at - 20 : at])
            matcher.rollback(1)
            plain.rollback(1)
            for step in range(at - 20, at):
                matcher.accept_bytes(text[step : step + 1])
                plain.accept_bytes(text[step : step + 1])
        matcher.accept_bytes(text[at : at + 1])
        plain.accept_bytes(text[at : at + 1])
    assert matcher.is_terminated
    assert small.epoch > 0


def test_automata_that_grow_with_every_text_are_dropped_in_time() -> None:
    """A regex with 2^12 states, of which each text makes some: the limit holds, and every text is read."""
    grammar = "start ::= #'(a|b)*a(a|b){11}' '.';"
    compiled = compiled_from(grammar, BYTES, limits=Limits(automaton_states=600))
    plain = Matcher(compiled_from(grammar, BYTES))
    matcher = Matcher(compiled)
    rng = random.Random(0)
    for _ in range(60):
        matcher.reset()
        plain.reset()
        for _ in range(25):
            byte = rng.choice((b"a", b"b"))
            matcher.accept_bytes(byte)
            plain.accept_bytes(byte)
            assert compiled.shared.automata.count <= 600
        assert matcher.allowed_token_ids() == plain.allowed_token_ids()
        matcher.rollback(13)
        plain.rollback(13)
        assert matcher.allowed_token_ids() == plain.allowed_token_ids()
    assert compiled.epoch > 0


def test_a_text_that_needs_more_automaton_states_than_allowed_stays_where_it_was() -> None:
    compiled = compiled_from("start ::= #'(a|b)*a(a|b){11}' '.';", BYTES, limits=Limits(automaton_states=300))
    matcher = Matcher(compiled)
    rng = random.Random(0)
    accepted = 0
    with pytest.raises(LimitExceededError) as caught:
        for _ in range(1000):
            matcher.accept_bytes(rng.choice((b"a", b"b")))
            accepted += 1
    assert caught.value.limit == "automaton_states"
    matcher.rollback(accepted)
    matcher.accept_bytes(b"a" * 12)
    assert ord(".") in matcher.allowed_token_ids()


def test_forks_of_an_older_time_find_their_place() -> None:
    compiled = compiled_from(JSON, BYTES, limits=Limits(item_sets=120))
    plain = compiled_from(JSON, BYTES)
    old, expected = Matcher(compiled), Matcher(plain)
    old.accept_bytes(b'{"a":[1,{"b":')
    expected.accept_bytes(b'{"a":[1,{"b":')
    twin = old.fork()
    other = Matcher(compiled)
    for depth in range(20):  # other sets each time, until there is no room
        other.reset()
        for data in (b"[",) * depth + (b'{"a":',) * (20 - depth):
            other.accept_bytes(data)
    assert compiled.epoch >= 3
    assert old.allowed_token_ids() == twin.allowed_token_ids() == expected.allowed_token_ids()
    twin.accept_bytes(b"[]}]}")
    assert twin.is_accepting and not old.is_accepting
    old.rollback(1)
    assert old.allowed_token_ids() == Matcher(compiled_from(JSON, BYTES)).allowed_token_ids()


# -- nesting without measure -----------------------------------------------------------------------------------------

DEEP = 100_000


def test_a_text_of_100_000_nested_brackets() -> None:
    matcher = Matcher(compiled_from(JSON, BYTES, limits=Limits(item_sets=10 * DEEP)))
    matcher.accept_bytes(b"[" * DEEP)
    assert ord("]") in matcher.allowed_token_ids()
    matcher.accept_bytes(b"]" * DEEP)
    assert matcher.is_terminated
    matcher.rollback(1)
    assert not matcher.is_accepting


def test_a_text_nested_deeper_than_the_limit_is_refused_and_can_be_taken_back() -> None:
    matcher = Matcher(compiled_from(JSON, BYTES, limits=Limits(item_sets=5_000)))
    for _ in range(1_000):
        matcher.accept_bytes(b"[")
    with pytest.raises(LimitExceededError) as caught:
        matcher.accept_bytes(b"[" * DEEP)
    assert caught.value.limit == "item_sets"
    matcher.accept_bytes(b"]" * 1_000)
    assert matcher.is_terminated


NESTED = {
    "groups": "start ::= " + "(" * DEEP + "'a'" + ")" * DEEP + ";",
    "options": "start ::= " + "['a' " * DEEP + "]" * DEEP + ";",
    "repetitions": "start ::= " + "{" * DEEP + "'a'" + "}" * DEEP + ";",
    "regex groups": "start ::= #'" + "(" * DEEP + "a" + ")" * DEEP + "';",
    "regex options": "start ::= #'" + "(a" * DEEP + ")?" * DEEP + "';",
    "classes": "start ::= #'" + "[" * DEEP + "';",
    "open groups": "start ::= " + "(" * DEEP + ";",
    "open regex groups": "start ::= #'" + "(" * DEEP + "';",
    "undefined": "start ::= " + " ".join(f"A{n}" for n in range(DEEP)) + ";",
}


@pytest.mark.one_in(1, uncompiled=3)
@pytest.mark.parametrize("what", NESTED)
def test_nested_grammars_and_regexes_work_or_are_refused(what: str) -> None:
    try:
        matcher = structgen.compile(Grammar.kbnf(NESTED[what]), SMALL).matcher()
    except StructgenError:
        return
    try:
        assert 0 in matcher.allowed_token_ids()
    except LimitExceededError as error:
        assert error.limit == "set_items"


def test_nested_schemas_work_or_are_refused() -> None:
    schema: dict[str, object] = {"type": "integer"}
    for _ in range(20_000):
        schema = {"type": "array", "items": schema}
    try:
        matcher = structgen.compile(schema, BYTES).matcher()
    except StructgenError:
        return
    assert ord("[") in matcher.allowed_token_ids()


def test_a_chain_of_20_000_rules() -> None:
    chain = "".join(f"A{n} ::= 'a' A{n + 1} 'b' | 'c';" for n in range(20_000))
    matcher = structgen.compile(Grammar.kbnf(f"start ::= A0; {chain} A20000 ::= 'd';"), SMALL).matcher()
    matcher.accept_bytes(b"aaacbbb")
    assert matcher.is_accepting


# -- cost does not grow with a bound, a list, an enum ----------------------------------------------------------------


def work(compiled: CompiledGrammar) -> dict[str, int]:
    """Return the counters of all work done for a grammar so far."""
    return {
        "terminal nodes": compiled.shared.terminals.nodes_visited,
        "set nodes": compiled.masks.nodes_visited,
        "steps": compiled.sets.steps,
        "sets": compiled.sets.set_count,
        "automaton states": compiled.shared.automata.count,
    }


def own_vocabulary(number: int) -> Vocabulary:
    """Return a vocabulary for one test only, so that no tables are shared: only its size differs."""
    return Vocabulary.from_bytes({token: SMALL.token_bytes(token) or b"~" for token in range(19)}, size=200 + number)


def work_of_a_string(body: ast.Expression, number: int) -> dict[str, int]:
    grammar = ast.Grammar((ast.Rule("start", ast.Sequence((ast.Literal(b'"'), body, ast.Literal(b'"')))),))
    compiled = CompiledGrammar(normalize(grammar), own_vocabulary(number))
    matcher = Matcher(compiled)
    matcher.accept_bytes(b'"')
    for _ in range(50):
        matcher.allowed_token_ids()
        matcher.accept_bytes(b"ab")
    return work(compiled)


def test_the_bound_of_a_regex_costs_nothing() -> None:
    def of(bound: int) -> ast.Expression:
        return ast.RegexTerminal(parse_regex(f"[ab]{{0,{bound}}}"))

    small, large = work_of_a_string(of(1_000), 0), work_of_a_string(of(1_000_000), 1)
    assert large == small


def test_the_bound_of_a_repeated_rule_costs_its_logarithm() -> None:
    def of(bound: int) -> ast.Expression:
        unit = ast.Choice((ast.Literal(b"a"), ast.Sequence((ast.Literal(b"b"), ast.Literal(b"b")))))
        return ast.Bounded(unit, 0, bound)

    small, large = work_of_a_list(of(1_000), 2), work_of_a_list(of(1_000_000), 3)
    for counter, value in large.items():
        assert value <= 4 * small[counter] + 100, counter


def work_of_a_list(body: ast.Expression, number: int) -> dict[str, int]:
    compiled = CompiledGrammar(normalize(ast.Grammar((ast.Rule("start", body),))), own_vocabulary(number))
    matcher = Matcher(compiled)
    for _ in range(50):
        matcher.allowed_token_ids()
        matcher.accept_bytes(b"abb")
    return work(compiled)


def test_max_length_of_a_schema_costs_nothing() -> None:
    def of(bound: int, number: int) -> dict[str, int]:
        vocabulary = Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)}, size=300 + number)
        constraint = structgen.compile({"type": "string", "maxLength": bound}, vocabulary, whitespace="compact")
        matcher = constraint.matcher()
        matcher.accept_bytes(b'"')
        for _ in range(50):
            matcher.allowed_token_ids()
            matcher.accept_bytes(b"ab")
        return work(constraint.grammar)

    assert of(1_000_000, 0) == of(1_000, 1)


@pytest.mark.parametrize(
    ("grammar", "opening", "item"),
    [
        ("start ::= '[' [I {',' I}] ']'; I ::= #'[0-9]+';", b"[0", b",12"),
        (JSON, b"[0", b',{"a":[1]}'),
        ("start ::= 'x' L; L ::= 'a' ',' L | 'a';", b"x", b"a,"),
        ("start ::= 'x' L; L ::= L ',' 'a' | 'a';", b"xa", b",a"),
        ("start ::= 'x' (#'[a-z]+' ';' ' '?)*;", b"x", b"ab; "),
    ],
)
def test_a_list_of_10_000_items_needs_no_more_than_one_of_50(grammar: str, opening: bytes, item: bytes) -> None:
    compiled = compiled_from(grammar, BYTES)
    matcher = Matcher(compiled)
    matcher.accept_bytes(opening)
    for _ in range(50):
        matcher.accept_bytes(item)
        matcher.allowed_token_ids()
    before = work(compiled)
    for _ in range(100):
        matcher.accept_bytes(item * 100)
        matcher.allowed_token_ids()
    assert work(compiled) == before


def test_an_enum_of_100_000_strings() -> None:
    values = [f"value {n * 7919} of many" for n in range(100_000)]
    matcher = structgen.compile({"enum": values}, BYTES, limits=Limits(compile_seconds=300)).matcher()
    matcher.accept_bytes(f'"{values[77_777]}'.encode())
    assert matcher.allowed_token_ids() == [ord('"')]
    matcher.rollback(1)
    matcher.accept_bytes(b'"value 7919')
    with pytest.raises(TokenRejectedError):
        matcher.accept_bytes(b"x")


def test_literals_and_alternatives_of_great_length() -> None:
    long = "ab" * 50_000
    matcher = structgen.compile(Grammar.kbnf(f"start ::= '{long}' | '{long}c';", eager=False), SMALL).matcher()
    assert matcher.forced_bytes() == long.encode()[:65_536]
    for _ in range(100):
        matcher.accept_bytes(b"ab" * 500)
    assert matcher.is_accepting and not matcher.is_terminated


# -- invalid input ---------------------------------------------------------------------------------------------------

INVALID = (
    "",
    ";",
    "start",
    "start ::=",
    "start ::= ;",
    "start ::= 'a'",
    "start ::= 'a;",
    "start ::= B;",
    "start ::= #'(';",
    "start ::= #'[z-a]';",
    "start ::= #'a{2,1}';",
    "start ::= #'\\\\p{Nope}';",
    "start ::= 'a' )",
    "start ::= '\\xZZ';",
    "(* never closed",
    "start ::= 'a'; \x00",
    "start ::= #'(?=a)*';",
    "other ::= 'a';",
    "start ::= #'a**b\\\\';",
)
INVALID_SCHEMAS = [
    {"type": "strin"},
    {"type": 7},
    {"minLength": "x", "type": "string"},
    {"$ref": "#/nowhere"},
    {"$ref": "#"},
    {"pattern": "(", "type": "string"},
    {"enum": []},
    {"type": "integer", "minimum": 2, "maximum": 1},
    {"allOf": [{"type": "string"}, {"type": "integer"}]},
    {"type": "string", "minLength": 5, "maxLength": 2},
    {"anyOf": []},
    {"type": "object", "properties": {"a": 7}},
    {"type": "array", "items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"$ref": "#/$defs/a"}}},
    False,
]


def test_invalid_input_is_an_error_that_leaves_the_rest_working() -> None:
    kept = structgen.compile(Grammar.kbnf(WORD), BYTES).matcher()
    refused = 0
    for what in (*INVALID, *INVALID_SCHEMAS):
        try:
            schema_or_grammar = Grammar.kbnf(what) if isinstance(what, str) else what
            structgen.compile(schema_or_grammar, BYTES).matcher().allowed_token_ids()
        except (StructgenError, TypeError):
            refused += 1
        kept.accept_bytes(b"a")
        assert ord("a") in kept.allowed_token_ids()
        kept.rollback(1)
    assert refused >= len(INVALID) + len(INVALID_SCHEMAS) - 4


@pytest.mark.parametrize("seed", range(30))
def test_random_rubbish_as_a_grammar_never_does_harm(seed: int) -> None:
    rng = random.Random(seed)
    pieces = [*"()[]{}|*+?;A\\é\n", "start ::= ", "'a'", '"b"', "#'", "#e'a*'", "#ex'b'"]
    for _ in range(20):
        text = "".join(rng.choice(pieces) for _ in range(rng.randint(1, 25)))
        try:
            matcher = Matcher(compiled_from(text + ("" if rng.random() < 0.5 else ";"), SMALL))
        except StructgenError:
            continue
        for token in matcher.allowed_token_ids()[:3]:
            matcher.accept_token(token)
            matcher.rollback(1)


# -- what is remembered of pairs -------------------------------------------------------------------------------------


def repeated_letters(count: int) -> Regex:
    """Return strings of one letter each, of which all pairs are compared."""
    return choice(*[sequence(star(Literal(bytes([97 + number]))), Literal(b'"')) for number in range(count)])


def test_what_is_remembered_of_pairs_of_terms_counts_as_terms_do() -> None:
    fits = AutomatonStore(Limits(automaton_states=2000))
    start = fits.add(repeated_letters(20))
    assert fits.matches(start, b'bbb"') and not fits.matches(start, b'ab"')
    assert fits.count < 200
    assert fits.pairs >= 20 * 19
    small = AutomatonStore(Limits(automaton_states=fits.count + fits.pairs // 2))
    before = small.add(Literal(b"before"))
    assert small.matches(before, b"before")
    for _ in range(2):
        with pytest.raises(LimitExceededError) as caught:
            small.add(repeated_letters(20))
        assert caught.value.limit == "automaton_states"
    assert small.matches(before, b"before")


def test_what_is_remembered_of_pairs_of_exits_and_states_counts_as_masks_do() -> None:
    compiled = compiled_from(
        "start ::= #'a{1,3}' 'b';", Vocabulary.from_bytes({0: b"a", 1: b"ab", 2: b""}, eos_token_ids=[2])
    )
    Matcher(compiled).allowed_token_ids()
    terminals, automata = compiled.shared.terminals, compiled.shared.automata
    states = [automata.add(Literal(b"no token %d" % number)) for number in range(100)]
    used = []
    for _ in range(2):
        for state in states:
            terminals.after(terminals.store.remainders[0], state)
        used.append(terminals.store.bytes_used)
    assert used[0] == used[1]
    before = terminals.store.bytes_used
    terminals.after(terminals.store.remainders[0], automata.add(Literal(b"none")))
    assert terminals.store.bytes_used > before
