"""Lark's own `python.lark`, read by `Grammar.lark`: the same programs are accepted as by Lark with `PythonIndenter`."""

from __future__ import annotations

import ast
import itertools
import keyword
import pathlib
import random
import re

import lark
import pytest
from lark.indenter import PythonIndenter
from support.languages import mutants, programs
from support.texts import constraint_of, is_read

import structgen
from structgen.errors import GrammarError
from structgen.kbnf.reading.lark import parse_lark

SOURCE = (pathlib.Path(lark.__file__).parent / "grammars" / "python.lark").read_text()
KEYWORDS = {*keyword.kwlist, "match", "case", "_"}


@pytest.fixture(scope="module")
def constraint():
    return constraint_of(structgen.Grammar.lark(SOURCE, dialect="lark", start="file_input"))


@pytest.fixture(scope="module")
def parser():
    return lark.Lark(
        SOURCE,
        parser="lalr",
        postlex=PythonIndenter(),
        start="file_input",
        keep_all_tokens=True,
        maybe_placeholders=False,
    )


def tree_of(parser, text):
    """The parse tree, or None. Lark's class fails with IndexError where a comment ends the text."""
    try:
        return parser.parse(text)
    except (lark.exceptions.LarkError, IndexError, AssertionError):
        return None


def statements():
    """The statements at the top of the test programs."""
    for file in programs("python"):
        text = file.read_text()
        lines = text.splitlines(keepends=True)
        for node in ast.parse(text).body:
            yield "".join(lines[node.lineno - 1 : node.end_lineno])


FILES = [
    pytest.param(file, id=file.name, marks=pytest.mark.slow if file.stat().st_size > 7000 else ())
    for file in programs("python")
]


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_real_programs_are_accepted_where_lark_accepts_them(constraint, parser, file):
    text = file.read_text()
    assert is_read(constraint, text) == (tree_of(parser, text) is not None)


KEYWORD_AS_NAME = "a keyword where lark's LALR state takes only a name"
KEYWORD_JOINED = "a keyword joined to the name after it, where lark's LALR state takes only the keyword"
MARGIN = "a margin wider by more than eight spaces, or with tabs and spaces"


def cause(text, tree):
    """Why a text that Lark accepts is refused here; "" for no known reason."""
    tokens = list(tree.scan_values(lambda token: token.type not in ("_INDENT", "_DEDENT")))
    if any(token.type == "NAME" and token in KEYWORDS for token in tokens):
        return KEYWORD_AS_NAME
    for token, following in itertools.pairwise(tokens):
        if token in KEYWORDS and token.end_pos == following.start_pos and re.match(r"\w", following):
            return KEYWORD_JOINED
    margins = ["", *(line[: len(line) - len(line.lstrip())] for line in text.splitlines() if line.strip())]
    steps = [len(after) - len(before) for before, after in itertools.pairwise(margins)]
    return MARGIN if max(steps) > 8 or any("\t" in margin and " " in margin for margin in margins) else ""


@pytest.mark.one_in(1, uncompiled=2)
def test_mutants_are_accepted_where_lark_accepts_them(constraint, parser):
    rng = random.Random(29)
    causes = {KEYWORD_AS_NAME: 0, KEYWORD_JOINED: 0, MARGIN: 0}
    accepted = 0
    short = [text for text in statements() if len(text) < 400]
    for text in itertools.islice(itertools.cycle(short), 600):
        mutant = next(mutants(text, rng))
        tree = tree_of(parser, mutant)
        accepted += tree is not None
        if is_read(constraint, mutant) != (tree is not None):
            assert tree is not None, f"accepted here, refused by Lark: {mutant!r}"
            causes[cause(mutant, tree)] += 1
    assert accepted > 100
    assert sum(causes.values()) < 15


@pytest.mark.parametrize(
    ("text", "by_lark", "here"),
    [
        # A keyword is not the begin of a longer name, and a name is no keyword.
        ("iffy = 1\n", True, True),
        ("x = yif z else w\n", False, False),
        ("x = 1if y else 2\n", True, True),
        ("1 isnot 2\n", True, True),
        ("for _ in x:\n  pass\n", True, True),
        ("match x:\n  case _:\n    pass\n", True, True),
        ("match = case\n", True, True),
        ("from . importx\n", False, False),
        # Numbers and strings.
        ("1.real\n", False, False),
        ("x = 01\n", False, False),
        ("x = 0x1for y\n", True, True),
        ("x = '' ''\n", True, True),
        ("x = ''''\n", False, False),
        ("x = '''a'b''' '\\\\' \"'\"\n", True, True),
        # Lines, blocks and comments.
        ("if x:\n  y\n  z\nw\n", True, True),
        ("if x:\n  y\n   z\n", False, False),
        ("if x:\n    y\n  z\n", False, False),
        ("if x:\ny\n", False, False),
        ("if x: # c\n\n  # d\n\ty\n# e\nz\n", True, True),
        ("x = [1,\n2 # c\n  ]\n", True, True),
        ("x = f(y#, z)\n", False, False),
        ("x = 1 + \\\n  2\n", True, True),
        ("x = 1", False, False),
        # The differences.
        ("x.if\n", True, False),
        ("match inspect\n", False, True),
        ("if x:\n\t  y\n", True, False),
        ("if x:\n" + " " * 9 + "y\n", True, False),
        ("x\nif y:\n\tz\n        t\n", True, False),
        ("if x:\n  y\n  ", True, False),
    ],
)
def test_single_texts(constraint, parser, text, by_lark, here):
    assert (tree_of(parser, text) is not None, is_read(constraint, text)) == (by_lark, here)


