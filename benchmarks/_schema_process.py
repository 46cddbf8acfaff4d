"""An engine behind a process that is ended, and begun anew, when it does not answer in time."""

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
START_SECONDS = 300.0  # for reading a tokenizer on a busy machine


class EngineProcess:
    """One engine for any number of schemas.

    Args:
        name: of the engine.
        tokenizer: the folder of a tokenizer.
        remotes: the folder of schemas that references may lead to, or ""; what else another worker expects there.
        seconds: how long one schema with all its instances may take.
        worker: the program that answers.

    Attributes:
        about: what the worker says of itself: version and settings.
    """

    def __init__(self, name: str, tokenizer: str, remotes: str, seconds: float, worker: Path = WORKER) -> None:
        self._command = [sys.executable, str(worker), name, tokenizer, remotes]
        self._seconds = seconds
        self._start()

    def ask(self, schema: Any, texts: list[str], options: dict[str, Any]) -> dict[str, Any]:
        """The worker's answer; `{"outcome": "failed", "error": …}` where it took too long or died."""
        question = json.dumps({"schema": schema, "texts": texts, "options": options})
        begin = time.monotonic()
        try:
            self._stdin.write(question.encode() + b"\n")
            self._stdin.flush()
        except BrokenPipeError:
            pass  # it died: there is nothing to read
        line = self._line(self._seconds)
        if line is not None:
            return dict(json.loads(line)) | {"seconds": time.monotonic() - begin}
        took_long = self._process.poll() is None
        self.close()
        self._start()
        error = f"no answer in {self._seconds:g} seconds" if took_long else "the process died"
        return {"outcome": "failed", "error": error}

    def close(self) -> None:
        """Ends the process."""
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
        """The next line of the worker; None when the time is over or the process is gone."""
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
