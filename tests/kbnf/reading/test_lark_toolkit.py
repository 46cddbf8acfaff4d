"""The Python toolkit's own syntax and `%import` of files, compared with the package `lark` on all short texts."""

import itertools

import lark
import pytest
from support.texts import is_read
from support.vocabularies import BYTES

import structgen
from structgen.errors import GrammarError
from structgen.kbnf.reading.lark import parse_lark

FILES = {
    "numbers.lark": "%import common.DIGIT\nnumber: INT [frac]\nfrac: DOT digits\ndigits: DIGIT+\nINT: DIGIT~1..2\n"
    'DOT: "."\n',
    "lists.lark": '%import .numbers (number, DOT)\nlist{x}: "[" x (SEP x)* "]"\nSEP: DOT | ","\nall: list{number}\n',
    "tree.lark": 'tree: "(" tree* ")" | LEAF\nLEAF: "a" | OTHER\nOTHER: "b"\nunused: MISSING\n%ignore "x"\n',
    "folder/inner.lark": "%import .near.NEAR\nboth: NEAR NEAR\n",
    "folder/near.lark": 'NEAR: "n" | "m"\n',
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("grammars")
    (path / "folder").mkdir()
    for name, text in FILES.items():
        (path / name).write_text(text)
    return path


def agrees(text, letters, length, import_paths=()):
    """Compare with lark on all texts; return how many are in the language."""
    oracle = lark.Lark(text, lexer="dynamic_complete", import_paths=[str(path) for path in import_paths])
    grammar = structgen.Grammar.lark(text, dialect="lark", import_paths=import_paths)
    constraint = structgen.compile(grammar, BYTES)
    count = 0
    for size in range(length + 1):
        for parts in itertools.product(letters, repeat=size):
            word = "".join(parts)
            try:
                oracle.parse(word)
                wanted = True
            except lark.exceptions.UnexpectedInput:
                wanted = False
            assert is_read(constraint, word) == wanted, word
            count += wanted
    return count


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        (r'start: "\ " "a\b" | "\\" "\"" | "\/" "\'a"', "ab\b \\\"/'"),
        (r'start: "\x41\u0042" "\t"i', "AB\t\\"),
        ("start: /a  # letters\n  [bc]+ d?\n /x", "abcd \n"),
        (r"start: /a\x2e\/b/", "ab./c"),
        (r"start: /a\x20 [ ] \n b/x", "ab \n"),
        ('start: "a" \\\n  "b" \\  \n "c"\nother: "d"', "abcd"),
        ('start: twice{opt, A}\ntwice{t, x}: t{x} t{x}\nopt{x}: x | "-"\nA: "a"', "a-b"),
        ('start: outer{list, "a"}\nouter{t, x}: inner{t, x} "!"\ninner{u, x}: u{x}\nlist{x}: x ("," x)*', "a,!"),
        ('start: "a".."c" "\\x64".."f"', "abcdefg"),
    ],
)
def test_syntax_of_the_toolkit(text, letters):
    assert agrees(text, letters, 4 if len(letters) < 8 else 3) > 0


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("%import .numbers.number\nstart: number", "01."),
        ("%import .numbers.number -> value\n%import .numbers.INT\nstart: value | INT INT", "01."),
        ('%import .numbers (number, digits)\nINT: "i"\nstart: number "-" digits INT', "0i.-"),
        ("%import .lists.all\nstart: all", "0,[]."),
        ('%import .lists.list\nstart: list{A} | list{"b"} A\nA: "a"', "ab,[]."),
        ("%import .tree.tree\nstart: tree", "()abx"),
        ('%import tree (tree, LEAF)\nstart: tree LEAF\n%ignore "x"', "()abx"),
        ("%import .folder.inner.both\nstart: both", "nm"),
    ],
)
def test_imported_files(text, letters, folder):
    length = 7 if len(letters) < 4 else 5
    assert agrees(text, letters, length, [folder]) > 0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "%import .numbers.NOTHING\nstart: NOTHING",
            "line 1, column 1: there is no rule or terminal 'NOTHING' in numbers",
        ),
        ("\n%import .missing.A\nstart: A", r"line 2, column 1: there is no file missing\.lark to import in "),
        (
            "%import .tree.unused\nstart: unused",
            "line 4, column 9: in tree.lark: the terminal 'MISSING' is not defined",
        ),
        ("%import .broken.a\nstart: a", "line 2, column 4: in broken.lark: unexpected character"),
        ("%import .circle.a\nstart: a", "import one another"),
        ("start: f{g}\nf{x}: x\ng{x}: x", "'g' takes 1 arguments, not 0"),
        ('start: f{"a"}\nf{x}: x{"b"}', "'x' is applied to arguments, but stands for no template"),
        ("start: /a\nb/", "this regex has no end"),
        (r'start: "\x4"', r"unknown escape"),
    ],
)
def test_errors_name_the_file_and_the_position(text, says, folder):
    (folder / "broken.lark").write_text('b: "b"\na: $\n')
    (folder / "circle.lark").write_text("%import .circle.a -> b\na: b\n")
    with pytest.raises(GrammarError, match=says):
        parse_lark(text, dialect="lark", import_paths=[folder])


def test_grammars_with_other_imports_or_starts_are_not_equal(folder, tmp_path):
    """They are compiled apart, although their texts are equal."""
    (tmp_path / "tree.lark").write_text('tree: "t"\n')
    text = "%import .tree.tree\nstart: tree\nother: tree tree"
    made = [
        structgen.Grammar.lark(text, import_paths=[folder]),
        structgen.Grammar.lark(text, import_paths=[tmp_path]),
        structgen.Grammar.lark(text, import_paths=[tmp_path], start="other"),
    ]
    assert len(set(made)) == 3
    accepted = [[word for word in ("a", "t", "tt") if is_read(structgen.compile(one, BYTES), word)] for one in made]
    assert accepted == [["a"], ["t"], ["tt"]]


@pytest.mark.parametrize("name", ["A-B", "A_-B2", "A--B"])
def test_terminals_of_llguidance_may_have_hyphens(name):
    grammar = structgen.Grammar.lark(f'start: {name}->x | {name} "!"\n{name}: "a\\b"')
    constraint = structgen.compile(grammar, BYTES)
    assert [is_read(constraint, word) for word in ("a\b", "a\b!", "ab")] == [True, True, False]
