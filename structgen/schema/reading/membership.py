"""Membership: whether a JSON value is in a node, decided from the shapes of nodes.

The algebra compares sets. Where a value is known, walking it is cheaper, and makes no new nodes:

    {"a": 1}   in   objects with `a`: strings, or without `a`        no: 1 is no string, and `a` is there
"""

from __future__ import annotations

from collections.abc import Callable

from structgen.engine.deadlines import spend
from structgen.schema.algebra import ANY, ArraySet, Contains, Node, ObjectSet, Shape, complement
from structgen.schema.algebra.numbers import ANY_FORM
from structgen.schema.json_text.values import Value, members, too_deep

__all__ = ["surely_in"]


def surely_in(shape_of: Callable[[Node], Shape], node: Node, value: Value) -> bool:
    """Return whether a value is in a node.

    The answer False is not certain where validators differ (some formats), and where a number's form decides.

    Args:
        shape_of: returns the shape of a node.
        node: the node.
        value: the value.

    Raises:
        LimitExceededError: the value nests too deep.
    """
    try:
        return _is_in(shape_of, node, value)
    except RecursionError as error:
        raise too_deep() from error


def _is_in(shape_of: Callable[[Node], Shape], node: Node, value: Value) -> bool:
    if node == ANY:
        return True
    spend(1)
    shape = shape_of(node)
    kind = value[0]
    if kind == "null":
        return shape.null
    content = value[1]
    if kind == "boolean":
        return bool(shape.booleans >> int(content) & 1)
    if kind == "number":
        return any(part.written == ANY_FORM and part.contains(content) for part in shape.numbers)
    if kind == "string":
        return any(part.contains(content) for part in shape.strings)
    if kind == "array":
        return any(_is_in_arrays(shape_of, part, content) for part in shape.arrays)
    pairs = members(value)
    return any(_is_in_objects(shape_of, part, pairs) for part in shape.objects)


def _is_in_arrays(shape_of: Callable[[Node], Shape], part: ArraySet, items: tuple[Value, ...]) -> bool:
    size = len(items)
    if size < part.low or (part.high is not None and size > part.high):
        return False
    if part.repeats is not None and (len(set(items)) < size) != part.repeats:
        return False
    if not all(_is_in(shape_of, part.at(index), item) for index, item in enumerate(items)):
        return False
    if not all(_is_met(shape_of, count, items) for count in part.contains):
        return False
    return all(any(_is_met(shape_of, count, items) for count in clause) for clause in part.clauses)


def _is_met(shape_of: Callable[[Node], Shape], count: Contains, items: tuple[Value, ...]) -> bool:
    """Return whether the items of an array surely meet a count."""
    counted = items[count.start :]
    if count.low and sum(_is_in(shape_of, count.node, item) for item in counted) < count.low:
        return False
    if count.high is None:
        return True
    outside = complement(count.node)
    return len(counted) - sum(_is_in(shape_of, outside, item) for item in counted) <= count.high


def _is_in_objects(shape_of: Callable[[Node], Shape], part: ObjectSet, pairs: dict[str, Value]) -> bool:
    size = len(pairs)
    if size < part.low or (part.high is not None and size > part.high):
        return False
    if any(key not in pairs for key in part.required):
        return False
    if not all(_is_in(shape_of, part.at(key), value) for key, value in pairs.items()):
        return False
    for keys, node in part.somewhere:
        if not any(keys.contains(key) and _is_in(shape_of, node, value) for key, value in pairs.items()):
            return False
    return all(
        any(
            _is_in(shape_of, literal.node, pairs[literal.key]) if literal.key in pairs else literal.or_absent
            for literal in clause
        )
        for clause in part.clauses
    )
