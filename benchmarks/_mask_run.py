"""Measurement of masks and compiles: the engines take turns at each schema, in any number of rounds.

Each engine has its own process, so a crash, a long compile or the memory of one engine does not affect another. Only
one engine works at a time, so other work on the machine affects all of them. Each round begins with new processes:
only the tables of the vocabulary are warm, and only from earlier schemas.
"""

from __future__ import annotations

import dataclasses
import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from _peers import ENGINES
from _schema_process import EngineProcess

__all__ = ["Case", "Outcome", "Settings", "read_cases", "run_cases"]

WORKER = Path(__file__).with_name("_mask_worker.py")
TOLD_SECONDS = 30.0  # between two lines of progress
GRACE_SECONDS = 10.0  # time for a worker to report that it is late, before it is killed


@dataclass(frozen=True)
class Case:
    """A schema with its instances.

    Attributes:
        name: the name of the schema.
        schema: the schema, as JSON data.
        texts: the instances, as JSON texts.
        valid: for each instance, whether it is valid.
        family: cases of one family grow. If an engine is late or dies with one, it does not get the larger ones.
    """

    name: str
    schema: Any
    texts: tuple[str, ...]
    valid: tuple[bool, ...]
    family: str = ""

    @classmethod
    def of(cls, name: str, schema: Any, tests: Sequence[dict[str, Any]], family: str = "") -> Case:
        """Make a case, with each instance as `json.dumps` writes it."""
        texts = tuple(json.dumps(test["data"], ensure_ascii=False) for test in tests)
        return cls(name, schema, texts, tuple(bool(test["valid"]) for test in tests), family)


@dataclass
class Outcome:
    """The result of one engine for one case.

    Attributes:
        kind: passing, refused, "lets through", "turns away", failed, late, died, or "not asked".
        error: the error, or "".
        compile_us: the median over the rounds; None if it did not compile.
        masks_us: for each instance, the medians over the rounds, by token.
        slow: the workers' reports on the slowest masks, by (instance, token).
        work: the counts of structgen's work to compile.
    """

    kind: str = "passing"
    error: str = ""
    compile_us: float | None = None
    masks_us: list[list[float]] = field(default_factory=list)
    slow: dict[tuple[int, int], dict[str, Any]] = field(default_factory=dict)
    work: list[int] = field(default_factory=list)

    @property
    def all_masks_us(self) -> list[float]:
        """Return the times of all instances."""
        return [one for masks in self.masks_us for one in masks]


def read_cases(folder: Path) -> list[Case]:
    """Read the files of a folder, in the order of their names.

    Each file is `{"schema": …, "tests": [{"data": …, "valid": …}]}`.
    """
    cases = []
    for path in sorted(folder.glob("*.json")):
        content = json.loads(path.read_text())
        cases.append(Case.of(path.stem, content["schema"], content["tests"]))
    return cases


@dataclass(frozen=True)
class Settings:
    """Settings of a measurement.

    Attributes:
        tokenizer: the folder of a tokenizer, or "" for SmolLM2's.
        options: keyword arguments of `structgen.compile`.
        seconds: the limit for one case, in wall-clock seconds.
        clock: "wall", or "cpu" for a machine with other work.
        collector: whether Python's garbage collector runs.
        rounds: the number of measurements; each reported time is the median over the rounds.
    """

    tokenizer: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    seconds: float = 60.0
    clock: str = "wall"
    collector: bool = True
    rounds: int = 1


class TimedProcess(EngineProcess):
    """The process of one engine, which reports times."""

    def __init__(self, name: str, settings: Settings) -> None:
        chosen = {"compile": settings.options, "seconds": settings.seconds}
        chosen |= {"clock": settings.clock, "collector": settings.collector}
        super().__init__(name, settings.tokenizer, json.dumps(chosen), settings.seconds + GRACE_SECONDS, WORKER)

    def outcome(self, case: Case) -> Outcome:
        """Run one case."""
        told = self.ask(case.schema, list(case.texts), {})
        if told.get("outcome") == "failed":
            return Outcome("died" if "died" in told["error"] else "late", told["error"])
        if told["is_late"]:
            self.close()  # it was interrupted at an unknown position
            self._start()
        found = Outcome("passing", told["error"], told["compile_us"], work=told.get("work", []))
        found.masks_us = [text["masks_us"] for text in told["texts"]]
        found.slow = {(one["text"], one["token"]): one for one in told["slow"]}
        found.kind, found.error = judge(told, case)
        return found


