"""Regexes of JSON Pointers, absolute (RFC 6901) and relative (the draft of Relative JSON Pointers).

`/a~1b/0` is absolute; `1/c` and `0#` are relative.
"""

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
"""RFC 6901, section 3."""
_UP = integer_range(0, None)
RELATIVE_JSON_POINTER = sequence(_UP, choice(Literal(b"#"), JSON_POINTER))
"""Draft Relative JSON Pointers 01: a number of levels to go up, then `#` or a pointer."""
MOVED_JSON_POINTER = sequence(_UP, byte_set("+-"), digit(1, 9), star(DIGIT), optional(JSON_POINTER))
"""Pointers to siblings in an array, of a later draft. `jsonschema` does not accept them."""
