"""The result of `structgen.compile`: a grammar compiled for a vocabulary, and the reader of its texts."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from structgen.compilation.budget import Budget
    from structgen.compilation.captures import Captures
    from structgen.compilation.export import Dialect
    from structgen.compilation.inputs import CompileInput
    from structgen.compilation.logits_processor import GrammarLogitsProcessor
    from structgen.schema.sources import Source
    from structgen.tokenization.matching.proper_tokenization import ProperTokenization

__all__ = ["Constraint", "Tokenization"]

Tokenization: TypeAlias = Literal["any", "proper"]
"""The token sequences that may spell a text: "any" of them, or only the "proper" one, which the tokenizer makes."""

T = TypeVar("T")


class Constraint(Generic[T]):
    """A schema or grammar compiled for one vocabulary. Requests, threads and models may share it.

    A copy is the constraint itself. Pickling stores the arguments of `structgen.compile`. Loading compiles them again,
    at most once in each process. So a constraint can be sent to another process, forked or spawned.

    Attributes:
        grammar: the compiled grammar, with the masks found so far.
        is_json: whether the texts are JSON.
        is_yaml: whether the texts are YAML.
        source: the schema; None for a grammar.
        line: for JSON Lines, the schema of each line; else None.
        prepared: the compile input; its `parse` turns a text into a value.
        given: the schema, type or grammar that was compiled.

    Args:
        grammar: the compiled grammar.
        prepared: the compile input.
        proper: the tokenizer's way to split texts, for `tokenization="proper"`.
        stored: returns what pickle stores; see `object.__reduce__`.
        given: the schema, type or grammar that was compiled.
        options: the options for reading it.
    """

    __slots__ = (
        "_options", "_proper", "_stored", "_written", "given", "grammar", "is_json", "is_yaml", "line", "prepared",
        "source",
    )  # fmt: skip

    def __init__(
        self,
        grammar: CompiledGrammar,
        prepared: CompileInput,
        *,
        proper: ProperTokenization | None = None,
        stored: Callable[[], Any] | None = None,
        given: Any = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.grammar = grammar
        self.is_json = prepared.is_json
        self.is_yaml = prepared.is_yaml
        self.source: Source | None = prepared.source
        self.line: Source | None = prepared.line
        self.prepared = prepared
        self._proper = proper
        self._stored = stored
        self.given = given
        self._options = dict(options or {})
        self._written: dict[str, str] = {}

    @property
    def options(self) -> Mapping[str, Any]:
        """The schema options that the caller of `structgen.compile` gave; defaults are not among them."""
        return self._options

    @property
    def tokenization(self) -> Tokenization:
        """The token sequences that are allowed for a text: "any" or "proper"."""
        return "any" if self._proper is None else "proper"

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary that the grammar was compiled for."""
        return self.grammar.vocabulary

    def matcher(self, prompt_ids: Sequence[int] = ()) -> Matcher:
        """Return a new matcher, the state of one sequence, at the start of a text.

        Args:
            prompt_ids: the tokens before the text. With `tokenization="proper"` the allowed tokens depend on the last
                ones, because the tokenizer might have merged them with the first token of the text.
        """
        if self._proper is None:
            return self._with_reasons(Matcher(self.grammar))
        from structgen.tokenization.matching.proper_matcher import ProperMatcher

        return self._with_reasons(ProperMatcher(self.grammar, self._proper, prompt_ids))

    def healed(self, prompt_ids: Sequence[int], *, keeps: int = 0) -> tuple[list[int], bytes, Matcher]:
        """Return a prompt that the tokenizer can continue, and a matcher after it.

        With `tokenization="proper"`, the last tokens of the prompt are removed where the tokenizer might merge them
        with the text. After the prompt "The answer: " the tokenizer would write " yes" as one token, not " " and "yes":
        so the token " " is removed, and the matcher begins with a space.

        Args:
            prompt_ids: the tokens of the prompt.
            keeps: the least number of tokens that must stay, as a model has to read at least one. If fewer would stay,
                no token is removed.

        Returns:
            The tokens that stay; the bytes to write first, those of the removed tokens or the space that the tokenizer
            puts after the prompt; and a matcher for these bytes and the text.
        """
        if self._proper is None:
            return list(prompt_ids), b"", self.matcher()
        from structgen.tokenization.matching.proper_matcher import ProperMatcher, healed

        kept, prefix = healed(self.grammar, self._proper, prompt_ids)
        if len(kept) < keeps:
            kept, prefix = list(prompt_ids), b""
        return kept, prefix, self._with_reasons(ProperMatcher(self.grammar, self._proper, kept, prefix))

    def _with_reasons(self, matcher: Matcher) -> Matcher:
        """Return the matcher. If its texts are JSON, `Matcher.explain` gets sentences for people."""
        if self.is_json and self.source is not None and self.line is None:
            matcher.reasons_of = self._reasons
        return matcher

    def _reasons(self, text: bytes) -> tuple[str, ...]:
        """Return what is wrong with the beginning of a JSON text, in sentences."""
        from structgen.schema.unfinished import unfinished_sentences  # for messages only

        if self.source is None:
            return ()
        return unfinished_sentences(self.source.json_schema, self.source.options, text.decode(errors="ignore"))

    def parse(self, text: str, *, context: Any = None) -> T:
        """Return the validated value of a whole text.

        The value is an instance for a type, JSON data for a JSON Schema, and the text itself for most grammars.

        Args:
            text: the text.
            context: passed to Pydantic's validators as `info.context`.

        Raises:
            pydantic.ValidationError, jsonschema.ValidationError: the text is not valid. A text that was generated under
                this constraint can only be refused by a validator written in Python.
            ValueError: the text is not one of the choices, does not fit the template, or is not JSON.
        """
        value: T = self.prepared.parse(text, context)
        return value

    def captures(self, text: str) -> Captures:
        r"""Return the parts of a whole text that rules with captures have read; see docs/lark.md.

        Args:
            text: the text; a token terminal stands in it as the text or the name of its token.

        Returns:
            The captured texts by name. A name has the text of its last capture; a name after `__LIST_APPEND:` has a
            list of all. Empty for a grammar without captures, and for a text that does not fit.

        Example:
            >>> vocabulary = Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)})
            >>> grammar = structgen.Grammar.lark('start: "x=" value\nvalue[capture]: /[0-9]+/')
            >>> structgen.compile(grammar, vocabulary).captures("x=12")
            {'value': '12'}
        """
        return {} if self.prepared.captures is None else self.prepared.captures.read(text, self.vocabulary)

    def written(self, to: Dialect) -> str:
        """Return the grammar for another engine, as `structgen.export` writes it; the text is kept.

        JSON is written with single spaces and with keys in the schema's order, where the options allow any.

        Args:
            to: the notation.

        Raises:
            GrammarError, LimitExceededError: see `structgen.export`.
        """
        if to not in self._written:
            from structgen.compilation.export import export_for_server

            self._written[to] = export_for_server(self.given, to, self._options, self.grammar.limits)
        return self._written[to]

    def logits_processor(
        self, *, max_tokens: int | None = None, max_repeats: int | None = None, temperature: float | None = None
    ) -> GrammarLogitsProcessor:
        """Return a logits processor for transformers' `generate` or for llama-cpp-python.

        Pass it as `hf_model.generate(..., logits_processor=[processor])`, or in a `LogitsProcessorList` to the calls of
        llama-cpp-python that accept one. It works for batches and beams, and for one call after another. The grammar
        begins after the prompt of each call. In llama-cpp-python, do not combine it with `logit_bias`, which drops the
        processors, nor with a `draft_model`, which shows them tokens that were not accepted.

        Args:
            max_tokens: the budget of each text, the number that the loop gets as `max_new_tokens`: masks are narrowed
                so that the text is whole within it. None for no budget; then the loop may cut the text off.
            max_repeats: how often a text in JSON may repeat itself; see docs/budgets.md. None for any number.
            temperature: the temperature of that call, for a Lark grammar whose rules have their own: the processor
                scales the scores within these rules. The call has to sample (`do_sample=True`).

        Raises:
            ValueError: the shortest text has more tokens than the budget; an argument is out of its range; or the
                grammar has rules with a temperature, and that of the call is not given or not positive.

        Example:
            >>> processor = structgen.compile(Person, model.vocabulary).logits_processor()    # doctest: +SKIP
            >>> ids = hf_model.generate(**inputs, logits_processor=[processor])               # doctest: +SKIP
            >>> processors = llama_cpp.LogitsProcessorList([processor])                       # doctest: +SKIP
            >>> llama.create_chat_completion(messages, logits_processor=processors)           # doctest: +SKIP
        """
        from structgen.compilation.logits_processor import processor_class

        if not self.grammar.has_temperatures:
            temperature = None
        elif temperature is None or not 0 < temperature < inf:
            raise ValueError(
                f"the grammar has rules with a temperature, so the call has to sample: logits_processor(temperature=…) "
                f"takes the temperature of the call, not {temperature}"
            )
        is_proper = self._proper is not None
        budget = None if max_tokens is None else self._budget(max_tokens)
        guard = None
        if max_repeats is not None:
            from structgen.compilation.repetition import RepetitionGuard

            guard = RepetitionGuard(max_repeats) if self.is_json else None
        return processor_class()(
            self.vocabulary,
            self.matcher,
            depends_on_prompt=is_proper,
            budget=budget,
            guard=guard,
            temperature=temperature,
        )

    def _budget(self, tokens: int) -> Budget:
        """Return a budget of tokens that the shortest text fits into."""
        from structgen.compilation.budget import Budget, open_budget
        from structgen.errors import IncompleteOutputError

        if tokens < 1:
            raise ValueError(f"max_tokens must be a whole number >= 1, not {tokens}")
        if self._proper is None:
            try:
                budget = open_budget(self.matcher(), tokens, is_proper=False, option="max_tokens")
            except IncompleteOutputError as error:
                raise ValueError(f"max_tokens={tokens}: {error}") from None
            if budget is not None:
                return budget
        return Budget(tokens, is_proper=self._proper is not None)

    def __copy__(self) -> Constraint[T]:
        """Return the constraint itself, as it never changes."""
        return self

    def __deepcopy__(self, memo: Any) -> Constraint[T]:
        """Return the constraint itself, as it never changes."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle stores: the vocabulary, and the arguments of `structgen.compile`.

        Raises:
            TypeError: the constraint was not made by `structgen.compile`, or its schema was changed since then.
        """
        if self._stored is None:
            raise TypeError("only a Constraint made by structgen.compile can be pickled")
        found: tuple[Any, ...] = self._stored()
        return found

    def __repr__(self) -> str:
        given = self.given.__name__ if isinstance(self.given, type) else reprlib.repr(self.given)
        return f"Constraint({given}, {self.vocabulary!r}, tokenization={self.tokenization!r})"
