"""Random KBNF trees, small and nasty: nullable, ambiguous, cyclic, left- and right-recursive."""

from __future__ import annotations

import random

from structgen.engine.regex_syntax.parser import parse_regex
from structgen.kbnf import ast

NAMES = ("start", "A", "B", "C")
REGEXES = ("[ab]+", "a?b", "(ab|c)*", "a{2,4}", "[ac]", "(a|ba)*b?", "é|a", "[a-c]{0,3}c")


def random_grammar(rng: random.Random, *, regexes: bool = True, operators: bool = True) -> ast.Grammar:
    """A grammar of up to four nonterminals over the letters a, b, c and é."""
    names = NAMES[: rng.randint(1, len(NAMES))]
    rules = []
    for name in names:
        rules.extend(ast.Rule(name, _expression(rng, names, 2, regexes, operators)) for _ in range(rng.randint(1, 2)))
    return ast.Grammar(tuple(rules))


def _expression(
    rng: random.Random, names: tuple[str, ...], depth: int, regexes: bool, operators: bool
) -> ast.Expression:
    def again() -> ast.Expression:
        return _expression(rng, names, depth - 1, regexes, operators)

    kind = rng.random()
    if depth == 0 or kind < 0.25:
        return _leaf(rng, names, regexes)
    if kind < 0.6:
        return ast.Sequence(tuple(again() for _ in range(rng.randint(2, 3))))
    if kind < 0.8 or not operators:
        return ast.Choice(tuple(again() for _ in range(rng.randint(2, 3))))
    if kind < 0.95:
        return rng.choice((ast.Option, ast.ZeroOrMore, ast.OneOrMore))(again())
    low = rng.randint(0, 2)
    return ast.Bounded(again(), low, low + rng.randint(0 if low else 1, 3))


def _leaf(rng: random.Random, names: tuple[str, ...], regexes: bool) -> ast.Expression:
    kind = rng.random()
    if kind < 0.5:
        return ast.Literal(rng.choice(("a", "b", "c", "ab", "ba", "é")).encode())
    if kind < 0.65 and regexes:
        source = rng.choice(REGEXES)
        return ast.RegexTerminal(parse_regex(source, "rust"), source)
    return ast.Reference(rng.choice(names))
