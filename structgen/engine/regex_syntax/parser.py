r"""The parser of regexes, in the syntax of ECMA-262 (with the flag `u`, leniently), Python's `re`, or Rust's `regex`.

    pattern  --_Parser-->  Pattern (a tree with assertions)  --assertions.resolve-->  Regex (a tree without)

The parser keeps its own stack of open groups, so that brackets may nest to any depth. Groups that only group leave no
node. A back-reference is replaced before, where the group has few texts (`back_references.py`). A construct that no
automaton can match (other back-references, atomic groups) or that is not supported is refused by name, with line and
column:

    line 1, column 5: regex: a back-reference ('\1') is not supported: no automaton can match it
      (a)
         ^
"""

from __future__ import annotations

import itertools
import math
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from structgen.engine.regex.tree import EMPTY, Chars, Literal, Regex
from structgen.engine.regex.unicode_classes import ANY, Ranges, difference_of
from structgen.engine.regex_syntax.assertion_tree import (
    Asserting,
    CannotRepeat,
    Pattern,
    alternatives,
    assertion,
    join,
    line_anchor,
    look_ahead,
    look_behind,
    repeated,
    word_boundary,
    word_edge,
)
from structgen.engine.regex_syntax.assertions import resolve
from structgen.engine.regex_syntax.edges import edges
from structgen.engine.regex_syntax.look_behind_conditions import conditions_of_body, texts_of_sets
from structgen.engine.regex_syntax.open_ends import OpenEnd, open_ends
from structgen.engine.regex_syntax.reader import Dialect, Flags, Reader, read_class, read_escape, word_characters
from structgen.errors import GrammarError, LimitExceededError
from structgen.limits import Limits

__all__ = ["Dialect", "parse_part", "parse_readings", "parse_regex"]

MAX_COUNT_DIGITS = 9
MAX_ASSERTIONS = 300  # of one pattern
MAX_ASSERTION_DEPTH = 100  # nested groups with assertions

_BACK_REFERENCES = re.compile(r"\\[1-9k]|\(\?P=")
_COUNTS = re.compile(r"\{([0-9]+)?(,)?([0-9]+)?\}")
_COUNTS_WITH_BLANKS = re.compile(r"\{\s*([0-9]+)?\s*(?:(,)\s*([0-9]+)?\s*)?\}")  # of Rust
_NEW_LINES: dict[str, Ranges] = {
    "ecma": ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)),
    "python": ((0x0A, 0x0A),),
    "rust": ((0x0A, 0x0A),),
}
_FLAG_LETTERS = {"ecma": "ims", "python": "aimsux", "rust": "imRsuUx"}
_CRLF: Ranges = ((0x0A, 0x0A), (0x0D, 0x0D))
_ASCII_END = 0x80
_TEXT_ANCHORS = {"python": {"A": "begin", "Z": "end"}, "rust": {"A": "begin", "z": "end"}, "ecma": {}}  # by dialect
_WORD_EDGES = {"<": "start", ">": "end"}  # of Rust: `\<` and `\>`
_NAMED_WORD_EDGE = re.compile(r"\{(start|end|start-half|end-half)\}")


@dataclass(slots=True)
class _Group:
    """An open group, or the whole pattern.

    Attributes:
        begin: the position of its bracket.
        flags: the current flags in it.
        kind: "group", "look-ahead", "negative look-ahead", "look-behind" or "negative look-behind".
        done: the alternatives before the last `|`, each with its depth.
        items: the items of the current alternative, each with its depth and position.
    """

    begin: int
    flags: Flags
    kind: str = "group"
    done: list[tuple[Pattern, int]] = field(default_factory=list)
    items: list[tuple[Pattern, int, int]] = field(default_factory=list)


def parse_regex(
    pattern: str, dialect: Dialect = "rust", *, anchored: bool = True, limits: Limits | None = None
) -> Regex:
    r"""Return the regex tree of a pattern, over texts in UTF-8.

    Args:
        pattern: the regular expression.
        dialect: "rust" (crate `regex`: Unicode classes, flags, set operations, no look-around), "ecma" (the dialect of
            JSON Schema's `pattern`), or "python" (`re`).
        anchored: True if the whole text must match, so that `^` at its begin and `$` at its end have no effect. False
            if a match somewhere in the text is enough.
        limits: `regex_nodes` and `regex_depth` bound the tree.

    Returns:
        A tree without assertions: look-ahead has become intersection and difference.

    Raises:
        GrammarError: the pattern does not parse, or has an unsupported construct; with line and column.
        LimitExceededError: the tree is larger than `regex_nodes` or `regex_depth` allow.

    Example:
        >>> parse_regex("ab|[c-e]", "ecma")
        Choice(parts=(Literal(data=b'ab'), Chars(ranges=((99, 101),))))
    """
    limits = limits if limits is not None else Limits()
    return _parsed(_without_back_references(pattern, dialect, limits), dialect, limits, anchored=anchored)


