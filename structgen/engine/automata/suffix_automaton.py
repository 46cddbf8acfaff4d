"""The smallest automaton of all substrings of a text of units, such as words or characters.

A *run* is a sequence of neighbouring units of the text. Two runs lead to the same state if they end at the same
positions of the text, so that the same units follow them. For the text `a b b`:

    state    runs           edges
    0        (empty)        a -> 1, b -> 4
    1        a              b -> 2
    2        ab             b -> 3
    3        abb, bb        none
    4        b              b -> 3
"""

from __future__ import annotations

from structgen.engine.arrays import zeros
from structgen.engine.deadlines import spend

__all__ = ["SuffixAutomaton"]

NONE = -1
EDGES_PER_UNIT = 256  # edges that a search passes in about a microsecond


class SuffixAutomaton:
    """Automaton of the runs of a text, in flat arrays: 100,000 characters take 2 to 5 MB.

    State 0 is the start; all states accept. Built online, unit by unit, in time linear in the text, except that finding
    an edge of a state takes a search through its edges.

    Source: Blumer et al., "The Smallest Automaton Recognizing the Subwords of a Text" (1985).

    Args:
        units: the text.

    Attributes:
        bytes_used: estimated memory, in bytes.

    >>> sorted(SuffixAutomaton((b"a", b"b", b"a")).edges(0))
    [(b'a', 1), (b'b', 2)]
    """

    def __init__(self, units: tuple[bytes, ...]) -> None:
        self._units = list(dict.fromkeys(units))
        number_of = {unit: number for number, unit in enumerate(self._units)}
        states = 2 * len(units) + 1
        self._states = 1
        self._edges = 0
        self._first = zeros(states, NONE)
        self._next = zeros(3 * len(units) + 1, NONE)
        self._labels = zeros(3 * len(units) + 1)
        self._targets = zeros(3 * len(units) + 1)
        self._link = zeros(states, NONE)
        self._length = zeros(states)
        self._from_start = zeros(len(self._units), NONE)  # by unit: the edge of state 0, which has one for each unit
        self._passed = 0  # edges that searches have passed and `spend` has not counted
        self._build([number_of[unit] for unit in units])
        self._pack()
        self.bytes_used = 4 * (len(self._first) + 2 * len(self._targets)) + sum(map(len, self._units))

    def edges(self, state: int) -> list[tuple[bytes, int]]:
        """Return the units that may come next after a state, each with the state it leads to."""
        found: list[tuple[bytes, int]] = []
        for at in range(self._first[state], self._first[state + 1]):
            found.append((self._units[self._labels[at]], self._targets[at]))
        return found

    def _build(self, text: list[int]) -> None:
        last = 0
        for unit in text:
            spend(1 + self._passed // EDGES_PER_UNIT)
            self._passed %= EDGES_PER_UNIT
            state = self._new_state(self._length[last] + 1)
            self._link[state] = 0
            at = last
            edge = NONE
            while at >= 0:
                edge = self._edge(at, unit)
                if edge >= 0:
                    break
                self._add_edge(at, unit, state)
                at = self._link[at]
            if at >= 0:
                target = self._targets[edge]
                if self._length[target] != self._length[at] + 1:
                    target = self._cloned(at, unit, target)
                self._link[state] = target
            last = state

    def _cloned(self, at: int, unit: int, target: int) -> int:
        """Split a state, and return the new state for its shorter runs.

        The runs of `target` that are at most one unit longer than the longest run of `at` can also end at the newest
        position of the text; the longer runs cannot. The new state gets a copy of the edges, and the edges that lead to
        `target` on the suffix links from `at` on now lead to it.
        """
        clone = self._new_state(self._length[at] + 1)
        edge = self._first[target]
        while edge >= 0:
            self._add_edge(clone, self._labels[edge], self._targets[edge])
            edge = self._next[edge]
        self._link[clone] = self._link[target]
        self._link[target] = clone
        while at >= 0:
            edge = self._edge(at, unit)
            if edge < 0 or self._targets[edge] != target:
                break
            self._targets[edge] = clone
            at = self._link[at]
        return clone

    def _new_state(self, length: int) -> int:
        state = self._states
        self._length[state] = length
        self._states = state + 1
        return state

    def _add_edge(self, state: int, unit: int, target: int) -> None:
        edge = self._edges
        self._labels[edge] = unit
        self._targets[edge] = target
        self._next[edge] = self._first[state]
        self._first[state] = edge
        self._edges = edge + 1
        if state == 0:
            self._from_start[unit] = edge

    def _edge(self, state: int, unit: int) -> int:
        """Return the edge of a unit from a state; NONE if there is none."""
        if state == 0:
            return self._from_start[unit]
        edge = self._first[state]
        while edge >= 0 and self._labels[edge] != unit:
            edge = self._next[edge]
            self._passed += 1
        return edge

    def _pack(self) -> None:
        """Store the edges of each state one after another, and drop the arrays that only the construction needs."""
        first = zeros(self._states + 1)
        labels = zeros(self._edges)
        targets = zeros(self._edges)
        count = 0
        for state in range(self._states):
            edge = self._first[state]
            while edge >= 0:
                labels[count] = self._labels[edge]
                targets[count] = self._targets[edge]
                count += 1
                edge = self._next[edge]
            first[state + 1] = count
        self._first = first
        self._labels = labels
        self._targets = targets
        self._next = self._link = self._length = self._from_start = zeros(0)
