"""The step before printing: constructs without a KBNF syntax are rewritten by those that have one.

- Names that are not identifiers are replaced by unique ones, and the start nonterminal is called `start`.
- `Bounded` becomes rules, logarithmically many in the bounds (`repetition`).
- A regex that a program built becomes text in Rust's syntax, as short as `shorter_regex` makes it. Parts that occur
  several times become rules (`shared_parts`). Where the syntax cannot express a regex, or the published package's
  automaton of it would be too large, its groups and repetitions become those of KBNF, and the remaining nodes become
  right-linear rules, one for each state of their automaton (`automaton_rules`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.edges import is_nullable
from structgen.kbnf import ast
from structgen.kbnf.regex_facts import post_order
from structgen.kbnf.repetition import CountedRules
from structgen.kbnf.rewriting import nodes_of, rewrite, sequence
from structgen.kbnf.writing.automaton_rules import automaton_rules
from structgen.kbnf.writing.naming import FreshNames, errors_in, without_extensions, written_names
from structgen.kbnf.writing.regex_text import regex_texts, regex_to_rust
from structgen.kbnf.writing.shared_parts import parts_of, shared_texts, splits
from structgen.kbnf.writing.shorter_regex import shortened
from structgen.limits import Limits

__all__ = ["lower"]

# Nodes of a regex, its counted repetitions written out. The published package makes a dense automaton of each regex,
# without a bound, so heavier ones become rules.
_MAX_WEIGHT = 2000
_MAX_WRITTEN_OUT = 4  # copies of a counted repetition that are written one by one


def lower(grammar: ast.Grammar, *, limits: Limits | None = None, has_tokens: bool = False) -> ast.Grammar:
    """Return a grammar of the same language that can be written as text; nodes that already can be stay as they are.

    Args:
        grammar: the tree.
        limits: bounds of the automata that are made.
        has_tokens: whether token terminals can be written.

    Raises:
        GrammarError: a regex matches bytes that are not UTF-8, or the grammar has a look-ahead or an indentation.
        LimitExceededError: a regex needs too many states.
    """
    grammar = without_extensions(grammar, "the published KBNF", has_tokens=has_tokens)
    names = written_names(grammar, start="start", clean=_identifier)
    lowering = _Lowering(names, _program_made(grammar), limits or Limits())
    rules: list[ast.Rule] = []
    for rule in grammar.rules:
        with errors_in(rule):
            body = lowering.expression(rule.body, names[rule.name])
        rules.append(replace(rule, name=names[rule.name], body=body))
    return ast.Grammar(tuple(rules + lowering.rules))


def _program_made(grammar: ast.Grammar) -> list[rx.Regex]:
    """Return the regexes without a text, each as often as it occurs."""
    return [
        node.regex
        for rule in grammar.rules
        for node in nodes_of(rule.body)
        if isinstance(node, ast.RegexTerminal) and node.source is None
    ]


def _identifier(name: str) -> str:
    """Return a name as an identifier of KBNF."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", name) or "_"
    return "_" + name if name[0].isdigit() else name


