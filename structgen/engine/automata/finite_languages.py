"""The texts of an automaton that matches few: their number, and the texts."""

from __future__ import annotations

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import DEAD

__all__ = ["count_texts", "is_finite", "texts_of"]


def count_texts(store: AutomatonStore, state: int, at_most: int) -> int:
    """Return how many texts are matched from a state, or `at_most` if there are more.

    Goes through the texts by length, so it takes as many steps as the longest text counted has bytes.

    Raises:
        LimitExceededError: automaton_states.
    """
    total = 0
    ways = {state: 1} if state != DEAD else {}
    while ways and total < at_most:
        following: dict[int, int] = {}
        for here, count in ways.items():
            if store.is_accepting(here):
                total += count
            for target, step in store.successors(here).items():
                following[target] = min(following.get(target, 0) + count * step.bit_count(), at_most)
        ways = following
    return min(total, at_most)


def texts_of(store: AutomatonStore, state: int) -> list[bytes]:
    """Return the texts that are matched from a state, which are finitely many.

    Raises:
        LimitExceededError: automaton_states.
    """
    found: list[bytes] = []
    waiting = [(b"", state)] if state != DEAD else []
    while waiting:
        text, here = waiting.pop()
        if store.is_accepting(here):
            found.append(text)
        for target, step in store.successors(here).items():
            waiting.extend((text + bytes([byte]), target) for byte in range(256) if step >> byte & 1)
    return found


def is_finite(store: AutomatonStore, state: int) -> bool:
    """Return whether only finitely many texts are matched from a state: whether no state comes again on a path from it.

    Raises:
        LimitExceededError: automaton_states.
    """
    skippable_states: set[int] = set()
    done: set[int] = {DEAD}
    stack = [state]
    while stack:
        top = stack[-1]
        if top in skippable_states:
            stack.pop()
            skippable_states.discard(top)
            done.add(top)
            continue
        if top in done:
            stack.pop()
            continue
        skippable_states.add(top)
        for target in store.successors(top):
            if target in skippable_states:
                return False
            if target not in done:
                stack.append(target)
    return True
