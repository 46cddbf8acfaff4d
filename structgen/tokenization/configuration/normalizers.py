"""The texts that a tokenizer's normalizer leaves as they are, read out of its configuration.

Only such texts are generated. There are three kinds of normalizers:

    single characters              "Lowercase" changes `É`            asked for each character (`rewrites`)
    characters with neighbours     "NFC" changes `e` + accent         asked for each text (`is_normal`)
    longer texts                   "Replace" of "  +", "Strip"        regexes that must not match (`splits`)

The regexes are followed as the splits of a pre-tokenizer are, except that they do not cut.

"Precompiled" is SentencePiece's. It replaces the texts of a *charsmap*, a trie in a double array (of the library
darts-clone, which SentencePiece contains). A character is looked up by itself, and so is a grapheme (a character and
the accents after it) of fewer than six bytes.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from structgen.errors import VocabularyError
from structgen.tokenization.pre_tokens.character_classes import SPACE_MARK, Memberships, composes
from structgen.tokenization.pre_tokens.split_guesses import Split
from structgen.tokenization.pre_tokens.split_patterns import Program, compile_pattern, literal_pattern

__all__ = ["Marking", "Normalizers", "is_marking", "program_of", "read_normalizers", "replaced_together", "rows_of"]

# Normalizers that map each character by itself; "NFC" and the like look at neighbours too.
CHARACTERWISE = ("Lowercase", "StripAccents", "Nmt")
COMPOSING = ("NFC", "NFD", "NFKC", "NFKD")
MARKING = {"type": "Replace", "pattern": {"String": " "}, "content": SPACE_MARK}
RUNS = (r"\s+", " +")  # patterns that match any run of spaces
LAST_SPACE = r"\s(?![\s\S])"

# Units of a charsmap's double array: 32 bits each.
_UNIT_BYTES = 4
_LABEL = 1 << 31 | 0xFF
_HAS_LEAF = 1 << 8
_IS_FAR = 1 << 9
_MIN_UNREPLACED_BYTES = 6  # a grapheme of so many bytes is not looked up


class Marking:
    """The rewriting of spaces to `▁`."""

    def __call__(self, text: str) -> str:
        """Return a text with `▁` for each space."""
        return text.replace(" ", SPACE_MARK)


@dataclass(frozen=True, slots=True)
class Normalizers:
    """The normalizers of a tokenizer, applied one after another.

    Attributes:
        rewrites: functions that rewrite a character.
        is_normal: whether they leave a text as it is; None if they look at single characters only.
        splits: regexes that match nothing in a text that stays as it is.
        strips: the form that a space has when white space is removed at the beginning of a text; None if it is not
            removed.
    """

    rewrites: list[Callable[[str], str]]
    is_normal: Callable[[str], bool] | None
    splits: list[Split]
    strips: str | None


def read_normalizers(parts: list[dict[str, Any]]) -> Normalizers:
    """Read normalizers.

    Raises:
        VocabularyError: one of them is not supported, or not together with another one; named.
    """
    rewrites: list[Callable[[str], str]] = []
    known: list[Any] = []
    splits: list[Split] = []
    strips = None
    together: set[str] = set()
    for part in parts:
        kind = part["type"]
        if kind == "Precompiled":
            together.update(_graphemes(part))
        if kind == "Strip":
            strips = _rewritten(" ", rewrites) if part["strip_left"] else strips
            splits += [Split(compile_pattern(LAST_SPACE), 0, "removed", len(rewrites))] * part["strip_right"]
        elif kind == "Replace" and not program_of(part).is_class:
            splits.append(_replaced(part, len(rewrites)))
            rewrites += [Marking()] * is_marking(part)
        elif is_marking(part):
            rewrites += [Marking()] if part == MARKING else [Marking(), _made(part).normalize_str]
        elif kind != "Prepend":  # it acts at the beginning of the prompt, never after it
            known.append(_made(part))
            rewrites.append(known[-1].normalize_str)
    if splits or strips:
        _check_together(parts)
    return Normalizers(rewrites, _Normal(known, together) if any(map(_composes, parts)) else None, splits, strips)


def is_marking(part: dict[str, Any]) -> bool:
    """Return whether a normalizer makes every space `▁`."""
    if part["type"] != "Replace" or part["content"] != SPACE_MARK:
        return False
    if part["pattern"].get("Regex") in RUNS:
        return True
    return program_of(part).is_class and _made(part).normalize_str(" ") == SPACE_MARK


def program_of(part: dict[str, Any]) -> Program:
    """Return the pattern that a "Replace" replaces."""
    pattern = part["pattern"]
    return compile_pattern(pattern["Regex"]) if "Regex" in pattern else literal_pattern(pattern["String"])


def _made(part: dict[str, Any]) -> Any:
    """Return the normalizer of `tokenizers` for one part."""
    from tokenizers import Regex, normalizers

    kind = part["type"]
    if kind in COMPOSING or kind in CHARACTERWISE:
        return getattr(normalizers, kind)()
    if kind == "Precompiled":
        return normalizers.Precompiled(_charsmap(part))
    if kind == "BertNormalizer":
        return normalizers.BertNormalizer(**{name: option for name, option in part.items() if name != "type"})
    if kind == "Replace":
        pattern = part["pattern"]
        return normalizers.Replace(
            Regex(pattern["Regex"]) if "Regex" in pattern else pattern["String"], part["content"]
        )
    raise VocabularyError(f"the tokenizer's normalizer {kind!r} is not supported for proper tokenization")


def _composes(part: dict[str, Any]) -> bool:
    """Return whether a normalizer changes characters together with their neighbours."""
    if part["type"] == "BertNormalizer":  # it removes accents by NFD, which also reorders others
        strips = part["strip_accents"]
        return bool(part["lowercase"] if strips is None else strips)
    return part["type"] in (*COMPOSING, "Precompiled")


def _charsmap(part: dict[str, Any]) -> bytes:
    return base64.b64decode(part["precompiled_charsmap"])


def _graphemes(part: dict[str, Any]) -> set[str]:
    """Return the texts of several characters that a charsmap replaces: a character and the accents after it."""
    found = replaced_together(_charsmap(part))
    for text in sorted(found):
        if not all(map(composes, text[1:])):
            raise VocabularyError(f"the tokenizer's normalizer 'Precompiled', of {text!r}, is not supported")
    return found


def _rewritten(text: str, rewrites: list[Callable[[str], str]]) -> str:
    for rewrite in rewrites:
        text = rewrite(text)
    return text


# -- longer texts -----------------------------------------------------------------------------------------------------


def _replaced(part: dict[str, Any], rewrites: int) -> Split:
    """Return the split of a "Replace": a text must not have a match that is replaced by another text.

    Args:
        part: the normalizer.
        rewrites: the number of rewrites of characters before it.
    """
    program, content = program_of(part), part["content"]
    if not content:
        return Split(program, 0, "removed", rewrites)
    kept = " " if is_marking(part) else content
    for same in {content, content.replace(SPACE_MARK, " ")} - {kept if len(kept) == 1 else ""}:
        if program.may_match(rows_of(program, same)):
            raise _unsupported(part, f"which may match {same!r}")
    if len(kept) > 1:
        return Split(program, 0, "removed", rewrites)
    return Split(program, 0, "kept", rewrites, program.leaf_of(kept))


def rows_of(program: Program, text: str) -> list[tuple[bool, ...]]:
    """Return for each character of a text the classes of a program that it belongs to."""
    rows = Memberships((Split(program, 0, "removed"),), [], None, marks_spaces=False)(text)
    return [row for row in rows if row is not None]


def _check_together(parts: list[dict[str, Any]]) -> None:
    """Make sure that normalizers are independent, so that each can be read by itself.

    None may produce what another one has replaced. A prepended space must be there, in the same form, when a "Replace"
    sees the text.
    """
    composing = {part["type"] for part in parts if _composes(part)}
    if len(composing) > 1:
        raise VocabularyError(f"the tokenizer's normalizers {sorted(composing)} between others are not supported")
    others = [part for part in parts if part["type"] not in ("Replace", "Strip", "Prepend")]
    replacing = [part for part in parts if part["type"] == "Replace" and not is_marking(part)]
    for at, part in enumerate(replacing):
        for other in others:
            if _made(other).normalize_str(part["content"]) != part["content"]:
                raise _unsupported(part, f"which {other['type']!r} changes")
        for before in replacing[:at]:
            if any(any(row) for row in rows_of(program_of(before), part["content"])):
                raise _unsupported(part, f"after a 'Replace' of {_pattern(before)!r}")
    is_marked = False
    prepended = None
    for part in parts:
        if part["type"] == "Prepend":
            prepended = part["prepend"]
        elif part["type"] == "Strip" and part["strip_left"] and prepended is not None:
            raise VocabularyError("the tokenizer's normalizer 'Strip' after 'Prepend' is not supported")
        elif part in replacing or (is_marking(part) and not program_of(part).is_class):
            is_seen = prepended == (SPACE_MARK if is_marked else " ")
            if any(each["type"] == "Prepend" for each in parts) and not is_seen:
                raise _unsupported(part, "beside 'Prepend'")
            if is_marked and " " in part["content"]:
                raise _unsupported(part, "after spaces were replaced")
        is_marked = is_marked or is_marking(part)


def _pattern(part: dict[str, Any]) -> str:
    return str(next(iter(part["pattern"].values())))


def _unsupported(part: dict[str, Any], what: str) -> VocabularyError:
    return VocabularyError(
        f"the tokenizer's normalizer 'Replace' of {_pattern(part)!r} by {part['content']!r}, {what}, is not supported"
    )


class _Normal:
    """The texts that normalizers leave as they are.

    Args:
        made: the normalizers of `tokenizers`.
        together: texts of several characters that "Precompiled" replaces. It does not replace them where more accents
            follow, so that the grapheme has six bytes or more; such a text counts as changed all the same, since it is
            written one accent after another.
    """

    def __init__(self, made: list[Any], together: set[str]) -> None:
        from tokenizers import normalizers

        self._normalizer = normalizers.Sequence(made)
        self._together = together
        self._sizes = sorted(set(map(len, together)))

    def __call__(self, text: str) -> bool:
        return bool(self._normalizer.normalize_str(text) == text) and not (self._sizes and self._holds(text))

    def _holds(self, text: str) -> bool:
        """Return whether a text holds one of the texts that are replaced together."""
        ends = [at for at, character in enumerate(text, 1) if composes(character)]
        return any(text[max(end - size, 0) : end] in self._together for end in ends for size in self._sizes)


# -- charsmaps of Precompiled -----------------------------------------------------------------------------------------


def replaced_together(charsmap: bytes) -> set[str]:
    """Return the texts of several characters that a charsmap replaces, while it leaves each of the characters.

    Args:
        charsmap: the bytes of the charsmap: the size of its trie, the trie, and the replacements.

    Raises:
        ValueError: the bytes are no charsmap.
    """
    size = int.from_bytes(charsmap[:_UNIT_BYTES], "little")
    if len(charsmap) < _UNIT_BYTES + size or size % _UNIT_BYTES or not size:
        raise ValueError("a charsmap begins with the size of its trie")
    units = np.frombuffer(charsmap, "<u4", size // _UNIT_BYTES, _UNIT_BYTES).astype(np.int64)
    single = _texts(units, lambda text: False)
    longer = _texts(units, lambda text: text[-1] not in single)
    return {text for text in longer - single if len(text.encode()) < _MIN_UNREPLACED_BYTES}


def _texts(units: np.ndarray, goes_on: Callable[[str], bool]) -> set[str]:
    """Return the texts of a trie; texts that begin with a whole text of it only if `goes_on` says so of that one."""
    found: set[str] = set()
    units_at, texts = np.zeros(1, dtype=np.int64), [b""]
    while texts:  # all nodes of one depth at once
        first = units_at ^ (units[units_at] >> 10) << ((units[units_at] & _IS_FAR) >> 6)
        below = first[:, None] ^ np.arange(1, 256)
        is_there = below < len(units)
        labels = np.where(is_there, units[np.where(is_there, below, 0)] & _LABEL, 0)
        nodes, bytes_of = np.nonzero(labels == np.arange(1, 256))
        units_at = below[nodes, bytes_of]
        has_leaf = (units[units_at] & _HAS_LEAF != 0).tolist()
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
        units_at, texts = units_at[kept], longer
    return found
