"""Lark grammars with schemas and grammars in them: `@name`, `%lark`, and llguidance's lists of grammars."""

from __future__ import annotations

import itertools
import json

import pytest
from pydantic import BaseModel
from support.vocabularies import BYTES

import structgen
from structgen import Grammar, Limits
from structgen.errors import GrammarError, LimitExceededError, StructgenError


class Point(BaseModel):
    x: int


def fits(grammar: Grammar, text: str) -> bool:
    return structgen.check(grammar, text).fits


def test_a_name_stands_for_anything_that_compiles():
    grammar = Grammar.lark(
        'start: "<" @point "," @word "," @list ">"',
        bind={"point": Point, "word": Grammar.regex("[a-z]+"), "list": {"type": "array"}},
    )
    assert fits(grammar, '<{"x":1},ab,[]>')
    assert not fits(grammar, '<{"x":"1"},ab,[]>')
    assert sorted(bound.name for bound in grammar.bound) == ["list", "point", "word"]


def test_grammars_that_differ_in_what_they_are_bound_to_differ():
    grammars = [Grammar.lark("start: @x", bind={"x": {"const": value}}) for value in (1, 2)]
    assert grammars[0] != grammars[1]
    assert [fits(grammar, "1") for grammar in grammars] == [True, False]
    nested = [Grammar.lark(f"start: %lark {{ start: /{letter}/ }}") for letter in "ab"]
    assert nested[0] != nested[1]
    assert [fits(grammar, "a") for grammar in nested] == [True, False]


def test_a_grammar_in_a_grammar_has_names_and_ignored_texts_of_its_own():
    grammar = Grammar.lark(
        """
        %ignore / /
        A: "a"
        start: A inner A
        inner: %lark {
            %ignore /-/
            A: "b"  // not the one above, and no end of the grammar: }
            start: A x @n "}" /[}]/ %json { "const": "}" }
            x: %lark { start: "x"{2} }
        }
        """,
        bind={"n": {"type": "null"}},
    )
    assert fits(grammar, 'a b--xx-null}-}-"}"- a')
    assert not fits(grammar, 'a b xxnull}}"}"a')
    assert not fits(grammar, 'a a xxnull}}"}"a')


def test_a_list_of_grammars():
    text = json.dumps(
        {
            "grammars": [
                {"lark_grammar": 'start: "[" @item ("," @item)* "]"'},
                {"name": "item", "lark_grammar": "start: @number | @word | @bound"},
                {"name": "number", "json_schema": {"type": "integer"}},
                {"name": "word", "lark_grammar": "start: /[a-z]+/"},
            ]
        }
    )
    grammar = Grammar.lark(text, bind={"bound": Grammar.choice(["!"])})
    assert fits(grammar, "[1,a,!]")
    assert not fits(grammar, "[1,A]")
    assert grammar == Grammar.lark(text, bind={"bound": Grammar.choice(["!"])})


@pytest.mark.parametrize(
    ("text", "bind", "says"),
    [
        ("start: @x", {}, "line 1, column 8: nothing is bound to @x[^\0]*bind="),
        ("start: @x", {"y": int}, "nothing is bound to @x[^\0]*these are bound: 'y'"),
        ("start: @x", {"x": int, "y": int}, "no rule uses the bound grammar @y"),
        ('{"grammars": []}', {}, "the list of grammars cannot be read"),
        ("{", {}, "the list of grammars cannot be read"),
        (
            '{"grammars": [{"lark_grammar": "start: @x"}, {"name": "x", "json_schema": {}}]}',
            {"x": int},
            "the name 'x' is bound, and a grammar of the list has it",
        ),
        (
            '{"grammars": [{"lark_grammar": "start: @x"}, {"name": "x", "json_schema": {}}, {"name": "x"}]}',
            {},
            "two grammars of the list have the same name",
        ),
        ('{"grammars": [{"json_schema": {}}]}', {}, "the list of grammars cannot be read"),
        (
            '{"grammars": [{"lark_grammar": "start: @x"}, {"name": "x"}]}',
            {},
            "neither 'lark_grammar' nor 'json_schema'",
        ),
        (
            '{"grammars": [{"lark_grammar": "start: @x"}, {"name": "x", "lark_grammar": "start: \\"a\\" @x"}]}',
            {},
            "these grammars use one another: @x → @x",
        ),
        (
            '{"grammars": [{"lark_grammar": "start: @x"}, {"name": "x", "lark_grammar": "start: y"}]}',
            {},
            "the rule 'y' is not defined",
        ),
        ("start: " + "%lark { start: " * 40 + '"a"' + " }" * 40, {}, "more than 30 grammars"),
    ],
)
def test_what_is_refused(text, bind, says):
    with pytest.raises(GrammarError, match=says):
        Grammar.lark(text, bind=bind)


