"""The byte-pair encoding of a tokenizer, read out of the `model` part of its configuration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structgen.engine.vocabulary.token_bytes import BYTE_ALPHABET
from structgen.errors import VocabularyError
from structgen.tokenization.merges.merge_table import ids_of_merges

__all__ = ["Model", "byte_piece", "check_model", "read_model"]

_LETTERS = frozenset(BYTE_ALPHABET)
REFUSED_OPTIONS = ("continuing_subword_prefix", "end_of_word_suffix", "dropout")


@dataclass(frozen=True, slots=True)
class Model:
    """A byte-pair encoding.

    Attributes:
        vocabulary: the id of each piece: a token as the configuration writes it, with `▁` or `Ġ` for a space.
        size: the number of ids: one more than the greatest.
        merges: int32[merges, 3]: left part, right part, product.
        lengths: int32[size]: the number of symbols that a token is merged from; 0 for ids that are no tokens.
        ignore_merges: whether a pre-token that is a token as a whole becomes this token, whatever the merges say.
        fallback: the byte tokens, which spell the characters that are no tokens (byte fallback: `<0x41>`).
    """

    vocabulary: dict[str, int] = field(repr=False)
    size: int
    merges: NDArray[np.intc]
    lengths: NDArray[np.intc]
    ignore_merges: bool
    fallback: frozenset[int]


def check_model(model: dict[str, Any]) -> None:
    """Make sure that a model is a byte-pair encoding without options that are not supported.

    Raises:
        VocabularyError: it is not; named.
    """
    kind = model.get("type") or ("BPE" if "merges" in model else "another kind of model")
    if kind != "BPE":
        raise VocabularyError(f"proper tokenization is for byte-pair encodings, and this tokenizer is a {kind}")
    for name in REFUSED_OPTIONS:
        if model.get(name):
            raise VocabularyError(f"the tokenizer has {name}={model[name]!r}: that is not supported")


def read_model(model: dict[str, Any], marks_spaces: bool, is_byte_level: bool = False) -> Model:
    """Read a byte-pair encoding.

    Args:
        model: the configuration, checked before.
        marks_spaces: whether spaces become `▁` before the encoding sees a text.
        is_byte_level: whether it sees the characters of the byte alphabet only.
    """
    vocabulary: dict[str, int] = model["vocab"]
    size = max(vocabulary.values(), default=-1) + 1
    lengths = np.zeros(size, dtype=np.intc)
    ids = np.fromiter(vocabulary.values(), dtype=np.intc, count=len(vocabulary))
    lengths[ids] = np.fromiter(map(len, vocabulary), dtype=np.intc, count=len(vocabulary))
    has_fallback = model.get("byte_fallback")
    pieces = [piece for byte in range(256) if has_fallback and (piece := byte_piece(byte)) in vocabulary]
    fallback = frozenset(vocabulary[piece] for piece in pieces)
    lengths[list(fallback)] = 1
    if marks_spaces:
        lengths[[token for piece, token in vocabulary.items() if " " in piece]] = 0  # the encoding never sees a space
    if is_byte_level:
        lengths[[token for piece, token in vocabulary.items() if not _LETTERS.issuperset(piece)]] = 0
    merges = model["merges"]
    if merges and isinstance(merges[0], str):
        merges = [merge.split(" ") for merge in merges]
    return Model(
        vocabulary=vocabulary,
        size=size,
        merges=ids_of_merges(merges, vocabulary),
        lengths=lengths,
        ignore_merges=bool(model.get("ignore_merges")),
        fallback=fallback,
    )


def byte_piece(byte: int) -> str:
    """Return the piece of a byte token: `<0x41>` for 65."""
    return f"<0x{byte:02X}>"
