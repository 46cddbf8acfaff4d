"""Schemas outside the document, by URI: those of the caller's registry, and the official metaschemas.

Nothing is fetched. A `referencing.Registry` returns schemas that it holds, or that the caller's own function retrieves.
The `referencing` package is imported only when a reference leaves the document, as few do.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urljoin

from structgen.errors import SchemaError
from structgen.schema.reading.plain_data import plain_data

if TYPE_CHECKING:
    from referencing import Registry

__all__ = ["Library", "closed", "without_fragment"]


class Library:
    """The schemas outside a document.

    Args:
        registry: the caller's registry; it takes precedence over the official metaschemas.
    """

    def __init__(self, registry: Registry[Any] | None = None) -> None:
        self._given = registry
        self._registry: Registry[Any] | None = None
        self._plain: dict[str, Any] = {}  # by URI: contents that are not in Python's own types

    def contents(self, uri: str) -> Any:
        """Return the schema of a URI without fragment; None if there is none.

        Raises:
            SchemaError: the registry holds something that is not a schema.
        """
        if self._registry is None:
            specifications = _specifications()
            self._registry = specifications if self._given is None else specifications.combine(self._given)
        try:
            retrieved = self._registry.get_or_retrieve(uri)
        except _missing():
            return None
        except _UNREADABLE as error:
            raise _unreadable(self._registry, uri, error) from error
        self._registry = retrieved.registry
        found = retrieved.value.contents
        plain = plain_data(found)
        return found if plain is found else self._plain.setdefault(uri, plain)


_UNREADABLE = (AttributeError, TypeError, ValueError, RecursionError)
"""Raised by registries for contents that are not schemas."""


def _unreadable(registry: Registry[Any], uri: str, error: Exception) -> SchemaError:
    """Return the error for a registry that fails at a URI. A registry reads all of its documents at once."""
    from referencing import Registry

    empty: Registry[Any] = Registry()
    for name in registry:
        try:
            empty.with_resource(name, registry[name]).crawl()
        except _UNREADABLE as found:
            uri, error = name, found
            break
    message = f"the registry cannot be read: its document {uri!r} is not a schema ({error})"
    return SchemaError(message, pointer="", keyword="$ref")


def _specifications() -> Registry[Any]:
    """Return the official metaschemas."""
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    specifications: Registry[Any] = REGISTRY
    return specifications


@cache
def _missing() -> tuple[type[Exception], ...]:
    """Return the exceptions that registries raise for unknown URIs."""
    from referencing.exceptions import CannotDetermineSpecification, NoSuchResource, Unretrievable

    return NoSuchResource, Unretrievable, CannotDetermineSpecification


def without_fragment(base: str, reference: str) -> str:
    """Return the URI that a reference names relative to a base URI, without its fragment."""
    return base if reference.startswith("#") else urldefrag(urljoin(base, reference))[0]


def _uri(base: str, reference: str) -> str | None:
    """Return the same as `without_fragment`; None for a text that is no URI, which `refs.py` refuses if it matters."""
    try:
        return without_fragment(base, reference)
    except ValueError:
        return None


def closed(schema: Any, registry: Registry[Any], base_uri: str = "") -> Registry[Any]:
    """Return a registry of only those schemas of another registry that a schema may reach.

    Every string under a reference keyword counts as a reference, wherever it is. The schema means the same with the
    result; it is smaller, and later changes of the other registry do not affect it.

    Args:
        schema: the schema.
        registry: the other registry.
        base_uri: the URI that the schema comes from.

    Raises:
        SchemaError: the registry holds something that is not a schema.
    """
    found: dict[str, Any] = {}
    tried: set[str] = set()
    work = [(schema, base_uri)]
    while work:
        contents, base = work.pop()
        for uri in _mentioned(contents, base):
            if uri in tried:
                continue
            tried.add(uri)
            try:
                retrieved = registry.get_or_retrieve(uri)
            except _missing():
                continue
            except _UNREADABLE as error:
                raise _unreadable(registry, uri, error) from error
            registry = retrieved.registry
            found[uri] = retrieved.value
            work.append((retrieved.value.contents, uri))
    from referencing import Registry

    empty: Registry[Any] = Registry()
    return empty.with_resources(found.items())


def _mentioned(schema: Any, base: str) -> Iterator[str]:
    """Yield the URIs that references in a schema may name, by the rules of all drafts (`$id`, draft 4's `id`)."""
    stack: list[tuple[Any, tuple[str, str]]] = [(schema, (base, base))]
    while stack:
        value, outer = stack.pop()
        if isinstance(value, dict):
            names = value.get("$id"), value.get("id")
            new, old = (
                _uri(around, name) or around if isinstance(name, str) else around
                for around, name in zip(outer, names, strict=True)
            )
            for keyword in ("$ref", "$dynamicRef", "$schema"):
                reference = value.get(keyword)
                if isinstance(reference, str) and not reference.startswith("#"):
                    yield from filter(None, [_uri(around, reference) for around in {*outer, new, old}])
            stack.extend((child, (new, old)) for child in value.values())
        elif isinstance(value, list):
            stack.extend((child, outer) for child in value)
