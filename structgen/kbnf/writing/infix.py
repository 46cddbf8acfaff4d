"""The writer of a rule's body in the notation that GBNF, xgrammar's EBNF and Lark share: `a b | (c | d)+ e?`."""

from __future__ import annotations

from collections.abc import Callable

from structgen.errors import LimitExceededError
from structgen.kbnf import ast
from structgen.limits import Limits

__all__ = ["comment_lines", "infix"]

_CHOICE, _SEQUENCE, _ATOM = range(3)  # levels of binding
_REPEATED = (ast.Option, ast.ZeroOrMore, ast.OneOrMore, ast.Bounded)


def comment_lines(rule: ast.Rule, mark: str) -> str:
    """Return the comment above a rule, each line after `mark`; "" where the rule has none."""
    return "".join(f"{mark} {line}\n" for line in rule.comment.splitlines())


def infix(
    body: ast.Expression,
    *,
    atom: Callable[[ast.Expression], str],
    count: Callable[[int, int | None], str],
    limits: Limits,
) -> str:
    """Return the text of one body.

    Args:
        body: the tree.
        atom: returns the text of a name, a terminal, or an empty sequence.
        count: returns the text of the bounds of a repetition.
        limits: `grammar_symbols` bounds the text.

    Raises:
        LimitExceededError: the body is too large.
    """
    out: list[str] = []
    # `out` grows from left to right; the stack holds the rest, the next on top.
    stack: list[str | tuple[ast.Expression, int]] = [(body, _CHOICE)]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            out.append(item)
            continue
        if len(out) > 2 * limits.grammar_symbols:
            raise LimitExceededError("grammar_symbols", limits.grammar_symbols)
        node, level = item
        if isinstance(node, (ast.Choice, ast.Sequence)) and node.parts:
            own, separator = (_CHOICE, " | ") if isinstance(node, ast.Choice) else (_SEQUENCE, " ")
            pieces: list[str | tuple[ast.Expression, int]] = []
            for part in node.parts:
                pieces += (separator, (part, _SEQUENCE))
            pieces[0] = "(" if level > own else ""
            stack += [")" if level > own else "", *reversed(pieces)]
        elif isinstance(node, _REPEATED):
            # A second operator would apply to the operand of the first, so `("a"?)*` keeps its parentheses.
            closing, opening = (")", "(") if level == _ATOM else ("", "")
            mark = count(node.min, node.max) if isinstance(node, ast.Bounded) else _MARKS[type(node)]
            stack += [closing, mark, (node.body, _ATOM), opening]
        else:
            out.append(atom(node))
    return "".join(out)


_MARKS: dict[type[ast.Expression], str] = {ast.Option: "?", ast.ZeroOrMore: "*", ast.OneOrMore: "+"}
