"""Adapter of SynCode. It runs in a process with its own interpreter, because it needs another version of transformers.

The docstring of `languages.py` says how to install it.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

__all__ = ["LANGUAGES", "Syncode"]

# Not C and SQL: its C grammar does "not cover most C syntax", and its SQL grammar has only queries.
LANGUAGES = ("go", "java", "json", "python")
WORKER = Path(__file__).with_name("_syncode_worker.py")


class Syncode:
    """SynCode's grammar engine, in the mode of its logits processor, `grammar_mask`.

    Args:
        python: the interpreter that has the package.
        tokenizer: the folder of the tokenizer.
        cache: a folder for parsers and mask stores. A missing one is built.
        seconds: the time limit for building one.
        tokens: the maximum number of tokens of a text that are followed.
    """

    name = "syncode"

    def __init__(self, python: str, tokenizer: str, cache: str, *, seconds: int, tokens: int) -> None:
        environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        environment |= {"SYNCODE_CACHE": f"{cache}/", "TQDM_DISABLE": "1"}
        self._process = subprocess.Popen(
            [python, str(WORKER), tokenizer, str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self._tokens = tokens
        self._failed: dict[str, str] = {}
        self._loaded = ""
        self._load_ms = 0.0
        told = self._read()
        self.settings = told["settings"]
        self.notes = [f"syncode {told['version']}, {self.settings}: tokenizer's bytes in {told['seconds']:.0f} s"]

    def compile(self, grammar: str) -> float:
        """Load a language's parser and mask store, and build them first if they are missing. The last ones are kept.

        Returns:
            The milliseconds that loading took.

        Raises:
            RuntimeError: loading or building fails now, or failed before.
        """
        if grammar in self._failed:
            raise RuntimeError(self._failed[grammar])
        if grammar == self._loaded:
            return self._load_ms
        told = self._ask(language=grammar)
        if told["built"]:
            took = f"{told['seconds']:.0f} s, {told['cpu_seconds']:.0f} s of them at work"
            self.notes.append(f"syncode, {grammar}: built in {took}; {told['bytes'] / 1e9:.2f} GB on disk")
            told = self._ask(language=grammar)
        if told["error"]:
            self._failed[grammar] = told["error"]
            raise RuntimeError(told["error"])
        self._loaded = grammar
        self._load_ms = 1000.0 * told["seconds"]
        return self._load_ms

    def follow(self, ids: list[int]) -> tuple[list[float], str]:
        """Return the microseconds for the mask before each token, and why a token is refused, or ""."""
        told = self._ask(ids=ids[: self._tokens])
        reasons = [f"token {told['forbidden']} is not allowed"] if told["forbidden"] is not None else []
        return told["masks_us"], ", ".join(reasons + [told["error"]] * bool(told["error"]))

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _ask(self, **question: Any) -> dict[str, Any]:
        if self._process.stdin is None:
            raise RuntimeError("there is no pipe")
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise RuntimeError(f"the process of syncode ended: {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer
