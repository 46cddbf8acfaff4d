"""`compile`: from a schema, a type or a grammar to a `Constraint`. Compiled grammars are cached by content.

    compile(Person, vocabulary)
      1. compile_input      Person -> CompileInput: a key, a function that makes the rules, a reader of texts
      2. CompileCache.get   key, vocabulary, limits -> CompiledGrammar, made only once
      3. Constraint         the compiled grammar with its input

With `tokenization="proper"` the grammar is narrowed to the texts that the tokenizer can spell, before step 2.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast, overload

from structgen.compilation.cache import CompileCache, estimated_bytes
from structgen.compilation.common_tables import make_common_tables
from structgen.compilation.constraint import Constraint, Tokenization
from structgen.compilation.inputs import (
    CompileInput,
    as_grammar,
    from_grammar,
    from_json_lines,
    from_parameters,
    from_source,
)
from structgen.engine.automata.eager import build_automata
from structgen.engine.deadlines import Deadline
from structgen.engine.fork_safety import call_in_forked
from structgen.engine.garbage_collection import collect_if_due, young_collections
from structgen.engine.grammar.all_terminals import all_terminals
from structgen.engine.grammar.composition import has_text
from structgen.engine.grammar.tables import GrammarTables
from structgen.engine.matching.compiled import CompiledGrammar, Held, SharedState
from structgen.engine.matching.warming import Warm, check_warm, make_warm
from structgen.engine.memory import release_free_memory, release_if_due, release_later
from structgen.engine.vocabulary.vocabulary import Vocabulary, byte_vocabulary
from structgen.errors import GrammarError, LimitExceededError, StructgenError, UnsatisfiableSchemaError, VocabularyError
from structgen.limits import Limits
from structgen.output_types.bound_schemas import BoundSchema
from structgen.output_types.grammar import Grammar
from structgen.output_types.json_lines import JsonLines
from structgen.output_types.parameters import Parameters
from structgen.output_types.template import Template
from structgen.output_types.yaml import Yaml
from structgen.reporting.telemetry import SLOW_SECONDS, Span, logger
from structgen.schema import Source, begins_plainly, begins_with_many_texts, resolve
from structgen.schema.algebra.strings import forget_automata
from structgen.schema.options import SchemaArguments, SchemaOptions, read_options
from structgen.schema.reading.writable import Spelled
from structgen.schema.schema_warnings import said_before, warn
from structgen.schema.signatures import shows_options

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from structgen.compilation.schemas import Format, Texts
    from structgen.tokenization.matching.proper_tokenization import ProperTokenization
    from structgen.tokenization.unspellable.narrowed_terminals import Spellable

__all__ = ["clear_cache", "compile", "compile_input", "json_grammar"]

T = TypeVar("T")

_cache = CompileCache(estimated_bytes)
call_in_forked(_cache.forget_threads)
_DEFAULT_OPTIONS = SchemaOptions()
_DEFAULT_LIMITS = Limits()
_TOO_DEEP = "too many schemas or grammars are within one another"


@dataclass(slots=True)
class CompileCall:
    """The arguments of a call of `structgen.compile`, by which a constraint is compiled again when it is loaded.

    Attributes:
        schema: the schema, type or grammar as it was given.
        tokenization, limits, cache, eager_automata, warm: see `structgen.compile`.
        options: the options for reading the schema, as they were given.
    """

    schema: Any
    tokenization: Tokenization
    limits: Limits
    cache: bool
    eager_automata: bool
    warm: Warm
    options: dict[str, Any]


def clear_cache() -> None:
    """Drop every compiled grammar from the cache; those in use stay usable."""
    _cache.clear()
    release_if_due()


@overload
def compile(
    schema: TypeForm[T],
    vocabulary: Vocabulary,
    *,
    tokenization: Tokenization = ...,
    limits: Limits | None = ...,
    cache: bool = ...,
    eager_automata: bool = ...,
    warm: Warm = ...,
    **options: Unpack[SchemaArguments],
) -> Constraint[T]: ...


@overload
def compile(
    schema: Format[T],
    vocabulary: Vocabulary,
    *,
    tokenization: Tokenization = ...,
    limits: Limits | None = ...,
    cache: bool = ...,
    eager_automata: bool = ...,
    warm: Warm = ...,
    **options: Unpack[SchemaArguments],
) -> Constraint[T]: ...


@overload
def compile(
    schema: Texts,
    vocabulary: Vocabulary,
    *,
    tokenization: Tokenization = ...,
    limits: Limits | None = ...,
    cache: bool = ...,
    eager_automata: bool = ...,
    warm: Warm = ...,
    **options: Unpack[SchemaArguments],
) -> Constraint[str]: ...


@overload
def compile(
    schema: Any,
    vocabulary: Vocabulary,
    *,
    tokenization: Tokenization = ...,
    limits: Limits | None = ...,
    cache: bool = ...,
    eager_automata: bool = ...,
    warm: Warm = ...,
    **options: Unpack[SchemaArguments],
) -> Constraint[Any]: ...


@shows_options()
def compile(
    schema: Any,
    vocabulary: Vocabulary,
    *,
    tokenization: Tokenization = "any",
    limits: Limits | None = None,
    cache: bool = True,
    eager_automata: bool = False,
    warm: Warm = False,
    **options: Unpack[SchemaArguments],
) -> Constraint[Any]:
    """Compile a schema, a type or a grammar for a vocabulary; the same content is compiled once.

    Args:
        schema: a Pydantic model or any type that Pydantic supports, a JSON Schema as a dict, a `Grammar`,
            `json_lines(…)`, `template(…)` or `Grammar.yaml(…)`. A `re.compile(…)` stands for `Grammar.regex`, and a
            list of texts for `Grammar.choice`.
        vocabulary: the tokens of the model.
        tokenization: "proper" allows only the tokens into which the tokenizer itself would split the text, as the model
            has learned to read them; see docs/proper-tokenization.md. The vocabulary must be made by
            `Vocabulary.from_huggingface`.
        limits: bounds on size and time.
        cache: keep the compiled grammar, its automata and its masks, for the next call and for other grammars of the
            vocabulary. With False, nothing is taken from there and nothing is kept: all is freed with the constraint.
            `Limits(mask_bytes=0)` also computes each mask anew.
        eager_automata: build the automata of all terminals now, and not when a text first needs them. All rules of a
            schema are made for that, so a schema with many, such as many properties in any order, may pass
            `grammar_symbols`. Terminals that depend on the text so far, as keys and items that must differ, come later.
        warm: make masks of likely texts ahead of time, so that the first answers need not wait for them. True: for up
            to 0.1 seconds. A number: for up to that many seconds. "background": in a thread, which gives way to models
            and to masks that are needed now; the call returns at once.
        options: see `structgen.schema.options.SchemaArguments`: `format`, `whitespace`, `property_order`,
            `formats`, `draft`, `lenient`, `registry`, `base_uri`. Of grammars, they are for the schemas in them.

    Raises:
        SchemaError: the schema cannot be used; with the JSON pointer of the location.
        GrammarError: the grammar is not valid.
        LimitExceededError: a bound of `limits` was passed.
        VocabularyError: proper tokenization does not support the tokenizer; the message names the part.
        ValueError, TypeError: an option has a value out of its range or type.
        StructgenError: YAML is asked for, and PyYAML is not installed.

    Example:
        >>> vocabulary = structgen.Vocabulary.from_bytes({0: b"1", 1: b"2", 2: b""}, eos_token_ids=[2])
        >>> structgen.compile({"enum": [1, 12]}, vocabulary).matcher().allowed_token_ids()
        [0]
    """
    if isinstance(schema, Vocabulary):
        raise TypeError("the arguments are swapped: compile takes the schema first, then the vocabulary")
    if not isinstance(vocabulary, Vocabulary):
        message = f"vocabulary must be a structgen.Vocabulary, not {type(vocabulary).__name__}"
        raise TypeError(f"{message}: structgen.Vocabulary.from_huggingface(tokenizer), or model.vocabulary, is one")
    if limits is not None and not isinstance(limits, Limits):
        raise TypeError(f"limits must be a structgen.Limits, not {type(limits).__name__}")
    release_if_due()
    checked = read_options(**options) if options else _DEFAULT_OPTIONS
    if warm is not False:
        check_warm(warm)
    given = schema if isinstance(schema, dict) else as_grammar(schema)
    call = CompileCall(given, tokenization, limits or _DEFAULT_LIMITS, cache, eager_automata, warm, dict(options))
    collections = young_collections()
    try:
        constraint = _constraint(call, vocabulary, checked)
        if cache and tokenization == "any" and constraint.is_json:
            make_common_tables(constraint.prepared, vocabulary, call.limits)
        if young_collections() != collections:  # else it has made few objects, or was in the cache
            collect_if_due()
        if warm:
            make_warm(constraint.grammar, warm)
        return constraint
    except LimitExceededError as error:
        release_later()
        if error.limit != "memory_bytes":
            raise
        passed = error.with_traceback(None)  # the frames of the traceback hold what the compile has made
    except (StructgenError, TypeError, ValueError):
        raise
    except BaseException as error:  # such as KeyboardInterrupt and MemoryError: a table may be half written
        SharedState.drop_all(vocabulary, call.limits)
        forget_automata()
        if isinstance(error, RecursionError):
            depth = call.limits.schema_depth
            raise LimitExceededError("schema_depth", depth, message=_TOO_DEEP, is_fixed=True) from error
        raise
    passed.__context__ = None
    SharedState.drop_all(vocabulary, call.limits)
    release_free_memory()
    raise passed


def _constraint(call: CompileCall, vocabulary: Vocabulary, checked: SchemaOptions) -> Constraint[Any]:
    """Return the constraint of a call of `compile` whose options were checked."""
    schema, tokenization, limits, cache = call.schema, call.tokenization, call.limits, call.cache
    if tokenization == "proper" and (checked.format == "yaml" or isinstance(schema, Yaml)):
        raise ValueError("tokenization='proper' is for JSON and grammars, not for YAML")
    with Deadline(limits.compile_seconds, memory_bytes=limits.memory_bytes) as deadline:
        proper = None if tokenization == "any" else _proper(tokenization, vocabulary)
        spellable = None if proper is None else proper.spelling.spellable
        prepared = compile_input(schema, checked, limits, cache=cache)
        if proper is not None:
            from structgen.tokenization.unspellable.named_texts import named_texts

            source = prepared.source or prepared.line
            if source is not None:
                proper.spelling.check_separators(checked.whitespace, prepared.line is not None)
            proper.spelling.check_texts(named_texts(schema, source))
        compiled = _compiled(
            prepared,
            vocabulary,
            limits,
            spellable,
            cache=cache,
            eager_automata=call.eager_automata,
            deadline=deadline,
        )
        if proper is not None and compiled.counts_tokens:
            raise GrammarError(
                "'max_tokens' cannot be combined with tokenization='proper'",
                hint="bound the characters of the rule, as in /.{0,200}/",
            )
        if proper is not None and compiled.has_marks:
            proper.check_token_terminals(compiled.tables.marks)
        if proper is not None:
            from structgen.tokenization.matching.proper_matcher import prepare

            prepare(compiled, proper)
    stored = partial(_stored, call, prepared, vocabulary)
    return Constraint(compiled, prepared, proper=proper, stored=stored, given=schema, options=call.options)


def _compile_again(call: CompileCall, vocabulary: Vocabulary) -> Constraint[Any]:
    """Return the constraint of a call of `compile`; for pickle."""
    options = cast(SchemaArguments, call.options)
    return compile(
        call.schema,
        vocabulary,
        tokenization=call.tokenization,
        limits=call.limits,
        cache=call.cache,
        eager_automata=call.eager_automata,
        warm=call.warm,
        **options,
    )


def _stored(call: CompileCall, prepared: CompileInput, vocabulary: Vocabulary) -> tuple[Any, ...]:
    """Return what pickle stores of a constraint.

    Raises:
        TypeError: the schema is a dict that was changed, so it would be compiled to other rules.
    """
    if not isinstance(call.schema, Grammar):
        options = SchemaOptions(**cast(SchemaArguments, call.options))
        try:
            key = compile_input(call.schema, options, call.limits, cache=call.cache).key
        except StructgenError:
            key = None
        if key != prepared.key:
            raise TypeError("the schema was changed after structgen.compile; compile it again before pickling")
    return _compile_again, (call, vocabulary)


def compile_input(given: Any, options: SchemaOptions, limits: Limits, *, cache: bool = True) -> CompileInput:
    """Return the compile input of anything that `compile` accepts; nothing is translated yet.

    Args:
        given: a `Grammar`, `json_lines(…)`, `template(…)`, or anything that `structgen.schema.resolve` accepts.
        options: how schemas are read.
        limits: bounds; named in errors.
        cache: see `compile`; for the holes of a template, which are compiled to read a text.

    Raises:
        SchemaError, LimitExceededError: see `structgen.schema.resolve`.
    """
    if isinstance(given, dict):
        return from_source(resolve(given, limits=limits, options=options), limits)
    given = as_grammar(given)
    if isinstance(given, Yaml):
        return from_source(resolve(given.schema, limits=limits, options=replace(options, format="yaml")), limits)
    if isinstance(given, (Grammar, Template)) and options.format == "yaml":
        raise ValueError(f"format='yaml' is for schemas, not for a {type(given).__name__}")
    if isinstance(given, Grammar):

        def of_schema(bound: BoundSchema) -> CompileInput:
            part = replace(bound.schema, eager=False) if isinstance(bound.schema, Grammar) else bound.schema
            return compile_input(part, replace(options, **bound.options), limits, cache=cache)

        def compile_part(part: Grammar) -> CompiledGrammar:
            with said_before():
                return _compiled(from_grammar(part, of_schema), byte_vocabulary(), limits, cache=cache)

        return from_grammar(given, of_schema, compile_part)
    if isinstance(given, Parameters):
        return from_parameters(given, options, limits)
    if isinstance(given, JsonLines):
        return from_json_lines(given, options, limits)
    if isinstance(given, Template):
        from structgen.compilation.template_rules import from_template  # only templates need it

        def compile_hole(part: CompileInput) -> CompiledGrammar:
            with said_before():
                return _compiled(part, byte_vocabulary(), limits, cache=cache)

        return from_template(
            given,
            options,
            limits,
            make_input=lambda part: compile_input(part, options, limits, cache=cache),
            compile_part=compile_hole,
        )
    return from_source(resolve(given, limits=limits, options=options), limits)


def json_grammar(source: Source) -> CompiledGrammar:
    """Return the grammar of a schema's values as JSON, over bytes. Examples in YAML are first written in it."""
    options = replace(source.options, format="json", whitespace="single", numbers="any")
    with said_before():
        prepared = from_source(replace(source, options=options), _DEFAULT_LIMITS)
        return _compiled(prepared, byte_vocabulary(), _DEFAULT_LIMITS)


