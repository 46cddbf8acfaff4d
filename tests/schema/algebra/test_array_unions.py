"""Unions of sets of arrays as one set with clauses, and back."""

import pytest

from structgen.errors import LimitExceededError
from structgen.schema.algebra import ArraySet, Contains
from structgen.schema.algebra.array_unions import apart, as_one, is_unordered

A, B, C = (2,), (3,), (4,)


def no(node):
    return Contains(0, node, 0, 0)


def some(node, low=1):
    return Contains(0, node, low)


def condition(node, other):
    """Return the sets of arrays without items in a node, and of arrays with an item in another one."""
    return [ArraySet(contains=(no(node),)).reduced(), ArraySet(contains=(some(other),))]


def test_a_condition_is_one_clause():
    found = as_one(condition(A, B))
    assert [set(clause) for clause in found.clauses] == [{no(A), some(B)}]
    assert is_unordered(found)


def test_a_condition_whose_first_part_holds_is_a_count():
    found = as_one(condition(A, B)).intersect(ArraySet(contains=(some(A),)))
    assert set(found.contains) == {some(A), some(B)}
    assert not found.clauses


def test_a_product_of_unions_becomes_their_clauses_again():
    left, right = condition(A, B), condition(B, C)
    product = [both for one in left for other in right if (both := one.intersect(other)) is not None]
    found = as_one(product)
    assert {frozenset(clause) for clause in found.clauses} == {frozenset({no(A), some(B)}), frozenset({no(B), some(C)})}


def test_a_condition_that_always_holds_is_no_clause():
    assert as_one([ArraySet(contains=(some(A),)), ArraySet(contains=(no(A),)).reduced()]) == ArraySet()


def test_first_items_of_their_own_are_no_clause():
    assert as_one([ArraySet((A,)), ArraySet((B,))]) is None


def test_sets_apart_have_no_clauses():
    found = apart(as_one(condition(A, B)).intersect(as_one(condition(B, C))))
    assert not any(part.clauses for part in found)
    assert 2 <= len(found) <= 4


def test_too_many_sets_apart_are_an_error():
    clauses = tuple((no((2 * i,)), some((2 * i + 1,))) for i in range(2, 20))
    with pytest.raises(LimitExceededError, match="too many ways"):
        apart(ArraySet(clauses=clauses))


def test_the_order_of_items_matters_where_the_first_ones_differ():
    clause = (no(A), some(B))
    assert is_unordered(ArraySet(clauses=(clause,)))
    assert not is_unordered(ArraySet((C,), clauses=(clause,)))
    assert not is_unordered(ArraySet(high=3, clauses=(clause,)))
    assert not is_unordered(ArraySet(clauses=((no(A), Contains(0, B, 0, 2)),)))


def test_no_condition_is_lost_where_too_many_are_tried():
    many = tuple(some((2 * i,)) for i in range(2, 42))
    found = as_one([ArraySet(contains=many), ArraySet(contains=(*many, some(B))), ArraySet(contains=(some(A),))])
    assert found is None or {frozenset({each, some(A)}) for each in many} <= set(map(frozenset, found.clauses))
