"""How much memory do a vocabulary, a compiled schema and a matcher take, and is it flat after many generations?

    python benchmarks/memory.py [FOLDER] [--tokenizer FOLDER] [--schemas 40] [--generations 1500] [--plot memory.png]
    python benchmarks/memory.py FOLDER --tokenizer LLAMA3 --schemas 1000 --compiled 100 --generations 100000

FOLDER holds MaskBench's JSON files; without it, the schemas are made up. The tokenizer is SmolLM2's by default.

The first table measures each engine in its own process. It shows by how much the process's resident memory grows, after
free blocks of malloc are returned to the system, for

- the engine's vocabulary;
- compiling the schemas and keeping them, at most `--compiled` of them, after a first schema;
- one random text under each schema;
- 500 matchers, each 10 tokens into a text of the first schema that is an object.

The second vocabulary column is what remains after all schemas are dropped: the vocabulary with the tables that the
engine has computed for its tokens.

The second table is structgen alone, in a process that only runs generations. Each one draws a schema and compiles it,
or finds it in the cache. Then a matcher follows a text of random tokens that the masks allow, to its end or up to 64
tokens.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import os
import random
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from _peers import ENGINES, installed, load_tokenizer, make_engine
from _report import draw, heading, table

MATCHERS = 500
MATCHER_TOKENS = 10
TEXT_TOKENS = 64
SAMPLES = 100
PERIODS = 10
MB = 2**20


def resident_bytes() -> int:
    """Return the memory that this process uses, after collecting garbage and returning free blocks to the system."""
    gc.collect()
    with contextlib.suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


# --- schemas and texts ------------------------------------------------------------------------------------------------


def schemas_of(folder: str | None, count: int) -> list[Any]:
    """Return schemas: a fixed random sample of the folder, or made-up ones."""
    if folder is None:
        return [made_up(random.Random(seed)) for seed in range(count)]
    files = sorted(Path(folder).glob("*.json"))
    drawn = random.Random(0).sample(files, min(count, len(files)))
    return [json.loads(file.read_text())["schema"] for file in drawn]


def made_up(rng: random.Random, depth: int = 0) -> dict[str, Any]:
    """Return a schema as in APIs: an object of a few properties with random names, nested to a depth of 2."""
    scalars: list[dict[str, Any]] = [
        {"type": "string", "maxLength": rng.choice([8, 20, 40])},
        {"type": "string", "pattern": rf"^[A-Z]{{{rng.randint(1, 4)}}}-[0-9]{{{rng.randint(1, 6)}}}$"},
        {"type": "string", "format": rng.choice(["date", "uuid", "ipv4", "date-time"])},
        {"type": "integer", "minimum": rng.randint(-50, 0), "maximum": rng.randint(1, 5000)},
        {"enum": [f"kind{rng.randint(0, 999)}" for _ in range(rng.randint(2, 8))]},
        {"type": ["boolean", "null"]},
    ]
    properties: dict[str, Any] = {}
    for _ in range(rng.randint(2, 7)):
        name = "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 9)))
        nested = rng.random() < 0.3 and depth < 2
        value = made_up(rng, depth + 1) if nested else rng.choice(scalars)
        is_list = rng.random() < 0.2
        properties[name] = {"type": "array", "items": value, "maxItems": rng.randint(1, 4)} if is_list else value
    required = [name for name in properties if rng.random() < 0.7]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


class Writer:
    """A writer of random texts under masks.

    Half of the tokens are drawn from those that close something, if any are allowed, so that texts end.
    """

    def __init__(self, tokenizer: Any, seed: int) -> None:
        self.rng = random.Random(seed)
        self._end = tokenizer.eos_token_id
        vocabulary = tokenizer.get_vocab()
        closing = [token_id for token, token_id in vocabulary.items() if token[:1] in ('"', "}", "]", ",")]
        self._closing = np.zeros(max(vocabulary.values()) // 32 + 2, np.uint32)
        np.bitwise_or.at(
            self._closing, np.array(closing) >> 5, np.uint32(1) << (np.array(closing) & 31).astype(np.uint32)
        )

    def write(self, engine: Any, most_tokens: int = TEXT_TOKENS) -> None:
        """Write one text, up to the first position where it may end. The engine has just been reset."""
        for _ in range(most_tokens):
            engine.fill_mask()
            token = self._draw(np.asarray(engine.row).view(np.uint32))
            if token is None or token == self._end or not engine.commit(token):
                return

    def _draw(self, row: Any) -> int | None:
        if int(row[self._end >> 5]) >> (self._end & 31) & 1:
            return None
        words: Any = ()
        if self.rng.random() < 0.5:
            closing = row[: len(self._closing)] & self._closing[: len(row)]
            words = np.flatnonzero(closing)
            row = closing if len(words) else row
        if not len(words):
            words = np.flatnonzero(row)
        if not len(words):
            return None
        at = int(words[int(self.rng.random() * len(words))])
        word = int(row[at])
        return at * 32 + self.rng.choice([bit for bit in range(32) if word >> bit & 1])


# --- what an engine holds ---------------------------------------------------------------------------------------------


def held(name: str, tokenizer: Any, schemas: list[Any]) -> dict[str, float]:
    """Measure the bytes that an engine holds, by purpose. Runs in its own process."""
    writer = Writer(tokenizer, 0)
    __import__(name)
    before = resident_bytes()
    engine: Any = make_engine(name, tokenizer)
    made = resident_bytes()
    engine.compile(made_up(random.Random("first")))  # imports modules on first use, among other things
    follow(engine, engine.compiled, writer)
    engine.forget()
    begun = resident_bytes()
    compiled = []
    for schema in schemas:
        try:
            engine.compile(schema)
        except Exception as error:  # the schema is refused; each engine has its own errors
            print(f"{name}: {str(error).splitlines()[0][:200]}", file=sys.stderr)
            continue
        compiled.append((schema, engine.compiled))
    kept = resident_bytes()
    for _, grammar in compiled:
        follow(engine, grammar, writer)
    used = resident_bytes()
    first = next(grammar for schema, grammar in compiled if isinstance(schema, dict) and "properties" in schema)
    follow(engine, first, writer)
    before_matchers = resident_bytes()
    matchers = []
    for _ in range(MATCHERS):
        follow(engine, first, writer, MATCHER_TOKENS)
        matchers.append(engine.matcher)
    ended = resident_bytes()
    matchers.clear()
    count = len(compiled)
    compiled.clear()
    del first, grammar
    engine.forget()
    left = resident_bytes()
    return {
        "vocabulary": made - before,
        "schema": (kept - begun) / count,
        "used": (used - begun) / count,
        "matcher": (ended - before_matchers) / MATCHERS,
        "left": left - before,
        "compiled": count,
    }


def follow(engine: Any, grammar: Any, writer: Writer, most_tokens: int = TEXT_TOKENS) -> None:
    """Write a text under a compiled schema. If the engine fails, the memory that it has taken by then counts."""
    engine.compiled = grammar
    engine.reset()
    try:
        writer.write(engine, most_tokens)
    except Exception as error:
        print(f"{engine.name}: {error}", file=sys.stderr)


# --- many generations -------------------------------------------------------------------------------------------------


def generations(tokenizer: Any, schemas: list[Any], count: int) -> Iterator[tuple[int, int, int]]:
    """Run generations; about a hundred times, yield their number, the resident bytes and the schemas in the cache."""
    from structgen import StructgenError
    from structgen.compilation import compiler

    engine: Any = make_engine("structgen", tokenizer)
    writer = Writer(tokenizer, 0)
    usable = []
    for schema in schemas:
        try:
            engine.compile(schema)
            usable.append(schema)
        except StructgenError:
            continue
    engine.forget()
    yield 0, resident_bytes(), 0
    for number in range(1, count + 1):
        schema = writer.rng.choice(usable)
        engine.compile(schema)
        engine.reset()
        try:
            writer.write(engine)
        except StructgenError as error:
            error.add_note(f"in generation {number}, of {json.dumps(schema)[:300]}")
            raise
        if number % max(1, count // SAMPLES) == 0:
            yield number, resident_bytes(), len(compiler._cache)


# --- the run ----------------------------------------------------------------------------------------------------------


def in_a_process(options: argparse.Namespace, part: str) -> list[Any]:
    """Run this file in a new process for one part, and return the JSON lines that it prints."""
    command = [sys.executable, __file__, *([options.folder] if options.folder else []), "--part", part]
    command += ["--tokenizer", options.tokenizer, "--schemas", str(options.schemas)]
    command += ["--generations", str(options.generations)]
    command += ["--compiled", str(options.compiled)]
    limit = None if part == "generations" else options.seconds
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        print(f"{part} is late: more than {limit:g} seconds\n")
        return []
    if done.returncode:
        print(f"{part} failed\n")
        return []
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith(("[", "{"))]


def run_part(options: argparse.Namespace) -> None:
    warnings.simplefilter("ignore")  # about unknown formats in schemas
    tokenizer = load_tokenizer(options.tokenizer)
    schemas = schemas_of(options.folder, options.schemas)
    if options.part != "generations":
        print(json.dumps(held(options.part, tokenizer, schemas[: options.compiled])))
        return
    for sample in generations(tokenizer, schemas, options.generations):
        print(json.dumps(sample), flush=True)


def report(options: argparse.Namespace) -> None:
    rows = []
    for name in installed(ENGINES):
        for found in in_a_process(options, name):
            kilobytes = [found[key] / 1024 for key in ("schema", "used", "matcher")]
            rows.append([name, found["vocabulary"] / MB, found["left"] / MB, *kilobytes, int(found["compiled"])])
    columns = ["engine", "vocabulary, MB", "with what it learned, MB"]
    columns += [
        "schema compiled, KB",
        "and used once, KB",
        "matcher, KB",
        f"compiled of {min(options.schemas, options.compiled):,}",
    ]
    print(table(columns, rows))
    samples = in_a_process(options, "generations")
    if not samples:
        return  # the reason stands above
    print(f"\n{options.schemas:,} schemas, {options.generations:,} generations:\n")
    print(
        table(
            ["generations", "resident on average, MB", "at most, MB", "schemas in the cache"], periods(samples), left=0
        )
    )
    half = np.array(samples[len(samples) // 2 :], float)
    slope = np.polyfit(half[:, 0], half[:, 1], 1)[0] if len(half) > 2 else float("nan")
    print(f"\nIn the second half memory grows by {slope:,.0f} bytes a generation. Short runs end before the cache of")
    print("compiled schemas and the tables of the vocabulary have reached their limits (`structgen.Limits`).")
    if options.plot:
        draw(options.plot, lambda axes: paint(axes, samples))


def periods(samples: list[Any]) -> list[list[float]]:
    """Return the resident memory by period. Flat memory still goes up and down as caches are filled and dropped."""
    begun, *others = np.array(samples, float) / [1, MB, 1]
    rows = [[0, begun[1], begun[1], 0]]
    for part in np.array_split(np.array(others), min(PERIODS, len(others))):
        rows.append([part[-1, 0], part[:, 1].mean(), part[:, 1].max(), part[-1, 2]])
    return [[int(done), average, most, int(kept)] for done, average, most, kept in rows]


def paint(axes: Any, samples: list[Any]) -> None:
    """Draw the resident memory over generations."""
    axes.plot([done for done, _, _ in samples], [bytes_ / MB for _, bytes_, _ in samples], marker=".")
    axes.set(xlabel="generations", ylabel="resident memory, MB", ylim=(0, None))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", nargs="?", help="of MaskBench's JSON files")
    parser.add_argument("--tokenizer", default="", metavar="FOLDER")
    parser.add_argument("--schemas", type=int, default=40)
    parser.add_argument("--compiled", type=int, default=100, help="so many of them at most by each engine")
    parser.add_argument("--generations", type=int, default=1500)
    parser.add_argument("--seconds", type=float, default=300, help="for an engine, or it is late")
    parser.add_argument("--plot", metavar="FILE", help="draw memory over generations (needs matplotlib)")
    parser.add_argument("--part", choices=[*ENGINES, "generations"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        run_part(options)
        return
    print(heading(), end="\n\n")
    report(options)


if __name__ == "__main__":
    main()
