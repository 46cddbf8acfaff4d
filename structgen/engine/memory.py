"""Calls to the system: the resident memory of this process, and returning free memory."""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress

__all__ = ["release_free_memory", "resident_bytes"]

_STATM = "/proc/self/statm"  # sizes in pages: virtual, resident, …
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


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
