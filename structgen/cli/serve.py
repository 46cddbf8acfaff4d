"""The command `serve`."""

from __future__ import annotations

import argparse
import math
import os

from structgen.cli.arguments import Commands, UsageError, add_command, load_model, port

__all__ = ["add_serve"]

_SERVE = """\
  structgen serve smollm2
  structgen serve ./my-model --port 8080 --max-rows 32
  STRUCTGEN_API_KEY=secret structgen serve smollm2 --host 0.0.0.0
"""


def add_serve(commands: Commands) -> None:
    """Add the command `serve`."""
    serve = add_command(
        commands,
        "serve",
        short="serve a model over HTTP, with OpenAI's interface",
        long="Serves a local model over HTTP, with OpenAI's interface: chat completions, completions and responses. "
        "Answers always fit their schema. SIGTERM lets requests finish. Needs pip install 'structgen-llm[serve]'.",
        examples=_SERVE,
    )
    serve.add_argument("model", nargs="?", default="smollm2", help="smollm2 (the default), a folder or a Hub name")
    serve.add_argument("--host", default="127.0.0.1", help="the address to listen at (127.0.0.1: this machine only)")
    serve.add_argument("--port", type=port, default=8000, help="the port to listen at (8000)")
    serve.add_argument("--name", metavar="NAME", help="the model's name in responses (as given)")
    serve.add_argument("--api-key", metavar="KEY", help="refuse requests without this key (STRUCTGEN_API_KEY)")
    serve.add_argument("--max-rows", type=int, default=16, metavar="N", help="answers written at a time (16)")
    serve.add_argument("--max-waiting", type=int, default=1024, metavar="N", help="waiting requests at most (1024)")
    serve.add_argument(
        "--max-tokens", type=int, default=1024, metavar="N", help="budget where a request has none (1024)"
    )
    serve.add_argument("--max-body-bytes", type=int, default=1 << 22, metavar="N", help="size of a request (4 MiB)")
    serve.add_argument("--timeout", type=float, default=600.0, metavar="S", help="seconds of one request (600)")
    serve.add_argument("--compile-timeout", type=float, default=10.0, metavar="S", help="seconds of one compile (10)")
    serve.add_argument("--drain", type=float, default=30.0, metavar="S", help="seconds to finish after SIGTERM (30)")
    serve.add_argument("--warm", action="store_true", help="make masks of new schemas ahead, in the background")
    serve.set_defaults(command=_serve)


def _serve(options: argparse.Namespace) -> None:
    from structgen.serving.server import serve

    for name in ("max_rows", "max_waiting", "max_tokens", "max_body_bytes", "timeout", "compile_timeout"):
        if not getattr(options, name) > 0:  # NaN is not
            raise UsageError(f"--{name.replace('_', '-')} must be above 0")
    if not 0 <= options.drain < math.inf:
        raise UsageError("--drain is a number of seconds, at least 0")
    serve(
        load_model(options.model),
        host=options.host,
        port=options.port,
        name=options.name or options.model,
        api_key=options.api_key or os.environ.get("STRUCTGEN_API_KEY") or None,
        max_rows=options.max_rows,
        max_waiting=options.max_waiting,
        max_tokens=options.max_tokens,
        max_body_bytes=options.max_body_bytes,
        seconds=options.timeout,
        compile_seconds=options.compile_timeout,
        drain_seconds=options.drain,
        warm=options.warm,
    )