class _Lowering:
    """The state of one `lower`.

    Attributes:
        rules: the new rules.
    """

    def __init__(self, names: dict[str, str], regexes: list[rx.Regex], limits: Limits) -> None:
        self.rules: list[ast.Rule] = []
        self._names = names
        self._short = {id(regex): shortened(regex) for regex in regexes}
        self._texts: dict[int, str | None] = {}
        for regex in self._short.values():
            self._texts.update(regex_texts(regex))
        self._shared = shared_texts([self._short[id(regex)] for regex in regexes], self._texts)
        self._shared_rules: dict[str, ast.Expression] = {}
        self._limits = limits
        self._fresh = FreshNames(names.values(), "_")
        self._owner = ""
        self._counted: CountedRules[ast.Expression] = CountedRules(self._rule_of_bodies, ast.ZeroOrMore)
        self._known: dict[int, ast.Expression] = {}
        # The sequences made of counted repetitions, by `id`: they need no parentheses.
        self._spliced: dict[int, ast.Expression] = {}
        self._regexes: dict[int, ast.Expression] = {}

    def expression(self, body: ast.Expression, owner: str) -> ast.Expression:
        """Return one rule's body rewritten; new rules are named after `owner`, its name."""
        self._owner = owner
        return rewrite(body, self._node, self._known)

    def _node(self, node: ast.Expression) -> ast.Expression:
        """Return a node, whose children are rewritten; the node itself where nothing has to change."""
        if isinstance(node, ast.Bounded):
            repeated = self._repeat(node.body, node.min, node.max)
            self._spliced[id(repeated)] = repeated
            return repeated
        if isinstance(node, ast.Sequence) and any(id(part) in self._spliced for part in node.parts):
            return sequence(
                symbol
                for part in node.parts
                for symbol in (part.parts if isinstance(part, ast.Sequence) and id(part) in self._spliced else (part,))
            )
        if isinstance(node, ast.RegexTerminal):
            return node if node.source is not None else self._regex(node.regex)
        if isinstance(node, ast.Reference):
            return self._reference(node)
        if isinstance(node, ast.Except) and isinstance(node.excluded, ast.Reference):
            return ast.Except(self._reference(node.excluded), node.limit)
        return node

    def _reference(self, node: ast.Reference) -> ast.Reference:
        # An undefined name stays, so that the reader of the text reports it.
        written = self._names.get(node.name, node.name)
        return node if written == node.name else ast.Reference(written)

    def _new_name(self) -> str:
        return self._fresh.name(self._owner)

    def _rule(self, body: ast.Expression) -> ast.Reference:
        name = self._new_name()
        self.rules.append(ast.Rule(name, body))
        return ast.Reference(name)

    def _rule_of_bodies(self, bodies: list[tuple[ast.Expression, ...]]) -> ast.Expression:
        alternatives = [sequence(body) for body in bodies if body]
        body = alternatives[0] if len(alternatives) == 1 else ast.Choice(tuple(alternatives))
        return self._rule(body if all(bodies) else ast.Option(body))

    def _symbol(self, expression: ast.Expression) -> ast.Expression:
        """Return something short to repeat: a name or a literal."""
        return expression if isinstance(expression, (ast.Reference, ast.Literal)) else self._rule(expression)

    def _regex(self, regex: rx.Regex) -> ast.Expression:
        """Return the expression of a regex that a program built. Objects that are the same share their rules."""
        known, texts = self._regexes, self._texts
        regex = self._short[id(regex)]
        weights, split = _weights(regex), splits(regex, texts, self._shared)
        stack = [(regex, False)]
        while stack:
            node, parts_done = stack.pop()
            if id(node) in known:
                continue
            text = texts[id(node)]
            parts = parts_of(node)
            if isinstance(node, rx.Repeat):
                parts = (node.body,)
            is_whole = id(node) not in split or text in self._shared
            if text is not None and is_whole and weights[id(node)] <= _MAX_WEIGHT:
                known[id(node)] = self._terminal(node, text)
            elif parts and not parts_done:
                stack.append((node, True))
                stack.extend((part, False) for part in parts)
            else:
                known[id(node)] = self._regex_node(node, texts, known)
        return known[id(regex)]

    def _terminal(self, node: rx.Regex, text: str) -> ast.Expression:
        """Return a regex as a terminal; the name of its rule where it occurs several times."""
        terminal = ast.RegexTerminal(node, text)
        if text not in self._shared:
            return terminal
        if text not in self._shared_rules:
            self._shared_rules[text] = self._rule(terminal)
        return self._shared_rules[text]

    def _regex_node(
        self, node: rx.Regex, texts: dict[int, str | None], known: dict[int, ast.Expression]
    ) -> ast.Expression:
        """Return the expression of a regex that is too heavy for one terminal or has no text; `known` has its parts."""
        if isinstance(node, rx.Sequence):
            return sequence(_runs(node, known))
        if isinstance(node, rx.Choice):
            return _alternatives([known[id(part)] for part in node.parts])
        if isinstance(node, rx.Repeat):
            return self._repeat(known[id(node.body)], node.min, node.max)
        if isinstance(node, rx.Literal):
            return ast.Literal(node.data)
        if isinstance(node, rx.LiteralSet):
            return ast.Choice(tuple(ast.Literal(item) for item in node.texts))
        if isinstance(node, rx.Early) and texts[id(node.body)] is not None and not is_nullable(node.body):
            return ast.RegexTerminal(node, texts[id(node.body)], "e")
        return automaton_rules(node, self._new_name, self.rules, self._limits)

    def _repeat(self, body: ast.Expression, minimum: int, maximum: int | None) -> ast.Expression:
        operators: dict[tuple[int, int | None], Callable[[ast.Expression], ast.Expression]] = {
            (0, 1): ast.Option,
            (0, None): ast.ZeroOrMore,
            (1, None): ast.OneOrMore,
        }
        if (minimum, maximum) in operators:
            return operators[minimum, maximum](body)
        if maximum is not None and maximum <= _MAX_WRITTEN_OUT:
            return _written_out(self._symbol(body), minimum, maximum)
        return sequence(self._counted.between(self._symbol(body), minimum, maximum))


