"""What do the first masks of a fresh process cost, each schema in a process of its own, beside other engines?

    python benchmarks/first_masks.py [--data FOLDER] [--tokenizer FOLDER] [--first 20] [--half unseen] [--warm SECONDS]

A new process loads a tokenizer and makes the engine's vocabulary. Then it compiles one schema and follows its first
valid instance, token by token. So every table of the schema, and every table that schemas share, is made in the
measured time. The time is that of the processor.

- *Compile* includes the imports of a first compile.
- *Mask* is a mask and the acceptance of its token.
- *In all* is the compile and all masks of the text.

A schema counts where every engine compiles it and accepts the instance.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from _mask_run import Case, read_cases
from _peers import ENGINES, Engine, installed, load_tokenizer, make_engine
from _report import heading, percentile, ratio, table
from masks import DATA, HALVES, half_of

Times = dict[str, list[float]]
"""For each schema the microseconds: of the compile, then of each mask. Nothing where the engine refuses it."""


def chosen_cases(options: argparse.Namespace) -> list[Case]:
    """Return the cases that are measured: those of a half, in an order drawn by a fixed seed."""
    cases = [case for case in read_cases(options.data) if any(case.valid)]
    if options.half:
        cases = [case for case in cases if half_of(case.name) == options.half]
    random.Random(0).shuffle(cases)
    return cases[: options.first]


def followed(engine: Engine, schema: Any, ids: list[int]) -> list[float]:
    """Return the microseconds of a compile and of each mask; nothing if the engine refuses the schema or the text."""
    clock = time.process_time_ns
    times = [clock()]
    try:
        engine.compile(schema)
        times.append(clock())
        engine.reset()
        for token in ids:
            engine.fill_mask()
            if not engine.commit(token):
                return []
            times.append(clock())
    except Exception:
        return []
    return [(after - before) / 1000 for before, after in itertools.pairwise(times)]


def measure(name: str, case: Case, options: argparse.Namespace) -> list[float]:
    """Return the times of one engine for one case. Runs in a process of its own."""
    tokenizer = load_tokenizer(options.tokenizer)
    settings = {"warm": float(options.warm)} if name == "structgen" and options.warm else None
    engine = make_engine(name, tokenizer, settings)
    text = case.texts[case.valid.index(True)]
    return followed(engine, case.schema, tokenizer.encode(text, add_special_tokens=False))


def in_a_process(name: str, number: int) -> list[float]:
    """Run `measure` in a new process, for the case of a number."""
    command = [sys.executable, __file__, *sys.argv[1:], "--engine", name, "--number", str(number)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def report(times: dict[str, Times]) -> str:
    """Return the table of all engines."""
    engines = list(times)
    both = [name for name in times[engines[0]] if all(times[engine][name] for engine in engines)]
    columns: dict[str, dict[str, float]] = {}
    for engine in engines:
        runs = [times[engine][name] for name in both]
        masks = [one for run in runs for one in run[1:]]
        columns[engine] = {
            "compile, p50": percentile([run[0] for run in runs], 50),
            "compile, average": statistics.mean(run[0] for run in runs),
            "masks of a text, p50": percentile([sum(run[1:]) for run in runs], 50),
            "masks of a text, average": statistics.mean(sum(run[1:]) for run in runs),
            "mask, average": statistics.mean(masks),
            **{f"mask, p{percent:g}": percentile(masks, percent) for percent in (50, 90, 99, 100)},
            "in all, p50": percentile([sum(run) for run in runs], 50),
            "in all, average": statistics.mean(sum(run) for run in runs),
        }
    own, *others = engines
    rows = [
        [row, *(columns[e][row] for e in engines), *(ratio(columns[own][row], columns[e][row]) for e in others)]
        for row in columns[own]
    ]
    head = ["µs", *engines, *(f"of {engine}'s" for engine in others)]
    return f"{len(both)} schemas that all engines pass.\n\n" + table(head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--tokenizer", default="", metavar="FOLDER")
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=ENGINES)
    parser.add_argument("--half", choices=HALVES, default="")
    parser.add_argument("--first", type=int, default=20, help="so many schemas")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--warm", default="", metavar="SECONDS", help="structgen makes masks ahead, in the compile")
    parser.add_argument("--engine", choices=ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("--number", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    cases = chosen_cases(options)
    if options.engine:
        print(json.dumps(measure(options.engine, cases[options.number], options)))
        return
    engines = installed(options.engines)
    times: dict[str, Times] = {name: {} for name in engines}
    for number, case in enumerate(cases):
        for name in engines:
            rounds = [in_a_process(name, number) for _ in range(options.rounds)]
            times[name][case.name] = [statistics.median(column) for column in zip(*rounds, strict=True)]
    print(heading(), end="\n\n")
    print(report(times))


if __name__ == "__main__":
    main()
