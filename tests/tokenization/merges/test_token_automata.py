"""Byte-pair encodings against brute force: DirectMerge on automata, and the table of conflicting pairs.

The encoding here is the definition, written down: as long as there is a pair that a merge is for, the one of the least
rank, of these the leftmost, becomes one token.
"""

from __future__ import annotations

import itertools
import os
import random
from dataclasses import dataclass

import numpy as np
import pytest

from structgen.tokenization.merges.merge_table import MergeTable
from structgen.tokenization.merges.token_automata import TokenAutomaton, apply_merges

UNCOMPILED = os.environ.get("STRUCTGEN_UNCOMPILED") == "1"
AUTOMATA = range(60)
TABLES = range(60 if UNCOMPILED else 300)
LONGEST = {2: 9, 3: 7}  # texts, by the size of the alphabet


@dataclass(frozen=True)
class Encoding:
    """A byte-pair encoding: tokens are numbers, the symbols first; `texts` are the texts of the tokens."""

    symbols: int
    texts: tuple[str, ...]
    merges: tuple[tuple[int, int, int], ...]

    def encode(self, text: str) -> list[int]:
        tokens = [self.texts.index(symbol) for symbol in text]
        ranks = {(left, right): (rank, product) for rank, (left, right, product) in enumerate(self.merges)}
        while True:
            pairs = itertools.pairwise(tokens)
            found = [(*ranks[pair], place) for place, pair in enumerate(pairs) if pair in ranks]
            if not found:
                return tokens
            _, product, place = min(found)
            tokens[place : place + 2] = [product]

    def text(self, tokens) -> str:
        return "".join(self.texts[token] for token in tokens)

    def table(self) -> MergeTable:
        merges = np.array(self.merges, dtype=np.int32).reshape(-1, 3)
        return MergeTable(len(self.texts), merges, np.array([len(text) for text in self.texts], dtype=np.int32))

    def tokenizer(self):
        """Return the same encoding as a tokenizer of `tokenizers`."""
        tokenizers = pytest.importorskip("tokenizers")
        vocabulary = {text: token for token, text in enumerate(self.texts)}
        merges = [(self.texts[left], self.texts[right]) for left, right, _ in self.merges]
        return tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, merges))

    def all_texts(self, longest: int) -> list[str]:
        alphabet = self.texts[: self.symbols]
        return ["".join(text) for n in range(longest + 1) for text in itertools.product(alphabet, repeat=n)]


def learned(rng: random.Random) -> Encoding:
    """Return merges in a learnable order, one for each product; many merge a token with itself."""
    symbols = rng.choice((2, 3))
    texts = list("abc"[:symbols])
    merges = []
    for _ in range(rng.randint(0, 8)):
        left = rng.randrange(len(texts))
        right = left if rng.random() < 0.3 else rng.randrange(len(texts))
        if texts[left] + texts[right] not in texts:
            merges.append((left, right, len(texts)))
            texts.append(texts[left] + texts[right])
    return Encoding(symbols, tuple(texts), tuple(merges))


