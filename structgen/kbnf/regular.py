"""Regexes of the parts of a KBNF grammar that are regular.

Two kinds of expressions need one: terminals that are no plain regex (`#ex'…'`, `any!`, `except!(…)`, `#substrs'…'`),
and expressions in a position where only a regular language may stand, that is both sides of `x - y` and the operand of
`!x`. `regular` turns any such expression into one regex, nonterminals included as long as they do not recurse:

    number ::= digit+;  digit ::= #'[0-9]';
    regular(number - '0')  ->  [0-9]+ minus 0
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from structgen.engine.regex import tree as rx
from structgen.engine.regex.unicode_classes import union_of
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.rewriting import children_of
from structgen.kbnf.validation import excluded_strings

__all__ = ["any_text", "character_set", "regular", "substrings", "text_except", "text_without"]

_ALL_BYTES = (1 << 256) - 1
_ANY_BYTE = rx.ByteSet(_ALL_BYTES)
_NOT_REGULAR = {
    ast.NotFollowedBy: "a look-ahead",
    ast.Margin: "margin!",
    ast.Indented: "indented!",
    ast.Token: "a token terminal",
}


def any_text() -> rx.Regex:
    """Return the regex of `any!`: any bytes, or none (the older package worked on bytes; *read*, not tried)."""
    return rx.ANY_BYTES


def substrings(text: str) -> rx.Regex:
    """Return the regex of `#substrs'…'`; like the published package it cuts between any two bytes."""
    data = text.encode()
    return rx.Substrings(tuple(data[index : index + 1] for index in range(len(data))))


def text_without(regex: rx.Regex) -> rx.Regex:
    r"""Return the regex of `#ex'…'`: a non-empty run of bytes in which the regex matches nowhere.

    As the published package does (0.4.2, tried): the text is of bytes, not of characters (`#ex'a'` accepts `\xff`); it
    is not empty; a regex that matches the empty text matches everywhere, so that no text is left.

    Args:
        regex: the regex that must not occur, anchored at both ends.
    """
    byte_set = _single_bytes(regex)
    if byte_set is not None:
        return rx.plus(rx.ByteSet(_ALL_BYTES & ~byte_set))
    return rx.intersection(rx.plus(_ANY_BYTE), rx.Complement(rx.sequence(rx.ANY_BYTES, regex, rx.ANY_BYTES)))


def text_except(excluded: Sequence[bytes], limit: int | None) -> rx.Regex:
    r"""Return the regex of `except!(…)`: bytes, or none, in which no excluded string occurs.

    As the older package documents it: `except!('\n\n') '\n\n'` does allow `\n\n\n`, where the first `\n` is the text;
    the limit counts bytes; a byte that is not UTF-8 is allowed.

    Args:
        excluded: the strings, none empty.
        limit: the largest number of bytes, or None.
    """
    found = rx.literal_set(excluded)
    byte_set = _single_bytes(found)
    if byte_set is not None:
        return rx.Repeat(rx.ByteSet(_ALL_BYTES & ~byte_set), 0, limit)
    text = rx.Repeat(_ANY_BYTE, 0, limit)
    return rx.intersection(text, rx.Complement(rx.sequence(rx.ANY_BYTES, found, rx.ANY_BYTES)))


def _single_bytes(regex: rx.Regex) -> int | None:
    """Return the mask of a regex that is a set of single bytes (as in `ByteSet.mask`), else None."""
    if isinstance(regex, rx.ByteSet):
        return regex.mask
    if isinstance(regex, rx.Literal) and len(regex.data) == 1:
        return 1 << regex.data[0]
    if isinstance(regex, rx.LiteralSet) and all(len(text) == 1 for text in regex.texts):
        return sum(1 << text[0] for text in regex.texts)
    if isinstance(regex, rx.Chars) and all(last < 0x80 for _, last in regex.ranges):
        return sum((1 << (last + 1)) - (1 << first) for first, last in regex.ranges)
    return None


def regular(expression: ast.Expression, grouped: Mapping[str, Sequence[ast.Expression]]) -> rx.Regex:
    """Return the regex of an expression.

    Args:
        expression: made of terminals, and of nonterminals that do not lead back to themselves.
        grouped: all rules' bodies by name.

    Raises:
        GrammarError: a nonterminal is recursive or not defined, or the expression holds `!`, `margin!`, `indented!` or
            a token terminal.
    """
    known: dict[int, rx.Regex] = {}
    names: dict[str, rx.Regex | None] = {}  # None while the bodies of the name are being translated
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
                    f"the nonterminal {node.name!r} is recursive, where only a regular language is possible",
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
    """Return the regex of one node, given those of its children."""
    if isinstance(node, ast.Literal):
        return rx.Literal(node.data)
    if isinstance(node, ast.RegexTerminal):
        return node.regex
    if isinstance(node, ast.SubstringsTerminal):
        return substrings(node.text)
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
    word = f"the bound nonterminal {node.name!r}" if isinstance(node, ast.Hole) else _NOT_REGULAR[type(node)]
    raise GrammarError(f"{word} is used where only a regular language is possible")


def character_set(regex: rx.Regex) -> rx.Regex | None:
    """Return a regex that matches single characters only as one class; None if it matches anything else."""
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
    return rx.Chars(union_of(ranges)) if ranges else None
