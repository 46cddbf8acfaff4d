"""Inside `vllm serve`, how do structgen, xgrammar and guidance compare on real schemas that they have not seen?

    .venv-vllm/bin/python benchmarks vllm_server
    .venv-vllm/bin/python benchmarks/vllm_server.py [--schemas 64] [--concurrency 32] [--attacks 0]

`make test-vllm` makes the environment and the model. Each backend has a server of its own. The schemas are those of
MaskBench (STRUCTGEN_DATA) whose names have the smallest hashes; each is asked once, by the `openai` client, streaming.

    refused   HTTP errors                            invalid   ended texts that jsonschema refuses
    cut       texts that the token budget cut off    TTFT      median time to the first token, with cold caches
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import statistics
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from _report import heading, table

HERE = Path(__file__).resolve()
RELEASE = HERE.parents[1] / "tests" / "support" / "vllm_release"
BACKENDS = ("structgen", "xgrammar", "guidance")
MAX_TOKENS = 120


class Answer(NamedTuple):
    """What became of one request."""

    text: str
    reason: str
    first_seconds: float
    tokens: int
    error: str


def schemas(count: int) -> list[tuple[str, Any]]:
    """Return names and schemas of MaskBench, chosen by the hashes of their names."""
    folder = Path(os.environ.get("STRUCTGEN_DATA", "data")) / "maskbench"
    paths = sorted(folder.glob("*.json"), key=lambda path: hashlib.sha256(path.stem.encode()).hexdigest())
    return [(path.stem, json.loads(path.read_text())["schema"]) for path in paths[:count]]


async def ask(client: Any, body: dict[str, Any], seed: int) -> Answer:
    """Ask the server once."""
    import openai

    begun, first, text, reason, tokens = time.perf_counter(), 0.0, "", "", 0
    messages = [{"role": "user", "content": "Write a short example of the JSON document that is asked for."}]
    try:
        stream = await client.chat.completions.create(
            model="model",
            messages=messages,
            max_tokens=MAX_TOKENS,
            temperature=0.7,
            seed=seed,
            stream=True,
            stream_options={"include_usage": True},
            extra_body={"structured_outputs": body},
        )
        async for chunk in stream:
            tokens = chunk.usage.completion_tokens if chunk.usage else tokens
            for choice in chunk.choices:
                if choice.delta.content:
                    first = first or time.perf_counter() - begun
                    text += choice.delta.content
                reason = choice.finish_reason or reason
    except openai.APIError as error:
        return Answer(text, "refused", 0.0, tokens, str(error)[:200])
    return Answer(text, reason, first, tokens, "")


async def ask_all(url: str, bodies: list[dict[str, Any]], concurrency: int) -> tuple[list[Answer], float]:
    """Ask for all, some at a time; return the answers and the seconds."""
    import openai

    gate = asyncio.Semaphore(concurrency)
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=600) as client:

        async def one(seed: int, body: dict[str, Any]) -> Answer:
            async with gate:
                return await ask(client, body, seed)

        await one(0, {"choice": ["a", "b"]})  # the engine is up
        begun = time.perf_counter()
        answers = await asyncio.gather(*(one(seed, body) for seed, body in enumerate(bodies)))
        return answers, time.perf_counter() - begun


def is_invalid(text: str, schema: Any) -> bool:
    """Return whether a whole text is no value of its schema."""
    import jsonschema

    try:
        value = json.loads(text)
        kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
        return not kind(schema).is_valid(value)
    except ValueError:
        return True
    except Exception:
        return False  # a schema that jsonschema itself cannot read


def row(backend: str, model: str, chosen: list[tuple[str, Any]], concurrency: int, attacks: int) -> list[Any]:
    """Run one backend; return its row."""
    from served_requests import ATTACK
    from server import Server

    bodies = [{"json": schema} for _, schema in chosen]
    bodies[:0] = [{"grammar": f"{ATTACK} & /.{{{number}}}(?s:.)*/"} for number in range(attacks)]
    with tempfile.TemporaryDirectory() as folder, Server(model, Path(folder) / "log", backend=backend) as server:
        answers, seconds = asyncio.run(ask_all(server.url, bodies, concurrency))
        alive = server.is_healthy()
    answers = answers[attacks:]
    for (name, _), answer in zip(chosen, answers):
        if answer.error:
            print(f"{backend}: {name}: {answer.error}", file=sys.stderr)
    ended = [(one.text, schema) for one, (_, schema) in zip(answers, chosen) if one.reason == "stop"]
    invalid = [text for text, schema in ended if is_invalid(text, schema)]
    firsts = [one.first_seconds for one in answers if one.first_seconds]
    return [
        backend,
        len(answers),
        sum(one.reason in ("refused", "error") for one in answers),
        len(invalid),
        sum(one.reason == "length" for one in answers),
        statistics.median(firsts),
        max(firsts),
        sum(one.tokens for one in answers) / seconds,
        "yes" if alive else "no",
    ]


def main() -> None:
    """Print one row for each backend."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=int, default=64)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--attacks", type=int, default=0, help="so many slow grammars before the schemas")
    parser.add_argument("--backends", nargs="*", default=BACKENDS)
    arguments = parser.parse_args()
    model = os.environ.get("STRUCTGEN_VLLM_MODEL", str(HERE.parents[1] / ".venv-vllm" / "model"))
    if not Path(model).is_dir():
        print("vLLM is not installed: make test-vllm")
        return
    sys.path.insert(0, str(RELEASE))
    chosen = schemas(arguments.schemas)
    print(heading())
    print(f"\nvLLM {version('vllm')}, {len(chosen)} schemas, {arguments.concurrency} requests at a time\n")
    columns = ["backend", "requests", "refused", "invalid", "cut", "TTFT median, s", "TTFT max, s", "tokens/s", "alive"]
    rows = [row(one, model, chosen, arguments.concurrency, arguments.attacks) for one in arguments.backends]
    print(table(columns, rows))


if __name__ == "__main__":
    main()
