"""Exact regexes, over decoded text, for the formats of JSON Schema and for what Pydantic reads.

What a format here lets through passes both `jsonschema`'s checker and Pydantic; where the two, or the RFC, differ,
the common part is taken. What lies between that part and the widest reading of the format is neither in the format
nor outside of it (`Language.outer`): under `not` it is not offered either. These are the gaps:

- `date`, `date-time`: the year 0000. `time`, `date-time`: leap seconds (Python's checkers refuse them);
- `hostname`, `idn-hostname`: A-labels (`xn--…`), which have to be decoded; long U-labels, which have to be encoded;
- `email`, `idn-email`: to `jsonschema` anything with an `@` is an address;
- `regex`: what only one of ECMA-262 and Python reads; groups nested deeper than `regexes.GROUP_DEPTH`;
- `uri-template`: operators that are kept for later; `relative-json-pointer`: a later draft's index manipulation.

by_name         the formats that are known
dates, network, mail, idn, uris, pointers, encodings, regexes    the regexes, by area

Names that begin with `x-` are our own, given by `sources` for types whose texts differ from the standard's format.
"""

from __future__ import annotations

from functools import lru_cache

from structgen.schema.algebra import Language

__all__ = ["ANNOTATIONS", "REFUSED", "UNSUPPORTED", "language"]

ANNOTATIONS = frozenset(
    {
        "binary", "byte", "char", "decimal", "double", "double-int", "float", "int16", "int32", "int64", "int8",
        "password", "path", "uint16", "uint32", "uint64", "uint8",
    }
)  # fmt: skip
"""Formats of OpenAPI and Pydantic that narrow nothing here; no warning is given for them."""

REFUSED = frozenset({"directory-path", "file-path"})
"""Formats that a validator enforces and that are not expressed here: they ask a file system."""

UNSUPPORTED = "x-unsupported"
"""A format that begins with this names, after a space, what `sources` found that cannot be expressed."""


@lru_cache(maxsize=1024)
def language(name: str) -> Language | None:
    """The texts of a format, or None when it is not known."""
    from structgen.schema.formats import by_name  # many schemas name no format

    regex = by_name.regex(name)
    return Language(f"format {name}", regex, by_name.outer_regex(name)) if regex is not None else None
