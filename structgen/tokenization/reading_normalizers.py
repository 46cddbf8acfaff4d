"""What a tokenizer's normalizer makes of a text, read out of its configuration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from structgen.errors import VocabularyError
from structgen.tokenization.memberships import SPACE_MARK

__all__ = ["MARKING", "Marking", "read_normalizers"]

# Normalizers that map each character by itself; "NFC" and its like look at neighbours too.
CHARACTERWISE = ("Lowercase", "StripAccents", "Nmt")
COMPOSING = ("NFC", "NFD", "NFKC", "NFKD")
MARKING = {"type": "Replace", "pattern": {"String": " "}, "content": SPACE_MARK}


class Marking:
    """Spaces become `▁`."""

    def __call__(self, text: str) -> str:
        """A text with them."""
        return text.replace(" ", SPACE_MARK)


def read_normalizers(parts: list[dict[str, Any]]) -> tuple[list[Callable[[str], str]], Callable[[str], bool] | None]:
    """What the normalizers make of a character, one after another; and whether they leave a text as it is.

    Args:
        parts: the normalizers.

    Returns:
        The latter is None where they look at single characters only.

    Raises:
        VocabularyError: one of them is not supported; named.
    """
    from tokenizers import normalizers

    rewrites: list[Callable[[str], str]] = []
    known: list[Any] = []
    for part in parts:
        if part == MARKING:
            rewrites.append(Marking())
        elif part["type"] != "Prepend":  # at the beginning of a text, before which a prompt stands
            normalizer = _made(part)
            rewrites.append(normalizer.normalize_str)
            known.append(normalizer)
    return rewrites, _Normal(normalizers.Sequence(known)) if any(map(_composes, parts)) else None


def _made(part: dict[str, Any]) -> Any:
    """A normalizer by itself."""
    from tokenizers import normalizers

    kind = part["type"]
    if kind in COMPOSING or kind in CHARACTERWISE:
        return getattr(normalizers, kind)()
    if kind == "BertNormalizer":
        return normalizers.BertNormalizer(**{name: option for name, option in part.items() if name != "type"})
    if kind == "Replace" and len(part["pattern"].get("String", "")) == 1 == len(part["content"]):
        return normalizers.Replace(part["pattern"]["String"], part["content"])
    raise VocabularyError(f"the tokenizer's normalizer {kind!r} is not supported for proper tokenization")


def _composes(part: dict[str, Any]) -> bool:
    """Whether a normalizer changes characters together with their neighbours."""
    if part["type"] == "BertNormalizer":  # it takes accents away by NFD, which puts others in order
        strips = part["strip_accents"]
        return bool(part["lowercase"] if strips is None else strips)
    return part["type"] in COMPOSING


class _Normal:
    """Whether a normalizer leaves a text as it is."""

    def __init__(self, normalizer: Any) -> None:
        self._normalizer = normalizer

    def __call__(self, text: str) -> bool:
        return bool(self._normalizer.normalize_str(text) == text)
