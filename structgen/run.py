"""The documented path of `Run` and `Result`; the code is in `structgen.generation.runs`."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from structgen.generation import runs

    return getattr(runs, name)
