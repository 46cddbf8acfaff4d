"""The kept next token of a search is used where the tokenizer itself would write it, and nowhere else."""

from support.bpe_tokenizers import llama3, tokenizer_of, vocabulary_of

from structgen.tokenization.matching.known_ways import KnownWays
from structgen.tokenization.matching.proper_tokenization import ProperTokenization


def test_the_kept_token_is_tried_after_another_last_token():
    tokenizer, vocabulary = tokenizer_of(llama3), vocabulary_of(llama3)
    tokenization = ProperTokenization(tokenizer, vocabulary)
    comma, letters = (tokenizer.encode(text, add_special_tokens=False).ids for text in (",", "abcdefghijklmnopqrst"))
    after = {token: state for token in letters if (state := tokenization.advance(tokenization.start, token))}
    ways = KnownWays(tokenization)
    used = 0
    for token, state in after.items():
        next_state = tokenization.advance(state, comma[0])
        assert next_state is not None
        ways.keep(7, state, next_state)
        assert ways.advance(8, state) is None
        for other in after.values():
            found = ways.advance(7, other)
            assert found is None or found == tokenization.advance(other, comma[0])
            used += found is not None and other.token != token
    assert used > 0
