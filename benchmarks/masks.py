"""How long do masks and compiles of real schemas take, compared with llguidance, xgrammar and glrmask?

    python benchmarks/masks.py [--data FOLDER] [--tokenizer FOLDER] [--rounds 3] [--slow 20] [--plot masks.png]
    python benchmarks/masks.py --data FOLDER --half unseen      # schemas that nobody looked at to make structgen fast

This is the protocol of MaskBench. Each schema is compiled, and each of its instances is followed token by token. The
mask and the acceptance of a token are timed together. A schema passes if every valid instance is accepted and every
invalid one is refused. The engines take turns at each schema, each in its own process, on one thread. If a schema takes
longer than `--seconds`, it is late, and its times up to then count. With several rounds, each time is the median over
the rounds; each round begins with new processes.

`--half` takes the half of the schemas that structgen may be tuned on ("tuned"), or the other one ("unseen"). A schema
is in the first where the first byte of the SHA-256 of its name is even. Report the other half; do not look into it.

`--data` is a folder of MaskBench's JSON files; by default `data/`. Options of `structgen.compile` are passed as JSON:
`--options '{"property_order": "any"}'`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from _mask_run import Case, Outcome, Settings, read_cases, run_cases
from _peers import MASK_ENGINES, installed
from _report import draw, heading, percentile, ratio, table
from _work import WORK

DATA = Path(__file__).resolve().parent / "data"
KINDS = {
    "passing": "passing",
    "refused": "refused: it said that it does not support the schema",
    "turns away": "wrong: a valid instance is turned away",
    "lets through": "wrong: an invalid instance is let through",
    "failed": "an error in the middle of a text",
    "late": "not done in time",
    "died": "the process died",
}
MASK_PERCENTS = (50, 75, 90, 99, 99.9, 100)
HALVES = ("tuned", "unseen")
COMPILE_PERCENTS = (50, 90, 99, 100)
OF_A_SCHEMA = 3  # number of slowest masks that are listed for one schema
Outcomes = dict[str, list[Outcome]]


def half_of(name: str) -> str:
    """Return the half that the schema of a name is in."""
    return HALVES[hashlib.sha256(name.encode()).digest()[0] % 2]


def masks_of(outcomes: Sequence[Outcome]) -> list[float]:
    """Return the microseconds of all masks."""
    return [one for outcome in outcomes for one in outcome.all_masks_us]


def compiles_of(outcomes: Sequence[Outcome]) -> list[float]:
    """Return the microseconds of all compiles."""
    return [outcome.compile_us for outcome in outcomes if outcome.compile_us is not None]


def counts(outcomes: Outcomes) -> str:
    """Return a table of the outcomes: how many schemas each engine gets right."""
    rows: list[list[Any]] = []
    for kind, words in KINDS.items():
        found = [sum(one.kind == kind for one in of_engine) for of_engine in outcomes.values()]
        if any(found):
            rows.append([words, *found])
    rows.append(["masks measured", *(len(masks_of(of_engine)) for of_engine in outcomes.values())])
    return table(["schemas", *outcomes], rows)


def times(outcomes: Outcomes) -> str:
    """Return a table of the times of masks and compiles, with the ratios of structgen to each other engine.

    The second ratio counts only the schemas that both engines get right, so that no engine gains by refusing hard ones.
    """
    others = [name for name in outcomes if name != "structgen"] if "structgen" in outcomes else []
    columns = ["µs", *outcomes]
    for name in others:
        columns += [f"of {name}'s", "where both pass"]
    rows: list[list[Any]] = []
    lines: tuple[tuple[str, Callable[[Sequence[Outcome]], list[float]], Sequence[float]], ...] = (
        ("mask + accept", masks_of, MASK_PERCENTS),
        ("compile", compiles_of, COMPILE_PERCENTS),
    )
    for title, values_of, percents in lines:
        for name, of in statistics_of(percents).items():
            rows.append([f"{title}, {name}", *(of(values_of(one)) for one in outcomes.values())])
            for other in others:
                both = both_passing(outcomes["structgen"], outcomes[other])
                rows[-1].append(ratio(of(values_of(outcomes["structgen"])), of(values_of(outcomes[other]))))
                rows[-1].append(ratio(*(of(values_of(side)) for side in both)))
    return table(columns, rows)


def statistics_of(percents: Sequence[float]) -> dict[str, Callable[[Sequence[float]], float | None]]:
    """Return the statistics of a distribution, by name."""

    def at(percent: float) -> Callable[[Sequence[float]], float | None]:
        return lambda values: percentile(values, percent)

    lines: dict[str, Callable[[Sequence[float]], float | None]] = {
        "average": lambda values: sum(values) / len(values) if values else None
    }
    return lines | {"max" if percent == 100 else f"p{percent:g}": at(percent) for percent in percents}


def both_passing(ours: list[Outcome], theirs: list[Outcome]) -> tuple[list[Outcome], list[Outcome]]:
    """Return the outcomes of the cases that both engines get right."""
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if a.kind == b.kind == "passing"]
    return [a for a, _ in pairs], [b for _, b in pairs]


def slowest_masks(cases: Sequence[Case], outcomes: list[Outcome], count: int) -> str:
    """Return a table of structgen's slowest masks, a few for each schema, with the text before and the work counts."""
    found = [
        (mask_us, case.name, outcome.slow.get((text, at), {}))
        for case, outcome in zip(cases, outcomes, strict=True)
        for text, masks in enumerate(outcome.masks_us)
        for at, mask_us in enumerate(masks)
    ]
    found.sort(key=lambda one: -one[0])
    shown: Counter[str] = Counter()
    unknown = {"before": "", "next": "", "collector_us": None, "work": [None] * len(WORK)}
    rows: list[list[Any]] = []
    for mask_us, name, told in found:
        shown[name] += 1
        if len(rows) == count or shown[name] > OF_A_SCHEMA:
            continue
        one = unknown | told
        rows.append([name, mask_us, one["collector_us"], quoted(one["before"]), quoted(one["next"]), *one["work"]])
    return table(["schema", "µs", "of them Python's collector", "text before", "token", *WORK], rows)


