"""Multiples of a number, as an automaton over decimal digits."""

from __future__ import annotations

import random
from functools import cache
from math import lcm

import pytest

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex.tree import (
    ByteSet,
    Complement,
    Intersection,
    Literal,
    Multiple,
    Regex,
    Repeat,
    choice,
    difference,
    intersection,
    plus,
    sequence,
)

DIGIT = ByteSet(sum(1 << b for b in b"0123456789"))
DIGITS = plus(DIGIT)


@pytest.mark.parametrize("divisor", [1, 2, 7, 12, 77, 1000])
def test_digits_are_taken_when_their_number_is_a_multiple(divisor):
    store = AutomatonStore()
    state = store.add(Intersection((Multiple(divisor), DIGITS)))
    for number in [*range(1500), 10**30 * divisor, 10**30 * divisor + 1]:
        assert store.matches(state, str(number).encode()) == (number % divisor == 0)


def test_a_point_is_skipped_and_a_remainder_is_read_on_from():
    store = AutomatonStore()
    assert store.matches(store.add(Multiple(25)), b"12.25")
    assert not store.matches(store.add(Multiple(25)), b"12.20")
    assert store.matches(store.add(Multiple(7, 1)), b"4")
    assert not store.matches(store.add(Multiple(7, 1)), b"")
    assert store.matches(store.add(sequence(Multiple(7), Literal(b"x"))), b"14x")


def test_a_multiple_of_one_factor_is_enough():
    store = AutomatonStore()
    state = store.add(Intersection((Multiple(210, 0, (2, 3, 35)), DIGITS)))
    for number in range(1500):
        assert store.matches(state, str(number).encode()) == any(number % factor == 0 for factor in (2, 3, 35))
    assert store.matches(store.add(sequence(Multiple(6, 1, (2, 3)), Literal(b"x"))), b"4x")


class Condition:
    """Multiples of some numbers, or of none of some, joined by "and" and "or"; asked of digits and of a remainder."""

    def __init__(self, rng: random.Random, depth: int = 2) -> None:
        self.kind = rng.choice(("all", "any", "none")) if depth else "multiple"
        self.divisor = rng.choice((2, 3, 4, 5, 7, 8, 11, 13))
        self.parts = [Condition(rng, depth - 1) for _ in range(rng.randint(1, 3))] if depth else []

    def regex(self) -> Regex:
        parts = [part.regex() for part in self.parts]
        if self.kind == "all":
            return intersection(DIGITS, *parts)
        if self.kind == "any":
            return choice(*parts)
        return difference(DIGITS, choice(*parts)) if parts else intersection(DIGITS, Multiple(self.divisor))

    def modulus(self) -> int:
        return lcm(1 if self.parts else self.divisor, *[part.modulus() for part in self.parts])

    def holds(self, number: int) -> bool:
        if self.kind == "multiple":
            return number % self.divisor == 0
        found = [part.holds(number) for part in self.parts]
        return all(found) if self.kind == "all" else any(found) if self.kind == "any" else not any(found)


