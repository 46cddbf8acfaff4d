"""The writer of KBNF: `parse` reads its text back as the same tree, and the published `kbnf` accepts it."""

from __future__ import annotations

import re

from structgen.engine.deadlines import spend
from structgen.errors import GrammarError, LimitExceededError
from structgen.kbnf import ast
from structgen.kbnf.writing.lowering import lower
from structgen.kbnf.writing.tokens import kbnf_token
from structgen.limits import Limits

__all__ = ["print_grammar"]

# Levels of binding; a node needs parentheses where its own level is below the required one.
_CHOICE, _SEQUENCE, _TERM, _ATOM = range(4)

_MAX_LINE = 100  # characters of a body on one line
_KEY = re.compile(rb'[{,]? ?"(?:[^"\\]|\\.)*"(?:: ?)?', re.DOTALL)

_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def print_grammar(grammar: ast.Grammar, *, limits: Limits | None = None, has_tokens: bool = False) -> str:
    r"""Return the grammar as KBNF. Long rules are broken at their alternatives and at the keys of objects.

    Args:
        grammar: the tree. `lowering` first replaces the constructs that KBNF has no syntax for: counted repetitions,
            regexes built by a program, names that are not identifiers, a start that is not called `start`. For all
            other trees `parse(print_grammar(grammar)) == grammar`, except that `Sequence(())` is read back as
            `Literal(b"")`.
        limits: `grammar_symbols` bounds the written rules.
        has_tokens: write token terminals, which only structgen reads. The published package has none, so that they are
            refused by default.

    Raises:
        GrammarError: the grammar has bytes that are not UTF-8: KBNF text cannot name them. Or it has a construct that
            cannot be written, see `without_extensions`.
        LimitExceededError: the grammar is too large.

    Example:
        >>> print(print_grammar(parse('start::="a"|("b"?);')), end="")
        start ::= 'a' | 'b'?;
    """
    limits = limits or Limits()
    lowered = lower(grammar, limits=limits, has_tokens=has_tokens)
    return "".join(f"{_comment(rule)}{rule.name} ::= {_body(rule.body, limits)};\n" for rule in lowered.rules)


def _comment(rule: ast.Rule) -> str:
    """Return the comment above a rule; `*)` inside of it would end it."""
    text = rule.comment.replace("*)", "* )").replace("\n", "\n   ")
    return f"\n(* {text} *)\n" if text else ""


def _body(body: ast.Expression, limits: Limits) -> str:
    """Return the text of a rule's body, on one line if it is short."""
    text = _expression(body, limits)
    if len(text) <= _MAX_LINE:
        return text
    alternatives = body.parts if isinstance(body, ast.Choice) else (body,)
    level = _SEQUENCE if len(alternatives) > 1 else _CHOICE
    return "\n  | ".join(_broken(part, limits, level) for part in alternatives)


def _broken(body: ast.Expression, limits: Limits, level: int) -> str:
    """Return an alternative, with a line for each key of an object if it has several."""
    keys = [at for at, part in enumerate(body.parts) if _is_key(part)] if isinstance(body, ast.Sequence) else []
    if len(keys) < 2:
        return _expression(body, limits, level)
    assert isinstance(body, ast.Sequence)
    lines = []
    for start, end in zip([0, *keys], [*keys, len(body.parts)]):
        if start < end:
            lines.append(" ".join(_expression(part, limits, _TERM) for part in body.parts[start:end]))
    return "\n    ".join(lines)


def _is_key(node: ast.Expression) -> bool:
    """Return whether a literal is the key of an object: in quotes, perhaps with a comma before and a colon after it."""
    return isinstance(node, ast.Literal) and _KEY.fullmatch(node.data) is not None


