"""Tokens of white space are decided for all of a kind at once, as each of them would be alone."""

import itertools
import re

import numpy as np
import pytest
from support.bpe_tokenizers import gpt2, llama3, tokenizer_of, vocabulary_of

import structgen
from structgen.tokenization.matching.proper_tokenization import ProperTokenization


def _mask_of(tokens, vocabulary):
    row = np.zeros((vocabulary.size + 31) // 32, dtype=np.uint32)
    for token in tokens:
        row[token >> 5] |= np.uint32(1 << (token & 31))
    return row


def _tokens_of(row):
    return set(np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist())


@pytest.mark.parametrize("text", [b"", b"{", b" ", b"\n", b"\n\n "])
def test_a_class_holds_the_tokens_that_lead_to_its_state(text):
    vocabulary = vocabulary_of(llama3)
    tokenization = ProperTokenization.of(vocabulary)
    scanner, merges = tokenization.scanner, tokenization.merges
    state, _ = scanner.follow(scanner.start, 0, text)
    spellings = vocabulary.spellings
    blank = [token for token, spelled in enumerate(spellings) if spelled and not spelled.strip(b" \t\n\r")]
    words, begun = tokenization.words, tokenization.begun
    blank = [token for token in blank if not words.begun_by(token) and not begun[token]]  # may stand anywhere
    newline = next(token for token in blank if spellings[token] == b"\n")
    removed = set()
    for kind in tokenization.blanks.classes(state):
        row = _mask_of(blank, vocabulary)
        kind.remove(row, 3)
        found = set(blank) - _tokens_of(row)
        assert all(scanner.follow(state, 0, spellings[token]) == (kind.scanner_state, 0) for token in found)
        assert all(len(spellings[token]) <= 3 for token in found)
        row = _mask_of(blank, vocabulary)
        kind.before(newline).remove(row, 3)
        assert set(blank) - _tokens_of(row) == {token for token in found if not merges.crosses(token, newline)}
        removed |= found
    assert removed == {
        token for token in blank if len(spellings[token]) <= 3 and scanner.follow(state, 0, spellings[token])[0]
    }


@pytest.mark.parametrize("name", [llama3, gpt2])
@pytest.mark.parametrize(
    "source",
    [
        *(r"[ \t\n\r]{0,5}:a", r"[ \t\n\r]{0,5}(:|,)", r"[ \t\n\r]*[0-9]", r"[ \t\n\r]{2,4}[a-z]"),
        *(r"[ \t\n\r]{0,3}(q|[a-z ]{0,2}7)", r"([ \n]{0,3}|[ \t]{4}):"),
    ],
)
def test_white_space_is_allowed_as_far_as_the_tokenizer_writes_it(name, source):
    """Each text of the grammar that begins with a token of white space is tried."""
    vocabulary, tokenizer = vocabulary_of(name), tokenizer_of(name)
    matcher = structgen.compile(structgen.Grammar.regex(source), vocabulary, tokenization="proper").matcher()
    written = set()
    for size in range(6):
        for blanks in itertools.product(" \t\n\r", repeat=size):
            for end in (":a", ":", ",", "7", "q"):
                text = "".join(blanks) + end
                if re.fullmatch(source, text):
                    written.add(tokenizer.encode(text, add_special_tokens=False).ids[0])

    def short(tokens):  # longer ones need longer texts
        return {token for token in tokens if len(vocabulary.spellings[token]) <= 3}

    blank = {token for token in matcher.allowed_token_ids() if not vocabulary.spellings[token].strip(b" \t\n\r")}
    assert short(blank) == {token for token in short(written) if not vocabulary.spellings[token].strip(b" \t\n\r")}
    assert len(short(blank)) > 5
