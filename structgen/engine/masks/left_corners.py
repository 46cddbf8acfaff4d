"""The left corners of a grammar's nonterminals: the terminals that begin their texts, and the ways back up.

    expression ::= sum ;      sum ::= product | sum "+" product ;      product ::= name | product "*" name ;

Where an expression may come, so may a sum, a product or a name: each begins the one before it. The symbols that begin a
nonterminal's texts, in any number of steps, are its *left corner* (Rosenkrantz and Lewis, "Deterministic Left Corner
Parsing", 1970). It is found once, with the ways back: after a name the operators of all levels may come (`*`, `+`), or
the expression may end. A *climb* is the list of these, so that no text has to go up level by level again. (Leo's
transitive items, 1991, do this for rules that are recursive on the right; climbs do it for all rules.)
"""

from __future__ import annotations

from structgen.engine.deadlines import spend
from structgen.engine.earley.item_sets import ItemSetStore
from structgen.engine.grammar.tables import END
from structgen.engine.masks.tables import ByteSet

__all__ = ["Climb", "Corner", "LeftCorners"]

ANY_BYTE = 2**256 - 1  # a bit for each


class Climb:
    """The positions at which texts may go on after a nonterminal of a left corner.

    Attributes:
        kernels: the numbers of the positions: indices of `Corner.kernel_positions`.
        is_whole: whether the text so far may also be a whole text of the corner's nonterminal.
    """

    def __init__(self) -> None:
        self.kernels: list[int] = []
        self.is_whole = False


class Corner:
    """The left corner of a nonterminal where a look-ahead holds.

    Its *nodes* are nonterminals with the look-aheads that hold where they begin; node 0 is the nonterminal itself.

    Attributes:
        states, positions, nodes, firsts: in parallel, for each terminal that begins a text: the state in which it
            begins, its position, the node whose body it begins, and the bytes that it begins with.
        kernel_positions, kernel_nodes, kernel_firsts: in parallel, for each position after a nonterminal that begins a
            body: the position, the node whose body it is, and the bytes that may come; all bytes at the body's end.
        kernel_of: the indices of these by node and position.
        callers: by node, in turn, the positions at which it begins a body, and the nodes of these bodies.
        climbs: by node; None until it is needed.
    """

    def __init__(self) -> None:
        self.states: list[int] = []
        self.positions: list[int] = []
        self.nodes: list[int] = []
        self.firsts: list[ByteSet] = []
        self.kernel_positions: list[int] = []
        self.kernel_nodes: list[int] = []
        self.kernel_firsts: list[ByteSet] = []
        self.kernel_of: dict[int, int] = {}
        self.callers: list[list[int]] = [[]]
        self.climbs: list[Climb | None] = [None]


