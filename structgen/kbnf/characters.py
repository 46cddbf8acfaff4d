r"""Grammars over characters: the same grammar, with terminals that match whole characters only.

A terminal of KBNF matches bytes, so `any!` and `#ex'…'` may end inside a character. The value of a string has no such
parts. `of_characters` gives each terminal the texts of whole characters that it has:

    any!                any bytes                       any characters
    #ex'"'              bytes other than 0x22           one or more characters other than a quote
    #substrs'né'        n, n\xc3, \xc3\xa9, \xa9, …     n, né, é, and the empty text

Literals, regexes and choices match whole characters already. What has no such form is refused by name.
"""

from __future__ import annotations

from dataclasses import replace

from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.edges import is_nullable
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.regex_facts import post_order
from structgen.kbnf.regular import regular, text_except
from structgen.kbnf.rewriting import group_rules, rewrite
from structgen.kbnf.validation import excluded_strings

__all__ = ["character_regex", "of_characters"]

_ASCII = (1 << 128) - 1
_NOT_ASCII = (1 << 256) - 1 - _ASCII
_ANY_TEXT = rx.star(rx.ANY_CHAR)
_INSIDE = "parts of a terminal may meet inside a character"
_HINT = "write it with characters"


def of_characters(grammar: ast.Grammar) -> ast.Grammar:
    r"""Return a grammar whose terminals match whole characters.

    Args:
        grammar: the tree.

    Raises:
        GrammarError: a terminal has no such form. It names a byte that is no character, a number of bytes, or a token;
            or the tree has a hole.

    Example:
        >>> of_characters(ast.Grammar((ast.Rule("start", ast.AnyText()),))).rules[0].body.regex == _ANY_TEXT
        True
    """
    grouped = group_rules(grammar)
    known: dict[int, ast.Expression] = {}

    def change(node: ast.Expression) -> ast.Expression:
        if isinstance(node, ast.Literal):
            character_regex(rx.Literal(node.data))
            return node
        if isinstance(node, ast.RegexTerminal):
            regex = character_regex(node.regex)
            return node if regex is node.regex else ast.RegexTerminal(regex)
        if isinstance(node, ast.SubstringsTerminal):
            return ast.RegexTerminal(_substrings(node.text))
        if isinstance(node, ast.AnyText):
            return ast.RegexTerminal(_ANY_TEXT)
        if isinstance(node, ast.Except):
            if node.limit is not None:
                raise GrammarError("the limit of 'except!' counts bytes, not characters", hint="write a regex")
            return ast.RegexTerminal(character_regex(text_except(excluded_strings(node, grouped), None)))
        if isinstance(node, ast.Difference):
            return ast.RegexTerminal(character_regex(regular(node, grouped)))
        if isinstance(node, ast.Token):
            raise GrammarError("a token terminal has no characters", hint="write the text of the token as a string")
        if isinstance(node, ast.Hole):
            raise GrammarError(f"a schema stands in the grammar ({node.name})", hint="write its texts as rules")
        return node

    rules: list[ast.Rule] = []
    for rule in grammar.rules:
        try:
            rules.append(replace(rule, body=rewrite(rule.body, change, known)))
        except GrammarError as error:
            error.add_location(f"the rule {rule.name!r}")
            raise
    return ast.Grammar(tuple(rules), grammar.start)


def character_regex(regex: rx.Regex) -> rx.Regex:
    """Return a regex of those texts of another one that are whole characters; the same object if all are.

    Raises:
        GrammarError: it has a part whose texts are bytes, where nothing says that these make up characters.
    """
    found: dict[int, rx.Regex] = {}
    for node in post_order(regex):
        found[id(node)] = _changed(node, found)
    return _within(found[id(regex)])


