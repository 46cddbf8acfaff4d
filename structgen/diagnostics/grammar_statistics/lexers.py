r"""A lexer: one automaton for all terminals of a grammar, which takes a longest match with one character of look-ahead.

This is the lexing transducer of GreatGramma (Park et al., "Flexible and Efficient Grammar-Constrained Decoding", 2025).
It reads bytes and emits terminals. A terminal is emitted when the byte after it arrives:

    terminals a+ and b       state 0 --a--> 1 --a--> 1 --b / a+--> 2       "aab" emits a+, and is then inside b

A text that no state can continue is refused, even if the lexer might have ended a terminal earlier.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from structgen.diagnostics.grammar_statistics.terminals import display_names
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.grammar.tables import GrammarTables
from structgen.engine.regex import tree as rx
from structgen.errors import LimitExceededError
from structgen.kbnf.reading.lark_lexing import LexedGrammar
from structgen.limits import Limits

__all__ = ["Lexeme", "Lexer", "lexer_of_lark", "lexer_of_tables"]

MAX_STATES = 100_000


class Lexeme(NamedTuple):
    """A terminal of a lexer.

    Attributes:
        name: for display.
        regex: its texts.
        rank: of several terminals that match a text, the lexer takes one of the smallest rank; then the first one.
        is_ignored: whether the parser never sees it.
    """

    name: str
    regex: rx.Regex
    rank: tuple[int, ...] = ()
    is_ignored: bool = False


class Lexer:
    """The automaton of a list of terminals.

    Attributes:
        lexemes: the terminals, by number.
        targets: state -> the state after each byte, -1 for none. State 0 is the start.
        labels: state -> the terminal that ends there, -1 for none.
        producible: state -> the terminals that may be emitted next.

    Args:
        lexemes: none of them needs to be different from another one.

    Raises:
        LimitExceededError: there are more than `MAX_STATES` states.
    """

    def __init__(self, lexemes: Sequence[Lexeme]) -> None:
        self.lexemes = tuple(lexemes)
        self.targets: list[list[int]] = []
        self.labels: list[int] = []
        self._build(AutomatonStore(Limits()))
        self.producible = self._producible()

    def _build(self, automata: AutomatonStore) -> None:
        begun = [(number, automata.add(lexeme.regex)) for number, lexeme in enumerate(self.lexemes)]
        first = tuple([(number, state) for number, state in begun if state])
        numbers: dict[tuple[tuple[int, int], ...], int] = {first: 0}
        pending = [first]
        for states in pending:
            ending = [number for number, state in states if automata.is_accepting(state)]
            label = min(ending, key=lambda number: (self.lexemes[number].rank, number), default=-1)
            self.labels.append(label if self.labels else -1)  # no terminal is empty
            row: list[int] = []
            for byte in range(256):
                found = [(number, automata.next(state, byte)) for number, state in states]
                target = tuple([(number, state) for number, state in found if state])
                if target and target not in numbers:
                    if len(numbers) >= MAX_STATES:
                        message = f"the lexer has more than {MAX_STATES:,} states"
                        raise LimitExceededError("automaton_states", MAX_STATES, message=message, is_fixed=True)
                    numbers[target] = len(numbers)
                    pending.append(target)
                row.append(numbers[target] if target else -1)
            self.targets.append(row)

    def _producible(self) -> list[frozenset[int]]:
        sources: list[set[int]] = [set() for _ in self.targets]
        for state, row in enumerate(self.targets):
            for target in set(row) - {-1}:
                sources[target].add(state)
        found: list[set[int]] = [set() for _ in self.targets]
        for ending, label in enumerate(self.labels):
            pending = [ending] if label >= 0 else []
            while pending:
                state = pending.pop()
                if label not in found[state]:
                    found[state].add(label)
                    pending += sources[state]
        return [frozenset(terminals) for terminals in found]

    def step(self, state: int, byte: int) -> tuple[int, int] | None:
        """Return the terminal that a byte ends (-1 for none), and the next state; None if the byte cannot come."""
        target = self.targets[state][byte]
        if target >= 0:
            return -1, target
        target = self.targets[0][byte] if self.labels[state] >= 0 else -1
        return (self.labels[state], target) if target >= 0 else None

    def read(self, state: int, text: bytes) -> tuple[tuple[int, ...], int] | None:
        """Return the terminals that a text emits, and the state after it; None if the text cannot come."""
        emitted: list[int] = []
        for byte in text:
            found = self.step(state, byte)
            if found is None:
                return None
            ended, state = found
            if ended >= 0:
                emitted.append(ended)
        return tuple(emitted), state

    def seen(self, terminals: Sequence[int]) -> tuple[int, ...]:
        """Return a sequence of terminals as the parser sees it, without the ignored ones."""
        return tuple([terminal for terminal in terminals if not self.lexemes[terminal].is_ignored])

    def byte_classes(self) -> bytes:
        """Return, for each byte, the smallest byte with the same transitions in every state."""
        first: dict[tuple[int, ...], int] = {}
        return bytes(first.setdefault(column, byte) for byte, column in enumerate(zip(*self.targets)))


def lexer_of_lark(grammar: LexedGrammar) -> Lexer:
    """Return the lexer of a Lark grammar. Of two terminals that match a text, priority decides, then a string wins."""
    lexemes = [
        Lexeme(name, terminal.regex, (-terminal.priority, terminal.text is None))
        for name, terminal in grammar.terminals.items()
        if terminal.regex != rx.NOTHING
    ]
    ignored = [Lexeme(f"ignored {at}", regex, (0, 1), True) for at, regex in enumerate(grammar.ignored, 1)]
    return Lexer([*lexemes, *ignored])


def lexer_of_tables(tables: GrammarTables) -> Lexer:
    """Return the lexer of a grammar's normal form. Of two terminals that match a text, a literal wins."""
    names = display_names(tables)
    literal = (rx.Literal, rx.LiteralSet)
    found = [Lexeme(name, regex, (not isinstance(regex, literal),)) for name, regex in zip(names, tables.terminals)]
    return Lexer(found)
