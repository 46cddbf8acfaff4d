r"""Counts in terms that are larger than what one token can use up.

A token begins few of the words that `(\S+\s+){0,99}\S+` counts. So which tokens stay inside a state with 57 more words
to come is the same as with 40: the tables of one serve both. Here terms that differ so are made the same.
"""

from __future__ import annotations

from structgen.engine.automata.terms import Terms
from structgen.engine.constants import (
    EMPTY,
    FAR,
    K_BOUNDED,
    K_COMPLEMENT,
    K_COUNTING,
    K_EARLY,
    K_INTERSECTION,
    K_REPEAT,
    K_UNION,
    NOTHING,
)

__all__ = ["least_count", "lessened", "most_counted"]

# So many terms are looked through in one: to see whether it is worth while, and then to be sure.
MAX_TERMS = 64
MANY_TERMS = 1000


def most_counted(terms: Terms, term: int) -> int:
    """Return the body of the repetition with the greatest upper bound in the sequences of a term; NOTHING if none."""
    table = terms.table
    found = NOTHING
    most = 0
    sequences = _sequences(terms, term, MAX_TERMS)
    if sequences is None:
        return NOTHING
    for part in sequences:
        if table.kind[part] == K_REPEAT:
            body, low, high = table.payload[part]
            if high > most and low == 0:
                found, most = body, high
    return found


def least_count(terms: Terms, term: int, body: int) -> int:
    """Return the smallest upper bound on repetitions of `body` in a term's sequences; FAR if none, 0 if unknown."""
    table = terms.table
    least = FAR
    sequences = _sequences(terms, term, MANY_TERMS)
    if sequences is None:
        return 0
    for part in sequences:
        if table.kind[part] == K_REPEAT and table.payload[part][0] == body:
            _, low, high = table.payload[part]
            if low:
                return 0
            if high >= 0:
                least = min(least, high)
    return least


def lessened(terms: Terms, term: int, body: int, by: int) -> int:
    """Return a term with the bounds on how often `body` may come made smaller by so much."""
    table = terms.table
    done = {EMPTY: EMPTY, NOTHING: NOTHING}
    sequences = _sequences(terms, term, MANY_TERMS)
    if sequences is None:
        return term
    for part in reversed(sequences):
        if part in done:
            continue
        if table.kind[part] == K_UNION:
            done[part] = terms.union([done[inner] for inner in table.payload[part]])
            continue
        if table.kind[part] == K_COUNTING:
            star, phase, inner = table.payload[part]
            done[part] = terms.counting(star, phase, done[inner])
            continue
        tail = done[table.tail[part]]
        if table.kind[part] == K_REPEAT and table.payload[part][0] == body and table.payload[part][2] >= 0:
            _, low, high = table.payload[part]
            done[part] = terms.repeat(body, low, high - by, tail)
        else:
            done[part] = terms.with_tail(part, tail)
    return done[term]


def _sequences(terms: Terms, term: int, at_most: int) -> list[int] | None:
    """Return the sequences within a term, each after all that contain it.

    None if there are more than `at_most`, or if some of them are intersections, complements, early ends or bounds.
    """
    table = terms.table
    order: list[int] = []
    seen: set[int] = set()
    stack = [term]
    while stack:
        top = stack.pop()
        if top < 0:  # it was put back below all that it holds
            order.append(-top)
            continue
        if top in seen or top in (EMPTY, NOTHING):
            continue
        kind = table.kind[top]
        if len(seen) >= at_most or kind in (K_INTERSECTION, K_COMPLEMENT, K_EARLY, K_BOUNDED):
            return None
        seen.add(top)
        stack.append(-top)
        if kind == K_UNION:
            stack.extend(table.payload[top])
        elif kind == K_COUNTING:
            stack.append(table.payload[top][2])
        else:
            stack.append(table.tail[top])
    order.reverse()
    return order
