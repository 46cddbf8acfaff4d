"""JSON values that can be compared and kept in sets: `1` equals `1.0`, `true` equals neither, objects have no order."""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from structgen.errors import LimitExceededError
from structgen.schema.numbers import exact

__all__ = ["Value", "freeze", "members", "numbers_of", "read_value", "spelled", "strings_of", "thaw"]

Value = tuple[Any, ...]
"""A kind and what it holds: ("null",), ("boolean", bool), ("number", int or Fraction), ("string", str),
("array", tuple of values), ("object", frozenset of pairs of a key and a value)."""


def read_value(text: bytes | str) -> Value:
    """The value of a JSON text.

    Raises:
        LimitExceededError: it nests too deep to be compared.
    """
    try:
        return freeze(json.loads(text))
    except RecursionError as error:
        raise LimitExceededError("schema_depth", 0, message="an item that must be unique nests too deep") from error


def freeze(value: Any) -> Value:
    """A JSON value as `json` reads it. What nests deep is taken apart without recursion."""
    done: list[Value] = []
    work: list[tuple[Any, bool]] = [(value, False)]
    while work:
        part, ready = work.pop()
        if ready:
            done.append(_gathered(part, done))
        elif isinstance(part, (list, tuple)):
            work.append((part, True))
            work.extend((item, False) for item in part)
        elif isinstance(part, dict):
            work.append((part, True))
            work.extend((item, False) for item in part.values())
        else:
            done.append(_scalar(part))
    return done[0]


def _gathered(whole: Any, done: list[Value]) -> Value:
    """An array or object of the values made last, which stand in `done` in reverse."""
    children = [done.pop() for _ in range(len(whole))]
    if isinstance(whole, dict):
        return ("object", frozenset(zip(whole, children, strict=True)))
    return ("array", tuple(children))


def _scalar(value: Any) -> Value:
    if value is None:
        return ("null",)
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, str):
        return ("string", value)
    return ("number", exact(value))


def thaw(value: Value) -> Any:
    """The JSON value, with exact numbers."""
    kind = value[0]
    if kind == "null":
        return None
    if kind == "array":
        return [thaw(item) for item in value[1]]
    if kind == "object":
        return {key: thaw(item) for key, item in sorted(value[1], key=lambda pair: str(pair[0]))}
    return value[1]


def spelled(value: Value) -> str:
    """A text for a value, as `Sizes.values` spells those of small sets."""
    kind, held = value[0], value[-1]
    if kind == "null":
        return "null"
    if kind == "boolean":
        return "true" if held else "false"
    if kind == "number":
        return str(Fraction(held))
    if kind == "array":
        return f"[{','.join(map(spelled, held))}]"
    if kind == "object":
        return f"{{{','.join(f'{key!r}:{spelled(item)}' for key, item in sorted(held, key=lambda pair: pair[0]))}}}"
    return repr(held)


def members(value: Value) -> dict[str, Value]:
    """The keys of an object with their values."""
    return dict(value[1])


def numbers_of(values: Iterable[Value]) -> list[int | Fraction]:
    """The numbers among some values."""
    return [value[1] for value in values if value[0] == "number"]


def strings_of(values: Iterable[Value]) -> tuple[str, ...]:
    """The strings among some values, sorted."""
    return tuple(sorted(value[1] for value in values if value[0] == "string"))