def _compiled(
    prepared: CompileInput,
    vocabulary: Vocabulary,
    limits: Limits,
    spellable: Spellable | None = None,
    *,
    cache: bool = True,
    eager_automata: bool = False,
    deadline: Deadline | None = None,
) -> CompiledGrammar:
    """Return the compiled grammar of an input, from the cache if it is there.

    Args:
        prepared: a schema, a grammar or another format.
        vocabulary: the tokens.
        limits: bounds.
        spellable: removes the texts that a tokenizer cannot spell.
        cache: see `compile`.
        eager_automata: see `compile`.
        deadline: the running one; by default one of `limits.compile_seconds` starts now.
    """
    if not cache:
        vocabulary = vocabulary.detached()

    def make_and_log() -> CompiledGrammar:
        span = Span("structgen.compile")
        try:
            made = make()
        except Exception as error:
            logger.info("compiling failed after %.3f s: %s", span.seconds, type(error).__name__)
            span.end({}, error=error)
            raise
        seconds = span.seconds
        level = logging.INFO if seconds > SLOW_SECONDS else logging.DEBUG
        if logger.isEnabledFor(level):
            logger.log(level, "compiled a grammar in %.3f s, for %d tokens", seconds, vocabulary.size)
        span.end({"structgen.vocabulary_size": vocabulary.size})
        return made

    def make() -> CompiledGrammar:
        running = deadline or Deadline(limits.compile_seconds)
        tables, narrowed = _tables(prepared, vocabulary, limits, running, spellable)
        made = CompiledGrammar(narrowed, vocabulary, eager=prepared.eager, limits=limits, may_move=spellable is None)
        if eager_automata:
            again = Deadline(limits.compile_seconds)
            with Held(made):
                build_automata(made.shared.automata, all_terminals(narrowed, limits, again), again)
        # A grammar with look-aheads is usually that of a programming language. Many terminals may begin its texts, so
        # its first mask takes longer than most, but little time beside the compile.
        if begins_plainly(tables) or tables.lookaheads:
            made.prepare()
        elif begins_with_many_texts(tables):
            made.prepare_start()
        made.origin = prepared.origin
        return made

    if not cache:
        return make_and_log()
    key = (prepared.key, vocabulary.fingerprint, limits, spellable, eager_automata)
    return _cache.get(key, make_and_log, max_bytes=limits.cache_bytes)


