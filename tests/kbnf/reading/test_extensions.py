"""What this KBNF has besides the published one: differences, look-aheads, and indentation."""

import itertools

import pytest
from support.texts import is_read
from support.walks import byte_vocabulary

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.kbnf import parse
from structgen.kbnf.writing.kbnf import print_grammar

A, B = ast.Literal(b"a"), ast.Literal(b"b")


@pytest.fixture
def accepts():
    def compiled(text):
        grammar = CompiledGrammar(normalize(parse(text)), byte_vocabulary())

        return lambda text: is_read(grammar, text)

    return compiled


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'a' - 'b'", ast.Difference(A, B)),
        ("'a' - 'b' - 'a'", ast.Difference(ast.Difference(A, B), A)),
        ("'b' 'a'* - 'b'", ast.Sequence((B, ast.Difference(ast.ZeroOrMore(A), B)))),
        ("'a' - ('b' | 'a')", ast.Difference(A, ast.Choice((B, A)))),
        ("'a' !'b'", ast.Sequence((A, ast.NotFollowedBy(B)))),
        ("'a' !('b' | 'a') 'b'", ast.Sequence((A, ast.NotFollowedBy(ast.Choice((B, A))), B))),
        ("margin! 'a'", ast.Sequence((ast.Margin(), A))),
        ("'a' indented!('a' | 'b')", ast.Sequence((A, ast.Indented(ast.Choice((A, B)))))),
        ("indented!('a')+", ast.OneOrMore(ast.Indented(A))),
    ],
)
def test_syntax(text, expected):
    assert parse(f"start ::= {text};").rules[0].body == expected


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("start ::= 'a' - ;", 17, "expected a symbol"),
        ("start ::= - 'a';", 11, "expected a symbol"),
        ("start ::= 'a' !;", 16, "expected a symbol"),
        ("start ::= 'a' !!'b';", 16, "expected a symbol"),
        ("start ::= 'a' - !'b';", 17, "expected a symbol"),
        ("start ::= 'a' !'b'*;", 19, "a second operator"),
        ("start ::= 'a' - 'b'*;", 20, "a second operator"),
        ("start ::= indented! 'a';", 21, "expected '\\(' after 'indented!'"),
        ("start ::= indented!('a'", 11, "has no end"),
    ],
)
def test_errors_tell_the_place(text, column, message):
    with pytest.raises(GrammarError, match=message) as caught:
        parse(text)
    assert caught.value.column == column


def test_a_difference_is_that_of_the_texts(accepts):
    accepted = accepts("start ::= word; word ::= #'[ab]{1,3}' - (short | 'bab'); short ::= #'[ab]'+ - 'aa' - 'aba';")
    expected = {"aa", "aba"}
    texts = ["".join(t) for size in range(5) for t in itertools.product("ab", repeat=size)]
    assert {text for text in texts if accepted(text)} == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("start ::= x - 'a'; x ::= 'a' x | 'b';", "'x' is recursive"),
        ("start ::= 'a' - y;", "'y'"),
        ("start ::= 'b' !x; x ::= 'ab' | 'c';", "in the rule 'start'.*more than one character"),
        ("start ::= 'b' - ('a' !'c');", "a look-ahead is used where only a regular"),
        ("start ::= 'b' x; x ::= ['a'] !'c';", "in the rule 'x': a '!' may stand alone"),
        ("start ::= margin! ['a'];", "margin! may stand alone"),
        ("start ::= 'a' | indented!('b'?);", "indented! may stand alone"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(text, message):
    with pytest.raises(GrammarError, match=message):
        normalize(parse(text))


def test_words_end_where_no_letter_follows(accepts):
    accepted = accepts(
        "start ::= (NOT | NAME)+; NOT ::= 'not' !w _; NAME ::= (#'[a-z]+' - 'not') !w _; w ::= #'[a-z]'; _ ::= ' '*;"
    )
    assert accepted("not a nota not")
    assert accepted("nota")
    assert not accepted("no-t")
    calls = accepts("start ::= NAME NAME; NAME ::= #'[a-z]+' !#'[a-z]' ' '?;")
    assert calls("ab cd")
    assert not calls("abcd")


BLOCKS = """
    start ::= line+;
    line ::= margin! (#'[a-z]+' NEWLINE | #'[a-z]+' ':' NEWLINE indented!(line+));
    NEWLINE ::= #'( *\\n)+';
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb\n", True),
        (" a\n", False),
        ("a:\n  b\n  c\nd\n", True),
        ("a:\n  b\n   c\n", False),
        ("a:\n  b\n c\n", False),
        ("a:\nb\n", False),
        ("a:\n\tb:\n\t  c\n\td\n", True),
        ("a:\n    b:\n     c:\n      d\n     e\n    f\ng\n", True),
        ("a:\n    b:\n        c\n\n    d\n  \n", True),
        ("a:\n" + " " * 8 + "b\n", True),
        ("a:\n" + " " * 9 + "b\n", False),
        ("".join(" " * n + "a:\n" for n in range(60)) + " " * 60 + "b\n", True),
    ],
)
def test_lines_of_a_block_begin_alike(accepts, text, expected):
    assert accepts(BLOCKS)(text) == expected


def test_two_indented_parts_of_one_body_have_margins_of_their_own(accepts):
    accepted = accepts("start ::= 'a\\n' indented!(x) 'b\\n' indented!(x); x ::= (margin! 'x\\n')+;")
    assert accepted("a\n  x\n  x\nb\n x\n x\n")
    assert not accepted("a\n  x\n x\nb\n x\n")
    assert not accepted("a\nx\nb\n x\n")


def test_a_body_with_many_blocks_has_no_copy_for_each_combination_of_margins(accepts):
    """Twelve blocks have 282 billion combinations."""
    block = r"'\n' indented!(margin! 'x'"
    accepted = accepts("start ::= " + f"{block})" * 12 + " '.';")
    margins = [" ", "  ", "\t", " " * 8]
    assert accepted("".join(f"\n{margins[number % 4]}x" for number in range(12)) + ".")
    assert not accepted("\nx" + "\n x" * 11 + ".")
    nested = accepts("start ::= " + block * 12 + " !'y'" + ")" * 12 + " 'z';")
    assert nested("".join(f"\n{' ' * number}x" for number in range(1, 13)) + "z")
    assert not nested("".join(f"\n{' ' * min(number, 11)}x" for number in range(1, 13)) + "z")


def test_differences_are_printed_as_terminals_and_the_others_refused(accepts):
    text = "start ::= #'[ab]{1,2}' - ('a' | 'bb');"
    printed = accepts(print_grammar(parse(text)))
    assert {t for t in ("", "a", "b", "aa", "ab", "ba", "bb", "aab") if printed(t)} == {"b", "aa", "ab", "ba"}
    for word, rule in (
        ("look-ahead", "x ::= 'a' !'b';"),
        ("margin!", "x ::= margin! 'a';"),
        ("indented!", "x ::= indented!('b');"),
    ):
        with pytest.raises(GrammarError, match=f"cannot express the .*{word}.* in the rule 'x'"):
            print_grammar(parse(f"start ::= x; {rule}"))