def _changed(node: rx.Regex, found: dict[int, rx.Regex]) -> rx.Regex:
    """Return a node of characters, given its children; complements and sets of bytes are left to the node above."""
    if isinstance(node, rx.Substrings):
        return _substrings(b"".join(node.units).decode())
    if isinstance(node, (rx.Literal, rx.LiteralSet, rx.Runs)):
        texts = node.units if isinstance(node, rx.Runs) else node.texts if isinstance(node, rx.LiteralSet) else ()
        for data in (node.data,) if isinstance(node, rx.Literal) else texts:
            _check_is_text(data)
        return node
    if isinstance(node, rx.Repeat):
        body = found[id(node.body)]
        if isinstance(body, rx.ByteSet) and body.mask & ~_ASCII:
            return _characters(node)
        body = _within(body)
        if body is not node.body and node.max != 1:
            raise GrammarError(_INSIDE, hint=_HINT)
        return node if body is node.body else rx.Repeat(body, node.min, node.max)
    if isinstance(node, rx.Intersection):
        parts = [found[id(part)] for part in node.parts]
        if all(isinstance(part, rx.Complement) for part in parts):
            parts.append(_ANY_TEXT)
        kept = [part if isinstance(part, rx.Complement) else _within(part) for part in parts]
        return node if len(kept) == len(node.parts) and _are_same(kept, node.parts) else rx.Intersection(tuple(kept))
    if isinstance(node, (rx.Sequence, rx.Choice)):
        inner = [_within(found[id(part)]) for part in node.parts]
        if _are_same(inner, node.parts):
            return node
        if isinstance(node, rx.Choice):
            return rx.choice(*inner)
        _check_borders(node.parts, inner)
        return rx.sequence(*inner)
    if isinstance(node, rx.Complement):
        body = _within(found[id(node.body)])
        return node if body is node.body else rx.Complement(body)
    if isinstance(node, rx.Early) and _within(found[id(node.body)]) is not node.body:
        raise GrammarError(_INSIDE, hint=_HINT)
    return node


def _check_borders(parts: tuple[rx.Regex, ...], changed: list[rx.Regex]) -> None:
    """Check that of two neighbours in a sequence, one has whole characters only: then both meet between characters."""
    is_open = False  # whether the text before may end inside a character
    for part, new in zip(parts, changed, strict=True):
        if new is not part:
            if is_open:
                raise GrammarError(_INSIDE, hint=_HINT)
            is_open = True
        elif not is_nullable(part):
            is_open = False


def _within(regex: rx.Regex) -> rx.Regex:
    """Return a part as it stands for itself: a complement has characters only, and a set of bytes is one of ASCII."""
    if isinstance(regex, rx.Complement):
        return rx.intersection(_ANY_TEXT, regex)
    if isinstance(regex, rx.ByteSet) and regex.mask & ~_ASCII:
        raise GrammarError("a terminal matches bytes that are no characters", hint=_HINT)
    return regex


def _characters(node: rx.Repeat) -> rx.Regex:
    """Return the repetition of a set of characters, for one of a set of bytes that holds all bytes above ASCII."""
    assert isinstance(node.body, rx.ByteSet)
    mask = node.body.mask
    if mask & _NOT_ASCII != _NOT_ASCII or node.min > 1 or node.max is not None:
        raise GrammarError("a terminal counts bytes, not characters", hint=_HINT)
    low = rx.ByteSet(mask & _ASCII)
    high = rx.Chars(((0x80, 0xD7FF), (0xE000, 0x10FFFF)))
    return rx.Repeat(rx.ANY_CHAR if mask & _ASCII == _ASCII else rx.choice(low, high), node.min, None)


def _substrings(text: str) -> rx.Regex:
    return rx.Substrings(tuple([character.encode() for character in text]))


def _check_is_text(data: bytes) -> None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise GrammarError(f"the bytes {data!r} are no text", hint="write whole characters") from error


def _are_same(parts: list[rx.Regex], others: tuple[rx.Regex, ...]) -> bool:
    return all(one is other for one, other in zip(parts, others, strict=True))
