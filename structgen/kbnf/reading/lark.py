"""The reader of grammars in Lark's syntax, both of the Python toolkit and of llguidance.

The grammar is read as a context-free one: a text belongs to the language if the rules can divide it into terminals in
any way. Lark's and llguidance's lexers try one way only, the longest terminals, and may then refuse a text; priorities
choose between ways. Neither is part of the language, so priorities, aliases (`-> name`), the marks `!` and `?` and
captures have no effect here.

Texts of `%ignore` may follow each terminal, any number of them; in grammars of the Python toolkit they may precede the
first terminal as well. (llguidance 1.9.1, tried, accepts none there, and after the last terminal only where another
terminal might have followed.) Everything else, such as `%json`, special tokens and look-around, is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NoReturn, TypeAlias

from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.reading.kbnf_lexer import fail
from structgen.kbnf.reading.lark_bodies import Body, read_body
from structgen.kbnf.reading.lark_common import COMMON, COMMON_IN_LLGUIDANCE
from structgen.kbnf.reading.lark_lexer import LarkToken, lark_tokens, text_of
from structgen.kbnf.rewriting import sequence
from structgen.limits import Limits

__all__ = ["LarkDialect", "parse_lark"]

LarkDialect: TypeAlias = Literal["llguidance", "lark"]
"""The dialect: llguidance (regexes in Rust's syntax), or "lark", the Python toolkit (regexes in Python's)."""

# What looks outside of a terminal; and the other escapes and classes, which may hold the same characters.
_OTHERS = r"\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]"
_REACHES_OUT: dict[str, re.Pattern[str]] = {
    "python": re.compile(rf"(?P<out>[\^$]|\\[AzZbB]|\(\?<?[=!])|{_OTHERS}", re.DOTALL),
    "rust": re.compile(rf"(?P<out>[\^$]|\\[AzZbB<>]|\(\?<?[=!])|{_OTHERS}", re.DOTALL),
}
_CAPTURES = re.compile(r'capture(?:="[^"]*")?')
_MAX_INSTANCES = 10_000  # of templates


def parse_lark(text: str, *, dialect: LarkDialect = "llguidance", limits: Limits | None = None) -> ast.Grammar:
    """Return the tree of a grammar.

    Args:
        text: the grammar; it begins at `start`.
        dialect: "llguidance" or "lark", see `LarkDialect`.
        limits: bounds on the size of the grammar and of each regex.

    Raises:
        GrammarError: the text is not a Lark grammar, or uses a construct that is not context-free; with line and
            column.
        LimitExceededError: the grammar is too large.

    Example:
        >>> parse_lark('start: "a"+').rules[-1].body
        OneOrMore(body=RegexTerminal(regex=Literal(data=b'a'), source=None, kind=''))
    """
    return _Reader(text, dialect, limits or Limits()).grammar()


class _Definition:
    """The definition of a rule or terminal: its name, the names of its parameters, and the tokens of its body."""

    def __init__(self, name: LarkToken, parameters: tuple[str, ...], body: list[LarkToken]) -> None:
        self.name = name
        self.parameters = parameters
        self.body = body


class _Reader:
    """The state of one `parse_lark`.

    Attributes:
        _definitions: all definitions, by name.
        _terminals: the regexes of the terminals that were read, by name.
        _rules: the rules that were read, by name, with the instances of templates.
        _pending: the rules and instances to read, each with the arguments of its template.
        _skip: any number of ignored texts, None if nothing is ignored.
    """

    def __init__(self, text: str, dialect: LarkDialect, limits: Limits) -> None:
        self._text = text
        self._dialect: Literal["python", "rust"] = "python" if dialect == "lark" else "rust"
        self._limits = limits
        self._tokens = lark_tokens(text)
        self._position = 0
        self._definitions: dict[str, _Definition] = {}
        self._ignored: list[list[LarkToken]] = []
        self._terminals: dict[str, rx.Regex] = {}
        self._rules: dict[str, ast.Expression] = {}
        self._instances: dict[tuple[str, tuple[ast.Expression, ...]], str] = {}
        self._arguments = 0
        self._pending: list[tuple[str, _Definition, dict[str, ast.Expression]]] = []
        self._skip: ast.Expression | None = None

    def grammar(self) -> ast.Grammar:
        while self._tokens[self._position].kind != "end":
            self._item()
        if "start" not in self._definitions:
            fail(self._text, 0, "there is no rule 'start', where a grammar begins")
        self._read_terminals()
        if self._ignored:
            ignored = rx.choice(*(self._regex_of(body) for body in self._ignored))
            self._skip = ast.RegexTerminal(rx.star(ignored))
        for name, definition in self._definitions.items():
            if definition.name.kind == "rule" and not definition.parameters:
                self._pending.append((name, definition, {}))
        while self._pending:
            name, definition, arguments = self._pending.pop()
            self._rules[name] = read_body(self._text, definition.body, _RuleBody(self, arguments), self._limits)
        rules = tuple(ast.Rule(name, body) for name, body in self._rules.items())
        if self._skip is None or self._dialect == "rust":
            return ast.Grammar(rules, "start")
        begin = ast.Rule("(start)", ast.Sequence((self._skip, ast.Reference("start"))))
        return ast.Grammar((begin, *rules), begin.name)

    def fail(self, token: LarkToken, message: str, *, hint: str = "") -> NoReturn:
        """Raise a `GrammarError` that points at a token."""
        fail(self._text, token.offset, message, hint=hint)

    # -- items --------------------------------------------------------------------------------------------------------

    def _next(self) -> LarkToken:
        token = self._tokens[self._position]
        self._position += token.kind != "end"
        return token

    def _take(self, text: str, where: str) -> LarkToken:
        token = self._next()
        if token.text != text:
            found = repr(token.text) if token.text.strip() else "the end of the line"
            self.fail(token, f"expected {text!r} {where}, found {found}")
        return token

    def _line(self) -> list[LarkToken]:
        """Return the tokens up to the end of the item."""
        begin = self._position
        while self._next().kind != "newline":
            pass
        return self._tokens[begin : self._position - 1]

    def _item(self) -> None:
        token = self._next()
        if token.kind == "newline":
            return
        if token.text == "%ignore":
            self._ignored.append(self._line())
        elif token.text == "%import":
            self._import(token)
        elif token.text == "%llguidance":
            if not isinstance(token.value, dict) or set(token.value) - {"no_forcing"}:
                self.fail(token, "the only supported option of %llguidance is no_forcing, which has no effect here")
        elif token.kind in ("statement", "json"):
            self.fail(token, f"{token.text} is not supported")
        else:
            while token.text in ("!", "?"):
                token = self._next()
            if token.kind not in ("rule", "terminal"):
                self.fail(token, f"expected a rule, a terminal or a statement, found {token.text!r}")
            self._define(token)

    def _define(self, name: LarkToken) -> None:
        if name.text in self._definitions or name.text in self._terminals:
            self.fail(name, f"{name.text!r} is defined twice")
        parameters: list[str] = []
        if self._tokens[self._position].text == "{":
            if name.kind == "terminal":
                self.fail(name, "templates of terminals are not supported")
            self._next()
            while True:
                parameters.append(self._next().text)
                if self._tokens[self._position].text != ",":
                    break
                self._next()
            self._take("}", "after the parameters")
        if self._tokens[self._position].text == "[":
            self._attributes()
        if self._tokens[self._position].text == ".":
            self._next()
            if self._tokens[self._position].text == "-":
                self._next()
            if self._next().kind != "number":
                self.fail(name, "expected a priority after '.'")
        self._take(":", f"after {name.text!r}")
        self._definitions[name.text] = _Definition(name, tuple(parameters), self._line())

    def _attributes(self) -> None:
        """Read the attributes of an llguidance rule: only `[capture]`, which has no effect on the language."""
        opening = self._next()
        end = self._text.find("]", opening.offset)
        inner = self._text[opening.offset + 1 : end]
        for attribute in inner.split(","):
            if not _CAPTURES.fullmatch(attribute.strip()):
                self.fail(opening, f"the attribute {attribute.strip()!r} is not supported")
        while self._next().text != "]":
            pass

    def _import(self, statement: LarkToken) -> None:
        line = self._line()
        words = [token.text for token in line]
        if words[:1] != ["common"]:
            self.fail(statement, "only the terminals of 'common' can be imported")
        if len(words) > 2 and words[1] == ".":
            names = {words[2]: words[4] if words[3:4] == ["->"] and len(words) == 5 else words[2]}
        else:
            names = {word: word for word in words[1:] if word not in (".", "(", ")", ",")}
        for name, alias in names.items():
            if name not in COMMON:
                self.fail(statement, f"there is no terminal {name!r} in 'common'")
            pattern = COMMON[name]
            if self._dialect == "rust":
                pattern = COMMON_IN_LLGUIDANCE.get(name, pattern)
            self._terminals[alias] = parse_regex(pattern, self._dialect, limits=self._limits)

    # -- terminals ----------------------------------------------------------------------------------------------------

    def _read_terminals(self) -> None:
        """Read all terminals, each after those that it uses."""
        stack = [(name, False) for name, found in self._definitions.items() if found.name.kind == "terminal"]
        open_names: set[str] = set()
        while stack:
            name, parts_done = stack.pop()
            if name in self._terminals:
                continue
            definition = self._definitions[name]
            if parts_done:
                open_names.discard(name)
                self._terminals[name] = self._regex_of(definition.body)
                continue
            if name in open_names:
                self.fail(definition.name, f"the terminal {name!r} is defined by itself", hint="write it as a rule")
            open_names.add(name)
            stack.append((name, True))
            for token in definition.body:
                if token.kind == "terminal" and token.text in self._definitions and token.text not in self._terminals:
                    stack.append((token.text, False))

    def _regex_of(self, body: list[LarkToken]) -> rx.Regex:
        return read_body(self._text, body, _TerminalBody(self), self._limits)

    def terminal(self, token: LarkToken) -> rx.Regex:
        """Return the regex of a terminal's name, a string, a regex or `%regex` data."""
        if token.kind == "terminal":
            if token.text not in self._terminals:
                self.fail(token, f"the terminal {token.text!r} is not defined")
            return self._terminals[token.text]
        if token.kind == "string":
            text, ignores_case = text_of(self._text, token)
            if not ignores_case:
                return rx.Literal(text.encode())
            return parse_regex(f"(?i:{re.escape(text)})", self._dialect, limits=self._limits)
        if token.kind == "json" and token.text == "%regex":
            return self._substrings(token)
        if token.kind != "regex":
            self.fail(token, f"{token.text} is not supported")
        return self._regex(token)

    def _regex(self, token: LarkToken) -> rx.Regex:
        end = token.text.rindex("/")
        pattern, flags = token.text[1:end], token.text[end + 1 :].replace("u", "")
        if set(flags) - set("imsx"):
            self.fail(token, f"the flags {flags!r} are not supported")
        for found in _REACHES_OUT[self._dialect].finditer(pattern):
            if found["out"]:
                at = LarkToken("", "", token.offset + 1 + found.start())
                self.fail(at, f"{found['out']!r} looks outside of the terminal, which is not supported")
        pattern = pattern.replace("\\/", "/")
        if flags:
            pattern = f"(?{flags}:{pattern}{chr(10) if 'x' in flags else ''})"
        try:
            return parse_regex(pattern, self._dialect, limits=self._limits)
        except GrammarError as error:
            reason = str(error).split("\n", 1)[0].removeprefix(f"line {error.line}, column {error.column}: ")
            self.fail(token, f"in this regex: {reason}", hint=error.hint)

    def _substrings(self, token: LarkToken) -> rx.Regex:
        data = token.value
        if isinstance(data, dict) and len(data) == 1:
            ((kind, value),) = data.items()
            if kind == "substring_chunks" and isinstance(value, list) and all(isinstance(c, str) for c in value):
                return rx.Substrings(tuple(chunk.encode() for chunk in value))
            if kind == "substring_chars" and isinstance(value, str):
                return rx.Substrings(tuple(character.encode() for character in value))
        return self.fail(token, "this %regex is not supported", hint="substring_chunks and substring_chars are")

    # -- rules --------------------------------------------------------------------------------------------------------

    def lexeme(self, token: LarkToken) -> ast.Expression:
        """Return a terminal of a rule, followed by any number of ignored texts."""
        found = ast.RegexTerminal(self.terminal(token))
        return found if self._skip is None else ast.Sequence((found, self._skip))

    def lexeme_of(self, regex: rx.Regex) -> ast.Expression:
        """Return a regex of a rule, followed by any number of ignored texts."""
        found = ast.RegexTerminal(regex)
        return found if self._skip is None else ast.Sequence((found, self._skip))

    def rule(self, token: LarkToken, arguments: tuple[ast.Expression, ...]) -> ast.Expression:
        """Return a reference to a rule, or to the instance of a template with its arguments."""
        definition = self._definitions.get(token.text)
        if definition is None:
            self.fail(token, f"the rule {token.text!r} is not defined")
        if len(definition.parameters) != len(arguments):
            self.fail(token, f"{token.text!r} takes {len(definition.parameters)} arguments, not {len(arguments)}")
        if not arguments:
            return ast.Reference(token.text)
        arguments = tuple(map(self._argument, arguments))
        name = self._instances.get((token.text, arguments))
        if name is None:
            if len(self._instances) >= _MAX_INSTANCES:
                self.fail(token, f"there are more than {_MAX_INSTANCES} instances of templates")
            name = f"{token.text}{{{len(self._instances) + 1}}}"
            self._instances[token.text, arguments] = name
            self._pending.append((name, definition, dict(zip(definition.parameters, arguments))))
        return ast.Reference(name)

    def _argument(self, expression: ast.Expression) -> ast.Expression:
        """Return a template's argument as a name, so that templates of templates do not make ever larger bodies."""
        if isinstance(expression, ast.Reference):
            return expression
        self._arguments += 1
        name = f"{{{self._arguments}}}"
        self._rules[name] = expression
        return ast.Reference(name)


