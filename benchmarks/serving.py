"""How many tokens a second does a served model write, beside a loop of transformers and beside outlines?

    python benchmarks/serving.py [--requests 32] [--rows 16] [--engines serve outlines …]

All run in one process, on one model, with the same prompts and schema, greedy, with at most 60 tokens. `serve` is the
application that `structgen serve` runs, without a network; its requests come one after the other, or all at once. The
others are what a script does without a server: transformers' `generate`, one prompt after the other, free or with
outlines' masks; and outlines' masks in batches of `--rows`, in which every row waits for the last one.

An answer is valid if it is JSON of the schema.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jsonschema
from _peers import installed
from _report import heading, table
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
MAX_TOKENS = 60


@dataclass
class Reply:
    """An answer, and what it cost."""

    text: str
    tokens: int
    seconds: float

    @property
    def is_valid(self) -> bool:
        """Return whether the text is JSON of the schema."""
        try:
            jsonschema.validate(json.loads(self.text), SCHEMA)
        except (ValueError, jsonschema.ValidationError):
            return False
        return True


def prompt(number: int) -> list[dict[str, str]]:
    """Return the messages of a request."""
    text = f"Extract the person as JSON. Alice the {number}th is {20 + number} years old and lives in Lyon."
    return [{"role": "user", "content": text}]


async def ask(app: Any, number: int) -> Reply:
    """Send one request to the server."""
    body = {"messages": prompt(number), "response_format": FORMAT, "max_tokens": MAX_TOKENS}
    answer, seconds = await post(app, body)
    return Reply(answer["choices"][0]["message"]["content"], answer["usage"]["completion_tokens"], seconds)


def served(app: Any, *, at_once: bool) -> Callable[[Sequence[int]], list[Reply]]:
    """Return a function that sends requests to the server."""

    async def run(numbers: Sequence[int]) -> list[Reply]:
        if at_once:
            return list(await asyncio.gather(*(ask(app, number) for number in numbers)))
        return [await ask(app, number) for number in numbers]

    return lambda numbers: asyncio.run(run(numbers))


def generated(model: Any, processors: Callable[[], list[Any]], rows: int) -> Callable[[Sequence[int]], list[Reply]]:
    """Return a function that answers prompts with transformers' `generate`, some at a time."""

    def answer(numbers: Sequence[int]) -> list[Reply]:
        tokenizer = model.tokenizer
        inputs = tokenizer.apply_chat_template(
            [prompt(number) for number in numbers], add_generation_prompt=True, return_dict=True, return_tensors="pt",
            padding=True, padding_side="left",
        )  # fmt: skip
        began = time.perf_counter()
        output = model.hf_model.generate(
            **inputs, do_sample=False, max_new_tokens=MAX_TOKENS, logits_processor=processors(),
            pad_token_id=tokenizer.eos_token_id,
        )  # fmt: skip
        seconds = time.perf_counter() - began
        found = []
        for row in output[:, inputs["input_ids"].shape[1] :].tolist():
            end = row.index(tokenizer.eos_token_id) if tokenizer.eos_token_id in row else len(row)
            found.append(Reply(tokenizer.decode(row[:end]), end, seconds))
        return found

    return lambda numbers: [reply for at in range(0, len(numbers), rows) for reply in answer(numbers[at : at + rows])]


def outlines(model: Any) -> Callable[[], list[Any]]:
    """Return a function that returns outlines' masks of the schema."""
    import outlines

    schema = outlines.json_schema(json.dumps(SCHEMA))
    made: Any = outlines.Generator(outlines.from_transformers(model.hf_model, model.tokenizer), schema)

    def processors() -> list[Any]:
        made.logits_processor.reset()
        return [made.logits_processor]

    return processors


def engines(model: Any, rows: int, names: Sequence[str]) -> dict[str, Callable[[Sequence[int]], list[Reply]]]:
    """Return what answers prompts, by name."""
    from structgen.serving.app import ServerOptions, make_app

    found = {}
    if "serve" in names:
        app = make_app(model, ServerOptions(max_rows=rows))
        found["structgen serve, one after the other"] = served(app, at_once=False)
        found["structgen serve, all at once"] = served(app, at_once=True)
    if "transformers" in names:
        found["transformers, free, one after the other"] = generated(model, list, 1)
    if "outlines" in names:
        masks = outlines(model)
        found["outlines in transformers, one after the other"] = generated(model, masks, 1)
        found[f"outlines in transformers, batches of {rows}"] = generated(model, masks, rows)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=32)
    parser.add_argument("--rows", type=int, default=16, help="answers that the model writes at a time")
    parser.add_argument("--engines", nargs="+", choices=["serve", "transformers", "outlines"])
    options = parser.parse_args()
    names = options.engines or ["serve", "transformers", *installed(["outlines"])]
    model: Any = structgen.load("smollm2")
    found = engines(model, options.rows, names)
    rows = []
    for name, answer in found.items():
        answer(range(2))  # compiles, and warms the model
        began, worked = time.perf_counter(), time.process_time()
        replies = answer(range(options.requests))
        seconds, work = time.perf_counter() - began, time.process_time() - worked
        tokens = sum(reply.tokens for reply in replies)
        invalid = sum(not reply.is_valid for reply in replies)
        rows.append([name, seconds, work, f"{tokens / seconds:.0f}", f"{tokens / work:.0f}", tokens, invalid])
        print(rows[-1], file=sys.stderr, flush=True)
    print(f"{heading()}\n")
    print(
        table(
            ["engine", f"{options.requests} answers, s", "CPU s", "tokens/s", "tokens/CPU s", "tokens", "invalid"], rows
        )
    )


if __name__ == "__main__":
    main()
