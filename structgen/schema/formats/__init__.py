"""Exact regexes, over decoded text, of the formats of JSON Schema and of the texts that Pydantic reads.

Each format has one regex of the texts that it surely accepts. They pass both `jsonschema`'s checker and Pydantic; where
the two, or the RFC, differ, the common part is taken. Some formats have a second, wider regex of the texts that any
reader might accept (`Language.outer`). Texts between the two are offered neither for the format nor under `not`:

    {"format": "date"}            offers 2024-02-29
    {"not": {"format": "date"}}   offers 2024-02-30, as no reader accepts it
    neither                       offers 0000-01-01: a date in RFC 3339, not in Python

These texts lie between the two regexes:

- `date`, `date-time`: the year 0000. `time`, `date-time`: leap seconds (Python's checkers refuse them);
- `hostname`, `idn-hostname`: A-labels (`xn--…`), which must be decoded first; long U-labels, which must be encoded;
- `email`, `idn-email`: every text with an `@`, as `jsonschema` accepts all of them;
- `regex`: syntax of only one of ECMA-262 and Python; groups nested deeper than `regexes.MAX_GROUP_DEPTH`;
- `uri`, `iri` and their references: hosts such as `[V1.x]` with a capital V;
- `uri-template`: characters such as spaces and quotes, reserved operators;
- `relative-json-pointer`: index manipulation of a later draft.

by_name         the table of known formats
dates, network, mail, idn, uris, pointers, encodings, regexes    the regexes, by area
time_ranges     times between two bounds
parts           pieces of regexes that several formats share
idn_characters, idn_tables    the characters of internationalized labels, and Unicode's tables of them

Names that begin with `x-` are our own. `structgen/schema/pydantic/` gives them to types whose texts differ from the
standard's format.
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
"""Formats of OpenAPI and Pydantic that restrict nothing here. No warning is given for them."""

REFUSED = frozenset({"directory-path", "file-path"})
"""Formats that a validator enforces but that cannot be expressed here: they ask a file system."""

UNSUPPORTED = "x-unsupported"
"""Prefix of a format for a Pydantic type that cannot be expressed. A keyword follows, and a reason if there is one."""


@lru_cache(maxsize=1024)
def language(name: str) -> Language | None:
    """Return the texts of a format, or None for an unknown format."""
    from structgen.schema.formats import by_name  # many schemas name no format

    regex = by_name.regex(name)
    return Language(f"format {name}", regex, by_name.outer_regex(name)) if regex is not None else None
