r"""Repeated groups with assertions at their edges, as in `(?:\b\w+\b\W*)+`.

Each round is a regex with conditions on the character before it and on the one after it. What a round begins and ends
with decides whether another may come next to it. So rounds are split by these characters into *kinds*, and a
repetition is the paths of a small graph whose nodes are the kinds; the paths become a regex by taking out one node
after the other.
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

__all__ = ["rounds"]

MAX_KINDS = 10
MAX_NODES = 2_000  # of the regex of one repeated group

# What may follow: for each set of characters whether the next must be (True), or must not be in it.
Following = frozenset[tuple[Ranges, bool]]


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of round.

    Attributes:
        asked: what must precede it.
        first, last: some character that it begins with, and some that it ends with; all others of these kinds are
            alike to all conditions.
        following: what must follow it.
    """

    asked: Conditions
    first: int
    last: int
    following: Following

    def may_precede(self, other: _Kind) -> bool:
        """Whether the other kind may come right after this one."""
        return all(c.holds_after(self.last) for c in other.asked) and all(
            any(low <= other.first <= high for low, high in ranges) == wanted for ranges, wanted in self.following
        )


@dataclass(frozen=True, slots=True)
class _End:
    """Where paths end that ask for the same to follow."""

    following: Following


Table = dict[_Kind, Regex]
_Node = Conditions | _Kind | _End


def rounds(options: Options, low: int, high: int | None) -> Options | None:
    """The options of a repeated part; None where only writing out the rounds helps.

    Args:
        options: those of one round, without rounds of more than one character's view in them.
        low: least rounds.
        high: most rounds, not 1; None without bound.

    Raises:
        GrammarError: a round asks for more than the character before or after it.
    """
    found: list[tuple[Conditions, Regex, Following]] = []
    for asked, part in options.items():
        if not all(condition.is_near() for condition in asked):
            if high is not None:
                return None
            raise GrammarError("regex: look-behind in a repeated group that looks further than one character before it")
        found += [(asked, regex, following) for regex, following in _ahead(part, [(EMPTY, frozenset())])]
    empty = {(asked, following) for asked, regex, following in found if is_nullable(regex)}
    if not any(asked or following for asked, _, following in found):
        return {ALWAYS: repeat(choice(*(regex for _, regex, _ in found)), low, high)}
    if (ALWAYS, frozenset()) in empty:
        low = 0  # an empty round makes up for any that are missing
    if low > 1 and empty:
        return None
    kinds = _kinds(found)
    result = _paths(kinds) if high is None and low <= 1 else _counted(kinds, low, high)
    if result is None:
        return None
    if low == 0:
        add_option(result, ALWAYS, EMPTY)
    elif low == 1:
        for asked, following in empty:
            add_option(result, asked, _looking(following))
    return result


def _ahead(part: Pattern, rest: list[tuple[Regex, Following]]) -> list[tuple[Regex, Following]]:
    """A part, then `rest`, as regexes with what must follow them."""
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
        raise GrammarError("regex: a group with look-ahead cannot be repeated")
    ranges, wanted = (character.ranges, not part.negative) if character is not None else (ANY, False)
    found: list[tuple[Regex, Following]] = []
    for regex, following in rest:
        found.append((beginning_with(regex, ranges if wanted else negation_of(ranges)), following))
        if is_nullable(regex):
            found.append((EMPTY, following | {(ranges, wanted)}))
    return [
        (regex, following)
        for regex, following in found
        if regex != NOTHING and not any((ranges, not wanted) in following for ranges, wanted in following)
    ]


def _looking(following: Following) -> Pattern:
    """What must follow, as assertions."""
    return join(
        *[
            assertion("end") if ranges == ANY and not wanted else look_ahead(Chars(ranges), negative=not wanted)
            for ranges, wanted in following
        ]
    )


def _atoms(sets: Iterable[Ranges]) -> list[Ranges]:
    """The characters, split so that each set holds all of a part or nothing."""
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
    """The rounds that match something, split by what the conditions ask for."""
    lasts = _atoms({c.near_characters() for asked, _, _ in found for c in asked})
    firsts = _atoms({ranges for _, _, following in found for ranges, _ in following})
    kinds: Table = {}
    for asked, regex, following in found:
        for first in firsts:
            begun = beginning_with(not_empty(regex), first)
            for last in lasts:
                ended = ending_with(begun, last)
                if ended != NOTHING:
                    kind = _Kind(asked, first[0][0], last[0][0], following)
                    kinds[kind] = choice(kinds.get(kind, NOTHING), ended)
    if len(kinds) > MAX_KINDS:
        raise GrammarError("regex: the assertions at the edges of a repeated group are too many")
    return kinds


def _counted(kinds: Table, low: int, high: int | None) -> Options | None:
    """Between `low` and `high` rounds, at least one: if all but the last are of kinds that go with one another."""
    inner = {kind: regex for kind, regex in kinds.items() if any(kind.may_precede(other) for other in kinds)}
    is_plain = len({kind.asked for kind in kinds}) == 1 and all(
        kind.may_precede(other) for kind in inner for other in kinds
    )
    if not is_plain:
        return None if kinds else {}
    if not inner and low > 1:
        return {}
    fewer = None if high is None else high - 1
    before = repeat(choice(*inner.values()), max(low, 1) - 1, fewer) if inner else EMPTY
    result: Options = {}
    for following in {kind.following for kind in kinds}:
        last = choice(*(regex for kind, regex in kinds.items() if kind.following == following))
        add_option(result, next(iter(kinds)).asked, join(sequence(before, last), _looking(following)))
    return result


def _paths(kinds: Table) -> Options:
    """One round or more: kinds are taken out of the graph, until edges lead from its begins to its ends only."""
    # An edge carries what the kind it leads to matches. Begins are what must precede, ends what must follow.
    graph: dict[_Node, dict[_Node, Regex]] = {}
    for kind, regex in kinds.items():
        graph.setdefault(kind.asked, {})[kind] = regex
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
    for asked, edges in graph.items():
        for node, regex in edges.items():
            if isinstance(asked, frozenset) and isinstance(node, _End):
                if has_more_nodes(regex, MAX_NODES):
                    raise GrammarError("regex: the assertions at the edges of a repeated group are too many")
                add_option(result, asked, join(regex, _looking(node.following)))
    return result
