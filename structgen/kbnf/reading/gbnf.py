r"""The reader of GBNF, the notation of llama.cpp: a hand-written parser with an explicit stack, as for KBNF.

    rule     ::= name "::=" choice newline
    choice   ::= sequence {"|" sequence}            sequences may be empty
    sequence ::= {atom {"*" | "+" | "?" | "{" m ["," [n]] "}"}}
    atom     ::= name | string | class | "." | "(" choice ")" | ["!"] token
    token    ::= "<[" id "]>" | "<" characters ">"

A newline ends a rule, except after `::=` and `|` and inside parentheses. Strings and classes are made of code points,
with the escapes `\xHH \uHHHH \UHHHHHHHH \t \r \n \\ \" \[ \] \-`. A grammar begins at `root`. `<think>` is the token of
this name, brackets included, and `!<think>` any other token but an end token.

Two texts that llama.cpp accepts silently, with another meaning than written, are read differently here: a name that is
defined twice is refused (there the last definition counts), and a bound of more than 2,000 is kept (there it is none).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from structgen.engine.regex import tree as rx
from structgen.engine.regex.unicode_classes import ANY, difference_of, intersection_of, union_of
from structgen.errors import LimitExceededError
from structgen.kbnf import ast
from structgen.kbnf.reading.kbnf_lexer import fail
from structgen.kbnf.rewriting import sequence
from structgen.limits import Limits

__all__ = ["parse_gbnf"]

_SPACE = re.compile(r"(?:[ \t]|#[^\r\n]*)*")
_SPACE_AND_LINES = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_COUNTS = re.compile(r"\{[ \t]*([0-9]+)[ \t]*(?:(,)[ \t]*([0-9]+)?[ \t]*)?\}")
_TOKEN = re.compile(r"(!?)(<(?:\[([^\]>\r\n]*)\]|[^>\r\n]+)>)")
_ESCAPES = {"t": 9, "r": 13, "n": 10, "\\": 92, '"': 34, "[": 91, "]": 93, "-": 45}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_MAX_COUNT_DIGITS = 9
_MACROS = {
    "ExcludeToken": "write !<[3]> for any token but the one of id 3",
    "Regex": "Grammar.lark reads /regexes/",
    "Substring": "Grammar.substring makes such a grammar",
    "TagDispatch": "Grammar.structural_tag reads triggered_tags and dispatch",
    "Token": "write <[4]> for the token of id 4",
    "TokenTagDispatch": "Grammar.structural_tag reads token_triggered_tags and token_dispatch",
}
"""What to write in place of a macro of xgrammar, by its name."""
_POSTFIX: dict[str, Callable[[ast.Expression], ast.Expression]] = {
    "?": ast.Option,
    "*": ast.ZeroOrMore,
    "+": ast.OneOrMore,
}


def parse_gbnf(text: str, *, limits: Limits | None = None) -> ast.Grammar:
    """Return the tree of a grammar.

    Args:
        text: GBNF.
        limits: `grammar_symbols` bounds it.

    Returns:
        The tree; its names are defined, and its start is `root`.

    Raises:
        GrammarError: the text is not GBNF; with line and column.
        LimitExceededError: the grammar is too large.

    Example:
        >>> parse_gbnf('root ::= "a" | "b"').rules[0].body
        Choice(parts=(Literal(data=b'a'), Literal(data=b'b')))
    """
    return _Parser(text, limits or Limits()).grammar()


@dataclass(slots=True)
class _Frame:
    """An open group, or the rule's body: its position, its complete alternatives, and the parts of the current one."""

    offset: int
    alternatives: list[ast.Expression] = field(default_factory=list)
    parts: list[ast.Expression] = field(default_factory=list)

    def end_alternative(self) -> None:
        self.alternatives.append(sequence(self.parts))
        self.parts = []

    def expression(self) -> ast.Expression:
        self.end_alternative()
        return self.alternatives[0] if len(self.alternatives) == 1 else ast.Choice(tuple(self.alternatives))


