"""The text of a schema, by which compiled grammars are found."""

import random
from typing import Any

import pytest

from structgen.compilation import inputs
from structgen.compilation.inputs import _ENCODER, _encode


def value(chance: random.Random, depth: int) -> Any:
    kind = chance.randrange(7 if depth else 5)
    if kind < 5:
        return [None, True, chance.random(), chance.randrange(99), 'aé"\\\n'][kind]
    count = chance.randrange(9)
    if kind == 5:
        return [value(chance, depth - 1) for _ in range(count)]
    return {chance.choice([f"k{number}", number, f'é"{number}']): value(chance, depth - 1) for number in range(count)}


def test_a_large_schema_is_encoded_in_pieces_to_the_same_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "_MAX_ENCODED_AT_ONCE", 3)
    chance = random.Random(1)
    for _ in range(2_000):
        content = [value(chance, 4), value(chance, 4)]
        pieces: list[str] = []
        _encode(content, pieces)
        assert "".join(pieces) == _ENCODER.encode(content)
