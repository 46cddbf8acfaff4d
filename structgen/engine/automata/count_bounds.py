r"""Upper bounds on repetitions in a term, and the same term with smaller bounds.

One token begins few of the words that `(\S+\s+){0,99}\S+` counts. So the same tokens are allowed where 57 more words
may come as where 40 may, and one mask serves both states. The functions here find such bounds and lower them, so that
terms that differ only in large bounds become one term:

    `most_repeated`         finds the body of the repetition with the largest bound    (\S+\s+){0,57}\S+ -> \S+\s+
    `smallest_bound`        finds the smallest upper bound on repetitions of that body                   -> 57
    `with_smaller_bounds`   lowers all upper bounds on that body by one number: 17     -> (\S+\s+){0,40}\S+

They look only at the sequences of a term: its heads along the tails, and the members of unions, not the bodies of
repetitions. A term that holds intersections, complements, early ends or bounded counts is left as it is.
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

__all__ = ["most_repeated", "smallest_bound", "with_smaller_bounds"]

# The maximal number of sequences visited within one term.
MAX_TERMS = 64  # by `most_repeated`, which decides whether lowering is worth while
MANY_TERMS = 1000  # by `smallest_bound` and `with_smaller_bounds`, which must see every bound


def most_repeated(terms: Terms, term: int) -> int:
    """Return the body of the repetition with the greatest upper bound in the sequences of a term; NOTHING if none.

    Only repetitions with the least count 0 are considered.
    """
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


def smallest_bound(terms: Terms, term: int, body: int) -> int:
    """Return the smallest upper bound on repetitions of `body` in a term's sequences.

    Returns:
        The bound. FAR if no repetition of `body` has one. 0 if it cannot be lowered: some repetition of `body` has a
        least count, or the term holds too many sequences or unsuitable ones.
    """
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


def with_smaller_bounds(terms: Terms, term: int, body: int, by: int) -> int:
    """Return a term with all upper bounds on repetitions of `body` lowered by `by`.

    Builds the term anew from its tails up. Returns it unchanged if it holds too many sequences or unsuitable ones.
    """
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
    """Return the sequences within a term, each before those that it contains.

    Returns:
        The terms in topological order, so that in reverse each comes after its members and tails. None if there are
        more than `at_most`, or if one is an intersection, a complement, an early end or a bounded count.
    """
    table = terms.table
    order: list[int] = []
    seen: set[int] = set()
    stack = [term]
    while stack:
        top = stack.pop()
        if top < 0:  # everything that it contains has been listed
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
