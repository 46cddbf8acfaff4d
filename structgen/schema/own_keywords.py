"""Schema keywords of structgen's own."""

from __future__ import annotations

__all__ = ["GRAMMAR", "JSON_CONTENT", "REGEX_DIALECT", "SUBSTRING_OF"]


JSON_CONTENT = "x-structgen-json"
"""The keyword for JSON inside a string, put into schemas of types. Its value is the schema of the inner value."""


GRAMMAR = "x-structgen-grammar"
"""The keyword for a grammar that the value of a string satisfies. `reading/grammars.py` has its forms."""


SUBSTRING_OF = "x-substring-of"
"""The keyword for substrings of a text. Its value is the text, or an object with a `text` and a `unit`."""


REGEX_DIALECT = "x-structgen-regex"
"""The keyword for the regex dialect of a `pattern`, put into schemas of types. Without it: ECMA-262."""
