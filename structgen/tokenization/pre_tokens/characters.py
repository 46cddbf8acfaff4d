"""The bytes of characters in UTF-8: how many there are, and how the first ones go on (RFC 3629)."""

from __future__ import annotations

__all__ = ["character_length", "completions_of", "is_last", "may_follow"]


def is_last(prefix: bytes) -> bool:
    """Return whether one byte completes a partial character."""
    return bool(prefix) and len(prefix) + 1 == character_length(prefix)


def character_length(text: bytes) -> int:
    """Return the number of bytes of a character, by its first one."""
    lead = text[0]
    return 1 if lead < 0xC2 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4 if lead < 0xF5 else 1


def completions_of(prefix: bytes) -> tuple[int, int]:
    """Return the code points of the first and the last character that begin with some bytes."""
    missing = character_length(prefix) - len(prefix)
    least = next(byte for byte in range(0x80, 0xC0) if may_follow(prefix, byte))
    most = next(byte for byte in range(0xBF, 0x7F, -1) if may_follow(prefix, byte))
    first = prefix + bytes([least]) + b"\x80" * (missing - 1)
    last = prefix + bytes([most]) + b"\xbf" * (missing - 1)
    return ord(first.decode()), ord(last.decode())


def may_follow(prefix: bytes, byte: int) -> bool:
    """Return whether a byte may follow the first bytes of a character; or, after none, begin one (RFC 3629)."""
    if not prefix:
        return character_length(bytes([byte])) > 1
    if len(prefix) > 1:
        return 0x80 <= byte < 0xC0
    low = {0xE0: 0xA0, 0xF0: 0x90}.get(prefix[0], 0x80)
    high = {0xED: 0x9F, 0xF4: 0x8F}.get(prefix[0], 0xBF)
    return low <= byte <= high
