"""Compare the flat trie with the list that it was made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tries import trie_of

from structgen import VocabularyError

ENTRIES = st.lists(st.tuples(st.binary(min_size=1, max_size=6), st.integers(0, 2**31 - 1)), max_size=60)
NARROW = st.lists(st.tuples(st.text("ab", min_size=1, max_size=8).map(str.encode), st.integers(0, 99)), max_size=60)


def paths(trie):
    """Return the bytes that lead to each node, by a walk that skips nothing."""
    path = []
    for node in range(trie.node_count):
        del path[trie.node_depth[node] - 1 :]
        path.append(trie.node_byte[node])
        assert len(path) == trie.node_depth[node]
        yield bytes(path)


@given(st.one_of(ENTRIES, NARROW).map(sorted))
def test_the_trie_holds_the_entries_and_their_prefixes(entries):
    trie = trie_of(entries)
    nodes = list(paths(trie))
    assert nodes == sorted({text[:end] for text, _ in entries for end in range(1, len(text) + 1)})
    found = [
        (text, trie.tokens[at])
        for node, text in enumerate(nodes)
        for at in range(trie.token_start[node], trie.token_start[node + 1])
    ]
    assert found == entries
    assert trie.max_depth == max((len(text) for text, _ in entries), default=0)
    assert len(trie.node_byte) == len(trie.node_end) == len(trie.node_depth) == trie.node_count
    assert len(trie.token_start) == trie.node_count + 1
    assert len(trie.tokens) == len(entries)


@given(st.one_of(ENTRIES, NARROW).map(sorted))
def test_ends_and_first_nodes(entries):
    trie = trie_of(entries)
    nodes = list(paths(trie))
    for node, text in enumerate(nodes):
        assert trie.node_end[node] == node + sum(other.startswith(text) for other in nodes)
    for byte in range(256):
        expected = nodes.index(bytes([byte])) if bytes([byte]) in nodes else -1
        assert trie.first_node[byte] == expected


def test_equal_bytes_share_a_node_in_the_order_given():
    trie = trie_of([(b"a", 5), (b"a", 3), (b"ab", 5)])
    assert list(trie.node_byte) == [97, 98]
    assert list(trie.tokens) == [5, 3, 5]
    assert list(trie.token_start) == [0, 2, 3]


@pytest.mark.parametrize(
    "entries", [[(b"", 1)], [(b"b", 1), (b"a", 2)], [(b"ab", 1), (b"a", 2)], [(b"a", 1), (b"", 2)]]
)
def test_what_is_not_sorted_or_empty_is_refused(entries):
    with pytest.raises(VocabularyError, match=f"token {entries[-1][1]}"):
        trie_of(entries)


@given(NARROW.map(sorted), st.text("ab", max_size=12).map(str.encode))
def test_fewest_tokens_of_some_bytes(entries, data):
    found = trie_of(entries).fewest_tokens(data)
    fewest = [0] + [len(data) + 1] * len(data)
    for end in range(1, len(data) + 1):
        fewest[end] = min([fewest[end - len(text)] + 1 for text, _ in entries if data[:end].endswith(text)], default=99)
    if fewest[len(data)] > len(data):
        assert found is None
    else:
        spelled = {token: text for text, token in entries}
        assert len(found) == fewest[len(data)]
        assert len(spelled) < len(entries) or b"".join(map(spelled.__getitem__, found)) == data
