"""Where a subschema is: its place in a document, and the scope that its meaning depends on.

A *resource* is a schema with a URI of its own. A *scope* is what the meaning of a subschema depends on beside its
text: the resource that it is in, and, for `$dynamicRef` and `$recursiveRef`, the resources that were entered on the
way to it. Of these only the first that has each dynamic anchor matters, so that there are finitely many scopes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from structgen.schema.reading.dialects import Dialect

__all__ = ["ROOT", "Location", "Resource", "Scope", "Subschema", "pointer"]


Location = tuple[Any, str] | None
"""A place in a document, as a linked list from the end of its JSON pointer; None is the root, and `((), uri)` that of
another document. It may be as long as a schema is deep, and tuples are freed without recursion."""

ROOT: Location = None


@dataclass(frozen=True, eq=False)
class Resource:
    """A schema with a URI of its own, or a document's root.

    Attributes:
        uri: absolute, where it says so; "" for a root without a URI.
        contents: the schema.
        place: where it is.
        dialect: its draft.
    """

    uri: str
    contents: Any
    place: Location
    dialect: Dialect


@dataclass(frozen=True)
class Scope:
    """What a subschema's meaning depends on beside its text.

    Attributes:
        resource: the resource that it is in.
        dialect: its draft.
        entered: for each dynamic anchor the URI of the outermost resource entered that has it; sorted. Empty where
            scopes are not followed.
        left: the same as `jsonschema` has it, which sees only the resources that a reference led out of.
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
        place: where it is.
        scope: what holds around it.
    """

    schema: Any
    place: Location
    scope: Scope


def pointer(place: Location) -> str:
    """The JSON pointer of a place, without `#`; in another document, behind its URI and `#`."""
    tokens: list[str] = []
    document = ""
    while place is not None:
        parent, token = place
        if parent == ():
            document = f"{token}#"
            break
        tokens.append(token.replace("~", "~0").replace("/", "~1"))
        place = parent
    return document + "".join(f"/{token}" for token in reversed(tokens))
