"""The clauses of a set of objects, while the object is written: whether the properties to come can satisfy all of them.

A clause is satisfied by the value of a property, or by its absence. So it is satisfied at once, or as soon as a key is
written, or when the object ends without some key. For `a` is absent or `b` is a string, with both keys still to come:

    {              satisfied if the object ends here: `a` is absent
    {"a": 1        not satisfied yet: `b` must follow, with a string
"""

from __future__ import annotations

from collections.abc import Callable

from structgen.engine.deadlines import spend
from structgen.schema.algebra import NONE, Case, Node, ObjectSet, complement, meet
from structgen.schema.rules.clause_choices import Choice, ChoiceSearch, too_many
from structgen.schema.rules.states import Property

__all__ = ["Clauses"]

_MAX_SEARCHED = 5_000  # nodes of one search
_MAX_FIRST = 5_000  # nodes of all searches that `check` makes
_MAX_FEW = 100  # clauses
_MAX_KEPT = 100  # solutions
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
        self._bits: dict[int, int] = {}
        self._needed = 0
        for number in self._by_value:  # no shifts: compiled, those of counters would be of 32 bits
            self._bits[number] = self._needed + 1
            self._needed = self._needed * 2 + 1
        self._masks: dict[frozenset[int], int] = {}
        price = 0 if part.high is None else 1  # without a bound on the number of keys, they cost nothing
        self._choices: dict[int, list[Choice]] = {}
        for index, entry in enumerate(self.properties):
            choices = [(self._mask_of(given), price) for given, _ in entry.cases]
            if not entry.is_required:
                choices.append((self._mask_of(self.absent[index]), 0))
            if entry.is_required or any(mask for mask, _ in choices):
                self._choices[index] = choices
        self.search = ChoiceSearch()
        self._solutions: list[dict[int, Choice]] = []  # the newest last
        self._found: dict[tuple[int, int, int], bool] = {}

    def _mask_of(self, given: frozenset[int]) -> int:
        """Return a bit for each clause of some conditions."""
        found = self._masks.get(given)
        if found is None:
            found = 0
            for number in given:
                found |= self._bits.get(number, 0)
            self._masks[given] = found
        return found

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
        self._masks.clear()
        self._solutions.clear()

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

        Args:
            decided: as for `are_met`.
            given: as for `are_met`.
            left: the greatest number of properties that may follow; -1 without a bound.

        Raises:
            LimitExceededError: the search takes too many steps.
        """
        needed = self._needed & ~self._mask_of(given)
        start = (decided, needed, left)
        known = self._found.get(start)
        if known is None:
            known = self._found[start] = self._is_solved(decided, needed, left) or self._solve(decided, needed, left)
        return known

    def check(self, left: int, any_order: bool = False) -> None:
        """Decide each value of each property alone, unless all steps to the first solution were right.

        If the properties may come in any order, the first masks ask for each of them. So with many clauses, all are
        decided in any case.

        So the searches of masks are likely to be short: many solutions are known.

        Args:
            left: the greatest number of properties; -1 without a bound.
            any_order: the properties may come in any order.

        Raises:
            LimitExceededError: the searches take too many steps.
        """
        is_hard = any_order and len(self.numbers) > _MAX_FEW
        if not self.can_hold(0, _NONE, left) or not (is_hard or self.search.failed):
            return
        rest = left - 1 if left > 0 else -1
        for index in self._choices:
            for given, _ in self.properties[index].cases:
                self.can_hold(1 << index, given, rest)
                if self.search.nodes > _MAX_FIRST:
                    raise too_many(_MAX_FIRST)

    def _is_solved(self, decided: int, needed: int, left: int) -> bool:
        """Return whether a known solution satisfies all clauses from here."""
        for solution in reversed(self._solutions):
            missing, cost = needed, 0
            spend(1 + len(solution))
            for index, (mask, price) in solution.items():
                if not decided >> index & 1:
                    missing &= ~mask
                    cost += price
            if not missing and (left < 0 or cost <= left):
                return True
        return False

    def _solve(self, decided: int, needed: int, left: int) -> bool:
        """Search for a solution, and keep it."""
        choices = {index: found for index, found in self._choices.items() if not decided >> index & 1}
        near = self._solutions[len(self._solutions) - 1] if self._solutions else {}
        made = self.search.found(needed, left, choices, _MAX_SEARCHED, near)
        if made is None:
            return False
        solution = {index: made.get(index) or min(found, key=_price) for index, found in self._choices.items()}
        if len(self._solutions) >= _MAX_KEPT:
            self._solutions.pop(0)
        self._solutions.append(solution)
        return True


def _price(choice: Choice) -> int:
    return choice[1]
