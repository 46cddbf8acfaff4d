"""A pass that removes the empty text from a grammar. A text in KBNF is never empty, but in GBNF it may be.

A rule gets a second rule, with its other texts, if its text may be empty and may be the whole text of the grammar:

    start ::= item*;           start  ::= item_2 item*;
    item  ::= 'a'? 'b'?;       item   ::= 'a'? 'b'?;
                               item_2 ::= 'a' 'b'? | 'b';

In a sequence, some part is the first that is not empty, and those before it are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from structgen.engine.deadlines import spend
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.edges import is_nullable
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.regex_facts import without_empty
from structgen.kbnf.regular import regular
from structgen.kbnf.rewriting import children_of, free_name, group_rules, nodes_of, rewrite, sequence

__all__ = ["without_empty_text"]

_TERMINALS = (ast.RegexTerminal, ast.SubstringsTerminal, ast.AnyText, ast.Except, ast.Difference)

Grouped = Mapping[str, Sequence[ast.Expression]]


def without_empty_text(grammar: ast.Grammar) -> ast.Grammar:
    """Return a grammar of the same texts without the empty text; the same object if it has no empty text.

    Args:
        grammar: a valid grammar.

    Raises:
        GrammarError: the empty text is the only text, as the bodies of the start show.

    Example:
        >>> without_empty_text(ast.Grammar((ast.Rule("start", ast.ZeroOrMore(ast.Literal(b"a"))),))).rules[0].body
        OneOrMore(body=Literal(data=b'a'))
    """
    grouped = group_rules(grammar)
    nullable = _nullable_names(grouped)
    return _Texts(grammar, grouped, nullable).grammar() if grammar.start in nullable else grammar


def _nullable_names(grouped: Grouped) -> set[str]:
    """Return the names that derive the empty text: a fixed point."""
    found: set[str] = set()
    size = -1
    while size != len(found):
        size = len(found)
        for name in reversed(list(grouped)):  # rules mostly stand before those that they use
            if name not in found and any(_nullable_nodes(body, found, grouped)[id(body)] for body in grouped[name]):
                found.add(name)
    return found


def _nullable_nodes(body: ast.Expression, names: set[str], grouped: Grouped) -> dict[int, bool]:
    """Return for each node of a body (by `id`) whether it derives the empty text, given the names that do."""
    known: dict[int, bool] = {}

    def look(node: ast.Expression) -> ast.Expression:
        spend(1)
        known[id(node)] = _is_nullable(node, [known[id(child)] for child in children_of(node)], names, grouped)
        return node

    rewrite(body, look)
    return known


def _is_nullable(node: ast.Expression, parts: list[bool], names: set[str], grouped: Grouped) -> bool:
    """Return whether a node derives the empty text, given which of its children do."""
    if isinstance(node, ast.Reference):
        return node.name in names
    if isinstance(node, ast.Literal):
        return not node.data
    if isinstance(node, _TERMINALS):
        return is_nullable(regular(node, grouped))
    if isinstance(node, (ast.Option, ast.ZeroOrMore)) or (isinstance(node, ast.Bounded) and not node.min):
        return True
    if isinstance(node, ast.Sequence):
        return all(parts)
    # Look-aheads, margins and tokens have no children that count; what cannot be written is refused later.
    return any(parts) and isinstance(node, (ast.Choice, ast.OneOrMore, ast.Bounded))


class _Texts:
    """The rules of the texts that are not empty.

    Args:
        grammar: the tree.
        grouped: all rules' bodies by name.
        nullable: the names that derive the empty text.
    """

    def __init__(self, grammar: ast.Grammar, grouped: Grouped, nullable: set[str]) -> None:
        self._grammar = grammar
        self._grouped = grouped
        self._nullable = nullable
        self._taken = set(grouped)
        self._names: dict[str, str] = {}  # the second name of each rule that has one

    def grammar(self) -> ast.Grammar:
        keeps_start = self._is_used()
        start = self._name(self._grammar.start) if keeps_start else self._grammar.start
        self._names[self._grammar.start] = start
        made: dict[str, ast.Expression | None] = {}
        while len(made) < len(self._names):
            for name in [name for name in self._names if name not in made]:
                made[name] = _choice([self._body(body) for body in self._grouped[name]])
        if made[self._grammar.start] is None:
            raise GrammarError("the empty text is the only text of the grammar, and a text in KBNF is never empty")
        # A rule without other texts has no bodies: the empty class stands for them.
        nothing = ast.RegexTerminal(rx.NOTHING)
        rules = [ast.Rule(self._names[name], nothing if body is None else body) for name, body in made.items()]
        old = [rule for rule in self._grammar.rules if keeps_start or rule.name != self._grammar.start]
        return ast.Grammar((*rules, *old), start)

    def _is_used(self) -> bool:
        """Return whether a rule uses the old start."""
        nodes = (node for rule in self._grammar.rules for node in nodes_of(rule.body))
        used = (node.excluded if isinstance(node, ast.Except) else node for node in nodes)
        return any(isinstance(node, ast.Reference) and node.name == self._grammar.start for node in used)

    def _name(self, name: str) -> str:
        if name not in self._names:
            self._names[name] = free_name(name, self._taken)
            self._taken.add(self._names[name])
        return self._names[name]

    def _body(self, body: ast.Expression) -> ast.Expression | None:
        """Return the texts of a body that are not empty; None if there are none."""
        nullable = _nullable_nodes(body, self._nullable, self._grouped)
        known: dict[int, ast.Expression | None] = {}

        def look(node: ast.Expression) -> ast.Expression:
            known[id(node)] = self._node(node, nullable, known) if nullable[id(node)] else node
            return node

        rewrite(body, look)
        return known[id(body)]

    def _node(
        self, node: ast.Expression, nullable: dict[int, bool], known: dict[int, ast.Expression | None]
    ) -> ast.Expression | None:
        """Return the other texts of a node that may be empty, given those of its children; None for none."""
        if isinstance(node, ast.Reference):
            return ast.Reference(self._name(node.name))
        if isinstance(node, ast.Literal):
            return None
        if isinstance(node, _TERMINALS):
            regex = without_empty(regular(node, self._grouped))
            return None if regex == rx.NOTHING else ast.RegexTerminal(regex)
        if isinstance(node, ast.Sequence):
            spend(len(node.parts))
            starts = [(at, known[id(part)]) for at, part in enumerate(node.parts)]
            return _choice([part and sequence((part, *node.parts[at + 1 :])) for at, part in starts])
        if isinstance(node, ast.Choice):
            return _choice([known[id(part)] for part in node.parts])
        (body,) = children_of(node)
        first = known[id(body)]
        if first is None or isinstance(node, ast.Option) or (isinstance(node, ast.Bounded) and node.max == 0):
            return None if isinstance(node, ast.Bounded) and node.max == 0 else first
        if isinstance(node, ast.Bounded):
            if not nullable[id(body)]:
                return ast.Bounded(body, 1, node.max)
            return sequence((first, ast.Bounded(body, 0, None if node.max is None else node.max - 1)))
        return sequence((first, ast.ZeroOrMore(body))) if nullable[id(body)] else ast.OneOrMore(body)


def _choice(parts: list[ast.Expression | None]) -> ast.Expression | None:
    found = tuple(part for part in parts if part is not None)
    return None if not found else found[0] if len(found) == 1 else ast.Choice(found)
