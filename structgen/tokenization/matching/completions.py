r"""Completions: sequences of tokens that complete the character which another token leaves unfinished.

A token may end within a character: ` \xe4\xb8` is a space and two of the three bytes of `中`. Its completions are
`\xad`, and others for characters that the pre-tokenizer tells apart: a letter, a symbol. Each token of a completion
must be proper after the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.tokenization.merges.merge_table import MergeTable
from structgen.tokenization.pre_tokens.character_classes import composes
from structgen.tokenization.pre_tokens.characters import character_length, may_follow

__all__ = ["Completion", "Completions"]

MAX_STEPS_ONCE_FOUND = 16  # partial characters that are looked at, once completions of two kinds are found
MAX_STEPS = 256  # before that
MAX_KEPT = 65_536  # completions
UNASSIGNED = 0xF1  # the least first byte of characters that are private, or in planes without letters
UNASSIGNED_ONLY = b"\xf1\xf2\xf4"  # first bytes of characters that are private, or in planes without characters


@dataclass(frozen=True, slots=True)
class Completion:
    """Ways to complete a token's last character by proper tokens.

    Attributes:
        texts: the bytes of the tokens, for each kind of character that the pre-tokenizer tells apart; letters first.
        last_tokens: the last token of each way.
        exists: whether there is any way, those left out of `texts` included.
    """

    texts: tuple[bytes, ...]
    last_tokens: tuple[int, ...]
    exists: bool


NONE = Completion((), (), False)


class Completions:
    """The completions of a tokenizer's tokens, found when first asked for.

    Args:
        vocabulary: the tokens.
        merges: the merges, which decide whether two tokens may stand side by side.
        is_piece: whether the bytes of a character are a token, so that byte tokens must not spell it; None if they may.
        kind_of: the number of the kind that the pre-tokenizer takes a character for; -1 if no proper text holds it.
        kind_of_all: the same of all characters that begin with some bytes; -1 if they differ, too.
        may_compose: whether the character may be one that is composed with one before it.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        merges: MergeTable,
        is_piece: Callable[[bytes], bool] | None,
        kind_of: Callable[[bytes], int],
        kind_of_all: Callable[[bytes], int],
        may_compose: bool,
    ) -> None:
        self._kind_of = kind_of
        self._kind_of_all = kind_of_all
        self._may_compose = may_compose
        self._spellings = vocabulary.spellings
        self._merges = merges
        self._is_piece = is_piece
        self._known: dict[tuple[int, bytes], Completion] = {}
        self._first: dict[tuple[int, bytes], tuple[bytes, int] | None] = {}
        self._endings_of: dict[bytes, list[tuple[int, bytes, tuple[bool, int] | None]]] = {}
        self._endings_of_kind: dict[tuple[int, int], list[tuple[int, bytes, tuple[bool, int] | None]]] = {}
        self._with_letters: dict[bytes, list[tuple[int, bytes, tuple[bool, int]]]] = {}
        self._parts_of: dict[bytes, list[tuple[int, bytes]]] = {}
        self._by_size: list[list[tuple[int, bytes]]] = [[], [], [], []]
        self._longer: list[tuple[int, bytes]] = []  # those that continue after the character
        proper, size = merges.is_proper, len(merges.is_proper)
        for token, text in enumerate(self._spellings[:size]):
            if text and 0x80 <= text[0] < 0xC0 and proper[token]:
                is_whole = len(text) <= 3 and all(0x80 <= byte < 0xC0 for byte in text)
                (self._by_size[len(text)] if is_whole else self._longer).append((token, text))

    def of(self, token: int) -> Completion:
        """Return the completions of a token; a token that leaves no character unfinished has an empty one."""
        return self.after(token, unfinished(self._spellings[token]))

    def after(self, token: int, partial: bytes) -> Completion:
        """Return the completions of a character that is unfinished at the end of a token.

        Args:
            token: the token.
            partial: the bytes of the character so far; earlier tokens may have the first ones.
        """
        key = (token, partial)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= MAX_KEPT:
                self._known.clear()
            known = self._known[key] = self._find(token, partial)
        return known

    def in_turn(self, token: int, partial: bytes) -> Iterator[tuple[bytes, int]]:
        """Yield the completions that `after` finds, each with its last token: one that is found soon, then all.

        Most often the first one leads on, and the others need not be found.

        Args:
            token: the token.
            partial: the bytes of the character so far.
        """
        first = self.first_after(token, partial)
        if first is not None:
            yield first
        found = self.after(token, partial)
        yield from zip(found.texts, found.last_tokens, strict=True)

    def first_after(self, token: int, partial: bytes) -> tuple[bytes, int] | None:
        """Return the first completion that `after` would find, and its last token; None if it is not found soon.

        Args:
            token: the token.
            partial: the bytes of the character so far.
        """
        key = (token, partial)
        if key not in self._first:
            if len(self._first) >= MAX_KEPT:
                self._first.clear()
            self._first[key] = self._find_first(token, partial)
        return self._first[key]

    def _find_first(self, token: int, partial: bytes) -> tuple[bytes, int] | None:
        if not partial or token >= len(self._merges.is_proper) or not self._merges.is_proper[token]:
            return None
        crosses = self._merges.crosses
        waiting = [(token, partial, b"")]
        for last, begun, spelled in waiting:
            for other, text, form in self._endings_in_turn(begun):
                if form is not None and not crosses(last, other):
                    return spelled + text, other
            if len(waiting) > MAX_STEPS_ONCE_FOUND:
                return None
            waiting += [
                (other, begun + text, spelled + text)
                for other, text in self._parts(begun)[:MAX_STEPS_ONCE_FOUND]
                if not crosses(last, other)
            ]
        return None

    def _find(self, token: int, partial: bytes) -> Completion:
        first = (token, partial)
        if not first[1] or token >= len(self._merges.is_proper) or not self._merges.is_proper[token]:
            return NONE
        crosses = self._merges.crosses
        spelled = {first: b""}
        waiting = [first]
        found: dict[tuple[bool, int], tuple[bytes, int]] = {}
        exists = False
        for step in waiting:
            last, partial = step
            for other, text, form in self._endings(partial):
                is_known = exists and (form is None or form in found)
                if not is_known and not crosses(last, other):
                    exists = True
                    if form is not None and form not in found:
                        found[form] = (spelled[step] + text, other)
            for other, text in self._parts(partial):
                following = (other, partial + text)
                if following not in spelled and not crosses(last, other):
                    spelled[following] = spelled[step] + text
                    waiting.append(following)
            is_enough = len(found) > 1 or (len(found) == 1 and partial[0] >= UNASSIGNED)
            if exists and len(spelled) > (MAX_STEPS_ONCE_FOUND if is_enough else MAX_STEPS):
                break
        if not exists:
            return self._find_longer(spelled)
        if first[1][0] < UNASSIGNED:
            for other, text, form in self._endings_with_letters(first[1]):
                if form not in found and not crosses(token, other):
                    found[form] = (text, other)
        usual = [found[form] for form in sorted(found)]
        return Completion(tuple([text for text, _ in usual]), tuple([token for _, token in usual]), exists)

    def _endings(self, partial: bytes) -> list[tuple[int, bytes, tuple[bool, int] | None]]:
        """Return the tokens that complete a character, and a form that the pre-tokenizer tells from others.

        Args:
            partial: the first bytes of the character.

        Returns:
            Token, its bytes, and the form; None for a character that may be composed with others.
        """
        known = self._endings_of.get(partial)
        if known is None:
            known = self._endings_of[partial] = self._find_endings(partial)
        return known

    def _find_endings(self, partial: bytes) -> list[tuple[int, bytes, tuple[bool, int] | None]]:
        missing = character_length(partial) - len(partial)
        if self._is_piece is None and len(partial) > 1 and partial[0] in UNASSIGNED_ONLY:
            kind = self._kind_of_all(partial)
            known = self._endings_of_kind.get((missing, kind))
            if known is None and kind >= 0:
                known = [(other, text, (True, kind)) for other, text in self._by_size[missing]]
                self._endings_of_kind[missing, kind] = known
            if known is not None:
                return known
        return list(self._each_ending(partial, missing))

    def _endings_in_turn(self, partial: bytes) -> Iterable[tuple[int, bytes, tuple[bool, int] | None]]:
        """Return the results of `_endings`. If they are not known yet, each is found when the caller gets to it."""
        is_known = partial in self._endings_of or partial[0] in UNASSIGNED_ONLY
        return (
            self._endings(partial) if is_known else self._each_ending(partial, character_length(partial) - len(partial))
        )

    def _each_ending(self, partial: bytes, missing: int) -> Iterator[tuple[int, bytes, tuple[bool, int] | None]]:
        """Yield the results of `_endings`, one by one.

        Args:
            partial: the first bytes of the character.
            missing: the number of its other bytes.
        """
        for other, text in self._by_size[missing]:
            data = partial + text
            if may_follow(partial, text[0]) and not (self._is_piece is not None and self._is_piece(data)):
                character, kind = data.decode(), self._kind_of(data)
                is_usual = self._may_compose or not composes(character)
                if kind >= 0:
                    yield other, text, (not character.isalpha(), kind) if is_usual else None

    def _parts(self, partial: bytes) -> list[tuple[int, bytes]]:
        """Return the tokens that continue a character without completing it; the longest first."""
        known = self._parts_of.get(partial)
        if known is None:
            sizes = range(character_length(partial) - len(partial) - 1, 0, -1)
            known = self._parts_of[partial] = [
                (other, text) for size in sizes for other, text in self._by_size[size] if may_follow(partial, text[0])
            ]
        return known

    def _endings_with_letters(self, partial: bytes) -> list[tuple[int, bytes, tuple[bool, int]]]:
        """Return the tokens that complete a character, with letters after it, all of them usual; see `_endings`."""
        known = self._with_letters.get(partial)
        if known is None:
            known = self._with_letters[partial] = []
            missing = character_length(partial) - len(partial)
            for other, text in self._longer:
                if _is_text(partial + text[:missing]) and not unfinished(text):
                    whole = (partial + text).decode(errors="replace")
                    kinds = [self._kind_of(character.encode()) for character in whole]
                    is_usual = min(kinds) >= 0 and (self._may_compose or not any(map(composes, whole)))
                    is_needed = self._is_piece is not None and self._is_piece(whole[0].encode())
                    if is_usual and not is_needed and whole[1:].isalpha():
                        known.append((other, text, (not whole[0].isalpha(), kinds[0])))
        return known

    def _find_longer(self, spelled: dict[tuple[int, bytes], bytes]) -> Completion:
        """Return a completion by a token that continues after the character, if no shorter one exists."""
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
    """Return the last bytes of a text that are the beginning of a character."""
    for size in range(1, min(len(text), 3) + 1):
        lead = text[-size]
        if lead >= 0xC0:
            begun = text[-size:]
            return begun if character_length(begun) > size and _may_stand(begun) else b""
        if lead < 0x80:
            return b""
    return b""


def _is_text(data: bytes) -> bool:
    """Return whether some bytes are a character."""
    return len(data) == character_length(data) and _may_stand(data)


def _may_stand(data: bytes) -> bool:
    """Return whether each byte may follow those before it in a character: not so in the half of a surrogate pair."""
    return all(may_follow(data[:at], data[at]) for at in range(1, len(data)))
