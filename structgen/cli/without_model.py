"""Commands that need no model: check, export, grammar, completion."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from structgen.cli.arguments import (
    SCHEMA_HELP,
    SCHEMA_NAME,
    Commands,
    FailedError,
    UsageError,
    add_command,
    add_reading,
    add_start,
    read_file,
    read_schema,
    reading,
    usage_errors,
)

if TYPE_CHECKING:
    from structgen.engine.vocabulary.vocabulary import Vocabulary
    from structgen.kbnf import ast

__all__ = ["add_check", "add_completion", "add_export", "add_grammar"]

_EXPORT = """\
  structgen export --to kbnf mymodule:Person
  structgen export --to gbnf person.json > person.gbnf      # for llama.cpp: llama-cli --grammar-file person.gbnf
  structgen export --to lark --whitespace single person.json    # for llguidance
  structgen export --to vllm person.json    # JSON: the arguments of vLLM's StructuredOutputsParams
"""
_DIALECTS = ("kbnf", "kbnf-older", "gbnf", "lark", "xgrammar", "vllm")
_CHECK = """\
  structgen check --schema person.json answers/*.json
  structgen check --schema mymodule:Person --lines people.jsonl
  curl -s https://example.org/person | structgen check --schema mymodule:Person -

exit codes: 0 all fit, 1 some do not, 2 the command line is wrong
"""
_STATS = """\
  structgen grammar stats python
  structgen grammar stats --vocabulary path/to/tokenizer my_language.kbnf
  structgen grammar stats --vocabulary path/to/tokenizer --start file_input python.lark
  structgen grammar stats --vocabulary path/to/tokenizer --table my_language.kbnf
"""
_COMPLETION = """\
  structgen completion bash > ~/.local/share/bash-completion/completions/structgen
  structgen completion zsh > ~/.zfunc/_structgen
"""


def add_check(commands: Commands) -> None:
    """Add the command `check`."""
    check = add_command(
        commands,
        "check",
        short="find where JSON or YAML texts break a schema",
        long="Shows the first position where a JSON or YAML text breaks a schema, and what would fit there.",
        examples=_CHECK,
    )
    check.add_argument("--schema", required=True, metavar=SCHEMA_NAME, help=SCHEMA_HELP)
    check.add_argument(
        "files", nargs="+", metavar="FILE", help='files of JSON (or YAML, with --format yaml), or "-" for stdin'
    )
    check.add_argument("--lines", action="store_true", help="read each line as one text (JSON Lines)")
    add_reading(check, "any", property_order="any", numbers="any")
    check.set_defaults(command=_check)


def add_export(commands: Commands) -> None:
    """Add the command `export`."""
    export = add_command(
        commands, "export", short="write a schema as a grammar for another engine, on stdout", examples=_EXPORT
    )
    export.add_argument("--to", required=True, choices=_DIALECTS, help="the grammar's dialect")
    export.add_argument("--end", default="", metavar="TEXT", help="a text that must follow the value")
    export.add_argument("schema", metavar=SCHEMA_NAME, help=SCHEMA_HELP)
    add_reading(export, "any")
    export.set_defaults(command=_export)


def add_grammar(commands: Commands) -> None:
    """Add the command `grammar`."""
    grammar = commands.add_parser("grammar", help="inspect a grammar").add_subparsers(required=True, metavar="COMMAND")
    stats = add_command(
        grammar,
        "stats",
        short="print a grammar's sizes, possible dead ends, overlapping terminals, and the size of a mask store",
        long="Prints statistics of a grammar on stdout. See docs/grammar-analyses.md.",
        examples=_STATS,
    )
    stats.add_argument(
        "grammar",
        metavar="FILE|LANGUAGE",
        help="a file of KBNF, a grammar of the Python toolkit Lark (.lark), or the name of a built-in language",
    )
    stats.add_argument("--table", action="store_true", help="print the token spanner table (with --vocabulary)")
    stats.add_argument("--vocabulary", metavar="FOLDER", help="a tokenizer; count the spans of its tokens")
    add_start(stats)
    stats.add_argument("--overlaps", type=int, default=20, metavar="N", help="show at most N overlaps (20)")
    stats.set_defaults(command=_stats)


def add_completion(commands: Commands) -> None:
    """Add the command `completion`."""
    completion = add_command(
        commands, "completion", short="write a script that completes this command in a shell", examples=_COMPLETION
    )
    completion.add_argument("shell", choices=("bash", "zsh", "tcsh"))
    completion.set_defaults(command=_completion)


def _check(options: argparse.Namespace) -> None:
    schema = read_schema(options.schema, options.start)
    from structgen.diagnostics.check import Checker

    with usage_errors():
        checker = Checker(schema, **reading(options))
    fits = True
    for name in options.files:
        for number, text in _texts(name, lines=options.lines):
            result = checker.check(text)
            fits = fits and result.fits
            for reason in result.reasons:
                print(f"{name}: {reason}" if number is None else f"{name}:{number}: {reason}")
            for problem in result.problems:
                line = problem.line if number is None else number
                print(f"{name}:{replace(problem, line=line)}")
            if result.note:
                print(f"{name}: {result.note}", file=sys.stderr)
    if not fits:
        raise FailedError


def _texts(name: str, *, lines: bool) -> Iterator[tuple[int | None, bytes]]:
    """Yield the texts of a file, with line numbers if each line is a text."""
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error}") from error
    if not lines:
        yield None, data
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield number, line


def _export(options: argparse.Namespace) -> None:
    from structgen.compilation.export import export
    from structgen.output_types.grammar import Grammar

    schema = read_schema(options.schema, options.start)
    written = export(schema, options.to, end=options.end, **({} if isinstance(schema, Grammar) else reading(options)))
    print(written if isinstance(written, str) else json.dumps(written), end="" if isinstance(written, str) else "\n")


def _stats(options: argparse.Namespace) -> None:
    from structgen.languages import language_names
    from structgen.output_types.grammar import Grammar

    if options.table and not options.vocabulary:
        raise UsageError("--table needs --vocabulary")
    if options.grammar not in language_names() and not Path(options.grammar).exists():
        known = ", ".join(language_names())
        raise UsageError(f"{options.grammar} is neither a file nor a built-in language: {known}")
    vocabulary = _vocabulary(options.vocabulary) if options.vocabulary else None
    if options.grammar.endswith(".lark"):
        lines = _lexed_stats(read_file(options.grammar, "the grammar"), vocabulary, options)
    elif options.grammar in language_names():
        lines = _kbnf_stats(Grammar.language(options.grammar).tree, vocabulary, options)
    else:
        text = read_file(options.grammar, "the grammar")
        lines = _kbnf_stats(Grammar.kbnf(text, start=options.start).tree, vocabulary, options)
    for line in lines:
        print(line)


def _kbnf_stats(tree: ast.Grammar, vocabulary: Vocabulary | None, options: argparse.Namespace) -> Iterator[str]:
    from structgen.diagnostics.grammar_statistics.lexers import lexer_of_tables
    from structgen.diagnostics.grammar_statistics.statistics import describe, statistics, without_indentation
    from structgen.diagnostics.grammar_statistics.token_spanner import TokenSpannerTable
    from structgen.kbnf.normal_form.passes import normalize

    if options.table and vocabulary is not None:
        lexer = lexer_of_tables(normalize(without_indentation(tree)))
        yield from TokenSpannerTable(lexer, dict(enumerate(vocabulary.spellings))).lines()
        return
    if vocabulary is not None:
        print("Counting the spans of tokens …", file=sys.stderr, flush=True)
    yield describe(statistics(tree, vocabulary), overlaps=options.overlaps)


def _lexed_stats(text: str, vocabulary: Vocabulary | None, options: argparse.Namespace) -> Iterator[str]:
    from structgen.diagnostics.grammar_statistics.lexed_contexts import lexed_tables
    from structgen.diagnostics.grammar_statistics.lexers import lexer_of_lark
    from structgen.diagnostics.grammar_statistics.mask_store import mask_store
    from structgen.diagnostics.grammar_statistics.statistics import MIN_ITEM_SETS
    from structgen.diagnostics.grammar_statistics.token_spanner import TokenSpannerTable
    from structgen.kbnf.reading.lark import parse_lexed
    from structgen.limits import Limits

    grammar = parse_lexed(text, start=options.start or "start", import_paths=[Path(options.grammar).parent])
    lexer = lexer_of_lark(grammar)
    spellings = [] if vocabulary is None else vocabulary.spellings
    if options.table:
        yield from TokenSpannerTable(lexer, dict(enumerate(spellings))).lines()
        return
    limits = Limits(item_sets=MIN_ITEM_SETS)
    lexed = lexed_tables(grammar, lexer, limits)
    yield f"nonterminals           {len(lexed.tables.names):>9,}"
    yield f"bodies                 {len(lexed.tables.rule_starts):>9,}"
    yield f"terminals              {len(lexer.lexemes):>9,}"
    yield from mask_store(lexer, lexed, spellings, limits).lines()


def _vocabulary(folder: str) -> Vocabulary:
    from transformers import AutoTokenizer

    from structgen.engine.vocabulary.vocabulary import Vocabulary

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the tokenizer {folder}: {error}") from error
    return Vocabulary.from_huggingface(tokenizer)


def _completion(options: argparse.Namespace) -> None:
    try:
        import shtab
    except ImportError as error:
        raise UsageError("completion needs shtab: pip install shtab") from error
    print(shtab.complete(options.parser, shell=options.shell))
