"""Notations: how the rules of a schema spell scalars, keys and punctuation.

The rules of a set of values are the same in every notation; a notation gives them their terminals:

    JsonNotation     {"name":"Ada","tags":[]}
    YamlNotation     name: Ada                     in `yaml_rules`, which also adds the line breaks and the blanks
                     tags: []
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Collection, Sequence
from typing import Protocol

from structgen.engine.grammar.tables import Spelling, Symbol
from structgen.engine.regex.tree import Regex
from structgen.schema.algebra import StringSet
from structgen.schema.algebra.shape import Shape
from structgen.schema.json_text.layout import Layout
from structgen.schema.json_text.strings import begun_text, remaining_spelling, spelling
from structgen.schema.json_text.terminals import key_regex, scalar_terminals

__all__ = ["JsonNotation", "Notation"]


class Notation(Protocol):
    """The spelling of values. The text of a captured key is what `keys` matches."""

    @property
    def layout(self) -> Layout:
        """The punctuation."""

    @property
    def other_keys(self) -> StringSet | None:
        """The keys that can be written where the schema does not declare them; None for all."""

    def scalars(self, shape: Shape) -> Sequence[Symbol]:
        """Return the symbols of a shape's scalars: terminals, or one nonterminal.

        Raises:
            Inexpressible: no automaton can express a part.
        """

    def check(self, shape: Shape) -> None:
        """Make the terminals of a shape's scalars, to find out whether they can be made.

        Raises:
            Inexpressible: no automaton can express a part.
        """

    def keys(self, keys: StringSet, names: Collection[str]) -> Regex:
        """Return the terminal of the keys of a set, without some names. The set is within `other_keys`.

        Raises:
            Inexpressible: no automaton can express the set.
        """

    def key_of(self, text: bytes) -> str:
        """Return the key of a captured text."""

    def surely_begun(self, begun: bytes) -> str:
        """Return characters with which all keys begin whose text begins with some bytes; none where that is unknown."""

    def completions(self, keys: Collection[str], begun: bytes) -> tuple[Spelling, ...]:
        """Return the rests of those keys' spellings that begin with some bytes; a tuple of keys must be sorted."""


class JsonNotation:
    """The notation of JSON text.

    Args:
        layout: the white space mode.
        plain: numbers are written in digits, without an exponent.
    """

    def __init__(self, layout: Layout, plain: bool = False) -> None:
        self.layout = layout
        self.other_keys: StringSet | None = None
        self.is_plain = plain

    def scalars(self, shape: Shape) -> list[Regex]:
        """Return the terminals of a shape's scalars. See `Notation`."""
        return scalar_terminals(shape, self.is_plain)

    def check(self, shape: Shape) -> None:
        """Make the terminals of a shape's scalars. See `Notation`."""
        scalar_terminals(shape, self.is_plain)

    def keys(self, keys: StringSet, names: Collection[str]) -> Regex:
        """Return the terminal of keys in quotes. See `Notation`."""
        return key_regex(keys, names)

    def key_of(self, text: bytes) -> str:
        """Return the key of a captured text. See `Notation`."""
        return str(json.loads(text)) if b"\\" in text else text[1 : len(text) - 1].decode()

    def surely_begun(self, begun: bytes) -> str:
        """Return the characters up to the first escape. See `Notation`."""
        return begun_text(begun)

    def completions(self, keys: Collection[str], begun: bytes) -> tuple[Spelling, ...]:
        """Return the rests of keys in quotes. See `Notation`."""
        if not begun:
            return tuple([spelling(key) for key in keys])
        start = begun_text(begun)
        if isinstance(keys, tuple):
            first = last = bisect_left(keys, start)
            while last < len(keys) and keys[last].startswith(start):
                last += 1
            keys = keys[first:last]
        if b"\\" in begun or not begun.isascii():
            return tuple([rest for key in keys if (rest := remaining_spelling(key, begun)) is not None])
        size = len(begun)  # each character is one byte, and so one unit
        return tuple([spelling(key)[size:] for key in keys if key.startswith(start)])
