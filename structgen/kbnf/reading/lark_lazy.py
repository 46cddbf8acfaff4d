r"""The precedence of lazy rules: where one may begin, other terminals do not go past its first match.

    start: (call | TEXT)*
    call: head "=f>"
    head[lazy]: TEXT "<function"
    TEXT: /(.|\n)+/

llguidance's lexer ends a lazy terminal at its first match, and drops all others that began with it: after `<function`
comes `=f>`. A parser without a lexer needs a condition for the same: no text of `TEXT` begins with one of `head`. It is
put on the terminals that may stand at the same position as a lazy one. These are found by the rules' follow sets: the
positions after two uses of one rule count as the same.

Terminals within an `@name`, a `%json` or a `%lark` are left as they are.
"""

from __future__ import annotations

from collections.abc import Collection

from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.edges import is_nullable
from structgen.kbnf import ast
from structgen.kbnf.reading.lark_lexing import LexedGrammar, companions
from structgen.kbnf.reading.lark_terminals import Terminal
from structgen.kbnf.rewriting import nodes_of, rewrite

__all__ = ["lazy_first"]

_ANY = Terminal.of(rx.ANY_CHAR)
_ANY_TEXT = rx.plus(rx.ByteSet((1 << 256) - 1))


def lazy_first(rules: dict[str, ast.Expression], start: str, lazy: Collection[str]) -> dict[str, ast.Expression]:
    """Return rules in which lazy rules take precedence.

    Args:
        rules: the bodies, by name.
        start: the rule that a text begins at.
        lazy: the names of the lazy rules. The first terminal in their bodies is lazy.
    """
    leaves = _Leaves()
    grammar = LexedGrammar(leaves.terminals, (), {name: leaves.replaced(body) for name, body in rules.items()}, start)
    ending = {leaves.name_of(node): regex for name in lazy for node, regex in _lazy_terminal(rules[name])}
    narrowed: dict[int, ast.Expression] = {}
    for (_, name), others in companions(grammar).items():
        node = leaves.nodes[name]
        if not isinstance(node, ast.RegexTerminal):
            continue
        more = _ANY_TEXT if name in ending else rx.ANY_BYTES
        refused = [rx.sequence(ending[other], more) for other in sorted(others & ending.keys() - {name})]
        if refused:
            narrowed[id(node)] = ast.RegexTerminal(rx.difference(node.regex, rx.choice(*refused)))
    return {name: rewrite(body, lambda node: narrowed.get(id(node), node)) for name, body in rules.items()}


def _lazy_terminal(body: ast.Expression) -> list[tuple[ast.Expression, rx.Regex]]:
    """Return the lazy terminal of a lazy rule with its regex; none if it has only the empty text."""
    first = body.parts[0] if isinstance(body, ast.Sequence) else body
    inner = first
    if isinstance(first, ast.Hole) and isinstance(first.content, ast.Grammar):
        inner = first.content.rules[0].body  # it has a temperature
    if not isinstance(inner, ast.RegexTerminal) or is_nullable(inner.regex):
        return []
    return [(first, inner.regex)]


class _Leaves:
    """The terminals of some rules, by names of their own.

    Attributes:
        terminals: stand-ins, by name.
        nodes: the nodes, by name.
    """

    def __init__(self) -> None:
        self.terminals: dict[str, Terminal] = {}
        self.nodes: dict[str, ast.Expression] = {}
        self._names: dict[int, str] = {}

    def name_of(self, node: ast.Expression) -> str:
        """Return the name of a terminal."""
        return self._names[id(node)]

    def replaced(self, body: ast.Expression) -> ast.Expression:
        """Return a body with references in place of its terminals. Those that may be empty are optional."""
        for node in nodes_of(body):
            if isinstance(node, (ast.RegexTerminal, ast.Hole, ast.Token)) and id(node) not in self._names:
                name = self._names[id(node)] = f"#{len(self._names)}"
                self.terminals[name] = _ANY
                self.nodes[name] = node
        return rewrite(body, self._replaced)

    def _replaced(self, node: ast.Expression) -> ast.Expression:
        if id(node) not in self._names:
            return node
        reference = ast.Reference(self._names[id(node)])
        may_be_empty = isinstance(node, ast.RegexTerminal) and is_nullable(node.regex)
        return ast.Option(reference) if may_be_empty else reference
