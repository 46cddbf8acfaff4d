"""The logits processor for mlx-lm, with numpy in place of MLX. docs/other-engines.md says what ran really."""

from __future__ import annotations

import random
import sys
from types import ModuleType

import numpy as np
import pytest

import structgen
from structgen.integrations.mlx import logits_processor


class Array:
    """Stands for `mlx.core.array`: has no operators here, and converts to numpy."""

    def __init__(self, values):
        self.values = np.array(values)
        self.dtype = self.values.dtype

    def astype(self, dtype):
        return Array(self.values.astype(dtype))

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)


@pytest.fixture(autouse=True)
def mlx(monkeypatch):
    package, core = ModuleType("mlx"), ModuleType("mlx.core")
    core.array, core.float32 = Array, np.float32
    package.core = core
    monkeypatch.setitem(sys.modules, "mlx", package)
    monkeypatch.setitem(sys.modules, "mlx.core", core)


def test_texts_of_a_grammar():
    vocabulary = structgen.Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)}, eos_token_ids=[256])
    constraint = structgen.compile(structgen.Grammar.regex("ab|a[cd]{2}"), vocabulary)
    rng = random.Random(1)
    for _ in range(5):
        process = logits_processor(constraint)
        tokens = [ord("x")]  # the last token of the prompt
        while tokens[-1] != 256:
            logits = process(Array(tokens), Array(np.zeros((1, 300), np.float16)))
            assert logits.dtype == np.float16
            assert logits.values.shape == (1, 300)
            tokens.append(int(rng.choice(np.flatnonzero(np.isfinite(logits.values[0])))))
        assert bytes(tokens[1:-1]) in (b"ab", b"acc", b"acd", b"adc", b"add")
