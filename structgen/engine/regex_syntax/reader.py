"""The lexical part of regex syntax in three dialects: a cursor over the pattern, escapes, and bracket classes."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf
from typing import NoReturn

from structgen.engine.regex.unicode_classes import (
    ANY,
    POSIX_CLASSES,
    WHITE_SPACE,
    Ranges,
    case_closure,
    category,
    difference_of,
    intersection_of,
    negation_of,
    property_class,
    script,
    union_of,
    word_class,
)
from structgen.errors import GrammarError

__all__ = ["Dialect", "Flags", "Reader", "read_class", "read_escape", "word_characters"]

Dialect = OneOf["ecma", "python", "rust"]

_HEX = frozenset("0123456789abcdefABCDEF")
_OCTAL = frozenset("01234567")
_ANCHOR_HINTS = {
    ("rust", "Z"): r"\z",
    ("python", "z"): r"\Z",
    ("ecma", "A"): "^",
    ("ecma", "Z"): "$",
    ("ecma", "z"): "$",
}
_CONTROLS = {"a": 0x07, "f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
_PYTHON_SPACE = union_of([*WHITE_SPACE, (0x1C, 0x1F)])
_ECMA_SPACE = union_of([*difference_of(WHITE_SPACE, ((0x85, 0x85),)), (0xFEFF, 0xFEFF)])
_FLAG_FIELDS = {
    "i": "ignore_case",
    "s": "dot_all",
    "m": "multi_line",
    "x": "verbose",
    "a": "ascii",
    "R": "crlf",
}


@dataclass(frozen=True, slots=True)
class Flags:
    """The flags of a group: `i`, `s`, `m`, `x`, Python's `a` (in Rust `-u`), and Rust's `R`.

    `one_i` belongs to the dialect: see `case_closure`.
    """

    ignore_case: bool = False
    dot_all: bool = False
    multi_line: bool = False
    verbose: bool = False
    ascii: bool = False
    crlf: bool = False
    one_i: bool = False

    def with_letter(self, letter: str, value: bool) -> Flags:
        """Return the flags with one of them set or cleared."""
        return replace(self, **{_FLAG_FIELDS[letter]: value})

    def folded(self, ranges: Ranges) -> Ranges:
        """Return a set with the other cases of its characters, if case is ignored."""
        if not self.ignore_case:
            return ranges
        return case_closure(ranges, ascii_only=self.ascii, one_i=self.one_i)


@dataclass(slots=True)
class Reader:
    """A cursor over a pattern.

    Attributes:
        text: the pattern.
        dialect: the syntax of the pattern.
        position: the position of the next character.
    """

    text: str
    dialect: Dialect
    position: int = 0

    def peek(self, count: int = 1) -> str:
        """Return the next characters; fewer, or "", at the end."""
        return self.text[self.position : self.position + count]

    def take(self, count: int = 1) -> str:
        """Return the next characters and go past them."""
        found = self.peek(count)
        self.position += count
        return found

    def accept(self, expected: str) -> bool:
        """Go past `expected` if it comes next; return whether it did."""
        if self.text.startswith(expected, self.position):
            self.position += len(expected)
            return True
        return False

    def until(self, end: str, what: str) -> str:
        """Return the text up to `end`, and go past both."""
        found = self.text.find(end, self.position)
        if found < 0:
            self.fail(f"{what} is not closed: '{end}' is missing")
        text = self.text[self.position : found]
        self.position = found + len(end)
        return text

    def span(self, characters: Collection[str], most: int) -> str:
        """Return the longest run of the given characters that comes next, `most` at most, and go past it."""
        begin = self.position
        while (
            self.position < len(self.text) and self.position - begin < most and self.text[self.position] in characters
        ):
            self.position += 1
        return self.text[begin : self.position]

    def fail(self, message: str, position: int | None = None, *, hint: str = "") -> NoReturn:
        """Raise a GrammarError that points at a position, by default the current one."""
        offset = min(self.position if position is None else position, len(self.text))
        raise GrammarError.at(self.text, offset, f"regex: {message}", hint=hint)


def _hex_value(reader: Reader, digits: str, begin: int, least: int) -> int:
    """Return the code point of hexadecimal digits."""
    if len(digits) < least:
        reader.fail("hexadecimal digits are missing", begin)
    value = int(digits, 16) if len(digits) < 100 else sys.maxsize
    if value > 0x10FFFF:
        reader.fail("there is no such code point", begin)
    return value


def _braced(reader: Reader, begin: int) -> int:
    """Return the code point of `{…}`."""
    digits = reader.until("}", "the escape").strip()
    if not digits or not _HEX.issuperset(digits):
        reader.fail("hexadecimal digits are expected between the braces", begin)
    return _hex_value(reader, digits, begin, 1)


def _hex_escape(reader: Reader, letter: str, in_class: bool, begin: int) -> int:
    r"""Return the code point of `\x`, `\u` or `\U`, after its letter.

    In a class it may be half a surrogate pair, which `read_class` leaves out: no text has it.
    """
    if reader.dialect != "python" and (letter != "x" or reader.dialect == "rust") and reader.accept("{"):
        return _braced(reader, begin)
    width = {"x": 2, "u": 4, "U": 8}[letter]
    value = _hex_value(reader, reader.span(_HEX, width), begin, width)
    if reader.dialect == "ecma" and 0xD800 <= value <= 0xDBFF and reader.peek(2) == "\\u":
        # The two halves of one character, each in its own escape.
        after = reader.position
        reader.position += 2
        digits = reader.span(_HEX, 4)
        low = int(digits, 16) if len(digits) == 4 else 0
        if 0xDC00 <= low <= 0xDFFF:
            return 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00)
        reader.position = after
    if 0xD800 <= value <= 0xDFFF and (reader.dialect == "rust" or not in_class):
        reader.fail("a lone surrogate is no character", begin)
    return value


def _digit_escape(reader: Reader, letter: str, in_class: bool, begin: int) -> int:
    """Return the code point of an octal escape; refuse all other digits, which refer to a group."""
    if reader.dialect == "python":
        if letter == "0":
            return int("0" + reader.span(_OCTAL, 2), 8)
        digits = letter + reader.peek(2)
        if len(digits) == 3 and _OCTAL.issuperset(digits):
            if int(digits, 8) > 0o377:
                reader.fail("an octal escape ends at \\377", begin)
            reader.position += 2
            return int(digits, 8)
        if in_class and letter in _OCTAL:
            return int(letter + reader.span(_OCTAL, 2), 8)
    elif letter == "0" and (reader.dialect == "ecma" or not reader.peek().isdecimal()):
        return int("0" + reader.span(_OCTAL, 2), 8)  # more digits as web browsers read them without the flag u
    return reader.fail(f"a back-reference ('\\{letter}') is not supported: no automaton can match it", begin)


def _class_escape(reader: Reader, letter: str, flags: Flags) -> Ranges | None:
    r"""Return the class of `\d`, `\D`, `\s`, `\S`, `\w` or `\W`; None for any other letter."""
    dialect: str = "ecma" if flags.ascii else reader.dialect
    match letter.lower():
        case "d":
            found = POSIX_CLASSES["digit"] if dialect == "ecma" else category("Nd") or ()
        case "s":
            spaces = {"ecma": _ECMA_SPACE, "python": _PYTHON_SPACE, "rust": WHITE_SPACE}
            found = POSIX_CLASSES["space"] if flags.ascii else spaces[dialect]
        case "w":
            found = word_class(dialect)
            if reader.dialect == "ecma":
                found = flags.folded(found)
        case _:
            return None
    return negation_of(found) if letter.isupper() else found


def word_characters(reader: Reader, flags: Flags) -> Ranges:
    r"""Return the word characters, between which and others `\b` matches."""
    return _class_escape(reader, "w", flags) or ()


def _property_escape(reader: Reader, letter: str, begin: int) -> Ranges:
    r"""Return the class of `\p{…}` or `\P{…}`."""
    if reader.dialect == "python":
        reader.fail(f"Python's syntax has no '\\{letter}'", begin)
    if reader.accept("{"):
        name = reader.until("}", f"'\\{letter}'")
    elif reader.dialect == "rust" and reader.peek():
        name = reader.take()
    else:
        reader.fail(f"'\\{letter}' needs a property in braces", begin)
    negative = letter == "P"
    if reader.dialect == "rust" and name.startswith("^"):
        negative, name = not negative, name[1:]
    found = property_class(name)
    if found is None or (reader.dialect == "ecma" and _is_bare_script(name)):
        reader.fail(
            f"the Unicode property '{name}' is not supported",
            begin,
            hint="general categories such as \\p{L} and scripts such as \\p{Script=Greek} are",
        )
    return negation_of(found) if negative else found


def _is_bare_script(name: str) -> bool:
    """Return whether a property is the name of a script alone, which only Rust's syntax allows."""
    return "=" not in name and script(name) is not None


