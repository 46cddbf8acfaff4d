"""Starts `vllm serve`, and stops it."""

from __future__ import annotations

import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from types import TracebackType

START_SECONDS = 300
STOP_SECONDS = 60
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "OMP_NUM_THREADS": "1",
}


class Server:
    """A server of one model, for the time of a `with`.

    Args:
        model: the folder of the model.
        log: the file for what the server prints.
        backend: the backend of structured outputs.
        arguments: more arguments of `vllm serve`.
        environment: more environment variables.
    """

    def __init__(
        self,
        model: str,
        log: pathlib.Path,
        *,
        backend: str = "structgen",
        arguments: tuple[str, ...] = (),
        environment: dict[str, str] | None = None,
    ) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = log
        self._command = [
            str(pathlib.Path(sys.executable).with_name("vllm")),
            *("serve", model, "--served-model-name", "model", "--host", "127.0.0.1", "--port", str(self.port)),
            *("--dtype", "bfloat16", "--enforce-eager", "--max-model-len", "1024", "--max-num-seqs", "32"),
            *("--structured-outputs-config", json.dumps({"backend": backend})),
            *arguments,
        ]
        self._environment = {**os.environ, **ENVIRONMENT, **(environment or {})}

    def __enter__(self) -> Server:
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                self._command, env=self._environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        end = time.monotonic() + START_SECONDS
        while not self.is_healthy():
            if self._process.poll() is not None or time.monotonic() > end:
                self._stop()
                raise RuntimeError(f"the server did not start:\n{self._log.read_text()[-3000:]}")
            time.sleep(0.5)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop()

    def is_healthy(self) -> bool:
        """Return whether the server and its engine answer."""
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def _stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
