"""The rules of one set of objects. See `to_kbnf` for the chain that they form."""

from __future__ import annotations

from typing import Protocol

from structgen.kbnf import ast
from structgen.schema.algebra import NONE, Inexpressible, Node, ObjectSet
from structgen.schema.layout import Layout
from structgen.schema.terminals import key_regex

__all__ = ["Writer", "object_body"]

MAX_COUNTED = 20_000
"""States of a chain that counts its properties."""
_LONGEST_BODY = 128


class Writer(Protocol):
    """What the rules of objects need from the writer of a grammar."""

    layout: Layout
    productive: set[Node]
    rules: list[ast.Rule]

    def value(self, node: Node) -> ast.Expression:
        """What derives the values of a node."""

    def fresh(self, base: str) -> str:
        """A nonterminal's name that is not used yet."""


class _Chain:
    """The properties of a set of objects in order, and what its other keys derive.

    Attributes:
        keys, values, required: one entry for each property that can be there, in order.
        pair: a key that the schema does not name, its colon and its value; None when there is none.
    """

    def __init__(self, writer: Writer, part: ObjectSet, name: str) -> None:
        self.writer = writer
        self.layout = writer.layout
        self.name = name
        self.low, self.high = part.low, part.high
        needed = set(part.required)
        nodes = dict(part.properties)
        for key in part.required:
            nodes.setdefault(key, part.at(key))
        present = [(key, node) for key, node in nodes.items() if node != NONE and node in writer.productive]
        if self.high is not None and self.high <= len(needed):
            present = [(key, node) for key, node in present if key in needed]
        self.keys = [key for key, _ in present]
        self.values = [writer.value(node) for _, node in present]
        self.required = [key in needed for key in self.keys]
        self.pair: ast.Expression | None = None
        if self.high is None or self.high > len(needed):
            pairs: list[ast.Expression] = []
            for keys, node in part.classes:
                if node in writer.productive:
                    key_terminal = ast.RegexTerminal(key_regex(keys, list(nodes)))
                    pairs.append(ast.Sequence((key_terminal, self.layout.colon, writer.value(node))))
            if pairs:
                self.pair = pairs[0] if len(pairs) == 1 else ast.Choice(tuple(pairs))

    @property
    def counts(self) -> bool:
        """Whether the bounds say more than the required keys do."""
        if self.low > sum(self.required):
            return True
        return self.high is not None and (self.pair is not None or self.high < len(self.keys))

    def rule(self, suffix: str, alternatives: list[ast.Expression]) -> ast.Expression:
        """A new rule, as a reference to it; a single alternative stands for itself."""
        name = self.writer.fresh(f"{self.name}_{suffix}")
        body = alternatives[0] if len(alternatives) == 1 else ast.Choice(tuple(alternatives))
        self.writer.rules.append(ast.Rule(name, body))
        return ast.Reference(name)


def object_body(writer: Writer, part: ObjectSet, name: str) -> ast.Expression:
    """An object of a set that has one.

    Args:
        writer: gets the rules.
        part: the set.
        name: what the rules' names begin with.

    Raises:
        Inexpressible: counts of keys that no context-free grammar checks.
        UnicodeEncodeError: a key with a lone surrogate.
    """
    chain = _Chain(writer, part, name)
    return _counted(chain) if chain.counts else _uncounted(chain)


def _sequence(parts: list[ast.Expression]) -> ast.Expression:
    return parts[0] if len(parts) == 1 else ast.Sequence(tuple(parts))


def _uncounted(chain: _Chain) -> ast.Expression:
    """The chain from its end: `then` is what follows a pair, `pair` what follows a comma (None: nothing can)."""
    layout, keys, values, required = chain.layout, chain.keys, chain.values, chain.required
    then: list[ast.Expression] = [layout.close_object]
    pair: list[ast.Expression] | None = None
    if chain.pair is not None:
        more = chain.writer.fresh(f"{chain.name}_more")
        again = ast.Sequence((layout.comma, chain.pair, ast.Reference(more)))
        chain.writer.rules.append(ast.Rule(more, ast.Choice((layout.close_object, again))))
        then = [ast.Reference(more)]
        pair = [chain.pair, ast.Reference(more)]
    may_end = True
    for i in range(len(keys) - 1, -1, -1):
        if len(then) > _LONGEST_BODY:
            then = [chain.rule(f"then_{i + 1}", [_sequence(then)])]
        mine = [layout.key(keys[i]), values[i], *then]
        if required[i]:
            then = [layout.key(keys[i], ","), values[i], *then]
            pair, may_end = mine, False
            continue
        alternatives = [_sequence(mine)] if pair is None else [_sequence(mine), _sequence(pair)]
        pair = [chain.rule(f"pair_{i}", alternatives)]
        then = [layout.comma, *pair]
        if may_end:
            then = [chain.rule(f"then_{i}", [layout.close_object, _sequence(then)])]
    if required and required[0] and pair is not None:
        return _sequence([layout.key(keys[0], "{"), *pair[1:]])
    if not may_end and pair is not None:
        return _sequence([layout.open_object, *pair])
    if pair is None:
        return ast.Sequence((layout.open_object, layout.end_object))
    return ast.Sequence((layout.open_object, ast.Choice((layout.end_object, _sequence(pair)))))


