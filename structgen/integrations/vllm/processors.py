"""A logits processor for vLLM: it masks the rows of requests that ask for it. The backend is the better way.

    LLM(model=…, logits_processors=["structgen.vllm:GrammarLogitsProcessor"])
    SamplingParams(extra_args={"structgen": {"schema": Person.model_json_schema()}})

vLLM has two model runners, and chooses one by itself. They have different interfaces of logits processors:

              made with                          requests                  masks
    V2        vllm_config, req_states            add_request (by slot)     apply(logits, ctx)
    V1        vllm_config, device, pin_memory    update_state (by row)     apply(logits)

`GrammarLogitsProcessor` has both. A processor can neither refuse a request nor delay it. So where no mask can be made,
it allows end tokens only: the text ends there, is too short, and a line in the log says why. It is never without a
constraint. See docs/vllm.md.
"""

from __future__ import annotations

import copy
import functools
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from structgen.engine.vocabulary.bitmask import allocate_token_bitmask, apply_token_bitmask
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import VocabularyError
from structgen.integrations.serving.compiling import RequestCompiler, end_tokens, readable_tokenizer
from structgen.integrations.serving.requests import Requested
from structgen.integrations.serving.sequence import ServedSequence
from structgen.integrations.serving.settings import server_settings
from structgen.integrations.vllm.arguments import AFTER, read_request, requested_of
from structgen.reporting.telemetry import logger

if TYPE_CHECKING:
    import torch

__all__ = ["GrammarLogitsProcessor", "GrammarLogitsProcessorV1"]  # noqa: F822


COMPILE_THREADS = 4


class _Request:
    """The state of one request.

    Attributes:
        read: the accepted tokens.

    Args:
        compiling: the sequence at its start, or the error of the compile.
        vocabulary: with the end tokens of the request.
        after: the text that ends the model's reasoning; "" if there is none.
    """

    def __init__(self, compiling: Future[ServedSequence], vocabulary: Vocabulary, after: str) -> None:
        self._compiling = compiling
        self._vocabulary = vocabulary
        self._after = after.encode()
        self._sequence: ServedSequence | None = None
        self._begin()

    def _begin(self) -> None:
        self.read: list[int] = []
        self._reasoning: bytes | None = b"" if self._after else None  # the last text of it, while it lasts
        self._is_broken = False

    @property
    def is_free(self) -> bool:
        """True while the model reasons."""
        return self._reasoning is not None

    def take(self, token: int) -> None:
        """Accept one more token."""
        self.read.append(token)
        if self._reasoning is not None:
            reasoning, mark, begun = (self._reasoning + self._vocabulary.shown(token)).partition(self._after)
            self._reasoning = None if mark else reasoning[-len(self._after) :]
            self._take_begun(begun.lstrip())
            return
        sequence = self._ready()
        if not self._is_broken and sequence is not None and not sequence.accept(token):
            self._is_broken = True
            logger.error("structgen: something else than the mask chose token %d; the text ends here", token)

    def _take_begun(self, text: bytes) -> None:
        """Accept the beginning of the text in the token that ends the reasoning; white space there is no part of it."""
        sequence = self._ready() if text else None
        if sequence is not None and not sequence.begin(text):
            self._is_broken = True
            logger.error("structgen: the token that ends the reasoning goes on with %r; the text ends here", text)

    def ahead(self, token: int) -> _Request | None:
        """Return the state after a draft token; None where the grammar refuses it. This state stays as it is."""
        twin = copy.copy(self)
        twin.read = []
        if not self.is_free or self._after in cast(bytes, self._reasoning) + self._vocabulary.shown(token):
            own = self._ready()
            twin._sequence = None if own is None else own.fork()
        if self.is_free:
            twin.take(token)
            return twin
        sequence = twin.state()
        return None if sequence is not None and not sequence.accept(token) else twin

    def follow(self, tokens: list[int]) -> None:
        """Accept the rest of an output. Start again if vLLM has removed tokens."""
        if self.read != tokens[: len(self.read)]:
            if self._sequence is not None:
                self._sequence.reset()
            self._begin()
        for token in tokens[len(self.read) :]:
            self.take(token)

    def state(self) -> ServedSequence | None:
        """Return the sequence; None where only end tokens may come."""
        return None if self._is_broken else self._ready()

    def _ready(self) -> ServedSequence | None:
        """Wait for the compile, which has begun when the request came; its limits bound the time."""
        if self._sequence is None and not self._is_broken:
            try:
                self._sequence = self._compiling.result()
            except Exception as error:  # any fault: the engine must go on for the other requests
                self._is_broken = True
                logger.error("structgen: a request cannot be compiled; its text is empty: %s", error)
        return self._sequence


