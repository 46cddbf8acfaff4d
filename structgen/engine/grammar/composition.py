"""Grammars put together: one after the other, or one again and again. Each stays as it is, made as a text leads to it;
or one with other terminals.

The bodies of a static grammar are read off its tables, those of lazy nonterminals asked of their own source; keys and
look-aheads are those of the part, with its number beside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Hashable, Sequence
from itertools import count
from typing import Any

from structgen.engine.grammar.tables import (
    END,
    Capture,
    GrammarTables,
    Lazy,
    Lookahead,
    RuleSource,
    Spelling,
    Symbol,
    terminal_number,
)
from structgen.engine.regex.tree import Literal, Regex

__all__ = [
    "OWN",
    "ComposedRules",
    "composed",
    "concatenation",
    "has_text",
    "repetition",
    "with_terminals",
    "without_text",
]

_Bodies = Sequence[Sequence[Symbol | Lookahead]]
OWN = -1  # the number that keys of the composition have in the place of a part's


def concatenation(parts: Sequence[GrammarTables | bytes]) -> GrammarTables:
    """A text of each part, one after the other; bytes stand for themselves."""
    return composed(_Concatenation(parts), all(map(_may_be_empty, parts)))


def repetition(item: GrammarTables, separator: bytes, least: int, most: int | None) -> GrammarTables:
    """Between `least` and `most` texts of a grammar, none of them empty, with a separator between them; another one
    may stand at the end.
    """
    return composed(_Repetition(item, separator, least, most), least == 0)


def with_terminals(tables: GrammarTables, change: Callable[[Regex], Regex]) -> GrammarTables:
    """A grammar with other terminals, each in the place of one. A body with one that matches nothing is dropped."""
    return composed(_WithTerminals(tables, change), tables.accepts_empty)


def without_text(accepts_empty: bool) -> GrammarTables:
    """A grammar without a text, but for the empty one."""
    nothing = array("i")
    return GrammarTables(nothing, array("i", [0, 0]), nothing, (), ("start",), 0, accepts_empty)


def composed(source: ComposedRules, accepts_empty: bool) -> GrammarTables:
    """The tables of a composition."""
    return GrammarTables(
        symbols=array("i", [1, END]),
        first_rule=array("i", [0, 1]),
        rule_starts=array("i", [0]),
        terminals=(),
        names=("start",),
        start=0,
        accepts_empty=accepts_empty,
        lazy=((OWN, source.start),),
        source=source,
        describer=source,
        lookaheads=source.lookaheads,
        text_units=sum([tables.text_units for tables in source.grammars]),
    )


class ComposedRules(ABC):
    """The `RuleSource` and `Describer` of a composition of grammars.

    Args:
        grammars: the parts, by number.

    Attributes:
        start: the place that the whole begins at.
        grammars: the parts.
        sources: what makes their rules.
        lookaheads: see `GrammarTables`.
    """

    start: Hashable = 0

    def __init__(self, grammars: Sequence[GrammarTables]) -> None:
        self.grammars = grammars
        self._first_lookahead: list[int] = []
        self.sources = [tables.source for tables in grammars]
        self.lookaheads: tuple[Regex, ...] = ()
        for tables in grammars:
            self._first_lookahead.append(len(self.lookaheads))
            self.lookaheads += tables.lookaheads

    @abstractmethod
    def own_bodies(self, place: Any) -> _Bodies:
        """What stands around the parts."""

    def whole(self, part: int) -> Symbol:
        """What derives the texts of a part, but for the empty one."""
        return Lazy((part, self.grammars[part].start))

    def bodies(self, key: Any) -> _Bodies:
        """See `RuleSource`. An integer is a nonterminal of a part's tables."""
        part, inner = key
        if part == OWN:
            return self.own_bodies(inner)
        if isinstance(inner, int):
            return self._written(part, inner)
        return [self._all_taken(part, body) for body in self._source(part).bodies(inner)]

    def is_written(self, key: Any) -> bool:
        """Whether a nonterminal stands in tables, or around parts: there are not more of these than were given."""
        part, inner = key
        if part == OWN or isinstance(inner, int):
            return True
        source = self.sources[part]
        return isinstance(source, ComposedRules) and source.is_written(inner)

    def _written(self, part: int, nonterminal: int) -> _Bodies:
        """The bodies of a nonterminal that stands in the tables of a part."""
        tables = self.grammars[part]
        rules = range(tables.first_rule[nonterminal], tables.first_rule[nonterminal + 1])
        return [self._body(part, tables, tables.rule_starts[rule]) for rule in rules]

    def _body(self, part: int, tables: GrammarTables, at: int) -> list[Symbol | Lookahead]:
        body: list[Symbol | Lookahead] = []
        written = len(tables.first_rule) - 1
        while True:
            if tables.before and tables.before[at]:
                body.append(Lookahead(self._first_lookahead[part] + tables.before[at]))
            symbol = tables.symbols[at]
            if symbol == END:
                return body
            if symbol < 0:
                body.append(self._taken(part, tables.terminals[terminal_number(symbol)]))
            else:
                body.append(Lazy((part, symbol if symbol < written else tables.lazy[symbol - written])))
            at += 1

    def _taken(self, part: int, symbol: Symbol | Lookahead) -> Symbol | Lookahead:
        """A symbol of a part's source, with the part's number."""
        if isinstance(symbol, Lazy):
            return Lazy((part, symbol.key))
        if isinstance(symbol, Lookahead):
            return Lookahead(self._first_lookahead[part] + symbol.number)
        if isinstance(symbol, Capture):
            of = Lazy((part, symbol.of.key)) if isinstance(symbol.of, Lazy) else symbol.of
            return Capture(of, (part, symbol.then), symbol.endless, symbol.refuses)
        return symbol

    def _source(self, part: int) -> RuleSource:
        source = self.sources[part]
        if source is None:
            raise ValueError(f"part {part} has no lazy nonterminals")
        return source

    def after(self, then: Any, text: bytes | None) -> Hashable | None:
        """See `RuleSource`."""
        part, inner = then
        after = self._source(part).after(inner, text)
        return None if after is None else (part, after)

    def refusals(self, then: Any, begun: bytes) -> tuple[Sequence[Spelling], Sequence[Spelling]]:
        """See `RuleSource`."""
        return self._source(then[0]).refusals(then[1], begun)

    def remaining(self, then: Any) -> Regex:
        """See `RuleSource`."""
        return self._source(then[0]).remaining(then[1])

    def words(self, key: Any, body: Sequence[Symbol | Lookahead], at: int) -> tuple[str, str]:
        """Describe a symbol of a part's lazy nonterminal; see `Describer`."""
        original = self._original(key, body)
        describer = None if original is None else self.grammars[key[0]].describer
        return ("", "") if original is None or describer is None else describer.words(key[1], original, at)

    def location(self, key: Any, body: Sequence[Symbol | Lookahead], at: int) -> str | None:
        """Return the location that a part's describer knows; see `Describer`."""
        original = self._original(key, body)
        describer = None if original is None else self.grammars[key[0]].describer
        return "" if original is None or describer is None else describer.location(key[1], original, at)

    def _original(self, key: Any, body: Sequence[Symbol | Lookahead]) -> Sequence[Symbol | Lookahead] | None:
        """A body as a part's source has made it; None for what was not made by one."""
        part, inner = key
        if part == OWN or isinstance(inner, int):
            return None
        originals = self._source(part).bodies(inner)
        return next((one for one in originals if _are_same(self._all_taken(part, one), body)), None)

    def _all_taken(self, part: int, body: Sequence[Symbol | Lookahead]) -> list[Symbol | Lookahead]:
        return [self._taken(part, symbol) for symbol in body]


