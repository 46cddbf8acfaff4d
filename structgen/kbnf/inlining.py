"""Rules written in place of their names, where that makes a grammar easier to read.

A rule that is used once, or is short, and has no alternatives:

    person ::= '{' '"name"' colon string rest;        person ::= '{' '"name"' colon string ws '}';
    rest ::= ws '}';
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from structgen.kbnf import ast
from structgen.kbnf.rewriting import nodes_of, rewrite

__all__ = ["inlined"]

_MAX_SYMBOLS = 2  # of a body that is written in several places


def inlined(grammar: ast.Grammar, candidates: Collection[str]) -> ast.Grammar:
    """Return the grammar with some rules written where they are used.

    Args:
        grammar: the tree; each name has one rule.
        candidates: names of rules that may go: those without alternatives go if they are used once or are short. The
            start is never one of them.
    """
    bodies = {rule.name: rule.body for rule in grammar.rules}
    names = {name: _names_in(body) for name, body in bodies.items()}
    uses = dict.fromkeys(bodies, 0)
    for found in names.values():
        for name in found:
            uses[name] += 1
    chosen = {
        name
        for name in candidates
        if name in bodies
        and not isinstance(bodies[name], ast.Choice)
        and (uses[name] == 1 or _is_short(bodies[name], candidates))
    }
    _write_in(bodies, {name: [used for used in found if used in chosen] for name, found in names.items()})
    kept = tuple([replace(rule, body=bodies[rule.name]) for rule in grammar.rules if rule.name not in chosen])
    return ast.Grammar(kept, grammar.start)


def _names_in(body: ast.Expression) -> list[str]:
    return [node.name for node in nodes_of(body) if isinstance(node, ast.Reference)]


def _is_short(body: ast.Expression, candidates: Collection[str]) -> bool:
    parts = body.parts if isinstance(body, ast.Sequence) else (body,)
    return len(parts) <= _MAX_SYMBOLS and not any(name in candidates for name in _names_in(body))


def _write_in(bodies: dict[str, ast.Expression], chosen: Mapping[str, Collection[str]]) -> None:
    """Replace the chosen names of each body, those that are used first."""
    done: set[str] = set()
    for first in bodies:
        stack = [(first, False)]
        while stack:
            name, parts_done = stack.pop()
            if name in done or not chosen[name]:
                continue
            if not parts_done:
                stack.append((name, True))
                stack.extend((used, False) for used in chosen[name] if used not in done)
                continue
            done.add(name)
            bodies[name] = _replaced(bodies[name], bodies, chosen[name])


def _replaced(body: ast.Expression, bodies: Mapping[str, ast.Expression], chosen: Collection[str]) -> ast.Expression:
    def change(node: ast.Expression) -> ast.Expression:
        if isinstance(node, ast.Reference):
            return bodies[node.name] if node.name in chosen else node
        if isinstance(node, ast.Sequence) and any(isinstance(part, ast.Sequence) for part in node.parts):
            flat: list[ast.Expression] = []
            for part in node.parts:
                flat.extend(part.parts if isinstance(part, ast.Sequence) else (part,))
            return ast.Sequence(tuple(flat))
        return node

    return rewrite(body, change)
