"""TensorRT-LLM: logits processors, one for single requests and one for batches.

    SamplingParams(logits_processor=GrammarLogitsProcessor(constraint))
    LLM(…, batched_logits_processor=BatchedGrammarLogitsProcessor(constraint_of))

TensorRT-LLM takes any callable with the signatures of its classes `LogitsProcessor` and `BatchedLogitsProcessor`, which
change the logits in place. It calls them for each step with all tokens of a request, those of the prompt included.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from structgen.errors import StructgenError
from structgen.reporting.telemetry import logger

if TYPE_CHECKING:
    import torch

    from structgen.compilation.constraint import Constraint

__all__ = ["BatchedGrammarLogitsProcessor", "GrammarLogitsProcessor"]


MAX_REQUESTS = 4096  # states that are kept; a request that runs is used at each step, so only old ones are dropped


class GrammarLogitsProcessor:
    """A logits processor for single requests; requests with the same constraint may share it.

    Args:
        constraint: what the texts must be, compiled for the model's vocabulary.

    Example:
        >>> vocabulary = structgen.Vocabulary.from_bytes({0: b"yes", 1: b"no", 2: b""}, eos_token_ids=[2])
        >>> processor = GrammarLogitsProcessor(structgen.compile(structgen.Grammar.choice(["yes", "no"]), vocabulary))
    """

    def __init__(self, constraint: Constraint[Any]) -> None:
        self._requests = _Requests(lambda client_id: constraint)

    def __call__(
        self,
        req_id: int,
        logits: torch.Tensor,
        token_ids: list[list[int]],
        stream_ptr: int | None,
        client_id: int | None,
    ) -> None:
        """Mask the logits of one step, in place.

        Args:
            req_id: the request.
            logits: float[…, beams, V].
            token_ids: the tokens of each beam so far.
            stream_ptr: the CUDA stream of the logits, or None.
            client_id: not used.
        """
        with _on_stream(stream_ptr):
            self._requests.mask(req_id, logits, token_ids, client_id)


class BatchedGrammarLogitsProcessor:
    """A logits processor for all requests of an engine.

    Args:
        constraint_of: returns the constraint of a request by its client id, or None if it has none.
    """

    def __init__(self, constraint_of: Callable[[int | None], Constraint[Any] | None]) -> None:
        self._requests = _Requests(constraint_of)

    def __call__(
        self,
        req_ids: list[int],
        logits: list[torch.Tensor],
        token_ids: list[list[list[int]]],
        stream_ptr: int | None,
        client_ids: list[int | None],
    ) -> None:
        """Mask the logits of one step of several requests, in place; see `GrammarLogitsProcessor`."""
        with _on_stream(stream_ptr):
            for request in zip(req_ids, logits, token_ids, client_ids, strict=True):
                self._requests.mask(*request)


class _Requests:
    """The states of requests, by id."""

    def __init__(self, constraint_of: Callable[[int | None], Constraint[Any] | None]) -> None:
        self._constraint_of = constraint_of
        self._states: OrderedDict[int, tuple[Any, Constraint[Any]] | None] = OrderedDict()

    def mask(self, req_id: int, logits: torch.Tensor, token_ids: list[list[int]], client_id: int | None) -> None:
        if req_id not in self._states:
            constraint = self._constraint_of(client_id)
            self._states[req_id] = None if constraint is None else (constraint.logits_processor(), constraint)
            while len(self._states) > MAX_REQUESTS:
                self._states.popitem(last=False)
        self._states.move_to_end(req_id)
        state = self._states[req_id]
        if state is None:
            return
        import torch

        processor, constraint = state
        rows = logits.view(-1, logits.shape[-1])
        try:
            rows.copy_(processor(torch.tensor(token_ids), rows))
        except StructgenError as error:  # the engine must go on for the other requests
            logger.error("structgen: request %d cannot be masked; its text ends here: %s", req_id, error)
            rows.fill_(float("-inf"))
            rows[:, list(constraint.vocabulary.eos_token_ids)] = 0


def _on_stream(stream_ptr: int | None) -> contextlib.AbstractContextManager[Any]:
    """Return a context in which torch works on a CUDA stream, if there is one."""
    if stream_ptr is None:
        return contextlib.nullcontext()
    import torch

    external: Any = torch.cuda.ExternalStream
    found: contextlib.AbstractContextManager[Any] = torch.cuda.stream(external(stream_ptr))
    return found
