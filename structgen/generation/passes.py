"""The passes of a run that is shown while it goes on: streams of values and of tool calls."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from structgen.errors import GenerationError

if TYPE_CHECKING:
    from structgen.generation.runs import Run

__all__ = ["Passes"]


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

    def close(self) -> None:
        """End the run where it is, after the pass under way."""
        self._is_closed = True
        if self._passing.acquire(blocking=False):
            self._run.close()
            self._passing.release()

    def _pass(self) -> bool:
        """Run one pass of the model, during which another thread may close the stream."""
        if self._is_closed:
            raise GenerationError("the stream is closed", hint=f"iterate, or call {self._whole}, inside the with block")
        with self._passing:
            goes_on = self._run.step()
        if self._is_closed:
            self.close()
        return goes_on
