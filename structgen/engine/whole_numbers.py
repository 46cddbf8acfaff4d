"""Checks of what callers give to compiled code: integers (token ids, rows, counts), and bytes."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

__all__ = ["check_bytes", "whole_number"]


def check_bytes(text: Any) -> None:
    """Raise a TypeError if a text is no `bytes`."""
    if type(text) is not bytes:
        hint = ": encode it as UTF-8" if isinstance(text, str) else ""
        raise TypeError(f"a text must be bytes, not {type(text).__name__}{hint}")


def whole_number(value: Any, name: str) -> int:
    """Return an integer of any type, such as numpy's, as an `int`.

    Args:
        value: the integer.
        name: what it stands for, with its article; for the message.

    Raises:
        TypeError: it is no integer. `True` and `False` are none: as a token id they would be tokens 1 and 0.
    """
    if not isinstance(value, (bool, np.bool_)):
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise TypeError(f"{name} must be an int, not {value!r}")
