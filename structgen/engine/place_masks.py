"""What may stand behind the end of a terminal, from a place in a grammar on, whatever surrounds that place.

A token that runs past the end of a terminal goes into others: `);` closes a call and ends a statement. Which may come
is found by parsing what is left of the tokens, all of them at once: a *place* is a dotted rule with some exits (nodes
of a trie, `engine/mask_tables.py`) in the role of the position in the text. Most tokens end within the rule's body, so
what is found holds for every text in which the place occurs; where a body ends and something is left, that is an
*escape*, and goes on behind whatever waits for the body's nonterminal. So masks of new Earley sets are put together
from what earlier ones have found, and no sets are made for it.

Tokens of which nothing is left have to be followed by something, too, where a look-ahead holds: they escape as well.

The parser is GLL's (Scott and Johnstone, "GLL Parsing", 2010), with exits as positions. Published engines have the same
idea in tables that are made in advance, for pairs of lexer states and sequences of terminals: SynCode's mask store
(2024), XGrammar's context-independent tokens (2024), GreatGramma's token spanner table (2025), streamlined by
Tran-Thien (2025), whose *unlimited credit* is the escape here.
"""

from __future__ import annotations

from typing import Any

from structgen.engine.earley import ItemSetStore
from structgen.engine.grammar import END
from structgen.engine.mask_tables import Exits, TerminalMask
from structgen.engine.terminal_masks import TerminalMasks

__all__ = ["Place", "PlaceMasks"]

# Declared as a C integer in the .pxd, so not importable from here.
KEPT = 100_000  # places; past it all are dropped, and found anew as they are needed


class Place:
    """What was found from a place on.

    Attributes:
        tables: of tokens that end before the place's body does, or within the nonterminal.
        escapes: exits that are left at its end, and the look-aheads that hold there, in turns.
        parts: the places of nonterminals within, to which more tables belong.
        open: while it is looked for, who waits for its escapes; None once all are found.
        round: the last collection of tables that came by.
    """

    def __init__(self) -> None:
        self.tables: list[TerminalMask] = []
        self.escapes: list[Any] = []
        self.parts: list[Place] = []
        self.open: Waiting | None = Waiting()
        self.round = 0


class Waiting:
    """Who waits for the escapes of a place.

    Attributes:
        positions, places: where they go on: behind a nonterminal at a position, for a place.
        escaped: numbers of the escapes that were told.
    """

    def __init__(self) -> None:
        self.positions: list[int] = []
        self.places: list[Place] = []
        self.escaped: set[int] = set()