def slowest_compiles(cases: Sequence[Case], outcomes: list[Outcome], count: int) -> str:
    """Return a table of structgen's slowest compiles."""
    pairs = zip(cases, outcomes, strict=True)
    found = [(one.compile_us, case, one.work) for case, one in pairs if one.compile_us is not None]
    found.sort(key=lambda one: -one[0])
    rows = [[case.name, took, len(json.dumps(case.schema)), *work] for took, case, work in found[:count]]
    return table(["schema", "µs", "bytes of schema", *WORK], rows)


def not_passing(cases: Sequence[Case], outcomes: list[Outcome], count: int) -> str:
    """Return a table of the schemas that do not pass in structgen."""
    pairs = zip(cases, outcomes, strict=True)
    rows = [[case.name, one.kind, quoted(one.error[:120])] for case, one in pairs if one.kind != "passing"]
    return table(["schema", "outcome", "error"], rows[:count], left=3)


def quoted(text: str) -> str:
    """Return a text as code for a cell of a table."""
    return (
        f"`{json.dumps(text, ensure_ascii=False)[1:-1].replace('|', chr(0xFF5C)).replace('`', chr(0x2CB))}`"
        if text
        else ""
    )


def paint(outcomes: Outcomes, axes: Any) -> None:
    """Draw the share of masks (lines) and compiles (dashes) that take longer than a time in microseconds."""
    for name, of_engine in outcomes.items():
        color = None
        for values, style, title in ((masks_of(of_engine), "-", "masks"), (compiles_of(of_engine), "--", "compiles")):
            values.sort()
            left = [1 - rank / len(values) for rank in range(len(values))]
            (line,) = axes.plot(values, left, style, color=color, label=f"{name}, {title}")
            color = line.get_color()
    axes.set(xscale="log", yscale="log", xlabel="microseconds", ylabel="share that takes longer")
    axes.grid(alpha=0.3)
    axes.legend()


