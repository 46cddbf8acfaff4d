"""Random texts under the masks of every real schema that compiles: all of them validate, and none gets stuck.

    python tests/conformance/random_walks.py [--walks 50] [--vocabularies bytes smollm2 FOLDER …] [--jobs 2]

For each schema, vocabulary and order of properties so many finished texts are sampled; each is read strictly (no key
twice, no half of a surrogate pair, no overflow) and validated with formats on. Walks that grow too long are begun
again, with more room. Prints what went wrong, by name, and a table; the exit status is 1 if anything did.
"""

from __future__ import annotations

import argparse
import collections
import functools
import json
import multiprocessing
import pathlib
import random
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import jsonschema  # noqa: E402
from support.named_vocabularies import vocabulary_named  # noqa: E402
from support.shared_data import NO_DATA, real_case, real_files  # noqa: E402
from support.strict_json import read_strictly  # noqa: E402
from support.walks import DeadEnd, Sampler, Walk  # noqa: E402

import structgen  # noqa: E402
from structgen.schema import SchemaWarning  # noqa: E402

ATTEMPTS = 4  # walks for each finished text that is asked for
FIRST_LONGEST = 1_500  # bytes of a walk, at first,
LONGEST = 50_000  # and at last
REPEATS = 0.4  # of the strings begin as an earlier one
SHOWN = 300  # characters of a text that went wrong

Task = tuple[pathlib.Path, str, str, int, int]
"""A schema's file, the name of a vocabulary, an order of properties, how many walks, seconds."""


class OutOfTime(BaseException):
    """One schema took too long: no error that a library may catch."""


def explore(task: Task) -> tuple[Task, collections.Counter[str], list[str]]:
    """The walks of one schema: what came of them, and what went wrong in words."""
    path, name, order, walks, seconds = task
    signal.signal(signal.SIGALRM, _on_alarm)
    signal.alarm(seconds)
    counts: collections.Counter[str] = collections.Counter(schemas=1)
    faults: list[str] = []
    try:
        for kind, fault in _walks(real_case(path).schema, name, order, walks, random.Random(f"{path.stem} {order}")):
            counts[kind] += 1
            faults += [f"{kind}: {fault}"] if fault else []
    except OutOfTime:
        counts["out of time"] += 1
        faults.append(f"out of time: {counts['finished']} texts in {seconds} seconds")
    finally:
        signal.alarm(0)
    return task, counts, faults


def _walks(schema: Any, name: str, order: str, walks: int, rng: random.Random) -> Iterator[tuple[str, str]]:
    """What came of each walk, and the fault, or ""."""
    sampler = _sampler(name)
    sampler.longest = FIRST_LONGEST
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaWarning)
        try:
            constraint = structgen.compile(schema, sampler.vocabulary, property_order=order)
        except structgen.UnsatisfiableSchemaError:
            yield "unsatisfiable", ""
            return
        except (structgen.SchemaError, structgen.LimitExceededError):
            yield "refused", ""
            return
        except Exception as error:
            yield "crash", repr(error)
            return
    needed, letters = _required_keys(schema), _letters_of_patterns(schema)
    finished = 0
    for _ in range(ATTEMPTS * walks):
        if finished == walks:
            return
        kind, fault = _walk(constraint, lambda: sampler.walk(constraint.grammar, rng, needed, letters))
        finished += kind == "finished"
        if kind == "given up":  # the shortest text may be long
            sampler.longest = min(2 * sampler.longest, LONGEST)
        yield kind, fault
    if finished < walks:
        yield "too few", f"{finished} of {walks} texts finished, in {ATTEMPTS * walks} walks"


def _required_keys(schema: Any) -> tuple[bytes, ...]:
    """What stands in any `required` or its like, as it is written in JSON."""
    found: set[str] = set()
    stack = [schema]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            for keyword in ("required", "dependencies", "dependentRequired"):
                lists = value.get(keyword)
                for names in lists.values() if isinstance(lists, dict) else [lists]:
                    if isinstance(names, list):
                        found.update(name for name in names if isinstance(name, str))
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    return tuple(json.dumps(name, ensure_ascii=False)[1:-1].encode() for name in sorted(found))


def _letters_of_patterns(schema: Any) -> bytes:
    """The letters and digits in patterns, and some of those that their classes stand for."""
    found: set[str] = set()
    stack = [schema]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            patterns = [value.get("pattern"), *(value.get("patternProperties") or ())]
            found.update(letter for pattern in patterns if isinstance(pattern, str) for letter in pattern + "0a")
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    return bytes(ord(letter) for letter in found if letter.isascii() and letter.isalnum())


def _walk(constraint: structgen.Constraint[Any], sample: Callable[[], Walk]) -> tuple[str, str]:
    try:
        walk = sample()
    except DeadEnd as error:
        return "dead end", str(error)[-SHOWN:]
    except structgen.LimitExceededError as error:
        return "limit", str(error)
    except Exception as error:
        return "crash", repr(error)
    if not walk.finished:
        return "given up", ""
    try:
        read_strictly(walk.text)
        constraint.parse(walk.text.decode())
    except jsonschema.ValidationError as error:
        return "invalid", f"{error.message[:SHOWN]} (at {error.json_path}): {walk.text[:SHOWN]!r}"
    except ValueError as error:
        return "invalid", f"{error}: {walk.text[:SHOWN]!r}"
    return "finished", ""


@functools.cache
def _sampler(name: str) -> Sampler:
    return Sampler(vocabulary_named(name), repeats=REPEATS)


def _on_alarm(*_: object) -> None:
    raise OutOfTime


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--walks", type=int, default=50, help="finished texts for each schema, vocabulary and order")
    parser.add_argument("--vocabularies", nargs="+", default=["bytes", "smollm2"])
    parser.add_argument("--orders", nargs="+", default=["any"], choices=["schema", "any"])
    parser.add_argument("--first", type=int, help="so many schemas, chosen by chance; all by default")
    parser.add_argument("--schemas", nargs="+", help="these schemas, by name")
    parser.add_argument("--seconds", type=int, default=120, help="the limit for one schema's walks")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    files = [path for path in real_files() if not arguments.schemas or path.stem in arguments.schemas]
    if not files:
        print(NO_DATA)
        return 2
    random.Random(0).shuffle(files)
    tasks = [
        (path, name, order, arguments.walks, arguments.seconds)
        for name in arguments.vocabularies
        for order in arguments.orders
        for path in files[: arguments.first]
    ]
    return _report(tasks, arguments.jobs)


def _report(tasks: list[Task], jobs: int) -> int:
    totals: dict[tuple[str, str], collections.Counter[str]] = {}
    is_bad = False
    begin = time.monotonic()
    with multiprocessing.Pool(jobs) as pool:
        for (path, name, order, _, _), counts, faults in pool.imap(explore, tasks):
            totals.setdefault((name, order), collections.Counter()).update(counts)
            is_bad |= bool(faults)
            for fault in faults[:3]:
                print(f"{path.stem} ({name}, {order}): {fault}", flush=True)
    kinds = ["schemas", "refused", "unsatisfiable", "finished", "given up"]
    kinds += ["invalid", "dead end", "too few", "limit", "out of time", "crash"]
    print(f"\n| vocabulary | order | {' | '.join(kinds)} |\n|---|---|{'---:|' * len(kinds)}")
    for (name, order), counts in totals.items():
        print(f"| {pathlib.Path(name).name} | {order} | {' | '.join(str(counts[kind]) for kind in kinds)} |")
    print(f"\n{time.monotonic() - begin:.0f} seconds")
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main())
