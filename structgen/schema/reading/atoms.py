"""The atoms of a schema document: its subschemas, numbered as they are reached.

`Atoms.node` returns the node of a subschema (`algebra/nodes.py`): its number, or that of the schema that it refers to.
Flat subschemas of equal content have one number, wherever they stand:

    {"a": {"type": "integer"}, "b": {"type": "integer"}, "c": {"$ref": "#/$defs/d"}, "d": {"allOf": []}}
          node (2,)                 node (2,)                 the node of its target      node (3,)
"""

from __future__ import annotations

import reprlib
from collections.abc import Hashable
from typing import Any

from structgen.engine.deadlines import spend
from structgen.errors import LimitExceededError, SchemaError, UnsupportedSchemaError
from structgen.limits import Limits
from structgen.schema.algebra import ANY, NONE, AnyOf, Node, Shape
from structgen.schema.algebra.nodes import MAY_LEAVE_UNDECIDED
from structgen.schema.reading.dialects import ANNOTATIONS, MEANT
from structgen.schema.reading.refs import NAMING, REFERENCES, Document, bare_reference
from structgen.schema.reading.scopes import ROOT, Dialect, Location, Scope, Subschema, pointer
from structgen.schema.reading.shape_cache import Content, flat_content
from structgen.schema.schema_warnings import warn_of_keyword

__all__ = ["Atoms", "too_deep"]

_LEADING = NAMING | REFERENCES
"""Keywords that may lead to another scope, or to another subschema."""

_WORDS_OF_KEYWORD = 3  # in a `Content`


class Atoms:
    """Numbers the subschemas of a document.

    Args:
        document: the schema.
        limits: `schema_nodes` bounds the atoms, `schema_depth` the references that are followed one after the other.
        common: the known shapes of flat subschemas, by content.
        shapes: gets those of them that the document has, by node.

    Attributes:
        scope: the scope of the subschema that is being read.
    """

    def __init__(
        self,
        document: Document,
        limits: Limits,
        common: dict[Content, Shape],
        shapes: dict[Node, Shape],
    ) -> None:
        self.scope = document.start
        self._document = document
        self._dialect = document.dialect
        self._limits = limits
        self._max_nodes = limits.schema_nodes
        self._common = common
        self._shapes = shapes
        self._subschemas = [Subschema(True, ROOT, self.scope)] * 2  # by number; 1 is the schema `true`, and 0 no atom
        self._counted_from = 0  # atoms before that one do not count any more
        self._contents: dict[int, Content] = {}  # keywords of flat subschemas, by atom
        self._flat: dict[Content, Node] = {}  # nodes of flat subschemas
        self._others: dict[Hashable, Node] = {}  # nodes of other subschemas, by identity and scope

    def node(self, schema: Any, location: Location) -> Node:
        """Return the node of a subschema in the scope.

        Flat subschemas of equal content are one node, and so are a `$ref` and its target.
        """
        return self._node(schema, location, self.scope)

    def target(self, keyword: str, schema: dict[str, Any], location: Location) -> Node:
        """Return the node that a reference names."""
        target = self._document.resolve(keyword, schema, location, self.scope)
        return self._node(target.schema, target.location, target.scope)

    def _node(self, schema: Any, location: Location, scope: Scope) -> Node:
        if schema is True:
            return ANY
        if schema is False:
            return NONE
        if not isinstance(schema, dict):
            raise _no_schema(location)
        keywords = schema  # compiled, its type is known, unlike that of an argument
        for key in keywords:
            if key in _LEADING:
                return self._followed(schema, location, scope)
        return self._number(schema, location, scope)

    def _followed(self, schema: Any, location: Location, scope: Scope) -> Node:
        """Return the node of a subschema that may have a URI, a draft or a reference."""
        followed: list[tuple[int, Scope]] = []
        for _ in range(self._limits.schema_depth):
            if not isinstance(schema, dict):
                return self._node(schema, location, scope)
            if not NAMING.isdisjoint(schema):
                scope = self._document.enter(schema, location, scope)
            node = self._others.get(_identity(schema, scope))
            if node is not None:
                return node
            keyword = bare_reference(schema, scope.dialect)
            if keyword is None:
                return self._number(schema, location, scope)
            try:
                target = self._document.resolve(keyword, schema, location, scope)
            except UnsupportedSchemaError:  # raised again, or dropped, when its shape is computed
                return self._number(schema, location, scope)
            schema, location, scope = target.schema, target.location, target.scope
            if (id(schema), scope) in followed:  # references in a circle
                return self._number(schema, location, scope)
            followed.append((id(schema), scope))
        raise too_deep(self._limits.schema_depth, location)

    def _number(self, schema: dict[str, Any], location: Location, scope: Scope) -> Node:
        """Return the node of a subschema that is its own atom."""
        spend(1)  # not only new atoms take time: there may be 100,000 properties of one type
        dialect = scope.dialect
        content = flat_content(schema, dialect)
        found = self._others.get(_identity(schema, scope)) if content is None else None
        if found is not None:
            return found
        asserts_all = content is not None and len(content) == _WORDS_OF_KEYWORD * len(schema)
        if not asserts_all and dialect.ignores and not dialect.ignores.isdisjoint(schema):
            _warn_of_ignored(schema, location, dialect)
        if content is None:
            mark = MAY_LEAVE_UNDECIDED if self._document.is_circular else 0
            found = self._others[_identity(schema, scope)] = self._new_atom(schema, location, scope, mark)
            return found
        if not content:
            if location is ROOT:
                _warn_of_no_keyword(schema)
            return ANY
        is_usual = dialect is self._dialect
        if not is_usual:
            content = (dialect, *content)
        found = self._flat.get(content)
        if found is None:
            found = self._flat[content] = self._new_atom(schema, location, scope)
            if is_usual:
                self._contents[len(self._subschemas) - 1] = content
                known = self._common.get(content)
                if known is not None:
                    self._shapes[found] = known
        return found

    def begin_again(self) -> None:
        """Count new atoms from zero: values that must differ are atoms, and a grammar lives long."""
        self._counted_from = len(self._subschemas)

    def _new_atom(self, schema: dict[str, Any], location: Location, scope: Scope, mark: int = 0) -> Node:
        number = len(self._subschemas)
        if number - self._counted_from > self._max_nodes:
            raise LimitExceededError("schema_nodes", self._max_nodes)
        spend(1)
        self._subschemas.append(Subschema(schema, location, scope))
        return (number | mark,)

    # --- the subschemas ----------------------------------------------------------------------------------------------

    def subschema(self, atom: int) -> Subschema:
        """Return the subschema of an atom, or of its complement."""
        return self._subschemas[abs(atom) & ~MAY_LEAVE_UNDECIDED]

    def content(self, atom: int) -> Content | None:
        """Return the keywords of a flat subschema that assert something; None for other subschemas."""
        return self._contents.get(atom)

    def is_flat(self, atom: int) -> bool:
        """Return whether an atom stands for all subschemas of the same content, at any location."""
        return (abs(atom),) in self._flat.values()

    def location(self, node: Node) -> Location:
        """Return the location of a node's first subschema."""
        while node:
            atom = node[0]
            if not isinstance(atom, AnyOf):
                return self.subschema(atom).location
            node = atom.nodes[0]
        return ROOT


