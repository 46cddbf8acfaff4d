"""A test that the first states of a regex are found within a bound, so that its first masks end.

Look-ahead becomes intersections and complements. Whether a state of these still matches a text takes a search
(`emptiness.py`), and some searches visit exponentially many terms. A mask cannot say more than that its time is over.
A compile can refuse the pattern by name. So the searches of the first states are done once when a pattern is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex.tree import Regex
from structgen.errors import LimitExceededError
from structgen.limits import Limits

__all__ = ["check_look_ahead", "has_few_terms"]

LOOKS = ("(?=", "(?!", "(?<")  # the beginnings of look-ahead and look-behind
SHARE = 10  # the first states may take one in so many of the `automaton_states`
FEW_TERMS = 2_000  # of the first states of a pattern
CHAIN = 400  # states of a prefix before these
STATES = 4  # whose successors are searched: those of the first two or three characters


def check_look_ahead(
    pattern: str,
    regex: Regex,
    limits: Limits,
    *,
    spelled: Callable[[], Regex] | None = None,
    where: Callable[[], str] = str,
) -> None:
    """Refuse a pattern if the searches of its first states would take too long.

    Args:
        pattern: the source of the regex.
        regex: its texts.
        limits: `automaton_states` bounds the terms; the searches may take a tenth of them.
        spelled: returns the texts as masks read them, if that differs. They take more terms, in the usual case not too
            many.
        where: returns what the error says of the pattern's location.

    Raises:
        LimitExceededError: automaton_states.
    """
    if not any(look in pattern for look in LOOKS):
        return
    few = min(limits.automaton_states, FEW_TERMS)
    bound = max(limits.automaton_states // SHARE, few)
    if has_few_terms(regex, limits, few):
        return
    if not has_few_terms(regex, limits, bound) or (spelled and not has_few_terms(spelled(), limits, bound)):
        message = f"the look-ahead of this pattern takes too many automaton states{where()}"
        raise LimitExceededError("automaton_states", limits.automaton_states, message=message)


def has_few_terms(regex: Regex, limits: Limits, terms: int = 0) -> bool:
    """Return whether the first states of a regex take few terms.

    Args:
        regex: the regex.
        limits: `automaton_states` bounds the terms.
        terms: the greatest number; 0 for a tenth of these states.
    """
    terms = terms or limits.automaton_states // SHARE
    store = AutomatonStore(replace(limits, automaton_states=terms))
    try:
        waiting = [store.add(regex)]
        seen = set(waiting)
        steps = 0
        for _ in range(CHAIN):
            if not waiting or steps == STATES:
                break
            found = [state for state in store.successors(waiting.pop(0)) if state not in seen]
            waiting += found
            seen.update(found)
            steps += len(waiting) != 1  # a prefix such as [a-z]{300} has one state after the other
    except LimitExceededError as error:
        if error.limit != "automaton_states":
            raise
        return False
    return True
