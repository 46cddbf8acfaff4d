"""What do masks along real programs cost, with the grammars of programming languages that structgen ships?

    python benchmarks/languages.py [--tokenizer FOLDER] [--languages NAME ...] [--tokens N] [--engines NAME ...]

Each program of the tests is followed token by token, up to N tokens (1,000). There are three rounds over all programs:

- Round 1 compiles the grammar for each program (*set-up*) and times the masks when nothing is known (*first*).
- Round 2 compiles the grammar anew for each program. The vocabulary's tables are known then, and the grammar's are not
  (*new*). It follows each program a second time at once (*warm*).
- Round 3 compiles the grammar once for all programs of its language, as a server does (*kept*).

The engines take turns at each program. Python's garbage collector is off while masks are timed. If an engine refuses a
token of a program, the masks up to that token count, and stderr names the token.

llguidance gets a grammar of each language in its Lark dialect (`data/languages`), written for its lexer. It also gets
higher limits, which JavaScript needs. These grammars are looser than structgen's, as a comment in each says. Python's
has no indentation, because llguidance does not support it.

SynCode has its own grammars for Go, Java, JSON and Python, which cover less than the languages. Its parser reads the
text even after its masks refused a token. So its masks are also timed after a refused token, up to the position where
its parser fails. They take long, so only --syncode-tokens of a program (100) are followed. SynCode needs another
version of transformers, so it runs in a process with its own interpreter (`_syncode.py`):

    python -m venv FOLDER
    FOLDER/bin/pip install torch==2.13.0 syncode==0.4.16
    python benchmarks/languages.py --tokenizer FOLDER --syncode-python FOLDER/bin/python [--syncode-cache FOLDER]

Its set-up is the time to load a parser and a mask store from disk, once per language. The store is built first, which
takes minutes and one or two gigabytes. stderr shows the time, and --syncode-seconds limits it. Without --syncode-cache,
each run builds the store again.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from _peers import Llguidance, Structgen, installed, load_tokenizer, logits_width
from _report import heading, percentile, table
from _syncode import LANGUAGES, Syncode

import structgen
from structgen.languages import language_names

PROGRAMS = Path(__file__).parent.parent / "tests" / "languages" / "programs"
LARK = Path(__file__).parent / "data" / "languages"
ENGINES = ("structgen", "llguidance")


class LarkLlguidance(Llguidance):
    """llguidance with grammars in Lark."""

    def compile(self, schema: str) -> None:
        """Compile a grammar in Lark."""
        import llguidance

        # With its default limits it fails at a mask in each JavaScript program.
        limits = llguidance.LLParserLimits(
            step_max_items=5_000_000, max_items_in_row=50_000, step_lexer_fuel=10_000_000
        )
        grammar = llguidance.LLMatcher.grammar_from_lark(schema)
        self.compiled = self._matcher(self.tokenizer, grammar, limits=limits)
        if self.compiled.is_error():
            raise ValueError(self.compiled.get_error())


@dataclass
class Times:
    """The times of one engine and language: milliseconds of set-ups, microseconds of masks and acceptances."""

    set_up: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    new: list[float] = field(default_factory=list)
    kept: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    programs: int = 0
    refused: list[str] = field(default_factory=list)


def set_up_ms(engine: Any, grammar: Any) -> float:
    """Return the milliseconds that an engine takes to compile a grammar."""
    if isinstance(engine, Syncode):
        return engine.compile(grammar)
    engine.forget()
    gc.collect()
    began = time.perf_counter()
    engine.compile(grammar)
    return 1000 * (time.perf_counter() - began)


def follow(engine: Any, ids: list[int]) -> tuple[list[float], str]:
    """Return the microseconds for each token, mask and acceptance together; and why a token is refused, or ""."""
    if isinstance(engine, Syncode):
        return engine.follow(ids)
    engine.reset()
    times: list[float] = []
    for token in ids:
        began = time.perf_counter()
        engine.fill_mask()
        moved = engine.commit(token)
        times.append(1e6 * (time.perf_counter() - began))
        if not moved:
            return times, f"token {len(times) - 1} is not allowed"
    return times, ""


def programs(language: str, tokenizer: Any, most: int) -> list[tuple[str, list[int]]]:
    """Return the names of the programs, and their tokens, at most `most`."""
    files = sorted(file for file in (PROGRAMS / language).iterdir() if file.suffix != ".md")
    return [
        (file.name, tokenizer.encode(file.read_text(encoding="utf-8"), add_special_tokens=False)[:most])
        for file in files
    ]


def measure(engine: Any, grammar: Any, name: str, ids: list[int], times: Times, is_second: bool) -> None:
    """Add the times of one program."""
    gc.disable()
    try:
        times.set_up.append(set_up_ms(engine, grammar))
        new, refused = follow(engine, ids)
        again = follow(engine, ids)[0] if is_second else []
    except Exception as error:
        if is_second:
            times.refused.append(f"{name}: {str(error).splitlines()[0][:120]}")
        return
    finally:
        gc.enable()
    if not is_second:
        times.first += new
        return
    if refused:
        times.refused.append(f"{name}: {refused}")
    else:
        times.programs += 1
    times.new += new
    times.again += again
    times.places += [f"{name}, token {at}" for at in range(len(new))]


def measure_kept(engine: Any, grammar: Any, some: list[tuple[str, list[int]]], times: Times) -> None:
    """Add the times of all programs with a grammar that is compiled once."""
    gc.disable()
    try:
        set_up_ms(engine, grammar)
        for _, ids in some:
            times.kept += follow(engine, ids)[0]
    except Exception as error:
        print(f"with one grammar for all programs: {str(error).splitlines()[0][:120]}", file=sys.stderr)
    finally:
        gc.enable()


def grammar_of(engine: str, language: str) -> Any:
    """Return what an engine gets as the grammar of a language; None if it has none."""
    if engine == "structgen":
        return structgen.Grammar.language(language)
    if engine == "llguidance":
        return (LARK / f"{language}.lark").read_text(encoding="utf-8")
    return language if language in LANGUAGES else None


def row(language: str, engine: str, times: Times) -> list[Any]:
    """Return one row of the table."""
    return [
        language,
        engine,
        f"{times.programs} of {times.programs + len(times.refused)}",
        len(times.new),
        statistics.median(times.set_up),
        statistics.fmean(times.first),
        statistics.fmean(times.new),
        *[percentile(times.new, at) for at in (50, 99)],
        max(times.new),
        *([statistics.fmean(times.kept), percentile(times.kept, 99)] if times.kept else [None, None]),
        statistics.fmean(times.again),
        percentile(times.again, 99),
    ]


def run(makers: dict[str, Callable[[Any], Any]], language: str, folder: str, most: int) -> list[list[Any]]:
    """Return the rows of a language, measured with a fresh tokenizer and fresh engines; print the rest to stderr."""
    structgen.clear_cache()
    gc.collect()  # drop what was made for the previous language
    tokenizer = load_tokenizer(folder)
    engines = {name: make(tokenizer) for name, make in makers.items()}
    grammars = {name: grammar_of(name, language) for name in engines}
    found = {name: Times() for name in engines if grammars[name] is not None}
    some = programs(language, tokenizer, most)
    for is_second in (False, True):
        for name, ids in some:
            for engine_name, times in found.items():
                measure(engines[engine_name], grammars[engine_name], name, ids, times, is_second)
    for engine_name, times in found.items():
        measure_kept(engines[engine_name], grammars[engine_name], some, times)
    rows = []
    for engine_name, times in found.items():
        for refused in times.refused:
            print(f"{language}, {engine_name}: {refused}", file=sys.stderr)
        if times.new:
            worst = max(range(len(times.new)), key=times.new.__getitem__)
            print(f"{language}, {engine_name}: slowest {times.places[worst]}", file=sys.stderr)
            rows.append(row(language, engine_name, times))
    return rows


def main() -> None:
    """Print the table; see the module's docstring."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--tokenizer", default="", help="a folder with a tokenizer; by default that of SmolLM2")
    options.add_argument("--languages", nargs="+", default=list(language_names()))
    options.add_argument("--tokens", type=int, default=1000, help="of each program at most so many")
    options.add_argument("--engines", nargs="+", default=installed(ENGINES), choices=ENGINES)
    options.add_argument("--syncode-python", default="", help="an interpreter that has syncode, which then takes part")
    options.add_argument("--syncode-cache", default="", help="a folder for what it builds; by default one for this run")
    options.add_argument("--syncode-seconds", type=int, default=3600, help="the most that building may take")
    options.add_argument("--syncode-tokens", type=int, default=100, help="of each program so many for syncode")
    chosen = options.parse_args()
    if chosen.syncode_python and not chosen.tokenizer:
        options.error("--syncode-python needs --tokenizer")
    width = logits_width(load_tokenizer(chosen.tokenizer))
    kinds = {"structgen": Structgen, "llguidance": LarkLlguidance}
    makers: dict[str, Callable[[Any], Any]] = {name: partial(kinds[name], width=width) for name in chosen.engines}
    with tempfile.TemporaryDirectory() as folder:
        if chosen.syncode_python:
            cache = chosen.syncode_cache or folder
            limits = {"seconds": chosen.syncode_seconds, "tokens": chosen.syncode_tokens}
            syncode = Syncode(chosen.syncode_python, chosen.tokenizer, cache, **limits)
            makers[syncode.name] = lambda _: syncode
        rows = [
            line for language in chosen.languages for line in run(makers, language, chosen.tokenizer, chosen.tokens)
        ]
        if chosen.syncode_python:
            syncode.close()
            print(*syncode.notes, sep="\n", file=sys.stderr)
    columns = ["language", "engine", "programs", "masks", "set-up ms", "first µs"]
    columns += ["new µs", "p50", "p99", "max", "kept µs", "p99", "warm µs", "p99"]
    print(heading())
    print()
    print(table(columns, rows, left=3))


if __name__ == "__main__":
    main()
