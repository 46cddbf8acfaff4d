"""Right-linear rules for a regex that Rust's syntax cannot express, from the states of its automaton.

    start ::= #'[a-z]' q1;      q1 ::= #'[a-z0-9]' q1 | '-' q2 | ';';      q2 ::= #'[a-z0-9]' q1;

Each alternative is a transition by one character; the last character of a text has no state after it. Most states need
no rule of their own (`state_graphs`): here q2 becomes a part of q1, `start ::= #'[a-z](?:-?[a-z0-9])*;'`.
"""

from __future__ import annotations

from collections.abc import Callable

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.regex import tree as rx
from structgen.engine.regex.unicode_classes import union_of
from structgen.errors import GrammarError, LimitExceededError
from structgen.kbnf import ast
from structgen.kbnf.regex_facts import is_surely_text, post_order
from structgen.kbnf.rewriting import sequence
from structgen.kbnf.writing.regex_text import chars_to_rust, regex_to_rust
from structgen.kbnf.writing.shorter_regex import shortened
from structgen.kbnf.writing.state_graphs import END, Graph, compact, united, written
from structgen.limits import Limits

__all__ = ["automaton_rules"]

_TEXT = rx.star(rx.ANY_CHAR)
_MAX_STATES = 20_000  # one rule each: megabytes of text, and seconds to write it

# Groups of lead bytes in UTF-8: first byte, last byte, number of continuation bytes, mask of the payload bits.
_LEADS = ((0xC2, 0xDF, 1, 0x1F), (0xE0, 0xEF, 2, 0x0F), (0xF0, 0xF4, 3, 0x07))

Edges = list[tuple[int, int, int]]


def automaton_rules(
    regex: rx.Regex,
    new_name: Callable[[], str],
    rules: list[ast.Rule],
    limits: Limits,
    *,
    of_characters: bool = False,
) -> ast.Expression:
    """Return an expression for a regex, and append the rules of its automaton over classes of characters.

    Args:
        regex: a regex that matches UTF-8 text only.
        new_name: makes the name of a rule.
        rules: the list that receives the new rules.
        limits: `automaton_states` bounds the states.
        of_characters: whether a terminal must be one class of characters; otherwise it may be any regex.

    Returns:
        The expression that replaces the regex.

    Raises:
        GrammarError: the regex matches bytes that are not UTF-8.
        LimitExceededError: there are more than 20,000 states, or more than `limits` allow.
    """
    store = AutomatonStore(limits)
    start = store.add(regex)
    if not is_surely_text(regex) and not store.is_empty(rx.difference(regex, _TEXT)):
        raise GrammarError(
            "a regex matches bytes that are not UTF-8, and KBNF text cannot name them",
            hint="intersect it with text: any number of ANY_CHAR",
        )
    if not start:
        return ast.RegexTerminal(rx.NOTHING, chars_to_rust(()))
    if not store.has_next(start):
        return ast.Literal(b"")
    graph = united(_graph(store, start, limits))
    compact(graph, start)
    made = list(written(graph, start, new_name, _of_characters if of_characters else _as_regex))
    rules += made
    reference = ast.Reference(made[0].name)
    return ast.Option(reference) if store.is_accepting(start) else reference


def _graph(store: AutomatonStore, start: int, limits: Limits) -> Graph:
    """Return the states that texts reach, with their transitions by one character.

    Raises:
        LimitExceededError: there are more than 20,000.
    """
    walk = _CharacterWalk(store)
    graph: Graph = {start: {}}
    for state in (order := [start]):
        if len(order) > _MAX_STATES:
            limit = limits.grammar_symbols
            message = f"a regex needs more than {_MAX_STATES} rules to be written down"
            raise LimitExceededError("grammar_symbols", limit, message=message, hint="loosen its conditions")
        last: list[tuple[int, int]] = []
        for target, ranges in walk.edges(state).items():
            if store.is_accepting(target):
                last += ranges
            if store.has_next(target):
                graph[state][target] = rx.Chars(ranges)
                if target not in graph:
                    graph[target] = {}
                    order.append(target)
        if last:
            graph[state][END] = rx.Chars(union_of(last))
    return graph


def _as_regex(regex: rx.Regex) -> ast.Expression:
    """Return a transition as one terminal, where Rust's syntax allows that."""
    if isinstance(regex, rx.Chars):
        return _terminal(regex.ranges)
    regex = shortened(regex)
    text = regex_to_rust(regex)
    return _of_characters(regex) if text is None else ast.RegexTerminal(regex, text)


def _of_characters(regex: rx.Regex) -> ast.Expression:
    """Return a transition as an expression over classes of characters."""
    known: dict[int, ast.Expression] = {}
    for node in post_order(regex):
        if isinstance(node, rx.Chars):
            known[id(node)] = _terminal(node.ranges)
        elif isinstance(node, rx.Literal):
            known[id(node)] = ast.Literal(node.data)
        elif isinstance(node, rx.Sequence):
            known[id(node)] = sequence(known[id(part)] for part in node.parts)
        elif isinstance(node, rx.Choice):
            known[id(node)] = ast.Choice(tuple([known[id(part)] for part in node.parts]))
        elif isinstance(node, rx.Repeat) and node.max is None and node.min < 2:
            known[id(node)] = (ast.OneOrMore if node.min else ast.ZeroOrMore)(known[id(node.body)])
        elif isinstance(node, rx.Repeat):
            known[id(node)] = ast.Bounded(known[id(node.body)], node.min, node.max)
        else:
            raise TypeError(f"no transition is a {type(node).__name__}")
    return known[id(regex)]


def _terminal(ranges: tuple[tuple[int, int], ...]) -> ast.Expression:
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return ast.Literal(chr(ranges[0][0]).encode())
    return ast.RegexTerminal(rx.Chars(ranges), chars_to_rust(ranges))


class _CharacterWalk:
    """Transitions of a byte automaton by whole characters."""

    def __init__(self, store: AutomatonStore) -> None:
        self._store = store
        self._tails: dict[tuple[int, int], Edges] = {}

    def edges(self, state: int) -> dict[int, tuple[tuple[int, int], ...]]:
        """Return for each state that one character leads to the ranges of those characters."""
        step = self._store.step
        edges: Edges = [(byte, byte, target) for byte in range(0x80) if (target := step(state, byte))]
        for first, last, count, bits in _LEADS:
            for byte in range(first, last + 1):
                target = step(state, byte)
                if target:
                    base = (byte & bits) << 6 * count
                    edges += [(base + low, base + high, end) for low, high, end in self._tail(target, count)]
        found: dict[int, list[tuple[int, int]]] = {}
        for low, high, target in edges:
            ranges = found.setdefault(target, [])
            if ranges and ranges[-1][1] == low - 1:
                ranges[-1] = (ranges[-1][0], high)
            else:
                ranges.append((low, high))
        return {target: tuple(ranges) for target, ranges in found.items()}

    def _tail(self, state: int, count: int) -> Edges:
        """Return the targets of `count` continuation bytes: first and last value of their payload, and the state."""
        known = self._tails.get((state, count))
        if known is not None:
            return known
        edges: Edges = []
        for bits in range(64):
            target = self._store.step(state, 0x80 | bits)
            if target:
                base = bits << 6 * (count - 1)
                pieces = [(0, 0, target)] if count == 1 else self._tail(target, count - 1)
                for low, high, end in pieces:
                    if edges and edges[-1][1] == base + low - 1 and edges[-1][2] == end:
                        edges[-1] = (edges[-1][0], base + high, end)
                    else:
                        edges.append((base + low, base + high, end))
        self._tails[state, count] = edges
        return edges
