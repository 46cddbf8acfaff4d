"""Rules of any notation as KBNF: the rules that the engine would make lazily, written down.

    arguments ::= '<parameter=' 'city>' value …       of a call
    start ::= 'name: ' scalar rest …                  of YAML

As in `to_kbnf`, which does the same for JSON, other keys may come twice. Rules are called after what they hold: a
value, or the rest of an object or list.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.deadlines import Deadline
from structgen.engine.grammar.tables import Capture, Lazy, RuleSource, Symbol
from structgen.engine.regex import tree as rx
from structgen.engine.vocabulary.marks import is_mark, token_of
from structgen.errors import LimitExceededError, UnsupportedSchemaError
from structgen.kbnf import ast
from structgen.kbnf.inlining import inlined
from structgen.kbnf.rewriting import free_name, sequence
from structgen.limits import Limits
from structgen.schema.algebra import Inexpressible

__all__ = ["rules_to_kbnf"]

_MAX_RULES = 50_000
_MAX_WORDS = 64  # texts of an enum that are written as alternatives of literals


def rules_to_kbnf(
    source: RuleSource,
    key: Hashable,
    *,
    start: str,
    limits: Limits,
    deadline: Deadline,
    may_be_empty: bool = False,
    tokens: Sequence[str] = (),
    changed: Callable[[rx.Regex], rx.Regex] | None = None,
) -> ast.Grammar:
    """Return the grammar of a nonterminal of a source that captures nothing.

    Args:
        source: the rules.
        key: the nonterminal.
        start: the name of the first rule.
        limits: bounds on the size.
        deadline: a running clock.
        may_be_empty: whether the empty text belongs to the grammar, too.
        tokens: the names of the tokens that terminals which are marks stand for, by id.
        changed: changes each terminal; None changes none.

    Raises:
        LimitExceededError: the grammar is too large.
        UnsupportedSchemaError: a printed grammar cannot express the schema exactly.
    """
    writer = _Writer(source, start, tokens, changed, limits, deadline)
    try:
        return writer.write(key, may_be_empty=may_be_empty)
    except Inexpressible as error:
        message = f"this {error.keyword} cannot be expressed exactly in an export"
        raise UnsupportedSchemaError(message, pointer="", keyword=error.keyword) from error


class _Writer:
    """A writer of all rules that a nonterminal reaches; see `rules_to_kbnf`."""

    def __init__(
        self,
        source: RuleSource,
        start: str,
        tokens: Sequence[str],
        changed: Callable[[rx.Regex], rx.Regex] | None,
        limits: Limits,
        deadline: Deadline,
    ) -> None:
        self._source = source
        self._start = start
        self._tokens = tokens
        self._changed = changed
        self._limits = limits
        self._deadline = deadline
        self._names: dict[Hashable, str] = {}
        self._taken: set[str] = {start}
        self._work: list[Hashable] = []
        self._terminals: dict[rx.Regex, ast.Expression | None] = {}

    def write(self, key: Hashable, *, may_be_empty: bool) -> ast.Grammar:
        """Return the grammar."""
        whole: ast.Expression = self._reference(key)
        rules = [ast.Rule(self._start, ast.Option(whole) if may_be_empty else whole)]
        while self._work:
            key = self._work.pop(0)
            self._deadline.check()
            rules.append(ast.Rule(self._names[key], self._body(self._source.bodies(key))))
            if len(rules) > _MAX_RULES:
                message = f"the grammar needs more than {_MAX_RULES} rules"
                raise LimitExceededError("grammar_symbols", self._limits.grammar_symbols, message=message)
        return inlined(ast.Grammar(tuple(rules), self._start), {rule.name for rule in rules[1:]})

    def _body(self, bodies: Sequence[Sequence[Any]]) -> ast.Expression:
        parts: list[ast.Expression] = []
        for body in bodies:
            symbols = [self._symbol(symbol) for symbol in body]
            if None not in symbols:
                parts.append(sequence([symbol for symbol in symbols if symbol is not None]))
        return parts[0] if len(parts) == 1 else ast.Choice(tuple(parts))

    def _symbol(self, symbol: Symbol) -> ast.Expression | None:
        """Return the expression of a symbol; None for a terminal without a text."""
        if isinstance(symbol, Capture):
            raise TypeError("a printed grammar cannot have captures")
        if isinstance(symbol, Lazy):
            return self._reference(symbol.key)
        if symbol not in self._terminals:
            self._terminals[symbol] = self._terminal(symbol)
        return self._terminals[symbol]

    def _terminal(self, regex: rx.Regex) -> ast.Expression | None:
        if isinstance(regex, rx.Literal) and is_mark(regex):
            return ast.Token((self._tokens[token_of(regex.data)],))
        if self._changed is not None:
            regex = self._changed(regex)
        if isinstance(regex, rx.Literal):
            return ast.Literal(regex.data)
        if isinstance(regex, rx.LiteralSet) and len(regex.texts) <= _MAX_WORDS:
            return ast.Choice(tuple(map(ast.Literal, regex.texts)))
        return None if AutomatonStore(self._limits).is_empty(regex) else ast.RegexTerminal(regex)

    def _reference(self, key: Hashable) -> ast.Reference:
        if key not in self._names:
            name = self._names[key] = free_name(_kind_of(key), self._taken)
            self._taken.add(name)
            self._work.append(key)
        return ast.Reference(self._names[key])


def _kind_of(key: Any) -> str:
    """Return a name for the rule of a nonterminal."""
    if isinstance(key[0], tuple):  # at a place of YAML
        return _kind_of(key[0])
    if key[0] in ("set", "arguments", "json"):
        return _kind_of(key[1])
    if isinstance(key[0], int):  # a set of objects or arrays, from a state on
        return "object" if key[1] == "first" else "rest"
    return "scalar" if key[0] == "scalars" else "value"
