"""Compositions of grammars: one after the other, one repeated, or one with other terminals.

No tables are copied. A composition is a grammar with one lazy nonterminal and a source of bodies, which takes them from
the parts when they are predicted: from the tables of a part that was written down, or from the source of a part.

    concatenation([b"a = ", NUMBER])     key              body
                                         (OWN, 0)         b"a = "  (OWN, 1)
                                         (OWN, 1)         (0, start of NUMBER)
                                         (0, key or nonterminal of NUMBER)    the body in NUMBER, with 0 beside its keys

A key is a pair: the number of the part, and a key or nonterminal of that part. OWN stands for the composition itself.

A grammar that was written down may also have other grammars in it (`with_parts`): its tables stay as they are, and the
nonterminals of the others are lazy.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from structgen.engine.grammar.changed_terminals import ChangedTerminals, are_same
from structgen.engine.grammar.tables import (
    END,
    Capture,
    GrammarTables,
    Lazy,
    Lookahead,
    Refusals,
    RuleSource,
    Symbol,
    terminal_number,
)
from structgen.engine.regex.tree import Literal, Regex
from structgen.engine.regex.unicode_classes import union_of
from structgen.engine.vocabulary.marks import without_marks

__all__ = [
    "OWN",
    "ComposedRules",
    "composed",
    "concatenation",
    "counts_tokens",
    "has_temperatures",
    "has_text",
    "repetition",
    "with_parts",
    "with_terminals",
]

_Bodies = Sequence[Sequence[Symbol | Lookahead]]
_MAX_KNOWN = 2048  # regexes whose form without marks is kept
OWN = -1  # in keys of the composition itself, in place of the number of a part


def concatenation(parts: Sequence[GrammarTables | bytes]) -> GrammarTables:
    """Return the grammar of a text of each part, one after the other. Bytes stand for themselves."""
    return composed(_Concatenation(parts), all(map(_may_be_empty, parts)))


def repetition(item: GrammarTables, separator: bytes, least: int, most: int | None) -> GrammarTables:
    """Return the grammar of `least` to `most` texts of a grammar, none of them empty.

    A separator stands between two of them, and may stand at the end.

    Args:
        item: the grammar.
        separator: the bytes between two texts.
        least: the number of texts at least.
        most: the number of texts at most; None for any number.
    """
    return composed(_Repetition(item, separator, least, most), least == 0)


def with_parts(tables: GrammarTables, parts: Sequence[GrammarTables]) -> GrammarTables:
    """Return a written grammar with other grammars in it.

    Args:
        tables: the grammar, without lazy nonterminals. Where a symbol is the number of its nonterminals plus n, a text
            of part n stands, but not the empty one.
        parts: the others. Each has a text besides the empty one.
    """
    if tables.marks and not any(part.marks for part in parts):
        parts = _text_only(parts)
    elif not tables.marks and any(part.marks for part in parts):
        tables = replace(tables, terminals=tuple(map(without_marks, tables.terminals)))
    source = _Parts(parts, len(tables.lookaheads))
    return replace(
        tables,
        marks=union_of([*tables.marks, *(ids for part in parts for ids in part.marks)]),
        lazy=tuple([(number, part.start) for number, part in enumerate(parts)]),
        source=source,
        describer=source,
        lookaheads=tables.lookaheads + source.lookaheads,
        text_units=tables.text_units + sum([part.text_units for part in parts]),
    )


def with_terminals(tables: GrammarTables, change: Callable[[Regex], Regex]) -> GrammarTables:
    """Return a grammar with each terminal replaced. A body with a terminal that matches nothing is dropped."""
    if tables.source is not None and not tables.terminals and not isinstance(tables.source, ComposedRules):
        changed = ChangedTerminals(tables, change)
        return replace(tables, source=changed, describer=changed)
    return composed(_WithTerminals(tables, change), tables.accepts_empty)


def composed(source: ComposedRules, accepts_empty: bool) -> GrammarTables:
    """Return the tables of a composition.

    Where one of its parts has token terminals, the texts of the others have no marks, either.
    """
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
        marks=union_of([part for tables in source.grammars for part in tables.marks]),
    )


class ComposedRules:
    """The `RuleSource` and `Describer` of a composition: it takes its bodies from some grammars, the parts.

    It is no `ABC`: each compile asks several times whether its rules are composed, and of an `ABC` that takes longer.

    Args:
        grammars: the parts, by number.
        lookaheads_before: the number of look-aheads that the composition itself has.

    Attributes:
        start: the key of the composition's start, within OWN.
        grammars: the parts.
        sources: the sources of their bodies.
        lookaheads: the look-aheads of all parts, one after another; see `GrammarTables`.
    """

    start: Hashable = 0

    def __init__(self, grammars: Sequence[GrammarTables], lookaheads_before: int = 0) -> None:
        if any(tables.marks for tables in grammars):
            grammars = _text_only(grammars)
        self.grammars = grammars
        self._first_lookahead: list[int] = []
        self.sources = [tables.source for tables in grammars]
        self.lookaheads: tuple[Regex, ...] = ()
        for tables in grammars:
            self._first_lookahead.append(lookaheads_before + len(self.lookaheads))
            self.lookaheads += tables.lookaheads

    def own_bodies(self, key: Any) -> _Bodies:
        """Return the bodies of a nonterminal of the composition itself. Each composition has its own method."""
        raise NotImplementedError

    def whole(self, part: int) -> Symbol:
        """Return the symbol that derives the texts of a part, without the empty one."""
        return Lazy((part, self.grammars[part].start))

    def bodies(self, key: Any) -> _Bodies:
        """Return the bodies of a nonterminal; see `RuleSource`. An integer is a nonterminal of a part's tables."""
        part, inner = key
        if part == OWN:
            return self.own_bodies(inner)
        if isinstance(inner, int):
            return self._written(part, inner)
        return [self._all_of_part(part, body) for body in self._source(part).bodies(inner)]

    @property
    def has_temperatures(self) -> bool:
        """Whether a part, or a part of a part, has a temperature of sampling."""
        return any(tables.temperature is not None or has_temperatures(tables) for tables in self.grammars)

    def temperature(self, key: Any) -> float | None:
        """Return the temperature of sampling in the texts of a nonterminal; that of the innermost part counts."""
        part, inner = key
        if part == OWN:
            return None
        source = self.sources[part]
        found = None
        if isinstance(source, ComposedRules) and not isinstance(inner, int):
            found = source.temperature(inner)
        own: float | None = self.grammars[part].temperature
        return own if found is None else found

    @property
    def counts_tokens(self) -> bool:
        """Whether a part, or a part of a part, has a bound on its tokens."""
        return any(tables.max_tokens > 0 or counts_tokens(tables) for tables in self.grammars)

    def max_tokens(self, key: Any) -> int:
        """Return the bound on the tokens of a nonterminal's texts; 0 for none."""
        part, inner = key
        if part == OWN:
            return 0
        source = self.sources[part]
        if isinstance(source, ComposedRules) and not isinstance(inner, int):
            return source.max_tokens(inner)
        own: int = self.grammars[part].max_tokens
        return own

    def is_written(self, key: Any) -> bool:
        """Return whether a nonterminal was written down: in tables, or by a composition. These are few."""
        part, inner = key
        if part == OWN or isinstance(inner, int):
            return True
        source = self.sources[part]
        return isinstance(source, ComposedRules) and source.is_written(inner)

    def _written(self, part: int, nonterminal: int) -> _Bodies:
        """Return the bodies of a nonterminal in the tables of a part."""
        tables = self.grammars[part]
        rules = range(tables.first_rule[nonterminal], tables.first_rule[nonterminal + 1])
        return [self._body(part, tables, tables.rule_starts[rule]) for rule in rules]

    def _body(self, part: int, tables: GrammarTables, at: int) -> list[Symbol | Lookahead]:
        """Return the body at a position in the tables of a part."""
        body: list[Symbol | Lookahead] = []
        written = len(tables.first_rule) - 1
        while True:
            if tables.before and tables.before[at]:
                body.append(Lookahead(self._first_lookahead[part] + tables.before[at]))
            symbol = tables.symbols[at]
            if symbol == END:
                return body
            if symbol < 0:
                body.append(self._of_part(part, tables.terminals[terminal_number(symbol)]))
            else:
                body.append(Lazy((part, symbol if symbol < written else tables.lazy[symbol - written])))
            at += 1

    def _of_part(self, part: int, symbol: Symbol | Lookahead) -> Symbol | Lookahead:
        """Return a symbol of a part as one of the composition: keys and look-aheads get the part's number."""
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
            raise ValueError(f"part {part} has no source of bodies")
        return source

    def after(self, then: Any, text: bytes | None) -> Hashable | None:
        """Return the key of what follows a capture; see `RuleSource`."""
        part, inner = then
        after = self._source(part).after(inner, text)
        return None if after is None else (part, after)

    def refusals(self, then: Any, begun: bytes) -> Refusals:
        """Return the rests of refused texts; see `RuleSource`."""
        return self._source(then[0]).refusals(then[1], begun)

    def least_bytes(self, key: Any) -> int:
        """Return a lower bound of the bytes of a nonterminal's texts. See `RuleSource`."""
        part, inner = key
        return 1 if part == OWN or isinstance(inner, int) else self._source(part).least_bytes(inner)

    def remaining(self, then: Any, least: int) -> Regex:
        """Return the terminal of a capture without refused texts; see `RuleSource`."""
        return self._source(then[0]).remaining(then[1], least)

    def forget(self) -> None:
        """Drop what was computed for written texts. See `RuleSource.forget`."""
        for source in self.sources:
            if source is not None:
                source.forget()

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
        """Return a body as the source of its part made it; None if no source made it."""
        part, inner = key
        if part == OWN or isinstance(inner, int):
            return None
        originals = self._source(part).bodies(inner)
        return next((one for one in originals if are_same(self._all_of_part(part, one), body)), None)

    def _all_of_part(self, part: int, body: Sequence[Symbol | Lookahead]) -> list[Symbol | Lookahead]:
        return [self._of_part(part, symbol) for symbol in body]


