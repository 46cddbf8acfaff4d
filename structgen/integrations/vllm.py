"""Logits processors for vLLM: they mask the rows of requests that ask for it.

    LLM(model=…, logits_processors=["structgen.vllm:GrammarLogitsProcessor"])
    SamplingParams(extra_args={"structgen": {"schema": Person.model_json_schema()}})

Written for vLLM 0.33, which has two interfaces: the one of its model runner V2, the default, and the one of V1, chosen
by `VLLM_USE_V2_MODEL_RUNNER=0` (`GrammarLogitsProcessorV1`). vLLM is imported when one of the classes is first used.
See docs/other-engines.md.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.bitmask import allocate_token_bitmask, apply_token_bitmask
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import StructgenError, TokenRejectedError, VocabularyError
from structgen.output_types.grammar import Grammar

if TYPE_CHECKING:
    import torch

    from structgen.compilation.constraint import Constraint

__all__ = ["GrammarLogitsProcessor", "GrammarLogitsProcessorV1", "read_request"]  # noqa: F822

_ARGUMENT = "structgen"
_GRAMMARS: dict[str, Callable[[str], Grammar]] = {
    "regex": Grammar.regex,
    "kbnf": Grammar.kbnf,
    "gbnf": Grammar.gbnf,
    "lark": Grammar.lark,
}
_OPTIONS = ("format", "whitespace", "numbers", "property_order", "formats", "draft", "lenient")


def read_request(extra_args: dict[str, Any] | None) -> tuple[Any, dict[str, Any]] | None:
    """Read the constraint of a request.

    Args:
        extra_args: the field of vLLM's `SamplingParams`: `{"structgen": {"schema": …}}`, optionally with `format`,
            `whitespace`, `property_order`, `formats`, `draft` and `lenient`; or `{"structgen": {"regex": …}}`; or
            "kbnf", "gbnf" or "lark" with the text of a grammar.

    Returns:
        A schema or a `Grammar`, and the options of the schema; None if the request asks for no constraint.

    Raises:
        ValueError: the request cannot be read. vLLM then refuses it.

    Example:
        >>> read_request({"structgen": {"regex": "[a-z]+"}})
        (Grammar.regex('[a-z]+'), {})
    """
    asked = (extra_args or {}).get(_ARGUMENT)
    if asked is None:
        return None
    kinds = [kind for kind in ("schema", *_GRAMMARS) if isinstance(asked, dict) and kind in asked]
    if len(kinds) != 1:
        raise ValueError(f"extra_args[{_ARGUMENT!r}] must be a dict with one of schema, {', '.join(_GRAMMARS)}")
    options = {name: value for name, value in asked.items() if name != kinds[0]}
    allowed = _OPTIONS if kinds == ["schema"] else ()
    if set(options) - set(allowed):
        raise ValueError(f"extra_args[{_ARGUMENT!r}] has unknown options: {', '.join(set(options) - set(allowed))}")
    value = asked[kinds[0]]
    try:
        if kinds == ["schema"]:
            from structgen.schema import schema_to_rules

            schema_to_rules(value, **options)
            return value, options
        return _GRAMMARS[kinds[0]](value), {}
    except (StructgenError, TypeError) as error:
        raise ValueError(str(error)) from error


class _Request:
    """The state of one request.

    Attributes:
        matcher: the matcher after the output so far. None after the output broke the grammar, because something else
            than the mask chose a token, such as a thinking budget.
        read: the accepted tokens.
    """

    def __init__(self, constraint: Constraint[Any]) -> None:
        self._constraint = constraint
        self._restart()

    def _restart(self) -> None:
        self.matcher: Matcher | None = self._constraint.matcher()
        self.read: list[int] = []

    def take(self, token: int) -> None:
        """Accept one more token."""
        if self.matcher is not None:
            self.matcher = _after(self.matcher, token)
        self.read.append(token)

    def follow(self, tokens: list[int]) -> None:
        """Accept the rest of an output. Start again if vLLM has removed tokens."""
        if self.read != tokens[: len(self.read)]:
            self._restart()
        for token in tokens[len(self.read) :]:
            self.take(token)


def _after(matcher: Matcher, token: int) -> Matcher | None:
    """Return the matcher after one more token, or None if the token is refused."""
    try:
        matcher.accept_token(token)
    except TokenRejectedError:
        return None
    return matcher


class _Grammars:
    """The vocabulary of a vLLM engine, and the masks of its requests."""

    def __init__(self, model_config: Any) -> None:
        from vllm.tokenizers import cached_tokenizer_from_config

        tokenizer = cached_tokenizer_from_config(model_config)
        if tokenizer is None:
            raise ValueError("structgen needs the tokenizer: do not set skip_tokenizer_init")
        ends = (model_config.try_get_generation_config() or {}).get("eos_token_id")
        size = model_config.get_vocab_size()
        self._vocabulary = Vocabulary.from_huggingface(tokenizer, vocab_size=size, eos_token_ids=ends)
        self._mask = allocate_token_bitmask(1, self._vocabulary.size)

    def request(self, params: Any) -> _Request | None:
        """Return the state of a new request; None if it asks for no constraint."""
        from structgen.compilation.compiler import compile

        asked = read_request(params.extra_args)
        if asked is None:
            return None
        schema, options = asked
        return _Request(compile(schema, self._vocabulary, **options))

    def apply(self, logits: torch.Tensor, matchers: dict[int, Matcher]) -> torch.Tensor:
        """Mask rows of logits in place.

        Args:
            logits: float[rows, V].
            matchers: row → its matcher.
        """
        if not matchers:
            return logits
        size = self._vocabulary.size
        if len(self._mask) < len(matchers):
            self._mask = allocate_token_bitmask(len(matchers), size)
        mask = self._mask[: len(matchers)]
        for index, matcher in enumerate(matchers.values()):
            matcher.fill_next_token_bitmask(mask, index)
        rows = list(matchers)
        if rows == list(range(len(logits))):
            self._mask_rows(logits, mask, size)
        else:
            chosen = logits[rows]  # a copy
            self._mask_rows(chosen, mask, size)
            logits[rows] = chosen
        return logits

    @staticmethod
    def _mask_rows(logits: torch.Tensor, mask: np.ndarray[Any, Any], size: int) -> None:
        if logits.shape[1] < size:
            raise VocabularyError(f"got {logits.shape[1]} logits a row, but the vocabulary has {size} tokens")
        logits[:, size:] = float("-inf")
        apply_token_bitmask(logits[:, :size], mask)


class _Validating:
    """The check of the arguments of a request; both interfaces share it."""

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Raise ValueError for a schema or grammar that cannot be used. vLLM then refuses the request."""
        read_request(sampling_params.extra_args)


