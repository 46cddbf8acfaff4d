"""The terminals of a grammar with which llguidance's lexer would change the language.

llguidance cuts text into lexemes before it parses. All terminals that may come next run as one automaton, and a lexeme
ends only where none of them can continue (tried on 1.9.1):

    /[0-9]+/ "5"               never ends: the lexeme takes every 5
    (/a/ | /abc/) "bx"         refuses `abx`: the lexer takes `ab` for the beginning of `abc`

Several terminals that match the same text are no problem.

So the language stays the same if no text of a terminal, followed by a byte that may come after it, is a prefix of a
text of a terminal. The check assumes that all terminals can come together, so it may report a few too many.
"""

from __future__ import annotations

from collections.abc import Mapping

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.deadlines import spend
from structgen.engine.regex import tree as rx
from structgen.kbnf import ast
from structgen.kbnf.regex_facts import post_order
from structgen.kbnf.rewriting import children_of, rewrite

__all__ = ["following_bytes", "longer_terminals", "widened"]

_MAX_CONFIGURATIONS = 20_000  # sets of states that are compared
_MAX_COUNT = 8  # of a repetition; larger counts are widened
_UNITS_PER_MEMBER = 16  # of a configuration, for the 256 bytes that its successors are found for

Configuration = frozenset[tuple[int, int]]
"""The terminals that match the same text so far: pairs of a terminal (its start state) and its current state."""


def widened(regex: rx.Regex) -> rx.Regex:
    """Return a regex that matches at least the same texts and has no large counts: the check stays on the safe side."""
    known: dict[int, rx.Regex] = {}
    for node in post_order(regex):
        known[id(node)] = _widened(node, known)
    return known[id(regex)]


def _widened(node: rx.Regex, known: dict[int, rx.Regex]) -> rx.Regex:
    # A complement stays: if its body matched more, it would match less.
    if isinstance(node, rx.Repeat):
        is_large = (node.min if node.max is None else node.max) > _MAX_COUNT
        body = known[id(node.body)]
        return rx.Repeat(body, min(node.min, 2), None) if is_large else rx.Repeat(body, node.min, node.max)
    if isinstance(node, (rx.Sequence, rx.Choice, rx.Intersection)):
        return type(node)(tuple(known[id(part)] for part in node.parts))
    return node


# -- following bytes ----------------------------------------------------------------------------------------------


def following_bytes(rules: Mapping[str, ast.Expression], store: AutomatonStore) -> dict[int, int]:
    """Return for each terminal (by its state in the store) the bytes that may come right after it, as a bit mask.

    Args:
        rules: bodies by name, made of names and regexes.
        store: the store of the terminals' automata.
    """
    return _Following(rules, store).terminals


