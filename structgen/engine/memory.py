"""Calls to the system: the resident memory of this process, returning free memory, and letting other threads run."""

from __future__ import annotations

import ctypes
import os
import select
import sys
import time
from contextlib import suppress

__all__ = ["pause", "release_free_memory", "resident_bytes"]

_STATM = "/proc/self/statm"  # sizes in pages: virtual, resident, …
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def pause() -> None:
    """Let other threads run, and handle signals such as Ctrl-C.

    Python handles signals where a function that is not compiled begins. So this module is never compiled.
    """
    if sys.platform == "win32":
        time.sleep(0)
    else:
        select.select((), (), (), 0)  # releases the interpreter lock, as `sleep` does, in 1 µs instead of 55


def resident_bytes(default: int) -> int:
    """Return the resident memory of this process.

    Args:
        default: returned where the system does not tell it: on systems without `/proc`.
    """
    try:
        with open(_STATM, "rb", buffering=0) as file:
            return int(file.read().split()[1]) * _PAGE_BYTES
    except OSError:
        return default


def release_free_memory() -> None:
    """Return memory that is free to the system where the C library keeps it (glibc). Takes milliseconds."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
