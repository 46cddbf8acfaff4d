"""Reading KBNF: the whole syntax, errors with line and column, and hostile texts."""

import pytest

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex import tree as rx
from structgen.errors import GrammarError, LimitExceededError
from structgen.kbnf import ast
from structgen.kbnf.reading.kbnf import parse
from structgen.limits import Limits


def body(text):
    """The body of the only rule."""
    (rule,) = parse(f"start ::= {text};").rules
    return rule.body


A, B, C = ast.Literal(b"a"), ast.Literal(b"b"), ast.Literal(b"c")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'a'", A),
        ('"a"', A),
        ("''", ast.Literal(b"")),
        ("x_1", ast.Reference("x_1")),
        ("_", ast.Reference("_")),
        ("'a' 'b'", ast.Sequence((A, B))),
        ("'a','b'", ast.Sequence((A, B))),
        ("'a''b'", ast.Sequence((A, B))),
        ("'a' | 'b' 'c'", ast.Choice((A, ast.Sequence((B, C))))),
        ("'a' , 'b' | 'c'", ast.Choice((ast.Sequence((A, B)), C))),
        ("('a')", A),
        ("('a' | 'b') 'c'", ast.Sequence((ast.Choice((A, B)), C))),
        ("['a']", ast.Option(A)),
        ("'a'?", ast.Option(A)),
        ("{'a'}", ast.ZeroOrMore(A)),
        ("'a'*", ast.ZeroOrMore(A)),
        ("'a' +", ast.OneOrMore(A)),
        ("('a'?)+", ast.OneOrMore(ast.Option(A))),
        ("['a']*", ast.ZeroOrMore(ast.Option(A))),
        ("'a'?'b'", ast.Sequence((ast.Option(A), B))),
        ("#substrs'ab'", ast.SubstringsTerminal("ab")),
        ("any!", ast.AnyText()),
        ("any!'a'", ast.Sequence((ast.AnyText(), A))),
        ("except!('a')", ast.Except(A)),
        ('except!( "a" , 50 )', ast.Except(A, 50)),
        ("except!('a',)", ast.Except(A)),
        ("except!(x)", ast.Except(ast.Reference("x"))),
    ],
)
def test_syntax(text, expected):
    assert body(text) == expected


@pytest.mark.parametrize(
    ("text", "data"),
    [
        (r"'\n\t\r\\\"\''", b"\n\t\r\\\"'"),
        (r"'\b\f\v\0\/'", b"\b\f\v\0/"),
        (r"'\x41\u0042\u{43}\u{1F600}'", "ABC\U0001f600".encode()),
        (r"'\ud83d\ude00'", "\U0001f600".encode()),
        (r"'\xff'", "\xff".encode()),
        (r"'\cA\cz\cJ'", b"\x01\x1a\n"),
        (r"'\-\.\$\[\`'", b"-.$[`"),
        ("'one \\\n two\\\r\nthree'", b"one  twothree"),
        ("'é\n'", "é\n".encode()),
        ("'\"'", b'"'),
        ('"\'"', b"'"),
    ],
)
def test_escapes(text, data):
    assert body(text) == ast.Literal(data)


def test_rules_keep_their_order_and_may_come_twice():
    grammar = parse("b = 'b'; start::=b;b ::= 'c' ; \n")
    assert [(rule.name, rule.body) for rule in grammar.rules] == [
        ("b", B),
        ("start", ast.Reference("b")),
        ("b", C),
    ]


def test_comments_stand_between_any_two_tokens():
    grammar = parse("(* é *)start(**)::=(* ( [ ' *)'a'(*x*)(* y *)'b'(**);(* the * end **)")
    assert grammar == parse("start ::= 'a' 'b';")


def test_the_empty_text_is_a_grammar_without_rules():
    assert parse(" (* nothing *) ") == ast.Grammar(())


