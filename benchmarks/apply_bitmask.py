"""How long does it take to apply token masks to logits of 128,256 tokens, in numpy and torch, and in other engines?

    python benchmarks/apply_bitmask.py [--batches 1 4 16 64 256] [--plot apply.png]

All numbers are microseconds per row, the best of several runs, in processor time of one thread.

- The first table has masks that allow more and more of the tokens, at random. (Inside a JSON string, a mask refuses one
  token in 27.) The column *memory* is the cost of reading and writing the row without a mask: numpy changes the sign of
  each number.
- The second table has batches with masks that allow half of the tokens, which is the slowest case. With more than a few
  rows, the logits come from memory, no longer from the cache.

On a GPU, if there is one, the clock is wall time, and the masks are copied from the processor's memory and applied.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from _batch_engines import applied
from _report import draw, heading, table

from structgen import apply_token_bitmask

TOKENS = 128_256
SHARES = (0.0, 0.0001, 0.01, 0.5, 26 / 27, 0.9999, 1.0)
RUNS = 9
RUN_ROWS = 512  # minimum number of rows in a run
Call = Callable[[int], None]


def masks_of(share: float, rows: int) -> Any:
    """Return masks that allow a share of the tokens, at random."""
    bits = np.random.default_rng(0).random((rows, TOKENS), np.float32) < share
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint32)


def ways(masks: Any) -> dict[str, Call]:
    """Return, by name, functions that apply the first N masks to N rows of logits; called with N."""
    rows = len(masks)
    made: dict[str, Call] = {}
    for dtype in ("float32", "float16"):
        made[f"numpy {dtype}"] = in_numpy(np.zeros((rows, TOKENS), dtype), masks)
    with contextlib.suppress(ImportError):
        made |= torch_ways(masks)
    made["memory, float32"] = in_memory(np.zeros((rows, TOKENS), np.float32))
    return made


def in_numpy(logits: Any, masks: Any) -> Call:
    return lambda count: apply_token_bitmask(logits[:count], masks[:count])


def in_memory(logits: Any) -> Call:
    def run(count: int) -> None:
        np.negative(logits[:count], out=logits[:count])

    return run


def torch_ways(masks: Any) -> dict[str, Call]:
    import torch

    torch.set_num_threads(1)
    words = torch.from_numpy(masks.view(np.int32))
    functions: dict[str, Any] = {"torch": apply_token_bitmask}
    with contextlib.suppress(ImportError):
        import xgrammar

        functions["xgrammar"] = xgrammar.apply_token_bitmask_inplace
    with contextlib.suppress(ImportError):
        import llguidance.torch

        functions["llguidance"] = llguidance.torch.apply_token_bitmask_inplace
    made: dict[str, Call] = {}
    for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
        for name, apply in functions.items():
            for dtype in (torch.float32, torch.bfloat16) if name == "torch" else (torch.float32,):
                logits = torch.zeros(len(masks), TOKENS, dtype=dtype, device=device)
                title = f"{name} {str(dtype).removeprefix('torch.')}" + (" on the GPU" if device == "cuda" else "")
                made[title] = applied(apply, words, logits)
    return made


def microseconds(call: Call, rows: int, clock: Callable[[], int]) -> float | None:
    """Return the time of one row in a call for several rows; None if the call fails on this machine."""
    try:
        call(rows)  # the first call may compile something
    except Exception:
        return None
    best = float("inf")
    calls = max(2, RUN_ROWS // rows)
    for _ in range(RUNS):
        begin = clock()
        for _ in range(calls):
            call(rows)
        best = min(best, (clock() - begin) / calls / rows)
    return best / 1e3


def clock_of(name: str) -> Callable[[], int]:
    return time.perf_counter_ns if "GPU" in name else time.thread_time_ns


def by_share() -> str:
    rows = []
    columns: list[str] = []
    for share in SHARES:
        made = ways(masks_of(share, 1))
        columns = list(made)
        rows.append([f"{share:.2%}", *(microseconds(call, 1, clock_of(name)) for name, call in made.items())])
    return table(["allowed", *columns], rows)


def by_batch(batches: list[int]) -> tuple[list[str], list[list[Any]]]:
    made = ways(masks_of(0.5, max(batches)))
    rows = [[size, *(microseconds(call, size, clock_of(name)) for name, call in made.items())] for size in batches]
    return list(made), rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 4, 16, 64, 256], metavar="ROWS")
    parser.add_argument("--plot", metavar="FILE", help="draw the cost of a row by size of batch")
    options = parser.parse_args()
    print(heading(), end="\n\n")
    print(f"One row, µs:\n\n{by_share()}\n")
    columns, rows = by_batch(options.batches)
    print(f"Batches, µs a row:\n\n{table(['rows', *columns], rows)}")

    def paint(axes: Any) -> None:
        for number, name in enumerate(columns, 1):
            axes.plot([row[0] for row in rows], [row[number] or float("nan") for row in rows], "o-", label=name)
        axes.set(xscale="log", yscale="log", xlabel="rows of a batch", ylabel="microseconds a row")
        axes.grid(alpha=0.3)
        axes.legend()

    if options.plot:
        draw(options.plot, paint)


if __name__ == "__main__":
    main()
