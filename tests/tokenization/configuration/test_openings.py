"""Texts after added tokens that remove white space, or after which the tokenizer inserts a space."""

import functools
import itertools
import random

import pytest
from support import bpe_tokenizers
from support.bpe_tokenizers import sequences, texts_of
from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers

import structgen
from structgen.errors import VocabularyError
from structgen.tokenization.matching.proper_tokenization import ProperTokenization

ATOMS = [
    *"ab1,<>\"'",
    " ",
    "  ",
    "\n",
    "\t",
    "\u3000",
    "\u00a0",
    "é",
    "😀",
    "The",
    " William",
    "<t>",
    "<p>",
    "<n>",
    "\n\n",
]


def _with_tokens(tokenizer, normalized=True):
    special = [
        AddedToken("<user>", normalized=False),
        AddedToken("<strips>", rstrip=True, normalized=False),
        AddedToken("<later>", rstrip=True, normalized=True),
    ]
    texts = [AddedToken("<t>", rstrip=True, normalized=False), AddedToken("<p>", normalized=False)]
    if normalized:
        texts.append(AddedToken("<n>", rstrip=True, normalized=True))
    tokenizer.add_special_tokens(special)
    tokenizer.add_tokens([*texts, AddedToken("\n\n", normalized=False)])
    return Tokenizer.from_str(tokenizer.to_str())


def byte_level():
    return _with_tokens(bpe_tokenizers.gpt2())


def byte_level_with_space():
    tokenizer = bpe_tokenizers.gpt2()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    return _with_tokens(tokenizer)


def words():
    """Return a tokenizer with tokens that stand for whole pre-tokens only."""
    return _with_tokens(bpe_tokenizers.llama3())


def gemma():
    return _with_tokens(bpe_tokenizers.gemma_like())


def llama2():
    """Return a tokenizer like Phi-3's."""
    return _with_tokens(bpe_tokenizers.llama2_like(), normalized=False)


def metaspace():
    tokenizer = bpe_tokenizers.mistral_like()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=False)
    return _with_tokens(tokenizer)


def metaspace_that_cuts():
    tokenizer = bpe_tokenizers.mistral_like()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    return _with_tokens(tokenizer)


def stripping():
    tokenizer = bpe_tokenizers.gpt2()
    tokenizer.normalizer = normalizers.Strip()
    return _with_tokens(tokenizer, normalized=False)


def stripping_marks():
    """Return a tokenizer that removes white space, but not what was a space."""
    tokenizer = bpe_tokenizers._sentencepiece()
    tokenizer.normalizer = normalizers.Sequence([normalizers.Replace(" ", "▁"), normalizers.Strip(right=False)])
    return _with_tokens(tokenizer)


