"""Resolution of references: `$ref`, `$dynamicRef` and `$recursiveRef` to JSON pointers, `$id`s and anchors.

Dynamic scopes (`scopes.py`) are followed only in documents that have references which depend on them. The first such
reference raises `DynamicScopeNeeded`; the translation then starts again with `Document.is_dynamic` set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from structgen.errors import SchemaError, UnsupportedSchemaError
from structgen.schema.reading.dialects import dialect_of, dialect_within, is_guessed, says
from structgen.schema.reading.resources import Library
from structgen.schema.reading.scopes import ROOT, Dialect, Location, Resource, Scope, Subschema, pointer
from structgen.schema.schema_warnings import warn

if TYPE_CHECKING:
    from referencing import Registry

__all__ = [
    "FORMED",
    "NAME_MAPS",
    "NAMING",
    "REFERENCES",
    "CircleFound",
    "Document",
    "DynamicScopeNeeded",
    "bare_reference",
    "check_forms",
]

REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
NAMING = frozenset({"$id", "$schema", "id"})
"""Keywords that may give a subschema a URI or a draft of its own."""

FORMED = frozenset({"exclusiveMinimum", "exclusiveMaximum", "items"})
"""Keywords whose form depends on the draft."""

_MAX_DIGITS = 18  # of an index
_RECURSIVE = "#"  # stands for `$recursiveAnchor`; no anchor has this name
_OLD = frozenset({"draft4", "draft6", "draft7"})
NAME_MAPS = frozenset({"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"})
_NEW_HOLDERS = frozenset({"$defs", "contentSchema"})  # hold schemas since 2019-09, although they assert nothing
_VALUES = frozenset({"const", "enum", "required", "type", "dependentRequired"})  # hold values, never schemas


class DynamicScopeNeeded(Exception):
    """A reference depends on the dynamic scope, and scopes are not followed yet."""


class CircleFound(Exception):
    """A subschema refers to itself at the same value, and `Document.is_circular` is not set yet."""


def bare_reference(schema: dict[str, Any], dialect: Dialect) -> str | None:
    """Return the reference keyword of a schema that asserts nothing else; None for other schemas."""
    if REFERENCES.isdisjoint(schema):
        return None
    if dialect.ref_overrides:
        return "$ref" if "$ref" in schema else None
    asserting = [keyword for keyword in schema if keyword in dialect.keywords]
    return asserting[0] if len(asserting) == 1 and asserting[0] in REFERENCES else None


def check_forms(schema: dict[str, Any], dialect: Dialect, location: Location) -> None:
    """Refuse keywords in a form that other drafts have, and the schema's own draft does not.

    Raises:
        SchemaError: a keyword has such a form.
    """
    is_draft4 = dialect.name == "draft4"
    for keyword in ("exclusiveMinimum", "exclusiveMaximum"):
        if keyword in schema and keyword in dialect.keywords and isinstance(schema[keyword], bool) != is_draft4:
            form = "a boolean" if is_draft4 else "a number"
            raise _wrong_form(f"{keyword} must be {form}", dialect, location, keyword)
    if not dialect.has_item_lists and isinstance(schema.get("items"), list):
        raise _wrong_form("items must be a schema", dialect, location, "items")


def _wrong_form(message: str, dialect: Dialect, location: Location, keyword: str) -> SchemaError:
    return SchemaError(f"{message} in {dialect.name}", pointer=pointer(location), keyword=keyword)


_STANDARD = Library()


class Document:
    """A schema, and the schemas that references in it can name.

    Args:
        root: the whole schema.
        registry: schemas outside of the root.
        draft: the name of the root's draft, used if it has no known `$schema`; "" for the newest draft, with a warning
            if the `$schema` is unknown.
        base_uri: the URI that the root comes from.

    Attributes:
        dialect: the root's dialect.
        is_dynamic: whether dynamic scopes are followed.
        is_circular: a subschema is known to refer to itself at the same value, so values may be undecided.
    """

    def __init__(
        self,
        root: Any,
        registry: Registry[Any] | None = None,
        *,
        draft: str | None = None,
        base_uri: str = "",
    ) -> None:
        self.library = _STANDARD if registry is None else Library(registry)
        self.root = root
        self._draft = draft
        self.dialect = dialect_of(root, self.library.contents, draft=draft)
        if is_guessed(root, self.dialect):
            warn(f"the $schema {root['$schema']!r} is unknown: the schema is read as the newest draft")
        self.is_dynamic = self.is_circular = False
        self._inner: dict[int, Resource] = {}  # resources inside others, by the identity of their schemas
        self._resources: dict[str, Resource] = {}  # by URI
        self._plain: dict[Resource, Scope] = {}  # by resource: its scope, where dynamic scopes are not followed
        self._anchors: dict[tuple[str, str], Subschema] = {}  # by URI and name
        self._dynamic: dict[str, list[str]] = {}  # names of dynamic anchors, by URI
        # The pairs of URI and anchor that several schemas have; ("", URI) where several have the same URI.
        self._ambiguous: dict[tuple[str, str], None] = {}
        self._memo: dict[tuple[str, str, Scope], Subschema] = {}  # results of `resolve`
        uri = _own_uri(root, base_uri, self.dialect, ROOT)
        self._root = Resource(base_uri if uri is None else uri, root, ROOT, self.dialect)
        self._is_scanned = False

    @property
    def start(self) -> Scope:
        """The scope of the root."""
        return self._entering(Scope(self._root, self.dialect), self._root)

    def enter(self, schema: dict[str, Any], location: Location, scope: Scope) -> Scope:
        """Return the scope inside a subschema, which may have a URI or a draft of its own."""
        resource, dialect = self._inside(schema, location, scope.resource, scope.dialect)
        if resource is scope.resource:
            return scope if dialect is scope.dialect else replace(scope, dialect=dialect)
        return self._entering(scope, resource)

    def _inside(
        self, schema: dict[str, Any], location: Location, resource: Resource, dialect: Dialect
    ) -> tuple[Resource, Dialect]:
        """Return the resource and the dialect inside a schema, given those around it."""
        if schema is resource.contents:
            return resource, dialect
        if "$schema" in schema and not says(schema["$schema"], dialect):
            dialect = dialect_within(
                schema, dialect, self.library.contents, pointer=pointer(location), draft=self._draft
            )
        inner = self._inner.get(id(schema))
        if inner is None:
            uri = _own_uri(schema, resource.uri, dialect, location)
            if uri is None:
                return resource, dialect
            inner = self._inner[id(schema)] = Resource(uri, schema, location, dialect)
        return inner, dialect

    def follow_dynamic_scopes(self) -> None:
        """Record in scopes which resources were entered, from now on."""
        self.is_dynamic = True
        self._memo.clear()

    def resolve(self, keyword: str, schema: dict[str, Any], location: Location, scope: Scope) -> Subschema:
        """Return the schema that a reference names, with its location and the scope around it.

        Args:
            keyword: `$ref`, `$dynamicRef` or `$recursiveRef`.
            schema: the schema that holds the reference.
            location: the location of that schema.
            scope: the scope inside it.

        Raises:
            SchemaError: the reference names no schema, or is not a string.
            UnsupportedSchemaError: it names a schema outside the document and the registry.
            DynamicScopeNeeded: it depends on the dynamic scope, and scopes are not followed yet.
        """
        reference = schema[keyword]
        if not isinstance(reference, str):
            raise SchemaError(f"{keyword} must be a string", pointer=pointer(location), keyword=keyword)
        key = (keyword, reference, scope)
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = self._find(keyword, reference, location, scope)
        return found

    # --- finding -----------------------------------------------------------------------------------------------------

    def _find(self, keyword: str, reference: str, location: Location, scope: Scope) -> Subschema:
        """Compute what `resolve` returns."""
        failure = _Failure(keyword, reference, location)
        if keyword == "$recursiveRef" and reference != "#":
            raise SchemaError('$recursiveRef must be "#"', pointer=pointer(location), keyword=keyword)
        resource, fragment = self._resource(reference, scope, failure)
        scope = self._leaving(scope)
        if fragment and not fragment.startswith("/"):
            found = self._anchor(resource, fragment, scope, failure)
            if fragment in self._dynamic.get(resource.uri, ()):
                if keyword == "$dynamicRef":
                    found = self._dynamic_target(fragment, found, scope, failure)
                else:
                    self._check_plain(fragment, found, scope, failure)
        else:
            found = self._at(resource, fragment, scope, failure)
            if keyword == "$recursiveRef" and _is_recursive(resource):
                found = self._dynamic_target(_RECURSIVE, found, scope, failure)
        return self._checked(found, scope, failure)

    def _resource(self, reference: str, scope: Scope, failure: _Failure) -> tuple[Resource, str]:
        """Return the resource and the fragment that a reference names."""
        if reference.startswith("#"):
            return scope.resource, unquote(reference[1:])
        uri, fragment = urldefrag(_joined(scope.resource.uri, reference, failure.keyword, failure.location))
        self._scan_root()
        resource = self._resources.get(uri) or self._load(uri, scope.dialect)
        if resource is None:
            raise failure.outside()
        if ("", uri) in self._ambiguous:
            raise failure.error("names several schemas")
        return resource, unquote(fragment)

    def _load(self, uri: str, dialect: Dialect) -> Resource | None:
        """Load a schema of the library. Without a `$schema` it has the dialect of the schema that refers to it."""
        contents = self.library.contents(uri)
        if contents is None:
            return None
        location: Location = ((), uri)
        if isinstance(contents, dict):
            dialect = dialect_within(
                contents, dialect, self.library.contents, pointer=pointer(location), draft=self._draft
            )
        own = _own_uri(contents, uri, dialect, location)
        resource = self._resources.get(own) if own else None
        if resource is None or resource.contents is not contents:
            resource = Resource(own or uri, contents, location, dialect)
            self._scan(resource)
        self._resources[uri] = resource
        return resource

    def _anchor(self, resource: Resource, name: str, scope: Scope, failure: _Failure) -> Subschema:
        """Return the schema with an anchor."""
        self._scan_root()
        found = self._anchors.get((resource.uri, name))
        if found is None:
            raise failure.error("names an anchor that does not exist")
        if (resource.uri, name) in self._ambiguous:
            raise failure.error("names several schemas")
        return Subschema(found.schema, found.location, self._entering(scope, resource, found.scope.dialect))

    def _at(self, resource: Resource, path: str, scope: Scope, failure: _Failure) -> Subschema:
        """Return the schema at a JSON pointer, which may lead into other resources."""
        value, location, dialect = resource.contents, resource.location, resource.dialect
        is_schema = True
        for token in path.split("/")[1:]:
            if "~" in token:
                token = token.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and token in value:
                is_schema = not (is_schema and token in NAME_MAPS)
                value = value[token]
            elif isinstance(value, list) and _is_index(token) and int(token) < len(value):
                value = value[int(token)]
            else:
                raise failure.error("leads nowhere")
            location = (location, token)
            if is_schema and isinstance(value, dict) and not NAMING.isdisjoint(value):
                resource, dialect = self._inside(value, location, resource, dialect)
        return Subschema(value, location, self._entering(scope, resource, dialect))

    def _checked(self, target: Subschema, scope: Scope, failure: _Failure) -> Subschema:
        """Refuse a target of another draft that the validator would read by the draft of the reference."""
        schema, around = target.schema, target.scope
        if isinstance(schema, bool) or around.dialect == scope.dialect:
            return target
        if not any(isinstance(each, dict) and "$schema" in each for each in (schema, around.resource.contents)):
            raise failure.unsupported("leads into a schema of another draft, to a part that does not name its draft")
        return target

    # --- dynamic scopes ----------------------------------------------------------------------------------------------

    def _entering(self, scope: Scope, resource: Resource, dialect: Dialect | None = None) -> Scope:
        """Return the scope inside a resource."""
        if not self.is_dynamic:
            if dialect is not None and dialect is not resource.dialect:
                return Scope(resource, dialect)
            plain = self._plain.get(resource)
            if plain is None:
                plain = self._plain[resource] = Scope(resource, resource.dialect)
            return plain
        self._scan_root()
        entered = _with_anchors(scope.entered, self._dynamic.get(resource.uri, ()), resource.uri)
        if _is_recursive(resource):
            entered = _with_anchors(entered, (_RECURSIVE,), resource.uri)
        return Scope(resource, dialect or resource.dialect, entered, scope.left)

    def _leaving(self, scope: Scope) -> Scope:
        """Return the scope after a reference is followed, as `jsonschema` keeps it."""
        if not self.is_dynamic:
            return scope
        resource = scope.resource
        left = _with_anchors(scope.left, self._dynamic.get(resource.uri, ()), resource.uri)
        if _is_recursive(resource):
            left = _with_anchors(left, (_RECURSIVE,), resource.uri)
        else:  # `jsonschema` looks back no further than to here
            left = tuple(pair for pair in left if pair[0] != _RECURSIVE)
        return Scope(resource, scope.dialect, scope.entered, left)

    def _dynamic_target(self, name: str, found: Subschema, scope: Scope, failure: _Failure) -> Subschema:
        """Return the schema that a dynamic reference names in a scope, given the one that it names by itself."""
        if not self.is_dynamic:
            raise DynamicScopeNeeded
        own = found.scope.resource.uri
        uri = dict(found.scope.entered).get(name, own)
        if uri != dict(scope.left).get(name, own):
            raise failure.conflict()
        resource = self._resources.get(uri, self._root)
        if name == _RECURSIVE:
            return self._at(resource, "", scope, failure)
        target = self._anchor(resource, name, scope, failure)
        if uri != own and target.schema is not resource.contents and _refers(target.schema):
            raise failure.unsupported(
                "leads to references that jsonschema, which validates the answer, resolves otherwise"
            )
        return target

    def _check_plain(self, name: str, found: Subschema, scope: Scope, failure: _Failure) -> None:
        """Refuse a `$ref` to a dynamic anchor that `jsonschema` would resolve by the dynamic scope."""
        if sum(name in names for names in self._dynamic.values()) < 2:
            return
        if not self.is_dynamic:
            raise DynamicScopeNeeded
        own = found.scope.resource.uri
        if dict(scope.left).get(name, own) != own:
            raise failure.conflict()

    # --- names -------------------------------------------------------------------------------------------------------

    def _scan_root(self) -> None:
        """Scan the root when it is first needed: most schemas refer only to JSON pointers."""
        if not self._is_scanned:
            self._is_scanned = True
            self._scan(self._root)

    def _scan(self, root: Resource) -> None:
        """Record the resources and anchors of a document, where keywords hold subschemas."""
        self._resources[root.uri] = root
        stack: list[tuple[Any, Location, Resource, Dialect, bool]] = [
            (root.contents, root.location, root, root.dialect, True)
        ]
        while stack:
            value, location, resource, dialect, is_schema = stack.pop()
            if isinstance(value, list):
                stack.extend((item, (location, str(i)), resource, dialect, True) for i, item in enumerate(value))
            if not isinstance(value, dict):
                continue
            if is_schema:
                if not NAMING.isdisjoint(value):
                    resource, dialect = self._register(value, location, resource, dialect)
                self._note_anchors(value, location, resource, dialect)
            for key, child in value.items():
                if isinstance(child, (dict, list)) and (not is_schema or _holds_schemas(key, dialect)):
                    # Under `properties` and its like, keys are names and not keywords.
                    are_names = is_schema and key in NAME_MAPS and isinstance(child, dict)
                    stack.append((child, (location, key), resource, dialect, not are_names))

    def _register(
        self, schema: dict[str, Any], location: Location, resource: Resource, dialect: Dialect
    ) -> tuple[Resource, Dialect]:
        """Record the resource that a schema begins, if any; return the resource and the dialect inside the schema."""
        inner, dialect = self._inside(schema, location, resource, dialect)
        if self._resources.setdefault(inner.uri, inner).contents != inner.contents:
            self._ambiguous["", inner.uri] = None
        return inner, dialect

    def _note_anchors(self, schema: dict[str, Any], location: Location, resource: Resource, dialect: Dialect) -> None:
        """Record the anchors of one schema."""
        names = [schema.get("$anchor"), schema.get("$dynamicAnchor")] if dialect.name not in _OLD else []
        own = schema.get(dialect.id_keyword)
        if isinstance(own, str) and own.startswith("#") and (dialect.name in _OLD or not dialect.name):
            names.append(own[1:])  # an anchor in drafts 4 to 7
        for name in names:
            if isinstance(name, str):
                target = Subschema(schema, location, Scope(resource, dialect))
                if self._anchors.setdefault((resource.uri, name), target).schema != schema:
                    self._ambiguous[resource.uri, name] = None
        dynamic = schema.get("$dynamicAnchor")
        if isinstance(dynamic, str) and "$dynamicRef" in dialect.keywords:
            self._dynamic.setdefault(resource.uri, []).append(dynamic)


@dataclass(slots=True)
class _Failure:
    """The errors about one reference: each method makes one, and the caller raises it."""

    keyword: str
    reference: str
    location: Location

    def error(self, what: str) -> SchemaError:
        message = f"{self.keyword} {self.reference!r} {what}"
        return SchemaError(message, pointer=pointer(self.location), keyword=self.keyword)

    def unsupported(self, what: str, hint: str = "") -> UnsupportedSchemaError:
        message = f"{self.keyword} {self.reference!r} {what}"
        return UnsupportedSchemaError(message, pointer=pointer(self.location), keyword=self.keyword, hint=hint)

    def conflict(self) -> UnsupportedSchemaError:
        return self.unsupported(
            "names one schema by the standard and another for jsonschema, which validates the answer"
        )

    def outside(self) -> UnsupportedSchemaError:
        hint = "copy the schema into $defs, or pass it in a registry; nothing is fetched"
        return self.unsupported("lies outside of the schema", hint)


def _is_index(token: str) -> bool:
    """Return whether a token of a JSON pointer is a number, not longer than one of a list can be."""
    return token.isascii() and token.isdigit() and len(token) <= _MAX_DIGITS


def _joined(base: str, reference: str, keyword: str, location: Location) -> str:
    """Return the URI of a relative one.

    Raises:
        SchemaError: it is no URI, such as `http://[`.
    """
    try:
        urlsplit(reference)
        return urljoin(base, reference)
    except ValueError as error:
        message = f"{keyword} {reference!r} is no URI: {error}"
        raise SchemaError(message, pointer=pointer(location), keyword=keyword) from error


def _own_uri(schema: Any, base: str, dialect: Dialect, location: Location) -> str | None:
    """Return the URI that a schema gives itself; None if it has none.

    Raises:
        SchemaError: it is no URI.
    """
    if not isinstance(schema, dict) or (dialect.ref_overrides and "$ref" in schema):
        return None
    keyword = dialect.id_keyword
    name = schema.get(keyword)
    if name is not None and not isinstance(name, str):
        raise SchemaError(f"{keyword} must be a string", pointer=pointer(location), keyword=keyword)
    if name is None or name.startswith("#"):
        return None
    return urldefrag(_joined(base, name, keyword, location))[0]


def _is_recursive(resource: Resource) -> bool:
    """Return whether a resource has a `$recursiveAnchor` that counts in its draft."""
    return (
        isinstance(resource.contents, dict)
        and resource.contents.get("$recursiveAnchor") is True
        and "$recursiveRef" in resource.dialect.keywords
    )


def _refers(schema: Any) -> bool:
    """Return whether a schema may hold references."""
    stack = [schema]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if not REFERENCES.isdisjoint(value):
                return True
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    return False


def _with_anchors(known: tuple[tuple[str, str], ...], names: Any, uri: str) -> tuple[tuple[str, str], ...]:
    """Add names of anchors, all with one URI, to a table of names and URIs. Names that it has keep their URIs."""
    missing = dict.fromkeys(names, uri) | dict(known)
    return known if len(missing) == len(known) else tuple(sorted(missing.items()))


def _holds_schemas(keyword: str, dialect: Dialect) -> bool:
    """Return whether URIs and anchors are looked for below a keyword."""
    if keyword in _NEW_HOLDERS:
        return dialect.name not in _OLD
    return keyword == "definitions" or (keyword in dialect.keywords and keyword not in _VALUES)
