"""The terminals of `%import common.…`, as regexes in the syntax that Rust and Python share.

They are those of Lark's own `common.lark`. `ESCAPED_STRING` ends at the first quote that is not escaped, which is the
result of Lark's lexer there.
"""

from __future__ import annotations

__all__ = ["COMMON", "COMMON_IN_LLGUIDANCE"]

_INT = "[0-9]+"
_DECIMAL = r"(?:[0-9]+\.[0-9]*|\.[0-9]+)"
_EXPONENT = "(?:[eE][+-]?[0-9]+)"
_FLOAT = f"(?:{_INT}{_EXPONENT}|{_DECIMAL}{_EXPONENT}?)"
_LETTER = "[A-Za-z]"
_LINE_END = r"[^\n]*"

COMMON: dict[str, str] = {
    "DIGIT": "[0-9]",
    "HEXDIGIT": "[0-9A-Fa-f]",
    "INT": _INT,
    "SIGNED_INT": f"[+-]?{_INT}",
    "DECIMAL": _DECIMAL,
    "_EXP": _EXPONENT,
    "FLOAT": _FLOAT,
    "SIGNED_FLOAT": f"[+-]?{_FLOAT}",
    "NUMBER": f"(?:{_FLOAT}|{_INT})",
    "SIGNED_NUMBER": f"[+-]?(?:{_FLOAT}|{_INT})",
    "ESCAPED_STRING": r'"(?:[^"\\\n]|\\[^\n])*"',
    "LCASE_LETTER": "[a-z]",
    "UCASE_LETTER": "[A-Z]",
    "LETTER": _LETTER,
    "WORD": f"{_LETTER}+",
    "CNAME": "[A-Za-z_][A-Za-z_0-9]*",
    "WS_INLINE": r"[ \t]+",
    "WS": r"[ \t\f\r\n]+",
    "CR": r"\r",
    "LF": r"\n",
    "NEWLINE": r"(?:\r?\n)+",
    "SH_COMMENT": f"#{_LINE_END}",
    "CPP_COMMENT": f"//{_LINE_END}",
    "SQL_COMMENT": f"--{_LINE_END}",
    "C_COMMENT": r"/\*(?:[^*]|\*+[^*/])*\*+/",
}

COMMON_IN_LLGUIDANCE: dict[str, str] = {"ESCAPED_STRING": r'"(?:[^"\\]|\\[^\n])*"'}
"""The terminals with another regex in llguidance (1.9.1, tried)."""
