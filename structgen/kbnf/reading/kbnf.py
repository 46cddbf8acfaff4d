"""The reader of KBNF: a hand-written parser with an explicit stack, so that deep nesting costs memory and never fails.

    rule     ::= name ("::=" | "=") choice ";"
    choice   ::= sequence {"|" sequence}
    sequence ::= term {[","] term}
    term     ::= atom ["?" | "*" | "+"] {"-" atom} | "!" atom
    atom     ::= name | string | "(" choice ")" | "[" choice "]" | "{" choice "}"
               | "#" string | "#e" string | "#ex" string | "#substrs" string
               | "#token" string | "#token[" ("*" | ["^"] ids {"," ids}) "]"
               | "any!" | "except!" "(" (string | name) ["," [number]] ")"
               | "margin!" | "indented!" "(" choice ")"
    ids      ::= number ["-" number] | string

`-`, `!`, `margin!`, `indented!` and `#token` are not in the published package: EBNF's exception (ISO 14977), PEG's
look-ahead, indentation, and token terminals. Comments `(* … *)` may stand between any two tokens, and do not nest. The
methods that build a terminal say what the published package does with it (0.4.2, tried).

An error names line and column, and points at the position:

    line 1, column 18: expected a symbol, '|' or ';' in the rule 'start', found ')'
      start ::= 'a' 'b');
                       ^
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.errors import GrammarError, LimitExceededError
from structgen.kbnf import ast
from structgen.kbnf.reading.json_schemas import json_hole
from structgen.kbnf.reading.kbnf_lexer import Token, fail, source_offset, tokens, unescape
from structgen.kbnf.reading.token_sets import token_set
from structgen.kbnf.regex_facts import without_empty
from structgen.kbnf.regular import text_without
from structgen.limits import Limits

__all__ = ["parse"]

_CLOSING = {"(": ")", "[": "]", "{": "}", "indented!": ")"}
_BRACKET_NAMES = {"(": "group", "[": "option", "{": "repetition", "indented!": "indented!"}
_UNFINISHED = ("", ",", "!", "-")  # kinds of last tokens after which a symbol has to follow
_POSTFIX: dict[str, Callable[[ast.Expression], ast.Expression]] = {
    "?": ast.Option,
    "*": ast.ZeroOrMore,
    "+": ast.OneOrMore,
}
# Anchors; and the other escapes and classes, which may hold the same characters.
_ANCHOR_OR_OTHER = re.compile(r"(?P<anchor>[\^$]|\\[AzbB<>])|\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]", re.DOTALL)
# Escapes that the published package refuses in a regex; and the others.
_ESCAPE_OF_JAVASCRIPT = re.compile(r"\\(?:c([A-Za-z])|(0)|.)", re.DOTALL)


def parse(text: str, *, limits: Limits | None = None) -> ast.Grammar:
    """Return the tree of a grammar.

    Args:
        text: KBNF, of today's dialect or of an older one (`any!`, `except!`).
        limits: bounds on the size of the grammar and of each regex.

    Returns:
        The tree. Names are not resolved: `structgen.kbnf.validation.validate` does that.

    Raises:
        GrammarError: the text is not KBNF; with line and column, and the token that was expected.
        LimitExceededError: the grammar or one of its regexes is too large.

    Example:
        >>> parse("start ::= 'a' | 'b';").rules[0].body
        Choice(parts=(Literal(data=b'a'), Literal(data=b'b')))
    """
    return _Parser(text, limits or Limits()).grammar()


@dataclass(slots=True)
class _Frame:
    """An open bracket, or the rule's body.

    Attributes:
        opening: "(", "[", "{", "indented!", or "" for a rule's body.
        offset: the position at which it begins.
        alternatives: the complete alternatives.
        parts: the parts of the current alternative.
        last: the kind of the last token: "" (none in this alternative), "atom", "postfix", ",", "!" or "-".
    """

    opening: str
    offset: int
    alternatives: list[ast.Expression] = field(default_factory=list)
    parts: list[ast.Expression] = field(default_factory=list)
    last: str = ""


class _Parser:
    """The state of one `parse`: the tokens, and the number of symbols so far."""

    def __init__(self, text: str, limits: Limits) -> None:
        self._text = text
        self._limits = limits
        self._tokens = tokens(text)
        self._token = next(self._tokens)
        self._symbols = 0

    def grammar(self) -> ast.Grammar:
        rules = []
        while self._token.kind != "end":
            name = self._take("name", "the name of a rule")
            if self._token.text not in ("::=", "="):
                self._fail_expected("'::=' after the rule's name")
            self._advance()
            rules.append(ast.Rule(name.text, self._body(name)))
        return ast.Grammar(tuple(rules))

    def _advance(self) -> Token:
        token = self._token
        self._token = next(self._tokens)
        return token

    def _take(self, kind: str, expected: str) -> Token:
        if self._token.kind != kind:
            self._fail_expected(expected)
        return self._advance()

    def _fail_expected(self, expected: str) -> NoReturn:
        found = repr(self._token.text) if self._token.text else "the end of the grammar"
        fail(self._text, self._token.offset, f"expected {expected}, found {found}")

    def _body(self, name: Token) -> ast.Expression:
        """Return the expression between `::=` and the `;` that ends the rule."""
        stack = [_Frame("", name.offset)]
        while True:
            token, frame = self._token, stack[-1]
            if token.kind == "mark":
                mark = token.text
                if mark in _CLOSING:
                    self._advance()
                    stack.append(_Frame(mark, token.offset))
                elif mark == "!" and frame.last not in ("!", "-"):
                    self._advance()
                    frame.last = "!"
                elif mark == "-":
                    self._need_symbol(frame)
                    self._advance()
                    frame.last = "-"
                elif mark in _POSTFIX:
                    self._postfix(frame)
                elif mark == ",":
                    self._need_symbol(frame)
                    self._advance()
                    frame.last = ","
                elif mark == "|":
                    self._end_alternative(frame)
                    self._advance()
                elif mark == (_CLOSING[frame.opening] if frame.opening else ";"):
                    self._end_alternative(frame)
                    self._advance()
                    stack.pop()
                    body = _choice(frame.alternatives)
                    if not stack:
                        return body
                    self._add(stack[-1], _bracketed(frame.opening, body))
                else:
                    self._fail_in(frame, name)
            elif token.kind in ("end", "number"):
                self._fail_in(frame, name)
            elif token.text == "indented!":
                self._advance()
                if self._token.text != "(":
                    self._fail_expected("'(' after 'indented!'")
                self._advance()
                stack.append(_Frame("indented!", token.offset))
            else:
                self._add(frame, self._atom())

    def _add(self, frame: _Frame, expression: ast.Expression) -> None:
        self._symbols += 1
        if self._symbols > self._limits.grammar_symbols:
            raise LimitExceededError("grammar_symbols", self._limits.grammar_symbols)
        if frame.last == "!":
            frame.parts.append(ast.NotFollowedBy(expression))
            frame.last = "postfix"
        elif frame.last == "-":
            frame.parts[-1] = ast.Difference(frame.parts[-1], expression)
            frame.last = "postfix"
        else:
            frame.parts.append(expression)
            frame.last = "atom"

    def _postfix(self, frame: _Frame) -> None:
        mark = self._token.text
        if frame.last == "postfix":
            fail(
                self._text,
                self._token.offset,
                f"a second operator {mark!r}",
                hint="put a group around the first: (x?)*",
            )
        self._need_symbol(frame)
        self._advance()
        frame.parts[-1] = _POSTFIX[mark](frame.parts[-1])
        frame.last = "postfix"

    def _need_symbol(self, frame: _Frame) -> None:
        if frame.last in _UNFINISHED:
            self._fail_expected("a symbol")

    def _end_alternative(self, frame: _Frame) -> None:
        if frame.last in _UNFINISHED:
            found = repr(self._token.text)
            fail(self._text, self._token.offset, f"expected a symbol, found {found}", hint="the empty text is ''")
        frame.alternatives.append(frame.parts[0] if len(frame.parts) == 1 else ast.Sequence(tuple(frame.parts)))
        frame.parts, frame.last = [], ""

    def _fail_in(self, frame: _Frame, name: Token) -> NoReturn:
        """Raise the error for a token that cannot stand in a body, the end of the text included."""
        token = self._token
        if frame.opening and token.kind == "end":
            what = _BRACKET_NAMES[frame.opening]
            fail(self._text, frame.offset, f"this {what} has no end: expected '{_CLOSING[frame.opening]}'")
        if frame.opening:
            self._fail_expected(f"a symbol, '|' or '{_CLOSING[frame.opening]}'")
        if token.text in ("::=", "="):
            fail(self._text, token.offset, f"expected ';' at the end of the rule {name.text!r}, found a new rule")
        self._fail_expected(f"a symbol, '|' or ';' in the rule {name.text!r}")

    def _atom(self) -> ast.Expression:
        token = self._advance()
        if token.kind == "string":
            return ast.Literal(self._string(token))
        if token.kind == "name":
            return ast.Reference(token.text)
        if token.kind == "regex":
            return self._regex(token)
        if token.kind == "tokens":
            begin = token.offset + len("#token[")
            return token_set(self._text, token.offset, begin, token.offset + len(token.text) - 1, self._name_at)
        if token.kind == "json":
            return json_hole(self._text, token.offset, token.text[len("#json") :])
        if token.text == "margin!":
            return ast.Margin()
        return ast.AnyText() if token.text == "any!" else self._except()

    def _string(self, token: Token) -> bytes:
        text = unescape(self._text, token)
        try:
            return text.encode()
        except UnicodeEncodeError as error:
            fail(self._text, source_offset(self._text, token, error.start), "a lone surrogate is no Unicode character")

    def _name_at(self, offset: int, text: str) -> str:
        """Return the name that a string at a position stands for."""
        return unescape(self._text, Token("string", text, offset))

    def _regex(self, opening: Token) -> ast.Expression:
        """Return the terminal of a token `#`, `#e`, `#ex`, `#substrs` or `#token`.

        `#'…'` is anchored at both ends. `#e'…'` ends at its first match; as in the published package, the empty text
        is never that match (`#e'a*' 'b'` matches `ab` only, `#e''` matches nothing).
        """
        kind = opening.text[1:]
        token = self._take("string", f"a string after '#{kind}'")
        if kind == "token":
            return ast.Token((unescape(self._text, token),), source=self._text, offset=opening.offset)
        if kind == "substrs":
            self._string(token)
            return ast.SubstringsTerminal(unescape(self._text, token))
        pattern = unescape(self._text, token, of_regex=True)
        try:
            parsed = parse_regex(pattern, "rust", anchored=True, limits=self._limits)
        except GrammarError as error:
            offset = source_offset(self._text, token, _pattern_index(pattern, error), of_regex=True)
            fail(self._text, offset, _reason(error), hint=error.hint)
        source = _ESCAPE_OF_JAVASCRIPT.sub(_numbered_escape, pattern)
        if kind == "e":
            return ast.RegexTerminal(rx.Early(without_empty(parsed)), source, "e")
        if kind == "ex":
            self._refuse_anchors(token, pattern)
            return ast.RegexTerminal(text_without(parsed), source, "ex")
        return ast.RegexTerminal(parsed, source)

    def _refuse_anchors(self, token: Token, pattern: str) -> None:
        """Refuse anchors in `#ex`: within a longer text they have no clear meaning."""
        for found in _ANCHOR_OR_OTHER.finditer(pattern):
            if found.lastgroup:
                offset = source_offset(self._text, token, found.start(), of_regex=True)
                fail(self._text, offset, f"the anchor {found.group()!r} is not supported in '#ex'")

    def _except(self) -> ast.Except:
        """Read the rest of an `except!(…)`, after its keyword."""
        if self._token.text != "(":
            self._fail_expected("'(' after 'except!'")
        self._advance()
        if self._token.kind not in ("string", "name"):
            self._fail_expected("a string or a nonterminal in 'except!'")
        token = self._advance()
        excluded = ast.Literal(self._string(token)) if token.kind == "string" else ast.Reference(token.text)
        limit = None
        if self._token.text == ",":
            self._advance()
            # `except!('x',)` is allowed: the older package reads a number that may have no digits.
            if self._token.kind == "number":
                limit = self._number(self._advance())
        if self._token.text != ")":
            self._fail_expected("a number of bytes or ')' in 'except!'" if limit is None else "')' in 'except!'")
        self._advance()
        return ast.Except(excluded, limit)

    def _number(self, token: Token) -> int:
        if len(token.text) > 9:
            fail(self._text, token.offset, f"{token.text[:12]}… bytes are too many", hint="leave the limit out")
        return int(token.text)


def _choice(alternatives: list[ast.Expression]) -> ast.Expression:
    return alternatives[0] if len(alternatives) == 1 else ast.Choice(tuple(alternatives))


def _bracketed(opening: str, body: ast.Expression) -> ast.Expression:
    if opening == "[":
        return ast.Option(body)
    if opening == "indented!":
        return ast.Indented(body)
    return ast.ZeroOrMore(body) if opening == "{" else body


def _numbered_escape(found: re.Match[str]) -> str:
    """Return an escape of a regex as the published package reads it."""
    if found[1]:
        return f"\\x{ord(found[1]) % 32:02x}"
    return "\\x00" if found[2] else found[0]


def _pattern_index(pattern: str, error: GrammarError) -> int:
    """Return the position of a regex error in its pattern; 0 if the error has none."""
    if not error.line:
        return 0
    lines = pattern.split("\n")
    return sum(len(line) + 1 for line in lines[: error.line - 1]) + max(0, error.column - 1)


def _reason(error: GrammarError) -> str:
    """Return the first line of a regex error, without its line and column, which are those in the pattern."""
    first = str(error).split("\n", 1)[0]
    position = f"line {error.line}, column {error.column}: "
    return "in this regex: " + first.removeprefix(position)
