"""Sets of states that certain characters never leave, and in which no match ends.

A pattern that is searched in a string has a state for each part of a match that was read; a character class within a
regular expression has one for the last character, as in `[a-z]`. Many characters lead from one such state to another,
and none of them to an end. Where only these characters come below a node of the vocabulary's trie, all tokens there
stay inside, as they do in a state that leads back to itself.

For `.*ab.*"` three states are closed under all letters: each letter leads from one of them to one of them, and no match
ends in any.

    state     a         b         other letter
    .*ab.*    read a    .*ab.*    .*ab.*
    read a    read a    found     .*ab.*
    found     found     found     found

The search begins with the kinds of which all characters lead on from the first state, and follows them from state to
state. Where a state refuses some of these kinds, the search gives up either them, or the kinds that lead to this state,
whichever are fewer. So the kinds that are left at the end are refused by no state that they lead to.
"""

from __future__ import annotations

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import DEAD, NO_MAP, SAMPLES
from structgen.engine.deadlines import spend
from structgen.engine.masks.character_kinds import CharacterKinds

__all__ = ["ClosedStates"]

# Declared as C integers in the .pxd, so not importable from here.
MAX_NEW = 16  # states of which the transitions are not known yet that one search may come to
MAX_APART = 64  # states that characters may make which are repeated before a search


class ClosedStates:
    """Searches for sets of states that are closed under some kinds of characters, and in which no match ends.

    Args:
        automata: the automata of the states.
        character_kinds: tells where the characters of each kind lead.

    Attributes:
        kinds: the kinds of characters that the last search found, as a mask.
        states: the states that they lead to, the first one included.
    """

    def __init__(self, automata: AutomatonStore, character_kinds: CharacterKinds) -> None:
        self._automata = automata
        self._character_kinds = character_kinds
        self._leading_on: dict[int, int] = {}  # by state: the kinds of which all characters lead on
        self._targets: dict[int, dict[int, int]] = {}  # by state: the states after these characters, each with kinds
        self.kinds = 0
        self.states: list[int] = []

    def find(self, state: int, most: int, known: int) -> bool:
        """Search from a state; set `kinds` and `states`. False if the search is in vain.

        Args:
            state: the state.
            most: the greatest number of states that may be found.
            known: kinds that are known before; the search is in vain if it does not find these and more.

        Raises:
            LimitExceededError: automaton_states.
        """
        self.states = states = [state]
        if not self._comes_back(state, most):
            return False
        seen = {state}
        left = MAX_NEW
        kinds = self._steps(state)
        if known & ~kinds or known == kinds:
            return False
        for source in states:  # it grows
            for target, by in self._targets[source].items():
                leading = by & kinds
                if not leading or target in seen:
                    continue
                if self._automata.partitions.map_at.values[target] == NO_MAP:
                    left -= 1
                lost = kinds & ~self._steps(target)
                if lost and _count(leading) < _count(lost):
                    kinds &= ~leading
                    continue
                kinds &= ~lost
                seen.add(target)
                states.append(target)
                if len(states) > most or known & ~kinds or known == kinds or left < 0:
                    return False
        self.kinds = kinds
        return True

    def _comes_back(self, state: int, most: int) -> bool:
        """Return whether some character, repeated, comes from a state to one that it came to before.

        Where characters are counted it comes to many new states instead, and a search would follow all characters
        through them. States that are there already, as the walk came to them, cost little.
        """
        last = self._automata.table.count + MAX_APART
        for index in range(len(SAMPLES)):
            at = state
            seen = {at}
            while at != DEAD and self._automata.table.count < last and len(seen) <= most:
                at = self._automata.next(at, SAMPLES[index])
                if at in seen:
                    return True
                seen.add(at)
        return False

    def _steps(self, state: int) -> int:
        """Return the kinds of which all characters lead on from a state and end no match; note where they lead."""
        found = self._leading_on.get(state)
        if found is None:
            spend(1)
            targets: dict[int, int] = {}
            self._targets[state] = targets
            found = self._leading_on[state] = self._character_kinds.leading_on(state, targets)
        return found


def _count(bits: int) -> int:
    """Return the number of bits that are set."""
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count
