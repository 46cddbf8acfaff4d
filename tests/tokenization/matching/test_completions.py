"""Completions of characters and endings of pre-tokens, against the tokenizers' own merges."""

import functools
import random

import pytest
from support import bpe_tokenizers
from support.bpe_tokenizers import tokenizer_of, vocabulary_of
from support.smollm2 import byte_alphabet

import structgen
from structgen.tokenization.matching.completions import unfinished
from structgen.tokenization.matching.proper_tokenization import ProperTokenization
from structgen.tokenization.pre_tokens.character_classes import composes

MAKES = [make for make in bpe_tokenizers.CUTTING if make is not bpe_tokenizers.llama3]  # it has whole words besides
LETTERS = {byte: letter for letter, byte in byte_alphabet().items()}


@functools.cache
def tokenization_of(make):
    tokenizer, vocabulary = tokenizer_of(make), vocabulary_of(make)
    return tokenizer, ProperTokenization(tokenizer, vocabulary)


def merged(make, data):
    """Return the tokens that the tokenizer's merges make of some bytes within a pre-token."""
    return [token.id for token in tokenization_of(make)[0].model.tokenize("".join(LETTERS[byte] for byte in data))]


def unfinished_tokens(make):
    tokenization = tokenization_of(make)[1]
    spellings = tokenization.vocabulary.spellings
    return [(token, text) for token, text in enumerate(spellings) if unfinished(text) and merged(make, text) == [token]]


@pytest.mark.one_in(4, uncompiled=12)
@pytest.mark.parametrize("make", MAKES, ids=lambda make: make.__name__)
def test_completions_stay_behind_their_token(make):
    found = 0
    for token, text in unfinished_tokens(make):
        completion = tokenization_of(make)[1].completions.of(token)
        assert completion.exists or not completion.texts
        for more in completion.texts:
            assert len((unfinished(text) + more).decode()) == 1 or not unfinished(more)
            assert merged(make, text + more)[0] == token, (text, more)
            found += 1
    assert found > 50


@pytest.mark.one_in(4, uncompiled=12)
@pytest.mark.parametrize("make", MAKES, ids=lambda make: make.__name__)
def test_a_token_that_some_character_completes_has_a_completion(make):
    rng = random.Random(3)
    characters = {chr(code) for code in [*range(0x80, 0x800), *rng.sample(range(0x800, 0xD800), 3000)]}
    characters |= {chr(code) for code in rng.sample(range(0x10000, 0x20000), 500)}
    for token, text in unfinished_tokens(make):
        part = unfinished(text)
        whole = [data for one in characters if (data := one.encode()).startswith(part)]
        completed = [data for data in whole if merged(make, text + data[len(part) :])[0] == token]
        kinds = {tokenization_of(make)[1].scanner.kind_of(data) for data in completed}
        if max(kinds, default=-1) >= 0:
            assert tokenization_of(make)[1].completions.of(token).exists, (text, completed[:3])


@pytest.mark.one_in(1, uncompiled=4)
@pytest.mark.parametrize("make", MAKES, ids=lambda make: make.__name__)
def test_endings_are_spelled_as_the_merges_do(make):
    rng = random.Random(4)
    told = 0
    for _ in range(400):
        data = "".join(rng.choices('aeit nhor"{}1.<\\éñ中한😀', k=rng.randint(1, 12))).encode()[rng.randint(0, 1) :]
        spelled = tokenization_of(make)[1].spell(data)
        if spelled is not None:
            assert list(spelled) == merged(make, data), data
            told += 1
    assert told > 80


@pytest.mark.parametrize("make", MAKES, ids=lambda make: make.__name__)
def test_a_character_that_an_earlier_token_begins_is_completed(make):
    """The last byte token alone says nothing: the completions go by all bytes of the character so far."""
    completions = tokenization_of(make)[1].completions
    spellings = tokenization_of(make)[1].vocabulary.spellings
    middle = spellings.index(b"\xb8")
    assert not completions.of(middle).exists
    for begun in (b"\xe4\xb8", b"\xf0\x9f\xb8"):
        completion = completions.after(middle, begun)
        assert completion.exists
        assert all(len((begun + more).decode()) >= 1 for more in completion.texts)


@pytest.mark.parametrize("make", MAKES[:3], ids=lambda make: make.__name__)
@pytest.mark.parametrize(
    "prefix",
    [
        b"\xf1\x80\x80",
        b"\xf2\xae\x83",
        b"\xf4\x8f\xbf",
        b"\xf3\xa0\x84",
        b"\xf2\xae",
        b"\xf4\x8f",
        b"\xe4\xb8",
        b"\xd2",
    ],
)
def test_characters_of_one_kind_are_found_at_once(make, prefix):
    """Check completions of characters that begin alike against each character by itself."""
    tokenization = tokenization_of(make)[1]
    rows = [prefix] if len(prefix) == 3 or prefix[0] < 0xF0 else [prefix + bytes([last]) for last in range(0x80, 0xC0)]
    kinds = {tokenization.scanner.kind_of(row + bytes([last])) for row in rows for last in range(0x80, 0xC0)}
    assert tokenization.scanner.kind_of_all(prefix) == (kinds.pop() if len(kinds) == 1 else -1)
    for _, text, form in tokenization.completions._endings(prefix):
        character = (prefix + text).decode()
        usual = (not character.isalpha(), tokenization.scanner.kind_of(prefix + text))
        assert form in (usual, None)
        assert form == usual or composes(character)


@pytest.mark.one_in(4, uncompiled=12)
@pytest.mark.parametrize("make", MAKES, ids=lambda make: make.__name__)
def test_the_first_completion_is_one_of_all(make):
    completions, found = tokenization_of(make)[1].completions, 0
    for token, text in unfinished_tokens(make):
        first = completions.first_after(token, unfinished(text))
        every = completions.of(token)
        if first is not None:
            assert first in zip(every.texts, every.last_tokens, strict=True)
            found += 1
    assert found > 50


@pytest.mark.parametrize("data", [b"\xed\xa0", b"\xe0\x80", b"\xf0\x8f", b"\xf4\x90\x80"])
def test_a_token_that_begins_no_character(data):
    """Check tokens such as the half of a surrogate pair: merges of vocabularies learned from damaged text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = [LETTERS[byte] for byte in data]
    longer = ["".join(letters[:size]) for size in range(2, len(letters) + 1)]
    pieces = {piece: token for token, piece in enumerate([*LETTERS.values(), *longer])}
    merges = [(piece[:-1], piece[-1]) for piece in longer]
    tokenizer = Tokenizer(models.BPE(pieces, merges))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    vocabulary = structgen.Vocabulary.from_huggingface(tokenizer, vocab_size=len(pieces) + 1, eos_token_ids=len(pieces))
    matcher = structgen.compile(structgen.Grammar.regex("[a한]"), vocabulary, tokenization="proper").matcher()
    allowed = {vocabulary.token_bytes(token) for token in matcher.allowed_token_ids()}
    assert allowed == {b"a", "한".encode()[:1]}
