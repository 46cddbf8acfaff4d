"""The parser of the body of a Lark rule or terminal, the part after its colon; with an explicit stack.

choice   ::= sequence {"|" sequence}                 each may have a name: "->" name
sequence ::= {term}  or, in terminals,  meet ::= term… {"&" term…}
term     ::= {"~"} atom ["?" | "*" | "+" | "~" m [".." n] | "{" [m] ["," [n]] "}"]
atom     ::= "(" choice ")" | "[" choice "]" | string [".." string] | regex | name ["{" argument {"," argument} "}"]
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Generic, NoReturn, TypeVar

from structgen.engine.regex import tree as rx
from structgen.engine.regex.unicode_classes import ANY, intersection_of
from structgen.errors import LimitExceededError
from structgen.kbnf.reading.kbnf_lexer import fail
from structgen.kbnf.reading.lark_lexer import LarkDialect, LarkToken, text_of
from structgen.limits import Limits

__all__ = ["Body", "read_body"]

V = TypeVar("V")

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_COUNTS: dict[str, tuple[int, int | None]] = {"?": (0, 1), "*": (0, None), "+": (1, None)}
_MAX_COUNT_DIGITS = 9
_ATOMS = frozenset({"rule", "terminal", "string", "regex", "json", "nested", "special"})


class Body(ABC, Generic[V]):
    """The builder of a body's value: expressions for a rule, regexes for a terminal."""

    @abstractmethod
    def atom(self, token: LarkToken, arguments: tuple[V, ...]) -> V:
        """Return the value of a string, a regex, or a name with its arguments."""

    @abstractmethod
    def range(self, regex: rx.Regex) -> V:
        """Return the value of a range such as `"a".."z"`."""

    @abstractmethod
    def sequence(self, parts: list[V]) -> V:
        """Return the value of parts one after the other."""

    @abstractmethod
    def choice(self, parts: list[V]) -> V:
        """Return the value of alternatives."""

    @abstractmethod
    def repeat(self, body: V, least: int, most: int | None, token: LarkToken) -> V:
        """Return the value of a repetition; its operator is for error messages."""

    @abstractmethod
    def both(self, parts: list[V], token: LarkToken) -> V:
        """Return the value of `x & y`: the texts that all parts match."""

    @abstractmethod
    def complement(self, body: V, token: LarkToken) -> V:
        """Return the value of `~x`: all texts that `x` does not match."""


def read_body(
    text: str, tokens: list[LarkToken], body: Body[V], limits: Limits, dialect: LarkDialect = "llguidance"
) -> V:
    """Return the value of a body.

    Args:
        text: the grammar, for error messages.
        tokens: the tokens of the body.
        body: builds the value.
        limits: `grammar_symbols` bounds it.
        dialect: see `LarkDialect`.

    Raises:
        GrammarError: the body cannot be read; with line and column.
        LimitExceededError: the body is too large.
    """
    end = LarkToken("end", "", tokens[-1].offset + len(tokens[-1].text) if tokens else len(text))
    return _BodyReader(text, [*tokens, end], body, limits, dialect).read()


@dataclass(slots=True)
class _Frame(Generic[V]):
    """An open bracket, or the whole body.

    Attributes:
        opening: its token; `{` for the arguments of a template.
        name: the token of that template, else None.
        alternatives: the complete alternatives.
        meets: the parts before each `&` of the current alternative, each with the token of the `&`.
        parts: the parts after the last `|` or `&`.
        negations: the tokens of `~` whose operand follows.
        arguments: the complete arguments of the template.
    """

    opening: LarkToken
    name: LarkToken | None = None
    alternatives: list[V] = field(default_factory=list)
    meets: list[tuple[V, LarkToken]] = field(default_factory=list)
    parts: list[V] = field(default_factory=list)
    negations: list[LarkToken] = field(default_factory=list)
    arguments: list[V] = field(default_factory=list)


