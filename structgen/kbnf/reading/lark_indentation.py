r"""Lark's `PythonIndenter`, as rules with margins.

Lark's class stands between lexer and parser. It drops `_NEWLINE` inside brackets, and from the white space at the end
of each other `_NEWLINE` it makes `_INDENT` and `_DEDENT`. Here the same is said by rules. A rule is copied for each
*mode* in which it is used, and a copy knows how its texts begin and end:

    inside brackets or not     inside, the texts of `_NEWLINE` are ignored
    at the begin of a line     then the white space of the block comes first: `margin!`

    suite: simple | _NEWLINE _INDENT stmt+ _DEDENT     ->     suite ::= simple | newline indented!(stmt_at_line_begin+);

Three things differ. Lark counts columns, where a tab is eight; a margin is compared as text. A block is indented by
one to eight spaces, or by a tab (`kbnf.normal_form.indentation`). The last line has no white space after its end.
"""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from structgen.engine.regex import tree as rx
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.reading.lark_lexing import LexedGrammar, Use, ignored_terminals, lexed_terminals
from structgen.kbnf.rewriting import sequence

__all__ = ["DEDENT", "INDENT", "NEWLINE", "Words", "indented_rules", "lined_rules"]

NEWLINE, INDENT, DEDENT = "_NEWLINE", "_INDENT", "_DEDENT"
_OPENING = {repr(bracket) for bracket in "([{"}
_CLOSING = {repr(bracket) for bracket in ")]}"}
_EMPTY = ast.Sequence(())


class _Mode(NamedTuple):
    """The context in which an expression is used.

    Attributes:
        inside: whether it is inside brackets.
        begins_line: whether a line begins before its first terminal.
    """

    inside: bool
    begins_line: bool


class Words(NamedTuple):
    """The expressions that stand for terminals in the rules.

    Attributes:
        terminals: the expression of each use of a terminal.
        newline: the end of a line.
        skip: the ignored texts that may follow a terminal, outside of brackets (False) and inside (True).
    """

    terminals: dict[Use, ast.Expression]
    newline: ast.Expression
    skip: dict[bool, ast.Expression]


Ways = dict[bool, ast.Expression]
"""The texts of an expression, by how they end: True for those after which a line begins."""


def indented_rules(grammar: LexedGrammar) -> ast.Grammar:
    """Return the rules of a grammar whose `_INDENT` and `_DEDENT` are those of `PythonIndenter`.

    Args:
        grammar: it has a terminal `_NEWLINE`.

    Raises:
        GrammarError: a rule has an `_INDENT` without its `_DEDENT`, or an opening bracket without the closing one.
    """
    newline = grammar.terminals[NEWLINE].regex
    ignored = rx.choice(*grammar.ignored)
    ended = rx.intersection(newline, rx.sequence(rx.ANY_BYTES, rx.Literal(b"\n")))
    # A comment before the end of a line is ignored text; it is not read as the begin of a `_NEWLINE` as well.
    line_end = ast.RegexTerminal(rx.difference(ended, rx.sequence(rx.plus(ignored), ended)))
    terminals = {use: terminal.expression() for use, terminal in lexed_terminals(grammar).items()}
    skip = {False: _skipped(grammar, []), True: _skipped(grammar, [newline])}
    return lined_rules(grammar, Words(terminals, line_end, skip))


def lined_rules(grammar: LexedGrammar, words: Words) -> ast.Grammar:
    """Return the rules of such a grammar, over given words.

    Args:
        grammar: it has a terminal `_NEWLINE`.
        words: what stands for the terminals.

    Raises:
        GrammarError: see `indented_rules`.
    """
    return _Lines(grammar, words).grammar()


