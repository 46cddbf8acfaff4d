"""What `structgen.compile` gives: a grammar compiled for a vocabulary, and how to read the texts made under it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from structgen.engine.compiled import CompiledGrammar
from structgen.engine.matcher import Matcher
from structgen.engine.vocabulary import Vocabulary

if TYPE_CHECKING:
    from structgen.logits_processor import GrammarLogitsProcessor
    from structgen.tokenization.tokenization import ProperTokenization

__all__ = ["Constraint", "Tokenization"]

Tokenization: TypeAlias = Literal["any", "proper"]
"""Which sequences of tokens may spell a text: any, or only the one that the tokenizer makes of it."""

T = TypeVar("T")


class Constraint(Generic[T]):
    """A schema or grammar compiled for one vocabulary. Shared freely: between requests, threads and models.

    Attributes:
        grammar: the compiled grammar, with the masks found so far.
        is_json: whether its texts are JSON.
    """

    __slots__ = ("_parse", "_proper", "grammar", "is_json")

    def __init__(
        self,
        grammar: CompiledGrammar,
        parse: Callable[[str], T],
        *,
        is_json: bool,
        proper: ProperTokenization | None = None,
    ) -> None:
        self.grammar = grammar
        self.is_json = is_json
        self._parse = parse
        self._proper = proper

    @property
    def tokenization(self) -> Tokenization:
        """Which sequences of tokens are allowed for a text."""
        return "any" if self._proper is None else "proper"

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary that it was compiled for."""
        return self.grammar.vocabulary

    def matcher(self, prompt_ids: Sequence[int] = ()) -> Matcher:
        """A new matcher at the start of a text: the state of one sequence.

        Args:
            prompt_ids: the tokens before the text. With `tokenization="proper"` what may follow depends on the last
                ones: they might have been joined with the first one of the text.
        """
        if self._proper is None:
            return Matcher(self.grammar)
        from structgen.tokenization.proper_matcher import ProperMatcher

        return ProperMatcher(self.grammar, self._proper, prompt_ids)

    def healed(self, prompt_ids: Sequence[int]) -> tuple[list[int], bytes, Matcher]:
        """A prompt, and a matcher behind it whose text goes on as the tokenizer would.

        With `tokenization="proper"`, a prompt's last tokens are taken back where the tokenizer might join them with the
        text: behind "The answer: " it would write " yes", and neither " " nor "yes".

        Returns:
            the tokens that stay; the bytes of those that do not, which are written again; a matcher for both.
        """
        if self._proper is None:
            return list(prompt_ids), b"", Matcher(self.grammar)
        from structgen.tokenization.proper_matcher import ProperMatcher, healed

        kept, prefix = healed(self.grammar, self._proper, prompt_ids)
        return kept, prefix, ProperMatcher(self.grammar, self._proper, kept, prefix)

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

        return make_processor(self)

    def __repr__(self) -> str:
        return f"Constraint({self.grammar!r}, tokenization={self.tokenization!r})"


def parse_text(text: str) -> Any:
    """The reading of a grammar's texts: they are the values."""
    return text
