"""The clauses of a set of objects, while the object is written: whether the properties to come can satisfy all of them.

A clause is satisfied by the value of a property, or by its absence. So it is satisfied at once, or as soon as a key is
written, or when the object ends without some key. For `a` is absent or `b` is a string, with both keys still to come:

    {              satisfied if the object ends here: `a` is absent
    {"a": 1        not satisfied yet: `b` must follow, with a string
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet

from structgen.engine.deadlines import spend
from structgen.schema.algebra import (
    ALL_ARRAYS,
    ALL_OBJECTS,
    ANY,
    NONE,
    NOTHING,
    Case,
    Node,
    ObjectSet,
    complement,
    is_decided,
    meet,
)
from structgen.schema.algebra.shape import Shape
from structgen.schema.rules.clause_choices import Choice, ChoiceSearch, too_many
from structgen.schema.rules.disjoint_values import DisjointValues
from structgen.schema.rules.states import Property

__all__ = ["Clauses", "Splits"]

_MAX_SEARCHED = 5_000  # nodes of one search
_MAX_CHECK_NODES = 5_000  # nodes of all searches that `check` makes
_MIN_HARD_CLAUSES = 100  # clauses; with more, and properties in any order, `check` decides each choice
_MAX_MATCHED = 64  # clauses that are given a property each, before a search
_MAX_KEPT = 100  # solutions
_MAX_CASES = 5_000  # of one property
_MAX_SPLIT = 8  # open clauses that values with parts are split by; n of them may make 2ⁿ cases
_NONE: frozenset[int] = frozenset()

Splits = dict[tuple[Node, Node], tuple[Node | None, Node | None]]
"""By two nodes: the values of the first one that are in the second one, and those that are not; None for none."""


class Clauses:
    """The clauses of one set of objects, by the properties that may satisfy them.

    Args:
        part: the set.
        properties: the properties that may be written. All keys of clauses without one are absent.
        holds: returns whether a node has a value.
        is_deferrable: returns whether the values of a node may be decided once they are written; see `deferred`.
        shapes: the shapes of nodes. Those that `holds` was asked about are there.
        splits: what is known of pairs of nodes. Sets of objects that differ in few keys ask for the same pairs.

    Attributes:
        absent: for each property, the clauses that its absence satisfies.
        numbers: the numbers of the clauses, those aside that every object satisfies. The first number comes after the
            indices of `ObjectSet.somewhere`.
    """

    def __init__(
        self,
        part: ObjectSet,
        properties: tuple[Property, ...],
        holds: Callable[[Node], bool],
        is_deferrable: Callable[[Node], bool],
        shapes: Mapping[Node, Shape],
        splits: Splits,
    ) -> None:
        self._holds = holds
        self._is_deferrable = is_deferrable
        self._shapes = shapes
        self._splits = splits
        self._disjoint = DisjointValues(holds, shapes)
        index_of_key = {entry.key: index for index, entry in enumerate(properties)}
        absent: list[set[int]] = [set() for _ in properties]
        self._properties = properties
        self._asked: list[list[tuple[int, Node]]] = [[] for _ in properties]  # by property: clauses, and their values
        self._large: list[set[int]] = [set() for _ in properties]  # of these clauses, those about arrays or objects
        self._by_absence: dict[int, int] = {}  # by clause: a bit for each property whose absence satisfies it
        self._by_value: dict[int, int] = {}  # by clause: a bit for each property with a value that satisfies it
        self._able: dict[int, int] = {}  # by clause: a bit for each property with a choice that satisfies it
        for number, clause in enumerate(part.clauses, len(part.somewhere)):
            if any(literal.or_absent and literal.key not in index_of_key for literal in clause):
                continue
            self._by_absence[number] = self._by_value[number] = self._able[number] = 0
            for literal in clause:
                index = index_of_key.get(literal.key)
                if index is None:
                    continue
                self._asked[index].append((number, literal.node))
                if literal.or_absent:
                    absent[index].add(number)
                    self._by_absence[number] |= 1 << index
                    if not properties[index].is_required:
                        self._able[number] |= 1 << index
                inside = meet(properties[index].node, literal.node)
                if self._has_value(inside):
                    self._by_value[number] |= 1 << index
                    self._able[number] |= 1 << index
                    if self._has_parts(inside):
                        self._large[index].add(number)
        self.numbers = frozenset(self._by_value)
        self.absent = tuple(map(frozenset, absent))
        self._bits: dict[int, int] = {}
        self._needed = 0
        for number in self._by_value:  # no shifts: compiled, those of counters would be of 32 bits
            self._bits[number] = self._needed + 1
            self._needed = self._needed * 2 + 1
        self._masks: dict[frozenset[int], int] = {}
        self._price = 0 if part.high is None else 1  # without a bound on the number of keys, they cost nothing
        self._choices: dict[int, list[Choice]] = {}
        self._cases: dict[tuple[int, frozenset[int], frozenset[int]], tuple[Case, ...]] = {}
        self._deferred: dict[tuple[int, int, frozenset[int]], Case | None] = {}
        # What `cases` was asked last, and its answer: it is asked whether a property may come, and then for its rules.
        self._last: tuple[int, int, frozenset[int], tuple[Case, ...]] | None = None
        self._wide: dict[tuple[int, frozenset[int]], list[Choice]] = {}
        self._has_all_choices = True
        self._make_choices()
        self.search = ChoiceSearch()
        self._solutions: list[dict[int, Choice]] = []  # the newest last
        self._matched_clauses = self._matched_properties = 0  # of the last match: bits as in `_needed` and `decided`
        self._found: dict[tuple[int, int, int], bool] = {}
        self._unsure: set[tuple[int, int, int]] = set()  # what `surely_holds` did not find

    def _make_choices(self) -> None:
        """Find choices of each property: values at a price, and its absence.

        Values that satisfy many clauses about objects are intersections of as many schemas. Mostly none is needed: a
        tag satisfies all of these clauses but one. So if they are many, each choice satisfies one of them at most. The
        others are made when a search needs them (`_wide_choices`).
        """
        for index in range(len(self._properties)):
            large = self._large[index] if len(self._large[index]) > _MAX_SPLIT else _NONE
            choices = self._choices_of(index, large, large)
            if self._properties[index].is_required or any(mask for mask, _ in choices):
                self._choices[index] = choices
            if large:
                self._has_all_choices = False

    def _choices_of(self, index: int, without: AbstractSet[int], alone: AbstractSet[int]) -> list[Choice]:
        """Return the choices of a property without some clauses, and one for each of some that it satisfies alone."""
        found = [(self._mask_of(given), self._price) for given in self._widest(index, without)]
        found += [(self._bits[number], self._price) for number in alone]
        if not self._properties[index].is_required:
            found.append((self._mask_of(self.absent[index]), 0))
        return found

    def _wide_choices(self, index: int, needed: int) -> list[Choice]:
        """Return all choices of a property that matter where some clauses are still needed.

        Other clauses are left out: with them, the values would be split by as many schemas.
        """
        without = frozenset([number for number, bit in self._bits.items() if not bit & needed])
        key = (index, without)
        found = self._wide.get(key)
        if found is None:
            found = self._wide[key] = self._choices_of(index, without, _NONE)
        return found

    def _mask_of(self, given: frozenset[int]) -> int:
        """Return a bit for each clause of some conditions."""
        found = self._masks.get(given)
        if found is None:
            found = 0
            for number in given:
                found |= self._bits.get(number, 0)
            self._masks[given] = found
        return found

    def _has_value(self, node: Node) -> bool:
        return node != NONE and self._holds(node)

    def _has_parts(self, node: Node) -> bool:
        """Return whether a node, which has a value, has some arrays or objects, but neither all of them nor none."""
        shape = self._shapes[node]
        return shape.arrays not in ((), ALL_ARRAYS) or shape.objects not in ((), ALL_OBJECTS)

    def _compare(self, node: Node, other: Node) -> int:
        """Return 1 if all values of a node, which has some, are surely in another node, -1 if surely none is, else 0.

        Their conjunction needs no node for that: n nodes that exclude one text each have n²/2 conjunctions.
        """
        shape = self._shapes[node]
        if shape.arrays or shape.objects:
            if self._disjoint.are_disjoint(node, other):
                return -1
            return 1 if is_decided(other) and self._disjoint.are_disjoint(node, complement(other)) else 0
        if not self._has_value(other):
            return -1
        both = shape.intersect(self._shapes[other])
        return 1 if both == shape else -(both == NOTHING)

    def _widest(self, index: int, without: AbstractSet[int]) -> list[frozenset[int]]:
        """Return sets of clauses that the values of a property satisfy together: of each value, a set with all its own.

        Some clauses may be left out.

        Where some values satisfy all clauses, they stand for the others, which no search needs to choose.

        Raises:
            LimitExceededError: there are too many.
        """
        # Clauses that no value satisfies would only make the nodes of the others larger.
        asked = [pair for pair in self._asked[index] if self._by_value[pair[0]] >> index & 1 and pair[0] not in without]
        rests: list[tuple[frozenset[int], Node]] = [(_NONE, ANY)]  # the clauses from each one on, the last one first
        for number, node in reversed(asked):
            numbers, rest = rests[len(rests) - 1]
            rests.append((numbers | {number}, meet(rest, node)))
        rests.reverse()
        found: dict[frozenset[int], None] = {}
        waiting = [(given, node, 0, True) for given, node in self._before(index)]
        while waiting:
            spend(1)
            given, mine, done, may_all = waiting.pop()
            numbers, rest = rests[done]
            if not numbers or (may_all and self._has_value(meet(mine, rest))):
                found[given | numbers] = None
                if len(found) > _MAX_CASES:
                    raise too_many(_MAX_CASES)
                continue
            # Those of the values that satisfy this clause do not satisfy all others, either.
            number, node = asked[done]
            split = self._split([(given, mine)], [(number, node)])
            waiting += [(after, case, done + 1, number not in after) for after, case in split]
        return list(found)

    def _before(self, index: int) -> tuple[Case, ...]:
        """Return the values of a property, split by the conditions that are no clauses."""
        entry = self._properties[index]
        return entry.cases or ((_NONE, entry.node),)

    def cases(self, index: int, decided: int, given: frozenset[int]) -> tuple[Case, ...]:
        """Return the values that a property may have, split by the clauses that they satisfy.

        A clause that was satisfied before splits nothing. A clause that no later property can satisfy leaves only the
        values that do. So n clauses about one property seldom split its values into 2ⁿ cases:

            each of a, b, c refuses a value of d        {"a": …, "c": …, "d":        one case: what neither refuses

        Args:
            index: the property's.
            decided: a bit for each other property that was written, or can no longer be.
            given: the clauses that are satisfied by that.

        Raises:
            LimitExceededError: there are too many cases.
        """
        last = self._last
        if last is not None and last[0] == index and last[1] == decided and last[2] == given:
            return last[3]
        made = self._find_cases(index, decided, given)
        self._last = (index, decided, given, made)
        return made

    def _find_cases(self, index: int, decided: int, given: frozenset[int]) -> tuple[Case, ...]:
        before = self._before(index)
        asked = [pair for pair in self._asked[index] if pair[0] not in given]
        if not asked:
            return before
        decided |= 1 << index
        open_numbers = [number for number, _ in asked if (self._by_absence[number] | self._by_value[number]) & ~decided]
        key = (index, frozenset([number for number, _ in asked]), frozenset(open_numbers))
        found = self._cases.get(key)
        if found is None:
            must = [pair for pair in asked if pair[0] not in key[2]]
            cases = [(mine | {number for number, _ in must}, _met(node, must)) for mine, node in before]
            cases = [case for case in cases if self._has_value(case[1])]
            found = self._cases[key] = tuple(self._split(cases, [pair for pair in asked if pair[0] in key[2]]))
        return found

    def asks(self, index: int, given: frozenset[int]) -> bool:
        """Return whether some clause that is not satisfied yet asks for values of a property."""
        for number, _ in self._asked[index]:  # noqa: SIM110  (no generator where it is compiled)
            if number not in given:
                return True
        return False

    def deferred(self, index: int, decided: int, given: frozenset[int]) -> Case | None:
        """Return the values of a property that need no split, with the clauses that all of them satisfy.

        Later properties can satisfy all other clauses, whichever value is written. So the clauses that the value
        satisfies may be found out once it is written: n clauses need not split the values into 2ⁿ cases.

        Args:
            index: the property's.
            decided: as for `cases`.
            given: as for `cases`.

        Returns:
            None where the values are split: few clauses are open, or some value leaves one that nothing satisfies.
        """
        entry = self._properties[index]
        if len(self._asked[index]) <= _MAX_SPLIT or entry.cases:
            return None
        key = (index, decided, given)
        if key not in self._deferred:
            self._deferred[key] = self._find_deferred(index, decided, given)
        return self._deferred[key]

    def _find_deferred(self, index: int, decided: int, given: frozenset[int]) -> Case | None:
        decided |= 1 << index
        must: list[tuple[int, Node]] = []
        size = 0
        for number, node in self._asked[index]:
            if number not in given:
                if (self._by_absence[number] | self._by_value[number]) & ~decided:
                    size += 1
                else:
                    must.append((number, node))
        if size <= _MAX_SPLIT or not self._is_deferrable(self._properties[index].node):
            return None
        node = _met(self._properties[index].node, must)
        numbers = frozenset([number for number, _ in must])
        if not self._has_value(node) or not self.can_hold(decided, given | numbers, -1):
            return None
        return numbers, node

    def satisfied(self, index: int, is_in: Callable[[Node], bool]) -> frozenset[int]:
        """Return the clauses that a value of a property satisfies.

        Args:
            index: the property's.
            is_in: returns whether the value is in a node.
        """
        return frozenset([number for number, node in self._asked[index] if is_in(node)])

    def _split(self, cases: list[Case], asked: list[tuple[int, Node]]) -> list[Case]:
        """Split values by whether they satisfy some clauses."""
        for number, node in asked:
            split: list[Case] = []
            for given, mine in cases:
                spend(1)
                inside, outside = self._halves(mine, node)
                if inside is not None:
                    split.append((given | {number}, inside))
                if outside is not None:
                    split.append((given, outside))
            if len(split) > _MAX_CASES:
                raise too_many(_MAX_CASES)
            cases = split
        return cases

    def _halves(self, node: Node, other: Node) -> tuple[Node | None, Node | None]:
        """Return the values of a node that are in another node, and those that are not; None where there are none."""
        known = self._splits.get((node, other))
        if known is None:
            known = self._splits[node, other] = self._find_halves(node, other)
        return known

    def _find_halves(self, node: Node, other: Node) -> tuple[Node | None, Node | None]:
        compared = self._compare(node, other)
        if compared:
            return (node, None) if compared > 0 else (None, node)
        inside = meet(node, other)
        if inside == node:
            return node, None
        outside = meet(node, complement(other))
        has_inside, has_outside = self._has_value(inside), self._has_value(outside)
        if has_inside != has_outside and is_decided(other):  # so `node` is another name of the half, a shorter one
            return (node, None) if has_inside else (None, node)
        return inside if has_inside else None, outside if has_outside else None

    def forget(self) -> None:
        """Drop what was found out. It is found again when needed."""
        self._found.clear()
        self._unsure.clear()
        self._wide.clear()
        self._cases.clear()
        self._deferred.clear()
        self._last = None
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
        return self._can_hold(decided, self._needed & ~self._mask_of(given), left)

    def surely_holds(self, decided: int, given: frozenset[int]) -> bool:
        """Return whether all clauses can be satisfied, with all required properties, if a short search finds that out.

        Unlike `can_hold`, it makes no values that satisfy many clauses about objects. False says nothing.

        Args:
            decided: as for `are_met`.
            given: as for `are_met`.

        Raises:
            LimitExceededError: the search takes too many steps.
        """
        needed = self._needed & ~self._mask_of(given)
        start = (decided, needed, -1)
        if self._has_all_choices or start in self._found:
            return self._can_hold(decided, needed, -1)
        if start in self._unsure:
            return False
        match = self._matched(decided, needed)
        found = match > 0 or (match < 0 and (self._is_solved(decided, needed, -1) or self._search(decided, needed, -1)))
        if found:
            self._found[start] = True
        else:
            self._unsure.add(start)
        return found

    def _can_hold(self, decided: int, needed: int, left: int) -> bool:
        start = (decided, needed, left)
        known = self._found.get(start)
        if known is None:
            match = self._matched(decided, needed)
            if not match or (match > 0 and left < 0):
                known = match > 0
            else:
                known = self._is_solved(decided, needed, left) or self._solve(decided, needed, left)
            self._found[start] = known
        return known

    def _matched(self, decided: int, needed: int) -> int:
        """Give each clause a property of its own that satisfies it.

        That mostly works, because most clauses have many properties. Other properties are absent, or have any value: it
        says nothing about the number of keys.

        Returns:
            1 if each clause has one, 0 if some clause has no property left at all, -1 if a search must decide.
        """
        if not needed & ~self._matched_clauses and not decided & self._matched_properties:
            return 1
        if needed.bit_count() > _MAX_MATCHED:
            return -1
        able: list[tuple[int, int]] = []  # by clause: the number of its properties, and a bit for each
        for number, bit in self._bits.items():
            if bit & needed:
                mine = self._able[number] & ~decided
                if not mine:
                    return 0
                able.append((mine.bit_count(), mine))
        able.sort()
        taken = 0
        for _, mine in able:
            mine &= ~taken
            if not mine:
                return -1
            taken |= 1 << (mine.bit_length() - 1)  # the last one: in the schema's order it is decided last
        self._matched_clauses, self._matched_properties = needed, taken
        return 1

    def check(self, left: int, *, any_order: bool) -> None:
        """Do long searches now, in the compile, so that those of masks are likely to be short.

        It makes the cases of each property. Then it searches for one solution. If that search took a wrong step, it
        searches for a solution with each single choice, and keeps them. If the properties may come in any order, the
        first masks need each choice: so with many clauses, it does that in any case.

        Args:
            left: the greatest number of properties; -1 without a bound.
            any_order: whether the properties come in any order, not their own.

        Raises:
            LimitExceededError: the searches take too many steps, or there are too many cases.
        """
        decided, given = 0, _NONE
        for index in range(len(self._properties)):
            case = self.deferred(index, decided, given)
            made = self.cases(index, decided, given) if case is None else (case,)
            if not any_order:
                decided += decided + 1  # no shifts, as above
                given |= self._fewest(index, made)
        is_hard = any_order and len(self.numbers) > _MIN_HARD_CLAUSES
        if not self.can_hold(0, _NONE, left) or not (is_hard or self.search.failed):
            return
        rest = left - 1 if left > 0 else -1
        for index, choices in self._choices.items():
            for mask, _ in choices:
                self._can_hold(1 << index, self._needed & ~mask, rest)
                if self.search.nodes > _MAX_CHECK_NODES:
                    raise too_many(_MAX_CHECK_NODES)

    def _fewest(self, index: int, made: tuple[Case, ...]) -> frozenset[int]:
        """Return the clauses that the case of a property satisfies which satisfies the fewest.

        Several clauses about a later property seldom have to hold together: all but one are satisfied by a tag before.
        """
        found = [case[0] for case in made]
        if not self._properties[index].is_required:
            found.append(self.absent[index])
        return min(found, key=len) if found else _NONE

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
        if self._search(decided, needed, left):
            return True
        return not self._has_all_choices and self._search(decided, needed, left, is_wide=True)

    def _search(self, decided: int, needed: int, left: int, is_wide: bool = False) -> bool:
        """Search for a solution, and keep it; with `is_wide`, with values that satisfy many clauses about objects."""
        choices = {index: found for index, found in self._choices.items() if not decided >> index & 1}
        if is_wide:
            for index in choices:
                if len(self._large[index]) > _MAX_SPLIT:
                    choices[index] = self._wide_choices(index, needed)
        near = self._solutions[len(self._solutions) - 1] if self._solutions else {}
        made = self.search.found(needed, left, choices, _MAX_SEARCHED, near)
        if made is None:
            return False
        solution = {index: made.get(index) or min(found, key=_price) for index, found in self._choices.items()}
        if len(self._solutions) >= _MAX_KEPT:
            self._solutions.pop(0)
        self._solutions.append(solution)
        return True


def _met(node: Node, asked: list[tuple[int, Node]]) -> Node:
    """Return the values of a node that satisfy some clauses."""
    for _, other in asked:
        node = meet(node, other)
    return node


def _price(choice: Choice) -> int:
    return choice[1]