class LeftCorners:
    """The left corners of one grammar that have been asked for.

    Args:
        sets: the grammar's item sets; its rules may grow.

    Attributes:
        body: the corner of no nonterminal, for a body that is already begun: its end is the end of the whole.
        covered: positions of terminals at the end of a body after which a look-ahead holds, while another body of the
            nonterminal has the same symbols and goes on: a word with and without white space after it. So a token that
            ends there is allowed by the other body, whatever the look-ahead refuses.
        watched_ends: positions at which a body ends and a look-ahead may hold, though none stands there: it stands
            after the nonterminal of the body, or of one that ends with it. See `find_watched`.
    """

    def __init__(self, sets: ItemSetStore) -> None:
        self._sets = sets
        self._rules = sets.rules
        self._lookaheads = sets.rules.lookaheads
        self._corners: dict[int, Corner] = {}
        self.body = Corner()
        self._first_at: list[ByteSet | None] = []  # by position
        self._first_of_state: dict[int, ByteSet] = {}
        self._byte_sets: dict[int, ByteSet] = {}
        self._met: set[int] = set()
        self._uncompared: list[int] = []
        self._is_comparing = False
        self.covered: set[int] = set()
        self.watched_ends: set[int] = set()
        self._watched: set[int] = set()  # nonterminals whose bodies have these ends
        self._unmade: list[int] = []  # those of them that have no bodies yet
        self._looked_at = 0  # symbols that `find_watched` has looked at
        self._any_byte = self.byte_set(ANY_BYTE)

    def byte_set(self, bits: int) -> ByteSet:
        """Return the set of the bytes whose bits are set; the same object for the same bytes."""
        found = self._byte_sets.get(bits)
        if found is None:
            found = self._byte_sets[bits] = ByteSet(bits)
        return found

    def corner(self, nonterminal: int, ahead: int) -> Corner:
        """Return the left corner of a nonterminal where a look-ahead holds."""
        key = nonterminal
        key = key << 6 | ahead
        found = self._corners.get(key)
        if found is None:
            found = self._corners[key] = self._made(key)
            self._compare_bodies()
        return found

    def _made(self, key: int) -> Corner:
        rules = self._rules
        corner = Corner()
        node_of = {key: 0}
        keys = [key]
        node = 0
        while node < len(keys):
            at = keys[node]
            head, ahead = at >> 6, at & 63
            self._prepare(head)
            for rule in range(rules.first_rule[head], rules.last_rule[head]):
                position = rules.rule_starts[rule]
                held = self._lookaheads.united(ahead, rules.before[position])
                symbol = rules.symbols[position]
                if symbol < 0:
                    self._add_terminal(corner, position, held, node)
                    continue
                called = symbol << 6 | held
                begun = node_of.get(called)
                if begun is None:
                    begun = node_of[called] = len(keys)
                    keys.append(called)
                    corner.callers.append([])
                    corner.climbs.append(None)
                corner.callers[begun].append(position)
                corner.callers[begun].append(node)
            node += 1
        return corner

    def _prepare(self, nonterminal: int) -> None:
        """Make the bodies of a nonterminal, and note that they are to be compared, when it is first met."""
        if self._rules.first_rule[nonterminal] < 0:
            self._rules.expand(nonterminal)
        if nonterminal not in self._met:
            self._met.add(nonterminal)
            self._uncompared.append(nonterminal)

    def _compare_bodies(self) -> None:
        """Find the covered positions of the nonterminals met so far, and of those that are met in this search."""
        if not self._is_comparing:
            self._is_comparing = True
            try:
                while self._uncompared:
                    self._find_covered(self._uncompared.pop())
            finally:
                self._is_comparing = False

    def _add_terminal(self, corner: Corner, position: int, held: int, node: int) -> None:
        state = self._lookaheads.started(self._rules.start_state[position], held)
        if state:
            corner.states.append(state)
            corner.positions.append(position)
            corner.nodes.append(node)
            corner.firsts.append(self._first_of(state))

    def _first_of(self, state: int) -> ByteSet:
        """Return the bytes that lead on from a state."""
        found = self._first_of_state.get(state)
        if found is None:
            found = self._first_of_state[state] = self.byte_set(self._sets.automata.first_bytes(state))
        return found

    def climb(self, corner: Corner, node: int) -> Climb:
        """Return where texts may go on after a node of a corner, any number of levels up."""
        found = corner.climbs[node]
        if found is None:
            found = corner.climbs[node] = self._climbed(corner, node)
        return found

    def _climbed(self, corner: Corner, node: int) -> Climb:
        rules = self._rules
        climb = Climb()
        seen = {node}
        pending = [node]
        while pending:
            at = pending.pop()
            if at == 0:
                climb.is_whole = True
            callers = corner.callers[at]
            spend(1 + len(callers))
            for index in range(0, len(callers), 2):
                following, above = callers[index] + 1, callers[index + 1]
                if rules.symbols[following] != END or rules.before[following]:
                    climb.kernels.append(self._kernel(corner, following, above))
                elif above not in seen:
                    seen.add(above)
                    pending.append(above)
        return climb

    def _kernel(self, corner: Corner, position: int, node: int) -> int:
        key = node
        key = key << 32 | position
        found = corner.kernel_of.get(key)
        if found is None:
            found = corner.kernel_of[key] = len(corner.kernel_positions)
            corner.kernel_positions.append(position)
            corner.kernel_nodes.append(node)
            corner.kernel_firsts.append(self.first_after(position))
        return found

    def first_at(self, position: int) -> ByteSet:
        """Return the bytes that may come at a position inside its body, whatever look-ahead holds."""
        if position >= len(self._first_at):
            self._first_at.extend([None] * (self._rules.size - len(self._first_at)))
        found = self._first_at[position]
        if found is None:
            symbol = self._rules.symbols[position]
            if symbol < 0:
                found = self._first_of(self._rules.start_state[position])
            else:
                found = ByteSet(0)
                for first in self.corner(symbol, 0).firsts:
                    found.add(first)
            self._first_at[position] = found
        return found

    def first_after(self, position: int) -> ByteSet:
        """Return the bytes that may come at a position after a nonterminal; any byte at the end of the body."""
        return self._any_byte if self._rules.symbols[position] == END else self.first_at(position)

    def _find_covered(self, nonterminal: int) -> None:
        """Add the covered positions of a nonterminal's bodies."""
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
                        self.covered.add(end - 1)

    def _goes_further(self, start: int, end: int, other: int) -> bool:
        """Return whether the body at `other` has the symbols of the one from `start` to `end`, and surely goes on."""
        rules = self._rules
        for index in range(end - start):
            at, there = start + index, other + index
            same = rules.symbols[at] == rules.symbols[there] and rules.start_state[at] == rules.start_state[there]
            if not same or rules.before[at] != rules.before[there]:
                return False
        return rules.symbols[other + end - start] != END and self.is_alive(other + end - start, 0)

    def find_watched(self) -> bool:
        """Find the watched ends of the rules made so far; return whether bodies known before have some of the new ones.

        In `word ::= letters !letter; letters ::= 'a' . | letters 'a' . ;` the look-ahead holds at both dots.
        """
        rules, known = self._rules, self._looked_at
        if rules.size == known:
            return False
        self._looked_at = rules.size
        waiting, self._unmade = self._unmade, []
        for position in range(known, rules.size):
            if rules.symbols[position] >= 0 and rules.before[position + 1]:
                self._watch(rules.symbols[position], waiting)
        is_older = False
        while waiting:
            nonterminal = waiting.pop()
            if rules.first_rule[nonterminal] < 0:
                self._unmade.append(nonterminal)
                continue
            for rule in range(rules.first_rule[nonterminal], rules.last_rule[nonterminal]):
                end = rules.rule_starts[rule]
                while rules.symbols[end] != END:
                    end += 1
                self.watched_ends.add(end)
                is_older = is_older or end < known
                if end > rules.rule_starts[rule] and rules.symbols[end - 1] >= 0:
                    self._watch(rules.symbols[end - 1], waiting)
        return is_older

    def _watch(self, nonterminal: int, waiting: list[int]) -> None:
        """Add a nonterminal to those whose bodies are to be looked at, unless it was added before."""
        if nonterminal not in self._watched:
            self._watched.add(nonterminal)
            waiting.append(nonterminal)

    def is_alive(self, position: int, ahead: int) -> bool:
        """Return whether a text can begin at a position inside its body, where a look-ahead holds."""
        rules = self._rules
        ahead = self._lookaheads.united(ahead, rules.before[position])
        if not ahead:
            return True
        symbol = rules.symbols[position]
        if symbol < 0:
            return self._lookaheads.started(rules.start_state[position], ahead) != 0
        return len(self.corner(symbol, ahead).states) != 0
