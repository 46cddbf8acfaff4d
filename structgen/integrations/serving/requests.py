"""Requests to a server, as texts: JSON Schema, regex, choice, grammar, structural tag → what `structgen.compile` takes.

A JSON Schema may carry options in a keyword of its own at its root, since most clients send nothing else:

    {"type": "object", …, "x-structgen": {"whitespace": "single", "property_order": "any"}}

A grammar may begin with a line that names its notation: `%kbnf`, `%gbnf`, `%lark` (llguidance's), `%lark-python` (the
toolkit's). Otherwise its text decides:

    rules with `:`                   Lark, in llguidance's dialect
    rules with `::=`, ended by `;`   KBNF
    other rules with `::=`           GBNF
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from structgen.errors import GrammarError, SchemaError
from structgen.integrations.serving.settings import check_option
from structgen.limits import Limits
from structgen.output_types.grammar import Grammar

if TYPE_CHECKING:
    from structgen.engine.vocabulary.vocabulary import Vocabulary

__all__ = ["OPTIONS_KEYWORD", "Kind", "Requested", "read", "read_choice", "read_grammar", "read_schema"]

Kind = Literal["json", "json_object", "regex", "choice", "grammar", "structural_tag"]

OPTIONS_KEYWORD = "x-structgen"
_HEADER = re.compile(r"\s*%(kbnf|gbnf|lark-python|lark)[ \t]*(?:\r?\n|\Z)")
_DEFINITION = re.compile(r"^\s*[\w.-]+\s*::=", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Requested:
    """A request that was read.

    Attributes:
        schema: a JSON Schema or a `Grammar`.
        options: the request's own options, as keyword arguments of `structgen.compile`.
    """

    schema: Any
    options: Mapping[str, Any] = field(default_factory=dict)


def read(kind: Kind, given: Any, vocabulary: Vocabulary | None = None, limits: Limits | None = None) -> Requested:
    """Read a request.

    Args:
        kind: the field of the request.
        given: its value, as text or as JSON data; ignored for "json_object".
        vocabulary: the tokens of the model, for structural tags; None to check a request.
        limits: bounds on the size of a grammar or regex.

    Raises:
        SchemaError, GrammarError, LimitExceededError: it cannot be used.

    Example:
        >>> read("regex", "[0-9]+").schema
        Grammar.regex('[0-9]+')
    """
    if kind == "json":
        return read_schema(given)
    if kind == "json_object":
        return Requested({"type": "object"})
    if kind == "choice":
        return read_choice(given)
    if kind == "grammar":
        return read_grammar(given, limits)
    if kind == "structural_tag":
        return Requested(Grammar.structural_tag(given, vocabulary=vocabulary))
    if not isinstance(given, str):
        raise GrammarError(f"a regex must be a text, not {_shown(given)}")
    return Requested(Grammar.regex(given, limits=limits))


def read_schema(given: Any) -> Requested:
    """Read a JSON Schema, and the options that it carries.

    Args:
        given: a dict, a boolean, or JSON text.

    Raises:
        SchemaError: it is no schema; with the JSON pointer.

    Example:
        >>> read_schema('{"type": "integer", "x-structgen": {"numbers": "plain"}}')
        Requested(schema={'type': 'integer'}, options={'numbers': 'plain'})
    """
    schema = _parsed(given, "the schema") if isinstance(given, str) else given
    if not isinstance(schema, (dict, bool)):
        raise SchemaError(f"a schema must be an object or a boolean, not {_shown(schema)}", pointer="")
    if isinstance(schema, bool) or OPTIONS_KEYWORD not in schema:
        return Requested(schema)
    options = schema[OPTIONS_KEYWORD]
    try:
        if not isinstance(options, dict):
            raise TypeError(f"it must be an object with options, not {_shown(options)}")
        for name, value in options.items():
            check_option(name, value)
    except (ValueError, TypeError) as error:
        raise SchemaError(str(error), pointer=f"/{OPTIONS_KEYWORD}", keyword=OPTIONS_KEYWORD) from error
    return Requested({key: value for key, value in schema.items() if key != OPTIONS_KEYWORD}, options)


def read_choice(given: Any) -> Requested:
    """Read a list of texts, or its JSON text.

    Raises:
        GrammarError: it is no list of texts, or an empty one.
    """
    texts = _parsed(given, "the choice") if isinstance(given, str) else given
    if not isinstance(texts, list):
        raise GrammarError(f"a choice must be a list of texts, not {_shown(texts)}")
    return Requested(Grammar.choice(texts))


def read_grammar(text: str, limits: Limits | None = None, notation: str | None = None) -> Requested:
    r"""Read a grammar in any notation.

    Args:
        text: the grammar.
        limits: bounds on its size.
        notation: "kbnf", "gbnf", "lark" or "lark-python"; None where the text says it.

    Raises:
        GrammarError: it cannot be read; with line and column.
        LimitExceededError: it is larger than `limits` allow.

    Example:
        >>> read_grammar('root ::= "yes" | "no"').schema.kind
        'gbnf'
        >>> read_grammar('%lark\nstart: "yes" | "no"').schema.kind
        'llguidance'
    """
    if not isinstance(text, str):
        raise GrammarError(f"a grammar must be a text, not {_shown(text)}")
    if notation is not None:
        return Requested(_NOTATIONS[notation](text, limits))
    header = _HEADER.match(text)
    if header is not None:
        # The line stays, empty: so positions in errors are those of the request.
        rest = "\n" * header[0].count("\n") + text[header.end() :]
        return Requested(_NOTATIONS[header[1]](rest, limits))
    if _DEFINITION.search(text) is None:
        return Requested(Grammar.lark(text, limits=limits))
    if ";" not in text:
        return Requested(Grammar.gbnf(text, limits=limits))
    return Requested(_kbnf_or_gbnf(text, limits))


def _python_lark(text: str, limits: Limits | None) -> Grammar:
    return Grammar.lark(text, dialect="lark", limits=limits)


_NOTATIONS: dict[str, Callable[[str, Limits | None], Grammar]] = {
    "kbnf": lambda text, limits: Grammar.kbnf(text, limits=limits),
    "gbnf": lambda text, limits: Grammar.gbnf(text, limits=limits),
    "lark": lambda text, limits: Grammar.lark(text, limits=limits),
    "lark-python": _python_lark,
}


def _kbnf_or_gbnf(text: str, limits: Limits | None) -> Grammar:
    """Read rules with `::=` and a `;` somewhere. No text is a grammar in both notations."""
    try:
        return Grammar.kbnf(text, limits=limits)
    except GrammarError as error:
        kbnf_error = error
    try:
        return Grammar.gbnf(text, limits=limits)
    except GrammarError as error:
        # The notation that was meant is the one in which more of the text could be read.
        is_gbnf = (error.line, error.column) > (kbnf_error.line, kbnf_error.column) and kbnf_error.line > 0
        raise (error if is_gbnf else kbnf_error) from None


def _parsed(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise SchemaError(f"{what} is not valid JSON: {error}", pointer="") from error
    except RecursionError as error:
        raise SchemaError(f"{what} nests too deep", pointer="") from error


def _shown(value: Any) -> str:
    return "null" if value is None else f"{json.dumps(value, default=repr)[:60]}"
