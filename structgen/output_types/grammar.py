"""Grammars that are not JSON Schemas, as values that `compile` and `generate` take."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from structgen.errors import GrammarError
from structgen.limits import Limits

if TYPE_CHECKING:
    from structgen.kbnf import ast
    from structgen.kbnf.reading.lark import LarkDialect
    from structgen.schema.reading.substrings import Unit

__all__ = ["Grammar"]


_SHOWN = 60


def _as_written(text: str) -> Any:
    return text


@dataclass(frozen=True, slots=True)
class Grammar:
    """A language of texts, by a KBNF grammar, a regex or texts. What is generated under it is the text itself, or what
    a choice says that it stands for.

    Made by `Grammar.kbnf`, `gbnf`, `lark`, `language`, `regex`, `choice` and `substring`, which check what they are
    given at once. Those made of the same are equal.

    Attributes:
        kind: "kbnf", "gbnf", "lark" (of the Python toolkit), "llguidance" (its Lark), "regex", "choice" or "substring".
        source: the text it was made of.
        eager: whether the text ends at the first token after which it can.
        tree: the KBNF syntax tree.
        parse: from a whole text to its value.
    """

    kind: str
    source: str
    eager: bool
    tree: ast.Grammar = field(compare=False, repr=False)
    parse: Callable[[str], Any] = field(default=_as_written, hash=False, repr=False)

    @classmethod
    def kbnf(cls, text: str, *, eager: bool = True, limits: Limits | None = None) -> Grammar:
        """A grammar in KBNF; it begins at the rule `start`.

        Args:
            text: the grammar, for instance `start ::= "yes" | "no";`.
            eager: end at the first token after which the text can end, as KBNF means it; with False the model
                decides between ending and going on.
            limits: bounds on its size.

        Raises:
            GrammarError: it does not parse, or makes no sense; with line and column.
            LimitExceededError: it is larger than `limits` allow.

        Example:
            >>> Grammar.kbnf('start ::= "yes" | "no";').kind
            'kbnf'
        """
        # The parser is imported where it is needed, so that `import structgen` stays quick.
        from structgen.kbnf.reading.kbnf import parse
        from structgen.kbnf.validation import validate

        tree = parse(text, limits=limits)
        validate(tree)
        return cls("kbnf", text, eager, tree)

    @classmethod
    def gbnf(cls, text: str, *, limits: Limits | None = None) -> Grammar:
        """A grammar of llama.cpp; it begins at the rule `root`. The model decides between ending and going on.

        Args:
            text: the grammar, for instance `root ::= "yes" | "no"`.
            limits: bounds on its size.

        Raises:
            GrammarError: it does not parse, makes no sense, or speaks of tokens (`<[1000]>`, `<think>`); with line and
                column.
            LimitExceededError: it is larger than `limits` allow.

        Example:
            >>> Grammar.gbnf('root ::= [a-z]{1,8} ("-" [0-9]+)?').kind
            'gbnf'
        """
        from structgen.kbnf.reading.gbnf import parse_gbnf

        return cls("gbnf", text, False, parse_gbnf(text, limits=limits))

    @classmethod
    def lark(cls, text: str, *, dialect: LarkDialect = "llguidance", limits: Limits | None = None) -> Grammar:
        r"""A grammar in Lark's syntax; it begins at the rule `start`. The model decides between ending and going on.

        A text belongs to it if it can be divided into terminals as the rules say, in any way: no lexer takes the
        longest one. Texts of `%ignore` may stand behind each terminal. docs/other-engines.md tells what is read, and
        what refused.

        Args:
            text: the grammar.
            dialect: "llguidance": regexes are in Rust's syntax. "lark": the Python toolkit's; they are in Python's.
            limits: bounds on its size.

        Raises:
            GrammarError: it does not parse, makes no sense, or has what is not context-free; with line and column.
            LimitExceededError: it is larger than `limits` allow.

        Example:
            >>> Grammar.lark('start: NAME ("," NAME)*\nNAME: /[a-z]+/').kind
            'llguidance'
        """
        from structgen.kbnf.reading.lark import parse_lark

        tree = parse_lark(text, dialect=dialect, limits=limits)
        return cls(dialect, text, False, tree)

    @classmethod
    def language(cls, name: str) -> Grammar:
        """The grammar of a programming language; what it leaves out of the language is told at its beginning.

        Args:
            name: "c", "go", "java", "javascript", "json", "python" or "sql".

        Raises:
            GrammarError: there is no grammar of it.

        Example:
            >>> Grammar.language("json").eager
            False
        """
        from structgen.languages import language_source

        return cls.kbnf(language_source(name), eager=False)

    @classmethod
    def regex(cls, pattern: str, *, limits: Limits | None = None) -> Grammar:
        r"""All texts that a regex matches as a whole, in Python's syntax.

        Args:
            pattern: the regex, without flags. As in Python, `\d` and `\w` are all of Unicode's digits and letters: a
                model may well answer with Thai ones. Write `[0-9]` where these are meant.
            limits: bounds on its size.

        Raises:
            GrammarError: it does not parse, or needs more than automata can do (back-references …).
            LimitExceededError: it is larger than `limits` allow.

        Example:
            >>> Grammar.regex("[0-9]{3}-[0-9]{4}").kind
            'regex'
        """
        from structgen.engine.regex_syntax.parser import parse_regex
        from structgen.kbnf import ast

        regex = parse_regex(pattern, "python", limits=limits or Limits())
        return cls("regex", pattern, False, ast.Grammar.of_regex(regex))

    @classmethod
    def choice(cls, options: Iterable[str] | Mapping[str, Any] | type[Enum]) -> Grammar:
        """One of some texts, however many; the model decides between one and a longer one that begins with it.

        Args:
            options: the texts, which are the values; or what each stands for, as a mapping. An `Enum` of strings gives
                its members.

        Raises:
            GrammarError: there are none; or one is no text, or half a surrogate pair.

        Example:
            >>> Grammar.choice(["left", "right"]).parse("left")
            'left'
            >>> Grammar.choice({"yes": True, "no": False}).parse("no")
            False
        """
        from structgen.engine.regex.tree import literal_set
        from structgen.kbnf import ast

        values = _values(options)
        if not values:
            raise GrammarError("a choice of no texts")
        try:
            regex = literal_set(text.encode() for text in values)
        except UnicodeEncodeError as error:
            raise GrammarError(f"half a surrogate pair cannot be written: {error.object!r}") from error
        tree = ast.Grammar.of_regex(regex)
        # As JSON: whatever stands in the texts, no two choices are written alike.
        return cls("choice", json.dumps(sorted(values)), False, tree, _Chosen(values))

    @classmethod
    def substring(cls, text: str, *, unit: Unit = "character", max_length: int | None = None) -> Grammar:
        """A piece of a text, never empty: what is quoted cannot be invented. `SubstringOf` is the same for a field of a
        model.

        Args:
            text: the source.
            unit: "character": any run of code points. "word": whole words only.
            max_length: how many code points the piece may have.

        Raises:
            SchemaError: there is nothing in the text, or an unknown unit.
            GrammarError: no piece is short enough.

        Example:
            >>> Grammar.substring("The cat sat.", unit="word").kind
            'substring'
        """
        from structgen.engine.regex import tree as rx
        from structgen.kbnf import ast
        from structgen.schema.reading.substrings import read_keyword, shortest_unit, substring_regex, units_of

        read_keyword({"text": text, "unit": unit})
        units = units_of(text, unit)
        regex = substring_regex(units, unit)
        if max_length is not None:
            if max_length < shortest_unit(units, unit):
                raise GrammarError(f"no {unit} of the text has at most {max_length} characters")
            regex = rx.intersection(regex, rx.repeat(rx.ANY_CHAR, 1, max_length))
        tree = ast.Grammar.of_regex(regex)
        return cls("substring", json.dumps([text, unit, max_length]), False, tree)

    def spell(self, value: Any) -> str:
        """A text of a value; `parse` reads it. A text stands for itself.

        Raises:
            ValueError: the value is no text, or of a choice none of what its texts stand for.

        Example:
            >>> Grammar.choice({"yes": True, "no": False}).spell(True)
            'yes'
        """
        if isinstance(self.parse, _Chosen):
            return self.parse.text_of(value)
        if isinstance(value, str):
            return value
        raise ValueError(f"the texts of a grammar are texts, and {value!r} is none")

    def __repr__(self) -> str:
        name = "lark" if self.kind == "llguidance" else self.kind
        given = json.loads(self.source) if self.kind in ("choice", "substring") else self.source
        shown = repr(given[0] if self.kind == "substring" else given)
        cut = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
        return f"Grammar.{name}({cut}{', eager=False' if self.kind == 'kbnf' and not self.eager else ''})"


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Reads the texts of a choice."""

    values: dict[str, Any]

    def __call__(self, text: str) -> Any:
        if text not in self.values:
            raise ValueError(f"{text!r} is none of the choices")
        return self.values[text]

    def text_of(self, value: Any) -> str:
        """A text that stands for a value, or which the value is."""
        if isinstance(value, str) and value in self.values:
            return value
        for text, known in self.values.items():
            if type(known) is type(value) and known == value:  # True is not 1 here
                return text
        raise ValueError(f"{value!r} is none of the choices, nor what one stands for")


def _values(options: Iterable[str] | Mapping[str, Any] | type[Enum]) -> dict[str, Any]:
    """What each of the texts of a choice stands for."""
    if isinstance(options, str):
        raise GrammarError("a choice is among several texts, not one", hint=f"write [{options!r}]")
    values: dict[str, Any]
    if isinstance(options, type) and issubclass(options, Enum):
        values = {member.value: member for member in options}
    else:
        values = dict(options) if isinstance(options, Mapping) else {text: text for text in options}
    for text in values:
        if not isinstance(text, str):
            raise GrammarError(f"{text!r} is no text", hint="give a mapping from texts to what they stand for")
    return values
