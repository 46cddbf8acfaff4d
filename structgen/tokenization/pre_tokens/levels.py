"""A pre-tokenizer's splits on their two levels: of characters, and, behind ByteLevel, of their bytes.

Behind ByteLevel each byte is a character of its map (the last byte of "ò" is "²", which Rust takes for a digit), so a
split that stands there may cut within a character. What the splits of characters make of one is not known before its
last byte: whether they cut before it is guessed at its first one, as far as the splits of bytes have to know it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from structgen.tokenization.pre_tokens.split_guesses import FRESH, Guess, Split, is_settled, may_end, opened, options

__all__ = ["ByteSplits", "Levels", "OneLevel", "TwoLevels"]

Members: TypeAlias = tuple[bool, ...]
"""Whether a character is of each class of some splits."""

CONTINUATION = 0x80  # the least byte that continues a character
SIX_BITS = 0x3F  # that each of them has of it


@dataclass(frozen=True, slots=True)
class ByteSplits:
    """The splits behind ByteLevel.

    Attributes:
        splits: in their order.
        members: of each of the 256 bytes the memberships of the character that stands for it.
    """

    splits: tuple[Split, ...]
    members: tuple[Members, ...]


class OneLevel:
    """Splits of characters alone: guesses are those of `pre_tokenizers`, and steps the memberships of characters."""

    def __init__(self, splits: Sequence[Split]) -> None:
        self._splits = splits

    def opened(self, opening: Split | None = None) -> Any:
        """See `pre_tokenizers.opened`."""
        return opened(self._splits, opening)

    def options(self, guess: Any, step: Any) -> Iterator[tuple[bool, Any]]:
        """See `pre_tokenizers.options`."""
        return options(self._splits, guess, step)

    def may_end(self, guess: Any) -> bool:
        """See `pre_tokenizers.may_end`."""
        return may_end(self._splits, guess)

    def is_settled(self, guess: Any) -> bool:
        """See `pre_tokenizers.is_settled`."""
        return is_settled(self._splits, guess)

    def is_waiting(self, guess: Any) -> bool:
        """Whether something has to fail yet for a guess to come true."""
        return any(doomed for _, doomed in guess)


class _Step(NamedTuple):
    """One byte of a text.

    Attributes:
        character: the memberships of the character that it ends; None where it ends none.
        byte: its own.
        is_first: whether it begins a character.
    """

    character: Members | None
    byte: Members
    is_first: bool


class _Guess(NamedTuple):
    """A guess for both levels.

    Attributes:
        cuts: within a character whether the splits of characters cut before it; None between two.
        characters: what is guessed of them, before the character.
        bytes: what is guessed of the splits of bytes.
    """

    cuts: bool | None
    characters: Guess
    bytes: Guess


class TwoLevels:
    """Splits of characters, and of the bytes of their pieces: steps are bytes."""

    def __init__(self, splits: Sequence[Split], behind: ByteSplits) -> None:
        self._splits = splits
        self._behind = behind.splits
        self._members = behind.members

    def opened(self, opening: Split | None = None) -> _Guess:
        """See `pre_tokenizers.opened`."""
        return _Guess(None, opened(self._splits, opening), opened(self._behind))

    def options(self, guess: _Guess, step: _Step) -> Iterator[tuple[bool, _Guess]]:
        """See `pre_tokenizers.options`: what can be guessed about the border before a byte."""
        cuts, characters, before = guess
        if step.is_first != (cuts is None):
            return  # the bytes are no UTF-8
        for cut_here, within, after in self._of_characters(cuts, characters, step.character):
            for is_cut, below in options(self._behind, before, step.byte, step.is_first and cut_here):
                yield is_cut, _Guess(within, after, below)

    def _of_characters(
        self, cuts: bool | None, guess: Guess, members: Members | None
    ) -> Iterator[tuple[bool, bool | None, Guess]]:
        """Whether they cut before the character, as far as that has come true; `cuts` and their guess from then on."""
        if members is not None:
            for is_cut, after in options(self._splits, guess, members):
                if cuts is None or is_cut == cuts:
                    yield is_cut, None, after
        elif cuts is not None:
            yield cuts, cuts, guess
        else:
            yield False, False, guess
            if any(state != FRESH for state in guess):
                yield True, True, guess

    def may_end(self, guess: _Guess) -> bool:
        """See `pre_tokenizers.may_end`."""
        is_between = guess.cuts is None
        return is_between and may_end(self._splits, guess.characters) and may_end(self._behind, guess.bytes)

    def is_settled(self, guess: _Guess) -> bool:
        """See `pre_tokenizers.is_settled`."""
        is_between = guess.cuts is None
        return is_between and is_settled(self._splits, guess.characters) and is_settled(self._behind, guess.bytes)

    def is_waiting(self, guess: _Guess) -> bool:
        """Whether something has to fail yet for a guess to come true."""
        return any(doomed for _, doomed in (*guess.characters, *guess.bytes))

    def inner(self, prefix: bytes) -> _Step:
        """The last byte of the beginning of a character."""
        return _Step(None, self._members[prefix[-1]], len(prefix) == 1)

    def ends(self, code: int, found: Iterable[Members | None]) -> list[_Step | None]:
        """The last bytes of some characters that follow one another.

        Args:
            code: the first one's code.
            found: the memberships of all; None for those that no proper text holds.
        """
        return [
            None if members is None else _Step(members, self._members[_last_byte(number)], number < CONTINUATION)
            for number, members in enumerate(found, code)
        ]


def _last_byte(code: int) -> int:
    """The last byte of a character."""
    return code if code < CONTINUATION else CONTINUATION | code & SIX_BITS


Levels: TypeAlias = OneLevel | TwoLevels
