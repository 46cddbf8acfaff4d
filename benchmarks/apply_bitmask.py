"""How long does it take to apply a token mask to a row of 128,256 logits on the CPU?

    python benchmarks/apply_bitmask.py

Microseconds a call, the best of five times 200 calls, for masks that allow more and more of the tokens at random, and
for one that refuses one token in 27, as within a JSON string.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from structgen.engine.bitmask import apply_token_bitmask

TOKENS = 128_256
CALLS = 200


def microseconds(call: Callable[[], Any]) -> float:
    best = float("inf")
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(CALLS):
            call()
        best = min(best, (time.perf_counter() - begin) / CALLS)
    return best * 1e6


def rows() -> dict[str, Any]:
    """Logits of the types that models have."""
    made: dict[str, Any] = {f"numpy {kind}": np.zeros(TOKENS, kind) for kind in ("float32", "float16")}
    try:
        import torch
    except ImportError:
        return made
    torch.set_num_threads(1)
    made |= {f"torch {kind}": torch.zeros(TOKENS, dtype=getattr(torch, kind)) for kind in ("float32", "bfloat16")}
    return made


def main() -> None:
    rng = np.random.default_rng(0)
    logits = rows()
    print("| allowed | " + " | ".join(f"{name}, µs" for name in logits) + " |")
    print("|---:|" + "---:|" * len(logits))
    for share in (0.0, 0.0001, 0.01, 0.5, 26 / 27, 0.9999, 1.0):
        bits = np.packbits(rng.random(TOKENS) < share, bitorder="little")
        mask = bits.view(np.uint32)
        cells = [
            f"{microseconds(lambda row=row, mask=mask: apply_token_bitmask(row, mask)):.1f}" for row in logits.values()
        ]
        print(f"| {share:.2%} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
