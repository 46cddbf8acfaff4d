"""Which texts a tokenizer can spell at all, and the refusal of what names others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from structgen.engine.automata import AutomatonStore
from structgen.engine.vocabulary import Vocabulary
from structgen.errors import VocabularyError
from structgen.limits import Limits
from structgen.schema.algebra import Language
from structgen.tokenization.added_tokens import AddedTokens
from structgen.tokenization.pre_tokenizers import Split, opened, options
from structgen.tokenization.reading import Parts
from structgen.tokenization.spellable import Spellable

__all__ = ["Spelling"]

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

    @cached_property
    def spellable(self) -> Spellable | None:
        """Takes texts of added tokens that no text holds out of grammars; None where there are none."""
        texts = [text.encode() for token, text in self._parts.added.items() if token not in self._added.spelled]
        return Spellable(sorted(texts)) if texts else None

    @cached_property
    def _unspelled(self) -> re.Pattern[str] | None:
        """Finds them."""
        texts = self.spellable.unspelled if self.spellable is not None else ()
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

    def check_texts(self, texts: Iterable[str]) -> None:
        """Makes sure that texts can be spelled.

        Raises:
            VocabularyError: one holds an added token's text, or what the tokenizer changes or has no tokens for.
        """
        known: set[str] = set()
        for text in texts:
            characters = set(text) - known
            known |= characters
            if not self._spells(text, "".join(sorted(characters))):
                raise VocabularyError(f"the tokenizer cannot spell {text!r}", hint=_HINT)

    def check_languages(self, languages: Iterable[Language], limits: Limits) -> None:
        """Makes sure that each has a text that can be spelled, as far as added tokens go.

        Raises:
            VocabularyError: every text of one holds that of an added token.
        """
        if self.spellable is None:
            return
        for language in languages:
            narrowed = self.spellable.terminal(language.regex)
            if narrowed is not language.regex and AutomatonStore(limits).is_empty(narrowed):
                pattern = language.name.partition(" ")[2]
                raise VocabularyError(f"the tokenizer cannot spell a text of the pattern {pattern!r}", hint=_HINT)

    def _spells(self, text: str, characters: str) -> bool:
        """Whether a text can be spelled, some characters of which have not been looked at yet."""
        parts = self._parts
        if self._unspelled is not None and self._unspelled.search(text):
            return False
        if not parts.pieces and not self._single_bytes.issuperset(characters.encode(errors="ignore")):
            return False
        if characters and None in parts.memberships(characters):
            return False
        if self._replacing and not self._is_left(text):
            return False
        return parts.is_normal is None or parts.is_normal(text)
