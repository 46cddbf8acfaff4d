"""Operations on masks, against Python's integers."""

from array import array

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from structgen.engine.vocabulary.token_trie import TokenTrie
from structgen.tokenization.matching.token_sets import count, count_to, drop, first_bytes, ids, tokens_first


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
