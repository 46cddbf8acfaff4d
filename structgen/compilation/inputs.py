"""The common form of everything that `compile` accepts.

A `CompileInput` has a key for the cache, a function that makes the rules, and functions that read and write the texts.
This module makes one of a grammar, a schema or JSON Lines; `template_rules.py` makes one of a template.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

from structgen.engine.deadlines import Deadline, spend
from structgen.engine.grammar.composition import has_text, repetition
from structgen.engine.grammar.tables import GrammarTables
from structgen.engine.regex.tree import Regex
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import GrammarError, LimitExceededError, SchemaError, StructgenError
from structgen.limits import Limits
from structgen.output_types.bound_schemas import BoundSchema
from structgen.output_types.grammar import Grammar
from structgen.output_types.json_lines import JsonLines
from structgen.output_types.parameters import Parameters
from structgen.schema import Source, json_schema_to_rules, resolve
from structgen.schema.options import SchemaOptions
from structgen.schema.reading.shared_parts import SmallKey, check_size, content_of, count_few, small_key
from structgen.schema.reading.writable import Narrowed
from structgen.schema.sources import json_parser

if TYPE_CHECKING:
    from structgen.compilation.captures import CaptureReader, CompileGrammar
    from structgen.kbnf import ast

__all__ = [
    "CompileInput",
    "IsEmpty",
    "JsonValue",
    "as_grammar",
    "from_grammar",
    "from_json_lines",
    "from_parameters",
    "from_source",
]

IsEmpty = Callable[[Regex], bool]
"""Returns whether a regex matches nothing."""

_Content = str | SmallKey | tuple[str, ...]
"""The key of a schema's content; see `_content`."""

