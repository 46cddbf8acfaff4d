"""The commands that run a model: demo, generate, call, map, trace."""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pydantic_core

from structgen.cli.arguments import (
    Commands,
    FailedError,
    add_command,
    add_model,
    add_reading,
    add_running,
    add_schema,
    asked_schema,
    check_before_loading,
    import_name,
    load_model,
    port,
    read_prompt,
    reading,
    running,
    usage_errors,
)

if TYPE_CHECKING:
    from structgen.diagnostics.live_trace import LiveTrace
    from structgen.diagnostics.trace import Trace
    from structgen.generation.generator import Generator
    from structgen.generation.runs import Result

__all__ = ["add_call", "add_demo", "add_generate", "add_map", "add_trace"]

_GENERATE = """\
  structgen generate --schema person.json "Alice Smith is a 34 year old nurse from Lyon."
  structgen generate --schema mymodule:Person "Alice Smith is a 34 year old nurse from Lyon."
  structgen generate --schema mymodule:Person --stream "Alice Smith is a 34 year old nurse from Lyon."
  structgen generate --schema mymodule:Name --n 5 --temperature 1 --seed 7 "A name for a cat."
  structgen generate --choices "good, bad" "Is this review good or bad? I love it."
  structgen generate --regex "[0-9]{4}" "When did the war end?"
  cat letter.txt | structgen generate --schema mymodule:Letter --max-new-tokens 400 -
"""
_CALL = """\
  structgen call --tool mymodule:weather --tool mymodule:add "What is 17 plus 25?"
  structgen call --tool mymodule:weather --run "Is it warm in Lyon?"
"""
_MAP = """\
  structgen map prompts.jsonl --schema mymodule:Person --out people.jsonl
  structgen map reviews.csv --prompt "Classify: {review}" --choices "good, bad" --out moods.csv
  structgen map prompts.jsonl --schema mymodule:Person --out people.jsonl --retry-failed --max-retries 2
  structgen map prompts.jsonl --schema mymodule:Person --out people.jsonl --ray --actors 4 --gpus 1

Run the same command again after an interruption: it continues where it stopped. It refuses to continue if OUT.job.json,
the manifest beside the values, belongs to another job. exit codes: 0 all rows have values, 1 some failed
"""
_TRACE = """\
  structgen trace --schema mymodule:Person "Alice Smith is a 34 year old nurse from Lyon."
  structgen trace --schema person.json --out why.html --temperature 0.7 --seed 1 "Alice is 34."
  structgen trace --schema person.json --out why.json "Alice is 34."
  structgen trace --schema person.json --serve "Alice is 34."
"""


def add_demo(commands: Commands) -> None:
    """Add the command `demo`."""
    demo = commands.add_parser("demo", help="extract three things with the embedded model, SmolLM2")
    add_model(demo)
    demo.set_defaults(command=_demo)


def add_generate(commands: Commands) -> None:
    """Add the command `generate`."""
    generate = add_command(commands, "generate", short="answer a prompt with one value of a schema", examples=_GENERATE)
    _add_prompt(generate)
    ways = generate.add_mutually_exclusive_group()
    ways.add_argument("--stream", action="store_true", help="print each snapshot of the value on a line of its own")
    ways.add_argument(
        "--n", type=_count, default=1, metavar="N", help="print N answers, in batched passes; the seed counts up (1)"
    )
    generate.set_defaults(command=_generate)


def add_call(commands: Commands) -> None:
    """Add the command `call`."""
    call = add_command(
        commands, "call", short="let the model choose a Python function and its arguments", examples=_CALL
    )
    call.add_argument("--tool", action="append", required=True, metavar="MODULE:function", help="one of the functions")
    call.add_argument(
        "--tool-choice", default="required", metavar="CHOICE", help="auto, required (default), none, or a function"
    )
    call.add_argument("--parallel", action="store_true", help="allow several calls; each is printed in a line")
    call.add_argument("--call-format", metavar="NAME", help="the format of the calls; by default the model's own")
    call.add_argument("--run", action="store_true", help="call the function and print its result")
    call.add_argument("prompt", help='the prompt, or "-" to read it from stdin')
    add_running(call)
    call.set_defaults(command=_call)


