"""Symbols: the tokens that a text consists of before any merge.

For a byte-level encoding these are single bytes: `"né"` is `n`, `0xC3`, `0xA9`. With byte fallback they are characters,
and bytes for characters that are no tokens: `"n😀"` is `n`, `<0xF0>`, `<0x9F>`, `<0x98>`, `<0x80>`.
"""

from __future__ import annotations

from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import VocabularyError
from structgen.tokenization.configuration.tokenizer_parts import Parts
from structgen.tokenization.pre_tokens.character_classes import SPACE_MARK

__all__ = ["Symbols", "check_spellings"]


class Symbols:
    """The symbols of a tokenizer.

    Args:
        parts: the tokenizer.
        vocabulary: its tokens.

    Attributes:
        of_byte: the token of each byte, or character of one byte, that has one.
        of_character: the token of each longer character that has one; empty for a byte-level encoding.
    """

    def __init__(self, parts: Parts, vocabulary: Vocabulary) -> None:
        single: list[tuple[bytes, int]] = [
            (text, token)
            for token, text in enumerate(vocabulary.spellings[: parts.size])
            if text and parts.lengths[token] == 1 and token not in parts.added
        ]
        single.sort(key=lambda pair: pair[1] not in parts.fallback)  # a character before the byte of the same text
        self.of_byte = {text: token for text, token in single if len(text) == 1}
        self.of_character = {text: token for text, token in single if len(text) > 1}

    def of(self, text: bytes) -> list[int]:
        """Return the symbols of a text within a pre-token; none if a character of it cannot be spelled."""
        if text.isascii():
            return self._of_bytes(text)
        found = []
        for character in text.decode(errors="surrogateescape"):
            spelled = character.encode(errors="surrogateescape")
            symbol = self.of_character.get(spelled)
            more = [symbol] if symbol is not None else self._of_bytes(spelled)
            if not more:
                return []
            found += more
        return found

    def _of_bytes(self, text: bytes) -> list[int]:
        found = [self.of_byte.get(bytes([byte]), -1) for byte in text]
        return [] if -1 in found else found


def check_spellings(parts: Parts, vocabulary: Vocabulary) -> None:
    """Make sure that each token is decoded to the text that it is made from.

    Raises:
        VocabularyError: one is not: the tokenizer's decoder does not undo its normalizer.
    """
    for piece, token in parts.pieces.items():
        text = vocabulary.token_bytes(token)
        if text is None or token in parts.added:
            continue
        made_from = (piece.replace(SPACE_MARK, " ") if parts.marks_spaces else piece).encode(errors="surrogatepass")
        if token in parts.fallback:
            made_from = bytes([int(piece[3:5], 16)])
        if text != made_from:
            raise VocabularyError(
                f"the tokenizer makes the token {piece!r} from {made_from!r} and decodes it to {text!r}: that is not "
                "supported for proper tokenization"
            )
