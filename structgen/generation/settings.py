"""The options of a run: keyword arguments of `generate` and its relatives, and their checked form `Settings`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, get_args

from structgen.compilation.constraint import Tokenization
from structgen.compilation.repetition import MAX_REPEATS, check_max_repeats
from structgen.generation.adjusting import Adjuster
from structgen.generation.reasoning_marks import MARKS, Marks, marks_of
from structgen.generation.sampling import Sampler
from structgen.output_types.grammar import Grammar
from structgen.schema.options import Draft, Formats, Numbers, PropertyOrder, SchemaArguments, Whitespace, unknown_option
from structgen.schema.signatures import SCHEMA_DEFAULTS, defaults_of

if TYPE_CHECKING:
    from referencing import Registry

    from structgen.engine.vocabulary.vocabulary import Vocabulary

__all__ = [
    "BATCH_SIZE",
    "CALL_DEFAULTS",
    "LOCAL_READING",
    "OPTION_DEFAULTS",
    "CallOptions",
    "ConstraintOptions",
    "GenerationOptions",
    "GeneratorOptions",
    "OnBudget",
    "Reasoning",
    "Sampling",
    "Settings",
    "check_names",
    "split_options",
]

OnBudget: TypeAlias = Literal["finish", "error"]
"""See `GenerationOptions.on_budget`."""

Sampling: TypeAlias = Literal["smc", "awrs", "asap"]
"""See `GenerationOptions.sampling`."""


class GenerationOptions(TypedDict, total=False):
    """Options of a run: how it samples, what it asks, and when it ends.

    They are keyword arguments of `generate`, `stream`, `batch`, `Generator` and its methods, and `@fn`.

    Attributes:
        max_new_tokens: the budget of the answer in tokens, forced ones included; 512 by default. `max_tokens` is the
            same.
        on_budget: "finish", the default: the answer is complete within the budget. A token after which the rest would
            not fit is not allowed, and in the last fifth of the budget nothing optional is begun. "error": it breaks
            off where the budget ends, and `IncompleteOutputError` is raised.
        max_repeats: how often the same 20 bytes or more of an answer in JSON may follow themselves; 8 by default. After
            that a string is closed, and a list or a tree gets nothing further, where the schema allows it. None for
            any number. See docs/budgets.md.
        temperature: 0, the default, picks the most probable token; 1 samples the model's own distribution.
        top_p, top_k, min_p: filters over the allowed tokens; see `structgen.generation.sampling.Sampler`.
        repetition_penalty, frequency_penalty, presence_penalty: make tokens of the answer so far less probable, the
            first one those of the prompt too; see `structgen.generation.adjusting.Adjuster`. They change which of the
            allowed tokens is taken, and never what is allowed.
        logit_bias: numbers that are added to the logits of tokens, by token id.
        seed: makes sampling repeatable.
        stop: texts that end the answer, wherever the grammar allows an end there. They stay in the text.
        raw: pass the prompt to the model as it is, without a chat template.
        system: the system message, before all others.
        examples: pairs of a prompt and its answer, put before the prompt as messages of user and assistant. An answer
            is a value of the schema, as an instance or as data, or a text where the format is not JSON. It is written
            exactly as the model has to write its own.
        describe_schema: with True, the JSON Schema is described in the system message, or passed to the chat template
            where that has a variable `json_schema`.
        template: variables of the chat template, such as `{"enable_thinking": False}`.
        reasoning: free text before the answer: True for the marks of the model's chat template, the name of a family of
            marks ("qwen", "deepseek_r1", "gemma", "harmony" and more), or a `Reasoning`.
        max_retries: how often an answer that a validator refuses is sent back with the errors; 0 by default.
        validate: called with the value; returns the result, or None to keep the value. A ValueError or AssertionError
            refuses the value.
        context: passed to Pydantic's validators as `info.context`.
        logprobs: with True, `Result.logprobs` has the log-probabilities of the answer's tokens, and `Result.confidence`
            says how sure the model was of a value. Behind a server they are the server's; see docs/servers.md.
        sampling: draws several answers from the model's own distribution over whole answers, and returns the one that
            agrees most with all of them: "smc" (sequential Monte Carlo), "awrs" (the same by adaptive weighted
            rejection) or "asap" (adaptive sampling). See docs/sampling.md. The temperature is 1 then, unless another
            one is given. None, the default, draws one answer, token by token under the mask.
        particles: the number of answers that `sampling` draws; 16 by default.
        num_beams: beam search: the most probable answer that is found with this number of beginnings side by side. 1,
            the default, is no beam search.
    """

    max_new_tokens: int
    max_tokens: int | None
    on_budget: OnBudget
    max_repeats: int | None
    temperature: float
    top_p: float | None
    top_k: int | None
    min_p: float | None
    repetition_penalty: float
    frequency_penalty: float
    presence_penalty: float
    logit_bias: Mapping[int, float] | None
    seed: int | None
    stop: str | Sequence[str]
    raw: bool
    system: str | None
    examples: Sequence[tuple[Any, Any]]
    describe_schema: bool
    template: Mapping[str, Any]
    reasoning: bool | str | Reasoning | None
    max_retries: int
    validate: Callable[[Any], Any] | None
    context: Any
    logprobs: bool
    sampling: Sampling | None
    particles: int | None
    num_beams: int


class ConstraintOptions(SchemaArguments, total=False):
    """Options of a constraint: how the schema is read, and how its texts are split into tokens.

    They are keyword arguments of `generate`, `Generator` and `@fn`.

    Attributes:
        tokenization: "any", the default, or "proper"; see `structgen.compile`.
    """

    tokenization: Tokenization


class CallOptions(GenerationOptions, total=False):
    """Keyword arguments of `call`, `run_tools` and `stream_call`: those of a run and of a constraint, but `format`.

    There `format` is that of the calls; see `structgen.schema.options.SchemaArguments` for the others.
    """

    tokenization: Tokenization
    whitespace: Whitespace
    numbers: Numbers
    property_order: PropertyOrder
    formats: Formats
    draft: Draft | None
    lenient: bool
    registry: Registry[Any] | None
    base_uri: str | None


class GeneratorOptions(GenerationOptions, ConstraintOptions, total=False):
    """Keyword arguments of `Generator`, `generate`, `stream` and `batch`: those of a run and of a constraint."""


def split_options(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split options into those of a run and those of the constraint.

    Args:
        options: `GeneratorOptions`.

    Raises:
        TypeError: an unknown option; the message suggests a known one.
    """
    check_names(options, (*GenerationOptions.__annotations__, *_CONSTRAINT_OPTIONS))
    constraint = {name: options[name] for name in _CONSTRAINT_OPTIONS if name in options}
    return {name: value for name, value in options.items() if name not in constraint}, constraint


