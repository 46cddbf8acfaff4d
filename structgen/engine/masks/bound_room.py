r"""States whose tables do not depend on how much is left of a bound, as no token uses that up: seen in a walk.

A token begins few of the words that `(\S+\s+){0,99}\S+` counts. So the tokens inside a state with 57 more words to come
are those of a state with 4 more words, which serves both. This module picks that state. After the walk for it, it looks
at the states that the walk entered, and judges whether some token came close to the bound. If none did, the state is
*roomy*.

`engine/automata/ample_bounds.py` shows the same from the form of a state, where the bound is larger than the longest
token has bytes. Words have several bytes each, and 4 of them are enough.
"""

from __future__ import annotations

from structgen.engine.automata.count_bounds import most_repeated, smallest_bound, with_smaller_bounds
from structgen.engine.automata.store import AutomatonStore

__all__ = ["BoundRoom"]

# Declared as C integers in the .pxd, so not importable from here.
MIN_ROOM = 4  # so much is left of a bound on words, or other things that are counted: few tokens begin more
MAX_ROOM = 16  # with which it is tried again where some token begins as many


class BoundRoom:
    """The states found to be roomy: no token uses up what is left of their bounds.

    Args:
        automata: the automata of the states.
    """

    def __init__(self, automata: AutomatonStore) -> None:
        self._automata = automata
        self._roomy: set[int] = set()  # states in which no token uses up the room
        self._room_of: dict[int, int] = {}  # by what is counted: how much room is tried; 0 if none is enough

    def with_smaller_bound(self, state: int) -> tuple[int, int] | None:
        """Return the state in which less is left of a bound, and whose tables are very likely those of `state`.

        They are the same if the state that is returned turns out to be roomy. It is `state` itself where so little is
        left already.

        Returns:
            (the state, the term that is counted), or None.
        """
        automata = self._automata
        body = most_repeated(automata.terms, state)
        room = self._room_of.get(body, MIN_ROOM) if body else 0
        if room == 0:
            return None
        more = smallest_bound(automata.terms, state, body) - room
        if more < 0:
            return None
        return (with_smaller_bounds(automata.terms, state, body, more) if more else state), body

    def is_roomy(self, state: int) -> bool:
        """Return whether a state was judged, and found to be roomy."""
        return state in self._roomy

    def judge(self, state: int, body: int, entered: list[int]) -> None:
        """Judge by a walk whether the state in which it began is roomy: no token came near the bounds on `body`.

        Args:
            state: the state in which the walk began.
            body: the term that is counted.
            entered: the states that the walk entered.
        """
        if all(smallest_bound(self._automata.terms, one, body) >= 2 for one in entered):
            self._roomy.add(state)
        else:
            room = self._room_of.get(body, MIN_ROOM)
            self._room_of[body] = 4 * room if room < MAX_ROOM else 0
