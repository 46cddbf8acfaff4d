"""The reader of grammars in Lark's syntax, both of the Python toolkit and of llguidance.

The grammar is read as a context-free one: a text belongs to the language if the rules can divide it into terminals in
any way. Lark's and llguidance's lexers try one way only, the longest terminals, and may then refuse a text; priorities
choose between ways. Neither is part of the language, so priorities, aliases (`-> name`), the marks `!` and `?` have no
effect here. Captures stay with their rules (`ast.Capturing`); other attributes are in `lark_attributes`.

`@name`, `%json {…}` and `%lark {…}` are holes of the tree. The grammar within a `%lark` has names, terminals and
ignored texts of its own.

Texts of `%ignore` may follow each terminal, any number of them; in grammars of the Python toolkit they may precede the
first terminal as well. (llguidance 1.9.1, tried, accepts none there, and after the last terminal only where another
terminal might have followed.) Everything else is refused by name.

In llguidance's dialect `<think>` is the token of this name, brackets included; `<[1000-1010,5]>`, `<[^5]>` and `<[*]>`
are sets of token ids. End tokens are in none of the negated sets and not in `<[*]>`, while llguidance has them there.

Look-around in a terminal is read in the dialect of the Python toolkit (see `lark_terminals`). A grammar with `%declare
_INDENT _DEDENT` is read as Lark's `PythonIndenter` reads it: `lark_lexing` and `lark_indentation` have the rules.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Literal, NoReturn

from structgen.engine.deadlines import Deadline
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.reading.json_schemas import json_hole
from structgen.kbnf.reading.kbnf_lexer import fail
from structgen.kbnf.reading.lark_attributed import attributed
from structgen.kbnf.reading.lark_bodies import Body, read_body
from structgen.kbnf.reading.lark_common import COMMON, COMMON_IN_LLGUIDANCE
from structgen.kbnf.reading.lark_imports import Sources
from structgen.kbnf.reading.lark_indentation import NEWLINE, indented_rules
from structgen.kbnf.reading.lark_items import Definition
from structgen.kbnf.reading.lark_lazy import lazy_first
from structgen.kbnf.reading.lark_lexer import LarkDialect, LarkToken, check_is_text, pattern_of, text_of
from structgen.kbnf.reading.lark_lexing import LexedGrammar
from structgen.kbnf.reading.lark_terminals import LookingOut, Terminal, first_look, regex_terminal
from structgen.kbnf.reading.lark_words import words_of
from structgen.kbnf.reading.token_sets import token_set
from structgen.kbnf.rewriting import nodes_of, sequence
from structgen.limits import Limits

__all__ = ["ImportPaths", "LarkDialect", "parse_lark", "parse_lexed", "read_lark"]

_SEES_ONE = "an assertion may see the terminal's own text, and refuse one character after it"
_MAX_INSTANCES = 10_000  # of templates
_MAX_NESTED = 30  # grammars within one another

ImportPaths = Sequence[str | os.PathLike[str]]
"""Folders that are searched for the files of `%import`."""


def parse_lark(
    text: str,
    *,
    dialect: LarkDialect = "llguidance",
    start: str = "start",
    import_paths: ImportPaths = (),
    limits: Limits | None = None,
) -> ast.Grammar:
    """Return the tree of a grammar.

    Args:
        text: the grammar.
        dialect: "llguidance" or "lark", see `LarkDialect`.
        start: the rule that it begins at.
        import_paths: the folders of the files that `%import` reads.
        limits: bounds on the size of the grammar and of each regex, and on the time: `compile_seconds`.

    Raises:
        GrammarError: the text is not a Lark grammar, or uses a construct that is not context-free; with line and
            column.
        LimitExceededError: the grammar is too large, or takes too long.

    Example:
        >>> parse_lark('start: "a"+').rules[-1].body
        OneOrMore(body=RegexTerminal(regex=Literal(data=b'a'), source=None, kind=''))
    """
    return read_lark(text, dialect=dialect, start=start, import_paths=import_paths, limits=limits)[1]


def read_lark(
    text: str,
    *,
    dialect: LarkDialect,
    start: str,
    import_paths: ImportPaths,
    limits: Limits | None,
    bound: Collection[str] = (),
) -> tuple[str, ast.Grammar]:
    """Return the text of a grammar with those of the imported files, and the tree; see `parse_lark`."""
    sources = Sources(text, dialect, import_paths)
    limits = limits or Limits()
    try:
        with Deadline(limits.compile_seconds, memory_bytes=limits.memory_bytes):
            tree = _Reader(sources, dialect, start, limits, bound).grammar()
    except GrammarError as error:
        raise sources.located(error) from None
    return sources.text, tree


def parse_lexed(
    text: str, *, start: str = "start", import_paths: ImportPaths = (), limits: Limits | None = None
) -> LexedGrammar:
    """Return a grammar of the Python toolkit as rules over the terminals of its lexer.

    Args:
        text: the grammar.
        start: the rule that it begins at.
        import_paths: the folders of the files that `%import` reads.
        limits: bounds on the size of the grammar and of each regex, and on the time: `compile_seconds`.

    Raises:
        GrammarError: the text is not a Lark grammar, or uses a construct that is not supported; with line and column.
        LimitExceededError: the grammar is too large, or takes too long.
    """
    sources = Sources(text, "lark", import_paths)
    limits = limits or Limits()
    try:
        with Deadline(limits.compile_seconds, memory_bytes=limits.memory_bytes):
            return _Reader(sources, "lark", start, limits).lexed_grammar()
    except GrammarError as error:
        raise sources.located(error) from None


class _Reader:
    """The state of one `parse_lark`.

    Attributes:
        _definitions: all definitions, by name.
        _terminals: the regexes of the terminals that were read, by name.
        _rules: the rules that were read, by name, with the instances of templates.
        _pending: the rules and instances to read, each with the arguments of its template.
        _passed: the templates that are arguments of templates, by name, each with a token that names it.
        _skip: any number of ignored texts, None if nothing is ignored.
        _lexed: the terminals that rules use, by name, if rules are to refer to terminals; else None.
        _declared: the names of `%declare`.
        _bound: the names that `@name` may refer to.
        _depth: the number of grammars around this one.
        _capturing: the captures of rules, by the rule's name.
    """

    def __init__(
        self,
        sources: Sources,
        dialect: LarkDialect,
        start: str,
        limits: Limits,
        bound: Collection[str] = (),
        depth: int = 0,
    ) -> None:
        self._sources = sources
        self._text = sources.text
        self._start = start
        self._lark = dialect
        self._dialect: Literal["python", "rust"] = "python" if dialect == "lark" else "rust"
        self._limits = limits
        self._definitions: dict[str, Definition] = {}
        self._ignored: list[list[LarkToken]] = []
        self._terminals: dict[str, Terminal] = {}
        self._rules: dict[str, ast.Expression] = {}
        self._instances: dict[tuple[str, tuple[ast.Expression, ...]], str] = {}
        self._arguments = 0
        self._passed: dict[str, LarkToken] = {}
        self._pending: list[tuple[str, Definition, dict[str, ast.Expression]]] = []
        self._skip: ast.Expression | None = None
        self._lexed: dict[str, Terminal] | None = None
        self._declared: dict[str, LarkToken] = {}
        self._bound = bound
        self._depth = depth
        self._capturing: dict[str, ast.Capturing] = {}

    def grammar(self) -> ast.Grammar:
        self._read_items()
        if self._declared:
            try:
                return indented_rules(self._lexed_rules())
            except RecursionError:
                token = next(iter(self._declared.values()))
                hint = "give the inner parts names"
                self.fail(token, f"the rules of a grammar with {token.text} are nested too deeply", hint=hint)
        if self._ignored:
            ignored = rx.choice(*self._ignored_regexes())
            is_once = self._options.get("skip_repetition") == "once"
            self._skip = ast.RegexTerminal(rx.optional(ignored) if is_once else rx.star(ignored))
        self._read_rules()
        rules = tuple(ast.Rule(name, body, capturing=self._capturing.get(name)) for name, body in self._rules.items())
        if self._skip is None or not (self._dialect == "python" or self._options.get("allow_initial_skip")):
            return ast.Grammar(rules, self._start)
        begin = ast.Rule("(start)", ast.Sequence((self._skip, ast.Reference(self._start))))
        return ast.Grammar((begin, *rules), begin.name)

    def lexed_grammar(self) -> LexedGrammar:
        self._read_items()
        return self._lexed_rules()

    def _lexed_rules(self) -> LexedGrammar:
        self._lexed = {}
        for name in self._declared:
            self._lexed[name] = Terminal.of(rx.NOTHING)
            self._lexed[NEWLINE] = self._terminals[NEWLINE]  # even if no rule uses it
        self._read_rules()
        return LexedGrammar(self._lexed, tuple(self._ignored_regexes()), self._rules, self._start)

    def _read_items(self) -> None:
        """Read all statements, and the terminals."""
        self._sources.read()
        self._text = self._sources.text
        items = self._sources.items
        self._definitions, self._ignored, self._declared = items.definitions, items.ignored, items.declared
        self._options = items.options
        for alias, name in self._sources.common.items():
            pattern = COMMON[name] if self._dialect == "python" else COMMON_IN_LLGUIDANCE.get(name, COMMON[name])
            self._terminals[alias] = Terminal.of(parse_regex(pattern, self._dialect, limits=self._limits))
        found = self._definitions.get(self._start)
        if found is None or found.name.kind != "rule":
            fail(self._text, self._sources.begin, f"there is no rule {self._start!r}, where a grammar begins")
        self._read_terminals()
        if self._declared and NEWLINE not in self._terminals:
            token = next(iter(self._declared.values()))
            self.fail(token, f"{token.text!r} needs a terminal {NEWLINE!r}, which ends a line and has its white space")

    def _read_rules(self) -> None:
        for name, definition in self._definitions.items():
            if definition.name.kind == "rule" and not definition.parameters:
                self._pending.append((name, definition, {}))
        while self._pending:
            name, definition, arguments = self._pending.pop()
            body = None if definition.attributes is None else self._attributed(name, definition)
            self._rules[name] = body or read_body(
                self._text, definition.body, _RuleBody(self, arguments), self._limits, self._lark
            )
        if self._passed:
            self._check_templates()
        lazy = [name for name in self._rules if name in self._definitions and _is_lazy(self._definitions[name])]
        if lazy:
            try:
                self._rules = lazy_first(self._rules, lazy)
            except RecursionError:
                token = self._definitions[lazy[0]].name
                self.fail(token, "rules beside a lazy rule are nested too deeply", hint="give the inner parts names")

    def _attributed(self, name: str, definition: Definition) -> ast.Expression | None:
        """Return the body of a rule with attributes; None if it is the one that is written. Keep its captures."""
        body, capturing = attributed(self, definition)
        if capturing is not None and not (capturing.name is None and capturing.suffix_name is None):
            ignored = self._skip.regex if isinstance(self._skip, ast.RegexTerminal) else None
            self._capturing[name] = replace(capturing, ignored=ignored)
        return body

    def _ignored_regexes(self) -> list[rx.Regex]:
        return [self.regex_of(body) for body in self._ignored if body]

    def fail(self, token: LarkToken, message: str, *, hint: str = "") -> NoReturn:
        """Raise a `GrammarError` that points at a token."""
        fail(self._text, token.offset, message, hint=hint)

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
                found = self._terminal_of(definition.body)
                self._terminals[name] = replace(found, priority=definition.priority)
                continue
            if name in open_names:
                self.fail(definition.name, f"the terminal {name!r} is defined by itself", hint="write it as a rule")
            open_names.add(name)
            stack.append((name, True))
            for token in definition.body:
                if token.kind == "terminal" and token.text in self._definitions and token.text not in self._terminals:
                    stack.append((token.text, False))

    def _terminal_of(self, body: list[LarkToken]) -> Terminal:
        return read_body(self._text, body, _TerminalBody(self), self._limits, self._lark)

    def regex_of(self, body: list[LarkToken]) -> rx.Regex:
        """Return the regex of the body of a terminal that must not look at the character after it."""
        terminal = self._terminal_of(body)
        return self.plain(terminal, body[0]).regex if body else terminal.regex

    def plain(self, terminal: Terminal, token: LarkToken) -> Terminal:
        """Return a terminal that must not look at the character after it."""
        if not terminal.is_plain:
            self.fail(token, "a look-ahead sees the character after a part that is repeated, negated or ignored")
        return terminal

    def terminal(self, token: LarkToken) -> Terminal:
        """Return the regex of a terminal's name, a string, a regex or `%regex` data."""
        if token.kind == "terminal":
            if token.text not in self._terminals:
                self.fail(token, f"the terminal {token.text!r} is not defined")
            return self._terminals[token.text]
        if token.kind == "string":
            text, ignores_case = text_of(self._text, token, self._lark)
            if not ignores_case:
                return Terminal.of(rx.Literal(text.encode()))
            return Terminal.of(parse_regex(f"(?i:{re.escape(text)})", self._dialect, limits=self._limits))
        if token.kind == "json" and token.text == "%regex":
            return Terminal.of(self._substrings(token))
        if token.kind != "regex":
            hint = "tokens, grammars and schemas stand in rules, not in terminals"
            self.fail(token, f"{token.text} is not supported in a terminal", hint=hint)
        return self._regex(token)

    def _regex(self, token: LarkToken) -> Terminal:
        end = token.text.rindex("/")
        pattern = pattern_of(self._text, token, token.text[1:end], self._lark)
        flags = token.text[end + 1 :].replace("u", "")
        if set(flags) - set("imsx"):
            self.fail(token, f"the flags {flags!r} are not supported")
        look = first_look(pattern) if self._dialect == "rust" else None
        if look is not None:
            at = LarkToken("", "", token.offset + 1 + look.offset)
            hint = "dialect='lark' reads the grammars of the Python toolkit"
            self.fail(at, f"{look.what!r} is look-around, which llguidance's dialect does not have", hint=hint)
        try:
            return regex_terminal(pattern, flags, self._dialect, self._limits)
        except LookingOut as error:
            at = LarkToken("", "", token.offset + 1 + error.offset)
            self.fail(at, f"{error.what!r} looks outside of the terminal, which is not supported", hint=_SEES_ONE)
        except GrammarError as error:
            reason = str(error).split("\n", 1)[0].removeprefix(f"line {error.line}, column {error.column}: ")
            self.fail(token, f"in this regex: {reason}", hint=error.hint)

    def _substrings(self, token: LarkToken) -> rx.Regex:
        data = token.value
        if isinstance(data, dict) and len(data) == 1:
            ((kind, value),) = data.items()
            if kind == "substring_chunks" and isinstance(value, list) and all(isinstance(c, str) for c in value):
                check_is_text(self._text, token, "".join(value))
                return rx.Substrings(tuple(chunk.encode() for chunk in value))
            if kind in ("substring_chars", "substring_words") and isinstance(value, str):
                check_is_text(self._text, token, value)
                units = words_of(value) if kind == "substring_words" else list(value)
                return rx.Substrings(tuple(unit.encode() for unit in units))
        hint = "substring_chunks (a list of texts), substring_words and substring_chars (texts) are"
        return self.fail(token, "this %regex is not supported", hint=hint)

    # -- rules --------------------------------------------------------------------------------------------------------

    def lexeme(self, token: LarkToken) -> ast.Expression:
        """Return a terminal of a rule, followed by any number of ignored texts."""
        if self._lexed is not None:
            if token.text in self._declared:
                return ast.Reference(token.text)
            terminal = self.terminal(token)
            name = token.text if terminal.text is None else repr(terminal.text.decode())
            self._lexed[name] = terminal
            return ast.Reference(name)
        return self.skipping(self.terminal(token).expression())

    def named_token(self, token: LarkToken) -> ast.Expression:
        """Return a token terminal `<…>`, followed by any number of ignored texts."""
        if self._lark == "lark":
            self.fail(token, f"{token.text} is not supported", hint="llguidance's dialect has tokens")
        found = ast.Token((token.text,), source=self._text, offset=token.offset)
        if token.text.startswith("<[") and token.text.endswith("]>"):
            end = token.offset + len(token.text) - len("]>")
            found = token_set(self._text, token.offset, token.offset + len("<["), end, None)
        return self.skipping(found)

    def grammar_of(self, token: LarkToken, temperature: float | None = None) -> ast.Expression:
        """Return the texts of an `@name`, a `%json` or a `%lark`, followed by any number of ignored texts."""
        if self._lark == "lark":
            self.fail(token, f"{token.text} is not supported", hint="llguidance's dialect has grammars in grammars")
        if token.kind == "json":
            return self.skipping(json_hole(self._text, token.offset, json.dumps(token.value), temperature))
        if token.kind == "nested":
            return self.skipping(ast.Hole("lark", self._nested(token), temperature))
        name = token.text[1:]
        if name not in self._bound:
            known = ", ".join(map(repr, self._bound))
            hint = f"these are bound: {known}" if known else "bind={…} maps names to schemas and grammars"
            self.fail(token, f"nothing is bound to {token.text}", hint=hint)
        return self.skipping(ast.Hole(name, name, temperature))

    def _nested(self, token: LarkToken) -> ast.Grammar:
        """Return the grammar in the braces of a `%lark`. It has names of its own."""
        if self._depth >= _MAX_NESTED:
            self.fail(token, f"more than {_MAX_NESTED} grammars are within one another")
        begin, end = token.value
        sources = Sources(self._text, self._lark, (), begin=begin, end=end)
        return _Reader(sources, self._lark, "start", self._limits, self._bound, self._depth + 1).grammar()

    def skipping(self, found: ast.Expression) -> ast.Expression:
        """Return an expression followed by any number of ignored texts."""
        return found if self._skip is None else ast.Sequence((found, self._skip))

    def lexeme_of(self, regex: rx.Regex) -> ast.Expression:
        """Return a regex of a rule, followed by any number of ignored texts."""
        if self._lexed is not None:
            name = repr(regex)
            self._lexed[name] = Terminal.of(regex)
            return ast.Reference(name)
        return self.skipping(ast.RegexTerminal(regex))

    def rule(self, token: LarkToken, arguments: tuple[ast.Expression, ...]) -> ast.Expression:
        """Return a reference to a rule, or to the instance of a template with its arguments."""
        definition = self._definitions.get(token.text)
        if definition is None:
            self.fail(token, f"the rule {token.text!r} is not defined")
        if definition.parameters and not arguments and self._lark == "lark":
            self._passed.setdefault(token.text, token)
            return ast.Reference(token.text)  # an argument of another template
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

    def applied(
        self, token: LarkToken, template: ast.Expression, arguments: tuple[ast.Expression, ...]
    ) -> ast.Expression:
        """Return the instance of a template that was passed to another one.

        Args:
            token: the parameter's name.
            template: the argument.
            arguments: those that the parameter is applied to.
        """
        if not isinstance(template, ast.Reference) or not self._is_template(template.name):
            self.fail(token, f"{token.text!r} is applied to arguments, but stands for no template")
        return self.rule(token._replace(text=template.name), arguments)

    def _is_template(self, name: str) -> bool:
        return name in self._definitions and bool(self._definitions[name].parameters)

    def _check_templates(self) -> None:
        """Refuse templates that stand in a rule without arguments."""
        for body in self._rules.values():
            for node in nodes_of(body):
                if isinstance(node, ast.Reference) and self._is_template(node.name):
                    count = len(self._definitions[node.name].parameters)
                    self.fail(self._passed[node.name], f"{node.name!r} takes {count} arguments, not 0")

    def _argument(self, expression: ast.Expression) -> ast.Expression:
        """Return a template's argument as a name, so that templates of templates do not make ever larger bodies."""
        if isinstance(expression, ast.Reference):
            return expression
        self._arguments += 1
        name = f"{{{self._arguments}}}"
        self._rules[name] = expression
        return ast.Reference(name)


