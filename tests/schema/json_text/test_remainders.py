"""Integers that remainders decide, between bounds, and unions of such sets."""

from __future__ import annotations

import json
import random
from fractions import Fraction

import pytest

from structgen.engine.automata.store import AutomatonStore
from structgen.schema.algebra import NumberSet
from structgen.schema.json_text.number_terminals import numbers_regex
from structgen.schema.json_text.plain_numbers import plain_numbers_regex
from structgen.schema.json_text.remainders import integers_of


def _bound(rng: random.Random) -> int | None:
    return rng.choice([None, rng.randint(-20, 20), rng.randint(-(10 ** rng.randint(1, 6)), 10 ** rng.randint(1, 6))])


@pytest.mark.parametrize("seed", range(30))
def test_integers_between_bounds_are_members_of_one_set(seed: int) -> None:
    rng = random.Random(seed)
    low, high = _bound(rng), _bound(rng)
    choices = ((rng.randint(1, 9), (rng.randint(2, 9),)), (rng.choice((4, 7, 50)), ()))
    store = AutomatonStore()
    state = store.add(integers_of(low, high, choices))
    near = [number + more for number in (low or 0, high or 0, 0, 10, 100, 1000, 10**6) for more in range(-12, 13)]
    for number in [*near, *(rng.randrange(-(10**7), 10**7) for _ in range(300))]:
        within = (low is None or number >= low) and (high is None or number <= high)
        is_one = any(number % step == 0 and all(number % other for other in refused) for step, refused in choices)
        assert store.matches(state, str(number).encode()) == (within and is_one), number
    for text in (b"00", b"-0", b"01", b"-", b"", b"1.0"):
        assert not store.matches(state, text)


def _set(rng: random.Random) -> NumberSet | None:
    low, high = rng.choice([(None, None), (0, None), (-700, 100_000), (7, 10**16), (None, 99)])
    outside = tuple(rng.sample((2, 3, 4, 5, 7, 9), rng.choice((0, 1, 2, 5))))
    return NumberSet(low, False, high, False, rng.choice((1, 2, 6, 7, 12, 40)), outside).reduced()


@pytest.mark.parametrize("seed", range(12))
def test_a_union_has_the_members_of_its_sets_in_every_form(seed: int) -> None:
    rng = random.Random(seed)
    drawn = [_set(rng) for _ in range(3)]
    parts = tuple(dict.fromkeys(part for part in drawn if part is not None))
    store = AutomatonStore()
    whole, plain = store.add(numbers_regex(parts)), store.add(plain_numbers_regex(parts))
    single = [(part, store.add(numbers_regex((part,)))) for part in parts]
    for _ in range(400):
        number = rng.randrange(10 ** rng.randint(1, 6)) * rng.choice((1, -1, 12, 40))
        zeros = rng.randint(0, 3)
        shown = f"{number / 10**zeros:.{zeros}f}e{zeros}"
        for text in (str(number), f"{number}.0", shown, f"{number}e2", f"{number // 7}.5"):
            expected = any(store.matches(state, text.encode()) for _, state in single)
            assert store.matches(whole, text.encode()) == expected, text
            if expected and "e" not in text and json.loads(text):
                value = Fraction(text)
                assert any(part.contains(value) for part in parts), text
        is_member = any(part.contains(number) for part in parts)
        assert store.matches(plain, str(number).encode()) == is_member, number


def test_a_combination_of_many_multiples_takes_no_search() -> None:
    """Texts of 12 digits: one number in 4,004 is a multiple of 4,004, and a search would visit thousands of states."""
    parts = (NumberSet(multiple=429, outside=(7, 2)), NumberSet(multiple=4004, outside=(3, 8)))
    store = AutomatonStore()
    start = store.add(numbers_regex(parts))
    for byte in b"561211165":
        start = store.next(start, byte)
    for number in range(1000):
        state = start
        for byte in b"%03d" % number:
            state = store.next(state, byte)
    assert store.emptiness.terms_searched < 20


@pytest.mark.parametrize(
    ("multiple", "outside", "texts"),
    [
        (4096, (), [f"9.{number:02}" for number in range(100)]),
        (Fraction(1, 16), (Fraction(1, 4),), ["803.0625", "5.83778"]),
        (Fraction(3, 8), (Fraction(3, 4), 7), ["803.25", "5.83778"]),
    ],
)
def test_a_multiple_in_any_form_is_found_by_a_short_search(
    multiple: int | Fraction, outside: tuple[int | Fraction, ...], texts: list[str]
) -> None:
    store = AutomatonStore()
    start = store.add(numbers_regex((NumberSet(multiple=multiple, outside=outside),)))
    for text in texts:
        state = start
        for byte in text.encode():
            state = store.next(state, byte)
        store.successors(state)
    assert store.emptiness.terms_searched < 500


@pytest.mark.parametrize(
    ("multiple", "outside"),
    [(Fraction(1, 16), (Fraction(1, 4),)), (Fraction(3, 8), (7, Fraction(1, 2))), (3, (Fraction(9, 2),))],
)
def test_all_forms_of_multiples_that_are_not_those_of_others(
    multiple: int | Fraction, outside: tuple[int | Fraction, ...]
) -> None:
    part, store = NumberSet(multiple=multiple, outside=outside), AutomatonStore()
    state = store.add(numbers_regex((part,)))
    for number in range(-900, 900):
        for places in range(5):
            digits = f"{abs(number):05}"
            text = f"{'-' * (number < 0)}{digits[:1]}.{digits[1:]}e{places}"
            if digits[0] != "0":
                assert store.matches(state, text.encode()) == part.contains(Fraction(text)), text
            whole = f"{abs(number):0{places + 1}}"
            text = f"{'-' * (number < 0)}{whole[: len(whole) - places]}.{whole[len(whole) - places :]}"
            if places and not (whole[0] == "0" and whole[1:2] and len(whole) - places > 1):
                for zeros in ("", "0"):
                    member = part.contains(Fraction(text))
                    assert store.matches(state, (text + zeros).encode()) == member, text + zeros
