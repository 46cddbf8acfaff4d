"""The automata and the display names of a grammar's terminals."""

from __future__ import annotations

from functools import cache

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.grammar.tables import END, GrammarTables, terminal_number
from structgen.engine.regex import tree as rx
from structgen.kbnf.writing.regex_text import regex_to_rust
from structgen.limits import Limits

__all__ = ["Terminals", "display_names"]

MAX_SHOWN = 24  # characters of a regex that is shown as its own name


class Terminals:
    """The automata of the terminals.

    Attributes:
        automata: the store of all automaton states.
        starts: terminal → its first state.
        names: terminal → its display name.
        refused: terminal → a state that accepts what a look-ahead excludes after every use of the terminal; 0 for
            nothing.
    """

    def __init__(self, tables: GrammarTables, limits: Limits) -> None:
        self._regexes = tables.terminals
        self.automata = AutomatonStore(limits)
        self.starts = [self.automata.add(regex) for regex in tables.terminals]
        self.names = display_names(tables)
        self.refused = _always_refused(tables, self.automata)
        self.begun = cache(self._begun)

    def _begun(self, byte: int) -> list[tuple[int, int]]:
        """Return the terminals that begin with a byte, with their states after it."""
        targets = [(number, self.automata.next(state, byte)) for number, state in enumerate(self.starts)]
        return [(number, target) for number, target in targets if target]

    def states(self, number: int) -> list[int]:
        """Return the states of a terminal's automaton."""
        return self._reached(self.starts[number])

    def _reached(self, start: int) -> list[int]:
        seen = {start: None}
        pending = [start]
        while pending:
            source = pending.pop()
            for byte in range(256):
                target = self.automata.next(source, byte)
                if target and target not in seen:
                    seen[target] = None
                    pending.append(target)
        return list(seen)

    def byte_classes(self) -> bytes:
        """Return, for each byte, the smallest byte with the same transitions in every state."""
        states = {state for start in {*self.starts, *self.refused} - {0} for state in self._reached(start)}
        first: dict[tuple[int, ...], int] = {}
        columns = [tuple([self.automata.next(state, byte) for state in states]) for byte in range(256)]
        return bytes(first.setdefault(column, byte) for byte, column in enumerate(columns))

    def is_listed(self, number: int) -> bool:
        """Return whether a terminal is a literal or a list of literals."""
        return isinstance(self._regexes[number], (rx.Literal, rx.LiteralSet))


def _always_refused(tables: GrammarTables, automata: AutomatonStore) -> list[int]:
    """Return the attribute `Terminals.refused`."""
    following: list[set[int]] = [set() for _ in tables.terminals]
    for at, symbol in enumerate(tables.symbols):
        if symbol < END:
            following[terminal_number(symbol)].add(tables.before[at + 1] if tables.before else 0)
    states = [0, *[automata.add(regex) for regex in tables.lookaheads]]
    return [states[numbers.pop()] if len(numbers) == 1 else 0 for numbers in following]


def display_names(tables: GrammarTables) -> list[str]:
    """Return display names: the text of a literal or of a short regex, else the name of a rule that uses it."""
    heads = {tables.rule_starts[r]: h for h, name in enumerate(tables.names) for r in _rules(tables, h)}
    rule_of: dict[int, str] = {}
    head = 0
    for at, symbol in enumerate(tables.symbols):
        head = heads.get(at, head)
        if symbol < END:
            rule_of.setdefault(terminal_number(symbol), tables.names[head])
    names = []
    for number, regex in enumerate(tables.terminals):
        text = repr(regex.data.decode(errors="replace")) if isinstance(regex, rx.Literal) else regex_to_rust(regex)
        is_shown = text is not None and (isinstance(regex, rx.Literal) or len(text) <= MAX_SHOWN)
        names.append(f"{text}" if is_shown else f"{rule_of.get(number, '')}'s #'…'")
    return names


def _rules(tables: GrammarTables, head: int) -> range:
    return range(tables.first_rule[head], tables.first_rule[head + 1])