def _is_lazy(definition: Definition) -> bool:
    attributes = definition.attributes
    return attributes is not None and (attributes.is_lazy or bool(attributes.suffix))


class _RuleBody(Body[ast.Expression]):
    """The builder of rules' bodies."""

    def __init__(self, reader: _Reader, arguments: dict[str, ast.Expression]) -> None:
        self._reader = reader
        self._arguments = arguments

    def atom(self, token: LarkToken, arguments: tuple[ast.Expression, ...]) -> ast.Expression:
        if token.kind == "rule":
            given = self._arguments.get(token.text)
            if given is None:
                return self._reader.rule(token, arguments)
            return self._reader.applied(token, given, arguments) if arguments else given
        if token.kind == "special" and token.text.startswith("<"):
            return self._reader.named_token(token)
        if token.text == "%json" or token.kind == "nested" or token.text.startswith("@"):
            return self._reader.grammar_of(token)
        return self._reader.lexeme(token)

    def range(self, regex: rx.Regex) -> ast.Expression:
        return self._reader.lexeme_of(regex)

    def sequence(self, parts: list[ast.Expression]) -> ast.Expression:
        return sequence(parts)

    def choice(self, parts: list[ast.Expression]) -> ast.Expression:
        return ast.Choice(tuple(parts))

    def repeat(self, body: ast.Expression, least: int, most: int | None, token: LarkToken) -> ast.Expression:
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


