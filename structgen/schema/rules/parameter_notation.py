"""The `Notation` of a call's arguments as elements, and the terminals of their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from structgen.engine.grammar.tables import Lazy, Spelling
from structgen.engine.regex import tree as rx
from structgen.schema.algebra import Inexpressible, Language, Shape, StringSet
from structgen.schema.json_text.layout import Layout
from structgen.schema.json_text.terminals import scalar_terminals
from structgen.schema.options import SchemaOptions
from structgen.schema.rules.mark_tokens import MarkTokens
from structgen.schema.rules.parameter_styles import STYLES, Kind, Style
from structgen.schema.rules.raw_strings import RawStrings

__all__ = ["ParameterNotation"]

_ANY = rx.ANY_BYTES
_BREAK = rx.Literal(b"\n")
_MAX_GAP = 64  # characters
_GAPS = {"any": b" \n\r\t", "line": b" \t", "single": b" \n", "compact": b""}
_LONGEST_GAP = {"any": _MAX_GAP, "line": _MAX_GAP, "single": 1, "compact": 0}

_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
_NOT_IN_KEYS = re.compile(r'["<>\n]')
_ENTITIES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"))


def _bytes(values: bytes) -> rx.Regex:
    return rx.ByteSet(sum(1 << value for value in values))


_NAME = rx.sequence(_bytes(_LETTERS), rx.star(_bytes(_LETTERS + b"0123456789")))
_NAMES = StringSet(within=(Language("names of arguments", _NAME),))


class _Marks(Layout):
    """The punctuation as marks for `ParameterRules`, and the keys that the schema names."""

    def __init__(self, style: Style, after_key: str, names: Collection[str], *, escapes: bool) -> None:
        super().__init__(",", ":")
        self._style = style
        self._after_key = after_key
        self._names = names
        self._escapes = escapes

    def key(self, name: str) -> rx.Regex:
        """Return a known key with the text around it.

        Raises:
            Inexpressible: the notation cannot write it.
        """
        return rx.Literal(f"{self._style.before_key}{self.written(name)}{self._after_key}".encode())

    def written(self, name: str) -> str:
        """Return the spelling of a key.

        Raises:
            Inexpressible: the notation cannot write it.
        """
        if self._escapes:
            for sign, entity in _ENTITIES:
                name = name.replace(sign, entity)
        is_close = name.startswith("/") and self._style.before_key.endswith("<")
        if not name or is_close or _NOT_IN_KEYS.search(name) or any(token in name for token in self._names):
            raise Inexpressible("properties", f"the key {name!r} cannot be written in this notation")
        return name

    def key_after(self, lead: str, name: str) -> tuple[rx.Regex, ...]:
        """Return a mark of the punctuation before a known key, and the key."""
        return (*{"{": (self.open_object,), ",": (self.comma,), "": ()}[lead], self.key(name))


class ParameterNotation:
    """The `Notation` of elements: the texts of keys; marks and nonterminals for everything else.

    Args:
        style: its name, a key of `STYLES`.
        excludes: texts that no string may hold.
        options: how values are written.
        tokens: ids of special tokens by name, which stand in the marks in place of their names.

    Attributes:
        style: the marks.
        layout: the punctuation.
        some_gap: white space; None if there is none between elements.
        tokens: the special tokens.
        other_keys: names; nothing where only declared keys are written. See `Notation`.
        before_capture: the beginning of the text before a captured key. The capture has the rest.
    """

    def __init__(
        self, style: str, excludes: Collection[str], options: SchemaOptions, tokens: Mapping[str, int] | None = None
    ) -> None:
        names = tuple(tokens or ())
        self.style = STYLES[style]
        self.tokens = MarkTokens(tokens or {})
        before, after = self.style.before_key, self.style.after_key
        start, end = self.tokens.last_end(before), self.tokens.first_begin(after)
        self.before_capture = [rx.Literal(before[:start].encode())] if start else []
        # A captured text holds no token, so a token after the key stands before the value.
        self._after_capture = after[end:]
        self._marks = _Marks(self.style, after[:end], names, escapes=style == "cohere_xml")
        self.layout: Layout = self._marks
        self.other_keys: StringSet | None = _NAMES if self.style.names else StringSet(texts=())
        self._plain = options.numbers == "plain"
        longest, gap = _LONGEST_GAP[options.whitespace], _bytes(_GAPS[options.whitespace])
        self._gap = rx.repeat(gap, 0, longest)
        self.some_gap = rx.repeat(gap, 1, longest) if longest else None
        self._raw_strings = RawStrings((self.style.unspelled, *excludes, *names))
        self._before_key = before[start:].encode()
        self._after_key = after[:end].encode()

    # --- the side of `LazyRules`: Notation ---------------------------------------------------------------------------

    def scalars(self, shape: Shape) -> list[Lazy]:
        """Return the nonterminal of a shape's scalars. See `Notation`."""
        shape = self._raw_strings.left(shape)
        return [Lazy(("scalars", shape))] if shape.null or shape.booleans or shape.numbers or shape.strings else []

    def check(self, shape: Shape) -> None:
        """Make the terminals of a shape's scalars. See `Notation`."""
        self.terminals(shape, self.after_key, rx.Literal(b""))
        scalar_terminals(shape, self._plain)  # as they are within JSON

    def keys(self, keys: StringSet, names: Collection[str]) -> rx.Regex:
        """Return the terminal of keys with the text around them. See `Notation`."""
        allowed = keys.regex()
        if names:
            allowed = rx.difference(allowed, rx.literal_set([name.encode() for name in names]))
        return rx.sequence(rx.Literal(self._before_key), allowed, rx.Literal(self._after_key))

    def key_of(self, text: bytes) -> str:
        """Return the key of a captured text. See `Notation`."""
        return text[len(self._before_key) : len(text) - len(self._after_key)].decode()

    def surely_begun(self, begun: bytes) -> str:
        """Return the characters of the key so far. See `Notation`."""
        return begun[len(self._before_key) :].decode(errors="ignore")  # without the last one, where it is unfinished

    def completions(self, keys: Collection[str], begun: bytes) -> tuple[Spelling, ...]:
        """Return the rests of keys with the text around them. See `Notation`."""
        whole = [self._before_key + key.encode("utf-8", "surrogatepass") + self._after_key for key in keys]
        return tuple([((text[len(begun) :],),) for text in whole if text.startswith(begun) and text != begun])

    # --- the side of `ParameterRules` --------------------------------------------------------------------------------

    def name_of(self, key: bytes) -> str:
        """Return the spelling of the name in a known key, for the mark after its value."""
        return key[len(self.style.before_key.encode()) : len(key) - len(self._after_key)].decode()

    def after_key(self, kind: Kind) -> rx.Regex:
        """Return the text between a key and its value."""
        opening = rx.Literal(self.style.opening(kind).encode())
        after = rx.Literal(self._after_capture.encode())
        return rx.sequence(after, self._gap, opening) if self.style.opens_after_gap else rx.sequence(after, opening)

    def before_item(self, kind: Kind) -> rx.Regex:
        """Return the text before an item of a list."""
        return rx.Literal(f"{self.style.item or ''}{self.style.opening(kind)}".encode())

    def closing(self, name: str, *, is_item: bool) -> rx.Regex:
        """Return the text after a value, and the gap after it."""
        close = rx.Literal(self.style.closing(name).encode())
        return close if is_item and not self.style.gap_between_items else rx.sequence(close, self._gap)

    def empty(self, opening: rx.Regex, closing: rx.Regex) -> rx.Regex:
        """Return the text of an object or list of no elements."""
        return rx.sequence(opening, self._gap, closing) if self.style.has_gaps else rx.sequence(opening, closing)

    def before_close(self, closing: rx.Regex) -> rx.Regex:
        """Return a gap and the text after a value."""
        return rx.sequence(self._gap, closing) if self.style.has_gaps else closing

    def ways_to_begin(self, opening: rx.Regex) -> list[list[rx.Regex]]:
        """Return the ways to write the text before a collection, and the gap after it; none of them may be empty."""
        if opening != rx.Literal(b""):
            return [[rx.sequence(opening, self._gap)]]
        return [[], *([[self.some_gap]] if self.some_gap is not None else [])]

    def terminals(self, shape: Shape, opening: Callable[[Kind], rx.Regex], closing: rx.Regex) -> list[rx.Regex]:
        """Return the terminals of a shape's scalars with the text around them.

        Raises:
            Inexpressible: no automaton can express a part.
        """
        found: list[rx.Regex] = []
        for strings in shape.strings:
            found.append(rx.sequence(opening("string"), self._raw(strings), closing))
        gap = self._gap if self.style.has_gaps else rx.Literal(b"")
        for kind, part in self._others(shape):
            for terminal in scalar_terminals(part, self._plain):
                found.append(rx.sequence(opening(kind), gap, terminal, gap, closing))
        return found

    def check_strings(self, shape: Shape) -> None:
        """Make sure that of each set of strings some can be written.

        Raises:
            Inexpressible: all of them hold a mark.
        """
        for strings in shape.strings:
            self._raw_strings.check(strings)

    def _others(self, shape: Shape) -> Sequence[tuple[Kind, Shape]]:
        """Return the scalars that are no strings, by the text before them."""
        empty = replace(shape, null=False, booleans=0, numbers=(), strings=(), arrays=(), objects=())
        parts: list[tuple[Kind, Shape]] = []
        if not self.style.open or set(self.style.open) <= {"", "string", "array", "object"}:
            other = replace(empty, null=shape.null, booleans=shape.booleans, numbers=shape.numbers)
            return [("number", other)]
        if shape.numbers:
            parts.append(("number", replace(empty, numbers=shape.numbers)))
        if shape.booleans:
            parts.append(("boolean", replace(empty, booleans=shape.booleans)))
        if shape.null:
            parts.append(("null", replace(empty, null=True)))
        return parts

    def _raw(self, strings: StringSet) -> rx.Regex:
        """Return the strings of a set as they are, without those that hold a mark.

        Raises:
            Inexpressible: none is left, or no automaton can express the set.
        """
        raw = self._raw_strings.regex(strings)
        return raw if strings == StringSet() and not self.style.has_sections else self._framed(raw)

    def _framed(self, regex: rx.Regex) -> rx.Regex:
        """Return texts with what a reader removes from around them."""
        if self.style.trims_line_breaks:
            return self._with_breaks(regex)
        if self.style.has_sections:
            bare = rx.difference(regex, rx.sequence(_ANY, _bytes(b"<&\n"), _ANY))
            return rx.choice(bare, rx.sequence(rx.Literal(b"<![CDATA["), regex, rx.Literal(b"]]>")))
        return regex

    def _with_breaks(self, regex: rx.Regex) -> rx.Regex:
        """Return texts with the line breaks around them that a reader removes: one at each end."""
        bare = rx.difference(regex, rx.choice(rx.sequence(_BREAK, _ANY), rx.sequence(_ANY, _BREAK)))
        line_break = rx.optional(_BREAK)
        return rx.choice(rx.sequence(line_break, bare, line_break), rx.sequence(_BREAK, regex, _BREAK))
