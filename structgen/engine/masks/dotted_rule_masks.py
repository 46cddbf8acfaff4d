"""Tokens allowed after a terminal ends, for a dotted rule in any context.

A token that runs past the end of a terminal goes into others: `);` closes a call and ends a statement. Which tokens may
is found by parsing what is left of them, all at once. The parser is GLL's (Scott and Johnstone, "GLL Parsing", 2010),
with *remainders* (nodes of a trie, `engine/masks/tables.py`) in the role of positions in the text:

    call ::= name "(" ")" . ;          remainders `;` `);` `,` after the `)` of a call:
    statement ::= call . ";" ;         at the end of `call` all of them escape; in `statement`, `;` is read

Most tokens end within the rule's body, so what is found for a dotted rule holds wherever the rule is used. Where the
body ends and something is left of a token, that is an *escape*: it goes on in whatever waits for the body's
nonterminal. So the masks of new item sets are put together from what earlier ones have found, and no sets are made for
what is left of tokens. Tokens of which nothing is left escape as well where a look-ahead holds: something must follow.

Published engines have the same idea in tables that are made in advance, for pairs of lexer states and sequences of
terminals: SynCode's mask store (2024), XGrammar's context-independent tokens (2024), GreatGramma's token spanner table
(2025), streamlined by Tran-Thien (2025), whose *unlimited credit* is the escape here.
"""

from __future__ import annotations

from typing import Any

from structgen.engine.constants import ROOT
from structgen.engine.deadlines import spend
from structgen.engine.earley.item_sets import ItemSetStore
from structgen.engine.grammar.tables import END
from structgen.engine.masks.followed_nodes import Followed, FollowedNodes
from structgen.engine.masks.left_corners import Corner, LeftCorners
from structgen.engine.masks.tables import ByteSet, RemainderNodes, TerminalMask
from structgen.engine.masks.terminal_masks import TerminalMasks

__all__ = ["DottedRule", "DottedRuleMasks"]

# Declared as a C integer in the .pxd, so not importable from here.
MAX_KEPT = 100_000  # dotted rules; past it all are dropped, and found anew as they are needed


class DottedRule:
    """The result of a search for a dotted rule, or for all rules of a nonterminal, with certain remainders.

    Attributes:
        tables: the tables of the tokens that end before the body does, or within the nonterminal. After the search,
            each table is in the list once.
        escapes: remainders that are left at the end of the body, each followed by the look-ahead that holds there.
        parts: nonterminals within the body, whose tables belong to this result, too. Empty after the search: `tables`
            has all of them.
        open: during the search, the dotted rules that wait for the escapes; None after it.
        round: the number of the last collection of tables that visited this result.
    """

    def __init__(self, waiting: Waiting) -> None:
        self.tables: list[TerminalMask] = []
        self.escapes: list[Any] = []
        self.parts: list[DottedRule] = []
        self.open: Waiting | None = waiting
        self.round = 0


class Waiting:
    """The dotted rules that wait for the escapes of another one, and the progress of the search for them.

    Attributes:
        corner: the left corner of what is read there.
        positions, dotted_rules, nodes: in parallel, where escapes go on: the position of the nonterminal that they
            complete, the dotted rule for which that position was read, and the node of its left corner in whose body
            the position is.
        escaped: keys of the escapes that were passed on.
        met: keys of what went on after a node.
        followed: the nodes of large remainders among both, by the same keys without remainders.
    """

    def __init__(self, corner: Corner) -> None:
        self.corner = corner
        self.positions: list[int] = []
        self.dotted_rules: list[DottedRule] = []
        self.nodes: list[int] = []
        self.escaped: set[int] = set()
        self.met: set[int] = set()
        self.followed: dict[int, Followed] = {}


class GroupClimb:
    """The dotted rules after the nonterminal of a group of items, and after nonterminals that end with it.

    Attributes:
        positions, groups, firsts: in parallel, the positions, the groups of their items, and the bytes that may come
            there.
        first: all bytes of `firsts`.
        is_whole: whether the text may end there.
    """

    def __init__(self) -> None:
        self.positions: list[int] = []
        self.groups: list[int] = []
        self.firsts: list[ByteSet] = []
        self.first = ByteSet(0)
        self.is_whole = False


