"""What `lenient=True` makes of the unsupported: it is dropped where it stands, and said in a warning.

A dropped keyword lets more values through. Under a complement it must do so too: what a schema with an unsupported
keyword refuses is not known, so that its complement becomes every value. Shapes are wide enough, never too narrow;
those that are not exact are known, because no shape's complement may be made of them (complements of *nodes* are made
of the nodes' own).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from structgen.errors import UnsupportedSchemaError
from structgen.schema.algebra import ALL_ARRAYS, ALL_NUMBERS, ALL_OBJECTS, ALL_STRINGS, EVERYTHING, Node, Shape
from structgen.schema.own_keywords import SUBSTRING_OF
from structgen.schema.reading.keywords import SchemaWarning

__all__ = ["Widening", "without_limits"]

_WITH = {
    "contains": ("minContains", "maxContains"),
    "items": ("additionalItems",),
    "patternProperties": ("additionalProperties",),
    "prefixItems": ("items",),
    "properties": ("additionalProperties",),
}
"""Keywords that would say more, were the one before them dropped alone."""

_OF_NUMBERS = frozenset({"multipleOf"})
_OF_STRINGS = frozenset({"enum", "const", "pattern", "format", SUBSTRING_OF})
_OF_ARRAYS = frozenset({"uniqueItems"})
_OF_OBJECTS = frozenset({"minProperties", "not", "properties"})


class Widening:
    """Drops what is unsupported, or refuses to.

    Args:
        is_allowed: whether it may; without, every `UnsupportedSchemaError` is raised again.

    Attributes:
        is_used: something was dropped in the shape that is being made.
    """

    def __init__(self, *, is_allowed: bool) -> None:
        self.is_used = False
        self._is_allowed = is_allowed
        self._inexact: set[Node] = set()
        self._said: set[tuple[str, str]] = set()

    def recall(self, node: Node) -> None:
        """A shape that was made before is used."""
        if node in self._inexact:
            self.is_used = True

    def shape(self, node: Node, make: Callable[[], Shape]) -> Shape:
        """The shape of a node, of which is noted whether it is exact."""
        outer, self.is_used = self.is_used, False
        found = make()
        if self.is_used:
            self._inexact.add(node)
        self.is_used = self.is_used or outer
        return found

    def or_everything(self, make: Callable[[], Shape]) -> Shape:
        """A shape; or every value, where it is unsupported."""
        try:
            return make()
        except UnsupportedSchemaError as error:
            self.drop(error)
            return EVERYTHING

    def complement(self, make: Callable[[], Shape], complement: Callable[[Shape], Shape]) -> Shape:
        """The complement of a shape; every value, where the shape is not exact."""
        outer, self.is_used = self.is_used, False
        found = self.or_everything(lambda: complement(make()))
        if self.is_used:
            return EVERYTHING
        self.is_used = outer
        return found

    def base(self, make: Callable[[dict[str, Any]], Shape], known: dict[str, Any]) -> Shape:
        """The shape of keywords about single types, without those that are unsupported."""
        while True:
            try:
                return make(known)
            except UnsupportedSchemaError as error:
                self.drop(error)
                keyword = error.keyword if error.keyword in known else "format"  # of types, by another name
                dropped = (keyword, *_WITH.get(keyword, ()))
                if keyword not in known:
                    return EVERYTHING
                known = {key: value for key, value in known.items() if key not in dropped}

    def drop(self, error: UnsupportedSchemaError) -> None:
        """Says, once, what is dropped.

        Raises:
            UnsupportedSchemaError: the same, where nothing may be dropped.
        """
        if not self._is_allowed:
            raise error
        self.is_used = True
        if (error.pointer, error.keyword) not in self._said:
            self._said.add((error.pointer, error.keyword))
            warnings.warn(f"{error.keyword} is dropped: {error}", SchemaWarning, stacklevel=2)


def without_limits(shape: Shape, keyword: str) -> Shape:
    """A shape that holds every value of the types of which a keyword cannot be written down."""
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