SMALL = "start: (line | _NEWLINE)+\nline: NAME [block] | NAME _NEWLINE\n_NEWLINE: /(\\r?\\n[ \\t]*)+/\nNAME: /[a-z]+/\n"


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ("%declare OTHER\nstart: OTHER", 1, 10, "the declared terminal 'OTHER' has no meaning"),
        ('%declare _INDENT _DEDENT\nstart: _INDENT "a" _DEDENT', 1, 10, "needs a terminal '_NEWLINE'"),
        (SMALL + "%declare _INDENT _DEDENT\nblock: _NEWLINE _INDENT line", 0, 0, "_INDENT has no partner"),
        (SMALL + "%declare _INDENT _DEDENT\nblock: _NEWLINE line _DEDENT", 0, 0, "enclose a part of one"),
        (SMALL + '%declare _INDENT _DEDENT\nblock: "(" line\n', 0, 0, "'\\(' has no partner"),
        (SMALL + '%declare _INDENT _DEDENT\nblock: ")" line\n', 0, 0, "'\\)' has no partner"),
        ("start: /a(?=b)/", 1, 10, "'\\(\\?=' looks outside of the terminal"),
        ("start: /(?<!a)b/", 1, 9, "looks outside of the terminal"),
        (r"start: /\ba(?!b)/", 1, 9, r"'\\\\b' looks outside of the terminal"),
        ("start: /b(?<!ab)c/", 1, 10, "looks outside of the terminal"),
        (r"start: /a\B/", 1, 10, r"'\\\\B' looks outside of the terminal"),
        ("start: /(?!.*ab)[abc]+;/", 1, 9, r"'\(\?!' looks outside of the terminal"),
        ("start: /a(?!bc)/", 1, 10, "looks outside of the terminal"),
        ('start: A\nA: ("a" /(?!b)/)+', 2, 17, "a look-ahead sees the character after"),
    ],
)
def test_what_is_refused_is_named(text, line, column, says):
    with pytest.raises(GrammarError, match=says) as caught:
        parse_lark(text, dialect="lark")
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    "pattern",
    [
        r"a(?!b)",
        r"(?!ab)[abc]{1,3}",
        r'"(?!"").*?(?<!\\)(\\\\)*?"',
        r"a*?b",
        r"(?!a)(?!bb)[abc]+",
        r"[ab](?![^a])",
        r"(?=[ab]*c)[abc]+>",
        r"a\b",
        r"a\Bb|\w\b>",
        r"(a\b>?)+",
        r"(?!ab)[abc]\w*",
        r"((?!bb)[abc])+",
        r"(?m:[ab]+$)",
    ],
)
def test_look_around_sees_the_next_character_as_in_re(pattern):
    """A terminal between `<` and any text is matched where `re` matches it so, from the same position."""
    constraint = constraint_of(structgen.Grammar.lark(f'start: "<" A />?[^>]*/\nA: /{pattern}/', dialect="lark"))
    for length in range(1, 5):
        for letters in itertools.product('abc"\\>' if '"' in pattern else "abc>", repeat=length):
            text = "".join(letters)
            wanted = any(re.fullmatch(r">?[^>]*", text[end:]) for end in _ends(pattern, text))
            assert is_read(constraint, "<" + text) == wanted, text


def _ends(pattern, text):
    """The positions where a match may end, given the text after it: of a lazy pattern only the first."""
    found = [end for end in range(1, len(text) + 1) if re.match(f"(?:{pattern})(?={re.escape(text[end:])}\\Z)", text)]
    return found[:1] if "*?" in pattern else found


def test_no_rule_has_to_use_the_end_of_a_line():
    """Inside brackets it is ignored all the same."""
    text = 'start: "a" "(" "b" ")"\n%declare _INDENT _DEDENT\n_NEWLINE: /\\n[ \\t]*/'
    found = constraint_of(structgen.Grammar.lark(text, dialect="lark"))
    assert is_read(found, "a(\n  b\n)")
    assert not is_read(found, "a\n(b)")


def test_rules_that_are_nested_too_deeply():
    text = "start: " + "(" * 3000 + '"a"' + ' "b")?' * 3000 + "\n%declare _INDENT _DEDENT\n_NEWLINE: /\\n[ \\t]*/"
    with pytest.raises(GrammarError, match="nested too deeply") as caught:
        parse_lark(text, dialect="lark")
    assert caught.value.line == 2
