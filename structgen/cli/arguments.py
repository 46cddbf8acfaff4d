"""Options that several commands share, and how they are read: schemas, prompts, models, settings of a run."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from structgen.compilation.constraint import Tokenization
    from structgen.generation.settings import GenerationOptions
    from structgen.schema.options import SchemaArguments

    class RunOptions(GenerationOptions, total=False):
        """The options of a run that a command line can set."""

        tokenization: Tokenization


__all__ = [
    "SCHEMA_HELP",
    "SCHEMA_NAME",
    "Commands",
    "FailedError",
    "UsageError",
    "add_command",
    "add_model",
    "add_reading",
    "add_running",
    "add_schema",
    "add_start",
    "asked_schema",
    "check_before_loading",
    "import_name",
    "load_model",
    "port",
    "read_file",
    "read_json",
    "read_prompt",
    "read_schema",
    "reading",
    "running",
    "usage_errors",
]

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

MAX_PORT = 65_535
SCHEMA_NAME = "FILE|MODULE:Model"
SCHEMA_HELP = (
    "a JSON Schema (a file, or the text itself), a grammar (a file that ends in .kbnf, .gbnf or .lark), or "
    "MODULE:Model for a Pydantic model, type or grammar that Python can import from here"
)


class UsageError(Exception):
    """A command line that is wrong: a missing file, a bad value, a name that cannot be imported."""


class FailedError(Exception):
    """A failure that the command has already reported."""


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn errors of values and files into errors of the command line."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise UsageError(str(error)) from error


def add_command(commands: Commands, name: str, *, short: str, long: str = "", examples: str) -> argparse.ArgumentParser:
    """Add a command whose help ends with examples."""
    return commands.add_parser(
        name,
        help=short,
        description=long or f"{short[0].upper()}{short[1:]}.",
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the option `--model`."""
    parser.add_argument(
        "--model",
        default="smollm2",
        help="smollm2 (embedded, the default), a folder or Hub name that transformers can load, the path of a .gguf "
        "file for llama.cpp, or SERVER:NAME; the servers are openai (OPENAI_BASE_URL and OPENAI_API_KEY say which), "
        "anthropic, vllm, sglang, llama.cpp, ollama, structgen",
    )


def add_running(parser: argparse.ArgumentParser) -> None:
    """Add the options of a run; see `RunOptions`."""
    add_model(parser)
    parser.add_argument(
        "--max-new-tokens", "--max-tokens", type=int, default=512, metavar="N", help="budget of the answer (512)"
    )
    parser.add_argument(
        "--on-budget",
        choices=("finish", "error"),
        default="finish",
        help="finish: the answer is complete within the budget (the default); error: it breaks off there",
    )
    parser.add_argument(
        "--max-repeats",
        type=int,
        default=8,
        metavar="N",
        help="how often an answer may repeat itself (8); 0: any number",
    )
    _add_sampling(parser)
    parser.add_argument("--system", metavar="TEXT", help="the system message")
    parser.add_argument("--examples", metavar="FILE", help="JSON Lines of pairs: [prompt, answer]")
    parser.add_argument("--describe-schema", action="store_true", help="describe the schema in the system message")
    parser.add_argument(
        "--reasoning", type=int, metavar="N", help="think first, in at most N tokens between the model's marks"
    )
    parser.add_argument(
        "--template", metavar="JSON", help="variables of the chat template: '{\"enable_thinking\": false}'"
    )
    parser.add_argument(
        "--tokenization",
        choices=("any", "proper"),
        help="which tokens may spell the answer: any (default), or only those that the tokenizer would choose",
    )
    parser.add_argument("--max-retries", type=int, default=0, metavar="N", help="send refused answers back N times (0)")


