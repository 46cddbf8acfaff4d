"""Tokens that a walk decides lead on: each begins the rest of a text, as the tokenizer splits it."""

import itertools
from collections import defaultdict

import numpy as np
import pytest
from support.bpe_tokenizers import gemma_like, gpt2, llama3, tokenizer_of, vocabulary_of
from support.vocabularies import compiled_from

from structgen.tokenization.matching.checked_position import CheckedPosition, Place
from structgen.tokenization.matching.continuations import Continuations
from structgen.tokenization.matching.inner_walk import InnerWalk
from structgen.tokenization.matching.proper_tokenization import ProperTokenization
from structgen.tokenization.matching.token_sets import has, undecided_tokens

UNKNOWN, GOOD = 0, 1


def spelled(characters, most):
    return ["".join(each) for size in range(most + 1) for each in itertools.product(characters, repeat=size)]


GRAMMARS = {
    r"start ::= '\"' #'[thea ]{0,4}\"' ':';": ['"', spelled("thea ", 4), '":'],
    r"start ::= #'\"[thea]{0,3}(\" |!\")' ':';": ['"', spelled("thea", 3), ['" ', '!"'], ":"],
    r"start ::= #'[0-9]{1,3}' #'[ \n]{0,3}[,]';": [
        spelled("0123456789", 3)[1:],
        spelled(" \n", 3),
        ",",
    ],
    r"start ::= #'(the|in|he|[a ]|é){1,3}[.]';": [
        [
            "".join(each)
            for size in (1, 2, 3)
            for each in itertools.product(["the", "in", "he", "a", " ", "é"], repeat=size)
        ],
        ".",
    ],
}


def positions(tokenizer, texts):
    """Return the tokens that may come next after the first few tokens of the texts."""
    following = defaultdict(set)
    for text in texts:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        for size in (0, 1, 2):
            if size < len(ids):
                following[tuple(ids[:size])].add(ids[size])
    return following


@pytest.mark.parametrize("make", [llama3, gpt2, gemma_like])
def test_decided_tokens_begin_the_rest_of_a_text(make):
    vocabulary, tokenizer = vocabulary_of(make), tokenizer_of(make)
    tokenization = ProperTokenization.of(vocabulary)
    spellings, decided = vocabulary.spellings, 0
    for source, parts in GRAMMARS.items():
        compiled = compiled_from(source, vocabulary)
        walk = InnerWalk(compiled, tokenization, Continuations(compiled, tokenization))
        position = CheckedPosition(compiled, tokenization)
        texts = map("".join, itertools.product(*parts))
        for before, following in positions(tokenizer, texts).items():
            set_id, state = compiled.sets.start_set, tokenization.start
            for token in before:
                set_id = compiled.sets.goto_all(set_id, spellings[token])
                state = tokenization.advance(state, token)
            if state.partial or state.added or len(state.branches) > 1:
                continue
            rows = tokenization.next_tokens.rows(state.branches[0].scanner_state, 0)
            for joined, row in ((True, rows.joins), (False, rows.begins)):
                tokens = [token for token, text in enumerate(spellings) if text and has(row, token)]
                undecided = undecided_tokens(vocabulary.trie.in_order(np.array(tokens, dtype=np.intc)), [])
                position.begin(Place(set_id, state, state.branches[0], joined))
                if not position.is_kept:
                    continue
                walk.decide(undecided, position)
                for token, verdict in zip(undecided.tokens, undecided.verdicts, strict=True):
                    assert verdict in (UNKNOWN, GOOD)
                    if verdict == GOOD and not (joined and before and tokenization.merges.crosses(before[-1], token)):
                        assert token in following, (source, before, spellings[token])
                        decided += 1
    assert decided > 100
