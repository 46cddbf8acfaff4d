"""Continuous batching: runs in threads of their own, whose sessions share the passes of one model.

A run steps itself, as it does alone. But its session belongs to a `Scheduler`: `forward` waits until the scheduler's
thread reads the tokens, in one pass with those of all other runs that wait. So runs join and leave at any pass, and an
error, a slow mask or a long compile of one run happens in its own thread.

    run 1   ask ──┐         take, mask, ask ──┐
    run 2   ask ──┤                 ask ──────┤      a run that joins
    run 3         │ pass                      │ pass
                  └────▶ logits               └────▶ logits

A pass waits for the runs that read in the pass before, but not for long: a run whose mask takes longer is late. It
keeps its place in the model's cache, and reads with a later pass.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
import time
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar, cast

from structgen.engine.fork_safety import call_in_forked, forkable_lock
from structgen.engine.turns import ModelPasses
from structgen.errors import GenerationError, QueueFullError
from structgen.generation.batches import NewSession
from structgen.generation.runs import in_thread
from structgen.generation.settings import BATCH_SIZE
from structgen.models.base import AnyModel, Model, RemoteModel
from structgen.models.session_batches import read_together, session_batch_of

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from structgen.models.base import Session, SessionBatch

__all__ = ["Scheduler", "SchedulerClosedError", "Seat", "SharedThreads", "in_threads", "run_shared", "scheduler_of"]

T = TypeVar("T")
R = TypeVar("R")

_END = object()  # after the last part of a stream

MAX_STARTING = 8  # runs that are compiled or tokenized while all rows are taken
MIN_GRACE_SECONDS = 0.005  # a pass waits so long for runs that have not asked yet …
MAX_GRACE_SECONDS = 0.04  # … or half the time of a pass, but not longer


class SchedulerClosedError(GenerationError):
    """A run that was refused, because the scheduler is closed."""

    def __init__(self) -> None:
        super().__init__("the scheduler is closed: it takes no more runs")


class _Session:
    """A session whose passes the scheduler runs; a `structgen.models.base.Session`."""

    def __init__(self, seat: Seat, can_crop: bool) -> None:
        self.can_crop = can_crop
        self.inner: Session | None = None  # of the scheduler's batch; made and used by its thread only
        self.cropped = 0  # tokens to remove from it before the next pass
        self.error: Exception | None = None  # of a pass that failed while the run was late: its state is unknown
        self._seat = seat

    def forward(self, token_ids: Sequence[int], *, keep: int = 1) -> NDArray[float32]:
        """Wait for the pass that reads the tokens; see `structgen.models.base.Session.forward`."""
        return self._seat.read(self, token_ids, keep)

    def crop(self, count: int) -> None:
        """Remove the last tokens, before the next pass."""
        self.cropped += count


class Seat:
    """The place of one run in a scheduler. Close it when the run has ended.

    Attributes:
        cancelled: set when the run has to end.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self.cancelled = threading.Event()
        self.asked: tuple[_Session, Sequence[int], int] | None = None  # the tokens to read next
        self.asked_at = 0.0
        self.answer: NDArray[float32] | Exception | None = None
        self.has_row = False
        self.is_late = False  # no pass waits for it, until it asks again
        self.last: _Session | None = None  # the session of the run's last pass
        self._scheduler = scheduler

    def session(self) -> Session:
        """Return a new, empty sequence, whose passes are shared."""
        return _Session(self, self._scheduler.can_crop)

    def read(self, session: _Session, token_ids: Sequence[int], keep: int) -> NDArray[float32]:
        """Wait for the pass that reads tokens, and return their logits.

        Raises:
            CancelledError: the run has to end.
            Exception: the error of this sequence, or of the whole pass.
        """
        return self._scheduler.read(self, session, token_ids, keep)

    def cancel(self) -> None:
        """End the run, after the pass under way."""
        self.cancelled.set()
        self._scheduler.wake()

    def close(self) -> None:
        """Leave the scheduler."""
        self._scheduler.leave(self)


