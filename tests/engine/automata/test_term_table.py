"""The hash table of `TermTable` against a dict."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from structgen.engine.automata.term_table import TermTable
from structgen.engine.constants import EMPTY, K_BYTES, K_LITERAL

ROWS = st.tuples(st.sampled_from([K_LITERAL, K_BYTES]), st.integers(0, 2**64), st.integers(0, 3))


@given(st.lists(ROWS, max_size=200), st.sampled_from([4, 64, 1024]))
def test_equal_rows_are_one_term(rows, capacity):
    table = TermTable(capacity=capacity)
    expected = {}
    for kind, payload, tail in rows:
        term = table.intern(kind, payload, tail, 0, 0, 1)
        assert term == expected.setdefault((kind, payload, tail), 4 + len(expected))
    assert table.count == 4 + len(expected)
    for (kind, payload, tail), term in expected.items():
        assert table.intern(kind, payload, tail, 0, 0, 1) == term


def test_all_terms_are_found_after_each_new_one():
    table = TermTable(capacity=4)
    for last in range(300):
        assert table.intern(K_LITERAL, b"%d" % last, EMPTY, 0, 0, 1) == 4 + last
        assert [table.intern(K_LITERAL, b"%d" % one, EMPTY, 0, 0, 1) for one in range(last)] == list(range(4, 4 + last))
