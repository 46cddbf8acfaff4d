r"""States whose tables do not depend on how much is left of a bound, as no token uses that up.

A token begins few of the words that `(\S+\s+){0,99}\S+` counts. So the tokens inside a state with 57 more words to come
are those of a state with 4 more words, which serves both. This module picks that state, and remembers from a walk over
it whether some token came close to the bound.
"""

from __future__ import annotations

from structgen.engine.automata.count_bounds import least_count, lessened, most_counted
from structgen.engine.automata.store import AutomatonStore

__all__ = ["BoundRoom"]

# Declared as C integers in the .pxd, so not importable from here.
MIN_ROOM = 4  # so much is left of a bound on words, or other things that are counted: few tokens begin more
MAX_ROOM = 16  # with which it is tried again where some token begins as many


class BoundRoom:
    """A memory of the states with so much room below a bound that no token uses it up.

    Args:
        automata: the automata of the states.
    """

    def __init__(self, automata: AutomatonStore) -> None:
        self._automata = automata
        self._roomy: set[int] = set()  # states in which no token uses up the room
        self._room_of: dict[int, int] = {}  # by what is counted: how much room is tried; 0 if none is enough

    def shorter(self, state: int) -> tuple[int, int] | None:
        """Return a state whose tables are very likely those of `state`, in which less is left of a bound.

        They are the same if the state returned turns out to be roomy.

        Returns:
            (the state, the term that is counted), or None.
        """
        automata = self._automata
        body = most_counted(automata.terms, state)
        room = self._room_of.get(body, MIN_ROOM) if body else 0
        if room == 0:
            return None
        more = least_count(automata.terms, state, body) - room
        if more < 0:
            return None
        return (lessened(automata.terms, state, body, more) if more else state), body

    def is_roomy(self, state: int) -> bool:
        """Return whether no token uses up what is left of the bounds in a state, as far as it was judged."""
        return state in self._roomy

    def judge(self, state: int, body: int, entered: list[int]) -> None:
        """Remember whether a walk kept clear of the bounds on `body`.

        Args:
            state: the state in which the walk began.
            body: the term that is counted.
            entered: the states that the walk entered.
        """
        if all(least_count(self._automata.terms, one, body) >= 2 for one in entered):
            self._roomy.add(state)
        else:
            room = self._room_of.get(body, MIN_ROOM)
            self._room_of[body] = 4 * room if room < MAX_ROOM else 0
