"""Lark: what is read, what is refused and where, and that what is written is read back as the same language."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.foreign_grammars import LARK
from support.texts import is_read
from support.vocabularies import BYTES

import structgen
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.regex import tree as rx
from structgen.errors import GrammarError, LimitExceededError
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.kbnf import parse
from structgen.kbnf.reading.lark import parse_lark
from structgen.kbnf.reading.lark_common import COMMON
from structgen.kbnf.writing.lark import print_lark
from structgen.kbnf.writing.longest_match import widened

SETTINGS = settings(suppress_health_check=list(HealthCheck))
ASCII = rx.Chars(((0, 0x7F),))


def belongs(grammar: ast.Grammar, text: str) -> bool:
    return is_read(CompiledGrammar(normalize(grammar), BYTES, eager=False), text)


@pytest.mark.parametrize("dialect", ["llguidance", "lark"])
@pytest.mark.parametrize("name", LARK)
def test_texts_of_grammars(name, dialect):
    grammar = structgen.Grammar.lark(LARK[name].text, dialect=dialect)
    assert (grammar.kind, grammar.eager) == (dialect, False)
    for text in LARK[name].valid:
        assert belongs(grammar.tree, text), text
    for text in LARK[name].invalid:
        assert not belongs(grammar.tree, text), text


def test_only_lark_itself_ignores_what_stands_before_the_first_terminal():
    text = "start: A\nA: /a/\n%ignore / +/"
    assert not belongs(parse_lark(text), " a")
    assert belongs(parse_lark(text, dialect="lark"), " a ")


@pytest.mark.parametrize(
    ("text", "valid", "invalid"),
    [
        ('start: "a"i "b"', ["ab", "Ab"], ["aB"]),
        ("start: /x y/x /z/i", ["xyZ"], ["x yz"]),
        ('start: A\nA: /[a-z]+/ & ~/if|of/ | "1"', ["ix", "1"], ["if", "2"]),
        ("start: ~A\nA: /a/", None, None),
        ('start: "a"{2,3} "b"{,2} "c"{2} "d"{1,}', ["aaccd", "aaabbccddd"], ["accd", "aabbbccd", "aacd"]),
        (
            '_sep{x, s}: x (s x)*\nstart: _sep{A, ","} ";" _sep{pair, "|"}\npair: A A\nA: /[0-9]/',
            ["1,2;34|56"],
            ["1;2"],
        ),
        ('opt{x}: [x]\nstart: opt{opt{"a"}} "b"', ["b", "ab"], ["aab"]),
        ('start: (\n  "a"\n  | "b"\n)+ // a group over lines\n  | "c" # and one more\n', ["abba", "c"], ["ac"]),
        ("start: A\nA.2: /a/\n!x.-1: A\n", ["a"], ["aa"]),
        ('start[capture]: a[capture="x"]\n', None, None),
        ('start[capture="all"]: a\na[capture]: "x"', ["x"], [""]),
        ('start: %regex { "substring_chunks": ["ab", "c"] } "!"', ["!", "ab!", "abc!", "c!"], ["a!", "bc!"]),
        ('%llguidance { "no_forcing": true }\nstart: "é\\u00e9\\x41\\U0001F600\\""', ['ééA\U0001f600"'], []),
        ('start: A B\n%ignore B\nA: "a"\nB: "b"', ["ab", "abbb"], ["a", "bba", "bab"]),
        ('start:\n | "a"', ["", "a"], ["aa"]),
        ('start: a-b\na-b: "x"->y', ["x"], ["y"]),
        (r"start: IF /[ a(]+/\nIF: /if\b/".replace("\\n", "\n"), ["if a", "if(", "if  "], ["ifa", "if"]),
        (r"start: /a\Bb\b-/ /c/", ["ab-c"], ["a-c", "abc"]),
    ],
)
def test_what_is_read(text, valid, invalid):
    if valid is None:
        with pytest.raises(GrammarError):
            parse_lark(text)
        return
    grammar = parse_lark(text)
    for word in valid:
        assert belongs(grammar, word), word
    for word in invalid:
        assert not belongs(grammar, word), word


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("start: A\nA: <think>", 2, 4, "<think> is not supported"),
        ("start: <[1000-]>", 1, 14, "expected ',' between token ids"),
        ("start: <[7-3]>", 1, 10, "7-3 is no range of token ids"),
        ("start: @other", 1, 8, "nothing is bound to @other"),
        ('start: A\nA: %json {"type": "string"}', 2, 4, "%json is not supported in a terminal"),
        ("start: A\nA: @x", 2, 4, "@x is not supported in a terminal"),
        ('start: A\nA: %lark { start: "a" }', 2, 4, "%lark is not supported in a terminal"),
        ('start: %lark { x: "a" }', 1, 15, "no rule 'start'"),
        ('start: %lark "a"', 1, 14, "expected '{' after %lark"),
        ('start: %lark { start: "a"', 1, 8, "%lark has no end"),
        ('start: "b" %lark { start: a }', 1, 27, "the rule 'a' is not defined"),
        ('start: %regex {"words": "a"}', 1, 8, "this %regex is not supported"),
        ("start: %json {", 1, 14, "expected JSON"),
        ("start: a", 1, 8, "the rule 'a' is not defined"),
        ("start: A", 1, 8, "the terminal 'A' is not defined"),
        ('start: "a\n', 1, 8, "this string has no end"),
        ("start: /a\n", 1, 8, "this regex has no end"),
        ("start: 'a'", 1, 8, "unexpected character"),
        ('start: "\ud800"', 1, 8, "a lone surrogate is no Unicode character"),
        ('start: "\ud800"i', 1, 8, "a lone surrogate is no Unicode character"),
        ('start: "a"\n%ignore "\ud800"', 2, 9, "a lone surrogate is no Unicode character"),
        ('start: %regex {"substring_chars": "a\\ud800"}', 1, 8, "a lone surrogate is no Unicode character"),
        ('start: %regex {"substring_words": "a\\ud800"}', 1, 8, "a lone surrogate is no Unicode character"),
        ('start: %regex {"substring_chunks": ["\\ud800"]}', 1, 8, "a lone surrogate is no Unicode character"),
        (f'start.{"9" * 5000}: "a"', 1, 1, "expected a priority of at most 9 digits"),
        ('start: "\\q"', 1, 9, r"unknown escape \\q"),
        ("start: A\nA: B\nB: A", 2, 1, "is defined by itself|"),
        ('start: A\nA: start "b"', 2, 4, "a terminal cannot use the rule 'start'"),
        ("start: /a(?=b)/", 1, 10, "look-around, which llguidance's dialect does not have"),
        (r"start: /[(?=]\(!a/ /a(?!b)/", 1, 22, "look-around, which llguidance's dialect does not have"),
        ("start: /a$/", 1, 10, "looks outside of the terminal"),
        (r"start: /\ba/", 1, 9, "looks outside of the terminal"),
        ("start: /(a/", 1, 8, "in this regex"),
        ("start: /a/l", 1, 8, "the flags 'l'"),
        ('start: "a" & "b"', 1, 12, "in terminals only"),
        ('start: ~"a"', 1, 8, "in terminals only"),
        ('start: "a" ~', 1, 12, "expected something after '~'"),
        ('start: "a"~3..2', 1, 11, "wrong order"),
        ('start: "b".."a"', 1, 8, "a range has two single characters"),
        ('start: ("a"', 1, 8, "this bracket has no end"),
        ('start: "a")', 1, 11, "unexpected"),
        ('%import foo.BAR\nstart: "x"', 1, 1, "there is no file foo.lark to import[^\0]*import_paths"),
        ('%import BAR\nstart: "x"', 1, 1, "expected a path and a name"),
        ('%import a..B\nstart: "x"', 1, 1, "expected a path and a name"),
        ('A: "a"\n%import common.INT -> A\nstart: A', 2, 1, "'A' is defined twice"),
        ('%import common.FOO\nstart: "x"', 1, 1, "no terminal 'FOO'"),
        ("%declare A\nstart: A", 1, 1, "%declare is not supported"),
        ('%grammar_options {}\nstart: "a"', 1, 1, "%grammar_options is not supported"),
        ('start: a::0x0\na::_: "x" %if is_ones([0:3])', 2, 4, "parametric rules, rule::_ with %if, are not supported"),
        ('%llguidance {"skip_repetition": "twice"}\nstart: "a"', 1, 1, "'once' or 'unbounded', not 'twice'"),
        ('%llguidance {"no_forcing": 3}\nstart: "a"', 1, 1, "'no_forcing' of %llguidance is true or false, not 3"),
        ('%llguidance {"allow_invalid_utf8": true}\nstart: "a"', 1, 1, "option 'allow_invalid_utf8' .* not supported"),
        ('%llguidance []\nstart: "a"', 1, 1, "a JSON object"),
        ("start[max_tokens=3]: /(ab)+/", 1, 7, "'max_tokens' is for rules whose text may end after each character"),
        ('start[max_tokens=3, suffix=";"]: /a*/', 1, 7, "'max_tokens' is for rules whose text may end"),
        ("start[max_tokens=0]: /a+/", 1, 18, "max_tokens is a number from 1 up"),
        ("start[max_tokens=1.5]: /a+/", 1, 18, "max_tokens is a number from 1 up"),
        ("start[max_tokens]: /a+/", 1, 7, "expected a number, as in max_tokens=100"),
        ("start[max_tokens=3]: %json true", 1, 22, "'max_tokens' needs a body that is a terminal; this uses %json"),
        ("start[foo]: /a+/", 1, 7, "the attribute 'foo' is not supported"),
        ('start[lazy="a"]: /a+/', 1, 7, "expected 'lazy' without a value"),
        ("start[capture=A]: /a+/", 1, 15, 'expected capture="…"'),
        ("start[capture, capture]: /a+/", 1, 16, "a rule has one 'capture'"),
        ('start[stop="a", suffix="b"]: /a+/', 1, 17, "a rule has one stop or suffix"),
        ("start[temperature=-1]: /a+/", 1, 19, "a temperature is a number from 0 up, not -1"),
        ("start[temperature=1e999]: /a+/", 1, 19, "a temperature is a number from 0 up, not 1e999"),
        ("start[temperature]: /a+/", 1, 7, "expected a number, as in temperature=0.7"),
        ('start[stop_capture="a"]: /a+/', 1, 7, "'stop_capture' needs a suffix"),
        ("start[suffix=/a+/ /b/]: /a+/", 1, 14, "one string, regex or terminal"),
        ("start[stop=/a+/]: /a+/", 1, 12, "the value of 'stop' is a text"),
        ('start[suffix=B]: "a"', 1, 14, "the terminal 'B' is not defined"),
        ('start[lazy]: x\nx: "a"', 1, 14, "needs a body that is a terminal; this uses the rule 'x'"),
        ('start[temperature=1]: x\nx: "a"', 1, 23, "or one @name, %json or %lark; this uses the rule 'x'"),
        ("start[lazy]: %json true", 1, 14, "needs a body that is a terminal; this uses %json"),
        ('X[capture]: "a"\nstart: X', 1, 2, "unexpected '\\[' after 'X'"),
        ('start[capture: "a"', 1, 6, "this bracket has no end"),
        ('start: "a"\nstart: "b"', 2, 1, "defined twice"),
        ('x: "a"', 1, 1, "no rule 'start'"),
        ('start: f{"a"}\nf{x,y}: x y', 1, 8, "takes 2 arguments, not 1"),
        ('start "a"', 1, 7, "expected ':'"),
        ('start: f{"a"}\nf{x}: x f{(x x)}', 2, 9, "instances of templates"),
    ],
)
def test_what_is_refused_is_pointed_at(text, line, column, says):
    with pytest.raises(GrammarError, match=says) as caught:
        parse_lark(text)
    if says.endswith("|"):  # which of several is named is open
        return
    assert (caught.value.line, caught.value.column) == (line, column)
    assert "^" in str(caught.value)


def test_limits_and_depth():
    depth = 20_000
    assert belongs(parse_lark("start: " + "(" * depth + '"a"' + ")" * depth), "a")
    chain = "\n".join(f"A{n}: A{n + 1}" for n in range(5000))
    assert belongs(parse_lark(f'start: A0\n{chain}\nA5000: "a"'), "a")
    assert belongs(parse_lark(f'f{{x}}: x\nstart: f{{{"[" * depth}"a"{"]" * depth}}}'), "")
    with pytest.raises(LimitExceededError):
        parse_lark('start: "a" "b" "c"', limits=structgen.Limits(grammar_symbols=2))


@pytest.mark.parametrize("dialect", ["llguidance", "lark"])
def test_every_common_terminal_is_read(dialect):
    for name in COMMON:
        assert parse_lark(f"%import common.{name}\nstart: {name}", dialect=dialect)


@SETTINGS
@given(data=st.data())
def test_what_is_written_is_read_back_as_the_same_language(data, language, strategies):
    regexes = strategies["regexes"]().map(lambda r: ast.RegexTerminal(rx.intersection(rx.star(ASCII), r)))
    grammar = data.draw(strategies["grammars"](regexes))
    wanted = language(grammar)
    try:
        text = print_lark(grammar)
    except GrammarError as error:
        assert "derives no text" in str(error)
        assert not wanted
        return
    assert language(normalize(parse_lark(text))) == wanted


@SETTINGS
@given(data=st.data())
def test_what_is_widened_matches_no_less(data, strategies):
    regex = data.draw(strategies["regexes"]())
    assert AutomatonStore().is_empty(rx.difference(regex, widened(regex)))


@pytest.mark.parametrize(
    ("kbnf", "text"),
    [
        # One terminal, though `[0-9]+` before `5` would never end as a lexeme.
        ("start ::= #'[0-9]+' '5';", "start: WHOLE\nWHOLE: /[0-9]+/ /5/\n"),
        # In what recurses, digits become single ones; `(` and `)` stay.
        ("start ::= #'[0-9]+' '5' | '(' start ')';", "start: /[0-9]/+ /5/ | /\\(/ start /\\)/\n"),
        ("start ::= 'ab' | 'abc' start;", "start: /ab/ | /abc/ start\n"),
        ("start ::= 'ab' 'c' | 'abc' start;", "start: /a/ /b/ /c/ | /a/ /b/ /c/ start\n"),
        # Of an option of nothing the empty text is left.
        ("start ::= {'b' x} 'a' | '(' start ')'; x ::= x;", "start: /a/ | /\\(/ start /\\)/\n"),
        ("start ::= {'b' x} | '(' start ')'; x ::= x;", 'start: "" | /\\(/ start /\\)/\n'),
        ("start ::= '{' start '}' | '\"a\"';", 'start: /\\{/ start /\\}/ | /"a"/\n'),
    ],
)
def test_terminals_are_cut_where_a_lexer_would_take_the_longer_one(kbnf, text):
    assert print_lark(parse(kbnf)) == text


@pytest.mark.parametrize(
    "kbnf", ["start ::= #ex'a';", "start ::= any!;", "start ::= 'a' start;", "start ::= !'a' 'b';"]
)
def test_what_lark_cannot_say_is_refused(kbnf):
    with pytest.raises(GrammarError):
        print_lark(parse(kbnf))


def test_a_rule_with_the_name_of_the_whole_text_gets_another():
    """In upper case, it was the terminal `WHOLE` a second time."""
    text = print_lark(parse("start ::= whole 'b'; whole ::= #'a+';"))
    assert text == "start: WHOLE\nWHOLE: WHOLE_2 /b/\nWHOLE_2: /a+/\n"
    assert parse_lark(text).start == "start"


def test_tokens():
    tree = parse_lark("start: <think> <[^5]>* <[*]> word <[1000-1010,5]>\nword: /a/")
    _word, start = tree.rules
    assert start.body.parts[:3] == (
        ast.Token(("<think>",)),
        ast.ZeroOrMore(ast.Token(ids=((5, 5),), is_negated=True)),
        ast.Token(is_negated=True),
    )
    assert start.body.parts[4] == ast.Token(ids=((1000, 1010), (5, 5)))


def test_ignored_texts_may_follow_a_token():
    tree = parse_lark('start: <think> "a"\n%ignore " "')
    first = tree.rules[-1].body.parts[0]
    assert isinstance(first, ast.Sequence)
    assert first.parts[0] == ast.Token(("<think>",))