class _Parser:
    """The state of one `parse_gbnf`: the position in the text, and the names used so far."""

    def __init__(self, text: str, limits: Limits) -> None:
        self._text = text
        self._position = 0
        self._limits = limits
        self._symbols = 0
        self._used: dict[str, int] = {}  # for each name the position of its first use

    def grammar(self) -> ast.Grammar:
        rules: dict[str, ast.Rule] = {}
        self._skip(_SPACE_AND_LINES)
        while self._position < len(self._text):
            begin = self._position
            name = self._name("the name of a rule")
            if name in rules:
                self._fail(f"the rule {name!r} is defined twice", begin, hint="llama.cpp would take the last one only")
            self._skip(_SPACE)
            if not self._text.startswith("::=", self._position):
                self._fail_expected("'::=' after the rule's name")
            self._position += 3
            self._skip(_SPACE_AND_LINES)
            rules[name] = ast.Rule(name, self._body())
            self._skip(_SPACE_AND_LINES)
        for name, offset in self._used.items():
            if name not in rules:
                self._fail(f"the rule {name!r} is not defined", offset)
        if "root" not in rules:
            self._fail("there is no rule 'root', where a grammar begins", 0)
        return ast.Grammar(tuple(rules.values()), "root")

    def _skip(self, space: re.Pattern[str]) -> None:
        found = space.match(self._text, self._position)
        self._position = found.end() if found else self._position

    def _name(self, expected: str) -> str:
        found = _NAME.match(self._text, self._position)
        if found is None:
            self._fail_expected(expected)
        self._position = found.end()
        return found.group()

    def _fail(self, message: str, offset: int, *, hint: str = "") -> NoReturn:
        fail(self._text, offset, message, hint=hint)

    def _fail_expected(self, expected: str) -> NoReturn:
        found = repr(self._text[self._position]) if self._position < len(self._text) else "the end of the grammar"
        hint = ""
        if self._text.startswith("|", self._position):
            hint = "end the line with '|', or use parentheses, to continue a rule on the next line"
        elif self._text.startswith("'", self._position):
            hint = "strings are written between double quotes"
        elif self._text.startswith("(=", self._position - 1):
            hint = "look-aheads of xgrammar, (=…), are not read; structgen finds masks without them"
        elif expected.startswith("'::='") and self._text.startswith("[", self._position):
            hint = "attributes of rules are xgrammar's; Grammar.lark reads such attributes"
        self._fail(f"expected {expected}, found {found}", self._position, hint=hint)

    def _body(self) -> ast.Expression:
        """Return the expression up to the end of the rule."""
        stack = [_Frame(self._position)]
        while True:
            self._skip(_SPACE_AND_LINES if len(stack) > 1 else _SPACE)
            mark = self._text[self._position : self._position + 1]
            frame = stack[-1]
            if mark == "(":
                stack.append(_Frame(self._position))
                self._position += 1
            elif mark == ")" and len(stack) > 1:
                self._position += 1
                stack.pop()
                self._add(stack[-1], frame.expression())
            elif mark == "|":
                self._position += 1
                self._skip(_SPACE_AND_LINES)
                frame.end_alternative()
            elif mark in _POSTFIX or mark == "{":
                self._repeat(frame)
            elif not mark or mark in "\r\n":
                if len(stack) > 1:
                    self._fail("this group has no end: expected ')'", frame.offset)
                return frame.expression()
            else:
                self._add(frame, self._atom(mark))

    def _add(self, frame: _Frame, expression: ast.Expression) -> None:
        self._symbols += 1
        if self._symbols > self._limits.grammar_symbols:
            raise LimitExceededError("grammar_symbols", self._limits.grammar_symbols)
        frame.parts.append(expression)

    def _repeat(self, frame: _Frame) -> None:
        begin, mark = self._position, self._text[self._position]
        if not frame.parts:
            self._fail(f"there is nothing to repeat before {mark!r}", begin)
        if mark != "{":
            self._position += 1
            frame.parts[-1] = _POSTFIX[mark](frame.parts[-1])
            return
        counts = _COUNTS.match(self._text, begin)
        if counts is None:
            self._fail("expected a repetition such as '{2}', '{2,}' or '{2,4}'", begin)
        low, comma, high = counts.groups()
        if max(len(low), len(high or "")) > _MAX_COUNT_DIGITS:
            self._fail(f"a count has more than {_MAX_COUNT_DIGITS} digits", begin)
        least = int(low)
        most = (int(high) if high else None) if comma else least
        if most is not None and most < least:
            self._fail("the counts of a repetition are in the wrong order", begin)
        self._position = counts.end()
        frame.parts[-1] = ast.Bounded(frame.parts[-1], least, most)

    def _atom(self, mark: str) -> ast.Expression:
        begin = self._position
        if mark == '"':
            return self._string()
        if mark == "[":
            return self._class()
        if mark == ".":
            self._position += 1
            return ast.RegexTerminal(rx.ANY_CHAR)
        if mark in "<!":
            return self._token()
        if not _NAME.match(self._text, begin):
            self._fail_expected("a name, a string, a class, '.' or '('")
        name = self._name("a name")
        if name in _MACROS and self._text.startswith("(", self._position) and not self._defines(name):
            self._fail(f"{name}(…) is a macro of xgrammar, which GBNF does not have", begin, hint=_MACROS[name])
        self._used.setdefault(name, begin)
        return ast.Reference(name)

    def _defines(self, name: str) -> bool:
        return re.search(rf"^[ \t]*{name}[ \t]*::=", self._text, re.MULTILINE) is not None

    def _token(self) -> ast.Expression:
        begin = self._position
        found = _TOKEN.match(self._text, begin)
        if found is None:
            self._fail("expected a token", begin, hint="write <[1000]> or <think>, and ! before it for any other token")
        self._position = found.end()
        if found[3] is None:
            return ast.Token((found[2],), is_negated=bool(found[1]), source=self._text, offset=begin)
        if not re.fullmatch("[0-9]{1,9}", found[3]):
            self._fail(f"{found[3]!r} is no token id", found.start(3), hint="write <[1000]>")
        token_id = int(found[3])
        return ast.Token((), ((token_id, token_id),), bool(found[1]), self._text, begin)

    def _string(self) -> ast.Expression:
        begin = self._position
        self._position += 1
        out: list[str] = []
        while not self._text.startswith('"', self._position):
            out.append(chr(self._character(begin, "this string has no end: expected '\"'")))
        self._position += 1
        return ast.Literal("".join(out).encode())

    def _class(self) -> ast.Expression:
        begin = self._position
        self._position += 1
        is_negated = self._text.startswith("^", self._position)
        self._position += is_negated
        ranges: list[tuple[int, int]] = []
        while not self._text.startswith("]", self._position):
            position = self._position
            first = last = self._character(begin, "this class has no end: expected ']'")
            if self._text.startswith("-", self._position) and not self._text.startswith("]", self._position + 1):
                self._position += 1
                last = self._character(begin, "this class has no end: expected ']'")
            if last < first:
                self._fail("the ends of this range are in the wrong order", position)
            ranges.append((first, last))
        self._position += 1
        if not ranges:
            self._fail("this class is empty", begin, hint='the empty text is ""')
        found = intersection_of(union_of(ranges), ANY)
        return ast.RegexTerminal(rx.Chars(difference_of(ANY, found) if is_negated else found))

    def _character(self, begin: int, without_end: str) -> int:
        """Return the code point of a character or an escape, in a string or class that begins at `begin`."""
        position, text = self._position, self._text
        if position >= len(text):
            self._fail(without_end, begin)
        self._position += 1
        if text[position] != "\\":
            return self._scalar(ord(text[position]), position)
        letter = text[self._position : self._position + 1]
        self._position += 1
        if letter in _HEX_DIGITS:
            digits = text[self._position : self._position + _HEX_DIGITS[letter]]
            if not re.fullmatch(f"[0-9A-Fa-f]{{{_HEX_DIGITS[letter]}}}", digits):
                self._fail(f"expected {_HEX_DIGITS[letter]} hexadecimal digits after '\\{letter}'", position)
            self._position += len(digits)
            return self._scalar(int(digits, 16), position)
        if not letter or letter not in _ESCAPES:
            self._fail(f"unknown escape {text[position : self._position]}", position)
        return _ESCAPES[letter]

    def _scalar(self, point: int, position: int) -> int:
        if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
            self._fail(f"U+{point:04X} is not a Unicode character", position)
        return point
