"""Strings that stand as they are between two marks, without quotes: no such string may hold a mark.

Of the texts "a" and "b</p>", only "a" can stand before the mark "</p>".
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex import tree as rx
from structgen.schema.algebra import ALL_STRINGS, Inexpressible, Shape, StringSet

__all__ = ["RawStrings"]


class RawStrings:
    """The raw strings of sets.

    Args:
        marks: the texts that no string may hold.
    """

    def __init__(self, marks: Collection[str]) -> None:
        self._marks = tuple(marks)
        held = rx.literal_set([mark.encode() for mark in sorted(set(marks))])
        self._refused = rx.sequence(rx.ANY_BYTES, held, rx.ANY_BYTES)

    def regex(self, strings: StringSet) -> rx.Regex:
        """Return the strings of a set that hold no mark.

        Raises:
            Inexpressible: none is left, as far as that is known without automata; or no automaton can express the set.
        """
        if strings.texts is None:
            return rx.difference(strings.regex(), self._refused)
        kept = self._kept(strings.texts)
        if not kept:
            raise Inexpressible("enum")
        return rx.literal_set([text.encode() for text in kept])

    def _kept(self, texts: tuple[str, ...]) -> list[str]:
        return [text for text in texts if not any(mark in text for mark in self._marks)]

    def check(self, strings: StringSet) -> None:
        """Make sure that some string of a set can be written.

        Raises:
            Inexpressible: all of them hold a mark, or no automaton can express the set.
        """
        if strings.texts is not None:
            self.regex(strings)
        elif (strings.within or strings.outside) and AutomatonStore().is_empty(self.regex(strings)):
            raise Inexpressible("pattern")

    def left(self, shape: Shape) -> Shape:
        """Return a shape without the sets of which each string holds a mark: the others may be excluded."""
        if shape.strings is ALL_STRINGS or all(map(self._has_some, shape.strings)):
            return shape
        return replace(shape, strings=tuple(filter(self._has_some, shape.strings)))

    def _has_some(self, strings: StringSet) -> bool:
        if strings.texts is not None:
            return bool(self._kept(strings.texts))
        if not strings.excluded or not (strings.within or strings.outside):
            return True  # as the schema has it, and so it was checked
        return not AutomatonStore().is_empty(self.regex(strings))
