"""What is kept of a terminal's tokens serves the grammars that share the terminal, and changes no mask."""

import numpy as np
import pytest
from support.bpe_tokenizers import gemma_like, llama3, qwen3, tokenizer_of, vocabulary_of

import structgen
from structgen.engine.matching.compiled import SharedState
from structgen.limits import Limits

STRING = r'"([^"\\\x00-\x1f]|\\["\\/bfnrt])*"'
TEXTS = ['"ab é\\n c"', '"x  y"', '"\t"', '"1 a\xa0b"']


def masks_of(vocabulary, regex, ids, limits):
    structgen.clear_cache()
    grammar = structgen.Grammar.regex(regex)
    matcher = structgen.compile(grammar, vocabulary, tokenization="proper", limits=limits).matcher()
    row = structgen.allocate_token_bitmask(1, vocabulary.size)
    found = []
    for token in ids:
        matcher.fill_next_token_bitmask(row)
        found.append(row.copy())
        if not row[0, token >> 5].view(np.uint32) >> np.uint32(token & 31) & 1:
            break
        matcher.accept_token(token)
    return found


@pytest.mark.one_in(1, uncompiled=2)
@pytest.mark.parametrize("make", [llama3, gemma_like, qwen3])
def test_masks_do_not_depend_on_the_grammars_before(make):
    alone, shared = Limits(mask_seconds=60), Limits(mask_seconds=61)  # tables belong to limits
    vocabulary, tokenizer = vocabulary_of(make), tokenizer_of(make)
    regexes = [rf"\[{STRING}\]", rf"{STRING}: [0-9]+", rf"({STRING}|[a-z]+) *,", STRING]
    sequences = [
        tokenizer.encode(before + text, add_special_tokens=False).ids for before in ("[", "") for text in TEXTS
    ]
    for regex in regexes:
        for ids in sequences:
            SharedState.drop_all(vocabulary, alone)
            first = masks_of(vocabulary, regex, ids, alone)
            later = masks_of(vocabulary, regex, ids, shared)
            assert len(first) == len(later)
            assert all(np.array_equal(*pair) for pair in zip(first, later, strict=True))


@pytest.mark.one_in(1, uncompiled=3)
@pytest.mark.parametrize("make", [llama3, gemma_like, qwen3])
def test_what_is_known_of_keys_changes_no_mask(make):
    """Check grammars that share keys, of which all that may follow a token is looked at."""
    alone, shared = Limits(mask_seconds=60), Limits(mask_seconds=61)
    vocabulary, tokenizer = vocabulary_of(make), tokenizer_of(make)
    keys = ["isle", "islands", "is", "here", "hers"]
    regexes = [*(f'\\{{"({"|".join(some)})": ?[0-9]+\\}}' for some in (keys, keys[1:], keys[:2])), '"isle"|"here":']
    for _ in range(2):
        for regex in regexes:
            for key in keys:
                for begun in ('{"', '"'):
                    ids = tokenizer.encode(f'{begun}{key}": 12}}', add_special_tokens=False).ids
                    SharedState.drop_all(vocabulary, alone)
                    first = masks_of(vocabulary, regex, ids, alone)
                    later = masks_of(vocabulary, regex, ids, shared)
                    assert [row.tolist() for row in first] == [row.tolist() for row in later]
