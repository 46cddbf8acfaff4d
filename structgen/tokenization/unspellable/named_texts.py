"""The literals of grammars, which are checked before generation (`checks.py`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from structgen.engine.regex.tree import Literal, LiteralSet
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.rewriting import nodes_of
from structgen.limits import Limits
from structgen.output_types.grammar import Grammar
from structgen.schema.json_text.strings import is_scalar
from structgen.schema.own_keywords import GRAMMAR
from structgen.schema.reading.refs import NAME_MAPS
from structgen.schema.sources import Source

__all__ = ["named_texts"]

# Keywords that hold data, or schemas that only refuse values. Below any other key a reference may lead.
_PASSED_OVER = frozenset({"const", "default", "enum", "example", "examples", "if", "not"})


def named_texts(given: Any, source: Source | None) -> Iterator[str]:
    """Yield the literals of a grammar, or of the grammars of a schema's strings.

    Args:
        given: the input of the compiler.
        source: the schema, if it is one; for JSON Lines, that of a line.
    """
    if isinstance(given, Grammar):
        yield from _literals_of(given.tree)
    elif source is not None:
        for part in _parts(source.json_schema):
            if GRAMMAR in part:
                yield from map(_escaped, _literals_of_keyword(part[GRAMMAR]))


def _literals_of_keyword(value: Any) -> Iterator[str]:
    """Yield the literals of the grammar of a string; none where the compile will refuse it."""
    from structgen.schema.reading.grammars import tree_of_keyword  # few schemas have a grammar

    with suppress(GrammarError, ValueError, TypeError):
        yield from _literals_of(tree_of_keyword(value, Limits()))


def _literals_of(grammar: ast.Grammar) -> Iterator[str]:
    for rule in grammar.rules:
        for node in nodes_of(rule.body):
            yield from _literals(node)


def _literals(node: ast.Expression) -> Iterator[str]:
    if isinstance(node, ast.Literal):
        yield node.data.decode(errors="ignore")
    elif isinstance(node, ast.RegexTerminal):
        regex = node.regex
        texts = regex.texts if isinstance(regex, LiteralSet) else (regex.data,) if isinstance(regex, Literal) else ()
        yield from (text.decode(errors="ignore") for text in texts)


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=not is_scalar(text))[1:-1]  # lone surrogates have escapes only


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield the subschemas of a schema, without those that only refuse values, and without data and descriptions."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            yield part
            for key, inner in part.items():
                if key in NAME_MAPS and isinstance(inner, dict):
                    waiting += inner.values()
                elif key not in _PASSED_OVER:
                    waiting.append(inner)
