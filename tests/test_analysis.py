"""`structgen grammar stats`: small grammars, whose entries can be counted by hand."""

import pytest

from structgen import cli
from structgen.analysis import describe, statistics
from structgen.engine.vocabulary import Vocabulary
from structgen.kbnf.parser import parse


def vocabulary(*texts):
    return Vocabulary.from_bytes({**dict(enumerate(text.encode() for text in texts)), len(texts): b""}, [len(texts)])


NESTED = "start ::= '(' start ')' | 'a' | 'b';"


@pytest.mark.parametrize(
    ("tokens", "entries", "legal", "conditional"),
    [
        (["(", "a", ")"], 0, 0, 0),
        (["(a"], 1, 1, 0),  # behind '(' any start may come
        (["a)"], 1, 1, 1),  # not behind the whole text
        ([")("], 1, 0, 0),
        (["(a)"], 1, 1, 0),  # the bracket that was opened is closed
        (["(a))"], 1, 1, 1),
        (["a)", "b)"], 1, 1, 1),  # 'a' and 'b' are one terminal
    ],
)
def test_entries(tokens, entries, legal, conditional):
    found = statistics(parse(NESTED), vocabulary(*tokens))
    assert (found.entries, found.legal, found.conditional) == (entries, legal, conditional)


def test_alternatives_of_one_rule_are_jointly_legal():
    grammar = parse("start ::= 'x' tail | '[' start ']'; tail ::= y | z; y ::= 'y' '1'?; z ::= 'z' '2'?;")
    found = statistics(grammar, vocabulary("x]", "xy", "xz"))
    assert (found.entries, found.legal, found.conditional, found.joint) == (3, 2, 0, 1)


def test_overlaps_tell_a_text_and_the_place():
    found = statistics(parse("start ::= 'say' #' +' name; name ::= #'[a-z]+' | 'let' #'[!?]';"))
    (overlap,) = found.overlaps
    assert overlap.text == b"let"
    assert {overlap.first, overlap.second} == {"[a-z]+", "'let'"}
    assert overlap.after == " +"
    assert "'let' after" in describe(found)


def test_dead_ends_are_told():
    assert statistics(parse("start ::= A 'b'; A ::= 'a' !'b' | 'c';")).dead_ends == ["A"]
    assert not statistics(parse("start ::= A 'b'; A ::= 'a' !'b' _ | 'c'; _ ::= ' '?;")).dead_ends


def test_the_command(tmp_path, capsys):
    assert cli.main(["grammar", "stats", "json"]) == 0
    assert "terminals" in capsys.readouterr().out
    file = tmp_path / "mine.kbnf"
    file.write_text(NESTED)
    assert cli.main(["grammar", "stats", str(file)]) == 0
    assert cli.main(["grammar", "stats", str(tmp_path / "none.kbnf")]) == 2
    file.write_text("start ::= ;")
    assert cli.main(["grammar", "stats", str(file)]) == 1
    assert "line 1, column 11" in capsys.readouterr().err
