"""A grammar of structgen in llguidance's Lark dialect, for side-by-side runs.

llguidance has a lexer that takes the longest match of what the parser allows, so look-aheads are left out; where words
exclude keywords these are excluded from the terminal. It has no indentation: `margin!` becomes any white space there.
"""

from __future__ import annotations

import re

from structgen.engine import regex as rx
from structgen.kbnf import ast
from structgen.kbnf.flattening import group_rules
from structgen.kbnf.regex_text import regex_to_rust
from structgen.kbnf.regular import regular

__all__ = ["to_lark"]


def to_lark(grammar: ast.Grammar) -> str:
    """The text of a grammar whose regexes have Rust's syntax.

    Raises:
        ValueError: a terminal has no word there.
    """
    return _Lark(grammar).text()


class _Lark:
    def __init__(self, grammar: ast.Grammar) -> None:
        self.grammar = grammar
        self.grouped = group_rules(grammar)
        self.names: dict[str, str] = {}
        self.terminals: dict[str, str] = {}
        for name in self.grouped:
            wish = re.sub(r"[^a-z0-9_]", "_", name.lower()).strip("_") or "blank"
            while wish in self.names.values():
                wish += "_"
            self.names[name] = "start" if name == grammar.start else wish if wish != "start" else "start_"

    def text(self) -> str:
        rules = [
            f"{self.names[name]}: " + " | ".join(self.expression(body) for body in bodies)
            for name, bodies in self.grouped.items()
        ]
        return "\n".join([*rules, *(f"{name}: {body}" for body, name in self.terminals.items())]) + "\n"

    def expression(self, node: ast.Expression) -> str:
        if isinstance(node, ast.Literal):
            return _quoted(node.data.decode()) if node.data else ""
        if isinstance(node, ast.Reference):
            return self.names[node.name]
        if isinstance(node, ast.Sequence):
            return " ".join(filter(None, map(self.expression, node.parts)))
        if isinstance(node, ast.Choice):
            return f"({' | '.join(map(self.expression, node.parts))})"
        for kind, mark in ((ast.Option, "?"), (ast.ZeroOrMore, "*"), (ast.OneOrMore, "+")):
            if isinstance(node, kind):
                return f"({self.expression(node.body)}){mark}"
        if isinstance(node, ast.NotFollowedBy):
            return ""
        if isinstance(node, ast.Margin):
            return "(/[ \\t]+/)?"
        if isinstance(node, ast.Indented):
            return f"({self.expression(node.body)})"
        return self.terminal(node)

    def terminal(self, node: ast.Expression) -> str:
        body = _terminal(regular(node, self.grouped))
        return self.terminals.setdefault(body, f"TERMINAL_{len(self.terminals)}")


def _terminal(regex: rx.Regex) -> str:
    """A regex as a terminal's body; only what has no text in Rust's syntax is taken apart."""
    source = regex_to_rust(regex)
    if source is not None:
        return f"/{_slashed(source)}/" if source else '""'
    if isinstance(regex, rx.Sequence):
        return " ".join(map(_terminal, regex.parts))
    if isinstance(regex, rx.Choice):
        return f"({' | '.join(map(_terminal, regex.parts))})"
    if isinstance(regex, rx.Intersection):
        return f"({' & '.join(map(_terminal, regex.parts))})"
    if isinstance(regex, rx.Complement):
        return f"~({_terminal(regex.body)})"
    if isinstance(regex, rx.Early):
        return f"({_terminal(regex.body)} & ~({_terminal(regex.body)} /(?s:.)+/))"
    if isinstance(regex, rx.Repeat):
        counts = {(0, None): "*", (1, None): "+", (0, 1): "?"}
        most = "" if regex.max is None else regex.max
        return f"({_terminal(regex.body)}){counts.get((regex.min, regex.max), f'{{{regex.min},{most}}}')}"
    if regex == rx.ByteSet((1 << 256) - 1):
        return "/(?s:.)/"
    raise ValueError(f"no word in Lark for {regex}")


def _slashed(source: str) -> str:
    return re.sub(r"(?<!\\)((?:\\\\)*)/", r"\1\\/", source).replace("\n", "\\n")


def _quoted(text: str) -> str:
    escaped = (
        text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
    )
    return f'"{escaped}"'
