"""Which part of a text belongs to which of several grammars in a row."""

from __future__ import annotations

from collections.abc import Sequence

from structgen.engine.earley.item_sets import ItemSetStore
from structgen.engine.matching.compiled import CompiledGrammar

__all__ = ["split"]

Part = bytes | CompiledGrammar


def split(data: bytes, parts: Sequence[Part]) -> list[bytes] | None:
    """Divides a text into one piece for each part; None where it cannot be.

    Where there are several ways, the first part gets the longest piece that leaves the rest possible, then the second,
    and so on: what POSIX calls leftmost-longest.

    Cost: linear in the text times the Earley sets that are alive at a time, which for regular parts are bounded.

    Args:
        data: the text.
        parts: grammars, and bytes that stand for themselves.
    """
    reached = [{0}]
    for part in parts:
        reached.append(_ends(part, data, reached[-1]))
    goals = [{len(data)} & reached.pop()]
    for part, starts in zip(reversed(parts), reversed(reached)):
        goals.append(_starts(part, data, starts, goals[-1]))
    if not goals.pop():
        return None
    pieces: list[bytes] = []
    at = 0
    for part, goal in zip(parts, reversed(goals)):
        end = max(_ends(part, data, {at}) & goal)
        pieces.append(data[at:end])
        at = end
    return pieces


def _ends(part: Part, data: bytes, starts: set[int]) -> set[int]:
    """Where texts of a part may end that begin at some place."""
    if isinstance(part, bytes):
        return {start + len(part) for start in starts if data.startswith(part, start)}
    ends: set[int] = set()
    if not starts:
        return ends
    last = max(starts)
    with part.lock:
        sets = _fresh_sets(part)
        alive: set[int] = set()
        for at in range(min(starts), len(data) + 1):
            if at in starts:
                alive.add(sets.start_set)
            if any(sets.table.accepting[place] for place in alive):
                ends.add(at)
            if at == len(data) or (at >= last and not alive):
                break
            byte = data[at]
            alive = {target for place in alive if (target := sets.goto(place, byte))}
    return ends


def _starts(part: Part, data: bytes, starts: set[int], goals: set[int]) -> set[int]:
    """From which of some places a text of a part leads to a goal."""
    if isinstance(part, bytes):
        return {start for start in starts if start + len(part) in goals and data.startswith(part, start)}
    good: set[int] = set()
    if not starts or not goals:
        return good
    last, end = max(starts), max(goals)
    with part.lock:
        sets = _fresh_sets(part)
        begun: dict[int, list[int]] = {}  # by set: where texts began that are in it now, and have met no goal yet
        for at in range(min(starts), end + 1):
            if at in starts:
                begun.setdefault(sets.start_set, []).append(at)
            if at in goals:
                for place in [place for place in begun if sets.table.accepting[place]]:
                    good.update(begun.pop(place))
            if at == end or (at >= last and not begun):
                break
            begun = _after(sets, begun, data[at])
    return good


def _after(sets: ItemSetStore, begun: dict[int, list[int]], byte: int) -> dict[int, list[int]]:
    following: dict[int, list[int]] = {}
    for place, places in begun.items():
        target = sets.goto(place, byte)
        if target:
            other = following.get(target, [])
            longer, shorter = (other, places) if len(other) > len(places) else (places, other)
            longer.extend(shorter)
            following[target] = longer
    return following


def _fresh_sets(part: CompiledGrammar) -> ItemSetStore:
    """The sets of a grammar, with room for another text."""
    if part.sets.set_count > part.limits.item_sets // 2:
        part.renew_sets()
    return part.sets
