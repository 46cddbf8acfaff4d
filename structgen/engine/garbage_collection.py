"""Keeps Python's garbage collector out of the way: paused while many objects are made, and run before masks begin."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collect_early", "without_collector"]


@contextmanager
def without_collector() -> Iterator[None]:
    """Pause Python's garbage collector.

    While millions of objects are made, the collector goes through all objects of the process again and again, which
    takes longer than making them; and none of them are in a reference cycle.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def collect_early() -> None:
    """Run a full collection now, unless the program has turned the collector off.

    A full collection goes through all objects of the process. With transformers loaded that takes about 0.1 s, and it
    is due when a quarter more objects have become old since the last one. The objects of imports and of a loaded
    tokenizer count. So without this one, one of the first masks would most likely be interrupted by it. structgen makes
    few objects that count: after this call, a thousand schemas with their masks cause no other full collection.
    """
    if gc.isenabled():
        gc.collect()
