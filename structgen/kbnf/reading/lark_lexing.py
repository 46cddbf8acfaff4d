r"""The lexer of a Lark grammar, written as conditions on its terminals.

Lark cuts a text into terminals before it parses. Its lexer knows which terminals may come next, and takes a longest
one: `iffy` is one name, and not the keyword `if` before `fy`. A parser without a lexer needs conditions for the same:

    "if"     is not followed by a character that makes it a longer name:      "if" !\w
    NAME     is none of the strings that may stand in its place:              (NAME - "if") !\w
    NUMBER   is not followed by a digit, nor by "." if a float may come:      NUMBER ![0-9.]

A terminal is compared with its *companions* only: the terminals that may stand at the same position. So `in` remains a
name at the begin of a statement, where no expression can go on. Lark does the same with the sets of its LALR states.
Conditions see one character: a longer match that needs two more characters is not ruled out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.deadlines import spend
from structgen.engine.regex import tree as rx
from structgen.kbnf import ast
from structgen.kbnf.reading.lark_terminals import Ending, Terminal
from structgen.kbnf.regex_facts import post_order

__all__ = ["LexedGrammar", "Use", "ignored_terminals", "lexed_terminals", "replaceable"]

Use = tuple[str, str]
"""A rule, and a terminal in its body."""


@dataclass(frozen=True)
class LexedGrammar:
    """A Lark grammar as rules over terminals.

    Attributes:
        terminals: the terminals that rules use, by name. A string has the name `'text'`. Declared terminals match
            nothing.
        ignored: the texts of `%ignore`.
        rules: the bodies of the rules; a `Reference` names a rule or a terminal.
        start: the rule where a text begins.
    """

    terminals: dict[str, Terminal]
    ignored: tuple[rx.Regex, ...]
    rules: dict[str, ast.Expression]
    start: str


def lexed_terminals(grammar: LexedGrammar) -> dict[Use, Terminal]:
    """Return the terminal of each use, with the conditions of the lexer."""
    companions = _Companions(grammar).found
    limits = _Conditions(grammar.terminals)
    return {use: limits.of(use[1], names) for use, names in companions.items()}


def replaceable(grammar: LexedGrammar) -> dict[Use, list[str]]:
    """Return, for each use of a terminal, the strings that the parser takes in its place.

    A string that another terminal matches as well is that terminal where the string itself cannot stand: `_` is a name
    in an expression, and a mark in a pattern.
    """
    conditions = _Conditions(grammar.terminals)
    return {use: conditions.free(use[1], names) for use, names in _Companions(grammar).found.items()}


def ignored_terminals(grammar: LexedGrammar) -> list[Terminal]:
    """Return the terminals of `%ignore`. One that another terminal could continue is matched to its longest end."""
    ignored = {str(number): Terminal.of(regex) for number, regex in enumerate(grammar.ignored)}
    conditions = _Conditions(ignored)
    store = AutomatonStore()
    used = rx.choice(*[terminal.regex for terminal in grammar.terminals.values()])
    found = []
    for name, terminal in ignored.items():
        longest = conditions.of(name, {name})
        begun = rx.intersection(used, rx.sequence(longest.endings[0].refused, rx.ANY_BYTES))
        found.append(terminal if store.is_empty(begun) else longest)
    return found


class _Companions:
    """The companions of each use of a terminal: the terminals that may stand at the same position.

    Attributes:
        found: the result.
    """

    def __init__(self, grammar: LexedGrammar) -> None:
        self._terminals = grammar.terminals
        self._rules = grammar.rules
        self._nullable: set[str] = set()
        self._first: dict[str, set[Use]] = {name: set() for name in grammar.rules}
        self._after: dict[str, set[Use]] = {name: set() for name in grammar.rules}
        # A rule, two symbols in a row of its body -> what may stand after them. Alternatives that begin alike share it.
        self._next: dict[tuple[str, str, str], set[Use]] = {}
        self.found: dict[Use, set[str]] = {}
        self._solve()

    def _solve(self) -> None:
        """Compute first sets and follow sets as fixed points, then the companions."""
        size = -1
        while size != (size := len(self._nullable) + sum(map(len, self._first.values()))):
            for name, body in self._rules.items():
                is_nullable, first = self._begins(name, body)
                self._first[name] |= first
                if is_nullable:
                    self._nullable.add(name)
        size = -1
        while size != (size := sum(map(len, self._after.values()))):
            for name, body in self._rules.items():
                self._visit(name, body, {""}, self._after[name])
        for uses in self._next.values():
            self._stand_together(uses)

    def _begins(self, rule: str, node: ast.Expression) -> tuple[bool, set[Use]]:
        """Return whether an expression has the empty text, and the uses that it may begin with."""
        spend(1)
        if isinstance(node, ast.Reference):
            if node.name in self._rules:
                return node.name in self._nullable, self._first[node.name]
            if self._terminals[node.name].regex == rx.NOTHING:  # declared: no text
                return True, set()
            return False, {(rule, node.name)}
        if isinstance(node, ast.Sequence):
            found: set[Use] = set()
            for part in node.parts:
                is_nullable, first = self._begins(rule, part)
                found |= first
                if not is_nullable:
                    return False, found
            return True, found
        if isinstance(node, ast.Choice):
            options = [self._begins(rule, part) for part in node.parts]
            return any(option[0] for option in options), set().union(*[option[1] for option in options])
        is_nullable, first = self._begins(rule, node.body)  # type: ignore[union-attr]
        return is_nullable or _may_be_absent(node), first

    def _visit(self, rule: str, node: ast.Expression, before: set[str], after: set[Use]) -> None:
        """Note what may stand at each position of an expression, given what may stand before and after it."""
        spend(1 + len(after))
        is_nullable, first = self._begins(rule, node)
        self._stand_together(first | after if is_nullable else first)
        if isinstance(node, ast.Reference):
            for name in before:
                self._next.setdefault((rule, name, node.name), set()).update(after)
            if node.name in self._rules:
                self._after[node.name] |= after
        elif isinstance(node, ast.Sequence):
            befores = [before]
            for part in node.parts:
                befores.append(_lasts(part, befores[-1]))
            for part, names in zip(reversed(node.parts), reversed(befores[:-1])):
                self._visit(rule, part, names, after)
                is_nullable, first = self._begins(rule, part)
                after = first | after if is_nullable else first
        elif isinstance(node, ast.Choice):
            for part in node.parts:
                self._visit(rule, part, before, after)
        elif isinstance(node, ast.Option):
            self._visit(rule, node.body, before, after)
        else:
            body = node.body  # type: ignore[union-attr]
            self._visit(rule, body, before | _lasts(body, before), after | first)

    def _stand_together(self, uses: set[Use]) -> None:
        names = {name for _, name in uses}
        for use in uses:
            self.found.setdefault(use, set()).update(names)


def _lasts(node: ast.Expression, before: set[str]) -> set[str]:
    """Return the last symbols of an expression's texts, or of what stands before it where it is empty."""
    if isinstance(node, ast.Reference):
        return {node.name}
    if isinstance(node, ast.Sequence):
        for part in node.parts:
            before = _lasts(part, before)
        return before
    if isinstance(node, ast.Choice):
        return set().union(*[_lasts(part, before) for part in node.parts])
    found = _lasts(node.body, before)  # type: ignore[union-attr]
    return found | before if _may_be_absent(node) else found


