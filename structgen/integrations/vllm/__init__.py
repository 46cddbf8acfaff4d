"""vLLM: a backend of its structured outputs, and a logits processor.

    releases     the releases of vLLM that it supports
    plugin       makes the backend known to vLLM
    backend      vLLM's interface of backends
    beams        vLLM's beam search
    processors   vLLM's interfaces of logits processors
    arguments    what a request asks of the logits processor

vLLM is imported when one of them is used. See docs/vllm.md.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["GrammarLogitsProcessor", "GrammarLogitsProcessorV1", "read_request", "register"]

_HOMES = {
    "GrammarLogitsProcessor": "processors",
    "GrammarLogitsProcessorV1": "processors",
    "read_request": "arguments",
    "register": "plugin",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'structgen.integrations.vllm' has no attribute {name!r}")
    return getattr(importlib.import_module(f"structgen.integrations.vllm.{_HOMES[name]}"), name)
