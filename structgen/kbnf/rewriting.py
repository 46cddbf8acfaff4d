"""Rebuilding a tree from its leaves up, without recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from structgen.kbnf import ast

__all__ = ["children_of", "group_rules", "nodes_of", "rewrite", "sequence", "with_children"]

_UNARY = (ast.Option, ast.ZeroOrMore, ast.OneOrMore, ast.Bounded, ast.NotFollowedBy, ast.Indented)


def children_of(node: ast.Expression) -> tuple[ast.Expression, ...]:
    """The expressions right below a node."""
    if isinstance(node, (ast.Sequence, ast.Choice)):
        return node.parts
    if isinstance(node, _UNARY):
        return (node.body,)
    if isinstance(node, ast.Difference):
        return (node.left, node.right)
    return ()


def nodes_of(body: ast.Expression) -> Iterator[ast.Expression]:
    """A node and all below it, in no order; what occurs several times as the same object is looked into once."""
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
    """One after the other; of none it is the empty text."""
    parts = tuple(symbols)
    if not parts:
        return ast.Literal(b"")
    return parts[0] if len(parts) == 1 else ast.Sequence(parts)


def with_children(node: ast.Expression, children: list[ast.Expression]) -> ast.Expression:
    """The node with other children; the node itself when they are the same objects."""
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
    """The tree with `change` applied to every node, children first.

    Args:
        body: the tree. What occurs in it several times as the same object is changed once.
        change: gives what stands in a node's place; the node's children have been changed already.
        known: results by the `id` of the old nodes, to share them between trees that live as long as it.
    """
    known = {} if known is None else known
    stack = [(body, False)]
    while stack:
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
