"""Keywords of structgen's own, which `sources` writes into a schema and the readers of keywords understand."""

from __future__ import annotations

__all__ = ["REGEX_DIALECT", "SUBSTRING_OF"]


SUBSTRING_OF = "x-substring-of"
"""The keyword: a text, or an object with a `text` and a `unit`."""


REGEX_DIALECT = "x-structgen-regex"
"""The keyword by which `sources` says in which dialect a `pattern` is written; ECMA-262 without it."""