def _may_be_absent(node: ast.Expression) -> bool:
    return isinstance(node, (ast.Option, ast.ZeroOrMore)) or (isinstance(node, ast.Bounded) and node.min == 0)


class _Conditions:
    """The conditions that a lexer puts on terminals."""

    def __init__(self, terminals: dict[str, Terminal]) -> None:
        self._terminals = terminals
        self._store = AutomatonStore()
        self._states = {name: self._store.add(terminal.regex) for name, terminal in terminals.items()}
        self._refused: dict[tuple[str, str], list[rx.Regex]] = {}

    def of(self, name: str, companions: set[str]) -> Terminal:
        """Return a terminal, without what a lexer would read as one of its companions."""
        terminal = self._terminals[name]
        reserved: list[bytes] = []
        refused: dict[rx.Regex, None] = {}
        for other in sorted(companions):
            rival = self._terminals[other]
            if rival.text is not None and self._is_reserved(name, rival):
                reserved.append(rival.text)
            refused |= dict.fromkeys(self._longer(name, other))
        return _restricted(terminal, reserved, list(refused))

    def free(self, name: str, companions: set[str]) -> list[str]:
        """Return the strings that a terminal matches, and that are none of its companions."""
        others = self._terminals.keys() - companions
        return sorted(other for other in others if self._is_reserved(name, self._terminals[other]))

    def _is_reserved(self, name: str, rival: Terminal) -> bool:
        """Return whether a rival is a string that a lexer takes in place of a terminal that matches it."""
        terminal = self._terminals[name]
        if rival.text is None or terminal.text is not None or rival.priority != terminal.priority:
            return False
        return self._store.matches(self._states[name], rival.text)

    def _longer(self, name: str, other: str) -> list[rx.Regex]:
        """Return the characters after which a match of a terminal is a longer match of another one."""
        found = self._refused.get((name, other))
        if found is None:
            spend(1)
            terminal, rival = self._terminals[name], self._terminals[other]
            found = self._refused[name, other] = []
            if rival.is_lazy or rival.priority < terminal.priority:
                return found
            if rival.text is None:
                found += [c for c in _characters(rival.regex) if self._always_extends(terminal, c, rival)]
            elif terminal.text is not None and terminal.text == rival.text[:-1]:
                found.append(rx.Literal(rival.text[-1:]))
        return found

    def _always_extends(self, terminal: Terminal, characters: rx.Regex, rival: Terminal) -> bool:
        longer = rx.sequence(terminal.regex, characters)
        return self._store.is_empty(rx.difference(longer, rival.regex))


def _characters(regex: rx.Regex) -> Iterator[rx.Regex]:
    """Yield the sets of characters in a regex."""
    seen: set[rx.Regex] = set()
    for node in post_order(regex):
        if isinstance(node, rx.Literal):
            found: list[rx.Regex] = [rx.Literal(character.encode()) for character in node.data.decode()]
        else:
            found = [node] if isinstance(node, rx.Chars) else []
        for characters in found:
            if characters not in seen:
                seen.add(characters)
                yield characters


def _restricted(terminal: Terminal, reserved: list[bytes], refused: list[rx.Regex]) -> Terminal:
    endings = []
    for regex, before in terminal.endings:
        if reserved:
            regex = rx.difference(regex, rx.literal_set(reserved))
        conditions = [*refused, *([] if before is rx.NOTHING else [before])]
        endings.append(Ending(regex, rx.choice(*conditions) if conditions else rx.NOTHING))
    return Terminal(tuple(endings), terminal.text, terminal.is_lazy, terminal.priority)
