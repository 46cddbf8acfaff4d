"""The statements of a Lark grammar: its definitions, `%ignore`, `%declare` and `%import`, bodies still as tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn

from structgen.kbnf.reading.kbnf_lexer import fail
from structgen.kbnf.reading.lark_attributes import Attributes, read_attributes
from structgen.kbnf.reading.lark_indentation import DEDENT, INDENT
from structgen.kbnf.reading.lark_lexer import LarkDialect, LarkToken, lark_tokens

__all__ = ["Definition", "Import", "Items", "read_items"]

_DECLARED = frozenset((INDENT, DEDENT))
_MAX_PRIORITY_DIGITS = 9
_OPTIONS = ("no_forcing", "allow_initial_skip")  # of %llguidance, true or false


@dataclass(slots=True)
class Definition:
    """The definition of a rule or terminal.

    Attributes:
        name: its name.
        parameters: the names of its parameters.
        priority: as written, or 0.
        body: the tokens of its body.
        attributes: those of a rule of llguidance; None for none.
    """

    name: LarkToken
    parameters: tuple[str, ...]
    priority: int
    body: list[LarkToken]
    attributes: Attributes | None = None


@dataclass(slots=True)
class Import:
    """A statement `%import`.

    Attributes:
        statement: its token.
        is_relative: whether the path begins with a dot, which means the folder of the file.
        path: the parts of the path.
        names: the name that each imported symbol gets here, by its name there.
    """

    statement: LarkToken
    is_relative: bool
    path: tuple[str, ...]
    names: dict[str, str]


@dataclass(slots=True)
class Items:
    """The statements of a grammar.

    Attributes:
        definitions: the rules and terminals, by name.
        ignored: the bodies of `%ignore`.
        declared: the tokens of `%declare`, by name.
        imports: the imports, in their order.
        options: those of `%llguidance`, merged.
    """

    definitions: dict[str, Definition] = field(default_factory=dict)
    ignored: list[list[LarkToken]] = field(default_factory=list)
    declared: dict[str, LarkToken] = field(default_factory=dict)
    imports: list[Import] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)


def read_items(text: str, dialect: LarkDialect, *, begin: int = 0, end: int | None = None) -> Items:
    """Return the statements of a grammar.

    Args:
        text: the grammar, or a text with several grammars in a row.
        dialect: see `LarkDialect`.
        begin: where the grammar begins in the text.
        end: where it ends; by default at the end of the text.

    Raises:
        GrammarError: a statement cannot be read, or is not supported; with line and column.
    """
    reader = _ItemReader(text, dialect, begin, len(text) if end is None else end)
    while reader.read_one():
        pass
    return reader.items


class _ItemReader:
    """The state of one `read_items`."""

    def __init__(self, text: str, dialect: LarkDialect, begin: int, end: int) -> None:
        self.items = Items()
        self._text = text
        self._is_toolkit = dialect == "lark"
        self._tokens = lark_tokens(text, dialect, begin=begin, end=end)
        self._position = 0

    def read_one(self) -> bool:
        """Read one statement; return whether there was one."""
        token = self._next()
        if token.kind == "end":
            return False
        if token.text == "%ignore":
            self.items.ignored.append(self._line())
        elif token.text == "%import":
            self.items.imports.append(self._import(token))
        elif token.text == "%declare" and self._is_toolkit:
            self._declare()
        elif token.text == "%llguidance":
            self._set_options(token)
        elif token.kind in ("statement", "json"):
            self._fail(token, f"{token.text} is not supported")
        elif token.kind != "newline":
            while token.text in ("!", "?"):
                token = self._next()
            if token.kind not in ("rule", "terminal"):
                self._fail(token, f"expected a rule, a terminal or a statement, found {token.text!r}")
            self._define(token)
        return True

    def _fail(self, token: LarkToken, message: str, *, hint: str = "") -> NoReturn:
        fail(self._text, token.offset, message, hint=hint)

    def _next(self) -> LarkToken:
        token = self._tokens[self._position]
        self._position += token.kind != "end"
        return token

    def _peek(self) -> LarkToken:
        return self._tokens[self._position]

    def _take(self, text: str, where: str) -> LarkToken:
        token = self._next()
        if token.text != text:
            found = repr(token.text) if token.text.strip() else "the end of the line"
            self._fail(token, f"expected {text!r} {where}, found {found}")
        return token

    def _line(self) -> list[LarkToken]:
        """Return the tokens up to the end of the item."""
        begin = self._position
        while self._next().kind != "newline":
            pass
        return self._tokens[begin : self._position - 1]

    def _declare(self) -> None:
        """Read the names of `%declare`: only those of Lark's `PythonIndenter` have a meaning here."""
        for token in self._line():
            if token.text not in _DECLARED:
                hint = f"only {INDENT} and {DEDENT} can be declared; they mean what Lark's PythonIndenter makes of them"
                self._fail(token, f"the declared terminal {token.text!r} has no meaning", hint=hint)
            self.items.declared[token.text] = token

    def _define(self, name: LarkToken) -> None:
        imported = {alias for one in self.items.imports for alias in one.names.values()}
        if name.text in self.items.definitions or name.text in imported:
            self._fail(name, f"{name.text!r} is defined twice")
        parameters = self._parameters(name) if self._peek().text == "{" else []
        attributes = self._attributes(name)
        priority = self._priority(name)
        self._take(":", f"after {name.text!r}")
        body = self._line()
        self.items.definitions[name.text] = Definition(name, tuple(parameters), priority, body, attributes)

    def _parameters(self, name: LarkToken) -> list[str]:
        if name.kind == "terminal":
            self._fail(name, "templates of terminals are not supported")
        found: list[str] = []
        while not found or self._peek().text == ",":
            self._next()
            found.append(self._next().text)
        self._take("}", "after the parameters")
        return found

    def _priority(self, name: LarkToken) -> int:
        if self._peek().text != ".":
            return 0
        self._next()
        sign = 1
        if self._peek().text == "-":
            self._next()
            sign = -1
        number = self._next()
        if number.kind != "number" or len(number.text) > _MAX_PRIORITY_DIGITS:
            self._fail(name, f"expected a priority of at most {_MAX_PRIORITY_DIGITS} digits after '.'")
        return sign * int(number.text)

    def _attributes(self, name: LarkToken) -> Attributes | None:
        """Read the attributes of an llguidance rule, such as `[capture, suffix="</b>"]`."""
        if self._peek().text != "[":
            return None
        opening = self._next()
        if name.kind == "terminal" or self._is_toolkit:
            what = "a terminal has no attributes" if name.kind == "terminal" else "llguidance's dialect has attributes"
            self._fail(opening, f"unexpected '[' after {name.text!r}", hint=what)
        begin = self._position
        while (token := self._next()).text != "]":
            if token.kind == "end":
                self._fail(opening, "this bracket has no end: expected ']'")
        return read_attributes(self._text, name, self._tokens[begin : self._position - 1])

    def _set_options(self, token: LarkToken) -> None:
        """Read the options after `%llguidance`; later ones replace earlier ones."""
        if not isinstance(token.value, dict):
            self._fail(token, "the options of %llguidance are a JSON object")
        for name, value in token.value.items():
            if name == "skip_repetition":
                if value not in ("once", "unbounded"):
                    self._fail(token, f"skip_repetition is 'once' or 'unbounded', not {value!r}")
            elif name not in _OPTIONS and not (name == "allow_invalid_utf8" and value is False):
                listed = ", ".join((*_OPTIONS, "skip_repetition"))
                self._fail(token, f"the option {name!r} of %llguidance is not supported", hint=f"these are: {listed}")
            elif not isinstance(value, bool):
                self._fail(token, f"the option {name!r} of %llguidance is true or false, not {value!r}")
            self.items.options[name] = value

    def _import(self, statement: LarkToken) -> Import:
        """Read the path of an import, and its names: `a.b.NAME`, `a.b.NAME -> ALIAS` or `a.b (NAME, OTHER)`."""
        words = [token.text for token in self._line()]
        is_relative = words[:1] == ["."]
        words = words[is_relative:]
        end = words.index("(") if "(" in words else words.index("->") if "->" in words else len(words)
        path, rest = words[:end], words[end:]
        names = [word for word in rest if word not in ("(", ")", ",", "->")]
        if path[1::2] != ["."] * (len(path) // 2) or len(path) % 2 == 0 or (rest and not names):
            self._fail(statement, "expected a path and a name, as in %import common.INT")
        parts = path[::2]
        if rest[:1] == ["("]:
            return Import(statement, is_relative, tuple(parts), {name: name for name in names})
        if len(parts) < 2:
            self._fail(statement, "expected a path and a name, as in %import common.INT")
        return Import(statement, is_relative, tuple(parts[:-1]), {parts[-1]: names[0] if names else parts[-1]})
