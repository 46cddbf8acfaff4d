"""The parts of a Hugging Face tokenizer that decide how it splits a text, read out of its configuration.

A tokenizer works in this order; each part is read by a module of this folder:

    text   "Hi, <|end|>Bob"
      │  added tokens       `<|end|>` is taken out            added_tokens, openings
      │  normalizer         "Hi, "  becomes "Hi,▁", say       normalizers
      │  pre-tokenizer      "Hi"  ","  "▁"                    pre_tokenizers
      │  model              merges within each pre-token      model
    token ids

Everything that is not known to be handled exactly is refused by name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structgen.engine.vocabulary.token_bytes import BYTE_ALPHABET
from structgen.errors import VocabularyError
from structgen.tokenization.configuration.model import Model, byte_piece, check_model, read_model
from structgen.tokenization.configuration.normalizers import (
    Marking,
    Normalizers,
    is_marking,
    read_normalizers,
    rows_of,
)
from structgen.tokenization.configuration.openings import Opening, read_openings
from structgen.tokenization.configuration.pre_tokenizers import read_splits
from structgen.tokenization.pre_tokens.character_classes import SCRIPT, SPACE_MARK, Memberships, all_characters
from structgen.tokenization.pre_tokens.levels import ByteSplits
from structgen.tokenization.pre_tokens.split_guesses import Split
from structgen.tokenization.pre_tokens.split_patterns import compile_pattern, empty_pattern

__all__ = ["Parts", "read_tokenizer"]

LEADS = sum(1 << byte for byte in range(0xC2, 0xF5))  # first bytes of characters of several bytes, as bits


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a tokenizer.

    Attributes:
        size: the number of ids of the model.
        merges: int32[merges, 3]: left part, right part, product.
        lengths: int32[size]: the number of symbols that a token is merged from; 0 for ids that are no tokens.
        ignore_merges: whether a pre-token that is a token as a whole becomes this token, whatever the merges say.
        fallback: the byte tokens, which spell the characters that are no tokens.
        is_piece: whether a character is a token itself; None without byte fallback.
        splits: the openings, the replacements of the normalizer, and the pre-tokenizer; if there are none, one by a
            pattern that matches nothing.
        replacing: those splits that stand for what a normalizer replaces.
        never_cuts: whether the pre-tokenizer never cuts a text.
        leads: the bytes above 0x7F that begin only characters that can be spelled, as bits of a number.
        byte_splits: the splits after ByteLevel, which see bytes; None if there are none.
        memberships: for some characters, whether they are of each class of the splits; None for a character that the
            tokenizer would change, or cannot spell.
        is_normal: whether the normalizer leaves a text as it is; None if it looks at single characters only.
        added: by id, the text of each added token, special ones included.
        pieces: the id of each piece; empty if pieces are written in the byte alphabet (ByteLevel).
        marks_spaces: whether spaces become `▁` before anything else.
        openings: by id, added tokens after which not every text is read as it is.
        looking_beside: the special tokens that the text beside them decides about, or that remove white space before
            them.
        opened: the regexes of the openings, in the order of the splits that are made of them: the first ones.
    """

    size: int
    merges: NDArray[np.intc]
    lengths: NDArray[np.intc]
    ignore_merges: bool
    fallback: frozenset[int]
    is_piece: Callable[[str], bool] | None
    splits: tuple[Split, ...]
    replacing: tuple[Split, ...]
    never_cuts: bool
    leads: int
    byte_splits: ByteSplits | None = field(repr=False)
    memberships: Callable[[str], Iterable[tuple[bool, ...] | None]] = field(repr=False)
    is_normal: Callable[[str], bool] | None
    added: dict[int, str]
    pieces: dict[str, int] = field(repr=False)
    marks_spaces: bool
    openings: dict[int, Opening]
    looking_beside: frozenset[int]
    opened: tuple[str, ...]


