"""Refusal of left recursion, with the names of its rules, for programs that cannot parse it."""

from __future__ import annotations

from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.rewriting import children_of, rewrite

__all__ = ["refuse_left_recursion"]

_EMPTY = ast.Literal(b"")
_OTHER = ast.Literal(b"x")  # stands for an expression that is not nullable


def refuse_left_recursion(grammar: ast.Grammar, reader: str) -> None:
    """Check that no rule begins with itself, and that no nullable expression is repeated without bound.

    Args:
        grammar: a grammar with one rule per name, whose terminals are texts and classes of characters.
        reader: the name of the program that reads it, for the message.

    Raises:
        GrammarError: a rule begins with itself, or repeats a nullable expression; the message names the rules.
    """
    rules = {rule.name: rule.body for rule in grammar.rules}
    nullable = _nullable_names(rules)
    first = {name: _beginnings(name, body, nullable, reader) for name, body in rules.items()}
    done: set[str] = set()
    for root in rules:
        path: dict[str, None] = {}
        stack: list[tuple[str, bool]] = [(root, False)]
        while stack:
            name, leaving = stack.pop()
            if leaving:
                del path[name]
                done.add(name)
            elif name in path:
                cycle = list(path)[list(path).index(name) :]
                raise GrammarError(
                    f"{reader} refuses left recursion: the rule {' → '.join([*cycle, name])} begins with itself",
                    hint="write it as a repetition: expr ::= term {'+' term};",
                )
            elif name not in done:
                path[name] = None
                stack.append((name, True))
                stack.extend((other, False) for other in first[name])


def _nullable_names(rules: dict[str, ast.Expression]) -> set[str]:
    """Return the names that derive the empty text."""
    found: set[str] = set()
    left = list(rules)
    while True:
        left.reverse()
        still = [name for name in left if not _is_nullable(rules[name], found)]
        found.update(set(left) - set(still))
        if len(still) == len(left):
            return found
        left = still


def _is_nullable(body: ast.Expression, names: set[str]) -> bool:
    return rewrite(body, lambda node: _reduced(node, names)) is _EMPTY


def _reduced(node: ast.Expression, names: set[str]) -> ast.Expression:
    """Return `_EMPTY` for a nullable node, `_OTHER` for any other; its children have been replaced in the same way."""
    children = children_of(node)
    if isinstance(node, ast.Literal):
        is_empty = not node.data
    elif isinstance(node, ast.Reference):
        is_empty = node.name in names
    elif isinstance(node, (ast.Option, ast.ZeroOrMore)) or (isinstance(node, ast.Bounded) and not node.min):
        is_empty = True
    elif isinstance(node, ast.Choice):
        is_empty = any(child is _EMPTY for child in children)
    elif isinstance(node, (ast.RegexTerminal, ast.Token)):
        is_empty = False
    else:
        is_empty = all(child is _EMPTY for child in children)
    return _EMPTY if is_empty else _OTHER


def _beginnings(name: str, body: ast.Expression, nullable: set[str], reader: str) -> list[str]:
    """Return the names that a body may begin with."""
    known: dict[int, ast.Expression] = {}
    rewrite(body, lambda node: _reduced(node, nullable), known)
    found: dict[str, None] = {}
    stack = [body]
    while stack:
        node = stack.pop()
        is_repeated = isinstance(node, (ast.ZeroOrMore, ast.OneOrMore)) or (
            isinstance(node, ast.Bounded) and node.max is None
        )
        if is_repeated and known[id(children_of(node)[0])] is _EMPTY:
            raise GrammarError(
                f"{reader} cannot repeat an expression that may be empty, as in the rule {name!r}",
                hint="repeat an expression that is not empty: {'a'}, not {['a']}",
            )
        if isinstance(node, ast.Reference):
            found[node.name] = None
        elif isinstance(node, ast.Sequence):
            for part in node.parts:
                stack.append(part)
                if known[id(part)] is not _EMPTY:
                    break
        else:
            stack.extend(children_of(node))
    return list(found)
