"""Facts of a regex that its tree tells without an automaton: nullable or not, empty or not, equal to another or not.

The normal form needs these for every terminal. `without_empty` removes the empty text from a regex and keeps the shape
of its tree, so that a counted class stays one: `[a-z]{0,9}` becomes `[a-z]{1,9}`. Everything is iterative.
"""

from __future__ import annotations

from structgen.engine.regex import tree as rx

__all__ = ["is_surely_text", "post_order", "survey", "text_units", "without_empty"]

# Removing the empty text from a sequence of n nullable parts writes n(n+1)/2 parts; past this a difference is smaller.
_MAX_REWRITTEN_PARTS = 4
_MAX_FEW_UNITS = 1000  # texts or units in the tables of a regex that still count as few


def post_order(regex: rx.Regex) -> list[rx.Regex]:
    """Return all nodes, each after its children; a node that is part of several others is listed once."""
    stack: list[rx.Regex | None] = [regex]
    out: list[rx.Regex] = []
    known: set[int] = set()
    while stack:
        node = stack.pop()
        if node is None:  # all children of the next entry are in the list
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
    """Return all that the tree tells of a regex, in one pass.

    Returns:
        Three facts. For each node (by `id`) whether it matches the empty text. Whether the whole matches any text;
        None where only a search of its automaton could tell. And the tree as a flat tuple, equal for equal trees and
        for no others: its different nodes in post-order, each with its type, its content and the numbers of its
        children.
    """
    nullable: dict[int, bool] = {}
    matches: dict[int, bool | None] = {}
    numbers: dict[tuple[object, ...], int] = {}
    number_of: dict[int, int] = {}
    for node in post_order(regex):
        empty, some, content = _facts(node, nullable, matches)
        nullable[id(node)] = empty
        matches[id(node)] = some
        key = (type(node), content, *(number_of[id(child)] for child in _children(node)))
        number_of[id(node)] = numbers.setdefault(key, len(numbers))
    return nullable, matches[id(regex)], tuple(numbers)


def _facts(
    node: rx.Regex, nullable: dict[int, bool], matches: dict[int, bool | None]
) -> tuple[bool, bool | None, object]:
    """Return the facts of a node whose children are known: nullable, can match, and its own content."""
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
        is_one = any(node.remainder % factor == 0 for factor in (node.divisor, *node.factors))
        return is_one, True, (node.divisor, node.remainder, node.factors)
    if isinstance(node, rx.Remainders):
        is_one = any(
            node.remainder % step == 0 and all(node.remainder % divisor for divisor in refused)
            for step, refused in node.choices
        )
        return is_one and node.min == 0, None, (node.choices, node.remainder, node.min, node.max)
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


def is_surely_text(regex: rx.Regex) -> bool:
    """Return whether the tree alone shows that a regex matches UTF-8 text only; else an automaton has to decide."""
    known: dict[int, bool] = {}
    for node in post_order(regex):
        children = [known[id(child)] for child in _children(node)]
        if isinstance(node, rx.Intersection):
            known[id(node)] = any(children)
        elif isinstance(node, rx.ByteSet):
            known[id(node)] = not node.mask >> 0x80
        elif isinstance(node, rx.Literal):
            known[id(node)] = _is_utf8(node.data)
        elif isinstance(node, rx.LiteralSet):
            known[id(node)] = all(map(_is_utf8, node.texts))
        else:
            known[id(node)] = all(children) and not isinstance(node, (rx.Complement, rx.Substrings, rx.Runs))
    return known[id(regex)]


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def text_units(regex: rx.Regex) -> int:
    """Return the number of texts and units in the tables of a regex if these are many, else 0."""
    found = 0
    for node in post_order(regex):
        if isinstance(node, rx.LiteralSet):
            found += len(node.texts)
        elif isinstance(node, (rx.Runs, rx.Substrings)):
            found += len(node.units)
    return found if found > _MAX_FEW_UNITS else 0


def without_empty(regex: rx.Regex) -> rx.Regex:
    """Return the regex without the empty text: `[a-z]{0,9}` becomes `[a-z]{1,9}`."""
    nullable = survey(regex)[0]
    if not nullable[id(regex)]:
        return regex
    known: dict[int, rx.Regex] = {}
    for node in post_order(regex):
        known[id(node)] = _without_empty(node, known) if nullable[id(node)] else node
    return known[id(regex)]


def _without_empty(node: rx.Regex, known: dict[int, rx.Regex]) -> rx.Regex:
    """Return a nullable node without the empty text, given its children without it."""
    if isinstance(node, (rx.Literal, rx.Early)):
        return rx.NOTHING
    if isinstance(node, rx.LiteralSet):
        return rx.literal_set(text for text in node.texts if text)
    if isinstance(node, rx.Choice):
        return rx.choice(*(known[id(part)] for part in node.parts))
    if isinstance(node, rx.Repeat):
        body = known[id(node.body)]
        return rx.NOTHING if body == rx.NOTHING or node.max == 0 else rx.repeat(body, 1, node.max)
    if isinstance(node, rx.Complement):
        return rx.Complement(rx.choice(node.body, rx.EMPTY))
    if isinstance(node, rx.Intersection):
        # It is enough to change one part. A complement would grow, so another part is preferred.
        index = next((i for i, part in enumerate(node.parts) if not isinstance(part, rx.Complement)), 0)
        return rx.intersection(*(known[id(part)] if i == index else part for i, part in enumerate(node.parts)))
    if isinstance(node, rx.Sequence) and len(node.parts) <= _MAX_REWRITTEN_PARTS:
        return rx.choice(*(rx.sequence(known[id(part)], *node.parts[i + 1 :]) for i, part in enumerate(node.parts)))
    return rx.difference(node, rx.EMPTY)
