"""The command `structgen`: JSON on stdout, everything else on stderr.

Exit codes: 0 done; 1 the schema was refused or the model gave no value; 2 the command line is wrong; 130 interrupted.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from structgen.errors import IncompleteOutputError, StructgenError

if TYPE_CHECKING:
    from structgen.schema.options import SchemaArguments

__all__ = ["main"]

_GENERATE = """\
examples:
  structgen generate --schema person.json "Alice Smith is a 34 year old nurse from Lyon."
  structgen generate --schema mymodule:Person "Alice Smith is a 34 year old nurse from Lyon."
  cat letter.txt | structgen generate --schema mymodule:Letter --max-new-tokens 400 -
"""
_EXPORT = """\
examples:
  structgen export --to kbnf mymodule:Person
  structgen export --to kbnf person.json > person.kbnf
"""
_STATS = """\
examples:
  structgen grammar stats python
  structgen grammar stats --vocabulary path/to/tokenizer my_language.kbnf
"""
_SCHEMA_HELP = (
    "a JSON Schema (a file, or the text itself), or MODULE:Model for a Pydantic model or type that Python can import "
    "from here"
)


class _UsageError(Exception):
    """The command line names something that is not there."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
        arguments: the words after `structgen`; those of the process by default.

    Returns:
        The exit code.
    """
    options = _parser().parse_args(arguments)
    try:
        options.command(options)
        sys.stdout.flush()
    except _UsageError as error:
        print(f"structgen: {error}", file=sys.stderr)
        return 2
    except StructgenError as error:
        print(f"structgen: {type(error).__name__}: {error}", file=sys.stderr)
        if isinstance(error, IncompleteOutputError) and error.partial is not None:
            print(f"What was complete: {json.dumps(error.partial, ensure_ascii=False)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output has left. Python would complain about it again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="structgen",
        description="Answers of language models that fit a schema, always. JSON goes to stdout, all else to stderr.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="extract three things with the embedded model, SmolLM2")
    demo.add_argument("--model", default="smollm2", help=_model_help())
    demo.set_defaults(command=_demo)

    generate = commands.add_parser(
        "generate",
        help="answer a prompt with one JSON value of a schema",
        description="Answers a prompt with one JSON value of a schema.",
        epilog=_GENERATE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    generate.add_argument("--schema", required=True, metavar="FILE|MODULE:Model", help=_SCHEMA_HELP)
    generate.add_argument("prompt", help='what to answer, or "-" to read it from stdin')
    generate.add_argument("--model", default="smollm2", help=_model_help())
    generate.add_argument("--max-new-tokens", type=int, default=512, metavar="N", help="budget of the answer (512)")
    generate.add_argument("--temperature", type=float, default=0.0, metavar="T", help="0: the most probable (default)")
    generate.add_argument("--top-p", type=float, metavar="P", help="sample among the tokens that make up P of 1")
    generate.add_argument("--top-k", type=int, metavar="K", help="sample among the K most probable tokens")
    generate.add_argument("--seed", type=int, help="make sampling repeatable")
    _add_reading(generate, "single")
    generate.set_defaults(command=_generate)

    export = commands.add_parser(
        "export",
        help="write a schema as a grammar for another engine",
        description="Writes a schema as a grammar for another engine, on stdout.",
        epilog=_EXPORT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    export.add_argument("--to", required=True, choices=("kbnf",), help="the grammar's dialect")
    export.add_argument("schema", metavar="FILE|MODULE:Model", help=_SCHEMA_HELP)
    _add_reading(export, "any")
    export.set_defaults(command=_export)

    grammar = commands.add_parser("grammar", help="look at a grammar").add_subparsers(required=True, metavar="COMMAND")
    stats = grammar.add_parser(
        "stats",
        help="sizes, possible dead ends, overlaps of terminals, and what a mask store would hold",
        description="Tells what a grammar holds, on stdout. See docs/grammar-analyses.md.",
        epilog=_STATS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    stats.add_argument("grammar", metavar="FILE|LANGUAGE", help="a file of KBNF, or a language that structgen knows")
    stats.add_argument("--vocabulary", metavar="FOLDER", help="a tokenizer whose tokens' spans are counted")
    stats.add_argument("--overlaps", type=int, default=20, metavar="N", help="show so many overlaps at most (20)")
    stats.set_defaults(command=_stats)
    return parser


def _add_reading(parser: argparse.ArgumentParser, whitespace: str) -> None:
    """The options about the schema's reading; see `structgen.schema.options.SchemaArguments`."""
    parser.add_argument(
        "--whitespace",
        choices=("any", "compact", "single"),
        default=whitespace,
        help=f"white space in the JSON ({whitespace})",
    )
    parser.add_argument(
        "--property-order",
        choices=("schema", "any"),
        default="schema",
        help="order of an object's keys: the schema's (default), or any",
    )
    parser.add_argument(
        "--formats",
        choices=("assert", "strict", "annotate"),
        default="assert",
        help="enforce the formats that are known (default), refuse the unknown ones too, or enforce none",
    )
    parser.add_argument(
        "--draft",
        choices=("draft4", "draft6", "draft7", "2019-09", "2020-12"),
        help="what a JSON Schema is written in that does not say so by $schema",
    )
    parser.add_argument(
        "--lenient", action="store_true", help="widen what is unsupported in the schema, with a warning, not refuse it"
    )


