"""Automata built ahead of time: all states of a set of regexes, as a breadth-first walk over their derivatives.

    ab|ac     state of ab|ac   --a-->   state of b|c   --b c-->   state of the empty text

A store computes a state's transitions when a text first needs them. Here they are all computed before the first text,
so that no mask waits for them. The cost is that of the whole automaton, which most texts never need: a counted
repetition of a million characters has a million states.
"""

from __future__ import annotations

from collections.abc import Iterable

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import DEAD
from structgen.engine.deadlines import Deadline
from structgen.engine.regex.tree import Regex

__all__ = ["build_automata"]

STATES_BETWEEN_CHECKS = 256  # of the deadline


def build_automata(store: AutomatonStore, regexes: Iterable[Regex], deadline: Deadline | None = None) -> int:
    """Compute all states of some regexes, and their transitions.

    Args:
        store: keeps the states.
        regexes: for instance the terminals of a grammar.
        deadline: checked once every few hundred states.

    Returns:
        The number of states that the regexes reach, shared ones counted once.

    Raises:
        LimitExceededError: automaton_states, or the time is over.

    Example:
        >>> from structgen.engine.regex.tree import Literal
        >>> build_automata(AutomatonStore(), [Literal(b"ab"), Literal(b"b")])
        3
    """
    pending = [state for state in map(store.add, regexes) if state != DEAD]
    reached = set(pending)
    pending = list(reached)
    for number, state in enumerate(pending, 1):
        if deadline is not None and not number % STATES_BETWEEN_CHECKS:
            deadline.check()
        store.expand(state)
        for target in store.successors(state):
            if target != DEAD and target not in reached:
                reached.add(target)
                pending.append(target)
    return len(reached)