def _add_sampling(parser: argparse.ArgumentParser) -> None:
    """Add the options of choosing tokens; see `structgen.generation.sampling` and `adjusting`."""
    parser.add_argument("--temperature", type=float, default=0.0, metavar="T", help="0: the most probable (default)")
    parser.add_argument("--top-p", type=float, metavar="P", help="sample among the tokens that make up P of 1")
    parser.add_argument("--top-k", type=int, metavar="K", help="sample among the K most probable tokens")
    parser.add_argument(
        "--min-p", type=float, metavar="P", help="sample among the tokens that are at least P as probable as the best"
    )
    parser.add_argument("--seed", type=int, help="make sampling repeatable")
    parser.add_argument(
        "--sampling", choices=("smc", "awrs", "asap"), help="draw several whole answers, and print the best"
    )
    parser.add_argument("--particles", type=int, metavar="N", help="the number of answers that --sampling draws (16)")
    parser.add_argument(
        "--num-beams", type=int, default=1, metavar="N", help="search for the most probable whole answer, N at a time"
    )
    parser.add_argument(
        "--repetition-penalty", type=float, default=1.0, metavar="F", help="make tokens that occurred less probable (1)"
    )
    parser.add_argument(
        "--frequency-penalty", type=float, default=0.0, metavar="F", help="the same, for each time in the answer (0)"
    )
    parser.add_argument(
        "--presence-penalty", type=float, default=0.0, metavar="F", help="the same, once for all times (0)"
    )
    parser.add_argument(
        "--logit-bias", metavar="JSON", help="numbers to add to the logits of tokens, by id: '{\"50256\": -5}'"
    )
    parser.add_argument(
        "--stop", action="append", default=[], metavar="TEXT", help="end the answer there, where it may end; repeatable"
    )


def add_reading(
    parser: argparse.ArgumentParser, whitespace: str, property_order: str = "schema", numbers: str = "plain"
) -> None:
    """Add the options of reading a schema; see `structgen.schema.options.SchemaArguments`."""
    parser.add_argument(
        "--format", choices=("json", "yaml"), default="json", help="the texts' format: json (default), or yaml"
    )
    parser.add_argument(
        "--whitespace",
        choices=("any", "line", "compact", "single"),
        default=whitespace,
        help=f"white space in the text ({whitespace})",
    )
    parser.add_argument(
        "--numbers",
        choices=("any", "plain"),
        default=numbers,
        help=f"numbers in the text: in plain digits, or in any form of JSON ({numbers})",
    )
    parser.add_argument(
        "--property-order",
        choices=("schema", "any"),
        default=property_order,
        help=f"order of an object's keys: the schema's, or any ({property_order})",
    )
    parser.add_argument(
        "--formats",
        choices=("assert", "strict", "annotate"),
        default="assert",
        help="enforce known formats (default), also refuse unknown ones, or enforce none",
    )
    parser.add_argument(
        "--draft",
        choices=("draft4", "draft6", "draft7", "2019-09", "2020-12"),
        help="the draft of a JSON Schema without $schema",
    )
    parser.add_argument(
        "--lenient",
        action="store_true",
        help="widen unsupported keywords, with a warning, instead of refusing the schema",
    )
    add_start(parser)


