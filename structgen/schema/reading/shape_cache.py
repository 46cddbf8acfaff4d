"""A cache of the shapes of small subschemas that many schemas share, such as `{"type": "string"}`.

Only flat subschemas are kept: those without schemas in them, which mean the same at every location. The cache lives as
long as the process and is cleared when it is full.
"""

from __future__ import annotations

from typing import Any

from structgen.schema import formats
from structgen.schema.algebra import Shape
from structgen.schema.options import Formats
from structgen.schema.own_keywords import SUBSTRING_OF
from structgen.schema.reading.keywords import OWN_KEYWORDS
from structgen.schema.reading.refs import REFERENCES
from structgen.schema.reading.scopes import Dialect

__all__ = ["Content", "common_shapes", "flat_content", "remember"]

Content = tuple[Any, ...]
"""The keywords of a flat subschema, in order: for each the name, the type of its value, and the value."""

_FLAT_VALUES = frozenset({str, int, float, bool, type(None)})
_STR = {str}
_KEPT_OWN = OWN_KEYWORDS - {SUBSTRING_OF}
_REFERENCES = REFERENCES
_MAX_SHAPES_KEPT = 4_096  # of one dialect and one reading of formats
_MAX_READINGS_KEPT = 64

_shapes: dict[tuple[Dialect, Formats], dict[Content, Shape]] = {}


def flat_content(schema: dict[str, Any], dialect: Dialect) -> Content | None:
    """Return the keywords of a flat subschema that assert something.

    Returns None where a keyword may hold a schema, many values, or a long text.
    """
    keywords = dialect.keywords
    found: list[Any] = []
    for key, value in schema.items():
        if key not in keywords and key not in _KEPT_OWN:
            if key == SUBSTRING_OF:  # holds the text of one request
                return None
            continue
        kind = type(value)
        if (kind is not str and kind not in _FLAT_VALUES) or key in _REFERENCES:
            if key != "type" or kind is not list or not set(map(type, value)) <= _STR:
                return None
            value = tuple(value)
        found.append(key)
        found.append(kind)
        found.append(value)
    return tuple(found)


def common_shapes(dialect: Dialect, reading: Formats) -> dict[Content, Shape]:
    """Return the known shapes of flat subschemas, for one dialect and one reading of formats."""
    found = _shapes.get((dialect, reading))
    if found is None:
        if len(_shapes) >= _MAX_READINGS_KEPT:
            _shapes.clear()
        found = _shapes[dialect, reading] = {}
    return found


def remember(known: dict[Content, Shape], content: Content, shape: Shape, keywords: dict[str, Any]) -> None:
    """Keep the shape of a flat subschema, unless it gives a warning: each schema with it gives one."""
    if "format" in keywords and shape.strings and not _asserts(shape, keywords["format"]):
        return
    if "required" in keywords:  # a boolean, which asserts nothing
        return
    if len(known) >= _MAX_SHAPES_KEPT:
        known.clear()
    known[content] = shape


def _asserts(shape: Shape, name: str) -> bool:
    return name in formats.ANNOTATIONS or any(
        language.name == f"format {name}" for part in shape.strings for language in part.within
    )