def _written_out(body: ast.Expression, minimum: int, maximum: int) -> ast.Expression:
    """Return a repetition with each copy written out: `x x [x [x]]`."""
    rest: list[ast.Expression] = []
    for _ in range(maximum - minimum):
        rest = [ast.Option(sequence([body, *rest]))]
    return sequence([body] * minimum + rest)


def _runs(node: rx.Sequence, known: dict[int, ast.Expression]) -> list[ast.Expression]:
    """Return the parts of a sequence, with neighbours joined into one regex where that is possible."""
    out: list[ast.Expression] = []
    for part in node.parts:
        expression = known[id(part)]
        last = out[-1] if out else None
        if (
            isinstance(expression, ast.RegexTerminal)
            and isinstance(last, ast.RegexTerminal)
            and not (expression.kind or last.kind)
        ):
            joined = rx.sequence(last.regex, expression.regex)
            text = regex_to_rust(joined)
            if text is not None and _weights(joined)[id(joined)] <= _MAX_WEIGHT:
                out[-1] = ast.RegexTerminal(joined, text)
                continue
        out.append(expression)
    return out


def _alternatives(parts: list[ast.Expression]) -> ast.Expression:
    """Return a choice, with its terminals joined into one."""
    terminals = [part for part in parts if isinstance(part, ast.RegexTerminal) and not part.kind]
    if len(terminals) > 1:
        joined = rx.choice(*[part.regex for part in terminals])
        text = regex_to_rust(joined)
        if text is not None and _weights(joined)[id(joined)] <= _MAX_WEIGHT:
            parts = [ast.RegexTerminal(joined, text), *(part for part in parts if part not in terminals)]
    return parts[0] if len(parts) == 1 else ast.Choice(tuple(parts))


def _weights(regex: rx.Regex) -> dict[int, int]:
    """Return the weight of each node (by `id`): its nodes with counted repetitions written out, as in an automaton."""
    known: dict[int, int] = {}
    for node in post_order(regex):
        weight = 1
        if isinstance(node, rx.Literal):
            weight = len(node.data)
        elif isinstance(node, rx.LiteralSet):
            weight = sum(map(len, node.texts))
        elif isinstance(node, (rx.Sequence, rx.Choice, rx.Intersection)):
            weight = sum(known[id(part)] for part in node.parts)
        elif isinstance(node, rx.Repeat):
            weight = known[id(node.body)] * max(1, node.min if node.max is None else node.max)
        elif isinstance(node, (rx.Complement, rx.Early)):
            weight = known[id(node.body)]
        known[id(node)] = weight
    return known