def _reading(options: argparse.Namespace) -> SchemaArguments:
    return {
        "whitespace": options.whitespace,
        "property_order": options.property_order,
        "formats": options.formats,
        "draft": options.draft,
        "lenient": options.lenient,
    }


def _model_help() -> str:
    return "smollm2 (embedded, the default), or a folder or Hub name that transformers can load"


def _demo(options: argparse.Namespace) -> None:
    from structgen.demo import run

    run(_load(options.model))


def _generate(options: argparse.Namespace) -> None:
    schema = _read_schema(options.schema)
    prompt = sys.stdin.read() if options.prompt == "-" else options.prompt
    from structgen.generation import Generator

    model = _load(options.model)
    try:
        generator: Generator[Any] = Generator(
            model,
            schema,
            max_new_tokens=options.max_new_tokens,
            temperature=options.temperature,
            top_p=options.top_p,
            top_k=options.top_k,
            seed=options.seed,
            **_reading(options),
        )
    except ValueError as error:
        raise _UsageError(str(error)) from error
    result = generator.run(prompt)
    print(result.text)
    usage = result.usage
    print(f"{usage.completion_tokens} tokens ({usage.forced_tokens} forced) in {usage.seconds:.1f} s", file=sys.stderr)


def _export(options: argparse.Namespace) -> None:
    from structgen.grammars import to_kbnf

    print(to_kbnf(_read_schema(options.schema), **_reading(options)))


def _stats(options: argparse.Namespace) -> None:
    from structgen.analysis import describe, statistics
    from structgen.kbnf.parser import parse
    from structgen.languages import language_names, language_source

    if options.grammar in language_names():
        text = language_source(options.grammar)
    else:
        text = _read(options.grammar, "the grammar")
    vocabulary = None
    if options.vocabulary:
        from transformers import AutoTokenizer

        from structgen.engine.vocabulary import Vocabulary

        try:
            tokenizer = AutoTokenizer.from_pretrained(options.vocabulary, local_files_only=True)
        except (OSError, ValueError) as error:
            raise _UsageError(f"cannot read the tokenizer {options.vocabulary}: {error}") from error
        vocabulary = Vocabulary.from_huggingface(tokenizer)
        print("Counting the spans of tokens …", file=sys.stderr, flush=True)
    print(describe(statistics(parse(text), vocabulary), overlaps=options.overlaps))


def _load(name: str) -> Any:
    from structgen.models.loading import load

    print(f"Loading {name} …", file=sys.stderr, flush=True)
    return load(name)


def _read_schema(name: str) -> Any:
    """The schema that a command line names."""
    if name.lstrip().startswith("{"):
        return _parse(name, "the schema")
    module, colon, attribute = name.partition(":")
    if colon and not Path(name).exists():
        return _import_schema(module, attribute)
    return _parse(_read(name, "the schema"), name)


def _read(name: str, what: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _UsageError(f"cannot read {what} {name}: {error}") from error


def _parse(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _UsageError(f"{name} is not JSON: {error}") from error


def _import_schema(module: str, attribute: str) -> Any:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as `python -m` does: the installed command would not look here
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, SyntaxError, AttributeError, ValueError) as error:
        raise _UsageError(f"cannot import {module}:{attribute}: {error}") from error
    return found


if __name__ == "__main__":
    sys.exit(main())
