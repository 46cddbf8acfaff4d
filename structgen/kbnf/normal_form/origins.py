"""The rules that each terminal of a grammar came from, for messages; the normal form has lost small rules."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from structgen.engine.grammar.tables import terminal_number
from structgen.engine.regex.tree import Regex
from structgen.kbnf import ast
from structgen.kbnf.normal_form.flattening import flatten
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.normal_form.productions import TerminalTable
from structgen.kbnf.reading.kbnf import parse
from structgen.limits import Limits

__all__ = ["rules_of_terminals", "rules_of_tree"]

_MAX_GRAMMARS = 8
# The grammar was compiled before, within limits that are not known here.
_NO_LIMITS = Limits(grammar_symbols=2**28, regex_nodes=2**28, regex_depth=2**28)


@lru_cache(maxsize=_MAX_GRAMMARS)
def rules_of_terminals(source: str, start: str = "start") -> dict[Regex, tuple[str, ...]]:
    """Return for each terminal the names of the rules that use it.

    Args:
        source: a grammar in KBNF that was compiled before. It is read again, as only messages need the result.
        start: its start nonterminal.

    Example:
        >>> list(rules_of_terminals("start ::= '(' digits ')'; digits ::= #'[0-9]+';").values())
        [('start',), ('start',), ('digits',)]
    """
    return rules_of_tree(replace(parse(source, limits=_NO_LIMITS), start=start))


def rules_of_tree(tree: ast.Grammar) -> dict[Regex, tuple[str, ...]]:
    """Return for each terminal of a grammar that was compiled before the names of the rules that use it."""
    nothing = normalize(ast.Grammar((ast.Rule("start", ast.Literal(b"")),)))
    terminals = TerminalTable(lambda regex: False, lambda content: nothing)  # holes have messages of their own
    productions = flatten(tree, terminals, limits=_NO_LIMITS, ids_of=lambda node: ())
    names: dict[int, dict[str, None]] = {}
    for name, alternatives in zip(productions.names, productions.bodies):
        for body in alternatives:
            for symbol in body:
                if symbol < 0 and symbol not in terminals.marks:
                    names.setdefault(symbol, {})[name] = None
    return {terminals.regexes[terminal_number(symbol)]: tuple(found) for symbol, found in names.items()}
