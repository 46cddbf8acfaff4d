"""Rules of grammars with `margin!` and `indented!(…)`, made for each indentation when the engine predicts them.

All lines of an indented block begin with the same white space, of any width, which no context-free grammar can say. But
for one fixed margin a context-free rule can, and a text needs few margins. So a nonterminal is a pair of its number and
the current margin; `indented!(x)` is `x` with a wider margin, `margin!` is the margin itself:

    block ::= newline indented!(line+);          (block, "")   -> newline (line+, " ") | newline (line+, "  ") | …
    line  ::= margin! statement newline;         (line, "  ")  -> "  " statement newline

A body with several blocks would have a copy for each combination of their margins: 81 for two, half a million for six.
So in such a body, each block has a key of its own: the number, the margin and the part of the body within the block.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence
from typing import Any

from structgen.engine.deadlines import spend
from structgen.engine.grammar.tables import (
    END,
    GrammarTables,
    Lazy,
    Lookahead,
    Refusals,
    Symbol,
    terminal_number,
)
from structgen.engine.regex import tree as rx
from structgen.kbnf.normal_form.productions import Body, Productions

__all__ = ["STEPS", "IndentedRules", "indented_tables"]

STEPS = (*[b" " * width for width in range(1, 9)], b"\t")
"""The white space that one level of indentation may add to the margin."""

_NO_MARGIN = b""


def indented_tables(productions: Productions, *, accepts_empty: bool) -> GrammarTables:
    """Return the tables of a grammar whose rules depend on the margin (`passes.pack` makes all others)."""
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
        marks=productions.terminals.token_ids,
    )


class IndentedRules:
    """The `RuleSource` and `Describer` of a grammar with margins.

    A key is the number of a nonterminal and, where its texts depend on it, the margin; for a block in a body with
    several ones, the symbols of the block as well.

    Args:
        productions: the normal form, with its marks.

    Attributes:
        lookaheads: the sets of characters that look-aheads refuse, as in `GrammarTables`.
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
        """Return the bodies of a nonterminal at a margin, or those of a block in a body with several ones."""
        number, margin, *block = key
        if block:
            return [self._with_keys(number, block[0], margin + step) for step in STEPS]
        found: list[list[Symbol | Lookahead]] = []
        for body in self._bodies[number]:
            spend(len(body))
            is_single = sum(self._kind(symbol) == "indented" for symbol in body) < 2
            found += self._made(body, margin) if is_single else [self._with_keys(number, body, margin)]
        return found

    def _kind(self, symbol: int) -> str:
        """Return the kind of a mark; "" for other symbols."""
        mark = self._terminals.marks.get(symbol)
        return "" if mark is None else mark.kind

    def _with_keys(self, number: int, body: Body, margin: bytes) -> list[Symbol | Lookahead]:
        """Return a body at a margin, with a key for each block that has a text."""
        made: list[Symbol | Lookahead] = []
        kinds = [self._kind(symbol) for symbol in body]
        at = 0
        while at < len(body):
            if kinds[at] == "indented":
                end = _end_of_block(kinds, at)
                if any(kind in ("", "margin") for kind in kinds[at:end]):
                    made.append(Lazy((number, margin, body[at + 1 : end])))
                    at = end
            elif kinds[at] != "dedented":
                made += self._made(body[at : at + 1], margin)[0]
            at += 1
        return made

    def _made(self, body: Body, margin: bytes) -> list[list[Symbol | Lookahead]]:
        """Return a body at a margin: one copy for each combination of steps that its blocks may be indented by."""
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
        """Not called: KBNF has no captured texts."""
        raise NotImplementedError

    def refusals(self, then: Hashable, begun: bytes) -> Refusals:
        """Not called: KBNF has no captured texts."""
        raise NotImplementedError

    def forget(self) -> None:
        """Drop nothing: nothing is computed for written texts."""

    def least_bytes(self, key: Hashable) -> int:
        """Return 1: nothing more is known. See `RuleSource`."""
        return 1

    def remaining(self, then: Hashable, least: int) -> rx.Regex:
        """Not called: KBNF has no captured texts."""
        raise NotImplementedError

    def words(self, key: Any, body: Sequence[Symbol | Lookahead], at: int) -> tuple[str, str]:
        """Return no words: the engine shows the terminal itself."""
        return "", ""

    def location(self, key: Any, body: Sequence[Symbol | Lookahead], at: int) -> str:
        """Return the name of a nonterminal's rule."""
        name: str = self._names[key[0]]
        return name


def _end_of_block(kinds: list[str], at: int) -> int:
    """Return the position of the end of the block that begins at a position, given the kinds of marks."""
    depth = 0
    for end in range(at, len(kinds)):
        depth += (kinds[end] == "indented") - (kinds[end] == "dedented")
        if not depth:
            return end
    raise ValueError("a block has no end")


def _reaching_marks(productions: Productions) -> set[int]:
    """Return the nonterminals whose texts depend on the margin."""
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
