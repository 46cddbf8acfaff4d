"""Sets of integers that a remainder decides, and digits that continue a number into one."""

from __future__ import annotations

import random
from functools import cache

import pytest

from structgen.engine.automata.remainder_sets import RemainderSet, modulus_of
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.deadlines import Deadline
from structgen.engine.regex.tree import Literal, Regex, Remainders, Substrings, choice, sequence
from structgen.errors import LimitExceededError

DIVISORS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 25)


def _choices(rng: random.Random) -> tuple[tuple[int, tuple[int, ...]], ...]:
    sets = [(rng.choice((1, *DIVISORS)), tuple(rng.sample(DIVISORS, rng.randint(0, 2)))) for _ in range(3)]
    return tuple(sets[: rng.randint(1, 3)])


def _holds(choices: tuple[tuple[int, tuple[int, ...]], ...], number: int) -> bool:
    return any(number % step == 0 and all(number % other for other in refused) for step, refused in choices)


@pytest.mark.parametrize("seed", range(40))
def test_the_digits_that_are_needed_are_those_found_by_counting(seed: int) -> None:
    rng = random.Random(seed)
    choices = _choices(rng)
    members = RemainderSet(choices)
    modulus = modulus_of(choices)
    for remainder in rng.sample(range(modulus), min(modulus, 30)):
        assert members.holds(remainder) == _holds(choices, remainder)
        least = rng.randint(0, 3)
        needed = members.digits_needed(remainder, least)
        for count in range(least, 5):
            first = remainder * 10**count
            if any(_holds(choices, number) for number in range(first, first + min(10**count, modulus))):
                assert needed == count
                break
        else:
            assert needed == -1 or needed > 4


def test_a_set_without_members_needs_digits_without_end() -> None:
    members = RemainderSet(((6, (3,)),))
    assert members.digits_needed(0, 0) == -1
    assert not members.holds(0)
    store = AutomatonStore()
    assert store.add(Remainders(((6, (3,)),), 0, 0, None)) == 0


@pytest.mark.parametrize("most", [0, 1, 2, 4, None])
@pytest.mark.parametrize("seed", range(10))
def test_digits_lead_on_just_where_they_can_end(seed: int, most: int | None) -> None:
    rng = random.Random(f"{seed} {most}")
    choices = _choices(rng)
    modulus = modulus_of(choices)
    least = rng.randint(0, 2) if most is None else rng.randint(0, most)

    @cache
    def can_end(remainder: int, least: int, left: int) -> bool:
        if least <= 0 and _holds(choices, remainder):
            return True
        return left > 0 and any(can_end((remainder * 10 + d) % modulus, least - 1, left - 1) for d in range(10))

    store = AutomatonStore()
    remainder = rng.randrange(modulus)
    digits = Remainders(choices, remainder, least, most)
    starts = [store.add(digits), store.add(sequence(digits, Literal(b".0"))), store.add(choice(digits, Literal(b"x")))]
    for _ in range(60):
        text = "".join(rng.choices("0123456789", k=rng.randint(0, 5)))
        number, left = remainder, (8 if most is None else most) - len(text)
        for digit in text:
            number = number * 10 + int(digit)
        expected = left >= 0 and can_end(number % modulus, max(least - len(text), 0), left)
        is_one = left >= 0 and len(text) >= least and _holds(choices, number)
        for start, end in zip(starts, (b"", b".0", b"")):
            state = start
            for byte in text.encode():
                state = store.next(state, byte)
            assert (state != 0) == (expected or (not text and start == starts[2])), text
            assert store.matches(start, text.encode() + end) == is_one
    assert store.emptiness.terms_searched == 0


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (Remainders(((99_991, ()),), 0, 1, None), Remainders(((2, ()),), 0, 1, None), b"99991"),
        (Substrings((b"ab",) * 5_000), Substrings((b"c",)), b"abab"),
    ],
    ids=["remainders", "substrings"],
)
def test_what_a_limit_has_ended_takes_no_number(first: Regex, second: Regex, text: bytes) -> None:
    """The next set has the number that the first one would have had; the first one is made anew."""
    store = AutomatonStore()
    with pytest.raises(LimitExceededError), Deadline(0.0):
        store.add(first)
    others = store.add(second)
    state = store.add(first)
    assert store.matches(state, text)
    assert not store.matches(others, text)
    assert not store.matches(state, b"2")
    assert not store.matches(state, b"c")
