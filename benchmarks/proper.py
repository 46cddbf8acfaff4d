"""What does `tokenization="proper"` add to a mask, and do random texts come back as the tokens they were made of?

    python benchmarks/proper.py [--data FOLDER] [--tokenizer FOLDER] [--first N] [--walks N] [--seed N]

Masks along the tokens of valid instances, with any splits and with proper ones in turns, in one process; what is told
is the difference, in microseconds: for a vocabulary that was never used (its own tables are made on the way), for
grammars that are compiled anew, and once everything is known. No other engine has such masks. Published for
CartesianMerge (V. Tran-Thien, 2024; Mistral's tokens, regexes only): 20.9 s a tokenizer, 28 s a regex, 1,530 µs a mask.
Python's garbage collector is off meanwhile.

Then random walks: tokens are drawn from the masks to the end, and the tokenizer is asked what it makes of the text.
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

import numpy as np
from _peers import load_tokenizer
from _report import heading, percentile, table

import structgen
from structgen.engine.vocabulary import vocabulary as module
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.tokenization.matching.proper_tokenization import ProperTokenization

DATA = Path(__file__).parent / "data"
SET_UPS = 3
TOKENS = 160  # a walk has at most so many; one that is not at its end by then is not counted
HURRY = 60  # from there on tokens that close something are preferred
PUBLISHED = ["CartesianMerge, published", None, 1530.0, None, None, None, None]


@dataclass
class Walks:
    """How random walks ended."""

    ended: int = 0
    different: int = 0
    stuck: int = 0
    cut_short: int = 0
    examples: list[str] = field(default_factory=list)


def cases(folder: Path, first: int | None) -> list[tuple[str, Any, list[Any]]]:
    """Names, schemas and their valid instances."""
    files = sorted(folder.rglob("*.json"))
    random.Random(4).shuffle(files)
    found = []
    for file in files:
        case = json.loads(file.read_text())
        valid = [test["data"] for test in case.get("tests", []) if test.get("valid")][:2]
        if valid:
            found.append((file.stem, case["schema"], valid))
    return found[:first]


def set_up(tokenizer: Any) -> list[float]:
    """Milliseconds for what belongs to the tokenizer, each time from nothing."""
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
    """For each mask how it was met (0 new vocabulary, 1 new grammar, 2 warm), microseconds of the mask with any splits,
    microseconds that the proper one took longer, and where.
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
                            break  # an instance that the schema's order of keys does not allow, or a text not normal
                        yield again + met, times[0], times[1] - times[0], f"{name}, token {at}"
                        if at < len(ids):
                            for matcher in matchers:
                                matcher.accept_token(token)


def walk(
    tokenizer: Any, vocabulary: Vocabulary, some: Sequence[tuple[str, Any, list[Any]]], count: int, seed: int
) -> Walks:
    """Follows random tokens of the masks to the end, so many times."""
    rng = random.Random(seed)
    walks = Walks()
    ends = np.array(vocabulary.eos_token_ids)
    spelled = [vocabulary.token_bytes(token) or b"" for token in range(vocabulary.size)]
    closing = np.array([any(byte in text for byte in b'"]}') for text in spelled])
    row = structgen.allocate_token_bitmask(1, vocabulary.size)
    constraints = []
    for _, schema, _ in some:
        try:
            constraints.append(structgen.compile(schema, vocabulary, tokenization="proper"))
        except structgen.StructgenError:
            continue
    while constraints and walks.ended + walks.cut_short + walks.stuck < count:
        matcher, ids = rng.choice(constraints).matcher(), []
        for step in range(TOKENS):
            matcher.fill_next_token_bitmask(row)
            allowed = np.flatnonzero(np.unpackbits(row[0].view(np.uint8), bitorder="little"))
            if not len(allowed):
                walks.stuck += 1
                walks.examples.append(f"stuck behind {ids[-4:]}")
                break
            choice = allowed[~np.isin(allowed, ends)]
            if len(choice) < len(allowed) and (not len(choice) or rng.random() < 0.3):
                text = b"".join(spelled[token] for token in ids).decode()
                walks.ended += 1
                if tokenizer.encode(text, add_special_tokens=False) != ids:
                    walks.different += 1
                    walks.examples.append(repr(text))
                break
            if step > HURRY and rng.random() < 0.7 and closing[choice].any():
                choice = choice[closing[choice]]
            ids.append(int(rng.choice(choice)))
            matcher.accept_token(ids[-1])
        else:
            walks.cut_short += 1
    return walks


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="a folder of schemas with instances")
    parser.add_argument("--first", type=int, help="so many of them, in an order of chance that is always the same")
    parser.add_argument("--tokenizer", default="", help="the folder of a tokenizer; SmolLM2's by default")
    parser.add_argument("--walks", type=int, default=100, help="so many random walks")
    parser.add_argument("--seed", type=int, default=0, help="of the walks")
    options = parser.parse_args(argv)
    tokenizer = load_tokenizer(options.tokenizer)
    some = cases(options.data, options.first)
    times = set_up(tokenizer)
    module._CACHE = module._Cache()
    vocabulary = Vocabulary.from_huggingface(tokenizer)
    masks: list[list[tuple[float, float, str]]] = [[], [], []]
    gc.collect()
    gc.disable()  # with some hundred thousand masks in hand a full collection takes as long as a thousand of them
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
