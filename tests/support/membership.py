"""The values of a node by its shapes, child by child: an oracle for the algebra that makes no grammar."""

from __future__ import annotations

from typing import Any

from structgen.engine.deadlines import Deadline
from structgen.limits import Limits
from structgen.schema.algebra import ArraySet, Contains, Node, NumberSet, ObjectSet, Shape, StringSet
from structgen.schema.json_text.numbers import exact
from structgen.schema.options import SchemaOptions
from structgen.schema.reading.refs import Document
from structgen.schema.reading.scopes import ROOT
from structgen.schema.reading.space import Space


def space_of(schema: Any, *, lenient: bool = False) -> tuple[Space, Node]:
    """The space of a document, and the node of its root."""
    limits = Limits()
    space = Space(Document(schema), SchemaOptions(lenient=lenient), limits, Deadline(limits.compile_seconds))
    return space, space.node(schema, ROOT)


def is_member(space: Space, node: Node, value: Any) -> bool:
    """Whether a JSON value is in a node."""
    return in_shape(space, space.shape(node), value)


def in_shape(space: Space, shape: Shape, value: Any) -> bool:
    """Whether a JSON value is in a shape."""
    if value is None:
        return shape.null
    if isinstance(value, bool):
        return bool(shape.booleans >> value & 1)
    if isinstance(value, str):
        return any(in_strings(part, value) for part in shape.strings)
    if isinstance(value, list):
        return any(in_arrays(space, part, value) for part in shape.arrays)
    if isinstance(value, dict):
        return any(in_objects(space, part, value) for part in shape.objects)
    return any(in_numbers(part, value) for part in shape.numbers)


def in_strings(part: StringSet, value: str) -> bool:
    return part.contains(value)


def in_numbers(part: NumberSet, value: float) -> bool:
    return part.contains(exact(value))


def in_arrays(space: Space, part: ArraySet, value: list[Any]) -> bool:
    if len(value) < part.low or (part.high is not None and len(value) > part.high):
        return False
    repeats = any(same(item, other) for i, item in enumerate(value) for other in value[:i])
    if part.repeats is not None and part.repeats != repeats:
        return False
    if not all(is_met(space, count, value) for count in part.contains):
        return False
    if not all(any(is_met(space, count, value) for count in clause) for clause in part.clauses):
        return False
    return all(is_member(space, part.at(i), item) for i, item in enumerate(value))


def is_met(space: Space, count: Contains, value: list[Any]) -> bool:
    found = sum(is_member(space, count.node, item) for item in value[count.start :])
    return found >= count.low and (count.high is None or found <= count.high)


def in_objects(space: Space, part: ObjectSet, value: dict[str, Any]) -> bool:
    if len(value) < part.low or (part.high is not None and len(value) > part.high):
        return False
    if not all(key in value for key in part.required):
        return False
    for clause in part.clauses:
        if not any(
            is_member(space, literal.node, value[literal.key]) if literal.key in value else literal.or_absent
            for literal in clause
        ):
            return False
    for keys, node in part.somewhere:
        if not any(keys.contains(key) and is_member(space, node, item) for key, item in value.items()):
            return False
    return all(is_member(space, part.at(key), item) for key, item in value.items())


def same(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal: 1 is 1.0, and not true."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(item, right[key]) for key, item in left.items())
    return bool(left == right)
