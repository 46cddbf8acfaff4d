"""Checks for texts that a tokenizer cannot spell: grammars that name one are refused by name.

No sequence of tokens spells a text that the tokenizer would change (`É` under Lowercase), that it has no tokens for, or
that holds the text of a special token: the literal `"<|end|>"` has no proper tokenization. Such values and keys of a
schema are left out instead, and only a schema without other values is refused (`schema/reading/writable.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import groupby
from operator import itemgetter

from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import VocabularyError
from structgen.tokenization.configuration.added_tokens import AddedTokens
from structgen.tokenization.configuration.tokenizer_parts import Parts
from structgen.tokenization.pre_tokens.character_classes import composes
from structgen.tokenization.pre_tokens.split_guesses import Split, opened, options
from structgen.tokenization.unspellable.narrowed_terminals import Spellable

__all__ = ["Spelling"]

ASCII = "".join(map(chr, range(128)))
_HINT = "tokenization='any' writes it with any tokens that spell it"


class Spelling:
    """Checks whether one tokenizer can spell texts, before anything is generated.

    Args:
        parts: the parts of the tokenizer.
        vocabulary: its tokens.
        added: its added tokens.
    """

    def __init__(self, parts: Parts, vocabulary: Vocabulary, added: AddedTokens) -> None:
        self._parts = parts
        self._vocabulary = vocabulary
        self._added = added
        self._kept_characters: dict[str, bool] = {}  # results of `_keeps_character`

    @cached_property
    def spellable(self) -> Spellable:
        """The narrowing of grammars to texts that can be spelled."""
        texts = [text.encode() for token, text in self._parts.added.items() if token not in self._added.spelled]
        return Spellable(sorted(texts), self._may_keep, self._keeps_character if self._replacing else composes)

    @cached_property
    def _unspelled(self) -> re.Pattern[str] | None:
        """The regex of added tokens' texts that no text may hold."""
        texts = self.spellable.unspelled
        return re.compile("|".join(re.escape(text.decode()) for text in texts)) if texts else None

    @cached_property
    def _single_bytes(self) -> frozenset[int]:
        """The bytes that are tokens by themselves."""
        return frozenset(text[0] for text in self._vocabulary.spellings if len(text) == 1)

    @cached_property
    def _replacing(self) -> list[Split]:
        """The splits of what a normalizer replaces wherever it stands, without looking at the text around."""
        return [split for split in self._parts.replacing if not split.program.looks]

    def _replaces_nothing(self, text: str) -> bool:
        """Return whether the normalizer replaces and removes nothing in a text.

        Each splitter is run with all its guesses about where it cuts. If no guess is left at the end, it would have
        replaced a part of the text.
        """
        rows = list(self._parts.memberships(text))
        for split in self._replacing:
            guesses = {opened((split,))}
            for members in rows:
                if members is not None:
                    guesses = {after for guess in guesses for _, after in options((split,), guess, members)}
            if not guesses:
                return False
        return True

    def check_separators(self, whitespace: str, are_lines: bool) -> None:
        """Make sure that the white space between the values of JSON can be spelled.

        Args:
            whitespace: see `SchemaArguments`.
            are_lines: whether values stand in lines of their own.

        Raises:
            VocabularyError: the white space cannot be spelled.
        """
        if whitespace == "single" and not self._keeps(" "):
            raise VocabularyError(
                "the tokenizer cannot spell the spaces of whitespace='single'", hint="whitespace='compact' has none"
            )
        if are_lines:
            self.check_texts(["\n"])

    def check_inserted(self) -> None:
        """Make sure that the space that the tokenizer inserts after some added tokens can be spelled.

        Raises:
            VocabularyError: it has no tokens, or the pre-tokenizer removes it.
        """
        if any(opening.inserted for opening in self._parts.openings.values()) and not self._keeps(" "):
            raise VocabularyError("the tokenizer inserts a space that it cannot spell: that is not supported")

    def check_texts(self, texts: Iterable[str]) -> None:
        """Make sure that texts can be spelled.

        Raises:
            VocabularyError: a text holds the text of an added token, or a part that the tokenizer changes or that no
                tokens spell.
        """
        for text in texts:
            if (self._unspelled is not None and self._unspelled.search(text)) or not self._may_keep(text):
                raise VocabularyError(f"the tokenizer cannot spell {text!r}", hint=_HINT)

    def _keeps(self, text: str) -> bool:
        """Return whether the tokenizer has tokens for a text, and changes nothing in it."""
        if not all(map(self._keeps_character, text)) or (self._replacing and not self._replaces_nothing(text)):
            return False
        is_normal = self._parts.is_normal
        return is_normal is None or text.isascii() or is_normal(text)

    @cached_property
    def _in_added(self) -> frozenset[str]:
        """The characters of added tokens whose texts other tokens could not spell."""
        spelled = [self._parts.added[token] for token in self._added.spelled]
        return frozenset("".join(text for text in spelled if not self._keeps(text)))

    def _may_keep(self, text: str) -> bool:
        """Return whether `_keeps` holds for a text, or its other parts belong to added tokens."""
        if self._keeps(text):
            return True
        return not self._in_added.isdisjoint(text) and all(map(self._keeps, self._outside_added(text)))

    def _outside_added(self, text: str) -> list[str]:
        """Return the parts of a text that are in no text of an added token, whole or cut off at the text's ends."""
        is_outside = [True] * len(text)
        for token in self._added.spelled:
            added = self._parts.added[token]
            for start in range(1 - len(added), len(text)):
                first, last = max(start, 0), min(start + len(added), len(text))
                if text[first:last] == added[first - start : last - start]:
                    is_outside[first:last] = [False] * (last - first)
        runs = groupby(zip(text, is_outside, strict=True), key=itemgetter(1))
        return ["".join(character for character, _ in run) for outside, run in runs if outside]

    def _keeps_character(self, character: str) -> bool:
        known = self._kept_characters.get(character)
        if known is None:  # all of ASCII at once, because each call of `memberships` is slow
            characters = ASCII if character.isascii() else character
            for each, members in zip(characters, self._parts.memberships(characters), strict=True):
                data = each.encode(errors="ignore")
                has_tokens = bool(self._parts.pieces) or self._single_bytes.issuperset(data)
                is_kept = has_tokens and members is not None and not _removes(self._parts.splits, members)
                self._kept_characters[each] = is_kept and self._keeps_bytes(data)
            known = self._kept_characters[character]
        return known

    def _keeps_bytes(self, data: bytes) -> bool:
        """Return whether the splits that come after ByteLevel remove none of the bytes."""
        byte_splits = self._parts.byte_splits
        return byte_splits is None or not any(_removes(byte_splits.splits, byte_splits.members[byte]) for byte in data)


def _removes(splits: Iterable[Split], members: Sequence[bool]) -> bool:
    """Return whether a pre-tokenizer removes a character wherever it stands.

    Args:
        splits: the splits of the pre-tokenizer.
        members: for each class of the splits, whether the character is in it.
    """
    for split in splits:
        row = members[split.first_leaf :]
        if split.behavior == "gaps_removed" and not split.program.may_hold([row]):
            return True
        if split.behavior == "removed" and split.program.matches_alone(row):
            return True
    return False
