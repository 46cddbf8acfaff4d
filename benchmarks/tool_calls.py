r"""What does a structural tag of 400 functions cost, compared with llguidance and xgrammar?

    python benchmarks/tool_calls.py [--tokenizer FOLDER] [--functions 400] [--calls 40] [--rounds 3]

The tag is the format `qwen_3`: free text, and calls `<tool_call>\n{"name": "…", "arguments": {…}}\n</tool_call>`.
Each function has one to six parameters of its own: strings, numbers, booleans, enums, lists and objects. A text has a
sentence and a call; each call is of another function.

*Compile* is with the vocabulary warm and no cache of grammars. *First* is a pass over the texts right after that,
*warm* a pass over the same texts with new matchers. The engines take turns. A compile is the median over the rounds;
the times of masks are those of all rounds.

The tags of llguidance end with text, and `</tool_call>` is a token for it. So its texts end before that mark.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from _peers import Engine, installed, load_tokenizer, make_engine
from _report import heading, percentile, table

NAMES = (
    "city",
    "date",
    "limit",
    "query",
    "user",
    "path",
    "unit",
    "price",
    "tags",
    "flag",
    "range",
    "mode",
    "id",
    "note",
)
SENTENCES = (
    "Let me look that up.",
    "I will check two things first:",
    "Sure!\n\n",
    "One moment – calling the tool now. ",
)


def parameter(rng: random.Random, depth: int = 0) -> tuple[dict[str, Any], Any]:
    """Return the schema of a parameter, and a value."""
    kind = rng.choice(
        ("string", "string", "integer", "number", "boolean", "enum", "array", "object")[: 7 if depth else 8]
    )
    if kind == "enum":
        values = [f"{rng.choice(NAMES)}_{number}" for number in range(rng.randint(2, 6))]
        return {"enum": values}, rng.choice(values)
    if kind == "array":
        items, value = parameter(rng, depth + 1)
        return {"type": "array", "items": items}, [value] * rng.randint(1, 3)
    if kind == "object":
        return function_schema(rng, depth + 1)
    values: dict[str, Any] = {
        "string": "Lyon, 3rd district",
        "integer": rng.randint(0, 9999),
        "number": rng.randint(0, 99) / 4,
        "boolean": rng.random() < 0.5,
    }
    return {"type": kind, "description": f"The {kind}."}, values[kind]


def function_schema(rng: random.Random, depth: int = 0) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schema of the arguments of a function, and arguments."""
    names = rng.sample(NAMES, rng.randint(1, 3 if depth else 6))
    made = {name: parameter(rng, depth) for name in names}
    properties = {name: schema for name, (schema, _) in made.items()}
    required = names[: rng.randint(1, len(names))]
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return schema, {name: value for name, (_, value) in made.items()}


def functions(count: int) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return tools in OpenAI's form, each with arguments."""
    rng = random.Random(7)
    found: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for number in range(count):
        schema, arguments = function_schema(rng)
        name = f"{rng.choice(('get', 'set', 'find', 'list'))}_{rng.choice(NAMES)}_{number}"
        found.append(({"type": "function", "function": {"name": name, "parameters": schema}}, arguments))
    return found


def texts(chosen: list[tuple[dict[str, Any], dict[str, Any]]]) -> list[str]:
    """Return a text with a call of each function."""
    rng = random.Random(8)
    found: list[str] = []
    for tool, arguments in chosen:
        call = json.dumps({"name": tool["function"]["name"], "arguments": arguments}, ensure_ascii=False)
        found.append(f"{rng.choice(SENTENCES)}<tool_call>\n{call}\n</tool_call>")
    return found


def compiler(engine: Engine, tools: list[dict[str, Any]]) -> Callable[[], None]:
    """Return the function that compiles the structural tag for an engine."""
    made: Any = engine
    if engine.name == "structgen":
        import structgen

        def compile_ours() -> None:
            made.compiled = structgen.compile(structgen.Grammar.tool_calls(tools, "qwen_3"), made.vocabulary)

        return compile_ours
    if engine.name == "xgrammar":
        import xgrammar

        def compile_theirs() -> None:
            made.compiler.clear_cache()
            tag = xgrammar.get_model_structural_tag("qwen_3", tools, reasoning="disabled")
            made.compiled = made.compiler.compile_structural_tag(tag)

        return compile_theirs
    import llguidance

    def compile_lark() -> None:
        tags = [
            llguidance.StructTag(
                trigger="<tool_call>",
                begin=f'<tool_call>\n{{"name": "{tool["function"]["name"]}", "arguments": ',
                grammar=tool["function"]["parameters"],
                end="}\n",
            )
            for tool in tools
        ]
        made.compiled = llguidance.LLMatcher(made.tokenizer, llguidance.StructTag.to_grammar(tags))
        if made.compiled.is_error():
            raise ValueError(made.compiled.get_error())

    return compile_lark


@contextmanager
def without_collector() -> Iterator[None]:
    """Keep the garbage collector out of the measured time."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def mask_times(engine: Engine, tokens: Sequence[Sequence[int]]) -> list[float]:
    """Return the microseconds of each mask of a pass over texts.

    Raises:
        ValueError: a token is refused.
    """
    found: list[float] = []
    for text in tokens:
        engine.reset()
        for token in text:
            start = time.perf_counter_ns()
            engine.fill_mask()
            found.append((time.perf_counter_ns() - start) / 1000)
            if not engine.commit(token):
                raise ValueError(f"{engine.name} refuses token {token} of {text}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", default="", help="a folder with a tokenizer; by default SmolLM2's")
    parser.add_argument("--functions", type=int, default=400)
    parser.add_argument("--calls", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    tokenizer = load_tokenizer(options.tokenizer)
    made = functions(options.functions)
    tools = [tool for tool, _ in made]
    tokens = [
        tokenizer.encode(text, add_special_tokens=False) for text in texts(made[:: len(made) // options.calls or 1])
    ]
    engines = [make_engine(name, tokenizer) for name in installed()]
    compile_ms: dict[str, list[float]] = {engine.name: [] for engine in engines}
    first: dict[str, list[float]] = {engine.name: [] for engine in engines}
    warm: dict[str, list[float]] = {engine.name: [] for engine in engines}
    for _ in range(options.rounds):
        for engine in engines:
            engine.forget()
            with without_collector():
                start = time.perf_counter_ns()
                compiler(engine, tools)()
                compile_ms[engine.name].append((time.perf_counter_ns() - start) / 1e6)
                own = [text[:-1] for text in tokens] if engine.name == "llguidance" else tokens
                first[engine.name] += mask_times(engine, own)
                warm[engine.name] += mask_times(engine, own)
    print(heading())
    count = sum(map(len, tokens))
    print(f"\n{options.functions} functions, {len(tokens)} texts of {count} tokens, {len(tokenizer)} ids\n")
    times = ("first p50", "first p99", "warm p50", "warm p99", "warm max")
    columns = ["engine", "compile ms", *(f"{name} µs" for name in times)]
    rows = [
        [
            name,
            statistics.median(compile_ms[name]),
            *(percentile(first[name], percent) for percent in (50, 99)),
            *(percentile(warm[name], percent) for percent in (50, 99, 100)),
        ]
        for name in compile_ms
    ]
    print(table(columns, rows))


if __name__ == "__main__":
    main()
