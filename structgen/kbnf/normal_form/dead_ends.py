"""Alternatives without a text, and possible dead ends, that look-aheads leave in a grammar.

`'a' !'b' 'b'` has no text at all; `without_refused` removes such alternatives. A dead end is a position after a
terminal where a look-ahead refuses everything that the context has to offer next:

    start ::= word 'x';   word ::= 'a' | 'b' !'x';       after 'b' only 'x' may follow, and the look-ahead refuses it

The masks of a grammar with dead ends may lead to a text that cannot be finished; `possible_dead_ends` names its rules.
"""

from __future__ import annotations

from collections.abc import Callable

from structgen.engine.deadlines import spend
from structgen.engine.grammar.tables import terminal_number
from structgen.engine.regex import tree as rx
from structgen.errors import GrammarError
from structgen.kbnf.normal_form.productions import Body, Productions

__all__ = ["possible_dead_ends", "without_refused"]

Ahead = frozenset[rx.Regex]
"""The sets of characters that must not come next (conditions at a position)."""

Pair = tuple[int, Ahead]
"""A nonterminal, and the conditions before it."""

_FREE: Ahead = frozenset()


def without_refused(productions: Productions, is_empty: Callable[[rx.Regex], bool]) -> Productions:
    """Remove the alternatives that have no text because of their look-aheads.

    Args:
        productions: a grammar without empty bodies.
        is_empty: returns whether a regex matches nothing.
    """
    return _Following(productions, is_empty).without_refused()


def possible_dead_ends(productions: Productions, is_empty: Callable[[rx.Regex], bool]) -> list[str]:
    """Return the names of the rules in which a look-ahead may be a dead end; without any there are no dead ends.

    A rule is named if one of its contexts is a dead end, even if the text always has another context as well.

    Args:
        productions: a grammar without empty bodies.
        is_empty: returns whether a regex matches nothing.
    """
    return _Following(productions, is_empty).possible_dead_ends()