@pytest.mark.one_in(2, uncompiled=6)
@pytest.mark.parametrize("seed", range(60))
def test_digits_lead_on_where_so_many_more_can_make_what_is_asked_for(seed: int) -> None:
    rng = random.Random(seed)
    condition = Condition(rng)
    most = rng.randint(2, 6)
    modulus = condition.modulus()

    @cache
    def can_end(remainder: int, left: int) -> bool:
        if condition.holds(remainder):
            return True
        return left > 0 and any(can_end((remainder * 10 + digit) % modulus, left - 1) for digit in range(10))

    store = AutomatonStore()
    whole = store.add(intersection(Repeat(DIGIT, 1, most), condition.regex()))
    places = [sequence(Repeat(DIGIT, 1, most - used), Literal(b"." + b"0" * used)) for used in range(1, most)]
    zeros = sequence(condition.regex(), Literal(b"."), plus(Literal(b"0")))
    pointed = store.add(intersection(choice(*places), zeros))
    for _ in range(200):
        text = str(rng.randrange(10 ** rng.randint(1, most)))
        left = most - len(text)
        number = int(text)
        for start, spare in ((whole, 0), (pointed, 1)):
            state = start
            for byte in text.encode():
                state = store.next(state, byte)
            assert (state != 0) == (left >= spare and can_end(number % modulus, left - spare)), text
        assert store.matches(whole, text.encode()) == condition.holds(number)


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(Repeat(DIGIT, 1, 9), id="digits"),
        pytest.param(
            choice(*[sequence(Repeat(DIGIT, 1, 9 - used), Literal(b"." + b"0" * used)) for used in range(1, 5)]),
            id="with a point",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_searches_from_many_remainders_look_at_each_few_times(form: Regex) -> None:
    store = AutomatonStore()
    multiples = Intersection((Multiple(3003), Complement(choice(Multiple(2), Multiple(9)))))
    ends = choice(multiples, sequence(multiples, Literal(b"."), plus(Literal(b"0"))))
    start = store.add(intersection(form, ends))
    for number in range(1000):
        state = start
        for byte in str(number).encode():
            state = store.next(state, byte)
    assert store.emptiness.terms_searched < 3 * store.count


@pytest.mark.one_in(1, uncompiled=5)
@pytest.mark.parametrize("most", [3, 4, 9])
@pytest.mark.parametrize("excluded", [(), (8,), (2, 7), (5,), (4004,)])
def test_a_multiple_among_few_digits_is_found_where_there_is_one(most: int, excluded: tuple[int, ...]) -> None:
    """With few digits left, no multiple may be among them, or just refused ones."""
    store = AutomatonStore()
    wanted = [Multiple(divisor) for divisor in (44, 91)]
    refused = [Complement(Multiple(divisor)) for divisor in excluded]
    state = store.add(intersection(Repeat(DIGIT, 1, most), *wanted, *refused))
    rng = random.Random(most)
    for _ in range(60):
        text = str(rng.randrange(10 ** rng.randint(1, most)))
        reached = state
        for byte in text.encode():
            reached = store.next(reached, byte)
        ends = False
        for more in range(min(most - len(text), 5) + 1):
            least = int(text) * 10**more
            multiples = range(least + -least % lcm(44, 91), least + 10**more, lcm(44, 91))
            ends = ends or any(all(number % divisor for divisor in excluded) for number in multiples)
        assert (reached != 0) == ends, text


def assert_more_digits_may_follow(store: AutomatonStore, start: int, count: int) -> None:
    """Asserts that a text may go on after each of the numbers below `count`."""
    for number in range(count):
        state = start
        for byte in str(number).encode():
            state = store.next(state, byte)
        assert state != 0, number


def test_a_rare_multiple_is_tried_and_not_searched_for() -> None:
    """One number in 4,004 is a multiple of 4,004: a search would visit most of the remainders."""
    store = AutomatonStore()
    start = store.add(intersection(Repeat(DIGIT, 1, 18), Multiple(4004), Complement(Multiple(8))))
    assert_more_digits_may_follow(store, start, 200)
    assert store.emptiness.terms_searched < 400


def test_a_search_among_alternatives_goes_straight_to_a_rare_multiple() -> None:
    """The least number of digits that make a multiple is the least length of its texts."""
    store = AutomatonStore()
    ends = choice(*[sequence(Multiple(divisor), Literal(b"e")) for divisor in (4096, 4095)])
    start = store.add(intersection(sequence(Repeat(DIGIT, 1, 14), Literal(b"e")), ends))
    assert_more_digits_may_follow(store, start, 300)
    assert store.emptiness.terms_searched < 3_000
    assert store.table.min_len[store.add(Multiple(64, 9))] == 2  # 960