def check_names(options: dict[str, Any], known: Sequence[str] = tuple(GenerationOptions.__annotations__)) -> None:
    """Check the names of options.

    Args:
        options: the options.
        known: the known names.

    Raises:
        TypeError: an unknown option; the message suggests a known one.
    """
    for name in options:
        if name not in known:
            if name in _ELSEWHERE:
                raise TypeError(f"there is no option {name!r} here: {_ELSEWHERE[name]}")
            raise unknown_option(name, known)


_ELSEWHERE = {
    **dict.fromkeys(("tools", "tool_choice", "functions"), "structgen.call and structgen.run_tools take tools"),
    "stream": "structgen.stream shows an answer while it is written",
    "n": "structgen.sample draws several answers",
}
"""Options of other libraries whose work a function of structgen does."""

LOCAL_READING: SchemaArguments = {"whitespace": "single", "numbers": "plain"}
"""The defaults of options that say how JSON is written, for models whose answers structgen masks."""

_OF_ONE_ANSWER = ("top_p", "top_k", "min_p", "stop", "max_retries", "logprobs")  # not where whole answers are compared
_CONSTRAINT_OPTIONS = (*SchemaArguments.__annotations__, "tokenization")


@dataclass(frozen=True, slots=True)
class Settings:
    """`GenerationOptions` with their defaults, checked.

    Raises:
        ValueError: a value out of its range, or options that exclude each other.
        TypeError: an unknown option, or a value of another type.
    """

    max_new_tokens: int = 512
    on_budget: OnBudget = "finish"
    max_repeats: int | None = MAX_REPEATS
    temperature: float = 0.0
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    logit_bias: Mapping[int, float] | None = None
    seed: int | None = None
    stop: str | Sequence[str] = ()
    raw: bool = False
    system: str | None = None
    examples: Sequence[tuple[Any, Any]] = ()
    describe_schema: bool = False
    template: Mapping[str, Any] = field(default_factory=dict)
    reasoning: bool | str | Reasoning | None = None
    max_retries: int = 0
    validate: Callable[[Any], Any] | None = None
    context: Any = None
    logprobs: bool = False
    sampling: Sampling | None = None
    particles: int | None = None
    num_beams: int = 1
    max_tokens: int | None = None  # the same as max_new_tokens, which has its value afterwards

    def __post_init__(self) -> None:
        if self.max_tokens is not None:
            object.__setattr__(self, "max_new_tokens", self.max_tokens)
            object.__setattr__(self, "max_tokens", None)
        if not isinstance(self.max_new_tokens, int) or self.max_new_tokens < 1:
            raise ValueError(f"max_new_tokens must be a whole number >= 1, not {self.max_new_tokens!r}")
        if self.on_budget not in ("finish", "error"):
            raise ValueError(f"on_budget must be 'finish' or 'error', not {self.on_budget!r}")
        check_max_repeats(self.max_repeats)
        if not isinstance(self.max_retries, int) or self.max_retries < 0:
            raise ValueError(f"max_retries must be a whole number >= 0, not {self.max_retries!r}")
        is_listed = isinstance(self.stop, Collection) and not isinstance(self.stop, bytes | Mapping)
        if not is_listed or not all(map(_is_stop, self.stop_texts())):
            raise ValueError(f"stop must be texts that are not empty, not {self.stop!r}")
        if self.validate is not None and not callable(self.validate):
            raise TypeError(f"validate must be a function, not {self.validate!r}")
        if inspect.iscoroutinefunction(self.validate):
            raise TypeError("validate must be a plain function: an async one is not awaited")
        is_family = isinstance(self.reasoning, str) and self.reasoning in MARKS
        if not isinstance(self.reasoning, bool | Reasoning | None) and not is_family:
            names = ", ".join(MARKS)
            raise TypeError(
                f"reasoning must be True, False, a family of marks ({names}) or a structgen.Reasoning, "
                f"not {self.reasoning!r}"
            )
        self._check_messages()
        self._check_aligned()
        self.sampler()  # checks its own arguments
        self.adjuster()

    def _check_messages(self) -> None:
        """Check the options that add messages to the prompt, and those that exclude them."""
        _check_template(self.template)
        if not isinstance(self.system, str | None):
            raise TypeError(f"system must be a text, not {self.system!r}")
        if not isinstance(self.examples, Collection) or isinstance(self.examples, str | bytes | Mapping):
            raise TypeError(f"examples must be a list of pairs of a prompt and its answer, not {self.examples!r}")
        if self.raw and (self.system or self.examples or self.describe_schema or self.template):
            raise ValueError("raw prompts have no messages: leave out system, examples, describe_schema and template")
        for example in self.examples:
            if not isinstance(example, Sequence) or isinstance(example, str) or len(example) != 2:
                raise ValueError(f"examples are pairs of a prompt and its answer, not {example!r}")

    def _check_aligned(self) -> None:
        """Check the options of sampling over whole answers and of beams, and those that exclude them."""
        if self.sampling is not None and self.sampling not in get_args(Sampling):
            names = ", ".join(map(repr, get_args(Sampling)))
            raise ValueError(f"sampling must be one of {names} or None, not {self.sampling!r}")
        for name, number in (("particles", self.particles), ("num_beams", self.num_beams)):
            is_left_out = number is None and name == "particles"
            if not is_left_out and (type(number) is not int or number < 1):
                raise ValueError(f"{name} must be a whole number >= 1, not {number!r}")
        if self.particles is not None and self.sampling is None:
            raise ValueError("particles needs sampling='smc', 'awrs' or 'asap'")
        if not self.is_aligned:
            return
        what = "num_beams" if self.sampling is None else "sampling"
        others = ["num_beams"] if self.sampling is not None and self.num_beams > 1 else []
        others += [name for name in _OF_ONE_ANSWER if getattr(self, name)]
        if self.sampling is None and self.temperature:
            others.append("temperature")
        if others:
            raise ValueError(f"{what} does not go together with {', '.join(others)}")

    @property
    def is_aligned(self) -> bool:
        """True if whole answers are compared: with `sampling` or beams."""
        return self.sampling is not None or self.num_beams > 1

    def sampler(self) -> Sampler:
        """Return a sampler with these options."""
        return Sampler(
            temperature=self.temperature, top_k=self.top_k, top_p=self.top_p, min_p=self.min_p, seed=self.seed
        )

    def adjuster(self) -> Adjuster:
        """Return an adjuster with these options: it changes the logits before a token is sampled."""
        return Adjuster(
            repetition_penalty=self.repetition_penalty,
            frequency_penalty=self.frequency_penalty,
            presence_penalty=self.presence_penalty,
            logit_bias=self.logit_bias,
        )

    def stop_texts(self) -> Sequence[str]:
        """Return the texts of `stop`."""
        return (self.stop,) if isinstance(self.stop, str) else self.stop

    def for_retry(self) -> Settings:
        """Return the settings of a retry: its prompt contains the messages before the prompt already."""
        return replace(self, system=None, examples=(), describe_schema=False)

    def asked_reasoning(self) -> Reasoning | None:
        """Return the `Reasoning` that is asked for, or None."""
        if isinstance(self.reasoning, str):
            return Reasoning(family=self.reasoning)
        if isinstance(self.reasoning, Reasoning):
            return self.reasoning
        return Reasoning() if self.reasoning else None


