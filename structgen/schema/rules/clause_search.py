"""The clauses of a set of objects, while the object is written: whether the properties to come can satisfy all of them.

A clause is satisfied by the value of a property, or by its absence. So it is satisfied at once, or as soon as a key is
written, or when the object ends without some key. For `a` is absent or `b` is a string, with both keys still to come:

    {              satisfied if the object ends here: `a` is absent
    {"a": 1        not satisfied yet: `b` must follow, with a string
"""

from __future__ import annotations

from collections.abc import Callable

from structgen.engine.deadlines import spend
from structgen.errors import LimitExceededError
from structgen.schema.algebra import NONE, Case, Node, ObjectSet, complement, meet
from structgen.schema.rules.states import Property

__all__ = ["Clauses"]

_MAX_SEARCHED = 50_000  # sets of written keys in one search
_MAX_SIMPLE = 100  # sets in a search that takes the clauses in their order
_NONE: frozenset[int] = frozenset()


class Clauses:
    """The clauses of one set of objects, by the properties that may satisfy them.

    Args:
        part: the set.
        properties: the properties that may be written. All keys of clauses without one are absent.
        holds: returns whether a node has a value.

    Attributes:
        properties: the properties, with values split by the clauses that they satisfy.
        absent: for each property, the clauses that its absence satisfies.
        numbers: the numbers of the clauses, those aside that every object satisfies. The first number comes after the
            indices of `ObjectSet.somewhere`.
    """

    def __init__(self, part: ObjectSet, properties: tuple[Property, ...], holds: Callable[[Node], bool]) -> None:
        self._holds = holds
        index_of_key = {entry.key: index for index, entry in enumerate(properties)}
        absent: list[set[int]] = [set() for _ in properties]
        cases = [entry.cases or ((_NONE, entry.node),) for entry in properties]
        self._by_absence: dict[int, int] = {}  # by clause: a bit for each property whose absence satisfies it
        self._by_value: dict[int, int] = {}  # by clause: a bit for each property with a value that satisfies it
        for number, clause in enumerate(part.clauses, len(part.somewhere)):
            if any(literal.or_absent and literal.key not in index_of_key for literal in clause):
                continue
            self._by_absence[number] = self._by_value[number] = 0
            for literal in clause:
                index = index_of_key.get(literal.key)
                if index is None:
                    continue
                cases[index] = self._split(cases[index], number, literal.node)
                if literal.or_absent:
                    absent[index].add(number)
                    self._by_absence[number] |= 1 << index
                if any(number in given for given, _ in cases[index]):
                    self._by_value[number] |= 1 << index
        self.numbers = frozenset(self._by_value)
        self.absent = tuple(map(frozenset, absent))
        self.properties = tuple(
            [Property(old.key, old.node, new, old.is_required) for old, new in zip(properties, cases, strict=True)]
        )
        self._required = sum(1 << index for index, entry in enumerate(properties) if entry.is_required)
        self._found: dict[tuple[int, frozenset[int], int], bool] = {}

    def _split(self, cases: tuple[Case, ...], number: int, node: Node) -> tuple[Case, ...]:
        """Split the values of a property by whether they are in a node, and so satisfy the clause with a number."""
        found: list[Case] = []
        for given, mine in cases:
            spend(1)
            inside = meet(mine, node)
            outside = meet(mine, complement(node)) if inside != mine else NONE
            if inside != NONE and self._holds(inside):
                found.append((given | {number}, inside))
            if outside != NONE and self._holds(outside):
                found.append((given, outside))
        return tuple(found)

    def forget(self) -> None:
        """Drop what was found out. It is found again when needed."""
        self._found.clear()

    def are_met(self, decided: int, given: frozenset[int]) -> bool:
        """Return whether all clauses are satisfied if no property follows.

        Args:
            decided: a bit for each property that was written, or can no longer be.
            given: the clauses that are satisfied by that.
        """
        for number, absent in self._by_absence.items():  # noqa: SIM110  (no generator where it is compiled)
            if number not in given and not absent & ~decided:
                return False
        return True

    def can_hold(self, decided: int, given: frozenset[int], left: int) -> bool:
        """Return whether all clauses can be satisfied, with all required properties.

        Depth-first search. Where a required property is missing, or a clause is not satisfied if no property follows,
        one of few properties must follow. In a long search, the clause with the fewest is decided first, as in DPLL.

        Args:
            decided: as for `are_met`.
            given: as for `are_met`.
            left: the greatest number of properties that may follow; -1 without a bound.

        Raises:
            LimitExceededError: too many sets of properties would have to be searched.
        """
        start = (decided, given, left)
        if start in self._found:
            return bool(self._found[start])
        waiting, seen = [start], {start}
        found = False
        while waiting and not found:
            here = waiting.pop()
            spend(1 + len(self.numbers))
            known = self._found.get(here)
            if known is False:
                continue
            following = self._following(here[0], here[1], len(seen) > _MAX_SIMPLE) if known is None else None
            if following is None:
                found = True
            elif here[2] < 0 or self._least_needed(here[0], here[1]) <= here[2]:
                for now_decided, now_given in following:
                    after = (now_decided, now_given, here[2] - 1 if here[2] > 0 else -1)
                    if after not in seen:
                        seen.add(after)
                        waiting.append(after)
            if len(seen) > _MAX_SEARCHED:
                message = "too many ways to satisfy the conditions on an object's keys"
                raise LimitExceededError("schema_nodes", _MAX_SEARCHED, message=message)
        if found:
            self._found[start] = True
        else:
            self._found.update(dict.fromkeys(seen, False))
        return found

    def _least_needed(self, decided: int, given: frozenset[int]) -> int:
        """Return a lower bound on the number of properties that must follow: one for each of some disjoint clauses."""
        used = self._required & ~decided
        count = used.bit_count()
        for number, absent in self._by_absence.items():
            if number not in given and not absent & ~decided:
                usable = self._by_value[number] & ~decided
                if not usable & used:
                    used |= usable
                    count += 1
        return count

    def _following(self, decided: int, given: frozenset[int], is_long: bool) -> list[tuple[int, frozenset[int]]] | None:
        """Return what is decided and given after each property of which one must follow; None if the object may end."""
        tightest, usable = self._tightest(decided, given, is_long)
        if tightest >= 0 and not usable:
            return []
        missing = self._required & ~decided
        out: list[tuple[int, frozenset[int]]] = []
        if missing and (not is_long or usable.bit_count() != 1):
            missing = missing & usable or missing
            index = (missing & -missing).bit_length() - 1
            for more, _ in self.properties[index].cases:
                out.append((decided | 1 << index, given | more))
            return out
        if tightest < 0:
            return None
        for index in range(usable.bit_length()):
            if usable >> index & 1:
                for more, _ in self.properties[index].cases:
                    if tightest in more:
                        out.append((decided | 1 << index, given | more))
        return out

    def _tightest(self, decided: int, given: frozenset[int], is_long: bool) -> tuple[int, int]:
        """Return the clause that the fewest properties can still satisfy, of those not satisfied if none follows.

        To decide it first keeps the search small: a clause without such properties ends it at once. Most searches are
        short, and take the first clause that is not satisfied.

        Returns:
            The clause's number, -1 if all are satisfied, and a bit for each of these properties.
        """
        found, fewest, least = -1, 0, -1
        for number, absent in self._by_absence.items():
            if number not in given and (not absent or not absent & ~decided):
                usable = self._by_value[number] & ~decided
                count = usable.bit_count()
                if found < 0 or count < least:
                    found, fewest, least = number, usable, count
                    if count < 2 or not is_long:
                        break
        return found, fewest
