"""Marks of token terminals: their regexes, texts and terminals with and without them, and vocabularies with them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structgen import Vocabulary, VocabularyError
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex import tree as rx
from structgen.engine.vocabulary.marks import is_mark, mark_of, marks_regex, pieces_of, token_of, without_marks
from structgen.engine.vocabulary.token_trie import TokenTrie
from structgen.limits import Limits

IDS = st.integers(0, 2**24 - 1)
MARK = b"\xff"


@given(IDS, st.integers(0, 300_000), IDS)
def test_the_regex_of_a_range_matches_its_marks(low, count, other):
    high = min(low + count, 2**24 - 1)
    regex = marks_regex(((low, high),))
    store = AutomatonStore(Limits())
    state = store.add(regex)
    assert is_mark(regex)
    for token in (low, high, (low + high) // 2, other, low - 1, high + 1):
        if 0 <= token < 2**24:
            assert store.matches(state, mark_of(token)) == (low <= token <= high)
    assert token_of(mark_of(low)) == low


@given(st.lists(st.one_of(IDS, st.binary(max_size=3).filter(lambda text: MARK not in text))), st.integers(0, 3))
def test_a_text_with_marks_is_split_at_them(pieces, cut):
    data = b"".join(piece if isinstance(piece, bytes) else mark_of(piece) for piece in pieces)
    joined = []
    for piece in pieces:
        if isinstance(piece, bytes) and joined and isinstance(joined[-1], bytes):
            joined[-1] += piece
        elif piece != b"":
            joined.append(piece)
    assert list(pieces_of(data)) == joined
    assert list(pieces_of(data + mark_of(0)[:cut])) == joined


BYTE_SETS = st.sampled_from([0xFF, 1 << 97, (1 << 256) - 1, 1 << 255, 1 << 255 | 1 << 98]).map(rx.ByteSet)
LEAVES = st.one_of(
    BYTE_SETS,
    st.sampled_from([b"a", MARK, b"a\xff", b""]).map(rx.Literal),
    st.just(rx.LiteralSet((b"a", b"b\xff"))),
    st.just(rx.Substrings((b"a", MARK, b"b"))),
    st.just(rx.ANY_CHAR),
)
REGEXES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(rx.Sequence),
        st.tuples(inner, inner).map(rx.Choice),
        st.tuples(inner, inner).map(rx.Intersection),
        inner.map(rx.Complement),
        inner.map(lambda body: rx.Repeat(body, 0, 2)),
        inner.map(rx.Early),
    ),
    max_leaves=5,
)


@given(REGEXES)
def test_only_texts_with_the_byte_are_removed(regex):
    store = AutomatonStore(Limits())
    no_mark = rx.Repeat(rx.ByteSet((1 << 255) - 1), 0, None)
    wanted = rx.Intersection((regex, no_mark))
    found = without_marks(regex)
    assert store.is_empty(rx.difference(wanted, found))
    assert store.is_empty(rx.difference(found, wanted))


def test_a_terminal_without_the_byte_stays_the_same_object():
    for regex in (rx.ANY_CHAR, rx.difference(rx.star(rx.ANY_CHAR), rx.Literal(b"x")), rx.Literal(b"abc")):
        assert without_marks(regex) is regex


TEXTS = st.dictionaries(st.integers(0, 40), st.binary(min_size=1, max_size=3), min_size=1, max_size=12)


@given(TEXTS, st.sets(st.integers(0, 49), min_size=1, max_size=6))
def test_a_vocabulary_with_marks(tokens, named):
    vocabulary = Vocabulary.from_bytes(tokens, eos_token_ids=[45], size=50)
    marked = vocabulary.marked(tuple((token, token) for token in sorted(named)))
    plain = [(text, token) for token, text in tokens.items() if MARK not in text]
    entries = sorted(plain, key=lambda entry: (entry[0], entry[1])) + [
        (mark_of(token), token) for token in sorted(named)
    ]
    fresh = TokenTrie([text for text, _ in entries], [token for _, token in entries])
    for name in ("node_byte", "node_end", "node_depth", "token_start", "tokens", "first_node"):
        assert np.array_equal(np.asarray(getattr(marked.trie, name)), np.asarray(getattr(fresh, name))), name
    assert (marked.trie.node_count, marked.trie.max_depth) == (fresh.node_count, fresh.max_depth)
    for token in range(50):
        text = tokens.get(token, b"")
        text = b"" if MARK in text else text
        assert marked.spellings[token] == (text or (mark_of(token) if token in named else b""))
    assert vocabulary.marked(tuple((token, token) for token in sorted(named))) is marked


def test_names_of_special_tokens():
    vocabulary = Vocabulary.from_bytes({0: b"a"}, [2], special_tokens={"<call>": 1, "</s>": 2})
    assert vocabulary.size == 3
    assert [vocabulary.shown(token) for token in range(3)] == [b"a", b"<call>", b"</s>"]
    assert Vocabulary.from_bytes({0: b"a"}, size=9).shown(7) == b"<[7]>"
    other = Vocabulary.from_bytes({0: b"a"}, [2], special_tokens={"<call>": 2, "</s>": 1})
    assert other is not vocabulary
    assert other.fingerprint != vocabulary.fingerprint
    assert pickle.loads(pickle.dumps(vocabulary)) is vocabulary
    assert vocabulary.detached().special_tokens == vocabulary.special_tokens
    with pytest.raises(VocabularyError, match="the special token '<x>' is 5, not in a vocabulary of 3 tokens"):
        Vocabulary.from_bytes({0: b"a"}, size=3, special_tokens={"<x>": 5})


def test_names_come_from_the_tokenizer(tiny_tokenizer):
    vocabulary = Vocabulary.from_huggingface(tiny_tokenizer)
    assert vocabulary.special_tokens["<|user|>"] == tiny_tokenizer.convert_tokens_to_ids("<|user|>")
