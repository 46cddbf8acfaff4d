"""Compiles requests of a server: for the model's tokens, off the thread that makes tokens, each within the limits.

A request goes through three threads:

    before a request is queued   `check`: the same compile over single bytes, within `check_seconds`
    in a thread for compiles     `RequestCompiler.sequence`: the real compile, and the first mask
    in the thread of the engine  `ServedSequence`: masks, most of them look-ups

An error of the first two is the answer to this request. Other requests go on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from structgen.compilation.budget import Budget, open_budget
from structgen.compilation.compiler import compile
from structgen.compilation.constraint import Constraint
from structgen.compilation.repetition import RepetitionGuard
from structgen.engine.deadlines import Deadline
from structgen.engine.matching.matcher import Matcher
from structgen.engine.matching.rests import shortest_rest
from structgen.engine.vocabulary.bitmask import allocate_token_bitmask
from structgen.engine.vocabulary.vocabulary import Vocabulary, byte_vocabulary
from structgen.errors import GrammarError, IncompleteOutputError, LimitExceededError, SchemaError
from structgen.integrations.serving.requests import Kind, Requested, read
from structgen.integrations.serving.sequence import ServedSequence
from structgen.integrations.serving.settings import ServerSettings
from structgen.kbnf.tokens import has_tokens
from structgen.limits import Limits
from structgen.output_types.grammar import Grammar

__all__ = ["RequestCompiler", "check", "check_requested", "end_tokens", "read_within", "readable_tokenizer"]


def read_within(
    kind: Kind, given: Any, settings: ServerSettings, limits: Limits, vocabulary: Vocabulary | None = None
) -> Requested:
    """Read a request within the limits of the server. `limits` are those of this step.

    Raises:
        SchemaError, GrammarError, LimitExceededError: it cannot be used, or is too large.
    """
    if isinstance(given, str) and len(given) > settings.max_request_bytes:
        message = f"the {kind} has {len(given):,} characters; this server reads {settings.max_request_bytes:,}"
        hint = "STRUCTGEN_MAX_REQUEST_BYTES sets this bound"
        raise SchemaError(message, pointer="", hint=hint) if kind == "json" else GrammarError(message, hint=hint)
    try:
        with Deadline(limits.compile_seconds, memory_bytes=limits.memory_bytes):
            return read(kind, given, vocabulary, limits)
    except RecursionError as error:
        raise GrammarError(f"the {kind} nests too deep") from error


def check(kind: Kind, given: Any, settings: ServerSettings) -> None:
    """Check a request before it is queued, in a fraction of a second.

    A request that takes longer passes: the compile decides, and its error ends this request only.

    Args:
        kind: the field of the request.
        given: its value.
        settings: the server's.

    Raises:
        SchemaError, GrammarError: the request cannot be used; the message names the location.
        LimitExceededError: it is too large.
    """
    limits = replace(settings.limits, compile_seconds=settings.check_seconds)
    try:
        requested = read_within(kind, given, settings, limits)
    except LimitExceededError as error:
        _raise_sizes(error)
    else:
        check_requested(requested, settings)


def check_requested(requested: Requested, settings: ServerSettings) -> None:
    """Check a request that was read; see `check`."""
    if _names_tokens(requested):
        return  # which tokens these are is known when it is compiled
    limits = replace(settings.limits, compile_seconds=settings.check_seconds)
    options: Any = {**settings.options, **requested.options, "tokenization": "any"}
    try:
        compile(requested.schema, byte_vocabulary(), limits=limits, **options)
    except LimitExceededError as error:
        _raise_sizes(error)


def _names_tokens(requested: Requested) -> bool:
    """Return whether a request is a grammar that names tokens."""
    return isinstance(requested.schema, Grammar) and has_tokens(requested.schema.tree)


def _raise_sizes(error: LimitExceededError) -> None:
    """Raise the error of a bound on sizes. With more time the compile may succeed."""
    if error.limit not in ("compile_seconds", "mask_seconds"):
        raise error


class RequestCompiler:
    """Compiles the requests of one engine. Threads may share it.

    Args:
        tokenizer: the model's, as `Vocabulary.from_huggingface` takes it.
        vocab_size: the width of the model's logits.
        eos_token_ids: the model's end tokens; the tokenizer's own is always one.
        settings: the server's.
    """

    def __init__(self, tokenizer: Any, vocab_size: int, eos_token_ids: Iterable[int], settings: ServerSettings) -> None:
        self._tokenizer = tokenizer
        self._vocab_size = vocab_size
        self._eos_token_ids = tuple(eos_token_ids)
        self._settings = settings

    def vocabulary(self, stop_token_ids: Iterable[int] = ()) -> Vocabulary:
        """Return the model's tokens, where a request has end tokens of its own.

        An end token is allowed only where the text may end, also if it stands for text.

        Args:
            stop_token_ids: the request's end tokens; ids that the model does not have are ignored.
        """
        more = sorted(token for token in set(stop_token_ids) if 0 <= token < self._vocab_size)
        ends = tuple(dict.fromkeys([*self._eos_token_ids, *more]))
        return Vocabulary.from_huggingface(self._tokenizer, vocab_size=self._vocab_size, eos_token_ids=ends)

    def check_budget(self, kind: Kind, given: Any, max_tokens: int) -> None:
        """Check before a request is queued that its budget is large enough for the shortest text; see `check`.

        Where this is not known within `check_seconds`, the request passes, and the compile decides.

        Raises:
            IncompleteOutputError: it is not.
        """
        settings = self._settings
        limits = replace(settings.limits, compile_seconds=settings.check_seconds)
        try:
            requested = read_within(kind, given, settings, limits)
            options: Any = {**settings.options, **requested.options}
            if not _names_tokens(requested):
                texts = compile(requested.schema, byte_vocabulary(), limits=limits, **options | {"tokenization": "any"})
                rest = shortest_rest(texts.matcher())
                if rest is None or len(rest.text) < max_tokens:  # a token has one byte or more
                    return
            constraint = compile(requested.schema, self.vocabulary(), limits=limits, **options)
            _budget(constraint, constraint.matcher(), max_tokens)
        except LimitExceededError:
            return

    def sequence(
        self,
        kind: Kind,
        given: Any,
        stop_token_ids: Iterable[int] = (),
        prompt_ids: Iterable[int] = (),
        max_tokens: int | None = None,
    ) -> ServedSequence:
        """Compile a request, compute its first mask, and return the state of a sequence at its start.

        Args:
            kind: the field of the request.
            given: its value.
            stop_token_ids: the request's end tokens, besides the model's.
            prompt_ids: the prompt, for `tokenization="proper"`, where the engine tells it.
            max_tokens: the budget of the text, for `on_budget="finish"`, where the engine tells it.

        Raises:
            StructgenError: the request cannot be used, or passes a limit, or its budget is too small.
        """
        settings, vocabulary = self._settings, self.vocabulary(stop_token_ids)
        requested = read_within(kind, given, settings, settings.limits, vocabulary)
        return self.compiled(requested, vocabulary, prompt_ids, max_tokens)

    def compiled(
        self,
        requested: Requested,
        vocabulary: Vocabulary,
        prompt_ids: Iterable[int] = (),
        max_tokens: int | None = None,
    ) -> ServedSequence:
        """Compile a request that was read; see `sequence`."""
        settings = self._settings
        options: Any = {**settings.options, **requested.options}
        constraint = compile(requested.schema, vocabulary, limits=settings.limits, warm=settings.warm, **options)
        matcher = constraint.matcher(tuple(prompt_ids))
        matcher.fill_next_token_bitmask(allocate_token_bitmask(1, vocabulary.size))
        finishes = settings.on_budget == "finish" and max_tokens is not None
        budget = _budget(constraint, matcher, max_tokens or 0) if finishes else None
        repeats = settings.max_repeats
        guard = RepetitionGuard(repeats) if repeats is not None and constraint.is_json else None
        seconds = settings.slow_masks_seconds
        return ServedSequence(matcher, vocabulary, slow_masks_seconds=seconds, budget=budget, guard=guard)


def _budget(constraint: Constraint[Any], matcher: Matcher, max_tokens: int) -> Budget | None:
    """Return the budget of a text and its end token; of the text alone, if there is no room for an end token.

    Raises:
        IncompleteOutputError: it is smaller than the shortest text.
    """
    is_proper = constraint.tokenization == "proper"
    try:
        return open_budget(matcher, max_tokens - 1, is_proper=is_proper)
    except IncompleteOutputError:
        return open_budget(matcher, max_tokens, is_proper=is_proper, option="max_tokens")


def end_tokens(generation_config: Any) -> list[int]:
    """Return the end tokens of a model's generation config, a dict or None."""
    found = (generation_config or {}).get("eos_token_id")
    return [] if found is None else [found] if isinstance(found, int) else list(found)


def readable_tokenizer(tokenizer: Any) -> Any:
    """Return the tokenizer of mistral-common inside vLLM's wrapper of it, or the tokenizer itself."""
    return getattr(tokenizer, "mistral", tokenizer)