def read_tokenizer(tokenizer: Any) -> Parts:
    """Read a tokenizer of transformers (fast) or `tokenizers`.

    Raises:
        VocabularyError: it is not a byte-pair encoding, or splits texts in a way that is not supported; named.
    """
    backend = _backend(tokenizer)
    config = json.loads(backend.to_str())
    check_model(config["model"])
    normalizers = _flat(config["normalizer"], "normalizers")
    pre_tokenizers = _flat(config["pre_tokenizer"], "pretokenizers")
    normalizing = read_normalizers(normalizers)
    has_metaspace = any(part["type"] == "Metaspace" for part in pre_tokenizers)
    rewrites: list[Callable[[str], str]] = [*normalizing.rewrites, *[Marking()] * has_metaspace]
    marks_spaces = any(isinstance(rewrite, Marking) for rewrite in rewrites)
    tokens = [token for token in config["added_tokens"] if token["content"]]
    _check_added(tokens, backend.normalizer, marks_spaces)
    _check_normalized(tokens, normalizing.splits)
    openings = _read_openings(tokens, normalizers, pre_tokenizers, normalizing)
    splits = _read_splits(openings, normalizers, pre_tokenizers, normalizing)
    is_byte_level = any(part["type"] == "ByteLevel" for part in pre_tokenizers)
    if is_byte_level and marks_spaces:
        raise VocabularyError(f"the tokenizer makes spaces {SPACE_MARK!r} before 'ByteLevel': that is not supported")
    model = read_model(config["model"], marks_spaces, is_byte_level)
    has_tokens = None if is_byte_level else _tokens_of_characters(model, marks_spaces)
    is_rewritten = bool(normalizing.splits) or not all(isinstance(rewrite, Marking) for rewrite in rewrites)
    spells_all = has_tokens is None and not is_rewritten
    return Parts(
        size=model.size,
        merges=model.merges,
        lengths=model.lengths,
        ignore_merges=model.ignore_merges,
        fallback=model.fallback,
        is_piece=_IsPiece(model.vocabulary, marks_spaces) if model.fallback else None,
        splits=splits.all or (Split(empty_pattern(), 0, "isolated"),),
        replacing=splits.replacing,
        never_cuts=splits.never_cuts,
        leads=LEADS & ~(marks_spaces << SPACE_MARK.encode()[0]) if spells_all else 0,
        byte_splits=splits.of_bytes,
        memberships=Memberships(splits.all, rewrites, has_tokens, marks_spaces),
        is_normal=normalizing.is_normal,
        added={token["id"]: token["content"] for token in tokens},
        pieces={} if is_byte_level else model.vocabulary,
        marks_spaces=marks_spaces,
        openings=openings,
        looking_beside=frozenset(token["id"] for token in tokens if token["lstrip"] or token["single_word"]),
        opened=splits.opened,
    )


def _backend(tokenizer: Any) -> Any:
    """Return the tokenizer of `tokenizers` in one of transformers, or a tokenizer of `tokenizers` itself."""
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not hasattr(backend, "to_str") or not hasattr(backend, "pre_tokenizer"):
        raise VocabularyError(
            f"proper tokenization needs a fast tokenizer of Hugging Face, and this is a {type(tokenizer).__name__}"
        )
    return backend


def _flat(config: dict[str, Any] | None, inner: str) -> list[dict[str, Any]]:
    """Return the parts of a sequence, and of sequences in it."""
    if config is None:
        return []
    if config["type"] == "Sequence":
        return [part for each in config[inner] for part in _flat(each, inner)]
    return [config]


# -- added tokens -----------------------------------------------------------------------------------------------------


def _check_added(tokens: list[dict[str, Any]], normalizer: Any, marks_spaces: bool) -> None:
    """Make sure that added tokens that stand for text are found wherever it occurs."""
    exact = [token["content"] for token in tokens if not token["normalized"]]
    strips = any(token["rstrip"] for token in tokens if not token["normalized"])
    for token in tokens:
        content = token["content"]
        if token["normalized"]:
            rewritten = content if normalizer is None else normalizer.normalize_str(content)
            # After "Prepend", only texts that hold a special token's are found; and none of these is generated.
            is_found = rewritten == content or (token["special"] and rewritten.endswith(content))
            if not is_found or (marks_spaces and SPACE_MARK in content):
                raise VocabularyError(f"the added token {content!r} is normalized: that is not supported")
            for other in exact:  # these are looked for first
                if other in content or any(other.startswith(content[at:]) for at in range(1, len(content))):
                    raise VocabularyError(f"the added tokens {content!r} and {other!r} overlap: that is not supported")
        if token["special"]:
            continue
        for name in ("lstrip", "single_word"):
            if token[name]:
                raise VocabularyError(f"the added token {content!r} has {name}=True: that is not supported")
        if token["normalized"] and strips and content[0].isspace():  # it may be gone when it is looked for
            raise VocabularyError(
                f"the added token {content!r} and one before it with rstrip=True are not supported together"
            )


def _check_normalized(tokens: list[dict[str, Any]], splits: list[Split]) -> None:
    """Make sure that a normalizer replaces no text with a part of an added token that it sees as text."""
    for token in tokens:
        for program in (split.program for split in splits if token["normalized"]):
            # No text is generated before a special one.
            looks = program.looks_behind if token["special"] else program.looks
            if looks or program.may_hold(rows_of(program, token["content"])):
                raise VocabularyError(
                    f"the added token {token['content']!r} is normalized, by 'Strip' or 'Replace', with the text "
                    "beside it: that is not supported"
                )


def _read_openings(
    tokens: list[dict[str, Any]],
    normalizers: list[dict[str, Any]],
    pre_tokenizers: list[dict[str, Any]],
    normalizing: Normalizers,
) -> dict[int, Opening]:
    prepended = [part["prepend"] for part in normalizers if part["type"] == "Prepend"]
    return read_openings(tokens, prepended, any(map(is_marking, normalizers)), pre_tokenizers, normalizing.strips)


# -- splits -----------------------------------------------------------------------------------------------------------


