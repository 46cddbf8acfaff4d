"""The grammars of programming languages against real programs, and against the languages' real parsers."""

from __future__ import annotations

import ast
import itertools
import random

import pytest
from support.derivations import Derivations
from support.languages import is_valid, mutants, programs
from support.texts import is_read
from support.walks import byte_vocabulary

import structgen
from structgen.kbnf.reading.kbnf import parse
from structgen.languages import language_names, language_source

FILES = [(name, file) for name in language_names() for file in programs(name)]
IDS = [f"{name}-{file.name}" for name, file in FILES]


@pytest.fixture(scope="module")
def constraint_of():
    made = {}

    def of(name):
        if name not in made:
            made[name] = structgen.compile(structgen.Grammar.language(name), byte_vocabulary())
        return made[name]

    return of


@pytest.mark.parametrize(("name", "file"), FILES, ids=IDS)
def test_real_programs_are_accepted(constraint_of, name, file):
    text = file.read_text(encoding="utf-8")
    assert is_valid(name, text)
    matcher = constraint_of(name).matcher()
    matcher.accept_bytes(text.encode())  # tells the place where it is refused
    assert matcher.is_accepting


@pytest.mark.one_in(3)
@pytest.mark.slow
@pytest.mark.parametrize(("name", "file"), FILES, ids=IDS)
def test_what_the_real_parser_rejects_of_a_programs_mutants_is_rejected(constraint_of, name, file):
    text = file.read_text(encoding="utf-8")
    constraint = constraint_of(name)
    broken = (mutant for mutant in mutants(text, random.Random(file.name)) if not is_valid(name, mutant))
    for mutant in itertools.islice(broken, 200):
        assert not is_read(constraint, mutant), first_difference(text, mutant)


def first_difference(text: str, mutant: str) -> str:
    at = next((i for i, (a, b) in enumerate(zip(text, mutant)) if a != b), 0)
    return f"line {text.count(chr(10), 0, at) + 1}: {text[at - 40 : at + 40]!r} became {mutant[at - 40 : at + 40]!r}"


@pytest.mark.slow
@pytest.mark.parametrize("name", language_names())
def test_random_texts_of_the_grammar_are_taken_by_the_real_parser(constraint_of, name):
    derivations = Derivations(parse(language_source(name)))
    rng = random.Random(name)
    accepted = 0
    for _ in range(1500):
        text = derivations.draw(rng).decode()
        if 0 < len(text) < 2000 and is_read(constraint_of(name), text):
            accepted += 1
            assert is_valid(name, text), text
    assert accepted >= 150


def is_python(program: str) -> bool:
    """Return whether Python's own parser takes a program."""
    try:
        ast.parse(program)
    except SyntaxError:
        return False
    return True


@pytest.mark.parametrize(
    "pattern", ["_", "_ | a", "{_.a: 1}", "__.a", "a.b(c)", "_.a", "_()", "_.a | b", "a(_.b)", "[_.a]"]
)
def test_nothing_stands_behind_the_wildcard_of_a_pattern(constraint_of, pattern):
    program = f"match x:\n  case {pattern}: pass\n"
    assert is_read(constraint_of("python"), program) == is_python(program)


@pytest.mark.parametrize("format_text", ["", "x", ">10", "{b}", ">{b}.{c}f", "{b}{c}", "{b}{", "}{b}", "x{b:{c}}"])
@pytest.mark.parametrize("quotes", ["'", '"', "'''", '"""'])
def test_the_format_of_a_replacement_field(constraint_of, quotes, format_text):
    program = f"f{quotes}{{a:{format_text}}}{quotes}\n"
    assert is_read(constraint_of("python"), program) == is_python(program)
