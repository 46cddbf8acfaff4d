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
            llama-cpp-python reads; `"openai:NAME"` for a model behind a server, with `OPENAI_BASE_URL` and
            `OPENAI_API_KEY` set. `pip install 'structgen-llm[transformers]'`, `'structgen-llm[llama-cpp]'` and
            `'structgen-llm[openai]'` install the packages needed.

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
    if name.startswith("openai:"):
        return _load_openai(name.removeprefix("openai:"))
    if name.lower().endswith(".gguf"):
        from structgen.models.gguf import load_gguf

        return load_gguf(name)

    return load_pretrained(name)


def _load_openai(name: str) -> AnyModel:
    try:
        import openai
    except ImportError as error:
        raise ModelError(
            f"openai:{name} needs the package openai, which is not installed",
            hint="pip install 'structgen-llm[openai]'",
        ) from error
    from structgen.models.openai import from_openai

    try:
        return from_openai(openai.OpenAI(), name)
    except openai.OpenAIError as error:
        raise ModelError(f"cannot create the openai client: {error}") from error


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
