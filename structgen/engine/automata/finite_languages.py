"""Enumeration of the texts of an automaton with finitely many: test for finiteness, number of texts, the texts.

All three functions walk over the transitions from a state (`AutomatonStore.successors`). For `[ab]c?` the language is
finite, the number is 4, and the texts are a, b, ac and bc.
"""

from __future__ import annotations

from math import inf

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import DEAD, SAMPLES

__all__ = ["count_texts", "is_finite", "repeats_a_byte", "texts_of"]

_MAX_REPEATED = 16  # times that a byte is repeated before it comes to no new state


def count_texts(store: AutomatonStore, state: int, at_most: int, longest: int | None = None) -> int:
    """Return the number of texts that a state matches, or `at_most` if there are more.

    Without `longest`, a language with infinitely many texts may take as many steps as `at_most`.

    Counts the texts by length: one step for each byte of the longest text counted. A step keeps, for each state
    reached, in how many ways it was reached. The texts themselves are not built.

    Args:
        store: has the automaton.
        state: where the texts begin.
        at_most: counting ends there.
        longest: texts of more bytes are not counted.

    Raises:
        LimitExceededError: automaton_states.
    """
    total = 0
    length = 0
    ways = {state: 1} if state != DEAD else {}
    while ways and total < at_most:
        following: dict[int, int] = {}
        for here, count in ways.items():
            if store.is_accepting(here):
                total += count
            for target, step in store.successors(here).items():
                following[target] = min(following.get(target, 0) + count * step.bit_count(), at_most)
        ways = following if length != longest else {}
        length += 1
    return min(total, at_most)


def texts_of(store: AutomatonStore, state: int) -> list[bytes]:
    """Return the texts that a state matches. Does not end if there are infinitely many: call `is_finite` first.

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


def repeats_a_byte(store: AutomatonStore, state: int) -> bool:
    """Return whether some text may go on with a byte, repeated without end. Then a state matches infinitely many texts.

    Only a few bytes are tried, from the state on: most languages with infinitely many texts have such texts.

    Raises:
        LimitExceededError: automaton_states.
    """
    for sample in SAMPLES:
        at = state
        seen: set[int] = set()
        while at != DEAD and len(seen) < _MAX_REPEATED:
            seen.add(at)
            at = store.next(at, sample)
            if at in seen:
                return True
    return False


def is_finite(store: AutomatonStore, state: int, most: float = inf) -> bool | None:
    """Return whether a state matches only finitely many texts; None if `most` states are visited and do not show it.

    That is so if the states reachable from it have no cycle, because from each of them a text can still be completed.
    Depth-first search; `on_path` holds the states on the current path.

    Raises:
        LimitExceededError: automaton_states.
    """
    on_path: set[int] = set()
    done: set[int] = {DEAD}
    stack = [state]
    while stack:
        top = stack[-1]
        if top in on_path:
            stack.pop()
            on_path.discard(top)
            done.add(top)
            continue
        if top in done:
            stack.pop()
            continue
        if len(done) + len(on_path) > most:
            return None
        on_path.add(top)
        for target in store.successors(top):
            if target in on_path:
                return False
            if target not in done:
                stack.append(target)
    return True
