"""The rules of one set of objects. See `to_kbnf` for the chain that they form."""

from __future__ import annotations

from typing import Protocol

from structgen.engine.regex import NOTHING
from structgen.kbnf import ast
from structgen.schema.algebra import NONE, Inexpressible, Node, ObjectSet, StringSet
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
        self.asked = [self._asked(part, keys, node, list(nodes)) for keys, node in part.somewhere]

    def _asked(
        self, part: ObjectSet, keys: StringSet, node: Node, names: list[str]
    ) -> tuple[dict[str, ast.Expression], ast.Expression | None]:
        """For what must be somewhere: the values that give it, by key; and the pair that does, of another key."""
        named, others = part.witnesses(keys, node)
        values = {key: self.writer.value(both) for key, both in named.items() if both in self.writer.productive}
        pairs: list[ast.Expression] = []
        for inside, both in others if self.pair is not None else ():
            if both in self.writer.productive:
                key_terminal = ast.RegexTerminal(key_regex(inside, names))
                pairs.append(ast.Sequence((key_terminal, self.layout.colon, self.writer.value(both))))
        return values, (None if not pairs else pairs[0] if len(pairs) == 1 else ast.Choice(tuple(pairs)))

    @property
    def counts(self) -> bool:
        """Whether it matters which keys, or how many, were written before."""
        if self.asked or self.low > sum(self.required):
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


_State = tuple[int, int]
"""How many pairs were written, and (bit i) whether what is asked somewhere, number i, was among them."""


