"""The command `structgen`: JSON on stdout, everything else on stderr.

Exit codes:

    0    done
    1    the schema was refused, a prompt got no value, or a checked text does not fit
    2    the command line is wrong
    130  interrupted

Modules:

    arguments       options that several commands share, and how they are read
    with_model      commands that run a model: demo, generate, call, map, trace
    without_model   commands that need no model: check, export, grammar, completion
    serve           the command that serves a model over HTTP
    demo            the cases of `structgen demo`
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from structgen import __version__
from structgen.cli import with_model, without_model
from structgen.cli.arguments import FailedError, UsageError
from structgen.cli.serve import add_serve
from structgen.errors import IncompleteOutputError, StructgenError

__all__ = ["main", "parser"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: the words after `structgen`; by default those of this process.

    Returns:
        The exit code.
    """
    commands = parser()
    if not (sys.argv[1:] if arguments is None else arguments):
        commands.exit(2, commands.format_help())
    options = commands.parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _tell
            options.command(options)
        sys.stdout.flush()
    except UsageError as error:
        print(f"structgen: {error}", file=sys.stderr)
        return 2
    except FailedError:
        return 1
    except StructgenError as error:
        print(f"structgen: {type(error).__name__}: {error}", file=sys.stderr)
        if isinstance(error, IncompleteOutputError) and error.partial is not None:
            print(f"What was complete: {json.dumps(error.partial, ensure_ascii=False)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output has closed it. Python would report that once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _tell(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print the message of a warning. A user of the command has no line of Python code to look at."""
    print(f"structgen: warning: {message}", file=sys.stderr)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="structgen",
        description="Answers of language models that always fit a schema. JSON goes to stdout, all else to stderr.",
    )
    made.add_argument("--version", action="version", version=f"structgen {__version__}")
    made.set_defaults(parser=made)  # `completion` describes the whole command
    commands = made.add_subparsers(required=True, metavar="COMMAND")
    for add in (
        with_model.add_demo,
        with_model.add_generate,
        with_model.add_call,
        with_model.add_map,
        without_model.add_check,
        with_model.add_trace,
        add_serve,
        without_model.add_export,
        without_model.add_grammar,
        without_model.add_completion,
    ):
        add(commands)
    return made