def read_escape(reader: Reader, flags: Flags, *, in_class: bool) -> int | Ranges:
    """Return the code point or the class of an escape, after its backslash.

    Args:
        reader: a cursor after the backslash; it goes past the escape.
        flags: the current flags.
        in_class: whether the escape is in a bracket class.

    Raises:
        GrammarError: the escape has no meaning in the dialect, or no automaton can match it.
    """
    begin = reader.position - 1
    letter = reader.take()
    if not letter:
        reader.fail("a backslash ends the pattern", begin)
    found = _class_escape(reader, letter, flags)
    if found is not None:
        return found
    if letter in "pP":
        return _property_escape(reader, letter, begin)
    if letter in "xu" or (letter == "U" and reader.dialect != "ecma"):
        return _hex_escape(reader, letter, in_class, begin)
    if letter in "0123456789":
        return _digit_escape(reader, letter, in_class, begin)
    if letter == "b" and in_class and reader.dialect != "rust":
        return 0x08
    if letter in _CONTROLS and not (letter == "a" and reader.dialect == "ecma"):
        return _CONTROLS[letter]
    if letter == "c" and reader.dialect != "python":
        control = reader.take()
        # In a class of ECMA-262, digits and `_` too: as web browsers do without the flag u.
        others = "0123456789_" if in_class and reader.dialect == "ecma" else ""
        if not (control.isascii() and (control.isalpha() or (control and control in others))):
            reader.fail("'\\c' needs a letter", begin)
        return ord(control) % 32
    if letter == "N" and reader.dialect == "python" and reader.accept("{"):
        name = reader.until("}", "'\\N'")
        try:
            return ord(unicodedata.lookup(name))
        except (KeyError, TypeError):
            reader.fail(f"there is no character named '{name}'", begin)
    if letter == "k":
        reader.fail("a back-reference ('\\k') is not supported: no automaton can match it", begin)
    if (letter.isascii() and letter.isalnum()) or (reader.dialect == "rust" and not letter.isascii()):
        hint = _ANCHOR_HINTS.get((reader.dialect, letter), "")
        reader.fail(f"the escape '\\{letter}' has no meaning in this dialect", begin, hint=hint and f"write {hint}")
    return ord(letter)


