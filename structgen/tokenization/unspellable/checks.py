"""Which texts a tokenizer can spell at all, and the refusal of what names others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import VocabularyError
from structgen.limits import Limits
from structgen.schema.algebra import Language
from structgen.tokenization.configuration.added_tokens import AddedTokens
from structgen.tokenization.configuration.tokenizer_parts import Parts
from structgen.tokenization.pre_tokens.character_classes import composes
from structgen.tokenization.pre_tokens.split_guesses import Split, opened, options
from structgen.tokenization.unspellable.narrowed_terminals import Spellable

__all__ = ["Spelling"]

ASCII = "".join(map(chr, range(128)))
_HINT = "tokenization='any' writes it by what tokens there are"


class Spelling:
    """Looks at texts and patterns before anything is generated.

    Args:
        parts: of the tokenizer,
        vocabulary: and its tokens,
        added: those of them that are found in a text before all else.
    """

    def __init__(self, parts: Parts, vocabulary: Vocabulary, added: AddedTokens) -> None:
        self._parts = parts
        self._vocabulary = vocabulary
        self._added = added
        self._kept_characters: dict[str, bool] = {}

    @cached_property
    def spellable(self) -> Spellable:
        """Takes what cannot be spelled out of grammars."""
        texts = [text.encode() for token, text in self._parts.added.items() if token not in self._added.spelled]
        return Spellable(sorted(texts), self._may_keep, self._keeps_character if self._replacing else composes)

    @cached_property
    def _unspelled(self) -> re.Pattern[str] | None:
        """Finds texts of added tokens that no text holds."""
        texts = self.spellable.unspelled
        return re.compile("|".join(re.escape(text.decode()) for text in texts)) if texts else None

    @cached_property
    def _single_bytes(self) -> frozenset[int]:
        return frozenset(text[0] for text in self._vocabulary.spellings if len(text) == 1)

    @cached_property
    def _replacing(self) -> list[Split]:
        """What is replaced wherever it stands: no look goes beyond."""
        return [split for split in self._parts.replacing if not split.program.looks]

    def _is_left(self, text: str) -> bool:
        """Whether nothing in a text is replaced or taken away."""
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
        """Makes sure that what stands between the values of JSON can be spelled.

        Args:
            whitespace: see `SchemaArguments`.
            are_lines: whether values stand in lines of their own.

        Raises:
            VocabularyError: it cannot.
        """
        if whitespace == "single" and not self._keeps(" "):
            raise VocabularyError(
                "the tokenizer cannot spell the spaces of whitespace='single'", hint="whitespace='compact' has none"
            )
        if are_lines:
            self.check_texts(["\n"])

    def check_texts(self, texts: Iterable[str]) -> None:
        """Makes sure that texts can be spelled.

        Raises:
            VocabularyError: one holds an added token's text, or what the tokenizer changes or has no tokens for.
        """
        for text in texts:
            if (self._unspelled is not None and self._unspelled.search(text)) or not self._keeps(text):
                raise VocabularyError(f"the tokenizer cannot spell {text!r}", hint=_HINT)

    def check_languages(self, languages: Iterable[Language], limits: Limits) -> None:
        """Makes sure that each has a text that can be spelled, as far as `Spellable` knows.

        Raises:
            VocabularyError: one has none.
        """
        for language in languages:
            narrowed = self.spellable.terminal(language.regex)
            if narrowed is not language.regex and AutomatonStore(limits).is_empty(narrowed):
                pattern = language.name.partition(" ")[2]
                raise VocabularyError(f"the tokenizer cannot spell a text of the pattern {pattern!r}", hint=_HINT)

    def _keeps(self, text: str) -> bool:
        """Whether the tokenizer has tokens for a text, and changes nothing in it."""
        if not all(map(self._keeps_character, text)) or (self._replacing and not self._is_left(text)):
            return False
        is_normal = self._parts.is_normal
        return is_normal is None or text.isascii() or is_normal(text)

    @cached_property
    def _in_added(self) -> frozenset[str]:
        """The characters of added tokens whose texts could not be spelled otherwise."""
        spelled = [self._parts.added[token] for token in self._added.spelled]
        return frozenset("".join(text for text in spelled if not self._keeps(text)))

    def _may_keep(self, text: str) -> bool:
        """The same of a text that may be part of an added token's."""
        return not self._in_added.isdisjoint(text) or self._keeps(text)

    def _keeps_character(self, character: str) -> bool:
        known = self._kept_characters.get(character)
        if known is None:  # all of ASCII at once: to ask takes time
            characters = ASCII if character.isascii() else character
            for each, members in zip(characters, self._parts.memberships(characters), strict=True):
                data = each.encode(errors="ignore")
                has_tokens = bool(self._parts.pieces) or self._single_bytes.issuperset(data)
                is_kept = has_tokens and members is not None and not _takes_away(self._parts.splits, members)
                self._kept_characters[each] = is_kept and self._keeps_bytes(data)
            known = self._kept_characters[character]
        return known

    def _keeps_bytes(self, data: bytes) -> bool:
        """Whether no split behind ByteLevel takes one of some bytes away."""
        behind = self._parts.behind
        return behind is None or not any(_takes_away(behind.splits, behind.members[byte]) for byte in data)


def _takes_away(splits: Iterable[Split], members: Sequence[bool]) -> bool:
    """Whether a pre-tokenizer takes a character away wherever it stands."""
    return any(
        (split.behavior == "gaps_removed" and not any(members[split.first_leaf :][: len(split.program.leaves)]))
        or (split.behavior == "removed" and not split.program.looks and not _may_stay(split, members))
        for split in splits
    )


def _may_stay(split: Split, members: Sequence[bool]) -> bool:
    """Whether a text may begin with a character."""
    return any(True for _ in options((split,), opened((split,)), members))
