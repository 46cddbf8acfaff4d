"""A worker process of one engine, which is killed and started again if it does not answer in time."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

__all__ = ["EngineProcess"]

WORKER = Path(__file__).with_name("_schema_worker.py")
START_SECONDS = 300.0  # enough to load a tokenizer on a busy machine


class EngineProcess:
    """The process of one engine, for any number of schemas.

    Args:
        name: the name of the engine.
        tokenizer: the folder of a tokenizer.
        remotes: the third argument of the worker: the folder of schemas that references may lead to, or ""; for other
            workers, their options.
        seconds: the time limit for one schema with all its instances.
        worker: the program that answers.

    Attributes:
        about: the first message of the worker: its version and settings.
    """

    def __init__(self, name: str, tokenizer: str, remotes: str, seconds: float, worker: Path = WORKER) -> None:
        self._command = [sys.executable, str(worker), name, tokenizer, remotes]
        self._seconds = seconds
        self._start()

    def ask(self, schema: Any, texts: list[str], options: dict[str, Any]) -> dict[str, Any]:
        """Return the worker's answer, or `{"outcome": "failed", "error": …}` if it took too long or died."""
        question = json.dumps({"schema": schema, "texts": texts, "options": options})
        begin = time.monotonic()
        try:
            self._stdin.write(question.encode() + b"\n")
            self._stdin.flush()
        except BrokenPipeError:
            pass  # the process died: there is nothing to read
        line = self._line(self._seconds)
        if line is not None:
            return dict(json.loads(line)) | {"seconds": time.monotonic() - begin}
        took_long = self._process.poll() is None
        self.close()
        self._start()
        error = f"no answer in {self._seconds:g} seconds" if took_long else "the process died"
        return {"outcome": "failed", "error": error}

    def close(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.communicate()

    def _start(self) -> None:
        said = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said)
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("pipes were asked for")
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._unread = b""
        line = self._line(START_SECONDS)
        if line is None:
            self.close()
            said.seek(0)
            raise RuntimeError(f"{self._command[2]} does not start: {said.read().decode(errors='replace')[-2000:]}")
        self.about: dict[str, Any] = json.loads(line)

    def _line(self, seconds: float) -> bytes | None:
        """Return the next line of the worker; None if the time is over or the process has ended."""
        end = time.monotonic() + seconds
        while b"\n" not in self._unread:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self._stdout], [], [], left)[0]:
                return None
            data = os.read(self._stdout.fileno(), 1 << 20)
            if not data:
                self._process.wait()
                return None
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        return line
