"""The space of nodes over one document: the shape of each, and which of them are seen to be empty at once.

A node's shape is made when it is asked for, one level deep. Subschemas that apply to the same value (`$ref`, `allOf`,
`not`, …: `applicators.py`) are followed at once, to a bounded depth; those of children are nodes, so that recursive
schemas are data.

The method is that of "Witness Generation for JSON Schema" (Attouche, Baazizi, Colazzo, Ghelli, Sartiani, Scherzinger,
2022): groups by type, intersection of typed groups, complements pushed inward.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from structgen.errors import LimitExceededError, SchemaError, UnsupportedSchemaError
from structgen.limits import Deadline, Limits
from structgen.schema.algebra import (
    ANY,
    EVERYTHING,
    NONE,
    NOTHING,
    AnyOf,
    ArraySet,
    Node,
    ObjectSet,
    Shape,
    meet,
)
from structgen.schema.algebra.counting import can_be_met
from structgen.schema.options import SchemaOptions
from structgen.schema.reading.applicators import APPLICATORS, accepted, refused
from structgen.schema.reading.dialects import Dialect, is_of_draft4
from structgen.schema.reading.emptiness import Sizes, witnesses
from structgen.schema.reading.keywords import OWN_KEYWORDS, base_shape
from structgen.schema.reading.number_keywords import INTEGER_DIGITS_ONLY, NUMBER_FORM
from structgen.schema.reading.refs import NAMING, REFERENCES, Document, bare_reference, check_forms
from structgen.schema.reading.scopes import ROOT, Location, Scope, Subschema, pointer
from structgen.schema.reading.shape_cache import Content, common_shapes, flat_content, remember
from structgen.schema.reading.widening import Widening, without_limits
from structgen.schema.reading.writable import Narrowed, Writable

__all__ = ["Space"]

_WITNESS_DEPTH = 12
_STRICT = Widening(is_allowed=False)  # which remembers nothing
_MAX_ABSORBED = 256


class _SelfReference(SchemaError):
    """The shape of a node is asked for while it is made."""


class Space:
    """Numbers the subschemas of a document and computes the shapes of nodes over them.

    Args:
        document: the schema.
        options: how `format` is read, and what becomes of the unsupported.
        limits: `schema_nodes` bounds the parts made, `schema_depth` how deep subschemas of one value may nest.
        deadline: checked once in a while.
        narrowed: what can be written of the texts of a regex; None for all of them.

    Attributes:
        text_units: see `GrammarTables`.
    """

    def __init__(
        self,
        document: Document,
        options: SchemaOptions,
        limits: Limits,
        deadline: Deadline,
        narrowed: Narrowed | None = None,
    ) -> None:
        self.document = document
        self.options = options
        self.limits = limits
        self.deadline = deadline
        self._writable = None if narrowed is None else Writable(narrowed, limits)
        self.text_units = 0
        self._scope = document.start
        self._atoms = [Subschema(True, ROOT, self._scope)] * 2
        self._contents: dict[int, Content] = {}  # of atoms whose schemas are flat
        self._numbers: dict[Hashable, Node] = {}
        self._flat: dict[Content, Node] = {}
        self._common = {} if options.lenient else common_shapes(document.dialect, options.formats)
        self._shapes: dict[Node, Shape] = {ANY: EVERYTHING, NONE: NOTHING}
        self._open: dict[Node, None] = {}  # an empty dict is nothing to the garbage collector
        self._widening = Widening(is_allowed=True) if options.lenient else _STRICT
        self._parts = 0
        self._spent = 0
        self._sizes: Sizes | None = None

    def sizes(self) -> Sizes:
        """How many values nodes have."""
        if self._sizes is None:
            self._sizes = Sizes(self._known_to_write)
        return self._sizes

    def writable(self, shape: Shape) -> Shape:
        """What of a shape can be written; it is not to be combined with others."""
        return shape if self._writable is None else self._writable.shape(shape)

    @property
    def dialect(self) -> Dialect:
        """That of the subschema of which the shape is made."""
        return self._scope.dialect

    # --- nodes -------------------------------------------------------------------------------------------------------

    def node(self, schema: Any, place: Location) -> Node:
        """The node of a subschema. Flat subschemas of equal content are one node; so is a `$ref` and its target."""
        return self._node(schema, place, self._scope)

    def _node(self, schema: Any, place: Location, scope: Scope) -> Node:
        for _ in range(self.limits.schema_depth):
            if schema is True:
                return ANY
            if schema is False:
                return NONE
            if not isinstance(schema, dict):
                raise SchemaError("a schema must be an object or a boolean", pointer=pointer(place))
            if not NAMING.isdisjoint(schema):
                scope = self.document.enter(schema, place, scope)
            node = self._numbers.get((id(schema), scope.entered, scope.left) if scope.entered else id(schema))
            if node is not None:
                return node
            keyword = None if REFERENCES.isdisjoint(schema) else bare_reference(schema, scope.dialect)
            if keyword is None:
                return self._number(schema, place, scope)
            try:
                target = self.document.resolve(keyword, schema, place, scope)
            except UnsupportedSchemaError:  # raised, or dropped, where its shape is asked for
                return self._number(schema, place, scope)
            schema, place, scope = target.schema, target.place, target.scope
        raise self._too_deep(place)

    def target(self, keyword: str, schema: dict[str, Any], place: Location) -> Node:
        """The node to which a reference leads."""
        target = self.document.resolve(keyword, schema, place, self._scope)
        return self._node(target.schema, target.place, target.scope)

    def _number(self, schema: dict[str, Any], place: Location, scope: Scope) -> Node:
        content = flat_content(schema, scope.dialect)
        if content is not None:
            if not content:
                return ANY
            is_common = scope.dialect is self.document.dialect
            key = content if is_common else (scope.dialect, *content)
            node = self._flat.get(key)
            if node is None:
                node = self._flat[key] = self._new_atom(schema, place, scope, content if is_common else None)
                known = self._common.get(content) if is_common else None
                if known is not None:
                    self._shapes[node] = known
            return node
        number_key = (id(schema), scope.entered, scope.left) if scope.entered else id(schema)
        node = self._numbers[number_key] = self._new_atom(schema, place, scope)
        return node

    def _new_atom(self, schema: dict[str, Any], place: Location, scope: Scope, content: Content | None = None) -> Node:
        number = len(self._atoms)
        if number > self.limits.schema_nodes:
            raise LimitExceededError("schema_nodes", self.limits.schema_nodes)
        if not number & 255:
            self.deadline.check()
        self._atoms.append(Subschema(schema, place, scope))
        if content is not None:
            self._contents[number] = content
        return (number,)

    def place(self, node: Node) -> Location:
        """Where the first subschema of a node is."""
        while node:
            atom = node[0]
            if not isinstance(atom, AnyOf):
                return self._atoms[abs(atom)].place
            node = atom.nodes[0]
        return ROOT

    def subschema(self, atom: int) -> Subschema:
        """The subschema of an atom."""
        return self._atoms[abs(atom)]

    def is_flat(self, atom: int) -> bool:
        """Whether an atom stands for all subschemas of its content, wherever they are."""
        return (abs(atom),) in self._flat.values()

    # --- shapes ------------------------------------------------------------------------------------------------------

    def shape(self, node: Node) -> Shape:
        """The values of a node, one level deep.

        Raises:
            SchemaError, UnsupportedSchemaError: as its keywords ask.
            LimitExceededError: subschemas of one value nest too deep, or there are too many parts.
        """
        found = self._shapes.get(node)
        if found is not None:
            if self.options.lenient:
                self._widening.recall(node)
            return found
        if node in self._open:
            raise _SelfReference("a subschema refers to itself", pointer=pointer(self.place(node)), keyword="$ref")
        if len(self._open) >= self.limits.schema_depth:
            raise self._too_deep(self.place(node))
        self._open[node] = None
        try:
            found = self._widening.shape(node, lambda: self._made(node)) if self.options.lenient else self._made(node)
        finally:
            del self._open[node]
        self._shapes[node] = self.spend(found)
        return found

    def _too_deep(self, place: Location) -> LimitExceededError:
        limit = self.limits.schema_depth
        return LimitExceededError(
            "schema_depth", limit, message=f"subschemas of one value nest deeper than {limit} (at #{pointer(place)})"
        )

    def spend(self, shape: Shape) -> Shape:
        """Counts the parts of a shape that was made, and returns it."""
        self._parts += len(shape.numbers) + len(shape.strings) + len(shape.arrays) + len(shape.objects)
        if self._parts > self.limits.schema_nodes:
            raise LimitExceededError("schema_nodes", self.limits.schema_nodes)
        self._spent += 1
        if not self._spent & 15:
            self.deadline.check()
        return shape

    def _made(self, node: Node) -> Shape:
        if len(node) > 1:
            result = self.shape(node[:1])
            for atom in node[1:]:
                overlapping = isinstance(atom, AnyOf) or atom < 0  # as the parts of complements often are
                result = self.both(result, self.shape((atom,)), absorb=overlapping)
            return result
        atom = node[0]
        if isinstance(atom, AnyOf):
            return self.union(atom.nodes)
        outer = self._scope
        subschema = self._atoms[abs(atom)]
        place, self._scope = subschema.place, subschema.scope
        try:
            known = self._asserting(subschema.schema, place)
            if atom < 0:
                return self._refused_by(known, place)
            shape = self._accepted_by(known, place)
        finally:
            self._scope = outer
        content = self._contents.get(atom)
        if content is not None and not self.options.lenient:
            remember(self._common, content, shape, known)
        return shape

    def _accepted_by(self, known: dict[str, Any], place: Location) -> Shape:
        """The values that satisfy a subschema's keywords."""
        if APPLICATORS.isdisjoint(known):
            return self._base(known, place)
        combining = [key for key in known if key in APPLICATORS]
        result = self._base(known, place) if len(combining) < len(known) else EVERYTHING
        for key in combining:
            found = self._widening.or_everything(partial(accepted, self, key, known, place))
            result = found if result is EVERYTHING else self.both(result, found)
        return result

    def _refused_by(self, known: dict[str, Any], place: Location) -> Shape:
        """All other values."""
        combining = [key for key in known if key in APPLICATORS]
        result = NOTHING
        if len(combining) < len(known):
            result = self.all_but(lambda: self._typed(known, place))
        for key in combining:
            found = self._widening.or_everything(partial(refused, self, key, known, place))
            result = self.spend(result.unite(found))
        return result

    def _base(self, known: dict[str, Any], place: Location) -> Shape:
        """The values that satisfy the keywords about single types, of those that may be asked for."""
        if self.options.lenient:
            return self._widening.base(lambda kept: self._typed(kept, place), known)
        return self._typed(known, place)

    def _typed(self, known: dict[str, Any], place: Location) -> Shape:
        options = self.options
        if options.formats == "annotate" and self._scope.dialect.asserts_formats:
            options = replace(options, formats="assert")
        return base_shape(self._as_read(known), place, self.node, options, self.limits, self.deadline)

    def widen(self, node: Node, error: UnsupportedSchemaError) -> None:
        """Drops what cannot be written down of a node, where that is allowed; it must be explored anew then."""
        self._widening.drop(error)
        self._shapes[node] = without_limits(self._shapes[node], error.keyword)

    @contextmanager
    def inside(self, atom: int) -> Iterator[tuple[dict[str, Any], Location]]:
        """What the subschema of an atom asserts, and where it is; meanwhile the scope of new nodes is its own."""
        outer = self._scope
        subschema = self._atoms[abs(atom)]
        self._scope = subschema.scope
        try:
            yield self._asserting(subschema.schema, subschema.place), subschema.place
        finally:
            self._scope = outer

    def _asserting(self, schema: dict[str, Any], place: Location) -> dict[str, Any]:
        """The keywords of a subschema that its dialect knows."""
        dialect = self._scope.dialect
        if dialect.ref_overrides and "$ref" in schema:
            return {"$ref": schema["$ref"]}
        if dialect.name:
            check_forms(schema, dialect, place)
        return {k: v for k, v in schema.items() if k in dialect.keywords or k in OWN_KEYWORDS}

    def _as_read(self, schema: dict[str, Any]) -> dict[str, Any]:
        """A subschema with what its draft makes of integers: to draft 4, `1.0` is none."""
        if "type" not in schema or not is_of_draft4(schema, self._scope.dialect):
            return schema
        return {NUMBER_FORM: INTEGER_DIGITS_ONLY, **schema}

    def union(self, nodes: Iterable[Node]) -> Shape:
        """The values of any of some nodes."""
        return self.spend(NOTHING.unite(*map(self.shape, nodes)))

    def both(self, left: Shape, right: Shape, *, absorb: bool = False) -> Shape:
        """The values in both of two shapes, of which the parts may be many."""
        pairs = len(left.objects) * len(right.objects) + len(left.arrays) * len(right.arrays)
        if pairs > 1:
            self._parts += pairs
            self.spend(NOTHING)
        result = left.intersect(right)
        if len(result.objects) > 1 and (absorb or (len(left.objects) > 1 and len(right.objects) > 1)):
            result = self._without_dead(result)
            if absorb and len(result.objects) <= _MAX_ABSORBED:
                result = result.absorbed()
        return self.spend(result)

    def _without_dead(self, shape: Shape) -> Shape:
        """A shape without sets of objects in which a required key has no value, where that is seen at once."""
        alive: list[ObjectSet] = []
        dead: dict[Node, bool] = {}
        for part in shape.objects:
            for key in part.required:
                node = part.at(key)
                if node not in dead:
                    dead[node] = self._known_scalar(node) == NOTHING
                if dead[node]:
                    break
            else:
                alive.append(part)
        return shape if len(alive) == len(shape.objects) else replace(shape, objects=tuple(alive))

    def all_but(self, make: Callable[[], Shape]) -> Shape:
        """All values but those of a shape that is made here; every value, where that shape was widened."""
        return self._widening.complement(make, self.complement)

    def complement(self, shape: Shape) -> Shape:
        """All values that are not in a shape."""
        if shape.size == len(shape.objects) == 1 and not self._tags(shape.objects[0]):
            return shape.complement()
        result = replace(shape, arrays=shape.arrays[:1], objects=()).complement()
        for array in shape.arrays[1:]:
            result = self.both(result, replace(EVERYTHING, arrays=tuple(array.complement())))
        for part in shape.objects:
            others = tuple(part.complement(self._tags(part)))
            result = self.both(result, replace(EVERYTHING, objects=others), absorb=True)
        return result

    def _tags(self, part: ObjectSet) -> list[str]:
        """The required keys of a set of objects that have few values."""
        tags: list[str] = []
        for key in part.required:
            shape = self._known_scalar(part.properties.get(key, ANY))
            if shape is not None and not shape.numbers and all(strings.texts for strings in shape.strings):
                tags.append(key)
        return tags

    # --- emptiness ---------------------------------------------------------------------------------------------------

    def _told_apart(self, left: Node, right: Node) -> bool:
        """Whether a required key with scalar values keeps two sets of objects apart, as a tag does. Makes no nodes."""
        mine, theirs = self._only_object(left), self._only_object(right)
        if mine is None or theirs is None:
            return False
        for key in mine.required:
            shape, other = self._known_scalar(mine.at(key)), self._known_scalar(theirs.at(key))
            if shape is not None and other is not None and shape.intersect(other) == NOTHING:
                return True
        return False

    def _only_object(self, node: Node) -> ObjectSet | None:
        """The objects of a node that holds one set of them and nothing else."""
        shape = self.shape(node)
        return shape.objects[0] if shape.size == 1 and shape.objects and not (shape.null or shape.booleans) else None

    def _known_scalar(self, node: Node) -> Shape | None:
        """The shape of a node without arrays and objects; None for others, and for one that is being made."""
        shape = self._known_shape(node)
        return None if shape is None or shape.arrays or shape.objects else shape

    def _known_to_write(self, node: Node) -> Shape | None:
        shape = self._known_shape(node)
        return None if shape is None else self.writable(shape)

    def _known_shape(self, node: Node) -> Shape | None:
        """The shape of a node; None for one that is being made."""
        if node in self._open:
            return None
        try:
            return self.shape(node)
        except _SelfReference:
            return None

    def are_disjoint(self, left: Node, right: Node) -> bool:
        """Whether two nodes have nothing in common, as far as that is found out."""
        if self._told_apart(left, right):
            return True
        both = meet(left, right)
        return both == NONE or not self._may_hold(both, _WITNESS_DEPTH)

    def may_hold(self, node: Node) -> bool:
        """Whether a node may have a value: False is certain."""
        return self._may_hold(node, _WITNESS_DEPTH)

    def _may_hold(self, node: Node, depth: int) -> bool:
        """Whether a node may have a value: False is certain. Looks only at children that must be there."""
        if depth == 0:
            return True
        try:
            shape = self.shape(node)
        except _SelfReference:  # a child that is being made, so not known yet
            return True
        if shape.null or shape.booleans or shape.numbers or shape.strings:
            return True
        return any(self._array_may_hold(part, depth - 1) for part in shape.arrays) or any(
            self._object_may_hold(part, depth - 1) for part in shape.objects
        )

    def _object_may_hold(self, part: ObjectSet, depth: int) -> bool:
        return all(self._may_hold(part.at(key), depth) for key in part.required) and all(
            any(self._may_hold(node, depth) for node in witnesses(part, asked)) for asked in part.somewhere
        )

    def _array_may_hold(self, part: ArraySet, depth: int) -> bool:
        if not all(self._may_hold(part.at(i), depth) for i in range(min(part.low, len(part.prefix) + 1))):
            return False
        return not part.contains or can_be_met(part, lambda node: self._may_hold(node, depth))
