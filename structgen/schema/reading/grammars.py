r"""The keyword `x-structgen-grammar`: the value of a string is a text of a grammar.

    {"type": "string", "x-structgen-grammar": {"lark": "start: \"a\" start? \"b\""}}

The value of the keyword names one grammar; where a grammar is made of others, they stand in it in the same form:

    form                                                      the texts
    --------------------------------------------------------  ----------------------------------------------------
    {"language": "sql"}                                       of a programming language
    {"kbnf": "…", "start": "start"}                           of a KBNF grammar
    {"gbnf": "…"}                                             of a GBNF grammar
    {"lark": "…", "start": "start", "dialect": "llguidance"}  of a Lark grammar
    {"regex": "…"}                                            that match a regex of Python's as a whole
    {"substring": "…", "unit": "word", "max_length": null}    of the pieces of a text
    {"concat": [grammar, "text", …]}                          of each part, one after the other
    {"union": [grammar, "text", …]}                           of any part
    {"repeat": grammar, "least": 0, "most": null, "separator": ""}
    {"named": grammar, "name": "year"}                        of the grammar, whose first rule gets a name

A grammar of regular texts without recursion becomes a `Language`, which combines with all other keywords. Others become
a `TextGrammar`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any, get_args

from structgen.engine.grammar.composition import has_text
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.errors import GrammarError, SchemaError, StructgenError, UnsupportedSchemaError
from structgen.kbnf import ast, composition
from structgen.kbnf.characters import character_regex, of_characters
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.gbnf import parse_gbnf
from structgen.kbnf.reading.kbnf import parse
from structgen.kbnf.reading.lark import parse_lark
from structgen.kbnf.reading.lark_lexer import LarkDialect
from structgen.kbnf.regular import regular
from structgen.kbnf.rewriting import group_rules, nodes_of
from structgen.kbnf.validation import find_start, validate
from structgen.languages import language_source
from structgen.limits import Limits
from structgen.schema.algebra import Language
from structgen.schema.algebra.text_grammars import TextGrammar
from structgen.schema.own_keywords import GRAMMAR
from structgen.schema.reading.scopes import ROOT, Location, pointer
from structgen.schema.reading.substrings import substring_grammar

__all__ = ["texts_of_grammar", "tree_of_keyword"]

_MAX_KEPT = 256
_MAX_SHOWN = 60  # characters of a value in a message
_MAX_REGULAR_NODES = 2_000  # of a grammar, its nonterminals written out, that is read as one regex
_FORMS = "docs/composition.md lists its forms"
_KNOWN: dict[tuple[str, Limits], Language | TextGrammar] = {}


def texts_of_grammar(value: Any, location: Location = ROOT, limits: Limits | None = None) -> Language | TextGrammar:
    """Return the texts of the grammar that the keyword names.

    Args:
        value: the value of the keyword.
        location: the location of the schema that holds it, for errors.
        limits: bounds on the size of the grammar.

    Raises:
        SchemaError: the value has another form.
        UnsupportedSchemaError: the grammar is invalid, or its terminals match no whole characters.
        LimitExceededError: it is larger than `limits` allow.
    """
    limits = limits or Limits()
    try:
        key = (json.dumps(value), limits)
        found = _KNOWN.get(key)
        if found is None:
            found = _made(value, key[0], limits)
            if len(_KNOWN) >= _MAX_KEPT:
                _KNOWN.clear()
            _KNOWN[key] = found
    except GrammarError as error:
        message = "cannot use the grammar: " + str(error).removesuffix(f"\nHint: {error.hint}")
        raise UnsupportedSchemaError(message, pointer=pointer(location), keyword=GRAMMAR, hint=error.hint) from error
    except (TypeError, ValueError, RecursionError) as error:
        if isinstance(error, StructgenError):
            raise
        raise SchemaError(
            f"{GRAMMAR} cannot be read: {error}", pointer=pointer(location), keyword=GRAMMAR, hint=_FORMS
        ) from error
    return found


def _made(value: Any, text: str, limits: Limits) -> Language | TextGrammar:
    tree = tree_of_keyword(value, limits)
    # As everywhere, KBNF alone has no empty text, but a grammar that is made of others may have it.
    never_empty = isinstance(value, dict) and not value.keys().isdisjoint({"kbnf", "language"})
    name = f"{GRAMMAR} {text}"
    tree = of_characters(tree)
    regex = _regular(tree)
    if regex is not None:
        return Language(name, rx.difference(regex, rx.EMPTY) if never_empty else regex)
    tables = normalize(tree, never_empty=never_empty, must_have_text=True, limits=limits)
    return TextGrammar(name, tables) if has_text(tables) else Language(name, rx.EMPTY)


def _regular(tree: ast.Grammar) -> rx.Regex | None:
    """Return the regex of a small grammar without recursion; None for all others."""
    grouped = group_rules(tree)
    if _written_out(tree.start, grouped) > _MAX_REGULAR_NODES:
        return None
    try:
        return character_regex(regular(ast.Reference(tree.start), grouped))
    except GrammarError:  # it has look-aheads or margins; what else is wrong, `normalize` finds as well
        return None


def _written_out(start: str, grouped: Mapping[str, Sequence[ast.Expression]]) -> float:
    """Return the number of nodes of a grammar with the bodies of its nonterminals in their place.

    It is infinite where a nonterminal is recursive.
    """
    sizes: dict[str, float] = {}
    stack = [(start, False)]
    while stack:
        name, is_last = stack.pop()
        if is_last:
            nodes = [node for body in grouped[name] for node in nodes_of(body)]
            sizes[name] = sum(sizes.get(node.name, 1) if isinstance(node, ast.Reference) else 1 for node in nodes)
        elif name in sizes or name not in grouped:
            continue
        else:
            sizes[name] = inf  # while its bodies are counted
            stack.append((name, True))
            nodes = [node for body in grouped[name] for node in nodes_of(body)]
            stack += [(node.name, False) for node in nodes if isinstance(node, ast.Reference)]
    return sizes.get(start, inf)


def tree_of_keyword(value: Any, limits: Limits) -> ast.Grammar:
    """Return the tree of the grammar that the keyword names.

    Raises:
        GrammarError: a grammar does not parse.
        ValueError, TypeError: the value has another form.
        LimitExceededError: it is larger than `limits` allow.
    """
    if isinstance(value, str):
        return composition.of_text(value)
    if isinstance(value, dict):
        for kind, (read, options) in _READERS.items():
            if kind in value and value.keys() <= {kind, *options}:
                return read(value[kind], value, limits)
    raise ValueError(f"{_shown(value)} names no grammar")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def _kbnf(text: Any, value: Mapping[str, Any], limits: Limits) -> ast.Grammar:
    tree = parse(_text(text), limits=limits)
    tree = replace(tree, start=_text(value["start"]) if "start" in value else find_start(tree))
    validate(tree)
    return tree


def _language(name: Any, value: Mapping[str, Any], limits: Limits) -> ast.Grammar:
    return _kbnf(language_source(_text(name)), value, limits)


def _gbnf(text: Any, value: Mapping[str, Any], limits: Limits) -> ast.Grammar:
    return parse_gbnf(_text(text), limits=limits)


def _lark(text: Any, value: Mapping[str, Any], limits: Limits) -> ast.Grammar:
    dialect = value.get("dialect", "llguidance")
    if dialect not in get_args(LarkDialect):
        raise ValueError(f"the dialect is one of {', '.join(get_args(LarkDialect))}, not {dialect!r}")
    return parse_lark(_text(text), dialect=dialect, start=_text(value.get("start", "start")), limits=limits)


def _regex(pattern: Any, value: Mapping[str, Any], limits: Limits) -> ast.Grammar:
    return ast.Grammar.of_regex(parse_regex(_text(pattern), "python", limits=limits))


def _substring(text: Any, value: Mapping[str, Any], limits: Limits) -> ast.Grammar:
    return substring_grammar(_text(text), value.get("unit", "character"), value.get("max_length"))


def _parts(parts: Any, limits: Limits, combine: Callable[[Sequence[ast.Grammar]], ast.Grammar]) -> ast.Grammar:
    if not isinstance(parts, list) or not parts:
        raise ValueError(f"{_shown(parts)} is no list of grammars")
    return combine([tree_of_keyword(part, limits) for part in parts])


def _concat(parts: Any, value: Mapping[str, Any], limits: Limits) -> ast.Grammar:
    return _parts(parts, limits, composition.concatenation)


def _union(parts: Any, value: Mapping[str, Any], limits: Limits) -> ast.Grammar:
    return _parts(parts, limits, composition.union)


def _repeat(part: Any, value: Mapping[str, Any], limits: Limits) -> ast.Grammar:
    least, most = value.get("least", 0), value.get("most")
    return composition.repetition(tree_of_keyword(part, limits), least, most, _text(value.get("separator", "")))


def _named(part: Any, value: Mapping[str, Any], limits: Limits) -> ast.Grammar:
    return composition.renamed_start(tree_of_keyword(part, limits), _text(value.get("name")))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{_shown(value)} is no text")
    return value


_READERS: dict[str, tuple[Callable[[Any, Mapping[str, Any], Limits], ast.Grammar], tuple[str, ...]]] = {
    "language": (_language, ()),
    "kbnf": (_kbnf, ("start",)),
    "gbnf": (_gbnf, ()),
    "lark": (_lark, ("start", "dialect")),
    "regex": (_regex, ()),
    "substring": (_substring, ("unit", "max_length")),
    "concat": (_concat, ()),
    "union": (_union, ()),
    "repeat": (_repeat, ("least", "most", "separator")),
    "named": (_named, ("name",)),
}
