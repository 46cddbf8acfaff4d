"""Files of prompts, answered row by row: `map_file` and its manifest.

The names below are imported when they are first used, so that importing the package stays light.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "map_file": "files",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
