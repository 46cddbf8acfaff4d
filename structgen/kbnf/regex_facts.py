"""What the normal form asks of a regex: whether it matches the empty text, what else, whether anything at all, and
whether it is the same as another.

All works on the tree, iteratively; what rewrites it keeps its shape, so that a counted class stays one.
"""

from __future__ import annotations

from structgen.engine.regex import tree as rx

__all__ = ["post_order", "survey", "text_units", "without_empty"]

# Taking the empty text out of a sequence of n nullable parts writes n(n+1)/2 parts; past this a difference is smaller.
_LONGEST_REWRITTEN_SEQUENCE = 4
_MANY_UNITS = 1000


def post_order(regex: rx.Regex) -> list[rx.Regex]:
    """All nodes, each after its children; one that is part of several others is listed once."""
    stack: list[rx.Regex | None] = [regex]
    out: list[rx.Regex] = []
    known: set[int] = set()
    while stack:
        node = stack.pop()
        if node is None:  # what stands below it has its children in the list
            out.append(stack.pop())  # type: ignore[arg-type]
            continue
        children = _children(node)
        if not children:
            out.append(node)
        elif id(node) not in known:
            known.add(id(node))
            stack += (node, None)
            stack.extend(reversed(children))
    return out


def _children(node: rx.Regex) -> tuple[rx.Regex, ...]:
    kind = type(node)
    if kind is rx.Sequence or kind is rx.Choice or kind is rx.Intersection:
        return node.parts  # type: ignore[union-attr]
    if kind is rx.Repeat or kind is rx.Complement or kind is rx.Early:
        return (node.body,)  # type: ignore[union-attr]
    return ()


def survey(regex: rx.Regex) -> tuple[dict[int, bool], bool | None, tuple[object, ...]]:
    """All that is known of a regex from its tree, in one pass.

    Returns:
        for each node (by `id`) whether it matches the empty text; `can_match` of the whole; and the tree as a flat
        tuple, equal for equal trees and for no others: its different nodes in post-order, each with its type, its
        content and the places of its children.
    """
    nullable: dict[int, bool] = {}
    matches: dict[int, bool | None] = {}
    places: dict[tuple[object, ...], int] = {}
    place_of: dict[int, int] = {}
    for node in post_order(regex):
        empty, some, content = _facts(node, nullable, matches)
        nullable[id(node)] = empty
        matches[id(node)] = some
        key = (type(node), content, *(place_of[id(child)] for child in _children(node)))
        place_of[id(node)] = places.setdefault(key, len(places))
    return nullable, matches[id(regex)], tuple(places)


def _facts(
    node: rx.Regex, nullable: dict[int, bool], matches: dict[int, bool | None]
) -> tuple[bool, bool | None, object]:
    """One node, whose children are known: nullable, can match, and its own content."""
    if isinstance(node, rx.Literal):
        return not node.data, True, node.data
    if isinstance(node, rx.ByteSet):
        return False, node.mask != 0, node.mask
    if isinstance(node, rx.Chars):
        return False, bool(node.ranges), node.ranges
    if isinstance(node, rx.Repeat):
        some = True if node.min == 0 else matches[id(node.body)]
        return node.min == 0 or nullable[id(node.body)], some, (node.min, node.max)
    if isinstance(node, rx.LiteralSet):
        return b"" in node.texts, bool(node.texts), node.texts
    if isinstance(node, rx.Substrings):
        return True, True, node.units
    if isinstance(node, rx.Runs):
        return False, bool(node.units), (*node.units, *node.skipped)
    if isinstance(node, rx.Multiple):
        return node.remainder == 0, True, (node.divisor, node.remainder)
    if isinstance(node, rx.Complement):
        return not nullable[id(node.body)], True if matches[id(node.body)] is False else None, None
    if isinstance(node, rx.Early):
        return nullable[id(node.body)], matches[id(node.body)], None
    empties = [nullable[id(part)] for part in node.parts]
    found = [matches[id(part)] for part in node.parts]
    if isinstance(node, rx.Choice):
        return any(empties), True if True in found else None if None in found else False, len(found)
    unsure = None in found or isinstance(node, rx.Intersection)
    return all(empties), False if False in found else None if unsure else True, len(found)


def text_units(regex: rx.Regex) -> int:
    """How many texts the tables in the regex have, and how many units its texts, where these are many."""
    found = 0
    for node in post_order(regex):
        if isinstance(node, rx.LiteralSet):
            found += len(node.texts)
        elif isinstance(node, (rx.Runs, rx.Substrings)):
            found += len(node.units)
    return found if found > _MANY_UNITS else 0


def without_empty(regex: rx.Regex) -> rx.Regex:
    """What the regex matches, but not the empty text: `[a-z]{0,9}` becomes `[a-z]{1,9}`."""
    nullable = survey(regex)[0]
    if not nullable[id(regex)]:
        return regex
    known: dict[int, rx.Regex] = {}
    for node in post_order(regex):
        known[id(node)] = _without_empty(node, known) if nullable[id(node)] else node
    return known[id(regex)]


def _without_empty(node: rx.Regex, known: dict[int, rx.Regex]) -> rx.Regex:
    """One step of `without_empty`, for a node that is nullable; its children's are known."""
    if isinstance(node, (rx.Literal, rx.Early)):
        return rx.NOTHING
    if isinstance(node, rx.LiteralSet):
        return rx.literal_set(text for text in node.texts if text)
    if isinstance(node, rx.Choice):
        return rx.choice(*(known[id(part)] for part in node.parts))
    if isinstance(node, rx.Repeat):
        body = known[id(node.body)]
        return rx.NOTHING if body == rx.NOTHING else rx.repeat(body, 1, node.max)
    if isinstance(node, rx.Complement):
        return rx.Complement(rx.choice(node.body, rx.EMPTY))
    if isinstance(node, rx.Intersection):
        # One part without the empty text is enough; a complement would grow, so rather another.
        index = next((i for i, part in enumerate(node.parts) if not isinstance(part, rx.Complement)), 0)
        return rx.intersection(*(known[id(part)] if i == index else part for i, part in enumerate(node.parts)))
    if isinstance(node, rx.Sequence) and len(node.parts) <= _LONGEST_REWRITTEN_SEQUENCE:
        return rx.choice(*(rx.sequence(known[id(part)], *node.parts[i + 1 :]) for i, part in enumerate(node.parts)))
    return rx.difference(node, rx.EMPTY)