@dataclass(slots=True)
class _Brackets:
    """An open bracket class.

    Attributes:
        begin: the position of its `[`.
        negative: whether it is `[^…]`.
        items: the ranges after the last set operator.
        left: the set before that operator.
        operator: "&&", "--", "~~" or "".
    """

    begin: int
    negative: bool
    items: list[tuple[int, int]] = field(default_factory=list)
    left: Ranges = ()
    operator: str = ""

    def value(self) -> Ranges:
        """Return the set so far."""
        right = union_of(self.items)
        match self.operator:
            case "&&":
                return intersection_of(self.left, right)
            case "--":
                return difference_of(self.left, right)
            case "~~":
                return union_of([*difference_of(self.left, right), *difference_of(right, self.left)])
        return right


def read_class(reader: Reader, flags: Flags) -> Ranges:
    """Return the set of a bracket class, after its `[`. Iterative, since Rust's classes nest.

    Raises:
        GrammarError: the class does not parse.
    """
    stack = [_open_brackets(reader, flags)]
    while True:
        top = stack[-1]
        if reader.dialect == "rust" and flags.verbose:
            _skip_blanks(reader)
        begin = reader.position
        if begin >= len(reader.text):
            reader.fail("a class is not closed: ']' is missing", top.begin)
        if reader.accept("]"):
            stack.pop()
            found = negation_of(top.value()) if top.negative else top.value()
            if not stack:
                return intersection_of(found, ANY)
            stack[-1].items.extend(found)
        elif reader.dialect == "rust" and reader.peek() == "[":
            posix = _posix_class(reader, flags)
            if posix is not None:
                top.items.extend(posix)
            else:
                reader.take()
                stack.append(_open_brackets(reader, flags))
        elif reader.dialect == "rust" and reader.peek(2) in ("&&", "--", "~~"):
            top.left, top.operator, top.items = top.value(), reader.take(2), []
        else:
            _class_item(reader, flags, top, begin)


