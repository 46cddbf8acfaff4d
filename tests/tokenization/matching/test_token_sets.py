"""Operations on masks, against Python's integers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from structgen.tokenization.matching.token_sets import count


@given(st.lists(st.integers(0, 2**32 - 1), max_size=4))
def test_count_is_of_all_bits(words):
    """Also words with all bits set, compiled and uncompiled."""
    assert count(np.array(words, dtype=np.uint32)) == sum(map(int.bit_count, words))