class _Lines:
    """The copies of the rules of one grammar.

    Attributes:
        _ends: copy of a rule -> how its texts may end.
        _rules: the finished copies, by name.
    """

    def __init__(self, grammar: LexedGrammar, words: Words) -> None:
        self._grammar = grammar
        self._words = words
        self._ends: dict[tuple[str, _Mode], set[bool]] = {}
        self._rules: dict[str, ast.Expression] = {}
        self._rule = ""
        self._copies = 0  # of repetitions

    def grammar(self) -> ast.Grammar:
        first = (self._grammar.start, _Mode(inside=False, begins_line=False))
        self._ends[first] = set()
        size = -1
        # A copy is made when it is first used; its ends are known when nothing changes any more.
        while size != (size := sum(len(ends) + 1 for ends in self._ends.values())):
            self._rules.clear()
            self._copies = 0
            for name, mode in list(self._ends):
                self._rule = name
                for ends_line, body in self._ways(self._grammar.rules[name], mode).items():
                    self._ends[name, mode].add(ends_line)
                    self._rules[_name(name, mode, ends_line)] = body
        ways = [ast.Reference(_name(*first, ends_line)) for ends_line in sorted(self._ends[first])]
        if not ways:
            raise GrammarError(f"the rule {self._grammar.start!r} derives no text")
        start = ast.Rule(
            "(start)", ast.Sequence((self._words.skip[False], ways[0] if len(ways) == 1 else ast.Choice(tuple(ways))))
        )
        return ast.Grammar((start, *(ast.Rule(name, body) for name, body in self._rules.items())), start.name)

    def _fail(self, message: str) -> NoReturn:
        raise GrammarError(f"in the rule {self._rule!r}: {message}")

    def _ways(self, node: ast.Expression, mode: _Mode) -> Ways:
        """Return an expression in a mode, by how it ends."""
        if isinstance(node, ast.Sequence):
            return self._sequence(node.parts, mode)
        if isinstance(node, ast.Choice):
            return _any_of([self._ways(part, mode) for part in node.parts])
        if isinstance(node, ast.Reference):
            return self._reference(node.name, mode)
        if isinstance(node, ast.Option):
            return _any_of([self._ways(node.body, mode), {mode.begins_line: _EMPTY}])
        if isinstance(node, ast.OneOrMore):
            return self._sequence((node.body, ast.ZeroOrMore(node.body)), mode)
        if isinstance(node, ast.ZeroOrMore):
            return self._repeated(node.body, mode)
        assert isinstance(node, ast.Bounded), node
        ways = self._ways(node.body, mode)
        if set(ways) - {mode.begins_line}:
            self._fail("a counted repetition has lines that end")
        return {end: ast.Bounded(body, node.min, node.max) for end, body in ways.items()}

    def _reference(self, name: str, mode: _Mode) -> Ways:
        if name in (INDENT, DEDENT):
            self._fail(f"{INDENT} and {DEDENT} enclose a part of one alternative")
        if name in _OPENING or name in _CLOSING:
            self._fail(f"the bracket {name} has no partner in its alternative")
        if name in self._grammar.terminals:
            return self._terminal(name, mode, inside_after=mode.inside)
        ends = self._ends.setdefault((name, mode), set())
        return {end: ast.Reference(_name(name, mode, end)) for end in ends}

    def _terminal(self, name: str, mode: _Mode, *, inside_after: bool) -> Ways:
        if name == NEWLINE:
            # Inside brackets none is left; at the begin of a line, the one before has taken its text.
            return {} if mode.inside or mode.begins_line else {True: self._words.newline}
        found = [self._words.terminals[self._rule, name], self._words.skip[inside_after]]
        return {False: sequence([ast.Margin(), *found] if mode.begins_line else found)}

    def _sequence(self, parts: tuple[ast.Expression, ...], mode: _Mode) -> Ways:
        """Return parts one after the other; a pair of brackets, or of `_INDENT` and `_DEDENT`, is one part."""
        ways: Ways = {mode.begins_line: _EMPTY}
        at = 0
        while at < len(parts):
            part = parts[at]
            name = part.name if isinstance(part, ast.Reference) else ""
            end = self._partner(parts, at) if name in _OPENING or name == INDENT else at
            found: list[Ways] = []
            for begins_line, before in ways.items():
                inner = mode._replace(begins_line=begins_line)
                if name == INDENT:
                    after = self._block(parts[at + 1 : end], inner)
                elif end > at:
                    after = self._bracketed(parts[at : end + 1], inner)
                else:
                    after = self._ways(part, inner)
                found.append({ends: sequence([before, body]) for ends, body in after.items()})
            ways = _any_of(found)
            at = end + 1
        return ways

    def _partner(self, parts: tuple[ast.Expression, ...], at: int) -> int:
        """Return the position of the bracket or `_DEDENT` that closes the one at a position."""
        names = [part.name if isinstance(part, ast.Reference) else "" for part in parts]
        opening, closing = ({INDENT}, {DEDENT}) if names[at] == INDENT else (_OPENING, _CLOSING)
        depth = 0
        for end in range(at, len(parts)):
            depth += (names[end] in opening) - (names[end] in closing)
            if depth == 0:
                return end
        return self._fail(f"{names[at]} has no partner in its alternative")

    def _block(self, parts: tuple[ast.Expression, ...], mode: _Mode) -> Ways:
        if mode.inside or not mode.begins_line:
            return {}  # lark's class makes no `_INDENT` there
        ways = self._sequence(parts, mode)
        return {True: ast.Indented(ways[True])} if True in ways else {}

    def _bracketed(self, parts: tuple[ast.Expression, ...], mode: _Mode) -> Ways:
        opening, closing = parts[0], parts[-1]
        assert isinstance(opening, ast.Reference), opening
        assert isinstance(closing, ast.Reference), closing
        (opened,) = self._terminal(opening.name, mode, inside_after=True).values()
        inside = self._sequence(parts[1:-1], _Mode(inside=True, begins_line=False))
        if False not in inside:
            return {}
        ending = _Mode(inside=True, begins_line=False)
        (closed,) = self._terminal(closing.name, ending, inside_after=mode.inside).values()
        return {False: sequence([opened, inside[False], closed])}

    def _repeated(self, body: ast.Expression, mode: _Mode) -> Ways:
        """Return any number of an expression. Where it changes how a line ends, this takes rules of its own."""
        ways = self._ways(body, mode)
        if set(ways) <= {mode.begins_line}:
            return {mode.begins_line: ast.ZeroOrMore(ways[mode.begins_line])} if ways else {mode.begins_line: _EMPTY}
        steps = {begins: self._ways(body, mode._replace(begins_line=begins)) for begins in (False, True)}
        ends = {begins: _reached(begins, steps) for begins in (False, True)}
        self._copies += 1
        name = f"{self._rule}{{{self._copies}}}"

        def again(begins: bool, end: bool) -> ast.Expression:
            return ast.Reference(_name(name, mode._replace(begins_line=begins), end))

        for begins, after in steps.items():
            for end in ends[begins]:
                options = [sequence([part, again(via, end)]) for via, part in after.items() if end in ends[via]]
                options += [_EMPTY] if begins == end else []
                self._rules[_name(name, mode._replace(begins_line=begins), end)] = _choice(options)
        return {end: again(mode.begins_line, end) for end in ends[mode.begins_line]}