class _Counter:
    """The chain again, with a rule for each state of what was written before, as far as it matters.

    Attributes:
        then, pair: as in `_uncounted`, by state, of the property that is at work.
    """

    def __init__(self, chain: _Chain) -> None:
        self.chain = chain
        self.low, self.high = chain.low, chain.high
        size = len(chain.keys)
        self.full = (1 << len(chain.asked)) - 1
        counts = self.low > 0 or self.high is not None
        self.cap = 0 if not counts else self.low if self.high is None else max(self.low, min(self.high, size))
        left = 0
        self.required_left = [0] * (size + 1)
        for i in range(size - 1, -1, -1):
            left += chain.required[i]
            self.required_left[i] = left
        self.then: dict[_State, list[ast.Expression]] = {}
        self.pair: dict[_State, list[ast.Expression]] = {}

    def states(self, index: int) -> list[_State]:
        """What may have been written before property `index`."""
        before = sum(self.chain.required[:index])
        counts = range(min(before, self.cap), min(index, self.cap) + 1)
        return [(count, given) for count in counts for given in range(self.full + 1)]

    def after(self, state: _State, given: int) -> _State:
        """The state after one more pair: without an upper bound, counts stay at the cap."""
        count, before = state
        return (min(count + 1, self.cap) if self.high is None else count + 1), before | given

    def finish(self) -> None:
        """What follows the last property that the schema names."""
        layout, chain = self.chain.layout, self.chain
        for state in self.states(len(chain.keys)):
            count, given = state
            need = max(self.low - count, 0)
            room = None if self.high is None else self.high - count
            missing = [i for i in range(len(chain.asked)) if not given >> i & 1]
            if room is not None and room < max(need, bool(missing)):
                continue
            if missing:
                self._finish_asked(state, missing, need, room)
            elif chain.pair is None or room == 0:
                if need == 0:
                    self.then[state] = [layout.close_object]
            else:
                if need > 1:  # a key may come twice, and is then one key
                    raise Inexpressible("minProperties")
                step = ast.Sequence((layout.comma, chain.pair))
                self.then[state] = [ast.Bounded(step, need, room), layout.close_object]
                rest: list[ast.Expression] = (
                    [] if room == 1 else [ast.Bounded(step, 0, None if room is None else room - 1)]
                )
                self.pair[state] = [chain.pair, *rest, layout.close_object]

    def _finish_asked(self, state: _State, missing: list[int], need: int, room: int | None) -> None:
        """Pairs of which the last gives what is missing: of a key that comes twice the last value counts."""
        layout, chain = self.chain.layout, self.chain
        witness = chain.asked[missing[0]][1]
        if chain.pair is None or any(chain.asked[i][1] is None for i in missing) or witness is None:
            return
        if len(missing) > 1:  # one key may give several, which takes the intersection of its classes
            raise Inexpressible("not")
        if need > 1:
            raise Inexpressible("minProperties")
        most = None if room is None else room - 1
        more: list[ast.Expression] = []
        lead: list[ast.Expression] = []
        if most != 0:
            more = [ast.Bounded(ast.Sequence((layout.comma, chain.pair)), 0, most)]
            lead = [ast.Bounded(ast.Sequence((chain.pair, layout.comma)), 0, most)]
        self.then[state] = [*more, layout.comma, witness, layout.close_object]
        self.pair[state] = [*lead, witness, layout.close_object]

    def step(self, index: int) -> None:
        """Goes from what follows property `index` to what precedes it."""
        layout, chain = self.chain.layout, self.chain
        key = chain.keys[index]
        may_end = self.required_left[index] == 0
        then: dict[_State, list[ast.Expression]] = {}
        pair: dict[_State, list[ast.Expression]] = {}
        for state in self.states(index):
            values = self._values(index, state)
            suffix = f"{index}_{state[0]}" + (f"_{state[1]}" if self.full else "")
            if chain.required[index]:
                if values:
                    rest = (
                        values[0] if len(values) == 1 else [chain.rule(f"value_{suffix}", list(map(_sequence, values)))]
                    )
                    then[state] = [layout.key(key, ","), *rest]
                    pair[state] = [layout.key(key), *rest]
                continue
            options = [_sequence([layout.key(key), *value]) for value in values]
            if state in self.pair:
                options.append(_sequence(self.pair[state]))
            ends: list[ast.Expression] = []
            if may_end and state[0] >= self.low and state[1] == self.full:
                ends.append(layout.close_object)
            if options:
                pair[state] = [chain.rule(f"pair_{suffix}", options)]
                ends.append(_sequence([layout.comma, *pair[state]]))
            if ends:
                then[state] = [chain.rule(f"then_{suffix}", ends)]
        self.then, self.pair = then, pair

    def _values(self, index: int, state: _State) -> list[list[ast.Expression]]:
        """The values of a property with what follows them: any, and those that give what is asked."""
        chain = self.chain
        key, value = chain.keys[index], chain.values[index]
        always, sometimes = 0, []
        for number, (named, _) in enumerate(chain.asked):
            if key in named and not state[1] >> number & 1:
                if named[key] is value:
                    always |= 1 << number
                else:
                    sometimes.append(number)
        if len(sometimes) > 1:  # one value may give both, which takes their intersection
            raise Inexpressible("not")
        ways: list[list[ast.Expression]] = []
        for given, way in [(always, value), *((always | 1 << i, chain.asked[i][0][key]) for i in sometimes)]:
            after = self.then.get(self.after(state, given))
            if after is not None:
                ways.append([way, *after])
        return ways


def _counted(chain: _Chain) -> ast.Expression:
    counter = _Counter(chain)
    if len(chain.keys) * (counter.cap + 1) * (counter.full + 1) > MAX_COUNTED:
        raise Inexpressible("minProperties" if chain.low else "maxProperties" if chain.high is not None else "not")
    counter.finish()
    for index in range(len(chain.keys) - 1, -1, -1):
        counter.step(index)
    layout = chain.layout
    ways: list[ast.Expression] = []
    if chain.low == 0 and not any(chain.required) and not chain.asked:
        ways.append(layout.end_object)
    if (0, 0) in counter.pair:
        ways.append(_sequence(counter.pair[0, 0]))
    if not ways:  # what is asked cannot be given together; the normal form drops the rule
        return ast.RegexTerminal(NOTHING)
    return ast.Sequence((layout.open_object, ways[0] if len(ways) == 1 else ast.Choice(tuple(ways))))