def parse_readings(pattern: str, dialect: Dialect, *, anchored: bool, limits: Limits) -> list[Regex]:
    """Return the regex trees of a pattern as validators read it: as ECMA-262 says, and as Python does if that differs.

    They differ in a back-reference to a group without a match: it matches the empty text, or nothing.

    Args:
        pattern: see `parse_regex`.
        dialect: see `parse_regex`.
        anchored: see `parse_regex`.
        limits: see `parse_regex`.

    Raises:
        GrammarError, LimitExceededError: see `parse_regex`.
    """
    texts = [_without_back_references(pattern, dialect, limits)]
    if dialect == "ecma" and texts[0] is not pattern:
        texts.append(_without_back_references(pattern, dialect, limits, unset_is_empty=False))
    return [_parsed(text, dialect, limits, anchored=anchored) for text in dict.fromkeys(texts)]


def _without_back_references(
    pattern: str, dialect: Dialect, limits: Limits, *, unset_is_empty: bool | None = None
) -> str:
    """Return a pattern without its back-references, where that is possible; see `back_references.py`."""
    if not _BACK_REFERENCES.search(pattern):
        return pattern
    from structgen.engine.regex_syntax.back_references import MAX_TEXTS, without_back_references  # few patterns need it

    def texts_of(group: str) -> list[str] | None:
        found = _Parser(_reader(group, dialect), limits).parse()
        sets = None if isinstance(found, Asserting) else texts_of_sets(found)
        if sets is None or sum(math.prod(map(_size, text)) for text in sets) > MAX_TEXTS:
            return None
        return ["".join(text) for each in sets for text in itertools.product(*map(_characters, each))]

    unset_is_empty = dialect == "ecma" if unset_is_empty is None else unset_is_empty
    return without_back_references(pattern, dialect, texts_of, unset_is_empty=unset_is_empty)


def _size(ranges: Ranges) -> int:
    return sum(high - low + 1 for low, high in ranges)


def _characters(ranges: Ranges) -> list[str]:
    return [chr(code_point) for low, high in ranges for code_point in range(low, high + 1)]


def _parsed(pattern: str, dialect: Dialect, limits: Limits, *, anchored: bool) -> Regex:
    """Return the regex tree of a pattern without back-references; see `parse_regex`."""
    reader = _reader(pattern, dialect)
    found = _Parser(reader, limits).parse()
    if not isinstance(found, Asserting):
        return resolve(found, anchored=anchored)
    with _errors_at(reader):
        resolved = resolve(found, anchored=anchored)
    _check_size(resolved, limits)
    return resolved


def parse_part(
    pattern: str, dialect: Dialect = "python", *, is_lazy: bool = False, limits: Limits | None = None
) -> list[OpenEnd]:
    """Return the texts that a pattern matches inside a longer text, each with the characters that must not follow.

    Args:
        pattern: the regular expression.
        dialect: see `parse_regex`.
        is_lazy: whether a lexer takes the shortest match.
        limits: see `parse_regex`.

    Raises:
        LooksOutside: an assertion sees more than the part and the next character.
        GrammarError, LimitExceededError: see `parse_regex`.

    Example:
        >>> [end.refused for end in parse_part("a(?!b)|c")]
        [(), ((98, 98),)]
    """
    limits = limits if limits is not None else Limits()
    reader = _reader(pattern, dialect)
    found = _Parser(reader, limits).parse()
    with _errors_at(reader):
        ends = open_ends(found, is_lazy=is_lazy)
    for end in ends:
        _check_size(end.regex, limits)
    return ends


def _reader(pattern: str, dialect: Dialect) -> Reader:
    if dialect not in _NEW_LINES:
        raise ValueError(f"dialect must be 'ecma', 'python' or 'rust', not {dialect!r}")
    return Reader(pattern, dialect)


@contextmanager
def _errors_at(reader: Reader) -> Iterator[None]:
    """Add the position in the pattern to errors of resolving its assertions."""
    try:
        yield
    except CannotRepeat as error:
        reader.fail(str(error), error.begin)
    except GrammarError as error:
        reader.fail(str(error), 0)


