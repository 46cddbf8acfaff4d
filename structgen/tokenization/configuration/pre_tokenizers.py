"""The splits of a pre-tokenizer, read out of its configuration: a pattern and a behaviour each."""

from __future__ import annotations

from typing import Any

from structgen.errors import VocabularyError
from structgen.tokenization.pre_tokens.character_classes import (
    NUMERIC,
    PUNCTUATION,
    SPACE_MARK,
    SYMBOL,
    WORD,
    script_pattern,
)
from structgen.tokenization.pre_tokens.split_patterns import Program, compile_pattern, literal_pattern

__all__ = ["read_splits"]

GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
BEHAVIORS = {
    "Isolated": "isolated",
    "MergedWithPrevious": "merged_with_previous",
    "MergedWithNext": "merged_with_next",
    "Contiguous": "contiguous",
    "Removed": "removed",
}
# With `invert`, the text between the matches takes the place of the matches.
INVERTED = {
    "merged_with_previous": "merged_with_next",
    "merged_with_next": "merged_with_previous",
    "removed": "gaps_removed",
}
# Pre-tokenizers that would change a text which one before them has changed already.
NOT_AFTER = {"ByteLevel": ("ByteLevel", "Metaspace"), "Metaspace": ("ByteLevel",)}


def read_splits(
    parts: list[dict[str, Any]], has_spaces: bool
) -> tuple[list[tuple[Program, str]], list[tuple[Program, str]]]:
    """Return the patterns and behaviours of all splits: of characters, and (after ByteLevel) of bytes.

    Args:
        parts: the pre-tokenizer, as the configuration has it.
        has_spaces: whether the normalizer leaves spaces as they are. If not, Gemma's split by spaces never cuts.

    Raises:
        VocabularyError: a part is not supported; named.
    """
    splits: list[tuple[Program, str]] = []
    of_bytes: list[tuple[Program, str]] = []
    seen: set[str] = set()
    for part in parts:
        if part["type"] == "Metaspace" and part.get("prepend_scheme", "always") == "always" and splits:
            raise VocabularyError("the tokenizer's 'Metaspace' puts a space before each piece: that is not supported")
        if part["type"] == "ByteLevel" and part["add_prefix_space"] and splits:
            raise VocabularyError("the tokenizer's 'ByteLevel' puts a space before each piece: that is not supported")
        if part["type"] == "UnicodeScripts" and splits and "ByteLevel" not in seen:
            raise VocabularyError(
                "the tokenizer's 'UnicodeScripts' removes spaces at the beginning of each piece of another split: that "
                "is not supported"
            )
        for other in seen.intersection(NOT_AFTER.get(part["type"], ())):
            raise VocabularyError(f"the tokenizer's {part['type']!r} after {other!r} is not supported")
        is_idle = part["type"] == "Split" and part["pattern"] == {"String": " "} and not part["invert"]
        row = of_bytes if "ByteLevel" in seen else splits
        row += [] if is_idle and not has_spaces else _splits(part)
        seen.add(part["type"])
    return splits, of_bytes


def _splits(part: dict[str, Any]) -> list[tuple[Program, str]]:
    """Return the splits of one part; none if it cuts nothing."""
    kind = part["type"]
    if kind == "ByteLevel":
        return [(compile_pattern(GPT2_PATTERN), "isolated")] if part.get("use_regex", True) else []
    if kind == "Digits":
        return [(compile_pattern(NUMERIC), "isolated" if part["individual_digits"] else "contiguous")]
    if kind == "Punctuation":
        return [(compile_pattern(PUNCTUATION), BEHAVIORS[part["behavior"]])]
    if kind == "Whitespace":
        return [(compile_pattern(f"{WORD}+|{SYMBOL}+"), "gaps_removed")]
    if kind == "WhitespaceSplit":
        return [(compile_pattern(r"\s"), "removed")]
    if kind == "BertPreTokenizer":
        return [(compile_pattern(r"\s"), "removed"), (compile_pattern(PUNCTUATION), "isolated")]
    if kind == "UnicodeScripts":  # the pieces are runs of one script; characters before the first run are lost
        return [(compile_pattern(script_pattern()), "gaps_removed")]
    if kind == "CharDelimiterSplit":
        return [(literal_pattern(part["delimiter"]), "removed")]
    if kind == "FixedLength":
        return [(compile_pattern(rf"[\s\S]{{1,{part['length']}}}"), "isolated")]
    if kind == "Metaspace":
        if part["replacement"] != SPACE_MARK:
            raise VocabularyError(f"the tokenizer's 'Metaspace' with {part['replacement']!r} is not supported")
        return [(literal_pattern(part["replacement"]), "merged_with_next")] if part.get("split", True) else []
    if kind == "Split":
        pattern, behavior = part["pattern"], BEHAVIORS[part["behavior"]]
        program = compile_pattern(pattern["Regex"]) if "Regex" in pattern else literal_pattern(pattern["String"])
        return [(program, INVERTED.get(behavior, behavior) if part["invert"] else behavior)]
    raise VocabularyError(f"the tokenizer's pre-tokenizer {kind!r} is not supported for proper tokenization")
