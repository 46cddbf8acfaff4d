"""Fixtures for tests of schemas: whether a schema's grammar derives a text, and random texts of it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import TokenRejectedError
from structgen.schema import schema_to_rules

Accepts = Callable[[str | bytes], bool]


@pytest.fixture(scope="session")
def byte_vocabulary() -> Vocabulary:
    """Return a vocabulary of one token for each byte, and an end token."""
    return Vocabulary.from_bytes({**{b: bytes([b]) for b in range(256)}, 256: b""}, eos_token_ids=(256,))


@pytest.fixture(scope="session")
def accepts(byte_vocabulary: Vocabulary) -> Callable[..., Accepts]:
    """Return a function that makes the predicate of a schema's texts."""

    def make(schema_or_type: Any, **options: Any) -> Accepts:
        compiled = CompiledGrammar(schema_to_rules(schema_or_type, **options), byte_vocabulary)

        def accepted(text: str | bytes) -> bool:
            matcher = compiled.matcher()
            try:
                matcher.accept_bytes(text.encode() if isinstance(text, str) else text)
            except TokenRejectedError:
                return False
            return bool(matcher.is_accepting)

        return accepted

    return make


@pytest.fixture(scope="session")
def allows(accepts: Callable[..., Accepts]) -> Callable[[Any, Any], bool]:
    """Return a check that a schema's grammar derives a value as `json.dumps` writes it."""

    def check(schema: Any, value: Any) -> bool:
        return accepts(schema)(json.dumps(value, ensure_ascii=False))

    return check


def _weights(token_ids: list[int], written: int) -> list[float]:
    """Return weights of the next bytes that keep random texts short: they favour quotes and closing brackets."""
    late = written > 150
    odds = {'"': 30 if late else 8, "}": 200 if late else 6, "]": 200 if late else 6, "[": 0.01 if late else 1}
    odds |= {
        "{": 0.01 if late else 1,
        ",": 0.5 if late else 2,
        "\\": 0.5,
        " ": 0.05,
        "\n": 0.02,
        "\t": 0.02,
        "\r": 0.02,
    }
    return [odds.get(chr(b), 1.0 if 32 <= b < 127 else 0.05) for b in token_ids]


@pytest.fixture(scope="session")
def walks(byte_vocabulary: Vocabulary) -> Callable[..., list[str]]:
    """Return a function that writes random texts under a schema's masks, and returns the complete ones."""

    def make(schema_or_type: Any, count: int, *, seed: int = 0, longest: int = 2000, **options: Any) -> list[str]:
        compiled = CompiledGrammar(schema_to_rules(schema_or_type, **options), byte_vocabulary)
        rng = random.Random(seed)
        texts: list[str] = []
        for _ in range(count):
            matcher, written = compiled.matcher(), bytearray()
            while len(written) < longest:
                allowed = matcher.allowed_token_ids()
                assert allowed, f"a dead end after {bytes(written)!r}"
                if 256 in allowed and (len(allowed) == 1 or rng.random() < 0.4):
                    texts.append(written.decode())
                    break
                token_ids = [b for b in allowed if b < 256]
                byte = rng.choices(token_ids, _weights(token_ids, len(written)))[0]
                matcher.accept_token(byte)
                written.append(byte)
        return texts

    return make
