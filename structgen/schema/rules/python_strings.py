r"""Strings and keys as literals of Python.

    'Lyon'   "it's"   'a\n\u00e9'   "say \"no\""

The escapes are those that JSON and Python read alike: no `\/`, and no surrogate pairs. Strings of a pattern or a format
are in double quotes, all others in either. Keys that the schema does not name have no escapes in single quotes.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from functools import cache, lru_cache

from structgen.engine.grammar.tables import Spelling
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.schema.algebra import ALL_STRINGS, Inexpressible, StringSet
from structgen.schema.json_text.strings import canonical, rest_of, spelling
from structgen.schema.json_text.terminals import key_regex, string_regex

__all__ = ["both_quotes", "completions", "key_of", "keys_regex", "literals", "string_terminals"]

_QUOTES = ('"', "'")
_HEX = "[0-9a-fA-F]"
# Of the code points of `"` and `'` there are no escapes by number: they end a literal of the other quotes in JSON.
_NUMBER = rf"u(?!002[27])(?:[0-9a-cA-CefEF]{_HEX}{{3}}|[dD][0-7]{_HEX}{{2}})"


@cache
def _character(quote: str) -> rx.Regex:
    return parse_regex(rf"[^{quote}\\\x00-\x1f]|\\(?:[{quote}\\bfnrt]|{_NUMBER})", "python")


_IN_SINGLE_QUOTES = frozenset("'\"\\")


@cache
def _key_in_single_quotes() -> rx.Regex:
    return parse_regex(r"'[^'\"\\\x00-\x1f]*'", "python")


@lru_cache(maxsize=256)
def _in_quotes(quote: str, low: int, high: int | None) -> rx.Regex:
    """Return the strings of some lengths in given quotes."""
    mark = rx.Literal(quote.encode())
    return rx.Sequence((mark, rx.Repeat(_character(quote), low, high), mark))


def string_terminals(strings: StringSet) -> list[rx.Regex]:
    """Return the terminals of a set of strings that is not given as a list.

    Raises:
        Inexpressible: no automaton can express the set.
    """
    if not (strings.within or strings.outside or strings.excluded):
        return [_in_quotes(quote, strings.low, strings.high) for quote in _QUOTES]
    return [rx.intersection(string_regex(strings), _in_quotes('"', 0, None))]


def literals(text: str) -> Iterator[bytes]:
    r"""Yield a known string in both quotes.

    >>> list(literals("it's"))
    [b'"it\'s"', b"'it\\'s'"]

    Raises:
        Inexpressible: the text holds a lone surrogate.
    """
    try:
        double = canonical(text)
    except UnicodeEncodeError as error:
        raise Inexpressible("enum") from error
    yield double
    inner = double[1 : len(double) - 1].replace(b'\\"', b'"').replace(b"'", b"\\'")
    yield b"'" + inner + b"'"


def both_quotes(text: str) -> rx.Regex:
    """Return a known string in either quotes."""
    return rx.literal_set(literals(text))


# --- keys that the schema does not name ------------------------------------------------------------------------------


def keys_regex(keys: StringSet, names: Collection[str]) -> rx.Regex:
    """Return the keys of a set, without some names.

    Raises:
        Inexpressible: no automaton can express the set.
    """
    double = rx.intersection(key_regex(keys, names), _in_quotes('"', 0, None))
    if keys != ALL_STRINGS[0]:
        return double
    named = [b"'" + name.encode() + b"'" for name in names if _IN_SINGLE_QUOTES.isdisjoint(name)]
    single = _key_in_single_quotes()
    if named:
        single = rx.difference(single, rx.literal_set(named))
    return rx.choice(double, single)


def key_of(text: bytes) -> str:
    """Return the key of a literal."""
    return str(ast.literal_eval(text.decode()))


def completions(keys: Collection[str], begun: bytes) -> tuple[Spelling, ...]:
    """Return the rests of the literals of some keys after some bytes."""
    return tuple([rest for key in keys for units in _spellings(key) if (rest := rest_of(units, begun))])


@lru_cache(maxsize=4096)
def _spellings(key: str) -> tuple[Spelling, ...]:
    """Return the ways to write a key: in double quotes, and in single quotes without escapes."""
    if not _IN_SINGLE_QUOTES.isdisjoint(key):
        return (spelling(key),)
    return spelling(key), ((b"'",), *((sign.encode("utf-8", "surrogatepass"),) for sign in key), (b"'",))
