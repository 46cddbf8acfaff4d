"""Splits terminals into smaller ones, as the lexers of most languages might: words, quoted texts, single marks."""

from __future__ import annotations

import re

from structgen.engine import regex as rx
from structgen.kbnf import ast
from structgen.kbnf.rewriting import sequence

__all__ = ["split_terminal"]

_PIECES = re.compile(r'"(?:[^"\\]|\\.)*"|\w+|\s+|.', re.DOTALL)


def split_terminal(regex: rx.Regex) -> ast.Expression | None:
    """The same language out of smaller terminals; None where there is nothing to split."""
    if isinstance(regex, rx.Literal):
        pieces = _PIECES.findall(regex.data.decode())
        if len(pieces) < 2:
            return None
        return ast.Sequence(tuple(ast.RegexTerminal(rx.Literal(piece.encode())) for piece in pieces))
    if isinstance(regex, rx.LiteralSet):
        return _split_choice(tuple(map(rx.Literal, regex.texts)))
    if isinstance(regex, rx.Sequence):
        return sequence((split_terminal(part) or ast.RegexTerminal(part)) for part in regex.parts)
    return _split_choice(regex.parts) if isinstance(regex, rx.Choice) else None


def _split_choice(parts: tuple[rx.Regex, ...]) -> ast.Expression | None:
    """A choice, with what cannot be split in one terminal."""
    whole: list[rx.Regex] = []
    pieces: list[ast.Expression] = []
    for part in parts:
        found = split_terminal(part) if isinstance(part, (rx.Literal, rx.Sequence)) else None
        if found is None:
            whole.append(part)
        else:
            pieces.append(found)
    if whole and pieces:
        pieces.append(ast.RegexTerminal(rx.choice(*whole)))
    return None if not pieces else pieces[0] if len(pieces) == 1 else ast.Choice(tuple(pieces))
