"""Runs of a model under a constraint: generate, stream, batch, typed functions, tool calls.

The names below are imported when they are first used, so that importing the package stays light.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "BATCH_SIZE": "settings",
    "Generator": "generator",
    "agenerate": "api",
    "generate": "api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
