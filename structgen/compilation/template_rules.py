"""The rules of a template, and the reader of its texts.

The rules of "Name: {name}, age {age}" are a sequence: the text "Name: ", the rules of the first hole, and so on. A
finished text is split by the compiled grammars of the holes, and each piece is read by its hole's schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from structgen.compilation.inputs import CompileInput, IsEmpty, JsonValue, from_source
from structgen.engine.deadlines import Deadline
from structgen.engine.grammar.composition import concatenation, has_text
from structgen.engine.grammar.tables import GrammarTables
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.splitting import split
from structgen.engine.regex import tree as rx
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import GrammarError
from structgen.limits import Limits
from structgen.output_types.grammar import Grammar
from structgen.output_types.json_lines import JsonLines
from structgen.output_types.template import Hole, Template
from structgen.output_types.yaml import Yaml
from structgen.schema import Source, json_schema_to_rules, resolve, strings_of_schema
from structgen.schema.algebra import StringSet
from structgen.schema.options import SchemaOptions
from structgen.schema.reading.plain_data import plain_copy
from structgen.schema.reading.writable import Narrowed

if TYPE_CHECKING:
    from structgen.kbnf import ast

__all__ = ["CompilePart", "MakeInput", "bare_strings", "from_template"]

MakeInput: TypeAlias = Callable[[Any], CompileInput]
"""Turns a schema, grammar or other format into a compile input."""

CompilePart: TypeAlias = Callable[[CompileInput], CompiledGrammar]
"""Compiles the input of one hole over the bytes of a text."""


def from_template(
    template: Template, options: SchemaOptions, limits: Limits, make_input: MakeInput, compile_part: CompilePart
) -> CompileInput:
    """Return the compile input of a template.

    Args:
        template: the template.
        options: how the schemas of holes are read.
        limits: bounds on what they may cost.
        make_input: makes the compile input of a hole that has no schema.
        compile_part: compiles a hole, to split a finished text.
    """
    parts: list[bytes | CompileInput] = []
    names: list[str] = []
    for number, part in enumerate(template.parts):
        if isinstance(part, str):
            parts.append(part.encode())
            continue
        names.append(part.name)
        after = template.parts[number + 1] if number + 1 < len(template.parts) else None
        parts.append(_hole_input(part, after if isinstance(after, str) else "", options, limits, make_input))
    key = ("template", *(part if isinstance(part, bytes) else part.key for part in parts))
    reader = _Reader(names, parts, compile_part)
    return CompileInput(key, lambda *made: _tables(names, parts, *made), reader.read, reader.pieces)


def _tables(
    names: list[str],
    parts: list[bytes | CompileInput],
    limits: Limits,
    deadline: Deadline,
    is_empty: IsEmpty,
    narrowed: Narrowed | None,
    vocabulary: Vocabulary,
) -> GrammarTables:
    found: list[bytes | GrammarTables] = []
    holes = iter(names)
    for part in parts:
        if isinstance(part, bytes):
            if narrowed is not None and is_empty(narrowed(rx.Literal(part))):
                raise GrammarError(f"the text {part.decode()!r} of the template cannot be written")
            found.append(part)
            continue
        name = next(holes)
        try:
            tables = part.tables(limits, deadline, is_empty, narrowed, vocabulary)
        except GrammarError as error:
            reason = str(error).removesuffix(f"\nHint: {error.hint}")
            raise GrammarError(f"in the hole {name!r}: {reason}", hint=error.hint) from error
        if tables.marks:
            raise GrammarError(
                f"the hole {name!r} has token terminals: the value of a hole is read from its text",
                hint="put the tokens into a grammar around the value: Grammar.concat",
            )
        if not (tables.accepts_empty or has_text(tables)):
            raise GrammarError(f"nothing fits the hole {name!r}")
        found.append(tables)
    return concatenation(found)


class _Reader:
    """Reader and writer of a template's texts.

    Args:
        names: the names of the holes.
        parts: the texts and the holes, in order.
        compile_part: compiles a hole, to find where its text ends.
    """

    def __init__(self, names: list[str], parts: list[bytes | CompileInput], compile_part: CompilePart) -> None:
        self._names = names
        self._parts = parts
        self._compile_part = compile_part

    def read(self, text: str, context: Any = None) -> dict[str, Any]:
        """Return the values of the holes.

        Args:
            text: a whole text.
            context: for validators.

        Raises:
            ValueError: the text does not fit the template.
        """
        parts = [part if isinstance(part, bytes) else self._compile_part(part) for part in self._parts]
        pieces = split(text.encode(), parts)
        if pieces is None:
            raise ValueError("the text does not fit the template")
        holes = [
            part.parse(piece.decode(), context)
            for part, piece in zip(self._parts, pieces, strict=True)
            if not isinstance(part, bytes)
        ]
        return dict(zip(self._names, holes, strict=True))

    def pieces(self, value: Any) -> list[str | JsonValue]:
        """Return the pieces of a text; see `CompileInput`.

        Args:
            value: a mapping or an object whose items or attributes are the values of the holes; or the text.

        Raises:
            ValueError: a hole has no value, or a value has no hole.
        """
        if isinstance(value, str):
            return [value]
        unknown = [name for name in value if name not in self._names] if isinstance(value, Mapping) else []
        if unknown:
            raise ValueError(f"the template has no hole {unknown[0]!r}")
        names = iter(self._names)
        found: list[str | JsonValue] = []
        for part in self._parts:
            found += [part.decode()] if isinstance(part, bytes) else part.pieces(_value_of(value, next(names)))
        return found


def _value_of(values: Any, name: str) -> Any:
    """Return the value of a hole."""
    try:
        return values[name] if isinstance(values, Mapping) else getattr(values, name)
    except (KeyError, AttributeError) as error:
        raise ValueError(f"no value for the hole {name!r} in {values!r}") from error


def _hole_input(hole: Hole, after: str, options: SchemaOptions, limits: Limits, make_input: MakeInput) -> CompileInput:
    """Return the compile input of a hole.

    Args:
        hole: the hole.
        after: the text right after it; "" where there is none.
        options: how its schema is read.
        limits: bounds on what it may cost.
        make_input: makes the compile input of a hole that has no schema.
    """
    given = hole.schema
    if isinstance(given, Grammar):
        given = replace(given, eager=False)  # its text ends where the text after the hole begins
    if isinstance(given, (Grammar, JsonLines, Template, Yaml)):
        return make_input(given)
    if isinstance(given, dict):
        given = plain_copy(given)  # it is read again, when a text is split
    source = resolve(given, limits=limits, options=options)
    values = _HoleValues(source, after, limits)
    key = ("hole", after, from_source(source, limits).key)
    return CompileInput(key, values.tables, values.read, values.pieces)


class _HoleValues:
    """The values of a hole with a schema: strings are written without quotes, everything else as JSON.

    Args:
        source: the schema.
        after: the text right after the hole; "" where there is none.
        limits: bounds on what it costs to read the schema.
    """

    def __init__(self, source: Source, after: str, limits: Limits) -> None:
        self._source = source
        self._after = after
        self._limits = limits

    @cached_property
    def _strings(self) -> tuple[StringSet, ...]:
        """The values of the schema where all of them are strings; empty otherwise."""
        return strings_of_schema(self._source.json_schema, self._source.options, limits=self._limits)

    def tables(
        self, limits: Limits, deadline: Deadline, is_empty: IsEmpty, narrowed: Narrowed | None, vocabulary: Vocabulary
    ) -> GrammarTables:
        """Return the rules; see `CompileInput`."""
        if not self._strings:
            return json_schema_to_rules(
                self._source.json_schema, self._source.options, limits=limits, deadline=deadline, narrowed=narrowed
            )
        from structgen.kbnf import ast
        from structgen.kbnf.normal_form.passes import normalize
        from structgen.kbnf.rewriting import with_terminals

        grammar = ast.Grammar((ast.Rule("start", bare_strings(self._strings, self._after)),))
        if narrowed is not None:
            grammar = with_terminals(grammar, narrowed)
        return normalize(grammar, limits=limits, deadline=deadline, is_empty=is_empty, must_have_text=narrowed is None)

    def read(self, text: str, context: Any = None) -> Any:
        """Return the value of a text; see `CompileInput`."""
        return self._source.parse(json.dumps(text) if self._strings else text, context)

    def pieces(self, value: Any) -> list[JsonValue]:
        """Return the pieces of a value's text; see `CompileInput`."""
        return [JsonValue(value, is_bare=bool(self._strings))]


def bare_strings(strings: Sequence[StringSet], after: str) -> ast.Expression:
    """Return the part of a tree for strings without quotes.

    Free text must not contain the text after the hole: with the text ", " after it, it ends where ", " first occurs. In
    KBNF that is `#ex', '`, in the older dialect `except!(', ')`.

    Args:
        strings: the values of the hole.
        after: the text right after the hole; "" where there is none.
    """
    from structgen.kbnf import ast
    from structgen.output_types.free_text import early, text_before

    def regex_of(part: StringSet) -> rx.Regex:
        is_free = after and part.texts is None and not part.within
        return rx.difference(part.regex(), early(after)) if is_free else part.regex()

    if list(strings) == [StringSet()]:
        return text_before(after)
    return ast.RegexTerminal(rx.choice(*map(regex_of, strings)))
