"""Programs in the languages that structgen has grammars of, and the real parsers that judge texts of these."""

from __future__ import annotations

import ast
import functools
import json
import pathlib
import random
import re
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

PROGRAMS = pathlib.Path(__file__).parent.parent / "languages" / "programs"
_LEXEME = re.compile(r"\w+|[^\S\n]+|\n|[^\w\s]")


def programs(language: str) -> list[pathlib.Path]:
    """The files of a language."""
    return sorted(file for file in (PROGRAMS / language).iterdir() if file.suffix != ".md")


@functools.cache
def _tree_sitter(language: str) -> Any:
    tree_sitter = pytest.importorskip("tree_sitter")
    grammar = pytest.importorskip(f"tree_sitter_{language}")
    return tree_sitter.Parser(tree_sitter.Language(grammar.language()))


def is_valid(language: str, text: str) -> bool:
    """Whether a real parser takes a text as a whole program."""
    if language == "python":
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        return True
    if language == "json":
        try:
            json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError):
            return False
        return True
    return not _tree_sitter(language).parse(text.encode()).root_node.has_error


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def mutants(text: str, rng: random.Random) -> Iterator[str]:
    """Endlessly many texts that differ from a program in a few characters or words, in one place."""
    lexemes = _LEXEME.findall(text)
    punctuation = [*"()[]{};,.:=+-*/<>!&|^%~?\"'`@#\\ \n", "0", "x", "if", "=>", "==", "..", "1x"]
    while True:
        at = rng.randrange(len(lexemes))
        kind = rng.randrange(6)
        changed = list(lexemes)
        if kind == 0:
            del changed[at]
        elif kind == 1:
            changed.insert(at, lexemes[at])
        elif kind == 2:
            other = rng.randrange(len(lexemes))
            changed[at], changed[other] = changed[other], changed[at]
        elif kind == 3:
            changed.insert(at, rng.choice(punctuation))
        elif kind == 4:
            changed[at] = rng.choice(punctuation)
        else:
            del changed[at : at + rng.randrange(1, 6)]
        yield "".join(changed)