class Scheduler:
    """Runs of one model, each in a thread, whose passes are shared.

    Args:
        model: a local model. If it has no batched passes, it reads one sequence after the other.
        max_rows: the number of sequences that the model reads together at most.
        max_waiting: the number of runs that wait for a thread at most; None for any number.

    Attributes:
        can_crop: whether tokens can be removed from sessions.
        passes: the number of passes so far.
        threads: the threads in which runs step.
    """

    def __init__(self, model: Any, *, max_rows: int = BATCH_SIZE, max_waiting: int | None = None) -> None:
        if max_rows < 1:
            raise ValueError(f"max_rows must be at least 1, not {max_rows!r}")
        self.passes = 0
        self.max_rows = max_rows
        self._model = weakref.ref(model)  # `scheduler_of` keeps a scheduler as long as its model
        self._batch: SessionBatch | None = None  # while there are runs
        self.can_crop = bool(session_batch_of(model).session().can_crop)
        self._max_waiting = max_waiting
        self.threads = ThreadPoolExecutor(max_rows + MAX_STARTING, thread_name_prefix="structgen-run")
        self._changed = threading.Condition()
        self._seats: list[Seat] = []
        self._joining: deque[Seat] = deque()  # those that ask for the first time
        self._first_asked = 0.0  # when the first run asked for the next pass
        self._pass_seconds = 0.0
        self._passed_at = 0.0  # when the last pass ended
        self._is_passing = False
        self._submitted = 0
        self._is_closed = False
        self._cancels = False  # runs that have not begun never do
        self._thread: threading.Thread | None = None
        self._ends = False  # there are no passes after the one under way
        self._passes = ModelPasses()

    @property
    def rows(self) -> int:
        """The number of runs that have a row now."""
        return sum(seat.has_row for seat in self._seats)

    @property
    def waiting(self) -> int:
        """The number of runs that were submitted and have no row yet."""
        return max(0, self._submitted - self.rows)

    def submit(self, work: Callable[[Seat], T], *, seat: Seat | None = None) -> Future[T]:
        """Run a function in a thread, with a seat for its sessions.

        Args:
            work: begins a run with `seat.session`, and steps it. The seat is closed after it.
            seat: the place of the run; by default a new one.

        Raises:
            QueueFullError: too many runs wait.
            SchedulerClosedError: the scheduler is closed.
        """
        with self._changed:
            if self._is_closed:
                raise SchedulerClosedError
            if self._max_waiting is not None and self._submitted >= self.max_rows + self._max_waiting:
                raise QueueFullError(self._max_waiting)
            self._submitted += 1
        try:
            future = self.threads.submit(self._work, seat or Seat(self), work)
        except RuntimeError:  # the interpreter shuts down
            self._done()
            raise
        future.add_done_callback(self._done)
        return future

    async def run(self, work: Callable[[Seat], T]) -> T:
        """Run a function in a thread, and await it. If it is cancelled, its run ends after the pass under way.

        The arguments and errors are those of `submit`.
        """
        seat = Seat(self)
        future = self.submit(work, seat=seat)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            seat.cancel()
            raise

    def close(self, *, seconds: float | None = None) -> bool:
        """Take no more runs, and wait for those that were submitted.

        Args:
            seconds: how long to wait; then the rest is cancelled. None for any time.

        Returns:
            Whether all runs have ended by themselves.
        """
        with self._changed:
            self._is_closed = True
            is_drained = self._changed.wait_for(lambda: not self._submitted, seconds)
            self._cancels = not is_drained
            for seat in self._seats:
                seat.cancelled.set()
            self._changed.notify_all()
        self.threads.shutdown(wait=True, cancel_futures=not is_drained)
        return is_drained

    def _work(self, seat: Seat, work: Callable[[Seat], T]) -> T:
        try:
            with self._changed:
                if self._cancels or seat.cancelled.is_set():
                    raise CancelledError
                self._seats.append(seat)
            return work(seat)
        finally:
            self.leave(seat)

    def _done(self, _: Any = None) -> None:
        with self._changed:
            self._submitted -= 1
            self._changed.notify_all()

    def read(self, seat: Seat, session: _Session, token_ids: Sequence[int], keep: int) -> NDArray[float32]:
        """Wait for the pass that reads tokens; see `Seat.read`."""
        if session.error is not None:
            raise session.error
        if seat.cancelled.is_set():
            raise CancelledError
        with self._changed:
            if seat not in self._seats:
                self._seats.append(seat)
            seat.last = session  # a retry has a sequence of its own
            seat.asked, seat.answer = (session, token_ids, keep), None
            seat.asked_at = time.monotonic()
            if not self._first_asked:
                self._first_asked = seat.asked_at
            if not seat.has_row:
                self._joining.append(seat)
            seat.is_late = False
            self._start()
            self._changed.notify_all()
            while seat.answer is None:
                if seat.cancelled.is_set() and seat.asked is not None:
                    seat.asked = None
                    raise CancelledError
                self._changed.wait()
            answer, seat.answer = seat.answer, None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def leave(self, seat: Seat) -> None:
        """Remove a run, and give its row to the next."""
        with self._changed:
            if seat in self._seats:
                self._seats.remove(seat)
            if seat in self._joining:
                self._joining.remove(seat)
            if seat.asked is not None:  # another thread waits for the pass: no pass will read for it now
                seat.answer = CancelledError()
            seat.has_row, seat.asked, seat.last = False, None, None
            self._changed.notify_all()

    def wake(self) -> None:
        """Let all threads look at what has changed."""
        with self._changed:
            self._changed.notify_all()

    def end_passes(self) -> None:
        """Wait for the pass under way, and run no other."""
        with self._changed:
            self._ends = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _start(self) -> None:
        """Start the thread of the passes, where it does not run."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop, name="structgen-passes", daemon=True)
            self._thread.start()
            _running.add(self)

    def _loop(self) -> None:
        while True:
            with self._changed:
                group = self._next_group()
                if not group:
                    self._batch, self._thread = None, None
                    _running.discard(self)
                    return
                asked = [(seat, *seat.asked) for seat in group if seat.asked is not None]
                for seat in group:
                    seat.asked = None
                idle = [seat.last for seat in self._seats if seat.has_row and seat not in group and seat.last]
                self._first_asked = min((seat.asked_at for seat in self._seats if seat.asked), default=0.0)
            self._passes.begin()
            answers = self._pass([(session, ids, keep) for _, session, ids, keep in asked], idle)
            with self._changed:
                for (seat, *_), answer in zip(asked, answers):
                    seat.answer = answer
                self._changed.notify_all()

    def _next_group(self) -> list[Seat]:
        """Wait until a pass can begin, and return the seats that read in it; none when there is no other pass."""
        while not self._ends:
            self._admit()
            asking = [seat for seat in self._seats if seat.has_row and seat.asked is not None]
            if not asking:
                # Runs make masks between two passes: long work of others rests meanwhile, too.
                left = self._passed_at + self._grace() - time.monotonic() if self._seats else 0.0
                if left <= 0:
                    self._passes.end()
                if not self._seats:
                    return []
                if left <= 0 and self._joining:  # all rows are of runs that rest, as streams do between two parts
                    for seat in self._seats:
                        seat.is_late = seat.is_late or seat.asked is None
                    continue
                self._changed.wait(left if left > 0 else None)
                continue
            left = self._first_asked + self._grace() - time.monotonic()
            absent = [seat for seat in self._seats if seat.asked is None and not seat.is_late]
            if not absent or left <= 0:
                for seat in absent:
                    seat.is_late = True
                # Those that were late have rows beside `max_rows` others: the first to ask come first.
                return sorted(asking, key=lambda seat: seat.asked_at)[: self.max_rows]
            self._changed.wait(left)
        self._passes.end()
        return []

    def _admit(self) -> None:
        """Give rows to those that ask for the first time. Runs that are late do not keep others from a row."""
        taken = sum(seat.has_row and not seat.is_late for seat in self._seats)
        while self._joining and taken < self.max_rows:
            self._joining.popleft().has_row = True
            taken += 1

    def _grace(self) -> float:
        return min(max(self._pass_seconds / 2, MIN_GRACE_SECONDS), MAX_GRACE_SECONDS)

    def _pass(
        self, asked: list[tuple[_Session, Sequence[int], int]], idle: list[_Session]
    ) -> Sequence[NDArray[float32] | Exception]:
        """Run one pass of the model.

        Args:
            asked: the sessions that read, with their tokens.
            idle: the sessions that keep their tokens in the cache, and read nothing.
        """
        try:
            batch = self._batch or session_batch_of(cast(Model, self._model()))
            self._batch = batch
            requests = [(_ready(session, batch), ids, keep) for session, ids, keep in asked]
            if not getattr(batch, "keeps_unnamed", False):
                requests += [(session.inner, (), 0) for session in idle if session.inner is not None]
            began = time.monotonic()
            found = read_together(batch, requests)
            self._passed_at = time.monotonic()
            self._pass_seconds = self._passed_at - began
            self.passes += 1
            return found[: len(asked)]
        except Exception as error:  # the state of each sequence is unknown now
            self._batch = None
            for session in idle:
                session.error = error
            return [error] * len(asked)


def _ready(session: _Session, batch: SessionBatch) -> Session:
    """Return the batch's session, without the tokens that were cropped."""
    if session.inner is None:
        session.inner = batch.session()
    if session.cropped:
        session.inner.crop(session.cropped)
        session.cropped = 0
    return session.inner


