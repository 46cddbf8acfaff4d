"""Engines measured in turn: schema by schema, each in a process of its own, any number of times from the beginning.

One process an engine, so that neither a crash, nor a long compile, nor the memory of one touches another; one engine
at work at a time, so that whatever else the machine does meets all of them. Each round begins with new processes:
nothing is warm but what belongs to the vocabulary, and that only from the schemas before.
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
TOLD_SECONDS = 30.0  # between two lines about how far a run is
GRACE_SECONDS = 10.0  # what a worker gets to say that it is late, before it is ended


@dataclass(frozen=True)
class Case:
    """A schema with its instances.

    Attributes:
        name: of the schema.
        schema: as JSON.
        texts: the instances as JSON texts.
        valid: which of them are.
        family: cases of one family grow; an engine that is late or dies with one is not asked the larger ones.
    """

    name: str
    schema: Any
    texts: tuple[str, ...]
    valid: tuple[bool, ...]
    family: str = ""

    @classmethod
    def of(cls, name: str, schema: Any, tests: Sequence[dict[str, Any]], family: str = "") -> Case:
        """A case with each instance as `json.dumps` writes it."""
        texts = tuple(json.dumps(test["data"], ensure_ascii=False) for test in tests)
        return cls(name, schema, texts, tuple(bool(test["valid"]) for test in tests), family)


@dataclass
class Outcome:
    """What became of a case with one engine.

    Attributes:
        kind: passing, refused, "lets through", "turns away", failed, late, died, or "not asked".
        error: where there is one.
        compile_us: median over the rounds; None where it did not compile.
        masks_us: for each instance, medians over the rounds by token.
        slow: of the slowest masks what the workers said of them, by (instance, token).
        work: what structgen did to compile.
    """

    kind: str = "passing"
    error: str = ""
    compile_us: float | None = None
    masks_us: list[list[float]] = field(default_factory=list)
    slow: dict[tuple[int, int], dict[str, Any]] = field(default_factory=dict)
    work: list[int] = field(default_factory=list)

    @property
    def all_masks_us(self) -> list[float]:
        """The times of all instances."""
        return [one for masks in self.masks_us for one in masks]


def read_cases(folder: Path) -> list[Case]:
    """The files of a folder, `{"schema": …, "tests": [{"data": …, "valid": …}]}` each, in the order of their names."""
    cases = []
    for path in sorted(folder.glob("*.json")):
        content = json.loads(path.read_text())
        cases.append(Case.of(path.stem, content["schema"], content["tests"]))
    return cases


@dataclass(frozen=True)
class Settings:
    """How engines are measured.

    Attributes:
        tokenizer: a folder, "" for SmolLM2's.
        options: keyword arguments of `structgen.compile`.
        seconds: the limit for one case, on the wall's clock.
        clock: what times: "wall", or "cpu" where the machine has other work.
        collector: whether Python collects garbage meanwhile.
        rounds: how often everything is measured; each time that is told is the median over the rounds.
    """

    tokenizer: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    seconds: float = 60.0
    clock: str = "wall"
    collector: bool = True
    rounds: int = 1


class TimedProcess(EngineProcess):
    """One engine, by name, that is timed."""

    def __init__(self, name: str, settings: Settings) -> None:
        chosen = {"compile": settings.options, "seconds": settings.seconds}
        chosen |= {"clock": settings.clock, "collector": settings.collector}
        super().__init__(name, settings.tokenizer, json.dumps(chosen), settings.seconds + GRACE_SECONDS, WORKER)

    def outcome(self, case: Case) -> Outcome:
        """Asks about one case."""
        told = self.ask(case.schema, list(case.texts), {})
        if told.get("outcome") == "failed":
            return Outcome("died" if "died" in told["error"] else "late", told["error"])
        if told["is_late"]:
            self.close()  # it was interrupted anywhere
            self._start()
        found = Outcome("passing", told["error"], told["compile_us"], work=told.get("work", []))
        found.masks_us = [text["masks_us"] for text in told["texts"]]
        found.slow = {(one["text"], one["token"]): one for one in told["slow"]}
        found.kind, found.error = judge(told, case)
        return found


def judge(told: dict[str, Any], case: Case) -> tuple[str, str]:
    """What became of a case, by a worker's answer; and why."""
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
    """The outcomes by engine, parallel to the cases; and what the engines say of themselves.

    Args:
        cases: to measure.
        settings: how.
        engines: by name.
        warm_up: asked first in each process and forgotten.
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
    """The outcomes of one round; `given_up` are the engines and families that are not asked, and those it ends with."""
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
    """Several outcomes of a case as one: the medians of those rounds that came as far as any."""
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
