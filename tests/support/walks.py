"""Texts sampled under the mask of a compiled grammar, over any vocabulary, with odds that bring them to an end."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

import numpy as np

from structgen.engine.earley.item_sets import ItemSetStore
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.bitmask import allocate_token_bitmask
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import LimitExceededError, TokenRejectedError

__all__ = ["DeadEnd", "Sampler", "Walk", "byte_vocabulary"]

_CLOSING = b'"}]>'
_OPENING = b"[{,"
_PATIENCE = 40  # bytes of a string that does not end by itself, until its end is searched for
_SEARCHED = 3000  # Earley sets looked at in that search
_STRING = re.compile(rb'"((?:[^"\\]|\\.)*)"')
_PRINTABLE = bytes(byte for byte in range(32, 127) if byte not in b'"\\')


class DeadEnd(AssertionError):
    """No token is allowed, nor the end."""


def byte_vocabulary() -> Vocabulary:
    """One token for each byte, and an end token."""
    return Vocabulary.from_bytes({**{byte: bytes([byte]) for byte in range(256)}, 256: b""}, eos_token_ids=(256,))


@dataclass(frozen=True)
class Walk:
    """A text, or the beginning of one: `finished` tells."""

    text: bytes
    finished: bool


class Sampler:
    """Samples texts under the masks of grammars over one vocabulary.

    Args:
        vocabulary: with at least one end token.
        longest: bytes after which a walk is given up.
        late: bytes after which a text is brought to its end: quotes and closing brackets become likely.
        repeats: how often a string begins as an earlier one of the text, whole: keys and items that must differ. Half
            of the walks then make long arrays and objects.
    """

    def __init__(self, vocabulary: Vocabulary, *, longest: int = 1500, late: int = 120, repeats: float = 0.0) -> None:
        self.vocabulary = vocabulary
        self.longest = longest
        self.late = late
        self.repeats = repeats
        spellings = [vocabulary.token_bytes(token) or b"" for token in range(vocabulary.size)]
        self._spellings = spellings
        self._is_end = np.zeros(vocabulary.size, dtype=bool)
        self._is_end[list(vocabulary.eos_token_ids)] = True
        self._flat = np.ones(vocabulary.size)
        self._early = np.array([_odds(text, 6.0, 1.0) for text in spellings])
        self._wide = np.array([_odds(text, 1.0, 8.0) for text in spellings]) if repeats else self._early
        self._late = np.array([_odds(text, 2000.0, 0.002) for text in spellings])
        self._mask = allocate_token_bitmask(1, vocabulary.size)

    def walk(
        self, compiled: CompiledGrammar, rng: random.Random, needed: tuple[bytes, ...] = (), letters: bytes = b""
    ) -> Walk:
        """One text.

        Args:
            compiled: the grammar.
            rng: chance.
            needed: contents of JSON strings without which a text may not end, such as required keys in any order: late
                strings are these where they may be.
            letters: bytes that patterns ask for: late, they are likely.

        Raises:
            DeadEnd: the mask is empty before the end.
        """
        matcher = Matcher(compiled)
        written, string = bytearray(), StringLength()
        last, searched = self._late.copy(), _PATIENCE
        last[[token for token, text in enumerate(self._spellings) if len(text) == 1 and text in letters]] = 2000.0
        first = self._flat if rng.random() < 0.25 else rng.choice((self._early, self._wide))
        while len(written) < self.longest:
            matcher.fill_next_token_bitmask(self._mask, 0)
            allowed = np.unpackbits(self._mask.view(np.uint8)[0], bitorder="little")[: self.vocabulary.size]
            allowed = allowed.astype(bool)
            may_end = bool((allowed & self._is_end).any())
            tokens = np.flatnonzero(allowed & ~self._is_end)
            is_late = len(written) >= self.late
            if may_end and (not len(tokens) or is_late or rng.random() < 0.4):
                return Walk(bytes(written), True)
            if not len(tokens):
                raise DeadEnd(f"a dead end after {bytes(written)!r}")
            # What never opens a bracket may be stuck: where it has to, chance takes turns.
            is_stuck = len(written) > 6 * self.late and len(written) // 60 % 2
            token = self._choose(tokens, last if is_late and not is_stuck else first, rng)
            matcher.accept_token(token)
            written += self._spellings[token]
            string.read(self._spellings[token])
            if string.length == 1:
                further = _whole_string(matcher, needed, rng) if is_late and rng.random() < 0.9 else b""
                if not further and rng.random() < self.repeats:
                    further = _earlier_string(matcher, written, rng)
                written += further
                string.read(further)
            if is_late and string.length > searched:
                ending = shortest_ending(compiled, written)
                searched *= 1 if ending else 4
                matcher.accept_bytes(ending)
                written += ending
                string.read(ending)
        return Walk(bytes(written), False)

    @staticmethod
    def _choose(tokens: np.ndarray, odds: np.ndarray, rng: random.Random) -> int:
        summed = np.cumsum(odds[tokens])
        return int(tokens[min(np.searchsorted(summed, rng.random() * summed[-1]), len(tokens) - 1)])


class StringLength:
    """Counts the bytes of the JSON string that a growing text is in."""

    def __init__(self) -> None:
        self.length = 0  # with the opening quote; 0 outside of strings
        self._is_escaped = False

    def read(self, text: bytes) -> None:
        """Goes on by some bytes."""
        for byte in text:
            if self._is_escaped:
                self._is_escaped = False
            elif byte == 0x22:
                self.length = -1 if self.length else 0
            elif byte == 0x5C:
                self._is_escaped = True
            self.length += 1 if self.length or byte == 0x22 else 0


def _whole_string(matcher: Matcher, contents: tuple[bytes, ...], rng: random.Random) -> bytes:
    """Goes on with one of the strings, its closing quote included; with nothing where none is let through."""
    for content in rng.sample(contents, len(contents)):
        try:
            matcher.accept_bytes(content + b'"')
        except TokenRejectedError:
            continue
        return content + b'"'
    return b""


def _earlier_string(matcher: Matcher, text: bytearray, rng: random.Random) -> bytes:
    """Goes on with the content of an earlier string, if there is one and the grammar lets it through."""
    earlier = _STRING.findall(text)
    again = bytes(rng.choice(earlier)) if earlier else b""
    try:
        matcher.accept_bytes(again)
    except TokenRejectedError:
        return b""
    return again


def shortest_ending(compiled: CompiledGrammar, text: bytes | bytearray) -> bytes:
    """The shortest text that ends the JSON string in which a text breaks off; nothing where none was found.

    For patterns that ask for something that chance never writes. Only printable ASCII is tried.
    """
    try:
        return _search_ending(compiled.sets, text)
    except LimitExceededError:  # the matcher drops sets by itself; this does not
        return b""


def _search_ending(sets: ItemSetStore, text: bytes | bytearray) -> bytes:
    place = sets.start_set
    for byte in text:
        place = sets.goto(place, byte)
    before: dict[int, tuple[int, int]] = {place: (place, 0)}
    queue = [place]
    for here in queue:
        if sets.goto(here, 0x22):
            path = bytearray(b'"')
            while here != place:
                here, byte = before[here]
                path.append(byte)
            return bytes(reversed(path))
        for byte in _PRINTABLE if len(before) < _SEARCHED else b"":
            there = sets.goto(here, byte)
            if there and there not in before:
                before[there] = (here, byte)
                queue.append(there)
    return b""


def _odds(text: bytes, closing: float, opening: float) -> float:
    """How likely a token is: rare for control characters and beyond ASCII, so that ASCII is met often enough."""
    if not text:
        return 1.0
    odds = 1.0
    if text.isspace():
        odds = 0.05 * opening
    elif any(byte < 32 or byte > 126 for byte in text):
        odds = 0.02 if len(text) == 1 else 0.2
    if text[-1] in _CLOSING:
        odds *= closing
    if text[-1] in _OPENING or (closing > 10 and text[-1] == 0x5C):
        odds *= opening
    return odds