MakeTables = Callable[[Limits, Deadline, IsEmpty, Narrowed | None, Vocabulary], GrammarTables]
"""The type of `CompileInput.tables`."""


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A value in a text.

    Attributes:
        value: the value.
        is_bare: whether a string is written without quotes; everything else, and by default strings too, are JSON.
    """

    value: Any
    is_bare: bool = False


@dataclass(slots=True)  # frozen ones take four times as long to make
class CompileInput:
    """A schema, a grammar or another format, ready to be compiled.

    Attributes:
        key: equal for inputs that have the same rules, apart from limits, and only for these.
        tables: makes the rules. Its arguments are limits, a deadline, a function that finds whether a regex matches
            nothing, one that narrows a regex to the texts that can be spelled (None for all of them), and the
            vocabulary, whose tokens a grammar may name.
        parse: returns the value of a whole text; its second argument is the context of validators (`info.context`).
        pieces: the reverse: returns the pieces of a value's text, texts and values, in order. Formats other than JSON
            accept their text, too. Raises ValueError for a value that does not fit.
        eager: whether a text ends at the first token after which it can.
        is_json: whether the texts are JSON.
        is_yaml: whether the texts are YAML.
        source: the schema; None for other formats.
        line: for JSON Lines, the schema of each line.
        origin: for KBNF text, a function that returns the rules in which each regex occurs.
        captures: the reader of the captures of a whole text; None for a grammar without captures.
    """

    key: Hashable
    tables: MakeTables
    parse: Callable[..., Any]
    pieces: Callable[[Any], Sequence[str | JsonValue]]
    eager: bool = False
    is_json: bool = False
    is_yaml: bool = False
    source: Source | None = None
    line: Source | None = None
    origin: Callable[[], Mapping[Regex, tuple[str, ...]]] | None = None
    captures: CaptureReader | None = None


def as_grammar(given: Any) -> Any:
    """Return the grammar that a compiled regex or a list of texts stands for; anything else as it is.

    Raises:
        GrammarError: the regex has flags, is of bytes, or is not regular; or the list is empty.
    """
    if isinstance(given, re.Pattern):
        if not isinstance(given.pattern, str):
            raise GrammarError("a regex of bytes is not supported", hint="compile it from str")
        if given.flags != re.compile(given.pattern).flags:
            flags = re.RegexFlag(given.flags & ~re.UNICODE)
            raise GrammarError(
                f"the regex was compiled with {flags!r}", hint="write the flag into the pattern, as in (?i:…)"
            )
        return Grammar.regex(given.pattern)
    if isinstance(given, list) and all(isinstance(text, str) for text in given):
        return Grammar.choice(given)
    return given


def from_grammar(
    grammar: Grammar, make_input: Callable[[BoundSchema], CompileInput], compile_part: CompileGrammar | None = None
) -> CompileInput:
    """Return the compile input of a grammar.

    Args:
        grammar: the grammar.
        make_input: makes the compile input of a schema in it.
        compile_part: compiles a part of it, to find the captures of a text.

    Raises:
        StructgenError: a schema in it cannot be used; the message begins with its name.
    """
    # What reads grammars is imported here: for a schema, it would be a tenth of a process's first compile.
    from structgen.compilation.captures import CaptureReader, has_captures
    from structgen.kbnf.holes import holes_of

    parts = {id(hole.content): _of_hole(hole, make_input) for hole in holes_of(grammar.tree)} if grammar.bound else {}

    def tables(
        limits: Limits, deadline: Deadline, is_empty: IsEmpty, narrowed: Narrowed | None, vocabulary: Vocabulary
    ) -> GrammarTables:
        from structgen.kbnf.normal_form.passes import normalize  # only grammars need it
        from structgen.kbnf.rewriting import with_terminals

        def tables_of(content: object) -> GrammarTables:
            bound, part = parts[id(content)]
            with _errors_in(bound):
                found = part.tables(limits, deadline, is_empty, narrowed, vocabulary)
            if bound.temperature is None and not bound.max_tokens:
                return found
            return replace(found, temperature=bound.temperature, max_tokens=bound.max_tokens)

        found = normalize(
            grammar.tree if narrowed is None else with_terminals(grammar.tree, narrowed),
            # KBNF allows rules that never end; in all other formats a text can always be finished.
            keep_endless=grammar.eager,
            never_empty=grammar.kind == "kbnf",
            # Where the tokenizer narrows the terminals, it may be the cause: the compiler checks that.
            must_have_text=narrowed is None and grammar.kind != "regex",
            limits=limits,
            deadline=deadline,
            is_empty=is_empty,
            tables_of=tables_of,
            vocabulary=vocabulary,
        )
        if grammar.kind == "regex" and narrowed is None and not (found.accepts_empty or has_text(found)):
            raise GrammarError(f"the regex {grammar.source!r} matches no text")
        return found

    def parse(text: str, context: Any = None) -> Any:
        return grammar.parse(text)

    key = (grammar.kind, grammar.source, grammar.eager, grammar.start, *[part.key for _, part in parts.values()])
    origin = None
    if grammar.kind == "kbnf" and not parts:
        origin = partial(_rules_of_terminals, grammar.source, grammar.start)
    elif grammar.is_made_of_others or parts:
        origin = partial(_rules_of_tree, grammar.tree)
    reader = CaptureReader(grammar, compile_part) if compile_part is not None and has_captures(grammar) else None
    return CompileInput(
        key,
        tables,
        parse,
        lambda value: [grammar.spell(value)],
        eager=grammar.eager,
        origin=origin,
        captures=reader,
    )


def _of_hole(hole: ast.Hole, make_input: Callable[[BoundSchema], CompileInput]) -> tuple[BoundSchema, CompileInput]:
    assert isinstance(hole.content, BoundSchema)
    spend(_HOLE_UNITS)  # grammars of a few lines may stand in one another in millions of ways
    with _errors_in(hole.content):
        return hole.content, make_input(hole.content)


@contextmanager
def _errors_in(bound: BoundSchema) -> Iterator[None]:
    """Put the name of a bound schema before the messages of its errors."""
    try:
        yield
    except StructgenError as error:
        error.add_location(bound.place)
        raise


def _rules_of_terminals(source: str, start: str) -> Mapping[Regex, tuple[str, ...]]:
    from structgen.kbnf.normal_form.origins import rules_of_terminals  # only messages need it

    return rules_of_terminals(source, start)


def _rules_of_tree(tree: ast.Grammar) -> Mapping[Regex, tuple[str, ...]]:
    from structgen.kbnf.normal_form.origins import rules_of_tree  # only messages need it

    return rules_of_tree(tree)


def from_source(source: Source, limits: Limits) -> CompileInput:
    """Return the compile input of a schema.

    Args:
        source: the schema.
        limits: bounds; named in errors.

    Raises:
        SchemaError: the schema is not JSON data.
        LimitExceededError: the schema is nested too deeply.
    """
    content = _content(source, limits)
    parse = source.parse if source.adapter is not None else _Parser(content, source)
    if source.options.format == "yaml":
        return _from_yaml(source, content, parse)

    def tables(
        limits: Limits, deadline: Deadline, is_empty: IsEmpty, narrowed: Narrowed | None, vocabulary: Vocabulary
    ) -> GrammarTables:
        return json_schema_to_rules(
            source.json_schema,
            source.options,
            limits=limits,
            deadline=deadline,
            narrowed=narrowed,
            is_plain=isinstance(content, SmallKey),  # only data in Python's own types has a small key
        )

    key = ("schema", content, source.options.without_registry())
    return CompileInput(key, tables, parse, lambda value: [JsonValue(value)], is_json=True, source=source)


def _from_yaml(source: Source, content: _Content, parse_json: Callable[..., Any]) -> CompileInput:
    """Return the compile input of a schema whose values are written in YAML.

    Args:
        source: the schema.
        content: its key.
        parse_json: reads and validates a value in JSON.

    Raises:
        StructgenError: PyYAML is not installed.
    """
    from structgen.schema.rules.yaml_rules import json_schema_to_yaml_rules  # only YAML needs it
    from structgen.schema.yaml_text.reader import require_yaml, yaml_to_json

    require_yaml()

    def tables(
        limits: Limits, deadline: Deadline, is_empty: IsEmpty, narrowed: Narrowed | None, vocabulary: Vocabulary
    ) -> GrammarTables:
        return json_schema_to_yaml_rules(source.json_schema, source.options, limits=limits, deadline=deadline)

    def parse(text: str, context: Any = None) -> Any:
        return parse_json(yaml_to_json(text), context)

    def pieces(value: Any) -> list[str | JsonValue]:
        return [JsonValue(value)]

    key = ("schema", content, source.options.without_registry())
    return CompileInput(key, tables, parse, pieces, is_yaml=True, source=source)


def from_parameters(parameters: Parameters, options: SchemaOptions, limits: Limits) -> CompileInput:
    """Return the compile input of the arguments of a call, in a notation of their own. `parse` returns the text itself.

    Args:
        parameters: the schema and the notation.
        options: how the schema is read.
        limits: bounds; named in errors.
    """
    from structgen.kbnf.tokens import special_token  # only calls need it
    from structgen.schema.rules.parameters import parameter_rules, tokens_in_marks

    source = resolve(parameters.schema, limits=limits, options=options)
    names = tokens_in_marks(parameters.style, parameters.special_tokens)

    def tables(
        limits: Limits, deadline: Deadline, is_empty: IsEmpty, narrowed: Narrowed | None, vocabulary: Vocabulary
    ) -> GrammarTables:
        return parameter_rules(
            source,
            parameters.style,
            parameters.excludes,
            tokens={name: special_token(name, vocabulary) for name in names},
            limits=limits,
            deadline=deadline,
            narrowed=narrowed,
        )

    key = ("parameters", parameters.style, parameters.excludes, names, from_source(source, limits).key)
    return CompileInput(key, tables, lambda text, context=None: text, lambda value: [value])


def from_json_lines(lines: JsonLines, options: SchemaOptions, limits: Limits) -> CompileInput:
    """Return the compile input of JSON Lines.

    Args:
        lines: the schema of a line, and the number of lines.
        options: how the schema is read.
        limits: bounds; named in errors.
    """
    if options.format == "yaml":
        raise ValueError("format='yaml' is for one value, not for JSON Lines; ask for a list")
    if options.whitespace == "any":
        options = replace(options, whitespace="line")
    item = from_source(resolve(lines.item, limits=limits, options=options), limits)

    def tables(
        limits: Limits, deadline: Deadline, is_empty: IsEmpty, narrowed: Narrowed | None, vocabulary: Vocabulary
    ) -> GrammarTables:
        made = item.tables(limits, deadline, is_empty, narrowed, vocabulary)
        return repetition(made, b"\n", lines.min_items, lines.max_items)

    def parse(text: str, context: Any = None) -> list[Any]:
        return [item.parse(line, context) for line in text.removesuffix("\n").split("\n")] if text else []

    def pieces(value: Any) -> list[str | JsonValue]:
        if isinstance(value, str):
            return [value]
        if not isinstance(value, Iterable):
            raise ValueError(f"JSON Lines are written for a list, or given as text, not for {value!r}")
        found: list[str | JsonValue] = []
        for number, one in enumerate(value):
            found += ["\n"] if number else []
            found += item.pieces(one)
        return found

    key = ("json_lines", item.key, lines.min_items, lines.max_items)
    return CompileInput(key, tables, parse, pieces, line=item.source)


class _Parser:
    """Validates texts by a schema as it was when its key was made: the caller may have changed it since.

    Args:
        content: the key.
        source: the schema.
    """

    __slots__ = ("_content", "_parse", "_source")

    def __init__(self, content: _Content, source: Source) -> None:
        self._content = content
        self._source = source
        self._parse: Callable[..., Any] | None = None

    def __call__(self, text: str, context: Any = None) -> Any:
        if self._parse is None:
            self._parse = json_parser(self._schema, self._source.options)
        return self._parse(text, context)

    def _schema(self) -> Any:
        content = self._content
        if isinstance(content, SmallKey):
            return content_of(content)[0]
        text = content if isinstance(content, str) else "".join(content)
        return self._source.json_schema if _ENCODER.encode(_DECIMAL) in text else json.loads(text)[0]


def _content(source: Source, limits: Limits) -> _Content:
    """Return a key of the schema and of all that it may reach in the registry: its text, where it is not small.

    A long text is in several parts. The order of keys matters: properties are generated in this order.
    """
    registry = source.options.registry
    content = [source.json_schema, {} if registry is None else {uri: registry.contents(uri) for uri in registry}]
    try:
        small = small_key(content)
        if small is not None:
            return small
        if check_size(content, limits) <= _MAX_ENCODED_AT_ONCE:
            return _ENCODER.encode(content)
        pieces: list[str] = []
        _encode(content, pieces)
        return _in_parts(pieces)
    except RecursionError as error:
        raise LimitExceededError("schema_depth", limits.schema_depth) from error
    except (TypeError, ValueError) as error:
        holds_type = isinstance(source.json_schema, dict) and any(
            isinstance(value, type) for value in source.json_schema.values()
        )
        hint = "to describe fields by their types, use a Pydantic model or a TypedDict" if holds_type else ""
        raise SchemaError(f"the schema is not JSON data: {error}", pointer="", hint=hint) from error


def _encode(value: dict[str, Any] | list[Any], pieces: list[str]) -> None:
    """Append the text of a list or object in pieces, as one call would hold Python's interpreter lock for long.

    Members of few values are written together in one call: a call for each object would take six times as long.
    """
    is_object = isinstance(value, dict)
    pieces.append("{" if is_object else "[")
    comma = ""
    small: dict[Any, Any] = {}
    count = 0  # of values in them
    for key, part in value.items() if isinstance(value, dict) else enumerate(value):
        size = count_few(part, _MAX_SMALL_MEMBER) if isinstance(part, (dict, list)) else 1
        if size:
            small[key] = part
            count += size
        if small and (not size or count >= _MAX_ENCODED_AT_ONCE):
            pieces += comma, _inner(small, is_object)
            comma = ","
            small = {}
            spend(count)
            count = 0
        if not size:
            pieces += comma, _ENCODER.encode({key: 0})[1:-2] if is_object else ""
            _encode(part, pieces)
            comma = ","
    if small:
        pieces += comma, _inner(small, is_object)
    pieces.append("}" if is_object else "]")


def _in_parts(pieces: list[str]) -> tuple[str, ...]:
    """Return the text of the pieces in long parts, hashed: all at once would hold Python's interpreter lock."""
    parts: list[str] = []
    begin = length = 0
    for index, piece in enumerate(pieces):
        length += len(piece)
        if length >= _PART_LENGTH or index == len(pieces) - 1:
            parts.append("".join(pieces[begin : index + 1]))
            hash(parts[-1])
            spend(_MAX_ENCODED_AT_ONCE)
            begin, length = index + 1, 0
    return tuple(parts)


def _inner(members: dict[Any, Any], is_object: bool) -> str:
    """Return the text of members, or of their values alone, without brackets."""
    return _ENCODER.encode(members if is_object else list(members.values()))[1:-1]


def _exact_number(value: Any) -> list[str]:
    """Encode a decimal exactly: Pydantic's bounds of decimals stay decimals in its schema."""
    if isinstance(value, Decimal):
        return [_DECIMAL, str(value)]
    raise TypeError(f"it contains a {type(value).__name__}")


_MAX_ENCODED_AT_ONCE = 20_000  # values
_MAX_SMALL_MEMBER = 2_000  # values of a member that is written together with others
_HOLE_UNITS = 100  # of work, at least
_PART_LENGTH = 1 << 20  # characters of a part of a long key
_DECIMAL = "\0decimal"  # before the digits of a decimal
_ENCODER = json.JSONEncoder(separators=(",", ":"), default=_exact_number)
