"""Schema keywords of structgen's own."""

from __future__ import annotations

__all__ = ["REGEX_DIALECT", "SUBSTRING_OF"]


SUBSTRING_OF = "x-substring-of"
"""The keyword for substrings of a text. Its value is the text, or an object with a `text` and a `unit`."""


REGEX_DIALECT = "x-structgen-regex"
"""The keyword for the regex dialect of a `pattern`, put into schemas of types. Without it: ECMA-262."""
