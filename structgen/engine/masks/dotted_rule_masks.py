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

from structgen.engine.constants import ROOT
from structgen.engine.earley.item_sets import ItemSetStore
from structgen.engine.grammar.tables import END
from structgen.engine.masks.left_corners import Corner, LeftCorners
from structgen.engine.masks.tables import ByteSet, RemainderNodes, TerminalMask
from structgen.engine.masks.terminal_masks import TerminalMasks

__all__ = ["DottedRule", "DottedRuleMasks"]

# Declared as a C integer in the .pxd, so not importable from here.
KEPT = 100_000  # places; past it all are dropped, and found anew as they are needed


class DottedRule:
    """What was found from a place on.

    Attributes:
        tables: of tokens that end before the place's body does, or within the nonterminal.
        escapes: exits that are left at its end, and the look-aheads that hold there, in turns.
        parts: the places of nonterminals within, to which more tables belong.
        open: while it is looked for, who waits for its escapes; None once all are found.
        round: the last collection of tables that came by.
    """

    def __init__(self, waiting: Waiting) -> None:
        self.tables: list[TerminalMask] = []
        self.escapes: list[Any] = []
        self.parts: list[DottedRule] = []
        self.open: Waiting | None = waiting
        self.round = 0


class Waiting:
    """Who waits for the escapes of a place, and how far it is looked for.

    Attributes:
        corner: the left corner of what is read there.
        positions, places, nodes: where escapes go on: behind a nonterminal at a position, for a place, in the body of a
            node of its left corner.
        escaped: numbers of the escapes that were told.
        met: numbers of what was gone on with behind a node.
    """

    def __init__(self, corner: Corner) -> None:
        self.corner = corner
        self.positions: list[int] = []
        self.places: list[DottedRule] = []
        self.nodes: list[int] = []
        self.escaped: set[int] = set()
        self.met: set[int] = set()


class GroupClimb:
    """Where a text goes on behind what a group of Earley items waits for, and behind those that end with it.

    Attributes:
        positions, groups, firsts: the positions, the groups of their items, and the bytes that may come there.
        first: all of `firsts`.
        is_whole: whether the text may end there.
    """

    def __init__(self) -> None:
        self.positions: list[int] = []
        self.groups: list[int] = []
        self.firsts: list[ByteSet] = []
        self.first = ByteSet(0)
        self.is_whole = False


