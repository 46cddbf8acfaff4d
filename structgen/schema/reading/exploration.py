"""The nodes that a root node reaches, and which of them have a value: the least fixed point over all shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from structgen.engine.deadlines import spend
from structgen.errors import LimitExceededError
from structgen.schema.algebra import NONE, Case, Node, ObjectSet, complement, meet
from structgen.schema.algebra.array_unions import apart, is_unordered
from structgen.schema.algebra.arrays import ArraySet
from structgen.schema.algebra.counting import TooManyCounts
from structgen.schema.algebra.shape import Shape
from structgen.schema.reading.emptiness import array_holds, children, holds, object_holds, string_holds
from structgen.schema.reading.scopes import pointer
from structgen.schema.reading.space import Space, has_circles

__all__ = ["explore", "split_items"]

_MAX_UNTESTED = 3  # counts of an array, or conditions on any key: if there are no more, their cases are not tested
_MAX_COUNTED_KEYS = 10_000  # keys; more are taken to be endless, as in `schema/rules/states.py`
_MAX_CASES = 1_024  # of a value, by the counts and conditions that it adds to


def explore(space: Space, root: Node) -> tuple[dict[Node, Shape], set[Node]]:
    """Return the shapes of all nodes that a root reaches, and those of the nodes that have a value.

    A node has a value if its shape has a scalar, or a set of arrays or objects whose members can have values of nodes
    that have some. Parts without a value are left out of the shapes.
    """
    shapes: dict[Node, Shape] = {}
    mixed: list[Node] = []
    productive: set[Node] = set()
    pending: list[Node] = []
    work = [root]
    must_differ = False
    while work:
        node = work.pop()
        if node in shapes:
            continue
        shapes[node] = shape = _without_clauses(space.writable(space.shape(node)))
        for array in shape.arrays:
            must_differ = must_differ or array.repeats is False
            if not array.clauses:
                split_items(space, array)
        for part in shape.objects:
            if len(part.somewhere) > _MAX_UNTESTED or (part.somewhere and has_circles(space)):
                _find_key_cases(space, part)
        if len(shapes) & 255 == 0:
            space.deadline.check()
        is_scalar = shape.null or shape.booleans or shape.numbers
        has_content = False
        for strings in shape.strings:
            if strings.grammars and not string_holds(strings, productive):
                has_content = True
            else:
                is_scalar = True
        if is_scalar:
            productive.add(node)
        if shape.arrays or shape.objects or has_content:
            work += children(shape)
            if not is_scalar:
                pending.append(node)
            if is_scalar or has_content or len(shape.arrays) + len(shape.objects) > 1:
                mixed.append(node)
    pending.reverse()
    scalars = set(productive) if must_differ else productive
    empty = _grow(space, shapes, pending, productive)
    while must_differ and empty and space.sizes().learn(empty):  # so there are fewer different items than was known
        productive = set(scalars)
        empty = _grow(space, shapes, pending, productive)
    for node in (*mixed, *empty):  # every other node has one part, which has a value
        shapes[node] = _held(space, shapes[node], productive)
    return shapes, productive


def _grow(space: Space, shapes: dict[Node, Shape], pending: list[Node], productive: set[Node]) -> list[Node]:
    """Add those of some nodes that have a value to the productive ones, and return the others."""
    while pending:
        left: list[Node] = []
        spend(2 * len(pending))
        for node in pending:
            if _holds(space, node, shapes[node], productive):
                productive.add(node)
            else:
                left.append(node)
        is_done = len(left) in (0, len(pending))
        pending = left
        if is_done:
            break
        space.deadline.check()
    return pending


def _without_clauses(shape: Shape) -> Shape:
    """Return a shape in which the rules of each set with clauses can follow them; see `rules/array_clauses.py`."""
    if all(is_unordered(part) for part in shape.arrays if part.clauses):
        return shape
    each = [apart(part) if part.clauses and not is_unordered(part) else [part] for part in shape.arrays]
    return replace(shape, arrays=tuple([part for parts in each for part in parts]))


def split_items(space: Space, part: ArraySet) -> None:
    """Split the items of a set by its counts, where these are many, without cases that have no value.

    Thirty counts of different constants have 31 cases. As names of nodes alone, they would have 2³⁰.
    """
    if len(part.contains) <= _MAX_UNTESTED and not (part.contains and has_circles(space)):
        return
    if part.known_cases is None or has_circles(space):
        part.known_cases = None
        overlapping = _overlapping(space, [number for number, count in enumerate(part.contains) if count.high is None])
        part.known_cases = {
            index: _cases(space, overlapping, part.at(index), part.counting(index)) for index in range(part.settled + 1)
        }


def _find_key_cases(space: Space, part: ObjectSet) -> None:
    """Split the values of keys by the conditions that some value must meet, without cases that have no value."""
    if part.known_cases is None or has_circles(space):
        part.known_cases = None
        overlapping = _overlapping(space, range(len(part.somewhere)))
        split_by: Callable[[Node, list[tuple[int, Node]]], list[Case]] = partial(_cases, space, overlapping)
        if not space.object_may_hold(part):
            split_by = _one_case  # there is no member whose values could be split
        elif _can_wait(space, part):
            part.is_unsplit = True
            split_by = _one_case
        named = {key: split_by(part.at(key), part.asked_of(key)) for key in part.properties}
        part.known_cases = named, part.key_cases(split_by)


def _can_wait(space: Space, part: ObjectSet) -> bool:
    """Return whether the values of keys need no split into cases.

    They need none if, whatever is written, further keys can still satisfy all conditions. A split of arrays and objects
    by n conditions may make 2ⁿ cases; scalars have few.
    """
    if part.high is not None or part.overlapping:
        return False
    for keys, node in part.somewhere:
        others = part.witnesses(keys, node)[1]
        if not any(
            mine.count(_MAX_COUNTED_KEYS) == _MAX_COUNTED_KEYS and _has_parts(space, found) for mine, found in others
        ):
            return False
    return True


def _has_parts(space: Space, node: Node) -> bool:
    shape = space.shape(node)
    return bool(shape.arrays or shape.objects) and space.may_hold(node)


def _one_case(node: Node, asked: list[tuple[int, Node]]) -> list[Case]:
    return [(frozenset(), node)]


def _overlapping(space: Space, numbers: Iterable[int]) -> set[int]:
    """Return the numbers of the nodes whose cases may share values: all of them, or none.

    Cases share values if it may be undecided whether a value is in a node (`has_circles`). Such a value counts for no
    node, but it may stand beside others that do.
    """
    return set(numbers) if has_circles(space) else set()


def _cases(space: Space, overlapping: set[int], node: Node, asked: list[tuple[int, Node]]) -> list[Case]:
    """Split a node by which of some numbered nodes its values are in. Cases of the overlapping numbers share values."""
    found: list[Case] = [(frozenset(), node)]
    for number, other in asked:
        split: list[Case] = []
        for given, mine in found:
            spend(1)
            inside = meet(mine, other)
            outside = mine if number in overlapping and inside != mine else meet(mine, complement(other))
            if inside == NONE or not space.may_hold(inside):
                split.append((given, mine))
            elif outside == NONE or not space.may_hold(outside):
                split.append((given | {number}, mine))
            else:
                split += [(given | {number}, inside), (given, outside)]
        found = split
        if len(found) > _MAX_CASES:
            message = "too many ways to count the items of an array, or to meet the conditions on the keys of an object"
            raise LimitExceededError("schema_nodes", _MAX_CASES, message=message, is_fixed=True)
    return found


def _holds(space: Space, node: Node, shape: Shape, productive: set[Node]) -> bool:
    try:
        return holds(shape, productive, space.sizes)
    except TooManyCounts as error:
        location = pointer(space.location(node))
        message = f"too many ways to count the items of an array (at #{location})"
        raise LimitExceededError("schema_nodes", space.limits.schema_nodes, message=message, is_fixed=True) from error


def _held(space: Space, shape: Shape, productive: set[Node]) -> Shape:
    """Return a shape without the parts that have no value."""
    arrays = tuple([part for part in shape.arrays if array_holds(part, productive, space.sizes)])
    objects = tuple([part for part in shape.objects if object_holds(part, productive)])
    strings = tuple([part for part in shape.strings if not part.grammars or string_holds(part, productive)])
    if (len(strings), len(arrays), len(objects)) == (len(shape.strings), len(shape.arrays), len(shape.objects)):
        return shape
    return replace(shape, strings=strings, arrays=arrays, objects=objects)
