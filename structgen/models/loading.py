"""`load`: a model by its name; and the default model, for functions and commands that name none."""

from __future__ import annotations

import threading

from structgen.models.base import Model

__all__ = ["default_model", "load", "set_default_model"]

_lock = threading.Lock()
_loaded: dict[str, Model] = {}
_default: Model | None = None


def load(name: str) -> Model:
    """A model by its name, loaded once a process: asking again gives the same object.

    Args:
        name: `"smollm2"`, the embedded SmolLM2-135M-Instruct (its packages: README.md; nothing else to download), or
            what transformers' `from_pretrained` takes: a folder or a Hub name
            (`pip install 'structgen[transformers]'`).

    Raises:
        ModelError: a package is missing, or there is no such model.

    Example:
        >>> model = structgen.load("smollm2")                                                 # doctest: +SKIP
    """
    with _lock:
        if name not in _loaded:
            _loaded[name] = _load(name)
        return _loaded[name]


def default_model() -> Model:
    """The model of `set_default_model`; without one, `load("smollm2")`."""
    return _default if _default is not None else load("smollm2")


def set_default_model(model: Model | None) -> None:
    """Names the model for typed functions that name none; None goes back to SmolLM2."""
    global _default
    _default = model


def _load(name: str) -> Model:
    if name.lower() == "smollm2":
        from structgen.models.smollm2 import load_smollm2

        return load_smollm2()
    from structgen.models.pretrained import load_pretrained

    return load_pretrained(name)
