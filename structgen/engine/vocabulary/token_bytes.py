"""The bytes that each token of a tokenizer adds to a text, read out of the tokenizer's pieces and its decoder.

One rule serves every kind of tokenizer: a token's bytes are what its decoder appends for it in the *middle* of a text.
The joined bytes of a text's tokens are then the text, except for what some decoders do at its very start:

- byte-level BPE (GPT-2, Llama-3, Qwen, SmolLM2, DeepSeek): the characters of a piece stand for bytes, exactly.
- SentencePiece (Gemma, Llama-2, T5): `▁` is a space, `<0x0A>` the byte 0x0A. Some decoders strip the space that the
  tokenizer put before the text's first word. They do so only at the start of a text, so the space is part of the token.
- WordPiece (BERT): `##ing` is `ing`; any other piece has a space before it, as in the decoded text. That is so for
  `{`, too: such a vocabulary cannot spell `{"a"` without spaces, and a grammar has to allow them. With the decoder's
  `cleanup` a full stop is `.` and not ` .`.
- No decoder: the pieces are words, and each has a space before it.

Added tokens stand for their `content`, unless the model knows the piece itself (Gemma's runs of `▁`). Special
tokens stand for no text at all, whatever they look like.

`clean_up_tokenization_spaces` of transformers rewrites the decoded text as a whole; it is ignored here.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from structgen.errors import VocabularyError

__all__ = ["BYTE_ALPHABET", "special_tokens", "spell_tokens", "tokenizer_state"]

SPACE_MARK = "▁"
BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")

Piece = str | bytes  # bytes once no later part of a decoder may rewrite it as text
Step = Callable[[list[Piece]], list[Piece]]


def spell_tokens(tokenizer: Any) -> tuple[dict[int, bytes], set[int]]:
    """Read the bytes of each token out of a tokenizer.

    Args:
        tokenizer: a tokenizer of transformers (fast, Python, SentencePiece or mistral-common backend), of `tokenizers`,
            or of mistral-common.

    Returns:
        The bytes of each token that stands for text (they may be empty), and the ids of the special tokens.

    Raises:
        VocabularyError: this kind of tokenizer, or its decoder, is not supported.
    """
    special = set(getattr(tokenizer, "all_special_ids", ()))
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if hasattr(backend, "get_added_tokens_decoder") and hasattr(backend, "decoder"):
        return _spell_fast(backend, special)
    for inner in _nested(tokenizer):
        if hasattr(inner, "id_to_byte_piece"):  # mistral-common, tekken
            special |= set(inner.special_ids)
            return {i: inner.id_to_byte_piece(i) for i in range(inner.n_words) if i not in special}, special
        if hasattr(inner, "id_to_piece") and hasattr(inner, "special_ids"):  # mistral-common, SentencePiece
            special |= {*inner.special_ids, inner.unk_id}
            pieces = {i: inner.id_to_piece(i) for i in range(inner.n_words) if i not in special}
            return _spell(pieces, _SENTENCEPIECE), special
    if hasattr(tokenizer, "sp_model"):
        return _spell_python(tokenizer, special, _SENTENCEPIECE)
    if hasattr(tokenizer, "byte_decoder"):
        return _spell_python(tokenizer, special, [_byte_level])
    name = type(tokenizer).__name__
    hint = "use the tokenizer's fast version, or give the bytes to Vocabulary.from_bytes"
    if isinstance(tokenizer, str):
        hint = f"pass the tokenizer itself: transformers.AutoTokenizer.from_pretrained({tokenizer!r})"
    elif name == "Vocabulary":
        hint = "pass the tokenizer itself: a vocabulary cannot tokenize a prompt"
    raise VocabularyError(f"the bytes of the tokens of a {name} are not known", hint=hint)


def special_tokens(tokenizer: Any) -> dict[str, int]:
    """Return the ids of a tokenizer's special and added tokens by name; those whose names it tells.

    Args:
        tokenizer: as `spell_tokens` takes it.
    """
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if hasattr(backend, "get_added_tokens_decoder"):
        added = backend.get_added_tokens_decoder()
        return {token.content: token_id for token_id, token in sorted(added.items())}
    for inner in _nested(tokenizer):
        if hasattr(inner, "special_ids") and hasattr(inner, "id_to_piece"):  # mistral-common
            return {inner.id_to_piece(token_id): token_id for token_id in sorted(inner.special_ids)}
    added = getattr(tokenizer, "added_tokens_decoder", {})
    return {token.content: token_id for token_id, token in sorted(added.items())}


def tokenizer_state(tokenizer: Any) -> tuple[Hashable, ...]:
    """Return the parts of a tokenizer that change its tokens' bytes: its size, its special tokens, its decoder.

    Two states of one tokenizer that are equal mean that it was not changed in between.
    """
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    special = tuple(getattr(tokenizer, "all_special_ids", ()))
    if not hasattr(backend, "get_vocab_size"):
        return len(tokenizer) if hasattr(tokenizer, "__len__") else None, special
    return backend.get_vocab_size(), special, backend.decoder and backend.decoder.__getstate__()


def _nested(tokenizer: Any) -> Iterable[Any]:
    """Yield the tokenizer, then the tokenizers that mistral-common and its wrapper in transformers hold inside."""
    yield tokenizer
    for name in ("tokenizer", "instruct_tokenizer", "tokenizer"):
        tokenizer = getattr(tokenizer, name, tokenizer)
        yield tokenizer


def _spell_fast(backend: Any, special: set[int]) -> tuple[dict[int, bytes], set[int]]:
    added = backend.get_added_tokens_decoder()
    special |= {token_id for token_id, token in added.items() if token.special}
    as_they_are = {
        token_id: token.content
        for token_id, token in added.items()
        if token_id not in special and backend.model.token_to_id(token.content) != token_id
    }
    pieces = _pieces(backend)
    for token_id in [*special, *as_they_are]:
        pieces.pop(token_id, None)
    config = json.loads(backend.decoder.__getstate__()) if backend.decoder is not None else None
    spelled = _spell(pieces, _steps(config))
    spelled.update((token_id, content.encode()) for token_id, content in as_they_are.items())
    return spelled, special


def _pieces(backend: Any) -> dict[int, str]:
    """Return all pieces by id.

    To ask for one after the other is twice as fast as `get_vocab`, but works only for ids without gaps.
    """
    count = backend.get_vocab_size(with_added_tokens=True)
    pieces = {token_id: backend.id_to_token(token_id) for token_id in range(count)}
    if None in pieces.values():
        pieces = {token_id: piece for piece, token_id in backend.get_vocab(with_added_tokens=True).items()}
    return pieces


def _spell_python(tokenizer: Any, special: set[int], steps: list[Step]) -> tuple[dict[int, bytes], set[int]]:
    added = tokenizer.added_tokens_decoder
    special |= {token_id for token_id, token in added.items() if token.special}
    pieces = {token_id: piece for piece, token_id in tokenizer.get_vocab().items() if token_id not in special}
    as_they_are = {token_id: pieces.pop(token_id).encode() for token_id in added if token_id in pieces}
    return _spell(pieces, steps) | as_they_are, special


def _spell(pieces: dict[int, str], steps: list[Step]) -> dict[int, bytes]:
    rewritten: list[Piece] = list(pieces.values())
    for step in steps:
        rewritten = step(rewritten)
    return {
        token_id: piece if isinstance(piece, bytes) else piece.encode("utf-8", "surrogatepass")
        for token_id, piece in zip(pieces, rewritten, strict=True)
    }


# -- decoders (https://huggingface.co/docs/tokenizers/api/decoders) -----------------------------------------------


def _steps(config: dict[str, Any] | None) -> list[Step]:
    """Return the parts of a decoder, each as a function over all pieces.

    Args:
        config: the decoder's settings as `tokenizers` serializes them; None for no decoder.

    Raises:
        VocabularyError: a part is of an unknown kind, or its effect depends on the tokens around it.
    """
    if config is None:
        return [lambda pieces: [" " + piece if isinstance(piece, str) else piece for piece in pieces]]
    steps: list[Step] = []
    rest = [config]
    fused = False
    while rest:
        part = rest.pop()
        kind = part["type"]
        if kind == "Sequence":
            rest.extend(reversed(part["decoders"]))
        elif kind == "Fuse":
            fused = True
        elif kind == "Strip" and fused:
            continue  # the ends of the whole text, not of a token
        elif kind in _DECODERS:
            steps.append(_DECODERS[kind](part))
        else:
            raise VocabularyError(
                f"the tokenizer's decoder {kind!r} is not supported",
                hint=f"supported are {', '.join(sorted(_DECODERS))}; or give the bytes to Vocabulary.from_bytes",
            )
    return steps


def _each(rewrite: Callable[[str], Piece]) -> Step:
    return lambda pieces: [rewrite(piece) if isinstance(piece, str) else piece for piece in pieces]


def _byte_alphabet() -> str:
    """Return the characters that stand for the bytes 0 to 255 (GPT-2's `bytes_to_unicode`)."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = (byte for byte in range(256) if byte not in printable)
    moved = {byte: 256 + index for index, byte in enumerate(others)}
    return "".join(chr(moved.get(byte, byte)) for byte in range(256))


BYTE_ALPHABET = _byte_alphabet()
_BYTE_OF_CHARACTER = codecs.charmap_build(BYTE_ALPHABET)


def _byte_level_piece(piece: str) -> Piece:
    try:
        return codecs.charmap_encode(piece, "strict", _BYTE_OF_CHARACTER)[0]
    except UnicodeEncodeError:
        return piece  # the decoder leaves a piece with any other character as it is


_byte_level = _each(_byte_level_piece)


def _byte_fallback_piece(piece: str) -> Piece:
    match = BYTE_PIECE.fullmatch(piece) if piece.startswith("<0x") else None
    return bytes([int(match[1], 16)]) if match else piece


_byte_fallback = _each(_byte_fallback_piece)


def _replace(part: dict[str, Any]) -> Step:
    pattern, content = part["pattern"], part["content"]
    if "String" in pattern:
        return _each(lambda piece: piece.replace(pattern["String"], content))
    try:
        regex = re.compile(pattern["Regex"])
    except re.error as error:
        raise VocabularyError(f"the tokenizer's decoder replaces {pattern['Regex']!r}: {error}") from error
    return _each(lambda piece: regex.sub(lambda _: content, piece))


def _metaspace(part: dict[str, Any]) -> Step:
    return _each(lambda piece: piece.replace(part["replacement"], " "))


def _strip(part: dict[str, Any]) -> Step:
    character, start, stop = part["content"], part["start"], part["stop"]

    def strip(piece: str) -> str:
        left = min(start, len(piece) - len(piece.lstrip(character)))
        piece = piece[left:]
        right = min(stop, len(piece) - len(piece.rstrip(character)))
        return piece[: len(piece) - right]

    return _each(strip)


# Replacements in a piece by tokenizers' WordPiece and CTC decoders when `cleanup` is on, in this order.
_CLEANUPS = [
    *((f" {mark}", mark) for mark in ".?!,"),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
]


def _word_piece(part: dict[str, Any]) -> Step:
    prefix, cleanup = part["prefix"], part["cleanup"]

    def word(piece: str) -> str:
        piece = piece[len(prefix) :] if piece.startswith(prefix) else f" {piece}"
        if cleanup:
            for old, new in _CLEANUPS:
                piece = piece.replace(old, new)
        return piece

    return _each(word)


def _bpe(part: dict[str, Any]) -> Step:
    return _each(lambda piece: piece.replace(part["suffix"], " "))


_DECODERS: dict[str, Callable[[dict[str, Any]], Step]] = {
    "BPEDecoder": _bpe,
    "ByteFallback": lambda part: _byte_fallback,
    "ByteLevel": lambda part: _byte_level,
    "Metaspace": _metaspace,
    "Replace": _replace,
    "Strip": _strip,
    "WordPiece": _word_piece,
}
_SENTENCEPIECE = [_byte_fallback, _each(lambda piece: piece.replace(SPACE_MARK, " "))]
