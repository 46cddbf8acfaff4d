"""The documented path of the vLLM adapter; the code is in `structgen.integrations.vllm`."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from structgen.integrations import vllm

    return getattr(vllm, name)
