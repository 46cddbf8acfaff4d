"""Splits after ByteLevel, which may cut within a character: invented encodings, and Falcon's pre-tokenizer."""

import random

import pytest
from support.bpe_tokenizers import sequences
from support.smollm2 import byte_alphabet

import structgen
from structgen.tokenization.matching.proper_tokenization import ProperTokenization

LETTERS = {byte: letter for letter, byte in byte_alphabet().items()}
# Among their bytes are B2, B3, B9, BC to BE, of which the byte map makes digits.
CHARACTERS = "abt 1239,.'\nòóùüé²³¼½×ײמ丼伽中文😀😂𝟏"


def _split(pattern, behavior, invert=False):
    from tokenizers import Regex, pre_tokenizers

    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def invented_splits(rng, patterns):
    """Return some pre-tokenizers in a row."""
    from tokenizers import pre_tokenizers

    behaviors = ["isolated", "contiguous", "merged_with_previous", "merged_with_next"]
    made = []
    for _ in range(rng.randint(0, 2)):
        kind = rng.randrange(5)
        if kind == 0:
            made.append(pre_tokenizers.Digits(individual_digits=rng.random() < 0.5))
        elif kind == 1:
            made.append(pre_tokenizers.Punctuation(rng.choice(behaviors)))
        elif kind == 2:
            made.append(pre_tokenizers.FixedLength(rng.randint(1, 4)))
        else:
            made.append(_split(rng.choice(patterns), rng.choice(behaviors), rng.random() < 0.2))
    return made


def invented(rng):
    """Return a tokenizer with random merges of characters and their parts, and splits before and after ByteLevel."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    pieces = list(LETTERS.values())
    merges = []
    for _ in range(rng.randint(0, 60)):
        data = "".join(rng.choices(CHARACTERS, k=rng.randint(1, 3))).encode()
        parts = [LETTERS[byte] for byte in data[rng.randint(0, 2) : len(data) - rng.randint(0, 2)]]
        while len(parts) > 1:  # put together in some order
            at = rng.randrange(len(parts) - 1)
            if (parts[at], parts[at + 1]) not in merges:
                merges.append((parts[at], parts[at + 1]))
            parts[at : at + 2] = ["".join(parts[at : at + 2])]
            pieces += [parts[at]] * (parts[at] not in pieces)
    named = {piece: token for token, piece in enumerate([*pieces, "<e>"])}
    tokenizer = Tokenizer(models.BPE(named, merges, ignore_merges=rng.random() < 0.3))
    before = invented_splits(rng, [r"\s+(?!\S)|\s+", "ò|é1", r"\p{L}+| ?\p{N}", "[^a1]{1,2}"])
    behind = invented_splits(
        rng, ["²|³", "Ã[¤-¿]|ä¸?", "[À-ÿ](?![À-ÿ])", "[0-9][0-9][0-9]", "Ġ(?=[a-z])|½$", "[^aÃ]{1,2}"]
    )
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=rng.random() < 0.5)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*before, byte_level, *(behind or [pre_tokenizers.Digits()])])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<e>"])
    return tokenizer


def tokenized(tokenizer, vocabulary, text):
    """Return the ids of a text; none if they do not spell it."""
    ids = tuple(tokenizer.encode(text, add_special_tokens=False).ids)
    return ids if b"".join(vocabulary.token_bytes(token) or b"\xff" for token in ids) == text.encode() else None


@pytest.mark.one_in(6, uncompiled=16)
@pytest.mark.parametrize("seed", range(40))
def test_the_masks_allow_exactly_the_tokenizations_of_the_texts(seed):
    """Check random sets of texts, at the beginning and after a prompt."""
    rng = random.Random(seed)
    tokenizer = invented(rng)
    vocabulary = structgen.Vocabulary.from_huggingface(tokenizer, eos_token_ids=tokenizer.token_to_id("<e>"))
    ends = set(vocabulary.eos_token_ids)
    for _ in range(4):
        characters = rng.sample(CHARACTERS, rng.randint(1, 5))
        texts = {"".join(rng.choices(characters, k=rng.randint(1, 5))) for _ in range(rng.randint(1, 15))}
        ProperTokenization.of(vocabulary).max_single_checks = rng.choice([0, ProperTokenization.max_single_checks])
        constraint = structgen.compile(structgen.Grammar.choice(sorted(texts)), vocabulary, tokenization="proper")
        found = sequences(constraint.matcher(), ends)
        assert len(found) == len(set(found))
        assert set(found) == {tokenized(tokenizer, vocabulary, text) for text in texts}
        prompt = rng.choice(sorted(texts))
        before = tokenized(tokenizer, vocabulary, prompt)
        behind = [tokenized(tokenizer, vocabulary, prompt + text) for text in texts]
        expected = {ids[len(before) :] for ids in behind if ids[: len(before)] == before}
        matcher = constraint.matcher(before)
        assert (set(sequences(matcher, ends)) if expected else set(matcher.allowed_token_ids())) == expected
