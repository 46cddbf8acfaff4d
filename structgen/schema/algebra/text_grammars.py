"""Context-free sets of texts: a grammar, or JSON of some values, as a condition on the value of a string."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from structgen.engine.grammar.tables import GrammarTables
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.vocabulary import byte_vocabulary
from structgen.errors import TokenRejectedError
from structgen.schema.algebra.arrays import Inexpressible
from structgen.schema.algebra.nodes import Node
from structgen.schema.own_keywords import JSON_CONTENT

__all__ = ["JsonContent", "TextGrammar"]


@dataclass(eq=False)
class TextGrammar:
    """A context-free set of texts with a name. Two sets of the same name are equal.

    Attributes:
        name: tells the grammar from all others.
        tables: its rules. Its terminals match whole characters.
    """

    name: str
    tables: GrammarTables = field(repr=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TextGrammar) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    @cached_property
    def _compiled(self) -> CompiledGrammar:
        return CompiledGrammar(self.tables, byte_vocabulary())

    def matches(self, text: str) -> bool:
        """Return whether a text is in the set. A text with a lone surrogate is in none."""
        try:
            data = text.encode()
        except UnicodeEncodeError:
            return False
        if not data:
            return self.tables.accepts_empty
        matcher = Matcher(self._compiled)
        try:
            matcher.accept_bytes(data)
        except TokenRejectedError:
            return False
        return matcher.is_accepting


@dataclass(frozen=True)
class JsonContent:
    """The texts that are JSON of a node's values.

    Attributes:
        node: the node.
    """

    node: Node

    @property
    def name(self) -> str:
        """A name that tells the set from all others."""
        return f"{JSON_CONTENT} {self.node}"

    def matches(self, text: str) -> bool:
        """Raise Inexpressible: a set does not know what its nodes hold."""
        raise Inexpressible(JSON_CONTENT, "it cannot be combined with a list of texts")