class _ProcessorV2(_Validating):
    """The processor for model runner V2. A request has a slot; each row of logits belongs to a slot.

    In speculative decoding a request also has a row for each draft token. The tokens before such a row are the
    committed tokens and the draft tokens of the earlier rows.
    """

    def __init__(self, vllm_config: Any, req_states: Any) -> None:
        self._grammars = _Grammars(vllm_config.model_config)
        self._states = req_states
        self._requests: dict[int, _Request] = {}  # by slot

    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        """Take a slot for a request. Return whether its logits will be masked."""
        request = self._grammars.request(sampling_params)
        if request is None:
            self._requests.pop(req_idx, None)
            return False
        self._requests[req_idx] = request
        return True

    def apply(self, logits: torch.Tensor, ctx: Any) -> torch.Tensor:
        """Mask the rows of requests that have a constraint."""
        if not any(int(slot) in self._requests for slot in ctx.idx_mapping_np):
            return logits
        columns = (ctx.expanded_idx_mapping, ctx.expanded_local_pos, ctx.input_ids, ctx.pos)
        rows = zip(*(column[: len(logits)].tolist() for column in columns))  # waits for the device
        matchers: dict[int, Matcher] = {}
        draft: Matcher | None = None
        for row, (slot, local, token, position) in enumerate(rows):
            request = self._requests.get(slot)
            if request is None:
                continue
            if local == 0:
                self._follow(request, slot, token, position)
                draft = request.matcher
            elif draft is not None:
                draft = _after(draft.fork(), token)
            if draft is not None:
                matchers[row] = draft
        return self._grammars.apply(logits, matchers)

    def _follow(self, request: _Request, slot: int, token: int, position: int) -> None:
        """Accept the output of a request up to a position. `token` is the token there, often the only new one."""
        prompt = int(self._states.prompt_len.np[slot])
        count = position + 1 - prompt
        if count == len(request.read) + 1:
            request.take(token)
        elif count != len(request.read) or (count and request.read[-1] != token):
            request.follow(self._states.all_token_ids.gpu[slot, prompt : prompt + count].tolist())


class _ProcessorV1(_Validating):
    """The processor for model runner V1. A request has a row; rows are added, removed and moved between steps."""

    def __init__(self, vllm_config: Any, device: Any, is_pin_memory: bool) -> None:
        self._grammars = _Grammars(vllm_config.model_config)
        self._rows: dict[int, tuple[_Request, list[int]]] = {}  # with the list that vLLM adds the output to

    def is_argmax_invariant(self) -> bool:
        """Return False: the most probable token may be refused."""
        return False

    def update_state(self, batch_update: Any) -> None:
        """Follow the changes of the batch: added, removed and moved rows."""
        if batch_update is None:
            return
        for row in batch_update.removed:
            self._rows.pop(row, None)
        for row, params, _, output in batch_update.added:
            request = self._grammars.request(params)
            if request is None:
                self._rows.pop(row, None)
            else:
                self._rows[row] = (request, output)
        for first, second, direction in batch_update.moved:
            ours, theirs = self._rows.pop(first, None), self._rows.pop(second, None)
            if ours is not None:
                self._rows[second] = ours
            if theirs is not None and direction.name == "SWAP":
                self._rows[first] = theirs

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        """Mask the rows of requests that have a constraint."""
        matchers: dict[int, Matcher] = {}
        for row, (request, output) in sorted(self._rows.items()):
            request.follow(output)
            if request.matcher is not None:
                matchers[row] = request.matcher
        return self._grammars.apply(logits, matchers)


@functools.cache
def _v2() -> type[Any]:
    from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcessor

    return type("GrammarLogitsProcessor", (_ProcessorV2, LogitsProcessor), {"__doc__": _ProcessorV2.__doc__})


@functools.cache
def _v1() -> type[Any]:
    from vllm.v1.sample.logits_processor import LogitsProcessor

    return type("GrammarLogitsProcessorV1", (_ProcessorV1, LogitsProcessor), {"__doc__": _ProcessorV1.__doc__})


def __getattr__(name: str) -> Any:
    """Make one of the two classes on first use. They derive from classes of vLLM."""
    if name == "GrammarLogitsProcessor":
        return _v2()
    if name == "GrammarLogitsProcessorV1":
        return _v1()
    raise AttributeError(f"module 'structgen.integrations.vllm' has no attribute {name!r}")
