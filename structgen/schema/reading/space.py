"""The space of one schema document: its subschemas as numbered nodes, and the shape of each node.

A *node* names a set of values by the subschemas that they satisfy (`algebra/nodes.py`). The *shape* of a node describes
the values themselves, one level deep (`algebra/shape.py`). The *space* numbers subschemas as they are reached
(`atoms.py`) and computes a shape when it is asked for. In this document, each subschema gets the next number:

    {"properties": {"a": {"allOf": [{"type": "integer"}, {"minimum": 3}]}}}       node (2,)
                         {"allOf": [{"type": "integer"}, {"minimum": 3}]}         node (3,)
                                    {"type": "integer"}                           node (4,)
                                                         {"minimum": 3}           node (5,)

The shape of (2,) has objects whose value at `a` is in node (3,). The shape of (3,) is that of node (4, 5), the
intersection of (4,) and (5,): `Shape(numbers=(NumberSet(low=3, multiple=1),))`.

Subschemas that apply to the same value (`$ref`, `allOf`, `not`, …: see `applicators.py`) are followed at once, up to a
bounded depth. Those of items and properties stay nodes, so recursive schemas are finite data.

The method is that of "Witness Generation for JSON Schema" (Attouche, Baazizi, Colazzo, Ghelli, Sartiani, Scherzinger,
2022): sets grouped by type, groups intersected, complements pushed inward.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeVar

from structgen.engine.deadlines import Deadline, spend
from structgen.errors import LimitExceededError, SchemaError, UnsupportedSchemaError
from structgen.limits import Limits
from structgen.schema.algebra import (
    ANY,
    EVERYTHING,
    NONE,
    NOTHING,
    AnyOf,
    ArraySet,
    Inexpressible,
    Node,
    ObjectSet,
    ObjectUnions,
    complements,
    meet,
)
from structgen.schema.algebra.counting import can_be_met
from structgen.schema.algebra.shape import Shape
from structgen.schema.options import SchemaOptions
from structgen.schema.reading.applicators import APPLICATORS, accepted, refused
from structgen.schema.reading.atoms import Atoms, too_deep
from structgen.schema.reading.dialects import is_of_draft4
from structgen.schema.reading.emptiness import witnesses
from structgen.schema.reading.fixed_points import FixedPoints, Reentered
from structgen.schema.reading.intersections import all_of, and_also
from structgen.schema.reading.keywords import OWN_KEYWORDS, NodeOf, base_shape, unsupported
from structgen.schema.reading.number_keywords import INTEGER_DIGITS_ONLY, NUMBER_FORM
from structgen.schema.reading.refs import FORMED, Document, check_forms
from structgen.schema.reading.scopes import Dialect, Location, pointer
from structgen.schema.reading.shape_cache import common_shapes, flat_content, remember
from structgen.schema.reading.simple_nodes import SimpleNodes, has_long_node
from structgen.schema.reading.sizes import Sizes
from structgen.schema.reading.tagged_pairs import MANY_PAIRS, both_by_tag, may_rule_out
from structgen.schema.reading.tags import Tag, pairs_that_may_meet, tag_of
from structgen.schema.reading.told_apart import told_apart
from structgen.schema.reading.widening import Widening, without_limits
from structgen.schema.reading.writable import Narrowed, Writable

__all__ = ["Space", "has_circles", "release"]

T = TypeVar("T")

_MAX_WITNESS_DEPTH = 12  # levels that are searched for a value when a node is tested for emptiness
_MAX_COUNTED = 6  # counts of an array whose combinations are searched
_STRICT = Widening(is_allowed=False)  # shared: it remembers nothing
_WITHOUT_NUMBERS = ("object", "array", "string", "boolean", "null")
_SHAPE_UNITS = 100  # of `spend`: a shape may take long
_NO_SETS: frozenset[ArraySet | ObjectSet] = frozenset()
_has_no_applicators = APPLICATORS.isdisjoint
_MAX_ABSORBED = 256  # sets of objects that are compared with each other
_MAX_CLEANED = 16  # sets of objects; if there are no more, those with needless complements are dropped


class Space:
    """Numbers the subschemas of a document and computes the shapes of nodes over them.

    Args:
        document: the schema.
        options: how `format` and unsupported keywords are treated.
        limits: `schema_nodes` bounds the parts made, `schema_depth` the nesting of subschemas of one value.
        deadline: a clock that long loops check.
        narrowed: returns a regex of the texts that can be written; None if all can.

    Attributes:
        text_units: length of the source texts that terminals hold; see `GrammarTables`.
        dead: sets of arrays and objects that are left out of what can be written: their rules show that they have no
            member.
        atoms: the subschemas of the document.
        under_way: the atoms whose `oneOf` is being told apart; see `told_apart`.
        unions: the unions of sets of objects as one set each.
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
        self._is_lenient = options.lenient
        self.limits = limits
        self._max_parts = limits.schema_nodes
        self.deadline = deadline
        self._writable = None if narrowed is None else Writable(narrowed, limits)
        self.text_units = 0
        self._common = common_shapes(document.dialect, options.formats)
        self._shapes: dict[Node, Shape] = {ANY: EVERYTHING, NONE: NOTHING}
        self.atoms = Atoms(document, limits, self._common, self._shapes)
        self._node_of: NodeOf = self.atoms.node  # one object for all shapes
        self._open: dict[Node, None] = {}  # nodes whose shapes are under way; the garbage collector skips an empty dict
        self._widening = Widening(is_allowed=True) if self._is_lenient else _STRICT
        self._parts = 0  # parts of all shapes made so far
        self._sizes: Sizes | None = None
        self._simple: SimpleNodes | None = None  # made when it is needed
        self._fixed: FixedPoints | None = None  # made once a subschema is found to refer to itself
        self.under_way: set[int] = set()
        self._beside: dict[Hashable, Node] = {}  # what `beside` returned, by identity and scope
        self.unions = ObjectUnions()
        self._of_clauses: set[Node] = set()  # nodes whose intersection needed clauses; see `_intersection`
        self._may_hold: dict[tuple[Node, int], bool] = {}  # answers of `may_hold`, by node and depth
        self.dead = _NO_SETS
        self._questions = 0  # calls of `_answer` under way: they return None if a shape is not known yet

    def sizes(self) -> Sizes:
        """Return the upper bounds on the number of values of nodes."""
        if self._sizes is None:
            self._sizes = Sizes(self._known_to_write, plain=self.options.numbers == "plain")
        return self._sizes

    def writable(self, shape: Shape) -> Shape:
        """Return the part of a shape that can be written. It must not be combined with other shapes."""
        if self.dead:
            objects = tuple([part for part in shape.objects if part not in self.dead])
            arrays = tuple([part for part in shape.arrays if part not in self.dead])
            shape = replace(shape, arrays=arrays, objects=objects)
        return shape if self._writable is None else self._writable.shape(shape)

    @property
    def dialect(self) -> Dialect:
        """The dialect of the subschema that is being read."""
        return self.atoms.scope.dialect

    def node(self, schema: Any, location: Location) -> Node:
        """Return the node of a subschema; see `Atoms.node`."""
        return self.atoms.node(schema, location)

    def target(self, keyword: str, schema: dict[str, Any], location: Location) -> Node:
        """Return the node that a reference names."""
        return self.atoms.target(keyword, schema, location)

    def location(self, node: Node) -> Location:
        """Return the location of a node's first subschema."""
        return self.atoms.location(node)

    # --- shapes ------------------------------------------------------------------------------------------------------

    def shape(self, node: Node) -> Shape:
        """Return the values of a node, one level deep.

        Raises:
            SchemaError: a keyword is invalid, or the shape depends on itself.
            UnsupportedSchemaError: a keyword cannot be expressed.
            LimitExceededError: subschemas of one value nest too deep, or there are too many parts.
        """
        found = self._shapes.get(node)
        if found is not None:
            if self._widening.inexact:
                self._widening.recall(node)
            return found
        is_circular = self._fixed is not None and any(map(self._fixed.is_unknown, node))
        if node in self._open or (is_circular and (self._open or self._questions)):
            _fixed_points(self).find(node)
            raise Reentered
        if len(self._open) >= self.limits.schema_depth:
            raise too_deep(self.limits.schema_depth, self.location(node))
        made: Shape | None = None
        self._open[node] = None
        try:
            if not is_circular:
                made = self._widening.shape(node, self._made) if self._is_lenient else self._made(node)
        except Reentered:
            if len(self._open) > 1 or self._questions:  # the outermost one solves the equations
                raise
        except Inexpressible as error:
            message = f"this {error.keyword} cannot be expressed exactly{error.reason and ': '}{error.reason}"
            raise unsupported(message, self.location(node), error.keyword) from error
        finally:
            del self._open[node]
        if made is None:
            made = self._fixed_point(node)
        self._shapes[node] = self.spend(made)
        return made

    def _fixed_point(self, node: Node) -> Shape:
        """Return the shape of a node that depends on itself.

        Raises:
            SchemaError: no value is decided: neither that it satisfies the subschema, nor that it does not.
        """
        fixed = _fixed_points(self)
        self._open[node] = None
        try:
            fixed.solve(node)
            made = self._widening.shape(node, self._made)
        finally:
            del self._open[node]
        if made == NOTHING:
            others = complements(node)
            for other in others:
                fixed.solve(other)
            if self.union(others) == NOTHING:
                message = "a subschema refers to itself, and no value decides it"
                raise SchemaError(message, pointer=pointer(self.location(node)), keyword="$ref")
        return made

    def spend(self, shape: Shape) -> Shape:
        """Count the parts of a new shape against the limits, and return it."""
        size = len(shape.numbers) + len(shape.strings) + len(shape.arrays) + len(shape.objects)  # `Shape.size`, in C
        spend(_SHAPE_UNITS + size)
        self._parts += size
        if self._parts > self._max_parts:
            raise LimitExceededError("schema_nodes", self._max_parts)
        return shape

    def begin_again(self, deadline: Deadline) -> None:
        """Set another clock, and count new atoms and parts from zero: for each mask, as long as a grammar lives."""
        self.deadline = deadline
        self._parts = 0
        self.atoms.begin_again()

    def _made(self, node: Node) -> Shape:
        if len(node) > 1:
            return _intersection(self, node)
        atom = node[0]
        if isinstance(atom, AnyOf):
            return self.union(atom.nodes)
        if self._fixed is not None:
            solved = self._fixed.shape(atom)
            if solved is not None:
                return solved
        outer = self.atoms.scope
        subschema = self.atoms.subschema(atom)
        location, self.atoms.scope = subschema.location, subschema.scope
        try:
            known = self._asserting(subschema.schema, location)
            if atom < 0:
                return self._refused_by(known, location)
            shape = self._accepted_by(known, location)
        finally:
            self.atoms.scope = outer
        content = self.atoms.content(atom)
        if content is not None and not self._widening.is_used:
            remember(self._common, content, shape, known)
        return shape

    def _accepted_by(self, known: dict[str, Any], location: Location) -> Shape:
        """Return the values that satisfy a subschema's keywords."""
        if _has_no_applicators(known):
            return self.base(known, location)
        if "oneOf" in known and len(known) > 1:
            found = self._widening.or_everything(partial(_told_apart, self, known, location))
            if found is not EVERYTHING:
                return found
        combining = [key for key in known if key in APPLICATORS]
        result = self.base(known, location) if len(combining) < len(known) else EVERYTHING
        for key in combining:
            found = self.keyword(key, known, location)
            result = found if result is EVERYTHING else self.both(result, found)
        return result

    def keyword(self, key: str, known: dict[str, Any], location: Location) -> Shape:
        """Return the values that satisfy one of a subschema's keywords, one of `APPLICATORS`."""
        if not self._is_lenient:
            return accepted(self, key, known, location)
        return self._widening.or_everything(partial(accepted, self, key, known, location))

    def _refused_by(self, known: dict[str, Any], location: Location) -> Shape:
        """Return the values that do not satisfy a subschema's keywords."""
        combining = [key for key in known if key in APPLICATORS]
        result = NOTHING
        if len(combining) < len(known):
            result = self.all_but(lambda: self._typed(known, location))
        for key in combining:
            found = self._widening.or_everything(partial(refused, self, key, known, location))
            result = self.spend(result.unite(found))
        return result

    def base(self, known: dict[str, Any], location: Location) -> Shape:
        """Return the values that satisfy the keywords about single types; drop unsupported ones if allowed."""
        if not self._is_lenient:
            return self._typed(known, location)
        return self._widening.base(partial(self._typed, location=location), known)

    def _typed(self, known: dict[str, Any], location: Location) -> Shape:
        options = self.options
        if options.formats == "annotate" and self.atoms.scope.dialect.asserts_formats:
            options = replace(options, formats="assert")
        return base_shape(self._as_read(known), location, self._node_of, options, self.limits, self.deadline)

    def widen(self, node: Node, error: UnsupportedSchemaError) -> None:
        """Widen the shape of a node that cannot be expressed, if that is allowed.

        The nodes must be explored again afterwards.
        """
        self._widening.drop(error)
        self._sizes = None
        self._shapes[node] = without_limits(self._shapes[node], error.keyword)

    @contextmanager
    def inside(self, atom: int) -> Iterator[tuple[dict[str, Any], Location]]:
        """Enter the subschema of an atom: new nodes are made in its scope. Gives its keywords and location."""
        outer = self.atoms.scope
        subschema = self.atoms.subschema(atom)
        self.atoms.scope = subschema.scope
        try:
            yield self._asserting(subschema.schema, subschema.location), subschema.location
        finally:
            self.atoms.scope = outer

    def _asserting(self, schema: dict[str, Any], location: Location) -> dict[str, Any]:
        """Return the keywords of a subschema that its dialect knows."""
        dialect = self.atoms.scope.dialect
        if dialect.ref_overrides and "$ref" in schema:
            return {"$ref": schema["$ref"]}
        if dialect.name and not FORMED.isdisjoint(schema):
            check_forms(schema, dialect, location)
        keywords = dialect.keywords
        return {k: v for k, v in schema.items() if k in keywords or k in OWN_KEYWORDS}

    def _as_read(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return a subschema with a mark for integers as in draft 4, where `1.0` is not one."""
        types = schema.get("type")
        if types is None or types in _WITHOUT_NUMBERS or not is_of_draft4(schema, self.atoms.scope.dialect):
            return schema
        return {NUMBER_FORM: INTEGER_DIGITS_ONLY, **schema}

    def union(self, nodes: Iterable[Node]) -> Shape:
        """Return the values that are in any of some nodes."""
        return self.spend(NOTHING.unite(*map(self.shape, nodes)).joined())

    def both(self, left: Shape, right: Shape, *, absorb: bool = False) -> Shape:
        """Return the values that are in both of two shapes; `absorb` drops sets of objects that others include."""
        pairs = len(left.objects) * len(right.objects) + len(left.arrays) * len(right.arrays)
        if pairs > 1:
            self._parts += pairs
            self.spend(NOTHING)
        is_many = pairs >= MANY_PAIRS
        result, settled = both_by_tag(_simple(self), left, right) if is_many else (left.intersect(right), ())
        if len(result.objects) > 1 and (absorb or may_rule_out(left.objects, right.objects)):
            result = _simple(self).without_dead(result, every_key=absorb, settled=settled)
            if absorb and len(result.objects) <= _MAX_ABSORBED:
                result = result.absorbed()
            elif 1 < len(result.objects) <= _MAX_CLEANED:
                result = result.with_fewer_complements()
        elif len(result.objects) == 1 and has_long_node(result.objects[0]):
            only = _simple(self).with_short_names(result.objects[0])
            result = replace(result, objects=(only,) if only is not None else ())
        if 0 < len(result.arrays) <= _MAX_ABSORBED and (absorb or min(len(left.arrays), len(right.arrays)) > 1):
            result = _simple(self).with_fewer_arrays(result)
        return self.spend(result.joined())

    def _is_simple(self, atom: int) -> bool:
        """Return whether an atom's subschema asserts only `enum`, `const`, and keywords without schemas in them.

        If `lenient` dropped one of these keywords, or its complement, the answer is False.
        """
        subschema = self.atoms.subschema(atom)
        if not isinstance(subschema.schema, dict):
            return True
        others = {key: value for key, value in subschema.schema.items() if key not in ("enum", "const")}
        if flat_content(others, subschema.scope.dialect) is None:
            return False
        if not self._is_lenient:
            return True
        self.shape((atom,))
        return self._widening.is_exact((atom,))

    def all_but(self, make: Callable[[], Shape]) -> Shape:
        """Return the values not in the shape that `make` returns; every value if that shape was widened."""
        return self._widening.complement(make, self.complement)

    def complement(self, shape: Shape) -> Shape:
        """Return the values that are not in a shape.

        Raises:
            UnsupportedSchemaError: no union of parts has these values.
        """
        try:
            if shape.size == len(shape.objects) == 1 and not self._tags(shape.objects[0]):
                return shape.complement()
            result = replace(shape, arrays=shape.arrays[:1], objects=()).complement()
        except Inexpressible as error:
            location = self.location(next(reversed(self._open), ANY))
            message = f"the complement of this {error.keyword} cannot be expressed exactly"
            raise unsupported(message, location, error.keyword) from error
        if len(shape.arrays) > 1:
            each = [(replace(EVERYTHING, arrays=tuple(array.complement())), False) for array in shape.arrays[1:]]
            result = all_of(self, [(result, False), *each])[0]
        for part in shape.objects:
            others = tuple(part.complement(self._tags(part)))
            result = self.both(result, replace(EVERYTHING, objects=others), absorb=True)
        return result

    def _tags(self, part: ObjectSet) -> list[str]:
        """Return the required keys with few values, which tell kinds of objects apart."""
        tags: list[str] = []
        for key in part.required:
            shape = self.known_scalar(part.properties.get(key, ANY))
            if shape is not None and not shape.numbers and all(strings.texts for strings in shape.strings):
                tags.append(key)
        return tags

    # --- emptiness ---------------------------------------------------------------------------------------------------

    def _differ_by_tag(self, left: Node, right: Node) -> bool:
        """Return whether two sets of objects differ in the values of a required key, as by a tag. Makes no nodes."""
        mine, theirs = self._only_object(left), self._only_object(right)
        if mine is None or theirs is None:
            return False
        for key in mine.required:
            shape, other = self.known_scalar(mine.at(key)), self.known_scalar(theirs.at(key))
            if shape is not None and other is not None and shape.intersect(other) == NOTHING:
                return True
        return False

    def _only_object(self, node: Node) -> ObjectSet | None:
        """Return the set of objects of a node that has nothing else; None for other nodes."""
        shape = self.shape(node)
        return shape.objects[0] if shape.size == 1 and shape.objects and not (shape.null or shape.booleans) else None

    def known_scalar(self, node: Node) -> Shape | None:
        """Return the shape of a node of scalars; None for other nodes, and if its shape is under way."""
        shape = self._known_shape(node)
        return None if shape is None or shape.arrays or shape.objects else shape

    def _known_to_write(self, node: Node) -> Shape | None:
        shape = self._known_shape(node)
        return None if shape is None else self.writable(shape)

    def _known_shape(self, node: Node) -> Shape | None:
        """Return the shape of a node; None if it is under way."""
        if node in self._open:
            return None
        return _answer(self, lambda: self.shape(node))

    def overlaps(self, nodes: Sequence[Node]) -> Iterator[tuple[int, int]]:
        """Yield the pairs of nodes, by index and the lower one first, that may have a value in common."""
        for i, j in pairs_that_may_meet([self.tag(node) for node in nodes]):
            self.deadline.check()
            if not self._are_disjoint(nodes[i], nodes[j]):
                yield i, j

    def beside(self, known: dict[str, Any], location: Location, combining: Collection[str] = APPLICATORS) -> Node:
        """Return the node of a subschema's keywords about single types, which stand beside those that combine others.

        It is one node each time: a fixed point needs the complement of the same node.
        """
        others = {key: value for key, value in known.items() if key not in combining and key not in ("then", "else")}
        if not others:
            return ANY
        scope = self.atoms.scope
        identity = (scope.entered, scope.left, *((key, id(value)) for key, value in others.items()))
        found = self._beside.get(identity)
        if found is None:
            found = self._beside[identity] = self.node(others, location)
        return found

    def tag(self, node: Node, *, only: Literal["arrays", "objects"] | None = None) -> Tag | None:
        """Return the tag of a node, or of its values of one type; None if it has none, or if its shape is under way."""
        shape = self._known_shape(node)
        if shape is not None and only is not None:
            shape = Shape(arrays=shape.arrays) if only == "arrays" else Shape(objects=shape.objects)
        return None if shape is None else tag_of(shape, self.known_scalar)

    def is_tagged(self, node: Node) -> bool:
        """Return whether a node has one set of objects and nothing else, with a required key that has few values."""
        part = _answer(self, lambda: self._only_object(node))
        return part is not None and bool(self._tags(part))

    def _are_disjoint(self, left: Node, right: Node) -> bool:
        """Return whether two nodes surely have no value in common; False means unknown."""
        if _answer(self, lambda: self._differ_by_tag(left, right)):
            return True
        both = meet(left, right)
        return both == NONE or not self.may_hold(both)

    def may_hold(self, node: Node, depth: int = _MAX_WITNESS_DEPTH) -> bool:
        """Return whether a node may have a value, by the items and properties of values; False is certain."""
        spend(1)
        if depth == 0:
            return True
        shape = self._known_shape(node)
        if shape is None:
            return True
        if shape.null or shape.booleans or shape.numbers or shape.strings:
            return True
        if depth == _MAX_WITNESS_DEPTH:  # a new question: another shape may be under way
            self._may_hold.clear()
        found = self._may_hold.get((node, depth))
        if found is None:
            found = any(self._array_may_hold(part, depth - 1) for part in shape.arrays) or any(
                self.object_may_hold(part, depth - 1) for part in shape.objects
            )
            self._may_hold[node, depth] = found
        return found

    def object_may_hold(self, part: ObjectSet, depth: int = _MAX_WITNESS_DEPTH) -> bool:
        """Return whether a set of objects may have a member; False is certain."""
        return all(self.may_hold(part.at(key), depth) for key in part.required) and all(
            any(self.may_hold(node, depth) for node in witnesses(part, asked)) for asked in part.somewhere
        )

    def _array_may_hold(self, part: ArraySet, depth: int) -> bool:
        if not all(self.may_hold(part.at(i), depth) for i in range(min(part.low, len(part.prefix) + 1))):
            return False
        if part.clauses or len(part.contains) > _MAX_COUNTED:
            return True
        return not part.contains or can_be_met(part, lambda node: self.may_hold(node, depth))


def release(space: Space) -> None:
    """Drop what a space has made, after an error. Parts of it lead back to the space, so its memory would stay."""
    space._sizes = space._simple = space._fixed = None
    space._shapes.clear()
    space._beside.clear()
    space._may_hold.clear()


def has_circles(space: Space) -> bool:
    """Return whether a subschema was found to refer to itself at the same value, so that values may be undecided."""
    return space.document.is_circular or (space._fixed is not None and space._fixed.has_circles)


def _fixed_points(space: Space) -> FixedPoints:
    if space._fixed is None:
        space._fixed = FixedPoints(space, space._widening)
    return space._fixed


def _simple(space: Space) -> SimpleNodes:
    if space._simple is None:
        space._simple = SimpleNodes(space._is_simple, space.shape, space._known_shape)
    return space._simple


def _intersection(space: Space, node: Node) -> Shape:
    """Return the shape of a node of several atoms.

    Cases are split by one subschema after the other, so the shape of all atoms but the last one is often known.
    """
    *_, last = node
    before = node[:-1]
    if len(before) > 1 and before in space._shapes and before not in space._of_clauses:
        known = space.shape(before)
        found = and_also(space, known, space.shape((last,)), absorb=_absorbs(last))
        if found is not None:
            return found
    found, has_clauses = all_of(space, _shapes_of_atoms(space, node))
    if has_clauses:
        space._of_clauses.add(node)
    return found


def _shapes_of_atoms(space: Space, node: Node) -> Iterator[tuple[Shape, bool]]:
    """Yield for each atom of a node its shape, and the argument `absorb` of `Space.both` to combine it with."""
    for atom in node:
        yield space.shape((atom,)), _absorbs(atom)


def _absorbs(atom: int | AnyOf) -> bool:
    """Return whether parts of an atom's shape often overlap with parts of others."""
    return isinstance(atom, AnyOf) or atom < 0


def _told_apart(space: Space, known: dict[str, Any], location: Location) -> Shape:
    return told_apart(space, known, location) or EVERYTHING


def _answer(space: Space, question: Callable[[], T]) -> T | None:
    """Call a function, and return its result; None if the result depends on a shape that is under way."""
    space._questions += 1
    try:
        return question()
    except Reentered:
        return None
    finally:
        space._questions -= 1
