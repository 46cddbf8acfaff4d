r"""Repeated groups with assertions at their edges, as in `^(?:\b\w+\b\s*){1,250}$` (at most 250 words).

Each round is a regex with conditions on the character before it and on the one after it. The characters that a round
begins and ends with decide which rounds may come next to it. So the rounds are split by these characters into *kinds*:

    \b\w+\b\s*     kind 1: a word, and nothing; no word character may follow
                   kind 2: a word, then white space; anything may follow
                   both: no word character may precede

    1 or more      the paths of a small graph, kind -> kind where the second may follow the first:
                   2 -> 1, 2 -> 2, and not 1 -> 2; nodes are removed one after the other, which leaves a regex
    m to n         (2){m-1,n-1} (1 | 2): possible only where the kinds before the last go with all others
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from structgen.engine.regex.tree import EMPTY, NOTHING, Chars, Regex, choice, repeat, sequence, star
from structgen.engine.regex.unicode_classes import ANY, Ranges, intersection_of, negation_of
from structgen.engine.regex_syntax.assertion_tree import (
    Asserting,
    Pattern,
    assertion,
    join,
    look_ahead,
    single_character,
)
from structgen.engine.regex_syntax.edges import beginning_with, ending_with, has_more_nodes, is_nullable, not_empty
from structgen.engine.regex_syntax.look_behind_conditions import ALWAYS, Conditions, Options, add_option
from structgen.errors import GrammarError

__all__ = ["repeated_options"]

MAX_KINDS = 10
MAX_NODES = 2_000  # of the regex of one repeated group

_NOT_COUNTED = "a group with assertions at its edges cannot be repeated with a count unless all rounds are alike"
_TOO_MANY = "the assertions at the edges of a repeated group are too many"

Following = frozenset[tuple[Ranges, bool]]
"""Conditions on the next character: sets, each with True if it must be in the set, False if it must not."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of round: all have the same conditions, and edges that no condition of the group tells apart.

    Attributes:
        conditions: the conditions on the character before it.
        first, last: one character that it begins with, and one that it ends with. No condition of the group tells
            another first or last character of the same kind from these.
        following: the conditions on the character after it.
    """

    conditions: Conditions
    first: int
    last: int
    following: Following

    def may_precede(self, other: _Kind) -> bool:
        """Return whether the other kind may come right after this one."""
        return all(c.holds_after(self.last) for c in other.conditions) and all(
            any(low <= other.first <= high for low, high in ranges) == is_in for ranges, is_in in self.following
        )


@dataclass(frozen=True, slots=True)
class _End:
    """The node at which those paths end whose last kinds have the same conditions on the next character."""

    following: Following


Table = dict[_Kind, Regex]
_Node = Conditions | _Kind | _End


def repeated_options(options: Options, low: int, high: int | None) -> Options:
    """Return the options of a repeated part.

    Args:
        options: those of one round.
        low: the least number of rounds.
        high: the largest number of rounds, not 1; None without bound.

    Raises:
        GrammarError: a round looks further than the character before or after it; or the rounds are counted, and
            whether one may follow another depends on how the other ends.
    """
    found: list[tuple[Conditions, Regex, Following]] = []
    for conditions, part in options.items():
        if not all(condition.is_near() for condition in conditions):
            raise GrammarError("look-behind in a repeated group that looks further than one character before it")
        found += [(conditions, regex, following) for regex, following in _ahead(part, [(EMPTY, frozenset())])]
    empty = {(conditions, following) for conditions, regex, following in found if is_nullable(regex)}
    if not any(conditions or following for conditions, _, following in found):
        return {ALWAYS: repeat(choice(*(regex for _, regex, _ in found)), low, high)}
    if (ALWAYS, frozenset()) in empty:
        low = 0  # an empty round makes up for any that are missing
    if low > 1 and empty:
        raise GrammarError(_NOT_COUNTED)
    kinds = _kinds(found)
    result = _paths(kinds) if high is None and low <= 1 else _counted(kinds, low, high)
    if low == 0:
        add_option(result, ALWAYS, EMPTY)
    elif low == 1:
        for conditions, following in empty:
            add_option(result, conditions, _looking(following))
    return result


def _ahead(part: Pattern, rest: list[tuple[Regex, Following]]) -> list[tuple[Regex, Following]]:
    """Return a part followed by `rest`, as regexes each with the conditions on the next character."""
    if not isinstance(part, Asserting):
        return [(sequence(part, regex), following) for regex, following in rest]
    if part.kind == "sequence":
        for inner in reversed(part.parts):
            rest = _ahead(inner, rest)
        return rest
    if part.kind == "choice":
        return [found for inner in part.parts for found in _ahead(inner, rest)]
    if part.kind == "repeat" and part.max == 1:
        return [*_ahead(part.parts[0], rest), *(rest if part.min == 0 else [])]
    character = single_character(part.parts[0]) if part.kind == "look" else None
    if part.kind != "end" and character is None:
        raise GrammarError("a group with look-ahead cannot be repeated beside other assertions")
    ranges, is_in = (character.ranges, not part.negative) if character is not None else (ANY, False)
    found: list[tuple[Regex, Following]] = []
    for regex, following in rest:
        found.append((beginning_with(regex, ranges if is_in else negation_of(ranges)), following))
        if is_nullable(regex):
            found.append((EMPTY, following | {(ranges, is_in)}))
    return [
        (regex, following)
        for regex, following in found
        if regex != NOTHING and not any((ranges, not is_in) in following for ranges, is_in in following)
    ]


def _looking(following: Following) -> Pattern:
    """Return the conditions on the next character as assertions."""
    return join(
        *[
            assertion("end") if ranges == ANY and not is_in else look_ahead(Chars(ranges), negative=not is_in)
            for ranges, is_in in following
        ]
    )


def _atoms(sets: Iterable[Ranges]) -> list[Ranges]:
    """Return all characters, split into classes of which each set holds all or nothing."""
    atoms = [ANY]
    for ranges in sets:
        halves = [
            half
            for atom in atoms
            for half in (intersection_of(atom, ranges), intersection_of(atom, negation_of(ranges)))
        ]
        atoms = [half for half in halves if half]
    return atoms


def _kinds(found: list[tuple[Conditions, Regex, Following]]) -> Table:
    """Return the non-empty rounds, split by the first and last characters that the conditions tell apart."""
    lasts = _atoms({c.near_characters() for conditions, _, _ in found for c in conditions})
    firsts = _atoms({ranges for _, _, following in found for ranges, _ in following})
    kinds: Table = {}
    for conditions, regex, following in found:
        for first in firsts:
            begun = beginning_with(not_empty(regex), first)
            for last in lasts:
                ended = ending_with(begun, last)
                if ended != NOTHING:
                    kind = _Kind(conditions, first[0][0], last[0][0], following)
                    kinds[kind] = choice(kinds.get(kind, NOTHING), ended)
    if len(kinds) > MAX_KINDS:
        raise GrammarError(_TOO_MANY)
    return kinds


def _counted(kinds: Table, low: int, high: int | None) -> Options:
    """Return the options of `low` to `high` rounds, at least one.

    Raises:
        GrammarError: a kind that may stand before another kind may not stand before all.
    """
    if not kinds:
        return {}
    inner = {kind: regex for kind, regex in kinds.items() if any(kind.may_precede(other) for other in kinds)}
    are_alike = len({kind.conditions for kind in kinds}) == 1 and all(
        kind.may_precede(other) for kind in inner for other in kinds
    )
    if not are_alike:
        raise GrammarError(_NOT_COUNTED)
    if not inner and low > 1:
        return {}
    fewer = None if high is None else high - 1
    before = repeat(choice(*inner.values()), max(low, 1) - 1, fewer) if inner else EMPTY
    result: Options = {}
    for following in {kind.following for kind in kinds}:
        last = choice(*(regex for kind, regex in kinds.items() if kind.following == following))
        add_option(result, next(iter(kinds)).conditions, join(sequence(before, last), _looking(following)))
    return result


def _paths(kinds: Table) -> Options:
    """Return the options of one round or more: the paths of the graph of kinds.

    Kinds are removed from the graph one after the other (state elimination, as for an automaton's regex), until its
    edges lead from begins to ends only.
    """
    # An edge carries the regex of the kind that it leads to. Begins are the conditions on the character before.
    graph: dict[_Node, dict[_Node, Regex]] = {}
    for kind, regex in kinds.items():
        graph.setdefault(kind.conditions, {})[kind] = regex
        graph[kind] = {other: after for other, after in kinds.items() if kind.may_precede(other)}
        graph[kind][_End(kind.following)] = EMPTY
    for kind in kinds:
        after = graph.pop(kind)
        loop = star(after.pop(kind)) if kind in after else EMPTY
        for edges in graph.values():
            into = edges.pop(kind, None)
            if into is not None:
                for node, regex in after.items():
                    edges[node] = choice(edges.get(node, NOTHING), sequence(into, loop, regex))
    result: Options = {}
    for begin, edges in graph.items():
        for node, regex in edges.items():
            if isinstance(begin, frozenset) and isinstance(node, _End):
                if has_more_nodes(regex, MAX_NODES):
                    raise GrammarError(_TOO_MANY)
                add_option(result, begin, join(regex, _looking(node.following)))
    return result