class _Masks:
    """The compiler of a vLLM engine, and the masks of its requests."""

    def __init__(self, vllm_config: Any) -> None:
        from vllm.tokenizers import cached_tokenizer_from_config

        model_config = vllm_config.model_config
        tokenizer = cached_tokenizer_from_config(model_config)
        if tokenizer is None:
            raise ValueError("structgen needs the tokenizer: do not set skip_tokenizer_init")
        ends = end_tokens(model_config.try_get_generation_config())
        size = model_config.get_vocab_size()
        self._compiler = RequestCompiler(readable_tokenizer(tokenizer), size, ends, server_settings())
        self._vocabulary = self._compiler.vocabulary()
        self._mask = allocate_token_bitmask(1, size)
        self._executor = ThreadPoolExecutor(COMPILE_THREADS, thread_name_prefix="structgen-compile")

    def request(self, params: Any, prompt_ids: Any) -> _Request | None:
        """Return the state of a new request, whose compile has begun; None if it asks for no constraint."""
        requested = requested_of(params.extra_args)
        if requested is None:
            return None
        vocabulary = self._compiler.vocabulary(params.all_stop_token_ids)
        options = dict(requested.options)
        after = options.pop(AFTER, "")
        asked = Requested(requested.schema, options)
        before = () if after else prompt_ids or ()
        return _Request(self._executor.submit(self._compiler.compiled, asked, vocabulary, before), vocabulary, after)

    def apply(self, logits: torch.Tensor, states: dict[int, ServedSequence | None]) -> torch.Tensor:
        """Mask rows of logits in place.

        Args:
            logits: float[rows, V].
            states: row → its sequence; None where only end tokens may come.
        """
        if not states:
            return logits
        size = self._vocabulary.size
        if logits.shape[1] < size:
            raise VocabularyError(f"got {logits.shape[1]} logits a row, but the vocabulary has {size} tokens")
        if len(self._mask) < len(states):
            self._mask = allocate_token_bitmask(len(states), size)
        mask = self._mask[: len(states)]
        for index, state in enumerate(states.values()):
            if state is None:
                self._fill_ends(mask[index])
            else:
                state.fill(mask, index)
        rows = list(states)
        if rows == list(range(len(logits))):
            self._mask_rows(logits, mask)
        else:
            chosen = logits[rows]  # a copy
            self._mask_rows(chosen, mask)
            logits[rows] = chosen
        return logits

    def _fill_ends(self, words: np.ndarray[Any, Any]) -> None:
        words[:] = 0
        for token_id in self._vocabulary.eos_token_ids:
            words[token_id >> 5] |= np.uint32(1 << (token_id & 31))

    def _mask_rows(self, logits: torch.Tensor, mask: np.ndarray[Any, Any]) -> None:
        size = self._vocabulary.size
        logits[:, size:] = float("-inf")
        apply_token_bitmask(logits[:, :size], mask)
        # Where vLLM itself refuses all that the grammar allows (`allowed_token_ids`, `min_tokens`), the text ends. A
        # row without any token would be sampled as if there were no mask.
        is_dead = logits.isneginf().all(dim=1)
        for token_id in self._vocabulary.eos_token_ids[:1]:
            logits[:, token_id] = logits[:, token_id].masked_fill(is_dead, 0.0)


