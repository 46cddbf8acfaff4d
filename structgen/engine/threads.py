"""Which thread runs."""

from __future__ import annotations

import threading

__all__ = ["this_thread"]

IS_COMPILED = not __file__.endswith(".py")


def this_thread() -> int:
    """Return the number of the thread that calls, which is not 0. Compiled, it costs no call of Python."""
    if IS_COMPILED:
        return PyThread_get_thread_ident()  # type: ignore[name-defined, no-any-return]  # noqa: F821  (of Python's C interface)
    return threading.get_ident()