def _open_brackets(reader: Reader, flags: Flags) -> _Brackets:
    """Open a class after its `[`.

    A `]` that comes first is a character, except in ECMA-262; so is each `-` that comes first.
    """
    opened = _Brackets(reader.position - 1, reader.accept("^"))
    if reader.dialect == "rust":
        opened.items.extend((0x2D, 0x2D) for _ in reader.span("-", len(reader.text)))
    if reader.dialect != "ecma" and not opened.items and reader.accept("]"):
        reader.position -= 1
        _class_item(reader, flags, opened, reader.position)
    return opened


def _skip_blanks(reader: Reader) -> None:
    """Go past white space and comments."""
    while reader.peek() and (reader.peek().isspace() or reader.peek() == "#"):
        if reader.take() == "#":
            end = reader.text.find("\n", reader.position)
            reader.position = len(reader.text) if end < 0 else end


def _posix_class(reader: Reader, flags: Flags) -> Ranges | None:
    """Return the set of `[:name:]` or `[:^name:]`, if that comes next, with other cases if case is ignored."""
    if not reader.text.startswith("[:", reader.position):
        return None
    end = reader.text.find(":]", reader.position + 2)
    if end < 0:
        return None
    name = reader.text[reader.position + 2 : end]
    found = POSIX_CLASSES.get(name.removeprefix("^"))
    if found is None:
        return None
    reader.position = end + 2
    found = flags.folded(found)
    return difference_of(ANY, found) if name.startswith("^") else found


def _class_atom(reader: Reader, flags: Flags) -> int | Ranges:
    """Read one character or one escape in a class."""
    character = reader.take()
    return read_escape(reader, flags, in_class=True) if character == "\\" else ord(character)


def _folded_atom(reader: Reader, flags: Flags, atom: int | Ranges) -> Ranges:
    """Return an atom's set with the other cases of its characters, if case is ignored; `re` does not fold classes."""
    if isinstance(atom, int):
        return flags.folded(((atom, atom),))
    return atom if reader.dialect == "python" else flags.folded(atom)


def _class_item(reader: Reader, flags: Flags, brackets: _Brackets, begin: int) -> None:
    """Read one character, escape or range in a class."""
    low = _class_atom(reader, flags)
    ends = ("-]", "--") if reader.dialect == "rust" else ("-]",)
    if reader.peek() != "-" or reader.peek(2) in ends or len(reader.peek(2)) < 2:
        brackets.items.extend(_folded_atom(reader, flags, low))
        return
    reader.take()
    high = _class_atom(reader, flags)
    if isinstance(low, int) and isinstance(high, int):
        if low > high:
            reader.fail("a range of characters runs backwards", begin)
        brackets.items.extend(flags.folded(((low, high),)))
    elif reader.dialect == "ecma":
        for part in (low, 0x2D, high):  # as web browsers do without the flag u: the hyphen is a character
            brackets.items.extend(_folded_atom(reader, flags, part))
    else:
        reader.fail("a class cannot be the end of a range of characters", begin)
