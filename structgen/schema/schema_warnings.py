"""Warnings about schemas, at the line of code that gave the schema."""

from __future__ import annotations

import sys
import warnings

__all__ = ["SchemaWarning", "warn"]


class SchemaWarning(UserWarning):
    """A text may be valid that the author does not expect: an unknown `format` asserts nothing, an export is wider."""


def warn(message: str) -> None:
    """Warn of something in a schema. The warning names the line that called structgen, not one inside it.

    Args:
        message: what to know about the schema.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "structgen":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, SchemaWarning, stacklevel=level)