def unordered(rng: random.Random) -> Encoding:
    """Return merges in any order, several for some products, none for others."""
    symbols = rng.choice((1, 2, 2, 3))
    texts = list("abc"[:symbols])
    for _ in range(rng.randint(1, 10)):
        text = rng.choice(texts) + rng.choice(texts)
        if text not in texts and len(text) <= 9:
            texts.append(text)
    pairs = list(itertools.product(range(len(texts)), repeat=2))
    merges = [(a, b, texts.index(texts[a] + texts[b])) for a, b in pairs if texts[a] + texts[b] in texts]
    rng.shuffle(merges)
    return Encoding(symbols, tuple(texts), tuple(merges[: rng.randint(len(merges) // 2, len(merges))]))


def ranked(rng: random.Random) -> Encoding:
    """Return all merges of pairs whose product is a token, in the order of products, as converted from tiktoken."""
    encoding = learned(rng)
    merges = sorted(
        (product, left, right)
        for product, text in enumerate(encoding.texts)
        for left, right in itertools.product(range(product), repeat=2)
        if encoding.texts[left] + encoding.texts[right] == text
    )
    return Encoding(encoding.symbols, encoding.texts, tuple((left, right, product) for product, left, right in merges))


def random_automaton(rng: random.Random, symbols: int) -> TokenAutomaton:
    """Return a random automaton, also with gaps in the names of states, and with dead, unreached or omitted states."""
    states = rng.sample(range(9), rng.randint(1, 6))
    share = rng.choice((0.6, 0.8, 1))
    transitions = {
        state: {symbol: rng.choice(states) for symbol in range(symbols) if rng.random() < share} for state in states
    }
    accepting = frozenset(state for state in states if rng.random() < 0.5)
    return TokenAutomaton(states[0], accepting, {state: arrows for state, arrows in transitions.items() if arrows})


def accepted(automaton: TokenAutomaton, encoding: Encoding, most_tokens: int, longest: int) -> set[tuple[int, ...]]:
    """Return the sequences of tokens that an automaton accepts, with texts up to a length."""
    found = set()
    level = [(automaton.start, (), 0)]
    for _ in range(most_tokens + 1):
        found |= {tokens for state, tokens, _ in level if state in automaton.accepting}
        level = [
            (target, (*tokens, token), length + len(encoding.texts[token]))
            for state, tokens, length in level
            for token, target in automaton.transitions.get(state, {}).items()
            if length + len(encoding.texts[token]) <= longest
        ]
    return found


@pytest.mark.parametrize("seed", AUTOMATA)
def test_accepts_exactly_the_encodings(seed):
    rng = random.Random(seed)
    encoding = learned(rng)
    longest = LONGEST[encoding.symbols]
    encoded = {text: encoding.encode(text) for text in encoding.all_texts(longest)}
    for _ in range(4):
        automaton = random_automaton(rng, encoding.symbols)
        merged = apply_merges(automaton, encoding.merges)
        allowed = [text for text in encoded if automaton.accepts(map(encoding.texts.index, text))]
        assert all(merged.accepts(encoded[text]) for text in allowed)
        assert accepted(merged, encoding, longest, longest) == {tuple(encoded[text]) for text in allowed}
        for tokens in accepted(merged, encoding, 3, 40):  # long tokens
            text = encoding.text(tokens)
            assert encoding.encode(text) == list(tokens)
            assert automaton.accepts(map(encoding.texts.index, text))


@pytest.mark.parametrize("seed", AUTOMATA)
def test_of_several_merges_for_a_token_one_is_taken(seed):
    rng = random.Random(seed)
    encoding = ranked(rng)
    longest = LONGEST[encoding.symbols]
    automaton = random_automaton(rng, encoding.symbols)
    merged = apply_merges(automaton, encoding.table().taken_merges())
    allowed = [
        tuple(encoding.encode(text))
        for text in encoding.all_texts(longest)
        if automaton.accepts(map(encoding.texts.index, text))
    ]
    assert accepted(merged, encoding, longest, longest) == set(allowed)


@pytest.mark.parametrize("seed", AUTOMATA)
def test_has_no_useless_states(seed):
    rng = random.Random(seed)
    encoding = learned(rng)
    merged = apply_merges(random_automaton(rng, encoding.symbols), encoding.merges)
    following = {state: set(arrows.values()) for state, arrows in merged.transitions.items()}

    def reached(state):
        seen = {state}
        while more := {target for at in seen for target in following[at]} - seen:
            seen |= more
        return seen

    assert reached(merged.start) == set(merged.transitions)
    assert merged.accepting <= set(merged.transitions)
    assert all(reached(state) & merged.accepting for state in set(merged.transitions) - {merged.start})


@pytest.mark.parametrize(
    ("text", "tokens"), [("a", [0]), ("aa", [1]), ("aaa", [1, 0]), ("aaaa", [2]), ("aaaaaaa", [2, 1, 0])]
)
def test_of_equal_symbols_the_leftmost_are_merged_first(text, tokens):
    everything = TokenAutomaton(0, frozenset({0}), {0: {0: 0}})
    encoding = Encoding(1, ("a", "aa", "aaaa"), ((0, 0, 1), (1, 1, 2)))
    merged = apply_merges(everything, encoding.merges)
    assert encoding.encode(text) == tokens
    assert accepted(merged, encoding, 7, len(text)) >= {tuple(tokens)}
    assert [t for t in accepted(merged, encoding, 7, len(text)) if encoding.text(t) == text] == [tuple(tokens)]


def test_leaves_the_given_automaton_alone():
    given = TokenAutomaton(0, frozenset({1}), {0: {0: 0, 1: 1}})
    apply_merges(given, [(0, 1, 2), (0, 0, 3)])
    assert given == TokenAutomaton(0, frozenset({1}), {0: {0: 0, 1: 1}})


def test_an_accepting_state_that_nothing_leads_to_stays_apart():
    """Check a state that is used only as a target: its number is the first that a new state might get."""
    merged = apply_merges(TokenAutomaton(0, frozenset({2, 3}), {0: {0: 1}, 1: {0: 2}}), [(0, 0, 1)])
    assert merged == TokenAutomaton(0, frozenset({1}), {0: {1: 1}, 1: {}})


@pytest.mark.parametrize("transitions", [{}, {0: {0: 0, 1: 3}}])
def test_an_automaton_that_accepts_nothing(transitions):
    assert apply_merges(TokenAutomaton(0, frozenset({2}), transitions), [(0, 1, 2)]) == TokenAutomaton(
        0, frozenset(), {0: {}}
    )


@pytest.mark.parametrize(
    "merges",
    [
        [(2, 1, 3), (0, 1, 2)],  # a part that a later merge makes
        [(0, 1, 4), (1, 1, 3), (0, 5, 4)],  # two for one product
        [(0, 1, 1)],
        [(5, 6, 0)],  # a symbol of the automaton
    ],
)
def test_refuses_what_it_would_get_wrong(merges):
    everything = TokenAutomaton(0, frozenset({0}), {0: dict.fromkeys((0, 1, 5, 6), 0)})
    with pytest.raises(ValueError, match="was there before it"):
        apply_merges(everything, merges)


@pytest.mark.parametrize("seed", range(200))
def test_merges_in_any_order_are_right_or_refused(seed):
    """Check that a merge out of order is refused only where a text meets it."""
    rng = random.Random(seed)
    encoding = unordered(rng)
    longest = LONGEST.get(encoding.symbols, 9)
    automaton = random_automaton(rng, encoding.symbols)
    try:
        merged = apply_merges(automaton, encoding.table().taken_merges())
    except ValueError:
        return
    expected = {
        tuple(encoding.encode(text))
        for text in encoding.all_texts(longest)
        if automaton.accepts(map(encoding.texts.index, text))
    }
    assert accepted(merged, encoding, longest, longest) == expected


def test_merges_out_of_order_that_no_text_meets_do_no_harm():
    texts = TokenAutomaton(0, frozenset({2}), {0: {0: 1}, 1: {1: 2}})  # 0 1
    merged = apply_merges(texts, [(3, 1, 4), (2, 2, 3), (0, 1, 5)])
    assert merged == TokenAutomaton(0, frozenset({1}), {0: {5: 1}, 1: {}})


@pytest.mark.parametrize("make", [learned, unordered])
@pytest.mark.parametrize("seed", range(20))
def test_the_encoding_is_that_of_tokenizers(seed, make):
    encoding = make(random.Random(seed))
    tokenizer = encoding.tokenizer()
    for text in encoding.all_texts(6)[1:]:
        assert tokenizer.encode(text).ids == encoding.encode(text)


@pytest.mark.parametrize("make", [learned, unordered])
@pytest.mark.parametrize("seed", TABLES)
def test_the_merge_table_agrees_pair_by_pair(seed, make):
    encoding = make(random.Random(seed))
    table = encoding.table()
    proper = [token for token, text in enumerate(encoding.texts) if encoding.encode(text) == [token]]
    assert [token for token in range(len(encoding.texts)) if table.is_proper[token]] == proper
    assert sorted(table.by_position) == proper
    for left in proper:
        crossed = {right for right in proper if encoding.encode(encoding.text((left, right))) != [left, right]}
        assert {right for right in proper if table.crosses(left, right)} == crossed
        assert set(table.conflicts(left)) == crossed
        row = np.zeros(len(encoding.texts) // 32 + 1, dtype=np.uint32)
        assert table.mark_conflicts(left, row) == len(table.conflicts(left))
        assert {token for token in range(len(encoding.texts)) if row[token >> 5] >> (token & 31) & 1} == crossed


@pytest.mark.parametrize("seed", range(20))
def test_the_merge_table_agrees_with_the_automaton(seed):
    """Check whole sequences: one is an encoding if no two neighbours in it conflict."""
    rng = random.Random(seed)
    encoding = learned(rng)
    table = encoding.table()
    automaton = random_automaton(rng, encoding.symbols)
    merged = apply_merges(automaton, encoding.merges)
    proper = [token for token in range(len(encoding.texts)) if table.is_proper[token]]
    for tokens in itertools.chain.from_iterable(itertools.product(proper, repeat=n) for n in range(4)):
        good = not any(table.crosses(left, right) for left, right in itertools.pairwise(tokens))
        assert merged.accepts(tokens) == (good and automaton.accepts(map(encoding.texts.index, encoding.text(tokens))))
