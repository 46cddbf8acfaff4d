"""Which masks of random schemas take long?

    python benchmarks/slow_tokens.py [--tokenizer FOLDER] [--schemas N] [--seed N] [--show N]

Real schemas show the common cases; this looks for the rare ones. It draws schemas from parts that real schemas have:
patterns of strings and keys, bounds, formats, `oneOf`, `not`, `patternProperties`, lists. Each is compiled, and random
texts of it are followed. The tables of the vocabulary stay, as in a server.

A time is that of the processor, for a mask and the acceptance of its token. A schema is named by its number; `--show`
prints the schema of a number.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import time
from collections.abc import Sequence
from typing import Any

from _peers import Structgen, load_tokenizer, make_engine
from _random_walks import Drawing
from _report import heading, percentile, table

import structgen

PATTERNS = (
    r"^[a-zA-Z0-9_-]{1,64}$",
    r"^[a-z][a-z0-9-]{0,62}$",
    "(foo|bar|date)",
    "^x-",
    "_id$",
    "^[A-Z_]+$",
    "^[^/]+$",
    "^/",
    r"^\d+$",
    "^[0-9]{3}$",
    "^(?!type$)[a-z]+$",
    ".*",
    ".+",
    "^.{1,50}$",
    r"^[a-z]+(\.[a-z]+)*$",
    "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$",
    r"^\S+$",
    r"\S",
    r"^(\w+\s){0,9}\w+$",
    "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}$",
    r"^\$",
    "^@?[a-z]+/[a-z]+$",
    "[A-Z]",
    "^.*[0-9].*$",
    "^(get|put|post|delete)$",
    "^(?!.*--)[a-z-]+$",
    r"^[\w.-]+@[\w.-]+$",
)
FORMATS = (
    *("email", "uri", "date-time", "hostname", "ipv4", "ipv6", "uuid", "uri-reference"),
    *("duration", "date", "time", "regex", "json-pointer"),
)
NAMES = ("name", "id", "type", "date", "description", "version", "url", "count", "tags", "x-foo", "foo")
OTHERS: tuple[Any, ...] = ({}, {"type": "boolean"}, {"enum": ["a", "b", 1, None]}, {"type": ["string", "null"]})
MAX_DEPTH = 2
SHOWN = 30  # slowest masks
SHOWN_BYTES = 40  # of the text before


def drawn(rng: random.Random, chances: dict[str, tuple[float, Sequence[Any]]]) -> dict[str, Any]:
    """Return some of the keywords, each with one of its values."""
    return {name: rng.choice(values) for name, (chance, values) in chances.items() if rng.random() < chance}


def string(rng: random.Random) -> dict[str, Any]:
    """Return a schema of strings."""
    schema: dict[str, Any] = {"type": "string"} | drawn(
        rng,
        {
            "pattern": (0.6, PATTERNS),
            "maxLength": (0.5, (5, 12, 20, 63, 100, 255, 1000)),
            "minLength": (0.3, (1, 2, 3, 5)),
            "format": (0.25, FORMATS),
        },
    )
    other = {"type": "string", "pattern": rng.choice(PATTERNS)}
    kind = rng.random()
    if kind < 0.15:
        return {"allOf": [schema, {"pattern": rng.choice(PATTERNS)}]}
    if kind < 0.25:
        return {"allOf": [schema, {"not": {"pattern": rng.choice(PATTERNS)}}]}
    if kind < 0.35:
        return {"anyOf": [schema, other]}
    if kind < 0.45:
        return {"oneOf": [schema, other | {"maxLength": 20}]}
    return schema


def number(rng: random.Random) -> dict[str, Any]:
    """Return a schema of numbers."""
    kind = rng.choice(("number", "integer"))
    return {"type": kind} | drawn(
        rng,
        {
            "minimum": (0.5, (0, 1, -90, -180, -360, 0.5, -1000000, 100)),
            "maximum": (0.5, (1, 90, 180, 360, 100, 65535, 1e9, 0.99)),
            "multipleOf": (0.15, (0.01, 0.5, 5, 10, 3, 0.1)),
        },
    )


def array(rng: random.Random, depth: int) -> dict[str, Any]:
    """Return a schema of lists."""
    schema = {"type": "array", "items": value(rng, depth + 1)} | drawn(
        rng, {"maxItems": (0.4, (2, 5, 20)), "minItems": (0.3, (1,)), "uniqueItems": (0.3, (True,))}
    )
    return schema | {"contains": value(rng, MAX_DEPTH)} if rng.random() < 0.1 else schema


def value(rng: random.Random, depth: int) -> dict[str, Any]:
    """Return a schema of any kind; deep ones have no objects and lists."""
    kind = rng.random()
    if depth < MAX_DEPTH and kind < 0.25:
        return map_of(rng, depth + 1)
    if depth < MAX_DEPTH and kind < 0.35:
        return array(rng, depth)
    if kind < 0.75:
        return string(rng)
    if kind < 0.9:
        return number(rng)
    found: dict[str, Any] = rng.choice(OTHERS)
    return found


def map_of(rng: random.Random, depth: int = 0) -> dict[str, Any]:
    """Return a schema of objects."""
    schema: dict[str, Any] = {"type": "object"}
    if rng.random() < 0.7:
        schema["properties"] = {name: value(rng, depth) for name in rng.sample(NAMES, rng.randint(1, 5))}
    if rng.random() < 0.6:
        schema["patternProperties"] = {
            pattern: value(rng, depth) for pattern in rng.sample(PATTERNS, rng.randint(1, 3))
        }
    if rng.random() < 0.4:
        schema["additionalProperties"] = rng.choice((False, value(rng, depth)))
    if rng.random() < 0.25:
        schema["propertyNames"] = rng.choice(({"pattern": rng.choice(PATTERNS)}, {"maxLength": 64}, {"minLength": 2}))
    return schema | drawn(rng, {"minProperties": (0.2, (1, 2)), "maxProperties": (0.15, (2, 5))})


def schema_of(seed: int) -> dict[str, Any]:
    """Return the schema of a number."""
    return map_of(random.Random(seed))


def followed(engine: Structgen, drawing: Drawing, seed: int, options: argparse.Namespace) -> list[tuple[float, str]]:
    """Return the microseconds of each mask on random texts of a schema, and where it was."""
    found: list[tuple[float, str]] = []
    for walk in range(options.walks):
        engine.reset()
        drawing.rng = random.Random(options.walks * seed + walk)
        text = b""
        for step in range(options.tokens):
            began = time.thread_time_ns()
            engine.fill_mask()
            cost = time.thread_time_ns() - began
            drawing.row[:] = engine.mask
            token = drawing.draw(step)
            if token is None:
                break
            began = time.thread_time_ns()
            engine.matcher.accept_token(token)
            cost += time.thread_time_ns() - began
            found.append((cost / 1000, f"{seed}, text {walk}, token {step}, after `{text[-SHOWN_BYTES:]!r}`"))
            text += drawing.spelled[token]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tokenizer", default="", metavar="FOLDER", help="SmolLM2's by default")
    parser.add_argument("--schemas", type=int, default=300, help="so many")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first one")
    parser.add_argument("--walks", type=int, default=2, help="random texts of a schema")
    parser.add_argument("--tokens", type=int, default=100, help="of a text, at most")
    parser.add_argument("--show", type=int, metavar="N", help="print the schema of a number")
    options = parser.parse_args()
    if options.show is not None:
        print(json.dumps(schema_of(options.show), indent=2))
        return
    engine = make_engine("structgen", load_tokenizer(options.tokenizer))
    assert isinstance(engine, Structgen)
    drawing = Drawing(engine.vocabulary, 0)
    gc.collect()
    gc.freeze()
    masks: list[tuple[float, str]] = []
    refused: dict[int, str] = {}
    for seed in range(options.seed, options.seed + options.schemas):
        engine.forget()
        try:
            engine.compile(schema_of(seed))
            masks += followed(engine, drawing, seed, options)
        except structgen.StructgenError as error:
            refused[seed] = str(error).splitlines()[0]
    costs = [cost for cost, _ in masks]
    print(heading(), end="\n\n")
    rows = [["masks", len(costs)], ["average", sum(costs) / len(costs)]]
    rows += [[f"p{part:g}", percentile(costs, part)] for part in (50, 90, 99, 99.9, 100)]
    print(table(["µs", "structgen"], rows), end="\n\nThe slowest masks:\n\n")
    print(table(["where", "µs"], [[where, cost] for cost, where in sorted(masks, reverse=True)[:SHOWN]]))
    for seed, reason in refused.items():
        print(f"\nrefused: {seed}: {reason}")


if __name__ == "__main__":
    main()
