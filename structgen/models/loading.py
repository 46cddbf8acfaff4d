"""`load`: a model by its name; and the default model, for functions and commands that name none."""

from __future__ import annotations

import os
import threading

from structgen.errors import ModelError
from structgen.models.base import AnyModel, check_model

__all__ = ["default_model", "load", "set_default_model"]

_lock = threading.Lock()
_loaded: dict[str, AnyModel] = {}
_default: AnyModel | None = None


def load(name: str | os.PathLike[str]) -> AnyModel:
    """A model by its name, loaded once a process: asking again gives the same object.

    Args:
        name: `"smollm2"`, the embedded SmolLM2-135M-Instruct (its packages: README.md; nothing else to download);
            what transformers' `from_pretrained` takes, a folder or a Hub name; the path of a `.gguf` file, which
            llama-cpp-python reads; or `"openai:NAME"` for a model behind a server, which `OPENAI_BASE_URL` and
            `OPENAI_API_KEY` say. `pip install 'structgen[transformers]'`, `'structgen[llama-cpp]'` and
            `'structgen[openai]'` bring what they need.

    Raises:
        ModelError: a package is missing, or there is no such model.
        TypeError: neither a name nor a path.

    Example:
        >>> model = structgen.load("smollm2")                                                 # doctest: +SKIP
    """
    if not isinstance(name, (str, os.PathLike)):
        raise TypeError(f"load takes the name or the path of a model, not {type(name).__name__}")
    name = os.fspath(name)
    with _lock:
        if name not in _loaded:
            _loaded[name] = _load(name)
        return _loaded[name]


def default_model() -> AnyModel:
    """The model of `set_default_model`; without one, `load("smollm2")`."""
    return _default if _default is not None else load("smollm2")


def set_default_model(model: AnyModel | None) -> None:
    """Names the model for typed functions that name none; None goes back to SmolLM2."""
    global _default
    if model is not None:
        check_model(model)
    _default = model


def _load(name: str) -> AnyModel:
    if name.lower() == "smollm2":
        from structgen.models.smollm2 import load_smollm2

        return load_smollm2()
    if name.startswith("openai:"):
        return _load_openai(name.removeprefix("openai:"))
    if name.lower().endswith(".gguf"):
        from structgen.models.gguf import load_gguf

        return load_gguf(name)
    from structgen.models.pretrained import load_pretrained

    return load_pretrained(name)


def _load_openai(name: str) -> AnyModel:
    try:
        import openai
    except ImportError as error:
        raise ModelError(
            f"openai:{name} needs the package openai, which is not installed", hint="pip install 'structgen[openai]'"
        ) from error
    from structgen.models.openai import from_openai

    try:
        return from_openai(openai.OpenAI(), name)
    except openai.OpenAIError as error:
        raise ModelError(f"the client of openai cannot be made: {error}") from error
