"""The texts of token terminals in the notations that have them."""

from __future__ import annotations

import re
from collections.abc import Callable

from structgen.errors import GrammarError
from structgen.kbnf import ast

__all__ = ["gbnf_token", "kbnf_token", "lark_token", "xgrammar_token"]

_MAX_LISTED = 1000  # tokens of a range that are written one by one
_LARK_NAME = re.compile(r"<[^<>\s\[\]]+>")
_GBNF_NAME = re.compile(r"<[^>\r\n\[]+>")


def kbnf_token(node: ast.Token, quoted: Callable[[str], str]) -> str:
    """Return a token terminal in structgen's KBNF: `#token'<|im_end|>'`, `#token[^7,10-12]`.

    Args:
        node: the terminal.
        quoted: returns a text as a string of KBNF.
    """
    if len(node.names) == 1 and not node.ids and not node.is_negated:
        return f"#token{quoted(node.names[0])}"
    return f"#token[{_set(node, [quoted(name) for name in node.names])}]"


def lark_token(node: ast.Token) -> str:
    """Return a token terminal in llguidance's Lark: `<think>`, `<[^7,10-12]>`.

    Raises:
        GrammarError: a name is not between angle brackets, or is negated or beside ids.
    """
    if not node.names:
        return f"<[{_set(node, [])}]>"
    for name in node.names:
        if not _LARK_NAME.fullmatch(name) or node.is_negated:
            raise _cannot("llguidance's Lark", node, "name it by its id")
    parts = list(node.names) + ([f"<[{_set(ast.Token(ids=node.ids), [])}]>"] if node.ids else [])
    return parts[0] if len(parts) == 1 else f"({' | '.join(parts)})"


def gbnf_token(node: ast.Token) -> str:
    """Return a token terminal in GBNF: `<[1000]>`, `<think>`, `!<think>`; several as alternatives.

    Raises:
        GrammarError: a name is not between angle brackets; or several tokens are negated, or very many listed.
    """
    parts = list(node.names) + [f"<[{token_id}]>" for token_id in _listed(node, "GBNF")]
    if any(not _GBNF_NAME.fullmatch(name) for name in node.names) or (node.is_negated and len(parts) != 1):
        raise _cannot("GBNF", node, "GBNF has <name>, <[id]> and ! before one of them")
    if node.is_negated:
        return f"!{parts[0]}"
    return parts[0] if len(parts) == 1 else f"({' | '.join(parts)})"


def xgrammar_token(node: ast.Token) -> str:
    """Return a token terminal in xgrammar's EBNF: `Token(7, 8)`, `ExcludeToken(7)`.

    Raises:
        GrammarError: a token is named, none is excluded, or very many are listed.
    """
    ids = _listed(node, "xgrammar's EBNF")
    if node.names or not ids:
        raise _cannot("xgrammar's EBNF", node, "xgrammar has ids only, at least one")
    return f"{'ExcludeToken' if node.is_negated else 'Token'}({', '.join(map(str, ids))})"


def _set(node: ast.Token, names: list[str]) -> str:
    """Return the inside of the brackets of a set of tokens."""
    items = [*names, *(f"{first}" if first == last else f"{first}-{last}" for first, last in node.ids)]
    if not items and node.is_negated:
        return "*"
    return f"{'^' * node.is_negated}{','.join(items)}"


def _listed(node: ast.Token, dialect: str) -> list[int]:
    """Return the ids one by one."""
    if sum(last - first + 1 for first, last in node.ids) > _MAX_LISTED:
        raise _cannot(dialect, node, f"it lists the ids one by one, and these are more than {_MAX_LISTED}")
    return [token_id for first, last in node.ids for token_id in range(first, last + 1)]


def _cannot(dialect: str, node: ast.Token, hint: str) -> GrammarError:
    return GrammarError(f"{dialect} cannot express the token terminal {kbnf_token(node, repr)}", hint=hint)
