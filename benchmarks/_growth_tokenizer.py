"""The first tokens of a tokenizer as a tokenizer of its own: vocabularies that differ in nothing but their size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["cut"]


def cut(folder: Path, size: int, into: Path) -> None:
    """Writes a BPE tokenizer of `size` tokens: the `size - 1` of the lowest ids, and the end token.

    Args:
        folder: of a tokenizer whose `tokenizer.json` has a vocabulary with merges, the earlier merges with lower ids.
        size: how many tokens.
        into: the folder to write, which is there.
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
    """Whether a vocabulary has both texts of a merge and what they make; older files write it with a blank between."""
    left, right = merge.split(" ") if isinstance(merge, str) else merge
    return left in vocabulary and right in vocabulary and left + right in vocabulary
