r"""Repetitions that are better one terminal than rules.

Copies of some expressions run into each other: a text of one copy is also a text of two. Rules of such a repetition
derive most texts in very many ways, and an item set holds an item for each of them. A terminal's automaton has one
state for all of them.

    line ::= #'[^\n]*' '\n'?                      "ab" is one line, and also "a" and "b"
    root ::= line{0,99}         ->                root ::= #'([^\n]*\n?){0,99}'

The text of a string or a comment is a repetition of characters and escapes. As rules, each character is a terminal of
its own, and a mask follows a token character by character from one to the next. An automaton walks all tokens at once.

    string ::= '"' { #'[^"\\]' | escape } '"'     ->     string ::= '"' #'([^"\\]|\\[nrt"\\])*' '"'
    escape ::= #'\\[nrt"\\]'
    line ::= #'[^\n]'{1,80} '\n'                 ->     line ::= #'[^\n]{1,80}\n'

Where such texts follow one another, a token may be divided between them in many ways. So they are one terminal, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from structgen.engine.regex import tree as rx
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.regex_facts import survey
from structgen.kbnf.regular import regular
from structgen.kbnf.rewriting import children_of

__all__ = ["has_some_text", "repeated_terminal", "repeated_text", "repetition_of"]

Repetition = ast.ZeroOrMore | ast.OneOrMore | ast.Bounded

_MAX_NODES = 100  # of an expression, its nonterminals written out, that becomes a terminal
_MIN_CHARACTERS = 16  # of a class that is repeated in a text


def repeated_terminal(node: ast.Bounded, grouped: Mapping[str, Sequence[ast.Expression]]) -> rx.Regex | None:
    """Return the regex of a counted repetition whose copies run into each other; None for any other repetition.

    Args:
        node: the repetition.
        grouped: all rules' bodies by name.
    """
    body = _small_regex(node.body, grouped)
    if body is None:
        return None
    nullable = survey(body)[0]
    return rx.repeat(body, node.min, node.max) if _runs_on(body, nullable) else None


def repeated_text(node: Repetition, grouped: Mapping[str, Sequence[ast.Expression]]) -> rx.Regex | None:
    """Return the regex of a repetition like the text of a string or a comment; None for any other repetition.

    What is repeated is a large class of characters (`_MIN_CHARACTERS`), or a choice with such a class, as with escapes.

    Args:
        node: the repetition.
        grouped: all rules' bodies by name.
    """
    body = _small_regex(node.body, grouped)
    if body is None or not _has_large_class(body):
        return None
    if isinstance(node, ast.Bounded):
        is_valid = node.min >= 0 and (node.max is None or node.min <= node.max)
        return rx.repeat(body, node.min, node.max) if is_valid else None
    return rx.plus(body) if isinstance(node, ast.OneOrMore) else rx.star(body)


def has_some_text(body: ast.Expression, grouped: Mapping[str, Sequence[ast.Expression]]) -> bool:
    """Return whether an expression surely has a text. False also if it is large or not regular."""
    regex = _small_regex(body, grouped)
    return regex is not None and survey(regex)[1] is True


def repetition_of(node: ast.Expression, grouped: Mapping[str, Sequence[ast.Expression]]) -> Repetition | None:
    """Return the repetition that an expression is, or that the only body of a name is; None for all others."""
    passed: set[str] = set()
    while isinstance(node, ast.Reference) and node.name not in passed:
        bodies = grouped.get(node.name, ())
        if len(bodies) != 1:
            return None
        passed.add(node.name)
        node = bodies[0]
    return node if isinstance(node, (ast.ZeroOrMore, ast.OneOrMore, ast.Bounded)) else None


def _small_regex(body: ast.Expression, grouped: Mapping[str, Sequence[ast.Expression]]) -> rx.Regex | None:
    """Return the regex of a repeated expression; None if it is large, or no regular language."""
    if not _is_small(body, grouped):
        return None
    try:
        return regular(body, grouped)
    except GrammarError:  # a look-ahead or a margin
        return None


def _has_large_class(regex: rx.Regex) -> bool:
    """Return whether a regex is a class of many characters, or has one among its alternatives."""
    stack = [regex]
    while stack:
        node = stack.pop()
        if isinstance(node, rx.Choice):
            stack.extend(node.parts)
        elif isinstance(node, rx.Chars) and sum(last - first + 1 for first, last in node.ranges) >= _MIN_CHARACTERS:
            return True
    return False


def _is_small(expression: ast.Expression, grouped: Mapping[str, Sequence[ast.Expression]]) -> bool:
    """Return whether an expression has few nodes and no recursion; a nonterminal counts as often as it is used."""
    stack = [expression]
    count = 0
    while stack:
        node = stack.pop()
        count += 1
        if isinstance(node, ast.Bounded) and node.max is not None and not 0 <= node.min <= node.max:
            return False  # an error, raised where it is made rules
        children = grouped.get(node.name, ()) if isinstance(node, ast.Reference) else children_of(node)
        if count + len(children) > _MAX_NODES:
            return False
        stack.extend(children)
    return True


def _runs_on(regex: rx.Regex, nullable: Mapping[int, bool]) -> bool:
    """Return whether two adjacent texts of a regex are often one text of it too."""
    stack = [regex]
    while stack:
        node = stack.pop()
        if nullable[id(node)] or (isinstance(node, rx.Repeat) and node.max is None):
            return True
        if isinstance(node, rx.Choice):
            stack.extend(node.parts)
        elif isinstance(node, rx.Repeat):
            stack.append(node.body)
        elif isinstance(node, rx.Sequence):  # the other parts may be empty
            needed = [part for part in node.parts if not nullable[id(part)]]
            stack.extend(needed if len(needed) == 1 else ())
    return False
