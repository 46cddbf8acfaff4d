"""The rules of `lenient=True`, which drops unsupported keywords with a warning.

The shapes of a lenient reading may be too wide, never too narrow. A schema without one of its keywords accepts more
values, so its complement would accept fewer: too few. Therefore the complement of such a shape becomes every value, and
the nodes whose shapes are not exact are remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from structgen.errors import UnsupportedSchemaError
from structgen.schema.algebra import ALL_ARRAYS, ALL_NUMBERS, ALL_OBJECTS, ALL_STRINGS, EVERYTHING, Node, Shape
from structgen.schema.own_keywords import GRAMMAR, JSON_CONTENT, SUBSTRING_OF
from structgen.schema.schema_warnings import warn_of_keyword

__all__ = ["Widening", "without_limits"]

_DROPPED_WITH = {
    "contains": ("minContains", "maxContains"),
    "items": ("additionalItems",),
    "patternProperties": ("additionalProperties",),
    "prefixItems": ("items",),
    "properties": ("additionalProperties",),
}
"""Keywords to drop with another one, because without it they would refuse more values."""

_OF_NUMBERS = frozenset({"multipleOf"})
_OF_STRINGS = frozenset({"enum", "const", "pattern", "format", SUBSTRING_OF, GRAMMAR, JSON_CONTENT})
_OF_ARRAYS = frozenset({"uniqueItems"})
_OF_OBJECTS = frozenset({"minProperties", "not", "properties"})


class Widening:
    """Drops unsupported keywords, if that is allowed.

    Args:
        is_allowed: whether keywords may be dropped; if not, every `UnsupportedSchemaError` goes on to the caller.

    Attributes:
        is_used: whether a keyword was dropped in the shape that is being made.
        inexact: the nodes whose shapes are not exact.
    """

    def __init__(self, *, is_allowed: bool) -> None:
        self.is_used = False
        self._is_allowed = is_allowed
        self.inexact: set[Node] = set()
        self._warned: set[tuple[str, str]] = set()  # pointers and keywords

    def is_exact(self, node: Node) -> bool:
        """Return whether the shape of a node, which was made before, is exact."""
        return node not in self.inexact

    def recall(self, node: Node) -> None:
        """Note that the shape that is being made uses the shape of a node, which was made before."""
        if node in self.inexact:
            self.is_used = True

    def shape(self, node: Node, make: Callable[[Node], Shape]) -> Shape:
        """Make the shape of a node, and note whether it is exact."""
        outer, self.is_used = self.is_used, False
        found = make(node)
        if self.is_used:
            self.inexact.add(node)
        self.is_used = self.is_used or outer
        return found

    def or_everything(self, make: Callable[[], Shape]) -> Shape:
        """Make a shape; return the shape of every value if that meets an unsupported keyword."""
        try:
            return make()
        except UnsupportedSchemaError as error:
            self.drop(error)
            return EVERYTHING

    def complement(self, make: Callable[[], Shape], complement: Callable[[Shape], Shape]) -> Shape:
        """Make a shape and return its complement; every value if the shape is not exact."""
        outer, self.is_used = self.is_used, False
        found = self.or_everything(lambda: complement(make()))
        if self.is_used:
            return EVERYTHING
        self.is_used = outer
        return found

    def base(self, make: Callable[[dict[str, Any]], Shape], known: dict[str, Any]) -> Shape:
        """Make the shape of the keywords about single types, after dropping those that are unsupported.

        Args:
            make: makes the shape of some keywords.
            known: the keywords, with their values.
        """
        while True:
            try:
                return make(known)
            except UnsupportedSchemaError as error:
                self.drop(error)
                # A keyword of a single type that has no entry of its own is stored as a `format`.
                keyword = error.keyword if error.keyword in known else "format"
                dropped = (keyword, *_DROPPED_WITH.get(keyword, ()))
                if keyword not in known:
                    return EVERYTHING
                known = {key: value for key, value in known.items() if key not in dropped}

    def drop(self, error: UnsupportedSchemaError) -> None:
        """Warn, once for each keyword and location, that a keyword is dropped.

        Raises:
            UnsupportedSchemaError: the given error, if nothing may be dropped.
        """
        if not self._is_allowed:
            raise error
        self.is_used = True
        if (error.pointer, error.keyword) not in self._warned:
            self._warned.add((error.pointer, error.keyword))
            warn_of_keyword(f"{error.keyword} is dropped: {error}")


def without_limits(shape: Shape, keyword: str) -> Shape:
    """Return a shape without its conditions on the types that a keyword is about.

    Where that changes nothing, it is not known which condition to drop. The result then is every value.
    """
    wider = shape
    if keyword in _OF_NUMBERS and shape.numbers:
        wider = replace(shape, numbers=ALL_NUMBERS)
    elif keyword in _OF_STRINGS and shape.strings:
        wider = replace(shape, strings=ALL_STRINGS)
    elif keyword in _OF_ARRAYS and shape.arrays:
        wider = replace(shape, arrays=ALL_ARRAYS)
    elif keyword in _OF_OBJECTS and shape.objects:
        wider = replace(shape, objects=ALL_OBJECTS)
    return EVERYTHING if wider == shape else wider