def _is_stop(text: object) -> bool:
    """Return whether an object is a text that an answer can have: not empty, and without half of a surrogate pair."""
    return isinstance(text, str) and bool(text) and not any("\ud800" <= letter <= "\udfff" for letter in text)


# Arguments of the chat template that structgen or the tokenizer sets.
_OWN_VARIABLES = ("add_generation_prompt", "messages", "return_dict", "tokenize", "tools")


def _check_template(template: Any) -> None:
    if not isinstance(template, Mapping) or not all(isinstance(name, str) for name in template):
        raise TypeError(f"template must map names of variables to values, not {template!r}")
    for name in _OWN_VARIABLES:
        if name in template:
            hint = "; structgen.call takes tools" if name == "tools" else ""
            raise ValueError(f"template cannot set {name!r}, which structgen sets itself{hint}")


OPTION_DEFAULTS: Mapping[str, Any] = {
    **defaults_of(Settings),
    **SCHEMA_DEFAULTS,
    **LOCAL_READING,
    "tokenization": "any",
}
"""The defaults of `GeneratorOptions`, as signatures show them. A server writes JSON as it chooses."""

CALL_DEFAULTS: Mapping[str, Any] = {**OPTION_DEFAULTS, "on_budget": "error", "max_repeats": None}
"""The defaults of `CallOptions`."""

