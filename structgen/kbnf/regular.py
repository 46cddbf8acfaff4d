"""The regex of an expression that is regular: what stands in a difference, or behind a look-ahead's `!`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from structgen.engine.regex import tree as rx
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.rewriting import children_of
from structgen.kbnf.text_without import any_text, text_except
from structgen.kbnf.validation import excluded_strings

__all__ = ["character_set", "regular"]


def regular(expression: ast.Expression, grouped: Mapping[str, Sequence[ast.Expression]]) -> rx.Regex:
    """The regex of an expression.

    Args:
        expression: made of terminals, and of nonterminals that do not lead back to themselves.
        grouped: all rules' bodies by name.

    Raises:
        GrammarError: a nonterminal is recursive or not defined, or something has no regex.
    """
    known: dict[int, rx.Regex] = {}
    names: dict[str, rx.Regex | None] = {}  # None while the name's bodies are looked at
    stack: list[tuple[ast.Expression, bool]] = [(expression, False)]
    while stack:
        node, parts_done = stack.pop()
        if id(node) in known:
            continue
        if isinstance(node, ast.Reference):
            bodies = grouped.get(node.name)
            if bodies is None:
                raise GrammarError(f"the nonterminal {node.name!r} is not defined")
            if parts_done:
                names[node.name] = rx.choice(*[known[id(body)] for body in bodies])
            elif node.name not in names:
                names[node.name] = None
                stack.append((node, True))
                stack.extend((body, False) for body in bodies)
                continue
            found = names[node.name]
            if found is None:
                raise GrammarError(
                    f"the nonterminal {node.name!r} is recursive, and stands where only a regular language may",
                    hint="write it as a regex",
                )
            known[id(node)] = found
            continue
        children = children_of(node)
        if children and not parts_done:
            stack.append((node, True))
            stack.extend((child, False) for child in children)
        else:
            known[id(node)] = _regex(node, [known[id(child)] for child in children], grouped)
    return known[id(expression)]


def _regex(node: ast.Expression, parts: list[rx.Regex], grouped: Mapping[str, Sequence[ast.Expression]]) -> rx.Regex:
    """One node's, given those of its children."""
    if isinstance(node, ast.Literal):
        return rx.Literal(node.data)
    if isinstance(node, ast.RegexTerminal):
        return node.regex
    if isinstance(node, ast.SubstringsTerminal):
        return rx.Substrings(tuple(bytes([byte]) for byte in node.text.encode()))
    if isinstance(node, ast.AnyText):
        return any_text()
    if isinstance(node, ast.Except):
        return text_except(excluded_strings(node, grouped), node.limit)
    if isinstance(node, ast.Sequence):
        return rx.sequence(*parts)
    if isinstance(node, ast.Choice):
        return rx.choice(*parts)
    if isinstance(node, ast.Option):
        return rx.optional(parts[0])
    if isinstance(node, ast.ZeroOrMore):
        return rx.star(parts[0])
    if isinstance(node, ast.OneOrMore):
        return rx.plus(parts[0])
    if isinstance(node, ast.Bounded):
        return rx.repeat(parts[0], node.min, node.max)
    if isinstance(node, ast.Difference):
        return rx.difference(*parts)
    word = {ast.NotFollowedBy: "a look-ahead", ast.Margin: "margin!", ast.Indented: "indented!"}[type(node)]
    raise GrammarError(f"{word} stands where only a regular language may")


def character_set(regex: rx.Regex) -> rx.Regex | None:
    """A regex that matches single characters only, as a class of them; None where it matches anything else."""
    ranges: list[tuple[int, int]] = []
    stack = [regex]
    while stack:
        node = stack.pop()
        if isinstance(node, rx.Choice):
            stack.extend(node.parts)
        elif isinstance(node, rx.Chars):
            ranges.extend(node.ranges)
        elif isinstance(node, (rx.Literal, rx.LiteralSet)):
            for data in node.texts if isinstance(node, rx.LiteralSet) else (node.data,):
                text = data.decode(errors="replace")
                if len(text) != 1 or text == "\ufffd":
                    return None
                ranges.append((ord(text), ord(text)))
        elif isinstance(node, rx.ByteSet) and node.mask < 1 << 0x80:
            ranges.extend((byte, byte) for byte in range(0x80) if node.mask >> byte & 1)
        else:
            return None
    return rx.Chars(tuple(_joined(ranges))) if ranges else None


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if out and first <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(last, out[-1][1]))
        else:
            out.append((first, last))
    return out
