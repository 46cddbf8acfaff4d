"""Walks over a grammar's tree, and rebuilding it from its leaves up; without recursion, so that trees may be deep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from structgen.engine.deadlines import spend
from structgen.engine.regex import tree as rx
from structgen.kbnf import ast

__all__ = [
    "children_of",
    "free_name",
    "group_rules",
    "nodes_of",
    "optional",
    "rewrite",
    "sequence",
    "with_children",
    "with_terminals",
]

_UNARY = (ast.Option, ast.ZeroOrMore, ast.OneOrMore, ast.Bounded, ast.NotFollowedBy, ast.Indented)


def children_of(node: ast.Expression) -> tuple[ast.Expression, ...]:
    """Return the expressions right below a node."""
    if isinstance(node, (ast.Sequence, ast.Choice)):
        return node.parts
    if isinstance(node, _UNARY):
        return (node.body,)
    if isinstance(node, ast.Difference):
        return (node.left, node.right)
    return ()


def nodes_of(body: ast.Expression) -> Iterator[ast.Expression]:
    """Yield a node and all nodes below it, in no order.

    The children of an object that occurs several times are yielded once.
    """
    stack = [body]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        children = children_of(node)
        if children and id(node) not in seen:
            seen.add(id(node))
            stack.extend(children)
        yield node


def group_rules(grammar: ast.Grammar) -> dict[str, list[ast.Expression]]:
    """Return for each name the bodies of all its rules, in the order of their first rules."""
    grouped: dict[str, list[ast.Expression]] = {}
    for rule in grammar.rules:
        grouped.setdefault(rule.name, []).append(rule.body)
    return grouped


def sequence(symbols: Iterable[ast.Expression]) -> ast.Expression:
    """Return the sequence of some symbols; of none it is the empty text."""
    parts = tuple(symbols)
    if not parts:
        return ast.Literal(b"")
    return parts[0] if len(parts) == 1 else ast.Sequence(parts)


def optional(body: ast.Expression) -> ast.Expression:
    """Return a body or the empty text."""
    return body if isinstance(body, (ast.Option, ast.ZeroOrMore)) else ast.Option(body)


def with_children(node: ast.Expression, children: list[ast.Expression]) -> ast.Expression:
    """Return the node with other children; the node itself if they are the same objects."""
    if all(new is old for new, old in zip(children, children_of(node))):
        return node
    if isinstance(node, (ast.Sequence, ast.Choice)):
        return type(node)(tuple(children))
    if isinstance(node, ast.Bounded):
        return ast.Bounded(children[0], node.min, node.max)
    if isinstance(node, ast.Difference):
        return ast.Difference(*children)
    if isinstance(node, _UNARY):
        return type(node)(children[0])
    return node


def rewrite(
    body: ast.Expression,
    change: Callable[[ast.Expression], ast.Expression],
    known: dict[int, ast.Expression] | None = None,
) -> ast.Expression:
    """Return the tree with `change` applied to every node, children first.

    Args:
        body: the tree. An object that occurs in it several times is changed once.
        change: returns the replacement of a node, whose children have been changed already.
        known: results by the `id` of the old nodes, to share them between several trees, which must stay alive.

    Raises:
        LimitExceededError: the running deadline has passed.
    """
    known = {} if known is None else known
    stack = [(body, False)]
    while stack:
        spend(1)
        node, children_done = stack.pop()
        if id(node) in known:
            continue
        children = children_of(node)
        if children and not children_done:
            stack.append((node, True))
            stack.extend((child, False) for child in children)
        else:
            known[id(node)] = change(with_children(node, [known[id(child)] for child in children]))
    return known[id(body)]


def with_terminals(grammar: ast.Grammar, change: Callable[[rx.Regex], rx.Regex]) -> ast.Grammar:
    """Return a grammar with each regex and literal replaced; literals stay where an `except!` may need them as such.

    Args:
        grammar: the tree.
        change: returns another regex, or the same object.
    """
    known: dict[int, ast.Expression] = {}
    keeps_literals = any(isinstance(node, ast.Except) for rule in grammar.rules for node in nodes_of(rule.body))

    def changed(node: ast.Expression) -> ast.Expression:
        if isinstance(node, ast.RegexTerminal):
            return ast.RegexTerminal(change(node.regex))
        if isinstance(node, ast.Literal) and not keeps_literals:
            literal = rx.Literal(node.data)
            regex = change(literal)
            return node if regex is literal else ast.RegexTerminal(regex)
        return node

    rules = [replace(rule, body=rewrite(rule.body, changed, known)) for rule in grammar.rules]
    return replace(grammar, rules=tuple(rules))


def free_name(name: str, taken: set[str]) -> str:
    """Return a name that is not taken: the given one, or one with a number."""
    if name not in taken:
        return name
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"
