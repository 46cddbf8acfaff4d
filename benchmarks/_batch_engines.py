"""Adapters of engines that fill the masks of many rows in one call, and apply them to logits."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from _peers import make_engine

__all__ = ["Apply", "BatchEngine", "batch_engines"]

PROCESSORS = os.cpu_count() or 1
Apply = Callable[[int], None]
"""Applies the masks of the first N rows to the logits that it holds; called with N."""


class BatchEngine(Protocol):
    """An engine for batches.

    Attributes:
        name: the name of the engine, and the way in which it is called.
        engine: the adapter for one row, from `_peers`. It compiles; after `reset`, its `matcher` is that of a row.
        threads: the number of threads that it uses.
        width: the number of logits of a row.
    """

    name: str
    engine: Any
    threads: int
    width: int

    def forget(self) -> None:
        """Drop all schemas, and all tables that were computed for them."""

    def fill(self, matchers: Sequence[Any]) -> None:
        """Write the masks of all rows."""

    def accept(self, matchers: Sequence[Any], tokens: Sequence[int]) -> None:
        """Accept one token for each row; raise any error if one is not allowed."""

    def fill_and_apply(self, matchers: Sequence[Any], logits: Any) -> None:
        """Write the masks of as many rows as there are, and apply them to logits of torch on the CPU."""

    def applies(self, dtype: str) -> dict[str, Apply]:
        """Return functions that apply the masks, by the place of the logits: "numpy", "torch", or "cuda" for a GPU."""


class Structgen:
    """structgen: one call; masks are applied by one thread or several."""

    def __init__(self, engine: Any, rows: int, threads: int = 1) -> None:
        import structgen

        self.name = "structgen" if threads == 1 else f"structgen, {threads} threads"
        self.threads = threads
        self.engine = engine
        self._structgen = structgen
        self.width = engine.vocabulary.size
        self.mask = structgen.allocate_token_bitmask(rows, engine.vocabulary.size)

    def forget(self) -> None:
        self.engine.forget()
        self.engine.vocabulary.shared = None  # the tables that all schemas of a vocabulary share

    def fill(self, matchers: Sequence[Any]) -> None:
        self._structgen.fill_next_token_bitmask(matchers, self.mask[: len(matchers)])

    def accept(self, matchers: Sequence[Any], tokens: Sequence[int]) -> None:
        for matcher, token in zip(matchers, tokens, strict=True):
            matcher.accept_token(token)

    def fill_and_apply(self, matchers: Sequence[Any], logits: Any) -> None:
        self._structgen.fill_next_token_bitmask(matchers, self.mask, logits=logits, threads=self.threads)

    def applies(self, dtype: str) -> dict[str, Apply]:
        import numpy as np

        rows, width = len(self.mask), self.width
        apply = functools.partial(self._structgen.apply_token_bitmask, threads=self.threads)
        made: dict[str, Apply] = {}
        if hasattr(np, dtype):
            array = np.zeros((rows, width), dtype)
            made["numpy"] = lambda count: apply(array[:count], self.mask[:count])
        return made | applies_of(apply, self.mask, width, dtype)


class Llguidance:
    """llguidance: row by row, or with its executor, which has one thread per processor."""

    def __init__(self, engine: Any, rows: int, *, parallel: bool) -> None:
        import llguidance
        import llguidance.torch

        self.name = "llguidance, executor" if parallel else "llguidance"
        self.engine = engine
        self.threads = PROCESSORS if parallel else 1
        self._torch = llguidance.torch
        self._executor = llguidance.LLExecutor() if parallel else None
        self.width = engine.tokenizer.vocab_size
        self.mask = llguidance.torch.allocate_token_bitmask(rows, self.width)

    def forget(self) -> None:
        self.engine.forget()

    def fill(self, matchers: Sequence[Any]) -> None:
        if self._executor is None:
            for row, matcher in enumerate(matchers):
                self._torch.fill_next_token_bitmask(matcher, self.mask, row)
        else:
            rows = [(matcher, row) for row, matcher in enumerate(matchers)]
            self._torch.fill_next_token_bitmask_par(self._executor, rows, self.mask)

    def accept(self, matchers: Sequence[Any], tokens: Sequence[int]) -> None:
        if self._executor is None:
            done = [matcher.consume_token(token) for matcher, token in zip(matchers, tokens, strict=True)]
        else:
            done = self._torch.consume_token_par(self._executor, list(zip(matchers, tokens, strict=True)))
        if not all(done):
            raise ValueError("llguidance refuses a token")

    def fill_and_apply(self, matchers: Sequence[Any], logits: Any) -> None:
        self.fill(matchers)
        self._torch.apply_token_bitmask_inplace(logits, self.mask)

    def applies(self, dtype: str) -> dict[str, Apply]:
        return applies_of(self._torch.apply_token_bitmask_inplace, self.mask, self.width, dtype)


class Xgrammar:
    """xgrammar: row by row, or with its matcher for batches, which has one thread per processor."""

    def __init__(self, engine: Any, rows: int, *, parallel: bool) -> None:
        import xgrammar

        self.name = "xgrammar, batch" if parallel else "xgrammar"
        self.engine = engine
        self.threads = PROCESSORS if parallel else 1
        self._xgrammar = xgrammar
        self._batch = xgrammar.BatchGrammarMatcher(max_threads=PROCESSORS) if parallel else None
        self.width = engine.mask.shape[1] * 32
        self.mask = xgrammar.allocate_token_bitmask(rows, self.width)

    def forget(self) -> None:
        self.engine.forget()

    def fill(self, matchers: Sequence[Any]) -> None:
        if self._batch is None:
            for row, matcher in enumerate(matchers):
                matcher.fill_next_token_bitmask(self.mask, row)
        else:
            self._batch.batch_fill_next_token_bitmask(list(matchers), self.mask)

    def accept(self, matchers: Sequence[Any], tokens: Sequence[int]) -> None:
        if self._batch is None:
            done = [matcher.accept_token(token) for matcher, token in zip(matchers, tokens, strict=True)]
        else:
            done = self._batch.batch_accept_token(list(matchers), list(tokens))
        if not all(done):
            raise ValueError("xgrammar refuses a token")

    def fill_and_apply(self, matchers: Sequence[Any], logits: Any) -> None:
        self.fill(matchers)
        self._xgrammar.apply_token_bitmask_inplace(logits, self.mask)

    def applies(self, dtype: str) -> dict[str, Apply]:
        return applies_of(self._xgrammar.apply_token_bitmask_inplace, self.mask, self.width, dtype)


def torch_logits(rows: int, width: int, dtype: str) -> dict[str, Any]:
    """Return logits of zeros, by device; nothing if torch is not installed."""
    try:
        import torch
    except ImportError:
        return {}
    devices = {"torch": "cpu"} | ({"cuda": "cuda"} if torch.cuda.is_available() else {})
    return {name: torch.zeros(rows, width, dtype=getattr(torch, dtype), device=d) for name, d in devices.items()}


def applies_of(apply: Callable[[Any, Any], None], mask: Any, width: int, dtype: str) -> dict[str, Apply]:
    """Return a function that applies masks, for each device."""
    return {name: applied(apply, mask, logits) for name, logits in torch_logits(len(mask), width, dtype).items()}


def applied(apply: Callable[[Any, Any], None], mask: Any, logits: Any) -> Apply:
    """Bind `apply` to these logits; the result also copies the mask to their device and waits until that is done."""
    import torch

    on_gpu = logits.is_cuda
    copies = isinstance(mask, torch.Tensor)  # structgen's masks are numpy arrays, and it copies them itself

    def run(count: int) -> None:
        whole = count == len(mask)  # slicing costs as much as a row, so it is avoided
        rows = mask if whole else mask[:count]
        rows = rows.to(logits.device, non_blocking=True) if copies and on_gpu else rows
        apply(logits if whole else logits[:count], rows)
        if on_gpu:
            torch.cuda.synchronize()

    return run


def batch_engines(names: Sequence[str], tokenizer: Any, rows: int, threads: int = 1) -> list[BatchEngine]:
    """Return the engines of these names, each in every way that it can be called; structgen with that many threads."""
    made: list[BatchEngine] = []
    for name in names:
        engine = make_engine(name, tokenizer)
        if name == "structgen":
            made += [Structgen(engine, rows, number) for number in dict.fromkeys([1, threads])]
        elif name == "llguidance":
            made += [Llguidance(engine, rows, parallel=parallel) for parallel in (False, True)]
        else:
            made += [Xgrammar(engine, rows, parallel=parallel) for parallel in (False, True)]
    return made
