"""The working form of the normal form's passes: bodies as tuples of numbers, terminals in a table.

A symbol >= 0 is a nonterminal, a symbol <= -2 a terminal, as in `engine.grammar`:

    list ::= item more | item        bodies[1] == [(2, 5), (2,)]      names[1] == "list"
    item ::= '0' | '1'               bodies[2] == [(-4,), (-5,)]      terminals.data[2] == b"0"

Each pass takes `Productions` and returns new ones; none changes its argument, except that the table of terminals may
grow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from structgen.engine.grammar.composition import has_text
from structgen.engine.grammar.tables import GrammarTables, terminal_number, terminal_symbol
from structgen.engine.regex import tree as rx
from structgen.engine.regex.unicode_classes import union_of
from structgen.engine.vocabulary.marks import Ranges, marks_regex
from structgen.errors import GrammarError
from structgen.kbnf.regex_facts import survey, text_units, without_empty

__all__ = ["Body", "Mark", "Productions", "TablesOf", "TerminalTable"]

Body = tuple[int, ...]

TablesOf = Callable[[object], GrammarTables]
"""Returns the tables of what fills a hole, given `ast.Hole.content`."""


@dataclass(slots=True)
class Productions:
    """A grammar between two passes.

    Attributes:
        bodies: for each nonterminal its bodies; `()` is the empty text. The lists and their order carry no meaning.
        names: for each nonterminal the rule that it was made for, for messages; several may have the same.
        start: the start nonterminal.
        terminals: the terminals that the bodies use; it may hold more.
        non_empty: nonterminals that do not derive the empty text, even where their bodies would.
    """

    bodies: list[list[Body]]
    names: list[str]
    start: int
    terminals: TerminalTable
    non_empty: frozenset[int] = frozenset()

    def with_bodies(self, bodies: list[list[Body]]) -> Productions:
        """Return the same nonterminals with other bodies."""
        return Productions(bodies, self.names, self.start, self.terminals, self.non_empty)


@dataclass(frozen=True, slots=True)
class Mark:
    """An element of a body that is neither a nonterminal nor a terminal.

    Attributes:
        kind: "lookahead", "margin", or "indented" and "dedented", which enclose a block.
        refused: the characters that a look-ahead refuses, else None.
    """

    kind: str
    refused: rx.Regex | None = None


class _Facts:
    """Facts of a regex, computed once.

    Attributes:
        regex: the regex itself; held, so that no other object gets its `id`.
        number: a number that equal regexes share.
        nullable: whether it matches the empty text.
        stripped, stripped_number: the regex without the empty text, and the number of that.
        can_match: whether `stripped` matches anything; None until it is known, where the tree does not tell.
        is_large: whether it holds so many texts that it should not be kept in memory.
    """

    __slots__ = ("can_match", "is_large", "nullable", "number", "regex", "stripped", "stripped_number")

    def __init__(self, regex: rx.Regex) -> None:
        nullable, self.can_match, key = survey(regex)
        self.is_large = text_units(regex) > 0
        self.regex = self.stripped = regex
        self.number = self.stripped_number = next(_next_number) if self.is_large else _number_of(key)
        self.nullable = nullable[id(regex)]
        if self.nullable:
            self.stripped = without_empty(regex)
            _, self.can_match, key = survey(self.stripped)
            self.stripped_number = next(_next_number) if self.is_large else _number_of(key)


# Facts by the identity of the regex. The translation of schemas uses the same objects for strings and numbers in every
# schema, and computing their facts costs more than the rest of the normal form. The tables are emptied when full. The
# numbers go on then, so that equal regexes before and after it have two numbers, which costs a terminal and nothing
# else. Regexes with many texts most likely belong to one request: they are not kept.
_FACTS: dict[int, _Facts] = {}
_NUMBERS: dict[tuple[object, ...], int] = {}
_MAX_FACTS = 2048
_next_number = count()


def _number_of(key: tuple[object, ...]) -> int:
    number = _NUMBERS.get(key)
    if number is None:
        number = _NUMBERS[key] = next(_next_number)
    return number


def _facts_of(regex: rx.Regex) -> _Facts:
    facts = _FACTS.get(id(regex))
    if facts is None or facts.regex is not regex:
        if len(_FACTS) >= _MAX_FACTS:
            _FACTS.clear()
            _NUMBERS.clear()
        facts = _Facts(regex)
        if not facts.is_large:
            _FACTS[id(regex)] = facts
    return facts


class TerminalTable:
    """The terminals of one grammar: equal terminals have one number, and none matches the empty text.

    Args:
        is_empty: returns whether a regex matches nothing; called only where its tree does not tell.
        tables_of: returns the tables of what fills a hole. None: the grammar must have no holes.

    Attributes:
        regexes: the regex of each terminal, by number.
        data: the bytes of each terminal that is a literal, else None; by number.
        marks: the marks, by symbol. A mark has the symbol of a terminal, so that the passes need not know of it.
        holes: the tables of what fills the holes, by symbol; these, too, are symbols of terminals.
    """

    def __init__(self, is_empty: Callable[[rx.Regex], bool], tables_of: TablesOf | None = None) -> None:
        self.regexes: list[rx.Regex] = []
        self.data: list[bytes | None] = []
        self.marks: dict[int, Mark] = {}
        self.holes: dict[int, GrammarTables] = {}
        self.is_empty = is_empty
        self._tables_of = tables_of
        self._contents: dict[int, tuple[int | None, bool]] = {}  # by id: the tree holds them
        self._literals: dict[bytes, int] = {}
        # Keys are the numbers of facts; for sequences tuples of their parts, as bytes or numbers of facts.
        self._others: dict[int | tuple[bytes | int, ...], int] = {}
        self._tokens: dict[Ranges, int] = {}
        self._symbol_of_mark: dict[Mark, int] = {}

    def literal(self, data: bytes) -> int:
        """Return the symbol of a non-empty literal."""
        symbol = self._literals.get(data)
        if symbol is None:
            symbol = self._literals[data] = terminal_symbol(len(self.regexes))
            self.regexes.append(rx.Literal(data))
            self.data.append(data)
        return symbol

    def token(self, ids: Ranges) -> int:
        """Return the symbol of a token terminal. It is never joined with a literal, nor united with one."""
        symbol = self._tokens.get(ids)
        if symbol is None:
            symbol = self._tokens[ids] = terminal_symbol(len(self.regexes))
            self.regexes.append(marks_regex(ids))
            self.data.append(None)
        return symbol

    @property
    def token_ids(self) -> Ranges:
        """The ids of all token terminals."""
        return union_of([part for ids in self._tokens for part in ids])

    def mark(self, mark: Mark) -> int:
        """Return the symbol of a mark."""
        symbol = self._symbol_of_mark.get(mark)
        if symbol is None:
            symbol = self._symbol_of_mark[mark] = terminal_symbol(len(self.regexes))
            self.regexes.append(rx.NOTHING)  # keeps the numbering
            self.data.append(None)
            self.marks[symbol] = mark
        return symbol

    def hole(self, content: object) -> tuple[int | None, bool]:
        """Return the symbol of a hole without the empty text, and whether the hole has the empty text.

        The symbol is None if the hole has no other text.

        Raises:
            GrammarError: the grammar must not have holes here.
        """
        found = self._contents.get(id(content))
        if found is None:
            if self._tables_of is None:
                raise GrammarError("a grammar with a bound nonterminal cannot be used here")
            tables = self._tables_of(content)
            symbol = None
            if has_text(tables):
                symbol = terminal_symbol(len(self.regexes))
                self.regexes.append(rx.NOTHING)  # keeps the numbering
                self.data.append(None)
                self.holes[symbol] = tables
            found = self._contents[id(content)] = (symbol, tables.accepts_empty)
        return found

    def regex(self, regex: rx.Regex) -> tuple[int | None, bool]:
        """Return the symbol of a regex without the empty text, and whether the regex is nullable.

        Returns:
            The symbol, None if the regex matches no text other than the empty one; and whether it matches that.
        """
        if type(regex) is rx.Sequence:
            key, matches = self._sequence_key(regex)
            if key is not None:
                return (self._add(key, regex) if matches else None), False
        facts = _facts_of(regex)
        stripped = facts.stripped
        if isinstance(stripped, rx.Literal) and stripped.data:
            return self.literal(stripped.data), facts.nullable
        return (self._add(facts.stripped_number, stripped) if self._matches(facts) else None), facts.nullable

    def _add(self, key: int | tuple[bytes | int, ...], regex: rx.Regex) -> int:
        symbol = self._others.get(key)
        if symbol is None:
            symbol = self._others[key] = terminal_symbol(len(self.regexes))
            self.regexes.append(regex)
            self.data.append(None)
        return symbol

    def _matches(self, facts: _Facts) -> bool:
        """Return whether there is a text other than the empty one."""
        if facts.can_match is None:
            facts.can_match = not self.is_empty(facts.stripped)
        return facts.can_match

    def _sequence_key(self, regex: rx.Sequence) -> tuple[tuple[bytes | int, ...] | None, bool]:
        """Return a key that equal sequences share, and whether the sequence matches anything.

        The keys of a schema's objects are such sequences. They are new objects in every translation, but their parts
        are the same objects, so a key made of the parts is much less work than a walk of the whole tree.

        Returns:
            The key, None if the sequence may match the empty text or holds another sequence; and whether it matches.
        """
        key: list[bytes | int] = []
        has_literal, matches = False, True
        for part in regex.parts:
            kind = type(part)
            if kind is rx.Literal:
                key.append(part.data)  # type: ignore[union-attr]
                has_literal = has_literal or part.data != b""  # type: ignore[union-attr]
            elif kind is rx.Sequence:
                return None, False
            else:
                facts = _FACTS.get(id(part))
                if facts is None or facts.regex is not part:
                    facts = _facts_of(part)
                key.append(facts.number)
                matches = matches and (facts.nullable or facts.can_match or self._matches(facts))
        return tuple(key) if has_literal else None, matches

    def literal_data(self, symbol: int) -> bytes | None:
        """Return the bytes of a literal terminal; None for any other symbol."""
        return self.data[terminal_number(symbol)] if symbol < 0 else None
