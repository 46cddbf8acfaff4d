"""The working form of the normal form's passes: bodies as tuples of numbers, terminals in a table.

A symbol >= 0 is a nonterminal, a symbol <= -2 a terminal, as in `engine.grammar`. Each pass takes `Productions` and
gives new ones; none changes what it was given, except that the table of terminals may grow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from structgen.engine import regex as rx
from structgen.engine.grammar import terminal_number, terminal_symbol
from structgen.kbnf.regex_facts import survey, without_empty

__all__ = ["Body", "Productions", "TerminalTable"]

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


class _Key:
    """A regex by value, as a flat tuple: its hash is computed once, and no deep tree makes it recurse."""

    __slots__ = ("_hash", "parts")

    def __init__(self, parts: tuple[object, ...]) -> None:
        self.parts = parts
        self._hash = hash(parts)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.parts == other.parts


class _Facts:
    """What is known of a regex once and for all.

    Attributes:
        regex: the regex itself; held, so that its `id` stays its own.
        key: the regex by value.
        nullable: whether it matches the empty text.
        stripped, stripped_key: what else it matches, and its key.
        can_match: whether `stripped` matches anything; None when the tree does not tell.
    """

    __slots__ = ("can_match", "key", "nullable", "regex", "stripped", "stripped_key")

    def __init__(self, regex: rx.Regex, key: _Key, nullable: bool, can_match: bool | None) -> None:
        self.regex = self.stripped = regex
        self.key = self.stripped_key = key
        self.nullable = nullable
        self.can_match = can_match


# Regexes by identity: the translation of schemas uses the same objects for strings and numbers in every schema, and
# computing their facts costs more than the rest of the normal form. Emptied when full.
_FACTS: dict[int, _Facts] = {}
_FACTS_KEPT = 2048


def _facts_of(regex: rx.Regex) -> _Facts:
    facts = _FACTS.get(id(regex))
    if facts is not None and facts.regex is regex:
        return facts
    if type(regex) is rx.Sequence:
        facts = _facts_of_sequence(regex)
        if facts is not None:
            return facts
    nullable, can_match, key = survey(regex)
    facts = _Facts(regex, _Key(key), nullable[id(regex)], can_match)
    if facts.nullable:
        facts.stripped = without_empty(regex)
        _, facts.can_match, key = survey(facts.stripped)
        facts.stripped_key = _Key(key)
    if len(_FACTS) >= _FACTS_KEPT:
        _FACTS.clear()
    _FACTS[id(regex)] = facts
    return facts


def _facts_of_sequence(regex: rx.Sequence) -> _Facts | None:
    """The facts of a sequence with a literal in it, out of its parts' facts; None when it has none.

    A schema's keys are such sequences, new objects in every translation, of parts that are the same objects.
    """
    key: list[object] = []
    matches = True
    has_literal = False
    for part in regex.parts:
        if type(part) is rx.Literal:
            key.append(part.data)
            has_literal = has_literal or bool(part.data)
        elif type(part) is rx.Sequence:
            return None
        else:
            facts = _facts_of(part)
            key.append(facts.key)
            matches = matches and (facts.nullable or facts.can_match is True)
    return _Facts(regex, _Key(tuple(key)), False, matches or None) if has_literal else None


class TerminalTable:
    """The terminals of one grammar: equal ones have one number, and none matches the empty text.

    Attributes:
        regexes: by number.
        data: by number, the bytes of a terminal that is a literal, else None.
    """

    def __init__(self, is_empty: Callable[[rx.Regex], bool]) -> None:
        self.regexes: list[rx.Regex] = []
        self.data: list[bytes | None] = []
        self._is_empty = is_empty
        self._literals: dict[bytes, int] = {}
        self._others: dict[_Key, int | None] = {}

    def literal(self, data: bytes) -> int:
        """The symbol of a literal that is not empty."""
        symbol = self._literals.get(data)
        if symbol is None:
            symbol = self._literals[data] = terminal_symbol(len(self.regexes))
            self.regexes.append(rx.Literal(data))
            self.data.append(data)
        return symbol

    def regex(self, regex: rx.Regex) -> tuple[int | None, bool]:
        """The symbol of what the regex matches besides the empty text, None when that is nothing; whether it matches
        the empty text too.
        """
        facts = _facts_of(regex)
        stripped = facts.stripped
        if isinstance(stripped, rx.Literal) and stripped.data:
            return self.literal(stripped.data), facts.nullable
        known = self._others.get(facts.stripped_key, 0)
        if known == 0:
            if facts.can_match is None:
                facts.can_match = not self._is_empty(stripped)
            number = None
            if facts.can_match:
                number = terminal_symbol(len(self.regexes))
                self.regexes.append(stripped)
                self.data.append(None)
            self._others[facts.stripped_key] = known = number
        return known, facts.nullable

    def literal_data(self, symbol: int) -> bytes | None:
        """The bytes of a symbol that is a literal terminal, else None."""
        return self.data[terminal_number(symbol)] if symbol < 0 else None
