"""Masks along real programs, by the grammars of programming languages that structgen ships.

    python benchmarks/languages.py [--tokenizer FOLDER] [--languages NAME ...] [--tokens N] [--engines NAME ...]

Each program of the tests is followed token by token, up to N tokens (1,000). For each program the grammar is compiled
anew (set-up); the masks along it are timed when nothing was known (first), in a second round over all programs, when
the vocabulary's tables are known, and the grammar is not (new), and at once again (warm). llguidance gets the
same grammar in its Lark dialect, rule by rule (`_lark.py`), but for indentation, which it does not have, and with
higher limits; a grammar written for its lexer by hand may be faster there. The engines take turns with
each program, in one process; Python's garbage collector is off while masks are timed.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _lark import to_lark
from _peers import Llguidance, Structgen, installed, load_tokenizer, logits_width
from _report import heading, percentile, table

import structgen
from structgen.kbnf.parser import parse
from structgen.languages import language_names, language_source

PROGRAMS = Path(__file__).parent.parent / "tests" / "languages" / "programs"
ENGINES = ("structgen", "llguidance")


class LarkLlguidance(Llguidance):
    """llguidance, given Lark text."""

    def compile(self, schema: str) -> None:
        """Prepares a grammar in Lark."""
        import llguidance

        # By its own limits it stops at most masks of the larger grammars.
        limits = llguidance.LLParserLimits(
            step_max_items=5_000_000, max_items_in_row=50_000, step_lexer_fuel=10_000_000
        )
        grammar = llguidance.LLMatcher.grammar_from_lark(schema)
        self.compiled = self._matcher(self.tokenizer, grammar, limits=limits)
        if self.compiled.is_error():
            raise ValueError(self.compiled.get_error())


@dataclass
class Times:
    """Of one engine and language: milliseconds of set-ups, microseconds of masks and of moving on."""

    set_up: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    new: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    programs: int = 0
    refused: list[str] = field(default_factory=list)


def follow(engine: Any, ids: list[int]) -> list[float] | None:
    """Microseconds for each token: the mask before it, and moving past it; None where a token is refused."""
    engine.reset()
    times = []
    for token in ids:
        began = time.perf_counter()
        engine.fill_mask()
        moved = engine.commit(token)
        times.append(1e6 * (time.perf_counter() - began))
        if not moved:
            return None
    return times


def programs(language: str, tokenizer: Any, most: int) -> list[tuple[str, list[int]]]:
    """Names and tokens of the programs, cut off after so many."""
    files = sorted(file for file in (PROGRAMS / language).iterdir() if file.suffix != ".md")
    return [
        (file.name, tokenizer.encode(file.read_text(encoding="utf-8"), add_special_tokens=False)[:most])
        for file in files
    ]


def measure(engine: Any, grammar: Any, name: str, ids: list[int], times: Times, is_second: bool) -> None:
    """Adds the times of one program."""
    engine.forget()
    gc.collect()
    gc.disable()
    try:
        began = time.perf_counter()
        engine.compile(grammar)
        times.set_up.append(1000 * (time.perf_counter() - began))
        new = follow(engine, ids)
        again = follow(engine, ids) if new and is_second else None
    except Exception as error:
        if is_second:
            times.refused.append(f"{name}: {str(error).splitlines()[0][:120]}")
        return
    finally:
        gc.enable()
    if new is None:
        if is_second:
            times.refused.append(f"{name}: a token is not allowed")
        return
    if again is None:
        times.first += new
        return
    times.programs += 1
    times.new += new
    times.again += again
    times.places += [f"{name}, token {at}" for at in range(len(ids))]


def main() -> None:
    """Prints the table; see the module's docstring."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--tokenizer", default="", help="a folder with a tokenizer; by default that of SmolLM2")
    options.add_argument("--languages", nargs="+", default=list(language_names()))
    options.add_argument("--tokens", type=int, default=1000, help="of each program at most so many")
    options.add_argument("--engines", nargs="+", default=installed(ENGINES), choices=ENGINES)
    chosen = options.parse_args()
    tokenizer = load_tokenizer(chosen.tokenizer)
    width = logits_width(tokenizer)
    engines = {
        "structgen": lambda: Structgen(tokenizer, width),
        "llguidance": lambda: LarkLlguidance(tokenizer, width),
    }
    made = {name: engines[name]() for name in chosen.engines}
    rows = []
    for language in chosen.languages:
        source = language_source(language)
        grammars = {"structgen": structgen.Grammar.language(language), "llguidance": to_lark(parse(source))}
        found = {name: Times() for name in made}
        for is_second in (False, True):
            for name, ids in programs(language, tokenizer, chosen.tokens):
                for engine_name, engine in made.items():
                    measure(engine, grammars[engine_name], name, ids, found[engine_name], is_second)
        for engine_name, times in found.items():
            for refused in times.refused:
                print(f"{language}, {engine_name}: {refused}", file=sys.stderr)
            if times.new:
                worst = max(range(len(times.new)), key=times.new.__getitem__)
                print(f"{language}, {engine_name}: slowest {times.places[worst]}", file=sys.stderr)
                rows.append(
                    [
                        language,
                        engine_name,
                        f"{times.programs} of {times.programs + len(times.refused)}",
                        len(times.new),
                        statistics.median(times.set_up),
                        statistics.fmean(times.first),
                        statistics.fmean(times.new),
                        *[percentile(times.new, at) for at in (50, 99)],
                        max(times.new),
                        statistics.fmean(times.again),
                        percentile(times.again, 99),
                    ]
                )
    columns = ["language", "engine", "programs", "masks", "set-up ms", "first µs"]
    columns += ["new µs", "p50", "p99", "max", "warm µs", "p99"]
    print(heading())
    print()
    print(table(columns, rows, left=3))


if __name__ == "__main__":
    main()
