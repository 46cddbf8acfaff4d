"""What of a Hugging Face tokenizer decides how it splits a text, read out of its configuration.

Everything that is not known to be handled exactly is refused by name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structgen.errors import VocabularyError
from structgen.tokenization.merges import ids_of_merges
from structgen.tokenization.pre_tokenizers import Split
from structgen.tokenization.split_patterns import (
    Program,
    compile_pattern,
    empty_pattern,
    is_one_character,
    literal_pattern,
    union_of,
)

__all__ = ["Parts", "read_tokenizer"]

SPACE_MARK = "▁"
GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
BEHAVIORS = {
    "Isolated": "isolated",
    "MergedWithPrevious": "merged_with_previous",
    "MergedWithNext": "merged_with_next",
    "Contiguous": "contiguous",
}
# Normalizers that map each character by itself; "NFC" and its like look at neighbours too.
CHARACTERWISE = ("Lowercase", "StripAccents")
COMPOSING = ("NFC", "NFD", "NFKC", "NFKD")
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
        splits: the pre-tokenizer; where it never cuts, one by a pattern that matches nothing.
        never_cuts: whether it is that.
        leads: the bytes above 0x7F that begin only characters that can be spelled, as bits of a number.
        memberships: for some characters, whether they are of each class of the splits; None for a character that the
            tokenizer would change, or cannot spell.
        is_normal: whether the normalizer leaves a text as it is; None where it looks at single characters only.
        added: by id, the text of each added token; special ones among them.
        pieces: the model's tokens, as it has them; none where they stand for bytes by themselves ("ByteLevel").
        marks_spaces: whether spaces become `▁` before anything else.
        unlike: by id, added tokens behind which a text does not begin as it is: what the tokenizer does to it there.
    """

    size: int
    merges: NDArray[np.intc]
    lengths: NDArray[np.intc]
    ignore_merges: bool
    fallback: frozenset[int]
    is_piece: Callable[[str], bool] | None
    splits: tuple[Split, ...]
    never_cuts: bool
    leads: int
    memberships: Callable[[str], Iterable[tuple[bool, ...] | None]] = field(repr=False)
    is_normal: Callable[[str], bool] | None
    added: dict[int, str]
    pieces: dict[str, int] = field(repr=False)
    marks_spaces: bool
    unlike: dict[int, str]


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
    pre_tokenizers = _flat(config["pre_tokenizer"], "pretokenizers")
    rewrites, is_normal = _normalizer(config["normalizer"], pre_tokenizers)
    marks_spaces = any(isinstance(rewrite, _Marking) for rewrite in rewrites)
    _check_added(config, backend.normalizer, marks_spaces)
    if marks_spaces and " " in vocabulary:
        lengths[vocabulary[" "]] = 0  # no text has a space any more
    is_byte_level = any(part["type"] == "ByteLevel" for part in pre_tokenizers)
    replaces = any(part["type"] == "Replace" for part in _flat(config["normalizer"], "normalizers"))
    splits = _splits(pre_tokenizers, has_spaces=not replaces)
    can_spell: Callable[[str], bool] | None = None
    if not is_byte_level and (len(fallback) < 256 or (marks_spaces and SPACE_MARK not in vocabulary)):
        can_spell = _Spellable(vocabulary, len(fallback) == 256)
    is_usual = can_spell is None and all(isinstance(rewrite, _Marking) for rewrite in rewrites)
    return Parts(
        size=size,
        merges=ids_of_merges(pieces, vocabulary),
        lengths=lengths,
        ignore_merges=bool(model.get("ignore_merges")),
        fallback=fallback,
        is_piece=_Pieces(vocabulary, marks_spaces) if fallback else None,
        splits=splits or (Split(empty_pattern(), 0, "isolated"),),
        never_cuts=not splits,
        leads=(LEADS & ~(marks_spaces << SPACE_MARK.encode()[0])) * is_usual,
        memberships=_Memberships(splits, rewrites, can_spell),
        is_normal=is_normal,
        added={token["id"]: token["content"] for token in config["added_tokens"] if token["content"]},
        pieces={} if is_byte_level else vocabulary,
        marks_spaces=marks_spaces,
        unlike=_unlike(config),
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


def _check_added(config: dict[str, Any], normalizer: Any, marks_spaces: bool) -> None:
    """Added tokens that stand for text have to be found wherever it occurs, and to leave what follows as it is."""
    prefix = _prefix(config)
    tokens = [token for token in config["added_tokens"] if token["content"]]
    exact = [token["content"] for token in tokens if not token["normalized"]]
    for token in tokens:
        content = token["content"]
        if token["normalized"]:
            is_rewritten = normalizer is not None and normalizer.normalize_str(content) != content
            if is_rewritten or (marks_spaces and SPACE_MARK in content):
                raise VocabularyError(f"the added token {content!r} is normalized: that is not supported")
            for other in exact:  # which is looked for first
                if other in content or any(other.startswith(content[at:]) for at in range(1, len(content))):
                    raise VocabularyError(f"the added tokens {content!r} and {other!r} overlap: that is not supported")
        if token["special"]:
            continue
        for name in ("lstrip", "rstrip", "single_word"):
            if token[name]:
                raise VocabularyError(f"the added token {content!r} has {name}=True: that is not supported")
        if prefix:
            raise VocabularyError(
                f"the tokenizer's {prefix} and the added token {content!r} are not supported together"
            )


def _unlike(config: dict[str, Any]) -> dict[int, str]:
    """See `Parts.unlike`."""
    prefix = _prefix(config)
    return {
        token["id"]: f"behind {token['content']!r}, which has rstrip=True, the tokenizer takes white space away"
        if token["rstrip"]
        else f"behind {token['content']!r} the tokenizer's {prefix} puts a space"
        for token in config["added_tokens"]
        if token["rstrip"] or prefix
    }


def _prefix(config: dict[str, Any]) -> str | None:
    """What puts a space before the text behind an added token; None for nothing."""
    if any(part["type"] == "Prepend" for part in _flat(config["normalizer"], "normalizers")):
        return "normalizer 'Prepend'"
    for part in _flat(config["pre_tokenizer"], "pretokenizers"):
        if part["type"] == "Metaspace" and part.get("prepend_scheme", "always") == "always":
            return "pre-tokenizer 'Metaspace' with prepend_scheme='always'"
        if part["type"] == "ByteLevel" and part["add_prefix_space"]:
            return "pre-tokenizer 'ByteLevel' with add_prefix_space=True"
    return None


def _flat(config: dict[str, Any] | None, inner: str) -> list[dict[str, Any]]:
    """The parts of a sequence, and of sequences in it."""
    if config is None:
        return []
    if config["type"] == "Sequence":
        return [part for each in config[inner] for part in _flat(each, inner)]
    return [config]


# -- pre-tokenizers ---------------------------------------------------------------------------------------------------


def _splits(parts: list[dict[str, Any]], has_spaces: bool) -> tuple[Split, ...]:
    """All splits.

    Args:
        parts: the pre-tokenizer.
        has_spaces: whether the normalizer leaves any. Where it does not, Gemma's split by them never cuts.
    """
    splits: list[Split] = []
    first_leaf = 0
    for before, part in zip([None, *parts], parts, strict=False):
        if part["type"] == "Metaspace" and splits:
            raise VocabularyError("the tokenizer's 'Metaspace' behind other pre-tokenizers is not supported")
        if before and (before["type"] == "ByteLevel" or (before["type"], part["type"]) == ("Metaspace", "ByteLevel")):
            raise VocabularyError(  # it would see what the one before has made of the bytes
                f"the tokenizer's {part['type']!r} behind {before['type']!r} is not supported"
            )
        is_idle = part["type"] == "Split" and part["pattern"] == {"String": " "} and not part["invert"]
        found = None if is_idle and not has_spaces else _split(part)
        if found is not None:
            program, behavior = found
            splits.append(Split(program, first_leaf, behavior))
            first_leaf += len(program.leaves)
    return tuple(splits)


def _split(part: dict[str, Any]) -> tuple[Program, str] | None:
    """One split; None for a part that cuts nothing."""
    kind = part["type"]
    if kind == "ByteLevel":
        return (compile_pattern(GPT2_PATTERN), "isolated") if part.get("use_regex", True) else None
    if kind == "Digits":
        one = r"\p{N}"  # Rust's `char::is_numeric`
        return compile_pattern(one if part["individual_digits"] else one + "+"), "isolated"
    if kind == "Metaspace":
        if part["replacement"] != SPACE_MARK:
            raise VocabularyError(f"the tokenizer's 'Metaspace' with {part['replacement']!r} is not supported")
        return (literal_pattern(part["replacement"]), "merged_with_next") if part.get("split", True) else None
    if kind == "Split":
        behavior = part["behavior"]
        if behavior not in BEHAVIORS or part["invert"]:
            raise VocabularyError(f"the tokenizer's Split {behavior}, invert={part['invert']} is not supported")
        pattern = part["pattern"]
        program = compile_pattern(pattern["Regex"]) if "Regex" in pattern else literal_pattern(pattern["String"])
        return program, BEHAVIORS[behavior]
    raise VocabularyError(f"the tokenizer's pre-tokenizer {kind!r} is not supported for proper tokenization")


class _Memberships:
    """Which classes of the splits a character belongs to, as `tokenizers` itself sees it.

    (An object and not a function within one: compiled grammars hold it.)
    """

    def __init__(
        self,
        splits: tuple[Split, ...],
        rewrites: list[Callable[[str], str]],
        can_spell: Callable[[str], bool] | None,
    ) -> None:
        from tokenizers import Regex, pre_tokenizers

        def remover(leaf: str) -> Any:
            try:
                pattern = Regex(f"(?:{leaf})+")  # neighbours at once: each piece takes time
            except Exception as error:  # `tokenizers` has no class of its own for it
                raise VocabularyError(f"the tokenizer splits texts by {leaf!r}: that is not supported") from error
            return pre_tokenizers.Split(pattern, "removed")

        self._leaves = [leaf for split in splits for leaf in split.program.leaves]
        self._unions = {leaf: union_of(leaf) for leaf in self._leaves}  # each class that is asked for takes time
        self._removers = {part: remover(part) for _, parts in self._unions.values() for part in parts}
        # Most blocks of characters hold none of those that a pattern names one by one.
        self._named = {part for part in self._removers if is_one_character(part)}
        self._remover_of_named = remover("|".join(self._named)) if self._named else None
        self._rewrites = rewrites
        self._can_spell = can_spell

    def __call__(self, characters: str) -> list[tuple[bool, ...] | None]:
        """For each character: whether it is of each class; None if no proper text holds it."""
        is_seen_as_it_is = not self._rewrites and self._can_spell is None
        seen = list(characters) if is_seen_as_it_is else [self._rewritten(character) for character in characters]
        text = "".join(character or "\0" for character in seen)
        none = np.zeros(len(text), dtype=np.bool_)
        has_named = self._remover_of_named is not None and self._column(self._remover_of_named, text).any()
        columns = {
            part: self._column(remover, text) if has_named or part not in self._named else none
            for part, remover in self._removers.items()
        }
        unions = [self._unions[leaf] for leaf in self._leaves]
        classes = [np.any([columns[part] for part in parts], axis=0) ^ negative for negative, parts in unions]
        rows = zip(*[members.tolist() for members in classes], strict=True) if classes else iter([()] * len(text))
        return [None if character is None else row for character, row in zip(seen, rows, strict=True)]

    @staticmethod
    def _column(remover: Any, text: str) -> NDArray[np.bool_]:
        members = np.ones(len(text), dtype=np.bool_)
        for _, (first, last) in remover.pre_tokenize_str(text):
            members[first:last] = False
        return members

    def _rewritten(self, character: str) -> str | None:
        """What the pre-tokenizer gets to see; None where decoding it would not give the character again."""
        after = character
        for rewrite in self._rewrites:
            after = rewrite(after)
        is_space = character == " " and after == SPACE_MARK
        if after != character and not is_space:
            return None
        if character == SPACE_MARK and any(isinstance(rewrite, _Marking) for rewrite in self._rewrites):
            return None  # it would be read as a space
        return after if self._can_spell is None or self._can_spell(after) else None


class _Pieces:
    """Whether a character is a token itself."""

    def __init__(self, vocabulary: dict[str, int], marks_spaces: bool) -> None:
        self._vocabulary = vocabulary
        self._marks_spaces = marks_spaces

    def __call__(self, character: str) -> bool:
        return (SPACE_MARK if character == " " and self._marks_spaces else character) in self._vocabulary


class _Spellable:
    """Whether a character, as the normalizer leaves it, is spelled by tokens that are decoded to it."""

    def __init__(self, vocabulary: dict[str, int], has_bytes: bool) -> None:
        self._vocabulary = vocabulary
        self._has_bytes = has_bytes

    def __call__(self, character: str) -> bool:
        return character in self._vocabulary or (self._has_bytes and character != SPACE_MARK)


class _Marking:
    """Spaces become `▁`."""

    def __call__(self, text: str) -> str:
        return text.replace(" ", SPACE_MARK)


# -- normalizers ------------------------------------------------------------------------------------------------------


def _normalizer(
    config: dict[str, Any] | None, pre_tokenizers: list[dict[str, Any]]
) -> tuple[list[Callable[[str], str]], Callable[[str], bool] | None]:
    """What the normalizer, and Metaspace, make of a character; and whether they leave a text as it is."""
    from tokenizers import normalizers

    rewrites: list[Callable[[str], str]] = []
    known: list[Any] = []
    composes = False
    for part in _flat(config, "normalizers"):
        kind = part["type"]
        if kind in COMPOSING or kind in CHARACTERWISE:
            normalizer = getattr(normalizers, kind)()
            rewrites.append(normalizer.normalize_str)
            known.append(normalizer)
            composes = composes or kind in COMPOSING
        elif kind == "Replace" and part["pattern"] == {"String": " "} and part["content"] == SPACE_MARK:
            rewrites.append(_Marking())
        elif kind != "Prepend":  # at the beginning of a text, before which a prompt stands
            raise VocabularyError(f"the tokenizer's normalizer {kind!r} is not supported for proper tokenization")
    if any(part["type"] == "Metaspace" for part in pre_tokenizers):
        rewrites.append(_Marking())
    return rewrites, _Normal(normalizers.Sequence(known)) if composes else None


class _Normal:
    """Whether a normalizer leaves a text as it is."""

    def __init__(self, normalizer: Any) -> None:
        self._normalizer = normalizer

    def __call__(self, text: str) -> bool:
        return bool(self._normalizer.normalize_str(text) == text)