def add_schema(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the schema of the answer; one of them is needed."""
    one = parser.add_mutually_exclusive_group(required=True)
    one.add_argument("--schema", metavar=SCHEMA_NAME, help=SCHEMA_HELP)
    one.add_argument(
        "--choices", metavar="TEXTS", help='the texts of which the answer is one, with commas: "good, bad"'
    )
    one.add_argument("--regex", metavar="PATTERN", help="a regex, in Python's syntax, that the whole answer matches")


def asked_schema(options: argparse.Namespace) -> Any:
    """Return the schema of the options that `add_schema` added."""
    if options.schema is not None:
        return read_schema(options.schema, options.start)
    if options.start is not None:
        raise UsageError("--start is for grammars in files that end in .kbnf")
    from structgen.output_types.grammar import Grammar

    if options.regex is not None:
        return Grammar.regex(options.regex)
    return Grammar.choice([text for one in options.choices.split(",") if (text := one.strip())])


def add_start(parser: argparse.ArgumentParser) -> None:
    """Add the option `--start`."""
    parser.add_argument(
        "--start", metavar="RULE", help="the rule at which a text of a KBNF or Lark grammar begins (start)"
    )


def reading(options: argparse.Namespace) -> SchemaArguments:
    """Return the values of the options that `add_reading` added."""
    return {
        "format": options.format,
        "whitespace": options.whitespace,
        "numbers": options.numbers,
        "property_order": options.property_order,
        "formats": options.formats,
        "draft": options.draft,
        "lenient": options.lenient,
    }


def running(options: argparse.Namespace) -> RunOptions:
    """Return the values of the options that `add_running` added."""
    found: RunOptions = {
        "max_new_tokens": options.max_new_tokens,
        "on_budget": options.on_budget,
        "max_repeats": options.max_repeats or None,
        "temperature": options.temperature,
        "top_p": options.top_p,
        "top_k": options.top_k,
        "min_p": options.min_p,
        "repetition_penalty": options.repetition_penalty,
        "frequency_penalty": options.frequency_penalty,
        "presence_penalty": options.presence_penalty,
        "seed": options.seed,
        "sampling": options.sampling,
        "particles": options.particles,
        "num_beams": options.num_beams,
        "stop": options.stop,
        "system": options.system,
        "describe_schema": options.describe_schema,
        "max_retries": options.max_retries,
    }
    if options.examples:
        lines = read_file(options.examples, "the examples").split("\n")  # a text may hold other line separators
        found["examples"] = [read_json(line, options.examples) for line in lines if line.strip()]
    if options.logit_bias is not None:
        found["logit_bias"] = _biases(read_json(options.logit_bias, "--logit-bias"))
    if options.template is not None:
        found["template"] = read_json(options.template, "--template")
        if not isinstance(found["template"], dict):
            raise UsageError("--template is an object of names and values")
    if options.tokenization is not None:
        found["tokenization"] = options.tokenization
    if options.reasoning is not None:
        from structgen.generation.settings import Reasoning

        found["reasoning"] = Reasoning(max_tokens=options.reasoning)
    return found


def _biases(given: Any) -> dict[int, float]:
    try:
        return {int(token): float(bias) for token, bias in given.items()}
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise UsageError("--logit-bias is an object of token ids and numbers") from error


def check_before_loading(schema: Any, options: argparse.Namespace, reading: SchemaArguments) -> None:
    """Check a schema and the options of a run now: loading a model may take minutes.

    Args:
        schema: as `read_schema` returned it.
        options: those that `add_running` added.
        reading: how the schema is read.

    Raises:
        StructgenError: see `structgen.compile`.
        UsageError: an option is out of its range.
    """
    from structgen.compilation.compiler import compile
    from structgen.compilation.constraint import Constraint
    from structgen.engine.vocabulary.vocabulary import byte_vocabulary
    from structgen.generation.settings import Settings
    from structgen.kbnf.tokens import has_tokens
    from structgen.output_types.grammar import Grammar

    with usage_errors():
        settings: dict[str, Any] = dict(running(options))
        settings.pop("tokenization", None)  # only the model's tokenizer can tell
        Settings(**settings)
        has_names = isinstance(schema, Grammar) and has_tokens(schema.tree)  # of tokens: only the model can tell
        if not isinstance(schema, Constraint) and not has_names:
            compile(schema, byte_vocabulary(), **reading)


def port(text: str) -> int:
    """Return the number of a port; the type of an option."""
    number = int(text)
    if not 0 <= number <= MAX_PORT:
        raise argparse.ArgumentTypeError(f"it is a number from 0 to {MAX_PORT}")
    return number


def load_model(name: str) -> Any:
    """Load a model by name. A line on stderr says so, since it takes seconds."""
    from structgen.models.loading import load

    print(f"Loading {name} …", file=sys.stderr, flush=True)
    return load(name)


def read_prompt(options: argparse.Namespace) -> str:
    """Return the prompt, read from stdin if it is "-"."""
    if options.prompt != "-":
        return str(options.prompt)
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise UsageError(f"the prompt on stdin is no text: {error}") from error


def read_schema(name: str, start: str | None = None) -> Any:
    """Read the schema or grammar that a command line names.

    Args:
        name: as `SCHEMA_HELP` says.
        start: the start rule of a KBNF grammar; None to find it.
    """
    if start is not None and Path(name).suffix != ".kbnf":
        raise UsageError("--start is for grammars in files that end in .kbnf")
    if name.lstrip().startswith("{"):
        return read_json(name, "the schema")
    kind = Path(name).suffix[1:]
    if kind in ("kbnf", "gbnf", "lark"):
        from structgen.output_types.grammar import Grammar

        text = read_file(name, "the grammar")
        if kind == "kbnf":
            return Grammar.kbnf(text, start=start)
        return Grammar.gbnf(text) if kind == "gbnf" else Grammar.lark(text, import_paths=[Path(name).parent])
    if ":" in name and not Path(name).exists():
        return import_name(name)
    if kind != "json" and not Path(name).exists():
        raise UsageError(f"there is no file {name}; a type in a module is named MODULE:Name")
    return read_json(read_file(name, "the schema"), name)


def read_file(name: str, what: str) -> str:
    """Read a text file."""
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {what} {name}: {error}") from error


def read_json(text: str, name: str) -> Any:
    """Parse JSON text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name} is not JSON: {error}") from error


def import_name(name: str) -> Any:
    """Import `MODULE:Name`. The working directory is searched too."""
    module, _, attribute = name.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as `python -m` does; the installed command does not
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, SyntaxError, AttributeError, ValueError) as error:
        raise UsageError(f"cannot import {name}: {error}") from error
    return found
