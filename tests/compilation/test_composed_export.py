"""Templates, JSON Lines and grammars with schemas in them, as written grammars."""

from __future__ import annotations

import random
from typing import Literal

import pydantic
import pytest
from support.walks import Sampler

import structgen
from structgen.compilation.export import _tree
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.gbnf import parse_gbnf
from structgen.kbnf.reading.kbnf import parse
from structgen.limits import Limits


class Person(pydantic.BaseModel):
    name: str
    friends: list[Person] = []


class Other(pydantic.BaseModel):
    person: Person | None
    size: Literal["s", "m"]


ASCII = Vocabulary.from_bytes({**{byte: bytes([byte]) for byte in range(128)}, 128: b""}, eos_token_ids=(128,))
FORMATS = {
    "free text": structgen.template("Name: {name}; why: {why}.", name=str, why=str),
    "free text at the end": structgen.template("> {all}", all=str),
    "free text up to marks that overlap themselves": structgen.template("{a}\n\n{b}aba{c}--", a=str, b=str, c=str),
    "bounded text": structgen.template("{a}-{b}", a={"type": "string", "maxLength": 3}, b=Literal["x", "y"]),
    "values": structgen.template("{a}|{b}|{c}", a=int, b=Person, c=Other),
    "a regex and a grammar": structgen.template(
        "{a:[0-9]{2}} {b}", b=structgen.Grammar.kbnf("start ::= 'x' | '(' start ')'; start ::= 'y';")
    ),
    "a template inside": structgen.template("<{inner}>", inner=structgen.template("{n}={v}", n=str, v=bool)),
    "lines": structgen.json_lines(Person, max_items=3),
    "schemas in a grammar": structgen.Grammar.kbnf(
        "start ::= person | person ',' start | 'x' number;",
        bind={"person": Person, "number": {"type": "integer", "maximum": 20}},
        eager=False,
    ),
    "at least two lines": structgen.json_lines(int, min_items=2),
}


def _masks(compiled, data):
    matcher = Matcher(compiled)
    found = []
    for byte in data:
        found.append(matcher.allowed_token_ids())
        matcher.accept_token(byte)
    return [*found, matcher.allowed_token_ids(), matcher.is_accepting]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    ("to", "read"), [("kbnf", parse), ("kbnf-older", parse), ("gbnf", parse_gbnf), ("xgrammar", parse_gbnf)]
)
def test_what_is_written_allows_the_same_text(name, to, read):
    direct = structgen.compile(FORMATS[name], ASCII, numbers="plain").grammar
    read_back = CompiledGrammar(normalize(read(structgen.export(FORMATS[name], to))), ASCII, eager=False)
    rng = random.Random(name)
    for walked in (direct, read_back, direct):
        data = Sampler(ASCII, longest=120, late=30).walk(walked, rng).text
        assert _masks(direct, data) == _masks(read_back, data), data


def test_free_text_is_except():
    free = structgen.template("Thoughts: {why}\nAnswer: {n}", why=str, n=int)
    assert "except!('\\nAnswer: ') '\\nAnswer: '" in structgen.export(free, "kbnf-older")
    assert r"#ex'\\nAnswer: '? '\nAnswer: '" in structgen.export(free, "kbnf")
    for dialect in ("kbnf", "kbnf-older"):  # a regex is of characters, and `any!` of bytes
        assert structgen.export(FORMATS["free text at the end"], dialect) == "start ::= '> ' #'(?s:.)*';\n"


def test_free_text_before_a_mark_that_overlaps_itself_is_exact():
    r"""`except!('\n\n')` would match `a\n` too, after which `\n\n` first occurs after `a`."""
    free = structgen.template("{a}\n\n{b}", a=str, b=int)
    assert r"#'(?:\\n?[^\\n])*' '\n\n' integer" in structgen.export(free, "kbnf")


def test_rules_that_two_holes_have_in_common_are_shared():
    both = structgen.template("{a} {b}", a=Person, b=Person)
    names = [rule.name for rule in _tree(both, "kbnf", "", Limits(), {}).rules]
    assert len(names) == len(set(names))
    assert names.count("person") == 1
    assert "b_person" not in names


def test_rules_that_only_look_alike_are_not_shared():
    one = structgen.Grammar.kbnf("start ::= '<' item '>'; item ::= 'x' leaf; leaf ::= 'a';")
    other = structgen.Grammar.kbnf("start ::= '(' item ')'; item ::= 'x' leaf; leaf ::= 'b';")
    both = structgen.template("{a}{b}", a=one, b=other)
    grammar = structgen.Grammar.kbnf(structgen.export(both, "kbnf"), eager=False)
    matcher = Matcher(structgen.compile(grammar, ASCII).grammar)
    for byte in b"<xa>(x":
        matcher.accept_token(byte)
    assert matcher.allowed_token_ids() == [ord("b")]


def test_an_error_names_the_hole():
    with pytest.raises(structgen.UnsupportedSchemaError, match=r"the hole 'a': .*uniqueItems"):
        structgen.export(structgen.template("{a}", a={"type": "array", "uniqueItems": True}), "kbnf")
    with pytest.raises(structgen.GrammarError, match="'margin!' in the rule 'a'"):
        structgen.export(structgen.template("{a}", a=structgen.Grammar.kbnf("start ::= margin! 'a';")), "kbnf")
