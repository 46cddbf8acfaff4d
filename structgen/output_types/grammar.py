"""`Grammar`: a grammar, a regex or a choice of texts, as an argument of `compile` and `generate`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from structgen.errors import GrammarError
from structgen.limits import Limits
from structgen.output_types.choices import Chosen, values_of
from structgen.output_types.grammar_fields import OF_OTHERS, identity_of, source_of_parts
from structgen.output_types.type_variables import TextValue

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema
    from typing_extensions import TypeForm

    from structgen.engine.vocabulary.vocabulary import Vocabulary
    from structgen.kbnf import ast
    from structgen.kbnf.reading.lark import ImportPaths
    from structgen.kbnf.reading.lark_lexer import LarkDialect
    from structgen.output_types.bound_schemas import BoundSchema
    from structgen.output_types.tool_formats.building import Mode
    from structgen.output_types.yaml import Yaml
    from structgen.schema.reading.substrings import Unit

__all__ = ["Grammar"]

W = TypeVar("W")
E = TypeVar("E", bound=Enum)


_MAX_SHOWN = 60  # characters of the source in a repr


def _as_written(text: str) -> Any:
    return text


@dataclass(frozen=True, slots=True)
class Grammar(Generic[TextValue]):
    """A set of texts, defined by a grammar, a regex or a list. `Grammar[str]` is one whose values are texts.

    Make one with `Grammar.kbnf`, `gbnf`, `lark`, `language`, `regex`, `choice` or `substring`; they check their input
    at once. Make one of others with `+`, `|`, `concat`, `union`, `optional`, `repeat` and `named`. The generated value
    is the text itself; for a choice with values it is the value of the text. Grammars made from the same input are
    equal.

    Attributes:
        kind: "kbnf", "gbnf", "lark" (the Python toolkit), "llguidance" (its Lark), "regex", "choice", "substring" or
            "structural_tag"; of grammars made of others, "concat", "union", "repeat" or "named".
        source: the text that the grammar was made from; for Lark, with the imported files.
        eager: end the text at the first token after which it may end.
        tree: the KBNF syntax tree.
        parse: maps a whole text to its value.
        start: for KBNF and Lark, the rule that a text begins at.
        bound: the schemas in the grammar.
    """

    kind: str
    source: str
    eager: bool
    tree: ast.Grammar = field(compare=False, repr=False)
    parse: Callable[[str], TextValue] = field(default=_as_written, hash=False, repr=False)
    start: str = "start"
    bound: tuple[BoundSchema, ...] = field(default=(), repr=False)

    @classmethod
    def kbnf(
        cls,
        text: str,
        *,
        start: str | None = None,
        eager: bool = True,
        bind: Mapping[str, Any] | None = None,
        limits: Limits | None = None,
    ) -> Grammar:
        """Make a grammar from KBNF text. docs/kbnf.md shows the notation.

        Args:
            text: the grammar, for instance `start ::= "yes" | "no";`.
            start: the rule that a text begins at. By default it is `start`; without a rule of that name, it is the only
                rule that no other rule uses.
            eager: end the text at the first token after which it may end, as KBNF defines it. With False, the
                model chooses between ending and going on.
            bind: schemas in the grammar: what each nonterminal that no rule defines stands for. It is anything that
                `structgen.compile` accepts: a type, a JSON Schema, another grammar. The options of `compile` hold for
                these schemas.
            limits: bounds on its size.

        Raises:
            GrammarError: the text does not parse; with line and column. Or a rule is not defined, or several rules
                could be the start; or a rule defines a bound nonterminal, or none uses it.
            LimitExceededError: the grammar is larger than `limits` allow.

        Example:
            >>> Grammar.kbnf('answer ::= "yes" | "no";').start
            'answer'
            >>> Grammar.kbnf('start ::= "<age>" age "</age>";', bind={"age": {"type": "integer"}}).bound[0].name
            'age'
        """
        # The parser is imported where it is needed, so that `import structgen` stays quick.
        from structgen.kbnf.holes import with_holes
        from structgen.kbnf.reading.kbnf import parse
        from structgen.kbnf.validation import find_start, validate
        from structgen.output_types.bound_schemas import bound_schemas, with_written_schemas

        tree = parse(text, limits=limits)
        tree = replace(tree, start=find_start(tree) if start is None else start)
        bound = bound_schemas(bind or {})
        if bound:
            tree = with_holes(tree, bound)
        tree, written = with_written_schemas(tree) if "#json" in text else (tree, ())
        validate(tree)
        return Grammar("kbnf", text, eager, tree, start=tree.start, bound=(*bound.values(), *written))

    @classmethod
    def gbnf(cls, text: str, *, limits: Limits | None = None) -> Grammar:
        """Make a grammar from GBNF text, as llama.cpp reads it. Its first rule is `root`.

        Where the text may end, the model chooses between ending and going on. `<[1000]>` and `<think>` are single
        tokens, `!<think>` is any other one.

        Args:
            text: the grammar, for instance `root ::= "yes" | "no"`.
            limits: bounds on its size.

        Raises:
            GrammarError: the text does not parse, or a rule is not defined; with line and column.
            LimitExceededError: the grammar is larger than `limits` allow.

        Example:
            >>> Grammar.gbnf('root ::= [a-z]{1,8} ("-" [0-9]+)?').kind
            'gbnf'
        """
        from structgen.kbnf.reading.gbnf import parse_gbnf

        return Grammar("gbnf", text, False, parse_gbnf(text, limits=limits))

    @classmethod
    def lark(
        cls,
        text: str,
        *,
        dialect: LarkDialect = "llguidance",
        start: str = "start",
        import_paths: ImportPaths = (),
        bind: Mapping[str, Any] | None = None,
        limits: Limits | None = None,
    ) -> Grammar:
        r"""Make a grammar from Lark text.

        Where the text may end, the model chooses between ending and going on. A text belongs to the grammar if some
        division into terminals fits the rules. Texts of `%ignore` may follow each terminal. docs/other-engines.md lists
        what is read and what is refused, docs/lark.md shows llguidance's captures, lazy rules and nested grammars.

        A grammar of the Python toolkit with `%declare _INDENT _DEDENT` is read as Lark's `PythonIndenter` and its lexer
        read it: a keyword is not the beginning of a longer name, and blocks are indented.

        Args:
            text: the grammar.
            dialect: "llguidance", with regexes in Rust's syntax; or "lark", the Python toolkit, with Python's regexes.
            start: the rule where a text begins.
            import_paths: the folders of the files that `%import` names: `%import .numbers.INT` reads `numbers.lark` in
                one of them. Without folders, only `common` can be imported.
            bind: what each `@name` in it stands for, as in `Grammar.kbnf`.
            limits: bounds on its size.

        Raises:
            GrammarError: the text does not parse, a rule is not defined, or a construct is not context-free; with
                line and column. Or an imported file is missing, or a name of `bind` is not used.
            LimitExceededError: the grammar is larger than `limits` allow.
            ValueError: there is no such dialect.

        Example:
            >>> Grammar.lark('start: NAME ("," NAME)*\nNAME: /[a-z]+/').kind
            'llguidance'
            >>> Grammar.lark('start: "<age>" @age "</age>"', bind={"age": {"type": "integer"}}).bound[0].name
            'age'
        """
        from structgen.output_types.lark_grammars import read_lark_grammar

        def make(source: str, tree: ast.Grammar, bound: tuple[BoundSchema, ...]) -> Grammar:
            return Grammar(dialect, source, False, tree, start=tree.start, bound=bound)

        source, tree, bound = read_lark_grammar(text, dialect, start, import_paths, bind or {}, limits, make)
        return Grammar(dialect, source, False, tree, start=start, bound=bound)

    @classmethod
    def language(cls, name: str) -> Grammar:
        """Return the grammar of a programming language. A comment at its top lists what it leaves out.

        Args:
            name: "c", "go", "java", "javascript", "json", "python" or "sql".

        Raises:
            GrammarError: there is no grammar of that name.

        Example:
            >>> Grammar.language("json").eager
            False
        """
        from structgen.languages import language_source

        return cls.kbnf(language_source(name), eager=False)

    @classmethod
    def regex(cls, pattern: str, *, limits: Limits | None = None) -> Grammar:
        r"""Make a grammar of all texts that match a regex as a whole.

        Args:
            pattern: the regex in Python's syntax, without flags. As in Python, `\d` and `\w` are all digits and
                letters of Unicode: a model may answer with Thai digits. Write `[0-9]` for ASCII digits.
            limits: bounds on its size.

        Raises:
            GrammarError: the regex does not parse, or is not regular (back-references).
            LimitExceededError: the grammar is larger than `limits` allow.

        Example:
            >>> Grammar.regex("[0-9]{3}-[0-9]{4}").kind
            'regex'
        """
        from structgen.engine.automata.first_states import check_look_ahead
        from structgen.engine.regex_syntax.parser import parse_regex
        from structgen.kbnf import ast

        limits = limits or Limits()
        regex = parse_regex(pattern, "python", limits=limits)
        check_look_ahead(pattern, regex, limits)
        return Grammar("regex", pattern, False, ast.Grammar.of_regex(regex))

    @overload
    @classmethod
    def choice(cls, options: type[E]) -> Grammar[E]: ...  # type: ignore[overload-overlap]
    @overload
    @classmethod
    def choice(cls, options: Mapping[str, W]) -> Grammar[W]: ...  # type: ignore[overload-overlap]
    @overload
    @classmethod
    def choice(cls, options: Iterable[str]) -> Grammar[str]: ...
    @classmethod
    def choice(cls, options: Iterable[str] | Mapping[str, Any] | type[Enum]) -> Grammar[Any]:
        """Make a grammar of a list of texts, of any length.

        Where one text is the beginning of another, the model chooses between them.

        Args:
            options: the texts, which are also the values; a mapping from texts to values; or an `Enum` of strings,
                whose members are the values.

        Raises:
            GrammarError: there are no texts, one is not a string, or one holds a lone surrogate.

        Example:
            >>> Grammar.choice(["left", "right"]).parse("left")
            'left'
            >>> Grammar.choice({"yes": True, "no": False}).parse("no")
            False
        """
        from structgen.engine.regex.tree import literal_set
        from structgen.kbnf import ast

        values = values_of(options)
        if not values:
            raise GrammarError("a choice needs at least one text")
        try:
            regex = literal_set(text.encode() for text in values)
        except UnicodeEncodeError as error:
            raise GrammarError(f"a lone surrogate cannot be written: {error.object!r}") from error
        tree = ast.Grammar.of_regex(regex)
        # JSON keeps two choices apart, whatever characters their texts hold.
        return Grammar("choice", json.dumps(sorted(values)), False, tree, Chosen(values))

    @classmethod
    def substring(cls, text: str, *, unit: Unit = "character", max_length: int | None = None) -> Grammar:
        """Make a grammar of the pieces of a text, so that a quote cannot be invented. A piece is never empty.

        `SubstringOf` is the same for a field of a Pydantic model.

        Args:
            text: the source.
            unit: "character": any run of code points. "word": whole words only.
            max_length: the largest number of code points in the piece.

        Raises:
            SchemaError: the text is empty, or the unit is unknown.
            GrammarError: no piece is as short as `max_length`.
            TypeError: `max_length` is no integer.

        Example:
            >>> Grammar.substring("The cat sat.", unit="word").kind
            'substring'
        """
        from structgen.schema.reading.substrings import substring_grammar

        tree = substring_grammar(text, unit, max_length)
        return Grammar("substring", json.dumps([text, unit, max_length]), False, tree)

    @classmethod
    def structural_tag(cls, tag: Mapping[str, Any] | str, *, vocabulary: Vocabulary | None = None) -> Grammar:
        """Make a grammar from a structural tag, in the JSON form that xgrammar and vLLM define.

        docs/structural-tags.md lists its types, and the differences to xgrammar. Every schema in it is exact. The value
        is the text.

        Args:
            tag: `{"type": "structural_tag", "format": {…}}`, as a dict or as JSON text; or the older form with
                `structures` and `triggers`.
            vocabulary: the tokens of the model. Marks that are special tokens without text, as `<|channel|>` is one for
                gpt-oss, then stand for these tokens; otherwise marks are texts.

        Raises:
            GrammarError: it is wrong; the message names the location as a JSON pointer.

        Example:
            >>> tag = {"begin": "<a>", "content": {"type": "any_text"}, "end": "</a>", "type": "tag"}
            >>> Grammar.structural_tag({"type": "structural_tag", "format": tag}).kind
            'structural_tag'
        """
        from structgen.kbnf.tokens import has_tokens
        from structgen.output_types.structural_tags.reading import read_structural_tag, source_of

        special = [] if vocabulary is None else vocabulary.tokens_without_text()
        tree, bound = read_structural_tag(tag, lambda text, part: Grammar("structural_tag", text, False, part), special)
        source = tag if isinstance(tag, str) else source_of(tag)
        if has_tokens(tree):
            source = json.dumps([source, special])
        return Grammar("structural_tag", source, False, tree, bound=bound)

    @classmethod
    def tool_calls(
        cls,
        tools: Iterable[Any],
        format: str,
        *,
        tool_choice: str | dict[str, Any] = "auto",
        reasoning: Mode = "disabled",
        parallel: bool = True,
        vocabulary: Vocabulary | None = None,
    ) -> Grammar:
        r"""Make the grammar of an answer with tool calls, in the format that a model family was trained on.

        `structgen.call` also finds the format, shows the tools to the model, and reads the calls.

        Args:
            tools: functions, Pydantic models, or tools as OpenAI or MCP has them.
            format: the name of the format; docs/structural-tags.md lists them.
            tool_choice: "auto": text and any number of calls. "required": at least one call. "none": text. The name of
                a tool: a call of this tool.
            reasoning: "enabled": the text begins with the model's reasoning. "auto": it may. "disabled": it does not.
                "outside": reasoning is no part of the text, as in `structgen.call`.
            parallel: whether there may be several calls.
            vocabulary: the tokens of the model; see `structural_tag`.

        Raises:
            GrammarError: the format or the tool choice is unknown, or there are no tools to choose from.
            FunctionDefinitionError: a tool cannot be used, or two have one name.

        Example:
            >>> def weather(city: str) -> str:
            ...     "The weather in a city."
            >>> calls = Grammar.tool_calls([weather], "qwen_3")
            >>> text = '<tool_call>\n{"name": "weather", "arguments": {"city": "Lyon"}}\n</tool_call>'
            >>> structgen.check(calls, text).fits
            True
        """
        from structgen.output_types.tool_formats.building import structural_tag_of
        from structgen.output_types.tool_formats.tools import read_tools

        tag = structural_tag_of(read_tools(tools), format, tool_choice, reasoning, parallel)
        return cls.structural_tag(tag, vocabulary=vocabulary)

    @overload
    @classmethod
    def yaml(cls, schema: TypeForm[W]) -> Yaml[W]: ...
    @overload
    @classmethod
    def yaml(cls, schema: Any) -> Yaml: ...
    @classmethod
    def yaml(cls, schema: Any) -> Yaml:
        """Ask for a value of a schema as a text in block-style YAML. The value is read and validated as from JSON.

        The result is not a `Grammar`, but is accepted wherever one is. `format="yaml"` asks for the same.

        Args:
            schema: a Pydantic model or any type that Pydantic knows, or a JSON Schema as a dict.

        Example:
            >>> Grammar.yaml({"type": "integer"})
            Yaml(schema={'type': 'integer'})
        """
        from structgen.output_types.yaml import Yaml

        return Yaml(schema)

    # -- made of others -----------------------------------------------------------------------------------------------

    @classmethod
    def concat(cls, *parts: Grammar[Any] | str) -> Grammar:
        """Make a grammar of a text of each part, one after the other. `left + right` does the same.

        Of all grammars that are made of others the values are texts, and a text may end or go on where both are
        possible, also where a part is KBNF.

        Args:
            parts: grammars, and texts that stand for themselves; at least one.

        Raises:
            GrammarError: a text holds a lone surrogate.
            TypeError: a part is neither a grammar nor a text.

        Example:
            >>> Grammar.concat("id-", Grammar.regex("[0-9]+"))
            Grammar.concat('id-', Grammar.regex('[0-9]+'))
        """
        from structgen.kbnf.composition import concatenation

        return cls._of_parts("concat", parts, concatenation)

    @classmethod
    def union(cls, *parts: Grammar[Any] | str) -> Grammar:
        """Make a grammar of the texts of all parts: a text is one of any of them. `left | right` does the same.

        Args:
            parts: grammars, and texts that stand for themselves; at least one.

        Raises:
            GrammarError: a text holds a lone surrogate.
            TypeError: a part is neither a grammar nor a text.

        Example:
            >>> Grammar.regex("[0-9]+") | "none"
            Grammar.union(Grammar.regex('[0-9]+'), 'none')
        """
        from structgen.kbnf.composition import union

        return cls._of_parts("union", parts, union)

    @classmethod
    def _of_parts(
        cls, kind: str, parts: tuple[Grammar[Any] | str, ...], combine: Callable[[list[ast.Grammar]], ast.Grammar]
    ) -> Grammar:
        from structgen.kbnf.composition import of_text

        if not parts:
            raise TypeError(f"{kind} needs at least one grammar")
        trees = [of_text(part) if isinstance(part, str) else _grammar(part).tree for part in parts]
        bound = tuple([schema for part in parts if isinstance(part, Grammar) for schema in part.bound])
        return Grammar(kind, source_of_parts(parts), False, combine(trees), bound=bound)

    def optional(self) -> Grammar:
        """Make a grammar of the same texts and the empty one.

        Example:
            >>> Grammar.regex("[a-z]").optional()
            Grammar.regex('[a-z]').repeat(0, 1)
        """
        return self.repeat(0, 1)

    def repeat(self, least: int = 0, most: int | None = None, *, separator: str = "") -> Grammar:
        """Make a grammar of several texts of this one, one after the other.

        Args:
            least: the number of texts at least.
            most: the number of texts at most; None for any number.
            separator: the text between two of them.

        Raises:
            GrammarError: a number is negative, or the numbers are in the wrong order.
            TypeError: a number is no integer.

        Example:
            >>> Grammar.regex("[a-z]+").repeat(1, separator=", ")
            Grammar.regex('[a-z]+').repeat(1, None, separator=', ')
        """
        from structgen.kbnf.composition import repetition

        tree = repetition(self.tree, least, most, separator)
        source = source_of_parts([self], least, most, separator)
        return Grammar("repeat", source, False, tree, bound=self.bound)

    def named(self, name: str) -> Grammar:
        """Make a grammar of the same texts whose first rule has a name, for messages, traces and exports.

        Args:
            name: ASCII letters, digits and underscores.

        Raises:
            GrammarError: the name is none.

        Example:
            >>> Grammar.regex("[0-9]{4}").named("year")
            Grammar.regex('[0-9]{4}').named('year')
        """
        from structgen.kbnf.composition import renamed_start

        tree = renamed_start(self.tree, name)
        return Grammar("named", source_of_parts([self], name), False, tree, start=name, bound=self.bound)

    def __add__(self, other: Grammar[Any] | str) -> Grammar:
        return Grammar.concat(self, other) if isinstance(other, (Grammar, str)) else NotImplemented

    def __radd__(self, other: str) -> Grammar:
        return Grammar.concat(other, self) if isinstance(other, str) else NotImplemented

    def __or__(self, other: Grammar[Any] | str) -> Grammar:
        return Grammar.union(self, other) if isinstance(other, (Grammar, str)) else NotImplemented

    def __ror__(self, other: str) -> Grammar:
        return Grammar.union(other, self) if isinstance(other, str) else NotImplemented

    # -- as the annotation of a field ---------------------------------------------------------------------------------

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the core schema of `Annotated[str, grammar]`: a string whose value is a text of the grammar.

        Raises:
            UnsupportedSchemaError: the terminals of the grammar match no whole characters, or schemas stand in it.
        """
        from structgen.output_types.grammar_fields import checker_of
        from structgen.output_types.string_fields import core_schema_of

        return core_schema_of(source, handler, checker_of(self), name="Grammar", keyword="pattern")

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the JSON Schema of `Annotated[str, grammar]`."""
        from structgen.output_types.grammar_fields import keywords_of
        from structgen.output_types.string_fields import json_schema_of

        return json_schema_of(core, handler, keywords_of(self))

    # -- texts and values ---------------------------------------------------------------------------------------------

    @property
    def is_made_of_others(self) -> bool:
        """True for what `concat`, `union`, `optional`, `repeat` and `named` return."""
        return self.kind in OF_OTHERS

    def spell(self, value: Any) -> str:
        """Return a text whose value is `value`; the reverse of `parse`.

        Raises:
            ValueError: no text has that value.

        Example:
            >>> Grammar.choice({"yes": True, "no": False}).spell(True)
            'yes'
        """
        if isinstance(self.parse, Chosen):
            return self.parse.text_of(value)
        if isinstance(value, str):
            return value
        raise ValueError(f"the value of a grammar is a string, not {value!r}")

    def __repr__(self) -> str:
        return _shown(identity_of(self))

    def _repr_html_(self) -> str:
        from structgen.output_types.grammar_card import grammar_card

        return grammar_card(self)


def _grammar(part: Any) -> Grammar[Any]:
    if isinstance(part, Grammar):
        return part
    message = f"a part of a grammar is a Grammar or a text, not {part!r}"
    raise TypeError(f"{message}; structgen.template(…) puts schemas and types into a text")


def _shown(identity: Any) -> str:
    """Return the call that makes a grammar; long texts in it are cut."""
    if isinstance(identity, str):
        return repr(identity)
    kind, source, *more = identity
    if kind in ("concat", "union"):
        return f"Grammar.{kind}({', '.join(map(_shown, source))})"
    if kind == "named":
        return f"{_shown(source[0])}.named({source[1]!r})"
    if kind == "repeat":
        part, least, most, separator = source
        return f"{_shown(part)}.repeat({least}, {most}{f', separator={separator!r}' if separator else ''})"
    start, eager = more
    name = "lark" if kind == "llguidance" else kind
    given = json.loads(source) if kind in ("choice", "substring", "structural_tag") else source
    shown = repr(given[0] if kind == "substring" else given)
    cut = shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}…"
    options = "" if start == "start" else f", start={start!r}"
    options += ", eager=False" if kind == "kbnf" and not eager else ""
    return f"Grammar.{name}({cut}{options})"