def test_regex_kinds():
    plain, early, without = body("#'a+'"), body("#e'a+'"), body("#ex'a'")
    assert (plain.source, plain.kind, plain.regex) == ("a+", "", rx.Repeat(plain.regex.body, 1, None))
    assert (early.source, early.kind) == ("a+", "e")
    assert isinstance(early.regex, rx.Early)
    assert (without.source, without.kind) == ("a", "ex")


def matches(text, data):
    store = AutomatonStore()
    return store.matches(store.add(body(text).regex), data)


def test_escapes_come_before_the_regex():
    assert matches(r"#'\\d\x2b'", b"12")
    assert matches(r"#'[\\u{e9}\u00e8]'", "é".encode())
    assert matches('#"[^\\"]"', b"'")
    assert matches(r"#'\cA[\\cB]'", b"\x01\x02")


def test_escapes_of_javascript_are_written_as_the_published_package_reads_them():
    assert body(r"#'\\cA[\\cz\\0]\\\\cA\-'").source == r"\x01[\x1a\x00]\\cA\-"


def test_a_mark_after_a_backslash_is_itself_in_a_regex_too():
    assert matches(r"#'1\.5'", b"1.5") and not matches(r"#'1\.5'", b"1x5")
    assert matches(r"#'[a\-c]+'", b"a-c") and not matches(r"#'[a\-c]+'", b"b")


def test_early_regexes_never_match_the_empty_text():
    # As the published package: `#e'a*' 'b'` is "ab" only, `#e''` is nothing.
    assert [matches("#e'a*'", data) for data in (b"", b"a", b"aa")] == [False, True, False]
    assert not matches("#e''", b"")


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("a", [b"b", b"\xff", b"bb", "é".encode()], [b"", b"a", b"ba"]),
        ("ab", [b"a", b"b", b"aa", b"ba"], [b"", b"ab", b"aab"]),
        ("a|b", [b"c"], [b"", b"a", b"cb"]),
        (".", [b"\n", b"\xff"], [b"", b"a", "é".encode()]),
        ("é", [b"\xc3", b"\xa9"], ["é".encode()]),
        ("a*", [], [b"", b"b", b"a"]),
        ("[ab]", [b"c", b"cc"], [b"", b"a", b"cb"]),
    ],
)
def test_text_without_a_regex(pattern, inside, outside):
    assert [data for data in inside + outside if matches(f"#ex'{pattern}'", data)] == inside


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("start ::= 'a'", 1, 14, "expected a symbol, '|' or ';' in the rule 'start', found the end of the grammar"),
        ("start ::= ;", 1, 11, "expected a symbol, found ';'"),
        ("start ::= 'a' | ;", 1, 17, "expected a symbol, found ';'"),
        ("start ::= 'a' , ;", 1, 17, "expected a symbol, found ';'"),
        ("start ::= | 'a';", 1, 11, "expected a symbol, found '|'"),
        ("start ::= ('a' | );", 1, 18, "expected a symbol, found ')'"),
        ("start ::= ();", 1, 12, "expected a symbol, found ')'"),
        ("start ::= ('a';", 1, 15, "expected a symbol, '|' or ')', found ';'"),
        ("start ::= ['a' 'b'", 1, 11, "this option has no end: expected ']'"),
        ("start ::= {'a' ('b'", 1, 16, "this group has no end: expected ')'"),
        ("start ::= ('a'];", 1, 15, "expected a symbol, '|' or ')', found ']'"),
        ("start ::= 'a');", 1, 14, "expected a symbol, '|' or ';' in the rule 'start', found ')'"),
        ("start ::= *;", 1, 11, "expected a symbol, found '*'"),
        ("start ::= 'a'*+;", 1, 15, "a second operator '+'"),
        ("start 'a';", 1, 7, "expected '::=' after the rule's name"),
        ("'a' ::= 'b';", 1, 1, "expected the name of a rule"),
        ("start ::= 'a'\nb ::= 'c';", 2, 3, "expected ';' at the end of the rule 'start'"),
        ("start ::= 'a' @ 'b';", 1, 15, "unexpected character '@'"),
        ("start ::= é;", 1, 11, "unexpected character 'é'"),
        ("start ::= 1a;", 1, 11, "expected a symbol, '|' or ';'"),
        ("start ::= 'a' (* b", 1, 15, "this comment has no end: expected '*)'"),
        ("start ::=\n  'a\\'", 2, 3, "this string has no end: expected '"),
        (r"start ::= 'ab\d';", 1, 14, r"unknown escape \d"),
        (r"start ::= '\ud83d';", 1, 12, r"\ud83d is not a Unicode character"),
        (r"start ::= '\u{110000}';", 1, 12, "is not a Unicode character"),
        (r"start ::= '\x4';", 1, 12, r"unknown escape \x"),
        ("start ::= # 'a';", 1, 11, "expected a string right after '#'"),
        ("start ::= except!'a';", 1, 18, "expected '(' after 'except!'"),
        ("start ::= except!();", 1, 19, "expected a string or a nonterminal in 'except!'"),
        ("start ::= except!('a' 'b');", 1, 23, "expected a number of bytes or ')' in 'except!'"),
        ("start ::= except!('a',9999999999);", 1, 23, "bytes are too many"),
        ("start ::= #'a(b';", 1, 14, "in this regex: "),
        (r"start ::= 'x' #'\u0061\\d(b';", 1, 26, "in this regex: "),
        ("start ::= #ex'^a';", 1, 15, "the anchor '^' is not supported in '#ex'"),
        ("start ::= #ex'[$]a$';", 1, 19, "the anchor '$' is not supported in '#ex'"),
    ],
)
def test_errors_tell_the_place_and_what_was_expected(text, line, column, message):
    with pytest.raises(GrammarError) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert message in str(caught.value)


