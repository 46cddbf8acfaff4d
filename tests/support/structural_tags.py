"""Structural tags beside xgrammar: one random walk under both masks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from support.vocabularies import BYTES

import structgen
from structgen.output_types.bound_schemas import BoundSchema

END = 256
_COMPARED = {*range(0x20, 0x7F), 0x09, 0x0A, 0x0D, END}


def as_json(tag: Any) -> Any:
    """A structural tag as JSON data, with JSON Schemas in place of what holds them."""
    if isinstance(tag, BoundSchema):
        return tag.schema
    if isinstance(tag, dict):
        return {key: as_json(value) for key, value in tag.items()}
    return [as_json(value) for value in tag] if isinstance(tag, list) else tag


@lru_cache
def _compiler() -> Any:
    xgrammar = pytest.importorskip("xgrammar")
    texts = [*(bytes([byte]) for byte in range(256)), b"</s>"]
    info = xgrammar.TokenizerInfo(texts, vocab_type=xgrammar.VocabType.RAW, vocab_size=257, stop_token_ids=[END])
    return xgrammar.GrammarCompiler(info)


class _Theirs:
    """A matcher of xgrammar over the vocabulary `BYTES`."""

    def __init__(self, compiled: Any) -> None:
        import xgrammar

        self._matcher = xgrammar.GrammarMatcher(compiled)
        self._mask = xgrammar.allocate_token_bitmask(1, 257)

    def allowed(self) -> set[int]:
        self._matcher.fill_next_token_bitmask(self._mask)
        bits = np.unpackbits(self._mask.numpy().view(np.uint8)[0], bitorder="little")
        return {int(token) for token in np.flatnonzero(bits[:257])}

    def accept(self, token: int) -> None:
        assert self._matcher.accept_token(token)


def differences(
    tag: Any, seeds: Sequence[int], words: Sequence[str] = (), longest: int = 200, **options: Any
) -> set[tuple[str, frozenset[int], frozenset[int]]]:
    """Where masks differ: the text before, the tokens that only ours allows, and those that only theirs allows.

    Tokens of ASCII are compared, and the end: xgrammar's free text need not be UTF-8.

    Args:
        tag: the structural tag.
        seeds: one for each walk.
        words: texts that walks write often.
        longest: bytes of a walk.
        options: for our schemas; "plain" numbers are those of xgrammar.
    """
    options = {"numbers": "plain", **options}
    ours = structgen.compile(structgen.Grammar.structural_tag(tag), BYTES, **options)
    theirs = _compiler().compile_structural_tag(as_json(tag))
    found: set[tuple[str, frozenset[int], frozenset[int]]] = set()
    for seed in seeds:
        rng, matcher, other = random.Random(seed), ours.matcher(), _Theirs(theirs)
        text, word = bytearray(), b""
        while len(text) < longest:
            allowed, allowed_there = set(matcher.allowed_token_ids()), other.allowed()
            only_here, only_there = allowed - allowed_there, allowed_there - allowed
            if not _COMPARED.isdisjoint(only_here | only_there):
                shown = bytes(text).decode(errors="replace")
                found.add((shown, frozenset(only_here & _COMPARED), frozenset(only_there & _COMPARED)))
            both = allowed & allowed_there
            if not word and words and rng.random() < 0.6:
                word = rng.choice(words).encode()
            if not word or word[0] not in both:
                word = b""
                token = rng.choice(sorted(both & _COMPARED) or sorted(both))
            else:
                token, word = word[0], word[1:]
            if token == END:
                break
            matcher.accept_token(token)
            other.accept(token)
            text.append(token)
    return found
