"""What `batches.py --scaling` measures: a batch whose rows share schemas, filled and applied with one thread and more.

Row r has schema r % 16 and begins at token r // 16 of its text, so rows of one schema are in different states. A step
fills the masks of all rows and applies them to float32 logits in the memory of the processor; the next token of each
row is accepted between the steps, and not timed. A row begins again where its text ends.
"""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from _batch_engines import BatchEngine, torch_logits
from _report import table

STEPS = 16
"""Of a pass: long enough for new states, and short beside a round."""


@dataclass
class Steps:
    """The times of one pass, by step: in milliseconds of the clock, and of all threads of the process."""

    wall_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)


@dataclass
class Texts:
    """One row of the batch: its schema's number, its tokens, and the index of the next one."""

    schema: int
    tokens: Sequence[int]
    at: int


def passes_of(batch: BatchEngine, rows: Sequence[Any], size: int) -> tuple[Steps, Steps]:
    """Measure a pass over freshly compiled schemas, and the same again."""
    batch.forget()
    compiled = []
    for row in rows:
        batch.engine.compile(row.schema)
        compiled.append(batch.engine.compiled)
    logits = torch_logits(size, batch.width, "float32")["torch"]
    return tuple(one_pass(batch, compiled, rows, logits) for _ in range(2))  # type: ignore[return-value]


def one_pass(batch: BatchEngine, compiled: Sequence[Any], rows: Sequence[Any], logits: Any) -> Steps:
    """Measure STEPS steps."""
    texts = []
    for row in range(len(logits)):
        schema = row % len(rows)
        tokens = rows[schema].tokens
        texts.append(Texts(schema, tokens, row // len(rows) % len(tokens)))
    matchers = [at_position(batch, compiled[text.schema], text) for text in texts]
    steps = Steps()
    for _ in range(STEPS):
        cpu, wall = time.process_time_ns(), time.perf_counter_ns()
        batch.fill_and_apply(matchers, logits)
        steps.wall_ms.append((time.perf_counter_ns() - wall) / 1e6)
        steps.cpu_ms.append((time.process_time_ns() - cpu) / 1e6)
        batch.accept(matchers, [text.tokens[text.at] for text in texts])
        for row, text in enumerate(texts):
            text.at = (text.at + 1) % len(text.tokens)
            if not text.at:
                matchers[row] = at_position(batch, compiled[text.schema], text)
    return steps


def at_position(batch: BatchEngine, compiled: Any, text: Texts) -> Any:
    """Return a new matcher after the tokens before a position."""
    batch.engine.compiled = compiled
    batch.engine.reset()
    for token in text.tokens[: text.at]:
        batch.accept([batch.engine.matcher], [token])
    return batch.engine.matcher


def measure_scaling(engines: Sequence[BatchEngine], rows: Sequence[Any], size: int, rounds: int) -> str:
    """Measure all engines in turn; return a table. Each number is the median over the rounds, for each step."""
    results: dict[str, list[tuple[Steps, Steps]]] = {}
    for number in range(rounds):
        for batch in engines:
            with torch_threads(batch.threads):
                if not number:
                    batch.applies("float32")["torch"](size)  # the first call may compile something
                results.setdefault(batch.name, []).append(passes_of(batch, rows, size))
    lines = []
    alone: dict[str, list[float]] = {}
    for batch in engines:
        found = [
            statistics.mean(statistics.median(step) for step in zip(*times, strict=True))
            for number in range(2)
            for times in (
                [run[number].wall_ms for run in results[batch.name]],
                [run[number].cpu_ms for run in results[batch.name]],
            )
        ]
        one = alone.setdefault(batch.engine.name, found)  # the form with one thread comes first
        first, first_cpu, again, again_cpu = found
        lines.append([batch.name, batch.threads, first, first_cpu, one[0] / first, again, again_cpu, one[2] / again])
    columns = ["engine", "threads", "first: ms", "CPU ms", "scaling", "again: ms", "CPU ms", "scaling"]
    return table(columns, lines)


@contextlib.contextmanager
def torch_threads(threads: int) -> Any:
    """Let torch, with which the other engines apply masks, use that many threads."""
    import torch

    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(1)
