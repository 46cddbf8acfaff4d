"""Between the dialects of KBNF: today's (`#e`, `#ex`, `#substrs`; kbnf 0.4) and the older one (`any!`, `except!`).

`parse` reads both, mixed as one likes, and `print_grammar` writes a tree in the dialect it is in; these functions
translate trees where the other dialect has a word for the same language.
"""

from __future__ import annotations

from collections.abc import Callable

from structgen.engine.regex import tree as rx
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.regular import text_without
from structgen.kbnf.rewriting import group_rules, rewrite
from structgen.kbnf.validation import excluded_strings
from structgen.kbnf.writing.regex_text import regex_to_rust

__all__ = ["to_current_dialect", "to_older_dialect"]


def to_current_dialect(grammar: ast.Grammar) -> ast.Grammar:
    """Writes `any!` and `except!` by means of `#ex`, in the same language.

    Raises:
        GrammarError: an `except!` has a limit (today's dialect counts no bytes), or excludes no plain strings.
    """
    grouped = group_rules(grammar)

    def translate(node: ast.Expression) -> ast.Expression:
        if isinstance(node, ast.AnyText):
            return _optional_without(rx.NOTHING)
        if isinstance(node, ast.Except):
            if node.limit is not None:
                raise GrammarError(
                    f"today's KBNF has no word for an except! of at most {node.limit} bytes",
                    hint="leave the limit out, or write a counted regex",
                )
            return _optional_without(rx.literal_set(excluded_strings(node, grouped)))
        return node

    return _translated(grammar, translate)


def _optional_without(regex: rx.Regex) -> ast.Expression:
    """`[#ex'…']`: the older words take the empty text, `#ex` does not."""
    source = regex_to_rust(regex)
    if source is None:
        raise GrammarError("an except! excludes bytes that are not UTF-8, and KBNF text cannot name them")
    return ast.Option(ast.RegexTerminal(text_without(regex), source, "ex"))


def to_older_dialect(grammar: ast.Grammar) -> ast.Grammar:
    """Writes `#ex'…'` that may be empty and excludes one plain string as `except!('…')`, in the same language.

    Raises:
        GrammarError: there is another `#e`, `#ex` or `#substrs`: the older dialect has no word for it.
    """

    def translate(node: ast.Expression) -> ast.Expression:
        if isinstance(node, (ast.Option, ast.ZeroOrMore)) and isinstance(node.body, ast.RegexTerminal):
            string = _excluded_string(node.body)
            # Repeating a text in which a string does not occur could make it occur, unless it is one byte.
            if string is not None and (isinstance(node, ast.Option) or len(string) == 1):
                return ast.Except(ast.Literal(string))
        return node

    translated = _translated(grammar, translate)
    for rule in translated.rules:
        rewrite(rule.body, lambda node, name=rule.name: _refuse_current(node, name))  # type: ignore[misc]
    return translated


def _excluded_string(node: ast.RegexTerminal) -> bytes | None:
    """The string of a `#ex` whose pattern is one; the pattern's own text tells, as far as it has no operators."""
    if node.kind != "ex" or not node.source:
        return None
    data = node.source.encode()
    return data if regex_to_rust(rx.Literal(data)) == node.source else None


def _refuse_current(node: ast.Expression, rule: str) -> ast.Expression:
    word = ""
    if isinstance(node, ast.SubstringsTerminal):
        word = "#substrs"
    elif isinstance(node, ast.RegexTerminal) and node.kind:
        word = f"#{node.kind}"
    if word:
        raise GrammarError(f"the older dialect has no word for the {word} in the rule {rule!r}")
    return node


def _translated(grammar: ast.Grammar, translate: Callable[[ast.Expression], ast.Expression]) -> ast.Grammar:
    rules = tuple(ast.Rule(rule.name, rewrite(rule.body, translate)) for rule in grammar.rules)
    return ast.Grammar(rules, grammar.start)
