"""`batch`: prompts that the model reads together; when an answer is done its row leaves, and the next prompt joins."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from structgen.generation.runs import Result, Run
from structgen.models.base import Server

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from structgen.models.base import AnyModel, Model, Session, SessionBatch

__all__ = ["run_batch", "with_progress"]

T = TypeVar("T")

Beginning: TypeAlias = "Callable[[Callable[[], Session] | None], Run[Any]]"
"""Begins a run, with what makes it sessions; None for those of a server, which have their own."""


def run_batch(
    model: AnyModel,
    beginnings: Iterable[tuple[int, Beginning]],
    *,
    batch_size: int,
    cancelled: threading.Event | None = None,
) -> Iterator[tuple[int, Result[Any] | Exception]]:
    """Runs of one model, side by side.

    Args:
        model: reads for all of them.
        beginnings: for each row its number, and what begins its run with sessions of the batch; taken when there is
            room.
        batch_size: rows at a time.
        cancelled: tells that nobody waits for them any more: the passes under way are the last.

    Yields:
        The rows' numbers with what became of them, as they finish.

    Raises:
        ValueError: no room for any row.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, not {batch_size!r}")
    waiting = iter(beginnings)
    cancelled = cancelled or threading.Event()
    if isinstance(model, Server):
        yield from _in_threads(waiting, batch_size, cancelled)
        return
    sessions = _sessions(model)
    rows: dict[int, Run[Any]] = {}
    while not cancelled.is_set():
        joining = list(itertools.islice(waiting, batch_size - len(rows)))
        for index, begin in joining:
            try:
                rows[index] = begin(sessions.session)
            except Exception as error:
                yield index, error
        if not rows and not joining:
            return
        yield from _pass(sessions, rows)


def _pass(sessions: SessionBatch, rows: dict[int, Run[Any]]) -> Iterator[tuple[int, Result[Any] | Exception]]:
    """One pass of the model over all rows; those that are done leave."""
    requests = {}
    for index, run in list(rows.items()):
        try:
            request = run.request()
        except Exception as error:
            del rows[index]
            yield index, error
            continue
        if request is None:
            del rows[index]
            yield index, cast(Result[Any], run.result)
        else:
            requests[index] = (run.session, request.token_ids, request.keep)
    if not requests:
        return
    given: Sequence[NDArray[float32] | Exception]
    try:
        given = sessions.forward(list(requests.values()))
    except Exception as error:  # of the whole pass: nobody knows what each sequence holds now
        given = [error] * len(requests)
    for index, logits in zip(requests, given):
        try:
            if isinstance(logits, Exception):
                raise logits
            rows[index].take(logits)
        except Exception as error:
            del rows[index]
            yield index, error


class _OneByOne:
    """The batch of a model that reads one sequence at a time."""

    def __init__(self, model: Model) -> None:
        self.session = model.session

    def forward(self, requests: Sequence[tuple[Session, Sequence[int], int]]) -> list[NDArray[float32] | Exception]:
        return [_logits_or_error(*request) for request in requests]


def _logits_or_error(session: Session, token_ids: Sequence[int], keep: int) -> NDArray[float32] | Exception:
    try:
        return session.forward(token_ids, keep=keep)
    except Exception as error:
        return error


def _in_threads(
    beginnings: Iterator[tuple[int, Beginning]], batch_size: int, cancelled: threading.Event
) -> Iterator[tuple[int, Result[Any] | Exception]]:
    """Runs that a server answers, each in a thread."""
    under_way: dict[Future[Result[Any] | Exception], int] = {}

    def outcome(begin: Beginning) -> Result[Any] | Exception:
        try:
            return begin(None).to_end(cancelled)
        except Exception as error:
            return error

    with ThreadPoolExecutor(batch_size) as pool:
        try:
            while not cancelled.is_set():
                for index, begin in itertools.islice(beginnings, batch_size - len(under_way)):
                    under_way[pool.submit(outcome, begin)] = index
                if not under_way:
                    return
                for done in wait(under_way, return_when=FIRST_COMPLETED).done:
                    yield under_way.pop(done), done.result()
        finally:
            cancelled.set()


def _sessions(model: AnyModel) -> SessionBatch:
    """Where the rows of a batch are read."""
    make = getattr(model, "session_batch", None)
    made: SessionBatch | None = make() if make is not None else None
    return made or _OneByOne(cast("Model", model))


def with_progress(outcomes: Iterable[T], count: int, *, done: int = 0) -> Iterator[T]:
    """The same, with a progress bar on stderr; so many of all are done already."""
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise ImportError("a progress bar needs tqdm: pip install tqdm") from error
    yield from tqdm(outcomes, total=count, initial=done, unit="row", smoothing=0)
