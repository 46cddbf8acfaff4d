"""Vocabularies by name, for scripts: `bytes`, `smollm2`, or the folder of a tokenizer."""

from __future__ import annotations

import functools
import pathlib
from typing import Any

from support.smollm2 import smollm2_tokens
from support.walks import byte_vocabulary

from structgen.engine.vocabulary.vocabulary import Vocabulary

__all__ = ["tokenizer_of", "vocabulary_named"]


@functools.cache
def tokenizer_of(folder: str) -> Any:
    """The tokenizer of a folder, as transformers reads it."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder, local_files_only=True)


@functools.cache
def vocabulary_named(name: str) -> Vocabulary:
    """The vocabulary of a name."""
    if name == "bytes":
        return byte_vocabulary()
    if name == "smollm2":
        tokens = smollm2_tokens()
        end = max(tokens) + 1
        return Vocabulary.from_bytes({**tokens, end: b""}, eos_token_ids=(end,))
    if not pathlib.Path(name).is_dir():
        raise SystemExit(f"{name} is neither bytes, nor smollm2, nor the folder of a tokenizer")
    return Vocabulary.from_huggingface(tokenizer_of(name))
