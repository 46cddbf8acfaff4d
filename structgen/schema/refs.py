"""Where `$ref` leads: JSON pointers, `$id`s and anchors of one document. Nothing is ever fetched."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from structgen.errors import SchemaError, UnsupportedSchemaError
from structgen.schema.dialects import Dialect

__all__ = ["ROOT", "Document", "Place", "pointer"]

Place = tuple[Any, str] | None
"""A place in a document, as a linked list from the end of its JSON pointer; None is the root."""

ROOT: Place = None

_NOT_SCHEMAS = frozenset({"const", "default", "enum", "example", "examples"})


def pointer(place: Place) -> str:
    """The JSON pointer of a place, without `#`."""
    tokens: list[str] = []
    while place is not None:
        place, token = place
        tokens.append(token.replace("~", "~0").replace("/", "~1"))
    return "".join(f"/{token}" for token in reversed(tokens))


class Document:
    """A schema and the places in it that references can name.

    Args:
        root: the whole schema.
        dialect: its draft.
    """

    def __init__(self, root: Any, dialect: Dialect) -> None:
        self.root = root
        self.dialect = dialect
        self._memo: dict[tuple[str, str], tuple[Any, Place]] = {}
        self._resources: dict[str, tuple[Any, Place]] | None = None
        self._anchors: dict[str, tuple[Any, Place]] = {}
        self._scopes: dict[int, str] = {}
        self._base = ""

    def resolve(self, reference: Any, holder: dict[str, Any], place: Place) -> tuple[Any, Place]:
        """The schema that a `$ref` names, and its place.

        Args:
            reference: the value of `$ref`.
            holder: the schema that holds it.
            place: where that is.

        Raises:
            SchemaError: there is nothing at that place, or the reference is no string.
            UnsupportedSchemaError: it lies outside of the document.
        """
        if not isinstance(reference, str):
            raise SchemaError("$ref must be a string", pointer=pointer(place), keyword="$ref")
        if self._resources is None:
            self._scan()
        scope = self._scopes.get(id(holder), self._base)
        found = self._memo.get((scope, reference))
        if found is None:
            found = self._memo[scope, reference] = self._find(reference, scope, place)
        return found

    def _find(self, reference: str, scope: str, place: Place) -> tuple[Any, Place]:
        resources = self._resources or {}
        uri, fragment = (scope, reference[1:]) if reference[:1] == "#" else urldefrag(urljoin(scope, reference))
        if uri not in resources:
            raise UnsupportedSchemaError(
                f"$ref {reference!r} lies outside of the schema",
                pointer=pointer(place),
                keyword="$ref",
                hint="copy what it names into $defs; nothing is fetched",
            )
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            anchor = self._anchors.get(f"{uri}#{fragment}")
            if anchor is None:
                raise SchemaError(f"$ref {reference!r} names no anchor", pointer=pointer(place), keyword="$ref")
            return anchor
        value, target = resources[uri]
        for token in fragment.split("/")[1:]:
            token = token.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and token in value:
                value = value[token]
            elif isinstance(value, list) and token.isascii() and token.isdigit() and int(token) < len(value):
                value = value[int(token)]
            else:
                raise SchemaError(f"$ref {reference!r} leads nowhere", pointer=pointer(place), keyword="$ref")
            target = (target, token)
        return value, target

    def _scan(self) -> None:
        """Finds `$id`s and anchors, and the scope of each schema below a nested `$id`.

        What stands under a keyword that is unknown is no schema, but is often used as one (`components/schemas`): its
        names count after all others.
        """
        self._resources = {"": (self.root, ROOT)}
        name = self.dialect.id_keyword
        if isinstance(self.root, dict) and isinstance(self.root.get(name), str):
            self._base = urldefrag(self.root[name])[0]
            self._resources[self._base] = (self.root, ROOT)
        stack: list[tuple[Any, Place, str, bool]] = [(self.root, ROOT, self._base, True)]
        later: list[tuple[Any, Place, str, bool]] = []
        while stack or later:
            if not stack:
                stack, later = later, stack
            value, place, scope, is_schema = stack.pop()
            if isinstance(value, list):
                stack.extend((item, (place, str(i)), scope, True) for i, item in enumerate(value))
            if not isinstance(value, dict):
                continue
            if is_schema:
                scope = self._register(value, place, scope)
                if scope != self._base:
                    self._scopes[id(value)] = scope
            for key, child in value.items():
                if isinstance(child, (dict, list)) and not (is_schema and key in _NOT_SCHEMAS):
                    # Under `properties` and its like, keys are names and not keywords.
                    holds_names = is_schema and key in _NAME_MAPS and isinstance(child, dict)
                    is_known = not is_schema or key in _NAME_MAPS or key in self.dialect.keywords
                    (stack if is_known else later).append((child, (place, key), scope, not holds_names))

    def _register(self, schema: dict[str, Any], place: Place, scope: str) -> str:
        """Notes the names of a schema; returns the scope of what is in it."""
        resources = self._resources
        name = schema.get(self.dialect.id_keyword)
        if resources is not None and isinstance(name, str) and place is not ROOT:
            overridden = self.dialect.ref_overrides and "$ref" in schema
            uri, fragment = urldefrag(urljoin(scope, name))
            if fragment and name.startswith("#"):
                self._anchors.setdefault(f"{scope}#{fragment}", (schema, place))
            elif not overridden:
                scope = uri
                resources.setdefault(uri, (schema, place))
        for keyword in ("$anchor", "$dynamicAnchor"):
            anchor = schema.get(keyword)
            if isinstance(anchor, str):
                self._anchors.setdefault(f"{scope}#{anchor}", (schema, place))
        return scope


_NAME_MAPS = frozenset({"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"})
