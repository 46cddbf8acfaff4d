"""Tests of values that nest deep, or are long, and must differ from others: an answer, or an error of ours."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from support.texts import END, constraint_of

from structgen import LimitExceededError
from structgen.engine.matching.matcher import Matcher

_DRAFT7 = "http://json-schema.org/draft-07/schema#"
_SELF = {"$ref": "#"}
_INTEGER = {"type": "integer"}
_TREE = {"type": ["array", "integer"]}
_ANY_TREE = {"type": ["array", "object", "integer"], "items": _SELF, "additionalProperties": _SELF}
_UNIQUE = {"uniqueItems": True}


def _one_item(inner: Any) -> Any:
    return {"type": "array", "items": inner, "minItems": 1, "maxItems": 1}


def _one_member(inner: Any) -> Any:
    return {"type": "object", "additionalProperties": inner, "minProperties": 1, "maxProperties": 1}


@contextmanager
def _few_frames() -> Iterator[None]:
    """Let functions call each other less deeply than usual."""
    depth, frame, before = 0, sys._getframe(), sys.getrecursionlimit()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    sys.setrecursionlimit(depth + 120)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _nested(depth: int, leaf: str, before: str = "[", after: str = "]") -> str:
    return before * depth + leaf + after * depth


def _ends_after(matcher: Matcher, text: str) -> bool:
    """Whether a text is accepted up to its last byte, and with it."""
    matcher.accept_bytes(text[:-1].encode())
    if not matcher.allows_bytes(text[-1:].encode()):
        return False
    matcher.accept_bytes(text[-1:].encode())
    return END in matcher.allowed_token_ids()


def _each(wrap: Any, depth: int) -> Any:
    schema: Any = {"enum": [1, 2]}
    for _ in range(depth):
        schema = wrap(schema)
    return schema


@pytest.mark.parametrize(
    ("schema", "depth", "before", "after"),
    [
        ({"$schema": _DRAFT7, **_TREE, "items": [_SELF, _SELF], "maxItems": 3, **_UNIQUE}, 60, "[", "]"),
        ({"$schema": _DRAFT7, **_TREE, "items": [_INTEGER], "additionalItems": _SELF, **_UNIQUE}, 40, "[7,", "]"),
        ({**_TREE, "items": _SELF, "maxItems": 3, **_UNIQUE}, 60, "[", "]"),
        (_ANY_TREE | _UNIQUE, 60, '{"a":', "}"),
        # These items have two values each. So every level is asked for whether another one is left.
        ({"type": "array", "items": _each(_one_item, 170), **_UNIQUE}, 170, "[", "]"),
        ({"type": "array", "items": _each(_one_member, 120), **_UNIQUE}, 120, '{"a":', "}"),
    ],
)
def test_deep_items_differ(schema: Any, depth: int, before: str, after: str) -> None:
    constraint = constraint_of(schema, whitespace="compact")
    lead = "[7," if before == "[7," else "["
    one, two = (_nested(depth, leaf, before, after) for leaf in "12")
    assert _ends_after(constraint.matcher(), f"{lead}{one},{two}]")
    matcher = constraint.matcher()
    matcher.accept_bytes(f"{lead}{one},".encode())
    assert not matcher.allows_bytes(f"{one}]".encode())


def test_a_long_array_is_excluded() -> None:
    schema = {"type": "array", "items": {"const": 1}, "not": {"const": [1] * 400}}
    constraint = constraint_of(schema, whitespace="compact")
    texts = ["[" + ",".join("1" * count) + "]" for count in (399, 400, 401)]
    assert [_ends_after(constraint.matcher(), text) for text in texts] == [True, False, True]


def test_long_items_differ() -> None:
    items = {"type": "array", "items": {"enum": [1, 2]}, "minItems": 300, "maxItems": 300}
    constraint = constraint_of({"type": "array", "uniqueItems": True, "items": items}, whitespace="compact")
    first, other = (f"[{'1,' * 299}{last}]" for last in "12")
    assert _ends_after(constraint.matcher(), f"[{first},{other}]")
    matcher = constraint.matcher()
    matcher.accept_bytes(f"[{first},[{'1,' * 299}".encode())
    assert matcher.allowed_token_ids() == [ord("2")]


def test_items_too_deep_to_be_compared_are_an_error_of_ours() -> None:
    constraint = constraint_of(_ANY_TREE | _UNIQUE, whitespace="compact")
    matcher = constraint.matcher()
    deep = _nested(150, "1")
    matcher.accept_bytes(f"[{deep}".encode())
    with _few_frames(), pytest.raises(LimitExceededError) as caught:
        matcher.accept_bytes(f",{deep}".encode())
    assert caught.value.limit == "schema_depth"
    assert _ends_after(constraint.matcher(), "[[1],[2]]")


@pytest.mark.parametrize("fewest", [1, 2])
def test_items_that_double_with_each_level_are_compiled(fewest: int) -> None:
    bounds = {"minItems": fewest, "maxItems": 2}
    constraint = constraint_of(_each(lambda inner: {"type": "array", "items": inner, **bounds, **_UNIQUE}, 60))
    assert constraint.matcher().allows_bytes(b"[" * 60 + b"1,2],[2,1]")
