"""Random texts of a KBNF tree, by expanding its rules; look-aheads are not heeded, so ask a matcher about each."""

from __future__ import annotations

import random
from collections.abc import Iterator

from structgen.engine.automata.store import AutomatonStore
from structgen.kbnf import ast
from structgen.kbnf.normal_form.flattening import group_rules
from structgen.kbnf.normal_form.indentation import STEPS
from structgen.kbnf.regular import regular

PRINTABLE = bytes([9, 10, *range(32, 127)])
LONGEST = 100_000
LONG = 300
LONG_WORD = 24
FAR = 10**9


class Derivations:
    """Draws texts of a grammar.

    Args:
        grammar: the tree.
        depth: how deep rules are nested before the shortest way out is taken.
    """

    def __init__(self, grammar: ast.Grammar, depth: int = 40) -> None:
        self.grouped = group_rules(grammar)
        self.start = grammar.start
        self.depth = depth
        self.is_long = False
        self.automata = AutomatonStore()
        self.states: dict[int, int] = {}  # by the node's id: `grouped` keeps it
        self.ways: dict[int, list[int]] = {}
        self.endings: dict[int, bytes] = {}
        self.height = dict.fromkeys(self.grouped, FAR)
        changed = True
        while changed:
            changed = False
            for name, bodies in self.grouped.items():
                least = min(map(self._height, bodies)) + 1
                if least < self.height[name]:
                    self.height[name], changed = least, True

    def draw(self, rng: random.Random) -> bytes:
        """A random text: from LONG bytes on, the shortest ways out are taken; empty if it is too deep."""
        out = bytearray()
        self.is_long = False
        try:
            for piece in self._of(ast.Reference(self.start), rng, self.depth, b""):
                out += piece
                self.is_long = len(out) > LONG
        except RecursionError:
            return b""
        return bytes(out)

    def _height(self, node: ast.Expression) -> int:
        if isinstance(node, ast.Reference):
            return self.height[node.name]
        if isinstance(node, ast.Sequence):
            return max(map(self._height, node.parts), default=0)
        if isinstance(node, ast.Choice):
            return min(map(self._height, node.parts))
        if isinstance(node, (ast.OneOrMore, ast.Indented)):
            return self._height(node.body)
        return 0

    def _of(self, node: ast.Expression, rng: random.Random, depth: int, margin: bytes) -> Iterator[bytes]:
        if isinstance(node, ast.Literal):
            yield node.data
        elif isinstance(node, ast.Reference):
            yield from self._of(self._one(self.grouped[node.name], rng, depth), rng, depth - 1, margin)
        elif isinstance(node, ast.Sequence):
            for part in node.parts:
                yield from self._of(part, rng, depth, margin)
        elif isinstance(node, ast.Choice):
            yield from self._of(self._one(node.parts, rng, depth), rng, depth, margin)
        elif isinstance(node, (ast.Option, ast.ZeroOrMore, ast.OneOrMore)):
            most = 1 if isinstance(node, ast.Option) else 3
            least = 1 if isinstance(node, ast.OneOrMore) else 0
            for _ in range(rng.randint(least, most) if depth > self._height(node.body) and not self.is_long else least):
                yield from self._of(node.body, rng, depth, margin)
        elif isinstance(node, ast.Margin):
            yield margin
        elif isinstance(node, ast.Indented):
            yield from self._of(node.body, rng, depth, margin + rng.choice(STEPS))
        elif not isinstance(node, ast.NotFollowedBy):
            if id(node) not in self.states:
                self.states[id(node)] = self.automata.add(regular(node, self.grouped))
            yield self._match(self.states[id(node)], rng)

    def _one(
        self, ways: list[ast.Expression] | tuple[ast.Expression, ...], rng: random.Random, depth: int
    ) -> ast.Expression:
        fitting = [way for way in ways if self._height(way) <= depth and not self.is_long]
        return rng.choice(fitting) if fitting else min(ways, key=self._height)

    def _match(self, state: int, rng: random.Random) -> bytes:
        """A random text from a state on, mostly short: from LONG_WORD bytes on, a shortest way to an end is taken."""
        automata, out = self.automata, bytearray()
        while state and len(out) < LONGEST:
            if automata.table.accepting[state] and (not automata.has_next(state) or rng.random() < 0.4):
                break
            if len(out) > LONG_WORD:
                if state not in self.endings:
                    self.endings[state] = self._ending(state)
                return bytes(out) + self.endings[state]
            if state not in self.ways:
                ways = [byte for byte in PRINTABLE if automata.next(state, byte)]
                self.ways[state] = ways or [byte for byte in range(256) if automata.next(state, byte)]
            byte = rng.choice(self.ways[state])
            out.append(byte)
            state = automata.next(state, byte)
        return bytes(out)

    def _ending(self, state: int) -> bytes:
        """A shortest text from a state to an accepting one."""
        found = {state: b""}
        for at in (order := [state]):
            if self.automata.table.accepting[at]:
                return found[at]
            for byte in (*PRINTABLE, *range(256)):
                target = self.automata.next(at, byte)
                if target and target not in found:
                    found[target] = found[at] + bytes([byte])
                    order.append(target)
        raise AssertionError("a state that leads nowhere")
