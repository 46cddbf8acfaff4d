"""Calls to the system: the resident memory of this process, and returning free memory."""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress

__all__ = ["release_free_memory", "release_if_due", "release_later", "resident_bytes"]

_STATM = "/proc/self/statm"  # sizes in pages: virtual, resident, …
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_is_due = False  # a limit was passed: what its work has made is freed soon


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


def release_later() -> None:
    """Make the next `release_if_due` return free memory. Called where a limit is passed; its work still has memory."""
    global _is_due
    _is_due = True


def release_if_due() -> None:
    """Return free memory to the system if a limit was passed since the last call."""
    global _is_due
    if _is_due:
        _is_due = False
        release_free_memory()
