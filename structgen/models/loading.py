"""`load`, which finds a model by its name, and the default model of typed functions and commands."""

from __future__ import annotations

import importlib.util
import os
from typing import TYPE_CHECKING, Any, Literal, overload

from structgen.engine.fork_safety import forkable_rlock
from structgen.errors import ModelError
from structgen.models.base import AnyModel, check_model
from structgen.models.names import remember_name
from structgen.reporting.telemetry import Span, logger

if TYPE_CHECKING:
    from structgen.models.transformers import TransformersModel

__all__ = ["default_model", "load", "load_pretrained", "set_default_model"]

# Servers on this machine with OpenAI's interface, at the ports that they choose themselves.
_ADDRESSES = {
    "vllm": "http://localhost:8000/v1",
    "sglang": "http://localhost:30000/v1",
    "llama.cpp": "http://localhost:8080/v1",
    "ollama": "http://localhost:11434/v1",
    "structgen": "http://localhost:8000/v1",
}

_lock = forkable_rlock()
_loaded: dict[str, AnyModel] = {}
_default: AnyModel | None = None


@overload
def load(name: Literal["smollm2"]) -> TransformersModel: ...
@overload
def load(name: str | os.PathLike[str]) -> AnyModel: ...
def load(name: str | os.PathLike[str]) -> AnyModel:
    """Load a model by its name, once a process: another call returns the same object.

    Args:
        name: one of: `"smollm2"`, the embedded SmolLM2-135M-Instruct (README.md names its packages; nothing else is
            downloaded); a folder or Hub name for transformers' `from_pretrained`; the path of a `.gguf` file, which
            llama-cpp-python reads; `"SERVER:NAME"` for a model behind a server. `"openai:"` reads `OPENAI_BASE_URL` and
            `OPENAI_API_KEY`, and finds out which server it is; `"anthropic:"` reads `ANTHROPIC_API_KEY`; `"vllm:"`,
            `"sglang:"`, `"llama.cpp:"`, `"ollama:"` and `"structgen:"` are at the server's own port of this machine,
            unless `OPENAI_BASE_URL` says where. `pip install 'structgen-llm[transformers]'`, `[llama-cpp]`, `[openai]`
            and `[anthropic]` install the packages needed.

    Raises:
        ModelError: a package is missing, or there is no such model.
        TypeError: the argument is neither a name nor a path.

    Example:
        >>> model = structgen.load("smollm2")                                                 # doctest: +SKIP
    """
    if not isinstance(name, (str, os.PathLike)):
        raise TypeError(f"load takes the name or the path of a model, not {type(name).__name__}")
    name = os.fspath(name)
    with _lock:
        if name not in _loaded:
            span = Span("structgen.load")
            _loaded[name] = _load(name)
            logger.info("loaded %s in %.1f s", name, span.seconds)
            span.end({"gen_ai.request.model": name})
            remember_name(_loaded[name], load, name)
        return _loaded[name]


def default_model() -> AnyModel:
    """Return the model of `set_default_model`, or `load("smollm2")` where none was set."""
    return _default if _default is not None else load("smollm2")


def set_default_model(model: AnyModel | None) -> None:
    """Set the model of typed functions and commands that name none.

    Args:
        model: the model; None means SmolLM2 again.

    Raises:
        TypeError: the object is not a model.
    """
    global _default
    if model is not None:
        check_model(model)
    _default = model


def _load(name: str) -> AnyModel:
    if name.lower() == "smollm2":
        from structgen.models.smollm2 import load_smollm2

        return load_smollm2()
    server, _, model = name.partition(":")
    if server == "anthropic":
        return _load_anthropic(model)
    if server == "openai" or server in _ADDRESSES:
        return _load_openai(server, model)
    if model and server.isalpha() and len(server) > 1 and not os.path.exists(name):
        known = ", ".join(f"{one}:" for one in ("openai", "anthropic", *_ADDRESSES))
        raise ModelError(f"there is no server called {server!r}", hint=f"models behind servers begin with {known}")
    if name.lower().endswith(".gguf"):
        from structgen.models.gguf import load_gguf

        return load_gguf(name)

    return load_pretrained(name)


def _load_openai(server: str, name: str) -> AnyModel:
    """Return a model behind a server with OpenAI's interface."""
    try:
        import openai
    except ImportError as error:
        raise _missing(f"{server}:{name}", "openai") from error
    from structgen.models.openai import from_openai

    kind: Any = "auto" if server in ("openai", "ollama") else server
    try:
        if server not in _ADDRESSES:
            return from_openai(openai.OpenAI(), name)
        address = os.environ.get("OPENAI_BASE_URL") or _ADDRESSES[server]
        client = openai.OpenAI(base_url=address, api_key=os.environ.get("OPENAI_API_KEY") or "-")
        return from_openai(client, name, server=kind)
    except openai.OpenAIError as error:
        raise ModelError(f"cannot create the openai client: {error}") from error


def _load_anthropic(name: str) -> AnyModel:
    try:
        import anthropic
    except ImportError as error:
        raise _missing(f"anthropic:{name}", "anthropic") from error
    from structgen.models.anthropic import from_anthropic

    try:
        return from_anthropic(anthropic.Anthropic(), name)
    except anthropic.AnthropicError as error:
        raise ModelError(f"cannot create the anthropic client: {error}") from error


def _missing(name: str, package: str) -> ModelError:
    return ModelError(
        f"{name} needs the package {package}, which is not installed", hint=f"pip install 'structgen-llm[{package}]'"
    )


def load_pretrained(name: str) -> TransformersModel:
    """Load a causal language model and its tokenizer; transformers' own settings (`HF_HUB_OFFLINE` …) apply.

    Args:
        name: a folder or a Hub name.

    Raises:
        ModelError: transformers or torch is not installed, or there is no such model.
    """
    missing = [package for package in ("torch", "transformers") if importlib.util.find_spec(package) is None]
    if missing:
        raise ModelError(
            f"loading {name!r} needs packages that are not installed: {', '.join(missing)}",
            hint="pip install 'structgen-llm[transformers]'",
        )
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from structgen.models.transformers import from_transformers

    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
        hf_model: Any = AutoModelForCausalLM.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise ModelError(
            f"transformers cannot load {name!r}: {error}", hint='the embedded model is called "smollm2"'
        ) from error
    return from_transformers(hf_model.eval(), tokenizer)
