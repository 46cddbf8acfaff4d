"""A bridge that a search has found is tried after all tokens that lead to the same position, and proves no more."""

from support.bpe_tokenizers import llama3, tokenizer_of, vocabulary_of

import structgen
from structgen.tokenization.matching.bridges import BridgeTokens
from structgen.tokenization.matching.proper_tokenization import ProperTokenization


def test_only_usual_tokens_are_learnt_and_each_once():
    tokenization = ProperTokenization(tokenizer_of(llama3), vocabulary_of(llama3))
    bridges = BridgeTokens([3], frozenset({5, 6}))
    state = tokenization.start
    for token in (5, 5, 7, -1):
        bridges.learn(state, token)
    assert bridges.of(state.branches[0].scanner_state) == [3, 5]
    assert bridges.of(state.branches[0].scanner_state + 1) == [3]


def test_masks_are_the_same_whatever_was_learnt_before():
    """The colon may follow each run of white space only as the tokenizer would split it."""
    vocabulary = vocabulary_of(llama3)
    tokenizer = tokenizer_of(llama3)
    grammar = structgen.Grammar.regex(r'[a-z]{1,3}[ \n\t]{0,4}:[ \n\t]{0,4}[a-z0-9]"')
    masks = []
    for _ in range(2):
        structgen.clear_cache()
        matcher = structgen.compile(grammar, vocabulary, tokenization="proper").matcher()
        masks.append([])
        for token in tokenizer.encode('ab \n\n :  1"', add_special_tokens=False).ids:
            masks[-1].append(matcher.allowed_token_ids())
            matcher.accept_token(token)
    assert masks[0] == masks[1]
    assert len(masks[0]) > 4
