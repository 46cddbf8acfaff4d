"""Random texts of a KBNF tree, by expanding its rules; look-aheads are not heeded, so ask a matcher about each."""

from __future__ import annotations

import random
from collections.abc import Iterator

from structgen.engine import regex as rx
from structgen.engine.automata import AutomatonStore
from structgen.kbnf import ast
from structgen.kbnf.flattening import group_rules
from structgen.kbnf.indentation import STEPS
from structgen.kbnf.regular import regular

PRINTABLE = bytes([9, 10, *range(32, 127)])
LONGEST = 100_000
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
        self.automata = AutomatonStore()
        self.height = dict.fromkeys(self.grouped, FAR)
        changed = True
        while changed:
            changed = False
            for name, bodies in self.grouped.items():
                least = min(map(self._height, bodies)) + 1
                if least < self.height[name]:
                    self.height[name], changed = least, True

    def draw(self, rng: random.Random) -> bytes:
        """A random text; the empty one where it would be too long."""
        try:
            return b"".join(self._of(ast.Reference(self.start), rng, self.depth, b""))
        except RecursionError:
            return b""

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
            for _ in range(rng.randint(least, most) if depth > self._height(node.body) else least):
                yield from self._of(node.body, rng, depth, margin)
        elif isinstance(node, ast.Margin):
            yield margin
        elif isinstance(node, ast.Indented):
            yield from self._of(node.body, rng, depth, margin + rng.choice(STEPS))
        elif not isinstance(node, ast.NotFollowedBy):
            yield self._match(regular(node, self.grouped), rng)

    def _one(
        self, ways: list[ast.Expression] | tuple[ast.Expression, ...], rng: random.Random, depth: int
    ) -> ast.Expression:
        fitting = [way for way in ways if self._height(way) <= depth]
        return rng.choice(fitting) if fitting else min(ways, key=self._height)

    def _match(self, regex: rx.Regex, rng: random.Random) -> bytes:
        """A random text of a regex, mostly short."""
        automata, out = self.automata, bytearray()
        state = automata.add(regex)
        while state and len(out) < LONGEST:
            if automata.accepting[state] and (not automata.has_next(state) or rng.random() < 0.4):
                break
            ways = [byte for byte in PRINTABLE if automata.next(state, byte)]
            ways = ways or [byte for byte in range(256) if automata.next(state, byte)]
            byte = rng.choice(ways)
            out.append(byte)
            state = automata.next(state, byte)
        return bytes(out)
