"""The rewriting of a grammar for dialects without regexes: terminals become texts and classes of characters.

A regex becomes groups and repetitions of the grammar; nodes that these cannot express (intersection, complement, …)
become right-linear rules, one for each state of the automaton (`automaton_rules`).
"""

from __future__ import annotations

from structgen.engine.regex import tree as rx
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.regular import regular
from structgen.kbnf.rewriting import group_rules, optional, rewrite, sequence
from structgen.kbnf.writing.automaton_rules import automaton_rules
from structgen.kbnf.writing.naming import FreshNames
from structgen.kbnf.writing.regex_text import byte_ranges
from structgen.kbnf.writing.shorter_regex import shortened
from structgen.limits import Limits

__all__ = ["CharacterRules"]

_TERMINALS = (ast.RegexTerminal, ast.SubstringsTerminal, ast.AnyText, ast.Except)


class CharacterRules:
    """Rules over characters for the terminals of a grammar. Objects that are the same share their rules.

    Args:
        grammar: the grammar, without the constructs that only structgen has.
        fresh: makes the names of new rules.
        limits: `automaton_states` bounds each automaton.

    Attributes:
        rules: the new rules.
    """

    def __init__(self, grammar: ast.Grammar, fresh: FreshNames, limits: Limits) -> None:
        self.rules: list[ast.Rule] = []
        self._grouped = group_rules(grammar)
        self._fresh = fresh
        self._limits = limits
        self._owner = ""
        self._known: dict[int, ast.Expression] = {}
        self._short: dict[int, tuple[rx.Regex, rx.Regex]] = {}  # a regex by its `id`, and its shorter form

    def body(self, body: ast.Expression, owner: str) -> ast.Expression:
        """Return a rule's body with all its terminals rewritten; new rules are named after `owner`.

        Raises:
            GrammarError: a terminal matches bytes that are not UTF-8.
            LimitExceededError: an automaton has too many states.
        """
        self._owner = owner
        return rewrite(body, self._node)

    def _node(self, node: ast.Expression) -> ast.Expression:
        if isinstance(node, _TERMINALS):
            return self.regex(regular(node, self._grouped), self._owner)
        if isinstance(node, ast.Literal):
            _check_text(node.data)
        if isinstance(node, ast.Option):
            return optional(node.body)
        return node

    def regex(self, regex: rx.Regex, owner: str) -> ast.Expression:
        """Return the expression of a regex; new rules are named after `owner`.

        Raises:
            GrammarError: the regex matches bytes that are not UTF-8.
            LimitExceededError: an automaton has too many states.
        """
        self._owner = owner
        if id(regex) not in self._short:
            self._short[id(regex)] = regex, shortened(regex)
        regex = self._short[id(regex)][1]
        known = self._known
        stack = [(regex, False)]
        while stack:
            node, parts_done = stack.pop()
            if id(node) in known:
                continue
            if isinstance(node, (rx.Sequence, rx.Choice, rx.Repeat)) and not parts_done:
                stack.append((node, True))
                parts = (node.body,) if isinstance(node, rx.Repeat) else node.parts
                stack.extend((part, False) for part in parts)
            else:
                known[id(node)] = self._regex_node(node)
        return known[id(regex)]

    def _regex_node(self, node: rx.Regex) -> ast.Expression:
        known = self._known
        if isinstance(node, rx.Literal):
            _check_text(node.data)
            return ast.Literal(node.data)
        if isinstance(node, rx.LiteralSet):
            for text in node.texts:
                _check_text(text)
            return ast.Choice(tuple(map(ast.Literal, node.texts)))
        if isinstance(node, rx.Chars):
            return ast.RegexTerminal(node)
        if isinstance(node, rx.ByteSet) and node.mask < 1 << 0x80:
            return ast.RegexTerminal(rx.Chars(byte_ranges(node.mask)))
        if isinstance(node, rx.Sequence):
            return sequence(known[id(part)] for part in node.parts)
        if isinstance(node, rx.Choice):
            return ast.Choice(tuple(known[id(part)] for part in node.parts))
        if isinstance(node, rx.Repeat):
            body = known[id(node.body)]
            if isinstance(body, ast.Choice):  # such as a character of a JSON string: written once
                body = known[id(node.body)] = self._rule(body)
            return _repeated(body, node.min, node.max)
        return automaton_rules(
            node, lambda: self._fresh.name(self._owner), self.rules, self._limits, of_characters=True
        )

    def _rule(self, body: ast.Expression) -> ast.Reference:
        name = self._fresh.name(self._owner)
        self.rules.append(ast.Rule(name, body))
        return ast.Reference(name)


def _repeated(body: ast.Expression, least: int, most: int | None) -> ast.Expression:
    if most == 0:
        return ast.Literal(b"")
    if (least, most) == (0, 1):
        return optional(body)
    if (least, most) == (0, None):
        return ast.ZeroOrMore(body)
    return ast.OneOrMore(body) if (least, most) == (1, None) else ast.Bounded(body, least, most)


def _check_text(data: bytes) -> None:
    try:
        data.decode()
    except UnicodeDecodeError:
        raise GrammarError(
            f"the bytes {data[:40]!r} are not UTF-8, and a grammar of characters cannot name them"
        ) from None
