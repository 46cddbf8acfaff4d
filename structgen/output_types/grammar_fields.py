"""A `Grammar` as the annotation of a string: its keywords in a JSON Schema, and the check of a value.

A regex is a `pattern`, a choice an `enum`. All others are the keyword that `schema/reading/grammars.py` reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

from structgen.errors import GrammarError, UnsupportedSchemaError
from structgen.limits import Limits
from structgen.schema.own_keywords import GRAMMAR, REGEX_DIALECT

if TYPE_CHECKING:
    from structgen.kbnf import ast

__all__ = ["OF_OTHERS", "AnyGrammar", "checker_of", "identity_of", "keywords_of", "source_of_parts"]

OF_OTHERS = frozenset({"concat", "union", "repeat", "named"})
"""The kinds of grammars that are made of others."""

_FLAGS = re.compile(r"\(\?[A-Za-z]+\)")  # of the whole regex: they can stand at its beginning only


class AnyGrammar(Protocol):
    """The members of a `Grammar` that this module reads."""

    @property
    def kind(self) -> str:
        """The kind."""

    @property
    def source(self) -> str:
        """The text that it was made from."""

    @property
    def start(self) -> str:
        """The rule that a text begins at."""

    @property
    def eager(self) -> bool:
        """Whether a text ends as early as it can."""

    @property
    def tree(self) -> ast.Grammar:
        """The syntax tree."""

    @property
    def bound(self) -> tuple[Any, ...]:
        """The schemas in it."""


def identity_of(part: AnyGrammar | str) -> Any:
    """Return JSON data that tells a grammar, or a text in its place, from all others."""
    if isinstance(part, str):
        return part
    if part.kind in OF_OTHERS:
        return [part.kind, json.loads(part.source)]
    return [part.kind, part.source, part.start, part.eager]


def source_of_parts(parts: Iterable[AnyGrammar | str], *options: Any) -> str:
    """Return the source of a grammar that is made of others: the identities of its parts, and the options.

    Raises:
        GrammarError: too many grammars are made of one another.
    """
    try:
        return json.dumps([*(identity_of(part) for part in parts), *options])
    except RecursionError as error:
        message = "too many grammars are made of one another: each is a part of the next"
        hint = "make one of many at once: Grammar.union(*parts), Grammar.concat(*parts)"
        raise GrammarError(message, hint=hint) from error


def checker_of(grammar: AnyGrammar) -> Callable[[Any], Any]:
    """Return the validator of an annotated string: it returns the value, or raises ValueError.

    Raises:
        UnsupportedSchemaError: the grammar cannot be that of a string.
    """
    is_member = _is_member(grammar)

    def check(value: Any) -> Any:
        if isinstance(value, str) and not is_member(value):
            raise ValueError(f"it is not a text of {grammar!r}")
        return value

    return check


def _is_member(grammar: AnyGrammar) -> Callable[[str], object]:
    if grammar.kind == "choice":
        texts = frozenset(json.loads(grammar.source))
        return texts.__contains__
    if grammar.kind == "regex":
        return re.compile(grammar.source).fullmatch
    from structgen.schema.reading.grammars import texts_of_grammar

    return texts_of_grammar(keywords_of(grammar)[GRAMMAR]).matches


def keywords_of(grammar: AnyGrammar) -> dict[str, Any]:
    """Return the keywords of a JSON Schema for the strings whose value is a text of a grammar.

    Raises:
        UnsupportedSchemaError: the grammar cannot be that of a string.

    Example:
        >>> keywords_of(structgen.Grammar.choice(["b", "a"]))
        {'enum': ['a', 'b']}
        >>> keywords_of(structgen.Grammar.regex("a+") + "!")
        {'x-structgen-grammar': {'concat': [{'regex': 'a+'}, '!']}}
    """
    if grammar.kind == "choice":
        return {"enum": json.loads(grammar.source)}
    if grammar.kind == "regex" and not _FLAGS.match(grammar.source):
        return {"pattern": rf"\A(?:{grammar.source})\Z", REGEX_DIALECT: "python"}
    if grammar.bound:
        raise _refused(grammar, "it holds a schema", "write the texts of the schema as rules")
    value = _keyword(grammar, identity_of(grammar))
    if '"lark"' in json.dumps(value) and not _is_whole(grammar, value):
        raise _refused(grammar, "it imports files", "write the imported rules into its text")
    return {GRAMMAR: value}


def _is_whole(grammar: AnyGrammar, value: Any) -> bool:
    """Return whether the text of a Lark grammar is complete by itself: it is not if the grammar imports files."""
    from structgen.schema.reading.grammars import tree_of_keyword

    try:
        return tree_of_keyword(value, Limits()) == grammar.tree
    except GrammarError:
        return False


def _keyword(grammar: AnyGrammar, identity: Any) -> Any:
    """Return the value of the keyword for an identity, see `identity_of`."""
    if isinstance(identity, str):
        return identity
    kind, source, *more = identity
    if kind in ("concat", "union"):
        return {kind: [_keyword(grammar, part) for part in source]}
    if kind == "named":
        return {"named": _keyword(grammar, source[0]), "name": source[1]}
    if kind == "repeat":
        part, least, most, separator = source
        return {"repeat": _keyword(grammar, part), "least": least, "most": most, "separator": separator}
    if kind == "kbnf":
        from structgen.languages import language_named

        language = language_named(source) if more[0] == "start" else None
        return {"kbnf": source, "start": more[0]} if language is None else {"language": language}
    if kind in ("lark", "llguidance"):
        return {"lark": source, "start": more[0], "dialect": kind}
    if kind == "choice":
        return {"union": json.loads(source)}
    if kind in ("gbnf", "regex"):
        return {kind: source}
    if kind == "substring":
        text, unit, max_length = json.loads(source)
        return {"substring": text, "unit": unit, "max_length": max_length}
    raise _refused(grammar, "it is a structural tag", "write the text between the tags as a grammar")


def _refused(grammar: AnyGrammar, why: str, hint: str) -> UnsupportedSchemaError:
    message = f"{grammar!r} cannot be the grammar of a field: {why}"
    return UnsupportedSchemaError(message, pointer="", keyword=GRAMMAR, hint=f"{hint}; or use structgen.template(…)")
