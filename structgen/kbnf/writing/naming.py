"""The first step of every writer: names that the dialect accepts, and no construct that only structgen has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from structgen.errors import GrammarError, LimitExceededError
from structgen.kbnf import ast
from structgen.kbnf.regular import regular
from structgen.kbnf.rewriting import group_rules, rewrite

__all__ = ["FreshNames", "errors_in", "without_extensions", "written_names"]

_ONLY_HERE = {
    ast.NotFollowedBy: "look-ahead '!'",
    ast.Margin: "'margin!'",
    ast.Indented: "'indented!'",
    ast.Hole: "bound nonterminal",
    ast.Token: "token terminal",
}


@contextmanager
def errors_in(rule: ast.Rule) -> Iterator[None]:
    """Name the part of the schema that a rule comes from in the errors that are raised while it is written."""
    try:
        yield
    except (GrammarError, LimitExceededError) as error:
        if rule.origin:
            error.add_location(f"#{rule.origin}, in the rule {rule.name!r}")
        raise


def without_extensions(grammar: ast.Grammar, dialect: str, *, has_tokens: bool = False) -> ast.Grammar:
    """Return the grammar with differences as terminals; refuse the other constructs that only structgen has.

    Args:
        grammar: the tree.
        dialect: the name of the dialect, for the error: "the published KBNF".
        has_tokens: whether the dialect has token terminals.

    Raises:
        GrammarError: the grammar has a look-ahead, `margin!`, `indented!`, or a token terminal that is not possible.
    """
    grouped = group_rules(grammar)
    known: dict[int, ast.Expression] = {}
    rules: list[ast.Rule] = []

    def translate(node: ast.Expression) -> ast.Expression:
        if isinstance(node, ast.Difference):
            return ast.RegexTerminal(regular(node, grouped))
        if type(node) in _ONLY_HERE and not (has_tokens and isinstance(node, ast.Token)):
            name = grammar.rules[len(rules)].name
            raise GrammarError(f"{dialect} cannot express the {_ONLY_HERE[type(node)]} in the rule {name!r}")
        return node

    for rule in grammar.rules:
        rules.append(replace(rule, body=rewrite(rule.body, translate, known)))
    return ast.Grammar(tuple(rules), grammar.start)


def written_names(
    grammar: ast.Grammar,
    *,
    start: str,
    clean: Callable[[str], str],
    reserved: frozenset[str] = frozenset(),
    separator: str = "_",
) -> dict[str, str]:
    """Return for each name of a rule a unique name to write: the name itself where the dialect accepts it.

    Args:
        grammar: the tree.
        start: the name of the start nonterminal in the dialect.
        clean: returns a text as a valid name; a valid name unchanged.
        reserved: names with another meaning in the dialect.
        separator: stands before the number that makes names unique.
    """
    names = dict.fromkeys(rule.name for rule in grammar.rules)
    written = {name: name for name in names if clean(name) == name and name != start and name not in reserved}
    if grammar.start in names:
        written[grammar.start] = start
    used = {*written.values(), start, *reserved}
    for name in names:
        if name in written:
            continue
        wish, count = clean(name), 2
        base = wish
        while wish in used:
            wish, count = f"{base}{separator}{count}", count + 1
        used.add(wish)
        written[name] = wish
    return written


class FreshNames:
    """Names of new rules, each after the rule that needs it: `value_1`, `value_2`.

    Args:
        used: the names of all other rules.
        separator: stands between the name and the number.
    """

    def __init__(self, used: Iterable[str], separator: str) -> None:
        self._used = set(used)
        self._separator = separator
        self._counts: dict[str, int] = {}

    def name(self, owner: str) -> str:
        """Return a new name, and mark it as used."""
        count = self._counts.get(owner, 0) + 1
        while (name := f"{owner}{self._separator}{count}") in self._used:
            count += 1
        self._counts[owner] = count
        self._used.add(name)
        return name
