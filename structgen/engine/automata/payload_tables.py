"""Numbered tables of the large things in terms: character classes, sets of texts or integers, and suffix automata.

A term's payload is compared and hashed at every look-up of an equal term. So large things are kept here, each once, and
the payload holds only their number.
"""

from __future__ import annotations

from bisect import bisect_left

from structgen.engine.automata.remainder_sets import Choices, RemainderSet
from structgen.engine.automata.suffix_automaton import SuffixAutomaton
from structgen.engine.deadlines import spend
from structgen.engine.regex.utf8 import ByteRanges, byte_sequences

__all__ = ["BROKEN_CHARS", "OTHER_CHARS", "PayloadTables"]

# Declared as C integers in the .pxd, so not importable from here.
CLASS_BYTES = 600  # a class of characters with the regex that it was made of
SEQUENCE_BYTES = 450  # one of its byte sequences
TEXT_BYTES = 56  # a text of a table, but for its bytes

OTHER_CHARS = 1 << 128  # bit of an alphabet: all characters beyond ASCII
BROKEN_CHARS = 1 << 129  # bit of an alphabet: bytes that are not whole characters


class PayloadTables:
    """The character classes, text tables, remainder sets and suffix automata of one `TermTable`, each with a number.

    Attributes:
        sequences: by class, its byte sequences: the UTF-8 forms of its characters, whole or without their first bytes.
        class_cover: by class, the characters that are texts of it by themselves; see `Alphabets.cover`.
        class_alphabet: by class, the characters that its texts may hold; see `Alphabets.alphabet`.
        texts: by table, its texts, sorted and distinct.
        suffix_automata: by number, the suffix automaton.
        remainder_sets: by number, the set of integers.
        bytes_used: estimated memory of all of them.
    """

    def __init__(self) -> None:
        self.sequences: list[tuple[ByteRanges, ...]] = []
        self.class_cover: list[int] = []
        self.class_alphabet: list[int] = []
        self.texts: list[tuple[bytes, ...]] = []
        self.suffix_automata: list[SuffixAutomaton] = []
        self.remainder_sets: list[RemainderSet] = []
        self.bytes_used = 0
        self._class_of_sequences: dict[tuple[ByteRanges, ...], int] = {}
        self._class_of_ranges: dict[tuple[tuple[int, int], ...], int] = {}
        self._table_of: dict[tuple[bytes, ...], int] = {}
        self._suffix_automaton_of: dict[tuple[bytes, ...], int] = {}
        self._remainder_set_of: dict[Choices, int] = {}

    def class_of_ranges(self, ranges: tuple[tuple[int, int], ...]) -> int:
        """Return the number of the class of some code points; -1 if none of them has a UTF-8 form (surrogates).

        Args:
            ranges: sorted and disjoint, both ends included.
        """
        number = self._class_of_ranges.get(ranges, -1)
        if number < 0:
            sequences = byte_sequences(ranges)
            if not sequences:
                return -1
            cover = sum([((2 << min(b, 127)) - (1 << a)) for a, b in ranges if a < 128])
            alphabet = cover | OTHER_CHARS
            if _holds_all_other_chars(ranges):
                cover = alphabet
            number = self._class_of_ranges[ranges] = self.add_class(sequences, cover, alphabet)
        return number

    def add_class(self, sequences: tuple[ByteRanges, ...], cover: int, alphabet: int) -> int:
        """Return the number of a class of byte sequences; add it if it is new.

        Args:
            sequences: the class.
            cover: the characters that are texts of it by themselves; see `Alphabets.cover`.
            alphabet: the characters that its texts may hold; see `Alphabets.alphabet`.
        """
        number = self._class_of_sequences.get(sequences)
        if number is None:
            number = self._class_of_sequences[sequences] = len(self.sequences)
            self.sequences.append(sequences)
            self.class_cover.append(cover)
            self.class_alphabet.append(alphabet)
            self.bytes_used += CLASS_BYTES + SEQUENCE_BYTES * len(sequences)
        return number

    def add_table(self, texts: tuple[bytes, ...]) -> int:
        """Return the number of a table of texts; add it if it is new. The table is sorted and has no duplicates."""
        number = self._table_of.get(texts)
        if number is None:
            if not _are_in_order(texts):
                return self.add_table(tuple(sorted(set(texts))))
            number = self._table_of[texts] = len(self.texts)
            self.texts.append(texts)
            for index in range(len(texts)):
                self.bytes_used += TEXT_BYTES + len(texts[index])
        return number

    def table_size(self, number: int) -> int:
        """Return the number of texts in a table."""
        return len(self.texts[number])

    def rows_by_byte(self, number: int, low: int, high: int, depth: int) -> list[tuple[int, int, int]]:
        """Return the bytes that come next in the texts `low` to `high - 1` of a table after their first `depth` bytes.

        Returns:
            For each such byte: the byte, the first text with it, and the one after the last: a bisection finds it.
        """
        texts = self.texts[number]
        if len(texts[low]) == depth:
            low += 1
        found: list[tuple[int, int, int]] = []
        prefix = texts[low][:depth] if low < high else b""
        while low < high:
            byte = texts[low][depth]
            after = bisect_left(texts, prefix + bytes((byte + 1,)), low, high) if byte < 255 else high
            found.append((byte, low, after))
            low = after
        return found

    def rests_by_byte(self, number: int) -> list[tuple[ByteRanges, ...]]:
        """Return for each byte what follows it in the byte sequences of a class; empty if none begins with it."""
        rests: list[list[ByteRanges]] = [[] for _ in range(256)]
        for sequence in self.sequences[number]:
            low, high = sequence[0]
            for byte in range(low, high + 1):
                rests[byte].append(sequence[1:])
        return [tuple(rest) for rest in rests]

    def add_suffix_automaton(self, units: tuple[bytes, ...]) -> int:
        """Return the number of the suffix automaton of a text, given as units such as words; make it if it is new."""
        units = tuple([unit for unit in units if unit])
        number = self._suffix_automaton_of.get(units)
        if number is None:
            made = SuffixAutomaton(units)  # may pass a limit: nothing is stored before
            number = self._suffix_automaton_of[units] = len(self.suffix_automata)
            self.suffix_automata.append(made)
            self.bytes_used += made.bytes_used
        return number

    def add_remainder_set(self, choices: Choices) -> int:
        """Return the number of a set of integers; make it if it is new. `Remainders` says what the choices are."""
        number = self._remainder_set_of.get(choices)
        if number is None:
            made = RemainderSet(choices)  # may pass a limit: nothing is stored before
            number = self._remainder_set_of[choices] = len(self.remainder_sets)
            self.remainder_sets.append(made)
            self.bytes_used += made.bytes_used
        return number

    def suffix_bytes(self) -> int:
        """Return the estimated memory of all suffix automata, in bytes."""
        return sum([automaton.bytes_used for automaton in self.suffix_automata])


def _are_in_order(texts: tuple[bytes, ...]) -> bool:
    """Return whether texts are sorted and distinct."""
    for index in range(1, len(texts)):
        if not index & 1023:
            spend(1024)
        if texts[index - 1] >= texts[index]:
            return False
    return True


def _holds_all_other_chars(ranges: tuple[tuple[int, int], ...]) -> bool:
    """Return whether the ranges, sorted and disjoint, hold every Unicode scalar value beyond ASCII."""
    at = 128
    for low, high in ranges:
        if low > at:
            return False
        at = max(at, high + 1)
        if 0xD800 <= at <= 0xDFFF:
            at = 0xE000
    return at > 0x10FFFF
