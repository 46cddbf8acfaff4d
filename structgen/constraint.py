"""What `structgen.compile` gives: a grammar compiled for a vocabulary, and how to read the texts made under it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from structgen.engine.compiled import CompiledGrammar
from structgen.engine.matcher import Matcher
from structgen.engine.vocabulary import Vocabulary

if TYPE_CHECKING:
    from structgen.logits_processor import GrammarLogitsProcessor

__all__ = ["Constraint"]

T = TypeVar("T")


class Constraint(Generic[T]):
    """A schema or grammar compiled for one vocabulary. Shared freely: between requests, threads and models.

    Attributes:
        grammar: the compiled grammar, with the masks found so far.
        is_json: whether its texts are JSON.
    """

    __slots__ = ("_parse", "grammar", "is_json")

    def __init__(self, grammar: CompiledGrammar, parse: Callable[[str], T], *, is_json: bool) -> None:
        self.grammar = grammar
        self.is_json = is_json
        self._parse = parse

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary that it was compiled for."""
        return self.grammar.vocabulary

    def matcher(self) -> Matcher:
        """A new matcher at the start of a text: the state of one sequence."""
        return Matcher(self.grammar)

    def parse(self, text: str) -> T:
        """The value that a whole text stands for, validated: an instance for a type, JSON data for a JSON Schema,
        the text itself for a grammar.

        Raises:
            pydantic.ValidationError, jsonschema.ValidationError: the text is not valid. For texts made under this
                constraint only a validator written in Python can say so.
        """
        return self._parse(text)

    def logits_processor(self) -> GrammarLogitsProcessor:
        """A processor for `hf_model.generate(..., logits_processor=[processor])`.

        It works for batches and beams, and for one call of `generate` after another.

        Example:
            >>> processor = structgen.compile(Person, model.vocabulary).logits_processor()    # doctest: +SKIP
            >>> ids = hf_model.generate(**inputs, logits_processor=[processor])               # doctest: +SKIP
        """
        from structgen.logits_processor import make_processor

        return make_processor(self.grammar)

    def __repr__(self) -> str:
        return f"Constraint({self.grammar!r})"


def parse_text(text: str) -> Any:
    """The reading of a grammar's texts: they are the values."""
    return text
