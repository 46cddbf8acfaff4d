"""Programs in the languages that structgen has grammars of, and the real parsers that judge texts of these."""

from __future__ import annotations

import ast
import contextlib
import functools
import json
import pathlib
import random
import re
import sqlite3
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

PROGRAMS = pathlib.Path(__file__).parent.parent / "languages" / "programs"

# What SQLite's parser says of a text that it does not take, apart from what it says of names, types and limits.
_SQL_SYNTAX_ERROR = re.compile(
    r"syntax error|incomplete input|unrecognized token|clause should come after|unknown join type"
    r"|JOIN clause is required|NATURAL join may not have|unknown table option"
    r"|qualified table names are not allowed|clause is not allowed on UPDATE or DELETE|must be unqualified"
    r"|may not have qualified name|unsupported frame|DISTINCT is not supported|RETURNING in a trigger|TABLE\.\*"
    r"|use of NULLS|Cannot add a (?:PRIMARY KEY|UNIQUE) column|variable number must be"
)
_SQL_BLANK = r"(?:[ \t\n\f\r]|--[^\n]*(?:\n|$)|/\*.*?\*/)*"
_SQL_EMPTY = re.compile(_SQL_BLANK + ";?", re.DOTALL)
_SQL_EXPLAIN = re.compile(_SQL_BLANK + r"explain\b", re.DOTALL | re.IGNORECASE)
_SQL_PIECE = re.compile(r"'[^']*'?|\"[^\"]*\"?|`[^`]*`?|\[[^\]]*\]?|--[^\n]*|/\*.*?(?:\*/|$)|;", re.DOTALL)
_SQL_MISSING = re.compile(r"no such table: (?:(.*)\.)?(.*)|unknown database \"?(.*?)\"?")
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
    if language == "sql":
        return "\0" not in text and all(map(_is_sql_statement, _sql_statements(text)))
    return not _tree_sitter(language).parse(text.encode()).root_node.has_error


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _sql_statements(text: str) -> Iterator[str]:
    """The statements of a script; those of a trigger belong to the trigger."""
    begin = 0
    for piece in _SQL_PIECE.finditer(text):
        if piece.group() == ";" and sqlite3.complete_statement(text[begin : piece.end()]):
            yield text[begin : piece.end()]
            begin = piece.end()
    yield text[begin:]


@functools.lru_cache(maxsize=100_000)
def _is_sql_statement(text: str) -> bool:
    """Whether SQLite's parser takes a statement; nothing is executed."""
    if _SQL_EMPTY.fullmatch(text):
        return True
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        # Some pragmas work as soon as they are parsed.
        connection.set_authorizer(lambda action, *_: action == sqlite3.SQLITE_PRAGMA)
        for _ in range(5):
            try:
                connection.execute(text if _SQL_EXPLAIN.match(text) else f"EXPLAIN QUERY PLAN {text}")
            except sqlite3.Error as error:
                if _SQL_SYNTAX_ERROR.search(str(error)):
                    return False
                if not _define_missing(connection, text, str(error)):
                    return True
            else:
                return True
    return True


def _define_missing(connection: sqlite3.Connection, statement: str, error: str) -> bool:
    """Makes the table or schema without which a statement is not parsed to its end (as with triggers)."""
    missing = _SQL_MISSING.fullmatch(error)
    if missing is None:
        return False
    schema, table, database = ('"' + (name or "main").replace('"', '""') + '"' for name in missing.groups())
    try:
        if missing[3]:
            connection.execute(f"ATTACH ':memory:' AS {database}")
        elif "instead" in statement.lower():
            connection.execute(f"CREATE VIEW {schema}.{table} AS SELECT 1")
        else:
            connection.execute(f"CREATE TABLE {schema}.{table} (_)")
    except sqlite3.Error:
        return False
    return True


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