class PlaceMasks:
    """The places of one grammar that have been looked at.

    Args:
        sets: the grammar's Earley sets; its rules may grow.
        terminals: the tables of the terminals' states.
    """

    def __init__(self, sets: ItemSetStore, terminals: TerminalMasks) -> None:
        self._sets = sets
        self._rules = sets.rules
        self._lookaheads = sets.rules.lookaheads
        self._terminals = terminals
        self._rests: dict[int, Place] = {}
        self._nonterminals: dict[int, Place] = {}
        self._firsts: dict[int, int] = {}
        self._alive: dict[int, bool] = {}
        self._compared: set[int] = set()
        self._covered: set[int] = set()
        self._ends: dict[int, Exits] = {}  # by the identity of tables, which they keep alive
        self._agenda: list[Any] = []
        self._opened: list[Place] = []
        self._round = 0

    def begins_with_any(self, position: int, exits: Exits) -> bool:
        """Whether what stands at a position may begin with something that is left behind exits."""
        rules = self._rules
        symbol = rules.symbols[position]
        if symbol < 0:
            first = self._terminals.first_bytes(rules.start_state[position])
        else:
            first = self._first(symbol)
        return bool(first & (exits.bytes or self._terminals.bytes_of(exits)))

    def rest(self, position: int, ahead: int, exits: Exits) -> Place:
        """What may stand behind exits from a position to the end of its body, where a look-ahead holds."""
        if not exits.number:
            self._terminals.give_number(exits)
        key = self._key(position, ahead, exits.number)
        found = self._rests.get(key)
        if found is None:
            if len(self._rests) + len(self._nonterminals) > KEPT:
                self._forget()
            found = self._new_place()
            try:
                self._go_on(position, ahead, exits, found)
                self._work()
            except BaseException:
                self._forget()  # what is half found must not be taken for whole
                raise
            self._gather(found)
            self._rests[key] = found
            for place in self._opened:
                place.open = None
            self._opened.clear()
        return found

    def _forget(self) -> None:
        """Drops all places."""
        self._rests.clear()
        self._nonterminals.clear()
        self._agenda.clear()
        self._opened.clear()

    def _new_place(self) -> Place:
        place = Place()
        self._opened.append(place)
        return place

    def _key(self, position: int, ahead: int, number: int) -> int:
        key = position
        key = (key << 6 | ahead) << 28
        return key | number

    def _work(self) -> None:
        """Follows what is on the agenda to its end."""
        agenda = self._agenda
        while agenda:
            place = agenda.pop()
            exits = agenda.pop()
            ahead = agenda.pop()
            position = agenda.pop()
            self._go_on(position, ahead, exits, place)

    def _go_on(self, position: int, ahead: int, exits: Exits, place: Place) -> None:
        """Goes on from a position behind some exits, for a place."""
        rules = self._rules
        if rules.before[position]:
            ahead = self._lookaheads.united(ahead, rules.before[position])
        symbol = rules.symbols[position]
        if symbol == END:
            self._escape(place, exits, ahead)
        elif exits.ended is not None:
            if self.is_alive(position, ahead):
                place.tables.append(exits.ended)
        elif not self.begins_with_any(position, exits):
            return
        elif symbol < 0:
            self._read(position, self._lookaheads.started(rules.start_state[position], ahead), exits, place)
        else:
            inner = self._predicted(symbol, ahead, exits)
            place.parts.append(inner)
            waiting = inner.open
            if waiting is not None:
                waiting.positions.append(position)
                waiting.places.append(place)
            for index in range(0, len(inner.escapes), 2):
                self._put(position + 1, inner.escapes[index + 1], inner.escapes[index], place)

    def _read(self, position: int, state: int, exits: Exits, place: Place) -> None:
        """Reads the terminal at a position."""
        if not state:
            return
        rules = self._rules
        table = self._terminals.behind(exits, state)
        if table.dense < 0 and table.first_token == table.last_token and table.first_exit == table.last_exit:
            return
        behind = position + 1
        held = rules.before[behind]
        if rules.symbols[behind] != END:
            if not self.is_alive(behind, 0):
                return
            place.tables.append(table)
        elif held and position not in self._covered:
            self._escape(place, self._ended(table), held)
        else:
            place.tables.append(table)
        for index in range(table.first_exit, table.last_exit):
            self._put(position + 1, 0, self._terminals.exits[index], place)

    def _put(self, position: int, ahead: int, exits: Exits, place: Place) -> None:
        self._agenda.append(position)
        self._agenda.append(ahead)
        self._agenda.append(exits)
        self._agenda.append(place)

    def _escape(self, place: Place, exits: Exits, ahead: int) -> None:
        """Something is left at the end of a place; once for the same exits and look-ahead."""
        if not exits.number:
            self._terminals.give_number(exits)
        key = self._key(0, ahead, exits.number)
        waiting = place.open
        if waiting is None or key in waiting.escaped:
            return
        waiting.escaped.add(key)
        place.escapes.append(exits)
        place.escapes.append(ahead)
        for index in range(len(waiting.positions)):
            at = waiting.positions[index]
            self._put(at + 1, ahead, exits, waiting.places[index])

    def _predicted(self, nonterminal: int, ahead: int, exits: Exits) -> Place:
        """The place of a nonterminal's bodies."""
        if not exits.number:
            self._terminals.give_number(exits)
        key = self._key(nonterminal, ahead, exits.number)
        found = self._nonterminals.get(key)
        if found is None:
            rules = self._rules
            found = self._nonterminals[key] = self._new_place()
            if rules.first_rule[nonterminal] < 0:
                self._sets.expand(nonterminal)
            if nonterminal not in self._compared:
                self._compared.add(nonterminal)
                self._find_covered(nonterminal)
            for rule in range(rules.first_rule[nonterminal], rules.last_rule[nonterminal]):
                self._put(rules.rule_starts[rule], ahead, exits, found)
        return found

    def _first(self, nonterminal: int) -> int:
        """A bit for each byte that the texts of a nonterminal begin with, whatever look-ahead holds."""
        found = self._firsts.get(nonterminal)
        if found is None:
            found = 0
            rules = self._rules
            seen = {nonterminal}
            stack = [nonterminal]
            while stack:
                head = stack.pop()
                if rules.first_rule[head] < 0:
                    self._sets.expand(head)
                for rule in range(rules.first_rule[head], rules.last_rule[head]):
                    position = rules.rule_starts[rule]
                    symbol = rules.symbols[position]
                    if symbol < 0:
                        found |= self._terminals.first_bytes(rules.start_state[position])
                    elif symbol not in seen:
                        seen.add(symbol)
                        stack.append(symbol)
            self._firsts[nonterminal] = found
        return found

    def _find_covered(self, nonterminal: int) -> None:
        """Finds the last terminals of bodies behind which a look-ahead holds, but another body goes on after the same
        symbols: a word with and without white space behind it.
        """
        rules = self._rules
        first, last = rules.first_rule[nonterminal], rules.last_rule[nonterminal]
        for rule in range(first, last):
            start = rules.rule_starts[rule]
            end = start
            while rules.symbols[end] != END:
                end += 1
            if rules.before[end] and rules.symbols[end - 1] < 0:
                for other in range(first, last):
                    if other != rule and self._goes_further(start, end, rules.rule_starts[other]):
                        self._covered.add(end - 1)

    def _goes_further(self, start: int, end: int, other: int) -> bool:
        """Whether the body at `other` has the symbols of the one from `start` to `end`, and surely goes on."""
        rules = self._rules
        for index in range(end - start):
            at, there = start + index, other + index
            same = rules.symbols[at] == rules.symbols[there] and rules.start_state[at] == rules.start_state[there]
            if not same or rules.before[at] != rules.before[there]:
                return False
        return rules.symbols[other + end - start] != END and self.is_alive(other + end - start, 0)

    def is_alive(self, position: int, ahead: int) -> bool:
        """Whether some text can begin at a position that is not the end of its body, where a look-ahead holds."""
        rules = self._rules
        ahead = self._lookaheads.united(ahead, rules.before[position])
        if not ahead:
            return True
        symbol = rules.symbols[position]
        if symbol < 0:
            return self._lookaheads.started(rules.start_state[position], ahead) != 0
        key = self._key(symbol, ahead, 0)
        found = self._alive.get(key)
        if found is None:
            found = self._alive[key] = self._begins_under(symbol, ahead)
        return found

    def _begins_under(self, nonterminal: int, ahead: int) -> bool:
        """Whether some text of a nonterminal begins as a look-ahead asks for."""
        rules = self._rules
        seen = {self._key(nonterminal, ahead, 0)}
        stack = [nonterminal, ahead]
        while stack:
            before = stack.pop()
            head = stack.pop()
            if rules.first_rule[head] < 0:
                self._sets.expand(head)
            for rule in range(rules.first_rule[head], rules.last_rule[head]):
                position = rules.rule_starts[rule]
                symbol = rules.symbols[position]
                held = self._lookaheads.united(before, rules.before[position])
                if symbol < 0:
                    if self._lookaheads.started(rules.start_state[position], held):
                        return True
                    continue
                key = self._key(symbol, held, 0)
                if key not in seen:
                    seen.add(key)
                    stack.append(symbol)
                    stack.append(held)
        return False

    def _ended(self, table: TerminalMask) -> Exits:
        """Exits that stand for the end of tokens."""
        found = self._ends.get(id(table))
        if found is None:
            found = Exits(self._terminals.trie, 0, 0, 0, 0, None)
            found.ended = table
            self._ends[id(table)] = found
        return found

    def _gather(self, place: Place) -> None:
        """Collects the tables of all that a finished place is made of."""
        self._round += 1
        of_round = self._round
        tables: list[TerminalMask] = []
        stack = [place]
        place.round = of_round
        while stack:
            part = stack.pop()
            tables.extend(part.tables)
            for inner in part.parts:
                if inner.round != of_round:
                    inner.round = of_round
                    stack.append(inner)
        place.tables = tables
        place.parts = []
