r"""Notations of a call's arguments that are made as JSON is, with scalars and keys of their own.

    gemma            {city:<|"|>Lyon<|"|>,days:3,at:{x:null}}
    function_gemma   {city:<escape>Lyon<escape>,days:3,at:{x:null}}
    python           (city='Lyon', days=3, at={'x': None})

Gemma's keys are bare, and its strings stand as they are between two marks. In Python the arguments are named, and their
values are literals. A bare key has no white space, quotes or punctuation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import cache

from structgen.engine.automata.finite_languages import is_finite
from structgen.engine.automata.store import AutomatonStore
from structgen.engine.grammar.tables import Lazy, Spelling, Symbol
from structgen.engine.regex import tree as rx
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.engine.vocabulary.marks import mark_of
from structgen.schema.algebra import ALL_STRINGS, Inexpressible, Language, Shape, StringSet
from structgen.schema.json_text.layout import LAYOUTS, Layout
from structgen.schema.json_text.strings import begun_text
from structgen.schema.json_text.terminals import scalar_terminals
from structgen.schema.options import SchemaOptions
from structgen.schema.reading.excluded_texts import WithoutTexts
from structgen.schema.reading.writable import Narrowed
from structgen.schema.rules import python_strings
from structgen.schema.rules.raw_strings import RawStrings

__all__ = ["GemmaNotation", "KeywordNotation", "PythonNotation"]

_BARE = r"[^\s:=,(){}\[\]\"'<>\\\x00-\x1f\x7f]+"
_BARE_KEY = re.compile(_BARE)
_SIGNS = {"single": (", ", ": ")}  # the comma and the colon; without white space in other modes


def _numbers(shape: Shape, plain: bool) -> list[rx.Regex]:
    """Return the terminals of a shape's numbers, in JSON's forms."""
    return scalar_terminals(Shape(numbers=shape.numbers), plain) if shape.numbers else []


def _words(shape: Shape, null: Sequence[bytes], true: bytes, false: bytes) -> list[rx.Regex]:
    """Return the terminal of null and booleans, given their words."""
    words = [*(null if shape.null else ()), *([true] if shape.booleans & 2 else [])]
    words += [false] if shape.booleans & 1 else []
    return [rx.literal_set(words)] if words else []


@cache
def _bare_language() -> Language:
    return Language("bare keys", parse_regex(_BARE, "python"))


class _Punctuation(Layout):
    """Punctuation whose signs are terminals of their own beside the keys, which a function spells.

    Args:
        comma: the text between two items or pairs.
        colon: the text after a key.
        spelled: returns the regex of a known key.
        gap: white space that may stand beside a sign; None where it is fixed.
        braces: the signs around the pairs of an object.
    """

    def __init__(
        self,
        comma: str,
        colon: str,
        spelled: Callable[[str], rx.Regex],
        gap: rx.Regex | None = None,
        braces: str = "{}",
    ) -> None:
        super().__init__(comma, colon, gap, braces)
        self._spelled = spelled

    def key(self, name: str) -> rx.Regex:
        """Return a known key and its colon.

        Raises:
            Inexpressible: the notation cannot write it.
        """
        return rx.sequence(self._spelled(name), self.colon)

    def key_after(self, lead: str, name: str) -> tuple[rx.Regex, ...]:
        """Return the punctuation before a known key, and the key."""
        return (*{"{": (self.open_object,), ",": (self.comma,), "": ()}[lead], self.key(name))


def _bare(name: str) -> rx.Regex:
    """Return a bare key.

    Raises:
        Inexpressible: it has a character that bare keys cannot have.
    """
    if not _BARE_KEY.fullmatch(name):
        raise Inexpressible(
            "properties", f"the key {name!r} cannot be written without quotes: it has a blank, a quote or punctuation"
        )
    return rx.Literal(name.encode())


class _BareKeys:
    """The side of a notation that spells keys, where they are bare; see `Notation`."""

    def __init__(self, narrowed: Narrowed | None) -> None:
        held = (narrowed.held,) if isinstance(narrowed, WithoutTexts) else ()
        self._keys = StringSet(within=(_bare_language(),), outside=held)

    @property
    def other_keys(self) -> StringSet | None:
        """The bare keys that hold no excluded text. See `Notation`."""
        return self._keys

    def check_keys(self, keys: StringSet) -> None:
        """Make sure that all keys of a set can be written, or infinitely many.

        Raises:
            Inexpressible: only a few can.
        """
        if keys == ALL_STRINGS[0]:
            return
        store, bare = AutomatonStore(), self._keys.regex()
        has_others = not store.is_empty(rx.difference(keys.regex(), bare))
        if has_others and is_finite(store, store.add(rx.intersection(keys.regex(), bare))):
            raise Inexpressible("patternProperties", "keys stand without quotes, so only few of them can be written")

    def keys(self, keys: StringSet, names: Collection[str]) -> rx.Regex:
        """Return the terminal of bare keys, without some names. See `Notation`."""
        allowed = keys.regex()
        return rx.difference(allowed, rx.literal_set([name.encode() for name in names])) if names else allowed

    def key_of(self, text: bytes) -> str:
        """Return the key of a captured text."""
        return text.decode()

    def surely_begun(self, begun: bytes) -> str:
        """Return the characters so far."""
        return begun.decode(errors="ignore")  # without the last one, where it is unfinished

    def completions(self, keys: Collection[str], begun: bytes) -> tuple[Spelling, ...]:
        """Return the rests of keys that begin with some bytes."""
        whole = [key.encode("utf-8", "surrogatepass") for key in keys]
        return tuple([((text[len(begun) :],),) for text in whole if text.startswith(begun) and text != begun])


class GemmaNotation(_BareKeys):
    """The `Notation` of Gemma.

    Args:
        mark: the text before and after a string.
        options: how values are written. Keys and signs have no white space beside them.
        token_id: the special token that the mark is; None where it is a text.
        narrowed: the texts of a regex that can be written; None if all can.
    """

    def __init__(self, mark: str, options: SchemaOptions, token_id: int | None, narrowed: Narrowed | None) -> None:
        super().__init__(narrowed)
        self.layout: Layout = _Punctuation(",", ":", _bare)
        self._plain = options.numbers == "plain"
        self._raw_strings = RawStrings((mark,))
        self._mark = rx.Literal(mark.encode() if token_id is None else mark_of(token_id))

    def scalars(self, shape: Shape) -> list[Symbol]:
        """Return the nonterminal of a shape's scalars. See `Notation`."""
        shape = self._raw_strings.left(shape)
        return [Lazy(("scalars", shape))] if shape.null or shape.booleans or shape.numbers or shape.strings else []

    def check(self, shape: Shape) -> None:
        """Make the terminals of a shape's scalars. See `Notation`."""
        self.bodies(shape)

    def bodies(self, shape: Shape) -> list[list[rx.Regex]]:
        """Return the bodies of a shape's scalars.

        Raises:
            Inexpressible: no automaton can express a part, or no string of a set can be written.
        """
        found = [[terminal] for terminal in _words(shape, (b"null", b"None"), b"true", b"false")]
        found += [[terminal] for terminal in _numbers(shape, self._plain)]
        for strings in shape.strings:
            self._raw_strings.check(strings)
            raw = self._raw_strings.regex(strings)
            if strings.contains(""):
                found.append([self._mark, self._mark])
            if strings.high != 0:
                found.append([self._mark, raw, self._mark])
        return found