class _Following:
    """First and following bytes of names, and of terminals, as least fixed points.

    Attributes:
        first: for each name the bytes that its texts begin with, as a mask.
        nullable: the names that derive the empty text.
        follow: for each name the bytes that may come after it, as a mask.
        terminals: for each terminal, by state, the bytes that may come after it.
    """

    def __init__(self, rules: Mapping[str, ast.Expression], store: AutomatonStore) -> None:
        self._rules = rules
        self._store = store
        self.first = dict.fromkeys(rules, 0)
        self.nullable: set[str] = set()
        self.follow = dict.fromkeys(rules, 0)
        self.terminals: dict[int, int] = {}
        facts: dict[str, dict[int, tuple[int, bool]]] = {}
        names = list(rules)
        is_changing = True
        while is_changing:
            is_changing = False
            names.reverse()  # rules mostly stand before those that they use
            for name in names:
                facts[name] = self._facts(rules[name])
                first, is_nullable = facts[name][id(rules[name])]
                if first != self.first[name] or is_nullable != (name in self.nullable):
                    is_changing = True
                    self.first[name] = first
                    if is_nullable:
                        self.nullable.add(name)
        is_changing = True
        while is_changing:
            names.reverse()
            is_changing = False
            for name in names:
                is_changing |= self._spread(rules[name], self.follow[name], facts[name])

    def _facts(self, body: ast.Expression) -> dict[int, tuple[int, bool]]:
        """Return for each node (by `id`) its first bytes, and whether it is nullable."""
        facts: dict[int, tuple[int, bool]] = {}

        def look(node: ast.Expression) -> ast.Expression:
            facts[id(node)] = self._fact(node, [facts[id(child)] for child in children_of(node)])
            return node

        rewrite(body, look)
        return facts

    def _fact(self, node: ast.Expression, parts: list[tuple[int, bool]]) -> tuple[int, bool]:
        if isinstance(node, ast.RegexTerminal):
            state = self._store.add(node.regex)
            return self._store.first_bytes(state), self._store.is_accepting(state)
        if isinstance(node, ast.Reference):
            return self.first[node.name], node.name in self.nullable
        if isinstance(node, ast.Sequence):
            first = 0
            for begins, is_nullable in parts:
                first |= begins
                if not is_nullable:
                    return first, False
            return first, True
        first = 0
        for begins, _ in parts:
            first |= begins
        may_be_none = isinstance(node, (ast.Option, ast.ZeroOrMore)) or (isinstance(node, ast.Bounded) and not node.min)
        return first, may_be_none or any(is_nullable for _, is_nullable in parts)

    def _spread(self, body: ast.Expression, follow: int, facts: dict[int, tuple[int, bool]]) -> bool:
        """Add the following bytes of a body to its names and terminals; return whether a name got new ones."""
        is_new = False
        stack = [(body, follow)]
        while stack:
            node, after = stack.pop()
            if isinstance(node, ast.RegexTerminal):
                state = self._store.add(node.regex)
                self.terminals[state] = self.terminals.get(state, 0) | after
            elif isinstance(node, ast.Reference):
                if after & ~self.follow[node.name]:
                    self.follow[node.name] |= after
                    is_new = True
            elif isinstance(node, ast.Sequence):
                for part in reversed(node.parts):
                    stack.append((part, after))
                    first, is_nullable = facts[id(part)]
                    after = first | after if is_nullable else first
            else:
                if isinstance(node, (ast.ZeroOrMore, ast.OneOrMore, ast.Bounded)):
                    after |= facts[id(node)][0]
                stack.extend((child, after) for child in children_of(node))
        return is_new


# -- ambiguity ----------------------------------------------------------------------------------------------------


def longer_terminals(following: Mapping[int, int], store: AutomatonStore, wide: Mapping[int, int]) -> set[int]:
    """Return the terminals, by state, with which the lexer would continue where another terminal ends.

    If there are too many configurations, these are all terminals that are longer than one byte.

    Args:
        following: for each terminal the bytes that may come after it, from `following_bytes`.
        store: the store of the terminals' automata.
        wide: for each terminal the state of its `widened` form.

    Raises:
        LimitExceededError: the running deadline has passed.
    """
    rows: dict[int, list[int]] = {}
    found: set[int] = set()
    start: Configuration = frozenset((state, wide[state]) for state in following)
    seen = {start}
    queue = [start]
    for configuration in queue:
        spend(1 + _UNITS_PER_MEMBER * len(configuration))
        if configuration is not start:
            found |= _longer(configuration, following, store)
        if len(seen) > _MAX_CONFIGURATIONS:
            return {state for state in following if store.inner_bytes(state)}
        for successor in _successors(configuration, rows, store):
            if successor not in seen:
                seen.add(successor)
                queue.append(successor)
    return found


def _longer(configuration: Configuration, following: Mapping[int, int], store: AutomatonStore) -> set[int]:
    """Return the terminals of a configuration that continue with a byte that may follow a terminal that ends here."""
    after = 0
    for terminal, at in configuration:
        if store.is_accepting(at):
            after |= following[terminal]
    return {terminal for terminal, at in configuration if store.first_bytes(at) & after} if after else set()


def _successors(configuration: Configuration, rows: dict[int, list[int]], store: AutomatonStore) -> set[Configuration]:
    members = list(configuration)
    for _, at in members:
        if at not in rows:
            rows[at] = [store.next(at, byte) for byte in range(256)]
    columns = set(zip(*(rows[at] for _, at in members)))
    successors = set()
    for column in columns:
        successor = frozenset((terminal, at) for (terminal, _), at in zip(members, column) if at)
        if successor:
            successors.add(successor)
    return successors