class DottedRuleMasks:
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
        self.corners = LeftCorners(sets)
        self._rests: dict[int, DottedRule] = {}
        self._nonterminals: dict[int, DottedRule] = {}
        self._climbs: dict[int, GroupClimb] = {}
        self._ends: dict[int, RemainderNodes] = {}  # by the identity of tables, which they keep alive
        self._agenda: list[Any] = []
        self._opened: list[DottedRule] = []
        self._round = 0

    def begins_with_any(self, position: int, exits: RemainderNodes) -> bool:
        """Whether what stands at a position may begin with something that is left behind exits."""
        return self.corners.first_at(position).meets(self.bytes_of(exits))

    def bytes_of(self, exits: RemainderNodes) -> ByteSet:
        """The bytes that something begins with that is left behind exits."""
        found = exits.bytes
        if found is None:
            found = exits.bytes = self.corners.byte_set(self._terminals.bytes_of(exits))
        return found

    def rest(self, position: int, ahead: int, exits: RemainderNodes) -> DottedRule:
        """What may stand behind exits from a position to the end of its body, where a look-ahead holds."""
        if not exits.number:
            self._terminals.give_number(exits)
        key = self._key(position, ahead, exits.number)
        found = self._rests.get(key)
        if found is None:
            if len(self._rests) + len(self._nonterminals) > KEPT:
                self._forget()
            found = self._new_place(self.corners.body)
            try:
                self._go_on(position, ahead, exits, found, 0)
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

    def climb(self, group: int) -> GroupClimb:
        """Where a text goes on behind what a group of Earley items waits for."""
        found = self._climbs.get(group)
        if found is None:
            if len(self._climbs) > KEPT:
                self._climbs.clear()
            found = self._climbs[group] = self._climbed(group)
        return found

    def _climbed(self, group: int) -> GroupClimb:
        sets, rules = self._sets, self._rules
        climb = GroupClimb()
        seen = {group}
        pending = [group]
        while pending:
            at = pending.pop()
            if at == ROOT:
                climb.is_whole = True
                continue
            for waiting in range(sets.groups.first[at], sets.groups.last[at]):
                behind, above = sets.groups.wait_position[waiting] + 1, sets.groups.wait_group[waiting]
                if rules.symbols[behind] != END or rules.before[behind]:
                    climb.positions.append(behind)
                    climb.groups.append(above)
                    first = self.corners.first_behind(behind)
                    climb.firsts.append(first)
                    climb.first.add(first)
                elif above not in seen:
                    seen.add(above)
                    pending.append(above)
        return climb

    def _new_place(self, corner: Corner) -> DottedRule:
        place = DottedRule(Waiting(corner))
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
            node = agenda.pop()
            place = agenda.pop()
            exits = agenda.pop()
            ahead = agenda.pop()
            position = agenda.pop()
            self._go_on(position, ahead, exits, place, node)

    def _go_on(self, position: int, ahead: int, exits: RemainderNodes, place: DottedRule, node: int) -> None:
        """Goes on from a position behind some exits, for a place, in the body of a node of its left corner."""
        rules = self._rules
        if rules.before[position]:
            ahead = self._lookaheads.united(ahead, rules.before[position])
        symbol = rules.symbols[position]
        if symbol == END:
            self._complete(place, node, exits, ahead)
        elif exits.ended is not None:
            if self.corners.is_alive(position, ahead):
                place.tables.append(exits.ended)
        elif not self.begins_with_any(position, exits):
            return
        elif symbol < 0:
            self._read(position, self._lookaheads.started(rules.start_state[position], ahead), exits, place, node)
        else:
            inner = self._predicted(symbol, ahead, exits)
            place.parts.append(inner)
            waiting = inner.open
            if waiting is not None:
                waiting.positions.append(position)
                waiting.places.append(place)
                waiting.nodes.append(node)
            for index in range(0, len(inner.escapes), 2):
                self._put(position + 1, inner.escapes[index + 1], inner.escapes[index], place, node)

    def _complete(self, place: DottedRule, node: int, exits: RemainderNodes, ahead: int) -> None:
        """Goes on behind a node of a place's left corner with what is left: once for the same position."""
        waiting = place.open
        if waiting is None:
            return
        corner = waiting.corner
        climb = self.corners.climb(corner, node)
        if climb.is_whole:
            self._escape(place, exits, ahead)
        if not climb.kernels:
            return
        if not exits.number:
            self._terminals.give_number(exits)
        left = None if exits.ended is not None else self.bytes_of(exits)
        for kernel in climb.kernels:
            first = corner.kernel_firsts[kernel]
            if left is not None and not first.meets(left):
                continue
            key = self._key(kernel, ahead, exits.number)
            if key not in waiting.met:
                waiting.met.add(key)
                self._put(corner.kernel_positions[kernel], ahead, exits, place, corner.kernel_nodes[kernel])

    def _read(self, position: int, state: int, exits: RemainderNodes, place: DottedRule, node: int) -> None:
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
            if not self.corners.is_alive(behind, 0):
                return
            place.tables.append(table)
        elif held and position not in self.corners.covered:
            self._complete(place, node, self._ended(table), held)
        else:
            place.tables.append(table)
        for index in range(table.first_exit, table.last_exit):
            self._put(position + 1, 0, self._terminals.exits[index], place, node)

    def _put(self, position: int, ahead: int, exits: RemainderNodes, place: DottedRule, node: int) -> None:
        self._agenda.append(position)
        self._agenda.append(ahead)
        self._agenda.append(exits)
        self._agenda.append(place)
        self._agenda.append(node)

    def _escape(self, place: DottedRule, exits: RemainderNodes, ahead: int) -> None:
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
            self._put(at + 1, ahead, exits, waiting.places[index], waiting.nodes[index])

    def _predicted(self, nonterminal: int, ahead: int, exits: RemainderNodes) -> DottedRule:
        """The place of a nonterminal's bodies."""
        if not exits.number:
            self._terminals.give_number(exits)
        key = self._key(nonterminal, ahead, exits.number)
        found = self._nonterminals.get(key)
        if found is None:
            corner = self.corners.corner(nonterminal, ahead)
            found = self._nonterminals[key] = self._new_place(corner)
            left = self.bytes_of(exits)
            for index in range(len(corner.states)):
                first = corner.firsts[index]
                if first.meets(left):
                    self._read(corner.positions[index], corner.states[index], exits, found, corner.nodes[index])
        return found

    def _ended(self, table: TerminalMask) -> RemainderNodes:
        """RemainderNodes that stand for the end of tokens."""
        found = self._ends.get(id(table))
        if found is None:
            found = RemainderNodes(self._terminals.trie, 0, 0, 0, 0, None)
            found.ended = table
            self._ends[id(table)] = found
        return found

    def _gather(self, place: DottedRule) -> None:
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
