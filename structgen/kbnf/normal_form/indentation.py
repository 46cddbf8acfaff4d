"""Grammars with `margin!` and `indented!(…)`: rules that are made for each indentation when the engine predicts them.

A block of a language with significant indentation is no context-free language: all of its lines begin with the same
white space, of any width. It is a family of context-free rules, one for each margin, and of these a text needs few:
`indented!(x)` is `x` with the margin widened by some step, `margin!` is the margin itself.

    block ::= newline indented!(line+);
    line  ::= margin! statement newline;
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence
from typing import Any

from structgen.engine.grammar.tables import END, GrammarTables, Lazy, Lookahead, Spelling, Symbol, terminal_number
from structgen.engine.regex import tree as rx
from structgen.kbnf.normal_form.productions import Body, Productions

__all__ = ["STEPS", "IndentedRules", "indented_tables"]

STEPS = (*[b" " * width for width in range(1, 9)], b"\t")
"""What one level of indentation adds to the margin."""

_NO_MARGIN = b""


def indented_tables(productions: Productions, *, accepts_empty: bool) -> GrammarTables:
    """The tables of a grammar whose rules depend on the margin; see `normal_form.pack` for the others."""
    rules = IndentedRules(productions)
    return GrammarTables(
        symbols=array("i", [1, END]),
        first_rule=array("i", [0, 1]),
        rule_starts=array("i", [0]),
        terminals=(),
        names=(productions.names[productions.start],),
        start=0,
        accepts_empty=accepts_empty,
        lazy=((productions.start, _NO_MARGIN),),
        source=rules,
        describer=rules,
        lookaheads=rules.lookaheads,
    )


class IndentedRules:
    """The `RuleSource` and `Describer` of a grammar with margins.

    A key is the number of a nonterminal and, where it depends on the margin, the margin.

    Args:
        productions: the normal form, with its marks.

    Attributes:
        lookaheads: see `GrammarTables`.
    """

    def __init__(self, productions: Productions) -> None:
        self._bodies = productions.bodies
        self._names = productions.names
        self._terminals = productions.terminals
        self._literals: dict[bytes, rx.Regex] = {}
        self._indented = _reaching_marks(productions)
        refused = {mark.refused: None for mark in productions.terminals.marks.values() if mark.refused is not None}
        self.lookaheads = tuple(refused)
        self._lookaheads = {regex: Lookahead(number) for number, regex in enumerate(refused, 1)}

    def bodies(self, key: Any) -> Sequence[Sequence[Symbol | Lookahead]]:
        """See `RuleSource`."""
        number, margin = key
        return [made for body in self._bodies[number] for made in self._made(body, margin)]

    def _made(self, body: Body, margin: bytes) -> list[list[Symbol | Lookahead]]:
        """A body at a margin: once for each way to indent what it indents."""
        marks = self._terminals.marks
        ways: list[tuple[list[Symbol | Lookahead], tuple[bytes, ...]]] = [([], (margin,))]
        for symbol in body:
            mark = marks.get(symbol)
            if mark is not None and mark.kind == "indented":
                ways = [([*made], (*margins, margins[-1] + step)) for made, margins in ways for step in STEPS]
                continue
            if mark is not None and mark.kind == "dedented":
                ways = [(made, margins[:-1]) for made, margins in ways]
                continue
            for made, margins in ways:
                if mark is None:
                    made.append(self._symbol(symbol, margins[-1]))
                elif mark.refused is not None:
                    made.append(self._lookaheads[mark.refused])
                elif margins[-1]:
                    made.append(self._literal(margins[-1]))
        return [made for made, _ in ways]

    def _symbol(self, symbol: int, margin: bytes) -> Symbol:
        if symbol < 0:
            return self._terminals.regexes[terminal_number(symbol)]
        return Lazy((symbol, margin if symbol in self._indented else _NO_MARGIN))

    def _literal(self, margin: bytes) -> rx.Regex:
        found = self._literals.get(margin)
        if found is None:
            found = self._literals[margin] = rx.Literal(margin)
        return found

    def after(self, then: Hashable, text: bytes | None) -> Hashable | None:
        """Of captures, which there are none of."""
        raise NotImplementedError

    def refusals(self, then: Hashable, begun: bytes) -> tuple[Sequence[Spelling], Sequence[Spelling]]:
        """The same."""
        raise NotImplementedError

    def remaining(self, then: Hashable) -> rx.Regex:
        """The same."""
        raise NotImplementedError

    def words(self, key: Any, body: Sequence[Symbol | Lookahead], at: int) -> tuple[str, str]:
        """Return no words: the engine shows the terminal itself."""
        return "", ""

    def location(self, key: Any, body: Sequence[Symbol | Lookahead], at: int) -> str:
        """Return the name of a nonterminal's rule."""
        name: str = self._names[key[0]]
        return name


def _reaching_marks(productions: Productions) -> set[int]:
    """The nonterminals whose texts depend on the margin."""
    margins = {symbol for symbol, mark in productions.terminals.marks.items() if mark.refused is None}
    users: dict[int, list[int]] = {}
    found: set[int] = set()
    for head, alternatives in enumerate(productions.bodies):
        for body in alternatives:
            if not margins.isdisjoint(body):
                found.add(head)
            for symbol in body:
                if symbol >= 0:
                    users.setdefault(symbol, []).append(head)
    pending = list(found)
    while pending:
        for head in users.get(pending.pop(), ()):
            if head not in found:
                found.add(head)
                pending.append(head)
    return found