_running: set[Scheduler] = set()  # those whose thread of passes runs


@atexit.register
def _end_passes() -> None:
    """Let no pass run while the interpreter ends: a thread that ends inside of torch's code can abort the process."""
    for scheduler in tuple(_running):
        scheduler.end_passes()


_known: weakref.WeakKeyDictionary[Any, Scheduler | None] = weakref.WeakKeyDictionary()
_lock = forkable_lock()


def _forget() -> None:
    """Forget all schedulers: in a forked process, their threads do not exist."""
    _running.clear()
    _known.clear()


call_in_forked(_forget)


def scheduler_of(model: AnyModel) -> Scheduler | None:
    """Return the scheduler that all `async` calls of a model share; None for a model without batched passes.

    Args:
        model: a model.
    """
    make = getattr(model, "session_batch", None)
    if isinstance(model, RemoteModel) or make is None:
        return None
    with _lock:
        try:
            if model not in _known:
                _known[model] = None if make() is None else Scheduler(model)
            return _known[model]
        except TypeError:  # an object without weak references, or without a hash
            return None


async def run_shared(model: AnyModel, work: Callable[[NewSession, threading.Event], T]) -> T:
    """Run a function in a thread, and await it. The passes of a model with batched passes are shared.

    Args:
        model: the model.
        work: called with what makes the sessions of its runs, and an event that is set when the awaiting task is
            cancelled.
    """
    scheduler = scheduler_of(model)
    if scheduler is None:
        return await in_thread(lambda cancelled: work(None, cancelled))
    return await scheduler.run(lambda seat: work(seat.session, seat.cancelled))


