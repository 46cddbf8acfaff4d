"""What look-aheads leave of a grammar: alternatives without a text, and dead ends.

`'a' !'b' 'b'` has no text at all, and goes from the grammar as whatever derives nothing does. A dead end is a place
where a terminal may end, a look-ahead holds, and some context has nothing that it lets follow; the masks of such a
grammar may come to a text that cannot be finished.
"""

from __future__ import annotations

from collections.abc import Callable

from structgen.engine.grammar.tables import terminal_number
from structgen.engine.regex import tree as rx
from structgen.kbnf.normal_form.productions import Body, Productions

__all__ = ["possible_dead_ends", "without_refused"]

Ahead = frozenset[rx.Regex]
"""The sets of characters that must not come next."""

Pair = tuple[int, Ahead]
"""A nonterminal, and what holds before it."""

_FREE: Ahead = frozenset()


def without_refused(productions: Productions, is_empty: Callable[[rx.Regex], bool]) -> Productions:
    """Drops the alternatives that have no text because of their look-aheads.

    Args:
        productions: without empty bodies.
        is_empty: whether a regex matches nothing.
    """
    return _Following(productions, is_empty).without_refused()


def possible_dead_ends(productions: Productions, is_empty: Callable[[rx.Regex], bool]) -> list[str]:
    """The rules in which a look-ahead may leave nothing that could follow. Without any there are no dead ends.

    The condition is sufficient, not necessary: a rule is told where one of its contexts is a dead end, though another
    context may always stand beside that.

    Args:
        productions: without empty bodies.
        is_empty: whether a regex matches nothing.
    """
    return _Following(productions, is_empty).possible_dead_ends()


