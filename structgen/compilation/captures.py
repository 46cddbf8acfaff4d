"""The captures of a text: the parts of it that were read by rules with the attribute `capture`.

    start: "<" name ">" body            text          captures
    name[capture]: /[a-z]+/             <b>hello      {"name": "b", "body": "hello"}
    body[capture]: /.*/

It reads a whole text from the start rule down. Each rule has a piece of the text. A sequence is split into a piece for
each of its parts, by the compiled grammars of the parts (`engine/matching/spans.py`): where there are several ways, the
first part takes the longest piece that leaves the rest possible, as in a template. Of alternatives, the first one that
matches the piece counts. Only parts that hold captures are split further.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.spans import Span, Spans
from structgen.engine.matching.splitting import Part, ends_of, starts_of
from structgen.engine.regex.tree import Regex, literal_set
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.holes import holes_of
from structgen.kbnf.rewriting import nodes_of, rewrite
from structgen.kbnf.tokens import token_ids
from structgen.output_types.bound_schemas import BoundSchema
from structgen.output_types.grammar import Grammar

__all__ = ["CaptureReader", "Captures", "CompileGrammar", "has_captures"]

Captures: TypeAlias = dict[str, str | list[str]]
"""Captured texts by name; a list where the name asks for one."""

CompileGrammar: TypeAlias = Callable[[Grammar], CompiledGrammar]
"""Compiles a grammar over the bytes of a text."""

_LIST = "__LIST_APPEND:"  # before the name of a capture of which all texts are kept
_PART = "(part)"


def has_captures(grammar: Grammar) -> bool:
    """Return whether a rule of a grammar, or of one in it, has captures."""
    return any(rule.capturing is not None for rule in grammar.tree.rules) or any(map(_holds_captures, grammar.bound))


def _holds_captures(bound: BoundSchema) -> bool:
    return isinstance(bound.schema, Grammar) and has_captures(bound.schema)


class CaptureReader:
    """The reader of the captures of a grammar's texts.

    Args:
        grammar: the grammar.
        compile_part: compiles a part of it.
    """

    def __init__(self, grammar: Grammar, compile_part: CompileGrammar) -> None:
        self._grammar = grammar
        self._compile_part = compile_part
        self._scopes: dict[str, _Scope] = {}  # by the fingerprint of the vocabulary

    def read(self, text: str, vocabulary: Vocabulary) -> Captures:
        """Return the captures of a whole text; none if the text does not fit.

        Args:
            text: the text. A token terminal stands in it as the text or the name of its token.
            vocabulary: the tokens of the grammar's token terminals.
        """
        scope = self._scopes.get(vocabulary.fingerprint)
        if scope is None:
            grammar = _with_texts_of_tokens(self._grammar, vocabulary)
            scope = _Scope(grammar, vocabulary.fingerprint, self._compile_part)
            self._scopes[vocabulary.fingerprint] = scope
        found: Captures = {}
        for name, piece in _Reading(text.encode()).captured(scope):
            captured = piece.decode(errors="replace")
            if name.startswith(_LIST):
                listed = found.setdefault(name.removeprefix(_LIST), [])
                if isinstance(listed, list):
                    listed.append(captured)
            else:
                found[name] = captured
        return found


def _with_texts_of_tokens(grammar: Grammar, vocabulary: Vocabulary) -> Grammar:
    """Return a grammar with the texts of tokens in place of its token terminals, and of those of grammars in it."""

    def change(node: ast.Expression) -> ast.Expression:
        if isinstance(node, ast.Token):
            ids = [token for first, last in token_ids(node, vocabulary) for token in range(first, last + 1)]
            return ast.RegexTerminal(
                literal_set(vocabulary.token_bytes(token) or vocabulary.shown(token) for token in ids)
            )
        if isinstance(node, ast.Hole) and isinstance(node.content, BoundSchema):
            bound = node.content
            if isinstance(bound.schema, Grammar):
                return replace(node, content=replace(bound, schema=_with_texts_of_tokens(bound.schema, vocabulary)))
        return node

    known: dict[int, ast.Expression] = {}
    rules = tuple([replace(rule, body=rewrite(rule.body, change, known)) for rule in grammar.tree.rules])
    tree = replace(grammar.tree, rules=rules)
    bound = tuple([hole.content for hole in holes_of(tree) if isinstance(hole.content, BoundSchema)])
    return replace(grammar, tree=tree, bound=bound, eager=False)


class _Scope:
    """The rules of one grammar, and the compiled grammars of their parts.

    Args:
        grammar: the grammar; without token terminals.
        origin: a text that identifies the vocabulary and the location of the grammar in the outer grammar.
        compile_part: compiles a grammar.

    Attributes:
        grammar: see above.
        rules: the rules, by name.
    """

    def __init__(self, grammar: Grammar, origin: str, compile_part: CompileGrammar) -> None:
        self.grammar = grammar
        self.rules: dict[str, list[ast.Rule]] = {}
        # A key of the grammar. `source` alone is no key: that of an outer grammar has only the names of inner ones.
        self._identity = json.dumps([grammar.kind, grammar.source, grammar.start, origin])
        self._compile_part = compile_part
        for rule in grammar.tree.rules:
            self.rules.setdefault(rule.name, []).append(rule)
        self._parts: dict[int, Part] = {}
        self._terminals: dict[int, ast.RegexTerminal] = {}
        self._inner: dict[int, _Scope] = {}
        self._holding = self._find_holding()
        self._holds: dict[int, bool] = {}
        # Names of the parts, by id. They must not depend on the texts that are read: compiled parts are cached by them.
        self._names: dict[int, int] = {}
        for rule in grammar.tree.rules:
            for node in (*nodes_of(rule.body), *self._terminals_of(rule)):
                self._names.setdefault(id(node), len(self._names))

    def _find_holding(self) -> set[str]:
        """Return the names of rules from which a capture can be reached."""
        users: dict[str, set[str]] = {}
        found: set[str] = set()
        for rule in self.grammar.tree.rules:
            if rule.capturing is not None:
                found.add(rule.name)
            for node in nodes_of(rule.body):
                if isinstance(node, ast.Reference):
                    users.setdefault(node.name, set()).add(rule.name)
                elif _is_holding_hole(node):
                    found.add(rule.name)
        work = list(found)
        while work:
            for user in users.get(work.pop(), set()) - found:
                found.add(user)
                work.append(user)
        return found

    def holds(self, body: ast.Expression) -> bool:
        """Return whether an expression holds captures."""
        known = self._holds.get(id(body))
        if known is None:
            known = self._holds[id(body)] = any(
                node.name in self._holding if isinstance(node, ast.Reference) else _is_holding_hole(node)
                for node in nodes_of(body)
            )
        return known

    def _terminals_of(self, rule: ast.Rule) -> list[ast.RegexTerminal]:
        """Return the regexes of a rule's captures as terminals."""
        found = rule.capturing
        regexes = () if found is None else (found.text, found.suffix, found.ignored)
        return [self._terminals.setdefault(id(one), ast.RegexTerminal(one)) for one in regexes if one is not None]

    def inner(self, hole: ast.Hole) -> _Scope:
        """Return the scope of a grammar in this one."""
        found = self._inner.get(id(hole))
        if found is None:
            bound: BoundSchema = hole.content  # type: ignore[assignment]
            origin = f"hole {self._names[id(hole)]} of {self._identity}"
            found = self._inner[id(hole)] = _Scope(bound.schema, origin, self._compile_part)
        return found

    def part(self, body: ast.Expression) -> Part | None:
        """Return the compiled grammar of an expression; a literal is its bytes. None for one that has no text."""
        if isinstance(body, ast.Literal):
            return body.data
        part = self._parts.get(id(body))
        if part is None:
            rules = self._reachable(body)
            tree = ast.Grammar((ast.Rule(_PART, body), *rules), _PART)
            bound = tuple([hole.content for hole in holes_of(tree) if isinstance(hole.content, BoundSchema)])
            source = f"part {self._names[id(body)]} of {self._identity}"
            try:
                part = self._compile_part(Grammar("llguidance", source, False, tree, start=_PART, bound=bound))
            except GrammarError:
                return None
            self._parts[id(body)] = part
        return part

    def parts(self, bodies: Sequence[ast.Expression]) -> list[Part] | None:
        """Return the compiled grammars of some expressions; None if one has no text."""
        found = [self.part(body) for body in bodies]
        return None if any(part is None for part in found) else found  # type: ignore[return-value]

    def parts_of_regexes(self, regexes: Sequence[Regex]) -> list[Part] | None:
        """Return the compiled grammars of some regexes of a rule's captures; None if one has no text."""
        return self.parts([self._terminals[id(one)] for one in regexes])

    def _reachable(self, body: ast.Expression) -> list[ast.Rule]:
        names: dict[str, None] = {}
        work = [body]
        while work:
            for node in nodes_of(work.pop()):
                if isinstance(node, ast.Reference) and node.name not in names:
                    names[node.name] = None
                    work += [rule.body for rule in self.rules.get(node.name, ())]
        return [rule for name in names for rule in self.rules.get(name, ())]