class SharedThreads:
    """The threads of an `async` stream, whose passes are shared with all other runs of the model.

    Args:
        model: the model.
    """

    def __init__(self, model: AnyModel) -> None:
        self._model = model
        self._scheduler: Scheduler | None = None
        self._seat: Seat | None = None

    async def open(self, begin: Callable[[NewSession], T]) -> T:
        """Begin a stream in a thread.

        Args:
            begin: called with what makes the sessions of the stream's run.
        """
        self._scheduler = scheduler_of(self._model)
        if self._scheduler is None:
            return await self.run(lambda: begin(None))
        seat = self._seat = Seat(self._scheduler)
        try:
            return await self.run(lambda: begin(seat.session))
        except BaseException:
            self.close()
            raise

    async def run(self, work: Callable[[], R]) -> R:
        """Run a function in a thread, and await it."""
        if self._scheduler is None:
            return await asyncio.to_thread(work)
        return await asyncio.get_running_loop().run_in_executor(self._scheduler.threads, work)

    def close(self) -> None:
        """End the stream's run, after the pass under way."""
        if self._seat is not None:
            self._seat.cancel()
            self._seat.close()


async def in_threads(parts: Iterator[T], threads: SharedThreads) -> AsyncIterator[T]:
    """Yield the parts of an `async` stream, each made in a thread.

    Args:
        parts: the parts.
        threads: the threads of the stream.
    """
    while True:
        part = await threads.run(lambda: next(parts, _END))
        if part is _END:
            return
        yield cast(T, part)
