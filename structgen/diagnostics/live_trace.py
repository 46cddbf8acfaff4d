"""`LiveTrace`: serves the page of a trace on this machine while the answer is written.

A run hands over its steps, and each open page gets them as server-sent events:

    GET /          the page of a trace, without steps
    GET /events    event: step    data: [0, {"token_id": 90, …}]     one for each step, from the first one on
                   event: end     data: {"text": …, "error": "", …}  the rest of the trace

All events are kept, so a page that is opened late, or that connects again, gets the whole trace. Only this machine can
connect. Requests with the name of another host are refused: a page of the web whose name leads to this address could
read the prompt.
"""

from __future__ import annotations

import contextlib
import functools
import json
import threading
from collections.abc import Iterator
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from structgen.diagnostics.trace import Step, Trace, page_of

__all__ = ["LiveTrace"]

HOST = "127.0.0.1"
SECONDS_BETWEEN_SIGNS = 10.0  # of life, while there is no event: without them a closed page would not be noticed
SIGN_OF_LIFE = ": \n\n"  # a comment, which pages ignore


class LiveTrace:
    """A page that follows a run. As a context manager it serves until its end.

    Attributes:
        url: the address of the page.

    Args:
        prompt: the prompt as text.
        port: the port to listen at; 0 for a free one.

    Raises:
        OSError: the port is taken.

    Example:
        >>> with LiveTrace("Ann is 34.") as live:                                             # doctest: +SKIP
        ...     print(live.url)
        ...     live.end(structgen.trace(model, "Ann is 34.", Person, on_step=live.add))
        ...     input("Enter ends it.")
    """

    def __init__(self, prompt: str, port: int = 0) -> None:
        started: dict[str, Any] = {"prompt": prompt, "schema": "", "options": {}, "value": None, "error": ""}
        started |= {
            "steps": [],
            "summary": "the answer is being written",
            "model_calls": -1,
            "prompt_tokens": -1,
            "vocabulary_size": -1,
            "is_live": True,
        }
        self.page = page_of(json.dumps(started, ensure_ascii=False))
        self._events: list[str] = []
        self._has_ended = False
        self._changed = threading.Condition()
        self._server = ThreadingHTTPServer((HOST, port), functools.partial(_Handler, self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="structgen trace", daemon=True)
        self.url = f"http://{HOST}:{self._server.server_port}/"

    def __enter__(self) -> LiveTrace:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def hosts(self) -> tuple[str, str]:
        """The names of this server in requests."""
        port = self._server.server_port
        return f"{HOST}:{port}", f"localhost:{port}"

    def add(self, index: int, step: Step) -> None:
        """Show a step; see `on_step` of `structgen.trace`."""
        self._send("step", [index, asdict(step)])

    def end(self, trace: Trace) -> None:
        """Show the rest of a trace whose steps have been added."""
        data = json.loads(trace.to_json())
        del data["steps"]
        self._send("end", data, is_last=True)

    def wait(self) -> None:
        """Serve until the process is interrupted, by Ctrl-C."""
        with contextlib.suppress(KeyboardInterrupt):
            while self._thread.is_alive():
                self._thread.join(1.0)  # without a time, Windows would not interrupt it

    def events(self) -> Iterator[str]:
        """Generate the events from the first one to the end of the run, and signs of life while there is none."""
        sent = 0
        while True:
            with self._changed:
                if len(self._events) == sent and not self._has_ended:
                    self._changed.wait(SECONDS_BETWEEN_SIGNS)
                waiting, has_ended = self._events[sent:], self._has_ended
            yield "".join(waiting) or SIGN_OF_LIFE
            sent += len(waiting)
            if has_ended:
                return

    def _send(self, kind: str, data: Any, *, is_last: bool = False) -> None:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False)  # without line breaks, which would end an event
        with self._changed:
            self._events.append(f"event: {kind}\ndata: {text}\n\n")
            self._has_ended = is_last
            self._changed.notify_all()


class _Handler(BaseHTTPRequestHandler):
    """Answers one request, while it is made.

    Args:
        live: the trace to show.
        request: see `BaseHTTPRequestHandler`.
    """

    def __init__(self, live: LiveTrace, *request: Any) -> None:
        self._live = live
        super().__init__(*request)

    def do_GET(self) -> None:
        """Answer a request; `http.server` chose the method's name."""
        if self.headers.get("Host") not in self._live.hosts:
            self.send_error(403, "this server is for this machine only")
        elif self.path == "/":
            self._begin("text/html; charset=utf-8")
            self.wfile.write(self._live.page.encode(errors="replace"))
        elif self.path == "/events":
            self._begin("text/event-stream")
            with contextlib.suppress(ConnectionError):  # of a page that was closed
                for event in self._live.events():
                    self.wfile.write(event.encode(errors="replace"))
        else:
            self.send_error(404)

    def log_message(self, format: str, *values: object) -> None:
        """Write nothing: stderr is the command's."""

    def _begin(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
