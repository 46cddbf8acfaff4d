"""The tokens that fit a state of the scanner, which shares subtrees of the vocabulary with other states."""

import numpy as np
from support.bpe_tokenizers import llama3, tokenizer_of, vocabulary_of

from structgen.tokenization.matching.proper_tokenization import ProperTokenization

MIN_SHARED = 32  # tokens in a subtree that is shared
TEXTS = (b'"', b"a", b" ", b"\n", b"  ", b"1")


def test_the_tokens_of_a_state_are_those_that_the_scanner_follows():
    vocabulary = vocabulary_of(llama3)
    tokenization = ProperTokenization(tokenizer_of(llama3), vocabulary)
    scanner = tokenization.scanner
    states = {scanner.follow(scanner.start, 0, text)[0] for text in TEXTS} - {0}
    assert len(states) > 3
    assert sum(text[:1] == b" " for text in vocabulary.spellings) > MIN_SHARED
    for state in states:
        fitting = np.unpackbits(
            np.asarray(tokenization.next_tokens.rows(state, 0).begins).view(np.uint8), bitorder="little"
        )
        assert fitting.any()
        for token in np.flatnonzero(fitting).tolist():
            assert scanner.follow(scanner.cut(state), 0, vocabulary.spellings[token])[0]
        for token in range(vocabulary.size):
            after, partial = scanner.follow(scanner.cut(state), 0, vocabulary.spellings[token])
            is_whole = bool(vocabulary.spellings[token]) and after and not partial
            assert fitting[token] or not is_whole or not tokenization.merges.is_proper[token]
