"""What the normal form asks of a regex: whether it matches the empty text, what else, and whether anything at all.

All work on the tree, iteratively, and keep its shape where they rewrite it, so that a counted class stays one.
"""

from __future__ import annotations

from structgen.engine import regex as rx

__all__ = ["can_match", "is_nullable", "post_order", "without_empty"]

# Taking the empty text out of a sequence of n nullable parts writes n(n+1)/2 parts; past this a difference is smaller.
_LONGEST_REWRITTEN_SEQUENCE = 4


def post_order(regex: rx.Regex) -> list[rx.Regex]:
    """All nodes, each after its children."""
    stack, out = [regex], []
    while stack:
        node = stack.pop()
        out.append(node)
        if isinstance(node, (rx.Sequence, rx.Choice, rx.Intersection)):
            stack.extend(node.parts)
        elif isinstance(node, (rx.Repeat, rx.Complement, rx.Early)):
            stack.append(node.body)
    out.reverse()
    return out


def is_nullable(regex: rx.Regex) -> bool:
    """Whether the regex matches the empty text; exact."""
    return _nullable_nodes(post_order(regex))[id(regex)]


def _nullable_nodes(nodes: list[rx.Regex]) -> dict[int, bool]:
    """For each node (by `id`), whether it matches the empty text; children come before their parents."""
    known: dict[int, bool] = {}
    for node in nodes:
        if isinstance(node, rx.Literal):
            value = not node.data
        elif isinstance(node, (rx.Chars, rx.ByteSet)):
            value = False
        elif isinstance(node, (rx.Sequence, rx.Intersection)):
            value = all(known[id(part)] for part in node.parts)
        elif isinstance(node, rx.Choice):
            value = any(known[id(part)] for part in node.parts)
        elif isinstance(node, rx.Repeat):
            value = node.min == 0 or known[id(node.body)]
        elif isinstance(node, rx.Complement):
            value = not known[id(node.body)]
        elif isinstance(node, rx.Early):
            value = known[id(node.body)]
        elif isinstance(node, rx.Multiple):
            value = node.remainder == 0
        else:
            value = isinstance(node, rx.Substrings) or b"" in node.texts
        known[id(node)] = value
    return known


def can_match(regex: rx.Regex) -> bool | None:
    """Whether the regex matches anything; None where only a search of its automaton could tell."""
    known: dict[int, bool | None] = {}
    for node in post_order(regex):
        value: bool | None = True
        if isinstance(node, rx.Chars):
            value = bool(node.ranges)
        elif isinstance(node, rx.ByteSet):
            value = bool(node.mask)
        elif isinstance(node, rx.LiteralSet):
            value = bool(node.texts)
        elif isinstance(node, (rx.Sequence, rx.Intersection)):
            found = {known[id(part)] for part in node.parts}
            value = False if False in found else None if None in found or isinstance(node, rx.Intersection) else True
        elif isinstance(node, rx.Choice):
            found = {known[id(part)] for part in node.parts}
            value = True if True in found else None if None in found else False
        elif isinstance(node, rx.Repeat):
            value = True if node.min == 0 else known[id(node.body)]
        elif isinstance(node, rx.Early):
            value = known[id(node.body)]
        elif isinstance(node, rx.Complement):
            value = True if known[id(node.body)] is False else None
        known[id(node)] = value
    return known[id(regex)]


def without_empty(regex: rx.Regex) -> rx.Regex:
    """What the regex matches, but not the empty text: `[a-z]{0,9}` becomes `[a-z]{1,9}`."""
    nodes = post_order(regex)
    nullable = _nullable_nodes(nodes)
    if not nullable[id(regex)]:
        return regex
    known: dict[int, rx.Regex] = {}
    for node in nodes:
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
