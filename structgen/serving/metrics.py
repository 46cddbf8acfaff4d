"""Counts of a server, in the text format of Prometheus."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from structgen.generation.scheduler import Scheduler

__all__ = ["Metrics"]

BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)  # seconds


class _Histogram:
    """Counts of durations, by upper bound."""

    def __init__(self) -> None:
        self._counts = [0] * len(BUCKETS)
        self._count = 0
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        for index, bound in enumerate(BUCKETS):
            self._counts[index] += seconds <= bound
        self._count += 1
        self._sum += seconds

    def lines(self, name: str) -> list[str]:
        found = [f'{name}_bucket{{le="{bound}"}} {count}' for bound, count in zip(BUCKETS, self._counts)]
        return [
            *found,
            f'{name}_bucket{{le="+Inf"}} {self._count}',
            f"{name}_sum {self._sum}",
            f"{name}_count {self._count}",
        ]


class Metrics:
    """Counts of a server. Only the thread of the event loop changes them."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._prompt_tokens = 0
        self._completion_tokens = 0
        self._first_piece = _Histogram()
        self._answer = _Histogram()

    def count_request(self, path: str, status: int) -> None:
        """Count a response."""
        self._requests[path, status] += 1

    def count_answer(self, prompt_tokens: int, completion_tokens: int, seconds: float) -> None:
        """Count a whole answer, and the time since its request."""
        self._prompt_tokens += prompt_tokens
        self._completion_tokens += completion_tokens
        self._answer.add(seconds)

    def count_first_piece(self, seconds: float) -> None:
        """Count the time from a request to the first piece of its answer."""
        self._first_piece.add(seconds)

    def text(self, scheduler: Scheduler) -> str:
        """Return all counts.

        Args:
            scheduler: its rows, queue and passes are gauges and counters too.
        """
        families = [
            ("requests_total", "counter", "Responses, by path and status.", self._request_lines()),
            ("prompt_tokens_total", "counter", "Tokens of prompts.", [f" {self._prompt_tokens}"]),
            ("completion_tokens_total", "counter", "Tokens of answers.", [f" {self._completion_tokens}"]),
            ("model_passes_total", "counter", "Passes of the model.", [f" {scheduler.passes}"]),
            ("rows", "gauge", "Answers that the model writes now.", [f" {scheduler.rows}"]),
            ("waiting", "gauge", "Answers that wait for the model.", [f" {scheduler.waiting}"]),
        ]
        lines = []
        for name, kind, text, samples in families:
            lines += _head(name, kind, text) + [f"structgen_{name}{sample}" for sample in samples]
        for name, text, histogram in (
            ("first_piece_seconds", "Time from a request to the first piece of its answer.", self._first_piece),
            ("answer_seconds", "Time from a request to its whole answer.", self._answer),
        ):
            lines += _head(name, "histogram", text) + histogram.lines(f"structgen_{name}")
        return "\n".join(lines) + "\n"

    def _request_lines(self) -> list[str]:
        return [
            f'{{path="{path}",status="{status}"}} {count}' for (path, status), count in sorted(self._requests.items())
        ]


def _head(name: str, kind: str, text: str) -> list[str]:
    return [f"# HELP structgen_{name} {text}", f"# TYPE structgen_{name} {kind}"]
