"""The splits of a pre-tokenizer on two levels: of characters, and (after ByteLevel) of their bytes.

ByteLevel replaces each byte by a character of its byte alphabet. A split after it sees these characters, so it may cut
within a character of the text. In Falcon's tokenizer, Digits comes after ByteLevel:

    text          ò              é
    bytes         C3     B2      C3     A9
    alphabet      Ã      ²       Ã      ©
    Digits        Ã  |   ²  |    Ã      ©          `²` is a digit to Rust, so "ò" is cut in the middle

The splits of characters know a character only at its last byte. So at its first byte it is guessed whether they cut
before it, as far as the splits of bytes must know it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from structgen.tokenization.pre_tokens.split_guesses import FRESH, Guess, Split, is_settled, may_end, opened, options

__all__ = ["ByteSplits", "Levels", "OneLevel", "TwoLevels"]

Members: TypeAlias = tuple[bool, ...]
"""The memberships of a character: for each class of some splits, whether it is of the class."""

CONTINUATION = 0x80  # the least byte that continues a character
SIX_BITS = 0x3F  # the bits of a continuing byte that belong to the character


@dataclass(frozen=True, slots=True)
class ByteSplits:
    """The splits after ByteLevel.

    Attributes:
        splits: the splits, in their order.
        members: for each of the 256 bytes, the memberships of the character that stands for it.
    """

    splits: tuple[Split, ...]
    members: tuple[Members, ...]


class OneLevel:
    """Splits of characters alone. Guesses are those of `split_guesses`; a step is the memberships of a character."""

    def __init__(self, splits: Sequence[Split]) -> None:
        self._splits = splits

    def opened(self, opening: Split | None = None) -> Guess:
        """Apply `split_guesses.opened` to these splits."""
        return opened(self._splits, opening)

    def options(self, guess: Guess, step: Members) -> Iterator[tuple[bool, Guess]]:
        """Apply `split_guesses.options` to these splits."""
        return options(self._splits, guess, step)

    def may_end(self, guess: Guess) -> bool:
        """Apply `split_guesses.may_end` to these splits."""
        return may_end(self._splits, guess)

    def is_settled(self, guess: Guess) -> bool:
        """Apply `split_guesses.is_settled` to these splits."""
        return is_settled(self._splits, guess)

    def is_waiting(self, guess: Guess) -> bool:
        """Return whether something has to fail yet for a guess to come true."""
        return any(doomed for _, doomed in guess)


class _Step(NamedTuple):
    """A step of a run: a byte of a text.

    Attributes:
        character: the memberships of the character that it completes; None if it completes none.
        byte: its own memberships.
        is_first: whether it begins a character.
    """

    character: Members | None
    byte: Members
    is_first: bool


class _Guess(NamedTuple):
    """A guess for both levels.

    Attributes:
        cuts: within a character, whether the splits of characters cut before it; None between two characters.
        characters: the guess for the splits of characters, before the character.
        bytes: the guess for the splits of bytes.
    """

    cuts: bool | None
    characters: Guess
    bytes: Guess


class TwoLevels:
    """Splits of characters, and of the bytes of their pieces. A step is one byte."""

    def __init__(self, splits: Sequence[Split], byte_splits: ByteSplits) -> None:
        self._splits = splits
        self._byte_splits = byte_splits.splits
        self._members = byte_splits.members

    def opened(self, opening: Split | None = None) -> _Guess:
        """Apply `split_guesses.opened` to these splits."""
        return _Guess(None, opened(self._splits, opening), opened(self._byte_splits))

    def options(self, guess: _Guess, step: _Step) -> Iterator[tuple[bool, _Guess]]:
        """Yield the guesses about the border before a byte; see `split_guesses.options`."""
        cuts, characters, before = guess
        if step.is_first != (cuts is None):
            return  # the bytes are no UTF-8
        for cut_here, within, after in self._character_options(cuts, characters, step.character):
            for is_cut, below in options(self._byte_splits, before, step.byte, step.is_first and cut_here):
                yield is_cut, _Guess(within, after, below)

    def _character_options(
        self, cuts: bool | None, guess: Guess, members: Members | None
    ) -> Iterator[tuple[bool, bool | None, Guess]]:
        """Yield whether the splits of characters cut before the character, as far as known; `cuts`; and the guess."""
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
        """Apply `split_guesses.may_end` to these splits."""
        is_between = guess.cuts is None
        return is_between and may_end(self._splits, guess.characters) and may_end(self._byte_splits, guess.bytes)

    def is_settled(self, guess: _Guess) -> bool:
        """Apply `split_guesses.is_settled` to these splits."""
        is_between = guess.cuts is None
        return is_between and is_settled(self._splits, guess.characters) and is_settled(self._byte_splits, guess.bytes)

    def is_waiting(self, guess: _Guess) -> bool:
        """Return whether something has to fail yet for a guess to come true."""
        return any(doomed for _, doomed in (*guess.characters, *guess.bytes))

    def inner(self, prefix: bytes) -> _Step:
        """Return the step of the last byte of an unfinished character."""
        return _Step(None, self._members[prefix[-1]], len(prefix) == 1)

    def ends(self, code: int, found: Iterable[Members | None]) -> list[_Step | None]:
        """Return the steps of the last bytes of characters that follow one another.

        Args:
            code: the code point of the first one.
            found: the memberships of all; None for those that no proper text holds.
        """
        return [
            None if members is None else _Step(members, self._members[_last_byte(number)], number < CONTINUATION)
            for number, members in enumerate(found, code)
        ]


def _last_byte(code: int) -> int:
    """Return the last byte of a character."""
    return code if code < CONTINUATION else CONTINUATION | code & SIX_BITS


Levels: TypeAlias = OneLevel | TwoLevels
