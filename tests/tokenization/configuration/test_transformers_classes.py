"""Every class of transformers that makes a byte-pair encoding: its tokenizers are read, or refused by name.

Their vocabularies cannot be fetched. The classes get a small one, and give it their normalizer, pre-tokenizer, decoder
and added tokens.
"""

import functools
import importlib
import inspect
import json
import random
import re
from pathlib import Path

import pytest
import transformers
from support import bpe_tokenizers
from support.bpe_tokenizers import encoded, random_walk, tokenizer_of, vocabulary_of_its_own

import structgen
from structgen.errors import VocabularyError

pytestmark = pytest.mark.slow  # nothing here is read in another way uncompiled

SUFFIX = "end_of_word_suffix='</w>'"
REFUSED = {
    "CLIPTokenizer": SUFFIX,
    "HerbertTokenizer": SUFFIX,
    "OpenAIGPTTokenizer": SUFFIX,
    "EsmcTokenizer": "decodes it to",  # of proteins; it puts spaces between them
    "SeamlessM4TTokenizer": "'Replace' of ' {2,}' by '▁'",
    "Tipsv2Tokenizer": "'Metaspace' puts a space before each piece",
}
NEEDS_MORE = {"MarkupLMTokenizer"}  # than a vocabulary
SPECIAL = ("<unk>", "<s>", "</s>", "<pad>", "<mask>", "<|endoftext|>", "[UNK]")
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer"}},
    "required": ["name"],
}


def classes():
    """Return by name the classes of the files that make a byte-pair encoding."""
    base, found = transformers.PreTrainedTokenizerFast, {}
    for file in sorted(Path(transformers.__file__).parent.glob("models/*/tokenization_*.py")):
        if "BPE(" in file.read_text():
            module = importlib.import_module(f"transformers.models.{file.parent.name}.{file.stem}")
            members = inspect.getmembers(module, inspect.isclass)
            own = [kind for _, kind in members if issubclass(kind, base) and kind.__module__ == module.__name__]
            found.update((kind.__name__, kind) for kind in own)
    return {name: kind for name, kind in found.items() if name not in NEEDS_MORE}


CLASSES = classes()


@functools.cache
def maker(kind):
    """Return a tokenizer of a class, with the tokens of one of ours that writes spaces as this class does."""

    def of(like):
        model = json.loads(tokenizer_of(like).to_str())["model"]
        vocabulary = {**model["vocab"], "<|end|>": model["vocab"]["<|end|>"]}
        for text in SPECIAL:
            vocabulary.setdefault(text, len(vocabulary))
        return kind(vocab=vocabulary, merges=[tuple(pair) for pair in model["merges"]]).backend_tokenizer

    def make():
        tokenizer = of(bpe_tokenizers.gpt2)
        marks_spaces = "▁" in f"{tokenizer.normalizer} {tokenizer.pre_tokenizer}"
        return of(bpe_tokenizers.llama2_like) if marks_spaces else tokenizer

    return make


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", CLASSES)
def test_random_walks_spell_texts_of_which_the_tokenizer_makes_them_again(name):
    make = maker(CLASSES[name])
    vocabulary = vocabulary_of_its_own(tokenizer_of(make), list(CLASSES).index(name))
    if name in REFUSED:
        with pytest.raises(VocabularyError, match=re.escape(REFUSED[name])):
            structgen.compile(SCHEMA, vocabulary, tokenization="proper")
        return
    constraint = structgen.compile(SCHEMA, vocabulary, tokenization="proper", whitespace="single")
    rng, ended = random.Random(5), 0
    for _ in range(6):
        matcher = constraint.matcher()
        ids = random_walk(matcher, vocabulary, rng, 100)
        if matcher.is_accepting:
            text = b"".join(vocabulary.token_bytes(token) for token in ids).decode()
            constraint.parse(text)
            assert encoded(make, text) == ids
            ended += 1
    assert ended


def test_there_are_such_classes():
    assert CLASSES.keys() > REFUSED.keys() | {"GPT2Tokenizer", "LlamaTokenizer", "Qwen2Tokenizer", "WhisperTokenizer"}
