"""The search for choices finds one exactly if trying all of them does."""

import random
from itertools import product

import pytest

from structgen.errors import LimitExceededError
from structgen.schema.rules.clause_choices import ChoiceSearch


def satisfies(chosen, needed, left):
    masks = 0
    for mask, _ in chosen:
        masks |= mask
    return not needed & ~masks and (left < 0 or sum(price for _, price in chosen) <= left)


def random_choices(rng):
    """Return the choices of a few properties, with a bound on their cost or without, and the number of clauses."""
    clauses = rng.randint(1, 8)
    price = rng.randint(0, 1)
    choices = {}
    for index in range(rng.randint(1, 5)):
        found = [(rng.getrandbits(clauses) & rng.getrandbits(clauses), price) for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.7:
            found.append((rng.getrandbits(clauses) & rng.getrandbits(clauses), 0))
        choices[index] = found
    return choices, rng.randint(0, 4) if price else -1, clauses


@pytest.mark.parametrize("seed", range(5))
def test_choices_are_found_if_there_are_any(seed):
    rng = random.Random(seed)
    answers = set()
    for _ in range(100):
        choices, left, clauses = random_choices(rng)
        needed = (1 << clauses) - 1
        near = {index: rng.choice(found) for index, found in choices.items()} if rng.random() < 0.5 else {}
        made = ChoiceSearch().found(needed, left, choices, 5_000, near)
        exists = any(satisfies(chosen, needed, left) for chosen in product(*choices.values()))
        assert (made is not None) == exists
        if made is not None:
            others = (min(found, key=lambda choice: choice[1]) for i, found in choices.items() if i not in made)
            assert satisfies([*made.values(), *others], needed, left)
        answers.add(exists)
    assert answers == {False, True}


def three_of_each(properties, clauses, seed):
    """Return choices of properties that are true or false; each clause needs one of three."""
    rng = random.Random(seed)
    masks = [[0, 0] for _ in range(properties)]
    for clause in range(clauses):
        for index in rng.sample(range(properties), 3):
            masks[index][rng.randint(0, 1)] |= 1 << clause
    return {index: [(mask, 0) for mask in both] for index, both in enumerate(masks)}


def test_many_clauses_take_few_steps():
    search = ChoiceSearch()
    choices = three_of_each(100, 300, 1)
    made = search.found((1 << 300) - 1, -1, choices, 5_000, {})
    assert satisfies(made.values(), (1 << 300) - 1, -1)
    assert search.nodes < 200


def test_a_long_search_is_given_up():
    search = ChoiceSearch()
    with pytest.raises(LimitExceededError, match="too many ways"):
        search.found((1 << 430) - 1, -1, three_of_each(100, 430, 0), 20, {})
    assert search.nodes == 21
