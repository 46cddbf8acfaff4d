"""Batches of sessions for any local model: its own batch, or its sequences one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from structgen.errors import ModelError
from structgen.models.base import AnyModel, Model, Session, SessionBatch

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

__all__ = ["read_together", "session_batch_of"]


def session_batch_of(model: AnyModel) -> SessionBatch:
    """Return the sessions of a batch: the model's own batch, or one sequence after the other.

    Args:
        model: a local model.
    """
    make = getattr(model, "session_batch", None)
    made: SessionBatch | None = make() if make is not None else None
    return made or _OneByOne(cast(Model, model))


def read_together(
    batch: SessionBatch, requests: Sequence[tuple[Any, Sequence[int], int]]
) -> Sequence[NDArray[float32] | Exception]:
    """Return the logits, or the error, of each request; see `SessionBatch.forward`.

    Args:
        batch: the sessions of the requests are its own.
        requests: what each of them reads.

    Raises:
        ModelError: the batch did not answer all requests.
    """
    given = batch.forward(requests)
    count = sum(one is not None for one in given)
    if count != len(requests) or len(given) != count:
        raise ModelError(
            f"the model's batch returned logits of {count} sequences for {len(requests)} requests",
            hint="`SessionBatch.forward` returns logits, or an error, for each request",
        )
    return given


class _OneByOne:
    """A `SessionBatch` for a model that reads one sequence at a time."""

    keeps_unnamed = True

    def __init__(self, model: Model) -> None:
        self.session = model.session

    def forward(self, requests: Sequence[tuple[Session, Sequence[int], int]]) -> list[NDArray[float32] | Exception]:
        return [_logits_or_error(*request) for request in requests]


def _logits_or_error(session: Session, token_ids: Sequence[int], keep: int) -> NDArray[float32] | Exception:
    try:
        return session.forward(token_ids, keep=keep)
    except Exception as error:
        return error