def judge(told: dict[str, Any], case: Case) -> tuple[str, str]:
    """Return the kind of an outcome and its reason, from a worker's answer."""
    if told["is_late"]:
        return "late", "the time was over"
    if told["compile_us"] is None:
        return "refused", told["error"]
    for number, (text, valid) in enumerate(zip(told["texts"], case.valid, strict=True)):
        if text["error"]:
            return "failed", text["error"].splitlines()[0]
        if text["allowed"] != valid:
            return "turns away" if valid else "lets through", f"instance {number}"
    return "passing", ""


def run_cases(
    cases: Sequence[Case], settings: Settings, engines: Sequence[str] = ENGINES, *, warm_up: Case | None = None
) -> tuple[dict[str, list[Outcome]], dict[str, dict[str, Any]]]:
    """Measure cases with several engines.

    Args:
        cases: the cases.
        settings: the settings of the measurement.
        engines: the names of the engines.
        warm_up: a case that each process runs first; its result is dropped.

    Returns:
        For each engine, its outcomes in the order of the cases; and its version and settings.
    """
    found: dict[str, list[list[Outcome]]] = {name: [] for name in engines}
    about: dict[str, dict[str, Any]] = {}
    given_up: set[tuple[str, str]] = set()
    for number in range(settings.rounds):
        processes = {name: TimedProcess(name, settings) for name in engines}
        about |= {name: process.about for name, process in processes.items()}
        if warm_up:
            for process in processes.values():
                process.outcome(warm_up)
        for name, outcomes in one_round(cases, processes, given_up, f"round {number + 1}").items():
            found[name].append(outcomes)
        for process in processes.values():
            process.close()
    return {name: [merged(list(one)) for one in zip(*by_round)] for name, by_round in found.items()}, about


def one_round(
    cases: Sequence[Case], processes: dict[str, TimedProcess], given_up: set[tuple[str, str]], title: str
) -> dict[str, list[Outcome]]:
    """Return the outcomes of one round; skip the engines and families in `given_up`, and add to it those that fail."""
    begin = told = time.monotonic()
    engines = list(processes)
    outcomes: dict[str, list[Outcome]] = {name: [] for name in engines}
    for number, case in enumerate(cases):
        turn = number % len(engines)
        for name in [*engines[turn:], *engines[:turn]]:
            asked = (name, case.family) not in given_up
            outcome = processes[name].outcome(case) if asked else Outcome("not asked")
            outcomes[name].append(outcome)
            if case.family and outcome.kind in ("late", "died"):
                given_up.add((name, case.family))
        if time.monotonic() - told > TOLD_SECONDS:
            told = time.monotonic()
            print(f"{title}: {number + 1} of {len(cases)} in {told - begin:.0f} seconds", file=sys.stderr)
    return outcomes


def merged(rounds: list[Outcome]) -> Outcome:
    """Merge the outcomes of several rounds: take medians over the rounds that got furthest."""
    best = max(rounds, key=lambda one: (one.kind == "passing", len(one.all_masks_us)))
    alike = [one for one in rounds if list(map(len, one.masks_us)) == list(map(len, best.masks_us))]
    compiles = [one.compile_us for one in rounds if one.compile_us is not None]
    masks = [np.median(one, axis=0).tolist() for one in zip(*(one.masks_us for one in alike))]
    slow: dict[tuple[int, int], dict[str, Any]] = {}
    for place, told in (item for one in alike for item in one.slow.items()):
        if place not in slow or told["collector_us"] < slow[place]["collector_us"]:
            slow[place] = told
    compile_us = statistics.median(compiles) if compiles else None
    return dataclasses.replace(best, compile_us=compile_us, masks_us=masks, slow=slow)
