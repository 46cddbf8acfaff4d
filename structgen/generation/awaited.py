"""Batches on a server with an asynchronous client: requests of one event loop, without threads."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from structgen.generation.batches import BatchSettings, BeginRow, progress_bar
from structgen.generation.server_run import ServerRun

__all__ = ["await_rows"]


async def await_rows(begin_row: BeginRow, count: int, settings: BatchSettings) -> list[Any]:
    """Run all rows of a batch on an `AsyncServer`, and return their values or results in order.

    Args:
        begin_row: begins the run of a row, by its number.
        count: the number of rows.
        settings: how they are answered. `batch_size` is the number of requests at a time.

    Raises:
        ValueError: `batch_size` is less than 1.
        Exception: the error of the first row that fails, unless `return_exceptions`. The others are cancelled.
    """
    settings.check()
    found: list[Any] = [None] * count
    waiting = iter(range(count))
    bar = progress_bar(count) if settings.progress else None

    async def work() -> None:
        for index in waiting:  # shared by all workers
            try:
                run = cast(ServerRun[Any], begin_row(index, None))
                result = await run.ato_end()
                found[index] = result if settings.results else result.value
            except Exception as error:
                if not settings.return_exceptions:
                    raise
                found[index] = error
            if bar is not None:
                bar.update()

    workers = [asyncio.ensure_future(work()) for _ in range(min(settings.batch_size, count))]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        if bar is not None:
            bar.close()
    return found
