"""The shortest texts of nonterminals, found without writing down more of a lazy grammar than they need.

The length of a nonterminal is the least sum over one of its bodies: the lengths of terminals, which their automata
tell, and those of the nonterminals in it (Knuth, "A generalization of Dijkstra's algorithm", 1977). Lazy grammars have
too many nonterminals to look at all of them: an object with twenty keys in any order has a million. So there are two
searches, which open bodies one by one:

    greedy     of each nonterminal only the body that seems to leave least to write; the next one only where that leads
               nowhere. It finds some text.
    bounded    all bodies that can be part of a text shorter than that. It ends after MAX_BODIES of them.

Where the bounded search ends by itself, the length is the least one. Otherwise it is the length of some text.

    list ::= '[' ']' | '[' items ']';     greedy: list has the body '[' ']', 2 bytes
    items ::= item | item ',' items;      bounded: '[' items ']' has 3 bytes at least: it is not opened
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable

from structgen.engine.deadlines import spend
from structgen.engine.grammar.rules import Rules
from structgen.engine.grammar.tables import CAPTURES, END, TERMINAL, RuleSource

__all__ = ["FAR", "ShortestBodies"]

FAR = 1 << 40  # a length that no text has
MAX_BODIES = 2_000  # bodies that a bounded search opens
MAX_GREEDY_BODIES = 200_000  # bodies that a greedy search opens
PREFERRED = b"a0A"  # bytes of a text, where several lead to the same state


class _Body:
    """A body that was opened.

    Attributes:
        owner: its nonterminal.
        position: where it begins.
        fixed: the length of its terminals.
        parts: its nonterminals; one for each time it occurs.
    """

    __slots__ = ("fixed", "owner", "parts", "position")

    def __init__(self, owner: int, position: int, fixed: int, parts: tuple[int, ...]) -> None:
        self.owner = owner
        self.position = position
        self.fixed = fixed
        self.parts = parts


class ShortestBodies:
    """Finds the shortest bodies of nonterminals. What was found is kept.

    Args:
        rules: the grammar. Bodies of lazy nonterminals are made where they are needed.
        source: makes them; it knows lower bounds of their texts.
    """

    def __init__(self, rules: Rules, source: RuleSource | None) -> None:
        self._rules = rules
        self._source = source
        self._bounds: dict[int, int] = {}
        self._lengths: dict[int, int] = {}
        self._best: dict[int, _Body] = {}
        self._opened: dict[int, dict[int, _Body]] = {}  # by nonterminal: its open bodies, by position
        self._users: dict[int, list[_Body]] = {}
        self._texts: dict[int, bytes | None] = {}  # by state of a terminal
        self._searched: set[int] = set()
        self._sizes: dict[int, tuple[int, tuple[int, ...]]] = {}

    def length_of_rest(self, position: int) -> int:
        """Return the length of a shortest text of a body from a position on; FAR if it has none.

        Raises:
            LimitExceededError: grammar_symbols, automaton_states, or a limit of the source.
        """
        fixed, parts = self._size_from(position)
        if fixed < FAR:
            for part in parts:
                self._search(part)
                fixed += self._lengths.get(part, FAR)
        return min(fixed, FAR)

    def terminal_text(self, state: int) -> bytes | None:
        """Return a shortest text of a terminal from a state on; None if it has none."""
        if state not in self._texts:
            text = self._rules.automata.shortest_text(state)
            self._texts[state] = None if text is None else self._in_letters(state, text)
        return self._texts[state]

    def _in_letters(self, state: int, text: bytes) -> bytes:
        """Return a text of the same states, with letters and digits where it can have them."""
        automata = self._rules.automata
        out = bytearray()
        for at in range(len(text)):
            target = automata.next(state, text[at])
            ways = automata.successors(state)[target]
            out.append(next((byte for byte in PREFERRED if ways >> byte & 1), text[at]))
            state = target
        return bytes(out)

    def best_body(self, nonterminal: int) -> int:
        """Return where the shortest body of a nonterminal begins; -1 if it has no text."""
        if nonterminal not in self._best:
            self._search(nonterminal)
        best = self._best.get(nonterminal)
        return -1 if best is None else best.position

    # -- bodies -----------------------------------------------------------------------------------------------------

    def _size_from(self, position: int) -> tuple[int, tuple[int, ...]]:
        """Return the length of the terminals of a body from a position on, and its nonterminals there."""
        known = self._sizes.get(position)
        if known is None:
            known = self._sizes[position] = self._measured(position)
        return known

    def _measured(self, position: int) -> tuple[int, tuple[int, ...]]:
        rules = self._rules
        fixed = 0
        parts: list[int] = []
        symbol = rules.symbols[position]
        while symbol != END:
            if symbol <= CAPTURES:
                position = rules.continuation(CAPTURES - symbol, None)
                if position < 0:
                    return FAR, ()
            elif symbol == TERMINAL:
                text = self.terminal_text(rules.start_state[position])
                if text is None:
                    return FAR, ()
                fixed += len(text)
                position += 1
            else:
                parts.append(symbol)
                position += 1
            symbol = rules.symbols[position]
        return fixed, tuple(parts)

    def _bodies(self, nonterminal: int) -> Iterable[int]:
        """Return where the bodies of a nonterminal begin."""
        rules = self._rules
        if rules.first_rule[nonterminal] < 0:
            rules.expand(nonterminal)
        return [rules.rule_starts[rule] for rule in range(rules.first_rule[nonterminal], rules.last_rule[nonterminal])]

    def _least(self, position: int) -> int:
        """Return a lower bound of the length of a body."""
        fixed, parts = self._size_from(position)
        return fixed + sum([self._bound(part) for part in parts])

    def _bound(self, nonterminal: int) -> int:
        """Return a lower bound of the length of a nonterminal."""
        if nonterminal in self._searched:
            return self._lengths.get(nonterminal, FAR)
        bound = self._bounds.get(nonterminal)
        if bound is None:
            key = self._rules.key_of(nonterminal)
            bound = 1 if key is None or self._source is None else self._source.least_bytes(key)
            self._bounds[nonterminal] = bound
        return bound

    def _open(self, owner: int, position: int) -> None:
        """Open a body: its length counts from now on."""
        spend(1)
        fixed, parts = self._size_from(position)
        body = _Body(owner, position, fixed, parts)
        self._opened.setdefault(owner, {})[position] = body
        for part in set(parts):
            self._users.setdefault(part, []).append(body)
        self._update(body)

    def _update(self, body: _Body) -> None:
        """Make a body the best of its nonterminal if it is, and see what becomes shorter by it."""
        waiting = deque([body])
        while waiting:
            body = waiting.popleft()
            length = body.fixed
            for part in body.parts:
                length += self._lengths.get(part, FAR)
            if length < self._lengths.get(body.owner, FAR):
                spend(1)
                self._lengths[body.owner] = length
                self._best[body.owner] = body
                waiting.extend(self._users.get(body.owner, ()))

    # -- searches ---------------------------------------------------------------------------------------------------

    def _search(self, goal: int) -> None:
        """Find a shortest body of a nonterminal, once."""
        if goal in self._searched:
            return
        self._search_greedily(goal)
        if goal in self._lengths:
            self._search_within(goal, self._lengths[goal])
        self._searched.add(goal)

    def _search_greedily(self, goal: int) -> None:
        """Find some text of a nonterminal, if it has one."""
        waiting = deque([goal])
        seen = {goal}
        count = 0
        while goal not in self._lengths and count < MAX_GREEDY_BODIES:
            before = count, len(seen)
            while waiting and goal not in self._lengths:
                nonterminal = waiting.popleft()
                count += self._open_next(nonterminal)
                for body in self._opened.get(nonterminal, {}).values():
                    for part in body.parts:
                        if part not in seen and part not in self._lengths:
                            seen.add(part)
                            waiting.append(part)
            if (count, len(seen)) == before:
                return
            waiting.extend([nonterminal for nonterminal in seen if nonterminal not in self._lengths])

    def _open_next(self, nonterminal: int) -> bool:
        """Open the body that leaves least to find among those that are not open; return whether there is one."""
        opened = self._opened.get(nonterminal, {})
        best = (FAR, FAR, -1)
        for at in self._bodies(nonterminal):
            fixed, parts = self._size_from(at)
            # A shortest text of a nonterminal has none of its other texts within it.
            if at not in opened and fixed < FAR and nonterminal not in parts:
                best = min(best, (sum([self._bound(part) for part in parts]), fixed, at))
        if best[2] < 0:
            return False
        self._open(nonterminal, best[2])
        return True

    def _search_within(self, goal: int, most: int) -> None:
        """Open all bodies that can be part of a text of at most so many bytes."""
        room = {goal: most}
        waiting = [(-most, goal)]
        count = 0
        while waiting and count < MAX_BODIES:
            most, nonterminal = heapq.heappop(waiting)
            most = -most
            if room[nonterminal] > most or nonterminal in self._searched:
                continue
            for position in self._bodies(nonterminal):
                count += 1
                least = self._least(position)
                if least > most:
                    continue
                if position not in self._opened.get(nonterminal, {}):
                    self._open(nonterminal, position)
                for part in self._size_from(position)[1]:
                    left = most - least + self._bound(part)
                    if room.get(part, 0) < left:
                        room[part] = left
                        heapq.heappush(waiting, (-left, part))
        if not waiting:  # all is known that fits in the room of a nonterminal
            self._searched.update([part for part, left in room.items() if self._lengths.get(part, FAR) <= left])
        else:
            self._settle(goal)

    def _settle(self, goal: int) -> None:
        """End the search for shorter texts of a nonterminal, and of those in the text that was found for it."""
        waiting = [goal]
        while waiting:
            nonterminal = waiting.pop()
            if nonterminal not in self._searched:
                self._searched.add(nonterminal)
                waiting.extend(self._best[nonterminal].parts)
