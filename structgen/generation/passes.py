"""The passes of a run that is shown while it goes on: streams of values and of tool calls."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any, Final, cast

from structgen.errors import GenerationError
from structgen.generation.server_run import ServerRun

if TYPE_CHECKING:
    from structgen.generation.runs import Run

__all__ = ["PASS", "Passes", "Steps", "adrive", "drive"]

PASS: Final = object()
"""Yielded by `Steps` where the model has to run once more."""

Steps = Generator[Any, bool, None]
"""A generator of the parts of a stream, each in a tuple.

It yields `PASS` when the model has to run once more. The caller runs the model, and sends True if the run goes on.
"""


def drive(steps: Steps, step: Callable[[], bool]) -> Iterator[Any]:
    """Yield the parts of a stream.

    Args:
        steps: the parts, and where the model has to run.
        step: runs one pass of the model; returns whether the run goes on.
    """
    item = next(steps, None)
    while item is not None:
        if item is PASS:
            item = _after(steps, step())
        else:
            yield item[0]
            item = next(steps, None)


async def adrive(steps: Steps, astep: Callable[[], Awaitable[bool]]) -> AsyncIterator[Any]:
    """Yield the parts of a stream whose model is awaited; see `drive`."""
    item = next(steps, None)
    while item is not None:
        if item is PASS:
            item = _after(steps, await astep())
        else:
            yield item[0]
            item = next(steps, None)


def _after(steps: Steps, goes_on: bool) -> Any:
    try:
        return steps.send(goes_on)
    except StopIteration:
        return None


class Passes:
    """The passes of a run, which another thread may end. An error is raised again by every later pass.

    Args:
        run: the run.
        whole: the method of the stream that returns the whole result, for messages.
    """

    def __init__(self, run: Run[Any], whole: str) -> None:
        self._run = run
        self._whole = whole
        self._error: Exception | None = None
        self._is_closed = False
        self._is_awaiting = False
        self._passing = threading.Lock()

    def step(self) -> bool:
        """Run one pass of the model; return False when there is a result.

        Raises:
            GenerationError: it is closed. Other errors are those of `Run`.
        """
        if self._run.result is not None:
            return False
        if self._error is not None:
            raise self._error
        try:
            return self._pass()
        except Exception as error:
            self._error = error
            raise

    async def astep(self) -> bool:
        """Await one piece of a server's answer; see `step`."""
        if self._run.result is not None:
            return False
        if self._error is not None:
            raise self._error
        self._check_open()
        try:
            self._is_awaiting = True
            goes_on = await cast(ServerRun[Any], self._run).astep()
        except Exception as error:
            self._error = error
            raise
        finally:
            self._is_awaiting = False
        if self._is_closed:
            await self.aclose()
        return goes_on

    async def aclose(self) -> None:
        """End the run of an asynchronous client where it is, after the piece under way."""
        self._is_closed = True
        if not self._is_awaiting:
            await cast(ServerRun[Any], self._run).aclose()

    def close(self) -> None:
        """End the run where it is, after the pass under way."""
        self._is_closed = True
        if self._passing.acquire(blocking=False):
            self._run.close()
            self._passing.release()

    def _pass(self) -> bool:
        """Run one pass of the model, during which another thread may close the stream."""
        self._check_open()
        with self._passing:
            goes_on = self._run.step()
        if self._is_closed:
            self.close()
        return goes_on

    def _check_open(self) -> None:
        if self._is_closed:
            raise GenerationError("the stream is closed", hint=f"iterate, or call {self._whole}, inside the with block")
