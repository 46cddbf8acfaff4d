"""SynCode in a process of its own, with the interpreter that has it. Run by `_syncode`.

    PYTHON benchmarks/_syncode_worker.py TOKENIZER_FOLDER SECONDS

The environment's SYNCODE_CACHE is the folder of parsers and mask stores. Speaks JSON, one message a line. First it says
`{"version": …, "settings": …, "seconds": …}`, the last for its table of the tokenizer's bytes. Then it answers

- `{"language": …}`, which it loads from the folder or builds in at most SECONDS:
  `{"built": …, "seconds": …, "cpu_seconds": …, "bytes": …, "error": …}`;
- `{"ids": […]}`, the tokens of a text: `{"masks_us": […], "forbidden": …, "error": …}`, the masks' times up to where
  its parser fails, and the number of the first token that a mask forbids.

What is timed is what its logits processor does for a mask (`GrammarConstrainer.mask_scores`), but for writing it into
the logits. It keeps the states of the parser, and reads the text so far anew for each mask.
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

MODE = "grammar_mask"  # the default of SyncodeLogitsProcessor; in "grammar_strict" it forbids tokens that are right


class LateError(BaseException):
    """The time for a mask store is over. (No `except Exception` may catch it.)"""


def raise_late(*_: Any) -> None:
    raise LateError


class Worker:
    """Answers questions."""

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
        """For each token whether it is allowed, and how long that mask took."""
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
    # The package writes to stdout, which is for answers only.
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
