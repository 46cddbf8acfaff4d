"""Pieces of regexes that several formats share: digits, letters, words, two-digit numbers."""

from __future__ import annotations

from structgen.engine.regex.tree import ByteSet, Literal, Regex, choice, repeat, sequence
from structgen.schema.json_text.strings import byte_set

__all__ = [
    "ALNUM", "COLON", "DIGIT", "DIGITS", "DOT", "HEX", "LETTER", "LETTERS", "LOWER", "MINUS", "any_case", "digit",
    "digits", "two", "words",
]  # fmt: skip

LOWER = "abcdefghijklmnopqrstuvwxyz"
LETTERS = LOWER + LOWER.upper()
DIGITS = "0123456789"
ALNUM = LETTERS + DIGITS

DIGIT = byte_set(DIGITS)
LETTER = byte_set(LETTERS)
HEX = byte_set(DIGITS + "abcdefABCDEF")
MINUS = Literal(b"-")
COLON = Literal(b":")
DOT = Literal(b".")


def digit(low: int, high: int) -> ByteSet:
    """Return one digit between two bounds."""
    return byte_set(DIGITS[low : high + 1])


def digits(count: int) -> Regex:
    """Return strings of exactly `count` digits."""
    return repeat(DIGIT, count, count)


def two(low: int, high: int) -> Regex:
    """Return the two-digit numbers between two bounds: 00 to 99."""
    parts: list[Regex] = []
    for tens in range(low // 10, high // 10 + 1):
        first, last = max(low, tens * 10) % 10, min(high, tens * 10 + 9) % 10
        parts.append(sequence(Literal(str(tens).encode()), digit(first, last)))
    return choice(*parts)


def words(*texts: str) -> Regex:
    """Return a choice of texts."""
    return choice(*(Literal(text.encode()) for text in texts))


def any_case(word: str) -> Regex:
    """Return an ASCII word with each letter in upper or lower case."""
    return sequence(*(byte_set(letter.lower() + letter.upper()) for letter in word))
