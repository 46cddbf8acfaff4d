"""What of a Hugging Face tokenizer decides how it splits a text, read out of its configuration.

Everything that is not known to be handled exactly is refused by name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structgen.engine.vocabulary.token_bytes import BYTE_ALPHABET
from structgen.errors import VocabularyError
from structgen.tokenization.configuration.normalizers import Marking, is_marking, read_normalizers, rows_of
from structgen.tokenization.configuration.openings import Opening, read_openings
from structgen.tokenization.configuration.pre_tokenizers import read_splits
from structgen.tokenization.merges.merge_table import ids_of_merges
from structgen.tokenization.pre_tokens.character_classes import SPACE_MARK, Memberships
from structgen.tokenization.pre_tokens.levels import ByteSplits
from structgen.tokenization.pre_tokens.split_guesses import Split
from structgen.tokenization.pre_tokens.split_patterns import compile_pattern, empty_pattern

__all__ = ["Parts", "read_tokenizer"]

LEADS = sum(1 << byte for byte in range(0xC2, 0xF5))  # of characters of several bytes


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a tokenizer.

    Attributes:
        size: number of ids, of the model's tokens.
        merges: int32[merges, 3]: left part, right part, product.
        lengths: int32[size]: of a token, how many symbols its run begins with; 0 for ids that are no tokens.
        ignore_merges: whether a pre-token that is a token as a whole is that token, whatever the merges say.
        fallback: the tokens that stand for one byte of a character that is no token itself.
        is_piece: whether a character is a token itself; None where there is no byte fallback.
        splits: the openings and the pre-tokenizer; where there is neither, one by a pattern that matches nothing.
        replacing: those of the splits that stand for what a normalizer replaces.
        never_cuts: whether the pre-tokenizer does not.
        leads: the bytes above 0x7F that begin only characters that can be spelled, as bits of a number.
        behind: the splits behind ByteLevel; None where there are none.
        memberships: for some characters, whether they are of each class of the splits; None for a character that the
            tokenizer would change, or cannot spell.
        is_normal: whether the normalizer leaves a text as it is; None where it looks at single characters only.
        added: by id, the text of each added token; special ones among them.
        pieces: the model's tokens, as it has them; none where they stand for bytes by themselves ("ByteLevel").
        marks_spaces: whether spaces become `▁` before anything else.
        openings: by id, added tokens behind which not every text is read as it is.
        opened: the regexes of these, in the order of the splits that are made of them: the first ones.
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
    behind: ByteSplits | None = field(repr=False)
    memberships: Callable[[str], Iterable[tuple[bool, ...] | None]] = field(repr=False)
    is_normal: Callable[[str], bool] | None
    added: dict[int, str]
    pieces: dict[str, int] = field(repr=False)
    marks_spaces: bool
    openings: dict[int, Opening]
    opened: tuple[str, ...]


def read_tokenizer(tokenizer: Any) -> Parts:
    """Reads a tokenizer of transformers (fast) or `tokenizers`.

    Raises:
        VocabularyError: it is not a byte-pair encoding, or splits texts in a way that is not supported; named.
    """
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not hasattr(backend, "to_str") or not hasattr(backend, "pre_tokenizer"):
        raise VocabularyError(
            f"proper tokenization needs a fast tokenizer of Hugging Face, and this is a {type(tokenizer).__name__}"
        )
    config = json.loads(backend.to_str())
    model = config["model"]
    _check_model(model)
    vocabulary: dict[str, int] = model["vocab"]
    size = max(vocabulary.values(), default=-1) + 1
    lengths = np.zeros(size, dtype=np.intc)
    ids = np.fromiter(vocabulary.values(), dtype=np.intc, count=len(vocabulary))
    lengths[ids] = np.fromiter(map(len, vocabulary), dtype=np.intc, count=len(vocabulary))
    fallback = frozenset(
        vocabulary[piece] for byte in range(256) if model.get("byte_fallback") and (piece := _piece(byte)) in vocabulary
    )
    lengths[list(fallback)] = 1
    pieces = model["merges"]
    if pieces and isinstance(pieces[0], str):
        pieces = [piece.split(" ") for piece in pieces]
    normalizers = _flat(config["normalizer"], "normalizers")
    pre_tokenizers = _flat(config["pre_tokenizer"], "pretokenizers")
    normalizing = read_normalizers(normalizers)
    rewrites = list(normalizing.rewrites)
    if any(part["type"] == "Metaspace" for part in pre_tokenizers):
        rewrites.append(Marking())
    marks_spaces = any(isinstance(rewrite, Marking) for rewrite in rewrites)
    tokens = [token for token in config["added_tokens"] if token["content"]]
    _check_added(tokens, backend.normalizer, marks_spaces)
    _check_normalized(tokens, normalizing.splits)
    prepended = [part["prepend"] for part in normalizers if part["type"] == "Prepend"]
    is_marked_first = any(map(is_marking, normalizers))
    openings = read_openings(tokens, prepended, is_marked_first, pre_tokenizers, normalizing.strips)
    opened = {pattern: None for opening in openings.values() for pattern in (opening.in_text, opening.behind_prompt)}
    if marks_spaces and " " in vocabulary:
        lengths[vocabulary[" "]] = 0  # no text has a space any more
    is_byte_level = any(part["type"] == "ByteLevel" for part in pre_tokenizers)
    cutting, behind = _cutting(pre_tokenizers, not is_marked_first, len(normalizing.rewrites))
    if is_byte_level and marks_spaces:
        raise VocabularyError(f"the tokenizer makes spaces {SPACE_MARK!r} before 'ByteLevel': that is not supported")
    opening = [Split(compile_pattern(pattern), 0, "opening") for pattern in opened]
    splits = _in_a_row([*opening, *normalizing.splits, *cutting])
    can_spell: Callable[[str], bool] | None = None
    if not is_byte_level and (len(fallback) < 256 or (marks_spaces and SPACE_MARK not in vocabulary)):
        can_spell = _Spellable(vocabulary, fallback, marks_spaces)
    is_rewritten = bool(normalizing.splits) or not all(isinstance(rewrite, Marking) for rewrite in rewrites)
    is_usual = can_spell is None and not is_rewritten
    return Parts(
        size=size,
        merges=ids_of_merges(pieces, vocabulary),
        lengths=lengths,
        ignore_merges=bool(model.get("ignore_merges")),
        fallback=fallback,
        is_piece=_Pieces(vocabulary, marks_spaces) if fallback else None,
        splits=splits or (Split(empty_pattern(), 0, "isolated"),),
        replacing=splits[len(opening) :][: len(normalizing.splits)],
        never_cuts=not cutting and not behind,
        leads=(LEADS & ~(marks_spaces << SPACE_MARK.encode()[0])) * is_usual,
        behind=_byte_splits(behind) if behind else None,
        memberships=Memberships(splits, rewrites, can_spell, marks_spaces),
        is_normal=normalizing.is_normal,
        added={token["id"]: token["content"] for token in tokens},
        pieces={} if is_byte_level else vocabulary,
        marks_spaces=marks_spaces,
        openings=openings,
        opened=tuple(opened),
    )


def _piece(byte: int) -> str:
    return f"<0x{byte:02X}>"


def _check_model(model: dict[str, Any]) -> None:
    kind = model.get("type") or ("BPE" if "merges" in model else "another kind of model")
    if kind != "BPE":
        raise VocabularyError(f"proper tokenization is for byte-pair encodings, and this tokenizer is a {kind}")
    for name in ("continuing_subword_prefix", "end_of_word_suffix", "dropout"):
        if model.get(name):
            raise VocabularyError(f"the tokenizer has {name}={model[name]!r}: that is not supported")


def _check_added(tokens: list[dict[str, Any]], normalizer: Any, marks_spaces: bool) -> None:
    """Added tokens that stand for text have to be found wherever it occurs."""
    exact = [token["content"] for token in tokens if not token["normalized"]]
    strips = any(token["rstrip"] for token in tokens if not token["normalized"])
    for token in tokens:
        content = token["content"]
        if token["normalized"]:
            rewritten = content if normalizer is None else normalizer.normalize_str(content)
            # Behind "Prepend" only such texts are found that hold a special token's; none that does is generated.
            is_found = rewritten == content or (token["special"] and rewritten.endswith(content))
            if not is_found or (marks_spaces and SPACE_MARK in content):
                raise VocabularyError(f"the added token {content!r} is normalized: that is not supported")
            for other in exact:  # which is looked for first
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
    """Added tokens that a normalizer sees as text must not be part of what it replaces, nor of what it looks at."""
    for token in tokens:
        for program in (split.program for split in splits if token["normalized"]):
            # No text is generated before a special one.
            looks = program.looks_behind if token["special"] else program.looks
            if looks or program.may_hold(rows_of(program, token["content"])):
                raise VocabularyError(
                    f"the added token {token['content']!r} is normalized, by 'Strip' or 'Replace', with the text "
                    "beside it: that is not supported"
                )


def _cutting(parts: list[dict[str, Any]], has_spaces: bool, rewrites: int) -> tuple[list[Split], list[Split]]:
    """The splits of a pre-tokenizer, of characters and of bytes.

    Those before Metaspace see what the normalizer leaves, by so many rewrites.
    """
    kinds = [part["type"] for part in parts]
    before = parts[: kinds.index("Metaspace")] if "Metaspace" in kinds else []
    unmarked = len(read_splits(before, has_spaces)[0])
    read, behind = read_splits(parts, has_spaces)
    splits = [
        Split(program, 0, behavior, rewrites if at < unmarked else None) for at, (program, behavior) in enumerate(read)
    ]
    return splits, [Split(program, 0, behavior) for program, behavior in behind]


def _in_a_row(splits: list[Split]) -> tuple[Split, ...]:
    """Splits one after another; the classes of all of them are numbered together."""
    row: list[Split] = []
    first_leaf = 0
    for split in splits:
        row.append(replace(split, first_leaf=first_leaf))
        first_leaf += len(split.program.leaves)
    return tuple(row)


def _byte_splits(parts: list[Split]) -> ByteSplits:
    splits = _in_a_row(parts)
    members = Memberships(splits, [], None, False)(BYTE_ALPHABET)
    return ByteSplits(splits, tuple(each for each in members if each is not None))


def _flat(config: dict[str, Any] | None, inner: str) -> list[dict[str, Any]]:
    """The parts of a sequence, and of sequences in it."""
    if config is None:
        return []
    if config["type"] == "Sequence":
        return [part for each in config[inner] for part in _flat(each, inner)]
    return [config]


# -- characters ------------------------------------------------------------------------------------------------------


class _Pieces:
    """Whether a character is a token itself."""

    def __init__(self, vocabulary: dict[str, int], marks_spaces: bool) -> None:
        self._vocabulary = vocabulary
        self._marks_spaces = marks_spaces

    def __call__(self, character: str) -> bool:
        return (SPACE_MARK if character == " " and self._marks_spaces else character) in self._vocabulary


class _Spellable:
    """Whether a character, as the normalizer leaves it, is spelled by tokens that are decoded to it."""

    def __init__(self, vocabulary: dict[str, int], fallback: frozenset[int], marks_spaces: bool) -> None:
        self._vocabulary = vocabulary
        self._bytes = frozenset(byte for byte in range(256) if vocabulary.get(_piece(byte)) in fallback)
        self._marks_spaces = marks_spaces

    def __call__(self, character: str) -> bool:
        if character in self._vocabulary:
            return True
        is_space = self._marks_spaces and character == SPACE_MARK
        return not is_space and self._bytes.issuperset(character.encode(errors="surrogatepass"))
