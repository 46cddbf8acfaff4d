"""Batches: prompts whose answers the model reads together.

When an answer is complete its row leaves, and the next prompt joins. Models without batched passes read one sequence
after the other; servers are asked from threads.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from structgen.generation.runs import Result, Run
from structgen.models.base import AnyModel, Prompt, RemoteModel, Session, SessionBatch
from structgen.models.session_batches import read_together, session_batch_of

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

__all__ = [
    "BatchSettings",
    "BeginRow",
    "Beginning",
    "NewSession",
    "answer_rows",
    "progress_bar",
    "prompt_list",
    "run_batch",
    "with_progress",
]

T = TypeVar("T")

NewSession: TypeAlias = "Callable[[], Session] | None"
"""Makes a session for a run; None for the runs of a server, which have their own."""

Beginning: TypeAlias = Callable[[NewSession], Run[Any]]
"""Begins a run."""

BeginRow: TypeAlias = Callable[[int, NewSession], Run[Any]]
"""Begins the run of a row, by its number."""


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """Settings of a batch.

    Attributes:
        batch_size: the number of rows that the model reads together at most.
        return_exceptions: return an error as the result of its row, instead of raising it.
        progress: show a bar on stderr.
        results: return a `Result` for each row, in place of its value.
    """

    batch_size: int
    return_exceptions: bool
    progress: bool
    results: bool = False

    def check(self) -> None:
        """Check the values.

        Raises:
            ValueError: `batch_size` is less than 1.
        """
        _check_batch_size(self.batch_size)


def _check_batch_size(batch_size: int) -> None:
    if not isinstance(batch_size, int) or batch_size < 1:
        raise ValueError(f"batch_size must be a whole number, at least 1, not {batch_size!r}")


def prompt_list(prompts: Iterable[Prompt]) -> list[Prompt]:
    """Return the prompts as a list.

    Args:
        prompts: texts or lists of messages.

    Raises:
        TypeError: a single prompt was given.
    """
    if isinstance(prompts, (str, bytes, Mapping)):
        raise TypeError("batch takes a list of prompts, not one; for one there is generate")
    if not isinstance(prompts, Iterable):
        raise TypeError(f"batch takes a list of prompts, not {prompts!r}")
    return list(prompts)


def answer_rows(
    model: AnyModel,
    begin_row: BeginRow,
    count: int,
    settings: BatchSettings,
    *,
    cancelled: threading.Event | None = None,
) -> list[Any]:
    """Run all rows of a batch, and return their values or results in order.

    Args:
        model: reads for all rows.
        begin_row: begins the run of a row, by its number.
        count: the number of rows.
        settings: how they are answered.
        cancelled: when set, the batch stops after the pass under way; rows without a value are None then.

    Raises:
        ValueError: `batch_size` is less than 1.
        Exception: the error of the first row that fails, unless `return_exceptions`.
    """
    found: list[Any] = [None] * count
    beginnings = ((index, partial(begin_row, index)) for index in range(count))
    outcomes = run_batch(model, beginnings, batch_size=settings.batch_size, cancelled=cancelled)
    for index, outcome in with_progress(outcomes, count) if settings.progress else outcomes:
        if isinstance(outcome, Exception) and not settings.return_exceptions:
            raise outcome
        found[index] = outcome.value if isinstance(outcome, Result) and not settings.results else outcome
    return found


def run_batch(
    model: AnyModel,
    beginnings: Iterable[tuple[int, Beginning]],
    *,
    batch_size: int,
    cancelled: threading.Event | None = None,
) -> Iterator[tuple[int, Result[Any] | Exception]]:
    """Run the rows of a batch side by side on one model.

    Args:
        model: reads for all rows.
        beginnings: for each row its number, and a function that begins its run with sessions of the batch. The next one
            is taken when there is room.
        batch_size: the number of rows at a time.
        cancelled: when set, the batch stops after the pass under way.

    Yields:
        The rows' numbers with their results or errors, as they finish.

    Raises:
        ValueError: `batch_size` is less than 1.
    """
    _check_batch_size(batch_size)
    waiting = iter(beginnings)
    cancelled = cancelled or threading.Event()
    if isinstance(model, RemoteModel):
        yield from _in_threads(waiting, batch_size, cancelled)
        return
    sessions = session_batch_of(model)
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
    """Run one pass of the model over all rows; remove those that are done."""
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
        given = read_together(sessions, list(requests.values()))
    except Exception as error:  # the whole pass failed: the state of each sequence is unknown now
        given = [error] * len(requests)
    for index, logits in zip(requests, given):
        try:
            if isinstance(logits, Exception):
                raise logits
            rows[index].take(logits)
        except Exception as error:
            del rows[index]
            yield index, error


def _in_threads(
    beginnings: Iterator[tuple[int, Beginning]], batch_size: int, cancelled: threading.Event
) -> Iterator[tuple[int, Result[Any] | Exception]]:
    """Run the rows on a server, each in a thread."""
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


def with_progress(outcomes: Iterable[T], count: int, *, done: int = 0) -> Iterator[T]:
    """Yield the outcomes, and show a progress bar on stderr.

    Args:
        outcomes: one for each row.
        count: the number of all rows.
        done: the number of rows done before.
    """
    bar = progress_bar(count, done=done)
    try:
        for outcome in outcomes:
            yield outcome
            bar.update()
    finally:
        bar.close()


def progress_bar(count: int, *, done: int = 0) -> Any:
    """Return a progress bar on stderr.

    Args:
        count: the number of all rows.
        done: the number of rows done before.

    Raises:
        ImportError: tqdm is not installed.
    """
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("a progress bar needs tqdm: pip install tqdm") from error
    return tqdm(total=count, initial=done, unit="row", smoothing=0)