class _TerminalBody(Body[Terminal]):
    """The builder of terminals' bodies."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader

    def atom(self, token: LarkToken, arguments: tuple[Terminal, ...]) -> Terminal:
        if token.kind == "rule":
            self._reader.fail(token, f"a terminal cannot use the rule {token.text!r}")
        return self._reader.terminal(token)

    def range(self, regex: rx.Regex) -> Terminal:
        return Terminal.of(regex)

    def sequence(self, parts: list[Terminal]) -> Terminal:
        return Terminal.sequence(parts)

    def choice(self, parts: list[Terminal]) -> Terminal:
        return Terminal.any_of(parts)

    def repeat(self, body: Terminal, least: int, most: int | None, token: LarkToken) -> Terminal:
        if (least, most) == (0, 1):
            return Terminal.any_of([Terminal.of(rx.EMPTY), body])
        return self._reader.plain(body, token).mapped(lambda regex: rx.repeat(regex, least, most))

    def both(self, parts: list[Terminal], token: LarkToken) -> Terminal:
        regexes = [self._reader.plain(part, token).regex for part in parts]
        return Terminal.of(rx.intersection(*regexes))

    def complement(self, body: Terminal, token: LarkToken) -> Terminal:
        # In llguidance `~x` also matches bytes that are not UTF-8; here it matches texts only.
        return Terminal.of(rx.difference(rx.star(rx.ANY_CHAR), self._reader.plain(body, token).regex))