BATCH_SIZE = 16
"""The default number of rows that a model reads together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """The marks of a model's reasoning, and its budget.

    Marks that are not given are those of `family`. Without a family, they are found from the model's chat template;
    where the template has none of the known marks, or some marks are given, the others are those of "qwen".

    Attributes:
        family: "qwen" (`<think>`), "deepseek_r1", "deepseek_v3_1", "gemma", "harmony" (gpt-oss), "mistral", "cohere" or
            another of `structgen.generation.reasoning_marks.MARKS`.
        start: opens the reasoning. It is written after the prompt, unless the chat template ends the prompt with it. If
            there are several, the first is written, and the prompt may end with any.
        end: closes the reasoning. The model writes it; or it is written where the model ends its turn or the budget is
            used up. If there are several, the model may write any, and the first is written for it.
        after: written between the end mark and the answer, as the model was trained.
        max_tokens: the budget of the reasoning in tokens, without the marks.

    Example:
        >>> Reasoning(start="<reasoning>", end="</reasoning>", max_tokens=200).marks(None).end
        ('</reasoning>',)
        >>> Reasoning(family="gemma").marks(None).end
        ('<channel|>',)
    """

    family: str | None = None
    start: str | Sequence[str] | None = None
    end: str | Sequence[str] | None = None
    after: str | None = None
    max_tokens: int = 1024

    def __post_init__(self) -> None:
        if self.family is not None and self.family not in MARKS:
            raise ValueError(f"there are no reasoning marks called {self.family!r}: known are {', '.join(MARKS)}")
        if self.end is not None and (not self.end or not all(_as_tuple(self.end))):
            raise ValueError("the end mark of a reasoning must not be empty")
        if not isinstance(self.max_tokens, int) or self.max_tokens < 0:
            raise ValueError(f"max_tokens must be a whole number >= 0, not {self.max_tokens!r}")

    def marks(self, chat_template: str | None) -> Marks:
        """Return the marks for a model.

        Args:
            chat_template: the model's chat template; None without one.
        """
        is_own = self.start is not None or self.end is not None
        known = MARKS[self.family or "qwen"] if self.family or is_own else marks_of(chat_template) or MARKS["qwen"]
        return Marks(
            known.start if self.start is None else _as_tuple(self.start),
            known.end if self.end is None else _as_tuple(self.end),
            known.after if self.after is None else self.after,
            known.answer if self.after is None else "",
        )

    def grammar(
        self,
        answer: Any,
        *,
        chat_template: str | None = None,
        vocabulary: Vocabulary | None = None,
        opened: bool = False,
    ) -> Grammar:
        r"""Return the grammar of a whole text: the reasoning with its marks, and then the answer.

        Functions that run a model do not need it. It is for other engines, by `structgen.export`, and for `check`. The
        grammar does not count tokens: `max_tokens` has no effect on it.

        Args:
            answer: what `structgen.compile` accepts: a type, a JSON Schema, a grammar.
            chat_template: the model's chat template, which decides about marks that are not given.
            vocabulary: says which marks are tokens without text; these become token terminals.
            opened: whether the prompt ends with the start mark already, so that the text begins after it.

        Example:
            >>> import structgen
            >>> grammar = Reasoning(family="glm").grammar({"type": "boolean"})
            >>> print(structgen.export(grammar, "kbnf"), end="")
            start ::= reasoning answer;
            answer ::= 'false' | 'true';
            reasoning ::= ('<think>' #ex'</think>'? '</think>') '\n';
        """
        marks = self.marks(chat_template)
        begin, after = "" if opened else marks.start[0], marks.after + marks.answer
        thoughts = {"type": "tag", "begin": begin, "content": {"type": "any_text"}, "end": list(marks.end)}
        elements = [thoughts, {"type": "const_string", "value": after}] if after else [thoughts]
        whole = {"type": "sequence", "elements": elements}
        tag = Grammar.structural_tag({"type": "structural_tag", "format": whole}, vocabulary=vocabulary)
        bound = {"reasoning": tag, "answer": answer}
        return Grammar.kbnf("start ::= reasoning answer;", eager=False, bind=bound)


def _as_tuple(texts: str | Sequence[str]) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else tuple(texts)
