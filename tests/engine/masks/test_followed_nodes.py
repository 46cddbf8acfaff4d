"""Tokens that are words in a row in many ways: masks are those of a walk over the sets, token by token."""

import random
from itertools import product

import numpy as np
import pytest

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.kbnf import parse
from structgen.limits import Limits

LONGEST = 12
# Thousands of nodes, so that remainders are as many as those that are compared.
TEXTS = [bytes(text) for size in range(1, LONGEST + 1) for text in product(b"ab", repeat=size)]
VOCABULARY = Vocabulary.from_bytes(dict(enumerate(TEXTS)), eos_token_ids=[len(TEXTS)], size=len(TEXTS) + 1)
GRAMMARS = [
    "start ::= word*; word ::= #'a[ab]*|ba|bab';",  # more words come to new nodes
    "start ::= word*; word ::= #'[ab]+';",
    "start ::= list | list 'b' list; list ::= word list | word; word ::= #'a[ab]*' | #'bba*';",
    "start ::= (word word | 'b' word)*; word ::= #'(a|ba)[ab]*';",
    "start ::= word+ 'b'?; word ::= #'ab[ab]*' | #'ba[ab]*b';",
    "start ::= list 'b'?; list ::= list word | word; word ::= #'a[ab]*a' | #'b[ab]*b' | #'ab[ab]*b';",
    "start ::= outer*; outer ::= inner 'b' | inner; inner ::= word+; word ::= #'a([ab]{3})*';",
]


def allowed_by_steps(compiled, set_id):
    """The tokens that the item sets allow, one byte after the other."""
    targets = {b"": set_id}
    for text in TEXTS:
        before = targets[text[:-1]]
        targets[text] = compiled.sets.goto(before, text[-1]) if before else 0
    return [bool(targets[text]) for text in TEXTS]


@pytest.mark.one_in(1, uncompiled=4)
@pytest.mark.parametrize("grammar", GRAMMARS)
def test_masks_are_those_of_the_item_sets(grammar):
    compiled = CompiledGrammar(normalize(parse(grammar)), VOCABULARY, limits=Limits(item_sets=10_000_000))
    rng = random.Random(0)
    row = np.zeros((VOCABULARY.size + 31) // 32, dtype=np.uint32)
    for _ in range(2):
        set_id = compiled.sets.start_set
        for _ in range(4):
            compiled.masks.fill(set_id, row)
            found = np.unpackbits(row.view(np.uint8), bitorder="little")[: len(TEXTS)].astype(bool).tolist()
            assert found == allowed_by_steps(compiled, set_id)
            choices = [text for text, is_allowed in zip(TEXTS, found) if is_allowed]
            if not choices:
                break
            for byte in rng.choice(choices):
                set_id = compiled.sets.goto(set_id, byte)
