"""Writing KBNF: the text is read back as the same tree or, where KBNF has no syntax for it, the same language."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.deadlines import Deadline
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.errors import GrammarError, LimitExceededError
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.kbnf import parse
from structgen.kbnf.regular import text_without
from structgen.kbnf.writing.gbnf import print_gbnf, print_xgrammar
from structgen.kbnf.writing.kbnf import print_grammar
from structgen.kbnf.writing.lark import print_lark
from structgen.kbnf.writing.longest_match import following_bytes, longer_terminals
from structgen.kbnf.writing.regex_text import regex_to_rust

SETTINGS = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)
ASCII = rx.Chars(((0, 0x7F),))


def grammar_of(*bodies, start="start"):
    return ast.Grammar(tuple(ast.Rule(start, body) for body in bodies), start)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.text("()[]{}'\"\\#\n", max_size=5)
patterns = st.sampled_from(["a+", "[a-z]{2,3}", "\\d|\\.", '"[^"\\\\]*"', "\\(é\\n", "'"])
terminals = st.one_of(
    texts.map(lambda text: ast.Literal(text.encode())),
    texts.map(ast.SubstringsTerminal),
    patterns.map(lambda p: ast.RegexTerminal(parse_regex(p, "rust"), p)),
    patterns.map(lambda p: ast.RegexTerminal(rx.Early(parse_regex(p, "rust")), p, "e")),
    patterns.map(lambda p: ast.RegexTerminal(text_without(parse_regex(p, "rust")), p, "ex")),
    st.just(ast.AnyText()),
    st.tuples(texts, st.none() | st.integers(0, 99)).map(lambda t: ast.Except(ast.Literal(t[0].encode()), t[1])),
    st.just(ast.Except(ast.Reference("x"))),
    st.sampled_from(["start", "x"]).map(ast.Reference),
)
trees = st.recursive(
    terminals,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=4).map(lambda parts: ast.Sequence(tuple(parts))),
        st.lists(inner, min_size=2, max_size=4).map(lambda parts: ast.Choice(tuple(parts))),
        inner.map(ast.Option),
        inner.map(ast.ZeroOrMore),
        inner.map(ast.OneOrMore),
    ),
    max_leaves=8,
)


@SETTINGS
@given(st.lists(st.tuples(st.sampled_from(["start", "x"]), trees), min_size=1, max_size=4))
def test_parse_after_print_is_the_same_tree(rules):
    grammar = ast.Grammar(tuple(ast.Rule(name, body) for name, body in [("start", ast.Literal(b"a")), *rules]))
    assert parse(print_grammar(grammar)) == grammar


@pytest.mark.parametrize(
    "text",
    [
        "start ::= 'a' | 'b' 'c' | x?;\n",
        "start ::= ('a' | 'b') 'c';\n",
        "start ::= ['a' 'b'] {'c' | 'd'} ('a' 'b')+;\n",
        "start ::= {'a'?} (x*)+ [x+];\n",
        "start ::= 'it\\'s \"' \"it's\" '\"' '\\\\' '\\n';\n",
        "start ::= #'\\\\d+' #e'a\\'\"' #ex'é' #substrs'\\u{0}';\n",
        "start ::= any! except!('a') except!(x,50);\n",
        "start ::= '(' [#'[a-z]()' '\\x28'];\n",
    ],
)
def test_prints_no_more_than_needed(text):
    assert print_grammar(parse(text)) == text


def test_brackets_in_strings_inside_of_brackets_are_numbers_only_where_unbalanced():
    grammar = grammar_of(ast.Option(ast.Sequence((ast.Literal(b'{"a":'), ast.Literal(b"[]"), ast.Literal(b")(")))))
    assert print_grammar(grammar) == "start ::= ['\\x7b\"a\":' '[]' '\\x29\\x28'];\n"


def test_names_that_are_no_identifiers_become_unique_ones():
    rules = [("my start", ast.Reference("a-b")), ("a-b", ast.Reference("a_b")), ("a_b", ast.Literal(b"x"))]
    rules += [("start", ast.Literal(b"y")), ("1", ast.Literal(b"z")), ("", ast.Literal(b"w"))]
    printed = print_grammar(ast.Grammar(tuple(ast.Rule(*rule) for rule in rules), "my start"))
    assert printed == ("start ::= a_b_2;\na_b_2 ::= a_b;\na_b ::= 'x';\nstart_2 ::= 'y';\n_1 ::= 'z';\n_ ::= 'w';\n")


@SETTINGS
@given(data=st.data())
def test_what_has_no_words_is_written_in_the_same_language(data, language, strategies):
    # Within ASCII, because what matches other bytes than UTF-8 cannot be written at all.
    regexes = strategies["regexes"]().map(lambda r: ast.RegexTerminal(rx.intersection(rx.star(ASCII), r)))
    grammar = data.draw(strategies["grammars"](regexes))
    printed = print_grammar(grammar)
    assert language(normalize(parse(printed))) == language(grammar)


@SETTINGS
@given(data=st.data())
def test_regex_text_is_the_same_regex(data, strategies):
    regex = data.draw(strategies["regexes"]())
    text = regex_to_rust(regex)
    if text is not None:
        store = AutomatonStore()
        again = parse_regex(text, "rust")
        assert store.is_empty(rx.difference(regex, again))
        assert store.is_empty(rx.difference(again, regex))


@given(st.lists(st.tuples(st.integers(0, 0x10FFFF), st.integers(0, 40)), min_size=1, max_size=4))
def test_character_classes_are_the_same(pairs):
    points = {p for first, size in pairs for p in range(first, min(first + size, 0x10FFFF) + 1)}
    points = sorted(p for p in points if not 0xD800 <= p <= 0xDFFF) or [0x61]
    ranges = []
    for point in points:
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1] = (ranges[-1][0], point)
        else:
            ranges.append((point, point))
    again = parse_regex(regex_to_rust(rx.Chars(tuple(ranges))), "rust")
    store = AutomatonStore()
    state = store.add(again)
    edges = [ranges[0][0] - 1, *points, ranges[-1][1] + 1]
    for point in edges:
        if 0 <= point <= 0x10FFFF and not 0xD800 <= point <= 0xDFFF:
            assert store.matches(state, chr(point).encode()) == (point in points)


def test_beyond_ascii_rules_are_of_characters():
    regex = rx.intersection(
        rx.star(rx.Chars(((0x61, 0x7A), (0xE9, 0x20AC), (0x10000, 0x10400)))), rx.Complement(rx.Literal("é".encode()))
    )
    again = normalize(parse(print_grammar(grammar_of(ast.Sequence((ast.RegexTerminal(regex), ast.Literal(b"!")))))))
    used = {r for t in again.terminals if isinstance(t, rx.Chars) for r in t.ranges}
    assert (0xE9, 0x20AC) in used
    assert (0x10000, 0x10400) in used


@pytest.mark.parametrize(
    "body",
    [
        ast.Literal(b"\xff"),
        ast.RegexTerminal(rx.ByteSet(1 << 0xFF)),
        ast.RegexTerminal(rx.Complement(rx.Literal(b"a"))),
        ast.Except(ast.Literal(b"\xc3")),
        ast.SubstringsTerminal("\ud800"),
    ],
)
def test_bytes_that_are_not_utf8_have_no_words(body):
    with pytest.raises(GrammarError):
        print_grammar(grammar_of(body))


def test_large_counts_are_few_rules():
    printed = print_grammar(grammar_of(ast.Bounded(ast.Reference("start"), 10, 10**6)))
    assert len(printed) < 4000
    printed = print_grammar(grammar_of(ast.RegexTerminal(rx.Repeat(ASCII, 0, 10**6))))
    assert len(printed) < 4000
    # A small one stays a regex.
    assert (
        print_grammar(grammar_of(ast.RegexTerminal(rx.Repeat(ASCII, 0, 9)))) == "start ::= #'[\\\\x00-\\\\x7f]{0,9}';\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", [ast.Option, ast.ZeroOrMore, ast.OneOrMore])
def test_deep_trees(kind):
    body = ast.Literal(b"a")
    for _ in range(100_000):
        body = kind(body)
    assert print_grammar(grammar_of(body)).count("a") == 2


@pytest.mark.parametrize("write", [print_grammar, print_gbnf, print_xgrammar, print_lark])
def test_writing_ends_at_the_deadline(write):
    texts = tuple(ast.Literal(f"text number {number}".encode()) for number in range(500))
    grammar = ast.Grammar((ast.Rule("start", ast.Choice(texts)),), "start")
    with Deadline(-1.0), pytest.raises(LimitExceededError, match="compile_seconds"):
        write(grammar)


def test_the_search_for_longer_terminals_ends_at_the_deadline():
    """It goes through sets of states of automata that are all built already."""
    regexes = [parse_regex(f"(?:a|b{number})*[a-d]{{1,9}}", "rust") for number in range(8)]
    store = AutomatonStore()
    rules = {"start": ast.Choice(tuple(map(ast.RegexTerminal, regexes)))}
    following = following_bytes(rules, store)
    wide = {state: state for state in following}
    longer_terminals(following, store, wide)
    with Deadline(-1.0), pytest.raises(LimitExceededError, match="compile_seconds"):
        longer_terminals(following, store, wide)