def report(cases: Sequence[Case], outcomes: Outcomes, slow: int) -> None:
    print(counts(outcomes), end="\n\n")
    print(times(outcomes))
    if "structgen" not in outcomes or not slow:
        return
    ours = outcomes["structgen"]
    if any(one.kind != "passing" for one in ours):
        print(f"\nNot passing in structgen:\n\n{not_passing(cases, ours, slow)}")
    print(
        f"\nstructgen's slowest masks, at most {OF_A_SCHEMA} of a schema, and its work on them (sets and steps of the"
    )
    print(f"parser, symbols of rules, states of automata, nodes of tries):\n\n{slowest_masks(cases, ours, slow)}")
    print(f"\nIts slowest compiles:\n\n{slowest_compiles(cases, ours, slow)}")


def describe(count: int, half: str | None, settings: Settings, about: dict[str, dict[str, Any]]) -> str:
    """Return a line that says what was measured, and how."""
    where = Path(settings.tokenizer).name if settings.tokenizer else "SmolLM2"
    schemas = f"{half} schemas" if half else "schemas"
    words = [f"{count} {schemas}, tokenizer {where}, median of {settings.rounds} rounds, {settings.clock} clock"]
    words += [] if settings.collector else ["Python's garbage collector off"]
    return "; ".join(words + [f"{name}: {one['settings']}" for name, one in about.items() if one["settings"]]) + "."


def arguments_of(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DATA, help="a folder of schemas with instances")
    parser.add_argument("--first", type=int, help="so many of them, in an order of chance that is always the same")
    parser.add_argument("--tokenizer", default="", help="the folder of a tokenizer; SmolLM2's by default")
    parser.add_argument("--engines", nargs="+", choices=MASK_ENGINES, default=list(MASK_ENGINES))
    parser.add_argument("--half", choices=HALVES, help="only the schemas to tune on, or only the others")
    parser.add_argument(
        "--options", type=json.loads, default={}, help="keyword arguments of structgen.compile, as JSON"
    )
    parser.add_argument("--rounds", type=int, default=1, help="each time is the median of so many")
    parser.add_argument(
        "--clock", choices=("wall", "cpu"), default="wall", help="cpu: what other programs do not change"
    )
    parser.add_argument("--no-collector", action="store_true", help="turn Python's garbage collector off")
    parser.add_argument("--seconds", type=float, default=60.0, help="the limit for one schema")
    parser.add_argument("--slow", type=int, default=5, help="so many of the slowest are listed")
    parser.add_argument("--plot", metavar="FILE", help="draw the distributions into a picture (needs matplotlib)")
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    arguments = arguments_of(argv)
    cases = read_cases(arguments.data)
    if arguments.half:
        cases = [case for case in cases if half_of(case.name) == arguments.half]
    if not cases:
        print(f"there are no schemas in {arguments.data}", file=sys.stderr)
        return 2
    if arguments.first:
        random.Random(0).shuffle(cases)
        cases = cases[: arguments.first]
    settings = Settings(
        tokenizer=arguments.tokenizer,
        options=arguments.options,
        seconds=arguments.seconds,
        clock=arguments.clock,
        collector=not arguments.no_collector,
        rounds=arguments.rounds,
    )
    outcomes, about = run_cases(cases, settings, installed(arguments.engines))
    print(heading(), end="\n\n")
    print(describe(len(cases), arguments.half, settings, about), end="\n\n")
    report(cases, outcomes, arguments.slow)
    if arguments.plot:
        draw(arguments.plot, lambda axes: paint(outcomes, axes))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
