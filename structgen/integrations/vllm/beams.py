"""Beam search of vLLM under a constraint. It happens outside of the engine, which is asked for one token of each beam.

    LLM.beam_search(…)         makes a backend by its name, and asks it what each beam may write: it is told our name
    "use_beam_search" (HTTP)   drops the constraint, whatever the backend is: with ours, such a request is refused

One method is wrapped for the first, three for the second. A release may have them elsewhere. Then `LLM.beam_search`
refuses the backend by its name. A server would answer without a mask: it refuses the backend when it starts.
"""

from __future__ import annotations

import functools
import importlib
import sys
from types import SimpleNamespace
from typing import Any

from structgen.integrations.vllm.releases import BACKEND

__all__ = ["wrap_beams"]

_OFFLINE = ("vllm.entrypoints.generate.beam_search.offline", "BeamSearchOfflineMixin")
_ONLINE = ("vllm.entrypoints.generate.beam_search.online", "BeamSearchOnlineMixin")
_REQUESTS = (
    ("vllm.entrypoints.openai.chat_completion.protocol", "ChatCompletionRequest"),
    ("vllm.entrypoints.openai.completion.protocol", "CompletionRequest"),
)
# Modules that only programs with `LLM`, and only servers, have loaded. Others need no beams.
_PROGRAM = "vllm.entrypoints.llm"
_SERVER = "vllm.entrypoints.launchers.api_server.entry"


def wrap_beams() -> bool:
    """Wrap the beam search of this process, if it has one. A second call does nothing.

    Returns:
        False where a server would answer without a mask: its beam search is not where it should be.
    """
    if _PROGRAM in sys.modules:
        _wrap(*_OFFLINE, "_init_beam_search_structured_output", _backend_for_beams)
    if _SERVER not in sys.modules:
        return True
    found = [_wrap(module, name, "to_beam_search_params", _params_with_constraint) for module, name in _REQUESTS]
    return all(found) and _wrap(*_ONLINE, "beam_search", _refuse_constraint)


def _wrap(module: str, name: str, method: str, made: Any) -> bool:
    """Wrap a method of a class, unless it is wrapped. Returns whether this release has it."""
    try:
        owner = getattr(importlib.import_module(module), name)
        original = getattr(owner, method)
    except (ImportError, AttributeError):
        return False
    if not hasattr(original, "structgen_wraps"):
        wrapped: Any = functools.wraps(original)(made(original))
        wrapped.structgen_wraps = original
        setattr(owner, method, wrapped)
    return True


def _backend_for_beams(original: Any) -> Any:
    def make(self: Any, structured_outputs: Any, tokenizer: Any) -> Any:
        config = self.llm_engine.vllm_config
        if (structured_outputs._backend or config.structured_outputs_config.backend) != BACKEND:
            return original(self, structured_outputs, tokenizer)
        from vllm.v1.structured_output.request import get_structured_output_key

        from structgen.integrations.vllm.backend import StructgenBackend, check_request

        params = SimpleNamespace(structured_outputs=structured_outputs, max_tokens=None)  # a beam is cut off
        check_request(params, config.model_config, tokenizer)
        backend = StructgenBackend(config, tokenizer, self.model_config.get_vocab_size())
        return backend, get_structured_output_key(structured_outputs), backend.allocate_token_bitmask(1)

    return make


def _params_with_constraint(original: Any) -> Any:
    def convert(self: Any, *arguments: Any, **more: Any) -> Any:
        params = original(self, *arguments, **more)
        params.structured_outputs = self.extract_structured_outputs()
        return params

    return convert


def _refuse_constraint(original: Any) -> Any:
    def search(self: Any, *arguments: Any, **more: Any) -> Any:
        params = more.get("params", arguments[2] if len(arguments) > 2 else None)
        config = self.engine_client.vllm_config.structured_outputs_config
        if getattr(params, "structured_outputs", None) is not None and config.backend == BACKEND:
            from vllm.exceptions import VLLMValidationError

            raise VLLMValidationError(
                "vLLM's server drops structured outputs in beam search: leave out use_beam_search, or use "
                "LLM.beam_search in a program"
            )
        return original(self, *arguments, **more)

    return search
