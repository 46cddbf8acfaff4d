"""Locations of subschemas in a document, and the dialects and scopes that their meaning depends on.

A *resource* is a schema with a URI of its own. The meaning of a subschema depends on its text and its *scope*: the
resource that it is in and, for `$dynamicRef` and `$recursiveRef`, the resources that were entered on the way to it. Of
those, only the outermost one with each dynamic anchor matters, so there are finitely many scopes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["ROOT", "Dialect", "Location", "Resource", "Scope", "Subschema", "pointer"]


Location = tuple[Any, str] | None
"""The location of a subschema: the tokens of its JSON pointer as a linked list, last token first.

`((None, "properties"), "a")` is `/properties/a`. None is the root, and `((), uri)` the root of another document. The
list is as long as the schema is deep; tuples are freed without recursion."""

ROOT: Location = None


@dataclass(frozen=True)
class Dialect:
    """A draft of JSON Schema, or the selection of its vocabularies that a metaschema makes.

    Attributes:
        name: "draft4", "draft6", "draft7", "2019-09", "2020-12"; "" for schemas without `$schema`.
        keywords: the keywords that assert something.
        id_keyword: the keyword that gives a schema a URI.
        ref_overrides: the keywords beside a `$ref` are ignored.
        has_item_lists: `items` may be a list.
        asserts_formats: `format` asserts, even if the caller's options say that it annotates.
        ignores: keywords of later drafts and misspelled ones, which assert nothing although their author may expect it.
    """

    name: str
    keywords: frozenset[str]
    id_keyword: str = "$id"
    ref_overrides: bool = False
    has_item_lists: bool = True
    asserts_formats: bool = False
    ignores: frozenset[str] = frozenset()

    def __hash__(self) -> int:
        """Return the hash of the name: that of all fields would take longer than comparing them."""
        return hash(self.name)


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