class _Concatenation(ComposedRules):
    """The parts one after the other; place n is what is left from the nth on."""

    def __init__(self, parts: Sequence[GrammarTables | bytes]) -> None:
        super().__init__([part for part in parts if not isinstance(part, bytes)])
        numbers = count()
        self._symbols = [Literal(part) if isinstance(part, bytes) else self.whole(next(numbers)) for part in parts]
        self._has_text = [part != b"" if isinstance(part, bytes) else has_text(part) for part in parts]
        self._may_be_empty = list(map(_may_be_empty, parts))

    def own_bodies(self, place: Any) -> _Bodies:
        """See `ComposedRules`: what begins with the first part that is not empty."""
        found: list[list[Symbol]] = []
        for at in range(place, len(self._symbols)):
            if self._has_text[at]:
                if any(self._has_text[at + 1 :]):
                    found.append([self._symbols[at], Lazy((OWN, at + 1))])
                if all(self._may_be_empty[at + 1 :]):
                    found.append([self._symbols[at]])
            if not self._may_be_empty[at]:
                break
        return found


class _Repetition(ComposedRules):
    """One part again and again; places are "item", before one, and "then", behind one, with how many were written."""

    start = ("item", 0)

    def __init__(self, item: GrammarTables, separator: bytes, least: int, most: int | None) -> None:
        super().__init__([item])
        self._item = self.whole(0)
        self._separator = Literal(separator)
        self._least = least
        self._most = most

    def own_bodies(self, place: Any) -> _Bodies:
        """See `ComposedRules`."""
        kind, written = place
        first: Symbol = self._separator
        if kind == "item":
            first = self._item
            # Where there is no bound, nothing matters but whether there are enough.
            written = written + 1 if self._most is not None else min(written + 1, self._least)
        found: list[list[Symbol]] = [[first]] if written >= self._least else []
        if kind == "item":
            found.append([first, Lazy((OWN, ("then", written)))])
        elif self._most is None or written < self._most:
            found.append([first, Lazy((OWN, ("item", written)))])
        return found


