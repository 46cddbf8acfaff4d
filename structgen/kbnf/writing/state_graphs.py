r"""An automaton as few rules: equal states are one, and those that only lead on, or back, become parts of texts.

    a -'\\'-> b -[nt]-> a -'"'-> end          a has a loop: ( … | '\\' [nt])* '"'       no rule for b

A transition is a regex, and it leads to a state or to the end of the text. `united` makes one state of those with the
same transitions. `compact` removes a state

- that has one transition, by writing it after each transition that leads there, if the copies stay short;
- between a state and itself, which gives that state a loop, even if others lead there too.

`written` turns what is left into rules. A state that only one transition leads to is written in its place, in brackets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from structgen.engine.regex import tree as rx
from structgen.engine.regex.unicode_classes import union_of
from structgen.kbnf import ast
from structgen.kbnf.regex_facts import post_order
from structgen.kbnf.rewriting import sequence

__all__ = ["END", "Graph", "compact", "united", "written"]

END = -1
"""The target of a transition after which the text may end."""

_LOOP = -2  # in place of the state itself, where transitions are compared

Graph = dict[int, dict[int, rx.Regex]]
"""The transitions of each state: a regex for each target."""

_MAX_COPIED = 32  # size of the transition that is copied, times the number of new copies
_MAX_SIZE = 300  # of one transition
_MAX_DEPTH = 16  # of brackets in one transition; llguidance reads no grammars that nest much deeper
_MAX_NESTING = 12  # states in brackets


def united(graph: Graph) -> Graph:
    """Return a graph of classes of characters in which no two states have the same transitions.

    The first state stays. States are compared again until nothing changes, as those before them may be equal then.
    """
    while True:
        first_of: dict[frozenset[tuple[int, rx.Regex]], int] = {}
        kept: dict[int, int] = {END: END}
        for state, transitions in graph.items():
            key = frozenset([(_LOOP if to == state else to, regex) for to, regex in transitions.items()])
            kept[state] = first_of.setdefault(key, state)
        if len(first_of) == len(graph):
            return graph
        merged: Graph = {}
        for state in first_of.values():
            ranges: dict[int, list[tuple[int, int]]] = {}
            for to, regex in graph[state].items():
                if isinstance(regex, rx.Chars):
                    ranges.setdefault(kept[to], []).extend(regex.ranges)
            merged[state] = {to: rx.Chars(union_of(some)) for to, some in ranges.items()}
        graph = merged


def compact(graph: Graph, start: int) -> None:
    """Remove states of a graph, in place; what is read from `start` to the end stays the same."""
    sources: dict[int, dict[int, None]] = {state: {} for state in graph}
    for state, transitions in graph.items():
        for target in transitions:
            if target != END:
                sources[target][state] = None
    waiting = dict.fromkeys(graph)
    while waiting:
        state = next(iter(waiting))
        del waiting[state]
        if state not in graph or state == start or len(graph[state]) != 1 or state in graph[state]:
            continue
        ((target, after),) = graph[state].items()
        copies = [source for source in sources[state] if _fits(graph[source][state], after)]
        if len(copies) < len(sources[state]) or (len(copies) - 1) * _size(after) > _MAX_COPIED:
            copies = [source for source in copies if source == target]
        for source in copies:
            transitions = graph[source]
            both = rx.sequence(transitions.pop(state), after)
            transitions[target] = rx.choice(transitions[target], both) if target in transitions else both
            del sources[state][source]
            waiting[source] = None
            if target != END:
                sources[target][source] = None
        if not sources[state]:
            del graph[state]
            if target != END:
                del sources[target][state]


def _fits(before: rx.Regex, after: rx.Regex) -> bool:
    return _size(before) + _size(after) <= _MAX_SIZE and _depth(before) + _depth(after) <= _MAX_DEPTH


def _size(regex: rx.Regex) -> int:
    """Return about the number of signs that a regex is written with."""
    return sum(2 * len(node.ranges) if isinstance(node, rx.Chars) else 1 for node in post_order(regex))


def _depth(regex: rx.Regex) -> int:
    """Return how deep alternatives and repetitions are nested in a regex."""
    depths: dict[int, int] = {}
    for node in post_order(regex):
        parts = [node.body] if isinstance(node, rx.Repeat) else getattr(node, "parts", ())
        inner = max([depths[id(part)] for part in parts], default=0)
        depths[id(node)] = inner + isinstance(node, (rx.Choice, rx.Repeat))
    return depths[id(regex)]


def written(
    graph: Graph, start: int, new_name: Callable[[], str], write: Callable[[rx.Regex], ast.Expression]
) -> Iterator[ast.Rule]:
    """Yield the rules of a graph, that of the start first.

    Args:
        graph: the graph.
        start: the state where a text begins.
        new_name: makes the name of a rule.
        write: makes the expression of a transition.
    """
    counts: dict[int, int] = {}
    for state, transitions in graph.items():
        for target in transitions:
            counts[target] = counts.get(target, 0) + (2 if target == state else 1)
    counts[start] = 2
    names = {start: new_name()}
    waiting = [start]

    def body(state: int, nesting: int) -> ast.Expression:
        transitions = dict(graph[state])
        if len(transitions) == 2 and state in transitions:
            loop = rx.star(transitions.pop(state))
            ((target, after),) = transitions.items()
            transitions = {target: rx.sequence(loop, after)}
        alternatives = [sequence([write(regex), *rest(target, nesting)]) for target, regex in transitions.items()]
        return alternatives[0] if len(alternatives) == 1 else ast.Choice(tuple(alternatives))

    def rest(target: int, nesting: int) -> list[ast.Expression]:
        if target == END:
            return []
        if counts[target] == 1 and nesting < _MAX_NESTING:
            return [body(target, nesting + 1)]
        if target not in names:
            names[target] = new_name()
            waiting.append(target)
        return [ast.Reference(names[target])]

    while waiting:
        state = waiting.pop(0)
        yield ast.Rule(names[state], body(state, 0))