class _Concatenation(ComposedRules):
    """The parts one after the other. Key n is the rest from part n on."""

    def __init__(self, parts: Sequence[GrammarTables | bytes]) -> None:
        super().__init__([part for part in parts if not isinstance(part, bytes)])
        numbers = count()
        self._symbols = [Literal(part) if isinstance(part, bytes) else self.whole(next(numbers)) for part in parts]
        self._has_text = [part != b"" if isinstance(part, bytes) else has_text(part) for part in parts]
        self._may_be_empty = list(map(_may_be_empty, parts))

    def own_bodies(self, key: Any) -> _Bodies:
        """Return the bodies that begin with the first part that is not empty, for each choice of it."""
        found: list[list[Symbol]] = []
        for at in range(key, len(self._symbols)):
            if self._has_text[at]:
                if any(self._has_text[at + 1 :]):
                    found.append([self._symbols[at], Lazy((OWN, at + 1))])
                if all(self._may_be_empty[at + 1 :]):
                    found.append([self._symbols[at]])
            if not self._may_be_empty[at]:
                break
        return found


class _Repetition(ComposedRules):
    """The repetition of a part. A key is ("item", n) before an item or ("then", n) after one; n items are written."""

    start = ("item", 0)

    def __init__(self, item: GrammarTables, separator: bytes, least: int, most: int | None) -> None:
        super().__init__([item])
        self._item = self.whole(0)
        self._separator = Literal(separator)
        self._least = least
        self._most = most

    def own_bodies(self, key: Any) -> _Bodies:
        """Return the bodies before or after an item; see `ComposedRules`."""
        kind, written = key
        first: Symbol = self._separator
        if kind == "item":
            first = self._item
            # Without an upper bound it only matters whether there are enough.
            written = written + 1 if self._most is not None else min(written + 1, self._least)
        found: list[list[Symbol]] = [[first]] if written >= self._least else []
        if kind == "item":
            found.append([first, Lazy((OWN, ("then", written)))])
        elif self._most is None or written < self._most:
            found.append([first, Lazy((OWN, ("item", written)))])
        return found


