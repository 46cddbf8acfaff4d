"""The tokenizer that a vocabulary was read from: found, and asked how it would write a text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import VocabularyError

__all__ = ["TokenizerCopy", "only_tokenizer"]


class TokenizerCopy:
    """A copy of a vocabulary's tokenizer, made when first asked: other threads may use the tokenizer itself.

    Args:
        vocabulary: the vocabulary.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._copy: Any = None

    def written(self, texts: Sequence[bytes]) -> tuple[bytes, ...]:
        """Return how the tokenizer splits a text, from the first token on that differs; for messages.

        Args:
            texts: the texts of some tokens, which may not be the tokenizer's.

        Returns:
            The texts of the tokenizer's tokens; empty if they are the same, or the tokenizer cannot be asked, or it
            changes the text.
        """
        try:
            text = b"".join(texts).decode()
        except UnicodeDecodeError:
            return ()
        if self._copy is None:
            original = only_tokenizer(self._vocabulary)
            self._copy = type(original).from_str(original.to_str()) if hasattr(original, "to_str") else None
        if self._copy is None:
            return ()
        tokens = self._copy.encode(text, add_special_tokens=False).ids
        spelled = [self._vocabulary.token_bytes(token) or b"" for token in tokens]
        same = 0
        while same < min(len(spelled), len(texts)) and spelled[same] == texts[same]:
            same += 1
        return tuple(spelled[same:]) if b"".join(spelled) == text.encode() else ()


def only_tokenizer(vocabulary: Vocabulary) -> Any:
    """Return the tokenizer that a vocabulary was read from.

    Raises:
        VocabularyError: it is not known, or there are several that split texts differently.
    """
    tokenizers = vocabulary.tokenizers
    if not tokenizers:
        raise VocabularyError(
            "proper tokenization needs the tokenizer, and the vocabulary does not know it",
            hint="make the vocabulary with Vocabulary.from_huggingface, and keep the tokenizer",
        )
    # Serializing tokenizers, to compare them, takes a tenth of a second each.
    if len(tokenizers) > 1 and len({_serialized(tokenizer) for tokenizer in tokenizers}) > 1:
        raise VocabularyError(
            "proper tokenization needs one tokenizer, and the vocabulary was read out of several that split texts "
            "differently"
        )
    return tokenizers[-1]


def _serialized(tokenizer: Any) -> Any:
    """Return what a tokenizer does to texts, without what it does to batches: calls change that."""
    if not hasattr(tokenizer, "to_str"):
        return id(tokenizer)
    config = json.loads(tokenizer.to_str())
    return json.dumps({key: part for key, part in config.items() if key not in ("padding", "truncation")})
