"""Nodes as formulas: their operations are those of propositional logic, and nested unions come to an end."""

import random
from itertools import product

import pytest

from structgen.schema.algebra.nodes import ANY, NONE, any_of, cases, complement, meet

ATOMS = (2, 3, 4, 5)
WORLDS = list(product((False, True), repeat=len(ATOMS)))


def holds(node, world):
    given = {1: True, **dict(zip(ATOMS, world, strict=True))}
    return all(
        given[abs(atom)] == (atom > 0) if isinstance(atom, int) else any(holds(inner, world) for inner in atom.nodes)
        for atom in node
    )


def worlds(node):
    return {world for world in WORLDS if holds(node, world)}


def depth(node):
    return max([atom.depth for atom in node if not isinstance(atom, int)], default=0)


@pytest.mark.parametrize("seed", range(20))
def test_operations_are_those_of_logic_however_unions_nest(seed):
    rng = random.Random(seed)
    nodes = [ANY, NONE, *[(sign * atom,) for atom in ATOMS for sign in (1, -1)]]
    deepest = 0
    for _ in range(150):
        left, right = rng.sample(nodes[-25:], 2)
        met, joined, opposite = meet(left, right), any_of([left, right]), complement(left)
        assert worlds(met) == worlds(left) & worlds(right)
        assert worlds(joined) == worlds(left) | worlds(right)
        assert worlds(opposite) == set(WORLDS) - worlds(left)
        for given, node in cases(left, [(0, right)]):
            assert worlds(node) == worlds(left) & (worlds(right) if given else set(WORLDS) - worlds(right))
        nodes += [met, joined, opposite]
        deepest = max(deepest, *map(depth, nodes[-3:]))
    assert deepest < 8  # nodes of few atoms: unions that nest deeper are resolved