class _WithTerminals(ComposedRules):
    """One part as it is, but for its terminals."""

    def __init__(self, tables: GrammarTables, change: Callable[[Regex], Regex]) -> None:
        super().__init__([tables])
        self._change = change

    def own_bodies(self, place: Any) -> _Bodies:
        """See `ComposedRules`."""
        return [[self.whole(0)]]

    def remaining(self, then: Any) -> Regex:
        """See `RuleSource`."""
        return self._change(super().remaining(then))

    def _taken(self, part: int, symbol: Symbol | Lookahead) -> Symbol | Lookahead:
        taken = super()._taken(part, symbol)
        if isinstance(taken, (Lazy, Lookahead)):
            return taken
        if not isinstance(taken, Capture):
            return self._change(taken)
        of = taken.of if isinstance(taken.of, Lazy) else self._change(taken.of)
        return Capture(of, taken.then, taken.endless, taken.refuses)


def _are_same(body: Sequence[Symbol | Lookahead], other: Sequence[Symbol | Lookahead]) -> bool:
    """Whether two bodies are one, made twice."""
    return len(body) == len(other) and all(map(_is_same, body, other))


def _is_same(symbol: Symbol | Lookahead, other: Symbol | Lookahead) -> bool:
    if isinstance(symbol, Lazy) and isinstance(other, Lazy):
        return symbol.key == other.key
    if isinstance(symbol, Lookahead) and isinstance(other, Lookahead):
        return symbol.number == other.number
    if isinstance(symbol, Capture) and isinstance(other, Capture):
        return symbol.then == other.then and _is_same(symbol.of, other.of)
    return symbol == other


def _may_be_empty(part: GrammarTables | bytes) -> bool:
    return part == b"" if isinstance(part, bytes) else part.accepts_empty


def has_text(tables: GrammarTables) -> bool:
    """Whether a grammar derives a text besides the empty one: it has a body then."""
    return tables.first_rule[tables.start] < tables.first_rule[tables.start + 1]
