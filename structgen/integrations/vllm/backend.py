"""The backend of vLLM's structured outputs: its interface, filled by `structgen.integrations.serving`.

It is imported inside vLLM only, by `plugin.py`. The interface is that of `vllm.v1.structured_output.backend_types`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from vllm.exceptions import VLLMValidationError
from vllm.v1.structured_output.backend_types import (
    StructuredOutputBackend,
    StructuredOutputGrammar,
    StructuredOutputOptions,
)
from vllm.v1.structured_output.request import get_structured_output_key

from structgen.errors import StructgenError
from structgen.integrations.serving.compiling import RequestCompiler, check, end_tokens, readable_tokenizer
from structgen.integrations.serving.requests import OPTIONS_KEYWORD, Kind, read_schema
from structgen.integrations.serving.settings import server_settings
from structgen.integrations.vllm.releases import BACKEND
from structgen.reporting.telemetry import logger

if TYPE_CHECKING:
    from structgen.integrations.serving.sequence import ServedSequence

__all__ = ["StructgenBackend", "StructgenGrammar", "check_request"]


MASK_WORD_BITS = 32


def check_request(params: Any, model_config: Any, tokenizer: Any, *, reasons: bool = False) -> None:
    """Check the structured output of a request before vLLM queues it.

    Args:
        params: vLLM's `SamplingParams`, with `structured_outputs`. Its options become a part of the schema.
        model_config: vLLM's.
        tokenizer: vLLM's, or None if it has none.
        reasons: whether the model may reason before the text.

    Raises:
        VLLMValidationError: the request cannot be used; over HTTP this is a 400.
    """
    asked = params.structured_outputs
    if getattr(model_config, "is_diffusion", False):
        raise VLLMValidationError("structured outputs are not for diffusion language models")
    if tokenizer is None:
        raise VLLMValidationError("structured outputs need the tokenizer: do not set skip_tokenizer_init")
    if asked._backend not in (None, BACKEND):
        raise VLLMValidationError(f"this server's backend is {BACKEND!r}; a request cannot choose {asked._backend!r}")
    if asked.json_object is False:
        raise VLLMValidationError("json_object must be true if it is set")
    if asked.whitespace_pattern is not None:
        hint = f'"{OPTIONS_KEYWORD}": {{"whitespace": "single"}} in the schema chooses the white space'
        raise VLLMValidationError(f"structgen has no whitespace_pattern; {hint}")
    try:
        _move_options(asked)
        kind, given = get_structured_output_key(asked)
        check(_KINDS[kind], given, server_settings())
        if server_settings().on_budget == "finish" and params.max_tokens is not None and not reasons:
            compiler = _compiler(model_config, tokenizer, model_config.get_vocab_size())
            compiler.check_budget(_KINDS[kind], given, params.max_tokens)
    except (StructgenError, ValueError, TypeError, RecursionError) as error:
        raise VLLMValidationError(str(error)) from error
    asked._backend = BACKEND


def _compiler(model_config: Any, tokenizer: Any, vocab_size: int) -> RequestCompiler:
    """Return a compiler of requests to a model."""
    ends = end_tokens(model_config.try_get_generation_config())
    return RequestCompiler(readable_tokenizer(tokenizer), vocab_size, ends, server_settings())


def _move_options(asked: Any) -> None:
    """Write the options of a request into its schema: vLLM hands a backend nothing else.

    What vLLM calls `disable_any_whitespace` is `whitespace="compact"` here.
    """
    if not asked.disable_any_whitespace or (asked.json is None and not asked.json_object):
        return
    given: Any = {"type": "object"} if asked.json is None else asked.json
    requested = read_schema(given)
    if isinstance(requested.schema, bool):
        return
    asked.json = {**requested.schema, OPTIONS_KEYWORD: {"whitespace": "compact", **requested.options}}
    asked.json_object = None


_KINDS: dict[StructuredOutputOptions, Kind] = {
    StructuredOutputOptions.JSON: "json",
    StructuredOutputOptions.JSON_OBJECT: "json_object",
    StructuredOutputOptions.REGEX: "regex",
    StructuredOutputOptions.CHOICE: "choice",
    StructuredOutputOptions.GRAMMAR: "grammar",
    StructuredOutputOptions.STRUCTURAL_TAG: "structural_tag",
}


class StructgenGrammar(StructuredOutputGrammar):  # type: ignore[misc]
    """The state of one request.

    Args:
        sequence: at the start of the text.
        goes_on: the request does not stop at end tokens (`ignore_eos`). Nothing but end tokens then follows the text.
    """

    def __init__(self, sequence: ServedSequence, *, goes_on: bool = False) -> None:
        self._sequence = sequence
        self._goes_on = goes_on

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        """Accept tokens. False ends the request with an error. Tokens after an end token are ignored."""
        return self._sequence.accept_all(tokens)

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        """Return the allowed tokens before the first that is refused. The state stays as it is."""
        return self._sequence.accepted_prefix(tokens)

    def rollback(self, num_tokens: int) -> None:
        """Roll back accepted tokens: drafts that the model refused."""
        self._sequence.rollback(num_tokens)

    def fill_bitmask(self, bitmask: torch.Tensor, batch_index: int) -> None:
        """Write which tokens may come next into one row."""
        self._sequence.fill(bitmask, batch_index)

    def is_terminated(self) -> bool:
        """Return whether an end token was read. vLLM then no longer constrains the request."""
        return self._sequence.has_ended and not self._goes_on

    def reset(self) -> None:
        """Go back to the start of the text."""
        self._sequence.reset()


class StructgenBackend(StructuredOutputBackend):  # type: ignore[misc]
    """Compiles the requests of one engine, in threads of vLLM.

    Args:
        vllm_config: vLLM's.
        tokenizer: of the model.
        vocab_size: the width of the model's logits.
    """

    def __init__(self, vllm_config: Any, tokenizer: Any, vocab_size: int) -> None:
        super().__init__(vllm_config, tokenizer, vocab_size)
        self._compiler = _compiler(vllm_config.model_config, tokenizer, vocab_size)

    def compile_grammar(
        self, request_type: StructuredOutputOptions, grammar_spec: str, stop_token_ids: set[int] | None = None
    ) -> StructgenGrammar:
        """Compile a request. An error of structgen ends this request only.

        Args:
            request_type: the kind of the request.
            grammar_spec: the schema, grammar and so on, as text.
            stop_token_ids: the request's end tokens. None is allowed before the text may end.
        """
        kind = _KINDS[request_type]
        return StructgenGrammar(self._compiler.sequence(kind, grammar_spec, stop_token_ids or ()))

    def compile_request(self, request: Any, *, reasons: bool) -> StructgenGrammar:
        """Compile a request of which more is known than its grammar.

        Args:
            request: vLLM's `Request`.
            reasons: whether the model may reason before the text, so that the text does not follow the prompt.
        """
        kind, given = request.structured_output_request.structured_output_key
        params = request.sampling_params
        prompt_ids = () if reasons else request.prompt_token_ids or ()
        try:
            max_tokens = None if reasons else request.max_tokens
            sequence = self._compiler.sequence(_KINDS[kind], given, params.all_stop_token_ids, prompt_ids, max_tokens)
        except StructgenError as error:
            logger.error("structgen: request %s ends with an error: %s", request.request_id, error)
            raise
        return StructgenGrammar(sequence, goes_on=params.ignore_eos)

    def allocate_token_bitmask(self, max_num_seqs: int) -> torch.Tensor:
        """Return a mask that allows everything: int32[max_num_seqs, ceil(V / 32)]."""
        return torch.full((max_num_seqs, -(-self.vocab_size // MASK_WORD_BITS)), -1, dtype=torch.int32)

    def destroy(self) -> None:
        """Drop the compiled grammars."""
        from structgen.compilation.compiler import clear_cache

        clear_cache()
