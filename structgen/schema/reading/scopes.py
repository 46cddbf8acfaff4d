"""Locations of subschemas in a document, and the scopes that their meaning depends on.

A *resource* is a schema with a URI of its own. The meaning of a subschema depends on its text and its *scope*: the
resource that it is in and, for `$dynamicRef` and `$recursiveRef`, the resources that were entered on the way to it. Of
those, only the outermost one with each dynamic anchor matters, so there are finitely many scopes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from structgen.schema.reading.dialects import Dialect

__all__ = ["ROOT", "Location", "Resource", "Scope", "Subschema", "pointer"]


Location = tuple[Any, str] | None
"""The location of a subschema: the tokens of its JSON pointer as a linked list, last token first.

`((None, "properties"), "a")` is `/properties/a`. None is the root, and `((), uri)` the root of another document. The
list is as long as the schema is deep; tuples are freed without recursion."""

ROOT: Location = None


@dataclass(frozen=True, eq=False)
class Resource:
    """A schema with a URI of its own, or a document's root.

    Attributes:
        uri: its URI, absolute if the schema's is; "" for a root without one.
        contents: the schema.
        location: its location.
        dialect: its dialect.
    """

    uri: str
    contents: Any
    location: Location
    dialect: Dialect


@dataclass(frozen=True)
class Scope:
    """The context that a subschema's meaning depends on, besides its text.

    Attributes:
        resource: the resource that it is in.
        dialect: its dialect.
        entered: for each dynamic anchor, the URI of the outermost entered resource that has it; sorted. Empty where
            dynamic scopes are not followed.
        left: the same by the rules of `jsonschema`, which counts only resources that a reference led out of.
    """

    resource: Resource
    dialect: Dialect
    entered: tuple[tuple[str, str], ...] = ()
    left: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class Subschema:
    """A schema within a document.

    Attributes:
        schema: its text, as parsed.
        location: its location.
        scope: its scope.
    """

    schema: Any
    location: Location
    scope: Scope


def pointer(location: Location) -> str:
    """Return the JSON pointer of a location, without `#`; in another document, with its URI and `#` before it."""
    tokens: list[str] = []
    document = ""
    while location is not None:
        parent, token = location
        if parent == ():
            document = f"{token}#"
            break
        tokens.append(token.replace("~", "~0").replace("/", "~1"))
        location = parent
    return document + "".join(f"/{token}" for token in reversed(tokens))
