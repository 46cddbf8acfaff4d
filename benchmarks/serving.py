"""How many tokens a second does a served model write: one request after the other, and many at once?

    python benchmarks/serving.py [--requests 32] [--rows 16]

Both forms run in one process, on the application that `structgen serve` runs, without a network. The answers are the
same schema's, and are checked.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from typing import Any

import jsonschema
from _report import heading
from _served import post

import structgen

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 30},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "city": {"type": "string", "maxLength": 30},
    },
    "required": ["name", "age", "city"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA}}


async def ask(app: Any, number: int) -> tuple[int, float]:
    """Send one request; return the tokens of its answer, and its seconds."""
    text = f"Extract the person as JSON. Alice the {number}th is {20 + number} years old and lives in Lyon."
    body = {"messages": [{"role": "user", "content": text}], "response_format": FORMAT, "max_tokens": 60}
    answer, seconds = await post(app, body)
    jsonschema.validate(json.loads(answer["choices"][0]["message"]["content"]), SCHEMA)
    return answer["usage"]["completion_tokens"], seconds


async def one_by_one(app: Any, count: int) -> list[tuple[int, float]]:
    """Send requests one after the other."""
    return [await ask(app, number) for number in range(count)]


async def at_once(app: Any, count: int) -> list[tuple[int, float]]:
    """Send requests all at once."""
    return await asyncio.gather(*(ask(app, number) for number in range(count)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=32)
    parser.add_argument("--rows", type=int, default=16, help="answers that the model writes at a time")
    options = parser.parse_args()
    from structgen.serving.app import ServerOptions, make_app

    app = make_app(structgen.load("smollm2"), ServerOptions(max_rows=options.rows))
    asyncio.run(ask(app, 0))  # compiles, and warms the model
    print(f"{heading()}\n")
    print("| requests | tokens/s | seconds | slowest request |")
    print("|---|---:|---:|---:|")
    for name, send, count in (
        ("one after the other", one_by_one, max(1, options.requests // 4)),
        (f"{options.requests} at once", at_once, options.requests),
    ):
        began = time.perf_counter()
        found = asyncio.run(send(app, count))
        seconds = time.perf_counter() - began
        tokens = sum(count for count, _ in found)
        print(f"| {name} | {tokens / seconds:.0f} | {seconds:.1f} | {max(one for _, one in found):.2f} s |", flush=True)


if __name__ == "__main__":
    main()
