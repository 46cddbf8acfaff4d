"""Does the cost of a token, and of a compile, stay flat as texts, schemas and vocabularies grow?

    python benchmarks/growth.py [--only items enum ...] [--full] [--tokenizers FOLDER[:SIZE] ...] [--plot growth.png]

There are three parts, in processor time, with Python's garbage collector off:

- *Schemas*: one thing grows at a time. The tables show the average microseconds of a token (mask and acceptance) and
  the milliseconds of the compile, for structgen, llguidance and xgrammar. If an engine is late or dies, it does not get
  the larger sizes.
- *Vocabularies*: a few schemas of `data/` with each tokenizer. `FOLDER:SIZE` makes a tokenizer of the first SIZE
  tokens.
- *Bytes*: structgen alone reads a text byte by byte, with a fresh engine for each grammar. On LR grammars, the
  nanoseconds per byte should stay flat. The ambiguous grammar and the palindromes show cases where they need not.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from _growth_cases import FAMILIES, Family
from _growth_tokenizer import cut
from _mask_run import Case, Outcome, Settings, read_cases, run_cases
from _peers import ENGINES, installed
from _report import draw, heading, number, percentile, ratio, table

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.kbnf import parse

DATA = Path(__file__).resolve().parent / "data"
VOCABULARY_CASES = ("invoice", "comment_tree", "weather_call", "shape_union", "color_palette", "chess_game")
PARTS = (*FAMILIES, "vocabulary", "bytes")
Curves = dict[str, list[tuple[int, float]]]

JSON = r"""
start ::= value;
value ::= object | array | string | #'-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?' | 'true' | 'false' | 'null';
object ::= '{' [ member { ',' member } ] '}';
member ::= string ':' value;
array ::= '[' [ value { ',' value } ] ']';
string ::= #'"([^"\\\\\x00-\x1f]|\\\\(["\\\\/bfnrt]|u[0-9a-fA-F]{4}))*"';
"""

GRAMMARS: dict[str, tuple[str, Callable[[int], bytes]]] = {
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


# -- schemas -----------------------------------------------------------------------------------------------------------


def average_us(outcome: Outcome) -> float | None:
    """Return the microseconds per token; None if the case did not pass."""
    masks = outcome.all_masks_us
    return sum(masks) / len(masks) if masks and outcome.kind == "passing" else None


def compile_ms(outcome: Outcome) -> float | None:
    """Return the milliseconds of the compile; None if it failed."""
    return None if outcome.compile_us is None else outcome.compile_us / 1000


def family_table(family: Family, sizes: Sequence[int], outcomes: dict[str, list[Outcome]]) -> str:
    """Return a table of cost by size, with one row per engine, first for tokens, then for compiles."""
    rows = []
    for title, cost in (("µs a token", average_us), ("ms to compile", compile_ms)):
        for name, of_engine in outcomes.items():
            costs = [cost(one) for one in of_engine]
            cells = [one.kind if found is None else number(found) for one, found in zip(of_engine, costs, strict=True)]
            rows.append([f"{name}, {title}", *cells, ratio(costs[-1], costs[0])])
    return table([family.title, *(f"{size:,}" for size in sizes), "last ÷ first"], rows)


def measure_schemas(
    names: Sequence[str], settings: Settings, engines: Sequence[str], *, largest: bool
) -> dict[str, Curves]:
    """Print the tables of some families; return the costs of tokens by family and engine."""
    sizes = {name: FAMILIES[name].sizes[: None if largest else -1] for name in names}
    cases = [FAMILIES[name].case(size) for name in names for size in sizes[name]]
    outcomes, _ = run_cases(cases, settings, engines, warm_up=read_cases(DATA)[0])
    curves: dict[str, Curves] = {}
    at = 0
    for name in names:
        family, end = FAMILIES[name], at + len(sizes[name])
        of_family = {engine: of_engine[at:end] for engine, of_engine in outcomes.items()}
        print(f"\nBy the design a token should cost: {family.claim}.\n")
        print(family_table(family, sizes[name], of_family))
        for line in reasons(cases[at:end], of_family):
            print(line)
        curves[name] = {
            engine: [
                (size, cost)
                for size, one in zip(sizes[name], of_engine, strict=True)
                if (cost := average_us(one)) is not None
            ]
            for engine, of_engine in of_family.items()
        }
        at = end
    return curves


def reasons(cases: Sequence[Case], outcomes: dict[str, list[Outcome]]) -> list[str]:
    """Return a line for each case that failed, with the reason."""
    return [
        f"\n{name}, {case.name}: {one.kind}: {one.error[:160]}"
        for name, of_engine in outcomes.items()
        for case, one in zip(cases, of_engine, strict=True)
        if one.kind not in ("passing", "not asked")
    ]


# -- vocabularies ------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def folder_of(tokenizer: str) -> Iterator[str]:
    """Provide the folder of a tokenizer; for FOLDER:SIZE a temporary one."""
    folder, _, size = tokenizer.rpartition(":")
    if not folder:
        yield tokenizer
        return
    with tempfile.TemporaryDirectory() as into:
        cut(Path(folder), int(size), Path(into))
        yield into


def measure_vocabularies(tokenizers: Sequence[str], settings: Settings, engines: Sequence[str]) -> None:
    """Print the costs of each engine with each tokenizer."""
    cases = [case for case in read_cases(DATA) if case.name in VOCABULARY_CASES]
    rows: list[list[Any]] = []
    for tokenizer in tokenizers:
        with folder_of(tokenizer) as folder:
            own = dataclasses.replace(settings, tokenizer=folder)
            outcomes, about = run_cases(cases, own, engines, warm_up=cases[0])
        for name, of_engine in outcomes.items():
            masks = [one for outcome in of_engine for one in outcome.all_masks_us]
            compiles = [cost for outcome in of_engine if (cost := compile_ms(outcome)) is not None]
            average = sum(masks) / len(masks) if masks else None
            prepared = about[name]["start_seconds"]
            title = Path(tokenizer).name if tokenizer else "SmolLM2"
            found = [about[name]["tokens"], prepared, percentile(masks, 50), average, percentile(compiles, 50)]
            rows.append([title, name, *found])
    print(f"\n{len(cases)} schemas for each tokenizer; what is prepared for it once is the engine's own part of it.\n")
    columns = ["tokenizer", "engine", "tokens", "prepared, s", "p50, µs a token", "average", "p50, ms to compile"]
    print(table(columns, rows, left=2))


# -- bytes -------------------------------------------------------------------------------------------------------------


def measure_text(grammar: str, text: bytes, runs: int) -> tuple[float, int]:
    """Return the median nanoseconds per byte over fresh engines, and the number of Earley sets made."""
    vocabulary = Vocabulary.from_bytes({byte: bytes([byte]) for byte in range(256)})
    times = []
    for _ in range(runs):
        compiled = CompiledGrammar(normalize(parse(grammar)), vocabulary)
        matcher = compiled.matcher()
        begin = time.thread_time_ns()
        matcher.accept_bytes(text)
        times.append((time.thread_time_ns() - begin) / len(text))
        sets = compiled.sets.set_count
    return statistics.median(times), sets


def measure_bytes(longest: int, runs: int) -> Curves:
    """Print the table of texts that are read byte by byte; return the nanoseconds per byte, by grammar."""
    lengths = [length for length in (100, 1_000, 10_000, 100_000) if length <= longest]
    curves: Curves = {}
    rows = []
    for name, (grammar, make) in GRAMMARS.items():
        cells = []
        for length in lengths:
            text = make(length)
            nanoseconds, sets = measure_text(grammar, text, runs)
            curves.setdefault(name, []).append((len(text), nanoseconds))
            cells.append(f"{nanoseconds:.0f} ({sets:,})")
        rows.append([name, *cells])
    print("\nOur engine alone, nanoseconds a byte, and how many Earley sets were made.\n")
    print(table(["grammar", *(f"{length:,} bytes" for length in lengths)], rows))
    return curves


def paint(schemas: dict[str, Curves], texts: Curves, axes: Any) -> None:
    """Draw microseconds per token by size, with a colour per family and a style per engine; and the cost of bytes."""
    styles = dict(zip(ENGINES, ("o-", "s--", "^:"), strict=True))
    for at, (family, curves) in enumerate(schemas.items()):
        for engine, points in curves.items():
            if points:
                axes.plot(*zip(*points, strict=True), styles[engine], color=f"C{at}", label=f"{family}, {engine}")
    for name, points in texts.items():
        lengths, nanoseconds = zip(*points, strict=True)
        axes.plot(
            lengths,
            [one / 1000 for one in nanoseconds],
            color="gray",
            alpha=0.5,
            linewidth=0.7,
            label=f"{name}, a byte",
        )
    axes.set(xscale="log", yscale="log", xlabel="size", ylabel="µs a token")
    axes.legend(fontsize=5, ncol=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--tokenizer", default="", help="the folder of the tokenizer that schemas are measured with")
    parser.add_argument(
        "--tokenizers", nargs="+", default=[""], metavar="FOLDER", help="whose vocabularies are compared"
    )
    parser.add_argument("--longest", type=int, default=10_000, help="bytes of the longest text that is read by bytes")
    parser.add_argument("--seconds", type=float, default=20.0, help="the limit for one schema with its text")
    parser.add_argument("--rounds", type=int, default=1, help="each time is the median of so many")
    parser.add_argument("--full", action="store_true", help="the largest sizes too")
    parser.add_argument("--plot", metavar="FILE", help="draw the curves into a picture (needs matplotlib)")
    options = parser.parse_args()
    settings = Settings(options.tokenizer, {}, options.seconds, "cpu", collector=False, rounds=options.rounds)
    engines = installed(options.engines)
    print(heading())
    families = [name for name in options.only if name in FAMILIES]
    schemas = measure_schemas(families, settings, engines, largest=options.full) if families else {}
    if "vocabulary" in options.only:
        measure_vocabularies(options.tokenizers, settings, engines)
    texts = measure_bytes(options.longest, 5) if "bytes" in options.only else {}
    if options.plot:
        draw(options.plot, lambda axes: paint(schemas, texts, axes), size=(9, 7))


if __name__ == "__main__":
    main()
