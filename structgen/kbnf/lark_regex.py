"""Writes a regex as the body of a terminal in llguidance's Lark: `/…/` in Rust's syntax, joined by operators."""

from __future__ import annotations

import json

from structgen.engine import regex as rx
from structgen.kbnf.regex_facts import post_order
from structgen.kbnf.writing.regex_text import regex_texts

__all__ = ["lark_regex", "slashed"]


def lark_regex(regex: rx.Regex) -> str | None:
    """The body of a terminal; None where Lark has no words for the regex (multiples of a number, bytes).

    llguidance's extensions are used: `&`, which binds less than a sequence, `~`, which binds most, `{m,n}`, and
    `%regex` for substrings. What is not one regex of Rust's stands in parentheses.
    """
    texts = regex_texts(regex)
    known: dict[int, str | None] = {}
    for node in post_order(regex):
        text = texts[id(node)]
        known[id(node)] = _joined(node, known) if text is None else slashed(text)
    return known[id(regex)]


def slashed(pattern: str) -> str:
    """A regex in Rust's syntax between slashes; no escape of that syntax ends in a slash."""
    return f"/{pattern.replace('/', chr(92) + '/')}/" if pattern else '""'


def _joined(node: rx.Regex, known: dict[int, str | None]) -> str | None:
    """A node that is no regex of Rust's, out of its children's texts."""
    if isinstance(node, rx.Substrings):
        return _substrings(node)
    if isinstance(node, (rx.Repeat, rx.Complement, rx.Early)):
        parts = [known[id(node.body)]]
    elif isinstance(node, (rx.Sequence, rx.Choice, rx.Intersection)):
        parts = [known[id(part)] for part in node.parts]
    else:
        return None
    written = [part for part in parts if part is not None]
    if len(written) < len(parts):
        return None
    if isinstance(node, rx.Repeat):
        if node.max == 0:  # llguidance reads `{0}` in a regex only
            return '""'
        return f"({written[0]}){_operator(node.min, node.max)}"
    if isinstance(node, rx.Complement):
        return f"~({written[0]})"
    if isinstance(node, rx.Early):
        return f"({written[0]} & ~({written[0]} /(?s:.)+/))"
    mark = {rx.Sequence: " ", rx.Choice: " | ", rx.Intersection: " & "}[type(node)]
    return f"({mark.join(written)})"


def _operator(least: int, most: int | None) -> str:
    simple = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((least, most))
    return simple or (f"{{{least},}}" if most is None else f"{{{least},{most}}}")


def _substrings(node: rx.Substrings) -> str | None:
    try:
        chunks = [unit.decode() for unit in node.units]
    except UnicodeDecodeError:
        return None
    return f'%regex {{ "substring_chunks": {json.dumps(chunks)} }}' if chunks else '""'
