"""How long do good requests wait for a bad one? Sends requests to a server, alone and beside one made to exhaust it.

    python benchmarks/bombs.py [--requests 4] [--rounds 5]

All run in one process, on the application that `structgen serve` runs, without a network. The good requests come one
after the other, each with a schema of its own, so that each is compiled and needs new masks. The table has their
seconds, and those of the model's passes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
from typing import Any

import jsonschema
from _report import heading
from _served import post

import structgen

BOMBS = {
    "a mask": "start: A\nA: /(a|b|c|d|e)*a(a|b|c|d|e){18}/ & /(a|b|c|d|e)*b(a|b|c|d|e){19}/",
    "a compile": "start: A\nA: /(.*a.{14}b.*)/ & /(.*b.{15}a.*)/ & /(.*c.{13}a.*)/ & /[^a]*/",
}


def good_schema(number: int) -> dict[str, Any]:
    """Return a schema that no other request has."""
    name = {"type": "string", "pattern": "^[A-Z][a-z]{2,12}$"}
    return {
        "type": "object",
        "properties": {f"name{number}": name, "age": {"type": "integer", "minimum": 0, "maximum": 99 + number}},
        "required": [f"name{number}", "age"],
        "additionalProperties": False,
    }


async def ask(app: Any, fields: dict[str, Any]) -> tuple[dict[str, Any], float]:
    """Ask for a person; return the answer, and its seconds."""
    body = {"messages": [{"role": "user", "content": "A person as JSON."}], "max_tokens": 40, **fields}
    return await post(app, body)


async def good(app: Any, number: int) -> tuple[float, int]:
    """Send a good request and check its answer; return its seconds, and the tokens of the answer."""
    schema = good_schema(number)
    asked = {"type": "json_schema", "json_schema": {"name": "person", "schema": schema}}
    answer, seconds = await ask(app, {"response_format": asked})
    jsonschema.validate(json.loads(answer["choices"][0]["message"]["content"]), schema)
    return seconds, answer["usage"]["completion_tokens"]


async def measured(app: Any, numbers: range, bomb: str | None) -> list[tuple[float, int]]:
    """Send good requests one after the other, while the server always has one bad request."""
    tasks: set[asyncio.Task[Any]] = set()
    found = []
    for number in numbers:
        if bomb is not None and all(task.done() for task in tasks):
            tasks.add(asyncio.create_task(ask(app, {"structured_outputs": {"grammar": bomb}})))
            await asyncio.sleep(0.05)
        found.append(await good(app, number))
    await asyncio.gather(*tasks)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=4, help="good requests for each row of a round")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    from structgen.serving.app import ServerOptions, make_app

    app = make_app(structgen.load("smollm2"), ServerOptions(compile_seconds=4.0, mask_seconds=4.0))
    asyncio.run(measured(app, range(2), None))  # loads modules, and warms the model
    print(f"{heading()}\n")
    print("| beside | median of a request, s | slowest, s | median of a token, ms |")
    print("|---|---:|---:|---:|")
    rows: dict[str, list[tuple[float, int]]] = {"nothing": [], **{name: [] for name in BOMBS}}
    number = 1_000  # of equal length for all, as it stands in the schema
    for _ in range(options.rounds):  # a process slows down with its age: the rows take turns
        for name, found in rows.items():
            numbers = range(number, number + options.requests)
            found += asyncio.run(measured(app, numbers, BOMBS.get(name)))
            number = numbers.stop
    for name, found in rows.items():
        seconds = [one for one, _ in found]
        tokens = statistics.median(1000 * one / count for one, count in found)
        print(f"| {name} | {statistics.median(seconds):.2f} | {max(seconds):.2f} | {tokens:.0f} |")


if __name__ == "__main__":
    main()
