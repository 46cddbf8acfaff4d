"""The logger `structgen`, and spans of OpenTelemetry.

Spans are recorded where the program has imported OpenTelemetry; nothing is imported here, and without it a span costs
the time of one look-up. A span is written when it ends, with the time at which it began: runs go on in many threads and
in batches, so that none of them is the current span of a thread.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Mapping
from typing import Any

__all__ = ["SLOW_SECONDS", "Span", "logger"]

logger = logging.getLogger("structgen")

SLOW_SECONDS = 1.0  # a compile that takes longer is logged as INFO, others as DEBUG


class Span:
    """A span that begins now, below the current one.

    Args:
        name: its name, such as "structgen.compile".
    """

    __slots__ = ("_began", "_began_ns", "_context", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._began = time.perf_counter()
        self._context: Any = None
        if "opentelemetry.trace" in sys.modules:
            from opentelemetry import context

            self._context = context.get_current()
            self._began_ns = time.time_ns()

    @property
    def seconds(self) -> float:
        """The time since it began."""
        return time.perf_counter() - self._began

    def end(self, attributes: Mapping[str, Any], *, error: BaseException | None = None) -> None:
        """End and write it.

        Args:
            attributes: its attributes; those that are None are left out.
            error: why it failed.
        """
        if self._context is None:
            return
        from opentelemetry import trace

        named = {name: value for name, value in attributes.items() if value is not None}
        span = trace.get_tracer("structgen").start_span(
            self._name, self._context, attributes=named, start_time=self._began_ns
        )
        if error is not None:
            span.record_exception(error)
            span.set_status(trace.Status(trace.StatusCode.ERROR, type(error).__name__))
        span.end()
