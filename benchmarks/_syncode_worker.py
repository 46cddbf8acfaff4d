"""The worker process of SynCode, run by `_syncode` with the interpreter that has the package.

    PYTHON benchmarks/_syncode_worker.py TOKENIZER_FOLDER SECONDS

The environment variable SYNCODE_CACHE names the folder of parsers and mask stores. The worker reads and writes JSON,
one message per line. First it writes `{"version": …, "settings": …, "seconds": …}`, with the seconds for its table of
the tokenizer's bytes. Then it answers two kinds of questions:

- `{"language": …}`: loads the language from the folder, or builds it within SECONDS. The answer is
  `{"built": …, "seconds": …, "cpu_seconds": …, "bytes": …, "error": …}`.
- `{"ids": […]}`, the tokens of a text. The answer is `{"masks_us": […], "forbidden": …, "error": …}`: the times of the
  masks up to the position where its parser fails, and the number of the first token that a mask refuses.

The time is that of SynCode's logits processor for a mask (`GrammarConstrainer.mask_scores`), without writing into the
logits. SynCode keeps the states of its parser, and reads the text so far again for each mask.
"""

from __future__ import annotations

import gc
import importlib.metadata
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from syncode.grammar_mask.grammar_constrainer import GrammarConstrainer
from syncode.mask_store.byte_tokenizer import ByteTokenizer
from syncode.parsers.grammars import Grammar
from transformers import AutoTokenizer

MODE = "grammar_mask"  # the default of SyncodeLogitsProcessor; "grammar_strict" refuses tokens that are right


class LateError(BaseException):
    """The time limit for a mask store has passed. It is a `BaseException`, so that SynCode does not catch it."""


def raise_late(*_: Any) -> None:
    raise LateError


class Worker:
    """The state of the worker: the tokenizer and the loaded language."""

    def __init__(self, folder: str, seconds: int) -> None:
        self.seconds = seconds
        self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self.tokenizer_bytes = ByteTokenizer(self.tokenizer)
        self.constrainer: GrammarConstrainer | None = None

    def set_up(self, language: str) -> dict[str, Any]:
        self.constrainer = None
        gc.collect()
        stores = Path(os.environ["SYNCODE_CACHE"])
        before = set(stores.rglob("*.pkl"))
        error = ""
        signal.alarm(self.seconds)
        began, began_cpu = time.perf_counter(), time.process_time()
        try:
            self.constrainer = GrammarConstrainer(
                Grammar(language), self.tokenizer, self.tokenizer_bytes, parse_output_only=True, mode=MODE
            )
        except LateError:
            error = f"no mask store after {self.seconds} s"
        except Exception as failure:
            error = f"{type(failure).__name__}: {failure}"[:300]
        finally:
            signal.alarm(0)
        took, took_cpu = time.perf_counter() - began, time.process_time() - began_cpu
        new = set(stores.rglob("*.pkl")) - before
        return {
            "built": any("mask_stores" in file.parts for file in new),
            "seconds": took,
            "cpu_seconds": took_cpu,
            "bytes": sum(file.stat().st_size for file in new),
            "error": error,
        }

    def follow(self, ids: list[int]) -> dict[str, Any]:
        masks_us: list[float] = []
        forbidden = None
        error = ""
        gc.collect()
        gc.disable()
        try:
            for is_allowed, took_us in self.masks(ids):
                if not is_allowed and forbidden is None:
                    forbidden = len(masks_us)
                masks_us.append(took_us)
        except Exception as failure:
            error = f"{type(failure).__name__} before token {len(masks_us)}: {failure}"[:300]
        finally:
            gc.enable()
        return {"masks_us": masks_us, "forbidden": forbidden, "error": error}

    def masks(self, ids: list[int]) -> Iterator[tuple[bool, float]]:
        """Yield, for each token, whether it is allowed and the time of its mask."""
        constrainer = self.constrainer
        if constrainer is None:
            raise RuntimeError("no language is set up")
        constrainer.reset()
        constrainer.start_from = 0
        tokens = torch.tensor([ids])
        for at, token in enumerate(ids):
            began = time.perf_counter()
            text, rest = constrainer._get_partial_outputs(tokens[:, :at])[0]
            parsed, is_lost = constrainer._parse_partial_output(0, text, rest)
            if is_lost:
                raise RuntimeError("its parser fails")
            mask = constrainer.dfa_mask_store.get_accept_mask(parsed)
            yield bool(mask[token]), 1e6 * (time.perf_counter() - began)


def main() -> None:
    # SynCode writes to stdout, which is reserved for answers: send its output to stderr.
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    logging.disable(logging.INFO)
    signal.signal(signal.SIGALRM, raise_late)
    torch.set_num_threads(1)

    def say(message: dict[str, Any]) -> None:
        channel.write(json.dumps(message) + "\n")
        channel.flush()

    began = time.perf_counter()
    worker = Worker(sys.argv[1], int(sys.argv[2]))
    took = time.perf_counter() - began
    say({"version": importlib.metadata.version("syncode"), "settings": MODE, "seconds": took})
    for line in sys.stdin:
        question = json.loads(line)
        if "language" in question:
            say(worker.set_up(question["language"]))
        else:
            say(worker.follow(question["ids"]))


if __name__ == "__main__":
    main()
