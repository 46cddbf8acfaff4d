"""The documented path of the option types; the code is in `structgen.generation.settings`."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from structgen.generation import settings

    return getattr(settings, name)
