"""What `structgen.compile` gives: a grammar compiled for a vocabulary, and how to read the texts made under it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from structgen.compilation.inputs import CompileInput
    from structgen.compilation.logits_processor import GrammarLogitsProcessor
    from structgen.schema.sources import Source
    from structgen.tokenization.matching.proper_tokenization import ProperTokenization

__all__ = ["Constraint", "Tokenization"]

Tokenization: TypeAlias = Literal["any", "proper"]
"""Which sequences of tokens may spell a text: any, or only the one that the tokenizer makes of it."""

T = TypeVar("T")


class Constraint(Generic[T]):
    """A schema or grammar compiled for one vocabulary. Shared freely: between requests, threads and models.

    Attributes:
        grammar: the compiled grammar, with the masks found so far.
        is_json: whether its texts are JSON.
        source: the schema that it was made of; None for a grammar.
        line: of JSON Lines, the schema of each; else None.
        prepared: what it was compiled of; reads and writes its texts.
    """

    __slots__ = ("_proper", "grammar", "is_json", "line", "prepared", "source")

    def __init__(
        self, grammar: CompiledGrammar, prepared: CompileInput, *, proper: ProperTokenization | None = None
    ) -> None:
        self.grammar = grammar
        self.is_json = prepared.is_json
        self.source: Source | None = prepared.source
        self.line: Source | None = prepared.line
        self.prepared = prepared
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
        from structgen.tokenization.matching.proper_matcher import ProperMatcher

        return ProperMatcher(self.grammar, self._proper, prompt_ids)

    def healed(self, prompt_ids: Sequence[int]) -> tuple[list[int], bytes, Matcher]:
        """A prompt, and a matcher behind it whose text goes on as the tokenizer would.

        With `tokenization="proper"`, a prompt's last tokens are taken back where the tokenizer might join them with the
        text: behind "The answer: " it would write " yes", and neither " " nor "yes".

        Returns:
            the tokens that stay; the bytes of those that do not, or of the space that the tokenizer puts behind the
            prompt, which are written first; a matcher for both.
        """
        if self._proper is None:
            return list(prompt_ids), b"", Matcher(self.grammar)
        from structgen.tokenization.matching.proper_matcher import ProperMatcher, healed

        kept, prefix = healed(self.grammar, self._proper, prompt_ids)
        return kept, prefix, ProperMatcher(self.grammar, self._proper, kept, prefix)

    def parse(self, text: str, *, context: Any = None) -> T:
        """The value that a whole text stands for, validated: an instance for a type, JSON data for a JSON Schema,
        the text itself for most grammars.

        Args:
            text: the text.
            context: what Pydantic's validators find as `info.context`.

        Raises:
            pydantic.ValidationError, jsonschema.ValidationError: the text is not valid. For texts made under this
                constraint only a validator written in Python can say so.
            ValueError: the text of a choice or a template is none of them, or no JSON.
        """
        value: T = self.prepared.parse(text, context)
        return value

    def logits_processor(self) -> GrammarLogitsProcessor:
        """A processor for `hf_model.generate(..., logits_processor=[processor])`, and for the calls of llama-cpp-python
        that take a `LogitsProcessorList`.

        It works for batches and beams, and for one call after another. The grammar begins behind the prompt of each
        call. In llama-cpp-python's loop it does not go together with `logit_bias`, with which that drops the
        processors, nor with a `draft_model`, with which that shows them tokens that were not taken.

        Example:
            >>> processor = structgen.compile(Person, model.vocabulary).logits_processor()    # doctest: +SKIP
            >>> ids = hf_model.generate(**inputs, logits_processor=[processor])               # doctest: +SKIP
            >>> processors = llama_cpp.LogitsProcessorList([processor])                       # doctest: +SKIP
            >>> llama.create_chat_completion(messages, logits_processor=processors)           # doctest: +SKIP
        """
        from structgen.compilation.logits_processor import processor_class

        is_proper = self._proper is not None
        return processor_class()(self.vocabulary, self.matcher, depends_on_prompt=is_proper)

    def __repr__(self) -> str:
        return f"Constraint({self.grammar!r}, tokenization={self.tokenization!r})"
