"""Warnings about schemas, at the line of code that gave the schema.

What a schema's keywords warn of is said while the schema is compiled. Some subschemas are read, or read again, when a
mask or the value of a text first needs them. Nothing is said then: with warnings as errors, that would end the answer.
"""

from __future__ import annotations

import sys
import threading
import warnings
from contextlib import AbstractContextManager
from typing import Literal

__all__ = ["SchemaWarning", "said_before", "warn", "warn_of_keyword", "while_read"]

_thread = threading.local()  # its `state` is "read" while a schema is read, and "quiet" while nothing is said


class SchemaWarning(UserWarning):
    """A text may be valid that the author does not expect: an unknown `format` asserts nothing, an export is wider."""


def warn(message: str) -> None:
    """Warn of something in a schema. The warning names the line that called structgen, not one inside it.

    Args:
        message: what to know about the schema.
    """
    if getattr(_thread, "state", "") == "quiet":
        return
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "structgen":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, SchemaWarning, stacklevel=level)


def warn_of_keyword(message: str) -> None:
    """Warn of a keyword; only while a schema is read, and not in a mask.

    Args:
        message: what to know about it.
    """
    if getattr(_thread, "state", "") == "read":
        warn(message)


class _Saying:
    """A context that decides what is said in it. A plain class: it is entered by each compile."""

    __slots__ = ("_before", "_state")

    def __init__(self, state: Literal["read", "quiet"]) -> None:
        self._state = state

    def __enter__(self) -> None:
        self._before = before = getattr(_thread, "state", "")
        if before != "quiet":
            _thread.state = self._state

    def __exit__(self, *_: object) -> None:
        _thread.state = self._before


def while_read() -> AbstractContextManager[None]:
    """Return a context in which a schema is read, and keywords are warned of."""
    return _Saying("read")


def said_before() -> AbstractContextManager[None]:
    """Return a context in which nothing is said: the compile has warned of the same schema."""
    return _Saying("quiet")
