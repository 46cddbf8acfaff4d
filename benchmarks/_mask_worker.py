"""The worker process of one engine, which times each token. Run by `_mask_run`.

    python benchmarks/_mask_worker.py ENGINE TOKENIZER_FOLDER OPTIONS

OPTIONS is JSON:

- `compile`: keyword arguments of `structgen.compile`;
- `seconds`: the limit for one schema;
- `clock`: "wall", or "cpu" for the processor's time, which other programs do not change: of this thread for a mask, of
  all threads for a compile (glrmask starts some);
- `collector`: whether Python's garbage collector runs.

The worker reads and writes JSON, one message per line. First it writes `{"version": …, "settings": …, "tokens": …,
"start_seconds": …}`. Then it answers each question `{"schema": …, "texts": […]}` with

- `compile_us`: the time of the compile; null if the schema was refused (`error` says why);
- `texts`: for each text `{"masks_us": […], "allowed": …, "error": …}`. `masks_us` has the microseconds for each token,
  mask and acceptance together, up to the first token that is not allowed;
- `is_late`: whether the limit was exceeded;
- `slow`: a report on each of the slowest masks; `work`: the counts of structgen's work to compile.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from _peers import Engine, Structgen, load_tokenizer, make_engine, version
from _work import work_of, work_shared

LISTED = 8  # slowest masks of a schema that are reported
LISTED_US = 20.0  # shortest time of a mask that is reported
SHOWN = 48  # characters of the text before a token that are reported
CLOCKS: dict[str, Callable[[], int]] = {"wall": time.perf_counter_ns, "cpu": time.thread_time_ns}
COMPILE_CLOCKS: dict[str, Callable[[], int]] = {"wall": time.perf_counter_ns, "cpu": time.process_time_ns}


class LateError(BaseException):
    """The time limit for a schema has passed. It is a `BaseException`, so that no engine catches it."""


def raise_late(*_: Any) -> None:
    raise LateError


class Collector:
    """The clock, and the time that Python's garbage collector has taken.

    Attributes:
        spent_ns: the time of the garbage collector so far.
        clock: returns the time in nanoseconds, for masks and the collector.
        compile_clock: the same for compiles.
        own_us: the time that reading the clock takes, which is subtracted from the times of masks.
    """

    def __init__(self) -> None:
        self.spent_ns = 0
        self._begin = 0
        self.use("wall")
        gc.callbacks.append(self._note)

    def use(self, name: str) -> None:
        """Choose the clock."""
        self.clock = clock = CLOCKS[name]
        self.compile_clock = COMPILE_CLOCKS[name]
        self.own_us = statistics.median(-(clock() - clock()) for _ in range(1001)) / 1000

    def _note(self, phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            self._begin = self.clock()
        else:
            self.spent_ns += self.clock() - self._begin


COLLECTOR = Collector()


class Run:
    """The run of one schema with its texts.

    Attributes:
        answer: the answer so far, as the module's docstring describes it.
    """

    def __init__(self, engine: Engine, tokenizer: Any) -> None:
        self._engine = engine
        self._tokenizer = tokenizer
        self._listed: list[tuple[float, float, int, int, list[int], tuple[int, ...]]] = []
        self.answer: dict[str, Any] = {"compile_us": None, "texts": [], "is_late": False, "error": ""}

    def compile(self, schema: Any) -> bool:
        engine = self._engine
        engine.forget()
        before = work_shared(engine.vocabulary) if isinstance(engine, Structgen) else ()
        try:
            begin = COLLECTOR.compile_clock()
            engine.compile(schema)
            self.answer["compile_us"] = (COLLECTOR.compile_clock() - begin) / 1000
        except LateError:
            raise
        except BaseException as error:  # a panic in Rust is not an Exception
            self.answer["error"] = f"{type(error).__name__}: {error}"[:300]
            return False
        if isinstance(engine, Structgen):
            self.answer["work"] = [now - then for now, then in zip(work_of(engine.compiled.grammar), before)]
        return True

    def follow(self, text: str) -> None:
        ids = self._tokenizer.encode(text, add_special_tokens=False)
        masks_us: list[float] = []
        told: dict[str, Any] = {"masks_us": masks_us, "allowed": False, "error": ""}
        self.answer["texts"].append(told)
        try:
            self._engine.reset()
            told["allowed"] = self._follow(ids, masks_us)
        except LateError:
            raise
        except BaseException as error:
            told["error"] = f"{type(error).__name__}: {error}"[:300]

    def _follow(self, ids: list[int], masks_us: list[float]) -> bool:
        engine = self._engine
        clock = COLLECTOR.clock
        own_us = COLLECTOR.own_us
        grammar = engine.compiled.grammar if isinstance(engine, Structgen) else None
        work = work_of(grammar) if grammar else ()
        collected = COLLECTOR.spent_ns
        for token in ids:
            begin = clock()
            engine.fill_mask()
            allowed = engine.commit(token)
            passed = max((clock() - begin) / 1000 - own_us, 0.0)
            masks_us.append(passed)
            if passed >= LISTED_US:
                before = work
                work = work_of(grammar) if grammar else ()
                done = tuple(now - then for now, then in zip(work, before))
                collector_us = (COLLECTOR.spent_ns - collected) / 1000
                self._listed.append((passed, collector_us, len(self.answer["texts"]) - 1, len(masks_us) - 1, ids, done))
            elif grammar:
                work = work_of(grammar)
            collected = COLLECTOR.spent_ns
            if not allowed:
                return False
        return True

    def slow(self) -> list[dict[str, Any]]:
        """Return a report on each of the slowest masks, with the text before it."""
        self._listed.sort(key=lambda listed: -listed[0])
        decode = self._tokenizer.decode
        return [
            {
                "text": text,
                "token": at,
                "before": decode(ids[max(0, at - SHOWN) : at])[-SHOWN:],
                "next": decode(ids[at : at + 1]),
                "collector_us": collector_us,
                "work": done,
            }
            for _, collector_us, text, at, ids, done in self._listed[:LISTED]
        ]


def answer(engine: Engine, tokenizer: Any, question: dict[str, Any], seconds: float) -> dict[str, Any]:
    run = Run(engine, tokenizer)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        if run.compile(question["schema"]):
            for text in question["texts"]:
                run.follow(text)
    except LateError:
        run.answer["is_late"] = True
    finally:
        with contextlib.suppress(LateError):
            signal.setitimer(signal.ITIMER_REAL, 0)
    run.answer["slow"] = run.slow()
    return run.answer


def main(name: str, folder: str, options: str) -> None:
    os.environ["HF_HUB_OFFLINE"] = "1"
    answers = os.fdopen(os.dup(1), "w")  # anything else that writes to stdout now writes to stderr
    os.dup2(2, 1)
    chosen = json.loads(options)
    COLLECTOR.use(chosen["clock"])
    if not chosen["collector"]:
        gc.disable()
    tokenizer = load_tokenizer(folder)
    begin = COLLECTOR.compile_clock()
    engine = make_engine(name, tokenizer, chosen["compile"])
    passed = (COLLECTOR.compile_clock() - begin) / 1e9
    signal.signal(signal.SIGALRM, raise_late)
    about = {"version": version(name), "settings": engine.settings, "tokens": len(tokenizer), "start_seconds": passed}
    print(json.dumps(about), file=answers, flush=True)
    for line in sys.stdin:
        told = answer(engine, tokenizer, json.loads(line), chosen["seconds"])
        print(json.dumps(told), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