def add_map(commands: Commands) -> None:
    """Add the command `map`."""
    mapping = add_command(
        commands,
        "map",
        short="answer a file of prompts; continue where an earlier run stopped",
        long="Answers each line of a file. A line is a text, a list of messages, or an object with a prompt field.",
        examples=_MAP,
    )
    mapping.add_argument(
        "prompts", metavar="PROMPTS", help="JSON Lines, or a table that ends in .csv, .tsv or .parquet"
    )
    add_schema(mapping)
    mapping.add_argument(
        "--out", required=True, metavar="FILE", help="the values, as JSON Lines or as a table; existing rows are kept"
    )
    mapping.add_argument("--failed", metavar="FILE", help="rows without a value (OUT.failed.jsonl)")
    mapping.add_argument("--field", default="prompt", metavar="NAME", help="the field of a line's prompt (prompt)")
    mapping.add_argument(
        "--prompt", metavar="TEXT", help='the prompt of each row, with fields in braces: "Classify: {review}"'
    )
    mapping.add_argument(
        "--sorted", action="store_true", help="put the values into the order of the prompts, at the end"
    )
    mapping.add_argument(
        "--give-up-after",
        type=int,
        default=20,
        metavar="N",
        help="stop when the first N rows all failed (20); 0: never",
    )
    mapping.add_argument("--retry-failed", action="store_true", help="try rows again that failed in an earlier run")
    mapping.add_argument("--batch-size", type=int, default=16, metavar="N", help="rows in one pass of the model (16)")
    mapping.add_argument("--ray", action="store_true", help="run on Ray Data, on the cluster of RAY_ADDRESS")
    mapping.add_argument("--actors", type=int, default=1, metavar="N", help="number of models, with --ray (1)")
    mapping.add_argument("--gpus", type=float, default=0, metavar="N", help="GPUs of each model, with --ray (0)")
    add_running(mapping)
    add_reading(mapping, "single")
    mapping.set_defaults(command=_map)


def add_trace(commands: Commands) -> None:
    """Add the command `trace`."""
    trace = add_command(
        commands,
        "trace",
        short="answer a prompt, and write a page that shows every step",
        long="Answers a prompt with one value of a schema, and writes one self-contained HTML page that shows every "
        "step: what the model preferred, what was refused, and by which part of the schema.",
        examples=_TRACE,
    )
    _add_prompt(trace)
    trace.add_argument("--out", default="trace.html", metavar="FILE", help="the page, or its data if it ends in .json")
    trace.add_argument(
        "--wanted", type=int, default=5, metavar="N", help="show the N likeliest refused tokens of each step (5)"
    )
    trace.add_argument(
        "--serve", action="store_true", help="serve the page on this machine while the answer is written; until Ctrl-C"
    )
    trace.add_argument("--port", type=port, default=0, help="the port to listen at, with --serve (0: a free one)")
    trace.set_defaults(command=_trace)


def _add_prompt(parser: argparse.ArgumentParser) -> None:
    add_schema(parser)
    parser.add_argument("prompt", help='the prompt, or "-" to read it from stdin')
    add_running(parser)
    add_reading(parser, "single")


def _demo(options: argparse.Namespace) -> None:
    from structgen.cli.demo import INTRODUCTION, run

    print(INTRODUCTION, file=sys.stderr)
    run(load_model(options.model))


def _generate(options: argparse.Namespace) -> None:
    schema, prompt = asked_schema(options), read_prompt(options)
    from structgen.generation.generator import Generator

    check_before_loading(schema, options, reading(options))
    model = load_model(options.model)
    with usage_errors():
        generator: Generator[Any] = Generator(model, schema, **running(options), **reading(options))
    began = time.monotonic()
    with usage_errors():
        if options.stream:
            results = [_streamed(generator, prompt)]
        elif options.n == 1:
            results = [generator.run(prompt)]
        else:
            results = generator.batch([prompt] * options.n, results=True)
    if not options.stream:
        for result in results:
            print(result.text)
    tokens = sum(result.usage.completion_tokens for result in results)
    forced = sum(result.usage.forced_tokens for result in results)
    print(f"{tokens} tokens ({forced} forced) in {time.monotonic() - began:.1f} s", file=sys.stderr)


def _streamed(generator: Generator[Any], prompt: str) -> Result[Any]:
    """Print the snapshots of an answer, and return its result."""
    printed = ""
    with generator.stream(prompt) as s:
        for part in s:
            # Missing attributes of a snapshot are None, also where the schema does not allow None.
            line = _as_json(part, exclude_none=True)
            if line != printed:  # the last snapshot may be whole already
                print(line, flush=True)
            printed = line
        return s.result()


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("it is at least 1")
    return count