class _Parts(ComposedRules):
    """The grammars within a written one, whose own rules are in its tables."""

    def own_bodies(self, key: Any) -> _Bodies:
        """Return none; see `ComposedRules`."""
        return ()


class _WithTerminals(ComposedRules):
    """The rules of a part with its terminals replaced."""

    def __init__(self, tables: GrammarTables, change: Callable[[Regex], Regex]) -> None:
        super().__init__([tables])
        self._change = change

    def own_bodies(self, key: Any) -> _Bodies:
        """Return the one body, the part; see `ComposedRules`."""
        return [[self.whole(0)]]

    def remaining(self, then: Any, least: int) -> Regex:
        """Return the terminal of a capture without refused texts, replaced; see `RuleSource`."""
        return self._change(super().remaining(then, least))

    def _of_part(self, part: int, symbol: Symbol | Lookahead) -> Symbol | Lookahead:
        changed = super()._of_part(part, symbol)
        if isinstance(changed, (Lazy, Lookahead)):
            return changed
        if not isinstance(changed, Capture):
            return self._change(changed)
        of = changed.of if isinstance(changed.of, Lazy) else self._change(changed.of)
        return Capture(of, changed.then, changed.endless, changed.refuses)


class _TextOnly:
    """`without_marks`, which looks at each regex once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Regex, Regex]] = {}

    def __call__(self, regex: Regex) -> Regex:
        known = self._known.get(id(regex))
        if known is None:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            known = self._known[id(regex)] = (regex, without_marks(regex))
        return known[1]


def _text_only(grammars: Sequence[GrammarTables]) -> list[GrammarTables]:
    """Return grammars in whose texts no marks are, but for those of their own token terminals."""
    found = []
    for tables in grammars:
        if _may_hold_marks(tables):
            text = with_terminals(tables, _TextOnly())
            tables = replace(text, temperature=tables.temperature, max_tokens=tables.max_tokens)
        found.append(tables)
    return found


def _may_hold_marks(tables: GrammarTables) -> bool:
    """Return whether a grammar without token terminals may have texts with the byte that begins a mark."""
    if tables.marks:
        return False
    return tables.source is not None or any(without_marks(regex) is not regex for regex in tables.terminals)


def _may_be_empty(part: GrammarTables | bytes) -> bool:
    return part == b"" if isinstance(part, bytes) else part.accepts_empty


def counts_tokens(tables: GrammarTables) -> bool:
    """Return whether a part of a grammar has a bound on its tokens."""
    return isinstance(tables.source, ComposedRules) and tables.source.counts_tokens


def has_temperatures(tables: GrammarTables) -> bool:
    """Return whether a part of a grammar has a temperature of sampling."""
    return isinstance(tables.source, ComposedRules) and tables.source.has_temperatures


def has_text(tables: GrammarTables) -> bool:
    """Return whether a grammar derives a text besides the empty one: then its start has a body."""
    return tables.first_rule[tables.start] < tables.first_rule[tables.start + 1]
