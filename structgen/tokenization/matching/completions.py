"""How tokens complete the character that another one leaves unfinished."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.tokenization.merges.merge_table import MergeTable
from structgen.tokenization.pre_tokens.character_classes import composes
from structgen.tokenization.pre_tokens.scanner import character_length, may_follow

__all__ = ["Completion", "Completions"]

FEW = 16  # places that are looked at, once ways of two kinds are found
MANY = 256  # and before


@dataclass(frozen=True, slots=True)
class Completion:
    """Ways to complete a token's last character by proper tokens.

    Attributes:
        texts: bytes of such tokens, for characters that a pre-tokenizer tells apart; letters first.
        last_tokens: the last token of each.
        exists: whether there is any way at all.
    """

    texts: tuple[bytes, ...]
    last_tokens: tuple[int, ...]
    exists: bool


NONE = Completion((), (), False)


class Completions:
    """The completions of a tokenizer's tokens, found when first asked for.

    Args:
        vocabulary: the tokens.
        merges: which of them may stand side by side.
        is_piece: whether the bytes of a character are a token, which byte tokens must not spell; None if they may.
        kind_of: what kind of character the pre-tokenizer takes some bytes for; -1 if no proper text holds them.
        may_compose: whether characters may be taken that may be composed with one before.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        merges: MergeTable,
        is_piece: Callable[[bytes], bool] | None,
        kind_of: Callable[[bytes], int],
        may_compose: bool,
    ) -> None:
        self._kind_of = kind_of
        self._may_compose = may_compose
        self._spellings = vocabulary.spellings
        self._merges = merges
        self._is_piece = is_piece
        self._known: dict[int, Completion] = {}
        self._endings_of: dict[bytes, list[tuple[int, bytes, tuple[bool, int] | None]]] = {}
        self._parts_of: dict[bytes, list[tuple[int, bytes]]] = {}
        self._by_size: list[list[tuple[int, bytes]]] = [[], [], [], []]
        self._longer: list[tuple[int, bytes]] = []  # those that go on behind the character
        proper, size = merges.is_proper, len(merges.is_proper)
        for token, text in enumerate(self._spellings[:size]):
            if text and 0x80 <= text[0] < 0xC0 and proper[token]:
                is_whole = len(text) <= 3 and all(0x80 <= byte < 0xC0 for byte in text)
                (self._by_size[len(text)] if is_whole else self._longer).append((token, text))

    def of(self, token: int) -> Completion:
        """The completions of a token; that of a token that leaves no character unfinished is empty."""
        known = self._known.get(token)
        if known is None:
            known = self._known[token] = self._find(token)
        return known

    def _find(self, token: int) -> Completion:
        first = (token, unfinished(self._spellings[token]))
        if not first[1] or token >= len(self._merges.is_proper) or not self._merges.is_proper[token]:
            return NONE
        crosses = self._merges.crosses
        spelled = {first: b""}
        waiting = [first]
        found: dict[tuple[bool, int], tuple[bytes, int]] = {}
        exists = False
        for place in waiting:
            last, partial = place
            for other, text, form in self._endings(partial):
                if not crosses(last, other):
                    exists = True
                    if form is not None and form not in found:
                        found[form] = (spelled[place] + text, other)
            for other, text in self._parts(partial):
                behind = (other, partial + text)
                if behind not in spelled and not crosses(last, other):
                    spelled[behind] = spelled[place] + text
                    waiting.append(behind)
            if exists and len(spelled) > (FEW if len(found) > 1 else MANY):
                break
        if not exists:
            return self._find_longer(spelled)
        usual = [found[form] for form in sorted(found)]
        return Completion(tuple([text for text, _ in usual]), tuple([token for _, token in usual]), exists)

    def _endings(self, partial: bytes) -> list[tuple[int, bytes, tuple[bool, int] | None]]:
        """The tokens that end the character which some bytes begin, and how the pre-tokenizer tells it from others;
        None for one that had better not be taken.
        """
        known = self._endings_of.get(partial)
        if known is None:
            known = self._endings_of[partial] = []
            for other, text in self._by_size[character_length(partial) - len(partial)]:
                data = partial + text
                if may_follow(partial, text[0]) and not (self._is_piece is not None and self._is_piece(data)):
                    character, kind = data.decode(), self._kind_of(data)
                    is_usual = self._may_compose or not composes(character)
                    if kind >= 0:
                        known.append((other, text, (not character.isalpha(), kind) if is_usual else None))
        return known

    def _parts(self, partial: bytes) -> list[tuple[int, bytes]]:
        """The tokens that go on with the character which some bytes begin, and do not end it; the longest first."""
        known = self._parts_of.get(partial)
        if known is None:
            sizes = range(character_length(partial) - len(partial) - 1, 0, -1)
            known = self._parts_of[partial] = [
                (other, text) for size in sizes for other, text in self._by_size[size] if may_follow(partial, text[0])
            ]
        return known

    def _find_longer(self, spelled: dict[tuple[int, bytes], bytes]) -> Completion:
        """The same by way of tokens that end behind the character."""
        for (last, partial), before in spelled.items():
            missing = character_length(partial) - len(partial)
            for other, text in self._longer:
                character = partial + text[:missing]
                if _is_text(character) and not self._merges.crosses(last, other):
                    if self._kind_of(character) < 0 or (self._is_piece is not None and self._is_piece(character)):
                        continue
                    is_usual = not unfinished(text) and (self._may_compose or not composes(character.decode()))
                    return Completion((before + text,) * is_usual, (other,) * is_usual, True)
        return NONE


def unfinished(text: bytes) -> bytes:
    """The last bytes of a text that are the beginning of a character."""
    for size in range(1, min(len(text), 3) + 1):
        lead = text[-size]
        if lead >= 0xC0:
            return text[-size:] if character_length(text[-size:]) > size else b""
        if lead < 0x80:
            return b""
    return b""


def _is_text(data: bytes) -> bool:
    """Whether some bytes are a character."""
    return len(data) == character_length(data) and all(may_follow(data[:at], data[at]) for at in range(1, len(data)))
