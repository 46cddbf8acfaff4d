"""Grammars that are made of others: one after the other, one of several, one repeated, one under a name.

The rules of all parts become rules of one grammar, whose start rule says how the parts are combined:

    concatenation of   start ::= "a" name; name ::= #"x+";      start  ::= "a" name name_2;
    and                start ::= name;     name ::= #"y+";      name   ::= #"x+";
                                                                name_2 ::= #"y+";

A rule whose name is taken gets a number. A start rule that no other rule uses is written where it is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.rewriting import free_name, nodes_of, rewrite, sequence

__all__ = ["concatenation", "of_text", "renamed", "renamed_start", "repetition", "union"]

_START = "start"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def of_text(text: str) -> ast.Grammar:
    """Return the grammar of one text.

    Raises:
        GrammarError: it holds a lone surrogate.
    """
    try:
        return ast.Grammar((ast.Rule(_START, ast.Literal(text.encode())),))
    except UnicodeEncodeError as error:
        raise GrammarError(f"a lone surrogate cannot be written: {text!r}") from error


def concatenation(parts: Sequence[ast.Grammar]) -> ast.Grammar:
    """Return the grammar of a text of each part, one after the other."""
    return _joined(parts, lambda bodies: sequence(_flat(ast.Sequence, bodies)))


def union(parts: Sequence[ast.Grammar]) -> ast.Grammar:
    """Return the grammar of the texts of any of some parts, at least one."""
    return _joined(parts, _choice)


def repetition(part: ast.Grammar, least: int, most: int | None, separator: str) -> ast.Grammar:
    """Return the grammar of `least` to `most` texts of a part, with a separator between two of them.

    Args:
        part: the grammar of one text.
        least: the number of texts at least.
        most: the number of texts at most; None for any number.
        separator: the text between two texts.

    Raises:
        GrammarError: a number is negative, or the numbers are in the wrong order.
        TypeError: a number is no integer.
    """
    for number in (least, 0 if most is None else most):
        if not isinstance(number, int) or isinstance(number, bool):
            raise TypeError(f"the number of repetitions is an integer, not {number!r}")
    if least < 0 or (most is not None and most < least):
        raise GrammarError(f"a repetition of {least} to {most} times is not possible")
    if not separator or most == 0:
        return _joined([part], lambda bodies: ast.Bounded(bodies[0], least, most))
    between = of_text(separator).rules[0].body

    def separated(bodies: list[ast.Expression]) -> ast.Expression:
        others = ast.Bounded(ast.Sequence((between, bodies[0])), max(least, 1) - 1, None if most is None else most - 1)
        several = ast.Sequence((bodies[0], others))
        return several if least else ast.Option(several)

    return _joined([part], separated)


def renamed_start(part: ast.Grammar, name: str) -> ast.Grammar:
    """Return a grammar with another name of its start rule.

    Raises:
        GrammarError: the name is none.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise GrammarError(f"{name!r} is no name of a rule", hint="a name has ASCII letters, digits and underscores")
    names = {part.start: name}
    taken = {name, *(rule.name for rule in part.rules)}
    for rule in part.rules:
        if rule.name == name != part.start and rule.name not in names:
            names[name] = free_name(name, taken)
    return ast.Grammar(tuple(renamed(part.rules, names)), name)


def _joined(parts: Sequence[ast.Grammar], combine: Callable[[list[ast.Expression]], ast.Expression]) -> ast.Grammar:
    """Return a grammar with the rules of some parts, and a start rule that combines their start rules."""
    taken = {_START}
    rules: list[ast.Rule] = []
    bodies: list[ast.Expression] = []
    placed: dict[int, ast.Expression] = {}  # by id: where a part occurs twice, its rules do once
    for part in parts:
        if id(part) not in placed:
            names: dict[str, str] = {}
            for rule in part.rules:
                if rule.name not in names:
                    names[rule.name] = free_name(rule.name, taken)
                    taken.add(names[rule.name])
            own = renamed(part.rules, names)
            start = _only_used_here(part)
            if start is None:
                placed[id(part)] = ast.Reference(names[part.start])
                rules += own
            else:
                placed[id(part)] = own.pop(start).body
                taken.discard(names[part.start])
                rules += own
        bodies.append(placed[id(part)])
    return ast.Grammar((ast.Rule(_START, combine(bodies)), *rules))


def _only_used_here(part: ast.Grammar) -> int | None:
    """Return the index of the start rule, if it is called `start` and no rule uses it."""
    found = [index for index, rule in enumerate(part.rules) if rule.name == part.start]
    if part.start != _START or len(found) > 1:
        return None
    for rule in part.rules:
        for node in nodes_of(rule.body):
            used = node.excluded if isinstance(node, ast.Except) else node
            if isinstance(used, ast.Reference) and used.name == _START:
                return None
    return found[0]


def renamed(rules: Iterable[ast.Rule], names: dict[str, str]) -> list[ast.Rule]:
    """Return rules with other names; those that are not listed stay."""

    def change(node: ast.Expression) -> ast.Expression:
        if isinstance(node, ast.Reference) and node.name in names:
            return ast.Reference(names[node.name])
        if isinstance(node, ast.Except) and isinstance(node.excluded, ast.Reference) and node.excluded.name in names:
            return replace(node, excluded=ast.Reference(names[node.excluded.name]))
        return node

    return [replace(rule, name=names.get(rule.name, rule.name), body=rewrite(rule.body, change)) for rule in rules]


def _choice(bodies: list[ast.Expression]) -> ast.Expression:
    parts = tuple(_flat(ast.Choice, bodies))
    return parts[0] if len(parts) == 1 else ast.Choice(parts)


def _flat(kind: type[ast.Sequence] | type[ast.Choice], bodies: list[ast.Expression]) -> Iterable[ast.Expression]:
    """Return bodies with the parts of those of a kind in their place."""
    for body in bodies:
        if isinstance(body, kind):
            yield from body.parts
        else:
            yield body
