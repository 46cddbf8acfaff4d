"""The texts that a charsmap of SentencePiece replaces.

It is a trie of texts (Darts-clone's double array: Yata, 2011) and what becomes of each. `tokenizers` looks up graphemes
of fewer than six bytes, by what they begin with, and then single characters.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["replaced_together"]

_SIZE = 4  # bytes of a number
_LABEL = 1 << 31 | 0xFF
_HAS_LEAF = 1 << 8
_IS_FAR = 1 << 9
_MOST = 6  # bytes of a grapheme that is not looked up any more


def replaced_together(charsmap: bytes) -> set[str]:
    """The texts of several characters that are replaced, though none of these is by itself.

    Raises:
        ValueError: it is none.
    """
    size = int.from_bytes(charsmap[:_SIZE], "little")
    if len(charsmap) < _SIZE + size or size % _SIZE or not size:
        raise ValueError("a charsmap begins with the size of its trie")
    units = np.frombuffer(charsmap, "<u4", size // _SIZE, _SIZE).astype(np.int64)
    single = _texts(units, lambda text: False)
    longer = _texts(units, lambda text: text[-1] not in single)
    return {text for text in longer - single if len(text.encode()) < _MOST}


def _texts(units: np.ndarray, goes_on: Callable[[str], bool]) -> set[str]:
    """The texts of a trie; whole characters on the way to them are followed where `goes_on` says so."""
    found: set[str] = set()
    places, texts = np.zeros(1, dtype=np.int64), [b""]
    while texts:  # all nodes of one depth
        first = places ^ (units[places] >> 10) << ((units[places] & _IS_FAR) >> 6)
        below = first[:, None] ^ np.arange(1, 256)
        is_there = below < len(units)
        labels = np.where(is_there, units[np.where(is_there, below, 0)] & _LABEL, 0)
        nodes, bytes_of = np.nonzero(labels == np.arange(1, 256))
        places = below[nodes, bytes_of]
        has_leaf = (units[places] & _HAS_LEAF != 0).tolist()
        kept, longer = [], []
        for at, (node, byte) in enumerate(zip(nodes.tolist(), bytes_of.tolist(), strict=True)):
            data = texts[node] + bytes([byte + 1])
            text = data.decode(errors="ignore")
            is_whole = len(text.encode()) == len(data)
            if is_whole and has_leaf[at] and (len(text) == 1 or goes_on(text)):
                found.add(text)
            if not is_whole or goes_on(text):
                kept.append(at)
                longer.append(data)
        places, texts = places[kept], longer
    return found
