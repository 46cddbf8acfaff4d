"""What does a row of a batch cost if each row has its own schema, compared with llguidance and xgrammar?

    python benchmarks/batches.py [--data FOLDER] [--tokenizer FOLDER] [--batches 1 4 16 64 256] [--plot batches.png]

There are as many rows as in the largest batch. Each has its own schema and a valid text. For each batch size, all texts
are followed token by token, one batch after another. A step fills the masks of all rows of the batch, applies them to
logits, and accepts the next token of each row. The three parts are timed separately. A row leaves its batch when its
text has ended.

*First* means that each schema is compiled anew, and only the vocabulary is warm. *Again* means the same texts with new
matchers. The engines take turns; each number is the median over `--rounds`.

The schemas come from a folder, as in `masks.py`. Only schemas that every engine follows to the end are used. If there
are fewer schemas than rows, they are repeated, each time with one more required property of another name.

With `--scaling` it measures threads instead: batches of 256 rows of 16 schemas, filled and applied, with one thread and
with `--threads` (2 by default). See `_batch_scaling.py`.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _batch_engines import Apply, BatchEngine, batch_engines
from _batch_scaling import measure_scaling
from _mask_run import read_cases
from _peers import ENGINES, installed, load_tokenizer
from _report import draw, heading, table

DATA = Path(__file__).resolve().parent / "data"
PLACES = ("numpy", "torch", "cuda")
SCALING_SCHEMAS = 16
CLOCKS = {"wall": time.perf_counter_ns, "cpu": time.process_time_ns}


@dataclass(frozen=True)
class Row:
    """A schema and a valid text."""

    schema: Any
    tokens: tuple[int, ...]


@dataclass
class Times:
    """The times of one pass over all rows, in total.

    Attributes:
        masks: the number of masks.
        fill_us, accept_us: microseconds for all rows.
        apply_us: the same, by the place of the logits.
    """

    masks: int = 0
    fill_us: float = 0.0
    accept_us: float = 0.0
    apply_us: dict[str, float] = field(default_factory=dict)

    @property
    def row_us(self) -> float:
        """Return the average cost of a mask and the acceptance of a token."""
        return (self.fill_us + self.accept_us) / self.masks


def candidates(folder: Path, count: int) -> Iterator[tuple[Any, str]]:
    """Yield schemas with a valid text: those of the folder, then `count` more, made from them with a new property."""
    made_of: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for case in read_cases(folder):
        text = next((text for text, valid in zip(case.texts, case.valid, strict=True) if valid), None)
        if text is None:
            continue
        yield case.schema, text
        data = json.loads(text)
        if isinstance(case.schema, dict) and "properties" in case.schema and isinstance(data, dict):
            made_of.append((case.schema, data))
    for number in range(count if made_of else 0):
        schema, data = made_of[number % len(made_of)]
        name = f"row_{number}"
        properties = {name: {"const": number}} | schema["properties"]
        required = [name, *schema.get("required", ())]
        yield schema | {"properties": properties, "required": required}, json.dumps({name: number} | data)


def rows_of(folder: Path, tokenizer: Any, engines: Sequence[BatchEngine], count: int) -> list[Row]:
    """Return at most `count` rows that every engine follows to the end of the text."""
    found: list[Row] = []
    for schema, text in candidates(folder, 2 * count):
        row = Row(schema, tuple(tokenizer.encode(text, add_special_tokens=False)))
        if row.tokens and all(follows(engine, row) for engine in engines):
            found.append(row)
        if len(found) == count:
            break
    return found


def follows(batch: BatchEngine, row: Row) -> bool:
    """Return whether an engine accepts the text."""
    try:
        batch.engine.forget()
        batch.engine.compile(row.schema)
        batch.engine.reset()
        for token in row.tokens:
            batch.engine.fill_mask()
            if not batch.engine.commit(token):
                return False
    except Exception:
        return False
    return True


@dataclass(frozen=True)
class Stage:
    """The measurement of one engine: the batch size, the functions that apply masks, and a clock in nanoseconds."""

    batch: BatchEngine
    size: int
    applies: dict[str, Apply]
    clock: Callable[[], int]

    def measure(self, rows: Sequence[Row]) -> tuple[Times, Times]:
        """Measure a first pass over freshly compiled schemas, and a second one, which also applies the masks."""
        engine = self.batch.engine
        self.batch.forget()
        compiled = []
        for row in rows:
            engine.compile(row.schema)
            compiled.append(engine.compiled)
        first, again = Times(), Times(apply_us=dict.fromkeys(self.applies, 0.0))
        self._follow(compiled, rows, first)
        self._follow(compiled, rows, again)
        return first, again

    def _follow(self, compiled: Sequence[Any], rows: Sequence[Row], times: Times) -> None:
        """Follow all rows, one batch at a time."""
        engine = self.batch.engine
        for begin in range(0, len(rows), self.size):
            matchers, texts = [], [row.tokens for row in rows[begin : begin + self.size]]
            for engine.compiled in compiled[begin : begin + self.size]:
                engine.reset()
                matchers.append(engine.matcher)
            for at in range(max(map(len, texts))):
                on = [row for row, text in enumerate(texts) if at < len(text)]
                self._step([matchers[row] for row in on], [texts[row][at] for row in on], times)

    def _step(self, matchers: list[Any], tokens: list[int], times: Times) -> None:
        """Measure one token for each row."""
        begun = self.clock()
        self.batch.fill(matchers)
        times.fill_us += (self.clock() - begun) / 1e3
        for name in times.apply_us:
            begun = self.clock()
            self.applies[name](len(matchers))
            times.apply_us[name] += (self.clock() - begun) / 1e3
        begun = self.clock()
        self.batch.accept(matchers, tokens)
        times.accept_us += (self.clock() - begun) / 1e3
        times.masks += len(matchers)


def working(applies: dict[str, Apply]) -> dict[str, Apply]:
    """Return the functions that work on this machine. The first call, which may compile something, is done here."""
    found: dict[str, Apply] = {}
    for name, apply in applies.items():
        with contextlib.suppress(Exception):
            apply(1)
            apply(2)
            found[name] = apply
    return found


Results = dict[tuple[int, str], list[tuple[Times, Times]]]


def measure(engines: Sequence[BatchEngine], rows: Sequence[Row], options: argparse.Namespace) -> Results:
    """Measure all rounds; return the times by batch size and engine."""
    applies = {batch.name: working(batch.applies(options.dtype)) for batch in engines}
    results: Results = {}
    for _ in range(options.rounds):
        for size in options.batches:
            for batch in engines:
                print(f"batches of {size}: {batch.name}", file=sys.stderr, flush=True)
                stage = Stage(batch, size, applies[batch.name], CLOCKS[options.clock])
                results.setdefault((size, batch.name), []).append(stage.measure(rows))
    return results


def report(results: Results) -> str:
    places = [
        place for place in PLACES if any(place in again.apply_us for runs in results.values() for _, again in runs)
    ]
    columns = ["engine", "rows", "first: fill", "accept", "masks a second", "again: fill", "accept"]
    lines = []
    for (size, name), runs in sorted(results.items(), key=lambda item: (item[0][1], item[0][0])):

        def median(of: Any, runs: list[tuple[Times, Times]] = runs) -> float:
            return float(statistics.median(of(*run) for run in runs))

        cells: list[Any] = [
            median(lambda first, _: first.fill_us / first.masks),
            median(lambda first, _: first.accept_us / first.masks),
            round(1e6 / median(lambda first, _: first.row_us)),
            median(lambda _, again: again.fill_us / again.masks),
            median(lambda _, again: again.accept_us / again.masks),
        ]
        for place in places:
            known = place in runs[0][1].apply_us
            cells.append(median(lambda _, again, p=place: again.apply_us[p] / again.masks) if known else None)
        lines.append([name, size, *cells])
    return table([*columns, *(f"applied: {place}" for place in places)], lines)


def paint(results: Results, axes: Any) -> None:
    """Draw the cost of a mask and the acceptance of a token in the first pass, by batch size."""
    for name in dict.fromkeys(name for _, name in results):
        sizes = sorted(size for size, of in results if of == name)
        axes.plot(
            sizes,
            [statistics.median(first.row_us for first, _ in results[size, name]) for size in sizes],
            "o-",
            label=name,
        )
    axes.set(xscale="log", yscale="log", xlabel="rows of a batch", ylabel="microseconds a row, mask and token")
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.grid(alpha=0.3)
    axes.legend()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DATA, help="a folder of schemas with instances")
    parser.add_argument("--tokenizer", default="", help="the folder of a tokenizer; SmolLM2's by default")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 4, 16, 64, 256], metavar="ROWS")
    parser.add_argument("--dtype", default="float32", help="of the logits: float32, float16, bfloat16")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu: of all threads together")
    parser.add_argument("--threads", type=int, help="structgen also applies masks with that many threads")
    parser.add_argument("--scaling", action="store_true", help="measure threads on rows that share schemas")
    parser.add_argument("--plot", metavar="FILE", help="draw the cost of a row by size of batch")
    parser.add_argument("--no-collector", action="store_true", help="turn Python's garbage collector off")
    options = parser.parse_args()
    with contextlib.suppress(ImportError):
        import torch

        torch.set_num_threads(1)
    tokenizer = load_tokenizer(options.tokenizer)
    where = Path(options.tokenizer).name if options.tokenizer else "SmolLM2"
    size, threads = max(options.batches), options.threads or (2 if options.scaling else 1)
    engines = batch_engines(installed(options.engines), tokenizer, size, threads)
    rows = rows_of(options.data, tokenizer, engines, SCALING_SCHEMAS if options.scaling else size)
    if options.scaling:
        print(heading(), end="\n\n")
        print(
            f"{size} rows of {len(rows)} schemas, tokenizer {where}, float32 logits, median of {options.rounds} rounds."
            " Milliseconds a step, in which all rows are filled and applied.\n"
        )
        print(measure_scaling(engines, rows, size, options.rounds))
        return
    if options.no_collector:
        gc.disable()
    results = measure(engines, rows, options)
    masks = sum(len(row.tokens) for row in rows)
    print(heading(), end="\n\n")
    print(
        f"{len(rows)} schemas, {masks:,} masks a pass, tokenizer {where}, median of {options.rounds} rounds."
        f" Microseconds a row, {options.clock} clock; masks a second in the first pass, with the acceptance of their"
        f" tokens; masks applied to {options.dtype} logits as wide as the vocabulary, on one thread of the processor"
        " (numpy, torch) or on a GPU, with the copy of the mask to it (cuda)."
        + (" Python's garbage collector off.\n" if options.no_collector else "\n")
    )
    print(report(results))
    if options.plot:
        draw(options.plot, lambda axes: paint(results, axes))


if __name__ == "__main__":
    main()
