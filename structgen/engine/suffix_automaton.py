"""The smallest automaton of all substrings of a text of units, such as words or characters."""

from __future__ import annotations

__all__ = ["suffix_automaton"]


def suffix_automaton(units: tuple[bytes, ...]) -> list[list[tuple[bytes, int]]]:
    """By state, the units that may come next and the states they lead to. State 0 is the start; all states accept.

    Source: Blumer et al., "The Smallest Automaton Recognizing the Subwords of a Text" (1985); linear in the text.
    """
    after: list[dict[bytes, int]] = [{}]
    link = [-1]
    length = [0]
    last = 0
    for unit in units:
        state = len(after)
        after.append({})
        length.append(length[last] + 1)
        link.append(0)
        at = last
        while at >= 0 and unit not in after[at]:
            after[at][unit] = state
            at = link[at]
        if at >= 0:
            target = after[at][unit]
            if length[target] != length[at] + 1:
                clone = len(after)
                after.append(dict(after[target]))
                length.append(length[at] + 1)
                link.append(link[target])
                link[target] = clone
                while at >= 0 and after[at].get(unit) == target:
                    after[at][unit] = clone
                    at = link[at]
                target = clone
            link[state] = target
        last = state
    return [list(edges.items()) for edges in after]
