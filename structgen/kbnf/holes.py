"""Holes of grammars: nonterminals whose texts come from elsewhere, such as the values of a schema.

call ::= "<call>" arguments "</call>";      no rule defines `arguments`: the caller binds it to a schema
Hole("arguments", schema)                   what then stands in the tree in place of the name
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.rewriting import nodes_of, rewrite

__all__ = ["filled", "holes_of", "names_of_grammars", "with_holes"]


def with_holes(grammar: ast.Grammar, contents: Mapping[str, object]) -> ast.Grammar:
    """Return a grammar with holes in place of some nonterminals.

    Args:
        grammar: the tree; it has no rules of these names.
        contents: the content of the hole for each of these nonterminals, by name.

    Raises:
        GrammarError: a rule defines one of the names, or none uses it.
    """
    defined = {rule.name for rule in grammar.rules}
    used = {name for rule in grammar.rules for name in _names_in(rule.body)}
    for name in contents:
        if name in defined:
            raise GrammarError(f"the nonterminal {name!r} is bound, and a rule defines it", hint="remove one of them")
        if name not in used:
            raise GrammarError(f"no rule uses the bound nonterminal {name!r}", hint="write it where its text belongs")

    def change(node: ast.Expression) -> ast.Expression:
        is_bound = isinstance(node, ast.Reference) and node.name in contents
        return ast.Hole(node.name, contents[node.name]) if is_bound else node  # type: ignore[union-attr]

    return _changed(grammar, change)


def filled(grammar: ast.Grammar, written: Callable[[ast.Hole], ast.Expression]) -> ast.Grammar:
    """Return a grammar with its holes replaced.

    Args:
        grammar: the tree.
        written: returns the expression to put in place of a hole.
    """
    return _changed(grammar, lambda node: written(node) if isinstance(node, ast.Hole) else node)


def holes_of(grammar: ast.Grammar) -> list[ast.Hole]:
    """Return the holes of a grammar, one for each content, in the order of the rules."""
    found: dict[int, ast.Hole] = {}
    for rule in grammar.rules:
        for node in nodes_of(rule.body):
            if isinstance(node, ast.Hole):
                found.setdefault(id(node.content), node)
    return list(found.values())


def names_of_grammars(grammar: ast.Grammar) -> set[str]:
    """Return the names of grammars that the holes of a read grammar stand for, with those of the grammars in it."""
    found: set[str] = set()
    for hole in holes_of(grammar):
        if isinstance(hole.content, str):
            found.add(hole.content)
        elif isinstance(hole.content, ast.Grammar):
            found |= names_of_grammars(hole.content)
    return found


def _names_in(body: ast.Expression) -> list[str]:
    return [node.name for node in nodes_of(body) if isinstance(node, ast.Reference)]


def _changed(grammar: ast.Grammar, change: Callable[[ast.Expression], ast.Expression]) -> ast.Grammar:
    known: dict[int, ast.Expression] = {}
    rules = [replace(rule, body=rewrite(rule.body, change, known)) for rule in grammar.rules]
    return ast.Grammar(tuple(rules), grammar.start)