class _Counter:
    """The chain again, with a state for each number of pairs written, as far as it matters."""

    def __init__(self, chain: _Chain) -> None:
        self.chain = chain
        self.low, self.high = chain.low, chain.high
        size = len(chain.keys)
        self.cap = self.low if self.high is None else max(self.low, min(self.high, size))
        left = 0
        self.required_left = [0] * (size + 1)
        for i in range(size - 1, -1, -1):
            left += chain.required[i]
            self.required_left[i] = left
        self.then: dict[int, list[ast.Expression]] = {}
        self.pair: dict[int, list[ast.Expression]] = {}

    def counts(self, index: int) -> range:
        """The numbers of pairs that may have been written before property `index`."""
        before = sum(self.chain.required[:index])
        return range(min(before, self.cap), min(index, self.cap) + 1)

    def next(self, count: int) -> int:
        """The count after one more pair: exact below the cap; at the cap of an unbounded object it stays there."""
        return min(count + 1, self.cap) if self.high is None else count + 1

    def finish(self) -> None:
        """What follows the last property that the schema names."""
        layout, chain = self.chain.layout, self.chain
        for count in self.counts(len(chain.keys)):
            need = max(self.low - count, 0)
            room = None if self.high is None else self.high - count
            if room is not None and room < need:
                continue
            if chain.pair is None or room == 0:
                if need == 0:
                    self.then[count] = [layout.close_object]
                continue
            if need > 1:  # a key may come twice, and is then one key
                raise Inexpressible("minProperties")
            step = ast.Sequence((layout.comma, chain.pair))
            upto = None if room is None else room - 1
            self.then[count] = [ast.Bounded(step, need, room), layout.close_object]
            rest: list[ast.Expression] = [] if upto == 0 else [ast.Bounded(step, 0, upto)]
            self.pair[count] = [chain.pair, *rest, layout.close_object]

    def step(self, index: int) -> None:
        """Goes from what follows property `index` to what precedes it."""
        layout, chain = self.chain.layout, self.chain
        key, value = chain.keys[index], chain.values[index]
        may_end = self.required_left[index] == 0
        then: dict[int, list[ast.Expression]] = {}
        pair: dict[int, list[ast.Expression]] = {}
        for count in self.counts(index):
            after = self.then.get(self.next(count))
            mine = None if after is None else [layout.key(key), value, *after]
            if chain.required[index]:
                if after is not None and mine is not None:
                    then[count] = [layout.key(key, ","), value, *after]
                    pair[count] = mine
                continue
            skipped = self.pair.get(count)
            options = [_sequence(way) for way in (mine, skipped) if way is not None]
            if options:
                pair[count] = [chain.rule(f"pair_{index}_{count}", options)]
            ends: list[ast.Expression] = [layout.close_object] if may_end and count >= self.low else []
            if options:
                ends.append(_sequence([layout.comma, *pair[count]]))
            if ends:
                then[count] = [chain.rule(f"then_{index}_{count}", ends)]
        self.then, self.pair = then, pair


def _counted(chain: _Chain) -> ast.Expression:
    counter = _Counter(chain)
    if len(chain.keys) * (counter.cap + 1) > MAX_COUNTED:
        raise Inexpressible("minProperties" if chain.low else "maxProperties")
    counter.finish()
    for index in range(len(chain.keys) - 1, -1, -1):
        counter.step(index)
    layout = chain.layout
    ways: list[ast.Expression] = []
    if chain.low == 0 and not any(chain.required):
        ways.append(layout.end_object)
    if 0 in counter.pair:
        ways.append(_sequence(counter.pair[0]))
    return ast.Sequence((layout.open_object, ways[0] if len(ways) == 1 else ast.Choice(tuple(ways))))