def _expression(body: ast.Expression, limits: Limits, level: int = _CHOICE) -> str:
    """Return the text of one body. `out` grows from left to right; the stack holds the rest, the next on top."""
    out: list[str] = []
    # Texts; and nodes, each with the required level and whether brackets are open around it.
    stack: list[str | tuple[ast.Expression, int, bool]] = [(body, level, False)]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            out.append(item)
            continue
        if len(out) > 2 * limits.grammar_symbols:
            raise LimitExceededError("grammar_symbols", limits.grammar_symbols)
        node, level, inside = item
        if isinstance(node, (ast.Choice, ast.Sequence)) and node.parts:
            own, separator = (_CHOICE, " | ") if isinstance(node, ast.Choice) else (_SEQUENCE, " ")
            open_bracket = level > own
            pieces: list[str | tuple[ast.Expression, int, bool]] = []
            for part in node.parts:
                pieces += (separator, (part, own + 1, inside or open_bracket))
            pieces[0] = "(" if open_bracket else ""
            stack += [")" if open_bracket else "", *reversed(pieces)]
        elif isinstance(node, (ast.Option, ast.ZeroOrMore, ast.OneOrMore)):
            stack += reversed(_operator(node, level, inside))
        else:
            out.append(_atom(node, inside))
    return "".join(out)


def _operator(
    node: ast.Option | ast.ZeroOrMore | ast.OneOrMore, level: int, inside: bool
) -> list[str | tuple[ast.Expression, int, bool]]:
    """Return the pieces of an operator: a postfix after a symbol, brackets around anything else where they exist."""
    simple = not isinstance(node.body, (ast.Choice, ast.Sequence, ast.Option, ast.ZeroOrMore, ast.OneOrMore))
    mark = "?" if isinstance(node, ast.Option) else "*" if isinstance(node, ast.ZeroOrMore) else "+"
    if not simple and mark != "+":
        opening = "[" if mark == "?" else "{"
        return [opening, (node.body, _CHOICE, True), _BRACKETS[opening]]
    if level == _ATOM:
        return ["(", (node.body, _ATOM, True), mark, ")"]
    return [(node.body, _ATOM, inside), mark]


def _atom(node: ast.Expression, inside: bool) -> str:
    if isinstance(node, ast.Literal):
        return _quoted(_text(node.data), inside)
    if isinstance(node, ast.Reference):
        return node.name
    if isinstance(node, ast.RegexTerminal):
        return f"#{node.kind}{_quoted(node.source or '', inside)}"
    if isinstance(node, ast.SubstringsTerminal):
        return f"#substrs{_quoted(node.text, inside)}"
    if isinstance(node, ast.Except):
        excluded = node.excluded
        name = excluded.name if isinstance(excluded, ast.Reference) else _quoted(_text(excluded.data), True)
        return f"except!({name})" if node.limit is None else f"except!({name},{node.limit})"
    if isinstance(node, ast.Token):
        return kbnf_token(node, lambda text: _quoted(text, inside))
    return "any!" if isinstance(node, ast.AnyText) else "''"


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise GrammarError(
            f"the bytes {data[:40]!r} are not UTF-8, and KBNF text cannot name them",
            hint="KBNF's '\\xff' is the character U+00FF, two bytes",
        ) from None


def _quoted(text: str, inside: bool) -> str:
    """Return a text as a string of KBNF.

    Args:
        text: the text.
        inside: whether brackets are open around it. The published package then counts brackets in strings too, so
            unbalanced ones are written as numbered escapes.
    """
    spend(len(text))
    quote = '"' if "'" in text and '"' not in text else "'"
    unbalanced = _unbalanced(text) if inside else ""
    out = []
    for character in text:
        if character in _NAMED:
            out.append(_NAMED[character])
        elif character == quote:
            out.append("\\" + quote)
        elif character in unbalanced:
            out.append(f"\\x{ord(character):02x}")
        elif character.isprintable():
            out.append(character)
        elif 0xD800 <= ord(character) <= 0xDFFF:
            raise GrammarError("a lone surrogate is no Unicode character, and KBNF text cannot name it")
        else:
            out.append(f"\\u{{{ord(character):x}}}")
    return f"{quote}{''.join(out)}{quote}"


def _unbalanced(text: str) -> str:
    """Return the brackets that are not balanced in a text, as one string."""
    found = ""
    for opening, closing in _BRACKETS.items():
        depth = 0
        for character in text:
            depth += (character == opening) - (character == closing)
            if depth < 0:
                break
        if depth:
            found += opening + closing
    return found