class DottedRuleMasks:
    """The dotted rules of one grammar that have been looked at.

    Args:
        sets: the grammar's item sets; its rules may grow.
        terminals: the tables of the terminals' states.

    Attributes:
        corners: the grammar's left corners.
    """

    def __init__(self, sets: ItemSetStore, terminals: TerminalMasks) -> None:
        self._sets = sets
        self._rules = sets.rules
        self._lookaheads = sets.rules.lookaheads
        self._terminals = terminals
        self._store = terminals.store
        self._next_bytes = terminals.next_bytes
        self.corners = LeftCorners(sets)
        self._rests: dict[int, DottedRule] = {}  # by position, look-ahead and remainders: see `_key`
        self._nonterminals: dict[int, DottedRule] = {}  # by nonterminal, look-ahead and remainders
        self._climbs: dict[int, GroupClimb] = {}
        self._ends: dict[int, RemainderNodes] = {}  # by the identity of tables, which they keep alive
        self._followed_nodes = FollowedNodes(self._store, terminals.next_bytes)
        self._agenda: list[Any] = []
        self._opened: list[DottedRule] = []
        self._round = 0

    @property
    def kept(self) -> int:
        """The number of dotted rules and nonterminals that are kept (a work counter for benchmarks)."""
        return len(self._rests) + len(self._nonterminals)

    def begins_with_any(self, position: int, remainders: RemainderNodes) -> bool:
        """Return whether the symbol at a position may begin with some of what is left of tokens."""
        return self.corners.first_at(position).meets(self.first_bytes(remainders))

    def first_bytes(self, remainders: RemainderNodes) -> ByteSet:
        """Return the bytes that some of what is left of tokens begins with."""
        found = remainders.bytes
        if found is None:
            found = remainders.bytes = self.corners.byte_set(self._next_bytes.bits(remainders))
        return found

    def rest(self, position: int, ahead: int, remainders: RemainderNodes) -> DottedRule:
        """Return which tokens end, and which remainders are left, from a position to the end of its body.

        Args:
            position: the position of the dot, as an index of `Rules.symbols`.
            ahead: the look-ahead that holds there.
            remainders: what is left of tokens there.
        """
        if not remainders.number:
            self._store.give_number(remainders)
        if self._lookaheads.shift and self.corners.find_watched():
            self._forget()
        key = self._key(position, ahead, remainders.number)
        found = self._rests.get(key)
        if found is None:
            if len(self._rests) + len(self._nonterminals) > MAX_KEPT:
                self._forget()
            found = self._found(position, ahead, remainders)
            while self._lookaheads.shift and self.corners.find_watched():  # the search may make bodies
                self._forget()
                found = self._found(position, ahead, remainders)
            self._rests[key] = found
        return found

    def _found(self, position: int, ahead: int, remainders: RemainderNodes) -> DottedRule:
        """Search for the result of `rest`."""
        found = self._new_dotted_rule(self.corners.body)
        try:
            self._go_on(position, ahead, remainders, found, 0)
            self._work()
            self._gather(found)
        except BaseException:
            self._forget()  # what is half found must not be taken for whole
            raise
        for dotted_rule in self._opened:
            dotted_rule.open = None
        self._opened.clear()
        return found

    def _forget(self) -> None:
        """Drop all dotted rules."""
        self._rests.clear()
        self._nonterminals.clear()
        self._agenda.clear()
        self._opened.clear()

    def climb(self, group: int) -> GroupClimb:
        """Return where a text goes on after the nonterminal of a group of items."""
        found = self._climbs.get(group)
        if found is None:
            if len(self._climbs) > MAX_KEPT:
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
                following, above = sets.groups.wait_position[waiting] + 1, sets.groups.wait_group[waiting]
                if rules.symbols[following] != END or rules.before[following]:
                    climb.positions.append(following)
                    climb.groups.append(above)
                    first = self.corners.first_after(following)
                    climb.firsts.append(first)
                    climb.first.add(first)
                elif above not in seen:
                    seen.add(above)
                    pending.append(above)
        return climb

    def _new_dotted_rule(self, corner: Corner) -> DottedRule:
        dotted_rule = DottedRule(Waiting(corner))
        self._opened.append(dotted_rule)
        return dotted_rule

    def _key(self, position: int, ahead: int, number: int) -> int:
        key = position
        key = (key << 6 | ahead) << 28
        return key | number

    # -- the search -------------------------------------------------------------------------------------------------

    def _put(self, position: int, ahead: int, remainders: RemainderNodes, dotted_rule: DottedRule, node: int) -> None:
        """Put the arguments of `_go_on` on the agenda."""
        self._agenda.append(position)
        self._agenda.append(ahead)
        self._agenda.append(remainders)
        self._agenda.append(dotted_rule)
        self._agenda.append(node)

    def _work(self) -> None:
        """Work off the agenda."""
        agenda = self._agenda
        while agenda:
            spend(1)
            node = agenda.pop()
            dotted_rule = agenda.pop()
            remainders = agenda.pop()
            ahead = agenda.pop()
            position = agenda.pop()
            self._go_on(position, ahead, remainders, dotted_rule, node)

    def _go_on(self, position: int, ahead: int, remainders: RemainderNodes, dotted_rule: DottedRule, node: int) -> None:
        """Read what comes at a position, for a dotted rule, in the body of a node of its left corner."""
        rules = self._rules
        if rules.before[position]:
            ahead = self._lookaheads.united(ahead, rules.before[position])
        symbol = rules.symbols[position]
        if symbol == END:
            self._complete(dotted_rule, node, remainders, ahead)
        elif remainders.ended is not None:
            if self.corners.is_alive(position, ahead):
                dotted_rule.tables.append(remainders.ended)
        elif not self.begins_with_any(position, remainders):
            return
        elif symbol < 0:
            state = self._lookaheads.started(rules.start_state[position], ahead)
            self._read(position, state, remainders, dotted_rule, node)
        else:
            inner = self._predicted(symbol, ahead, remainders)
            dotted_rule.parts.append(inner)
            waiting = inner.open
            if waiting is not None:
                waiting.positions.append(position)
                waiting.dotted_rules.append(dotted_rule)
                waiting.nodes.append(node)
            for index in range(0, len(inner.escapes), 2):
                self._put(position + 1, inner.escapes[index + 1], inner.escapes[index], dotted_rule, node)

    def _read(self, position: int, state: int, remainders: RemainderNodes, dotted_rule: DottedRule, node: int) -> None:
        """Read the terminal at a position."""
        if not state:
            return
        rules = self._rules
        table = self._terminals.after(remainders, state)
        has_tokens = table.dense >= 0 or table.first_token < table.last_token
        if not has_tokens and table.first_remainders == table.last_remainders:
            return
        following = position + 1
        ahead = rules.before[following]
        is_end = rules.symbols[following] == END
        if not is_end and not self.corners.is_alive(following, 0):
            return
        is_watched = is_end and (ahead != 0 or following in self.corners.watched_ends)
        if has_tokens and is_watched and position not in self.corners.covered:
            self._complete(dotted_rule, node, self._ended(table), ahead)
        elif has_tokens:
            dotted_rule.tables.append(table)
        for index in range(table.first_remainders, table.last_remainders):
            self._put(following, 0, self._store.remainders[index], dotted_rule, node)

    def _predicted(self, nonterminal: int, ahead: int, remainders: RemainderNodes) -> DottedRule:
        """Return what was found for the bodies of a nonterminal; the search for it may go on."""
        if not remainders.number:
            self._store.give_number(remainders)
        key = self._key(nonterminal, ahead, remainders.number)
        found = self._nonterminals.get(key)
        if found is None:
            corner = self.corners.corner(nonterminal, ahead)
            found = self._nonterminals[key] = self._new_dotted_rule(corner)
            left = self.first_bytes(remainders)
            for index in range(len(corner.states)):
                first = corner.firsts[index]
                if first.meets(left):
                    self._read(corner.positions[index], corner.states[index], remainders, found, corner.nodes[index])
        return found

    def _complete(self, dotted_rule: DottedRule, node: int, remainders: RemainderNodes, ahead: int) -> None:
        """Go on with what is left after a node of a dotted rule's left corner, once for each position."""
        waiting = dotted_rule.open
        if waiting is None:
            return
        corner = waiting.corner
        climb = self.corners.climb(corner, node)
        if climb.is_whole:
            self._escape(dotted_rule, remainders, ahead)
        if not climb.kernels:
            return
        if not remainders.number:
            self._store.give_number(remainders)
        left = None if remainders.ended is not None else self.first_bytes(remainders)
        for kernel in climb.kernels:
            first = corner.kernel_firsts[kernel]
            if left is not None and not first.meets(left):
                continue
            key = self._key(kernel, ahead, remainders.number)
            if key in waiting.met:
                continue
            waiting.met.add(key)
            new = self._followed_nodes.new(waiting.followed, self._key(kernel + 1, ahead, 0), remainders)
            if new is not None:
                self._put(corner.kernel_positions[kernel], ahead, new, dotted_rule, corner.kernel_nodes[kernel])

    def _escape(self, dotted_rule: DottedRule, remainders: RemainderNodes, ahead: int) -> None:
        """Pass on what is left at the end of a dotted rule, once for the same remainders and look-ahead."""
        if not remainders.number:
            self._store.give_number(remainders)
        key = self._key(0, ahead, remainders.number)
        waiting = dotted_rule.open
        if waiting is None or key in waiting.escaped:
            return
        waiting.escaped.add(key)
        new = self._followed_nodes.new(waiting.followed, self._key(0, ahead, 0), remainders)
        if new is None:
            return
        remainders = new
        dotted_rule.escapes.append(remainders)
        dotted_rule.escapes.append(ahead)
        for index in range(len(waiting.positions)):
            at = waiting.positions[index]
            self._put(at + 1, ahead, remainders, waiting.dotted_rules[index], waiting.nodes[index])

    def _ended(self, table: TerminalMask) -> RemainderNodes:
        """Return the `RemainderNodes.ended` of a table: its tokens, of which nothing is left."""
        found = self._ends.get(id(table))
        if found is None:
            found = RemainderNodes(self._terminals.trie, 0, 0, 0, 0, None)
            found.ended = table
            self._ends[id(table)] = found
        return found

    def _gather(self, dotted_rule: DottedRule) -> None:
        """Collect in a finished dotted rule the tables of all its parts, and of their parts."""
        self._round += 1
        of_round = self._round
        tables: list[TerminalMask] = []
        stack = [dotted_rule]
        dotted_rule.round = of_round
        while stack:
            part = stack.pop()
            spend(1 + len(part.parts))
            tables.extend(part.tables)
            for inner in part.parts:
                if inner.round != of_round:
                    inner.round = of_round
                    stack.append(inner)
        dotted_rule.tables = list(dict.fromkeys(tables))  # each once: several rules begin with the same terminals
        dotted_rule.parts = []
