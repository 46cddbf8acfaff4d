"""Checks of a grammar that its syntax does not cover: names are defined, `except!` and repetitions make sense."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.rewriting import group_rules, nodes_of

__all__ = ["excluded_strings", "find_start", "validate"]

# Names that a misspelt one is compared with. The comparison is quadratic in the worst case: larger grammars get no
# suggestion.
_MAX_NAMES_COMPARED = 2000
_MAX_NAMES_SHOWN = 5
# A concatenation of alternations has exponentially many strings. Plain alternations may be longer.
_MAX_EXCLUDED_STRINGS = 10_000


def validate(grammar: ast.Grammar) -> None:
    """Check that all names are defined and that all operators make sense.

    Raises:
        GrammarError: a nonterminal is not defined; an `except!` excludes something other than plain strings, or the
            empty string; the bounds of a repetition are negative or in the wrong order.
    """
    grouped = group_rules(grammar)
    if grammar.start not in grouped:
        hint = _suggestion(grammar.start, grouped) or f"a grammar begins at the rule {grammar.start!r}"
        raise GrammarError(f"the start nonterminal {grammar.start!r} is not defined", hint=hint)
    for rule in grammar.rules:
        for node in nodes_of(rule.body):
            if isinstance(node, ast.Reference):
                if node.name not in grouped:
                    _fail_undefined(node.name, rule.name, grouped)
            elif isinstance(node, ast.Except):
                _check_except(node, rule.name, grouped)
            elif isinstance(node, ast.Bounded):
                _check_bounds(node, rule.name)


def find_start(grammar: ast.Grammar) -> str:
    """Return the name of the rule that a text begins at, for a grammar that does not say it.

    It is `start`. Without such a rule, it is the only rule that no other rule uses.

    Args:
        grammar: the tree; its own start does not count.

    Raises:
        GrammarError: there is no rule `start`, and none or several of the others could take its place.

    Example:
        >>> find_start(ast.Grammar((ast.Rule("root", ast.Reference("digit")), ast.Rule("digit", ast.Literal(b"0")))))
        'root'
    """
    grouped = group_rules(grammar)
    if "start" in grouped or not grouped:
        return "start"
    used: set[str] = set()
    for rule in grammar.rules:
        for node in nodes_of(rule.body):
            name = node.excluded if isinstance(node, ast.Except) else node
            if isinstance(name, ast.Reference) and name.name != rule.name:
                used.add(name.name)
    candidates = [name for name in grouped if name not in used]
    if len(candidates) == 1:
        return candidates[0]
    hint = "name the rule that a text begins at, with start=…"
    if not candidates:
        raise GrammarError("the start nonterminal 'start' is not defined, and every rule is used by another", hint=hint)
    shown = ", ".join(map(repr, candidates[:_MAX_NAMES_SHOWN])) + (", …" if len(candidates) > _MAX_NAMES_SHOWN else "")
    raise GrammarError(
        f"the start nonterminal 'start' is not defined, and several rules are used by no other: {shown}", hint=hint
    )


def excluded_strings(node: ast.Except, grouped: Mapping[str, Sequence[ast.Expression]]) -> list[bytes]:
    """Return the strings that an `except!` excludes.

    A nonterminal may exclude strings, alternations of them and concatenations, in any nesting: `('a' | 'b') 'c'`
    excludes `ac` and `bc`.

    Args:
        node: the `except!`.
        grouped: all rules' bodies by name.

    Raises:
        GrammarError: it excludes something other than plain strings, the empty string, or too many strings.
    """
    if isinstance(node.excluded, ast.Literal):
        bodies: Sequence[ast.Expression] = [node.excluded]
    elif node.excluded.name in grouped:
        bodies = grouped[node.excluded.name]
    else:
        raise GrammarError(
            f"the nonterminal {node.excluded.name!r} in an except! is not defined",
            hint=_suggestion(node.excluded.name, grouped),
        )
    strings: dict[bytes, None] = {}
    for body in bodies:
        strings.update(_strings_of(body))
    if b"" in strings:
        raise GrammarError("an except! excludes the empty string, which is part of every text")
    return list(strings)


def _strings_of(body: ast.Expression) -> dict[bytes, None]:
    """Return the strings of a body that is made of literals, alternations and concatenations; in order."""
    known: dict[int, dict[bytes, None]] = {}
    stack = [(body, False)]
    while stack:
        node, parts_done = stack.pop()
        if isinstance(node, ast.Literal):
            known[id(node)] = {node.data: None}
        elif not isinstance(node, (ast.Choice, ast.Sequence)):
            raise GrammarError(
                "an except! excludes something other than plain strings",
                hint="give it a string, or a nonterminal that is made of strings, groups and '|' only",
            )
        elif not parts_done:
            stack.append((node, True))
            stack.extend((part, False) for part in reversed(node.parts))
        else:
            known[id(node)] = _joined(node, [known[id(part)] for part in node.parts])
    return known[id(body)]


def _joined(node: ast.Choice | ast.Sequence, parts: list[dict[bytes, None]]) -> dict[bytes, None]:
    """Return the strings of a node, given those of its parts."""
    if isinstance(node, ast.Choice):
        return {string: None for strings in parts for string in strings}
    found: dict[bytes, None] = {b"": None}
    for strings in parts:
        if len(found) * len(strings) > _MAX_EXCLUDED_STRINGS:
            raise GrammarError(
                f"an except! excludes more than {_MAX_EXCLUDED_STRINGS} strings",
                hint="exclude a shorter string that they share, or use #ex'…'",
            )
        found = {begin + end: None for begin in found for end in strings}
    return found


def _fail_undefined(name: str, rule: str, grouped: Mapping[str, object]) -> None:
    raise GrammarError(
        f"the nonterminal {name!r}, used in the rule {rule!r}, is not defined", hint=_suggestion(name, grouped)
    )


def _suggestion(name: str, grouped: Mapping[str, object]) -> str:
    if len(grouped) > _MAX_NAMES_COMPARED:
        return ""
    close = get_close_matches(name, list(grouped), n=1)
    return f"did you mean {close[0]!r}?" if close else ""


def _check_except(node: ast.Except, rule: str, grouped: Mapping[str, Sequence[ast.Expression]]) -> None:
    try:
        excluded_strings(node, grouped)
    except GrammarError as error:
        raise GrammarError(f"in the rule {rule!r}: {str(error).splitlines()[0]}", hint=error.hint) from None
    if node.limit is not None and node.limit < 0:
        raise GrammarError(f"in the rule {rule!r}: an except! of at most {node.limit} bytes")


def _check_bounds(node: ast.Bounded, rule: str) -> None:
    if node.min < 0 or (node.max is not None and node.max < node.min):
        most = "any number of" if node.max is None else str(node.max)
        raise GrammarError(f"in the rule {rule!r}: a repetition of at least {node.min} and at most {most} times")