def test_errors_draw_a_caret():
    with pytest.raises(GrammarError) as caught:
        parse("a ::= 'b';\n\tstart ::= 'a' ];\n")
    assert caught.value.source == " start ::= 'a' ];"
    lines = str(caught.value).splitlines()
    assert lines[1][lines[2].index("^")] == "]"


def test_errors_in_long_lines_show_the_place_only():
    with pytest.raises(GrammarError) as caught:
        parse("start ::= " + "'a' " * 50_000 + "@" + " 'b'" * 50_000 + ";")
    message = str(caught.value)
    assert len(message) < 600
    lines = message.splitlines()
    assert lines[1][lines[2].index("^")] == "@"
    assert caught.value.column == 200_011


def test_100_000_nested_brackets():
    grammar = parse("start ::= " + "([{" * 33_334 + "'a'" + "}])" * 33_334 + ";")
    assert len(grammar.rules) == 1


@pytest.mark.parametrize(
    "text",
    [
        "start ::= " + "(" * 100_000,
        "start ::= " + "('a'" * 100_000 + "]",
        "start ::= " + "(*" * 100_000,
        "start ::= 'a'" + "*" * 100_000 + ";",
        "start ::= '" + "\\'" * 100_000,
        "start ::= #'" + "(" * 100_000 + "';",
    ],
)
def test_texts_made_to_hurt_are_errors(text):
    with pytest.raises((GrammarError, LimitExceededError)):
        parse(text)


def test_the_number_of_symbols_is_bounded():
    with pytest.raises(LimitExceededError) as caught:
        parse("start ::= 'a' 'b' 'c';", limits=Limits(grammar_symbols=2))
    assert caught.value.limit == "grammar_symbols"


@pytest.mark.parametrize(("escape", "written"), [(r"\a", r"\\a"), (r"\Z", r"\\z"), (r"\d", r"\\d")])
def test_a_backslash_of_a_regex_is_written_twice(escape, written):
    """As for the published package, which refuses the one and reads the other."""
    with pytest.raises(GrammarError) as caught:
        parse(f"start ::= #'a{escape}';")
    assert caught.value.hint == f"a backslash of a regex is written twice: {written}"
    assert parse(f"start ::= #'a{written}';")
