"""JSON Pointers, absolute and relative."""

from __future__ import annotations

from structgen.engine.regex.tree import Chars, Literal, choice, optional, sequence, star
from structgen.schema.formats.parts import DIGIT, digit
from structgen.schema.json_text.numbers import integer_range
from structgen.schema.json_text.strings import byte_set

__all__ = ["JSON_POINTER", "MOVED_JSON_POINTER", "RELATIVE_JSON_POINTER"]

_SIGN = choice(
    Chars(((0, 0x2E), (0x30, 0x7D), (0x7F, 0xD7FF), (0xE000, 0x10FFFF))), sequence(Literal(b"~"), byte_set("01"))
)
JSON_POINTER = star(sequence(Literal(b"/"), star(_SIGN)))
"""RFC 6901."""
_UP = integer_range(0, None)
RELATIVE_JSON_POINTER = sequence(_UP, choice(Literal(b"#"), JSON_POINTER))
MOVED_JSON_POINTER = sequence(_UP, byte_set("+-"), digit(1, 9), star(DIGIT), optional(JSON_POINTER))
"""A later draft's pointers to siblings in an array, which `jsonschema` does not know."""