class _BodyReader(Generic[V]):
    """The state of one `read_body`."""

    def __init__(self, text: str, tokens: list[LarkToken], body: Body[V], limits: Limits, dialect: LarkDialect) -> None:
        self._dialect = dialect
        self._text = text
        self._tokens = tokens
        self._position = 0
        self._body = body
        self._limits = limits
        self._symbols = 0

    def read(self) -> V:
        stack: list[_Frame[V]] = [_Frame(LarkToken("", "", self._tokens[0].offset))]
        while True:
            token, frame = self._next(), stack[-1]
            opening = frame.opening.text
            if token.text in ("(", "["):
                stack.append(_Frame(token))
            elif opening and token.text == _CLOSING[opening]:
                stack.pop()
                self._add(stack[-1], self._closed(frame))
            elif opening == "{" and token.text == ",":
                frame.arguments.append(self._choice(frame))
            elif token.text == "|":
                self._end_alternative(frame)
            elif token.text == "&":
                frame.meets.append((self._body.sequence(frame.parts), token))
                frame.parts = []
            elif token.text == "~":
                frame.negations.append(token)
            elif token.text == "->":
                if self._next().kind not in ("rule", "terminal") or self._peek().text not in ("|", ""):
                    self._fail(token, "expected a name after '->', and nothing after the name")
            elif token.kind == "end":
                if opening:
                    self._fail(frame.opening, f"this bracket has no end: expected {_CLOSING[opening]!r}")
                return self._choice(frame)
            elif token.kind == "rule" and self._opens_template():
                stack.append(_Frame(self._next(), token))
            elif token.kind in _ATOMS:
                self._add(frame, self._atom(token))
            else:
                self._fail(token, f"unexpected {token.text!r}")

    def _next(self) -> LarkToken:
        token = self._tokens[self._position]
        self._position = min(self._position + 1, len(self._tokens) - 1)
        return token

    def _peek(self, ahead: int = 0) -> LarkToken:
        return self._tokens[min(self._position + ahead, len(self._tokens) - 1)]

    def _fail(self, token: LarkToken, message: str) -> NoReturn:
        fail(self._text, token.offset, message)

    def _opens_template(self) -> bool:
        return self._peek().text == "{" and self._peek(1).kind != "number" and self._peek(1).text != ","

    def _atom(self, token: LarkToken) -> V:
        if token.kind == "string" and self._peek().text == "..":
            self._next()
            return self._body.range(self._range(token, self._next()))
        return self._body.atom(token, ())

    def _range(self, first: LarkToken, last: LarkToken) -> rx.Regex:
        if last.kind != "string":
            self._fail(last, "expected a string after '..'")
        low, high = (text_of(self._text, token, self._dialect)[0] for token in (first, last))
        if len(low) != 1 or len(high) != 1 or high < low:
            self._fail(first, "a range has two single characters, the smaller one first")
        return rx.Chars(intersection_of(((ord(low), ord(high)),), ANY))

    def _add(self, frame: _Frame[V], value: V) -> None:
        """Add a value, with the operators around it, to the innermost bracket."""
        self._symbols += 1
        if self._symbols > self._limits.grammar_symbols:
            raise LimitExceededError("grammar_symbols", self._limits.grammar_symbols)
        while frame.negations:
            value = self._body.complement(value, frame.negations.pop())
        token = self._peek()
        if token.text in _COUNTS:
            self._next()
            value = self._body.repeat(value, *_COUNTS[token.text], token)
        elif token.text == "~" and self._peek(1).kind == "number":
            self._next()
            least = most = self._count()
            if self._peek().text == "..":
                self._next()
                most = self._count()
            value = self._repeated(token, value, least, most)
        elif token.text == "{":
            self._next()
            value = self._repeated(token, value, *self._braces())
        frame.parts.append(value)

    def _braces(self) -> tuple[int, int | None]:
        """Read the counts after `{`, the closing brace included."""
        least = 0 if self._peek().text == "," else self._count()
        most: int | None = least
        if self._peek().text == ",":
            self._next()
            most = None if self._peek().text == "}" else self._count()
        closing = self._next()
        if closing.text != "}":
            self._fail(closing, "expected '}' after the counts of a repetition")
        return least, most

    def _count(self) -> int:
        token = self._next()
        if token.kind != "number" or len(token.text) > _MAX_COUNT_DIGITS:
            self._fail(token, f"expected a count of at most {_MAX_COUNT_DIGITS} digits")
        return int(token.text)

    def _repeated(self, token: LarkToken, value: V, least: int, most: int | None) -> V:
        if most is not None and most < least:
            self._fail(token, "the counts of a repetition are in the wrong order")
        return self._body.repeat(value, least, most, token)

    def _end_alternative(self, frame: _Frame[V]) -> None:
        if frame.negations:
            self._fail(frame.negations[-1], "expected something after '~'")
        last = self._body.sequence(frame.parts)
        if frame.meets:
            last = self._body.both([*(part for part, _ in frame.meets), last], frame.meets[0][1])
        frame.alternatives.append(last)
        frame.parts, frame.meets = [], []

    def _choice(self, frame: _Frame[V]) -> V:
        self._end_alternative(frame)
        alternatives, frame.alternatives = frame.alternatives, []
        return alternatives[0] if len(alternatives) == 1 else self._body.choice(alternatives)

    def _closed(self, frame: _Frame[V]) -> V:
        """Return the value of a bracket that ended."""
        value = self._choice(frame)
        if frame.name is not None:
            return self._body.atom(frame.name, (*frame.arguments, value))
        return self._body.repeat(value, 0, 1, frame.opening) if frame.opening.text == "[" else value