def _identity(schema: dict[str, Any], scope: Scope) -> Hashable:
    """Return a key for a subschema that is not flat: it means the same wherever it is reached in the same scope."""
    return (id(schema), scope.entered, scope.left) if scope.entered else id(schema)


def _no_schema(location: Location) -> SchemaError:
    return SchemaError("a schema must be an object or a boolean", pointer=pointer(location))


def too_deep(limit: int, location: Location) -> LimitExceededError:
    """Return the error for subschemas of one value that nest too deep."""
    return LimitExceededError(
        "schema_depth", limit, message=f"subschemas of one value nest deeper than {limit} (at #{pointer(location)})"
    )


def _warn_of_ignored(schema: dict[str, Any], location: Location, dialect: Dialect) -> None:
    """Warn of keywords that assert nothing in the schema's draft: those of later drafts, and misspelled ones."""
    for keyword in schema:
        if keyword in dialect.ignores and not (dialect.ref_overrides and "$ref" in schema):
            meant = f"; did you mean {MEANT[keyword]}?" if keyword in MEANT else ""
            draft = dialect.name or "JSON Schema"
            warn_of_keyword(f"{keyword} is no keyword of {draft} (at #{pointer(location)}): it is not enforced{meant}")


def _warn_of_no_keyword(schema: dict[str, Any]) -> None:
    """Warn of a whole schema that has keys and no keyword: `{"name": "string"}`, or one with the schema inside."""
    if schema and ANNOTATIONS.isdisjoint(schema):
        warn_of_keyword(
            f"no key of the schema {reprlib.repr(schema)} is a keyword of JSON Schema, such as `type` or `properties`: "
            "any JSON value fits it"
        )
