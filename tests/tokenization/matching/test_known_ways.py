"""The kept next tokens of searches are used where the tokenizer itself would write them, and nowhere else."""

from array import array

from support.bpe_tokenizers import llama3, tokenizer_of, vocabulary_of

import structgen
from structgen.tokenization.matching.known_ways import KnownWays
from structgen.tokenization.matching.proper_tokenization import ProperTokenization


def test_the_kept_token_is_tried_after_another_last_token():
    tokenizer, vocabulary = tokenizer_of(llama3), vocabulary_of(llama3)
    tokenization = ProperTokenization(tokenizer, vocabulary)
    comma, *letters = (tokenizer.encode(text, add_special_tokens=False).ids[0] for text in ",abcdefghijklmnopqrst")
    states = [tokenization.advance(tokenization.start, token) for token in letters]
    kept = [state for state in states if state.branches == states[0].branches]
    ways = KnownWays([], frozenset(), array("i"))
    assert ways.token_after(states[0]) is None
    ways.keep(states[0], comma)
    assert [state for state in states if ways.token_after(state) == comma] == kept
    assert len(kept) > 1
    assert all(tokenization.advance(state, comma) for state in kept)


def test_only_usual_tokens_are_bridges_and_each_once():
    tokenization = ProperTokenization(tokenizer_of(llama3), vocabulary_of(llama3))
    ways = KnownWays([3], frozenset({5, 6}), array("i"))
    state = tokenization.start
    for token in (5, 5, 7, -1):
        ways.keep(state, token)
    assert ways.bridges(state.branches[0].scanner_state) == [3, 5]
    assert ways.bridges(state.branches[0].scanner_state + 1) == [3]


def test_masks_are_the_same_whatever_was_kept_before():
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
