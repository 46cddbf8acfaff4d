"""Other engines behind a process that is ended when it does not answer in time."""

from __future__ import annotations

import json
import os
import pathlib
import select
import subprocess
import sys
import time

SUPPORT = pathlib.Path(__file__).parent
START_SECONDS = 60.0  # for reading a vocabulary on a busy machine


class EngineProcess:
    """One worker for any number of grammars over one vocabulary, begun anew after a hang or a crash.

    Args:
        worker: its script and arguments: "kbnf_worker.py", or "engine_worker.py" and the engine's name.
        tokens: the bytes of each token id.
        seconds: how long one grammar with all its walks may take.
    """

    def __init__(self, worker: str, tokens: dict[int, bytes], seconds: float) -> None:
        script, *arguments = worker.split()
        self._command = [sys.executable, str(SUPPORT / script), *arguments]
        self._hello = json.dumps({"tokens": [[token, text.hex()] for token, text in tokens.items()]})
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""
        self._is_fresh = True

    def ask(self, grammar: str, walks: list[list[int]]) -> dict:
        """What the engine says to a grammar and walks over it: see the worker; or `{"error": "hang" | "crash"}`."""
        if self._process is None:
            self._start()
        self._send({"grammar": grammar, "walks": walks})
        line = self._line(self._seconds + (START_SECONDS if self._is_fresh else 0.0))
        self._is_fresh = False
        if line is None:
            error = "hang" if self._process.poll() is None else "crash"
            self.close()
            return {"error": error}
        return json.loads(line)

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _start(self) -> None:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._unread = b""
        self._is_fresh = True
        self._process.stdin.write(self._hello.encode() + b"\n")

    def _send(self, message: dict) -> None:
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it crashed: `_line` finds nothing to read

    def _line(self, seconds: float) -> bytes | None:
        """The next line of the worker's output; None when the time is over or the process is gone."""
        end = time.monotonic() + seconds
        descriptor = self._process.stdout.fileno()
        while b"\n" not in self._unread:
            left = end - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                return None
            data = os.read(descriptor, 1 << 20)
            if not data:
                self._process.wait()
                return None
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        return line
