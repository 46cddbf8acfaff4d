"""The classes of a pre-tokenizer's splits that a character belongs to, as `tokenizers` itself sees it.

Oniguruma (regexes), Rust's standard library ("Digits", "Punctuation") and the tables of "UnicodeScripts" have different
versions of Unicode. So each is asked: it splits a text of many characters, and the pieces tell their classes.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structgen.errors import VocabularyError
from structgen.tokenization.pre_tokens.split_guesses import Split
from structgen.tokenization.pre_tokens.split_patterns import is_one_character, union_of

__all__ = [
    "ANY_SCRIPT",
    "NUMERIC",
    "PUNCTUATION",
    "SCRIPT",
    "SPACE_MARK",
    "SYMBOL",
    "WORD",
    "Memberships",
    "all_characters",
    "composes",
    "script_pattern",
    "scripts_of",
]

SPACE_MARK = "▁"

# Classes of Rust, which Oniguruma does not have.
PUNCTUATION = r"\p{tokenizers:punctuation}"
NUMERIC = r"\p{tokenizers:numeric}"
WORD = r"\p{tokenizers:word}"
SYMBOL = r"\p{tokenizers:symbol}"  # neither white space nor part of a word

SCRIPT = r"\p{tokenizers:script:"  # followed by a number and "}": the class of a script
ANY_SCRIPT = -1  # the script of characters that go with any other: spaces, and those that are not assigned
FIRST_MARK = "\u0300"  # no character before it is a mark, or composed with one before
SURROGATES = range(0xD800, 0xE000)
PLANES = ((0x0, 0x40000), (0xE0000, 0xE1000))  # code points outside are not assigned, or private
BLOCK = 4096  # characters whose classes are found at once
PRIVATE = 0xE000  # a private character, for all of those


class Memberships:
    """The classes of the splits that a character belongs to.

    It is an object, not a function inside another, as compiled grammars hold it.

    Args:
        splits: the splits, whose classes are numbered together.
        rewrites: functions of the normalizer that rewrite a character.
        can_spell: whether a character, as the normalizer leaves it, has tokens; None if all have.
        marks_spaces: whether `▁` is decoded to a space.
    """

    def __init__(
        self,
        splits: tuple[Split, ...],
        rewrites: list[Callable[[str], str]],
        can_spell: Callable[[str], bool] | None,
        marks_spaces: bool,
    ) -> None:
        last = len(rewrites)
        leaves = [(_stage(split, last), leaf) for split in splits for leaf in split.program.leaves]
        unions = {leaf: union_of(leaf) for _, leaf in leaves}  # asking for a class takes time
        self._classes = [(stage, *unions[leaf]) for stage, leaf in leaves]
        self._stages = sorted({stage for stage, _ in leaves} - {last})
        parts = {(stage, part) for stage, _, parts in self._classes for part in parts}
        columns = {part: _column(part) for _, part in parts}
        self._columns = {(stage, part): columns[part] for stage, part in parts}
        # Most blocks of characters hold no character that a pattern names by itself.
        self._named = {part for part in columns if is_one_character(part)}
        self._are_named = _Oniguruma("|".join(self._named)) if self._named else None
        self._rewrites = rewrites
        self._can_spell = can_spell
        self._marks_spaces = marks_spaces

    def __call__(self, characters: str) -> list[tuple[bool, ...] | None]:
        """Return for each character whether it is of each class; None if no proper text holds it."""
        is_seen_as_it_is = not self._rewrites and self._can_spell is None
        seen = list(characters) if is_seen_as_it_is else [self._rewritten(character) for character in characters]
        texts = {len(self._rewrites): "".join(character or "\0" for character in seen)}
        for stage in self._stages:
            pairs = zip(characters, seen, strict=True)
            texts[stage] = "".join("\0" if last is None else self._seen_at(stage, each) for each, last in pairs)
        none = np.zeros(len(seen), dtype=np.bool_)
        have_named = {
            stage: self._are_named is not None and self._are_named(text).any() for stage, text in texts.items()
        }
        columns = {
            (stage, part): column(texts[stage]) if have_named[stage] or part not in self._named else none
            for (stage, part), column in self._columns.items()
        }
        classes = [
            np.any([columns[stage, part] for part in parts], axis=0) ^ negative
            for stage, negative, parts in self._classes
        ]
        rows = zip(*[members.tolist() for members in classes], strict=True) if classes else iter([()] * len(seen))
        return [None if character is None else row for character, row in zip(seen, rows, strict=True)]

    def _seen_at(self, stage: int, character: str) -> str:
        """Return a character after the first few rewrites."""
        for rewrite in self._rewrites[:stage]:
            character = rewrite(character)
        return character

    def _rewritten(self, character: str) -> str | None:
        """Return a character as the pre-tokenizer sees it; None if decoding would not give the character again."""
        after = self._seen_at(len(self._rewrites), character)
        is_space = character == " " and after == SPACE_MARK
        if after != character and not is_space:
            return None
        if character == SPACE_MARK and self._marks_spaces:
            return None  # it would be read as a space
        return after if self._can_spell is None or self._can_spell(after) else None


def _column(part: str) -> Callable[[str], NDArray[np.bool_]]:
    """Return a function that finds the characters of a class in a text."""
    if part.startswith(SCRIPT):
        return _OfScript(int(part[len(SCRIPT) : -1]))
    return _RUST[part] if part in _RUST else _Oniguruma(part)


class _OfScript:
    """The characters of a text that are of a script: bool[characters]."""

    def __init__(self, script: int) -> None:
        self._script = script

    def __call__(self, text: str) -> NDArray[np.bool_]:
        members: NDArray[np.bool_] = scripts_of(text) == self._script
        return members


def _stage(split: Split, last: int) -> int:
    return last if split.rewrites is None else split.rewrites


class _Oniguruma:
    """The characters of a text that are of a class of Oniguruma: bool[characters]."""

    def __init__(self, leaf: str) -> None:
        from tokenizers import Regex, pre_tokenizers

        try:
            pattern = Regex(f"(?:{leaf})+")  # matches neighbours at once: each piece takes time
        except Exception as error:  # `tokenizers` raises a bare Exception
            raise VocabularyError(f"the tokenizer splits texts by {leaf!r}: that is not supported") from error
        self._remover = pre_tokenizers.Split(pattern, "removed")

    def __call__(self, text: str) -> NDArray[np.bool_]:
        return _removed(self._remover, text)


def _removed(pre_tokenizer: Any, text: str) -> NDArray[np.bool_]:
    """Return which characters are in no piece."""
    members = np.ones(len(text), dtype=np.bool_)
    for _, (first, last) in pre_tokenizer.pre_tokenize_str(text):
        members[first:last] = False
    return members


def _stand_alone(pre_tokenizer: Any, text: str) -> NDArray[np.bool_]:
    """Return which characters are pieces of their own between letters."""
    members = np.zeros(len(text), dtype=np.bool_)
    for _, (first, last) in pre_tokenizer.pre_tokenize_str("a" + "".join(character + "a" for character in text)):
        if first % 2 == 1 and last == first + 1:
            members[first // 2] = True
    return members


def _are_punctuation(text: str) -> NDArray[np.bool_]:
    from tokenizers import pre_tokenizers

    return _removed(pre_tokenizers.Punctuation("removed"), text)


def _are_numeric(text: str) -> NDArray[np.bool_]:
    from tokenizers import pre_tokenizers

    return _stand_alone(pre_tokenizers.Digits(), text)


def _are_symbols(text: str) -> NDArray[np.bool_]:
    from tokenizers import pre_tokenizers

    return _stand_alone(pre_tokenizers.Whitespace(), text)


def _are_of_words(text: str) -> NDArray[np.bool_]:
    from tokenizers import pre_tokenizers

    return ~_removed(pre_tokenizers.Whitespace(), text) & ~_are_symbols(text)


_RUST: dict[str, Callable[[str], NDArray[np.bool_]]] = {
    PUNCTUATION: _are_punctuation,
    NUMERIC: _are_numeric,
    SYMBOL: _are_symbols,
    WORD: _are_of_words,
}


def all_characters() -> Iterator[str]:
    """Yield all characters of Unicode, some thousand at once; without most of the private ones, which are all alike."""
    for first, last in PLANES:
        for begin in range(first, last, BLOCK):
            yield "".join(chr(code) for code in range(begin, min(begin + BLOCK, last)) if code not in SURROGATES)


def composes(character: str) -> bool:
    """Return whether a normalizer may compose a character with one before it, or put it before that."""
    return character >= FIRST_MARK and (
        unicodedata.combining(character) != 0
        or unicodedata.category(character).startswith("M")
        or "\u1161" <= character <= "\u11ff"
    )


# -- scripts, as "UnicodeScripts" sees them: it cuts between characters of different ones ----------------------------


def scripts_of(text: str) -> NDArray[np.int16]:
    """Return the number of the script of each character, or ANY_SCRIPT."""
    codes = np.frombuffer(text.encode("utf-32-le", errors="surrogatepass"), dtype="<u4")
    found: NDArray[np.int16] = _table()[codes]
    return found


def script_pattern() -> str:
    """Return a regex of runs of one script; characters that go with any script may follow the first one."""
    classes = [f"{SCRIPT}{script}}}" for script in range(_table().max() + 1)]
    return "|".join(f"{each}(?:{each}|{SCRIPT}{ANY_SCRIPT}}})*" for each in classes)


@functools.cache
def _table() -> NDArray[np.int16]:
    """Return the number of the script of each character: int16[0x110000].

    A character between letters of another script is cut off. Scripts are numbered as they are found.
    """
    from tokenizers import pre_tokenizers

    cutter = pre_tokenizers.UnicodeScripts()
    codes = np.array([*map(ord, "".join(all_characters()))])
    fixed = codes[_are_cut_off(cutter, codes, "a") | _are_cut_off(cutter, codes, "α")]
    text = "".join(map(chr, fixed.tolist()))
    firsts = np.array([first for _, (first, _) in cutter.pre_tokenize_str(text)])
    found = np.full(len(firsts), ANY_SCRIPT, dtype=np.int16)
    while len(left := np.flatnonzero(found == ANY_SCRIPT)):
        one = chr(fixed[firsts[left[0]]])
        found[left[~_are_cut_off(cutter, fixed[firsts[left]], one)]] = found.max() + 1
    table = np.full(0x110000, ANY_SCRIPT, dtype=np.int16)
    table[fixed] = np.repeat(found, np.diff([*firsts, len(fixed)]))
    for first, last in ((PLANES[0][1], PLANES[1][0]), (PLANES[1][1], 0x110000)):
        table[first:last] = table[PRIVATE]
    return table


def _are_cut_off(cutter: Any, codes: NDArray[np.intp], letter: str) -> NDArray[np.bool_]:
    """Return which characters begin a piece after a letter."""
    text = letter + "".join(chr(code) + letter for code in codes.tolist())
    firsts = np.array([first for _, (first, _) in cutter.pre_tokenize_str(text)])
    members = np.zeros(len(text), dtype=np.bool_)
    members[firsts] = True
    return members[1::2]
