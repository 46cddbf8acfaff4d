"""How long the texts of a regex are, read off its tree: enough to see, cheaply, that most patterns match something."""

from __future__ import annotations

from structgen.engine.regex import Chars, Choice, Literal, LiteralSet, Regex, Repeat, Sequence

__all__ = ["lengths"]

_UNKNOWN = (None, False)


def lengths(regex: Regex) -> tuple[int | None, bool]:
    """The length in characters of the shortest text, and whether every greater length occurs.

    The length is None where the tree does not tell; False is always safe for the other.
    """
    done: dict[int, tuple[int | None, bool]] = {}
    stack = [regex]
    while stack:
        node = stack[-1]
        if id(node) in done:
            stack.pop()
            continue
        children = _children(node)
        missing = [child for child in children if id(child) not in done]
        if missing:
            stack.extend(missing)
            continue
        done[id(node)] = _lengths(node, [done[id(child)] for child in children])
        stack.pop()
    return done[id(regex)]


def _children(regex: Regex) -> tuple[Regex, ...]:
    if isinstance(regex, (Sequence, Choice)):
        return regex.parts
    return (regex.body,) if isinstance(regex, Repeat) else ()


def _lengths(regex: Regex, parts: list[tuple[int | None, bool]]) -> tuple[int | None, bool]:
    if isinstance(regex, Chars):
        return (1, False) if regex.ranges else _UNKNOWN
    if isinstance(regex, Literal):
        return sum(byte & 0xC0 != 0x80 for byte in regex.data), False
    if isinstance(regex, LiteralSet):
        return min(sum(byte & 0xC0 != 0x80 for byte in text) for text in regex.texts), False
    known = [shortest for shortest, _ in parts if shortest is not None]
    if isinstance(regex, Sequence) and len(known) == len(parts):
        return sum(known), any(endless for _, endless in parts)
    if isinstance(regex, Choice) and known:
        least = min(known)
        return least, any(endless and shortest == least for shortest, endless in parts)
    if isinstance(regex, Repeat) and (regex.min == 0 or known):
        shortest = known[0] if known else None
        endless = regex.max is None and shortest == 1
        return regex.min * (shortest or 0), endless or (regex.min == 1 and parts[0][1])
    return _UNKNOWN
