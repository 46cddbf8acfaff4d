"""What does `tokenization="proper"` add to a mask, and are random texts tokenized as they were generated?

    python benchmarks/proper.py [--data FOLDER] [--half tuned] [--tokenizer FOLDER] [--first N] [--walks N] [--seed N]
    python benchmarks/proper.py --cold N [--walks N] [--data FOLDER] [--half tuned] [--tokenizer FOLDER] [--seed N]

The first part computes the masks along the tokens of valid instances, alternately with any split and with proper
tokenization, in one process. It reports the difference in microseconds, in three situations: with an unused vocabulary,
whose tables are made on the way; with grammars that are compiled anew; and once everything is known. Python's garbage
collector is off.

No other engine has such masks. The published costs of CartesianMerge (V. Tran-Thien, 2024; Mistral's tokens, regexes
only) are 20.9 s per tokenizer, 28 s per regex and 1,530 µs per mask.

The second part makes random walks: it draws tokens from the masks to the end of a text, and compares them with the
tokens that the tokenizer makes of the text.

With --cold there are other tables in place of both, of the processor time of masks on random walks over N schemas: of
the whole mask, and of what it adds to one with any split. Each walk compiles its grammar anew, with empty caches of
grammars. The first walks begin with an unused vocabulary. Others follow, with other random tokens, when many of the
vocabulary's tables are known. Random tokens lead to states that no instance leads to, so these masks take longer than
those of the first part. The masks with any split are made along the same tokens, in a vocabulary of their own: neither
makes tables for the other.

`--half` takes the schemas that structgen may be tuned on ("tuned"), or the others ("unseen"); see masks.py.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _peers import load_tokenizer
from _random_walks import Drawing
from _report import heading, percentile, table
from masks import HALVES, half_of

import structgen
from structgen.engine.vocabulary import vocabulary as module
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.tokenization.matching.proper_tokenization import ProperTokenization

DATA = Path(__file__).parent / "data"
SET_UPS = 3
TOKENS = 160  # maximum length of a walk; a longer walk is not counted
PUBLISHED_COMPILE = ["CartesianMerge, published, a regex", None, 28_000.0, None, None, None, None]
PUBLISHED = ["CartesianMerge, published", None, 1530.0, None, None, None, None]


@dataclass
class Walks:
    """Counts of how random walks ended."""

    ended: int = 0
    different: int = 0
    stuck: int = 0
    cut_short: int = 0
    examples: list[str] = field(default_factory=list)


def cases(folder: Path, first: int | None, half: str | None = None) -> list[tuple[str, Any, list[Any]]]:
    """Return names, schemas and their valid instances: of all schemas, or of those of a half."""
    files = [file for file in sorted(folder.rglob("*.json")) if half is None or half_of(file.stem) == half]
    random.Random(4).shuffle(files)
    found = []
    for file in files:
        case = json.loads(file.read_text())
        valid = [test["data"] for test in case.get("tests", []) if test.get("valid")][:2]
        if valid:
            found.append((file.stem, case["schema"], valid))
    return found[:first]


def set_up(tokenizer: Any) -> list[float]:
    """Return the milliseconds of several set-ups of the tokenizer, each from scratch."""
    times = []
    for _ in range(SET_UPS):
        module._CACHE = module._Cache()
        vocabulary = Vocabulary.from_huggingface(tokenizer)
        began = time.perf_counter()
        ProperTokenization.of(vocabulary)
        times.append(1000 * (time.perf_counter() - began))
    return times


def added(
    tokenizer: Any, vocabulary: Vocabulary, some: Sequence[tuple[str, Any, list[Any]]]
) -> Iterator[tuple[int, float, float, str]]:
    """Measure each mask with any split and with proper tokenization.

    Yields:
        The situation (0 new vocabulary, 1 new grammar, 2 warm); the microseconds of the mask with any split; the
        additional microseconds of the proper one; the schema and the token.
    """
    row = structgen.allocate_token_bitmask(1, vocabulary.size)
    for again in range(2):
        structgen.clear_cache()
        for name, schema, valid in some:
            try:
                constraints = [structgen.compile(schema, vocabulary, tokenization=kind) for kind in ("any", "proper")]
            except structgen.StructgenError:
                continue
            for value in valid:
                text = json.dumps(value, ensure_ascii=False)
                ids = tokenizer.encode(text, add_special_tokens=False)
                for met in range(1 + again):
                    matchers = [constraint.matcher() for constraint in constraints]
                    for at, token in enumerate([*ids, vocabulary.eos_token_ids[0]]):
                        times = []
                        for matcher in matchers:
                            began = time.perf_counter()
                            matcher.fill_next_token_bitmask(row)
                            times.append(1e6 * (time.perf_counter() - began))
                        if not row[0, token >> 5] >> (token & 31) & 1:
                            break  # the schema's order of keys refuses the instance, or the text is not normalized
                        yield again + met, times[0], times[1] - times[0], f"{name}, token {at}"
                        if at < len(ids):
                            for matcher in matchers:
                                matcher.accept_token(token)


def walk(
    tokenizer: Any, vocabulary: Vocabulary, some: Sequence[tuple[str, Any, list[Any]]], count: int, seed: int
) -> Walks:
    """Follow random tokens of the masks to the end of a text, `count` times."""
    drawing = Drawing(vocabulary, seed)
    walks = Walks()
    constraints = []
    for _, schema, _ in some:
        try:
            constraints.append(structgen.compile(schema, vocabulary, tokenization="proper"))
        except structgen.StructgenError:
            continue
    while constraints and walks.ended + walks.cut_short + walks.stuck < count:
        matcher, ids = drawing.rng.choice(constraints).matcher(), []
        for step in range(TOKENS):
            matcher.fill_next_token_bitmask(drawing.row)
            try:
                token = drawing.draw(step)
            except IndexError:
                walks.stuck += 1
                walks.examples.append(f"stuck after {ids[-4:]}")
                break
            if token is None:
                text = b"".join(drawing.spelled[token] for token in ids).decode()
                walks.ended += 1
                if tokenizer.encode(text, add_special_tokens=False) != ids:
                    walks.different += 1
                    walks.examples.append(repr(text))
                break
            ids.append(token)
            matcher.accept_token(token)
        else:
            walks.cut_short += 1
    return walks


# -- cold masks on random walks ---------------------------------------------------------------------------------------


class ColdTimes:
    """The times of random walks in one situation.

    Attributes:
        compiles: the milliseconds of each compile.
        masks: the microseconds of each mask, with the schema and the token.
        walks: the schema and the tokens of each walk.
    """

    def __init__(self) -> None:
        self.compiles: list[float] = []
        self.masks: list[tuple[float, str]] = []
        self.walks: list[tuple[Any, list[int]]] = []


def cold_walks(vocabulary: Vocabulary, some: Sequence[tuple[str, Any, list[Any]]], walks: int, seed: int) -> ColdTimes:
    """Measure each mask of random walks, with a grammar that is compiled anew for each walk."""
    drawing, times = Drawing(vocabulary, seed), ColdTimes()
    for number in range(walks):
        for name, schema, _ in some:
            structgen.clear_cache()
            began = time.thread_time()
            try:
                matcher = structgen.compile(schema, vocabulary, tokenization="proper").matcher()
            except structgen.StructgenError:
                continue
            times.compiles.append(1e3 * (time.thread_time() - began))
            tokens: list[int] = []
            times.walks.append((schema, tokens))
            for step in range(TOKENS):
                began = time.thread_time()
                matcher.fill_next_token_bitmask(drawing.row)
                cost = 1e6 * (time.thread_time() - began)
                times.masks.append((cost, f"{name}, walk {number}, token {step}"))
                token = drawing.draw(step)
                if token is None:
                    break
                tokens.append(token)
                matcher.accept_token(token)
    return times


def any_split(vocabulary: Vocabulary, walks: Sequence[tuple[Any, list[int]]]) -> list[float]:
    """Return the microseconds of each mask with any split, along the tokens of walks."""
    row = structgen.allocate_token_bitmask(1, vocabulary.size)
    found: list[float] = []
    for schema, tokens in walks:
        structgen.clear_cache()
        matcher = structgen.compile(schema, vocabulary).matcher()
        for step in range(min(len(tokens) + 1, TOKENS)):
            began = time.thread_time()
            matcher.fill_next_token_bitmask(row)
            found.append(1e6 * (time.thread_time() - began))
            if step < len(tokens):
                matcher.accept_token(tokens[step])
    return found


def report_cold(tokenizer: Any, some: Sequence[tuple[str, Any, list[Any]]], walks: int, seed: int) -> None:
    """Print the tables of cold masks and compiles, and the slowest masks."""
    vocabulary = Vocabulary.from_huggingface(tokenizer)
    ProperTokenization.of(vocabulary)  # the set-up is measured by the other parts
    gc.collect()
    gc.disable()
    situations = {
        "new grammar, new vocabulary": cold_walks(vocabulary, some, walks, seed),
        "new grammar, used vocabulary": cold_walks(vocabulary, some, walks, seed + 1),
    }
    module._CACHE = module._Cache()
    plain = Vocabulary.from_huggingface(tokenizer)
    added = [
        [whole - any_one for (whole, _), any_one in zip(times.masks, any_split(plain, times.walks), strict=True)]
        for times in situations.values()
    ]
    gc.enable()
    print(f"\nRandom walks over {len(some)} schemas, {walks} and {walks} over each; {vocabulary.size:,} tokens.\n")
    columns = ["average", "p50", "p90", "p99", "max"]
    rows = [
        [name, len(times.masks), *_summary([cost for cost, _ in times.masks])] for name, times in situations.items()
    ]
    print(table(["whole mask, µs", "masks", *columns], [*rows, PUBLISHED]))
    print()
    more = [[name, len(found), *_summary(found)] for name, found in zip(situations, added, strict=True)]
    print(table(["added to a mask, µs", "masks", *columns], more))
    compiles = [[name, len(times.compiles), *_summary(times.compiles)] for name, times in situations.items()]
    print()
    print(table(["compile, ms", "compiles", *columns], [*compiles, PUBLISHED_COMPILE]))
    for name, times in situations.items():
        print(f"\nThe slowest masks, {name}:\n")
        slow = sorted(times.masks, reverse=True)[:10]
        print(table(["where", "whole mask, µs"], [[where, cost] for cost, where in slow]))


def _summary(costs: Sequence[float]) -> list[float | None]:
    return [statistics.mean(costs), *(percentile(costs, part) for part in (50, 90, 99, 100))]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="a folder of schemas with instances")
    parser.add_argument("--first", type=int, help="so many of them, in an order of chance that is always the same")
    parser.add_argument("--half", choices=HALVES, help="only the schemas to tune on, or only the others")
    parser.add_argument("--tokenizer", default="", help="the folder of a tokenizer; SmolLM2's by default")
    parser.add_argument("--walks", type=int, default=100, help="so many random walks; with --cold, over each schema")
    parser.add_argument("--seed", type=int, default=0, help="of the walks")
    parser.add_argument("--cold", type=int, metavar="N", help="measure cold masks on random walks over N schemas")
    options = parser.parse_args(argv)
    tokenizer = load_tokenizer(options.tokenizer)
    some = cases(options.data, options.cold or options.first, options.half)
    if options.cold:
        print(heading())
        report_cold(tokenizer, some, options.walks, options.seed)
        return 0
    times = set_up(tokenizer)
    module._CACHE = module._Cache()
    vocabulary = Vocabulary.from_huggingface(tokenizer)
    masks: list[list[tuple[float, float, str]]] = [[], [], []]
    gc.collect()
    gc.disable()  # with some hundred thousand results in memory, a full collection takes as long as a thousand masks
    for met, plain, more, where in added(tokenizer, vocabulary, some):
        masks[met].append((more, plain, where))
    gc.enable()
    print(heading())
    print(f"\n{len(some)} schemas, {vocabulary.size:,} tokens. Set-up of the tokenizer, the median of {SET_UPS}:")
    print(f"{statistics.median(times):,.0f} ms (published: 20,900).\n")
    rows: list[list[Any]] = []
    for name, found in zip(("new vocabulary", "new grammar", "warm"), masks, strict=True):
        longer = [each[0] for each in found]
        rows.append(
            [
                name,
                len(found),
                statistics.mean(longer),
                *(percentile(longer, percent) for percent in (50, 90, 99, 100)),
            ]
        )
    print(table(["added to a mask, µs", "masks", "average", "p50", "p90", "p99", "max"], [*rows, PUBLISHED]))
    print("\nThe slowest of new grammars:\n")
    slow = sorted(masks[1], reverse=True)[:8]
    print(table(["where", "added, µs", "any, µs"], [[where, more, plain] for more, plain, where in slow]))
    walks = walk(tokenizer, vocabulary, some, options.walks, options.seed)
    print(
        f"\nRandom walks: {walks.ended:,} came to an end, of which {walks.different} are tokenized differently;"
        f" {walks.stuck} were stuck, {walks.cut_short:,} not at their end after {TOKENS} tokens.",
        *walks.examples[:10],
        sep="\n",
    )
    return 1 if walks.different or walks.stuck else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