def _tables(
    prepared: CompileInput,
    vocabulary: Vocabulary,
    limits: Limits,
    deadline: Deadline,
    spellable: Spellable | None,
) -> tuple[GrammarTables, GrammarTables]:
    """Return the tables of an input, and those without the texts that a tokenizer cannot spell.

    The arguments are those of `_compiled`. Without `spellable`, both tables are the same object.

    Raises:
        VocabularyError: the tokenizer can spell no text.
        SchemaError, GrammarError: there is no text, whatever the tokenizer.
    """
    is_empty = SharedState.of(vocabulary).is_empty(vocabulary, limits)
    narrowed = None if spellable is None else Spelled(spellable.terminal)
    what = "text of the grammar"
    try:
        tables = prepared.tables(limits, deadline, is_empty, narrowed, vocabulary)
        without_unspellable = tables if spellable is None else spellable.tables(tables, limits)
        if narrowed is None or without_unspellable.accepts_empty or has_text(without_unspellable):
            if narrowed is not None and narrowed.lost:
                warn(f"the tokenizer cannot spell {narrowed.shown()}: what needs it is left out")
            return tables, without_unspellable
        cause, reason = None, ""
    except (UnsatisfiableSchemaError, GrammarError) as error:
        if narrowed is None:
            raise
        cause, reason = error, str(error)
        if isinstance(error, UnsatisfiableSchemaError):
            what, reason = f"value of the schema (at #{error.pointer})", ""
    # Raises if the input itself is to blame.
    prepared.tables(limits, Deadline(limits.compile_seconds), is_empty, None, vocabulary)
    if narrowed is not None and narrowed.lost:
        reason = f"it cannot spell {narrowed.shown()}"
    raise VocabularyError(
        f"the tokenizer can spell no {what}" + (reason and f": {reason}"),
        hint="tokenization='any' writes it with any tokens of the vocabulary",
    ) from cause


def _proper(tokenization: Tokenization, vocabulary: Vocabulary) -> ProperTokenization:
    if tokenization != "proper":
        raise ValueError(f'tokenization must be "any" or "proper", not {tokenization!r}')
    from structgen.tokenization.matching.proper_tokenization import ProperTokenization  # only "proper" needs it

    return ProperTokenization.of(vocabulary)
