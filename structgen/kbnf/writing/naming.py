"""What every writer of grammars begins with: names that the dialect takes, and no word that is ours alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.regular import regular
from structgen.kbnf.rewriting import group_rules, rewrite

__all__ = ["FreshNames", "without_extensions", "written_names"]

_OURS = {ast.NotFollowedBy: "look-ahead '!'", ast.Margin: "'margin!'", ast.Indented: "'indented!'"}


def without_extensions(grammar: ast.Grammar, dialect: str) -> ast.Grammar:
    """The grammar with differences as terminals; what else is ours alone is refused.

    Args:
        grammar: the tree.
        dialect: whose word is missing, for the error: "the published KBNF".

    Raises:
        GrammarError: there is a look-ahead or an indentation.
    """
    grouped = group_rules(grammar)
    known: dict[int, ast.Expression] = {}
    rules: list[ast.Rule] = []

    def translate(node: ast.Expression) -> ast.Expression:
        if isinstance(node, ast.Difference):
            return ast.RegexTerminal(regular(node, grouped))
        if type(node) in _OURS:
            name = grammar.rules[len(rules)].name
            raise GrammarError(f"{dialect} has no word for the {_OURS[type(node)]} in the rule {name!r}")
        return node

    for rule in grammar.rules:
        rules.append(ast.Rule(rule.name, rewrite(rule.body, translate, known)))
    return ast.Grammar(tuple(rules), grammar.start)


def written_names(
    grammar: ast.Grammar,
    *,
    start: str,
    clean: Callable[[str], str],
    reserved: frozenset[str] = frozenset(),
    separator: str = "_",
) -> dict[str, str]:
    """For each name of a rule the one to be written: itself where it can be, and no two alike.

    Args:
        grammar: the tree.
        start: what the start nonterminal is called in the dialect.
        clean: gives for any text one that can be a name, itself for what is one.
        reserved: names that mean something else.
        separator: stands before the number that tells names apart.
    """
    names = dict.fromkeys(rule.name for rule in grammar.rules)
    written = {name: name for name in names if clean(name) == name and name != start and name not in reserved}
    if grammar.start in names:
        written[grammar.start] = start
    taken = {*written.values(), start, *reserved}
    for name in names:
        if name in written:
            continue
        wish, count = clean(name), 2
        base = wish
        while wish in taken:
            wish, count = f"{base}{separator}{count}", count + 1
        taken.add(wish)
        written[name] = wish
    return written


class FreshNames:
    """Names of new rules, each after the rule that it helps: `value_1`, `value_2`.

    Args:
        taken: names that are there already.
        separator: stands between the name and the number.
    """

    def __init__(self, taken: Iterable[str], separator: str) -> None:
        self._taken = set(taken)
        self._separator = separator
        self._counts: dict[str, int] = {}

    def name(self, owner: str) -> str:
        """A name that is not taken; it is taken then."""
        count = self._counts.get(owner, 0) + 1
        while (name := f"{owner}{self._separator}{count}") in self._taken:
            count += 1
        self._counts[owner] = count
        self._taken.add(name)
        return name