def _skipped(grammar: LexedGrammar, newlines: list[rx.Regex]) -> ast.Expression:
    """Return any number of ignored texts, each of them a longest one, and of ends of lines."""
    free: list[rx.Regex] = []
    bound: list[ast.Expression] = []
    for terminal in ignored_terminals(grammar):
        if terminal.is_plain:
            free.append(terminal.regex)
        else:
            bound.append(terminal.expression())
            # The same text at the end of a `_NEWLINE` might be too short.
            newlines = [rx.difference(regex, rx.sequence(rx.ANY_BYTES, terminal.regex)) for regex in newlines]
    free += newlines
    if not bound:
        return ast.RegexTerminal(rx.star(rx.choice(*free)))
    runs = [ast.RegexTerminal(rx.plus(rx.choice(*free)))] if free else []
    return ast.ZeroOrMore(_choice([*runs, *bound]))


def _reached(begins: bool, steps: dict[bool, Ways]) -> set[bool]:
    """Return how a repetition may end that begins so."""
    found = {begins}
    for _ in steps:
        found |= {end for via in found for end in steps[via]}
    return found


def _name(rule: str, mode: _Mode, ends_line: bool) -> str:
    """Return the name of a copy; the copy for a part of a line, outside of brackets, keeps the name of its rule."""
    marks = [mode.inside and "inside", mode.begins_line and "begins", ends_line and "ends"]
    return "-".join([rule, *(mark for mark in marks if mark)])


def _choice(options: list[ast.Expression]) -> ast.Expression:
    return options[0] if len(options) == 1 else ast.Choice(tuple(options))


def _any_of(ways: list[Ways]) -> Ways:
    found: dict[bool, list[ast.Expression]] = {}
    for each in ways:
        for end, body in each.items():
            found.setdefault(end, []).append(body)
    return {end: _choice(bodies) for end, bodies in found.items()}
