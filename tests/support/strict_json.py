"""Reads JSON as RFC 8259 and I-JSON have it, where Python is lax: what a grammar must not write is an error."""

from __future__ import annotations

import json
import math
from typing import Any

__all__ = ["read_strictly"]


def read_strictly(text: bytes) -> Any:
    """The value of a text.

    Raises:
        ValueError: it is no JSON in UTF-8, or an object has a key twice, a number overflows a double, or an escape
            leaves half of a surrogate pair.
    """
    value = json.loads(text.decode(), object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
    json.dumps(value, ensure_ascii=False).encode()  # fails on half a pair
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"a key comes twice: {[key for key, _ in pairs]}")
    return found


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} overflows")
    return value