def _is_holding_hole(node: ast.Expression) -> bool:
    return isinstance(node, ast.Hole) and isinstance(node.content, BoundSchema) and _holds_captures(node.content)


_Task: TypeAlias = "tuple[_Scope, ast.Expression | ast.Rule, Span]"


class _Reading:
    """The captures of one text.

    Args:
        data: the text.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._spans = Spans(data)

    def captured(self, scope: _Scope) -> Iterator[tuple[str, bytes]]:
        """Yield the names and texts of the captures, in the order of their ends; the inner one first."""
        tasks: list[_Task] = [(scope, ast.Reference(scope.grammar.tree.start), (0, len(self._data)))]
        while tasks:
            scope, what, span = tasks.pop()
            if isinstance(what, ast.Rule):
                if what.capturing is not None:
                    yield from self._captures_of(scope, what, what.capturing, span)
            elif scope.holds(what):
                tasks += reversed(self._inside(scope, what, span))

    def _inside(self, scope: _Scope, body: ast.Expression, span: Span) -> list[_Task]:
        """Return the parts of an expression with their pieces of its text, in their order."""
        if isinstance(body, ast.Reference):
            for rule in scope.rules[body.name]:
                if self._fits(scope, rule.body, span):
                    return [(scope, rule.body, span), (scope, rule, span)]
        elif isinstance(body, ast.Hole):
            inner = scope.inner(body)
            return [(inner, ast.Reference(inner.grammar.tree.start), span)]
        elif isinstance(body, ast.Sequence):
            parts = scope.parts(body.parts)
            cut = None if parts is None else self._spans.split(parts, *span)
            return [(scope, part, each) for part, each in zip(body.parts, cut or ())]
        elif isinstance(body, ast.Choice):
            for part in body.parts:
                if self._fits(scope, part, span):
                    return [(scope, part, span)]
        elif isinstance(body, (ast.Option, ast.ZeroOrMore, ast.OneOrMore, ast.Bounded)) and span[0] < span[1]:
            return [(scope, body.body, each) for each in self._repeated(scope, body, span)]
        return []

    def _fits(self, scope: _Scope, body: ast.Expression, span: Span) -> bool:
        part = scope.part(body)
        return part is not None and self._spans.fits(part, *span)

    def _repeated(
        self, scope: _Scope, body: ast.Option | ast.ZeroOrMore | ast.OneOrMore | ast.Bounded, span: Span
    ) -> list[Span]:
        """Return the pieces of a repetition's items; none of them is empty."""
        if isinstance(body, ast.Option):
            return [span]
        parts = scope.parts((body.body, body))
        if parts is None:
            return []
        least, most = (body.min, body.max) if isinstance(body, ast.Bounded) else (0, None)
        if least <= 1 and most is None:
            return self._spans.split_repeated(parts[0], parts[1], *span)
        start, end = span
        cuts = [start, *(start + cut for cut in _counted(parts[0], self._data[start:end], least, most))]
        return list(pairwise(cuts))

    def _captures_of(
        self, scope: _Scope, rule: ast.Rule, capturing: ast.Capturing, span: Span
    ) -> Iterator[tuple[str, bytes]]:
        """Yield the captures of a rule's text: of its suffix, and of its own."""
        start, end = span
        if capturing.ignored is not None:
            end = self._end_of_text(scope, rule, capturing.ignored, span)
        if capturing.text is not None and capturing.suffix is not None:
            parts = scope.parts_of_regexes((capturing.text, capturing.suffix))
            cut = None if parts is None else self._spans.split(parts, start, end)
            if cut is not None:
                if capturing.suffix_name is not None:
                    yield capturing.suffix_name, self._data[slice(*cut[1])]
                end = cut[0][1]
        if capturing.name is not None:
            yield capturing.name, self._data[start:end]

    def _end_of_text(self, scope: _Scope, rule: ast.Rule, ignored: Regex, span: Span) -> int:
        """Return where a rule's text ends, and the ignored texts after it begin."""
        parts, skipped = scope.parts((rule.body,)), scope.parts_of_regexes((ignored,))
        if parts is None or skipped is None:
            return span[1]
        ends = self._spans.ends(parts[0], *span)
        return next((end for end in ends if self._spans.fits(skipped[0], end, span[1])), span[1])


def _counted(item: Part, data: bytes, least: int, most: int | None) -> list[int]:
    """Return where the items of a repetition with bounds end; the first ones are the longest."""
    if 0 in ends_of(item, b"", {0}):
        least = 0  # the others are empty
    most = len(data) if most is None else min(most, len(data))
    reached = [{0}]
    while len(reached) <= most:
        following = ends_of(item, data, reached[-1])
        if not following or following == reached[-1]:
            break
        reached.append(following)
    goals: list[set[int]] = [set() for _ in reached]
    for count in range(len(reached) - 1, -1, -1):
        goals[count] = {len(data)} & reached[count] if count >= least else set()
        if count + 1 < len(reached):
            goals[count] |= starts_of(item, data, reached[count], goals[count + 1])
    found: list[int] = []
    at = 0
    while at < len(data) and len(found) + 1 < len(goals):
        at = max([end for end in ends_of(item, data, {at}) & goals[len(found) + 1] if end > at], default=len(data))
        found.append(at)
    return found