class _Processor:
    """A logits processor with the interfaces of both model runners.

    In V2 a request has a slot, and each row of logits belongs to a slot. In speculative decoding a request also has a
    row for each draft token: the tokens before such a row are the committed ones and the drafts of the earlier rows.
    In V1 a request has a row; rows are added, removed and moved between steps.
    """

    def __init__(self, vllm_config: Any, states: Any, is_pin_memory: bool | None = None) -> None:
        self._masks = _Masks(vllm_config)
        self._states = states  # in V1 the device, which is not needed
        self._by_slot: dict[int, _Request] = {}
        self._by_row: dict[int, tuple[_Request, list[int]]] = {}  # with the list that vLLM adds the output to

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Raise ValueError for a schema or grammar that cannot be used. vLLM then refuses the request."""
        read_request(sampling_params.extra_args)

    def apply(self, logits: torch.Tensor, ctx: Any = None) -> torch.Tensor:
        """Mask the rows of requests that have a constraint."""
        return self._apply_rows(logits) if ctx is None else self._apply_slots(logits, ctx)

    # -- V2 ---------------------------------------------------------------------------------------------------------

    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        """Take a slot for a request. Return whether its logits will be masked."""
        request = self._masks.request(sampling_params, None)
        if request is None:
            self._by_slot.pop(req_idx, None)
            return False
        self._by_slot[req_idx] = request
        return True

    def _apply_slots(self, logits: torch.Tensor, ctx: Any) -> torch.Tensor:
        if not any(int(slot) in self._by_slot for slot in ctx.idx_mapping_np):
            return logits
        columns = (ctx.expanded_idx_mapping, ctx.expanded_local_pos, ctx.input_ids, ctx.pos)
        rows = zip(*(column[: len(logits)].tolist() for column in columns))  # waits for the device
        states: dict[int, ServedSequence | None] = {}
        state: _Request | None = None
        for row, (slot, local, token, position) in enumerate(rows):
            request = self._by_slot.get(slot)
            if request is None:
                continue
            if local == 0:
                self._follow(request, slot, token, position)
                state = request
            elif state is not None:
                state = state.ahead(token)  # a refused draft has no rows after it that count
            if state is not None and not state.is_free:
                states[row] = state.state()
        return self._masks.apply(logits, states)

    def _follow(self, request: _Request, slot: int, token: int, position: int) -> None:
        """Accept the output of a request up to a position. `token` is the token there, often the only new one."""
        prompt = int(self._states.prompt_len.np[slot])
        count = position + 1 - prompt
        if count == len(request.read) + 1:
            request.take(token)
        elif count != len(request.read) or (count and request.read[-1] != token):
            request.follow(self._states.all_token_ids.gpu[slot, prompt : prompt + count].tolist())

    # -- V1 ---------------------------------------------------------------------------------------------------------

    def is_argmax_invariant(self) -> bool:
        """Return False: the most probable token may be refused."""
        return False

    def update_state(self, batch_update: Any) -> None:
        """Follow the changes of the batch: added, removed and moved rows."""
        if batch_update is None:
            return
        for row in batch_update.removed:
            self._by_row.pop(row, None)
        for row, params, prompt, output in batch_update.added:
            request = self._masks.request(params, prompt)
            if request is None:
                self._by_row.pop(row, None)
            else:
                self._by_row[row] = (request, output)
        for first, second, direction in batch_update.moved:
            ours, theirs = self._by_row.pop(first, None), self._by_row.pop(second, None)
            if ours is not None:
                self._by_row[second] = ours
            if theirs is not None and direction.name == "SWAP":
                self._by_row[first] = theirs

    def _apply_rows(self, logits: torch.Tensor) -> torch.Tensor:
        states: dict[int, ServedSequence | None] = {}
        for row, (request, output) in sorted(self._by_row.items()):
            request.follow(output)
            if not request.is_free:
                states[row] = request.state()
        return self._masks.apply(logits, states)


@functools.cache
def _processor_class() -> type[Any]:
    """Return the class, derived from vLLM's classes of both interfaces."""
    from vllm.v1.sample.logits_processor import LogitsProcessor as First
    from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcessor as Second

    return type("GrammarLogitsProcessor", (_Processor, First, Second), {"__doc__": _Processor.__doc__})


def __getattr__(name: str) -> Any:
    """Make the class on first use. `GrammarLogitsProcessorV1` is an older name of it."""
    if name in ("GrammarLogitsProcessor", "GrammarLogitsProcessorV1"):
        return _processor_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
