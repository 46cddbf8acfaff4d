"""Translation of trees between the dialects of KBNF: kbnf 0.4 (`#e`, `#ex`, `#substrs`) and older (`any!`, `except!`).

`parse` reads both, even mixed, and `print_grammar` writes each construct as it is. These functions replace the
constructs of one dialect by those of the other, where it can express the same language:

    except!('ab')    <->    [#ex'ab']
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.regular import text_without
from structgen.kbnf.rewriting import free_name, group_rules, nodes_of, rewrite
from structgen.kbnf.validation import excluded_strings
from structgen.kbnf.writing.regex_text import regex_to_rust

__all__ = ["to_current_dialect", "to_older_dialect"]


def to_current_dialect(grammar: ast.Grammar) -> ast.Grammar:
    """Return the grammar with `#ex` in place of `any!` and `except!`, in the same language.

    Raises:
        GrammarError: an `except!` has a limit (the current dialect cannot count bytes), or excludes something other
            than plain strings.
    """
    grouped = group_rules(grammar)

    def translate(node: ast.Expression) -> ast.Expression:
        if isinstance(node, ast.AnyText):
            return _optional_without(rx.NOTHING)
        if isinstance(node, ast.Except):
            if node.limit is not None:
                raise GrammarError(
                    f"the current dialect cannot express an except! of at most {node.limit} bytes",
                    hint="leave the limit out, or write a counted regex",
                )
            return _optional_without(rx.literal_set(excluded_strings(node, grouped)))
        return node

    return _translated(grammar, translate)


def _optional_without(regex: rx.Regex) -> ast.Expression:
    """Return `[#ex'…']` for a regex: an option, as `#ex` does not match the empty text, and `except!` does."""
    source = regex_to_rust(regex)
    if source is None:
        raise GrammarError("an except! excludes bytes that are not UTF-8, and KBNF text cannot name them")
    return ast.Option(ast.RegexTerminal(text_without(regex), source, "ex"))


def to_older_dialect(grammar: ast.Grammar) -> ast.Grammar:
    """Return the grammar with `except!('…')` in place of an optional `#ex'…'` of plain strings.

    Several excluded strings become the alternatives of a new rule, because `except!` takes one string or one name.

    Raises:
        GrammarError: the grammar has another `#e`, `#ex` or `#substrs`, which the older dialect cannot express.
    """
    taken = {rule.name for rule in grammar.rules}
    excluded: dict[tuple[bytes, ...], str] = {}  # excluded strings -> the name of their rule

    def translate(node: ast.Expression) -> ast.Expression:
        if isinstance(node, (ast.Option, ast.ZeroOrMore)) and isinstance(node.body, ast.RegexTerminal):
            strings = _excluded_strings(node.body)
            # Repeating texts without a string could make the string occur across them, unless it is one byte.
            if strings and (isinstance(node, ast.Option) or max(map(len, strings)) == 1):
                if len(strings) == 1:
                    return ast.Except(ast.Literal(strings[0]))
                if strings not in excluded:
                    excluded[strings] = free_name("excluded", taken)
                    taken.add(excluded[strings])
                return ast.Except(ast.Reference(excluded[strings]))
        return node

    translated = _translated(grammar, translate)
    for rule in translated.rules:
        for node in nodes_of(rule.body):
            _check_is_older(node, rule.name)
    rules = [ast.Rule(name, ast.Choice(tuple(map(ast.Literal, strings)))) for strings, name in excluded.items()]
    return replace(translated, rules=(*translated.rules, *rules))


def _excluded_strings(node: ast.RegexTerminal) -> tuple[bytes, ...]:
    """Return the strings that a `#ex` excludes; none if its pattern has other texts."""
    if node.kind != "ex" or not node.source:
        return ()
    regex = parse_regex(node.source, "rust")
    found: list[bytes] = []
    for part in regex.parts if isinstance(regex, rx.Choice) else (regex,):
        if isinstance(part, rx.LiteralSet):
            found += part.texts
        elif isinstance(part, rx.Literal) and part.data:
            found.append(part.data)
        else:
            return ()
    return tuple(found)


def _check_is_older(node: ast.Expression, rule: str) -> None:
    """Check that a node is no construct that only the current dialect has."""
    word = ""
    if isinstance(node, ast.SubstringsTerminal):
        word = "#substrs"
    elif isinstance(node, ast.RegexTerminal) and node.kind:
        word = f"#{node.kind}"
    if word:
        raise GrammarError(f"the older dialect cannot express the {word} in the rule {rule!r}")


def _translated(grammar: ast.Grammar, translate: Callable[[ast.Expression], ast.Expression]) -> ast.Grammar:
    """Return the grammar with `translate` applied to every node of every rule."""
    rules = tuple([replace(rule, body=rewrite(rule.body, translate)) for rule in grammar.rules])
    return ast.Grammar(rules, grammar.start)