def _call(options: argparse.Namespace) -> None:
    tools, prompt = [import_name(name) for name in options.tool], read_prompt(options)
    from structgen.generation.tools.calling import call
    from structgen.output_types.grammar import Grammar

    with usage_errors():
        grammar = Grammar.tool_calls(tools, options.call_format or "json", tool_choice=options.tool_choice)
    check_before_loading(grammar, options, {})
    model = load_model(options.model)
    with usage_errors():
        reply = call(
            model,
            prompt,
            tools,
            tool_choice=options.tool_choice,
            parallel=options.parallel,
            format=options.call_format,
            **running(options),
        )
    if reply.text:
        print(reply.text, file=sys.stderr if reply.tool_calls else sys.stdout)
    for step in reply.tool_calls:
        shown = json.dumps({"name": step.name, "arguments": json.loads(step.source)}, ensure_ascii=False)
        print(_as_json(step.run()) if options.run else shown)
        if options.run:
            print(shown, file=sys.stderr)


def _map(options: argparse.Namespace) -> None:
    schema = asked_schema(options)
    settings: dict[str, Any] = {
        "failed": options.failed,
        "field": options.field,
        "prompt": options.prompt,
        "is_sorted": options.sorted,
        "give_up_after": options.give_up_after or None,
        "retry_failed": options.retry_failed,
        "batch_size": options.batch_size,
        "progress": importlib.util.find_spec("tqdm") is not None,
        **running(options),
        **reading(options),
    }
    with usage_errors():
        from structgen.mapping.files import map_file
        from structgen.mapping.prompts import check_prompts

        check_prompts(options.prompts, options.field, options.prompt)
        check_before_loading(schema, options, reading(options))
        if options.ray:
            from structgen.mapping.ray import map_file_on_ray

            load = functools.partial(load_model, options.model)
            read = functools.partial(asked_schema, options)
            settings |= {"actors": options.actors, "gpus": options.gpus}
            summary = map_file_on_ray(load, options.prompts, read, options.out, **settings)
        else:
            model = load_model(options.model)
            summary = map_file(model, options.prompts, schema, options.out, **settings)
    counts = f"{summary.done} rows have values, {summary.failed} failed"
    print(f"{counts}; {summary.skipped} of them were there before" if summary.skipped else counts, file=sys.stderr)
    if summary.failed:
        raise FailedError


def _trace(options: argparse.Namespace) -> None:
    schema, prompt = asked_schema(options), read_prompt(options)
    from structgen.diagnostics.live_trace import LiveTrace

    check_before_loading(schema, options, reading(options))
    if not options.serve:
        found = _traced(options, schema, prompt)
    else:
        with usage_errors():
            live = LiveTrace(prompt, options.port)
        with live:
            print(f"The trace is at {live.url}", file=sys.stderr, flush=True)
            found = _traced(options, schema, prompt, live)
            print(f"Ctrl-C ends the server at {live.url}", file=sys.stderr, flush=True)
            live.wait()
    if found.error:
        raise FailedError


def _traced(options: argparse.Namespace, schema: Any, prompt: str, live: LiveTrace | None = None) -> Trace:
    """Trace a run, write the page, and print the answer.

    Args:
        options: the command line.
        schema: the schema.
        prompt: the prompt.
        live: a page to show the steps on; None for none.
    """
    from structgen.diagnostics.trace import trace

    model = load_model(options.model)
    with usage_errors():
        settings: dict[str, Any] = {**running(options), **reading(options)}
        found = trace(
            model, prompt, schema, wanted=options.wanted, on_step=None if live is None else live.add, **settings
        )
    if live is not None:
        live.end(found)
    content = found.to_json() if options.out.endswith(".json") else found.to_html()
    with usage_errors():
        Path(options.out).write_text(content, encoding="utf-8")
    print(f"{options.out}: {found.summary}", file=sys.stderr)
    if found.error:
        print(f"structgen: {found.error}", file=sys.stderr)
    else:
        print(found.text, flush=True)
    return found


def _as_json(value: Any, *, exclude_none: bool = False) -> str:
    data = pydantic_core.to_jsonable_python(value, by_alias=True, exclude_none=exclude_none, fallback=str)
    return json.dumps(data, ensure_ascii=False)
