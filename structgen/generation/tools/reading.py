r"""A model's text as text, reasoning and tool calls, in the format of a family; and the reverse.

    Let me see.<tool_call>\n{"name": "weather", "arguments": {"city": "Lyon"}}\n</tool_call>

is read as the text `Let me see.` and one call. `structgen.output_types.tool_formats` has the marks of the formats.
Free text of the grammar is text here: a call begins where the grammar's trigger stands, and after the begin of its
section. White space in the rest of the marks may be more or less than a model was trained to write.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from structgen.generation.tools import special
from structgen.generation.tools.messages import ParsedCall, ParsedReply, begun, unfinished, without_begun
from structgen.generation.tools.notations import read_arguments, write_arguments
from structgen.generation.tools.python_calls import PYTHON_CALLS
from structgen.output_types.tool_formats.families import FAMILIES as _NAMED
from structgen.output_types.tool_formats.families import Family
from structgen.output_types.tool_formats.more_families import MORE_FAMILIES

__all__ = ["FORMATS", "are_alike", "check_format", "read_reply", "write_reply"]

_SPECIAL: dict[str, special.Special] = special.FORMATS
FAMILIES = {name: family for name, family in {**_NAMED, **MORE_FAMILIES}.items() if name not in _SPECIAL}

FORMATS: tuple[str, ...] = tuple(sorted({*FAMILIES, *_SPECIAL}))
"""The names of the formats that can be read."""

_LEFT_OUT = {"<tool_call>\n<function=NAME>\n": "<tool_call>\n"}
"""For each begin mark, the part that models sometimes leave out. Qwen 3 Coder writes calls without `<tool_call>`."""


def read_reply(
    format: str, text: str, schemas: Mapping[str, Any] | None = None, *, partial: bool = False
) -> ParsedReply:
    r"""Read a model's text.

    Args:
        format: the name of the format.
        text: the text, with its special tokens as `<|name|>`.
        schemas: the JSON Schemas of the tools' arguments by name; formats in XML need them. None where they are not
            known; without any tool, all of a text is text in formats whose calls stand in free text.
        partial: whether the text may end within a call, which is then the last one and not complete.

    Raises:
        ValueError: the format is unknown, or a call is not in the format.

    Example:
        >>> read_reply("qwen_3", 'Hm. <tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>').calls[0].name
        'f'
    """
    check_format(format)
    known = schemas or {}
    if schemas is not None and not known and (format in FAMILIES or format in PYTHON_CALLS):
        return ParsedReply(text, [])
    if format in _SPECIAL:
        return _SPECIAL[format].read(text, known, partial)
    return _Reader(FAMILIES[format], text, known, partial).read()


def write_reply(format: str, text: str, calls: Sequence[ParsedCall]) -> str:
    """Return the text of a reply; the reverse of `read_reply`.

    Args:
        format: the name of the format.
        text: the text before the calls.
        calls: the calls.
    """
    check_format(format)
    if format in _SPECIAL:
        return _SPECIAL[format].write(text, calls)
    family = FAMILIES[format]
    if not calls:
        return text
    opening, closing = family.section or ("", "")
    written = [_written(family, call, number) for number, call in enumerate(calls)]
    return f"{text}{opening}{family.separator.join(written)}{closing}"


def check_format(format: str) -> None:
    """Check the name of a format.

    Raises:
        ValueError: it is unknown.
    """
    if format not in FORMATS:
        close = get_close_matches(str(format), FORMATS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(FORMATS)}"
        raise ValueError(f"there is no format of tool calls called {format!r}: {hint}")


def are_alike(format: str, other: str) -> bool:
    """Return whether two names are of one format."""
    return format == other or (format in FAMILIES and FAMILIES[format] == FAMILIES.get(other))


def _written(family: Family, call: ParsedCall, number: int) -> str:
    begin = family.begin.replace("NAME", call.name).replace("NUMBER", _number_of(call.id, number))
    return f"{begin}{write_arguments(family.style, call.arguments)}{family.end}"


def _number_of(call_id: str, number: int) -> str:
    found = re.search(r"\d+\Z", call_id)
    return found.group() if found else str(number)


@dataclass(frozen=True, slots=True)
class _Marks:
    """The marks of a family, as regexes.

    Attributes:
        first: the begin of a call after free text, with the begin of its section: groups `section`, `name` and perhaps
            `number`, and `lead`, which is None where the model left it out.
        following: the begin of another call of the same section, after the separator; the same groups.
        end: the end of a call.
        closing: the end of the section.
        held: the marks whose first characters are no text for a reader of a text that goes on.
    """

    first: re.Pattern[str]
    following: re.Pattern[str]
    end: re.Pattern[str]
    closing: re.Pattern[str]
    held: tuple[str, ...]


@functools.cache
def _marks(family: Family) -> _Marks:
    begin = _begin(family)
    plain_begin = family.begin.partition("NAME")[0].partition("NUMBER")[0]
    end = _tolerant(family.end)
    if family.style == "json" and family.end.startswith("}"):
        end = r'(?:,\s*"id":\s*"(?P<id>[^"]*)")?\s*' + end
    if family.section is None:
        first = f"(?P<section>){begin}"
        without_lead = plain_begin.removeprefix(_LEFT_OUT.get(family.begin, ""))
        following, closing, held = first, "", {family.trigger, plain_begin, without_lead}
    else:
        # Free text may hold the begin of a call, which is text there, unless the family excludes it.
        is_apart = any(mark in family.begin for mark in family.excludes)
        opening, trigger = family.section[0], family.trigger or family.section[0]
        if family.may_have_blank:
            opening = opening.replace(trigger, f"{trigger} ")
        section = rf"(?P<section>{_after_trigger(opening, trigger)}\s*)"
        first = f"{section}?{begin}" if is_apart else section + begin
        following = rf"\s*{_tolerant(family.separator.strip())}\s*(?P<section>){begin}"
        closing = rf"\s*{_tolerant(family.section[1].strip())}"
        held = {trigger, plain_begin if is_apart else ""}
    call_end = re.compile(r"\s*" + end)
    return _Marks(re.compile(first), re.compile(following), call_end, re.compile(closing), tuple(sorted(held - {""})))


def _begin(family: Family) -> str:
    """Return the regex of the begin of a call."""
    begin = ""
    for part in re.split("(NAME|NUMBER)", family.begin):
        if part == "NAME":
            begin += r"(?P<name>[\w.:/-]+)"
        elif part == "NUMBER":
            begin += r"(?P<number>\d+)"
        elif not begin and family.section is None:
            begin += _after_text(family, part)
        else:
            begin += _tolerant(part)
    if family.id_before:
        given = rf"(?:{re.escape(family.id_before)}(?P<id>\w*))?"
        begin = begin.replace(r"(?P<name>[\w.:/-]+)", r"(?P<name>[\w.:/-]+)" + given)
    return begin


def _after_text(family: Family, mark: str) -> str:
    """Return the regex of the first mark of a call, which stands in free text."""
    whole, lead = _after_trigger(mark, family.trigger or mark), _LEFT_OUT.get(family.begin, "")
    return f"(?:(?P<lead>){whole}|{re.escape(mark.removeprefix(lead))})" if lead else whole


def _after_trigger(mark: str, trigger: str) -> str:
    """Return the regex of a mark after free text: as the grammar has it up to the end of the trigger."""
    exact = len(trigger) if mark.startswith(trigger) else 0
    return re.escape(mark[:exact]) + _tolerant(mark[exact:])


def _tolerant(mark: str) -> str:
    """Return the regex of a mark, in which white space may differ."""
    return r"\s*".join(re.escape(part) for part in re.split(r"\s+", mark))


@dataclass(slots=True)
class _Reader:
    """The reader of one text in a format of calls between marks."""

    family: Family
    text: str
    schemas: Mapping[str, Any]
    partial: bool
    position: int = 0
    texts: list[str] = field(default_factory=list)
    calls: list[ParsedCall] = field(default_factory=list)

    def read(self) -> ParsedReply:
        """Return the text and the calls."""
        marks = _marks(self.family)
        while (found := marks.first.search(self.text, self.position)) is not None:
            self.texts.append(self.text[self.position : found.start()])
            if not self._read_section(found, marks):
                return self._reply("")
        return self._reply(self.text[self.position :])

    def _read_section(self, found: re.Match[str], marks: _Marks) -> bool:
        """Read calls up to the end of their section; return False where the text ends within it."""
        is_section = bool(found["section"])
        following: re.Match[str] | None = found
        while following is not None:
            if not self._read_call(following, marks):
                return False
            following = marks.following.match(self.text, self.position) if is_section else None
        closing = marks.closing.match(self.text, self.position) if is_section else None
        if closing is not None:
            self.position = closing.end()
        return closing is not None or not is_section or not self.partial

    def _read_call(self, found: re.Match[str], marks: _Marks) -> bool:
        """Read a call; return False where the text ends within it."""
        name, number = found["name"], found.groupdict().get("number")
        if self.partial and len(self.text) in (found.end("name"), found.end("number") if number else -1):
            return False  # the name may go on
        has_lead = found.groupdict().get("lead", "") is not None
        if not has_lead and name not in self.schemas:
            return self._take_as_text(found)
        call_id = found.groupdict().get("id") or ""
        if number is not None and "functions." in self.family.begin:
            call_id = f"functions.{name}:{number}"
        arguments = read_arguments(self.family.style, self.text, found.end(), self.schemas.get(name, True))
        end = marks.end.match(self.text, arguments.end) if arguments.end >= 0 else None
        if end is None:
            if not has_lead and not self.partial:
                return self._take_as_text(found)
            if not self.partial:
                raise unfinished(name, self.text)
            source = begun(arguments.values)
            if self.family.style == "json":
                source = self.text[found.end() : arguments.end if arguments.end >= 0 else len(self.text)]
            self.calls.append(ParsedCall(name, arguments.values, call_id, is_complete=False, source=source))
            return False
        source = self.text[found.end() : arguments.end] if self.family.style == "json" else ""
        self.calls.append(ParsedCall(name, arguments.values, end.groupdict().get("id") or call_id, source=source))
        self.position = end.end()
        return True

    def _take_as_text(self, found: re.Match[str]) -> bool:
        """Take what could begin a call as text; return that reading goes on."""
        self.texts.append(found.group())
        self.position = found.end()
        return True

    def _reply(self, rest: str) -> ParsedReply:
        if self.partial and rest:
            rest = without_begun(rest, _marks(self.family).held)
        pieces = [*self.texts, rest]
        if self.calls:
            pieces[1:] = [piece for piece in pieces[1:] if piece.strip() != self.family.separator.strip()]
        text = "".join(pieces)
        return ParsedReply(text.strip() if self.calls else text, self.calls)
