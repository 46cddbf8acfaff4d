"""The split of a text into one piece for each of several grammars in a row.

    parts   b"a = "   [0-9]+   b", "   [a-z]+
    text    a = 12, xyz
    pieces  b"a = "   b"12"    b", "   b"xyz"

From left to right, it computes the positions where each part may end; from right to left, the positions where each part
may start so that the rest fits. Then each part takes the last end that leaves the rest possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from structgen.engine.matching.compiled import CompiledGrammar, Held

__all__ = ["Part", "ends_of", "split", "starts_of"]

Part = bytes | CompiledGrammar


def split(data: bytes, parts: Sequence[Part]) -> list[bytes] | None:
    """Split a text into one piece for each part; return None where that is impossible.

    Where there are several ways, the first part gets the longest piece that leaves the rest possible, then the second,
    and so on. POSIX calls that rule leftmost-longest.

    Cost: the length of the text times the number of Earley sets that are alive at a time, which is bounded for regular
    parts.

    Args:
        data: the text.
        parts: grammars, and bytes that stand for themselves.
    """
    reached = [{0}]
    for part in parts:
        reached.append(ends_of(part, data, reached[-1]))
    goals = [{len(data)} & reached.pop()]
    for part, starts in zip(reversed(parts), reversed(reached)):
        goals.append(starts_of(part, data, starts, goals[-1]))
    if not goals.pop():
        return None
    pieces: list[bytes] = []
    at = 0
    for part, goal in zip(parts, reversed(goals)):
        end = max(ends_of(part, data, {at}) & goal)
        pieces.append(data[at:end])
        at = end
    return pieces


def ends_of(part: Part, data: bytes, starts: set[int]) -> set[int]:
    """Return the positions where texts of a part may end that start at one of `starts`."""
    if isinstance(part, bytes):
        return {start + len(part) for start in starts if data.startswith(part, start)}
    ends: set[int] = set()
    if not starts:
        return ends
    last = max(starts)
    with Held(part):
        sets, most = part.sets, part.limits.item_sets // 2
        alive: set[int] = set()
        for at in range(min(starts), len(data) + 1):
            if at in starts:
                alive.add(sets.start_set)
            if any(sets.table.accepting[set_id] for set_id in alive):
                ends.add(at)
            if at == len(data) or (at >= last and not alive):
                break
            if sets.set_count > most:
                alive = set(_renewed(part, alive).values())
                sets = part.sets
            byte = data[at]
            alive = {target for set_id in alive if (target := sets.goto(set_id, byte))}
    return ends


def starts_of(part: Part, data: bytes, starts: set[int], goals: set[int]) -> set[int]:
    """Return those of `starts` from which a text of a part leads to one of `goals`."""
    if isinstance(part, bytes):
        return {start for start in starts if start + len(part) in goals and data.startswith(part, start)}
    good: set[int] = set()
    if not starts or not goals:
        return good
    last, end = max(starts), max(goals)
    with Held(part):
        sets, most = part.sets, part.limits.item_sets // 2
        begun: dict[
            int, list[int]
        ] = {}  # by set: start positions of the texts that are in it, without those that have met a goal
        for at in range(min(starts), end + 1):
            if at in starts:
                begun.setdefault(sets.start_set, []).append(at)
            if at in goals:
                for set_id in [set_id for set_id in begun if sets.table.accepting[set_id]]:
                    good.update(begun.pop(set_id))
            if at == end or (at >= last and not begun):
                break
            if sets.set_count > most:
                begun = _moved(begun, _renewed(part, begun))
                sets = part.sets
            byte = data[at]
            begun = _moved(begun, {set_id: sets.goto(set_id, byte) for set_id in begun})
    return good


def _moved(begun: dict[int, list[int]], targets: dict[int, int]) -> dict[int, list[int]]:
    """Return the start positions by the sets after some sets, where 0 is none."""
    following: dict[int, list[int]] = {}
    for set_id, starts in begun.items():
        target = targets[set_id]
        if target:
            other = following.get(target, [])
            longer, shorter = (other, starts) if len(other) > len(starts) else (starts, other)
            longer.extend(shorter)
            following[target] = longer
    return following


def _renewed(part: CompiledGrammar, alive: Iterable[int]) -> dict[int, int]:
    """Begin the sets of a grammar anew, where they leave little room; return the new numbers of some sets."""
    dropped = part.sets
    part.renew_sets()
    return {set_id: part.sets.adopt(dropped, set_id) for set_id in alive}