class _Following:
    """What can follow what.

    Attributes:
        ends: for a nonterminal and what holds before it, all that may hold behind it; nothing where it has no text.
    """

    def __init__(self, productions: Productions, is_empty: Callable[[rx.Regex], bool]) -> None:
        self.productions = productions
        self.bodies = productions.bodies
        self.names = productions.names
        self.start = productions.start
        self.marks = productions.terminals.marks
        self.regexes = productions.terminals.regexes
        self.is_empty = is_empty
        self.begins: dict[tuple[int, Ahead], bool] = {}
        self.ends: dict[Pair, set[Ahead]] = {}
        self.asked_by: dict[Pair, set[Pair]] = {}
        self.pending: list[Pair] = []
        self.users: dict[int, list[tuple[int, Body, int]]] = {}
        self.companions: dict[int, list[Body]] = {}
        self.safe: dict[tuple[int, Body, int, Ahead], bool] = {}
        self._ask((self.start, _FREE), None)
        self._settle()

    def without_refused(self) -> Productions:
        """See the function."""
        before: dict[int, list[Ahead]] = {}
        for head, ahead in self.ends:
            before.setdefault(head, []).append(ahead)
        bodies = [
            [body for body in alternatives if head not in before or self._follow(body, set(before[head]))]
            for head, alternatives in enumerate(self.bodies)
        ]
        return self.productions.with_bodies(bodies)

    def possible_dead_ends(self) -> list[str]:
        """See the function."""
        found: dict[str, None] = {}
        for head in {head for head, _ in self.ends}:
            for body in self.bodies[head]:
                for place, symbol in enumerate(body):
                    if symbol >= 0:
                        self.users.setdefault(symbol, []).append((head, body, place + 1))
        for head, ahead in list(self.ends):
            for body in self.bodies[head]:
                states = {ahead}
                for place, symbol in enumerate(body, 1):
                    states = self._follow((symbol,), states)
                    is_text = symbol < 0 and symbol not in self.marks
                    if is_text and not all(self._is_safe(head, body, place, state) for state in states):
                        found[self.names[head]] = None
        return list(found)

    def _ask(self, pair: Pair, by: Pair | None) -> set[Ahead]:
        """What is known so far of the ends of a pair; whoever asks is told when that grows."""
        if pair not in self.ends:
            self.ends[pair] = set()
            self.pending.append(pair)
        if by is not None:
            self.asked_by.setdefault(pair, set()).add(by)
        return self.ends[pair]

    def _settle(self) -> None:
        """Finds all that was asked for: a fixed point."""
        while self.pending:
            pair = self.pending.pop()
            found: set[Ahead] = set()
            for body in self.bodies[pair[0]]:
                found |= self._follow(body, {pair[1]}, pair)
            if not found <= self.ends[pair]:
                self.ends[pair] |= found
                self.pending.extend(self.asked_by.get(pair, ()))

    def _follow(self, symbols: Body, states: set[Ahead], by: Pair | None = None) -> set[Ahead]:
        """All that may hold behind some symbols."""
        while True:
            found = states
            for symbol in symbols:
                found = self._after(symbol, found, by)
            if by is not None or not self.pending:
                return found
            self._settle()

    def _after(self, symbol: int, states: set[Ahead], by: Pair | None) -> set[Ahead]:
        """All that may hold behind a symbol before which some of `states` hold."""
        mark = self.marks.get(symbol)
        if symbol >= 0:
            return set().union(*[self._ask((symbol, state), by) for state in states])
        if mark is None:
            return {_FREE} if any(self._can_begin(symbol, state) for state in states) else set()
        if mark.refused is not None:
            return {state | {mark.refused} for state in states}
        # A margin is some white space, or nothing.
        return states | {_FREE} if mark.kind == "margin" and states else states

    def _can_begin(self, symbol: int, state: Ahead) -> bool:
        if not state:
            return True
        known = self.begins.get((symbol, state))
        if known is None:
            refused = rx.sequence(rx.choice(*state), rx.ANY_BYTES)
            known = not self.is_empty(rx.difference(self.regexes[terminal_number(symbol)], refused))
            self.begins[symbol, state] = known
        return known

    def _is_safe(self, head: int, body: Body, place: int, state: Ahead) -> bool:
        """Whether something can follow, wherever a text of `body` has come to `place` and `state` holds."""
        key = (head, body, place, state)
        known = self.safe.get(key)
        if known is not None:
            return known
        # While it is looked for: what leads back here ends somewhere else in the end, and is looked at there.
        self.safe[key] = True
        rest = self._follow(body[place:], {state})
        if any(symbol not in self.marks for symbol in body[place:]):
            found = bool(rest)
        else:
            found = all(self._goes_on_behind(head, after) for after in rest)
        self.safe[key] = found or self._has_sibling(head, body, place, state)
        return self.safe[key]

    def _goes_on_behind(self, head: int, state: Ahead) -> bool:
        """Whether something can follow a nonterminal's text behind which `state` holds, wherever it is used."""
        for body in self._companions(head):
            rest = body[1:]
            if any(symbol not in self.marks for symbol in rest) and self._follow(rest, {state}):
                return True
        return all(self._is_safe(*user, state) for user in self.users.get(head, ()))

    def _companions(self, head: int) -> list[Body]:
        """The bodies that begin with a nonterminal, and are predicted wherever it is: left recursion."""
        known = self.companions.get(head)
        if known is None:
            known = self.companions[head] = []
            seen, pending = {head}, [head]
            while pending:
                for body in self.bodies[pending.pop()]:
                    if body[0] == head:
                        known.append(body)
                    elif body[0] >= 0 and body[0] not in seen:
                        seen.add(body[0])
                        pending.append(body[0])
        return known

    def _has_sibling(self, head: int, body: Body, place: int, state: Ahead) -> bool:
        """Whether another body begins with the same symbols, and something can follow there."""
        while place and body[place - 1] in self.marks:
            place -= 1
        # What holds behind a terminal is only what is written there.
        held = {_FREE if place and body[place - 1] < 0 else state}
        for other in self.bodies[head]:
            if other == body or other[:place] != body[:place]:
                continue
            if any(symbol not in self.marks for symbol in other[place:]):
                if self._follow(other[place:], held):
                    return True
            elif all(self._goes_on_behind(head, after) for after in self._follow(other[place:], held)):
                return True
        return False
