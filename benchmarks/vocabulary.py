"""How long does it take to read a vocabulary out of a tokenizer and to build its trie?

    python benchmarks/vocabulary.py [TOKENIZER_FOLDER ...]

Without folders: those below STRUCTGEN_TOKENIZERS that hold a tokenizer.json, and SmolLM2's where it is installed. The
best of five, each from nothing; loading the tokenizer itself is not counted.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from pathlib import Path
from typing import Any

from _report import heading

from structgen.engine import vocabulary as module
from structgen.engine.vocabulary import Vocabulary

RUNS = 5


def tokenizers(folders: list[str]) -> dict[str, Any]:
    """The tokenizers by name."""
    from transformers import AutoTokenizer

    files = Path(os.environ.get("STRUCTGEN_TOKENIZERS") or "/nonexistent").glob("*/tokenizer.json")
    found = [Path(folder) for folder in folders] or sorted(file.parent for file in files)
    loaded = {folder.name: AutoTokenizer.from_pretrained(folder) for folder in found}
    if not folders:
        from structgen import ModelError
        from structgen.models.smollm2 import FILE_NAME, smollm2_folder

        try:
            loaded["smollm2"] = AutoTokenizer.from_pretrained(smollm2_folder(), gguf_file=FILE_NAME)
        except ModelError as error:
            print(error, file=sys.stderr)
    return loaded


def build_seconds(tokenizer: Any) -> float:
    """Best time of a build from nothing."""
    times = []
    for _ in range(RUNS):
        module._CACHE = module._Cache()
        gc.collect()
        begin = time.perf_counter()
        Vocabulary.from_huggingface(tokenizer)
        times.append(time.perf_counter() - begin)
    return min(times)


def main(folders: list[str]) -> None:
    print(heading(), end="\n\n")
    print("| tokenizer | tokens | trie nodes | longest token, bytes | seconds |")
    print("|---|---:|---:|---:|---:|")
    for name, tokenizer in tokenizers(folders).items():
        seconds = build_seconds(tokenizer)
        vocabulary = Vocabulary.from_huggingface(tokenizer)
        counts = f"{vocabulary.size:,} | {vocabulary.trie.node_count:,} | {vocabulary.max_token_bytes}"
        print(f"| {name} | {counts} | {seconds:.2f} |")


if __name__ == "__main__":
    main(sys.argv[1:])
