"""Removal of the parts of a grammar that derive no text: other engines would enter them and never leave.

The normal form has the same pass over numbers (`normal_form.simplification`); this one works on the tree, which the
writers need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from structgen.engine.regex import tree as rx
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.rewriting import children_of, group_rules, nodes_of, rewrite, sequence

__all__ = ["without_unproductive"]

_NOTHING = ast.RegexTerminal(rx.NOTHING)
_EMPTY = ast.Literal(b"")  # the rest of an option whose body derives nothing
_REPEATED = (ast.Option, ast.ZeroOrMore, ast.OneOrMore, ast.Bounded)


def without_unproductive(grammar: ast.Grammar, is_empty: Callable[[rx.Regex], bool]) -> ast.Grammar:
    """Return the same language with one rule for each name that derives some text and that the start reaches.

    Args:
        grammar: a valid grammar whose terminals are literals and regexes.
        is_empty: returns whether a regex matches nothing.

    Raises:
        GrammarError: the start derives no text.
    """
    grouped = group_rules(grammar)
    rules = {name: _body(bodies) for name, bodies in grouped.items()}
    productive = _productive(rules, is_empty)
    if grammar.start not in productive:
        raise GrammarError(f"the grammar derives no text: its start {grammar.start!r} has none")

    def change(node: ast.Expression) -> ast.Expression:
        if isinstance(node, ast.Reference) and node.name not in productive:
            return _NOTHING
        if isinstance(node, ast.RegexTerminal):
            return _NOTHING if is_empty(node.regex) else node
        return _without_nothing(node)

    rules = {name: rewrite(body, change) for name, body in rules.items() if name in productive}
    reached = _reached(rules, grammar.start)
    first = {rule.name: rule for rule in reversed(grammar.rules)}
    kept = tuple([replace(first[name], body=body) for name, body in rules.items() if name in reached])
    return ast.Grammar(kept, grammar.start)


def _body(bodies: list[ast.Expression]) -> ast.Expression:
    return bodies[0] if len(bodies) == 1 else ast.Choice(tuple(bodies))


def _without_nothing(node: ast.Expression) -> ast.Expression:
    """Return a node without its children that derive nothing, and without the empty rests of options."""
    children = children_of(node)
    if not any(child is _NOTHING or child is _EMPTY for child in children):
        return node
    if isinstance(node, ast.Choice):
        parts = tuple(part for part in node.parts if part is not _NOTHING)
        return (parts[0] if len(parts) == 1 else ast.Choice(parts)) if parts else _NOTHING
    if isinstance(node, ast.Sequence) and not any(child is _NOTHING for child in children):
        parts = tuple(part for part in node.parts if part is not _EMPTY)
        return sequence(parts) if parts else _EMPTY
    if isinstance(node, _REPEATED) and (children[0] is _EMPTY or _may_be_left_out(node)):
        return _EMPTY
    return _NOTHING


def _may_be_left_out(node: ast.Expression) -> bool:
    return isinstance(node, (ast.Option, ast.ZeroOrMore)) or (isinstance(node, ast.Bounded) and not node.min)


def _productive(rules: dict[str, ast.Expression], is_empty: Callable[[rx.Regex], bool]) -> set[str]:
    """Return the names that derive some text.

    Passes go from the last rule to the first and back, since rules mostly stand before those that they use.
    """
    found: set[str] = set()
    left = list(rules)
    while True:
        left.reverse()
        still = []
        for name in left:
            if _derives(rules[name], found, is_empty):
                found.add(name)
            else:
                still.append(name)
        if len(still) == len(left):
            return found
        left = still


def _derives(body: ast.Expression, found: set[str], is_empty: Callable[[rx.Regex], bool]) -> bool:
    """Return whether a body derives some text, given the names that are known to do."""

    def mark(node: ast.Expression) -> ast.Expression:
        if isinstance(node, ast.Reference):
            return node if node.name in found else _NOTHING
        if isinstance(node, ast.RegexTerminal):
            return _NOTHING if is_empty(node.regex) else node
        return _without_nothing(node)

    return rewrite(body, mark) is not _NOTHING


def _reached(rules: dict[str, ast.Expression], start: str) -> set[str]:
    reached, waiting = {start}, [start]
    while waiting:
        for node in nodes_of(rules[waiting.pop()]):
            if isinstance(node, ast.Reference) and node.name not in reached:
                reached.add(node.name)
                waiting.append(node.name)
    return reached
