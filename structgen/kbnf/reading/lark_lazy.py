r"""The precedence of lazy rules: where one may begin, other terminals do not go past its first match.

    start: (call | TEXT)*
    call: head "=f>"
    head[lazy]: TEXT "<function"
    TEXT: /(.|\n)+/

llguidance's lexer ends a lazy terminal at its first match, and drops all others that began with it: after `<function`
comes `=f>`. A parser without a lexer needs a condition for the same: no text of `TEXT` begins with one of `head`. It is
put on the terminals that may stand at the same position as a lazy one. For each rule, these are found:

    first     the lazy terminals that a text of it may begin with                      call: {head}
    beside    those that may stand where a text of it begins, by all its uses          call: {head}
    follow    those that may come after it                                             call: {head}

Terminals within an `@name`, a `%json` or a `%lark` are left as they are.

Source: first and follow sets as in SLR parsers (DeRemer, "Simple LR(k) grammars", 1971).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from structgen.engine.deadlines import spend
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.edges import is_nullable
from structgen.kbnf import ast
from structgen.kbnf.rewriting import nodes_of, rewrite

__all__ = ["lazy_first"]

_ANY_TEXT = rx.plus(rx.ByteSet((1 << 256) - 1))
_NONE: frozenset[int] = frozenset()

Lazies = frozenset[int]
"""Lazy terminals, by the ids of their nodes."""


def lazy_first(rules: dict[str, ast.Expression], lazy: Collection[str]) -> dict[str, ast.Expression]:
    """Return rules in which lazy rules take precedence.

    Args:
        rules: the bodies, by name.
        lazy: the names of the lazy rules. The first terminal in their bodies is lazy.

    Raises:
        RecursionError: the bodies are nested too deeply.
    """
    endings = {id(node): regex for name in lazy for node, regex in _lazy_terminal(rules[name])}
    after = {
        rest: {node: rx.sequence(regex, rest) for node, regex in endings.items()} for rest in (_ANY_TEXT, rx.ANY_BYTES)
    }
    narrowed: dict[int, ast.Expression] = {}
    for node, others in _Positions(rules, endings.keys()).found.values():
        spend(1 + len(endings))
        longer = after[_ANY_TEXT if id(node) in endings else rx.ANY_BYTES]
        refused = [longer[other] for other in endings if other in others and other != id(node)]  # in their order
        if refused:
            narrowed[id(node)] = ast.RegexTerminal(rx.difference(node.regex, rx.choice(*refused)))
    return {name: rewrite(body, lambda node: narrowed.get(id(node), node)) for name, body in rules.items()}


def _lazy_terminal(body: ast.Expression) -> Iterator[tuple[ast.Expression, rx.Regex]]:
    """Yield the lazy terminal of a lazy rule with its regex; nothing if it has only the empty text."""
    first = body.parts[0] if isinstance(body, ast.Sequence) else body
    inner = first
    if isinstance(first, ast.Hole) and isinstance(first.content, ast.Grammar):
        inner = first.content.rules[0].body  # it has a temperature
    if isinstance(inner, ast.RegexTerminal) and not is_nullable(inner.regex):
        yield first, inner.regex


class _Positions:
    """The lazy terminals that may stand at the same position as each terminal of some rules.

    Args:
        rules: the bodies, by name.
        lazy: the lazy terminals.

    Attributes:
        found: the terminals with these lazy terminals, by the id of the terminal's node.
    """

    def __init__(self, rules: dict[str, ast.Expression], lazy: Collection[int]) -> None:
        self._rules = rules
        self._lazy = lazy
        self._nullable: set[str] = set()
        self._first: dict[str, Lazies] = dict.fromkeys(rules, _NONE)
        self._beside: dict[str, Lazies] = dict.fromkeys(rules, _NONE)
        self._follow: dict[str, Lazies] = dict.fromkeys(rules, _NONE)
        # (rule, what stands before) -> the lazy terminals after it: alternatives that begin alike are one position
        self._after: dict[tuple[str, object], Lazies] = {}
        self._changed: dict[str, None] = {}  # rules to visit again
        self.found: dict[int, tuple[ast.RegexTerminal, Lazies]] = {}
        self._find_first()
        self._changed = dict.fromkeys(rules)
        while self._changed:
            name = next(iter(self._changed))
            del self._changed[name]
            self._visit(name, rules[name], self._beside[name], self._follow[name])

    def _find_first(self) -> None:
        users: dict[str, dict[str, None]] = {}
        for name, body in self._rules.items():
            for node in nodes_of(body):
                if isinstance(node, ast.Reference):
                    users.setdefault(node.name, {})[name] = None
        work = dict.fromkeys(self._rules)
        while work:
            name = next(reversed(work))
            del work[name]
            may_be_empty, first = self._begins(self._rules[name])
            if first != self._first[name] or may_be_empty != (name in self._nullable):
                self._first[name] = first
                self._nullable |= {name} if may_be_empty else set()
                work |= users.get(name, {})

    def _begins(self, node: ast.Expression) -> tuple[bool, Lazies]:
        """Return whether an expression may be empty, and the lazy terminals that it may begin with."""
        spend(1)
        if isinstance(node, ast.Reference):
            return node.name in self._nullable, self._first[node.name]
        if isinstance(node, ast.Sequence):
            return self._begins_in_a_row(node.parts)
        if isinstance(node, ast.Choice):
            options = [self._begins(part) for part in node.parts]
            return any(empty for empty, _ in options), _NONE.union(*[first for _, first in options])
        if isinstance(node, (ast.Option, ast.ZeroOrMore, ast.OneOrMore, ast.Bounded)):
            may_be_empty, first = self._begins(node.body)
            return may_be_empty or _may_be_absent(node), first
        own = frozenset({id(node)}) if id(node) in self._lazy else _NONE
        return isinstance(node, ast.RegexTerminal) and is_nullable(node.regex), own

    def _begins_in_a_row(self, parts: tuple[ast.Expression, ...]) -> tuple[bool, Lazies]:
        found = _NONE
        for part in parts:
            may_be_empty, first = self._begins(part)
            found |= first
            if not may_be_empty:
                return False, found
        return True, found

    def _visit(self, rule: str, node: ast.Expression, here: Lazies, after: Lazies) -> None:
        """Note the lazy terminals at each position of an expression.

        Args:
            rule: the rule that it is a part of.
            node: the expression.
            here: the lazy terminals that may stand where it begins, those of its own aside.
            after: those that may come after it.
        """
        spend(1 + len(here) + len(after))
        may_be_empty, first = self._begins(node)
        here = here | first | after if may_be_empty else here | first
        if isinstance(node, ast.Reference):
            for table, more in ((self._beside, here), (self._follow, after)):
                if not more <= table[node.name]:
                    table[node.name] |= more
                    self._changed[node.name] = None
        elif isinstance(node, ast.RegexTerminal):
            known = self.found.get(id(node), (node, _NONE))[1]
            self.found[id(node)] = (node, known | here)
        elif isinstance(node, ast.Sequence):
            self._visit_parts(rule, node.parts, here, after)
        elif isinstance(node, ast.Choice):
            for part in node.parts:
                self._visit(rule, part, here, after)
        elif isinstance(node, (ast.Option, ast.ZeroOrMore, ast.OneOrMore, ast.Bounded)):
            again = after if isinstance(node, ast.Option) else after | first  # all rounds are one position
            self._visit(rule, node.body, here | again, again)

    def _visit_parts(self, rule: str, parts: tuple[ast.Expression, ...], here: Lazies, after: Lazies) -> None:
        rests = [after]  # those that may come after each part
        for part in reversed(parts):
            may_be_empty, first = self._begins(part)
            rests.append(first | rests[-1] if may_be_empty else first)
        rests.reverse()
        for number, part in enumerate(parts):
            if number:
                here = rests[number] | (here if self._begins(parts[number - 1])[0] else _NONE)
                here |= self._alike(rule, parts[number - 1], here)
            self._visit(rule, part, here, rests[number + 1])

    def _alike(self, rule: str, before: ast.Expression, here: Lazies) -> Lazies:
        """Return the lazy terminals after the same symbol anywhere in a rule, with those of one more position."""
        symbol = before if isinstance(before, (ast.Reference, ast.RegexTerminal)) else id(before)
        known = self._after.get((rule, symbol), _NONE)
        if not here <= known:
            known = self._after[rule, symbol] = known | here
            self._changed[rule] = None
        return known


def _may_be_absent(node: ast.Expression) -> bool:
    return isinstance(node, (ast.Option, ast.ZeroOrMore)) or (isinstance(node, ast.Bounded) and node.min == 0)
