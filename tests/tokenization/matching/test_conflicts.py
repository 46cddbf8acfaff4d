"""What may follow a token: its conflicts, removed from masks, and the bytes that the next token begins with."""

import random

import numpy as np
from support.bpe_tokenizers import gpt2, llama3, tokenizer_of, vocabulary_of

import structgen
from structgen.tokenization.matching.proper_tokenization import ProperTokenization
from structgen.tokenization.matching.token_sets import ids, ints
from structgen.tokenization.matching.tokenizer_state import TokenizerState


def test_conflicts_are_removed_in_the_same_way_each_time():
    tokenization = ProperTokenization(tokenizer_of(llama3), vocabulary_of(llama3))
    conflicts, size = tokenization.conflicts, tokenization.vocabulary.size
    some = [token for token in range(size) if tokenization.merges.is_proper[token]][:40]
    found = 0
    for token in some:
        expected = set(range(32 * tokenization.word_count)) - set(tokenization.merges.conflicts(token))
        for _ in range(3):
            row = np.full(tokenization.word_count, 0xFFFFFFFF, dtype=np.uint32)
            conflicts.remove(token, row)
            assert set(ids(row)) == expected
        found += 32 * tokenization.word_count - len(expected)
    assert found > 0


def test_conflicts_of_a_list_are_those_of_its_tokens_one_by_one():
    """The list may be short beside the merges of the token, or long: then the ranges of all conflicts are found."""
    tokenization = ProperTokenization(tokenizer_of(llama3), vocabulary_of(llama3))
    merges, words = tokenization.merges, tokenization.word_count
    proper = [token for token in range(tokenization.vocabulary.size) if merges.is_proper[token]]
    rng = random.Random(0)
    found = 0
    for token in rng.sample(proper, 60):
        for count in (1, 5, 40, len(proper)):
            some = rng.sample(proper, count)
            row = np.full(words, 0xFFFFFFFF, dtype=np.uint32)
            merges.remove_crossed(token, ints([*some, token]), count, row)
            crossed = {other for other in some if merges.crosses(token, other)}
            assert set(range(32 * words)) - set(ids(row)) == crossed
            found += len(crossed)
    assert found


def test_no_token_that_may_follow_begins_with_another_byte():
    """Whatever `advance` lets follow begins with one of the bytes; after a space only few do."""
    for make in (llama3, gpt2):
        tokenization = ProperTokenization(tokenizer_of(make), vocabulary_of(make))
        spellings = tokenization.vocabulary.spellings
        space = spellings.index(b" ")
        states = [tokenization.advance(tokenization.start, spellings.index(b"a")), tokenization.start]
        few = 0
        for before in states:
            state = tokenization.advance(before, space)
            for branch in state.branches:
                alone = TokenizerState((branch,), token=space)
                following = [
                    token for token, text in enumerate(spellings) if text and tokenization.advance(alone, token)
                ]
                bits = tokenization.next_tokens.first_bytes_after(branch.scanner_state, branch.word, space)
                assert following
                assert all(bits >> spellings[token][0] & 1 for token in following)
                few += bits.bit_count() < 256
        assert few


def test_a_compile_leaves_no_tables_of_the_vocabulary_to_the_first_mask(own_tokenizer):
    vocabulary = structgen.Vocabulary.from_huggingface(own_tokenizer)
    constraint = structgen.compile({"type": "string"}, vocabulary, tokenization="proper")
    before = constraint.grammar.proper
    next_tokens = before.tokenization.next_tokens
    rows = set(next_tokens._rows)
    assert len(rows) > 1
    constraint.matcher().allowed_token_ids()
    assert constraint.grammar.proper is before
    assert {row for row in next_tokens._rows if row[1] == 0} == rows


def test_rows_after_white_space_between_tokens_are_made_ahead():
    vocabulary = vocabulary_of(llama3)
    tokenization = ProperTokenization(tokenizer_of(llama3), vocabulary)
    scanner, rows = tokenization.scanner, set(tokenization.next_tokens._rows)
    after_one = {state for state, partial in scanner.ends(vocabulary.trie, vocabulary.size) if not partial}
    later = set()
    for text in (b"a", b" ", b"  ", b"\n", b"1", b"."):
        state, _ = scanner.follow(scanner.start, 0, text)
        for before in (state, scanner.cut(state)):
            later.update(scanner.follow(before, 0, blank)[0] for blank in (b" ", b"  ", b"\t", b"\n"))
    assert later.difference(after_one, [0])
    assert {(state, 0) for state in later.difference([0])} <= rows
