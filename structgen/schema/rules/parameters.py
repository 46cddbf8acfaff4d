"""The rules of a call's arguments in any notation, JSON included. Given texts are kept out of their strings.

In the format of Kimi K3, for example, `<|close|>` ends an argument. So no string of the arguments may hold it.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from structgen.engine.deadlines import Deadline
from structgen.engine.grammar.composition import with_terminals
from structgen.engine.grammar.tables import GrammarTables, RuleSource
from structgen.engine.regex.unicode_classes import union_of
from structgen.errors import UnsatisfiableSchemaError, UnsupportedSchemaError
from structgen.kbnf import ast
from structgen.limits import Limits
from structgen.schema.reading.excluded_texts import WithoutTexts
from structgen.schema.reading.space import Space
from structgen.schema.reading.writable import Narrowed
from structgen.schema.rules.call_rules import read_call
from structgen.schema.rules.parameter_rules import read_parameters
from structgen.schema.rules.parameter_styles import MARKS, STYLES
from structgen.schema.rules.rules_to_kbnf import rules_to_kbnf
from structgen.schema.rules.to_rules import json_schema_to_rules, lazy_tables
from structgen.schema.sources import Source

__all__ = ["parameter_rules", "parameters_to_kbnf", "tokens_in_marks"]

_PUNCTUATION = frozenset("{}[],:")  # of Gemma's notation, where strings have no quotes
_SIGNS_OF_PYTHON = frozenset("=")  # beside the names of arguments, which have no quotes
_QUOTED = frozenset("\"'\\")  # what strings of Python are written with


def tokens_in_marks(style: str, special_tokens: Collection[str]) -> tuple[str, ...]:
    """Return the special tokens that stand in the marks of a notation.

    Args:
        style: the notation.
        special_tokens: names of tokens that have no text.
    """
    if style in MARKS:
        return (MARKS[style],) if MARKS[style] in special_tokens else ()
    marks = STYLES[style].texts if style in STYLES else ()
    return tuple(sorted({name for name in special_tokens if name and any(name in mark for mark in marks)}))


def parameter_rules(
    source: Source,
    style: str,
    excludes: Sequence[str] = (),
    *,
    tokens: Mapping[str, int] | None = None,
    limits: Limits | None = None,
    deadline: Deadline | None = None,
    narrowed: Narrowed | None = None,
) -> GrammarTables:
    """Return the grammar of the values of a schema in a notation, for the engine.

    Args:
        source: the schema.
        style: "json", a key of `parameter_styles.STYLES`, or one of `call_rules.STYLES`.
        excludes: texts that no string may hold, none of them empty.
        tokens: the ids of the special tokens that stand in the marks, by name; see `tokens_in_marks`.
        limits: bounds on the cost of the translation.
        deadline: a running clock; by default one of `limits.compile_seconds` starts now.
        narrowed: the texts of a regex that can be written; by default all of them.

    Raises:
        SchemaError, LimitExceededError: as `json_schema_to_rules`.
    """
    limits = limits or Limits()
    tokens = tokens or {}
    marks = union_of([(token_id, token_id) for token_id in tokens.values()])
    if excludes:
        narrowed = _without(excludes, style, limits, narrowed)

    def tables(rules: RuleSource, key: Hashable, space: Space, may_be_empty: bool) -> GrammarTables:
        return replace(lazy_tables(key, rules, None, space), accepts_empty=may_be_empty, marks=marks)

    schema, options = source.json_schema, source.options
    common: dict[str, Any] = {"limits": limits, "deadline": deadline}
    with _naming(excludes):
        if style in STYLES:
            return read_parameters(
                schema, style, tables, options, excludes=excludes, tokens=tokens, narrowed=narrowed, **common
            )
        if style == "json":
            found = json_schema_to_rules(schema, options, narrowed=narrowed, **common)
        else:
            token_id = tokens.get(MARKS.get(style, ""))
            left = narrowed if excludes else None
            found = read_call(schema, style, tables, options, token_id=token_id, narrowed=left, **common)
    return with_terminals(found, narrowed) if excludes and narrowed is not None else found


def _without(excludes: Sequence[str], style: str, limits: Limits, narrowed: Narrowed | None) -> WithoutTexts:
    """Return the object that removes the excluded texts from the strings of a notation.

    Raises:
        UnsupportedSchemaError: the punctuation or the marks of the notation contain an excluded text.
    """
    if style == "json" or style in STYLES:  # those of `STYLES` keep them out of texts without quotes by themselves
        return WithoutTexts(excludes, limits, narrowed, is_json=True)
    is_python = style == "python"
    signs = _SIGNS_OF_PYTHON if is_python else _PUNCTUATION
    for text in excludes:
        if text in signs or text in MARKS.get(style, "") or (is_python and not _QUOTED.isdisjoint(text)):
            message = f"{text!r} cannot be excluded: the notation {style!r} is written with it"
            raise UnsupportedSchemaError(message, pointer="")
    return WithoutTexts(excludes, limits, narrowed, has_quotes=is_python)


@contextmanager
def _naming(excludes: Sequence[str]) -> Iterator[None]:
    """Name the excluded texts in the error of a schema that no value satisfies: they may be the cause."""
    try:
        yield
    except UnsatisfiableSchemaError as error:
        if not excludes:
            raise
        hint = f"strings with one of these texts are excluded: {', '.join(map(repr, excludes))}"
        raise UnsatisfiableSchemaError("no value satisfies the schema", pointer=error.pointer, hint=hint) from error


def parameters_to_kbnf(
    source: Source,
    style: str,
    excludes: Sequence[str] = (),
    *,
    special_tokens: Collection[str] = (),
    limits: Limits | None = None,
) -> ast.Grammar:
    """Return the grammar of the values of a schema in a notation, as KBNF.

    Args:
        source: the schema.
        style: the notation; not "json".
        excludes: texts that no string may hold, none of them empty.
        special_tokens: names of tokens that have no text. In the marks of the notation they are token terminals.
        limits: bounds on the cost of the translation.

    Raises:
        SchemaError, LimitExceededError: as `json_schema_to_rules`.
    """
    limits = limits or Limits()
    deadline = Deadline(limits.compile_seconds)
    narrowed = _without(excludes, style, limits, None) if excludes else None
    names = tokens_in_marks(style, special_tokens)
    tokens = {name: number for number, name in enumerate(names)}  # any ids: names are written

    def written(rules: RuleSource, key: Hashable, space: Space, may_be_empty: bool) -> ast.Grammar:
        return rules_to_kbnf(
            rules,
            key,
            start="arguments",
            limits=limits,
            deadline=deadline,
            may_be_empty=may_be_empty,
            tokens=names,
            changed=None if style in STYLES else narrowed,
        )

    schema, options = source.json_schema, source.options
    common: dict[str, Any] = {"captures": False, "limits": limits, "deadline": deadline}
    if style in STYLES:
        return read_parameters(
            schema, style, written, options, excludes=excludes, tokens=tokens, narrowed=narrowed, **common
        )
    return read_call(schema, style, written, options, token_id=0 if names else None, narrowed=narrowed, **common)
