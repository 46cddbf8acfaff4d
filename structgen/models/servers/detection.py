"""Which server it is: by its address, or by the owner that its list of models names.

vLLM, SGLang, llama.cpp and structgen write their own name into `owned_by` of `/v1/models`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from structgen.models.servers.forms import ServerKind

__all__ = ["kind_by_address", "kind_by_models"]

_OWNERS: dict[str, ServerKind] = {
    "vllm": "vllm",
    "sglang": "sglang",
    "llamacpp": "llama.cpp",
    "structgen": "structgen",
}
_HOSTS = ("openai.com", "openai.azure.com")


def kind_by_address(base_url: str) -> ServerKind | None:
    """Return OpenAI's kind for its own hosts; None for all others, which have to be asked.

    Args:
        base_url: the address of the server.

    Example:
        >>> kind_by_address("https://api.openai.com/v1/")
        'openai'
    """
    host = urlsplit(base_url).hostname or ""
    return "openai" if any(host == one or host.endswith(f".{one}") for one in _HOSTS) else None


def kind_by_models(models: Iterable[Any], name: str) -> ServerKind:
    """Return the kind of server that a list of models names.

    Args:
        models: the models of `/v1/models`, with `id` and `owned_by`.
        name: the model that is asked. If it is not listed, all models count.
    """
    listed = list(models)
    own = [model for model in listed if getattr(model, "id", None) == name] or listed
    kinds = {_OWNERS.get(str(getattr(model, "owned_by", "")).lower(), "unknown") for model in own}
    return kinds.pop() if len(kinds) == 1 else "unknown"
