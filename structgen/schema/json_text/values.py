"""JSON values that can be compared and kept in sets: JSON Schema's equality as Python's equality.

`1` equals `1.0`, `true` equals neither, and objects have no order:

    [1.0, {"a": true}]    ("array", (("number", 1), ("object", frozenset({("a", ("boolean", True))}))))
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from structgen.errors import LimitExceededError
from structgen.schema.json_text.numbers import exact

__all__ = [
    "Value",
    "freeze",
    "members",
    "numbers_of",
    "read_value",
    "strings_of",
    "thaw",
    "too_deep",
]

Value = tuple[Any, ...]
"""A kind and its content: ("null",), ("boolean", bool), ("number", int or Fraction), ("string", str),
("array", tuple of values), ("object", frozenset of pairs of a key and a value).
"""


def read_value(text: bytes | str) -> Value:
    """Return the value of a JSON text.

    >>> read_value("[1.0, null]")
    ('array', (('number', 1), ('null',)))

    Raises:
        LimitExceededError: the value nests too deep to be compared.
    """
    try:
        return freeze(json.loads(text))
    except RecursionError as error:
        raise too_deep() from error


def too_deep() -> LimitExceededError:
    """Return the error for a value that nests deeper than Python's recursion can compare."""
    message = "a value to compare nests too deep for Python's recursion"
    hint = "uniqueItems and enum compare values; make them less deep"
    return LimitExceededError("schema_depth", sys.getrecursionlimit(), message=message, hint=hint)


def freeze(value: Any) -> Value:
    """Return a JSON value, as `json` reads it, in comparable form. Works without recursion."""
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
    """Make an array or object of the last values of `done`, its parts in reverse order; remove them from `done`."""
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
    """Return a frozen value as JSON data, with exact numbers. Works without recursion.

    The keys of objects are sorted, so that runs agree.
    """
    top: list[Any] = [None]
    work: list[tuple[Value, Any, Any]] = [(value, top, 0)]  # a value, and where its data belongs
    while work:
        part, whole, at = work.pop()
        data: Any = None if part[0] == "null" else part[1]
        if part[0] == "array":
            data = [None] * len(part[1])
            work += [(item, data, index) for index, item in enumerate(part[1])]
        elif part[0] == "object":
            pairs = members(part)
            data = dict.fromkeys(sorted(pairs))
            work += [(pairs[key], data, key) for key in data]
        whole[at] = data
    return top[0]


def members(value: Value) -> dict[str, Value]:
    """Return an object's keys with their values."""
    return dict(value[1])


def numbers_of(values: Iterable[Value]) -> list[int | Fraction]:
    """Return the numbers among some values."""
    return [value[1] for value in values if value[0] == "number"]


def strings_of(values: Iterable[Value]) -> tuple[str, ...]:
    """Return the strings among some values, sorted."""
    return tuple(sorted(value[1] for value in values if value[0] == "string"))
