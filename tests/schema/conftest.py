"""What the tests of schemas share: does the grammar of a schema derive a text?"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from structgen.engine.compiled import CompiledGrammar
from structgen.engine.vocabulary import Vocabulary
from structgen.errors import TokenRejectedError
from structgen.kbnf.normal_form import normalize
from structgen.schema import schema_to_kbnf

Accepts = Callable[[str | bytes], bool]


@pytest.fixture(scope="session")
def byte_vocabulary() -> Vocabulary:
    """One token for each byte, and an end token."""
    return Vocabulary.from_bytes({**{b: bytes([b]) for b in range(256)}, 256: b""}, eos_token_ids=(256,))


@pytest.fixture(scope="session")
def accepts(byte_vocabulary: Vocabulary) -> Callable[..., Accepts]:
    """From a schema to the predicate of its texts."""

    def make(schema_or_type: Any, **options: Any) -> Accepts:
        compiled = CompiledGrammar(normalize(schema_to_kbnf(schema_or_type, **options)), byte_vocabulary, eager=False)

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
    """Whether the grammar of a schema derives a value as `json.dumps` writes it."""

    def check(schema: Any, value: Any) -> bool:
        return accepts(schema)(json.dumps(value, ensure_ascii=False))

    return check
