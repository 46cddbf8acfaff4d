"""How long does it take until an engine gives its first token: import, vocabulary, first schema and mask?

    python benchmarks/set_up.py [TOKENIZER_FOLDER ...] [--runs 3] [--plot set_up.png]

Every number is the median of fresh processes. The engines take turns. The unit is seconds of processor time of all
threads, which other programs on the machine do not change. For imports, the table also shows wall-clock time, because
the threads that numpy's OpenBLAS starts spin while they wait, which counts as processor time.

- *Import* loads what a program needs that already has a tokenizer, without transformers and torch. If an engine imports
  these itself, they count. "bare" is Python that imports nothing.
- *Vocabulary* is made from a tokenizer of transformers that is already loaded.
- *First schema and mask* compiles a schema of ten properties and computes its first mask. Everything else is ready.
- *Second* does the same for another schema like it, which uses the tables of the vocabulary from the first one.

Without folders, the tokenizers are SmolLM2's and those in the folders of STRUCTGEN_TOKENIZERS with a tokenizer.json.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from _peers import ENGINES, installed, load_tokenizer, make_engine
from _report import draw, heading, table

MODULES = {
    "bare": ["sys"],
    "structgen, the name": ["structgen"],  # the modules of its names are imported on first use
    "structgen": [
        "structgen",
        "structgen.compilation.cache",
        "structgen.engine.vocabulary.bitmask",
        "structgen.engine.matching.matcher",
    ],
    "llguidance": ["llguidance.hf", "llguidance.numpy"],
    "xgrammar": ["xgrammar"],
    "outlines": ["outlines"],
}


def import_seconds(name: str) -> list[float]:
    """Return the processor time and the wall-clock time of a fresh process that imports an engine and ends."""
    before = os.times()
    subprocess.run([sys.executable, "-c", f"import {', '.join(MODULES[name])}"], check=True)
    after = os.times()
    busy = after.children_user + after.children_system - before.children_user - before.children_system
    return [busy, after.elapsed - before.elapsed]


def schema(seed: str) -> dict[str, Any]:
    """Return a schema of ten properties, as in APIs, with different names for each seed."""
    kinds: list[dict[str, Any]] = [
        {"type": "string", "maxLength": 40},
        {"type": "integer", "minimum": 0, "maximum": 120},
        {"type": "string", "format": "date"},
        {"enum": [f"{seed}-red", f"{seed}-green"]},
        {"type": "array", "items": {"type": "number"}, "maxItems": 8},
    ]
    properties = {f"{seed}{number}": kinds[number % len(kinds)] for number in range(10)}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def first_token(folder: str, name: str) -> list[float]:
    """Return the seconds for the vocabulary, the first schema and mask, and a second one. Runs in a new process."""
    tokenizer = load_tokenizer(folder)
    for module in MODULES[name]:
        importlib.import_module(module)
    begins = [time.process_time()]
    engine = make_engine(name, tokenizer)
    begins.append(time.process_time())
    for seed in ("first", "second"):
        engine.compile(schema(seed))
        engine.reset()
        engine.fill_mask()
        begins.append(time.process_time())
    return [after - before for before, after in itertools.pairwise(begins)]


def in_a_process(folder: str, name: str) -> list[float]:
    """Run `first_token` in a fresh process."""
    command = [sys.executable, __file__, *([folder] if folder else []), "--engine", name]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def folders_of(given: list[str]) -> list[str]:
    """Return the given folders; without any, "" for SmolLM2's and those that STRUCTGEN_TOKENIZERS names."""
    if given:
        return given
    files = Path(os.environ.get("STRUCTGEN_TOKENIZERS") or "/nonexistent").glob("*/tokenizer.json")
    return ["", *map(str, sorted(file.parent for file in files))]


def report(folders: list[str], runs: int) -> list[list[Any]]:
    """Print both tables; return the rows of the second one."""
    present = installed(ENGINES)
    importers = ["bare", "structgen, the name", *present, *installed(["outlines"])]
    times: dict[str, list[list[float]]] = {name: [] for name in importers}
    for _ in range(runs + 1):
        for name in importers:
            times[name].append(import_seconds(name))
    # The first run is left out: it reads files into the system's cache.
    medians = [[name, *map(statistics.median, zip(*times[name][1:], strict=True))] for name in importers]
    print(table(["import", "seconds", "wall clock, s"], medians), end="\n\n")
    rows: list[list[Any]] = []
    for folder in folders:
        samples: dict[str, list[list[float]]] = {name: [] for name in present}
        for _ in range(runs):
            for name, found in samples.items():
                found.append(in_a_process(folder, name))
        for name, found in samples.items():
            vocabulary, first, second = (statistics.median(column) for column in zip(*found, strict=True))
            rows.append([Path(folder).name or "smollm2", name, vocabulary, first * 1000, second * 1000])
    columns = ["tokenizer", "engine", "vocabulary, s", "first schema and mask, ms", "second, ms"]
    print(table(columns, rows, left=2))
    return rows


def paint(axes: Any, rows: list[list[Any]]) -> None:
    """Draw the seconds to the first mask, by tokenizer and engine."""
    labels = [f"{tokenizer}: {name}" for tokenizer, name, *_ in rows]
    vocabulary = [row[2] for row in rows]
    axes.barh(labels, vocabulary, label="vocabulary")
    axes.barh(labels, [row[3] / 1000 for row in rows], left=vocabulary, label="first schema and mask")
    axes.set(xlabel="seconds")
    axes.invert_yaxis()
    axes.legend()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", nargs="*", metavar="TOKENIZER_FOLDER")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--plot", metavar="FILE", help="draw the second table (needs matplotlib)")
    parser.add_argument("--engine", choices=ENGINES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.engine:
        print(json.dumps(first_token("".join(options.folders), options.engine)))
        return
    print(heading(), end="\n\n")
    rows = report(folders_of(options.folders), options.runs)
    if options.plot:
        draw(options.plot, lambda axes: paint(axes, rows))


if __name__ == "__main__":
    main()