class _Splits(NamedTuple):
    """All splits of a tokenizer; for the attributes see `Parts`."""

    all: tuple[Split, ...]
    replacing: tuple[Split, ...]
    of_bytes: ByteSplits | None
    opened: tuple[str, ...]
    never_cuts: bool


def _read_splits(
    openings: dict[int, Opening],
    normalizers: list[dict[str, Any]],
    pre_tokenizers: list[dict[str, Any]],
    normalizing: Normalizers,
) -> _Splits:
    """Return the splits of the openings, of the normalizer's replacements and of the pre-tokenizer, in this order."""
    patterns = [each for opening in openings.values() for each in (opening.in_text, opening.after_prompt)]
    opened = tuple(dict.fromkeys(patterns))
    has_spaces = not any(map(is_marking, normalizers))
    cutting, of_bytes = _cutting(pre_tokenizers, has_spaces, len(normalizing.rewrites))
    for split in (*cutting, *of_bytes):
        _check_removal(split)
    opening = [Split(compile_pattern(pattern), 0, "opening") for pattern in opened]
    splits = _numbered([*opening, *normalizing.splits, *cutting])
    replacing = splits[len(opening) :][: len(normalizing.splits)]
    byte_splits = _byte_splits(of_bytes) if of_bytes else None
    return _Splits(splits, replacing, byte_splits, opened, not cutting and not of_bytes)


def _cutting(parts: list[dict[str, Any]], has_spaces: bool, rewrites: int) -> tuple[list[Split], list[Split]]:
    """Return the splits of a pre-tokenizer: of characters, and of bytes.

    Those before Metaspace see a text after the normalizer's rewrites, and before spaces become `▁`.
    """
    kinds = [part["type"] for part in parts]
    before = parts[: kinds.index("Metaspace")] if "Metaspace" in kinds else []
    unmarked = len(read_splits(before, has_spaces)[0])
    read, of_bytes = read_splits(parts, has_spaces)
    splits = [
        Split(program, 0, behavior, rewrites if at < unmarked else None) for at, (program, behavior) in enumerate(read)
    ]
    return splits, [Split(program, 0, behavior) for program, behavior in of_bytes]


def _check_removal(split: Split) -> None:
    """Make sure that a split removes single characters, wherever they stand: then a text shows what would be lost.

    A regex of scripts begins with a character that it matches alone; see `read_splits`.

    Raises:
        VocabularyError: it may remove a character or not, by the text beside it.
    """
    program = split.program
    if split.behavior not in ("removed", "gaps_removed") or program.is_of_single_characters:
        return
    if program.pattern.startswith(SCRIPT):
        return
    memberships = Memberships((replace(split, first_leaf=0),), [], None, marks_spaces=False)
    rows = {row for characters in all_characters() for row in memberships(characters)}
    if any(row and program.may_hold([row]) and not program.matches_alone(row) for row in rows):
        raise VocabularyError(
            f"the tokenizer removes text by {program.pattern!r}, and the text beside a character decides whether it is "
            "removed: that is not supported"
        )


def _numbered(splits: list[Split]) -> tuple[Split, ...]:
    """Return splits whose classes are numbered together."""
    row: list[Split] = []
    first_leaf = 0
    for split in splits:
        row.append(replace(split, first_leaf=first_leaf))
        first_leaf += len(split.program.leaves)
    return tuple(row)


def _byte_splits(parts: list[Split]) -> ByteSplits:
    splits = _numbered(parts)
    members = Memberships(splits, [], None, False)(BYTE_ALPHABET)
    return ByteSplits(splits, tuple(each for each in members if each is not None))


# -- characters -------------------------------------------------------------------------------------------------------


class _IsPiece:
    """The characters that are tokens themselves; an object, not a function inside another: see `Memberships`."""

    def __init__(self, vocabulary: dict[str, int], marks_spaces: bool) -> None:
        self._vocabulary = vocabulary
        self._marks_spaces = marks_spaces

    def __call__(self, character: str) -> bool:
        return (SPACE_MARK if character == " " and self._marks_spaces else character) in self._vocabulary


def _tokens_of_characters(model: Model, marks_spaces: bool) -> _HasTokens | None:
    """Return whether characters have tokens; None if all have: they are spelled by byte tokens."""
    lacks_bytes = len(model.fallback) < 256
    lacks_space = marks_spaces and SPACE_MARK not in model.vocabulary
    return _HasTokens(model, marks_spaces) if lacks_bytes or lacks_space else None


class _HasTokens:
    """The characters, as the normalizer leaves them, that are spelled by tokens which are decoded to them."""

    def __init__(self, model: Model, marks_spaces: bool) -> None:
        vocabulary = self._vocabulary = model.vocabulary
        self._bytes = frozenset(byte for byte in range(256) if vocabulary.get(byte_piece(byte)) in model.fallback)
        self._marks_spaces = marks_spaces

    def __call__(self, character: str) -> bool:
        if character in self._vocabulary:
            return True
        is_space = self._marks_spaces and character == SPACE_MARK
        return not is_space and self._bytes.issuperset(character.encode(errors="surrogatepass"))
