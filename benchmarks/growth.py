"""Does the cost of a byte stay flat as the text grows?

    python benchmarks/growth.py [--longest 10000] [--plot growth.png]

For each grammar, texts of growing length are read byte by byte by a fresh engine (nothing remembered from the
shorter ones); the table gives nanoseconds a byte, and how many Earley sets were made. On LR grammars the nanoseconds
should stay flat; the ambiguous and the palindrome grammar are there to see what happens where they need not.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

from structgen.engine.compiled import CompiledGrammar
from structgen.engine.vocabulary import Vocabulary
from structgen.kbnf.normal_form import normalize
from structgen.kbnf.parser import parse

JSON = r"""
start ::= value;
value ::= object | array | string | #'-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?' | 'true' | 'false' | 'null';
object ::= '{' [ member { ',' member } ] '}';
member ::= string ':' value;
array ::= '[' [ value { ',' value } ] ']';
string ::= #'"([^"\\\\\x00-\x1f]|\\\\(["\\\\/bfnrt]|u[0-9a-fA-F]{4}))*"';
"""

CASES: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "right recursion": ("start ::= A; A ::= 'a' A | 'a';", lambda n: b"a" * n),
    "left recursion": ("start ::= A; A ::= A 'a' | 'a';", lambda n: b"a" * n),
    "mutual right recursion": ("start ::= A; A ::= 'a' B | 'a'; B ::= 'b' A | 'b';", lambda n: b"ab" * (n // 2)),
    "nesting": ("start ::= N; N ::= '(' N ')' | 'x';", lambda n: b"(" * (n // 2) + b"x" + b")" * (n // 2)),
    "list of numbers": (JSON, lambda n: b"[" + b"12345," * (n // 6) + b"1]"),
    "list of objects": (JSON, lambda n: b"[" + b'{"a":[1,true],"b":"text"},' * (n // 26) + b"{}]"),
    "JSON nesting": (JSON, lambda n: b"[" * (n // 2) + b"]" * (n // 2)),
    "ambiguous": ("start ::= S; S ::= S S | 'a';", lambda n: b"a" * min(n, 1000)),
    "palindromes": ("start ::= P; P ::= 'a' P 'a' | 'b' P 'b' | 'a' | 'b';", lambda n: b"ab" * min(n // 2, 500)),
}


def measure(grammar: str, text: bytes, runs: int) -> tuple[float, int]:
    """Median nanoseconds a byte over fresh engines, and the sets made."""
    vocabulary = Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)})
    times = []
    for _ in range(runs):
        compiled = CompiledGrammar(normalize(parse(grammar)), vocabulary)
        matcher = compiled.matcher()
        begin = time.perf_counter_ns()
        matcher.accept_bytes(text)
        times.append((time.perf_counter_ns() - begin) / len(text))
        sets = compiled.sets.set_count
    return statistics.median(times), sets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--longest", type=int, default=10_000, help="bytes of the longest text")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--plot", metavar="FILE", help="draw the curves into a picture (needs matplotlib)")
    options = parser.parse_args()
    lengths = [length for length in (100, 1_000, 10_000, 100_000) if length <= options.longest]
    curves: dict[str, list[tuple[int, float]]] = {}
    print("| grammar | " + " | ".join(f"{length} bytes: ns a byte (sets)" for length in lengths) + " |")
    print("|---|" + "---:|" * len(lengths))
    for name, (grammar, make) in CASES.items():
        cells = []
        for length in lengths:
            text = make(length)
            nanoseconds, sets = measure(grammar, text, options.runs)
            curves.setdefault(name, []).append((len(text), nanoseconds))
            cells.append(f"{nanoseconds:.0f} ({sets})")
        print(f"| {name} | " + " | ".join(cells) + " |")
    if options.plot:
        draw(curves, options.plot)


def draw(curves: dict[str, list[tuple[int, float]]], path: str) -> None:
    """Draws nanoseconds a byte over the length of the text."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 5))
    for name, points in curves.items():
        axes.plot(*zip(*points, strict=True), marker="o", label=name)
    axes.set(xscale="log", yscale="log", xlabel="bytes of text", ylabel="ns a byte")
    axes.legend()
    figure.savefig(path)


if __name__ == "__main__":
    main()