def test_a_wrong_schema_is_named():
    with pytest.raises(StructgenError, match="the bound nonterminal 'x'"):
        structgen.check(Grammar.lark("start: @x", bind={"x": {"type": "strange"}}), "1")
    with pytest.raises(StructgenError, match="the schema in line 2"):
        structgen.check(Grammar.lark('start: y\ny: %json {"type": "strange"}'), "1")


def test_the_toolkit_has_no_grammars_in_grammars():
    for text in ("start: @x", 'start: %lark { start: "a" }', "start: %json {}"):
        with pytest.raises(GrammarError, match="llguidance's dialect has grammars in grammars"):
            Grammar.lark(text, dialect="lark", bind={"x": int} if "@" in text else {})


def test_exports_write_the_rules_of_grammars_in_grammars():
    grammar = Grammar.lark('start: "<" x ">"\nx[temperature=0.5]: %lark { start: y\n y[suffix=";"]: /[a-z]*/ }')
    for form in ("kbnf", "lark"):
        read = getattr(Grammar, form)(structgen.export(grammar, form))
        assert fits(read, "<ab;>")
        assert not fits(read, "<ab;;>")


def listed(**grammars):
    """Return the text of a list of grammars; the first one is called `main`."""
    main = {"lark_grammar": grammars.pop("main")}
    return json.dumps({"grammars": [main, *({"name": name, "lark_grammar": one} for name, one in grammars.items())]})


def test_imported_files_tell_lists_of_grammars_apart(tmp_path):
    """The same list with other imported files was found in the cache, with the masks of the first one."""
    text = listed(main="%import .words.WORD\nstart: WORD @item", item='start: "!"')
    grammars = []
    for word in "ab":
        (tmp_path / word).mkdir()
        (tmp_path / word / "words.lark").write_text(f'WORD: "{word}"\n')
        grammars.append(Grammar.lark(text, import_paths=[tmp_path / word]))
    assert grammars[0] != grammars[1]
    assert [fits(grammar, "a!") for grammar in grammars] == [True, False]


def test_grammars_that_stand_in_one_another_in_many_ways_are_bounded():
    """Each is read once; the compile, which needs each of 2**25 places, ends with `compile_seconds`."""
    names = [(f"a{depth}", f"b{depth}") for depth in range(25)]
    others = {
        name: f'start: "{name}" @{below[0]} | @{below[1]}'
        for above, below in itertools.pairwise(names)
        for name in above
    }
    text = listed(main="start: @a0 @b0", **others, **dict.fromkeys(names[-1], 'start: "x"'))
    grammar = Grammar.lark(text)
    with pytest.raises(LimitExceededError, match="compile_seconds"):
        structgen.compile(grammar, BYTES, limits=Limits(compile_seconds=0.2))


def test_grammars_that_nest_too_deep_are_refused():
    def chain(length):
        others = {f"g{number}": f'start: "a" @g{number + 1}' for number in range(length)}
        return listed(main="start: @g0", **others, **{f"g{length}": 'start: "a"'})

    assert fits(Grammar.lark(chain(40)), "a" * 41)
    with pytest.raises(GrammarError, match="too many grammars are within one another"):
        Grammar.lark(chain(5_000))
    grammar = Grammar.regex("a")
    for _ in range(1_000):
        grammar = Grammar.kbnf('start ::= "a" b;', bind={"b": grammar})
    with pytest.raises(LimitExceededError, match="too many schemas or grammars are within one another"):
        structgen.compile(grammar, BYTES)


def test_what_is_no_text_or_dialect_is_refused():
    with pytest.raises(TypeError, match="a Lark grammar is a text, not int"):
        Grammar.lark(5)
    with pytest.raises(ValueError, match="the dialect is one of llguidance, lark, not 'toolkit'"):
        Grammar.lark('start: "a"', dialect="toolkit")
