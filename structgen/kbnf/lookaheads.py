"""Whether a grammar with look-aheads leads into no dead end.

Where a terminal ends and a look-ahead holds, something must be able to follow in every context, or a mask would allow
a text that cannot be finished: `'a' !'b' 'b'` has no text at all. What such a grammar means is asked here once, of the
normal form, so that the engine need not ask it of every item.
"""

from __future__ import annotations

from collections.abc import Callable

from structgen.engine import regex as rx
from structgen.engine.grammar import terminal_number
from structgen.errors import GrammarError
from structgen.kbnf.productions import Body, Productions

__all__ = ["check_lookaheads"]

Ahead = frozenset[rx.Regex]
"""The sets of characters that must not come next."""

_FREE: Ahead = frozenset()


def check_lookaheads(productions: Productions, is_empty: Callable[[rx.Regex], bool]) -> None:
    """Refuses a grammar in which look-aheads may leave nothing that could follow.

    The condition is sufficient, not necessary: a rule is refused where one of its contexts is a dead end, whether or
    not another context always stands beside that.

    Args:
        productions: without empty bodies.
        is_empty: whether a regex matches nothing.

    Raises:
        GrammarError: a rule ends in a look-ahead behind which a context has nothing that it allows.
    """
    _Check(productions, is_empty).run()


class _Check:
    """The state of one check.

    Attributes:
        ends: for a nonterminal and what holds before it, all that may hold behind it; nothing where it has no text.
    """

    def __init__(self, productions: Productions, is_empty: Callable[[rx.Regex], bool]) -> None:
        self.bodies = productions.bodies
        self.names = productions.names
        self.start = productions.start
        self.marks = productions.terminals.marks
        self.regexes = productions.terminals.regexes
        self.is_empty = is_empty
        self.begins: dict[tuple[int, Ahead], bool] = {}
        self.ends: dict[tuple[int, Ahead], set[Ahead]] = {}
        self.users: dict[int, list[tuple[int, Body, int]]] = {}
        self.safe: dict[tuple[int, Body, int, Ahead], bool] = {}

    def run(self) -> None:
        self._find_ends()
        for head, alternatives in enumerate(self.bodies):
            for body in alternatives:
                for place, symbol in enumerate(body):
                    if symbol >= 0:
                        self.users.setdefault(symbol, []).append((head, body, place + 1))
        for head, ahead in list(self.ends):
            for body in self.bodies[head]:
                states = {ahead}
                for place, symbol in enumerate(body, 1):
                    states = self._after(symbol, states)
                    is_text = symbol < 0 and symbol not in self.marks
                    if is_text and not all(self._is_safe(head, body, place, state) for state in states):
                        raise GrammarError(
                            f"in the rule {self.names[head]!r}: a '!' may leave nothing that can follow",
                            hint="let white space, or something else that the '!' does not refuse, follow there",
                        )

    def _find_ends(self) -> None:
        """A fixed point over the pairs that are asked for, from the start on."""
        self.ends[self.start, _FREE] = set()
        before = -1
        while before != (before := sum(map(len, self.ends.values())) + len(self.ends)):
            for head, ahead in list(self.ends):
                for body in self.bodies[head]:
                    self.ends[head, ahead] |= self._follow(body, {ahead})

    def _follow(self, symbols: Body, states: set[Ahead]) -> set[Ahead]:
        for symbol in symbols:
            states = self._after(symbol, states)
        return states

    def _after(self, symbol: int, states: set[Ahead]) -> set[Ahead]:
        """All that may hold behind a symbol before which some of `states` hold."""
        mark = self.marks.get(symbol)
        if symbol >= 0:
            return set().union(*[self.ends.setdefault((symbol, state), set()) for state in states])
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
            found = all(self._is_safe(*user, after) for after in rest for user in self.users.get(head, ()))
        self.safe[key] = found or self._has_sibling(head, body, place, state)
        return self.safe[key]

    def _has_sibling(self, head: int, body: Body, place: int, state: Ahead) -> bool:
        """Whether another body begins with the same symbols, and something can follow there."""
        while place and body[place - 1] in self.marks:
            place -= 1
        # What holds behind a terminal is only what is written there.
        held = {_FREE if place and body[place - 1] < 0 else state}
        for other in self.bodies[head]:
            if other != body and other[:place] == body[:place]:
                if any(symbol not in self.marks for symbol in other[place:]):
                    if self._follow(other[place:], held):
                        return True
                elif all(self._is_safe(head, other, len(other), after) for after in self._follow(other[place:], held)):
                    return True
        return False
