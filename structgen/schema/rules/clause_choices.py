"""A choice for each property, so that together they satisfy all clauses: the search behind `clause_search`.

A property is absent, or has a value of one of a few cases. Each choice satisfies some clauses, a bit set, and costs one
key, or none where the property is absent:

    clauses 0, 1        choices of a: absent {0}, a string {1}        choices of b: absent {}, a string {0}
    one solution        a: a string {1}        b: a string {0}

It is the satisfiability problem with variables of several values. The search is that of DPLL: where a clause has one
property left, the choices of that property are restricted (unit propagation). Choices that satisfy no more than another
one are dropped, a general form of pure literals. Then one choice is made, or left out: one that matters to the clauses
with the fewest choices.

Source: Davis, Logemann, Loveland, "A Machine Program for Theorem-Proving" (1962).
"""

from __future__ import annotations

from structgen.engine.deadlines import spend
from structgen.errors import LimitExceededError

__all__ = ["Choice", "ChoiceSearch", "too_many"]

Choice = tuple[int, int]
"""The clauses that it satisfies, a bit for each, and its cost in keys."""

MAX_GUIDED = 64  # nodes that begin with another solution; it helps to find one, not to show that there is none
_Node = tuple[int, dict[int, list[Choice]], dict[int, Choice]]


class ChoiceSearch:
    """Searches for choices, with the work counted.

    Attributes:
        nodes: the number of nodes of all searches so far.
        failed: how many of them had no solution.
    """

    def __init__(self) -> None:
        self.nodes = 0
        self.failed = 0

    def found(
        self, needed: int, left: int, choices: dict[int, list[Choice]], most: int, near: dict[int, Choice]
    ) -> dict[int, Choice] | None:
        """Return choices that satisfy all clauses, without those that do not matter; None if there are none.

        Args:
            needed: a bit for each clause that is not satisfied yet.
            left: the greatest cost; -1 without a bound.
            choices: the choices of each property that is not decided.
            most: the number of nodes after which the search is given up.
            near: a solution of other clauses or properties. The search first changes it where it fails.

        Raises:
            LimitExceededError: the search takes too many steps.
        """
        waiting: list[_Node] = [(needed, choices, {})]
        start = self.nodes
        while waiting:
            needed, known, made_before = waiting.pop()
            here, made = dict(known), dict(made_before)
            self.nodes += 1
            if self.nodes > start + most:
                raise too_many(most)
            needed = _propagated(needed, here, made)
            if needed < 0 or (left >= 0 and _least_cost(needed, here, made) > left):
                self.failed += 1
                continue
            missing = needed
            if needed and left < 0 and near and self.nodes - start < MAX_GUIDED:
                missing = _completed(needed, here, made, near)
            if not missing:
                return made
            waiting += _branches(missing, here, made, needed)
        return None


def too_many(nodes: int) -> LimitExceededError:
    """Return the error of a search that takes more nodes than that."""
    message = "too many ways to satisfy the conditions on an object's keys"
    return LimitExceededError("schema_nodes", nodes, message=message, is_fixed=True)


def _least_choices(choices: list[Choice], needed: int) -> list[Choice]:
    """Return choices without those that satisfy no more of the needed clauses than another one, and cost no less."""
    kept: list[Choice] = []
    for mask, cost in choices:
        mask &= needed
        for other, price in kept:
            if mask | other == other and price <= cost:
                break
        else:
            kept = [(other, price) for other, price in kept if other | mask != mask or price < cost]
            kept.append((mask, cost))
    return kept


def _propagated(needed: int, choices: dict[int, list[Choice]], made: dict[int, Choice]) -> int:
    """Decide what has one choice left, until nothing changes. Return the clauses still needed; -1 if one cannot be."""
    while needed:
        before = needed
        once = twice = 0  # clauses that one property may satisfy, or two
        able: dict[int, int] = {}
        spend(1 + len(choices))
        for index in list(choices):
            found = choices[index] = _least_choices(choices[index], needed)
            if not found:
                return -1
            if len(found) == 1:
                made[index] = found[0]
                needed &= ~found[0][0]
                del choices[index]
                continue
            mask = 0
            for other, _ in found:
                mask |= other
            able[index] = mask
            twice |= once & mask
            once |= mask
        if needed & ~once:
            return -1
        restricted = _restrict(needed & once & ~twice, able, choices)
        if restricted < 0:
            return -1
        if needed == before and not restricted:
            return needed
    return needed


def _restrict(single: int, able: dict[int, int], choices: dict[int, list[Choice]]) -> int:
    """Keep the choices that satisfy clauses which no other property can.

    Returns:
        1 if some choices are left out, 0 if none, -1 if a property has no choice left.
    """
    restricted = 0
    for index, mask in able.items():
        only = mask & single
        if only:
            found = [choice for choice in choices[index] if choice[0] & only == only]
            if not found:
                return -1
            if len(found) < len(choices[index]):
                choices[index] = found
                restricted = 1
    return restricted


def _least_cost(needed: int, choices: dict[int, list[Choice]], made: dict[int, Choice]) -> int:
    """Return a lower bound of the cost: one key for each of some clauses that have no property in common."""
    cost = sum([price for _, price in made.values()])
    paid: dict[int, int] = {}  # by property that may be absent: the clauses that its values satisfy
    for index, found in choices.items():
        is_required = all(price for _, price in found)
        cost += is_required
        paid[index] = 0
        for mask, price in found:
            if price and not is_required:
                paid[index] |= mask
            else:
                needed &= ~mask
    while needed:
        bit = needed & -needed
        near = bit
        for mask in paid.values():
            if mask & bit:
                near |= mask
        cost += 1
        needed &= ~near
    return cost


def _completed(needed: int, choices: dict[int, list[Choice]], made: dict[int, Choice], near: dict[int, Choice]) -> int:
    """Choose as another solution does. Return the clauses that this does not satisfy; if there are none, add it."""
    chosen: dict[int, Choice] = {}
    missing = needed
    for index, found in choices.items():
        wanted = near[index][0] & needed if index in near else 0
        best = found[0]
        for choice in found:
            if wanted & ~choice[0] == 0:
                best = choice
                break
        chosen[index] = best
        missing &= ~best[0]
    if not missing:
        made |= chosen
    return missing


def _branches(clauses: int, choices: dict[int, list[Choice]], made: dict[int, Choice], needed: int) -> list[_Node]:
    """Return two nodes, of which the second is tried first: one choice is left out, and the same one is made."""
    tight = _tightest(clauses, choices)
    best, at = -1, -1
    first: Choice = (0, 0)
    for index, found in choices.items():
        counts = [(mask & tight).bit_count() for mask, _ in found]
        total = sum(counts)
        if not total:
            continue
        top = max(counts)
        score = (top * (total - top) << 10) + total
        if score > best:
            best, at, first = score, index, found[counts.index(top)]
    others = [choice for choice in choices[at] if choice != first]
    return [(needed, choices | {at: others}, made), (needed, choices | {at: [first]}, made)]


def _tightest(needed: int, choices: dict[int, list[Choice]]) -> int:
    """Return the bits of the clauses that the fewest choices satisfy."""
    counts = [needed, 0, 0, 0, 0]  # by number of choices, the last one: that many or more
    for found in choices.values():
        for mask, _ in found:
            for number in range(3, -1, -1):
                moved = counts[number] & mask
                counts[number] ^= moved
                counts[number + 1] |= moved
    return next(group for group in counts if group)