class _Following:
    """The conditions that look-aheads put on the next character, computed through a grammar as a fixed point.

    Attributes:
        ends: for a nonterminal and the conditions before it, all conditions that are possible after it; an empty set
            where it has no text.
    """

    def __init__(self, productions: Productions, is_empty: Callable[[rx.Regex], bool]) -> None:
        self.productions = productions
        self.bodies = productions.bodies
        self.names = productions.names
        self.start = productions.start
        self.marks = productions.terminals.marks
        self.holes = productions.terminals.holes
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
        """Return the grammar without the alternatives that have no text."""
        before: dict[int, list[Ahead]] = {}
        for head, ahead in self.ends:
            before.setdefault(head, []).append(ahead)
        bodies = [
            [body for body in alternatives if head not in before or self._follow(body, set(before[head]))]
            for head, alternatives in enumerate(self.bodies)
        ]
        return self.productions.with_bodies(bodies)

    def possible_dead_ends(self) -> list[str]:
        """Return the names of the rules in which a look-ahead may be a dead end."""
        found: dict[str, None] = {}
        for head in {head for head, _ in self.ends}:
            for body in self.bodies[head]:
                for dot, symbol in enumerate(body, 1):
                    if symbol >= 0:
                        self.users.setdefault(symbol, []).append((head, body, dot))
        for head, ahead in list(self.ends):
            for body in self.bodies[head]:
                states = {ahead}
                for dot, symbol in enumerate(body, 1):
                    states = self._follow((symbol,), states)
                    is_text = symbol < 0 and symbol not in self.marks
                    if is_text and not all(self._is_safe(head, body, dot, state) for state in states):
                        found[self.names[head]] = None
        return list(found)

    def _ask(self, pair: Pair, by: Pair | None) -> set[Ahead]:
        """Return the known ends of a pair; the pair `by`, which asked, is computed again when they grow."""
        if pair not in self.ends:
            self.ends[pair] = set()
            self.pending.append(pair)
        if by is not None:
            self.asked_by.setdefault(pair, set()).add(by)
        return self.ends[pair]

    def _settle(self) -> None:
        """Compute the ends of all pending pairs: a fixed point."""
        while self.pending:
            pair = self.pending.pop()
            found: set[Ahead] = set()
            for body in self.bodies[pair[0]]:
                found |= self._follow(body, {pair[1]}, pair)
            if not found <= self.ends[pair]:
                self.ends[pair] |= found
                self.pending.extend(self.asked_by.get(pair, ()))

    def _follow(self, symbols: Body, states: set[Ahead], by: Pair | None = None) -> set[Ahead]:
        """Return all conditions that are possible after some symbols."""
        while True:
            found = states
            for symbol in symbols:
                spend(1 + len(found))
                found = self._after(symbol, found, by)
            if by is not None or not self.pending:
                return found
            self._settle()

    def _after(self, symbol: int, states: set[Ahead], by: Pair | None) -> set[Ahead]:
        """Return all conditions that are possible after a symbol, given those possible before it."""
        mark = self.marks.get(symbol)
        if symbol >= 0:
            return set().union(*[self._ask((symbol, state), by) for state in states])
        if mark is None:
            return {_FREE} if any(self._can_begin(symbol, state) for state in states) else set()
        if mark.refused is not None:
            return {state | {mark.refused} for state in states}
        # A margin is some white space, or empty.
        return states | {_FREE} if mark.kind == "margin" and states else states

    def _can_begin(self, symbol: int, state: Ahead) -> bool:
        if not state:
            return True
        if symbol in self.holes:
            raise GrammarError(
                "a look-ahead stands before a bound nonterminal",
                hint="write what may not follow into the rule before it",
            )
        known = self.begins.get((symbol, state))
        if known is None:
            refused = rx.sequence(rx.choice(*state), rx.ANY_BYTES)
            known = not self.is_empty(rx.difference(self.regexes[terminal_number(symbol)], refused))
            self.begins[symbol, state] = known
        return known

    def _is_safe(self, head: int, body: Body, dot: int, state: Ahead) -> bool:
        """Return whether something can follow at a dotted rule, in all contexts, if `state` holds there."""
        key = (head, body, dot, state)
        known = self.safe.get(key)
        if known is not None:
            return known
        # Holds during the search: a derivation that leads back here ends elsewhere in the end, and is checked there.
        self.safe[key] = True
        rest = self._follow(body[dot:], {state})
        if any(symbol not in self.marks for symbol in body[dot:]):
            found = bool(rest)
        else:
            found = all(self._goes_on_after(head, after) for after in rest)
        self.safe[key] = found or self._has_sibling(head, body, dot, state)
        return self.safe[key]

    def _goes_on_after(self, head: int, state: Ahead) -> bool:
        """Return whether something can follow a nonterminal, in all contexts, if `state` holds after it."""
        for body in self._companions(head):
            rest = body[1:]
            if any(symbol not in self.marks for symbol in rest) and self._follow(rest, {state}):
                return True
        return all(self._is_safe(*user, state) for user in self.users.get(head, ()))

    def _companions(self, head: int) -> list[Body]:
        """Return the bodies that are predicted together with a nonterminal and begin with it: left recursion."""
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

    def _has_sibling(self, head: int, body: Body, dot: int, state: Ahead) -> bool:
        """Return whether another body begins with the same symbols, and something can follow there."""
        while dot and body[dot - 1] in self.marks:
            dot -= 1
        # After a terminal only the conditions written right there hold.
        held = {_FREE if dot and body[dot - 1] < 0 else state}
        for other in self.bodies[head]:
            if other == body or other[:dot] != body[:dot]:
                continue
            if any(symbol not in self.marks for symbol in other[dot:]):
                if self._follow(other[dot:], held):
                    return True
            elif all(self._goes_on_after(head, after) for after in self._follow(other[dot:], held)):
                return True
        return False
