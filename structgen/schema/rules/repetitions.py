"""Arrays of a printed grammar: the items after a prefix are a repetition.

    numbers ::= '[' ']' | '[' integer {',' integer} ']';

A repetition between bounds (`ast.Bounded`) is written as rules, whose number grows with the logarithm of the bounds;
states would take two rules for each item. An array of one to four booleans becomes

    start ::= '[' boolean start_4 ']';
    start_1 ::= ',' boolean;
    start_2 ::= start_1?;
    start_3 ::= start_1 start_1;
    start_4 ::= start_2 | start_3 start_2;
"""

from __future__ import annotations

from typing import Protocol

from structgen.engine.regex.tree import Regex
from structgen.kbnf import ast
from structgen.kbnf.rewriting import sequence
from structgen.schema.algebra import ArraySet, Node
from structgen.schema.json_text.layout import Layout
from structgen.schema.rules.lazy_rules import LazyRules

__all__ = ["Writer", "repetition"]


class Writer(Protocol):
    """The part of a grammar's writer that `repetition` uses."""

    lazy: LazyRules
    layout: Layout
    rules: list[ast.Rule]

    def value(self, node: Node) -> ast.Expression:
        """Return an expression of the values of a node."""

    def terminal(self, regex: Regex) -> tuple[ast.Expression, ...]:
        """Return a sign of the layout as symbols."""

    def fresh(self, base: str) -> str:
        """Return a nonterminal's name that is not used yet."""


def repetition(writer: Writer, part: ArraySet, high: int | None, name: str) -> ast.Expression:
    """Return the expression of a set of arrays that only restricts items and their number. The set must have an array.

    Args:
        writer: gets the rules.
        part: the set.
        high: the maximum number of items; None for no bound.
        name: the prefix of the rules' names.
    """
    begin, end = writer.terminal(writer.layout.open_array), writer.terminal(writer.layout.end_array)
    if high == 0:
        return ast.Sequence((*begin, *end))
    items = [writer.value(node) for node in part.prefix[:high]]
    rest = writer.value(part.rest) if high is None or high > len(items) else None
    first, after = _items(writer, items, rest, part.low, high, name)
    if part.low:
        return ast.Sequence((*begin, *first, *after))
    # Two alternatives with brackets, not one bracket before a group: the published package counts brackets in groups.
    return ast.Choice((ast.Sequence((*begin, *end)), ast.Sequence((*begin, *first, *after))))


def _items(
    writer: Writer, items: list[ast.Expression], rest: ast.Expression | None, low: int, high: int | None, name: str
) -> tuple[list[ast.Expression], list[ast.Expression]]:
    """Return the first item, and what follows it up to the closing bracket."""
    comma, close = writer.terminal(writer.layout.comma), writer.terminal(writer.layout.close_array)
    size = len(items)
    if rest is None:
        after: list[ast.Expression] = [*close]
    else:
        given = max(size, 1)
        after = _more(writer, rest, max(low - given, 0), None if high is None else high - given, name)
    for index in range(size - 1, 0, -1):
        step = [*comma, items[index], *after]
        if index < low:
            after = step
        else:
            rule = writer.fresh(f"{name}_from_{index}")
            writer.rules.append(ast.Rule(rule, ast.Choice((sequence(close), ast.Sequence(tuple(step))))))
            after = [ast.Reference(rule)]
    first = items[0] if items else rest
    return ([first] if first is not None else []), after


def _more(writer: Writer, item: ast.Expression, low: int, high: int | None, name: str) -> list[ast.Expression]:
    """Return `low` to `high` further items, each after a comma, and the closing bracket."""
    comma, close = writer.terminal(writer.layout.comma), writer.terminal(writer.layout.close_array)
    step = ast.Sequence((*comma, item))
    if high is None and low == 0:
        return [ast.ZeroOrMore(step), *close]
    if high == 0:
        return [*close]
    return [ast.Bounded(step, low, high), *close]