def stripping_llama2():
    """Return a tokenizer like Llama 2's that removes white space first, and joins spaces."""
    tokenizer = bpe_tokenizers.llama2_like()
    first = [normalizers.Strip(), normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    tokenizer.normalizer = normalizers.Sequence([*first, normalizers.Replace(Regex("▁{2,}"), "▁")])
    return _with_tokens(tokenizer, normalized=False)


def stripping_metaspace():
    tokenizer = metaspace_that_cuts()
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Strip(right=False), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    return tokenizer


def metaspace_after_digits():
    tokenizer = bpe_tokenizers.mistral_like()
    parts = [pre_tokenizers.Digits(), pre_tokenizers.Metaspace(prepend_scheme="first")]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(parts)
    return _with_tokens(tokenizer)


def scripts():
    """Return a tokenizer that removes spaces at the beginning of a text."""
    tokenizer = bpe_tokenizers.gpt2()
    parts = [pre_tokenizers.UnicodeScripts(), bpe_tokenizers._bytes_only()]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(parts)
    return _with_tokens(tokenizer)


MAKES = [
    *(byte_level, byte_level_with_space, words, gemma, llama2, metaspace, metaspace_that_cuts),
    *(stripping, stripping_marks, stripping_llama2, stripping_metaspace),
    *(metaspace_after_digits, scripts),
]
PROMPTS = ["<user>", "<strips>", "<later>"]
CASES = [
    pytest.param(make, prompt, id=f"{make.__name__}-{prompt}") for make, prompt in itertools.product(MAKES, PROMPTS)
]


STRIPPING = [stripping, stripping_llama2]  # also before an added token
PREPENDING = [llama2, stripping_llama2]
PUTTING = [stripping_llama2, stripping_metaspace, byte_level_with_space, llama2, metaspace, metaspace_that_cuts]


@functools.cache
def tokenizer_of(make):
    return make()


@functools.cache
def vocabulary_of(make):
    return bpe_tokenizers.vocabulary_of_its_own(tokenizer_of(make), MAKES.index(make))


def tokens_after(make, prompt, text):
    """Return the tokens of a text after a prompt of one token; None if the prompt is read as another."""
    ids = encode(make, f"a {prompt}{text}")
    before = encode(make, f"a {prompt}")
    return ids[len(before) :] if ids[: len(before)] == before else None


def encode(make, text):
    return tokenizer_of(make).encode(text, add_special_tokens=False).ids


def spelled(make, ids):
    return b"".join(vocabulary_of(make).token_bytes(token) or b"\xff" for token in ids)


def are_proper(make, prompt, ids):
    """Return whether the tokenizer makes these tokens of their text, or of it without the space that it inserts."""
    try:
        text = spelled(make, ids).decode()
    except UnicodeDecodeError:
        return False
    texts = [text, text[1:]] if make in PUTTING and text.startswith(" ") else [text]
    return any(tokens_after(make, prompt, each) == ids for each in texts)


@pytest.mark.one_in(8, uncompiled=24)
@pytest.mark.parametrize(("make", "prompt"), CASES)
def test_a_sequence_is_proper_if_the_tokenizer_makes_it_after_the_prompt(make, prompt):
    rng = random.Random(6)
    vocabulary = vocabulary_of(make)
    tokenization = ProperTokenization.of(vocabulary)
    first = tokenization.after_prompt([tokenizer_of(make).token_to_id(prompt)])
    tokens = [token for token, text in enumerate(vocabulary.spellings) if text]
    outcomes = set()
    for _ in range(1500):
        ids = tokens_after(make, prompt, "".join(rng.choices(ATOMS, k=rng.randint(0, 5))))
        if ids is None:
            continue
        if rng.random() < 0.6:
            at = rng.randrange(min(len(ids), 3) + 1)
            ids = [*ids[:at], *rng.choices(tokens, k=rng.randint(0, 2)), *ids[at + rng.randint(0, 2) :]]
        place = first
        for token in ids:
            place = place and tokenization.advance(place, token)
        is_proper = place is not None and tokenization.may_end(place)
        assert is_proper == are_proper(make, prompt, ids), [vocabulary.token_bytes(token) for token in ids]
        outcomes.add(is_proper)
    assert outcomes == {True, False}


LANGUAGES = [
    "[ \n]{0,3}a?",
    " ?[ab\u3000é]{0,2}",
    " ?(a|<t>|<p>|<n>|\n\n)?[ \n]{0,2}(b|<t>|William)?",
    '(<t>|<p>| {0,2}"a"){1,2}',
]


@pytest.mark.one_in(18, uncompiled=72)
@pytest.mark.parametrize(("make", "prompt"), CASES)
@pytest.mark.parametrize("pattern", LANGUAGES)
@pytest.mark.parametrize("few", [0, ProperTokenization.max_single_checks], ids=["by_masks", "one_by_one"])
def test_the_masks_allow_exactly_the_proper_tokenizations(make, prompt, pattern, few, monkeypatch):
    vocabulary = vocabulary_of(make)
    monkeypatch.setattr(ProperTokenization.of(vocabulary), "max_single_checks", few)
    expected = set()
    for text in texts_of(pattern):
        for each in (text, text[1:]):
            ids = tokens_after(make, prompt, each)
            if ids is not None and spelled(make, ids) == text.encode() and are_proper(make, prompt, ids):
                expected.add(tuple(ids))
    constraint = structgen.compile(structgen.Grammar.regex(pattern), vocabulary, tokenization="proper")
    matcher = constraint.matcher([tokenizer_of(make).token_to_id(prompt)])
    if not expected:
        assert matcher.allowed_token_ids() == []
        return
    found = sequences(matcher, set(vocabulary.eos_token_ids))
    assert len(found) == len(set(found))
    assert set(found) == expected


@pytest.mark.one_in(8, uncompiled=24)
@pytest.mark.parametrize(("make", "prompt"), CASES)
def test_the_space_that_is_inserted_after_a_prompt_is_written_as_if_it_were_the_prompts(make, prompt):
    vocabulary = vocabulary_of(make)
    texts = ["a", "The", '"b"', "é1", "b<p>" if make in STRIPPING else "b <p>"]
    constraint = structgen.compile(structgen.Grammar.choice(texts), vocabulary, tokenization="proper")
    prompt_ids = encode(make, f"a {prompt}")
    kept, prefix, matcher = constraint.healed(prompt_ids)
    assert kept == prompt_ids
    is_put = make in PUTTING and not (make in PREPENDING and prompt == "<later>")  # which comes behind "Prepend"
    assert prefix == (b" " if is_put else b"")
    expected = {tuple(tokens_after(make, prompt, text)) for text in texts}
    assert set(sequences(matcher, set(vocabulary.eos_token_ids))) == expected


def test_no_added_token_comes_before_a_space_that_is_removed():
    vocabulary = vocabulary_of(scripts)
    constraint = structgen.compile(structgen.Grammar.choice(["1<p> b", "a"]), vocabulary, tokenization="proper")
    assert set(sequences(constraint.matcher(), set(vocabulary.eos_token_ids))) == {tuple(encode(scripts, "a"))}


def test_a_space_that_is_inserted_and_removed_again_is_refused():
    tokenizer = bpe_tokenizers.gpt2()
    tokenizer.normalizer = normalizers.Prepend(" ")
    parts = [pre_tokenizers.WhitespaceSplit(), bpe_tokenizers._bytes_only()]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(parts)
    vocabulary = bpe_tokenizers.vocabulary_of_its_own(tokenizer, len(MAKES))
    with pytest.raises(VocabularyError, match="inserts a space"):
        structgen.compile(structgen.Grammar.regex("a"), vocabulary, tokenization="proper")