class _RuleBody(Body[ast.Expression]):
    """The builder of rules' bodies."""

    def __init__(self, reader: _Reader, arguments: dict[str, ast.Expression]) -> None:
        self._reader = reader
        self._arguments = arguments

    def atom(self, token: LarkToken, arguments: tuple[ast.Expression, ...]) -> ast.Expression:
        if token.kind == "rule":
            if token.text in self._arguments and not arguments:
                return self._arguments[token.text]
            return self._reader.rule(token, arguments)
        return self._reader.lexeme(token)

    def range(self, regex: rx.Regex) -> ast.Expression:
        return self._reader.lexeme_of(regex)

    def sequence(self, parts: list[ast.Expression]) -> ast.Expression:
        return sequence(parts)

    def choice(self, parts: list[ast.Expression]) -> ast.Expression:
        return ast.Choice(tuple(parts))

    def repeat(self, body: ast.Expression, least: int, most: int | None) -> ast.Expression:
        simple: dict[tuple[int, int | None], Callable[[ast.Expression], ast.Expression]] = {
            (0, 1): ast.Option,
            (0, None): ast.ZeroOrMore,
            (1, None): ast.OneOrMore,
        }
        return simple[least, most](body) if (least, most) in simple else ast.Bounded(body, least, most)

    def both(self, parts: list[ast.Expression], token: LarkToken) -> ast.Expression:
        self._reader.fail(token, "'&' is supported in terminals only", hint="give it a name in capitals")

    def complement(self, body: ast.Expression, token: LarkToken) -> ast.Expression:
        self._reader.fail(
            token, "'~' with an operand is supported in terminals only", hint="give it a name in capitals"
        )


class _TerminalBody(Body[rx.Regex]):
    """The builder of terminals' bodies."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader

    def atom(self, token: LarkToken, arguments: tuple[rx.Regex, ...]) -> rx.Regex:
        if token.kind == "rule":
            self._reader.fail(token, f"a terminal cannot use the rule {token.text!r}")
        return self._reader.terminal(token)

    def range(self, regex: rx.Regex) -> rx.Regex:
        return regex

    def sequence(self, parts: list[rx.Regex]) -> rx.Regex:
        return rx.sequence(*parts)

    def choice(self, parts: list[rx.Regex]) -> rx.Regex:
        return rx.choice(*parts)

    def repeat(self, body: rx.Regex, least: int, most: int | None) -> rx.Regex:
        return rx.repeat(body, least, most)

    def both(self, parts: list[rx.Regex], token: LarkToken) -> rx.Regex:
        return rx.intersection(*parts)

    def complement(self, body: rx.Regex, token: LarkToken) -> rx.Regex:
        # In llguidance `~x` also matches bytes that are not UTF-8; here it matches texts only.
        return rx.difference(rx.star(rx.ANY_CHAR), body)
