"""Operations on masks, against Python's integers."""

from array import array

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from structgen.engine.vocabulary.token_trie import TokenTrie
from structgen.tokenization.matching.token_sets import (
    are_many,
    count,
    count_to,
    drop,
    drop_both,
    first_bytes,
    ids,
    intersect_either,
    list_tokens,
    select,
    tokens_first,
)

ROWS = st.lists(st.sampled_from([0, 1, 6, 2**31, 2**32 - 1]), min_size=70, max_size=70)


@given(st.lists(st.integers(0, 2**32 - 1), max_size=4))
def test_count_is_of_all_bits(words):
    """Also words with all bits set, compiled and uncompiled."""
    assert count(np.array(words, dtype=np.uint32)) == sum(map(int.bit_count, words))


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=4), st.lists(st.integers(0, 31), max_size=5))
def test_all_tokens_come_and_those_named_come_first(words, first):
    tokens = [token for token in range(32 * len(words)) if words[token // 32] >> token % 32 & 1]
    found = list(tokens_first(np.array(words, dtype=np.uint32), array("i", first)))
    assert found == [token for token in first if token in tokens] + tokens


@given(st.lists(st.integers(0, 2**32 - 1), max_size=9))
def test_ids_are_all_bits(words):
    expected = [token for token in range(32 * len(words)) if words[token // 32] >> token % 32 & 1]
    assert ids(np.array(words, dtype=np.uint32)) == expected


@given(st.lists(st.sampled_from([0, 1, 2**32 - 1]), max_size=9), st.integers(0, 200), st.integers(0, 600))
def test_a_bounded_count_is_right_up_to_its_bound(words, most, zeros):
    row = np.array([*[0] * zeros, *words], dtype=np.uint32)
    found, expected = count_to(row, most), sum(map(int.bit_count, words))
    assert found == expected if expected <= most else most < found <= expected


@given(st.integers(0, 2**64 - 1), st.lists(st.integers(0, 63), max_size=9))
def test_dropped_tokens_are_gone_and_one_may_be_named_twice(bits, some):
    row = np.array([bits & 2**32 - 1, bits >> 32], dtype=np.uint32)
    drop(row, array("i", some))
    assert set(ids(row)) == {token for token in range(64) if bits >> token & 1} - set(some)


@given(st.sets(st.integers(0, 4)))
def test_first_bytes_are_those_of_the_tokens(tokens):
    spelled = [b"a", b"ab", b"b", b"\xc3", b"\xff"]
    row = np.array([sum(1 << token for token in tokens)], dtype=np.uint32)
    assert first_bytes(row, TokenTrie(spelled, [*range(5)])) == sum(
        1 << byte for byte in {spelled[t][0] for t in tokens}
    )


@given(ROWS, st.integers(0, 60))
def test_a_list_holds_all_tokens_if_they_are_not_too_many(words, most):
    row, out = np.array(words, dtype=np.uint32), array("i", [0] * 64)
    found, expected = list_tokens(row, out, most), ids(row)
    assert found == min(len(expected), most + 1)
    if found <= most:
        assert [*out[:found]] == expected


@given(ROWS, ROWS, st.lists(st.integers(0, 70 * 32 - 1), max_size=30), st.integers(0, 30))
def test_tokens_that_two_masks_share_are_dropped_from_a_list(words, others, some, length):
    row, other = np.array(words, dtype=np.uint32), np.array(others, dtype=np.uint32)
    begun, tokens = min(length, len(some)), array("i", some)
    kept = drop_both(tokens, begun, row, other)
    assert [*tokens[:kept]] == [token for token in some[:begun] if token not in {*ids(row)} & {*ids(other)}]


@given(ROWS, ROWS, ROWS)
def test_the_tokens_of_either_mask_stay(words, one, other):
    rows = [np.array(each, dtype=np.uint32) for each in (words, one, other)]
    kept = rows[0].copy()
    intersect_either(kept, rows[1], rows[2])
    assert np.array_equal(kept, rows[0] & (rows[1] | rows[2]))


@given(ROWS, ROWS, ROWS)
def test_tokens_are_selected_that_one_mask_lacks(words, one, other):
    row, shared, removed = (np.array(each, dtype=np.uint32) for each in (words, one, other))
    selected = np.ones_like(row)
    assert not select(selected, row, shared, removed)
    assert np.array_equal(selected, row & shared & ~removed)


def test_selected_tokens_of_many_words_are_many():
    many, removed = np.ones(600, dtype=np.uint32), np.zeros(600, dtype=np.uint32)
    selected = np.zeros_like(many)
    assert select(selected, many, many, removed)
    removed[:88] = 1
    assert not select(selected, many, many, removed)


def test_tokens_of_many_words_are_many():
    assert not are_many(np.array([1] * 512 + [0] * 90, dtype=np.uint32))
    assert are_many(np.array([0] * 90 + [1] * 513, dtype=np.uint32))
