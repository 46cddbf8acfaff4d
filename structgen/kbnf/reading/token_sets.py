"""The reader of sets of token ids, which KBNF, Lark and GBNF write between square brackets.

The notation is that of llguidance; a string is the name of a token, which only KBNF has:

    set   ::= "*" | ["^"] item {"," item}
    item  ::= number | number "-" number | string
"""

from __future__ import annotations

import re
from collections.abc import Callable

from structgen.kbnf import ast
from structgen.kbnf.reading.kbnf_lexer import fail

__all__ = ["token_set"]

_ITEM = re.compile(
    r"""\s*(?:(?P<first>[0-9]+)(?:\s*-\s*(?P<last>[0-9]+))?|(?P<name>'(?:\\.|[^'])*'|"(?:\\.|[^"])*"))\s*"""
)
_MAX_DIGITS = 9


def token_set(source: str, offset: int, begin: int, end: int, name_of: Callable[[int, str], str] | None) -> ast.Token:
    """Return the token terminal of a set of ids.

    Args:
        source: the grammar.
        offset: the position of the terminal in it.
        begin: the position after the opening bracket.
        end: the position of the closing bracket.
        name_of: returns the name that a string at a position stands for; None where names are not allowed.

    Raises:
        GrammarError: it is no set of ids; with line and column.
    """
    inner = source[begin:end]
    if inner.strip() == "*":
        return ast.Token(is_negated=True, source=source, offset=offset)
    is_negated = inner.lstrip().startswith("^")
    at = begin + (inner.index("^") + 1 if is_negated else 0)
    names: list[str] = []
    ids: list[tuple[int, int]] = []
    while True:
        found = _ITEM.match(source, at, end)
        if found is None or (found["name"] and name_of is None):
            what = "a token id, a range of ids or a name" if name_of else "a token id or a range of ids"
            fail(source, at, f"expected {what}", hint="write [1000], [1000-1010,5], [^1000] or [*]")
        if found["name"] and name_of:
            names.append(name_of(found.start("name"), found["name"]))
        else:
            first, last = found["first"], found["last"] or found["first"]
            if max(len(first), len(last)) > _MAX_DIGITS or int(last) < int(first):
                fail(source, found.start("first"), f"{first}-{last} is no range of token ids")
            ids.append((int(first), int(last)))
        at = found.end()
        if at == end:
            return ast.Token(tuple(names), tuple(ids), is_negated, source, offset)
        if source[at] != ",":
            fail(source, at, f"expected ',' between token ids, found {source[at]!r}")
        at += 1
