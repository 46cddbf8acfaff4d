"""`template`: text with typed holes. Its value is a dict of the texts in the holes, parsed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Generic

from structgen.errors import GrammarError
from structgen.output_types.grammar import Grammar
from structgen.output_types.type_variables import HolesValue

__all__ = ["Hole", "Template", "template"]


@dataclass(frozen=True, slots=True)
class Hole:
    """A part of a template that the model fills in.

    Attributes:
        name: the key of its value.
        schema: the type, schema or grammar of its text.
    """

    name: str
    schema: Any


@dataclass(frozen=True, slots=True)
class Template(Generic[HolesValue]):
    """A text with holes. Make it with `template`.

    Attributes:
        pattern: the template as the caller wrote it.
        parts: the fixed texts and the holes, in order.
    """

    pattern: str
    parts: tuple[str | Hole, ...]

    def __repr__(self) -> str:
        return f"template({self.pattern!r})"


def template(pattern: str, /, **holes: Any) -> Template:
    """Ask for a text with typed holes. Its value is a dict with one entry for each hole.

    Args:
        pattern: the text. `{name:regex}` is a hole whose whole text matches the regex. `{name}` is a hole that the
            keyword argument of that name describes. Double a brace that is no hole, except inside a regex.
        holes: a type, a JSON Schema, a `Grammar`, `json_lines(…)` or another template for each `{name}`. Strings
            (`str`, dates, enumerations of strings) are written without quotes, all other values as JSON: `34`, `true`,
            `{"a": 1}`. A `str` without a pattern ends at the first occurrence of the text after its hole.

    Raises:
        GrammarError: a brace, name or regex is wrong, or a hole and the keyword arguments do not match.

    Example:
        >>> vocabulary = structgen.Vocabulary.from_bytes({0: b"Paris", 1: b": ", 2: b"2", 3: b""}, eos_token_ids=[3])
        >>> places = structgen.template("{city:[A-Z][a-z]+}: {inhabitants}", inhabitants=int)
        >>> structgen.compile(places, vocabulary).parse("Paris: 2000000")
        {'city': 'Paris', 'inhabitants': 2000000}
    """
    parts = _Reader(pattern, dict(holes)).parts()
    names = [part.name for part in parts if isinstance(part, Hole)]
    unused = [name for name in holes if name not in names]
    if unused:
        raise GrammarError(f"the template has no hole {unused[0]!r}", hint=f"write {{{unused[0]}}} where it belongs")
    return Template(pattern, tuple(parts))


_NAME = re.compile(r"[^\W\d]\w*")


class _Reader:
    """A reader of a template, from left to right."""

    def __init__(self, pattern: str, holes: dict[str, Any]) -> None:
        if not isinstance(pattern, str):
            raise GrammarError(f"a template is a string, not {type(pattern).__name__}")
        self._pattern = pattern
        try:
            pattern.encode()
        except UnicodeEncodeError as error:
            raise self._fail("a lone surrogate cannot be written", error.start) from error
        self._holes = holes
        self._names: set[str] = set()
        self._at = 0

    def parts(self) -> list[str | Hole]:
        """Return the fixed texts and the holes, in order."""
        found: list[str | Hole] = []
        text: list[str] = []
        while self._at < len(self._pattern):
            sign = self._pattern[self._at]
            if sign not in "{}":
                text.append(sign)
                self._at += 1
            elif self._pattern.startswith(sign * 2, self._at):
                text.append(sign)
                self._at += 2
            elif sign == "}":
                raise self._fail("a '}' without a '{'", self._at, hint="write }} for a brace")
            else:
                found += (["".join(text)] if text else []) + [self._hole()]
                text.clear()
        return [*found, "".join(text)] if text else found

    def _hole(self) -> Hole:
        began = self._at
        name = _NAME.match(self._pattern, began + 1)
        if name is None:
            raise self._fail("a hole needs a name", began, hint="write {{ for a brace")
        if name.group() in self._names:
            raise self._fail(f"a second hole {name.group()!r}", began, hint="each hole has a name of its own")
        self._names.add(name.group())
        self._at = name.end()
        if self._pattern.startswith("}", self._at):
            self._at += 1
            if name.group() not in self._holes:
                raise self._fail(
                    f"the hole {name.group()!r} has no type",
                    began,
                    hint=f"write {{{name.group()}:regex}}, or give template({name.group()}=…) a type",
                )
            return Hole(name.group(), self._holes[name.group()])
        if not self._pattern.startswith(":", self._at):
            raise self._fail("after the name of a hole comes '}' or ':'", self._at)
        return Hole(name.group(), self._regex(name.group(), began))

    def _regex(self, name: str, began: int) -> Grammar:
        if name in self._holes:
            raise self._fail(f"the hole {name!r} has a regex and a keyword argument", began)
        end = self._end_of_regex(began)
        try:
            regex = Grammar.regex(self._pattern[self._at + 1 : end])
        except GrammarError as error:
            raise self._fail(f"the regex of the hole {name!r} cannot be used: {error}", began) from error
        self._at = end + 1
        return regex

    def _end_of_regex(self, began: int) -> int:
        """Return the position of the brace that closes a hole: unpaired, not escaped, not in a character class."""
        depth = 1
        at = self._at + 1
        while at < len(self._pattern):
            sign = self._pattern[at]
            if sign == "\\":
                at += 1
            elif sign == "[":
                at = self._end_of_class(at)
            elif sign in "{}":
                depth += 1 if sign == "{" else -1
                if depth == 0:
                    return at
            at += 1
        raise self._fail("a hole is not closed", began, hint="write {{ for a brace")

    def _end_of_class(self, at: int) -> int:
        """Return the position of the bracket that closes a character class, or the end of the pattern."""
        at += 2 if self._pattern.startswith("^", at + 1) else 1
        if self._pattern.startswith("]", at):
            at += 1
        while at < len(self._pattern) and self._pattern[at] != "]":
            at += 2 if self._pattern[at] == "\\" else 1
        return at

    def _fail(self, message: str, at: int, *, hint: str = "") -> GrammarError:
        return GrammarError.at(self._pattern, at, message, hint=hint)
