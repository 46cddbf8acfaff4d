"""Grammars that are not JSON Schemas, as values that `compile` and `generate` take; and schemas as KBNF text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

from structgen.limits import Limits

if TYPE_CHECKING:
    from structgen.kbnf import ast
    from structgen.schema.options import SchemaArguments

__all__ = ["Grammar", "to_kbnf"]


@dataclass(frozen=True, slots=True)
class Grammar:
    """A language of texts, by a KBNF grammar or a regex. What is generated under it is the text itself.

    Made by `Grammar.kbnf` and `Grammar.regex`, which check the syntax at once.

    Attributes:
        kind: "kbnf" or "regex".
        source: the text it was made of.
        eager: whether the text ends at the first token after which it can.
        tree: the KBNF syntax tree.
    """

    kind: str
    source: str
    eager: bool
    tree: ast.Grammar = field(compare=False, repr=False)

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
        from structgen.kbnf.parser import parse
        from structgen.kbnf.validation import validate

        tree = parse(text, limits=limits)
        validate(tree)
        return cls("kbnf", text, eager, tree)

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
        from structgen.engine.regex_parser import parse_regex
        from structgen.kbnf import ast

        regex = parse_regex(pattern, "python", limits=limits or Limits())
        return cls("regex", pattern, False, ast.Grammar((ast.Rule("start", ast.RegexTerminal(regex)),)))

    def __repr__(self) -> str:
        return f"Grammar.{self.kind}({self.source!r})"


def to_kbnf(schema: Any, *, end: str = "", limits: Limits | None = None, **options: Unpack[SchemaArguments]) -> str:
    r"""Writes a schema or a type as KBNF text, for engines that read it.

    The published `kbnf` engine accepts the text with the same language, up to one thing: it ends *eagerly*, at the
    first token after which the text can end, so that of the integers it gives only those of one token. A caller
    closes that gap by making the end visible: `end="\\n"`, which cannot belong to a value, has to follow it; cut it off
    the output.

    Args:
        schema: a Pydantic model, a type, or a JSON Schema.
        end: what has to follow the value.
        limits: bounds on the schema's size.
        options: see `structgen.schema.options.SchemaArguments`: `whitespace`, `property_order`, `formats`, `draft`,
            `lenient`, `registry`.

    Raises:
        SchemaError: the schema cannot be used; with its JSON pointer.

    Example:
        >>> to_kbnf({"const": 1}).startswith("start ::=")
        True
    """
    from structgen.kbnf import ast
    from structgen.kbnf.printer import print_grammar
    from structgen.schema import schema_to_kbnf

    limits = limits or Limits()
    grammar = schema_to_kbnf(schema, start="value" if end else "start", limits=limits, **options)
    if end:
        whole = ast.Sequence((ast.Reference(grammar.start), ast.Literal(end.encode())))
        grammar = ast.Grammar((ast.Rule("start", whole), *grammar.rules))
    return print_grammar(grammar, limits=limits)
