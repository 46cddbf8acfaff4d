r"""Recursive rules that are repetitions of characters, written as repetitions.

Many grammars read a string by a rule that calls itself, at its end or at its beginning:

    string ::= '"' chars '"'                            ->     chars ::= { #'[^"\\]' | '\\' escape }
    chars ::= '' | #'[^"\\]' chars | '\\' escape chars

The two have the same texts (Arden's lemma): the least solution of `A = x A | y` is `x* y`, and of `A = A x | y` it is
`y x*`. As a repetition, the characters become one terminal (`repeated_terminals`), which costs one item and one walk;
as rules, each character is a terminal of its own. So only those rules change whose repeated parts are such a text.

A rule may also lead back to itself by way of others, as `chars ::= … | "\" after` with `after ::= escape chars`. Then
the bodies of these are written in the place of their names first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from structgen.engine.deadlines import spend
from structgen.kbnf import ast
from structgen.kbnf.normal_form.repeated_terminals import has_some_text, repeated_text
from structgen.kbnf.normal_form.simplification import components
from structgen.kbnf.rewriting import sequence

__all__ = ["with_repetitions"]

_MAX_ALTERNATIVES = 64  # of a rule, those of the rules by which it leads back to itself included
_MAX_PASSED = 8  # rules on one of these ways
_EMPTY = ast.Literal(b"")

Grouped = Mapping[str, Sequence[ast.Expression]]
_Parts = tuple[ast.Expression, ...]


def with_repetitions(grouped: Grouped) -> Grouped:
    """Return all rules' bodies by name, with repetitions in place of the recursion at an end of a rule.

    Args:
        grouped: all rules' bodies by name; it stays as it is.
    """
    changed: dict[str, list[ast.Expression]] = {}
    for is_right in (True, False):
        for name, cycle in _cycles(grouped, is_right).items():
            if name not in changed:
                bodies = _Rule(name, cycle, grouped, is_right).repetition()
                if bodies is not None:
                    changed[name] = bodies
    return {**grouped, **changed} if changed else grouped


def _cycles(grouped: Grouped, is_right: bool) -> dict[str, frozenset[str]]:
    """Return each name that leads back to itself at one end of its bodies, and the names on these ways."""
    numbers = {name: number for number, name in enumerate(grouped)}
    edges: dict[int, list[int]] = {}
    for name, bodies in grouped.items():
        spend(len(bodies))
        ends = [numbers[end] for body in bodies for end in _names_at_end(body, is_right) if end in numbers]
        if ends:
            edges[numbers[name]] = ends
    component = components(len(numbers), edges)
    members: dict[int, list[str]] = {}
    for name, number in numbers.items():
        if component[number] != number or number in edges:
            members.setdefault(component[number], []).append(name)
    found: dict[str, frozenset[str]] = {}
    for names in members.values():
        if len(names) > 1 or numbers[names[0]] in edges.get(numbers[names[0]], ()):
            found |= dict.fromkeys(names, frozenset(names))
    return found


def _names_at_end(body: ast.Expression, is_right: bool) -> list[str]:
    """Return the names with which a body may end, or begin."""
    stack, found = [body], []
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Reference):
            found.append(node.name)
        elif isinstance(node, ast.Choice):
            stack.extend(node.parts)
        elif isinstance(node, ast.Sequence) and node.parts:
            stack.append(node.parts[-1 if is_right else 0])
        elif isinstance(node, ast.Option):
            stack.append(node.body)
    return found


class _Rule:
    """A rule that leads back to itself.

    Args:
        name: its name.
        cycle: the names by which it does.
        grouped: all rules' bodies by name.
        is_right: whether the recursion is at the end of the bodies; else it is at their beginning.
    """

    def __init__(self, name: str, cycle: frozenset[str], grouped: Grouped, is_right: bool) -> None:
        self._name = name
        self._cycle = cycle
        self._grouped = grouped
        self._is_right = is_right

    def repetition(self) -> list[ast.Expression] | None:
        """Return the bodies of the rule with a repetition in place of the recursion; None if that does not apply."""
        found = self._alternatives()
        if found is None:
            return None
        repeated, others = found
        if not repeated or not any(has_some_text(body, self._grouped) for body in others):
            return None
        body = repeated[0] if len(repeated) == 1 else ast.Choice(tuple(repeated))
        star = ast.ZeroOrMore(body)
        if repeated_text(star, self._grouped) is None:
            return None
        if others == repeated:
            return [ast.OneOrMore(body)]
        if _EMPTY in others:
            others = [other for other in others if other not in repeated]
        return [self._joined((star,), _parts_of(other)) for other in others]

    def _alternatives(self) -> tuple[list[ast.Expression], list[ast.Expression]] | None:
        """Return two lists: what stands beside the recursion in recursive bodies, and the other bodies.

        For `A ::= A x | A y | z` these are `x, y` and `z`. A body that is only the rule itself is left out. The result
        is None if a body leads through the cycle in another way.
        """
        repeated: dict[ast.Expression, None] = {}
        others: dict[ast.Expression, None] = {}
        pending: list[tuple[ast.Expression, _Parts, frozenset[str]]] = []
        pending.extend((body, (), frozenset()) for body in reversed(self._grouped[self._name]))
        while pending:
            spend(1)
            body, beside, passed = pending.pop()
            if len(repeated) + len(others) + len(pending) > _MAX_ALTERNATIVES:
                return None
            parts = _parts_of(body)
            end = parts[-1 if self._is_right else 0] if parts else _EMPTY
            if not self._leads_back(end):
                others[self._joined(beside, parts)] = None
                continue
            beside = _parts_of(self._joined(beside, parts[:-1] if self._is_right else parts[1:]))
            if isinstance(end, ast.Reference) and end.name == self._name:
                if beside:
                    repeated[sequence(beside)] = None
                continue
            if isinstance(end, ast.Reference):
                if end.name in passed or len(passed) >= _MAX_PASSED:
                    return None
                inner, passed = self._grouped[end.name], passed | {end.name}
            else:
                inner = end.parts if isinstance(end, ast.Choice) else (end.body, _EMPTY)  # type: ignore[union-attr]
            pending.extend((one, beside, passed) for one in reversed(inner))
        return list(repeated), list(others)

    def _leads_back(self, end: ast.Expression) -> bool:
        """Return whether what a body ends with is a name of the cycle, or a choice or option that ends with one."""
        return not self._cycle.isdisjoint(_names_at_end(end, self._is_right)) and isinstance(
            end, (ast.Reference, ast.Choice, ast.Option)
        )

    def _joined(self, outer: _Parts, inner: _Parts) -> ast.Expression:
        """Return the sequence of parts. The inner ones are nearer to that end of the body where the recursion is."""
        return sequence((*outer, *inner) if self._is_right else (*inner, *outer))


def _parts_of(body: ast.Expression) -> _Parts:
    """Return the parts of a sequence, those of sequences at its ends included; none for the empty text."""
    if isinstance(body, ast.Literal) and not body.data:
        return ()
    if not isinstance(body, ast.Sequence):
        return (body,)
    parts: list[ast.Expression] = []
    stack = list(reversed(body.parts))
    while stack:
        part = stack.pop()
        if isinstance(part, ast.Sequence):
            stack.extend(reversed(part.parts))
        elif not isinstance(part, ast.Literal) or part.data:
            parts.append(part)
    return tuple(parts)