def _check_size(regex: Regex, limits: Limits) -> None:
    """Check the size of a tree, in which resolved assertions may have multiplied nodes."""
    nodes = 0
    stack: list[tuple[Regex, int]] = [(regex, 1)]
    while stack:
        node, depth = stack.pop()
        nodes += 1
        if nodes > limits.regex_nodes:
            raise LimitExceededError("regex_nodes", limits.regex_nodes)
        if depth > limits.regex_depth:
            raise LimitExceededError("regex_depth", limits.regex_depth)
        parts = getattr(node, "parts", None) or ((node.body,) if hasattr(node, "body") else ())
        stack.extend((part, depth + 1) for part in parts)


class _Parser:
    """A run over a pattern: the cursor, the open groups, and the counts that limits bound."""

    def __init__(self, reader: Reader, limits: Limits) -> None:
        self._reader = reader
        self._dialect = reader.dialect
        self._limits = limits
        self._nodes = 0
        self._assertions = 0
        self._groups = [_Group(0, Flags(one_i=reader.dialect == "python"))]

    def parse(self) -> Pattern:
        """Return the tree of the whole pattern."""
        reader = self._reader
        while reader.position < len(reader.text):
            self._read_one()
        if len(self._groups) > 1:
            reader.fail("a group is not closed: ')' is missing", self._groups[-1].begin)
        return self._closed(self._groups[0])[0]

    def _read_one(self) -> None:
        """Read one element of the pattern into the innermost open group."""
        reader = self._reader
        group = self._groups[-1]
        begin = reader.position
        character = reader.take()
        match character:
            case "(":
                self._open(begin)
            case ")":
                self._close(begin)
            case "|":
                group.done.append(self._sequence(group))
                group.items = []
            case "[":
                self._add_class(read_class(reader, group.flags), begin)
            case ".":
                self._add_class(ANY if group.flags.dot_all else difference_of(ANY, self._new_lines()), begin)
            case "^":
                self._add_anchor("begin", begin)
            case "$":
                self._add_anchor("end_or_newline" if self._dialect == "python" else "end", begin)
            case "*" | "+" | "?":
                self._quantify({"*": (0, None), "+": (1, None), "?": (0, 1)}[character], begin)
            case "{":
                self._brace(begin)
            case "\\":
                self._escape(begin)
            case _ if group.flags.verbose and (character.isspace() or character == "#"):
                if character == "#":
                    end = reader.text.find("\n", begin)
                    reader.position = len(reader.text) if end < 0 else end
            case _:
                self._add_character(ord(character), begin)

    def _add(self, item: Pattern, depth: int, begin: int) -> None:
        """Append an item to the current alternative."""
        self._nodes += 1
        if self._nodes > self._limits.regex_nodes:
            raise LimitExceededError("regex_nodes", self._limits.regex_nodes)
        if depth > self._limits.regex_depth:
            raise LimitExceededError("regex_depth", self._limits.regex_depth)
        if isinstance(item, Asserting) and item.depth > MAX_ASSERTION_DEPTH:
            self._reader.fail(f"anchors and look-ahead are nested more than {MAX_ASSERTION_DEPTH} deep", begin)
        self._groups[-1].items.append((item, depth, begin))

    def _new_lines(self) -> Ranges:
        """Return the characters that end a line, under the current flags."""
        return _CRLF if self._groups[-1].flags.crlf else _NEW_LINES[self._dialect]

    def _add_class(self, ranges: Ranges, begin: int) -> None:
        """Append one character of a class; without the flag u, Rust's classes are sets of bytes."""
        if self._is_of_bytes() and ranges and ranges[-1][1] >= _ASCII_END:
            self._reader.fail("this class under the flag -u matches bytes that are no characters", begin)
        self._add_chars(ranges, begin)

    def _is_of_bytes(self) -> bool:
        """Return whether classes and escapes are sets of bytes here: under Rust's flag `-u`."""
        return self._dialect == "rust" and self._groups[-1].flags.ascii

    def _add_chars(self, ranges: Ranges, begin: int) -> None:
        """Append one character of a set, to which the flags were applied."""
        self._add(Chars(ranges), 1, begin)

    def _add_character(self, code_point: int, begin: int) -> None:
        """Append one character."""
        if 0xD800 <= code_point <= 0xDFFF:
            self._reader.fail("a lone surrogate is no character", begin)
        ranges = self._groups[-1].flags.folded(((code_point, code_point),))
        if ranges == ((code_point, code_point),):
            self._add(Literal(chr(code_point).encode()), 1, begin)
        else:
            self._add_chars(ranges, begin)

    def _add_anchor(self, kind: str, begin: int) -> None:
        """Append an anchor."""
        self._count_assertion(begin)
        flags = self._groups[-1].flags
        if flags.multi_line:
            edge = "begin" if kind == "begin" else "end"
            self._add(line_anchor(edge, self._new_lines(), crlf=flags.crlf), 1, begin)
        else:
            self._add(assertion(kind), 1, begin)

    def _count_assertion(self, begin: int) -> None:
        """Count an assertion, to bound the work of resolving them."""
        self._assertions += 1
        if self._assertions > MAX_ASSERTIONS:
            self._reader.fail(f"there are more than {MAX_ASSERTIONS} anchors and look-aheads", begin)

    def _escape(self, begin: int) -> None:
        """Append the item of an escape outside of classes."""
        letter = self._reader.peek()
        anchors = _TEXT_ANCHORS[self._dialect]
        if letter in anchors:
            self._reader.take()
            self._count_assertion(begin)
            self._add(assertion(anchors[letter]), 1, begin)
            return
        flags = self._groups[-1].flags
        if letter in ("b", "B") or (letter in _WORD_EDGES and self._dialect == "rust"):
            self._word_assertion(self._reader.take(), begin)
            return
        found = read_escape(self._reader, flags, in_class=False)
        if not isinstance(found, int):
            self._add_class(found if self._dialect == "python" else flags.folded(found), begin)
            return
        if self._is_of_bytes() and found >= _ASCII_END and letter == "x" and self._reader.text[begin + 2] != "{":
            self._reader.fail("this escape under the flag -u is a byte that is no character", begin)
        self._add_character(found, begin)

    def _word_assertion(self, letter: str, begin: int) -> None:
        r"""Append `\b` or `\B`, or one of Rust's edges of words: `\<`, `\>`, `\b{start}` and so on."""
        reader = self._reader
        self._count_assertion(begin)
        word = word_characters(reader, self._groups[-1].flags)
        edge = _WORD_EDGES.get(letter)
        if letter == "b" and self._dialect == "rust":
            named = _NAMED_WORD_EDGE.match(reader.text, reader.position)
            if named is not None:
                edge = named[1]
                reader.position = named.end()
        # Before 3.14, Python's \B does not hold in the empty text.
        in_text = self._dialect == "python" and sys.version_info < (3, 14)
        found = word_edge(word, edge) if edge else word_boundary(word, negative=letter == "B", in_text=in_text)
        self._add(found, 1, begin)

    def _brace(self, begin: int) -> None:
        """Read a counted repetition, or a brace that is a plain character."""
        counts = self._counts(begin)
        if counts is not None:
            self._reader.position = counts[2]
            self._quantify(counts[:2], begin)
        elif self._dialect == "rust":
            self._reader.fail("'{' does not begin a counted repetition", begin, hint="write \\{ for the character")
        else:
            self._add_character(ord("{"), begin)

    def _counts(self, begin: int) -> tuple[int, int | None, int] | None:
        """Return the counts of a `{m,n}` at a position, and the position after it; None if there is none."""
        counts = _COUNTS_WITH_BLANKS if self._dialect == "rust" else _COUNTS
        found = counts.match(self._reader.text, begin)
        if found is None:
            return None
        low, comma, high = found.groups()
        if not low and not ((comma and self._dialect == "python") or (high and self._dialect == "rust")):
            return None
        for digits in (low, high):
            if digits and len(digits.lstrip("0")) > MAX_COUNT_DIGITS:
                self._reader.fail(f"a count has more than {MAX_COUNT_DIGITS} digits", begin)
        least = int(low) if low else 0
        return least, (int(high) if high else None) if comma else least, found.end()

    def _quantify(self, counts: tuple[int, int | None], begin: int) -> None:
        """Repeat the last item."""
        reader = self._reader
        low, high = counts
        items = self._groups[-1].items
        if not items:
            reader.fail("there is nothing to repeat", begin)
        if high is not None and low > high:
            reader.fail("the counts of a repetition are in the wrong order", begin)
        item, depth, item_begin = items.pop()
        if isinstance(item, Asserting) and self._dialect != "rust" and reader.text[item_begin] != "(":
            reader.fail("an anchor cannot be repeated", begin)
        if self._dialect == "ecma" and reader.text.startswith(("(?=", "(?!", "(?<=", "(?<!"), item_begin):
            reader.fail("look-around by itself cannot be repeated", item_begin)
        is_lazy = reader.accept("?")  # the language is the same
        if reader.peek() in ("+", "*", "?", "{") and self._dialect != "rust":
            self._refuse_second_quantifier(is_lazy)
        body = repeated(item, low, high)
        if isinstance(body, Asserting):
            body.begin = item_begin
        self._add(body, depth + 1, item_begin)

    def _refuse_second_quantifier(self, is_lazy: bool) -> None:
        """Refuse Python's possessive quantifiers, and quantifiers of quantifiers."""
        reader = self._reader
        if reader.peek() == "{" and self._counts(reader.position) is None:
            return
        if reader.peek() == "+" and self._dialect == "python" and not is_lazy:
            reader.fail("possessive quantifiers are not supported")
        reader.fail("a quantifier follows a quantifier", hint="put the repeated part in (?:...)")

    def _open(self, begin: int) -> None:
        """Open a group, or read one that only sets flags."""
        reader = self._reader
        flags = self._groups[-1].flags
        group = _Group(begin, flags)
        if reader.accept("?"):
            if reader.accept(":"):
                pass
            elif reader.peek() in ("=", "!") or reader.peek(2) in ("<=", "<!"):
                group.kind = self._look_around(begin)
            elif reader.peek() == ">":
                reader.fail("atomic groups are not supported", begin)
            elif (reader.peek() == "<" and self._dialect != "python") or (
                reader.peek(2) == "P<" and self._dialect != "ecma"
            ):
                reader.until("<", "a group's name")
                self._name(begin)
            elif self._dialect == "python" and reader.accept("#"):
                reader.until(")", "a comment")
                return
            elif reader.peek() in ("P", "("):
                reader.fail("back-references and conditions are not supported", begin)
            elif not self._set_flags(group, begin):
                return
        self._groups.append(group)

    def _look_around(self, begin: int) -> str:
        """Read the sign of a look-around, one of `=`, `!`, `<=` and `<!`; return the kind of its group."""
        if self._dialect == "rust":
            self._reader.fail("look-around is not supported in this dialect", begin)
        self._count_assertion(begin)
        side = "look-behind" if self._reader.accept("<") else "look-ahead"
        return side if self._reader.take() == "=" else f"negative {side}"

    def _name(self, begin: int) -> None:
        """Read a group's name; no construct here refers to it."""
        if not self._reader.until(">", "a group's name"):
            self._reader.fail("a group's name is empty", begin)

    def _set_flags(self, group: _Group, begin: int) -> bool:
        """Read `flags)` or `flags:`; return whether it opens a group."""
        reader = self._reader
        flags = group.flags
        value = True
        while True:
            letter = reader.take()
            if letter in (")", ":"):
                break
            if letter == "-" and value:
                value = False
            elif letter and letter in _FLAG_LETTERS[self._dialect]:
                if letter == "u":
                    flags = flags.with_letter("a", not value)
                elif letter != "U":
                    flags = flags.with_letter(letter, value)
            else:
                reader.fail("this kind of group is unknown or not supported", begin)
        group.flags = flags
        if letter == ":":
            return True
        whole = self._groups[0]
        if self._dialect != "rust" and (len(self._groups) > 1 or whole.items or whole.done or not value):
            reader.fail("flags of the whole pattern belong at its start", begin, hint="(?i:...) sets them for a part")
        self._groups[-1].flags = flags
        return False

    def _close(self, begin: int) -> None:
        """Close the innermost group and append it to the one around it."""
        if len(self._groups) == 1:
            self._reader.fail("a ')' has no '('", begin)
        group = self._groups.pop()
        found, depth = self._closed(group)
        if group.kind != "group":
            is_negative = group.kind.startswith("negative")
            if group.kind.endswith("look-behind"):
                self._check_look_behind(found, group.begin)
                found = look_behind(found, negative=is_negative)
            else:
                found = look_ahead(found, negative=is_negative)
            depth += 1
        self._add(found, depth, group.begin)

    def _check_look_behind(self, body: Pattern, begin: int) -> None:
        """Refuse a look-behind whose body is not a short list of texts, and one of several widths in Python."""
        if self._dialect == "python" and not isinstance(body, Asserting):
            seen = edges(body)
            if seen.shortest != seen.longest:
                self._reader.fail("Python needs a look-behind of one width", begin)
        try:
            conditions_of_body(body)
        except GrammarError as error:
            self._reader.fail(str(error), begin)

    def _sequence(self, group: _Group) -> tuple[Pattern, int]:
        """Return the current alternative of a group, with its depth."""
        if len(group.items) == 1:
            return group.items[0][:2]
        if not group.items:
            return EMPTY, 1
        return join(*(item for item, _, _ in group.items)), 1 + max(depth for _, depth, _ in group.items)

    def _closed(self, group: _Group) -> tuple[Pattern, int]:
        """Return all alternatives of a group, with their depth."""
        last = self._sequence(group)
        if not group.done:
            return last
        parts = [*group.done, last]
        return alternatives(*(part for part, _ in parts)), 1 + max(depth for _, depth in parts)
