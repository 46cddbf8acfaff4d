"""Shapes that schemas have in common: `{"type": "string"}` and its like, read once in a process.

Only what is flat is kept: keywords whose values are no schemas mean the same wherever they stand. Bounded; what does
not fit is read anew.
"""

from __future__ import annotations

from typing import Any

from structgen.schema import formats
from structgen.schema.algebra import Shape
from structgen.schema.options import Formats
from structgen.schema.own_keywords import SUBSTRING_OF
from structgen.schema.reading.dialects import Dialect
from structgen.schema.reading.keywords import OWN_KEYWORDS
from structgen.schema.reading.refs import REFERENCES

__all__ = ["Content", "common_shapes", "flat_content", "remember"]

Content = tuple[Any, ...]
"""The keywords of a flat subschema: the name, the type of the value and the value of each, in order."""

_FLAT_VALUES = frozenset({str, int, float, bool, type(None)})
_KEPT = 4_096
_READINGS_KEPT = 64

_shapes: dict[tuple[Dialect, Formats], dict[Content, Shape]] = {}


def flat_content(schema: dict[str, Any], dialect: Dialect) -> Content | None:
    """The keywords of a subschema that assert something; None where one of them may hold a schema, many values, or a
    long text.
    """
    keywords = dialect.keywords
    found: list[Any] = []
    for key, value in schema.items():
        if key in keywords or key in OWN_KEYWORDS:
            kind = type(value)
            if key == SUBSTRING_OF:  # it holds a text of one request
                return None
            if kind not in _FLAT_VALUES or key in REFERENCES:
                if key != "type" or kind is not list or not all(type(name) is str for name in value):
                    return None
                value = tuple(value)
            found += (key, kind, value)
    return tuple(found)


def common_shapes(dialect: Dialect, reading: Formats) -> dict[Content, Shape]:
    """The shapes known of flat subschemas of a draft, whose formats are read in one way."""
    found = _shapes.get((dialect, reading))
    if found is None:
        if len(_shapes) >= _READINGS_KEPT:
            _shapes.clear()
        found = _shapes[dialect, reading] = {}
    return found


def remember(known: dict[Content, Shape], content: Content, shape: Shape, keywords: dict[str, Any]) -> None:
    """Keeps the shape of a flat subschema; not where each schema is to be warned that its format is not known."""
    if "format" in keywords and shape.strings and not _asserts(shape, keywords["format"]):
        return
    if len(known) >= _KEPT:
        known.clear()
    known[content] = shape


def _asserts(shape: Shape, name: str) -> bool:
    return name in formats.ANNOTATIONS or any(
        language.name == f"format {name}" for part in shape.strings for language in part.within
    )
