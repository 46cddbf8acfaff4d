"""Pauses Python's garbage collector while many objects are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["without_collector"]


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
