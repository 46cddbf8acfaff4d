"""Tokenizers made of the first tokens of another one, so that vocabularies differ only in their size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["cut"]


def cut(folder: Path, size: int, into: Path) -> None:
    """Write a BPE tokenizer of `size` tokens: the `size - 1` tokens of the lowest ids, and the end token.

    Args:
        folder: the folder of a tokenizer. Its `tokenizer.json` must have merges, earlier merges with lower ids.
        size: the number of tokens.
        into: an existing folder, to which the tokenizer is written.
    """
    config = json.loads((folder / "tokenizer_config.json").read_text())
    end = config["eos_token"] if isinstance(config["eos_token"], str) else config["eos_token"]["content"]
    content = json.loads((folder / "tokenizer.json").read_text())
    model = content["model"]
    model["vocab"] = {text: number for text, number in model["vocab"].items() if number < size - 1}
    model["merges"] = [merge for merge in model["merges"] if is_within(merge, model["vocab"])]
    content["added_tokens"] = [token | {"id": size - 1} for token in content["added_tokens"] if token["content"] == end]
    content["post_processor"] = None
    (into / "tokenizer.json").write_text(json.dumps(content))
    config.pop("added_tokens_decoder", None)
    kept = {"eos_token": end, "tokenizer_class": config["tokenizer_class"]}
    (into / "tokenizer_config.json").write_text(json.dumps(kept))


def is_within(merge: Any, vocabulary: dict[str, int]) -> bool:
    """Return whether a vocabulary has both parts of a merge and their product. Older files join them with a space."""
    left, right = merge.split(" ") if isinstance(merge, str) else merge
    return left in vocabulary and right in vocabulary and left + right in vocabulary
