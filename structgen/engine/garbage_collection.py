"""Rest for Python's garbage collector while many objects are made at once."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["without_collector"]


@contextmanager
def without_collector() -> Iterator[None]:
    """Python's garbage collector rests: of millions of objects, none of them in a circle, it would go through all that
    the process holds again and again, for longer than they take to make.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
