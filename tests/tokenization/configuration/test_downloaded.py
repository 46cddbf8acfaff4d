"""Real tokenizers over real schemas: `STRUCTGEN_TOKENIZERS` names a folder with a folder for each of them."""

import functools
import json
import os
import pathlib
import random

import numpy as np
import pytest
from support.shared_data import NO_DATA, real_case, real_files

import structgen
from structgen.tokenization.matching.proper_tokenization import ProperTokenization

TOKENIZERS = os.environ.get("STRUCTGEN_TOKENIZERS", "")
NAMES = ["gemma3", "llama3"]
SCHEMAS = 30
WALKS = 30
LONGEST = 200  # tokens of a walk
HURRY = 60  # from there on tokens that close something are preferred

pytestmark = [
    pytest.mark.slow,
    pytest.mark.parametrize("name", NAMES),
    pytest.mark.filterwarnings("ignore::structgen.schema.schema_warnings.SchemaWarning"),
]


@functools.cache
def tokenizer_of(name):
    tokenizers = pytest.importorskip("tokenizers")
    file = pathlib.Path(TOKENIZERS, name, "tokenizer.json")
    if not TOKENIZERS or not file.exists():
        pytest.skip(f"STRUCTGEN_TOKENIZERS names no folder with {name}/tokenizer.json")
    return tokenizers.Tokenizer.from_file(str(file))


@functools.cache
def vocabulary_of(name):
    tokenizer = tokenizer_of(name)
    ends = [tokenizer.token_to_id(text) for text in ("<eos>", "<|end_of_text|>")]
    return structgen.Vocabulary.from_huggingface(tokenizer, eos_token_ids=[end for end in ends if end is not None])


@functools.cache
def cases():
    files = real_files()
    if not files:
        pytest.skip(NO_DATA)
    return [real_case(file) for file in random.Random(11).sample(files, SCHEMAS)]


@functools.cache
def constraints(name):
    """Return the constraints of the schemas, for proper tokenizations and for any, and their valid instances."""
    found = []
    for case in cases():
        try:
            proper, plain = (
                structgen.compile(case.schema, vocabulary_of(name), tokenization=tokenization)
                for tokenization in ("proper", "any")
            )
        except structgen.StructgenError:
            continue
        found.append((proper, plain, [test.data for test in case.instances if test.is_valid]))
    return found


def encoded(name, text):
    return tokenizer_of(name).encode(text, add_special_tokens=False).ids


def test_what_the_tokenizer_makes_of_instances_is_proper_and_other_splits_are_not(name):
    rng = random.Random(2)
    vocabulary = vocabulary_of(name)
    tokenization = ProperTokenization.of(vocabulary)
    for case in cases():
        for test in case.instances[:2]:
            text = json.dumps(test.data, ensure_ascii=False)
            ids = encoded(name, text)
            if len(ids) > 300 or b"".join(vocabulary.token_bytes(token) or b"" for token in ids) != text.encode():
                continue
            place = tokenization.start
            at = rng.randrange(len(ids))
            for index, token in enumerate(ids):
                if index == at:
                    _check_other_tokens(name, tokenization, place, ids, at)
                place = tokenization.advance(place, token)
                assert place is not None
            assert tokenization.may_end(place)


def _check_other_tokens(name, tokenization, place, ids, at):
    """Check shorter tokens at a position that are proper after those before."""
    vocabulary = vocabulary_of(name)
    text = vocabulary.token_bytes(ids[at])
    for token, other in enumerate(vocabulary.spellings):
        if other and len(other) < len(text) and text.startswith(other):
            after = tokenization.advance(place, token)
            if after is not None and after.partial == 0 and tokenization.may_end(after):
                spelled = b"".join(vocabulary.token_bytes(each) for each in [*ids[:at], token])
                assert encoded(name, spelled.decode()) == [*ids[:at], token]


def test_masks_allow_what_the_tokenizer_makes_of_instances(name):
    """Check texts that the constraint allows; some have another order of keys."""
    followed = 0
    for constraint, plain, values in constraints(name):
        for value in values[:1]:
            ids = encoded(name, json.dumps(value, ensure_ascii=False))[:150]
            matcher = plain.matcher()
            if not all(_accepts(matcher, token) for token in ids):
                continue
            proper = constraint.matcher()
            for token in ids:
                assert token in proper.allowed_token_ids()
                proper.accept_token(token)
                followed += 1
    assert followed > 100


def _accepts(matcher, token):
    allowed = token in matcher.allowed_token_ids()
    if allowed:
        matcher.accept_token(token)
    return allowed


def test_random_walks_end_in_texts_of_which_the_tokenizer_makes_them_again(name):
    rng = random.Random(3)
    vocabulary = vocabulary_of(name)
    spellings = vocabulary.spellings
    closes = np.array([any(byte in text for byte in b'"]}') for text in spellings])
    row = structgen.allocate_token_bitmask(1, vocabulary.size)
    ended = 0
    for _ in range(WALKS):
        constraint = rng.choice(constraints(name))[0]
        matcher, ids = constraint.matcher(), []
        while len(ids) < LONGEST:
            matcher.fill_next_token_bitmask(row)
            allowed = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))
            assert len(allowed), f"stuck behind {ids[-8:]}"
            going = np.setdiff1d(allowed, vocabulary.eos_token_ids, assume_unique=True)
            if not len(going) or (len(going) < len(allowed) and rng.random() < 0.3):
                text = b"".join(vocabulary.token_bytes(token) for token in ids).decode()
                assert encoded(name, text) == ids
                ended += 1
                break
            if len(ids) > HURRY and rng.random() < 0.7 and closes[going].any():
                going = going[closes[going]]
            ids.append(int(rng.choice(going)))
            matcher.accept_token(ids[-1])
    assert ended > WALKS // 2
