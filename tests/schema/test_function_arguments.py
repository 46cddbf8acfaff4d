"""The parameters of functions and classes, from annotations that are strings in this module."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import pytest

from structgen.errors import FunctionDefinitionError
from structgen.schema.function_arguments import arguments_of


@dataclasses.dataclass
class Point:
    x: int
    label: str = ""


class Line:
    def __init__(self, first: Point, second: list[Point] | None = None) -> None: ...


class Adder:
    def __call__(self, x: int, label: str = "") -> None: ...


def add(x: int, label: str = "", *, by: int) -> None: ...


@pytest.mark.parametrize(
    ("function", "required", "optional"),
    [
        (Point, {"x"}, {"label"}),
        (Line, {"first"}, {"second"}),
        (Adder(), {"x"}, {"label"}),
        (add, {"x", "by"}, {"label"}),
        (functools.partial(add, by=1), {"x"}, {"label", "by"}),
    ],
)
def test_strings_are_read(function: Any, required: set[str], optional: set[str]) -> None:
    arguments = arguments_of(function)
    assert arguments.__required_keys__ == required
    assert arguments.__optional_keys__ == optional


@pytest.mark.parametrize(("function", "message"), [(int, "parameters of int"), (lambda x: x, "has no annotation")])
def test_what_cannot_be_read_is_named(function: Any, message: str) -> None:
    with pytest.raises(FunctionDefinitionError, match=message):
        arguments_of(function)
