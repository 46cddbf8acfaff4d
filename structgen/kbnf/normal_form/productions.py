"""The working form of the normal form's passes: bodies as tuples of numbers, terminals in a table.

A symbol >= 0 is a nonterminal, a symbol <= -2 a terminal, as in `engine.grammar`. Each pass takes `Productions` and
gives new ones; none changes what it was given, except that the table of terminals may grow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from structgen.engine.grammar.tables import terminal_number, terminal_symbol
from structgen.engine.regex import tree as rx
from structgen.kbnf.regex_facts import survey, text_units, without_empty

__all__ = ["Body", "Mark", "Productions", "TerminalTable"]

Body = tuple[int, ...]


@dataclass(slots=True)
class Productions:
    """A grammar between two passes.

    Attributes:
        bodies: for each nonterminal its bodies; `()` is the empty text. The lists and their order carry no meaning.
        names: for each nonterminal the rule that it comes from, for messages; several may have the same.
        start: the start nonterminal.
        terminals: the terminals that the bodies use; it may hold more.
    """

    bodies: list[list[Body]]
    names: list[str]
    start: int
    terminals: TerminalTable

    def with_bodies(self, bodies: list[list[Body]]) -> Productions:
        """The same nonterminals with other bodies."""
        return Productions(bodies, self.names, self.start, self.terminals)


@dataclass(frozen=True, slots=True)
class Mark:
    """What stands in a body besides symbols.

    Attributes:
        kind: "lookahead", "margin", or "indented" and "dedented" around what is between them.
        refused: of a look-ahead, the characters.
    """

    kind: str
    refused: rx.Regex | None = None


class _Facts:
    """What is known of a regex once and for all.

    Attributes:
        regex: the regex itself; held, so that its `id` stays its own.
        number: the same for equal regexes, another for others.
        nullable: whether it matches the empty text.
        stripped, stripped_number: what else it matches, and the number of that.
        can_match: whether `stripped` matches anything; None when the tree does not tell and nobody has searched.
        is_large: whether it holds so many texts that nothing should keep it.
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


# Regexes by identity: the translation of schemas uses the same objects for strings and numbers in every schema, and
# computing their facts costs more than the rest of the normal form. Emptied when full; the numbers go on, so that
# equal regexes that were met before and after it have two, which costs a terminal and nothing else. So have those that
# hold many texts, which most likely are of one request, and are not kept.
_FACTS: dict[int, _Facts] = {}
_NUMBERS: dict[tuple[object, ...], int] = {}
_FACTS_KEPT = 2048
_next_number = count()


def _number_of(key: tuple[object, ...]) -> int:
    number = _NUMBERS.get(key)
    if number is None:
        number = _NUMBERS[key] = next(_next_number)
    return number


def _facts_of(regex: rx.Regex) -> _Facts:
    facts = _FACTS.get(id(regex))
    if facts is None or facts.regex is not regex:
        if len(_FACTS) >= _FACTS_KEPT:
            _FACTS.clear()
            _NUMBERS.clear()
        facts = _Facts(regex)
        if not facts.is_large:
            _FACTS[id(regex)] = facts
    return facts


class TerminalTable:
    """The terminals of one grammar: equal ones have one number, and none matches the empty text.

    Args:
        is_empty: whether a regex matches nothing; asked only where its tree does not tell.

    Attributes:
        regexes: by number.
        data: by number, the bytes of a terminal that is a literal, else None.
        marks: by symbol, what terminals stand for that are none, but take part in the passes as if they were.
    """

    def __init__(self, is_empty: Callable[[rx.Regex], bool]) -> None:
        self.regexes: list[rx.Regex] = []
        self.data: list[bytes | None] = []
        self.marks: dict[int, Mark] = {}
        self.is_empty = is_empty
        self._literals: dict[bytes, int] = {}
        # By the number of their facts, or for sequences by their parts: bytes, and numbers of facts.
        self._others: dict[int | tuple[bytes | int, ...], int] = {}

    def literal(self, data: bytes) -> int:
        """The symbol of a literal that is not empty."""
        symbol = self._literals.get(data)
        if symbol is None:
            symbol = self._literals[data] = terminal_symbol(len(self.regexes))
            self.regexes.append(rx.Literal(data))
            self.data.append(data)
        return symbol

    def mark(self, mark: Mark) -> int:
        """The symbol of a mark."""
        for symbol, known in self.marks.items():
            if known == mark:
                return symbol
        symbol = terminal_symbol(len(self.regexes))
        self.regexes.append(rx.NOTHING)  # its place
        self.data.append(None)
        self.marks[symbol] = mark
        return symbol

    def regex(self, regex: rx.Regex) -> tuple[int | None, bool]:
        """The symbol of what the regex matches besides the empty text, None when that is nothing; whether it matches
        the empty text too.
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
        """Whether there is a text besides the empty one."""
        if facts.can_match is None:
            facts.can_match = not self.is_empty(facts.stripped)
        return facts.can_match

    def _sequence_key(self, regex: rx.Sequence) -> tuple[tuple[bytes | int, ...] | None, bool]:
        """A sequence by value, out of its parts (None when it may match the empty text, or nests); whether it matches
        anything.

        A schema's keys are such sequences, new objects in every translation, of parts that are the same objects: this
        is much less work than looking at the whole tree.
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
        """The bytes of a symbol that is a literal terminal, else None."""
        return self.data[terminal_number(symbol)] if symbol < 0 else None
