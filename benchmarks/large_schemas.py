"""What do compiles and masks of large real schemas cost, on random texts?

    python benchmarks/large_schemas.py --data FOLDER [--half unseen] [--tokenizer FOLDER] [--walks N] [--tokens N]

The folder holds JSON Schema documents, one a file: editor schemas, CloudFormation, Kubernetes, and the like. They need
no instances. structgen compiles each and draws random tokens from its masks. Where llguidance compiles the schema too,
it follows the same tokens, up to the first that it refuses. Each schema has a grammar of its own; the tables of the
vocabulary stay, as in a server. Both engines widen what they do not support (`lenient`), such as references to other
documents.

A time is that of the processor, for a mask and the acceptance of its token. Python's garbage collector is on; as a
server does, the benchmark calls `gc.freeze()` when the schemas are loaded.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from _peers import Engine, Structgen, installed, load_tokenizer, make_engine
from _random_walks import Drawing
from _report import heading, percentile, ratio, table
from masks import HALVES, half_of

import structgen
from structgen.schema import SchemaWarning

PEERS = ("llguidance",)
Result = TypeVar("Result")


@dataclass
class Times:
    """What one engine took.

    Attributes:
        compiles: the microseconds of each compile, with the schema.
        masks: the microseconds of each mask with the acceptance of its token, and where it was.
        refused: the error for each schema that it refuses, in a compile or in a mask.
    """

    compiles: list[tuple[float, str]] = field(default_factory=list)
    masks: list[tuple[float, str]] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return what a function returns, and the microseconds that it took."""
    began = time.process_time_ns()
    result = work()
    return result, (time.process_time_ns() - began) / 1000


def compiled(engine: Engine, name: str, schema: Any, times: Times) -> bool:
    """Compile a schema; return False if the engine refuses it."""
    try:
        _, cost = timed(lambda: engine.compile(schema))
    except (ValueError, structgen.StructgenError) as error:
        times.refused[name] = str(error).splitlines()[0]
        return False
    times.compiles.append((cost, name))
    return True


def drawn_tokens(engine: Structgen, drawing: Drawing, where: str, tokens: int, times: Times) -> list[int]:
    """Draw random tokens from structgen's masks, and measure these."""
    engine.reset()
    ids: list[int] = []
    for step in range(tokens):
        _, cost = timed(engine.fill_mask)
        drawing.row[:] = engine.mask
        token = drawing.draw(step)
        if token is None:
            break
        _, more = timed(lambda token=token: engine.matcher.accept_token(token))  # type: ignore[misc]
        times.masks.append((cost + more, f"{where}, token {step}"))
        ids.append(token)
    return ids


def follow(engine: Engine, ids: Sequence[int], where: str, times: Times) -> None:
    """Measure the masks of another engine along the same tokens, up to one that it refuses."""
    engine.reset()
    for step, token in enumerate(ids):
        try:
            _, cost = timed(engine.fill_mask)
            accepted, more = timed(lambda token=token: engine.commit(token))  # type: ignore[misc]
        except ValueError as error:
            times.refused[where] = str(error).splitlines()[0]
            return
        if not accepted:
            return
        times.masks.append((cost + more, f"{where}, token {step}"))


def measure(schemas: dict[str, Any], options: argparse.Namespace) -> dict[str, Times]:
    """Return the times of all engines."""
    tokenizer = load_tokenizer(options.tokenizer)
    own = make_engine("structgen", tokenizer, {"lenient": True})
    assert isinstance(own, Structgen)
    peers = [make_engine(name, tokenizer) for name in installed(PEERS)]
    times = {engine.name: Times() for engine in (own, *peers)}
    drawing = Drawing(own.vocabulary, options.seed)  # one: the collector goes through its tokens
    for name, schema in schemas.items():
        lenient = {**schema, "x-guidance": {"lenient": True}}
        able = [engine for engine in peers if compiled(engine, name, lenient, times[engine.name])]
        if not compiled(own, name, schema, times[own.name]):
            continue
        drawing.rng = random.Random(options.seed)
        for walk in range(options.walks):
            where = f"{name}, text {walk}"
            try:
                ids = drawn_tokens(own, drawing, where, options.tokens, times[own.name])
            except (IndexError, structgen.StructgenError) as error:
                times[own.name].refused[name] = f"in a mask: {error}"
                break
            for engine in able:
                follow(engine, ids, where, times[engine.name])
    return times


def report(times: dict[str, Times]) -> None:
    """Print the tables: compiles and masks of each engine, and structgen's slowest by name."""
    own, *others = times
    rows: list[list[Any]] = []
    for what in ("masks", "compiles"):
        rows.append([what, *(len(getattr(one, what)) for one in times.values()), *("" for _ in others)])
        columns = [[cost for cost, _ in getattr(one, what)] for one in times.values()]
        common = [in_both(getattr(times[own], what), getattr(times[name], what)) for name in others]
        for label, of in (("average", statistics.mean), *((f"p{part:g}", _percentile(part)) for part in PARTS)):
            ratios = [ratio(of(ours), of(theirs)) if ours else "" for ours, theirs in common]
            rows.append([f"{what}, {label}", *(of(column) if column else "" for column in columns), *ratios])
    print(table(["µs", *times, *(f"of {name}'s, where both have it" for name in others)], rows))
    for what in ("masks", "compiles"):
        print(f"\nstructgen's slowest {what}:\n")
        slowest = sorted(getattr(times[own], what), reverse=True)[:15]
        print(table(["where", "µs"], [[where, cost] for cost, where in slowest]))
    for name, error in times[own].refused.items():
        print(f"\nstructgen refuses {name}: {error}")


def in_both(ours: list[tuple[float, str]], theirs: list[tuple[float, str]]) -> tuple[list[float], list[float]]:
    """Return the times of two engines for what both have done."""
    known = {where: cost for cost, where in theirs}
    pairs = [(cost, known[where]) for cost, where in ours if where in known]
    return [one for one, _ in pairs], [other for _, other in pairs]


PARTS = (50, 90, 99, 99.9, 100)


def _percentile(part: float) -> Callable[[Sequence[float]], float | None]:
    return lambda costs: percentile(costs, part)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).parent / "data", help="a folder of schemas")
    parser.add_argument("--half", choices=HALVES, help="only the schemas to tune on, or only the others")
    parser.add_argument("--tokenizer", default="", help="the folder of a tokenizer; SmolLM2's by default")
    parser.add_argument("--walks", type=int, default=2, help="random texts of a schema")
    parser.add_argument("--tokens", type=int, default=250, help="of a text, at most")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    warnings.simplefilter("ignore", SchemaWarning)  # what is widened, named one by one
    schemas = {file.stem: json.loads(file.read_text()) for file in sorted(options.data.rglob("*.json"))}
    if options.half:
        schemas = {name: schema for name, schema in schemas.items() if half_of(name) == options.half}
    gc.collect()
    gc.freeze()
    times = measure(schemas, options)
    print(heading(), end="\n\n")
    size = statistics.median(len(json.dumps(schema)) for schema in schemas.values())
    print(f"{len(schemas)} schemas, at the median {size:,.0f} characters; {options.walks} random texts of each.\n")
    report(times)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
