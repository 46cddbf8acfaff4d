"""Operations on masks, against Python's integers."""

from array import array

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from structgen.tokenization.matching.token_sets import count, tokens_first


@given(st.lists(st.integers(0, 2**32 - 1), max_size=4))
def test_count_is_of_all_bits(words):
    """Also words with all bits set, compiled and uncompiled."""
    assert count(np.array(words, dtype=np.uint32)) == sum(map(int.bit_count, words))


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=4), st.lists(st.integers(0, 31), max_size=5))
def test_all_tokens_come_and_those_named_come_first(words, first):
    tokens = [token for token in range(32 * len(words)) if words[token // 32] >> token % 32 & 1]
    found = list(tokens_first(np.array(words, dtype=np.uint32), array("i", first)))
    assert found == [token for token in first if token in tokens] + tokens
