"""How does the cost of a token grow with the text, for LR grammars, unambiguous ones, and ambiguous ones?

    python benchmarks/ambiguity.py [--longest N] [--runs N]

structgen alone, in processor time, with Python's garbage collector off. The vocabulary has a token for each byte. A
cell is the average of the last 50 tokens of a text of that length: mask and acceptance, everything computed for the
first time. *Growth* is the exponent from a quarter of the longest text to the whole: 0 is flat, 1 is linear in the
length of the text, 2 is its square.

An Earley parser with Leo's rule takes the same time for each token of an LR grammar. Unambiguous grammars that are not
LR may take time linear in the length, ambiguous ones its square: n² and n³ for a whole text.
"""

from __future__ import annotations

import argparse
import gc
import math
import statistics
import time
from collections.abc import Callable

from _report import heading, number, table

import structgen

FIRST = 100  # tokens; each next length is twice the one before
LAST_TOKENS = 50
FOURTH = 3  # a quarter of the longest text is at this position from the end of the lengths

GRAMMARS: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "LR, left-recursive: `s ::= s 'a' \\| 'a';`": ("start ::= s; s ::= s 'a' | 'a';", lambda n: b"a" * n),
    "LR, right-recursive: `s ::= 'a' s \\| 'a';`": ("start ::= s; s ::= 'a' s | 'a';", lambda n: b"a" * n),
    "LR, nested: `s ::= '(' s ')' \\| 'x';`": ("start ::= s; s ::= '(' s ')' | 'x';", lambda n: b"(" * n),
    "unambiguous, not LR: `s ::= 'a' s 'a' \\| 'b' s 'b' \\| 'a' \\| 'b';`": (
        "start ::= s; s ::= 'a' s 'a' | 'b' s 'b' | 'a' | 'b';",
        lambda n: b"a" * n,
    ),
    "ambiguous: `s ::= s s \\| 'a';`": ("start ::= s; s ::= s s | 'a';", lambda n: b"a" * n),
}


def measure(grammar: str, text: bytes, lengths: list[int]) -> list[float]:
    """Return the microseconds of a token at each length: the average of the last tokens up to it."""
    vocabulary = structgen.Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)}, 256)
    structgen.clear_cache()
    matcher = structgen.compile(structgen.Grammar.kbnf(grammar, eager=False), vocabulary).matcher()
    row = structgen.allocate_token_bitmask(1, vocabulary.size)
    costs = []
    for token in text:
        began = time.thread_time_ns()
        matcher.fill_next_token_bitmask(row)
        matcher.accept_token(token)
        costs.append((time.thread_time_ns() - began) / 1000)
    return [statistics.mean(costs[length - LAST_TOKENS : length]) for length in lengths]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--longest", type=int, default=3200, help="tokens of the longest text")
    parser.add_argument("--runs", type=int, default=3, help="each cell is the median of so many")
    options = parser.parse_args()
    lengths = [FIRST << at for at in range(1 + int(math.log2(max(options.longest // FIRST, 1))))]
    gc.disable()
    rows = []
    for name, (grammar, make) in GRAMMARS.items():
        runs = [measure(grammar, make(lengths[-1]), lengths) for _ in range(options.runs)]
        costs = [statistics.median(each) for each in zip(*runs, strict=True)]
        growth = math.log(costs[-1] / costs[-FOURTH], 4) if len(costs) >= FOURTH else math.nan
        rows.append([name, *map(number, costs), f"{growth:.1f}".replace("-0.0", "0.0")])
    print(heading())
    print("\nMicroseconds of a token, by the length of the text in tokens.\n")
    print(table(["grammar", *(f"{length:,}" for length in lengths), "growth"], rows))


if __name__ == "__main__":
    main()
