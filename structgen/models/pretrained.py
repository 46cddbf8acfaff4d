"""Models by folder or Hub name, through transformers' `from_pretrained`."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from structgen.errors import ModelError

if TYPE_CHECKING:
    from structgen.models.transformers import TransformersModel

__all__ = ["load_pretrained"]


def load_pretrained(name: str) -> TransformersModel:
    """Loads a causal language model and its tokenizer; transformers' own settings (`HF_HUB_OFFLINE` …) apply.

    Raises:
        ModelError: transformers or torch is not installed, or there is no such model.
    """
    missing = [package for package in ("torch", "transformers") if importlib.util.find_spec(package) is None]
    if missing:
        raise ModelError(
            f"loading {name!r} needs packages that are not installed: {', '.join(missing)}",
            hint="pip install 'structgen[transformers]'",
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