class PythonNotation:
    """The `Notation` of literals of Python: of dicts, lists and scalars.

    Args:
        options: how values are written.
    """

    def __init__(self, options: SchemaOptions) -> None:
        comma, colon = _SIGNS.get(options.whitespace, (",", ":"))
        self.layout: Layout = _Punctuation(comma, colon, python_strings.both_quotes, LAYOUTS[options.whitespace].gap)
        self._plain = options.numbers == "plain"

    def scalars(self, shape: Shape) -> list[Symbol]:
        """Return the terminals of a shape's scalars. See `Notation`."""
        found: list[Symbol] = [*_words(shape, (b"None",), b"True", b"False"), *_numbers(shape, self._plain)]
        known: list[bytes] = []
        for strings in shape.strings:
            if strings.texts is None:
                found += python_strings.string_terminals(strings)
            else:
                known += [literal for text in strings.texts for literal in python_strings.literals(text)]
        return [*found, rx.literal_set(known)] if known else found

    def check(self, shape: Shape) -> None:
        """Make the terminals of a shape's scalars. See `Notation`."""
        self.scalars(shape)

    @property
    def other_keys(self) -> StringSet | None:
        """All keys. See `Notation`."""
        return None

    def check_keys(self, keys: StringSet) -> None:
        """Make the terminal of keys, to find out whether it can be made.

        Raises:
            Inexpressible: no automaton can express the set.
        """
        python_strings.keys_regex(keys, ())

    def keys(self, keys: StringSet, names: Collection[str]) -> rx.Regex:
        """Return the terminal of keys, without some names. See `Notation`."""
        return python_strings.keys_regex(keys, names)

    def key_of(self, text: bytes) -> str:
        """Return the key of a captured text. See `Notation`."""
        return python_strings.key_of(text)

    def surely_begun(self, begun: bytes) -> str:
        """Return the characters up to the first escape. See `Notation`."""
        return begun_text(begun)

    def completions(self, keys: Collection[str], begun: bytes) -> tuple[Spelling, ...]:
        """Return the rests of keys that begin with some bytes. See `Notation`."""
        return python_strings.completions(keys, begun)


class KeywordNotation(_BareKeys, PythonNotation):
    """The `Notation` of the named arguments of a call in Python, whose values are literals."""

    def __init__(self, options: SchemaOptions, narrowed: Narrowed | None) -> None:
        _BareKeys.__init__(self, narrowed)
        PythonNotation.__init__(self, options)
        comma, _ = _SIGNS.get(options.whitespace, (",", ":"))
        self.layout = _Punctuation(comma, "=", _bare, LAYOUTS[options.whitespace].gap, "()")
