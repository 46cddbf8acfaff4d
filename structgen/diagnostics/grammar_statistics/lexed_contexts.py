"""The rules of a grammar with a lexer, as tables whose terminals are the lexer's.

The parser of such a grammar reads terminals, not bytes. Here each terminal is a *code*: a regex for two private-use
characters, which no other terminal has. So the normal form keeps all terminals apart.

With a `_NEWLINE` that Lark's `PythonIndenter` reads, the ends of lines inside brackets count as ignored, and `_INDENT`
and `_DEDENT` are left out: indentation counts as any white space.
"""

from __future__ import annotations

from typing import NamedTuple

from structgen.diagnostics.grammar_statistics.lexers import Lexer
from structgen.engine.grammar.tables import GrammarTables
from structgen.engine.regex import tree as rx
from structgen.kbnf import ast
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.lark_indentation import INDENT, NEWLINE, Words, lined_rules
from structgen.kbnf.reading.lark_lexing import LexedGrammar, replaceable
from structgen.kbnf.rewriting import rewrite
from structgen.limits import Limits

__all__ = ["LexedTables", "lexed_tables"]

_FIRST_CODE = 0xF0000  # the first private-use character of plane 15; terminal n has the pair at + 2 * n
_EMPTY = ast.Sequence(())


class LexedTables(NamedTuple):
    """The result of `lexed_tables`.

    Attributes:
        tables: the normal form.
        terminals: terminal of the lexer -> terminal of the tables; only those that a rule uses.
    """

    tables: GrammarTables
    terminals: dict[int, int]


def lexed_tables(grammar: LexedGrammar, lexer: Lexer, limits: Limits) -> LexedTables:
    """Return the tables of a Lark grammar over the terminals of its lexer (`lexers.lexer_of_lark`)."""
    codes = {lexeme.name: _code(number) for number, lexeme in enumerate(lexer.lexemes) if not lexeme.is_ignored}
    uses: dict[tuple[str, str], ast.Expression] = {}  # by rule and terminal: the codes that the parser takes there
    for (rule, name), strings in replaceable(grammar).items():
        options = [codes[each] for each in (name, *strings)]
        uses[rule, name] = options[0] if len(options) == 1 else ast.Choice(tuple(options))
    if INDENT in grammar.terminals:
        newline = codes[NEWLINE]
        skip: dict[bool, ast.Expression] = {False: _EMPTY, True: ast.ZeroOrMore(newline)}
        coded = _without_margins(lined_rules(grammar, Words(uses, newline, skip)))
    else:
        coded = _coded(grammar, uses)
    tables = normalize(coded, limits=limits)
    numbers = {regex: number for number, regex in enumerate(tables.terminals)}
    found = {number: numbers[_regex(number)] for number in range(len(lexer.lexemes)) if _regex(number) in numbers}
    return LexedTables(tables, found)


def _regex(number: int) -> rx.Regex:
    """Return the code of a terminal of the lexer, as a regex."""
    return rx.Chars(((_FIRST_CODE + 2 * number, _FIRST_CODE + 2 * number + 1),))


def _code(number: int) -> ast.Expression:
    """Return the code of a terminal of the lexer, as a node of the grammar."""
    return ast.RegexTerminal(_regex(number))


def _without_margins(grammar: ast.Grammar) -> ast.Grammar:
    """Return the grammar without conditions on indentation."""

    def change(node: ast.Expression) -> ast.Expression:
        if isinstance(node, ast.Margin):
            return _EMPTY
        return node.body if isinstance(node, ast.Indented) else node

    return ast.Grammar(tuple(ast.Rule(rule.name, rewrite(rule.body, change)) for rule in grammar.rules), grammar.start)


def _coded(grammar: LexedGrammar, uses: dict[tuple[str, str], ast.Expression]) -> ast.Grammar:
    """Return the rules of a grammar with the codes of its terminals in place of their names."""
    rules: list[ast.Rule] = []
    for name, body in grammar.rules.items():

        def change(node: ast.Expression, rule: str = name) -> ast.Expression:
            return uses[rule, node.name] if isinstance(node, ast.Reference) and (rule, node.name) in uses else node

        rules.append(ast.Rule(name, rewrite(body, change)))
    return ast.Grammar(tuple(rules), grammar.start)
